//! Parses and formats the Citrine's lines. Source: "Communicating with the Novag Citrine" (2016) and the manuals of
//! its sister boards; see `PROTOCOL.md`.

use shakmaty::{
    Bitboard, Board, CastlingSide, Chess, Color, File, Move, Piece, Position, Rank, Role, Square,
};

use crate::vocabulary::BoardKind;
use crate::vocabulary::{BoardResult, Reported, Wording};

/// Its kind.
pub const KIND: BoardKind = BoardKind::new("novag-citrine");

/// One line from the board.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Message {
    /// `M   1,  e7-e5`: a move was made, or a move sent to the board was accepted; its number, as printed.
    Moved(usize, Reported),
    /// `T   4   d1xd4`: a move was taken back.
    TookBack(Reported),
    /// `M#5`: the game is over.
    Ended(BoardResult),
    /// `New Game`.
    NewGame,
    /// `Game   6`: the head of the answer to `G`.
    GameHead,
    /// `.   1  e2-e4       e7-e5`: a row of the answer to `G`.
    GameRow {
        /// The move number printed.
        number: usize,
        /// White's move, unless the list begins with Black's.
        white: Option<Reported>,
        /// Black's move, unless the list ends before it.
        black: Option<Reported>,
    },
    /// A row of the answer to `P`: eight squares, the a-file first, and the side to move if this row gives it.
    GridRow([Option<Piece>; 8], Option<Color>),
    /// The answer to `I`.
    Id(String),
    /// Any other printable line: an answer to a setting, or something that this program does not use.
    Other(String),
    /// A damaged line: unprintable bytes, or an invalid move.
    Damaged,
}

/// Reads one line (without its end).
pub fn parse(line: &[u8]) -> Message {
    let Ok(text) = std::str::from_utf8(line) else {
        return Message::Damaged;
    };
    if text.chars().any(|c| c.is_control() && c != '\t') || !text.is_ascii() {
        return Message::Damaged;
    }
    // Some answers start with a dot: `.Referee on`, and every row of a list.
    let undotted = text.strip_prefix('.').unwrap_or(text);
    let trimmed = undotted.trim();
    // A row may begin with a light square, `..`, and no dot of its own.
    if let Some(row) = grid_row(text).or_else(|| grid_row(undotted)) {
        return row;
    }
    if let Some(code) = trimmed.strip_prefix("M#") {
        return result(code).map_or(Message::Damaged, Message::Ended);
    }
    if let Some(rest) = trimmed.strip_prefix('M').filter(|rest| starts_move(rest)) {
        return numbered_move(rest).map_or(Message::Damaged, |(number, reported)| {
            Message::Moved(number, reported)
        });
    }
    if let Some(rest) = trimmed.strip_prefix('T').filter(|rest| starts_move(rest)) {
        return numbered_move(rest).map_or(Message::Damaged, |(_, reported)| {
            Message::TookBack(reported)
        });
    }
    if trimmed.eq_ignore_ascii_case("New Game") {
        return Message::NewGame;
    }
    if let Some(rest) = trimmed.strip_prefix("Game")
        && rest.trim().chars().all(|c| c.is_ascii_digit())
    {
        return Message::GameHead;
    }
    if let Some(id) = trimmed.strip_prefix("ID") {
        return Message::Id(id.trim_start_matches(['.', ' ']).to_owned());
    }
    if trimmed.starts_with(|c: char| c.is_ascii_digit())
        && let Some(row) = game_row(trimmed)
    {
        return row;
    }
    Message::Other(trimmed.to_owned())
}

/// Whether what follows an `M` or `T` can only be a move line: blanks and a number.
fn starts_move(rest: &str) -> bool {
    rest.trim_start().starts_with(|c: char| c.is_ascii_digit())
}

/// `   1,  e7-e5 |` after the letter: the comma marks Black's move.
fn numbered_move(rest: &str) -> Option<(usize, Reported)> {
    let rest = rest.trim_start().trim_end_matches(['|', ' ']);
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let after = rest[digits..].trim_start_matches(['.', ' ']);
    let (color, words) = match after.strip_prefix(',') {
        Some(words) => (Color::Black, words),
        None => (Color::White, after),
    };
    // A number too long to parse is not a move number of any list.
    let number = rest[..digits].parse().unwrap_or(0);
    Some((number, move_words(words.trim(), color)?))
}

/// `e2-e4`, `Ng1-f3`, `f4xe5`, `e5xd6ep`, `d7-d8/N`, `O-O`, `0-0-0`.
fn move_words(words: &str, color: Color) -> Option<Reported> {
    let words = words.trim_end_matches(['+', '#']);
    let castle = words.replace('0', "O").to_ascii_uppercase();
    let wording = match castle.as_str() {
        "O-O" => Wording::Castle(CastlingSide::KingSide),
        "O-O-O" => Wording::Castle(CastlingSide::QueenSide),
        _ => squares(words)?,
    };
    Some(Reported {
        color: Some(color),
        wording,
    })
}

fn squares(words: &str) -> Option<Wording> {
    let words = words
        .strip_prefix(['K', 'Q', 'R', 'B', 'N', 'P'])
        .unwrap_or(words);
    let from = Square::from_ascii(words.get(..2)?.as_bytes()).ok()?;
    let rest = words[2..].trim_start_matches(['-', 'x']);
    let to = Square::from_ascii(rest.get(..2)?.as_bytes()).ok()?;
    let suffix = rest[2..].trim();
    let promotion = match suffix.strip_prefix(['/', '=']) {
        Some(piece) => {
            let mut letters = piece.chars();
            let role = Role::from_char(letters.next()?)?;
            if letters.next().is_some() || matches!(role, Role::King | Role::Pawn) {
                return None;
            }
            Some(role)
        }
        None if suffix.is_empty() || suffix.trim_end_matches('.').eq_ignore_ascii_case("ep") => {
            None
        }
        None => return None,
    };
    Some(Wording::Squares {
        from,
        to,
        promotion,
    })
}

fn result(code: &str) -> Option<BoardResult> {
    Some(match code.trim() {
        "1" => BoardResult::Repetition,
        "2" => BoardResult::FiftyMoves,
        "3" => BoardResult::InsufficientMaterial,
        "4" => BoardResult::Stalemate,
        "5" => BoardResult::Checkmate,
        "6" => BoardResult::BoardResigns,
        _ => return None,
    })
}

/// Where Black's moves can begin in a row of the answer to `G`, counted from its number: White's stand at 3 to 5,
/// Black's 12 further on.
const BLACK_COLUMN: usize = 10;

fn game_row(text: &str) -> Option<Message> {
    // "ep" may be separated from its move by a blank.
    let joined = text.replace(" ep", "ep");
    let mut words = joined.split_ascii_whitespace();
    let number: u16 = words.next()?.trim_end_matches(['.', ',']).parse().ok()?;
    let number = usize::from(number);
    let none = |word: &str| word.chars().all(|c| c == '.' || c == '-');
    let side = |word: Option<&str>, color| match word {
        None => Some(None),
        Some(word) if none(word) => Some(None),
        Some(word) => move_words(word, color).map(Some),
    };
    let (first, second) = (words.next(), words.next());
    // A list that begins with Black's move leaves White's column blank.
    let blank_white = second.is_none()
        && joined
            .trim_end()
            .rfind(' ')
            .is_some_and(|at| at + 1 >= BLACK_COLUMN);
    let (first, second) = if blank_white {
        (None, first)
    } else {
        (first, second)
    };
    let white = side(first, Color::White)?;
    let black = side(second, Color::Black)?;
    if words.next().is_some() || (white.is_none() && black.is_none()) {
        return None;
    }
    Some(Message::GameRow {
        number,
        white,
        black,
    })
}

/// Whether an unrecognised line contains a move: then it was a move message, and was damaged.
pub fn holds_move(text: &str) -> bool {
    let is_square = |bytes: &[u8]| matches!(bytes, [b'a'..=b'h', b'1'..=b'8']);
    let is_move = |bytes: &[u8]| {
        is_square(&bytes[..2]) && matches!(bytes[2], b'-' | b'x') && is_square(&bytes[3..])
    };
    text.as_bytes().windows(5).any(is_move) || text.contains("O-O")
}

/// A row of two-character cells: `br bn bb … :: WP`. Empty cells are `::`, `..`, `--` or blank.
fn grid_row(text: &str) -> Option<Message> {
    if !text.is_ascii() || text.len() < 2 {
        return None;
    }
    // The row may start with its rank number.
    let labelled = text
        .trim_start()
        .strip_prefix(|c: char| ('1'..='8').contains(&c))
        .filter(|rest| rest.starts_with(' '))
        .map(|rest| &rest[1..]);
    labelled
        .into_iter()
        .chain([text, text.trim_start()])
        .find_map(cells)
}

fn cells(text: &str) -> Option<Message> {
    let mut row = [None; 8];
    let mut known = 0;
    for (file, cell) in row.iter_mut().enumerate() {
        let at = file * 3;
        let word = match text.get(at..at + 2) {
            Some(word) => word,
            // Blanks at the end of the line may be missing.
            None if text.len() <= at => "  ",
            None => return None,
        };
        match word {
            "::" | ".." | "--" => known += 1,
            "  " => {}
            _ => {
                let mut letters = word.chars();
                let color = match letters.next()? {
                    'b' | 'B' => Color::Black,
                    'w' | 'W' => Color::White,
                    _ => return None,
                };
                *cell = Some(Piece {
                    color,
                    role: Role::from_char(letters.next()?)?,
                });
                known += 1;
            }
        }
        if file < 7 && !matches!(text.as_bytes().get(at + 2), None | Some(b' ')) {
            return None;
        }
    }
    let turn = match text.get(23..).unwrap_or("").trim() {
        "" => None,
        "+" => Some(Color::White),
        "-" => Some(Color::Black),
        _ => return None,
    };
    // A line of blanks is not a row: half of a row's squares are dark and never blank.
    (known >= 4).then_some(Message::GridRow(row, turn))
}

/// Builds a board from eight rows, the first being the rank `first`.
pub fn grid(rows: &[[Option<Piece>; 8]], first: Rank) -> Board {
    let mut board = Board::empty();
    for (index, row) in (0u32..).zip(rows.iter().take(8)) {
        let rank = match first {
            Rank::Eighth => Rank::new(7 - index),
            _ => Rank::new(index),
        };
        for (file, piece) in File::ALL.into_iter().zip(row) {
            if let Some(piece) = *piece {
                board.set_piece_at(Square::from_coords(file, rank), piece);
            }
        }
    }
    board
}

/// The command that makes a move: `me7e5`, `mO-O`, `me7e8/N`.
pub fn show(m: Move) -> String {
    if let Some(side) = m.castling_side() {
        return match side {
            CastlingSide::KingSide => "mO-O".to_owned(),
            CastlingSide::QueenSide => "mO-O-O".to_owned(),
        };
    }
    let mut command = String::from("m");
    if let Some(from) = m.from() {
        command.push_str(&from.to_string());
    }
    command.push_str(&m.to().to_string());
    if let Some(role) = m.promotion() {
        command.push('/');
        command.push(role.upper_char());
    }
    command
}

/// The command that sets up a position: `pc`, White's pieces, Black's each preceded by `b`, the side to move.
///
/// As one public driver does it; unverified on other firmware, so the driver checks the board's squares afterwards.
pub fn set_up(position: &Chess) -> String {
    let mut command = String::from("pc");
    for color in [Color::White, Color::Black] {
        for square in Bitboard::FULL {
            let Some(piece) = position.board().piece_at(square) else {
                continue;
            };
            if piece.color == color {
                if color == Color::Black {
                    command.push('b');
                }
                command.push(piece.role.char());
                command.push_str(&square.to_string());
            }
        }
    }
    command.push(position.turn().fold_wb('+', '-'));
    command
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn moved(color: Color, from: Square, to: Square, promotion: Option<Role>) -> Reported {
        Reported {
            color: Some(color),
            ..Reported::squares(from, to, promotion)
        }
    }

    #[test]
    fn every_wording_of_a_move_is_read() {
        use Color::{Black, White};
        for (line, expected) in [
            ("M   1   e2-e4", moved(White, Square::E2, Square::E4, None)),
            ("M   1,  e7-e5", moved(Black, Square::E7, Square::E5, None)),
            ("M   7,  c5xd4", moved(Black, Square::C5, Square::D4, None)),
            ("M 1 e2-e4 |", moved(White, Square::E2, Square::E4, None)),
            ("M   2   Ng1-f3", moved(White, Square::G1, Square::F3, None)),
            ("M  12   Bb5xc6", moved(White, Square::B5, Square::C6, None)),
            (
                "M   7   e5xd6ep",
                moved(White, Square::E5, Square::D6, None),
            ),
            (
                "M   5   d7-d8/N",
                moved(White, Square::D7, Square::D8, Some(Role::Knight)),
            ),
            (
                "M  40,  a2xb1/q",
                moved(Black, Square::A2, Square::B1, Some(Role::Queen)),
            ),
        ] {
            assert!(
                matches!(parse(line.as_bytes()), Message::Moved(_, made) if made == expected),
                "{line}"
            );
        }
        for (line, side) in [
            ("M   4   O-O", CastlingSide::KingSide),
            ("M   4   0-0", CastlingSide::KingSide),
            ("M   5   O-O-O", CastlingSide::QueenSide),
            ("M   5   0-0-0 |", CastlingSide::QueenSide),
        ] {
            let expected = Reported {
                color: Some(White),
                wording: Wording::Castle(side),
            };
            assert!(
                matches!(parse(line.as_bytes()), Message::Moved(_, made) if made == expected),
                "{line}"
            );
        }
    }

    #[test]
    fn a_take_back_is_not_a_move() {
        assert_eq!(
            parse(b"T   4   d1xd4"),
            Message::TookBack(moved(Color::White, Square::D1, Square::D4, None))
        );
    }

    #[test]
    fn identities_differ_in_their_punctuation_only() {
        for (line, id) in [
            ("ID.UCBII V1.09", "UCBII V1.09"),
            ("ID. UCBII V1.09", "UCBII V1.09"),
            ("ID SAPPHIRE II 1.02", "SAPPHIRE II 1.02"),
        ] {
            assert_eq!(parse(line.as_bytes()), Message::Id(id.to_owned()));
        }
    }

    #[test]
    fn a_list_that_ends_with_whites_en_passant_has_it_for_white() {
        for text in ["  10  e5xd6 ep", "  10  e5xd6ep"] {
            let row = parse(text.as_bytes());
            let Message::GameRow { white, black, .. } = row else {
                panic!("{text}: {row:?}");
            };
            assert!(white.is_some() && black.is_none(), "{text}");
        }
    }

    #[test]
    fn a_damaged_move_is_said_to_be_damaged() {
        for line in [&b"M   1   e2-e"[..], b"M   1   e2-z4", b"M#9", b"M   \xff1"] {
            assert_eq!(parse(line), Message::Damaged, "{line:?}");
        }
    }

    #[test]
    fn a_row_of_a_list_has_a_number_that_a_game_can_have() {
        let row = |number: &str| parse(format!(".   {number}  e2-e4").as_bytes());
        assert!(matches!(row("300"), Message::GameRow { number: 300, .. }));
        for number in ["18446744073709551615", "9223372036854775808"] {
            assert!(!matches!(row(number), Message::GameRow { .. }), "{number}");
        }
    }

    #[test]
    fn a_grid_row_is_read_with_and_without_blanks_and_labels() {
        let start = Board::new();
        let Message::GridRow(row, None) = parse(b"br bn bb bq bk bb bn br") else {
            panic!("not a grid row");
        };
        assert_eq!(row[3], start.piece_at(Square::D8));
        for line in [
            "::    :: WP ::    ::   ",
            ".8 ::    :: WP ::    ::",
            ".. :: .. WP .. :: .. ::",
            "... :: .. WP .. :: .. ::",
        ] {
            let Message::GridRow(row, None) = parse(line.as_bytes()) else {
                panic!("not a grid row: {line}");
            };
            assert_eq!(row[3], Some(Color::White.pawn()), "{line}");
            assert_eq!(row.iter().flatten().count(), 1, "{line}");
        }
        let Message::GridRow(_, turn) = parse(b"WR WN WB WQ WK WB WN WR -") else {
            panic!("not a grid row");
        };
        assert_eq!(turn, Some(Color::Black));
    }

    proptest! {
        #[test]
        fn any_line_is_read_without_fault(line in proptest::collection::vec(any::<u8>(), 0..64)) {
            let _ = parse(&line);
        }

        #[test]
        fn nearly_right_lines_are_read_without_fault(line in "[MT.G ]{0,2}[ 0-9,.]{0,6}[a-h1-8xO0/QN:W| -]{0,28}") {
            let _ = parse(line.as_bytes());
        }
    }
}
