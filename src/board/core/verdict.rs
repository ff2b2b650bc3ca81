//! How the game on the board ended, and who reported it.

use serde::{Deserialize, Serialize};

use crate::{
    chess::game::Game,
    state::is_default,
    vocabulary::{BoardResult, GameEnd, Judge},
};

/// How the game on the board ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Verdict {
    #[serde(skip_serializing_if = "is_default")]
    end: Option<(GameEnd, Judge)>,
    /// The result as the board reports it.
    #[serde(skip_serializing_if = "is_default")]
    result: Option<BoardResult>,
    /// The end as a program stated it, until the board has been told.
    #[serde(skip_serializing_if = "is_default")]
    untold: Option<GameEnd>,
    /// The game whose end the program stated.
    #[serde(skip_serializing_if = "is_default")]
    programs: Option<Game>,
    /// Both kings were put in the centre, which says this, so that what differs from the game is not a mistake.
    #[serde(skip_serializing_if = "is_default")]
    sign: Option<GameEnd>,
    /// The game on the board has changed.
    #[serde(skip_serializing_if = "is_default")]
    unjudged: bool,
}

impl Verdict {
    /// How the game ended, and who said so.
    pub fn end(&self) -> Option<(GameEnd, Judge)> {
        self.end
    }

    /// The result as the board reports it.
    pub fn result(&self) -> Option<BoardResult> {
        self.result
    }

    /// The board reports how the game ended.
    pub fn board_says(&mut self, result: BoardResult) {
        self.result = Some(result);
    }

    /// The board's result no longer applies.
    pub fn goes_on(&mut self) {
        self.result = None;
    }

    /// A game begins.
    pub fn begins(&mut self) {
        self.end = None;
    }

    /// A program states how this game ends.
    pub fn program_says(&mut self, end: GameEnd, game: Game) {
        self.untold = Some(end);
        self.programs = Some(game);
    }

    /// A program leads the board to this game. Where it is another one than that whose end was stated, the hand may have taken that back
    /// to its beginning.
    pub fn led_to(&mut self, target: &Game) {
        let left = self.programs.take_if(|ended| ended != target);
        // Once the next game begins, the end of the one still on the board was told.
        self.unjudged |= left.is_some() && self.end.is_some();
    }

    /// The end that the board is still to be told. Returned once.
    pub fn take_untold(&mut self) -> Option<GameEnd> {
        self.untold.take()
    }

    /// The game is over. `false` if that was known, or if the rules already say so, which overrides any other source.
    pub fn over(&mut self, end: GameEnd, by: Judge) -> bool {
        let known = self
            .end
            .is_some_and(|(told, judge)| told == end || judge == Judge::Rules);
        if !known {
            self.end = Some((end, by));
        }
        !known
    }

    /// Whether the kings stand in the centre.
    pub fn kings_are_up(&self) -> bool {
        self.sign.is_some()
    }

    /// What the kings in the centre say.
    pub fn sign(&self) -> Option<GameEnd> {
        self.sign
    }

    /// Both kings were put in the centre.
    pub fn kings_up(&mut self, sign: GameEnd) {
        self.sign = Some(sign);
    }

    /// The kings no longer mean anything: they were put back, or the program continues.
    pub fn kings_down(&mut self) {
        self.sign = None;
        self.end.take_if(|(_, by)| *by == Judge::Hand);
    }

    /// The game on the board has changed, or may have: it must be judged again.
    pub fn doubt(&mut self) {
        self.unjudged = true;
    }

    /// If the game on the board has changed, judges by the rules whether it is over. Returns how it ended, if that is
    /// to be reported.
    pub fn judge(&mut self, held: &Game) -> Option<GameEnd> {
        if !std::mem::take(&mut self.unjudged) {
            return None;
        }
        self.kings_down();
        if let Some(end) = GameEnd::by_rules(held) {
            self.end.take_if(|(told, _)| *told != end);
            return Some(end).filter(|end| self.over(*end, Judge::Rules));
        }
        // A program that ends its game may know moves that the board is still to be shown.
        let on_its_way = self
            .programs
            .as_ref()
            .is_some_and(|game| game.continues(held));
        self.end
            .take_if(|(_, by)| *by != Judge::Program || !on_its_way);
        None
    }
}
