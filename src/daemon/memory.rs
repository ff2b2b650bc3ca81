//! What a configuration may take at most: memory and descriptors. `docs/bounds.md` has the sum.

use super::part::Part;
use crate::{
    config::Config,
    front_end::{mqtt::outbox::MAX_WAITING_BYTES, uci::slots::max_clients},
};

const MEBIBYTE: u64 = 1024 * 1024;
/// The daemon with four boards and 64 GUIs.
const BASE: u64 = 80 * MEBIBYTE;
/// Each further board.
const BOARD: u64 = 3 * MEBIBYTE;
/// Each further GUI: its lines, its game and its text (288 KiB), and the kernel's buffers (128 KiB).
const GUI: u64 = 416 * 1024;
/// What waits for a broker, and as much again for what is on its way, what was heard, and the clients there.
const BROKER: u64 = 2 * MAX_WAITING_BYTES as u64;
/// Descriptors of a board: its link and its recording.
const FILES_OF_BOARD: usize = 2;
/// Descriptors of everything else: the other ports and their connections, files, engines.
const OTHER_FILES: usize = 256;

/// The memory that the daemon itself may take with this many boards and no broker, in bytes.
pub fn memory_limit(boards: usize) -> u64 {
    let count = |many: usize| u64::try_from(many).unwrap_or(u64::MAX);
    let boards_beyond = count(boards).saturating_sub(4);
    let guis_beyond = count(max_clients(boards) - max_clients(0));
    BASE.saturating_add(boards_beyond.saturating_mul(BOARD))
        .saturating_add(guis_beyond.saturating_mul(GUI))
}

/// The memory that the daemon itself may take with this configuration, in bytes.
pub fn memory_wanted(config: &Config) -> u64 {
    memory_of(&Part::all(config))
}

/// The same of these parts.
pub(super) fn memory_of<'a>(parts: impl IntoIterator<Item = &'a Part>) -> u64 {
    let (mut boards, mut broker) = (0, 0);
    for part in parts {
        boards += usize::from(part.board().is_some());
        broker += u64::from(matches!(part, Part::Mqtt(_))) * BROKER;
    }
    memory_limit(boards).saturating_add(broker)
}

/// The descriptors that the daemon may need with this configuration.
pub fn files_wanted(config: &Config) -> usize {
    let parts = Part::all(config);
    let boards = boards_in(&parts);
    let ports = parts.iter().filter(|part| part.listens().is_some()).count();
    boards * FILES_OF_BOARD + ports + max_clients(boards) + OTHER_FILES
}

/// How many of these parts are boards.
pub(super) fn boards_in<'a>(parts: impl IntoIterator<Item = &'a Part>) -> usize {
    let boards = parts.into_iter().filter(|part| part.board().is_some());
    boards.count()
}
