//! The networks that this machine's own IPv6 addresses are in, on the links it is connected to.
//!
//! At home these are global: each machine has an address of the internet, with the network in its first 64 bits. They are
//! read again each time, because a provider may change them overnight.

use std::{fs, net::Ipv6Addr};

use ipnet::Ipv6Net;

/// This machine's IPv6 addresses (`proc(5)`; a service without `/proc/net` has that too).
const ADDRESSES: &str = "/proc/self/net/if_inet6";
/// A shorter prefix than this is not that of one link: a tunnel such as 6to4 has one that all its users share.
const SHORTEST: u8 = 64;
/// The scope of addresses that are unique in the internet, as the kernel shows it.
const GLOBAL: &str = "00";

/// Whether an address is in a network that this machine is connected to.
pub(super) fn is_on_link(address: Ipv6Addr) -> bool {
    fs::read_to_string(ADDRESSES).is_ok_and(|table| has(&table, address))
}

fn has(table: &str, address: Ipv6Addr) -> bool {
    table
        .lines()
        .filter_map(network)
        .any(|network| network.contains(&address))
}

/// The network of a line: address, interface, length of the prefix, scope, flags, name.
fn network(line: &str) -> Option<Ipv6Net> {
    let fields: Vec<&str> = line.split_whitespace().collect();
    let [own, _, length, GLOBAL, ..] = fields[..] else {
        return None;
    };
    let own = Ipv6Addr::from(u128::from_str_radix(own, 16).ok()?);
    let length = u8::from_str_radix(length, 16).ok()?;
    let network = Ipv6Net::new(own, length).ok()?;
    (length >= SHORTEST).then_some(network)
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
            assert_eq!(has(table, address.parse().unwrap()), is, "{address}");
        }
    }
}
