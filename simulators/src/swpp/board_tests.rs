//! The home-made board, against the bytes that the documents print.

use std::time::{Duration, Instant};

use super::{
    SwppBoard,
    board::{Answer, Settings},
    profile::{FROM_BOARD, TO_BOARD},
    style::Style,
};
use crate::{HandAction, SimulatedBoard, peripheral::Peripheral};

const DELAY: Duration = Duration::from_millis(100);

/// A board and its clock.
struct Rig {
    board: SwppBoard,
    now: Instant,
}

impl Rig {
    fn new(settings: Settings) -> Self {
        Self {
            board: SwppBoard::new(settings),
            now: Instant::now(),
        }
    }

    /// A board that was greeted and has begun a game.
    fn playing(settings: Settings) -> Self {
        let mut rig = Self::new(settings);
        rig.hears("H0010023\nNG2Y\n");
        rig.says();
        rig.seen();
        rig
    }

    fn hears(&mut self, text: &str) {
        self.board.received(self.now, text.as_bytes());
    }

    fn does(&mut self, order: &str) {
        self.board.hand(self.now, order.parse().unwrap());
    }

    fn waits(&mut self, time: Duration) {
        let until = self.now + time;
        while let Some(due) = SimulatedBoard::deadline(&self.board).filter(|due| *due <= until) {
            self.now = due;
            SimulatedBoard::timeout(&mut self.board, due);
        }
        self.now = until;
    }

    fn says(&mut self) -> String {
        std::iter::from_fn(|| self.board.poll_transmit())
            .map(|bytes| String::from_utf8(bytes).unwrap())
            .collect()
    }

    fn seen(&mut self) -> Vec<String> {
        std::iter::from_fn(|| self.board.poll_report())
            .map(|report| report.to_string())
            .collect()
    }
}

fn executing() -> Settings {
    Settings {
        hand_delay: Some(DELAY),
        ..Settings::default()
    }
}

#[test]
fn every_handshake_is_answered_as_the_notes_print_it() {
    let mut rig = Rig::new(Settings::default());
    rig.hears("H0010023\nH0010023\n");
    assert_eq!(rig.says(), "H101     1.2MY_SERIAL\nH101     1.2MY_SERIAL\n");
    assert_eq!(rig.seen(), ["greeted 010023", "greeted 010023"]);
}

#[test]
fn a_board_without_a_serial_number_still_fills_its_version_up() {
    let mut rig = Rig::new(Settings {
        serial: String::new(),
        version: "0.10.1-beta".to_owned(),
        ..Settings::default()
    });
    rig.hears("H0010023\n");
    assert_eq!(rig.says(), "H1010.10.1-b\n");
}

#[test]
fn a_late_board_answers_each_handshake_late_and_a_dumb_one_none() {
    let late = Duration::from_millis(250);
    let mut rig = Rig::new(Settings {
        answer: Answer::Late(late),
        ..Settings::default()
    });
    rig.hears("H0010023\n");
    rig.waits(DELAY);
    rig.hears("H0010023\n");
    rig.waits(Duration::from_millis(149));
    assert_eq!(rig.says(), "");
    rig.waits(Duration::from_millis(1));
    assert_eq!(rig.says().lines().count(), 1);
    rig.waits(DELAY);
    assert_eq!(rig.says().lines().count(), 1);

    let mut rig = Rig::new(Settings {
        answer: Answer::Never,
        ..Settings::default()
    });
    rig.hears("H0010023\n");
    rig.waits(DELAY * 100);
    assert_eq!(rig.says(), "");
}

#[test]
fn a_short_version_is_not_filled_up() {
    let mut rig = Rig::new(Settings {
        answer: Answer::Short,
        serial: String::new(),
        ..Settings::default()
    });
    rig.hears("H0010023\n");
    assert_eq!(rig.says(), "H1011.2\n");
}

#[test]
fn games_begin_and_end_as_they_are_announced() {
    let mut rig = Rig::new(Settings::default());
    rig.hears("H0010023\nNG2Y\n");
    assert_eq!(rig.seen(), ["greeted 010023", "new-game", "announced 2Y"]);
    assert_eq!(rig.board.playing().unwrap().to_string(), "2Y");
    rig.hears("GE1\n");
    assert_eq!(rig.seen(), ["ended 1"]);
    assert_eq!(rig.board.playing(), None);
}

#[test]
fn a_move_from_the_app_is_shown_executed_and_not_answered() {
    let mut rig = Rig::playing(executing());
    rig.hears("MA e2e4\n");
    assert_eq!(rig.seen(), ["shown e2e4"]);
    assert!(rig.board.game().is_empty());
    rig.waits(DELAY);
    assert_eq!(rig.seen(), ["executed e2e4"]);
    assert_eq!(rig.board.game().len(), 1);
    assert_eq!(rig.says(), "");
}

#[test]
fn moves_that_come_together_are_shown_one_after_the_other() {
    let mut rig = Rig::playing(executing());
    rig.hears("MA e2e4\nMA e7e5\n");
    assert_eq!(rig.seen(), ["shown e2e4"]);
    rig.waits(DELAY * 2);
    assert_eq!(rig.seen(), ["executed e2e4", "shown e7e5", "executed e7e5"]);
}

#[test]
fn more_moves_than_a_small_computer_keeps_are_lost() {
    let mut rig = Rig::playing(Settings::default());
    rig.hears(&"MA g1f3\nMA g8f6\nMA f3g1\nMA f6g8\n".repeat(3));
    let seen = rig.seen();
    assert_eq!(seen[0], "shown g1f3");
    assert_eq!(seen[1], "lost MA g8f6");
}

#[test]
fn a_repeated_move_changes_nothing() {
    let mut rig = Rig::playing(executing());
    rig.hears("MA e2e4\nMA e2e4\n");
    rig.waits(DELAY);
    rig.hears("MA e2e4\n");
    let again = "told-again e2e4";
    assert_eq!(rig.seen(), ["shown e2e4", again, "executed e2e4", again]);
}

#[test]
fn castling_of_both_sides_is_two_moves() {
    let mut rig = Rig::playing(executing());
    for m in [
        " e2e4", " e7e5", " g1f3", " g8f6", " f1c4", " f8c5", "  0-0", "  0-0",
    ] {
        rig.hears(&format!("MA{m}\n"));
        rig.waits(DELAY);
    }
    let seen = rig.seen();
    assert_eq!(
        &seen[12..],
        ["shown e1g1", "executed e1g1", "shown e8g8", "executed e8g8"]
    );
}

#[test]
fn whatever_is_not_byte_by_byte_as_documented_is_a_fault_and_not_obeyed() {
    for line in [
        "MAe2e4\n",
        "MA e2e4\r\n",
        "MAe2e4 \n",
        "MA  e2e4\n",
        "MA E2E4\n",
        "MAe2-e4\n",
        "MA   e4\n",
        "MA  O-O\n",
        "MA\n",
        "MA e7e4\n",
        "MA e1g1\n",
        "MA  0-0\n",
        "NG2\n",
        "NG4Y\n",
        "NG2y\n",
        "NG2Y\r\n",
        "GE5\n",
        "GE\n",
        "XX\n",
        "\n",
        "M\n",
    ] {
        let mut rig = Rig::playing(Settings::default());
        rig.hears(line);
        let seen = rig.seen();
        assert!(
            seen.len() == 1 && seen[0].starts_with("fault"),
            "{line:?}: {seen:?}"
        );
        assert_eq!(rig.board.playing().unwrap().to_string(), "2Y");
    }
}

#[test]
fn castling_by_the_kings_squares_is_a_fault_even_where_it_is_legal() {
    let mut rig = Rig::playing(executing());
    for m in ["e2e4", "e7e5", "g1f3", "b8c6", "f1c4", "f8c5"] {
        rig.hears(&format!("MA {m}\n"));
        rig.waits(DELAY);
    }
    rig.seen();
    rig.hears("MA e1g1\n");
    assert_eq!(rig.seen(), ["fault illegal: `MA e1g1`"]);
}

#[test]
fn a_handshake_that_is_not_exact_is_answered_and_told() {
    let mut rig = Rig::new(Settings::default());
    rig.hears("H001\n");
    assert_eq!(rig.says(), "H101     1.2MY_SERIAL\n");
    assert_eq!(rig.seen(), ["fault not exactly H0: `01`", "greeted 01"]);
}

#[test]
fn moves_before_the_handshake_or_a_game_are_told() {
    let mut rig = Rig::new(Settings::default());
    rig.hears("MA e2e4\n");
    assert_eq!(
        rig.seen(),
        [
            "fault before the handshake: `MA e2e4`",
            "fault no game was announced: `MA e2e4`",
            "shown e2e4"
        ]
    );
}

#[test]
fn a_line_without_end_is_one_fault() {
    let mut rig = Rig::playing(Settings::default());
    rig.hears(&"x".repeat(10_000));
    assert!(rig.seen().is_empty());
    rig.hears("\nMA e2e4\n");
    assert_eq!(rig.seen(), ["fault a line without end", "shown e2e4"]);
}

/// The messages of a board of this style for these moves.
fn spoken(style: Style, moves: &str) -> String {
    let mut rig = Rig::playing(Settings {
        style,
        ..Settings::default()
    });
    for m in moves.split_whitespace() {
        rig.does(m);
    }
    rig.says()
}

/// The last message of a board of this style.
fn last_word(style: Style, moves: &str) -> String {
    spoken(style, moves)
        .split_inclusive('\n')
        .next_back()
        .unwrap()
        .to_owned()
}

const SHORT: &str = "e2e4 e7e5 g1f3 b8c6 f1c4 f8c5 e1g1";
const LONG: &str = "d2d4 d7d5 b1c3 b8c6 c1f4 c8f5 d1d2 d8d7 e1c1";
const PROMOTION: &str = "h2h4 g7g5 h4g5 h7h6 g5h6 f8g7 h6g7 a7a6 g7h8";

#[test]
fn an_exact_board_writes_moves_as_the_notes_print_them() {
    assert_eq!(spoken(Style::Exact, "a2a4"), "MB a2a4\n");
    assert_eq!(last_word(Style::Exact, SHORT), "MB  0-0\n");
    assert_eq!(last_word(Style::Exact, LONG), "MB0-0-0\n");
    let queen = format!("{PROMOTION}q");
    assert_eq!(last_word(Style::Exact, &queen), "MBg7h8q\n");
    assert_eq!(last_word(Style::Bare, &queen), "MB g7h8\n");
    assert_eq!(last_word(Style::Bare, LONG), "MB0-0-0\n");
}

#[test]
fn a_sloppy_board_writes_as_home_made_programs_do() {
    assert_eq!(spoken(Style::Sloppy, "a2a4"), "MBa2a4\r\n");
    assert_eq!(last_word(Style::Sloppy, SHORT), "MBO-O\r\n");
    assert_eq!(last_word(Style::Sloppy, LONG), "MBO-O-O\r\n");
    let knight = format!("{PROMOTION}n");
    assert_eq!(last_word(Style::Sloppy, &knight), "MBg7h8N\r\n");
    let mut rig = Rig::new(Settings {
        style: Style::Sloppy,
        ..Settings::default()
    });
    rig.hears("H0010023\n");
    assert_eq!(rig.says(), "H101     1.2MY_SERIAL\r\n");
}

#[test]
fn the_app_may_promote_with_and_without_a_letter() {
    for (sent, shown) in [(" g7h8", "g7h8q"), ("g7h8q", "g7h8q"), ("g7h8r", "g7h8r")] {
        let mut rig = Rig::playing(executing());
        for m in PROMOTION.split_whitespace().take(8) {
            rig.hears(&format!("MA {m}\n"));
            rig.waits(DELAY);
        }
        rig.seen();
        rig.hears(&format!("MA{sent}\n"));
        assert_eq!(rig.seen(), [format!("shown {shown}")]);
    }
}

#[test]
fn the_hand_makes_no_other_move_while_one_is_shown() {
    let mut rig = Rig::playing(Settings::default());
    rig.hears("MA e2e4\n");
    rig.does("e7e5");
    rig.does("wrong d2d4");
    assert_eq!(rig.says(), "MB d2d4\n");
    rig.does("wrong e2e4");
    assert_eq!(
        rig.seen(),
        [
            "shown e2e4",
            "refused e7e5: e2e4 is shown",
            "wrong d2d4",
            "executed e2e4"
        ]
    );
    rig.does("wrong a1a5");
    assert_eq!(rig.says(), "MB a1a5\n");
    assert_eq!(rig.board.game().len(), 1);
}

#[test]
fn a_move_taken_back_or_pieces_put_anew_are_not_told() {
    let mut rig = Rig::playing(Settings::default());
    rig.does("e2e4");
    rig.says();
    rig.does("take-back");
    assert!(rig.board.game().is_empty());
    rig.does("d2d4");
    assert_eq!(rig.says(), "MB d2d4\n");
    rig.does("new-game");
    assert!(rig.board.game().is_empty());
    assert_eq!(rig.says(), "");
}

#[test]
fn a_board_that_is_off_is_dumb_and_one_that_forgets_begins_anew() {
    let mut rig = Rig::playing(Settings::default());
    rig.does("e2e4");
    rig.hears("MA e7e5\n");
    rig.does("off");
    rig.hears("H0010023\n");
    rig.does("d2d4");
    assert_eq!(rig.says(), "");
    rig.seen();
    rig.does("on");
    assert_eq!(rig.seen(), ["on", "shown e7e5"]);
    assert_eq!(rig.board.game().len(), 1);
    rig.does("off");
    rig.does("on forgetful");
    assert!(rig.board.game().is_empty() && rig.board.shown().is_none());
    rig.hears("H0010023\n");
    assert_eq!(rig.says(), "H101     1.2MY_SERIAL\n");
}

#[test]
fn another_link_begins_with_an_empty_line() {
    let mut rig = Rig::new(Settings::default());
    rig.hears("MA e2");
    rig.board.plugged(rig.now);
    rig.hears("H0010023\n");
    assert_eq!(rig.says(), "H101     1.2MY_SERIAL\n");
    assert_eq!(rig.seen(), ["greeted 010023"]);
}

#[test]
fn on_the_air_it_is_a_nordic_uart_with_small_packets() {
    let mut rig = Rig::new(Settings::default());
    let (now, board) = (rig.now, &mut rig.board);
    assert_eq!(board.profile().name, "SWPP board");
    assert_eq!(
        board.profile().advertised[0].to_string(),
        "6e400001-b5a3-f393-e0a9-e50e24dcca9e"
    );
    board.connected(now);
    board.subscribed(now, FROM_BOARD, true);
    board.write(now, TO_BOARD, b"H0010023\n").unwrap();
    let told: Vec<Vec<u8>> = std::iter::from_fn(|| board.poll_notify())
        .map(|(from, value)| {
            assert_eq!(from, FROM_BOARD);
            value
        })
        .collect();
    assert!(told.iter().all(|value| value.len() <= 20), "{told:?}");
    assert_eq!(told.concat(), b"H101     1.2MY_SERIAL\n");
    assert_eq!(rig.seen(), ["greeted 010023"]);
}

#[test]
fn on_the_air_a_write_is_one_message_and_unsubscribed_words_are_lost() {
    let mut rig = Rig::new(Settings::default());
    let (now, board) = (rig.now, &mut rig.board);
    assert!(board.write(now, TO_BOARD, b"H0010023\n").is_err());
    board.connected(now);
    board.write(now, TO_BOARD, b"H0010023\nNG2Y\n").unwrap();
    assert_eq!(board.poll_notify(), None);
    let seen = rig.seen();
    assert!(
        seen.iter().any(|seen| seen.contains("not one message")),
        "{seen:?}"
    );
    assert!(
        seen.contains(&"lost H101     1.2MY_SERIAL".to_owned()),
        "{seen:?}"
    );
}

#[test]
fn garbage_is_as_long_as_it_was_ordered() {
    let mut rig = Rig::new(Settings::default());
    rig.board.hand(rig.now, HandAction::Garbage(1000));
    assert_eq!(rig.board.poll_transmit().unwrap().len(), 1000);
}

/// The pieces to which a random player of this style has promoted, one move before promotion.
fn promoted(style: Style) -> Vec<String> {
    let mut all = Vec::new();
    for seed in 0..200 {
        let mut rig = Rig::playing(Settings {
            style,
            seed,
            ..Settings::default()
        });
        for order in "a2a4 b7b5 a4b5 a7a6 b5a6 h7h6 a6a7 h6h5 random".split(' ') {
            rig.does(order);
        }
        let made = rig.seen().pop().unwrap();
        all.extend(made.get("made a7b8".len()..).map(str::to_owned));
    }
    all.retain(|piece| !piece.is_empty());
    all
}

#[test]
fn a_random_hand_whose_board_has_no_letters_promotes_to_queens_only() {
    let bare = promoted(Style::Bare);
    assert!(!bare.is_empty() && bare.iter().all(|piece| piece == "q"));
    assert!(promoted(Style::Exact).iter().any(|piece| piece != "q"));
}
