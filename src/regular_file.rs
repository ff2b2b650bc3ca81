//! Opens files in folders that other users may write in.

use std::{
    fs::{self, File, OpenOptions},
    io,
    path::Path,
};

/// Opens a regular file, and nothing else: opening a FIFO waits for its other end, reading a device may never end, and
/// a link leads to whatever another user chose.
pub fn regular(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(options, libc::O_NONBLOCK | libc::O_NOFOLLOW);
    let not_regular = || {
        let text = format!("{} is not a regular file", path.display());
        io::Error::new(io::ErrorKind::InvalidInput, text)
    };
    let file = options.open(path).map_err(|error| {
        let other = fs::symlink_metadata(path).is_ok_and(|found| !found.is_file());
        if other { not_regular() } else { error }
    })?;
    if file.metadata()?.is_file() {
        Ok(file)
    } else {
        Err(not_regular())
    }
}
