//! The crates that a target links in, each with its licence, and every licence text once.

use std::{
    collections::{BTreeMap, BTreeSet},
    error::Error,
    fmt::Write,
    fs, io,
    path::{Path, PathBuf},
};

use cargo_metadata::{
    CargoOpt, DependencyKind, MetadataCommand, Package, PackageId, TargetKind, camino::Utf8Path,
};

/// How the names of files with licences begin, in capitals.
const NAMES: [&str; 5] = ["LICENSE", "LICENCE", "COPYING", "COPYRIGHT", "NOTICE"];

/// C sources that a crate brings along, with their own licence: the crate, its file in it if it has one, and what it is.
const VENDORED: [(&str, Option<&str>, &str); 2] = [
    (
        "libdbus-sys",
        Some("vendor/dbus/COPYING"),
        "libdbus, the reference implementation of D-Bus (https://dbus.freedesktop.org), built from the source in this \
         crate: AFL-2.1 OR GPL-2.0-or-later; used here under GPL-2.0-or-later",
    ),
    (
        "libsqlite3-sys",
        None,
        "SQLite (https://sqlite.org), built from the source in this crate: in the public domain",
    ),
];

const HEAD: &str = "BoardBridge is free software under the GNU General Public License, version 3 or later. The program
links in the Rust crates below, and the standard library of Rust (https://www.rust-lang.org; MIT OR Apache-2.0,
Copyright (c) The Rust Project Contributors). The numbers stand for the texts that follow the list.
";

/// The whole document.
pub fn text(target: &str) -> Result<String, Box<dyn Error>> {
    let mut texts: Vec<String> = Vec::new();
    let mut page = HEAD.to_owned();
    for package in linked(target)? {
        let folder = package.manifest_path.parent().unwrap_or(Utf8Path::new("."));
        let mut numbers = BTreeSet::new();
        for file in files(folder.as_std_path())? {
            numbers.insert(number(&mut texts, &file)?);
        }
        let licence = package.license.as_deref().unwrap_or("see the text");
        writeln!(page, "\n{} {}: {licence}", package.name, package.version)?;
        if let Some(repository) = &package.repository {
            writeln!(page, "  {repository}")?;
        }
        writeln!(page, "  {}", list(&numbers))?;
        for (name, file, what) in VENDORED {
            if package.name == name {
                writeln!(page, "  {what}")?;
                if let Some(file) = file {
                    let number = number(&mut texts, folder.join(file).as_std_path())?;
                    writeln!(page, "  {}", list(&BTreeSet::from([number])))?;
                }
            }
        }
    }
    for (index, text) in texts.iter().enumerate() {
        write!(page, "\n\n======== text {} ========\n\n{text}\n", index + 1)?;
    }
    Ok(page)
}

/// The packages that are linked in on this target: what only builds them is left out, as are macros.
pub fn linked(target: &str) -> Result<Vec<Package>, Box<dyn Error>> {
    let metadata = MetadataCommand::new()
        .features(CargoOpt::SomeFeatures(Vec::new()))
        .other_options(["--locked", "--filter-platform", target].map(str::to_owned))
        .exec()?;
    let nodes = metadata
        .resolve
        .map(|graph| graph.nodes)
        .unwrap_or_default();
    let nodes: BTreeMap<PackageId, _> = nodes
        .into_iter()
        .map(|node| (node.id.clone(), node))
        .collect();
    let packages: BTreeMap<PackageId, Package> = metadata
        .packages
        .into_iter()
        .filter(|package| {
            !package
                .targets
                .iter()
                .any(|target| target.is_kind(TargetKind::ProcMacro))
        })
        .map(|package| (package.id.clone(), package))
        .collect();
    let program = packages
        .values()
        .find(|package| package.name == "boardbridge");
    let mut wanted: Vec<PackageId> = program
        .map(|package| package.id.clone())
        .into_iter()
        .collect();
    let mut found = BTreeMap::new();
    while let Some(id) = wanted.pop() {
        let Some(package) = packages.get(&id) else {
            continue;
        };
        let name = (package.name.to_string(), package.version.clone());
        if found.insert(name, package.clone()).is_some() {
            continue;
        }
        let depended = nodes
            .get(&id)
            .map(|node| node.deps.as_slice())
            .unwrap_or_default();
        let normal = depended.iter().filter(|dep| {
            dep.dep_kinds
                .iter()
                .any(|kind| kind.kind == DependencyKind::Normal)
        });
        wanted.extend(normal.map(|dep| dep.pkg.clone()));
    }
    found.retain(|(name, _), _| !name.starts_with("boardbridge"));
    Ok(found.into_values().collect())
}

/// The files with licences in the folder of a crate, in order.
fn files(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .to_uppercase();
        if path.is_file() && NAMES.iter().any(|start| name.starts_with(start)) {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// The number of this file's text, which is added if it is new.
fn number(texts: &mut Vec<String>, file: &Path) -> io::Result<usize> {
    let text = String::from_utf8_lossy(&fs::read(file)?)
        .replace("\r\n", "\n")
        .trim()
        .to_owned();
    let known = texts.iter().position(|other| *other == text);
    Ok(known.unwrap_or_else(|| {
        texts.push(text);
        texts.len() - 1
    }) + 1)
}

/// "texts 1, 4".
fn list(numbers: &BTreeSet<usize>) -> String {
    let numbers: Vec<String> = numbers.iter().map(ToString::to_string).collect();
    match numbers.as_slice() {
        [] => "no text in the crate".to_owned(),
        [one] => format!("text {one}"),
        many => format!("texts {}", many.join(", ")),
    }
}
