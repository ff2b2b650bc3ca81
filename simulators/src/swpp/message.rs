//! Messages as bytes: lines, and their parts.

use std::{fmt, ops::Range};

use shakmaty::{Color, Move, Position, Role, Square};

use super::style::MOVE_WIDTH;
use crate::game::{Game, uci};

/// The longest line read, bytes. The document's longest message is the board's answer: 12 characters and
/// a serial number, which is never longer than this in practice.
pub(super) const MAX_LINE: usize = 256;
/// How much of a line is quoted, bytes.
const QUOTE: usize = 40;

/// Bytes on their way to a line.
#[derive(Debug, Default)]
pub(super) struct Lines {
    line: Vec<u8>,
    overlong: bool,
}

/// What ended with a LF.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// These bytes, without the LF.
    Whole(Vec<u8>),
    /// More than [`MAX_LINE`] bytes.
    Overlong,
}

impl Lines {
    /// Takes a byte; a LF ends a line.
    pub fn push(&mut self, byte: u8) -> Option<Line> {
        if byte == b'\n' {
            let line = std::mem::take(&mut self.line);
            return Some(if std::mem::take(&mut self.overlong) {
                Line::Overlong
            } else {
                Line::Whole(line)
            });
        }
        if self.line.len() < MAX_LINE {
            self.line.push(byte);
        } else {
            self.overlong = true;
        }
        None
    }
}

/// The last line begun, complete or not: enough of it to recognise it.
#[derive(Debug, Default)]
pub(super) struct Heard {
    line: Vec<u8>,
    ended: bool,
}

impl Heard {
    /// Takes a byte; empty lines are ignored.
    pub fn push(&mut self, byte: u8) {
        if matches!(byte, b'\r' | b'\n') {
            self.ended = true;
            return;
        }
        if std::mem::take(&mut self.ended) {
            self.line.clear();
        }
        if self.line.len() < QUOTE {
            self.line.push(byte);
        }
    }

    /// The input since the last call, for a report.
    pub fn take(&mut self) -> Option<String> {
        let heard = std::mem::take(self);
        (!heard.line.is_empty()).then(|| quoted(&heard.line))
    }
}

/// A game as it is announced: `NG` and these two characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NewGame {
    /// Offline (0), against an engine (1), on `WhitePawn` (2), on Lichess (3).
    pub kind: u8,
    /// The app waits for the board's move: the board's player moves first.
    pub board_first: bool,
}

impl NewGame {
    /// What stands after `NG`.
    pub(super) fn read(field: &[u8]) -> Option<Self> {
        match field {
            [kind @ b'0'..=b'3', waits @ (b'Y' | b'N')] => Some(Self {
                kind: kind - b'0',
                board_first: *waits == b'Y',
            }),
            _ => None,
        }
    }

    /// Whether the board makes this side's moves.
    pub fn board_has(self, color: Color) -> bool {
        self.kind == 0 || color.is_white() == self.board_first
    }
}

impl fmt::Display for NewGame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let waits = if self.board_first { 'Y' } else { 'N' };
        write!(f, "{}{waits}", self.kind)
    }
}

/// A move as it is written: squares and perhaps a promotion, or castling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Written {
    /// `e2e4`, `e7e8q`.
    Squares(Square, Square, Option<Role>),
    /// `0-0`, `0-0-0`.
    Castling {
        /// `0-0`.
        short: bool,
    },
}

impl Written {
    /// Reads the five characters after `MA` or `MB`, exactly as the documents have them.
    pub fn read(field: &[u8]) -> Option<Self> {
        let field = std::str::from_utf8(field)
            .ok()
            .filter(|field| field.len() == MOVE_WIDTH)?;
        let text = field.trim_start_matches(' ');
        match text {
            "0-0" => return Some(Self::Castling { short: true }),
            "0-0-0" => return Some(Self::Castling { short: false }),
            _ => {}
        }
        let square = |at: Range<usize>| Square::from_ascii(text.get(at)?.as_bytes()).ok();
        let promotion = match text.get(4..)? {
            "" => None,
            "q" => Some(Role::Queen),
            "r" => Some(Role::Rook),
            "b" => Some(Role::Bishop),
            "n" => Some(Role::Knight),
            _ => return None,
        };
        Some(Self::Squares(square(0..2)?, square(2..4)?, promotion))
    }

    /// The legal move it means. Castling by the king's squares counts only where `king_castles`.
    pub fn in_game(self, game: &Game, king_castles: bool) -> Option<Move> {
        let moves = game.position().legal_moves();
        moves.into_iter().find(|&m| self.means(m, king_castles))
    }

    /// Whether it means this move.
    pub fn means(self, m: Move, king_castles: bool) -> bool {
        match (self, m) {
            (Self::Castling { short }, Move::Castle { king, rook }) => short == (rook > king),
            (Self::Castling { .. }, _) => false,
            (Self::Squares(..), Move::Castle { .. }) if !king_castles => false,
            (Self::Squares(from, to, promotion), _) => {
                let squares = uci(m);
                (squares.from(), squares.to()) == (Some(from), Some(to))
                    && (m.promotion() == promotion
                        || (promotion.is_none() && m.promotion() == Some(Role::Queen)))
            }
        }
    }
}

/// A line for a report.
pub(super) fn quoted(line: &[u8]) -> String {
    format!("`{}`", line[..line.len().min(QUOTE)].escape_ascii())
}

/// Whether these are exactly `count` hexadecimal digits.
pub(super) fn is_hex(digits: &[u8], count: usize) -> bool {
    digits.len() == count && digits.iter().all(u8::is_ascii_hexdigit)
}
