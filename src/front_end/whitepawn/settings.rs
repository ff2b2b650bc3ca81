//! `[[whitepawn]]`: a board played through the `WhitePawn` app, and how the app reaches it.

use std::ops::RangeInclusive;

use serde::{Deserialize, Deserializer, de::Error};
use uuid::Uuid;

use crate::{
    net::{
        address,
        door::{Allow, Listen},
    },
    text::{
        swpp::{BAUD, LongUuid, NORDIC_UART},
        toml_value::{Wrong, checked, number, text},
    },
    transport::settings::{MAX_BLE_NAME, SerialConfig, adapter, wrong_name},
    vocabulary::{AppWay, BoardName},
};

/// The default address for the app by TCP.
pub const DEFAULT_TCP: &str = "127.0.0.1:9690";
/// The default Bluetooth name.
pub const DEFAULT_NAME: &str = "BoardBridge";
/// The longest advertised name, in bytes: a scan response holds 31, with its header
/// (Bluetooth core specification, advertising data).
pub const MAX_ADVERTISED: usize = 29;
/// Channels of RFCOMM (Bluetooth Core Specification, RFCOMM 5.4).
pub const RFCOMM_CHANNELS: RangeInclusive<u8> = 1..=30;

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

impl WhitePawnConfig {
    /// How the app reaches the board, unless it is by a serial port.
    pub fn app_way(&self) -> Option<AppWay> {
        let tcp = self.tcp.as_ref().map(|_| AppWay::Tcp);
        let ble = self.ble.as_ref().map(|_| AppWay::Ble);
        let rfcomm = self.rfcomm.as_ref().map(|_| AppWay::Rfcomm);
        tcp.or(ble).or(rfcomm)
    }

    /// How the app reaches the board, in words.
    pub fn way(&self) -> String {
        let tcp = self.tcp.as_ref().map(|tcp| format!("tcp {}", tcp.listen()));
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
        let baud = baud.map(|serial| serial.baud.unwrap_or(BAUD));
        let baud = baud.map(|baud| format!(" at {baud} baud"));
        let adapter = self.ble.as_ref().and_then(|ble| ble.adapter.as_ref());
        let adapter = adapter.map(|adapter| format!(", adapter {adapter}"));
        let channel = self.rfcomm.as_ref().and_then(|rfcomm| rfcomm.channel);
        let channel = channel.map(|channel| format!(", channel {channel}"));
        baud.or(adapter).or(channel).unwrap_or_default()
    }

    /// Checks what the types cannot.
    pub fn problems(&self) -> Vec<Wrong> {
        let mut problems = Vec::new();
        let ways = [
            self.tcp.is_some(),
            self.serial.is_some(),
            self.ble.is_some(),
            self.rfcomm.is_some(),
        ];
        if ways.into_iter().filter(|way| *way).count() != 1 {
            let problem = "give exactly one of tcp, serial, ble, rfcomm".to_owned();
            problems.push(("", problem));
        }
        if let Some([service, write, notify]) = self.ble.as_ref().map(BleServed::uuids)
            && (service == write || service == notify || write == notify)
        {
            let problem = "service, write and notify are three different UUIDs".to_owned();
            problems.push(("ble", problem));
        }
        problems
    }
}

/// `tcp = { listen = "…" }`
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(
    deny_unknown_fields,
    default,
    expecting = "a table: { listen = \"127.0.0.1:9690\" }"
)]
pub struct TcpServed {
    /// Address and port. `None` is the default address, which may be in use.
    #[serde(deserialize_with = "listen")]
    pub listen: Option<Listen>,
    /// Who may connect.
    pub allow: Allow,
}

impl TcpServed {
    /// Where to listen.
    pub fn listen(&self) -> Listen {
        self.listen.clone().unwrap_or(Listen::at(DEFAULT_TCP))
    }
}

/// An address to listen on; it cannot be off.
fn listen<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Listen>, D::Error> {
    let text: String = text(deserializer, Listen::RIGHT)?;
    if text == "off" {
        let problem = "cannot be off: remove the [[whitepawn]] instead";
        return Err(D::Error::custom(problem));
    }
    address::checked(&text, DEFAULT_TCP).map_err(D::Error::custom)?;
    Ok(Some(Listen::At(text)))
}

/// `ble = { name = "…" }`
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(
    deny_unknown_fields,
    default,
    expecting = "a table: { name = \"…\" } or {}"
)]
pub struct BleServed {
    /// The name advertised.
    #[serde(deserialize_with = "advertised")]
    pub name: Option<String>,
    /// The adapter to advertise with, such as `hci1`; the first one by default.
    #[serde(deserialize_with = "adapter")]
    pub adapter: Option<String>,
    /// The service; Nordic UART by default.
    pub service: Option<LongUuid>,
    /// The characteristic the app writes to.
    pub write: Option<LongUuid>,
    /// The characteristic the board notifies.
    pub notify: Option<LongUuid>,
}

/// `rfcomm = {}`
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default, expecting = "a table: {}")]
pub struct RfcommServed {
    /// The service's name in the SDP record.
    #[serde(deserialize_with = "registered")]
    pub name: Option<String>,
    /// The channel; any free one by default.
    #[serde(deserialize_with = "channel")]
    pub channel: Option<u8>,
}

fn advertised<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    checked(deserializer, |name| wrong_name(name, MAX_ADVERTISED)).map(Some)
}

fn registered<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    checked(deserializer, |name| wrong_name(name, MAX_BLE_NAME)).map(Some)
}

fn channel<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u8>, D::Error> {
    let channel = number(deserializer, "a number from 1 to 30")?;
    if !RFCOMM_CHANNELS.contains(&channel) {
        let (first, last) = (RFCOMM_CHANNELS.start(), RFCOMM_CHANNELS.end());
        let problem = format!("is a channel, {first} to {last}");
        return Err(D::Error::custom(problem));
    }
    Ok(Some(channel))
}

impl BleServed {
    /// The name advertised.
    pub fn name(&self) -> &str {
        self.name.as_deref().unwrap_or(DEFAULT_NAME)
    }

    /// Service, characteristic written by the app, characteristic notified.
    pub fn uuids(&self) -> [Uuid; 3] {
        let [service, write, notify] = NORDIC_UART;
        [
            self.service.map_or(service, |given| given.0),
            self.write.map_or(write, |given| given.0),
            self.notify.map_or(notify, |given| given.0),
        ]
    }
}

impl RfcommServed {
    /// The service's name.
    pub fn name(&self) -> &str {
        self.name.as_deref().unwrap_or(DEFAULT_NAME)
    }
}
