//! An open HID device: reports in and out, both bounded.

use std::{
    collections::VecDeque,
    fs::File,
    io::{self, Write as _},
    sync::Arc,
    time::Duration,
};

use bytes::Bytes;
use tokio::{
    net::unix::pipe::Receiver,
    task::JoinHandle,
    time::{Instant, sleep_until, timeout},
};
use tracing::warn;

use crate::{
    system::apart,
    transport::{Incoming, closing::ClosedApart, duplex::WRITE_WAIT},
    vocabulary::{Channel, Outgoing, Reply},
};

/// The longest report that is read whole, in bytes: four times that of a board (65); the rest of a longer one is dropped.
const MAX_REPORT: usize = 256;
/// Reports read a second at most: twenty times what a board sends. The kernel keeps 64 more and drops the rest.
pub const REPORTS_PER_SECOND: usize = 200;
/// Reports that may wait to be written. A driver makes one at a time; what is beyond is refused.
const MAX_REQUESTS: usize = 64;
/// What to check when the link breaks.
const REMEDY: &str = "is the cable plugged in?";

/// The open device. A write that hangs keeps it open, on the thread that writes.
type Device = Arc<ClosedApart<File>>;

/// Writes a report. The kernel does that at once or, over USB, waits for the board: up to 5 s (`USB_CTRL_SET_TIMEOUT`).
fn write(device: &Device, report: &[u8]) -> io::Result<()> {
    // Not `write_all`: a report is written whole or not at all.
    match device.get()?.write(report)? {
        0 => Err(io::ErrorKind::WriteZero.into()),
        _ => Ok(()),
    }
}

/// An open link.
#[derive(Debug)]
pub struct HidLink {
    // Dropped before the device, so that the device is closed on a thread of its own.
    reader: Receiver,
    device: Device,
    /// What is being written, on a thread of its own.
    writing: Option<JoinHandle<Result<(), Unwritten>>>,
    waiting: VecDeque<Bytes>,
    /// Requests that were refused at once.
    refused: usize,
    buffer: [u8; MAX_REPORT],
    /// Reports that may still be read in this second.
    left: usize,
    renewed: Instant,
    warned: bool,
}

/// Why a report was not written.
#[derive(Debug)]
enum Unwritten {
    /// The device refuses it, or it cannot be written now.
    Refused(String),
    /// The device takes nothing any more.
    Hangs,
}

impl HidLink {
    /// A link to an open device: what is read from it is a report each.
    ///
    /// # Errors
    /// It cannot be waited for.
    pub fn new(device: ClosedApart<File>) -> io::Result<Self> {
        // tokio's reader of pipes reads whatever can be polled.
        let reader = Receiver::from_file_unchecked(device.get()?.try_clone()?)?;
        Ok(Self {
            reader,
            device: Arc::new(device),
            writing: None,
            waiting: VecDeque::new(),
            refused: 0,
            buffer: [0; MAX_REPORT],
            left: REPORTS_PER_SECOND,
            renewed: Instant::now(),
            warned: false,
        })
    }

    /// Accepts one request; it is begun at once unless another is being carried out.
    pub fn send(&mut self, outgoing: &Outgoing) {
        if self.waiting.len() >= MAX_REQUESTS {
            self.refused += 1;
            return;
        }
        let report = Bytes::copy_from_slice(outgoing.bytes());
        self.waiting.push_back(report);
        self.begin();
    }

    fn begin(&mut self) {
        if self.writing.is_none()
            && let Some(report) = self.waiting.pop_front()
        {
            let device = self.device.clone();
            self.writing = Some(tokio::spawn(async move {
                let writing = apart::run("writing", move || write(&device, &report));
                match timeout(WRITE_WAIT, writing).await {
                    Ok(Ok(Ok(()))) => Ok(()),
                    Ok(Ok(Err(error)) | Err(error)) => Err(Unwritten::Refused(error.to_string())),
                    Err(_) => Err(Unwritten::Hangs),
                }
            }));
        }
    }

    /// Carries out what is queued and waits for input. Cancel safe: nothing is lost.
    ///
    /// # Errors
    /// Why the link is broken, for the player.
    pub async fn next(&mut self) -> Result<Incoming, String> {
        if self.refused > 0 {
            self.refused -= 1;
            let full = Reply::Refused("too many requests wait".to_owned());
            return Ok(Incoming::Answered(Channel::Hid, full));
        }
        loop {
            self.begin();
            if self.renewed.elapsed() >= Duration::from_secs(1) {
                self.renewed = Instant::now();
                self.left = REPORTS_PER_SECOND;
            }
            let written = async {
                match &mut self.writing {
                    Some(writing) => writing.await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                biased;
                written = written => {
                    self.writing = None;
                    let reply = match written {
                        Ok(Ok(())) => Reply::Done,
                        Ok(Err(Unwritten::Refused(why))) => Reply::Refused(why),
                        Ok(Err(Unwritten::Hangs)) => return Err("the board takes no more data: unplug it for a moment".to_owned()),
                        Err(error) => Reply::Refused(error.to_string()),
                    };
                    return Ok(Incoming::Answered(Channel::Hid, reply));
                }
                ready = self.reader.readable(), if self.left > 0 => {
                    ready.map_err(|error| lost(&error))?;
                    // Not `read`: it takes a part of a buffer for the last bytes there are, and would wait for the next report.
                    match self.reader.try_read(&mut self.buffer) {
                        Ok(0) => return Err(format!("the link was closed at the other end: {REMEDY}")),
                        Ok(count) => {
                            self.left -= 1;
                            let report = Bytes::copy_from_slice(&self.buffer[..count]);
                            return Ok(Incoming::Received(Channel::Hid, report));
                        }
                        Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                        Err(error) => return Err(lost(&error)),
                    }
                }
                () = sleep_until(self.renewed + Duration::from_secs(1)), if self.left == 0 => {
                    if !std::mem::replace(&mut self.warned, true) {
                        warn!("more than {REPORTS_PER_SECOND} reports a second come in: reading slower");
                    }
                }
            }
        }
    }
}

fn lost(error: &io::Error) -> String {
    format!("the link broke ({error}): {REMEDY}")
}
