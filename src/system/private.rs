//! Files and folders for this user alone, whatever the umask is. The service's has `UMask=0077`; a shell's usually lets
//! everybody read.

use std::{
    fs::{DirBuilder, OpenOptions},
    io,
    path::Path,
};

/// Creates a folder that only its owner may enter, and those above it, if they are missing. An existing folder stays as
/// it is: it may have been opened to others on purpose.
///
/// # Errors
/// As [`DirBuilder::create`].
pub fn create_folder(path: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(path)
}

/// A file that is created with these options may be read and written by its owner alone.
pub fn file(options: &mut OpenOptions) -> &mut OpenOptions {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    options
}

/// Takes away the access that others have to a file. A missing file, or another user's, stays as it is.
pub fn close_to_others(path: &Path) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let found = std::fs::symlink_metadata(path).ok();
        let found = found.filter(std::fs::Metadata::is_file);
        if let Some(mode) = found.map(|found| found.permissions().mode() & 0o7777)
            && mode & 0o077 != 0
        {
            let narrow = std::fs::Permissions::from_mode(mode & !0o077);
            // Another user's file is theirs to close.
            let _ = std::fs::set_permissions(path, narrow);
        }
    }
    #[cfg(not(unix))]
    let _ = path;
}

/// Whether files in this folder may be for others too: it is another user's, or others may write in it.
pub fn is_shared(folder: &Path) -> bool {
    #[cfg(target_os = "linux")]
    {
        use std::os::unix::fs::MetadataExt as _;
        let found = std::fs::metadata(folder);
        let own = nix::unistd::geteuid().as_raw();
        found.is_ok_and(|found| found.uid() != own || found.mode() & 0o022 != 0)
    }
    #[cfg(not(target_os = "linux"))]
    {
        // The daemon does not run on such a system.
        let _ = folder;
        false
    }
}
