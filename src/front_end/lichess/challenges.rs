//! Challenges of the account, to others and by others: which are open, and what is answered to one that comes.

use super::{
    notice::Notice,
    objects::{self, Compat, Keyed},
    request::{OfChallenge, is_plain},
    settings::Accept,
};
use crate::bus::account::Challenge;

/// Challenges that are remembered; Lichess allows an account a few.
pub const MAX_CHALLENGES: usize = 32;

/// What is done about a challenge that has come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reaction {
    /// It is answered so.
    Answers(OfChallenge),
    /// The player is told, and decides.
    Tells(Notice),
}

/// The challenges that are open.
#[derive(Debug, Default)]
pub struct Challenges(Vec<Challenge>);

impl Challenges {
    /// All of them, as they came.
    pub fn list(&self) -> &[Challenge] {
        &self.0
    }

    /// None is known any more.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// This one is open no more.
    pub fn is_gone(&mut self, id: &str) {
        self.0.retain(|known| known.id != id);
    }

    /// One comes. `is_free`: a game may begin at the board.
    pub fn comes(
        &mut self,
        challenge: Challenge,
        accept: Accept,
        is_free: bool,
    ) -> Option<Reaction> {
        self.is_gone(&challenge.id);
        if self.0.len() >= MAX_CHALLENGES {
            return None;
        }
        let reaction = match accept {
            _ if challenge.own => None,
            Accept::None => return None,
            Accept::Ask => {
                let rated = if challenge.rated { "rated" } else { "casual" };
                Some(Reaction::Tells(Notice::Challenged {
                    player: challenge.player.clone(),
                    game: format!("{}, {rated}", challenge.time),
                }))
            }
            Accept::All => Some(Reaction::Answers(if challenge.unfit.is_some() {
                OfChallenge::Decline("variant")
            } else if is_free {
                OfChallenge::Accept
            } else {
                OfChallenge::Decline("later")
            })),
        };
        self.0.push(challenge);
        reaction
    }

    /// The one by another player that is meant: of this identifier, or the only one.
    ///
    /// # Errors
    ///
    /// Which there are instead, in words.
    pub fn meant(&self, id: Option<&str>) -> Result<&Challenge, String> {
        let to_us: Vec<&Challenge> = self.0.iter().filter(|known| !known.own).collect();
        let meant = match (id, &to_us[..]) {
            (Some(id), _) => to_us.iter().find(|known| known.id == id).copied(),
            (None, [only]) => Some(*only),
            (None, _) => None,
        };
        meant.ok_or_else(|| {
            let list: Vec<String> = to_us
                .iter()
                .map(|known| format!("{} by {} ({})", known.id, known.player, known.time))
                .collect();
            match (list.is_empty(), id) {
                (true, _) => "there is no challenge".to_owned(),
                (false, Some(_)) => format!("there is no such challenge, but {}", list.join(", ")),
                (false, None) => format!("there are several: name one of {}", list.join(", ")),
            }
        })
    }
}

/// A challenge as Lichess tells it to this user; `None` if it has no identifier that can be answered to.
pub fn read(
    challenge: &objects::Challenge,
    compat: Option<Compat>,
    user: Option<&str>,
) -> Option<Challenge> {
    if !is_plain(&challenge.id) {
        return None;
    }
    let challenger = challenge.challenger.as_ref();
    let challenger = challenger.and_then(|user| user.name.as_ref().or(user.id.as_ref()));
    let own = match (challenge.direction.as_deref(), challenger, user) {
        (Some(direction), ..) => direction == "out",
        (None, Some(challenger), Some(user)) => challenger.eq_ignore_ascii_case(user),
        (None, ..) => false,
    };
    let other = if own {
        challenge.dest_user.as_ref()
    } else {
        challenge.challenger.as_ref()
    };
    let name = other.and_then(|user| user.name.as_deref());
    let time = challenge.time_control.as_ref();
    let time = time.and_then(objects::TimeControl::words);
    Some(Challenge {
        id: challenge.id.clone(),
        own,
        player: Notice::words(name.unwrap_or("someone")),
        rating: other.and_then(|user| user.rating),
        time: Notice::words(time.as_deref().unwrap_or("no clock")),
        rated: challenge.rated == Some(true),
        unfit: unfit(
            compat,
            challenge.variant.as_ref(),
            challenge.speed.as_deref(),
        ),
    })
}

/// Why a game cannot be played on a board.
pub fn unfit(
    compat: Option<Compat>,
    variant: Option<&Keyed>,
    speed: Option<&str>,
) -> Option<String> {
    let variant = variant.and_then(|variant| variant.key.as_deref());
    match variant.unwrap_or("standard") {
        "standard" | "chess960" | "fromPosition" => {}
        other => {
            let other = Notice::words(other);
            return Some(format!("the variant {other} cannot be played on a board"));
        }
    }
    if compat.and_then(|compat| compat.board) != Some(false) {
        return None;
    }
    Some(match speed {
        Some("blitz") => "Lichess lets boards play blitz only by challenge".to_owned(),
        Some("bullet" | "ultraBullet") => "Lichess lets boards play no bullet".to_owned(),
        _ => "Lichess does not let boards play this game".to_owned(),
    })
}
