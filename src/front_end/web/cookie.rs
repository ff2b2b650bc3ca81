//! The cookie by which a paired phone is known.

use axum::http::{HeaderMap, HeaderValue, StatusCode, header};

use super::{Visitor, Wrong};

/// How long a browser keeps it, in seconds: 400 days, the most that browsers allow.
const COOKIE_LIFE: u64 = 400 * 24 * 60 * 60;
/// Cookies of our name that are looked at in one request: a browser sends one, or two of different paths.
const MAX_COOKIES: usize = 4;

/// The header that gives it to a phone. Neither a script nor another site's page gets at it.
pub(super) fn given(cookie: &str, visitor: &Visitor) -> Result<HeaderValue, Wrong> {
    let text = format!(
        "{}={cookie}; Path=/; Max-Age={COOKIE_LIFE}; HttpOnly; SameSite=Strict",
        cookie_name(visitor)
    );
    let mut value = HeaderValue::try_from(text).map_err(|error| {
        // It consists of letters and digits.
        Wrong::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string())
    })?;
    value.set_sensitive(true);
    Ok(value)
}

/// The cookies of a request that may be a phone's.
pub(super) fn sent<'a>(
    headers: &'a HeaderMap,
    visitor: &Visitor,
) -> impl Iterator<Item = &'a str> + use<'a> {
    let name = cookie_name(visitor);
    let values = headers.get_all(header::COOKIE).into_iter();
    let values = values.filter_map(|value| value.to_str().ok());
    let pairs = values.flat_map(|value| value.split(';'));
    let pairs = pairs.filter_map(|pair| pair.trim().split_once('='));
    let ours = pairs.filter(move |(named, _)| *named == name);
    ours.map(|(_, value)| value).take(MAX_COOKIES)
}

/// With the port: a browser sends cookies to every port of a machine, and another `BoardBridge` may be at one.
fn cookie_name(visitor: &Visitor) -> String {
    format!("boardbridge_{}", visitor.listens.port())
}
