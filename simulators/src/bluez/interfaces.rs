//! The interfaces by which programs offer something through the service.

/// The interface of an adapter that takes advertisements.
pub(super) const ADVERTISING: &str = "org.bluez.LEAdvertisingManager1";
/// The interface of an adapter that takes applications.
pub(super) const GATT: &str = "org.bluez.GattManager1";
/// The interface that takes profiles.
pub(super) const PROFILES: &str = "org.bluez.ProfileManager1";
/// The object path of that interface.
pub(super) const ROOT: &str = "/org/bluez";
/// Advertisements that an adapter accepts; usual ones accept four or five.
pub(super) const INSTANCES: u8 = 5;
