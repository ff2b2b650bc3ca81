//! `[state]`: where values survive a restart. `[games]` has a folder below it by default.

use std::{
    ffi::OsString,
    fmt,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Deserializer, de};

/// `[state]`
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default, expecting = "a table: [state]")]
pub struct StateConfig {
    /// The directory, or `off`; by default it is determined when the file is read.
    pub directory: Option<Directory>,
}

impl StateConfig {
    /// The directory, if anything is kept.
    pub fn path(&self) -> Option<&Path> {
        self.directory.as_ref().and_then(Directory::path)
    }

    /// The default directory: the service's, else the user's. Without either nothing is saved.
    ///
    /// Only applied to a configuration from a file: one made in memory (a demonstration, a test) leaves nothing
    /// behind.
    pub fn settle(&mut self, variable: impl Fn(&str) -> Option<OsString>) {
        if self.directory.is_none() {
            self.directory = default_directory(variable).map(Directory::At);
        }
    }
}

/// The service's directory for what survives a restart, or else the user's.
pub fn default_directory(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let path = |name: &str| {
        let value = variable(name)?;
        // systemd may give a service several directories.
        let first = value.to_str()?.split(':').next()?;
        Some(PathBuf::from(first)).filter(|path| path.is_absolute())
    };
    let service = path("STATE_DIRECTORY");
    let user = || path("XDG_STATE_HOME").map(|state| state.join("boardbridge"));
    let home = || path("HOME").map(|home| home.join(".local/state/boardbridge"));
    service.or_else(user).or_else(home)
}

/// A folder, or none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Directory {
    /// Write nothing.
    Off,
    /// Write there.
    At(PathBuf),
}

impl Directory {
    /// The folder, if there is one.
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::At(path) => Some(path),
            Self::Off => None,
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
            "`{text}` is not an absolute path: write it from the root, for instance \"/var/lib/boardbridge\", or \"off\""
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settled(variables: &[(&str, &str)]) -> Option<Directory> {
        let mut state = StateConfig::default();
        state.settle(|name| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| OsString::from(value))
        });
        state.directory
    }

    #[test]
    fn state_is_kept_in_the_state_directory_of_the_service_or_the_user() {
        let at = |path: &str| Some(Directory::At(PathBuf::from(path)));
        let all = [
            ("STATE_DIRECTORY", "/var/lib/boardbridge:/var/lib/more"),
            ("XDG_STATE_HOME", "/home/me/state"),
            ("HOME", "/home/me"),
        ];
        assert_eq!(settled(&all), at("/var/lib/boardbridge"));
        assert_eq!(settled(&all[1..]), at("/home/me/state/boardbridge"));
        assert_eq!(settled(&all[2..]), at("/home/me/.local/state/boardbridge"));
        assert_eq!(settled(&[]), None);
        assert_eq!(settled(&[("HOME", "")]), None);
    }
}
