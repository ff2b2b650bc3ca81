//! Consumers of the bus that lag: they take the board's latest state, and no move is missed or doubled.

use boardbridge::{
    bus::{BoardHandle, Bus, News, Publisher},
    chess::game::{Game, uci},
    vocabulary::{BoardName, By, Event, Snapshot},
};
use futures_util::FutureExt as _;
use proptest::prelude::*;
use serde_json::Value;
use simulators::run::Kind;
use tokio::sync::{broadcast, mpsc};

use crate::support::{FAST_UCB, Gui, Hand, House};

const GAMES: &str = include_str!("../games/lichess.uci");

fn game(number: usize) -> Game {
    let mut game = Game::standard();
    let line = GAMES.lines().nth(number - 1).unwrap();
    game.play_uci(line.split_whitespace()).unwrap();
    game
}

#[tokio::test]
async fn a_gui_that_lags_hears_every_move_once() {
    let folder = House::folder();
    let mut hand = Hand::new(Kind::NovagUcb, folder.path().join("ucb"), true);
    let house = House::lagging(folder, &[("ucb", FAST_UCB)], "").await;
    let mut gui = house.gui().await;
    let moves: Vec<String> = game(26).uci_moves().map(|m| m.to_string()).collect();
    for ply in (0..moves.len()).step_by(2) {
        gui.asks(&moves[..ply].join(" ")).await;
        if ply > 0 {
            hand.sees(&format!("executed {}", moves[ply - 1])).await;
        }
        house.asks_for_a_move("ucb").await;
        hand.does(&moves[ply]).await;
        gui.hears(&format!("bestmove {}", moves[ply])).await;
    }
    gui.has_not_heard("bestmove").await;
    let by_hand: Vec<&String> = moves.iter().step_by(2).collect();
    assert_eq!(gui.answers(), by_hand);
}

#[tokio::test]
async fn a_watcher_that_lags_has_every_move_as_a_state_or_an_event_and_none_twice() {
    let folder = House::folder();
    let hand = Hand::new(Kind::NovagUcb, folder.path().join("ucb"), true);
    let house = House::lagging(folder, &[("ucb", FAST_UCB)], "").await;
    house.until("ucb", |state| state.link.is_open()).await;
    let mut watcher = Gui::connect(house.address("status")).await;
    let moves: Vec<String> = game(26).uci_moves().map(|m| m.to_string()).collect();
    let mut gui = house.gui().await;
    gui.asks("").await;
    house.asks_for_a_move("ucb").await;
    hand.does(&moves[0]).await;
    house.knows("ucb", 1).await;
    let mut known = Vec::new();
    while known.is_empty() {
        let line: Value = serde_json::from_str(&watcher.line().await.unwrap()).unwrap();
        match line["event"].as_str() {
            Some("snapshot") if line["ply"] == 1 => known.push(line["last"]["uci"].clone()),
            Some("moved") => known.push(line["uci"].clone()),
            _ => {}
        }
    }
    assert_eq!(known, [Value::from(moves[0].as_str())]);
}

/// A board on a bus of this capacity.
fn board(capacity: usize) -> (Bus, BoardHandle) {
    let name: BoardName = "board".parse().unwrap();
    let publications = broadcast::channel(capacity).0;
    let handle = BoardHandle {
        name: name.clone(),
        way: "nowhere".into(),
        commands: mpsc::channel(1).0,
        publisher: Publisher::new(publications.clone(), Snapshot::new(name)),
    };
    (Bus::new(publications, vec![handle.clone()]), handle)
}

/// Publishes the next move of a game.
fn publish(board: &BoardHandle, game: &Game, ply: usize) {
    let state = Snapshot {
        game: game.truncated(ply).into(),
        ..Snapshot::clone(&board.state())
    };
    let moved = Event::Moved {
        uci: uci(game.moves()[ply - 1]),
        ply,
        by: By::Hand,
        took: None,
    };
    board.publisher.publish(vec![moved], Some(state));
}

proptest! {
    /// However bursts of publications and a consumer's turns alternate: from states and events together it learns every
    /// move, in order, each once.
    #[test]
    fn a_subscription_knows_every_move_once(
        capacity in 1_usize..4,
        bursts in prop::collection::vec((0_usize..6, 0_usize..4), 1..30),
    ) {
        let (bus, board) = board(capacity);
        let game = game(1);
        let mut subscription = bus.subscribe();
        let mut feed = board.feed();
        let (mut plies, mut known, mut fed) = (0, 0, 0);
        for (published, taken) in bursts.into_iter().chain([(0, usize::MAX)]) {
            for _ in 0..published.min(game.len() - plies) {
                plies += 1;
                publish(&board, &game, plies);
            }
            let mut turns = taken;
            while turns > 0 && let Some(news) = subscription.next().now_or_never() {
                turns -= 1;
                match news {
                    News::Published(publication) => {
                        for event in &*publication.events {
                            let Event::Moved { ply, .. } = event else { panic!("{event}") };
                            prop_assert_eq!(*ply, known + 1);
                            known = *ply;
                        }
                        prop_assert_eq!(publication.state.unwrap().game.len(), known);
                    }
                    News::Lagged(missed) => {
                        prop_assert!(missed > 0);
                        let state = subscription.look(&board);
                        prop_assert!(state.game.len() > known);
                        known = state.game.len();
                    }
                }
            }
            let mut turns = taken;
            while turns > 0 && let Some((events, state)) = feed.next().now_or_never() {
                turns -= 1;
                prop_assert!(events.len() <= 1);
                prop_assert!(state.game.len() > fed || state.game.is_empty());
                fed = state.game.len();
            }
        }
        prop_assert_eq!((known, fed), (plies, plies));
    }
}
