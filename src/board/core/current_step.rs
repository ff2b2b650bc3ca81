//! The step that the board is asked for, and what the hand has to do for it.

use std::time::{Duration, Instant};

use shakmaty::{Board, Move};

use super::placement::Placement;
use crate::{
    chess::game::Game,
    driver::Step,
    vocabulary::{Advice, Reported},
};

/// A set-up or take-back that the hand is following.
#[derive(Debug)]
pub(super) struct Following {
    pub advice: Advice,
    /// The game whose last position the pieces should then show.
    pub game: Game,
}

/// What a press of `Board ready` confirms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asked {
    /// The pieces stand as they were to be set up.
    Position,
    /// The hand has made this shown move.
    Move(Move),
}

/// How late a press may be: the player read the words before they changed, and then reached for the button.
pub const PRESS_WAIT: Duration = Duration::from_secs(3);

/// The step that the driver is carrying out.
#[derive(Debug)]
struct UnderWay {
    step: Step,
    /// Something has been sent to the board since it began.
    left: bool,
    /// The hand has played since it began.
    outrun: bool,
    /// What the hand has played in a position before it is known that the board has that.
    early: Option<Reported>,
}

/// The step under way, and what it asks of the hand.
#[derive(Debug, Default)]
pub(super) struct CurrentStep {
    step: Option<UnderWay>,
    /// A move that was shown after this many plies, and may or may not have reached the board.
    sent: Option<(usize, Move)>,
    /// A set-up or take-back that the hand is still following.
    following: Option<Following>,
    placement: Placement,
    /// What the player had been asked for, and had not confirmed, when the last move was shown, and until when a press confirms
    /// that instead.
    before: Option<(Asked, Instant)>,
}

impl CurrentStep {
    /// The step under way.
    pub fn step(&self) -> Option<&Step> {
        self.step.as_ref().map(|under_way| &under_way.step)
    }

    /// The step under way, if the hand is following it.
    pub fn followed_step(&self) -> Option<&Step> {
        self.step().filter(|_| self.following.is_some())
    }

    /// A step begins. `left`: the board has been told already.
    pub fn begin(&mut self, step: Step, left: bool) {
        self.step = Some(UnderWay {
            step,
            left,
            outrun: false,
            early: None,
        });
        self.before = None;
    }

    /// Something has been sent to the board.
    pub fn left(&mut self) {
        if let Some(under_way) = &mut self.step {
            under_way.left = true;
        }
    }

    /// A move that is on its way to the board is no longer legal there.
    pub fn outrun(&mut self) {
        if let Some(under_way) = &mut self.step {
            under_way.left &= !matches!(under_way.step, Step::Show(_));
            under_way.outrun = true;
        }
    }

    /// The hand plays in a position that the board has been sent, and that it will show. `false` if it was not sent yet.
    pub fn comes_early(&mut self, made: Reported) -> bool {
        let Some(sent) = self.step.as_mut().filter(|under_way| under_way.left) else {
            return false;
        };
        sent.early = Some(made);
        true
    }

    /// Takes what [came early](Self::comes_early).
    pub fn take_early(&mut self) -> Option<Reported> {
        self.step.as_mut()?.early.take()
    }

    /// Whether the hand has played since the step under way began.
    pub fn is_outrun(&self) -> bool {
        self.step.as_ref().is_some_and(|step| step.outrun)
    }

    /// The board has taken the step.
    pub fn accepted(&mut self) -> Option<Step> {
        self.sent = None;
        self.step.take().map(|under_way| under_way.step)
    }

    /// The board has refused the step.
    pub fn refused(&mut self) {
        self.step = None;
    }

    /// Drops the step under way, in a game of `plies` plies. `true` if it is a position that may have reached the
    /// board.
    pub fn drop_step(&mut self, plies: usize) -> bool {
        // A step that was not sent can be dropped without consequence.
        match self.step.take().filter(|under_way| under_way.left) {
            Some(UnderWay {
                step: Step::Show(m),
                ..
            }) => {
                self.sent = Some((plies, m));
                false
            }
            Some(under_way) => matches!(under_way.step, Step::SetUp(_)),
            None => false,
        }
    }

    /// A move that was shown after this many plies, and may or may not have reached the board.
    pub fn sent(&self) -> Option<(usize, Move)> {
        self.sent
    }

    /// A move that may have reached the board, if the link broke now.
    pub fn may_have_sent(&self, plies: usize) -> Option<(usize, Move)> {
        match self.step() {
            Some(Step::Show(m)) => Some((plies, *m)),
            _ => self.sent,
        }
    }

    /// Restores [`Self::sent`] and [`Self::placement`] after a restart.
    pub fn recall(&mut self, sent: Option<(usize, Move)>, placement: Placement) {
        self.sent = sent;
        self.placement = placement;
    }

    /// Takes [`Self::sent`]: the board has reported what it holds.
    pub fn take_sent(&mut self) -> Option<(usize, Move)> {
        self.sent.take()
    }

    /// What the hand is following.
    pub fn following(&self) -> Option<&Following> {
        self.following.as_ref()
    }

    /// What the hand should follow from now on.
    pub fn ask(&mut self, following: Option<Following>) {
        self.following = following;
    }

    /// The hand has nothing to follow any more. `false` if it had nothing before.
    pub fn unask(&mut self) -> bool {
        self.following.take().is_some()
    }

    /// The link is lost. Where the pieces are sensed, the driver goes on waiting for a take-back; the rest is asked for anew.
    pub fn link_down(&mut self, senses: bool) {
        let goes_on = |asked: &mut Following| senses && matches!(asked.advice, Advice::TakeBack(_));
        self.following.take_if(|asked| !goes_on(asked));
    }

    /// The hand has done what it was asked for.
    pub fn confirm(&mut self) {
        self.following = None;
        self.placement = Placement::AsHeld;
        self.before = None;
    }

    /// A move was shown. `unmade`: the move shown before it, if nothing has proved that it was made.
    pub fn shown(&mut self, now: Instant, unmade: Option<Asked>) {
        let before = self.to_place().or(unmade);
        self.before = before.map(|before| (before, now + PRESS_WAIT));
    }

    /// What a press now confirms, if the player had not yet read that a move is shown.
    pub fn pressed_late(&mut self, now: Instant) -> Option<Asked> {
        let before = self.before.take();
        before
            .filter(|(_, until)| now < *until)
            .map(|(asked, _)| asked)
    }

    /// [`Asked::Position`], if the pieces were to be moved and nothing proves that they were.
    pub fn to_place(&self) -> Option<Asked> {
        let is_open = self.following.is_some() || self.placement != Placement::AsHeld;
        is_open.then_some(Asked::Position)
    }

    /// Where the pieces stand.
    pub fn placement(&self) -> &Placement {
        &self.placement
    }

    /// The hand is asked to put the pieces as on `wanted`. They stood as `before`, if that is known.
    pub fn move_wood(&mut self, before: Option<Board>, wanted: &Board) {
        self.placement = Placement::asked_for(before, wanted);
    }

    /// The hand has carried one of the pieces: now they stand like this.
    pub fn carried(&mut self, stands: Board) {
        self.placement = Placement::Was(stands);
    }

    /// Where the pieces stand is no longer known.
    pub fn lose_wood(&mut self) {
        self.placement = Placement::Unknown;
    }
}
