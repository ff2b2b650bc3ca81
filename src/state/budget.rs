//! How much may be written, and how often it is synced, so that what changes too fast wears out no SD card.

use std::time::Duration;

use crate::system::credit::Allowance;

/// Bytes that one value's changes may write: four thousand changes of one page at once, some twenty quick games, and then eight a
/// second.
pub const EACH: Allowance = Allowance {
    at_once: 8 * 1024 * 1024,
    per_second: 16 * 1024,
};
/// Bytes that all values' changes may write together: twelve boards that play quickly at the same time, and then 5.7 GB a
/// day at most.
pub const ALL: Allowance = Allowance {
    at_once: 12 * EACH.at_once,
    per_second: 4 * EACH.per_second,
};
/// The most that a move of the hand gives back of what was written since the last one: 64 changes of one page. A ply takes
/// one, and a shown move two, so only changes by programs can be too fast.
pub const MOVE: u64 = 128 * 1024;
/// What moves may give back: twenty games by hands that are ten times as quick as at blitz. A board that reports moves without end
/// gets no more.
pub const MOVES: Allowance = Allowance {
    at_once: EACH.at_once,
    per_second: 128 * 1024,
};
/// What a board's reports may write beyond [`EACH`] before it is read slower: only a board that never stops gets there.
pub const MAX_OWED: u64 = EACH.at_once;
/// The longest time a task waits because its value changes too fast. Then it is written all the same.
pub const SLOW_WAIT: Duration = Duration::from_secs(1);
/// Syncs of the database and its log: 60 a minute, and 30 more at once. Each change of a slow game has its own sync; if more is
/// written, one sync serves all changes of a second.
pub const SYNCS: Allowance = Allowance {
    at_once: 30,
    per_second: 1,
};
/// A page of the database, in bytes: one value of a board. A change writes all pages of its value, at least one.
pub(super) const PAGE: u64 = 2048;
