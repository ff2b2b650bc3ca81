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
     base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// A file of the page.
#[derive(Clone, Copy, Debug)]
pub(super) struct File {
    pub path: &'static str,
    kind: &'static str,
    text: &'static str,
}

/// All of them.
pub(super) const FILES: [File; 6] = [
    File {
        path: "/",
        kind: "text/html; charset=utf-8",
        text: include_str!("page/page.html"),
    },
    File {
        path: "/page.css",
        kind: "text/css; charset=utf-8",
        text: include_str!("page/page.css"),
    },
    File {
        path: "/page.js",
        kind: "text/javascript; charset=utf-8",
        text: include_str!("page/page.js"),
    },
    File {
        path: "/wall.js",
        kind: "text/javascript; charset=utf-8",
        text: include_str!("page/wall.js"),
    },
    File {
        path: "/login.js",
        kind: "text/javascript; charset=utf-8",
        text: include_str!("page/login.js"),
    },
    File {
        path: "/icon.svg",
        kind: "image/svg+xml",
        text: include_str!("page/icon.svg"),
    },
];

impl File {
    pub fn answer(self) -> Response {
        guarded(self.kind, Body::from(self.text))
    }
}

/// A page that only says something, with a link to the page.
pub(super) fn of_words(status: StatusCode, words: &str) -> Response {
    let text = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>BoardBridge</title>\n\
         <link rel=\"stylesheet\" href=\"/page.css\">\n</head>\n<body>\n<main>\n<h1>BoardBridge</h1>\n<p>{}.</p>\n\
         <p><a href=\"/#settings\">Back to the page</a></p>\n</main>\n</body>\n</html>\n",
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
