//! At which address other machines find this one.

use std::net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket};

use super::dns_sd::interfaces::own_networks;

/// An address that is nobody's (RFC 5737): the way there is the way out of this network.
const OUT: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1)), 9);

/// The address at which a listener is found: its own, or, where it listens at all, that of the network which leads out, or of any,
/// where none does: this machine may be the access point itself. To know it nothing is sent.
pub fn own_address(listens: IpAddr) -> Option<IpAddr> {
    if !listens.is_unspecified() {
        return Some(listens.to_canonical());
    }
    way_out().or_else(|| {
        let networks = own_networks();
        networks.first().map(|network| network.addr().into())
    })
}

fn way_out() -> Option<IpAddr> {
    let socket = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).ok()?;
    socket.connect(OUT).ok()?;
    let own = socket.local_addr().ok()?.ip();
    (!own.is_loopback() && !own.is_unspecified()).then_some(own)
}
