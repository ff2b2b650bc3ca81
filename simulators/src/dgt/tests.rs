//! The composed frames are those of the protocol notes, which mark them as inferred: no recording of an e-board is
//! published. The message for the lamps is that of JohanSjoblom/picochess `dgt/board.py`.

use shakmaty::{Color, Piece, Role, uci::UciMove};

use super::{obeying::TEXT, *};
use crate::{
    gesture::{CaptureOrder, CastlingOrder, Step, Style, Touch},
    pieces,
};

const START: &str = "86 00 43 08 09 0A 0C 0B 0A 09 08 07 07 07 07 07 07 07 07 \
    00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 \
    01 01 01 01 01 01 01 01 02 03 04 06 05 04 03 02";

struct Rig {
    dgt: Dgt,
    start: Instant,
    now: Instant,
}

impl Rig {
    fn new(settings: Settings) -> Self {
        let (mut dgt, now) = (Dgt::new(settings), Instant::now());
        dgt.plugged(now);
        Self {
            dgt,
            start: now,
            now,
        }
    }

    /// Lets the time pass; returns the messages, as hexadecimal digits.
    fn run(&mut self, millis: u64) -> Vec<String> {
        let end = self.now + Duration::from_millis(millis);
        let mut all = Vec::new();
        loop {
            while let Some(bytes) = self.dgt.poll_transmit() {
                all.push(hex(&bytes));
            }
            match self.dgt.deadline().filter(|at| *at <= end) {
                Some(at) => self.now = at.max(self.now),
                None => break,
            }
            self.dgt.timeout(self.now);
        }
        self.now = end;
        all
    }

    /// Sends these bytes at once, and waits long enough for the answers.
    fn ask(&mut self, bytes: &[u8]) -> Vec<String> {
        self.dgt.received(self.now, bytes);
        self.run(150)
    }

    /// Touches at these milliseconds after the board began to scan.
    fn touch(&mut self, touches: &[(u64, Touch)]) {
        let since = self.now.duration_since(self.start);
        let script = touches.iter().map(|(at, touch)| {
            let at = Duration::from_millis(*at).checked_sub(since).unwrap();
            (at, Step::Touch(*touch))
        });
        self.dgt.order(self.now, Order::Touches(script.collect()));
    }

    fn hand(&mut self, action: HandAction) {
        self.dgt.hand(self.now, action);
    }

    fn settle(&mut self) -> Vec<String> {
        let mut all = Vec::new();
        while !self.dgt.pieces().is_settled() {
            all.extend(self.run(100));
        }
        all.extend(self.run(600));
        all
    }

    fn reports(&mut self) -> Vec<String> {
        std::iter::from_fn(|| self.dgt.poll_report())
            .map(|report| report.to_string())
            .collect()
    }
}

fn hex(bytes: &[u8]) -> String {
    let bytes: Vec<String> = bytes.iter().map(|byte| format!("{byte:02X}")).collect();
    bytes.join(" ")
}

fn white(role: Role) -> Piece {
    Piece {
        color: Color::White,
        role,
    }
}

fn lift(square: Square) -> Touch {
    Touch::Lift(square)
}

fn put(square: Square, role: Role) -> Touch {
    Touch::Put(square, white(role))
}

fn with_clock() -> Settings {
    Settings {
        clock: Some(clock::Settings::default()),
        ..Settings::default()
    }
}

fn m(text: &str) -> UciMove {
    text.parse().unwrap()
}

#[test]
fn the_questions_are_answered_as_in_the_notes() {
    let mut rig = Rig::new(Settings::default());
    assert_eq!(rig.ask(&[0x42]), [START]);
    assert_eq!(rig.ask(&[0x4D]), ["93 00 05 01 08"]);
    assert_eq!(rig.ask(&[0x45]), ["91 00 08 31 33 31 31 36"]);
    assert_eq!(rig.ask(&[0x55]), ["A2 00 0D 30 30 30 30 30 31 33 31 31 36"]);
    assert_eq!(rig.ask(&[0x46])[0].get(..8), Some("90 00 05"));
    assert_eq!(rig.ask(&[0x49]), ["8F 00 04 6B"]);
    // Bit 5: no clock.
    assert_eq!(rig.ask(&[0x41]), ["8D 00 0A 00 00 00 00 00 00 20"]);
    assert_eq!(rig.ask(&[0x40, 0x44, 0x4A]), [""; 0]);
    assert_eq!(rig.reports(), [""; 0]);
}

#[test]
fn its_text_is_not_that_of_dgt() {
    let mut rig = Rig::new(Settings::default());
    rig.dgt.received(rig.now, &[0x47]);
    rig.run(150);
    let message = answer::message(answer::TRADE_MARK, TEXT.as_bytes());
    assert_eq!(rig.ask(&[0x47]), [hex(&message)]);
    assert!(TEXT.contains("not made by DGT") && TEXT.is_ascii());
}

#[test]
fn a_turned_board_has_a_white_rook_on_field_0() {
    let mut rig = Rig::new(Settings {
        pieces: pieces::Settings {
            turned: true,
            ..pieces::Settings::default()
        },
        ..Settings::default()
    });
    let dump = rig.ask(&[0x42]);
    assert_eq!(dump[0].get(..20), Some("86 00 43 02 03 04 05"));
    assert!(dump[0].ends_with("0B 0C 0A 09 08"));
}

#[test]
fn changes_are_told_in_the_modes_with_updates_and_not_later() {
    for (mode, told) in [
        (0x40, false),
        (0x4A, false),
        (0x43, true),
        (0x44, true),
        (0x4B, true),
    ] {
        let mut rig = Rig::new(Settings::default());
        // Neither question ends the updates.
        rig.ask(&[mode, 0x42, 0x41]);
        if mode == 0x4A {
            rig.ask(&[0x4A]);
        }
        rig.dgt.order(rig.now, Order::Touch(lift(Square::E2)));
        let changes = |all: Vec<String>| -> Vec<String> {
            let changes = all.into_iter().filter(|bytes| bytes.starts_with("8E"));
            changes.collect()
        };
        let first = changes(rig.run(500));
        rig.dgt
            .order(rig.now, Order::Touch(put(Square::E4, Role::Pawn)));
        let second = changes(rig.run(500));
        if told {
            assert_eq!(first, ["8E 00 05 34 00"]);
            assert_eq!(second, ["8E 00 05 24 01"]);
        } else {
            assert_eq!((first.len(), second.len()), (0, 0), "{mode:02X}");
            assert_eq!(changes(rig.ask(&[0x44])), [""; 0]);
        }
    }
}

#[test]
fn the_new_square_of_a_quick_move_comes_before_the_old_one() {
    let mut rig = Rig::new(Settings::default());
    rig.ask(&[0x44]);
    // The scan comes by e4 after 394 ms and by e2 after 457 ms, in its second round.
    rig.touch(&[(300, lift(Square::E2)), (350, put(Square::E4, Role::Pawn))]);
    assert_eq!(rig.run(500), ["8E 00 05 24 01", "8E 00 05 34 00"]);
}

#[test]
fn a_quick_capture_never_shows_its_square_empty() {
    let mut rig = Rig::new(Settings::default());
    rig.ask(&[0x44]);
    // By d7, field 11, it comes after 297 and 547 ms; by d1, field 59, after 484 ms.
    rig.touch(&[
        (300, lift(Square::D1)),
        (320, lift(Square::D7)),
        (400, put(Square::D7, Role::Queen)),
    ]);
    assert_eq!(rig.run(700), ["8E 00 05 3B 00", "8E 00 05 0B 06"]);
}

#[test]
fn a_piece_that_is_back_before_the_scan_comes_by_was_never_gone() {
    let mut rig = Rig::new(Settings::default());
    rig.ask(&[0x44]);
    rig.touch(&[(300, lift(Square::E2)), (400, put(Square::E2, Role::Pawn))]);
    assert_eq!(rig.run(700), [""; 0]);
}

#[test]
fn at_rest_the_changes_and_the_dump_say_what_really_stands_there() {
    let untidy = Style {
        capture: CaptureOrder::VictimFirst,
        castling: CastlingOrder::RookFirst,
        slides: true,
        bounces: true,
        adjusts_before: 1,
        adjusts_after: 1,
        ..Style::default()
    };
    for (seed, turned) in (1..6).flat_map(|seed| [(seed, false), (seed, true)]) {
        let mut rig = Rig::new(Settings {
            pieces: pieces::Settings {
                style: untidy,
                turned,
                seed,
                ..pieces::Settings::default()
            },
            ..Settings::default()
        });
        let mut known = rig.ask(&[0x42])[0].clone();
        rig.ask(&[0x44]);
        for _ in 0..60 {
            rig.hand(HandAction::Random);
            for change in rig.settle() {
                let bytes: Vec<&str> = change.split(' ').collect();
                let field = usize::from_str_radix(bytes[3], 16).unwrap();
                let at = 3 * (field + 3);
                known.replace_range(at..at + 2, bytes[4]);
            }
            assert_eq!(rig.ask(&[0x42]), [known.as_str()]);
            let codes = rig.dgt.codes();
            assert_eq!(known, hex(&answer::message(answer::POSITION, &codes)));
        }
    }
}

#[test]
fn the_input_buffer_drops_what_is_too_much_and_nothing_that_comes_slowly() {
    let mut rig = Rig::new(Settings::default());
    let mut burst = vec![0x42];
    burst.resize(13, 0x45);
    rig.dgt.received(rig.now, &burst);
    assert_eq!(rig.run(2000).len(), 11);
    let lost = rig.reports();
    assert_eq!(lost, ["lost 45: the buffer is full"; 2]);
    for command in burst {
        rig.dgt.received(rig.now, &[command]);
        assert_eq!(rig.run(100).len(), 1);
    }
    assert_eq!(rig.reports(), [""; 0]);
}

#[test]
fn a_message_for_lamps_hangs_a_plain_board_for_a_while() {
    let mut rig = Rig::new(Settings::default());
    assert_eq!(rig.ask(&[0x60, 4, 1, 0x34, 0x24, 0]), [""; 0]);
    assert_eq!(rig.reports(), ["fault 60 hangs a board without lamps"]);
    assert_eq!(rig.ask(&[0x4D]), [""; 0]);
    rig.run(10_000);
    assert_eq!(rig.ask(&[0x4D]).len(), 1);
}

#[test]
fn the_commands_that_destroy_a_board_are_faults_and_it_is_gone_for_good() {
    for command in [0x4E, 0x51, 0x53, 0x54] {
        let mut rig = Rig::new(Settings::default());
        rig.ask(&[command]);
        assert!(rig.reports()[0].starts_with("fault"));
        rig.hand(HandAction::Off);
        rig.hand(HandAction::On { forgetful: true });
        assert_eq!(rig.ask(&[0x4D]), [""; 0], "{command:02X}");
    }
}

#[test]
fn a_board_that_was_off_has_forgotten_its_mode() {
    let mut rig = Rig::new(Settings::default());
    rig.ask(&[0x44]);
    rig.hand(HandAction::Off);
    assert_eq!(rig.ask(&[0x4D]), [""; 0]);
    rig.hand(HandAction::On { forgetful: false });
    rig.hand(HandAction::Move(m("e2e4")));
    assert_eq!(rig.settle(), [""; 0]);
    // Opening the line again, on the other hand, changes nothing.
    rig.ask(&[0x44]);
    rig.dgt.plugged(rig.now);
    rig.hand(HandAction::Move(m("e7e5")));
    assert_eq!(rig.settle().len(), 2);
}

#[test]
fn the_lamps_of_a_revelation_show_a_move_and_the_hand_executes_it() {
    let mut rig = Rig::new(Settings {
        model: Model::Revelation,
        pieces: pieces::Settings {
            hand_delay: Some(Duration::from_secs(1)),
            ..pieces::Settings::default()
        },
        ..Settings::default()
    });
    rig.ask(&[0x60, 4, 1, 0x34, 0x24, 0]);
    rig.settle();
    rig.ask(&[0x60, 4, 0, 0x40, 0x40, 0]);
    assert_eq!(
        rig.reports(),
        ["lit e2 e4", "shown e2e4", "executed e2e4", "lit"]
    );
}

#[test]
fn only_boards_with_a_battery_tell_of_it() {
    let mut rig = Rig::new(Settings::default());
    assert_eq!(rig.ask(&[0x4C]), [""; 0]);
    let mut rig = Rig::new(Settings {
        model: Model::Bluetooth,
        ..Settings::default()
    });
    assert_eq!(rig.ask(&[0x4C]), ["A0 00 0C 50 7F 7F 00 00 00 00 00 02"]);
}

#[test]
fn the_clock_tells_its_times_as_in_the_notes_and_runs() {
    let mut rig = Rig::new(with_clock());
    // Left 0:59:59, right 1:05:30, the left one runs.
    let set = [0x2B, 0x0A, 3, 0x0A, 0, 59, 59, 1, 5, 30, 1, 0];
    assert_eq!(rig.ask(&set), [""; 0]);
    assert_eq!(rig.ask(&[0x41]), ["8D 00 0A 01 05 30 00 59 59 11"]);
    rig.run(2000);
    assert_eq!(rig.ask(&[0x41]), ["8D 00 0A 01 05 30 00 59 57 11"]);
}

#[test]
fn the_clock_is_told_every_second_in_mode_43_and_on_a_change_in_mode_4b() {
    let mut rig = Rig::new(with_clock());
    rig.ask(&[0x43]);
    assert_eq!(rig.run(5000).len(), 5);
    rig.ask(&[0x4B]);
    assert_eq!(rig.run(5000), [""; 0]);
    rig.dgt.press_lever(rig.now);
    assert_eq!(rig.run(10), ["8D 00 0A 00 00 00 00 00 00 0A"]);
}

/// The four bytes of an acknowledgement, by the formulas of the notes.
fn ack(message: &str) -> Option<[u8; 4]> {
    let b: Vec<u8> = message
        .split(' ')
        .map(|byte| u8::from_str_radix(byte, 16).unwrap())
        .collect();
    let is_ack = b[0] == 0x8D && (b[3] & 0x0F == 0x0A || b[6] & 0x0F == 0x0A);
    is_ack.then(|| {
        [
            (b[4] & 0x7F) | ((b[6] << 3) & 0x80),
            (b[5] & 0x7F) | ((b[6] << 2) & 0x80),
            (b[7] & 0x7F) | ((b[3] << 3) & 0x80),
            (b[8] & 0x7F) | ((b[3] << 2) & 0x80),
        ]
    })
}

#[test]
fn every_acknowledgement_is_read_by_the_formulas_of_the_notes() {
    let clock = Clock::new(clock::Settings::default());
    for byte in 0..=u8::MAX {
        let sent = [byte, !byte, byte.rotate_left(1), !byte.rotate_left(1)];
        let message = answer::message(answer::CLOCK, &clock.acknowledgement(sent));
        assert_eq!(ack(&hex(&message)), Some(sent));
    }
}

#[test]
fn the_clock_tells_its_version_only_in_a_mode_with_a_clock() {
    let version = [0x2B, 3, 3, 9, 0];
    let mut rig = Rig::new(with_clock());
    rig.ask(&[0x44]);
    rig.dgt.received(rig.now, &version);
    assert_eq!(rig.run(2000), [""; 0]);
    rig.ask(&[0x4B]);
    rig.dgt.received(rig.now, &version);
    let heard = rig.run(2000);
    assert_eq!(ack(&heard[0]), Some([0x10, 9, 0x22, 0]));
    // And without a clock there is no answer.
    let mut rig = Rig::new(Settings::default());
    rig.ask(&[0x4B]);
    rig.dgt.received(rig.now, &version);
    assert_eq!(rig.run(2000), [""; 0]);
}

fn text(text: [u8; 8]) -> Vec<u8> {
    let mut message = vec![0x2B, 0x0C, 3, 0x0C];
    message.extend(text);
    message.extend([0, 0]);
    message
}

#[test]
fn the_hand_reads_the_move_off_the_clock() {
    let mut settings = with_clock();
    settings.pieces.hand_delay = Some(Duration::from_secs(1));
    let mut rig = Rig::new(settings);
    rig.ask(&[0x4B]);
    rig.dgt.received(rig.now, &text(*b"e2-e4   "));
    rig.run(500);
    rig.settle();
    rig.dgt.received(rig.now, &[0x2B, 3, 3, 3, 0]);
    rig.run(1000);
    assert_eq!(
        rig.reports(),
        ["clock e2-e4", "shown e2e4", "executed e2e4", "clock times"]
    );
}

#[test]
fn a_clock_message_before_the_acknowledgement_of_the_last_one_is_lost() {
    let mut rig = Rig::new(with_clock());
    rig.ask(&[0x4B]);
    rig.dgt.received(rig.now, &text(*b"e2e4    "));
    rig.run(50);
    rig.dgt.received(rig.now, &text(*b"d2d4    "));
    let heard = rig.run(2000);
    assert_eq!(ack(&heard[0]), Some([0x10, 0x0C, 0, 0]));
    assert_eq!(rig.dgt.clock_text(), "e2e4");
    let reports = rig.reports();
    assert!(reports.iter().any(|report| report.starts_with("lost")));
}

#[test]
fn a_clock_that_may_not_be_set_says_so() {
    let mut settings = with_clock();
    settings.clock = Some(clock::Settings {
        settable: false,
        ..clock::Settings::default()
    });
    let mut rig = Rig::new(settings);
    rig.ask(&[0x4B]);
    rig.dgt
        .received(rig.now, &[0x2B, 0x0A, 3, 0x0A, 0, 5, 0, 0, 5, 0, 1, 0]);
    let heard = rig.run(2000);
    assert_eq!(ack(&heard[0]), Some([0x10, 0x90, 0, 0]));
}

#[test]
fn a_clock_tells_that_its_mode_was_changed_and_can_be_set_then() {
    let mut settings = with_clock();
    settings.clock = Some(clock::Settings {
        settable: false,
        ..clock::Settings::default()
    });
    let mut rig = Rig::new(settings);
    rig.ask(&[0x4B]);
    rig.dgt.set_clock_mode(rig.now, true);
    let heard = rig.run(2000);
    assert_eq!(ack(&heard[0]), Some([0x10, 0x8A, 0, 25]));
    rig.dgt
        .received(rig.now, &[0x2B, 0x0A, 3, 0x0A, 0, 5, 0, 0, 4, 59, 2, 0]);
    rig.run(500);
    assert_eq!(rig.dgt.clock_counts(), Some((300, 299, Some(Side::Right))));
}

#[test]
fn an_acknowledgement_is_repeated_for_about_a_second_while_the_clock_runs() {
    let mut rig = Rig::new(with_clock());
    rig.ask(&[0x4B]);
    rig.dgt
        .received(rig.now, &[0x2B, 0x0A, 3, 0x0A, 0, 5, 0, 0, 5, 0, 1, 0]);
    let heard = rig.run(4000);
    let acks = heard.iter().filter_map(|message| ack(message));
    assert_eq!(acks.collect::<Vec<_>>(), [[0x10, 0x0A, 0, 0]; 2]);
}

#[test]
fn a_revelation_shows_eleven_characters_and_knows_no_other_text() {
    let mut rig = Rig::new(Settings {
        model: Model::Revelation,
        clock: Some(clock::Settings {
            kind: clock::Kind::Revelation,
            ..clock::Settings::default()
        }),
        ..Settings::default()
    });
    rig.ask(&[0x4B]);
    let mut message = vec![0x2B, 0x0F, 3, 0x0D];
    message.extend(b"e2-e4 white");
    message.extend([3, 0]);
    rig.dgt.received(rig.now, &message);
    let heard = rig.run(2000);
    assert_eq!(ack(&heard[0]), Some([0x10, 0x0D, 0, 0]));
    assert_eq!(rig.dgt.clock_text(), "e2-e4 white");
    rig.dgt.received(rig.now, &text(*b"e2-e4   "));
    let heard = rig.run(2000);
    assert_eq!(ack(&heard[0]), Some([0x40, 0x0C, 0, 0]));
}

#[test]
fn the_segments_of_an_xl_are_read_as_text() {
    let mut rig = Rig::new(Settings {
        clock: Some(clock::Settings {
            kind: clock::Kind::Xl,
            ..clock::Settings::default()
        }),
        ..Settings::default()
    });
    rig.ask(&[0x4B]);
    // `e2 e4 `, in the order C B A F E D.
    let message = [
        0x2B, 0x0B, 3, 1, 0x00, 0x5B, 0x7B, 0x00, 0x66, 0x7B, 0, 3, 0,
    ];
    rig.dgt.received(rig.now, &message);
    rig.run(1000);
    assert_eq!(rig.reports(), ["clock e2 e4", "beeped", "shown e2e4"]);
}

#[test]
fn a_button_is_told_as_an_acknowledgement() {
    let mut rig = Rig::new(with_clock());
    rig.ask(&[0x4B]);
    rig.dgt.press(rig.now, Button::Run);
    assert_eq!(ack(&rig.run(10)[0]), Some([0x10, 0x88, 0, 0x33]));
}

#[test]
fn lost_and_doubled_bytes_are_as_many_as_they_should_be() {
    let dump = |lost, doubled| {
        let mut rig = Rig::new(Settings {
            lost,
            doubled,
            chunk: Some(7),
            ..Settings::default()
        });
        let bytes = rig.ask(&[0x42]).join(" ");
        bytes.split(' ').filter(|byte| !byte.is_empty()).count()
    };
    assert_eq!(dump(0.0, 0.0), 67);
    assert_eq!(dump(1.0, 0.0), 0);
    assert_eq!(dump(0.0, 1.0), 134);
    assert!((40..67).contains(&dump(0.1, 0.0)));
    let mut rig = Rig::new(Settings {
        silent: true,
        ..Settings::default()
    });
    assert_eq!(rig.ask(&[0x42, 0x4D]), [""; 0]);
}

#[test]
fn any_bytes_are_borne() {
    let mut random = fastrand::Rng::with_seed(7);
    for _ in 0..50 {
        let mut rig = Rig::new(with_clock());
        for _ in 0..20 {
            let bytes: Vec<u8> = (0..random.usize(..30)).map(|_| random.u8(..)).collect();
            rig.ask(&bytes);
        }
    }
}
