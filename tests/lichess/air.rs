//! Whole games on Lichess on boards that are reached by Bluetooth LE and show the program's moves by their lamps: the real binary.

use boardbridge::chess::game::uci;
use shakmaty::{CastlingMode, Color, Position};
use simulators::{bluez::Bluez, run::Kind};

use crate::support::{
    AIR_IN_RANGE, Hand, PEGASUS_IN_RANGE,
    lichess::{Lichess, Style},
    mate_by,
    process::Process,
};

const RAPID: Style = Style {
    old_castling: false,
    clock: Some(900),
};

/// Plays a game whole: the hand this colour, Lichess the other.
async fn plays(kind: Kind, keys: &str, color: Color) {
    let lichess = Lichess::new(RAPID).await;
    let folder = tempfile::tempdir().unwrap();
    let bluez = Bluez::start().unwrap();
    let mut hand = Hand::in_range(&bluez, kind);
    let config = format!(
        "[boards.board]\n{keys}{}",
        lichess.config(folder.path(), "")
    );
    let mut process = Process::start(&bluez, &config);
    lichess.is_connected().await;
    let mut watch = process.watch_of(Some("board")).await;
    let game = mate_by(color);
    lichess.begins(color);
    let mut own = Vec::new();
    for (ply, &m) in game.moves().iter().enumerate() {
        let word = uci(m).to_string();
        let before = if game.position_at(ply).turn() == color {
            own.push(format!("move {}", m.to_uci(CastlingMode::Chess960)));
            watch.asks_at(ply).await;
            hand.does(&word).await;
            lichess.has(ply + 1).await;
            hand.sees(&format!("made {word}")).await
        } else {
            lichess.moves(uci(m));
            hand.sees(&format!("executed {word}")).await
        };
        let wrong = before.iter().find(|seen| seen.starts_with("fault"));
        assert_eq!(wrong, None, "{before:?}");
    }
    watch.tells("the game is over: checkmate").await;
    assert_eq!(lichess.game(), game);
    assert_eq!(lichess.taken(), own);
    lichess.is_content();
}

#[tokio::test]
async fn a_game_is_played_as_white_on_a_chessnut() {
    plays(Kind::ChessnutAir, AIR_IN_RANGE, Color::White).await;
}

#[tokio::test]
async fn a_game_is_played_as_black_on_a_pegasus() {
    plays(Kind::DgtPegasus, PEGASUS_IN_RANGE, Color::Black).await;
}
