//! Where the recogniser is plugged in.

use std::time::Instant;

use boardbridge::{game::Game, sense::Sensed};
use shakmaty::{Board, Move};

use crate::stopgap::Patient;

/// What a recogniser says.
#[allow(dead_code, reason = "the stopgap never asks")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recognised {
    /// The player made this move.
    Played(Move),
    /// The opponent's move, still to be made, was made.
    Executed(Move),
    /// This move, the last one, was taken back.
    TookBack(Move),
    /// It cannot tell, and the player has to be asked.
    Lost,
    /// It can tell again.
    Mended,
}

/// A recogniser.
pub trait Recogniser {
    /// The game as the program knows it, and the pieces as they stand: they may lack a move the hand has still to make.
    fn follow(&mut self, now: Instant, game: &Game, standing: &Board);
    /// Something was sensed.
    fn sense(&mut self, now: Instant, sensed: Sensed);
    /// The time given by [`Self::deadline`] has come.
    fn timeout(&mut self, now: Instant);
    /// When [`Self::timeout`] is to be called.
    fn deadline(&self) -> Option<Instant>;
    /// What was recognised.
    fn poll(&mut self) -> Option<Recognised>;
}

/// The recogniser to be tried.
pub fn recogniser() -> Box<dyn Recogniser> {
    // TODO: the real one. Until then one that waits for quiet and trusts its senses.
    Box::new(Patient::default())
}
