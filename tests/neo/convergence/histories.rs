//! Random histories, and those that once failed.

use super::*;

/// One event of a history.
#[derive(Clone, Debug)]
enum Act {
    /// The program continues: the legal move of this number.
    GuiMoves(usize),
    /// The program takes back this many plies.
    GuiTakesBack(usize),
    /// The program begins a new game.
    GuiNewGame,
    /// The program awaits the player's move, or not.
    Await(bool),
    /// The player plays the legal move of this number, in a style of this number.
    HandMoves(usize, u64),
    /// The player takes back.
    HandTakesBack(u64),
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
    Stick(u32),
    /// Time passes, in milliseconds.
    Wait(u64),
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        4 => any::<usize>().prop_map(Act::GuiMoves),
        1 => (1..4usize).prop_map(Act::GuiTakesBack),
        1 => Just(Act::GuiNewGame),
        2 => any::<bool>().prop_map(Act::Await),
        4 => (any::<usize>(), any::<u64>()).prop_map(|(n, style)| Act::HandMoves(n, style)),
        1 => any::<u64>().prop_map(Act::HandTakesBack),
        3 => Just(Act::Obeys),
        1 => Just(Act::Unlink),
        2 => Just(Act::Link),
        1 => Just(Act::GoesOn),
        1 => (1..5usize).prop_map(Act::Refuse),
        1 => (0..64u32).prop_map(Act::Stick),
        6 => (1..4000u64).prop_map(Act::Wait),
        6 => (4000..30_000u64).prop_map(Act::Wait),
    ]
}

fn style(number: u64) -> Style {
    let habits = Habits {
        capture: None,
        castling: None,
        en_passant: None,
        promoting: None,
        slides: 0.2,
        bounces: 0.2,
        ..Habits::default()
    };
    habits.style(&mut fastrand::Rng::with_seed(number))
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

    fn does(&mut self, act: &Act) {
        let legal = |game: &Game, n: usize| {
            let moves = game.position().legal_moves();
            (!moves.is_empty()).then(|| moves[n % moves.len()])
        };
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
        self.log(|| format!("# {act:?}"));
        match *act {
            Act::GuiMoves(n) => {
                self.take_answer();
                if let Some(m) = legal(&self.target, n) {
                    self.target.push(m);
                    self.state();
                }
            }
            Act::GuiTakesBack(plies) => {
                self.take_answer();
                let left = self.target.len().saturating_sub(plies);
                self.target = self.target.truncated(left);
                self.state();
            }
            Act::GuiNewGame => {
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
            Act::Await(on) => self.awaits(on),
            Act::HandMoves(n, number) => {
                self.knows();
                // No square tells what a pawn became: the program's choice counts, and that is a queen.
                let queen = |m: &Move| m.promotion().is_none_or(|role| role == Role::Queen);
                if let Some(m) = legal(&ours(self.neo.game()), n).filter(queen) {
                    self.mind_unseen(false);
                    self.hand(Hand::Move(uci(m), style(number)));
                }
            }
            Act::HandTakesBack(number) => {
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
                self.hand(Hand::TakeBack(style(number)));
            }
            Act::Obeys => self.obey(),
            Act::Unlink => {
                if !self.neo.is_at_work() {
                    self.unseen.clear();
                }
                self.unlink();
            }
            Act::Link => self.link(),
            Act::GoesOn => {
                if !self.neo.is_at_work() {
                    self.unseen.clear();
                }
                self.goes_on();
            }
            Act::Refuse(count) => self.refuses = count,
            Act::Stick(square) => {
                let square = Square::new(square);
                // A square that goes stuck unseen cannot be told from a capture made unseen.
                self.pass(SEEN);
                if self.pieces().piece_at(square).is_some() && self.is_seen() {
                    self.neo.stick(square);
                    self.pass(Duration::from_secs(8));
                }
            }
            Act::Wait(ms) => self.pass(Duration::from_millis(ms)),
        }
        self.carry();
    }

    /// The end of a history: the link is up, the program awaits the player, who does as asked, and time passes.
    fn settles(&mut self, acts: &[Act]) {
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
        let story = || format!("{}\n{acts:?}", self.story());
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
            assert_eq!(answer, Some(m), "{}\n{acts:?}", self.story());
        }
    }
}

proptest! {
    #![proptest_config(histories(200))]

    #[test]
    fn a_neo_ends_up_in_the_programs_game(acts in proptest::collection::vec(act(), 1..30)) {
        ends_up(&acts);
    }
}

/// Histories that once failed.
fn ends_up(acts: &[Act]) {
    let mut world = World::begun();
    for act in acts {
        world.does(act);
    }
    world.settles(acts);
}

#[test]
fn pieces_that_were_confused_are_known_again_once_all_stand() {
    // The first picture comes while the knight is in the hand: the pawn on a3 is taken for it.
    ends_up(&[
        Act::Wait(5323),
        Act::Stick(16),
        Act::Unlink,
        Act::HandMoves(0, 5688010639153968209),
        Act::GuiTakesBack(1),
        Act::HandMoves(7440527010470774743, 0),
        Act::HandMoves(0, 1166583313133446),
        Act::Link,
        Act::HandMoves(12204971159977989674, 0),
        Act::HandTakesBack(0),
    ]);
}

#[test]
fn a_piece_of_a_capture_half_taken_back_is_not_looked_for_beside_the_board() {
    // The hand takes back two moves of the program at once, the later one a capture.
    ends_up(&[
        Act::GuiMoves(17332188162280151086),
        Act::GuiMoves(5043228508439256390),
        Act::HandMoves(5149608103485545876, 0),
        Act::GuiMoves(8379663946568801223),
        Act::GuiMoves(6517840766764516208),
        Act::HandTakesBack(0),
        Act::GuiMoves(8216131034895336599),
        Act::HandMoves(8072076095003006839, 0),
        Act::GuiMoves(10889761195405705070),
        Act::HandTakesBack(0),
        Act::HandTakesBack(0),
        Act::GuiTakesBack(1),
    ]);
}

#[test]
fn a_capture_whose_take_back_is_seen_in_part_is_taken_back() {
    // The lift is not heard; both landings are, after a picture that lacks nothing new.
    ends_up(&[
        Act::GuiMoves(3781256128939891735),
        Act::HandMoves(15621318300333339208, 0),
        Act::GuiMoves(11719093734971319258),
        Act::GuiMoves(2457160780298556464),
        Act::Wait(17842),
        Act::Unlink,
        Act::HandTakesBack(0),
    ]);
}

#[test]
fn a_stray_piece_that_is_lifted_again_still_lacks_its_square() {
    ends_up(&[
        Act::GuiMoves(5960467549571778000),
        Act::GuiMoves(15522124001589933267),
        Act::GuiMoves(12012987557310841968),
        Act::HandTakesBack(0),
        Act::GuiMoves(10376304706033939147),
        Act::HandMoves(4216605890342327394, 0),
        Act::Unlink,
        Act::HandMoves(123109760518677346, 0),
        Act::HandMoves(7043279473986347250, 1760014887588370970),
    ]);
}

#[test]
fn pieces_that_were_all_brought_stand_whatever_the_hand_did_besides() {
    // The motor meets a hand that takes back the same move, and carries the wrong piece.
    ends_up(&[
        Act::HandMoves(5467928688884554050, 0),
        Act::GuiMoves(11016964616588869735),
        Act::HandMoves(5146760619145767449, 0),
        Act::HandMoves(18393868817133795796, 0),
        Act::HandMoves(10681041134816988017, 0),
        Act::HandMoves(159892204176556381, 0),
        Act::Refuse(1),
        Act::GuiMoves(98764740267073924),
        Act::HandTakesBack(5446615163350156721),
    ]);
}

#[test]
fn a_piece_missed_when_the_link_came_back_is_missed_when_it_is_lost_again() {
    ends_up(&[
        Act::GuiMoves(4520560021949785519),
        Act::GuiMoves(629573065409239932),
        Act::HandMoves(0, 0),
        Act::GuiTakesBack(1),
        Act::HandMoves(13574463326491922838, 0),
        Act::GuiMoves(2900953198222509133),
        Act::Wait(30),
        Act::Unlink,
        Act::HandMoves(5771154104794913797, 0),
        Act::HandMoves(1614810796576121520, 0),
        Act::Link,
        Act::Stick(0),
        Act::Unlink,
    ]);
}

#[test]
fn what_was_captured_across_a_restart_is_found_or_asked_for() {
    ends_up(&[
        Act::GuiMoves(16108308421441361797),
        Act::GuiMoves(7187404029924403079),
        Act::GuiMoves(15960079679956595949),
        Act::HandMoves(15338258810549078188, 0),
        Act::Unlink,
        Act::HandMoves(951101679698285976, 0),
        Act::GoesOn,
    ]);
}
