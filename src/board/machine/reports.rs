//! What the driver has to say, and what it means for the game.

use std::time::{Duration, Instant};

use shakmaty::{Board, Color, Move, Position};

use super::{Machine, answer_to, deviation::Unplayable, errand::Following};
use crate::{
    board::{
        advice::{Advice, Words},
        held::{Certainty, Held, List, Listed, Meaning},
        occasion::Judge,
    },
    bus::{By, Event},
    driver::{DriverEvent, Reported, Step, StepFailure},
    game::{Game, uci},
};

impl Machine {
    pub(super) fn driver_event(&mut self, now: Instant, event: DriverEvent) {
        match event {
            DriverEvent::Answers { id } => {
                if self.contact.answers(id.clone()) {
                    self.event(Event::Answers { id });
                }
            }
            DriverEvent::Unheard => {
                self.contact.unheard();
                self.event(Event::Unheard);
            }
            DriverEvent::Silent => {
                self.held.doubt();
                if self.contact.silent() {
                    self.event(Event::Silent);
                }
            }
            DriverEvent::Stranger(kind) => {
                if self.contact.stranger(kind) {
                    self.event(Event::Stranger { kind });
                }
            }
            DriverEvent::Restarted => {
                self.held.doubt();
                self.errand.unask();
                self.pace.restarted(now);
                self.event(Event::Restarted);
            }
            DriverEvent::AsksPosition => self.tell_position(now),
            DriverEvent::Moved(reported) => self.moved(now, reported),
            DriverEvent::TookBack(reported) => {
                let meaning = self.held.hand_took_back(reported);
                self.meant(now, reported, meaning);
            }
            DriverEvent::NewGame => {
                self.pace.takes_set_ups();
                let before = self.held.game().clone();
                self.held.replace(Game::standard());
                self.verdict.goes_on();
                self.deviation.corrected();
                self.hand.put_to_start();
                self.confirm(now);
                self.went_to_start(before);
                self.pace.after_hand(now, Duration::ZERO);
                // Pieces put back after a game are the next game's start; while somebody waits for a move they
                // are a mistake.
                self.course
                    .lead(self.course.leads() && self.claims.awaiting());
                self.event(Event::NewGame { by: By::Hand });
            }
            // Of a shown move it says nothing: the player may only want the program to go on.
            DriverEvent::Ready if self.errand.following().is_some() => {
                self.confirm(now);
                self.told.changed();
            }
            DriverEvent::Ready => {}
            DriverEvent::Accepted => self.accepted(now),
            DriverEvent::Failed(failure) => self.failed(now, failure),
            DriverEvent::Listed {
                skipped,
                moves,
                full,
            } => {
                let held = self.held.game().clone();
                let before = held.len();
                let targets: Vec<&Game> = self.claims.target().into_iter().collect();
                let list = List {
                    skipped,
                    moves: &moves,
                    full,
                };
                self.listed = self.held.learn(list, &targets);
                if self.listed != Listed::Followed {
                    self.driver.look(now);
                }
                self.learned(before);
                if self.held.game().is_empty() && self.held.game().is_standard() {
                    self.went_to_start(held);
                }
            }
            DriverEvent::Placed { board, turn } => self.placed(now, &board, turn),
            DriverEvent::NoList if self.is_blank() => {
                self.held.lose();
                self.told.changed();
            }
            DriverEvent::NoList => {
                // A board that cannot tell is believed to hold what we know.
                self.held.assure();
                self.learned(self.held.game().len());
                if self.verdict.kings_are_up()
                    && self.driver.stands_as(self.held.game().position().board())
                {
                    self.verdict.kings_down();
                }
            }
            DriverEvent::ListUnreadable => {
                self.listed = Listed::NotFollowed;
                self.driver.look(now);
            }
            DriverEvent::NoPicture => {
                if self.listed == Listed::NotFollowed {
                    self.held.lose();
                } else {
                    self.held.assure();
                }
                self.told.changed();
            }
            DriverEvent::Ended(result) => {
                self.verdict.board_says(result);
                self.event(Event::Result { result });
                self.over(result.end(self.held.game().turn()), Judge::Board);
            }
            DriverEvent::Adrift => {
                self.held.lose();
                self.told.changed();
            }
            DriverEvent::Misplaced(misplaced) => {
                let before = self.advice();
                self.deviation.sees(misplaced);
                if self.errand.following().is_none() && !self.ends_by_kings(now) {
                    let advice = self.advice();
                    // Told once: what is wrong, and what is left of it, is in the guidance.
                    if !matches!(before, Advice::Misplaced(_)) {
                        let text = advice.to_string();
                        self.event(Event::Mistake { text });
                    }
                }
                self.told.changed();
            }
            DriverEvent::Stands => {
                if self.deviation.stands() {
                    self.event(Event::Mended);
                }
            }
            DriverEvent::Battery(percent) => {
                if self.contact.charged(percent) {
                    self.event(Event::Battery { percent });
                }
            }
            DriverEvent::Unreadable(text) => {
                self.contact.unreadable();
                self.event(Event::Unreadable { text });
            }
        }
    }

    /// The board showed its squares: after a set-up, or because its list alone did not tell the game.
    fn placed(&mut self, now: Instant, board: &Board, turn: Option<Color>) {
        if let Some(Step::SetUp(game)) = self.errand.step() {
            let mut given = Held::default();
            given.replace((**game).clone());
            // A board whose pieces stand as before, or at the start, may not have heard of it, even where the hand's next move
            // brings them there.
            let same = |game: &Game| game.position().board() == board;
            let is_as_before = (same(self.held.game()) || same(&Game::standard())) && !same(game);
            // The hand may have moved already.
            if !is_as_before && given.see(board, turn, &[]) {
                let plies = game.len();
                self.accepted(now);
                let played = given.game().moves().get(plies).copied();
                if let Some(m) = played {
                    self.moved(now, Reported::of(m));
                }
            } else {
                self.failed(now, StepFailure::Refused);
            }
            return;
        }
        let before = self.held.game().len();
        let targets: Vec<&Game> = self.claims.target().into_iter().collect();
        if self.held.see(board, turn, &targets) {
            self.learned(before);
            self.claims
                .stepped(self.held.game(), self.held.fresh_from());
        } else {
            self.held.lose();
            self.told.changed();
        }
    }

    /// The game was learned from the board; what it has beyond `before` plies is news.
    fn learned(&mut self, before: usize) {
        self.told.changed();
        if self.held.game().len() != before {
            self.verdict.doubt();
        }
        self.deviation.mended();
        self.front_ends_know();
        let news = self.held.game().moves().get(before).copied();
        if let Some(sent) = self.errand.take_sent()
            && news.map(|m| (before, m)) == Some(sent)
        {
            // It reached the board: no hand made it.
            self.held.known_to_front_ends(before + 1);
            self.claims.stepped(self.held.game(), before + 1);
        }
        if self.held.game().len() > before {
            // Played unseen, perhaps before the new game was announced.
            self.forget_old_game();
        }
        // It may have taken the place of a move that clients knew.
        self.claims.taken_back_to(self.held.fresh_from());
        let game = self.held.game();
        // What the target has was shown: its echo was lost. The rest is the hand's.
        let shown = self
            .claims
            .target()
            .and_then(|target| target.common_plies(game))
            .unwrap_or(0);
        let news: Vec<_> = game.uci_moves().enumerate().skip(before).collect();
        for (index, uci) in news {
            let by = if index < shown {
                By::Target
            } else {
                By::HandUnseen
            };
            self.event(Event::Moved {
                uci,
                ply: index + 1,
                by,
                took: None,
            });
        }
        let game = self.held.game().clone();
        self.claims.rebase(&game);
    }

    /// Whether this is a board that reports moves only, and was told of no game yet: neither a new one, nor by the
    /// player's word that a position was set up.
    fn is_blank(&self) -> bool {
        self.driver.capabilities().tells_moves_only && !self.held.is_known()
    }

    fn moved(&mut self, now: Instant, reported: Reported) {
        let promotion = self.claims.promotion();
        let moves_only = self.driver.capabilities().tells_moves_only;
        let awaiting = self.claims.awaiting();
        let hand = self.hand.plays();
        // The side that the hand does not play.
        let others = |turn: Color| hand.is_some_and(|hand| hand != turn) && !awaiting;
        let set_up =
            |target: &&Game| self.course.is_by_hand() && moves_only && !others(target.turn());
        let target = self.claims.target().filter(set_up);
        if target.is_some_and(|target| reported.resolve(target.position(), promotion).is_some()) {
            // Playing on is as good as saying that the position stands.
            self.ready(now);
        }
        if let Some((plies, m)) = self.errand.sent()
            && plies == self.held.game().len()
            && reported.resolve(self.held.game().position(), promotion) == Some(m)
            && !moves_only
        {
            // Its echo is late: no hand made it.
            self.errand.begin(Step::Show(m), true);
            self.accepted(now);
            return;
        }
        let unknown = !self.held.is_known();
        let board = self.driver.capabilities();
        let doubtful = self.held.certainty() != Certainty::Sure && !board.tells_moves_only;
        if self.is_blank() || !board.tells_game && !board.sees_squares && (unknown || doubtful) {
            // Nobody knows the position that this move was made in. The board is given one when a program has it.
            let when = if unknown {
                "before any game"
            } else {
                "while the game is in doubt"
            };
            let text = format!("a move {when}: {}", Words(reported));
            self.event(Event::Unreadable { text });
            return;
        }
        // A game of which nothing is known yet does not begin with this move: the board's list will tell.
        if self.held.certainty() == Certainty::Lost || board.tells_game && self.held.is_suspect() {
            self.held.saw(reported);
            self.driver.learn(now);
            return;
        }
        let legal = reported.resolve(self.held.game().position(), promotion);
        if moves_only && others(self.held.game().turn()) && legal.is_some_and(|m| !self.is_next(m))
        {
            // The program's move, and nobody can take it back on such a board.
            self.refused(now, reported);
            return;
        }
        let before = self.held.clone();
        // The picture that was asked for is to tell whether the game began where its list does.
        let unproved = board.tells_game && self.held.is_unproved() && self.driver.is_asked();
        let meaning = self.held.hand_moved(reported, promotion);
        if unproved {
            self.held.disprove();
        }
        if moves_only && matches!(meaning, Meaning::Wrong | Meaning::Unexplained) {
            self.held = before;
            self.refused(now, reported);
        } else {
            self.meant(now, Some(reported), meaning);
        }
    }

    /// Whether this is the very move that is to be shown next: a hand that knows it may be quicker.
    fn is_next(&self, m: Move) -> bool {
        let held = self.held.game();
        let target = self.claims.target().filter(|target| target.continues(held));
        target.is_some_and(|target| target.moves().get(held.len()) == Some(&m))
    }

    /// A board that reports moves only made one that cannot be played: nothing follows from it.
    fn refused(&mut self, now: Instant, reported: Reported) {
        self.told.changed();
        let position = self.held.game().position();
        let unplayable = self.deviation.unplayable(reported, position);
        if unplayable == Unplayable::Mends {
            self.event(Event::Mended);
            return;
        }
        self.pace.after_hand(now, self.patience());
        if unplayable == Unplayable::Undoes || self.ends_by_kings(now) {
            return;
        }
        if !self.deviation.is_to_be_told() || unplayable == Unplayable::Again {
            return;
        }
        let text = self.advice().to_string();
        self.event(Event::Mistake { text });
    }

    /// Acts on what a report turned out to be.
    fn meant(&mut self, now: Instant, reported: Option<Reported>, meaning: Meaning) {
        self.told.changed();
        self.pace.after_hand(now, self.patience());
        let ply = self.held.game().len();
        if matches!(meaning, Meaning::Played(_) | Meaning::TookBack(_)) {
            self.errand.outrun();
        }
        match meaning {
            Meaning::Played(m) => {
                self.deviation.played();
                self.course.set_up();
                self.verdict.goes_on();
                let is_asked = self.errand.following().is_some();
                self.confirm(now);
                let step = self.errand.step().cloned().filter(|_| is_asked);
                if let Some(step @ (Step::NewGame(_) | Step::SetUp(_))) = step {
                    // The board is on its way to another position, and forgets this move.
                    self.ask_hand(&step);
                }
                let target = self.claims.target().filter(|_| self.course.leads());
                let fresh_from = self.held.fresh_from();
                let goes_on = |target: &Game| {
                    self.held.game().continues(target) && fresh_from <= target.len()
                };
                if target.is_some_and(goes_on) {
                    // The new game that was announced is under way.
                    self.course.begun();
                }
                let took = self.times.played(now, ply - 1);
                self.event(Event::Moved {
                    uci: uci(m),
                    ply,
                    by: By::Hand,
                    took,
                });
                // The hand may simply have put back what it took back.
                self.front_ends_know();
            }
            Meaning::Executed(m) => {
                self.deviation.corrected();
                // Nothing is left for the hand to mend.
                self.pace.at_once();
                self.confirm(now);
                self.event(Event::Executed { uci: uci(m) });
            }
            Meaning::Mended => {
                self.deviation.corrected();
                if self.held.unconfirmed().is_none() {
                    self.confirm(now);
                }
                self.event(Event::Mended);
            }
            Meaning::Repeated => self.confirm(now),
            Meaning::TookBack(moves) => {
                self.deviation.corrected();
                self.verdict.goes_on();
                self.hand.took_back();
                self.confirm(now);
                let mut ply = ply + moves.len();
                for m in moves {
                    self.event(Event::TookBack {
                        uci: uci(m),
                        ply,
                        by: By::Hand,
                    });
                    ply -= 1;
                }
            }
            Meaning::Wrong | Meaning::Unexplained if self.driver.capabilities().tells_game => {
                // The board judges moves itself: something was missed, and it can be asked.
                self.held.doubt();
                self.driver.learn(now);
            }
            Meaning::Wrong | Meaning::Unexplained => {
                self.deviation.mistaken(reported);
                if !self.ends_by_kings(now) {
                    let text = self.advice().to_string();
                    self.event(Event::Mistake { text });
                }
                if meaning == Meaning::Unexplained {
                    self.held.doubt();
                }
            }
        }
    }

    fn tell_position(&mut self, now: Instant) {
        let held = self.held.game();
        let game = match self.claims.target() {
            Some(target) if held.continues(target) && self.held.fresh_from() <= target.len() => {
                held.clone()
            }
            Some(target) => target.clone(),
            // A board that is switched on while nobody plays begins a new game.
            None if self.held.certainty() == Certainty::Unsure => Game::standard(),
            None => held.clone(),
        };
        // A position has no en-passant right: the double step is shown, or made again, after the position before it.
        let game = if game.position().legal_ep_square().is_some() {
            game.truncated(game.len().saturating_sub(1))
        } else {
            game
        };
        let new_to_board = game != *held;
        if new_to_board {
            self.errand.ask(Some(Following {
                advice: Advice::SetUp(game.fen()),
                game: game.clone(),
            }));
            let before = self.picture();
            self.errand.move_wood(before, game.position().board());
        }
        self.pace.at_once();
        self.told.changed();
        self.driver
            .tell_position(now, game.position(), new_to_board);
        // From its last line on the board holds this game, whatever it reported before.
        self.errand.begin(Step::SetUp(Box::new(game)), true);
    }

    fn accepted(&mut self, now: Instant) {
        self.pace.forgive();
        // The first step toward a new game is done; what is taken back from now on is its own.
        let new_game = self.course.stepped();
        self.verdict.goes_on();
        self.deviation.forget();
        let held = &self.held;
        self.claims
            .note_answers(|claim| answer_to(held, claim).first().copied());
        let ply = self.held.game().len();
        let step = self.errand.accepted();
        let wanted = step.as_ref().and_then(|step| self.asked_by(step));
        if wanted.is_some_and(|wanted| self.stood_as(&wanted)) {
            // Nothing is left for the hand to do, and nothing waits for it.
            self.driver.confirm(now);
        }
        match step {
            None => {}
            Some(Step::Show(m)) => {
                self.held.shown(m);
                self.event(Event::Moved {
                    uci: uci(m),
                    ply: ply + 1,
                    by: By::Target,
                    took: None,
                });
            }
            Some(Step::TakeBack(m)) => {
                self.held.taken_back();
                self.event(Event::TookBack {
                    uci: uci(m),
                    ply,
                    by: By::Target,
                });
            }
            Some(Step::NewGame(beginning)) => {
                self.hand.play(beginning.hand);
                if self.claims.awaiting() {
                    self.hand_is_awaited();
                }
                self.held.replace(Game::standard());
                self.event(Event::NewGame { by: By::Target });
            }
            Some(Step::SetUp(game)) => {
                self.hand.play(None);
                self.pace.takes_set_ups();
                let fen = game.fen().to_string();
                if *game == *self.held.game() {
                    self.held.assure();
                } else {
                    // The same game, taken back or played on, keeps its times.
                    let common = game.common_plies(self.held.game());
                    let kept = common.filter(|_| !new_game).unwrap_or(0);
                    self.times.forget_from(kept);
                    self.held.replace(*game);
                }
                self.event(Event::SetUp { fen });
            }
        }
        // What the hand makes of it next may be known at once.
        self.claims.taken_back_to(self.held.game().len());
        self.claims
            .stepped(self.held.game(), self.held.fresh_from());
        self.front_ends_know();
    }

    fn failed(&mut self, now: Instant, failure: StepFailure) {
        self.errand.unask();
        if matches!(self.errand.step(), Some(Step::SetUp(_))) && failure == StepFailure::Refused {
            self.errand.refused();
            // What its list says from now on begins nobody knows where.
            self.pace.refused();
            self.held.suspect();
            self.held.lose();
        } else {
            self.drop_step();
            self.held.doubt();
        }
        // What the board holds is asked at once; what it did not take is tried again later.
        if self.driver.capabilities().tells_game && self.held.certainty() == Certainty::Unsure {
            self.driver.learn(now);
        }
        self.pace.failed(now);
        self.told.changed();
    }
}
