//! Boards whose games are told with a delay.
//!
//! The round of a broadcast that holds a board's games back says here what may be told of them by now. Whoever else tells running
//! games asks here first: no other way leads around the delay.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use crate::{
    bus::pairings::Pairing,
    chess::game::Game,
    vocabulary::{BoardName, GameEnd, Snapshot},
};

/// What may be told of a board: its state, and who plays whom.
#[derive(Clone, Debug)]
pub struct Told {
    /// The state.
    pub state: Arc<Snapshot>,
    /// Who plays whom, if a front-end knows.
    pub paired: Option<Arc<Pairing>>,
}

impl Told {
    /// The same board with no more of its game than this. Who plays is not held back.
    #[must_use]
    pub fn until(&self, game: &Game, end: Option<GameEnd>, clocks: Vec<Option<Duration>>) -> Self {
        let state = &*self.state;
        let common = game.common_plies(&state.game).unwrap_or(0);
        let paired = self.paired.as_ref().map(|paired| {
            Arc::new(Pairing {
                clock_times: Vec::new(),
                evaluation: None,
                ..Pairing::clone(paired)
            })
        });
        Self {
            state: Arc::new(Snapshot {
                game: Arc::new(game.clone()),
                target: None,
                took: state.took.iter().copied().take(common).collect(),
                left: clocks.into(),
                ending: end,
                ..state.clone()
            }),
            paired,
        }
    }
}

/// A board that is delayed.
#[derive(Debug)]
struct Board {
    /// The round that tells its games.
    round: String,
    told: Option<Told>,
}

/// The boards whose games are told with a delay, and what may be told by now.
#[derive(Clone, Debug, Default)]
pub struct Delayed {
    boards: Arc<Mutex<BTreeMap<BoardName, Board>>>,
}

impl Delayed {
    fn boards(&self) -> MutexGuard<'_, BTreeMap<BoardName, Board>> {
        self.boards.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// From now on exactly these boards are delayed, each by this round. Nothing may be told of a new one before its round says so.
    pub fn set(&self, rounds: BTreeMap<BoardName, String>) {
        let mut boards = self.boards();
        let mut before = std::mem::take(&mut *boards);
        *boards = rounds
            .into_iter()
            .map(|(name, round)| {
                let known = before.remove(&name).filter(|known| known.round == round);
                let told = known.and_then(|known| known.told);
                (name, Board { round, told })
            })
            .collect();
    }

    /// A round says what may be told of a board by now, and is heard if the board is delayed by it.
    pub fn tell(&self, round: &str, board: &BoardName, told: Option<Told>) {
        let mut boards = self.boards();
        let delayed = boards.get_mut(board);
        if let Some(delayed) = delayed.filter(|delayed| delayed.round == round) {
            delayed.told = told;
        }
    }

    /// Whether a board is delayed.
    pub fn has(&self, board: &BoardName) -> bool {
        self.boards().contains_key(board)
    }

    /// What may be told of a board by now: `None` if it is not delayed, `Some(None)` if it is nothing yet.
    pub fn at(&self, board: &BoardName) -> Option<Option<Told>> {
        self.boards().get(board).map(|board| board.told.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_told_of_a_delayed_board_but_by_its_round() {
        let board: BoardName = "neo".parse().unwrap();
        let by = |round: &str| BTreeMap::from([(board.clone(), round.to_owned())]);
        let told = || {
            Some(Told {
                state: Arc::new(Snapshot::new(board.clone())),
                paired: None,
            })
        };
        let delayed = Delayed::default();
        delayed.tell("first", &board, told());
        assert!(delayed.at(&board).is_none());
        delayed.set(by("first"));
        assert!(matches!(delayed.at(&board), Some(None)));
        delayed.tell("other", &board, told());
        assert!(matches!(delayed.at(&board), Some(None)));
        delayed.tell("first", &board, told());
        assert!(matches!(delayed.at(&board), Some(Some(_))));
        // A reload changes nothing, another round begins anew.
        delayed.set(by("first"));
        assert!(matches!(delayed.at(&board), Some(Some(_))));
        delayed.set(by("other"));
        assert!(matches!(delayed.at(&board), Some(None)));
        delayed.set(BTreeMap::new());
        assert!(!delayed.has(&board));
    }
}
