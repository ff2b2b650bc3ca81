//! What is counted, by fault.

use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use crate::{Ended, fault::Fault};

/// A move made this shortly before a fault or after it, or during it, may not have reached the daemon: no protocol of a board says
/// that a move was received. The player makes it again, and that is counted apart.
pub const IN_FLIGHT: Duration = Duration::from_millis(500);

/// What a fault has cost.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Row {
    /// How often it happened.
    pub times: u32,
    /// Moves that the daemon had time to receive, and that had to be made again.
    pub lost: u32,
    /// Moves that reached a program, an app or a board twice, or that no hand had made.
    pub doubled: u32,
    /// Games that did not go on.
    pub games: u32,
    /// Moves on their way when the fault came, which the player made again or the app was told again.
    pub again: u32,
    /// Home-made boards that were told their whole game again.
    pub rebuilt: u32,
    /// From the end of the fault to the next move, of every game.
    pub recovered: Vec<Duration>,
}

#[derive(Debug)]
struct Now {
    began: Instant,
    fault: Option<Fault>,
    /// When the last faults began and ended; the last one may go on.
    spans: Vec<(Instant, Option<Instant>)>,
    rows: BTreeMap<Option<Fault>, Row>,
    plies: u64,
    games: u64,
}

/// The score of a run. Shared by all games.
#[derive(Debug)]
pub struct Score(Mutex<Now>);

impl Default for Score {
    fn default() -> Self {
        Self(Mutex::new(Now {
            began: Instant::now(),
            fault: None,
            spans: Vec::new(),
            rows: BTreeMap::new(),
            plies: 0,
            games: 0,
        }))
    }
}

/// The spans that are remembered: a move is made again after seconds.
const SPANS: usize = 64;

impl Score {
    fn now(&self) -> MutexGuard<'_, Now> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A fault begins.
    pub fn begins(&self, fault: Fault) {
        let mut now = self.now();
        now.fault = Some(fault);
        now.rows.entry(Some(fault)).or_default().times += 1;
        if now.spans.len() == SPANS {
            now.spans.remove(0);
        }
        now.spans.push((Instant::now(), None));
    }

    /// The fault is over: the daemon runs again, the cable is back.
    pub fn ends(&self) {
        if let Some((_, end)) = self.now().spans.last_mut() {
            *end = Some(Instant::now());
        }
    }

    /// When the last fault ended, or the run began; `None` while a fault goes on.
    pub fn over(&self) -> Option<Instant> {
        let now = self.now();
        match now.spans.last() {
            Some((_, end)) => *end,
            None => Some(now.began),
        }
    }

    /// Whether a move made at this time may not have reached the daemon.
    pub fn in_flight(&self, made: Instant) -> bool {
        self.now().spans.iter().any(|(from, to)| {
            made + IN_FLIGHT >= *from && to.is_none_or(|to| made <= to + IN_FLIGHT)
        })
    }

    fn row(&self, change: impl FnOnce(&mut Row)) {
        let mut now = self.now();
        let fault = now.fault;
        change(now.rows.entry(fault).or_default());
    }

    /// A player made a move again. Returns whether it was lost: not merely on its way when a fault came.
    pub fn again(&self, made: Instant) -> bool {
        let in_flight = self.in_flight(made);
        self.row(|row| {
            if in_flight {
                row.again += 1;
            } else {
                row.lost += 1;
            }
        });
        !in_flight
    }

    /// A move came twice that was on its way when a fault came.
    pub fn told_again(&self) {
        self.row(|row| row.again += 1);
    }

    /// A move came twice, or was never made.
    pub fn doubled(&self) {
        self.row(|row| row.doubled += 1);
    }

    /// A home-made board was told its whole game again.
    pub fn rebuilt(&self) {
        self.row(|row| row.rebuilt += 1);
    }

    /// A game was lost.
    pub fn game_lost(&self) {
        self.row(|row| row.games += 1);
    }

    /// The first move after a fault.
    pub fn recovered(&self, after: Duration) {
        self.row(|row| row.recovered.push(after));
    }

    /// A move that both sides have.
    pub fn ply(&self) {
        self.now().plies += 1;
    }

    /// A game played to its end.
    pub fn game(&self) {
        self.now().games += 1;
    }

    /// Moves and games played so far.
    pub fn played(&self) -> (u64, u64) {
        let now = self.now();
        (now.plies, now.games)
    }

    /// Whether nothing was lost or doubled.
    pub fn is_clean(&self) -> bool {
        let clean = |row: &Row| row.lost + row.doubled + row.games == 0;
        self.now().rows.values().all(clean)
    }

    /// How the run has ended. `died`: the daemon ended by itself.
    pub fn ended(&self, died: bool) -> Ended {
        match (died, self.is_clean()) {
            (true, _) => Ended::Died,
            (false, true) => Ended::Clean,
            (false, false) => Ended::Losses,
        }
    }

    /// The rows as a table.
    pub fn table(&self) -> String {
        let now = self.now();
        let line = |cells: [String; 9]| {
            let [name, cells @ ..] = cells;
            let cells = cells.map(|cell| format!("{cell:>9}")).concat();
            format!("{name:<20}{cells}\n")
        };
        let heads = [
            ["fault", ""],
            ["times", ""],
            ["moves", "lost"],
            ["games", "lost"],
            ["moves", "doubled"],
            ["made", "again"],
            ["boards", "rebuilt"],
            ["seconds", "median"],
            ["", "max"],
        ];
        let mut text: String = (0..2)
            .map(|row| line(heads.map(|head| head[row].to_owned())))
            .collect();
        for (fault, row) in &now.rows {
            let mut times = row.recovered.clone();
            times.sort_unstable();
            let median = times.get(times.len() / 2).copied().unwrap_or_default();
            let max = times.last().copied().unwrap_or_default();
            text += &line([
                fault.map_or("start".to_owned(), |fault| fault.to_string()),
                row.times.to_string(),
                row.lost.to_string(),
                row.games.to_string(),
                row.doubled.to_string(),
                row.again.to_string(),
                row.rebuilt.to_string(),
                format!("{:.1}", median.as_secs_f64()),
                format!("{:.1}", max.as_secs_f64()),
            ]);
        }
        text + &format!(
            "{} moves in {} games. Made again: moves within {} ms of a fault, or during it, that had not arrived, or were told to an app\nagain because nobody could know that they had.\n",
            now.plies,
            now.games,
            IN_FLIGHT.as_millis()
        )
    }
}
