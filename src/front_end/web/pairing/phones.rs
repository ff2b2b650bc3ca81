//! The phones that belong to the house. Of a phone's cookie only the hash is known.

use std::{
    fmt::{self, Write as _},
    str::FromStr,
};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;
use tokio_util::sync::CancellationToken;

use crate::{state::text, system::clock};

/// Phones at once: those of a household, or of a club's helpers.
pub const MAX_PHONES: usize = 32;
/// Characters of a phone's name: it is shown in one line.
pub const MAX_PHONE_NAME: usize = 40;
/// Bytes of a cookie: 256 random bits, which nobody guesses.
const COOKIE: usize = 32;

/// A phone, as it is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Phone {
    /// Its number. It is never given to another one.
    pub id: u64,
    /// What it is called.
    pub name: String,
    /// When it was paired (RFC 3339, UTC).
    pub since: String,
    #[serde(with = "text")]
    hash: Hash,
}

/// All of them, as they are kept.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Saved {
    last: u64,
    phones: Vec<Phone>,
}

/// The SHA-256 of a cookie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Hash([u8; 32]);

impl Hash {
    fn of(cookie: &str) -> Self {
        Self(Sha256::digest(cookie).into())
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex(&self.0))
    }
}

impl FromStr for Hash {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let digits: Option<Vec<u8>> = text
            .chars()
            .map(|digit| u8::try_from(digit.to_digit(16)?).ok())
            .collect();
        let bytes: Vec<u8> = digits
            .ok_or(())?
            .chunks(2)
            .map(|pair| pair.iter().fold(0, |byte, digit| byte << 4 | digit))
            .collect();
        (text.len() == 64).then_some(()).ok_or(())?;
        bytes.try_into().map(Self).map_err(|_| ())
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a string does not fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// A phone that is known by its cookie.
#[derive(Clone, Debug)]
pub struct Known {
    /// Its number.
    pub id: u64,
    /// Cancelled when it is removed.
    pub removed: CancellationToken,
}

/// The phones.
#[derive(Debug, Default)]
pub(super) struct Phones {
    last: u64,
    all: Vec<(Phone, CancellationToken)>,
}

impl From<Saved> for Phones {
    fn from(saved: Saved) -> Self {
        let phones = saved.phones.into_iter();
        let named = phones.filter(|phone| name(&phone.name).as_ref() == Some(&phone.name));
        let all = named.map(|phone| (phone, CancellationToken::new()));
        let all: Vec<_> = all.take(MAX_PHONES).collect();
        let highest = all.iter().map(|(phone, _)| phone.id).max().unwrap_or(0);
        Self {
            last: saved.last.max(highest),
            all,
        }
    }
}

impl Phones {
    /// What is kept of them.
    pub fn saved(&self) -> Saved {
        Saved {
            last: self.last,
            phones: self.list(),
        }
    }

    pub fn list(&self) -> Vec<Phone> {
        self.all.iter().map(|(phone, _)| phone.clone()).collect()
    }

    pub fn is_full(&self) -> bool {
        self.all.len() >= MAX_PHONES
    }

    /// The phone that has this cookie. As long for each cookie that is wrong.
    pub fn known(&self, cookie: &str) -> Option<Known> {
        let hash = Hash::of(cookie);
        let is_it = |phone: &Phone| bool::from(phone.hash.0.ct_eq(&hash.0));
        let found = self.all.iter().find(|(phone, _)| is_it(phone));
        found.map(|(phone, removed)| Known {
            id: phone.id,
            removed: removed.clone(),
        })
    }

    /// Adds a phone, and returns it with its cookie.
    ///
    /// # Errors
    /// The system has no random numbers.
    pub fn add(&mut self, name: String) -> Result<(Phone, String), getrandom::Error> {
        let mut bytes = [0; COOKIE];
        getrandom::fill(&mut bytes)?;
        let cookie = hex(&bytes);
        self.last = self.last.saturating_add(1);
        let phone = Phone {
            id: self.last,
            name,
            since: humantime::format_rfc3339_seconds(clock::now()).to_string(),
            hash: Hash::of(&cookie),
        };
        self.all.push((phone.clone(), CancellationToken::new()));
        Ok((phone, cookie))
    }

    /// Removes a phone: from now on it is a stranger.
    pub fn remove(&mut self, id: u64) -> Option<Phone> {
        let at = self.all.iter().position(|(phone, _)| phone.id == id)?;
        let (phone, removed) = self.all.remove(at);
        removed.cancel();
        Some(phone)
    }
}

/// The name of a phone as it is kept, if it can be one.
pub(super) fn name(given: &str) -> Option<String> {
    let name = given.split_whitespace().collect::<Vec<_>>().join(" ");
    let fits = (1..=MAX_PHONE_NAME).contains(&name.chars().count());
    (fits && !name.chars().any(char::is_control)).then_some(name)
}
