//! The map of the house, read from the `use` lines: a room imports only rooms on lower floors, so there are no circles.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use syn::visit::{self, Visit};

/// The rooms of each floor, from the ground. docs/architecture.md says what is in them.
const FLOORS: [&[&str]; 10] = [
    &[
        "access",
        "address",
        "apart",
        "cgroup",
        "serial_access",
        "toml_value",
        "clock",
        "credit",
        "game",
        "regular_file",
        "private",
        "lines",
        "default_ports",
        "escape",
        "slots",
        "sense",
        "spelling",
    ],
    &[
        "door",
        "durations",
        "guidance",
        "log",
        "reach",
        "recognise",
        "state",
    ],
    &["holders", "vocabulary"],
    &[
        "account",
        "clients",
        "pairings",
        "pgn_text",
        "sensing",
        "swpp",
        "transcript",
        "transport",
    ],
    &["bus", "driver", "http"],
    &["objects", "seat"],
    &[
        "board",
        "call",
        "lichess",
        "link",
        "livechess",
        "pgn",
        "event_stream",
        "opponent",
        "uci",
        "watch",
        "web",
        "whitepawn",
    ],
    &["config"],
    &["check", "daemon", "replay", "scan"],
    &["cli", "demo"],
];

/// Rooms that talk with chess programs, apps, other boards and files. They know the bus and no board.
const FRONT_ENDS: [&str; 11] = [
    "call",
    "event_stream",
    "lichess",
    "link",
    "livechess",
    "opponent",
    "pgn",
    "uci",
    "watch",
    "web",
    "whitepawn",
];

/// What a source file imports of this crate: paths without `crate`.
#[derive(Default)]
struct Imports {
    /// The file's own place: `uci`, `session`.
    place: Vec<String>,
    found: BTreeSet<Vec<String>>,
}

impl Imports {
    fn path(&mut self, path: &[String]) {
        let ups = path.iter().take_while(|part| *part == "super").count();
        let absolute = match path.first().map(String::as_str) {
            Some("crate") => path[1..].to_vec(),
            Some("super") => {
                let kept = self.place.len().saturating_sub(ups);
                [&self.place[..kept], &path[ups..]].concat()
            }
            _ => return,
        };
        self.found.insert(absolute);
    }

    fn tree(&mut self, before: &[String], tree: &syn::UseTree) {
        let with = |ident: &syn::Ident| [before, &[ident.to_string()]].concat();
        match tree {
            syn::UseTree::Path(path) => self.tree(&with(&path.ident), &path.tree),
            syn::UseTree::Name(name) => self.path(&with(&name.ident)),
            syn::UseTree::Rename(name) => self.path(&with(&name.ident)),
            syn::UseTree::Glob(_) => self.path(before),
            syn::UseTree::Group(group) => {
                for tree in &group.items {
                    self.tree(before, tree);
                }
            }
        }
    }
}

impl<'ast> Visit<'ast> for Imports {
    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        self.tree(&[], &item.tree);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let parts: Vec<String> = path.segments.iter().map(|s| s.ident.to_string()).collect();
        if parts.len() > 1 {
            self.path(&parts);
        }
        visit::visit_path(self, path);
    }

    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        // Unit tests may look anywhere.
        if item.content.is_some() && item.ident != "tests" {
            self.place.push(item.ident.to_string());
            visit::visit_item_mod(self, item);
            self.place.pop();
        }
    }
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "rs")
            && !path.ends_with("tests.rs")
        {
            found.push(path);
        }
    }
}

/// Every file's imports by its path below `src`, as `room::…`.
fn imports() -> BTreeMap<String, BTreeSet<Vec<String>>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&root, &mut files);
    let imports = files.into_iter().map(|path| {
        let name = path.strip_prefix(&root).unwrap().with_extension("");
        let mut place: Vec<String> = name
            .iter()
            .map(|part| part.to_str().unwrap().to_owned())
            .collect();
        let name = place.join("/");
        if place.last().is_some_and(|last| last == "mod") {
            place.pop();
        }
        let file = syn::parse_file(&fs::read_to_string(&path).unwrap()).unwrap();
        let mut imports = Imports {
            place,
            ..Imports::default()
        };
        imports.visit_file(&file);
        (name, imports.found)
    });
    imports
        .filter(|(name, _)| !["lib", "main"].contains(&name.as_str()))
        .collect()
}

fn room(file: &str) -> &str {
    file.split('/').next().unwrap()
}

fn floor(room: &str) -> usize {
    let found = FLOORS.iter().position(|rooms| rooms.contains(&room));
    found.unwrap_or_else(|| {
        panic!("`{room}` is not on the map: put it on a floor of tests/project/map.rs")
    })
}

#[test]
fn a_room_imports_only_rooms_on_lower_floors() {
    let mut wrong = Vec::new();
    for (file, imports) in imports() {
        let own = room(&file);
        for import in imports.iter().filter(|import| import[0] != own) {
            if floor(&import[0]) >= floor(own) {
                wrong.push(format!("{file} imports {}", import.join("::")));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn front_ends_know_neither_drivers_nor_boards_nor_each_other() {
    let mut wrong = Vec::new();
    for (file, imports) in imports() {
        let own = room(&file);
        for import in imports.iter().filter(|import| import[0] != own) {
            let other = import[0].as_str();
            let strange = ["driver", "board", "recognise", "sense", "sensing"].contains(&other);
            if FRONT_ENDS.contains(&own) && (strange || FRONT_ENDS.contains(&other)) {
                wrong.push(format!("{file} imports {}", import.join("::")));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn drivers_do_no_io_and_transports_know_no_chess() {
    let mut wrong = Vec::new();
    for (file, imports) in imports() {
        let allowed: &[&str] = match room(&file) {
            "driver" => &[
                "driver",
                "game",
                "guidance",
                "lines",
                "recognise",
                "sense",
                "sensing",
                "swpp",
                "toml_value",
                "vocabulary",
            ],
            "transport" => &[
                "address",
                "apart",
                "clock",
                "holders",
                "lines",
                "toml_value",
                "transport",
                "vocabulary",
            ],
            "recognise" | "guidance" => &["game", "guidance", "recognise", "sense"],
            _ => continue,
        };
        for import in imports
            .iter()
            .filter(|import| !allowed.contains(&import[0].as_str()))
        {
            wrong.push(format!("{file} imports {}", import.join("::")));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The files of a room that import each other in a circle, if any do.
fn circle(imports: &BTreeMap<String, BTreeSet<Vec<String>>>) -> Option<Vec<String>> {
    // A room's entrance is `mod`: what it gathers is not an import of one file by another.
    let target = |import: &Vec<String>| {
        let files = (1..=import.len())
            .rev()
            .map(|length| import[..length].join("/"));
        files.into_iter().find(|file| imports.contains_key(file))
    };
    let arrows: BTreeMap<&String, BTreeSet<String>> = imports
        .iter()
        .map(|(file, found)| {
            (
                file,
                found
                    .iter()
                    .filter_map(target)
                    .filter(|other| other != file)
                    .collect(),
            )
        })
        .collect();
    // A file that imports none of the others, or that none of them imports, is not in a circle.
    let mut left: BTreeSet<&String> = arrows.keys().copied().collect();
    loop {
        let is_end = |file: &&&String| {
            let imports = arrows[**file].iter().any(|other| left.contains(other));
            let imported = left.iter().any(|other| arrows[*other].contains(**file));
            !imports || !imported
        };
        let ends: Vec<&String> = left.iter().filter(is_end).copied().collect();
        if ends.is_empty() {
            return (!left.is_empty()).then(|| left.into_iter().cloned().collect());
        }
        left.retain(|file| !ends.contains(file));
    }
}

#[test]
fn files_do_not_import_each_other_in_circles() {
    assert_eq!(circle(&imports()), None);
}
