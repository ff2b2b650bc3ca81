//! Bluetooth LE, by btleplug: boards found by name or address, with one scan per adapter for all boards.
//!
//! [`Radio`] is the machine's Bluetooth, shared by all boards of a daemon. It is opened when the first board
//! needs it, and again after a failure.
//!
//! # One hub per adapter
//!
//! - One scan serves everything that looks, and there is none otherwise. A board is found by its whole name, by the
//!   beginning of its name, or by its address, and no two boards have the same device. After 20 s without it the player
//!   is told what was seen instead.
//! - Each hub has a D-Bus connection of its own, whose first match rule is for the whole adapter and is never
//!   removed: when bluez-async ends the stream of one board, dbus-daemon 1.14 may remove the rule of another.
//! - One board connects at a time, and the scan rests meanwhile: many adapters fail to connect while they scan.
//! - Bluetooth that is off is never switched on, only reported. When D-Bus ends, every link and every wait ends with it;
//!   the next attempt opens all of it again.
//! - An open link is checked every 5 s, because not every disconnect is reported. A request may take 10 s. Values that the
//!   actor does not read in time (256 may wait) are dropped, which the recogniser tolerates.

pub(crate) mod error;
mod link;
mod scan;

use std::{
    collections::HashMap,
    fmt,
    sync::{
        Arc, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use bluez_async::BluetoothSession;
use btleplug::{
    api::{Central, CentralEvent, CentralState, Manager as _, Peripheral as _},
    platform::{Adapter, Manager, Peripheral, PeripheralId},
};
use futures_util::StreamExt;
use tokio::{
    runtime::Handle,
    sync::{Mutex, Semaphore, broadcast, watch},
    time::{Instant, timeout},
};
use tokio_util::{
    sync::CancellationToken,
    task::{AbortOnDropHandle, TaskTracker},
};
use tracing::{debug, info};

pub use self::{
    error::BleError,
    link::GattLink,
    scan::{Seen, View},
};

/// How long a board is looked for before the player is told what was seen instead. An advertiser is seen within
/// seconds; the pause after it lets other boards connect undisturbed.
pub const SEEK_WAIT: Duration = Duration::from_secs(20);
/// How long connecting may take. `BlueZ` itself gives up after some 25 s; a board in reach takes less than 2.
pub const CONNECT_WAIT: Duration = Duration::from_secs(15);
/// How long the board may take to list its services (1.9 s in the captures).
pub const DISCOVER_WAIT: Duration = Duration::from_secs(15);
/// How long any other Bluetooth call may take.
pub const CALL_WAIT: Duration = Duration::from_secs(10);
/// Why a link or an attempt ended, when D-Bus is gone.
const BUS_GONE: &str = "D-Bus, the system's message bus, has ended";
/// Lost links that may wait to be reported. A link that misses one finds out soon by asking.
const MAX_LOSSES: usize = 64;

/// Which board to connect to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// The one with this name, or any whose name begins with it.
    Name(String),
    /// The one at this address.
    Address(String),
}

/// How well a device fits what is wanted, the best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Fit {
    /// It has the name, or the address.
    Wholly,
    /// Its name only begins like that.
    Begins,
}

impl Wanted {
    /// Whether a device of this name at this address may be the board.
    pub fn fits(&self, name: Option<&str>, address: &str) -> bool {
        self.fit(name, address).is_some()
    }

    fn fit(&self, name: Option<&str>, address: &str) -> Option<Fit> {
        match self {
            // Some boards end their name with a line feed, and makers write it in several ways.
            Self::Name(wanted) => {
                let (wanted, name) = (wanted.trim(), name?.trim());
                let beginning = name.get(..wanted.len())?;
                let fits = beginning.eq_ignore_ascii_case(wanted);
                let is_whole = beginning.len() == name.len();
                fits.then_some(if is_whole { Fit::Wholly } else { Fit::Begins })
            }
            Self::Address(wanted) => wanted.eq_ignore_ascii_case(address).then_some(Fit::Wholly),
        }
    }
}

impl fmt::Display for Wanted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => write!(f, "\"{name}\""),
            Self::Address(address) => f.write_str(address),
        }
    }
}

/// One board on the radio.
#[derive(Clone, Debug)]
pub struct BleBoard {
    /// The radio.
    pub radio: Radio,
    /// Which board.
    pub wanted: Wanted,
    /// Which adapter, such as `hci0`; the first one by default.
    pub adapter: Option<String>,
}

/// An attempt to connect. Whoever gives it up on the way leaves the device again: what is connected to nobody is found by nobody.
struct Attempt {
    radio: Radio,
    /// `None` once a link has it.
    device: Option<Peripheral>,
}

impl Drop for Attempt {
    fn drop(&mut self) {
        if let Some(device) = self.device.take()
            && Handle::try_current().is_ok()
        {
            self.radio.spawn(async move {
                let _ = timeout(CALL_WAIT, device.disconnect()).await;
            });
        }
    }
}

impl BleBoard {
    /// Finds the board, connects, and learns its services.
    ///
    /// # Errors
    /// [`BleError`], worded for the player.
    pub async fn open(&self) -> Result<GattLink, BleError> {
        let session = self.radio.session().await?;
        tokio::select! {
            opened = self.open_in(&session) => opened,
            () = session.lost.cancelled() => Err(BleError::NoBluetooth(BUS_GONE.to_owned())),
        }
    }

    async fn open_in(&self, session: &SystemBus) -> Result<GattLink, BleError> {
        let adapter = session.adapter(self.adapter.as_deref()).await?;
        let (seen, claim) = self.find(&adapter).await?;
        let name = seen.name.clone().unwrap_or_else(|| seen.address.clone());
        info!(%name, address = %seen.address, "found");
        // Many adapters fail to connect to two devices at once, or while they scan.
        let _turn = adapter.connecting.acquire().await;
        let peripheral = seen.peripheral;
        let failed = |why: String, linked: bool| BleError::Connect {
            name: name.clone(),
            why,
            linked,
        };
        let mut attempt = Attempt {
            radio: self.radio.clone(),
            device: Some(peripheral.clone()),
        };
        let connected = timeout(CONNECT_WAIT, peripheral.connect()).await;
        match connected {
            Err(_) => {
                let linked = timeout(CALL_WAIT, peripheral.is_connected()).await;
                // Whatever state it is in, it must not keep the board.
                let _ = timeout(CALL_WAIT, peripheral.disconnect()).await;
                attempt.device = None;
                return Err(match linked {
                    Ok(Ok(true)) => BleError::NoServices { name },
                    _ => failed("it does not answer".to_owned(), false),
                });
            }
            Ok(Err(error)) => {
                // Another program may have it.
                attempt.device = None;
                return Err(error::connect(&name, &error));
            }
            Ok(Ok(())) => {}
        }
        let discovered = timeout(DISCOVER_WAIT, peripheral.discover_services()).await;
        let failure = match discovered {
            Ok(Ok(())) => match GattLink::begin(&adapter, peripheral.clone(), claim).await {
                Ok(link) => {
                    attempt.device = None;
                    return Ok(link);
                }
                Err(error) => failed(error.to_string(), true),
            },
            Ok(Err(error)) => failed(error.to_string(), true),
            Err(_) => BleError::NoServices { name: name.clone() },
        };
        let _ = timeout(CALL_WAIT, peripheral.disconnect()).await;
        attempt.device = None;
        Err(failure)
    }

    /// Has this device for this board, unless another board has it.
    fn claim(&self, address: &str) -> Option<Claim> {
        let mut claims = self.radio.claims();
        let is_free = !claims
            .iter()
            .any(|(other, _)| other.eq_ignore_ascii_case(address));
        is_free.then(|| {
            claims.push((address.to_owned(), self.wanted.clone()));
            Claim {
                radio: self.radio.clone(),
                address: address.to_owned(),
            }
        })
    }

    /// Waits until the board is seen.
    async fn find(&self, adapter: &Arc<Hub>) -> Result<(Seen, Claim), BleError> {
        // Nobody else takes it by its name meanwhile.
        let mut claim = match &self.wanted {
            Wanted::Address(address) => {
                Some(self.claim(address).ok_or_else(|| BleError::Taken {
                    address: address.clone(),
                })?)
            }
            Wanted::Name(_) => None,
        };
        let mut view = adapter.watch().await;
        let deadline = Instant::now() + SEEK_WAIT;
        loop {
            {
                let view = view.borrow_and_update();
                let fit = |seen: &&Seen| self.wanted.fit(seen.name.as_deref(), &seen.address);
                let mut fitting: Vec<&Seen> = view
                    .seen
                    .iter()
                    .filter(|seen| fit(seen).is_some())
                    .collect();
                fitting.sort_by_key(fit);
                let found = fitting.into_iter().find_map(|seen| {
                    let claim = claim.take().or_else(|| self.claim(&seen.address))?;
                    Some((seen.clone(), claim))
                });
                if let Some(found) = found {
                    return Ok(found);
                }
                if let Some(failure) = &view.failure {
                    return Err(failure.clone());
                }
            }
            let changed = tokio::time::timeout_at(deadline, view.changed()).await;
            match changed {
                Ok(Ok(())) => {}
                Ok(Err(_)) => return Err(BleError::NoBluetooth("the scan ended".to_owned())),
                Err(_) => {
                    return Err(BleError::NotFound {
                        wanted: self.wanted.clone(),
                        seen: view.borrow().names(),
                    });
                }
            }
        }
    }
}

impl PartialEq for BleBoard {
    fn eq(&self, other: &Self) -> bool {
        (&self.wanted, &self.adapter) == (&other.wanted, &other.adapter)
    }
}

impl Eq for BleBoard {}

impl fmt::Display for BleBoard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Bluetooth {}", self.wanted)?;
        match &self.adapter {
            Some(adapter) => write!(f, " by {adapter}"),
            None => Ok(()),
        }
    }
}

/// The machine's Bluetooth.
#[derive(Clone, Default)]
pub struct Radio(Arc<Inner>);

#[derive(Default)]
struct Inner {
    session: Mutex<Option<Arc<SystemBus>>>,
    /// The tasks of open links, each of which closes its link in the end.
    closing: TaskTracker,
    /// The addresses of devices that boards have, and what those boards want.
    claims: std::sync::Mutex<Vec<(String, Wanted)>>,
}

/// A device that a board has: no other board takes it. It is free when this is dropped.
pub(super) struct Claim {
    radio: Radio,
    address: String,
}

impl Drop for Claim {
    fn drop(&mut self) {
        let mut claims = self.radio.claims();
        claims.retain(|(address, _)| *address != self.address);
    }
}

impl fmt::Debug for Radio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Radio")
    }
}

/// A link is lost, or may be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Lost {
    /// The link to this device.
    Device(PeripheralId),
    /// Every link: the adapter was switched off.
    Adapter,
}

/// What was opened on the system's D-Bus, until that ends.
struct SystemBus {
    manager: Manager,
    hubs: Mutex<HashMap<String, Arc<Hub>>>,
    /// The bus is gone: a call that waits for an answer never gets one.
    lost: CancellationToken,
    /// The session's own connection has failed: the next attempt opens another session. Hubs have their own, so links stay
    /// open.
    failed: AtomicBool,
}

/// One adapter and everything that uses it, on a D-Bus connection of its own.
///
/// A connection subscribes to signals. When it unsubscribes from those of one device, dbus-daemon (1.14) removes the
/// newest such subscription, whichever device it is for. So the first subscription of a connection is for the whole
/// adapter, and is never removed: whatever else is removed, every signal still arrives.
pub(super) struct Hub {
    pub name: String,
    pub adapter: Adapter,
    losses: broadcast::Sender<Lost>,
    /// Reads the signals of the whole adapter.
    _listening: AbortOnDropHandle<()>,
    /// Only one board connects at a time.
    pub connecting: Semaphore,
    view: Mutex<Option<watch::Sender<View>>>,
    /// Cancelled when the session's bus is gone.
    pub lost: CancellationToken,
}

impl SystemBus {
    /// Connects to the system's D-Bus. btleplug does not tell when it is gone, so one more connection is watched.
    async fn open() -> btleplug::Result<Self> {
        let manager = Manager::new().await?;
        let (gone, _) = BluetoothSession::new().await?;
        let lost = CancellationToken::new();
        let token = lost.clone();
        tokio::spawn(async move {
            let gone = gone.await;
            debug!(?gone, "D-Bus ended");
            token.cancel();
        });
        debug!("Bluetooth opened");
        Ok(Self {
            manager,
            hubs: Mutex::default(),
            lost,
            failed: AtomicBool::new(false),
        })
    }

    fn is_usable(&self) -> bool {
        !self.lost.is_cancelled() && !self.failed.load(Ordering::Relaxed)
    }

    /// An adapter that is switched on.
    async fn adapter(&self, wanted: Option<&str>) -> Result<Arc<Hub>, BleError> {
        let adapters = match timeout(CALL_WAIT, adapters(&self.manager)).await {
            Ok(Ok(adapters)) => adapters,
            Ok(Err(error)) => {
                // btleplug never closes a connection, so while the bus is alive each new one would be leaked.
                if !error::is_answer(&error) {
                    self.failed.store(true, Ordering::Relaxed);
                }
                return Err(error::session(&error));
            }
            Err(_) => return Err(BleError::NoBluetooth("it does not answer".to_owned())),
        };
        let names: Vec<String> = adapters.iter().map(|(name, _)| name.clone()).collect();
        let chosen = adapters
            .into_iter()
            .find(|(name, _)| wanted.is_none_or(|wanted| wanted == name));
        let Some((name, adapter)) = chosen else {
            return Err(BleError::NoAdapter {
                wanted: wanted.map(str::to_owned),
                there: names,
            });
        };
        if adapter.adapter_state().await.ok() == Some(CentralState::PoweredOff) {
            return Err(BleError::Off { adapter: name });
        }
        let mut hubs = self.hubs.lock().await;
        if let Some(hub) = hubs.get(&name) {
            return Ok(Arc::clone(hub));
        }
        let hub = Arc::new(
            match timeout(CALL_WAIT, Hub::open(&name, self.lost.clone())).await {
                Ok(hub) => hub?,
                Err(_) => return Err(BleError::NoBluetooth("it does not answer".to_owned())),
            },
        );
        hubs.insert(name, Arc::clone(&hub));
        Ok(hub)
    }
}

impl Radio {
    /// The session, if the bus is still there, or a new one.
    async fn session(&self) -> Result<Arc<SystemBus>, BleError> {
        let mut session = self.0.session.lock().await;
        if let Some(session) = session.as_ref().filter(|session| session.is_usable()) {
            return Ok(Arc::clone(session));
        }
        *session = None;
        let opened = match timeout(CALL_WAIT, SystemBus::open()).await {
            Ok(opened) => opened.map_err(|error| error::session(&error))?,
            Err(_) => return Err(BleError::NoBluetooth("it does not answer".to_owned())),
        };
        Ok(Arc::clone(session.insert(Arc::new(opened))))
    }

    /// Whether there is an adapter, the named one or the first, that is switched on.
    ///
    /// # Errors
    /// [`BleError`], worded for the player.
    pub async fn ready(&self, adapter: Option<&str>) -> Result<(), BleError> {
        self.session().await?.adapter(adapter).await.map(drop)
    }

    /// The devices seen within `wait`, by the named adapter or the first one.
    ///
    /// # Errors
    /// [`BleError`], worded for the player.
    pub async fn look_around(
        &self,
        adapter: Option<&str>,
        wait: Duration,
    ) -> Result<Vec<Seen>, BleError> {
        let hub = self.session().await?.adapter(adapter).await?;
        let mut view = hub.watch().await;
        tokio::time::sleep(wait).await;
        let view = view.borrow_and_update();
        match &view.failure {
            Some(failure) if view.seen.is_empty() => Err(failure.clone()),
            _ => Ok(view.seen.clone()),
        }
    }

    fn claims(&self) -> MutexGuard<'_, Vec<(String, Wanted)>> {
        let claims = self.0.claims.lock();
        claims.unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a board has the device at this address.
    pub fn has(&self, address: &str) -> bool {
        let claims = self.claims();
        claims
            .iter()
            .any(|(other, _)| other.eq_ignore_ascii_case(address))
    }

    /// Whether a board that is wanted like this has a device.
    pub fn has_found(&self, wanted: &Wanted) -> bool {
        self.claims().iter().any(|(_, other)| other == wanted)
    }

    /// Waits until every link is closed, when the daemon ends.
    pub async fn close(&self) {
        self.0.closing.close();
        // A hung controller must not delay the end.
        let _ = timeout(CALL_WAIT, self.0.closing.wait()).await;
        self.0.closing.reopen();
    }

    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        self.0.closing.spawn(task);
    }
}

/// The adapters of a session with their names, in order.
async fn adapters(manager: &Manager) -> btleplug::Result<Vec<(String, Adapter)>> {
    let mut named = Vec::new();
    for adapter in manager.adapters().await? {
        // "hci0 (usb:…)": the name is the first word.
        let info = adapter.adapter_info().await?;
        let name = info.split(' ').next().unwrap_or_default().to_owned();
        named.push((name, adapter));
    }
    named.sort_by(|(a, _), (b, _)| a.cmp(b));
    Ok(named)
}

impl Hub {
    /// Opens the adapter with this name, and subscribes to its signals before asking for anything else.
    async fn open(name: &str, lost: CancellationToken) -> Result<Self, BleError> {
        let opened = async {
            let manager = Manager::new().await?;
            let adapters = adapters(&manager).await?;
            let Some((name, adapter)) = adapters.into_iter().find(|(other, _)| other == name)
            else {
                return Err(btleplug::Error::DeviceNotFound);
            };
            let events = adapter.events().await?;
            Ok((name, adapter, events))
        };
        let (name, adapter, mut events) = opened.await.map_err(|error| error::session(&error))?;
        let (losses, _) = broadcast::channel(MAX_LOSSES);
        let reports = losses.clone();
        let listening = tokio::spawn(async move {
            while let Some(event) = events.next().await {
                let loss = match event {
                    CentralEvent::DeviceDisconnected(id) => Lost::Device(id),
                    CentralEvent::StateUpdate(CentralState::PoweredOff) => Lost::Adapter,
                    _ => continue,
                };
                // Fails if no link is open.
                let _ = reports.send(loss);
            }
        });
        Ok(Self {
            name,
            adapter,
            losses,
            _listening: AbortOnDropHandle::new(listening),
            connecting: Semaphore::new(1),
            view: Mutex::new(None),
            lost,
        })
    }

    /// The links that are lost from now on.
    pub fn losses(&self) -> broadcast::Receiver<Lost> {
        self.losses.subscribe()
    }

    /// What the adapter sees from now on. It scans while a receiver exists.
    async fn watch(self: &Arc<Self>) -> watch::Receiver<View> {
        let mut view = self.view.lock().await;
        // Its task has not ended yet, and goes on.
        if let Some(sender) = &*view {
            return sender.subscribe();
        }
        let (sender, receiver) = watch::channel(View::default());
        *view = Some(sender.clone());
        tokio::spawn(scan::run(Arc::clone(self), sender));
        receiver
    }

    /// Ends the scan if no receiver is left; then returns `true`. The next one begins when it has ended: `BlueZ` refuses two of one client.
    pub async fn end_scan(&self, sender: &watch::Sender<View>, scanning: bool) -> bool {
        let mut view = self.view.lock().await;
        let unwatched = sender.receiver_count() == 0;
        if unwatched {
            if scanning {
                scan::stop(self).await;
            }
            *view = None;
        }
        unwatched
    }
}
