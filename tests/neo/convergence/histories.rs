//! Random histories, and those that once failed.

use super::*;

/// One act of a history; [`Act::of`] has its words.
#[derive(Clone, Debug)]
enum Act {
    /// The program continues.
    GuiMoves(Pick),
    /// The program takes back this many plies.
    GuiTakesBack(usize),
    /// The program begins a new game.
    GuiNewGame,
    /// The program awaits the player's move, or not.
    Await(bool),
    /// The player plays, in this style.
    HandMoves(Pick, Style),
    /// The player takes back.
    HandTakesBack(Style),
    /// The player does as asked.
    Obeys,
    /// The link is lost, or comes back.
    Unlink,
    Link,
    /// The core ends, and another one goes on with what was kept of it.
    GoesOn,
    /// This many writes are refused.
    Refuse(usize),
    /// A square reads empty.
    Stick(Square),
    /// Time passes, in milliseconds.
    Wait(u64),
}

fn pick() -> impl Strategy<Value = Pick> {
    any::<usize>().prop_map(Pick::Nth)
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        4 => pick().prop_map(Act::GuiMoves),
        1 => (1..4usize).prop_map(Act::GuiTakesBack),
        1 => Just(Act::GuiNewGame),
        2 => any::<bool>().prop_map(Act::Await),
        4 => (pick(), style()).prop_map(|(pick, style)| Act::HandMoves(pick, style)),
        1 => style().prop_map(Act::HandTakesBack),
        3 => Just(Act::Obeys),
        1 => Just(Act::Unlink),
        2 => Just(Act::Link),
        1 => Just(Act::GoesOn),
        1 => (1..5usize).prop_map(Act::Refuse),
        1 => (0..64u32).prop_map(|square| Act::Stick(Square::new(square))),
        6 => (1..4000u64).prop_map(Act::Wait),
        6 => (4000..30_000u64).prop_map(Act::Wait),
    ]
}

fn style() -> impl Strategy<Value = Style> {
    let habits = Habits {
        capture: None,
        castling: None,
        en_passant: None,
        promoting: None,
        slides: 0.2,
        bounces: 0.2,
        ..Habits::default()
    };
    any::<u64>().prop_map(move |number| habits.style(&mut fastrand::Rng::with_seed(number)))
}

/// Makes a style another one.
type Turn = fn(&mut Style);

/// The words of a style that is not the tidiest.
const STYLES: [(&str, Turn); 8] = [
    ("victim-lifted-first", |style| {
        style.capture = CaptureOrder::VictimFirst
    }),
    ("rook-first", |style| {
        style.castling = CastlingOrder::RookFirst
    }),
    ("king-and-rook-together", |style| {
        style.castling = CastlingOrder::Together
    }),
    ("pawn-lifted-first", |style| {
        style.en_passant = EnPassantOrder::VictimFirst
    }),
    ("pawn-lifted-between", |style| {
        style.en_passant = EnPassantOrder::VictimBetween
    }),
    ("promoted-at-once", |style| {
        style.promoting = Promoting::Direct
    }),
    ("slides", |style| style.slides = true),
    ("bounces", |style| style.bounces = true),
];

fn in_style(what: &str, style: Style) -> String {
    let mut text = what.to_owned();
    for (word, set) in STYLES {
        let mut same = style;
        set(&mut same);
        if same == style {
            text = format!("{text} {word}");
        }
    }
    text
}

impl Act {
    /// The act in these words, as [`World::history`] writes them.
    fn of(line: &str) -> Self {
        let words: Vec<&str> = line.split(' ').collect();
        let number = |text: &str| text.parse().unwrap();
        let pick = |text: &str| text.parse().unwrap();
        let style = |words: &[&str]| {
            let mut style = Style::default();
            for word in words {
                let (_, set) = STYLES.iter().find(|(known, _)| known == word).unwrap();
                set(&mut style);
            }
            style
        };
        match words[..] {
            ["program", "takes-back", plies] => Self::GuiTakesBack(number(plies) as usize),
            ["program", "new-game"] => Self::GuiNewGame,
            ["program", "awaits"] => Self::Await(true),
            ["program", "awaits-not"] => Self::Await(false),
            ["program", m] => Self::GuiMoves(pick(m)),
            ["hand", "takes-back", ref how @ ..] => Self::HandTakesBack(style(how)),
            ["hand", "obeys"] => Self::Obeys,
            ["hand", m, ref how @ ..] => Self::HandMoves(pick(m), style(how)),
            ["link", "lost"] => Self::Unlink,
            ["link", "back"] => Self::Link,
            ["daemon", "killed"] => Self::GoesOn,
            ["board", "refuses", count] => Self::Refuse(number(count) as usize),
            ["board", "sees-nothing-on", square] => Self::Stick(square.parse().unwrap()),
            ["wait", ms] => Self::Wait(number(ms)),
            _ => panic!("no act: {line}"),
        }
    }
}

impl World {
    /// The player does one thing after the other, and nothing while the motor visibly works.
    fn hand_is_free(&mut self) {
        for _ in 0..60 {
            if self.neo.is_at_work() || self.neo.is_driving() || !self.air.is_empty() {
                self.pass(Duration::from_secs(1));
            }
        }
    }

    fn is_seen(&self) -> bool {
        self.linked && self.linked_at + SEEN <= self.now
    }

    /// A capture taken back unseen, together with something else: the capturing piece is back on its square, and the
    /// other square is occupied as before. A piece put there from beside the board reads the same.
    fn mind_unseen(&mut self, takes_capture_back: bool) {
        if self.is_seen() && !self.neo.is_at_work() {
            self.unseen.clear();
        }
        let first = self.unseen.is_empty();
        let either = self.unseen.contains(&true) || (takes_capture_back && !first);
        if either && !self.is_seen() {
            self.link();
            self.pass(SEEN);
            self.unseen.clear();
        }
        self.unseen.push(takes_capture_back);
    }

    fn did(&mut self, what: impl Into<String>) {
        let what = what.into();
        self.log(|| format!("# {what}"));
        self.history.push(what);
    }

    fn does(&mut self, act: &Act) {
        // Neither does a program move while the hand does, nor the hand while the motor does.
        let program = matches!(
            act,
            Act::GuiMoves(_) | Act::GuiTakesBack(_) | Act::GuiNewGame | Act::Await(_)
        );
        let hand = matches!(act, Act::HandMoves(..) | Act::HandTakesBack(_) | Act::Obeys);
        let rests = |w: &Self| w.touched.is_none_or(|at| at + CROSSING <= w.now);
        for _ in 0..10 {
            if program && !rests(self) {
                self.pass(Duration::from_secs(1));
            }
        }
        if hand {
            self.hand_is_free();
        }
        match *act {
            Act::GuiMoves(pick) => {
                self.take_answer();
                if let Some(m) = pick.of(&self.target) {
                    self.did(format!("program {}", uci(m)));
                    self.target.push(m);
                    self.state();
                }
            }
            Act::GuiTakesBack(plies) => {
                self.did(format!("program takes-back {plies}"));
                self.take_answer();
                let left = self.target.len().saturating_sub(plies);
                self.target = self.target.truncated(left);
                self.state();
            }
            Act::GuiNewGame => {
                self.did("program new-game");
                // A piece that cannot be seen would stay where it is.
                for square in self.pieces().occupied() & !self.neo.occupancy() {
                    self.hand_is_free();
                    self.hand(Hand::Adjust(square));
                    self.pass(Duration::from_secs(3));
                }
                self.command(Command::NewGame { client: CLIENT });
                self.target = Game::standard();
                self.state();
            }
            Act::Await(on) => {
                self.did(if on {
                    "program awaits"
                } else {
                    "program awaits-not"
                });
                self.awaits(on);
            }
            Act::HandMoves(pick, style) => {
                self.knows();
                // No square tells what a pawn became: the program's choice counts, and that is a queen.
                let queen = |m: &Move| m.promotion().is_none_or(|role| role == Role::Queen);
                if let Some(m) = pick.of(&ours(self.neo.game())).filter(queen) {
                    self.did(in_style(&format!("hand {}", uci(m)), style));
                    self.mind_unseen(false);
                    self.hand(Hand::Move(uci(m), style));
                }
            }
            Act::HandTakesBack(style) => {
                self.did(in_style("hand takes-back", style));
                self.knows();
                self.mind_unseen(self.neo.game().last().is_some_and(|m| m.is_capture()));
                // While a take-back of the program is interrupted, this may look like a move back.
                if let Some(UciMove::Normal { from, to, .. }) = self.neo.game().last().map(uci) {
                    self.intended.push(UciMove::Normal {
                        from: to,
                        to: from,
                        promotion: None,
                    });
                }
                self.hand(Hand::TakeBack(style));
            }
            Act::Obeys => {
                self.did("hand obeys");
                self.obey();
            }
            Act::Unlink => {
                self.did("link lost");
                if !self.neo.is_at_work() {
                    self.unseen.clear();
                }
                self.unlink();
            }
            Act::Link => {
                self.did("link back");
                self.link();
            }
            Act::GoesOn => {
                self.did("daemon killed");
                if !self.neo.is_at_work() {
                    self.unseen.clear();
                }
                self.goes_on();
            }
            Act::Refuse(count) => {
                self.did(format!("board refuses {count}"));
                self.refuses = count;
            }
            Act::Stick(square) => {
                self.did(format!("board sees-nothing-on {square}"));
                // A square that goes stuck unseen cannot be told from a capture made unseen, nor one that is to be cleared from one
                // that was.
                self.pass(SEEN);
                let clears = matches!(
                    self.snapshot().advice,
                    Advice::NewGame { .. } | Advice::SetUp { .. } | Advice::SetUpByHand(_)
                );
                let stands = self.pieces().piece_at(square).is_some();
                if stands && self.is_seen() && !clears {
                    self.neo.stick(square);
                    self.pass(Duration::from_secs(8));
                }
            }
            Act::Wait(ms) => {
                self.did(format!("wait {ms}"));
                self.pass(Duration::from_millis(ms));
            }
        }
        self.carry();
    }

    /// The end of a history: the link is up, the program awaits the player, who does as asked, and time passes.
    fn settles(&mut self) {
        let history = self.history.join("\n");
        self.refuses = 0;
        self.link();
        self.take_answer();
        self.state();
        self.awaits(true);
        // What is asked right after the link came back is not asked for long.
        for wait in [4, 4, 4, 4, 4, 60, 60, 60, 60, 60] {
            self.pass(Duration::from_secs(wait));
            self.hand_is_free();
            self.obey();
        }
        self.pass(LONG);
        let snapshot = self.snapshot();
        let story = || format!("{}\n{history}", self.story());
        self.is_clean();
        assert!(snapshot.sure, "{}", story());
        assert!(
            snapshot.game.continues(snapshot.target.as_ref().unwrap()),
            "{}",
            story()
        );
        // It has the answer that the program is given.
        let answer = self.program.answer(&snapshot);
        let mut target = self.target.clone();
        answer.map(|m| target.push(m));
        let led_to = snapshot.target.as_ref().unwrap().position();
        assert_eq!(led_to, target.position(), "{}", story());
        assert_eq!(
            self.pieces(),
            snapshot.game.position().board(),
            "{}",
            story()
        );
        // And the game goes on: the hand's next move is the answer, if it has not moved yet.
        if answer.is_none()
            && snapshot.game.len() == snapshot.target.unwrap().len()
            && let Some(&m) = self.target.position().legal_moves().first()
        {
            self.knows();
            self.hand(HandAction::Move(uci(m)));
            self.pass(LONG);
            let answer = self.program.answer(&self.snapshot());
            assert_eq!(answer, Some(m), "{}\n{history}", self.story());
        }
    }
}

proptest! {
    #![proptest_config(histories(200))]

    #[test]
    fn a_neo_ends_up_in_the_programs_game(acts in proptest::collection::vec(act(), 1..30)) {
        ends_up(acts);
    }
}

fn ends_up(acts: impl IntoIterator<Item = Act>) {
    let mut world = World::begun();
    for act in acts {
        world.does(&act);
    }
    world.settles();
}

#[test]
fn histories_that_went_wrong_once_go_right() {
    for (name, acts) in kept_in("neo") {
        println!("{name}");
        ends_up(acts.iter().map(|act| Act::of(act)));
    }
}
