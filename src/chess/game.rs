//! A game of chess as `BoardBridge` keeps it: a start position and the moves played from it.
//!
//! The same type serves as the game a board *holds*, the *target* a front-end states, and the game a
//! simulated hand plays. Text (FEN, UCI moves) is converted to it at the edges and nowhere else.

use std::{cell::RefCell, fmt, num::NonZeroU32, sync::Arc};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use shakmaty::{
    Board, CastlingMode, Chess, Color, EnPassantMode, File, Move, Position, PositionError, Rank,
    Role, Setup, Square, fen::Fen, san::SanPlus, uci::IllegalUciMoveError, uci::ParseUciMoveError,
    uci::UciMove,
};
use thiserror::Error;

/// The longest game accepted, in plies. The longest tournament game on record has 538; what a program sends is searched
/// repeatedly, which must not take long.
pub const MAX_PLIES: usize = 2_000;

/// Characters shown of an invalid FEN: a valid one has fewer than 100.
const MAX_SHOWN: usize = 100;

/// A start position, the moves played from it, and the position they lead to.
#[derive(Clone, Debug)]
pub struct Game {
    start: Chess,
    /// Shared by all clones until one of them is played on.
    line: Arc<Line>,
    position: Chess,
}

/// Moves that were played one after the other.
#[derive(Clone, Debug, Default)]
struct Line {
    moves: Vec<Move>,
    /// Each move as a number. Games are compared all the time, and numbers are compared as fast as memory.
    numbers: Vec<u16>,
}

impl Line {
    fn push(&mut self, m: Move) {
        self.moves.push(m);
        self.numbers.push(number(m));
    }

    fn truncated(&self, plies: usize) -> Self {
        Self {
            moves: self.moves[..plies].to_vec(),
            numbers: self.numbers[..plies].to_vec(),
        }
    }

    /// How many moves the two have in common.
    fn common(&self, other: &Self) -> usize {
        let (a, b) = (&self.numbers, &other.numbers);
        let shorter = a.len().min(b.len());
        if a[..shorter] == b[..shorter] {
            return shorter;
        }
        a.iter().zip(b).take_while(|(a, b)| a == b).count()
    }
}

/// A number that no other legal move of the same position has: six bits each for where it begins and ends, and three for the
/// piece that a pawn becomes. Castling ends on the rook, where no other move of a king can.
fn number(m: Move) -> u16 {
    let from = m.from().unwrap_or(m.to());
    let promotion = m.promotion().map_or(0, u16::from);
    u16::from(from) | u16::from(m.to()) << 6 | promotion << 12
}

/// Why a text is not a game.
#[derive(Debug, Error)]
pub enum GameError {
    /// The FEN does not parse.
    #[error("the FEN `{fen}` does not parse: {source}")]
    Fen {
        /// The text given.
        fen: String,
        /// The error from shakmaty.
        source: shakmaty::fen::ParseFenError,
    },
    /// The FEN parses but no legal game has this position.
    #[error("the FEN `{fen}` is not a legal position: {source}")]
    Position {
        /// The text given.
        fen: String,
        /// The error from shakmaty.
        source: Box<PositionError<Chess>>,
    },
    /// A move is not written in UCI notation.
    #[error("move {ply} (`{text}`) is not a move in UCI notation, such as e2e4 or e7e8q: {source}")]
    Notation {
        /// Counted from 1.
        ply: usize,
        /// The text given.
        text: String,
        /// The error from shakmaty.
        source: ParseUciMoveError,
    },
    /// A move is illegal where it is played.
    #[error("move {ply} (`{uci}`) is illegal in the position it is played in")]
    Illegal {
        /// Counted from 1.
        ply: usize,
        /// The move given.
        uci: UciMove,
        /// The error from shakmaty.
        source: IllegalUciMoveError,
    },
    /// More than [`MAX_PLIES`] moves.
    #[error("a game has at most {MAX_PLIES} moves here")]
    TooLong,
}

impl Default for Game {
    fn default() -> Self {
        Self::standard()
    }
}

impl PartialEq for Game {
    /// Whether both have the same start (move counters aside) and the same moves.
    fn eq(&self, other: &Self) -> bool {
        (Arc::ptr_eq(&self.line, &other.line) || self.line.numbers == other.line.numbers)
            && self.start == other.start
    }
}

impl Eq for Game {}

impl Game {
    /// The standard start position, nothing played.
    pub fn standard() -> Self {
        Self::from_start(Chess::new())
    }

    /// A game that starts from `start`.
    pub fn from_start(start: Chess) -> Self {
        Self {
            position: start.clone(),
            start,
            line: Arc::default(),
        }
    }

    /// A game that starts with these pieces. Castling is allowed where a king and a rook stand on their squares of standard
    /// chess. `None` if that is not a position of a game.
    pub fn of_pieces(board: &Board, turn: Color) -> Option<Self> {
        let mut setup = Setup::empty();
        setup.board = board.clone();
        setup.turn = turn;
        for color in Color::ALL {
            let at = |file| Square::from_coords(file, color.backrank());
            if board.piece_at(at(File::E)) != Some(color.king()) {
                continue;
            }
            for rook in [at(File::A), at(File::H)] {
                if board.piece_at(rook) == Some(color.rook()) {
                    setup.castling_rights.add(rook);
                }
            }
        }
        let start = setup
            .position::<Chess>(CastlingMode::Standard)
            .or_else(PositionError::ignore_impossible_check);
        start.ok().map(Self::from_start)
    }

    /// A game that starts from a FEN.
    ///
    /// Castling rights of Chess960 are understood in any usual writing (X-FEN, Shredder-FEN).
    /// Castling rights and en-passant squares that contradict the pieces are dropped, as chess GUIs do.
    ///
    /// # Errors
    /// [`GameError::Fen`] or [`GameError::Position`], with the text given.
    pub fn from_fen(fen: &str) -> Result<Self, GameError> {
        let shown = || fen.chars().take(MAX_SHOWN).collect();
        let parsed: Fen = fen.parse().map_err(|source| GameError::Fen {
            fen: shown(),
            source,
        })?;
        let mode = CastlingMode::detect(parsed.as_setup());
        let start = parsed
            .into_position::<Chess>(mode)
            .or_else(PositionError::ignore_invalid_castling_rights)
            .or_else(PositionError::ignore_invalid_ep_square)
            .or_else(PositionError::ignore_impossible_check)
            .map_err(|source| GameError::Position {
                fen: shown(),
                source: Box::new(source),
            })?;
        Ok(Self::from_start(start))
    }

    /// `startpos [moves …]` or `fen … [moves …]`.
    ///
    /// # Errors
    /// What is wrong with the FEN or with which move.
    pub fn from_words(words: &[&str]) -> Result<Self, GameError> {
        let moves_at = words.iter().position(|word| *word == "moves");
        let (start, moves) = match moves_at {
            Some(at) => (&words[..at], &words[at + 1..]),
            None => (words, &words[..0]),
        };
        let mut game = match start {
            ["startpos"] => Self::standard(),
            ["fen", fen @ ..] => Self::from_fen(&fen.join(" "))?,
            other => Self::from_fen(&other.join(" "))?,
        };
        game.play_uci(moves.iter().copied())?;
        Ok(game)
    }

    /// Plays moves given as text in UCI notation.
    ///
    /// # Errors
    /// The first text that is not a legal move, with its number; the moves before it have been played.
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
            if ply > MAX_PLIES {
                return Err(GameError::TooLong);
            }
            self.push(m);
        }
        Ok(())
    }

    /// Plays a move that is legal in [`Self::position`]. Returns `false`, without playing it, if it is illegal, or the game has
    /// [`MAX_PLIES`].
    pub fn push(&mut self, m: Move) -> bool {
        if self.len() >= MAX_PLIES {
            return false;
        }
        match self.position.clone().play(m) {
            Ok(next) => {
                self.position = next;
                Arc::make_mut(&mut self.line).push(m);
                true
            }
            Err(_) => false,
        }
    }

    /// Takes the last move back and returns it.
    pub fn pop(&mut self) -> Option<Move> {
        let last = self.last()?;
        *self = self.truncated(self.len() - 1);
        Some(last)
    }

    /// Keeps the first `plies` moves.
    pub fn truncated(&self, plies: usize) -> Self {
        if plies >= self.len() {
            return self.clone();
        }
        Self {
            start: self.start.clone(),
            line: Arc::new(self.line.truncated(plies)),
            position: self.position_at(plies),
        }
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
        &self.line.moves
    }

    /// The last move played.
    pub fn last(&self) -> Option<Move> {
        self.moves().last().copied()
    }

    /// The number of moves played.
    pub fn len(&self) -> usize {
        self.moves().len()
    }

    /// Whether no move has been played.
    pub fn is_empty(&self) -> bool {
        self.moves().is_empty()
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
        for &m in self.moves().iter().take(plies) {
            position.play_unchecked(m);
        }
        position
    }

    /// How many moves the two games have in common, or `None` if they start differently.
    pub fn common_plies(&self, other: &Self) -> Option<usize> {
        (self.start == other.start).then(|| self.line.common(&other.line))
    }

    /// Whether one of the two continues the other.
    pub fn is_in_line_with(&self, other: &Self) -> bool {
        self.common_plies(other) == Some(self.len().min(other.len()))
    }

    /// The game before its last move, if that was a double step which can be captured en passant: a position that is given piece by
    /// piece has no such right.
    pub fn without_en_passant(&self) -> Self {
        let en_passant = self.position.legal_ep_square().is_some();
        self.truncated(self.len().saturating_sub(usize::from(en_passant)))
    }

    /// Whether `self` continues `other` (or is equal to it).
    pub fn continues(&self, other: &Self) -> bool {
        self.common_plies(other) == Some(other.len())
    }

    /// `self` as a continuation of `known`, if it is one.
    ///
    /// GUIs differ: some send the whole game, some the position after the last capture and the moves since,
    /// some only the position on the board now. All of them mean one game. This finds `self`'s start among
    /// the positions of `known`, or one or two plies beyond its end. Of a position that has stood more than once, the counters of the
    /// FEN tell which one is meant; where they are not counted, it is the start if both begin there, else the last that stood.
    pub fn rebased(self, known: &Self) -> Self {
        // Knights may have gone out and back to the start, but then the move number differs from 1.
        let begins = self.is_standard() && self.start.fullmoves().get() == 1;
        let counters = |at: &Chess| (at.halfmoves(), at.fullmoves());
        let is_counted = |at: &Chess| counters(at) == counters(&self.start);
        if begins || self.start == known.start && is_counted(&known.start) {
            return self;
        }
        let mut at = known.start.clone();
        let (mut last, mut counted) = ((at == self.start).then_some(0), None);
        for (ply, &m) in known.moves().iter().enumerate() {
            at.play_unchecked(m);
            if at == self.start {
                last = Some(ply + 1);
                if is_counted(&at) {
                    counted = last;
                    break;
                }
            }
        }
        let fits = |next: &Self| last.is_none() || is_counted(&next.position);
        let stood = |plies: Option<usize>| plies.map(|plies| known.truncated(plies));
        let game = stood(counted)
            .or_else(|| known.bridged(&self.start).filter(fits))
            .or_else(|| stood(last.filter(|_| self.start != known.start)));
        let Some(mut game) = game.filter(|game| game.len() + self.len() <= MAX_PLIES) else {
            return self;
        };
        for &m in self.moves() {
            game.push(m);
        }
        game
    }

    /// Played on by the one or two moves that lead to this position, if they exist.
    fn bridged(&self, to: &Chess) -> Option<Self> {
        let mut game = self.clone();
        let bridge = explain(&self.position, to)?;
        bridge.into_iter().all(|m| game.push(m)).then_some(game)
    }

    /// The same game with its start one ply earlier, before the double step of a pawn, if the start has an en-passant right.
    ///
    /// A board that is given a position square by square does not know of such a right; one that is shown the step
    /// does.
    pub fn before_double_step(self) -> Self {
        let Some(to) = self.start.legal_ep_square() else {
            return self;
        };
        let mover = !self.start.turn();
        let square = |rank| Square::from_coords(to.file(), mover.relative_rank(rank));
        let (from, stepped) = (square(Rank::Second), square(Rank::Fourth));
        let mut setup = self.start.to_setup(EnPassantMode::Legal);
        setup.ep_square = None;
        setup.board.discard_piece_at(stepped);
        setup.board.set_piece_at(from, mover.pawn());
        setup.swap_turn();
        if mover.is_black() {
            let before = setup.fullmoves.get() - 1;
            setup.fullmoves = NonZeroU32::new(before).unwrap_or(setup.fullmoves);
        }
        let mode = CastlingMode::detect(&setup);
        let Ok(before) = setup.position::<Chess>(mode) else {
            return self;
        };
        let mut game = Self::from_start(before);
        let step = Move::Normal {
            role: Role::Pawn,
            from,
            capture: None,
            to: stepped,
            promotion: None,
        };
        let fits = self.len() < MAX_PLIES && game.push(step);
        if !fits || game.position != self.start {
            return self;
        }
        for &m in self.moves() {
            game.push(m);
        }
        game
    }

    /// The position after the last move, as FEN.
    pub fn fen(&self) -> Fen {
        fen(&self.position)
    }

    /// A move in SAN with its number: `3... Nf6`. Empty beyond the last.
    pub fn san(&self, ply: usize) -> String {
        let Some(&m) = self.moves().get(ply) else {
            return String::new();
        };
        let position = self.position_at(ply);
        let dots = position.turn().fold_wb(".", "...");
        let number = position.fullmoves();
        let san = SanPlus::from_move(position, m);
        format!("{number}{dots} {san}")
    }

    /// The moves in SAN, without numbers: `Nf6`.
    pub fn sans(&self) -> Vec<String> {
        self.sans_from(0)
    }

    /// The same without the first `plies`.
    pub fn sans_from(&self, plies: usize) -> Vec<String> {
        let mut at = self.position_at(plies);
        let mut san = |m: &Move| SanPlus::from_move_and_play_unchecked(&mut at, *m).to_string();
        self.moves().iter().skip(plies).map(&mut san).collect()
    }

    /// Whether the last position has occurred this many times (FIDE Laws of Chess 9.2.2: the same pieces, the same side to
    /// move, the same possible moves).
    pub fn has_stood(&self, times: u32) -> bool {
        // Between two occurrences both sides move a piece away and back: four plies without a capture or pawn move.
        if self.position.halfmoves() < 4 * times.saturating_sub(1) || self.pieces_stood() < times {
            return false;
        }
        let mut at = self.start.clone();
        let mut stood = u32::from(at == self.position);
        for &m in self.moves() {
            at.play_unchecked(m);
            stood += u32::from(at == self.position);
        }
        stood >= times
    }

    /// How many times the pieces stand as they do now, from the last capture, pawn move or castling on: at least as often as the
    /// position has occurred. The game need not be played through for it.
    fn pieces_stood(&self) -> u32 {
        let now = self.position.board();
        let (mut board, mut stood) = (now.clone(), 1);
        for m in self.moves().iter().rev() {
            let Move::Normal {
                role,
                from,
                capture: None,
                to,
                promotion: None,
            } = *m
            else {
                break;
            };
            let Some(piece) = board.remove_piece_at(to).filter(|_| role != Role::Pawn) else {
                break;
            };
            board.set_piece_at(from, piece);
            stood += u32::from(board == *now);
        }
        stood
    }

    /// The moves in UCI notation.
    pub fn uci_moves(&self) -> impl Iterator<Item = UciMove> + '_ {
        self.moves().iter().copied().map(uci)
    }
}

impl fmt::Display for Game {
    /// `startpos moves …` or `fen … moves …`, as the UCI command `position` writes a game.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_standard() {
            f.write_str("startpos")?;
        } else {
            write!(f, "fen {}", fen(&self.start))?;
        }
        write_moves(f, self.moves())
    }
}

/// ` moves …`, if there are any.
fn write_moves(f: &mut fmt::Formatter<'_>, moves: &[Move]) -> fmt::Result {
    if !moves.is_empty() {
        f.write_str(" moves")?;
        for m in moves {
            write!(f, " {}", uci(*m))?;
        }
    }
    Ok(())
}

thread_local! {
    /// The game of [`relative_to`]. In a thread-local because serde passes no context to nested values.
    static LINE: RefCell<Option<Game>> = const { RefCell::new(None) };
}

/// Begins the text of a game relative to another: `line 40 moves e7e5` adds one move to the first 40 of the other.
const LINE_WORD: &str = "line";

/// While `work` runs, a game is serialised as what it adds to `line`, so that its text does not grow with `line`. Such a text
/// can be read only in the same way, with the same `line`.
pub fn relative_to<R>(line: &Game, work: impl FnOnce() -> R) -> R {
    /// Restores the previous line, even if `work` panics.
    struct Restore(Option<Game>);
    impl Drop for Restore {
        fn drop(&mut self) {
            LINE.set(self.0.take());
        }
    }
    let _restore = Restore(LINE.replace(Some(line.clone())));
    work()
}

/// A game as what it adds to the line: see [`relative_to`].
struct Relative<'a> {
    game: &'a Game,
    common: usize,
}

impl fmt::Display for Relative<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{LINE_WORD} {}", self.common)?;
        write_moves(f, &self.game.moves()[self.common..])
    }
}

impl Serialize for Game {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let common = LINE.with_borrow(|line| self.common_plies(line.as_ref()?));
        match common {
            Some(common) => serializer.collect_str(&Relative { game: self, common }),
            None => serializer.collect_str(self),
        }
    }
}

impl<'de> Deserialize<'de> for Game {
    /// Reads what was serialised; every move is checked.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let words: Vec<&str> = text.split_whitespace().collect();
        let [LINE_WORD, common, moves @ ..] = words.as_slice() else {
            return Self::from_words(&words).map_err(de::Error::custom);
        };
        let known = LINE.with_borrow(|line| {
            let line = line.as_ref()?;
            let common = common.parse().ok().filter(|common| *common <= line.len())?;
            Some(line.truncated(common))
        });
        let mut game = known.ok_or_else(|| de::Error::custom("it is part of an unknown game"))?;
        let moves = moves.iter().copied().skip(1);
        game.play_uci(moves).map_err(de::Error::custom)?;
        Ok(game)
    }
}

/// A move in UCI notation: castling as the king's two squares, or, if it begins elsewhere than in standard chess, as
/// the king's and the rook's.
pub fn uci(m: Move) -> UciMove {
    m.to_uci(CastlingMode::from_chess960(is_chess960_castling(m)))
}

/// Whether a move is a castling with the king or the rook elsewhere than in standard chess.
pub fn is_chess960_castling(m: Move) -> bool {
    match m {
        Move::Castle { king, rook } => {
            king.file() != File::E || !matches!(rook.file(), File::A | File::H)
        }
        _ => false,
    }
}

/// The steps of the king and of the rook in such a castling.
pub fn chess960_steps(m: Move) -> Option<[(Square, Square); 2]> {
    let Move::Castle { king, rook } = m else {
        return None;
    };
    let side = m.castling_side().filter(|_| is_chess960_castling(m))?;
    let to = |file| Square::from_coords(file, king.rank());
    Some([
        (king, to(side.king_to_file())),
        (rook, to(side.rook_to_file())),
    ])
}

/// A position as FEN, with an en-passant square only where the capture is legal.
pub fn fen(position: &Chess) -> Fen {
    Fen::from_position(position, EnPassantMode::Legal)
}

/// One or two legal moves that lead from `from` to `to`, if they exist.
pub fn explain(from: &Chess, to: &Chess) -> Option<Vec<Move>> {
    // The side to move gives the parity: one ply or two.
    let one = from.turn() != to.turn();
    for m in from.legal_moves() {
        let mut next = from.clone();
        next.play_unchecked(m);
        if one {
            if next == *to {
                return Some(vec![m]);
            }
            continue;
        }
        // The first mover's pieces must end where its move left them, captures aside.
        if !(to.board().by_color(from.turn())).is_subset(next.board().by_color(from.turn())) {
            continue;
        }
        for reply in next.legal_moves() {
            let mut after = next.clone();
            after.play_unchecked(reply);
            if after == *to {
                return Some(vec![m, reply]);
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn game(text: &str) -> Game {
        let mut game = Game::standard();
        game.play_uci(text.split_whitespace()).unwrap();
        game
    }

    #[test]
    fn a_game_grows_up_to_the_longest_and_no_further() {
        let mut game = Game::standard();
        for text in ["g1f3", "g8f6", "f3g1", "f6g8"].iter().cycle() {
            let uci: UciMove = text.parse().unwrap();
            if !game.push(uci.to_move(game.position()).unwrap()) {
                break;
            }
        }
        assert_eq!(game.len(), MAX_PLIES);
    }

    #[test]
    fn a_position_in_the_middle_of_a_known_game_is_that_game() {
        let known = game("e2e4 e7e5 g1f3");
        let later = Game::from_fen(&known.truncated(2).fen().to_string()).unwrap();
        assert_eq!(later.rebased(&known), game("e2e4 e7e5"));
    }

    #[test]
    fn a_position_two_plies_on_is_the_known_game_played_on() {
        let known = game("e2e4 e7e5 g1f3");
        let next = game("e2e4 e7e5 g1f3 b8c6 f1b5");
        let bare = Game::from_fen(&next.fen().to_string()).unwrap();
        assert_eq!(bare.rebased(&known), next);
    }

    #[test]
    fn of_a_position_that_stood_before_the_counters_tell_which_is_meant() {
        let known = game("e2e4 e7e5 g1f3 b8c6 f3g1 c6b8 g1f3");
        let stated = |fen: &str| Game::from_fen(fen).unwrap().rebased(&known);
        let at = |plies| known.truncated(plies).fen().to_string();
        assert_eq!(stated(&at(3)), known.truncated(3));
        assert_eq!(stated(&at(7)), known);
        // It stands again: the game has gone on.
        let before = known.truncated(6);
        let next = Game::from_fen(&at(7)).unwrap();
        assert_eq!(next.rebased(&before), known);
        // A program that does not count takes back.
        let uncounted = at(7).replace("5 4", "0 1");
        assert_eq!(stated(&uncounted), known);
        let uncounted = Game::from_fen(&uncounted).unwrap();
        assert_eq!(uncounted.rebased(&before), known.truncated(3));
        // So it is where the game began.
        let mut known = Game::from_fen(&at(3)).unwrap();
        known.play_uci("b8c6 f3g1 c6b8".split(' ')).unwrap();
        let next = Game::from_fen(&at(7)).unwrap().rebased(&known);
        assert_eq!(next.len(), 4);
        assert!(next.continues(&known));
        // A position that was put up by hand is counted from nothing: both games begin there.
        let back = next;
        let put_up = Game::of_pieces(back.start.board(), back.start.turn()).unwrap();
        let mut known = put_up.clone();
        known.play_uci("b8c6 f3g1 c6b8 g1f3".split(' ')).unwrap();
        assert_eq!(back.clone().rebased(&known), back);
        assert_eq!(put_up.clone().rebased(&back), put_up);
        assert_eq!(put_up.clone().rebased(&back.truncated(3)), put_up);
    }

    #[test]
    fn a_game_from_the_start_is_no_continuation_by_knights_that_come_back() {
        let known = Game::from_fen("rnbqkbnr/pppppppp/8/8/8/N7/PPPPPPPP/R1BQKBNR b KQkq - 1 1");
        let mut known = known.unwrap();
        known.play_uci(["b8a6"]).unwrap();
        assert_eq!(game("").rebased(&known), game(""));
        let back = Game::from_fen("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 4 3");
        assert_eq!(back.unwrap().rebased(&known).len(), 3);
    }

    #[test]
    fn an_unrelated_position_stays_itself() {
        let known = game("e2e4");
        let other = Game::from_fen("8/8/8/4k3/8/8/4P3/4K3 w - - 0 1").unwrap();
        assert_eq!(other.clone().rebased(&known), other);
    }

    #[test]
    fn an_en_passant_right_is_a_double_step_just_made() {
        let known = game("e2e4 a7a6 e4e5 d7d5");
        let told = Game::from_fen(&known.fen().to_string()).unwrap();
        let told = told.before_double_step();
        assert_eq!(told.moves(), &known.moves()[3..]);
        assert_eq!(told.position(), known.position());
        assert_eq!(told.fen(), known.fen(), "with the number of the move");
        assert_eq!(known.clone().before_double_step(), known);
    }

    #[test]
    fn a_castling_of_chess960_is_told_by_the_rooks_square() {
        let start = "bnrkqrnb/pppppppp/8/8/8/8/PPPPPPPP/BNRKQRNB w KQkq - 0 1";
        let shredder = "bnrkqrnb/pppppppp/8/8/8/8/PPPPPPPP/BNRKQRNB w FCfc - 0 1";
        let mut game = Game::from_fen(shredder).unwrap();
        assert_eq!(game, Game::from_fen(start).unwrap());
        let moves = "e2e3 e7e6 e1e2 e8e7 g1f3 g8f6 d1f1";
        game.play_uci(moves.split(' ')).unwrap();
        assert_eq!(
            game.position().board().to_string(),
            "bnrk1r1b/ppppqppp/4pn2/8/8/4PN2/PPPPQPPP/BNR2RKB"
        );
        assert_eq!(game.to_string(), format!("fen {start} moves {moves}"));
    }

    #[test]
    fn a_position_has_stood_as_often_as_the_game_played_through_shows() {
        // Few pieces with room come back often, by captures, pawns and castling in between.
        let starts = [
            "r3k2r/p7/8/8/8/8/P7/R3K2R w KQkq - 0 1",
            "4k3/8/8/8/8/8/8/R3K2R w KQ - 30 40",
            "1n2k3/8/8/8/8/8/8/1N2K3 w - - 0 1",
        ];
        let mut random = fastrand::Rng::with_seed(1);
        let mut most = 0;
        for round in 0..60 {
            let mut game = Game::from_fen(starts[round % starts.len()]).unwrap();
            for _ in 0..80 {
                // To and fro, mostly.
                let back = game.moves().iter().nth_back(1).copied();
                let legal = game.position().legal_moves();
                let is_back = |m: &&Move| {
                    back.is_some_and(|back| {
                        m.from() == Some(back.to()) && Some(m.to()) == back.from()
                    })
                };
                let next = legal.iter().find(is_back).filter(|_| random.u8(..) > 40);
                let Some(&m) = next.or_else(|| random.choice(legal.iter())) else {
                    break;
                };
                game.push(m);
                let positions = (0..=game.len()).map(|plies| game.position_at(plies));
                let stood = positions.filter(|at| at == game.position()).count();
                let stood = u32::try_from(stood).unwrap();
                assert!(game.has_stood(stood), "{stood} times: {game}");
                assert!(!game.has_stood(stood + 1), "{stood} times: {game}");
                most = most.max(stood);
            }
        }
        assert!(most >= 5, "{most}");
    }

    #[test]
    fn an_illegal_move_names_its_number() {
        let mut game = Game::standard();
        let error = game.play_uci(["e2e4", "e7e4"]).unwrap_err();
        assert!(error.to_string().contains("move 2 (`e7e4`)"), "{error}");
        assert_eq!(game.len(), 1);
    }
}
