//! What the opponent and the server of a game have said.

use std::ops::Deref;

use serde::Serialize;

/// Lines of a conversation that are kept.
pub const MAX_LINES: usize = 20;

/// The last lines, oldest first, at most [`MAX_LINES`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Chat(Vec<String>);

impl Chat {
    /// Adds a line; the oldest goes if there are too many.
    pub fn push(&mut self, line: String) {
        if self.0.len() == MAX_LINES {
            self.0.remove(0);
        }
        self.0.push(line);
    }
}

impl FromIterator<String> for Chat {
    fn from_iter<I: IntoIterator<Item = String>>(lines: I) -> Self {
        let mut chat = Self::default();
        lines.into_iter().for_each(|line| chat.push(line));
        chat
    }
}

impl Deref for Chat {
    type Target = [String];

    fn deref(&self) -> &[String] {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_conversation_keeps_its_last_lines() {
        let chat: Chat = (0..30).map(|n| n.to_string()).collect();
        assert_eq!(chat.first().map(String::as_str), Some("10"));
        assert_eq!(chat.len(), MAX_LINES);
    }
}
