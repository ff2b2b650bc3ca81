//! Listeners that outlive us: the socket unit's, and those that systemd keeps while we restart.

use std::{
    collections::BTreeMap,
    io,
    net::{self, SocketAddr},
};

use tokio::net::{TcpListener, lookup_host};
use tracing::{info, warn};

use super::{part::Part, service::Service, systemd::Notify};
use crate::config::Listen;

/// Listeners that were there before us, and who keeps ours for those after us.
#[derive(Debug, Default)]
pub struct Inherited {
    /// The socket unit's, for GUIs.
    activated: Option<Existing>,
    /// Those that were kept through our restart, by what they are for; empty once all are served.
    kept: BTreeMap<String, Existing>,
    keeper: Notify,
}

/// A listener that exists already.
#[derive(Debug)]
struct Existing {
    listener: net::TcpListener,
    at: SocketAddr,
}

impl Existing {
    fn new(listener: net::TcpListener) -> io::Result<Self> {
        listener.set_nonblocking(true)?;
        let at = listener.local_addr()?;
        Ok(Self { listener, at })
    }

    /// Whether it is where this address leads to.
    async fn is_at(&self, address: &str) -> io::Result<bool> {
        let (ip, port) = (self.at.ip(), self.at.port());
        let same = |wanted: SocketAddr| wanted.ip() == ip && [0, port].contains(&wanted.port());
        Ok(lookup_host(address).await?.any(same))
    }
}

impl Inherited {
    /// Nothing; what will be served is kept by this.
    pub fn new(keeper: Notify) -> Self {
        Self {
            keeper,
            ..Self::default()
        }
    }

    /// Adds the socket unit's listener, for GUIs.
    ///
    /// # Errors
    /// What the system says.
    pub fn activate(&mut self, listener: net::TcpListener) -> io::Result<()> {
        self.activated = Some(Existing::new(listener)?);
        Ok(())
    }

    /// Adds a listener that was kept, for this [`Service`].
    ///
    /// # Errors
    /// What the system says.
    pub fn add(&mut self, what: &str, listener: net::TcpListener) -> io::Result<()> {
        self.kept.insert(what.to_owned(), Existing::new(listener)?);
        Ok(())
    }

    /// Closes what was kept and is not wanted where it is: then another part may have the address.
    pub(super) async fn close_unwanted(&mut self, wanted: &[Part]) {
        let mut fitting = BTreeMap::new();
        for (what, listen) in wanted.iter().filter_map(Part::listens) {
            let name = what.to_string();
            if let (Some(existing), Listen::At(address)) = (self.kept.get(&name), &listen)
                && existing.is_at(address).await.unwrap_or(false)
            {
                fitting.extend(self.kept.remove_entry(&name));
            }
        }
        let unwanted = std::mem::replace(&mut self.kept, fitting);
        let names: Vec<String> = unwanted.into_keys().collect();
        self.keeper.let_go(&names).await;
    }

    /// All that was kept is served.
    pub(super) fn settled(&mut self) {
        self.kept.clear();
    }

    /// The listener that exists for this service at this address.
    pub(super) async fn fitting(
        &self,
        what: &Service,
        address: &str,
    ) -> io::Result<Option<TcpListener>> {
        let existing = if let Some(activated) = self.activated(what)
            && activated.is_at(address).await?
        {
            info!("boardbridge.socket has opened the port for {what}");
            activated
        } else if let Some(kept) = self.kept.get(&what.to_string()) {
            info!("systemd has kept the port for {what}");
            kept
        } else {
            return Ok(None);
        };
        // A copy: the socket unit's can be taken again after the configuration has changed.
        TcpListener::from_std(existing.listener.try_clone()?).map(Some)
    }

    /// Has what is served kept through the next restart, unless the socket unit has it.
    pub(super) fn keep(&self, what: &Service, listener: &TcpListener) {
        let at = listener.local_addr().ok();
        if self.activated(what).map(|activated| activated.at) != at {
            self.keeper.keep(&what.to_string(), listener);
        }
    }

    /// These are served no more: then others may have their addresses.
    pub(super) async fn let_go(&self, gone: &[Service]) {
        let names: Vec<String> = gone.iter().map(Service::to_string).collect();
        self.keeper.let_go(&names).await;
    }

    fn activated(&self, what: &Service) -> Option<&Existing> {
        self.activated.as_ref().filter(|_| *what == Service::Uci)
    }

    /// Says that the socket unit's listener is not used, as the configuration wants another address.
    pub(super) fn left_out(&self, what: &Service, wanted: &Listen) {
        if let Some(Existing { at, .. }) = self.activated(what) {
            warn!(
                "boardbridge.socket listens at {at}, but [uci] listen = \"{wanted}\" applies: what connects to {at} is not \
                 answered. Give both the same address (`systemctl edit boardbridge.socket`), or switch the socket off \
                 (`systemctl disable --now boardbridge.socket`)"
            );
        }
    }

    /// The address of the socket unit's listener, if its port is this one's.
    pub(super) fn on_port_of(&self, listen: &Listen) -> Option<SocketAddr> {
        let at = self.activated.as_ref()?.at;
        Some(at).filter(|at| listen.port() == Some(at.port()))
    }
}
