//! The address of the daemon that a command means when it is not told: this machine's, else the only one on the network.

use std::{
    fmt::Write as _,
    net::{SocketAddr, TcpStream},
    time::{Duration, Instant},
};

use thiserror::Error;

use super::{
    MDNS_PORT,
    browse::{Found, browse},
    choice::Choice,
};
use crate::net::{address, reach::Wanted};

/// How long this machine's daemon may take to accept: its kernel does that at once.
const HERE_WAIT: Duration = Duration::from_millis(200);
/// How long an address of another machine may take: a home network answers within 100 ms, a Wi-Fi that sleeps in some more.
const EACH_WAIT: Duration = Duration::from_millis(300);
/// How long all addresses may take together.
const ALL_WAIT: Duration = Duration::from_millis(600);
/// Daemons that are listed.
const MAX_LISTED: usize = 8;

/// Why there is no address.
#[derive(Debug, Error)]
pub enum NearestError {
    /// There are several.
    #[error("several BoardBridges are on this network; say which one you mean:{}", listed(.0))]
    Several(Vec<Found>),
}

fn listed(found: &[Found]) -> String {
    let mut text = String::new();
    for Found { name, addresses } in found.iter().take(MAX_LISTED) {
        if let Some(first) = addresses.first() {
            // Writing to a string does not fail.
            let _ = write!(text, "\n  --connect {first}   ({name})");
        }
    }
    if let Some(more @ 1..) = found.len().checked_sub(MAX_LISTED) {
        let _ = write!(text, "\n  and {more} more");
    }
    text
}

/// The address of the daemon that offers this port: this machine's if one answers at the default port, else the only one on the
/// network, else the usual address, which explains itself when it is tried.
///
/// # Errors
/// There are several.
pub fn nearest(wanted: Wanted) -> Result<String, NearestError> {
    // The relay for pages takes that port itself: the daemon is elsewhere.
    let is_relayed = wanted == Wanted::LiveChess;
    let usual = if is_relayed {
        ELSEWHERE
    } else {
        wanted.usual()
    };
    let here = !is_relayed && address_of(usual).is_some_and(|at| answers(at, HERE_WAIT));
    match Choice::of(here, || browse(MDNS_PORT, wanted)) {
        Choice::Here | Choice::Nobody => Ok(usual.to_owned()),
        Choice::Only(only) => {
            Ok(reached(&only.addresses).map_or(usual.to_owned(), |at| at.to_string()))
        }
        Choice::Several(found) => Err(NearestError::Several(found)),
    }
}

/// Where pages' boards are looked for if nobody answers: a Raspberry Pi is called that unless it is renamed.
const ELSEWHERE: &str = "raspberrypi.local:1982";

fn address_of(text: &str) -> Option<SocketAddr> {
    address::split(text).ok()?;
    text.parse().ok()
}

/// The first of these that answers, or else the first.
fn reached(addresses: &[SocketAddr]) -> Option<SocketAddr> {
    let until = Instant::now() + ALL_WAIT;
    let in_time = |_: &&SocketAddr| Instant::now() < until;
    let mut tried = addresses.iter().take_while(in_time);
    let first = tried.find(|at| answers(**at, EACH_WAIT));
    first.or(addresses.first()).copied()
}

fn answers(at: SocketAddr, wait: Duration) -> bool {
    TcpStream::connect_timeout(&at, wait).is_ok()
}
