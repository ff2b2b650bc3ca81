//! The fewest actions there can be, by counting; it knows no list.

use std::collections::HashSet;

use boardbridge::chess::guidance::Picture;
use shakmaty::{Board, Piece, Square};

/// How many actions are needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bound {
    /// Carries, if squares had room for several pieces at once: one for each square that holds a wrong piece, and one for each
    /// square that lacks its piece, but one for both together where the one's piece may go to the other. Each piece goes to one
    /// square at most, so that is a matching, and as large as there can be.
    pub misplaced: usize,
    /// Groups of pieces that only wait for each other: each costs one more carry, to put a piece aside. Less those
    /// that an unknown surplus piece ends.
    pub parked: usize,
}

impl Bound {
    /// For a board that stands so, and these pieces wanted.
    pub fn of(stands: &Picture, wanted: &Board) -> Self {
        let mut wrong: Vec<(Option<Piece>, Option<Piece>)> = Vec::new();
        let mut unknown = 0;
        for square in Square::ALL {
            let pair = (stands.board.piece_at(square), wanted.piece_at(square));
            if stands.unknown.contains(square) {
                unknown += usize::from(pair.1.is_none());
            } else if pair.0 != pair.1 {
                wrong.push(pair);
            }
        }
        let kinds: HashSet<_> = wrong
            .iter()
            .flat_map(|pair| [pair.0, pair.1])
            .flatten()
            .collect();
        let (mut carries, mut carried, mut lacking) = (unknown, 0, 0);
        let mut balanced = HashSet::new();
        for &kind in &kinds {
            let surplus = wrong.iter().filter(|pair| pair.0 == Some(kind)).count();
            let missing = wrong.iter().filter(|pair| pair.1 == Some(kind)).count();
            carries += surplus + missing;
            carried += surplus.min(missing);
            lacking += missing.saturating_sub(surplus);
            if surplus == missing {
                balanced.insert(kind);
            }
        }
        let helpers = unknown.min(lacking);
        let closed = closed_groups(&kinds, &balanced, &wrong);
        Self {
            misplaced: carries - carried - helpers,
            parked: closed.saturating_sub(unknown - helpers),
        }
    }

    /// All of them.
    pub fn actions(self) -> usize {
        self.misplaced + self.parked
    }
}

/// Kinds that stand on each other's squares, and on no others: as many groups of them as have as many pieces as
/// squares of each kind, and no free square.
fn closed_groups(
    kinds: &HashSet<Piece>,
    balanced: &HashSet<Piece>,
    wrong: &[(Option<Piece>, Option<Piece>)],
) -> usize {
    let mut left = kinds.clone();
    let mut closed = 0;
    while let Some(first) = left.iter().next().copied() {
        left.remove(&first);
        let mut open = !balanced.contains(&first);
        let mut waiting = vec![first];
        while let Some(kind) = waiting.pop() {
            for pair in wrong.iter().filter(|(a, b)| [*a, *b].contains(&Some(kind))) {
                for other in [pair.0, pair.1] {
                    match other {
                        None => open = true,
                        Some(other) => {
                            open |= !balanced.contains(&other);
                            if left.remove(&other) {
                                waiting.push(other);
                            }
                        }
                    }
                }
            }
        }
        closed += usize::from(!open);
    }
    closed
}
