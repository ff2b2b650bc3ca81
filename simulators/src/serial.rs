//! Serial ports: 8 data bits, no parity, one stop bit, no flow control.

use std::{io, path::Path};

use tokio::task::spawn_blocking;
use tokio_serial::{DataBits, FlowControl, Parity, SerialPortBuilderExt, SerialStream, StopBits};

/// The library's text for `ENOTTY`; it keeps neither its number nor its kind.
const NOT_A_TTY: &str = "Not a typewriter";

/// A serial port and its speed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SerialPort {
    /// For instance `/dev/ttyUSB0`.
    pub port: String,
    /// Bits per second.
    pub baud: u32,
}

impl SerialPort {
    /// A port and its speed.
    pub fn new(port: impl Into<String>, baud: u32) -> Self {
        Self {
            port: port.into(),
            baud,
        }
    }

    /// Opens the port exclusively, on another thread: the kernel talks to the board meanwhile.
    ///
    /// # Errors
    /// A description of the error.
    pub async fn open(&self) -> io::Result<SerialStream> {
        let port = tokio_serial::new(&self.port, self.baud)
            .data_bits(DataBits::Eight)
            .parity(Parity::None)
            .stop_bits(StopBits::One)
            .flow_control(FlowControl::None);
        let opened = spawn_blocking(move || port.open_native_async()).await?;
        opened.map_err(|error| io::Error::other(self.why(error)))
    }

    fn why(&self, error: tokio_serial::Error) -> String {
        let port = &self.port;
        // The library reports a port locked by another program as "no device".
        let locked = matches!(error.kind, tokio_serial::ErrorKind::NoDevice);
        let no_tty = error.description == NOT_A_TTY;
        let source = io::Error::from(error);
        match source.kind() {
            _ if !Path::new(port).exists() => format!(
                "there is no {port}: is the cable plugged in, and does `boardbridge scan` show another name?"
            ),
            io::ErrorKind::PermissionDenied => format!(
                "{port} cannot be opened by this user: add it to the port's group (usually `sudo usermod -aG dialout \
                 USER`) and log in again"
            ),
            _ if no_tty => {
                format!("{port} is not a serial port: `boardbridge scan` shows those in reach")
            }
            io::ErrorKind::ResourceBusy => busy(port),
            _ if locked => busy(port),
            _ => format!("{port} cannot be opened: {source}"),
        }
    }
}

fn busy(port: &str) -> String {
    format!("{port} is in use by another program: close that first")
}
