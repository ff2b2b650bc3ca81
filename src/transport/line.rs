//! An open serial line: bytes in, bytes out, both bounded.

use std::{collections::VecDeque, io, time::Duration};

use bytes::Bytes;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, ReadHalf, WriteHalf},
    time::{Instant, sleep_until},
};
use tracing::warn;

use super::{Incoming, Stream};
use crate::{
    clock::sleep_until_some,
    driver::{Channel, Outgoing},
};

/// Bytes read from a board at once.
const READ_CHUNK: usize = 1024;
/// Bytes a board may send a second; what comes faster waits in the kernel. Ten times what the fastest
/// board's line carries (57600 baud, 5.8 kB/s): only a fault sends so much.
pub const MAX_BYTES_PER_SECOND: usize = 64 * 1024;
/// A link that takes no bytes for this long is broken. The longest message (a position, 100 bytes) takes
/// 0.8 s at 1200 baud.
pub const WRITE_WAIT: Duration = Duration::from_secs(10);

/// An open line.
pub struct Line {
    reader: ReadHalf<Box<dyn Stream>>,
    writer: WriteHalf<Box<dyn Stream>>,
    buffer: [u8; READ_CHUNK],
    output: VecDeque<u8>,
    write_deadline: Option<Instant>,
    /// Bytes that may still be read in this second.
    left: usize,
    renewed: Instant,
    warned: bool,
    remedy: &'static str,
}

impl Line {
    /// A line over an open stream; what to look at when it breaks is told to the player.
    pub fn new(stream: Box<dyn Stream>, remedy: &'static str) -> Self {
        let (reader, writer) = tokio::io::split(stream);
        Self {
            reader,
            writer,
            buffer: [0; READ_CHUNK],
            output: VecDeque::new(),
            write_deadline: None,
            left: MAX_BYTES_PER_SECOND,
            renewed: Instant::now(),
            warned: false,
            remedy,
        }
    }

    /// Queues bytes. A driver paces itself, and [`WRITE_WAIT`] ends a line that takes none: the queue stays short.
    pub fn send(&mut self, outgoing: &Outgoing) {
        self.output.extend(outgoing.bytes());
        if self.write_deadline.is_none() && !self.output.is_empty() {
            self.write_deadline = Some(Instant::now() + WRITE_WAIT);
        }
    }

    /// Writes what is queued and waits for bytes. May be dropped at any time without losing any.
    ///
    /// # Errors
    /// Why the line is broken, for the player.
    pub async fn next(&mut self) -> Result<Incoming, String> {
        loop {
            if self.renewed.elapsed() >= Duration::from_secs(1) {
                self.renewed = Instant::now();
                self.left = MAX_BYTES_PER_SECOND;
            }
            tokio::select! {
                biased;
                written = self.writer.write_buf(&mut self.output), if !self.output.is_empty() => match written {
                    Ok(0) => return Err(self.lost(&io::ErrorKind::WriteZero.into())),
                    Ok(_) => {
                        self.write_deadline = (!self.output.is_empty()).then(|| Instant::now() + WRITE_WAIT);
                    }
                    Err(error) => return Err(self.lost(&error)),
                },
                read = self.reader.read(&mut self.buffer), if self.left > 0 => match read {
                    Ok(0) => {
                        return Err(format!("the link was closed at the other end: {}", self.remedy));
                    }
                    Ok(count) => {
                        self.left = self.left.saturating_sub(count);
                        let bytes = Bytes::copy_from_slice(&self.buffer[..count]);
                        return Ok(Incoming::Received(Channel::Serial, bytes));
                    }
                    Err(error) => return Err(self.lost(&error)),
                },
                () = sleep_until(self.renewed + Duration::from_secs(1)), if self.left == 0 => {
                    if !std::mem::replace(&mut self.warned, true) {
                        warn!("the board sends more than {MAX_BYTES_PER_SECOND} bytes a second: reading slower");
                    }
                },
                () = sleep_until_some(self.write_deadline) => {
                    return Err("the link takes no more bytes".to_owned());
                },
            }
        }
    }

    fn lost(&self, error: &io::Error) -> String {
        format!("the link broke ({error}): {}", self.remedy)
    }
}
