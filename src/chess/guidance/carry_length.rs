//! How far a carry is.

use shakmaty::Square;

/// The king steps, the squared distances and the tie breaks are digits of one number, each with room for the sum of 64
/// carries, so that sums compare digit by digit. 64 tie breaks of 16 bits.
const TIE_BITS: u32 = 22;
/// 64 times 98, the squared distance from corner to corner.
const SQUARED_BITS: u32 = 13;
/// More than any sum of distances: 64 times 7 king steps are below 2^9.
pub(super) const LONGER_THAN_ALL: Way = 1 << (9 + SQUARED_BITS + TIE_BITS);

/// The length of a carry, or a difference of lengths.
pub(super) type Way = i64;

/// King steps first; if equal, the straighter, by the squared distance between the squares' centres; if those are
/// equal too, always the same one, by a number that spreads over the pairs of squares.
///
/// Lengths only add up. So the best list stays the best for the remaining carries when one has been made.
pub(super) fn way(from: Square, to: Square) -> Way {
    let files = i64::from(from.file().distance(to.file()));
    let ranks = i64::from(from.rank().distance(to.rank()));
    let squared = files * files + ranks * ranks;
    (((files.max(ranks) << SQUARED_BITS) | squared) << TIE_BITS) | tie(from, to)
}

/// 16 bits, mixed (the end of `MurmurHash3`) so that the sums of two pairs of carries differ even if those are opposite
/// sides of a parallelogram.
fn tie(from: Square, to: Square) -> Way {
    let mut mixed = (u32::from(from) * 64 + u32::from(to)).wrapping_mul(0x85eb_ca6b);
    mixed ^= mixed >> 13;
    mixed = mixed.wrapping_mul(0xc2b2_ae35);
    i64::from(mixed >> 16)
}
