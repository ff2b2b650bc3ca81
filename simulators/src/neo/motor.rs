//! The motor: how long it takes, and the position of its carriage.

use std::time::{Duration, Instant};

use super::{Path, Spot, path::segment_distance};

/// Fixed time in seconds, time per square of the carriage's empty way to the piece, and per square of the carried way.
/// Fitted to the eleven moves of the captured game, which took 3.1 to 6.6 s.
const SECONDS: (f64, f64, f64) = (2.7, 0.4, 0.35);
/// The limits: it took 3 to 7 s (field notes).
const BOUNDS: (f64, f64) = (3.0, 7.0);

/// A motor at work.
#[derive(Clone, Debug)]
pub(super) struct Drive {
    pub(super) path: Path,
    /// It hits an obstacle, and leaves the pieces in place.
    pub(super) fails: bool,
    pub(super) until: Instant,
    /// Where the carriage came from.
    pub(super) start: Spot,
}

impl Drive {
    /// The smallest distance of carriage or piece to a point.
    pub(super) fn distance(&self, point: (f64, f64)) -> f64 {
        segment_distance(self.start.centre(), self.path.from.centre(), point)
            .min(self.path.distance(point))
    }
}

/// How long a real motor takes for a path, from where its carriage stands.
pub(super) fn duration(carriage: Spot, path: &Path) -> Duration {
    let (a, b) = (carriage.centre(), path.from.centre());
    let empty = (a.0 - b.0).hypot(a.1 - b.1);
    let seconds = SECONDS.0 + SECONDS.1 * empty + SECONDS.2 * path.length();
    Duration::from_secs_f64(seconds.clamp(BOUNDS.0, BOUNDS.1))
}
