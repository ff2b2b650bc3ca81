//! An engine's process: its lines both ways, and its end.

use std::{
    io,
    path::Path,
    process::{ExitStatus, Stdio},
    time::Duration,
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    process::{Child, ChildStdin, ChildStdout, Command},
    time::timeout,
};

use crate::lines::{Line, Lines};

/// The longest line of an engine, in bytes: a variation of many moves. Longer ones are dropped.
pub const MAX_ENGINE_LINE: usize = 16 * 1024;
/// What may wait for an engine that does not read, in bytes: several times the longest game.
pub const MAX_UNREAD: usize = 64 * 1024;
/// Bytes read at once.
const CHUNK: usize = 4096;
/// How long an engine may take to leave after `quit`, and its status to be known after it has closed its output.
const QUIT_WAIT: Duration = Duration::from_secs(1);
/// What systemd tells this service, and not its children.
const OURS: [&str; 7] = [
    "NOTIFY_SOCKET",
    "WATCHDOG_PID",
    "WATCHDOG_USEC",
    "LISTEN_FDS",
    "LISTEN_PID",
    "LISTEN_FDNAMES",
    "CREDENTIALS_DIRECTORY",
];

/// A running engine. Dropping it kills it.
#[derive(Debug)]
pub struct Process {
    child: Child,
    input: ChildStdin,
    output: ChildStdout,
    lines: Lines,
    unwritten: Vec<u8>,
    chunk: Box<[u8; CHUNK]>,
}

impl Process {
    /// Starts a program. It gets nothing but its two pipes; its working directory is its own folder.
    ///
    /// # Errors
    /// In words, with the remedy.
    pub fn start(program: &Path) -> Result<Self, String> {
        let mut command = Command::new(program);
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            // Ctrl-C in a terminal is for the daemon.
            .process_group(0);
        for variable in OURS {
            command.env_remove(variable);
        }
        if let Some(folder) = program.parent().filter(|folder| folder.is_dir()) {
            command.current_dir(folder);
        }
        let failed = |error: io::Error| {
            format!(
                "the engine {} cannot be started: {error}",
                program.display()
            )
        };
        let mut child = command.spawn().map_err(failed)?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(failed(io::Error::other("it has no pipes")));
        };
        Ok(Self {
            child,
            input,
            output,
            lines: Lines::new(MAX_ENGINE_LINE),
            unwritten: Vec::new(),
            chunk: Box::new([0; CHUNK]),
        })
    }

    /// Its number.
    pub fn id(&self) -> Option<u32> {
        self.child.id()
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
            match self.lines.next_line() {
                Some(Line::Whole(line)) => return Ok(line),
                Some(Line::Overlong(_)) => continue,
                None => {}
            }
            if self.unwritten.len() > MAX_UNREAD {
                return Err("the engine does not read what it is told".to_owned());
            }
            tokio::select! {
                read = self.output.read(&mut self.chunk[..]) => match read {
                    Ok(length @ 1..) => self.lines.push(&self.chunk[..length]),
                    Ok(0) | Err(_) => return Err(self.farewell().await),
                },
                written = self.input.write(&self.unwritten), if !self.unwritten.is_empty() => match written {
                    Ok(length) => drop(self.unwritten.drain(..length)),
                    // It has closed its input: it is about to end, or hangs.
                    Err(_) => self.unwritten.clear(),
                },
            }
        }
    }

    /// How it ended.
    async fn farewell(&mut self) -> String {
        match timeout(QUIT_WAIT, self.child.wait()).await {
            Ok(Ok(status)) => format!("the engine has ended ({})", in_words(status)),
            _ => "the engine has closed its output".to_owned(),
        }
    }

    /// Has it leave, or kills it.
    pub async fn quit(mut self) {
        let leaves = async {
            // One that is gone needs no farewell.
            let _ = self.input.write_all(b"stop\nquit\n").await;
            let _ = self.child.wait().await;
        };
        let _ = timeout(QUIT_WAIT, leaves).await;
    }
}

fn in_words(status: ExitStatus) -> String {
    use std::os::unix::process::ExitStatusExt as _;
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit status {code}"),
        (None, Some(signal)) => format!("signal {signal}"),
        (None, None) => "no status".to_owned(),
    }
}
