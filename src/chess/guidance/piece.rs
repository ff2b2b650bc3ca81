//! A piece in words.

use std::fmt;

use shakmaty::{Piece, Role};

/// A piece in words, for instance `white queen`.
pub fn name(piece: Piece) -> impl fmt::Display {
    called(Some(piece))
}

/// The same, also for an unknown piece.
pub(super) fn called(piece: Option<Piece>) -> impl fmt::Display {
    fmt::from_fn(move |f| {
        let Some(piece) = piece else {
            return f.write_str("piece");
        };
        let color = piece.color.fold_wb("white", "black");
        let role = match piece.role {
            Role::Pawn => "pawn",
            Role::Knight => "knight",
            Role::Bishop => "bishop",
            Role::Rook => "rook",
            Role::Queen => "queen",
            Role::King => "king",
        };
        write!(f, "{color} {role}")
    })
}
