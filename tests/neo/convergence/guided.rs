//! What the hand is told to put right, and how it obeys.

use super::*;

#[test]
fn a_set_up_is_not_done_while_pieces_that_nobody_touched_are_others() {
    let chess960 = "bbnnrqkr/pppppppp/8/8/8/8/PPPPPPPP/BBNNRQKR w KQkq - 0 1";
    let start = Game::from_fen(chess960).unwrap();
    let mut world = World::begun();
    world.target = start.clone();
    world.state();
    world.awaits(true);
    world.pass(Duration::from_secs(20));
    assert!(!world.snapshot().guidance.is_empty(), "{}", world.story());
    assert!(world.snapshot().game.is_standard());
    world.hand(Hand::SetUp(Box::new(simulated(&start))));
    world.comes(|w| *w.snapshot().game == start, "the set-up");
    assert!(world.snapshot().guidance.is_empty());
    assert_eq!(world.pieces(), start.position().board());
    world.is_clean();
}

#[test]
fn what_is_to_be_put_right_changes_with_every_touch_and_the_lamps_with_it() {
    let mut world = World::at("e2e4 e7e5");
    for (from, to, piece) in [
        (Square::B1, Square::B4, Color::White.knight()),
        (Square::G8, Square::G5, Color::Black.knight()),
    ] {
        world.hand(Hand::Lift(from));
        world.hand(Hand::Put(to, piece));
        world.pass(Duration::from_secs(1));
    }
    world.comes(|w| w.snapshot().guidance.len() == 2, "the list");
    world.hand(Hand::Lift(Square::B4));
    world.pass(Duration::from_millis(200));
    let words = in_words(&world.snapshot().guidance);
    assert!(words.contains("put the white knight on b1"), "{words}");
    world.hand(Hand::Put(Square::B1, Color::White.knight()));
    world.pass(Duration::from_millis(200));
    let words = in_words(&world.snapshot().guidance);
    assert_eq!(words, "move the black knight from g5 to g8");
    let mistakes = |w: &World| {
        w.events
            .iter()
            .filter(|e| e.contains("are misplaced"))
            .count()
    };
    assert!(mistakes(&world) <= 2, "{}", world.story());
}

#[test]
fn a_list_is_not_withdrawn_while_pieces_stand_exchanged() {
    let mut world = World::at("");
    world.carries(Square::B1, Square::B5);
    world.comes(|w| !w.told().is_empty(), "the list");
    for (from, to) in [
        (Square::A1, Square::A5),
        (Square::D1, Square::A1),
        (Square::A5, Square::D1),
    ] {
        world.carries(from, to);
    }
    world.carries(Square::B5, Square::B1);
    world.pass(LONG);
    assert_eq!(
        world.told_words(),
        "put the white rook from d1 aside for now, then move the white queen from a1 to d1, then put the white rook \
         on a1"
    );
    // No move is made of it meanwhile, and then the game goes on.
    let mut rng = fastrand::Rng::with_seed(1);
    world.obeys_to_the_end(&mut Vec::new(), &mut rng, "the exchange");
    world.stands("");
    world.plays("b1c3");
}

#[test]
fn pieces_exchanged_before_anything_was_told_are_told_of() {
    let mut world = World::at("");
    for (from, to) in [
        (Square::A1, Square::A5),
        (Square::D1, Square::A1),
        (Square::A5, Square::D1),
    ] {
        world.carries(from, to);
    }
    world.comes(|w| w.told().len() == 3, "the list");
    // The player knows better.
    world.command(Command::Ready { client: CLIENT });
    assert_eq!(world.told_words(), "");
}

#[test]
fn what_the_hand_was_told_to_do_is_what_it_does() {
    let queen = Color::White.queen();
    let mut world = World::at("");
    for square in [Square::D1, Square::F7] {
        world.lifts(square);
    }
    world.comes(|w| w.told().len() == 2, "the list");
    world.puts(Square::D1, queen);
    assert_eq!(world.told_words(), "put the black pawn on f7");
    world.puts(Square::F7, Color::Black.pawn());
    world.pass(LONG);
    world.stands("");
}

/// Whatever the player has done to the pieces, doing as told leaves the rest of the list, and the list is done when the
/// placement is right and not before.
#[test]
fn a_hand_that_obeys_is_never_contradicted() {
    let number = |name: &str, or: u64| std::env::var(name).ok().map_or(or, |n| n.parse().unwrap());
    let (first, cases) = (number("GUIDANCE_SEED", 1), number("GUIDANCE_CASES", 150));
    let games = [
        "",
        "e2e4 d7d5",
        "e2e4 e7e5 g1f3 b8c6 f1b5 a7a6",
        "a2a4 b7b5 a4b5 a7a6 b5a6 a8a6",
    ];
    for seed in first..first + cases {
        let mut rng = fastrand::Rng::with_seed(seed);
        let mut world = World::at(games[rng.usize(..games.len())]);
        let mut hands = Vec::new();
        let mut done = vec![format!("seed {seed}")];
        let wait = |rng: &mut fastrand::Rng| Duration::from_millis(rng.u64(0..12_000));
        for _ in 0..rng.usize(1..5) {
            world.comes(|w| !w.neo.is_driving(), "the motor's rest");
            let stand: Vec<Square> = world.pieces().occupied().into_iter().collect();
            let free: Vec<Square> = (!world.pieces().occupied()).into_iter().collect();
            let one = stand[rng.usize(..stand.len())];
            let other = stand[rng.usize(..stand.len())];
            let by = free[rng.usize(..free.len())];
            // With pieces in both hands it is unknown which is put down; while none is, each is known.
            match rng.u8(if hands.is_empty() { 0..4 } else { 2..4 }) {
                0 => {
                    done.push(format!("{one} to {by}"));
                    world.carries(one, by);
                }
                1 if one != other => {
                    let last = world.snapshot().game.last();
                    if last.is_some_and(|m| (m.to(), m.from()) == (one, Some(by))) {
                        // The motor makes a move that was taken back again, at any time.
                        continue;
                    }
                    done.push(format!("{one} and {other} exchanged by way of {by}"));
                    world.carries(one, by);
                    let time = wait(&mut rng);
                    world.pass(time);
                    world.carries(other, one);
                    world.carries(by, other);
                }
                2 => {
                    done.push(format!("{one} off"));
                    hands.push(world.pieces().piece_at(one).unwrap());
                    world.lifts(one);
                }
                _ if one != other => {
                    done.push(format!("{one} and {other} off"));
                    for square in [one, other] {
                        hands.push(world.pieces().piece_at(square).unwrap());
                        world.lifts(square);
                    }
                }
                _ => {}
            }
            let time = wait(&mut rng);
            world.pass(time);
        }
        world.pass(Duration::from_secs(30));
        world.obeys_to_the_end(&mut hands, &mut rng, &done.join(", "));
    }
}

/// The pieces stand as after a move, or as before the last one, but for a pawn of the other side: the list asks for both
/// back. The pawn is put back.
fn all_but_a_move_undone(before: &str, pawn: (Square, Square), touches: &[Touch]) -> World {
    let mut world = World::at(before);
    world.carries(pawn.0, pawn.1);
    for touch in touches {
        world.hand(match *touch {
            Touch::Lift(square) => Hand::Lift(square),
            Touch::Put(square, piece) => Hand::Put(square, piece),
        });
        world.pass(Duration::from_millis(700));
    }
    world.comes(|w| w.told().len() > 1, "the list");
    world.pass(Duration::from_secs(5));
    world.carries(pawn.1, pawn.0);
    world
}

/// A move, a capture and a take-back that the hand is asked to undo.
fn undone() -> [(&'static str, World); 3] {
    let white = [(Square::A7, Square::A6), (Square::H2, Square::H3)];
    let (knight, pawn) = (Color::White.knight(), Color::White.pawn());
    let moved = [Touch::Lift(Square::B1), Touch::Put(Square::C3, knight)];
    let took = [
        Touch::Lift(Square::E4),
        Touch::Lift(Square::D5),
        Touch::Put(Square::D5, pawn),
    ];
    let back = [Touch::Lift(Square::C3), Touch::Put(Square::B1, knight)];
    [
        ("e2e4 d7d5", white[0], &moved[..]),
        ("e2e4 d7d5", white[0], &took[..]),
        ("e2e4 d7d5 b1c3", white[1], &back[..]),
    ]
    .map(|(before, pawn, touches)| (before, all_but_a_move_undone(before, pawn, touches)))
}

#[test]
fn what_the_hand_is_still_asked_to_undo_is_not_told_as_made() {
    for (before, mut world) in undone() {
        world.pass(LONG);
        assert_eq!(*world.snapshot().game, game(before), "{}", world.story());
        assert!(!world.told().is_empty(), "{}", world.story());
        let mut hands = vec![Color::Black.pawn()];
        let mut rng = fastrand::Rng::with_seed(1);
        world.obeys_to_the_end(&mut hands, &mut rng, before);
        world.stands(before);
    }
}

#[test]
fn a_move_that_the_hand_is_asked_to_undo_counts_when_its_piece_is_put_down_again() {
    let after = ["e2e4 d7d5 b1c3", "e2e4 d7d5 e4d5", "e2e4 d7d5"];
    let squares = [Square::C3, Square::D5, Square::B1];
    for ((after, square), (_, mut world)) in after.into_iter().zip(squares).zip(undone()) {
        world.pass(LONG);
        world.hand(Hand::Adjust(square));
        world.intended.extend(game(after).last().map(uci));
        world.comes(|w| *w.snapshot().game == game(after), after);
        world.is_clean();
    }
}

/// A hand that thinks with a piece in the air is asked to put it back, and moves all the same.
#[test]
fn a_move_goes_on_after_the_hand_was_asked_to_put_a_piece_back() {
    let (white, black) = (Color::White.pawn(), Color::Black.pawn());
    let castled = "e2e4 e7e5 g1f3 b8c6 f1c4 f8c5";
    let (lift, put) = (Touch::Lift, Touch::Put);
    for (before, m, touches) in [
        (
            "e2e4 d7d5",
            "e4d5",
            vec![lift(Square::E4), lift(Square::D5), put(Square::D5, white)],
        ),
        (
            "e2e4 d7d5",
            "e4d5",
            vec![lift(Square::D5), lift(Square::E4), put(Square::D5, white)],
        ),
        (
            "e2e4 d7d5",
            "b1c3",
            vec![lift(Square::B1), put(Square::C3, Color::White.knight())],
        ),
        (
            "e2e4 a7a6 e4e5 d7d5",
            "e5d6",
            vec![lift(Square::E5), put(Square::D6, white), lift(Square::D5)],
        ),
        (
            castled,
            "e1g1",
            vec![
                lift(Square::E1),
                put(Square::G1, Color::White.king()),
                lift(Square::H1),
                put(Square::F1, Color::White.rook()),
            ],
        ),
        // Tried elsewhere first, where it may not go.
        (
            "e2e4 d7d5",
            "e4d5",
            vec![
                lift(Square::E4),
                put(Square::E6, white),
                lift(Square::D5),
                lift(Square::E6),
                put(Square::D5, white),
            ],
        ),
        (
            "e2e4",
            "d7d5",
            vec![
                lift(Square::D7),
                put(Square::D4, black),
                lift(Square::D4),
                put(Square::D5, black),
            ],
        ),
    ] {
        // After which touch the hand thinks.
        for thinks in 0..touches.len() - 1 {
            let lifted = |touch: &&Touch| matches!(touch, Touch::Lift(_));
            let lifts = touches[..=thinks].iter().filter(lifted).count();
            if lifts * 2 > thinks + 2 {
                // With both pieces of a capture in the hand it may as well do as it was asked.
                continue;
            }
            let mut world = World::at(before);
            world.intended.push(m.parse().unwrap());
            for (number, touch) in touches.iter().enumerate() {
                world.hand(match *touch {
                    Touch::Lift(square) => Hand::Lift(square),
                    Touch::Put(square, piece) => Hand::Put(square, piece),
                });
                world.pass(Duration::from_millis(1_300));
                if number == thinks && world.snapshot().game.len() == game(before).len() {
                    world.pass(Duration::from_secs(11));
                }
            }
            let after = game(&format!("{before} {m}"));
            let made = |w: &World| *w.snapshot().game == after;
            assert!(world.until(LONG, made), "{m} {thinks}: {}", world.story());
        }
    }
}
