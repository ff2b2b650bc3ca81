//! Cycles: pieces that all wait for each other, so that none can be carried first.

use shakmaty::{Bitboard, Square};

use super::{
    assignment::Assignment,
    carry_length::{Way, way},
};

/// Work that may be spent on a shorter distance where cycles have to be opened, in assignments of one piece. Assigning
/// n pieces costs n²: 128 of the eight pieces that a hand may disturb, some 0.1 ms.
const MAX_WORK: usize = 8192;

/// The best assignment without cycles: as many carries as possible, with the shortest distance found.
pub(super) fn without_cycles(assignment: Assignment<'_>) -> Assignment<'_> {
    if assignment.cycles().is_empty() {
        return assignment;
    }
    let mut best = assignment.clone();
    best.break_cycles();
    let pieces = assignment.surplus.count();
    let mut tries = MAX_WORK / (pieces * pieces).max(1);
    improve(&assignment, &mut best, &mut tries);
    best
}

/// Branch and bound: of each cycle at least one carry is not made. Excluding a carry never raises the value of the
/// rest, so a branch with no more value than the best known one can be skipped.
fn improve<'a>(assignment: &Assignment<'a>, best: &mut Assignment<'a>, tries: &mut usize) {
    if assignment.total() <= best.total() {
        return;
    }
    let shortest = assignment.cycles().into_iter().min_by_key(|c| c.count());
    let Some(cycle) = shortest else {
        best.clone_from(assignment);
        return;
    };
    for carry in carries(assignment, cycle) {
        if *tries == 0 {
            return;
        }
        *tries -= 1;
        improve(&assignment.without(carry), best, tries);
    }
}

impl Assignment<'_> {
    /// Makes trails of all cycles, in which every piece waits for another one.
    ///
    /// If a piece of the cycle can exchange its target with one of its kind elsewhere, that costs only distance. If
    /// none can, an unknown piece that is left over replaces one; otherwise one is put aside.
    fn break_cycles(&mut self) {
        let mut cycles = self.cycles();
        while let Some(exchange) = self.best_exchange(&cycles) {
            self.make(exchange);
            cycles = self.cycles();
        }
        for cycle in cycles {
            let idle = |square: &Square| self.goal(*square).is_none();
            let left_over: Vec<Square> = self.unknown.into_iter().filter(idle).collect();
            let instead = carries(self, cycle)
                .flat_map(|carry| left_over.iter().map(move |other| (*other, carry)))
                .min_by_key(|(other, (from, to))| way(*other, *to) - way(*from, *to));
            if let Some((other, (from, to))) = instead {
                self.send(from, None);
                self.send(other, Some(to));
            } else if let Some((from, _)) = carries(self, cycle).max_by_key(|(f, t)| way(*f, *t)) {
                self.send(from, None);
            }
        }
    }

    /// The squares of each cycle.
    fn cycles(&self) -> Vec<Bitboard> {
        let mut left = self.surplus & self.reached;
        let mut cycles = Vec::new();
        while let Some(first) = left.first() {
            let mut passed = Bitboard::EMPTY;
            let mut square = Some(first);
            while let Some(next) = square.filter(|square| left.contains(*square)) {
                left.discard(next);
                passed.add(next);
                square = self.goal(next);
            }
            // A path into squares already visited, but not back to its beginning, is a trail.
            if square == Some(first) {
                cycles.push(passed);
            }
        }
        cycles
    }

    /// The exchange that opens a cycle, or joins two, with the least added distance.
    fn best_exchange(&self, cycles: &[Bitboard]) -> Option<Exchange> {
        let mut best: Option<(Way, Exchange)> = None;
        for &cycle in cycles {
            for (from, to) in carries(self, cycle) {
                let Some(kind) = self.stands_on(from) else {
                    continue;
                };
                let theirs = self.wanted.by_piece(kind) & self.missing;
                let same = self.surplus_of(kind).without(cycle);
                let with_piece =
                    (same | self.unknown.without(cycle))
                        .into_iter()
                        .filter_map(|other| {
                            let goal = self.goal(other);
                            // An unknown piece helps here only if it stands for this kind.
                            let fits =
                                same.contains(other) || goal.is_some_and(|to| theirs.contains(to));
                            let before = goal.map_or(0, |goal| way(other, goal));
                            let after = goal.map_or(0, |goal| way(from, goal)) + way(other, to);
                            fits.then_some((after - before, Some(other), goal))
                        });
                let free = theirs.without(self.reached).into_iter();
                let with_square = free.map(|goal| (way(from, goal), None, Some(goal)));
                for (added, other, goal) in with_piece.chain(with_square) {
                    let added = added - way(from, to);
                    if best.is_none_or(|(least, _)| added < least) {
                        best = Some((
                            added,
                            Exchange {
                                from,
                                to,
                                other,
                                goal,
                            },
                        ));
                    }
                }
            }
        }
        best.map(|(_, exchange)| exchange)
    }

    fn make(&mut self, exchange: Exchange) {
        let Exchange {
            from,
            to,
            other,
            goal,
        } = exchange;
        self.send(from, None);
        if let Some(other) = other {
            self.send(other, None);
            self.send(other, Some(to));
        }
        self.send(from, goal);
    }
}

/// A piece of a cycle gives its target to another piece, or to none, and takes that one's target, or a free one, or
/// none.
#[derive(Clone, Copy)]
struct Exchange {
    from: Square,
    to: Square,
    other: Option<Square>,
    goal: Option<Square>,
}

/// The carries from these squares.
fn carries<'a>(
    assignment: &'a Assignment<'_>,
    squares: Bitboard,
) -> impl Iterator<Item = (Square, Square)> + use<'a> {
    let carry = |from| assignment.goal(from).map(|to| (from, to));
    squares.into_iter().filter_map(carry)
}
