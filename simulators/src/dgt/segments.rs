//! The six characters of seven segments on a DGT XL.

/// Characters on the display.
pub(super) const CHARACTERS: usize = 6;

/// Where the characters A to F are in the message.
const ORDER: [usize; CHARACTERS] = [2, 1, 0, 5, 4, 3];

/// Segments of characters: bit 0 top, then clockwise to top left, bit 6 the middle. Of two characters that look alike
/// the first is read.
const SHAPES: [(u8, char); 37] = [
    (0x00, ' '),
    (0x3F, '0'),
    (0x06, '1'),
    (0x5B, '2'),
    (0x4F, '3'),
    (0x66, '4'),
    (0x6D, '5'),
    (0x7D, '6'),
    (0x07, '7'),
    (0x7F, '8'),
    (0x6F, '9'),
    (0x5F, 'a'),
    (0x77, 'A'),
    (0x7C, 'b'),
    (0x58, 'c'),
    (0x39, 'C'),
    (0x5E, 'd'),
    (0x7B, 'e'),
    (0x79, 'E'),
    (0x71, 'f'),
    (0x3D, 'g'),
    (0x74, 'h'),
    (0x76, 'H'),
    (0x04, 'i'),
    (0x1E, 'J'),
    (0x75, 'k'),
    (0x38, 'L'),
    (0x54, 'n'),
    (0x37, 'N'),
    (0x5C, 'o'),
    (0x73, 'P'),
    (0x67, 'q'),
    (0x50, 'r'),
    (0x78, 't'),
    (0x1C, 'u'),
    (0x3E, 'U'),
    (0x40, '-'),
];

/// The text of the data of command 01 without the beep: the segments in the order C B A F E D, and a byte of icons.
/// What looks like no character is `?`.
pub(super) fn text(data: &[u8]) -> Option<String> {
    let (segments, _icons) = data.split_first_chunk::<CHARACTERS>()?;
    if data.len() != CHARACTERS + 1 {
        return None;
    }
    let read = |segments: u8| {
        let shape = SHAPES.iter().find(|(shape, _)| *shape == segments & 0x7F);
        shape.map_or('?', |(_, character)| *character)
    };
    Some(ORDER.iter().map(|at| read(segments[*at])).collect())
}
