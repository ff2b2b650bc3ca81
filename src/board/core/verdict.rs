//! How the game on the board ended, and by whose word.

use crate::{
    game::Game,
    vocabulary::{BoardResult, GameEnd, Judge},
};

/// How the game on the board ended.
#[derive(Debug, Default)]
pub(super) struct Verdict {
    end: Option<(GameEnd, Judge)>,
    /// How the board says so.
    result: Option<BoardResult>,
    /// What a program has said, until the board has been told.
    untold: Option<GameEnd>,
    /// The game that was about.
    programs: Option<Game>,
    /// Both kings were put in the centre, and what stands otherwise than in the game is not a mistake.
    kings_up: bool,
    /// The game on the board has changed.
    unjudged: bool,
}

impl Verdict {
    /// How the game ended, and by whose word.
    pub fn end(&self) -> Option<(GameEnd, Judge)> {
        self.end
    }

    /// How the board says that it ended.
    pub fn result(&self) -> Option<BoardResult> {
        self.result
    }

    /// The board says how the game ended.
    pub fn board_says(&mut self, result: BoardResult) {
        self.result = Some(result);
    }

    /// What the board said of the game's end is past.
    pub fn goes_on(&mut self) {
        self.result = None;
    }

    /// A game begins.
    pub fn begins(&mut self) {
        self.end = None;
    }

    /// A program says how this game ends.
    pub fn program_says(&mut self, end: GameEnd, game: Game) {
        self.untold = Some(end);
        self.programs = Some(game);
    }

    /// What the board is still to be told of its game's end. Once.
    pub fn take_untold(&mut self) -> Option<GameEnd> {
        self.untold.take()
    }

    /// The game is over. `false` if that was known, or the rules say so already and no other word counts.
    pub fn over(&mut self, end: GameEnd, by: Judge) -> bool {
        let known = self
            .end
            .is_some_and(|(told, judge)| told == end || judge == Judge::Rules);
        if !known {
            self.end = Some((end, by));
        }
        !known
    }

    /// Whether the kings say that the game is over.
    pub fn kings_are_up(&self) -> bool {
        self.kings_up
    }

    /// Both kings were put in the centre.
    pub fn kings_up(&mut self) {
        self.kings_up = true;
    }

    /// The kings mean nothing any more: they were put back, or the program goes on.
    pub fn kings_down(&mut self) {
        self.kings_up = false;
        self.end.take_if(|(_, by)| *by == Judge::Hand);
    }

    /// The game on the board has changed, or may have: it is to be judged again.
    pub fn doubt(&mut self) {
        self.unjudged = true;
    }

    /// Where the game on the board has changed, its rules tell whether it is over: how it ended, if that is to be
    /// told.
    pub fn judge(&mut self, held: &Game) -> Option<GameEnd> {
        if !std::mem::take(&mut self.unjudged) {
            return None;
        }
        self.kings_down();
        if let Some(end) = GameEnd::by_rules(held) {
            self.end.take_if(|(told, _)| *told != end);
            return Some(end).filter(|end| self.over(*end, Judge::Rules));
        }
        // A program that ends its game may have known moves that the board is still to be shown.
        let on_its_way = self
            .programs
            .as_ref()
            .is_some_and(|game| game.continues(held));
        self.end
            .take_if(|(_, by)| *by != Judge::Program || !on_its_way);
        None
    }
}
