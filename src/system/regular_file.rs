//! Opens files that may turn out to be something else.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Read as _},
    path::Path,
};

/// Reads a regular file of at most this many bytes, also through a link, because its owner named it. Nothing else is
/// opened: a FIFO waits for its other end, and opening a serial port may restart a board.
///
/// # Errors
/// The system's error, or that it is not a regular file.
pub fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let wrong = |what: &str| io::Error::new(io::ErrorKind::InvalidInput, what.to_owned());
    let found = fs::metadata(path)?;
    if found.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    if !found.is_file() {
        return Err(wrong("this is not a regular file"));
    }
    let mut options = OpenOptions::new();
    // It may have become something else.
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, libc::O_NONBLOCK);
    let file = options.read(true).open(path)?;
    let mut bytes = Vec::new();
    file.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    if u64::try_from(bytes.len()).is_ok_and(|length| length > most) {
        return Err(wrong(&format!(
            "this is longer than {most} bytes: is it the right file?"
        )));
    }
    Ok(bytes)
}

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
