//! How a person plays: the probability of each kind of untidiness.

use std::ops::Range;

use super::{CaptureOrder, CastlingOrder, Doubt, EnPassantOrder, Promoting, Style};

/// Other moves, tried and taken back.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Digression {
    /// The probability before a move.
    pub likely: f64,
    /// The maximum number of plies.
    pub plies: usize,
}

/// Who makes the opponent's moves if the person plays one side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Opponent {
    /// The board's motor.
    #[default]
    Motor,
    /// The person, in time.
    Hand,
    /// The person, after lifting a piece of their own.
    HandAfterLift,
    /// The person, after their own move.
    HandAfterMove,
    /// The person, one of these.
    HandSomehow,
}

/// How soon a person moves after what was touched last, ms.
pub type Pace = Range<u64>;

/// A person who thinks.
pub const THINKS: Pace = 1_000..20_000;
/// A person who knows the answer.
pub const QUICK: Pace = 1_000..4_000;
/// A person in a blitz game.
pub const BLITZ: Pace = 300..1_500;

/// How a person plays. An order that is `None` is chosen at random for each action.
#[derive(Clone, Debug, PartialEq)]
pub struct Habits {
    /// How soon.
    pub pace: Pace,
    /// Captures.
    pub capture: Option<CaptureOrder>,
    /// Castling.
    pub castling: Option<CastlingOrder>,
    /// En passant.
    pub en_passant: Option<EnPassantOrder>,
    /// Promotions.
    pub promoting: Option<Promoting>,
    /// The probability that a piece slides.
    pub slides: f64,
    /// The probability that a piece bounces.
    pub bounces: f64,
    /// The probability that one to three pieces are adjusted before an action.
    pub adjusts_before: f64,
    /// The probability that one or two are adjusted while a piece is in the hand.
    pub adjusts_between: f64,
    /// Whether these may be pieces that the one in the hand could capture.
    pub adjusts_victims: bool,
    /// The probability that one to three are adjusted afterwards.
    pub adjusts_after: f64,
    /// The probability that the piece just moved is adjusted.
    pub straightens: f64,
    /// The probability that the person hesitates, and how.
    pub doubts: f64,
    /// The kinds of hesitation to choose from.
    pub doubt: &'static [Doubt],
    /// Moves tried and taken back.
    pub digression: Digression,
    /// Whether the kings go to the centre after the game.
    pub kings: bool,
    /// Who makes the opponent's moves.
    pub opponent: Opponent,
}

impl Default for Habits {
    /// The tidiest person.
    fn default() -> Self {
        let tidy = Style::default();
        Self {
            pace: THINKS,
            capture: Some(tidy.capture),
            castling: Some(tidy.castling),
            en_passant: Some(tidy.en_passant),
            promoting: Some(tidy.promoting),
            slides: 0.0,
            bounces: 0.0,
            adjusts_before: 0.0,
            adjusts_between: 0.0,
            adjusts_victims: false,
            adjusts_after: 0.0,
            straightens: 0.0,
            doubts: 0.0,
            doubt: &[],
            digression: Digression::default(),
            kings: false,
            opponent: Opponent::Motor,
        }
    }
}

impl Habits {
    /// How the next action is done.
    pub fn style(&self, rng: &mut fastrand::Rng) -> Style {
        let pick = |rng: &mut fastrand::Rng, likely: f64| rng.f64() < likely;
        let count = |rng: &mut fastrand::Rng, likely: f64, most: usize| {
            if rng.f64() < likely {
                rng.usize(1..=most)
            } else {
                0
            }
        };
        Style {
            capture: self.capture.unwrap_or_else(|| {
                one(rng, &[CaptureOrder::VictimFirst, CaptureOrder::MoverFirst])
            }),
            castling: self.castling.unwrap_or_else(|| {
                one(
                    rng,
                    &[
                        CastlingOrder::KingFirst,
                        CastlingOrder::RookFirst,
                        CastlingOrder::Together,
                    ],
                )
            }),
            en_passant: self.en_passant.unwrap_or_else(|| {
                one(
                    rng,
                    &[
                        EnPassantOrder::VictimLast,
                        EnPassantOrder::VictimFirst,
                        EnPassantOrder::VictimBetween,
                    ],
                )
            }),
            promoting: self
                .promoting
                .unwrap_or_else(|| one(rng, &[Promoting::PawnDown, Promoting::Direct])),
            slides: pick(rng, self.slides),
            bounces: pick(rng, self.bounces),
            adjusts_before: count(rng, self.adjusts_before, 3),
            adjusts_between: count(rng, self.adjusts_between, 2),
            adjusts_victims: self.adjusts_victims,
            adjusts_after: count(rng, self.adjusts_after, 3),
            straightens: self.straightens > 0.0 && pick(rng, self.straightens),
            doubt: if pick(rng, self.doubts) {
                rng.choice(self.doubt).copied()
            } else {
                None
            },
        }
    }
}

fn one<T: Copy + Default>(rng: &mut fastrand::Rng, of: &[T]) -> T {
    rng.choice(of).copied().unwrap_or_default()
}
