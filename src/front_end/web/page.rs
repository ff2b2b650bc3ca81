//! The files of the page. They are compiled into the program: it needs no folder, and the page loads from no other address.

use axum::{
    body::Body,
    http::{HeaderValue, header},
    response::Response,
};

use super::answer;

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
pub(super) const FILES: [File; 7] = [
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
        path: "/pair.js",
        kind: "text/javascript; charset=utf-8",
        text: include_str!("page/pair.js"),
    },
    File {
        path: "/pair.css",
        kind: "text/css; charset=utf-8",
        text: include_str!("page/pair.css"),
    },
    File {
        path: "/icon.svg",
        kind: "image/svg+xml",
        text: include_str!("page/icon.svg"),
    },
];

impl File {
    pub fn answer(self) -> Response {
        let mut response = answer::of_kind(self.kind, Body::from(self.text));
        let headers = response.headers_mut();
        for (name, value) in [
            (header::CONTENT_SECURITY_POLICY, POLICY),
            (header::REFERRER_POLICY, "no-referrer"),
        ] {
            headers.insert(name, HeaderValue::from_static(value));
        }
        response
    }
}
