//! A move that the opponent has answered.

use shakmaty::{Bitboard, Board, Chess, Color, Move, Position};

use super::way::{Deed, Half, after, half};
use crate::{chess::game::Game, driver::sensing::lights::differing};

/// A move that was made, whether or not its picture has settled: the newest picture shows an answer to it.
pub(super) struct Answered {
    /// The move, and the one that it replaces.
    pub deeds: Vec<Deed>,
    /// The pieces after it.
    pub board: Board,
    /// No piece is missing from the answer.
    whole: bool,
    /// The index of the last picture that shows it unanswered.
    pub shown: usize,
}

impl Answered {
    /// The move that the newest of these pictures answers; `None` if there is none, or if it may be one of several.
    ///
    /// The pieces stood as in `game` before the first picture, and in none of them since. Of several moves that fit, the hand
    /// has made the last one shown: a piece may slide over other squares first, but it rests where it is when the opponent
    /// answers.
    pub fn of(game: &Game, seen: &[Board]) -> Option<Self> {
        let (answer, earlier) = seen.split_last()?;
        let let_go = |answered: &Self| earlier.contains(&answered.board);
        let mut found = all(&[], game.position(), answer, earlier);
        // Pieces that go back where they came from are two moves only if the hand let go of the first.
        let back = |plies| game.position_at(plies).board() == answer;
        let backwards = game.moves().len().checked_sub(2).is_some_and(back);
        found.retain(|answered| answered.whole && !backwards || let_go(answered));
        // The last move may have gone on after its picture had settled.
        if found.is_empty()
            && let Some((&last, moves)) = game.moves().split_last()
        {
            let before = game.position_at(moves.len());
            found = all(&[Deed::TookBack(last)], &before, answer, earlier);
            found.retain(|answered| answered.whole && let_go(answered));
        }
        found.sort_by_key(Self::weight);
        let last = found.pop()?;
        let agrees = |other: &Self| other.weight() < last.weight() || other.board == last.board;
        found.iter().all(agrees).then_some(last)
    }

    /// Of two moves that fit, the heavier one is meant.
    fn weight(&self) -> (bool, usize) {
        (self.whole, self.shown)
    }
}

/// Every move in this position that the picture `answer` answers and one of the `earlier` ones shows.
fn all(first: &[Deed], position: &Chess, answer: &Board, earlier: &[Board]) -> Vec<Answered> {
    let mut all = Vec::new();
    for m in position.legal_moves() {
        if !earlier
            .iter()
            .any(|picture| lands(m, position.turn(), picture))
        {
            continue;
        }
        let next = after(position, m);
        for reply in next.legal_moves() {
            if !lands(reply, next.turn(), answer) {
                continue;
            }
            let answered = after(&next, reply);
            let boards = [position.board(), next.board(), answered.board()];
            // The other piece of castling would be in the hand, too.
            let castling = half(position, m) == Some(Half::Castling);
            let whole = answered.board() == answer;
            if !whole && (castling || !lacks_one(answer, boards)) {
                continue;
            }
            let shows = |picture: &Board| shows(picture, boards);
            if let Some(shown) = earlier.iter().rposition(shows) {
                all.push(Answered {
                    deeds: first.iter().copied().chain([Deed::Played(m)]).collect(),
                    board: next.board().clone(),
                    whole,
                    shown,
                });
            }
        }
    }
    all
}

/// Whether the picture has this side's piece where the move puts it. It takes less time to look than to make the move.
fn lands(m: Move, mover: Color, picture: &Board) -> bool {
    let piece = m.promotion().unwrap_or(m.role()).of(mover);
    m.is_castle() || picture.piece_at(m.to()) == Some(piece)
}

/// Whether a picture shows the pieces after a move and its answer, but for one that is in the hand and is neither of the
/// two. The answer has not taken the moved one: two pieces in the hand may look like that.
fn lacks_one(picture: &Board, [before, between, answered]: [&Board; 3]) -> bool {
    let other = differing(picture, answered);
    let taken = differing(picture, between) & landed(before, between);
    let spare = picture.occupied() | landed(between, answered);
    other.count() == 1 && (other & spare).is_empty() && taken.is_empty()
}

/// Whether a picture shows the pieces after a move and before its answer has landed. Any other piece may be in the hand,
/// and a square read a moment earlier or later may show what was there before the move or after the answer.
fn shows(picture: &Board, [before, between, answered]: [&Board; 3]) -> bool {
    let other = differing(picture, between);
    let excused = !picture.occupied() | !differing(picture, before) | !differing(picture, answered);
    let on_its_way = landed(between, answered) & differing(picture, answered);
    (other & landed(before, between)).is_empty() && other.is_subset(excused) && on_its_way.any()
}

/// The squares on which a move puts a piece.
fn landed(before: &Board, after: &Board) -> Bitboard {
    differing(before, after) & after.occupied()
}
