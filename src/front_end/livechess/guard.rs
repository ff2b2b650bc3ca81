//! Which pages may talk to boards by `LiveChess`.
//!
//! A browser says in `Origin` which site a page is of, always for a WebSocket. A page whose name resolves to this machine (DNS
//! rebinding) can leave it out of a plain GET only, and has its own name as `Host` then. Programs send no `Origin`.

use std::net::IpAddr;

use axum::http::{HeaderMap, header, uri::Authority};

/// Sites whose pages play on boards by `LiveChess`; pages of their subdomains may too.
const SITES: [&str; 2] = ["lichess.org", "chess.com"];

/// Whether a request with these headers is served; `origins` are further sites.
pub fn admits(headers: &HeaderMap, origins: &[String]) -> bool {
    let mut named = headers.get_all(header::ORIGIN).iter().peekable();
    if named.peek().is_none() {
        let host = headers.get(header::HOST);
        return host
            .and_then(|host| host.to_str().ok())
            .is_some_and(is_at_home);
    }
    named.all(|origin| {
        let origin = origin.to_str().unwrap_or_default();
        origins.iter().any(|own| own.eq_ignore_ascii_case(origin)) || is_known(origin)
    })
}

/// Whether this is a site that plays by `LiveChess`, or a page of this machine.
fn is_known(origin: &str) -> bool {
    let Some((scheme, authority)) = origin.split_once("://") else {
        return false;
    };
    let Ok(authority) = authority.parse::<Authority>() else {
        return false;
    };
    let host = authority.host().to_ascii_lowercase();
    let of_site = |site: &&str| {
        host.strip_suffix(site)
            .is_some_and(|before| before.is_empty() || before.ends_with('.'))
    };
    scheme == "https" && authority.port().is_none() && SITES.iter().any(of_site)
        || is_this_machine(&host)
}

fn is_this_machine(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || bare.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

/// Whether a host name can be of no site on the internet: an address, a name without dots, or one in `.local` or `.localhost`.
fn is_at_home(host: &str) -> bool {
    let Ok(authority) = host.parse::<Authority>() else {
        return false;
    };
    let host = authority.host().trim_end_matches('.').to_ascii_lowercase();
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    bare.parse::<IpAddr>().is_ok()
        || !host.is_empty() && !host.contains('.')
        || [".local", ".localhost"]
            .iter()
            .any(|end| host.ends_with(end))
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
        admits(&headers, &["https://chess.example".to_owned()])
    }

    #[test]
    fn pages_that_play_by_livechess_and_programs_may_talk() {
        for origin in [
            "https://lichess.org",
            "https://www.chess.com",
            "https://chess.example",
            "http://localhost:8080",
            "http://127.0.0.1",
            "http://[::1]:3000",
        ] {
            assert!(passes("localhost:1982", Some(origin)), "{origin}");
        }
        for host in [
            "localhost:1982",
            "127.0.0.1:1982",
            "[::1]:1982",
            "pi:1982",
            "pi.local:1982",
        ] {
            assert!(passes(host, None), "{host}");
        }
    }

    #[test]
    fn pages_of_other_sites_may_not_whatever_their_name_resolves_to() {
        for origin in [
            "http://lichess.org",
            "https://lichess.org.evil.example",
            "https://evillichess.org",
            "https://lichess.org:8443",
            "https://evil.example",
            "null",
            "lichess.org",
            "",
        ] {
            assert!(!passes("localhost:1982", Some(origin)), "{origin}");
        }
        for host in [
            "evil.example:1982",
            "localhost.evil.example",
            "127.0.0.1.evil.example",
        ] {
            assert!(!passes(host, None), "{host}");
        }
    }
}
