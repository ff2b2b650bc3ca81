//! The placements of the pieces, according to lifts and landings: a lift takes a piece from its square into the hand, a
//! landing puts it down. With two pieces in the hand either may have been put down, so a few placements are
//! followed at a time, each one reading of the same events.

use std::time::Instant;

use shakmaty::{Bitboard, Board, Color, Piece, Role, Square};

use super::{
    Next,
    compare::{differing, kind},
    evidence::BOUNCE,
    hypothesis::Hypotheses,
};

/// Placements followed at a time. With three pieces in the hand there are six, each with the possibility that has
/// matched it; a player who holds more is asked to put them down.
pub(super) const MOST: usize = 24;

/// A possibility that has matched a placement, and may still match it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Made {
    /// Its index.
    pub index: usize,
    /// When it began to match.
    pub since: Instant,
    /// Since when no other piece is in the hand.
    pub whole: Option<Instant>,
    /// Whether it matched for longer than a sliding piece rests on a square.
    pub rested: bool,
}

/// One reading of what was sensed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Placement {
    /// The pieces, without those in the hand. A pawn on its last rank is still a pawn until its piece is known.
    pub pieces: Board,
    /// Squares on which a piece was put without a lift.
    pub strangers: Bitboard,
    /// How many such pieces were lifted again.
    pub unseen: u8,
    /// Squares with a piece that was captured before: a capture is taken back.
    pub returned: Bitboard,
    /// The piece lifted last.
    lifted: Option<Piece>,
    /// The possibility that has matched it.
    pub made: Option<Made>,
}

impl Placement {
    fn new(pieces: Board) -> Self {
        Self {
            pieces,
            strangers: Bitboard::EMPTY,
            unseen: 0,
            returned: Bitboard::EMPTY,
            lifted: None,
            made: None,
        }
    }

    /// Whether this possibility has matched it.
    pub fn has_made(&self, index: usize) -> bool {
        self.made.is_some_and(|made| made.index == index)
    }

    /// Whether every piece on it is known.
    pub fn is_known(&self) -> bool {
        self.strangers.is_empty() && self.unseen == 0
    }

    /// The piece that was `assumed` on this square, or lifted from there, is another one.
    pub fn rename(&mut self, square: Square, assumed: Piece, piece: Piece) {
        if self.pieces.piece_at(square) == Some(assumed) {
            self.pieces.set_piece_at(square, piece);
        }
        if self.lifted == Some(assumed) {
            self.lifted = Some(piece);
        }
    }

    fn reads_as(&self, other: &Self) -> bool {
        self.pieces == other.pieces
            && self.strangers == other.strangers
            && self.unseen == other.unseen
            && self.returned == other.returned
            && self.lifted == other.lifted
            && self.made.map(|made| made.index) == other.made.map(|made| made.index)
    }
}

/// All placements followed.
#[derive(Clone, Debug)]
pub(super) struct Placements {
    all: Vec<Placement>,
    /// The previous ones, while a landing is processed: kept, so that nothing is allocated.
    before: Vec<Placement>,
    /// Whether the piece lifted last had just been put down.
    bounces: bool,
    /// The square touched last, when, and whether a piece was lifted.
    touched: Option<(Instant, Square, bool)>,
}

impl Placements {
    pub fn new(pieces: Board) -> Self {
        let mut all = Vec::with_capacity(MOST);
        all.push(Placement::new(pieces));
        Self {
            all,
            before: Vec::with_capacity(MOST),
            bounces: false,
            touched: None,
        }
    }

    pub fn iter(&self) -> std::slice::Iter<'_, Placement> {
        self.all.iter()
    }

    pub fn iter_mut(&mut self) -> std::slice::IterMut<'_, Placement> {
        self.all.iter_mut()
    }

    /// Whether a piece without a seen lift was lifted again, in any reading.
    pub fn holds_stranger(&self) -> bool {
        self.strangers_held() > 0
    }

    /// The minimum number of such pieces that were lifted again.
    pub fn strangers_held(&self) -> usize {
        let unseen = self
            .all
            .iter()
            .map(|placement| usize::from(placement.unseen));
        unseen.min().unwrap_or(0)
    }

    /// Sets the placement to `pieces`, apart from those lifted and those put on other squares.
    pub fn stand(&mut self, pieces: &Board, up: Bitboard, filled: Bitboard) {
        let mut placement = Placement::new(pieces.clone());
        for square in up {
            placement.pieces.discard_piece_at(square);
        }
        for square in filled {
            match self.all.first().and_then(|old| old.pieces.piece_at(square)) {
                Some(piece) => placement.pieces.set_piece_at(square, piece),
                None => placement.strangers.add(square),
            }
        }
        self.all.clear();
        self.all.push(placement);
    }

    /// A piece was lifted (`seen`), or is gone from a picture: then a piece of unknown origin need not be in the hand.
    pub fn lift(&mut self, now: Instant, square: Square, seen: bool) {
        for placement in &mut self.all {
            if placement.strangers.contains(square) {
                placement.strangers.discard(square);
                placement.unseen = placement.unseen.saturating_add(u8::from(seen));
            } else if let Some(piece) = placement.pieces.remove_piece_at(square) {
                placement.lifted = Some(piece);
            }
            placement.returned.discard(square);
        }
        let told_twice = self.touched_just_now(now, square, true);
        self.bounces = self.touched_just_now(now, square, false) || (self.bounces && told_twice);
        self.touched = Some((now, square, true));
        self.merge();
    }

    /// Whether this square was touched last, and so recently that no player could take one piece off and put another
    /// one down.
    fn touched_just_now(&self, now: Instant, square: Square, lifted: bool) -> bool {
        self.touched.is_some_and(|(at, last, was_lifted)| {
            last == square && was_lifted == lifted && now.saturating_duration_since(at) < BOUNCE
        })
    }

    /// A piece is put down. `standing`: the placement before anything was disturbed.
    pub fn land(&mut self, now: Instant, square: Square, standing: &Board, may: &May<'_>) {
        let told_twice = self.touched_just_now(now, square, false);
        let bounces = self.bounces && self.touched_just_now(now, square, true);
        self.touched = Some((now, square, false));
        if told_twice {
            return;
        }
        if bounces && self.all.iter().all(|placement| placement.lifted.is_some()) {
            for placement in &mut self.all {
                if let Some(piece) = placement.lifted {
                    placement.pieces.set_piece_at(square, piece);
                }
            }
            return;
        }
        std::mem::swap(&mut self.all, &mut self.before);
        self.all.clear();
        for explained in [true, false] {
            for placement in &self.before {
                land_on(placement, square, standing, may, explained, &mut self.all);
            }
            // A reading that needs an explanation is dropped if another one needs none.
            if !self.all.is_empty() {
                break;
            }
        }
        self.merge();
        let calm = |placement: &Placement| {
            placement.pieces == *standing && placement.is_known() && placement.returned.is_empty()
        };
        if self.all.iter().any(calm) {
            // All is as before, or a capture is being taken back, or king and rook were exchanged.
            let exchanged = |placement: &Placement| may.first.leads_to(&placement.pieces);
            self.all.retain(|placement| {
                calm(placement) || placement.returned.any() || exchanged(placement)
            });
        }
    }

    /// Keeps only the readings that `keep` accepts for the possibility reported; `standing` is the placement now.
    pub fn rebase(&mut self, standing: &Board, keep: impl Fn(&Placement) -> Option<Placement>) {
        std::mem::swap(&mut self.all, &mut self.before);
        self.all.clear();
        for placement in &self.before {
            let Some(mut placement) = keep(placement) else {
                continue;
            };
            placement.made = None;
            placement.returned = Bitboard::EMPTY;
            if Hand::of(&placement.pieces, standing).is_empty() {
                self.all.push(placement);
            }
        }
        if self.all.is_empty() {
            self.all.push(Placement::new(standing.clone()));
        }
        self.merge();
    }

    /// Squares on which a piece stands.
    pub fn holds(&self) -> Bitboard {
        self.all.first().map_or(Bitboard::EMPTY, |placement| {
            placement.pieces.occupied() | placement.strangers
        })
    }

    /// Every square is as it should be: whatever was not seen has been undone.
    pub fn forget_strangers(&mut self, standing: &Board) {
        for placement in self
            .all
            .iter_mut()
            .filter(|placement| !placement.is_known())
        {
            *placement = Placement::new(standing.clone());
        }
        self.merge();
    }

    fn merge(&mut self) {
        let mut index = 1;
        while index < self.all.len() {
            let (earlier, later) = self.all.split_at_mut(index);
            let Some(same) = earlier
                .iter_mut()
                .find(|placement| placement.reads_as(&later[0]))
            else {
                index += 1;
                continue;
            };
            // The one that matched longer counts, otherwise the player's last action.
            let weight =
                |placement: &Placement| placement.made.map(|made| (made.rested, made.since));
            if weight(same) < weight(&later[0]) {
                same.made = later[0].made;
            }
            self.all.remove(index);
        }
    }
}

/// What the player may do next, and after each possibility that matches a placement.
pub(super) struct May<'a> {
    /// What the player may do next.
    pub first: &'a Hypotheses,
    /// What the player may do after that.
    pub nexts: &'a [Next],
}

/// The readings of a piece that is put down on one placement.
fn land_on(
    placement: &Placement,
    square: Square,
    standing: &Board,
    may: &May<'_>,
    explained: bool,
    all: &mut Vec<Placement>,
) {
    let mut add = |next: Placement| {
        if all.len() < MOST {
            all.push(next);
        }
    };
    let put = |piece: Piece| {
        let mut next = placement.clone();
        next.pieces.set_piece_at(square, piece);
        next.lifted = None;
        next
    };
    if placement.strangers.contains(square) {
        if explained {
            add(placement.clone());
        }
        return;
    }
    let hand = Hand::of(standing, &placement.pieces);
    // A piece captured by the matching possibility is off the board; after it the other side may move.
    let ahead = may
        .nexts
        .iter()
        .find(|next| next.after.is_some_and(|after| placement.has_made(after)))
        .and_then(|next| Some((may.first.after(next.after?), &next.list)));
    let ahead_hand = ahead.map(|(board, _)| Hand::of(board, &placement.pieces));
    let goes = |piece: Piece| {
        let first = standing.piece_at(square) == Some(piece) || may.first.goes(piece, square);
        let next = || {
            ahead.is_some_and(|(board, list)| {
                board.piece_at(square) == Some(piece) || list.goes(piece, square)
            })
        };
        let has = |hand: &Hand| hand.has(piece);
        (first && hand.has(piece)) || (ahead_hand.as_ref().is_some_and(has) && next())
    };
    if let Some(stands) = placement.pieces.piece_at(square) {
        if !explained {
            return;
        }
        // The lift of the piece that stands here was lost: it was put back, or another piece took its place.
        add(placement.clone());
        for piece in hand
            .pieces()
            .filter(|piece| *piece != stands && goes(*piece))
        {
            add(put(piece));
        }
        return;
    }
    // Any piece may stand for a moment on a square that was empty.
    let empty = standing.piece_at(square).is_none();
    if explained {
        for piece in hand.pieces() {
            if empty || goes(piece) {
                add(put(piece));
            }
            // A piece that was a pawn until the last move becomes a pawn again.
            let pawn = may.first.demoted(piece);
            if let Some(pawn) = pawn.filter(|pawn| may.first.goes(*pawn, square)) {
                add(put(pawn));
            }
        }
        // A captured piece comes back.
        if let Some((_, piece)) = may.first.restores().filter(|(to, _)| *to == square) {
            let mut next = put(piece);
            next.returned.add(square);
            add(next);
        }
        // A piece that the board lacks is brought from beside it.
        if let Some(piece) = may.first.brought(square) {
            add(put(piece));
        }
        // A pawn's new piece is put down before the pawn is lifted.
        let lists = [Some(may.first), ahead.map(|(_, list)| list)];
        let promoted = lists
            .into_iter()
            .flatten()
            .find_map(|list| list.promoted(square));
        if let Some(pawn) = promoted.filter(|_| hand.is_empty()) {
            add(put(pawn));
        }
        return;
    }
    // No piece in the hand belongs there, or its lift was lost.
    for piece in hand.pieces() {
        add(put(piece));
    }
    let reached = ahead.is_some_and(|(_, list)| list.reaches(square));
    if hand.is_empty() || reached || may.first.reaches(square) {
        let mut next = placement.clone();
        next.strangers.add(square);
        next.unseen = next.unseen.saturating_sub(1);
        add(next);
    }
}

/// The pieces that are on one board and not on the other, whatever their squares.
struct Hand([i8; 12]);

impl Hand {
    fn of(there: &Board, not_there: &Board) -> Self {
        let mut counts = [0i8; 12];
        for square in differing(there, not_there) {
            if let Some(piece) = there.piece_at(square) {
                counts[kind(piece)] += 1;
            }
            if let Some(piece) = not_there.piece_at(square) {
                counts[kind(piece)] -= 1;
            }
        }
        Self(counts)
    }

    fn pieces(&self) -> impl Iterator<Item = Piece> {
        let counts = self.0;
        Color::ALL
            .into_iter()
            .flat_map(|color| Role::ALL.into_iter().map(move |role| role.of(color)))
            .filter(move |piece| counts[kind(*piece)] > 0)
    }

    fn has(&self, piece: Piece) -> bool {
        self.0[kind(piece)] > 0
    }

    fn is_empty(&self) -> bool {
        self.0.iter().all(|count| *count <= 0)
    }
}
