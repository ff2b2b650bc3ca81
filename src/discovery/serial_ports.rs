//! Serial ports that may have a board, each with the name to put into the configuration.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use crate::system::usb::UsbDevice;

/// Names of ports, below `/dev`, that a board may be connected to.
const PREFIXES: [&str; 5] = ["ttyUSB", "ttyACM", "ttyAMA", "ttyS", "rfcomm"];
/// Ports of the machine itself.
const BUILT_IN: [&str; 2] = ["ttyAMA", "ttyS"];
/// Ports that are renumbered whenever a cable is plugged in.
const PLUGGED: [&str; 2] = ["ttyUSB", "ttyACM"];

/// A serial port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Port {
    /// `/dev/ttyUSB0`.
    pub path: PathBuf,
    /// The permanent name, if there is one.
    pub lasting: Option<PathBuf>,
    /// Whether that is the name of the socket, not of the connected device.
    pub of_socket: bool,
    /// What is plugged in, if it is on USB.
    pub usb: Option<UsbDevice>,
}

impl Port {
    /// Whether it is one of the machine's own: it is there whether something is connected to it or not.
    pub fn is_built_in(&self) -> bool {
        prefix(&self.path).is_some_and(|prefix| BUILT_IN.contains(&prefix))
    }

    /// What to put into the configuration.
    pub fn name(&self) -> &Path {
        self.lasting.as_deref().unwrap_or(&self.path)
    }
}

/// The ports below this folder, which is `/dev`; the kernel describes them below `sys`.
///
/// An adapter without a serial number has the same name below `serial/by-id` as any other of its make, and only
/// the last one that was plugged in has it. Then one of them has no such name, and that of the others, as far as they may be alike,
/// cannot be relied on.
pub fn serial_ports(dev: &Path, sys: &Path) -> Vec<Port> {
    let by_id = links(&dev.join("serial/by-id"));
    let by_path = links(&dev.join("serial/by-path"));
    let is_port =
        |path: &PathBuf| prefix(path).is_some_and(|prefix| prefix != "ttyS" || is_real(sys, path));
    let ports = entries(dev).into_iter().filter(is_port);
    // Each with what its name leads to, and what is plugged in.
    let ports: Vec<(PathBuf, Option<PathBuf>, Option<UsbDevice>)> = ports
        .map(|path| {
            let target = path.canonicalize().ok();
            let usb = name_of(&path).and_then(|name| UsbDevice::of_tty(sys, name));
            (path, target, usb)
        })
        .collect();
    let find = |links: &BTreeMap<PathBuf, PathBuf>, target: &Option<PathBuf>| {
        links.get(target.as_ref()?).cloned()
    };
    let nameless: Vec<(&str, &Option<UsbDevice>)> = ports
        .iter()
        .filter(|(_, target, _)| find(&by_id, target).is_none())
        .filter_map(|(path, _, usb)| Some((prefix(path)?, usb)))
        .filter(|(prefix, _)| PLUGGED.contains(prefix))
        .collect();
    let named = |(path, target, usb): &(PathBuf, Option<PathBuf>, Option<UsbDevice>)| {
        let is_alike = |other: &Option<UsbDevice>| {
            let both = usb.as_ref().zip(other.as_ref());
            both.is_none_or(|(one, other)| one == other)
        };
        let mut others = nameless.iter();
        let shares = others.any(|(of, other)| prefix(path) == Some(*of) && is_alike(other));
        let by_id = find(&by_id, target).filter(|_| !shares);
        let of_socket = by_id.is_none();
        Port {
            path: path.clone(),
            lasting: by_id.or_else(|| find(&by_path, target)),
            of_socket,
            usb: usb.clone(),
        }
    };
    let listed = ports.iter().filter_map(|(_, target, _)| target.as_ref());
    let listed: BTreeSet<&PathBuf> = listed.collect();
    // A driver may give its ports names that are not known here; what is in that folder is a port.
    let others = by_id.iter().filter(|(target, _)| !listed.contains(target));
    let other = |(target, name): (&PathBuf, &PathBuf)| Port {
        path: target.clone(),
        lasting: Some(name.clone()),
        of_socket: false,
        usb: name_of(target).and_then(|name| UsbDevice::of_tty(sys, name)),
    };
    let all = ports.iter().map(named).chain(others.map(other));
    all.map(|port| Port {
        usb: port.usb.clone().or_else(|| named_by_id(&port)),
        ..port
    })
    .collect()
}

/// What a lasting name says of the device, where the kernel does not: `usb-Novag_Citrine_0042-if00-port0`.
fn named_by_id(port: &Port) -> Option<UsbDevice> {
    let name = name_of(port.lasting.as_deref()?)?.strip_prefix("usb-")?;
    (!port.of_socket).then(|| UsbDevice {
        vendor: 0,
        product: 0,
        name: name.replace('_', " "),
        serial: None,
    })
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let found = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = found.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

/// Links in a folder: their targets, each with the first of its names.
fn links(folder: &Path) -> BTreeMap<PathBuf, PathBuf> {
    let mut links = BTreeMap::new();
    for name in entries(folder) {
        if let Ok(target) = name.canonicalize() {
            links.entry(target).or_insert(name);
        }
    }
    links
}

fn name_of(path: &Path) -> Option<&str> {
    path.file_name()?.to_str()
}

fn prefix(path: &Path) -> Option<&'static str> {
    let name = name_of(path)?;
    PREFIXES.into_iter().find(|prefix| name.starts_with(prefix))
}

/// A PC has `ttyS0` to `ttyS31` whether a socket exists or not: the kernel shows that by the driver's type.
fn is_real(sys: &Path, path: &Path) -> bool {
    let Some(name) = path.file_name() else {
        return false;
    };
    let kind = std::fs::read_to_string(sys.join("class/tty").join(name).join("type"));
    kind.is_ok_and(|kind| kind.trim() != "0")
}

#[cfg(all(test, unix))]
mod tests {
    use std::{fs, io, os::unix::fs::symlink};

    use super::*;

    /// A folder like `/dev`: ports, and their names by id and by path.
    fn dev(
        ports: &[&str],
        by_id: &[(&str, &str)],
        by_path: &[(&str, &str)],
    ) -> io::Result<tempfile::TempDir> {
        let dev = tempfile::tempdir()?;
        for port in ports {
            fs::write(dev.path().join(port), "")?;
        }
        for (folder, links) in [("by-id", by_id), ("by-path", by_path)] {
            let folder = dev.path().join("serial").join(folder);
            fs::create_dir_all(&folder)?;
            for (name, port) in links {
                symlink(Path::new("../..").join(port), folder.join(name))?;
            }
        }
        Ok(dev)
    }

    fn names(dev: &Path) -> Vec<(String, bool)> {
        let ports = serial_ports(dev, Path::new("/no/sys"));
        let inside = |port: &Port| port.name().strip_prefix(dev).ok().map(Path::to_owned);
        let name = |port: &Port| inside(port).unwrap_or_default().display().to_string();
        ports
            .iter()
            .map(|port| (name(port), port.of_socket))
            .collect()
    }

    #[test]
    fn a_port_is_named_by_what_is_plugged_in() {
        let dev = dev(
            &["ttyUSB0", "ttyUSB1", "ttyACM0", "null"],
            &[
                ("usb-FTDI_A1", "ttyUSB1"),
                ("usb-FTDI_B2", "ttyUSB0"),
                ("usb-Arduino", "ttyACM0"),
            ],
            &[
                ("usb-0:1", "ttyUSB0"),
                ("usb-0:2", "ttyUSB1"),
                ("usb-0:3", "ttyACM0"),
            ],
        )
        .unwrap();
        let by_id = |name: &str| (format!("serial/by-id/{name}"), false);
        assert_eq!(
            names(dev.path()),
            [
                by_id("usb-Arduino"),
                by_id("usb-FTDI_B2"),
                by_id("usb-FTDI_A1")
            ]
        );
    }

    #[test]
    fn two_adapters_of_one_name_are_told_apart_by_their_sockets() {
        let dev = dev(
            &["ttyUSB0", "ttyUSB1", "ttyACM0"],
            &[
                ("usb-1a86_USB_Serial", "ttyUSB1"),
                ("usb-Arduino", "ttyACM0"),
            ],
            &[
                ("pci-usb-0:1:1.0", "ttyUSB0"),
                ("pci-usb-0:2:1.0", "ttyUSB1"),
                ("pci-usbv2-0:2:1.0", "ttyUSB1"),
                ("pci-usb-0:3:1.0", "ttyACM0"),
            ],
        )
        .unwrap();
        assert_eq!(
            names(dev.path()),
            [
                ("serial/by-id/usb-Arduino".to_owned(), false),
                ("serial/by-path/pci-usb-0:1:1.0".to_owned(), true),
                ("serial/by-path/pci-usb-0:2:1.0".to_owned(), true),
            ]
        );
    }

    #[test]
    fn a_board_with_a_number_keeps_its_name_beside_two_adapters_that_have_none() {
        let dev = dev(
            &["ttyUSB0", "ttyUSB1", "ttyUSB2"],
            &[
                ("usb-FTDI_A1", "ttyUSB0"),
                ("usb-1a86_USB_Serial", "ttyUSB2"),
            ],
            &[
                ("usb-0:1", "ttyUSB0"),
                ("usb-0:2", "ttyUSB1"),
                ("usb-0:3", "ttyUSB2"),
            ],
        )
        .unwrap();
        let sys = tempfile::tempdir().unwrap();
        let adapter: &[(&str, &str)] = &[("idVendor", "1a86"), ("idProduct", "7523")];
        let board = &[
            ("idVendor", "0403"),
            ("idProduct", "6001"),
            ("serial", "A1"),
        ];
        for (port, attributes) in [
            ("ttyUSB0", &board[..]),
            ("ttyUSB1", adapter),
            ("ttyUSB2", adapter),
        ] {
            let device = sys.path().join("class/tty").join(port).join("device");
            fs::create_dir_all(&device).unwrap();
            for (name, text) in attributes {
                fs::write(device.join(name), text).unwrap();
            }
        }
        let ports = serial_ports(dev.path(), sys.path());
        let of_socket: Vec<bool> = ports.iter().map(|port| port.of_socket).collect();
        assert_eq!(of_socket, [false, true, true]);
    }

    #[test]
    fn a_port_without_a_lasting_name_has_its_own() {
        let dev = dev(&["ttyUSB0", "ttyAMA0"], &[], &[]).unwrap();
        let own = |name: &str| (name.to_owned(), true);
        assert_eq!(names(dev.path()), [own("ttyAMA0"), own("ttyUSB0")]);
    }
}
