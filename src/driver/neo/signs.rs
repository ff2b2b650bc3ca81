//! Signals check and the end of a game on the board.

use shakmaty::{Outcome, Position};

use super::{
    Neo,
    codec::{self, Sign},
};
use crate::vocabulary::{GameEnd, Reason};

/// What was signalled to the board about its game.
#[derive(Debug, Default)]
pub(super) struct Signs {
    /// The program's last move was made on the board; a check that it gives is not signalled yet.
    shown: bool,
    /// The end of this game was signalled.
    ended: bool,
}

impl Signs {
    /// A step was carried out on the board; `is_move`: it was the program's move.
    pub fn show(&mut self, is_move: bool) {
        self.shown = is_move;
    }

    /// Whether the end of this game was signalled.
    pub fn has_ended(&self) -> bool {
        self.ended
    }
}

impl Neo {
    /// Signals an end of the game that its position does not show.
    pub(super) fn sign_of(&mut self, end: GameEnd) {
        // A mate that is not on the board yet is signalled when it is.
        let mate = end.reason == Reason::Checkmate;
        let early = mate && !self.squares.game().position().is_checkmate();
        if !self.is_known() || early || std::mem::replace(&mut self.signs.ended, true) {
            return;
        }
        // Without a result there is no sign for it.
        if let Outcome::Known(outcome) = end.outcome {
            let sign = Sign::Result(outcome.winner());
            self.say(codec::sign(sign, self.settings.old_signs));
        }
        self.say(codec::reset());
        self.say(codec::no_game());
    }

    /// Signals check and the end of the game to the board.
    pub(super) fn show_signs(&mut self) {
        let position = self.squares.game().position();
        let old = self.settings.old_signs;
        match position.outcome() {
            Outcome::Known(outcome) if !self.signs.ended => {
                self.signs.ended = true;
                self.say(codec::sign(Sign::Result(outcome.winner()), old));
                self.say(codec::reset());
                self.say(codec::no_game());
            }
            Outcome::Known(_) => {}
            Outcome::Unknown => {
                self.signs.ended = false;
                // The maker's app does not signal a check given by the player (captured: three checks).
                if self.signs.shown && position.is_check() {
                    self.say(codec::sign(Sign::Check, old));
                }
            }
        }
        self.signs.shown = false;
    }
}
