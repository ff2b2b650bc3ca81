//! Which board a GUI has chosen.

use std::sync::Arc;

use crate::{
    text::{lines::printable, spelling},
    vocabulary::BoardName,
};

/// The longest name that is repeated to a GUI, in characters.
const MAX_REPEATED: usize = 60;

/// There is no board to choose.
const NONE: &str = "BoardBridge has no board yet: plug it in, or `boardbridge add` finds it; `boardbridge demo` needs none";

/// The boards that a GUI can choose among, and the one it has chosen.
#[derive(Debug)]
pub(super) struct Choice {
    boards: Arc<[BoardName]>,
    board: Option<BoardName>,
    /// The name that was last asked for, if no board has it.
    unknown: Option<String>,
}

impl Choice {
    /// Begins with the first of these boards.
    pub fn among(boards: Arc<[BoardName]>) -> Self {
        Self {
            board: boards.first().cloned(),
            boards,
            unknown: None,
        }
    }

    /// The board chosen.
    pub fn board(&self) -> Option<&BoardName> {
        self.board.as_ref()
    }

    /// The board of this name, ignoring case.
    pub fn find(&self, name: &str) -> Option<BoardName> {
        let exact = self.boards.iter().find(|board| board.as_str() == name);
        let same = |board: &&BoardName| board.as_str().eq_ignore_ascii_case(name);
        exact.or_else(|| self.boards.iter().find(same)).cloned()
    }

    /// Replaces the list of boards. If none was chosen, returns the board to choose now: the one last asked for, or the first if
    /// none was.
    pub fn set_boards(&mut self, boards: Arc<[BoardName]>) -> Option<BoardName> {
        self.boards = boards;
        if self.board.is_some() {
            return None;
        }
        match &self.unknown {
            Some(name) => self.find(name),
            None => self.boards.first().cloned(),
        }
    }

    /// Chooses this board, found by `name`.
    pub fn turn_to(&mut self, board: Option<BoardName>, name: &str) {
        if board.is_none() {
            self.unknown = Some(name.to_owned());
        }
        self.board = board;
    }

    /// The option by which a GUI lets its player choose.
    pub fn option(&self) -> Option<String> {
        let shown = self.board.as_ref().or_else(|| {
            let unknown = self.unknown.as_deref()?;
            self.like(unknown).or(self.boards.first())
        })?;
        let names = self.boards.iter().map(|name| format!(" var {name}"));
        let names: String = names.collect();
        Some(format!(
            "option name Board type combo default {shown}{names}"
        ))
    }

    /// Why no board is chosen.
    pub fn why_none(&self) -> String {
        match &self.unknown {
            Some(unknown) => self.no_such(unknown),
            None => NONE.to_owned(),
        }
    }

    /// The board with the most similar name, if any is similar.
    fn like(&self, name: &str) -> Option<&BoardName> {
        let names: Vec<&str> = self.boards.iter().map(BoardName::as_str).collect();
        let meant = *spelling::like(name, &names).first()?;
        self.boards.iter().find(|board| board.as_str() == meant)
    }

    fn no_such(&self, name: &str) -> String {
        if self.boards.is_empty() {
            return NONE.to_owned();
        }
        let meant = self.like(name);
        let meant = meant.map(|meant| format!(" (did you mean {meant}?)"));
        let names: Vec<_> = self.boards.iter().map(BoardName::as_str).collect();
        format!(
            "there is no board named {}{}: set the option Board to one of {}",
            printable(name.as_bytes(), MAX_REPEATED),
            meant.unwrap_or_default(),
            names.join(", ")
        )
    }
}
