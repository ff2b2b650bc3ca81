//! A process whose log the test reads.

use std::{
    io::{BufRead, BufReader},
    net::SocketAddr,
    process::{Child, Command, Stdio},
    thread,
};

use tokio::{sync::mpsc, time::timeout};

use super::process::PATIENCE;

/// See the module documentation. Killed when it is dropped; a test that fails prints the log, also that of processes before it.
pub struct Logged {
    child: Child,
    lines: mpsc::UnboundedReceiver<String>,
    /// The log so far.
    pub log: Vec<String>,
    /// The logs of the processes in whose place it was started.
    earlier: Vec<String>,
}

impl Logged {
    /// Starts this command.
    pub fn start(command: &mut Command) -> Self {
        let (child, lines) = spawn(command);
        Self {
            child,
            lines,
            log: Vec::new(),
            earlier: Vec::new(),
        }
    }

    /// The number of the process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Waits for its end, whatever that is.
    pub fn ends(&mut self) {
        self.child.wait().unwrap();
    }

    /// Starts this command in the place of the process, which has ended.
    pub fn restart(&mut self, command: &mut Command) {
        while let Ok(line) = self.lines.try_recv() {
            self.log.push(line);
        }
        self.earlier.append(&mut self.log);
        (self.child, self.lines) = spawn(command);
    }

    /// Sends it a signal: `KILL`, `TERM`, `HUP`.
    pub fn signal(&self, signal: &str) {
        let id = self.child.id().to_string();
        let sent = Command::new("kill").args(["-s", signal, &id]).status();
        assert!(sent.unwrap().success());
    }

    /// Waits for its end, which must be a success, and for the end of its log.
    pub async fn ended(&mut self) {
        while let Some(line) = timeout(PATIENCE, self.lines.recv()).await.unwrap() {
            self.log.push(line);
        }
        assert!(self.child.wait().unwrap().success());
    }

    /// Waits for a new line of the log with these words.
    pub async fn logs(&mut self, words: &str) -> String {
        loop {
            match timeout(PATIENCE, self.lines.recv()).await {
                Ok(Some(line)) => {
                    self.log.push(line.clone());
                    if line.contains(words) {
                        return line;
                    }
                }
                _ => panic!("`{words}` is not in the log, but\n{}", self.log.join("\n")),
            }
        }
    }

    /// Waits until it listens for this, and returns the address.
    pub async fn address(&mut self, what: &str) -> SocketAddr {
        let words = format!("{what} listens at");
        let known = self.log.iter().find(|line| line.contains(&words)).cloned();
        let line = match known {
            Some(line) => line,
            None => self.logs(&words).await,
        };
        line.split_whitespace().last().unwrap().parse().unwrap()
    }
}

fn spawn(command: &mut Command) -> (Child, mpsc::UnboundedReceiver<String>) {
    let mut child = command
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let errors = child.stderr.take().unwrap();
    let (sender, lines) = mpsc::unbounded_channel();
    thread::spawn(move || {
        for line in BufReader::new(errors).lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    (child, lines)
}

impl Drop for Logged {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
        if thread::panicking() {
            while let Ok(line) = self.lines.try_recv() {
                self.log.push(line);
            }
            self.earlier.append(&mut self.log);
            println!("the daemon's log:\n{}", self.earlier.join("\n"));
        }
    }
}
