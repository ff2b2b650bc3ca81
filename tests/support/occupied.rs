//! A port that another program has.

use std::{
    io::ErrorKind,
    net::TcpListener,
    thread,
    time::{Duration, Instant},
};

use super::PATIENCE;

/// Takes this address as another program would, as soon as whoever has it lets go of it: daemons of tests beside this one
/// have the default ports for a while.
pub fn occupied(address: &str) -> TcpListener {
    let until = Instant::now() + PATIENCE;
    loop {
        match TcpListener::bind(address) {
            Ok(listener) => return listener,
            Err(error) if error.kind() == ErrorKind::AddrInUse && Instant::now() < until => {
                thread::sleep(Duration::from_millis(10));
            }
            Err(error) => panic!("{address}: {error}"),
        }
    }
}
