//! A board that no client has: the hand's moves are followed nevertheless, and a program that states that game continues it.

use shakmaty::Position;

use super::*;
use crate::{chess::game::MAX_PLIES, vocabulary::Advice};

const HELLO: &str = "H101     1.2\n";

/// A board that was on before the daemon started, so that nothing is known of its game.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Board {
    HomeMade,
    Ucb,
}

const BOARDS: [Board; 2] = [Board::HomeMade, Board::Ucb];

impl Board {
    fn rig(self) -> Rig {
        match self {
            Self::HomeMade => Rig::new(),
            Self::Ucb => Rig::ucb(),
        }
    }
}

impl Rig {
    /// The hand makes these moves.
    fn makes(&mut self, board: Board, moves: &str) {
        for m in moves.split_whitespace() {
            self.hears(&match board {
                Board::HomeMade => format!("MB {m}\n"),
                Board::Ucb => format!("M{m}\r\n"),
            });
        }
    }

    /// What is sent within this time.
    fn sends(&mut self, seconds: u64) -> String {
        let mut text = String::new();
        for _ in 0..10 * seconds {
            self.now += Duration::from_millis(100);
            self.core.timeout(self.now);
            text += &self.transmits();
        }
        text
    }

    fn shows(&self) -> (String, bool) {
        let snapshot = self.core.snapshot();
        let moves: Vec<_> = snapshot.game.uci_moves().map(|m| m.to_string()).collect();
        (moves.join(" "), snapshot.sure)
    }

    fn guesses(&self, moves: &str) {
        assert_eq!(self.shows(), (moves.to_owned(), false));
    }

    /// The cable comes off, and is put in again.
    fn reconnects(&mut self, board: Board) {
        self.core.link_down(self.now, "the cable".to_owned());
        self.now += Duration::from_secs(1);
        self.core.link_up(self.now);
        self.waits(1);
        if board == Board::HomeMade {
            self.hears(HELLO);
        }
    }

    /// The daemon is started again, with what it kept.
    fn restarts(&mut self, board: Board) {
        let kept = serde_json::to_string(&self.core.memory()).unwrap();
        self.core = board.rig().core;
        self.core.link_down(self.now, "the daemon ends".to_owned());
        let kept = serde_json::from_str(&kept).unwrap();
        self.core.recall(self.now, kept);
        self.reconnects(board);
    }

    fn announces(&mut self) {
        let client = CLIENT;
        self.core.command(self.now, Command::NewGame { client });
    }
}

#[test]
fn the_hands_first_move_is_shown_and_the_program_that_states_that_game_goes_on() {
    for board in BOARDS {
        for announces in [false, true] {
            for moves in ["e2e4", "g1f3 g8f6", "e2e4 e7e5 g1f3 b8c6 f1c4 f8c5 e1g1"] {
                let mut rig = board.rig();
                rig.makes(board, moves);
                rig.guesses(moves);
                let moved = |event: &Event| matches!(event, Event::Moved { by: By::Hand, .. });
                let told = std::iter::from_fn(|| rig.core.poll_event());
                let told = told.filter(moved).count();
                assert_eq!(told, moves.split(' ').count());
                if announces {
                    rig.announces();
                }
                rig.states(moves);
                assert_eq!(rig.sends(100), "", "{board:?}, {announces}, {moves}");
                assert_eq!(rig.shows(), (moves.to_owned(), true));
                assert_eq!(rig.answer(), None, "that is no answer to itself");
                let next = rig.core.snapshot().game.position().legal_moves()[0];
                rig.makes(board, &uci(next).to_string());
                assert_eq!(rig.answer(), Some(uci(next)));
            }
        }
    }
}

#[test]
fn a_program_that_has_answered_the_hands_move_has_only_its_own_move_shown() {
    for board in BOARDS {
        let mut rig = board.rig();
        rig.makes(board, "e2e4");
        rig.states("e2e4 e7e5");
        let shown = match board {
            Board::HomeMade => "MA e7e5\n",
            Board::Ucb => "Me7-e5\r\n",
        };
        assert_eq!(rig.sends(100), shown);
        rig.makes(board, "g1f3");
        assert_eq!(rig.answer().unwrap().to_string(), "g1f3");
    }
}

#[test]
fn the_hands_last_move_answers_the_program_that_comes_to_the_game_before_it() {
    for board in BOARDS {
        for (stated, made) in [("", "g1f3"), ("g1f3", "g8f6"), ("g1f3 g8f6", "f3g1")] {
            let mut rig = board.rig();
            rig.makes(board, stated);
            rig.makes(board, made);
            rig.states(stated);
            assert_eq!(rig.answer().unwrap().to_string(), made, "{board:?}");
            assert_eq!(rig.sends(100), "", "{board:?}: {stated}, {made}");
            let whole = format!("{stated} {made}");
            assert_eq!(rig.shows(), (whole.trim().to_owned(), true));
        }
    }
}

#[test]
fn a_move_from_before_an_announced_game_is_no_answer_and_one_after_it_is() {
    for board in BOARDS {
        for announced_first in [true, false] {
            let mut rig = board.rig();
            if announced_first {
                rig.announces();
            }
            rig.makes(board, "g1f3");
            if !announced_first {
                rig.announces();
            }
            rig.states("");
            let answer = rig.answer().map(|m| m.to_string());
            assert_eq!(answer.as_deref(), announced_first.then_some("g1f3"));
            let sent = rig.sends(100);
            assert_eq!(sent.is_empty(), announced_first, "{board:?}: {sent}");
        }
    }
}

#[test]
fn a_programs_game_survives_a_slip_while_it_is_disconnected() {
    for board in BOARDS {
        let mut rig = board.rig();
        rig.states("e2e4 e7e5 g1f3");
        rig.sends(100);
        let moves = "e2e4 e7e5 g1f3".to_owned();
        assert_eq!(rig.shows().0, moves, "{board:?}");
        let away = Command::Away {
            client: CLIENT,
            on: true,
        };
        rig.core.command(rig.now, away);
        rig.reconnects(board);
        // Out of turn, and legal at the start.
        rig.makes(board, "d2d4");
        assert_eq!(rig.shows().0, moves, "{board:?}");
    }
}

#[test]
fn a_program_that_states_another_game_begins_it_and_no_move_from_before_answers_it() {
    for board in BOARDS {
        for (made, stated) in [
            ("g1f3 g8f6", ""),
            ("e2e4 e7e5 g1f3", "e2e4"),
            ("e2e4 e7e5", "e2e4 c7c5"),
            ("e2e4", "d2d4"),
        ] {
            let mut rig = board.rig();
            rig.makes(board, made);
            rig.guesses(made);
            rig.states(stated);
            let mut sent = String::new();
            for _ in 0..200 {
                sent += &rig.sends(1);
                assert_eq!(rig.answer(), None, "{board:?}: {made}, {stated}");
            }
            let begins = ["New Game", "NG", "Position Board"];
            assert!(begins.iter().any(|word| sent.starts_with(word)), "{sent}");
            assert_eq!(rig.shows(), (stated.to_owned(), true));
        }
    }
}

#[test]
fn a_move_that_does_not_fit_the_start_is_told_and_another_start_is_seen() {
    for board in BOARDS {
        for first in ["e7e5", "e1g1", "f3e5"] {
            let mut rig = board.rig();
            rig.makes(board, first);
            rig.guesses("");
            let snapshot = rig.core.snapshot();
            assert!(matches!(snapshot.advice, Advice::Unplaced(Some(_))));
            let text = snapshot.advice.to_string();
            assert!(
                text.contains("starting squares") && text.contains("program"),
                "{text}"
            );
            // The player does as told. A UCB tells of it.
            if board == Board::Ucb {
                rig.hears("N\r\n");
            }
            rig.makes(board, "e2e4 e7e5");
            assert_eq!(rig.shows(), ("e2e4 e7e5".to_owned(), board == Board::Ucb));
            assert_eq!(rig.core.snapshot().advice, Advice::Nothing);
        }
        // A program can begin a game nevertheless.
        let mut rig = board.rig();
        rig.makes(board, "e7e5");
        rig.states("");
        rig.sends(100);
        rig.makes(board, "e2e4");
        assert_eq!(rig.answer().unwrap().to_string(), "e2e4");
    }
}

#[test]
fn a_guess_survives_the_link_and_the_daemon_and_is_given_to_the_board_before_a_program_goes_on() {
    for board in BOARDS {
        for restarts in [false, true] {
            let mut rig = board.rig();
            rig.makes(board, "e2e4 e7e5");
            if restarts {
                rig.restarts(board);
            } else {
                rig.reconnects(board);
            }
            rig.guesses("e2e4 e7e5");
            rig.makes(board, "g1f3");
            rig.guesses("e2e4 e7e5 g1f3");
            rig.states("e2e4 e7e5 g1f3");
            let sent = rig.sends(100);
            // Moves may have been made unseen; a home-made board cannot be given a position.
            match board {
                Board::HomeMade => assert_eq!(sent, ""),
                Board::Ucb => assert!(sent.starts_with("Position Board"), "{sent}"),
            }
            assert_eq!(rig.answer(), None);
            rig.makes(board, "b8c6");
            assert_eq!(rig.answer().unwrap().to_string(), "b8c6");
        }
    }
}

#[test]
fn a_board_whose_hand_never_stops_begins_another_game_and_is_known_after_a_restart() {
    for board in BOARDS {
        let mut rig = board.rig();
        rig.waits(1);
        for _ in 0..MAX_PLIES / 4 {
            rig.makes(board, "g1f3 g8f6 f3g1 f6g8");
        }
        rig.makes(board, "g1f3 g8f6");
        rig.guesses("g1f3 g8f6");
        rig.restarts(board);
        rig.guesses("g1f3 g8f6");
    }
}

#[test]
fn a_game_that_is_in_doubt_is_followed_while_nobody_plays_and_a_program_is_not_answered_by_that() {
    for restarts in [false, true] {
        let board = Board::Ucb;
        let mut rig = board.rig();
        rig.hears("N\r\n");
        rig.makes(board, "e2e4");
        assert_eq!(rig.shows(), ("e2e4".to_owned(), true));
        if restarts {
            rig.restarts(board);
        } else {
            rig.reconnects(board);
        }
        rig.makes(board, "e7e5");
        rig.guesses("e2e4 e7e5");
        rig.states("e2e4");
        for _ in 0..100 {
            assert_eq!(rig.answer(), None);
            rig.waits(1);
        }
        rig.makes(board, "c7c5");
        assert_eq!(rig.answer().unwrap().to_string(), "c7c5");
    }
}

#[test]
fn a_ucb_that_asks_is_told_what_the_hand_has_played_and_one_that_was_switched_on_begins() {
    let mut rig = Rig::ucb();
    rig.makes(Board::Ucb, "e2e4");
    rig.hears("P\r\n");
    let sent = rig.sends(5);
    assert!(sent.contains(".4    P   "), "{sent}");
    let mut rig = Rig::ucb();
    rig.makes(Board::Ucb, "e2e4");
    rig.hears(" \r\nI\r\nP\r\n");
    let sent = rig.sends(5);
    assert!(sent.contains(".2PPPPPPPP"), "{sent}");
    assert_eq!(rig.shows(), (String::new(), true));
    rig.makes(Board::Ucb, "d2d4");
    assert_eq!(rig.shows(), ("d2d4".to_owned(), true));
}

#[test]
fn the_next_game_of_the_hand_is_seen_on_a_board_that_does_not_tell_of_it() {
    let board = Board::HomeMade;
    let mate = "f2f3 e7e5 g2g4 d8h4";
    let mut rig = board.rig();
    rig.makes(board, mate);
    rig.guesses(mate);
    rig.makes(board, "e2e4 e7e5 g1f3 b8c6");
    rig.guesses("e2e4 e7e5 g1f3 b8c6");
    // Given up, and the pieces put back: the pawn that moves has moved before.
    rig.makes(board, "e2e4");
    rig.guesses("e2e4");
    let begins = std::iter::from_fn(|| rig.core.poll_event())
        .filter(|event| matches!(event, Event::NewGame { by: By::Hand }))
        .count();
    assert_eq!(begins, 2);
    // Out of turn: a slip, and no game.
    rig.makes(board, "d2d4");
    rig.guesses("e2e4");
}

#[test]
fn a_home_made_board_that_was_told_of_no_game_is_told_of_no_end() {
    let board = Board::HomeMade;
    let mut rig = board.rig();
    rig.makes(board, "f2f3 e7e5 g2g4");
    rig.tells("f2f3 e7e5 g2g4 d8h4");
    assert_eq!(rig.sends(10), "MA d8h4\n");
    let (client, end) = (CLIENT, GameEnd::resigned(Color::White));
    rig.core.command(rig.now, Command::Ended { client, end });
    assert_eq!(rig.sends(10), "");
}
