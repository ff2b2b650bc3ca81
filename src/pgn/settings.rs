//! `[games]`: where games are saved, and some tags of their PGN.

use std::{
    ffi::OsString,
    fmt,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Deserializer, de};

/// The longest text for a tag, in characters: with its name it fits a line of PGN.
pub const MAX_TAG: usize = 60;
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
}

/// A folder, or none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Directory {
    /// Save no games.
    Off,
    /// Save them there.
    At(PathBuf),
}

/// A text that fits a tag of a PGN file: printable ASCII, as in the export format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TagText(pub String);

impl GamesConfig {
    /// The folder, if games are saved.
    pub fn folder(&self) -> Option<&Path> {
        match &self.directory {
            Some(Directory::At(path)) => Some(path),
            Some(Directory::Off) | None => None,
        }
    }

    /// The default folder: the service's state directory, else the user's. Without either no games
    /// are saved.
    ///
    /// Only applied to a configuration from a file: one made in memory (a demonstration, a test) leaves nothing
    /// behind.
    pub fn settle(&mut self, variable: impl Fn(&str) -> Option<OsString>) {
        let path = |name: &str| {
            let value = variable(name)?;
            // A service may have several.
            let first = value.to_str()?.split(':').next()?;
            Some(PathBuf::from(first)).filter(|path| path.is_absolute())
        };
        if self.directory.is_none() {
            let service = path("STATE_DIRECTORY");
            let user = || path("XDG_STATE_HOME").map(|state| state.join("boardbridge"));
            let home = || path("HOME").map(|home| home.join(".local/state/boardbridge"));
            let state = service.or_else(user).or_else(home);
            self.directory = state.map(|state| Directory::At(state.join(BELOW_STATE)));
        }
    }
}

impl fmt::Display for Directory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Off => f.write_str("off"),
            Self::At(path) => path.display().fmt(f),
        }
    }
}

impl<'de> Deserialize<'de> for Directory {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        if text == "off" {
            return Ok(Self::Off);
        }
        let path = PathBuf::from(&text);
        if path.is_absolute() && !text.contains('\0') {
            return Ok(Self::At(path));
        }
        Err(de::Error::custom(format!(
            "`{text}` is not an absolute path: write it from the root, for instance \"/var/lib/boardbridge/games\", or \"off\""
        )))
    }
}

impl<'de> Deserialize<'de> for TagText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let plain = text.chars().all(|c| matches!(c, ' '..='~'));
        if plain && (1..=MAX_TAG).contains(&text.len()) && text.trim() == text {
            return Ok(Self(text));
        }
        Err(de::Error::custom(format!(
            "`{}` is not allowed in a PGN file: write 1 to {MAX_TAG} letters, digits, signs and spaces, without accents, \
             for instance \"Juergen Mueller\"",
            text.escape_default()
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settled(variables: &[(&str, &str)]) -> Option<Directory> {
        let mut games = GamesConfig::default();
        games.settle(|name| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| OsString::from(value))
        });
        games.directory
    }

    #[test]
    fn games_are_kept_in_the_state_directory_of_the_service_or_the_user() {
        let at = |path: &str| Some(Directory::At(PathBuf::from(path)));
        let all = [
            ("STATE_DIRECTORY", "/var/lib/boardbridge:/var/lib/more"),
            ("XDG_STATE_HOME", "/home/me/state"),
            ("HOME", "/home/me"),
        ];
        assert_eq!(settled(&all), at("/var/lib/boardbridge/games"));
        assert_eq!(settled(&all[1..]), at("/home/me/state/boardbridge/games"));
        assert_eq!(
            settled(&all[2..]),
            at("/home/me/.local/state/boardbridge/games")
        );
        assert_eq!(settled(&[]), None);
        assert_eq!(settled(&[("HOME", "")]), None);
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
