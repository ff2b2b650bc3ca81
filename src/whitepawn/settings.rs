//! The settings of the app's Bluetooth.

use serde::Deserialize;
use uuid::Uuid;

use crate::swpp::{LongUuid, NORDIC_UART};

/// The default Bluetooth name.
pub const DEFAULT_NAME: &str = "BoardBridge";

/// `ble = { name = "…" }`
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(
    deny_unknown_fields,
    default,
    expecting = "a table: { name = \"…\" } or {}"
)]
pub struct BleServed {
    /// The name advertised.
    pub name: Option<String>,
    /// The adapter to advertise with, such as `hci1`; the first one by default.
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
    pub name: Option<String>,
    /// The channel; any free one by default.
    pub channel: Option<u8>,
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
