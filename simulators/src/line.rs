//! The address of a simulated board on a line.

use std::{io, net::SocketAddr, path::PathBuf};

use super::{
    bluez::serial_device::SerialDevice,
    opens::Opens,
    pty::Pty,
    socket::{Came, Socket},
    uhid::{Identity, Uhid},
};

/// Where a line is opened.
#[derive(Debug)]
pub enum Place {
    /// On a pseudo-terminal, optionally with a symbolic link to it.
    Pty(Option<PathBuf>),
    /// On the network.
    Tcp(SocketAddr),
    /// By Bluetooth Classic, without a cable that could be plugged in.
    Air,
    /// On USB, as this HID device.
    Usb(Identity),
}

/// A line that is open at the board's end.
#[derive(Debug)]
pub enum Line {
    /// A pseudo-terminal, and when a computer opens it, if the system tells.
    Pty(Pty, Option<Opens>),
    /// A TCP port.
    Tcp(Socket),
    /// A serial port by Bluetooth Classic.
    Air(SerialDevice),
    /// A HID device: what is read or written at once is a report.
    Usb(Box<Uhid>),
}

impl Place {
    /// Opens a line here.
    ///
    /// # Errors
    /// The error of the system.
    pub fn open(&self) -> io::Result<Line> {
        match self {
            Self::Pty(link) => {
                let pty = Pty::open(link.as_deref())?;
                let opens = Opens::of(pty.name()).ok();
                Ok(Line::Pty(pty, opens))
            }
            Self::Tcp(address) => Socket::open(address).map(Line::Tcp),
            Self::Usb(identity) => Uhid::open(identity).map(|device| Line::Usb(Box::new(device))),
            Self::Air => Err(io::ErrorKind::Unsupported.into()),
        }
    }
}

impl Line {
    /// The name to open or to connect to at the other end.
    pub fn name(&self) -> String {
        match self {
            Self::Pty(pty, _) => pty.name().display().to_string(),
            Self::Tcp(socket) => socket.address().to_string(),
            Self::Air(device) => device.address().to_string(),
            Self::Usb(device) => device.name().to_owned(),
        }
    }

    /// Reads what came from the computer.
    ///
    /// # Errors
    /// The error of the system.
    pub async fn read(&mut self, buffer: &mut [u8]) -> io::Result<Came> {
        match self {
            Self::Pty(pty, opens) => tokio::select! {
                // First: what came before the line was opened again is lost.
                biased;
                Some(opened) = next_of(opens.as_ref()) => opened.map(|()| Came::Computer),
                count = pty.read(buffer) => count.map(Came::Bytes),
            },
            Self::Tcp(socket) => socket.read(buffer).await,
            Self::Air(device) => device.read(buffer).await,
            Self::Usb(device) => device.read(buffer).await,
        }
    }

    /// Writes as much as the line takes at once.
    ///
    /// # Errors
    /// The error of the system.
    pub fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Self::Pty(pty, _) => pty.write(bytes).map(drop),
            Self::Tcp(socket) => {
                socket.write(bytes);
                Ok(())
            }
            Self::Air(device) => {
                device.write(bytes);
                Ok(())
            }
            Self::Usb(device) => device.write(bytes),
        }
    }
}

async fn next_of(opens: Option<&Opens>) -> Option<io::Result<()>> {
    Some(opens?.next().await)
}
