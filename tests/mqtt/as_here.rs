//! A board of another daemon does here what one of this daemon does: its buttons, its players, its clocks, its running game.

use std::time::Duration;

use boardbridge::{
    bus::pairings::{Pairing, Player, Saying},
    chess::game::Game,
    front_end::{
        buttons::{self, NotNow},
        objects::watching::Watching,
    },
    vocabulary::{ClientId, Clocks, Command, Occasion},
};
use serde_json::Value;
use shakmaty::{ByColor, Color, Role};
use simulators::run::Kind;
use tokio::time::timeout;

use super::{
    games::{REMOTE, two},
    mosquitto::Mosquitto,
};
use crate::support::{FAST_UCB, Hand, House, PATIENCE};

/// A client of the near daemon states a game, with its clocks.
async fn plays(near: &House, moves: &[&str], left: u64) {
    let board = near.daemon.bus().board("ucb").unwrap();
    let client = ClientId(900_000);
    let mut game = Game::standard();
    game.play_uci(moves.iter().copied()).unwrap();
    let clocks = Clocks {
        left: ByColor {
            white: Duration::from_secs(left),
            black: Duration::from_secs(left + 1),
        },
        runs: Some(game.turn()),
    };
    let target = Command::Target {
        client,
        label: "a program".into(),
        number: 1,
        game: Box::new(game),
        occasion: Occasion::default(),
    };
    let clocks = Command::Clocks {
        client,
        clocks: Some(clocks),
    };
    for command in [target, clocks, Command::Await { client, on: true }] {
        board.commands.send(command).await.unwrap();
    }
}

#[tokio::test]
async fn what_is_pressed_for_a_board_of_another_daemon_reaches_the_opponent_there() {
    let Some(broker) = Mosquitto::start(false).await else {
        return;
    };
    let (near, far, _hand) = two(&broker).await;
    let bus = far.daemon.bus();
    let board = bus.board("far").unwrap();
    let free = buttons::say(bus, &board, Saying::Draw).await.unwrap_err();
    assert!(free.to_string().contains("ucb is free"), "{free}");
    // A front-end of the other daemon plays there.
    let white = Player {
        name: "Anna".to_owned(),
        ..Player::default()
    };
    let pairing = Pairing {
        players: ByColor {
            white: Some(white),
            black: None,
        },
        hand: Some(Color::Black),
        can: vec![Saying::Draw, Saying::Resign],
        ..Pairing::default()
    };
    let pairings = near.daemon.bus().pairings();
    let mut entry = pairings.enter("ucb".parse().unwrap(), pairing.clone());
    let mut changes = bus.pairings().changes();
    let shown = async {
        while bus.pairings().at(&board.name).as_deref() != Some(&pairing) {
            changes.next().await;
        }
    };
    timeout(PATIENCE, shown).await.unwrap();
    let opponent = async {
        let said = entry.said().await;
        assert_eq!(said.saying, Saying::Draw);
        said.answer.send(Ok(())).unwrap();
        let said = entry.said().await;
        assert_eq!(said.saying, Saying::Resign);
        said.answer.send(Err("not yet".to_owned())).unwrap();
    };
    let player = async {
        buttons::say(bus, &board, Saying::Draw).await.unwrap();
        buttons::say(bus, &board, Saying::Resign).await
    };
    let (said, ()) = tokio::join!(player, opponent);
    assert_eq!(said, Err(NotNow::NotSaid("not yet".to_owned())));
    drop(entry);
    let gone = async {
        while bus.pairings().at(&board.name).is_some() {
            changes.next().await;
        }
    };
    timeout(PATIENCE, gone).await.unwrap();
    // A program of the other daemon: the board is told for it.
    plays(&near, &["e2e4"], 300).await;
    near.awaits("ucb", 1).await;
    buttons::say(bus, &board, Saying::Ready).await.unwrap();
    buttons::promote(bus, &board, Role::Knight).await.unwrap();
    // Without the daemon it is said at once that it is away.
    near.daemon.stop().await;
    far.until("far", |state| !state.link.is_open()).await;
    let away = buttons::say(bus, &board, Saying::Draw).await.unwrap_err();
    assert!(away.to_string().contains("hall-1 is away"), "{away}");
}

#[tokio::test]
async fn whoever_looks_on_sees_a_running_game_with_its_clocks_as_soon_as_its_daemon_is_heard() {
    let Some(broker) = Mosquitto::start(false).await else {
        return;
    };
    let folder = House::folder();
    let _hand = Hand::new(Kind::NovagUcb, folder.path().join("ucb"), true);
    let near = House::with(folder, &[("ucb", FAST_UCB)], &broker.section("hall-1")).await;
    plays(&near, &["e2e4", "e7e5"], 290).await;
    near.knows("ucb", 2).await;
    let far = House::with(House::folder(), &[], &(broker.section("hall-2") + REMOTE)).await;
    let mut watching = Watching::of(far.daemon.bus().clone());
    let sees = async {
        loop {
            while let Some(line) = watching.ready(0) {
                let line: Value = serde_json::from_str(&line).unwrap();
                if line["event"] == "snapshot" && line["ply"] == 2 {
                    return line;
                }
            }
            watching.more().await;
        }
    };
    let line = timeout(PATIENCE, sees).await.unwrap();
    assert_eq!(line["game"], "startpos moves e2e4 e7e5");
    let left = far.daemon.bus().board("far").unwrap().state().left.clone();
    let seconds = [Some(290), Some(291)].map(|left| left.map(Duration::from_secs));
    assert_eq!(&*left, &seconds);
}
