//! The ports of the demonstration: the daemon's default ones, or free ones where those are in use.

use std::{io::ErrorKind, net::TcpListener};

use crate::{
    config::Config,
    net::{
        default_ports::{DEFAULT_STATUS, DEFAULT_UCI, DEFAULT_WEB},
        door::Listen,
    },
};

/// Any free port of this computer.
const FREE: &str = "127.0.0.1:0";

/// Replaces each default port that is in use by a free one: those of the page, of chess programs and of the event stream.
/// Returns the addresses that are in use.
///
/// The default port of `LiveChess` is not replaced: pages look for it nowhere else.
pub fn avoid_taken(config: &mut Config) -> Vec<&'static str> {
    let mut taken = Vec::new();
    let mut avoid = |listen: &mut Listen, default: &'static str| {
        if *listen == Listen::at(default) && is_taken(default) {
            *listen = Listen::at(FREE);
            taken.push(default);
        }
    };
    avoid(&mut config.uci.listen, DEFAULT_UCI);
    avoid(&mut config.status.listen, DEFAULT_STATUS);
    let mut web = config.web.listen();
    avoid(&mut web, DEFAULT_WEB);
    config.web.listen = Some(web);
    taken
}

fn is_taken(address: &str) -> bool {
    TcpListener::bind(address).is_err_and(|error| error.kind() == ErrorKind::AddrInUse)
}
