//! An open serial line: bytes in, bytes out, both bounded.

use std::{collections::VecDeque, io, time::Duration};

use bytes::Bytes;
use futures_util::FutureExt as _;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, ReadHalf, WriteHalf},
    time::{Instant, sleep_until},
};
use tracing::warn;

use super::{Incoming, Stream, tcp::USER_TIMEOUT};
use crate::{
    system::sleep::sleep_until_some,
    vocabulary::{Channel, Outgoing},
};

/// Bytes read from a board at once.
const READ_CHUNK: usize = 1024;
/// The kind of line: its bounds and its messages.
#[derive(Clone, Copy, Debug)]
pub struct Medium {
    /// Bytes read a second at most; the rest waits in the kernel.
    pub bytes_per_second: usize,
    /// What to check when the line breaks.
    pub remedy: &'static str,
    /// How long sent bytes may still be on their way when the line breaks: what left earlier has arrived.
    pub delivery: Duration,
    /// Whether the other end closes the line explicitly: then it has read what it was sent.
    pub says_goodbye: bool,
    /// How a normal end of the line is reported, where an app or a program is at the other end.
    pub farewell: Option<&'static str>,
}

/// A cable. Twenty times what the fastest board's line carries (115200 baud, 11.5 kB/s), because USB has no baud rate: only a
/// fault sends so much.
pub const CABLE: Medium = Medium {
    bytes_per_second: 256 * 1024,
    remedy: "is the cable plugged in?",
    // A few messages are over within milliseconds, and a port reports nothing more precise.
    delivery: Duration::ZERO,
    says_goodbye: false,
    // A port ends when it is unplugged; that the other end has closed it is not visible.
    farewell: None,
};
/// A network: messages are as few as over a cable, but come in short bursts, which cost little.
pub const NETWORK: Medium = Medium {
    bytes_per_second: 1024 * 1024,
    remedy: "is the other end switched on and in the network?",
    // Unacknowledged data breaks a connection after this long.
    delivery: USER_TIMEOUT,
    says_goodbye: true,
    farewell: Some("it closed the connection"),
};
/// A link that takes no bytes for this long is broken. The longest message (a position, 100 bytes) takes
/// 0.8 s at 1200 baud.
pub const WRITE_WAIT: Duration = Duration::from_secs(10);

/// Bluetooth, where it carries a stream.
pub const RADIO: Medium = Medium {
    bytes_per_second: 256 * 1024,
    remedy: "is the other end near, and its Bluetooth on?",
    // A lost link and a closed one look the same, and an app that has left must not be told twice.
    delivery: Duration::ZERO,
    says_goodbye: false,
    farewell: Some("it closed the connection, or is out of reach"),
};

/// Bluetooth LE towards an app: the radio acknowledges what it was sent, and reports an orderly end.
pub const AIR: Medium = Medium {
    // What was never acknowledged may be lost, however long ago it was sent.
    delivery: Duration::MAX,
    says_goodbye: true,
    ..RADIO
};

impl Medium {
    /// Whether the other end is told when this end closes the line or is gone.
    pub fn tells_its_end(&self) -> bool {
        self.farewell.is_some()
    }
}

/// What has happened on a line.
#[derive(Debug)]
pub enum Passed {
    /// These bytes came in.
    Read(Bytes),
    /// Everything queued went out.
    Written,
}

/// An open line.
pub struct Duplex {
    reader: ReadHalf<Box<dyn Stream>>,
    writer: WriteHalf<Box<dyn Stream>>,
    buffer: [u8; READ_CHUNK],
    output: VecDeque<u8>,
    write_deadline: Option<Instant>,
    /// Bytes that may still be read in this second.
    left: usize,
    renewed: Instant,
    warned: bool,
    medium: Medium,
    closed: bool,
    /// Whether to read at all.
    reading: bool,
}

impl Duplex {
    /// A line over an open stream; the medium gives its bounds and its messages.
    pub fn new(stream: Box<dyn Stream>, medium: Medium) -> Self {
        let (reader, writer) = tokio::io::split(stream);
        Self {
            reader,
            writer,
            buffer: [0; READ_CHUNK],
            output: VecDeque::new(),
            write_deadline: None,
            left: medium.bytes_per_second,
            renewed: Instant::now(),
            warned: false,
            medium,
            closed: false,
            reading: true,
        }
    }

    /// Queues bytes. A driver paces itself, and [`WRITE_WAIT`] ends a line that accepts none: the queue stays short.
    pub fn send(&mut self, outgoing: &Outgoing) {
        self.output.extend(outgoing.bytes());
        if self.write_deadline.is_none() && !self.output.is_empty() {
            self.write_deadline = Some(Instant::now() + WRITE_WAIT);
        }
    }

    /// Writes as much of the queue as the line accepts now: what a driver paces must leave when it is sent, not when
    /// the task next waits for the line. [`Self::next`] writes the rest, and finds errors.
    pub fn write_now(&mut self) {
        let written = self.writer.write_buf(&mut self.output).now_or_never();
        if written.is_some() && self.output.is_empty() {
            self.write_deadline = None;
        }
    }

    /// Writes what is queued and waits for bytes. Cancel safe: no byte is lost.
    ///
    /// # Errors
    /// Why the line is broken, for the player.
    pub async fn next(&mut self) -> Result<Incoming, String> {
        loop {
            if let Passed::Read(bytes) = self.pass().await? {
                return Ok(Incoming::Received(Channel::Serial, bytes));
            }
        }
    }

    /// The same, but also reports when everything queued has been written.
    ///
    /// # Errors
    /// Why the line is broken, for the player.
    pub async fn pass(&mut self) -> Result<Passed, String> {
        loop {
            if self.renewed.elapsed() >= Duration::from_secs(1) {
                self.renewed = Instant::now();
                self.left = self.medium.bytes_per_second;
            }
            tokio::select! {
                biased;
                written = self.writer.write_buf(&mut self.output), if !self.output.is_empty() => match written {
                    Ok(0) => return Err(self.lost(&io::ErrorKind::WriteZero.into())),
                    Ok(_) if self.output.is_empty() => {
                        self.write_deadline = None;
                        return Ok(Passed::Written);
                    }
                    Ok(_) => self.write_deadline = Some(Instant::now() + WRITE_WAIT),
                    Err(error) => return Err(self.lost(&error)),
                },
                read = self.reader.read(&mut self.buffer), if self.left > 0 && self.reading => match read {
                    Ok(0) => {
                        self.closed = true;
                        return Err(format!("the link was closed at the other end: {}", self.medium.remedy));
                    }
                    Ok(count) => {
                        self.left = self.left.saturating_sub(count);
                        let bytes = Bytes::copy_from_slice(&self.buffer[..count]);
                        return Ok(Passed::Read(bytes));
                    }
                    Err(error) => return Err(self.lost(&error)),
                },
                () = sleep_until(self.renewed + Duration::from_secs(1)), if self.left == 0 => {
                    if !std::mem::replace(&mut self.warned, true) {
                        let limit = self.medium.bytes_per_second;
                        warn!("more than {limit} bytes a second come in: reading slower");
                    }
                },
                () = sleep_until_some(self.write_deadline) => {
                    return Err("the link accepts no more data".to_owned());
                },
            }
        }
    }

    /// Whether to read: input that cannot be answered yet waits in the kernel.
    pub fn set_reading(&mut self, on: bool) {
        self.reading = on;
    }

    /// After the line has ended: bytes sent longer ago than this have arrived.
    pub fn delivery(&self) -> Duration {
        if self.closed && self.medium.says_goodbye {
            Duration::ZERO
        } else {
            self.medium.delivery
        }
    }

    /// Why the line has ended, if the other end closed it normally.
    pub fn farewell(&self) -> Option<&'static str> {
        self.medium.farewell.filter(|_| self.closed)
    }

    fn lost(&self, error: &io::Error) -> String {
        format!("the link broke ({error}): {}", self.medium.remedy)
    }
}
