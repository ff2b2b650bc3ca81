//! The judge itself: it finds what it is there to find.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::{sync::Arc, thread::sleep, time::Duration};

use simulators::{HandAction, game::Game};

use crate::{
    fault::Fault,
    score::Score,
    seat::{Hands, Heard, Seat},
    soak::slope,
};

/// A seat whose program begins, with the board at the start.
fn seat(score: &Arc<Score>) -> Seat {
    let begins = |first| Seat::new("test", Hands::One, first, score.clone());
    let seat = (0..20)
        .map(begins)
        .find(|seat| !seat.hand_begins())
        .unwrap();
    seat.asks();
    seat
}

/// The board after these moves of the script.
fn board(seat: &Seat, plies: usize) -> Game {
    let (_, _, script) = seat.game();
    let mut game = Game::standard();
    for m in &script[..plies] {
        game.push(m.to_move(game.position()).unwrap());
    }
    game
}

/// Lets the hand look until it acts.
fn acts(seat: &Seat, game: &Game) -> HandAction {
    loop {
        if let Some(action) = seat.hand(0, game, false) {
            return action;
        }
        sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_move_that_is_heard_once_is_right_and_twice_is_doubled() {
    let score = Arc::<Score>::default();
    let seat = seat(&score);
    let (_, _, script) = seat.game();
    seat.sends();
    assert_eq!(acts(&seat, &board(&seat, 1)), HandAction::Move(script[1]));
    assert!(seat.hand(0, &board(&seat, 2), false).is_none());
    let m = script[1].to_string();
    assert_eq!(seat.hears(&m), Heard::Right);
    assert!(score.is_clean());
    assert_eq!(seat.hears(&m), Heard::Wrong);
    assert!(!score.is_clean());
}

#[test]
fn a_move_that_no_hand_has_made_is_wrong() {
    let score = Arc::<Score>::default();
    let seat = seat(&score);
    let (_, _, script) = seat.game();
    seat.sends();
    let _ = seat.hand(0, &board(&seat, 1), false);
    assert_eq!(seat.hears(&script[1].to_string()), Heard::Wrong);
}

#[test]
fn a_move_made_again_is_lost_unless_a_fault_was_near() {
    for near in [false, true] {
        let score = Arc::<Score>::default();
        let seat = seat(&score);
        seat.sends();
        acts(&seat, &board(&seat, 1));
        assert!(seat.hand(0, &board(&seat, 2), false).is_none());
        if near {
            score.begins(Fault::Kill);
            score.ends();
        }
        // The board is led back to before it.
        acts(&seat, &board(&seat, 1));
        assert_eq!(score.is_clean(), near);
        assert_eq!(seat.hears("a1a8"), Heard::Wrong);
    }
}

#[test]
fn a_new_game_in_the_middle_of_one_is_a_lost_game() {
    let score = Arc::<Score>::default();
    let seat = seat(&score);
    seat.told_new_game(false);
    assert!(score.is_clean());
    let (_, _, script) = seat.game();
    seat.sends();
    acts(&seat, &board(&seat, 1));
    let _ = seat.hand(0, &board(&seat, 2), false);
    seat.hears(&script[1].to_string());
    seat.told_new_game(true);
    assert!(score.is_clean());
    seat.told_new_game(false);
    assert!(!score.is_clean());
}

#[test]
fn the_slope_is_that_of_the_nearest_line() {
    let points: Vec<(f64, f64)> = (0..10).map(f64::from).map(|x| (x, 3.0 * x + 2.0)).collect();
    assert!((slope(&points) - 3.0).abs() < 1e-9);
}

#[test]
fn a_hand_begins_against_an_engine_which_ends_the_game() {
    for first in 0..20 {
        let seat = Seat::new("test", Hands::White, first, Arc::default());
        let (_, _, script) = seat.game();
        assert!(seat.hand_begins());
        assert!(!seat.is_hands(script.len() - 1));
    }
}
