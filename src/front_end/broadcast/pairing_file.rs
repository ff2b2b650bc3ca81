//! The file that says who plays at which board: CSV, or a PGN of tags.
//!
//! ```
//! use boardbridge::front_end::broadcast::pairing_file::Pairings;
//! use shakmaty::Color;
//!
//! let boards = ["citrine".parse()?];
//! let file = "board,white,black,white_elo\ncitrine,\"Müller, Zoë\",Cleo Dan,2011\n";
//! let pairings = Pairings::read(file.as_bytes(), &boards)?;
//! let white = pairings.player(&boards[0], Color::White);
//! assert_eq!(white.map(|player| player.name.as_str()), Some("Müller, Zoë"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::collections::BTreeMap;

use shakmaty::{ByColor, Color};
use thiserror::Error;

use crate::{text::escape::is_plain, vocabulary::BoardName};

/// The longest file, in bytes: 64 boards in a PGN take some 20 KiB.
pub const MAX_FILE: u64 = 256 * 1024;
/// The longest name, in characters (Lichess: 140 for the value of a tag; a tag of ours has room for 110).
pub const MAX_NAME: usize = 110;
/// The highest rating: no player has had 3000.
const MAX_ELO: u32 = 4000;
/// The columns of a file without a head.
const COLUMNS: [&str; 7] = [
    "board",
    "white",
    "black",
    "white_elo",
    "black_elo",
    "white_fide",
    "black_fide",
];
/// The tags of a PGN, in the order of [`COLUMNS`].
const TAGS: [&str; 7] = [
    "Board",
    "White",
    "Black",
    "WhiteElo",
    "BlackElo",
    "WhiteFideId",
    "BlackFideId",
];
/// What may separate the cells of a table: spreadsheets write semicolons where the comma is the decimal point. The first of these counts;
/// the first cell is a board or the name of a column, which have none of them.
const SEPARATORS: [char; 3] = [',', ';', '\t'];
/// How the line begins in which Excel is told the separator of a table.
const SEPARATOR_LINE: &str = "sep=";
/// The mark that editors on Windows put before a text.
const BYTE_ORDER_MARK: char = '\u{feff}';
/// Characters shown of a wrong value.
const MAX_SHOWN: usize = 40;

/// A player in the file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listed {
    /// The name; may be empty beside a FIDE id.
    pub name: String,
    /// The rating.
    pub elo: Option<u32>,
    /// The FIDE id, by which the server knows the name.
    pub fide: Option<u32>,
}

/// Who plays at which board.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pairings {
    players: BTreeMap<BoardName, ByColor<Option<Listed>>>,
    left_out: Option<PairingError>,
}

/// Why a file cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("line {line}: {wrong}")]
pub struct PairingError {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub wrong: Wrong,
}

/// What is wrong with a line.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Wrong {
    /// Not UTF-8.
    #[error("this is not UTF-8: save the file as \"CSV UTF-8\"")]
    NotUtf8,
    /// A column with a name that is not known.
    #[error("there is no column `{0}`: {columns} are known", columns = COLUMNS.join(", "))]
    Column(String),
    /// The head has no column for the board.
    #[error("the column `board` is missing in the head")]
    NoBoardColumn,
    /// More cells than columns.
    #[error(
        "this line has more cells than there are columns: put a name with a comma in \"quotes\""
    )]
    TooManyCells,
    /// A quote that is never closed.
    #[error("a quote \" is not closed")]
    OpenQuote,
    /// No board.
    #[error("the board is missing: write its name, or its number among the boards")]
    NoBoard,
    /// A board that is not there.
    #[error("there is no board `{name}` in this broadcast: it has {boards}")]
    UnknownBoard {
        /// What is written.
        name: String,
        /// What could be.
        boards: String,
    },
    /// A board twice.
    #[error("{0} is in the file already: one line a board")]
    Twice(BoardName),
    /// A name that no tag may have.
    #[error("`{0}` cannot be a name: at most {MAX_NAME} letters and signs in one line")]
    Name(String),
    /// A wrong rating.
    #[error("`{0}` is not a rating: a number up to {MAX_ELO}, or nothing")]
    Elo(String),
    /// A wrong FIDE id.
    #[error("`{0}` is not a FIDE id: a number, or nothing")]
    Fide(String),
    /// Not a tag.
    #[error("this is not a tag: write for instance [White \"Zoë Müller\"]")]
    Tag,
}

fn short(text: &str) -> String {
    text.chars()
        .take(MAX_SHOWN)
        .map(|c| if is_plain(c) { c } else { '?' })
        .collect()
}

impl Pairings {
    /// Reads a file; `boards` are those of the broadcast, in order.
    ///
    /// # Errors
    /// The first mistake, with its line.
    pub fn read(bytes: &[u8], boards: &[BoardName]) -> Result<Self, PairingError> {
        let text = std::str::from_utf8(bytes).map_err(|error| {
            let good = &bytes[..error.valid_up_to()];
            let line = good.iter().filter(|byte| **byte == b'\n').count() + 1;
            let wrong = Wrong::NotUtf8;
            PairingError { line, wrong }
        })?;
        let text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
        let mut pairings = Self::default();
        if text.trim_start().starts_with('[') {
            pairings.read_pgn(text, boards)?;
        } else {
            pairings.read_csv(text, boards)?;
        }
        match pairings.left_out.take_if(|_| pairings.players.is_empty()) {
            Some(nothing) => Err(nothing),
            None => Ok(pairings),
        }
    }

    /// The first line that was left out: a file for several broadcasts has boards of the others.
    pub fn left_out(&self) -> Option<&PairingError> {
        self.left_out.as_ref()
    }

    /// The player of this colour at a board, if the file has one.
    pub fn player(&self, board: &BoardName, color: Color) -> Option<&Listed> {
        self.players.get(board)?.get(color).as_ref()
    }

    /// Whether the file has this board.
    pub fn has(&self, board: &BoardName) -> bool {
        self.players.contains_key(board)
    }

    /// How many boards it has.
    pub fn len(&self) -> usize {
        self.players.len()
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.players.is_empty()
    }

    fn read_csv(&mut self, text: &str, boards: &[BoardName]) -> Result<(), PairingError> {
        let mut columns: Vec<usize> = (0..COLUMNS.len()).collect();
        let mut is_first = true;
        let mut separator = None;
        for (number, line) in text.lines().enumerate() {
            let line_number = number + 1;
            let at = |wrong| PairingError {
                line: line_number,
                wrong,
            };
            if line.trim().is_empty() || line.starts_with('#') {
                continue;
            }
            if separator.is_none() {
                separator = line.chars().find(|c| SEPARATORS.contains(c));
                if separator.is_some_and(|separator| only_tells(line, separator)) {
                    continue;
                }
            }
            let cells = cells(line, separator.unwrap_or(SEPARATORS[0])).map_err(at)?;
            let is_head = std::mem::take(&mut is_first)
                && cells
                    .iter()
                    .any(|cell| cell.eq_ignore_ascii_case(COLUMNS[0]));
            if is_head {
                let place = |cell: &String| {
                    let name = cell.to_ascii_lowercase().replace([' ', '-'], "_");
                    let found = COLUMNS.iter().position(|known| *known == name);
                    found.ok_or_else(|| at(Wrong::Column(short(cell))))
                };
                columns = cells.iter().map(place).collect::<Result<_, _>>()?;
                if !columns.contains(&0) {
                    return Err(at(Wrong::NoBoardColumn));
                }
                continue;
            }
            let mut values: [String; COLUMNS.len()] = Default::default();
            for (index, cell) in cells.into_iter().enumerate() {
                match columns.get(index) {
                    Some(column) => values[*column] = cell,
                    None if cell.is_empty() => {}
                    None => return Err(at(Wrong::TooManyCells)),
                }
            }
            self.add(&values, boards, line_number)?;
        }
        Ok(())
    }

    fn read_pgn(&mut self, text: &str, boards: &[BoardName]) -> Result<(), PairingError> {
        let mut values: [String; TAGS.len()] = Default::default();
        // The line of the game's first tag.
        let mut begun = None;
        for (number, line) in text.lines().chain([""]).enumerate() {
            let line = line.trim();
            if let Some(inner) = line.strip_prefix('[') {
                begun.get_or_insert(number + 1);
                let (name, value) = read_tag(inner).ok_or(PairingError {
                    line: number + 1,
                    wrong: Wrong::Tag,
                })?;
                // `Round "3.12"` has the board's number after the point.
                if name == "Round"
                    && values[0].is_empty()
                    && let Some((_, board)) = value.rsplit_once('.')
                {
                    board.clone_into(&mut values[0]);
                }
                if let Some(place) = TAGS.iter().position(|tag| *tag == name) {
                    values[place] = value;
                }
            } else if let Some(line) = begun.take() {
                self.add(&values, boards, line)?;
                values = Default::default();
            }
        }
        Ok(())
    }

    /// Adds a line, with the values of [`COLUMNS`], unless its board is not in the broadcast.
    fn add(
        &mut self,
        values: &[String],
        boards: &[BoardName],
        line: usize,
    ) -> Result<(), PairingError> {
        let added = self.players_at(values, boards);
        let at = |wrong| PairingError { line, wrong };
        match added.map_err(at) {
            Err(left_out) if matches!(left_out.wrong, Wrong::UnknownBoard { .. }) => {
                self.left_out.get_or_insert(left_out);
                Ok(())
            }
            added => added,
        }
    }

    fn players_at(&mut self, values: &[String], boards: &[BoardName]) -> Result<(), Wrong> {
        let [
            board,
            white,
            black,
            white_elo,
            black_elo,
            white_fide,
            black_fide,
        ] = values
        else {
            return Err(Wrong::TooManyCells);
        };
        let board = find(board, boards)?;
        let player = |name: &str, elo: &str, fide: &str| {
            let name = if name == "?" { "" } else { name };
            let listed = Listed {
                name: self::name(name)?,
                elo: number(elo, MAX_ELO).map_err(Wrong::Elo)?,
                fide: number(fide, u32::MAX).map_err(Wrong::Fide)?,
            };
            Ok((!listed.name.is_empty() || listed.fide.is_some()).then_some(listed))
        };
        let players = ByColor {
            white: player(white, white_elo, white_fide)?,
            black: player(black, black_elo, black_fide)?,
        };
        if self.players.insert(board.clone(), players).is_some() {
            return Err(Wrong::Twice(board));
        }
        Ok(())
    }
}

/// The board with this name, else the one with this number.
fn find(text: &str, boards: &[BoardName]) -> Result<BoardName, Wrong> {
    if text.is_empty() {
        return Err(Wrong::NoBoard);
    }
    let named = boards.iter().find(|board| board.as_str() == text);
    let numbered = || boards.get(text.parse::<usize>().ok()?.checked_sub(1)?);
    let found = named.or_else(numbered).cloned();
    found.ok_or_else(|| {
        let names: Vec<&str> = boards.iter().map(BoardName::as_str).collect();
        Wrong::UnknownBoard {
            name: short(text),
            boards: names.join(", "),
        }
    })
}

fn name(text: &str) -> Result<String, Wrong> {
    if text.chars().count() > MAX_NAME || !text.chars().all(is_plain) {
        return Err(Wrong::Name(short(text)));
    }
    Ok(text.to_owned())
}

/// A number; nothing and 0 are none.
fn number(text: &str, most: u32) -> Result<Option<u32>, String> {
    if matches!(text, "" | "?" | "-") {
        return Ok(None);
    }
    let number: Option<u32> = text.parse().ok().filter(|number| *number <= most);
    let number = number.ok_or_else(|| short(text))?;
    Ok((number > 0).then_some(number))
}

/// Whether a line says nothing but that this separates the cells.
fn only_tells(line: &str, separator: char) -> bool {
    let told = line.trim_end_matches(' ').strip_suffix(separator);
    told.is_some_and(|rest| rest.eq_ignore_ascii_case(SEPARATOR_LINE))
}

/// The cells of a line of CSV (RFC 4180), without the blanks around them.
fn cells(line: &str, separator: char) -> Result<Vec<String>, Wrong> {
    let mut cells = Vec::new();
    let mut cell = String::new();
    let mut chars = line.chars().peekable();
    let mut quoted = false;
    while let Some(c) = chars.next() {
        match c {
            '"' if quoted && chars.peek() == Some(&'"') => {
                chars.next();
                cell.push('"');
            }
            '"' if quoted => quoted = false,
            '"' if cell.trim().is_empty() => quoted = true,
            c if c == separator && !quoted => {
                cells.push(cell.trim().to_owned());
                cell.clear();
            }
            c => cell.push(c),
        }
    }
    if quoted {
        return Err(Wrong::OpenQuote);
    }
    cells.push(cell.trim().to_owned());
    Ok(cells)
}

/// The name and the value of a tag, after its bracket.
fn read_tag(inner: &str) -> Option<(String, String)> {
    let inner = inner.strip_suffix(']')?;
    let (name, value) = inner.split_once(char::is_whitespace)?;
    let value = value.trim().strip_prefix('"')?.strip_suffix('"')?;
    let mut text = String::new();
    let mut chars = value.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => text.push(chars.next()?),
            '"' => return None,
            c => text.push(c),
        }
    }
    Some((name.to_owned(), text.trim().to_owned()))
}
