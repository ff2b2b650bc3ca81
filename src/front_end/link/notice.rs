//! Notices to the player at one board of a link.

use std::{fmt, sync::Arc};

use shakmaty::Color;

use crate::{
    chess::game::{MAX_PLIES, uci},
    vocabulary::{GameEnd, Reported, Words},
};

/// One notice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    /// The other board has become unavailable.
    Away(Arc<str>),
    /// The hand has moved, and the other board is not there.
    MoveWaits(Arc<str>),
    /// The other board is back.
    Back(Arc<str>),
    /// Other clients have a board.
    Occupied {
        /// The board.
        board: Arc<str>,
        /// The clients that have it.
        holders: String,
    },
    /// The hand has moved, but it is the other side's turn.
    OutOfTurn {
        /// The move.
        made: shakmaty::uci::UciMove,
        /// The board where the next move is made.
        other: Arc<str>,
    },
    /// Moves were taken back.
    TookBack {
        /// How many.
        plies: usize,
        /// The board.
        board: Arc<str>,
    },
    /// The named board cannot be told of a take-back.
    NoTakeBack(Arc<str>),
    /// The hand here asks for a new game in the middle of one.
    WantsNewGame {
        /// The board that has to ask for it too.
        other: Arc<str>,
    },
    /// The hand at the other board asks for a new game in the middle of one.
    NewGameWanted {
        /// That board.
        other: Arc<str>,
    },
    /// The hand here asks for a new game, and the other board cannot ask for one.
    NoNewGame(Arc<str>),
    /// The game continues after all.
    GoesOn,
    /// A game begins.
    NewGame {
        /// The colour played here.
        color: Color,
        /// The other board.
        other: Arc<str>,
    },
    /// The game is over.
    Over(GameEnd),
    /// The other board reports an unplayable move.
    Illegal {
        /// The move.
        made: Reported,
        /// The board.
        other: Arc<str>,
    },
    /// The game is longer than [`MAX_PLIES`].
    TooLong,
}

impl Notice {
    /// Whether something was refused.
    pub fn is_refusal(&self) -> bool {
        matches!(
            self,
            Self::OutOfTurn { .. }
                | Self::NoTakeBack(_)
                | Self::NoNewGame(_)
                | Self::Illegal { .. }
                | Self::TooLong
        )
    }

    /// This move was made out of turn.
    pub fn out_of_turn(m: shakmaty::Move, other: Arc<str>) -> Self {
        Self::OutOfTurn {
            made: uci(m),
            other,
        }
    }
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Away(other) => write!(f, "{other} is away: the game continues when it is back"),
            Self::MoveWaits(other) => write!(f, "{other} is away: your move waits for it"),
            Self::Back(other) => write!(f, "{other} is back"),
            Self::Occupied { board, holders } => write!(
                f,
                "{board} is in another game, with {holders}: this one continues when it is free, or after \
                 `boardbridge release {board}`"
            ),
            Self::OutOfTurn { made, other } => write!(
                f,
                "{made} was made, but the next move is made on {other}: please put it back"
            ),
            Self::TookBack { plies: 1, board } => write!(f, "a move was taken back on {board}"),
            Self::TookBack { plies, board } => {
                write!(f, "{plies} moves were taken back on {board}")
            }
            Self::NoTakeBack(other) => write!(
                f,
                "{other} cannot be told of a take-back: please make the move again"
            ),
            Self::WantsNewGame { other } => write!(
                f,
                "the game is not over: for a new one the pieces on {other} have to be put on their starting squares \
                 too, within a minute"
            ),
            Self::NewGameWanted { other } => write!(
                f,
                "a new game is wanted on {other}: if you want it too, put the pieces on their starting squares within \
                 a minute, or else just move"
            ),
            Self::NoNewGame(other) => write!(
                f,
                "the game is not over, and {other} cannot tell that it wants a new one: play it to its end, or resign"
            ),
            Self::GoesOn => f.write_str("the game continues"),
            Self::NewGame { color, other } => write!(
                f,
                "new game with {other}: {} is played here",
                color.fold_wb("White", "Black")
            ),
            Self::Over(end) => write!(
                f,
                "the game is over: {end}. Put the pieces on their starting squares for the next one"
            ),
            Self::Illegal { made, other } => write!(
                f,
                "{} was made on {other}, and cannot be played here: the boards hold different games, or it was a \
                 mistake",
                Words(*made)
            ),
            Self::TooLong => write!(
                f,
                "refused a move after {MAX_PLIES} plies: the game is too long"
            ),
        }
    }
}
