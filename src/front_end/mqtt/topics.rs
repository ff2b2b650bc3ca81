//! The topics on a broker: all begin with the version of what is said there.

use std::fmt;

use super::settings::DaemonName;
use crate::vocabulary::BoardName;

/// The beginning of every topic: the program, and the version of its messages.
pub const ROOT: &str = "boardbridge/1";

/// A topic.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Topic {
    /// The daemon it is about.
    pub daemon: DaemonName,
    /// What about it.
    pub about: About,
}

/// What a topic is about.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum About {
    /// Whether the daemon is there; retained.
    Online,
    /// Answers to the daemon's commands.
    Answers,
    /// One of its boards.
    Board(BoardName, Part),
}

/// What a topic has of a board.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// Its state; retained.
    State,
    /// What happens on it.
    Events,
    /// The same in Home Assistant's form.
    Moves,
    /// What programs say to it.
    Commands,
    /// A button of Home Assistant's.
    Press,
}

impl Part {
    const ALL: [(Self, &'static str); 5] = [
        (Self::State, "state"),
        (Self::Events, "events"),
        (Self::Moves, "moves"),
        (Self::Commands, "commands"),
        (Self::Press, "press"),
    ];

    fn word(self) -> &'static str {
        let found = Self::ALL.iter().find(|(part, _)| *part == self);
        found.map_or("", |(_, word)| word)
    }
}

impl Topic {
    /// Whether a daemon is there.
    pub fn online(daemon: &DaemonName) -> Self {
        let daemon = daemon.clone();
        let about = About::Online;
        Self { daemon, about }
    }

    /// Answers to a daemon's commands.
    pub fn answers(daemon: &DaemonName) -> Self {
        let daemon = daemon.clone();
        let about = About::Answers;
        Self { daemon, about }
    }

    /// A part of a board.
    pub fn board(daemon: &DaemonName, board: &BoardName, part: Part) -> Self {
        let daemon = daemon.clone();
        let about = About::Board(board.clone(), part);
        Self { daemon, about }
    }

    /// Reads a topic; `None` if it is none of ours.
    pub fn read(text: &str) -> Option<Self> {
        let rest = text.strip_prefix(ROOT)?.strip_prefix('/')?;
        let (daemon, rest) = rest.split_once('/')?;
        let daemon = daemon.parse().ok()?;
        let about = match rest {
            "online" => About::Online,
            "answers" => About::Answers,
            other => {
                let (board, part) = other.strip_prefix("boards/")?.split_once('/')?;
                let (part, _) = Part::ALL.iter().find(|(_, word)| *word == part)?;
                About::Board(board.parse().ok()?, *part)
            }
        };
        Some(Self { daemon, about })
    }
}

impl fmt::Display for Topic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{ROOT}/{}/", self.daemon)?;
        match &self.about {
            About::Online => f.write_str("online"),
            About::Answers => f.write_str("answers"),
            About::Board(board, part) => write!(f, "boards/{board}/{}", part.word()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_topic_is_read_as_it_is_written() {
        let daemon: DaemonName = "hall-1".parse().unwrap();
        let board: BoardName = "citrine".parse().unwrap();
        for (topic, text) in [
            (Topic::online(&daemon), "boardbridge/1/hall-1/online"),
            (Topic::answers(&daemon), "boardbridge/1/hall-1/answers"),
            (
                Topic::board(&daemon, &board, Part::State),
                "boardbridge/1/hall-1/boards/citrine/state",
            ),
            (
                Topic::board(&daemon, &board, Part::Press),
                "boardbridge/1/hall-1/boards/citrine/press",
            ),
        ] {
            assert_eq!(topic.to_string(), text);
            assert_eq!(Topic::read(text), Some(topic));
        }
        for other in [
            "",
            "boardbridge/1",
            "boardbridge/2/a/online",
            "boardbridge/1/a/b/c",
            "boardbridge/1/a/boards/b",
            "x/online",
            "boardbridge/1/a/boards/b@far/state",
            "boardbridge/1/+/online",
        ] {
            assert_eq!(Topic::read(other), None, "{other}");
        }
    }
}
