//! A board that senses which piece stands where, with hand-written sequences and with random games by untidy players;
//! and one that sends only pictures of its occupied squares.

use std::time::{Duration, Instant};

use boardbridge::{
    chess::{
        game::{Game, uci},
        guidance::in_words,
        recognise::{Sensing, Waits},
        sense::Sensed,
    },
    driver::sensing::{Awaited, Pieces, Report, Squares, Work},
};
use proptest::prelude::*;
use rig::{
    histories::histories,
    noise::{
        Doubt, Habits,
        gesture::{self, Script, Step},
    },
};
use shakmaty::{Bitboard, Board, Move, Position, Square};

const SETTLE: Duration = Duration::from_millis(500);

fn game(moves: &str) -> Game {
    let mut game = Game::standard();
    game.play_uci(moves.split_whitespace()).unwrap();
    game
}

/// A board that senses pieces, and a program that follows its reports.
struct Desk {
    sensed: Pieces,
    now: Instant,
    board: Board,
    game: Game,
    may_replace: bool,
    said: Vec<String>,
    asked: usize,
}

impl Desk {
    /// The pieces stand as in this game, and the program knows it.
    fn of(game: Game) -> Self {
        let mut desk = Self::met(game);
        desk.rests(1_000);
        desk
    }

    /// The board has just shown its pieces for the first time.
    fn met(game: Game) -> Self {
        let mut desk = Self {
            sensed: Pieces::new(SETTLE, Waits::default()),
            now: Instant::now(),
            board: game.position().board().clone(),
            game,
            may_replace: false,
            said: Vec::new(),
            asked: 0,
        };
        desk.follow();
        desk.shows();
        desk
    }

    fn after(moves: &str) -> Self {
        Self::of(game(moves))
    }

    fn follow(&mut self) {
        (self.sensed).follow(self.now, &self.game, self.may_replace);
        self.heed();
    }

    /// The board shows its pieces.
    fn shows(&mut self) {
        self.sensed.sense(self.now, &self.board);
        self.heed();
    }

    fn heed(&mut self) {
        while let Some(report) = self.sensed.poll() {
            match report {
                Report::Moved { m, reported } => {
                    assert_eq!(
                        reported.resolve(self.game.position(), shakmaty::Role::King),
                        Some(m)
                    );
                    assert_eq!(reported.color, Some(self.game.turn()));
                    assert!(self.game.push(m));
                    self.said.push(uci(m).to_string());
                }
                Report::TookBack { m, reported } => {
                    assert_eq!(self.game.pop(), Some(m));
                    assert_eq!(reported.color, Some(self.game.turn()));
                    self.said.push(format!("-{}", uci(m)));
                }
                Report::Executed(_) => self.said.push("executed".to_owned()),
                Report::NewGame => {
                    self.game = Game::standard();
                    self.said.push("new game".to_owned());
                }
                Report::SetUp => self.said.push("set up".to_owned()),
                Report::Misplaced(misplaced) => {
                    self.asked += 1;
                    assert_eq!(misplaced.stands.board, self.board);
                    self.said.push("misplaced".to_owned());
                }
                Report::Stands => self.said.push("stands".to_owned()),
            }
            self.sensed.follow(self.now, &self.game, self.may_replace);
        }
    }

    /// Nothing changes for this many ms.
    fn rests(&mut self, millis: u64) {
        let end = self.now + Duration::from_millis(millis);
        while let Some(at) = self.sensed.deadline().filter(|at| *at <= end) {
            self.now = self.now.max(at);
            self.sensed.timeout(self.now);
            self.heed();
        }
        self.now = end;
    }

    /// `e2` lifts the piece there, `Pe4` puts a piece there, `+500` waits.
    fn does(&mut self, words: &str) -> String {
        for word in words.split_whitespace() {
            if let Some(millis) = word.strip_prefix('+') {
                self.rests(millis.parse().unwrap());
                continue;
            }
            let (piece, square) = word.split_at(word.len() - 2);
            let square: Square = square.parse().unwrap();
            match piece.chars().next() {
                Some(piece) => self
                    .board
                    .set_piece_at(square, shakmaty::Piece::from_char(piece).unwrap()),
                None => self.board.discard_piece_at(square),
            }
            self.shows();
        }
        std::mem::take(&mut self.said).join(" ")
    }

    /// The program plays these moves, for the player to carry out.
    fn shown(&mut self, moves: &str) {
        self.game.play_uci(moves.split_whitespace()).unwrap();
        let last = self.game.last().unwrap();
        self.sensed.await_hand(Awaited::Move(last));
        self.follow();
    }

    fn to_do(&self) -> String {
        in_words(self.sensed.follower().correction().guidance())
    }

    fn lit(&self) -> Bitboard {
        self.sensed.lights()
    }
}

fn says(moves: &str, words: &str) -> String {
    Desk::after(moves).does(words)
}

fn squares(squares: &[Square]) -> Bitboard {
    squares.iter().copied().collect()
}

#[test]
fn a_move_counts_once_it_has_stood_for_the_settle_time() {
    let mut desk = Desk::after("");
    assert_eq!(desk.does("e2 +300 Pe4 +499"), "");
    assert_eq!(desk.does("+1"), "e2e4");
    assert_eq!(says("", "e2 Pe3 +400 e3 Pe4 +500"), "e2e4");
}

#[test]
fn a_move_counts_though_the_pieces_had_not_settled_since_the_board_was_found() {
    for before in ["", "e2e4 e7e5"] {
        let mut desk = Desk::met(game(before));
        assert_eq!(desk.does("+100 g1 +700 Nf3 +500"), "g1f3");
    }
    let mut desk = Desk::met(game(""));
    assert_eq!(desk.does("e2 +100 Pe4 +200 e7 +100 pe5 +500"), "e2e4 e7e5");
}

#[test]
fn a_hand_that_takes_two_moves_back_at_once_need_not_wait_to_be_asked_for_the_second() {
    let mut desk = Desk::after("e2e4 e7e5 g1f3 b8c6");
    desk.game.pop();
    desk.sensed.await_hand(Awaited::TakeBack);
    desk.follow();
    assert_eq!(desk.does("c6 nb8 +100 f3 +300 Ng1 +500"), "-g1f3");
}

#[test]
fn moves_that_a_program_takes_back_may_be_put_back_in_any_order() {
    let asked = || {
        let mut desk = Desk::after("e2e4 e7e5 g1f3 b8c6");
        desk.game.pop();
        desk.sensed.await_hand(Awaited::TakeBack);
        desk.follow();
        desk
    };
    assert_eq!(asked().does("f3 c6 Ng1 +100 nb8 +500"), "-g1f3");
    let two = "f3 +200 c6 +200 e5 pe7 +200 Ng1 +200 nb8 +500";
    assert_eq!(asked().does(two), "-g1f3 -e7e5");
    // One that is slow over the first of them is not led forward again.
    assert_eq!(asked().does("f3 Ng1 +2000 c6 nb8 +500"), "-g1f3");
}

#[test]
fn a_picture_that_is_shown_again_and_again_settles_all_the_same() {
    let mut desk = Desk::after("");
    desk.does("e2 Pe4");
    for _ in 0..5 {
        assert_eq!(desk.does("+99 Pe4"), "");
    }
    assert_eq!(desk.does("+5"), "e2e4");
}

#[test]
fn a_piece_in_the_hand_is_no_move_until_it_has_been_there_for_long() {
    assert_eq!(says("", "e2 +9000 Pe2 +5000"), "");
    assert_eq!(says("e2e4 d7d5", "d5 +4000 e4 +4000 Pd5 +500"), "e4d5");
    assert_eq!(says("e2e4 d7d5", "e4 +4000 d5 +4000 Pd5 +500"), "e4d5");
    assert_eq!(says("", "e2 +10000 Pe2 +500"), "misplaced stands");
}

#[test]
fn a_quick_reply_is_reported_after_the_move_it_answers() {
    assert_eq!(says("", "e2 Pe4 +200 e7 pe5 +500"), "e2e4 e7e5");
    assert_eq!(says("e2e4", "d7 pd5 +200 e4 d5 Pd5 +500"), "d7d5 e4d5");
}

#[test]
fn moves_faster_than_the_settle_time_are_reported_one_by_one_as_they_are_answered() {
    let mut desk = Desk::after("");
    assert_eq!(desk.does("e2 Pe4 +200 e7"), "");
    assert_eq!(desk.does("pe5"), "e2e4");
    assert_eq!(desk.does("+200 g1 Nf3"), "e7e5");
    // The bishop slides over three squares, two of them legal stops.
    assert_eq!(desk.does("+200 b8 nc6 +200 f1 Be2"), "g1f3 b8c6");
    assert_eq!(desk.does("+99 e2 Bd3 +99 d3 Bc4 +200 f8 bc5"), "f1c4");
    assert_eq!(desk.does("+200 h1 Rf1 +300 e1 Kg1 +200"), "f8c5");
    assert_eq!(desk.does("g8 nf6"), "e1g1");
    assert_eq!(desk.does("+500"), "g8f6");
}

#[test]
fn a_move_is_answered_even_if_the_next_piece_is_in_the_hand_already() {
    assert_eq!(says("", "e2 e7 Pe4 pe5 +500"), "e2e4 e7e5");
    assert_eq!(says("", "e2 Pe4 +200 e7 g1 pe5"), "e2e4");
    // The king in the hand may be castling.
    let moves = "e2e4 e7e5 g1f3 g8f6 f1c4 f8c5";
    assert_eq!(says(moves, "h1 Rf1 e1 b8 nc6 +200 Kg1 +3000"), "misplaced");
    // Bxa3 was only tried, and the hand goes on from Bxc3 to bxc3.
    let moves = "d2d4 e7e6 b1c3 f8b4 a2a3";
    let words = "b4 a3 ba3 +200 a3 bb4 Pa3 b4 c3 bc3 +200 c3 b2 Pc3 +500";
    assert_eq!(says(moves, words), "b4c3 b2c3");
    // Never without the piece that moved.
    let mut desk = Desk::after("");
    desk.board = game("e2e4 e7e5").position().board().clone();
    desk.shows();
    assert_eq!(desk.does("+3000"), "misplaced");
}

#[test]
fn squares_read_one_after_the_other_may_show_a_piece_twice() {
    assert_eq!(
        says("e2e4 d7d5", "Pd5 +200 e4 pe6 +200 e7 +500"),
        "e4d5 e7e6"
    );
}

#[test]
fn a_move_that_went_on_after_it_had_settled_is_replaced_once_it_is_answered() {
    let words = "e2 Pe3 +500 e3 Pe4 +200 e7 pe5 +500";
    assert_eq!(says("", words), "e2e3 -e2e3 e2e4 e7e5");
}

#[test]
fn pieces_put_back_at_once_are_taken_back_and_those_let_go_of_in_turn_are_moved_back() {
    let moves = "e2e4 e7e5 g1f3 g8f6";
    assert_eq!(says(moves, "f6 f3 Ng1 +200 ng8 +500"), "-g8f6 -g1f3");
    assert_eq!(says(moves, "f3 Ng1 +200 f6 ng8 +500"), "f3g1 f6g8");
}

#[test]
fn two_pieces_in_the_hand_are_no_exchange() {
    // Without the rook and the pawn on b6 the pieces stand as after Rxc5 bxc5.
    let game = Game::from_fen("4k3/8/1p6/1Rp5/8/8/8/4K3 w - - 0 1").unwrap();
    assert_eq!(Desk::of(game).does("b5 b6 +2000 Rb6 +500"), "b5b6");
}

#[test]
fn the_own_move_may_be_made_before_the_shown_one_is_carried_out() {
    let mut desk = Desk::after("e2e4");
    desk.shown("b8c6");
    // As after Nc6, Nf3 and Nb8.
    assert_eq!(desk.does("g1 Nf3 +2000 b8 nc6 +500"), "executed g1f3");
}

#[test]
fn a_quick_reply_needs_the_position_between() {
    // The pawn taken has gone one step or two.
    let moves = "h2h3 b7b5 h3h4 b5b4";
    assert_eq!(says(moves, "a2 b4 pa3 +4000"), "misplaced");
    assert_eq!(says(moves, "a2 Pa3 b4 pa3 +500"), "a2a3 b4a3");
    assert_eq!(says(moves, "a2 Pa4 b4 a4 pa3 +500"), "a2a4 b4a3");
    // Pieces of one kind: only two are missing.
    let moves = "e2e4 e7e6 h2h3 d7d5";
    assert_eq!(says(moves, "e4 d5 Pd5 +200 e6 pd5 +500"), "e4d5 e6d5");
}

#[test]
fn a_move_taken_back_while_another_piece_is_put_straight_is_no_exchange() {
    // With the queen in the hand the pieces stand as after Qe8+ Kxe8.
    let game = Game::from_fen("1Q2k3/8/8/8/8/8/8/4K3 b - - 0 1").unwrap();
    let mut desk = Desk::of(game);
    assert_eq!(desk.does("e8 kf7 +500"), "e8f7");
    assert_eq!(desk.does("f7 ke8 +300 b8 +900 Qb8 +500"), "-e8f7");
}

#[test]
fn castling_may_begin_with_either_piece() {
    let moves = "e2e4 e7e5 g1f3 g8f6 f1c4 f8c5";
    assert_eq!(says(moves, "e1 Kg1 +2000 h1 Rf1 +500"), "e1g1");
    assert_eq!(says(moves, "h1 Rf1 +2900 e1 +2000 Kg1 +500"), "e1g1");
    assert_eq!(says(moves, "h1 Rf1 +3000"), "h1f1");
    assert_eq!(says(moves, "h1 Rf1 +600 e8 kf8 +500"), "h1f1 e8f8");
    let mut desk = Desk::of(Game::from_fen("4k3/8/8/8/8/8/8/5K1R w H - 0 1").unwrap());
    assert_eq!(desk.does("f1 Kg1 +2900 h1 Rf1 +500"), "f1h1");
}

#[test]
fn a_king_in_the_centre_waits_for_the_other_one() {
    let mut desk = Desk::of(Game::from_fen("4k3/8/8/8/8/4K3/8/R7 w - - 0 1").unwrap());
    assert_eq!(desk.does("e3 Ke4 +1900 e8 +1900 kd4 +3000"), "misplaced");
    let mut desk = Desk::of(Game::from_fen("4k3/8/8/8/8/4K3/8/R7 w - - 0 1").unwrap());
    assert_eq!(desk.does("e3 Ke4 +2000"), "e3e4");
}

#[test]
fn en_passant_needs_both_pawns() {
    let moves = "e2e4 a7a6 e4e5 d7d5";
    assert_eq!(says(moves, "e5 Pd6 +2000 d5 +500"), "e5d6");
    assert_eq!(says(moves, "d5 +2000 e5 +2000 Pd6 +500"), "e5d6");
}

#[test]
fn a_pawn_becomes_what_the_picture_says() {
    let promotes =
        |words| Desk::of(Game::from_fen("4k3/P7/8/8/8/8/8/4K3 w - - 0 1").unwrap()).does(words);
    assert_eq!(promotes("a7 Pa8 +2000 a8 Qa8 +500"), "a7a8q");
    assert_eq!(promotes("a7 +2000 Na8 +500"), "a7a8n");
    assert_eq!(promotes("a7 Ra8 +500"), "a7a8r");
}

#[test]
fn moves_are_taken_back_one_or_two_at_once() {
    let moves = "e2e4 d7d5 e4d5 d8d5";
    assert_eq!(says(moves, "d5 qd8 +2000 Pd5 +500"), "-d8d5");
    let words = "d5 qd8 Pd5 +500 d5 Pe4 +700 pd5 +500";
    assert_eq!(says(moves, words), "-d8d5 -e4d5");
    let words = "d5 qd8 +200 Pe4 +200 pd5 +500";
    assert_eq!(says(moves, words), "-d8d5 -e4d5");
}

#[test]
fn the_last_move_may_turn_out_to_have_been_another_one() {
    let mut desk = Desk::after("e2e3");
    assert_eq!(desk.does("e3 Pe4 +2900"), "");
    desk.may_replace = true;
    desk.follow();
    assert_eq!(desk.does("+1"), "-e2e3 e2e4");
}

#[test]
fn a_shown_move_is_carried_out_and_may_be_answered_at_once() {
    let mut desk = Desk::after("e2e4");
    desk.shown("e7e5");
    assert_eq!(desk.lit(), squares(&[Square::E7, Square::E5]));
    assert_eq!(desk.does("e7 +3000 pe5 +500"), "executed");
    assert_eq!(desk.lit(), Bitboard::EMPTY);
    desk.shown("g1f3");
    assert_eq!(desk.does("g1 Nf3 +200 b8 nc6 +500"), "executed b8c6");
}

#[test]
fn an_exchange_that_leaves_its_square_as_it_was_is_seen_once_no_hand_can_hold_both_pieces() {
    let mut desk = Desk::after("b1c3 b8c6 c3b5 h7h6 b5d4 h6h5 g1f3");
    desk.shown("c6d4");
    // White's knight took the knight that took White's other one, and no picture showed it between.
    assert_eq!(desk.does("c6 f3 +9999"), "");
    assert_eq!(desk.does("+1"), "executed f3d4");
}

#[test]
fn how_a_board_with_motors_has_left_its_pieces_is_no_move_of_the_hand() {
    // The hand put the knight on g4, and the motors that carried it back have stopped on f3.
    let mut desk = Desk::after("");
    assert_eq!(desk.does("g1 Ng4 +3000"), "misplaced");
    desk.sensed.set_out();
    desk.board = game("g1f3").position().board().clone();
    desk.sensed.sense_motor(desk.now, &desk.board, false);
    desk.said.clear();
    assert_eq!(desk.does("+30000"), "misplaced");
    // What the hand does then counts.
    assert_eq!(desk.does("f3 Ng1 +500"), "stands");
    assert_eq!(desk.does("g1 Nf3 +500"), "g1f3");
}

#[test]
fn a_picture_that_no_legal_way_leads_to_is_told_with_its_pieces() {
    let mut desk = Desk::after("e2e4");
    assert_eq!(desk.does("b8 nd7 +2999"), "");
    assert_eq!(desk.does("+1"), "misplaced");
    let words = "take the black knight off d7, then put the black pawn on d7";
    assert!(
        desk.to_do().contains("the black pawn"),
        "{} {words}",
        desk.to_do()
    );
    assert_eq!(desk.does("d7 +500"), "misplaced");
    assert_eq!(desk.does("pd7 nb8 +500"), "stands");
    assert_eq!(desk.lit(), Bitboard::EMPTY);
}

#[test]
fn exchanged_pieces_are_seen() {
    let mut desk = Desk::after("");
    assert_eq!(desk.does("d1 e1 Kd1 Qe1 +3000"), "misplaced");
    assert_eq!(desk.does("d1 e1 Qd1 Ke1 +500"), "stands");
}

#[test]
fn a_set_up_shows_what_is_right_and_what_is_not_yet() {
    let mut desk = Desk::after("");
    let game = Game::from_fen("4k3/8/8/8/8/8/4P3/4K2R w K - 0 1").unwrap();
    desk.sensed.set_up(desk.now, game.clone());
    desk.heed();
    assert_eq!(desk.to_do().matches("clear").count(), 1);
    for square in Board::new().occupied() {
        if game.position().board().piece_at(square).is_none() {
            desk.board.discard_piece_at(square);
        }
    }
    desk.does("h1");
    desk.said.clear();
    assert_eq!(desk.does("+500"), "misplaced");
    assert_eq!(desk.to_do(), "put the white rook on h1");
    assert_eq!(desk.lit(), squares(&[Square::H1]));
    assert_eq!(desk.does("Rh1 +500"), "set up");
    assert!(desk.sensed.begin());
    desk.game = game;
    desk.follow();
    assert_eq!(desk.does("h1 Rf1 e1 Kg1 +500"), "e1g1");
}

#[test]
fn the_start_position_in_mid_game_is_a_new_game() {
    let mut desk = Desk::after("e2e4 e7e5 g1f3");
    assert_eq!(desk.does("e4 Pe2 e5 pe7 f3 Ng1 +500"), "new game");
    assert_eq!(desk.does("d2 Pd4 +500"), "d2d4");
    assert_eq!(says("e2e4", "e4 Pe2 +500"), "-e2e4");
}

#[test]
fn the_start_position_is_a_new_game_even_while_a_move_is_to_be_carried_out() {
    let mut desk = Desk::after("e2e4 e7e5");
    desk.shown("g1f3");
    assert_eq!(desk.does("e4 Pe2 e5 pe7 +500"), "new game");
    assert_eq!(desk.lit(), Bitboard::EMPTY);
    assert_eq!(desk.does("d2 Pd4 +500"), "d2d4");
    // Before the first move it is only that move's beginning.
    let mut desk = Desk::after("");
    desk.shown("e2e4");
    assert_eq!(desk.does("e2 +300 Pe2 +5000"), "");
}

#[test]
fn a_set_up_costs_as_many_carries_as_pieces_differ_from_the_picture() {
    let mut desk = Desk::after("");
    let target = game("e2e4 d7d5 e4d5");
    let target = target.position().board();
    assert_eq!(desk.sensed.hand_cost(&Board::new()), Some(0));
    assert_eq!(desk.sensed.hand_cost(target), Some(2));
    desk.does("e2 d7");
    assert_eq!(desk.sensed.hand_cost(target), Some(1));
    desk.sensed.link_down();
    assert_eq!(desk.sensed.hand_cost(target), None);
}

#[test]
fn a_position_put_up_by_hand_is_offered_until_a_piece_is_touched() {
    let mut desk = Desk::after("");
    let other = game("d2d4 g8f6 c2c4");
    desk.board = other.position().board().clone();
    desk.shows();
    desk.rests(2_999);
    assert_eq!(desk.sensed.foreign(), None);
    desk.rests(1);
    assert_eq!(desk.sensed.foreign(), Some(other.position().board()));
    desk.does("c4");
    assert_eq!(desk.sensed.foreign(), None);
    desk.does("Pc4 +3000");
    desk.sensed.set_up(desk.now, other);
    assert_eq!(desk.sensed.foreign(), None);
}

#[test]
fn of_what_was_played_while_the_link_was_down_one_move_is_found_and_more_are_asked_about() {
    for (played, said) in [
        ("e2e4 e7e5", "e7e5"),
        ("e2e4 e7e5 g1f3", "misplaced"),
        ("", "-e2e4"),
    ] {
        let mut desk = Desk::after("e2e4");
        desk.sensed.link_down();
        desk.rests(60_000);
        desk.board = game(played).position().board().clone();
        desk.shows();
        assert_eq!(desk.does("+3000"), said);
    }
}

#[test]
fn nothing_is_said_of_pieces_that_were_never_seen_to_stand_as_in_the_game() {
    let mut desk = Desk::after("");
    desk.sensed = Pieces::new(SETTLE, Waits::default());
    desk.board = game("e2e4 e7e5 g1f3").position().board().clone();
    desk.follow();
    desk.shows();
    assert_eq!(desk.does("+20000"), "");
    assert!(!desk.sensed.follower().is_known());
    desk.game = game("e2e4 e7e5 g1f3");
    desk.follow();
    assert!(desk.sensed.follower().is_known());
    assert_eq!(desk.does("b8 nc6 +500"), "b8c6");
}

/// An untidy player.
fn habits() -> Habits {
    Habits {
        capture: None,
        castling: None,
        en_passant: None,
        promoting: None,
        slides: 0.3,
        bounces: 0.2,
        adjusts_before: 0.2,
        adjusts_between: 0.2,
        adjusts_victims: true,
        adjusts_after: 0.2,
        straightens: 0.2,
        doubts: 0.2,
        doubt: &[Doubt::Lift, Doubt::Victim, Doubt::Touch, Doubt::Capture],
        ..Habits::default()
    }
}

/// The next move of a game that castles, promotes and captures en passant wherever it can, every other time.
fn next_move(position: &shakmaty::Chess, rng: &mut fastrand::Rng) -> Option<Move> {
    let moves = position.legal_moves();
    let special = |m: &&Move| m.is_castle() || m.is_promotion() || m.is_en_passant();
    let special: Vec<&Move> = moves.iter().filter(special).collect();
    if rng.bool() && !special.is_empty() {
        return rng.choice(special).copied();
    }
    rng.choice(moves.iter()).copied()
}

impl Desk {
    /// The player does this, and the board shows its pieces from time to time; at the end they rest for at least as
    /// long as a picture needs to settle.
    fn sees(&mut self, script: &Script, rest: Duration, rng: &mut fastrand::Rng) {
        let begin = self.now;
        let touches: Vec<_> = script
            .iter()
            .filter_map(|(at, step)| match step {
                Step::Touch(touch) => Some((begin + *at, *touch)),
                _ => None,
            })
            .collect();
        let last = touches.last().map_or(begin, |(at, _)| *at);
        let mut touches = touches.into_iter().peekable();
        let mut settled = last + Duration::from_secs(60);
        while self.now < settled + rest {
            self.rests(rng.u64(20..90));
            while let Some((_, touch)) = touches.next_if(|(at, _)| *at <= self.now) {
                touch.apply(&mut self.board);
            }
            self.shows();
            if touches.peek().is_none() {
                settled = settled.min(self.now + SETTLE);
            }
        }
    }
}

impl Desk {
    /// The reports so far are as expected.
    fn check(&mut self, expected: &[String], seed: u64) {
        self.said
            .retain(|said| said != "misplaced" && said != "stands");
        let right = expected.starts_with(&self.said);
        let last = |all: &[String]| all[all.len().saturating_sub(4)..].join(" ");
        let (said, meant) = (last(&self.said), last(expected));
        assert!(right, "seed {seed}: {said} instead of {meant}");
    }
}

/// Plays a random game of this many plies from here. Returns how often the player was asked.
fn plays(start: Game, plies: usize, seed: u64) -> usize {
    let mut rng = fastrand::Rng::with_seed(seed);
    let mut desk = Desk::of(start.clone());
    let mut played = start;
    let mut expected = Vec::new();
    let whole = Waits::default().castling;
    for _ in 0..plies {
        let position = played.position().clone();
        let Some(m) = next_move(&position, &mut rng) else {
            break;
        };
        let style = habits().style(&mut rng);
        let rest = Duration::from_millis(rng.u64(0..2_000));
        let (shown, back) = (rng.u8(0..4) == 0, rng.u8(0..8) == 0);
        if shown || back {
            // The program knows of the moves before.
            desk.rests(3_000);
        }
        played.push(m);
        let script = if shown {
            expected.push("executed".to_owned());
            desk.shown(&uci(m).to_string());
            gesture::executed(&position, m, &style, &mut rng)
        } else {
            expected.push(uci(m).to_string());
            gesture::played(&position, m, &style, &mut rng)
        };
        desk.sees(&script, rest, &mut rng);
        desk.check(&expected, seed);
        if back {
            desk.rests(3_000);
            let script = gesture::taken_back(&position, m, &style, &mut rng);
            expected.push(format!("-{}", uci(m)));
            played.pop();
            desk.sees(&script, rest, &mut rng);
        }
    }
    desk.rests(u64::try_from(whole.as_millis()).unwrap());
    desk.check(&expected, seed);
    assert_eq!(
        desk.said.len(),
        expected.len(),
        "seed {seed}: {:?}",
        expected.last()
    );
    assert_eq!(desk.game, played, "seed {seed}");
    desk.asked
}

proptest! {
    #![proptest_config(histories(48))]

    #[test]
    fn of_every_game_by_an_untidy_hand_each_move_is_reported_and_no_other(seed: u64) {
        plays(Game::standard(), 60, seed);
    }

    #[test]
    fn of_every_endgame_with_pawns_about_to_promote_too(seed: u64) {
        let pawns = "r3k2r/1P4P1/8/3pP3/3Pp3/8/1p4p1/R3K2R w KQkq d6 0 1";
        plays(Game::from_fen(pawns).unwrap(), 40, seed);
    }
}

#[test]
fn an_untidy_hand_is_hardly_ever_asked() {
    let asked: usize = (0..100).map(|seed| plays(Game::standard(), 60, seed)).sum();
    assert!(asked * 500 <= 100 * 60, "{asked}");
}

/// A board that sends only pictures of its occupied squares, and a program that follows.
struct Plain {
    sensed: Squares,
    now: Instant,
    full: Bitboard,
    game: Game,
    said: Vec<String>,
}

impl Plain {
    /// The start position was set up.
    fn new() -> Self {
        let sensing = Sensing {
            events: false,
            loses_events: false,
            goes_dark: false,
            hides_captures: false,
            period: Duration::from_millis(250),
        };
        let mut plain = Self {
            sensed: Squares::new(Waits::default(), sensing),
            now: Instant::now(),
            full: Bitboard::EMPTY,
            game: Game::standard(),
            said: Vec::new(),
        };
        plain.sensed.link_up();
        plain.sensed.set_up(plain.now, Game::standard());
        plain
    }

    /// `e2` lifts or puts down a piece; `+500` waits.
    fn does(&mut self, words: &str) -> String {
        for word in words.split_whitespace() {
            if let Some(millis) = word.strip_prefix('+') {
                let end = self.now + Duration::from_millis(millis.parse().unwrap());
                while let Some(at) = self.sensed.deadline().filter(|at| *at <= end) {
                    self.now = self.now.max(at);
                    self.sensed.timeout(self.now);
                    self.heed();
                }
                self.now = end;
                continue;
            }
            self.full.toggle(word.parse::<Square>().unwrap());
            self.shows();
        }
        std::mem::take(&mut self.said).join(" ")
    }

    fn shows(&mut self) {
        self.sensed.sense(self.now, Sensed::Occupied(self.full));
        self.heed();
    }

    fn heed(&mut self) {
        loop {
            self.sensed.attend(self.now, Work::Rests);
            let Some(report) = self.sensed.poll() else {
                return;
            };
            match report {
                Report::Moved { m, .. } => {
                    assert!(self.game.push(m));
                    self.said.push(uci(m).to_string());
                }
                Report::TookBack { m, .. } => {
                    assert_eq!(self.game.pop(), Some(m));
                    self.said.push(format!("-{}", uci(m)));
                }
                Report::SetUp => {
                    assert!(self.sensed.begin());
                    self.said.push("set up".to_owned());
                }
                Report::Executed(_) => self.said.push("executed".to_owned()),
                Report::NewGame => self.said.push("new game".to_owned()),
                Report::Misplaced(_) => self.said.push("misplaced".to_owned()),
                Report::Stands => self.said.push("stands".to_owned()),
            }
            self.sensed.follow(self.now, &self.game, false, false);
        }
    }

    fn lit(&self) -> Bitboard {
        self.sensed.lights()
    }
}

#[test]
fn a_board_of_squares_is_set_up_played_on_and_lit() {
    let mut plain = Plain::new();
    plain.full = Board::new().occupied() & !squares(&[Square::E1]);
    plain.shows();
    assert_eq!(plain.lit(), squares(&[Square::E1]));
    assert_eq!(plain.does("e1"), "misplaced set up");
    assert_eq!(plain.does("e2 +900 e4 +500"), "e2e4");
    assert_eq!(plain.does("e4 +300 e2 +1000"), "-e2e4");
    plain.game.play_uci(["d2d4"]).unwrap();
    let shown = plain.game.last().unwrap();
    plain.sensed.await_hand(Awaited::Move(shown));
    plain.sensed.follow(plain.now, &plain.game, false, false);
    plain.heed();
    assert_eq!(plain.lit(), squares(&[Square::D2, Square::D4]));
    assert_eq!(plain.does("d2 +900 d4 +1000"), "executed");
    assert_eq!(plain.lit(), Bitboard::EMPTY);
}

#[test]
fn pieces_exchanged_on_a_board_of_squares_that_sends_pictures_only_are_known() {
    let mut plain = Plain::new();
    plain.full = Board::new().occupied();
    plain.shows();
    assert_eq!(plain.does("+1000"), "set up");
    let said = plain.does("b1 +300 d5 +300 c1 +300 b1 +300 d5 +300 c1 +4000");
    assert_eq!(said, "misplaced");
    assert_eq!(plain.lit(), squares(&[Square::B1]));
}
