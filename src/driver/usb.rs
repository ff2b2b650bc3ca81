//! By what a make of board is known on USB.

use std::ops::RangeInclusive;

/// What shows that a device on USB may be such a board.
#[derive(Clone, Debug)]
pub enum UsbSign {
    /// The name of its maker and product has this in it, in letters of any case. Only such boards have that.
    Named(&'static str),
    /// Its numbers are of this maker and among these products. Only such boards have them.
    Own(u16, RangeInclusive<u16>),
    /// Its numbers are of this maker and among these products: a general adapter, which many other devices have too.
    Adapter(u16, RangeInclusive<u16>),
}

/// How much a device looks like a board.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Likeness {
    /// It is behind a general adapter: only a question can tell, and it may upset another device.
    Adapter,
    /// It has a name or numbers that only such boards have.
    Own,
}

impl UsbSign {
    /// How much a device with these numbers and this name looks like such a board.
    pub fn likeness(&self, vendor: u16, product: u16, name: &str) -> Option<Likeness> {
        let numbers = |maker: &u16, products: &RangeInclusive<u16>| {
            *maker == vendor && products.contains(&product)
        };
        let (is, likeness) = match self {
            Self::Named(part) => {
                let name = name.to_ascii_lowercase();
                (name.contains(&part.to_ascii_lowercase()), Likeness::Own)
            }
            Self::Own(maker, products) => (numbers(maker, products), Likeness::Own),
            Self::Adapter(maker, products) => (numbers(maker, products), Likeness::Adapter),
        };
        is.then_some(likeness)
    }
}

/// The adapters in common cables: FTDI, Prolific, WCH (CH340, CH341, CH9102), Silicon Labs (`CP210x`). As in
/// `packaging/deb/60-boardbridge.rules`.
pub const CABLES: [UsbSign; 9] = [
    UsbSign::Adapter(0x0403, 0x6001..=0x6001),
    UsbSign::Adapter(0x0403, 0x6010..=0x6010),
    UsbSign::Adapter(0x0403, 0x6014..=0x6015),
    UsbSign::Adapter(0x067b, 0x2303..=0x2303),
    UsbSign::Adapter(0x067b, 0x23a3..=0x23a3),
    UsbSign::Adapter(0x1a86, 0x7523..=0x7523),
    UsbSign::Adapter(0x1a86, 0x5523..=0x5523),
    UsbSign::Adapter(0x1a86, 0x55d4..=0x55d4),
    UsbSign::Adapter(0x10c4, 0xea60..=0xea60),
];

#[cfg(test)]
mod tests {
    use crate::driver::{
        identity::{Identity, Medium},
        registry::MAKES,
        usb::Likeness,
    };

    /// What each make says of a device: those whose own it is, and how many it may be.
    fn like(vendor: u16, product: u16, name: &str) -> (Vec<&'static str>, usize) {
        let likeness = |make: &Identity| make.on_usb(vendor, product, name);
        let own = MAKES
            .iter()
            .filter(|make| likeness(make) == Some(Likeness::Own));
        let own = own.map(|make| make.kind.as_str()).collect();
        let any = MAKES.iter().filter(|make| likeness(make).is_some());
        (own, any.count())
    }

    #[test]
    fn a_board_with_a_name_of_its_own_is_told_from_one_behind_a_general_adapter() {
        // fnogatz/dgtchess, issue 14; its name in /dev/serial/by-id.
        assert_eq!(like(0x045b, 0x8111, "DGT DGT Chessboard"), (vec!["dgt"], 1));
        // The numbers are those of a maker of chips: other devices may have them.
        assert_eq!(like(0x045b, 0x8111, "Thermometer"), (vec![], 1));
        let (own, any) = like(0x0403, 0x6001, "FTDI FT232R USB UART");
        assert!(own.is_empty() && any > 2, "{own:?} {any}");
        assert_eq!(like(0x0403, 0x6001, "Novag CITRINE").0, ["novag-citrine"]);
        for product in [0x8002, 0x8400, 0x8600] {
            assert_eq!(like(0x2d80, product, "").0, ["chessnut"]);
        }
        // An Evo speaks otherwise.
        assert_eq!(like(0x2d80, 0x8300, ""), (vec![], 0));
        assert_eq!(like(0x1d6b, 0x0002, "xHCI Host Controller"), (vec![], 0));
    }

    #[test]
    fn no_two_makes_have_the_same_name_of_their_own() {
        for make in MAKES
            .iter()
            .filter(|make| make.media.contains(&Medium::Serial))
        {
            let names = make
                .usb
                .iter()
                .copied()
                .flatten()
                .filter_map(|sign| match sign {
                    super::UsbSign::Named(name) => Some(*name),
                    _ => None,
                });
            for name in names {
                assert_eq!(like(0, 0, name).0, [make.kind.as_str()]);
            }
        }
    }
}
