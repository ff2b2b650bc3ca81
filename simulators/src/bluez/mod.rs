//! A simulated `BlueZ`: what the Bluetooth daemon of Linux shows to programs on D-Bus, with simulated peripherals in
//! range, on a bus of its own.
//!
//! A program started with [`Bluez::address`] as `DBUS_SYSTEM_BUS_ADDRESS` uses it. The service has its own
//! thread; every call here has taken effect when it returns, from synchronous code or any runtime. A
//! peripheral is shared with its owner ([`Hosted`]), and [`Control`] injects faults. A program may also be the
//! peripheral, or accept serial connections: a [`Phone`] uses those. It may connect to the serial port of a [`SerialDevice`].
//!
//! It reproduces the behaviour of the real one that matters to a program:
//! - A device is first seen without its name, which comes with the scan response; it stays known until it is removed.
//! - A link outlives the program that made it. The services of a device that was connected once stay, too.
//! - A client that did not unsubscribe is subscribed again after a lost link, and gets "Already notifying" when it
//!   subscribes again; a client that leaves the bus has unsubscribed.
//! - A profile is refused if its UUID is the service of another one, whichever program has that; its lines stay open when it is
//!   withdrawn.
//! - Subscribers also see the values that others read.
//! - The bus removes the newest match rule that differs from the given one in `path_namespace` only, as dbus-daemon
//!   1.14 does: a program may lose signals of one device by ending a stream of another.

mod adapter;
pub mod address;
mod attribute;
mod bus;
mod client;
pub mod control;
mod device;
mod failure;
pub mod hosted;
mod interfaces;
mod objects;
pub mod offers;
mod outbox;
pub mod phone;
mod radio;
pub mod serial_device;
mod service;
mod sighting;
mod signals;
mod socket;

use std::{
    io,
    os::unix::net::UnixListener,
    path::Path,
    sync::{Arc, Mutex, mpsc},
    thread::{self, JoinHandle},
};

use tokio::sync::oneshot;

use self::{
    adapter::Adapter,
    address::Address,
    bus::Bus,
    control::{Control, Shared, Unknown},
    device::Device,
    hosted::Hosted,
    phone::{Handset, Phone},
    serial_device::{SerialDevice, SerialPort},
    socket::Socket,
};
use super::peripheral::Peripheral;

pub use self::socket::address as bus_address;

/// The adapter every simulated `BlueZ` begins with.
pub const ADAPTER: &str = "hci0";
/// That adapter's address.
const ADAPTER_ADDRESS: Address = Address([0x02, 0xBB, 0, 0, 0, 0]);
/// The name of every phone.
const PHONE: &str = "Phone";
/// The maximum number of adapters, and of devices of one adapter.
const MAX_RADIOS: usize = 64;

/// A `BlueZ` on a bus of its own. It ends when dropped.
pub struct Bluez {
    shared: Arc<Shared>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
    socket: Socket,
}

impl Bluez {
    /// Starts one with one adapter, [`ADAPTER`], that is on.
    ///
    /// # Errors
    /// The bus or the thread cannot be created.
    pub fn start() -> io::Result<Self> {
        Self::on(Socket::temporary()?)
    }

    /// The same with a name for the bus's socket, for a program that has to know it beforehand ([`bus_address`]);
    /// others must not have access to its directory.
    ///
    /// # Errors
    /// The bus or the thread cannot be created.
    pub fn start_at(socket: &Path) -> io::Result<Self> {
        Self::on(Socket::at(socket)?)
    }

    fn on((socket, listener): (Socket, UnixListener)) -> io::Result<Self> {
        let shared = Arc::<Shared>::default();
        shared
            .radio()
            .adapters
            .push(Adapter::new(ADAPTER, ADAPTER_ADDRESS));
        let (started, starting) = mpsc::sync_channel(1);
        let (stop, stopped) = oneshot::channel();
        let state = Arc::clone(&shared);
        let thread = thread::Builder::new().name("bluez".into()).spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build();
            let runtime = match runtime {
                Ok(runtime) => runtime,
                Err(error) => {
                    let _ = started.send(Err(error));
                    return;
                }
            };
            runtime.block_on(async move {
                let bus = match Bus::new(listener) {
                    Ok(bus) => bus,
                    Err(error) => {
                        let _ = started.send(Err(error));
                        return;
                    }
                };
                let _ = started.send(Ok(()));
                if let Err(error) = service::run(bus, state, stopped).await {
                    tracing::error!("the simulated BlueZ has ended: {error}");
                }
            });
        })?;
        starting.recv().map_err(io::Error::other)??;
        Ok(Self {
            shared,
            stop: Some(stop),
            thread: Some(thread),
            socket,
        })
    }

    /// The value for a program's `DBUS_SYSTEM_BUS_ADDRESS`.
    pub fn address(&self) -> String {
        self.socket.address()
    }

    /// The handle for injecting faults.
    pub fn control(&self) -> Control {
        Control::new(Arc::clone(&self.shared))
    }

    /// Plugs in another adapter.
    ///
    /// # Errors
    /// The name is taken, or there are too many adapters.
    pub fn add_adapter(&self, name: &str, address: Address) -> Result<(), Unknown> {
        let mut radio = self.shared.radio();
        if radio.adapters.len() >= MAX_RADIOS || radio.adapter(name).is_some() {
            return Err(Unknown);
        }
        let mut adapter = Adapter::new(name, address);
        adapter.present = false;
        radio.adapters.push(adapter);
        drop(radio);
        self.control().plug(name, true)
    }

    /// Puts a phone near an adapter, with packets of at most this many bytes.
    ///
    /// # Errors
    /// The adapter does not exist, the address is taken, or there are too many devices.
    pub fn phone(&self, adapter: &str, address: Address, mtu: u16) -> Result<Phone, Unknown> {
        let handset = self.host(adapter, address, Handset::new(PHONE))?;
        let mut radio = self.shared.radio();
        let at = radio.adapter(adapter).ok_or(Unknown)?.path.clone();
        let (device, _) = radio.device(handset.address()).ok_or(Unknown)?;
        // It does not advertise.
        device.in_range = false;
        let path = device.path.clone();
        radio.offers.add_phone(address, &at, &path, mtu);
        drop(radio);
        Ok(Phone::new(address, Arc::clone(&self.shared)))
    }

    /// Puts a device with a serial port near an adapter, switched on and not paired.
    ///
    /// # Errors
    /// The adapter does not exist, the address is taken, or there are too many devices.
    pub fn serial_device(
        &self,
        adapter: &str,
        address: Address,
        name: &str,
    ) -> Result<SerialDevice, Unknown> {
        self.host(adapter, address, Handset::new(name))?;
        let mut radio = self.shared.radio();
        let (device, _) = radio.device(address).ok_or(Unknown)?;
        let (port, calls) = SerialPort::new();
        device.serial = Some(port);
        drop(radio);
        let shared = Arc::clone(&self.shared);
        Ok(SerialDevice::new(address, shared, calls))
    }

    /// Puts a peripheral near an adapter, switched on.
    ///
    /// # Errors
    /// The adapter does not exist, the address is taken, or there are too many devices.
    pub fn host<P: Peripheral + 'static>(
        &self,
        adapter: &str,
        address: Address,
        peripheral: P,
    ) -> Result<Hosted<P>, Unknown> {
        let peripheral = Arc::new(Mutex::new(peripheral));
        let mut radio = self.shared.radio();
        if radio.device(address).is_some() {
            return Err(Unknown);
        }
        let adapter = radio.adapter(adapter).ok_or(Unknown)?;
        if adapter.devices.len() >= MAX_RADIOS {
            return Err(Unknown);
        }
        let shared: Arc<Mutex<dyn Peripheral>> = peripheral.clone();
        adapter
            .devices
            .push(Device::new(&adapter.path, address, shared));
        drop(radio);
        self.shared.poke.notify_one();
        Ok(Hosted::new(address, peripheral, Arc::clone(&self.shared)))
    }
}

impl Drop for Bluez {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
