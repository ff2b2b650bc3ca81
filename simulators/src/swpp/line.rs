//! The app's end of an open link.

use std::{collections::VecDeque, io, time::Duration};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, ReadHalf, WriteHalf},
    time::timeout,
};

use crate::Stream;

/// Messages that wait to be sent. A game has one at a time, a person types a few; a board that accepts none is gone.
const MAX_WAITING: usize = 256;
/// How long a Bluetooth link may take to end: the last messages are still to be written.
const CLOSE_WAIT: Duration = Duration::from_secs(10);
/// How long the last messages have to be sent before a link is closed.
const FLUSH_WAIT: Duration = Duration::from_secs(2);

/// An open link.
pub(super) struct Line {
    name: String,
    reader: ReadHalf<Box<dyn Stream>>,
    writer: WriteHalf<Box<dyn Stream>>,
    /// One message is one write, as the app does it.
    output: VecDeque<Vec<u8>>,
    /// Bytes of the first message that are sent.
    sent: usize,
}

impl Line {
    /// A link over this stream, named after its other end.
    pub fn new(name: String, stream: Box<dyn Stream>) -> Self {
        let (reader, writer) = tokio::io::split(stream);
        Self {
            name,
            reader,
            writer,
            output: VecDeque::new(),
            sent: 0,
        }
    }

    /// The name of the other end.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Queues a message; returns whether there is room.
    pub fn send(&mut self, message: Vec<u8>) -> bool {
        let room = self.output.len() < MAX_WAITING;
        if room && !message.is_empty() {
            self.output.push_back(message);
        }
        room
    }

    /// Sends the queued messages and reads. Cancel-safe: nothing is lost.
    ///
    /// # Errors
    /// The link is broken.
    pub async fn next(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let Some(message) = self.output.front() else {
                return self.reader.read(buffer).await;
            };
            tokio::select! {
                biased;
                written = self.writer.write(&message[self.sent..]) => {
                    self.sent += written?;
                    if self.sent == message.len() {
                        self.output.pop_front();
                        self.sent = 0;
                    }
                }
                read = self.reader.read(buffer) => return read,
            }
        }
    }

    /// Sends the queued messages, and waits until the link has ended. A port never reports its end.
    pub async fn close(&mut self) {
        self.flush().await;
        let ending = async {
            self.writer.shutdown().await?;
            let mut buffer = [0; 256];
            while self.reader.read(&mut buffer).await? > 0 {}
            io::Result::Ok(())
        };
        // A link that does not end in time is abandoned.
        let _ = timeout(CLOSE_WAIT, ending).await;
    }

    /// Sends the queued messages, as far as the other end accepts them in time. Cancel-safe like [`Self::next`].
    pub async fn flush(&mut self) {
        let sending = async {
            while let Some(message) = self.output.front() {
                self.sent += self.writer.write(&message[self.sent..]).await?;
                if self.sent == message.len() {
                    self.output.pop_front();
                    self.sent = 0;
                }
            }
            io::Result::Ok(())
        };
        // The link is closed next: messages not accepted by then are lost.
        let _ = timeout(FLUSH_WAIT, sending).await;
    }
}
