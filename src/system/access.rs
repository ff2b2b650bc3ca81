//! Explains which files a user may read.

use std::{fs, os::unix::fs::PermissionsExt as _, path::Path};

use nix::unistd::{AccessFlags, Uid, User, eaccess, geteuid};

/// Home folders, which no other user and no service should enter.
pub const HOMES: [&str; 3] = ["/home", "/root", "/run/user"];

/// The name of the user of this process.
pub fn user() -> String {
    let uid = geteuid();
    let user = User::from_uid(uid).ok().flatten();
    user.map_or(Uid::as_raw(uid).to_string(), |user| user.name)
}

/// Why this process, `who` in words, may not read a file, and what to do.
pub fn unreadable(file: &Path, who: &str) -> Option<String> {
    let file = std::path::absolute(file).ok()?;
    let folders: Vec<&Path> = file.ancestors().skip(1).collect();
    let mode = |path: &Path| {
        let mode = fs::metadata(path).map_or(0, |found| found.permissions().mode());
        format!("mode {:o}", mode & 0o7777)
    };
    let entered = |folder: &&&Path| eaccess(**folder, AccessFlags::X_OK).is_err();
    if let Some(folder) = folders.iter().rev().find(entered) {
        let shown = folder.display();
        let remedy = if HOMES.iter().any(|home| folder.starts_with(home)) {
            format!("move {} to /etc/boardbridge", file.display())
        } else {
            format!("`sudo chmod o+x {shown}`")
        };
        let mode = mode(folder);
        return Some(format!("{who} may not enter {shown} ({mode}): {remedy}"));
    }
    let shown = file.display();
    eaccess(&file, AccessFlags::R_OK).err()?;
    Some(format!(
        "{who} may not read {shown} ({}): `sudo chmod 644 {shown}`",
        mode(&file)
    ))
}
