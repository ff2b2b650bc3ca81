//! The app, against the bytes that the documents print, and against the home-made board on one clock.

use std::time::{Duration, Instant};

use super::{
    Opponent, Seen, SwppBoard, WhitePawnApp,
    app::{self, SETTLE},
    board::{self, Answer},
    seen::HANDSHAKE_WAIT,
    style::Style,
};
use crate::{
    HandAction, Report, SimulatedBoard,
    hand::{Next, Player, Plays},
};

const THINKS: Duration = Duration::from_millis(700);
const INSTANT: Duration = Duration::from_millis(1);
const GAMES: &str = include_str!("../../../tests/games/lichess.uci");

/// An app and its clock.
struct Rig {
    app: WhitePawnApp,
    now: Instant,
}

impl Rig {
    fn new(opponent: Option<Opponent>) -> Self {
        Self::of(app::Settings::default(), opponent)
    }

    fn of(settings: app::Settings, opponent: Option<Opponent>) -> Self {
        let mut app = WhitePawnApp::new(settings, opponent);
        let now = Instant::now();
        app.connected(now);
        Self { app, now }
    }

    /// An app whose handshake is done.
    fn ready(opponent: Option<Opponent>) -> Self {
        let mut rig = Self::new(opponent);
        rig.waits(SETTLE);
        rig.hears("H101     1.2MY_SERIAL\n");
        assert!(rig.app.is_ready());
        rig
    }

    /// An app that writes in this style, in a game begun like this.
    fn playing(order: &str, style: Style) -> Self {
        let settings = app::Settings {
            style,
            ..app::Settings::default()
        };
        let mut rig = Self::of(settings, None);
        rig.waits(SETTLE);
        rig.hears("H101     1.2MY_SERIAL\n");
        rig.does(order);
        rig.says();
        rig.seen();
        rig
    }

    fn hears(&mut self, text: &str) {
        self.app.received(self.now, text.as_bytes());
    }

    fn does(&mut self, order: &str) {
        self.app.order(self.now, order.parse().unwrap());
    }

    fn waits(&mut self, time: Duration) {
        let until = self.now + time;
        while let Some(due) = self.app.deadline().filter(|due| *due <= until) {
            self.now = due;
            self.app.timeout(due);
        }
        self.now = until;
    }

    fn says(&mut self) -> String {
        std::iter::from_fn(|| self.app.poll_transmit())
            .map(|bytes| String::from_utf8(bytes).unwrap())
            .collect()
    }

    fn seen(&mut self) -> Vec<String> {
        std::iter::from_fn(|| self.app.poll_seen())
            .map(|seen| seen.to_string())
            .collect()
    }
}

#[test]
fn what_comes_in_the_place_of_an_answer_is_shown() {
    for prompt in [
        "raspberrypi login: ",
        // As agetty begins: after the empty line the app reads nothing more, but the report quotes it.
        "\r\nRaspberry Pi ttyGS0\r\n\r\nraspberrypi login: ",
    ] {
        let mut rig = Rig::new(None);
        rig.hears(prompt);
        rig.waits(Duration::from_secs(10));
        let seen = rig.seen();
        let shown = "unreadable `raspberrypi login: `";
        let times = seen.iter().filter(|line| *line == shown).count();
        assert_eq!(times, 1, "{seen:?}");
        let last = seen.last().unwrap();
        assert!(
            last.starts_with("gave-up: no H1 within 200 ms, 4 times: ")
                && last.contains("`connect`"),
            "{last}"
        );
    }
}

#[test]
fn a_version_that_takes_of_the_serial_number_is_doubted() {
    let seen = |answer: &str| {
        let mut rig = Rig::new(None);
        rig.waits(SETTLE);
        rig.hears(answer);
        assert!(rig.app.is_ready(), "a doubt, and no fault: {answer}");
        rig.seen()
    };
    let doubt = "doubt the version reads `1.2MY_SE`: is it filled up to 8 characters?";
    assert!(seen("H1011.2MY_SERIAL\n").contains(&doubt.to_owned()));
    // Filled up on either side, or all there is.
    for fine in [
        "H101     1.2MY_SERIAL\n",
        "H1011.2     MY_SERIAL\n",
        "H10112.34.56\n",
    ] {
        let seen = seen(fine);
        assert!(
            !seen.iter().any(|line| line.starts_with("doubt")),
            "{seen:?}"
        );
    }
}

#[test]
fn a_handshake_comes_300_ms_after_the_connection() {
    let mut rig = Rig::new(None);
    rig.waits(SETTLE.saturating_sub(INSTANT));
    assert_eq!(rig.says(), "");
    rig.waits(INSTANT);
    assert_eq!(rig.says(), "H0010023\n");
    rig.hears("H101     1.2MY_SERIAL\n");
    rig.waits(Duration::from_secs(10));
    assert_eq!(rig.says(), "");
    assert_eq!(
        rig.seen(),
        [
            "asked 1",
            "ready protocol 01 version `1.2` serial `MY_SERIAL`"
        ]
    );
}

#[test]
fn a_dumb_board_is_asked_three_more_times_200_ms_apart_and_given_up() {
    let mut rig = Rig::new(None);
    rig.waits(SETTLE);
    for _ in 0..3 {
        assert_eq!(rig.says(), "H0010023\n");
        rig.waits(HANDSHAKE_WAIT.saturating_sub(INSTANT));
        assert_eq!(rig.says(), "");
        rig.waits(INSTANT);
    }
    assert_eq!(rig.says(), "H0010023\n");
    rig.waits(HANDSHAKE_WAIT);
    let seen = rig.seen();
    assert_eq!(seen[..4], ["asked 1", "asked 2", "asked 3", "asked 4"]);
    assert!(
        seen.len() == 5 && seen[4].starts_with("gave-up: "),
        "{seen:?}"
    );
    assert!(rig.app.has_failed());
    rig.hears("H101     1.2MY_SERIAL\n");
    rig.waits(Duration::from_mins(1));
    assert!(!rig.app.is_ready() && rig.says().is_empty());
}

#[test]
fn a_new_link_begins_with_a_new_handshake() {
    let mut rig = Rig::new(None);
    rig.waits(Duration::from_secs(5));
    rig.app.disconnected(rig.now);
    rig.does("new-game 2 Y");
    rig.app.connected(rig.now);
    rig.says();
    rig.waits(SETTLE);
    assert_eq!(rig.says(), "H0010023\n");
    rig.hears("H1010.10.1-b\n");
    let seen = rig.seen();
    assert_eq!(seen[5], "refused there is no link");
    assert_eq!(seen[7], "ready protocol 01 version `0.10.1-b` serial ``");
}

#[test]
fn an_answer_that_is_not_framed_exactly_fails_the_handshake() {
    for line in [
        "H1\n",
        "H101\n",
        "H1011.2\n",
        "H101    1.2\n",
        "H1x1     1.2MY_SERIAL\n",
        "H101    1.2\r\n",
        "H101  1.2\u{7}  \n",
    ] {
        let mut rig = Rig::new(None);
        rig.waits(SETTLE);
        rig.hears(line);
        let seen = rig.seen();
        assert!(seen[1].starts_with("failed"), "{line:?}: {seen:?}");
        rig.hears("H101     1.2MY_SERIAL\n");
        assert!(!rig.app.is_ready());
    }
}

#[test]
fn a_carriage_return_in_the_serial_number_is_told() {
    let mut rig = Rig::new(None);
    rig.waits(SETTLE);
    rig.hears("H101     1.2MY_SERIAL\r\n");
    let seen = rig.seen();
    assert!(seen[1].starts_with("fault a serial number"), "{seen:?}");
    assert!(rig.app.is_ready());
}

#[test]
fn an_answer_for_each_handshake_is_right_and_one_more_is_not() {
    let mut rig = Rig::new(None);
    rig.waits(SETTLE + HANDSHAKE_WAIT);
    rig.hears(&"H101     1.2MY_SERIAL\n".repeat(2));
    assert_eq!(rig.seen().len(), 3);
    rig.hears("H101     1.2MY_SERIAL\n");
    assert!(rig.seen()[0].starts_with("fault H1 without a request"));
}

#[test]
fn an_empty_line_or_one_of_a_single_character_jams_it_until_it_is_connected_again() {
    for short in ["\n", "\r\n", "M\n"] {
        let mut rig = Rig::playing("new-game 3 Y", Style::Exact);
        rig.hears(short);
        rig.hears("MB e2e4\n\n");
        assert_eq!(rig.seen(), ["jammed"]);
        assert!(rig.app.game().is_empty());
        rig.app.connected(rig.now);
        rig.waits(SETTLE);
        rig.hears("H101     1.2MY_SERIAL\nMB e2e4\n");
        assert_eq!(rig.seen().last().unwrap(), "made e2e4");
    }
}

#[test]
fn what_the_app_says_is_what_the_documents_print() {
    let mut rig = Rig::ready(None);
    rig.says();
    rig.does("new-game 2 Y");
    assert_eq!(rig.says(), "NG2Y\n");
    rig.does("new-game 0 N");
    rig.does("new-game 1 N");
    rig.does("new-game 3 N");
    assert_eq!(rig.says(), "NG0N\nNG1N\nNG3N\n");
    rig.does("e2e4");
    assert_eq!(rig.says(), "MA e2e4\n");
    rig.does("end 1");
    assert_eq!(rig.says(), "GE1\n");
    rig.does("raw MA e2e4 ");
    rig.does("raw");
    assert_eq!(rig.says(), "MA e2e4 \n\n");
    rig.does("wrong e2e5");
    assert_eq!(rig.says(), "MA e2e5\n");
}

/// The last word of an app of this style in a game offline, where it may make all moves.
fn last_word(style: Style, moves: &str) -> String {
    let mut rig = Rig::playing("new-game 0 N", style);
    for m in moves.split_whitespace() {
        rig.does(m);
    }
    let said = rig.says();
    said.split_inclusive('\n').next_back().unwrap().to_owned()
}

#[test]
fn castling_and_promotion_are_written_in_each_style() {
    let long = "d2d4 d7d5 b1c3 b8c6 c1f4 c8f5 d1d2 d8d7 e1c1";
    let promotion = "h2h4 g7g5 h4g5 h7h6 g5h6 f8g7 h6g7 a7a6 g7h8q";
    assert_eq!(last_word(Style::Exact, long), "MA0-0-0\n");
    assert_eq!(last_word(Style::Sloppy, long), "MAO-O-O\r\n");
    assert_eq!(last_word(Style::Exact, promotion), "MAg7h8q\n");
    assert_eq!(last_word(Style::Bare, promotion), "MA g7h8\n");
    assert_eq!(last_word(Style::Sloppy, promotion), "MAg7h8Q\r\n");
}

#[test]
fn moves_of_the_board_are_taken_as_the_notes_print_them() {
    let mut rig = Rig::playing("new-game 0 Y", Style::Exact);
    rig.hears("MB a2a4\nMB d7d5\nMB b2b3\nMB b8c6\nMB c1a3\nMB c8f5\nMB b1c3\nMB d8d6\nMB e2e3\n");
    rig.hears("MB0-0-0\nMB d1e2\nMB a7a6\nMB  0-0\nMB e1c1\n");
    let seen = rig.seen();
    assert_eq!(seen[0], "made a2a4");
    assert_eq!(seen[9], "made e8c8");
    assert_eq!(seen[12], "fault illegal: `MB  0-0`");
    // The documents say that a board can send 0-0-0, not that it must.
    assert_eq!(seen[13], "made e1c1");
}

#[test]
fn whatever_is_not_byte_by_byte_as_documented_is_a_fault() {
    for line in [
        "MBe2e4\n",
        "MB e2e4\r\n",
        "MBe2e4 \n",
        "MB E2E4\n",
        "MB  O-O\n",
        "MB e2e5\n",
        "MB\n",
        "MA e2e4\n",
        "ok\n",
    ] {
        let mut rig = Rig::playing("new-game 2 Y", Style::Exact);
        rig.hears(line);
        let seen = rig.seen();
        assert!(
            seen.len() == 1 && seen[0].starts_with("fault"),
            "{line:?}: {seen:?}"
        );
        assert!(rig.app.game().is_empty());
    }
}

#[test]
fn the_board_moves_only_in_a_game_and_in_its_turn() {
    let mut rig = Rig::playing("new-game 2 N", Style::Exact);
    rig.hears("MB e2e4\n");
    assert_eq!(rig.seen(), ["fault not the board's turn: `MB e2e4`"]);
    rig.does("e2e4");
    rig.does("e7e5");
    rig.hears("MB e2e4\n");
    assert_eq!(
        rig.seen(),
        [
            "sent e2e4",
            "refused e7e5: it is the board's turn",
            "fault illegal: `MB e2e4`"
        ]
    );
    rig.does("end 0");
    rig.hears("MB e7e5\n");
    assert_eq!(
        rig.seen(),
        ["ended 0", "fault no game is being played: `MB e7e5`"]
    );
}

#[test]
fn an_opponent_answers_after_its_time_and_announces_the_mate() {
    let player = Player::of_game("f2f3 e7e5 g2g4 d8h4", 1, Plays::Black).unwrap();
    let mut rig = Rig::ready(Some(Opponent::new(player, THINKS, 2)));
    assert_eq!(rig.says(), "H0010023\nNG2Y\n");
    rig.hears("MB f2f3\n");
    rig.waits(THINKS.saturating_sub(INSTANT));
    assert_eq!(rig.says(), "");
    rig.waits(INSTANT);
    assert_eq!(rig.says(), "MA e7e5\n");
    rig.hears("MB g2g4\n");
    rig.waits(THINKS);
    assert_eq!(rig.says(), "MA d8h4\nGE1\n");
}

#[test]
fn an_opponent_tells_how_a_game_ended() {
    // Ten moves to a stalemate, by Sam Loyd.
    let stalemate = "e2e3 a7a5 d1h5 a8a6 h5a5 h7h5 h2h4 a6h6 a5c7 f7f6 c7d7 e8f7 d7b7 d8d3 b7b8 d3h7 b8c8 f7g6 c8e6";
    for (game, plays, code) in [
        (stalemate, Plays::White, "ended 2"),
        (stalemate, Plays::Black, "ended 2"),
        ("e2e4 e7e5", Plays::White, "ended 4"),
        ("e2e4 e7e5", Plays::Black, "ended 3"),
    ] {
        let player = Player::of_game(game, 1, plays).unwrap();
        let mut rig = Rig::ready(Some(Opponent::new(player, THINKS, 2)));
        for (ply, m) in game.split_whitespace().enumerate() {
            if plays.has(shakmaty::Color::from_white(ply % 2 == 0)) {
                rig.waits(THINKS);
            } else {
                rig.hears(&format!("MB {m}\n"));
            }
        }
        assert_eq!(rig.seen().last().unwrap(), code, "{game} {plays:?}");
    }
}

#[test]
fn a_board_that_leaves_the_opponents_game_is_told() {
    let player = Player::of_game("e2e4 e7e5", 1, Plays::Black).unwrap();
    let mut rig = Rig::ready(Some(Opponent::new(player, THINKS, 2)));
    rig.hears("MB d2d4\n");
    assert_eq!(rig.seen().last().unwrap(), "astray");
}

/// A board and its player, an app and its opponent, on one clock. Returns the events at both ends when the game has
/// ended.
fn whole_game(
    board: board::Settings,
    hand: &Player,
    opponent: Opponent,
) -> (SwppBoard, WhitePawnApp, Vec<Report>, Vec<Seen>) {
    let mut board = SwppBoard::new(board);
    let mut app = WhitePawnApp::new(app::Settings::default(), Some(opponent));
    let mut now = Instant::now();
    let (mut reports, mut seen) = (Vec::new(), Vec::new());
    app.connected(now);
    board.plugged(now);
    for _ in 0..10_000 {
        while let Some(bytes) = app.poll_transmit() {
            board.received(now, &bytes);
        }
        let announced = board.playing().is_some();
        if announced && let Next::Do(action) = hand.next(&board) {
            board.hand(now, action);
        }
        while let Some(bytes) = board.poll_transmit() {
            app.received(now, &bytes);
        }
        reports.extend(std::iter::from_fn(|| board.poll_report()));
        seen.extend(std::iter::from_fn(|| app.poll_seen()));
        let ended = |report: &Report| matches!(report, Report::Ended(_));
        if board.shown().is_none() && reports.iter().any(ended) {
            return (board, app, reports, seen);
        }
        let due = [app.deadline(), SimulatedBoard::deadline(&board)];
        if let Some(due) = due.into_iter().flatten().min() {
            now = now.max(due);
        }
        app.timeout(now);
        SimulatedBoard::timeout(&mut board, now);
    }
    panic!("the game does not end: {seen:?}");
}

fn is_fault(report: &Report) -> bool {
    matches!(
        report,
        Report::Fault(_) | Report::Lost(_) | Report::Refused(_)
    )
}

fn is_wrong(seen: &Seen) -> bool {
    matches!(
        seen,
        Seen::Fault(_) | Seen::Refused(_) | Seen::Astray | Seen::Jammed
    )
}

#[test]
fn every_game_of_the_file_is_played_without_a_fault_by_both_colours() {
    for line in 1..=GAMES.lines().count() {
        for (board, app) in [(Plays::White, Plays::Black), (Plays::Black, Plays::White)] {
            let hand = Player::of_game(GAMES, line, board).unwrap();
            let opponent = Player::of_game(GAMES, line, app).unwrap();
            let settings = board::Settings {
                hand_delay: Some(THINKS),
                ..board::Settings::default()
            };
            let (board, app, reports, seen) =
                whole_game(settings, &hand, Opponent::new(opponent, THINKS, 3));
            assert!(!reports.iter().any(is_fault), "{line}: {reports:?}");
            assert!(!seen.iter().any(is_wrong), "{line}: {seen:?}");
            assert!(board.game() == app.game(), "{}", app.game());
            let length = GAMES.lines().nth(line - 1).unwrap().split(' ').count();
            assert_eq!(board.game().len(), length);
        }
    }
}

#[test]
fn random_games_end_too() {
    for seed in 0..20 {
        let settings = board::Settings {
            hand_delay: Some(THINKS),
            seed,
            ..board::Settings::default()
        };
        let hand = Player::Random {
            plays: Plays::White,
        };
        let opponent = Player::Random {
            plays: Plays::Black,
        };
        let (board, app, reports, seen) =
            whole_game(settings, &hand, Opponent::new(opponent, THINKS, 1));
        assert!(!reports.iter().any(is_fault), "{seed}: {reports:?}");
        assert!(!seen.iter().any(is_wrong), "{seed}: {seen:?}");
        assert!(board.game() == app.game(), "{}", app.game());
    }
}

#[test]
fn a_board_that_answers_a_little_late_is_still_found() {
    let player = Player::of_game("e2e4", 1, Plays::White).unwrap();
    let settings = board::Settings {
        answer: Answer::Late(Duration::from_millis(250)),
        hand_delay: Some(THINKS),
        ..board::Settings::default()
    };
    let hand = Player::of_game("e2e4", 1, Plays::Black).unwrap();
    let (.., seen) = whole_game(settings, &hand, Opponent::new(player, THINKS, 2));
    assert_eq!(seen[1], Seen::Asked(2));
    assert!(!seen.iter().any(is_wrong), "{seen:?}");
}

#[test]
fn a_hand_that_takes_back_unasked_makes_a_fault_in_the_app() {
    let mut rig = Rig::playing("new-game 2 Y", Style::Exact);
    let mut board = SwppBoard::new(board::Settings::default());
    for order in ["e2e4", "take-back", "d2d4"] {
        board.hand(rig.now, order.parse::<HandAction>().unwrap());
    }
    while let Some(bytes) = board.poll_transmit() {
        rig.app.received(rig.now, &bytes);
    }
    assert_eq!(
        rig.seen(),
        ["made e2e4", "fault not the board's turn: `MB d2d4`"]
    );
}

#[test]
fn a_random_opponent_promotes_to_queens_only() {
    let mut promotions = 0;
    for seed in 0..200 {
        let settings = app::Settings {
            seed,
            ..app::Settings::default()
        };
        let mut rig = Rig::of(settings, None);
        rig.waits(SETTLE);
        rig.hears("H101     1.2MY_SERIAL\n");
        for order in "new-game 0 N/a2a4/b7b5/a4b5/a7a6/b5a6/h7h6/a6a7/h6h5/random".split('/') {
            rig.does(order);
        }
        let sent = rig.seen().pop().unwrap();
        assert!(sent.starts_with("sent "), "{sent}");
        let piece = sent.get("sent a7b8".len()..).unwrap();
        assert!(["", "q"].contains(&piece), "{sent}");
        promotions += usize::from(piece == "q");
    }
    assert!(promotions > 0);
}
