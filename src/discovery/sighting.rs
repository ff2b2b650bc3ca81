//! A board that is plugged in or in the air, as far as that is known without asking it.

use std::{
    collections::HashMap,
    hash::{BuildHasher, DefaultHasher, Hash, Hasher as _},
    path::PathBuf,
};

use uuid::Uuid;

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

/// What a device in the air may be: the make whose name it has, or else whose manufacturer data, which is sure, or every make with a
/// service that it offers. A device without a name is known by its manufacturer data only.
pub fn makes_on_air(
    name: &str,
    services: &[Uuid],
    maker_data: &HashMap<u16, Vec<u8>, impl BuildHasher>,
) -> (Vec<&'static Identity>, bool) {
    // A Chessnut Go writes its name in capitals.
    let begins = |start: &&str| {
        let beginning = name.get(..start.len());
        beginning.is_some_and(|beginning| beginning.eq_ignore_ascii_case(start))
    };
    let starts = |make: &&Identity| {
        make.radio_names.iter().any(begins) && !make.other_radio_names.iter().any(begins)
    };
    // Its owner may have renamed it.
    let is_other = |make: &&Identity| make.other_radio_names.iter().any(begins);
    let marked = |make: &&Identity| {
        let has = |(company, start): &(u16, &[u8])| {
            let data = maker_data.get(company);
            data.is_some_and(|data| data.starts_with(start))
        };
        make.maker_data.iter().any(has) && !is_other(make)
    };
    let has = |make: &&Identity| {
        let service = make.service;
        !name.is_empty() && service.is_some_and(|service| services.contains(&service))
    };
    let makes = MAKES.iter().copied();
    let sure = makes.clone().find(starts);
    match sure.or_else(|| makes.clone().find(marked)) {
        Some(make) => (vec![make], true),
        None => (makes.filter(has).collect(), false),
    }
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
        let name = device.name.as_deref().unwrap_or_default().trim();
        let (makes, is_sure) = makes_on_air(name, &device.services, &device.maker_data);
        let make = makes.first()?;
        let name = if name.is_empty() { make.title } else { name };
        let address = device.address.clone();
        let way = if make.media.contains(&Medium::Ble) {
            Way::Ble(address)
        } else {
            Way::Rfcomm(address)
        };
        Some(Sighting {
            place: device.address.clone(),
            way,
            makes,
            is_sure,
            name: name.to_owned(),
            device: None,
        })
    };
    seen.iter().filter_map(board).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::swpp::NORDIC_UART;

    fn kinds(
        name: &str,
        services: &[Uuid],
        maker_data: &[(u16, &[u8])],
    ) -> (Vec<&'static str>, bool) {
        let data = maker_data.iter();
        let data = data.map(|(company, data)| (*company, data.to_vec()));
        let (makes, is_sure) = makes_on_air(name, services, &data.collect::<HashMap<_, _>>());
        let kinds = makes.iter().map(|make| make.kind.as_str());
        (kinds.collect(), is_sure)
    }

    #[test]
    fn a_chessnut_that_was_renamed_is_known_by_its_manufacturer_data() {
        const MAKER: u16 = 0x4450;
        let chessnut = (vec!["chessnut"], true);
        let known = |name, data: &[(u16, &[u8])]| kinds(name, &[], data);
        for name in ["Grandma's board", ""] {
            for data in [b"CS\x80", b"CS\x81", b"CS\x82", b"CS\x85"] {
                assert_eq!(known(name, &[(MAKER, data)]), chessnut, "{name} {data:?}");
            }
            assert_eq!(known(name, &[(MAKER, b"CS\x85\x01\x02")]), chessnut);
            // Another maker's, another device of this one, the Evo, and what was cut off.
            for data in [
                (0x004c, &b"CS\x80"[..]),
                (MAKER, b"\x80"),
                (MAKER, b"CS\x83"),
                (MAKER, b"CS"),
                (MAKER, b""),
            ] {
                assert_eq!(known(name, &[data]), (vec![], false), "{name} {data:?}");
            }
        }
        // The maker lets the name win, too.
        let data: &[(u16, &[u8])] = &[(MAKER, b"CS\x80")];
        assert_eq!(known("Chessnut Evo", data), (vec![], false));
        assert_eq!(known("DGT_PEGASUS_1", data), (vec!["dgt-pegasus"], true));
        assert_eq!(known("Chessnut Air", &[(MAKER, b"CS\x83")]), chessnut);
        // One without a name is not every device that has a serial service.
        assert_eq!(kinds("", &NORDIC_UART[..1], &[]), (vec![], false));
    }

    #[test]
    fn a_board_that_was_renamed_may_be_any_that_has_its_service() {
        let kinds = |name: &str, services: &[Uuid]| kinds(name, services, &[]);
        let uart = &NORDIC_UART[..1];
        assert_eq!(kinds("DGT_PEGASUS_1", uart), (vec!["dgt-pegasus"], true));
        let either = vec!["swpp", "dgt-pegasus"];
        assert_eq!(kinds("Grandma's board", uart), (either, false));
        assert_eq!(kinds("Grandma's board", &[]), (vec![], false));
        for name in ["Chessnut Air+", "Chessnut GO", "CHESSNUT", "chessnut X1"] {
            assert_eq!(kinds(name, &[]), (vec!["chessnut"], true), "{name}");
        }
        for name in ["Chessnut Evo", "CHESSNUT EVO 2"] {
            assert_eq!(kinds(name, &[]), (vec![], false), "{name}");
        }
    }
}
