//! Guidance keeps its promises: the fewest actions, each possible in its turn, and the wanted placement at the end.

#[path = "../../examples/guidance/bound.rs"]
mod bound;
#[path = "../../examples/guidance/check.rs"]
mod check;
#[path = "../../examples/guidance/disturbance.rs"]
mod disturbance;

use std::collections::BinaryHeap;

use boardbridge::chess::guidance::{Action, Impossible, Picture, guide, in_short, in_words, name};
use fastrand::Rng;
use proptest::prelude::*;
use rig::pace::gives_way;
use shakmaty::{Bitboard, Board, Color, Piece, Role, Square};

use self::{
    check::{check, is_right},
    disturbance::{MAX_PIECES, disturbed, foreign, positions},
};

const GAMES: &str = include_str!("../games/lichess.uci");
/// `examples/guidance` does 1000 of each.
const DISTURBANCES: usize = 20;

fn board(fen: &str) -> Board {
    fen.parse().unwrap()
}

fn guided(stands: &Picture, wanted: &Board) -> Vec<Action> {
    let actions = guide(stands, wanted);
    check(stands, wanted, &actions).unwrap();
    actions
}

fn words(stands: &str, wanted: &str) -> String {
    in_words(&guided(&Picture::from(board(stands)), &board(wanted)))
}

#[test]
fn disturbed_positions_are_led_back_by_the_fewest_actions() {
    gives_way();
    let mut rng = Rng::with_seed(1);
    for wanted in positions(GAMES, 1000).unwrap() {
        assert_eq!(guide(&Picture::from(wanted.clone()), &wanted), []);
        for number in 0..DISTURBANCES {
            let pieces = number % MAX_PIECES + 1;
            guided(&disturbed(&wanted, pieces, &mut rng), &wanted);
        }
    }
}

#[test]
fn a_piece_is_carried_and_not_taken_off_and_put_on() {
    let start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR";
    let moved = "rnbqkbnr/pppppppp/8/8/8/6N1/PPPPPPPP/RNBQKB1R";
    assert_eq!(words(moved, start), "move the white knight from g3 to g1");
    let gone = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNB1KBNR";
    assert_eq!(words(gone, start), "put the white queen on d1");
    assert_eq!(words(start, gone), "take the white queen off d1");
}

#[test]
fn a_chain_is_done_from_its_free_end() {
    assert_eq!(
        words("8/8/8/8/8/8/8/RNB5", "8/8/8/8/8/8/8/1RNB4"),
        "move the white bishop from c1 to d1, then move the white knight from b1 to c1, then move the white rook from a1 \
         to b1"
    );
}

#[test]
fn what_is_in_the_way_leaves_first() {
    assert_eq!(
        words("8/8/8/8/8/8/8/Rn6", "8/8/8/8/8/8/8/1R6"),
        "take the black knight off b1, then move the white rook from a1 to b1"
    );
}

#[test]
fn pieces_in_each_others_places_need_one_put_aside() {
    assert_eq!(
        words("8/8/8/8/8/8/8/KQ6", "8/8/8/8/8/8/8/QK6"),
        "put the white queen from b1 aside for now, then move the white king from a1 to b1, then put the white queen on a1"
    );
}

#[test]
fn two_exchanges_of_the_same_kinds_need_one_put_aside_together() {
    let stands = Picture::from(board("nb6/8/8/8/8/8/8/NB4nb"));
    let wanted = board("bn6/8/8/8/8/8/8/NB4bn");
    assert_eq!(guided(&stands, &wanted).len(), 5);
}

#[test]
fn a_cycle_with_a_piece_too_many_of_its_kinds_needs_none_aside() {
    let stands = Picture::from(board("nb6/8/8/8/8/8/8/7n"));
    let wanted = board("bn6/8/8/8/8/8/8/8");
    assert_eq!(guided(&stands, &wanted).len(), 3);
    let stands = Picture::from(board("nb6/8/8/8/8/8/8/8"));
    let wanted = board("bn6/8/8/8/8/8/8/7n");
    assert_eq!(guided(&stands, &wanted).len(), 3);
}

#[test]
fn another_kind_is_no_substitute() {
    assert_eq!(
        words("8/8/8/8/8/8/8/N6n", "8/8/8/8/8/8/8/3B3b"),
        "take the white knight off a1, then put the white bishop on d1, then take the black knight off h1, then put the \
         black bishop on h1"
    );
}

#[test]
fn three_squares_or_more_to_clear_are_named_together() {
    let wanted = "4k3/8/8/8/8/8/4P3/4K3";
    assert_eq!(
        words("4k3/8/8/8/8/8/4P3/1NBQKB2", wanted),
        "clear b1, c1, d1 and f1"
    );
    assert_eq!(
        words("4k3/8/8/8/8/8/4P3/1N1QK3", wanted),
        "take the white knight off b1, then take the white queen off d1"
    );
    // One that comes back is not cleared away.
    assert_eq!(
        words("4k3/8/8/8/8/8/8/KQB1BN2", "4k3/8/8/8/8/8/8/QK6"),
        "clear c1, e1 and f1, then put the white queen from b1 aside for now, then move the white king from a1 to b1, \
         then put the white queen on a1"
    );
}

#[test]
fn a_person_is_told_what_he_can_remember() {
    let stands = Picture::from(Board::default());
    let kings = board("4k3/8/8/8/8/8/8/4K3");
    let all = guide(&stands, &kings);
    assert_eq!(
        in_short(&all),
        "clear a1, b1, c1, d1, f1, g1, h1 and a2, and 22 more"
    );
    let all = guide(&Picture::from(kings), &Board::default());
    assert!(
        in_short(&all).ends_with(", and 26 more"),
        "{}",
        in_short(&all)
    );
}

#[test]
fn a_piece_nobody_knows_stands_for_what_no_known_one_is_there_for() {
    let unknown = Bitboard::from(Square::E2);
    let stands = Picture {
        board: board("8/8/8/8/8/8/8/N7"),
        unknown,
    };
    let far = guided(&stands, &board("8/8/8/8/8/8/8/5N2"));
    assert_eq!(
        in_words(&far),
        "move the white knight from a1 to f1, then take the piece off e2"
    );
    let both = guided(&stands, &board("8/8/8/8/8/8/8/3n1N2"));
    assert_eq!(
        in_words(&both),
        "move the white knight from a1 to f1, then move the piece from e2 to d1"
    );
    assert_eq!(guided(&stands, &board("8/8/8/8/8/8/4r3/N7")), []);
}

#[test]
fn a_piece_nobody_knows_and_nobody_needs_saves_putting_one_aside() {
    let stands = Picture {
        board: board("8/8/8/8/8/8/8/KQ6"),
        unknown: Bitboard::from(Square::H8),
    };
    assert_eq!(guided(&stands, &board("8/8/8/8/8/8/8/QK6")).len(), 3);
}

#[test]
fn a_piece_known_not_to_be_the_one_wanted_is_carried_away() {
    let wanted = board("8/8/8/8/4P3/8/8/8");
    let mut stands = Picture::from(wanted.clone());
    stands.unknown.add(Square::E4);
    let words = in_words(&guide(&stands, &wanted));
    assert_eq!(
        words,
        "take the piece off e4, then put the white pawn on e4"
    );
    let wanted = board("8/8/8/8/4P3/8/8/1N6");
    let actions = guide(&stands, &wanted);
    let words = "move the piece from e4 to b1, then put the white pawn on e4";
    assert_eq!(in_words(&actions), words);
    actions
        .iter()
        .for_each(|action| stands.apply(action).unwrap());
    assert_eq!(guide(&stands, &wanted), []);
}

#[test]
fn the_nearest_of_a_kind_goes() {
    assert_eq!(
        words("8/8/8/8/8/8/P6P/8", "8/8/8/1P4P1/8/8/8/8"),
        "move the white pawn from a2 to b5, then move the white pawn from h2 to g5"
    );
}

#[test]
fn chess960_no_kings_and_more_than_32_pieces_are_boards_like_others() {
    let start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR";
    let fischer = "bqnbrnkr/pppppppp/8/8/8/8/PPPPPPPP/BQNBRNKR";
    let full = "qqqqqqqq/kkkkkkkk/pppppppp/nnnnnnnn/NNNNNNNN/PPPPPPPP/KKKKKKKK/QQQQQQQQ";
    let boards = [
        start,
        fischer,
        full,
        "8/8/8/8/8/8/8/8",
        "pppppppp/8/8/8/8/8/8/8",
    ]
    .map(board);
    for stands in &boards {
        for wanted in &boards {
            guided(&Picture::from(stands.clone()), wanted);
            let nobody_knows = Picture {
                board: Board::empty(),
                unknown: stands.occupied(),
            };
            guided(&nobody_knows, wanted);
        }
    }
}

/// A small board: some squares, each empty or with one of three kinds of piece or an unknown one.
const EMPTY: u8 = 0;
const KINDS: [Piece; 3] = [
    Piece {
        color: Color::White,
        role: Role::Knight,
    },
    Piece {
        color: Color::Black,
        role: Role::Knight,
    },
    Piece {
        color: Color::White,
        role: Role::King,
    },
];
const UNKNOWN: u8 = 4;
const CONTENTS: usize = 5;

fn small(contents: &[u8], squares: &[Square]) -> Picture {
    let mut picture = Picture::from(Board::empty());
    for (&content, &square) in contents.iter().zip(squares) {
        match content {
            EMPTY => {}
            UNKNOWN => picture.unknown.add(square),
            kind => picture
                .board
                .set_piece_at(square, KINDS[usize::from(kind) - 1]),
        }
    }
    picture
}

fn digits(mut number: usize, base: usize, count: usize) -> Vec<u8> {
    (0..count)
        .map(|_| {
            let digit = number % base;
            number /= base;
            digit as u8
        })
        .collect()
}

fn number(contents: &[u8]) -> usize {
    contents
        .iter()
        .rev()
        .fold(0, |n, digit| n * CONTENTS + usize::from(*digit))
}

/// For every small board the fewest actions to a wanted one, and of the lists with that length the shortest way in king
/// steps, by going back from the end through all possible actions.
fn from_the_end(wanted: &[u8], squares: &[Square]) -> Vec<(usize, u32)> {
    let count = squares.len();
    let states = CONTENTS.pow(count as u32);
    let mut best = vec![(usize::MAX, 0); states];
    let mut queue = BinaryHeap::new();
    for (state, best) in best.iter_mut().enumerate() {
        let fits = |(stands, wanted): (&u8, &u8)| match *wanted {
            EMPTY => *stands == EMPTY,
            kind => *stands == kind || *stands == UNKNOWN,
        };
        if digits(state, CONTENTS, count).iter().zip(wanted).all(fits) {
            *best = (0, 0);
            queue.push(std::cmp::Reverse(((0, 0), state)));
        }
    }
    while let Some(std::cmp::Reverse((cost, state))) = queue.pop() {
        if best[state] < cost {
            continue;
        }
        let contents = digits(state, CONTENTS, count);
        let mut before = |contents: &[u8], steps: u32| {
            let state = number(contents);
            let cost = (cost.0 + 1, cost.1 + steps);
            if cost < best[state] {
                best[state] = cost;
                queue.push(std::cmp::Reverse((cost, state)));
            }
        };
        for to in 0..count {
            let mut was = contents.clone();
            if contents[to] == EMPTY {
                // Anything may have been taken off.
                for content in 1..CONTENTS as u8 {
                    was[to] = content;
                    before(&was, 0);
                }
                continue;
            }
            was[to] = EMPTY;
            before(&was, 0);
            for from in 0..count {
                if contents[from] == EMPTY {
                    was[from] = contents[to];
                    before(&was, squares[from].distance(squares[to]));
                    was[from] = EMPTY;
                }
            }
        }
    }
    best
}

fn steps(actions: &[Action]) -> u32 {
    let carry = |action: &Action| Some(action.from?.distance(action.to?));
    actions.iter().filter_map(carry).sum()
}

#[test]
fn no_list_of_all_there_are_has_fewer_actions() {
    gives_way();
    let squares = [Square::A1, Square::C2, Square::D5, Square::H8];
    for goal in 0..4usize.pow(4) {
        let wanted = digits(goal, 4, 4);
        let best = from_the_end(&wanted, &squares);
        let wanted = small(&wanted, &squares).board;
        for (state, (fewest, _)) in best.iter().enumerate() {
            let stands = small(&digits(state, CONTENTS, 4), &squares);
            assert_eq!(
                guide(&stands, &wanted).len(),
                *fewest,
                "{stands:?} to {wanted}"
            );
        }
    }
}

#[test]
fn no_list_of_all_there_are_on_six_squares_has_fewer_actions_or_a_shorter_way() {
    gives_way();
    let mut rng = Rng::with_seed(3);
    let mut known = 0;
    for _ in 0..12 {
        let mut all = Square::ALL;
        rng.shuffle(&mut all);
        let squares = &all[..6];
        let wanted = digits(rng.usize(..4usize.pow(6)), 4, 6);
        let best = from_the_end(&wanted, squares);
        let wanted = small(&wanted, squares).board;
        for _ in 0..400 {
            let state = rng.usize(..best.len());
            let stands = small(&digits(state, CONTENTS, 6), squares);
            let actions = guided(&stands, &wanted);
            let (fewest, shortest) = best[state];
            assert_eq!(actions.len(), fewest, "{stands:?} to {wanted}");
            if stands.unknown.is_empty() {
                known += 1;
                assert_eq!(steps(&actions), shortest, "{stands:?} to {wanted}");
            }
        }
    }
    assert!(known > 1000);
}

fn any_board() -> impl Strategy<Value = Picture> {
    (any::<u64>(), 0.0..1.0f64, 0.0..0.5f64).prop_map(|(seed, filled, unknown)| {
        let mut rng = Rng::with_seed(seed);
        let mut picture = Picture::from(Board::empty());
        for square in Square::ALL {
            if rng.f64() < filled {
                if rng.f64() < unknown {
                    picture.unknown.add(square);
                } else {
                    picture.board.set_piece_at(square, foreign(&mut rng));
                }
            }
        }
        picture
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn any_board_is_led_to_any_other(stands in any_board(), wanted in any_board()) {
        let actions = guide(&stands, &wanted.board);
        prop_assert!(check(&stands, &wanted.board, &actions).is_ok(), "{:?}", check(&stands, &wanted.board, &actions));
        prop_assert_eq!(guide(&stands, &wanted.board), actions);
    }
}

#[test]
fn an_impossible_action_is_refused_and_changes_nothing() {
    let picture = Picture {
        board: board("8/8/8/8/8/8/8/NB6"),
        unknown: Bitboard::from(Square::H1),
    };
    let knight = KINDS[0];
    let action = |piece, from, to| Action { piece, from, to };
    let bishop = picture.board.piece_at(Square::B1).unwrap();
    for (impossible, why) in [
        (
            action(Some(knight), Some(Square::C1), None),
            Impossible::Empty(Square::C1),
        ),
        (
            action(Some(knight), Some(Square::B1), Some(Square::C1)),
            Impossible::Other {
                square: Square::B1,
                stands: bishop,
                named: knight,
            },
        ),
        (
            action(Some(knight), Some(Square::A1), Some(Square::H1)),
            Impossible::Occupied(Square::H1),
        ),
        (
            action(Some(knight), Some(Square::A1), Some(Square::A1)),
            Impossible::Occupied(Square::A1),
        ),
        (action(Some(knight), None, None), Impossible::Nowhere),
    ] {
        let mut then = picture.clone();
        assert_eq!(then.apply(&impossible), Err(why));
        assert_eq!(then, picture);
    }
    let mut named = picture.clone();
    named
        .apply(&action(Some(knight), Some(Square::H1), Some(Square::H2)))
        .unwrap();
    assert_eq!(named.board.piece_at(Square::H2), Some(knight));
    assert!(is_right(&named, &named.board.clone()));
    assert_eq!(name(bishop).to_string(), "white bishop");
}
