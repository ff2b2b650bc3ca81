//! What the rest of the program knows about a make of board.

use std::{fmt, sync::Arc, time::Duration};

use figment::{
    Error,
    value::{Dict, Value},
};
use serde::{Serialize, de::DeserializeOwned};
use uuid::Uuid;

use super::{
    Driver,
    picture::Picture,
    usb::{Likeness, UsbSign},
};
use crate::{
    text::frames::Cut,
    vocabulary::{BoardKind, HidBoards},
};

/// A make of board. Each board's folder defines one, `IDENTITY`; [`super::registry`] lists them.
#[derive(Debug)]
pub struct Identity {
    /// Its name in the configuration.
    pub kind: BoardKind,
    /// What it is called in the documentation.
    pub title: &'static str,
    /// Its folder, which contains its `PROTOCOL.md`.
    pub room: &'static str,
    /// The name of such a board in examples: `[boards.citrine]`.
    pub example: &'static str,
    /// How it can be reached, the usual way first.
    pub media: &'static [Medium],
    /// Prefixes of the Bluetooth names of such boards.
    pub radio_names: &'static [&'static str],
    /// Those of other boards that begin so too.
    pub other_radio_names: &'static [&'static str],
    /// What the manufacturer data in the advertisements of such boards begins with, by the number of the company.
    pub maker_data: &'static [(u16, &'static [u8])],
    /// A Bluetooth service that such boards offer; other devices may offer it too.
    pub service: Option<Uuid>,
    /// By what it is known on USB.
    pub usb: &'static [&'static [UsbSign]],
    /// How it is found on a serial port.
    pub probe: Option<Probe>,
    /// How transcripts write where its pieces stand, if it tells that in bytes.
    pub picture: Option<&'static Picture>,
    /// Its keys in the configuration, in addition to those of every board.
    pub keys: &'static [Key],
    /// Reads the values of these keys.
    pub read: fn(&Value) -> Read,
    /// The default values of these keys.
    pub defaults: fn() -> Dict,
    /// The key that takes the name of a sister board sold under another name: `dialect` for `star-diamond`.
    pub sister: fn(&str) -> Option<&'static str>,
}

impl Identity {
    /// Its key at this path.
    pub fn key(&self, path: &[&str]) -> Option<&'static Key> {
        self.keys.iter().find(|key| key.path == path)
    }

    /// How much a device on USB looks like such a board, by its numbers and its name.
    pub fn on_usb(&self, vendor: u16, product: u16, name: &str) -> Option<Likeness> {
        let signs = self.usb.iter().copied().flatten();
        let likeness = |sign: &UsbSign| sign.likeness(vendor, product, name);
        signs.filter_map(likeness).max()
    }

    /// The default speed of its serial line, in baud.
    pub fn usual_baud(&self) -> Option<u32> {
        (self.read)(&Value::from(Dict::new())).ok()?.baud()
    }

    /// What such boards are on USB, if they can be HID devices.
    pub fn hid(&self) -> Option<HidBoards> {
        (self.read)(&Value::from(Dict::new())).ok()?.hid()
    }
}

/// Settings, or the first error in them with its path.
pub type Read = Result<Arc<dyn Settings>, Box<Error>>;

/// How long to wait for a board to be turned off and on.
pub const SWITCH_WAIT: Duration = Duration::from_secs(15);

/// How a board on a serial port is found. Only on request: other devices may misinterpret a question.
#[derive(Clone, Copy, Debug)]
pub struct Probe {
    /// Speeds to try, in baud.
    pub bauds: &'static [u32],
    /// What is sent before the question, and the pause between them.
    pub first: Option<(&'static str, Duration)>,
    /// What is sent. A board that answers no question is listened to while it is switched on.
    pub question: Option<fn() -> Vec<u8>>,
    /// How many times it is sent.
    pub times: usize,
    /// How long the answer may take each time.
    pub wait: Duration,
    /// What shows such a board.
    pub known: Known,
}

/// How an answer shows which board it is: a function describes what a line or a message shows, if only such a board sends it.
#[derive(Clone, Copy, Debug)]
pub enum Known {
    /// By a line of text.
    Line(fn(&[u8]) -> Option<String>),
    /// By a binary message.
    Frame {
        /// Finds the messages.
        cut: fn(&[u8]) -> Cut,
        /// The longest of them, in bytes.
        bound: usize,
        /// Describes one.
        known: fn(&[u8]) -> Option<String>,
    },
}

/// How a board can be reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Medium {
    /// A serial port.
    Serial,
    /// Bluetooth LE.
    Ble,
    /// TCP.
    Tcp,
    /// Bluetooth Classic: its serial port.
    Rfcomm,
    /// USB, as a HID device.
    Hid,
}

impl Medium {
    /// Every one.
    pub const ALL: [Self; 5] = [Self::Serial, Self::Ble, Self::Tcp, Self::Rfcomm, Self::Hid];

    /// Its key in the configuration.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Serial => "serial",
            Self::Ble => "ble",
            Self::Tcp => "tcp",
            Self::Rfcomm => "rfcomm",
            Self::Hid => "hid",
        }
    }
}

impl fmt::Display for Medium {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.key())
    }
}

/// A key in the configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key {
    /// Its place in `[boards.NAME]`: `["motor"]`, or `["ble", "write"]`.
    pub path: &'static [&'static str],
    /// What it means, in a sentence.
    pub meaning: &'static str,
    /// What a recording has in place of its value, which is a secret.
    pub stand_in: Option<&'static str>,
}

impl Key {
    /// Its own name, and its table unless that is the board's.
    pub fn parts(&self) -> (&'static str, Option<&'static str>) {
        match *self.path {
            [table, name] => (name, Some(table)),
            [name, ..] => (name, None),
            [] => ("", None),
        }
    }
}

/// The settings of a board of one make.
pub trait Settings: fmt::Debug + Send + Sync {
    /// The driver for a board with these settings on this medium, if the medium is known.
    fn driver(&self, medium: Option<Medium>) -> Box<dyn Driver>;

    /// The default speed of its serial line in baud, if it can have one.
    fn baud(&self) -> Option<u32> {
        None
    }

    /// What it is on USB, if it can be a HID device.
    fn hid(&self) -> Option<HidBoards> {
        None
    }
}

/// For [`Identity::read`].
///
/// # Errors
/// An invalid value, with its path.
pub fn read<S: Settings + DeserializeOwned + 'static>(value: &Value) -> Read {
    Ok(Arc::new(value.deserialize::<S>()?))
}

/// For [`Identity::defaults`].
pub fn defaults<S: Serialize + Default>() -> Dict {
    let value = Value::serialize(S::default()).ok();
    value.and_then(Value::into_dict).unwrap_or_default()
}
