//! A game played by the model's person on the model's board, in virtual time, the recogniser listening.

mod person;

use std::{
    collections::VecDeque,
    ops::Range,
    time::{Duration, Instant},
};

use boardbridge::chess::{
    game::{Game, uci},
    sense::Sensed,
};
use rig::noise::{Deed, Model, Script, Sensors, Step, gesture};
use shakmaty::{Board, Move, Position, Square};

use super::{
    plug::{Recognised, Recogniser},
    tally::Tally,
};

/// Things sensed that are shown with an explanation.
const REMEMBERED: usize = 60;

/// A deed that the recogniser has to report.
#[derive(Clone, Copy, Debug)]
struct Expected {
    deed: Deed,
    made: Option<Duration>,
    asked: bool,
}

/// See the module's introduction.
pub struct World<'a> {
    recogniser: Box<dyn Recogniser>,
    model: &'a Model,
    game: &'a Game,
    rng: fastrand::Rng,
    sensors: Sensors,
    base: Instant,
    now: Duration,
    /// The game and the pieces as the program knows them.
    program: Game,
    believed: Board,
    /// The game and the pieces as they are.
    truth: Game,
    standing: Board,
    /// The opponent's move that the person has still to execute.
    owed: Option<Move>,
    expected: VecDeque<Expected>,
    lost: Option<Duration>,
    tally: Tally,
    explain: Option<usize>,
    remembered: VecDeque<String>,
}

impl<'a> World<'a> {
    /// A game that is about to begin.
    pub fn new(
        recogniser: Box<dyn Recogniser>,
        model: &'a Model,
        game: &'a Game,
        seed: u64,
    ) -> Self {
        let start = game.truncated(0);
        let board = start.position().board().clone();
        let mut rng = fastrand::Rng::with_seed(seed);
        Self {
            recogniser,
            model,
            game,
            sensors: Sensors::new(board.clone(), model.faults, rng.u64(..)),
            rng,
            base: Instant::now(),
            now: Duration::ZERO,
            program: start.clone(),
            believed: board.clone(),
            truth: start,
            standing: board,
            owed: None,
            expected: VecDeque::new(),
            lost: None,
            tally: Tally::default(),
            explain: None,
            remembered: VecDeque::new(),
        }
    }

    /// Says what goes wrong; the game has this number.
    pub fn explaining(mut self, number: usize) -> Self {
        self.explain = Some(number);
        self
    }

    fn millis(&mut self, range: Range<u64>) -> Duration {
        Duration::from_millis(self.rng.u64(range))
    }

    fn follow(&mut self) {
        self.lost = None;
        let now = self.base + self.now;
        self.recogniser.follow(now, &self.program, &self.believed);
        self.listen();
    }

    /// Does what a script says.
    fn run(&mut self, script: &Script) {
        let start = self.now;
        for (offset, step) in script {
            self.advance(start + *offset);
            match *step {
                Step::Touch(touch) => {
                    self.sensors.touch(self.now, touch);
                    self.straightened(touch.square());
                }
                Step::Committed(deed) => self.committed(deed),
                Step::Made(deed) => {
                    let now = self.now;
                    self.expected
                        .iter_mut()
                        .filter(|expected| expected.deed == deed)
                        .for_each(|expected| expected.made = Some(now));
                }
            }
        }
        self.advance(self.now);
    }

    /// The hand is done with a move when it has put its piece straight.
    fn straightened(&mut self, square: Square) {
        let now = self.now;
        for expected in &mut self.expected {
            let (Deed::Played(m) | Deed::Executed(m) | Deed::TookBack(m)) = expected.deed;
            if expected.made.is_some() && gesture::squares(m).contains(&square) {
                expected.made = Some(now);
            }
        }
    }

    fn committed(&mut self, deed: Deed) {
        match deed {
            Deed::Played(m) => {
                self.truth.push(m);
                gesture::apply(&mut self.standing, m);
            }
            Deed::Executed(m) => {
                self.owed = None;
                gesture::apply(&mut self.standing, m);
            }
            Deed::TookBack(_) => {
                self.truth.pop();
                self.standing = self.truth.position().board().clone();
            }
        }
        self.tally.made += 1;
        self.expected.push_back(Expected {
            deed,
            made: None,
            asked: false,
        });
    }

    /// Lets time pass: what is sensed reaches the recogniser, what it says is heard.
    fn advance(&mut self, until: Duration) {
        let mut stuck = 0;
        loop {
            let sensed = self.sensors.next();
            let deadline = self
                .recogniser
                .deadline()
                .map(|at| at.saturating_duration_since(self.base));
            if sensed <= until && deadline.is_none_or(|deadline| sensed <= deadline) {
                self.now = self.now.max(sensed);
                if let Some((_, sensed)) = self.sensors.poll(self.now) {
                    self.remember(sensed);
                    self.recogniser.sense(self.base + self.now, sensed);
                }
            } else if let Some(deadline) = deadline.filter(|at| *at <= until) {
                // A recogniser that does not take its deadline back must not stop the clock.
                stuck = if deadline <= self.now { stuck + 1 } else { 0 };
                self.now = self.now.max(deadline);
                assert!(stuck < 1_000, "the recogniser's deadline does not pass");
                self.recogniser.timeout(self.base + self.now);
            } else {
                break;
            }
            self.listen();
        }
        self.now = self.now.max(until);
    }

    fn remember(&mut self, sensed: Sensed) {
        if self.explain.is_none() {
            return;
        }
        let what = match sensed {
            Sensed::Lifted(square) => format!("{square}u"),
            Sensed::Placed(square) => format!("{square}d"),
            // The squares on which a string is wrong.
            Sensed::Occupied(occupied) => {
                let wrong = occupied ^ self.sensors.standing().occupied();
                let squares: Vec<String> = wrong.into_iter().map(|s| s.to_string()).collect();
                format!("[{}]", squares.join(" "))
            }
        };
        self.note(&what);
    }

    fn note(&mut self, what: &str) {
        if self.explain.is_none() {
            return;
        }
        if self.remembered.len() == REMEMBERED {
            self.remembered.pop_front();
        }
        let at = self.now.as_secs_f64();
        self.remembered.push_back(format!("{at:.2}:{what}"));
    }

    fn listen(&mut self) {
        while let Some(recognised) = self.recogniser.poll() {
            self.note(&format!("{recognised:?}"));
            match recognised {
                Recognised::Played(m) => self.reported(Deed::Played(m)),
                Recognised::Executed(m) => self.reported(Deed::Executed(m)),
                Recognised::TookBack(m) => self.reported(Deed::TookBack(m)),
                Recognised::Lost => {
                    self.lost.get_or_insert(self.now);
                }
                Recognised::Mended => self.lost = None,
            }
        }
    }

    fn reported(&mut self, deed: Deed) {
        let executing = |deed: Deed| matches!(deed, Deed::Executed(_));
        let found = self
            .expected
            .iter()
            .position(|expected| same(expected.deed, deed));
        // The opponent's move, executed late, may be told before or after the own one; all else in its order.
        let in_order = |index: usize| {
            executing(deed)
                || self
                    .expected
                    .range(..index)
                    .all(|before| executing(before.deed))
        };
        let Some(expected) = found
            .filter(|index| in_order(*index))
            .and_then(|index| self.expected.remove(index))
        else {
            self.tally.wrong += 1;
            self.complain(&format!("reported, not made: {}", words(deed)));
            self.resync();
            return;
        };
        self.tally.right += 1;
        self.lost = None;
        if !expected.asked {
            let made = expected.made.unwrap_or(self.now);
            self.tally.delays.push(self.now.saturating_sub(made));
        }
        match expected.deed {
            Deed::Played(m) => {
                self.program.push(m);
                gesture::apply(&mut self.believed, m);
                self.follow();
            }
            Deed::Executed(m) => gesture::apply(&mut self.believed, m),
            Deed::TookBack(_) => {
                self.program.pop();
                self.believed = self.program.position().board().clone();
                self.follow();
            }
        }
    }

    /// The program is told how things are; what it should have said counts as missed.
    fn resync(&mut self) {
        self.tally.missed += self.expected.len();
        self.expected.clear();
        self.program = self.truth.clone();
        self.believed = self.standing.clone();
        self.follow();
    }

    fn complain(&self, what: &str) {
        let Some(number) = self.explain else {
            return;
        };
        let ply = self.truth.len();
        println!(
            "  {}, game {number}, ply {ply}, {:.3} s: {what}",
            self.model.name,
            self.now.as_secs_f64()
        );
        println!("    truly {}", self.truth.fen());
        let remembered: Vec<&str> = self.remembered.iter().map(String::as_str).collect();
        println!("    sensed {}", remembered.join(" "));
    }
}

/// The same deed; which piece a pawn becomes no square can tell.
fn same(a: Deed, b: Deed) -> bool {
    let moves = |a: Move, b: Move| {
        a == b || (a.is_promotion() && b.is_promotion() && a.from() == b.from() && a.to() == b.to())
    };
    match (a, b) {
        (Deed::Played(a), Deed::Played(b))
        | (Deed::Executed(a), Deed::Executed(b))
        | (Deed::TookBack(a), Deed::TookBack(b)) => moves(a, b),
        _ => false,
    }
}

fn words(deed: Deed) -> String {
    match deed {
        Deed::Played(m) => format!("played {}", uci(m)),
        Deed::Executed(m) => format!("executed {}", uci(m)),
        Deed::TookBack(m) => format!("took back {}", uci(m)),
    }
}
