//! What a board that senses its pieces or squares has of its own: its bytes.

use std::time::{Duration, Instant};

use shakmaty::{Bitboard, Board, Square};

use crate::{
    driver::{DriverEvent, Greeting},
    vocabulary::{Channel, Outgoing, Reply},
};

/// What a board says, with its squares numbered as if White sat at its lower edge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Said {
    /// It answers and can be used: it takes lights now, and says where its pieces stand.
    Answers {
        /// Its name and version, if it told them.
        id: Option<String>,
    },
    /// Its pieces stand like this. It may say so as often as it likes.
    Pieces(Board),
    /// Pieces stand on these squares, of a board that does not tell them apart. It may say so as often as it likes.
    Squares(Bitboard),
    /// Its key for a new game was pressed, or one that says that the pieces stand.
    Key,
    /// The lever of the clock beside it was pressed: the pieces stand.
    Lever,
    /// Its key to take a move back was pressed.
    BackKey,
    /// All that the board had sensed when it was asked to [look](Wire::look) has been said.
    Looked,
    /// The pieces are not on their way to where they were [to stand](Wire::drive), and are not there.
    Stuck,
    /// Something that needs no interpretation: the battery, silence, garbage.
    Event(DriverEvent),
}

/// A move for a display.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown {
    /// In SAN.
    pub san: String,
    /// By its squares, as in UCI.
    pub squares: String,
    /// The same squares, as the board numbers them.
    pub lights: [Square; 2],
}

/// A side of a clock that stands beside the board, as a player sees it who looks at its front.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The left one.
    Left,
    /// The right one.
    Right,
}

/// The times on a clock that stands beside the board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Times {
    /// What is left on its left side.
    pub left: Duration,
    /// What is left on its right side.
    pub right: Duration,
    /// The side that runs.
    pub runs: Option<Side>,
    /// When it showed that.
    pub since: Instant,
}

impl Times {
    /// What the clock shows now.
    #[must_use]
    pub fn at(mut self, now: Instant) -> Self {
        let passed = now.saturating_duration_since(self.since);
        match self.runs {
            Some(Side::Left) => self.left = self.left.saturating_sub(passed),
            Some(Side::Right) => self.right = self.right.saturating_sub(passed),
            None => {}
        }
        self.since = now;
        self
    }
}

/// The bytes of one make of board that senses its pieces, or which squares are occupied. It is sans I/O, as a
/// [`Driver`](crate::driver::Driver); [`Sensor`](super::Sensor) makes one of it. It knows nothing of chess: neither the game, nor
/// which way round the board lies.
pub trait Wire: Send {
    /// The link is up: begin talking.
    fn link_up(&mut self, now: Instant);

    /// The link is lost: forget whatever was being sent.
    fn link_down(&mut self);

    /// Bytes came from the board.
    fn received(&mut self, now: Instant, channel: Channel, bytes: &[u8]);

    /// A request of [`Self::poll_transmit`] was answered. A serial line answers none.
    fn answered(&mut self, _now: Instant, _channel: Channel, _outcome: Reply) {}

    /// The time given by [`Self::deadline`] has come.
    fn timeout(&mut self, now: Instant);

    /// When [`Self::timeout`] or [`Self::poll_transmit`] is to be called next.
    fn deadline(&self) -> Option<Instant>;

    /// The pieces seem to rest: for all that is known, the board has sensed nothing for a while. What it has sent since may still be on its
    /// way, so it is to show that it senses the same now, or [something else](Said::Looked) first. Called again if the answer does not come.
    /// `false`: that cannot be asked of it, and silence is rest.
    fn look(&mut self, _now: Instant) -> bool {
        false
    }

    /// Whether it has lamps.
    fn has_lamps(&self) -> bool {
        true
    }

    /// These squares are to be lit, and no others. Called when that changes, and after the board [answers](Said::Answers); after
    /// the move that they belong to was [shown](Self::show).
    fn light(&mut self, _now: Instant, _squares: Bitboard) {}

    /// The player has to make this move for the program, or none. Called when that changes, and after the board
    /// [answers](Said::Answers). For boards with a display.
    fn show(&mut self, _now: Instant, _shown: Option<Shown>) {}

    /// A display is to show a word to somebody who looks for this board, or no longer. Called again and again until it does.
    fn greet(&mut self, _now: Instant, _on: bool) -> Greeting {
        Greeting::Nowhere
    }

    /// A game begins: what the board refused in the last one may be tried again.
    fn begins(&mut self, _now: Instant) {}

    /// The clock beside the board is to show these times, or none are known. Called when a move or the program has changed them,
    /// not as they run, and after the board [answers](Said::Answers); before a move is [shown](Self::show).
    fn set_clock(&mut self, _now: Instant, _times: Option<Times>) {}

    /// Whether the board moves its pieces itself, as far as is known.
    fn has_motor(&self) -> bool {
        false
    }

    /// The board is to move its pieces until they stand like this, or is to leave them where they are. Called when that changes, and
    /// after the board [answers](Said::Answers); only if it [has a motor](Self::has_motor). Unless the board then shows them
    /// [there](Said::Pieces), it is [stuck](Said::Stuck).
    fn drive(&mut self, _now: Instant, _to: Option<&Board>) {}

    /// The next request for the link, if any.
    fn poll_transmit(&mut self, now: Instant) -> Option<Outgoing>;

    /// What the board has said.
    fn poll(&mut self) -> Option<Said>;

    /// Why the link is unusable and has to be opened again; reported once.
    fn poll_hang_up(&mut self) -> Option<String> {
        None
    }

    /// How long the board must be without a link, at least, before the next.
    fn pause_between_links(&self) -> Duration {
        Duration::ZERO
    }
}
