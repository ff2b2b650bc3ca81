//! Gives a simulated board a line and a clock.

use std::{io, net::ToSocketAddrs, path::PathBuf, time::Instant};

use tokio::{sync::mpsc, time::sleep_until};

use super::{
    HandAction, Report, SimulatedBoard,
    line::{Line, Place},
    socket::{Came, Socket},
};

/// Bytes read at once.
const READ_CHUNK: usize = 1024;

/// A simulated board on a line that can be pulled.
pub struct Port {
    board: Box<dyn SimulatedBoard>,
    place: Place,
    line: Option<Line>,
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
    /// Plugs a board in, at a pseudo-terminal.
    ///
    /// # Errors
    /// No pseudo-terminal is to be had.
    pub fn new(board: Box<dyn SimulatedBoard>, link: Option<PathBuf>) -> io::Result<Self> {
        let place = Place::Pty(link);
        let line = place.open()?;
        Ok(Self::of(board, place, line))
    }

    /// Plugs a board in, on the network; port 0 takes any that is free.
    ///
    /// # Errors
    /// The address is not to be had.
    pub fn listening(
        board: Box<dyn SimulatedBoard>,
        address: impl ToSocketAddrs,
    ) -> io::Result<Self> {
        let socket = Socket::open(address)?;
        // A cable that is put back is put back here.
        let place = Place::Tcp(socket.address());
        Ok(Self::of(board, place, Line::Tcp(socket)))
    }

    fn of(board: Box<dyn SimulatedBoard>, place: Place, line: Line) -> Self {
        Self {
            board,
            place,
            line: Some(line),
            buffer: vec![0; READ_CHUNK],
        }
    }

    /// The board.
    pub fn board(&self) -> &dyn SimulatedBoard {
        &*self.board
    }

    /// What to open at the other end, while the cable is plugged in.
    pub fn name(&self) -> Option<String> {
        self.line.as_ref().map(Line::name)
    }

    /// Runs until something is to be seen.
    ///
    /// # Errors
    /// The line failed.
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
                match &mut self.line {
                    Some(line) => line.read(&mut self.buffer).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                came = reading => match came? {
                    Came::Bytes(count) => self.board.received(Instant::now(), &self.buffer[..count]),
                    Came::Computer => self.board.plugged(Instant::now()),
                    Came::Gone => {}
                },
                action = hand.recv() => match action {
                    Some(HandAction::Unplug) => {
                        self.line = None;
                        return Ok(Happened::Seen(Report::Unplugged));
                    }
                    Some(HandAction::Plug) => {
                        if self.line.is_none() {
                            self.line = Some(self.place.open()?);
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
            if let Some(line) = &mut self.line {
                line.write(&bytes)?;
            }
        }
        Ok(())
    }
}
