//! The channels to and from a board within its link: one for a serial line or a HID device, one per characteristic for Bluetooth LE.

use std::{fmt, str::FromStr};

use bytes::Bytes;
use thiserror::Error;
use uuid::Uuid;

/// A channel to or from a board.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Channel {
    /// The bytes of a serial line, without boundaries between messages.
    Serial,
    /// A characteristic; each value is a message.
    Gatt(Uuid),
    /// The reports of a HID device, each with its number first.
    Hid,
}

/// A request on a channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// Send this; on a characteristic with a response, and one at a time.
    Write(Bytes),
    /// Send this on a characteristic without a response, where it takes that.
    Command(Bytes),
    /// As [`Self::Command`], with bytes that are shown to no one.
    Secret(Secret),
    /// Read the value; it arrives like any other message.
    Read,
    /// Have every new value sent from now on.
    Subscribe,
}

/// Bytes that neither the log nor a transcript shows: a key.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Secret(pub Bytes);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

/// One thing to do on a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outgoing {
    /// The channel.
    pub channel: Channel,
    /// The request.
    pub request: Request,
}

impl Outgoing {
    /// Bytes for a serial line.
    pub fn serial(bytes: Bytes) -> Self {
        Self {
            channel: Channel::Serial,
            request: Request::Write(bytes),
        }
    }

    /// The bytes it carries, unless they are secret.
    pub fn bytes(&self) -> &[u8] {
        match &self.request {
            Request::Write(bytes) | Request::Command(bytes) => bytes,
            Request::Secret(_) | Request::Read | Request::Subscribe => &[],
        }
    }
}

/// The outcome of a request on a characteristic or to a HID device. A serial line acknowledges nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// The board took it.
    Done,
    /// The board, or the radio, refused it, for this reason.
    Refused(String),
}

/// Characteristics that have a short name in transcripts: the part of their name that differs, as the documents
/// abbreviate them.
const SHORT: [(&str, u128); 16] = [
    ("6e400002", 0x6e40_0002_b5a3_f393_e0a9_e50e_24dc_ca9e),
    ("6e400003", 0x6e40_0003_b5a3_f393_e0a9_e50e_24dc_ca9e),
    ("1b7e8262", 0x1b7e_8262_2877_41c3_b46e_cf05_7c56_2023),
    ("1b7e8272", 0x1b7e_8272_2877_41c3_b46e_cf05_7c56_2023),
    ("1b7e8273", 0x1b7e_8273_2877_41c3_b46e_cf05_7c56_2023),
    ("2a19", 0x0000_2a19_0000_1000_8000_0080_5f9b_34fb),
    ("2a25", 0x0000_2a25_0000_1000_8000_0080_5f9b_34fb),
    ("2a26", 0x0000_2a26_0000_1000_8000_0080_5f9b_34fb),
    ("2a27", 0x0000_2a27_0000_1000_8000_0080_5f9b_34fb),
    ("d804b644", 0xd804_b644_6ce7_4e81_9f8a_ce0f_6990_85eb),
    ("c8659211", 0xc865_9211_af91_4ad3_a995_a58d_6fd2_6145),
    ("4496994f", 0x4496_994f_2600_4e7e_81d5_e0f7_b67e_bd48),
    ("f9664d70", 0xf966_4d70_93ff_4cfe_9bfe_b586_6aa5_bef2),
    ("777ac5a4", 0x777a_c5a4_6fa8_474b_841d_091b_d57d_28c4),
    ("c7d64c44", 0xc7d6_4c44_42f0_11ec_81d3_0242_ac13_0003),
    ("c7d64c45", 0xc7d6_4c45_42f0_11ec_81d3_0242_ac13_0003),
];

impl fmt::Display for Channel {
    /// `serial`, `hid`, a characteristic's short name if it has one, or its whole name.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Serial => f.write_str("serial"),
            Self::Hid => f.write_str("hid"),
            Self::Gatt(uuid) => match SHORT.iter().find(|(_, known)| *known == uuid.as_u128()) {
                Some((short, _)) => f.write_str(short),
                None => uuid.fmt(f),
            },
        }
    }
}

/// The text is not a channel.
#[derive(Debug, Error)]
#[error(
    "`{0}` is not a channel: write serial, hid, or a characteristic such as 6e400002 or its whole UUID"
)]
pub struct NoChannel(String);

impl FromStr for Channel {
    type Err = NoChannel;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "serial" => return Ok(Self::Serial),
            "hid" => return Ok(Self::Hid),
            _ => {}
        }
        let short = SHORT.iter().find(|(short, _)| *short == text);
        match short {
            Some((_, known)) => Ok(Self::Gatt(Uuid::from_u128(*known))),
            None => text
                .parse()
                .map(Self::Gatt)
                .map_err(|_| NoChannel(text.chars().take(40).collect())),
        }
    }
}
