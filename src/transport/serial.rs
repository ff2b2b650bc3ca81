//! Serial ports: 8 data bits, no parity, one stop bit, no flow control.

use std::{fmt, io, path::Path};

use tokio_serial::{DataBits, FlowControl, Parity, SerialPortBuilderExt, SerialStream, StopBits};

use super::OpenError;

/// `ENOTTY` in the words of the library, which keeps neither number nor kind of it.
const NOT_A_TTY: &str = "Not a typewriter";

/// A serial port and its speed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SerialPort {
    /// For instance `/dev/ttyUSB0` or `COM3`.
    pub port: String,
    /// Bits per second.
    pub baud: u32,
}

impl SerialPort {
    /// Opens the port for this process alone.
    ///
    /// Modem lines are left as they are: pseudo-terminals, USB-CDC and RFCOMM ports have none.
    ///
    /// # Errors
    /// [`OpenError`], worded for the player.
    pub fn open(&self) -> Result<SerialStream, OpenError> {
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
        // The library tells a port that is locked by another program as "no device".
        let locked = matches!(error.kind, tokio_serial::ErrorKind::NoDevice);
        let no_tty = error.description == NOT_A_TTY;
        let source = io::Error::from(error);
        let there = !cfg!(unix) || Path::new(&port).exists();
        match source.kind() {
            _ if !there => OpenError::Missing { port },
            io::ErrorKind::PermissionDenied => OpenError::Denied { port },
            io::ErrorKind::ResourceBusy => OpenError::Busy { port },
            _ if no_tty => OpenError::NoPort { port },
            _ if locked && cfg!(unix) => OpenError::Busy { port },
            io::ErrorKind::NotFound => OpenError::Missing { port },
            _ => OpenError::Other { port, source },
        }
    }
}

impl fmt::Display for SerialPort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {} baud", self.port, self.baud)
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_serial_port_is_called_so() {
        for port in [
            "/dev/null",
            concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"),
        ] {
            let port = SerialPort {
                port: port.to_owned(),
                baud: 9600,
            };
            let error = port.open().err();
            assert!(matches!(error, Some(OpenError::NoPort { .. })), "{error:?}");
        }
    }
}
