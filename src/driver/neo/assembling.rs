//! A position is set up by hand: the start of every game.

use std::time::Instant;

use shakmaty::{Bitboard, Board, Position};

use super::{
    Neo, codec,
    part::Part,
    signs::Signs,
    task::{Assembling, Task},
    touched::Touched,
};
use crate::{
    driver::{DriverEvent, Step},
    game::Game,
    recognise::Recogniser,
    vocabulary::Misplaced,
};

impl Neo {
    pub(super) fn start_assembling(&mut self, now: Instant, step: Step) {
        let game = match step {
            Step::SetUp(game) => *game,
            _ => Game::standard(),
        };
        if !self.squares.are_read() {
            // Pieces may have been moved while the link was lost.
            self.touched = Touched::nothing();
        }
        self.known = false;
        self.correction.set_up();
        // What it still waits for is void: the pieces are put otherwise, and the game is another one.
        let standing = self.recogniser.standing().clone();
        self.recogniser = Recogniser::new(self.settings.waits(), standing);
        self.leftover.set_up();
        let wanted = game.position().board().occupied();
        let wrong = match self.squares.full() {
            Some(full) => (wanted & !full, full & !wanted, Bitboard::EMPTY),
            None => (Bitboard::EMPTY, Bitboard::EMPTY, Bitboard::EMPTY),
        };
        if let Some(square) = wrong.0.first() {
            self.say(codec::missing(square));
        }
        self.say(codec::prepare());
        self.say(codec::game_begins());
        self.task = Some(Task::Assemble(Box::new(Assembling {
            game,
            closing: false,
            wrong,
            since: now,
            abandoned: false,
        })));
    }

    /// Looks how far a set-up is.
    pub(super) fn assemble(&mut self, now: Instant, mut assembling: Box<Assembling>) {
        let busy = assembling.closing || assembling.abandoned;
        let Some(full) = self.squares.full().filter(|_| !busy) else {
            self.task = Some(Task::Assemble(assembling));
            return;
        };
        let board = assembling.game.position().board();
        let wanted = board.occupied();
        let known = self.touched.known().occupied();
        // Nobody lifted what was seen to stand where no piece belongs: its square reads wrong.
        let strays = known & self.squares.stood() & !wanted & !full;
        let others = self.touched.others(board) & full | strays;
        let wrong = (wanted & !full, full & !wanted | strays, others);
        if wrong != assembling.wrong {
            assembling.wrong = wrong;
            assembling.since = now;
        }
        let (lacking, surplus, others) = wrong;
        let patient = now.saturating_duration_since(assembling.since) >= assembling.patience();
        let believed = patient && assembling.may_be_believed();
        if (lacking | surplus | others).is_empty() || believed {
            self.close(&mut assembling);
        } else {
            let misplaced = Misplaced::on(board, lacking, surplus, self.touched.known());
            self.tell_misplaced(misplaced);
        }
        self.task = Some(Task::Assemble(assembling));
    }

    /// The pieces stand: the game begins.
    pub(super) fn close(&mut self, assembling: &mut Assembling) {
        assembling.closing = true;
        // The hand may make its move before the board has taken all this.
        self.known = true;
        self.stand_anew(assembling.game.position().board().clone());
        // Told by the step's end.
        self.correction.mended();
        self.say(codec::position_set());
        self.say(codec::in_sync());
        self.outbox.push(codec::reset(), Part::GameBegun);
    }

    /// Asks for the first piece that is missing, as the maker's app does.
    pub(super) fn ask_for_missing(&mut self) {
        if let Some(Task::Assemble(assembling)) = &self.task
            && !assembling.closing
            && let Some(first) = assembling.wrong.0.first()
            && self.outbox.is_empty()
        {
            // The one that is the next to be put down, as the lights show it.
            let next = self
                .correction
                .guidance()
                .iter()
                .find_map(|action| action.to);
            let square = next.filter(|next| assembling.wrong.0.contains(*next));
            let square = square.unwrap_or(first);
            self.say(codec::missing(square));
        }
    }

    pub(super) fn begun(&mut self) {
        if let Some(Task::Assemble(assembling)) = self.task.take() {
            self.squares.forget_put();
            // What has left the game may stand beside the board.
            let missing = Board::new().occupied().count();
            let stand = assembling.game.position().board().occupied().count();
            self.parking.block(missing.saturating_sub(stand));
            self.leftover.set_up();
            self.signs = Signs::default();
            self.game = assembling.game;
            self.events.push_back(DriverEvent::Accepted);
            if self.game.position().outcome().is_known() {
                self.show_signs();
            }
        }
    }
}
