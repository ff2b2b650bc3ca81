//! Who is connected, and what they wrote: filled by `BlueZ`'s calls, emptied by one task a central.

use std::{
    collections::{HashMap, hash_map::Entry},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU16, Ordering},
    },
};

use bluer::{
    Address,
    gatt::local::{ReqError, ReqResult},
};
use tokio::sync::mpsc::{self, error::TrySendError};

/// Centrals at once. A controller keeps some seven links.
pub(super) const MAX_CENTRALS: usize = 8;
/// Writes that wait for the front-end. An app writes one message a write, and few a second.
const MAX_WRITES: usize = 64;
/// The MTU before any other is agreed on, in bytes (Bluetooth Core, ATT 3.2.8).
const DEFAULT_MTU: u16 = 23;

/// A central that has come.
pub(super) struct Fresh {
    /// Its address.
    pub address: Address,
    /// What it writes; it ends when the central is no more.
    pub writes: mpsc::Receiver<Vec<u8>>,
    /// What is known of its link.
    pub link: Arc<Link>,
}

/// A central's link.
pub(super) struct Link {
    /// The longest packet that was agreed on, in bytes.
    pub mtu: AtomicU16,
    /// It wrote more than could be kept.
    pub overrun: AtomicBool,
}

struct Known {
    writes: mpsc::Sender<Vec<u8>>,
    link: Arc<Link>,
}

/// Every central. See the module's introduction.
pub(super) struct Centrals {
    known: Mutex<HashMap<Address, Option<Known>>>,
    fresh: mpsc::Sender<Fresh>,
}

impl Centrals {
    /// Nobody, and where those who come are to be met.
    pub fn new() -> (Arc<Self>, mpsc::Receiver<Fresh>) {
        let (sender, fresh) = mpsc::channel(MAX_CENTRALS);
        let centrals = Self {
            known: Mutex::default(),
            fresh: sender,
        };
        (Arc::new(centrals), fresh)
    }

    /// A central writes. What cannot be kept ends its connection: a message that is lost unseen would be worse.
    pub fn wrote(&self, address: Address, mtu: u16, value: Vec<u8>) -> ReqResult<()> {
        let mut all = self.lock();
        let known = self.meet(&mut all, address)?;
        // It is on its way out.
        let Some(central) = known else {
            return Err(ReqError::NotPermitted);
        };
        central.link.mtu.store(mtu, Ordering::Relaxed);
        match central.writes.try_send(value) {
            Ok(()) => Ok(()),
            Err(TrySendError::Full(_)) => {
                central.link.overrun.store(true, Ordering::Relaxed);
                *known = None;
                Err(ReqError::Failed)
            }
            Err(TrySendError::Closed(_)) => Err(ReqError::NotPermitted),
        }
    }

    /// A central is there, without having written yet.
    pub fn came(&self, address: Address) {
        // There may be too many.
        let _ = self.meet(&mut self.lock(), address);
    }

    /// Whether it is known.
    pub fn has(&self, address: Address) -> bool {
        self.lock().contains_key(&address)
    }

    /// Whether nobody is there.
    pub fn is_empty(&self) -> bool {
        self.lock().is_empty()
    }

    /// Its connection ends; until it is [forgotten](Self::forget) it may not write.
    pub fn end(&self, address: Address) {
        if let Some(known) = self.lock().get_mut(&address) {
            *known = None;
        }
    }

    /// All connections end.
    pub fn end_all(&self) {
        self.lock().values_mut().for_each(|known| *known = None);
    }

    /// It has gone, and may come again.
    pub fn forget(&self, address: Address) {
        self.lock().remove(&address);
    }

    fn meet<'a>(
        &self,
        all: &'a mut HashMap<Address, Option<Known>>,
        address: Address,
    ) -> ReqResult<&'a mut Option<Known>> {
        let count = all.len();
        match all.entry(address) {
            Entry::Occupied(known) => Ok(known.into_mut()),
            Entry::Vacant(place) => {
                if count >= MAX_CENTRALS {
                    return Err(ReqError::NotPermitted);
                }
                let (sender, writes) = mpsc::channel(MAX_WRITES);
                let link = Arc::new(Link {
                    mtu: AtomicU16::new(DEFAULT_MTU),
                    overrun: AtomicBool::new(false),
                });
                let fresh = Fresh {
                    address,
                    writes,
                    link: Arc::clone(&link),
                };
                // Nobody meets them any more when the board leaves the air.
                self.fresh
                    .try_send(fresh)
                    .map_err(|_| ReqError::NotPermitted)?;
                Ok(place.insert(Some(Known {
                    writes: sender,
                    link,
                })))
            }
        }
    }

    /// A panic of another holder has been reported where it happened.
    fn lock(&self) -> MutexGuard<'_, HashMap<Address, Option<Known>>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
