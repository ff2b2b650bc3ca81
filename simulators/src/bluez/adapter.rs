//! An adapter with the devices near it.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Instant,
};

use uuid::Uuid;
use zbus::Variant;

use super::{
    address::Address,
    device::Device,
    failure::Failure,
    interfaces::{ADVERTISING, GATT, INSTANCES},
    objects::{Objects, Properties},
    outbox::Outbox,
};

/// The interface of an adapter.
pub(super) const ADAPTER: &str = "org.bluez.Adapter1";
/// Its manufacturer information; without it `btleplug` does not see the adapter.
const MODALIAS: &str = "usb:v1D6Bp0246d0548";
/// Clients that may discover at once, or set a filter.
const MAX_CLIENTS: usize = 64;

/// What a client requested from an adapter.
#[derive(Debug, Default)]
struct Client {
    discovers: bool,
    /// Only devices that advertise one of these; empty, all.
    services: Vec<Uuid>,
}

/// An adapter. See the module documentation.
pub(super) struct Adapter {
    /// Its short name.
    pub name: String,
    /// Its object path.
    pub path: String,
    /// Whether it is plugged in.
    pub present: bool,
    /// The devices near it.
    pub devices: Vec<Device>,
    address: Address,
    alias: Option<String>,
    powered: bool,
    clients: BTreeMap<String, Client>,
    /// The services offered by programs.
    offered: BTreeSet<Uuid>,
    /// The number of advertisements of programs.
    advertised: u8,
}

impl Adapter {
    /// An adapter that is on.
    pub fn new(name: &str, address: Address) -> Self {
        Self {
            name: name.to_owned(),
            path: format!("/org/bluez/{name}"),
            present: true,
            devices: Vec::new(),
            address,
            alias: None,
            powered: true,
            clients: BTreeMap::new(),
            offered: BTreeSet::new(),
            advertised: 0,
        }
    }

    /// Whether it is on.
    pub fn is_powered(&self) -> bool {
        self.present && self.powered
    }

    /// Whether it is discovering.
    pub fn is_discovering(&self) -> bool {
        self.clients.values().any(|client| client.discovers)
    }

    /// Shows it and what it knows on D-Bus.
    pub fn describe(&self, objects: &mut Objects) {
        if !self.present {
            return;
        }
        objects.add(self.path.clone(), ADAPTER, self.properties());
        objects.add(self.path.clone(), GATT, Properties::new());
        let advertising = Properties::from([
            ("ActiveInstances", Variant::from(self.advertised)),
            (
                "SupportedInstances",
                Variant::from(INSTANCES.saturating_sub(self.advertised)),
            ),
            (
                "SupportedIncludes",
                Variant::from(vec!["tx-power", "appearance", "local-name"]),
            ),
            ("SupportedSecondaryChannels", Variant::from(vec!["1M"])),
        ]);
        objects.add(self.path.clone(), ADVERTISING, advertising);
        for device in &self.devices {
            device.describe(objects);
        }
    }

    fn properties(&self) -> Properties {
        Properties::from([
            ("Address", Variant::from(self.address.to_string())),
            ("AddressType", Variant::from("public")),
            ("Name", Variant::from(self.name.clone())),
            ("Alias", Variant::from(self.alias().to_owned())),
            ("Class", Variant::from(0_u32)),
            ("Powered", Variant::from(self.powered)),
            ("Discoverable", Variant::from(false)),
            ("Pairable", Variant::from(false)),
            ("Discovering", Variant::from(self.is_discovering())),
            ("UUIDs", Variant::from(self.uuids())),
            ("Modalias", Variant::from(MODALIAS)),
        ])
    }

    /// Its alias, which people and connected phones see.
    pub fn alias(&self) -> &str {
        self.alias.as_deref().unwrap_or(&self.name)
    }

    /// Sets its alias; an empty one restores its own name.
    pub fn rename(&mut self, now: Instant, alias: &str, outbox: &mut Outbox) {
        self.alias = (!alias.is_empty()).then(|| alias.to_owned());
        let changes = [("Alias", Variant::from(self.alias().to_owned()))];
        outbox.changed(now, &self.path, ADAPTER, changes);
    }

    fn uuids(&self) -> Vec<String> {
        self.offered.iter().map(Uuid::to_string).collect()
    }

    /// Updates the services and the number of advertisements that programs offer.
    pub fn offer(
        &mut self,
        now: Instant,
        services: BTreeSet<Uuid>,
        advertised: u8,
        outbox: &mut Outbox,
    ) {
        if self.offered != services {
            self.offered = services;
            if self.present {
                let changes = [("UUIDs", Variant::from(self.uuids()))];
                outbox.changed(now, &self.path, ADAPTER, changes);
            }
        }
        if self.advertised != advertised {
            self.advertised = advertised;
            if self.present {
                let changes = [
                    ("ActiveInstances", Variant::from(advertised)),
                    (
                        "SupportedInstances",
                        Variant::from(INSTANCES.saturating_sub(advertised)),
                    ),
                ];
                outbox.changed(now, &self.path, ADVERTISING, changes);
            }
        }
    }

    /// The service has restarted and announces its objects.
    pub fn begin(&self, now: Instant, outbox: &mut Outbox) {
        let mut objects = Objects::default();
        self.describe(&mut objects);
        for (path, interfaces) in objects.iter() {
            outbox.added(now, path, interfaces);
        }
    }

    /// Switches it on or off; off, it loses every link.
    pub fn power(&mut self, now: Instant, on: bool, outbox: &mut Outbox) {
        if self.powered == on {
            return;
        }
        if !on {
            self.stop_all(now, outbox);
            for device in &mut self.devices {
                device.disconnect(now, outbox);
            }
        }
        self.powered = on;
        outbox.changed(now, &self.path, ADAPTER, [("Powered", on.into())]);
    }

    /// Unplugs it, or plugs it in again.
    pub fn plug(&mut self, now: Instant, on: bool, outbox: &mut Outbox) {
        if self.present == on {
            return;
        }
        if on {
            self.present = true;
            self.powered = true;
        } else {
            self.clients.clear();
            for device in &mut self.devices {
                device.forget(now, outbox);
            }
        }
        let mut objects = Objects::default();
        self.describe(&mut objects);
        for (path, interfaces) in objects.iter() {
            if on {
                outbox.added(now, path, interfaces);
            } else {
                outbox.removed(now, path, interfaces);
            }
        }
        self.present = on;
    }

    /// The daemon has ended: everything it knew is forgotten.
    pub fn restart(&mut self, now: Instant, outbox: &mut Outbox) {
        self.clients.clear();
        for device in &mut self.devices {
            device.forget(now, outbox);
        }
    }

    /// A client sets its discovery filter.
    pub fn set_filter(&mut self, client: &str, services: Vec<Uuid>) -> Result<(), Failure> {
        self.client(client)?.services = services;
        Ok(())
    }

    /// A client starts discovery.
    pub fn start(
        &mut self,
        now: Instant,
        client: &str,
        outbox: &mut Outbox,
    ) -> Result<(), Failure> {
        if !self.powered {
            return Err(Failure::not_ready());
        }
        let was = self.is_discovering();
        let client = self.client(client)?;
        if client.discovers {
            return Err(Failure::in_progress());
        }
        client.discovers = true;
        if !was {
            outbox.changed(now, &self.path, ADAPTER, [("Discovering", true.into())]);
        }
        Ok(())
    }

    /// A client stops discovery.
    pub fn stop(&mut self, now: Instant, client: &str, outbox: &mut Outbox) -> Result<(), Failure> {
        if !self.powered {
            return Err(Failure::not_ready());
        }
        match self.clients.get_mut(client) {
            Some(client) if client.discovers => client.discovers = false,
            _ => return Err(Failure::failed("No discovery started")),
        }
        self.tell_stopped(now, outbox);
        Ok(())
    }

    /// A client has left the bus.
    pub fn client_gone(&mut self, now: Instant, client: &str, outbox: &mut Outbox) {
        if self
            .clients
            .remove(client)
            .is_some_and(|client| client.discovers)
        {
            self.tell_stopped(now, outbox);
        }
        for device in &mut self.devices {
            device.client_gone(now, client, outbox);
        }
    }

    fn stop_all(&mut self, now: Instant, outbox: &mut Outbox) {
        let was = self.is_discovering();
        self.clients.clear();
        if was {
            self.tell_stopped(now, outbox);
        }
    }

    fn tell_stopped(&self, now: Instant, outbox: &mut Outbox) {
        if !self.is_discovering() {
            outbox.changed(now, &self.path, ADAPTER, [("Discovering", false.into())]);
        }
    }

    fn client(&mut self, client: &str) -> Result<&mut Client, Failure> {
        if self.clients.len() >= MAX_CLIENTS && !self.clients.contains_key(client) {
            return Err(Failure::failed("Too many clients"));
        }
        Ok(self.clients.entry(client.to_owned()).or_default())
    }

    /// Does what is due.
    pub fn serve(&mut self, now: Instant, outbox: &mut Outbox) {
        let listens = self.is_powered();
        let searching: Vec<&Client> = self
            .clients
            .values()
            .filter(|client| client.discovers)
            .collect();
        for device in &mut self.devices {
            let wanted = searching
                .iter()
                .any(|client| client.services.is_empty() || device.advertises(&client.services));
            device.listen(now, listens && wanted);
            device.serve(now, outbox);
        }
    }

    /// When there is something to do.
    pub fn deadline(&self) -> Option<Instant> {
        self.devices.iter().filter_map(Device::deadline).min()
    }
}
