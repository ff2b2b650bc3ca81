//! Whole games of the WhitePawn app over the air: the real binary, with the real bluer and btleplug in it, on a BlueZ made
//! of D-Bus. Phones and boards are the strict simulated ones: every byte is checked, and every move must be legal in
//! their own game.

#![cfg(target_os = "linux")]
#![allow(
    missing_docs,
    clippy::panic,
    clippy::pedantic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

mod support;

use std::time::{Duration, Instant};

use boardbridge::{
    config::whitepawn::NORDIC_UART,
    game::{Game, uci},
    simulate::{
        HandAction,
        bluez::{ADAPTER, Bluez, address::Address, hosted::Hosted},
        hand::Plays,
        neo::{self, Neo},
        run::Kind,
        swpp::Place,
    },
};
use shakmaty::{Color, Position, uci::UciMove};
use support::{
    FAST_CITRINE, Hand, House,
    phone::{Air, Phone},
    process::{PATIENCE, Process, Watch},
};
use tempfile::TempDir;
use uuid::Uuid;

const GAMES: &str = include_str!("games/lichess.uci");
const BOARD: Address = Address([0x02, 0xBB, 0, 0, 0, 0x01]);
const PHONE: Address = Address([0xB0, 0xA2, 0xD0, 0, 0, 1]);
/// What a phone of today agrees on, and the least.
const USUAL_MTU: u16 = 517;
const LEAST_MTU: u16 = 23;
const SERIAL_PORT: Uuid = boardbridge::whitepawn::rfcomm::SERIAL_PORT;

fn game(number: usize) -> Vec<UciMove> {
    let mut game = Game::standard();
    let line = GAMES.lines().nth(number - 1).unwrap();
    game.play_uci(line.split_whitespace()).unwrap();
    game.moves().iter().map(|m| uci(*m)).collect()
}

/// Whether the hand makes this ply, where the phone plays that colour.
fn is_hands(ply: usize, phone: Plays) -> bool {
    !phone.has(Color::from_white(ply.is_multiple_of(2)))
}

/// A Citrine, its daemon, and a phone in reach.
struct Room {
    bluez: Bluez,
    _process: Process,
    watch: Watch,
    hand: Hand,
    _folder: TempDir,
}

impl Room {
    /// The app's way as in the configuration.
    async fn new(way: &str) -> Self {
        let bluez = Bluez::start().unwrap();
        let folder = House::folder();
        let link = folder.path().join("board");
        let hand = Hand::new(Kind::NovagCitrine, link.clone(), true);
        let mut process = Process::start(
            &bluez,
            &format!(
                "[boards.citrine]\n{FAST_CITRINE}serial = {{ port = {link:?} }}\n\
                 [[whitepawn]]\nboard = \"citrine\"\n{way}\n"
            ),
        );
        let watch = process.watch().await;
        Self {
            bluez,
            _process: process,
            watch,
            hand,
            _folder: folder,
        }
    }

    fn phone(&self, air: Air, mtu: u16, opponent: Option<(usize, Plays)>) -> Phone {
        let handset = self.bluez.phone(ADAPTER, PHONE, mtu).unwrap();
        Phone::on_air(handset, air, GAMES, opponent)
    }

    /// Plays a game to its end: the hand one colour, the phone the other.
    async fn whole_game(&mut self, phone: &mut Phone, number: usize, plays: Plays) {
        phone.tells("new-game").await;
        for (ply, m) in game(number).iter().enumerate() {
            if is_hands(ply, plays) {
                self.watch.asks_at(ply).await;
                self.hand.does(&m.to_string()).await;
                phone.tells(&format!("made {m}")).await;
            } else {
                phone.tells(&format!("sent {m}")).await;
                self.executes(m).await;
            }
        }
        phone.tells("ended").await;
    }

    /// Waits until the hand has executed a shown move.
    async fn executes(&mut self, m: &UciMove) {
        let before = self.hand.sees(&format!("executed {m}")).await;
        assert!(!before.iter().any(|r| r.starts_with("fault")), "{before:?}");
    }
}

#[tokio::test]
async fn a_game_is_played_by_ble_under_a_name_and_uuids_of_ones_own() {
    let uuids = [1, 2, 3].map(|n| Uuid::from_u128(0x7d2e_a28a_f7bd_485a_bd9d_92ad_6ecf_e930 + n));
    let [service, write, notify] = uuids;
    let mut room = Room::new(&format!(
        "ble = {{ name = \"Chess at home\", service = \"{service}\", write = \"{write}\", notify = \"{notify}\" }}"
    ))
    .await;
    // H1 with the board's name does not fit into the least of packets.
    let air = Air::Ble("Chess at home".to_owned(), uuids);
    let mut phone = room.phone(air, LEAST_MTU, Some((26, Plays::White)));
    room.whole_game(&mut phone, 26, Plays::White).await;
}

#[tokio::test]
async fn a_game_by_ble_survives_a_phone_that_comes_and_goes() {
    let mut room = Room::new("ble = { name = \"Citrine\" }").await;
    let air = Air::Ble("Citrine".to_owned(), NORDIC_UART);
    let mut phone = room.phone(air, USUAL_MTU, None);
    phone.tells("ready").await;
    phone.does("new-game 3 Y").await;
    for (ply, m) in game(33).iter().enumerate() {
        if is_hands(ply, Plays::Black) {
            room.watch.asks_at(ply).await;
            match ply % 8 {
                // The phone is away while the hand moves.
                2 => {
                    phone.does("hang-up").await;
                    phone.tells("hung-up").await;
                    room.watch.tells("left").await;
                    room.hand.does(&m.to_string()).await;
                    room.watch.knows(ply + 1).await;
                    phone.does("connect").await;
                    phone.tells("ready").await;
                }
                // It comes back before the hand has moved, and before anybody has seen that it was gone.
                4 => {
                    phone.does("connect").await;
                    phone.tells("ready").await;
                    room.hand.does(&m.to_string()).await;
                }
                _ => room.hand.does(&m.to_string()).await,
            }
            phone.tells(&format!("made {m}")).await;
        } else {
            phone.does(&m.to_string()).await;
            phone.tells(&format!("sent {m}")).await;
            // The move was taken, and the phone goes.
            let goes = ply % 8 == 5;
            if goes {
                phone.does("hang-up").await;
                phone.tells("hung-up").await;
            }
            room.executes(m).await;
            if goes {
                phone.does("connect").await;
                phone.tells("ready").await;
            }
        }
    }
    phone.does("end 1").await;
    room.watch.tells("the game is over").await;
}

#[tokio::test]
async fn a_game_is_played_by_rfcomm_over_two_connections() {
    let mut room = Room::new("rfcomm = {}").await;
    let air = Air::Classic(SERIAL_PORT);
    let mut phone = room.phone(air, USUAL_MTU, None);
    phone.tells("ready").await;
    phone.does("new-game 2 Y").await;
    let moves = "e2e4 e7e5 g1f3 b8c6 f1c4 f8c5 e1g1 g8f6";
    for (ply, m) in moves.split(' ').enumerate() {
        if ply == 4 {
            phone.does("hang-up").await;
            phone.tells("hung-up").await;
            phone.does("connect").await;
            phone.tells("ready").await;
        }
        if is_hands(ply, Plays::Black) {
            room.watch.asks_at(ply).await;
            room.hand.does(m).await;
            phone.tells(&format!("made {m}")).await;
        } else {
            phone.does(m).await;
            phone.tells(&format!("sent {m}")).await;
            room.executes(&m.parse().unwrap()).await;
        }
    }
    phone.does("end 0").await;
    room.watch.tells("the game is over").await;
}

/// A Neo whose motor makes the app's moves, and its daemon.
struct MotorRoom {
    _bluez: Bluez,
    process: Process,
    watch: Watch,
    board: Hosted<Neo>,
    /// What was seen on the board.
    seen: Vec<String>,
}

impl MotorRoom {
    async fn new() -> Self {
        let bluez = Bluez::start().unwrap();
        let neo = Neo::new(neo::Settings {
            speed: support::SPEED,
            // It executes nothing: that is the motor's.
            hand_delay: None,
            // What was on the way when a path began is no fault at this speed.
            strict: false,
            ..neo::Settings::default()
        });
        let board = bluez.host(ADAPTER, BOARD, neo).unwrap();
        let mut process = Process::start(
            &bluez,
            "[boards.neo]\nkind = \"miko-neo\"\nsettle = \"100ms\"\ncorrection_wait = \"150ms\"\n\
             ble = { name = \"Square Off Neo\" }\n\
             [[whitepawn]]\nboard = \"neo\"\ntcp = { listen = \"127.0.0.1:0\" }\n",
        );
        let watch = process.watch().await;
        Self {
            _bluez: bluez,
            process,
            watch,
            board,
            seen: Vec::new(),
        }
    }

    async fn phone(&mut self, opponent: Option<(usize, Plays)>) -> Phone {
        let address = self.process.address("whitepawn for neo").await;
        Phone::new(Place::Tcp(address.to_string()), GAMES, opponent).await
    }

    /// Waits until this is so on the board.
    async fn comes(&mut self, what: &str, so: impl Fn(&Neo, &[String]) -> bool) {
        let end = Instant::now() + PATIENCE;
        loop {
            let seen = &mut self.seen;
            let there = self.board.with(|neo| {
                while let Some(report) = neo.poll_report() {
                    seen.push(report.to_string());
                }
                so(neo, seen)
            });
            if there {
                return;
            }
            assert!(
                Instant::now() < end,
                "{what} does not come, but {:?}",
                self.seen
            );
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// Waits until the pieces stand as after these moves, and nothing moves.
    async fn stands(&mut self, moves: &[UciMove]) {
        let mut game = Game::standard();
        for m in moves {
            game.push(m.to_move(game.position()).unwrap());
        }
        let there = |neo: &Neo, _: &[String]| {
            !neo.is_driving() && neo.table().board() == game.position().board()
        };
        self.comes("the position", there).await;
    }

    async fn signs(&mut self, sign: &str) {
        let sign = format!("sign {sign}");
        self.comes(&sign, |_, seen| seen.contains(&sign)).await;
    }

    fn hand(&self, action: HandAction) {
        self.board.with(|neo| neo.hand(Instant::now(), action));
    }

    /// Plays a game to its end: the hand one colour, the phone the other by the motor.
    async fn whole_game(&mut self, number: usize, plays: Plays, sign: &str) {
        let mut phone = self.phone(Some((number, plays))).await;
        phone.tells("new-game").await;
        let game = game(number);
        let mut by_hand = Vec::new();
        for (ply, m) in game.iter().enumerate() {
            if is_hands(ply, plays) {
                self.watch.asks_at(ply).await;
                self.stands(&game[..ply]).await;
                self.hand(HandAction::Move(*m));
                phone.tells(&format!("made {m}")).await;
                by_hand.push(m.to_string());
            } else {
                phone.tells(&format!("sent {m}")).await;
            }
        }
        phone.tells("ended").await;
        self.stands(&game).await;
        self.signs(sign).await;
        assert_eq!(phone.made(), by_hand);
        let wrong = ["fault", "refused"];
        let wrong = |seen: &&String| wrong.iter().any(|word| seen.starts_with(word));
        let wrong: Vec<_> = self.seen.iter().filter(wrong).collect();
        assert!(wrong.is_empty(), "{wrong:?}");
    }
}

#[tokio::test]
async fn the_motor_makes_every_move_of_an_app_that_plays_white() {
    let mut room = MotorRoom::new().await;
    room.whole_game(26, Plays::White, "wt").await;
}

#[tokio::test]
async fn the_motor_makes_every_move_of_an_app_that_plays_black() {
    let mut room = MotorRoom::new().await;
    room.whole_game(33, Plays::Black, "wt").await;
}

#[tokio::test]
async fn every_end_of_a_game_that_the_app_tells_is_shown_by_its_sign() {
    let mut room = MotorRoom::new().await;
    let mut phone = room.phone(None).await;
    phone.tells("ready").await;
    let first: UciMove = "e2e4".parse().unwrap();
    let moves = std::slice::from_ref(&first);
    for (code, sign) in [(3, "bl"), (4, "wt"), (2, "dw")] {
        phone.does("new-game 3 Y").await;
        room.watch.asks_at(0).await;
        room.stands(&[]).await;
        room.hand(HandAction::Move(first));
        phone.tells("made e2e4").await;
        room.stands(moves).await;
        phone.does(&format!("end {code}")).await;
        room.signs(sign).await;
        room.watch.tells("the game is over").await;
        room.hand(HandAction::NewGame);
    }
    let signs = room
        .seen
        .iter()
        .filter_map(|seen| seen.strip_prefix("sign "));
    let results: Vec<&str> = signs.filter(|sign| *sign != "po").collect();
    assert_eq!(results, ["bl", "wt", "dw"]);
}
