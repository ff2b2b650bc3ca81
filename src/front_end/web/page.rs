//! The files of the page. They are compiled into the program: it needs no folder, and the page loads from no other address.

use axum::{
    body::Body,
    http::{HeaderValue, StatusCode, header},
    response::Response,
};

use super::answer;
use crate::text::escape::escaped;

/// What the page may load and do: its own files and the API, nothing else. No other page may show it in a frame.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
     manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// A file of the page.
#[derive(Clone, Copy, Debug)]
pub(super) struct File {
    pub path: &'static str,
    kind: &'static str,
    content: &'static [u8],
}

/// A file with its content type.
macro_rules! file {
    ($path:expr, $name:literal, $kind:literal) => {
        File {
            path: $path,
            kind: $kind,
            content: include_bytes!(concat!("page/", $name)),
        }
    };
}

/// A script.
macro_rules! script {
    ($name:literal) => {
        file!(concat!("/", $name), $name, "text/javascript; charset=utf-8")
    };
}

/// All of them.
pub(super) const FILES: [File; 23] = [
    file!("/", "page.html", "text/html; charset=utf-8"),
    file!("/page.css", "page.css", "text/css; charset=utf-8"),
    script!("words.js"),
    script!("page.js"),
    script!("picture.js"),
    script!("sounds.js"),
    script!("moves.js"),
    script!("told_sentences.js"),
    script!("told.js"),
    script!("landing.js"),
    script!("board.js"),
    script!("games.js"),
    script!("wall.js"),
    script!("kinds.js"),
    script!("desk.js"),
    script!("lichess.js"),
    script!("chosen.js"),
    script!("login.js"),
    script!("pair.js"),
    file!("/pair.css", "pair.css", "text/css; charset=utf-8"),
    file!("/icon.svg", "icon.svg", "image/svg+xml"),
    file!("/icon.png", "icon.png", "image/png"),
    file!(
        "/manifest.webmanifest",
        "manifest.webmanifest",
        "application/manifest+json"
    ),
];

impl File {
    pub fn answer(self) -> Response {
        guarded(self.kind, Body::from(self.content))
    }
}

/// A page that only says something, with a link to the page.
pub(super) fn of_words(status: StatusCode, words: &str) -> Response {
    let text = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>BoardBridge</title>\n\
         <link rel=\"icon\" href=\"/icon.svg\" type=\"image/svg+xml\">\n<link rel=\"stylesheet\" href=\"/page.css\">\n\
         <script src=\"/words.js\" defer></script>\n<script src=\"/told_sentences.js\" defer></script>\n<script src=\"/told.js\" defer></script>\n\
         <script src=\"/landing.js\" defer></script>\n</head>\n<body>\n<main>\n<h1>BoardBridge</h1>\n<p id=\"landed\">{}.</p>\n\
         <p><a href=\"/#settings\" data-t=\"back\">Back to the page</a></p>\n</main>\n</body>\n</html>\n",
        as_text(words)
    );
    let mut response = guarded("text/html; charset=utf-8", Body::from(text));
    *response.status_mut() = status;
    response
}

/// Text as it stands in a page.
fn as_text(words: &str) -> String {
    let mut text = String::new();
    for sign in escaped(words).chars() {
        match sign {
            '&' => text.push_str("&amp;"),
            '<' => text.push_str("&lt;"),
            '>' => text.push_str("&gt;"),
            '"' => text.push_str("&quot;"),
            other => text.push(other),
        }
    }
    text
}

fn guarded(kind: &'static str, body: Body) -> Response {
    let mut response = answer::of_kind(kind, body);
    let headers = response.headers_mut();
    for (name, value) in [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::REFERRER_POLICY, "no-referrer"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}
