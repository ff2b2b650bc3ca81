//! Whole games of the `WhitePawn` app over Bluetooth: the real binary, with the real bluer and btleplug, on a simulated
//! `BlueZ`. Phones and boards are the strict simulated ones: every byte is checked, and every move must be legal in
//! their own game.

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

use boardbridge::{
    chess::game::{Game, uci},
    text::swpp::NORDIC_UART,
};
use shakmaty::{Color, Position, uci::UciMove};
use simulators::{
    HandAction, SimulatedBoard,
    bluez::{ADAPTER, Bluez, address::Address, hosted::Hosted},
    hand::Plays,
    neo::{self, Neo},
    peripheral::{Characteristic, Flags, Peripheral, Profile, Refused, Service},
    run::Kind,
    swpp::{
        self, Place, SwppBoard,
        profile::{FROM_BOARD, TO_BOARD},
    },
};
use tempfile::TempDir;
use tokio::sync::mpsc;
use uuid::Uuid;

use crate::support::{
    Hand, House,
    phone::{Air, Phone},
    process::{PATIENCE, Process, Watch},
};

const GAMES: &str = include_str!("../games/lichess.uci");
/// Pacing for a fast Citrine in another process: a message late on a loaded machine must not come too close to the
/// next.
const CITRINE: &str = "kind = \"novag-citrine\"\ncommand_gap = \"60ms\"\nsecond_send = \"60ms\"\n\
     second_send_capture = \"250ms\"\nmove_wait = \"50ms\"\nsetup_wait = \"50ms\"\ncorrection_wait = \"150ms\"\n";
const BOARD: Address = Address([0x02, 0xBB, 0, 0, 0, 0x01]);
const PHONE: Address = Address([0xB0, 0xA2, 0xD0, 0, 0, 1]);
/// The MTU of a present-day phone, and the minimum.
const USUAL_MTU: u16 = 517;
const LEAST_MTU: u16 = 23;
/// A service, its written and its notifying characteristic, with made-up UUIDs.
const OWN: [Uuid; 3] = [
    Uuid::from_u128(0x7d2e_a28a_f7bd_485a_bd9d_92ad_6ecf_e931),
    Uuid::from_u128(0x7d2e_a28a_f7bd_485a_bd9d_92ad_6ecf_e932),
    Uuid::from_u128(0x7d2e_a28a_f7bd_485a_bd9d_92ad_6ecf_e933),
];
const SERIAL_PORT: Uuid = boardbridge::front_end::whitepawn::rfcomm::SERIAL_PORT;

fn game(number: usize) -> Vec<UciMove> {
    let mut game = Game::standard();
    let line = GAMES.lines().nth(number - 1).unwrap();
    game.play_uci(line.split_whitespace()).unwrap();
    game.moves().iter().map(|m| uci(*m)).collect()
}

/// Whether the board's player makes this ply, if the phone plays that colour.
fn is_hands(ply: usize, phone: Plays) -> bool {
    !phone.has(Color::from_white(ply.is_multiple_of(2)))
}

/// A Citrine, its daemon, and a phone in range.
struct Room {
    bluez: Bluez,
    _process: Process,
    watch: Watch,
    hand: Hand,
    _folder: TempDir,
}

impl Room {
    /// The app's transport as in the configuration.
    async fn new(way: &str) -> Self {
        let bluez = Bluez::start().unwrap();
        let folder = House::folder();
        let link = folder.path().join("board");
        let hand = Hand::new(Kind::NovagCitrine, link.clone(), true);
        let mut process = Process::start(
            &bluez,
            &format!(
                "[boards.citrine]\n{CITRINE}serial = {{ port = {link:?} }}\n\
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

    /// Plays a game to its end: the player one colour, the phone the other.
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

    /// Waits until the player has executed a shown move.
    async fn executes(&mut self, m: &UciMove) {
        let before = self.hand.sees(&format!("executed {m}")).await;
        assert!(!before.iter().any(|r| r.starts_with("fault")), "{before:?}");
    }
}

#[tokio::test]
async fn a_game_is_played_by_ble_under_a_name_and_uuids_of_ones_own() {
    let [service, write, notify] = OWN;
    let mut room = Room::new(&format!(
        "ble = {{ name = \"Chess at home\", service = \"{service}\", write = \"{write}\", notify = \"{notify}\" }}"
    ))
    .await;
    // H1 with the board's name does not fit into the least of packets.
    let air = Air::Ble("Chess at home".to_owned(), OWN);
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
async fn a_move_told_while_bluetooth_restarts_is_told_again() {
    let mut room = Room::new("ble = { name = \"Citrine\" }").await;
    let air = Air::Ble("Citrine".to_owned(), NORDIC_UART);
    let mut phone = room.phone(air, USUAL_MTU, None);
    phone.tells("ready").await;
    phone.does("new-game 3 Y").await;
    room.watch.asks_at(0).await;
    room.bluez.control().run(false);
    room.hand.does("e2e4").await;
    room.watch.knows(1).await;
    room.bluez.control().run(true);
    phone.tells("disconnected").await;
    phone.does("connect").await;
    phone.tells("ready").await;
    phone.tells("made e2e4").await;
    phone.does("e7e5").await;
    phone.tells("sent e7e5").await;
    room.executes(&"e7e5".parse().unwrap()).await;
    assert_eq!(phone.made(), ["e2e4"]);
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
            speed: crate::support::SPEED,
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

    /// Waits until this holds on the board.
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

    /// Plays a game to its end: the player one colour, the phone, by the motor, the other.
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

/// A home-made board with other UUIDs for its service, and what it notified.
struct Renamed {
    board: SwppBoard,
    profile: Profile,
    /// The UUIDs of its characteristics: written to, and notifying.
    names: [(Uuid, Uuid); 2],
    notified: Vec<Vec<u8>>,
}

impl Renamed {
    fn new(board: SwppBoard, uuids: [Uuid; 3]) -> Self {
        let [service, write, notify] = uuids;
        let mut profile = board.profile().clone();
        profile.advertised = vec![service];
        profile.services[0].uuid = service;
        let names = [(write, TO_BOARD), (notify, FROM_BOARD)];
        for characteristic in &mut profile.services[0].characteristics {
            let known = names.iter().find(|(_, own)| *own == characteristic.uuid);
            characteristic.uuid = known.unwrap().0;
        }
        Self {
            board,
            profile,
            names,
            notified: Vec::new(),
        }
    }

    fn own(&self, name: Uuid) -> Uuid {
        let known = self.names.iter().find(|(other, _)| *other == name);
        known.unwrap().1
    }
}

impl Peripheral for Renamed {
    fn profile(&self) -> &Profile {
        &self.profile
    }
    fn connected(&mut self, now: Instant) {
        self.board.connected(now);
    }
    fn disconnected(&mut self, now: Instant) {
        self.board.disconnected(now);
    }
    fn subscribed(&mut self, now: Instant, characteristic: Uuid, on: bool) {
        self.board.subscribed(now, self.own(characteristic), on);
    }
    fn read(&mut self, now: Instant, characteristic: Uuid) -> Result<Vec<u8>, Refused> {
        self.board.read(now, self.own(characteristic))
    }
    fn write(&mut self, now: Instant, characteristic: Uuid, value: &[u8]) -> Result<(), Refused> {
        self.board.write(now, self.own(characteristic), value)
    }
    fn timeout(&mut self, now: Instant) {
        Peripheral::timeout(&mut self.board, now);
    }
    fn deadline(&self) -> Option<Instant> {
        Peripheral::deadline(&self.board)
    }
    fn poll_notify(&mut self) -> Option<(Uuid, Vec<u8>)> {
        let (own, value) = self.board.poll_notify()?;
        self.notified.push(value.clone());
        let known = self.names.iter().find(|(_, other)| *other == own);
        Some((known.unwrap().0, value))
    }
}

/// A home-made board on Bluetooth, and the daemon that has found it.
struct HomeMadeRoom {
    bluez: Bluez,
    process: Process,
    watch: Watch,
    board: Hosted<Renamed>,
    /// What was seen on the board.
    seen: Vec<String>,
}

impl HomeMadeRoom {
    /// A board with such UUIDs; the rest of the keys it is found by.
    async fn new(uuids: [Uuid; 3], keys: &str) -> Self {
        let bluez = Bluez::start().unwrap();
        let board = SwppBoard::new(swpp::board::Settings {
            name: "A board of mine".to_owned(),
            hand_delay: Some(Duration::ZERO),
            ..swpp::board::Settings::default()
        });
        let board = bluez
            .host(ADAPTER, BOARD, Renamed::new(board, uuids))
            .unwrap();
        let mut process = Process::start(
            &bluez,
            &format!(
                "[boards.mine]\nkind = \"swpp\"\nmove_wait = \"50ms\"\n\
                 ble = {{ name = \"A board of mine\"{keys} }}\n"
            ),
        );
        let watch = process.watch().await;
        Self {
            bluez,
            process,
            watch,
            board,
            seen: Vec::new(),
        }
    }

    /// Waits until this was seen on the board.
    async fn sees(&mut self, wanted: &str) {
        let end = Instant::now() + PATIENCE;
        let before = self.seen.len();
        loop {
            let seen = &mut self.seen;
            self.board.with(|renamed| {
                while let Some(report) = renamed.board.poll_report() {
                    seen.push(report.to_string());
                }
            });
            let wrong = |seen: &String| {
                ["fault", "refused", "lost"]
                    .iter()
                    .any(|w| seen.starts_with(w))
            };
            assert!(!self.seen.iter().any(wrong), "{:?}", self.seen);
            if self.seen[before..].iter().any(|seen| seen == wanted) {
                return;
            }
            assert!(
                Instant::now() < end,
                "`{wanted}` is not seen, but {:?}",
                self.seen
            );
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// Breaks the link, and waits until that is reported. It comes back by itself.
    async fn breaks(&mut self) {
        self.bluez.control().drop_link(BOARD).unwrap();
        self.watch.tells("no link: ").await;
    }

    /// Plays a game to its end: the player one colour, the GUI the other. The link breaks now and then.
    async fn whole_game(&mut self, number: usize, hand: Color, breaks: bool) {
        let mut gui = self.process.gui().await;
        let game = game(number);
        let played = |plies: usize| {
            let words: Vec<_> = game[..plies].iter().map(ToString::to_string).collect();
            words.join(" ")
        };
        gui.says("ucinewgame").await;
        let first = usize::from(hand.is_black());
        for ply in (first..game.len()).step_by(2) {
            // While the program thinks,
            if breaks && ply % 8 == 4 + first {
                self.breaks().await;
            }
            gui.asks(&played(ply)).await;
            if ply == 0 {
                self.sees("announced 1Y").await;
            } else {
                self.sees(&format!("executed {}", game[ply - 1])).await;
            }
            self.watch.asks_at(ply).await;
            // and while the player does.
            if breaks && ply % 8 == 6 + first {
                self.breaks().await;
                // It is told the last move anew, and would refuse that after the hand's.
                self.sees(&format!("told-again {}", game[ply - 1])).await;
                self.watch.asks_at(ply).await;
            }
            let action = HandAction::Move(game[ply]);
            self.board
                .with(|renamed| renamed.board.hand(Instant::now(), action));
            let answer = gui.hears("bestmove").await;
            assert_eq!(answer, format!("bestmove {}", game[ply]));
        }
        gui.says(&format!("position startpos moves {}", played(game.len())))
            .await;
        let by_gui = is_hands(
            game.len(),
            if hand.is_white() {
                Plays::Black
            } else {
                Plays::White
            },
        );
        let last = game.last().unwrap();
        self.sees(&format!(
            "{} {last}",
            if by_gui { "executed" } else { "made" }
        ))
        .await;
        let on_board = |renamed: &mut Renamed| renamed.board.game().moves().to_vec();
        let on_board: Vec<_> = self.board.with(on_board).into_iter().map(uci).collect();
        assert_eq!(on_board, game);
    }
}

#[tokio::test]
async fn a_home_made_board_on_the_air_plays_white_in_notifications_of_twenty_bytes() {
    let mut room = HomeMadeRoom::new(NORDIC_UART, "").await;
    room.whole_game(26, Color::White, false).await;
    let notified = room.board.with(|renamed| renamed.notified.clone());
    let lengths: Vec<usize> = notified.iter().map(Vec::len).collect();
    // The answer to the handshake has two more.
    assert_eq!(lengths[..2], [20, 2], "{notified:?}");
    assert_eq!(notified.len(), 2 + game(26).len().div_ceil(2));
}

#[tokio::test]
async fn a_home_made_board_under_uuids_of_its_own_plays_black_across_lost_links() {
    let [_, write, notify] = OWN;
    let keys = format!(", write = \"{write}\", notify = \"{notify}\"");
    let mut room = HomeMadeRoom::new(OWN, &keys).await;
    room.whole_game(33, Color::Black, true).await;
    let greeted = room
        .seen
        .iter()
        .filter(|seen| seen.starts_with("greeted"))
        .count();
    assert!(greeted > 4, "{:?}", room.seen);
}

/// What a central does to a peripheral that is only the shadow of one elsewhere.
enum Deed {
    Connects,
    Leaves,
    Subscribes(Uuid, bool),
    Writes(Uuid, Vec<u8>),
}

/// A peripheral as it is seen elsewhere: what is done to it is done to the original.
struct Shadow {
    profile: Profile,
    deeds: mpsc::UnboundedSender<Deed>,
    notified: VecDeque<(Uuid, Vec<u8>)>,
}

impl Shadow {
    fn does(&self, deed: Deed) {
        // The original may be gone.
        let _ = self.deeds.send(deed);
    }
}

impl Peripheral for Shadow {
    fn profile(&self) -> &Profile {
        &self.profile
    }
    fn connected(&mut self, _now: Instant) {
        self.notified.clear();
        self.does(Deed::Connects);
    }
    fn disconnected(&mut self, _now: Instant) {
        self.does(Deed::Leaves);
    }
    fn subscribed(&mut self, _now: Instant, characteristic: Uuid, on: bool) {
        self.does(Deed::Subscribes(characteristic, on));
    }
    fn read(&mut self, _now: Instant, _characteristic: Uuid) -> Result<Vec<u8>, Refused> {
        Err(Refused)
    }
    fn write(&mut self, _now: Instant, characteristic: Uuid, value: &[u8]) -> Result<(), Refused> {
        self.does(Deed::Writes(characteristic, value.to_vec()));
        Ok(())
    }
    fn timeout(&mut self, _now: Instant) {}
    fn deadline(&self) -> Option<Instant> {
        None
    }
    fn poll_notify(&mut self) -> Option<(Uuid, Vec<u8>)> {
        self.notified.pop_front()
    }
}

/// Puts what is on the air of one Bluetooth under a name on the air of another, with these UUIDs.
async fn carry(from: &Bluez, to: &Bluez, name: &str, uuids: [Uuid; 3]) {
    let central = from.phone(ADAPTER, PHONE, USUAL_MTU).unwrap();
    let heard = central.finds(name).await;
    let [service, write, notify] = uuids;
    let characteristic = |uuid, write| Characteristic {
        uuid,
        flags: Flags {
            read: false,
            write,
            write_without_response: false,
            notify: !write,
        },
    };
    let (deeds, mut done) = mpsc::unbounded_channel();
    let shadow = Shadow {
        profile: Profile {
            name: heard.name.unwrap(),
            advertised: heard.services,
            maker_data: None,
            services: vec![Service {
                uuid: service,
                characteristics: vec![characteristic(write, true), characteristic(notify, false)],
            }],
        },
        deeds,
        notified: VecDeque::new(),
    };
    let shadow = to.host(ADAPTER, BOARD, shadow).unwrap();
    let control = to.control();
    tokio::spawn(async move {
        let mut linked = false;
        loop {
            tokio::select! {
                biased;
                deed = done.recv() => match deed {
                    Some(Deed::Connects) => {
                        central.connect().unwrap();
                        linked = true;
                    }
                    Some(Deed::Leaves) => {
                        central.disconnect();
                        linked = false;
                    }
                    Some(Deed::Subscribes(what, on)) => {
                        // It may have left meanwhile.
                        let _ = central.subscribe(what, on);
                    }
                    Some(Deed::Writes(what, value)) => {
                        let _ = central.write(what, &value, true).await;
                    }
                    None => return,
                },
                notified = central.notified(), if linked => match notified {
                    Some(value) => shadow.with(|shadow| shadow.notified.push_back(value)),
                    None => {
                        linked = false;
                        control.drop_link(BOARD).unwrap();
                    }
                },
            }
        }
    });
}

#[tokio::test]
async fn a_game_crosses_two_daemons_by_ble_from_the_phone_to_the_wood() {
    let mut far = Room::new("ble = { name = \"Far away\" }").await;
    let near = Bluez::start().unwrap();
    carry(&far.bluez, &near, "Far away", NORDIC_UART).await;
    let _process = Process::start(
        &near,
        "[boards.board]\nkind = \"swpp\"\nmove_wait = \"50ms\"\nble = { name = \"Far away\" }\n\
         [[whitepawn]]\nboard = \"board\"\nble = { name = \"Near by\" }\n",
    );
    let handset = near.phone(ADAPTER, PHONE, USUAL_MTU).unwrap();
    let air = Air::Ble("Near by".to_owned(), NORDIC_UART);
    let opponent = Some((33, Plays::White));
    let mut phone = Phone::on_air(handset, air, GAMES, opponent);
    far.whole_game(&mut phone, 33, Plays::White).await;
    // The end is told all the way.
    far.watch.tells("the game is over").await;
}
