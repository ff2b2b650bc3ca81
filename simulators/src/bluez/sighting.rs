//! What `BlueZ` has heard of a device, and when it hears it next.

use std::time::{Duration, Instant};

/// How long until an advertisement is heard, and then the scan response with the name.
const FIRST: Duration = Duration::from_millis(20);
/// How often it is heard afterwards.
const NEXT: Duration = Duration::from_millis(200);
/// How strong it is heard, in turns.
const RSSI: [i16; 3] = [-61, -60, -62];

/// What was heard.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Heard {
    /// Nothing.
    #[default]
    Nothing,
    /// An advertisement, which has no name.
    Advertisement,
    /// The scan response too.
    Name,
}

/// A device as it was heard.
#[derive(Debug, Default)]
pub(super) struct Sighting {
    heard: Heard,
    next: Option<Instant>,
    count: usize,
}

impl Sighting {
    /// What was heard.
    pub fn heard(&self) -> Heard {
        self.heard
    }

    /// How strong it is heard, while somebody listens.
    pub fn rssi(&self) -> Option<i16> {
        self.next.map(|_| RSSI[self.count % RSSI.len()])
    }

    /// It is known without having been heard: it has connected by itself.
    pub fn meet(&mut self) {
        self.heard = Heard::Name;
    }

    /// Somebody listens, or nobody does.
    pub fn listen(&mut self, now: Instant, on: bool) {
        if !on {
            self.next = None;
        } else if self.next.is_none() {
            self.next = Some(now + FIRST);
        }
    }

    /// When it is heard next.
    pub fn deadline(&self) -> Option<Instant> {
        self.next
    }

    /// Hears it, if it is time.
    pub fn hear(&mut self, now: Instant) -> bool {
        if self.next.is_none_or(|at| at > now) {
            return false;
        }
        self.count = self.count.wrapping_add(1);
        let (heard, wait) = match self.heard {
            Heard::Nothing => (Heard::Advertisement, FIRST),
            Heard::Advertisement | Heard::Name => (Heard::Name, NEXT),
        };
        self.heard = heard;
        self.next = Some(now + wait);
        true
    }
}
