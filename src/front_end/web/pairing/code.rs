//! The code that a phone is paired by: shown on this machine for a short time, of use once, and burned by wrong tries.

use std::{collections::BTreeMap, fmt, net::IpAddr, time::Duration};

use subtle::ConstantTimeEq as _;
use thiserror::Error;
use tokio::time::Instant;

use crate::net::slots::origin;

/// How long a code is of use: time to take the phone and type six digits.
pub const CODE_LIFE: Duration = Duration::from_mins(2);
/// Digits of a code. With [`MAX_TRIES`] one code in 50,000 is guessed by a flood.
pub const CODE_DIGITS: usize = 6;
/// Wrong tries that one address has at a code: typing mistakes.
pub const MAX_TRIES_EACH: u32 = 5;
/// Wrong tries of all addresses together that burn a code: four phones that mistype as often as they may.
pub const MAX_TRIES: u32 = 20;

/// The number of codes: one for each value of its digits.
const CODES: u32 = 1_000_000;
/// Random numbers below this are as likely for each code.
const FAIR: u32 = u32::MAX / CODES * CODES;

/// Why a code is not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum NotTaken {
    /// None is shown, or no longer.
    #[error(
        "no code is shown now, or its time is over: show one on BoardBridge's computer, by `boardbridge pair` or on its page"
    )]
    None,
    /// It is another one.
    #[error("this is not the code: look again (tries left: {0})")]
    Wrong(u32),
    /// This address has tried too often.
    #[error(
        "too many wrong codes from this address: show a new code on BoardBridge's computer, and try that"
    )]
    TooMany,
    /// All together have tried too often.
    #[error(
        "too many wrong codes: this one is void. Show a new code on BoardBridge's computer, and try that"
    )]
    Burned,
}

/// The code that is shown now, if one is.
#[derive(Debug, Default)]
pub(super) struct Codes {
    shown: Option<Shown>,
}

struct Shown {
    digits: [u8; CODE_DIGITS],
    until: Instant,
    /// Wrong tries of each address: [`MAX_TRIES`] at most.
    wrong: BTreeMap<IpAddr, u32>,
}

impl fmt::Debug for Shown {
    /// Without the code.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shown").finish_non_exhaustive()
    }
}

impl Codes {
    /// A new code, in place of the one before it.
    ///
    /// # Errors
    /// The system has no random numbers.
    pub fn show(&mut self, now: Instant) -> Result<String, getrandom::Error> {
        let mut random = u32::MAX;
        while random >= FAIR {
            let mut bytes = [0; 4];
            getrandom::fill(&mut bytes)?;
            random = u32::from_le_bytes(bytes);
        }
        let code = format!("{:0CODE_DIGITS$}", random % CODES);
        let mut digits = [0; CODE_DIGITS];
        digits.copy_from_slice(code.as_bytes());
        self.shown = Some(Shown {
            digits,
            until: now + CODE_LIFE,
            wrong: BTreeMap::new(),
        });
        Ok(code)
    }

    /// Takes a code that was entered at this address. Blanks in it do not count.
    pub fn enter(&mut self, from: IpAddr, entered: &str, now: Instant) -> Result<(), NotTaken> {
        self.shown.take_if(|shown| now >= shown.until);
        let shown = self.shown.as_mut().ok_or(NotTaken::None)?;
        let wrong = shown.wrong.get(&origin(from)).copied().unwrap_or(0);
        if wrong >= MAX_TRIES_EACH {
            return Err(NotTaken::TooMany);
        }
        let entered: String = entered.split_whitespace().collect();
        if bool::from(entered.as_bytes().ct_eq(&shown.digits)) {
            self.shown = None;
            return Ok(());
        }
        shown.wrong.insert(origin(from), wrong + 1);
        if shown.wrong.values().sum::<u32>() >= MAX_TRIES {
            self.shown = None;
            return Err(NotTaken::Burned);
        }
        match MAX_TRIES_EACH - wrong - 1 {
            0 => Err(NotTaken::TooMany),
            left => Err(NotTaken::Wrong(left)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PHONE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(192, 168, 1, 7));

    #[test]
    fn a_code_is_over_after_two_minutes() {
        let (mut codes, now) = (Codes::default(), Instant::now());
        let code = codes.show(now).unwrap();
        let late = now + CODE_LIFE;
        assert_eq!(codes.enter(PHONE, &code, late), Err(NotTaken::None));
        // It does not come back with the clock.
        assert_eq!(codes.enter(PHONE, &code, now), Err(NotTaken::None));
        let code = codes.show(now).unwrap();
        let before = late.checked_sub(Duration::from_millis(1)).unwrap();
        assert_eq!(codes.enter(PHONE, &code, before), Ok(()));
    }

    #[test]
    fn a_code_has_six_digits_and_is_read_with_blanks_too() {
        let (mut codes, now) = (Codes::default(), Instant::now());
        let mut seen = std::collections::BTreeSet::new();
        for _ in 0..1000 {
            let code = codes.show(now).unwrap();
            assert!(code.len() == 6 && code.bytes().all(|b| b.is_ascii_digit()));
            let spaced = format!(" {} {}", &code[..3], &code[3..]);
            assert_eq!(codes.enter(PHONE, &spaced, now), Ok(()));
            seen.insert(code);
        }
        assert!(seen.len() > 990, "{}", seen.len());
    }

    #[test]
    fn twenty_wrong_codes_from_several_addresses_void_it() {
        let (mut codes, now) = (Codes::default(), Instant::now());
        let mut void = 0;
        for round in 0..50u8 {
            let code = codes.show(now).unwrap();
            let number: u32 = code.parse().unwrap();
            for nth in 0..20u8 {
                let phone = IpAddr::from([10, 0, round, nth % 7]);
                let other = (number + 1 + u32::from(nth)) % CODES;
                let tried = codes.enter(phone, &format!("{other:06}"), now);
                let wanted = match nth {
                    19 => NotTaken::Burned,
                    _ => NotTaken::Wrong(4 - u32::from(nth / 7)),
                };
                assert_eq!(tried, Err(wanted), "{nth}");
                void += u32::from(wanted == NotTaken::Burned);
            }
            // Even the right one, at an address that has not tried.
            assert_eq!(codes.enter(PHONE, &code, now), Err(NotTaken::None));
        }
        assert_eq!(void, 50);
    }

    #[test]
    fn the_addresses_of_one_ipv6_network_are_one() {
        let (mut codes, now) = (Codes::default(), Instant::now());
        let code = codes.show(now).unwrap();
        for host in 0..100u16 {
            let phone = IpAddr::from([0x2001, 0xdb8, 0, 0, 0, 0, 0, host]);
            let tried = codes.enter(phone, "no code", now);
            assert_eq!(tried == Err(NotTaken::TooMany), host >= 4, "{host}");
        }
        assert_eq!(codes.enter(PHONE, &code, now), Ok(()));
    }

    #[test]
    fn only_the_newest_code_counts() {
        let (mut codes, now) = (Codes::default(), Instant::now());
        let old = codes.show(now).unwrap();
        let new = codes.show(now).unwrap();
        if old != new {
            assert_eq!(codes.enter(PHONE, &old, now), Err(NotTaken::Wrong(4)));
        }
        assert_eq!(codes.enter(PHONE, &new, now), Ok(()));
    }
}
