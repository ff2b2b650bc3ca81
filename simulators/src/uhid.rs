//! A HID device that Linux makes of a program: `/dev/uhid`, by plain files.
//!
//! Source: Linux's `Documentation/hid/uhid.rst` and `include/uapi/linux/uhid.h`. An event is its type (four bytes, of this machine's
//! order) and what belongs to it, without padding; what is not written counts as zeros.

use std::{
    fs::File,
    io::{self, Write as _},
};

use tokio::net::unix::pipe::{OpenOptions, Receiver};

use crate::socket::Came;

/// Where Linux makes HID devices.
const FILE: &str = "/dev/uhid";
/// The longest event, in bytes: its type and `struct uhid_create2_req`.
const MAX_EVENT: usize = 4 + 4372;
/// The longest report (`UHID_DATA_MAX`).
const MAX_DATA: usize = 4096;
/// The type's bytes.
const TYPE: usize = 4;
/// Lengths of texts in `struct uhid_create2_req`.
const NAME: usize = 128;
const TEXT: usize = 64;
/// `BUS_USB`, of `input.h`.
const USB: u16 = 3;
/// Types of events, of `enum uhid_event_type`.
mod event {
    pub(super) const OPEN: u32 = 4;
    pub(super) const CLOSE: u32 = 5;
    pub(super) const OUTPUT: u32 = 6;
    pub(super) const GET_REPORT: u32 = 9;
    pub(super) const GET_REPORT_REPLY: u32 = 10;
    pub(super) const CREATE2: u32 = 11;
    pub(super) const INPUT2: u32 = 12;
    pub(super) const SET_REPORT: u32 = 13;
    pub(super) const SET_REPORT_REPLY: u32 = 14;
}
/// `EIO`: no report can be asked for.
const REFUSED: u16 = 5;
/// The descriptor of a keyboard, as far as it is one: usage page 1, usage 6, and a byte that means nothing.
const KEYBOARD: [u8; 17] = [
    0x05, 0x01, 0x09, 0x06, 0xA1, 0x01, 0x15, 0x00, 0x25, 0x01, 0x75, 0x08, 0x95, 0x01, 0x81, 0x01,
    0xC0,
];

/// What a device is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// What it calls itself.
    pub name: String,
    /// Its vendor's number.
    pub vendor: u16,
    /// Its product number.
    pub product: u16,
    /// Its serial number; empty if it has none.
    pub serial: String,
    /// Where it is plugged in.
    pub socket: String,
    /// The descriptor of its own interface.
    pub descriptor: Vec<u8>,
}

/// A device with two interfaces, a keyboard's and its own. It is unplugged when this is dropped.
#[derive(Debug)]
pub struct Uhid {
    name: String,
    events: Receiver,
    own: File,
    #[expect(dead_code, reason = "to be there")]
    keyboard: File,
}

impl Uhid {
    /// Plugs a device in.
    ///
    /// # Errors
    /// The error of the system.
    pub fn open(identity: &Identity) -> io::Result<Self> {
        let keyboard = Identity {
            descriptor: KEYBOARD.to_vec(),
            ..identity.clone()
        };
        let keyboard = plugged(&keyboard, 0)?;
        let own = plugged(identity, 1)?;
        Ok(Self {
            name: format!("{} at {}", identity.name, identity.socket),
            events: Receiver::from_file_unchecked(own.try_clone()?)?,
            own,
            keyboard,
        })
    }

    /// What it is called for a person.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Waits for the computer, or for a report from it.
    ///
    /// # Errors
    /// The error of the system.
    pub async fn read(&mut self, buffer: &mut [u8]) -> io::Result<Came> {
        let mut event = [0; MAX_EVENT];
        loop {
            self.events.readable().await?;
            // An event each, whatever else waits.
            let length = match self.events.try_read(&mut event) {
                Ok(length) => length,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => continue,
                Err(error) => return Err(error),
            };
            let Some((kind, rest)) = event[..length].split_first_chunk::<TYPE>() else {
                continue;
            };
            match u32::from_ne_bytes(*kind) {
                event::OPEN => return Ok(Came::Computer),
                event::CLOSE => return Ok(Came::Gone),
                event::OUTPUT => {
                    let Some((data, rest)) = rest.split_at_checked(MAX_DATA) else {
                        continue;
                    };
                    let length = rest
                        .first_chunk::<2>()
                        .map_or(0, |of| u16::from_ne_bytes(*of));
                    let length = usize::from(length).min(buffer.len()).min(MAX_DATA);
                    buffer[..length].copy_from_slice(&data[..length]);
                    return Ok(Came::Bytes(length));
                }
                // The first four bytes are the question's number.
                event::GET_REPORT => self.refuse(event::GET_REPORT_REPLY, rest)?,
                event::SET_REPORT => self.refuse(event::SET_REPORT_REPLY, rest)?,
                _ => {}
            }
        }
    }

    fn refuse(&mut self, reply: u32, question: &[u8]) -> io::Result<()> {
        let number = question.get(..4).unwrap_or_default();
        let refused = [&reply.to_ne_bytes(), number, &REFUSED.to_ne_bytes()].concat();
        self.own.write(&refused).map(drop)
    }

    /// Sends a report.
    ///
    /// # Errors
    /// The error of the system.
    pub fn write(&mut self, report: &[u8]) -> io::Result<()> {
        let length = u16::try_from(report.len()).map_err(io::Error::other)?;
        let kind = event::INPUT2.to_ne_bytes();
        let event = [&kind[..], &length.to_ne_bytes(), report].concat();
        self.own.write(&event).map(drop)
    }
}

/// Has Linux make an interface.
fn plugged(identity: &Identity, interface: u8) -> io::Result<File> {
    let mut options = OpenOptions::new();
    let opened = options.read_write(true).unchecked(true).open_receiver(FILE);
    let opened = opened.map_err(|error| {
        let words =
            format!("{FILE} cannot be opened ({error}): it needs root, and the module uhid");
        io::Error::new(error.kind(), words)
    })?;
    let mut file = File::from(opened.into_nonblocking_fd()?);
    file.write(&created(identity, interface)).map(drop)?;
    Ok(file)
}

/// The event that makes a device: `struct uhid_create2_req`.
fn created(identity: &Identity, interface: u8) -> Vec<u8> {
    // The last byte of each is a zero.
    let text = |text: &str, length: usize| {
        let mut bytes = text.as_bytes().to_vec();
        bytes.truncate(length - 1);
        bytes.resize(length, 0);
        bytes
    };
    let phys = format!("{}/input{interface}", identity.socket);
    let length = u16::try_from(identity.descriptor.len()).unwrap_or(u16::MAX);
    let mut event = event::CREATE2.to_ne_bytes().to_vec();
    event.extend(text(&identity.name, NAME));
    event.extend(text(&phys, TEXT));
    event.extend(text(&identity.serial, TEXT));
    event.extend(length.to_ne_bytes());
    event.extend(USB.to_ne_bytes());
    event.extend(u32::from(identity.vendor).to_ne_bytes());
    event.extend(u32::from(identity.product).to_ne_bytes());
    // Version and country.
    event.extend([0; 8]);
    event.extend(&identity.descriptor);
    event
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_is_described_as_the_kernel_reads_it() {
        let identity = Identity {
            name: "Board".to_owned(),
            vendor: 0x1234,
            product: 0x5678,
            serial: "x".repeat(100),
            socket: "usb-1".to_owned(),
            descriptor: vec![0xC0; 3],
        };
        let event = created(&identity, 1);
        assert_eq!(event[..4], 11_u32.to_ne_bytes());
        assert_eq!(&event[4..10], b"Board\0");
        assert_eq!(&event[132..145], b"usb-1/input1\0");
        assert_eq!(event[196 + 63], 0);
        assert_eq!(event[260..262], 3_u16.to_ne_bytes());
        assert_eq!(event[262..264], 3_u16.to_ne_bytes());
        assert_eq!(event[264..268], 0x1234_u32.to_ne_bytes());
        assert_eq!(event[268..272], 0x5678_u32.to_ne_bytes());
        assert_eq!(event.len(), 4 + 276 + 3);
        assert!(event.len() <= MAX_EVENT);
    }
}
