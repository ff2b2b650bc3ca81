//! The recogniser keeps its promises: with hand-written sequences, with every noise model of the rig, and with
//! meaningless noise.

#[allow(dead_code, reason = "the harness uses more of it")]
#[path = "../../examples/recognise/plug.rs"]
mod plug;
#[allow(dead_code, reason = "the harness uses more of it")]
#[path = "../../examples/recognise/tally.rs"]
mod tally;
#[allow(dead_code, reason = "the harness uses more of it")]
#[path = "../../examples/recognise/world/mod.rs"]
mod world;

use std::time::{Duration, Instant};

use boardbridge::chess::{
    game::Game,
    recognise::{Recognised, Recogniser, Sensing, Waits},
    sense::Sensed,
};
use proptest::prelude::*;
use rig::{landings::Landings, noise::Model, pace::gives_way};
use shakmaty::{Bitboard, Position, Square};

use self::{tally::Tally, world::World};
use super::hand::Hand;

fn games() -> Vec<Game> {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/games/lichess.uci");
    let text = std::fs::read_to_string(file).unwrap();
    let game = |line: &str| {
        let mut game = Game::standard();
        game.play_uci(line.split_whitespace()).unwrap();
        game
    };
    text.lines()
        .filter(|line| !line.is_empty())
        .map(game)
        .collect()
}

fn tally(model: &Model, games: &[Game], seed: u64) -> Tally {
    gives_way();
    let mut tally = Tally::default();
    for (number, game) in (0u64..).zip(games) {
        let seed = seed.wrapping_mul(0x9e37_79b9).wrapping_add(number);
        let world = World::new(plug::recogniser(model), model, game, seed);
        tally.add(world.play(model.one_side.then_some(number % 2 == 0)));
    }
    tally
}

#[test]
fn every_noise_that_leaves_a_move_recognisable_leaves_it_recognised() {
    let games = games();
    for model in Model::all() {
        let mut tally = tally(&model, &games[..4], 1);
        if model.unclear.is_none() {
            let row = tally.row(model.name);
            assert!(tally.is_right() && tally.right == tally.made, "{row}");
        }
    }
}

#[test]
fn all_noises_together_leave_every_move_recognised_and_hardly_ask() {
    let games = games();
    for (seed, name) in [
        (2, "mix"),
        (3, "mix, opponent by motor"),
        (4, "mix, opponent by hand"),
    ] {
        let all = Model::all();
        let model = all.iter().find(|model| model.name == name).unwrap();
        let mut tally = tally(model, &games, seed);
        let row = tally.row(name);
        assert!(tally.is_right() && tally.right == tally.made, "{row}");
        assert!(tally.asked * 500 <= tally.made, "{row}");
    }
}

#[test]
fn lost_events_make_it_ask_and_not_guess() {
    let games = games();
    let all = Model::all();
    let model = all
        .iter()
        .find(|model| model.name == "events lost")
        .unwrap();
    let mut tally = tally(model, &games, 1);
    let row = tally.row(model.name);
    assert!(tally.wrong == 0 && tally.asked * 50 <= tally.made, "{row}");
}

/// The result of one sequence from one game.
fn says(moves: &str, words: &str) -> String {
    Hand::after(moves).does(words)
}

#[test]
fn a_victim_lifted_and_put_back_is_forgotten() {
    assert_eq!(
        says("e2e4 d7d5 g1f3 a7a6 f3e5 b7b6", "e5u +400 e5d +2000"),
        ""
    );
    assert_eq!(
        says(
            "e2e4 d7d5 g1f3 a7a6 f3e5 b8d7",
            "d7u +300 d7d +900 e5u +9000"
        ),
        ""
    );
    let later = says(
        "e2e4 d7d5 g1f3 a7a6 f3e5 b8d7",
        "d7u +300 d7d +900 e5u +700 c4d +5000",
    );
    assert_eq!(later, "e5c4");
}

#[test]
fn an_adjusted_piece_is_no_move() {
    let often = "d7u +300 d7d +200 d7u +900 d7d +500 d2u +400 d2d +9000";
    assert_eq!(says("", often), "");
}

#[test]
fn a_piece_that_bounces_is_one_move() {
    assert_eq!(says("", "e2u +600 e4d +60 e4u +60 e4d +3000"), "e2e4");
}

#[test]
fn a_piece_with_one_way_to_go_is_reported_at_once() {
    // The rook's pawn on a3 can only go on to a4.
    assert_eq!(says("a2a3 h7h6", "a3u +400 a4d"), "a3a4");
}

#[test]
fn a_piece_with_other_ways_to_go_is_given_half_a_second() {
    assert_eq!(says("", "g1u +400 f3d +400"), "");
    assert_eq!(says("", "g1u +400 f3d +500"), "g1f3");
    assert_eq!(says("", "g1u +400 f3d +300 f3u +300 h3d +500"), "g1h3");
}

#[test]
fn a_piece_put_on_the_same_square_again_is_meant_to_go_there() {
    let captured = "d1u +500 g4d +360 g4u +4260 g4d +180 g4u +3000";
    assert_eq!(says("e2e4 e7e5", captured), "d1g4");
}

const CASTLING: &str = "e2e4 e7e5 g1f3 b8c6 f1c4 f8c5";

#[test]
fn a_rook_that_castles_first_is_not_reported_as_a_rook_move() {
    let rook_first = "h1u +500 f1d +1300 e1u +600 g1d +2000";
    assert_eq!(says(CASTLING, rook_first), "e1g1");
    assert_eq!(
        says(CASTLING, "e1u +500 g1d +800 h1u +600 f1d +2000"),
        "e1g1"
    );
    assert_eq!(
        says(CASTLING, "e1u +300 h1u +500 f1d +600 g1d +2000"),
        "e1g1"
    );
}

#[test]
fn a_rook_that_does_not_castle_is_reported_after_three_seconds() {
    assert_eq!(says(CASTLING, "h1u +500 f1d +2900"), "");
    assert_eq!(says(CASTLING, "h1u +500 f1d +3100"), "h1f1");
}

#[test]
fn en_passant_is_recognised_in_every_order() {
    let moves = "e2e4 a7a6 e4e5 d7d5";
    assert_eq!(says(moves, "e5u +500 d6d +500 d5u +2000"), "e5d6");
    assert_eq!(says(moves, "d5u +500 e5u +500 d6d +2000"), "e5d6");
    assert_eq!(says(moves, "e5u +500 d5u +500 d6d +2000"), "e5d6");
}

#[test]
fn a_capture_is_recognised_in_either_order() {
    assert_eq!(says("e2e4 d7d5", "e4u +500 d5u +500 d5d +2000"), "e4d5");
    assert_eq!(says("e2e4 d7d5", "d5u +500 e4u +500 d5d +2000"), "e4d5");
}

#[test]
fn a_promotion_is_a_queen_with_the_pawn_put_down_or_not() {
    let moves = "a2a4 b7b5 a4b5 a7a6 b5a6 c8b7 a6b7 h7h5";
    assert_eq!(
        says(moves, "b7u +300 a8u +400 a8d +900 a8u +400 a8d +6000"),
        "b7a8q"
    );
    assert_eq!(says(moves, "a8u +300 b7u +2000 a8d +6000"), "b7a8q");
}

#[test]
fn a_piece_slid_over_squares_is_one_move() {
    let slid = "d1u +100 e2d +200 e2u +100 f3d +200 f3u +100 g4d +2000";
    assert_eq!(says("e2e4 e7e5", slid), "d1g4");
}

#[test]
fn a_stuck_square_changes_nothing() {
    let mut hand = Hand::after("e2e4 e7e5");
    hand.stick(Square::G7);
    hand.stick(Square::G1);
    assert_eq!(
        hand.does("picture +2000 picture +2000 g1u +500 f3d +2000 picture +2000 picture"),
        "g1f3"
    );
    assert_eq!(hand.does("picture +2000 g7u +500 g6d +2000"), "g7g6");
}

#[test]
fn a_lost_lift_is_read_from_the_picture() {
    let mut hand = Hand::after("e2e4 e7e5");
    assert_eq!(
        hand.does("picture +2000 (g1u) +500 f3d +2000 picture +2000 picture +2500"),
        "g1f3"
    );
}

#[test]
fn a_piece_put_straight_while_its_attackers_square_falls_dark_is_asked_about_and_no_move() {
    // So reads also a capture whose lift was lost.
    let mut hand = Hand::after("e2e4 d7d5");
    hand.does("picture +2000 picture +2000 d5u +500 d5d +300");
    hand.stick(Square::E4);
    let said = hand.does("+500 picture +2000 picture +2000 picture +2000");
    assert_eq!(said, "asks:e4/");
    // What is seen whole is told all the same.
    assert_eq!(hand.does("g1u +500 f3d +2000 picture +2000"), "g1f3");
}

#[test]
fn a_board_that_loses_no_events_does_not_ask_about_a_dark_square() {
    let mut hand = Hand::after("e2e4 d7d5");
    hand.sensing(Sensing {
        loses_events: false,
        ..Sensing::default()
    });
    hand.does("picture +2000 picture +2000 d5u +500 d5d +300");
    hand.stick(Square::E4);
    let said = hand.does("+500 picture +2000 picture +2000 picture +9000");
    assert_eq!(said, "");
}

#[test]
fn a_board_whose_squares_never_go_dark_is_believed_where_one_reads_empty() {
    let mut hand = Hand::after("e2e4 d7d5");
    hand.sensing(Sensing {
        goes_dark: false,
        ..Sensing::default()
    });
    hand.does("picture +2000 picture +2000 (e4u) +300 d5u +500 d5d +300");
    assert_eq!(hand.does("picture +2000 picture +2500"), "e4d5");
}

#[test]
fn a_board_that_sends_pictures_only_is_read_from_them() {
    let mut hand = Hand::after("e2e4 d7d5");
    hand.sensing(Sensing {
        events: false,
        ..Sensing::default()
    });
    let capture =
        "picture +100 (e4u) +300 picture +100 (d5u) +300 picture +100 (d5d) +100 picture +1500";
    assert_eq!(hand.does(capture), "e4d5");
    let reply = "(d8u) +300 picture +100 (d5u) +300 picture +100 (d5d) +100 picture +1500";
    assert_eq!(hand.does(reply), "d8d5");
}

#[test]
fn a_capture_whose_square_never_read_empty_counts_if_only_one_can_have_been_made() {
    let hides = Sensing {
        events: false,
        goes_dark: false,
        hides_captures: true,
        ..Sensing::default()
    };
    let mut hand = Hand::after("e2e4 d7d5");
    hand.sensing(hides);
    // The pawn may still be in the hand.
    assert_eq!(hand.does("picture +100 (e4u) +300 picture +5500"), "");
    assert_eq!(hand.does("picture +1000"), "e4d5");
    // It may have taken on d5 or on f5.
    let mut hand = Hand::after("e2e4 d7d5 a2a3 f7f5");
    hand.sensing(hides);
    let said = hand.does("picture +100 (e4u) +300 picture +5000 picture +1000");
    assert_eq!(said, "");
    // Lifted again and put down: now it is seen where.
    assert_eq!(
        hand.does("(f5u) +300 picture +200 (f5d) +100 picture +1500"),
        "e4f5"
    );
}

#[test]
fn a_hand_that_thinks_with_a_piece_in_the_air_that_could_capture_is_not_taken_at_its_word() {
    let mut hand = Hand::after("e2e4 d7d5");
    hand.sensing(Sensing {
        events: false,
        goes_dark: false,
        hides_captures: true,
        ..Sensing::default()
    });
    let thinks = "picture +100 (e4u) +300 picture +2000 picture +2000";
    assert_eq!(hand.does(thinks), "");
    assert_eq!(hand.does("(e5d) +300 picture +2000"), "e4e5");
}

#[test]
fn a_calm_board_that_hides_captures_shows_no_move_and_an_en_passant_is_no_other_capture() {
    let hides = Sensing {
        events: false,
        goes_dark: false,
        hides_captures: true,
        ..Sensing::default()
    };
    // Either capture leaves the same squares occupied.
    let mut hand = Hand::after("e2e4 d7d5 a2a3 f7f5 e4d5");
    hand.sensing(hides);
    hand.may_replace();
    assert_eq!(hand.does("picture +100 picture +5000 picture +5000"), "");
    // The pawn is lifted first. It could have taken the knight.
    let mut hand = Hand::after("e2e4 g8f6 e4e5 d7d5");
    hand.sensing(hides);
    let moves =
        "picture +100 (e5u) +500 picture +10 (d5u) +500 picture +10 (d6d) +500 picture +1500";
    assert_eq!(hand.does(moves), "e5d6");
}

#[test]
fn a_mover_that_stood_elsewhere_took_nothing() {
    let mut hand = Hand::after("");
    let said = hand.does(
        "g1u +600 f3d +2000 e7u +600 e5d +2000 f3u +600 d4d +400 e5u +400 e5d +2000 d4u +3000",
    );
    assert_eq!(said, "g1f3 e7e5 f3d4");
    assert_eq!(hand.does("e5u +500 d4d +2000"), "e5d4");
}

#[test]
fn a_recapture_within_a_second_is_told_with_the_capture() {
    let mut hand = Hand::after("e2e4 d7d5");
    let capture = "e4u +400 d5u +400 d5d +400";
    let reply = "d5u +400 d8u +400 d5d";
    assert_eq!(hand.does(&format!("{capture} {reply}")), "e4d5");
    assert_eq!(hand.does("+1000"), "d8d5");
}

#[test]
fn a_recapture_after_the_capturing_piece_was_put_straight_is_told() {
    let mut hand = Hand::after("e2e4 d7d5");
    let capture = "e4u +400 d5u +400 d5d +400 d5u +400 d5d +1500";
    let reply = "d5u +400 d8u +400 d5d +1000";
    assert_eq!(hand.does(&format!("{capture} {reply}")), "e4d5 d8d5");
}

#[test]
fn a_capture_put_straight_is_told_after_two_seconds() {
    let capture = "e4u +400 d5u +400 d5d +400 d5u +400 d5d";
    assert_eq!(says("e2e4 d7d5", &format!("{capture} +1900")), "");
    assert_eq!(says("e2e4 d7d5", &format!("{capture} +2000")), "e4d5");
}

#[test]
fn a_reply_by_what_the_mover_could_have_taken_is_told_at_once() {
    // The knight could have gone on to e5.
    let mut hand = Hand::after("g1f3 e7e5");
    assert_eq!(hand.does("f3u +400 d4d +300 e5u"), "f3d4");
    assert_eq!(hand.does("+400 e4d +500"), "e5e4");
}

#[test]
fn a_reply_to_a_king_in_the_centre_is_told() {
    let moves = "e2e3 d7d5 e1e2 h7h5 e2d3 e7e6";
    let mut hand = Hand::after(moves);
    // The king could have taken on d5 from there.
    let said = hand.does("d3u +400 d4d +700 e6u +400 e5d +1000");
    assert_eq!(said, "d3d4 e6e5");
    // The other king's way decides, also when the first one is put straight meanwhile.
    let mut hand = Hand::after("e2e3 e7e6 e1e2 e8e7 e2d3 a7a6");
    let said = hand.does("d3u +400 d4d +500 e7u +400 d4u +300 d4d +300 f6d +1000");
    assert_eq!(said, "d3d4 e7f6");
}

#[test]
fn hands_that_overlap_are_told_apart() {
    assert_eq!(
        says("", "e2u +200 e7u +300 e4d +200 e5d +1000"),
        "e2e4 e7e5"
    );
}

#[test]
fn a_shown_move_put_straight_after_the_own_capture_is_no_other_capture() {
    let mut hand = Hand::after("e2e4 e7e5 g1f3 b8c6 f1b5");
    hand.shown("e2e4 e7e5 g1f3 b8c6 f1b5 a7a6");
    let capture = "b5u +400 c6u +400 c6d +500";
    let shown = "a7u +400 a6d +400 a6u +400 a6d +3000";
    assert_eq!(hand.does(&format!("{capture} {shown}")), "b5c6 executed");
}

#[test]
fn a_take_back_with_the_captured_piece_first_is_no_adjustment() {
    let moves = "e2e4 d7d5 e4d5";
    // The captured pawn lands where the other one still is in the hand.
    let said = says(moves, "d5u +400 d5d +900 e4d +3000");
    assert_eq!(said, "back:e4d5");
    // The pawn put straight, and another one moved that could have been the captured one.
    assert_eq!(says(moves, "d5u +400 d5d +400 c7u +400 c6d +1000"), "c7c6");
}

#[test]
fn a_lost_placement_is_read_from_the_picture() {
    let mut hand = Hand::after("e2e4 e7e5");
    assert_eq!(
        hand.does("picture +2000 g1u +500 (f3d) +2000 picture +2100 picture +2500"),
        "g1f3"
    );
}

#[test]
fn a_piece_that_comes_from_nowhere_is_asked_about() {
    let said = says("e2e4 e7e5", "picture +2000 d4d +5000");
    assert!(said.starts_with("asks"), "{said}");
}

#[test]
fn late_pictures_of_a_sliding_piece_do_not_put_it_down() {
    let slide = "a1u +100 a3d +100 picture a3u +50 a4d +100 a4u";
    let mut hand = Hand::after("a2a4 b7b5 a4b5 a7a6");
    hand.late();
    // Both pictures come when the rook is in the air again.
    assert_eq!(
        hand.does(&format!(
            "picture +2000 {slide} +50 picture +100 arrive +300 a5d +900"
        )),
        "a1a5"
    );
}

const KINGS: &str = "e2e3 e7e6 e1e2 e8e7 e2d3 e7d6";

#[test]
fn kings_in_the_centre_are_no_move() {
    // Neither step is legal.
    let said = says("", "e1u +500 e4d +500 e8u +500 d5d +9000");
    assert_eq!(said, "asks:e1e8/e4d5");
    // White's is: the other king tells that it is a sign.
    let said = says(KINGS, "d3u +500 d4d +400 d6u +500 e5d +9000");
    assert!(!said.contains("d3d4"), "{said}");
    assert_eq!(says(KINGS, "d3u +500 d4d +2100"), "d3d4");
}

#[test]
fn the_opponents_move_executed_late_is_no_move_of_the_hand() {
    let mut hand = Hand::after("e2e4");
    hand.shown("e2e4 e7e5");
    assert_eq!(hand.does("e7u +500 e5d +1000"), "executed");
    let mut hand = Hand::after("e2e4");
    hand.shown("e2e4 e7e5");
    assert_eq!(
        hand.does("g1u +500 f3d +900 e7u +500 e5d +7000"),
        "g1f3 executed"
    );
    let mut hand = Hand::after("e2e4");
    hand.shown("e2e4 e7e5");
    assert_eq!(
        hand.does("g1u +500 e7u +900 e5d +900 f3d +7000"),
        "executed g1f3"
    );
}

#[test]
fn every_move_can_be_taken_back() {
    for (moves, words, last) in [
        ("e2e4", "e4u +500 e2d +3000", "e2e4"),
        (
            "e2e4 e7e5 g1f3 b8c6 f1c4 f8c5 e1g1",
            "g1u +500 e1d +500 f1u +500 h1d +5000",
            "e1g1",
        ),
        (
            "e2e4 a7a6 e4e5 d7d5 e5d6",
            "d6u +500 e5d +500 d5d +5000",
            "e5d6",
        ),
        (
            "a2a4 b7b5 a4b5 a7a6 b5a6 c8b7 a6b7 h7h5 b7a8q",
            "a8u +500 b7d +500 a8d +5000",
            "b7a8q",
        ),
        ("e2e4 d7d5 e4d5", "d5u +500 e4d +500 d5d +5000", "e4d5"),
        ("e2e4 d7d5 e4d5", "d5u +500 d5d +500 e4d +5000", "e4d5"),
    ] {
        assert_eq!(
            says(moves, words),
            format!("back:{last}"),
            "{moves}: {words}"
        );
    }
}

#[test]
fn a_capture_made_while_the_link_was_down_is_taken_from_pictures_when_only_one_explains_it() {
    let mut hand = Hand::after("e2e4 d7d5");
    assert_eq!(
        hand.does("picture +2000 down (e4u) (d5u) (d5d) +9000 up picture +2000 picture +3000"),
        "e4d5"
    );
    let mut hand = Hand::after("e2e4 e7e5");
    assert_eq!(
        hand.does("picture +2000 down (g1u) (f3d) +9000 up picture +2000 picture +3000"),
        "g1f3"
    );
}

#[test]
fn a_capture_made_while_the_link_was_down_is_asked_about_when_several_explain_it() {
    // The pawn may have taken on d5 or on f5.
    let mut hand = Hand::after("e2e4 d7d5 a2a3 f7f5");
    let said = hand.does(
        "picture +2000 down (e4u) (d5u) (d5d) +9000 up picture +2000 picture +2000 picture +9000",
    );
    assert_eq!(said, "asks:e4/");
}

#[test]
fn a_capture_that_was_sensed_before_the_link_went_down_is_the_one_that_the_pictures_show() {
    let game = "e2e4 d7d5 a2a3 f7f5";
    for capture in ["e4u +200 d5u +200 d5d", "d5u +200 e4u +200 d5d"] {
        let mut hand = Hand::after(game);
        let said = hand.does(&format!("picture +2000 {capture} +300 down up"));
        assert_eq!(said, "");
        assert_eq!(hand.does("picture +2000 picture +3000"), "e4d5");
    }
    // The hand went on unseen.
    let mut hand = Hand::after(game);
    let said =
        hand.does("picture +2000 e4u +200 d5u +200 d5d down (e4d) up picture +2000 picture +3000");
    assert_eq!(said, "");
    // A piece that was only adjusted before.
    let mut hand = Hand::after(game);
    let said = hand.does(
        "picture d5u +200 d5d +2000 picture e4u +200 down (f5u) (f5d) up picture +2000 picture +9000",
    );
    assert_eq!(said, "asks:e4/");
}

#[test]
fn a_piece_that_slides_back_over_a_square_made_no_move() {
    let back = "a2u +200 a3d +220 a3u +1000 a4d +1 a4u +60 a3d +80 a3u +300 a2d +3000";
    assert_eq!(says("", back), "");
}

#[test]
fn a_take_back_and_another_move_in_one_go_are_both_told() {
    let back = "g4u +400 c8d +30 c8u +90 c8d +780 g4d +700";
    let other = "c8u +80 d7d +150 d7u +60 e6d +130 e6u +600 f5d +1000";
    let said = says("g2g4 d7d5 f2f4 c8g4", &format!("{back} {other}"));
    assert_eq!(said, "back:c8g4 c8f5");
}

#[test]
fn two_moves_made_while_the_link_was_down_are_asked_about_and_neither_forgotten() {
    let mut hand = Hand::after("b1a3 g7g5 g1f3");
    let said = hand.does("picture +2000 down (a7u) (a6d) (f3u) (g5u) (g5d) up +900 picture +9000");
    assert_eq!(said, "asks:f3a7/a6");
    let mut hand = Hand::after("g2g4 f7f5");
    let unseen = "picture +2000 down (g4u) (f5u) (f5d) (g7u) up";
    let said = hand.does(&format!(
        "{unseen} +1300 g5d +140 picture +2000 picture +9000"
    ));
    assert!(
        said.starts_with("asks:") && !said.contains("g4g5"),
        "{said}"
    );
}

#[test]
fn what_is_missing_is_named_where_a_piece_is_too_many() {
    let mut hand = Hand::after("");
    let unseen = "picture +2000 down (d2u) up +430 d4d +70 d4u +70 d4d";
    let later = "+430 h7u +180 h6d +50 picture +130 h6u +1220 h5d +500 picture +9000 picture +9000";
    let said = hand.does(&format!("{unseen} {later}"));
    assert_eq!(said, "asks:d2h7/d4h5");
}

#[test]
fn nothing_sensed_leaves_nothing_to_wait_for() {
    let hand = Hand::after("");
    assert_eq!(hand.recogniser().deadline(), None);
    assert!(!hand.recogniser().is_disturbed());
}

fn anything() -> impl Strategy<Value = Vec<(u64, Sensed)>> {
    let square = (0u32..64).prop_map(Square::new);
    let near = (0u64..2, any::<u64>(), any::<u64>());
    let sensed = prop_oneof![
        4 => square.clone().prop_map(Sensed::Lifted),
        4 => square.prop_map(Sensed::Placed),
        1 => near.prop_map(|(all, a, b)| {
            let start = 0xffff_0000_0000_ffff;
            Sensed::Occupied(Bitboard(if all == 0 { start & (a | b) } else { a }))
        }),
    ];
    prop::collection::vec((0u64..3_000, sensed), 0..80)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(200) })]

    #[test]
    fn whatever_is_sensed_only_legal_moves_are_reported(stream in anything(), number in 0usize..40, plies in 0usize..60) {
        let mut game = games()[number].truncated(plies);
        let mut now = Instant::now();
        let board = game.position().board().clone();
        let mut recogniser = Recogniser::new(Waits::default(), board);
        recogniser.follow(now, &game, plies % 2 == 0);
        let mut landings = Landings::default();
        for (wait, sensed) in stream {
            now += Duration::from_millis(wait);
            recogniser.timeout(now);
            for step in 0..2 {
                while let Some(said) = recogniser.poll() {
                    prop_assert!(landings.explain(said), "{said:?}");
                    match said {
                        Recognised::Played(m) => {
                            prop_assert!(game.position().is_legal(m));
                            game.push(m);
                            if recogniser.standing() == game.position().board() {
                                recogniser.follow(now, &game, false);
                            }
                        }
                        Recognised::TookBack(m) => {
                            prop_assert_eq!(game.pop(), Some(m));
                            if recogniser.standing() == game.position().board() {
                                recogniser.follow(now, &game, false);
                            }
                        }
                        _ => {}
                    }
                }
                if step == 0 {
                    landings.note(sensed);
                    recogniser.sense(now, sensed);
                }
            }
        }
    }
}
