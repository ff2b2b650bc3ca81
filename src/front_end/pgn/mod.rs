//! Saved games: every game on a board is written as PGN.
//!
//! 1. [`archive`] decides from the board's snapshots which game is played and what to write when, without I/O.
//! 2. [`record`] is one game with what is known of it, [`tags`] makes PGN of it, [`reading`] reads our own back.
//! 3. [`folder`] is the files; [`task`] gives an archive its snapshots, its clock and its folder.
//!
//! `docs/games.md` is the player's description.

pub mod archive;
pub mod folder;
pub mod reading;
pub mod record;
pub mod settings;
pub mod tags;
pub mod task;
