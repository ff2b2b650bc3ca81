//! Paths and their text for the board: `6,7:5.5,6.5:5.5,5.5:4.92,4.92|`.

use std::fmt;

/// How far the motor is sent beyond the end of a path, in hundredths of a square, along each axis of the last leg.
///
/// Measured: all captured paths end so, whatever their length and direction, and so does the castling of another driver
/// that was tried on a board. The piece lags behind the magnet that drags it.
pub const OVERSHOOT: i16 = 8;

/// A point on the board or beside it, in hundredths of a square: a1 is 0,0 and h8 is 700,700.
///
/// Integers, so that equal points have equal text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Point {
    /// To the right from White's side.
    pub x: i16,
    /// Away from White.
    pub y: i16,
}

impl Point {
    /// Hundredths in a square.
    pub const SQUARE: i16 = 100;
}

impl fmt::Display for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{},{}", Decimal(self.x), Decimal(self.y))
    }
}

/// Hundredths as a decimal number without trailing zeros.
struct Decimal(i16);

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.0 < 0 { "-" } else { "" };
        let magnitude = self.0.unsigned_abs();
        let (whole, hundredths) = (magnitude / 100, magnitude % 100);
        match (hundredths / 10, hundredths % 10) {
            (0, 0) => write!(f, "{sign}{whole}"),
            (tenths, 0) => write!(f, "{sign}{whole}.{tenths}"),
            _ => write!(f, "{sign}{whole}.{hundredths:02}"),
        }
    }
}

/// The path along which the motor carries one piece, from the first waypoint to the last. Its
/// [`Display`](fmt::Display) is the text to write to the board.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Path {
    waypoints: Vec<Point>,
}

impl Path {
    /// The path through these points: those that lie straight between their neighbours are dropped, and the last one
    /// is overshot.
    pub fn through(points: impl IntoIterator<Item = Point>) -> Self {
        let mut waypoints: Vec<Point> = Vec::new();
        for point in points {
            if waypoints.last() == Some(&point) {
                continue;
            }
            if let [.., before, last] = waypoints[..]
                && goes_straight_on(before, last, point)
            {
                waypoints.pop();
            }
            waypoints.push(point);
        }
        if let [.., before, last] = &mut waypoints[..] {
            last.x += OVERSHOOT * (last.x - before.x).signum();
            last.y += OVERSHOOT * (last.y - before.y).signum();
        }
        Self { waypoints }
    }

    /// The waypoints as they are sent, the last one with its overshoot.
    pub fn waypoints(&self) -> &[Point] {
        &self.waypoints
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, point) in self.waypoints.iter().enumerate() {
            let separator = if i == 0 { "" } else { ":" };
            write!(f, "{separator}{point}")?;
        }
        f.write_str("|")
    }
}

/// Whether the way from `a` via `b` to `c` has no corner at `b`.
fn goes_straight_on(a: Point, b: Point, c: Point) -> bool {
    let leg = |from: Point, to: Point| {
        (
            i32::from(to.x) - i32::from(from.x),
            i32::from(to.y) - i32::from(from.y),
        )
    };
    let ((ax, ay), (bx, by)) = (leg(a, b), leg(b, c));
    ax * by == ay * bx && ax * bx + ay * by > 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(points: &[(i16, i16)]) -> String {
        Path::through(points.iter().map(|&(x, y)| Point { x, y })).to_string()
    }

    #[test]
    fn numbers_have_no_trailing_zeros() {
        for (hundredths, text) in [
            (0, "0"),
            (700, "7"),
            (550, "5.5"),
            (492, "4.92"),
            (608, "6.08"),
            (-8, "-0.08"),
            (-50, "-0.5"),
            (-100, "-1"),
            (-208, "-2.08"),
        ] {
            assert_eq!(Decimal(hundredths).to_string(), text);
        }
    }

    #[test]
    fn only_the_end_is_overshot_and_only_where_the_last_leg_goes() {
        assert_eq!(text(&[(200, 600), (200, 500)]), "2,6:2,4.92|");
        assert_eq!(text(&[(200, 700), (300, 600)]), "2,7:3.08,5.92|");
        assert_eq!(
            text(&[(500, 500), (600, 500), (700, 400)]),
            "5,5:6,5:7.08,3.92|"
        );
    }

    #[test]
    fn a_point_on_the_way_is_no_waypoint_and_a_turn_back_is_one() {
        assert_eq!(
            text(&[(0, 0), (50, 50), (100, 100), (100, 150), (100, 200)]),
            "0,0:1,1:1,2.08|"
        );
        assert_eq!(text(&[(0, 0), (100, 0), (50, 0)]), "0,0:1,0:0.42,0|");
    }
}
