//! `[lichess]`: games on an account of the player's.

use std::{
    net::IpAddr,
    path::{Path, PathBuf},
};

use hyper::Uri;
use serde::Deserialize;

use super::value::from_home;
use crate::{
    lichess::settings::{Accept, TakeBacks},
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
    pub token_file: Option<PathBuf>,
    /// The server.
    #[serde(default = "default_url")]
    pub url: String,
    /// Challenges.
    #[serde(default)]
    pub accept: Accept,
    /// Take-backs that the opponent proposes.
    #[serde(default)]
    pub take_backs: TakeBacks,
}

fn default_url() -> String {
    DEFAULT_URL.to_owned()
}

impl LichessConfig {
    /// The server's address without a slash at its end.
    pub fn server(&self) -> &str {
        self.url.trim_end_matches('/')
    }

    /// Checks what the types cannot: returns the key, and the problem.
    pub(super) fn problems(&self) -> Vec<(&'static str, String)> {
        let mut problems = Vec::new();
        if let Some(problem) = wrong_url(self.server()) {
            problems.push(("url", problem));
        }
        if self.token_file.as_deref().is_some_and(Path::is_relative) {
            let problem = self.token_file.as_deref().and_then(from_home);
            let problem = problem.unwrap_or_else(|| {
                "is not a whole path: write for instance \"/etc/boardbridge/lichess.token\""
                    .to_owned()
            });
            problems.push(("token_file", problem));
        }
        problems
    }
}

/// What is wrong with the address of a server.
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
