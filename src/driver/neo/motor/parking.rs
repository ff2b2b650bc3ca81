//! The places beside the board where captured pieces stand.

use std::fmt;

use shakmaty::Piece;

/// The columns used unless the configuration says otherwise, the best first.
///
/// `8,3` is the only place a Neo was seen to reach; a sister board uses these four columns. Nobody has tried more of
/// them on a Neo.
pub const DEFAULT_COLUMNS: [i8; 4] = [8, -1, 9, -2];

/// The leftmost column a known board of this family uses. Slots further out are not accepted.
pub const LEFTMOST: i8 = -2;

/// The rightmost column a known board of this family uses.
pub const RIGHTMOST: i8 = 9;

/// Rows of a column, the best first: `8,3` was seen to work, so begin there and go outward.
const ROWS: [i8; 8] = [3, 4, 2, 5, 1, 6, 0, 7];

/// A place for one piece beside the board.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
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

/// The slots of a board, and which piece stands in which.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parking {
    /// The best first.
    slots: Vec<Slot>,
    /// In the order they came.
    standing: Vec<(Slot, Piece)>,
    /// Slots where something may stand, nobody knows what.
    blocked: Vec<Slot>,
}

impl Default for Parking {
    fn default() -> Self {
        Self::new(&DEFAULT_COLUMNS)
    }
}

impl Parking {
    /// Empty slots in these columns, the best first. A column that is on the board, is out of reach
    /// ([`LEFTMOST`], [`RIGHTMOST`]) or is named again has none.
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

    /// All slots, the best first.
    pub fn slots(&self) -> &[Slot] {
        &self.slots
    }

    /// The slots nothing stands in, the best first.
    pub fn free(&self) -> impl Iterator<Item = Slot> + '_ {
        let free = |slot: &Slot| self.piece_at(*slot).is_none() && !self.blocked.contains(slot);
        self.slots.iter().copied().filter(free)
    }

    /// The pieces beside the board, in the order they came.
    pub fn standing(&self) -> &[(Slot, Piece)] {
        &self.standing
    }

    /// What stands there.
    pub fn piece_at(&self, slot: Slot) -> Option<Piece> {
        let (_, piece) = self.standing.iter().find(|(at, _)| *at == slot)?;
        Some(*piece)
    }

    /// Where a piece of this kind stands: the one that came last, for a take-back wants that one.
    pub fn find(&self, piece: Piece) -> Option<Slot> {
        let (slot, _) = self.standing.iter().rfind(|(_, p)| *p == piece)?;
        Some(*slot)
    }

    /// A piece comes to stand there. `false`: this is no slot here, or something stands there already.
    pub fn put(&mut self, slot: Slot, piece: Piece) -> bool {
        let taken = self.piece_at(slot).is_some() || self.blocked.contains(&slot);
        let fits = self.slots.contains(&slot) && !taken;
        if fits {
            self.standing.push((slot, piece));
        }
        fits
    }

    /// The piece that stands there goes away.
    pub fn take(&mut self, slot: Slot) -> Option<Piece> {
        let at = self.standing.iter().position(|(s, _)| *s == slot)?;
        Some(self.standing.remove(at).1)
    }

    /// A piece of this kind may have been taken by hand: the last one may still stand where it stood, or not.
    pub fn doubt(&mut self, piece: Piece) {
        if let Some(slot) = self.find(piece) {
            self.take(slot);
            self.blocked.push(slot);
        }
    }

    /// All pieces go away, as when the player sets up a new game.
    pub fn clear(&mut self) {
        self.standing.clear();
        self.blocked.clear();
    }

    /// A game is found that `missing` pieces have left: they may stand in the best slots, nobody knows which where.
    pub fn block(&mut self, missing: usize) {
        self.clear();
        self.blocked = self.slots.iter().take(missing).copied().collect();
    }

    /// Every slot nothing may be carried through.
    pub fn taken(&self) -> impl Iterator<Item = Slot> + '_ {
        let standing = self.standing.iter().map(|(slot, _)| *slot);
        standing.chain(self.blocked.iter().copied())
    }

    /// The leftmost and the rightmost column the motor goes to: the board's and those that have slots.
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
    fn a_slot_of_another_board_is_none_here() {
        let foreign = Parking::new(&[9]).slots()[0];
        assert!(!Parking::new(&[8]).put(foreign, Role::Pawn.of(Color::White)));
    }
}
