//! Explains why the daemon cannot be reached at an address.

use std::{io, net::ToSocketAddrs};

use crate::{
    net::{
        address,
        default_ports::{DEFAULT_LIVECHESS, DEFAULT_STATUS, DEFAULT_UCI, DEFAULT_WEB},
    },
    text::lines::printable,
};

/// Bytes quoted of what something else sends.
const MAX_REPEATED: usize = 60;

/// The port of the daemon that is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// Where chess programs connect.
    Uci,
    /// The event stream.
    Status,
    /// The API.
    Web,
    /// Where pages connect.
    LiveChess,
}

impl Wanted {
    /// Its section in the configuration, which is also its key in what a daemon announces.
    pub(super) fn section(self) -> &'static str {
        match self {
            Self::Uci => "uci",
            Self::Status => "status",
            Self::Web => "web",
            Self::LiveChess => "livechess",
        }
    }

    /// Its default address.
    pub(super) fn usual(self) -> &'static str {
        match self {
            Self::Uci => DEFAULT_UCI,
            Self::Status => DEFAULT_STATUS,
            Self::Web => DEFAULT_WEB,
            Self::LiveChess => DEFAULT_LIVECHESS,
        }
    }

    fn port(self) -> &'static str {
        let usual = self.usual();
        usual.rsplit(':').next().unwrap_or(usual)
    }

    /// Where clients of this port connect: its key in the configuration, and its default port.
    fn place(self) -> String {
        let what = match self {
            Self::Uci => "chess programs connect",
            Self::Status => "`boardbridge watch` connects",
            Self::Web => "commands connect",
            Self::LiveChess => "`boardbridge livechess` connects",
        };
        format!(
            "{what} to `[{}] listen` of the daemon's configuration, port {} unless that was changed",
            self.section(),
            self.port()
        )
    }
}

/// The mistake in the text of an address, if there is one.
pub fn malformed(address: &str, wanted: Wanted) -> Option<String> {
    let wrong = address::split(address).err()?;
    let meant = address::meant(address, wanted.usual());
    Some(format!("`{address}` {wrong}: write for instance {meant}"))
}

/// Why an address cannot be reached, and what to do.
pub fn unreachable(address: &str, error: &io::Error, wanted: Wanted) -> String {
    if let Some(why) = malformed(address, wanted) {
        return why;
    }
    let Ok(found) = address.to_socket_addrs() else {
        let host = address::split(address).map_or(address, |(host, _)| host);
        return format!("there is no machine named {host} on this network: try its IP address");
    };
    let port = address.rsplit(':').next().unwrap_or_default();
    let here = found.into_iter().all(|address| address.ip().is_loopback());
    let what_to_do = if here {
        let elsewhere = match wanted {
            Wanted::Uci => {
                ". A BoardBridge on another machine is found once *Chess programs of the network may connect* is on in the settings of its page"
            }
            Wanted::Status | Wanted::LiveChess | Wanted::Web => "",
        };
        format!(
            "Start it with `sudo systemctl start boardbridge` where it is installed, else with `boardbridge run` (`boardbridge demo` \
         needs no board). If it does not start, `boardbridge check` says why; if it listens elsewhere, say `--connect HOST:PORT`; `[{}] listen` must not be \"off\"{elsewhere}",
            wanted.section()
        )
    } else if error.kind() == io::ErrorKind::ConnectionRefused {
        format!(
            "Is BoardBridge running there? If it is, let other machines in: `listen = \"0.0.0.0:{port}\"` under [{}] in its \
             configuration",
            wanted.section()
        )
    } else {
        "Is that machine switched on and in this network, and BoardBridge running there?".to_owned()
    };
    format!("BoardBridge cannot be reached at {address}: {error}. {what_to_do}")
}

/// What answers instead of the wanted port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Responder {
    /// The daemon's port for chess programs, or any other UCI engine.
    Uci,
    /// The daemon's event stream.
    Status,
    /// A web server.
    Web,
    /// It closed the connection at once.
    Closed,
    /// It does not speak HTTP.
    NotWeb,
    /// It sends nothing.
    Silence,
    /// Something else, which sends this.
    Other(String),
}

impl Responder {
    /// Recognises it by the first thing it sends.
    pub fn by(line: &[u8]) -> Self {
        let begins = |head: &str| line.starts_with(head.as_bytes());
        if begins("{") && serde_json::from_slice::<serde_json::Value>(line).is_ok() {
            Self::Status
        } else if begins("HTTP/") {
            Self::Web
        } else if ["id ", "option ", "uciok", "info "].into_iter().any(begins) {
            Self::Uci
        } else {
            Self::Other(printable(line.trim_ascii_end(), MAX_REPEATED))
        }
    }

    /// What is there, and where the wanted port may be.
    pub fn told(&self, address: &str, wanted: Wanted) -> String {
        let what = match self {
            Self::Uci => format!("{address} is a port for chess programs"),
            Self::Status => {
                format!("{address} is the event stream, which `boardbridge watch` shows")
            }
            Self::Web => format!("a web server answers at {address}"),
            Self::Closed => format!(
                "what listens at {address} closes the connection at once (it does not admit this machine, has enough connections, or is not BoardBridge)"
            ),
            Self::NotWeb => format!("what answers at {address} is not BoardBridge's API"),
            Self::Silence => format!(
                "what listens at {address} says nothing, as the port for the WhitePawn app does, a daemon that hangs, and a service that cannot start (`systemctl status boardbridge`)"
            ),
            Self::Other(said) => {
                format!("what answers at {address} is not BoardBridge: it says `{said}`")
            }
        };
        format!("{what}: {}", wanted.place())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(address: &str, wanted: Wanted) -> String {
        unreachable(address, &io::ErrorKind::ConnectionRefused.into(), wanted)
    }

    #[test]
    fn an_address_without_its_port_is_completed() {
        let why = malformed("raspberrypi", Wanted::Status).unwrap();
        assert!(
            why.ends_with("write for instance raspberrypi:9680"),
            "{why}"
        );
        let why = malformed("raspberrypi:uci", Wanted::Uci).unwrap();
        assert!(
            why.ends_with("write for instance raspberrypi:9670"),
            "{why}"
        );
        for good in ["raspberrypi:9670", "[::1]:9670"] {
            assert_eq!(malformed(good, Wanted::Uci), None);
        }
        for address in ["::1", "[::1]", "http://[::1]:9660/boards"] {
            let why = malformed(address, Wanted::Web).unwrap();
            assert!(why.ends_with("write for instance [::1]:9660"), "{why}");
        }
    }

    #[test]
    fn a_daemon_that_listens_for_its_own_machine_alone_is_to_be_opened() {
        let why = refused("192.0.2.1:9670", Wanted::Uci);
        assert!(
            why.contains("`listen = \"0.0.0.0:9670\"` under [uci]"),
            "{why}"
        );
        let why = refused("192.0.2.1:9680", Wanted::Status);
        assert!(
            why.contains("`listen = \"0.0.0.0:9680\"` under [status]"),
            "{why}"
        );
        assert!(!refused("127.0.0.1:9670", Wanted::Uci).contains("0.0.0.0"));
    }

    #[test]
    fn what_is_at_the_other_end_is_known_by_its_first_line() {
        assert_eq!(Responder::by(br#"{"event":"daemon"}"#), Responder::Status);
        assert_eq!(Responder::by(b"HTTP/1.1 400 Bad Request\r"), Responder::Web);
        assert_eq!(Responder::by(b"id name BoardBridge 0.1.0"), Responder::Uci);
        assert_eq!(
            Responder::by(b"220 mail\r"),
            Responder::Other("220 mail".to_owned())
        );
    }
}
