//! Each golden vector has the repository where it is published.

use shakmaty::uci::UciMove;

use super::*;
use crate::{
    gesture::{CaptureOrder, CastlingOrder, Style, Touch},
    pieces,
};

/// A dump of 64 squares.
fn dump(squares: &str) -> String {
    format!("860043{squares}")
}

/// The start position: fianchettochess/BoardKit `Tests/BoardKitTests/PegasusAdapterTests.swift`.
fn start() -> String {
    dump(&["01".repeat(16), "00".repeat(32), "01".repeat(16)].concat())
}

/// e2 and e4 in turn, as in the protocol notes.
const LIT: &str = "60 07 05 02 00 01 34 24 00";

struct Rig {
    board: Pegasus,
    now: Instant,
}

impl Rig {
    /// A board that is connected, locked, and told nothing.
    fn locked(settings: Settings) -> Self {
        let (board, now) = (Pegasus::new(settings), Instant::now());
        let mut rig = Self { board, now };
        rig.connect();
        rig
    }

    /// A board that is unlocked and tells changes.
    fn new(settings: Settings) -> Self {
        let mut rig = Self::locked(settings);
        rig.unlock();
        rig.tell("44");
        rig
    }

    fn connect(&mut self) {
        self.board.connected(self.now);
        self.board.subscribed(self.now, ANSWERS, true);
    }

    fn unlock(&mut self) {
        self.tell(&format!("6307{}00", hex(&KEY)));
    }

    fn write(&mut self, hex: &str) {
        self.board.write(self.now, COMMANDS, &bytes(hex)).unwrap();
    }

    /// Lets the time pass; returns the notifications.
    fn run(&mut self, millis: u64) -> Vec<String> {
        let end = self.now + Duration::from_millis(millis);
        let mut all = Vec::new();
        loop {
            while let Some((characteristic, value)) = self.board.poll_notify() {
                assert_eq!(characteristic, ANSWERS);
                all.push(hex(&value));
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

    /// Writes at once, and waits until an answer would be there.
    fn tell(&mut self, hex: &str) -> Vec<String> {
        self.write(hex);
        self.run(500)
    }

    /// The answer of a command, joined.
    fn ask(&mut self, hex: &str) -> String {
        self.tell(hex).concat()
    }

    /// Lets the person finish; returns the notifications.
    fn settle(&mut self) -> Vec<String> {
        let mut all = self.run(100);
        while !self.board.is_settled() {
            all.extend(self.run(100));
        }
        all
    }

    fn play(&mut self, m: &str) -> Vec<String> {
        self.board.hand(self.now, HandAction::Move(uci(m)));
        self.settle()
    }

    fn reports(&mut self) -> Vec<String> {
        std::iter::from_fn(|| self.board.poll_report())
            .map(|report| report.to_string())
            .collect()
    }
}

fn hex(bytes: &[u8]) -> String {
    let bytes: Vec<String> = bytes.iter().map(|byte| format!("{byte:02X}")).collect();
    bytes.concat()
}

fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<u8> = hex.bytes().filter(|byte| *byte != b' ').collect();
    digits
        .chunks(2)
        .map(|digits| u8::from_str_radix(std::str::from_utf8(digits).unwrap(), 16).unwrap())
        .collect()
}

fn uci(text: &str) -> UciMove {
    text.parse().unwrap()
}

fn hand(delay: Duration) -> pieces::Settings {
    pieces::Settings {
        hand_delay: Some(delay),
        ..pieces::Settings::default()
    }
}

#[test]
fn the_start_position_is_the_published_one() {
    assert_eq!(Rig::new(Settings::default()).ask("42"), start());
}

#[test]
fn a_locked_board_has_7f_on_all_squares_and_tells_no_change_until_the_key_comes() {
    let mut rig = Rig::locked(Settings::default());
    // egdels/moveapiece.
    assert_eq!(rig.ask("42"), dump(&"7F".repeat(64)));
    assert_eq!(rig.ask("5A"), "A5000400");
    rig.tell("44");
    assert_eq!(rig.play("e2e4"), [""; 0]);
    rig.tell("630700000000000000");
    assert_eq!(rig.ask("5A"), "A5000400");
    rig.unlock();
    // fianchettochess/BoardKit, from the maker's document.
    assert_eq!(rig.ask("5A"), "A5000401");
    assert_eq!(rig.play("e7e5"), ["8E00050C00", "8E00051C01"]);
}

#[test]
fn each_link_begins_locked_and_tells_no_changes() {
    let mut rig = Rig::new(Settings::default());
    rig.board.disconnected(rig.now);
    rig.connect();
    assert_eq!(rig.ask("5A"), "A5000400");
    rig.unlock();
    assert_eq!(rig.play("e2e4"), [""; 0]);
    rig.tell("44");
    assert_eq!(rig.play("e7e5").len(), 2);
    rig.tell("40");
    assert_eq!(rig.play("g1f3"), [""; 0]);
}

#[test]
fn an_older_board_does_not_tell_the_state_of_its_key() {
    let mut rig = Rig::new(Settings {
        tells_key: false,
        ..Settings::default()
    });
    assert_eq!(rig.ask("5A"), "");
    assert_eq!(rig.ask("42"), start());
}

#[test]
fn a_board_that_is_not_calibrated_has_01_on_all_squares() {
    let mut rig = Rig::new(Settings {
        calibrated: false,
        ..Settings::default()
    });
    // Rimsoo/DGT-Pegasus.
    assert_eq!(rig.ask("42"), dump(&"01".repeat(64)));
    assert_eq!(rig.play("e2e4"), [""; 0]);
}

#[test]
fn changes_are_the_published_ones() {
    let mut rig = Rig::new(Settings::default());
    // fianchettochess/BoardKit.
    assert_eq!(rig.play("e2e4"), ["8E00053400", "8E00052401"]);
}

#[test]
fn answers_are_cut_to_20_bytes() {
    let mut rig = Rig::new(Settings::default());
    let parts = rig.tell("42");
    let lengths: Vec<usize> = parts.iter().map(|part| part.len() / 2).collect();
    assert_eq!(lengths, [20, 20, 20, 7]);
}

#[test]
fn numbers_versions_and_the_text_are_answered_without_the_key() {
    let mut rig = Rig::locked(Settings {
        serial: "ABCDE".to_owned(),
        ..Settings::default()
    });
    // fianchettochess/BoardKit.
    assert_eq!(rig.ask("45"), "9100084142434445");
    assert_eq!(rig.ask("4D"), "9300050100");
    assert_eq!(rig.ask("48"), "9600050100");
    assert_eq!(rig.ask("55"), format!("A2000D{}", hex(b"SIM0000001")));
    let text = bytes(&rig.ask("47"));
    assert_eq!(text[..3], [0x92, 0, u8::try_from(text.len()).unwrap()]);
    let words = std::str::from_utf8(&text[3..]).unwrap();
    assert!(!words.contains("DGT") && !words.ends_with('\0'), "{words}");
    assert_eq!(rig.reports(), [""; 0]);
}

#[test]
fn what_has_no_answer_has_none_and_what_it_does_not_know_is_a_fault() {
    let mut rig = Rig::new(Settings::default());
    for write in ["40", "44", "46", "49", "56", "59", "60020000"] {
        assert_eq!(rig.ask(write), "", "{write}");
    }
    assert_eq!(rig.reports(), ["lit"]);
    for write in [
        "",
        "43",
        "4B",
        "4E",
        "60",
        "6005050500",
        "6006050300054000",
        "600605020205 34 00",
        "600605030005340000",
        "6006050300053401",
        "600505030005 00",
        "63064142434445",
        "630741424344454601",
    ] {
        assert_eq!(rig.ask(write), "", "{write}");
        let reports = rig.reports();
        assert!(
            reports
                .iter()
                .any(|report| report.starts_with("fault") || report.starts_with("lost")),
            "{write}: {reports:?}"
        );
        assert!(rig.board.lamps().is_empty(), "{write}");
    }
}

#[test]
fn lamps_are_lit_as_in_the_published_writes() {
    let mut rig = Rig::new(Settings::default());
    for (write, lit) in [
        // egdels/moveapiece `PegasusCommandsTest`.
        ("600605030005 34 00", "lit e2"),
        ("600705020104 34 24 00", "lit e2 e4"),
        // fianchettochess/BoardKit.
        (
            "600D05070101 38 31 2A 23 1C 15 0E 07 00",
            "lit a1 b2 c3 d4 e5 f6 g7 h8",
        ),
        // Rimsoo/DGT-Pegasus.
        (
            "600D05400001 38 39 3A 3B 3C 3D 3E 3F 00",
            "lit a1 b1 c1 d1 e1 f1 g1 h1",
        ),
        // As in the protocol notes.
        (LIT, "lit e2 e4"),
        // Dark.
        ("600705020000 34 24 00", "lit"),
        ("60020000", "lit"),
    ] {
        rig.run(1000);
        rig.reports();
        rig.tell(write);
        let reports = rig.reports();
        assert_eq!(reports.first().map(String::as_str), Some(lit), "{write}");
    }
    assert_eq!(rig.board.lamp_writes(), 7);
}

#[test]
fn a_flash_and_a_pulse_end_by_themselves_and_what_stays_stays() {
    for (write, lit, dark) in [
        ("60 07 05 02 01 04 34 24 00", 400, Some(600)),
        ("60 07 05 FF 00 04 34 24 00", 900, Some(1100)),
        ("60 07 05 02 00 04 34 24 00", 50_000, None),
    ] {
        let mut rig = Rig::new(Settings {
            dense: Dense::Taken,
            ..Settings::default()
        });
        rig.write(write);
        rig.run(lit);
        assert_eq!(rig.board.lamps(), [Square::E2, Square::E4], "{write}");
        if let Some(dark) = dark {
            rig.run(dark - lit);
            assert!(rig.board.lamps().is_empty(), "{write}");
        }
    }
}

#[test]
fn lamps_go_out_when_a_lit_square_changes_and_only_then() {
    let mut rig = Rig::new(Settings::default());
    rig.tell(LIT);
    rig.board
        .hand(rig.now, Order::Touch(Touch::Lift(Square::D2)));
    assert_eq!(rig.board.lamps().len(), 2);
    rig.reports();
    rig.board
        .hand(rig.now, Order::Touch(Touch::Lift(Square::E2)));
    assert!(rig.board.lamps().is_empty());
    assert_eq!(rig.reports(), ["lit"]);
}

#[test]
fn a_locked_board_lights_nothing() {
    let mut rig = Rig::locked(Settings::default());
    rig.tell(LIT);
    assert!(rig.board.lamps().is_empty());
    assert!(rig.reports()[0].starts_with("lost"));
}

#[test]
fn the_hand_executes_a_lit_move_once_however_often_it_is_lit() {
    let delay = Duration::from_secs(2);
    let mut rig = Rig::new(Settings {
        pieces: hand(delay),
        ..Settings::default()
    });
    rig.tell(LIT);
    let shown = rig.now;
    let mut changes = Vec::new();
    while changes.is_empty() {
        changes = rig.run(10);
    }
    assert_eq!(changes, ["8E00053400"]);
    assert!(rig.now + Duration::from_millis(200) >= shown + delay);
    assert!(rig.board.lamps().is_empty());
    // As a program does after such a change.
    rig.write(LIT);
    rig.settle();
    let mut reports = rig.reports();
    reports.retain(|report| !report.starts_with("lit"));
    assert_eq!(reports, ["shown e2e4", "executed e2e4"]);
    assert_eq!(rig.board.game().len(), 1);
}

#[test]
fn a_move_that_the_program_turns_off_is_not_executed() {
    let mut rig = Rig::new(Settings {
        pieces: hand(Duration::from_secs(2)),
        ..Settings::default()
    });
    rig.tell(LIT);
    rig.tell("60020000");
    assert_eq!(rig.run(10_000), [""; 0]);
    assert!(rig.board.game().is_empty());
}

#[test]
fn the_battery_is_told_as_published_and_at_each_step() {
    let mut rig = Rig::locked(Settings::default());
    // fianchettochess/BoardKit.
    assert_eq!(rig.ask("4C"), "A0000C580000000000000002");
    rig.board.set_battery(rig.now, 88);
    assert_eq!(rig.run(100), [""; 0]);
    for (level, charging, told) in [
        (87, true, "A0000C570000000000000001"),
        (20, false, "A0000C140000000000000006"),
        (5, false, "A0000C05000000000000000E"),
        (100, false, "A0000C640000000000000002"),
    ] {
        rig.board.set_charging(rig.now, charging);
        rig.board.set_battery(rig.now, level);
        assert_eq!(rig.run(100), [told]);
    }
}

#[test]
fn the_battery_drains_and_is_charged() {
    let mut rig = Rig::locked(Settings {
        drain: Some(Duration::from_secs(10)),
        ..Settings::default()
    });
    assert_eq!(
        rig.run(20_100),
        ["A0000C570000000000000002", "A0000C560000000000000002"]
    );
    rig.board.set_charging(rig.now, true);
    assert_eq!(rig.run(10_000), ["A0000C570000000000000001"]);
}

#[test]
fn commands_that_are_too_close_together_are_taken_or_lost() {
    for (dense, early, answers) in [
        (Dense::Taken, 30, 2),
        (Dense::LaterLost, 30, 1),
        (Dense::AllLost, 330, 0),
    ] {
        let mut rig = Rig::locked(Settings {
            dense,
            ..Settings::default()
        });
        rig.write("4D");
        assert_eq!(rig.run(early - 1), [""; 0], "{dense:?}");
        assert_eq!(rig.run(1), ["9300050100"], "{dense:?}");
        rig.run(1000);
        rig.write("4D");
        let mut all = rig.run(299);
        rig.write("45");
        all.extend(rig.run(1000));
        assert_eq!(all.len(), answers, "{dense:?}");
        assert_eq!(rig.reports().len(), 2 - answers, "{dense:?}");
        // In one write too.
        assert_eq!(rig.tell("4D45").len(), answers, "{dense:?}");
        // 0.3 s are enough.
        rig.write("4D");
        let mut all = rig.run(300);
        rig.write("45");
        all.extend(rig.run(1000));
        assert_eq!(all.len(), 2, "{dense:?}");
    }
}

#[test]
fn the_board_ends_a_link_on_which_nothing_is_written_for_a_minute() {
    let mut rig = Rig::new(Settings::default());
    for _ in 0..3 {
        rig.tell("45");
        rig.run(59_400);
        assert!(!rig.board.hangs_up());
    }
    rig.reports();
    rig.tell(LIT);
    rig.run(60_000);
    assert_eq!(rig.reports(), ["lit e2 e4", "shown e2e4", "lit", "hung-up"]);
    assert!(rig.board.write(rig.now, COMMANDS, &[0x45]).is_err());
    assert!(rig.board.hangs_up() && !rig.board.hangs_up());
    rig.board.disconnected(rig.now);
    rig.connect();
    assert_eq!(rig.ask("5A"), "A5000400");
}

#[test]
fn a_board_that_is_off_hangs_up() {
    let mut rig = Rig::new(Settings::default());
    rig.board.hand(rig.now, HandAction::Off);
    assert!(rig.board.hangs_up());
    rig.board.disconnected(rig.now);
    rig.board.hand(rig.now, HandAction::On { forgetful: true });
    rig.connect();
    assert!(!rig.board.hangs_up());
    assert_eq!(rig.ask("4D"), "9300050100");
}

/// After 1.e4 d5, which exd5 follows.
fn capture(captures: CaptureOrder, hides_captures: bool) -> (Rig, Vec<String>) {
    let mut settings = Settings {
        hides_captures,
        ..Settings::default()
    };
    settings.pieces.style.capture = captures;
    let mut rig = Rig::new(settings);
    rig.play("e2e4");
    rig.play("d7d5");
    let told = rig.play("e4d5");
    (rig, told)
}

#[test]
fn a_hidden_capture_never_shows_its_square_empty() {
    let (lifted, taken) = ("8E00052400", "8E00051B00");
    let put = "8E00051B01";
    let (_, told) = capture(CaptureOrder::MoverFirst, false);
    assert_eq!(told, [lifted, taken, put]);
    let (mut rig, told) = capture(CaptureOrder::MoverFirst, true);
    assert_eq!(told, [lifted]);
    assert_eq!(rig.board.occupancy(), rig.board.pieces().board().occupied());
    assert_eq!(rig.ask("42").matches("01").count(), 31);
    // The victim is first in the hand here, so the mover is seen to go when it lands.
    let (_, told) = capture(CaptureOrder::VictimFirst, true);
    assert_eq!(told, [taken, put, lifted]);
}

#[test]
fn what_is_hidden_is_seen_in_the_end_whatever_the_hand_does() {
    let style = Style {
        castling: CastlingOrder::Together,
        ..Style::default()
    };
    for seed in 1..30 {
        let mut settings = Settings {
            hides_captures: true,
            ..Settings::default()
        };
        settings.pieces.seed = seed;
        let mut rig = Rig::new(settings);
        for m in [
            "e2e4", "d7d5", "e4e5", "f7f5", "e5f6", "g8f6", "g1f3", "b8c6", "f1c4", "d5c4",
        ] {
            rig.play(m);
            rig.run(3000);
            let there = rig.board.pieces().board().occupied();
            assert_eq!(rig.board.occupancy(), there, "{m}");
        }
        rig.board.hand(rig.now, Order::Move(uci("e1g1"), style));
        rig.settle();
        rig.run(3000);
        let there = rig.board.pieces().board().occupied();
        assert_eq!(rig.board.occupancy(), there);
        // A board that is cleared.
        for square in there {
            rig.board.hand(rig.now, Order::Touch(Touch::Lift(square)));
        }
        rig.run(3000);
        assert!(rig.board.occupancy().is_empty());
    }
}

#[test]
fn a_turned_board_numbers_its_squares_and_lamps_from_the_other_corner() {
    let mut settings = Settings::default();
    settings.pieces.turned = true;
    let mut rig = Rig::new(settings);
    assert_eq!(rig.play("e2e4"), ["8E00050B00", "8E00051B01"]);
    rig.reports();
    // The board's own d2 and d4.
    rig.tell("600705020001332300");
    assert_eq!(rig.reports(), ["lit e7 e5", "shown e7e5"]);
    rig.tell("60020000");
    assert_eq!(rig.ask("42").matches("01").count(), 32);
}

#[test]
fn it_advertises_the_nordic_uart_and_its_name() {
    let board = Pegasus::new(Settings::default());
    let profile = board.profile();
    assert!(profile.name.starts_with("DGT_Pegasus_"));
    let advertised: Vec<String> = profile.advertised.iter().map(Uuid::to_string).collect();
    assert_eq!(advertised, ["6e400001-b5a3-f393-e0a9-e50e24dcca9e"]);
    assert_eq!(profile.services.len(), 1);
    let renamed = Pegasus::new(Settings {
        name: "Garden".to_owned(),
        ..Settings::default()
    });
    assert_eq!(renamed.profile().name, "Garden");
}

#[test]
fn nothing_comes_without_a_subscription() {
    let mut rig = Rig::new(Settings::default());
    rig.board.subscribed(rig.now, ANSWERS, false);
    assert_eq!(rig.ask("42"), "");
}

#[test]
fn any_writes_are_borne() {
    let mut random = fastrand::Rng::with_seed(3);
    for dense in [Dense::Taken, Dense::LaterLost, Dense::AllLost] {
        let mut rig = Rig::new(Settings {
            dense,
            ..Settings::default()
        });
        for _ in 0..500 {
            let mut value: Vec<u8> = (0..random.usize(..40)).map(|_| random.u8(..)).collect();
            if let Some(first) = value.first_mut() {
                *first = [0x60, 0x63, 0x42, 0x5A, 0x4C, 0x47][random.usize(..6)];
            }
            let _ = rig.board.write(rig.now, COMMANDS, &value);
            rig.run(random.u64(..500));
        }
        rig.run(1000);
        rig.unlock();
        assert_eq!(rig.ask("42"), start());
    }
}
