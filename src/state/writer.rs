//! Writes the latest value of each key. Two threads do what takes long: one syncs what was written, so that a slow sync delays
//! no write; one writes while the disk is slow, moves the log, and makes deleted files again.
//!
//! A write goes to the kernel's memory, which takes some ten microseconds; waking a thread and being woken takes longer. So the
//! caller writes by itself, unless something shows that the disk may make it wait: a sync that is under way or took long, a
//! write that failed or took long, or other changes that wait.
//!
//! Where many boards play, several have a change at the same time: the first lets the others that are ready come, and writes all of
//! them in one commit. Nobody waits for a change that is not there yet.

use std::{
    collections::BTreeMap,
    io,
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        mpsc::{Receiver, SyncSender, sync_channel},
    },
    thread,
    time::{Duration, Instant},
};

use tokio::{sync::oneshot, task::yield_now, time::timeout};
use tracing::{info, warn};

use super::{
    KEEP_WAIT, MAX_KEYS, SYNCS,
    database::{Database, LogFile, SYNCS_TO_TIDY, StateError},
    kept::Kept,
};
use crate::system::credit::Credit;

/// The first and the longest time before a failed write is tried again; it doubles each time.
const RETRY: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(30)];
/// The time between two warnings about the disk.
const WARN_EVERY: Duration = Duration::from_mins(1);
/// How long the syncing thread waits before it looks again whether a sync is left.
const SYNC_AGAIN: Duration = Duration::from_millis(250);
/// How long the last write and sync may take when the daemon stops.
const CLOSE_WAIT: Duration = Duration::from_secs(2);
/// A disk that takes longer than this for a write is slow: usual ones take less than a millisecond.
const QUICK_WRITE: Duration = Duration::from_millis(10);
/// The same for a sync: SD cards take 5 to 50 ms.
const QUICK_SYNC: Duration = Duration::from_millis(200);

/// The writing and the syncing thread, and the changes that wait for them.
#[derive(Debug)]
pub(super) struct Writer {
    shared: Arc<Shared>,
    /// Asks for a sync.
    syncs: SyncSender<()>,
    /// What comes together with the change of the first caller, and is written by it.
    together: Mutex<Together>,
    /// The writing thread has ended when its half is dropped.
    ended: Mutex<Option<oneshot::Receiver<()>>>,
}

#[derive(Debug)]
struct Shared {
    waiting: Mutex<Waiting>,
    wake: Condvar,
    disk: Mutex<Disk>,
    /// Syncs that are left.
    syncs: Mutex<Credit>,
}

/// Changes that are written in one commit.
#[derive(Debug, Default)]
struct Together {
    /// A caller has come who writes all of them.
    is_led: bool,
    changes: BTreeMap<String, Kept>,
    /// The others, who wait until that is done.
    callers: Vec<oneshot::Sender<()>>,
}

#[derive(Debug, Default)]
struct Waiting {
    changes: BTreeMap<String, Kept>,
    /// Callers that wait until the changes are written.
    callers: Vec<oneshot::Sender<()>>,
    /// Changes are being written.
    busy: bool,
    /// A write failed, or took too long: callers do not wait until one has succeeded.
    slow: bool,
    /// A sync is under way.
    syncs: bool,
    /// The last sync took long.
    slow_sync: bool,
    /// The last write took long.
    slow_write: bool,
    /// See [`Database::is_untidy`].
    untidy: bool,
    stopped: bool,
}

impl Waiting {
    /// More changes wait, behind those that do.
    fn add(&mut self, later: BTreeMap<String, Kept>) {
        for (key, change) in later {
            self.changes.entry(key).or_default().change(change);
        }
    }

    /// Changes that could not be written wait again, before those that have come since.
    fn put_back(&mut self, earlier: BTreeMap<String, Kept>) {
        let later = std::mem::replace(&mut self.changes, earlier);
        self.add(later);
    }

    /// Whether nothing shows that the disk may make a write wait.
    fn is_quick(&self) -> bool {
        let idle = !self.busy && self.changes.is_empty() && !self.stopped;
        idle && !self.slow && !self.syncs && !self.slow_sync && !self.slow_write
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn disk(&self) -> MutexGuard<'_, Disk> {
        self.disk.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes `count` syncs, if these and `rest` more are left.
    fn take_syncs(&self, count: u64, rest: u64) -> bool {
        let mut syncs = self.syncs.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        let taken = syncs.has(now, count + rest);
        if taken {
            syncs.spend(now, count);
        }
        taken
    }
}

impl Writer {
    /// Starts the threads; they end when this is dropped.
    ///
    /// # Errors
    /// A thread cannot be started.
    pub fn start(database: Database) -> io::Result<Self> {
        let shared = Arc::new(Shared {
            waiting: Mutex::default(),
            wake: Condvar::new(),
            syncs: Mutex::new(Credit::new(SYNCS)),
            disk: Mutex::new(Disk::new(database)),
        });
        // One sync serves all writes before it.
        let (syncs, due) = sync_channel(1);
        let path = shared.disk().database.log();
        let (log, budget) = (LogFile::at(path.clone()), shared.clone());
        thread::Builder::new()
            .name("state sync".to_owned())
            .spawn(move || sync_all(log, &due, &budget))?;
        let (log, work, due) = (LogFile::at(path), shared.clone(), syncs.clone());
        let (end, ended) = oneshot::channel::<()>();
        thread::Builder::new()
            .name("state".to_owned())
            .spawn(move || {
                write_all(&work, &due, log);
                drop(end);
            })?;
        Ok(Self {
            shared,
            syncs,
            together: Mutex::default(),
            ended: Mutex::new(Some(ended)),
        })
    }

    /// Writes a change, or hands it to the thread and waits until it is written, for [`KEEP_WAIT`] at most.
    pub async fn write(&self, key: &str, change: Kept) {
        if let Some(written) = self.joins(key, &change) {
            // Whoever writes has ended instead, or could not: then each change has its own way.
            if written.await.is_ok() {
                return;
            }
            return self
                .write_apart(BTreeMap::from([(key.to_owned(), change)]))
                .await;
        }
        let leads = Leads(self);
        yield_now().await;
        let Together {
            mut changes,
            callers,
            ..
        } = leads.end();
        changes.entry(key.to_owned()).or_default().change(change);
        if let Some(changes) = self.write_here(changes) {
            self.write_apart(changes).await;
        }
        for caller in callers {
            // A caller that no longer waits has dropped its receiver.
            let _ = caller.send(());
        }
    }

    fn together(&self) -> MutexGuard<'_, Together> {
        self.together.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Leaves a change to the caller who writes all that come now; tells when it is written. `None`: this caller is the one.
    fn joins(&self, key: &str, change: &Kept) -> Option<oneshot::Receiver<()>> {
        let mut together = self.together();
        if !std::mem::replace(&mut together.is_led, true) {
            return None;
        }
        let changes = &mut together.changes;
        let known = changes.entry(key.to_owned()).or_default();
        known.change(change.clone());
        let (written, done) = oneshot::channel();
        together.callers.push(written);
        Some(done)
    }

    /// Hands changes to the thread and waits until they are written, for [`KEEP_WAIT`] at most.
    async fn write_apart(&self, changes: BTreeMap<String, Kept>) {
        let keys: Vec<String> = changes.keys().cloned().collect();
        let (written, done) = oneshot::channel();
        let slow = {
            let mut waiting = self.shared.lock();
            if waiting.stopped || waiting.changes.len() + changes.len() > MAX_KEYS {
                return;
            }
            let slow = waiting.slow;
            waiting.add(changes);
            if !slow {
                waiting.callers.retain(|caller| !caller.is_closed());
                waiting.callers.push(written);
            }
            slow
        };
        self.shared.wake.notify_one();
        if !slow && timeout(KEEP_WAIT, done).await.is_err() {
            let mut waiting = self.shared.lock();
            let is_left = |key: &String| waiting.changes.contains_key(key);
            let is_slow = waiting.busy || keys.iter().any(is_left);
            waiting.slow |= is_slow;
        }
    }

    /// Writes changes at once, or returns them if the thread has to write them.
    fn write_here(&self, changes: BTreeMap<String, Kept>) -> Option<BTreeMap<String, Kept>> {
        let quick = self.shared.lock().is_quick();
        let disk = self.shared.disk.try_lock().ok();
        // To open the database takes long.
        let disk = disk.filter(|disk| quick && disk.database.is_open());
        let Some(mut disk) = disk else {
            return Some(changes);
        };
        let began = Instant::now();
        let written = disk.write(&changes);
        drop(disk);
        let mut waiting = self.shared.lock();
        waiting.slow_write |= began.elapsed() > QUICK_WRITE;
        if !written {
            waiting.slow = true;
            waiting.put_back(changes);
        }
        // Unlocks it for the thread that is woken.
        drop(waiting);
        if written {
            // Not before others are told, which waking a thread would hold up.
            let syncs = self.syncs.clone();
            tokio::spawn(async move {
                yield_now().await;
                // Full: a sync that has not begun yet is for this write too.
                let _ = syncs.try_send(());
            });
        } else {
            self.shared.wake.notify_one();
        }
        None
    }

    /// Gives values other keys, in one commit; returns them by these. `None`: it cannot be written. It may take a while. What is written
    /// of the old keys at the same time is lost.
    pub fn rename(&self, new: impl Fn(&str) -> Option<String>) -> Option<BTreeMap<String, Kept>> {
        let mut disk = self.shared.disk();
        let mut kept = disk.database.kept();
        for (key, change) in self
            .shared
            .lock()
            .changes
            .extract_if(.., |key, _| new(key).is_some())
        {
            kept.entry(key).or_default().change(change);
        }
        let mut changes = BTreeMap::new();
        let mut moved = BTreeMap::new();
        for (key, value) in kept {
            let Some(name) = new(&key).filter(|_| value.value.is_some()) else {
                continue;
            };
            changes.insert(key, Kept::default());
            moved.insert(name, value);
        }
        changes.extend(moved.clone());
        let written = changes.is_empty() || disk.write(&changes);
        drop(disk);
        // Full: a sync that has not begun yet is for this write too.
        let _ = self.syncs.try_send(());
        written.then_some(moved)
    }

    /// Writes and syncs what is left, for a bounded time. Later values are not written.
    pub async fn close(&self) {
        self.stop();
        let ended = {
            let mut ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
            ended.take()
        };
        if let Some(ended) = ended
            && timeout(CLOSE_WAIT, ended).await.is_err()
        {
            warn!("the disk is slow: the last moves may not survive");
        }
    }

    fn stop(&self) {
        self.shared.lock().stopped = true;
        self.shared.wake.notify_one();
    }
}

/// The caller who writes what comes together.
struct Leads<'a>(&'a Writer);

impl Leads<'_> {
    /// Everything that has come.
    fn end(self) -> Together {
        std::mem::take(&mut *self.0.together())
    }
}

impl Drop for Leads<'_> {
    /// If the caller ends while it waits, the others learn it, for their channels are dropped.
    fn drop(&mut self) {
        drop(std::mem::take(&mut *self.0.together()));
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.stop();
    }
}

/// The database, and what was logged about its failures.
#[derive(Debug)]
struct Disk {
    database: Database,
    /// The time until the next attempt, after a failure.
    retry: Option<Duration>,
    warned: Option<Instant>,
    /// A warning was logged, and not yet that writing works again.
    troubled: bool,
}

impl Disk {
    fn new(database: Database) -> Self {
        Self {
            database,
            retry: None,
            warned: None,
            troubled: false,
        }
    }

    fn write(&mut self, changes: &BTreeMap<String, Kept>) -> bool {
        match self.database.write(changes) {
            Ok(()) => {
                self.retry = None;
                if std::mem::take(&mut self.troubled) {
                    info!("games survive a restart again");
                }
                true
            }
            Err(error) => {
                self.failed(&error);
                false
            }
        }
    }

    fn failed(&mut self, error: &StateError) {
        let [first, longest] = RETRY;
        self.retry = Some(self.retry.map_or(first, |wait| (wait * 2).min(longest)));
        if self.warned.is_none_or(|at| at.elapsed() > WARN_EVERY) {
            self.warned = Some(Instant::now());
            self.troubled = true;
            warn!(
                "moves made now may not survive a restart: the state directory {error}; {}",
                error.remedy()
            );
        }
    }
}

/// The writing thread.
fn write_all(shared: &Shared, syncs: &SyncSender<()>, mut log: LogFile) {
    loop {
        let mut waiting = shared.lock();
        while waiting.changes.is_empty() && !waiting.untidy && !waiting.stopped {
            waiting = shared
                .wake
                .wait(waiting)
                .unwrap_or_else(PoisonError::into_inner);
        }
        let (changes, stops) = (std::mem::take(&mut waiting.changes), waiting.stopped);
        let callers = std::mem::take(&mut waiting.callers);
        let untidy = std::mem::take(&mut waiting.untidy);
        waiting.busy = true;
        drop(waiting);
        let began = Instant::now();
        let mut disk = shared.disk();
        let had_changes = !changes.is_empty();
        let written = !had_changes || disk.write(&changes);
        let mut waiting = shared.lock();
        waiting.busy = false;
        waiting.slow = !written;
        waiting.slow_write = began.elapsed() > QUICK_WRITE;
        if !written {
            waiting.put_back(changes);
        }
        drop(waiting);
        for caller in callers {
            // A caller that no longer waits has dropped its receiver.
            let _ = caller.send(());
        }
        if stops {
            disk.database.close();
            // Syncs what closing did not move into the database.
            let _ = log.sync();
            return;
        }
        if written {
            let remakes = untidy && disk.database.is_gone();
            if untidy && let Err(error) = disk.database.tidy(|| shared.take_syncs(SYNCS_TO_TIDY, 0))
            {
                disk.failed(&error);
            }
            // Not after moving the log alone, or one that cannot be moved would be tried again and again.
            if had_changes || remakes {
                // Full: a sync that has not begun yet is for this write too.
                let _ = syncs.try_send(());
            }
        } else if let Some(wait) = disk.retry {
            drop(disk);
            let waiting = shared.lock();
            let going = |waiting: &mut Waiting| !waiting.stopped;
            drop(shared.wake.wait_timeout_while(waiting, wait, going));
        }
    }
}

/// The syncing thread. It leaves enough syncs for moving the log into the database, which syncs the log too.
fn sync_all(mut log: LogFile, due: &Receiver<()>, shared: &Shared) {
    let mut warned = false;
    while due.recv().is_ok() {
        while !shared.take_syncs(1, SYNCS_TO_TIDY) {
            let waiting = shared.lock();
            if waiting.stopped {
                // The writing thread syncs what is left.
                return;
            }
            drop(waiting);
            thread::sleep(SYNC_AGAIN);
        }
        let began = Instant::now();
        shared.lock().syncs = true;
        let synced = log.sync();
        let mut waiting = shared.lock();
        waiting.syncs = false;
        waiting.slow_sync = began.elapsed() > QUICK_SYNC;
        drop(waiting);
        // Asked here, where looking for deleted files delays no move, and where a log that is to be moved has just been synced: that is
        // most of what moving it takes, and would hold up every move meanwhile.
        if shared.disk().database.is_untidy() {
            shared.lock().untidy = true;
            shared.wake.notify_one();
        }
        if let Err(error) = synced
            && !std::mem::replace(&mut warned, true)
        {
            warn!(
                "moves made now may not survive a power cut: {} cannot be synced ({error}); check the disk",
                log.path().display()
            );
        }
    }
}
