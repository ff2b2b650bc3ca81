//! What the squares tell, and what the recogniser makes of it.

use std::time::Instant;

use shakmaty::{Bitboard, Board, Color, Move, Position, Role};

use super::{NEW_GAME_PICTURES, Neo, Promotion, codec, task::Task, touched::Touched};
use crate::{
    driver::{DriverEvent, Step},
    recognise::Recognised,
    sense::Sensed,
    vocabulary::{Misplaced, Reported, Wording},
};

impl Neo {
    pub(super) fn sense(&mut self, now: Instant, sensed: Sensed) {
        if self.known {
            self.recogniser.sense(now, sensed);
        }
    }

    /// Pieces put on their starting squares in the middle of something else are a new game.
    pub(super) fn mind_new_game(&mut self, now: Instant, picture: Bitboard) {
        let start = Board::new();
        let other = self.recogniser.standing().occupied() != start.occupied();
        let free = self.known && self.task.is_none() && self.recogniser.is_disturbed();
        let exchanged = self.touched.others(&start).any();
        if picture != start.occupied() || !other || !free || exchanged {
            self.squares.show_start(false, NEW_GAME_PICTURES);
            return;
        }
        if self.squares.show_start(true, NEW_GAME_PICTURES) {
            self.stand_anew(start);
            self.parking.clear();
            self.mended();
            self.say(codec::game_begins());
            self.events.push_back(DriverEvent::NewGame);
            self.work(now);
        }
    }

    /// What the recogniser has to say.
    pub(super) fn recognised(&mut self, now: Instant) {
        // What the hand does meanwhile is told once the path under way is done, and known where it led.
        while !self.motor_runs()
            && let Some(recognised) = self.recogniser.poll()
        {
            match recognised {
                Recognised::Played(m) => {
                    self.behind = true;
                    let gesture = self.settings.promotion == Promotion::Gesture;
                    if m.is_promotion() && gesture {
                        self.gesture.begin(now, m);
                    } else {
                        self.played(m, None);
                    }
                }
                Recognised::Executed => {
                    self.behind = true;
                    self.executed();
                }
                Recognised::TookBack(m) => {
                    self.behind = true;
                    self.took_back(m);
                }
                Recognised::Puzzled { lacking, surplus } => {
                    self.correction.puzzle();
                    self.tell_puzzle(lacking, surplus);
                }
                // Its squares are right; whether its pieces are is looked at now.
                Recognised::Mended if self.correction.is_puzzled() => {}
                Recognised::Mended => self.mended(),
            }
        }
        // Once the player is told what is wrong, each touch changes it at once.
        if self.correction.is_puzzled() && self.correction.is_told() && !self.motor_runs() {
            let (lacking, surplus) = self.recogniser.disturbed();
            self.tell_puzzle(lacking, surplus);
        }
    }

    fn tell_puzzle(&mut self, lacking: Bitboard, surplus: Bitboard) {
        let standing = self.recogniser.standing();
        let misplaced = Misplaced::on(standing, lacking, surplus, self.touched.known());
        if misplaced.is_right() {
            self.mended();
        } else {
            self.tell_misplaced(misplaced);
        }
    }

    /// Every square may be as it should, and pieces be known to have been exchanged. They are to be put right, and until
    /// then no move is made: the position is another one.
    pub(super) fn mind_touched(&mut self, now: Instant) {
        let standing = self.recogniser.standing();
        let exchanged = self.known && self.touched.others(standing).any();
        let rests = self.known && !self.recogniser.is_disturbed() && !self.correction.is_told();
        if rests && !exchanged && !self.touched.stands_as(standing) {
            // What was lifted and put down was understood.
            self.touched = Touched::pieces(standing.clone());
        }
        if rests && exchanged && !self.motor_runs() {
            self.correction.puzzle();
            self.tell_puzzle(Bitboard::EMPTY, Bitboard::EMPTY);
        }
        self.recogniser
            .pause(now, self.correction.is_puzzled() && exchanged);
    }

    pub(super) fn played(&mut self, m: Move, role: Option<Role>) {
        self.squares.forget_put();
        self.mended();
        let mut reported = by(m, self.game.turn());
        if let Wording::Squares { promotion, .. } = &mut reported.wording {
            *promotion = role;
        }
        let moved = DriverEvent::Moved(reported);
        match self.task.take() {
            // The hand did what the motor was about to do.
            Some(Task::Drive(driving)) if driving.forward && driving.m == m && !driving.tidying => {
                self.events.push_back(DriverEvent::Accepted);
                self.events
                    .push_back(DriverEvent::Moved(by(m, driving.mover)));
            }
            Some(Task::Drive(driving)) => {
                self.broke_off(&driving);
                self.events.push_back(moved);
            }
            // The hand made its own move first; what was shown is still awaited.
            Some(task @ Task::Hand(_)) => {
                self.task = Some(task);
                self.events.push_back(moved);
            }
            Some(Task::Assemble(_)) | None => self.events.push_back(moved),
        }
    }

    pub(super) fn executed(&mut self) {
        self.mended();
        let shown = match self.task.take() {
            Some(Task::Hand(Step::Show(m))) => Some(m),
            // A take-back is done when the pieces stand.
            Some(Task::Hand(_)) => None,
            other => {
                self.task = other;
                self.game.last()
            }
        };
        if let Some(m) = shown {
            // The hand may have made its own move before.
            let plies = self.game.moves().iter().rposition(|played| *played == m);
            let before = plies.map(|plies| self.game.position_at(plies).turn());
            let mover = before.unwrap_or(!self.game.turn());
            self.events.push_back(DriverEvent::Moved(by(m, mover)));
        }
    }

    pub(super) fn took_back(&mut self, m: Move) {
        self.mended();
        match self.task.take() {
            Some(Task::Drive(driving))
                if !driving.forward && driving.m == m && !driving.tidying =>
            {
                self.events.push_back(DriverEvent::Accepted);
            }
            Some(Task::Drive(driving)) => {
                self.broke_off(&driving);
                self.events
                    .push_back(DriverEvent::TookBack(Some(by(m, !self.game.turn()))));
            }
            _ => self
                .events
                .push_back(DriverEvent::TookBack(Some(by(m, !self.game.turn())))),
        }
    }
}

/// A move of this side, worded so that it cannot be taken for the other side's.
pub(super) fn by(m: Move, mover: Color) -> Reported {
    Reported {
        color: Some(mover),
        ..Reported::of(m)
    }
}
