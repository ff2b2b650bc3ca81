//! How tidily an end writes its messages.

use shakmaty::Move;

use crate::{
    game::{Game, uci},
    random_move, random_to_queen,
};

/// The characters of a move on the wire (document: the move string's length).
pub(super) const MOVE_WIDTH: usize = 5;

/// How an end writes its messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Style {
    /// As the documents print them.
    #[default]
    Exact,
    /// As home-made programs do: CR LF, moves not filled up, O-O, upper-case promotion letters.
    Sloppy,
    /// Exact, but a promotion has no letter: the documents print none.
    Bare,
}

impl Style {
    /// A message with its line end.
    pub(super) fn message(self, text: &str) -> Vec<u8> {
        let end = match self {
            Self::Exact | Self::Bare => "\n",
            Self::Sloppy => "\r\n",
        };
        format!("{text}{end}").into_bytes()
    }

    /// A random legal move that can be expressed in this style.
    pub(super) fn random_move(self, game: &Game, random: &mut fastrand::Rng) -> Option<Move> {
        match self {
            Self::Exact | Self::Sloppy => random_move(game, random),
            Self::Bare => random_to_queen(game, random),
        }
    }

    /// A move as it is sent after `MA` or `MB`.
    pub(super) fn moved(self, m: Move) -> String {
        let text = match m {
            Move::Castle { king, rook } if rook > king => "0-0".to_owned(),
            Move::Castle { .. } => "0-0-0".to_owned(),
            _ => uci(m).to_string(),
        };
        match self {
            Self::Exact => format!("{text:>MOVE_WIDTH$}"),
            Self::Bare => {
                let squares = text.get(..4).filter(|_| m.is_promotion());
                format!("{:>MOVE_WIDTH$}", squares.unwrap_or(&text))
            }
            Self::Sloppy if m.is_castle() => text.replace('0', "O"),
            Self::Sloppy => match (text.get(..4), m.promotion()) {
                (Some(squares), Some(role)) => format!("{squares}{}", role.upper_char()),
                _ => text,
            },
        }
    }
}
