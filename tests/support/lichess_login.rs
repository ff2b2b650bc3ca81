//! Logins at the Lichess in software: OAuth 2 with PKCE by its published rules, in our own words. A code lives for two minutes and
//! for one use, failed ones included; the strings of the exchange are those of the beginning.

#![allow(dead_code, reason = "each room uses a part of it")]

use std::collections::{BTreeMap, BTreeSet};

use axum::{
    body::Body,
    http::{Method, StatusCode, Uri, header, request::Parts},
    response::{IntoResponse, Response},
};
use serde_json::json;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    time::{Duration, Instant},
};

use super::Lichess;

/// How long a code is good for.
const CODE: Duration = Duration::from_secs(120);
/// Lichess's own scopes that a program for boards may ask for.
const SCOPES: [&str; 5] = [
    "board:play",
    "challenge:read",
    "challenge:write",
    "study:read",
    "study:write",
];

/// What is odd about the answer to an exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Odd {
    /// It is longer than any answer of Lichess.
    Huge,
    /// It is no JSON.
    NotJson,
    /// It leads elsewhere.
    Elsewhere,
    /// It has no token.
    NoToken,
    /// Its token has signs that no token has.
    Mangled,
    /// There were too many requests.
    TooMany,
    /// The server is out of order.
    Broken,
}

#[derive(Debug)]
struct Code {
    challenge: String,
    back: String,
    client: String,
    scopes: String,
    until: Instant,
}

/// All logins.
#[derive(Debug, Default)]
pub struct Logins {
    codes: BTreeMap<String, Code>,
    /// The tokens that were given, and their scopes.
    tokens: BTreeMap<String, String>,
    revoked: BTreeSet<String>,
    cancels: bool,
    odd: Option<Odd>,
    count: usize,
}

/// The values of a query or a form.
fn values(text: &str) -> BTreeMap<String, String> {
    let decoded = |text: &str| {
        let (mut bytes, mut rest) = (Vec::new(), text.bytes());
        while let Some(byte) = rest.next() {
            bytes.push(match byte {
                b'+' => b' ',
                b'%' => {
                    let digits = [rest.next().unwrap(), rest.next().unwrap()];
                    u8::from_str_radix(std::str::from_utf8(&digits).unwrap(), 16).unwrap()
                }
                other => other,
            });
        }
        String::from_utf8(bytes).unwrap()
    };
    let pairs = text.split('&').filter_map(|pair| pair.split_once('='));
    pairs
        .map(|(name, value)| (decoded(name), decoded(value)))
        .collect()
}

/// The bytes of a text in base64url without `=`.
fn unbase64(text: &str) -> Option<Vec<u8>> {
    let (mut bytes, mut bits, mut count) = (Vec::new(), 0u32, 0);
    for c in text.bytes() {
        let six = match c {
            b'A'..=b'Z' => c - b'A',
            b'a'..=b'z' => c - b'a' + 26,
            b'0'..=b'9' => c - b'0' + 52,
            b'-' => 62,
            b'_' => 63,
            _ => return None,
        };
        bits = bits << 6 | u32::from(six);
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count & 0xff) as u8);
        }
    }
    Some(bytes)
}

fn wrong(error: &str, description: &str) -> Response {
    let words = json!({ "error": error, "error_description": description });
    (StatusCode::BAD_REQUEST, words.to_string()).into_response()
}

impl Logins {
    /// The scopes of a token that a login has given.
    pub fn scopes(&self, token: &str) -> Option<&str> {
        self.tokens.get(token).map(String::as_str)
    }

    /// The answer to a request that is about logins.
    pub fn answer(&mut self, head: &Parts, form: &str) -> Option<Response> {
        match (&head.method, head.uri.path()) {
            (&Method::GET, "/oauth") => Some(self.asks(head.uri.query().unwrap_or_default())),
            (&Method::POST, "/api/token") => {
                let kind = head.headers.get(header::CONTENT_TYPE);
                let is_form = kind.is_some_and(|kind| kind == "application/x-www-form-urlencoded");
                let is_anonymous = !head.headers.contains_key(header::AUTHORIZATION);
                Some(if is_form && is_anonymous {
                    self.exchanges(form)
                } else {
                    wrong("invalid_request", "not a form")
                })
            }
            (&Method::DELETE, "/api/token") => {
                let token = head.headers.get(header::AUTHORIZATION);
                let token = token.and_then(|token| token.to_str().ok()?.strip_prefix("Bearer "));
                let token = token.unwrap_or_default().to_owned();
                let known = self.tokens.remove(&token).is_some();
                self.revoked.insert(token);
                let status = if known {
                    StatusCode::NO_CONTENT
                } else {
                    StatusCode::UNAUTHORIZED
                };
                Some(status.into_response())
            }
            _ => None,
        }
    }

    /// The page where the player agrees, with the press on it.
    fn asks(&mut self, query: &str) -> Response {
        let given = values(query);
        let value = |name: &str| given.get(name).cloned().unwrap_or_default();
        let (back, client) = (value("redirect_uri"), value("client_id"));
        let uri: Option<Uri> = back.parse().ok();
        let fits = uri.is_some_and(|uri| {
            matches!(uri.scheme_str(), Some("http" | "https"))
                && uri
                    .authority()
                    .is_some_and(|host| *host == host.as_str().to_lowercase())
                && uri.query().is_none()
        });
        if !fits || client.is_empty() {
            return (StatusCode::BAD_REQUEST, "a page that says so").into_response();
        }
        let challenge = value("code_challenge");
        let is_hash = unbase64(&challenge).is_some_and(|hash| hash.len() == 32);
        let scopes = value("scope");
        let error = if value("response_type") != "code" {
            "unsupported_response_type"
        } else if value("code_challenge_method") != "S256" {
            "unauthorized_client"
        } else if !is_hash {
            "invalid_request"
        } else if !scopes.split(' ').all(|scope| SCOPES.contains(&scope)) {
            "invalid_scope"
        } else if self.cancels {
            "access_denied"
        } else {
            ""
        };
        let state = value("state");
        let place = if error.is_empty() {
            self.count += 1;
            let code = format!("liu_Code{}", self.count);
            let place = format!("{back}?code={code}&state={state}");
            let until = Instant::now() + CODE;
            let asked = Code {
                challenge,
                back,
                client,
                scopes,
                until,
            };
            self.codes.insert(code, asked);
            place
        } else {
            format!("{back}?error={error}&error_description=not+now&state={state}")
        };
        (StatusCode::SEE_OTHER, [(header::LOCATION, place)]).into_response()
    }

    fn exchanges(&mut self, form: &str) -> Response {
        let given = values(form);
        let value = |name: &str| given.get(name).map(String::as_str).unwrap_or_default();
        if value("grant_type") != "authorization_code" {
            return wrong("unsupported_grant_type", "authorization_code only");
        }
        if value("code_verifier").len() < 43 {
            return wrong("invalid_request", "code_verifier too short");
        }
        let Some(code) = self.codes.remove(value("code")) else {
            return wrong("invalid_grant", "code unknown");
        };
        if code.until <= Instant::now() {
            return wrong("invalid_grant", "code expired");
        }
        if code.back != value("redirect_uri") || code.client != value("client_id") {
            return wrong("invalid_grant", "other redirect_uri or client_id");
        }
        let verifier = value("code_verifier").as_bytes();
        let hash = ring::digest::digest(&ring::digest::SHA256, verifier);
        if unbase64(&code.challenge).unwrap() != hash.as_ref() {
            return wrong("invalid_grant", "verifier does not match");
        }
        if let Some(odd) = self.odd {
            return odd.answer();
        }
        self.count += 1;
        let token = format!("lio_Login{}", self.count);
        self.tokens.insert(token.clone(), code.scopes);
        let granted =
            json!({ "token_type": "Bearer", "access_token": token, "expires_in": 31_536_000 });
        granted.to_string().into_response()
    }
}

impl Odd {
    fn answer(self) -> Response {
        let token = |token: &str| json!({ "access_token": token }).to_string().into_response();
        match self {
            Self::Huge => Response::new(Body::from(vec![b' '; 8_000_000])),
            Self::NotJson => "<html>".into_response(),
            Self::Elsewhere => {
                let place = [(header::LOCATION, "http://127.0.0.1:1/api/token")];
                (StatusCode::TEMPORARY_REDIRECT, place).into_response()
            }
            Self::NoToken => json!({ "token_type": "Bearer" })
                .to_string()
                .into_response(),
            Self::Mangled => token("lio_\u{1b}[2J\nlio_x"),
            Self::TooMany => StatusCode::TOO_MANY_REQUESTS.into_response(),
            Self::Broken => StatusCode::BAD_GATEWAY.into_response(),
        }
    }
}

impl Lichess {
    /// The player opens this page in a browser and presses Authorize, or Cancel; returns where the browser is sent.
    pub async fn browses(&self, url: &str, cancels: bool) -> String {
        self.inner().logins.cancels = cancels;
        let path = url
            .strip_prefix(&format!("http://{}", self.address))
            .unwrap();
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        let request = format!("GET {path} HTTP/1.1\r\nHost: lichess\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        let place = answer
            .lines()
            .find_map(|line| line.strip_prefix("location: "));
        place.unwrap().to_owned()
    }

    /// What the exchanges bring from now on.
    pub fn answers_oddly(&self, odd: Option<Odd>) {
        self.inner().logins.odd = odd;
    }

    /// The codes that were given are too old now.
    pub fn codes_expire(&self) {
        for code in self.inner().logins.codes.values_mut() {
            code.until = Instant::now();
        }
    }

    /// The tokens of logins that it takes.
    pub fn logged_in(&self) -> usize {
        self.inner().logins.tokens.len()
    }

    /// The player revokes all tokens of logins in the browser; all streams break.
    pub fn revokes(&self) {
        self.inner().logins.tokens.clear();
        self.breaks();
    }
}
