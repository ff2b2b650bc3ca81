//! Serial ports: 8 data bits, no parity, one stop bit, no flow control.

use std::{fmt, io, path::Path};

use tokio_serial::{DataBits, FlowControl, Parity, SerialPortBuilderExt, SerialStream, StopBits};

use super::{
    OpenError,
    closing::{ClosedApart, Usage},
};
use crate::system::{apart, holders::Holders};

/// `ENOTTY` as the library words it: it keeps neither its number nor its kind.
const NOT_A_TTY: &str = "Not a typewriter";

/// A serial port and its speed.
#[derive(Clone, Debug)]
pub struct SerialPort {
    /// For instance `/dev/ttyUSB0` or `COM3`.
    pub port: String,
    /// Bits per second.
    pub baud: u32,
    usage: Usage,
}

/// An open port. It is closed on a thread of its own.
pub type Opened = ClosedApart<SerialStream>;

impl SerialPort {
    /// A port and its speed.
    pub fn new(port: impl Into<String>, baud: u32) -> Self {
        Self {
            port: port.into(),
            baud,
            usage: Usage::default(),
        }
    }

    /// Opens the port exclusively, on another thread: the kernel exchanges signals with the board for it.
    ///
    /// Modem lines are not touched: pseudo-terminals, USB-CDC and RFCOMM ports have none.
    ///
    /// # Errors
    /// [`OpenError`], worded for the player.
    pub async fn open(&self) -> Result<Opened, OpenError> {
        let port = self.clone();
        let Some(in_use) = self.usage.begin().await else {
            return Err(OpenError::Closing { port: port.port });
        };
        let opening = apart::run("opening", move || {
            let stream = port.open_at_once()?;
            // Set here, not in the caller, which may have been cancelled by then.
            Ok(ClosedApart::new(stream, in_use))
        });
        opening.await.unwrap_or_else(|error| {
            Err(OpenError::Other {
                port: self.port.clone(),
                source: error,
            })
        })
    }

    /// Waits until the port is closed, so that the last bytes are out. Gives up on a board that does not accept them.
    pub async fn closed(&self) {
        drop(self.usage.begin().await);
    }

    fn open_at_once(&self) -> Result<SerialStream, OpenError> {
        tokio_serial::new(&self.port, self.baud)
            .data_bits(DataBits::Eight)
            .parity(Parity::None)
            .stop_bits(StopBits::One)
            .flow_control(FlowControl::None)
            .open_native_async()
            .map_err(|error| self.open_error(error))
    }

    fn open_error(&self, error: tokio_serial::Error) -> OpenError {
        let port = self.port.clone();
        // The library reports a port that is locked by another program as "no device".
        let locked = matches!(error.kind, tokio_serial::ErrorKind::NoDevice);
        let no_tty = error.description == NOT_A_TTY;
        let source = io::Error::from(error);
        let there = !cfg!(unix) || Path::new(&port).exists();
        match source.kind() {
            _ if !there => OpenError::Missing { port },
            io::ErrorKind::PermissionDenied => OpenError::Denied { port },
            io::ErrorKind::ResourceBusy => busy(port),
            _ if no_tty => OpenError::NoPort { port },
            _ if locked && cfg!(unix) => busy(port),
            io::ErrorKind::NotFound => OpenError::Missing { port },
            _ => OpenError::Other { port, source },
        }
    }
}

fn busy(port: String) -> OpenError {
    let holder = Holders::now().of_file(Path::new(&port));
    OpenError::Busy { port, holder }
}

impl PartialEq for SerialPort {
    fn eq(&self, other: &Self) -> bool {
        (&self.port, self.baud) == (&other.port, other.baud)
    }
}

impl Eq for SerialPort {}

impl fmt::Display for SerialPort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {} baud", self.port, self.baud)
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_port_that_we_are_still_closing_is_not_said_to_be_another_programs() {
        let port = SerialPort::new("/dev/no-such-port", 9600);
        let closing = port.usage.begin().await;
        let error = port.clone().open().await.unwrap_err();
        assert!(matches!(error, OpenError::Closing { .. }), "{error}");
        assert!(error.to_string().contains("still closing"), "{error}");
        drop(closing);
        let error = port.open().await.unwrap_err();
        assert!(matches!(error, OpenError::Missing { .. }), "{error}");
        // A failed attempt does not keep the port.
        let error = port.open().await.unwrap_err();
        assert!(matches!(error, OpenError::Missing { .. }), "{error}");
    }

    #[tokio::test]
    async fn what_is_no_serial_port_is_called_so() {
        for port in [
            "/dev/null",
            concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"),
        ] {
            let error = SerialPort::new(port, 9600).open().await.err();
            assert!(matches!(error, Some(OpenError::NoPort { .. })), "{error:?}");
        }
    }
}
