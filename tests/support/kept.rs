//! The games kept, as a PGN reader sees them.

use std::{
    fs,
    io::Cursor,
    ops::ControlFlow,
    path::{Path, PathBuf},
};

use boardbridge::chess::game::Game;
use pgn_reader::{RawComment, RawTag, Reader, SanPlus, Visitor};
use shakmaty::{CastlingMode, Chess, Outcome, fen::Fen};

/// What a PGN reader finds in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Read {
    pub tags: Vec<(String, String)>,
    pub game: Game,
    pub comments: Vec<String>,
    pub outcome: Option<Outcome>,
}

impl Read {
    pub fn tag(&self, name: &str) -> &str {
        let found = self.tags.iter().find(|(known, _)| known == name);
        found.map_or("", |(_, value)| value)
    }

    pub fn moves(&self) -> String {
        let moves: Vec<String> = self.game.uci_moves().map(|m| m.to_string()).collect();
        moves.join(" ")
    }
}

struct Judge;

impl Visitor for Judge {
    type Tags = Vec<(String, String)>;
    type Movetext = Read;
    type Output = Read;

    fn begin_tags(&mut self) -> ControlFlow<Read, Self::Tags> {
        ControlFlow::Continue(Vec::new())
    }

    fn tag(&mut self, tags: &mut Self::Tags, name: &[u8], value: RawTag<'_>) -> ControlFlow<Read> {
        let name = String::from_utf8(name.to_vec()).unwrap();
        tags.push((name, value.decode_utf8().unwrap().into_owned()));
        ControlFlow::Continue(())
    }

    fn begin_movetext(&mut self, tags: Self::Tags) -> ControlFlow<Read, Read> {
        let value = |name: &str| tags.iter().find(|(known, _)| known == name);
        let mode = match value("Variant") {
            Some((_, variant)) if variant == "Chess960" => CastlingMode::Chess960,
            _ => CastlingMode::Standard,
        };
        let start = match value("FEN") {
            Some((_, fen)) => {
                assert_eq!(value("SetUp").unwrap().1, "1");
                fen.parse::<Fen>().unwrap().into_position(mode).unwrap()
            }
            None => Chess::new(),
        };
        ControlFlow::Continue(Read {
            tags,
            game: Game::from_start(start),
            comments: Vec::new(),
            outcome: None,
        })
    }

    fn san(&mut self, read: &mut Read, san: SanPlus) -> ControlFlow<Read> {
        let m = san.san.to_move(read.game.position()).unwrap();
        assert_eq!(SanPlus::from_move(read.game.position().clone(), m), san);
        assert!(read.game.push(m));
        ControlFlow::Continue(())
    }

    fn comment(&mut self, read: &mut Read, comment: RawComment<'_>) -> ControlFlow<Read> {
        let text = String::from_utf8(comment.as_bytes().to_vec()).unwrap();
        read.comments.push(text);
        ControlFlow::Continue(())
    }

    fn outcome(&mut self, read: &mut Read, outcome: Outcome) -> ControlFlow<Read> {
        read.outcome = Some(outcome);
        ControlFlow::Continue(())
    }

    fn end_game(&mut self, read: Read) -> Read {
        read
    }
}

/// The only game in a text that follows the export format.
pub fn read(text: &str) -> Read {
    let fits = |line: &str| match line.starts_with('[') {
        true => line.chars().count() < 256,
        false => line.is_ascii() && line.len() < 80,
    };
    assert!(text.lines().all(fits), "{text}");
    let mut reader = Reader::new(Cursor::new(text));
    let read = reader.read_game(&mut Judge).unwrap().unwrap();
    assert!(reader.read_game(&mut Judge).unwrap().is_none(), "{text}");
    let seven: Vec<&str> = read.tags.iter().take(7).map(|(name, _)| &**name).collect();
    let roster = ["Event", "Site", "Date", "Round", "White", "Black", "Result"];
    assert_eq!(seven, roster);
    let outcome = read.outcome.unwrap().to_string();
    assert_eq!(read.tag("Result"), outcome);
    assert!(text.trim_end().ends_with(&outcome), "{text}");
    read
}

/// Every game's file in a folder, in the order of their names; there are no other files but the locks.
pub fn files_in(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().unwrap() != "lock")
        .collect();
    files.sort();
    for file in &files {
        assert_eq!(file.extension().unwrap(), "pgn", "{file:?}");
    }
    files
}

/// Every game in a folder, in the order of the files' names.
pub fn games_in(folder: &Path) -> Vec<Read> {
    let text = |file: &PathBuf| fs::read_to_string(file).unwrap();
    let files = files_in(folder);
    files.iter().map(|file| read(&text(file))).collect()
}

/// `[games]` in this folder, as the configuration has it.
pub fn kept_in(folder: &Path) -> String {
    format!("[games]\ndirectory = {folder:?}\n")
}
