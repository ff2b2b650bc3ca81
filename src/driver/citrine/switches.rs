//! The settings that a Citrine forgets at every new game, and sometimes otherwise.

use std::time::Instant;

/// A setting that has to be on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Setting {
    /// The player moves both sides.
    Referee,
    /// Moves are transmitted.
    Xmit,
}

/// Parses a line that reports whether a setting is on: `Referee on`, `Xmit off`.
pub(super) fn told(text: &str) -> Option<(Setting, bool)> {
    let text = text.to_ascii_lowercase();
    let (name, state) = text.rsplit_once(' ')?;
    let is_on = match state {
        "on" => true,
        "off" => false,
        _ => return None,
    };
    let setting = match name {
        name if name.starts_with("referee") => Setting::Referee,
        name if name.starts_with("xmit") => Setting::Xmit,
        _ => return None,
    };
    Some((setting, is_on))
}

/// The settings that the board reported as on since it was last sent or asked for them.
#[derive(Debug, Default)]
pub(super) struct On {
    referee: bool,
    xmit: bool,
}

impl On {
    /// The board reported this one as on.
    pub fn add(&mut self, setting: Setting) {
        match setting {
            Setting::Referee => self.referee = true,
            Setting::Xmit => self.xmit = true,
        }
    }

    /// Whether all of them are on.
    pub fn all(&self) -> bool {
        self.referee && self.xmit
    }
}

/// Settings that were sent: the board confirms with `Referee on` and `Xmit on`.
#[derive(Debug, Default)]
pub(super) struct Throttle {
    /// How many times they were sent.
    pub attempts: u8,
    /// When to send them again, once they have left.
    pub deadline: Option<Instant>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whether_a_setting_is_on_is_read_and_nothing_else() {
        for (line, expected) in [
            ("Referee on", Some((Setting::Referee, true))),
            ("Referee off", Some((Setting::Referee, false))),
            ("Xmit on", Some((Setting::Xmit, true))),
            ("XMIT OFF", Some((Setting::Xmit, false))),
            ("Level tr 8", None),
            ("Sound on", None),
            ("Xmit", None),
        ] {
            assert_eq!(told(line), expected, "{line}");
        }
    }
}
