//! The slots beside the board for captured pieces.

use std::fmt;

use serde::{Deserialize, Serialize};
use shakmaty::Piece;

/// The columns used unless the configuration says otherwise, the best first.
///
/// `8,3` is the only slot a Neo was seen to reach; a sister board uses these four columns. More of them are untested on
/// a Neo.
pub const DEFAULT_COLUMNS: [i8; 4] = [8, -1, 9, -2];

/// The leftmost column that a known board of this family uses. Slots further out are not accepted.
pub const LEFTMOST: i8 = -2;

/// The rightmost column that a known board of this family uses.
pub const RIGHTMOST: i8 = 9;

/// Rows of a column, the best first: outward from `8,3`, which was seen to work.
const ROWS: [i8; 8] = [3, 4, 2, 5, 1, 6, 0, 7];

/// A place for one piece beside the board.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Slot {
    column: i8,
    row: i8,
}

impl Slot {
    /// Counted like files from a = 0: 8 is the column to the right of the h file, -1 the one to the left of a.
    pub fn column(self) -> i8 {
        self.column
    }

    /// Counted like ranks from the first = 0.
    pub fn row(self) -> i8 {
        self.row
    }
}

impl fmt::Display for Slot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{},{}", self.column, self.row)
    }
}

/// The slots of a board, and the piece in each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parking {
    /// The best first.
    slots: Vec<Slot>,
    /// In the order in which they came.
    standing: Vec<(Slot, Piece)>,
    /// Slots that may hold an unknown piece.
    blocked: Vec<Slot>,
}

/// What stands beside the board.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SavedParking {
    /// Each slot with its piece, by its letter in a FEN.
    standing: Vec<(Slot, char)>,
    blocked: Vec<Slot>,
}

impl Default for Parking {
    fn default() -> Self {
        Self::new(&DEFAULT_COLUMNS)
    }
}

impl Parking {
    /// Empty slots in these columns, the best first. A column that is on the board, out of reach
    /// ([`LEFTMOST`], [`RIGHTMOST`]) or listed before is ignored.
    pub fn new(columns: &[i8]) -> Self {
        let mut slots: Vec<Slot> = Vec::with_capacity(columns.len() * ROWS.len());
        for &column in columns {
            let beside = (LEFTMOST..0).contains(&column) || (8..=RIGHTMOST).contains(&column);
            if beside && slots.iter().all(|slot| slot.column != column) {
                slots.extend(ROWS.map(|row| Slot { column, row }));
            }
        }
        Self {
            slots,
            standing: Vec::new(),
            blocked: Vec::new(),
        }
    }

    /// What stands beside the board, as it is kept through a restart of the daemon.
    pub fn memory(&self) -> SavedParking {
        let letters = self.standing.iter();
        SavedParking {
            standing: letters.map(|(slot, p)| (*slot, p.char())).collect(),
            blocked: self.blocked.clone(),
        }
    }

    /// Restores the pieces beside the board after a restart of the daemon.
    pub fn recall(&mut self, memory: SavedParking) {
        self.clear();
        for (slot, letter) in memory.standing {
            match Piece::from_char(letter) {
                Some(piece) => self.put(slot, piece),
                None => continue,
            };
        }
        let known = memory.blocked.into_iter();
        self.blocked = known.filter(|slot| self.slots.contains(slot)).collect();
        self.blocked.truncate(self.slots.len());
    }

    /// All slots, the best first.
    pub fn slots(&self) -> &[Slot] {
        &self.slots
    }

    /// The empty slots, the best first.
    pub fn free(&self) -> impl Iterator<Item = Slot> + '_ {
        let free = |slot: &Slot| self.piece_at(*slot).is_none() && !self.blocked.contains(slot);
        self.slots.iter().copied().filter(free)
    }

    /// The pieces beside the board, in the order in which they came.
    pub fn standing(&self) -> &[(Slot, Piece)] {
        &self.standing
    }

    /// The piece in this slot.
    pub fn piece_at(&self, slot: Slot) -> Option<Piece> {
        let (_, piece) = self.standing.iter().find(|(at, _)| *at == slot)?;
        Some(*piece)
    }

    /// The slot of such a piece: the last one parked, which is the one that a take-back needs.
    pub fn find(&self, piece: Piece) -> Option<Slot> {
        let (slot, _) = self.standing.iter().rfind(|(_, p)| *p == piece)?;
        Some(*slot)
    }

    /// Puts a piece into a slot. `false`: this board has no such slot, or it is occupied.
    pub fn put(&mut self, slot: Slot, piece: Piece) -> bool {
        let taken = self.piece_at(slot).is_some() || self.blocked.contains(&slot);
        let fits = self.slots.contains(&slot) && !taken;
        if fits {
            self.standing.push((slot, piece));
        }
        fits
    }

    /// Removes the piece from this slot.
    pub fn take(&mut self, slot: Slot) -> Option<Piece> {
        let at = self.standing.iter().position(|(s, _)| *s == slot)?;
        Some(self.standing.remove(at).1)
    }

    /// The player may have taken such a piece: the last one parked may or may not be in its slot still.
    pub fn doubt(&mut self, piece: Piece) {
        if let Some(slot) = self.find(piece) {
            self.take(slot);
            self.blocked.push(slot);
        }
    }

    /// Removes all pieces, as when the player sets up a new game.
    pub fn clear(&mut self) {
        self.standing.clear();
        self.blocked.clear();
    }

    /// The game found on the board lacks `missing` pieces: they may be in the best slots, in unknown order.
    pub fn block(&mut self, missing: usize) {
        self.clear();
        self.blocked = self.slots.iter().take(missing).copied().collect();
    }

    /// Every slot through which no piece may be carried.
    pub fn taken(&self) -> impl Iterator<Item = Slot> + '_ {
        let standing = self.standing.iter().map(|(slot, _)| *slot);
        standing.chain(self.blocked.iter().copied())
    }

    /// The leftmost and the rightmost column of the motor's reach: the board's and those with slots.
    pub fn reach(&self) -> (i8, i8) {
        let columns = self.slots.iter().map(|slot| slot.column);
        columns.fold((0, 7), |(left, right), c| (left.min(c), right.max(c)))
    }
}

#[cfg(test)]
mod tests {
    use shakmaty::{Color, Role};

    use super::*;

    #[test]
    fn the_slot_seen_to_work_comes_first() {
        let parking = Parking::default();
        let first: Vec<String> = parking.free().take(9).map(|s| s.to_string()).collect();
        assert_eq!(
            first.join(" "),
            "8,3 8,4 8,2 8,5 8,1 8,6 8,0 8,7 -1,3",
            "the order of preference"
        );
        assert_eq!(parking.slots().len(), 32);
        assert_eq!(parking.reach(), (-2, 9));
    }

    #[test]
    fn a_column_that_is_none_has_no_slots() {
        let parking = Parking::new(&[8, 3, 8, 10, -3, i8::MIN, i8::MAX]);
        assert_eq!(parking.slots().len(), 8);
        assert_eq!(parking.reach(), (0, 8));
        assert_eq!(Parking::new(&[]).reach(), (0, 7));
    }

    #[test]
    fn a_slot_holds_one_piece_and_the_last_of_a_kind_is_found_first() {
        let mut parking = Parking::new(&[8]);
        let pawn = Role::Pawn.of(Color::White);
        let [one, two] = [parking.slots()[0], parking.slots()[1]];
        assert!(parking.put(one, pawn));
        assert!(!parking.put(one, pawn));
        assert!(parking.put(two, pawn));
        assert_eq!(parking.find(pawn), Some(two));
        assert_eq!(parking.take(two), Some(pawn));
        assert_eq!(parking.take(two), None);
        assert_eq!(parking.find(pawn), Some(one));
        assert_eq!(parking.find(Role::Pawn.of(Color::Black)), None);
        parking.clear();
        assert_eq!(parking, Parking::new(&[8]));
    }

    #[test]
    fn what_stands_beside_the_board_survives_a_restart() {
        let mut parking = Parking::new(&[8]);
        let [one, two] = [parking.slots()[0], parking.slots()[1]];
        parking.put(one, Role::Pawn.of(Color::White));
        parking.put(two, Role::Queen.of(Color::Black));
        parking.doubt(Role::Queen.of(Color::Black));
        let text = serde_json::to_string(&parking.memory()).unwrap();
        let mut after = Parking::new(&[8]);
        after.recall(serde_json::from_str(&text).unwrap());
        assert_eq!(after, parking);
        // Other columns are configured meanwhile.
        let mut other = Parking::new(&[9]);
        other.recall(parking.memory());
        assert_eq!(other, Parking::new(&[9]));
    }

    #[test]
    fn a_slot_of_another_board_is_none_here() {
        let foreign = Parking::new(&[9]).slots()[0];
        assert!(!Parking::new(&[8]).put(foreign, Role::Pawn.of(Color::White)));
    }
}
