//! Looks at every request first: a page in the owner's browser must not reach the API.
//!
//! A page of another site can have a browser send requests here. If its name resolves to this machine (DNS rebinding), the
//! request has that name as its `Host`; otherwise the browser says in `Origin` which site it is.

use std::{net::IpAddr, sync::Arc};

use axum::{
    Extension,
    extract::{Request, State},
    http::{HeaderMap, StatusCode, header, uri::Authority},
    middleware::Next,
    response::{IntoResponse, Response},
};
use tokio::time::timeout;

use super::{House, REQUEST_WAIT, Visitor, Wrong, cookie, login};
use crate::{net::dns_sd::own_host, system::this_machine, text::lines::printable};

/// Bytes repeated of a name that is refused.
const MAX_REPEATED: usize = 60;

/// The names by which this machine may be called, beside its addresses and the one that it announces.
#[derive(Debug)]
pub struct Names(Vec<String>);

impl Names {
    /// This machine's own names, and these.
    pub fn new(hosts: Vec<String>) -> Self {
        let names = hosts.into_iter().chain(own_names());
        Self(names.map(|name| name.to_ascii_lowercase()).collect())
    }

    fn has(&self, host: &str) -> bool {
        let host = host.trim_end_matches('.').to_ascii_lowercase();
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        bare.parse::<IpAddr>().is_ok()
            || host == "localhost"
            || host.ends_with(".localhost")
            || own_host::is_own(&host)
            || self.0.contains(&host)
    }
}

/// This machine's name with and without `.local`.
pub(super) fn own_names() -> Vec<String> {
    let Some(name) = this_machine::name() else {
        return Vec::new();
    };
    let bare = name.trim_end_matches(".local").to_owned();
    vec![format!("{bare}.local"), bare, name]
}

/// Refuses what a page of another site may have sent, what only the phones of the house may see, and what takes too long.
pub(super) async fn look(
    State(house): State<Arc<House>>,
    Extension(mut visitor): Extension<Visitor>,
    mut request: Request,
    next: Next,
) -> Response {
    visitor.slot.used();
    if let Err(wrong) = check(&house.names, request.uri().path(), request.headers()) {
        return wrong.into_response();
    }
    let cookies = cookie::sent(request.headers(), &visitor);
    visitor.phone = house.pairing.known(cookies).await;
    if let Err(wrong) = house.control.admits(&visitor, request.uri().path()) {
        return wrong.into_response();
    }
    request.extensions_mut().insert(visitor);
    match timeout(REQUEST_WAIT, next.run(request)).await {
        Ok(response) => response,
        Err(_) => Wrong::new(
            StatusCode::REQUEST_TIMEOUT,
            format!("the request took more than {} s", REQUEST_WAIT.as_secs()),
        )
        .into_response(),
    }
}

fn check(names: &Names, path: &str, headers: &HeaderMap) -> Result<(), Wrong> {
    let mut hosts = headers.get_all(header::HOST).iter();
    let host = match (hosts.next(), hosts.next()) {
        (Some(host), None) => host.to_str().ok(),
        _ => None,
    };
    let host = host.and_then(|host| host.parse::<Authority>().ok());
    let Some(host) = host else {
        return Err(Wrong::bad("the request lacks its header Host"));
    };
    if !names.has(host.host()) {
        let name = printable(host.host().as_bytes(), MAX_REPEATED);
        return Err(Wrong::forbidden(format!(
            "{name} is not a known name of this machine: use its address, or set hosts = [\"{name}\"] under [web] in the \
             configuration of BoardBridge"
        )));
    }
    if path == login::BACK {
        // Lichess sends the browser there, and some say so. Its state and the cookie tell whether it may.
        return Ok(());
    }
    let own = |origin: &str| {
        let named = origin.split_once("://").map(|(_, named)| named);
        named.is_some_and(|named| named.eq_ignore_ascii_case(host.as_str()))
    };
    for origin in headers.get_all(header::ORIGIN) {
        if !origin.to_str().is_ok_and(own) {
            let name = printable(origin.as_bytes(), MAX_REPEATED);
            return Err(Wrong::forbidden(format!(
                "a page of {name} may not use BoardBridge: open BoardBridge itself"
            )));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passes(host: &str, origin: Option<&str>) -> bool {
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, host.parse().unwrap());
        if let Some(origin) = origin {
            headers.insert(header::ORIGIN, origin.parse().unwrap());
        }
        let names = Names(vec![
            "pi".to_owned(),
            "pi.local".to_owned(),
            "chess.example".to_owned(),
        ]);
        let passes = |path| check(&names, path, &headers).is_ok();
        assert!(origin.is_none() || passes(login::BACK));
        passes("/")
    }

    #[test]
    fn a_machine_is_called_by_its_addresses_and_names() {
        for host in [
            "127.0.0.1:9660",
            "192.168.1.5",
            "[::1]:9660",
            "[fd00::1]",
            "localhost:9660",
            "LOCALHOST",
            "bb.localhost",
            "pi:9660",
            "Pi.local",
            "pi.local.:9660",
            "chess.example",
        ] {
            assert!(passes(host, None), "{host}");
        }
        for host in [
            "evil.example",
            "127.0.0.1.evil.example",
            "localhost.evil.example",
            "notlocalhost",
            "pi.evil.example",
            "",
        ] {
            assert!(!passes(host, None), "{host}");
        }
    }

    #[test]
    fn a_machine_is_called_by_the_name_that_it_announces() {
        assert!(passes(&format!("{}.local:9660", own_host::label()), None));
    }

    #[test]
    fn only_a_page_of_its_own_may_use_it() {
        assert!(passes("pi:9660", Some("http://pi:9660")));
        assert!(passes("pi", Some("https://PI")));
        for origin in [
            "null",
            "http://evil.example",
            "http://pi:9661",
            "http://pi",
            "http://pi:9660.evil.example",
            "pi:9660",
        ] {
            assert!(!passes("pi:9660", Some(origin)), "{origin}");
        }
    }
}
