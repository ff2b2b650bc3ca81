//! The key `url`: a server's address, and the key `token_file`.

use std::{
    net::IpAddr,
    path::{Path, PathBuf},
};

use hyper::Uri;
use serde::Deserializer;

use crate::text::toml_value::{checked, from_home};

/// The server, unless another is named.
pub const DEFAULT_URL: &str = "https://lichess.org";

/// The server, unless another is named, for serde.
pub fn default_url() -> String {
    DEFAULT_URL.to_owned()
}

/// Reads a server's address. For `#[serde(deserialize_with)]`.
///
/// # Errors
/// If it is not one, or would show the token to others.
pub fn url<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    checked(deserializer, |url| wrong_url(without_slash(url)))
}

/// A server's address without a slash at its end.
pub fn without_slash(url: &str) -> &str {
    url.trim_end_matches('/')
}

/// Reads the whole path of a file; `example` is one for messages.
///
/// # Errors
/// If it is not a whole path.
pub fn whole_path<'de, D: Deserializer<'de>>(
    deserializer: D,
    example: &str,
) -> Result<PathBuf, D::Error> {
    let path = checked(deserializer, |text| {
        let path = Path::new(text);
        let whole = || format!("is not a whole path: write for instance \"{example}\"");
        let problem = || from_home(path).unwrap_or_else(whole);
        path.is_relative().then(problem)
    })?;
    Ok(path.into())
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
