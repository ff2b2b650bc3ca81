//! A chess program connected to a core.

use boardbridge::{
    chess::game::Game,
    vocabulary::{ClientId, Command, Occasion, Snapshot},
};
use shakmaty::{Move, uci::UciMove};

/// A chess program: its commands to a core, and the core's answers.
#[derive(Debug)]
pub struct Program {
    /// Its identifier in the core.
    pub client: ClientId,
    /// Its name for people.
    pub label: &'static str,
    /// The number of the game that it stated last.
    pub number: u64,
}

impl Default for Program {
    fn default() -> Self {
        Self {
            client: ClientId(1),
            label: "the test",
            number: 0,
        }
    }
}

impl Program {
    /// States this game.
    pub fn states(&mut self, game: &Game) -> Command {
        self.states_on(game, Occasion::default())
    }

    /// States this game, with this occasion.
    pub fn states_on(&mut self, game: &Game, occasion: Occasion) -> Command {
        self.number += 1;
        Command::Target {
            client: self.client,
            label: self.label.into(),
            number: self.number,
            game: Box::new(game.clone()),
            occasion,
        }
    }

    /// Announces a new game.
    pub fn begins(&self) -> Command {
        Command::NewGame {
            client: self.client,
        }
    }

    /// Awaits the player's move, or no longer.
    pub fn awaits(&self, on: bool) -> Command {
        let client = self.client;
        Command::Await { client, on }
    }

    /// It has taken the player's move.
    pub fn answered(&self, answer: UciMove) -> Command {
        Command::Answered {
            client: self.client,
            number: self.number,
            answer,
        }
    }

    /// The player's move.
    pub fn answer(&self, snapshot: &Snapshot) -> Option<Move> {
        let place = snapshot.place(self.client, self.number)?;
        place.answer.first().copied()
    }
}
