//! What the motor is doing.

use std::time::Instant;

use shakmaty::{Color, Move};

use super::motor::{Action, Carry};
use crate::vocabulary::Reported;

/// A step of the motor.
#[derive(Clone, Debug)]
pub(super) struct Driving {
    /// Whether the move is made or taken back.
    pub forward: bool,
    /// The move.
    pub m: Move,
    /// The side that made it.
    pub mover: Color,
    /// The current action.
    pub motion: Motion,
    /// The program did not ask for it: the rest of another step is undone.
    pub tidying: bool,
    /// The program wants something else now.
    pub unwanted: bool,
}

impl Driving {
    /// Whether the program has asked for this move.
    pub fn makes(&self, m: Move) -> bool {
        self.forward && self.m == m && !self.tidying
    }

    /// Whether the program has asked to take this move back.
    pub fn takes_back(&self, m: Move) -> bool {
        !self.forward && self.m == m && !self.tidying
    }

    /// The move, worded so that it cannot be mistaken for the other side's.
    pub fn reported(&self) -> Reported {
        Reported {
            color: Some(self.mover),
            ..Reported::of(self.m)
        }
    }
}

/// A step of the motor that was begun and not finished: some of its pieces stand as before it, some as after.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unfinished {
    /// As in [`Driving`].
    pub forward: bool,
    /// As in [`Driving`].
    pub m: Move,
    /// As in [`Driving`].
    pub mover: Color,
    /// The program wants something else now.
    pub unwanted: bool,
}

impl From<&Driving> for Unfinished {
    fn from(driving: &Driving) -> Self {
        Self {
            // An interrupted undoing leaves the original step unfinished.
            forward: driving.forward != driving.tidying,
            m: driving.m,
            mover: driving.mover,
            unwanted: driving.unwanted,
        }
    }
}

/// One action of a move.
#[derive(Clone, Debug)]
pub(super) enum Motion {
    /// No action yet: the pieces must first stand as expected.
    Ready,
    /// A path is being carried out.
    Moving {
        /// What it carries.
        carry: Carry,
        /// Its number.
        number: u32,
        /// Its square read empty before.
        dim: bool,
        /// The player has touched one of its squares meanwhile.
        crossed: bool,
        /// When its `OK` is overdue; unknown until the board has taken the path.
        due: Option<Instant>,
    },
    /// The player is asked to do this.
    Asking(Action),
}

/// A path interrupted by a lost link or by the player's hand: a picture shows whether it was carried out.
#[derive(Clone, Debug)]
pub(super) struct Interrupted {
    /// What it carries.
    pub carry: Carry,
    /// Its square read empty before.
    pub dim: bool,
    /// Pictures since.
    pub pictures: u8,
}

impl Interrupted {
    /// No picture has come since.
    pub fn of(carry: Carry, dim: bool) -> Self {
        Self {
            carry,
            dim,
            pictures: 0,
        }
    }
}
