//! Lets the motor make a move, or take one back, path by path.

use std::time::Instant;

use shakmaty::{Bitboard, Board, Position, Role, Square, attacks};

use super::{
    LONGEST_PATH, Neo, OWED_WAIT, PATH_WAIT, codec,
    motor::{self, Action, Spot},
    request::Purpose,
    task::{Driving, Interrupted, Motion},
};
use crate::{
    driver::{DriverEvent, StepFailure, sensing::Work},
    vocabulary::Misplaced,
};

impl Neo {
    pub(super) fn path_done(&mut self, now: Instant) {
        self.leftover.stopped();
        if let Some(interrupted) = self.leftover.take_path() {
            self.apply(&Action::Carry(interrupted.carry));
            self.squares.resume();
        }
        let Some(driving) = &mut self.driving else {
            return;
        };
        // An `OK` may come before the answer to the write.
        if let Motion::Moving {
            number,
            carry,
            dim,
            crossed,
            ..
        } = &driving.motion
        {
            let (carry, dim, crossed) = (carry.clone(), *dim, *crossed);
            if !self.outbox.was_done(Purpose::Path(*number)) {
                // It is of the path before.
                return;
            }
            driving.motion = Motion::Ready;
            self.squares.outdate();
            self.contact.look_later(now);
            if crossed {
                self.leftover.interrupt(Interrupted::of(carry, dim));
            } else {
                self.apply(&Action::Carry(carry));
            }
        }
    }

    /// The player touched this square. If the motor comes for a piece that is in a hand, it carries nothing, and its
    /// `OK` proves nothing.
    pub(super) fn crossed(&mut self, square: Square) {
        if let Some(Driving {
            motion: Motion::Moving { carry, crossed, .. },
            ..
        }) = &mut self.driving
        {
            *crossed |= [carry.from, carry.to].contains(&Spot::Square(square));
        }
    }

    /// Whether a picture shows that the current path was carried out, so long after it was sent that its
    /// `OK` will not come any more.
    pub(super) fn ok_was_lost(&self, now: Instant, picture: Bitboard) -> bool {
        let Some(Driving {
            motion:
                Motion::Moving {
                    carry,
                    dim,
                    due: Some(due),
                    ..
                },
            ..
        }) = &self.driving
        else {
            return false;
        };
        let path = Interrupted::of(carry.clone(), *dim);
        let late = now + PATH_WAIT >= *due + LONGEST_PATH;
        late && self.carried_out(&path, picture) != Some(false)
    }

    /// Whether a picture shows that a path was carried out if its `OK` was not heard, or proves nothing. `None` if both
    /// its ends read empty: the destination may read wrong, or the piece may be in a hand.
    pub(super) fn carried_out(&self, path: &Interrupted, picture: Bitboard) -> Option<bool> {
        let Spot::Square(from) = path.carry.from else {
            let Spot::Square(to) = path.carry.to else {
                return Some(true);
            };
            return Some(picture.contains(to));
        };
        let to = path.carry.to.square();
        let board = self.squares.standing();
        let standing = board.occupied();
        if !standing.contains(from) {
            // What became of its piece is understood already.
            return Some(to.is_some_and(|to| standing.contains(to)));
        }
        if picture.contains(from) {
            // An empty square never reads occupied. If the destination, free before, is occupied too, the piece has arrived:
            // the hand has answered already, with a piece put where this one stood: one of the other side. If pieces have left
            // their squares, and none can have gone there, one of them stands at the destination.
            let gone = standing & !picture & !self.squares.long_dim();
            let answered =
                gone.is_empty() || gone.into_iter().any(|square| answers(board, square, from));
            let arrived = |to| picture.contains(to) && !standing.contains(to);
            return Some(answered && to.is_some_and(arrived));
        }
        let Some(to) = to else {
            return Some(!path.dim);
        };
        if picture.contains(to) || path.dim {
            return Some(picture.contains(to));
        }
        // The player may have put it elsewhere.
        let elsewhere = picture & !standing;
        if elsewhere.any() { Some(false) } else { None }
    }

    pub(super) fn apply(&mut self, action: &Action) {
        let mut board = self.squares.standing().clone();
        action.apply(&mut board, &mut self.parking);
        let moved = board != *self.squares.standing();
        let (from, to) = match action {
            Action::Carry(carry) if moved => (carry.from.square(), carry.to.square()),
            _ => (None, None),
        };
        self.squares.moved_itself(board, from, to);
    }

    /// Undoes what is left of a step that the program no longer wants.
    pub(super) fn tidy(&mut self) -> Option<Driving> {
        if self.squares.standing() == self.squares.game().position().board() {
            self.leftover.finish();
        }
        // Only after a picture on this link, which shows the outcome of the last path.
        let read = self.squares.picture().is_some();
        let seen = self.is_known() && !self.leftover.has_path() && read;
        let unfinished = seen.then(|| self.leftover.take_unwanted()).flatten()?;
        Some(Driving {
            forward: !unfinished.forward,
            m: unfinished.m,
            mover: unfinished.mover,
            motion: Motion::Ready,
            tidying: true,
            unwanted: true,
        })
    }

    /// The current step was not finished.
    pub(super) fn broke_off(&mut self, driving: &Driving) {
        self.leftover.break_off(driving);
        if !driving.tidying {
            self.events
                .push_back(DriverEvent::Failed(StepFailure::NoAnswer));
        }
    }

    /// Continues the motor's step.
    pub(super) fn drive(&mut self, now: Instant, mut driving: Driving) {
        match &driving.motion {
            Motion::Moving {
                number, due: None, ..
            } if self.squares.is_disturbed() && self.outbox.retract(Purpose::Path(*number)) => {
                driving.motion = Motion::Ready;
            }
            Motion::Moving {
                carry, dim, due, ..
            } => {
                if due.is_some_and(|due| due <= now) {
                    let interrupted = Interrupted::of(carry.clone(), *dim);
                    let seen = |picture| self.carried_out(&interrupted, picture) != Some(false);
                    if !self.squares.picture().is_some_and(seen) {
                        self.broke_off(&driving);
                        return;
                    }
                    self.apply(&Action::Carry(interrupted.carry));
                    driving.motion = Motion::Ready;
                    return self.drive(now, driving);
                }
            }
            Motion::Asking(action) => {
                let full = self.squares.full();
                let done = match action {
                    Action::Bring { square, .. } => {
                        full.is_some_and(|full| full.contains(*square))
                            || self.squares.was_put(*square)
                    }
                    Action::Remove { square } => full.is_some_and(|full| !full.contains(*square)),
                    Action::Carry(_) => true,
                };
                if done {
                    let action = action.clone();
                    self.apply(&action);
                    self.squares.mended();
                    self.pass_on();
                    driving.motion = Motion::Ready;
                    return self.drive(now, driving);
                }
            }
            Motion::Ready if self.leftover.has_path() => {}
            Motion::Ready => match self.next_action(&driving) {
                // The player may be making the next move already.
                None => return self.driven(&driving),
                Some(_) if self.squares.is_disturbed() => {}
                Some(action) => driving.motion = self.begin_motion(action),
            },
        }
        self.driving = Some(driving);
    }

    /// The next action of a step. `None` if nothing is left to do.
    fn next_action(&self, driving: &Driving) -> Option<Action> {
        let standing = self.squares.standing();
        let plan = if driving.forward {
            motor::forward(standing, &self.parking, driving.m, driving.mover)
        } else {
            motor::back(standing, &self.parking, driving.m, driving.mover)
        };
        // A piece taken off by hand comes back when the step is undone: perhaps on another square.
        let by_hand = |action: &Action| matches!(action, Action::Bring { .. });
        plan.into_iter()
            .find(|action| driving.forward || !by_hand(action))
    }

    fn begin_motion(&mut self, action: Action) -> Motion {
        let carry = match action {
            Action::Carry(carry) => carry,
            action => {
                self.ask(&action);
                return Motion::Asking(action);
            }
        };
        self.paths = self.paths.wrapping_add(1);
        let number = self.paths;
        self.outbox
            .push(codec::path(&carry.path), Purpose::Path(number));
        let dim = match carry.from {
            Spot::Square(square) => self.squares.reads_empty(square),
            Spot::Slot(_) => false,
        };
        Motion::Moving {
            carry,
            number,
            dim,
            crossed: false,
            due: None,
        }
    }

    pub(super) fn ask(&mut self, action: &Action) {
        let standing = self.squares.standing();
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
        self.squares.forget_put();
        self.squares.tell(misplaced);
        self.pass_on();
    }

    /// The current step is in the board's game.
    pub(super) fn accepted(&mut self) {
        self.squares.accepted();
        self.surplus_told = false;
        self.events.push_back(DriverEvent::Accepted);
    }

    pub(super) fn driven(&mut self, driving: &Driving) {
        if driving.tidying {
            self.squares.fall_behind();
            return;
        }
        self.accepted();
        if driving.forward {
            self.signs.show(true);
            // It stands on the board already: nothing is left for the player to do.
            self.events
                .push_back(DriverEvent::Moved(driving.reported()));
        }
    }

    pub(super) fn motors_work(&self) -> Work {
        if self.motor_runs() {
            Work::Moves
        } else if self.driving.is_some() || self.leftover.has_step() {
            Work::HalfDone
        } else {
            Work::Rests
        }
    }

    pub(super) fn motor_runs(&self) -> bool {
        matches!(
            &self.driving,
            Some(Driving {
                motion: Motion::Moving { .. },
                ..
            })
        )
    }

    /// Whether the motor is moving, so that nothing may be written.
    pub(super) fn motor_is_out(&self) -> bool {
        matches!(
            &self.driving,
            Some(Driving {
                motion: Motion::Moving { due: Some(_), .. },
                ..
            })
        )
    }

    /// Once the motor rests, asks for pieces that only the player can bring.
    pub(super) fn mind_owed(&mut self, now: Instant) {
        let follower = self.squares.follower();
        let free = follower.is_free() && follower.is_known() && follower.is_up_to_date();
        let told = follower.correction().is_told();
        let resting = free && self.driving.is_none() && self.settings.motor;
        // Only after a picture on this link, which shows which pieces are there already.
        let full = self.squares.full();
        let resting = resting && full.is_some();
        let (lacking, surplus) = self.owed();
        let lacking = lacking & !full.unwrap_or_default();
        if !resting || (lacking | surplus).is_empty() {
            self.owed_due = None;
        } else if !told {
            let due = *self.owed_due.get_or_insert(now + OWED_WAIT);
            if due <= now {
                if let Some(square) = lacking.first() {
                    self.say(codec::missing(square));
                }
                self.squares.tell_wrong(lacking, surplus);
                self.pass_on();
            }
        }
    }

    /// Squares of the game's position that lack their piece, and those that hold a surplus one.
    pub(super) fn owed(&self) -> (Bitboard, Bitboard) {
        let standing = self.squares.standing().occupied();
        let wanted = self.squares.game().position().board().occupied();
        (wanted & !standing, standing & !wanted)
    }
}

/// Whether the piece of one square can have gone to the other one, which a piece of the other side has left.
fn answers(board: &Board, square: Square, left: Square) -> bool {
    let Some(piece) = board.piece_at(square) else {
        return false;
    };
    let goes = if piece.role == Role::Pawn {
        let ahead = i32::from(left.rank()) - i32::from(square.rank());
        left.file() == square.file() && (1..=2).contains(&piece.color.fold_wb(ahead, -ahead))
    } else {
        attacks::attacks(square, piece, board.occupied()).contains(left)
    };
    goes && board.color_at(left) != Some(piece.color)
}
