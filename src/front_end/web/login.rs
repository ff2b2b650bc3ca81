//! `/api/v1/lichess/login` and `…/logout`, and the page to which Lichess sends the browser back.

use std::{fmt::Write as _, sync::Arc};

use axum::{
    Extension,
    extract::{Request, State},
    http::{HeaderMap, HeaderValue, StatusCode, header, uri::Authority},
    response::Response,
};
use serde::Deserialize;
use serde_json::json;

use super::{
    House, Visitor,
    answer::{self, Wrong},
    boards::{Empty, body},
    lichess::refused,
    page,
};
use crate::bus::login::{LOGIN_WAIT, Returned};

/// Where Lichess sends the browser back.
pub(super) const BACK: &str = "/oauth/lichess";
/// The cookie of a browser that has begun a login.
const COOKIE: &str = "boardbridge-login";
/// The longest value that is taken of what Lichess sends back, in bytes: its codes have some forty.
const MAX_VALUE: usize = 512;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wanted {
    /// The address of the page that could not be opened.
    address: Option<String>,
    /// A command asks, which is no browser: any browser may finish the login.
    #[serde(default)]
    terminal: bool,
}

/// Begins a login, or finishes one with the address that the browser could not open.
pub(super) async fn log_in(
    State(house): State<Arc<House>>,
    Extension(visitor): Extension<Visitor>,
    request: Request,
) -> Result<Response, Wrong> {
    let (back, browser) = (back(request.headers()), cookie(request.headers()));
    let Wanted { address, terminal } = body(request).await?;
    let logins = house.bus.logins();
    if let Some(address) = address {
        let query = address
            .split_once('?')
            .map_or(&*address, |(_, query)| query);
        let returned = returned(query.split('#').next().unwrap_or_default())?;
        let done = logins.finish(returned, browser).await;
        let words = done.map_err(|why| refused(&why))?;
        return Ok(answer::value(&json!({ "done": words })));
    }
    if terminal && !visitor.is_here {
        return Err(Wrong::forbidden(
            "from another computer log in on the page, or run the command on the computer of BoardBridge",
        ));
    }
    let begun = logins.begin(back?, terminal).await;
    let begun = begun.map_err(|why| refused(&why))?;
    let mut response = answer::value(&json!({ "url": begun.url }));
    if let Some(secret) = begun.browser {
        set_cookie(&mut response, &secret, LOGIN_WAIT.as_secs());
    }
    Ok(response)
}

/// Forgets the token.
pub(super) async fn log_out(
    State(house): State<Arc<House>>,
    request: Request,
) -> Result<Response, Wrong> {
    let Empty {} = body(request).await?;
    let done = house.bus.logins().log_out().await;
    let words = done.map_err(|why| refused(&why))?;
    Ok(answer::value(&json!({ "done": words })))
}

/// The browser is back from Lichess.
pub(super) async fn come_back(State(house): State<Arc<House>>, request: Request) -> Response {
    let browser = cookie(request.headers());
    let query = request.uri().query().unwrap_or_default();
    let done = match returned(query) {
        Ok(returned) => {
            let done = house.bus.logins().finish(returned, browser).await;
            done.map_err(|why| refused(&why))
        }
        Err(wrong) => Err(wrong),
    };
    let (status, words) = match &done {
        Ok(words) => (StatusCode::OK, words.as_str()),
        Err(wrong) => (wrong.status(), wrong.words()),
    };
    let mut response = page::of_words(status, words);
    // It is used up.
    set_cookie(&mut response, "", 0);
    response
}

/// The address of [`BACK`] as the browser has it, in the one form in which Lichess compares it. The guard has checked `Host`.
fn back(headers: &HeaderMap) -> Result<String, Wrong> {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
    let host: Option<Authority> = text(header::HOST).and_then(|host| host.parse().ok());
    let host = host.ok_or_else(|| Wrong::bad("the request lacks its header Host"))?;
    // Behind a proxy that encrypts.
    let is_https = text(header::ORIGIN).is_some_and(|origin| origin.starts_with("https://"));
    let (scheme, usual) = if is_https {
        ("https", 443)
    } else {
        ("http", 80)
    };
    let name = host.host().to_ascii_lowercase();
    if name.contains('%') {
        return Err(Wrong::bad(
            "Lichess cannot send a browser back to this address: open the page by another one",
        ));
    }
    let port = host.port_u16().filter(|port| *port != usual);
    let port = port.map(|port| format!(":{port}")).unwrap_or_default();
    Ok(format!("{scheme}://{name}{port}{BACK}"))
}

/// What Lichess has sent back in the query of the address.
fn returned(query: &str) -> Result<Returned, Wrong> {
    let value = |wanted: &str| {
        let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
        let mut found = pairs.filter(|(name, _)| *name == wanted);
        decoded(found.next()?.1)
    };
    let code = match (value("code"), value("error")) {
        (Some(code), _) => Some(Ok(code)),
        (None, error) => error.map(Err),
    };
    match (value("state"), code) {
        (Some(state), Some(code)) => Ok(Returned { state, code }),
        _ => Err(Wrong::bad(
            "this address is not one from Lichess: it has to have code=… and state=…. Copy the whole address, or log in again",
        )),
    }
}

/// A value of a query, which is text of a bounded length.
fn decoded(value: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let mut rest = value.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'+' => b' ',
            b'%' => {
                let digit = |b: u8| {
                    char::from(b)
                        .to_digit(16)
                        .and_then(|d| u8::try_from(d).ok())
                };
                16 * digit(rest.next()?)? + digit(rest.next()?)?
            }
            other => other,
        });
    }
    let text = String::from_utf8(bytes).ok()?;
    (1..=MAX_VALUE).contains(&text.len()).then_some(text)
}

/// The secret of the browser that has begun a login.
fn cookie(headers: &HeaderMap) -> Option<String> {
    let all = headers.get_all(header::COOKIE).iter();
    let mut pairs = all
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(';'))
        .filter_map(|pair| pair.trim().split_once('='));
    let (_, secret) = pairs.find(|(name, _)| *name == COOKIE)?;
    Some(secret.to_owned())
}

/// `Lax`: Lichess sends the browser back by a step to another page, with which such a cookie goes.
fn set_cookie(response: &mut Response, secret: &str, seconds: u64) {
    let mut text = format!("{COOKIE}={secret}");
    let _ = write!(text, "; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Lax");
    if let Ok(value) = HeaderValue::from_str(&text) {
        response.headers_mut().insert(header::SET_COOKIE, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_way_back_is_the_address_of_the_page_in_one_form() {
        for (host, origin, wanted) in [
            ("127.0.0.1:9660", None, Some("http://127.0.0.1:9660")),
            ("Pi.Local:80", None, Some("http://pi.local")),
            ("PI", Some("http://pi"), Some("http://pi")),
            ("pi:443", Some("https://pi"), Some("https://pi")),
            ("pi:443", None, Some("http://pi:443")),
            ("[FD00::1]:9660", None, Some("http://[fd00::1]:9660")),
            ("someone@pi:9660", None, Some("http://pi:9660")),
            ("", None, None),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(header::HOST, host.parse().unwrap());
            if let Some(origin) = origin {
                headers.insert(header::ORIGIN, origin.parse().unwrap());
            }
            let wanted = wanted.map(|page| format!("{page}{BACK}"));
            assert_eq!(back(&headers).ok(), wanted, "{host}");
        }
    }

    #[test]
    fn what_comes_back_is_read_with_its_signs() {
        let read = |query| returned(query).map(|r| (r.state, r.code)).ok();
        let code = |state: &str, code: &str| Some((state.to_owned(), Ok(code.to_owned())));
        assert_eq!(read("code=liu_a%2Bb&state=s"), code("s", "liu_a+b"));
        assert_eq!(read("state=s&code=c&more"), code("s", "c"));
        let denied = Some(("s".to_owned(), Err("access_denied".to_owned())));
        assert_eq!(
            read("error=access_denied&error_description=No+way&state=s"),
            denied
        );
        let long = format!("state=s&code={}", "x".repeat(MAX_VALUE + 1));
        for nothing in [
            "",
            "code=c",
            "state=s",
            "code=&state=s",
            "code=%zz&state=s",
            "code=%f",
            &long,
        ] {
            assert_eq!(read(nothing), None, "{nothing}");
        }
    }
}
