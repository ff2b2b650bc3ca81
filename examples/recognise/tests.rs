use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

use boardbridge::chess::{game::Game, sense::Sensed};
use rig::noise::{Model, Sensors, Step, Style, gesture, sensed};
use shakmaty::{Board, Move, Position};

use crate::{
    plug::{Recognised, Recogniser},
    stopgap::Patient,
    tally::Tally,
    world::World,
};

/// Castling on both sides, captures, en passant, promotions by capture and without.
const GAMES: [&str; 3] = [
    "e2e4 e7e5 g1f3 b8c6 f1c4 g8f6 e1g1 f6e4 f1e1 d7d5 c4d5 d8d5 b1c3 d5a5 c3e4 c8e6 e4g5 e8c8 g5e6 f7e6",
    "e2e4 a7a6 e4e5 d7d5 e5d6 b7b5 d6c7 b5b4 c2c4 b4c3 c7b8q c3d2 e1e2 d2c1q",
    "a2a4 b7b5 a4b5 a7a6 b5a6 c8b7 a6b7 h7h5 b7a8q h5h4 g2g4 h4g3 b2b4 g3h2 b4b5 h2g1n b5b6 c7b6",
];

fn game(text: &str) -> Game {
    let mut game = Game::standard();
    game.play_uci(text.split_whitespace()).unwrap();
    game
}

fn tally(model: &str, recogniser: impl Fn() -> Box<dyn Recogniser>, one: bool) -> Tally {
    let models = Model::all();
    let model = models.iter().find(|other| other.name == model).unwrap();
    let mut tally = Tally::default();
    for (number, text) in (0..).zip(GAMES) {
        let game = game(text);
        let world = World::new(recogniser(), model, &game, number);
        tally.add(world.play(one.then_some(number % 2 == 0)));
    }
    tally
}

/// Knows the game, and says each move when its mover has come to rest for long enough.
struct Oracle {
    rest: VecDeque<Move>,
    game: Game,
    quiet_at: Option<Instant>,
    said: Option<Recognised>,
}

impl Oracle {
    fn of(text: &str) -> Self {
        let game = game(text);
        Self {
            rest: game.moves().iter().copied().collect(),
            game: Game::standard(),
            quiet_at: None,
            said: None,
        }
    }
}

impl Recogniser for Oracle {
    fn follow(&mut self, _now: Instant, game: &Game, _standing: &Board) {
        self.game = game.clone();
    }

    fn sense(&mut self, now: Instant, sensed: Sensed) {
        if let Sensed::Placed(square) = sensed
            && let Some(m) = self.rest.front()
            && gesture::legs(*m)[0].1 == square
        {
            self.quiet_at = Some(now + Duration::from_millis(100));
        }
    }

    fn timeout(&mut self, _now: Instant) {
        self.quiet_at = None;
        self.said = self.rest.pop_front().map(Recognised::Played);
    }

    fn deadline(&self) -> Option<Instant> {
        self.quiet_at
    }

    fn poll(&mut self) -> Option<Recognised> {
        self.said.take()
    }
}

/// Says the first legal move to any square on which something lands.
#[derive(Default)]
struct Hasty {
    game: Game,
    said: Option<Recognised>,
}

impl Recogniser for Hasty {
    fn follow(&mut self, _now: Instant, game: &Game, _standing: &Board) {
        self.game = game.clone();
    }

    fn sense(&mut self, _now: Instant, sensed: Sensed) {
        if let Sensed::Placed(square) = sensed {
            let legal = self.game.position().legal_moves();
            let m = legal.into_iter().find(|m| m.to() == square);
            self.said = m.map(Recognised::Played);
        }
    }

    fn timeout(&mut self, _now: Instant) {}

    fn deadline(&self) -> Option<Instant> {
        None
    }

    fn poll(&mut self) -> Option<Recognised> {
        self.said.take()
    }
}

/// Hears nothing, and asks all the time if told to.
#[derive(Default)]
struct Deaf {
    asks: bool,
    said: Option<Recognised>,
}

impl Recogniser for Deaf {
    fn follow(&mut self, _now: Instant, _game: &Game, _standing: &Board) {}

    fn sense(&mut self, _now: Instant, sensed: Sensed) {
        if self.asks && matches!(sensed, Sensed::Placed(_)) {
            self.said = Some(Recognised::Lost);
        }
    }

    fn timeout(&mut self, _now: Instant) {}

    fn deadline(&self) -> Option<Instant> {
        None
    }

    fn poll(&mut self) -> Option<Recognised> {
        self.said.take()
    }
}

fn patient() -> Box<dyn Recogniser> {
    Box::new(Patient::default())
}

/// Asks so many times before it believes what it recognised.
struct Doubting {
    patient: Patient,
    times: usize,
    left: usize,
}

impl Doubting {
    fn boxed(times: usize) -> Box<dyn Recogniser> {
        Box::new(Self {
            patient: Patient::default(),
            times,
            left: times,
        })
    }
}

impl Recogniser for Doubting {
    fn follow(&mut self, now: Instant, game: &Game, standing: &Board) {
        self.left = self.times;
        self.patient.follow(now, game, standing);
    }

    fn sense(&mut self, now: Instant, sensed: Sensed) {
        self.patient.sense(now, sensed);
    }

    fn timeout(&mut self, now: Instant) {
        self.patient.timeout(now);
    }

    fn deadline(&self) -> Option<Instant> {
        self.patient.deadline()
    }

    fn poll(&mut self) -> Option<Recognised> {
        let said = self.patient.poll()?;
        if self.left > 0 {
            self.left -= 1;
            return Some(Recognised::Lost);
        }
        Some(said)
    }
}

#[test]
fn who_asks_is_helped_by_seating_anew_and_then_by_doing_it_again() {
    for times in [1, 2] {
        for model in ["tidy", "take-backs"] {
            let tally = tally(model, || Doubting::boxed(times), true);
            assert!(tally.is_right(), "{model} {times}: {tally:?}");
            assert_eq!((tally.right, tally.asked), (tally.made, tally.made));
        }
    }
}

#[test]
fn who_knows_the_game_passes() {
    for (number, text) in (0..).zip(GAMES) {
        let model = &Model::all()[0];
        let game = game(text);
        let oracle = Box::new(Oracle::of(text));
        let tally = World::new(oracle, model, &game, number).play(None);
        assert!(tally.is_right() && tally.right == game.len(), "{tally:?}");
        assert_eq!(tally.asked, 0);
    }
}

#[test]
fn patience_is_enough_on_a_tidy_board() {
    for model in ["tidy", "opponent: by motor", "opponent: by hand"] {
        let tally = tally(model, patient, model != "tidy");
        assert!(tally.is_right() && tally.made > 20, "{model}: {tally:?}");
    }
}

#[test]
fn haste_is_caught() {
    let hasty = || Box::<Hasty>::default() as Box<dyn Recogniser>;
    for model in ["tidy", "slides", "adjusts before", "doubt: square touched"] {
        assert!(tally(model, hasty, false).wrong > 0, "{model}");
    }
}

#[test]
fn who_says_nothing_has_missed_everything() {
    let deaf = || Box::<Deaf>::default() as Box<dyn Recogniser>;
    let tally = tally("tidy", deaf, true);
    assert_eq!((tally.right, tally.missed), (0, tally.made));
}

#[test]
fn who_always_asks_is_counted_and_answered_to_the_end() {
    let asking = || {
        Box::new(Deaf {
            asks: true,
            said: None,
        }) as Box<dyn Recogniser>
    };
    let tally = tally("mix", asking, false);
    assert!(
        tally.asked > 10 && tally.right == 0 && tally.missed > 10,
        "{tally:?}"
    );
}

#[test]
fn the_same_seed_makes_the_same_game() {
    let once = tally("mix", patient, false);
    let again = tally("mix", patient, false);
    assert_eq!(format!("{once:?}"), format!("{again:?}"));
}

#[test]
fn every_script_of_every_model_ends_where_the_move_leads() {
    let mut rng = fastrand::Rng::with_seed(7);
    for model in Model::all() {
        for text in GAMES {
            let game = game(text);
            for (ply, &m) in game.moves().iter().enumerate() {
                let before = game.position_at(ply);
                let after = game.position_at(ply + 1);
                let style = model.habits.style(&mut rng);
                let there = gesture::played(&before, m, &style, &mut rng);
                let back = gesture::taken_back(&before, m, &style, &mut rng);
                let mut board = before.board().clone();
                let mut last = Duration::ZERO;
                for (script, end) in [(there, after.board()), (back, before.board())] {
                    last = Duration::ZERO.min(last);
                    for (at, step) in script {
                        assert!(at >= last, "{} {m}", model.name);
                        last = at;
                        if let Step::Touch(touch) = step {
                            let standing = board.piece_at(touch.square()).is_some();
                            let lifts = matches!(touch, rig::noise::Touch::Lift(_));
                            assert_eq!(standing, lifts, "{} {m} {touch:?}", model.name);
                            touch.apply(&mut board);
                        }
                    }
                    assert_eq!(board, *end, "{} {m}", model.name);
                }
            }
        }
    }
}

#[test]
fn a_tidy_board_tells_the_truth_in_time() {
    let game = game(GAMES[0]);
    let mut rng = fastrand::Rng::with_seed(3);
    let mut sensors = Sensors::new(game.start().board().clone(), Model::all()[0].faults, 3);
    let script = gesture::played(game.start(), game.moves()[0], &Style::default(), &mut rng);
    let all = sensed(
        &mut sensors,
        Duration::from_secs(5),
        &script,
        Duration::from_secs(5),
    );
    let events: Vec<_> = all
        .iter()
        .filter(|(_, sensed)| !matches!(sensed, Sensed::Occupied(_)))
        .collect();
    assert_eq!(events.len(), 2);
    assert!(all.windows(2).all(|pair| pair[0].0 <= pair[1].0));
    let after = game.position_at(1);
    let last = all.last().map(|(_, sensed)| *sensed);
    assert_eq!(last, Some(Sensed::Occupied(after.board().occupied())));
}
