//! What the player is to know or do now, in words.

use std::fmt;

use shakmaty::{Color, Move, fen::Fen};

use crate::{
    driver::{Misplaced, Reported, Wording},
    game::uci,
};

/// What the player is to know or do now.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub enum Advice {
    /// Nothing.
    #[default]
    Nothing,
    /// There is no link to the board, for this reason.
    NoLink(String),
    /// The link is there, but the board says nothing.
    Silent,
    /// The move shown is to be made on the board.
    Make(Move),
    /// The last move is to be taken back on the board.
    TakeBack(Move),
    /// The hand took a move back that stands in the program's game.
    PutBack(Move),
    /// Something else than the awaited was done.
    Mistake {
        /// What the board reported.
        made: Reported,
        /// What is to be made, if a shown move is awaited.
        expected: Option<Move>,
    },
    /// Pieces are missing on some squares, and too many on others.
    Misplaced(Misplaced),
    /// The pieces are to be put on their starting squares.
    NewGame,
    /// A position is to be set up; the board shows it.
    SetUp(Fen),
    /// A position is to be set up; the board cannot be led there.
    SetUpByHand(Fen),
    /// The player is to move.
    YourMove(Color),
}

impl fmt::Display for Advice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing => Ok(()),
            Self::NoLink(why) => write!(f, "no link to the board: {why}"),
            Self::Silent => f.write_str(
                "the board does not answer: is it switched on, and is the cable in its socket?",
            ),
            Self::Make(m) => write!(f, "make the move {} on the board", uci(*m)),
            Self::TakeBack(m) if m.is_castle() => write!(
                f,
                "take {} back on the board: the king first, then the rook",
                uci(*m)
            ),
            Self::TakeBack(m) => write!(f, "take {} back on the board", uci(*m)),
            Self::PutBack(m) => write!(
                f,
                "{0} was taken back on the board, but it stands in the program's game: make {0} again, or take it \
                 back in the program too",
                uci(*m)
            ),
            Self::Mistake {
                made,
                expected: Some(expected),
            } => write!(
                f,
                "{} was made, but {} is to be made: please correct it",
                Words(*made),
                uci(*expected)
            ),
            Self::Mistake {
                made,
                expected: None,
            } => write!(
                f,
                "{} cannot be played here: please put it back",
                Words(*made)
            ),
            Self::Misplaced(_) => f.write_str("the pieces do not stand right"),
            Self::NewGame => f.write_str(
                "new game: put the pieces on their starting squares, then press 'Board ready' or just move",
            ),
            Self::SetUp(fen) => write!(
                f,
                "set up this position, then press 'Board ready' or just move: {fen}"
            ),
            Self::SetUpByHand(fen) => write!(
                f,
                "this board cannot be led to the position: set it up by hand, also in the board's own set-up \
                 mode, then press 'Board ready': {fen}"
            ),
            Self::YourMove(color) => write!(
                f,
                "{} to move on the board",
                color.fold_wb("White", "Black")
            ),
        }
    }
}

/// A report in words.
pub struct Words(pub Reported);

impl fmt::Display for Words {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.wording {
            Wording::Castle(side) => f.write_str(if side.is_king_side() { "O-O" } else { "O-O-O" }),
            Wording::Squares {
                from,
                to,
                promotion,
            } => {
                write!(f, "{from}{to}")?;
                promotion.map_or(Ok(()), |role| write!(f, "{}", role.char()))
            }
        }
    }
}
