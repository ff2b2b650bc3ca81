//! Faults at will: what a test can do to the simulated `BlueZ` and its devices.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use thiserror::Error;
use tokio::sync::{Notify, watch};
use uuid::Uuid;
use zbus::Message;

use super::{adapter::Adapter, address::Address, device::Device, outbox::Outbox, radio::Radio};

/// There is no such adapter, device or characteristic.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[error("there is no such adapter, device or characteristic")]
pub struct Unknown;

/// What the service's thread and its owners share.
#[derive(Default)]
pub(super) struct Shared {
    radio: Mutex<Radio>,
    /// Tells the thread that something is to be done.
    pub poke: Notify,
    /// Tells phones that something may have changed.
    round: watch::Sender<u64>,
}

impl Shared {
    /// The state.
    pub fn radio(&self) -> MutexGuard<'_, Radio> {
        self.radio.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The thread has done a round.
    pub fn changed(&self) {
        self.round
            .send_modify(|round| *round = round.wrapping_add(1));
    }

    /// Hears of the thread's rounds.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.round.subscribe()
    }

    /// Does what is due and gives the next message to send.
    pub fn next_message(&self, now: Instant) -> Option<Message> {
        let mut radio = self.radio();
        radio.serve(now);
        radio.outbox.pop(now)
    }
}

/// Orders faults. Every order has its effect before the call returns; what programs see of it follows on the bus.
#[derive(Clone)]
pub struct Control {
    shared: Arc<Shared>,
}

impl Control {
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        Self { shared }
    }

    /// Whether a device has a link.
    ///
    /// # Errors
    /// There is no such device.
    pub fn is_connected(&self, device: Address) -> Result<bool, Unknown> {
        self.device(device, |device, _| device.is_connected())
    }

    /// Whether a device has a link, and its services are told.
    ///
    /// # Errors
    /// There is no such device.
    pub fn is_resolved(&self, device: Address) -> Result<bool, Unknown> {
        self.device(device, |device, _| device.is_resolved())
    }

    /// Whether somebody wants the notifications of a characteristic.
    ///
    /// # Errors
    /// There is no such characteristic.
    pub fn is_notifying(&self, device: Address, characteristic: Uuid) -> Result<bool, Unknown> {
        self.device(device, |device, _| {
            let attribute = device.attribute(characteristic);
            attribute.map(|attribute| attribute.is_notifying())
        })?
        .ok_or(Unknown)
    }

    /// Whether an adapter looks for devices.
    ///
    /// # Errors
    /// There is no such adapter.
    pub fn is_discovering(&self, adapter: &str) -> Result<bool, Unknown> {
        self.adapter(adapter, |adapter, _| adapter.is_discovering())
    }

    /// What an adapter is called.
    ///
    /// # Errors
    /// There is no such adapter.
    pub fn alias(&self, adapter: &str) -> Result<String, Unknown> {
        self.adapter(adapter, |adapter, _| adapter.alias().to_owned())
    }

    /// Whether an adapter is on.
    ///
    /// # Errors
    /// There is no such adapter.
    pub fn is_powered(&self, adapter: &str) -> Result<bool, Unknown> {
        self.adapter(adapter, |adapter, _| adapter.is_powered())
    }

    /// Ends the link of a device now, if there is one.
    ///
    /// # Errors
    /// There is no such device.
    pub fn drop_link(&self, device: Address) -> Result<(), Unknown> {
        self.device(device, |device, outbox| {
            device.disconnect(Instant::now(), outbox);
        })
    }

    /// Refuses the next writes to a characteristic.
    ///
    /// # Errors
    /// There is no such characteristic.
    pub fn refuse_writes(
        &self,
        device: Address,
        characteristic: Uuid,
        count: usize,
    ) -> Result<(), Unknown> {
        self.device(device, |device, _| {
            let attribute = device.attribute(characteristic)?;
            attribute.refuse_writes = count;
            Some(())
        })?
        .ok_or(Unknown)
    }

    /// Refuses the next attempts to connect to a device.
    ///
    /// # Errors
    /// There is no such device.
    pub fn refuse_connects(&self, device: Address, count: usize) -> Result<(), Unknown> {
        self.device(device, |device, _| device.refuse_connects = count)
    }

    /// How long after connecting a device has told its services, from now on: 1.9 s in the captures of a Neo.
    ///
    /// # Errors
    /// There is no such device.
    pub fn delay_services(&self, device: Address, wait: Duration) -> Result<(), Unknown> {
        self.device(device, |device, _| device.services_wait = wait)
    }

    /// Refuses the next advertisements of programs, as if there were too many.
    pub fn refuse_advertisements(&self, count: usize) {
        self.shared.radio().offers.refuse_advertisements = count;
    }

    /// Makes controllers stop advertising when a phone connects, for good: some do not go on by themselves.
    pub fn stop_advertising(&self, on: bool) {
        self.shared.radio().offers.stops_advertising = on;
    }

    /// Carries a device out of reach: its link ends and it advertises no more, though `BlueZ` still knows it.
    ///
    /// # Errors
    /// There is no such device.
    pub fn vanish(&self, device: Address) -> Result<(), Unknown> {
        self.device(device, |device, outbox| {
            device.in_range = false;
            device.disconnect(Instant::now(), outbox);
        })
    }

    /// Carries a device back into reach.
    ///
    /// # Errors
    /// There is no such device.
    pub fn appear(&self, device: Address) -> Result<(), Unknown> {
        self.device(device, |device, _| device.in_range = true)
    }

    /// Lets `BlueZ` forget a device, as the real one does some time after the last discovery; it is there again
    /// when it is discovered again.
    ///
    /// # Errors
    /// There is no such device.
    pub fn forget(&self, device: Address) -> Result<(), Unknown> {
        self.device(device, |device, outbox| {
            device.forget(Instant::now(), outbox);
        })
    }

    /// Switches an adapter on or off. Off, its devices lose their links and nobody discovers any more.
    ///
    /// # Errors
    /// There is no such adapter.
    pub fn power(&self, adapter: &str, on: bool) -> Result<(), Unknown> {
        self.adapter(adapter, |adapter, outbox| {
            adapter.power(Instant::now(), on, outbox);
        })
    }

    /// Pulls an adapter out, or puts it back; it comes back switched on and knows no device.
    ///
    /// # Errors
    /// There is no such adapter.
    pub fn plug(&self, adapter: &str, on: bool) -> Result<(), Unknown> {
        self.adapter(adapter, |adapter, outbox| {
            adapter.plug(Instant::now(), on, outbox);
        })
    }

    /// Lets the whole service leave the bus, or come back: a Bluetooth daemon that was stopped and started. It
    /// says nothing when it goes, and has forgotten everything when it comes and tells of its adapters.
    pub fn run(&self, on: bool) {
        let mut radio = self.shared.radio();
        if radio.away != on {
            return;
        }
        radio.away = !on;
        let Radio {
            adapters,
            outbox,
            offers,
            ..
        } = &mut *radio;
        let now = Instant::now();
        if on {
            for adapter in adapters {
                adapter.begin(now, outbox);
            }
        } else {
            offers.forget();
            for adapter in adapters {
                adapter.restart(now, outbox);
            }
            outbox.clear();
        }
        drop(radio);
        self.shared.poke.notify_one();
    }

    /// Lets the bus refuse every call to the service, as for a user who may not.
    pub fn deny(&self, on: bool) {
        self.shared.radio().denied = on;
    }

    /// Holds answers back from now on. What was asked for is done at once nevertheless.
    pub fn delay_replies(&self, delay: Duration) {
        self.shared.radio().outbox.reply_delay = delay;
    }

    /// Holds notifications back from now on.
    pub fn delay_notifications(&self, delay: Duration) {
        self.shared.radio().outbox.notification_delay = delay;
    }

    /// Sends a notification that the peripheral knows nothing of, whether anybody asked for it or not.
    ///
    /// # Errors
    /// There is no such characteristic.
    pub fn notify(
        &self,
        device: Address,
        characteristic: Uuid,
        value: Vec<u8>,
    ) -> Result<(), Unknown> {
        let sent = self.device(device, |device, outbox| {
            device.inject(Instant::now(), characteristic, value, outbox)
        })?;
        sent.then_some(()).ok_or(Unknown)
    }

    /// Flips a bit in the middle of each of the next notifications of a device.
    ///
    /// # Errors
    /// There is no such device.
    pub fn corrupt_notifications(&self, device: Address, count: usize) -> Result<(), Unknown> {
        self.device(device, |device, _| device.corrupt = count)
    }

    /// Loses the next notifications of a device.
    ///
    /// # Errors
    /// There is no such device.
    pub fn lose_notifications(&self, device: Address, count: usize) -> Result<(), Unknown> {
        self.device(device, |device, _| device.lose = count)
    }

    fn device<R>(
        &self,
        address: Address,
        order: impl FnOnce(&mut Device, &mut Outbox) -> R,
    ) -> Result<R, Unknown> {
        let mut radio = self.shared.radio();
        let (device, outbox) = radio.device(address).ok_or(Unknown)?;
        let result = order(device, outbox);
        drop(radio);
        self.shared.poke.notify_one();
        Ok(result)
    }

    fn adapter<R>(
        &self,
        name: &str,
        order: impl FnOnce(&mut Adapter, &mut Outbox) -> R,
    ) -> Result<R, Unknown> {
        let mut radio = self.shared.radio();
        let Radio {
            adapters, outbox, ..
        } = &mut *radio;
        let mut adapters = adapters.iter_mut();
        let adapter = adapters
            .find(|adapter| adapter.name == name)
            .ok_or(Unknown)?;
        let result = order(adapter, outbox);
        drop(radio);
        self.shared.poke.notify_one();
        Ok(result)
    }
}
