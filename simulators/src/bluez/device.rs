//! A device near an adapter: a peripheral, and what `BlueZ` knows about it.

use std::{
    collections::BTreeMap,
    os::unix::net::UnixStream,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use uuid::Uuid;
use zbus::{ObjectPath, Variant};

use super::{
    address::Address,
    attribute::{Attribute, CHARACTERISTIC, SERVICE},
    failure::Failure,
    objects::{Objects, Properties},
    outbox::Outbox,
    serial_device::{SERIAL_PORT, SerialPort},
    sighting::{Heard, Sighting},
};
use crate::peripheral::{Peripheral, Profile};

/// The interface of a device.
pub(super) const DEVICE: &str = "org.bluez.Device1";
/// The handle of the first service.
const FIRST_HANDLE: u16 = 0x000a;
/// The handles of a characteristic: its declaration, its value, and its client configuration.
const HANDLES: u16 = 3;
/// The longest value of a characteristic.
const MAX_VALUE: usize = 512;
/// The bits flipped in a corrupted byte.
const FLIP: u8 = 0x01;

/// A device. See the module documentation.
pub(super) struct Device {
    /// Its address.
    pub address: Address,
    /// Its object path.
    pub path: String,
    /// Whether its radio reaches the adapter.
    pub in_range: bool,
    /// Whether a person has paired it: `BlueZ` then knows it in range or not.
    pub paired: bool,
    /// Its serial port, if it has one.
    pub serial: Option<SerialPort>,
    /// Fault: how many connects to refuse.
    pub refuse_connects: usize,
    /// The time from connecting until its services are resolved.
    pub services_wait: Duration,
    /// Fault: how many notifications to corrupt.
    pub corrupt: usize,
    /// Fault: how many notifications to lose.
    pub lose: usize,
    profile: Profile,
    adapter: String,
    peripheral: Arc<Mutex<dyn Peripheral>>,
    services: Vec<(String, Uuid)>,
    attributes: Vec<Attribute>,
    sighting: Sighting,
    connected: bool,
    /// When its services are resolved, on a new link.
    resolves: Option<Instant>,
    /// The services were resolved once; `BlueZ` keeps them.
    cached: bool,
}

impl Device {
    /// Puts a peripheral near an adapter.
    pub fn new(adapter: &str, address: Address, peripheral: Arc<Mutex<dyn Peripheral>>) -> Self {
        let path = format!("{adapter}/dev_{}", address.separated('_'));
        let profile = lock(&peripheral).profile().clone();
        let mut handle = FIRST_HANDLE;
        let mut services = Vec::new();
        let mut attributes = Vec::new();
        for service in &profile.services {
            let at = format!("{path}/service{handle:04x}");
            handle = handle.saturating_add(1);
            for characteristic in &service.characteristics {
                attributes.push(Attribute::new(&at, handle, *characteristic));
                handle = handle.saturating_add(HANDLES);
            }
            services.push((at, service.uuid));
        }
        Self {
            address,
            path,
            in_range: true,
            paired: false,
            serial: None,
            refuse_connects: 0,
            services_wait: Duration::ZERO,
            corrupt: 0,
            lose: 0,
            profile,
            adapter: adapter.to_owned(),
            peripheral,
            services,
            attributes,
            sighting: Sighting::default(),
            connected: false,
            resolves: None,
            cached: false,
        }
    }

    /// Whether `BlueZ` knows it.
    pub fn is_known(&self) -> bool {
        self.paired || self.sighting.heard() != Heard::Nothing
    }

    fn has_name(&self) -> bool {
        self.paired || self.sighting.heard() == Heard::Name
    }

    /// Whether there is a link.
    pub fn is_connected(&self) -> bool {
        self.connected
    }

    /// Whether it is connected, and its services are resolved.
    pub fn is_resolved(&self) -> bool {
        self.connected && self.resolves.is_none()
    }

    /// Whether it advertises one of these services.
    pub fn advertises(&self, services: &[Uuid]) -> bool {
        services
            .iter()
            .any(|service| self.profile.advertised.contains(service))
    }

    /// Whether it offers this service of Bluetooth Classic.
    pub fn offers(&self, service: Uuid) -> bool {
        self.serial.is_some() && service == SERIAL_PORT
    }

    /// A characteristic by its path, once `BlueZ` shows it.
    pub fn find(&self, path: &str) -> Option<usize> {
        let known = self.cached && self.is_known();
        self.attributes
            .iter()
            .position(|attribute| known && attribute.path == path)
    }

    /// A characteristic by its name.
    pub fn attribute(&mut self, uuid: Uuid) -> Option<&mut Attribute> {
        self.attributes
            .iter_mut()
            .find(|attribute| attribute.is.uuid == uuid)
    }

    /// Shows it on D-Bus.
    pub fn describe(&self, objects: &mut Objects) {
        if !self.is_known() {
            return;
        }
        objects.add(self.path.clone(), DEVICE, self.properties());
        if self.cached {
            self.describe_services(objects);
        }
    }

    fn describe_services(&self, objects: &mut Objects) {
        for (path, uuid) in &self.services {
            let mut properties = Properties::from([
                ("UUID", Variant::from(uuid.to_string())),
                ("Primary", Variant::from(true)),
            ]);
            if let Ok(device) = ObjectPath::try_from(self.path.clone()) {
                properties.insert("Device", device.into());
            }
            objects.add(path.clone(), SERVICE, properties);
        }
        for attribute in &self.attributes {
            objects.add(
                attribute.path.clone(),
                CHARACTERISTIC,
                attribute.properties(),
            );
        }
    }

    fn properties(&self) -> Properties {
        let mut properties = Properties::from([
            ("Address", Variant::from(self.address.to_string())),
            ("AddressType", Variant::from("public")),
            ("Alias", Variant::from(self.alias())),
            ("Paired", Variant::from(self.paired)),
            ("Bonded", Variant::from(self.paired)),
            ("Trusted", Variant::from(false)),
            ("Blocked", Variant::from(false)),
            ("LegacyPairing", Variant::from(false)),
            ("Connected", Variant::from(self.connected)),
            ("ServicesResolved", Variant::from(self.is_resolved())),
            ("UUIDs", Variant::from(self.uuids())),
        ]);
        if self.has_name() {
            properties.insert("Name", self.profile.name.clone().into());
        }
        if let Some(rssi) = self.sighting.rssi() {
            properties.insert("RSSI", rssi.into());
        }
        if let Some((company, data)) = self.profile.maker_data.clone() {
            let data = BTreeMap::from([(company, Variant::from(data))]);
            properties.insert("ManufacturerData", data.into());
        }
        if let Ok(adapter) = ObjectPath::try_from(self.adapter.clone()) {
            properties.insert("Adapter", adapter.into());
        }
        properties
    }

    /// The name, or without one the address with dashes, as in `BlueZ`.
    fn alias(&self) -> String {
        if self.has_name() {
            self.profile.name.clone()
        } else {
            self.address.separated('-')
        }
    }

    fn uuids(&self) -> Vec<String> {
        let serial = self.serial.is_some().then_some(&SERIAL_PORT);
        let services = self.services.iter().map(|(_, uuid)| uuid);
        let known: Vec<&Uuid> = if self.cached {
            services.collect()
        } else {
            self.profile.advertised.iter().collect()
        };
        known
            .into_iter()
            .chain(serial)
            .map(Uuid::to_string)
            .collect()
    }

    /// The adapter starts or stops listening for it.
    pub fn listen(&mut self, now: Instant, on: bool) {
        let on = on && self.in_range && !self.connected;
        self.sighting.listen(now, on);
    }

    /// When there is something to do.
    pub fn deadline(&self) -> Option<Instant> {
        let own = self.peripheral().deadline();
        let told = self.sighting.deadline().into_iter().chain(self.resolves);
        told.chain(own).min()
    }

    /// Does what is due.
    pub fn serve(&mut self, now: Instant, outbox: &mut Outbox) {
        let before = self.sighting.heard();
        if self.sighting.hear(now) {
            self.seen(now, before, outbox);
        }
        if self.resolves.is_some_and(|at| at <= now) {
            self.resolve(now, outbox);
        }
        {
            let mut peripheral = self.peripheral();
            if peripheral.deadline().is_some_and(|at| at <= now) {
                peripheral.timeout(now);
            }
        }
        while !outbox.is_full() {
            let next = self.peripheral().poll_notify();
            match next {
                Some((uuid, value)) => self.notify(now, uuid, value, outbox),
                None => break,
            }
        }
        let ends = self.peripheral().hangs_up();
        if ends {
            self.disconnect(now, outbox);
        }
    }

    fn seen(&self, now: Instant, before: Heard, outbox: &mut Outbox) {
        if before == Heard::Nothing && !self.paired {
            let mut objects = Objects::default();
            self.describe(&mut objects);
            for (path, interfaces) in objects.iter() {
                outbox.added(now, path, interfaces);
            }
            return;
        }
        let mut changes = Properties::new();
        if before == Heard::Advertisement {
            changes.insert("Name", self.profile.name.clone().into());
            changes.insert("Alias", self.alias().into());
        }
        if let Some(rssi) = self.sighting.rssi() {
            changes.insert("RSSI", rssi.into());
        }
        outbox.changed(now, &self.path, DEVICE, changes);
    }

    fn notify(&mut self, now: Instant, uuid: Uuid, mut value: Vec<u8>, outbox: &mut Outbox) {
        let (connected, lose, corrupt) = (self.connected, self.lose, self.corrupt);
        let Some(attribute) = self.attribute(uuid) else {
            return;
        };
        if !connected || !attribute.is_notifying() {
            return;
        }
        if lose > 0 {
            self.lose -= 1;
            return;
        }
        if corrupt > 0 {
            let middle = value.len() / 2;
            if let Some(byte) = value.get_mut(middle) {
                *byte ^= FLIP;
            }
        }
        attribute.value.clone_from(&value);
        outbox.notified(now, &attribute.path, value);
        self.corrupt = corrupt.saturating_sub(1);
    }

    /// Sends a notification that does not come from the peripheral, to all subscribers.
    pub fn inject(
        &mut self,
        now: Instant,
        uuid: Uuid,
        value: Vec<u8>,
        outbox: &mut Outbox,
    ) -> bool {
        let Some(attribute) = self.attribute(uuid) else {
            return false;
        };
        attribute.value.clone_from(&value);
        outbox.notified(now, &attribute.path, value);
        true
    }

    /// Makes a link.
    pub fn connect(&mut self, now: Instant, outbox: &mut Outbox) -> Result<(), Failure> {
        if self.connected {
            return Ok(());
        }
        if !self.in_range || self.refuse_connects > 0 {
            self.refuse_connects = self.refuse_connects.saturating_sub(1);
            return Err(Failure::failed("le-connection-abort-by-local"));
        }
        self.link(now, outbox);
        Ok(())
    }

    /// A client connects to its serial port; returns the client's end of the line.
    pub fn connect_serial(
        &mut self,
        now: Instant,
        outbox: &mut Outbox,
    ) -> Result<UnixStream, Failure> {
        let serial = self.serial.as_mut();
        let serial = serial.ok_or_else(Failure::profile_unavailable)?;
        if !self.in_range {
            return Err(Failure::failed("br-connection-page-timeout"));
        }
        if !self.paired || self.refuse_connects > 0 {
            self.refuse_connects = self.refuse_connects.saturating_sub(1);
            return Err(Failure::failed("br-connection-refused"));
        }
        if self.connected {
            return Err(Failure::already_connected());
        }
        let end = serial.call();
        let end = end.map_err(|_| Failure::failed("br-connection-create-socket"))?;
        self.connected = true;
        self.sighting.listen(now, false);
        outbox.changed(now, &self.path, DEVICE, [("Connected", true.into())]);
        Ok(end)
    }

    /// It connects by itself, as a central does, which makes it known to `BlueZ`.
    pub fn arrive(&mut self, now: Instant, outbox: &mut Outbox) {
        if self.connected {
            return;
        }
        if !self.is_known() {
            self.sighting.meet();
            let mut objects = Objects::default();
            self.describe(&mut objects);
            for (path, interfaces) in objects.iter() {
                outbox.added(now, path, interfaces);
            }
        }
        self.link(now, outbox);
    }

    fn link(&mut self, now: Instant, outbox: &mut Outbox) {
        self.connected = true;
        self.sighting.listen(now, false);
        outbox.changed(now, &self.path, DEVICE, [("Connected", true.into())]);
        self.peripheral().connected(now);
        // Sessions that clients did not give up are active again.
        for attribute in &self.attributes {
            if attribute.is_notifying() {
                self.peripheral().subscribed(now, attribute.is.uuid, true);
            }
        }
        self.resolves = Some(now + self.services_wait);
        if self.services_wait.is_zero() {
            self.resolve(now, outbox);
        }
    }

    /// Its services are resolved.
    fn resolve(&mut self, now: Instant, outbox: &mut Outbox) {
        self.resolves = None;
        if !self.cached {
            self.cached = true;
            let mut objects = Objects::default();
            self.describe_services(&mut objects);
            for (path, interfaces) in objects.iter() {
                outbox.added(now, path, interfaces);
            }
        }
        let changes = [
            ("UUIDs", Variant::from(self.uuids())),
            ("ServicesResolved", Variant::from(true)),
        ];
        outbox.changed(now, &self.path, DEVICE, changes);
    }

    /// Ends the link, for whatever reason; `false` if there is none.
    pub fn disconnect(&mut self, now: Instant, outbox: &mut Outbox) -> bool {
        if !self.connected {
            return false;
        }
        self.connected = false;
        self.resolves = None;
        if let Some(serial) = &mut self.serial {
            serial.hang_up();
        }
        self.peripheral().disconnected(now);
        outbox.lose_notifications(now, &self.path);
        let changes = [
            ("Connected", Variant::from(false)),
            ("ServicesResolved", Variant::from(false)),
        ];
        outbox.changed(now, &self.path, DEVICE, changes);
        true
    }

    /// A person pairs it: `BlueZ` knows it from now on.
    pub fn pair(&mut self, now: Instant, outbox: &mut Outbox) {
        if self.is_known() {
            self.paired = true;
            let changes = [("Paired", true.into()), ("Bonded", true.into())];
            return outbox.changed(now, &self.path, DEVICE, changes);
        }
        self.paired = true;
        let mut objects = Objects::default();
        self.describe(&mut objects);
        for (path, interfaces) in objects.iter() {
            outbox.added(now, path, interfaces);
        }
    }

    /// A person removes it from what `BlueZ` knows.
    pub fn unpair(&mut self, now: Instant, outbox: &mut Outbox) {
        self.forget(now, outbox);
        self.paired = false;
    }

    /// `BlueZ` forgets it, except that it is paired.
    pub fn forget(&mut self, now: Instant, outbox: &mut Outbox) {
        self.disconnect(now, outbox);
        let mut objects = Objects::default();
        self.describe(&mut objects);
        for (path, interfaces) in objects.iter() {
            outbox.removed(now, path, interfaces);
        }
        self.sighting = Sighting::default();
        self.cached = false;
        for attribute in &mut self.attributes {
            attribute.forget_sessions();
        }
    }

    /// A client reads.
    pub fn read(
        &mut self,
        now: Instant,
        index: usize,
        outbox: &mut Outbox,
    ) -> Result<Vec<u8>, Failure> {
        self.require_link()?;
        let is = self.attributes[index].is;
        if !is.flags.read {
            return Err(Failure::not_permitted("Read not permitted"));
        }
        let value = self
            .peripheral()
            .read(now, is.uuid)
            .map_err(|_| Failure::att())?;
        let attribute = &mut self.attributes[index];
        attribute.value.clone_from(&value);
        // As in the real one: subscribers see values that others read.
        let changes = [("Value", Variant::from(value.clone()))];
        outbox.changed(now, &attribute.path, CHARACTERISTIC, changes);
        Ok(value)
    }

    /// A client writes, with a response or without.
    pub fn write(
        &mut self,
        now: Instant,
        index: usize,
        value: &[u8],
        respond: bool,
    ) -> Result<(), Failure> {
        self.require_link()?;
        let attribute = &mut self.attributes[index];
        let flags = attribute.is.flags;
        let fits = if respond {
            flags.write
        } else {
            flags.write_without_response
        };
        if !fits {
            return Err(Failure::not_supported());
        }
        if value.len() > MAX_VALUE {
            return Err(Failure::invalid_arguments());
        }
        if respond && attribute.refuse_writes > 0 {
            attribute.refuse_writes -= 1;
            return Err(Failure::att());
        }
        let uuid = attribute.is.uuid;
        match self.peripheral().write(now, uuid, value) {
            // Without a response the writer does not learn of a refusal.
            Err(_) if respond => Err(Failure::att()),
            _ => Ok(()),
        }
    }

    /// A client subscribes.
    pub fn start_notify(
        &mut self,
        now: Instant,
        index: usize,
        client: &str,
        outbox: &mut Outbox,
    ) -> Result<(), Failure> {
        let attribute = &mut self.attributes[index];
        if !attribute.is.flags.notify {
            return Err(Failure::not_supported());
        }
        if attribute.has_session(client) {
            return Err(if self.connected {
                Failure::failed("Already notifying")
            } else {
                Failure::in_progress()
            });
        }
        let first = !attribute.is_notifying();
        if !attribute.open_session(client) {
            return Err(Failure::failed("Failed allocate notify session"));
        }
        if first {
            let changes = [("Notifying", true.into())];
            outbox.changed(now, &attribute.path, CHARACTERISTIC, changes);
            let uuid = attribute.is.uuid;
            if self.connected {
                self.peripheral().subscribed(now, uuid, true);
            }
        }
        Ok(())
    }

    /// A client unsubscribes.
    pub fn stop_notify(
        &mut self,
        now: Instant,
        index: usize,
        client: &str,
        outbox: &mut Outbox,
    ) -> Result<(), Failure> {
        let attribute = &mut self.attributes[index];
        if !attribute.close_session(client) {
            return Err(Failure::failed("No notify session started"));
        }
        if !attribute.is_notifying() {
            let changes = [("Notifying", false.into())];
            outbox.changed(now, &attribute.path, CHARACTERISTIC, changes);
            let uuid = attribute.is.uuid;
            if self.connected {
                self.peripheral().subscribed(now, uuid, false);
            }
        }
        Ok(())
    }

    /// A client has left the bus: its sessions end, the link stays.
    pub fn client_gone(&mut self, now: Instant, client: &str, outbox: &mut Outbox) {
        for index in 0..self.attributes.len() {
            // It may have had no session here.
            let _ = self.stop_notify(now, index, client, outbox);
        }
    }

    fn require_link(&self) -> Result<(), Failure> {
        if self.connected {
            Ok(())
        } else {
            Err(Failure::failed("Not connected"))
        }
    }

    fn peripheral(&self) -> MutexGuard<'_, dyn Peripheral + 'static> {
        lock(&self.peripheral)
    }
}

/// Locks a peripheral, even if another user panicked.
pub(super) fn lock<P: Peripheral + ?Sized>(peripheral: &Mutex<P>) -> MutexGuard<'_, P> {
    peripheral.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        pegasus::{Pegasus, Settings},
        radio::ADDRESS,
    };

    #[test]
    fn a_peripheral_that_hangs_up_loses_its_link_and_can_be_connected_again() {
        let board = Arc::new(Mutex::new(Pegasus::new(Settings::default())));
        let mut device = Device::new("/hci0", ADDRESS, board);
        let (mut outbox, now) = (Outbox::default(), Instant::now());
        device.connect(now, &mut outbox).unwrap();
        device.serve(now, &mut outbox);
        assert!(device.is_connected());
        let silence = device.deadline().unwrap();
        device.serve(silence, &mut outbox);
        assert!(!device.is_connected());
        device.connect(silence, &mut outbox).unwrap();
        device.serve(silence, &mut outbox);
        assert!(device.is_connected());
    }
}
