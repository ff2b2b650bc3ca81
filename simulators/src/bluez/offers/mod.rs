//! What programs offer through the service, and phones that use it: GATT applications, advertisements, and
//! profiles for RFCOMM. Written from `doc/org.bluez.*.rst` and, where those are silent, `src/gatt-database.c` of
//! `BlueZ`.

pub(super) mod phones;
mod told;

use std::{
    collections::{BTreeMap, BTreeSet},
    num::NonZeroU32,
    os::unix::net::UnixStream,
    time::Instant,
};

use tokio::sync::oneshot;
use uuid::Uuid;
use zbus::{
    Message, ObjectPath, Variant,
    message::{Builder, Type},
};

use self::{
    phones::Handset,
    told::{Told, Tree, text, texts, uuid},
};
use super::{
    adapter::Adapter,
    address::Address,
    attribute::{CHARACTERISTIC, SERVICE},
    bus::SERVICE_OWNER,
    failure::Failure,
    interfaces::INSTANCES,
    outbox::{Lane, Outbox},
};

/// Maximum number of applications, and of profiles.
const MAX_OFFERS: usize = 64;
/// The first RFCOMM channel that `BlueZ` assigns.
const FIRST_CHANNEL: u16 = 1;
/// The last one.
const LAST_CHANNEL: u16 = 30;

/// Whether a request was carried out.
pub(super) type Done = Result<(), Denied>;

/// A program, or the service, refuses a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("refused")]
pub struct Denied;

/// An advertisement as a phone hears it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Advertised {
    /// The name in the scan response.
    pub name: Option<String>,
    /// The services.
    pub services: Vec<Uuid>,
    /// It is discoverable.
    pub discoverable: bool,
    /// It is connectable.
    pub connectable: bool,
}

/// A profile as in the computer's service records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recorded {
    /// The service.
    pub uuid: Uuid,
    /// Its name.
    pub name: Option<String>,
    /// Its channel.
    pub channel: u16,
    /// A connecting phone must be paired.
    pub authentication: bool,
    /// Each connection must be authorised.
    pub authorization: bool,
}

/// The client that offers something, and its object path.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Owned {
    client: String,
    path: String,
}

struct Characteristic {
    path: String,
    uuid: Uuid,
    flags: Vec<String>,
    subscribers: BTreeSet<Address>,
}

impl Characteristic {
    fn can(&self, flag: &str) -> bool {
        self.flags.iter().any(|other| other == flag)
    }
}

struct Application {
    of: Owned,
    adapter: String,
    /// Its services, once they are known.
    services: Option<Vec<Uuid>>,
    characteristics: Vec<Characteristic>,
}

struct Advertisement {
    of: Owned,
    adapter: String,
    /// Its content, once known.
    content: Option<Advertised>,
    /// The controller has stopped sending it.
    silenced: bool,
}

struct Profile {
    of: Owned,
    /// The UUID that no later profile may be registered under.
    local: Uuid,
    /// What it connects to, if it is a client.
    remote: Option<Uuid>,
    /// Its service record, if it is a server.
    record: Option<Recorded>,
    /// The program's ends of its lines: `BlueZ` keeps them open until the profile is withdrawn.
    held: Vec<UnixStream>,
}

/// What to do when a client replies.
enum Call {
    Objects(Owned, Message),
    Advertisement(Owned, Message),
    Done(oneshot::Sender<Done>),
    /// A client takes the line that another call asked for.
    Line(Message),
    Unheeded,
}

/// Everything that is offered. See the module documentation.
#[derive(Default)]
pub(super) struct Offers {
    applications: Vec<Application>,
    advertisements: Vec<Advertisement>,
    profiles: Vec<Profile>,
    phones: BTreeMap<Address, Handset>,
    calls: BTreeMap<NonZeroU32, (String, Call)>,
    /// Fault: how many advertisements to refuse.
    pub refuse_advertisements: usize,
    /// Fault: controllers stop advertising when a phone connects, and resume only with a new advertisement.
    pub stops_advertising: bool,
}

impl Offers {
    /// The service has ended: it forgets everything except the phones in range.
    pub fn forget(&mut self) {
        self.applications.clear();
        self.advertisements.clear();
        self.profiles.clear();
        self.calls.clear();
    }

    /// A client has left the bus; its offers are removed.
    pub fn client_gone(&mut self, client: &str) {
        self.applications.retain(|app| app.of.client != client);
        self.advertisements.retain(|ad| ad.of.client != client);
        self.profiles.retain(|profile| profile.of.client != client);
        self.calls.retain(|_, (of, _)| of != client);
    }

    /// Updates the adapters to match the offers, and subscriptions to match the links.
    pub fn settle(&mut self, now: Instant, adapters: &mut [Adapter], outbox: &mut Outbox) {
        let gone = |path: &str| !adapters.iter().any(|a| a.present && a.path == path);
        self.applications.retain(|app| !gone(&app.adapter));
        self.advertisements.retain(|ad| !gone(&ad.adapter));
        for adapter in adapters.iter_mut() {
            let apps = self.applications.iter();
            let uuids = apps
                .filter(|app| app.adapter == adapter.path)
                .flat_map(|app| app.services.iter().flatten().copied())
                .chain(self.recorded().into_iter().map(|record| record.uuid))
                .collect();
            let ads = self.advertisements.iter();
            let instances = ads
                .filter(|ad| ad.adapter == adapter.path && ad.content.is_some())
                .count();
            adapter.offer(
                now,
                uuids,
                u8::try_from(instances).unwrap_or(INSTANCES),
                outbox,
            );
        }
        let devices: Vec<_> = adapters
            .iter()
            .flat_map(|adapter| &adapter.devices)
            .collect();
        let mut lost = Vec::new();
        for (address, phone) in &mut self.phones {
            let device = devices.iter().find(|device| device.address == *address);
            let linked = device.is_some_and(|device| device.is_connected());
            if phone.linked && !linked && !phone.paired {
                lost.push(*address);
            }
            phone.linked = linked;
        }
        for address in lost {
            self.unsubscribe_all(now, address, outbox);
        }
    }

    /// A client offers services.
    pub fn register_application(
        &mut self,
        now: Instant,
        client: &str,
        adapter: &str,
        message: &Message,
        outbox: &mut Outbox,
    ) -> Result<(), Failure> {
        let of = registered(client, message)?;
        if self.applications.iter().any(|app| app.of == of) {
            return Err(Failure::already_exists());
        }
        if self.applications.len() >= MAX_OFFERS {
            return Err(Failure::failed("Failed to register application"));
        }
        let objects = call(
            &of,
            "org.freedesktop.DBus.ObjectManager",
            "GetManagedObjects",
        )
        .build(&());
        self.expect(
            now,
            client,
            Call::Objects(of.clone(), message.clone()),
            objects,
            outbox,
        );
        self.applications.push(Application {
            of,
            adapter: adapter.to_owned(),
            services: None,
            characteristics: Vec::new(),
        });
        Ok(())
    }

    /// A client withdraws its services.
    pub fn unregister_application(
        &mut self,
        client: &str,
        message: &Message,
    ) -> Result<(), Failure> {
        let of = path_of(client, message)?;
        remove(&mut self.applications, |app| app.of == of)
    }

    /// A client registers an advertisement.
    pub fn register_advertisement(
        &mut self,
        now: Instant,
        client: &str,
        adapter: &str,
        message: &Message,
        outbox: &mut Outbox,
    ) -> Result<(), Failure> {
        let of = registered(client, message)?;
        if self.advertisements.iter().any(|ad| ad.of == of) {
            return Err(Failure::already_exists());
        }
        let ads = self.advertisements.iter();
        let full = ads.filter(|ad| ad.adapter == adapter).count() >= usize::from(INSTANCES);
        if full || self.refuse_advertisements > 0 {
            self.refuse_advertisements = self.refuse_advertisements.saturating_sub(1);
            return Err(Failure::not_permitted("Maximum advertisements reached"));
        }
        let all = call(&of, "org.freedesktop.DBus.Properties", "GetAll")
            .build(&"org.bluez.LEAdvertisement1");
        self.expect(
            now,
            client,
            Call::Advertisement(of.clone(), message.clone()),
            all,
            outbox,
        );
        self.advertisements.push(Advertisement {
            of,
            adapter: adapter.to_owned(),
            content: None,
            silenced: false,
        });
        Ok(())
    }

    /// A client withdraws an advertisement.
    pub fn unregister_advertisement(
        &mut self,
        client: &str,
        message: &Message,
    ) -> Result<(), Failure> {
        let of = path_of(client, message)?;
        remove(&mut self.advertisements, |ad| ad.of == of)
    }

    /// A client registers a profile.
    pub fn register_profile(&mut self, client: &str, message: &Message) -> Result<(), Failure> {
        let body = message.body();
        let (path, uuid, options): (ObjectPath<'_>, &str, Told<'_>) = body
            .deserialize()
            .map_err(|_| Failure::invalid_arguments())?;
        let of = Owned {
            client: client.to_owned(),
            path: path.to_string(),
        };
        let uuid = Uuid::parse_str(uuid).map_err(|_| Failure::invalid_arguments())?;
        if self.profiles.iter().any(|profile| profile.of == of) {
            return Err(Failure::already_exists());
        }
        // As in the real one: what is registered is compared by its service, what is new by its own UUID.
        if self.profiles.iter().any(|profile| profile.local == uuid) {
            return Err(Failure::not_permitted("UUID already registered"));
        }
        let service = match text(&options, "Service") {
            Some(service) => Uuid::parse_str(&service).map_err(|_| Failure::invalid_arguments())?,
            None => uuid,
        };
        let role = text(&options, "Role");
        let is = |other: &str| role.as_deref().is_none_or(|role| role == other);
        if self.profiles.len() >= MAX_OFFERS {
            return Err(Failure::failed("Failed to register profile"));
        }
        let recorded = self.recorded();
        let taken = |channel| recorded.iter().any(|record| record.channel == channel);
        let channel = match options.get("Channel") {
            Some(Variant::U16(0)) | None => {
                (FIRST_CHANNEL..=LAST_CHANNEL).find(|channel| !taken(*channel))
            }
            Some(Variant::U16(channel)) => {
                Some(*channel).filter(|channel| *channel <= LAST_CHANNEL)
            }
            Some(_) => None,
        };
        let flag = |name| match options.get(name) {
            Some(Variant::Bool(on)) => *on,
            // So it is for a serial port.
            _ => true,
        };
        let record = Recorded {
            uuid: service,
            name: text(&options, "Name"),
            channel: channel.ok_or_else(Failure::invalid_arguments)?,
            authentication: flag("RequireAuthentication"),
            authorization: flag("RequireAuthorization"),
        };
        self.profiles.push(Profile {
            of,
            local: service,
            remote: is("client").then_some(service),
            record: is("server").then_some(record),
            held: Vec::new(),
        });
        Ok(())
    }

    /// A client withdraws a profile.
    pub fn unregister_profile(&mut self, client: &str, message: &Message) -> Result<(), Failure> {
        let of = path_of(client, message)?;
        remove(&mut self.profiles, |profile| profile.of == of)
    }

    /// A client replies.
    pub fn replied(&mut self, now: Instant, client: &str, message: &Message, outbox: &mut Outbox) {
        let header = message.header();
        let Some(serial) = header.reply_serial() else {
            return;
        };
        if self.calls.get(&serial).is_none_or(|(of, _)| of != client) {
            return;
        }
        let Some((_, call)) = self.calls.remove(&serial) else {
            return;
        };
        let refused = message.message_type() == Type::Error;
        let (registration, failure) = match call {
            Call::Unheeded => return,
            Call::Done(done) => {
                // The caller may be gone by now.
                let _ = done.send(if refused { Err(Denied) } else { Ok(()) });
                return;
            }
            Call::Line(asked) => (asked, refused.then_some("br-connection-refused")),
            Call::Objects(of, registration) => {
                let known = !refused && self.learn_application(&of, message).is_some();
                if !known {
                    self.applications.retain(|app| app.of != of);
                }
                (registration, (!known).then_some("No object received"))
            }
            Call::Advertisement(of, registration) => {
                let known = !refused && self.learn_advertisement(&of, message).is_some();
                if !known {
                    self.advertisements.retain(|ad| ad.of != of);
                }
                (
                    registration,
                    (!known).then_some("Failed to parse advertisement."),
                )
            }
        };
        let to = registration.header();
        let reply = match failure {
            Some(text) => Failure::failed(text).reply(&to, SERVICE_OWNER, client),
            None => Message::method_return(&to)
                .sender(SERVICE_OWNER)
                .destination(client)
                .build(&()),
        };
        outbox.push(now, Lane::Reply, reply);
    }

    fn learn_application(&mut self, of: &Owned, message: &Message) -> Option<()> {
        let app = self.applications.iter_mut().find(|app| app.of == *of)?;
        let body = message.body();
        let tree: Tree<'_> = body.deserialize().ok()?;
        let mut services = Vec::new();
        for (path, interfaces) in &tree {
            if let Some(told) = interfaces.get(SERVICE) {
                services.push(uuid(told)?);
            }
            if let Some(told) = interfaces.get(CHARACTERISTIC) {
                app.characteristics.push(Characteristic {
                    path: path.to_string(),
                    uuid: uuid(told)?,
                    flags: texts(told, "Flags"),
                    subscribers: BTreeSet::new(),
                });
            }
        }
        app.services = Some(services).filter(|services| !services.is_empty());
        app.services.as_ref().map(|_| ())
    }

    fn learn_advertisement(&mut self, of: &Owned, message: &Message) -> Option<()> {
        let ad = self.advertisements.iter_mut().find(|ad| ad.of == *of)?;
        let body = message.body();
        let told: Told<'_> = body.deserialize().ok()?;
        let services = texts(&told, "ServiceUUIDs");
        ad.content = Some(Advertised {
            name: text(&told, "LocalName"),
            services: services
                .iter()
                .map(|uuid| Uuid::parse_str(uuid).ok())
                .collect::<Option<_>>()?,
            discoverable: matches!(told.get("Discoverable"), Some(Variant::Bool(true))),
            connectable: text(&told, "Type")? == "peripheral",
        });
        Some(())
    }

    /// A client sends a signal: only a new value of a characteristic matters.
    pub fn signalled(&mut self, client: &str, message: &Message) {
        let header = message.header();
        let path = header.path().map(ObjectPath::as_str).unwrap_or_default();
        let body = message.body();
        let Ok((interface, changed, _)) = body.deserialize::<(&str, Told<'_>, Vec<&str>)>() else {
            return;
        };
        let Some(Variant::Array(value)) = changed.get("Value") else {
            return;
        };
        let mut apps = self
            .applications
            .iter()
            .filter(|app| app.of.client == client);
        let found = apps.find_map(|app| app.characteristics.iter().find(|one| one.path == path));
        let Some(characteristic) = found.filter(|_| interface == CHARACTERISTIC) else {
            return;
        };
        let value: Vec<u8> = value
            .iter()
            .filter_map(|byte| match byte {
                Variant::U8(byte) => Some(*byte),
                _ => None,
            })
            .collect();
        for address in &characteristic.subscribers {
            let Some(phone) = self.phones.get_mut(address) else {
                continue;
            };
            phone.take(characteristic.uuid, &value);
        }
    }

    fn tell(
        &mut self,
        now: Instant,
        of: &Owned,
        path: &str,
        member: &'static str,
        outbox: &mut Outbox,
    ) {
        let at = Owned {
            client: of.client.clone(),
            path: path.to_owned(),
        };
        let message = call(&at, CHARACTERISTIC, member).build(&());
        self.expect(now, &of.client, Call::Unheeded, message, outbox);
    }

    /// Sends a call to a client; the meaning of its reply is kept until then.
    fn expect(
        &mut self,
        now: Instant,
        client: &str,
        call: Call,
        message: zbus::Result<Message>,
        outbox: &mut Outbox,
    ) {
        if let Ok(message) = &message {
            let serial = message.primary_header().serial_num();
            self.calls.insert(serial, (client.to_owned(), call));
        }
        outbox.push(now, Lane::Signal, message);
    }
}

/// The object a client registers.
fn registered(client: &str, message: &Message) -> Result<Owned, Failure> {
    let body = message.body();
    let (path, _): (ObjectPath<'_>, Told<'_>) = body
        .deserialize()
        .map_err(|_| Failure::invalid_arguments())?;
    Ok(Owned {
        client: client.to_owned(),
        path: path.to_string(),
    })
}

/// The object a client names.
fn path_of(client: &str, message: &Message) -> Result<Owned, Failure> {
    let body = message.body();
    let path: ObjectPath<'_> = body
        .deserialize()
        .map_err(|_| Failure::invalid_arguments())?;
    Ok(Owned {
        client: client.to_owned(),
        path: path.to_string(),
    })
}

fn remove<T>(all: &mut Vec<T>, is: impl Fn(&T) -> bool) -> Result<(), Failure> {
    let index = all.iter().position(is);
    all.remove(index.ok_or_else(Failure::does_not_exist)?);
    Ok(())
}

fn call<'a>(to: &'a Owned, interface: &'a str, member: &'a str) -> Builder<'a> {
    Message::method_call(to.path.as_str(), member)
        .sender(SERVICE_OWNER)
        .destination(to.client.as_str())
        .interface(interface)
}
