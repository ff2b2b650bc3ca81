//! A characteristic of a device, as `BlueZ` shows it.

use std::collections::BTreeSet;

use zbus::{ObjectPath, Variant};

use super::objects::Properties;
use crate::peripheral::Characteristic;

/// The interface of a service.
pub(super) const SERVICE: &str = "org.bluez.GattService1";
/// The interface of a characteristic.
pub(super) const CHARACTERISTIC: &str = "org.bluez.GattCharacteristic1";
/// The maximum packet size in bytes, with its header.
const MTU: u16 = 517;
/// Clients that may subscribe to one characteristic.
const MAX_SESSIONS: usize = 64;

/// A characteristic with its clients' sessions.
#[derive(Debug)]
pub(super) struct Attribute {
    /// Its object path.
    pub path: String,
    /// The path of its service.
    pub service: String,
    /// The peripheral's definition.
    pub is: Characteristic,
    /// The last value seen.
    pub value: Vec<u8>,
    /// Fault: how many writes to refuse.
    pub refuse_writes: usize,
    sessions: BTreeSet<String>,
}

impl Attribute {
    /// A characteristic of a service.
    pub fn new(service: &str, handle: u16, is: Characteristic) -> Self {
        Self {
            path: format!("{service}/char{handle:04x}"),
            service: service.to_owned(),
            is,
            value: Vec::new(),
            refuse_writes: 0,
            sessions: BTreeSet::new(),
        }
    }

    /// Its properties on D-Bus.
    pub fn properties(&self) -> Properties {
        let flags = self.is.flags;
        let names: Vec<&str> = [
            (flags.read, "read"),
            (flags.write_without_response, "write-without-response"),
            (flags.write, "write"),
            (flags.notify, "notify"),
        ]
        .into_iter()
        .filter_map(|(has, name)| has.then_some(name))
        .collect();
        let mut properties = Properties::from([
            ("UUID", Variant::from(self.is.uuid.to_string())),
            ("Flags", Variant::from(names)),
            ("MTU", Variant::from(MTU)),
            ("Notifying", Variant::from(self.is_notifying())),
            ("Value", Variant::from(self.value.clone())),
        ]);
        if let Ok(service) = ObjectPath::try_from(self.service.clone()) {
            properties.insert("Service", service.into());
        }
        properties
    }

    /// Whether any client is subscribed.
    pub fn is_notifying(&self) -> bool {
        !self.sessions.is_empty()
    }

    /// Whether this client is subscribed.
    pub fn has_session(&self, client: &str) -> bool {
        self.sessions.contains(client)
    }

    /// Subscribes a client; `false` if there are too many.
    pub fn open_session(&mut self, client: &str) -> bool {
        self.sessions.len() < MAX_SESSIONS && self.sessions.insert(client.to_owned())
    }

    /// Unsubscribes a client; `false` if it was not subscribed.
    pub fn close_session(&mut self, client: &str) -> bool {
        self.sessions.remove(client)
    }

    /// Drops all subscriptions.
    pub fn forget_sessions(&mut self) {
        self.sessions.clear();
    }
}
