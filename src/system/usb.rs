//! What a device on USB says it is, from sysfs.

use std::{fs::File, io::Read as _, path::Path};

/// Folders between a port or an interface and its device, at most: the kernel has three.
const MAX_UP: usize = 6;
/// Bytes read of one attribute: USB texts have up to 126 characters.
const MAX_ATTRIBUTE: u64 = 512;

/// A device on USB. Its texts are whatever the device says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsbDevice {
    /// The number of the maker, or of whoever made its adapter.
    pub vendor: u16,
    /// The number of the product.
    pub product: u16,
    /// The maker's name and the product's, such as `DGT DGT Chessboard`.
    pub name: String,
    /// Its own number, if it has one.
    pub serial: Option<String>,
}

impl UsbDevice {
    /// The device that has this port: `ttyUSB0`.
    pub fn of_tty(sys: &Path, port: &str) -> Option<Self> {
        Self::above(&sys.join("class/tty").join(port).join("device"))
    }

    /// The device that this folder of sysfs belongs to: of a port, an interface, a hidraw node.
    pub fn above(folder: &Path) -> Option<Self> {
        let folder = folder.canonicalize().ok()?;
        folder.ancestors().take(MAX_UP).find_map(Self::at)
    }

    fn at(folder: &Path) -> Option<Self> {
        let number = |name| u16::from_str_radix(&attribute(folder, name)?, 16).ok();
        let texts = ["manufacturer", "product"].map(|name| attribute(folder, name));
        let texts: Vec<String> = texts.into_iter().flatten().collect();
        Some(Self {
            vendor: number("idVendor")?,
            product: number("idProduct")?,
            name: texts.join(" "),
            serial: attribute(folder, "serial"),
        })
    }
}

fn attribute(folder: &Path, name: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let file = File::open(folder.join(name)).ok()?;
    file.take(MAX_ATTRIBUTE).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).trim().to_owned())
}

#[cfg(all(test, unix))]
mod tests {
    use std::{fs, os::unix::fs::symlink};

    use super::*;

    #[test]
    fn a_port_is_described_by_the_device_that_it_is_on() {
        let sys = tempfile::tempdir().unwrap();
        let device = sys.path().join("devices/usb1/1-1");
        let port = device.join("1-1:1.0/ttyUSB0");
        let class = sys.path().join("class/tty/ttyUSB0");
        fs::create_dir_all(&port).unwrap();
        fs::create_dir_all(&class).unwrap();
        symlink(&port, class.join("device")).unwrap();
        assert_eq!(UsbDevice::of_tty(sys.path(), "ttyUSB0"), None);
        for (name, text) in [
            ("idVendor", "0403\n"),
            ("idProduct", "6001\n"),
            ("manufacturer", "FTDI\n"),
            ("product", "FT232R USB UART\n"),
        ] {
            fs::write(device.join(name), text).unwrap();
        }
        let found = UsbDevice::of_tty(sys.path(), "ttyUSB0").unwrap();
        assert_eq!((found.vendor, found.product), (0x0403, 0x6001));
        assert_eq!(found.name, "FTDI FT232R USB UART");
        // What a device says has no end.
        fs::write(device.join("product"), "x".repeat(100_000)).unwrap();
        let found = UsbDevice::of_tty(sys.path(), "ttyUSB0").unwrap();
        assert!(found.name.len() < 1000);
        // A port of the machine itself.
        assert_eq!(UsbDevice::of_tty(sys.path(), "ttyS0"), None);
    }
}
