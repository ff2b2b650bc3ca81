//! The connected centrals, and what they wrote: filled by `BlueZ`'s calls, emptied by one task per central.

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

/// Centrals at once. A controller supports some seven links.
pub(super) const MAX_CENTRALS: usize = 8;
/// Writes that wait for the front-end. An app writes one message a write, and few a second.
const MAX_WRITES: usize = 64;
/// The MTU before another one is agreed on, in bytes (Bluetooth Core, ATT 3.2.8).
const DEFAULT_MTU: u16 = 23;

/// A central that has connected.
pub(super) struct Fresh {
    /// Its address.
    pub address: Address,
    /// What it writes; it ends with the connection.
    pub writes: mpsc::Receiver<Vec<u8>>,
    /// The state of its link.
    pub link: Arc<Link>,
}

/// A central's link.
pub(super) struct Link {
    /// The longest packet that was agreed on, in bytes.
    pub mtu: AtomicU16,
    /// It wrote more than could be buffered.
    pub overrun: AtomicBool,
    /// Bytes for it are not all with `BlueZ` yet.
    pub sending: AtomicBool,
    /// `BlueZ` has reported the end of its connection, and had been given all bytes for it.
    pub ended: AtomicBool,
    /// Cancelled when the connection ends, even if the front-end reads nothing.
    pub end: CancellationToken,
}

/// The state of a central.
enum Known {
    /// It is connected to the front-end.
    Open {
        writes: mpsc::Sender<Vec<u8>>,
        link: Arc<Link>,
    },
    /// Its connection is ending; until that is done it may not write.
    Closing,
    /// It has a link but no connection; the token is cancelled when a connection begins again.
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
    /// No central, and the channel on which new ones are reported.
    pub fn new() -> (Arc<Self>, mpsc::Receiver<Fresh>) {
        let (sender, fresh) = mpsc::channel(MAX_CENTRALS);
        let centrals = Self {
            known: Mutex::default(),
            fresh: sender,
        };
        (Arc::new(centrals), fresh)
    }

    /// A central writes. Data that cannot be buffered ends its connection: silently losing a message would be worse.
    pub fn wrote(&self, address: Address, mtu: u16, value: Vec<u8>) -> ReqResult<()> {
        let mut all = self.lock();
        let known = self.meet(&mut all, address)?;
        // Its connection is ending.
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

    /// Whether no central is connected.
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

    /// Its connection has ended, but not its link. The token reports when it begins again.
    pub fn idle(&self, address: Address) -> CancellationToken {
        let again = CancellationToken::new();
        self.lock().insert(address, Known::Idle(again.clone()));
        again
    }

    /// It has disconnected, and may come again.
    pub fn forget(&self, address: Address) {
        self.lock().remove(&address);
    }

    /// The state of a central; one that has no connection gets one.
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
            sending: AtomicBool::new(false),
            ended: AtomicBool::new(false),
            end: CancellationToken::new(),
        });
        let fresh = Fresh {
            address,
            writes,
            link: Arc::clone(&link),
        };
        // No one receives them once the board stops serving.
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
