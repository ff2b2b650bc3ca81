//! A place on the table, in the coordinates of the paths: a1 is 0,0 and h8 is 7,7 (document, characteristic f9664d70).

use std::fmt;

use shakmaty::{File, Rank, Square};

/// The columns beside the board where a piece may be parked: 8 is verified on a Neo (`8,3`), the others on a sister board
/// (field notes).
pub const PARKING: [i8; 4] = [-2, -1, 8, 9];

/// A square, or a parking place beside the board.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Spot {
    /// The file from 0, or a column beside the board.
    pub x: i8,
    /// The rank from 0.
    pub y: i8,
}

impl Spot {
    /// The spot nearest to these coordinates, if it is within `reach` on both axes and a piece may stand there.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "bounds are checked before the cast"
    )]
    pub fn near(x: f64, y: f64, reach: f64) -> Option<Self> {
        let (column, row) = (x.round(), y.round());
        let off = (x - column).abs().max((y - row).abs());
        if off > reach || column.abs() > 9.0 || row.abs() > 9.0 {
            return None;
        }
        let spot = Self {
            x: column as i8,
            y: row as i8,
        };
        let column = (0..8).contains(&spot.x) || PARKING.contains(&spot.x);
        (column && (0..8).contains(&spot.y)).then_some(spot)
    }

    /// The square, unless it is a parking place.
    pub fn square(self) -> Option<Square> {
        let file = File::try_from(u32::try_from(self.x).ok()?).ok()?;
        let rank = Rank::try_from(u32::try_from(self.y).ok()?).ok()?;
        Some(Square::from_coords(file, rank))
    }

    /// Its centre.
    pub fn centre(self) -> (f64, f64) {
        (f64::from(self.x), f64::from(self.y))
    }
}

impl From<Square> for Spot {
    fn from(square: Square) -> Self {
        let (file, rank) = (u32::from(square.file()), u32::from(square.rank()));
        Self {
            x: i8::try_from(file).unwrap_or_default(),
            y: i8::try_from(rank).unwrap_or_default(),
        }
    }
}

impl fmt::Display for Spot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.square() {
            Some(square) => square.fmt(f),
            None => write!(f, "({},{})", self.x, self.y),
        }
    }
}
