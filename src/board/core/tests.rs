//! The core with a board, on a manually advanced clock.

mod free;

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use shakmaty::{Chess, Color, uci::UciMove};
use uuid::Uuid;

use super::*;
use crate::vocabulary::Command;
use crate::{
    board::claims::LOOKS_ON,
    chess::game::{Game, uci},
    driver::{
        Driver, DriverEvent, Profile, Step,
        swpp::{Framing, MOVE_WAIT, Swpp},
        ucb,
    },
    vocabulary::{Advice, BoardName, Channel, ClientId, GameEnd, Occasion, Reply},
};

const CLIENT: ClientId = ClientId(1);

/// A home-made board that has answered, and its client.
struct Rig {
    core: Core,
    now: Instant,
    number: u64,
}

impl Rig {
    fn new() -> Self {
        let mut rig = Self::over(Framing::Stream);
        rig.waits(1);
        rig.hears("H101     1.2\n");
        rig
    }

    fn over(way: Framing) -> Self {
        Self::with(Box::new(Swpp::new(way, MOVE_WAIT)))
    }

    /// A board about which nothing is known before its first message.
    fn ucb() -> Self {
        Self::with(Box::new(ucb::Ucb::new(ucb::Settings::default())))
    }

    fn with(driver: Box<dyn Driver>) -> Self {
        let wait = Duration::from_secs(3);
        let mut core = Core::new(BoardName::default(), driver, wait);
        let now = Instant::now();
        core.link_up(now);
        Self {
            core,
            now,
            number: 0,
        }
    }

    /// A board that cannot be asked goes on after a reload, of which the clients notice nothing, or after a kill.
    fn goes_on(&mut self, killed: bool) {
        let memory = self.core.memory();
        let driver = Box::new(ucb::Ucb::new(ucb::Settings::default()));
        self.core = Core::new(BoardName::default(), driver, Duration::from_secs(3));
        if killed {
            let kept = serde_json::to_value(memory).unwrap();
            let memory = serde_json::from_value(kept).unwrap();
            self.core.recall(self.now, memory);
        } else {
            self.core.resume(self.now, memory);
        }
        self.core.link_up(self.now);
    }

    /// What the core sends within so many fifths of a second: a UCB is sent a line in each.
    fn transmits_for(&mut self, fifths: u32) -> String {
        let mut text = String::new();
        for _ in 0..fifths {
            self.now += Duration::from_millis(200);
            self.core.timeout(self.now);
            text += &self.transmits();
        }
        text
    }

    fn waits(&mut self, seconds: u64) {
        self.now += Duration::from_secs(seconds);
        self.core.timeout(self.now);
        while self.core.poll_transmit(self.now).is_some() {}
        self.core.timeout(self.now);
        while self.core.poll_transmit(self.now).is_some() {}
    }

    /// What the core sends now.
    fn transmits(&mut self) -> String {
        let mut text = String::new();
        while let Some(outgoing) = self.core.poll_transmit(self.now) {
            text += std::str::from_utf8(outgoing.bytes()).unwrap();
        }
        text
    }

    /// The characteristic has taken what was written.
    fn done(&mut self) {
        let channel = Channel::Serial;
        self.core.answered(self.now, channel, Reply::Done);
    }

    fn hears(&mut self, text: &str) {
        let bytes = text.as_bytes();
        self.core.received(self.now, Channel::Serial, bytes);
    }

    fn states(&mut self, moves: &str) {
        self.tells(moves);
        self.awaits(true);
    }

    fn awaits(&mut self, on: bool) {
        let client = CLIENT;
        let command = Command::Await { client, on };
        self.core.command(self.now, command);
    }

    /// The program states the game, and waits for nothing.
    fn tells(&mut self, moves: &str) {
        self.number += 1;
        let mut game = Game::standard();
        game.play_uci(moves.split_whitespace()).unwrap();
        let target = Command::Target {
            client: CLIENT,
            label: "the test".into(),
            number: self.number,
            game: Box::new(game),
            occasion: Occasion::default(),
        };
        self.core.command(self.now, target);
    }

    fn answer(&self) -> Option<UciMove> {
        let snapshot = self.core.snapshot();
        let place = snapshot.place(CLIENT, self.number).unwrap();
        place.answer.first().copied().map(uci)
    }

    fn takes_answer(&mut self) {
        let answered = Command::Answered {
            client: CLIENT,
            number: self.number,
            answer: self.answer().unwrap(),
        };
        self.core.command(self.now, answered);
    }
}

#[test]
fn after_a_position_was_set_up_by_hand_the_next_move_is_the_answer() {
    for says_so in [true, false] {
        let mut rig = Rig::new();
        rig.states("");
        rig.waits(1);
        rig.hears("MB e2e4\n");
        rig.takes_answer();
        rig.states("e2e4 e7e5");
        rig.waits(10);
        rig.hears("MB g1f3\n");
        rig.takes_answer();
        rig.states("e2e4 e7e5");
        if says_so {
            rig.core.command(rig.now, Command::Ready { client: CLIENT });
        }
        rig.hears("MB f1c4\n");
        assert_eq!(rig.answer().unwrap().to_string(), "f1c4", "{says_so}");
    }
}

#[test]
fn a_program_that_comes_with_first_moves_after_a_game_that_is_over_begins_anew_without_saying_so() {
    const MATED: &str = "e2e4 e7e5 d1h5 b8c6 f1c4 a7a6 b1c3 h7h6 a2a3 b7b6";
    let later = "e2e4 e7e5 d1h5";
    for (last, stated, begins) in [
        ("h5f7", "e2e4", true),
        ("h5f7", later, false),
        ("h5f3", "e2e4", false),
    ] {
        let mut rig = Rig::new();
        let moves: Vec<&str> = MATED.split(' ').chain([last]).collect();
        for (ply, m) in moves.iter().enumerate() {
            rig.states(&moves[..ply].join(" "));
            rig.waits(1);
            rig.hears(&format!("MB {m}\n"));
            rig.takes_answer();
        }
        rig.tells(&moves.join(" "));
        rig.core.command(rig.now, Command::Lost { client: CLIENT });
        rig.states(stated);
        let said = rig.transmits();
        assert_eq!(said.contains("NG"), begins, "{last}, {stated}: {said}");
    }
}

#[test]
fn an_analysis_for_the_other_side_does_not_make_the_hands_moves_the_programs() {
    let mut rig = Rig::new();
    rig.states("e2e4");
    rig.waits(10);
    rig.hears("MB e7e5\n");
    rig.takes_answer();
    rig.states("e2e4 e7e5 g1f3");
    rig.waits(10);
    // An analysis for White; the player sets its position up.
    rig.states("e2e4 e7e5");
    rig.core.command(rig.now, Command::Ready { client: CLIENT });
    rig.awaits(false);
    rig.states("e2e4 e7e5 f1c4");
    rig.waits(10);
    rig.hears("MB b8c6\n");
    rig.takes_answer();
    // A hand that is quicker than `go`.
    rig.tells("e2e4 e7e5 f1c4 b8c6 d1h5");
    rig.waits(10);
    rig.hears("MB g7g6\n");
    assert_eq!(rig.answer().unwrap().to_string(), "g7g6");
    // By the rule itself: White's moves are the program's, and do not come from the hand.
    rig.takes_answer();
    rig.tells("e2e4 e7e5 f1c4 b8c6 d1h5 g7g6");
    rig.hears("MB h5f3\n");
    assert_eq!(rig.answer(), None);
}

/// The hand answers a shown move before the `go` that follows the position has come.
#[test]
fn after_an_analysis_for_the_other_side_a_hand_that_is_quicker_than_go_is_answered() {
    for (shown, made) in [("f1c4", "b8c6"), ("g1f3", "g8f6")] {
        let mut rig = Rig::new();
        rig.states("e2e4");
        rig.waits(10);
        rig.hears("MB e7e5\n");
        rig.takes_answer();
        rig.states("e2e4 e7e5 g1f3");
        rig.waits(10);
        rig.states("e2e4 e7e5");
        rig.waits(10);
        rig.core.command(rig.now, Command::Ready { client: CLIENT });
        rig.awaits(false);
        rig.tells(&format!("e2e4 e7e5 {shown}"));
        rig.waits(0);
        rig.hears(&format!("MB {made}\n"));
        rig.awaits(true);
        assert_eq!(rig.answer().map(|m| m.to_string()).as_deref(), Some(made));
    }
}

#[test]
fn what_a_hand_plays_for_the_program_is_refused_after_another_program_has_come_too() {
    let mut rig = Rig::new();
    rig.states("e2e4");
    rig.waits(0);
    rig.waits(10);
    rig.hears("MB e7e5\n");
    rig.takes_answer();
    let left = Command::Release { client: CLIENT };
    rig.core.command(rig.now, left);
    rig.states("e2e4 e7e5 g1f3");
    rig.waits(0);
    rig.waits(10);
    rig.hears("MB b8c6\n");
    rig.takes_answer();
    rig.hears("MB f1c4\n");
    assert_eq!(rig.core.snapshot().game.len(), 4);
    rig.states("e2e4 e7e5 g1f3 b8c6 f1b5");
    rig.waits(0);
    rig.waits(10);
    assert_eq!(rig.core.snapshot().game.len(), 5);
}

#[test]
fn a_new_game_that_waited_for_the_board_is_begun_there_and_the_one_before_is_ended() {
    let mut rig = Rig::new();
    rig.states("");
    rig.waits(1);
    rig.hears("MB e2e4\n");
    rig.takes_answer();
    rig.states("e2e4 e7e5");
    // The move goes out, and the hand has time to make it.
    rig.waits(0);
    rig.waits(10);
    let waiting = ClientId(2);
    let mut game = Game::standard();
    game.play_uci(["d2d4"]).unwrap();
    for command in [
        Command::NewGame { client: waiting },
        Command::Target {
            client: waiting,
            label: "another".into(),
            number: 1,
            game: Box::new(game.clone()),
            occasion: Occasion::default(),
        },
        Command::Await {
            client: waiting,
            on: true,
        },
    ] {
        rig.core.command(rig.now, command);
    }
    assert_eq!(rig.transmits(), "", "it waits");
    let ended = Command::Ended {
        client: CLIENT,
        end: GameEnd::resigned(Color::Black),
    };
    rig.core.command(rig.now, ended);
    // The hand plays White in the game that ends, and Black in the next.
    assert_eq!(rig.transmits(), "GE4\nNG1N\nMA d2d4\n");
    assert_eq!(*rig.core.snapshot().game, game);
    assert_eq!(rig.core.snapshot().ending, None);
}

/// A client other than the rig's states a game.
fn another(rig: &mut Rig, moves: &str, begins: bool) {
    let client = ClientId(2);
    if begins {
        rig.core.command(rig.now, Command::NewGame { client });
    }
    let mut game = Game::standard();
    game.play_uci(moves.split_whitespace()).unwrap();
    let target = Command::Target {
        client,
        label: "another".into(),
        number: 1,
        game: Box::new(game),
        occasion: Occasion::default(),
    };
    rig.core.command(rig.now, target);
    let on = true;
    rig.core.command(rig.now, Command::Await { client, on });
}

fn answer_to_another(rig: &Rig) -> Option<String> {
    let snapshot = rig.core.snapshot();
    let place = snapshot.place(ClientId(2), 1)?;
    place.answer.first().map(|m| uci(*m).to_string())
}

#[test]
fn a_new_game_that_stands_already_when_its_client_gets_the_board_is_answered() {
    let mut rig = Rig::ucb();
    rig.waits(20);
    rig.states("e2e4");
    rig.waits(20);
    rig.hears("Me7e5\r\n");
    another(&mut rig, "", true);
    // The player puts the pieces back, and that program leaves.
    rig.hears("N\r\n");
    let client = CLIENT;
    rig.core.command(rig.now, Command::Release { client });
    rig.waits(100);
    assert_eq!(rig.core.snapshot().game.len(), 0);
    rig.hears("Me2e4\r\n");
    assert_eq!(answer_to_another(&rig).as_deref(), Some("e2e4"));
}

#[test]
fn a_new_game_announced_by_one_of_two_who_share_the_board_leaves_the_other_answered() {
    let mut rig = Rig::ucb();
    rig.waits(20);
    rig.states("");
    rig.waits(20);
    another(&mut rig, "", false);
    let client = CLIENT;
    rig.core.command(rig.now, Command::NewGame { client });
    rig.states("");
    rig.waits(100);
    rig.hears("Me2e4\r\n");
    assert_eq!(rig.answer().unwrap().to_string(), "e2e4");
    assert_eq!(answer_to_another(&rig).as_deref(), Some("e2e4"));
}

#[test]
fn who_waits_gets_the_board_though_the_hand_ends_the_game_before_its_last_move_is_shown() {
    let mut rig = Rig::ucb();
    rig.waits(20);
    rig.states("");
    rig.waits(20);
    rig.hears("Me2e4\r\n");
    rig.takes_answer();
    another(&mut rig, "d2d4", true);
    // Its last move is on the way when the player puts the pieces back.
    rig.tells("e2e4 e7e5");
    let client = CLIENT;
    let end = GameEnd::resigned(Color::Black);
    rig.core.command(rig.now, Command::Ended { client, end });
    rig.hears("N\r\n");
    for _ in 0..10 {
        rig.waits(60);
    }
    assert!(rig.core.snapshot().place(ClientId(2), 1).unwrap().joined);
}

#[test]
fn who_only_announces_a_new_game_does_not_stop_one_whose_program_is_away() {
    let mut rig = Rig::ucb();
    rig.waits(20);
    rig.states("e2e4");
    rig.waits(60);
    let client = CLIENT;
    for on in [true, false] {
        rig.core.command(rig.now, Command::Away { client, on });
        if on {
            rig.core.link_down(rig.now, "the cable".to_owned());
            let client = ClientId(2);
            rig.core.command(rig.now, Command::NewGame { client });
            rig.core.link_up(rig.now);
        }
    }
    for _ in 0..10 {
        rig.waits(60);
    }
    assert!(rig.core.snapshot().sure, "it was told its game again");
    rig.hears("Me7e5\r\n");
    assert_eq!(rig.answer().unwrap().to_string(), "e7e5");
}

#[test]
fn a_hand_that_was_quicker_than_the_program_is_answered_though_that_announces_nothing() {
    let mut rig = Rig::ucb();
    rig.waits(20);
    rig.hears("N\r\n");
    rig.hears("Me2e4\r\n");
    assert_eq!(rig.core.snapshot().game.len(), 1);
    rig.states("");
    assert_eq!(rig.answer().unwrap().to_string(), "e2e4");
}

#[test]
fn a_shown_move_that_the_program_has_taken_back_meanwhile_is_no_answer() {
    let (write, notify) = (Uuid::from_u128(2), Uuid::from_u128(3));
    let mut rig = Rig::over(Framing::Gatt {
        write: Channel::Gatt(write),
        notify: Channel::Gatt(notify),
    });
    rig.states("e2e4");
    for _ in 0..4 {
        rig.waits(1);
        rig.done();
    }
    rig.hears("H101     1.2\n");
    // NG, and an MA that the board has not acknowledged yet.
    rig.waits(0);
    rig.done();
    rig.waits(0);
    rig.states("");
    rig.done();
    assert_eq!(rig.core.snapshot().game.len(), 1);
    assert_eq!(rig.answer(), None);
}

#[test]
fn an_end_that_is_told_before_the_last_move_is_shown_stays_the_games_end() {
    let mut rig = Rig::new();
    rig.states("");
    rig.waits(1);
    rig.hears("MB e2e4\n");
    rig.takes_answer();
    rig.states("e2e4 e7e5");
    let ended = Command::Ended {
        client: CLIENT,
        end: GameEnd::resigned(Color::White),
    };
    rig.core.command(rig.now, ended);
    rig.waits(10);
    let snapshot = rig.core.snapshot();
    assert_eq!(snapshot.game.len(), 2);
    assert_eq!(snapshot.ending, Some(GameEnd::resigned(Color::White)));
    rig.states("");
    rig.waits(10);
    assert_eq!(rig.core.snapshot().ending, None);
}

#[test]
fn a_position_that_is_set_up_for_a_game_the_program_has_left_is_no_answer() {
    let mut rig = Rig::ucb();
    rig.states("e2e4 d7d5 e4d5 d8d5 b1c3 d5a5");
    rig.waits(0);
    rig.states("");
    for _ in 0..120 {
        rig.waits(1);
        assert_eq!(rig.answer(), None);
    }
    assert!(rig.core.snapshot().game.is_empty());
}

#[test]
fn a_program_that_waits_gets_the_board_when_the_other_has_looked_on_long_enough() {
    const OTHER: ClientId = ClientId(2);
    let mut rig = Rig::new();
    rig.tells("e2e4");
    let mut game = Game::standard();
    game.play_uci(["d2d4"]).unwrap();
    let target = Command::Target {
        client: OTHER,
        label: "192.168.1.6:50000".into(),
        number: 1,
        game: Box::new(game),
        occasion: Occasion::default(),
    };
    rig.core.command(rig.now, target);
    let began = rig.now;
    let awaits = Command::Await {
        client: OTHER,
        on: true,
    };
    rig.core.command(rig.now, awaits);
    let has = |core: &Core| {
        core.snapshot()
            .place(OTHER, 1)
            .is_some_and(|place| place.joined)
    };
    while !has(&rig.core) {
        assert!(rig.now < began + 2 * LOOKS_ON);
        // Nothing else happens: only what the core asks for.
        rig.now = rig.core.deadline().unwrap();
        rig.waits(0);
    }
    assert_eq!(rig.now, began + LOOKS_ON);
}

/// The hand's move is published with the game that follows from it; that the program took it is not published again.
#[test]
fn an_answer_is_published_once() {
    let mut rig = Rig::new();
    rig.states("");
    rig.waits(1);
    rig.core.poll_snapshot();
    while rig.core.poll_event().is_some() {}
    rig.hears("MB e2e4\n");
    let snapshot = rig.core.poll_snapshot().unwrap();
    let answer = snapshot.place(CLIENT, rig.number).unwrap();
    assert_eq!(answer.answer.len(), 1);
    assert_eq!(snapshot.target.unwrap().len(), 1);
    assert!(!snapshot.awaiting);
    while rig.core.poll_event().is_some() {}
    rig.takes_answer();
    assert!(rig.core.poll_snapshot().is_none(), "a second publication");
    assert_eq!(rig.core.poll_event(), None);
    assert_eq!(rig.answer(), None, "it was taken");
}

/// Passes on what a board does, and notes whether its last move may turn out to have been another one.
struct Follower {
    board: Box<dyn Driver>,
    may_replace: Arc<AtomicBool>,
}

impl Driver for Follower {
    fn follow(&mut self, now: Instant, game: &Game, may_replace: bool) -> bool {
        self.may_replace.store(may_replace, Ordering::Relaxed);
        self.board.follow(now, game, may_replace)
    }
    fn profile(&self) -> Profile {
        self.board.profile()
    }
    fn link_up(&mut self, now: Instant) {
        self.board.link_up(now);
    }
    fn link_down(&mut self) {
        self.board.link_down();
    }
    fn received(&mut self, now: Instant, channel: Channel, bytes: &[u8]) {
        self.board.received(now, channel, bytes);
    }
    fn timeout(&mut self, now: Instant) {
        self.board.timeout(now);
    }
    fn deadline(&self) -> Option<Instant> {
        self.board.deadline()
    }
    fn idle(&self) -> bool {
        self.board.idle()
    }
    fn stepping(&self) -> bool {
        self.board.stepping()
    }
    fn start(&mut self, now: Instant, step: Step) {
        self.board.start(now, step);
    }
    fn confirm(&mut self, now: Instant) {
        self.board.confirm(now);
    }
    fn tell_position(&mut self, now: Instant, position: &Chess, new_to_board: bool) {
        self.board.tell_position(now, position, new_to_board);
    }
    fn learn(&mut self, now: Instant) {
        self.board.learn(now);
    }
    fn look(&mut self, now: Instant) {
        self.board.look(now);
    }
    fn poll_transmit(&mut self, now: Instant) -> Option<Outgoing> {
        self.board.poll_transmit(now)
    }
    fn poll_event(&mut self) -> Option<DriverEvent> {
        self.board.poll_event()
    }
}

#[test]
fn a_move_that_a_program_was_given_does_not_turn_out_to_have_been_another_one() {
    let may_replace = Arc::new(AtomicBool::new(false));
    let mut rig = Rig::with(Box::new(Follower {
        board: Box::new(Swpp::new(Framing::Stream, MOVE_WAIT)),
        may_replace: may_replace.clone(),
    }));
    rig.waits(1);
    rig.hears("H101     1.2\n");
    rig.states("");
    rig.waits(1);
    rig.hears("MB e2e4\n");
    assert!(rig.answer().is_some());
    assert!(!may_replace.load(Ordering::Relaxed));
    // As long as nobody was given it, it may.
    rig.states("e2e4 e7e5");
    rig.awaits(false);
    rig.waits(1);
    rig.hears("MB g1f3\n");
    assert!(may_replace.load(Ordering::Relaxed));
}

/// A program whose connection ended before it took the answer, or that asks again before it saw it, gets it again.
#[test]
fn an_answer_that_was_not_taken_is_given_again() {
    let mut rig = Rig::new();
    rig.states("");
    rig.waits(1);
    rig.hears("MB e2e4\n");
    rig.states("");
    assert_eq!(rig.answer().unwrap().to_string(), "e2e4");
    assert_eq!(rig.core.snapshot().target.unwrap().len(), 1);
}

/// A program that withdraws its question has no answer, and the move is still to be given.
#[test]
fn an_answer_to_a_question_that_was_withdrawn_waits_for_the_next_one() {
    let mut rig = Rig::new();
    rig.states("");
    rig.waits(1);
    rig.hears("MB e2e4\n");
    rig.awaits(false);
    assert!(rig.core.snapshot().target.unwrap().is_empty());
    rig.awaits(true);
    assert_eq!(rig.answer().unwrap().to_string(), "e2e4");
}

/// A move that the hand takes back before the program has taken it is not the answer; the next one is.
#[test]
fn a_move_that_is_taken_back_before_it_was_taken_is_no_answer() {
    let mut rig = Rig::ucb();
    rig.states("");
    rig.waits(70);
    rig.hears("Me2e4\r\n");
    assert_eq!(rig.answer().unwrap().to_string(), "e2e4");
    rig.hears("T\r\n");
    let snapshot = rig.core.snapshot();
    assert!(snapshot.awaiting && snapshot.target.unwrap().is_empty());
    assert_eq!(rig.answer(), None);
    rig.hears("Md2d4\r\n");
    assert_eq!(rig.answer().unwrap().to_string(), "d2d4");
}

/// Pieces put to the start while the program has not taken its answer yet are a mistake in its game, as if it still awaited a
/// move: the board is led back.
#[test]
fn pieces_put_to_the_start_before_an_answer_was_taken_are_put_right() {
    let mut rig = Rig::ucb();
    rig.states("e2e4 e7e5");
    for _ in 0..4 {
        rig.waits(70);
    }
    rig.hears("Mg1f3\r\n");
    assert_eq!(rig.answer().unwrap().to_string(), "g1f3");
    rig.hears("N\r\n");
    assert!(rig.core.snapshot().awaiting);
    rig.waits(10);
    let advice = rig.core.snapshot().advice;
    assert!(matches!(advice, Advice::SetUp { .. }), "{advice:?}");
}

#[test]
fn an_answer_that_was_lost_with_the_daemon_is_told_again_though_the_board_was_told_of_it_since() {
    let mut rig = Rig::new();
    rig.states("");
    rig.waits(1);
    rig.hears("MB e2e4\n");
    assert_eq!(rig.answer().unwrap().to_string(), "e2e4");
    let kept = serde_json::to_value(rig.core.memory()).unwrap();
    let board = Box::new(Swpp::new(Framing::Stream, MOVE_WAIT));
    let mut core = Core::new(BoardName::default(), board, Duration::from_secs(3));
    core.recall(rig.now, serde_json::from_value(kept).unwrap());
    core.link_up(rig.now);
    let mut rig = Rig { core, ..rig };
    rig.waits(1);
    rig.hears("H101     1.2\n");
    rig.states("");
    assert_eq!(rig.answer().unwrap().to_string(), "e2e4");
}

#[test]
fn a_program_that_goes_on_from_the_hands_move_is_saved_with_the_next_change() {
    let mut rig = Rig::new();
    rig.states("");
    rig.waits(1);
    let begun = rig.core.memory();
    rig.hears("MB e2e4\n");
    let moved = rig.core.memory();
    assert_eq!(moved.urgency(&begun), Urgency::AtOnce);
    rig.states("e2e4");
    let goes_on = rig.core.memory();
    assert_eq!(goes_on.urgency(&moved), Urgency::Later);
    rig.states("e2e4 e7e5");
    assert_eq!(rig.core.memory().urgency(&goes_on), Urgency::AtOnce);
}

/// A UCB is told its position again after a reload, which takes two seconds: a move of the hand in that time is the answer.
#[test]
fn a_move_made_while_a_ucb_is_told_its_position_after_a_reload_is_answered_and_told_to_it() {
    let mut rig = Rig::ucb();
    rig.states("e2e4 e7e5");
    for _ in 0..4 {
        rig.waits(70);
    }
    rig.goes_on(false);
    let told = rig.transmits_for(4);
    assert!(told.contains(".7pppp ppp"), "{told}");
    rig.hears("Mg1f3\r\n");
    assert_eq!(rig.answer().unwrap().to_string(), "g1f3");
    rig.takes_answer();
    let told = rig.transmits_for(20);
    assert!(told.contains(".3     N  "), "{told}");
    let snapshot = rig.core.snapshot();
    assert!(snapshot.sure && snapshot.game.len() == 3, "{snapshot:?}");
    assert_eq!(snapshot.advice, Advice::Nothing);
    rig.states("e2e4 e7e5 g1f3 b8c6");
    let told = rig.transmits_for(20);
    assert_eq!(told.trim(), "Mb8-c6");
}

/// The cable comes off, and what the hand plays while the board is told its position again is the answer.
#[test]
fn a_move_made_while_a_ucb_is_told_its_position_after_a_lost_link_is_the_answer() {
    for fifths in [0, 4] {
        let mut rig = Rig::ucb();
        rig.states("e2e4 e7e5");
        for _ in 0..4 {
            rig.waits(70);
        }
        rig.core.link_down(rig.now, "the cable".to_owned());
        rig.now += Duration::from_secs(2);
        rig.core.link_up(rig.now);
        let told = rig.transmits_for(fifths);
        assert!(fifths == 0 || told.contains(".7pppp ppp"), "{told}");
        rig.hears("Mg1f3\r\n");
        let answer = rig.answer().map(|m| m.to_string());
        assert_eq!(answer.as_deref(), Some("g1f3"), "after {fifths}/5 s");
        rig.takes_answer();
        let told = rig.transmits_for(40);
        assert!(told.contains(".3     N  "), "after {fifths}/5 s: {told}");
    }
}

#[test]
fn a_shown_move_is_still_asked_for_when_a_ucb_was_told_its_position_again() {
    for is_reload in [false, true] {
        let mut rig = Rig::ucb();
        rig.states("");
        rig.transmits_for(40);
        rig.hears("Me2e4\r\n");
        rig.takes_answer();
        rig.states("e2e4 e7e5");
        let told = rig.transmits_for(40);
        assert!(told.ends_with("Me7-e5\r\n"), "{told}");
        let shown = rig.core.snapshot().advice;
        assert!(matches!(shown, Advice::Shown { .. }), "{shown:?}");
        if is_reload {
            rig.goes_on(true);
            rig.states("e2e4 e7e5");
        } else {
            rig.core.link_down(rig.now, "the cable".to_owned());
            rig.core.link_up(rig.now);
        }
        let told = rig.transmits_for(40);
        assert!(told.contains(".7pppp ppp"), "{told}");
        assert_eq!(rig.core.snapshot().advice, shown, "reload: {is_reload}");
    }
}

#[test]
fn what_is_wrong_after_a_set_up_is_told_with_the_shown_move_made() {
    let mut rig = Rig::ucb();
    rig.states("d2d4");
    rig.waits(70);
    rig.hears("J\r\n");
    rig.transmits_for(10);
    rig.hears("Ma8h5\r\n");
    let told = rig.transmits_for(40);
    assert!(told.contains(".4   P    "), "{told}");
    let guidance = rig.core.snapshot().guidance;
    let texts: Vec<String> = guidance.iter().map(ToString::to_string).collect();
    assert_eq!(texts, ["move the black rook from h5 to a8"]);
}

/// It has just been switched on, and is given time before it is told of the new game.
#[test]
fn a_quick_first_move_on_a_ucb_that_was_just_switched_on_is_the_answer() {
    for wait in [0, 1, 2, 3, 4, 6] {
        let mut rig = Rig::ucb();
        rig.hears(" I\r\n");
        rig.states("");
        rig.transmits_for(5 * wait);
        rig.hears("Me2e4\r\n");
        assert_eq!(rig.answer().unwrap().to_string(), "e2e4", "after {wait} s");
        rig.takes_answer();
        rig.states("e2e4 e7e5");
        let told = rig.transmits_for(60);
        assert!(told.ends_with("Me7-e5\r\n"), "after {wait} s: {told}");
        rig.hears("Mg1f3\r\n");
        assert_eq!(rig.answer().unwrap().to_string(), "g1f3", "after {wait} s");
    }
}

/// A second reload or kill may come while the board is still being told its position after the first.
#[test]
fn an_answer_that_was_not_taken_is_still_given_after_two_restarts_in_a_row() {
    for killed in [false, true] {
        let mut rig = Rig::ucb();
        rig.states("e2e4 e7e5");
        for _ in 0..4 {
            rig.waits(70);
        }
        rig.hears("Mg1f3\r\n");
        for _ in 0..2 {
            rig.goes_on(killed);
            rig.transmits_for(4);
        }
        if killed {
            // It comes back.
            rig.states("e2e4 e7e5");
        }
        let answer = rig.answer().map(|m| m.to_string());
        assert_eq!(answer.as_deref(), Some("g1f3"), "killed: {killed}");
    }
}
