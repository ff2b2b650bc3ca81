//! What has been sensed since the pieces last stood right, square by square.

use shakmaty::{Bitboard, Square};

use crate::sense::Sensed;

/// Pictures that must contradict what was seen of a square before they are believed: a picture may have been
/// taken before the lift or the placement and come after it. Pictures come in order and at most one period late,
/// so the second one is younger.
const PICTURES_TO_CHANGE: u8 = 2;
/// Pictures after the motor ran in which a square that falls empty is a sensor that lost its piece, not a lift:
/// in the captured game squares fell empty in the first picture after `OK`, which comes twice at times.
const PICTURES_AFTER_MOTOR: u8 = 2;

/// What is known of the squares. Everything is relative to `full`, the squares that hold a piece when nothing is
/// disturbed.
#[derive(Clone, Debug)]
pub(super) struct Evidence {
    /// Squares that hold a piece when nothing is disturbed.
    full: Bitboard,
    /// Of these, the ones seen lifted and not put back.
    pub up: Bitboard,
    /// Other squares, on which a piece was put.
    pub filled: Bitboard,
    /// Of these, the ones only pictures tell of.
    pub filled_by_picture: Bitboard,
    /// Of `full`, the ones whose reading fell to empty without a lift.
    pub fell: Bitboard,
    /// Of `full`, the ones a piece was put down on.
    pub landed: Bitboard,
    /// Of these, the ones only pictures tell of.
    pub landed_by_picture: Bitboard,
    /// The last picture.
    picture: Option<Bitboard>,
    /// Squares that read empty in a picture since they were last left.
    read_empty: Bitboard,
    /// Of `filled`, the ones that read empty in [`PICTURES_TO_CHANGE`] pictures since.
    faint: Bitboard,
    /// Pictures in a row that contradict what was seen of a square.
    against: [u8; 64],
    /// When a square was last lifted from, and put on, counted in things sensed.
    lifted_at: [u32; 64],
    placed_at: [u32; 64],
    clock: u32,
    /// Whether a picture came after the last lift or placement.
    pub pictured: bool,
    after_motor: u8,
}

impl Evidence {
    pub fn new(full: Bitboard) -> Self {
        Self {
            full,
            up: Bitboard::EMPTY,
            filled: Bitboard::EMPTY,
            filled_by_picture: Bitboard::EMPTY,
            fell: Bitboard::EMPTY,
            landed: Bitboard::EMPTY,
            landed_by_picture: Bitboard::EMPTY,
            picture: None,
            read_empty: Bitboard::EMPTY,
            faint: Bitboard::EMPTY,
            against: [0; 64],
            lifted_at: [0; 64],
            placed_at: [0; 64],
            clock: 0,
            pictured: false,
            after_motor: 0,
        }
    }

    /// The pieces stand otherwise now, because what was sensed has been understood, with `vacated` left by their
    /// pieces: what remains of it is news.
    pub fn rebase(&mut self, full: Bitboard, vacated: Bitboard) {
        let holds = ((self.full & !self.up) | (self.filled & !self.faint())) & !vacated;
        self.full = full;
        self.up = full & !holds;
        self.filled = holds & !full;
        self.filled_by_picture &= self.filled;
        self.faint &= self.filled;
        self.fell = Bitboard::EMPTY;
        self.landed = Bitboard::EMPTY;
        self.landed_by_picture = Bitboard::EMPTY;
    }

    /// The pieces stand so now, by other means than the hand.
    pub fn moved(&mut self, full: Bitboard) {
        let changed = self.full ^ full;
        self.full = full;
        self.up &= full & !changed;
        self.filled &= !full & !changed;
        self.filled_by_picture &= self.filled;
        self.faint &= self.filled;
        self.fell = Bitboard::EMPTY;
        self.landed = Bitboard::EMPTY;
        self.landed_by_picture = Bitboard::EMPTY;
        self.read_empty &= !changed;
        for square in changed {
            self.against[usize::from(square)] = 0;
        }
        self.after_motor = PICTURES_AFTER_MOTOR;
    }

    /// Nothing was seen for a while: only pictures tell what happened.
    pub fn resume(&mut self) {
        self.fell |= self.up;
        self.up = Bitboard::EMPTY;
        self.filled = Bitboard::EMPTY;
        self.filled_by_picture = Bitboard::EMPTY;
        self.faint = Bitboard::EMPTY;
        self.landed = Bitboard::EMPTY;
        self.landed_by_picture = Bitboard::EMPTY;
        self.read_empty = !self.full;
        self.against = [0; 64];
        self.pictured = false;
        self.after_motor = 0;
    }

    /// Squares that hold a piece, as far as known.
    pub fn full(&self) -> Bitboard {
        self.full
    }

    /// Squares that hold a piece but read empty, and did so before anything was disturbed.
    pub fn dim(&self) -> Bitboard {
        self.picture
            .map_or(Bitboard::EMPTY, |p| self.full & !p & !self.up & !self.fell)
    }

    /// Squares on which a piece was put, but that have read empty for long enough since to doubt that it stayed.
    pub fn faint(&self) -> Bitboard {
        self.faint
    }

    /// Whether a piece was put on `square` after one was lifted from `from`.
    pub fn landed_after(&self, square: Square, from: Square) -> bool {
        self.placed_at[usize::from(square)] > self.lifted_at[usize::from(from)]
    }

    /// Whether the hand is seen to have changed anything.
    pub fn is_disturbed(&self) -> bool {
        (self.up | self.filled).any()
    }

    /// Takes in one thing sensed. `false` if it tells nothing new.
    pub fn sense(&mut self, sensed: Sensed) -> bool {
        self.clock = self.clock.wrapping_add(1);
        match sensed {
            Sensed::Lifted(square) => {
                self.pictured = false;
                self.lifted(square)
            }
            Sensed::Placed(square) => {
                self.pictured = false;
                self.placed(square, false);
                true
            }
            Sensed::Occupied(picture) => {
                self.pictured(picture);
                true
            }
        }
    }

    fn lifted(&mut self, square: Square) -> bool {
        let index = usize::from(square);
        let before = (self.up, self.filled);
        if self.full.contains(square) {
            if !self.up.contains(square) {
                self.lifted_at[index] = self.clock;
            }
            self.up.add(square);
            self.fell.discard(square);
        } else {
            self.filled.discard(square);
            self.filled_by_picture.discard(square);
        }
        self.landed.discard(square);
        self.landed_by_picture.discard(square);
        self.read_empty.discard(square);
        self.faint.discard(square);
        self.against[index] = 0;
        before != (self.up, self.filled)
    }

    fn placed(&mut self, square: Square, by_picture: bool) {
        self.placed_at[usize::from(square)] = self.clock;
        self.against[usize::from(square)] = 0;
        self.faint.discard(square);
        let (set, tells) = if self.full.contains(square) {
            self.up.discard(square);
            self.fell.discard(square);
            (&mut self.landed, &mut self.landed_by_picture)
        } else {
            (&mut self.filled, &mut self.filled_by_picture)
        };
        set.add(square);
        if by_picture {
            tells.add(square);
        } else {
            tells.discard(square);
        }
    }

    fn pictured(&mut self, picture: Bitboard) {
        let before = self.picture.replace(picture);
        self.pictured = true;
        // Squares believed empty that read occupied: put there unseen, once the reading cannot be an old one.
        let believed_empty = (!self.full & !self.filled) | self.up;
        for square in believed_empty & picture {
            let against = &mut self.against[usize::from(square)];
            *against = against.saturating_add(1);
            if self.read_empty.contains(square) || *against >= PICTURES_TO_CHANGE {
                self.placed(square, true);
            }
        }
        self.read_empty |= !picture;
        for square in !picture & believed_empty {
            self.against[usize::from(square)] = 0;
        }
        for square in self.filled & !self.filled_by_picture {
            let against = &mut self.against[usize::from(square)];
            *against = if picture.contains(square) {
                0
            } else {
                against.saturating_add(1)
            };
            self.faint.set(square, *against >= PICTURES_TO_CHANGE);
        }
        // What only an old picture told is untold by the next.
        let untold = self.filled_by_picture & !picture;
        self.filled &= !untold;
        self.filled_by_picture &= picture;
        // Squares that held a piece and read empty now.
        let stands = self.full & !self.up;
        self.fell &= !picture;
        let newly = before.unwrap_or(Bitboard::EMPTY) & !picture & stands & !self.landed;
        if self.after_motor > 0 {
            self.after_motor -= 1;
        } else {
            self.fell |= newly;
        }
    }
}
