//! The token that lets the program play on the account.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use super::settings::LichessConfig;
pub use crate::front_end::https::token::{Token, TokenError};
use crate::{bus::account::NotDone, front_end::https::token::Purpose, system::private};

/// Where the token is kept unless the configuration says otherwise.
pub const DEFAULT_FILE: &str = "/etc/boardbridge/lichess.token";
/// The file in the state directory with the token of a login: a line with the token, and one with the server it is for.
pub const KEPT: &str = "lichess.token";

const PURPOSE: Purpose = Purpose {
    default_file: DEFAULT_FILE,
    remedy: "log in on the page, or make one with `sudo boardbridge lichess login --token`",
};

/// Where the token is read: the file named, or else the default one, or what systemd hands the service of it.
pub fn place(named: Option<&Path>) -> PathBuf {
    PURPOSE.place(named)
}

/// The file with the token: the one named, or else the default one.
pub fn file(named: Option<&Path>) -> &Path {
    PURPOSE.file(named)
}

/// Reads a token.
///
/// # Errors
/// [`TokenError`], which never has the token in it.
pub fn read(file: &Path) -> Result<Token, TokenError> {
    PURPOSE.read(file)
}

/// Where the token of the account may be.
#[derive(Clone, Debug)]
pub struct Place {
    /// What the configuration names: nothing else counts then.
    named: Option<PathBuf>,
    /// The file with the token of a login, if anything is kept.
    login: Option<PathBuf>,
    /// The server that such a token is for: no other one ever gets it.
    server: String,
}

impl Place {
    /// The place by the configuration and the state directory.
    pub fn new(entry: &LichessConfig, state: Option<&Path>) -> Self {
        Self {
            named: entry.token_file.clone(),
            login: state.map(|folder| folder.join(KEPT)),
            server: entry.server().to_owned(),
        }
    }

    /// The token.
    ///
    /// # Errors
    /// [`TokenError`], which never has the token in it.
    pub fn read(&self) -> Result<Token, TokenError> {
        self.kept().unwrap_or_else(|| read(&self.elsewhere()))
    }

    /// Where the token is if not by a login.
    pub fn elsewhere(&self) -> PathBuf {
        place(self.named.as_deref())
    }

    /// The token of a login, if there is one that counts.
    pub fn kept(&self) -> Option<Result<Token, TokenError>> {
        let file = self.login.as_ref().filter(|_| self.named.is_none())?;
        PURPOSE.of_login(file, &self.server)
    }

    /// Whether there is a token of a login.
    pub fn is_kept(&self) -> bool {
        self.kept().is_some()
    }

    /// Checks that a login may change the token.
    ///
    /// # Errors
    /// Why it may not, in words.
    pub fn is_open(&self) -> Result<(), NotDone> {
        let why = match (&self.named, &self.login) {
            (Some(file), _) => format!(
                "the token is fixed in the configuration: token_file = \"{}\" under [lichess]. Remove that line and reload, \
                 then log in; or replace that token with `boardbridge lichess login --token`",
                file.display()
            ),
            (None, None) => {
                "nothing is kept here, so no token either: set directory under [state] in the configuration"
                    .to_owned()
            }
            (None, Some(_)) => return Ok(()),
        };
        Err(NotDone::NotNow(why))
    }

    /// Keeps the token of a login, for its owner alone.
    ///
    /// # Errors
    /// What the system says.
    pub fn keep(&self, token: &Token) -> io::Result<()> {
        let Some(file) = &self.login else {
            return Err(io::ErrorKind::NotFound.into());
        };
        if let Some(folder) = file.parent() {
            private::create_folder(folder)?;
        }
        token.write_for(file, &self.server)
    }

    /// Deletes the token of a login.
    ///
    /// # Errors
    /// What the system says.
    pub fn forget(&self) -> io::Result<()> {
        match self.login.as_ref().map(fs::remove_file) {
            Some(Err(error)) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }
}
