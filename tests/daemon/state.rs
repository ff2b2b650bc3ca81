//! What is kept survives: a killed process, a torn log, a damaged file, a directory that is not there.

use std::{
    collections::BTreeSet, fs, future::poll_fn, path::Path, pin::Pin, task::Poll, time::Duration,
};

use boardbridge::{
    board::transcript::Recorder,
    front_end::pgn::folder::{Folder, Writing},
    state::{EACH, Kind, SLOW_WAIT, Store},
};
use tokio::time::{Instant, advance, sleep, timeout};

const DATABASE: &str = "boardbridge.db";
const LOG: &str = "boardbridge.db-wal";
/// Bytes of the log that a few small values take.
const USED: usize = 48 * 1024;

async fn keep(store: &Store, name: &str, value: &str) {
    store.shelf(Kind::Board, name).keep(&value).await;
}

fn read(store: &Store, name: &str) -> Option<String> {
    store.shelf(Kind::Board, name).read()
}

/// The files as a killed process leaves them: copied while the store has them open.
fn killed(from: &Path) -> tempfile::TempDir {
    let left = tempfile::tempdir().unwrap();
    for file in [DATABASE, LOG] {
        if let Ok(bytes) = fs::read(from.join(file)) {
            fs::write(left.path().join(file), bytes).unwrap();
        }
    }
    left
}

/// Bytes of a page in the log, with what stands before it.
const FRAME: usize = 24 + 2048;

fn damaged(folder: &Path) -> usize {
    let names = fs::read_dir(folder).unwrap();
    let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names
        .filter(|name| name.contains("damaged"))
        .map(|name| name.trim_end_matches("-wal").to_owned())
        .collect::<BTreeSet<_>>()
        .len()
}

/// The commits in the log: frames of the log as it is now that name a size of the database (<https://sqlite.org/fileformat2.html>).
fn commits(folder: &Path) -> usize {
    let log = fs::read(folder.join(LOG)).unwrap();
    let (header, frames) = log.split_at(32);
    let is_commit = |frame: &&[u8]| frame[8..16] == header[16..24] && frame[4..8] != [0; 4];
    frames.chunks_exact(FRAME).filter(is_commit).count()
}

#[tokio::test]
async fn what_many_boards_keep_at_the_same_time_is_one_commit_and_is_there_before_any_of_them_goes_on()
 {
    const BOARDS: usize = 20;
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path());
    for round in ["1", "2"] {
        let before = commits(folder.path());
        let mut keeping = tokio::task::JoinSet::new();
        for board in 0..BOARDS {
            let (store, place) = (store.clone(), folder.path().to_owned());
            keeping.spawn(async move {
                let name = format!("board-{board}");
                keep(&store, &name, round).await;
                let left = killed(&place);
                read(&Store::open(left.path()), &name)
            });
        }
        while let Some(kept) = keeping.join_next().await {
            assert_eq!(kept.unwrap().as_deref(), Some(round));
        }
        assert_eq!(commits(folder.path()) - before, 1);
    }
}

/// Whether this future waits for something, after one step.
async fn is_pending(mut future: Pin<&mut impl Future<Output = ()>>) -> bool {
    poll_fn(|context| Poll::Ready(future.as_mut().poll(context).is_pending())).await
}

#[tokio::test]
async fn a_task_that_ends_while_it_keeps_costs_others_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path());
    let mut first = Box::pin(keep(&store, "first", "1"));
    assert!(is_pending(first.as_mut()).await);
    let mut second = Box::pin(keep(&store, "second", "2"));
    assert!(is_pending(second.as_mut()).await);
    drop(first);
    second.await;
    let left = killed(folder.path());
    assert_eq!(
        read(&Store::open(left.path()), "second").as_deref(),
        Some("2")
    );
}

#[tokio::test]
async fn what_was_kept_is_there_after_a_kill_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path());
    for number in 0..50 {
        let value = format!("e2e4 {number}");
        keep(&store, "citrine", &value).await;
        if number % 10 == 0 {
            let left = killed(folder.path());
            assert_eq!(read(&Store::open(left.path()), "citrine"), Some(value));
        }
    }
    store.shelf(Kind::Board, "citrine").forget().await;
    let left = killed(folder.path());
    assert_eq!(read(&Store::open(left.path()), "citrine"), None);
}

#[tokio::test]
async fn a_log_torn_anywhere_leaves_a_value_that_was_kept() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path());
    for number in 0..4 {
        keep(&store, "neo", &format!("{number}")).await;
    }
    let whole = fs::read(folder.path().join(LOG)).unwrap();
    let whole = &whole[..USED];
    let step = whole.len() / 40;
    for length in (0..whole.len()).step_by(step) {
        for garbage in [&b""[..], &[0xa5; 3000]] {
            let left = killed(folder.path());
            let torn = [&whole[..length], garbage].concat();
            fs::write(left.path().join(LOG), torn).unwrap();
            let found = read(&Store::open(left.path()), "neo");
            let known = found
                .as_ref()
                .is_none_or(|found| found.parse::<u8>().unwrap() < 4);
            assert!(known, "{found:?} at {length}");
        }
    }
}

#[tokio::test]
async fn a_damaged_log_is_copied_and_one_cut_off_by_a_kill_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path());
    for number in 0..4 {
        keep(&store, "neo", &format!("{number}")).await;
    }
    let whole = fs::read(folder.path().join(LOG)).unwrap();
    // A page of the first commit; the header; a page that was never committed, as if the process had been killed there.
    let mut uncommitted = whole.clone();
    let frames = (0..).take_while(|n| whole[32 + n * FRAME + 8..][..8] == whole[16..24]);
    let end = 32 + frames.count() * FRAME;
    uncommitted.copy_within(32..32 + FRAME, end);
    uncommitted[end + 4..end + 8].fill(0);
    let bad = |at: usize| {
        let mut bad = whole.clone();
        bad[at] ^= 1;
        bad
    };
    for (log, copies, kept) in [
        (whole.clone(), 0, true),
        (bad(100), 1, false),
        (bad(20), 1, false),
        (uncommitted, 0, true),
    ] {
        let left = killed(folder.path());
        fs::write(left.path().join(LOG), log).unwrap();
        let found = read(&Store::open(left.path()), "neo");
        assert_eq!(damaged(left.path()), copies);
        assert_eq!(found.as_deref() == Some("3"), kept);
        // Said once.
        drop(Store::open(left.path()));
        assert_eq!(damaged(left.path()), copies);
    }
}

#[tokio::test]
async fn keeping_needs_no_more_room_than_is_held_in_reserve() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path());
    let lengths =
        || [DATABASE, LOG].map(|file| fs::metadata(folder.path().join(file)).unwrap().len());
    let before = lengths();
    for number in 0..400 {
        let name = format!("board{}", number % 8);
        keep(&store, &name, &format!("{number:05000}")).await;
    }
    assert_eq!(lengths(), before);
    // Nor after a restart.
    let left = killed(folder.path());
    let store = Store::open(left.path());
    assert_eq!(read(&store, "board7").unwrap(), format!("{:05000}", 399));
    assert_eq!(
        fs::metadata(left.path().join(DATABASE)).unwrap().len(),
        before[0]
    );
}

#[tokio::test]
async fn a_damaged_file_is_set_aside_and_few_of_them_stay() {
    let folder = tempfile::tempdir().unwrap();
    for round in 0..5 {
        // Names have the time, to the second.
        for found in 0..round {
            let name = format!("{DATABASE}.damaged-000000000{found}");
            fs::write(folder.path().join(name), "").unwrap();
        }
        fs::write(folder.path().join(DATABASE), [0x5a; 9000]).unwrap();
        let store = Store::open(folder.path());
        assert_eq!(read(&store, "ucb"), None);
        keep(&store, "ucb", "e2e4").await;
        store.close().await;
        assert!((1..=3).contains(&damaged(folder.path())));
    }
    assert_eq!(read(&Store::open(folder.path()), "ucb").unwrap(), "e2e4");
}

#[tokio::test]
async fn a_value_that_cannot_be_read_is_dropped_alone() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path());
    keep(&store, "neo", "not a number").await;
    store.shelf(Kind::Board, "ucb").keep(&7).await;
    store.close().await;
    let store = Store::open(folder.path());
    assert_eq!(store.shelf(Kind::Board, "neo").read::<u32>(), None);
    assert_eq!(store.shelf(Kind::Board, "ucb").read::<u32>(), Some(7));
}

#[tokio::test]
async fn a_second_daemon_runs_without_until_the_first_has_ended() {
    let folder = tempfile::tempdir().unwrap();
    let first = Store::open(folder.path());
    keep(&first, "neo", "first").await;
    let second = Store::open(folder.path());
    assert_eq!(read(&second, "neo"), None);
    keep(&second, "neo", "second").await;
    let left = killed(folder.path());
    assert_eq!(read(&Store::open(left.path()), "neo").unwrap(), "first");
    first.close().await;
    // It is the one that is left, and writes on its next attempt, at the latest when it is closed.
    second.close().await;
    assert_eq!(read(&Store::open(folder.path()), "neo").unwrap(), "second");
}

#[tokio::test]
async fn a_directory_that_cannot_be_made_costs_only_the_keeping_until_it_can() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state");
    fs::write(&path, "a file").unwrap();
    let store = Store::open(&path);
    let mut shelf = store.shelf(Kind::Board, "neo");
    shelf.keep(&"e2e4").await;
    fs::remove_file(&path).unwrap();
    // Written on the next attempt, at the latest when the store is closed.
    store.close().await;
    assert_eq!(read(&Store::open(&path), "neo").unwrap(), "e2e4");
}

#[tokio::test(start_paused = true)]
async fn a_disk_that_is_known_to_take_nothing_holds_nobody_up() {
    let folder = tempfile::tempdir().unwrap();
    let nowhere = folder.path().join("file");
    fs::write(&nowhere, "").unwrap();
    let store = Store::open(&nowhere);
    keep(&store, "citrine", "e2e4").await;
    let known = Instant::now();
    for value in ["e7e5", "g1f3"] {
        keep(&store, "citrine", value).await;
    }
    assert_eq!(known.elapsed(), Duration::ZERO);
}

/// A value that no game has, and another one each time.
fn long_value(number: usize) -> String {
    format!("{number}{}", "x".repeat(100_000))
}

#[tokio::test(start_paused = true)]
async fn a_value_that_changes_without_end_slows_its_own_task_and_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path());
    let (mut flood, mut other) = (store.shelf(Kind::App, "one"), store.shelf(Kind::App, "two"));
    for number in 0..100 {
        flood.keep(&long_value(number)).await;
    }
    let begun = Instant::now();
    for number in 100..120 {
        flood.keep(&long_value(number)).await;
    }
    assert!(begun.elapsed() > 15 * SLOW_WAIT, "{:?}", begun.elapsed());
    // What is only restated costs nothing.
    let begun = Instant::now();
    for _ in 0..100 {
        flood.keep(&long_value(119)).await;
    }
    assert_eq!(begun.elapsed(), Duration::ZERO);
    other.keep(&"e2e4").await;
    assert!(begun.elapsed() < SLOW_WAIT);
    // It is as before after a while.
    advance(Duration::from_secs(2 * EACH.at_once / EACH.per_second)).await;
    assert_eq!(flood.waits_until(), None);
}

#[tokio::test(start_paused = true)]
async fn twelve_quick_games_at_once_never_wait() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path());
    let boards = (0..12).map(|board| store.shelf(Kind::Board, &board.to_string()));
    let mut boards: Vec<_> = boards.collect();
    // Two games of 160 plies each, a ply in 0.3 s, three changes a ply; a value grows by 70 bytes.
    for ply in 0..320 {
        for change in 0..3 {
            for board in &mut boards {
                assert_eq!(board.waits_until(), None, "at ply {ply}");
                let value = format!("{change}{}", "x".repeat(70 * (ply % 160)));
                board.keep_at_once(&value).await;
            }
            advance(Duration::from_millis(100)).await;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn quick_games_go_on_for_as_long_as_the_hand_moves() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path());
    let mut board = store.shelf(Kind::Board, "one");
    // Eighty games of 60 plies each against a program, eight plies a second. A board's value does not grow with its game.
    for ply in 0..4800 {
        for change in 0..3 {
            assert_eq!(board.waits_until(), None, "at ply {ply}");
            let value = format!("{change}{}", "x".repeat(2000 + 30 * (ply % 60)));
            board.keep_at_once(&value).await;
        }
        if ply % 2 == 0 {
            board.moved();
        }
        advance(Duration::from_millis(125)).await;
    }
    // What only the program changes does not.
    for number in 0..100 {
        board.keep_at_once(&long_value(number)).await;
    }
    assert!(board.waits_until().is_some());
    // Nor does a board that reports moves without end.
    for number in 0..2000 {
        board.keep_at_once(&long_value(number)).await;
        board.moved();
    }
    assert!(board.is_overdrawn_until().is_some());
}

/// Waits until a kill would leave this value: files are made again within some syncs.
async fn is_kept(path: &Path, name: &str, value: &str) {
    let kept = async {
        while read(&Store::open(killed(path).path()), name).as_deref() != Some(value) {
            sleep(Duration::from_millis(10)).await;
        }
    };
    let kept = timeout(Duration::from_secs(20), kept).await;
    assert!(kept.is_ok(), "{name} is not {value}");
}

#[tokio::test]
async fn a_state_directory_that_is_deleted_is_made_again_with_all_that_was_kept() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state");
    let store = Store::open(&path);
    keep(&store, "citrine", "d2d4").await;
    keep(&store, "neo", "e2e4").await;
    fs::remove_dir_all(&path).unwrap();
    keep(&store, "neo", "e2e4 e7e5").await;
    is_kept(&path, "neo", "e2e4 e7e5").await;
    is_kept(&path, "citrine", "d2d4").await;
    // Only the log, or another directory in its place, as from a backup; and once more.
    fs::remove_file(path.join(LOG)).unwrap();
    keep(&store, "ucb", "c2c4").await;
    is_kept(&path, "ucb", "c2c4").await;
    fs::rename(&path, folder.path().join("old")).unwrap();
    let backup = Store::open(&path);
    keep(&backup, "ucb", "g2g4").await;
    keep(&backup, "other", "b2b4").await;
    backup.close().await;
    keep(&store, "neo", "e2e4 e7e5 g1f3").await;
    is_kept(&path, "neo", "e2e4 e7e5 g1f3").await;
    is_kept(&path, "ucb", "c2c4").await;
    // Also by a daemon that stops.
    fs::remove_dir_all(&path).unwrap();
    store.close().await;
    let left = Store::open(&path);
    assert_eq!(read(&left, "neo").as_deref(), Some("e2e4 e7e5 g1f3"));
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn what_is_written_is_for_its_user_alone_whatever_the_umask() {
    use std::os::unix::fs::PermissionsExt as _;

    use nix::sys::stat::{Mode, umask};

    fn modes(folder: &Path, found: &mut Vec<(String, u32)>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let mode = fs::metadata(&path).unwrap().permissions().mode() & 0o777;
            found.push((path.display().to_string(), mode));
            if path.is_dir() {
                modes(&path, found);
            }
        }
    }

    umask(Mode::from_bits_truncate(0o022));
    let folder = tempfile::tempdir().unwrap();
    let below = |name: &str| folder.path().join("new").join(name);
    let store = Store::open(&below("state"));
    keep(&store, "neo", "e2e4").await;
    fs::write(below("state").join(DATABASE), [0x5a; 9000]).unwrap();
    let again = Store::open(&below("state"));
    keep(&again, "neo", "e2e4").await;
    let board = "neo".parse().unwrap();
    let writing = Writing {
        over: None,
        instead_of: None,
        stem: "2026-11-21_153012_neo".to_owned(),
        text: "1. e4 *\n".to_owned(),
    };
    Folder::new(&below("games"), "neo".parse().unwrap())
        .write(&writing)
        .unwrap();
    drop(Recorder::begin(&below("record"), &board, "kind = \"swpp\"\n").unwrap());
    let mut found = Vec::new();
    modes(folder.path(), &mut found);
    assert!(found.len() > 8, "{found:?}");
    for (path, mode) in &found {
        assert_eq!(mode & 0o077, 0, "{path}: {mode:o}");
    }

    // What was opened to others is closed.
    let state = below("state");
    // Their threads may still close the files otherwise.
    store.close().await;
    again.close().await;
    for file in [DATABASE, LOG] {
        let open = fs::Permissions::from_mode(0o644);
        let _ = fs::set_permissions(state.join(file), open);
    }
    let _store = Store::open(&state);
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&state.join(DATABASE)), 0o600);
    assert_eq!(mode(&state.join(LOG)), 0o600);

    // Games in a folder that was opened to others stay as open as the umask allows: docs/games.md.
    let shared = folder.path().join("shared");
    fs::create_dir(&shared).unwrap();
    fs::set_permissions(&shared, fs::Permissions::from_mode(0o1777)).unwrap();
    let file = Folder::new(&shared, board).write(&writing).unwrap();
    assert_eq!(mode(&shared.join(file)), 0o644);
    assert_eq!(mode(&shared), 0o777);
}
