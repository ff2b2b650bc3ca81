//! The service's state and its replies, without I/O.

use std::{collections::BTreeMap, time::Instant};

use uuid::Uuid;
use zbus::{
    Message, ObjectPath, Variant,
    message::{Flags, Header},
    names::{InterfaceName, MemberName},
};

use super::{
    adapter::{ADAPTER, Adapter},
    address::Address,
    attribute::CHARACTERISTIC,
    bus::SERVICE_OWNER,
    device::{DEVICE, Device},
    failure::Failure,
    interfaces::{ADVERTISING, GATT, PROFILES, ROOT},
    objects::{Objects, Properties},
    offers::Offers,
    outbox::{Lane, Outbox},
};

/// Options of a call.
type Options<'a> = BTreeMap<String, Variant<'a>>;

/// The state of the service. See the module documentation.
#[derive(Default)]
pub(super) struct Radio {
    /// The adapters, plugged in or not.
    pub adapters: Vec<Adapter>,
    /// What programs offer.
    pub offers: Offers,
    /// What is to be sent.
    pub outbox: Outbox,
    /// Fault: the bus denies access to the service.
    pub denied: bool,
    /// Fault: the service is off the bus.
    pub away: bool,
}

/// The object at a path.
enum Target<'a> {
    Adapter(&'a mut Adapter),
    /// A device, and whether its adapter is on.
    Device(&'a mut Device, bool),
    Attribute(&'a mut Device, usize),
    Other,
}

impl Radio {
    /// Does what is due.
    pub fn serve(&mut self, now: Instant) {
        for adapter in &mut self.adapters {
            adapter.serve(now, &mut self.outbox);
        }
        self.offers
            .settle(now, &mut self.adapters, &mut self.outbox);
    }

    /// When there is something to do.
    pub fn deadline(&self) -> Option<Instant> {
        let own = self.adapters.iter().filter_map(Adapter::deadline);
        own.chain(self.outbox.deadline()).min()
    }

    /// An adapter by its short name.
    pub fn adapter(&mut self, name: &str) -> Option<&mut Adapter> {
        self.adapters
            .iter_mut()
            .find(|adapter| adapter.name == name)
    }

    /// A device by its address, with the outbox for its messages.
    pub fn device(&mut self, address: Address) -> Option<(&mut Device, &mut Outbox)> {
        let mut devices = self
            .adapters
            .iter_mut()
            .flat_map(|adapter| &mut adapter.devices);
        let device = devices.find(|device| device.address == address)?;
        Some((device, &mut self.outbox))
    }

    /// A client calls.
    pub fn called(&mut self, now: Instant, client: &str, message: &Message) {
        let header = message.header();
        let reply = match self.call(now, client, message, &header) {
            Ok(Some(reply)) => reply,
            // Replied to when the client has replied.
            Ok(None) => return,
            Err(failure) => failure.reply(&header, SERVICE_OWNER, client),
        };
        if !header.primary().flags().contains(Flags::NO_REPLY_EXPECTED) {
            self.outbox.push(now, Lane::Reply, reply);
        }
    }

    /// A client has left the bus.
    pub fn client_gone(&mut self, now: Instant, client: &str) {
        for adapter in &mut self.adapters {
            adapter.client_gone(now, client, &mut self.outbox);
        }
        self.offers.client_gone(client);
    }

    /// A client replies to a call.
    pub fn replied(&mut self, now: Instant, client: &str, message: &Message) {
        self.offers.replied(now, client, message, &mut self.outbox);
    }

    /// A client sends a signal.
    pub fn signalled(&mut self, client: &str, message: &Message) {
        if !self.denied {
            self.offers.signalled(client, message);
        }
    }

    fn call(
        &mut self,
        now: Instant,
        client: &str,
        message: &Message,
        header: &Header<'_>,
    ) -> Result<Option<zbus::Result<Message>>, Failure> {
        if self.denied {
            return Err(Failure::access_denied());
        }
        let path = header.path().map(ObjectPath::as_str).unwrap_or_default();
        let interface = header
            .interface()
            .map(InterfaceName::as_str)
            .unwrap_or_default();
        let member = header.member().map(MemberName::as_str).unwrap_or_default();
        let body = message.body();
        let done = Message::method_return(header)
            .sender(SERVICE_OWNER)
            .destination(client);
        let unknown = || Failure::unknown_method(interface, member);
        let outside = (interface, member);

        match outside {
            ("org.freedesktop.DBus.Peer", "Ping") => return Ok(Some(done.build(&()))),
            ("org.freedesktop.DBus.Introspectable", "Introspect") => {
                let xml = self.objects().introspect(path);
                let xml = xml.ok_or_else(|| Failure::unknown_object(path))?;
                return Ok(Some(done.build(&xml)));
            }
            ("org.freedesktop.DBus.ObjectManager", "GetManagedObjects") if path == "/" => {
                return Ok(Some(done.build(&self.objects().managed())));
            }
            ("org.freedesktop.DBus.Properties", "GetAll") => {
                let name: &str = body
                    .deserialize()
                    .map_err(|_| Failure::invalid_arguments())?;
                let objects = self.objects();
                let object = objects
                    .get(path)
                    .ok_or_else(|| Failure::unknown_object(path))?;
                let all = object.get(name).ok_or_else(unknown)?;
                return Ok(Some(done.build(all)));
            }
            ("org.freedesktop.DBus.Properties", "Get") => {
                let (of, name): (&str, &str) = body
                    .deserialize()
                    .map_err(|_| Failure::invalid_arguments())?;
                let objects = self.objects();
                let object = objects
                    .get(path)
                    .ok_or_else(|| Failure::unknown_object(path))?;
                let all = object.get(of).ok_or_else(unknown)?;
                let one = all
                    .get(name)
                    .ok_or_else(|| Failure::unknown_property(name))?;
                return Ok(Some(done.build(one)));
            }
            _ => {}
        }

        let adapters = &mut self.adapters;
        let outbox = &mut self.outbox;
        let offers = &mut self.offers;
        match outside {
            (PROFILES, "RegisterProfile") if path == ROOT => {
                offers.register_profile(client, message)?;
                return Ok(Some(done.build(&())));
            }
            (PROFILES, "UnregisterProfile") if path == ROOT => {
                offers.unregister_profile(client, message)?;
                return Ok(Some(done.build(&())));
            }
            _ => {}
        }
        match (target(adapters, path), outside) {
            (Target::Other, _) => return Err(Failure::unknown_object(path)),
            (Target::Adapter(adapter), ("org.freedesktop.DBus.Properties", "Set")) => {
                let (of, name, value): (&str, &str, Variant<'_>) = body
                    .deserialize()
                    .map_err(|_| Failure::invalid_arguments())?;
                match (of, name, value) {
                    (ADAPTER, "Powered", Variant::Bool(on)) => adapter.power(now, on, outbox),
                    (ADAPTER, "Alias", Variant::Str(name)) => adapter.rename(now, &name, outbox),
                    (ADAPTER, "Powered" | "Alias", _) => return Err(Failure::invalid_arguments()),
                    _ => return Err(Failure::read_only(name)),
                }
            }
            (_, ("org.freedesktop.DBus.Properties", "Set")) => {
                return Err(Failure::read_only("of this object"));
            }
            (Target::Adapter(adapter), (ADAPTER, "SetDiscoveryFilter")) => {
                let options: Options<'_> = body
                    .deserialize()
                    .map_err(|_| Failure::invalid_arguments())?;
                adapter.set_filter(client, services(&options)?)?;
            }
            (Target::Adapter(adapter), (ADAPTER, "StartDiscovery")) => {
                adapter.start(now, client, outbox)?;
            }
            (Target::Adapter(adapter), (ADAPTER, "StopDiscovery")) => {
                adapter.stop(now, client, outbox)?;
            }
            (Target::Adapter(_), (GATT, "RegisterApplication")) => {
                offers.register_application(now, client, path, message, outbox)?;
                return Ok(None);
            }
            (Target::Adapter(_), (GATT, "UnregisterApplication")) => {
                offers.unregister_application(client, message)?;
            }
            (Target::Adapter(_), (ADVERTISING, "RegisterAdvertisement")) => {
                offers.register_advertisement(now, client, path, message, outbox)?;
                return Ok(None);
            }
            (Target::Adapter(_), (ADVERTISING, "UnregisterAdvertisement")) => {
                offers.unregister_advertisement(client, message)?;
            }
            (Target::Adapter(adapter), (ADAPTER, "RemoveDevice")) => {
                let path: ObjectPath<'_> = body
                    .deserialize()
                    .map_err(|_| Failure::invalid_arguments())?;
                let mut devices = adapter.devices.iter_mut();
                devices
                    .find(|device| device.path == path.as_str() && device.is_known())
                    .ok_or_else(Failure::does_not_exist)?
                    .unpair(now, outbox);
            }
            (Target::Device(_, false), (DEVICE, "Connect" | "ConnectProfile")) => {
                return Err(Failure::not_ready());
            }
            (Target::Device(device, true), (DEVICE, "ConnectProfile")) => {
                let service: &str = body
                    .deserialize()
                    .map_err(|_| Failure::invalid_arguments())?;
                let service = Uuid::parse_str(service).map_err(|_| Failure::invalid_arguments())?;
                if !offers.has_client(service) || !device.offers(service) {
                    return Err(Failure::profile_unavailable());
                }
                let end = device.connect_serial(now, outbox)?;
                offers.hand_over(now, message, service, &device.path, end, outbox)?;
                return Ok(None);
            }
            (Target::Device(device, true), (DEVICE, "Connect")) => {
                device.connect(now, outbox)?;
            }
            (Target::Device(device, _), (DEVICE, "Disconnect")) => {
                if !device.disconnect(now, outbox) {
                    return Err(Failure::not_connected());
                }
            }
            (Target::Attribute(device, index), (CHARACTERISTIC, "ReadValue")) => {
                let value = device.read(now, index, outbox)?;
                return Ok(Some(done.build(&value)));
            }
            (Target::Attribute(device, index), (CHARACTERISTIC, "WriteValue")) => {
                let (value, options): (Vec<u8>, Options<'_>) = body
                    .deserialize()
                    .map_err(|_| Failure::invalid_arguments())?;
                let respond = match options.get("type") {
                    Some(Variant::Str(name)) => name.as_str() == "request",
                    _ => true,
                };
                device.write(now, index, &value, respond)?;
            }
            (Target::Attribute(device, index), (CHARACTERISTIC, "StartNotify")) => {
                device.start_notify(now, index, client, outbox)?;
            }
            (Target::Attribute(device, index), (CHARACTERISTIC, "StopNotify")) => {
                device.stop_notify(now, index, client, outbox)?;
            }
            _ => return Err(unknown()),
        }
        Ok(Some(done.build(&())))
    }

    fn objects(&self) -> Objects {
        let mut objects = Objects::default();
        for adapter in &self.adapters {
            adapter.describe(&mut objects);
        }
        objects.add(ROOT.to_owned(), PROFILES, Properties::new());
        objects
    }
}

fn target<'a>(adapters: &'a mut [Adapter], path: &str) -> Target<'a> {
    for adapter in adapters.iter_mut().filter(|adapter| adapter.present) {
        if adapter.path == path {
            return Target::Adapter(adapter);
        }
        let powered = adapter.is_powered();
        for device in adapter
            .devices
            .iter_mut()
            .filter(|device| device.is_known())
        {
            if device.path == path {
                return Target::Device(device, powered);
            }
            if let Some(index) = device.find(path) {
                return Target::Attribute(device, index);
            }
        }
    }
    Target::Other
}

fn services(options: &Options<'_>) -> Result<Vec<Uuid>, Failure> {
    let Some(list) = options.get("UUIDs") else {
        return Ok(Vec::new());
    };
    let Variant::Array(list) = list else {
        return Err(Failure::invalid_arguments());
    };
    list.iter()
        .map(|item| match item {
            Variant::Str(text) => Uuid::parse_str(text).map_err(|_| Failure::invalid_arguments()),
            _ => Err(Failure::invalid_arguments()),
        })
        .collect()
}
