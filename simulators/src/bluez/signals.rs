//! The signals of the service.

use std::time::Instant;

use zbus::{Message, ObjectPath, Variant, message::Builder};

use super::{
    attribute::CHARACTERISTIC,
    bus::SERVICE_OWNER,
    objects::{Interfaces, Properties},
    outbox::{Lane, Outbox},
};

impl Outbox {
    /// Properties of an object have changed.
    pub fn changed(
        &mut self,
        now: Instant,
        path: &str,
        interface: &str,
        properties: impl IntoIterator<Item = (&'static str, Variant<'static>)>,
    ) {
        let message = changed(path, interface, properties);
        self.push(now, Lane::Signal, message);
    }

    /// A characteristic has notified.
    pub fn notified(&mut self, now: Instant, path: &str, value: Vec<u8>) {
        let message = changed(path, CHARACTERISTIC, [("Value", value.into())]);
        self.push(now, Lane::Notification, message);
    }

    /// An object was added.
    pub fn added(&mut self, now: Instant, path: &str, interfaces: &Interfaces) {
        let message = ObjectPath::try_from(path)
            .and_then(|path| manager("InterfacesAdded").build(&(path, interfaces)));
        self.push(now, Lane::Signal, message);
    }

    /// An object was removed.
    pub fn removed(&mut self, now: Instant, path: &str, interfaces: &Interfaces) {
        let names: Vec<&str> = interfaces.keys().copied().collect();
        let message = ObjectPath::try_from(path)
            .and_then(|path| manager("InterfacesRemoved").build(&(path, names)));
        self.push(now, Lane::Signal, message);
    }
}

fn changed(
    path: &str,
    interface: &str,
    properties: impl IntoIterator<Item = (&'static str, Variant<'static>)>,
) -> zbus::Result<Message> {
    let properties: Properties = properties.into_iter().collect();
    Message::signal(path, "org.freedesktop.DBus.Properties", "PropertiesChanged").build(&(
        interface,
        properties,
        Vec::<&str>::new(),
    ))
}

fn manager(signal: &'static str) -> Builder<'static> {
    Message::signal("/", "org.freedesktop.DBus.ObjectManager", signal).sender(SERVICE_OWNER)
}
