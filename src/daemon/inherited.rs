//! What systemd gives us: listeners that outlive us (the socket unit's, and ours, which systemd keeps while we restart), and a
//! control group of our own.

use std::{
    collections::BTreeMap,
    io,
    net::{self, SocketAddr},
    time::Duration,
};

use futures_util::future::join_all;
use tokio::{net::TcpListener, time::Instant};
use tracing::{info, warn};

use super::{part::Part, service::Service, systemd::Notify};
use crate::{
    net::door::Listen,
    system::{apart, cgroup::Cgroup},
};

/// How long a listener that was let go may stay open: systemd 254 and later close it in a process of their own.
const CLOSE_WAIT: Duration = Duration::from_secs(5);

/// All listeners by their addresses, the connection to systemd, which keeps them for our successor, and the control group.
#[derive(Debug, Default)]
pub struct Inherited {
    /// The socket unit's, for GUIs.
    activated: Option<(net::TcpListener, SocketAddr)>,
    /// The others: those that were kept through our restart, and those that are served.
    kept: BTreeMap<SocketAddr, net::TcpListener>,
    keeper: Notify,
    /// Listeners that were let go, and until when they may be open.
    closing: Option<(Vec<SocketAddr>, Instant)>,
    cgroup: Option<Cgroup>,
}

fn usable(listener: net::TcpListener) -> io::Result<(net::TcpListener, SocketAddr)> {
    listener.set_nonblocking(true)?;
    let at = listener.local_addr()?;
    Ok((listener, at))
}

/// Where a part wants to listen.
#[derive(Debug)]
pub(super) struct Wanted {
    port: Option<u16>,
    /// Empty if the name cannot be looked up now.
    found: Vec<SocketAddr>,
}

impl Wanted {
    /// Where this part wants to listen, if it does.
    pub async fn by(part: &Part) -> Option<Self> {
        let (_, listen) = part.listens()?;
        let Listen::At(address) = &listen else {
            return None;
        };
        let found = apart::addresses(address).await;
        Some(Self {
            port: listen.port(),
            found: found.unwrap_or_default(),
        })
    }

    /// Where each of these parts wants to listen, if it does. Names are looked up at the same time.
    pub async fn by_all(parts: &[Part]) -> Vec<Option<Self>> {
        join_all(parts.iter().map(Self::by)).await
    }

    /// The addresses that were found for `this`; if there are none, `address` is looked up again.
    pub async fn addresses(this: Option<&Self>, address: &str) -> io::Result<Vec<SocketAddr>> {
        match this {
            Some(wanted) if wanted.is_known() => Ok(wanted.found.clone()),
            _ => apart::addresses(address).await,
        }
    }

    fn includes(&self, at: SocketAddr) -> bool {
        self.found.contains(&at) || (self.found.is_empty() && self.port == Some(at.port()))
    }

    /// Whether only one of the two can be listened at.
    pub fn overlaps(&self, at: SocketAddr) -> bool {
        // Listening on all IPv6 addresses includes IPv4.
        let covers = |all: SocketAddr, one: SocketAddr| {
            all.ip() == one.ip() || all.ip().is_unspecified() && (all.is_ipv6() || one.is_ipv4())
        };
        let overlaps = |wanted: &SocketAddr| {
            wanted.port() == at.port() && (covers(*wanted, at) || covers(at, *wanted))
        };
        self.includes(at) || self.found.iter().any(overlaps)
    }

    /// Whether its name can be looked up now.
    pub fn is_known(&self) -> bool {
        !self.found.is_empty()
    }
}

impl Inherited {
    /// No listeners; what will be served is kept by this.
    pub fn new(keeper: Notify, cgroup: Option<Cgroup>) -> Self {
        Self {
            keeper,
            cgroup,
            ..Self::default()
        }
    }

    /// The daemon's own control group, if it has one.
    pub(super) fn cgroup(&self) -> Option<&Cgroup> {
        self.cgroup.as_ref()
    }

    /// Adds the socket unit's listener, for GUIs. There is a use for one.
    ///
    /// # Errors
    /// What the system says.
    pub fn activate(&mut self, listener: net::TcpListener) -> io::Result<()> {
        self.activated = Some(usable(listener)?);
        Ok(())
    }

    /// Whether there is a socket unit's listener.
    pub fn is_activated(&self) -> bool {
        self.activated.is_some()
    }

    /// Adds a listener that was kept through our restart.
    ///
    /// # Errors
    /// What the system says.
    pub fn add(&mut self, listener: net::TcpListener) -> io::Result<()> {
        let (listener, at) = usable(listener)?;
        self.kept.insert(at, listener);
        Ok(())
    }

    /// Closes what is neither `served` nor `wanted`: then another program may have the address.
    pub(super) async fn close_others(&mut self, wanted: &[Wanted], served: &[SocketAddr]) {
        let useful = |at: &SocketAddr| {
            served.contains(at) || wanted.iter().any(|wanted| wanted.includes(*at))
        };
        let all = std::mem::take(&mut self.kept).into_iter();
        let (kept, closed): (BTreeMap<_, _>, _) = all.partition(|(at, _)| useful(at));
        self.kept = kept;
        let closed: Vec<SocketAddr> = closed.into_keys().collect();
        if !closed.is_empty() && self.keeper.is_heard() {
            self.keeper.let_go(&closed).await;
            self.closing = Some((closed, Instant::now() + CLOSE_WAIT));
        }
    }

    /// Whether a listener at this port that was let go may still be open.
    pub(super) fn is_closing(&self, port: Option<u16>) -> bool {
        let same = |at: &SocketAddr| Some(at.port()) == port;
        self.closing
            .as_ref()
            .is_some_and(|(closed, until)| Instant::now() < *until && closed.iter().any(same))
    }

    /// The listener that exists for this service at one of these addresses, unless it is `taken` by another service.
    pub(super) fn fitting(
        &self,
        what: &Service,
        addresses: &[SocketAddr],
        taken: &[SocketAddr],
    ) -> io::Result<Option<TcpListener>> {
        let activated = self.activated(what);
        for &wanted in addresses {
            let fits =
                |at: SocketAddr| at.ip() == wanted.ip() && [0, at.port()].contains(&wanted.port());
            let existing = if let Some((listener, _)) = activated.filter(|(_, at)| fits(*at)) {
                info!("boardbridge.socket has opened the port for {what}");
                listener
            } else if let Some(listener) =
                self.kept.get(&wanted).filter(|_| !taken.contains(&wanted))
            {
                info!("the port for {what} has stayed open");
                listener
            } else {
                continue;
            };
            // A copy: it can be taken again after the configuration has changed.
            return TcpListener::from_std(existing.try_clone()?).map(Some);
        }
        Ok(None)
    }

    /// Keeps a listener open through the next restart, unless the socket unit has it.
    pub(super) async fn keep(&mut self, what: &Service, listener: &TcpListener) {
        let copy = socket2::SockRef::from(listener).try_clone();
        let copy = copy.and_then(|copy| usable(copy.into()));
        match copy {
            Ok((_, at))
                if self
                    .activated(what)
                    .is_some_and(|(_, theirs)| *theirs == at) => {}
            Ok((copy, at)) => {
                self.keeper.keep(at, &copy).await;
                self.kept.insert(at, copy);
            }
            Err(error) => {
                warn!("the port for {what} is closed while the service restarts: {error}");
            }
        }
    }

    fn activated(&self, what: &Service) -> Option<&(net::TcpListener, SocketAddr)> {
        self.activated.as_ref().filter(|_| *what == Service::Uci)
    }

    /// Says that the socket unit's listener is not used, because the configuration wants another address.
    pub(super) fn left_out(&self, what: &Service, wanted: &Listen) {
        if let Some((_, at)) = self.activated(what) {
            warn!(
                "boardbridge.socket listens at {at}, but [uci] listen = \"{wanted}\" applies: what connects to {at} is not \
                 answered. Give both the same address (`systemctl edit boardbridge.socket`), or switch the socket off \
                 (`systemctl disable --now boardbridge.socket`)"
            );
        }
    }

    /// The address of the socket unit's listener, if it keeps this service from listening where it wants.
    pub(super) fn in_the_way(&self, what: &Service, wanted: &Wanted) -> Option<SocketAddr> {
        let (_, at) = self.activated.as_ref()?;
        let is_its = self.activated(what).is_some()
            && wanted.found.iter().any(|wanted| wanted.ip() == at.ip());
        Some(*at).filter(|at| !is_its && wanted.overlaps(*at))
    }

    /// The address of the socket unit's listener, if its port is this one's.
    pub(super) fn on_port_of(&self, listen: &Listen) -> Option<SocketAddr> {
        let (_, at) = self.activated.as_ref()?;
        Some(*at).filter(|at| listen.port() == Some(at.port()))
    }
}

#[cfg(test)]
mod tests {
    use super::Wanted;

    #[test]
    fn two_addresses_overlap_if_only_one_can_be_listened_at() {
        for (one, other, overlap) in [
            ("127.0.0.1:1", "127.0.0.1:1", true),
            ("127.0.0.1:1", "127.0.0.1:2", false),
            ("127.0.0.1:1", "192.168.1.7:1", false),
            ("127.0.0.1:1", "0.0.0.0:1", true),
            ("127.0.0.1:1", "[::]:1", true),
            ("0.0.0.0:1", "[::]:1", true),
            ("[::1]:1", "[::]:1", true),
            ("[::1]:1", "0.0.0.0:1", false),
        ] {
            for (wanted, at) in [(one, other), (other, one)] {
                let wanted = Wanted {
                    port: Some(1),
                    found: wanted.parse().into_iter().collect(),
                };
                let seen = at.parse().is_ok_and(|at| wanted.overlaps(at) == overlap);
                assert!(seen, "{one} {other}");
            }
        }
    }

    #[test]
    fn a_name_that_cannot_be_looked_up_may_be_any_address_of_its_port() {
        let wanted = Wanted {
            port: Some(1),
            found: Vec::new(),
        };
        for (at, overlap) in [("127.0.0.1:1", true), ("127.0.0.1:2", false)] {
            assert!(at.parse().is_ok_and(|at| wanted.overlaps(at) == overlap));
        }
        assert!(!wanted.is_known());
    }
}
