//! The owner's hold on a peripheral that the service drives.

use std::sync::{Arc, Mutex};

use super::{address::Address, control::Shared, device::lock};
use crate::peripheral::Peripheral;

/// A peripheral near an adapter, still in its owner's hands.
pub struct Hosted<P> {
    address: Address,
    peripheral: Arc<Mutex<P>>,
    shared: Arc<Shared>,
}

impl<P> Clone for Hosted<P> {
    fn clone(&self) -> Self {
        Self {
            address: self.address,
            peripheral: Arc::clone(&self.peripheral),
            shared: Arc::clone(&self.shared),
        }
    }
}

impl<P: Peripheral> Hosted<P> {
    pub(super) fn new(address: Address, peripheral: Arc<Mutex<P>>, shared: Arc<Shared>) -> Self {
        Self {
            address,
            peripheral,
            shared,
        }
    }

    /// Where it is to be found.
    pub fn address(&self) -> Address {
        self.address
    }

    /// Does something with the peripheral; what it has to notify afterwards goes out, and its deadline is looked at
    /// again. The peripheral can do nothing else meanwhile, so this is not the place to order faults or to wait.
    pub fn with<R>(&self, action: impl FnOnce(&mut P) -> R) -> R {
        let result = action(&mut lock(&self.peripheral));
        self.shared.poke.notify_one();
        result
    }
}
