//! Who decides that a game is over.

use serde::{Deserialize, Serialize};

/// Who decided that a game is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Judge {
    /// The rules of chess.
    Rules,
    /// The board.
    Board,
    /// The player, by the kings on the squares in the centre.
    Hand,
    /// A program or an app.
    Program,
}
