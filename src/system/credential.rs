//! Secrets that systemd hands to the service, which may not read their files (`systemd.exec(5)`, `LoadCredential=`).

use std::{
    env,
    path::{Path, PathBuf},
};

use super::regular_file;

/// The folder with the secrets of the service, for root alone. Each is handed over under its name here.
pub const FOLDER: &str = "/etc/boardbridge";
/// Bytes of a secret that are read to see whether there is one.
const MAX_SECRET: u64 = 64 * 1024;
/// What the unit passes where there is none.
const NONE: &[u8] = b"-";

/// Where the secret of this file is read: in what the service was handed, or else in the file itself.
pub fn place(file: &Path) -> PathBuf {
    handed(file).unwrap_or_else(|| file.to_owned())
}

/// What the service was handed of this file.
pub fn handed(file: &Path) -> Option<PathBuf> {
    let given = folder()?.join(name(file)?);
    let text = regular_file::read(&given, MAX_SECRET).ok()?;
    (text.trim_ascii() != NONE).then_some(given)
}

/// Whether this is what the service was handed: it is readable by its user alone, whatever its mode.
pub fn is_credential(file: &Path) -> bool {
    folder().is_some_and(|folder| file.starts_with(folder))
}

/// The value of `LoadCredential=` that hands this file over. `None`: it is in another folder.
pub fn line(file: &Path) -> Option<String> {
    Some(format!("{}:{}", name(file)?.display(), file.display()))
}

/// The name of a credential has no folder in it.
fn name(file: &Path) -> Option<&Path> {
    let is_there = file.parent() == Some(Path::new(FOLDER));
    file.file_name().filter(|_| is_there).map(Path::new)
}

fn folder() -> Option<PathBuf> {
    env::var_os("CREDENTIALS_DIRECTORY").map(PathBuf::from)
}

/// What to do where this user may not read a secret. `packaged`: the file that the packaged unit hands over.
pub fn remedy(file: &Path, packaged: &str) -> String {
    let restart = "`sudo systemctl restart boardbridge`";
    match line(file) {
        _ if file == Path::new(packaged) => {
            format!("The service is handed a new one when it starts: {restart}")
        }
        Some(line) => format!(
            "The service is handed it by two lines in its unit, LoadCredential={line} and SetCredential={}:-, as docs/service.md \
             says; then {restart}",
            name(file).unwrap_or(file).display()
        ),
        None => format!("For the service put it into {FOLDER}, as docs/service.md says"),
    }
}
