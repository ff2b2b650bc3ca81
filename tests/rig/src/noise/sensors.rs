//! The sensors under the squares and the radio: what happens to a person's touches on the way to the program.

use std::{collections::VecDeque, time::Duration};

use shakmaty::{Bitboard, Board, Move, Square, attacks};

use super::{Faults, Script, Step, Touch, gesture};
use boardbridge::chess::sense::Sensed;

/// Between two occupancy strings, ms: the intervals of the captured game, in their proportions.
const PERIODS: [u64; 6] = [2040, 2010, 2010, 2040, 1830, 1860];
/// From the motor's `OK` to the string after it, ms (captured: 0.18 to 0.21 s).
const AFTER_MOTOR: u64 = 200;
/// Between two strings of a board that sends nothing else, ms.
const ONLY: u64 = 100;
/// The probability that a string follows a landing, and after which time, ms. In the captured game strings keep their
/// own time and only happen to follow a landing (0.2 s after d4, f1-e2; 0.0 s after d2); this makes it happen more
/// often.
const AFTER_LANDING: (f64, u64) = (0.3, 200);
/// The interval between two equal events, ms.
const DUPLICATE: u64 = 5;
/// How near to the motor's path, in squares, it may disturb sensors: neighbours.
const NEAR: u32 = 1;

/// Sensors and their faults. Times are relative to an origin that the owner chooses, and never go back.
#[derive(Debug)]
pub struct Sensors {
    standing: Board,
    stuck: Bitboard,
    faults: Faults,
    rng: fastrand::Rng,
    /// When the next string is sampled.
    tick: Duration,
    /// When one more is, after a landing or a motor move.
    extra: Option<Duration>,
    /// There are no strings until then: the motor moves.
    silent: Option<Duration>,
    /// When the last string is or was delivered.
    string: Duration,
    waiting: VecDeque<(Duration, Sensed)>,
}

impl Sensors {
    /// Sensors under this placement.
    pub fn new(standing: Board, faults: Faults, seed: u64) -> Self {
        let mut rng = fastrand::Rng::with_seed(seed);
        let tick = Duration::from_millis(rng.u64(..PERIODS[0]));
        Self {
            standing,
            stuck: Bitboard::EMPTY,
            faults,
            rng,
            tick,
            extra: None,
            silent: None,
            string: Duration::ZERO,
            waiting: VecDeque::new(),
        }
    }

    /// The true placement of the pieces.
    pub fn standing(&self) -> &Board {
        &self.standing
    }

    /// The occupied squares that read empty.
    pub fn stuck(&self) -> Bitboard {
        self.stuck & self.standing.occupied()
    }

    /// A person touches the board.
    pub fn touch(&mut self, at: Duration, touch: Touch) {
        touch.apply(&mut self.standing);
        let event = match touch {
            Touch::Lift(square) => {
                self.stuck.discard(square);
                Sensed::Lifted(square)
            }
            Touch::Put(square, _) => {
                if self.chance(self.faults.stuck_landing) {
                    self.stuck.add(square);
                }
                if self.chance(AFTER_LANDING.0) {
                    self.extra = Some(at + Duration::from_millis(AFTER_LANDING.1));
                }
                Sensed::Placed(square)
            }
        };
        if self.chance(self.faults.stuck_touch) {
            self.stick_one();
        }
        if self.faults.strings_only || self.chance(self.faults.lost) {
            return;
        }
        self.send(at, event);
        if self.chance(self.faults.duplicated) {
            self.send(at + Duration::from_millis(DUPLICATE), event);
        }
    }

    /// The motor carries out a move until then: no events, and no strings until shortly after.
    pub fn motor(&mut self, until: Duration, m: Move) {
        let mut near = Bitboard::EMPTY;
        for (from, to) in gesture::legs(m) {
            for square in attacks::between(from, to).with(from).with(to) {
                near |= Square::ALL
                    .into_iter()
                    .filter(|other| other.distance(square) <= NEAR)
                    .collect::<Bitboard>();
            }
        }
        for square in gesture::squares(m) {
            self.stuck.discard(square);
        }
        gesture::apply(&mut self.standing, m);
        for square in near & self.standing.occupied() {
            if self.chance(self.faults.stuck_motor) {
                self.stuck.add(square);
            }
        }
        self.silent = Some(until);
        self.extra = Some(until + Duration::from_millis(AFTER_MOTOR));
    }

    /// When the next input arrives.
    pub fn next(&self) -> Duration {
        let sampled = self.extra.map_or(self.tick, |extra| extra.min(self.tick));
        self.waiting
            .front()
            .map_or(sampled, |(at, _)| sampled.min(*at))
    }

    /// The next input that has reached the program by now.
    pub fn poll(&mut self, now: Duration) -> Option<(Duration, Sensed)> {
        loop {
            let sampled = self.extra.map_or(self.tick, |extra| extra.min(self.tick));
            if let Some((at, _)) = self.waiting.front()
                && *at <= now.min(sampled)
            {
                return self.waiting.pop_front();
            }
            if sampled > now {
                return None;
            }
            self.sample(sampled);
        }
    }

    fn sample(&mut self, at: Duration) {
        if self.extra.is_some_and(|extra| extra <= at) {
            self.extra = None;
        }
        if self.tick <= at {
            let period = if self.faults.strings_only {
                ONLY
            } else {
                PERIODS[self.rng.usize(..PERIODS.len())]
            };
            self.tick += Duration::from_millis(period);
        }
        if self.silent.is_some_and(|until| at < until) {
            return;
        }
        if self.chance(self.faults.stuck_random) {
            self.stick_one();
        }
        if self.chance(self.faults.strings_lost) {
            return;
        }
        let mut sent = at;
        if self.chance(self.faults.strings_late) {
            sent += Duration::from_millis(self.rng.u64(..=PERIODS[0]));
        }
        self.string = self.string.max(sent);
        let occupied = self.standing.occupied() & !self.stuck;
        self.send(self.string, Sensed::Occupied(occupied));
    }

    fn stick_one(&mut self) {
        let standing: Vec<Square> = self.standing.occupied().into_iter().collect();
        if let Some(square) = self.rng.choice(standing) {
            self.stuck.add(square);
        }
    }

    /// Behind everything that is due before or at the same time.
    fn send(&mut self, at: Duration, sensed: Sensed) {
        let index = self.waiting.partition_point(|(other, _)| *other <= at);
        self.waiting.insert(index, (at, sensed));
    }

    fn chance(&mut self, likely: f64) -> bool {
        likely > 0.0 && self.rng.f64() < likely
    }
}

/// The program's input from a script that begins at `from`, up to `rest` after its end: all at once, for tests that
/// need no answers in between.
pub fn sensed(
    sensors: &mut Sensors,
    from: Duration,
    script: &Script,
    rest: Duration,
) -> Vec<(Duration, Sensed)> {
    let mut all = Vec::new();
    let mut end = from;
    for (offset, step) in script {
        end = from + *offset;
        all.extend(std::iter::from_fn(|| sensors.poll(end)));
        if let Step::Touch(touch) = step {
            sensors.touch(end, *touch);
        }
    }
    all.extend(std::iter::from_fn(|| sensors.poll(end + rest)));
    all
}
