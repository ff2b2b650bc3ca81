//! How a person understands what a board shows.

use shakmaty::{Bitboard, Chess, Move, Position, Role, Square, san::San, uci::UciMove};

use crate::gesture::{legs, squares as squares_of};

/// The legal move whose squares are lit: in castling the king's, or all four; en passant perhaps the captured pawn's too; in a promotion a
/// queen is meant.
pub(super) fn of_squares(position: &Chess, squares: &[Square]) -> Option<Move> {
    let lit: Bitboard = squares.iter().copied().collect();
    position.legal_moves().into_iter().find(|m| {
        let legs = legs(*m);
        let set = |count| -> Bitboard {
            let some = legs.iter().take(count);
            some.flat_map(|(from, to)| [*from, *to]).collect()
        };
        let to_queen = m.promotion().is_none_or(|role| role == Role::Queen);
        let with_victim = || squares_of(*m).into_iter().collect::<Bitboard>();
        to_queen && (lit == set(1) || lit == set(legs.len()) || lit == with_victim())
    })
}

/// The legal move that a text names, in UCI notation or in SAN. Spaces, hyphens and dots do not count: clocks show
/// `e2-e4` and `12.Nf3`.
pub(super) fn of_text(position: &Chess, text: &str) -> Option<Move> {
    let word: String = text
        .trim_start_matches(|c: char| c.is_ascii_digit() || c == '.' || c == ' ')
        .chars()
        .filter(|c| !c.is_whitespace())
        .collect();
    if let Ok(san) = word.parse::<San>()
        && let Ok(m) = san.to_move(position)
    {
        return Some(m);
    }
    let squares: String = word
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .map(|c| c.to_ascii_lowercase())
        .collect();
    squares.parse::<UciMove>().ok()?.to_move(position).ok()
}

#[cfg(test)]
mod tests {
    use shakmaty::{CastlingMode, fen::Fen};

    use super::*;

    #[test]
    fn a_text_is_understood_in_each_notation_and_nothing_else() {
        let position = Chess::new();
        let squares = |text| of_text(&position, text).and_then(|m| Some((m.from()?, m.to())));
        for text in ["e2e4", "e2-e4", "E2E4", " e2 e4  ", "1.e4", "e4", "1. e2e4"] {
            assert_eq!(squares(text), Some((Square::E2, Square::E4)), "{text}");
        }
        assert_eq!(squares("Nf3"), Some((Square::G1, Square::F3)));
        for text in ["", "e2e5", "hello", "12:30", "e2"] {
            assert_eq!(squares(text), None, "{text}");
        }
    }

    #[test]
    fn the_captured_pawn_may_be_lit_too() {
        let fen: Fen = "4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1".parse().unwrap();
        let position = fen.into_position(CastlingMode::Standard).unwrap();
        let lit = [Square::E5, Square::D5, Square::D6];
        let m = of_squares(&position, &lit);
        assert!(m.is_some_and(Move::is_en_passant));
    }

    #[test]
    fn the_squares_of_no_legal_move_show_nothing() {
        let position = Chess::new();
        let found = |squares: &[Square]| of_squares(&position, squares);
        assert!(found(&[Square::E4, Square::E2]).is_some());
        assert_eq!(found(&[Square::E2]), None);
        assert_eq!(found(&[Square::E2, Square::E5]), None);
        assert_eq!(found(&[]), None);
    }
}
