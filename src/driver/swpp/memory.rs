//! What the driver knows of a board that cannot be asked, saved for a restart of the daemon. Messages are saved as they are
//! sent.

use serde::{Deserialize, Serialize};
use shakmaty::Color;

use super::{Swpp, announcement};
use crate::{
    text::swpp::{self, Ending, GameKind, Message},
    vocabulary::{Beginning, Opponent, Reported},
};

/// Messages kept of those that may not have arrived: as many as a whole game has.
const MAX_UNHEARD: usize = crate::chess::game::MAX_PLIES;

/// See the module documentation.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct SavedSwpp {
    /// The game that the board was last told to begin.
    told: Option<String>,
    running: bool,
    /// What the board said of itself.
    id: Option<String>,
    /// How that game ended, until the board has been told.
    ending: Option<String>,
    /// What the link has taken since the player's last move.
    unheard: Vec<String>,
    /// The player's last move in this game.
    heard: Option<Reported>,
}

impl SavedSwpp {
    pub fn of(driver: &Swpp) -> Self {
        let text = |message: &Message| swpp::write(message).trim_end().to_owned();
        // As after a lost link: a message on its way may not arrive, and is sent again.
        let arrives = driver.leaving.is_none() || driver.repeats;
        let unheard = driver.unheard.iter().filter(|_| arrives);
        Self {
            told: driver.told.map(announcement).as_ref().map(text),
            running: driver.running,
            id: driver.id.clone(),
            ending: driver.ending.map(Message::GameEnded).as_ref().map(text),
            unheard: unheard.map(text).collect(),
            heard: driver.heard.map(|wording| Reported {
                color: None,
                wording,
            }),
        }
    }

    /// The game that the board was last told to begin.
    pub fn told(&self) -> Option<Beginning> {
        match swpp::read(self.told.as_ref()?.as_bytes()) {
            Ok(Message::NewGame {
                kind,
                waits_for_board,
            }) => Some(beginning(kind, waits_for_board)),
            _ => None,
        }
    }

    /// Restores the driver.
    pub fn recall(self, driver: &mut Swpp) {
        driver.told = self.told();
        driver.running = self.running && driver.told.is_some();
        driver.recalled = true;
        driver.id = self.id;
        driver.ending = self.ending.as_ref().and_then(|line| ending(line));
        let messages = self.unheard.iter().take(MAX_UNHEARD);
        let messages = messages.filter_map(|line| swpp::read(line.as_bytes()).ok());
        let from_app =
            |message: &Message| matches!(message, Message::NewGame { .. } | Message::AppMove(_));
        driver.unheard = messages.filter(from_app).collect();
        driver.heard = self.heard.map(|heard| heard.wording);
    }
}

fn ending(line: &str) -> Option<Ending> {
    match swpp::read(line.as_bytes()) {
        Ok(Message::GameEnded(ending)) => Some(ending),
        _ => None,
    }
}

/// The game that this message begins: the opposite of [`announcement`].
fn beginning(kind: GameKind, waits_for_board: bool) -> Beginning {
    let opponent = match kind {
        GameKind::Offline => Opponent::Nobody,
        GameKind::Engine | GameKind::Unknown(_) => Opponent::Engine,
        GameKind::WhitePawn => Opponent::WhitePawn,
        GameKind::Lichess => Opponent::Lichess,
    };
    let color = if waits_for_board {
        Color::White
    } else {
        Color::Black
    };
    Beginning {
        opponent,
        hand: (opponent != Opponent::Nobody).then_some(color),
    }
}
