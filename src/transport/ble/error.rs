//! What can go wrong with Bluetooth, and what the player can do about it.

use std::fs;

use thiserror::Error;

use super::Wanted;

/// Why a board cannot be reached over Bluetooth.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum BleError {
    /// The Bluetooth service is not running.
    #[error(
        "Bluetooth does not answer ({0}): is it installed and running? `sudo apt install bluez`, then `sudo systemctl \
         start bluetooth`"
    )]
    NoBluetooth(String),
    /// The service runs, but there is no such adapter.
    #[error("{}", no_adapter(.wanted.as_deref(), .there))]
    NoAdapter {
        /// The one asked for.
        wanted: Option<String>,
        /// The adapters found.
        there: Vec<String>,
    },
    /// The adapter is switched off.
    #[error(
        "Bluetooth is off ({adapter}): switch it on, for instance with `bluetoothctl power on` or `rfkill unblock bluetooth`"
    )]
    Off {
        /// Which one.
        adapter: String,
    },
    /// This user may not use Bluetooth.
    #[error(
        "this user is not allowed to use Bluetooth: add it to the group bluetooth (`sudo usermod -aG bluetooth \
         USER`) and log in again"
    )]
    NotAllowed,
    /// The board was not seen.
    #[error("{wanted} was not found: is it switched on, in reach, and not connected to an app? {}", seen_instead(.seen))]
    NotFound {
        /// Which board.
        wanted: Wanted,
        /// What was seen.
        seen: Vec<String>,
    },
    /// Another board has the device.
    #[error(
        "{address} is already connected as another board: give each board an address of its own"
    )]
    Taken {
        /// The device's.
        address: String,
    },
    /// The board was seen, but refuses the connection.
    #[error(
        "{name} cannot be connected ({why}): switch it off and on, and close other apps that use it"
    )]
    Connect {
        /// The board.
        name: String,
        /// What the system says.
        why: String,
        /// Whether it was connected, and is no longer.
        linked: bool,
    },
    /// The board is connected, but its services are unknown.
    #[error(
        "{name} is connected, but Bluetooth does not tell its services; this is tried again. If it goes on, restart \
         Bluetooth: `sudo systemctl restart bluetooth`"
    )]
    NoServices {
        /// The board.
        name: String,
    },
}

impl BleError {
    /// Whether the board was connected for a while.
    pub fn was_linked(&self) -> bool {
        matches!(
            self,
            Self::Connect { linked: true, .. } | Self::NoServices { .. }
        )
    }
}

fn no_adapter(wanted: Option<&str>, there: &[String]) -> String {
    match wanted {
        Some(wanted) if !there.is_empty() => format!(
            "there is no Bluetooth adapter {wanted}: write adapter = \"{}\" or leave it out",
            there.join("\" or \"")
        ),
        _ => {
            "this machine has no Bluetooth adapter: plug one in, or check `rfkill list` and `dmesg`"
                .to_owned()
        }
    }
}

fn seen_instead(seen: &[String]) -> String {
    match seen {
        [] => "No other device was seen.".to_owned(),
        seen => format!("These were seen: {}.", seen.join(", ")),
    }
}

/// The adapters that the kernel knows.
const ADAPTERS: &str = "/sys/class/bluetooth";
/// D-Bus errors that mean that this user may not use Bluetooth.
const DENIED: [&str; 3] = ["AccessDenied", "NotAuthorized", "NotPermitted"];
/// D-Bus errors that mean that the service is not running, although the bus is.
const NO_SERVICE: [&str; 2] = ["ServiceUnknown", "NameHasNoOwner"];

/// Whether it is a D-Bus error of one of these names.
fn is_one_of(error: &btleplug::Error, names: &[&str]) -> bool {
    // The error shows its name only in its text.
    let shown = format!("{error:?}");
    names.iter().any(|name| shown.contains(name))
}

/// Whether the bus answered with an error: the connection to it is alive.
pub(super) fn is_answer(error: &btleplug::Error) -> bool {
    is_one_of(error, &DENIED) || is_one_of(error, &NO_SERVICE)
}

/// Translates an error of the Bluetooth service that concerns no board.
pub(crate) fn session(error: &btleplug::Error) -> BleError {
    if is_one_of(error, &DENIED) {
        BleError::NotAllowed
    } else {
        unanswered(error.to_string())
    }
}

/// The error if the Bluetooth service does not run: on a machine without an adapter it is not even started.
pub(crate) fn unanswered(why: String) -> BleError {
    // Another bus than the system's has adapters of its own.
    let other_bus = std::env::var_os("DBUS_SYSTEM_BUS_ADDRESS").is_some();
    let adapters = fs::read_dir(ADAPTERS).into_iter().flatten().flatten();
    if other_bus || adapters.count() > 0 {
        BleError::NoBluetooth(why)
    } else {
        BleError::NoAdapter {
            wanted: None,
            there: Vec::new(),
        }
    }
}

/// Translates an error while connecting.
pub(super) fn connect(name: &str, error: &btleplug::Error) -> BleError {
    match session(error) {
        BleError::NotAllowed => BleError::NotAllowed,
        _ => BleError::Connect {
            name: name.to_owned(),
            why: error.to_string(),
            linked: false,
        },
    }
}
