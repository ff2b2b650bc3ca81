//! The clock beside a DGT board: it shows the move that the player has to make for the program. Source: `PROTOCOL.md`.

use std::time::{Duration, Instant};

use super::segments::segments;
use crate::driver::sensor::Shown;

/// A message is sent again when it was not acknowledged for this long, a few times (picochess).
const ACK_WAIT: Duration = Duration::from_secs(2);
/// How often a message is sent at most.
const TRIES: u8 = 3;

/// What came of a clock in a message about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tick {
    /// No clock is connected.
    Absent,
    /// The clock has taken, or refused, this command.
    Acknowledged {
        /// Which one.
        command: u8,
        /// Whether it was understood.
        good: bool,
        /// What it answers, to the question for its version.
        answer: u8,
    },
    /// This button was pressed.
    Button(Button),
    /// Its times.
    Times,
    /// Nothing at all: such messages occur.
    Nothing,
}

/// The buttons that mean something to us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Button {
    /// OK.
    Ok,
    /// Another one.
    Other,
}

/// Reads the data of a message about the clock. `None`: it is not whole.
pub fn read(data: &[u8]) -> Option<Tick> {
    let &[b3, b4, b5, b6, b7, b8, status] = data else {
        return None;
    };
    if data.iter().all(|byte| *byte == 0) {
        return Some(Tick::Nothing);
    }
    if b3 & 0x0f != 0x0a && b6 & 0x0f != 0x0a {
        return Some(if status & 0x20 != 0 {
            Tick::Absent
        } else {
            Tick::Times
        });
    }
    // Bit 7 of each byte travels in the flags of the hours.
    let [ack0, ack1, ack2, ack3] = [
        b4 & 0x7f | b6 << 3 & 0x80,
        b5 & 0x7f | b6 << 2 & 0x80,
        b7 & 0x7f | b3 << 3 & 0x80,
        b8 & 0x7f | b3 << 2 & 0x80,
    ];
    Some(match ack1 {
        command @ 0..0x80 => Tick::Acknowledged {
            command,
            good: ack0 == 0x10,
            answer: ack2,
        },
        0x88 if ack3 == 0x35 => Tick::Button(Button::Ok),
        0x88 => Tick::Button(Button::Other),
        _ => Tick::Nothing,
    })
}

/// The makes of clock, by what they can show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Six characters of seven segments: the DGT XL.
    Segments,
    /// Eight characters: the DGT 3000.
    Text,
}

/// A message to the clock.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Told {
    Version,
    Shown(Shown),
    Nothing,
}

impl Told {
    const VERSION: u8 = 0x09;
    const END: u8 = 0x03;
    const SEGMENTS: u8 = 0x01;
    const TEXT: u8 = 0x0c;

    fn command(&self, kind: Option<Kind>) -> u8 {
        match (self, kind) {
            (Self::Version, _) => Self::VERSION,
            (Self::Nothing, _) => Self::END,
            (Self::Shown(_), Some(Kind::Segments)) => Self::SEGMENTS,
            (Self::Shown(_), _) => Self::TEXT,
        }
    }

    /// `2B`, the number of bytes after it, `03`, the command, its data, `00`.
    fn message(&self, kind: Option<Kind>) -> Vec<u8> {
        const BEEP: u8 = 0x03;
        let data = match (self, kind) {
            (Self::Version | Self::Nothing, _) => Vec::new(),
            (Self::Shown(shown), Some(Kind::Segments)) => {
                // Segments do not tell a bishop from a b-pawn.
                let shown = segments(&shown.squares);
                let in_order = [2, 1, 0, 5, 4, 3].map(|place: usize| shown[place]);
                // No icons.
                in_order.into_iter().chain([0, BEEP]).collect()
            }
            (Self::Shown(shown), _) => {
                let text = format!("{:<8}", shown.san);
                text.bytes().take(8).chain([BEEP]).collect()
            }
        };
        let size = u8::try_from(data.len() + 3).unwrap_or_default();
        let mut message = vec![0x2b, size, 0x03, self.command(kind)];
        message.extend(data);
        message.push(0);
        message
    }
}

/// What is shown on the clock, and what is on the way to it.
#[derive(Debug, Default)]
pub struct Clock {
    kind: Option<Kind>,
    /// No clock answers.
    absent: bool,
    wanted: Option<Shown>,
    shown: Option<Shown>,
    /// The message that awaits its acknowledgement, how often it was sent, and when it is sent again.
    under_way: Option<(Told, u8, Instant)>,
}

impl Clock {
    /// This is to be shown, or nothing: then the clock shows its times.
    pub fn show(&mut self, text: Option<Shown>) {
        self.wanted = text;
    }

    /// A message about the clock came. Returns whether its OK was pressed.
    pub fn ticks(&mut self, tick: Tick) -> bool {
        match tick {
            Tick::Absent => {
                *self = Self {
                    absent: true,
                    wanted: self.wanted.take(),
                    ..Self::default()
                };
            }
            Tick::Nothing => {}
            Tick::Times => self.absent = false,
            Tick::Button(button) => return button == Button::Ok,
            Tick::Acknowledged {
                command,
                good,
                answer,
            } => {
                let kind = self.kind;
                let ours = |told: &Told| told.command(kind) == command && good;
                if let Some((told, ..)) = self.under_way.take_if(|(told, ..)| ours(told)) {
                    self.took(told, answer);
                }
            }
        }
        false
    }

    fn took(&mut self, told: Told, answer: u8) {
        match told {
            // The high nibble is its main version.
            Told::Version if answer >> 4 >= 2 => self.kind = Some(Kind::Text),
            Told::Version => self.kind = Some(Kind::Segments),
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
        }
        if self.absent {
            return None;
        }
        let told = match (self.kind, &self.wanted) {
            (None, _) => Told::Version,
            (_, wanted) if *wanted == self.shown => return None,
            (_, Some(text)) => Told::Shown(text.clone()),
            (_, None) => Told::Nothing,
        };
        let again = self.under_way.take().filter(|(before, ..)| *before == told);
        let tries = again.map_or(1, |(_, tries, _)| tries + 1);
        let message = told.message(self.kind);
        self.under_way = Some((told, tries, now + ACK_WAIT));
        Some(message)
    }

    /// When [`Self::next`] may have a message again.
    pub fn deadline(&self) -> Option<Instant> {
        self.under_way.as_ref().map(|(.., again)| *again)
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

    fn taken(command: u8) -> Tick {
        Tick::Acknowledged {
            command,
            good: true,
            answer: 0,
        }
    }

    #[test]
    fn a_move_is_shown_until_it_is_made() {
        let now = Instant::now();
        let mut clock = Clock::default();
        assert_eq!(clock.next(now), Some(vec![0x2b, 3, 3, 9, 0]));
        assert!(!clock.ticks(VERSION_2));
        assert_eq!(clock.next(now), None);
        clock.show(Some(Shown {
            san: "Nf6".to_owned(),
            squares: "g8f6".to_owned(),
        }));
        let text = b"\x2b\x0c\x03\x0cNf6     \x03\x00";
        assert_eq!(clock.next(now).as_deref(), Some(&text[..]));
        // The acknowledgement was lost.
        assert_eq!(clock.next(now), None);
        assert_eq!(clock.next(now + ACK_WAIT).as_deref(), Some(&text[..]));
        clock.ticks(taken(0x0c));
        clock.show(None);
        assert_eq!(clock.next(now), Some(vec![0x2b, 3, 3, 3, 0]));
    }

    #[test]
    fn a_clock_that_does_not_answer_is_left_alone_until_it_shows_its_times() {
        let mut now = Instant::now();
        let mut clock = Clock::default();
        for _ in 0..TRIES {
            assert!(clock.next(now).is_some());
            now += ACK_WAIT;
        }
        assert_eq!(clock.next(now), None);
        assert_eq!(clock.next(now + 10 * ACK_WAIT), None);
        clock.ticks(Tick::Times);
        assert!(clock.next(now).is_some());
        clock.ticks(Tick::Absent);
        assert_eq!(clock.next(now + ACK_WAIT), None);
    }

    /// The bytes of the maker's header, put together by its rules.
    #[test]
    fn acknowledgements_and_buttons_are_told_from_times() {
        let times = [0x01, 0x05, 0x30, 0x00, 0x59, 0x59, 0x11];
        assert_eq!(read(&times), Some(Tick::Times));
        assert_eq!(read(&[0, 0, 0, 0, 0, 0, 0x20]), Some(Tick::Absent));
        // ack0 10, ack1 09, ack2 22, ack3 00.
        assert_eq!(read(&[0x0a, 0x10, 0x09, 0x0a, 0x22, 0, 0]), Some(VERSION_2));
        // ack1 88: its bit 7 is bit 5 of the sixth byte. ack3 35: OK.
        let ok = [0x0a, 0x10, 0x08, 0x2a, 0, 0x35, 0];
        assert_eq!(read(&ok), Some(Tick::Button(Button::Ok)));
        assert_eq!(read(&[0; 7]), Some(Tick::Nothing));
        assert_eq!(read(&[0; 6]), None);
    }
}
