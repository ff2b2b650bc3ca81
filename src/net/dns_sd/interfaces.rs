//! The networks that this machine is in, without those of its containers and virtual machines.

use std::net::IpAddr;

use if_addrs::{IfAddr, get_if_addrs};
use ipnet::Ipv4Net;
use mdns_sd::{IfKind, IfPredicate, ServiceDaemon};

/// What the names of such interfaces begin with. Their addresses (172.17.0.1) mean another machine to each that hears them.
const VIRTUAL: [&str; 5] = ["docker0", "br-", "veth", "virbr", "cni"];

fn is_virtual(name: &str) -> bool {
    VIRTUAL.iter().any(|begin| name.starts_with(begin))
}

/// Opens multicast DNS at this port on the other interfaces.
pub(super) fn open(port: u16) -> mdns_sd::Result<ServiceDaemon> {
    let daemon = ServiceDaemon::new_with_port(port)?;
    let others =
        IfPredicate::new(|interface| interface.is_loopback() || is_virtual(&interface.name));
    daemon.disable_interface(IfKind::Predicate(others))?;
    Ok(daemon)
}

/// The IPv4 networks that this machine is in; none if that cannot be read.
pub(crate) fn own_networks() -> Vec<Ipv4Net> {
    let interfaces = get_if_addrs().unwrap_or_default();
    let own = interfaces
        .into_iter()
        .filter(|interface| !interface.is_loopback() && !is_virtual(&interface.name));
    own.filter_map(|interface| match interface.addr {
        IfAddr::V4(v4) => {
            let prefix = ipnet::ip_mask_to_prefix(IpAddr::V4(v4.netmask)).ok()?;
            Ipv4Net::new(v4.ip, prefix).ok()
        }
        IfAddr::V6(_) => None,
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_networks_of_containers_and_virtual_machines_are_not_this_machines() {
        for name in ["docker0", "br-1f2e3d", "veth12ab", "virbr0", "cni0"] {
            assert!(is_virtual(name), "{name}");
        }
        for name in ["eth0", "wlan0", "enp3s0", "br0", "en0", "Ethernet"] {
            assert!(!is_virtual(name), "{name}");
        }
    }
}
