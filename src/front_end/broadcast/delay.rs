//! One game, and what of it may be shown by now: each move and the result are held back for the delay, counted from when they
//! were seen. A move that is taken back before it was shown is never shown.
//!
//! Time comes in as a value. What is due is decided by the clock that cannot be set; the time of day is kept for a restart.

use std::time::{Duration, Instant, SystemTime};

use serde::{Deserialize, Serialize};

use crate::{chess::game::Game, vocabulary::GameEnd};

/// Both clocks at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Now {
    /// The clock that cannot be set.
    pub at: Instant,
    /// The time of day.
    pub day: SystemTime,
}

/// When something was seen, and when it may be shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    due: Instant,
    seen: SystemTime,
}

impl Stamp {
    fn new(now: Now, delay: Duration) -> Self {
        Self {
            due: now.at + delay,
            seen: now.day,
        }
    }

    /// What was seen at this time of day, by an earlier run. A clock that was set back makes it wait longer, never shorter.
    fn restored(seen: SystemTime, now: Now, delay: Duration) -> Self {
        let age = now.day.duration_since(seen).unwrap_or_default();
        Self {
            due: now.at + delay.saturating_sub(age),
            seen,
        }
    }
}

/// One game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delayed {
    /// The game as it is on the board.
    known: Game,
    /// What the clocks showed after each of its moves.
    clocks: Vec<Option<Duration>>,
    /// Its moves that were not due yet, from the end: never more than it has.
    waiting: Vec<Stamp>,
    /// How it ended, if it did, and when that was seen.
    end: (Option<GameEnd>, Option<Stamp>),
    /// Moves that had been shown were taken back.
    cut: Option<Stamp>,
    shown: Game,
    shown_end: Option<GameEnd>,
}

impl Delayed {
    /// A game that begins here. None of its moves is known.
    pub fn new(start: &Game) -> Self {
        let start = start.truncated(0);
        Self {
            known: start.clone(),
            clocks: Vec::new(),
            waiting: Vec::new(),
            end: (None, None),
            cut: None,
            shown: start,
            shown_end: None,
        }
    }

    /// The game on the board.
    pub fn known(&self) -> &Game {
        &self.known
    }

    /// What may be shown.
    pub fn shown(&self) -> &Game {
        &self.shown
    }

    /// The result that may be shown.
    pub fn shown_end(&self) -> Option<GameEnd> {
        self.shown_end
    }

    /// What the clock showed after this ply, if it is known, of the game that is shown.
    pub fn clock(&self, ply: usize) -> Option<Duration> {
        let common = self.shown.common_plies(&self.known)?;
        self.clocks
            .get(ply)
            .copied()
            .flatten()
            .filter(|_| ply < common)
    }

    /// The same after each ply, as far as something is known.
    pub fn clocks(&self) -> Vec<Option<Duration>> {
        let common = self.shown.common_plies(&self.known).unwrap_or(0);
        self.clocks.iter().copied().take(common).collect()
    }

    /// The game is now like this. Returns whether anything is new.
    pub fn is(
        &mut self,
        game: &Game,
        clocks: &[Option<Duration>],
        end: Option<GameEnd>,
        now: Now,
        delay: Duration,
    ) -> bool {
        // A program that leaves, or a restart, takes no clock away from a move that is still there.
        let common = self.known.common_plies(game).unwrap_or(0);
        let at = |times: &[Option<Duration>], ply: usize| times.get(ply).copied().flatten();
        let known = |ply| at(&self.clocks, ply).filter(|_| ply < common);
        let clocks: Vec<_> = (0..game.len())
            .map(|ply| at(clocks, ply).or_else(|| known(ply)))
            .collect();
        let before = (
            self.known == *game,
            self.clocks == clocks,
            self.end.0 == end,
        );
        if !before.0 {
            let stamp = Stamp::new(now, delay);
            let due = self.known.len() - self.waiting.len();
            self.waiting.truncate(common.saturating_sub(due));
            // Every ply that is neither due nor kept is new.
            let settled = common.min(due);
            let wanted = game.len() - settled;
            self.waiting.resize(wanted, stamp);
            let is_shown = self.shown.common_plies(game) == Some(self.shown.len());
            if !is_shown {
                self.cut = Some(stamp);
            }
            self.known = game.clone();
        }
        if !before.1 {
            self.clocks = clocks;
        }
        if !before.2 {
            self.end = (end, Some(Stamp::new(now, delay)));
        }
        before != (true, true, true)
    }

    /// Shows what is due. Returns whether anything changed.
    pub fn advance(&mut self, now: Instant) -> bool {
        let due = self.waiting.iter().take_while(|stamp| stamp.due <= now);
        let due = due.count();
        self.waiting.drain(..due);
        if self.cut.is_some_and(|cut| cut.due > now) {
            return false;
        }
        self.cut = None;
        let shown = self.known.len() - self.waiting.len();
        let mut changed = false;
        if self.shown.len() != shown || self.shown.common_plies(&self.known) != Some(shown) {
            self.shown = self.known.truncated(shown);
            changed = true;
        }
        if self.waiting.is_empty() && self.end.1.is_some_and(|stamp| stamp.due <= now) {
            self.end.1 = None;
            changed |= self.shown_end != self.end.0;
            self.shown_end = self.end.0;
        }
        changed
    }

    /// When something more may be shown.
    pub fn deadline(&self) -> Option<Instant> {
        // In this order they are shown, whichever is due first.
        let waiting = self.waiting.first().copied();
        let next = self.cut.or(waiting).or(self.end.1);
        next.map(|stamp| stamp.due)
    }

    /// Whether everything is shown.
    pub fn is_all_shown(&self) -> bool {
        self.deadline().is_none()
    }

    /// The time of day was set forward or back: what waits was seen at another one.
    pub fn clock_was_set(&mut self, shifted: impl Fn(SystemTime) -> SystemTime) {
        let stamps = self.waiting.iter_mut().chain(&mut self.cut);
        for stamp in stamps.chain(&mut self.end.1) {
            stamp.seen = shifted(stamp.seen);
        }
    }

    /// What a restart needs.
    pub fn memory(&self) -> SavedDelayed {
        SavedDelayed {
            known: self.known.clone(),
            clocks: self.clocks.iter().map(|left| left.map(in_millis)).collect(),
            waiting: self
                .waiting
                .iter()
                .map(|stamp| millis(stamp.seen))
                .collect(),
            end: self.end.0,
            end_seen: self.end.1.map(|stamp| millis(stamp.seen)),
            cut: self.cut.map(|stamp| millis(stamp.seen)),
            shown: self.shown.clone(),
            shown_end: self.shown_end,
        }
    }

    /// The game after a restart.
    pub fn restored(saved: SavedDelayed, now: Now, delay: Duration) -> Self {
        let stamp = |seen: u64| Stamp::restored(time(seen), now, delay);
        let mut waiting: Vec<Stamp> = saved.waiting.into_iter().map(stamp).collect();
        waiting.truncate(saved.known.len());
        // A clock that was set back between two moves does not let the later one come first.
        let mut latest = now.at;
        for stamp in &mut waiting {
            latest = latest.max(stamp.due);
            stamp.due = latest;
        }
        Self {
            clocks: saved
                .clocks
                .into_iter()
                .map(|left| left.map(Duration::from_millis))
                .collect(),
            waiting,
            end: (saved.end, saved.end_seen.map(stamp)),
            cut: saved.cut.map(stamp),
            known: saved.known,
            shown: saved.shown,
            shown_end: saved.shown_end,
        }
    }
}

/// A game as it is kept.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SavedDelayed {
    known: Game,
    /// Milliseconds.
    clocks: Vec<Option<u64>>,
    /// Milliseconds since 1970 at which each waiting move was seen.
    waiting: Vec<u64>,
    end: Option<GameEnd>,
    end_seen: Option<u64>,
    cut: Option<u64>,
    shown: Game,
    shown_end: Option<GameEnd>,
}

/// Milliseconds since 1970.
pub(super) fn millis(at: SystemTime) -> u64 {
    let since = at
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap_or_default();
    in_millis(since)
}

fn in_millis(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}

/// The time so many milliseconds after 1970; the latest that a date has, beyond it.
pub(super) fn time(millis: u64) -> SystemTime {
    let at = SystemTime::UNIX_EPOCH.checked_add(Duration::from_millis(millis));
    crate::system::clock::written(at.unwrap_or(SystemTime::UNIX_EPOCH))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_due_behind_a_move_that_is_taken_back_later_is_waited_for_once() {
        let now = Now {
            at: Instant::now(),
            day: SystemTime::UNIX_EPOCH,
        };
        let delay = Duration::from_mins(10);
        let seconds = |seconds| Now {
            at: now.at + Duration::from_secs(seconds),
            ..now
        };
        let mut game = Game::standard();
        game.play_uci(["e2e4", "e7e5"]).unwrap();
        let mut delayed = Delayed::new(&game);
        delayed.is(&game, &[], None, now, delay);
        assert!(delayed.advance(seconds(600).at));
        // It ends, and a move that was shown is taken back after that.
        delayed.is(&game, &[], Some(GameEnd::AGREED), seconds(700), delay);
        delayed.is(
            &game.truncated(1),
            &[],
            Some(GameEnd::AGREED),
            seconds(800),
            delay,
        );
        assert!(!delayed.advance(seconds(1_300).at));
        assert_eq!(delayed.deadline(), Some(seconds(1_400).at));
        assert!(delayed.advance(seconds(1_400).at));
        assert!(delayed.is_all_shown());
    }
}
