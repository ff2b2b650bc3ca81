//! UCI from the GUI's side, and an engine that crashes and hangs: without a process, on a clock of the test.

use std::time::{Duration, Instant};

use boardbridge::{
    chess::game::Game,
    front_end::opponent::{
        engine::{Action, Engine, MAX_RESTART_WAIT, Question, RESTART_WAIT},
        notice::Notice,
        settings::{EngineSettings, Go, MemoryLimit, OptionValue, PATIENCE},
        uci::OVERTIME,
    },
    vocabulary::Evaluation,
};
use proptest::prelude::*;
use serde::{Deserialize, de::IntoDeserializer};

/// An engine whose process is the test.
struct Rig {
    engine: Engine,
    now: Instant,
    /// A process runs.
    runs: bool,
    starts: usize,
    /// What it was told.
    told: Vec<String>,
}

fn question(number: u64, moves: &str) -> Question {
    let mut game = Game::standard();
    game.play_uci(moves.split_whitespace()).unwrap();
    Question {
        number,
        game_number: 1,
        game,
    }
}

impl Rig {
    fn new(go: &str) -> Self {
        Self::with("Hash", OptionValue::Spin(16), go)
    }

    /// With this option.
    fn with(name: &str, value: OptionValue, go: &str) -> Self {
        let now = Instant::now();
        let go: Go =
            Go::deserialize(IntoDeserializer::<serde::de::value::Error>::into_deserializer(go))
                .unwrap();
        let options = [(name.to_owned(), value)].into();
        let settings = EngineSettings {
            program: "/opt/engine".into(),
            memory: MemoryLimit::for_options(&options),
            options,
            go,
            patience: PATIENCE,
        };
        let mut rig = Self {
            engine: Engine::new(now, settings),
            now,
            runs: false,
            starts: 0,
            told: Vec::new(),
        };
        rig.passes(Duration::ZERO);
        rig
    }

    fn acts(&mut self) {
        while let Some(action) = self.engine.poll_action() {
            match action {
                Action::Start => {
                    assert!(!self.runs, "started twice");
                    self.runs = true;
                    self.starts += 1;
                    self.engine.started(self.now);
                }
                Action::Write(line) => {
                    assert!(self.runs, "told a dead engine {line}");
                    assert!(!line.contains('\n'), "{line:?}");
                    self.told.push(line);
                }
                Action::Kill => self.runs = false,
            }
        }
    }

    fn passes(&mut self, time: Duration) {
        let end = self.now + time;
        while let Some(due) = self.engine.deadline().filter(|due| *due <= end) {
            self.now = self.now.max(due);
            self.engine.timeout(self.now);
            self.acts();
        }
        self.now = end;
    }

    fn says(&mut self, line: &str) {
        self.engine.line(self.now, line.as_bytes());
        self.acts();
    }

    fn greets(&mut self) {
        for line in [
            "id name Toy 2",
            "option name Hash type spin",
            "uciok",
            "readyok",
        ] {
            self.says(line);
        }
    }

    fn is_asked(&mut self, question: Option<Question>) {
        self.engine.want(self.now, question);
        self.acts();
    }

    fn answer(&mut self) -> Option<(u64, String)> {
        let answer = self.engine.poll_answer()?;
        let m = boardbridge::chess::game::uci(answer.m).to_string();
        Some((answer.question.number, m))
    }

    /// What it was told since then.
    fn heard(&mut self) -> String {
        std::mem::take(&mut self.told).join("; ")
    }

    fn notices(&mut self) -> Vec<Notice> {
        std::iter::from_fn(|| self.engine.poll_notice()).collect()
    }
}

#[test]
fn an_engine_is_greeted_set_up_and_asked() {
    let mut rig = Rig::new("movetime 500");
    rig.is_asked(Some(question(1, "e2e4")));
    assert_eq!(rig.heard(), "uci");
    rig.greets();
    assert_eq!(&**rig.engine.name(), "Toy 2");
    assert_eq!(
        rig.heard(),
        "setoption name Hash value 16; isready; ucinewgame; isready"
    );
    rig.says("readyok");
    assert_eq!(rig.heard(), "position startpos moves e2e4; go movetime 500");
    rig.says("info depth 3");
    rig.says("bestmove e7e5 ponder g1f3");
    assert_eq!(rig.answer(), Some((1, "e7e5".to_owned())));
    rig.is_asked(Some(question(2, "e2e4 e7e5 g1f3")));
    assert_eq!(
        rig.heard(),
        "position startpos moves e2e4 e7e5 g1f3; go movetime 500"
    );
}

/// Seen from White's side; that of its best line, once it is no bound.
#[test]
fn an_answer_has_what_the_engine_made_of_the_position_last() {
    let cp = |number| Some(Evaluation::Cp(number));
    for (moves, lines, judged) in [
        ("e2e4", &["info depth 1 score cp 35 pv e7e5"][..], cp(-35)),
        ("", &["info depth 9 multipv 1 score cp 35 nodes 7"], cp(35)),
        (
            "",
            &["info score cp 35", "info multipv 2 score cp 9"],
            cp(35),
        ),
        (
            "",
            &["info score cp 35", "info score cp 99 upperbound"],
            cp(35),
        ),
        ("", &["info score cp 35", "info string score cp 9"], cp(35)),
        (
            "",
            &["info depth 1 score mate -3"],
            Some(Evaluation::Mate(-3)),
        ),
        ("e2e4", &["info score mate 2"], Some(Evaluation::Mate(-2))),
        ("e2e4", &["info score cp -2147483648"], None),
        ("", &["info score", "info score cp", "info score 7"], None),
        ("", &["info depth 3"], None),
    ] {
        let mut rig = Rig::new("depth 3");
        rig.greets();
        // What is said before it is asked is of nothing.
        rig.says("info score cp 500");
        rig.is_asked(Some(question(1, moves)));
        rig.says("readyok");
        for line in lines {
            rig.says(line);
        }
        rig.says(if moves.is_empty() {
            "bestmove e2e4"
        } else {
            "bestmove e7e5"
        });
        let answer = rig.engine.poll_answer().unwrap();
        assert_eq!(answer.evaluation, judged, "{lines:?}");
    }
}

#[test]
fn a_number_that_the_engine_does_not_take_is_set_to_the_nearest_and_reported() {
    for (range, set) in [("min 1 max 8", 8), ("min 32 max 64", 32)] {
        let mut rig = Rig::new("movetime 500");
        rig.is_asked(Some(question(1, "e2e4")));
        rig.says(&format!("option name Hash type spin default 1 {range}"));
        rig.says("uciok");
        assert_eq!(
            rig.heard(),
            format!("uci; setoption name Hash value {set}; isready")
        );
        let notices = rig.notices();
        let text = notices.first().map(ToString::to_string);
        let text = text.unwrap_or_default();
        assert!(
            text.contains(&format!("set to {set} instead of 16")),
            "{text}"
        );
    }
}

#[test]
fn a_text_where_the_engine_takes_a_number_or_a_switch_is_read_as_one_or_not_sent() {
    for (kind, given, set) in [
        (
            "spin default 1500 min 1320 max 3190",
            "abc",
            Err("1320 to 3190"),
        ),
        ("spin default 1500 min 1320 max 3190", "1500", Ok("1500")),
        ("check default false", "maybe", Err("true or false")),
        ("check default false", "true", Ok("true")),
        ("string default", "maybe", Ok("maybe")),
    ] {
        let text = OptionValue::Text(given.to_owned());
        let mut rig = Rig::with("UCI_Elo", text, "movetime 500");
        rig.is_asked(Some(question(1, "e2e4")));
        rig.says(&format!("option name UCI_Elo type {kind}"));
        rig.says("uciok");
        let told = rig.notices().first().map(ToString::to_string);
        let told = told.unwrap_or_default();
        match set {
            Ok(set) => {
                let lines = format!("uci; setoption name UCI_Elo value {set}; isready");
                assert_eq!((rig.heard(), told), (lines, String::new()));
            }
            Err(wanted) => {
                assert_eq!(rig.heard(), "uci; isready");
                let words = format!("takes {wanted} as `UCI_Elo`, not `{given}`");
                assert!(told.contains(&words), "{told}");
            }
        }
    }
}

#[test]
fn an_answer_that_is_no_longer_wanted_is_stopped_and_dropped() {
    let mut rig = Rig::new("depth 3");
    rig.greets();
    rig.is_asked(Some(question(1, "")));
    rig.says("readyok");
    rig.heard();
    rig.is_asked(Some(question(2, "d2d4")));
    assert_eq!(rig.heard(), "stop");
    rig.says("bestmove e2e4");
    assert_eq!(rig.answer(), None);
    assert_eq!(rig.heard(), "position startpos moves d2d4; go depth 3");
    rig.says("bestmove d7d5");
    assert_eq!(rig.answer(), Some((2, "d7d5".to_owned())));
}

/// A net may be loaded only when it is needed.
#[test]
fn the_first_answer_of_a_process_may_take_its_whole_patience() {
    for stopped in [false, true] {
        let mut rig = Rig::new("movetime 500");
        rig.greets();
        rig.is_asked(Some(question(1, "e2e4")));
        rig.says("readyok");
        if stopped {
            rig.is_asked(None);
        }
        rig.passes(PATIENCE - Duration::from_millis(1));
        assert!(rig.runs);
        rig.passes(Duration::from_millis(1));
        assert!(!rig.runs);
    }
}

#[test]
fn a_mistyped_option_is_told_with_the_one_that_may_be_meant() {
    let mut rig = Rig::new("movetime 500");
    rig.says("option name Hash Size type spin default 1 min 1 max 8");
    rig.says("option name \u{1b}[31mHash type spin");
    rig.says("uciok");
    let notices = rig.notices();
    let text = notices.first().map(ToString::to_string).unwrap_or_default();
    assert_eq!(
        text,
        "the engine has no option `Hash`; did you mean `Hash Size`?"
    );
}

#[test]
fn an_engine_may_take_memory_for_its_hash_table_and_its_threads_and_half_a_gibibyte_more() {
    let with = |name: &str, value| MemoryLimit::for_options(&[(name.to_owned(), value)].into());
    let mebibytes = |memory: MemoryLimit| memory.bytes() / 1024 / 1024;
    assert_eq!(mebibytes(with("hash", OptionValue::Spin(1024))), 1536);
    assert_eq!(mebibytes(with("Hash", OptionValue::Spin(-5))), 512);
    let text = |number: &str| OptionValue::Text(number.to_owned());
    assert_eq!(mebibytes(with("Hash", text("1024"))), 1536);
    assert_eq!(mebibytes(with("Hash", text("much"))), 512);
    assert_eq!(mebibytes(with("threads", OptionValue::Spin(4))), 608);
    let most = OptionValue::Spin(i64::MAX);
    assert_eq!(mebibytes(with("Threads", most)), 1024 * 1024);
}

#[test]
fn a_hung_engine_is_killed_ten_seconds_over_its_time_and_asked_the_same_again() {
    let mut rig = Rig::new("movetime 500");
    rig.greets();
    rig.is_asked(Some(question(0, "")));
    rig.says("readyok");
    rig.says("bestmove e2e4");
    rig.answer();
    rig.is_asked(Some(question(1, "e2e4")));
    rig.passes(Duration::from_millis(499) + OVERTIME);
    assert!(rig.runs);
    rig.passes(Duration::from_millis(1));
    assert!(!rig.runs);
    assert!(matches!(&rig.notices()[..], [Notice::Fault(why)] if why.contains("10 s")));
    assert!(rig.engine.trouble().is_some());
    rig.passes(RESTART_WAIT);
    rig.heard();
    rig.greets();
    rig.says("readyok");
    assert!(
        rig.heard()
            .ends_with("position startpos moves e2e4; go movetime 500")
    );
    rig.says("bestmove c7c5");
    assert_eq!(rig.answer(), Some((1, "c7c5".to_owned())));
    assert_eq!(rig.notices(), [Notice::Recovered]);
    assert_eq!(rig.engine.trouble(), None);
}

#[test]
fn without_a_time_the_engine_has_hung_after_its_patience() {
    let mut rig = Rig::new("depth 30");
    rig.greets();
    rig.is_asked(Some(question(1, "e2e4")));
    rig.says("readyok");
    rig.passes(PATIENCE - Duration::from_millis(1));
    assert!(rig.runs);
    rig.passes(Duration::from_millis(1));
    assert!(!rig.runs);
}

#[test]
fn a_program_that_is_no_engine_is_started_ever_less_often_and_told_once() {
    let mut rig = Rig::new("depth 3");
    rig.passes(Duration::from_secs(3600));
    let least = 3600 / (PATIENCE + MAX_RESTART_WAIT).as_secs() as usize;
    assert!((least..least + 8).contains(&rig.starts), "{}", rig.starts);
    assert_eq!(rig.notices().len(), 1);
    // One that ends at once is started no oftener than its waits allow.
    let mut rig = Rig::new("depth 3");
    for _ in 0..1000 {
        if rig.runs {
            rig.runs = false;
            rig.engine.ended(rig.now, "the engine has ended".to_owned());
            rig.acts();
        }
        rig.passes(Duration::from_secs(1));
    }
    assert!(rig.starts < 25, "{}", rig.starts);
}

#[test]
fn what_an_engine_said_last_is_told_with_its_fault_whichever_it_is() {
    let faults: [fn(&mut Rig); 4] = [
        |rig| rig.passes(PATIENCE),
        |rig| {
            rig.greets();
            rig.is_asked(Some(question(1, "e2e4")));
            rig.passes(2 * PATIENCE);
        },
        |rig| {
            rig.greets();
            rig.is_asked(Some(question(1, "e2e4")));
            rig.says("readyok");
            rig.says("bestmove e2e4");
        },
        |rig| rig.engine.ended(rig.now, "the engine has ended".to_owned()),
    ];
    for fails in faults {
        let mut rig = Rig::new("depth 3");
        rig.engine.last_words(Some("no net"));
        fails(&mut rig);
        let notices = rig.notices();
        let [Notice::Fault(why)] = &notices[..] else {
            panic!("{notices:?}");
        };
        assert!(why.ends_with(". It last said `no net`"), "{why}");
        assert_eq!(rig.engine.trouble(), Some(why));
    }
}

#[test]
fn the_same_fault_is_told_once_whatever_the_engine_said_last() {
    let mut rig = Rig::new("depth 3");
    for second in 0..100 {
        if rig.runs {
            rig.runs = false;
            rig.engine
                .last_words(Some(&format!("[12:00:{second}] no net")));
            rig.engine.ended(rig.now, "the engine has ended".to_owned());
            rig.acts();
        }
        rig.passes(Duration::from_secs(1));
    }
    assert!(rig.starts > 3);
    assert_eq!(rig.notices().len(), 1);
    rig.engine
        .ended(rig.now, "the engine has ended otherwise".to_owned());
    assert_eq!(rig.notices().len(), 1);
}

#[test]
fn an_illegal_answer_is_a_fault_in_words() {
    for answer in ["e7e6e5", "e2e4", "0000", "(none)", "", "e7\u{1b}[2J"] {
        let mut rig = Rig::new("depth 3");
        rig.greets();
        rig.is_asked(Some(question(1, "e2e4")));
        rig.says("readyok");
        rig.says(&format!("bestmove {answer}"));
        assert_eq!(rig.answer(), None);
        let notices = rig.notices();
        let [Notice::Fault(why)] = &notices[..] else {
            panic!("{notices:?}");
        };
        assert!(why.contains("not a legal move"), "{why}");
        assert!(!why.contains('\u{1b}'), "{why}");
    }
}

proptest! {
    /// Whatever an engine prints, and whenever: it is never asked two things at once, answers are legal and wanted, and
    /// once it behaves it plays.
    #[test]
    fn whatever_an_engine_says_only_wanted_legal_moves_come_out(
        acts in prop::collection::vec((0..9_u8, 0..4_u64, "[ -~]{0,12}"), 0..60)
    ) {
        let mut rig = Rig::new("depth 3");
        let games = ["", "e2e4", "e2e4 e7e5", "e2e4 e7e5 g1f3"];
        let mut wanted: Option<Question> = None;
        let mut number = 0;
        for (what, which, text) in acts {
            match what {
                0 => rig.says("uciok"),
                1 => rig.says("readyok"),
                2 => rig.says("bestmove e2e4"),
                3 => rig.says("bestmove e7e5"),
                4 => rig.says(&text),
                5 => rig.says(&format!("bestmove {text}")),
                6 => {
                    number += 1;
                    wanted = Some(question(number, games[which as usize]));
                    rig.is_asked(wanted.clone());
                }
                7 if rig.runs => {
                    rig.runs = false;
                    rig.engine.ended(rig.now, "it ended".to_owned());
                    rig.acts();
                }
                _ => rig.passes(Duration::from_secs(10 * which)),
            }
            while let Some(answer) = rig.engine.poll_answer() {
                let asked = wanted.take().unwrap();
                prop_assert_eq!(&answer.question, &asked);
                prop_assert!(asked.game.position().clone().play(answer.m).is_ok());
            }
            let thinks = rig.told.iter().filter(|line| line.starts_with("go ")).count();
            let heard = rig.told.iter().filter(|line| *line == "stop").count();
            prop_assert!(thinks + 1 >= heard);
        }
        // Now it behaves.
        rig.is_asked(None);
        rig.passes(MAX_RESTART_WAIT + 2 * PATIENCE);
        for _ in 0..3 {
            rig.says("uciok");
            rig.says("readyok");
            rig.says("bestmove e2e4");
        }
        if !rig.runs {
            rig.passes(MAX_RESTART_WAIT);
            rig.greets();
        }
        while rig.engine.poll_answer().is_some() {}
        rig.is_asked(Some(question(number + 1, "")));
        rig.says("readyok");
        rig.says("bestmove e2e4");
        prop_assert_eq!(rig.answer(), Some((number + 1, "e2e4".to_owned())));
    }
}

use shakmaty::Position;
