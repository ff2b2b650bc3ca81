//! The smallest step from the game a board holds to the target.
//!
//! GUI take-backs, resumed games, a position that jumps ahead, a daemon restart, a board that was unplugged for an
//! hour: all are the same question, answered here.

use super::held_game::{Certainty, Held};
use crate::{
    chess::game::{Game, is_chess960_castling},
    driver::{Profile, Step},
    vocabulary::Beginning,
};

/// What to do next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Plan {
    /// The board has the target; what the hand has played beyond it is the awaited answer.
    There,
    /// One step; afterwards ask again.
    Do(Step),
    /// This board cannot be led there: the player has to set the position up and confirm it.
    ByHand,
}

/// The circumstances of a plan.
#[derive(Clone, Copy, Debug, Default)]
pub struct Circumstances {
    /// The moves on the board after the target were made by the hand and are news to every front-end: the awaited answer.
    pub answered: bool,
    /// A new game was announced: do not take the old one back move by move.
    pub new_game: bool,
    /// The board has refused a set-up before.
    pub set_up_refused: bool,
    /// The pieces stand as in the target after this many plies: setting that up needs no hand.
    pub stands: Option<usize>,
    /// The pieces are on their starting squares, but the board has to be told that this game begins.
    pub afresh: bool,
    /// The board is at the start, but the target continues a game that it held before: the position must be set up.
    pub forgotten: bool,
    /// The target's next move was sent to the board before the link was lost, and may have been made there.
    pub sent: bool,
    /// What the board senses that the start position and the target's would cost, if it does ([`set_up_cost`]).
    ///
    /// [`set_up_cost`]: crate::driver::Driver::set_up_cost
    pub sensed_costs: Option<(usize, usize)>,
    /// The opponent and the hand's colour in the target's game, if it begins from the start.
    pub beginning: Beginning,
}

/// A game that is announced with no more plies begins at the start, on a board that sees its pieces: the program's first move, or that
/// after one from a book.
const OPENING: usize = 3;

/// The next step from `held` toward `target`.
pub fn plan(held: &Held, target: &Game, board: Profile, given: Circumstances) -> Plan {
    if let Some(plies) = given.stands {
        return Plan::Do(if plies == 0 && target.is_standard() {
            Step::NewGame(given.beginning)
        } else {
            Step::SetUp(Box::new(target.truncated(plies)))
        });
    }
    let game = held.game();
    // A board that reports moves only does not say whether it received a new game, so it is told of every one.
    let restart = given.new_game && board.tells_moves_only() && target.is_standard();
    let known = held.certainty() == Certainty::Sure && !held.is_misplaced();
    let known = known && !given.afresh && !restart;
    let (new_game_cost, set_up_cost) = match given.sensed_costs {
        Some((new_game, set_up)) => (new_game, Some(set_up)),
        None => (board.new_game_cost(), board.set_up_cost()),
    };
    // Who begins a new game puts the pieces at the start, not where the first move leads. A board that does not see that is told either
    // way.
    let opens = given.new_game && target.is_standard() && target.len() <= OPENING;
    let unnatural = |cost: &usize| opens && given.sensed_costs.is_some() && *cost > 0;
    let set_up = set_up_cost.filter(|cost| !given.set_up_refused && !unnatural(cost));
    let mut ways: Vec<(usize, Step)> = Vec::with_capacity(3);
    if let Some(common) = game.common_plies(target).filter(|_| known) {
        let back = game.len() - common;
        let forward = target.len() - common;
        if forward == 0 && (back == 0 || given.answered) {
            return Plan::There;
        }
        if given.forgotten {
            // No move is shown or taken back.
        } else if let Some(last) = game.last().filter(|_| back > 0) {
            // A board takes back only moves of its own record, which begins at its last set-up.
            if board.takes_back()
                && !given.new_game
                && (common >= held.base() || !board.keeps_record())
            {
                ways.push((back + forward, Step::TakeBack(last)));
            }
        } else if let Some(&next) = target.moves().get(common)
            && (board.castles_anyhow() || !is_chess960_castling(next))
        {
            ways.push((forward, Step::Show(next)));
        }
    }
    // An interrupted game is not begun again, even if it is uncertain what the board holds of it.
    let begun = |common| common > 0 || given.sent;
    let has_begun = given.forgotten || game.common_plies(target).is_some_and(begun);
    let interrupted = !given.new_game && has_begun;
    if target.is_standard() && (target.is_empty() || !interrupted) {
        ways.push((new_game_cost + target.len(), Step::NewGame(given.beginning)));
    }
    if let Some(cost) = set_up {
        // Where the board does not follow the pieces, the double step is shown after it.
        let position = if board.senses() {
            target.clone()
        } else {
            target.without_en_passant()
        };
        ways.push((cost, Step::SetUp(Box::new(position))));
    }
    // The first of equals: a move before a new game, a new game before a set-up.
    match ways.into_iter().min_by_key(|(cost, _)| *cost) {
        Some((_, step)) => Plan::Do(step),
        None => Plan::ByHand,
    }
}

#[cfg(test)]
mod tests {
    use shakmaty::Color;

    use super::*;
    use crate::vocabulary::Opponent;

    const CITRINE: Profile = Profile::Listed;
    const UCB: Profile = Profile::Unlisted;

    const BEGIN: Plan = Plan::Do(Step::NewGame(Beginning {
        opponent: Opponent::Engine,
        hand: Some(Color::White),
    }));

    fn game(moves: &str) -> Game {
        let mut game = Game::standard();
        game.play_uci(moves.split_whitespace()).unwrap();
        game
    }

    fn held(moves: &str) -> Held {
        let mut held = Held::default();
        held.replace(Game::standard());
        held.adopt(game(moves));
        held.told(usize::MAX);
        held
    }

    fn next(held: &Held, target: &str, board: Profile) -> Plan {
        let target = game(target);
        let given = Circumstances {
            answered: held.by_hand_from() <= target.len(),
            ..Circumstances::default()
        };
        plan(held, &target, board, given)
    }

    #[test]
    fn the_opponents_move_is_shown() {
        let Plan::Do(Step::Show(m)) = next(&held("e2e4"), "e2e4 e7e5", UCB) else {
            panic!("not shown");
        };
        assert_eq!(crate::chess::game::uci(m).to_string(), "e7e5");
    }

    #[test]
    fn a_take_back_is_a_take_back_where_the_board_can_and_a_position_where_it_cannot() {
        let held = held("e2e4 e7e5");
        assert!(matches!(
            next(&held, "e2e4", CITRINE),
            Plan::Do(Step::TakeBack(_))
        ));
        assert_eq!(
            next(&held, "e2e4", UCB),
            Plan::Do(Step::SetUp(Box::new(game("e2e4"))))
        );
        assert_eq!(next(&held, "", UCB), BEGIN);
    }

    #[test]
    fn nothing_before_a_set_up_is_taken_back() {
        let mut held = Held::default();
        held.replace(game("e2e4 e7e5"));
        assert!(matches!(
            next(&held, "e2e4", CITRINE),
            Plan::Do(Step::NewGame(_) | Step::SetUp(_))
        ));
    }

    #[test]
    fn a_far_jump_is_set_up_and_a_near_one_is_shown() {
        let far = "e2e4 e7e5 g1f3 b8c6 f1b5 a7a6 b5a4 g8f6";
        assert!(matches!(
            next(&held(""), far, UCB),
            Plan::Do(Step::SetUp(_))
        ));
        assert!(matches!(
            next(&held(""), far, CITRINE),
            Plan::Do(Step::Show(_))
        ));
    }

    #[test]
    fn a_new_game_is_begun_and_an_interrupted_one_is_set_up() {
        let unknown = Held::default();
        assert_eq!(next(&unknown, "e2e4", UCB), BEGIN);
        let set_up = Plan::Do(Step::SetUp(Box::new(game("e2e4"))));
        let mut interrupted = held("e2e4");
        interrupted.doubt();
        assert_eq!(next(&interrupted, "e2e4", UCB), set_up);
        // Its first move may stand on the board already.
        let mut interrupted = held("");
        interrupted.doubt();
        let sent = Circumstances {
            sent: true,
            ..Circumstances::default()
        };
        assert_eq!(plan(&interrupted, &game("e2e4"), UCB, sent), set_up);
    }

    #[test]
    fn a_set_up_leaves_the_en_passant_right_to_a_shown_move() {
        let target = "e2e4 a7a6 e4e5 a6a5 g1f3 h7h6 f3g1 d7d5";
        let Plan::Do(Step::SetUp(before)) = next(&held(""), target, UCB) else {
            panic!("not set up");
        };
        assert_eq!(before.len(), 7);
    }

    #[test]
    fn what_the_hand_played_beyond_the_target_may_stay_until_it_is_told() {
        let mut held = held("e2e4");
        assert!(matches!(
            next(&held, "", CITRINE),
            Plan::Do(Step::TakeBack(_))
        ));
        held.taken_back();
        let reported =
            crate::vocabulary::Reported::squares(shakmaty::Square::E2, shakmaty::Square::E4, None);
        held.hand_moved(reported, shakmaty::Role::Queen);
        assert_eq!(next(&held, "", CITRINE), Plan::There);
        held.told(1);
        assert!(matches!(
            next(&held, "", CITRINE),
            Plan::Do(Step::TakeBack(_))
        ));
    }

    #[test]
    fn a_board_that_must_be_told_of_a_game_is_told_though_it_stands_at_its_start() {
        let given = Circumstances {
            afresh: true,
            ..Circumstances::default()
        };
        for target in ["", "e2e4"] {
            assert_eq!(plan(&held(""), &game(target), UCB, given), BEGIN);
        }
    }

    #[test]
    fn a_new_game_is_not_reached_by_taking_back_the_old_one() {
        let given = Circumstances {
            new_game: true,
            ..Circumstances::default()
        };
        assert_eq!(plan(&held("e2e4"), &game(""), CITRINE, given), BEGIN);
    }

    #[test]
    fn a_new_game_begins_at_the_start_whatever_it_costs_to_set_up_its_first_move() {
        let given = |costs| Circumstances {
            new_game: true,
            sensed_costs: Some(costs),
            ..Circumstances::default()
        };
        let pieces = Profile::Pieces { motor: false };
        let held = held("d2d4 d7d5");
        let begins = plan(&held, &game("e2e4"), pieces, given((20, 20)));
        assert_eq!(begins, BEGIN);
        // Unless the pieces stand there.
        let stands = plan(&held, &game("e2e4"), pieces, given((3, 0)));
        assert!(matches!(stands, Plan::Do(Step::SetUp(_))));
    }
}
