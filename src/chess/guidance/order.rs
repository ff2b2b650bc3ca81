//! Orders the actions.

use shakmaty::Square;

use super::{action::Action, assignment::Assignment};

/// The actions, in an order in which every square is free when it is needed.
///
/// The carries make trails: each square's piece goes to the square before it, from which the piece has gone. So each
/// trail is done from its far end, whose square is free or whose piece leaves the board. Trails that only free squares
/// come first; those that end with a piece from beside the board come last. A trail keeps its place while it is being
/// done.
pub(super) fn actions(assignment: &Assignment<'_>) -> Vec<Action> {
    let beginnings = assignment.unreached();
    let mut actions = Vec::with_capacity(beginnings.count() + assignment.surplus.count());
    let fetched = assignment.fetched();
    for some in [beginnings.without(fetched), fetched] {
        for beginning in some {
            trail(assignment, beginning, &mut actions);
        }
    }
    actions
}

/// The actions of the trail that begins here.
fn trail(assignment: &Assignment<'_>, beginning: Square, actions: &mut Vec<Action>) {
    let first = actions.len();
    if assignment.fetched().contains(beginning) {
        actions.push(Action {
            piece: assignment.wanted_on(beginning),
            from: None,
            to: Some(beginning),
        });
    }
    let mut square = Some(beginning);
    while let Some(from) = square.filter(|square| assignment.surplus.contains(*square)) {
        square = assignment.goal(from);
        actions.push(Action {
            piece: assignment.stands_on(from),
            from: Some(from),
            to: square,
        });
    }
    actions[first..].reverse();
}
