//! Which program has a device open, or listens at a port: what `/proc` shows this user.

use std::{
    collections::HashMap,
    fmt, fs, iter,
    path::{Path, PathBuf},
    process,
};

/// Open files looked at, at most: a busy desktop has some ten thousand.
const MAX_OPEN: usize = 200_000;
/// The state of a socket that listens, in `/proc/self/net/tcp`.
const LISTENS: &str = "0A";
/// The process that starts all others, and keeps the sockets that it gives to services.
const INIT: u32 = 1;

/// A program that runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    /// What the kernel calls it, at most 15 bytes.
    pub name: String,
    /// Its number.
    pub process: u32,
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (process {})", self.name, self.process)
    }
}

/// The devices and sockets that other programs have open.
#[derive(Debug, Default)]
pub struct Holders(HashMap<PathBuf, Holder>);

impl Holders {
    /// As it is now. Without root's rights only the programs of this user are known.
    pub fn now() -> Self {
        let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
        let others = processes.filter_map(|found| {
            let process: u32 = found.file_name().to_str()?.parse().ok()?;
            let path = found.path();
            (process != process::id()).then_some((started(&path), process, path))
        });
        // Whoever opened something stands before the programs that it started, which have it too, and is the one to stop.
        let mut others: Vec<_> = others.collect();
        others.sort_unstable();
        let opened = others.into_iter().flat_map(|(_, process, path)| {
            let files = fs::read_dir(path.join("fd")).into_iter().flatten();
            let files = files.filter_map(|file| Some(file.ok()?.path()));
            let open = files.filter_map(|file| Some((fs::read_link(&file).ok()?, file)));
            let open: Vec<_> = open.take(MAX_OPEN).collect();
            // Whoever made a pseudo-terminal is what is connected to it, not another program that uses it.
            let made: Vec<PathBuf> = open.iter().filter_map(made).collect();
            let used = open.into_iter().map(|(target, _)| target);
            let used: Vec<PathBuf> = used.filter(|target| !made.contains(target)).collect();
            used.into_iter().zip(iter::repeat((process, path)))
        });
        let mut names = HashMap::new();
        let mut found = HashMap::new();
        for (target, (process, path)) in opened.take(MAX_OPEN) {
            let is_socket = target
                .to_str()
                .is_some_and(|name| name.starts_with("socket:"));
            if is_socket || target.starts_with("/dev") {
                let name = names.entry(process).or_insert_with(|| {
                    let name = fs::read(path.join("comm")).unwrap_or_default();
                    String::from_utf8_lossy(name.trim_ascii()).into_owned()
                });
                let name = name.clone();
                let first = found.get(&target);
                if first.is_none_or(|first: &Holder| first.process == INIT) {
                    found.insert(target, Holder { name, process });
                }
            }
        }
        Self(found)
    }

    /// Who has this device open.
    pub fn of_file(&self, path: &Path) -> Option<Holder> {
        self.0.get(&path.canonicalize().ok()?).cloned()
    }

    /// Who listens at this port of TCP.
    pub fn of_port(&self, port: u16) -> Option<Holder> {
        // A service without `/proc/net` has these too.
        let tables = ["/proc/self/net/tcp", "/proc/self/net/tcp6"].map(fs::read_to_string);
        let lines = tables.iter().flatten().flat_map(|table| table.lines());
        let mut sockets = lines.filter_map(|line| listening(line, port));
        sockets.find_map(|socket| self.0.get(Path::new(&socket)).cloned())
    }
}

/// When a process of this folder of `/proc` was started, in ticks of the kernel; numbers of processes begin anew.
fn started(process: &Path) -> Option<u64> {
    let stat = fs::read(process.join("stat")).ok()?;
    let stat = String::from_utf8_lossy(&stat);
    // Its name may have blanks and parentheses.
    let (_, fields) = stat.rsplit_once(')')?;
    fields.split_whitespace().nth(19)?.parse().ok()
}

/// The pseudo-terminal that this open file of a process, where it leads and itself, made: if it is one that makes them.
fn made((target, file): &(PathBuf, PathBuf)) -> Option<PathBuf> {
    if !target.ends_with("ptmx") {
        return None;
    }
    let about = file.parent()?.with_file_name("fdinfo");
    let about = fs::read_to_string(about.join(file.file_name()?)).ok()?;
    let mut lines = about.lines();
    let number = lines.find_map(|line| line.strip_prefix("tty-index:"))?;
    Some(Path::new("/dev/pts").join(number.trim()))
}

/// The socket that a line of `/proc/self/net/tcp` shows, if it listens at this port.
fn listening(line: &str, port: u16) -> Option<String> {
    let fields: Vec<&str> = line.split_whitespace().collect();
    let (_, of) = fields.get(1)?.rsplit_once(':')?;
    let fits = u16::from_str_radix(of, 16) == Ok(port) && *fields.get(3)? == LISTENS;
    fits.then(|| fields.get(9).map(|inode| format!("socket:[{inode}]")))?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_socket_that_listens_is_found_by_its_port() {
        let line = |state| {
            format!(
                "   1: 0100007F:25C6 00000000:0000 {state} 00000000:00000000 00:00000000 00000000 65534 0 4711 1 0"
            )
        };
        let listens = line("0A");
        assert_eq!(listening(&listens, 9670).as_deref(), Some("socket:[4711]"));
        assert_eq!(listening(&listens, 9671), None);
        assert_eq!(listening(&line("01"), 9670), None);
        let head = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode";
        assert_eq!(listening(head, 9670), None);
    }
}
