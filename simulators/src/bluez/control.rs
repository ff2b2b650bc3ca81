//! Fault injection: what a test can do to the simulated `BlueZ` and its devices.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use thiserror::Error;
use tokio::sync::{Notify, watch};
use uuid::Uuid;
use zbus::Message;

use super::{adapter::Adapter, address::Address, device::Device, outbox::Outbox, radio::Radio};

/// The adapter, device or characteristic does not exist.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[error("there is no such adapter, device or characteristic")]
pub struct Unknown;

/// State shared by the service's thread and its owners.
#[derive(Default)]
pub(super) struct Shared {
    radio: Mutex<Radio>,
    /// Wakes the thread.
    pub poke: Notify,
    /// Tells phones that something may have changed.
    round: watch::Sender<u64>,
}

impl Shared {
    /// The state.
    pub fn radio(&self) -> MutexGuard<'_, Radio> {
        self.radio.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The thread has completed a round.
    pub fn changed(&self) {
        self.round
            .send_modify(|round| *round = round.wrapping_add(1));
    }

    /// Subscribes to the thread's rounds.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.round.subscribe()
    }

    /// Does what is due and returns the next message to send.
    pub fn next_message(&self, now: Instant) -> Option<Message> {
        let mut radio = self.radio();
        radio.serve(now);
        radio.outbox.pop(now)
    }
}

/// Injects faults. Each takes effect before the call returns; programs see its consequences on the bus later.
#[derive(Clone)]
pub struct Control {
    shared: Arc<Shared>,
}

impl Control {
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        Self { shared }
    }

    /// Whether a device is connected.
    ///
    /// # Errors
    /// The device does not exist.
    pub fn is_connected(&self, device: Address) -> Result<bool, Unknown> {
        self.device(device, |device, _| device.is_connected())
    }

    /// Whether a device is connected, and its services are resolved.
    ///
    /// # Errors
    /// The device does not exist.
    pub fn is_resolved(&self, device: Address) -> Result<bool, Unknown> {
        self.device(device, |device, _| device.is_resolved())
    }

    /// Whether a program is subscribed to a characteristic.
    ///
    /// # Errors
    /// The characteristic does not exist.
    pub fn is_notifying(&self, device: Address, characteristic: Uuid) -> Result<bool, Unknown> {
        self.device(device, |device, _| {
            let attribute = device.attribute(characteristic);
            attribute.map(|attribute| attribute.is_notifying())
        })?
        .ok_or(Unknown)
    }

    /// Whether an adapter is discovering.
    ///
    /// # Errors
    /// The adapter does not exist.
    pub fn is_discovering(&self, adapter: &str) -> Result<bool, Unknown> {
        self.adapter(adapter, |adapter, _| adapter.is_discovering())
    }

    /// An adapter's alias.
    ///
    /// # Errors
    /// The adapter does not exist.
    pub fn alias(&self, adapter: &str) -> Result<String, Unknown> {
        self.adapter(adapter, |adapter, _| adapter.alias().to_owned())
    }

    /// Whether an adapter is on.
    ///
    /// # Errors
    /// The adapter does not exist.
    pub fn is_powered(&self, adapter: &str) -> Result<bool, Unknown> {
        self.adapter(adapter, |adapter, _| adapter.is_powered())
    }

    /// Pairs a device, as a person does with `bluetoothctl`.
    ///
    /// # Errors
    /// The device does not exist.
    pub fn pair(&self, device: Address) -> Result<(), Unknown> {
        self.device(device, |device, outbox| device.pair(Instant::now(), outbox))
    }

    /// Drops the link of a device now, if it has one.
    ///
    /// # Errors
    /// The device does not exist.
    pub fn drop_link(&self, device: Address) -> Result<(), Unknown> {
        self.device(device, |device, outbox| {
            device.disconnect(Instant::now(), outbox);
        })
    }

    /// Refuses the next writes to a characteristic.
    ///
    /// # Errors
    /// The characteristic does not exist.
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
    /// The device does not exist.
    pub fn refuse_connects(&self, device: Address, count: usize) -> Result<(), Unknown> {
        self.device(device, |device, _| device.refuse_connects = count)
    }

    /// Sets how long after connecting a device's services are resolved: 1.9 s in the captures of a Neo.
    ///
    /// # Errors
    /// The device does not exist.
    pub fn delay_services(&self, device: Address, wait: Duration) -> Result<(), Unknown> {
        self.device(device, |device, _| device.services_wait = wait)
    }

    /// Refuses the next advertisements of programs, as if there were too many.
    pub fn refuse_advertisements(&self, count: usize) {
        self.shared.radio().offers.refuse_advertisements = count;
    }

    /// Makes controllers stop advertising for good when a phone connects: some do not resume by themselves.
    pub fn stop_advertising(&self, on: bool) {
        self.shared.radio().offers.stops_advertising = on;
    }

    /// Moves a device out of range: its link ends and it stops advertising, but `BlueZ` still knows it.
    ///
    /// # Errors
    /// The device does not exist.
    pub fn vanish(&self, device: Address) -> Result<(), Unknown> {
        self.device(device, |device, outbox| {
            device.in_range = false;
            device.disconnect(Instant::now(), outbox);
        })
    }

    /// Moves a device back into range.
    ///
    /// # Errors
    /// The device does not exist.
    pub fn appear(&self, device: Address) -> Result<(), Unknown> {
        self.device(device, |device, _| device.in_range = true)
    }

    /// Makes `BlueZ` forget a device, as the real one does some time after the last discovery; it is back
    /// when it is discovered again.
    ///
    /// # Errors
    /// The device does not exist.
    pub fn forget(&self, device: Address) -> Result<(), Unknown> {
        self.device(device, |device, outbox| {
            device.unpair(Instant::now(), outbox);
        })
    }

    /// Switches an adapter on or off. When off, its devices lose their links and all discovery ends.
    ///
    /// # Errors
    /// The adapter does not exist.
    pub fn power(&self, adapter: &str, on: bool) -> Result<(), Unknown> {
        self.adapter(adapter, |adapter, outbox| {
            adapter.power(Instant::now(), on, outbox);
        })
    }

    /// Unplugs an adapter, or plugs it in again; it comes back switched on and knows no device.
    ///
    /// # Errors
    /// The adapter does not exist.
    pub fn plug(&self, adapter: &str, on: bool) -> Result<(), Unknown> {
        self.adapter(adapter, |adapter, outbox| {
            adapter.plug(Instant::now(), on, outbox);
        })
    }

    /// Makes the whole service leave the bus, or come back: a Bluetooth daemon that was stopped and started. It
    /// sends nothing when it leaves; when it comes back it has forgotten everything and announces its adapters.
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

    /// Makes the bus refuse every call to the service, as for a user without permission.
    pub fn deny(&self, on: bool) {
        self.shared.radio().denied = on;
    }

    /// Delays replies from now on. The calls themselves take effect at once.
    pub fn delay_replies(&self, delay: Duration) {
        self.shared.radio().outbox.reply_delay = delay;
    }

    /// Delays notifications from now on.
    pub fn delay_notifications(&self, delay: Duration) {
        self.shared.radio().outbox.notification_delay = delay;
    }

    /// Sends a notification that does not come from the peripheral, whether or not a program is subscribed.
    ///
    /// # Errors
    /// The characteristic does not exist.
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
    /// The device does not exist.
    pub fn corrupt_notifications(&self, device: Address, count: usize) -> Result<(), Unknown> {
        self.device(device, |device, _| device.corrupt = count)
    }

    /// Loses the next notifications of a device.
    ///
    /// # Errors
    /// The device does not exist.
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
