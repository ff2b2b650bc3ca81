//! Limits how much each origin may log: a game's worth at once, and then a game's rate. One that exceeds it is muted
//! for a while, and the amount left out is logged.

use std::{
    collections::HashMap,
    fmt::{self, Debug},
    net::SocketAddr,
    sync::{Arc, Mutex, PoisonError},
    time::Instant,
};

use tracing::{
    Event, Subscriber,
    field::{Field, Visit},
    span::{Attributes, Id},
};
use tracing_subscriber::{
    layer::{Context, Layer},
    registry::LookupSpan,
};

use crate::net::slots::origin;

/// Bytes that an origin may log at once: a game of a hundred moves makes that many.
pub const BURST: u32 = 64 * 1024;
/// Bytes a second that it may log after that: a move every two seconds makes that many. 22 MB a day.
pub const PER_SECOND: u32 = 256;
/// A muted origin is heard again when it has this many bytes to its credit.
const RESUMES: u32 = BURST / 4;
/// Origins counted separately. Those beyond share one budget.
pub const MAX_ORIGINS: usize = 256;

/// The origin of a line: an address, a board, or a place in the program.
pub type Origin = Arc<str>;

/// Finds the origin in a span's fields.
pub struct Peers;

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Peers {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let mut named = Named(None);
        attributes.record(&mut named);
        if let (Some(origin), Some(span)) = (named.0, context.span(id)) {
            span.extensions_mut().insert(origin);
        }
    }
}

/// The origin that a span names.
struct Named(Option<Origin>);

impl Visit for Named {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        let name = match field.name() {
            // Each connection has another port.
            "peer" => {
                let text = format!("{value:?}");
                let address = text.parse::<SocketAddr>();
                address.map_or(text, |address| origin(address.ip()).to_string())
            }
            "name" | "board" | "boards" => format!("the board {value:?}"),
            _ => return,
        };
        self.0.get_or_insert(name.into());
    }
}

/// The place of an event in the program, if no span says more.
pub fn place(event: &Event<'_>) -> Origin {
    event.metadata().name().into()
}

/// The credit of each origin.
#[derive(Default)]
pub struct Budget(Mutex<Credits>);

#[derive(Default)]
struct Credits {
    by: HashMap<Origin, Credit>,
    /// The number of muted ones.
    silent: usize,
}

struct Credit {
    bytes: u32,
    at: Instant,
    /// Lines and bytes left out, while muted.
    left_out: Option<(u64, u64)>,
}

/// The decision about a line.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    /// Reports of the origins that are heard again.
    pub resumed: Vec<LeftOut>,
    /// The line is written.
    pub written: bool,
    /// The origin that is muted from now on.
    pub silenced: Option<Origin>,
}

/// What was left out.
#[derive(Debug, PartialEq, Eq)]
pub struct LeftOut {
    origin: Origin,
    lines: u64,
    bytes: u64,
}

impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            origin,
            lines,
            bytes,
        } = self;
        write!(
            f,
            "{lines} lines about {origin} were left out ({bytes} bytes)"
        )
    }
}

impl Credit {
    fn new(now: Instant) -> Self {
        Self {
            bytes: BURST,
            at: now,
            left_out: None,
        }
    }

    fn earn(&mut self, now: Instant) {
        let seconds = now.saturating_duration_since(self.at).as_secs();
        if seconds > 0 {
            let earned = u32::try_from(seconds).unwrap_or(u32::MAX);
            let earned = earned.saturating_mul(PER_SECOND);
            self.bytes = self.bytes.saturating_add(earned).min(BURST);
            self.at = now;
        }
    }

    /// What was left out, if the origin may log again.
    fn resumes(&mut self, now: Instant) -> Option<(u64, u64)> {
        self.earn(now);
        self.left_out.take_if(|_| self.bytes >= RESUMES)
    }
}

impl Budget {
    /// Counts a line with this many bytes.
    pub fn take(&self, now: Instant, origin: Origin, bytes: usize) -> Verdict {
        // A panic while holding the lock leaves nothing half done that matters.
        let mut credits = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        credits.take(now, origin, bytes)
    }
}

impl Credits {
    fn take(&mut self, now: Instant, origin: Origin, bytes: usize) -> Verdict {
        let mut verdict = Verdict::default();
        if self.silent > 0 {
            for (origin, credit) in &mut self.by {
                if let Some((lines, bytes)) = credit.resumes(now) {
                    let origin = origin.clone();
                    verdict.resumed.push(LeftOut {
                        origin,
                        lines,
                        bytes,
                    });
                }
            }
            self.silent -= verdict.resumed.len();
        }
        let origin = self.room_for(now, origin);
        let credit = self.by.entry(origin.clone());
        let credit = credit.or_insert_with(|| Credit::new(now));
        credit.earn(now);
        let cost = u32::try_from(bytes).unwrap_or(u32::MAX);
        match (&mut credit.left_out, credit.bytes.checked_sub(cost)) {
            (Some((lines, left_out)), _) => {
                *lines += 1;
                *left_out += u64::from(cost);
            }
            (None, Some(rest)) => {
                credit.bytes = rest;
                verdict.written = true;
            }
            (None, None) => {
                credit.left_out = Some((1, u64::from(cost)));
                credit.bytes = 0;
                self.silent += 1;
                verdict.silenced = Some(origin);
            }
        }
        verdict
    }

    /// The origin to charge: this one, as long as there is room, else one that many share.
    fn room_for(&mut self, now: Instant, origin: Origin) -> Origin {
        if self.by.len() >= MAX_ORIGINS && !self.by.contains_key(&origin) {
            self.by.retain(|_, credit| {
                credit.earn(now);
                credit.bytes < BURST || credit.left_out.is_some()
            });
            if self.by.len() >= MAX_ORIGINS {
                return "others".into();
            }
        }
        origin
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn an_origin_that_says_too_much_is_left_out_and_what_was_is_said() {
        let (budget, now) = (Budget::default(), Instant::now());
        let say = |now, who: &str| budget.take(now, who.into(), 1024);
        let mut written = 0;
        for _ in 0..100_000 {
            written += u32::from(say(now, "a").written);
        }
        assert_eq!(written, BURST / 1024);
        // No other origin pays for it.
        assert!(say(now, "b").written);
        let later = now + Duration::from_secs(u64::from(RESUMES / PER_SECOND));
        let verdict = say(later, "b");
        let told: Vec<String> = verdict.resumed.iter().map(ToString::to_string).collect();
        assert_eq!(
            told,
            ["99936 lines about a were left out (102334464 bytes)"]
        );
        assert!(say(later, "a").written);
    }

    #[test]
    fn more_origins_than_are_counted_share_what_one_may_have() {
        let (budget, now) = (Budget::default(), Instant::now());
        let mut written = 0;
        for number in 0..100_000 {
            let verdict = budget.take(now, number.to_string().into(), 1024);
            written += u32::from(verdict.written);
        }
        let most = u32::try_from(MAX_ORIGINS).unwrap() + BURST / 1024;
        assert_eq!(written, most);
        assert!(budget.0.lock().unwrap().by.len() <= MAX_ORIGINS + 1);
        // Origins that have been silent since make room.
        let later = now + Duration::from_hours(1);
        assert!(budget.take(later, "new".into(), 1024).written);
        assert!(budget.0.lock().unwrap().by.len() <= 2);
    }
}
