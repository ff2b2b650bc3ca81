//! Connects a simulated board to a line and a clock.

use std::{
    io,
    net::ToSocketAddrs,
    path::PathBuf,
    time::{Duration, Instant},
};

use tokio::{sync::mpsc, task::yield_now};

use super::{
    HandAction, Report, SimulatedBoard,
    bluez::serial_device::SerialDevice,
    line::{Line, Place},
    socket::{Came, Socket},
    uhid::Identity,
};
use crate::clock::sleep_until_some;

/// Bytes read at once.
const READ_CHUNK: usize = 1024;
/// How many times per minimum gap a board that measures the gaps between messages is polled: so precisely
/// it knows when one came, however late a loaded machine wakes it.
const LOOKS: u32 = 10;
/// The minimum polling interval, to limit the load.
const SHORTEST_LOOK: Duration = Duration::from_millis(1);

/// A simulated board on a line that can be unplugged.
pub struct Port {
    board: Box<dyn SimulatedBoard>,
    place: Place,
    line: Option<Line>,
    buffer: Vec<u8>,
    /// When nothing was waiting to be read.
    quiet: Instant,
}

/// What happened to the board or its player.
#[derive(Debug)]
pub enum Happened {
    /// An observable event on the board.
    Seen(Report),
    /// The player's orders have ended.
    HandGone,
}

impl Port {
    /// Plugs a board in, on a pseudo-terminal.
    ///
    /// # Errors
    /// A pseudo-terminal cannot be opened.
    pub fn new(board: Box<dyn SimulatedBoard>, link: Option<PathBuf>) -> io::Result<Self> {
        let place = Place::Pty(link);
        let line = place.open()?;
        Ok(Self::of(board, place, line))
    }

    /// Plugs a board in, on the network; port 0 takes any free one.
    ///
    /// # Errors
    /// The address cannot be opened.
    pub fn listening(
        board: Box<dyn SimulatedBoard>,
        address: impl ToSocketAddrs,
    ) -> io::Result<Self> {
        let socket = Socket::open(address)?;
        // A cable plugged in again uses the same address.
        let place = Place::Tcp(socket.address());
        Ok(Self::of(board, place, Line::Tcp(socket)))
    }

    /// Switches a board on that is reached by Bluetooth Classic, as this device.
    pub fn on_air(board: Box<dyn SimulatedBoard>, device: SerialDevice) -> Self {
        Self::of(board, Place::Air, Line::Air(device))
    }

    /// Plugs a board in on USB, as this HID device.
    ///
    /// # Errors
    /// Linux does not make it.
    pub fn on_usb(board: Box<dyn SimulatedBoard>, identity: Identity) -> io::Result<Self> {
        let place = Place::Usb(identity);
        let line = place.open()?;
        Ok(Self::of(board, place, line))
    }

    fn of(board: Box<dyn SimulatedBoard>, place: Place, line: Line) -> Self {
        Self {
            board,
            place,
            line: Some(line),
            buffer: vec![0; READ_CHUNK],
            quiet: Instant::now(),
        }
    }

    /// The board.
    pub fn board(&self) -> &dyn SimulatedBoard {
        &*self.board
    }

    /// The name to open at the other end, while the cable is plugged in.
    pub fn name(&self) -> Option<String> {
        self.line.as_ref().map(Line::name)
    }

    /// Runs until there is an observable event.
    ///
    /// # Errors
    /// The line failed.
    pub async fn next(&mut self, hand: &mut mpsc::Receiver<HandAction>) -> io::Result<Happened> {
        loop {
            self.transmit()?;
            if let Some(report) = self.board.poll_report() {
                return Ok(Happened::Seen(report));
            }
            let due = sleep_until_some(self.board.deadline().map(Into::into));
            let gap = self.board.least_gap().filter(|_| self.line.is_some());
            let look = gap.map(|gap| self.quiet + (gap / LOOKS).max(SHORTEST_LOOK));
            let looking = async {
                sleep_until_some(look.map(Into::into)).await;
                let asked = Instant::now();
                // The runtime sees what has come until then. Without that, a busy machine would have it taken for what came later.
                yield_now().await;
                asked
            };
            let reading = async {
                match &mut self.line {
                    Some(line) => line.read(&mut self.buffer).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                // First: if nothing is to be read, everything sent before was read.
                biased;
                came = reading => match came? {
                    Came::Bytes(count) => {
                        let after = std::mem::replace(&mut self.quiet, Instant::now());
                        self.board.received_since(after, self.quiet, &self.buffer[..count]);
                    }
                    Came::Computer => self.board.plugged(Instant::now()),
                    Came::Gone => {}
                },
                action = hand.recv() => match action {
                    Some(HandAction::Unplug | HandAction::Plug) if matches!(self.place, Place::Air) => {
                        let why = "it has no cable".to_owned();
                        return Ok(Happened::Seen(Report::Refused(why)));
                    }
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
                asked = looking => self.quiet = asked,
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
