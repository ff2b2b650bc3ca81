//! `[[whitepawn]]`: a board that is played for the `WhitePawn` app, and how the app reaches it.

use serde::Deserialize;
use uuid::Uuid;

use super::{
    board::{MAX_BLE_NAME, SerialConfig},
    value::{Listen, LongUuid},
};
use crate::board::name::BoardName;

/// Where the app connects by TCP.
pub const DEFAULT_TCP: &str = "127.0.0.1:9690";
/// The name the app sees, over the air.
pub const DEFAULT_NAME: &str = "BoardBridge";
/// Channels of RFCOMM (Bluetooth Core Specification, RFCOMM 5.4).
pub const RFCOMM_CHANNELS: std::ops::RangeInclusive<u8> = 1..=30;

/// `[[whitepawn]]`
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table: [[whitepawn]]")]
pub struct WhitePawnConfig {
    /// The board that is played for the app.
    pub board: BoardName,
    /// Over TCP.
    pub tcp: Option<TcpServed>,
    /// Over a serial port.
    pub serial: Option<SerialConfig>,
    /// Over Bluetooth LE.
    pub ble: Option<BleServed>,
    /// Over Bluetooth Classic.
    pub rfcomm: Option<RfcommServed>,
}

/// `tcp = { listen = "…" }`
#[derive(Clone, Debug, Deserialize)]
#[serde(
    deny_unknown_fields,
    default,
    expecting = "a table: { listen = \"127.0.0.1:9690\" }"
)]
pub struct TcpServed {
    /// Address and port.
    pub listen: Listen,
}

impl Default for TcpServed {
    fn default() -> Self {
        Self {
            listen: Listen::at(DEFAULT_TCP),
        }
    }
}

/// `ble = { name = "…" }`
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(
    deny_unknown_fields,
    default,
    expecting = "a table: { name = \"…\" } or {}"
)]
pub struct BleServed {
    /// The name advertised.
    pub name: Option<String>,
    /// The adapter to be on the air by, such as `hci1`; the first one by default.
    pub adapter: Option<String>,
    /// The service; Nordic UART by default.
    pub service: Option<LongUuid>,
    /// The characteristic the app writes to.
    pub write: Option<LongUuid>,
    /// The characteristic the board notifies.
    pub notify: Option<LongUuid>,
}

/// `rfcomm = {}`
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default, expecting = "a table: {}")]
pub struct RfcommServed {
    /// The service's name in the SDP record.
    pub name: Option<String>,
    /// The channel; any free one by default.
    pub channel: Option<u8>,
}

/// Nordic UART, the best guess at what the app looks for (field notes, SWPP): the service, the characteristic
/// written by the central, and the one the peripheral notifies.
pub const NORDIC_UART: [Uuid; 3] = [
    Uuid::from_u128(0x6e40_0001_b5a3_f393_e0a9_e50e_24dc_ca9e),
    Uuid::from_u128(0x6e40_0002_b5a3_f393_e0a9_e50e_24dc_ca9e),
    Uuid::from_u128(0x6e40_0003_b5a3_f393_e0a9_e50e_24dc_ca9e),
];

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

    /// What the types cannot say: the key, relative to the entry, and the problem.
    pub(super) fn check(&self) -> Result<(), (Vec<&'static str>, String)> {
        let ways = [
            self.tcp.is_some(),
            self.serial.is_some(),
            self.ble.is_some(),
            self.rfcomm.is_some(),
        ];
        if ways.into_iter().filter(|way| *way).count() != 1 {
            let problem = "give exactly one of tcp, serial, ble, rfcomm".to_owned();
            return Err((Vec::new(), problem));
        }
        if let Some(serial) = &self.serial {
            serial.check()?;
        }
        let ble = self.ble.as_ref();
        let rfcomm = self.rfcomm.as_ref();
        let names = [
            ("ble", "name", ble.and_then(|ble| ble.name.as_ref())),
            ("ble", "adapter", ble.and_then(|ble| ble.adapter.as_ref())),
            ("rfcomm", "name", rfcomm.and_then(|r| r.name.as_ref())),
        ];
        for (way, key, name) in names {
            if name.is_some_and(|name| !(1..=MAX_BLE_NAME).contains(&name.len())) {
                let problem = format!("has 1 to {MAX_BLE_NAME} characters");
                return Err((vec![way, key], problem));
            }
        }
        if let Some(ble) = ble {
            let [service, write, notify] = ble.uuids();
            if service == write || service == notify || write == notify {
                let problem = "service, write and notify are three different UUIDs".to_owned();
                return Err((vec!["ble"], problem));
            }
        }
        let channel = rfcomm.and_then(|rfcomm| rfcomm.channel);
        if channel.is_some_and(|channel| !RFCOMM_CHANNELS.contains(&channel)) {
            let (first, last) = (RFCOMM_CHANNELS.start(), RFCOMM_CHANNELS.end());
            let problem = format!("is a channel, {first} to {last}");
            return Err((vec!["rfcomm", "channel"], problem));
        }
        Ok(())
    }
}
