//! The status of a game on Lichess, by its name, and how the game ended.

use serde::{Deserialize, Deserializer};
use serde_json::Value;
use shakmaty::Color;

use crate::{
    chess::game::Game,
    vocabulary::{GameEnd, Reason},
};

/// The status of a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// It has not begun.
    Created,
    /// It is being played.
    Started,
    /// It was left before both had moved, or the server was restarted.
    Aborted,
    /// Checkmate.
    Mate,
    /// A player resigned.
    Resign,
    /// Stalemate.
    Stalemate,
    /// A player left, and the other one claimed the win or a draw.
    Timeout,
    /// Agreed, or by a rule.
    Draw,
    /// A player's time ran out.
    OutOfTime,
    /// Lichess found the help of a program.
    Cheat,
    /// A player did not make the first move, in a tournament.
    NoStart,
    /// An imported game has ended.
    UnknownFinish,
    /// A draw was offered by a side that the other one cannot mate.
    InsufficientMaterialClaim,
    /// By the rules of a variant.
    VariantEnd,
    /// A name that is not known here. Every new status so far has been an end.
    Other,
}

impl Status {
    /// The status of this name.
    pub fn named(name: &str) -> Self {
        match name {
            "created" => Self::Created,
            "started" => Self::Started,
            "aborted" => Self::Aborted,
            "mate" => Self::Mate,
            "resign" => Self::Resign,
            "stalemate" => Self::Stalemate,
            "timeout" => Self::Timeout,
            "draw" => Self::Draw,
            "outoftime" => Self::OutOfTime,
            "cheat" => Self::Cheat,
            "noStart" => Self::NoStart,
            "unknownFinish" => Self::UnknownFinish,
            "insufficientMaterialClaim" => Self::InsufficientMaterialClaim,
            "variantEnd" => Self::VariantEnd,
            _ => Self::Other,
        }
    }

    /// Whether the game is over.
    pub fn is_over(self) -> bool {
        !matches!(self, Self::Created | Self::Started)
    }

    /// How this game ended; `None` if it is not over. Who won is what the server says: it follows from neither the status nor the
    /// side to move.
    pub fn end(self, winner: Option<Color>, game: &Game) -> Option<GameEnd> {
        // The end if nobody won.
        let end = match self {
            Self::Created | Self::Started => return None,
            Self::Aborted => GameEnd::ABORTED,
            Self::Mate => GameEnd::without_result(Reason::Checkmate),
            Self::Resign => GameEnd::without_result(Reason::Resignation),
            Self::Stalemate => GameEnd::drawn(Reason::Stalemate),
            Self::Timeout => GameEnd::drawn(Reason::Abandoned),
            Self::Draw => GameEnd::draw_in(game),
            Self::OutOfTime => GameEnd::drawn(Reason::Time),
            Self::Cheat => GameEnd::without_result(Reason::Cheat),
            Self::NoStart => GameEnd::without_result(Reason::NoStart),
            Self::UnknownFinish => GameEnd::drawn(Reason::Unknown),
            Self::InsufficientMaterialClaim => GameEnd::drawn(Reason::InsufficientMaterial),
            Self::VariantEnd => GameEnd::drawn(Reason::Variant),
            Self::Other => GameEnd::without_result(Reason::Unknown),
        };
        Some(winner.map_or(end, |winner| GameEnd::won(end.reason, winner)))
    }
}

/// Reads a status: its name in a game's stream, an object with its name in the stream of events.
pub fn read<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Status>, D::Error> {
    let value = Value::deserialize(from)?;
    let name = value.as_str().or(value["name"].as_str());
    Ok(name.map(Status::named))
}
