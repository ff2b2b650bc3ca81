//! Gives a simulated board a pseudo-terminal and a clock.

use std::{io, path::PathBuf, time::Instant};

use tokio::{sync::mpsc, time::sleep_until};

use super::{HandAction, Report, SimulatedBoard, pty::Pty};

/// Bytes read at once.
const READ_CHUNK: usize = 1024;

/// A simulated board on a line that can be pulled.
pub struct Port {
    board: Box<dyn SimulatedBoard>,
    link: Option<PathBuf>,
    pty: Option<Pty>,
    buffer: Vec<u8>,
}

/// What happened to the board or its hand.
#[derive(Debug)]
pub enum Happened {
    /// Something is to be seen on the board.
    Seen(Report),
    /// The hand's orders have ended.
    HandGone,
}

impl Port {
    /// Plugs a board in.
    ///
    /// # Errors
    /// No pseudo-terminal is to be had.
    pub fn new(board: Box<dyn SimulatedBoard>, link: Option<PathBuf>) -> io::Result<Self> {
        let pty = Pty::open(link.as_deref())?;
        Ok(Self {
            board,
            link,
            pty: Some(pty),
            buffer: vec![0; READ_CHUNK],
        })
    }

    /// The board.
    pub fn board(&self) -> &dyn SimulatedBoard {
        &*self.board
    }

    /// What to open at the other end, while the cable is plugged in.
    pub fn name(&self) -> Option<String> {
        self.pty
            .as_ref()
            .map(|pty| pty.name().display().to_string())
    }

    /// Runs until something is to be seen.
    ///
    /// # Errors
    /// The pseudo-terminal failed.
    pub async fn next(&mut self, hand: &mut mpsc::Receiver<HandAction>) -> io::Result<Happened> {
        loop {
            self.transmit()?;
            if let Some(report) = self.board.poll_report() {
                return Ok(Happened::Seen(report));
            }
            let deadline = self.board.deadline();
            let due = async {
                match deadline {
                    Some(at) => sleep_until(at.into()).await,
                    None => std::future::pending().await,
                }
            };
            let reading = async {
                match &mut self.pty {
                    Some(pty) => pty.read(&mut self.buffer).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                read = reading => {
                    let count = read?;
                    self.board.received(Instant::now(), &self.buffer[..count]);
                }
                action = hand.recv() => match action {
                    Some(HandAction::Unplug) => {
                        self.pty = None;
                        return Ok(Happened::Seen(Report::Unplugged));
                    }
                    Some(HandAction::Plug) => {
                        if self.pty.is_none() {
                            self.pty = Some(Pty::open(self.link.as_deref())?);
                        }
                        self.board.plugged(Instant::now());
                        return Ok(Happened::Seen(Report::Plugged(self.name().unwrap_or_default())));
                    }
                    Some(action) => self.board.hand(Instant::now(), action),
                    None => return Ok(Happened::HandGone),
                },
                () = due => self.board.timeout(Instant::now()),
            }
        }
    }

    fn transmit(&mut self) -> io::Result<()> {
        while let Some(bytes) = self.board.poll_transmit() {
            if let Some(pty) = &mut self.pty {
                pty.write(&bytes)?;
            }
        }
        Ok(())
    }
}
