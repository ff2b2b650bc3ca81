//! The demonstration in the terminal: the game of the two linked boards, move by move, and what the other boards do.

use std::{fmt::Write as _, sync::Arc};

use shakmaty::{Color, File, Piece, Position, Rank, Role, Square};

use super::hand::is_ours;
use crate::{
    chess::game::Game,
    vocabulary::{BoardName, ClientName, GameEnd, Snapshot},
};

/// Moves written above the board: the last ones.
const LAST_MOVES: usize = 6;
/// Background colours of the squares, of the 256 that terminals have: light, dark, and both where the last move was made.
const SQUARES: [[u8; 2]; 2] = [[180, 137], [186, 143]];
/// Colours of the pieces: white, black.
const PIECES: [u8; 2] = [231, 16];

/// What has been shown so far.
#[derive(Debug)]
pub struct Show {
    /// The boards of White and Black, which are linked.
    linked: [BoardName; 2],
    /// Stockfish plays on the board that is not linked.
    engine: bool,
    /// Draws the board, one picture over the other; otherwise it writes a line a move.
    draws: bool,
    game: Game,
    over: bool,
    title: Option<&'static str>,
    /// What every board does beside the game.
    notes: Vec<String>,
    /// Lines of the last picture.
    height: usize,
    began: bool,
}

impl Show {
    /// Nothing shown yet.
    pub fn new(linked: [BoardName; 2], engine: bool, draws: bool) -> Self {
        Self {
            linked,
            engine,
            draws,
            game: Game::standard(),
            over: false,
            title: None,
            notes: Vec::new(),
            height: 0,
            began: false,
        }
    }

    /// What to write now that the boards are in these states; `title` names a game. Empty if there is nothing new.
    pub fn look(
        &mut self,
        boards: &[Arc<Snapshot>],
        title: impl Fn(&Game) -> Option<&'static str>,
    ) -> String {
        let mut lines = String::new();
        let white = boards.iter().find(|board| board.board == self.linked[0]);
        if let Some((game, over)) = white.and_then(|board| linked_game(board)) {
            self.follow(&mut lines, game, over, title(game));
        }
        let notes: Vec<String> = boards.iter().filter_map(|b| self.note(b)).collect();
        let new = notes.iter().filter(|note| !self.notes.contains(note));
        let new: Vec<&String> = new.collect();
        let changed = notes != self.notes;
        if self.draws {
            let news = changed || !lines.is_empty();
            self.notes = notes;
            return if news { self.picture() } else { String::new() };
        }
        for note in new {
            let _ = writeln!(lines, "{note}");
        }
        self.notes = notes;
        lines
    }

    /// Writes a line for what is new in the game.
    fn follow(
        &mut self,
        lines: &mut String,
        game: &Game,
        over: Option<GameEnd>,
        title: Option<&'static str>,
    ) {
        if !self.began || !game.continues(&self.game) && game.is_empty() {
            self.began = true;
            self.over = false;
            self.title = title;
            let [white, black] = &self.linked;
            let title = title.map_or(String::new(), |title| format!(": {title}"));
            let _ = writeln!(
                lines,
                "A game begins, {white} has White and {black} has Black{title}"
            );
        } else if !game.continues(&self.game) {
            let _ = writeln!(lines, "Moves were taken back");
        }
        let known = self.game.common_plies(game).unwrap_or(0);
        for ply in known..game.len() {
            let _ = writeln!(lines, "{:<8} {}", self.mover(ply), game.san(ply));
        }
        self.game = game.clone();
        if let Some(end) = over.filter(|_| !self.over) {
            self.over = true;
            let _ = writeln!(lines, "{}", Self::ended(end));
        }
    }

    fn mover(&self, ply: usize) -> &BoardName {
        let [white, black] = &self.linked;
        if ply.is_multiple_of(2) { white } else { black }
    }

    fn ended(end: GameEnd) -> String {
        let how = end.reason.word().replace('-', " ");
        format!(
            "The end: {how}, {}. The next game begins soon.",
            end.outcome
        )
    }

    /// What a board does, unless it plays in the game that is drawn.
    fn note(&self, state: &Snapshot) -> Option<String> {
        let board = &state.board;
        let is_linked = self.linked.contains(board);
        let others: Vec<ClientName> = state
            .holders
            .iter()
            .filter(|c| !is_ours(c))
            .cloned()
            .collect();
        let engine = state.holders.iter().find_map(|c| match c {
            ClientName::Engine(name) => Some(name),
            _ => None,
        });
        let target = state.target.as_ref().unwrap_or(&state.game);
        let plies = target.len();
        let last = target.san(plies.wrapping_sub(1));
        let what = match (engine, state.ending) {
            _ if !others.is_empty() => {
                let who = ClientName::join(&others, " and ");
                let pause = if is_linked { "; the game waits" } else { "" };
                format!("{who} plays here: {last}{pause}")
            }
            _ if is_linked => return None,
            (Some(_), _) if plies % 2 == 1 => format!("the player: {last}"),
            (Some(engine), _) => format!("{engine}: {last}"),
            (None, Some(end)) => format!("{last}, {}", end.reason.word().replace('-', " ")),
            // The engine comes when the pieces have stood at the start for a while.
            (None, None) if self.engine => "the next game against Stockfish begins soon".to_owned(),
            (None, None) => "waits for your chess program".to_owned(),
        };
        let what = what.trim_end_matches([' ', ':']);
        Some(format!("{board:<8} {what}"))
    }

    /// The board with the last moves, over the last picture.
    fn picture(&mut self) -> String {
        let mut text = String::from("\n");
        let title = self.title.unwrap_or("A game");
        let first = self.game.len().saturating_sub(LAST_MOVES);
        let moves: Vec<String> = (first..self.game.len())
            .map(|ply| {
                let san = self.game.san(ply);
                let number = san.find(' ').filter(|_| ply > first && ply % 2 == 1);
                san[number.map_or(0, |at| at + 1)..].to_owned()
            })
            .collect();
        let _ = writeln!(text, "{title}\n{}\n", moves.join(" "));
        let position = self.game.position();
        let last = self.game.last().map(|m| [m.from(), Some(m.to())]);
        let touched = |square| last.is_some_and(|squares| squares.contains(&Some(square)));
        for rank in Rank::ALL.into_iter().rev() {
            let _ = write!(text, "  {rank} ");
            for file in File::ALL {
                let square = Square::from_coords(file, rank);
                let back = SQUARES[usize::from(touched(square))][usize::from(square.is_dark())];
                let piece = position.board().piece_at(square);
                let front = PIECES[usize::from(piece.is_some_and(|p| p.color == Color::Black))];
                let glyph = piece.map_or(' ', glyph);
                let _ = write!(text, "\x1b[48;5;{back};38;5;{front}m{glyph} ");
            }
            text.push_str("\x1b[0m\n");
        }
        text.push_str("    a b c d e f g h\n\n");
        let (mover, other) = match self.game.len() {
            plies if plies.is_multiple_of(2) => (&self.linked[1], &self.linked[0]),
            _ => (&self.linked[0], &self.linked[1]),
        };
        let end = GameEnd::by_rules(&self.game).filter(|_| self.over);
        let _ = match (self.game.is_empty(), end) {
            (_, Some(end)) => writeln!(text, "{}", Self::ended(end)),
            (true, None) => writeln!(text, "{other} has White and begins."),
            (false, None) => writeln!(text, "Made by hand on {mover}, shown on {other}."),
        };
        for note in &self.notes {
            let _ = writeln!(text, "{note}");
        }
        let up = match std::mem::replace(&mut self.height, text.lines().count()) {
            0 => String::new(),
            // To the first line of the last picture; what is below it is cleared.
            height => format!("\x1b[{height}A\x1b[J"),
        };
        format!("{up}{text}")
    }
}

/// The game that a linked board is in, and how it ended, while no other client has the board.
fn linked_game(state: &Snapshot) -> Option<(&Game, Option<GameEnd>)> {
    let shows = state.holders.iter().any(is_ours);
    match &state.target {
        Some(target) if shows => Some((target, GameEnd::by_rules(target))),
        // The link has let go of the board after the last move.
        None if state.holders.is_empty() && state.ending.is_some() => {
            Some((&state.game, state.ending))
        }
        _ => None,
    }
}

/// A piece in one column. Both colours have the filled form, because the terminal draws them in their colours.
fn glyph(piece: Piece) -> char {
    match piece.role {
        Role::Pawn => '♟',
        Role::Knight => '♞',
        Role::Bishop => '♝',
        Role::Rook => '♜',
        Role::Queen => '♛',
        Role::King => '♚',
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn linked(moves: &[&str], holder: ClientName) -> Arc<Snapshot> {
        let mut game = Game::standard();
        game.play_uci(moves.iter().copied()).unwrap();
        let mut state = Snapshot::new("citrine".parse().unwrap());
        state.target = Some(Arc::new(game));
        state.holders = vec![holder];
        Arc::new(state)
    }

    fn linked_boards() -> [BoardName; 2] {
        ["citrine", "ucb"].map(|name| name.parse().unwrap())
    }

    fn show(draws: bool) -> Show {
        Show::new(linked_boards(), false, draws)
    }

    fn link() -> ClientName {
        ClientName::Link("ucb".into())
    }

    #[test]
    fn without_a_terminal_each_move_is_a_line_and_is_written_once() {
        let mut show = show(false);
        let title = |_: &Game| Some("Legall");
        let first = show.look(&[linked(&[], link())], title);
        assert_eq!(
            first,
            "A game begins, citrine has White and ucb has Black: Legall\n"
        );
        let boards = [linked(&["e2e4", "e7e5"], link())];
        assert_eq!(
            show.look(&boards, title),
            "citrine  1. e4\nucb      1... e5\n"
        );
        assert_eq!(show.look(&boards, title), "");
        let program = [linked(&["d2d4"], "127.0.0.1:5".into())];
        assert_eq!(
            show.look(&program, title),
            "citrine  127.0.0.1:5 plays here: 1. d4; the game waits\n"
        );
        let mate = ["e2e4", "e7e5", "d1h5", "b8c6", "f1c4", "g8f6", "h5f7"];
        let lines = show.look(&[linked(&mate, link())], title);
        assert!(lines.starts_with("citrine  2. Qh5\n"), "{lines}");
        assert!(lines.contains("The end: checkmate, 1-0."), "{lines}");
        let next = show.look(&[linked(&[], link())], title);
        assert!(next.starts_with("A game begins"), "{next}");
    }

    #[test]
    fn a_board_that_nobody_has_yet_waits_for_a_program_only_if_no_engine_plays_there() {
        for (engine, says) in [
            (false, "neo      waits for your chess program\n"),
            (
                true,
                "neo      the next game against Stockfish begins soon\n",
            ),
        ] {
            let mut show = Show::new(linked_boards(), engine, false);
            let neo = Arc::new(Snapshot::new("neo".parse().unwrap()));
            assert_eq!(show.look(&[neo], |_| None), says);
        }
    }

    #[test]
    fn in_a_terminal_each_picture_covers_the_last_one() {
        let mut show = show(true);
        let first = show.look(&[linked(&[], link())], |_| None);
        assert!(!first.contains("\x1b[J"), "{first}");
        assert_eq!(first.matches('♟').count(), 16);
        let boards = [linked(&["e2e4"], link())];
        let second = show.look(&boards, |_| None);
        let up = format!("\x1b[{}A\x1b[J", first.lines().count());
        assert!(second.starts_with(&up), "{second}");
        assert!(second.contains("1. e4\n") && second.contains("by hand on citrine, shown on ucb"));
        assert_eq!(show.look(&boards, |_| None), "");
    }
}
