//! What a client here has stated to a board of another daemon, to be said again when that may not know it.

use std::{
    mem::discriminant,
    time::{Duration, Instant, SystemTime},
};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::orders::{self, Begun};
use crate::vocabulary::{ClientId, Command};

/// A new game that was asked for, and has not begun as far as is known. It is kept on the disk: whoever asked may be told that all is
/// well while the broker is away, and both daemons may end before it is back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asked {
    /// Since when the game before it is known, by the other daemon: another one is known since later.
    pub after: Option<SystemTime>,
}

/// What a client here has stated, in the order in which the board has to know it.
#[derive(Debug, Default)]
pub(super) struct Standing {
    commands: Vec<Command>,
    /// When all of it was last said; `None` if it has to be said now.
    pub said: Option<Instant>,
    /// Something of it was refused since then.
    pub is_refused: bool,
    /// Its game is over, and the other daemon knows it.
    is_over: bool,
    /// The number of the target that a new game in it belongs to.
    begins: Option<u64>,
    /// Since when the game before that one is known.
    after: Option<SystemTime>,
}

impl Standing {
    /// Of a client all of which was said then.
    pub fn said_at(said: Option<Instant>) -> Self {
        Self {
            said,
            ..Self::default()
        }
    }

    /// The client says this; the board's game is known since `since`.
    pub fn states(&mut self, command: &Command, since: Option<SystemTime>) {
        let kind = discriminant(command);
        let replaces = |before: &Command| {
            let of_target = matches!(
                before,
                Command::Await { .. }
                    | Command::Analyse { .. }
                    | Command::Answered { .. }
                    | Command::Refuse { .. }
                    | Command::Ended { .. }
                    | Command::Yield { .. }
            );
            discriminant(before) == kind
                || before.leaves()
                || matches!(command, Command::Target { .. }) && of_target
                || matches!(command, Command::Await { .. })
                    && matches!(before, Command::Analyse { .. } | Command::Yield { .. })
        };
        self.commands.retain(|before| !replaces(before));
        self.commands.push(command.clone());
        self.is_over &= !matches!(command, Command::Target { .. } | Command::NewGame { .. });
        match command {
            Command::NewGame { .. } => {
                self.begins = None;
                self.after = since;
            }
            // What was before a new game is over with the first target after it.
            Command::Target { number, .. } if self.begins.is_none() => {
                self.begins = self.asked().map(|_| *number);
            }
            _ => {}
        }
    }

    /// The client, which has just stated its first game, is the one whose new game was asked for before a restart; or another one,
    /// for which it is as good.
    pub fn takes_over(&mut self, client: ClientId, asked: Asked) {
        if self.asked().is_none() {
            self.commands.insert(0, Command::NewGame { client });
            self.begins = self.number();
            self.after = asked.after;
            self.said = None;
        }
    }

    /// The board's game is seen for the first time, and nothing was said to it before.
    pub fn sees(&mut self, since: Option<SystemTime>) {
        self.after = self.after.or(since);
    }

    /// The board knows the client's game of this number: a new game before that has begun.
    pub fn is_known(&mut self, number: u64) {
        if self.begins.is_some_and(|begins| begins <= number) {
            self.begins = None;
            self.commands
                .retain(|command| !matches!(command, Command::NewGame { .. }));
        }
    }

    /// The new game in it.
    pub fn asked(&self) -> Option<Asked> {
        let new = |command: &Command| matches!(command, Command::NewGame { .. });
        let after = self.after;
        self.commands.iter().any(new).then_some(Asked { after })
    }

    /// What is left of it when the client leaves: the end of its game, unless that is known.
    pub fn left(mut self) -> Self {
        let is_known = self.is_over || self.asked().is_some();
        let is_end = |command: &Command| matches!(command, Command::Ended { .. });
        self.commands.retain(|command| is_end(command) && !is_known);
        Self {
            commands: self.commands,
            ..Self::default()
        }
    }

    /// The other daemon has taken the end of the game of this number.
    pub fn is_over(&mut self, number: u64) {
        let is_end = |command: &Command| matches!(command, Command::Ended { .. });
        self.is_over |= self.number() == Some(number) && self.commands.iter().any(is_end);
    }

    /// The other daemon has started again, and may know nothing of it.
    pub fn is_forgotten(&mut self) {
        self.is_over = false;
    }

    /// Whether all of it has to be said again; `knows` whether the board knows the game of this number.
    pub fn is_due(&self, now: Instant, wait: Duration, knows: impl Fn(u64) -> bool) -> bool {
        let is_known = self.is_between_games() || self.number().is_none_or(knows);
        match self.said {
            _ if self.is_over && !self.leaves() => false,
            // Whatever was said before the connection was lost may be lost too.
            None => true,
            Some(said) => {
                (!is_known || self.leaves() || self.is_refused)
                    && now.saturating_duration_since(said) >= wait
            }
        }
    }

    /// Whether the client has asked for a new game and not stated its first position: what it stated before would be taken for that.
    fn is_between_games(&self) -> bool {
        self.asked().is_some() && self.begins.is_none()
    }

    /// Every command, as it is said again.
    pub fn again(&self) -> Vec<(Command, Value)> {
        let next = || self.number().map_or(1, |number| number.saturating_add(1));
        let begun = Begun {
            before: self.begins.unwrap_or_else(next),
            after: self.after,
        };
        let said = |command: &Command| match command {
            // A game that has gone on meanwhile must not be begun anew.
            Command::NewGame { client } => orders::new_game_again(*client, begun),
            _ => orders::write(command, self.number()),
        };
        let is_said = |command: &&Command| {
            !self.is_between_games() || !matches!(command, Command::Target { .. })
        };
        let commands = self.commands.iter().filter(is_said);
        commands
            .map(|command| (command.clone(), said(command)))
            .collect()
    }

    /// The game stated last, and its number.
    pub fn target(&self) -> Option<&Command> {
        let target = |command: &&Command| matches!(command, Command::Target { .. });
        self.commands.iter().find(target)
    }

    /// The number of the game stated last.
    pub fn number(&self) -> Option<u64> {
        match self.target()? {
            Command::Target { number, .. } => Some(*number),
            _ => None,
        }
    }

    /// Whether the client has left, and the other daemon may not know it.
    pub fn leaves(&self) -> bool {
        self.commands.iter().any(Command::leaves)
    }
}
