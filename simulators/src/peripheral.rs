//! A Bluetooth LE peripheral in software, without I/O: what a simulated radio board looks like from outside.
//!
//! Hosts give it a radio: a `BlueZ` made of D-Bus for tests and the demonstration, or the real one.

use std::time::Instant;

use uuid::Uuid;

/// What may be done with a characteristic.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags {
    /// It can be read.
    pub read: bool,
    /// It can be written, with a response.
    pub write: bool,
    /// It notifies.
    pub notify: bool,
}

/// One characteristic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Characteristic {
    /// Its name on the air.
    pub uuid: Uuid,
    /// What may be done with it.
    pub flags: Flags,
}

/// One service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Service {
    /// Its name on the air.
    pub uuid: Uuid,
    /// What it consists of.
    pub characteristics: Vec<Characteristic>,
}

/// What a peripheral is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile {
    /// The name in its scan response.
    pub name: String,
    /// The services it advertises.
    pub advertised: Vec<Uuid>,
    /// The services it has.
    pub services: Vec<Service>,
}

/// A request is refused with an ATT error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refused;

/// A peripheral in software. See the module's introduction.
pub trait Peripheral: Send {
    /// What it is.
    fn profile(&self) -> &Profile;
    /// A central has connected.
    fn connected(&mut self, now: Instant);
    /// The central is gone.
    fn disconnected(&mut self, now: Instant);
    /// The central wants notifications of a characteristic, or wants them no more.
    fn subscribed(&mut self, now: Instant, characteristic: Uuid, on: bool);
    /// The central reads.
    ///
    /// # Errors
    /// It may not.
    fn read(&mut self, now: Instant, characteristic: Uuid) -> Result<Vec<u8>, Refused>;
    /// The central writes.
    ///
    /// # Errors
    /// It may not, or not this.
    fn write(&mut self, now: Instant, characteristic: Uuid, value: &[u8]) -> Result<(), Refused>;
    /// The time given by [`Self::deadline`] has come.
    fn timeout(&mut self, now: Instant);
    /// When [`Self::timeout`] is to be called next.
    fn deadline(&self) -> Option<Instant>;
    /// The next notification to send.
    fn poll_notify(&mut self) -> Option<(Uuid, Vec<u8>)>;
}
