//! Requests over HTTPS to a server such as lichess.org, for every front-end that makes them: `address` is the key `url`,
//! `token` the token of an account, `tls` the settings of TLS.

pub mod address;
mod tls;
pub mod token;

use std::{
    error::Error as _,
    future::Future,
    io,
    net::SocketAddr,
    pin::Pin,
    task::{Context, Poll},
    time::{Duration, SystemTime},
    vec,
};

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::{
    Method, Response,
    body::Incoming,
    header::{ACCEPT, ACCEPT_ENCODING, AUTHORIZATION, CONTENT_TYPE, USER_AGENT},
};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::{
    client::legacy::{
        Client,
        connect::{HttpConnector, dns::Name},
    },
    rt::{TokioExecutor, TokioTimer},
};
use thiserror::Error;
use tower_service::Service;

use self::token::Token;
use crate::system::apart;

/// How long a connection may take.
const CONNECT_WAIT: Duration = Duration::from_secs(5);
/// A connection that is silent for this long is asked for a sign of life.
const KEEP_ALIVE: Duration = Duration::from_secs(20);
/// The most bytes of an answer's head.
const MAX_HEAD: usize = 64 * 1024;
/// How long an unused connection is kept open; a later request makes another.
const IDLE: Duration = Duration::from_mins(1);
/// The user agent, which Lichess requires: with the address of the repository, if `Cargo.toml` has one.
const AGENT: &str = if env!("CARGO_PKG_REPOSITORY").is_empty() {
    concat!("BoardBridge/", env!("CARGO_PKG_VERSION"))
} else {
    concat!(
        "BoardBridge/",
        env!("CARGO_PKG_VERSION"),
        " (+",
        env!("CARGO_PKG_REPOSITORY"),
        ")"
    )
};

/// A client of one server, with at most one token.
#[derive(Clone, Debug)]
pub struct Https {
    client: Client<HttpsConnector<HttpConnector<Names>>, Full<Bytes>>,
    url: String,
    token: Option<Token>,
}

/// Why a request has no answer.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Unanswered {
    /// There is no token to send.
    #[error("there is no token")]
    NoToken,
    /// The request itself is impossible.
    #[error("the request cannot be made: {0}")]
    Impossible(String),
    /// The server cannot be reached, or the connection was lost.
    #[error("{0}")]
    Lost(String),
}

/// Looks names up as the rest of the daemon does.
#[derive(Clone, Debug)]
struct Names;

impl Service<Name> for Names {
    type Response = vec::IntoIter<SocketAddr>;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Self::Response>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, name: Name) -> Self::Future {
        // The connector replaces port 0.
        Box::pin(async move { Ok(apart::addresses(&format!("{name}:0")).await?.into_iter()) })
    }
}

impl Https {
    /// A client of the server at this address, which has a scheme and no slash at its end.
    pub fn new(url: &str) -> Self {
        let mut tcp = HttpConnector::new_with_resolver(Names);
        tcp.set_nodelay(true);
        tcp.set_connect_timeout(Some(CONNECT_WAIT));
        tcp.set_keepalive(Some(KEEP_ALIVE));
        // Allows http: the configuration accepts it for this machine only.
        tcp.enforce_http(false);
        let https = HttpsConnectorBuilder::new()
            .with_tls_config(tls::settings())
            .https_or_http()
            .enable_http1()
            .wrap_connector(tcp);
        let client = Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(IDLE)
            .http1_max_buf_size(MAX_HEAD)
            .build(https);
        Self {
            client,
            url: url.to_owned(),
            token: None,
        }
    }

    /// Uses this token from now on.
    pub fn set_token(&mut self, token: Option<Token>) {
        self.token = token;
    }

    /// The token, if one is set.
    pub fn token(&self) -> Option<&Token> {
        self.token.as_ref()
    }

    /// Sends a request with a body of this type, and waits for the head of the answer.
    ///
    /// # Errors
    /// Why there is no answer.
    pub async fn exchange(
        &self,
        method: Method,
        path: &str,
        kind: &'static str,
        body: String,
    ) -> Result<Response<Incoming>, Unanswered> {
        let token = self.token.as_ref().ok_or(Unanswered::NoToken)?;
        self.send(Some(token), method, path, kind, body).await
    }

    /// The same without a token.
    ///
    /// # Errors
    /// Why there is no answer.
    pub async fn exchange_without_token(
        &self,
        method: Method,
        path: &str,
        kind: &'static str,
        body: String,
    ) -> Result<Response<Incoming>, Unanswered> {
        self.send(None, method, path, kind, body).await
    }

    async fn send(
        &self,
        token: Option<&Token>,
        method: Method,
        path: &str,
        kind: &'static str,
        body: String,
    ) -> Result<Response<Incoming>, Unanswered> {
        // No certificate is valid then.
        if SystemTime::now() < SystemTime::UNIX_EPOCH {
            let why = "the clock of this computer is before 1970: set it";
            return Err(Unanswered::Lost(why.to_owned()));
        }
        let mut request = hyper::Request::builder()
            .method(method)
            .uri(format!("{}{path}", self.url))
            .header(USER_AGENT, AGENT)
            .header(ACCEPT, "application/x-ndjson, application/json")
            // A compressor would hold lines back until it has enough of them.
            .header(ACCEPT_ENCODING, "identity");
        if let Some(token) = token {
            request = request.header(AUTHORIZATION, token.bearer());
        }
        if !body.is_empty() {
            request = request.header(CONTENT_TYPE, kind);
        }
        let request = request.body(Full::new(Bytes::from(body)));
        let request = request.map_err(|error| Unanswered::Impossible(error.to_string()))?;
        let answered = self.client.request(request).await;
        answered.map_err(|error| {
            // The cause is in the innermost error.
            let mut words = error.to_string();
            let mut source = error.source();
            while let Some(inner) = source {
                words = inner.to_string();
                source = inner.source();
            }
            Unanswered::Lost(words)
        })
    }
}

/// The whole body of an answer, of at most this many bytes.
///
/// # Errors
/// Why it cannot be had.
pub async fn text(response: Response<Incoming>, most: usize) -> Result<String, Unanswered> {
    let body = Limited::new(response.into_body(), most).collect().await;
    let body = body.map_err(|error| Unanswered::Lost(error.to_string()))?;
    Ok(String::from_utf8_lossy(&body.to_bytes()).into_owned())
}
