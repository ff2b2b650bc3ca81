//! The token of an account on a server. It is shown to no one: not in the log, not in messages.

use std::{
    fmt, fs, io,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

use hyper::header::HeaderValue;
use thiserror::Error;

use crate::system::{credential, regular_file};

/// The longest token, in bytes: Lichess asks to allow for 512 and more.
pub const MAX_TOKEN: usize = 4096;

/// The longest file with a token, in bytes: there may be blanks around it.
const MAX_FILE: u64 = 2 * MAX_TOKEN as u64;

/// A token.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(String);

/// Why there is no token.
#[derive(Debug, Error)]
pub enum TokenError {
    /// It is missing.
    #[error("there is no token in {}: {remedy}", .file.display())]
    Missing {
        /// Where it should be.
        file: PathBuf,
        /// How to make one.
        remedy: &'static str,
    },
    /// It cannot be read.
    #[error("the token in {} cannot be read: {source}", .file.display())]
    Unreadable {
        /// Where it is.
        file: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// Only another user may read it.
    #[error("this user may not read the token in {file}. {remedy}", file = .file.display())]
    NotOurs {
        /// Where it is.
        file: PathBuf,
        /// How the service reads it all the same.
        remedy: String,
    },
    /// Others may read it.
    #[error("others may read the token in {file}: chmod 600 {file}", file = .0.display())]
    Open(PathBuf),
    /// The file has no valid token.
    #[error("what is in {} is not a token: letters, digits and _ without blanks", .0.display())]
    NotOne(PathBuf),
}

impl Token {
    /// The token in a text, without the blanks around it.
    pub fn of(text: &str) -> Option<Self> {
        let text = text.trim();
        let plain = |b: u8| b.is_ascii_alphanumeric() || b == b'_';
        let fits = (1..=MAX_TOKEN).contains(&text.len()) && text.bytes().all(plain);
        fits.then(|| Self(text.to_owned()))
    }

    /// The token itself, for the body of a request.
    pub fn text(&self) -> &str {
        &self.0
    }

    /// The header with the token, marked as sensitive: debug output does not show it.
    pub fn bearer(&self) -> HeaderValue {
        // It has letters, digits and _ only.
        let value = HeaderValue::from_str(&format!("Bearer {}", self.0));
        let mut value = value.unwrap_or(HeaderValue::from_static(""));
        value.set_sensitive(true);
        value
    }

    /// Writes it into a file that only its owner may read.
    ///
    /// # Errors
    /// What the system says.
    pub fn write(&self, file: &Path) -> io::Result<()> {
        self.write_for(file, "")
    }

    /// The same, with a second line that names the server it is for.
    ///
    /// # Errors
    /// What the system says.
    pub fn write_for(&self, file: &Path, server: &str) -> io::Result<()> {
        let text = format!("{}\n{server}", self.0);
        let folder = file
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty());
        // Created with mode 600.
        let mut new = tempfile::NamedTempFile::new_in(folder.unwrap_or(Path::new(".")))?;
        io::Write::write_all(&mut new, format!("{}\n", text.trim_end()).as_bytes())?;
        new.as_file().sync_all()?;
        new.persist(file)?;
        Ok(())
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}

/// What a token is for, and where it is kept unless the configuration says otherwise.
#[derive(Clone, Copy, Debug)]
pub struct Purpose {
    /// The file, unless another one is named. The packaged service is handed it.
    pub default_file: &'static str,
    /// How to make a token.
    pub remedy: &'static str,
}

impl Purpose {
    /// The file with the token.
    pub fn file<'a>(&self, named: Option<&'a Path>) -> &'a Path {
        named.unwrap_or(Path::new(self.default_file))
    }

    /// Where the token is read: that file, or what systemd hands the service of it.
    pub fn place(&self, named: Option<&Path>) -> PathBuf {
        credential::place(self.file(named))
    }

    /// Reads a token.
    ///
    /// # Errors
    /// [`TokenError`], which never has the token in it.
    pub fn read(&self, file: &Path) -> Result<Token, TokenError> {
        Token::of(&self.text(file)?).ok_or_else(|| TokenError::NotOne(file.to_owned()))
    }

    /// Reads the token of a login to this server. `None`: this file has none.
    pub fn of_login(&self, file: &Path, server: &str) -> Option<Result<Token, TokenError>> {
        let text = match self.text(file) {
            Ok(text) => text,
            Err(TokenError::Missing { .. }) => return None,
            Err(error) => return Some(Err(error)),
        };
        let (token, of) = text.split_once('\n').unwrap_or((&text, ""));
        if of.trim() != server {
            return None;
        }
        Some(Token::of(token).ok_or_else(|| TokenError::NotOne(file.to_owned())))
    }

    /// Reads the whole file of a token, which has to be for its owner alone.
    ///
    /// # Errors
    /// [`TokenError`], which never has the token in it.
    pub fn text(&self, file: &Path) -> Result<String, TokenError> {
        let unreadable = |source: io::Error| match source.kind() {
            io::ErrorKind::NotFound => TokenError::Missing {
                file: file.to_owned(),
                remedy: self.remedy,
            },
            io::ErrorKind::PermissionDenied => TokenError::NotOurs {
                file: file.to_owned(),
                remedy: credential::remedy(file, self.default_file),
            },
            _ => TokenError::Unreadable {
                file: file.to_owned(),
                source,
            },
        };
        let mode = fs::metadata(file).map_err(unreadable)?.permissions().mode();
        if mode & 0o077 != 0 && !credential::is_credential(file) {
            return Err(TokenError::Open(file.to_owned()));
        }
        let bytes = regular_file::read(file, MAX_FILE).map_err(unreadable)?;
        String::from_utf8(bytes).map_err(|_| TokenError::NotOne(file.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PURPOSE: Purpose = Purpose {
        default_file: "/nowhere",
        remedy: "make one",
    };

    #[test]
    fn a_token_is_never_shown_and_is_for_its_owner_alone() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("token");
        assert!(matches!(
            PURPOSE.read(&file),
            Err(TokenError::Missing { .. })
        ));
        let token = Token::of(" lip_Secret1 \n").unwrap();
        assert!(!format!("{token:?} {:?}", token.bearer()).contains("Secret1"));
        token.write(&file).unwrap();
        let mode = fs::metadata(&file).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert_eq!(PURPOSE.read(&file).unwrap(), token);
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
        let words = PURPOSE.read(&file).unwrap_err().to_string();
        assert!(words.contains("chmod 600"), "{words}");
        assert!(!words.contains("Secret1"));
        fs::write(&file, "two words").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
        let words = PURPOSE.read(&file).unwrap_err().to_string();
        assert!(!words.contains("two words"), "{words}");
    }
}
