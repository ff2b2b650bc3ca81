//! The service's control groups: one for the daemon and one for each engine, each with limits that the kernel enforces.
//!
//! systemd hands the daemon its control group (`Delegate=` in the unit), and all else is done through files
//! (<https://docs.kernel.org/admin-guide/cgroup-v2.html>). A group whose subgroups have limits holds no process itself, so
//! the daemon moves into a subgroup first. Without a group of its own (run by hand, in a container) nothing is limited.

use std::{
    fs, io,
    path::{Path, PathBuf},
    process,
};

use tracing::{debug, info};

/// Where control groups are.
const ROOT: &str = "/sys/fs/cgroup";
/// The daemon's subgroup.
const OURS: &str = "daemon";
/// What a process writes itself into to enter a group.
const PROCESSES: &str = "cgroup.procs";
/// Threads of the daemon: one serves everything, others wait for ports, files and names.
pub const MAX_THREADS: u32 = 32;
/// Processes and threads of an engine: one a processor, and a few more.
pub const MAX_TASKS: u32 = 128;

/// The control group that systemd has handed to the daemon.
#[derive(Clone, Debug)]
pub struct Cgroup(PathBuf);

impl Cgroup {
    /// The daemon's, if it has one of its own.
    pub fn of_service() -> Option<Self> {
        let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
        let path = groups.lines().find_map(|line| line.strip_prefix("0::/"))?;
        let folder = Path::new(ROOT).join(path);
        let inside = fs::read_to_string(folder.join(PROCESSES)).ok()?;
        // The group of a terminal or of another service has other processes in it.
        if path.is_empty() || inside.trim() != process::id().to_string() {
            return None;
        }
        Self::at(folder)
            .inspect_err(|error| info!("engines have no limits of their own: {error}"))
            .ok()
    }

    /// The one at this folder, which the daemon may change; moves the daemon into a subgroup.
    ///
    /// # Errors
    /// What the system says.
    pub fn at(folder: PathBuf) -> io::Result<Self> {
        let ours = folder.join(OURS);
        make(&ours)?;
        write(&ours, PROCESSES, "0")?;
        for controller in ["memory", "pids"] {
            // Raspberry Pi OS switches `memory` off unless `cgroup_enable=memory` is in /boot/firmware/cmdline.txt.
            if let Err(error) = write(&folder, "cgroup.subtree_control", &format!("+{controller}"))
            {
                info!("the kernel does not limit {controller} here: {error}");
            }
        }
        Ok(Self(folder))
    }

    /// Limits the daemon to this many bytes of memory, and [`MAX_THREADS`].
    pub fn limit_daemon(&self, memory: u64) {
        let ours = self.0.join(OURS);
        limit(&ours, "memory.max", &memory.to_string());
        limit(&ours, "pids.max", &MAX_THREADS.to_string());
    }

    /// A subgroup with this name, for a program that may take this many bytes of memory. Whatever a program before it has
    /// left running there is ended.
    ///
    /// # Errors
    /// What the system says.
    pub fn subgroup(&self, name: &str, memory: u64) -> io::Result<Subgroup> {
        let folder = self.0.join(name);
        make(&folder)?;
        let mut group = Subgroup { folder, killed: 0 };
        group.kill();
        limit(&group.folder, "memory.max", &memory.to_string());
        // If one process is killed for its memory, all are.
        limit(&group.folder, "memory.oom.group", "1");
        limit(&group.folder, "pids.max", &MAX_TASKS.to_string());
        group.killed = group.count();
        Ok(group)
    }
}

/// The subgroup of one program. Dropping it ends everything in it.
#[derive(Debug)]
pub struct Subgroup {
    folder: PathBuf,
    /// Processes killed for memory before this program.
    killed: u64,
}

impl Subgroup {
    /// The file into which a process writes `0` to enter.
    pub fn door(&self) -> PathBuf {
        self.folder.join(PROCESSES)
    }

    /// Whether the kernel has ended the program because of its memory.
    pub fn was_killed_for_memory(&self) -> bool {
        self.count() > self.killed
    }

    fn count(&self) -> u64 {
        let events = fs::read_to_string(self.folder.join("memory.events")).unwrap_or_default();
        let count = events
            .lines()
            .find_map(|line| line.strip_prefix("oom_kill "));
        count
            .and_then(|count| count.trim().parse().ok())
            .unwrap_or(0)
    }

    fn kill(&self) {
        limit(&self.folder, "cgroup.kill", "1");
    }
}

impl Drop for Subgroup {
    fn drop(&mut self) {
        self.kill();
        // While a process is still ending that fails; the group is then used by the next program, or goes with the service.
        let _ = fs::remove_dir(&self.folder);
    }
}

fn make(folder: &Path) -> io::Result<()> {
    match fs::create_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        made => made,
    }
}

fn write(folder: &Path, file: &str, text: &str) -> io::Result<()> {
    fs::write(folder.join(file), text)
}

/// Sets a limit, if this kernel has it.
fn limit(folder: &Path, file: &str, text: &str) {
    if let Err(error) = write(folder, file, text) {
        debug!(file, text, "not set in {}: {error}", folder.display());
    }
}
