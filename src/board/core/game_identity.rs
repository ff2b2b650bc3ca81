//! The identity of the game: tells it from every other game of the board, for readers outside the daemon.

use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use crate::{chess::game::Game, state::is_default};

/// Moves that may be taken back before another move means another game; kept games have the same rule.
pub(super) const MAX_TAKEN_BACK: usize = 8;
/// The identities of two games on one board differ by at least this, even if the clock was set back.
const APART: Duration = Duration::from_secs(1);

/// The game that is played on a board, and its identity: the moment from which it is known.
///
/// A game keeps its identity while moves are added, changed or taken back, while the board is away or has lost its memory, and
/// through a restart. Another game has another identity, even if it begins with the same moves.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Identity {
    game: Game,
    since: Option<SystemTime>,
    /// When its first move was seen.
    began: Option<SystemTime>,
    /// It has ended.
    #[serde(skip_serializing_if = "is_default")]
    over: bool,
    /// Another game was announced, or the pieces were put at the start.
    #[serde(skip_serializing_if = "is_default")]
    begins: bool,
}

impl Identity {
    /// Since when the game is known.
    pub fn since(&self) -> Option<SystemTime> {
        self.since
    }

    /// When its first move was seen.
    pub fn began(&self) -> Option<SystemTime> {
        self.began
    }

    /// The next game that differs is another one, however few moves it takes back.
    pub fn begins(&mut self) {
        self.begins = true;
    }

    /// A client states this game. If it continues the game before, it is that game, even if a new one was announced: a program
    /// that was restarted announces one too.
    pub fn goes_on(&mut self, stated: &Game) {
        let is_same = !self.over && !self.game.is_empty() && stated.continues(&self.game);
        self.begins &= !is_same;
    }

    /// Follows the game that is played now. `true` if [`Self::since`] or [`Self::began`] has changed.
    pub fn follow(&mut self, now: SystemTime, played: &Game, over: bool) -> bool {
        let before = (self.since, self.began);
        if self.since.is_none() || self.is_another(played, over) {
            // A saved time may be the last that `SystemTime` can represent.
            let after = self.since.and_then(|since| since.checked_add(APART));
            let next = after.map_or(now, |after| now.max(after));
            *self = Self {
                game: played.clone(),
                since: Some(next),
                ..Self::default()
            };
        } else if self.game != *played && !self.is_looking_back(played) {
            self.begins &= !played.continues(&self.game);
            self.game = played.clone();
        }
        self.over = over;
        if !self.game.is_empty() {
            self.began = self.began.or(Some(now));
        }
        before != (self.since, self.began)
    }

    fn is_another(&self, played: &Game, over: bool) -> bool {
        let resumed = self.over && !over;
        let Some(common) = self.common(played) else {
            return true;
        };
        match self.game.len() - common {
            0 => resumed && self.game.is_empty(),
            lost => {
                let far = lost > MAX_TAKEN_BACK;
                let from_start = common == 0 && (far || resumed);
                let elsewhere = far && (resumed || common < played.len());
                self.begins || from_start || elsewhere
            }
        }
    }

    /// Whether the game is far back in its own moves: the next move decides whether it becomes another game.
    fn is_looking_back(&self, played: &Game) -> bool {
        self.common(played) == Some(played.len()) && self.game.len() - played.len() > MAX_TAKEN_BACK
    }

    /// The moves that both have in common; `None` if they begin differently.
    fn common(&self, played: &Game) -> Option<usize> {
        self.game.common_plies(played)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: SystemTime = SystemTime::UNIX_EPOCH;

    fn game(moves: &str) -> Game {
        let mut game = Game::standard();
        game.play_uci(moves.split_whitespace()).unwrap();
        game
    }

    /// A long game, so that all of it is more than a take-back.
    const LONG: &str = "e2e4 e7e5 g1f3 b8c6 f1b5 a7a6 b5a4 g8f6 e1g1 f8e7";

    #[test]
    fn a_game_keeps_its_identity_through_take_backs_and_the_next_one_has_another() {
        let mut identity = Identity::default();
        identity.follow(NOW, &game(""), false);
        let first = identity.since();
        for moves in ["e2e4", "e2e4 e7e5", "e2e4", "", "d2d4", "d2d4 d7d5"] {
            identity.follow(NOW, &game(moves), false);
            assert_eq!(identity.since(), first, "{moves}");
        }
        identity.begins();
        identity.follow(NOW, &game(""), false);
        assert_ne!(identity.since(), first);
        assert_eq!(identity.began(), None);
    }

    #[test]
    fn a_program_that_is_started_again_and_states_the_same_game_goes_on_with_it() {
        let mut identity = Identity::default();
        identity.follow(NOW, &game("e2e4 e7e5"), false);
        let first = identity.since();
        identity.begins();
        identity.goes_on(&game("e2e4 e7e5"));
        identity.follow(NOW, &game("e2e4"), false);
        assert_eq!(identity.since(), first);
        identity.begins();
        identity.goes_on(&game("d2d4"));
        identity.follow(NOW, &game("d2d4"), false);
        assert_ne!(identity.since(), first);
    }

    #[test]
    fn a_game_that_is_over_or_long_is_not_taken_back_to_its_start() {
        for (moves, over) in [("f2f3 e7e5 g2g4 d8h4", true), (LONG, false), ("", true)] {
            let mut identity = Identity::default();
            identity.follow(NOW, &game(moves), over);
            let first = identity.since();
            identity.follow(NOW, &game(""), false);
            assert_ne!(identity.since(), first, "{moves}");
        }
    }

    #[test]
    fn an_earlier_position_is_looked_at_and_left_or_played_on_from() {
        let mut identity = Identity::default();
        identity.follow(NOW, &game(LONG), false);
        let first = identity.since();
        for (moves, same) in [
            ("e2e4", true),
            (LONG, true),
            ("e2e4", true),
            ("e2e4 c7c5", false),
        ] {
            identity.follow(NOW, &game(moves), false);
            assert_eq!(identity.since() == first, same, "{moves}");
        }
    }

    #[test]
    fn a_clock_that_is_set_back_repeats_no_identity() {
        let mut identity = Identity::default();
        identity.follow(NOW + APART * 100, &game(LONG), false);
        let first = identity.since().unwrap();
        identity.follow(NOW + APART * 100, &game(""), false);
        identity.follow(NOW, &game(LONG), false);
        identity.follow(NOW, &game(""), false);
        assert!(identity.since().unwrap() >= first + 2 * APART);
    }

    #[test]
    fn after_the_last_time_that_can_be_kept_a_game_has_another_identity() {
        let last = SystemTime::UNIX_EPOCH + Duration::from_secs(i64::MAX.unsigned_abs());
        let kept = serde_json::json!({"game": game(LONG), "since": last});
        let mut identity: Identity = serde_json::from_value(kept).unwrap();
        assert_eq!(identity.since(), Some(last));
        identity.begins();
        identity.follow(NOW, &game(""), false);
        assert_eq!(identity.since(), Some(NOW));
    }
}
