//! What a GUI was told about its board.

use std::{sync::Arc, time::Instant};

use shakmaty::Move;

use super::throttle::{INSTANT, Throttle};
use crate::chess::game::Game;
use crate::vocabulary::{BoardResult, GameEnd, Judge, LinkState, Snapshot};

/// What a GUI was told about its board.
#[derive(Debug, Default)]
pub(super) struct Told {
    /// The latest state of the board.
    latest: Option<Arc<Snapshot>>,
    /// What the player should do.
    pub throttle: Throttle,
    /// The result as the board reports it.
    result: Option<BoardResult>,
    ending: Option<GameEnd>,
    /// What it was told about a board that has sent nothing yet.
    unheard: Option<String>,
    /// The program's game when the hand took a move of it back while no search was open, and how many plies the board kept.
    taken_back: Option<(Arc<Game>, usize)>,
    /// Why something was refused last, and when.
    refused: Option<(String, Instant)>,
}

impl Told {
    /// The board's state has changed.
    pub fn snapshot(&mut self, snapshot: &Arc<Snapshot>) {
        self.latest = Some(snapshot.clone());
    }

    /// Something is refused for this reason. `false` if that was told an instant ago.
    pub fn refuses(&mut self, now: Instant, why: &str) -> bool {
        let again = |(told, at): &(String, Instant)| told == why && now < *at + INSTANT;
        let is_news = !self.refused.as_ref().is_some_and(again);
        if is_news {
            self.refused = Some((why.to_owned(), now));
        }
        is_news
    }

    /// The latest state of the board.
    pub fn latest(&self) -> Option<Arc<Snapshot>> {
        self.latest.clone()
    }

    /// The state of the board, if something about it must be sent now.
    pub fn due(&self, now: Instant) -> Option<Arc<Snapshot>> {
        let due = self.throttle.deadline().is_some_and(|due| due <= now);
        self.latest.clone().filter(|_| due)
    }

    /// The message that the board has sent nothing yet, if it is new or has to be repeated.
    pub fn unheard(&mut self, snapshot: &Snapshot, repeat: bool) -> Option<String> {
        let unheard = matches!(snapshot.link, LinkState::Unheard { .. });
        let why = snapshot.link.why().filter(|_| unheard);
        let before = std::mem::replace(&mut self.unheard, why.clone());
        why.filter(|why| repeat || before.as_ref() != Some(why))
    }

    /// The hand took back the program's next move while no search was open: some GUIs show nothing then (xboard, by polyglot).
    pub fn taken_back(&mut self, snapshot: &Snapshot) {
        let target = snapshot.target.clone();
        self.taken_back = target.map(|target| (target, snapshot.game.len()));
    }

    /// Such a move, if it still stands in the program's `game`, and was not made again in the game on the `board`. Returned once.
    pub fn take_taken_back(&mut self, game: &Game, board: &Game) -> Option<Move> {
        let (with, kept) = self.taken_back.take()?;
        let has = |game: &Game| game.common_plies(&with).is_some_and(|plies| plies > kept);
        let stands = has(&game.clone().rebased(&with)) && !has(board);
        with.moves().get(kept).copied().filter(|_| stands)
    }

    /// The result as the board reports it, if that is new.
    pub fn result(&mut self, snapshot: &Snapshot) -> Option<BoardResult> {
        let before = std::mem::replace(&mut self.result, snapshot.result);
        snapshot.result.filter(|_| snapshot.result != before)
    }

    /// The result that the kings in the centre signal, if that is new.
    pub fn kings(&mut self, snapshot: &Snapshot) -> Option<GameEnd> {
        let before = std::mem::replace(&mut self.ending, snapshot.ending);
        let news = snapshot.ending != before && snapshot.judge == Some(Judge::Hand);
        snapshot.ending.filter(|_| news)
    }
}
