//! A board that senses which squares are occupied, but not by which pieces.

mod promotion;
mod reading;
mod recognition;
mod setup;
mod touched;
mod unasked;

use std::time::Instant;

use shakmaty::{Bitboard, Board, Move, Position, Square};

use self::{
    promotion::PromotionGesture, reading::Reading, setup::Wrong, touched::Touched, unasked::Unasked,
};
use super::{Awaited, Follower, Report};
use crate::{
    chess::{
        game::Game,
        guidance,
        recognise::{Recogniser, Sensing, Waits},
        sense::Sensed,
    },
    vocabulary::Misplaced,
};

/// Whether the board moves pieces itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// It does not.
    Rests,
    /// It has begun a move and rests in between: the pieces stand neither as before nor as in the game.
    HalfDone,
    /// It moves a piece now: what the player does meanwhile is evaluated later.
    Moves,
}

/// Evaluates what a board that senses squares reports.
#[derive(Debug)]
pub struct Squares {
    waits: Waits,
    sensing: Sensing,
    /// The player chooses the promotion piece by how often it is put down.
    by_gesture: bool,
    recogniser: Recogniser,
    touched: Touched,
    unasked: Unasked,
    reading: Reading,
    gesture: PromotionGesture,
    wrong: Option<Wrong>,
    follower: Follower,
}

/// What is known of the pieces, kept through a restart.
#[derive(Debug)]
pub struct Known {
    /// Which piece stands where.
    pub placement: Board,
    /// The squares that hold a piece and have read empty for long.
    pub dim: Bitboard,
    /// The capture that is under way, from and to which square, as far as lifts and landings show.
    pub begun: Option<(Square, Square)>,
}

impl Squares {
    /// Nothing is known about the squares yet.
    pub fn new(waits: Waits, sensing: Sensing) -> Self {
        Self {
            recogniser: Recogniser::new(waits, Board::new()).sensing(sensing),
            waits,
            sensing,
            by_gesture: false,
            touched: Touched::nothing(),
            unasked: Unasked::default(),
            reading: Reading::default(),
            gesture: PromotionGesture::default(),
            wrong: None,
            follower: Follower::default(),
        }
    }

    /// The same, with the promotion piece chosen by gesture: lifting the new piece and putting it back not at all or
    /// once for a queen, twice for a knight, three times for a rook, four times for a bishop.
    #[must_use]
    pub fn promotes_by_gesture(self, by_gesture: bool) -> Self {
        Self { by_gesture, ..self }
    }

    /// The game, the player's task, and what was reported to the player.
    pub fn follower(&self) -> &Follower {
        &self.follower
    }

    /// The game followed.
    pub fn game(&self) -> &Game {
        self.follower.game()
    }

    /// The game whose pieces are to stand on the board: the one that is set up, or the one followed.
    pub fn wanted(&self) -> &Game {
        self.follower.setup().unwrap_or(self.follower.game())
    }

    /// The placement of the pieces, as far as known.
    pub fn standing(&self) -> &Board {
        self.recogniser.standing()
    }

    /// Whether a promotion waits for the gesture.
    pub fn is_gesture_awaited(&self) -> bool {
        self.gesture.is_awaited()
    }

    /// What is known of the pieces, to be saved; `None` if they are unknown.
    pub fn known(&self) -> Option<Known> {
        let known = self.follower.is_known() && !self.follower.has_setup();
        known.then(|| Known {
            placement: self.standing().clone(),
            dim: self.recogniser.long_dim(),
            begun: self.recogniser.begun(),
        })
    }

    /// Restores what was known before a restart. The link must be down.
    pub fn recall(&mut self, known: Known) {
        self.forget(known.placement);
        self.recogniser.remember(known.dim, known.begun);
        self.follower.find();
        self.resume();
    }

    /// Whether moves can be recognised.
    pub fn follows(&self) -> bool {
        self.follower.follows() && !self.gesture.is_awaited()
    }

    /// The link is up: there are no readings yet.
    pub fn link_up(&mut self) {
        self.reading.link_up();
        self.resume();
    }

    /// The link is down. A player in the middle of a move continues unseen.
    pub fn link_down(&mut self) {
        self.touched = Touched::nothing();
        // What the pieces do from now on is not read from these.
        self.reading.link_up();
        self.resume();
        self.follower.link_down();
    }

    /// Nothing was sensed for a while: only pictures show what happened meanwhile.
    pub fn resume(&mut self) {
        if self.follower.is_known() {
            self.recogniser.resume();
        }
    }

    /// Takes one sensed input. Call [`Self::attend`] next.
    pub fn sense(&mut self, now: Instant, sensed: Sensed) {
        match sensed {
            Sensed::Lifted(square) => self.lifted(now, square),
            Sensed::Placed(square) => self.placed(now, square),
            Sensed::Occupied(picture) => {
                if let Some(full) = self.reading.full().filter(|_| !self.sensing.events) {
                    for square in full & !picture {
                        self.lifted(now, square);
                    }
                    for square in picture & !full {
                        self.placed(now, square);
                    }
                }
                self.reading.pictured(picture);
            }
        }
        if self.follower.is_known() {
            self.recogniser.count_only(self.unasked.squares());
            self.recogniser.sense(now, sensed);
        }
    }

    fn lifted(&mut self, now: Instant, square: Square) {
        self.reading.lifted(square);
        let correction = self.follower.correction();
        let told = correction.told(|action| action.from == Some(square));
        self.unasked.touch(now, square, told.is_some());
        match told {
            Some(guidance::Action { to: None, .. }) => self.touched.take_off(square),
            told => self.touched.lift(square, told.and_then(|action| action.to)),
        }
        self.gesture.lifted(now, square);
    }

    fn placed(&mut self, now: Instant, square: Square) {
        self.reading.placed(square);
        let brought =
            |action: &guidance::Action| action.from.is_none() && action.to == Some(square);
        let told = self.follower.correction().told(brought);
        let told = told.and_then(|action| action.piece);
        let asked = self.touched.follows(square, told, self.unasked.last());
        self.unasked.touch(now, square, asked);
        self.touched.put(square, told);
        self.gesture.placed(now, square);
    }

    /// Evaluates the inputs so far.
    pub fn attend(&mut self, now: Instant, work: Work) {
        if self.follower.is_known() {
            self.touched.follow(self.recogniser.standing());
        }
        self.recognised(now, work);
        self.mind_touched(now, work);
        self.look_again();
        self.mind_setup(now);
        self.follower.mind_hand(self.recogniser.standing());
        self.unasked
            .mind_list(now, self.follower.correction().is_told());
    }

    /// The time given by [`Self::deadline`] has come. Call [`Self::attend`] next.
    pub fn timeout(&mut self, now: Instant) {
        self.recogniser.timeout(now);
        if let Some((m, role)) = self.gesture.take_done(now) {
            self.played(m, Some(role));
        }
    }

    /// When [`Self::timeout`] is to be called next.
    pub fn deadline(&self) -> Option<Instant> {
        let waits = [
            self.recogniser.deadline(),
            self.gesture.deadline(),
            self.setup_deadline(),
        ];
        waits.into_iter().flatten().min()
    }

    /// The next report.
    pub fn poll(&mut self) -> Option<Report> {
        self.follower.poll()
    }

    /// The game as the program knows it. `busy`: the board moves pieces itself, and the game waits for the next
    /// call. Returns `true` if the recogniser took it; then call [`Self::attend`].
    pub fn follow(&mut self, now: Instant, game: &Game, may_replace: bool, busy: bool) -> bool {
        let follows = self.follows() && !busy;
        let news = self.follower.follow(game, may_replace, follows);
        if news {
            self.recogniser.follow(now, game, may_replace);
        }
        news
    }

    /// Gives the player this task.
    pub fn await_hand(&mut self, awaited: Awaited) {
        self.follower.await_hand(awaited);
    }

    /// Gives the player the game's last move to carry out again, after a restart. `true` if the squares show that it is unmade.
    pub fn await_again(&mut self) -> bool {
        self.picture().is_some() && self.follower.await_again(self.recogniser.standing())
    }

    /// Asks the player again, after a restart, to take back the move that the squares show beyond the game; returns it.
    /// Not `next`, which is to be made.
    pub fn await_take_back_again(&mut self, next: Option<Move>) -> Option<Move> {
        self.picture()?;
        // Where the hand has done something meanwhile, that is to be understood first.
        let is_known = !self.recogniser.is_resuming() && !self.recogniser.is_disturbed();
        let standing = Some(self.recogniser.standing()).filter(|_| is_known)?;
        self.follower.await_take_back_again(standing, next)
    }

    /// The player reports that the pieces are set up.
    pub fn confirm(&mut self) {
        self.close();
        if self.follower.drop_awaited() {
            self.stand(self.game().position().board().clone());
        }
        if self.follower.correction().is_puzzled() {
            // The player says that the pieces stand right: none are exchanged.
            self.touched = Touched::pieces(self.recogniser.standing().clone());
        }
    }

    /// The pieces are assumed to stand like this, as the squares do. `None`: where they stand is unknown.
    pub fn assume(&mut self, pieces: Option<&Board>) {
        if let Some(pieces) = pieces {
            self.stand_anew(pieces.clone());
            self.follower.find();
        } else {
            self.touched = Touched::nothing();
            self.forget(self.standing().clone());
            self.follower.lose();
        }
    }

    /// The board is to be led to this game: the player's current task may no longer be wanted. `true` if the placement
    /// of the pieces is unknown now.
    pub fn abandon(&mut self, target: Option<&Game>) -> bool {
        self.follower.abandon(target)
    }

    /// The game is over: nothing has to be corrected any more.
    pub fn game_ended(&mut self) {
        self.follower.correction_mut().drop_guidance();
    }

    /// Which squares to light.
    pub fn lights(&self) -> Bitboard {
        self.follower.lights(self.recogniser.standing())
    }

    /// Whether pieces may be misplaced, so that the board should not move any.
    pub fn is_disturbed(&self) -> bool {
        // After an absence a piece may be missing without a lift.
        let disturbed = self.recogniser.is_disturbed()
            || self.recogniser.disturbed() != (Bitboard::EMPTY, Bitboard::EMPTY)
            || self.follower.correction().is_puzzled();
        disturbed && self.follower.is_known()
    }

    /// Whether an occupied square reads empty, as far as its reading is known.
    pub fn reads_empty(&self, square: Square) -> bool {
        match self.reading.picture() {
            Some(picture) => !picture.contains(square),
            // A piece put there since is not known to read empty.
            None => self.recogniser.dim().contains(square) && !self.reading.was_put(square),
        }
    }

    /// Squares that hold a piece and have read empty for long.
    pub fn long_dim(&self) -> Bitboard {
        self.recogniser.long_dim()
    }

    /// The last picture on this link, without the squares lifted from since.
    pub fn picture(&self) -> Option<Bitboard> {
        self.reading.picture()
    }

    /// The occupied squares, if a picture came.
    pub fn full(&self) -> Option<Bitboard> {
        self.reading.full()
    }

    /// Whether a piece was put on this square and has stayed, since [`Self::forget_put`].
    pub fn was_put(&self, square: Square) -> bool {
        self.reading.was_put(square)
    }

    /// Forgets where pieces were put: the player is asked to put them again, or the game has them.
    pub fn forget_put(&mut self) {
        self.reading.forget_put();
    }

    /// Whether the pieces stand as on `board`, as far as the squares show.
    pub fn stand_as(&self, board: &Board) -> bool {
        self.reading.stand_as(board)
    }

    /// The board has moved a piece itself: the last picture is out of date.
    pub fn outdate(&mut self) {
        self.reading.outdate();
    }

    /// The board has moved pieces itself, to the placement `standing`. It carried one from `from` to `to`, if those are
    /// squares.
    pub fn moved_itself(&mut self, standing: Board, from: Option<Square>, to: Option<Square>) {
        self.stand(standing);
        self.reading.moved(from, to);
    }

    /// The pictures suggest that the board has moved a piece itself: which pieces stand on these squares is a guess.
    pub fn guessed(&mut self, squares: impl IntoIterator<Item = Square>) {
        self.touched.doubt(self.recogniser.standing(), squares);
        self.resume();
    }

    /// A step is in the board's game: earlier reports are withdrawn unless they still hold.
    pub fn accepted(&mut self) {
        self.follower.correction_mut().accepted();
    }

    /// The pieces stand as in the game, which is to be followed from there.
    pub fn fall_behind(&mut self) {
        self.follower.fall_behind();
    }

    /// These pieces are misplaced, as the driver knows.
    pub fn tell(&mut self, misplaced: Misplaced) {
        self.follower.tell(misplaced);
    }

    /// On these squares pieces are missing or surplus, compared with the game.
    pub fn tell_wrong(&mut self, lacking: Bitboard, surplus: Bitboard) {
        let board = self.game().position().board();
        let misplaced = Misplaced::on(board, lacking, surplus, self.touched.known());
        self.follower.tell(misplaced);
    }

    /// No piece is misplaced any more.
    pub fn mended(&mut self) {
        self.follower.mended();
    }

    /// The placement of the pieces is now `board`.
    fn stand(&mut self, board: Board) {
        self.recogniser.stand(board);
        self.follower.fall_behind();
    }

    /// The pieces were set up as on `board`: earlier inputs are void.
    fn stand_anew(&mut self, board: Board) {
        self.touched = Touched::pieces(board.clone());
        self.forget(board);
        self.follower.fall_behind();
    }

    /// Starts the recogniser anew with this placement.
    fn forget(&mut self, standing: Board) {
        self.recogniser = Recogniser::new(self.waits, standing).sensing(self.sensing);
    }
}
