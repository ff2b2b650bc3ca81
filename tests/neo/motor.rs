//! The motor of a Neo, led through real games: every legal move of every position, and its take-back.
//!
//! `BOARDBRIDGE_GAMES=FILE` uses other games than those of this repository, one a line in UCI notation. The checks
//! use only the waypoints and the pieces.

use std::time::{Duration, Instant};

use boardbridge::{
    chess::game::Game,
    driver::neo::motor::{Action, Carry, Parking, Point, Spot, back, forward, path::OVERSHOOT},
};
use rig::pace::gives_way;
use shakmaty::{Board, Chess, Color, Move, Piece, Position};

/// The minimum distance of a carried piece from the centre of another, in hundredths of a square.
const CLEARANCE: i64 = 50;

/// A path has to fit into one write: a Neo negotiates packets of 517 bytes, 3 of them for the protocol.
const LONGEST_TEXT: usize = 514;

fn games() -> String {
    let shipped = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/games/lichess.uci");
    let file = std::env::var("BOARDBRIDGE_GAMES").unwrap_or_else(|_| shipped.to_owned());
    std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{file}: {error}"))
}

/// The placement of the pieces.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Pieces {
    board: Board,
    parking: Parking,
}

impl Pieces {
    fn new(board: &Board, parking: Parking) -> Self {
        Self {
            board: board.clone(),
            parking,
        }
    }

    fn at(&self, place: Spot) -> Option<Piece> {
        match place {
            Spot::Square(square) => self.board.piece_at(square),
            Spot::Slot(slot) => self.parking.piece_at(slot),
        }
    }

    fn places(&self) -> Vec<Spot> {
        let slots = self.parking.standing().iter();
        let squares = self.board.occupied().into_iter().map(Spot::Square);
        squares
            .chain(slots.map(|(slot, _)| Spot::Slot(*slot)))
            .collect()
    }

    fn forward(&self, m: Move, mover: Color) -> Vec<Action> {
        forward(&self.board, &self.parking, m, mover)
    }

    fn back(&self, m: Move, mover: Color) -> Vec<Action> {
        back(&self.board, &self.parking, m, mover)
    }

    /// Carries out a plan, and checks each path in turn.
    fn carry_out(&mut self, actions: &[Action]) {
        for action in actions {
            match action {
                Action::Carry(carry) => self.check(carry),
                Action::Bring { square, .. } => {
                    assert_eq!(self.board.piece_at(*square), None, "brought onto a piece");
                }
                Action::Remove { square } => {
                    assert!(self.board.piece_at(*square).is_some(), "nothing to remove");
                }
            }
            action.apply(&mut self.board, &mut self.parking);
        }
    }

    fn check(&self, carry: &Carry) {
        let Carry { from, to, path } = carry;
        let fault = |what: &str| format!("{path} from {from} to {to} {what}: {self:?}");
        assert!(self.at(*from).is_some(), "{}", fault("carries nothing"));
        let [first, between @ .., last] = path.waypoints() else {
            panic!("{}", fault("goes nowhere"));
        };
        assert_eq!(*first, from.centre(), "{}", fault("begins elsewhere"));
        assert!(
            path.to_string().len() <= LONGEST_TEXT,
            "{}",
            fault("is too long")
        );
        let before = between.last().unwrap_or(first);
        assert_eq!(
            *last,
            overshot(*before, to.centre()),
            "{}",
            fault("ends elsewhere")
        );
        let (left, right) = self.parking.reach();
        for point in between.iter().chain([first]) {
            let reached = (0..=700).contains(&point.y)
                && (i16::from(left) * 100..=i16::from(right) * 100).contains(&point.x);
            assert!(reached, "{}", fault("leaves the reach of the motor"));
        }
        for other in self.places().into_iter().filter(|place| place != from) {
            for leg in path.waypoints().windows(2) {
                assert!(
                    passes(leg[0], leg[1], other.centre()),
                    "{} {other}",
                    fault("hits the piece on")
                );
            }
        }
    }
}

fn overshot(before: Point, end: Point) -> Point {
    Point {
        x: end.x + OVERSHOOT * (end.x - before.x).signum(),
        y: end.y + OVERSHOOT * (end.y - before.y).signum(),
    }
}

/// Whether the line from `a` to `b` keeps its distance from `c`.
fn passes(a: Point, b: Point, c: Point) -> bool {
    let leg = |from: Point, to: Point| {
        (
            i64::from(to.x) - i64::from(from.x),
            i64::from(to.y) - i64::from(from.y),
        )
    };
    let ((lx, ly), (cx, cy)) = (leg(a, b), leg(a, c));
    let length_squared = lx * lx + ly * ly;
    let along = cx * lx + cy * ly;
    let far = |(x, y): (i64, i64)| x * x + y * y >= CLEARANCE * CLEARANCE;
    if along <= 0 {
        far((cx, cy))
    } else if along >= length_squared {
        far(leg(b, c))
    } else {
        (lx * cy - ly * cx).pow(2) >= CLEARANCE * CLEARANCE * length_squared
    }
}

/// The pieces in the slots, whichever slots these are.
fn kinds(parking: &Parking) -> Vec<char> {
    let mut kinds: Vec<char> = parking.standing().iter().map(|(_, p)| p.char()).collect();
    kinds.sort_unstable();
    kinds
}

/// How long planning takes.
#[derive(Default)]
struct Clock {
    plans: u32,
    total: Duration,
    longest: Duration,
}

impl Clock {
    fn time(&mut self, plan: impl FnOnce() -> Vec<Action>) -> Vec<Action> {
        let begun = Instant::now();
        let actions = plan();
        let taken = begun.elapsed();
        self.plans += 1;
        self.total += taken;
        self.longest = self.longest.max(taken);
        actions
    }
}

/// A move and its take-back: the pieces stand as after it, then as before it.
fn there_and_back(before: &Pieces, position: &Chess, m: Move, clock: &mut Clock) {
    let mover = position.turn();
    let mut pieces = before.clone();
    let actions = clock.time(|| pieces.forward(m, mover));
    pieces.carry_out(&actions);
    let after = position.clone().play(m).expect("a legal move");
    assert_eq!(&pieces.board, after.board(), "after {m:?}");

    let undoing = clock.time(|| pieces.back(m, mover));
    pieces.carry_out(&undoing);
    assert_eq!(&pieces.board, position.board(), "after {m:?} was undone");
    let Some(promoted) = m.promotion() else {
        assert_eq!(pieces.parking, before.parking, "after {m:?} was undone");
        return;
    };
    // The piece the player brought stands in a slot now, for the next time.
    let mut expected = kinds(&before.parking);
    if matches!(actions.last(), Some(Action::Bring { .. })) {
        expected.push(promoted.of(mover).char());
        expected.sort_unstable();
    }
    assert_eq!(kinds(&pieces.parking), expected, "after {m:?} was undone");
}

#[test]
fn no_path_passes_through_a_piece_and_every_move_can_be_undone() {
    gives_way();
    let mut clock = Clock::default();
    for line in games().lines() {
        let mut game = Game::standard();
        let mut pieces = Pieces::new(game.position().board(), Parking::default());
        for uci in line.split_whitespace() {
            let position = game.position().clone();
            for m in position.legal_moves() {
                there_and_back(&pieces, &position, m, &mut clock);
            }
            game.play_uci([uci]).expect("a game");
            let m = game.last().expect("a move");
            let actions = pieces.forward(m, position.turn());
            pieces.carry_out(&actions);
            assert_eq!(&pieces.board, game.position().board());
        }
    }
    assert!(clock.plans > 0, "no games");
    println!(
        "{} plans, {:?} each, {:?} the longest",
        clock.plans,
        clock.total / clock.plans,
        clock.longest
    );
}

#[test]
fn the_slots_hold_what_a_whole_game_captures() {
    let mut most = 0;
    for line in games().lines() {
        let mut game = Game::standard();
        let mut pieces = Pieces::new(game.position().board(), Parking::default());
        for uci in line.split_whitespace() {
            let mover = game.position().turn();
            game.play_uci([uci]).expect("a game");
            let m = game.last().expect("a move");
            let actions = pieces.forward(m, mover);
            let removed = |action: &Action| matches!(action, Action::Remove { .. });
            assert!(!actions.iter().any(removed), "{actions:?}: {pieces:?}");
            pieces.carry_out(&actions);
        }
        most = most.max(pieces.parking.standing().len());
    }
    println!("at most {most} pieces beside the board");
}

#[test]
fn a_whole_game_taken_back_stands_as_it_began() {
    for line in games().lines() {
        let mut game = Game::standard();
        game.play_uci(line.split_whitespace()).expect("a game");
        let mut pieces = Pieces::new(game.start().board(), Parking::default());
        let begun = pieces.clone();
        let mut mover = Color::White;
        for &m in game.moves() {
            let actions = pieces.forward(m, mover);
            pieces.carry_out(&actions);
            mover = !mover;
        }
        for &m in game.moves().iter().rev() {
            mover = !mover;
            let actions = pieces.back(m, mover);
            pieces.carry_out(&actions);
        }
        assert_eq!(pieces.board, begun.board);
        // What is left beside the board are the pieces that pawns became.
        let promotions = game.moves().iter().filter(|m| m.is_promotion()).count();
        assert!(pieces.parking.standing().len() <= promotions);
    }
}

/// The length of the shortest path on the lattice of half squares, by relaxing every edge until nothing changes.
fn shortest(pieces: &Pieces, from: Spot, to: Spot) -> f64 {
    let (left, right) = pieces.parking.reach();
    let columns: Vec<i16> = (2 * i16::from(left)..=2 * i16::from(right)).collect();
    let others: Vec<Point> = pieces
        .places()
        .into_iter()
        .filter(|place| *place != from)
        .map(Spot::centre)
        .collect();
    let points: Vec<Point> = columns
        .iter()
        .flat_map(|x| {
            (0..15).map(move |y| Point {
                x: x * 50,
                y: y * 50,
            })
        })
        .collect();
    let mut edges = Vec::new();
    for (i, a) in points.iter().enumerate() {
        // The neighbours that come later in the list: above, and the next column.
        for j in [i + 1, i + 14, i + 15, i + 16] {
            let Some(b) = points.get(j) else { continue };
            let near = a.x.abs_diff(b.x) <= 50 && a.y.abs_diff(b.y) <= 50;
            if near && others.iter().all(|other| passes(*a, *b, *other)) {
                edges.push((
                    i,
                    j,
                    if a.x != b.x && a.y != b.y {
                        2f64.sqrt()
                    } else {
                        1.0
                    },
                ));
            }
        }
    }
    let index = |place: Spot| {
        points
            .iter()
            .position(|p| *p == place.centre())
            .expect("in reach")
    };
    let mut lengths = vec![f64::INFINITY; points.len()];
    lengths[index(from)] = 0.0;
    let mut changed = true;
    while changed {
        changed = false;
        for &(i, j, length) in &edges {
            for (a, b) in [(i, j), (j, i)] {
                if lengths[a] + length < lengths[b] - 1e-9 {
                    lengths[b] = lengths[a] + length;
                    changed = true;
                }
            }
        }
    }
    lengths[index(to)] / 2.0
}

#[test]
fn a_victim_is_carried_the_shortest_way_that_touches_nothing() {
    gives_way();
    let mut victims = 0;
    for line in games().lines().take(40) {
        let mut game = Game::standard();
        let mut pieces = Pieces::new(game.position().board(), Parking::default());
        for uci in line.split_whitespace() {
            let mover = game.position().turn();
            game.play_uci([uci]).expect("a game");
            for action in pieces.forward(game.last().expect("a move"), mover) {
                if let Action::Carry(carry) = &action
                    && let Spot::Slot(_) = carry.to
                {
                    let mut points = carry.path.waypoints().to_vec();
                    points.pop();
                    points.push(carry.to.centre());
                    let leg = |leg: &[Point]| {
                        let (x, y) = (leg[1].x - leg[0].x, leg[1].y - leg[0].y);
                        f64::from(x).hypot(f64::from(y)) / f64::from(Point::SQUARE)
                    };
                    let length: f64 = points.windows(2).map(leg).sum();
                    let best = shortest(&pieces, carry.from, carry.to);
                    assert!(
                        (length - best).abs() < 1e-6,
                        "{carry:?}: {best} in {pieces:?}"
                    );
                    victims += 1;
                }
                action.apply(&mut pieces.board, &mut pieces.parking);
            }
        }
    }
    assert!(victims > 0, "no captures");
}
