//! Ports that are taken by number.

use std::{
    net::{Ipv4Addr, SocketAddr, TcpListener},
    ops::Range,
    sync::atomic::{AtomicU32, Ordering},
};

/// Below those that the kernel gives to whoever asks for any, of which one that is free for now may be another's a moment later.
const PORTS: Range<u16> = 12_000..32_000;

/// An address of this machine that is free, and stays so until its owner takes it.
pub fn unused_address() -> SocketAddr {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    // Other programs begin elsewhere.
    let first = std::process::id().wrapping_mul(61);
    loop {
        let step = first.wrapping_add(NEXT.fetch_add(1, Ordering::Relaxed));
        let within = step % u32::from(PORTS.end - PORTS.start);
        let port = PORTS.start + u16::try_from(within).unwrap_or_default();
        if TcpListener::bind((Ipv4Addr::UNSPECIFIED, port)).is_ok() {
            return (Ipv4Addr::LOCALHOST, port).into();
        }
    }
}
