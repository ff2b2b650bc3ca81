//! The types that all modules share: names, channels, reports, events, snapshots, commands. They know chess, and how values are
//! saved as text, but no other module.
//!
//! A driver turns bytes into a [`Reported`], the board's core finds the legal move and publishes it as an [`Event`]
//! with the [`Snapshot`] after it; front-ends answer with [`Command`]s.

mod advice;
mod app_way;
mod board_kind;
mod board_name;
mod board_result;
mod channel;
mod client_name;
mod clocks;
mod command;
mod end_by_rules;
mod evaluation;
mod event;
mod game_end;
mod hid_boards;
mod judge;
mod link_state;
mod misplaced;
mod opponent;
mod report;
mod snapshot;
mod time_control;

pub use advice::{Advice, NEW_GAME, SET_UP, Words};
pub use app_way::AppWay;
pub use board_kind::BoardKind;
pub use board_name::{BoardName, BoardNameError, MAX_BOARDS, MAX_NAME};
pub use board_result::BoardResult;
pub use channel::{Channel, NoChannel, Outgoing, Reply, Request, Secret};
pub use client_name::{ClientName, owner};
pub use clocks::{Clocks, ClocksSince};
pub use command::{ClientId, Command};
pub use evaluation::Evaluation;
pub use event::{By, Event, rounded};
pub use game_end::{GameEnd, NoEnd, Reason};
pub use hid_boards::HidBoards;
pub use judge::Judge;
pub use link_state::{GARBLED, LinkState, MUTE, UNHEARD, stranger};
pub use misplaced::Misplaced;
pub use opponent::{Accept, Beginning, Occasion, Opponent, TakeBacks};
pub use report::{Reported, Wording};
pub use snapshot::{CORRECTION_WAIT, ClientPlace, Snapshot, played};
pub use time_control::{NoTimeControl, TimeControl};
