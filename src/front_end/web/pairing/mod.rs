//! Which phones belong to the house: each has entered a code that was shown on this machine.

mod code;
mod phones;

use std::net::IpAddr;

use thiserror::Error;
use tokio::{sync::Mutex, time::Instant};
use tracing::{info, warn};

use self::{
    code::Codes,
    phones::{Phones, Saved, name},
};
pub use self::{
    code::{CODE_DIGITS, CODE_LIFE, MAX_TRIES, MAX_TRIES_EACH, NotTaken},
    phones::{Known, MAX_PHONE_NAME, MAX_PHONES, Phone},
};
use crate::state::Shelf;

/// Why a phone is not paired.
#[derive(Debug, Error)]
pub enum NotPaired {
    /// Its name cannot be shown.
    #[error("give the phone a name of 1 to {MAX_PHONE_NAME} characters, such as \"Anna's phone\"")]
    Name,
    /// There are as many as there may be.
    #[error(
        "{MAX_PHONES} phones are paired already: remove one that is gone, on the page or by `boardbridge pair --remove`"
    )]
    Full,
    /// The code is not taken.
    #[error(transparent)]
    Code(#[from] NotTaken),
    /// There are no random numbers.
    #[error("this computer has no random numbers now ({0}): try again")]
    Random(#[from] getrandom::Error),
}

/// The code that is shown, and the phones that have entered one.
#[derive(Debug)]
pub struct Pairing {
    inner: Mutex<Inner>,
}

#[derive(Debug)]
struct Inner {
    codes: Codes,
    phones: Phones,
    shelf: Shelf,
}

impl Pairing {
    /// With the phones that were kept there.
    pub fn new(mut shelf: Shelf) -> Self {
        let saved: Saved = shelf.read().unwrap_or_default();
        Self {
            inner: Mutex::new(Inner {
                codes: Codes::default(),
                phones: saved.into(),
                shelf,
            }),
        }
    }

    /// A new code for the next phone.
    pub(super) async fn show(&self) -> Result<String, NotPaired> {
        let mut inner = self.inner.lock().await;
        if inner.phones.is_full() {
            return Err(NotPaired::Full);
        }
        Ok(inner.codes.show(Instant::now())?)
    }

    /// Pairs the phone that has entered the code: returns it, and its cookie. It is kept before it is told.
    pub(super) async fn enter(
        &self,
        from: IpAddr,
        code: &str,
        called: &str,
    ) -> Result<(Phone, String), NotPaired> {
        let name = name(called).ok_or(NotPaired::Name)?;
        let mut inner = self.inner.lock().await;
        if inner.phones.is_full() {
            return Err(NotPaired::Full);
        }
        if let Err(why) = inner.codes.enter(from, code, Instant::now()) {
            if why == NotTaken::Burned {
                warn!("{why}");
            }
            return Err(why.into());
        }
        let added = inner.phones.add(name)?;
        inner.keep().await;
        info!("{} is paired: it may look and press buttons", added.0.name);
        Ok(added)
    }

    /// The phone that has one of these cookies.
    pub(super) async fn known(&self, mut cookies: impl Iterator<Item = &str>) -> Option<Known> {
        let first = cookies.next()?;
        let inner = self.inner.lock().await;
        let mut all = [first].into_iter().chain(cookies);
        all.find_map(|cookie| inner.phones.known(cookie))
    }

    pub(super) async fn list(&self) -> Vec<Phone> {
        self.inner.lock().await.phones.list()
    }

    /// Removes a phone: what it has open ends.
    pub(super) async fn remove(&self, id: u64) -> Option<Phone> {
        let mut inner = self.inner.lock().await;
        let removed = inner.phones.remove(id)?;
        inner.keep().await;
        info!("{} is no longer paired", removed.name);
        Some(removed)
    }
}

impl Inner {
    async fn keep(&mut self) {
        self.shelf.keep_at_once(&self.phones.saved()).await;
    }
}
