//! A game of chess as kept by a simulated board, a player or an app.

use std::fmt;

use shakmaty::{
    CastlingMode, Chess, Color, EnPassantMode, File, Move, Position,
    fen::Fen,
    uci::{IllegalUciMoveError, ParseUciMoveError, UciMove},
};
use thiserror::Error;

/// A start position, the moves played from it, and the position they lead to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Game {
    start: Chess,
    moves: Vec<Move>,
    position: Chess,
}

/// Why a text is not a valid game.
#[derive(Debug, Error)]
pub enum GameError {
    /// A move is not written in UCI notation.
    #[error("move {ply} (`{text}`) is not a move in UCI notation, such as e2e4 or e7e8q: {source}")]
    Notation {
        /// Counted from 1.
        ply: usize,
        /// The text given.
        text: String,
        /// The error of shakmaty.
        source: ParseUciMoveError,
    },
    /// A move is illegal in its position.
    #[error("move {ply} (`{uci}`) is illegal in the position it is played in")]
    Illegal {
        /// Counted from 1.
        ply: usize,
        /// The move given.
        uci: UciMove,
        /// The error of shakmaty.
        source: IllegalUciMoveError,
    },
}

impl Game {
    /// The standard start position, nothing played.
    pub fn standard() -> Self {
        Self::default()
    }

    /// A game that starts from `start`.
    pub fn from_start(start: Chess) -> Self {
        Self {
            position: start.clone(),
            start,
            moves: Vec::new(),
        }
    }

    /// A game with these moves, up to the first illegal one.
    pub fn of(start: &Chess, moves: &[Move]) -> Self {
        let mut game = Self::from_start(start.clone());
        // `all` stops at the first move that is not played.
        let _ = moves.iter().all(|&m| game.push(m));
        game
    }

    /// Plays moves given as text in UCI notation.
    ///
    /// # Errors
    /// The first text that is not a legal move; the moves before it are played.
    pub fn play_uci<'a>(
        &mut self,
        moves: impl IntoIterator<Item = &'a str>,
    ) -> Result<(), GameError> {
        for text in moves {
            let ply = self.len() + 1;
            let uci: UciMove = text.parse().map_err(|source| GameError::Notation {
                ply,
                text: text.chars().take(16).collect(),
                source,
            })?;
            let m = uci
                .to_move(&self.position)
                .map_err(|source| GameError::Illegal { ply, uci, source })?;
            self.push(m);
        }
        Ok(())
    }

    /// Plays a move; `false` if it is illegal, and then it is not played.
    pub fn push(&mut self, m: Move) -> bool {
        let legal = self.position.is_legal(m);
        if legal {
            self.position.play_unchecked(m);
            self.moves.push(m);
        }
        legal
    }

    /// Takes the last move back and returns it.
    pub fn pop(&mut self) -> Option<Move> {
        let last = self.moves.pop()?;
        self.position = self.position_at(self.len());
        Some(last)
    }

    /// The position before the first move.
    pub fn start(&self) -> &Chess {
        &self.start
    }

    /// Whether the game began from the standard start position.
    pub fn is_standard(&self) -> bool {
        self.start == Chess::new()
    }

    /// The moves played, first to last.
    pub fn moves(&self) -> &[Move] {
        &self.moves
    }

    /// The last move played.
    pub fn last(&self) -> Option<Move> {
        self.moves.last().copied()
    }

    /// Moves played.
    pub fn len(&self) -> usize {
        self.moves.len()
    }

    /// Whether nothing has been played.
    pub fn is_empty(&self) -> bool {
        self.moves.is_empty()
    }

    /// The position after the last move.
    pub fn position(&self) -> &Chess {
        &self.position
    }

    /// The side to move.
    pub fn turn(&self) -> Color {
        self.position.turn()
    }

    /// The position after the first `plies` moves (after all of them, if there are fewer).
    pub fn position_at(&self, plies: usize) -> Chess {
        let mut position = self.start.clone();
        for &m in self.moves.iter().take(plies) {
            position.play_unchecked(m);
        }
        position
    }

    /// The position after the last move as FEN.
    pub fn fen(&self) -> Fen {
        Fen::from_position(&self.position, EnPassantMode::Legal)
    }
}

impl fmt::Display for Game {
    /// The last position, and the moves that led to it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} after", self.fen())?;
        let mut moves = self.moves.iter();
        moves.try_for_each(|&m| write!(f, " {}", uci(m)))
    }
}

/// A move in UCI notation: castling as the king's two squares, or, in Chess960, as the king's and the rook's.
pub fn uci(m: Move) -> UciMove {
    let moved = |king: File, rook: File| king != File::E || !matches!(rook, File::A | File::H);
    let chess960 = matches!(m, Move::Castle { king, rook } if moved(king.file(), rook.file()));
    m.to_uci(CastlingMode::from_chess960(chess960))
}
