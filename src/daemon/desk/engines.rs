//! The engines that are installed.

use std::path::Path;

use crate::{bus::desk::Engine, front_end::opponent::settings::Program, system::apart};

/// Where Debian, and people, install engines.
const FOLDERS: [&str; 3] = ["/usr/games", "/usr/local/bin", "/usr/bin"];
/// Engines that speak UCI without arguments, the strongest first; their programs' names in Debian and elsewhere.
const NAMES: [&str; 9] = [
    "stockfish",
    "lc0",
    "fairy-stockfish",
    "berserk",
    "ethereal-chess",
    "ethereal",
    "fruit",
    "toga2",
    "glaurung",
];

/// All of them.
pub(super) async fn installed() -> Vec<Engine> {
    apart::run("engines", look).await.unwrap_or_default()
}

fn look() -> Vec<Engine> {
    let mut found: Vec<Engine> = Vec::new();
    for name in NAMES {
        let mut paths = FOLDERS.iter().map(|folder| Path::new(folder).join(name));
        let Some(path) = paths.find(|path| Program::from(path).unusable().is_none()) else {
            continue;
        };
        found.push(Engine {
            name: name.to_owned(),
            path: path.display().to_string(),
        });
    }
    found
}
