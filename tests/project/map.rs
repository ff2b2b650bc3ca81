//! The map of the house, read from the `use` lines: a room imports only rooms on lower floors, so there are no circles.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use syn::visit::{self, Visit};

/// The rooms of each floor, from the ground. docs/architecture.md says what is in them.
const FLOORS: [&[&str]; 11] = [
    &["chess", "system"],
    &["state"],
    &["vocabulary"],
    &["text"],
    &["net"],
    &["log", "transport"],
    &["bus", "driver"],
    &["board", "discovery", "front_end"],
    &["config"],
    &["daemon"],
    &["cli"],
];

/// The floors inside a room, from the ground. The rest of the room is above them.
const INSIDE: [(&str, &[&[&str]]); 9] = [
    ("board", &[&["transcript"]]),
    (
        "bus",
        &[
            &["chat"],
            &["account", "clients", "desk", "pairings"],
            &["delayed", "login"],
        ],
    ),
    ("chess", &[&["game", "sense"], &["guidance", "recognise"]]),
    (
        "cli",
        &[&["call", "watch"], &["check", "replay", "scan"], &["demo"]],
    ),
    ("driver", &[&["sensing"]]),
    (
        "front_end",
        &[
            &["http", "https", "objects", "pgn_text", "restating"],
            &["seat"],
        ],
    ),
    (
        "net",
        &[
            &["address", "default_ports", "slots"],
            &["door", "reach"],
            &["dns_sd"],
        ],
    ),
    (
        "system",
        &[&[
            "access",
            "apart",
            "cgroup",
            "clock",
            "credit",
            "holders",
            "private",
            "regular_file",
            "serial_access",
            "sleep",
            "usb",
        ]],
    ),
    (
        "text",
        &[
            &["escape", "frames", "lines", "spelling", "toml_value"],
            &["durations", "swpp"],
        ],
    ),
];

/// What talks with chess programs, apps, other boards and files. They know the bus and no board.
const FRONT_ENDS: [&str; 10] = [
    "broadcast",
    "event_stream",
    "lichess",
    "link",
    "livechess",
    "opponent",
    "pgn",
    "uci",
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

/// A part of the house: its room, and the name inside it if [`INSIDE`] lists that.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Part<'a> {
    room: &'a str,
    inner: &'a str,
}

impl<'a> Part<'a> {
    /// Where this path is, of a file or of an import.
    fn of(path: &[&'a str]) -> Self {
        let room = path[0];
        let listed = |inner: &&str| floors_of(room).iter().any(|floor| floor.contains(inner));
        let inner = path.get(1).copied().filter(listed).unwrap_or_default();
        Self { room, inner }
    }

    fn outer_floor(self) -> usize {
        let found = FLOORS.iter().position(|rooms| rooms.contains(&self.room));
        found
            .unwrap_or_else(|| panic!("`{}` is not on the map: put it on a floor of it", self.room))
    }

    fn inner_floor(self) -> usize {
        let floors = floors_of(self.room);
        let found = floors.iter().position(|parts| parts.contains(&self.inner));
        found.unwrap_or(floors.len())
    }

    fn is_below(self, other: Self) -> bool {
        if self.room == other.room {
            self.inner_floor() < other.inner_floor()
        } else {
            self.outer_floor() < other.outer_floor()
        }
    }
}

fn floors_of(room: &str) -> &'static [&'static [&'static str]] {
    let found = INSIDE.iter().find(|(of, _)| *of == room);
    found.map_or(&[], |(_, floors)| floors)
}

/// Every import that is wrong, as a sentence.
fn wrong(is_wrong: impl Fn(&[&str], &[&str]) -> bool) -> Vec<String> {
    let mut found = Vec::new();
    for (file, imports) in imports() {
        let own: Vec<&str> = file.split('/').collect();
        for import in &imports {
            let other: Vec<&str> = import.iter().map(String::as_str).collect();
            if is_wrong(&own, &other) {
                found.push(format!("{file} imports {}", import.join("::")));
            }
        }
    }
    found
}

#[test]
fn a_room_imports_only_rooms_on_lower_floors() {
    let wrong = wrong(|own, other| {
        let (own, other) = (Part::of(own), Part::of(other));
        own != other && !other.is_below(own)
    });
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The front-end that this path is in.
fn front_end<'a>(path: &[&'a str]) -> Option<&'a str> {
    let name = path.get(1).copied().filter(|_| path[0] == "front_end")?;
    FRONT_ENDS.contains(&name).then_some(name)
}

#[test]
fn front_ends_know_neither_drivers_nor_boards_nor_each_other() {
    let wrong = wrong(|own, other| {
        let Some(own) = front_end(own) else {
            return false;
        };
        let knows_the_hand = matches!(other, ["chess", "recognise" | "sense", ..]);
        knows_the_hand
            || ["board", "driver"].contains(&other[0])
            || front_end(other).is_some_and(|other| other != own)
    });
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn commands_to_a_running_daemon_know_only_its_ports() {
    let wrong = wrong(|own, other| {
        matches!(own, ["cli", "call" | "watch", ..])
            && ["board", "config", "daemon", "driver", "front_end"].contains(&other[0])
    });
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn drivers_do_no_io_and_transports_know_no_chess() {
    let wrong = wrong(|own, other| {
        let allowed: &[&str] = match own[0] {
            "chess" => &["chess"],
            "driver" => &["chess", "driver", "text", "vocabulary"],
            "transport" => &["net", "system", "text", "transport", "vocabulary"],
            _ => return false,
        };
        !allowed.contains(&other[0])
    });
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
