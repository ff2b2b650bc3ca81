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
    let mut avoiding = |listen: Listen, default: &'static str| {
        if listen == Listen::at(default) && is_taken(default) {
            taken.push(default);
            return Some(Listen::at(FREE));
        }
        Some(listen)
    };
    config.uci.listen = avoiding(config.uci.listen(), DEFAULT_UCI);
    config.status.listen = avoiding(config.status.listen(), DEFAULT_STATUS);
    config.web.listen = avoiding(config.web.listen(), DEFAULT_WEB);
    taken
}

fn is_taken(address: &str) -> bool {
    TcpListener::bind(address).is_err_and(|error| error.kind() == ErrorKind::AddrInUse)
}
