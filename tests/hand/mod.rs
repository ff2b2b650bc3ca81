//! Whole games by a hand in a hurry, on boards written from their protocols alone: neither the hand nor the boards share a line with
//! the drivers or the simulators. The clock is set, not waited for.

mod chessnut;
mod dgt;
mod fate;
mod games;
mod gesture;
mod neo;
mod pegasus;
mod table;
mod wood;
