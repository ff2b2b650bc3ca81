//! Phones that use what is offered.

use std::{
    collections::{BTreeMap, VecDeque},
    os::{fd::OwnedFd, unix::net::UnixStream},
    time::Instant,
};

use tokio::sync::oneshot;
use uuid::Uuid;
use zbus::{Fd, Message, ObjectPath, Variant};

use super::{
    Advertised, Call, Characteristic, Denied, Done, Offers, Owned, Profile, Recorded, call,
};
use crate::bluez::{address::Address, attribute::CHARACTERISTIC, failure::Failure, outbox::Outbox};

/// Notifications that may wait for a phone to read them; more are lost.
const MAX_NOTIFIED: usize = 1024;
/// The part of a packet that is not the value of a notification: its opcode and the handle (Bluetooth Core, ATT
/// 3.4.7.1).
const NOTIFICATION_HEADER: usize = 3;

/// A phone's write.
#[derive(Clone, Copy, Debug)]
pub(in crate::bluez) struct Write<'a> {
    /// The characteristic.
    pub characteristic: Uuid,
    /// The bytes.
    pub value: &'a [u8],
    /// Whether it requests a response.
    pub respond: bool,
}

/// A phone near an adapter.
pub(super) struct Handset {
    pub(super) adapter: String,
    pub(super) device: String,
    pub(super) mtu: u16,
    pub(super) linked: bool,
    pub(super) paired: bool,
    pub(super) notified: VecDeque<(Uuid, Vec<u8>)>,
}

impl Handset {
    /// Takes a notification. A value that is too long is silently cut off.
    pub(super) fn take(&mut self, of: Uuid, value: &[u8]) {
        let fits = usize::from(self.mtu).saturating_sub(NOTIFICATION_HEADER);
        if self.linked && self.notified.len() < MAX_NOTIFIED {
            let value = value[..value.len().min(fits)].to_vec();
            self.notified.push_back((of, value));
        }
    }
}

impl Offers {
    /// A phone comes into range.
    pub fn add_phone(&mut self, address: Address, adapter: &str, device: &str, mtu: u16) {
        let phone = Handset {
            adapter: adapter.to_owned(),
            device: device.to_owned(),
            mtu,
            linked: false,
            paired: false,
            notified: VecDeque::new(),
        };
        self.phones.insert(address, phone);
    }

    /// The advertisements that a phone would hear.
    pub fn advertised(&self, address: Address) -> Vec<Advertised> {
        let near = self.phones.get(&address).map(|phone| &phone.adapter);
        let ads = self.advertisements.iter();
        ads.filter(|ad| Some(&ad.adapter) == near && !ad.silenced)
            .filter_map(|ad| ad.content.clone())
            .collect()
    }

    /// The computer's service records.
    pub fn recorded(&self) -> Vec<Recorded> {
        let records = self.profiles.iter().map(|profile| &profile.record);
        records.flatten().cloned().collect()
    }

    /// A phone has a new link, with nothing from the previous one.
    pub fn linked(&mut self, address: Address) {
        if let Some(phone) = self.phones.get_mut(&address) {
            phone.linked = true;
            phone.notified.clear();
            let ads = self.advertisements.iter_mut();
            for ad in ads.filter(|ad| ad.adapter == phone.adapter) {
                ad.silenced |= self.stops_advertising;
            }
        }
    }

    /// A phone is paired: its subscriptions outlive its links.
    pub fn pair(&mut self, address: Address) {
        if let Some(phone) = self.phones.get_mut(&address) {
            phone.paired = true;
        }
    }

    /// A phone is about to lose its link, and its subscriptions before that.
    pub fn leave(&mut self, now: Instant, address: Address, outbox: &mut Outbox) {
        if self.phones.get(&address).is_some_and(|phone| !phone.paired) {
            self.unsubscribe_all(now, address, outbox);
        }
    }

    /// The next notification a phone got.
    pub fn next_notified(&mut self, address: Address) -> Option<(Uuid, Vec<u8>)> {
        self.phones.get_mut(&address)?.notified.pop_front()
    }

    /// A phone subscribes or unsubscribes.
    pub fn subscribe(
        &mut self,
        now: Instant,
        address: Address,
        characteristic: Uuid,
        on: bool,
        outbox: &mut Outbox,
    ) -> Done {
        let (_, of, found) = self.attribute(address, characteristic).ok_or(Denied)?;
        if !found.can("notify") {
            return Err(Denied);
        }
        let member = if on {
            // Every newly subscribed central is reported; subscribing again is not.
            found.subscribers.insert(address).then_some("StartNotify")
        } else {
            let was = found.subscribers.remove(&address);
            (was && found.subscribers.is_empty()).then_some("StopNotify")
        };
        let path = found.path.clone();
        if let Some(member) = member {
            self.tell(now, &of, &path, member, outbox);
        }
        Ok(())
    }

    pub(super) fn unsubscribe_all(&mut self, now: Instant, address: Address, outbox: &mut Outbox) {
        let mut stopped = Vec::new();
        for app in &mut self.applications {
            for one in &mut app.characteristics {
                if one.subscribers.remove(&address) && one.subscribers.is_empty() {
                    stopped.push((app.of.clone(), one.path.clone()));
                }
            }
        }
        for (of, path) in stopped {
            self.tell(now, &of, &path, "StopNotify", outbox);
        }
    }

    /// A phone writes, with a response or without.
    pub fn write(
        &mut self,
        now: Instant,
        address: Address,
        write: Write<'_>,
        done: oneshot::Sender<Done>,
        outbox: &mut Outbox,
    ) -> Done {
        let Write {
            characteristic,
            value,
            respond,
        } = write;
        let (phone, of, found) = self.attribute(address, characteristic).ok_or(Denied)?;
        let unheeded = found.can("write-without-response");
        if !found.can("write") && (respond || !unheeded) {
            return Err(Denied);
        }
        let device = ObjectPath::try_from(phone.0).map_err(|_| Denied)?;
        let options = BTreeMap::from([
            ("device", Variant::from(device)),
            ("link", Variant::from("LE")),
            ("mtu", Variant::from(phone.1)),
        ]);
        let at = Owned {
            path: found.path.clone(),
            ..of
        };
        let message = call(&at, CHARACTERISTIC, "WriteValue").build(&(value, options));
        // For a characteristic that accepts writes without response, the service itself responds to every write.
        let call = if unheeded || !respond {
            let _ = done.send(Ok(()));
            Call::Unheeded
        } else {
            Call::Done(done)
        };
        self.expect(now, &at.client, call, message, outbox);
        Ok(())
    }

    /// A phone connects to a profile; `end` is the program's end of the line.
    pub fn connect(
        &mut self,
        now: Instant,
        address: Address,
        profile: Uuid,
        end: &UnixStream,
        done: oneshot::Sender<Done>,
        outbox: &mut Outbox,
    ) -> Done {
        let phone = self.phones.get(&address).ok_or(Denied)?;
        let mut profiles = self.profiles.iter();
        let serves = |other: &&Profile| {
            let mut record = other.record.iter();
            record.any(|record| record.uuid == profile)
        };
        let of = profiles.find(serves).ok_or(Denied)?.of.clone();
        let message = new_connection(&of, &phone.device, end).ok_or(Denied)?;
        self.expect(now, &of.client, Call::Done(done), message, outbox);
        Ok(())
    }

    /// Whether a program is a client of this service of devices.
    pub fn has_client(&self, service: Uuid) -> bool {
        let mut profiles = self.profiles.iter();
        profiles.any(|profile| profile.remote == Some(service))
    }

    /// Hands a line to a device to the program that is a client of this service; `end` is the program's end. The call that asked for
    /// it is replied to when the program has taken the line.
    pub fn hand_over(
        &mut self,
        now: Instant,
        asked: &Message,
        service: Uuid,
        device: &str,
        end: UnixStream,
        outbox: &mut Outbox,
    ) -> Result<(), Failure> {
        let mut profiles = self.profiles.iter_mut();
        let profile = profiles
            .find(|profile| profile.remote == Some(service))
            .ok_or_else(Failure::profile_unavailable)?;
        let of = profile.of.clone();
        let message = new_connection(&of, device, &end)
            .ok_or_else(|| Failure::failed("br-connection-bad-socket"))?;
        profile.held.push(end);
        self.expect(now, &of.client, Call::Line(asked.clone()), message, outbox);
        Ok(())
    }

    /// A linked phone's device and MTU, and the characteristic with its owner.
    fn attribute(
        &mut self,
        address: Address,
        characteristic: Uuid,
    ) -> Option<((String, u16), Owned, &mut Characteristic)> {
        let phone = self.phones.get(&address).filter(|phone| phone.linked)?;
        let apps = self.applications.iter_mut();
        let near = apps.filter(|app| app.services.is_some() && app.adapter == phone.adapter);
        for app in near {
            let mut all = app.characteristics.iter_mut();
            if let Some(found) = all.find(|one| one.uuid == characteristic) {
                return Some(((phone.device.clone(), phone.mtu), app.of.clone(), found));
            }
        }
        None
    }
}

/// The call that hands a program its end of a line to a device.
fn new_connection(of: &Owned, device: &str, end: &UnixStream) -> Option<zbus::Result<Message>> {
    let device = ObjectPath::try_from(device.to_owned()).ok()?;
    let end = OwnedFd::from(end.try_clone().ok()?);
    let body = (device, Fd::from(end), BTreeMap::<&str, Variant<'_>>::new());
    Some(call(of, "org.bluez.Profile1", "NewConnection").build(&body))
}
