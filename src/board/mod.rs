//! A board: the game it holds, its clients, and the steps that lead it to the target.
//!
//! [`core::Core`] is all of it without I/O; [`actor`] gives the core a transport and a clock.
//! The path of a move, always forward: [`actor`] reads bytes, the [driver](crate::driver) makes a report of
//! them, [`held_game`] finds the legal move it means, [`core`] gives it to the client that awaits it, and the
//! [UCI session](crate::front_end::uci::session) writes `bestmove`.
//!
//! # A board is led toward a target
//!
//! A front-end never pushes moves. It states a **target**: a start, the moves played, and whether it awaits the hand.
//! The core compares it with the game the board **holds** and takes the cheapest step ([`plan`]):
//!
//! - show the next move, take the last one back, begin a new game, or set a position up;
//! - the driver states the cost of each, in units of one shown move;
//! - one step at a time: the driver is idle again when the board and the hand may be disturbed.
//!
//! A take-back in the GUI, a resumed game, a position that jumps ahead, a restart of the daemon, a pulled cable: all
//! are the same case. GUIs that send only the current position, or the moves since the last capture, mean the same
//! game: `Game::rebased` finds it.
//!
//! # What the hand does
//!
//! - A legal move from the held position was *played* ([`held_game`]). It answers a client only while it is *news* to it:
//!   when the client stated its game the move was unknown, and no answer, `ucinewgame` or take-back has passed since.
//!   A client that awaits the move is given it in the pass in which it was made, and its game has the move from then on. The
//!   client confirms that it took it; if it says anything else, or the hand first takes the move back, it was not given.
//!   So a hand that moved before `go` is answered at once. How many moves may already be on the board when a client
//!   joins is one rule, at `Claims::meet`: usually one, and never one of an old game.
//! - Anything else is followed square by square until the pieces stand in a known position again.
//! - After `correction_wait` the board is led back. What the *program* changes is led at once; what the *hand*
//!   changed gets time.
//!
//! # Certainty
//!
//! After a lost link the held game is in doubt. A board that can be asked is asked (`G` on a Citrine; what it has
//! beyond the target is the player's move). One that cannot be asked is given the position again before anything else. If
//! a board senses squares alone, the target's last position with the same occupied squares is assumed.
//!
//! What stands and what should stand are the two halves of a *scene*. What stands is what the board
//! reports or senses; where it reports nothing while a position is set up, the pieces stand as before until a move
//! proves that they were moved. [`guidance`](crate::chess::guidance) lists what to do whenever either changes; the list is in
//! the snapshot, and a board with lights shows it.

#[cfg(target_os = "linux")]
pub mod actor;
pub mod claims;
pub mod core;
pub mod held_game;
#[cfg(target_os = "linux")]
mod keeping;
pub mod plan;
pub mod settings;
pub mod transcript;
