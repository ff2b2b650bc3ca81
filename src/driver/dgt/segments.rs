//! A move by its squares, in seven segments.

/// Characters of the display.
const CHARACTERS: usize = 6;

/// The segments of each character: bit 0 top, then clockwise, bit 6 in the middle.
pub fn segments(text: &str) -> [u8; CHARACTERS] {
    let mut shown = [0; CHARACTERS];
    for (place, character) in shown.iter_mut().zip(text.chars()) {
        *place = segments_of(character);
    }
    shown
}

fn segments_of(character: char) -> u8 {
    match character {
        '1' => 0x06,
        '2' => 0x5b,
        '3' => 0x4f,
        '4' => 0x66,
        '5' => 0x6d,
        '6' => 0x7d,
        '7' => 0x07,
        '8' => 0x7f,
        'a' => 0x5f,
        'b' => 0x7c,
        'c' => 0x58,
        'd' => 0x5e,
        'e' => 0x7b,
        'f' => 0x71,
        'g' => 0x3d,
        'h' => 0x74,
        // The pieces of a promotion.
        'q' => 0x67,
        'r' => 0x50,
        'n' => 0x54,
        _ => 0,
    }
}
