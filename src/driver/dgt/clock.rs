//! The clock beside a DGT board: it shows the move that the player has to make for the program, and the times of a game that has
//! them. Source: `PROTOCOL.md`.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use shakmaty::Square;

use super::{
    segments::segments,
    settings::Model,
    tick::{Button, Tick},
};
use crate::driver::{
    Greeting,
    sensor::{Shown, Side, Times},
};

/// A message is sent again when it was not acknowledged for this long, a few times (picochess).
const ACK_WAIT: Duration = Duration::from_secs(2);
/// How often a message is sent at most.
const TRIES: u8 = 3;
/// A command that the clock has answered by an error this often in a row is left alone (chosen, as for one without an answer; picochess
/// sends it once more).
const REFUSALS: u8 = TRIES;
/// A clock that was left alone this often, as it did not answer, is not tried again when it sends its times (chosen).
const SILENCES: u8 = 3;
/// For so long after an acknowledgement further messages may repeat it (notes: about 1 s).
const REPEATS: Duration = Duration::from_millis(1500);
/// The most that a clock shows, in seconds: 9:59:59.
const MOST: u64 = 9 * 3600 + 59 * 60 + 59;

/// What the player did at the clock, or should know about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heard {
    /// This button was pressed.
    Button(Button),
    /// The lever was pressed.
    Lever,
    /// The clock cannot be set in the mode that it is in.
    WrongMode,
    /// The clock does not take the times.
    RefusesTimes,
    /// The clock does not take what it is to show.
    RefusesText,
}

/// The makes of clock, by what they can show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Six characters of seven segments: the DGT XL.
    Segments,
    /// Eight characters: the DGT 3000.
    Text,
    /// Eleven characters: the display of a Revelation II.
    LongText,
}

/// A message to the clock.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Told {
    Version,
    Times(Times),
    Shown(Shown),
    Nothing,
}

impl Told {
    const VERSION: u8 = 0x09;
    const SET_AND_RUN: u8 = 0x0a;
    const END: u8 = 0x03;
    const SEGMENTS: u8 = 0x01;
    const TEXT: u8 = 0x0c;
    const LONG_TEXT: u8 = 0x0d;

    fn command(&self, kind: Option<Kind>) -> u8 {
        match (self, kind) {
            (Self::Version, _) => Self::VERSION,
            (Self::Times(_), _) => Self::SET_AND_RUN,
            (Self::Nothing, _) => Self::END,
            (Self::Shown(_), Some(Kind::Segments)) => Self::SEGMENTS,
            (Self::Shown(_), Some(Kind::LongText)) => Self::LONG_TEXT,
            (Self::Shown(_), _) => Self::TEXT,
        }
    }

    /// `2B`, the number of bytes after it, `03`, the command, its data, `00`.
    fn message(&self, now: Instant, kind: Option<Kind>) -> Vec<u8> {
        const BEEP: u8 = 0x03;
        let text = |shown: &Shown, width: usize| {
            let text = format!("{:<width$}", shown.san);
            text.bytes().take(width).chain([BEEP]).collect()
        };
        let data: Vec<u8> = match (self, kind) {
            (Self::Version | Self::Nothing, _) => Vec::new(),
            (Self::Times(times), _) => {
                let times = times.at(now);
                let runs = match times.runs {
                    Some(Side::Left) => 0x01,
                    Some(Side::Right) => 0x02,
                    None => 0x04,
                };
                let sides = [times.left, times.right].into_iter().flat_map(digits);
                sides.chain([runs]).collect()
            }
            (Self::Shown(shown), Some(Kind::Segments)) => {
                // Segments do not tell a bishop from a b-pawn.
                let shown = segments(&shown.squares);
                let in_order = [2, 1, 0, 5, 4, 3].map(|place: usize| shown[place]);
                // No icons.
                in_order.into_iter().chain([0, BEEP]).collect()
            }
            (Self::Shown(shown), Some(Kind::LongText)) => text(shown, 11),
            (Self::Shown(shown), _) => text(shown, 8),
        };
        let size = u8::try_from(data.len() + 3).unwrap_or_default();
        let mut message = vec![0x2b, size, 0x03, self.command(kind)];
        message.extend(data);
        message.push(0);
        message
    }
}

/// Hours, minutes and seconds. A side that has begun its last second still has it.
fn digits(time: Duration) -> [u8; 3] {
    let seconds = time.as_secs() + u64::from(time.subsec_nanos() > 0);
    let seconds = seconds.min(MOST);
    [seconds / 3600, seconds / 60 % 60, seconds % 60].map(|n| u8::try_from(n).unwrap_or_default())
}

/// What is shown on the clock, and what is on the way to it.
#[derive(Debug)]
pub struct Clock {
    model: Model,
    kind: Option<Kind>,
    /// No clock answers.
    absent: bool,
    /// The clock is in a mode in which it cannot be set.
    wrong_mode: bool,
    wanted: Option<Shown>,
    shown: Option<Shown>,
    /// The times that it should have, and those that it was given.
    times: Option<Times>,
    set: Option<Times>,
    /// The times that it had before the link was lost, or the board silent: it may still count.
    left: Option<Times>,
    /// How often each command was answered by an error since it was last taken.
    refusals: BTreeMap<u8, u8>,
    /// How often it was left alone because it did not answer.
    silences: u8,
    /// The message that awaits its acknowledgement, how often it was sent, and when it is sent again.
    under_way: Option<(Told, u8, Instant)>,
    /// What it said last, and until when it may say so again without meaning it.
    said: Option<(Tick, Instant)>,
    /// Which side of its lever was up when it last told its times.
    right_high: Option<bool>,
    /// It was asked for that.
    asked: bool,
}

impl Clock {
    /// The clock of this model of board. Nothing is known about it.
    pub fn new(model: Model) -> Self {
        Self {
            model,
            // What it can show is known, and 3.24H answers no question that tells more.
            kind: (model == Model::RevelationIi).then_some(Kind::LongText),
            absent: false,
            wrong_mode: false,
            wanted: None,
            shown: None,
            times: None,
            set: None,
            left: None,
            refusals: BTreeMap::new(),
            silences: 0,
            under_way: None,
            said: None,
            right_high: None,
            asked: false,
        }
    }

    /// The same clock after the link was lost, or the board was silent: it may have counted on.
    pub fn anew(&self) -> Self {
        // Times that were not acknowledged may have been taken.
        Self {
            left: self.times.or(self.left),
            ..Self::new(self.model)
        }
    }

    /// A game begins: what the clock did not take may be taken now.
    pub fn begins(&mut self) {
        self.refusals.clear();
        if std::mem::take(&mut self.silences) >= SILENCES {
            self.absent = false;
        }
        // It may be in another mode.
        self.wrong_mode = false;
    }

    /// This is to be shown, or nothing: then the clock shows its times.
    pub fn show(&mut self, text: Option<Shown>) {
        self.wanted = text;
    }

    /// The clock is to show a word, or its times again.
    pub fn greet(&mut self, on: bool) -> Greeting {
        // Letters that seven segments can show.
        const WORD: &str = "here";
        self.show(on.then(|| Shown {
            san: WORD.to_owned(),
            squares: WORD.to_owned(),
            lights: [Square::E4; 2],
        }));
        if self.kind.is_some() && self.wanted == self.shown {
            return Greeting::Done;
        }
        if self.under_way.is_some() || self.due().into_iter().flatten().next().is_some() {
            return Greeting::Awaited;
        }
        Greeting::Nowhere
    }

    /// Whether it is to be asked for its times now, once: which side of its lever is up is not known, and it may stand still.
    pub fn asks_times(&mut self, now: Instant) -> bool {
        let asks = self.asks_at().is_some_and(|at| at <= now);
        self.asked |= asks;
        asks
    }

    /// When it is to be asked for its times: not while it may answer by what it said before.
    fn asks_at(&self) -> Option<Instant> {
        let unknown = self.kind.is_some() && self.right_high.is_none();
        let said = self.said.as_ref().filter(|_| unknown && !self.asked);
        said.map(|(_, until)| *until)
    }

    /// The clock should have these times. `None`: they are not known any more, so it stops.
    pub fn set(&mut self, now: Instant, times: Option<Times>) {
        let left = self.left.take();
        if times.is_some() {
            self.times = times;
            return;
        }
        // The next game may find the clock in another mode.
        self.wrong_mode = false;
        self.times = self.times.or(left);
        if let Some(times) = self.times.as_mut().filter(|times| times.runs.is_some()) {
            *times = times.at(now);
            times.runs = None;
        }
    }

    /// A message about the clock came. Returns what it means for others.
    pub fn ticks(&mut self, now: Instant, tick: Tick) -> Option<Heard> {
        if tick.is_said() {
            let again = |(said, until): &(Tick, Instant)| *said == tick && now < *until;
            if self.said.as_ref().is_some_and(again) {
                return None;
            }
            self.said = Some((tick, now + REPEATS));
        }
        match tick {
            Tick::Absent => {
                *self = Self {
                    absent: true,
                    wanted: self.wanted.take(),
                    times: self.times,
                    left: self.left,
                    ..Self::new(self.model)
                };
            }
            Tick::Nothing => {}
            Tick::Times { right_high } => {
                self.absent &= self.silences >= SILENCES;
                let before = self.right_high.replace(right_high);
                let pressed = before.is_some_and(|before| before != right_high);
                return pressed.then_some(Heard::Lever);
            }
            Tick::Ready => self.wrong_mode = false,
            Tick::Button(button) => return Some(Heard::Button(button)),
            Tick::WrongMode => {
                let set = |told: &Told| matches!(told, Told::Times(_));
                let refused = self.under_way.take_if(|(told, ..)| set(told)).is_some();
                self.wrong_mode |= refused;
                return refused.then_some(Heard::WrongMode);
            }
            Tick::Acknowledged {
                command,
                good,
                answer,
            } => {
                let kind = self.kind;
                let ours = |told: &Told| told.command(kind) == command;
                if !good {
                    let asked = self.under_way.as_ref();
                    return asked
                        .is_some_and(|(told, ..)| ours(told))
                        .then(|| self.refused(command))
                        .flatten();
                }
                if let Some((told, ..)) = self.under_way.take_if(|(told, ..)| ours(told)) {
                    self.refusals.remove(&command);
                    self.took(told, answer);
                }
            }
        }
        None
    }

    /// The clock has answered the message under way, with this command, by an error. Says what that means if it is left alone now.
    fn refused(&mut self, command: u8) -> Option<Heard> {
        let count = self.refusals.entry(command).or_default();
        *count = count.saturating_add(1);
        if *count < REFUSALS {
            return None;
        }
        let (told, ..) = self.under_way.take()?;
        Some(if matches!(told, Told::Times(_)) {
            Heard::RefusesTimes
        } else {
            Heard::RefusesText
        })
    }

    fn took(&mut self, told: Told, answer: u8) {
        match told {
            // The high nibble is its main version.
            Told::Version if answer >> 4 >= 2 => self.kind = Some(Kind::Text),
            Told::Version => self.kind = Some(Kind::Segments),
            Told::Times(times) => self.set = Some(times),
            Told::Shown(text) => self.shown = Some(text),
            Told::Nothing => self.shown = None,
        }
    }

    /// The next message for the clock, if it is due.
    pub fn next(&mut self, now: Instant) -> Option<Vec<u8>> {
        let tries = match &self.under_way {
            Some((_, _, again)) if *again > now => return None,
            Some((_, tries, _)) => *tries,
            None => 0,
        };
        if tries >= TRIES {
            // It does not answer: until it shows that it is there it is left alone.
            self.under_way = None;
            self.absent = true;
            self.silences = self.silences.saturating_add(1);
        }
        let due = self.due();
        let told = due.into_iter().flatten().find(|told| {
            let after = self.may_follow(told);
            after.is_none_or(|after| after <= now)
        })?;
        let again = self.under_way.take().filter(|(before, ..)| *before == told);
        let tries = again.map_or(1, |(_, tries, _)| tries + 1);
        let message = told.message(now, self.kind);
        self.under_way = Some((told, tries, now + ACK_WAIT));
        Some(message)
    }

    /// What the clock has to be told: its times first, because a text stays on the display while they run.
    fn due(&self) -> [Option<Told>; 2] {
        let taken = |told: &Told| {
            let refusals = self.refusals.get(&told.command(self.kind));
            refusals.is_none_or(|count| *count < REFUSALS)
        };
        self.outstanding().map(|told| told.filter(taken))
    }

    /// The same, whether it takes that or not.
    fn outstanding(&self) -> [Option<Told>; 2] {
        if self.absent {
            return [None, None];
        }
        if self.kind.is_none() {
            return [Some(Told::Version), None];
        }
        let times = self.times.filter(|_| !self.wrong_mode);
        let times = times.filter(|times| Some(*times) != self.set);
        // One that was not acknowledged may be on the display.
        let other = |text: &Shown| self.wanted.as_ref() != Some(text);
        let stale = matches!(&self.under_way, Some((Told::Shown(text), ..)) if other(text));
        let text = (stale || self.wanted != self.shown)
            .then(|| self.wanted.clone().map_or(Told::Nothing, Told::Shown));
        [times.map(Told::Times), text]
    }

    /// When a message may be sent whose acknowledgement would look like the last one, which the clock may still repeat.
    fn may_follow(&self, told: &Told) -> Option<Instant> {
        match self.said {
            Some((Tick::Acknowledged { command, .. }, until)) => {
                (told.command(self.kind) == command).then_some(until)
            }
            _ => None,
        }
    }

    /// When [`Self::next`] may have a message again, or its times are to be asked for.
    pub fn deadline(&self) -> Option<Instant> {
        let again = self.under_way.as_ref().map(|(.., again)| *again);
        let due = self.due().into_iter().flatten();
        due.filter_map(|told| self.may_follow(&told).max(again))
            .chain(self.asks_at())
            .min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const VERSION_2: Tick = Tick::Acknowledged {
        command: 9,
        good: true,
        answer: 0x22,
    };

    const TIMES: Tick = Tick::Times { right_high: false };

    fn taken(command: u8) -> Tick {
        Tick::Acknowledged {
            command,
            good: true,
            answer: 0,
        }
    }

    fn reply() -> Shown {
        Shown {
            san: "Nf6".to_owned(),
            squares: "g8f6".to_owned(),
            lights: [Square::G8, Square::F6],
        }
    }

    /// A DGT 3000 that has told its version.
    fn clock(now: Instant) -> Clock {
        let mut clock = Clock::new(Model::EBoard);
        assert_eq!(clock.next(now), Some(vec![0x2b, 3, 3, 9, 0]));
        assert_eq!(clock.ticks(now, VERSION_2), None);
        assert_eq!(clock.next(now), None);
        assert!(!clock.asks_times(now), "it may say its version again");
        assert!(clock.asks_times(now + REPEATS));
        clock
    }

    fn times(since: Instant, left: u64, right: u64, runs: Option<Side>) -> Times {
        Times {
            left: Duration::from_secs(left),
            right: Duration::from_secs(right),
            runs,
            since,
        }
    }

    #[test]
    fn a_move_is_shown_until_it_is_made() {
        let now = Instant::now();
        let mut clock = clock(now);
        clock.show(Some(reply()));
        let text = b"\x2b\x0c\x03\x0cNf6     \x03\x00";
        assert_eq!(clock.next(now).as_deref(), Some(&text[..]));
        // The acknowledgement was lost.
        assert_eq!(clock.next(now), None);
        assert_eq!(clock.next(now + ACK_WAIT).as_deref(), Some(&text[..]));
        clock.ticks(now, taken(0x0c));
        clock.show(None);
        assert_eq!(clock.next(now), Some(vec![0x2b, 3, 3, 3, 0]));
    }

    #[test]
    fn a_word_is_shown_to_somebody_who_looks_for_the_board_and_taken_away() {
        let now = Instant::now();
        for (version, word) in [
            (0x22, &b"\x2b\x0c\x03\x0chere    \x03\x00"[..]),
            (
                0x10,
                b"\x2b\x0b\x03\x01\x50\x7b\x74\x00\x00\x7b\x00\x03\x00",
            ),
        ] {
            let mut clock = Clock::new(Model::EBoard);
            assert_eq!(clock.greet(true), Greeting::Awaited);
            assert!(clock.next(now).is_some());
            assert_eq!(clock.greet(true), Greeting::Awaited);
            clock.ticks(
                now,
                Tick::Acknowledged {
                    command: 9,
                    good: true,
                    answer: version,
                },
            );
            assert_eq!(clock.greet(true), Greeting::Awaited);
            assert_eq!(clock.next(now).as_deref(), Some(word));
            assert_eq!(clock.greet(true), Greeting::Awaited);
            clock.ticks(now, taken(word[3]));
            assert_eq!(clock.greet(true), Greeting::Done);
            assert_eq!(clock.greet(false), Greeting::Awaited);
            assert_eq!(clock.next(now), Some(vec![0x2b, 3, 3, 3, 0]));
            clock.ticks(now, taken(3));
            assert_eq!(clock.greet(false), Greeting::Done);
        }
        // No clock, or one that answers nothing.
        let mut clock = Clock::new(Model::EBoard);
        clock.ticks(now, Tick::Absent);
        assert_eq!(clock.greet(true), Greeting::Nowhere);
        let mut clock = Clock::new(Model::EBoard);
        let mut now = now;
        for _ in 0..=TRIES {
            assert_eq!(clock.greet(true), Greeting::Awaited);
            clock.next(now);
            now += ACK_WAIT;
        }
        assert_eq!(clock.greet(true), Greeting::Nowhere);
    }

    #[test]
    fn a_revelation_shows_eleven_characters() {
        let now = Instant::now();
        let mut clock = Clock::new(Model::RevelationIi);
        assert_eq!(clock.next(now), None);
        clock.show(Some(reply()));
        let text = b"\x2b\x0f\x03\x0dNf6        \x03\x00";
        assert_eq!(clock.next(now).as_deref(), Some(&text[..]));
    }

    #[test]
    fn the_times_are_set_once_a_move_and_before_the_text() {
        let start = Instant::now();
        let mut clock = clock(start);
        clock.show(Some(reply()));
        clock.set(start, Some(times(start, 3599, 3930, Some(Side::Left))));
        // A second passes before it is sent.
        let now = start + Duration::from_secs(1);
        let set = [0x2b, 0x0a, 3, 0x0a, 0, 59, 58, 1, 5, 30, 0x01, 0];
        assert_eq!(clock.next(now).as_deref(), Some(&set[..]));
        clock.ticks(now, taken(0x0a));
        assert!(clock.next(now).is_some_and(|text| text[3] == 0x0c));
        clock.ticks(now, taken(0x0c));
        // The clock counts by itself.
        assert_eq!(clock.next(now + Duration::from_mins(1)), None);
        assert_eq!(clock.deadline(), None);
    }

    #[test]
    fn a_clock_whose_game_is_left_stops_where_it_is() {
        let start = Instant::now();
        let mut clock = clock(start);
        clock.set(start, Some(times(start, 60, 36_000, Some(Side::Left))));
        let set = [0x2b, 0x0a, 3, 0x0a, 0, 1, 0, 9, 59, 59, 0x01, 0];
        assert_eq!(clock.next(start).as_deref(), Some(&set[..]));
        clock.ticks(start, taken(0x0a));
        let now = start + Duration::from_secs(10);
        clock.set(now, None);
        let set = [0x2b, 0x0a, 3, 0x0a, 0, 0, 50, 9, 59, 59, 0x04, 0];
        assert_eq!(clock.next(now).as_deref(), Some(&set[..]));
        clock.ticks(now, taken(0x0a));
        clock.set(now, None);
        assert_eq!(clock.next(now + REPEATS), None);
    }

    #[test]
    fn a_clock_in_the_wrong_mode_is_told_of_once_and_tried_again_when_that_may_have_changed() {
        let start = Instant::now();
        let mut clock = clock(start);
        clock.set(start, Some(times(start, 60, 60, Some(Side::Left))));
        assert!(clock.next(start).is_some());
        assert_eq!(clock.ticks(start, Tick::WrongMode), Some(Heard::WrongMode));
        // Repeated.
        assert_eq!(clock.ticks(start, Tick::WrongMode), None);
        let now = start + Duration::from_secs(30);
        clock.set(now, Some(times(now, 60, 60, Some(Side::Right))));
        assert_eq!(clock.next(now), None);
        // Moves are shown nevertheless.
        clock.show(Some(reply()));
        assert!(clock.next(now).is_some_and(|text| text[3] == 0x0c));
        clock.ticks(now, taken(0x0c));
        clock.ticks(now, Tick::Ready);
        assert!(clock.next(now).is_some_and(|set| set[3] == 0x0a));
    }

    #[test]
    fn a_clock_that_answers_by_an_error_is_told_of_once_and_left_alone_until_the_next_game() {
        let mut now = Instant::now();
        let mut clock = clock(now);
        clock.set(now, Some(times(now, 60, 60, Some(Side::Left))));
        let error = Tick::Acknowledged {
            command: 0x0a,
            good: false,
            answer: 0,
        };
        let (mut sent, mut heard) = (0, Vec::new());
        for second in 0..120 {
            now += Duration::from_secs(1);
            // A move a minute.
            if second % 60 == 0 {
                let next = times(now, 60 - second / 60, 60, Some(Side::Left));
                clock.set(now, Some(next));
            }
            if clock.next(now).is_some_and(|set| set[3] == 0x0a) {
                sent += 1;
                heard.extend(clock.ticks(now, error));
            }
            heard.extend(clock.ticks(now, TIMES));
        }
        assert_eq!(sent, REFUSALS);
        assert_eq!(heard, [Heard::RefusesTimes]);
        assert_eq!(clock.deadline(), None);
        // Moves are shown nevertheless.
        clock.show(Some(reply()));
        assert!(clock.next(now).is_some_and(|text| text[3] == 0x0c));
        clock.ticks(now, taken(0x0c));
        clock.begins();
        assert!(clock.next(now).is_some_and(|set| set[3] == 0x0a));
    }

    #[test]
    fn a_clock_that_sends_its_times_and_answers_nothing_is_not_asked_for_ever() {
        let mut now = Instant::now();
        let mut clock = Clock::new(Model::EBoard);
        let ask = |clock: &mut Clock, now: &mut Instant| {
            let mut sent = 0;
            for _ in 0..120 {
                sent += u8::from(clock.next(*now).is_some());
                clock.ticks(*now, TIMES);
                *now += Duration::from_secs(1);
            }
            sent
        };
        assert_eq!(ask(&mut clock, &mut now), TRIES * SILENCES);
        clock.begins();
        assert_eq!(ask(&mut clock, &mut now), TRIES * SILENCES);
        // Another one is connected.
        clock.ticks(now, Tick::Absent);
        clock.ticks(now, TIMES);
        assert!(clock.next(now).is_some());
    }

    #[test]
    fn a_clock_whose_game_ended_while_the_link_was_down_is_stopped() {
        let start = Instant::now();
        let mut clock = clock(start);
        clock.set(start, Some(times(start, 60, 60, Some(Side::Left))));
        assert!(clock.next(start).is_some());
        clock.ticks(start, taken(0x0a));
        let now = start + Duration::from_secs(10);
        for game_ended in [true, false] {
            let mut clock = clock.anew().anew();
            assert_eq!(clock.next(now), Some(vec![0x2b, 3, 3, 9, 0]));
            clock.ticks(now, VERSION_2);
            // Whether there is a game is not known yet.
            assert_eq!(clock.next(now), None);
            let game = times(now, 40, 60, Some(Side::Right));
            clock.set(now, (!game_ended).then_some(game));
            let set = if game_ended {
                [0x2b, 0x0a, 3, 0x0a, 0, 0, 50, 0, 1, 0, 0x04, 0]
            } else {
                [0x2b, 0x0a, 3, 0x0a, 0, 0, 40, 0, 1, 0, 0x02, 0]
            };
            assert_eq!(clock.next(now).as_deref(), Some(&set[..]));
            clock.ticks(now, taken(0x0a));
            clock.set(now, None);
            let stands = clock.next(now + REPEATS).is_none();
            assert_eq!(stands, game_ended);
        }
    }

    #[test]
    fn a_repeated_acknowledgement_is_not_taken_for_that_of_the_next_message() {
        let start = Instant::now();
        let mut clock = clock(start);
        let set = |clock: &mut Clock, now, left| {
            clock.set(now, Some(times(now, left, 60, Some(Side::Left))));
        };
        set(&mut clock, start, 60);
        assert!(clock.next(start).is_some());
        clock.ticks(start, taken(0x0a));
        // The next times must wait until no repetition can come; a text need not.
        let now = start + Duration::from_millis(500);
        set(&mut clock, now, 50);
        clock.show(Some(reply()));
        assert!(clock.next(now).is_some_and(|text| text[3] == 0x0c));
        clock.ticks(now, taken(0x0a));
        assert_eq!(clock.next(now), None, "the text is under way");
        clock.ticks(now, taken(0x0c));
        let later = now + REPEATS;
        assert!(clock.next(later).is_some_and(|set| set[3] == 0x0a));
        assert_eq!(clock.next(later), None);
        clock.ticks(later, taken(0x0a));
        assert_eq!(clock.next(later + ACK_WAIT), None);
    }

    #[test]
    fn a_repeated_button_was_pressed_once() {
        let now = Instant::now();
        let mut clock = Clock::new(Model::EBoard);
        let back = Tick::Button(Button::Back);
        let pressed = Some(Heard::Button(Button::Back));
        assert_eq!(clock.ticks(now, back), pressed);
        assert_eq!(clock.ticks(now + Duration::from_secs(1), back), None);
        assert_eq!(clock.ticks(now + Duration::from_secs(2), back), pressed);
    }

    #[test]
    fn the_lever_is_pressed_when_its_other_side_is_up_and_not_when_it_is_first_seen() {
        let now = Instant::now();
        let up = |right_high| Tick::Times { right_high };
        let mut clock = Clock::new(Model::EBoard);
        assert_eq!(clock.ticks(now, up(true)), None);
        assert_eq!(clock.ticks(now, up(true)), None);
        assert_eq!(clock.ticks(now, up(false)), Some(Heard::Lever));
        assert_eq!(clock.ticks(now, up(true)), Some(Heard::Lever));
        // It may have been pressed while nobody looked.
        let mut clock = clock.anew();
        assert_eq!(clock.ticks(now, up(false)), None);
        assert_eq!(clock.ticks(now, Tick::Absent), None);
        assert_eq!(clock.ticks(now, up(true)), None);
    }

    #[test]
    fn a_clock_that_does_not_answer_is_left_alone_until_it_shows_its_times() {
        let mut now = Instant::now();
        let mut clock = Clock::new(Model::EBoard);
        for _ in 0..TRIES {
            assert!(clock.next(now).is_some());
            now += ACK_WAIT;
        }
        assert_eq!(clock.next(now), None);
        assert_eq!(clock.next(now + 10 * ACK_WAIT), None);
        clock.ticks(now, TIMES);
        assert!(clock.next(now).is_some());
        clock.ticks(now, Tick::Absent);
        assert_eq!(clock.next(now + ACK_WAIT), None);
    }
}
