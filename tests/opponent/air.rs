//! Whole games against an engine on boards that are reached by Bluetooth LE and show its moves by their lamps: the real binary.

use shakmaty::Color;
use simulators::{bluez::Bluez, run::Kind};

use super::games::{moves, scripted};
use crate::support::{AIR_IN_RANGE, Hand, House, PEGASUS_IN_RANGE, mate_by, process::Process};

/// Plays a game whole: the hand this colour, the engine the other.
async fn plays(kind: Kind, keys: &str, color: Color) {
    let game = moves(&mate_by(color));
    let folder = House::folder();
    let opponent = scripted(folder.path(), &game);
    let bluez = Bluez::start().unwrap();
    let mut hand = Hand::in_range(&bluez, kind);
    let text = format!(
        "[boards.board]\n{keys}[[opponent]]\nboard = \"board\"\nhand = \"{color}\"\n{opponent}"
    );
    let mut process = Process::start(&bluez, &text);
    let mut watch = process.watch().await;
    for (ply, m) in game.iter().enumerate() {
        let before = if (ply % 2 == 0) == color.is_white() {
            watch.asks_at(ply).await;
            hand.does(m).await;
            hand.sees(&format!("made {m}")).await
        } else {
            hand.sees(&format!("executed {m}")).await
        };
        let wrong = before.iter().find(|seen| seen.starts_with("fault"));
        assert_eq!(wrong, None, "{before:?}");
    }
    watch.tells("the game is over: checkmate").await;
    let kept = process.kept().await;
    let [kept] = &kept[..] else {
        panic!("{kept:?}");
    };
    assert_eq!(kept.moves(), game.join(" "));
    assert_eq!(
        kept.tag(color.other().fold_wb("White", "Black")),
        "Scripted 1.0"
    );
}

#[tokio::test]
async fn a_game_is_played_against_an_engine_on_a_chessnut() {
    plays(Kind::ChessnutAir, AIR_IN_RANGE, Color::White).await;
}

#[tokio::test]
async fn a_game_is_played_against_an_engine_on_a_pegasus() {
    plays(Kind::DgtPegasus, PEGASUS_IN_RANGE, Color::Black).await;
}
