//! One client's claim to the board.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use shakmaty::Role;

use super::{
    answers::Answer,
    presence::{AWAY, IDLE, LOOKS_ON, OVER, Presence, Rest},
};
use crate::{
    chess::game::Game,
    vocabulary::{ClientId, ClientName, ClocksSince, Occasion},
};

/// Whether a client has the board, and what it does there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Place {
    /// It waits for the board.
    Waits,
    /// It was put out of its game, and has not begun another.
    PutOut,
    /// It has the board, and has not awaited the hand since it got it.
    LooksOn,
    /// It has awaited the hand since it got the board. Counts by when clients began to play.
    Plays(u64),
    /// Its game is over: it has the board only until the last move is shown. If it has played, counted as there.
    Ends(Option<u64>),
}

/// What a client asks of the hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "bool", into = "bool")]
pub(super) enum Wish {
    /// Nothing.
    Nothing,
    /// A move.
    Move,
    /// A move to be given once the client sends `stop`; until then it only analyses.
    Analysis,
}

impl From<bool> for Wish {
    fn from(awaits: bool) -> Self {
        if awaits { Self::Move } else { Self::Nothing }
    }
}

impl From<Wish> for bool {
    fn from(wish: Wish) -> Self {
        wish != Wish::Nothing
    }
}

/// One client's claim to the board.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Claim {
    /// Its identity.
    pub client: ClientId,
    /// Its name in messages.
    pub label: ClientName,
    /// The client's number for its target.
    pub number: u64,
    /// The game it follows.
    pub game: Game,
    /// The purpose of the game.
    pub(super) occasion: Occasion,
    pub(super) place: Place,
    #[serde(skip)]
    pub(super) presence: Presence,
    #[serde(rename = "awaiting")]
    pub(super) wish: Wish,
    #[serde(rename = "makes_way")]
    pub(super) rest: Rest,
    /// It begins a new game when it leads.
    pub(super) begins: bool,
    #[serde(default)]
    pub(super) answer: Answer,
    /// The clocks of its game.
    #[serde(skip)]
    pub(super) clocks: Option<ClocksSince>,
    /// What a pawn becomes where the board cannot tell.
    #[serde(with = "role")]
    pub(super) promotion: Role,
}

/// A role is kept as its letter.
mod role {
    use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
    use shakmaty::Role;

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
    pub fn serialize<S: Serializer>(role: &Role, serializer: S) -> Result<S::Ok, S::Error> {
        role.char().serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Role, D::Error> {
        let letter = char::deserialize(deserializer)?;
        Role::from_char(letter).ok_or_else(|| de::Error::custom("not a piece"))
    }
}

impl Claim {
    /// Whether it has the board; otherwise it waits for it.
    pub fn is_joined(&self) -> bool {
        !matches!(self.place, Place::Waits | Place::PutOut)
    }

    /// Whether it was put out, and gets the board again only for a new game.
    pub fn is_put_out(&self) -> bool {
        self.place == Place::PutOut
    }

    /// Whether it awaits a move of the hand.
    pub(super) fn awaits(&self) -> bool {
        self.wish != Wish::Nothing
    }

    /// Whether it has the board for itself.
    pub fn is_alone(&self) -> bool {
        matches!(self.place, Place::LooksOn | Place::Plays(_)) && self.label == ClientName::Lichess
    }

    /// Whether it is a chess program.
    pub(super) fn is_program(&self) -> bool {
        matches!(self.label, ClientName::Program(_))
    }

    /// Whether its game is over.
    pub(super) fn ends(&self) -> bool {
        matches!(self.place, Place::Ends(_))
    }

    /// Whether it has the board only until another client wants it.
    pub(super) fn lets_others(&self) -> bool {
        self.rest == Rest::MakesWay || self.ends()
    }

    /// Whether it may have to make way when it does nothing for a time.
    pub(super) fn may_have_to_go(&self) -> bool {
        self.is_joined() && self.rest != Rest::MakesWay && !self.is_alone()
    }

    /// It plays on, though its game was over.
    pub(super) fn goes_on(&mut self) {
        if let Place::Ends(played) = self.place {
            self.place = played.map_or(Place::LooksOn, Place::Plays);
        }
    }

    /// Lets a client that was put out have the board again.
    pub(super) fn forgive(&mut self) {
        if self.is_put_out() {
            self.place = Place::Waits;
        }
    }

    /// How long it keeps the board without any activity. `over`: the game on the board has ended.
    pub(super) fn patience(&self, over: bool) -> Duration {
        match self.place {
            _ if self.presence == Presence::Away => AWAY,
            _ if over && self.is_program() => OVER,
            Place::Plays(_) => IDLE,
            Place::LooksOn | Place::Waits | Place::PutOut | Place::Ends(_) => LOOKS_ON,
        }
    }

    /// The client was active.
    pub(super) fn stirs(&mut self) {
        self.rest = Rest::Stirs;
    }

    /// Whether a game is a new one for a client that was put out of its own.
    pub(super) fn is_new(&self, game: &Game) -> bool {
        !game.continues(&self.game) && matches!(game.common_plies(&self.game), None | Some(0))
    }

    /// Whether it has played on the board longer than a client in this place.
    pub(super) fn is_before(&self, place: Place) -> bool {
        match (self.place, place) {
            (Place::Plays(mine), Place::Plays(other)) => mine < other,
            (Place::Plays(_), _) => true,
            _ => false,
        }
    }
}
