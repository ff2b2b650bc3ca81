//! Two boards that play one game.

mod bluetooth;
mod convergence;
mod games;
mod session;
