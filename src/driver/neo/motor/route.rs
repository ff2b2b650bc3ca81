//! Paths around the pieces.
//!
//! The motor follows a lattice of half squares, in the eight directions of the captured paths: how the board handles
//! another slope is unknown. The lines between the squares are half a square away from the pieces, and that is as near
//! as the board's own app passes one: so a carried piece never comes nearer than that to the centre of another.

use std::{cmp::Reverse, collections::BinaryHeap};

use shakmaty::Board;

use super::{
    Spot,
    parking::{LEFTMOST, Parking, RIGHTMOST},
    path::{Path, Point},
};

/// The lattice's rows, from the centre of the first rank to that of the last: a sister board's motor grinds at a waypoint below
/// the first rank.
const ROWS: i8 = 15;

/// The cost of half a square, straight and diagonally: its length. Precise enough for the root of 2 that two different
/// paths on a lattice of this size never count as equal.
const STRAIGHT: u32 = 1000;
/// See [`STRAIGHT`].
const DIAGONAL: u32 = 1414;

/// The directions of travel.
const HEADINGS: [(i8, i8); 8] = [
    (1, 0),
    (-1, 0),
    (0, 1),
    (0, -1),
    (1, 1),
    (1, -1),
    (-1, 1),
    (-1, -1),
];

/// No heading: the start of a path.
const STANDING: usize = HEADINGS.len();

/// Ways of arriving at a node: one for each heading, and one for the start.
const ARRIVALS: usize = STANDING + 1;

/// A point of the lattice, in half squares from a1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Node {
    x: i8,
    y: i8,
}

impl Node {
    fn of(place: Spot) -> Self {
        let (x, y) = place.coordinates();
        Self { x: 2 * x, y: 2 * y }
    }

    fn offset(self, (dx, dy): (i8, i8)) -> Self {
        Self {
            x: self.x + dx,
            y: self.y + dy,
        }
    }

    fn point(self) -> Point {
        Point {
            x: i16::from(self.x) * (Point::SQUARE / 2),
            y: i16::from(self.y) * (Point::SQUARE / 2),
        }
    }
}

/// The cost of a path: the shortest is best, then the one with the fewest corners, then the one passing the fewest
/// pieces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Cost {
    length: u32,
    corners: u32,
    squeezes: u32,
}

/// The obstacles, and how far the motor reaches.
#[derive(Clone, Debug)]
pub(super) struct Field {
    /// One bit for each square or slot, column by column from [`LEFTMOST`].
    occupied: u128,
    /// The leftmost and the rightmost coordinate, in half squares.
    left: i8,
    right: i8,
}

impl Field {
    /// The obstacles on this board.
    pub(super) fn new(board: &Board, parking: &Parking) -> Self {
        let squares = board.occupied().into_iter().map(Spot::Square);
        let places = squares.chain(parking.taken().map(Spot::Slot));
        let (left, right) = parking.reach();
        Self {
            occupied: places.fold(0, |all, place| all | bit(Node::of(place))),
            left: 2 * left,
            right: 2 * right,
        }
    }

    /// The path from `from` to `to`. `None` if something stands there, or around it.
    pub(super) fn route(&self, from: Spot, to: Spot) -> Option<Path> {
        let (from, to) = (Node::of(from), Node::of(to));
        let mut others = self.clone();
        others.occupied &= !bit(from);
        if from == to || others.blocks(from) || others.blocks(to) {
            return None;
        }
        let nodes = others
            .line(from, to)
            .or_else(|| others.leap(from, to))
            .or_else(|| others.search(from, to))?;
        Some(Path::through(nodes.into_iter().map(Node::point)))
    }

    /// The straight line, if it is in one of the eight directions and unobstructed.
    fn line(&self, from: Node, to: Node) -> Option<Vec<Node>> {
        let (dx, dy) = (to.x - from.x, to.y - from.y);
        if dx != 0 && dy != 0 && dx.abs() != dy.abs() {
            return None;
        }
        let heading = (dx.signum(), dy.signum());
        let mut at = from;
        while at != to {
            at = self.step(at, heading)?;
        }
        Some(vec![from, to])
    }

    /// A knight's move, as the board's own app makes it: via an empty neighbouring square, first straight and then
    /// diagonally if that one is empty, else first diagonally; between the pieces if both are occupied.
    fn leap(&self, from: Node, to: Node) -> Option<Vec<Node>> {
        let (dx, dy) = (to.x - from.x, to.y - from.y);
        let (sx, sy) = (dx.signum(), dy.signum());
        let straight = match (dx.abs(), dy.abs()) {
            (4, 2) => (sx, 0),
            (2, 4) => (0, sy),
            _ => return None,
        };
        let twice = |(x, y)| (2 * x, 2 * y);
        for first in [straight, (sx, sy)] {
            let corner = from.offset(twice(first));
            if self.line(from, corner).is_some() && self.line(corner, to).is_some() {
                return Some(vec![from, corner, to]);
            }
        }
        let leave = from.offset((sx, sy));
        let arrive = leave.offset(twice(straight));
        Some(vec![from, leave, arrive, to])
    }

    /// The best path by [`Cost`]: A* over the nodes and the headings at arrival.
    fn search(&self, from: Node, to: Node) -> Option<Vec<Node>> {
        let states = self.index(Node {
            x: self.right,
            y: ROWS - 1,
        }) * ARRIVALS
            + ARRIVALS;
        let mut best: Vec<Option<(Cost, usize)>> = vec![None; states];
        let mut open = BinaryHeap::new();
        let start = self.index(from) * ARRIVALS + STANDING;
        best[start] = Some((Cost::default(), start));
        open.push(Reverse((estimate(Cost::default(), from, to), start)));
        while let Some(Reverse((estimated, state))) = open.pop() {
            let node = self.node(state / ARRIVALS);
            let (cost, _) = best[state]?;
            if node == to {
                return Some(self.trace(&best, state));
            }
            if estimated > estimate(cost, node, to) {
                continue;
            }
            for (heading, &direction) in HEADINGS.iter().enumerate() {
                let Some(next) = self.step(node, direction) else {
                    continue;
                };
                let turns = ![heading, STANDING].contains(&(state % ARRIVALS));
                let diagonal = direction.0 != 0 && direction.1 != 0;
                let cost = Cost {
                    length: cost.length + if diagonal { DIAGONAL } else { STRAIGHT },
                    corners: cost.corners + u32::from(turns),
                    squeezes: cost.squeezes + u32::from(self.squeezes(next)),
                };
                let state_there = self.index(next) * ARRIVALS + heading;
                if best[state_there].is_none_or(|(known, _)| cost < known) {
                    best[state_there] = Some((cost, state));
                    open.push(Reverse((estimate(cost, next, to), state_there)));
                }
            }
        }
        None
    }

    /// The nodes that led to a state.
    fn trace(&self, best: &[Option<(Cost, usize)>], mut state: usize) -> Vec<Node> {
        let mut nodes = vec![self.node(state / ARRIVALS)];
        while let Some((_, before)) = best[state]
            && before != state
        {
            state = before;
            nodes.push(self.node(state / ARRIVALS));
        }
        nodes.reverse();
        nodes
    }

    /// The node half a square in a direction, if the motor reaches it and every piece is at least half a square away.
    fn step(&self, from: Node, direction: (i8, i8)) -> Option<Node> {
        let to = from.offset(direction);
        // A diagonal stays within one quarter of a square, and the centre of that square is too near. The centre has
        // the even coordinates; a straight step meets no centre but at its own ends.
        let passes = Node {
            x: if from.x % 2 == 0 { from.x } else { to.x },
            y: if from.y % 2 == 0 { from.y } else { to.y },
        };
        let blocked = self.blocks(to) || self.blocks(passes);
        (!blocked).then_some(to)
    }

    /// Whether a piece cannot be carried there.
    fn blocks(&self, node: Node) -> bool {
        let within = (self.left..=self.right).contains(&node.x) && (0..ROWS).contains(&node.y);
        !within || self.occupied & bit(node) != 0
    }

    /// Whether a node is exactly half a square away from a piece.
    fn squeezes(&self, node: Node) -> bool {
        let sides = HEADINGS.iter().take(4);
        sides
            .map(|&side| node.offset(side))
            .any(|side| self.occupied & bit(side) != 0)
    }

    /// The index of a node within reach.
    fn index(&self, node: Node) -> usize {
        let column = node.x.abs_diff(self.left);
        usize::from(column) * usize::from(ROWS.unsigned_abs()) + usize::from(node.y.unsigned_abs())
    }

    /// The node at this index.
    fn node(&self, index: usize) -> Node {
        let rows = usize::from(ROWS.unsigned_abs());
        let small = |n: usize| i8::try_from(n).unwrap_or(i8::MAX);
        Node {
            x: self.left.saturating_add(small(index / rows)),
            y: small(index % rows),
        }
    }
}

/// A cost plus a lower bound of the remaining length.
fn estimate(cost: Cost, from: Node, to: Node) -> Cost {
    let dx = u32::from(from.x.abs_diff(to.x));
    let dy = u32::from(from.y.abs_diff(to.y));
    let diagonal = dx.min(dy);
    Cost {
        length: cost.length + DIAGONAL * diagonal + STRAIGHT * (dx.max(dy) - diagonal),
        ..cost
    }
}

/// The bit of the square or slot centred at this node; none if the node is not a centre.
fn bit(node: Node) -> u128 {
    let centre = node.x % 2 == 0 && node.y % 2 == 0;
    let (column, row) = (node.x / 2, node.y / 2);
    if centre && (LEFTMOST..=RIGHTMOST).contains(&column) && (0..8).contains(&row) {
        1 << (column.abs_diff(LEFTMOST) * 8 + row.unsigned_abs())
    } else {
        0
    }
}
