//! What the board shows: lights, and which pieces stand wrong.

use shakmaty::{Bitboard, Position, Square};

use super::{Neo, codec, task::Task};
use crate::{driver::DriverEvent, guidance::Action, vocabulary::Misplaced};

/// What lights up for what is to be put right: the two squares of the first piece that is to be carried on the board, or
/// all the squares that pieces are to be taken off, or all that lack one.
fn lit_for(actions: &[Action]) -> Bitboard {
    let Some(first) = actions.first() else {
        return Bitboard::EMPTY;
    };
    if let (Some(from), Some(to)) = (first.from, first.to) {
        return [from, to].into_iter().collect();
    }
    let off = first.to.is_none();
    let alike = |action: &&Action| {
        let beside = if off { action.to } else { action.from };
        beside.is_none()
    };
    let alike = actions.iter().take_while(alike);
    let square = |action: &Action| action.from.or(action.to);
    alike.filter_map(square).collect()
}

impl Neo {
    pub(super) fn tell_misplaced(&mut self, misplaced: Misplaced) {
        if self.correction.tell(&misplaced) {
            self.events.push_back(DriverEvent::Misplaced(misplaced));
        }
    }

    /// The same squares are wrong as was told, but it may be other pieces that stand there now.
    pub(super) fn look_again(&mut self) {
        let standing = self.recogniser.standing();
        let (lacking, surplus) = self.recogniser.disturbed();
        if self.correction.is_about(standing, lacking, surplus) {
            let misplaced = Misplaced::on(standing, lacking, surplus, self.touched.known());
            self.tell_misplaced(misplaced);
        }
    }

    pub(super) fn mended(&mut self) {
        if self.correction.mended() {
            self.events.push_back(DriverEvent::Stands);
        }
    }

    /// Lights what the hand is to look at.
    pub(super) fn light(&mut self) {
        let mut squares = Bitboard::EMPTY;
        if self.correction.is_told() {
            squares = lit_for(self.correction.guidance());
        } else if let Some(Task::Hand(_)) = &self.task {
            let (before, after) = (self.recogniser.standing(), self.game.position().board());
            squares = before.occupied() ^ after.occupied();
            squares |= Square::ALL
                .into_iter()
                .filter(|s| before.piece_at(*s) != after.piece_at(*s))
                .collect::<Bitboard>();
        }
        if squares != self.lit && self.outbox.is_empty() && !self.motor_runs() {
            self.lit = squares;
            self.say(codec::light(squares));
        }
    }
}
