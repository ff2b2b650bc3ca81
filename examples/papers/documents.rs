//! README and docs as the packages have them: every link in them leads to a file that is installed too. Of a link to any
//! other file of the sources the text is left.

use std::{
    collections::BTreeSet,
    fs, io,
    path::{Component, Path, PathBuf},
};

/// The pages beside the folder of all others.
const PAGES: [&str; 2] = ["README.md", "SECURITY.md"];
/// That folder.
const DOCS: &str = "docs";
/// Files of the sources that are installed by other names, or in other places.
const RENAMED: [(&str, &str); 3] = [
    ("CHANGELOG.md", "changelog.gz"),
    ("LICENSE", "copyright"),
    (
        "config/boardbridge.toml",
        "/etc/boardbridge/boardbridge.toml",
    ),
];

/// Writes them into this folder, which then has nothing else and looks like that of the package.
pub fn write(sources: &Path, directory: &Path) -> io::Result<()> {
    if directory.exists() {
        fs::remove_dir_all(directory)?;
    }
    let mut files = BTreeSet::from(PAGES.map(PathBuf::from));
    find(sources, Path::new(DOCS), &mut files)?;
    for file in &files {
        let to = directory.join(file);
        fs::create_dir_all(to.parent().unwrap_or(directory))?;
        if file.extension().is_some_and(|ending| ending == "md") {
            let text = fs::read_to_string(sources.join(file))?;
            let folder = file.parent().unwrap_or(Path::new(""));
            fs::write(to, linked(&text, folder, &files))?;
        } else {
            fs::copy(sources.join(file), to)?;
        }
    }
    Ok(())
}

/// Adds the files in this folder of the sources, and in those in it.
fn find(sources: &Path, folder: &Path, files: &mut BTreeSet<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(sources.join(folder))? {
        let entry = entry?;
        let path = folder.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            find(sources, &path, files)?;
        } else {
            files.insert(path);
        }
    }
    Ok(())
}

/// The text of a page in this folder, with links to these files alone.
fn linked(text: &str, folder: &Path, files: &BTreeSet<PathBuf>) -> String {
    let mut written = String::new();
    let mut rest = text;
    while let Some((before, label, target, after)) = next_link(rest) {
        written.push_str(before);
        rest = after;
        match placed(target, folder, files) {
            Some(target) => written.extend(["[", label, "](", &target, ")"]),
            None => written.push_str(label),
        }
    }
    written + rest
}

/// What is before the next link, what it says, where it leads, and what is behind it.
fn next_link(text: &str) -> Option<(&str, &str, &str, &str)> {
    text.match_indices("](").find_map(|(middle, between)| {
        let (before, label) = opened(text.get(..middle)?)?;
        let (target, after) = text.get(middle + between.len()..)?.split_once(')')?;
        Some((before, label, target, after))
    })
}

/// Splits a text at the bracket that is still open at its end.
fn opened(text: &str) -> Option<(&str, &str)> {
    let mut depth = 0;
    let opens = |c: char| {
        depth += match c {
            '[' => 1,
            ']' => -1,
            _ => 0,
        };
        depth > 0
    };
    let at = text.rfind(opens)?;
    Some((&text[..at], &text[at + 1..]))
}

/// Where a link of a page in this folder leads in the package; `None` if nowhere.
fn placed(target: &str, folder: &Path, files: &BTreeSet<PathBuf>) -> Option<String> {
    let path = target.split('#').next().unwrap_or_default();
    if path.is_empty() || path.contains(':') {
        return Some(target.to_owned());
    }
    let file = within(&folder.join(path))?;
    if files.contains(&file) {
        return Some(target.to_owned());
    }
    let (name, other) = RENAMED.iter().find(|(name, _)| file == Path::new(name))?;
    Some(if other.starts_with('/') {
        (*other).to_owned()
    } else {
        target.replace(name, other)
    })
}

/// A path without `..`; `None` if it leads out of the project.
fn within(path: &Path) -> Option<PathBuf> {
    let mut within = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => within.pop().then_some(())?,
            part => within.push(part),
        }
    }
    Some(within)
}
