//! The meaning for the game of a move or a take-back that the board reports.

use std::time::Instant;

use shakmaty::{Color, Move, Position};

use super::{Core, deviation::Unplayable};
use crate::{
    board::held_game::{Certainty, Meaning, carried},
    chess::game::{Game, MAX_PLIES, uci},
    driver::{Profile, Step},
    vocabulary::{By, Event, Reported, Words},
};

/// What to do with a move that the board reports: the first of these that applies.
enum Take {
    /// It is the late echo of a shown move: the hand did not make it.
    Echo(Move),
    /// The position that it was made in is unknown. The board is given one when a program has it.
    Unplaced(&'static str),
    /// A game begins with this move, from the start: see [`Core::begins`].
    Begins,
    /// The board is asked for its list, which shows the game in which the move was made.
    Asks,
    /// It is the program's move, and cannot be taken back on such a board.
    Refuses,
    /// The hand made it.
    Plays,
}

impl Core {
    /// The board reports a move.
    pub(super) fn moved(&mut self, now: Instant, reported: Reported) {
        self.turned(now, reported);
        if self.obeys(now, reported) {
            return;
        }
        if self.stands_early(reported) {
            return;
        }
        let plays_on = self.plays_on(now, reported);
        match self.take(reported, plays_on) {
            Take::Echo(m) => {
                self.current_step.begin(Step::Show(m), true);
                self.accepted(now);
            }
            Take::Unplaced(when) => {
                if !self.held.is_known() {
                    self.held.saw(reported);
                }
                let text = format!("a move {when}: {}", Words(reported));
                self.event(Event::Unreadable { text });
                if self.is_free() {
                    self.deviation.mistaken(Some(reported));
                    if !self.claims.has_game() {
                        self.lost();
                    }
                }
            }
            Take::Begins => {
                self.guess_start();
                self.played(now, reported);
            }
            Take::Asks => {
                self.held.saw(reported);
                self.driver.learn(now);
            }
            Take::Refuses => self.refused(now, reported),
            Take::Plays => self.played(now, reported),
        }
    }

    /// A quick hand has put up the position that the board is still being told, and plays on: the move fits there, and not in another
    /// game before. A board that nobody can ask is then told where that has led; one that shows its squares decides. `true` if the move
    /// waits for that.
    fn stands_early(&mut self, reported: Reported) -> bool {
        let promotion = self.claims.promotion();
        let fits = |game: &Game| reported.resolve(game.position(), promotion).is_some();
        let step = self.current_step.step().filter(|_| self.driver.stepping());
        let Some(Step::SetUp(game)) = step.filter(|_| self.driver.profile().keeps_rules()) else {
            return false;
        };
        let held = self.held.game();
        if !fits(game) {
            return false;
        }
        if self.driver.profile().answers() {
            return self.current_step.comes_early(reported);
        }
        if !fits(held) {
            let game = (**game).clone();
            self.has_set_up(game, self.leading.is_new_game());
        } else if **game == *held && !self.is_free() {
            self.held.assure();
        }
        false
    }

    /// Playing on from a position that the player had to set up confirms it. `true` if so.
    fn plays_on(&mut self, now: Instant, reported: Reported) -> bool {
        let promotion = self.claims.promotion();
        let by_hand = self.leading.is_by_hand() && self.driver.profile().tells_moves_only();
        let target = self.claims.target().filter(|_| by_hand);
        let target = target.filter(|target| !self.is_others(target.turn()));
        let can = |target: &Game| reported.resolve(target.position(), promotion).is_some();
        let plays_on = target.is_some_and(can);
        if plays_on {
            self.ready(now);
        }
        plays_on
    }

    /// Whether this side is not the hand's. After the program's last move was shown it is the hand's, whatever the hand played
    /// in an earlier analysis: the hand may be quicker than the `go` that states this.
    fn is_others(&self, turn: Color) -> bool {
        let held = self.held.game();
        let shown = self.held.unconfirmed().is_some() && self.claims.target() == Some(held);
        self.hand.plays().is_some_and(|hand| hand != turn) && !self.claims.awaiting() && !shown
    }

    fn take(&self, reported: Reported, plays_on: bool) -> Take {
        let board = self.driver.profile();
        let moves_only = board.tells_moves_only();
        let held = self.held.game();
        let legal = reported.resolve(held.position(), self.claims.promotion());
        if let Some((plies, m)) = self.current_step.sent()
            && plies == held.len()
            && legal == Some(m)
            && !moves_only
        {
            return Take::Echo(m);
        }
        if self.begins(reported) {
            return Take::Begins;
        }
        let unknown = !self.held.is_known();
        let doubtful = self.held.certainty() != Certainty::Sure && !moves_only;
        let doubtful = doubtful && !self.goes_on_in_doubt(reported, legal.is_some());
        if self.is_blank() || !board.answers() && (unknown || doubtful) {
            return Take::Unplaced(if unknown {
                "before any game"
            } else {
                "while the game is in doubt"
            });
        }
        // A game of which nothing is known yet does not begin with this move.
        if self.held.certainty() == Certainty::Lost || board.answers() && self.held.is_suspect() {
            return Take::Asks;
        }
        let others = moves_only && !plays_on && self.is_others(held.turn());
        if others && legal.is_some_and(|m| !self.is_next(m)) {
            return Take::Refuses;
        }
        Take::Plays
    }

    /// Whether this move continues the game, even though the game is in doubt: no client has the board, or the player goes on with it.
    fn goes_on_in_doubt(&self, reported: Reported, legal: bool) -> bool {
        let unasked = self.is_free()
            && self.held.certainty() == Certainty::Unsure
            && self.held.fits(reported, self.claims.promotion());
        unasked || legal && self.is_trusted()
    }

    /// Whether the player goes on with a game that is in doubt only because the daemon was away, or that the board was about to be told.
    fn is_trusted(&self) -> bool {
        let held = self.held.game();
        let step = self.current_step.step();
        self.held.is_remembered() || matches!(step, Some(Step::SetUp(game)) if **game == *held)
    }

    /// Whether this move begins a game from the start: no client has the board, or it has just been switched on and one awaits the first
    /// move; and it does not fit the known game, which is unknown, in doubt or over, or no piece stands where the move begins.
    fn begins(&self, reported: Reported) -> bool {
        // A board that was just switched on begins a game, also before it was told of the one that a client begins.
        let opens = self.driver.profile() == Profile::Unlisted
            && !self.held.is_known()
            && self.held.may_begin_with(reported)
            && self.claims.awaiting()
            && self.claims.target() == Some(&Game::standard());
        if !(self.is_free() || opens) || !self.driver.profile().reports_moves() {
            return false;
        }
        let promotion = self.claims.promotion();
        let start = Game::standard();
        if reported.resolve(start.position(), promotion).is_none() {
            return false;
        }
        let position = self.held.game().position();
        let in_doubt = self.held.certainty() != Certainty::Sure && !self.claims.has_game();
        let is_open = in_doubt
            || position.is_game_over()
            || self.held.game().len() >= MAX_PLIES
            || carried(position.board().clone(), reported, position.turn()).is_none();
        // After the sign of the kings the pieces were put up again, however the move would fit.
        let is_ended = self.verdict.kings_are_up();
        !self.held.is_known() || is_ended || is_open && !self.held.fits(reported, promotion)
    }

    /// Assumes that the pieces stood at the start, on a board of whose game nothing is known.
    pub(super) fn guess_start(&mut self) {
        let begun = !self.held.game().is_empty();
        self.held.guess();
        self.taken_back_to(0);
        self.deviation.mended();
        self.published.changed();
        if begun {
            self.event(Event::NewGame { by: By::Hand });
        }
    }

    /// Whether this is exactly the move to be shown next: a hand that knows it may be quicker.
    fn is_next(&self, m: Move) -> bool {
        let held = self.held.game();
        let target = self.claims.target().filter(|target| target.continues(held));
        target.is_some_and(|target| target.moves().get(held.len()) == Some(&m))
    }

    /// The hand made this move, legal or not.
    fn played(&mut self, now: Instant, reported: Reported) {
        let board = self.driver.profile();
        let before = self.held.clone();
        // The picture already asked for will show whether the game began where the list assumes.
        let unproved = board.answers() && self.held.is_unproved() && self.driver.is_asked();
        // On a board that cannot be asked, a move that fits does not prove that none was missed.
        let doubtful = !board.answers() && self.held.certainty() == Certainty::Unsure;
        let remembered = self.is_trusted() && !self.is_free();
        let meaning = self.held.hand_moved(reported, self.claims.promotion());
        if unproved {
            self.held.disprove();
        }
        if doubtful {
            self.held.doubt_again(remembered);
        }
        if board.tells_moves_only() && matches!(meaning, Meaning::Wrong | Meaning::Unexplained) {
            self.held = before;
            self.refused(now, reported);
        } else {
            self.meant(now, Some(reported), meaning);
        }
    }

    /// A board that reports moves only has reported one that cannot be played: the game stays as it is.
    fn refused(&mut self, now: Instant, reported: Reported) {
        self.published.changed();
        let position = self.held.game().position();
        let unplayable = self.deviation.unplayable(reported, position);
        if unplayable == Unplayable::Mends {
            self.event(Event::Mended);
            return;
        }
        self.waits.after_hand(now, self.patience());
        if unplayable == Unplayable::Undoes || self.ends_by_kings(now) {
            return;
        }
        if !self.deviation.is_to_be_told() || unplayable == Unplayable::Again {
            return;
        }
        let text = self.advice().to_string();
        self.event(Event::Mistake { text });
    }

    /// Acts on the meaning of a report.
    pub(super) fn meant(&mut self, now: Instant, reported: Option<Reported>, meaning: Meaning) {
        self.published.changed();
        self.waits.after_hand(now, self.patience());
        if matches!(meaning, Meaning::Played(_) | Meaning::TookBack(_)) {
            self.current_step.outrun();
        }
        match meaning {
            Meaning::Played(m) => self.hand_played(now, m),
            Meaning::Executed(m) => self.hand_executed(now, m),
            Meaning::Mended => self.hand_mended(now),
            Meaning::Repeated => {
                let held = self.held.game();
                let mover = held.turn().other();
                let is_last = |m| reported.is_some_and(|made| made.names(m, mover));
                if held.last().is_some_and(is_last) {
                    self.hand.repeated();
                }
                self.confirm(now);
            }
            Meaning::TookBack(moves) => self.hand_took_back(now, moves),
            Meaning::Wrong => self.hand_erred(now, reported),
            Meaning::Unexplained => {
                self.hand_erred(now, reported);
                self.held.doubt();
            }
        }
    }

    fn hand_played(&mut self, now: Instant, m: Move) {
        let ply = self.held.game().len();
        self.deviation.played();
        self.leading.set_up();
        self.verdict.goes_on();
        let step = self.current_step.followed_step().cloned();
        self.confirm(now);
        match step {
            // The board will be told of this move too.
            Some(Step::SetUp(game)) if self.has_played_on(&game) => {}
            // The board is on its way to another position, and forgets this move.
            Some(step @ (Step::NewGame(_) | Step::SetUp(_))) => self.ask_hand(&step),
            _ => {}
        }
        let target = self.claims.target().filter(|_| self.leading.leads());
        if target.is_some_and(|target| self.is_answer_to(target)) {
            // The new game that was announced is under way.
            self.leading.begun();
        }
        let took = self.move_times.played(now, ply - 1);
        self.event(Event::Moved {
            uci: uci(m),
            ply,
            by: By::Hand,
            took,
        });
        // The hand may simply have put back what it took back.
        self.front_ends_know();
    }

    fn hand_executed(&mut self, now: Instant, m: Move) {
        self.deviation.corrected();
        // The hand has nothing left to mend.
        self.waits.at_once();
        self.confirm(now);
        self.event(Event::Executed { uci: uci(m) });
    }

    fn hand_mended(&mut self, now: Instant) {
        self.deviation.corrected();
        if self.held.unconfirmed().is_none() {
            self.confirm(now);
        }
        self.event(Event::Mended);
    }

    fn hand_took_back(&mut self, now: Instant, moves: Vec<Move>) {
        self.deviation.corrected();
        self.verdict.goes_on();
        self.hand.took_back();
        self.confirm(now);
        let mut ply = self.held.game().len() + moves.len();
        for m in moves {
            self.event(Event::TookBack {
                uci: uci(m),
                ply,
                by: By::Hand,
            });
            ply -= 1;
        }
        if self.held.game().is_empty() {
            self.drop_absent();
        }
    }

    /// The hand made a move that cannot be played, or one that cannot be explained.
    fn hand_erred(&mut self, now: Instant, reported: Option<Reported>) {
        if self.driver.profile().answers() {
            // The board judges moves itself: something was missed, and it can be asked.
            self.held.doubt();
            self.driver.learn(now);
            return;
        }
        self.deviation.mistaken(reported);
        if !self.ends_by_kings(now) {
            let text = self.advice().to_string();
            self.event(Event::Mistake { text });
        }
    }
}
