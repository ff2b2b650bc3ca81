//! What the player was told to put right.

use shakmaty::{Bitboard, Board};

use crate::{
    guidance::{Action, guide},
    vocabulary::Misplaced,
};

/// What the player was told to put right.
#[derive(Debug, Default)]
pub struct Correction {
    misplaced: Option<Misplaced>,
    /// It is the recogniser that is puzzled by that.
    puzzled: bool,
    /// What the hand is to do about that.
    guidance: Vec<Action>,
}

impl Correction {
    /// These pieces stand wrong. `true` if that is news.
    pub(super) fn tell(&mut self, misplaced: &Misplaced) -> bool {
        let news = self.misplaced.as_ref() != Some(misplaced);
        if news {
            self.guidance = guide(&misplaced.stands, &misplaced.wanted);
            self.misplaced = Some(misplaced.clone());
        }
        news
    }

    /// No piece stands wrong any more. `true` if one did.
    pub(super) fn mended(&mut self) -> bool {
        self.puzzled = false;
        self.misplaced.take().is_some()
    }

    /// A step was taken. What was told to stand wrong before it is told no more, unless it still does.
    pub(super) fn accepted(&mut self) {
        if !self.puzzled {
            self.misplaced = None;
        }
    }

    /// The recogniser is puzzled.
    pub(super) fn puzzle(&mut self) {
        self.puzzled = true;
    }

    /// The pieces are set up: the recogniser has nothing to be puzzled by.
    pub(super) fn set_up(&mut self) {
        self.puzzled = false;
    }

    /// Whether the recogniser is puzzled.
    pub fn is_puzzled(&self) -> bool {
        self.puzzled
    }

    /// Whether the player was told that pieces stand wrong.
    pub fn is_told(&self) -> bool {
        self.misplaced.is_some()
    }

    /// Whether the player was told that on these squares pieces are missing or too many, for them to stand so.
    pub(super) fn is_about(&self, wanted: &Board, lacking: Bitboard, surplus: Bitboard) -> bool {
        self.misplaced.as_ref().is_some_and(|told| {
            let told_lacking: Bitboard = told.lacking.iter().map(|(square, _)| *square).collect();
            told.wanted == *wanted && (told_lacking, told.surplus) == (lacking, surplus)
        })
    }

    /// What the hand was told to do.
    pub fn guidance(&self) -> &[Action] {
        &self.guidance
    }

    /// Nothing is to be put right, whatever stands.
    pub(super) fn drop_guidance(&mut self) {
        self.guidance.clear();
    }

    /// The first thing like this that the player is told to do.
    pub fn told(&self, like: impl Fn(&Action) -> bool) -> Option<Action> {
        self.misplaced.as_ref()?;
        self.guidance.iter().copied().find(like)
    }
}
