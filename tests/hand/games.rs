//! Games on each kind of board, many of them.

use std::{fmt::Write as _, ops::Range, time::Duration};

use boardbridge::chess::game::Game;
use fastrand::Rng;
use rig::pace::gives_way;
use shakmaty::{Board, Color, Position};

use super::{
    chessnut::Chessnut,
    dgt::Dgt,
    fate::Fate,
    gesture::Habit,
    neo::Neo,
    pegasus::Pegasus,
    table::{Outcome, Table},
    wood::Wood,
};

const GAMES: &str = include_str!("../games/lichess-428.uci");
/// Pawns that become each piece, with and without a capture, on either side.
const STUDIES: [(&str, &str); 4] = [
    (
        "8/P1P5/7k/8/8/8/p1p4K/8 w - - 0 1",
        "a7a8n a2a1b c7c8r c2c1n c8h8 h6g5 a8b6 a1h8",
    ),
    (
        "8/P1P5/7k/8/8/8/p1p4K/8 w - - 0 1",
        "c7c8q a2a1q a7a8b c2c1r c8c1 a1c1",
    ),
    (
        "1n1r3k/P1P5/8/8/8/8/p1p4K/1N1R4 w - - 0 1",
        "a7b8r a2b1n c7d8b c2d1q d8f6 h8h7 b8e8 d1d2",
    ),
    (
        "r3k2r/8/8/2Pp4/3pP3/8/8/R3K2R b KQkq e3 0 1",
        "d4e3 e1g1 e8c8 c5c6 c8b8 a1e1",
    ),
];
/// Every which game is played; `HAND_EVERY=1 HAND_SEEDS=3` plays all of them three times.
const EVERY: usize = 214;
/// How often.
const SEEDS: usize = 1;
/// How long the hand rests between two moves on a board of pieces, ms, and on one of squares.
const BLITZ: Range<u64> = 300..1_500;
const QUICK: Range<u64> = 200..2_000;

fn given(name: &str) -> Option<usize> {
    std::env::var(name).ok().map(|n| n.parse().unwrap())
}

fn games(every: usize) -> Vec<Game> {
    let studies = STUDIES
        .into_iter()
        .map(|(fen, moves)| (Game::from_fen(fen).unwrap(), moves));
    let whole = GAMES.lines().step_by(every);
    let all = studies.chain(whole.map(|moves| (Game::standard(), moves)));
    all.map(|(mut game, moves)| {
        game.play_uci(moves.split_whitespace()).unwrap();
        game
    })
    .collect()
}

/// A kind of board.
#[derive(Clone, Copy)]
enum Kind {
    Pegasus,
    Neo,
    Dgt,
    Chessnut,
}

impl Kind {
    const ALL: [Self; 4] = [Self::Pegasus, Self::Neo, Self::Dgt, Self::Chessnut];

    fn name(self) -> &'static str {
        match self {
            Self::Pegasus => "pegasus",
            Self::Neo => "neo",
            Self::Dgt => "dgt",
            Self::Chessnut => "chessnut",
        }
    }

    /// Switched on with these pieces.
    fn wood(self, seed: u64, board: &Board) -> Box<dyn Wood> {
        match self {
            Self::Pegasus => Box::new(Pegasus::new(seed, board)),
            Self::Neo => Box::new(Neo::new(seed)),
            Self::Dgt => Box::new(Dgt::new(seed, board)),
            Self::Chessnut => Box::new(Chessnut::new(seed)),
        }
    }

    fn pause(self) -> Range<u64> {
        match self {
            Self::Pegasus | Self::Neo => QUICK,
            Self::Dgt | Self::Chessnut => BLITZ,
        }
    }

    fn tells_pieces(self) -> bool {
        matches!(self, Self::Dgt | Self::Chessnut)
    }

    /// How long the hand waits once the board is there again: squares tell what was done meanwhile only by several pictures.
    fn looks(self) -> Duration {
        Duration::from_secs(if self.tells_pieces() { 0 } else { 5 })
    }

    /// How many captures of a hundred never leave their square empty.
    fn pushes(self) -> u8 {
        match self {
            Self::Pegasus | Self::Neo => 0,
            Self::Dgt | Self::Chessnut => 30,
        }
    }
}

/// Plays all games on this kind of board; `pushes` captures of a hundred never leave their square empty.
fn play_all(kind: Kind, pushes: u8, fate: Fate) -> Outcome {
    gives_way();
    let mut all = Outcome::default();
    let every = if fate == Fate::default() {
        EVERY
    } else {
        2 * EVERY
    };
    let games = games(given("HAND_EVERY").unwrap_or(every));
    let mut count = 0;
    let name = kind.name();
    if std::env::var("HAND_KIND").is_ok_and(|only| only != name) {
        return all;
    }
    let only = given("HAND_ONLY");
    let first = given("HAND_FIRST").unwrap_or_default();
    for round in first..first + given("HAND_SEEDS").unwrap_or(SEEDS) {
        for (index, game) in games.iter().enumerate() {
            let seed = u64::try_from(round * 1_000 + index).unwrap();
            if only.is_some_and(|only| u64::try_from(only).unwrap() != seed) {
                continue;
            }
            let Some(one) = play(kind, pushes, fate, game, seed) else {
                continue;
            };
            count += 1;
            all.plies += one.plies;
            all.wrong += one.wrong;
            all.missed += one.missed;
            all.asked += one.asked;
            if one.wrong + one.missed + one.asked > 0 {
                writeln!(
                    all.story,
                    "{name} seed {seed}: {} wrong {} missed {} asked",
                    one.wrong, one.missed, one.asked
                )
                .unwrap();
                if let Ok(folder) = std::env::var("HAND_STORIES") {
                    let file = format!("{folder}/{name}-{pushes}-{seed}");
                    std::fs::write(file, format!("{fate:?}\n{}", one.story)).unwrap();
                }
            }
        }
    }
    println!("{}", all.story);
    println!(
        "{name}: {count} games, {} plies: {} wrong, {} missed, {} asked",
        all.plies, all.wrong, all.missed, all.asked
    );
    all
}

/// Plays this game; the seed says how, and who has which side. `None`: the hand cannot play it so.
fn play(kind: Kind, pushes: u8, fate: Fate, game: &Game, seed: u64) -> Option<Outcome> {
    // A double step is put up by the hand before it is made (docs/playing.md).
    if (fate.elsewhere || fate.turned) && game.start().legal_ep_square().is_some() {
        return None;
    }
    // The program has White, Black, or neither.
    let sides = [Some(Color::White), Some(Color::Black), None];
    let side = sides[usize::try_from((seed % 1_000 + seed / 1_000) % 3).unwrap()];
    let mut stands = game.position_at(0).board().clone();
    if fate.elsewhere {
        stands = fate.elsewhere(game);
    }
    if fate.turned {
        stands.rotate_180();
    }
    let wood = kind.wood(seed, &stands);
    let habit = Habit {
        pause: kind.pause(),
        looks: kind.looks(),
        tells_pieces: kind.tells_pieces(),
        untidy: if Rng::with_seed(seed).bool() { 20 } else { 0 },
        pushes,
        rests: wood.rests(),
    };
    Some(Table::new(wood, game.clone(), side, habit, fate, seed).plays())
}

/// Games of the full size that were wrong or missed once, by their seeds, are neither.
fn are_mended(kind: Kind, pushes: u8, fate: Fate, seeds: &[usize]) {
    gives_way();
    let games = games(1);
    for seed in seeds {
        let game = &games[seed % 1_000];
        let one = play(kind, pushes, fate, game, u64::try_from(*seed).unwrap()).unwrap();
        assert_eq!(
            (one.wrong, one.missed),
            (0, 0),
            "seed {seed}: {}",
            one.story
        );
    }
}

/// Nothing is wrong, missed or asked.
fn is_right(kind: Kind, fate: Fate) {
    let all = play_all(kind, kind.pushes(), fate);
    assert_eq!((all.wrong, all.missed, all.asked), (0, 0, 0));
}

#[test]
fn games_in_a_hurry_are_followed_on_a_pegasus() {
    is_right(Kind::Pegasus, Fate::default());
}

#[test]
fn games_in_a_hurry_are_followed_on_a_neo() {
    is_right(Kind::Neo, Fate::default());
}

#[test]
fn games_in_a_hurry_are_followed_on_a_dgt_board() {
    is_right(Kind::Dgt, Fate::default());
}

#[test]
fn games_in_a_hurry_are_followed_on_a_chessnut_board() {
    is_right(Kind::Chessnut, Fate::default());
}

/// What cannot be told is asked, and once the hand has answered the game goes on.
#[test]
fn captures_that_a_pegasus_cannot_see_are_found_or_asked_about() {
    let all = play_all(Kind::Pegasus, 20, Fate::default());
    assert_eq!((all.wrong, all.missed), (0, 0));
    // The hand was asked again and again after all was put right.
    are_mended(Kind::Pegasus, 20, Fate::default(), &[236]);
}

/// On each kind of board nothing is wrong or missed; what cannot be told may be asked.
fn is_followed(kinds: &[Kind], fate: Fate) {
    let bad: Vec<_> = (kinds.iter())
        .map(|kind| (kind.name(), play_all(*kind, kind.pushes(), fate)))
        .filter(|(_, all)| (all.wrong, all.missed) != (0, 0))
        .map(|(name, _)| name)
        .collect();
    assert!(bad.is_empty(), "{bad:?}");
}

/// A Neo has its own place for White.
#[test]
fn a_board_that_lies_the_other_way_round_is_noticed() {
    let turned = true;
    let fate = Fate {
        turned,
        ..Fate::default()
    };
    is_followed(&[Kind::Pegasus, Kind::Dgt, Kind::Chessnut], fate);
}

#[test]
fn pieces_that_stand_elsewhere_are_put_up_for_the_game() {
    let elsewhere = true;
    let fate = Fate {
        elsewhere,
        ..Fate::default()
    };
    is_followed(&Kind::ALL, fate);
}

#[test]
fn moves_are_taken_back_and_others_made() {
    let (takes_back, times) = (15, 3);
    let fate = Fate {
        takes_back,
        times,
        ..Fate::default()
    };
    is_followed(&Kind::ALL, fate);
}

#[test]
fn a_new_game_put_up_while_the_program_is_to_move_is_begun() {
    let anew = true;
    let fate = Fate {
        anew,
        ..Fate::default()
    };
    is_followed(&Kind::ALL, fate);
}

#[test]
fn kings_in_the_centre_end_the_game() {
    let kings = true;
    let fate = Fate {
        kings,
        ..Fate::default()
    };
    is_followed(&Kind::ALL, fate);
}

#[test]
fn a_link_lost_in_the_middle_of_moves_costs_none() {
    let cuts = 20;
    let fate = Fate {
        cuts,
        ..Fate::default()
    };
    is_followed(&Kind::ALL, fate);
    // A shown capture was made without a link, with a move after it: once that was taken back, the captured piece was asked for.
    are_mended(Kind::Pegasus, 0, fate, &[37, 118]);
    // The pieces were put right, and no move was recognised after that.
    are_mended(Kind::Pegasus, 0, fate, &[32, 110, 302]);
}

#[test]
fn a_board_switched_off_and_on_behind_its_cable_goes_on() {
    let (cuts, silent) = (20, true);
    let fate = Fate {
        cuts,
        silent,
        ..Fate::default()
    };
    is_followed(&[Kind::Dgt], fate);
}
