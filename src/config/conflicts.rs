//! Conflicts between parts of a configuration.

use std::collections::BTreeMap;

use super::{Config, Listen, mistakes::Problem};
use crate::address;

/// Checks that each part may pass alone, but not all of them together.
pub(super) fn check(config: &Config, problems: &mut Vec<Problem>) {
    boards(config, problems);
    rfcomm(config, problems);
    itself(config, problems);
}

/// Whether two addresses cannot both be listened on, or one reaches the other.
pub(crate) fn clash(one: &Listen, other: &Listen) -> bool {
    let (Listen::At(one), Listen::At(other)) = (one, other) else {
        return false;
    };
    let (Some((one, port)), Some((other, other_port))) = (parts(one), parts(other)) else {
        return false;
    };
    let is_v6 = |host: &str| host.contains(':');
    // Listening on all IPv6 addresses includes IPv4.
    let covers = |all: &str, host: &str| all == "::" || (all == "0.0.0.0" && !is_v6(host));
    // Port 0 takes any free one.
    port == other_port
        && port != 0
        && (one == other || covers(&one, &other) || covers(&other, &one))
}

/// Host and port; an address in its usual form.
fn parts(text: &str) -> Option<(String, u16)> {
    let (host, port) = address::split(text).ok()?;
    let usual = address::ip(host).map(|ip| ip.to_string());
    Some((usual.unwrap_or_else(|| host.to_ascii_lowercase()), port))
}

/// Each transport reaches one board.
fn boards(config: &Config, problems: &mut Vec<Problem>) {
    let mut taken = BTreeMap::new();
    for (name, board) in &config.boards {
        let ble = board.ble.as_ref();
        let ways = [
            (
                ["tcp", "address"],
                board.tcp.as_ref().map(|tcp| tcp.address.0.clone()),
                "give it another address",
            ),
            (
                ["ble", "name"],
                ble.and_then(|ble| ble.name.clone()),
                "`address` in place of `name` tells two boards apart",
            ),
            (
                ["ble", "address"],
                ble.and_then(|ble| ble.address.as_ref())
                    .map(|address| address.to_ascii_uppercase()),
                "give it another address",
            ),
        ];
        for (key, way, remedy) in ways {
            let Some(way) = way else { continue };
            let problem = |other| format!("{way} is already {other}'s: {remedy}");
            if let Some(other) = taken.get(&(key, way.clone())) {
                let path = ["boards", name.as_str()].into_iter().chain(key);
                problems.push((path.map(str::to_owned).collect(), problem(other)));
            }
            taken.insert((key, way), name);
        }
    }
}

/// `BlueZ` gives the serial port profile to only one.
fn rfcomm(config: &Config, problems: &mut Vec<Problem>) {
    let entries = config.whitepawn.iter().enumerate();
    let mut with = entries.filter(|(_, entry)| entry.rfcomm.is_some());
    let Some((_, first)) = with.next() else {
        return;
    };
    for (index, _) in with {
        let path = ["whitepawn", &index.to_string(), "rfcomm"].map(str::to_owned);
        let problem = format!(
            "Bluetooth's serial port is already the [[whitepawn]] of {}: only one can have it",
            first.board
        );
        problems.push((path.to_vec(), problem));
    }
}

/// A board cannot be its own app's board.
fn itself(config: &Config, problems: &mut Vec<Problem>) {
    for entry in &config.whitepawn {
        let board = config.boards.get(&entry.board);
        let far = board.and_then(|board| board.tcp.as_ref());
        let (Some(tcp), Some(far)) = (&entry.tcp, far) else {
            continue;
        };
        if clash(&tcp.listen, &Listen::at(&far.address.0)) {
            let path = ["boards", entry.board.as_str(), "tcp", "address"].map(str::to_owned);
            let problem = format!(
                "{} is where its own [[whitepawn]] listens: BoardBridge would play against itself",
                far.address.0
            );
            problems.push((path.to_vec(), problem));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_listens_everywhere_takes_the_port_from_all() {
        let clash = |one: &str, other: &str| {
            let both = [
                clash(&Listen::at(one), &Listen::at(other)),
                clash(&Listen::at(other), &Listen::at(one)),
            ];
            assert_eq!(both[0], both[1], "{one} {other}");
            both[0]
        };
        for (one, other) in [
            ("127.0.0.1:9690", "127.0.0.1:9690"),
            ("127.0.0.1:9690", "localhost:9690"),
            ("0.0.0.0:9690", "127.0.0.1:9690"),
            ("[::]:9690", "192.168.1.7:9690"),
            ("[::]:9690", "[::1]:9690"),
            ("[0:0::1]:9690", "[::1]:9690"),
            ("[::ffff:127.0.0.1]:9690", "LocalHost:9690"),
            ("Pi.local:9690", "pi.local:9690"),
        ] {
            assert!(clash(one, other), "{one} {other}");
        }
        for (one, other) in [
            ("127.0.0.1:9690", "127.0.0.1:9691"),
            ("127.0.0.1:9690", "192.168.1.7:9690"),
            ("0.0.0.0:9690", "[::1]:9690"),
            ("0.0.0.0:0", "127.0.0.1:0"),
        ] {
            assert!(!clash(one, other), "{one} {other}");
        }
        assert!(!super::clash(&Listen::Off, &Listen::Off));
    }
}
