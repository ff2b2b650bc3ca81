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
        hid::{Device, Roots, devices, ids},
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
    /// Where it is: its socket on USB, its port, its address.
    pub place: String,
    /// It, if it is a HID device.
    pub device: Option<Box<Device>>,
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
    found.extend(on_usb(roots).into_iter().map(|board| Sighting {
        way: Way::Hid(board.id.unwrap_or_default()),
        makes: vec![board.make],
        is_sure: true,
        name: board.device.name.clone(),
        place: board.device.socket.clone(),
        device: Some(Box::new(board.device)),
    }));
    found
}

/// A board on USB that is a HID device.
#[derive(Clone, Debug)]
pub struct OnUsb {
    /// Its make.
    pub make: &'static Identity,
    /// It.
    pub device: Device,
    /// What tells it from the others of its make: its serial number, or its socket. `None`: it is the only one, and has no number.
    pub id: Option<String>,
    /// Whether it is the only one of its make.
    pub is_only: bool,
}

/// The boards on USB that are HID devices. Their numbers say what they are.
pub fn on_usb(roots: &Roots) -> Vec<OnUsb> {
    let devices = devices(roots);
    let of_make = |make: &'static Identity| {
        let of = make.hid();
        let boards = devices
            .iter()
            .filter(|device| of.as_ref().is_some_and(|of| device.is_board(of)));
        let boards: Vec<Device> = boards.cloned().collect();
        let is_only = boards.len() == 1;
        let ids: Vec<String> = ids(&boards).into_iter().map(str::to_owned).collect();
        let one = move |(device, id): (Device, String)| OnUsb {
            make,
            id: Some(id).filter(|_| !is_only || !device.serial.is_empty()),
            device,
            is_only,
        };
        boards.into_iter().zip(ids).map(one)
    };
    MAKES.iter().flat_map(|make| of_make(make)).collect()
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
    let place = port.path.canonicalize();
    Some(Sighting {
        place: place.as_ref().unwrap_or(&port.path).display().to_string(),
        way: Way::Serial(port.name().to_owned()),
        makes,
        is_sure: own.is_some(),
        name: name.unwrap_or_else(|| port.path.display().to_string()),
        device: None,
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
            place: device.address.clone(),
            way,
            makes: vec![make],
            is_sure,
            name: name.to_owned(),
            device: None,
        })
    };
    seen.iter().filter_map(board).collect()
}
