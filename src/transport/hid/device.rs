//! The HID devices of this machine, as the kernel lists them.
//!
//! `/sys/class/hidraw/hidrawN/device` has two files: `uevent` with the numbers and names, and `report_descriptor`. Reading them needs
//! neither rights nor a library; libudev would read the same files.

use std::{
    fs::{self, File},
    io::Read as _,
    path::{Path, PathBuf},
};

use super::descriptor::usage_pages;
use crate::vocabulary::HidBoards;

/// The longest file read here, in bytes: a report descriptor (`HID_MAX_DESCRIPTOR_SIZE` in Linux's `hid.h`).
const MAX_FILE: u64 = 4096;
/// Devices that are looked at: Linux has at most this many (`HIDRAW_MAX_DEVICES` in its `hidraw.h`).
const MAX_DEVICES: usize = 64;

/// Where the kernel shows its devices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Roots {
    /// `/sys`.
    pub sys: PathBuf,
    /// `/dev`.
    pub dev: PathBuf,
}

impl Default for Roots {
    fn default() -> Self {
        Self {
            sys: "/sys".into(),
            dev: "/dev".into(),
        }
    }
}

/// A HID device, or one interface of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Device {
    /// `/dev/hidraw3`.
    pub path: PathBuf,
    /// Its vendor's number.
    pub vendor: u16,
    /// Its product number.
    pub product: u16,
    /// What it calls itself.
    pub name: String,
    /// Its serial number; empty if it has none.
    pub serial: String,
    /// The socket that it is plugged into, such as `usb-0000:00:14.0-2`.
    pub socket: String,
    /// The usage pages of this interface.
    pub usage_pages: Vec<u16>,
}

impl Device {
    /// Whether it is a board of these, or another interface of one.
    pub fn is_of(&self, boards: &HidBoards) -> bool {
        boards.has(self.vendor, self.product)
    }

    /// Whether this is its serial number, its socket or its file, or a link to that.
    pub fn is_named(&self, name: &str) -> bool {
        let leads_here = || {
            let there = Path::new(name).canonicalize();
            there.is_ok_and(|there| self.path.canonicalize().is_ok_and(|path| path == there))
        };
        [&*self.serial, &*self.socket].contains(&name) || leads_here()
    }

    /// Whether it is the interface that such a board speaks on.
    pub fn is_board(&self, boards: &HidBoards) -> bool {
        self.is_of(boards) && self.usage_pages.contains(&boards.usage_page)
    }
}

/// All of them, in the order of their numbers.
pub fn devices(roots: &Roots) -> Vec<Device> {
    let class = fs::read_dir(roots.sys.join("class/hidraw"));
    let names = class.into_iter().flatten().flatten().take(MAX_DEVICES);
    let mut numbers: Vec<u32> = names
        .filter_map(|name| {
            name.file_name()
                .to_str()?
                .strip_prefix("hidraw")?
                .parse()
                .ok()
        })
        .collect();
    numbers.sort_unstable();
    let devices = numbers.into_iter();
    devices.filter_map(|number| device(roots, number)).collect()
}

/// One device. `None`: it has gone meanwhile.
fn device(roots: &Roots, number: u32) -> Option<Device> {
    let name = format!("hidraw{number}");
    let folder = roots.sys.join("class/hidraw").join(&name).join("device");
    let uevent = String::from_utf8_lossy(&read(&folder.join("uevent"))?).into_owned();
    let value = |key: &str| {
        let mut lines = uevent.lines();
        let found = lines.find_map(|line| line.strip_prefix(key)?.strip_prefix('='));
        found.unwrap_or_default().trim().to_owned()
    };
    // Bus, vendor and product, in hexadecimal: `0003:00002D80:00008001`.
    let id = value("HID_ID");
    let mut numbers = id.split(':').skip(1);
    let mut number = || {
        let number = u32::from_str_radix(numbers.next()?, 16).ok()?;
        u16::try_from(number).ok()
    };
    let (vendor, product) = (number()?, number()?);
    let phys = value("HID_PHYS");
    // `usb-0000:00:14.0-2/input1`: the interfaces of a device are in one socket.
    let socket = phys.split_once('/').map_or(&*phys, |(socket, _)| socket);
    Some(Device {
        path: roots.dev.join(name),
        vendor,
        product,
        name: value("HID_NAME"),
        serial: value("HID_UNIQ"),
        socket: socket.to_owned(),
        usage_pages: usage_pages(&read(&folder.join("report_descriptor"))?),
    })
}

fn read(path: &Path) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let file = File::open(path).ok()?.take(MAX_FILE);
    { file }.read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

/// What tells each of these boards from the others: its serial number, or its socket if it has none, or another has the same.
pub fn ids(boards: &[Device]) -> Vec<&str> {
    let unique = |serial: &str| boards.iter().filter(|board| board.serial == serial).count() == 1;
    let id = |board: &'_ Device| !board.serial.is_empty() && unique(&board.serial);
    boards
        .iter()
        .map(|board| {
            if id(board) {
                &*board.serial
            } else {
                &*board.socket
            }
        })
        .collect()
}
