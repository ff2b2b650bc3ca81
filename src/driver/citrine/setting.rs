//! The settings a Citrine forgets at every new game.

use std::time::Instant;

/// Settings on their way: the board says `Referee on` and `Xmit on` when it has them.
#[derive(Debug, Default)]
pub(super) struct Setting {
    referee: bool,
    xmit: bool,
    /// How often they were sent.
    pub attempts: u8,
    /// When to send them again, once they have left.
    pub deadline: Option<Instant>,
}

impl Setting {
    /// A line that may be an answer to a setting. `true` once the board has them all.
    pub fn told(&mut self, text: &str) -> bool {
        let text = text.to_ascii_lowercase();
        let is_on = text.ends_with(" on");
        self.referee |= is_on && text.starts_with("referee");
        self.xmit |= is_on && text.starts_with("xmit");
        self.referee && self.xmit
    }
}
