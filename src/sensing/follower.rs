//! The game that the hand plays on a board, what it is asked to do, and what it was told.

use std::collections::VecDeque;

use shakmaty::{Bitboard, Board, Color, Move, Position, Role};

use super::{
    Awaited, Correction, Report,
    lights::{differing, lit_for},
    task::{Setup, Task},
};
use crate::{
    game::Game,
    vocabulary::{Misplaced, Reported, Wording},
};

/// Follows the game, whatever the board senses.
#[derive(Debug)]
pub struct Follower {
    game: Game,
    /// The player of the next move, after what was reported.
    turn: Color,
    /// No one has been told the last move yet: it may turn out to have been another one.
    may_replace: bool,
    /// Something was reported, and the game has not followed yet.
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

    /// Whether the hand is asked to do nothing but to play.
    pub fn is_free(&self) -> bool {
        self.task.is_none()
    }

    /// Whether the hand sets up a position that the program still wants.
    pub fn is_setting_up(&self) -> bool {
        matches!(&self.task, Some(Task::SetUp(setup)) if !setup.abandoned)
    }

    /// Whether the hand is to carry out a move, or to take one back.
    pub fn is_awaited(&self) -> bool {
        matches!(self.task, Some(Task::Hand(_)))
    }

    /// What the player was told to put right.
    pub fn correction(&self) -> &Correction {
        &self.correction
    }

    /// Whether what was reported is in the game.
    pub fn is_up_to_date(&self) -> bool {
        !self.behind
    }

    /// The game that is set up, unless it stands or the program wants something else.
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

    /// Takes the game as the program knows it. `true` if there is something new about it, and moves can be recognised.
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

    /// What was sensed so far may be otherwise in the game.
    pub(super) fn fall_behind(&mut self) {
        self.behind = true;
    }

    /// It is known now which piece stands where.
    pub(super) fn find(&mut self) {
        self.known = true;
    }

    /// A position is set up by hand: until it stands, the pieces are unknown.
    pub(super) fn set_up(&mut self, game: Game) {
        self.known = false;
        self.correction.set_up();
        self.task = Some(Task::SetUp(Box::new(Setup {
            game,
            closing: false,
            abandoned: false,
        })));
    }

    /// The position to be set up stands, as far as sensed or as the player says. Returns its pieces.
    pub(super) fn close(&mut self) -> Option<Board> {
        let Some(Task::SetUp(setup)) = &mut self.task else {
            return None;
        };
        if setup.closing {
            return None;
        }
        setup.closing = true;
        // The hand may make its move before the driver has begun the game.
        self.known = true;
        self.behind = true;
        // Told by the step's end.
        self.correction.mended();
        self.reports.push_back(Report::SetUp);
        Some(setup.game.position().board().clone())
    }

    /// The game whose position was set up begins. `false` if none was.
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

    /// The hand is to do this.
    pub(super) fn await_hand(&mut self, awaited: Awaited) {
        self.task = Some(Task::Hand(awaited));
        self.behind = true;
        self.correction.accepted();
    }

    /// Drops what the hand was to do, once the pieces stand so and the game has it.
    pub(super) fn mind_hand(&mut self, standing: &Board) {
        // The game that has the move is followed only after it was accepted.
        if self.is_awaited() && !self.behind && standing == self.game.position().board() {
            self.drop_awaited();
        }
    }

    /// The hand is to carry out nothing any more. `true` if it was to.
    pub(super) fn drop_awaited(&mut self) -> bool {
        self.task
            .take_if(|task| matches!(task, Task::Hand(_)))
            .is_some()
    }

    /// The board is to be led to this game: what the hand is asked to do may not be wanted any more. `true` if it is
    /// unknown now where the pieces stand.
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

    /// These pieces stand wrong.
    pub(super) fn tell(&mut self, misplaced: Misplaced) {
        if self.correction.tell(&misplaced) {
            self.reports.push_back(Report::Misplaced(misplaced));
        }
    }

    /// No piece stands wrong any more.
    pub(super) fn mended(&mut self) {
        if self.correction.mended() {
            self.reports.push_back(Report::Stands);
        }
    }

    /// The hand made this move. `promotion` is what a pawn became, if that is known.
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

    /// The hand carried out what the game already had.
    pub(super) fn executed(&mut self) {
        self.mended();
        self.behind = true;
        let shown = match self.task {
            Some(Task::Hand(Awaited::Move(m))) => Some(m),
            // A take-back is done when the pieces stand.
            Some(Task::Hand(Awaited::TakeBack)) => None,
            _ => self.game.last(),
        };
        self.drop_awaited();
        if let Some(m) = shown {
            // The hand may have made its own move before.
            let plies = self.game.moves().iter().rposition(|played| *played == m);
            let before = plies.map(|plies| self.game.position_at(plies).turn());
            let mover = before.unwrap_or(!self.game.turn());
            self.reports.push_back(Report::Executed(by(m, mover)));
        }
    }

    /// The hand took this move back.
    pub(super) fn took_back(&mut self, m: Move) {
        self.mended();
        self.behind = true;
        self.turn = !self.turn;
        let reported = by(m, self.turn);
        self.drop_awaited();
        self.reports.push_back(Report::TookBack { m, reported });
    }

    /// The hand began a new game.
    pub(super) fn new_game(&mut self) {
        self.mended();
        self.behind = true;
        self.reports.push_back(Report::NewGame);
    }

    /// What to light, where the pieces stand so: what is to be put right, or what the hand is to carry out.
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

/// A move of this side, worded so that it cannot be taken for the other side's.
fn by(m: Move, mover: Color) -> Reported {
    Reported {
        color: Some(mover),
        ..Reported::of(m)
    }
}
