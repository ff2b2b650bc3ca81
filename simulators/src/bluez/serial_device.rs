//! A device near an adapter that offers a serial port by Bluetooth Classic: what a board is there.

use std::{
    fmt, io, net::Shutdown, os::unix::net::UnixStream as StdStream, sync::Arc, time::Instant,
};

use tokio::{io::AsyncReadExt, net::UnixStream, sync::mpsc};
use uuid::Uuid;

use super::{address::Address, control::Shared};
use crate::socket::Came;

/// The serial port profile (Bluetooth Assigned Numbers, service classes).
pub const SERIAL_PORT: Uuid = Uuid::from_u128(0x0000_1101_0000_1000_8000_0080_5f9b_34fb);
/// Lines that may wait for the device to take them: there is one at a time.
pub(super) const MAX_CALLS: usize = 4;

/// The service's side of the serial port.
pub(super) struct SerialPort {
    calls: mpsc::Sender<(u64, StdStream)>,
    /// The number of the open line, and the device's end of it.
    line: Option<(u64, StdStream)>,
    /// The number of the last line.
    last: u64,
}

impl SerialPort {
    /// A port, and what comes to it.
    pub fn new() -> (Self, mpsc::Receiver<(u64, StdStream)>) {
        let (calls, lines) = mpsc::channel(MAX_CALLS);
        let port = Self {
            calls,
            line: None,
            last: 0,
        };
        (port, lines)
    }

    /// Opens a line; returns the end of who calls.
    pub fn call(&mut self) -> io::Result<StdStream> {
        let (near, far) = StdStream::pair()?;
        near.set_nonblocking(true)?;
        let held = near.try_clone()?;
        self.last += 1;
        let call = (self.last, near);
        self.calls.try_send(call).map_err(io::Error::other)?;
        self.line = Some((self.last, held));
        Ok(far)
    }

    /// Whether this line is open.
    pub fn has_line(&self, number: u64) -> bool {
        self.line.as_ref().is_some_and(|(open, _)| *open == number)
    }

    /// The link is gone, and the line with it.
    pub fn hang_up(&mut self) {
        if let Some((_, line)) = self.line.take() {
            // It may have been closed at the other end.
            let _ = line.shutdown(Shutdown::Both);
        }
    }
}

/// A device with a serial port. Each call takes effect before it returns; programs see its consequences on the bus later.
pub struct SerialDevice {
    address: Address,
    shared: Arc<Shared>,
    calls: mpsc::Receiver<(u64, StdStream)>,
    line: Option<(u64, UnixStream)>,
}

impl fmt::Debug for SerialDevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SerialDevice({})", self.address)
    }
}

impl SerialDevice {
    pub(super) fn new(
        address: Address,
        shared: Arc<Shared>,
        calls: mpsc::Receiver<(u64, StdStream)>,
    ) -> Self {
        Self {
            address,
            shared,
            calls,
            line: None,
        }
    }

    /// Its address.
    pub fn address(&self) -> Address {
        self.address
    }

    /// Waits for a computer, or for what it sends.
    ///
    /// # Errors
    /// The error of the system; a lost connection is not an error.
    pub async fn read(&mut self, buffer: &mut [u8]) -> io::Result<Came> {
        let reading = async {
            match &mut self.line {
                Some((_, line)) => line.read(buffer).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            read = reading => match read {
                Ok(count) if count > 0 => Ok(Came::Bytes(count)),
                Ok(_) | Err(_) => {
                    self.ended();
                    Ok(Came::Gone)
                }
            },
            Some((number, line)) = self.calls.recv() => {
                self.line = Some((number, UnixStream::from_std(line)?));
                Ok(Came::Computer)
            }
        }
    }

    /// Writes as much as the line takes at once; the rest is lost, as is all without a line.
    pub fn write(&mut self, bytes: &[u8]) {
        if let Some((_, line)) = &self.line {
            // A line that has ended is noticed when reading.
            let _ = line.try_write(bytes);
        }
    }

    /// The line has ended; so does the link, unless another line is open by now.
    fn ended(&mut self) {
        let Some((number, _)) = self.line.take() else {
            return;
        };
        let mut radio = self.shared.radio();
        if let Some((device, outbox)) = radio.device(self.address) {
            let mut port = device.serial.iter();
            if port.any(|port| port.has_line(number)) {
                device.disconnect(Instant::now(), outbox);
            }
        }
        drop(radio);
        self.shared.poke.notify_one();
    }
}
