//! A program as people start it, its output line by line.

use std::{
    io::{BufRead, BufReader, Read, Write},
    process::{Child, ChildStdin, Command, Stdio},
    sync::mpsc,
    thread,
};

pub use super::PATIENCE;

pub fn boardbridge() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_boardbridge"));
    command
        .env("BOARDBRIDGE_STATE__DIRECTORY", "off")
        .env("RUST_LOG", "debug")
        .env_remove("JOURNAL_STREAM");
    command
}

/// A running program, its output line by line.
pub struct Program {
    pub child: Child,
    input: Option<ChildStdin>,
    lines: mpsc::Receiver<String>,
    pub log: Vec<String>,
}

impl Program {
    /// Starts a program; the lines are those of standard output, or of standard error if `errors`.
    pub fn start(command: &mut Command, errors: bool) -> Self {
        command.stdin(Stdio::piped());
        if errors {
            command.stdout(Stdio::null()).stderr(Stdio::piped());
        } else {
            command.stdout(Stdio::piped()).stderr(Stdio::null());
        }
        let mut child = command.spawn().unwrap();
        let output: Box<dyn Read + Send> = if errors {
            Box::new(child.stderr.take().unwrap())
        } else {
            Box::new(child.stdout.take().unwrap())
        };
        let (sender, lines) = mpsc::channel();
        thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        Self {
            input: child.stdin.take(),
            child,
            lines,
            log: Vec::new(),
        }
    }

    pub fn says(&mut self, text: &str) {
        let input = self.input.as_mut().unwrap();
        writeln!(input, "{text}").unwrap();
        input.flush().unwrap();
    }

    /// Waits for a line with these words, and returns it.
    pub fn prints(&mut self, words: &str) -> String {
        loop {
            match self.lines.recv_timeout(PATIENCE) {
                Ok(line) => {
                    self.log.push(line.clone());
                    if line.contains(words) {
                        return line;
                    }
                }
                Err(_) => panic!("`{words}` was not printed, but {:?}", self.log),
            }
        }
    }

    /// Sends it this signal, such as `STOP`.
    pub fn signal(&self, name: &str) {
        let mut kill = Command::new("kill");
        kill.args([format!("-{name}"), self.child.id().to_string()]);
        assert!(kill.status().unwrap().success());
    }

    pub fn ends(mut self) -> Option<i32> {
        drop(self.input.take());
        self.child.wait().unwrap().code()
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
