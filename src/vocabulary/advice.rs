//! What the player should know or do now, in words.

use std::fmt;

use shakmaty::{Color, Move, fen::Fen};

use super::{
    board_kind::BoardKind,
    link_state::{GARBLED, MUTE, stranger},
    misplaced::Misplaced,
    report::{Reported, Wording},
};
use crate::chess::game::{chess960_steps, uci};

/// What the player should know or do now.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub enum Advice {
    /// Nothing.
    #[default]
    Nothing,
    /// There is no link to the board, for this reason.
    NoLink(String),
    /// The link is there, but the board sends nothing.
    Silent {
        /// Unreadable data came.
        garbled: bool,
    },
    /// The board was asked, and nothing has ever come from it: it may be of another kind.
    Mute,
    /// What is connected talks like another kind of board.
    Stranger(BoardKind),
    /// This move should be made on the board.
    Make(Move),
    /// The board shows this move, and cannot tell whether it has been made.
    Shown {
        /// The move.
        m: Move,
        /// The player's own move is awaited after it.
        awaited: bool,
    },
    /// The last move should be taken back on the board.
    TakeBack(Move),
    /// The hand took back a move that is still in the client's game.
    PutBack {
        /// The move.
        made: Move,
        /// Whether it can be taken back there too.
        takes_back: bool,
    },
    /// Something other than what was awaited was done.
    Mistake {
        /// What the board reported.
        made: Reported,
        /// The move to make, if a shown move is awaited.
        expected: Option<Move>,
    },
    /// It is unknown how the pieces stand, and no program has the board. The move that did not fit, if that is why.
    Unplaced(Option<Reported>),
    /// Pieces are missing on some squares, and too many on others.
    Misplaced(Misplaced),
    /// The pieces should be put on their starting squares.
    NewGame {
        /// Whether the hand moves first, which says that they are.
        may_move: bool,
    },
    /// A position should be set up; the board shows it.
    SetUp {
        /// The position.
        fen: Fen,
        /// Whether the hand moves next, which says that it is.
        may_move: bool,
    },
    /// A position should be set up by hand; the board cannot be led there.
    SetUpByHand(Fen),
    /// The player is to move.
    YourMove(Color),
    /// The player has made this move, but the program only analyses.
    Analysed(Move),
    /// What another daemon, which has the board, says to the player.
    Told(String),
}

/// How the advice to put the pieces on their starting squares begins.
pub const NEW_GAME: &str = "new game";
/// What a new game asks of the player.
const TO_THE_START: &str = "put the pieces on their starting squares";
/// The message while no program has a board of which it is not known how the pieces stand.
const UNPLACED: &str = "it is not known how the pieces stand. Put them on their starting squares and move, or begin a game in a \
     program";
/// How the advice to set up a position begins.
pub const SET_UP: &str = "set up the position";

impl Advice {
    /// Whether both ask for the same task, even if part of it was done in between.
    pub fn is_same_task(&self, other: &Self) -> bool {
        matches!((self, other), (Self::Misplaced(_), Self::Misplaced(_))) || self == other
    }

    /// In one line, with the list of what to do. What matters comes first, because some programs show only 50 characters; details
    /// to look up come last.
    pub fn with(&self, list: &str) -> String {
        match self {
            Self::NewGame { may_move: true } if list.is_empty() => {
                format!("{TO_THE_START}, then press 'Board ready' or just move")
            }
            Self::NewGame { may_move: false } if list.is_empty() => {
                format!("{TO_THE_START}, then press 'Board ready'")
            }
            _ if list.is_empty() => self.to_string(),
            Self::Misplaced(_) => format!("to put the pieces right, {list}"),
            Self::NewGame { may_move: true } => {
                format!("{TO_THE_START}: {list}. Then press 'Board ready' or just move")
            }
            Self::NewGame { may_move: false } => {
                format!("{TO_THE_START}: {list}. Then press 'Board ready'")
            }
            Self::SetUp {
                fen,
                may_move: true,
            } => {
                format!("{SET_UP}: {list}. Then press 'Board ready' or just move. (FEN {fen})")
            }
            Self::SetUp {
                fen,
                may_move: false,
            } => {
                format!("{SET_UP}: {list}. Then press 'Board ready'. (FEN {fen})")
            }
            Self::SetUpByHand(fen) => format!(
                "{SET_UP} by hand: {list}. Do so in the board's own set-up mode too if it has one, then press \
                 'Board ready'. (FEN {fen})"
            ),
            // In this order: the remark about castling adds nothing here.
            Self::TakeBack(m) => format!("take {} back on the board: {list}", uci(*m)),
            Self::PutBack {
                made,
                takes_back: true,
            } => format!(
                "{} was taken back on the board, but it still stands in the game: {list}, or take it back there too",
                uci(*made)
            ),
            Self::PutBack {
                made,
                takes_back: false,
            } => format!(
                "{} was taken back on the board, but it stands in the app's game, which cannot take it back: {list}",
                uci(*made)
            ),
            Self::Mistake {
                made,
                expected: None,
            } => {
                format!("{} cannot be played here: {list}", Words(*made))
            }
            Self::Mistake {
                made,
                expected: Some(expected),
            } => format!(
                "{} was made instead of {}: {list}",
                Words(*made),
                uci(*expected)
            ),
            // On a board that does not report it, what was asked for is assumed done after a while.
            Self::Make(_) | Self::YourMove(_) | Self::Analysed(_) => {
                format!("{self}. Before that, unless it is done, {list}")
            }
            Self::Shown { .. } => format!("{self} Before that, unless it is done, {list}"),
            Self::Nothing
            | Self::NoLink(_)
            | Self::Silent { .. }
            | Self::Mute
            | Self::Stranger(_)
            | Self::Told(_)
            | Self::Unplaced(_) => self.to_string(),
        }
    }
}

impl fmt::Display for Advice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing => Ok(()),
            Self::Told(text) => f.write_str(text),
            Self::NoLink(why) => write!(f, "no link to the board: {why}"),
            Self::Silent { garbled: false } => {
                f.write_str("the board does not answer: is it switched on and connected?")
            }
            Self::Silent { garbled: true } => write!(f, "the board does not answer, and {GARBLED}"),
            Self::Mute => f.write_str(MUTE),
            Self::Stranger(kind) => f.write_str(&stranger(*kind)),
            Self::Make(m) => match chess960_steps(*m) {
                // `e8b8` would read as a move of the king alone.
                Some([(king, to), (rook, place)]) => write!(
                    f,
                    "castle on the board: king {king} to {to}, rook {rook} to {place}"
                ),
                None => write!(f, "make the move {} on the board", uci(*m)),
            },
            Self::Shown { m, awaited: false } => {
                write!(f, "shown: {}. Make it if you have not.", uci(*m))
            }
            Self::Shown { m, awaited: true } => write!(
                f,
                "shown: {}. Make it if you have not, then your move.",
                uci(*m)
            ),
            Self::TakeBack(m) if m.is_castle() => write!(
                f,
                "take {} back on the board: the king first, then the rook",
                uci(*m)
            ),
            Self::TakeBack(m) => write!(f, "take {} back on the board", uci(*m)),
            Self::PutBack {
                made,
                takes_back: true,
            } => write!(
                f,
                "{0} was taken back on the board, but it still stands in the game: make {0} again, or take it back there \
                 too",
                uci(*made)
            ),
            Self::PutBack {
                made,
                takes_back: false,
            } => write!(
                f,
                "{0} was taken back on the board, but it stands in the app's game, which cannot take it back: make {0} \
                 again",
                uci(*made)
            ),
            Self::Mistake {
                made,
                expected: Some(expected),
            } => write!(
                f,
                "{} was made instead of {}: please correct it",
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
            Self::Unplaced(None) => f.write_str(UNPLACED),
            Self::Unplaced(Some(made)) => write!(f, "{} does not fit: {UNPLACED}", Words(*made)),
            Self::Misplaced(_) => f.write_str("pieces are misplaced"),
            Self::NewGame { may_move: true } => write!(
                f,
                "{NEW_GAME}: {TO_THE_START}, then press 'Board ready' or just move"
            ),
            Self::NewGame { may_move: false } => {
                write!(f, "{NEW_GAME}: {TO_THE_START}, then press 'Board ready'")
            }
            Self::SetUp {
                fen,
                may_move: true,
            } => write!(
                f,
                "{SET_UP}, then press 'Board ready' or just move (FEN {fen})"
            ),
            Self::SetUp {
                fen,
                may_move: false,
            } => write!(f, "{SET_UP}, then press 'Board ready' (FEN {fen})"),
            Self::SetUpByHand(fen) => write!(
                f,
                "{SET_UP} by hand, and in the board's own set-up mode if it has one; then press 'Board ready' (FEN {fen})"
            ),
            Self::YourMove(color) => write!(
                f,
                "{} to move on the board",
                color.fold_wb("White", "Black")
            ),
            Self::Analysed(m) => write!(
                f,
                "your program only analyses: it gets {} when it stops. To play, choose a clock in the program, not \
                 infinite",
                uci(*m)
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
