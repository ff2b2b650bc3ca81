//! Programs at one daemon play on boards of another, over a real broker.

use std::collections::BTreeMap;

use boardbridge::{
    chess::game::{Game, uci},
    vocabulary::Snapshot,
};
use serde_json::Value;
use simulators::run::Kind;

use super::mosquitto::{Mosquitto, Voice};
use crate::support::{FAST_UCB, Gui, Hand, House};

const GAMES: &str = include_str!("../games/lichess.uci");
/// The board of the other daemon.
pub const REMOTE: &str =
    "[boards.far]\nkind = \"remote\"\nmqtt = { daemon = \"hall-1\", board = \"ucb\" }\n";

fn game(number: usize) -> Game {
    let mut game = Game::standard();
    let line = GAMES.lines().nth(number - 1).unwrap();
    game.play_uci(line.split_whitespace()).unwrap();
    game
}

/// The daemon with the board, and the one with the program.
pub async fn two(broker: &Mosquitto) -> (House, House, Hand) {
    let folder = House::folder();
    let hand = Hand::new(Kind::NovagUcb, folder.path().join("ucb"), true);
    let near = House::with(folder, &[("ucb", FAST_UCB)], &broker.section("hall-1")).await;
    let far = House::with(House::folder(), &[], &(broker.section("hall-2") + REMOTE)).await;
    far.until("far", |state| state.link.is_open()).await;
    (near, far, hand)
}

/// The two, and a program that began a game: the hand is asked for its first move.
pub async fn begun(broker: &Mosquitto) -> (House, House, Hand, Gui) {
    let (near, far, hand) = two(broker).await;
    let mut gui = far.gui().await;
    gui.begins().await;
    asks(&near, 0).await;
    (near, far, hand, gui)
}

/// Waits until the hand is asked for its move after this many plies: what a program elsewhere says takes a moment.
pub async fn asks(near: &House, plies: usize) {
    let led = |state: &Snapshot| {
        state
            .target
            .as_ref()
            .is_some_and(|target| target.len() == plies)
    };
    near.until("ucb", led).await;
    near.asks_for_a_move("ucb").await;
}

/// The hand has White. Before each of its moves `between` may do something.
async fn plays(
    near: &House,
    gui: &mut Gui,
    hand: &mut Hand,
    game: &Game,
    mut between: impl AsyncFnMut(usize),
) {
    let moves: Vec<String> = game.moves().iter().map(|m| uci(*m).to_string()).collect();
    for (ply, m) in moves.iter().enumerate().step_by(2) {
        gui.asks(&moves[..ply].join(" ")).await;
        between(ply).await;
        if let Some(last) = moves[..ply].last() {
            hand.sees(&format!("executed {last}")).await;
        }
        asks(near, ply).await;
        hand.answers(gui, m).await;
    }
}

#[tokio::test]
async fn a_program_plays_a_whole_game_on_a_board_of_another_daemon() {
    let Some(broker) = Mosquitto::start(false).await else {
        return;
    };
    let mut voice = Voice::new(&broker, &["boardbridge/1/hall-1/boards/ucb/events"]).await;
    let (near, far, mut hand) = two(&broker).await;
    let mut gui = far.gui().await;
    let game = game(26);
    plays(&near, &mut gui, &mut hand, &game, async |_| {}).await;
    let plies = game.len() - 1 + game.len() % 2;
    far.until("far", |state| state.game.len() >= plies).await;
    // Every move once, with numbers without a gap.
    let mut said: Vec<Value> = Vec::new();
    let is_last = |said: &Value| said["event"] == "moved" && said["ply"] == plies;
    while !said.last().is_some_and(is_last) {
        said.push(voice.next().await);
    }
    let numbers: Vec<u64> = said
        .iter()
        .map(|said| said["sequence"].as_u64().unwrap())
        .collect();
    assert_eq!(numbers, (1..=numbers.len() as u64).collect::<Vec<_>>());
    let moved: Vec<&str> = said
        .iter()
        .filter(|said| said["event"] == "moved")
        .map(|said| said["uci"].as_str().unwrap())
        .collect();
    let played: Vec<String> = game.moves()[..plies]
        .iter()
        .map(|m| uci(*m).to_string())
        .collect();
    assert_eq!(moved, played);
}

#[tokio::test]
async fn a_program_on_a_board_elsewhere_is_answered_though_the_broker_is_configured_anew() {
    let Some(broker) = Mosquitto::start(false).await else {
        return;
    };
    let (near, mut far, hand, mut gui) = begun(&broker).await;
    let anew = broker.section("hall-2") + "home_assistant = true\n" + REMOTE;
    far.reloads(&[], &anew).await;
    far.until("far", |state| state.link.is_open()).await;
    asks(&near, 0).await;
    hand.answers(&mut gui, "e2e4").await;
}

/// A game in which the broker is killed every few moves, in the middle of whatever happens.
async fn over_a_broker_that_dies(persists: bool) {
    let Some(mut broker) = Mosquitto::start(persists).await else {
        return;
    };
    let (near, far, mut hand) = two(&broker).await;
    let mut gui = far.gui().await;
    let game = game(33);
    let mut counts = BTreeMap::new();
    let broker = &mut broker;
    plays(&near, &mut gui, &mut hand, &game, async |ply| {
        if ply % 8 == 4 {
            broker.kill();
            far.until("far", |state| !state.link.is_open()).await;
            broker.again().await;
            *counts.entry("killed").or_insert(0) += 1;
        }
    })
    .await;
    assert!(counts["killed"] >= 3, "{counts:?}");
    let answers = gui.answers();
    let hands: Vec<String> = game
        .moves()
        .iter()
        .step_by(2)
        .map(|m| uci(*m).to_string())
        .collect();
    assert_eq!(answers, hands);
}

/// What a daemon has said of itself was heard, and let go, before anybody wanted a board of it.
#[tokio::test]
async fn a_board_of_a_daemon_that_nobody_wanted_before_is_there_without_its_next_word() {
    let Some(broker) = Mosquitto::start(false).await else {
        return;
    };
    let (_near, mut far, _hand) = two(&broker).await;
    // It says this once, and nothing more.
    for topic in ["boards/ucb/state", "online"] {
        let of = |daemon: &str| format!("boardbridge/1/{daemon}/{topic}");
        let (said, copy) = (of("hall-1"), of("hall-9"));
        let mut voice = Voice::new(&broker, &[&said, &copy]).await;
        let is_up = |said: &Value| said["online"] == true || said["link"] == "unheard";
        let words = voice.hears(&said, is_up).await;
        voice.says(&copy, words.to_string(), true).await;
        voice.hears(&copy, |_| true).await;
    }
    let other = REMOTE.replace("hall-1", "hall-9");
    far.reloads(&[], &(broker.section("hall-2") + &other)).await;
    far.until("far", |state| state.link.is_open()).await;
}

#[tokio::test]
async fn a_broker_that_is_killed_and_forgets_everything_costs_no_move() {
    over_a_broker_that_dies(false).await;
}

#[tokio::test]
async fn a_broker_that_is_killed_and_remembers_costs_no_move() {
    over_a_broker_that_dies(true).await;
}

#[tokio::test]
async fn moves_made_while_the_other_side_is_cut_off_arrive_once_each() {
    let Some(mut broker) = Mosquitto::start(false).await else {
        return;
    };
    let (near, far, mut hand) = two(&broker).await;
    let mut gui = near.gui().await;
    gui.begins().await;
    broker.kill();
    far.until("far", |state| !state.link.is_open()).await;
    let away = far.daemon.bus().board("far").unwrap().state();
    assert!(
        away.link.why().unwrap().contains("out of reach"),
        "{:?}",
        away.link
    );
    let mut feed = far.daemon.bus().board("far").unwrap().feed();
    feed.next().await;
    // The owner plays on.
    hand.answers(&mut gui, "e2e4").await;
    gui.shows(&mut hand, "e2e4 e7e5").await;
    near.asks_for_a_move("ucb").await;
    hand.answers(&mut gui, "g1f3").await;
    broker.again().await;
    let mut moved = Vec::new();
    loop {
        let (events, state) = feed.next().await;
        let of_moves = events
            .iter()
            .map(ToString::to_string)
            .filter(|text| text.starts_with("ply"));
        moved.extend(of_moves.map(|text| text.split(',').next().unwrap().to_owned()));
        if state.link.is_open() && state.game.len() == 3 {
            break;
        }
    }
    assert_eq!(moved, ["ply 1: e2e4", "ply 2: e7e5", "ply 3: g1f3"]);
}

#[tokio::test]
async fn a_daemon_with_the_program_that_vanishes_leaves_the_board_to_others() {
    let Some(broker) = Mosquitto::start(false).await else {
        return;
    };
    let (near, far, _hand) = two(&broker).await;
    let mut gui = far.gui().await;
    gui.begins().await;
    near.awaits("ucb", 1).await;
    far.daemon.stop().await;
    let mut other = near.gui().await;
    other.begins().await;
    near.until("ucb", |state| {
        state
            .holders
            .iter()
            .any(|holder| !holder.to_string().contains("hall-2"))
    })
    .await;
}

#[tokio::test]
async fn a_board_whose_daemon_stops_is_away_and_comes_back_with_its_game() {
    let Some(broker) = Mosquitto::start(false).await else {
        return;
    };
    let (near, far, hand) = two(&broker).await;
    let mut gui = far.gui().await;
    gui.begins().await;
    near.asks_for_a_move("ucb").await;
    near.daemon.stop().await;
    far.until("far", |state| !state.link.is_open()).await;
    let why = far
        .daemon
        .bus()
        .board("far")
        .unwrap()
        .state()
        .link
        .why()
        .unwrap();
    assert!(why.contains("hall-1 is away"), "{why}");
    let near = House::with(near.folder, &[("ucb", FAST_UCB)], &broker.section("hall-1")).await;
    near.asks_for_a_move("ucb").await;
    hand.answers(&mut gui, "e2e4").await;
}
