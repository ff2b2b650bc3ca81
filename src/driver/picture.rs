//! How a board's messages tell where its pieces stand: transcripts write that as in a FEN.

use std::ops::Range;

use shakmaty::Board;

/// What a make's messages about its pieces are like.
#[derive(Clone, Copy, Debug)]
pub struct Picture {
    /// Finds the first placement in bytes that came from the board or went to it.
    pub find: fn(&[u8]) -> Option<Range<usize>>,
    /// Reads a placement.
    pub read: fn(&[u8]) -> Option<Board>,
    /// Writes a placement.
    pub write: fn(&Board) -> Vec<u8>,
}

impl Picture {
    /// The bytes before the first placement, the placement, and the bytes after it. Nothing unless it is written with exactly the
    /// same bytes again.
    pub fn split<'a>(&self, bytes: &'a [u8]) -> Option<(&'a [u8], Board, &'a [u8])> {
        let place = (self.find)(bytes)?;
        let placement = bytes.get(place.clone())?;
        let board = (self.read)(placement)?;
        let same = (self.write)(&board) == placement;
        same.then(|| (&bytes[..place.start], board, &bytes[place.end..]))
    }
}
