//! A move as a board reports it.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use shakmaty::{CastlingSide, Chess, Color, Move, Position, Role, Square, uci::UciMove};

use crate::{chess::game::uci, state::text};

/// A move as a board reports it: not yet known to be legal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reported {
    /// The colour that moved, if the board reports it.
    pub color: Option<Color>,
    /// The move itself.
    pub wording: Wording,
}

impl Reported {
    /// A move between squares, of unknown colour.
    pub fn squares(from: Square, to: Square, promotion: Option<Role>) -> Self {
        Self {
            color: None,
            wording: Wording::Squares {
                from,
                to,
                promotion,
            },
        }
    }

    /// A move as a board would report it.
    pub fn of(m: Move) -> Self {
        match m.castling_side() {
            Some(side) => Self {
                color: None,
                wording: Wording::Castle(side),
            },
            // Only drops have no square of origin, and boards have no drops.
            None => Self::squares(m.from().unwrap_or(m.to()), m.to(), m.promotion()),
        }
    }

    /// Whether this is the same pair of squares in the opposite direction.
    pub fn undoes(self, other: Self) -> bool {
        match (self.wording, other.wording) {
            (
                Wording::Squares { from, to, .. },
                Wording::Squares {
                    from: back,
                    to: home,
                    ..
                },
            ) => from == home && to == back,
            _ => false,
        }
    }

    /// Whether this report can mean `m` played by `mover`. A promotion without a piece means any.
    pub fn names(self, m: Move, mover: Color) -> bool {
        if self.color.is_some_and(|color| color != mover) {
            return false;
        }
        match self.wording {
            Wording::Castle(side) => m.castling_side() == Some(side),
            Wording::Squares {
                from,
                to,
                promotion,
            } => {
                let named = uci(m);
                named.from() == Some(from)
                    && named.to() == Some(to)
                    && (promotion.is_none() || promotion == m.promotion())
            }
        }
    }

    /// The legal move of `position` that this report means. If the board did not name the piece a pawn became, it is
    /// `promotion`.
    pub fn resolve(self, position: &Chess, promotion: Role) -> Option<Move> {
        let mover = position.turn();
        let named = |m: &Move| self.names(*m, mover);
        let moves = match self.wording {
            Wording::Castle(side) => position.castling_moves(side),
            Wording::Squares { from, to, .. } => match position.board().role_at(from)? {
                // The candidates of a king are without castling.
                Role::King => position.legal_moves(),
                role => position.san_candidates(role, to),
            },
        };
        let mut candidates = moves.iter().filter(|m| named(m));
        let first = *candidates.next()?;
        if first.is_promotion() && first.promotion() != Some(promotion) {
            let chosen = moves
                .iter()
                .find(|m| named(m) && m.promotion() == Some(promotion));
            return Some(chosen.copied().unwrap_or(first));
        }
        Some(first)
    }
}

impl fmt::Display for Reported {
    /// The form in which it is kept: `e2e4`, `w:O-O`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(color) = self.color {
            write!(f, "{}:", color.char())?;
        }
        match self.wording {
            Wording::Castle(CastlingSide::KingSide) => f.write_str("O-O"),
            Wording::Castle(CastlingSide::QueenSide) => f.write_str("O-O-O"),
            Wording::Squares {
                from,
                to,
                promotion,
            } => UciMove::Normal {
                from,
                to,
                promotion,
            }
            .fmt(f),
        }
    }
}

impl FromStr for Reported {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let (color, wording) = match text.split_once(':') {
            Some(("w", rest)) => (Some(Color::White), rest),
            Some(("b", rest)) => (Some(Color::Black), rest),
            Some(_) => return Err(()),
            None => (None, text),
        };
        let wording = match (wording, wording.parse()) {
            ("O-O", _) => Wording::Castle(CastlingSide::KingSide),
            ("O-O-O", _) => Wording::Castle(CastlingSide::QueenSide),
            (
                _,
                Ok(UciMove::Normal {
                    from,
                    to,
                    promotion,
                }),
            ) => Wording::Squares {
                from,
                to,
                promotion,
            },
            _ => return Err(()),
        };
        Ok(Self { color, wording })
    }
}

impl Serialize for Reported {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        text::serialize(self, serializer)
    }
}

impl<'de> Deserialize<'de> for Reported {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        text::deserialize(deserializer)
    }
}

/// The two ways in which boards report a move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wording {
    /// From one square to another, with a promotion piece if the board named one.
    Squares {
        /// The square left.
        from: Square,
        /// The square reached.
        to: Square,
        /// The piece a pawn became.
        promotion: Option<Role>,
    },
    /// `O-O` or `O-O-O`.
    Castle(CastlingSide),
}

#[cfg(test)]
mod tests {
    use shakmaty::{CastlingMode, fen::Fen};

    use super::*;

    /// The first of all legal moves that a report names, with the piece that was chosen.
    fn searched(reported: Reported, position: &Chess, promotion: Role) -> Option<Move> {
        let moves = position.legal_moves();
        let mut named = moves
            .iter()
            .filter(|m| reported.names(**m, position.turn()));
        let first = named.clone().next().copied();
        named
            .find(|m| m.promotion() == Some(promotion))
            .copied()
            .or(first)
    }

    #[test]
    fn a_report_means_what_a_search_among_all_legal_moves_finds() {
        let mut random = fastrand::Rng::with_seed(1);
        let starts = [
            "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
            "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1",
            "1r1k1r2/1p1p4/8/8/8/8/1P1P4/RK1R4 w DAfb - 0 1",
            "8/PPPP1k2/8/8/8/8/2K1pppp/8 w - - 0 1",
        ];
        for round in 0..20 {
            let fen: Fen = starts[round % starts.len()].parse().unwrap();
            let mut position: Chess = fen.into_position(CastlingMode::Chess960).unwrap();
            for _ in 0..80 {
                let moves = position.legal_moves();
                if moves.is_empty() {
                    break;
                }
                let castles = [CastlingSide::KingSide, CastlingSide::QueenSide];
                let mut all = castles.map(Wording::Castle).to_vec();
                let mut squares = |from, to, promotion| {
                    all.push(Wording::Squares {
                        from,
                        to,
                        promotion,
                    });
                };
                for m in &moves {
                    let named = uci(*m);
                    let (from, to) = (named.from().unwrap(), named.to().unwrap());
                    squares(from, to, None);
                    squares(from, to, m.promotion());
                    squares(to, from, None);
                    squares(from, Square::new(random.u32(..64)), None);
                }
                for wording in all {
                    let color = None;
                    let reported = Reported { color, wording };
                    for promotion in [Role::Queen, Role::Knight] {
                        let found = reported.resolve(&position, promotion);
                        let expected = searched(reported, &position, promotion);
                        assert_eq!(found, expected, "{reported} in {position:?}");
                    }
                }
                position.play_unchecked(moves[random.usize(..moves.len())]);
            }
        }
    }
}
