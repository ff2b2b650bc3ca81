//! Advertises a simulated peripheral with an adapter of the real `BlueZ`.
//!
//! `BlueZ` differs in places from a small board:
//! - After connecting, a central reads the device's name from the adapter, not from the advertisement: the adapter gets
//!   the peripheral's name as its alias, and its own back at the end.
//! - A write without response is accepted for any writable characteristic, and looks like one with response.
//! - Subscribers are not identified. All centrals count as one: the first that comes connects, the last that leaves
//!   disconnects, and each is sent what any of them subscribed to.
//! - A device that was connected before, a keyboard perhaps, does not count as a central until it requests something.

use std::{
    collections::{HashMap, HashSet},
    future::Future,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Instant,
};

use bluer::{
    Adapter, AdapterEvent, Address, Device, DeviceEvent, DeviceProperty, Session, SessionEvent,
    adv::{Advertisement, AdvertisementHandle},
    gatt::local::{
        self, Application, ApplicationHandle, CharacteristicNotifier, CharacteristicNotify,
        CharacteristicNotifyMethod, CharacteristicRead, CharacteristicWrite,
        CharacteristicWriteMethod, ReqError, ReqResult,
    },
};
use futures_util::{FutureExt, Stream};
use thiserror::Error;
use tokio::{
    sync::{Notify, mpsc, oneshot},
    task::yield_now,
    time::sleep_until,
};
use tokio_stream::{StreamExt, StreamMap};
use tracing::{debug, warn};
use uuid::Uuid;

use super::peripheral::{Characteristic, Flags, Peripheral, Profile, Service};

/// Requests of centrals that wait for the peripheral. ATT has one under way per central, and writes without response.
const REQUESTS: usize = 16;
/// Devices watched for a connection. `BlueZ` knows those that were in range in the last half minute.
const DEVICES: usize = 64;

/// The adapter cannot host the peripheral.
#[derive(Debug, Error)]
pub enum AirError {
    /// The adapter, or any adapter, does not exist.
    #[error("there is no Bluetooth adapter {wanted:?}; there is {there}")]
    NoAdapter {
        /// Its name, if one was asked for.
        wanted: Option<String>,
        /// The adapters that exist.
        there: String,
    },
    /// `BlueZ` refused something.
    #[error("BlueZ cannot {what}: {source}")]
    Bluez {
        /// The request.
        what: &'static str,
        /// The error of `BlueZ`.
        source: bluer::Error,
    },
    /// The adapter was unplugged, or `BlueZ` has ended.
    #[error("the Bluetooth adapter {0} is gone")]
    Gone(String),
}

/// For `map_err`.
fn cannot(what: &'static str) -> impl FnOnce(bluer::Error) -> AirError {
    move |source| AirError::Bluez { what, source }
}

/// A peripheral that is or will be advertised, shared with its owner.
pub struct Hosted<P> {
    peripheral: Arc<Mutex<P>>,
    poke: Arc<Notify>,
}

impl<P> Clone for Hosted<P> {
    fn clone(&self) -> Self {
        Self {
            peripheral: Arc::clone(&self.peripheral),
            poke: Arc::clone(&self.poke),
        }
    }
}

impl<P: Peripheral> Hosted<P> {
    /// Wraps a peripheral.
    pub fn new(peripheral: P) -> Self {
        Self {
            peripheral: Arc::new(Mutex::new(peripheral)),
            poke: Arc::default(),
        }
    }

    /// Accesses the peripheral; afterwards its notifications are sent, and its deadline is checked
    /// again.
    pub fn with<R>(&self, action: impl FnOnce(&mut P) -> R) -> R {
        let result = action(&mut lock(&self.peripheral));
        self.poke.notify_one();
        result
    }
}

/// A panic of another holder has been reported where it happened.
fn lock<P: ?Sized>(peripheral: &Mutex<P>) -> MutexGuard<'_, P> {
    peripheral.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A request from a central.
enum Request {
    Read {
        central: Address,
        characteristic: Uuid,
        offset: usize,
        reply: oneshot::Sender<ReqResult<Vec<u8>>>,
    },
    Write {
        central: Address,
        characteristic: Uuid,
        value: Vec<u8>,
        reply: oneshot::Sender<ReqResult<()>>,
    },
    Subscribe {
        characteristic: Uuid,
        notifier: CharacteristicNotifier,
    },
}

/// A watched source of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Watched {
    Device(Address),
    Subscription(Uuid),
}

/// An event of a watched source.
enum Said {
    /// The device connected or disconnected.
    Connected(bool),
    /// The subscription has ended.
    Unsubscribed,
}

type Words = Pin<Box<dyn Stream<Item = Said> + Send>>;

/// A peripheral that is advertised.
pub struct Air {
    session: Session,
    adapter: Adapter,
    /// The alias the adapter had.
    alias: Option<String>,
    _application: ApplicationHandle,
    _advertisement: AdvertisementHandle,
    peripheral: Arc<Mutex<dyn Peripheral>>,
    poke: Arc<Notify>,
    requests: mpsc::Receiver<Request>,
    watched: StreamMap<Watched, Words>,
    subscribers: HashMap<Uuid, CharacteristicNotifier>,
    /// The connected centrals.
    centrals: HashSet<Address>,
    /// Connected devices that have not used the peripheral.
    strangers: HashSet<Address>,
}

impl Air {
    /// Registers the peripheral's services and its advertisement with an adapter, `hci0` or the first one if none is
    /// given. Centrals can connect from now on, but are answered only in [`Self::run`].
    pub async fn open<P: Peripheral + 'static>(
        adapter: Option<&str>,
        hosted: &Hosted<P>,
    ) -> Result<Self, AirError> {
        let session = Session::new()
            .await
            .map_err(cannot("be reached over D-Bus"))?;
        let adapter = choose(&session, adapter).await?;
        adapter
            .set_powered(true)
            .await
            .map_err(cannot("power the adapter on"))?;

        let profile = lock(&hosted.peripheral).profile().clone();
        let (sender, requests) = mpsc::channel(REQUESTS);
        let application = adapter
            .serve_gatt_application(application(&profile, &sender))
            .await
            .map_err(cannot("serve the board's services"))?;
        let alias = adapter.alias().await.map_err(cannot("name the adapter"))?;
        let alias = (alias != profile.name).then_some(alias);
        if alias.is_some() {
            let named = adapter.set_alias(profile.name.clone()).await;
            named.map_err(cannot("name the adapter"))?;
        }
        let advertisement = match adapter.advertise(advertisement(&profile)).await {
            Ok(handle) => handle,
            Err(error) => {
                restore(&adapter, alias).await;
                return Err(cannot("advertise the board")(error));
            }
        };
        Ok(Self {
            session,
            adapter,
            alias,
            _application: application,
            _advertisement: advertisement,
            peripheral: Arc::clone(&hosted.peripheral) as Arc<Mutex<dyn Peripheral>>,
            poke: Arc::clone(&hosted.poke),
            requests,
            watched: StreamMap::new(),
            subscribers: HashMap::new(),
            centrals: HashSet::new(),
            strangers: HashSet::new(),
        })
    }

    /// The adapter's name.
    pub fn adapter(&self) -> &str {
        self.adapter.name()
    }

    /// Serves the peripheral until `stop` resolves, then leaves: the centrals are disconnected, and the adapter
    /// is restored.
    pub async fn run(mut self, stop: impl Future<Output = ()>) -> Result<(), AirError> {
        let result = self.serve(stop).await;
        if !matches!(result, Err(AirError::Gone(_))) {
            self.leave().await;
        }
        result
    }

    async fn serve(&mut self, stop: impl Future<Output = ()>) -> Result<(), AirError> {
        let adapters = self
            .session
            .events()
            .await
            .map_err(cannot("watch the adapters"))?;
        let devices = self
            .adapter
            .events()
            .await
            .map_err(cannot("watch the devices"))?;
        tokio::pin!(stop, adapters, devices);
        let known = self.adapter.device_addresses().await;
        for address in known.map_err(cannot("list the devices"))? {
            if self.watch(address).await {
                self.strangers.insert(address);
            }
        }
        loop {
            self.notify().await;
            let ends = self.peripheral().hangs_up();
            if ends {
                self.disconnect().await;
            }
            let deadline = self.peripheral().deadline();
            let due = async {
                match deadline {
                    Some(at) => sleep_until(at.into()).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = &mut stop => return Ok(()),
                () = self.poke.notified() => {}
                () = due => self.peripheral().timeout(Instant::now()),
                Some(request) = self.requests.recv() => self.answer(request),
                Some((of, said)) = self.watched.next() => self.heard(of, &said),
                event = devices.next() => match event {
                    Some(AdapterEvent::DeviceAdded(address)) => {
                        if self.watch(address).await {
                            self.came(address);
                        }
                    }
                    Some(AdapterEvent::DeviceRemoved(address)) => {
                        self.watched.remove(&Watched::Device(address));
                        self.went(address);
                    }
                    Some(AdapterEvent::PropertyChanged(_)) => {}
                    None => return Err(self.gone()),
                },
                event = adapters.next() => match event {
                    Some(SessionEvent::AdapterRemoved(name)) if name == self.adapter.name() => return Err(self.gone()),
                    Some(_) => {}
                    None => return Err(self.gone()),
                },
            }
        }
    }

    fn gone(&mut self) -> AirError {
        for address in self.centrals.clone() {
            self.went(address);
        }
        AirError::Gone(self.adapter.name().to_owned())
    }

    /// Best effort: objects that no longer exist need no removal.
    async fn leave(&mut self) {
        self.disconnect().await;
        restore(&self.adapter, self.alias.take()).await;
    }

    /// Ends the links to all centrals.
    async fn disconnect(&mut self) {
        for address in self.centrals.clone() {
            self.went(address);
            if let Ok(device) = self.adapter.device(address)
                && let Err(error) = device.disconnect().await
            {
                debug!(%error, %address, "not disconnected");
            }
        }
    }

    fn peripheral(&self) -> MutexGuard<'_, dyn Peripheral + 'static> {
        lock(&self.peripheral)
    }

    /// Watches a device; returns whether it is connected.
    async fn watch(&mut self, address: Address) -> bool {
        if self.watched.len() >= DEVICES {
            warn!(%address, "too many Bluetooth devices are in sight to watch this one");
            return false;
        }
        match self.try_watch(address).await {
            Ok(connected) => connected,
            Err(error) => {
                // It may have gone out of range meanwhile.
                debug!(%error, %address, "not watched");
                false
            }
        }
    }

    async fn try_watch(&mut self, address: Address) -> bluer::Result<bool> {
        let device: Device = self.adapter.device(address)?;
        let events = device.events().await?;
        let words = events.filter_map(|DeviceEvent::PropertyChanged(property)| match property {
            DeviceProperty::Connected(connected) => Some(Said::Connected(connected)),
            _ => None,
        });
        self.watched
            .insert(Watched::Device(address), Box::pin(words));
        device.is_connected().await
    }

    fn heard(&mut self, of: Watched, said: &Said) {
        match (of, said) {
            (Watched::Device(address), Said::Connected(true)) => self.came(address),
            (Watched::Device(address), _) => self.went(address),
            (Watched::Subscription(characteristic), _) => {
                if self.subscribers.remove(&characteristic).is_some() {
                    self.peripheral()
                        .subscribed(Instant::now(), characteristic, false);
                }
            }
        }
    }

    fn came(&mut self, address: Address) {
        self.strangers.remove(&address);
        let first = self.centrals.is_empty();
        if self.centrals.insert(address) {
            debug!(%address, "a central has connected");
            if first {
                self.peripheral().connected(Instant::now());
            }
        }
    }

    fn went(&mut self, address: Address) {
        self.strangers.remove(&address);
        if self.centrals.remove(&address) {
            debug!(%address, "a central has gone");
            if self.centrals.is_empty() {
                for characteristic in self.subscribers.keys() {
                    self.watched.remove(&Watched::Subscription(*characteristic));
                }
                self.subscribers.clear();
                self.peripheral().disconnected(Instant::now());
            }
        }
    }

    fn answer(&mut self, request: Request) {
        let now = Instant::now();
        // The requester may be gone by now: ignoring that is fine.
        match request {
            Request::Read {
                central,
                characteristic,
                offset,
                reply,
            } => {
                self.came(central);
                let value = self.peripheral().read(now, characteristic);
                let _ = reply.send(match value {
                    Ok(value) => value
                        .get(offset..)
                        .map(<[u8]>::to_vec)
                        .ok_or(ReqError::InvalidOffset),
                    Err(_) => Err(ReqError::NotPermitted),
                });
            }
            Request::Write {
                central,
                characteristic,
                value,
                reply,
            } => {
                self.came(central);
                let done = self.peripheral().write(now, characteristic, &value);
                let _ = reply.send(done.map_err(|_| ReqError::NotPermitted));
            }
            Request::Subscribe {
                characteristic,
                notifier,
            } => {
                if self.centrals.is_empty() {
                    for address in self.strangers.clone() {
                        self.came(address);
                    }
                }
                let end = notifier
                    .stopped()
                    .map(|()| Said::Unsubscribed)
                    .into_stream();
                self.watched
                    .insert(Watched::Subscription(characteristic), Box::pin(end));
                self.subscribers.insert(characteristic, notifier);
                self.peripheral().subscribed(now, characteristic, true);
            }
        }
    }

    /// Sends the peripheral's notifications. Those without a subscriber are lost, as on a real one.
    async fn notify(&mut self) {
        loop {
            // The response to a write goes out before the notifications that it causes. D-Bus also gets time to send:
            // bluer reports a full socket as an error, although the message is queued.
            yield_now().await;
            let Some((characteristic, value)) = self.peripheral().poll_notify() else {
                return;
            };
            if let Some(notifier) = self.subscribers.get_mut(&characteristic)
                && let Err(error) = notifier.notify(value).await
            {
                debug!(%error, %characteristic, stopped = notifier.is_stopped(), "a notification met an obstacle");
            }
        }
    }
}

async fn choose(session: &Session, wanted: Option<&str>) -> Result<Adapter, AirError> {
    let mut names = session
        .adapter_names()
        .await
        .map_err(cannot("list the adapters"))?;
    names.sort();
    let found = match wanted {
        Some(wanted) => names.iter().find(|name| *name == wanted),
        None => names.first(),
    };
    match found {
        Some(name) => session.adapter(name).map_err(cannot("open the adapter")),
        None => Err(AirError::NoAdapter {
            wanted: wanted.map(str::to_owned),
            there: if names.is_empty() {
                "none".to_owned()
            } else {
                names.join(", ")
            },
        }),
    }
}

/// Gives the adapter its own name back.
async fn restore(adapter: &Adapter, alias: Option<String>) {
    if let Some(alias) = alias
        && let Err(error) = adapter.set_alias(alias).await
    {
        warn!(%error, adapter = adapter.name(), "the adapter keeps the board's name");
    }
}

fn advertisement(profile: &Profile) -> Advertisement {
    // The name is put into the scan response automatically, and the advertisement is connectable.
    Advertisement {
        service_uuids: profile.advertised.iter().copied().collect(),
        discoverable: Some(true),
        local_name: Some(profile.name.clone()),
        ..Advertisement::default()
    }
}

fn application(profile: &Profile, requests: &mpsc::Sender<Request>) -> Application {
    let service = |service: &Service| local::Service {
        uuid: service.uuid,
        primary: true,
        characteristics: service
            .characteristics
            .iter()
            .map(|of| characteristic(*of, requests))
            .collect(),
        ..local::Service::default()
    };
    Application {
        services: profile.services.iter().map(service).collect(),
        ..Application::default()
    }
}

fn characteristic(of: Characteristic, requests: &mpsc::Sender<Request>) -> local::Characteristic {
    let Characteristic { uuid, flags } = of;
    let Flags {
        read,
        write,
        write_without_response,
        notify,
    } = flags;
    local::Characteristic {
        uuid,
        read: read.then(|| reader(uuid, requests.clone())),
        write: (write || write_without_response).then(|| writer(uuid, flags, requests.clone())),
        notify: notify.then(|| notifier(uuid, requests.clone())),
        ..local::Characteristic::default()
    }
}

fn reader(characteristic: Uuid, requests: mpsc::Sender<Request>) -> CharacteristicRead {
    CharacteristicRead {
        read: true,
        fun: Box::new(move |request| {
            ask(requests.clone(), move |reply| Request::Read {
                central: request.device_address,
                characteristic,
                offset: request.offset.into(),
                reply,
            })
        }),
        ..CharacteristicRead::default()
    }
}

fn writer(
    characteristic: Uuid,
    flags: Flags,
    requests: mpsc::Sender<Request>,
) -> CharacteristicWrite {
    CharacteristicWrite {
        write: flags.write,
        write_without_response: flags.write_without_response,
        method: CharacteristicWriteMethod::Fun(Box::new(move |value, request| {
            if request.offset != 0 {
                return Box::pin(std::future::ready(Err(ReqError::InvalidOffset)));
            }
            ask(requests.clone(), move |reply| Request::Write {
                central: request.device_address,
                characteristic,
                value,
                reply,
            })
        })),
        ..CharacteristicWrite::default()
    }
}

fn notifier(characteristic: Uuid, requests: mpsc::Sender<Request>) -> CharacteristicNotify {
    CharacteristicNotify {
        notify: true,
        method: CharacteristicNotifyMethod::Fun(Box::new(move |notifier| {
            let requests = requests.clone();
            Box::pin(async move {
                // Fails when the peripheral stops being advertised: then no central is notified.
                let _ = requests
                    .send(Request::Subscribe {
                        characteristic,
                        notifier,
                    })
                    .await;
            })
        })),
        ..CharacteristicNotify::default()
    }
}

/// Passes a request on and waits for the answer; once the peripheral has stopped there is none.
fn ask<T: Send + 'static>(
    requests: mpsc::Sender<Request>,
    request: impl FnOnce(oneshot::Sender<ReqResult<T>>) -> Request + Send + 'static,
) -> Pin<Box<dyn Future<Output = ReqResult<T>> + Send>> {
    Box::pin(async move {
        let (reply, answer) = oneshot::channel();
        if requests.send(request(reply)).await.is_err() {
            return Err(ReqError::Failed);
        }
        answer.await.unwrap_or(Err(ReqError::Failed))
    })
}
