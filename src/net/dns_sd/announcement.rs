//! What is announced: the ports that other machines may reach.

use std::net::SocketAddr;

use mdns_sd::{IfKind, ServiceInfo};

use super::{MAX_INSTANCE, SERVICE, own_host};
use crate::{net::reach::Wanted, system::this_machine, text::escape::is_plain};

/// The type of the page, for browsers that list what is near.
const PAGE: &str = "_http._tcp.local.";
/// The version of the keys in the TXT record.
const TXT_VERSION: &str = "1";

/// The ports that are announced. None is of this machine alone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Announcement(Vec<(Wanted, SocketAddr)>);

impl Announcement {
    /// Of these ports, those that other machines may reach.
    pub fn of(ports: impl IntoIterator<Item = (Wanted, SocketAddr)>) -> Self {
        let is_here = |at: &SocketAddr| at.ip().to_canonical().is_loopback();
        let open = ports.into_iter().filter(|(_, at)| !is_here(at));
        Self(open.collect())
    }

    /// Whether there is nothing to announce.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn at(&self, wanted: Wanted) -> Option<SocketAddr> {
        let mut ports = self.0.iter();
        ports.find(|(what, _)| *what == wanted).map(|(_, at)| *at)
    }

    /// The services, as they are announced by a machine of this name.
    pub(super) fn services(&self, name: &str) -> mdns_sd::Result<Vec<ServiceInfo>> {
        let mut services = Vec::new();
        let daemon = [Wanted::Uci, Wanted::Status, Wanted::LiveChess];
        let open = daemon.map(|wanted| Some((wanted, self.at(wanted)?)));
        let open: Vec<(Wanted, SocketAddr)> = open.into_iter().flatten().collect();
        if let Some((_, first)) = open.first() {
            let mut txt = vec![
                ("txtvers", TXT_VERSION.to_owned()),
                ("id", own_host::id()),
                ("v", env!("CARGO_PKG_VERSION").to_owned()),
            ];
            let ports = open.iter();
            txt.extend(ports.map(|(wanted, at)| (wanted.section(), at.port().to_string())));
            services.push(service(SERVICE, name, *first, &txt)?);
        }
        if let Some(at) = self.at(Wanted::Web) {
            services.push(service(PAGE, name, at, &[("path", "/".to_owned())])?);
        }
        Ok(services)
    }
}

fn service(
    kind: &str,
    name: &str,
    at: SocketAddr,
    txt: &[(&str, String)],
) -> mdns_sd::Result<ServiceInfo> {
    let host = format!("{}.local.", own_host::label());
    let service = ServiceInfo::new(kind, name, &host, "", at.port(), txt)?;
    let mut service = service.enable_addr_auto();
    match at.ip() {
        ip if !ip.is_unspecified() => service.set_interfaces(vec![IfKind::Addr(ip)]),
        // A listener of IPv4 alone is not offered by IPv6.
        ip if ip.is_ipv4() => service.set_interfaces(vec![IfKind::IPv4]),
        _ => {}
    }
    Ok(service)
}

/// The name that is announced: the machine's.
pub(super) fn name() -> String {
    let name = this_machine::name().unwrap_or_default();
    let mut name: String = name.chars().filter(|c| is_plain(*c)).collect();
    name.truncate(name.floor_char_boundary(MAX_INSTANCE));
    if name.is_empty() {
        "BoardBridge".clone_into(&mut name);
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    fn announced(ports: &[(Wanted, &str)]) -> Vec<String> {
        let ports = ports
            .iter()
            .map(|(wanted, at)| (*wanted, at.parse().unwrap()));
        let services = Announcement::of(ports).services("pi").unwrap();
        let told = services.iter().map(|service| {
            let txt = service.get_properties().iter();
            let txt = txt.filter(|txt| !["id", "v"].contains(&txt.key()));
            let txt: Vec<String> = txt
                .map(|txt| format!("{}={}", txt.key(), txt.val_str()))
                .collect();
            let (name, port) = (service.get_fullname(), service.get_port());
            format!("{name} {port} {}", txt.join(" "))
        });
        told.collect()
    }

    #[test]
    fn only_ports_beyond_this_machine_are_announced() {
        let own = [
            (Wanted::Uci, "127.0.0.1:9670"),
            (Wanted::Status, "[::1]:9680"),
            (Wanted::Web, "[::ffff:127.0.0.1]:9660"),
            (Wanted::LiveChess, "127.0.0.2:1982"),
        ];
        assert!(announced(&own).is_empty());
        assert_eq!(
            announced(&[
                (Wanted::Uci, "0.0.0.0:9670"),
                (Wanted::Status, "127.0.0.1:9680"),
                (Wanted::Web, "[::]:9660"),
                (Wanted::LiveChess, "192.168.1.7:1982"),
            ]),
            [
                "pi._boardbridge._tcp.local. 9670 txtvers=1 uci=9670 livechess=1982",
                "pi._http._tcp.local. 9660 path=/",
            ]
        );
        // Without a port for chess programs the first of the others is the service's.
        assert_eq!(
            announced(&[(Wanted::Status, "0.0.0.0:9680")]),
            ["pi._boardbridge._tcp.local. 9680 txtvers=1 status=9680"]
        );
    }

    #[test]
    fn the_machine_keeps_its_own_name_to_itself_as_a_host() {
        let own = Announcement::of([(Wanted::Uci, "0.0.0.0:9670".parse().unwrap())]);
        let services = own.services(&name()).unwrap();
        let host = services[0].get_hostname().trim_end_matches('.');
        assert!(own_host::is_own(host), "{host}");
        assert!(name().len() <= MAX_INSTANCE);
    }
}
