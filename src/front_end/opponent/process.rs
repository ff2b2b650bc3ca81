//! An engine's process: its lines both ways, and its end.

use std::{
    fmt, io,
    path::{Path, PathBuf},
    process::{ExitStatus, Stdio},
    time::Duration,
};

use nix::{
    sys::signal::{Signal, killpg},
    unistd::Pid,
};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWriteExt},
    process::{Child, ChildStderr, ChildStdin, ChildStdout, Command},
    time::{Instant, sleep_until, timeout, timeout_at},
};

use super::settings::Program;
use crate::{
    system::{
        cgroup::{OutOfMemory, Subgroup},
        credit::{Allowance, Credit},
    },
    text::lines::{Line, Lines, printable},
};

/// The longest line of an engine, in bytes: a variation of many moves. Longer ones are dropped.
pub const MAX_ENGINE_LINE: usize = 16 * 1024;
/// What may wait for an engine that does not read, in bytes: several times the longest game.
pub const MAX_UNREAD: usize = 64 * 1024;
/// The limit on the bytes read of each output of an engine: ten times what engines send in bursts. The rest waits in the pipe.
pub const INTAKE: Allowance = Allowance {
    at_once: 1024 * 1024,
    per_second: 256 * 1024,
};
/// Bytes charged for each line beside its length: even a short line costs work.
const LINE_COST: usize = 64;
/// Bytes read at once.
const CHUNK: usize = 4096;
/// How much of its last words is repeated, in bytes.
const MAX_LAST_WORDS: usize = 160;
/// How long an engine may take to leave after `quit`, and its status to be known after it has closed its output.
const QUIT_WAIT: Duration = Duration::from_secs(1);
/// Enters the subgroup whose file is the first argument, and becomes the program that is the second. A program that is moved
/// after its start has already taken memory, which stays counted where it was taken.
const ENTER: &str = r#"echo 0 > "$1" && shift && exec "$@""#;
/// The name of that shell, also in its error messages.
const ENTERS: &str = "engine";
/// The shell's exit status where it cannot execute a program, or does not find it (POSIX).
const NOT_STARTED: [i32; 2] = [126, 127];
/// Environment variables that systemd sets for this service, and not for its children.
const OURS: [&str; 7] = [
    "NOTIFY_SOCKET",
    "WATCHDOG_PID",
    "WATCHDOG_USEC",
    "LISTEN_FDS",
    "LISTEN_PID",
    "LISTEN_FDNAMES",
    "CREDENTIALS_DIRECTORY",
];

/// A running engine. Dropping it kills it, and whatever it has started.
#[derive(Debug)]
pub struct Process {
    path: PathBuf,
    child: Child,
    /// The process group of it and of what it has started, until that was killed.
    family: Option<Pid>,
    input: ChildStdin,
    output: Output<ChildStdout>,
    errors: Output<ChildStderr>,
    errors_open: bool,
    /// The last that it has said of itself, on standard error or as `info string`.
    last_words: Option<String>,
    /// Until when its exit status is awaited, once it has closed its output.
    ends_by: Option<Instant>,
    status: Option<ExitStatus>,
    group: Option<Subgroup>,
    unwritten: Vec<u8>,
}

/// One of its outputs, in lines.
#[derive(Debug)]
struct Output<R> {
    pipe: R,
    lines: Lines,
    chunk: Box<[u8; CHUNK]>,
    /// How much may still be read.
    intake: Credit,
}

impl<R: AsyncRead + Unpin> Output<R> {
    fn new(pipe: R) -> Self {
        Self {
            pipe,
            lines: Lines::new(MAX_ENGINE_LINE),
            chunk: Box::new([0; CHUNK]),
            intake: Credit::new(INTAKE),
        }
    }

    /// The next line, or `None` at the end. Reads no faster than [`INTAKE`]. Cancel safe: nothing is lost.
    async fn next(&mut self) -> Option<Vec<u8>> {
        loop {
            match self.lines.next_line() {
                Some(Line::Whole(line)) => {
                    self.took(LINE_COST);
                    return Some(line);
                }
                Some(Line::Overlong(_)) => continue,
                None => {}
            }
            if let Some(until) = self.intake.waits_until(Instant::now().into_std(), 0) {
                sleep_until(Instant::from_std(until)).await;
            }
            let Ok(length @ 1..) = self.pipe.read(&mut self.chunk[..]).await else {
                let rest = self.lines.take_partial();
                return Some(rest).filter(|rest| !rest.is_empty());
            };
            self.lines.push(&self.chunk[..length]);
            self.took(length);
        }
    }

    fn took(&mut self, bytes: usize) {
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        self.intake.spend(Instant::now().into_std(), bytes);
    }
}

impl Process {
    /// Starts a program, in this control group. It gets nothing but its three pipes; its working directory is its own folder.
    ///
    /// # Errors
    /// In words, with the remedy.
    pub fn start(program: &Program, group: Option<Subgroup>) -> Result<Self, String> {
        if let Some(why) = program.unusable() {
            return Err(why);
        }
        let mut command = match &group {
            Some(group) => {
                let mut shell = Command::new("/bin/sh");
                shell
                    .args(["-c", ENTER, ENTERS])
                    .arg(group.door())
                    .arg(&program.path);
                shell
            }
            None => Command::new(&program.path),
        };
        command
            .args(&program.arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            // Ctrl-C in a terminal is for the daemon.
            .process_group(0);
        for variable in OURS {
            command.env_remove(variable);
        }
        // The folder of the file itself, not of a link to it: what an engine loads is beside the file.
        let file = program.path.canonicalize();
        if let Some(folder) = file.ok().as_deref().and_then(|file| file.parent()) {
            command.current_dir(folder);
        }
        let failed = |error: io::Error| not_started(&program.path, error);
        let mut child = command.spawn().map_err(failed)?;
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(input), Some(output), Some(errors)) = pipes else {
            return Err(failed(io::Error::other("it has no pipes")));
        };
        let number = child.id().and_then(|number| i32::try_from(number).ok());
        Ok(Self {
            path: program.path.clone(),
            child,
            family: number.map(Pid::from_raw),
            input,
            output: Output::new(output),
            errors: Output::new(errors),
            errors_open: true,
            last_words: None,
            ends_by: None,
            status: None,
            group,
            unwritten: Vec::new(),
        })
    }

    /// Its number.
    pub fn id(&self) -> Option<u32> {
        self.child.id()
    }

    /// The last that it has said of itself, on standard error or as `info string`.
    pub fn last_words(&self) -> Option<&str> {
        self.last_words.as_deref()
    }

    /// Writes a line, as soon as the engine reads.
    pub fn write(&mut self, line: &str) {
        self.unwritten.extend_from_slice(line.as_bytes());
        self.unwritten.push(b'\n');
    }

    /// Its next line. Cancel safe: nothing is lost.
    ///
    /// # Errors
    /// Its end, in words.
    pub async fn next_line(&mut self) -> Result<Vec<u8>, String> {
        loop {
            if self.unwritten.len() > MAX_UNREAD {
                return Err("the engine does not read its input".to_owned());
            }
            tokio::select! {
                line = self.output.next() => match line {
                    Some(line) => {
                        if let Some(words) = line.strip_prefix(b"info string ") {
                            self.said(words);
                        }
                        return Ok(line);
                    }
                    None => return Err(self.farewell().await),
                },
                line = self.errors.next(), if self.errors_open => match line {
                    Some(line) => self.said(&line),
                    None => self.errors_open = false,
                },
                written = self.input.write(&self.unwritten), if !self.unwritten.is_empty() => match written {
                    Ok(length) => drop(self.unwritten.drain(..length)),
                    // It has closed its input: it is about to end, or hangs.
                    Err(_) => self.unwritten.clear(),
                },
            }
        }
    }

    fn said(&mut self, words: &[u8]) {
        let words = words.trim_ascii();
        if !words.is_empty() {
            self.last_words = Some(printable(words, MAX_LAST_WORDS));
        }
    }

    /// How it ended. Cancel safe: the next call goes on waiting.
    async fn farewell(&mut self) -> String {
        let ends_by = *self
            .ends_by
            .get_or_insert_with(|| Instant::now() + QUIT_WAIT);
        if self.family.is_some() {
            let ended = timeout_at(ends_by, self.child.wait()).await;
            self.status = ended.ok().and_then(Result::ok);
            self.kill();
        }
        // What it said last may not have been read.
        let rest = async {
            while let Some(line) = self.errors.next().await {
                self.said(&line);
            }
        };
        let _ = timeout_at(ends_by + QUIT_WAIT, rest).await;
        match (self.group.as_ref().and_then(Subgroup::out_of_memory), self.status) {
            (Some(OutOfMemory::Limit), _) => {
                "the kernel has ended the engine for its memory: lower its option `Hash`, or raise `memory` in [[opponent]]"
                    .to_owned()
            }
            (Some(OutOfMemory::Machine), _) => {
                "the kernel has ended the engine, because the machine (or the service as a whole) ran out of memory: lower \
                 its options `Hash` or `Threads`"
                    .to_owned()
            }
            (None, Some(status)) => {
                let refused = self.refused(status);
                refused.unwrap_or_else(|| format!("the engine has ended ({})", in_words(status)))
            }
            (None, None) => "the engine has closed its output".to_owned(),
        }
    }

    /// Why the shell that enters the control group could not become the engine. What the shell said is in it.
    fn refused(&mut self, status: ExitStatus) -> Option<String> {
        self.group.as_ref()?;
        status.code().filter(|code| NOT_STARTED.contains(code))?;
        let is_of_shell = |words: &mut String| words.starts_with(&format!("{ENTERS}: "));
        let said = self.last_words.take_if(is_of_shell)?;
        let why = said.rsplit(": ").next().unwrap_or_default();
        Some(not_started(&self.path, why))
    }

    /// Asks it to quit, and kills it if it does not.
    pub async fn quit(mut self) {
        let leaves = async {
            // It may have ended already.
            let _ = self.input.write_all(b"stop\nquit\n").await;
            let _ = self.child.wait().await;
        };
        let _ = timeout(QUIT_WAIT, leaves).await;
    }

    /// Kills it and what it has started: an engine that a shell has started outlives the shell.
    fn kill(&mut self) {
        // Right after its end, so that no other process has its number yet.
        if let Some(family) = self.family.take() {
            // There may be nobody left.
            let _ = killpg(family, Signal::SIGKILL);
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

fn not_started(path: &Path, why: impl fmt::Display) -> String {
    format!("the engine {} cannot be started: {why}", path.display())
}

fn in_words(status: ExitStatus) -> String {
    use std::os::unix::process::ExitStatusExt as _;
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit status {code}"),
        (None, Some(libc::SIGKILL)) => "signal 9: killed, perhaps for lack of memory".to_owned(),
        (None, Some(libc::SIGSYS)) => {
            "signal 31: it needs a system call that the service forbids".to_owned()
        }
        (None, Some(signal)) => format!("signal {signal}"),
        (None, None) => "no status".to_owned(),
    }
}
