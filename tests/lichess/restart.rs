//! Games on Lichess with the real binary: the daemon killed at any moment of the game on a Citrine, and a whole game on a
//! Neo. Every move is taken once and none is lost.

use std::{
    sync::Mutex,
    time::{Duration, Instant},
};

use boardbridge::chess::game::{Game, uci};
use rig::game::simulated;
use shakmaty::{CastlingMode, Color, Move, Position};
use simulators::{
    HandAction,
    bluez::{ADAPTER, Bluez, address::Address, hosted::Hosted},
    neo::{self, Neo, Settings},
    run::Kind,
};
use tokio::time::sleep;

use crate::support::{
    Hand,
    lichess::{Lichess, Style, TOKEN},
    process::{PATIENCE, Process},
};

const GAMES: &str = include_str!("../games/lichess.uci");
const RAPID: Style = Style {
    old_castling: false,
    clock: Some(900),
};
/// Pacing for a fast Citrine in another process.
const CITRINE: &str = "kind = \"novag-citrine\"\ncommand_gap = \"60ms\"\nsecond_send = \"60ms\"\n\
     second_send_capture = \"250ms\"\nmove_wait = \"50ms\"\nsetup_wait = \"50ms\"\ncorrection_wait = \"150ms\"\n";
const NEO: &str = "[boards.board]\nkind = \"miko-neo\"\nsettle = \"100ms\"\ncorrection_wait = \"150ms\"\n\
     ble = { name = \"Square Off Neo\" }\n";
/// The longest time between a move and a kill: all that follows a move is done by then.
const SOON: u64 = 40_000;

/// A process that is started while another test opens a pseudo-terminal would keep that open.
static STARTING: Mutex<()> = Mutex::new(());

fn game(number: usize, plies: usize) -> Game {
    let mut game = Game::standard();
    let line = GAMES.lines().nth(number - 1).unwrap();
    game.play_uci(line.split_whitespace()).unwrap();
    game.truncated(plies)
}

/// Exactly the hand's moves were taken, in this order.
fn took_each_move_once(lichess: &Lichess, game: &Game, hand: Color) {
    let moves = game.moves().iter().enumerate();
    let own = moves.filter(|(ply, _)| game.position_at(*ply).turn() == hand);
    let sent = |m: &Move| m.to_uci(CastlingMode::Chess960);
    let wanted: Vec<String> = own.map(|(_, m)| format!("move {}", sent(m))).collect();
    assert_eq!(lichess.taken(), wanted);
    lichess.is_content();
}

#[tokio::test]
async fn a_daemon_that_is_killed_in_mid_game_loses_no_move_and_makes_none_twice() {
    let lichess = Lichess::new(RAPID).await;
    let folder = tempfile::tempdir().unwrap();
    let port = folder.path().join("citrine");
    let config = format!(
        "[boards.board]\n{CITRINE}serial = {{ port = {port:?} }}\n{}",
        lichess.config(folder.path(), "")
    );
    let bluez = Bluez::start().unwrap();
    let (mut process, mut hand) = {
        let _alone = STARTING.lock();
        let process = Process::keeping(&bluez, &config);
        (process, Hand::new(Kind::NovagCitrine, port, true))
    };
    let mut random = fastrand::Rng::with_seed(7);
    let game = game(25, 24);
    let color = Color::Black;
    lichess.begins(color);
    for (ply, &m) in game.moves().iter().enumerate() {
        let m = uci(m);
        if game.position_at(ply).turn() == color {
            let mut watch = process.watch_of(Some("board")).await;
            watch.asks_at(ply).await;
            if ply % 6 == 1 {
                // The hand moves while the daemon is away.
                let _alone = STARTING.lock();
                process.again("KILL", |_| {});
                drop(_alone);
                hand.does(&m.to_string()).await;
            } else {
                hand.does(&m.to_string()).await;
                sleep(Duration::from_micros(random.u64(0..SOON))).await;
                let _alone = STARTING.lock();
                process.again("KILL", |_| {});
            }
            lichess.has(ply + 1).await;
        } else {
            lichess.moves(m);
            if ply % 8 == 2 {
                let _alone = STARTING.lock();
                process.again("KILL", |_| {});
            }
            let before = hand.sees(&format!("executed {m}")).await;
            let new_game = before.iter().any(|seen| seen.starts_with("new-game"));
            assert!(ply == 0 || !new_game, "{before:?}");
        }
    }
    took_each_move_once(&lichess, &game, color);
}

/// A Neo whose motor is fast, and its hand too.
fn neo(bluez: &Bluez) -> Hosted<Neo> {
    let settings = Settings {
        suffix: "001".to_owned(),
        speed: 20.0,
        hand_delay: Some(Duration::from_millis(20)),
        strict: false,
        ..Settings::default()
    };
    let address = Address([0x02, 0xBB, 0, 0, 0, 0x01]);
    bluez.host(ADAPTER, address, Neo::new(settings)).unwrap()
}

/// Plays the rest of this game: the hand makes the moves of this colour, Lichess the others, by the motor.
async fn plays(
    process: &mut Process,
    neo: &Hosted<Neo>,
    lichess: &Lichess,
    game: &Game,
    color: Color,
) {
    let mut watch = process.watch_of(Some("board")).await;
    for (ply, &m) in game.moves().iter().enumerate() {
        let m = uci(m);
        if game.position_at(ply).turn() == color {
            watch.asks_at(ply).await;
        } else {
            lichess.moves(m);
        }
        let on_wood = game.truncated(ply + usize::from(game.position_at(ply).turn() != color));
        let end = Instant::now() + PATIENCE;
        let stands =
            |neo: &mut Neo| !neo.is_driving() && neo.table().board() == on_wood.position().board();
        while !neo.with(stands) {
            assert!(Instant::now() < end, "the Neo does not come to {on_wood}");
            sleep(Duration::from_millis(5)).await;
        }
        if game.position_at(ply).turn() == color {
            let action = HandAction::Move(m.to_string().parse().unwrap());
            neo.with(|neo| neo.hand(Instant::now(), action));
            lichess.has(ply + 1).await;
        }
    }
    assert_eq!(lichess.game(), *game);
    took_each_move_once(lichess, game, color);
}

#[tokio::test]
async fn a_game_is_played_on_a_neo_by_its_motor_and_the_token_is_not_in_the_log() {
    let lichess = Lichess::new(RAPID).await;
    let folder = tempfile::tempdir().unwrap();
    let bluez = Bluez::start().unwrap();
    let neo = neo(&bluez);
    let config = format!("{NEO}{}", lichess.config(folder.path(), ""));
    let mut process = {
        let _alone = STARTING.lock();
        Process::start(&bluez, &config)
    };
    let color = Color::White;
    lichess.is_connected().await;
    lichess.begins(color);
    plays(&mut process, &neo, &lichess, &game(1, 30), color).await;
    process.kept().await;
    let log = process.log();
    assert!(log.iter().any(|line| line.contains("lichess")));
    assert!(!log.iter().any(|line| line.contains(TOKEN)));
}

#[tokio::test]
async fn castling_from_a_set_up_position_is_castling_for_lichess_too() {
    let lichess = Lichess::new(RAPID).await;
    let folder = tempfile::tempdir().unwrap();
    let bluez = Bluez::start().unwrap();
    let neo = neo(&bluez);
    let config = format!("{NEO}{}", lichess.config(folder.path(), ""));
    let mut process = {
        let _alone = STARTING.lock();
        Process::start(&bluez, &config)
    };
    lichess.is_connected().await;
    // By the king's two squares, `b1c1` would be a step of the king, and `b1g1` nothing at all.
    let start = Game::from_fen("rk5r/pppp1ppp/8/8/8/8/PPPP1PPP/RK5R w KQkq - 0 1").unwrap();
    for moves in ["b1a1 b8h8", "b1h1 b8a8"] {
        let mut watch = process.watch_of(Some("board")).await;
        lichess.begins_from(Color::White, start.clone());
        watch.tells("rk5r/").await;
        let set_up = neo::Hand::SetUp(Box::new(simulated(&start)));
        neo.with(|neo| neo.hand(Instant::now(), set_up));
        let mut game = start.clone();
        game.play_uci(moves.split(' ')).unwrap();
        plays(&mut process, &neo, &lichess, &game, Color::White).await;
        lichess.ends("resign", Some(Color::White));
    }
}
