//! Whole games of blitz by two untidy hands on a board that senses which piece stands where, often faster than a picture
//! settles.

use std::{
    iter::Peekable,
    ops::Range,
    time::{Duration, Instant},
    vec,
};

use boardbridge::{
    chess::{game::Game, recognise::Waits},
    driver::sensing::{Pieces, Report},
};
use rig::noise::{
    Doubt, Habits,
    gesture::{self, Step, Touch},
};
use rig::pace::gives_way;
use shakmaty::{Board, Square};

const GAMES: &str = include_str!("../games/lichess-428.uci");
/// Every which game is played; `BLITZ_EVERY=1 BLITZ_SEEDS=3` plays all of them three times.
const EVERY: usize = 43;
/// How often.
const SEEDS: usize = 1;
/// The settle times, ms.
const SETTLES: [u64; 3] = [250, 400, 600];
/// A move of a game of blitz, ms.
const MOVE: Range<u64> = 300..1_500;
/// A hand in a hurry needs this share of the time, in percent: no piece then stays on a square that it only touches or
/// slides over for longer than 120 ms, which with the time to the next picture is shorter than each settle time.
const HURRY: u64 = 30;

/// How fast the game is.
#[derive(Clone, Copy, Debug)]
enum Pace {
    /// The pieces rest for 0.3 to 1.5 s, then the hand is at its move for as long at most.
    Rests,
    /// Both together take 0.3 to 1.5 s.
    Rushes,
}

/// How the board makes a picture.
#[derive(Clone, Copy, Debug)]
enum Reads {
    /// All squares at once.
    AtOnce,
    /// One square after the other, until the next picture: a piece may appear on its new square before it leaves the old
    /// one, and a captured one is exchanged without an empty square.
    Scans,
}

/// What became of the moves.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    plies: usize,
    wrong: usize,
    missed: usize,
    asked: usize,
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

/// All touches of a game, each with its time.
fn touches(game: &Game, pace: Pace, begin: Instant, rng: &mut fastrand::Rng) -> Touches {
    let mut all = Vec::new();
    let mut now = begin;
    for (ply, m) in game.moves().iter().enumerate() {
        let (rest, most) = match pace {
            Pace::Rests => (rng.u64(MOVE), rng.u64(MOVE)),
            Pace::Rushes => {
                let half = rng.u64(MOVE) / 2;
                (half, half)
            }
        };
        now += Duration::from_millis(rest);
        let script = gesture::played(&game.position_at(ply), *m, &habits().style(rng), rng);
        let whole = script
            .last()
            .map_or(Duration::ZERO, |(at, _)| *at)
            .as_millis();
        let whole = u64::try_from(whole).unwrap().max(1);
        let hurried = (whole * HURRY / 100).min(most);
        let hurry = |at: Duration| at.mul_f64(hurried as f64 / whole as f64);
        for (at, step) in script {
            if let Step::Touch(touch) = step {
                all.push((now + hurry(at), touch));
            }
        }
        now += Duration::from_millis(hurried);
    }
    all.into_iter().peekable()
}

type Touches = Peekable<vec::IntoIter<(Instant, Touch)>>;

/// A board, and a program that follows its reports.
struct Watched<'a> {
    sensed: Pieces,
    played: &'a Game,
    reported: Game,
    tally: Tally,
}

impl Watched<'_> {
    fn heed(&mut self, now: Instant) {
        while let Some(report) = self.sensed.poll() {
            match report {
                Report::Moved { m, .. } => {
                    let right = self.played.moves().get(self.reported.len()) == Some(&m);
                    self.tally.wrong += usize::from(!right);
                    assert!(self.reported.push(m));
                }
                Report::TookBack { m, .. } => {
                    self.tally.wrong += 1;
                    assert_eq!(self.reported.pop(), Some(m));
                }
                Report::Misplaced(_) => self.tally.asked += 1,
                Report::Stands => {}
                other => panic!("{other:?}"),
            }
            self.sensed.follow(now, &self.reported, false);
        }
    }

    fn shows(&mut self, now: Instant, board: &Board) {
        while let Some(due) = self.sensed.deadline().filter(|due| *due <= now) {
            self.sensed.timeout(due);
            self.heed(due);
        }
        self.sensed.sense(now, board);
        self.heed(now);
    }
}

/// Plays a game, and compares what is reported. A picture is made in one of these `periods`, ms.
fn plays(
    game: &Game,
    settle: u64,
    pace: Pace,
    reads: Reads,
    periods: &Range<u64>,
    seed: u64,
) -> Tally {
    let mut rng = fastrand::Rng::with_seed(seed);
    let period = Duration::from_millis(rng.u64(periods.clone()));
    let mut now = Instant::now();
    let mut touches = touches(game, pace, now + Duration::from_secs(1), &mut rng);
    let mut watched = Watched {
        sensed: Pieces::new(Duration::from_millis(settle), Waits::default()),
        played: game,
        reported: Game::standard(),
        tally: Tally::default(),
    };
    watched.sensed.follow(now, &Game::standard(), false);
    let (mut board, mut picture) = (Board::new(), Board::new());
    let mut left = Duration::from_secs(5);
    while !left.is_zero() {
        for square in Square::ALL {
            let read = match reads {
                Reads::AtOnce => now,
                Reads::Scans => now + period * u32::from(square) / 64,
            };
            while let Some((_, touch)) = touches.next_if(|(at, _)| *at <= read) {
                touch.apply(&mut board);
            }
            match board.piece_at(square) {
                Some(piece) => picture.set_piece_at(square, piece),
                None => picture.discard_piece_at(square),
            }
        }
        now += period;
        watched.shows(now, &picture);
        if touches.peek().is_none() {
            left = left.saturating_sub(period);
        }
    }
    Tally {
        plies: game.len(),
        missed: game.len().saturating_sub(watched.reported.len()),
        ..watched.tally
    }
}

/// Plays games, each with pictures made in one of these `periods`, ms, and checks that nothing is wrong, missed or asked.
fn play_all(pace: Pace, periods: Range<u64>) {
    gives_way();
    let given = |name| std::env::var(name).ok().map(|n| n.parse().unwrap());
    let every = given("BLITZ_EVERY").unwrap_or(EVERY);
    let games: Vec<Game> = GAMES
        .lines()
        .step_by(every)
        .map(|line| {
            let mut game = Game::standard();
            game.play_uci(line.split_whitespace()).unwrap();
            game
        })
        .collect();
    let mut amiss = 0;
    for settle in SETTLES {
        for reads in [Reads::AtOnce, Reads::Scans] {
            let mut all = Tally::default();
            for seed in 0..given("BLITZ_SEEDS").unwrap_or(SEEDS) {
                for (index, game) in games.iter().enumerate() {
                    let seed = u64::try_from(seed * games.len() + index).unwrap();
                    let one = plays(game, settle, pace, reads, &periods, seed);
                    if one.wrong + one.missed + one.asked > 0 {
                        println!("seed {seed}: {one:?}");
                    }
                    all.plies += one.plies;
                    all.wrong += one.wrong;
                    all.missed += one.missed;
                    all.asked += one.asked;
                }
            }
            println!("{pace:?}, settle {settle} ms, {reads:?}: {all:?}");
            let Tally {
                wrong,
                missed,
                asked,
                ..
            } = all;
            amiss += wrong + missed + asked;
        }
    }
    assert_eq!(amiss, 0, "see the tallies");
}

#[test]
fn of_a_game_of_blitz_by_two_untidy_hands_each_move_is_reported_and_no_other() {
    play_all(Pace::Rests, 20..250);
}

#[test]
fn of_a_game_in_a_rush_too_if_the_board_makes_ten_pictures_a_second() {
    play_all(Pace::Rushes, 20..101);
}
