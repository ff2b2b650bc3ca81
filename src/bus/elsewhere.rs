//! Boards that other daemons have: a button that is pressed for one here is pressed there.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

use shakmaty::Role;
use tokio::{
    sync::{mpsc, oneshot},
    time::timeout,
};

use super::pairings::{ANSWER_WAIT, Saying};
use crate::vocabulary::BoardName;

/// A button of a board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Button {
    /// What the player says to the opponent, or to the board.
    Say(Saying),
    /// What pawns become.
    Promote(Role),
}

/// A button that was pressed.
#[derive(Debug)]
pub struct Pressed {
    /// For which board.
    pub board: BoardName,
    /// Which.
    pub button: Button,
    /// Where the answer goes: an error says why it does nothing.
    pub answer: oneshot::Sender<Result<(), String>>,
}

/// Those boards, and who passes on what is pressed for them.
#[derive(Clone, Debug, Default)]
pub struct Elsewhere(Arc<Mutex<BTreeMap<BoardName, mpsc::Sender<Pressed>>>>);

impl Elsewhere {
    /// From now on these boards are elsewhere, and no others.
    pub fn set(&self, boards: impl IntoIterator<Item = BoardName>, to: &mpsc::Sender<Pressed>) {
        let boards = boards.into_iter().map(|board| (board, to.clone()));
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = boards.collect();
    }

    /// No board is elsewhere any more.
    pub fn clear(&self) {
        let mut boards = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        boards.clear();
    }

    /// Whether this board is elsewhere.
    pub fn has(&self, board: &BoardName) -> bool {
        self.to(board).is_some()
    }

    /// Presses a button there, and waits for what comes of it. `None` if the board is not elsewhere.
    pub async fn press(&self, board: &BoardName, button: Button) -> Option<Result<(), String>> {
        let to = self.to(board)?;
        let (answer, answered) = oneshot::channel();
        let pressed = Pressed {
            board: board.clone(),
            button,
            answer,
        };
        let done = async {
            to.send(pressed).await.ok()?;
            answered.await.ok()
        };
        let done = timeout(ANSWER_WAIT, done).await.ok().flatten();
        Some(done.unwrap_or_else(|| {
            Err(format!(
                "the daemon that has {board} has not answered: try again"
            ))
        }))
    }

    fn to(&self, board: &BoardName) -> Option<mpsc::Sender<Pressed>> {
        let boards = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        boards.get(board).cloned()
    }
}
