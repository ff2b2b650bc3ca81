//! The daemon as a process, and its log.

use std::{
    collections::VecDeque,
    fs,
    io::{self, BufRead, BufReader, Read as _, Write},
    path::{Path, PathBuf},
    process::{Child, ChildStderr, Command, ExitStatus, Stdio},
    sync::{Arc, Mutex, PoisonError},
    thread,
    time::{Duration, Instant},
};

use rustix::pipe::fcntl_setpipe_size;
use tokio::time::sleep;

/// Lines of the log that are shown when something went wrong.
const TAIL: usize = 40;
/// Bytes that the pipe of a log takes that nobody reads.
const UNREAD: usize = 4096;
/// How long the daemon may take to end by itself.
const END_WAIT: Duration = Duration::from_secs(10);

/// Closes what a process has inherited, and becomes the program: a pseudo-terminal that the daemon itself holds open is
/// never unplugged. (Its library does not mark it to be closed.)
const CLOSES: &str = r#"for fd in /proc/self/fd/*; do fd=${fd##*/}; [ "$fd" -gt 2 ] && eval "exec $fd>&-"; done; exec "$0" "$@""#;

/// The program, with none of our files.
pub fn apart(program: &Path) -> Command {
    let mut command = Command::new("bash");
    command.arg("-c").arg(CLOSES).arg(program);
    command
}

/// `boardbridge run`, again and again with the same configuration.
pub struct Daemon {
    program: PathBuf,
    folder: PathBuf,
    environment: Vec<(&'static str, String)>,
    logs: Option<PathBuf>,
    child: Option<Child>,
    starts: u32,
    /// Nobody reads its log, and the pipe is full after the start.
    pub is_unread: bool,
    /// The log that is not read.
    unread: Option<ChildStderr>,
    tail: Arc<Mutex<VecDeque<String>>>,
}

impl Daemon {
    /// A daemon that reads `bb.toml` in this folder.
    pub fn new(
        program: PathBuf,
        folder: &Path,
        environment: Vec<(&'static str, String)>,
        logs: Option<PathBuf>,
    ) -> Self {
        Self {
            program,
            folder: folder.to_owned(),
            environment,
            logs,
            child: None,
            starts: 0,
            is_unread: false,
            unread: None,
            tail: Arc::default(),
        }
    }

    /// Starts it.
    pub fn start(&mut self) -> io::Result<()> {
        let level = if self.logs.is_some() {
            "boardbridge=debug"
        } else {
            "info"
        };
        let mut child = apart(&self.program)
            .args(["run", "--config"])
            .arg(self.folder.join("bb.toml"))
            .env("RUST_LOG", level)
            .env("NO_COLOR", "1")
            // A library that panics as D-Bus goes would read the debugging information into memory, once.
            .env("RUST_BACKTRACE", "0")
            .env_remove("JOURNAL_STREAM")
            .env_remove("NOTIFY_SOCKET")
            .envs(self.environment.iter().map(|(name, value)| (*name, value)))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()?;
        self.starts += 1;
        let mut file = match &self.logs {
            Some(logs) => {
                fs::create_dir_all(logs)?;
                Some(fs::File::create(
                    logs.join(format!("daemon{:04}.log", self.starts)),
                )?)
            }
            None => None,
        };
        if self.is_unread {
            self.unread = child.stderr.take();
            if let Some(pipe) = &self.unread {
                fcntl_setpipe_size(pipe, UNREAD)?;
            }
        } else if let Some(errors) = child.stderr.take() {
            let tail = self.tail.clone();
            thread::spawn(move || {
                for line in BufReader::new(errors).lines().map_while(Result::ok) {
                    if let Some(file) = &mut file {
                        // The log is for reading along; a full disk must not stop it.
                        let _ = writeln!(file, "{line}");
                    }
                    let mut tail = tail.lock().unwrap_or_else(PoisonError::into_inner);
                    if tail.len() == TAIL {
                        tail.pop_front();
                    }
                    tail.push_back(line);
                }
            });
        }
        self.child = Some(child);
        Ok(())
    }

    /// Whether it is a debug build; only its place tells.
    pub fn is_debug(&self) -> bool {
        self.program
            .components()
            .any(|part| part.as_os_str() == "debug")
    }

    /// Its process.
    pub fn id(&self) -> u32 {
        self.child.as_ref().map_or(0, Child::id)
    }

    /// Its last lines; of a log that was not read, what is in the pipe when the process has ended.
    pub fn tail(&mut self) -> String {
        if let Some(mut unread) = self.unread.take() {
            let mut left = Vec::new();
            // What was read before an error is shown.
            let _ = unread.read_to_end(&mut left);
            let text = String::from_utf8_lossy(&left);
            let lines: Vec<&str> = text.lines().collect();
            return lines[lines.len().saturating_sub(TAIL)..].join("\n    ");
        }
        let tail = self.tail.lock().unwrap_or_else(PoisonError::into_inner);
        let lines: Vec<&str> = tail.iter().map(String::as_str).collect();
        lines.join("\n    ")
    }

    /// How it ended, if it has.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        self.child.as_mut()?.try_wait().ok().flatten()
    }

    /// Sends it a signal.
    pub fn signal(&self, name: &str) -> io::Result<()> {
        Command::new("kill")
            .args(["-s", name, &self.id().to_string()])
            .status()
            .map(drop)
    }

    /// Sends it a signal that ends it, and waits for the end; `None` if it does not come.
    pub async fn end(&mut self, name: &str) -> io::Result<Option<ExitStatus>> {
        self.signal(name)?;
        let began = Instant::now();
        while began.elapsed() < END_WAIT {
            if let Some(status) = self.ended() {
                self.child = None;
                return Ok(Some(status));
            }
            sleep(Duration::from_millis(5)).await;
        }
        Ok(None)
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            // It may have ended by itself.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
