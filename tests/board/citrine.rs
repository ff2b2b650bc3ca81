//! A Citrine's lamps and settings, and the positions that the player sets up on it: the core against the simulated board,
//! both without I/O, on one virtual clock. The player sees only the lamps.

use std::time::{Duration, Instant};

use boardbridge::{
    chess::game::{Game, uci},
    driver::citrine::limits::{CHECK_EVERY, LIT_WAIT},
    vocabulary::{Advice, LinkState},
};
use rig::{
    cable::{Cable, Passed, novag},
    clock::Clocked,
    game::ours,
    program::Program,
};
use shakmaty::Position;
use simulators::{HandAction, Report};

/// The time a board needs to answer questions, and to receive its settings and its game.
const TALK: Duration = Duration::from_secs(10);

/// Games ended by a move of the program: a move, a capture, castling where the player may castle too and where not, a
/// promotion, an en-passant capture.
const GAMES: [&str; 6] = [
    "e2e4 e7e5",
    "e2e4 d7d5 e4d5 d8d5",
    "e2e4 e7e5 g1f3 g8f6 f1c4 f8c5 e1g1",
    "e2e4 e7e5 g1f3 b8c6 f1c4 f8c5 e1g1",
    "a2a4 b7b5 a4b5 a7a6 b5a6 c8b7 a6b7 b8c6 b7a8q",
    "e2e4 a7a6 e4e5 d7d5 e5d6",
];

fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

fn game(moves: &str) -> Game {
    let mut game = Game::standard();
    game.play_uci(moves.split_whitespace()).unwrap();
    game
}

struct Table {
    cable: Cable,
    program: Program,
    now: Instant,
    seen: Vec<Report>,
    sent: Vec<String>,
}

impl Clocked for Table {
    fn clock(&mut self) -> &mut Instant {
        &mut self.now
    }

    fn carry(&mut self) {
        let (seen, sent) = (&mut self.seen, &mut self.sent);
        while self.cable.carry(self.now, |_, passed| match passed {
            Passed::Written(bytes) => {
                let text = std::str::from_utf8(bytes).unwrap();
                sent.push(text.trim_end().to_owned());
            }
            Passed::Seen(report) => seen.push(report),
            Passed::Said(_) | Passed::Happened(_) => {}
        }) {}
    }

    fn deadline(&self) -> Option<Instant> {
        self.cable.deadline()
    }

    fn timeout(&mut self, now: Instant) {
        self.cable.timeout(now);
    }
}

impl Table {
    /// A board with a player who makes a lit move after this delay, and the program.
    fn new(hand: Duration) -> Self {
        let now = Instant::now();
        let mut cable = Cable::novag(true, hand);
        cable.plug(now);
        Self {
            cable,
            program: Program::default(),
            now,
            seen: Vec::new(),
            sent: Vec::new(),
        }
    }

    /// A board that follows this game and shows its last move.
    fn shows(hand: Duration, moves: &str) -> Self {
        let mut table = Self::new(hand);
        table.pass(TALK);
        let whole = game(moves);
        let before = whole.truncated(whole.len() - 1);
        for m in before.uci_moves() {
            table.hand(HandAction::Move(m));
        }
        table.states(&whole);
        table
    }

    /// The program was killed, and another one has replaced it.
    fn starts_anew(&mut self) {
        self.cable.core = novag(true);
        self.cable.core.link_up(self.now);
    }

    /// The daemon is killed, and goes on from what it has kept.
    fn goes_on(&mut self) {
        let kept = serde_json::to_string(&self.cable.core.memory()).unwrap();
        self.cable.core = novag(true);
        let kept = serde_json::from_str(&kept).unwrap();
        self.cable.core.resume(self.now, kept);
        self.cable.core.link_up(self.now);
    }

    fn states(&mut self, game: &Game) {
        let (target, awaits) = (self.program.states(game), self.program.awaits(true));
        self.cable.command(self.now, target);
        self.cable.command(self.now, awaits);
        self.carry();
    }

    fn hand(&mut self, action: HandAction) {
        self.cable.hand(self.now, action);
        self.carry();
    }

    fn moves(&mut self, m: &str) {
        self.hand(HandAction::Move(m.parse().unwrap()));
    }

    fn answer(&self) -> Option<String> {
        let answer = self.program.answer(&self.cable.snapshot())?;
        Some(uci(answer).to_string())
    }

    /// Commands sent that turn off the lamps.
    fn questions(&self) -> usize {
        let asks = |line: &&String| matches!(line.as_str(), "X" | "U" | "I" | "G" | "P");
        self.sent.iter().filter(asks).count()
    }
}

#[test]
fn a_move_is_lit_wherever_the_program_is_killed_while_it_shows_it() {
    // Around the first send and the second one, which is 3 s later for a capture.
    let kills = (0..600).step_by(30).chain((600..4500).step_by(150));
    // The program's game is stated again at once, before the board's list, after it, and much later.
    let stated = [0, 600, 1500, 20_000];
    for (moves, kill, stated) in GAMES
        .into_iter()
        .flat_map(|moves| kills.clone().map(move |kill| (moves, kill)))
        .flat_map(|(moves, kill)| stated.map(|stated| (moves, kill, stated)))
    {
        let what = format!("{moves}, killed after {kill} ms, stated {stated} ms later");
        let whole = game(moves);
        let last = whole.last().unwrap();
        // The hand is slower than everything that comes before.
        let mut table = Table::shows(ms(1000), moves);
        table.pass(ms(kill));
        table.starts_anew();
        table.pass(ms(stated));
        table.states(&whole);
        table.pass(TALK);
        // The words `mO-O` may be the hand's own castling: then the player is told in words.
        let means_other = moves.contains("g8f6") && moves.ends_with("e1g1");
        if means_other && table.cable.board.shown().is_some() {
            let advice = table.cable.core.snapshot().advice;
            assert!(
                advice
                    == (Advice::Shown {
                        m: last,
                        awaited: true
                    }),
                "{what}: {advice}"
            );
            table.hand(HandAction::Execute);
        }
        assert_eq!(table.cable.board.shown(), None, "{what}: {:?}", table.sent);
        assert_eq!(
            ours(table.cable.board.game()),
            whole,
            "{what}: {:?}",
            table.sent
        );
        assert_eq!(table.answer(), None, "{what}");
        let reply = uci(whole.position().legal_moves()[0]);
        table.hand(HandAction::Move(reply));
        assert_eq!(table.answer(), Some(reply.to_string()), "{what}");
    }
}

#[test]
fn a_castling_that_the_lamps_have_not_shown_is_lit_after_a_kill_though_the_hand_could_castle_so() {
    let moves = "e2e4 e7e5 g1f3 g8f6 f1c4 f8c5 e1g1";
    let whole = game(moves);
    for kill in (0..600).step_by(30) {
        let mut table = Table::shows(ms(1000), moves);
        table.pass(ms(kill));
        let was_lit = table
            .seen
            .iter()
            .any(|seen| matches!(seen, Report::Shown(_)));
        table.goes_on();
        table.states(&whole);
        table.pass(TALK);
        assert_eq!(
            table.cable.board.shown().is_some(),
            was_lit,
            "killed after {kill} ms: {:?}",
            table.sent
        );
        assert_eq!(ours(table.cable.board.game()), whole, "after {kill} ms");
    }
}

#[test]
fn a_castling_that_the_hand_made_before_its_second_send_does_not_castle_for_the_hand() {
    let moves = "e2e4 e7e5 g1f3 g8f6 f1c4 f8c5 e1g1";
    let whole = game(moves);
    for kill in (0..600).step_by(30) {
        let mut table = Table::shows(ms(60_000), moves);
        table.pass(ms(kill));
        table.hand(HandAction::Execute);
        table.goes_on();
        table.states(&whole);
        table.pass(TALK);
        assert_eq!(table.answer(), None, "killed after {kill} ms");
        assert_eq!(
            ours(table.cable.board.game()),
            whole,
            "killed after {kill} ms: {:?}",
            table.sent
        );
        if table.cable.board.shown().is_some() {
            table.hand(HandAction::Execute);
        }
        table.moves("e8g8");
        assert_eq!(
            table.answer().as_deref(),
            Some("e8g8"),
            "killed after {kill} ms"
        );
    }
}

#[test]
fn a_game_that_is_taken_up_again_is_shown_to_its_end_wherever_the_program_is_killed() {
    let moves = "e2e4 d7d5 e4d5 d8d5 b1c3";
    let whole = game(moves);
    for kill in (0..20_000).step_by(90) {
        let mut table = Table::new(ms(1000));
        table.pass(TALK);
        table.states(&whole);
        table.pass(ms(kill));
        table.starts_anew();
        table.states(&whole);
        table.pass(Duration::from_secs(60));
        assert_eq!(
            ours(table.cable.board.game()),
            whole,
            "killed after {kill} ms"
        );
        assert_eq!(table.cable.board.shown(), None, "killed after {kill} ms");
        // The last but one is taken for the hand's own in a game that is under way.
        let is_unmade =
            |seen: &&Report| matches!(seen, Report::Fault(what) if !what.starts_with("d8d5"));
        let unmade = table.seen.iter().find(is_unmade);
        assert_eq!(unmade, None, "killed after {kill} ms");
    }
}

#[test]
fn a_move_is_lit_where_the_cable_is_pulled_between_its_two_sends() {
    for moves in ["e2e4 e7e5", "e2e4 d7d5 e4d5 d8d5"] {
        let mut table = Table::shows(ms(1000), moves);
        // Referee mode, then the move.
        table.pass(ms(400));
        table
            .cable
            .core
            .link_down(table.now, "the cable".to_owned());
        table.cable.plugged = false;
        table.pass(TALK);
        assert!(table.cable.board.shown().is_some(), "{moves}");
        table.cable.plugged = true;
        table.cable.core.link_up(table.now);
        table.pass(TALK);
        assert_eq!(table.cable.board.shown(), None, "{moves}");
    }
}

#[test]
fn a_move_that_the_hand_had_made_is_sent_again_in_vain_and_the_game_goes_on() {
    for moves in GAMES {
        let mut table = Table::shows(ms(1000), moves);
        table.pass(TALK);
        assert_eq!(table.cable.board.shown(), None, "{moves}");
        table.starts_anew();
        table.states(&game(moves));
        table.pass(TALK);
        assert_eq!(ours(table.cable.board.game()), game(moves));
        let reply = uci(table.cable.board.game().position().legal_moves()[0]);
        table.hand(HandAction::Move(reply));
        assert_eq!(table.answer(), Some(reply.to_string()), "{moves}");
    }
}

#[test]
fn the_hands_move_is_heard_from_a_board_that_lost_its_settings() {
    // At the start, and after a move that was shown and made, which is not known to have been made.
    for (moves, reply, wait) in [
        ("", "e2e4", CHECK_EVERY),
        ("e2e4", "e7e5", LIT_WAIT),
        ("e2e4 e7e5 g1f3", "b8c6", LIT_WAIT),
    ] {
        for before in [ms(0), ms(5000), ms(29_000), ms(100_000)] {
            let mut table = Table::new(ms(1000));
            table.pass(TALK);
            table.states(&game(moves));
            table.pass(ms(20_000) + before);
            table.hand(HandAction::ForgetSettings);
            table.moves(reply);
            assert_eq!(table.answer(), None);
            table.pass(wait + TALK);
            let answer = table.answer();
            assert_eq!(answer.as_deref(), Some(reply), "{moves}, {before:?}");
        }
    }
}

#[test]
fn a_board_that_lost_its_settings_while_the_program_thought_makes_no_move_of_its_own() {
    for (before, programs, reply) in [("", "e2e4", "e7e5"), ("e2e4", "e7e5", "g1f3")] {
        let mut table = Table::new(ms(1000));
        table.pass(TALK);
        table.states(&game(before));
        table.pass(TALK);
        table.hand(HandAction::ForgetSettings);
        let whole = game(&format!("{before} {programs}"));
        table.states(&whole);
        table.pass(LIT_WAIT + TALK);
        assert_eq!(ours(table.cable.board.game()), whole);
        assert_eq!(table.answer(), None);
        table.moves(reply);
        assert_eq!(table.answer().as_deref(), Some(reply));
    }
}

#[test]
fn a_board_that_is_off_while_the_hand_is_to_move_is_told_and_found_again() {
    for (moves, reply, wait) in [("", "e2e4", CHECK_EVERY), ("e2e4", "e7e5", LIT_WAIT)] {
        let mut table = Table::new(ms(1000));
        table.pass(TALK);
        table.states(&game(moves));
        table.pass(TALK);
        table.hand(HandAction::Off);
        table.pass(wait + TALK);
        let link = table.cable.core.snapshot().link;
        assert_eq!(link, LinkState::Silent { garbled: false }, "{moves}");
        // Its settings are gone with the power.
        table.hand(HandAction::On { forgetful: false });
        table.hand(HandAction::ForgetSettings);
        table.pass(ms(3000));
        table.moves(reply);
        table.pass(TALK);
        assert_eq!(table.cable.core.snapshot().link, LinkState::Up, "{moves}");
        assert_eq!(table.answer().as_deref(), Some(reply), "{moves}");
    }
}

#[test]
fn nothing_is_asked_while_the_hand_makes_a_move_and_a_slow_hand_sees_it_lit_again() {
    let mut table = Table::new(Duration::from_secs(25));
    table.pass(TALK);
    let before = table.questions();
    table.states(&game("e2e4"));
    table.pass(LIT_WAIT - ms(1000));
    assert_eq!(table.questions(), before);
    assert_eq!(table.cable.board.shown(), None, "it was made");

    let mut table = Table::new(LIT_WAIT * 2);
    table.pass(TALK);
    table.states(&game("e2e4"));
    table.pass(LIT_WAIT + ms(2000));
    let m = game("e2e4").last().unwrap();
    let lamps = [Report::Shown(m), Report::PutOut(m), Report::LitAgain(m)];
    assert_eq!(table.seen, lamps);
    table.hand(HandAction::Execute);
    table.moves("e7e5");
    assert_eq!(table.answer().as_deref(), Some("e7e5"));
}

#[test]
fn a_board_is_asked_for_little_while_it_waits_for_the_hand() {
    let mut table = Table::new(ms(1000));
    table.pass(TALK);
    table.states(&game(""));
    let before = table.sent.len();
    table.pass(Duration::from_secs(600));
    let after = &table.sent[before..];
    assert!(after.iter().all(|line| line == "X" || line == "U"));
    assert!((70..=80).contains(&after.len()), "{}", after.len());
    let faults = |seen: &&Report| matches!(seen, Report::Fault(_) | Report::Lost(_));
    assert_eq!(table.seen.iter().find(faults), None);
}

#[test]
fn lifting_the_king_of_the_side_not_to_move_makes_the_boards_own_move_the_players() {
    let mut table = Table::new(ms(1000));
    table.pass(TALK);
    table.states(&game(""));
    // White is to move, and Black's king is adjusted.
    table.hand(HandAction::LiftKing);
    let played = table
        .cable
        .board
        .game()
        .last()
        .map(uci)
        .unwrap()
        .to_string();
    // The board echoes it like a move of the hand's: nothing tells them apart.
    assert_eq!(table.answer(), Some(played.clone()));
    // What helps: to take it back on the board and in the program, which states the game without it.
    table.pass(TALK);
    table.hand(HandAction::TakeBack);
    assert_eq!(table.answer(), None);
    table.states(&game(""));
    table.moves("g1f3");
    assert_eq!(table.answer().as_deref(), Some("g1f3"), "after {played}");
}

/// A king and a pawn against a king, White to move.
const PAWN: &str = "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1";

fn set_up(fen: &str) -> HandAction {
    let game = Game::from_fen(fen).unwrap();
    HandAction::SetUp(Box::new(simulators::game::Game::from_start(
        game.start().clone(),
    )))
}

#[test]
fn a_position_that_the_player_sets_up_on_the_board_is_its_game() {
    for (fen, first) in [
        (PAWN, "e2e4"),
        ("4k3/4p3/8/8/8/8/8/4K3 b - - 0 1", "e7e5"),
        // White cannot be to move: Black's king is in check.
        ("4k3/8/8/8/8/8/4R3/4K3 b - - 0 1", "e8d8"),
        ("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", "e1g1"),
    ] {
        for wait in [0, 200, 400, 500, 550, 600, 650, 1000, 5000] {
            let what = format!("{fen}, {first} after {wait} ms");
            let mut table = Table::new(ms(700));
            table.pass(TALK);
            table.hand(set_up(fen));
            table.pass(ms(wait));
            table.moves(first);
            table.pass(TALK);
            let snapshot = table.cable.snapshot();
            let held = &snapshot.game;
            let board = ours(table.cable.board.game());
            let (held_now, on_board) = (held.position(), board.position());
            assert_eq!(held_now.board(), on_board.board(), "{what}: {held}");
            assert_eq!(held_now.turn(), on_board.turn(), "{what}: {held}");
            // A move that was made before the board has shown where it began is part of that position.
            if wait >= 1000 {
                let mut wanted = Game::from_fen(fen).unwrap();
                wanted.play_uci([first]).unwrap();
                assert_eq!(**held, wanted, "{what}");
            }
            assert!(snapshot.sure, "{what}");
        }
    }
}

#[test]
fn a_board_that_goes_back_to_the_start_unseen_has_no_position_that_was_set_up_before() {
    // The board lists no move in either.
    for back in [
        HandAction::NewGame,
        HandAction::On { forgetful: true },
        HandAction::On { forgetful: false },
    ] {
        let mut table = Table::new(ms(700));
        table.pass(TALK);
        table.hand(set_up(PAWN));
        table.pass(TALK);
        table.cable.unplug(table.now, "unplugged");
        if !matches!(back, HandAction::NewGame) {
            table.hand(HandAction::Off);
        }
        table.hand(back.clone());
        table.pass(ms(300));
        table.cable.plug(table.now);
        table.pass(TALK);
        let snapshot = table.cable.snapshot();
        let board = ours(table.cable.board.game());
        assert_eq!(snapshot.game.position(), board.position(), "{back:?}");
        assert!(snapshot.sure, "{back:?}");
    }
}

#[test]
fn a_board_that_goes_back_to_the_players_own_start_position_begins_its_game_there() {
    let mut table = Table::new(ms(700));
    table.pass(TALK);
    table.hand(set_up(PAWN));
    table.pass(TALK);
    table.moves("e2e4");
    table.pass(TALK);
    // By whoever sends the board this.
    table.cable.board.received(table.now, b"O\r\n");
    table.pass(TALK);
    assert_eq!(*table.cable.snapshot().game, Game::from_fen(PAWN).unwrap());
    table.hand(HandAction::NewGame);
    table.pass(TALK);
    assert_eq!(*table.cable.snapshot().game, Game::standard());
}

#[test]
fn the_first_move_after_a_new_game_is_neither_lost_nor_late_because_the_board_is_asked_where_it_began()
 {
    // A move that the board does not transmit yet is found in its list.
    for (wait, within) in [
        (100, 1500),
        (310, 1),
        (450, 1),
        (500, 1),
        (600, 1),
        (2000, 1),
    ] {
        let mut table = Table::new(ms(700));
        table.pass(TALK);
        table.states(&game(""));
        table.pass(TALK);
        table.hand(HandAction::NewGame);
        table.pass(ms(wait));
        table.moves("e2e4");
        table.pass(ms(within));
        assert_eq!(
            table.answer().as_deref(),
            Some("e2e4"),
            "{wait} ms: {:?}",
            table.sent
        );
        table.pass(TALK);
        assert_eq!(*table.cable.snapshot().game, game("e2e4"), "{wait} ms");
        let lost = |seen: &&Report| matches!(seen, Report::Lost(_));
        assert_eq!(table.seen.iter().find(lost), None, "{wait} ms");
    }
}

#[test]
fn the_first_move_counts_as_soon_as_the_board_is_said_to_be_connected() {
    // The settings may be lost: the board transmits no move then.
    for loses in [false, true] {
        for wait in (0..1500).step_by(50) {
            let mut table = Table::new(ms(700));
            let begins = table.program.begins();
            table.cable.command(table.now, begins);
            table.states(&game(""));
            while table.cable.snapshot().link != LinkState::Up {
                table.pass(ms(10));
            }
            if loses {
                table.hand(HandAction::ForgetSettings);
            }
            table.pass(ms(wait));
            table.moves("e2e4");
            table.pass(CHECK_EVERY + TALK);
            let what = format!("loses {loses}, {wait} ms: {:?}", table.sent);
            assert_eq!(table.answer().as_deref(), Some("e2e4"), "{what}");
            assert!(!table.sent.iter().any(|line| line == "N"), "{what}");
        }
    }
}

#[test]
fn a_position_that_was_set_up_while_nobody_listened_shows_when_a_move_is_refused() {
    for (before, target) in [("", "d2d4"), ("e2e4", "e2e4 g8h6")] {
        let mut table = Table::new(ms(700));
        table.pass(TALK);
        for m in game(before).uci_moves() {
            table.hand(HandAction::Move(m));
        }
        table.pass(TALK);
        table.cable.plugged = false;
        table.hand(set_up(PAWN));
        for m in game(before).uci_moves() {
            table.hand(HandAction::Move(m));
        }
        table.cable.plugged = true;
        table.states(&game(target));
        table.pass(ms(60_000));
        assert_eq!(
            table.cable.board.game().position().board(),
            game(target).position().board(),
            "{:?}",
            table.sent
        );
        let shown = table.sent.iter().filter(|line| line.starts_with("mg8h6"));
        assert!(shown.count() <= 6, "{:?}", table.sent);
    }
}

#[test]
fn the_first_command_over_a_port_keeps_its_distance_from_the_daemon_before() {
    let mut table = Table::new(ms(700));
    table.pass(TALK);
    for wait in [0, 20, 56, 90] {
        // The daemon that had the port before has just asked.
        table.cable.unplug(table.now, "restarted");
        table.cable.board.received(table.now, b"G\r\n");
        while table.cable.board.poll_transmit().is_some() {}
        table.pass(ms(wait));
        table.cable.plug(table.now);
        table.pass(TALK);
    }
    let lost = |seen: &&Report| matches!(seen, Report::Lost(_));
    assert_eq!(table.seen.iter().find(lost), None, "{:?}", table.sent);
}
