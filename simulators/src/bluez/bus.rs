//! A private D-Bus with a single service on it: the one this module simulates.

use std::{collections::BTreeMap, io};

use tokio::{net::UnixListener, sync::mpsc};
use zbus::{
    Guid, Message, OwnedGuid,
    message::{Flags, Header, Type},
};

use super::{
    client::{Client, Incoming},
    failure::Failure,
};

/// The name of the service.
const SERVICE: &str = "org.bluez";
/// The service's own name on the bus.
pub(super) const SERVICE_OWNER: &str = ":1.0";
/// The name of the bus.
const BUS: &str = "org.freedesktop.DBus";
/// The object path of the bus itself.
const BUS_PATH: &str = "/org/freedesktop/DBus";
/// Messages of clients that may wait, more than [`MAX_CLIENTS`].
const QUEUE: usize = 256;
/// Programs that may be on the bus.
const MAX_CLIENTS: usize = 64;

/// What happened on the bus.
#[derive(Debug)]
pub(super) enum Happened {
    /// A reply of the bus itself.
    Answered(Message),
    /// A client calls the service.
    Called(String, Message),
    /// A client replies to a call of the service.
    Replied(String, Message),
    /// A client broadcasts a signal.
    Signalled(String, Message),
    /// A client has left.
    Left(String),
}

/// A private bus. See the module documentation.
pub(super) struct Bus {
    listener: UnixListener,
    guid: OwnedGuid,
    clients: BTreeMap<u64, Client>,
    incoming: mpsc::Receiver<Incoming>,
    entrance: mpsc::Sender<Incoming>,
    last: u64,
    served: bool,
}

impl Bus {
    /// Opens a bus, with the service on it.
    pub fn new(listener: std::os::unix::net::UnixListener) -> io::Result<Self> {
        listener.set_nonblocking(true)?;
        let (entrance, incoming) = mpsc::channel(QUEUE);
        Ok(Self {
            listener: UnixListener::from_std(listener)?,
            guid: Guid::generate().into(),
            clients: BTreeMap::new(),
            incoming,
            entrance,
            last: 0,
            served: true,
        })
    }

    /// Runs until something happens. Cancel-safe: nothing is lost.
    pub async fn next(&mut self) -> io::Result<Happened> {
        loop {
            tokio::select! {
                accepted = self.listener.accept() => {
                    let stream = accepted?.0.into_std()?;
                    if self.clients.len() < MAX_CLIENTS {
                        self.last += 1;
                        let entrance = self.entrance.clone();
                        let client = Client::new(self.last, stream, self.guid.clone(), entrance);
                        self.clients.insert(self.last, client);
                    }
                }
                Some((id, message)) = self.incoming.recv() => {
                    if let Some(happened) = self.received(id, message) {
                        return Ok(happened);
                    }
                }
            }
        }
    }

    /// Sends a message of the service to its addressee, or to every client with a matching rule.
    pub async fn send(&mut self, message: Message) {
        let header = message.header();
        let to = header.destination().map(zbus::names::BusName::as_str);
        let mut lost = Vec::new();
        for (id, client) in &self.clients {
            let wanted = match to {
                Some(name) => client.name == name,
                None => client.wants(&message),
            };
            if wanted && !client.send(message.clone()).await {
                lost.push(*id);
            }
        }
        for id in lost {
            self.throw_out(id);
        }
    }

    /// Takes the service off the bus, or puts it back.
    pub async fn serve(&mut self, on: bool) {
        if self.served == on {
            return;
        }
        self.served = on;
        let (old, new) = if on {
            ("", SERVICE_OWNER)
        } else {
            (SERVICE_OWNER, "")
        };
        let changed = Message::signal(BUS_PATH, BUS, "NameOwnerChanged")
            .sender(BUS)
            .build(&(SERVICE, old, new));
        if let Ok(changed) = changed {
            self.send(changed).await;
        }
    }

    fn received(&mut self, id: u64, message: Option<Message>) -> Option<Happened> {
        let Some(message) = message else {
            let client = self.clients.remove(&id)?;
            return Some(Happened::Left(client.name.clone()));
        };
        let header = message.header();
        let client = self.clients.get_mut(&id)?;
        let name = client.name.clone();
        match header.message_type() {
            Type::MethodCall => {}
            // A message for a service that is off the bus is lost.
            _ if !self.served => return None,
            Type::MethodReturn | Type::Error => return Some(Happened::Replied(name, message)),
            Type::Signal => return Some(Happened::Signalled(name, message)),
        }
        let to = header.destination().map_or(SERVICE, |name| name.as_str());
        let answer = match to {
            SERVICE | SERVICE_OWNER if self.served => {
                return Some(Happened::Called(name, message));
            }
            BUS => answer(client, self.served, &self.guid, &message, &header),
            _ => Err(Failure::service_unknown(to)),
        };
        let answer = answer.unwrap_or_else(|failure| failure.reply(&header, BUS, &name));
        let expected = !header.primary().flags().contains(Flags::NO_REPLY_EXPECTED);
        answer.ok().filter(|_| expected).map(Happened::Answered)
    }

    /// Ends a client; its leaving is reported through its queue like all its messages.
    fn throw_out(&mut self, id: u64) {
        if let Some(client) = self.clients.get_mut(&id) {
            client.stop();
            let _ = self.entrance.try_send((id, None));
        }
    }
}

/// The reply of the bus itself.
fn answer(
    client: &mut Client,
    served: bool,
    guid: &OwnedGuid,
    message: &Message,
    header: &Header<'_>,
) -> Result<zbus::Result<Message>, Failure> {
    let body = message.body();
    let text = || -> Result<&str, Failure> {
        body.deserialize().map_err(|_| Failure::invalid_arguments())
    };
    let done = Message::method_return(header)
        .sender(BUS)
        .destination(client.name.clone());
    let owner = |name: &str| match name {
        SERVICE | SERVICE_OWNER if served => Some(SERVICE_OWNER),
        BUS => Some(BUS),
        _ => None,
    };
    let member = header.member().map(zbus::names::MemberName::as_str);
    Ok(match member.unwrap_or_default() {
        "Hello" => done.build(&client.name),
        "AddMatch" => {
            client.add_rule(text()?)?;
            done.build(&())
        }
        "RemoveMatch" => {
            client.remove_rule(text()?)?;
            done.build(&())
        }
        "GetNameOwner" => {
            let name = text()?;
            done.build(&owner(name).ok_or_else(|| Failure::no_owner(name))?)
        }
        "NameHasOwner" => done.build(&owner(text()?).is_some()),
        "ListNames" if served => {
            done.build(&[BUS, SERVICE, SERVICE_OWNER, &client.name].as_slice())
        }
        "ListNames" => done.build(&[BUS, &client.name].as_slice()),
        "StartServiceByName" => return Err(Failure::service_unknown(SERVICE)),
        "GetId" => done.build(&guid.as_str()),
        "Ping" => done.build(&()),
        other => return Err(Failure::unknown_method(BUS, other)),
    })
}
