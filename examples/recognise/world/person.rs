//! The person: plays, digresses, executes, waits, and helps where the program cannot tell what happened.

use std::{ops::Range, time::Duration};

use rig::noise::{
    Deed, Opponent, Style,
    gesture::{self, Late},
};
use shakmaty::{Move, Position};

use super::{Tally, World, words};

/// A program answers so fast, ms.
const ANSWER: Range<u64> = 100..3_000;
/// The motor takes so long, ms (field notes: 3 to 7 s).
const MOTOR: Range<u64> = 3_000..7_000;
/// From the question to the hand, ms.
const REACTION: u64 = 2_000;
/// A person who waits for the program's answer gives up after this, ms.
const PATIENCE: u64 = 30_000;
/// A person sees after this whether the reseated pieces have helped, ms.
const HOPE: u64 = 6_000;
/// How often a person who is asked again does it again.
const ATTEMPTS: usize = 3;
/// How often a waiting person looks, ms.
const LOOK: u64 = 100;

impl World<'_> {
    /// Plays the game to its end. The person has White or Black, or both.
    pub fn play(mut self, white: Option<bool>) -> Tally {
        self.follow();
        self.rest(2_000..4_000);
        for &m in self.game.moves() {
            if white.is_none_or(|white| white == self.truth.turn().is_white()) {
                self.own(m, white.is_some());
            } else {
                self.opponents(m);
            }
        }
        self.execute_owed();
        self.await_reports();
        if self.model.habits.kings {
            self.kings();
        }
        self.tally
    }

    /// The person's turn.
    fn own(&mut self, m: Move, waits: bool) {
        let late = match self.opponent() {
            Opponent::HandAfterLift => Some(Late::AfterLift),
            Opponent::HandAfterMove => Some(Late::AfterMove),
            _ => None,
        };
        self.rest(self.model.habits.pace.clone());
        if let (Some(late), Some(owed)) = (late, self.owed) {
            let before = self.truth.position_at(self.truth.len() - 1);
            let style = self.model.habits.style(&mut self.rng);
            let script = gesture::executed_late(&before, owed, m, late, &style, &mut self.rng);
            if let Some(script) = script {
                self.run(&script);
                self.await_reports();
                return;
            }
        }
        if self.owed.is_some() {
            self.execute_owed();
            self.rest(self.model.habits.pace.clone());
        }
        self.digress(m, waits);
        self.make(m);
        if waits {
            self.await_reports();
        }
    }

    fn opponent(&mut self) -> Opponent {
        match self.model.habits.opponent {
            Opponent::HandSomehow => self
                .rng
                .choice([
                    Opponent::Hand,
                    Opponent::HandAfterLift,
                    Opponent::HandAfterMove,
                ])
                .unwrap_or_default(),
            opponent => opponent,
        }
    }

    fn make(&mut self, m: Move) {
        let position = self.truth.position().clone();
        let style = self.model.habits.style(&mut self.rng);
        let script = gesture::played(&position, m, &style, &mut self.rng);
        self.run(&script);
    }

    fn take_back(&mut self) {
        let Some(m) = self.truth.last() else {
            return;
        };
        let before = self.truth.position_at(self.truth.len() - 1);
        let style = self.model.habits.style(&mut self.rng);
        let script = gesture::taken_back(&before, m, &style, &mut self.rng);
        self.run(&script);
    }

    fn execute_owed(&mut self) {
        if let Some(owed) = self.owed {
            let before = self.truth.position_at(self.truth.len() - 1);
            let style = self.model.habits.style(&mut self.rng);
            let script = gesture::executed(&before, owed, &style, &mut self.rng);
            self.run(&script);
        }
    }

    /// Other moves than the game's, taken back again.
    fn digress(&mut self, instead_of: Move, waits: bool) {
        let digression = self.model.habits.digression;
        if self.rng.f64() >= digression.likely {
            return;
        }
        let by_motor = waits && self.model.habits.opponent == Opponent::Motor;
        let most = match (waits, by_motor) {
            (false, _) => digression.plies,
            (true, true) => digression.plies.min(2),
            (true, false) => 1,
        };
        let mut plies = 0;
        for ply in 0..self.rng.usize(1..=most.max(1)) {
            let mut legal = self.truth.position().legal_moves();
            legal.retain(|m| *m != instead_of);
            let Some(m) = self.rng.choice(legal) else {
                break;
            };
            if waits && ply % 2 == 1 {
                self.opponents(m);
            } else {
                self.make(m);
            }
            plies += 1;
            self.await_reports();
            self.rest(self.model.habits.pace.clone());
        }
        for _ in 0..plies {
            self.take_back();
            self.await_reports();
            self.rest(self.model.habits.pace.clone());
        }
    }

    /// The program's turn.
    fn opponents(&mut self, m: Move) {
        self.rest(ANSWER);
        self.program.push(m);
        self.truth.push(m);
        if self.model.habits.opponent == Opponent::Motor {
            gesture::apply(&mut self.believed, m);
            gesture::apply(&mut self.standing, m);
            let until = self.now + self.millis(MOTOR);
            self.sensors.motor(until, m);
            self.advance(until);
        } else {
            self.owed = Some(m);
        }
        self.follow();
    }

    fn kings(&mut self) {
        let position = self.truth.position().clone();
        let last = self.truth.last();
        if let Some(script) = gesture::kings_to_centre(&position, last, &mut self.rng) {
            self.rest(self.model.habits.pace.clone());
            self.run(&script);
            self.advance(self.now + Duration::from_millis(PATIENCE));
        }
    }

    /// The person does nothing for a while, unless asked to.
    fn rest(&mut self, range: Range<u64>) {
        let until = self.now + self.millis(range);
        while self.now < until {
            self.advance((self.now + Duration::from_millis(LOOK)).min(until));
            self.attend();
            self.notice();
        }
    }

    /// A person who does not wait for the program notices in the end that it says nothing.
    fn notice(&mut self) {
        let patience = Duration::from_millis(PATIENCE);
        let first = self.expected.front().and_then(|expected| expected.made);
        if self.lost.is_none() && first.is_some_and(|made| made + patience < self.now) {
            self.give_up();
        }
    }

    /// The person waits for the program to say what was done.
    fn await_reports(&mut self) {
        let until = self.now + Duration::from_millis(PATIENCE);
        while self.now < until && !(self.expected.is_empty() && self.lost.is_none()) {
            self.advance(self.now + Duration::from_millis(LOOK));
            self.attend();
        }
        self.give_up();
    }

    fn give_up(&mut self) {
        if !self.expected.is_empty() {
            let all: Vec<String> = self.expected.iter().map(|e| words(e.deed)).collect();
            self.complain(&format!("made, not reported: {}", all.join(", ")));
            self.resync();
        }
    }

    /// Helps the program that cannot tell what happened.
    fn attend(&mut self) {
        let reaction = Duration::from_millis(REACTION);
        if self.lost.is_none_or(|since| self.now < since + reaction) {
            return;
        }
        self.tally.asked += 1;
        self.complain("asked");
        for expected in &mut self.expected {
            expected.asked = true;
        }
        // First the pieces just moved are reseated.
        let moved = self.expected.back().map(|expected| match expected.deed {
            Deed::Played(m) | Deed::Executed(m) | Deed::TookBack(m) => m,
        });
        let squares = moved
            .or(self.truth.last())
            .map(gesture::squares)
            .unwrap_or_default();
        let script = gesture::reseated(self.sensors.standing(), &squares, &mut self.rng);
        self.run(&script);
        if self.eased() {
            return;
        }
        self.redo(ATTEMPTS);
    }

    /// Everything goes back to where the program has it, and is done again.
    fn redo(&mut self, attempts: usize) {
        let mut again: Vec<Deed> = self
            .expected
            .drain(..)
            .map(|expected| expected.deed)
            .collect();
        again.sort_by_key(|deed| !matches!(deed, Deed::Executed(_)));
        self.tally.made -= again.len();
        self.truth = self.program.clone();
        self.standing = self.believed.clone();
        let script = gesture::restored(self.sensors.standing(), &self.believed, &mut self.rng);
        self.run(&script);
        self.eased();
        for deed in again {
            self.again(deed, attempts);
        }
        if self.lost.is_some() {
            self.follow();
        }
    }

    fn again(&mut self, deed: Deed, attempts: usize) {
        let tidy = Style::default();
        let len = self.truth.len();
        let script = match deed {
            Deed::Played(m) => {
                gesture::played(&self.truth.position().clone(), m, &tidy, &mut self.rng)
            }
            Deed::Executed(m) => {
                let at = if self.truth.last() == Some(m) { 1 } else { 2 };
                let before = self.truth.position_at(len.saturating_sub(at));
                gesture::executed(&before, m, &tidy, &mut self.rng)
            }
            Deed::TookBack(m) => {
                let before = self.truth.position_at(len.saturating_sub(1));
                gesture::taken_back(&before, m, &tidy, &mut self.rng)
            }
        };
        // What was asked before is answered by this.
        self.lost = None;
        self.run(&script);
        for expected in &mut self.expected {
            expected.asked = true;
        }
        let until = self.now + Duration::from_millis(PATIENCE);
        while self.now < until && !self.expected.is_empty() {
            self.advance(self.now + Duration::from_millis(LOOK));
            let reaction = Duration::from_millis(REACTION);
            if self.lost.is_some_and(|since| self.now >= since + reaction) {
                self.complain("asked again");
                if let Some(left) = attempts.checked_sub(1) {
                    self.redo(left);
                }
                return;
            }
        }
        self.give_up();
    }

    /// Whether the program can tell again, after a while.
    fn eased(&mut self) -> bool {
        let until = self.now + Duration::from_millis(HOPE);
        while self.now < until && self.lost.is_some() {
            self.advance(self.now + Duration::from_millis(LOOK));
        }
        self.lost.is_none()
    }
}
