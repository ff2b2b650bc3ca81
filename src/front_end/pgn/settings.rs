//! `[games]`: where games are saved, and some tags of their PGN.

use std::{ffi::OsString, path::Path};

use serde::Deserialize;

use crate::{
    front_end::pgn_text::TagText,
    state::settings::{Directory, default_directory},
};

/// The folder below a state directory.
const BELOW_STATE: &str = "games";

/// `[games]`
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default, expecting = "a table: [games]")]
pub struct GamesConfig {
    /// The folder, or `off`; by default it is determined when the file is read.
    pub directory: Option<Directory>,
    /// The tag `Site`.
    pub site: Option<TagText>,
    /// The name of the player at the board.
    pub player: Option<TagText>,
    /// Whether each move of a running game is written at once, for a viewer that follows the file.
    pub every_move: bool,
}

impl GamesConfig {
    /// The folder, if games are saved.
    pub fn folder(&self) -> Option<&Path> {
        self.directory.as_ref().and_then(Directory::path)
    }

    /// The default folder: the service's state directory, else the user's. Without either no games
    /// are saved.
    ///
    /// Only applied to a configuration from a file: one made in memory (a demonstration, a test) leaves nothing
    /// behind.
    pub fn settle(&mut self, variable: impl Fn(&str) -> Option<OsString>) {
        if self.directory.is_none() {
            let state = default_directory(variable);
            self.directory = state.map(|state| Directory::At(state.join(BELOW_STATE)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn games_are_kept_below_the_state_directory() {
        let mut games = GamesConfig::default();
        games.settle(|name| (name == "HOME").then(|| "/home/me".into()));
        let path = Path::new("/home/me/.local/state/boardbridge/games");
        assert_eq!(games.folder(), Some(path));
    }

    #[test]
    fn what_is_named_stays() {
        let mut games = GamesConfig {
            directory: Some(Directory::Off),
            ..GamesConfig::default()
        };
        games.settle(|_| Some("/home/me".into()));
        assert_eq!(games.directory, Some(Directory::Off));
        assert_eq!(games.folder(), None);
    }
}
