//! When a GUI is told what the player is to do: at once what is new, and what has been done of it not too often. Snapshots'
//! parts and time go in.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use crate::{guidance::Action, vocabulary::Advice};

/// Between two lines about the same task: a line that is read takes about so long, while a hand that sets pieces up puts
/// one a second, and a loose sensor flickers many times a second.
pub const PROGRESS: Duration = Duration::from_secs(2);
/// Tasks remembered at most. Who has so many others within [`PROGRESS`] may be told one of them again.
const MAX_RECENT: usize = 8;

/// What to tell now.
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
    /// When each of the last tasks was told last.
    recent: Vec<(Advice, Instant)>,
    /// Something is to be told then, if it still is so.
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

    /// What to tell of this task and its list; `anew` if the task is to be told even if it has been.
    pub fn look(
        &mut self,
        task: &Advice,
        list: &Arc<[Action]>,
        anew: bool,
        now: Instant,
    ) -> Option<Word> {
        self.due = None;
        self.recent.retain(|(_, told)| *told + PROGRESS > now);
        let word = if anew || !task.is_same_task(&self.task) {
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
        if let Some((_, told)) = told.filter(|_| !anew) {
            self.due = Some(*told + PROGRESS);
            return None;
        }
        self.recent.retain(|(told, _)| !told.is_same_task(task));
        self.recent.truncate(MAX_RECENT - 1);
        self.recent.insert(0, (task.clone(), now));
        self.leave(task, list);
        Some(word)
    }

    /// This is not for the GUI to know now.
    pub fn leave(&mut self, task: &Advice, list: &Arc<[Action]>) {
        self.due = None;
        self.task = task.clone();
        self.list = list.clone();
    }
}
