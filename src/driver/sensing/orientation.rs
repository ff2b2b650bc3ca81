//! Which way round the board lies.

use serde::{Deserialize, Deserializer, Serialize};
use shakmaty::{Bitboard, Board, Square};

use crate::text::toml_value::text;

/// The key `orientation`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Orientation {
    /// As the pieces show.
    #[default]
    Auto,
    /// White sits where the board expects it.
    Normal,
    /// Black sits there.
    Turned,
}

/// Reads the key.
///
/// # Errors
/// Another word than the three.
pub fn orientation<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Orientation, D::Error> {
    text(deserializer, "\"auto\", \"normal\" or \"turned\"")
}

/// Squares by which one way round must be nearer than the other. At the start it is by 32; a few pieces of a position of one's own are
/// as near either way.
const MARGIN: usize = 8;

/// Turns what the board says and what it is to light.
#[derive(Clone, Copy, Debug)]
pub struct Turn {
    setting: Orientation,
    /// Whether the board lies the other way round; `None` until the pieces have shown it.
    turned: Option<bool>,
    /// What was known before a first move showed something else: it may have been a slip of the other side.
    before: Option<bool>,
}

impl Turn {
    /// By this setting.
    pub fn new(setting: Orientation) -> Self {
        Self {
            setting,
            before: None,
            turned: match setting {
                Orientation::Auto => None,
                Orientation::Normal => Some(false),
                Orientation::Turned => Some(true),
            },
        }
    }

    /// Whether the board lies the other way round, if that is known.
    pub fn turned(self) -> Option<bool> {
        self.turned
    }

    /// Goes on as before a restart.
    pub fn recall(&mut self, turned: Option<bool>) {
        if self.setting == Orientation::Auto {
            self.turned = turned;
        }
    }

    /// The pieces as the players see them. `wanted`: how they should stand.
    ///
    /// All 64 squares are compared with that and with the start position, both ways round. Until one way was much nearer, the board is
    /// taken to lie as it expects. After that only pieces that stand exactly as they should, or at the start, turn it.
    pub fn pieces(&mut self, raw: &Board, wanted: &Board) -> Board {
        let mut other = raw.clone();
        other.rotate_180();
        if self.setting == Orientation::Auto {
            let start = Board::new();
            let wrong = |board: &Board| distance(board, wanted).min(distance(board, &start));
            let (plain, turned) = (wrong(raw), wrong(&other));
            let exact = plain.min(turned) == 0 && plain != turned;
            let told = exact || self.turned.is_none() && plain.abs_diff(turned) >= MARGIN;
            if told {
                self.turned = Some(turned < plain);
            }
        }
        if self.turned == Some(true) {
            other
        } else {
            raw.clone()
        }
    }

    /// The occupied squares as the players see them, for a board that does not tell its pieces apart. It lies the other way round
    /// if they stand as they may that way and no other. `may`: as they may stand. `anew`: they may turn it although that is known.
    pub fn squares(
        &mut self,
        raw: Bitboard,
        anew: bool,
        may: impl Fn(Bitboard) -> bool,
    ) -> Bitboard {
        let other = raw.rotate_180();
        if self.setting == Orientation::Auto && (anew || self.turned.is_none()) {
            let (plain, turned) = (may(raw), may(other));
            if plain != turned {
                self.before = self.turned.replace(turned).filter(|was| *was != turned);
            } else if raw == Board::new().occupied() {
                // It was taken back.
                self.turned = self.before.take().or(self.turned);
            }
        }
        if self.turned == Some(true) {
            other
        } else {
            raw
        }
    }

    /// A square as the board numbers it.
    pub fn square(self, square: Square) -> Square {
        if self.turned == Some(true) {
            square.rotate_180()
        } else {
            square
        }
    }

    /// The pieces as the board numbers its squares. Until it has shown how it lies, it is taken to lie as it expects.
    pub fn placement(self, board: &Board) -> Board {
        let mut board = board.clone();
        if self.turned == Some(true) {
            board.rotate_180();
        }
        board
    }

    /// The squares to light as the board numbers them.
    pub fn lights(self, squares: Bitboard) -> Bitboard {
        if self.turned == Some(true) {
            squares.rotate_180()
        } else {
            squares
        }
    }
}

/// The squares on which two placements differ.
fn distance(one: &Board, other: &Board) -> usize {
    let differ = |square: &Square| one.piece_at(*square) != other.piece_at(*square);
    Square::ALL.into_iter().filter(differ).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turned(board: &Board) -> Board {
        let mut board = board.clone();
        board.rotate_180();
        board
    }

    #[test]
    fn the_start_shows_which_way_the_board_lies_and_its_lights_follow() {
        let start = Board::new();
        let mut turn = Turn::new(Orientation::Auto);
        assert_eq!(turn.pieces(&turned(&start), &start), start);
        assert_eq!(turn.turned(), Some(true));
        let e2 = Bitboard::from_square(Square::E2);
        assert_eq!(turn.lights(e2), Bitboard::from_square(Square::D7));
        // A piece in the hand changes nothing.
        let mut lifted = start.clone();
        lifted.discard_piece_at(Square::E2);
        assert_eq!(turn.pieces(&turned(&lifted), &start), lifted);
        // The players have changed sides.
        assert_eq!(turn.pieces(&start, &start), start);
        assert_eq!(turn.turned(), Some(false));
    }

    #[test]
    fn a_placement_that_fits_both_ways_shows_nothing() {
        let empty = Board::empty();
        let mut turn = Turn::new(Orientation::Auto);
        assert_eq!(turn.pieces(&empty, &Board::new()), empty);
        assert_eq!(turn.turned(), None);
    }

    #[test]
    fn a_first_move_shows_how_a_board_of_squares_lies_unless_it_is_taken_back() {
        let start = Board::new().occupied();
        let pushed = start ^ Bitboard::from(Square::E7) ^ Bitboard::from(Square::E5);
        let opened = start ^ Bitboard::from(Square::D2) ^ Bitboard::from(Square::D4);
        let may = |full| full == opened;
        let mut turn = Turn::new(Orientation::Auto);
        turn.recall(Some(false));
        // Black was too quick.
        assert_eq!(turn.squares(pushed, true, may), opened);
        assert_eq!(turn.squares(start, true, may), start);
        assert_eq!(turn.turned(), Some(false));
        // White sits there now.
        assert_eq!(turn.squares(pushed, true, may), opened);
        assert_eq!(turn.turned(), Some(true));
    }

    #[test]
    fn a_setting_is_not_overruled_by_the_pieces() {
        let start = Board::new();
        let mut turn = Turn::new(Orientation::Normal);
        turn.recall(Some(true));
        assert_eq!(turn.pieces(&turned(&start), &start), turned(&start));
    }
}
