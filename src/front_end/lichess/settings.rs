//! `[lichess]`: games of the player's account on Lichess.

use std::{
    net::IpAddr,
    path::{Path, PathBuf},
};

use hyper::Uri;
use serde::{Deserialize, Deserializer};

use crate::{
    text::toml_value::{checked, from_home},
    vocabulary::BoardName,
};

/// The server, unless another is named.
pub const DEFAULT_URL: &str = "https://lichess.org";

/// `[lichess]`
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table: [lichess]")]
pub struct LichessConfig {
    /// Where games are played.
    pub board: BoardName,
    /// The file that has the token.
    #[serde(default, deserialize_with = "token_file")]
    pub token_file: Option<PathBuf>,
    /// The server.
    #[serde(default = "default_url", deserialize_with = "url")]
    pub url: String,
    /// What is done with challenges.
    #[serde(default)]
    pub accept: Accept,
    /// How the opponent's take-back proposals are answered.
    #[serde(default)]
    pub take_backs: TakeBacks,
}

fn default_url() -> String {
    DEFAULT_URL.to_owned()
}

fn token_file<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<PathBuf>, D::Error> {
    let path = checked(deserializer, |text| {
        let path = Path::new(text);
        let whole = || "is not a whole path: write for instance \"/etc/boardbridge/lichess.token\"";
        let problem = || from_home(path).unwrap_or_else(|| whole().to_owned());
        path.is_relative().then(problem)
    })?;
    Ok(Some(path.into()))
}

fn url<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    checked(deserializer, |url| wrong_url(without_slash(url)))
}

fn without_slash(url: &str) -> &str {
    url.trim_end_matches('/')
}

impl LichessConfig {
    /// The server's address without a slash at its end.
    pub fn server(&self) -> &str {
        without_slash(&self.url)
    }
}

/// What is done with challenges.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Accept {
    /// The player is asked.
    #[default]
    Ask,
    /// Those that a board can play are accepted while it has no game.
    All,
    /// They are left alone, for another program of the account.
    None,
}

/// How the opponent's take-back proposals are answered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TakeBacks {
    /// The player is asked.
    #[default]
    Ask,
    /// They are accepted.
    Yes,
    /// They are declined.
    No,
}

/// The session's settings.
#[derive(Clone, Debug)]
pub struct Settings {
    /// What is done with challenges.
    pub accept: Accept,
    /// How the opponent's take-back proposals are answered.
    pub take_backs: TakeBacks,
    /// The server, for addresses of games.
    pub url: String,
}

/// The mistake in the address of a server, if any.
fn wrong_url(url: &str) -> Option<String> {
    let example = "write for instance \"https://lichess.org\"";
    let uri: Option<Uri> = url.parse().ok();
    let Some(uri) = uri.filter(|uri| uri.host().is_some()) else {
        return Some(format!("is not the address of a server: {example}"));
    };
    if uri.path() != "/" || uri.query().is_some() {
        return Some(format!("has more than the server in it: {example}"));
    }
    let host = uri.host().unwrap_or_default();
    let host = host.trim_start_matches('[').trim_end_matches(']');
    let address: Option<IpAddr> = host.parse().ok();
    let is_here = host == "localhost" || address.is_some_and(|address| address.is_loopback());
    match uri.scheme_str() {
        Some("https") => None,
        Some("http") if is_here => None,
        Some("http") => Some(format!(
            "would show the token to others on the way, for http is not encrypted: {example}"
        )),
        _ => Some(format!("is not an https address: {example}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_goes_over_tls_or_stays_on_this_machine() {
        for good in [
            "https://lichess.org",
            "https://lichess.dev",
            "http://127.0.0.1:8080",
            "http://[::1]:8080",
            "http://localhost:8080",
        ] {
            assert_eq!(wrong_url(good), None, "{good}");
        }
        for bad in [
            "http://lichess.org",
            "http://192.168.1.5",
            "http://localhost.evil.example",
            "lichess.org",
            "ftp://lichess.org",
            "https://lichess.org/api",
            "",
        ] {
            assert!(wrong_url(bad).is_some(), "{bad}");
        }
    }
}
