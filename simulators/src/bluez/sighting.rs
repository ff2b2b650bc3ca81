//! What `BlueZ` has received from a device, and when it receives more.

use std::time::{Duration, Instant};

/// The time until an advertisement is received, and again until the scan response with the name.
const FIRST: Duration = Duration::from_millis(20);
/// The interval afterwards.
const NEXT: Duration = Duration::from_millis(200);
/// The signal strengths, in turns.
const RSSI: [i16; 3] = [-61, -60, -62];

/// What was received.
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

/// A device as received.
#[derive(Debug, Default)]
pub(super) struct Sighting {
    heard: Heard,
    next: Option<Instant>,
    count: usize,
}

impl Sighting {
    /// What was received.
    pub fn heard(&self) -> Heard {
        self.heard
    }

    /// Its signal strength, while an adapter listens.
    pub fn rssi(&self) -> Option<i16> {
        self.next.map(|_| RSSI[self.count % RSSI.len()])
    }

    /// It is known without having been received: it has connected by itself.
    pub fn meet(&mut self) {
        self.heard = Heard::Name;
    }

    /// The adapter starts or stops listening.
    pub fn listen(&mut self, now: Instant, on: bool) {
        if !on {
            self.next = None;
        } else if self.next.is_none() {
            self.next = Some(now + FIRST);
        }
    }

    /// When it is received next.
    pub fn deadline(&self) -> Option<Instant> {
        self.next
    }

    /// Receives it, if it is due.
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
