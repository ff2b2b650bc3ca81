//! A message for the lamps.

use std::time::Duration;

use shakmaty::Square;

use super::square;

/// How long one flash lasts (protocol notes: about 0.5 s).
const FLASH: Duration = Duration::from_millis(500);
/// How long lamps that pulse together are seen (protocol notes: refresh about every 0.9 s, as they fade; a choice).
const PULSE: Duration = Duration::from_secs(1);
/// The speed that lets all lamps pulse together and fade.
const PULSES: u8 = 0xFF;
/// The mode in which lamps stay on.
const STAYS: u8 = 0;
/// The mode in which lamps flash once.
const FLASHES: u8 = 1;
/// The intensity of lamps that are dark. Of the others a smaller one is brighter.
const DARK: u8 = 0;

/// Which lamps are on, and for how long.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Lamps {
    /// The board's own squares that are lit, in the order of the message.
    pub(super) squares: Vec<Square>,
    /// After this time they go out by themselves.
    pub(super) lasts: Option<Duration>,
}

/// Reads what follows the length; nothing if it is no message for the lamps.
pub(super) fn read(data: &[u8]) -> Option<Lamps> {
    let (speed, mode, intensity, fields) = match data {
        [0, 0] => return Some(Lamps::default()),
        [5, speed, mode, intensity, fields @ .., 0] if !fields.is_empty() => {
            (*speed, *mode, *intensity, fields)
        }
        _ => return None,
    };
    let squares: Option<Vec<Square>> = fields.iter().map(|field| square::of(*field)).collect();
    let squares = squares?;
    let lasts = match (mode, speed) {
        (FLASHES, _) => Some(FLASH),
        (STAYS, PULSES) => Some(PULSE),
        (STAYS, _) => None,
        _ => return None,
    };
    if intensity == DARK {
        return Some(Lamps::default());
    }
    Some(Lamps { squares, lasts })
}
