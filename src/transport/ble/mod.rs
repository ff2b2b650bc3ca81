//! Bluetooth LE, by btleplug: boards found by name or address, one scan an adapter, however many look.
//!
//! [`Radio`] is the machine's Bluetooth, shared by all boards of a daemon. It is opened when the first board
//! needs it, and anew after it failed.

pub(crate) mod error;
mod link;
mod scan;

use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, Weak},
    time::Duration,
};

use btleplug::{
    api::{Central, CentralState, Manager as _, Peripheral as _},
    platform::{Adapter, Manager},
};
use tokio::{
    sync::{Mutex, Semaphore, watch},
    time::{Instant, timeout},
};
use tokio_util::task::TaskTracker;
use tracing::{debug, info};

pub use self::{
    error::BleError,
    link::GattLink,
    scan::{Seen, View},
};

/// How long a board is looked for before the player is told what was seen instead. An advertiser is seen within
/// seconds; the pause after it lets other boards connect in quiet.
pub const SEEK_WAIT: Duration = Duration::from_secs(20);
/// How long connecting may take. `BlueZ` itself gives up after some 25 s; a board in reach takes less than 2.
pub const CONNECT_WAIT: Duration = Duration::from_secs(15);
/// How long the board may take to tell its services (1.9 s in the captures).
pub const DISCOVER_WAIT: Duration = Duration::from_secs(15);
/// How long Bluetooth may take to answer anything else.
pub const CALL_WAIT: Duration = Duration::from_secs(10);

/// Which board is wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// The one of this name, or any whose name begins so.
    Name(String),
    /// The one at this address.
    Address(String),
}

impl Wanted {
    /// The device that is meant: a whole name before one that only begins so.
    fn find<'a>(&self, seen: &'a [Seen]) -> Option<&'a Seen> {
        let name =
            |seen: &&Seen, fits: &dyn Fn(&str) -> bool| seen.name.as_deref().is_some_and(fits);
        match self {
            Self::Name(wanted) => {
                let whole = seen.iter().find(|seen| name(seen, &|name| name == wanted));
                whole.or_else(|| {
                    seen.iter()
                        .find(|seen| name(seen, &|name| name.starts_with(wanted)))
                })
            }
            Self::Address(address) => seen
                .iter()
                .find(|seen| seen.address.eq_ignore_ascii_case(address)),
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
    /// Which adapter, such as `hci0`; the first one if nothing is given.
    pub adapter: Option<String>,
}

impl BleBoard {
    /// Finds the board, connects, and learns its services.
    ///
    /// # Errors
    /// [`BleError`], worded for the player.
    pub async fn open(&self) -> Result<GattLink, BleError> {
        let adapter = self.radio.adapter(self.adapter.as_deref()).await?;
        let seen = self.find(&adapter).await?;
        let name = seen.name.clone().unwrap_or_else(|| seen.address.clone());
        info!(%name, address = %seen.address, "found");
        // Adapters do not like to connect to two devices at once, nor while they scan.
        let _turn = adapter.connecting.acquire().await;
        let peripheral = seen.peripheral;
        let failed = |why: String| BleError::Connect {
            name: name.clone(),
            why,
        };
        let connected = timeout(CONNECT_WAIT, peripheral.connect()).await;
        match connected {
            Err(_) => {
                // Whatever it is at, it must not hold the board.
                let _ = timeout(CALL_WAIT, peripheral.disconnect()).await;
                return Err(failed("it does not answer".to_owned()));
            }
            Ok(Err(error)) => return Err(error::connect(&name, &error)),
            Ok(Ok(())) => {}
        }
        let discovered = timeout(DISCOVER_WAIT, peripheral.discover_services()).await;
        let why = match discovered {
            Ok(Ok(())) => match GattLink::begin(&self.radio, &adapter, peripheral.clone()).await {
                Ok(link) => return Ok(link),
                Err(error) => error.to_string(),
            },
            Ok(Err(error)) => error.to_string(),
            Err(_) => "it does not tell its services".to_owned(),
        };
        let _ = timeout(CALL_WAIT, peripheral.disconnect()).await;
        Err(failed(why))
    }

    /// Waits until the board is seen.
    async fn find(&self, adapter: &Arc<Hub>) -> Result<Seen, BleError> {
        let mut view = adapter.watch().await;
        let deadline = Instant::now() + SEEK_WAIT;
        loop {
            {
                let view = view.borrow_and_update();
                if let Some(seen) = self.wanted.find(&view.seen) {
                    return Ok(seen.clone());
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
    manager: Mutex<Option<Manager>>,
    hubs: Mutex<HashMap<String, Weak<Hub>>>,
    /// Links that are being closed.
    closing: TaskTracker,
}

impl fmt::Debug for Radio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Radio")
    }
}

/// One adapter and everything that uses it.
pub(super) struct Hub {
    pub name: String,
    pub adapter: Adapter,
    /// Connecting is done by one board at a time.
    pub connecting: Semaphore,
    view: Mutex<Option<watch::Sender<View>>>,
}

impl Radio {
    /// An adapter that is switched on.
    async fn adapter(&self, wanted: Option<&str>) -> Result<Arc<Hub>, BleError> {
        let found = timeout(CALL_WAIT, self.adapters()).await;
        let adapters = match found {
            Ok(Ok(adapters)) => adapters,
            failed => {
                // A session that has failed once may be dead: the next attempt makes a new one.
                *self.0.manager.lock().await = None;
                self.0.hubs.lock().await.clear();
                return Err(match failed {
                    Ok(Err(error)) => error,
                    _ => BleError::NoBluetooth("it does not answer".to_owned()),
                });
            }
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
        let mut hubs = self.0.hubs.lock().await;
        if let Some(hub) = hubs.get(&name).and_then(Weak::upgrade) {
            return Ok(hub);
        }
        let hub = Arc::new(Hub {
            name: name.clone(),
            adapter,
            connecting: Semaphore::new(1),
            view: Mutex::new(None),
        });
        hubs.insert(name, Arc::downgrade(&hub));
        Ok(hub)
    }

    /// Every adapter with its name.
    async fn adapters(&self) -> Result<Vec<(String, Adapter)>, BleError> {
        let mut manager = self.0.manager.lock().await;
        let manager = match &mut *manager {
            Some(manager) => manager,
            none => {
                let new = Manager::new().await.map_err(|e| error::session(&e))?;
                debug!("Bluetooth opened");
                none.insert(new)
            }
        };
        let adapters = manager.adapters().await.map_err(|e| error::session(&e))?;
        let mut named = Vec::with_capacity(adapters.len());
        for adapter in adapters {
            // "hci0 (usb:…)": the name is the first word.
            let info = adapter.adapter_info().await;
            let info = info.map_err(|e| error::session(&e))?;
            let name = info.split(' ').next().unwrap_or_default().to_owned();
            named.push((name, adapter));
        }
        named.sort_by(|(a, _), (b, _)| a.cmp(b));
        Ok(named)
    }

    /// What is seen within `wait`, by the adapter named or the first one.
    ///
    /// # Errors
    /// [`BleError`], worded for the player.
    pub async fn look_around(
        &self,
        adapter: Option<&str>,
        wait: Duration,
    ) -> Result<Vec<Seen>, BleError> {
        let hub = self.adapter(adapter).await?;
        let mut view = hub.watch().await;
        tokio::time::sleep(wait).await;
        let view = view.borrow_and_update();
        match &view.failure {
            Some(failure) if view.seen.is_empty() => Err(failure.clone()),
            _ => Ok(view.seen.clone()),
        }
    }

    /// Waits until every link is closed: at the end of a daemon.
    pub async fn close(&self) {
        self.0.closing.close();
        // A controller that hangs must not hold up the end.
        let _ = timeout(CALL_WAIT, self.0.closing.wait()).await;
        self.0.closing.reopen();
    }

    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        self.0.closing.spawn(task);
    }
}

impl Hub {
    /// What the adapter sees from now on. It scans as long as somebody holds this.
    async fn watch(self: &Arc<Self>) -> watch::Receiver<View> {
        let mut view = self.view.lock().await;
        if let Some(sender) = &*view
            && !sender.is_closed()
        {
            return sender.subscribe();
        }
        let (sender, receiver) = watch::channel(View::default());
        *view = Some(sender.clone());
        tokio::spawn(scan::run(Arc::clone(self), sender));
        receiver
    }

    /// Ends the scan if nobody watches any more.
    pub async fn end_scan(&self, sender: &watch::Sender<View>) -> bool {
        let mut view = self.view.lock().await;
        let unwatched = sender.receiver_count() == 0;
        if unwatched {
            *view = None;
        }
        unwatched
    }
}
