//! The networks that this machine's own IPv6 addresses are in, on the links it is connected to.
//!
//! At home these are global: each machine has an address of the internet, with the network in its first 64 bits. They are
//! read anew each time, for a provider may change them overnight.
//!
//! An address that a router has lent (`DHCPv6`) has no network of its own: its length is 128. The network is then known from the
//! routes: one that leads straight to a link and has the address in it.

use std::{fs, net::Ipv6Addr};

use ipnet::Ipv6Net;

/// This machine's IPv6 addresses (`proc(5)`; a service without `/proc/net` has that too).
const ADDRESSES: &str = "/proc/self/net/if_inet6";
/// Its IPv6 routes.
const ROUTES: &str = "/proc/self/net/ipv6_route";
/// A shorter prefix than this is not that of one link: a tunnel such as 6to4 has one that all its users share.
const SHORTEST: u8 = 64;
/// The scope of addresses that are unique in the internet, as the kernel shows it.
const GLOBAL: &str = "00";
/// The flag of a route over a router (`RTF_GATEWAY`), and of one that leads nowhere (`RTF_REJECT`).
const NOT_ON_LINK: u32 = 0x2 | 0x200;

/// An address of this machine, with its network, or a route to a network; and the name of the interface.
type Linked<'a> = (Ipv6Net, &'a str);

/// Whether an address is in a network that this machine is connected to.
pub(super) fn is_on_link(address: Ipv6Addr) -> bool {
    let read = |file: &str| fs::read_to_string(file).unwrap_or_default();
    has(&read(ADDRESSES), &read(ROUTES), address)
}

fn has(addresses: &str, routes: &str, address: Ipv6Addr) -> bool {
    let own: Vec<Linked> = addresses.lines().filter_map(own).collect();
    let holds = |network: &Ipv6Net| network.prefix_len() >= SHORTEST && network.contains(&address);
    let is_ours = |(network, name): &Linked| {
        let same = |(own, on): &Linked| on == name && network.contains(&own.addr());
        own.iter().any(same)
    };
    let mut routes = routes.lines().filter_map(route);
    own.iter().any(|(network, _)| holds(network))
        || routes.any(|linked| holds(&linked.0) && is_ours(&linked))
}

/// A line of the addresses: address, interface, length of the prefix, scope, flags, name.
fn own(line: &str) -> Option<Linked<'_>> {
    let fields: Vec<&str> = line.split_whitespace().collect();
    match fields[..] {
        [own, _, length, GLOBAL, _, name] => Some((network(own, length)?, name)),
        _ => None,
    }
}

/// A line of the routes: network, length of its prefix, source, length of its prefix, router, metric, two counts, flags, name.
fn route(line: &str) -> Option<Linked<'_>> {
    let fields: Vec<&str> = line.split_whitespace().collect();
    let [to, length, _, _, _, _, _, _, flags, name] = fields[..] else {
        return None;
    };
    let flags = u32::from_str_radix(flags, 16).ok()?;
    (flags & NOT_ON_LINK == 0).then_some((network(to, length)?, name))
}

fn network(address: &str, length: &str) -> Option<Ipv6Net> {
    let address = Ipv6Addr::from(u128::from_str_radix(address, 16).ok()?);
    let length = u8::from_str_radix(length, 16).ok()?;
    Ipv6Net::new(address, length).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_neighbours_on_a_link_are_those_of_its_prefix_and_no_others() {
        let table = "20010db8000100020000000000000007 02 40 00 80     eth0\n\
                     fe8000000000000000fc00fffe000001 02 40 20 80     eth0\n\
                     20020102030400000000000000000001 03 10 00 80     tun6to4\n\
                     20010db8000100030000000000000009 04 80 00 80     wg0\n\
                     00000000000000000000000000000001 01 80 10 80       lo\n\
                     nonsense\n";
        for (address, is) in [
            ("2001:db8:1:2::7", true),
            ("2001:db8:1:2:abcd::1", true),
            ("2001:db8:1:3::9", true),
            ("2001:db8:1:3::8", false),
            ("2001:db8:1:4::7", false),
            ("2002:102::1", false),
            ("fe80::1", false),
        ] {
            assert_eq!(has(table, "", address.parse().unwrap()), is, "{address}");
        }
    }

    #[test]
    fn the_neighbours_of_a_lent_address_are_those_that_the_routes_reach_without_a_router() {
        let addresses = "20010db8000100020000000000000007 02 80 00 80     eth0\n\
                         20010db8000100050000000000000007 02 80 00 80     eth0\n\
                         20010db8000100060000000000000007 03 80 00 80     ppp0\n";
        let none = "00000000000000000000000000000000";
        let router = "fe800000000000000000000000000001";
        let routes: String = [
            (
                "20010db8000100020000000000000000",
                "40",
                none,
                "00000001",
                "eth0",
            ),
            // In the same house, beyond a router; on a link without an address; a link of two; and the internet.
            (
                "20010db8000100050000000000000000",
                "40",
                router,
                "00000003",
                "eth0",
            ),
            (
                "20010db8000100070000000000000000",
                "40",
                none,
                "00000001",
                "wg0",
            ),
            (
                "20010db8000100060000000000000008",
                "80",
                none,
                "00000001",
                "ppp0",
            ),
            (
                "20000000000000000000000000000000",
                "03",
                none,
                "00000001",
                "eth0",
            ),
        ]
        .map(|(to, length, by, flags, name)| {
            format!("{to} {length} {none} 00 {by} 00000400 00000001 00000000 {flags}     {name}\n")
        })
        .concat();
        for (address, is) in [
            ("2001:db8:1:2::7", true),
            ("2001:db8:1:2::8", true),
            ("2001:db8:1:5::7", true),
            ("2001:db8:1:5::8", false),
            ("2001:db8:1:6::8", false),
            ("2001:db8:1:7::8", false),
            ("2001:db8:9::8", false),
        ] {
            let admitted = has(addresses, &routes, address.parse().unwrap());
            assert_eq!(admitted, is, "{address}");
        }
        assert!(!has(addresses, "", "2001:db8:1:2::8".parse().unwrap()));
    }
}
