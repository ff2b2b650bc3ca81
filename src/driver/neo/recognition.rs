//! What the squares tell, and what the recogniser makes of it.

use std::time::Instant;

use shakmaty::{Bitboard, Board, Color, Move, Position, Role, Square};

use super::{
    Landings, NEW_GAME_PICTURES, Neo, PROMOTION_WAIT, Promoting, Promotion, codec, task::Task,
    touched::Touched,
};
use crate::{
    driver::{DriverEvent, Step},
    recognise::{BOUNCE, Recognised},
    sense::Sensed,
    vocabulary::{Misplaced, Reported, Wording},
};

impl Neo {
    pub(super) fn sense(&mut self, now: Instant, sensed: Sensed) {
        if self.known {
            self.recogniser.sense(now, sensed);
        }
    }

    /// Landings are counted from the first on, because the recogniser may take a moment to know a promotion.
    pub(super) fn count_landing(&mut self, now: Instant, square: Square) {
        let before = self.landings.filter(|landings| landings.square == square);
        let elsewhere = self.promoting.is_some_and(|p| p.m.to() != square);
        if !elsewhere {
            let count = before.map_or(0, |landings| landings.count);
            self.landings = Some(Landings {
                square,
                count: count.saturating_add(1),
                last: now,
            });
        }
    }

    pub(super) fn count_lift(&mut self, now: Instant, square: Square) {
        match &mut self.landings {
            Some(landings) if landings.square == square => {
                let bounced = now.saturating_duration_since(landings.last) < BOUNCE;
                landings.count -= u8::from(bounced);
                if let Some(promoting) = &mut self.promoting {
                    promoting.due = now + PROMOTION_WAIT;
                }
            }
            _ if self.promoting.is_none() => self.landings = None,
            _ => {}
        }
    }

    /// Pieces put on their starting squares in the middle of something else are a new game.
    pub(super) fn mind_new_game(&mut self, now: Instant, picture: Bitboard) {
        let start = Board::new();
        let other = self.recogniser.standing().occupied() != start.occupied();
        let free = self.known && self.task.is_none() && self.recogniser.is_disturbed();
        let exchanged = self.touched.others(&start).any();
        if picture != start.occupied() || !other || !free || exchanged {
            self.new_game_pictures = 0;
            return;
        }
        self.new_game_pictures += 1;
        if self.new_game_pictures >= NEW_GAME_PICTURES {
            self.new_game_pictures = 0;
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
                        let due = now + PROMOTION_WAIT;
                        self.promoting = Some(Promoting { m, due });
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
                    self.puzzled = true;
                    self.tell_puzzle(lacking, surplus);
                }
                // Its squares are right; whether its pieces are is looked at now.
                Recognised::Mended if self.puzzled => {}
                Recognised::Mended => self.mended(),
            }
        }
        // Once the player is told what is wrong, each touch changes it at once.
        if self.puzzled && self.misplaced.is_some() && !self.motor_runs() {
            let (lacking, surplus) = self.recogniser.disturbed();
            self.tell_puzzle(lacking, surplus);
        }
    }

    fn tell_puzzle(&mut self, lacking: Bitboard, surplus: Bitboard) {
        let standing = self.recogniser.standing();
        // What only the hand can bring may be there by now, or part of it.
        let busy = self.task.is_some() || self.unfinished.is_some() || self.promoting.is_some();
        let wanted = if busy || self.behind {
            standing.clone()
        } else {
            self.game.position().board().clone()
        };
        let full = (standing.occupied() & !lacking) | surplus;
        let (lacking, surplus) = (wanted.occupied() & !full, full & !wanted.occupied());
        let told = |told: &Misplaced| told.surplus.count() > told.lacking.len();
        if surplus.count() > lacking.count() && !self.misplaced.as_ref().is_some_and(told) {
            // The hand may have begun to take a capture back.
            self.doubt_captured();
        }
        let misplaced = Misplaced::on(&wanted, lacking, surplus, self.touched.known());
        if misplaced.is_right() {
            if *self.recogniser.standing() != wanted && *self.touched.known() == wanted {
                self.stand(wanted);
            }
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
        let rests = self.known && !self.recogniser.is_disturbed() && self.misplaced.is_none();
        if rests && !exchanged && !self.touched.stands_as(standing) {
            // What was lifted and put down was understood.
            self.touched = Touched::pieces(standing.clone());
        }
        if rests && exchanged && !self.motor_runs() {
            self.puzzled = true;
            self.tell_puzzle(Bitboard::EMPTY, Bitboard::EMPTY);
        }
        self.recogniser.pause(now, self.puzzled && exchanged);
    }

    pub(super) fn played(&mut self, m: Move, role: Option<Role>) {
        self.put = Bitboard::EMPTY;
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

    /// The piece that the last move captured may not stand where the motor put it.
    fn doubt_captured(&mut self) {
        if let Some(role) = self.game.last().and_then(Move::capture) {
            self.parking.doubt(role.of(self.game.turn()));
        }
    }

    pub(super) fn took_back(&mut self, m: Move) {
        self.doubt_captured();
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
