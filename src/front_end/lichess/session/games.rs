//! The account's games that run, and which of them is played at the board.

use shakmaty::Position as _;

use super::LichessAccount;
use crate::front_end::lichess::{
    challenges::unfit,
    notice::Notice,
    objects::GameInfo,
    play::Play,
    request::{color, is_plain},
};

/// Running games that are remembered: a player of correspondence may have some dozens.
pub const MAX_GAMES: usize = 128;

/// A game that runs, and why it cannot be played on a board.
#[derive(Debug)]
pub(super) struct Known {
    pub info: GameInfo,
    pub unfit: Option<String>,
}

impl Known {
    pub fn opponent(&self) -> String {
        let opponent = self.info.opponent.as_ref();
        let level = opponent.and_then(|opponent| opponent.ai);
        let name = opponent.and_then(|opponent| opponent.username.clone());
        match (level, name) {
            (_, Some(name)) => Notice::words(&name),
            (Some(level), None) => format!("Stockfish level {level}"),
            (None, None) => "the opponent".to_owned(),
        }
    }

    pub fn is_timed(&self) -> bool {
        self.info.speed.as_deref() != Some("correspondence")
    }
}

impl LichessAccount {
    pub(super) fn game_starts(&mut self, info: GameInfo) {
        // A game has the identifier of the challenge it comes from, which is no longer open.
        self.challenges.is_gone(&info.game_id);
        if !is_plain(&info.game_id) {
            return;
        }
        let new = !self
            .games
            .iter()
            .any(|known| known.info.game_id == info.game_id);
        if !new || self.games.len() >= MAX_GAMES {
            return;
        }
        let unfit = unfit(info.compat, info.variant.as_ref(), info.speed.as_deref());
        self.games.push(Known { info, unfit });
        if let Some(known) = self.games.last()
            && let Some(why) = known.unfit.clone()
        {
            let opponent = known.opponent();
            self.out.notices.push_back(Notice::Unfit { opponent, why });
            return;
        }
        self.choose();
    }

    /// Chooses a game for the board if it has none, or if a game with a clock waits and the board's game has none.
    pub(super) fn choose(&mut self) {
        let on = self.running();
        if on.is_some_and(|play| {
            let known = |known: &&Known| known.info.game_id == play.id();
            let known = self.games.iter().find(known);
            known.is_none_or(Known::is_timed) || play.is_timed()
        }) {
            return;
        }
        let has = on.is_some();
        let ours = on.map(|play| play.id().to_owned());
        let fits =
            |known: &&Known| known.unfit.is_none() && Some(&known.info.game_id) != ours.as_ref();
        // Games with a clock first, then the one in the board's position.
        let placed = self.held.position().board().board_fen().to_string();
        let stands = |known: &Known| {
            let fen = known.info.fen.as_deref().unwrap_or_default();
            fen.split(' ').next() == Some(placed.as_str())
        };
        let best = self.games.iter().filter(fits);
        let best = best.min_by_key(|known| (!known.is_timed(), !stands(known)));
        let Some(known) = best.filter(|known| known.is_timed() || !has) else {
            return;
        };
        let hand = known.info.color.as_deref().and_then(color);
        let (id, opponent) = (known.info.game_id.clone(), known.opponent());
        let mut play = Play::new(id, hand, opponent);
        play.is_at(self.address(play.id()));
        self.play = Some(play);
        self.seek_is_answered("a game has begun");
        self.seek = None;
        self.lost_stream();
    }

    /// The game that was chosen for the board cannot be played there, for this reason.
    pub(super) fn is_unfit(&mut self, why: String) {
        let Some(play) = self.play.take() else { return };
        let known = |known: &&mut Known| known.info.game_id == play.id();
        if let Some(known) = self.games.iter_mut().find(known) {
            known.unfit = Some(why.clone());
            let opponent = known.opponent();
            self.out.notices.push_back(Notice::Unfit { opponent, why });
        }
        self.choose();
    }
}
