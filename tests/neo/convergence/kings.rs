//! Kings in the centre, the Neo's sign that a game is over.

use super::*;

#[test]
fn kings_in_the_centre_are_no_move() {
    let before = "e2e4 e7e5 e1e2 e8e7 d2d3 d7d6";
    let mut world = World::at(before);
    world.hand(Hand::KingsToCentre);
    world.pass(LONG);
    assert_eq!(*world.snapshot().game, game(before), "{}", world.story());
    world.hand(Hand::Restore);
    world.pass(LONG);
    world.stands(before);
}

#[test]
fn kings_in_the_centre_end_the_game_and_put_back_it_goes_on() {
    for (white, black, end, sign) in [
        (Square::D4, Square::D5, GameEnd::AGREED, "sign dw"),
        (
            Square::D4,
            Square::E5,
            GameEnd::resigned(Color::White),
            "sign bl",
        ),
        (
            Square::D5,
            Square::E4,
            GameEnd::resigned(Color::Black),
            "sign wt",
        ),
    ] {
        let moves = "e2e3 e7e6";
        let mut world = World::at(moves);
        for (from, to, color) in [
            (Square::E1, white, Color::White),
            (Square::E8, black, Color::Black),
        ] {
            world.hand(Hand::Lift(from));
            world.pass(Duration::from_secs(1));
            world.hand(Hand::Put(to, color.king()));
            world.pass(Duration::from_secs(1));
        }
        world.comes(|w| w.snapshot().ending == Some(end), "the game's end");
        let told = |report: &String| report == sign;
        world.comes(|w| w.reports.iter().any(told), "the board's sign");
        world.pass(LONG);
        assert!(world.snapshot().guidance.is_empty(), "{}", world.story());
        assert_eq!(world.snapshot().judge, Some(Judge::Hand));
        assert!(world.neo.lamps().is_empty(), "{}", world.story());
        for (from, to, color) in [
            (black, Square::E8, Color::Black),
            (white, Square::E1, Color::White),
        ] {
            world.hand(Hand::Lift(from));
            world.hand(Hand::Put(to, color.king()));
        }
        world.comes(|w| w.snapshot().ending.is_none(), "the game");
        world.stands(moves);
        world.plays("g1f3");
        world.stands("e2e3 e7e6 g1f3");
    }
}

#[test]
fn kings_in_the_centre_free_the_board_for_a_program_that_waits() {
    let moves = "e2e3 e7e6";
    let mut world = World::at(moves);
    world.program.label = "127.0.0.1:50000";
    world.follows(moves);
    world.awaits(true);
    let mut waiting = Program {
        client: ClientId(2),
        label: "192.168.1.5:50000",
        number: 0,
    };
    let states = waiting.states(&game(""));
    world.command(states);
    world.command(waiting.awaits(true));
    world.pass(LONG);
    let has = |world: &World, client| {
        let places = world.snapshot().places;
        places
            .iter()
            .any(|place| place.client == client && place.joined)
    };
    assert!(has(&world, CLIENT) && !has(&world, waiting.client));
    for (from, to, color) in [
        (Square::E1, Square::D4, Color::White),
        (Square::E8, Square::E5, Color::Black),
    ] {
        world.hand(Hand::Lift(from));
        world.hand(Hand::Put(to, color.king()));
    }
    let end = Some(GameEnd::resigned(Color::White));
    world.comes(|w| w.snapshot().ending == end, "the game's end");
    assert!(has(&world, CLIENT), "the kings may be put back");
    world.comes(|w| has(w, waiting.client), "the next program");
    assert!(!has(&world, CLIENT), "{}", world.story());
}

#[test]
fn the_game_is_not_over_while_only_one_king_stands_in_the_centre() {
    let mut world = World::at("e2e3 e7e6");
    world.hand(Hand::Lift(Square::E1));
    world.pass(Duration::from_secs(1));
    world.hand(Hand::Put(Square::D4, Color::White.king()));
    world.pass(LONG);
    assert_eq!(world.snapshot().ending, None);
    assert_eq!(
        in_words(&world.snapshot().guidance),
        "move the white king from d4 to e1"
    );
}

#[test]
fn kings_lifted_together_and_put_in_the_centre_end_the_game() {
    let moves = "e2e3 e7e6";
    for (first, second, end) in [
        (Square::D4, Square::D5, GameEnd::AGREED),
        (Square::D4, Square::E5, GameEnd::resigned(Color::White)),
        (Square::D5, Square::E4, GameEnd::resigned(Color::Black)),
    ] {
        for white_first in [true, false] {
            let mut world = World::at(moves);
            for square in [Square::E8, Square::E1] {
                world.hand(Hand::Lift(square));
                world.pass(Duration::from_secs(1));
            }
            let white = Color::from_white(white_first);
            for (square, color) in [(first, white), (second, !white)] {
                world.hand(Hand::Put(square, color.king()));
                world.pass(Duration::from_secs(1));
            }
            world.comes(|w| w.snapshot().ending == Some(end), "the game's end");
            world.pass(LONG);
            assert!(world.snapshot().guidance.is_empty(), "{}", world.story());
            for square in [first, second] {
                world.hand(Hand::Lift(square));
            }
            for (square, color) in [(Square::E8, Color::Black), (Square::E1, Color::White)] {
                world.hand(Hand::Put(square, color.king()));
            }
            world.comes(|w| w.snapshot().ending.is_none(), "the game");
            world.stands(moves);
            world.plays("g1f3");
        }
    }
}

#[test]
fn kings_that_take_the_place_of_pieces_in_the_centre_end_the_game() {
    for victim_first in [true, false] {
        let mut world = World::at("d2d4 e7e5");
        for (from, to, king) in [
            (Square::E1, Square::D4, Color::White.king()),
            (Square::E8, Square::E5, Color::Black.king()),
        ] {
            let mut lifts = [from, to];
            if victim_first {
                lifts.reverse();
            }
            for square in lifts {
                world.hand(Hand::Lift(square));
                world.pass(Duration::from_millis(500));
            }
            world.hand(Hand::Put(to, king));
            world.pass(Duration::from_millis(500));
        }
        world.comes(|w| w.snapshot().ending.is_some(), "the game's end");
        assert_eq!(
            world.snapshot().ending,
            Some(GameEnd::resigned(Color::White))
        );
        world.pass(LONG);
        assert!(world.snapshot().guidance.is_empty(), "{}", world.story());
        assert!(world.neo.lamps().is_empty(), "{}", world.story());
    }
}
