//! One thing for the hand to do.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de, ser::SerializeStruct};
use shakmaty::{Piece, Square};

use super::piece::called;

/// One thing for the hand to do: carry a piece.
///
/// A piece that is put aside and comes back later takes two: one off its square, one from beside the board.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Action {
    /// The piece; `None` if the board does not know it.
    pub piece: Option<Piece>,
    /// Where it is; `None` for beside the board, or in the hand.
    pub from: Option<Square>,
    /// Where it belongs; `None` for beside the board.
    pub to: Option<Square>,
}

impl Serialize for Action {
    /// `{"piece": "N", "from": "g3", "to": "f3", "text": …}`: the piece as in a FEN, null if unknown; squares null for
    /// beside the board.
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

impl<'de> Deserialize<'de> for Action {
    /// Reads what was serialised; the words are made anew.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Given {
            piece: Option<char>,
            from: Option<String>,
            to: Option<String>,
        }
        let Given { piece, from, to } = Given::deserialize(deserializer)?;
        let square = |text: Option<String>| text.map(|text| text.parse::<Square>()).transpose();
        let piece = piece.map(|piece| {
            Piece::from_char(piece)
                .ok_or_else(|| de::Error::custom(format!("`{piece}` is no piece")))
        });
        Ok(Self {
            piece: piece.transpose()?,
            from: square(from).map_err(de::Error::custom)?,
            to: square(to).map_err(de::Error::custom)?,
        })
    }
}

impl fmt::Display for Action {
    /// For the player: `move the white knight from g3 to f3`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let piece = called(self.piece);
        match (self.from, self.to) {
            (Some(from), Some(to)) => write!(f, "move the {piece} from {from} to {to}"),
            (Some(from), None) => write!(f, "take the {piece} off {from}"),
            (None, Some(to)) => write!(f, "put the {piece} on {to}"),
            (None, None) => Ok(()),
        }
    }
}
