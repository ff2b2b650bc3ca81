//! How much the program writes to the disk, and how often it syncs, counted from outside: whatever a client does, both stay within
//! what `docs/state.md` states for the time that has passed.

use std::{
    fs,
    io::ErrorKind,
    path::{Path, PathBuf},
    process::Command,
    time::{Duration, Instant},
};

use crate::support::{Gui, House, logged::Logged};

/// Syncs that the state may make at once, and in a minute after that (`docs/state.md`).
const SYNCS: [u64; 2] = [30, 60];
/// Bytes that one value may write at once, and in a second after that (`docs/state.md`).
const BYTES: [u64; 2] = [8 * 1024 * 1024, 16 * 1024];
/// What a commit writes beside its page (24 bytes of 2,048), and pages that are moved from the log into the database after every 500
/// commits: the same few again and again.
const MORE_BYTES: u64 = 10;
/// Games that the client begins, a commit each: enough for most of what may be written at once.
const ROUNDS: usize = 3000;

/// The library that counts syncs; `None` without a C compiler.
fn counter(folder: &Path) -> Option<PathBuf> {
    let library = folder.join("syncs.so");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/daemon/syncs.c");
    let compiled = Command::new("cc")
        .args(["-shared", "-fPIC", "-Wall", "-Wextra", "-Werror", "-o"])
        .args([&library, &source])
        .output();
    match compiled {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            println!("skipped: there is no C compiler (cc) to count syncs with");
            None
        }
        compiled => {
            let compiled = compiled.unwrap();
            let said = String::from_utf8_lossy(&compiled.stderr);
            assert!(compiled.status.success(), "{said}");
            Some(library)
        }
    }
}

/// A daemon that keeps its state, with a board that is not connected, whose syncs are counted.
struct Counted {
    process: Logged,
    syncs: PathBuf,
}

impl Counted {
    fn start(folder: &Path, counter: &Path) -> Self {
        let file = folder.join("bb.toml");
        let [port, state, syncs] = ["board", "state", "syncs"].map(|name| folder.join(name));
        let text = format!(
            "[uci]\nlisten = \"127.0.0.1:0\"\n[status]\nlisten = \"127.0.0.1:0\"\n[web]\nlisten = \"off\"\n\
             [livechess]\nlisten = \"off\"\n[games]\ndirectory = \"off\"\n[state]\ndirectory = {state:?}\n\
             [boards.one]\nkind = \"novag-ucb\"\nserial = {{ port = {port:?} }}\n"
        );
        fs::write(&file, text).unwrap();
        fs::write(&syncs, "").unwrap();
        let process = Logged::start(
            Command::new(env!("CARGO_BIN_EXE_boardbridge"))
                .args(["run", "--config"])
                .arg(&file)
                .env("LD_PRELOAD", counter)
                .env("SYNCS", &syncs)
                .env("RUST_LOG", "info")
                .env_remove("JOURNAL_STREAM"),
        );
        Self { process, syncs }
    }

    fn syncs(&self) -> u64 {
        fs::metadata(&self.syncs).unwrap().len()
    }

    /// Bytes that it has written, to disks, to its clients, to its log and to wake its own threads.
    fn written(&self) -> u64 {
        let counts = fs::read_to_string(format!("/proc/{}/io", self.process.id())).unwrap();
        let count = counts.lines().find_map(|line| line.strip_prefix("wchar: "));
        count.unwrap().parse().unwrap()
    }
}

#[tokio::test]
async fn a_flood_of_games_writes_and_syncs_no_more_than_the_budget_for_its_time() {
    let folder = House::folder();
    let Some(counter) = counter(folder.path()) else {
        return;
    };
    let began = Instant::now();
    let mut daemon = Counted::start(folder.path(), &counter);
    let mut gui = Gui::connect(daemon.process.address("uci").await).await;
    let mut watch = Gui::connect(daemon.process.address("status").await).await;
    gui.asks("").await;
    gui.says("stop").await;
    gui.hears("bestmove").await;
    // Opening the database makes some of its own, once.
    let (opened, before) = (daemon.syncs(), daemon.written());
    assert!(opened > 0, "no sync is counted");
    for round in 0..ROUNDS {
        let first = ["e2e4", "d2d4", "c2c4"][round % 3];
        let text = format!("ucinewgame\nposition startpos moves {first}\ngo\nstop\nisready");
        gui.says(&text).await;
        // One after the other, for what comes together is one change: a game is told once it is kept.
        gui.hears("readyok").await;
        watch
            .hears_of(&format!("target: startpos moves {first}"))
            .await;
    }
    let told: usize = gui.log.iter().chain(&watch.log).map(String::len).sum();
    let (syncs, written) = (
        daemon.syncs() - opened,
        daemon.written() - before - u64::try_from(told).unwrap(),
    );
    // A second more: what is earned in one that has begun.
    let seconds = (began.elapsed() + Duration::from_secs(1)).as_secs();
    println!(
        "{ROUNDS} games in {seconds} s: {syncs} syncs, {} KiB",
        written / 1024
    );
    let [at_once, a_minute] = SYNCS;
    assert!(
        syncs <= at_once + a_minute * seconds / 60,
        "{syncs} in {seconds} s"
    );
    let [at_once, a_second] = BYTES;
    let budget = at_once + a_second * seconds;
    assert!(
        written <= budget + budget / MORE_BYTES,
        "{written} in {seconds} s"
    );
    // The flood was one: without a budget it would have written more.
    assert!(written > at_once / 2, "{written}");
    daemon.process.signal("TERM");
    daemon.process.ended().await;
}
