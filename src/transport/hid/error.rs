//! What can go wrong with a board on USB that is a HID device, and what the player can do about it.

use std::{io, path::PathBuf};

use thiserror::Error;

use crate::system::holders::Holder;

/// Why a HID device cannot be used as a board.
#[derive(Debug, Error)]
pub enum HidError {
    /// No such board is plugged in.
    #[error(
        "no {title} is plugged in: is it switched on, and does its cable carry data? Some only charge"
    )]
    NonePlugged {
        /// What to call one.
        title: &'static str,
    },
    /// Such boards are plugged in, and not the one that is named.
    #[error("{wanted} is not plugged in: `boardbridge scan` shows those that are ({others})")]
    Another {
        /// Its serial number or socket, as configured.
        wanted: String,
        /// Those of the others.
        others: String,
    },
    /// Several are plugged in, and nothing says which is meant.
    #[error("several of {title} are plugged in: write hid = {{ id = \"…\" }} with one of {ids}")]
    Several {
        /// What to call one.
        title: &'static str,
        /// Their serial numbers or sockets.
        ids: String,
    },
    /// There is no file of this name.
    #[error("there is no {}: is the board plugged in? `boardbridge scan` shows it", .path.display())]
    Missing {
        /// The file.
        path: PathBuf,
    },
    /// It is no HID device.
    #[error("{} is not a HID device: `boardbridge scan` shows the boards' lines", .path.display())]
    NoHid {
        /// The file.
        path: PathBuf,
    },
    /// It is a device of another make.
    #[error("{} is not a {title} but \"{name}\": `boardbridge scan` shows the boards' lines", .path.display())]
    Stranger {
        /// The file.
        path: PathBuf,
        /// What to call a board.
        title: &'static str,
        /// What the device calls itself.
        name: String,
    },
    /// It has the board's numbers, and not what it speaks on.
    #[error(
        "{} has the numbers of a {title}, but is not the interface that a board speaks on: leave out `path`, and it is found", .path.display()
    )]
    WrongInterface {
        /// The file.
        path: PathBuf,
        /// What to call a board.
        title: &'static str,
    },
    /// This user may not open it.
    #[error(
        "{} cannot be opened by this user. The package's udev rule allows it; otherwise copy 60-boardbridge.rules to \
         /etc/udev/rules.d, run `sudo udevadm control --reload`, and plug the board in again. The user must be in the group dialout",
        .path.display()
    )]
    Denied {
        /// The file.
        path: PathBuf,
    },
    /// The service may not open it.
    #[error(
        "the service may not open {}. The package's udev rule allows it; otherwise copy 60-boardbridge.rules to /etc/udev/rules.d, run \
         `sudo udevadm control --reload`, and plug the board in again",
        .path.display()
    )]
    DeniedToService {
        /// The file.
        path: PathBuf,
    },
    /// Another daemon uses it.
    #[error("{} is in use by another BoardBridge{}: stop that first", .path.display(), named(.holder.as_ref()))]
    Busy {
        /// The file.
        path: PathBuf,
        /// Which program, if this user may know.
        holder: Option<Holder>,
    },
    /// This process is still closing it.
    #[error("the board is still being closed: if this lasts, unplug it for a moment")]
    Closing,
    /// Anything else.
    #[error("{} cannot be opened: {source}", .path.display())]
    Other {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
}

impl HidError {
    /// Whether the board is only not there: it can be plugged in later.
    pub fn is_away(&self) -> bool {
        matches!(
            self,
            Self::NonePlugged { .. } | Self::Another { .. } | Self::Missing { .. }
        )
    }
}

fn named(holder: Option<&Holder>) -> String {
    holder.map_or(String::new(), |holder| format!(", {holder}"))
}
