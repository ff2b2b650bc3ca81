//! What the operating system offers: files, users, threads, time, programs, limits.

#[cfg(target_os = "linux")]
pub(crate) mod access;
pub mod apart;
#[cfg(target_os = "linux")]
pub mod cgroup;
pub(crate) mod clock;
#[cfg(target_os = "linux")]
pub(crate) mod credential;
pub(crate) mod credit;
#[cfg(target_os = "linux")]
pub mod holders;
#[cfg(target_os = "linux")]
pub(crate) mod memory;
pub(crate) mod private;
pub(crate) mod regular_file;
#[cfg(target_os = "linux")]
pub(crate) mod serial_access;
pub(crate) mod sleep;
pub(crate) mod this_machine;
#[cfg(target_os = "linux")]
pub mod traffic;
#[cfg(target_os = "linux")]
pub mod usb;
