//! The form of all answers: JSON, also of errors.

use axum::{
    body::Body,
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use serde_json::{Value, json};

/// The content type of games. Without a charset, text may be taken for Latin-1.
pub(super) const PGN: &str = "application/x-chess-pgn; charset=utf-8";

/// A request that is refused: the status, and the words with the remedy.
#[derive(Debug)]
pub struct Wrong {
    status: StatusCode,
    words: String,
}

impl Wrong {
    pub(super) fn new(status: StatusCode, words: impl Into<String>) -> Self {
        Self {
            status,
            words: words.into(),
        }
    }

    pub(super) fn status(&self) -> StatusCode {
        self.status
    }

    /// Why, and what to do.
    pub(super) fn words(&self) -> &str {
        &self.words
    }

    /// The request is malformed.
    pub(super) fn bad(words: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, words)
    }

    /// There is no such thing.
    pub(super) fn missing(words: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, words)
    }

    /// It cannot be done now.
    pub(super) fn not_now(words: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, words)
    }

    /// The request is not allowed.
    pub(super) fn forbidden(words: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, words)
    }
}

impl IntoResponse for Wrong {
    fn into_response(self) -> Response {
        let mut response = value(&json!({ "error": self.words }));
        *response.status_mut() = self.status;
        response
    }
}

/// An answer of JSON with this body.
pub(super) fn text(body: Body) -> Response {
    of_kind("application/json", body)
}

/// An answer of this content type.
pub(super) fn of_kind(kind: &'static str, body: Body) -> Response {
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    for (name, value) in [
        (header::CONTENT_TYPE, kind),
        (header::CACHE_CONTROL, "no-store"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

/// An answer with this value.
pub(super) fn value(value: &Value) -> Response {
    text(Body::from(format!("{value}\n")))
}

/// There is nothing at this address.
pub(super) async fn unknown_path() -> Wrong {
    Wrong::new(
        StatusCode::NOT_FOUND,
        "there is nothing at this address: the page is at /, the boards are at /api/v1/boards",
    )
}

/// The address does not take this method.
pub(super) async fn wrong_method() -> Wrong {
    Wrong::new(
        StatusCode::METHOD_NOT_ALLOWED,
        "this address does not take this method: GET shows something, POST does something",
    )
}
