//! The correction that the player was asked for.

use shakmaty::{Bitboard, Board};

use crate::{
    chess::guidance::{Action, guide},
    vocabulary::Misplaced,
};

/// The correction that the player was asked for.
#[derive(Debug, Default)]
pub struct Correction {
    misplaced: Option<Misplaced>,
    /// It is about squares that puzzle the recogniser.
    puzzled: bool,
    /// What the player has to do.
    guidance: Vec<Action>,
}

impl Correction {
    /// These pieces are misplaced. Returns `true` if that was not reported before.
    pub(super) fn tell(&mut self, misplaced: &Misplaced) -> bool {
        let news = self.misplaced.as_ref() != Some(misplaced);
        if news {
            self.guidance = guide(&misplaced.stands, &misplaced.wanted);
            self.misplaced = Some(misplaced.clone());
        }
        news
    }

    /// No piece is misplaced any more. Returns `true` if one was.
    pub(super) fn mended(&mut self) -> bool {
        self.puzzled = false;
        self.misplaced.take().is_some()
    }

    /// A step was accepted: misplaced pieces reported before are forgotten unless they are reported again.
    pub(super) fn accepted(&mut self) {
        if !self.puzzled {
            self.misplaced = None;
        }
    }

    /// The recogniser is puzzled.
    pub(super) fn puzzle(&mut self) {
        self.puzzled = true;
    }

    /// The pieces are set up: the recogniser is not puzzled.
    pub(super) fn set_up(&mut self) {
        self.puzzled = false;
    }

    /// Whether the recogniser is puzzled.
    pub fn is_puzzled(&self) -> bool {
        self.puzzled
    }

    /// Whether misplaced pieces were reported to the player.
    pub fn is_told(&self) -> bool {
        self.misplaced.is_some()
    }

    /// The misplaced pieces that were reported to the player.
    pub(super) fn about(&self) -> Option<&Misplaced> {
        self.misplaced.as_ref()
    }

    /// Whether the player was told that these squares lack a piece or hold a surplus one, compared with `wanted`.
    pub(super) fn is_about(&self, wanted: &Board, lacking: Bitboard, surplus: Bitboard) -> bool {
        self.misplaced.as_ref().is_some_and(|told| {
            let told_lacking: Bitboard = told.lacking.iter().map(|(square, _)| *square).collect();
            told.wanted == *wanted && (told_lacking, told.surplus) == (lacking, surplus)
        })
    }

    /// The actions that the player was asked for.
    pub fn guidance(&self) -> &[Action] {
        &self.guidance
    }

    /// Drops all actions, whatever the placement.
    pub(super) fn drop_guidance(&mut self) {
        self.guidance.clear();
    }

    /// The first action that the player was asked for and that `like` accepts.
    pub fn told(&self, like: impl Fn(&Action) -> bool) -> Option<Action> {
        self.misplaced.as_ref()?;
        self.guidance.iter().copied().find(like)
    }
}
