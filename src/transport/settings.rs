//! `serial`, `ble`, `tcp`, `rfcomm` and `hid` in the configuration: how a board is reached.

use std::{
    ops::RangeInclusive,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Deserializer, de::Error};

use crate::{
    net::address::Address,
    text::toml_value::{Wrong, checked, from_home, number},
};

/// The longest name of a Bluetooth device, in bytes (Bluetooth core specification, local name).
pub const MAX_BLE_NAME: usize = 248;
/// The longest serial number or socket of a USB device, in bytes (`uniq` and `phys` in Linux's `hid.h`).
pub const MAX_HID_ID: usize = 64;
/// Speeds a serial line can have, in baud.
pub const BAUDS: RangeInclusive<u32> = 300..=921_600;

/// `serial = { … }`
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "a table: { port = \"/dev/ttyUSB0\" }"
)]
pub struct SerialConfig {
    /// For instance `/dev/ttyUSB0`.
    #[serde(deserialize_with = "port")]
    pub port: String,
    /// Bits per second; the default depends on the kind.
    #[serde(default, deserialize_with = "baud")]
    pub baud: Option<u32>,
}

fn port<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    checked(deserializer, |port| {
        if port.is_empty() {
            return Some("is empty: for instance \"/dev/ttyUSB0\"".to_owned());
        }
        from_home(Path::new(port)).or_else(|| {
            if !cfg!(unix) || port.starts_with('/') {
                None
            } else if port.to_ascii_uppercase().starts_with("COM") {
                Some(format!(
                    "`{port}` is a name of Windows: `boardbridge scan` lists the ports of this machine"
                ))
            } else {
                Some(format!("`{port}` is not a path: write \"/dev/{port}\""))
            }
        })
    })
}

fn baud<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u32>, D::Error> {
    let baud = number(deserializer, "a number such as 115200")?;
    if !BAUDS.contains(&baud) {
        let (least, most) = (BAUDS.start(), BAUDS.end());
        return Err(D::Error::custom(format!(
            "is a speed in baud, {least} to {most}"
        )));
    }
    Ok(Some(baud))
}

/// `ble = { … }`
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "a table: { name = \"…\" } or { address = \"…\" }"
)]
pub struct BleConfig {
    /// The name the board advertises, or its beginning.
    #[serde(default, deserialize_with = "ble_name")]
    pub name: Option<String>,
    /// The board's hardware address.
    #[serde(default, deserialize_with = "ble_address")]
    pub address: Option<String>,
    /// The adapter to use, such as `hci1`; the first one by default.
    #[serde(default, deserialize_with = "adapter")]
    pub adapter: Option<String>,
}

impl BleConfig {
    /// Checks what the types cannot; the keys are relative to the board.
    pub fn problem(&self) -> Option<Wrong> {
        let neither_or_both = self.name.is_some() == self.address.is_some();
        neither_or_both.then(|| ("ble", "give either name or address".to_owned()))
    }
}

/// The problem with the name of a Bluetooth device or service.
pub fn wrong_name(name: &str, longest: usize) -> Option<String> {
    if !(1..=longest).contains(&name.len()) {
        Some(format!("has 1 to {longest} characters"))
    } else if name.contains(char::is_control) {
        Some(format!(
            "{name:?} is not a valid name: use one line of plain text"
        ))
    } else {
        None
    }
}

fn ble_name<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    checked(deserializer, |name| wrong_name(name, MAX_BLE_NAME)).map(Some)
}

fn ble_address<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    hardware_address(deserializer).map(Some)
}

fn hardware_address<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let byte = |part: &str| part.len() == 2 && part.bytes().all(|b| b.is_ascii_hexdigit());
    let problem = |address: &str| {
        wrong_name(address, MAX_BLE_NAME).or_else(|| {
            let fits = address.split(':').count() == 6 && address.split(':').all(byte);
            (!fits).then(|| {
                format!("`{address}` is not a valid address: for instance \"AA:BB:CC:DD:EE:FF\"")
            })
        })
    };
    checked(deserializer, problem)
}

/// Reads the name of a Bluetooth adapter.
///
/// # Errors
/// If it cannot be one.
pub fn adapter<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let problem = |adapter: &str| {
        let fits = !adapter.is_empty() && adapter.bytes().all(|b| b.is_ascii_alphanumeric());
        (!fits).then(|| {
            format!(
                "{adapter:?} is not the name of an adapter: write for instance \"hci1\"; `bluetoothctl list` shows them"
            )
        })
    };
    checked(deserializer, problem).map(Some)
}

/// `tcp = { … }`
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "a table: { address = \"127.0.0.1:9700\" }"
)]
pub struct TcpConfig {
    /// Address and port.
    pub address: Address,
}

/// `rfcomm = { … }`
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "a table: { address = \"AA:BB:CC:DD:EE:FF\" }"
)]
pub struct RfcommConfig {
    /// The board's hardware address.
    #[serde(deserialize_with = "hardware_address")]
    pub address: String,
    /// The adapter to use, such as `hci1`; the first one by default.
    #[serde(default, deserialize_with = "adapter")]
    pub adapter: Option<String>,
}

/// `hid = { … }`
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "a table: {} for the only board on USB, { id = \"…\" } or { path = \"/dev/hidraw0\" }"
)]
pub struct HidConfig {
    /// The board's serial number, or the socket that it is plugged into.
    #[serde(default, deserialize_with = "hid_id")]
    pub id: Option<String>,
    /// Its file.
    #[serde(default, deserialize_with = "hid_path")]
    pub path: Option<PathBuf>,
    /// What names the other boards of its make, if nothing names this one.
    #[serde(skip)]
    pub others: Vec<String>,
}

impl HidConfig {
    /// Whether the only board that no other entry names is meant.
    pub fn is_only(&self) -> bool {
        self.id.is_none() && self.path.is_none()
    }

    /// What names this board.
    pub fn name(&self) -> Option<String> {
        let path = self.path.as_ref().map(|path| path.display().to_string());
        self.id.clone().or(path)
    }

    /// Checks what the types cannot; the keys are relative to the board.
    pub fn problem(&self) -> Option<Wrong> {
        let both = self.id.is_some() && self.path.is_some();
        both.then(|| ("hid", "give either id or path, or neither".to_owned()))
    }
}

fn hid_id<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    checked(deserializer, |id| wrong_name(id, MAX_HID_ID)).map(Some)
}

fn hid_path<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<PathBuf>, D::Error> {
    let problem = |path: &str| {
        from_home(Path::new(path)).or_else(|| {
            let is_path = path.starts_with('/');
            (!is_path).then(|| {
                format!("`{path}` is not a path: `boardbridge scan` shows the board's line")
            })
        })
    };
    Ok(Some(checked(deserializer, problem)?.into()))
}
