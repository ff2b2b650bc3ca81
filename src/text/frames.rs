//! Splits a byte stream into binary messages, with a bound on what one may hold. [`lines`](super::lines) is its sister for text.

use std::{mem, time::Duration};

/// If the rest of a message has not come within this time, it will not come: the longest (67 bytes) takes 0.07 s at 9600 baud, and
/// twice that by Bluetooth.
pub const FRAME_WAIT: Duration = Duration::from_secs(1);

/// What the first bytes of the buffer are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// The beginning of a message.
    More,
    /// A whole message of so many bytes, at least one.
    Whole(usize),
    /// So many bytes, at least one, that belong to no message: lost bytes before or after them, a wrong checksum.
    Skip(usize),
}

/// What a byte stream holds next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Frame {
    /// A whole message.
    Whole(Vec<u8>),
    /// Bytes that belong to no message.
    Garbage(Vec<u8>),
}

/// A bounded splitter. Push bytes, then take frames. `cut` knows the protocol: where a message begins, its length, its checksum.
#[derive(Debug)]
pub struct Frames {
    bound: usize,
    cut: fn(&[u8]) -> Cut,
    input: Vec<u8>,
    garbage: Vec<u8>,
}

impl Frames {
    /// A splitter for messages of at most `bound` bytes.
    pub fn new(bound: usize, cut: fn(&[u8]) -> Cut) -> Self {
        Self {
            bound,
            cut,
            input: Vec::new(),
            garbage: Vec::new(),
        }
    }

    /// Adds bytes. Take every frame before adding more: then at most one chunk and one frame are held.
    pub fn push(&mut self, bytes: &[u8]) {
        self.input.extend_from_slice(bytes);
    }

    /// The next whole message, or what lay before it; `None` until more bytes come.
    pub fn next_frame(&mut self) -> Option<Frame> {
        loop {
            let cut = if self.input.is_empty() {
                Cut::More
            } else {
                (self.cut)(&self.input)
            };
            let skipped = match cut {
                Cut::Whole(length) if (1..=self.input.len()).contains(&length) => {
                    if !self.garbage.is_empty() {
                        return Some(Frame::Garbage(mem::take(&mut self.garbage)));
                    }
                    return Some(Frame::Whole(self.input.drain(..length).collect()));
                }
                Cut::More if self.input.len() <= self.bound => {
                    return (!self.garbage.is_empty())
                        .then(|| Frame::Garbage(mem::take(&mut self.garbage)));
                }
                Cut::Skip(length) => length.clamp(1, self.input.len()),
                // A message that is longer than any can be did not begin here.
                Cut::More | Cut::Whole(_) => 1,
            };
            self.garbage.extend(self.input.drain(..skipped));
        }
    }

    /// Whether a message has begun whose end has not come yet.
    pub fn is_unfinished(&self) -> bool {
        !self.input.is_empty()
    }

    /// The rest of a message that has begun will not come: looks for another one in what followed its first byte.
    pub fn give_up(&mut self) {
        if !self.input.is_empty() {
            self.garbage.push(self.input.remove(0));
        }
    }

    /// Forgets everything that has not been taken.
    pub fn clear(&mut self) {
        self.input.clear();
        self.garbage.clear();
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Messages of the kind `0x80 | length, data…`, whose data has bit 7 clear.
    fn cut(bytes: &[u8]) -> Cut {
        if bytes[0] < 0x80 {
            return Cut::Skip(bytes.iter().take_while(|byte| **byte < 0x80).count());
        }
        let length = usize::from(bytes[0] & 0x7f) + 1;
        let data = &bytes[1..bytes.len().min(length)];
        match data.iter().position(|byte| *byte >= 0x80) {
            Some(at) => Cut::Skip(at + 1),
            None if data.len() + 1 < length => Cut::More,
            None => Cut::Whole(length),
        }
    }

    fn all(frames: &mut Frames) -> Vec<Frame> {
        std::iter::from_fn(|| frames.next_frame()).collect()
    }

    #[test]
    fn lost_bytes_cost_their_message_and_no_other() {
        let mut frames = Frames::new(8, cut);
        frames.push(&[0x82, 1, 2, 5, 0x82, 3, 0x81, 4]);
        assert_eq!(
            all(&mut frames),
            [
                Frame::Whole(vec![0x82, 1, 2]),
                Frame::Garbage(vec![5, 0x82, 3]),
                Frame::Whole(vec![0x81, 4]),
            ]
        );
    }

    #[test]
    fn a_message_without_an_end_holds_nothing_up_and_takes_little_memory() {
        let mut frames = Frames::new(4, cut);
        frames.push(&[0xff, 1, 2, 3]);
        assert_eq!(all(&mut frames), []);
        frames.push(&[4, 5]);
        assert_eq!(
            all(&mut frames),
            [Frame::Garbage(vec![0xff, 1, 2, 3, 4, 5])]
        );
        frames.push(&[0x83, 0x80]);
        assert_eq!(all(&mut frames).len(), 2);
        frames.push(&[0x82, 1]);
        frames.give_up();
        assert_eq!(all(&mut frames), [Frame::Garbage(vec![0x82, 1])]);
        assert!(!frames.is_unfinished());
    }

    proptest! {
        #[test]
        fn how_the_bytes_were_cut_does_not_matter_and_none_is_lost(
            bytes in proptest::collection::vec(prop_oneof![0u8..4, 0x80u8..0x88, any::<u8>()], 0..200),
            sizes in proptest::collection::vec(1usize..20, 1..40),
        ) {
            let mut frames = Frames::new(128, cut);
            let (mut whole, mut passed) = (Vec::new(), Vec::new());
            let mut rest = &bytes[..];
            for size in sizes.iter().cycle() {
                if rest.is_empty() {
                    break;
                }
                let (now, later) = rest.split_at((*size).min(rest.len()));
                frames.push(now);
                for frame in all(&mut frames) {
                    match frame {
                        Frame::Whole(frame) => {
                            passed.extend_from_slice(&frame);
                            whole.push(frame);
                        }
                        Frame::Garbage(garbage) => passed.extend_from_slice(&garbage),
                    }
                }
                rest = later;
            }
            let mut once = Frames::new(128, cut);
            once.push(&bytes);
            let at_once = all(&mut once).into_iter().filter_map(|frame| match frame {
                Frame::Whole(frame) => Some(frame),
                Frame::Garbage(_) => None,
            });
            prop_assert_eq!(whole, at_once.collect::<Vec<_>>());
            prop_assert!(bytes.starts_with(&passed));
        }
    }
}
