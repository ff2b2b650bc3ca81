//! `LiveChess`: the local API of DGT's program, by which lichess.org's board page and others use a board. Our boards are offered
//! by the same API.
//!
//! - [`session`] is one client's conversation, without I/O: calls, snapshots and time go in; messages, and commands for
//!   boards, come out.
//! - `guard` decides which pages may talk; [`server`] has the sockets and the REST address; [`pages`] knows which page plays where.
//! - [`relay`] is `boardbridge livechess`: the same port on the machine of the browser.
//!
//! `docs/livechess.md` says how a page is connected.

mod guard;
pub mod pages;
pub mod relay;
pub mod server;
pub mod session;
pub mod settings;
