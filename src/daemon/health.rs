//! Whether every board's task answers, and which one runs on the daemon's only thread.

use std::{
    collections::BTreeMap,
    future::poll_fn,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use futures_util::future::join_all;
use tokio::time::timeout;

use crate::{board::actor::Pulse, vocabulary::BoardName};

/// What is known of the boards' tasks.
#[derive(Clone, Debug, Default)]
pub struct Health {
    pulses: Arc<Mutex<BTreeMap<BoardName, Pulse>>>,
    turn: Arc<Mutex<Option<BoardName>>>,
}

impl Health {
    /// From now on this board's task has to answer.
    pub fn expect(&self, board: BoardName, pulse: Pulse) {
        lock(&self.pulses).insert(board, pulse);
    }

    /// This board's task is stopped.
    pub fn forget(&self, board: &BoardName) {
        lock(&self.pulses).remove(board);
    }

    /// Asks every board's task; returns the boards whose task has not answered in this time.
    pub async fn silent(&self, wait: Duration) -> Vec<BoardName> {
        let pulses = lock(&self.pulses).clone();
        let asked = pulses.into_iter().map(async |(board, pulse)| {
            let answered = timeout(wait, pulse.beats()).await;
            answered.is_err().then_some(board)
        });
        join_all(asked).await.into_iter().flatten().collect()
    }

    /// A board's task, which is named by [`Self::turn`] while it runs.
    pub fn watched<F: Future>(
        &self,
        board: BoardName,
        task: F,
    ) -> impl Future<Output = F::Output> + use<F> {
        let turn = self.turn.clone();
        let mut task = Box::pin(task);
        poll_fn(move |context| {
            *lock(&turn) = Some(board.clone());
            let polled = task.as_mut().poll(context);
            *lock(&turn) = None;
            polled
        })
    }

    /// The board whose task runs at this moment: if the loop hangs, this task blocks the thread.
    pub fn turn(&self) -> Option<BoardName> {
        lock(&self.turn).clone()
    }
}

fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    // A panic while holding the lock leaves nothing half done.
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
