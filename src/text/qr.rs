//! A text as a QR code: for a terminal, and as a path of SVG.

use std::fmt::{self, Write as _};

use qrcodegen::{QrCode, QrCodeEcc};

/// Light modules that a reader needs around the code, by its standard (ISO/IEC 18004).
pub const QUIET: i32 = 4;

/// A QR code.
pub struct Qr(QrCode);

impl Qr {
    /// The smallest one with this text; `None` if none has room for it.
    pub fn of(text: &str) -> Option<Self> {
        QrCode::encode_text(text, QrCodeEcc::Low).ok().map(Self)
    }

    /// Modules of a side.
    pub fn size(&self) -> i32 {
        self.0.size()
    }

    /// The dark modules as a path of SVG, each one unit wide.
    pub fn path(&self) -> String {
        let mut path = String::new();
        for y in 0..self.size() {
            let mut x = 0;
            while x < self.size() {
                let dark = (x..self.size()).take_while(|&x| self.0.get_module(x, y));
                let run = i32::try_from(dark.count()).unwrap_or(0);
                if run > 0 {
                    // Writing to a string does not fail.
                    let _ = write!(path, "M{x} {y}h{run}v1h-{run}z");
                }
                x += run.max(1);
            }
        }
        path
    }
}

impl fmt::Display for Qr {
    /// Two rows of modules in a line; the light ones are filled, as most terminals are dark.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = -QUIET..self.size() + QUIET;
        for y in all.clone().step_by(2) {
            let line = all.clone().map(|x| {
                let below = y + 1 < all.end && !self.0.get_module(x, y + 1);
                match (!self.0.get_module(x, y), below) {
                    (true, true) => '█',
                    (true, false) => '▀',
                    (false, true) => '▄',
                    (false, false) => ' ',
                }
            });
            writeln!(f, "{}", line.collect::<String>())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINK: &str = "http://192.168.178.100:9660/#pair=123456";

    #[test]
    fn a_link_fits_a_terminal_and_has_the_same_modules_in_both_forms() {
        let qr = Qr::of(LINK).unwrap();
        let text = qr.to_string();
        assert_eq!(qr.size(), 29, "37 columns, 19 lines");
        assert_eq!(text.lines().count(), 19);
        assert!(text.lines().all(|line| line.chars().count() == 37));
        // Modules that the path darkens, and those that the text leaves dark within the code.
        let runs = qr.path();
        let runs = runs.split('h').skip(1).step_by(2);
        let dark: i32 = runs
            .map(|run| run.split('v').next().unwrap().parse::<i32>().unwrap())
            .sum();
        let of = |c: char| text.matches(c).count();
        let light = 2 * of('█') + of('▀') + of('▄');
        assert_eq!(usize::try_from(dark).unwrap(), 37 * 37 - light);
    }

    #[test]
    fn a_text_that_has_no_room_has_no_code() {
        assert!(Qr::of(&"x".repeat(4000)).is_none());
    }
}
