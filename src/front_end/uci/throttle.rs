//! When a GUI is told what the player should do: news at once, progress not too often. Parts of snapshots and time go
//! in.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use crate::{chess::guidance::Action, vocabulary::Advice};

/// The time between two lines about the same task: reading a line takes about this long, while a hand that sets pieces
/// up places one a second, and a loose sensor flickers many times a second.
pub const PROGRESS: Duration = Duration::from_secs(2);
/// The least time between two lines with the same text: each `go` is told its task again, but a repetition at once says nothing
/// new.
pub const INSTANT: Duration = Duration::from_millis(500);
/// The most tasks remembered. A GUI with this many others within [`PROGRESS`] may be told one of them again.
const MAX_RECENT: usize = 8;

/// What to send now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Word {
    /// The task, and the list of what to do for it.
    Task,
    /// What is left of the list.
    List,
}

/// What a GUI has been told of its board's advice and guidance.
#[derive(Debug)]
pub struct Throttle {
    task: Advice,
    list: Arc<[Action]>,
    /// When each recent task was last sent.
    recent: Vec<(Advice, Instant)>,
    /// Something must be sent then, if it still applies.
    due: Option<Instant>,
}

impl Default for Throttle {
    fn default() -> Self {
        Self {
            task: Advice::Nothing,
            list: Arc::new([]),
            recent: Vec::new(),
            due: None,
        }
    }
}

impl Throttle {
    /// When to ask again.
    pub fn deadline(&self) -> Option<Instant> {
        self.due
    }

    /// What to send about this task and its list; `repeat` if the task must be sent even if it has been: at once, or an
    /// [`INSTANT`] after the last time.
    pub fn look(
        &mut self,
        task: &Advice,
        list: &Arc<[Action]>,
        repeat: bool,
        now: Instant,
    ) -> Option<Word> {
        self.due = None;
        self.recent.retain(|(_, told)| *told + PROGRESS > now);
        let word = if repeat || !task.is_same_task(&self.task) {
            Word::Task
        } else if *list != self.list && !list.is_empty() {
            Word::List
        } else {
            return None;
        };
        if *task == Advice::Nothing {
            self.leave(task, list);
            return None;
        }
        let told = self.recent.iter().find(|(told, _)| told.is_same_task(task));
        let due = told.map(|(_, told)| *told + if repeat { INSTANT } else { PROGRESS });
        if let Some(due) = due.filter(|due| *due > now) {
            self.due = Some(due);
            return None;
        }
        self.recent.retain(|(told, _)| !told.is_same_task(task));
        self.recent.truncate(MAX_RECENT - 1);
        self.recent.insert(0, (task.clone(), now));
        self.leave(task, list);
        Some(word)
    }

    /// Notes this task and list without telling the GUI.
    pub fn leave(&mut self, task: &Advice, list: &Arc<[Action]>) {
        self.due = None;
        self.task = task.clone();
        self.list = list.clone();
    }
}
