//! Whatever happens to an SWPP board, to the app or to the lines between them, a game succeeds afterwards, and no move
//! is sent twice or for the wrong game: both roles against the simulated ends, without I/O, on one virtual clock.
//!
//! The simulated ends are strict. Any fault that they find has to be caused by the history itself, and each world
//! records such causes: which message was lost with a line, which two crossed, which move a board misread.

mod desk;
mod driver;
mod emulator;
mod line;

use proptest::{collection::vec, prelude::*};
use rig::histories::histories;

use self::driver::Settling;

proptest! {
    #![proptest_config(histories(400))]

    #[test]
    fn a_home_made_board_follows_a_new_game_whatever_was_before(
        setup in driver::setup(),
        acts in vec(driver::act(), 0..40),
    ) {
        let mut world = driver::World::new(setup);
        acts.iter().for_each(|act| world.does(act));
        world.settles(Settling::NewGame);
    }

    #[test]
    fn a_home_made_board_that_was_set_up_by_hand_is_in_the_programs_game(
        setup in driver::setup(),
        acts in vec(driver::act(), 0..40),
    ) {
        let mut world = driver::World::new(setup);
        acts.iter().for_each(|act| world.does(act));
        world.settles(Settling::SetUp);
    }

    #[test]
    fn a_home_made_board_on_which_the_hand_plays_on_from_the_programs_position_is_in_its_game(
        setup in driver::setup(),
        acts in vec(driver::act(), 0..40),
    ) {
        let mut world = driver::World::new(setup);
        acts.iter().for_each(|act| world.does(act));
        world.settles(Settling::PlayedOn);
    }

    #[test]
    fn the_hands_moves_reach_the_app_once_and_a_game_goes_through_whatever_was_before(
        setup in emulator::setup(false),
        acts in vec(emulator::act(), 0..40),
    ) {
        let mut world = emulator::World::new(setup);
        acts.iter().for_each(|act| world.does(act));
        world.settles();
    }

    #[test]
    fn a_board_behind_a_second_boardbridge_is_a_board_like_any_other(
        setup in emulator::setup(true),
        acts in vec(emulator::act(), 0..40),
    ) {
        let mut world = emulator::World::new(setup);
        acts.iter().for_each(|act| world.does(act));
        world.settles();
    }
}

#[test]
fn a_move_that_waits_is_shown_again_on_a_board_that_restarts_with_its_port() {
    for (restarts, forgets) in [
        (None, None),
        (Some(0), None),
        (Some(0), Some(true)),
        (Some(2000), None),
        (Some(2000), Some(true)),
    ] {
        driver::World::restarting(restarts, forgets).shows_again();
    }
}

#[test]
fn a_move_that_a_set_up_by_hand_has_replaced_is_not_shown_again() {
    driver::World::restarting(None, None).forgets_what_was_replaced();
}
