//! What the motors of a board that moves its pieces are doing.

use shakmaty::Board;

/// What the motors of a board that moves its pieces are doing. Placements are as the players see them.
#[derive(Debug, Default)]
pub(super) enum Motor {
    /// Nothing is asked of them.
    #[default]
    Rests,
    /// They bring the pieces to where they should stand.
    Drives(Board),
    /// The pieces have come there.
    Done(Board),
    /// They were stopped on the way, or the link was lost, and the board has not shown the pieces since.
    Stopped {
        /// Where they were to bring the pieces.
        wanted: Board,
    },
    /// They have not brought them there, and the hand is asked.
    GaveUp {
        /// Where the pieces should stand.
        wanted: Board,
        /// The board has shown how the motors have left them.
        shown: bool,
    },
}

impl Motor {
    /// What they were last asked for.
    pub fn wanted(&self) -> Option<&Board> {
        match self {
            Self::Rests | Self::Stopped { .. } => None,
            Self::Drives(wanted) | Self::Done(wanted) | Self::GaveUp { wanted, .. } => Some(wanted),
        }
    }

    /// Whether they bring the pieces to where they should stand.
    pub fn drives(&self) -> bool {
        matches!(self, Self::Drives(_))
    }

    /// Whether they have given up, and the hand is asked.
    pub fn has_given_up(&self) -> bool {
        matches!(self, Self::GaveUp { .. })
    }

    /// They stop wherever they are.
    pub fn stops(&mut self) {
        *self = match std::mem::take(self) {
            Self::Drives(wanted) => Self::Stopped { wanted },
            stopped @ Self::Stopped { .. } => stopped,
            Self::Rests | Self::Done(_) | Self::GaveUp { .. } => Self::Rests,
        };
    }

    /// They give up. `false` if nothing was asked of them.
    pub fn gives_up(&mut self) -> bool {
        let Self::Drives(wanted) = self else {
            return false;
        };
        let (wanted, shown) = (std::mem::take(wanted), false);
        *self = Self::GaveUp { wanted, shown };
        true
    }

    /// The board shows the pieces like this. Says who has put them so.
    pub fn sees(&mut self, board: &Board) -> By {
        match self {
            Self::Drives(wanted) if wanted != board => By::Passing,
            Self::Drives(_) => {
                *self = Self::Done(board.clone());
                By::Motor { arrived: true }
            }
            Self::Stopped { wanted } => {
                let arrived = wanted == board;
                *self = Self::Rests;
                By::Motor { arrived }
            }
            Self::GaveUp { shown, wanted } if !*shown => {
                *shown = true;
                let arrived = wanted == board;
                By::Motor { arrived }
            }
            Self::Rests | Self::Done(_) | Self::GaveUp { .. } => By::Hand,
        }
    }
}

/// Who has put the pieces as they stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum By {
    /// The hand, if anyone.
    Hand,
    /// The motors, which have stopped.
    Motor {
        /// The pieces are where the motors were to bring them.
        arrived: bool,
    },
    /// The motors, which are not done.
    Passing,
}
