//! What has been sensed since the placement was last right, square by square.

use std::time::{Duration, Instant};

use shakmaty::{Bitboard, Square};

use crate::chess::sense::Sensed;

/// Pictures that must contradict what was sensed on a square before they are believed. The last of them must also come
/// long enough after it: a picture may have been taken before the lift or the placement. Pictures come in order and at
/// most one period late (2.04 s in the captured game), so one that comes later is newer.
const PICTURES_TO_CHANGE: u8 = 2;
/// A piece may bounce when put down: if it is lifted again sooner than this, no player lifted it. The shortest
/// time between a placement and a lift in the captured game: 0.18 s.
pub(crate) const BOUNCE: Duration = Duration::from_millis(150);
/// Added to the time between two pictures, for the radio.
const MARGIN: Duration = Duration::from_millis(60);
/// The minimum time from a lift to a landing. Shortest in the captured game: 0.36 s.
const CARRY: Duration = Duration::from_millis(300);
/// Pictures after the motor ran in which a square that falls empty counts as a sensor failure, not as a
/// lift: in the captured game squares fell empty in the first picture after `OK`, which sometimes comes twice.
const PICTURES_AFTER_MOTOR: u8 = 2;

/// What one sensed input shows.
pub(super) struct News {
    /// Whether it shows anything new.
    pub tells: bool,
    /// Squares from which a piece was lifted.
    pub lifted: Bitboard,
    /// Squares on which a piece was put.
    pub placed: Bitboard,
}

/// What is known about the squares. Everything is relative to `full`, the squares that hold a piece when nothing is
/// disturbed.
#[derive(Clone, Debug)]
pub(super) struct Evidence {
    /// A picture that comes this long after an event is certainly newer.
    late: Duration,
    /// Squares that hold a piece when nothing is disturbed.
    full: Bitboard,
    /// Of these, the ones seen lifted and not put back.
    pub up: Bitboard,
    /// Other squares, on which a piece was put.
    pub filled: Bitboard,
    /// Of these, the ones known only from pictures.
    pub filled_by_picture: Bitboard,
    /// Of `full`, the ones that started to read empty without a lift.
    pub fell: Bitboard,
    /// Of these, the ones that read empty long before the link was lost: their readings are wrong.
    pub dark: Bitboard,
    /// Of `fell`, the ones that fell during an absence.
    missed: Bitboard,
    /// No picture has come since an absence.
    absent: bool,
    /// The capture that was under way when an absence began; nothing was lifted or put down since.
    begun: Option<(Square, Square)>,
    /// Of `full`, the ones on which a piece was put down.
    pub landed: Bitboard,
    /// Squares on which a piece was put that have not read occupied since: their sensors may have failed as it landed.
    unproven: Bitboard,
    /// The last picture, and when it came.
    picture: Option<Bitboard>,
    picture_at: Option<Instant>,
    /// When squares that fell last read occupied.
    stood_at: [Option<Instant>; 64],
    /// Squares that read empty in a picture since they were last left.
    read_empty: Bitboard,
    /// Of `filled`, the ones that read empty in [`PICTURES_TO_CHANGE`] pictures since.
    faint: Bitboard,
    /// Successive pictures that contradict what was sensed on a square.
    against: [u8; 64],
    /// Squares on which pieces were put since the player began.
    put: Bitboard,
    /// Of these, the ones that a piece was lifted from again (`left`) and then put on again (`tried`).
    left: Bitboard,
    tried: Bitboard,
    /// When the last picture came.
    pictured_at: Option<Instant>,
    /// When a lift or a placement was last sensed on a square.
    seen_at: [Option<Instant>; 64],
    /// When any square was last touched.
    touched_at: Option<Instant>,
    /// Whether a picture came after the last lift or placement.
    pub pictured: bool,
    after_motor: u8,
}

impl Evidence {
    pub fn new(full: Bitboard, period: Duration) -> Self {
        Self {
            late: period + MARGIN,
            full,
            up: Bitboard::EMPTY,
            filled: Bitboard::EMPTY,
            filled_by_picture: Bitboard::EMPTY,
            fell: Bitboard::EMPTY,
            dark: Bitboard::EMPTY,
            missed: Bitboard::EMPTY,
            absent: false,
            begun: None,
            landed: Bitboard::EMPTY,
            unproven: Bitboard::EMPTY,
            touched_at: None,
            picture: None,
            picture_at: None,
            stood_at: [None; 64],
            read_empty: Bitboard::EMPTY,
            faint: Bitboard::EMPTY,
            against: [0; 64],
            put: Bitboard::EMPTY,
            left: Bitboard::EMPTY,
            tried: Bitboard::EMPTY,
            pictured_at: None,
            seen_at: [None; 64],
            pictured: false,
            after_motor: 0,
        }
    }

    /// The input so far has been understood: pieces belong on the squares of `full`, and stand on those of `holds`. Any
    /// difference is new.
    pub fn rebase(&mut self, now: Instant, full: Bitboard, holds: Bitboard) {
        let changed = self.full ^ full;
        self.full = full;
        self.up = full & !holds;
        self.filled = holds & !self.full;
        self.filled_by_picture &= self.filled;
        self.faint = Bitboard::EMPTY;
        self.dark = Bitboard::EMPTY;
        self.missed = Bitboard::EMPTY;
        self.begun = None;
        // The next move may have begun already, its lift unseen.
        let recent = |square: Square| {
            self.stood_at[usize::from(square)].is_some_and(|stood| stood + 2 * self.late >= now)
        };
        self.fell = (self.fell & full & !self.up & !changed)
            .into_iter()
            .filter(|square| recent(*square))
            .collect();
        self.landed = Bitboard::EMPTY;
        self.put = Bitboard::EMPTY;
        self.left = Bitboard::EMPTY;
        self.tried = Bitboard::EMPTY;
    }

    /// Pieces were moved other than by hand: the occupied squares are now `full`.
    pub fn moved(&mut self, full: Bitboard) {
        let changed = self.full ^ full;
        self.full = full;
        self.up &= full & !changed;
        self.filled &= !full & !changed;
        self.filled_by_picture &= self.filled;
        self.faint &= self.filled;
        self.fell = Bitboard::EMPTY;
        self.dark = Bitboard::EMPTY;
        self.missed = Bitboard::EMPTY;
        self.begun = None;
        self.landed = Bitboard::EMPTY;
        self.read_empty &= !changed;
        self.unproven &= !changed;
        for square in changed {
            self.against[usize::from(square)] = 0;
        }
        self.after_motor = PICTURES_AFTER_MOTOR;
    }

    /// Restores the occupied squares that already read empty before the link was lost, and what [`Self::begun`] returned then.
    pub fn remember(&mut self, dim: Bitboard, begun: Option<(Square, Square)>) {
        self.picture = Some(self.full & !dim);
        self.begun = begun;
    }

    /// The capture under way: the only square that a piece was lifted from, and the only one on which a piece then landed in
    /// place of another. The pictures after an absence cannot show which piece was captured.
    pub fn begun(&self) -> Option<(Square, Square)> {
        let from = self.up.single_square().filter(|_| self.filled.is_empty());
        let Some(from) = from else {
            return self.begun;
        };
        let seen = |square: Square| self.seen_at[usize::from(square)];
        let later = |to: &Square| seen(*to) > seen(from);
        let to: Bitboard = self.landed.into_iter().filter(later).collect();
        Some((from, to.single_square()?))
    }

    /// Squares that hold a piece and have read empty for long.
    pub fn long_dim(&self) -> Bitboard {
        (self.dim() | self.dark | self.fell_long_ago()) & self.full
    }

    fn fell_long_ago(&self) -> Bitboard {
        let long_ago = |square: &Square| {
            let stood = self.stood_at[usize::from(*square)].zip(self.pictured_at);
            stood.is_some_and(|(stood, last)| stood + 2 * self.late < last)
        };
        self.fell.into_iter().filter(long_ago).collect()
    }

    /// Nothing was sensed for a while: only pictures show what happened.
    pub fn resume(&mut self) {
        let at = |all: &[Option<Instant>; 64], square: Square| all[usize::from(square)];
        let last = self.pictured_at;
        let dark = self.fell_long_ago();
        // A piece put down and not read since may be lifted unseen.
        let unread = (self.unproven & self.full).into_iter().filter(|square| {
            let put = at(&self.seen_at, *square);
            put.is_some_and(|put| last.is_none_or(|last| last < put + self.late))
        });
        let gone = self.up | unread.collect::<Bitboard>();
        for square in gone {
            self.stood_at[usize::from(square)] = last;
        }
        self.begun = self.begun();
        self.dark = dark & !self.missed;
        self.fell |= gone;
        self.missed |= self.fell & !self.dark;
        self.absent = true;
        self.up = Bitboard::EMPTY;
        self.filled = Bitboard::EMPTY;
        self.filled_by_picture = Bitboard::EMPTY;
        self.faint = Bitboard::EMPTY;
        self.landed = Bitboard::EMPTY;
        self.read_empty = !self.full;
        self.unproven = Bitboard::EMPTY;
        self.against = [0; 64];
        self.pictured = false;
        self.after_motor = 0;
    }

    /// Squares that started to read empty, except those that did so long before an absence: something may have happened there.
    pub fn fell_lately(&self) -> Bitboard {
        self.fell & !self.dark
    }

    /// Squares that hold a piece but read empty, and did so before anything was disturbed.
    pub fn dim(&self) -> Bitboard {
        self.picture
            .map_or(Bitboard::EMPTY, |p| self.full & !p & !self.up & !self.fell)
    }

    /// Of [`Self::dim`], the squares not touched since the last picture.
    pub fn dim_since_touched(&self) -> Bitboard {
        let older = |square: &Square| self.seen_at[usize::from(*square)] <= self.pictured_at;
        self.dim().into_iter().filter(older).collect()
    }

    /// Squares on which a piece was put, but that have read empty so long since that it may be gone.
    pub fn faint(&self) -> Bitboard {
        self.faint
    }

    /// Squares with a piece, according to lifts and landings.
    pub fn holds(&self) -> Bitboard {
        (self.full & !self.up) | self.filled
    }

    /// Compared with another state of the game, whose pieces stand on `full`: the squares that lack their piece, and those that
    /// hold a surplus one.
    pub fn against(&self, full: Bitboard) -> (Bitboard, Bitboard) {
        let holds = self.holds();
        (full & !holds, holds & !full)
    }

    /// Whether the piece on a square is undisturbed.
    pub fn stands(&self, square: Square) -> bool {
        self.full.contains(square) && !self.up.contains(square)
    }

    /// Squares on which a piece was put more than once since the player began, not counting bounces.
    pub fn tried(&self) -> Bitboard {
        self.tried & (self.landed | self.filled)
    }

    /// Squares with a lifted piece, and others on which one was put.
    pub fn disturbed(&self) -> (Bitboard, Bitboard) {
        (self.up, self.filled)
    }

    /// Whether the player is known to have changed anything.
    pub fn is_disturbed(&self) -> bool {
        (self.up | self.filled).any()
    }

    /// Whether the pictures lack no piece, or nothing was touched for so long that a missing one does not matter.
    pub fn is_calm(&self, now: Instant) -> bool {
        self.fell.is_empty() || self.touched_at.is_none_or(|at| at + 2 * self.late <= now)
    }

    /// Whether a square that fell still read occupied in a picture taken after a piece was put on `other`: then that
    /// piece did not come from it.
    pub fn stood_after(&self, square: Square, other: Square) -> bool {
        let put = self.seen_at[usize::from(other)];
        let stood = self.stood_at[usize::from(square)];
        stood
            .zip(put)
            .is_some_and(|(stood, put)| stood + CARRY >= put + self.late)
    }

    /// Takes one sensed input.
    pub fn sense(&mut self, now: Instant, sensed: Sensed) -> News {
        match sensed {
            Sensed::Lifted(square) => {
                self.pictured = false;
                let stayed = self.seen_at[usize::from(square)]
                    .is_some_and(|at| now.saturating_duration_since(at) >= BOUNCE);
                if stayed && self.put.contains(square) {
                    self.left.add(square);
                }
                self.touched(now, square);
                News {
                    tells: self.lifted(square),
                    lifted: square.into(),
                    placed: Bitboard::EMPTY,
                }
            }
            Sensed::Placed(square) => {
                self.pictured = false;
                self.touched(now, square);
                self.placed(square, false);
                News {
                    tells: true,
                    lifted: Bitboard::EMPTY,
                    placed: square.into(),
                }
            }
            Sensed::Occupied(picture) => self.pictured(now, picture),
        }
    }

    fn touched(&mut self, now: Instant, square: Square) {
        self.seen_at[usize::from(square)] = Some(now);
        self.touched_at = Some(now);
        self.begun = None;
    }

    fn lifted(&mut self, square: Square) -> bool {
        let index = usize::from(square);
        let before = (self.up, self.filled);
        if self.full.contains(square) {
            if self.up.is_empty() {
                // The player begins something new.
                self.put = Bitboard::EMPTY;
                self.left = Bitboard::EMPTY;
                self.tried = Bitboard::EMPTY;
            }
            self.up.add(square);
            self.fell.discard(square);
        } else {
            self.filled.discard(square);
            self.filled_by_picture.discard(square);
        }
        self.landed.discard(square);
        self.unproven.discard(square);
        self.read_empty.discard(square);
        self.faint.discard(square);
        self.against[index] = 0;
        before != (self.up, self.filled)
    }

    fn placed(&mut self, square: Square, by_picture: bool) {
        self.against[usize::from(square)] = 0;
        self.faint.discard(square);
        self.unproven.add(square);
        if self.left.contains(square) {
            self.tried.add(square);
        }
        // A piece that only slides over a square on its way does not count as tried there.
        self.left = Bitboard::EMPTY;
        self.put.add(square);
        if self.full.contains(square) {
            self.up.discard(square);
            self.fell.discard(square);
            self.landed.add(square);
        } else {
            self.filled.add(square);
            self.filled_by_picture.set(square, by_picture);
        }
    }

    fn pictured(&mut self, now: Instant, picture: Bitboard) -> News {
        let mut placed = Bitboard::EMPTY;
        let late = self.late;
        let old =
            |seen: Option<Instant>| seen.is_none_or(|at| now.saturating_duration_since(at) >= late);
        self.pictured_at = Some(now);
        let before = self.picture.replace(picture);
        let before_at = self.picture_at.replace(now);
        self.pictured = true;
        // A square that read empty before, or has held its piece for longer than a picture can be late, holds it.
        for square in picture & self.unproven {
            if self.read_empty.contains(square) || old(self.seen_at[usize::from(square)]) {
                self.unproven.discard(square);
            }
        }
        // Squares believed empty that read occupied: a piece was put there unseen, once the reading cannot be an old
        // one.
        let believed_empty = (!self.full & !self.filled) | self.up;
        for square in believed_empty & picture {
            let against = &mut self.against[usize::from(square)];
            *against = against.saturating_add(1);
            let twice = self.read_empty.contains(square) || *against >= PICTURES_TO_CHANGE;
            if twice && old(self.seen_at[usize::from(square)]) {
                self.placed(square, true);
                placed.add(square);
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
            let believed = *against >= PICTURES_TO_CHANGE && old(self.seen_at[usize::from(square)]);
            self.faint.set(square, believed);
        }
        // A piece known only from a picture, which may be old, is withdrawn by the next picture without it.
        let untold = self.filled_by_picture & !picture;
        self.filled &= !untold;
        self.filled_by_picture &= picture;
        // Squares that held a piece and read empty now.
        let stands = self.full & !self.up;
        self.fell &= !picture;
        self.dark &= !picture;
        self.missed &= !picture;
        let newly = before.unwrap_or(Bitboard::EMPTY) & !picture & stands & !self.unproven;
        if self.after_motor > 0 {
            self.after_motor -= 1;
        } else {
            self.fell |= newly;
            if std::mem::take(&mut self.absent) {
                self.missed |= newly;
            }
            for square in newly {
                self.stood_at[usize::from(square)] = before_at;
            }
        }
        News {
            tells: true,
            lifted: untold,
            placed,
        }
    }
}
