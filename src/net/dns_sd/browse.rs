//! Looks for daemons on the local network.

use std::{
    collections::BTreeMap,
    net::{IpAddr, Ipv6Addr, SocketAddr, SocketAddrV6},
    time::{Duration, Instant},
};

use ipnet::Ipv4Net;
use mdns_sd::{ResolvedService, ScopedIp, ServiceEvent};

use super::{MAX_INSTANCE, SERVICE, interfaces};
use crate::{net::reach::Wanted, text::escape::is_plain};

/// How long the first answer may take. A responder waits up to 120 ms (RFC 6762, section 6), and a lost question is asked again
/// after a second.
pub const FIRST_ANSWER: Duration = Duration::from_millis(1200);
/// How long further answers are collected after the first.
pub const COLLECT: Duration = Duration::from_millis(500);
/// Daemons that are listened to; those beyond are left out.
pub const MAX_FOUND: usize = 200;
/// Addresses of one daemon that are looked at: a machine has a few on each of its interfaces.
pub const MAX_ADDRESSES: usize = 16;

/// A daemon that has answered. What it says of itself is not proved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// What it calls itself: one line of plain characters.
    pub name: String,
    /// Where the wanted port may be, the best first; never empty.
    pub addresses: Vec<SocketAddr>,
}

impl Found {
    /// Reads an answer; `None` if it does not offer this port to other machines. `own` are the networks of this machine.
    pub fn read(answer: &ResolvedService, wanted: Wanted, own: &[Ipv4Net]) -> Option<Self> {
        let port = answer.get_property_val_str(wanted.section())?;
        let port: u16 = port.parse().ok().filter(|port| *port != 0)?;
        let instance = answer.fullname.strip_suffix(SERVICE)?.strip_suffix('.')?;
        // A backslash there is written before a dot or a backslash of the name.
        let plain = instance.chars().filter(|c| is_plain(*c) && *c != '\\');
        let mut name: String = plain.collect();
        name.truncate(name.floor_char_boundary(MAX_INSTANCE));
        let name = name.trim();
        let name = if name.is_empty() { "(no name)" } else { name }.to_owned();
        let addresses = answer.addresses.iter().take(MAX_ADDRESSES);
        let mut addresses: Vec<SocketAddr> = addresses.filter_map(|ip| address(ip, port)).collect();
        addresses.sort_by_key(|address| (distance(address.ip(), own), *address));
        (!addresses.is_empty()).then_some(Self { name, addresses })
    }
}

/// An address to connect to; `None` if it cannot be another machine's here.
fn address(ip: &ScopedIp, port: u16) -> Option<SocketAddr> {
    let address = match (ip.to_ip_addr(), ip) {
        (IpAddr::V6(v6), ScopedIp::V6(scoped)) if v6.is_unicast_link_local() => {
            SocketAddrV6::new(v6, port, 0, scoped.scope_id().index).into()
        }
        (ip, _) => SocketAddr::new(ip.to_canonical(), port),
    };
    let ip = address.ip();
    let is_broadcast = matches!(ip, IpAddr::V4(v4) if v4.is_broadcast());
    let is_nobody = ip.is_loopback() || ip.is_unspecified() || ip.is_multicast() || is_broadcast;
    (!is_nobody).then_some(address)
}

/// How far away an address seems.
fn distance(ip: IpAddr, own: &[Ipv4Net]) -> u8 {
    match ip {
        IpAddr::V4(v4) if own.iter().any(|network| network.contains(&v4)) => 0,
        IpAddr::V6(v6) if v6.is_unicast_link_local() => 3,
        IpAddr::V6(v6) if is_global(v6) => 1,
        IpAddr::V4(_) | IpAddr::V6(_) => 2,
    }
}

/// Whether it is global (`2000::/3`), or unique to a site (`fc00::/7`).
fn is_global(v6: Ipv6Addr) -> bool {
    v6.is_unique_local() || v6.segments()[0] >> 13 == 1
}

/// The daemons on the network that offer what is wanted, by name; `port` is that of multicast DNS. None, too, if there is no
/// network to ask.
pub fn browse(port: u16, wanted: Wanted) -> Vec<Found> {
    let Ok(daemon) = interfaces::open(port) else {
        return Vec::new();
    };
    let own = interfaces::own_networks();
    let mut found = BTreeMap::new();
    if let Ok(answers) = daemon.browse(SERVICE) {
        let mut until = Instant::now() + FIRST_ANSWER;
        // What waits already is received after the deadline, too: a flood would never end.
        while Instant::now() < until
            && let Ok(event) = answers.recv_deadline(until)
        {
            let ServiceEvent::ServiceResolved(answer) = event else {
                continue;
            };
            let Some(daemon) = Found::read(&answer, wanted, &own) else {
                continue;
            };
            if found.is_empty() {
                until = Instant::now() + COLLECT;
            }
            // It is told again when another address has come.
            if found.len() < MAX_FOUND || found.contains_key(&answer.fullname) {
                found.insert(answer.fullname.clone(), daemon);
            }
        }
    }
    // Nobody waits for the thread to end.
    let _ = daemon.shutdown();
    only_once(found.into_values())
}

/// Without those that are an earlier one under another name: one address is one daemon.
fn only_once(found: impl IntoIterator<Item = Found>) -> Vec<Found> {
    let mut once: Vec<Found> = Vec::new();
    for daemon in found {
        let is_same = |other: &Found| {
            daemon
                .addresses
                .iter()
                .any(|at| other.addresses.contains(at))
        };
        if !once.iter().any(is_same) {
            once.push(daemon);
        }
    }
    once.sort_by(|one, other| one.name.cmp(&other.name));
    once
}

#[cfg(test)]
mod tests {
    use mdns_sd::ServiceInfo;

    use super::*;

    fn read(name: &str, addresses: &str, uci: &str) -> Option<Found> {
        let txt = [("uci", uci)];
        let service = ServiceInfo::new(SERVICE, name, "h.local.", addresses, 1, &txt[..]).unwrap();
        let own = ["192.168.1.7/24".parse().unwrap()];
        Found::read(&service.as_resolved_service(), Wanted::Uci, &own)
    }

    #[test]
    fn an_address_of_an_own_network_comes_first_and_nobodys_are_left_out() {
        let all = "172.17.0.1,fe80::1,2001:db8::1,192.168.1.20,127.0.0.1,0.0.0.0,224.0.0.1,::1";
        let found = read("pi", all, "9670").unwrap();
        let addresses: Vec<String> = found.addresses.iter().map(ToString::to_string).collect();
        assert_eq!(
            addresses,
            [
                "192.168.1.20:9670",
                "[2001:db8::1]:9670",
                "172.17.0.1:9670",
                "[fe80::1]:9670"
            ]
        );
        assert_eq!(read("pi", "127.0.0.1", "9670"), None);
        for uci in ["0", "65536", "-1", "", "9670 ", "http://192.168.1.20/"] {
            assert_eq!(read("pi", all, uci), None, "{uci}");
        }
    }

    #[test]
    fn a_name_is_one_short_line_of_plain_characters() {
        let name = |name: &str| read(name, "192.168.1.20", "9670").unwrap().name;
        assert_eq!(name("Hall A. 1"), "Hall A. 1");
        assert_eq!(name("\u{1b}[2J\r\npi\u{202e}"), "[2Jpi");
        assert_eq!(name("\u{200b}"), "(no name)");
        assert_eq!(name(&"é".repeat(100)), "é".repeat(31));
    }

    #[test]
    fn one_address_is_one_daemon() {
        let found = |name: &str, address: &str| read(name, address, "9670").unwrap();
        let (one, again) = (found("pi", "192.168.1.20"), found("pi (2)", "192.168.1.20"));
        let other = found("hall", "192.168.1.21");
        assert_eq!(only_once([one.clone(), again, other.clone()]), [other, one]);
    }
}
