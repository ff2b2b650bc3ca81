//! An engine's process: where it is started, with what, in which control group, what it says last, and that nothing of it is
//! left running.

use std::{
    fs::{self, File},
    io::Read as _,
    os::unix::fs::{PermissionsExt as _, symlink},
    path::Path,
    process::Command,
    sync::mpsc,
    thread,
};

use boardbridge::{
    front_end::opponent::{
        process::{INTAKE, Process},
        settings::Program,
        uci::Fault,
    },
    system::cgroup::Cgroup,
};
use simulators::bluez::Bluez;
use tokio::time::{Duration, Instant, timeout};

use crate::support::{FAST_CITRINE, House, PATIENCE, process::Process as Daemon};

/// What is killed has ended within this time: sooner than the engines of these tests end by themselves, after 60 s.
const KILLED: Duration = Duration::from_secs(30);

/// An engine that is this script.
fn script(text: &str) -> Program {
    Program {
        path: "/bin/sh".into(),
        arguments: vec!["-c".to_owned(), text.to_owned()],
    }
}

/// A pipe with a name, which whoever is in an engine's process group holds open.
struct Lifeline {
    folder: tempfile::TempDir,
    ended: mpsc::Receiver<()>,
}

impl Lifeline {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("alive");
        assert!(
            Command::new("mkfifo")
                .arg(&pipe)
                .status()
                .unwrap()
                .success()
        );
        let (sender, ended) = mpsc::channel();
        thread::spawn(move || {
            let mut held = File::open(pipe).unwrap();
            let _ = held.read_to_end(&mut Vec::new());
            sender.send(()).unwrap();
        });
        Self { folder, ended }
    }

    /// A shell that starts an engine and waits for it. The engine does not leave when it should, only a minute later.
    fn wrapper(&self) -> String {
        let pipe = self.folder.path().join("alive");
        let engine = "n=0; while [ $n -lt 60 ]; do read -r line || { sleep 1; n=$((n + 1)); }; \
             case $line in uci) echo uciok;; isready) echo readyok;; esac; done";
        format!("exec 9> {}; sh -c '{engine}'; :", pipe.display())
    }

    /// Whether all that held it have ended, at last.
    fn is_cut(&self) -> bool {
        self.ended.recv_timeout(KILLED).is_ok()
    }
}

/// What an engine says at its end.
async fn last_words(script_text: &str) -> String {
    let mut process = Process::start(&script(script_text), None).unwrap();
    loop {
        let line = timeout(PATIENCE, process.next_line()).await.unwrap();
        if let Err(why) = line {
            return Fault::Ended(why).told(process.last_words());
        }
    }
}

#[tokio::test]
async fn an_engine_gets_its_arguments_and_works_where_its_file_is() {
    let folder = tempfile::tempdir().unwrap();
    let link = folder.path().join("engine");
    symlink("/bin/pwd", &link).unwrap();
    let mut program = Program::from(link);
    program.arguments = vec!["-P".to_owned()];
    let mut process = Process::start(&program, None).unwrap();
    let said = timeout(PATIENCE, process.next_line()).await.unwrap();
    let home = fs::canonicalize("/bin/pwd").unwrap();
    let home = home.parent().unwrap();
    assert_eq!(Path::new(str::from_utf8(&said.unwrap()).unwrap()), home);
    let mut program = script("echo \"$0\"");
    program.arguments.push("--net=a b".to_owned());
    let mut process = Process::start(&program, None).unwrap();
    let said = timeout(PATIENCE, process.next_line()).await.unwrap();
    assert_eq!(said, Ok(b"--net=a b".to_vec()));
}

#[tokio::test]
async fn the_end_of_an_engine_is_told_with_what_it_said_last() {
    let why = last_words("echo reading net; echo 'cannot open a.pb' >&2; exit 3").await;
    assert_eq!(
        why,
        "the engine has ended (exit status 3). It last said `cannot open a.pb`"
    );
    let why = last_words("echo info string no such net; echo info depth 1; exit 1").await;
    assert!(
        why.ends_with("(exit status 1). It last said `no such net`"),
        "{why}"
    );
    // Without the end of the line, and with what a terminal must not get.
    let why = last_words("printf 'bad \\033[2Jnet' >&2").await;
    assert!(why.ends_with("It last said `bad \\x1b[2Jnet`"), "{why}");
    let why = last_words("kill -9 $$").await;
    assert!(
        why.contains("signal 9") && why.contains("memory") && !why.contains("said"),
        "{why}"
    );
}

#[tokio::test]
async fn what_a_wrapper_has_started_ends_with_it() {
    let lifeline = Lifeline::new();
    let mut process = Process::start(&script(&lifeline.wrapper()), None).unwrap();
    process.write("uci");
    assert_eq!(
        timeout(PATIENCE, process.next_line()).await.unwrap(),
        Ok(b"uciok".to_vec())
    );
    drop(process);
    assert!(lifeline.is_cut());
    // One that was asked to leave, and does not.
    let lifeline = Lifeline::new();
    let mut process = Process::start(&script(&lifeline.wrapper()), None).unwrap();
    process.write("uci");
    assert!(
        timeout(PATIENCE, process.next_line())
            .await
            .unwrap()
            .is_ok()
    );
    process.quit().await;
    assert!(lifeline.is_cut());
}

#[tokio::test]
async fn no_engine_outlives_a_daemon_that_is_stopped() {
    let lifeline = Lifeline::new();
    let bluez = Bluez::start().unwrap();
    let wrapper = lifeline.wrapper();
    let text = format!(
        "[boards.citrine]\n{FAST_CITRINE}serial = {{ port = \"/dev/no-such-port\" }}\n[[opponent]]\nboard = \"citrine\"\nengine = [\"/bin/sh\", \"-c\", {wrapper:?}]\n"
    );
    let mut daemon = Daemon::start(&bluez, &text);
    daemon.logs("readyok").await;
    daemon.kept().await;
    assert!(lifeline.is_cut());
}

/// The files of a control group, without a kernel behind them.
#[tokio::test]
async fn an_engine_is_in_its_control_group_with_its_limits_before_it_runs() {
    let folder = House::folder();
    let at = |file: &str| folder.path().join(file);
    let cgroup = Cgroup::at(folder.path().to_owned()).unwrap();
    cgroup.limit_daemon(1000);
    let text = |file: &str| fs::read_to_string(at(file)).unwrap();
    assert_eq!(text("daemon/cgroup.procs"), "0");
    assert_eq!(text("daemon/memory.max"), "1000");
    let group = cgroup.subgroup("neo", 2000).unwrap();
    assert_eq!(text("engine-neo/memory.max"), "2000");
    let door = group.door();
    let says = format!("cat {}", door.display());
    let mut process = Process::start(&script(&says), Some(group)).unwrap();
    let entered = timeout(PATIENCE, process.next_line()).await.unwrap();
    assert_eq!(entered, Ok(b"0".to_vec()));
    let why = timeout(PATIENCE, process.next_line()).await.unwrap();
    assert_eq!(why, Err("the engine has ended (exit status 0)".to_owned()));
}

#[tokio::test]
async fn an_engine_that_the_kernel_ends_for_its_memory_is_told_so() {
    let folder = House::folder();
    let cgroup = Cgroup::at(folder.path().to_owned()).unwrap();
    let events = folder.path().join("engine-neo/memory.events");
    let limit = "for its memory: lower its option `Hash`, or raise `memory`";
    let machine =
        "the machine (or the service as a whole) ran out of memory: lower its options `Hash`";
    for (counts, told) in [
        ("oom 1\noom_kill 1", "signal 9"),
        // Its group has not reached its limit: that of another has.
        ("oom 1\noom_kill 2", machine),
        ("oom 2\noom_kill 2", limit),
        ("oom 2\noom_kill 1", "signal 9"),
    ] {
        fs::create_dir_all(events.parent().unwrap()).unwrap();
        fs::write(&events, "oom 1\noom_kill 1\n").unwrap();
        let group = cgroup.subgroup("neo", 2000).unwrap();
        let text = format!("echo '{counts}' > {}; kill -9 $$", events.display());
        let mut process = Process::start(&script(&text), Some(group)).unwrap();
        let why = timeout(PATIENCE, process.next_line()).await.unwrap();
        let why = why.unwrap_err();
        assert!(why.contains(told), "{counts}: {why}");
    }
}

#[tokio::test]
async fn an_engine_that_cannot_be_started_in_its_group_is_told_as_without_one() {
    let folder = House::folder();
    let cgroup = Cgroup::at(folder.path().to_owned()).unwrap();
    let engine = folder.path().join("engine");
    fs::write(&engine, "#!/nowhere/sh\n").unwrap();
    fs::set_permissions(&engine, fs::Permissions::from_mode(0o755)).unwrap();
    let group = cgroup.subgroup("neo", 2000).unwrap();
    let mut process = Process::start(&engine.clone().into(), Some(group)).unwrap();
    let why = timeout(PATIENCE, process.next_line()).await.unwrap();
    let why = Fault::Ended(why.unwrap_err()).told(process.last_words());
    let begin = format!("the engine {} cannot be started: ", engine.display());
    assert!(why.starts_with(&begin), "{why}");
    assert!(!why.contains("cgroup") && !why.contains("said"), "{why}");
    // One that has such a status of its own.
    let group = cgroup.subgroup("neo", 2000).unwrap();
    let mut process = Process::start(&script("echo no net >&2; exit 127"), Some(group)).unwrap();
    let why = timeout(PATIENCE, process.next_line()).await.unwrap();
    assert_eq!(
        why,
        Err("the engine has ended (exit status 127)".to_owned())
    );
    assert_eq!(process.last_words(), Some("no net"));
}

#[tokio::test]
async fn an_engine_that_gets_no_control_group_plays_without_one() {
    let folder = House::folder();
    let pipe = Lifeline::new();
    let group = folder.path().join("group");
    fs::create_dir(&group).unwrap();
    let cgroup = Cgroup::at(group.clone()).unwrap();
    fs::remove_dir_all(group).unwrap();
    let held = format!(": > {}", pipe.folder.path().join("alive").display());
    let more =
        format!("[[opponent]]\nboard = \"citrine\"\nengine = [\"/bin/sh\", \"-c\", {held:?}]\n");
    let _house = House::grouped(folder, &[("citrine", FAST_CITRINE)], &more, cgroup).await;
    let is_cut = tokio::task::spawn_blocking(move || pipe.is_cut());
    assert!(is_cut.await.unwrap(), "the engine was not started");
}

#[test]
fn the_groups_of_engines_that_are_gone_are_removed() {
    let folder = House::folder();
    let at = |name: &str| folder.path().join(name);
    let make = |name: &str| fs::create_dir(at(name)).unwrap();
    for name in ["engine-before", "other"] {
        make(name);
    }
    let cgroup = Cgroup::at(folder.path().to_owned()).unwrap();
    assert!(!at("engine-before").exists() && at("other").exists());
    let (one, two) = (cgroup.subgroup("one", 1), cgroup.subgroup("two", 1));
    // The files of a real group go with its folder.
    for file in fs::read_dir(at("engine-two")).unwrap() {
        fs::remove_file(file.unwrap().path()).unwrap();
    }
    // A process was still ending when it was to be removed.
    make("engine-late");
    drop(one.unwrap());
    assert!(!at("engine-late").exists());
    // This one is in use.
    assert!(at("engine-two").exists() && at("daemon").exists());
    drop(two.unwrap());
}

/// The daemon listens to it only until something else happens.
#[tokio::test]
async fn an_engine_that_closes_its_output_and_stays_is_given_up_however_often_that_is_interrupted()
{
    let mut process = Process::start(&script("exec >&- 2>&-; exec sleep 600"), None).unwrap();
    let heard = async {
        loop {
            // Shorter than it may take to leave.
            if let Ok(heard) = timeout(Duration::from_millis(100), process.next_line()).await {
                return heard;
            }
        }
    };
    let heard = timeout(PATIENCE, heard).await.unwrap();
    assert_eq!(heard, Err("the engine has closed its output".to_owned()));
}

/// Time stands still but for what waits: it is the time that the engine is made to wait.
#[tokio::test(start_paused = true)]
async fn an_engine_that_talks_without_end_is_read_slowly() {
    let mut process = Process::start(&script("yes info depth 1 score cp 1 pv e2e4"), None).unwrap();
    let begun = Instant::now();
    let most = INTAKE.at_once + 8 * INTAKE.per_second;
    let mut read = 0;
    while read < most {
        let line = process.next_line().await.unwrap();
        read += u64::try_from(line.len()).unwrap();
    }
    assert!(
        begun.elapsed() >= Duration::from_secs(8),
        "{:?}",
        begun.elapsed()
    );
}
