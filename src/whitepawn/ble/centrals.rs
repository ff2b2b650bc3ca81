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
use tokio_util::sync::CancellationToken;

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
    /// What it writes; it ends with the connection.
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
    /// The connection ends, even if the front-end takes nothing.
    pub end: CancellationToken,
}

/// How far a central has come.
enum Known {
    /// It is connected to the front-end.
    Open {
        writes: mpsc::Sender<Vec<u8>>,
        link: Arc<Link>,
    },
    /// Its connection ends; until that is done it may not write.
    Closing,
    /// It has a link, and may begin again: that is told by the token.
    Idle(CancellationToken),
}

impl Known {
    /// Ends the connection, if there is one.
    fn close(&mut self) {
        if let Self::Open { link, .. } = self {
            link.end.cancel();
            *self = Self::Closing;
        }
    }
}

/// Every central. See the module's introduction.
pub(super) struct Centrals {
    known: Mutex<HashMap<Address, Known>>,
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
        let Known::Open { writes, link } = known else {
            return Err(ReqError::NotPermitted);
        };
        link.mtu.store(mtu, Ordering::Relaxed);
        match writes.try_send(value) {
            Ok(()) => Ok(()),
            Err(TrySendError::Full(_)) => {
                link.overrun.store(true, Ordering::Relaxed);
                known.close();
                Err(ReqError::Failed)
            }
            Err(TrySendError::Closed(_)) => Err(ReqError::NotPermitted),
        }
    }

    /// Whether nobody is there.
    pub fn is_empty(&self) -> bool {
        self.lock().is_empty()
    }

    /// Its connection ends; until it is [idle](Self::idle) or [forgotten](Self::forget) it may not write.
    pub fn end(&self, address: Address) {
        if let Some(known) = self.lock().get_mut(&address) {
            known.close();
        }
    }

    /// All connections end.
    pub fn end_all(&self) {
        self.lock().values_mut().for_each(Known::close);
    }

    /// Its connection has ended, but not its link. Tells when it begins again.
    pub fn idle(&self, address: Address) -> CancellationToken {
        let again = CancellationToken::new();
        self.lock().insert(address, Known::Idle(again.clone()));
        again
    }

    /// It has gone, and may come again.
    pub fn forget(&self, address: Address) {
        self.lock().remove(&address);
    }

    /// What is known of a central; one that has no connection gets one.
    fn meet<'a>(
        &self,
        all: &'a mut HashMap<Address, Known>,
        address: Address,
    ) -> ReqResult<&'a mut Known> {
        let count = all.len();
        match all.entry(address) {
            Entry::Occupied(mut known) => {
                if let Known::Idle(again) = known.get() {
                    let again = again.clone();
                    known.insert(self.begin(address)?);
                    again.cancel();
                }
                Ok(known.into_mut())
            }
            Entry::Vacant(_) if count >= MAX_CENTRALS => Err(ReqError::NotPermitted),
            Entry::Vacant(place) => Ok(place.insert(self.begin(address)?)),
        }
    }

    fn begin(&self, address: Address) -> ReqResult<Known> {
        let (sender, writes) = mpsc::channel(MAX_WRITES);
        let link = Arc::new(Link {
            mtu: AtomicU16::new(DEFAULT_MTU),
            overrun: AtomicBool::new(false),
            end: CancellationToken::new(),
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
        Ok(Known::Open {
            writes: sender,
            link,
        })
    }

    /// A panic of another holder has been reported where it happened.
    fn lock(&self) -> MutexGuard<'_, HashMap<Address, Known>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
