//! `[[whitepawn]]`: a board played through the `WhitePawn` app, and how the app reaches it.

use serde::{Deserialize, Deserializer, de};

use super::{
    board::{MAX_BLE_NAME, SerialConfig, Wrong, check_adapter, check_name},
    value::{Listen, checked},
};
use crate::{
    door::Allow,
    swpp,
    vocabulary::BoardName,
    whitepawn::settings::{BleServed, RfcommServed},
};

/// The default address for the app by TCP.
pub const DEFAULT_TCP: &str = "127.0.0.1:9690";
/// The longest advertised name, in bytes: a scan response holds 31, with its header
/// (Bluetooth core specification, advertising data).
pub const MAX_ADVERTISED: usize = 29;
/// Channels of RFCOMM (Bluetooth Core Specification, RFCOMM 5.4).
pub const RFCOMM_CHANNELS: std::ops::RangeInclusive<u8> = 1..=30;

/// `[[whitepawn]]`
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table: [[whitepawn]]")]
pub struct WhitePawnConfig {
    /// The board to play on.
    pub board: BoardName,
    /// Over TCP.
    pub tcp: Option<TcpServed>,
    /// Over a serial port.
    pub serial: Option<SerialConfig>,
    /// Over Bluetooth LE.
    pub ble: Option<BleServed>,
    /// Over Bluetooth Classic.
    pub rfcomm: Option<RfcommServed>,
    /// Whether the app is sent the promotion piece.
    #[serde(default = "yes")]
    pub promotion_letter: bool,
}

fn yes() -> bool {
    true
}

/// `tcp = { listen = "…" }`
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(
    deny_unknown_fields,
    default,
    expecting = "a table: { listen = \"127.0.0.1:9690\" }"
)]
pub struct TcpServed {
    /// Address and port.
    #[serde(deserialize_with = "address")]
    pub listen: Listen,
    /// Who may connect.
    pub allow: Allow,
}

/// An address to listen on; it cannot be off.
fn address<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Listen, D::Error> {
    let text = String::deserialize(deserializer)?;
    if text == "off" {
        let problem = "cannot be off: remove the [[whitepawn]] instead";
        return Err(de::Error::custom(problem));
    }
    checked(&text, DEFAULT_TCP).map_err(de::Error::custom)?;
    Ok(Listen::At(text))
}

impl Default for TcpServed {
    fn default() -> Self {
        Self {
            listen: Listen::at(DEFAULT_TCP),
            allow: Allow::default(),
        }
    }
}

impl WhitePawnConfig {
    /// How the app reaches the board, in words.
    pub fn way(&self) -> String {
        let tcp = self.tcp.as_ref().map(|tcp| format!("tcp {}", tcp.listen));
        let serial = self.serial.as_ref();
        let serial = serial.map(|serial| format!("serial {}", serial.port));
        let ble = self.ble.as_ref().map(|ble| format!("ble {}", ble.name()));
        let rfcomm = self.rfcomm.as_ref();
        let rfcomm = rfcomm.map(|rfcomm| format!("rfcomm {}", rfcomm.name()));
        tcp.or(serial).or(ble).or(rfcomm).unwrap_or_default()
    }

    /// Details of the transport, for verbose output.
    pub fn details(&self) -> String {
        let baud = self.serial.as_ref();
        let baud = baud.map(|serial| serial.baud.unwrap_or(swpp::BAUD));
        let baud = baud.map(|baud| format!(" at {baud} baud"));
        let adapter = self.ble.as_ref().and_then(|ble| ble.adapter.as_ref());
        let adapter = adapter.map(|adapter| format!(", adapter {adapter}"));
        let channel = self.rfcomm.as_ref().and_then(|rfcomm| rfcomm.channel);
        let channel = channel.map(|channel| format!(", channel {channel}"));
        baud.or(adapter).or(channel).unwrap_or_default()
    }

    /// Checks what the types cannot: returns the key, relative to the entry, and the problem.
    pub(super) fn problems(&self) -> Vec<Wrong> {
        let mut problems = Vec::new();
        let ways = [
            self.tcp.is_some(),
            self.serial.is_some(),
            self.ble.is_some(),
            self.rfcomm.is_some(),
        ];
        if ways.into_iter().filter(|way| *way).count() != 1 {
            let problem = "give exactly one of tcp, serial, ble, rfcomm".to_owned();
            problems.push((Vec::new(), problem));
        }
        if let Some(serial) = &self.serial {
            problems.extend(serial.problems());
        }
        let ble = self.ble.as_ref();
        let rfcomm = self.rfcomm.as_ref();
        let of_ble = ble.and_then(|ble| ble.name.as_deref());
        let of_rfcomm = rfcomm.and_then(|rfcomm| rfcomm.name.as_deref());
        for (way, name, longest) in [
            ("ble", of_ble, MAX_ADVERTISED),
            ("rfcomm", of_rfcomm, MAX_BLE_NAME),
        ] {
            let named = check_name(name, longest).err();
            problems.extend(named.map(|problem| (vec![way, "name"], problem)));
        }
        if let Some(ble) = ble {
            let adapter = check_adapter(ble.adapter.as_deref()).err();
            problems.extend(adapter.map(|problem| (vec!["ble", "adapter"], problem)));
            let [service, write, notify] = ble.uuids();
            if service == write || service == notify || write == notify {
                let problem = "service, write and notify are three different UUIDs".to_owned();
                problems.push((vec!["ble"], problem));
            }
        }
        let channel = rfcomm.and_then(|rfcomm| rfcomm.channel);
        if channel.is_some_and(|channel| !RFCOMM_CHANNELS.contains(&channel)) {
            let (first, last) = (RFCOMM_CHANNELS.start(), RFCOMM_CHANNELS.end());
            let problem = format!("is a channel, {first} to {last}");
            problems.push((vec!["rfcomm", "channel"], problem));
        }
        problems
    }
}
