//! The noise models for testing a recogniser, each by itself and all of them together.

use super::{
    BLITZ, CaptureOrder, CastlingOrder, Digression, Doubt, EnPassantOrder, Faults, Habits,
    Opponent, Promoting, QUICK, THINKS,
};

/// A person and a board.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// Its name in the table.
    pub name: &'static str,
    /// How the person plays.
    pub habits: Habits,
    /// How the board errs.
    pub faults: Faults,
    /// It is meaningful only if the player does not make the opponent's moves.
    pub one_side: bool,
    /// Why its noise makes some moves impossible to distinguish from others. It is run, and not judged.
    pub unclear: Option<&'static str>,
}

/// A piece in the hand, and one it could take lifted and put back.
const HELD_PIECE: &str = "While one piece is held, a piece it could take is lifted and put back: so is every capture made.";
/// Lifts that are not sensed.
const LOST_LIFTS: &str = "A piece stood on its square for less than a picture's period and was lifted again unseen: \
    so reads a piece that stayed, on a square gone wrong.";
/// Lifts that are not sensed, and squares that read empty.
const LOST_AND_STUCK: &str = "A square reads empty because its piece was lifted unseen, or because it went wrong: \
    with a piece adjusted that it could take, both read alike.";

const ALL_DOUBTS: &[Doubt] = &[Doubt::Lift, Doubt::Victim, Doubt::Touch, Doubt::Capture];

impl Model {
    /// Every model: the tidy one, each noise by itself, the mixes last.
    pub fn all() -> Vec<Self> {
        let mut all = vec![Self::hand("tidy", |_| {})];
        all.extend(Self::orders());
        all.extend(Self::untidy());
        all.extend(Self::hurried());
        all.extend(Self::opponents());
        all.extend(Self::boards());
        all.extend(Self::mixes());
        all
    }

    fn orders() -> Vec<Self> {
        vec![
            Self::hand("capture: victim first", |h| {
                h.capture = Some(CaptureOrder::VictimFirst);
            }),
            Self::hand("capture: mover first", |h| {
                h.capture = Some(CaptureOrder::MoverFirst);
            }),
            Self::hand("castling: king first", |h| {
                h.castling = Some(CastlingOrder::KingFirst);
            }),
            Self::hand("castling: rook first", |h| {
                h.castling = Some(CastlingOrder::RookFirst);
            }),
            Self::hand("castling: both in hand", |h| {
                h.castling = Some(CastlingOrder::Together);
            }),
            Self::hand("en passant: victim last", |h| {
                h.en_passant = Some(EnPassantOrder::VictimLast);
            }),
            Self::hand("en passant: victim first", |h| {
                h.en_passant = Some(EnPassantOrder::VictimFirst);
            }),
            Self::hand("en passant: victim between", |h| {
                h.en_passant = Some(EnPassantOrder::VictimBetween);
            }),
            Self::hand("promotion: pawn down", |h| {
                h.promoting = Some(Promoting::PawnDown);
            }),
            Self::hand("promotion: direct", |h| {
                h.promoting = Some(Promoting::Direct);
            }),
        ]
    }

    fn untidy() -> Vec<Self> {
        vec![
            Self::hand("slides", |h| h.slides = 1.0),
            Self::hand("bounces", |h| h.bounces = 1.0),
            Self::hand("adjusts before", |h| h.adjusts_before = 0.5),
            Self::hand("adjusts between", |h| h.adjusts_between = 0.5),
            Self::hand("adjusts after", |h| h.adjusts_after = 0.5),
            Self::doubting("doubt: piece put back", &[Doubt::Lift]),
            Self::doubting("doubt: victim put back", &[Doubt::Victim]),
            Self::doubting("doubt: square touched", &[Doubt::Touch]),
            Self::doubting("doubt: capture tried", &[Doubt::Capture]),
            Self::hand("take-backs", |h| {
                h.digression = Digression {
                    likely: 0.15,
                    plies: 3,
                };
            }),
            Self::hand("kings to the centre", |h| h.kings = true),
            Self::hand("straightens", |h| h.straightens = 0.5),
        ]
    }

    fn hurried() -> Vec<Self> {
        let untidy = |h: &mut Habits| {
            h.adjusts_after = 0.3;
            h.straightens = 0.3;
        };
        let any_order = |h: &mut Habits| {
            h.capture = None;
            h.castling = None;
            h.en_passant = None;
            h.promoting = None;
        };
        vec![
            Self::hand("quick replies", |h| {
                h.pace = QUICK;
                any_order(h);
            }),
            Self::hand("quick replies, straightens", |h| {
                h.pace = QUICK;
                any_order(h);
                untidy(h);
            }),
            Self::hand("blitz", |h| {
                h.pace = BLITZ;
                any_order(h);
            }),
            Self::hand("blitz, straightens", |h| {
                h.pace = BLITZ;
                any_order(h);
                untidy(h);
            }),
            Self::hand("mover seen elsewhere", |h| {
                h.pace = QUICK;
                any_order(h);
                untidy(h);
                h.slides = 0.3;
                h.doubts = 0.5;
                h.doubt = &[Doubt::Touch, Doubt::Capture];
                h.adjusts_between = 0.2;
            }),
        ]
    }

    fn opponents() -> Vec<Self> {
        let by = |name, opponent| Self {
            one_side: true,
            ..Self::hand(name, |h| h.opponent = opponent)
        };
        vec![
            by("opponent: by motor", Opponent::Motor),
            by("opponent: by hand", Opponent::Hand),
            by("opponent: after own lift", Opponent::HandAfterLift),
            by("opponent: after own move", Opponent::HandAfterMove),
        ]
    }

    fn boards() -> Vec<Self> {
        let one_side = |model| Self {
            one_side: true,
            ..model
        };
        vec![
            Self::board("events twice", |f| f.duplicated = 0.2),
            Self {
                unclear: Some(LOST_LIFTS),
                ..Self::board("events lost", |f| f.lost = 0.05)
            },
            Self::board("strings lost", |f| f.strings_lost = 0.5),
            Self::board("strings late", |f| f.strings_late = 0.7),
            Self::board("stuck at landing", |f| f.stuck_landing = 0.1),
            one_side(Self::board("stuck by motor", |f| f.stuck_motor = 0.15)),
            Self::board("stuck at random", |f| f.stuck_random = 0.02),
            Self {
                habits: Habits {
                    adjusts_before: 0.3,
                    adjusts_after: 0.3,
                    straightens: 0.3,
                    ..Habits::default()
                },
                ..Self::board("stuck at any touch", |f| f.stuck_touch = 0.3)
            },
            Self::board("strings only", |f| f.strings_only = true),
        ]
    }

    fn mixes() -> Vec<Self> {
        let habits = Habits {
            pace: THINKS,
            straightens: 0.05,
            capture: None,
            castling: None,
            en_passant: None,
            promoting: None,
            slides: 0.2,
            bounces: 0.15,
            adjusts_before: 0.08,
            adjusts_between: 0.05,
            adjusts_victims: false,
            adjusts_after: 0.08,
            doubts: 0.1,
            doubt: ALL_DOUBTS,
            digression: Digression {
                likely: 0.04,
                plies: 3,
            },
            kings: true,
            opponent: Opponent::Motor,
        };
        let faults = Faults {
            duplicated: 0.03,
            lost: 0.0,
            strings_lost: 0.1,
            strings_late: 0.2,
            stuck_landing: 0.03,
            stuck_motor: 0.05,
            stuck_random: 0.0,
            stuck_touch: 0.0,
            strings_only: false,
        };
        let model = |name, opponent, one_side, faults: Faults| Self {
            name,
            habits: Habits {
                opponent,
                ..habits.clone()
            },
            faults,
            one_side,
            unclear: None,
        };
        let hurried = |name, pace| {
            let mut model = model(name, Opponent::Motor, false, faults);
            model.habits.pace = pace;
            // A piece adjusted while the one just moved is held as the victim may be its next one.
            model.habits.adjusts_between = 0.0;
            model
        };
        let hard = Faults {
            lost: 0.01,
            stuck_random: 0.005,
            ..faults
        };
        vec![
            model("mix", Opponent::Motor, false, faults),
            model("mix, opponent by motor", Opponent::Motor, true, faults),
            model("mix, opponent by hand", Opponent::HandSomehow, true, faults),
            hurried("mix, quick replies", QUICK),
            hurried("mix, blitz", BLITZ),
            Self {
                unclear: Some(LOST_AND_STUCK),
                ..model("mix, events lost, stuck", Opponent::Motor, false, hard)
            },
            Self {
                unclear: Some(HELD_PIECE),
                ..Self::hand("adjusts what it could take", |h| {
                    h.adjusts_between = 0.5;
                    h.adjusts_victims = true;
                })
            },
        ]
    }

    fn hand(name: &'static str, habit: impl FnOnce(&mut Habits)) -> Self {
        let mut habits = Habits::default();
        habit(&mut habits);
        Self {
            name,
            habits,
            faults: Faults::default(),
            one_side: false,
            unclear: None,
        }
    }

    fn doubting(name: &'static str, doubt: &'static [Doubt]) -> Self {
        Self::hand(name, |h| {
            h.doubts = 0.4;
            h.doubt = doubt;
        })
    }

    fn board(name: &'static str, fault: impl FnOnce(&mut Faults)) -> Self {
        let mut faults = Faults::default();
        fault(&mut faults);
        Self {
            faults,
            ..Self::hand(name, |_| {})
        }
    }
}
