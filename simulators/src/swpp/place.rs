//! Where the app finds its board.

use std::{
    fmt,
    io::{self, ErrorKind},
    path::PathBuf,
    time::Duration,
};

use tokio::{net::TcpStream, time::timeout};

use super::line::Line;
use crate::{phone_radio::PhoneRadio, pty::Pty, serial::SerialPort};

/// Where `BoardBridge` listens for the app by default.
pub const DEFAULT_TCP: &str = "127.0.0.1:9690";

/// How long to wait for a connection: a local one succeeds at once, or not at all.
const CONNECT_WAIT: Duration = Duration::from_secs(10);

/// Where the app finds its board.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// It connects there.
    Tcp(String),
    /// It opens this port.
    Serial(SerialPort),
    /// It looks for it over Bluetooth LE.
    Ble(PhoneRadio),
    /// It is at one end of a pseudo-terminal, optionally with a symbolic link to the other.
    Pty(Option<PathBuf>),
}

impl Default for Place {
    fn default() -> Self {
        Self::Tcp(DEFAULT_TCP.to_owned())
    }
}

impl Place {
    /// Opens a line, and names its other end.
    ///
    /// # Errors
    /// A description of the error.
    pub(super) async fn open(&self) -> io::Result<Line> {
        let worded = |error: io::Error| {
            io::Error::new(error.kind(), format!("{self} cannot be reached: {error}"))
        };
        match self {
            Self::Tcp(address) => {
                let stream = timeout(CONNECT_WAIT, TcpStream::connect(address))
                    .await
                    .unwrap_or_else(|_| Err(ErrorKind::TimedOut.into()))
                    .map_err(|error| unreachable(address, &error))?;
                // A message must not wait for the next one.
                stream.set_nodelay(true).map_err(worded)?;
                Ok(Line::new(address.clone(), Box::new(stream)))
            }
            // Modem lines stay as they are: many ports have none.
            Self::Serial(port) => match port.open().await {
                Ok(stream) => Ok(Line::new(port.port.clone(), Box::new(stream))),
                Err(error) => Err(error),
            },
            Self::Ble(radio) => match radio.connect().await {
                Ok(stream) => Ok(Line::new(self.to_string(), stream)),
                Err(error) => Err(worded(io::Error::other(error))),
            },
            Self::Pty(link) => {
                let pty = Pty::open(link.as_deref()).map_err(worded)?;
                let name = pty.name().display().to_string();
                Ok(Line::new(name, Box::new(pty)))
            }
        }
    }
}

/// Nothing answers at an address.
fn unreachable(address: &str, error: &io::Error) -> io::Error {
    let words = match error.kind() {
        ErrorKind::ConnectionRefused => "no program listens there".to_owned(),
        ErrorKind::TimedOut => "no answer".to_owned(),
        _ => error.to_string(),
    };
    let words = format!(
        "{address} cannot be reached: {words}. Is BoardBridge running, with a [[whitepawn]] and tcp = {{ listen = \
         \"{address}\" }}?"
    );
    io::Error::new(error.kind(), words)
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => f.write_str(address),
            Self::Serial(port) => f.write_str(&port.port),
            Self::Ble(radio) => write!(f, "{:?} on Bluetooth", radio.name),
            Self::Pty(Some(link)) => link.display().fmt(f),
            Self::Pty(None) => f.write_str("a pseudo-terminal"),
        }
    }
}
