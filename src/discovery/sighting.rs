//! A board that is plugged in or in the air, as far as that is known without asking it.

use std::{
    hash::{DefaultHasher, Hash, Hasher as _},
    path::PathBuf,
};

use super::{Port, serial_ports};
use crate::{
    driver::{
        identity::{Identity, Medium},
        registry::MAKES,
        usb::Likeness,
    },
    system::usb::UsbDevice,
    transport::{
        ble::Seen,
        hid::{Roots, devices, ids},
    },
};

/// Ports that are looked at: more than a machine has sockets, with hubs.
pub const MAX_PORTS: usize = 256;

/// How a board is reached, by what stays the same when it is plugged in elsewhere.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Way {
    /// A serial port, by its lasting name if it has one.
    Serial(PathBuf),
    /// A HID device, by its serial number, or by its socket if another has the same; empty if it is the only one and has none: then it
    /// is the same board at any socket.
    Hid(String),
    /// By Bluetooth LE, at this address.
    Ble(String),
    /// By Bluetooth Classic, at this address.
    Rfcomm(String),
}

impl Way {
    /// Its key in the configuration.
    pub fn medium(&self) -> Medium {
        match self {
            Self::Serial(_) => Medium::Serial,
            Self::Hid(_) => Medium::Hid,
            Self::Ble(_) => Medium::Ble,
            Self::Rfcomm(_) => Medium::Rfcomm,
        }
    }

    /// The key within that, and its value.
    pub fn key(&self) -> (&'static str, String) {
        match self {
            Self::Serial(port) => ("port", port.display().to_string()),
            Self::Hid(id) => ("id", id.clone()),
            Self::Ble(address) | Self::Rfcomm(address) => ("address", address.clone()),
        }
    }
}

/// A board that is plugged in or in the air.
#[derive(Clone, Debug)]
pub struct Sighting {
    /// How it is reached.
    pub way: Way,
    /// What it may be; what only one kind is, has one.
    pub makes: Vec<&'static Identity>,
    /// Whether only such a board has this name or these numbers.
    pub is_sure: bool,
    /// What it calls itself. It is whatever the device says.
    pub name: String,
}

impl Sighting {
    /// What names it while it is there.
    pub fn id(&self) -> String {
        let mut hasher = DefaultHasher::new();
        self.way.hash(&mut hasher);
        format!("{:016x}", hasher.finish())
    }
}

/// The make whose own name or numbers a device has.
pub fn own_make(usb: &UsbDevice) -> Option<&'static Identity> {
    let own = |make: &&&Identity| {
        let likeness = make.on_usb(usb.vendor, usb.product, &usb.name);
        likeness == Some(Likeness::Own) && make.media.contains(&Medium::Serial)
    };
    MAKES.iter().find(own).copied()
}

/// A board's make from its name in the air, or from a service that other things have, too: then it is not sure.
pub fn make_on_air(name: &str, device: &Seen) -> Option<(&'static Identity, bool)> {
    // A Chessnut Go writes its name in capitals.
    let begins = |start: &&&str| {
        let beginning = name.get(..start.len());
        beginning.is_some_and(|beginning| beginning.eq_ignore_ascii_case(start))
    };
    let starts = |make: &&Identity| make.radio_names.iter().any(|start| begins(&start));
    let has = |make: &&Identity| {
        make.service
            .is_some_and(|service| device.services.contains(&service))
    };
    let mut makes = MAKES.iter().copied();
    let named = makes.clone().find(starts).map(|make| (make, true));
    named.or_else(|| makes.find(has).map(|make| (make, false)))
}

/// The boards at cables: those that are known by what they are on USB, and any adapter that may have one behind it. A port of
/// the machine itself says nothing.
pub fn at_cables(roots: &Roots) -> Vec<Sighting> {
    let ports = serial_ports(&roots.dev, &roots.sys);
    let ports = ports.iter().take(MAX_PORTS);
    let mut found: Vec<Sighting> = ports.filter_map(at_port).collect();
    let devices = devices(roots);
    for make in MAKES {
        let Some(of) = make.hid() else {
            continue;
        };
        let mut boards = devices.clone();
        boards.retain(|device| device.is_board(&of));
        for (board, id) in boards.iter().zip(ids(&boards)) {
            let is_nameless = boards.len() == 1 && board.serial.is_empty();
            let id = if is_nameless { "" } else { id };
            found.push(Sighting {
                way: Way::Hid(id.to_owned()),
                makes: vec![make],
                is_sure: true,
                name: board.name.clone(),
            });
        }
    }
    found
}

fn at_port(port: &Port) -> Option<Sighting> {
    if port.is_built_in() {
        return None;
    }
    let own = port.usb.as_ref().and_then(own_make);
    let by_cable = |make: &&&Identity| make.media.contains(&Medium::Serial);
    let makes = match own {
        Some(make) => vec![make],
        None => MAKES.iter().filter(by_cable).copied().collect(),
    };
    let name = port.usb.as_ref().map(|usb| usb.name.clone());
    let name = name.filter(|name| !name.is_empty());
    Some(Sighting {
        way: Way::Serial(port.name().to_owned()),
        makes,
        is_sure: own.is_some(),
        name: name.unwrap_or_else(|| port.path.display().to_string()),
    })
}

/// The boards among what was heard in the air.
pub fn in_the_air(seen: &[Seen]) -> Vec<Sighting> {
    let board = |device: &Seen| {
        // A Chessnut Air ends its name with a line feed.
        let name = device.name.as_deref()?.trim();
        let (make, is_sure) = make_on_air(name, device)?;
        let address = device.address.clone();
        let way = if make.media.contains(&Medium::Ble) {
            Way::Ble(address)
        } else {
            Way::Rfcomm(address)
        };
        Some(Sighting {
            way,
            makes: vec![make],
            is_sure,
            name: name.to_owned(),
        })
    };
    seen.iter().filter_map(board).collect()
}
