//! What a board that senses its pieces has of its own: its bytes.

use std::time::{Duration, Instant};

use shakmaty::{Bitboard, Board};

use crate::{
    driver::DriverEvent,
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
    /// Its key for a new game was pressed, or one that says that the pieces stand.
    Key,
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
}

/// The bytes of one make of board that senses its pieces. It is sans I/O, as a
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

    /// These squares are to be lit, and no others. Called when that changes, and after the board [answers](Said::Answers).
    fn light(&mut self, _now: Instant, _squares: Bitboard) {}

    /// The player has to make this move for the program, or none. Called when that changes, and after the board
    /// [answers](Said::Answers). For boards with a display.
    fn show(&mut self, _now: Instant, _shown: Option<Shown>) {}

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
