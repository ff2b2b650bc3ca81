//! The service's control groups: one for the daemon and one for each engine, each with limits that the kernel enforces.
//!
//! systemd hands the daemon its control group (`Delegate=` in the unit), and all else is done through files
//! (<https://docs.kernel.org/admin-guide/cgroup-v2.html>). A group whose subgroups have limits holds no process itself, so
//! the daemon moves into a subgroup first. Without a group of its own (run by hand, in a container) nothing is limited.

use std::{
    collections::BTreeSet,
    fs::{self, DirEntry},
    io,
    path::{Path, PathBuf},
    process,
    sync::{Arc, Mutex, PoisonError},
};

use nix::unistd::geteuid;
use tracing::{debug, info};

/// Where control groups are.
const ROOT: &str = "/sys/fs/cgroup";
/// The daemon's subgroup.
const OURS: &str = "daemon";
/// The beginning of the names of the engines' subgroups.
const ENGINE: &str = "engine-";
/// The file of a group into which a process writes itself to enter it.
const PROCESSES: &str = "cgroup.procs";
/// Threads of the daemon: one serves everything, others wait for ports, files and names.
pub const MAX_THREADS: u32 = 32;
/// Processes and threads of an engine: one a processor, and a few more.
pub const MAX_TASKS: u32 = 128;

/// Whether the kernel limits memory by control groups: Raspberry Pi OS switches that off.
pub fn limits_memory() -> bool {
    let controllers = fs::read_to_string(Path::new(ROOT).join("cgroup.controllers"));
    controllers.is_ok_and(|names| names.split_whitespace().any(|name| name == "memory"))
}

/// The control group that systemd has handed to the daemon.
#[derive(Clone, Debug)]
pub struct Cgroup {
    folder: PathBuf,
    /// The subgroups that are in use.
    taken: Arc<Mutex<BTreeSet<PathBuf>>>,
}

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
        if geteuid().is_root() && !is_delegated(&folder) {
            info!("engines have no limits of their own: the unit lacks Delegate=memory pids");
            return None;
        }
        Self::at(folder)
            .inspect_err(|error| info!("engines have no limits of their own: {error}"))
            .ok()
    }

    /// The group at this folder, which the daemon may change; moves the daemon into a subgroup. Empty subgroups of an
    /// earlier daemon are removed.
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
        sweep(&folder, &BTreeSet::new());
        Ok(Self {
            folder,
            taken: Arc::default(),
        })
    }

    /// Limits the daemon to this many bytes of memory, and [`MAX_THREADS`].
    pub fn limit_daemon(&self, memory: u64) {
        let ours = self.folder.join(OURS);
        limit(&ours, "memory.max", &memory.to_string());
        limit(&ours, "pids.max", &MAX_THREADS.to_string());
    }

    /// A subgroup for the engine of this name, which may take this many bytes of memory. Programs that an earlier
    /// engine left running in it are ended.
    ///
    /// # Errors
    /// What the system says.
    pub fn subgroup(&self, name: &str, memory: u64) -> io::Result<Subgroup> {
        let folder = self.folder.join(format!("{ENGINE}{name}"));
        make(&folder)?;
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        taken.insert(folder.clone());
        drop(taken);
        let mut group = Subgroup {
            of: self.clone(),
            folder,
            before: Kills::default(),
        };
        group.kill();
        limit(&group.folder, "memory.max", &memory.to_string());
        // If one process is killed for its memory, all are.
        limit(&group.folder, "memory.oom.group", "1");
        limit(&group.folder, "pids.max", &MAX_TASKS.to_string());
        group.before = group.kills();
        Ok(group)
    }
}

/// Why the kernel has ended a program for its memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutOfMemory {
    /// It took more than it may.
    Limit,
    /// The machine, or the service as a whole, had no more.
    Machine,
}

/// What the kernel has counted in a group.
#[derive(Clone, Copy, Debug, Default)]
struct Kills {
    /// How often the group's own limit left no memory (`oom`).
    limit: u64,
    /// Processes of the group that were killed for lack of memory, in the group or on the machine (`oom_kill`).
    killed: u64,
}

/// The subgroup of one program. Dropping it ends everything in it.
#[derive(Debug)]
pub struct Subgroup {
    of: Cgroup,
    folder: PathBuf,
    /// As it was before this program.
    before: Kills,
}

impl Subgroup {
    /// The file into which a process writes `0` to enter.
    pub fn door(&self) -> PathBuf {
        self.folder.join(PROCESSES)
    }

    /// Whether the kernel has ended the program because of its memory, and why.
    pub fn out_of_memory(&self) -> Option<OutOfMemory> {
        let now = self.kills();
        let why = if now.limit > self.before.limit {
            OutOfMemory::Limit
        } else {
            OutOfMemory::Machine
        };
        (now.killed > self.before.killed).then_some(why)
    }

    fn kills(&self) -> Kills {
        let events = fs::read_to_string(self.folder.join("memory.events")).unwrap_or_default();
        let count = |name: &str| {
            let counts = events.lines().filter_map(|line| line.split_once(' '));
            let mut counts = counts.filter(|(key, _)| *key == name);
            let count = counts
                .next()
                .and_then(|(_, count)| count.trim().parse().ok());
            count.unwrap_or(0)
        };
        Kills {
            limit: count("oom"),
            killed: count("oom_kill"),
        }
    }

    fn kill(&self) {
        limit(&self.folder, "cgroup.kill", "1");
    }
}

impl Drop for Subgroup {
    fn drop(&mut self) {
        self.kill();
        let mut taken = self.of.taken.lock().unwrap_or_else(PoisonError::into_inner);
        taken.remove(&self.folder);
        sweep(&self.of.folder, &taken);
    }
}

/// Removes the subgroups of engines in this group that are not in use. One in which a process is still ending stays until
/// the next time, or is used by the next engine of its name.
fn sweep(folder: &Path, taken: &BTreeSet<PathBuf>) {
    let found = fs::read_dir(folder).into_iter().flatten().flatten();
    let is_engine = |found: &DirEntry| {
        let name = found.file_name();
        name.as_encoded_bytes().starts_with(ENGINE.as_bytes())
    };
    for group in found.filter(is_engine) {
        let group = group.path();
        if !taken.contains(&group)
            && let Err(error) = fs::remove_dir(&group)
        {
            debug!("{} is not removed: {error}", group.display());
        }
    }
}

/// Whether systemd has handed this group over (<https://systemd.io/CGROUP_DELEGATION/>). Root could change any group.
fn is_delegated(folder: &Path) -> bool {
    ["trusted.delegate", "user.delegate"]
        .into_iter()
        .any(|name| {
            let mut value = [0; 1];
            rustix::fs::getxattr(folder, name, &mut value).is_ok() && value == *b"1"
        })
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

#[cfg(test)]
mod tests {
    use rustix::fs::{XattrFlags, setxattr};

    use super::*;

    #[test]
    fn root_takes_only_a_group_that_was_handed_over() {
        let folder = tempfile::tempdir().unwrap();
        assert!(!is_delegated(folder.path()));
        for (value, is) in [("0", false), ("1", true)] {
            let set = |name| setxattr(folder.path(), name, value.as_bytes(), XattrFlags::empty());
            if set("user.delegate").and(set("trusted.delegate")).is_err() {
                println!("skipped: this file system has no such attributes");
                return;
            }
            assert_eq!(is_delegated(folder.path()), is, "{value}");
        }
    }
}
