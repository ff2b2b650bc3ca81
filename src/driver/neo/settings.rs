//! What can be set of a Neo.

use super::motor;
use crate::recognise::Waits;

/// How the piece is chosen that the player's pawn becomes.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Deserialize, serde::Serialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum Promotion {
    /// The program's choice: its UCI option, a queen by default.
    #[default]
    Option,
    /// Lifting the new piece and putting it back: not at all or once is a queen, twice a knight, three times a rook,
    /// four times a bishop.
    Gesture,
}

impl std::fmt::Display for Promotion {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Option => "option",
            Self::Gesture => "gesture",
        })
    }
}

/// What can be set.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The motor makes the program's moves; otherwise the player does.
    pub motor: bool,
    /// How the player's promotion piece is chosen.
    pub promotion: Promotion,
    /// The board's firmware takes its signs as `27#…` commands.
    pub old_signs: bool,
    /// Columns beside the board for captured pieces, the best first.
    pub parking: Vec<i8>,
    /// How long what may still go on is given.
    pub waits: Waits,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            motor: true,
            promotion: Promotion::Option,
            old_signs: false,
            parking: motor::parking::DEFAULT_COLUMNS.to_vec(),
            waits: Waits::default(),
        }
    }
}
