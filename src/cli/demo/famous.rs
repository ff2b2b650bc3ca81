//! The games that the linked boards of the demonstration play: short, famous, and ended by checkmate.

use std::sync::atomic::{AtomicUsize, Ordering};

use shakmaty::{Move, san::San};

use crate::chess::game::Game;

/// A game, and who played it.
#[derive(Debug)]
pub struct Famous {
    /// The players, the place and the year.
    pub title: &'static str,
    /// The moves.
    pub game: Game,
}

/// The titles and the moves in SAN.
const GAMES: [(&str, &str); 7] = [
    (
        "Morphy - Duke Karl and Count Isouard, Paris 1858",
        "e4 e5 Nf3 d6 d4 Bg4 dxe5 Bxf3 Qxf3 dxe5 Bc4 Nf6 Qb3 Qe7 Nc3 c6 Bg5 b5 Nxb5 cxb5 Bxb5+ Nbd7 O-O-O Rd8 Rxd7 Rxd7 \
         Rd1 Qe6 Bxd7+ Nxd7 Qb8+ Nxb8 Rd8#",
    ),
    (
        "Reti - Tartakower, Vienna 1910",
        "e4 c6 d4 d5 Nc3 dxe4 Nxe4 Nf6 Qd3 e5 dxe5 Qa5+ Bd2 Qxe5 O-O-O Nxe4 Qd8+ Kxd8 Bg5+ Kc7 Bd8#",
    ),
    (
        "Byrne - Fischer, New York 1956",
        "Nf3 Nf6 c4 g6 Nc3 Bg7 d4 O-O Bf4 d5 Qb3 dxc4 Qxc4 c6 e4 Nbd7 Rd1 Nb6 Qc5 Bg4 Bg5 Na4 Qa3 Nxc3 bxc3 Nxe4 Bxe7 \
         Qb6 Bc4 Nxc3 Bc5 Rfe8+ Kf1 Be6 Bxb6 Bxc4+ Kg1 Ne2+ Kf1 Nxd4+ Kg1 Ne2+ Kf1 Nc3+ Kg1 axb6 Qb4 Ra4 Qxb6 Nxd1 h3 \
         Rxa2 Kh2 Nxf2 Re1 Rxe1 Qd8+ Bf8 Nxe1 Bd5 Nf3 Ne4 Qb8 b5 h4 h5 Ne5 Kg7 Kg1 Bc5+ Kf1 Ng3+ Ke1 Bb4+ Kd1 Bb3+ Kc1 \
         Ne2+ Kb1 Nc3+ Kc1 Rc2#",
    ),
    (
        "Anderssen - Kieseritzky, London 1851",
        "e4 e5 f4 exf4 Bc4 Qh4+ Kf1 b5 Bxb5 Nf6 Nf3 Qh6 d3 Nh5 Nh4 Qg5 Nf5 c6 g4 Nf6 Rg1 cxb5 h4 Qg6 h5 Qg5 Qf3 Ng8 \
         Bxf4 Qf6 Nc3 Bc5 Nd5 Qxb2 Bd6 Bxg1 e5 Qxa1+ Ke2 Na6 Nxg7+ Kd8 Qf6+ Nxf6 Be7#",
    ),
    (
        "Edward Lasker - Thomas, London 1912",
        "d4 e6 Nf3 f5 Nc3 Nf6 Bg5 Be7 Bxf6 Bxf6 e4 fxe4 Nxe4 b6 Ne5 O-O Bd3 Bb7 Qh5 Qe7 Qxh7+ Kxh7 Nxf6+ Kh6 Neg4+ Kg5 \
         h4+ Kf4 g3+ Kf3 Be2+ Kg2 Rh2+ Kg1 Kd2#",
    ),
    (
        "Anderssen - Dufresne, Berlin 1852",
        "e4 e5 Nf3 Nc6 Bc4 Bc5 b4 Bxb4 c3 Ba5 d4 exd4 O-O d3 Qb3 Qf6 e5 Qg6 Re1 Nge7 Ba3 b5 Qxb5 Rb8 Qa4 Bb6 Nbd2 Bb7 \
         Ne4 Qf5 Bxd3 Qh5 Nf6+ gxf6 exf6 Rg8 Rad1 Qxf3 Rxe7+ Nxe7 Qxd7+ Kxd7 Bf5+ Ke8 Bd7+ Kf8 Bxe7#",
    ),
    ("The fool's mate", "f3 e5 g4 Qh4#"),
];

/// The games, one after another, and the one that is being played.
#[derive(Debug)]
pub struct Programme {
    games: Vec<Famous>,
    now: AtomicUsize,
}

impl Programme {
    /// All games; the seed chooses the first.
    pub fn new(seed: u64) -> Self {
        let games = GAMES.map(|(title, moves)| Famous {
            title,
            game: read(moves),
        });
        let first = seed.wrapping_sub(1) % GAMES.len() as u64;
        Self {
            games: games.into(),
            now: AtomicUsize::new(usize::try_from(first).unwrap_or(0)),
        }
    }

    /// Turns to the next game.
    pub fn turn_the_page(&self) {
        self.now.fetch_add(1, Ordering::Relaxed);
    }

    /// The move after this one in the game that is being played; `None` if another was played.
    pub fn next(&self, at: &Game) -> Option<Move> {
        let game = &self.now()?.game;
        let next = game.moves().get(at.len()).copied();
        next.filter(|_| game.continues(at))
    }

    /// The title of this game, if it is the one that is being played.
    pub fn title(&self, at: &Game) -> Option<&'static str> {
        let now = self.now()?;
        now.game.continues(at).then_some(now.title)
    }

    fn now(&self) -> Option<&Famous> {
        let number = self.now.load(Ordering::Relaxed);
        self.games.get(number % self.games.len().max(1))
    }
}

/// The game of these moves, up to the first that is illegal.
fn read(moves: &str) -> Game {
    let mut game = Game::standard();
    let mut play = |text: &str| {
        let san: San = text.trim_end_matches(['+', '#']).parse().ok()?;
        let m = san.to_move(game.position()).ok()?;
        Some(game.push(m))
    };
    // `all` stops at the first move that is not played.
    let _ = moves.split_whitespace().all(|m| play(m).is_some());
    game
}

#[cfg(test)]
mod tests {
    use shakmaty::Position;

    use super::*;

    #[test]
    fn every_game_is_legal_and_ends_by_checkmate() {
        for (title, moves) in GAMES {
            let game = read(moves);
            assert_eq!(game.sans().join(" "), moves, "{title}");
            assert!(game.position().is_checkmate(), "{title}");
        }
    }

    #[test]
    fn the_programme_says_the_next_move_of_the_game_that_is_on() {
        let programme = Programme::new(1);
        let start = Game::standard();
        let mut at = Game::standard();
        at.push(programme.next(&at).unwrap());
        assert_eq!(at.sans(), ["e4"]);
        assert!(programme.title(&at).unwrap().starts_with("Morphy"));
        let mut other = Game::standard();
        other.play_uci(["h2h4"]).unwrap();
        assert!(programme.next(&other).is_none() && programme.title(&other).is_none());
        programme.turn_the_page();
        assert!(programme.title(&start).unwrap().starts_with("Reti"));
        programme.turn_the_page();
        assert!(
            programme.next(&at).is_none(),
            "Byrne did not begin with the king's pawn"
        );
        assert!(Programme::new(0).title(&start).is_some());
    }
}
