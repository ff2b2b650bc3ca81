//! A Bluetooth LE peripheral in software, without I/O: what a simulated radio board looks like from outside.
//!
//! Hosts connect it to a radio: a simulated `BlueZ` for tests and the demonstration, or the real one.

use std::time::Instant;

use uuid::Uuid;

/// The operations of a characteristic.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags {
    /// It can be read.
    pub read: bool,
    /// It can be written, with a response.
    pub write: bool,
    /// It can be written without a response too.
    pub write_without_response: bool,
    /// It notifies.
    pub notify: bool,
}

/// One characteristic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Characteristic {
    /// Its UUID.
    pub uuid: Uuid,
    /// Its operations.
    pub flags: Flags,
}

/// One service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Service {
    /// Its UUID.
    pub uuid: Uuid,
    /// Its characteristics.
    pub characteristics: Vec<Characteristic>,
}

/// The profile of a peripheral.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile {
    /// The name in its scan response.
    pub name: String,
    /// The services it advertises.
    pub advertised: Vec<Uuid>,
    /// The manufacturer data that it advertises, with the number of the company.
    pub maker_data: Option<(u16, Vec<u8>)>,
    /// The services it has.
    pub services: Vec<Service>,
}

/// A request is refused with an ATT error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refused;

/// A peripheral in software. See the module documentation.
pub trait Peripheral: Send {
    /// Its profile.
    fn profile(&self) -> &Profile;
    /// A central has connected.
    fn connected(&mut self, now: Instant);
    /// The central has disconnected.
    fn disconnected(&mut self, now: Instant);
    /// The central subscribes or unsubscribes.
    fn subscribed(&mut self, now: Instant, characteristic: Uuid, on: bool);
    /// The central reads.
    ///
    /// # Errors
    /// Reading is not permitted.
    fn read(&mut self, now: Instant, characteristic: Uuid) -> Result<Vec<u8>, Refused>;
    /// The central writes.
    ///
    /// # Errors
    /// Writing, or this value, is not permitted.
    fn write(&mut self, now: Instant, characteristic: Uuid, value: &[u8]) -> Result<(), Refused>;
    /// The time given by [`Self::deadline`] has come.
    fn timeout(&mut self, now: Instant);
    /// When [`Self::timeout`] is to be called next.
    fn deadline(&self) -> Option<Instant>;
    /// The next notification to send.
    fn poll_notify(&mut self) -> Option<(Uuid, Vec<u8>)>;
    /// Whether it has ended the link by itself since this was last asked. The host then ends it.
    fn hangs_up(&mut self) -> bool {
        false
    }
}
