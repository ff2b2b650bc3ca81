//! What the hand has to do so that the pieces stand as they should: the fewest carries, each from a square or from
//! beside the board, in an order in which every square is free when a piece is put on it.
//!
//! Pure, and knows no board: it takes a picture of what stands and the pieces as they should stand.

use std::fmt;

use serde::{Serialize, Serializer, ser::SerializeStruct};
use shakmaty::{Bitboard, Board, Piece, Role, Square};

/// Actions told in one line: a person does not remember more.
const SHOWN: usize = 4;

/// What stands on a board, as far as that is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Picture {
    /// The pieces known.
    pub board: Board,
    /// Squares with a piece that nobody knows. They are empty in `board`.
    pub unknown: Bitboard,
}

impl From<Board> for Picture {
    fn from(board: Board) -> Self {
        Self {
            board,
            unknown: Bitboard::EMPTY,
        }
    }
}

/// One thing for the hand to do: carry a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Action {
    /// The piece; none where the board does not know what stands there.
    pub piece: Option<Piece>,
    /// Where it is; none for beside the board, or in the hand.
    pub from: Option<Square>,
    /// Where it belongs; none for beside the board.
    pub to: Option<Square>,
}

impl Serialize for Action {
    /// `{"piece": "N", "from": "g3", "to": "f3", "text": …}`: the piece as in a FEN, null for what is not known or beside
    /// the board.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let text = |square: Option<Square>| square.map(|square| square.to_string());
        let mut action = serializer.serialize_struct("Action", 4)?;
        action.serialize_field("piece", &self.piece.map(Piece::char))?;
        action.serialize_field("from", &text(self.from))?;
        action.serialize_field("to", &text(self.to))?;
        action.serialize_field("text", &self.to_string())?;
        action.end()
    }
}

impl fmt::Display for Action {
    /// For the player: `move the white knight from g3 to f3`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let piece = self
            .piece
            .map_or_else(|| "piece".to_owned(), |piece| name(piece).to_string());
        match (self.from, self.to) {
            (Some(from), Some(to)) => write!(f, "move the {piece} from {from} to {to}"),
            (Some(from), None) => write!(f, "take the {piece} off {from}"),
            (None, Some(to)) => write!(f, "put the {piece} on {to}"),
            (None, None) => Ok(()),
        }
    }
}

/// A piece in words, for instance `white queen`.
pub fn name(piece: Piece) -> impl fmt::Display {
    let color = piece.color.fold_wb("white", "black");
    let role = match piece.role {
        Role::Pawn => "pawn",
        Role::Knight => "knight",
        Role::Bishop => "bishop",
        Role::Rook => "rook",
        Role::Queen => "queen",
        Role::King => "king",
    };
    format!("{color} {role}")
}

/// Actions for the player, in one line.
pub fn in_words(actions: &[Action]) -> String {
    let words: Vec<String> = actions.iter().map(ToString::to_string).collect();
    words.join(", then ")
}

/// The next few actions for the player, and how many are left.
pub fn in_short(actions: &[Action]) -> String {
    let words = in_words(&actions[..actions.len().min(SHOWN)]);
    match actions.len().saturating_sub(SHOWN) {
        0 => words,
        left => format!("{words}, and {left} more"),
    }
}

/// What to do, in this order, so that the pieces stand as on `wanted`. Nothing if they do.
pub fn guide(stands: &Picture, wanted: &Board) -> Vec<Action> {
    let wrong = |square: &Square| {
        stands.unknown.contains(*square)
            || stands.board.piece_at(*square) != wanted.piece_at(*square)
    };
    let off = Square::ALL.into_iter().filter(wrong).filter_map(|square| {
        let piece = stands.board.piece_at(square);
        (piece.is_some() || stands.unknown.contains(square)).then_some(Action {
            piece,
            from: Some(square),
            to: None,
        })
    });
    let on = Square::ALL.into_iter().filter(wrong).filter_map(|square| {
        wanted.piece_at(square).map(|piece| Action {
            piece: Some(piece),
            from: None,
            to: Some(square),
        })
    });
    off.chain(on).collect()
}
