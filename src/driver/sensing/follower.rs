//! The game on a board, the player's task, and what was reported to the player.

use std::collections::VecDeque;

use shakmaty::{Bitboard, Board, Color, Move, Position, Role};

use super::{
    Awaited, Correction, Report,
    lights::{differing, lit_for},
    task::{Setup, Task},
};
use crate::{
    chess::game::Game,
    vocabulary::{Misplaced, Reported, Wording},
};

/// Follows the game, whatever the board senses.
#[derive(Debug)]
pub struct Follower {
    game: Game,
    /// The side to move, after what was reported.
    turn: Color,
    /// The last move was not reported yet: it may turn out to have been another one.
    may_replace: bool,
    /// Something was reported that is not in the game yet.
    behind: bool,
    /// Whether it is known which piece stands where.
    known: bool,
    task: Option<Task>,
    correction: Correction,
    reports: VecDeque<Report>,
}

impl Default for Follower {
    fn default() -> Self {
        Self {
            game: Game::standard(),
            turn: Color::White,
            may_replace: false,
            behind: true,
            known: false,
            task: None,
            correction: Correction::default(),
            reports: VecDeque::new(),
        }
    }
}

impl Follower {
    /// The game followed.
    pub fn game(&self) -> &Game {
        &self.game
    }

    /// Whether it is known which piece stands where.
    pub fn is_known(&self) -> bool {
        self.known
    }

    /// Whether the player has no task other than to play.
    pub fn is_free(&self) -> bool {
        self.task.is_none()
    }

    /// Whether the player sets up a position that the program still wants.
    pub fn is_setting_up(&self) -> bool {
        matches!(&self.task, Some(Task::SetUp(setup)) if !setup.abandoned)
    }

    /// Whether the player is to carry out a move, or to take one back.
    pub fn is_awaited(&self) -> bool {
        matches!(self.task, Some(Task::Hand(_)))
    }

    /// Whether the player is to take a move back.
    pub(super) fn is_take_back_awaited(&self) -> bool {
        matches!(self.task, Some(Task::Hand(Awaited::TakeBack)))
    }

    /// The move that the player is to carry out.
    pub fn awaited_move(&self) -> Option<Move> {
        match self.task {
            Some(Task::Hand(Awaited::Move(m))) => Some(m),
            _ => None,
        }
    }

    /// The correction that the player was asked for.
    pub fn correction(&self) -> &Correction {
        &self.correction
    }

    /// Whether what was reported is in the game.
    pub fn is_up_to_date(&self) -> bool {
        !self.behind
    }

    /// The game being set up, unless it is done or the program wants something else.
    pub(super) fn setup(&self) -> Option<&Game> {
        match &self.task {
            Some(Task::SetUp(setup)) if !setup.closing && !setup.abandoned => Some(&setup.game),
            _ => None,
        }
    }

    /// Whether a position is being set up, or its game has still to begin.
    pub(super) fn has_setup(&self) -> bool {
        matches!(self.task, Some(Task::SetUp(_)))
    }

    /// Whether moves can be recognised: the pieces are known, and no position is being set up.
    pub(super) fn follows(&self) -> bool {
        self.known && !self.has_setup()
    }

    /// Takes the game as the program knows it. `true` if moves can be recognised, and must be computed anew.
    pub(super) fn follow(&mut self, game: &Game, may_replace: bool, follows: bool) -> bool {
        let changed = *game != self.game;
        if changed {
            self.game = game.clone();
        }
        self.turn = self.game.turn();
        let news = changed || self.behind || may_replace != self.may_replace;
        if !follows {
            self.behind |= changed;
            return false;
        }
        self.behind = false;
        self.may_replace = may_replace;
        news
    }

    /// Whether the last move may turn out to have been another one.
    pub(super) fn may_replace(&self) -> bool {
        self.may_replace
    }

    /// The game may differ from what was sensed so far.
    pub(super) fn fall_behind(&mut self) {
        self.behind = true;
    }

    /// It is known now which piece stands where.
    pub(super) fn find(&mut self) {
        self.known = true;
    }

    /// It is no longer known which piece stands where.
    pub(super) fn lose(&mut self) {
        self.mended();
        self.known = false;
    }

    /// Starts a set-up by hand: until it is done, the pieces are unknown.
    pub(super) fn set_up(&mut self, game: Game) {
        self.known = false;
        self.correction.set_up();
        self.task = Some(Task::SetUp(Box::new(Setup {
            game,
            closing: false,
            abandoned: false,
        })));
    }

    /// The position is set up, as far as sensed or as the player reports. Returns its pieces.
    pub(super) fn close(&mut self) -> Option<Board> {
        let Some(Task::SetUp(setup)) = &mut self.task else {
            return None;
        };
        if setup.closing {
            return None;
        }
        setup.closing = true;
        // The player may move before the driver has begun the game.
        self.known = true;
        self.behind = true;
        // The end of the step reports that nothing is misplaced.
        self.correction.mended();
        self.reports.push_back(Report::SetUp);
        Some(setup.game.position().board().clone())
    }

    /// Begins the game with the position that was set up. `false` if there is none.
    pub(super) fn begin(&mut self) -> bool {
        match self.task.take() {
            Some(Task::SetUp(setup)) => {
                self.game = setup.game;
                self.turn = self.game.turn();
                true
            }
            other => {
                self.task = other;
                false
            }
        }
    }

    /// Gives the player this task.
    pub(super) fn await_hand(&mut self, awaited: Awaited) {
        self.task = Some(Task::Hand(awaited));
        self.behind = true;
        self.correction.accepted();
    }

    /// Gives the player the game's last move to carry out, which a restart has forgotten. `true` if the pieces, which are
    /// known to stand like this, stand as before it.
    pub(super) fn await_again(&mut self, standing: &Board) -> bool {
        let is_free = self.follows() && self.is_free() && self.is_up_to_date();
        let Some(m) = self.game.last().filter(|_| is_free) else {
            return false;
        };
        let before = self.game.position_at(self.game.len() - 1);
        let unmade = before.board() == standing;
        if unmade {
            self.task = Some(Task::Hand(Awaited::Move(m)));
        }
        unmade
    }

    /// Gives the player the move to take back that the pieces, which are known to stand like this, have beyond the game: a restart
    /// has forgotten that it was asked for. Returns that move. Not `next`, which is to be made.
    pub(super) fn await_take_back_again(
        &mut self,
        standing: &Board,
        next: Option<Move>,
    ) -> Option<Move> {
        let is_free = self.follows() && self.is_free() && self.is_up_to_date();
        let position = self.game.position();
        if !is_free || position.board() == standing {
            return None;
        }
        let leads = |m: &Move| {
            let mut next = position.clone();
            next.play_unchecked(*m);
            next.board() == standing
        };
        let beyond = position.legal_moves().into_iter().find(leads)?;
        if next == Some(beyond) {
            return None;
        }
        self.task = Some(Task::Hand(Awaited::TakeBack));
        Some(beyond)
    }

    /// Drops the player's task once the pieces stand as in the game.
    pub(super) fn mind_hand(&mut self, standing: &Board) {
        // The game with the move is followed only after the move was accepted.
        if self.is_awaited() && !self.behind && standing == self.game.position().board() {
            self.drop_awaited();
        }
    }

    /// Drops the move that the player was to carry out. `true` if there was one.
    pub(super) fn drop_awaited(&mut self) -> bool {
        self.task
            .take_if(|task| matches!(task, Task::Hand(_)))
            .is_some()
    }

    /// The board is to be led to this game: the player's current task may no longer be wanted. `true` if the placement
    /// of the pieces is unknown now.
    pub(super) fn abandon(&mut self, target: Option<&Game>) -> bool {
        let leads_to = |game: &Game| target.is_some_and(|target| target.continues(game));
        match &mut self.task {
            Some(Task::SetUp(setup)) if !setup.closing => {
                let abandoned = !leads_to(&setup.game) && !setup.abandoned;
                setup.abandoned |= abandoned;
                abandoned
            }
            Some(Task::Hand(_)) if !leads_to(&self.game) => {
                self.drop_awaited();
                false
            }
            _ => false,
        }
    }

    /// The link is down: a position that was being set up is unknown.
    pub(super) fn link_down(&mut self) {
        self.correction.mended();
        self.reports.clear();
        if self.has_setup() {
            self.task = None;
            self.known = false;
        }
    }

    pub(super) fn correction_mut(&mut self) -> &mut Correction {
        &mut self.correction
    }

    /// These pieces are misplaced.
    pub(super) fn tell(&mut self, misplaced: Misplaced) {
        if self.correction.tell(&misplaced) {
            self.reports.push_back(Report::Misplaced(misplaced));
        }
    }

    /// No piece is misplaced any more.
    pub(super) fn mended(&mut self) {
        if self.correction.mended() {
            self.reports.push_back(Report::Stands);
        }
    }

    /// The player made this move. `promotion` is the promotion piece, if known.
    pub(super) fn moved(&mut self, m: Move, promotion: Option<Role>) {
        self.mended();
        self.behind = true;
        let mut reported = by(m, self.turn);
        if let Wording::Squares { promotion: to, .. } = &mut reported.wording {
            *to = promotion;
        }
        self.turn = !self.turn;
        self.reports.push_back(Report::Moved { m, reported });
    }

    /// The other side moves first in a position that was put up by hand.
    pub(super) fn turn_over(&mut self) {
        self.turn = !self.turn;
    }

    /// The player carried out what the game already had.
    pub(super) fn executed(&mut self) {
        self.mended();
        self.behind = true;
        let shown = match self.task {
            Some(Task::Hand(Awaited::Move(m))) => Some(m),
            // A take-back is done when the pieces stand as before the move.
            Some(Task::Hand(Awaited::TakeBack)) => None,
            _ => self.game.last(),
        };
        self.drop_awaited();
        if let Some(m) = shown {
            // The player may have made another move before it.
            let plies = self.game.moves().iter().rposition(|played| *played == m);
            let before = plies.map(|plies| self.game.position_at(plies).turn());
            let mover = before.unwrap_or(!self.game.turn());
            self.reports.push_back(Report::Executed(by(m, mover)));
        }
    }

    /// The player took this move back.
    pub(super) fn took_back(&mut self, m: Move) {
        self.mended();
        self.behind = true;
        self.turn = !self.turn;
        let reported = by(m, self.turn);
        self.drop_awaited();
        self.reports.push_back(Report::TookBack { m, reported });
    }

    /// The player began a new game, whatever was to be carried out in the other one.
    pub(super) fn new_game(&mut self) {
        self.mended();
        self.drop_awaited();
        self.behind = true;
        self.reports.push_back(Report::NewGame);
    }

    /// The squares to light with the placement `standing`: for a correction, or for the move to carry out.
    pub(super) fn lights(&self, standing: &Board) -> Bitboard {
        if self.correction.is_told() {
            lit_for(self.correction.guidance())
        } else if self.is_awaited() {
            differing(standing, self.game.position().board())
        } else {
            Bitboard::EMPTY
        }
    }

    pub(super) fn poll(&mut self) -> Option<Report> {
        self.reports.pop_front()
    }
}

/// A move of this side, worded so that it cannot be mistaken for the other side's.
fn by(m: Move, mover: Color) -> Reported {
    Reported {
        color: Some(mover),
        ..Reported::of(m)
    }
}
