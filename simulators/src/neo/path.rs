//! A path for the motor: `x,y:x,y|` (document, characteristic f9664d70).

use super::Spot;

/// The last waypoint is at most this far from its centre (captured: 0.08 on an axis).
pub const OVERSHOOT: f64 = 0.1;
/// The tolerance for the first waypoint, exact in all captured paths; for rounding.
const EXACT: f64 = 0.01;
/// Longer paths than this were never seen, and no move needs one.
const MAX_WAYPOINTS: usize = 64;
/// How far the motor reaches to the sides: the outermost parking columns.
const REACH: (f64, f64) = (-2.0, 9.0);

/// A path that can be driven.
#[derive(Clone, Debug, PartialEq)]
pub struct Path {
    /// Where the piece is taken.
    pub from: Spot,
    /// Where it is left.
    pub to: Spot,
    /// As written.
    pub waypoints: Vec<(f64, f64)>,
}

impl Path {
    /// Reads a path.
    ///
    /// # Errors
    /// A description of the error.
    pub fn parse(text: &str) -> Result<Self, String> {
        let body = text
            .strip_suffix('|')
            .ok_or_else(|| format!("a path that does not end: {text}"))?;
        let waypoints: Vec<(f64, f64)> = body
            .split(':')
            .map(point)
            .collect::<Option<_>>()
            .ok_or_else(|| format!("not a path: {text}"))?;
        let (Some(&first), Some(&last)) = (waypoints.first(), waypoints.last()) else {
            return Err(format!("an empty path: {text}"));
        };
        if !(2..=MAX_WAYPOINTS).contains(&waypoints.len()) {
            return Err(format!("a path of {} points: {text}", waypoints.len()));
        }
        let from = Spot::near(first.0, first.1, EXACT)
            .ok_or_else(|| format!("a path that begins nowhere: {text}"))?;
        let to = Spot::near(last.0, last.1, OVERSHOOT)
            .ok_or_else(|| format!("a path that ends nowhere: {text}"))?;
        let grinds = waypoints[..waypoints.len() - 1]
            .iter()
            .any(|&(x, y)| !(0.0..=7.0).contains(&y) || !(REACH.0..=REACH.1).contains(&x));
        if grinds {
            return Err(format!("a path that leaves the motor's reach: {text}"));
        }
        Ok(Self {
            from,
            to,
            waypoints,
        })
    }

    /// Its length in squares.
    pub fn length(&self) -> f64 {
        self.waypoints
            .windows(2)
            .map(|pair| (pair[1].0 - pair[0].0).hypot(pair[1].1 - pair[0].1))
            .sum()
    }

    /// Its smallest distance to a point.
    pub fn distance(&self, point: (f64, f64)) -> f64 {
        self.waypoints
            .windows(2)
            .map(|pair| segment_distance(pair[0], pair[1], point))
            .fold(f64::INFINITY, f64::min)
    }
}

fn point(text: &str) -> Option<(f64, f64)> {
    let (x, y) = text.split_once(',')?;
    Some((number(x)?, number(y)?))
}

/// Plain decimals, as in all captured paths.
fn number(text: &str) -> Option<f64> {
    let plain = |byte: u8| byte.is_ascii_digit() || byte == b'.' || byte == b'-';
    if text.is_empty() || text.len() > 8 || !text.bytes().all(plain) {
        return None;
    }
    text.parse().ok()
}

/// The distance of a point from a segment.
pub(super) fn segment_distance(a: (f64, f64), b: (f64, f64), point: (f64, f64)) -> f64 {
    let (dx, dy) = (b.0 - a.0, b.1 - a.1);
    let square = dx * dx + dy * dy;
    let along = if square > 0.0 {
        (((point.0 - a.0) * dx + (point.1 - a.1) * dy) / square).clamp(0.0, 1.0)
    } else {
        0.0
    };
    (point.0 - a.0 - along * dx).hypot(point.1 - a.1 - along * dy)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documents_knight_goes_from_g8_to_f6() {
        let path = Path::parse("6,7:5.5,6.5:5.5,5.5:4.92,4.92|").unwrap();
        assert_eq!(
            (path.from.to_string(), path.to.to_string()),
            ("g8".to_owned(), "f6".to_owned())
        );
        assert!((path.distance((6.0, 6.0)) - 0.5).abs() < 1e-9);
    }

    #[test]
    fn what_no_motor_can_drive_is_no_path() {
        for text in [
            "2,6:2,4.92",
            "2,6|",
            "|",
            "",
            "2,6:2,4.8|",
            "2,6.08:2,4.92|",
            "7,0:7,-0.5:5,-0.08|",
            "0,6:0,7.5:8,7|",
            "0,0:10,0|",
            "0,0:1e1,0|",
            "0,0:nan,0|",
            "0,0:0,1|0,1:0,2|",
        ] {
            assert!(Path::parse(text).is_err(), "{text}");
        }
        assert!(Path::parse("7,0:6.5,0.5:5.5,0.5:4.92,-0.08|").is_ok());
        assert!(Path::parse("3,3:3.5,2.5:8.08,2.92|").is_ok());
    }
}
