//! What the board is busy with.

use std::time::{Duration, Instant};

use shakmaty::{Bitboard, Color, Move};

use super::{
    ASSEMBLE_LACKING, ASSEMBLE_PATIENCE, OTHERS_PATIENCE,
    motor::{Action, Carry},
};
use crate::{driver::Step, game::Game};

/// What the board is busy with.
#[derive(Clone, Debug)]
pub(super) enum Task {
    /// The player sets up a position.
    Assemble(Box<Assembling>),
    /// The motor makes a move, or takes one back.
    Drive(Driving),
    /// The hand is to carry out a move, or take one back.
    Hand(Step),
}

/// A position is being set up.
#[derive(Clone, Debug)]
pub(super) struct Assembling {
    /// The game whose last position is set up.
    pub game: Game,
    /// The board is told that the game begins; it waits for that no more.
    pub closing: bool,
    /// What was wrong at the last look, and since when: what is missing, what is too many, and what is another piece.
    pub wrong: (Bitboard, Bitboard, Bitboard),
    /// See `wrong`.
    pub since: Instant,
    /// The program wants something else now.
    pub abandoned: bool,
}

impl Assembling {
    /// How long what is wrong is looked at before it is believed to be right after all: squares may read wrong, and a lift
    /// may not have been heard.
    pub fn patience(&self) -> Duration {
        let (_, _, others) = self.wrong;
        if others.is_empty() {
            ASSEMBLE_PATIENCE
        } else {
            OTHERS_PATIENCE
        }
    }

    /// Whether what is wrong may be the squares' reading, to be believed after a while.
    pub fn may_be_believed(&self) -> bool {
        let (lacking, surplus, others) = self.wrong;
        let few = (surplus & !others).is_empty() && lacking.count() <= ASSEMBLE_LACKING;
        few && !self.closing && !self.abandoned
    }
}

/// The motor is at work.
#[derive(Clone, Debug)]
pub(super) struct Driving {
    /// Whether the move is made or taken back.
    pub forward: bool,
    /// The move.
    pub m: Move,
    /// Who made it.
    pub mover: Color,
    /// What is being done.
    pub motion: Motion,
    /// The program knows nothing of it: what is left of another step is undone.
    pub tidying: bool,
    /// The program wants something else now.
    pub unwanted: bool,
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
            // What was undoing a step leaves that step unfinished.
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
    /// None yet: the pieces must stand as expected first.
    Ready,
    /// A path is under way.
    Moving {
        /// What it carries.
        carry: Carry,
        /// Which path it is.
        number: u32,
        /// Its square read empty before.
        dim: bool,
        /// The hand has touched one of its squares meanwhile.
        crossed: bool,
        /// When its `OK` is overdue; unknown until the board has taken the path.
        due: Option<Instant>,
    },
    /// The player is asked to do this.
    Asking(Action),
}

/// A path that was under way when the link was lost, or that the hand came between: a picture tells whether it was carried
/// out.
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
