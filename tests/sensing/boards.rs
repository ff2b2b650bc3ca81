//! Whole games on simulated boards of pieces.

use std::time::Duration;

use simulators::{
    HandAction, chessnut, dgt,
    pieces::{self, Order},
};

use crate::table::{Table, Wood};

/// Games of real players.
const GAMES: &str = include_str!("../games/lichess-428.uci");
/// Those of them that the usual run plays on each board.
const PLAYED: usize = 12;

/// A person who makes the program's moves.
fn person() -> pieces::Settings {
    pieces::Settings {
        hand_delay: Some(Duration::from_millis(700)),
        ..pieces::Settings::default()
    }
}

fn dgt(pieces: pieces::Settings) -> Table<dgt::Dgt> {
    let settings = dgt::Settings {
        pieces,
        ..dgt::Settings::default()
    };
    Table::new(dgt::Dgt::new(settings), "")
}

fn chessnut(pieces: pieces::Settings) -> Table<chessnut::Chessnut> {
    let settings = chessnut::Settings {
        pieces,
        ..chessnut::Settings::default()
    };
    Table::new(chessnut::Chessnut::new(settings), "")
}

fn tidily(m: shakmaty::uci::UciMove) -> Order {
    Order::Do(HandAction::Move(m))
}

fn whole_games<W: Wood>(table: impl Fn(pieces::Settings) -> Table<W>) {
    for (index, moves) in GAMES.lines().take(PLAYED).enumerate() {
        table(person()).plays(moves, index % 2 == 0, tidily);
    }
}

#[test]
fn whole_games_are_played_on_a_dgt_board() {
    whole_games(dgt);
}

#[test]
fn whole_games_are_played_on_a_chessnut_board() {
    whole_games(chessnut);
}

fn turned<W: Wood>(table: impl Fn(pieces::Settings) -> Table<W>) {
    let mut table = table(pieces::Settings {
        turned: true,
        ..person()
    });
    table.plays("e2e4 e7e5 g1f3 b8c6 f1b5 a7a6 b5c6 d7c6 e1g1", true, tidily);
}

#[test]
fn a_board_that_lies_the_other_way_round_is_played_on_as_it_lies() {
    turned(dgt);
    turned(chessnut);
}
