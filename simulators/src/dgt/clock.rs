//! The clock beside the board: what it shows, its times, its acknowledgements.

use crate::Report;

use super::segments;

/// The clocks that may be connected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    /// DGT XL: six characters of seven segments.
    Xl,
    /// DGT3000: eight characters.
    #[default]
    Dgt3000,
    /// The display of a Revelation II: eleven characters.
    Revelation,
}

impl Kind {
    /// Main version and sub version. The notes name only the main version of the DGT3000; the rest is a choice.
    fn version(self) -> u8 {
        match self {
            Self::Xl => 0x11,
            Self::Dgt3000 | Self::Revelation => 0x22,
        }
    }

    /// The text command it understands, and the characters of its text.
    fn text(self) -> (u8, usize) {
        match self {
            Self::Xl => (0x01, segments::CHARACTERS),
            Self::Dgt3000 => (0x0C, 8),
            Self::Revelation => (0x0D, 11),
        }
    }
}

/// Settings of a clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Which clock it is.
    pub kind: Kind,
    /// Whether it is in the mode in which a program may set it: 23, on a DGT3000 25.
    pub settable: bool,
    /// Whether its battery is low.
    pub battery_low: bool,
    /// The command that it answers by an error, if any.
    pub refuses: Option<u8>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            kind: Kind::default(),
            settable: true,
            battery_low: false,
            refuses: None,
        }
    }
}

/// A button of the clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Button {
    /// Back.
    Back,
    /// Plus.
    Plus,
    /// Run and stop.
    Run,
    /// Minus.
    Minus,
    /// OK.
    Ok,
}

/// A side of the clock, as the person who looks at its front sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The left one.
    Left,
    /// The right one.
    Right,
}

/// The four bytes of an acknowledgement.
pub(super) type Ack = [u8; 4];

/// The command that sets the times and lets them run.
pub(super) const SET_AND_RUN: u8 = 0x0A;
/// The message was carried out.
const GOOD: u8 = 0x10;
/// The message was not understood.
const ERROR: u8 = 0x40;
/// The answer to a command that needs another mode of the clock.
const WRONG_MODE: u8 = 0x90;
/// A button was pressed.
const BUTTON: u8 = 0x88;
/// The clock is in another mode.
const MODE: u8 = 0x8A;

/// A clock.
#[derive(Debug)]
pub(super) struct Clock {
    settings: Settings,
    /// Seconds.
    left: u32,
    right: u32,
    runs: Option<Side>,
    toggles: bool,
    right_high: bool,
    text: String,
}

impl Clock {
    pub(super) fn new(settings: Settings) -> Self {
        Self {
            settings,
            left: 0,
            right: 0,
            runs: None,
            toggles: false,
            right_high: false,
            text: String::new(),
        }
    }

    pub(super) fn runs(&self) -> bool {
        self.runs.is_some()
    }

    /// What the clock counts: left and right in seconds, and the side that runs.
    pub(super) fn counts(&self) -> (u32, u32, Option<Side>) {
        (self.left, self.right, self.runs)
    }

    /// The person puts it into a mode in which a program may set it, or not. Returns what it says of that.
    pub(super) fn set_mode(&mut self, settable: bool) -> Ack {
        self.settings.settable = settable;
        let mode = match (settable, self.settings.kind) {
            (false, _) => 1,
            (true, Kind::Dgt3000) => 25,
            (true, Kind::Xl | Kind::Revelation) => 23,
        };
        [GOOD, MODE, 0, mode]
    }

    /// What the clock shows instead of its times.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// A second has passed.
    pub(super) fn tick(&mut self) {
        let side = match self.runs {
            Some(Side::Left) => &mut self.left,
            Some(Side::Right) => &mut self.right,
            None => return,
        };
        *side = side.saturating_sub(1);
    }

    /// A player presses the lever: the other side is high then, and to move.
    pub(super) fn press_lever(&mut self) {
        self.right_high = !self.right_high;
        if self.toggles && self.runs.is_some() {
            self.runs = Some(self.high());
        }
    }

    fn high(&self) -> Side {
        if self.right_high {
            Side::Right
        } else {
            Side::Left
        }
    }

    fn status(&self) -> u8 {
        let to_move = match self.runs.unwrap_or(self.high()) {
            Side::Right => 0x08,
            Side::Left => 0x10,
        };
        u8::from(self.runs())
            | u8::from(self.right_high) << 1
            | u8::from(self.settings.battery_low) << 2
            | to_move
    }

    /// The data of the message about the times.
    pub(super) fn times(&self) -> Vec<u8> {
        let mut data = Vec::new();
        data.extend(in_digits(self.right));
        data.extend(in_digits(self.left));
        data.push(self.status());
        data
    }

    /// The data of the message that carries an acknowledgement.
    pub(super) fn acknowledgement(&self, [ack0, ack1, ack2, ack3]: Ack) -> Vec<u8> {
        let high = |first: u8, second: u8| 0x0A | (first & 0x80) >> 3 | (second & 0x80) >> 2;
        vec![
            high(ack2, ack3),
            ack0 & 0x7F,
            ack1 & 0x7F,
            high(ack0, ack1),
            ack2 & 0x7F,
            ack3 & 0x7F,
            self.status(),
        ]
    }

    /// The acknowledgement that tells of a button.
    pub(super) fn button(button: Button) -> Ack {
        let code = match button {
            Button::Back => 0x31,
            Button::Plus => 0x32,
            Button::Run => 0x33,
            Button::Minus => 0x34,
            Button::Ok => 0x35,
        };
        [GOOD, BUTTON, 0, code]
    }

    /// Carries out a message: what follows its size byte. Returns its acknowledgement.
    pub(super) fn message(&mut self, data: &[u8], reports: &mut Vec<Report>) -> Ack {
        let [0x03, command, data @ .., 0x00] = data else {
            reports.push(Report::Fault(format!("no clock message: {data:02X?}")));
            return [ERROR, 0, 0, 0];
        };
        if self.settings.refuses == Some(*command) {
            return [ERROR, *command, 0, 0];
        }
        match (*command, data) {
            (0x01 | 0x0C | 0x0D, [text @ .., beep]) => {
                return self.show(*command, text, *beep, reports);
            }
            (0x02, data) if data.len() == 8 => {}
            (0x03, []) => {
                self.text.clear();
                reports.push(Report::Clock(String::new()));
            }
            (0x08, []) => {}
            (0x09, []) => return [GOOD, *command, self.settings.kind.version(), 0],
            (SET_AND_RUN, &[lh, lm, ls, rh, rm, rs, mode]) => {
                if !self.settings.settable {
                    return [GOOD, WRONG_MODE, 0, 0];
                }
                let (Some(left), Some(right)) = (seconds(lh, lm, ls), seconds(rh, rm, rs)) else {
                    let times = [lh, lm, ls, rh, rm, rs];
                    reports.push(Report::Fault(format!("no times: {times:?}")));
                    return [ERROR, *command, 0, 0];
                };
                self.left = left;
                self.right = right;
                self.toggles = mode & 0x08 != 0;
                self.runs = match mode & 0x07 {
                    0x01 => Some(Side::Left),
                    0x02 => Some(Side::Right),
                    _ => None,
                };
            }
            (0x0B, [_]) => reports.push(Report::Beeped),
            _ => {
                let what = format!("clock command {command:02X} with {data:02X?}");
                reports.push(Report::Fault(what));
                return [ERROR, *command, 0, 0];
            }
        }
        [GOOD, *command, 0, 0]
    }

    /// Shows a text. A clock does not know the text command of another one.
    fn show(&mut self, command: u8, text: &[u8], beep: u8, reports: &mut Vec<Report>) -> Ack {
        let (own, characters) = self.settings.kind.text();
        if command != own {
            return [ERROR, command, 0, 0];
        }
        let shown = if self.settings.kind == Kind::Xl {
            segments::text(text)
        } else {
            let readable = text.iter().all(|byte| matches!(byte, 0x20..=0x7E));
            let fits = text.len() == characters && readable;
            fits.then(|| text.iter().copied().map(char::from).collect())
        };
        let Some(shown) = shown else {
            reports.push(Report::Fault(format!("no clock text: {text:02X?}")));
            return [ERROR, command, 0, 0];
        };
        shown.trim().clone_into(&mut self.text);
        reports.push(Report::Clock(self.text.clone()));
        // On an XL 01 is silent and 03 beeps.
        let silent = u8::from(self.settings.kind == Kind::Xl);
        if beep > silent {
            reports.push(Report::Beeped);
        }
        [GOOD, command, 0, 0]
    }
}

/// The data of the message about the times when no clock is connected.
pub(super) const NO_CLOCK: [u8; 7] = [0, 0, 0, 0, 0, 0, 0x20];

/// Seconds from hours, minutes and seconds, if the clock can show them. The notes do not say whether they are BCD in
/// this direction; plain numbers are a choice.
fn seconds(hours: u8, minutes: u8, seconds: u8) -> Option<u32> {
    let fits = hours <= 9 && minutes <= 59 && seconds <= 59;
    fits.then(|| u32::from(hours) * 3600 + u32::from(minutes) * 60 + u32::from(seconds))
}

/// Hours, minutes and seconds, the last two as BCD.
fn in_digits(seconds: u32) -> [u8; 3] {
    let bcd = |number: u32| number / 10 * 16 + number % 10;
    let digits = [
        (seconds / 3600).min(9),
        bcd(seconds / 60 % 60),
        bcd(seconds % 60),
    ];
    digits.map(|digits| u8::try_from(digits).unwrap_or_default())
}
