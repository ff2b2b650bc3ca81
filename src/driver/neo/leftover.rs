//! What the motor has left unfinished.

use std::time::Instant;

use shakmaty::Move;

use super::{
    PATH_WAIT,
    task::{Driving, Interrupted, Unfinished},
};

/// What the motor has left unfinished: a path that may not have been carried out, a step that was not finished.
#[derive(Clone, Debug, Default)]
pub(super) struct Leftover {
    path: Option<Interrupted>,
    step: Option<Unfinished>,
    /// The motor may have been moving since before the link was lost: nothing may be written until then.
    quiet_until: Option<Instant>,
}

impl Leftover {
    /// What was left before a restart of the daemon.
    pub fn recalled(path: Option<Interrupted>, step: Option<Unfinished>) -> Self {
        Self {
            path,
            step,
            quiet_until: None,
        }
    }

    /// The pieces are set up: nothing is left.
    pub fn set_up(&mut self) {
        self.path = None;
        self.step = None;
    }

    /// The link is up again.
    pub fn link_up(&mut self, now: Instant) {
        self.quiet_until = self.path.as_ref().map(|_| now + PATH_WAIT);
    }

    /// The motor has stopped, or the link is down.
    pub fn stopped(&mut self) {
        self.quiet_until = None;
    }

    /// Forgets the wait for the motor once it is over.
    pub fn pass(&mut self, now: Instant) {
        self.quiet_until.take_if(|at| *at <= now);
    }

    /// Whether the motor may still be moving, so that nothing may be written.
    pub fn is_quiet(&self) -> bool {
        self.quiet_until.is_some()
    }

    /// When the motor will have stopped.
    pub fn deadline(&self) -> Option<Instant> {
        self.quiet_until
    }

    /// It is unknown whether this path was carried out.
    pub fn interrupt(&mut self, path: Interrupted) {
        self.path = Some(path);
    }

    /// The path that may or may not have been carried out.
    pub fn take_path(&mut self) -> Option<Interrupted> {
        self.path.take()
    }

    /// The path that may or may not have been carried out; it stays.
    pub fn path(&self) -> Option<&Interrupted> {
        self.path.as_ref()
    }

    /// Whether the outcome of a path is unknown.
    pub fn has_path(&self) -> bool {
        self.path.is_some()
    }

    /// This step was begun and not finished.
    pub fn break_off(&mut self, driving: &Driving) {
        self.step = Some(driving.into());
    }

    /// A step that was begun and not finished.
    pub fn unfinished(&self) -> Option<Unfinished> {
        self.step
    }

    /// The unfinished step, to be changed.
    pub fn step(&mut self) -> Option<&mut Unfinished> {
        self.step.as_mut()
    }

    /// Whether a step was begun and not finished.
    pub fn has_step(&self) -> bool {
        self.step.is_some()
    }

    /// Begins this step, or finishes it if it was left. `false` if another unfinished step has to be undone first.
    pub fn resume(&mut self, forward: bool, m: Move) -> bool {
        self.step.take_if(|u| (u.forward, u.m) == (forward, m));
        if let Some(other) = &mut self.step {
            other.unwanted = true;
        }
        self.step.is_none()
    }

    /// Whether there is an unfinished step that the program no longer wants.
    pub fn is_unwanted(&self) -> bool {
        self.step.is_some_and(|step| step.unwanted)
    }

    /// Takes the unfinished step that the program no longer wants.
    pub fn take_unwanted(&mut self) -> Option<Unfinished> {
        self.step.take_if(|step| step.unwanted)
    }

    /// The pieces stand as in the game: the step was finished, or undone.
    pub fn finish(&mut self) {
        self.step = None;
    }
}
