//! The motor makes a move, or takes one back, path by path.

use std::time::Instant;

use shakmaty::{Bitboard, Position, Square};

use super::{
    LONGEST_PATH, Neo, OWED_WAIT, PATH_WAIT, PICTURE_WAIT, codec,
    motor::{self, Action, Carry, Place},
    part::Part,
    recognition::by,
    task::{Driving, Interrupted, Motion, Task},
};
use crate::{
    driver::{DriverEvent, StepFailure},
    vocabulary::Misplaced,
};

impl Neo {
    pub(super) fn path_done(&mut self, now: Instant) {
        self.quiet_until = None;
        if let Some(interrupted) = self.interrupted.take() {
            self.apply(&Action::Carry(interrupted.carry));
            self.recogniser.resume();
        }
        let Some(Task::Drive(driving)) = &mut self.task else {
            return;
        };
        // An `OK` may come before the answer to the write.
        if let Motion::Moving {
            carry,
            dim,
            crossed,
            ..
        } = &driving.motion
        {
            let (carry, dim, crossed) = (carry.clone(), *dim, *crossed);
            driving.motion = Motion::Ready;
            self.put = Bitboard::EMPTY;
            self.picture = None;
            self.look_due = Some(now + PICTURE_WAIT);
            if crossed {
                self.interrupted = Some(Interrupted::of(carry, dim));
            } else {
                self.apply(&Action::Carry(carry));
            }
        }
    }

    /// The hand touched this square. Where the motor comes for a piece that the hand holds, it carries nothing, and its `OK`
    /// proves nothing.
    pub(super) fn crossed(&mut self, square: Square) {
        if let Some(Task::Drive(Driving {
            motion: Motion::Moving { carry, crossed, .. },
            ..
        })) = &mut self.task
        {
            *crossed |= [carry.from, carry.to].contains(&Place::Square(square));
        }
    }

    /// Whether a picture shows that the path under way was carried out, long enough after it was sent that its
    /// `OK` will not come any more.
    pub(super) fn ok_was_lost(&self, now: Instant, picture: Bitboard) -> bool {
        let Some(Task::Drive(Driving {
            motion:
                Motion::Moving {
                    carry,
                    dim,
                    due: Some(due),
                    ..
                },
            ..
        })) = &self.task
        else {
            return false;
        };
        let path = Interrupted::of(carry.clone(), *dim);
        let late = now + PATH_WAIT >= *due + LONGEST_PATH;
        late && self.carried_out(&path, picture) != Some(false)
    }

    /// Whether a picture shows that a path was carried out whose `OK` was not heard, or proves nothing. `None` if both its
    /// ends read empty: the square that its piece was put on may read wrong, or a hand holds the piece.
    pub(super) fn carried_out(&self, path: &Interrupted, picture: Bitboard) -> Option<bool> {
        let Place::Square(from) = path.carry.from else {
            let Place::Square(to) = path.carry.to else {
                return Some(true);
            };
            return Some(picture.contains(to));
        };
        if picture.contains(from) {
            // No square reads full that is not.
            return Some(false);
        }
        let Place::Square(to) = path.carry.to else {
            return Some(!path.dim);
        };
        if picture.contains(to) || path.dim {
            return Some(picture.contains(to));
        }
        // A hand may have put it elsewhere.
        let elsewhere = picture & !self.recogniser.standing().occupied();
        if elsewhere.any() { Some(false) } else { None }
    }

    pub(super) fn apply(&mut self, action: &Action) {
        self.put = Bitboard::EMPTY;
        let mut board = self.recogniser.standing().clone();
        action.apply(&mut board, &mut self.parking);
        self.stand(board);
        if let Action::Carry(Carry { from, to, .. }) = action {
            if let Place::Square(from) = from {
                self.stood.discard(*from);
            }
            if let Place::Square(to) = to {
                self.put.add(*to);
            }
        }
    }

    /// Undoes what is left of a step that the program does not want any more.
    pub(super) fn tidy(&mut self) -> Option<Task> {
        let game = self.game.position().board();
        if self.unfinished.is_some() && self.recogniser.standing() == game {
            self.unfinished = None;
        }
        // A picture of this link tells first what became of the last path.
        let seen = self.known && self.interrupted.is_none() && self.picture.is_some();
        let unfinished = self.unfinished.take_if(|u| u.unwanted && seen)?;
        Some(Task::Drive(Driving {
            forward: !unfinished.forward,
            m: unfinished.m,
            mover: unfinished.mover,
            motion: Motion::Ready,
            tidying: true,
            unwanted: true,
        }))
    }

    /// The step under way did not come to its end.
    pub(super) fn broke_off(&mut self, driving: &Driving) {
        self.unfinished = Some(driving.into());
        if !driving.tidying {
            self.events
                .push_back(DriverEvent::Failed(StepFailure::NoAnswer));
        }
    }

    /// Takes the motor's step further.
    pub(super) fn drive(&mut self, now: Instant, mut driving: Driving) {
        match &driving.motion {
            Motion::Moving {
                number, due: None, ..
            } if self.is_disturbed() && self.outbox.retract(Part::Path(*number)) => {
                driving.motion = Motion::Ready;
            }
            Motion::Moving {
                carry, dim, due, ..
            } => {
                if due.is_some_and(|due| due <= now) {
                    let interrupted = Interrupted::of(carry.clone(), *dim);
                    let seen = |picture| self.carried_out(&interrupted, picture) != Some(false);
                    if !self.picture.is_some_and(seen) {
                        self.broke_off(&driving);
                        return;
                    }
                    self.apply(&Action::Carry(interrupted.carry));
                    driving.motion = Motion::Ready;
                    return self.drive(now, driving);
                }
            }
            Motion::Asking(action) => {
                let full = self.picture.unwrap_or(Bitboard::EMPTY) | self.put;
                let done = match action {
                    Action::Bring { square, .. } => full.contains(*square),
                    Action::Remove { square } => self.picture.is_some() && !full.contains(*square),
                    Action::Carry(_) => true,
                };
                if done {
                    let action = action.clone();
                    self.apply(&action);
                    self.mended();
                    driving.motion = Motion::Ready;
                    return self.drive(now, driving);
                }
            }
            Motion::Ready => {
                if self.is_disturbed() || self.interrupted.is_some() {
                    self.task = Some(Task::Drive(driving));
                    return;
                }
                let standing = self.recogniser.standing();
                let plan = if driving.forward {
                    motor::forward(standing, &self.parking, driving.m, driving.mover)
                } else {
                    motor::back(standing, &self.parking, driving.m, driving.mover)
                };
                // What the hand took off comes back when all is taken back: perhaps on another square.
                let by_hand = |action: &Action| matches!(action, Action::Bring { .. });
                let next = plan
                    .into_iter()
                    .find(|action| driving.forward || !by_hand(action));
                match next {
                    None => return self.driven(&driving),
                    Some(Action::Carry(carry)) => {
                        self.paths = self.paths.wrapping_add(1);
                        let number = self.paths;
                        self.outbox
                            .push(codec::path(&carry.path), Part::Path(number));
                        let dim = match carry.from {
                            Place::Square(square) => self.reads_empty(square),
                            Place::Slot(_) => false,
                        };
                        driving.motion = Motion::Moving {
                            carry,
                            number,
                            dim,
                            crossed: false,
                            due: None,
                        };
                    }
                    Some(action) => {
                        self.ask(&action);
                        driving.motion = Motion::Asking(action);
                    }
                }
            }
        }
        self.task = Some(Task::Drive(driving));
    }

    /// Whether a square that holds a piece reads empty, as far as its reading is known.
    fn reads_empty(&self, square: Square) -> bool {
        match self.picture {
            Some(picture) => !picture.contains(square),
            // What the motor or the hand put there since the last picture has not been read.
            None => self.recogniser.dim().contains(square) && !self.put.contains(square),
        }
    }

    /// Whether the pieces may not stand as they should, so that the motor had better wait.
    pub(super) fn is_disturbed(&self) -> bool {
        // After an absence a piece may be missing that was not seen lifted: the motor would find nothing.
        let disturbed = self.recogniser.is_disturbed()
            || self.recogniser.disturbed() != (Bitboard::EMPTY, Bitboard::EMPTY)
            || self.puzzled;
        disturbed && self.known
    }

    pub(super) fn ask(&mut self, action: &Action) {
        let standing = self.recogniser.standing();
        let mut misplaced = Misplaced {
            stands: standing.clone().into(),
            wanted: standing.clone(),
            ..Misplaced::default()
        };
        match *action {
            Action::Bring { square, piece } => {
                misplaced.lacking.push((square, piece));
                misplaced.stands.board.discard_piece_at(square);
                misplaced.wanted.set_piece_at(square, piece);
                self.say(codec::missing(square));
            }
            Action::Remove { square } => {
                misplaced.surplus.add(square);
                misplaced.wanted.discard_piece_at(square);
            }
            Action::Carry(_) => return,
        }
        self.put = Bitboard::EMPTY;
        self.tell_misplaced(misplaced);
    }

    /// The step under way is in the board's game. What was told to stand wrong before it is told no more, unless it still does.
    pub(super) fn accepted(&mut self) {
        if !self.puzzled {
            self.misplaced = None;
        }
        self.events.push_back(DriverEvent::Accepted);
    }

    pub(super) fn driven(&mut self, driving: &Driving) {
        if driving.tidying {
            self.behind = true;
            return;
        }
        self.accepted();
        if driving.forward {
            self.shown = true;
            // It stands on the board already: nothing is left for the hand.
            self.events
                .push_back(DriverEvent::Moved(by(driving.m, driving.mover)));
        }
    }

    pub(super) fn motor_runs(&self) -> bool {
        matches!(
            &self.task,
            Some(Task::Drive(Driving {
                motion: Motion::Moving { .. },
                ..
            }))
        )
    }

    /// Whether the motor is on its way, so that nothing may be written.
    pub(super) fn motor_is_out(&self) -> bool {
        matches!(
            &self.task,
            Some(Task::Drive(Driving {
                motion: Motion::Moving { due: Some(_), .. },
                ..
            }))
        )
    }

    /// Pieces that only the hand can bring are asked for once the motor rests.
    pub(super) fn mind_owed(&mut self, now: Instant) {
        let resting = self.task.is_none() && self.known && !self.behind && self.settings.motor;
        // A picture of this link tells first what is there already, and is still to be understood.
        let full = self.picture.map(|picture| picture | self.put);
        let resting = resting && full.is_some();
        let (lacking, surplus) = self.owed();
        let lacking = lacking & !full.unwrap_or_default();
        if !resting || (lacking | surplus).is_empty() {
            self.owed_due = None;
        } else if self.misplaced.is_none() {
            let due = *self.owed_due.get_or_insert(now + OWED_WAIT);
            if due <= now {
                let board = self.game.position().board();
                let misplaced = Misplaced::on(board, lacking, surplus, self.touched.known());
                if let Some(square) = lacking.first() {
                    self.say(codec::missing(square));
                }
                self.tell_misplaced(misplaced);
            }
        }
    }

    /// Squares of the game's position that lack their piece, and those that hold one too many.
    pub(super) fn owed(&self) -> (Bitboard, Bitboard) {
        let standing = self.recogniser.standing().occupied();
        let wanted = self.game.position().board().occupied();
        (wanted & !standing, standing & !wanted)
    }
}
