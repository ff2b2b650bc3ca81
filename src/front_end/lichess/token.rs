//! The token that lets the program play on the account.

use std::path::{Path, PathBuf};

use crate::front_end::https::token::Purpose;
pub use crate::front_end::https::token::{Token, TokenError};

/// Where the token is kept unless the configuration says otherwise.
pub const DEFAULT_FILE: &str = "/etc/boardbridge/lichess.token";

const PURPOSE: Purpose = Purpose {
    credential: "lichess.token",
    default_file: DEFAULT_FILE,
    remedy: "make one with `sudo boardbridge lichess login`",
};

/// Where the token is: the file named, or the credential that systemd hands over, or the default file.
pub fn place(named: Option<&Path>) -> PathBuf {
    PURPOSE.place(named)
}

/// Reads a token.
///
/// # Errors
/// [`TokenError`], which never has the token in it.
pub fn read(file: &Path) -> Result<Token, TokenError> {
    PURPOSE.read(file)
}
