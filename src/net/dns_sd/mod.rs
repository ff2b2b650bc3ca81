//! Found without an address: a daemon says on the local network which of its ports others may use, and a relay looks for
//! it there (DNS-SD over multicast DNS, RFC 6762 and RFC 6763).
//!
//! Whoever answers is not thereby trusted: an answer names a port to try and nothing else. All its texts are cleaned and cut
//! where they are [read](browse::Found::read).

#[cfg(target_os = "linux")]
pub mod announce;
#[cfg(target_os = "linux")]
pub mod announcement;
pub mod browse;
pub mod choice;
pub(crate) mod interfaces;
pub mod nearest;
pub mod own_host;

pub use mdns_sd::MDNS_PORT;

/// The type of the daemon's service. Its instances are named after their machines.
pub const SERVICE: &str = "_boardbridge._tcp.local.";
/// The longest name of an instance, in bytes (RFC 6763, section 4.1.1).
pub const MAX_INSTANCE: usize = 63;
