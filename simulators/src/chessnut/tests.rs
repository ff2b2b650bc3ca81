//! Each golden vector has the repository and the path where it is published.

use shakmaty::{Color, uci::UciMove};

use super::*;
use crate::{gesture::Touch, pieces};

/// egdels/moveapiece `tools/chessnut-sniffer/CHESSNUT_PROTOCOL.md`: a real Air, 459 s after it was switched on.
const START: &str = "01245823318544444444000000000000000000000000000000007777\
    7777A6C99B6ACB010000";
/// JohanSjoblom/picochess `tests/test_chessnut_parser.py`, without its tail.
const TURNED: &str = "0124A6B99C6A7777777700000000000000000000000000000000444444\
    4458133285";
/// JohanSjoblom/picochess `tests/test_chessnut_parser.py`, without its tail: c7, d7, f2 and c2 are empty.
const GAPS: &str = "01245823318544440044000000000000000000000000000000007770\
    0777A6C99B6A";

struct Rig {
    board: Chessnut,
    now: Instant,
}

impl Rig {
    /// A board that is connected and sends positions; nothing heard yet.
    fn new(settings: Settings) -> Self {
        let mut rig = Self::silent(settings);
        rig.write("210100");
        rig.run(30);
        rig
    }

    /// The same before `21 01 00`.
    fn silent(settings: Settings) -> Self {
        let (board, now) = (Chessnut::new(settings), Instant::now());
        let mut rig = Self { board, now };
        rig.connect();
        rig
    }

    fn connect(&mut self) {
        self.board.connected(self.now);
        for characteristic in [POSITIONS, REPLIES] {
            self.board.subscribed(self.now, characteristic, true);
        }
    }

    fn write(&mut self, hex: &str) {
        self.board.write(self.now, COMMANDS, &bytes(hex)).unwrap();
    }

    /// Lets the time pass; returns the notifications.
    fn run(&mut self, millis: u64) -> Vec<(Uuid, String)> {
        let end = self.now + Duration::from_millis(millis);
        let mut all = Vec::new();
        loop {
            while let Some((characteristic, value)) = self.board.poll_notify() {
                all.push((characteristic, hex(&value)));
            }
            match self.board.deadline().filter(|at| *at <= end) {
                Some(at) => self.now = at.max(self.now),
                None => break,
            }
            self.board.timeout(self.now);
        }
        self.now = end;
        all
    }

    fn replies(&mut self, millis: u64) -> Vec<String> {
        of(REPLIES, self.run(millis))
    }

    fn frames(&mut self, millis: u64) -> Vec<String> {
        of(POSITIONS, self.run(millis))
    }

    fn settle(&mut self) {
        self.run(100);
        while !self.board.is_settled() {
            self.run(100);
        }
    }

    fn reports(&mut self) -> Vec<String> {
        std::iter::from_fn(|| self.board.poll_report())
            .map(|report| report.to_string())
            .collect()
    }
}

fn of(characteristic: Uuid, all: Vec<(Uuid, String)>) -> Vec<String> {
    let own = all.into_iter().filter(|(uuid, _)| *uuid == characteristic);
    own.map(|(_, value)| value).collect()
}

fn hex(bytes: &[u8]) -> String {
    let bytes: Vec<String> = bytes.iter().map(|byte| format!("{byte:02X}")).collect();
    bytes.concat()
}

fn bytes(hex: &str) -> Vec<u8> {
    let digits = hex.as_bytes().chunks(2);
    digits
        .map(|digits| u8::from_str_radix(std::str::from_utf8(digits).unwrap(), 16).unwrap())
        .collect()
}

fn m(text: &str) -> UciMove {
    text.parse().unwrap()
}

fn model(model: Model) -> Settings {
    Settings {
        model,
        ..Settings::default()
    }
}

fn hand(delay: Duration) -> pieces::Settings {
    pieces::Settings {
        hand_delay: Some(delay),
        ..pieces::Settings::default()
    }
}

#[test]
fn the_start_position_is_that_of_a_real_air_with_its_seconds() {
    let mut rig = Rig::new(Settings::default());
    rig.run(459_000 - 30);
    assert_eq!(rig.frames(100), [START]);
}

#[test]
fn the_position_of_a_turned_board_is_the_published_one() {
    let mut settings = Settings::default();
    settings.pieces.turned = true;
    let mut rig = Rig::new(settings);
    assert!(rig.frames(100)[0].starts_with(TURNED));
}

#[test]
fn empty_squares_are_those_of_the_published_frame() {
    let mut rig = Rig::new(Settings::default());
    for square in [Square::C7, Square::D7, Square::F2, Square::C2] {
        rig.board.hand(rig.now, Order::Touch(Touch::Lift(square)));
    }
    assert!(rig.frames(100)[0].starts_with(GAPS));
}

#[test]
fn ten_positions_a_second_come_changed_or_not() {
    let mut rig = Rig::new(Settings::default());
    assert_eq!(rig.frames(10_000).len(), 100);
    // By hand, as in the protocol notes: e2 empty, then e4 filled.
    rig.board.hand(rig.now, HandAction::Move(m("e2e4")));
    rig.settle();
    let frame = rig.frames(100)[0].clone();
    assert_eq!(frame.get(36..44), Some("00700000"));
    assert_eq!(frame.get(52..60), Some("77077777"));
}

#[test]
fn one_that_sends_only_changes_also_sends_when_it_is_told_to() {
    let mut rig = Rig::new(Settings {
        only_changes: true,
        ..Settings::default()
    });
    assert_eq!(rig.frames(10_000).len(), 1);
    rig.board
        .hand(rig.now, Order::Touch(Touch::Lift(Square::E2)));
    assert_eq!(rig.frames(10_000).len(), 1);
    rig.write("210100");
    assert_eq!(rig.frames(10_000).len(), 1);
}

#[test]
fn the_older_forms_of_a_frame_are_shorter() {
    for (tail, head, length) in [
        (Tail::Short, "0122", 36),
        (Tail::Untold, "0124", 36),
        (Tail::None, "0120", 34),
    ] {
        let mut rig = Rig::new(Settings {
            tail,
            ..Settings::default()
        });
        let frame = rig.frames(100)[0].clone();
        assert!(frame.starts_with(head) && frame.len() == 2 * length);
    }
}

#[test]
fn no_position_comes_before_the_mode_is_set_and_each_link_needs_it_anew() {
    let mut rig = Rig::silent(Settings::default());
    assert_eq!(rig.run(1000), []);
    rig.write("210100");
    assert_eq!(rig.replies(1000), ["230100"]);
    rig.board.disconnected(rig.now);
    rig.connect();
    assert_eq!(rig.run(1000), []);
    rig.write("210100");
    assert_eq!(rig.frames(1000).len(), 10);
    rig.write("210101");
    rig.run(100);
    assert_eq!(rig.frames(1000), [""; 0]);
}

#[test]
fn lamps_are_lit_as_in_the_published_writes() {
    let mut rig = Rig::new(Settings::default());
    for (write, lit) in [
        // JohanSjoblom/picochess `tests/test_chessnut_command.py`.
        ("0A080000000008000800", "lit e2 e4"),
        // chessnutech/ChessnutNext `test/physical_board_protocol_test.dart`.
        ("0A080100000000000080", "lit a1 h8"),
        // fianchettochess/BoardKit `Tests/BoardKitTests/GoldenFrameTests.swift`.
        ("0A080000000020000000", "lit c4"),
        ("0A080000000000000000", "lit"),
    ] {
        rig.write(write);
        assert_eq!(rig.replies(100), ["230100"]);
        let reports = rig.reports();
        assert!(reports.contains(&lit.to_owned()), "{reports:?}");
    }
    assert_eq!(rig.board.lamp_writes(), 4);
}

#[test]
fn the_battery_is_told_as_published_in_both_readings() {
    for (battery, charging, charging_bit, reply) in [
        // JohanSjoblom/picochess `tests/test_chessnut_parser.py`.
        (100, true, false, "2A026401"),
        (88, false, false, "2A025800"),
        (9, false, false, "2A020900"),
        (4, false, false, "2A020400"),
        // egdels/moveapiece `tools/chessnut-sniffer/CHESSNUT_PROTOCOL.md`: a real Air.
        (100, false, false, "2A026400"),
        // fianchettochess/BoardKit `Tests/BoardKitTests/GoldenFrameTests.swift`.
        (67, true, true, "2A02C300"),
    ] {
        let mut rig = Rig::silent(Settings {
            battery,
            charging,
            charging_bit,
            ..Settings::default()
        });
        rig.write("290100");
        assert_eq!(rig.replies(100), [reply]);
    }
}

#[test]
fn tones_versions_and_stored_games_are_answered() {
    let mut rig = Rig::silent(Settings::default());
    rig.write("0B0403E800C8");
    assert_eq!(rig.replies(100), ["230100"]);
    assert_eq!(rig.reports(), ["beeped"]);
    // The length counts the text only, and a zero follows: the maker's app, as above.
    rig.write("270100");
    assert_eq!(rig.replies(100), ["280700424C452D312E3200"]);
    for (write, reply) in [
        ("310100", Some("320100")),
        ("1B0100", None),
        ("410115", None),
    ] {
        rig.write(write);
        let expected: Vec<&str> = reply.into_iter().collect();
        assert_eq!(rig.replies(100), expected);
    }
    assert_eq!(rig.reports(), [""; 0]);
}

#[test]
fn what_it_does_not_know_is_a_fault() {
    for write in ["", "21", "2101", "0A0800", "FF0100", "290101", "43200000"] {
        let mut rig = Rig::silent(Settings::default());
        rig.write(write);
        assert!(rig.reports()[0].starts_with("fault"), "{write}");
        assert_eq!(rig.replies(100), [""; 0]);
    }
}

#[test]
fn the_name_ends_with_a_line_feed_and_no_service_is_advertised() {
    let board = Chessnut::new(Settings::default());
    assert_eq!(board.profile().name, "Chessnut Air\n");
    assert!(board.profile().advertised.is_empty());
    let uuids: Vec<String> = board
        .profile()
        .services
        .iter()
        .map(|service| service.uuid.to_string())
        .collect();
    assert_eq!(
        uuids,
        [
            "1b7e8261-2877-41c3-b46e-cf057c562023",
            "1b7e8271-2877-41c3-b46e-cf057c562023"
        ]
    );
}

#[test]
fn frames_are_cut_to_the_mtu() {
    let mut rig = Rig::new(Settings {
        mtu: 23,
        ..Settings::default()
    });
    let parts = rig.frames(100);
    assert_eq!(parts[0].len(), 2 * 20);
    assert!(parts.concat().starts_with(&START[..68]));
    assert_eq!(parts.len(), 2);
}

#[test]
fn dense_writes_are_taken_refused_or_lost() {
    for (dense, error, replies) in [
        (Dense::Taken, false, 1),
        (Dense::Refused, true, 0),
        (Dense::Lost, false, 0),
    ] {
        let mut rig = Rig::silent(Settings {
            dense,
            ..Settings::default()
        });
        rig.write("290100");
        assert_eq!(rig.replies(99).len(), 1);
        let second = rig.board.write(rig.now, COMMANDS, &[0x29, 1, 0]);
        assert_eq!(second.is_err(), error);
        assert_eq!(rig.replies(100).len(), replies);
        rig.write("290100");
        assert_eq!(rig.replies(100).len(), 1);
    }
}

#[test]
fn the_hand_executes_a_lit_move() {
    let mut rig = Rig::new(Settings {
        pieces: hand(Duration::from_millis(500)),
        ..Settings::default()
    });
    rig.write("0A080000000008000800");
    rig.settle();
    assert_eq!(rig.reports(), ["lit e2 e4", "shown e2e4", "executed e2e4"]);
    assert_eq!(rig.board.game().len(), 1);
}

#[test]
fn on_a_turned_board_the_lamps_are_turned_too() {
    let mut settings = Settings::default();
    settings.pieces.turned = true;
    let mut rig = Rig::new(settings);
    // The board's own d7 and d5.
    rig.write("0A080010001000000000");
    assert_eq!(rig.reports(), ["lit e2 e4", "shown e2e4"]);
}

#[test]
fn the_button_is_told_and_changes_nothing() {
    let mut rig = Rig::new(Settings::default());
    rig.board.press_new_game(rig.now, false);
    assert_eq!(rig.replies(100), ["0F0102"]);
    rig.board.press_new_game(rig.now, true);
    assert_eq!(rig.replies(3000), ["0F0102"]);
    assert_eq!(rig.replies(300), ["0F0102"]);
    assert_eq!(rig.reports(), [""; 0]);
}

#[test]
fn a_link_that_is_made_too_soon_is_stale_until_a_power_cycle() {
    let mut rig = Rig::new(Settings {
        stale_within: Some(Duration::from_secs(8)),
        ..Settings::default()
    });
    rig.board.disconnected(rig.now);
    rig.run(2000);
    rig.connect();
    rig.write("210100");
    rig.write("290100");
    assert_eq!(rig.replies(100), ["230100", "2A025800"]);
    assert_eq!(rig.frames(10_000), [""; 0]);
    rig.board.disconnected(rig.now);
    rig.board.hand(rig.now, HandAction::Off);
    rig.board.hand(rig.now, HandAction::On { forgetful: true });
    rig.connect();
    rig.write("210100");
    assert_eq!(rig.frames(1000).len(), 10);
    // And 8 s are enough.
    rig.board.disconnected(rig.now);
    rig.run(8000);
    rig.connect();
    rig.write("210100");
    assert_eq!(rig.frames(1000).len(), 10);
}

#[test]
fn frames_are_lost_and_spoiled_as_often_as_they_should_be() {
    let mut rig = Rig::new(Settings {
        lost: 0.5,
        ..Settings::default()
    });
    assert!((30..70).contains(&rig.frames(10_000).len()));
    let mut rig = Rig::new(Settings {
        spoiled: 1.0,
        ..Settings::default()
    });
    let frame = bytes(&rig.frames(100)[0]);
    let squares: [u8; nibbles::BYTES] = frame[2..34].try_into().unwrap();
    assert_eq!(nibbles::board(&squares), None);
}

#[test]
fn a_position_is_read_back_as_it_was_written() {
    let mut rig = Rig::new(Settings::default());
    for _ in 0..40 {
        rig.board.hand(rig.now, HandAction::Random);
        rig.settle();
        let board = nibbles::board(&rig.board.position());
        assert_eq!(board.as_ref(), Some(rig.board.pieces().board()));
    }
}

#[test]
fn a_move_drives_to_the_published_positions() {
    // JohanSjoblom/picochess `tests/test_chessnut_command.py`: after e2-e4, and the same on a turned board.
    for (turned, write) in [
        (
            false,
            "422158233185444444440000000000000000007000000000000077077777a6c99b6a00",
        ),
        (
            true,
            "4221a6b99c6a7777707700000000000007000000000000000000444444445813328500",
        ),
    ] {
        let mut settings = model(Model::Move);
        settings.pieces.turned = turned;
        let mut rig = Rig::new(settings);
        rig.write(write);
        // Frames stop while it drives, and no message tells of the end.
        assert_eq!(rig.run(4900), []);
        assert!(rig.board.is_driving());
        let after = rig.run(1000);
        assert!(after.len() > 5 && of(REPLIES, after).is_empty());
        assert_eq!(rig.reports(), ["made e2e4"]);
    }
}

#[test]
fn a_move_drives_back_to_the_start_and_stops_when_told() {
    let mut rig = Rig::new(model(Model::Move));
    rig.board.hand(rig.now, HandAction::Move(m("e2e4")));
    rig.settle();
    // chessnutech/ChessnutNext `test/physical_board_protocol_test.dart`.
    let start = format!("42215823318544444444{}77777777A6C99B6A00", "00".repeat(16));
    rig.write(&start);
    rig.run(1000);
    rig.write(&format!("4221{}", "00".repeat(33)));
    assert!(!rig.board.is_driving());
    rig.run(10_000);
    assert_eq!(rig.board.game().len(), 1);
    rig.write(&start);
    rig.run(10_000);
    assert!(rig.board.game().is_empty() && rig.board.is_settled());
}

/// Drives to these pieces in spite of a hand, or until one moves a piece.
fn drive_to(fen: &str, stops: bool) -> String {
    let board = Board::from_ascii_board_fen(fen.as_bytes()).unwrap();
    let position = nibbles::packed(|square| nibbles::nibble(board.piece_at(square)));
    format!("4221{}{:02X}", hex(&position), u8::from(stops))
}

fn pieces_of(rig: &Rig) -> String {
    rig.board.pieces().board().board_fen().to_string()
}

#[test]
fn a_hand_stops_the_pieces_of_a_move_unless_it_was_told_to_go_on() {
    let after = "rnbqkbnr/pppppppp/8/8/3PP3/8/PPP2PPP/RNBQKBNR";
    for (stops, there) in [
        (true, "rnbqkbnr/ppppppp1/8/8/3P4/8/PPP1PPPP/RNBQKBNR"),
        (false, "rnbqkbnr/ppppppp1/8/8/3PP3/8/PPP2PPP/RNBQKBNR"),
    ] {
        let mut rig = Rig::new(model(Model::Move));
        rig.write(&drive_to(after, stops));
        // One of the two has arrived.
        rig.run(2600);
        rig.board.grab(rig.now, Touch::Lift(Square::H7));
        assert_eq!(rig.board.is_driving(), !stops);
        rig.run(10_000);
        assert_eq!(pieces_of(&rig), there);
    }
}

#[test]
fn a_piece_of_a_move_that_is_stuck_stays_and_what_the_set_lacks_does_not_come() {
    let mut rig = Rig::new(Settings {
        stuck: Some(Square::E2),
        ..model(Model::Move)
    });
    rig.write(&drive_to(
        "rnbqkbnr/pppppppp/8/8/3PP3/8/PPP2PPP/RNBQKBNR",
        true,
    ));
    rig.run(10_000);
    assert_eq!(
        pieces_of(&rig),
        "rnbqkbnr/pppppppp/8/8/3P4/8/PPP1PPPP/RNBQKBNR"
    );
    // A second queen is there, a third one and a third knight are not.
    rig.write(&drive_to("QQQ5/NNN5/8/8/8/8/8/8", true));
    rig.run(10_000);
    let board = rig.board.pieces().board();
    let count = |piece| board.by_piece(piece).count();
    assert_eq!(count(Color::White.queen()), 2);
    assert_eq!(count(Color::White.knight()), 2);
}

#[test]
fn a_move_is_lit_in_colours_and_tells_its_batteries() {
    let mut rig = Rig::new(Settings {
        battery: 100,
        charging: true,
        ..model(Model::Move)
    });
    // JohanSjoblom/picochess `tests/test_chessnut_command.py`: e2 and e4 blue.
    rig.write("43200000000000000000000000000000000000300000000000000030000000000000");
    assert_eq!(rig.reports(), ["lit e2 e4", "shown e2e4"]);
    // JohanSjoblom/picochess `tests/test_chessnut_parser.py`.
    rig.write("41010C");
    assert_eq!(rig.replies(100), ["41030C0164"]);
    rig.write("410115");
    rig.write("310100");
    let replies = rig.replies(100);
    assert!(replies[0].starts_with("410515") && replies[1].starts_with("3201"));
    rig.write("410109");
    assert_eq!(rig.replies(100), ["410609312E302E3000"]);
    rig.write("41010B");
    let records = rig.replies(100)[0].clone();
    assert_eq!(records.len(), 2 * (3 + 34 * 4));
    // The second queen of each side is off the board.
    assert!(records.starts_with("41890B01") && records.contains("06000064"));
    rig.write("410128");
    assert!(rig.reports()[0].starts_with("fault"));
}

#[test]
fn regular_boards_take_no_command_of_a_move() {
    let mut rig = Rig::new(Settings::default());
    let drive = format!("4221{}", "00".repeat(33));
    rig.write(&drive);
    rig.write(&format!("4320{}", "00".repeat(32)));
    let reports = rig.reports();
    assert!(reports.len() == 2 && reports.iter().all(|report| report.starts_with("fault")));
}

#[test]
fn any_writes_are_borne() {
    let mut random = fastrand::Rng::with_seed(3);
    for model in [Model::Air, Model::Move] {
        let mut rig = Rig::new(Settings {
            model,
            ..Settings::default()
        });
        for _ in 0..500 {
            let mut value: Vec<u8> = (0..random.usize(..40)).map(|_| random.u8(..)).collect();
            if let Some(first) = value.first_mut() {
                *first = [0x21, 0x0A, 0x41, 0x42, 0x43, 0x29][random.usize(..6)];
            }
            let _ = rig.board.write(rig.now, COMMANDS, &value);
            rig.run(random.u64(..200));
        }
        rig.run(1000);
        rig.write("290100");
        assert_eq!(rig.replies(100), ["2A025800"]);
    }
}
