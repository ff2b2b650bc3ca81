//! The owner's handle to a peripheral that the service drives.

use std::sync::{Arc, Mutex};

use super::{address::Address, control::Shared, device::lock};
use crate::peripheral::Peripheral;

/// A peripheral near an adapter, shared with its owner.
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

    /// Its address.
    pub fn address(&self) -> Address {
        self.address
    }

    /// Accesses the peripheral; afterwards its notifications are sent, and its deadline is checked
    /// again. The peripheral is locked meanwhile, so do not inject faults or wait here.
    pub fn with<R>(&self, action: impl FnOnce(&mut P) -> R) -> R {
        let result = action(&mut lock(&self.peripheral));
        self.shared.poke.notify_one();
        result
    }
}
