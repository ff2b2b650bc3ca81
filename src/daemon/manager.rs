//! The service manager that the daemon reports to: systemd on Linux, none elsewhere.

#[cfg(target_os = "linux")]
pub(super) use super::systemd::Manager;

/// There is no service manager.
#[cfg(not(target_os = "linux"))]
pub(super) struct Manager;

#[cfg(not(target_os = "linux"))]
#[expect(clippy::unused_self, reason = "as on Linux")]
impl Manager {
    pub fn of(_daemon: &super::Daemon) -> Self {
        Self
    }
    pub fn ready(&self) {}
    pub fn reloading(&self) {}
    pub fn stopping(self) {}
}
