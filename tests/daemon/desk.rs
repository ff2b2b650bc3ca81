//! Boards come by themselves, and a player adds them and starts games without editing a file.

use std::{
    fs,
    net::SocketAddr,
    os::unix::fs::{PermissionsExt, symlink},
    path::{Path, PathBuf},
    time::Duration,
};

use boardbridge::{
    cli::{
        call,
        scan::{self, Look, Names},
    },
    config::Config,
    daemon::{self, Inherited},
    front_end::whitepawn::rfcomm::SERIAL_PORT,
    transport::hid::Roots,
    vocabulary::{AppWay, TakeBacks},
};
use serde_json::{Value, json};
use shakmaty::Color;
use simulators::{
    SimulatedBoard,
    bluez::{ADAPTER, Bluez, address::Address},
    run::Kind,
};
use tempfile::TempDir;
use tokio::{
    net::TcpStream,
    task::JoinHandle,
    time::{sleep, timeout},
};
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::{
    scan::{plug, plugged},
    support::{
        Gui, Hand, PATIENCE, http,
        lichess::{Lichess, Style},
        ports::unused_address,
        process::Process,
    },
};

/// A daemon with a state directory, on a machine whose `/dev` and `/sys` are folders of the test.
pub struct Machine {
    pub folder: TempDir,
    web: SocketAddr,
    uci: SocketAddr,
    daemon: JoinHandle<()>,
    stop: DropGuard,
}

/// How often the API is asked: there is nothing else to wait for that a page has, too.
pub const LOOK: Duration = Duration::from_millis(50);

impl Machine {
    pub async fn start(more: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("dev/serial/by-id")).unwrap();
        fs::create_dir_all(folder.path().join("sys")).unwrap();
        fs::write(folder.path().join("more"), more).unwrap();
        Self::again(folder).await
    }

    /// Starts on what is in this folder.
    async fn again(folder: TempDir) -> Self {
        let (web, uci) = (unused_address(), unused_address());
        let file = folder.path().join("bb.toml");
        let state = folder.path().join("state");
        let more = fs::read_to_string(folder.path().join("more")).unwrap();
        let text = format!(
            "[uci]\nlisten = \"{uci}\"\n[status]\nlisten = \"127.0.0.1:0\"\n[web]\nlisten = \"{web}\"\n\
             [livechess]\nlisten = \"127.0.0.1:0\"\n[state]\ndirectory = {state:?}\n{more}"
        );
        fs::write(&file, text).unwrap();
        let roots = Roots {
            sys: folder.path().join("sys"),
            dev: folder.path().join("dev"),
        };
        let config = Config::load(&file).unwrap();
        let stop = CancellationToken::new();
        let stopped = stop.clone();
        let stopped = async move {
            stopped.cancelled().await;
            Ok(())
        };
        let daemon = tokio::spawn(async move {
            let served = daemon::serve(&file, config, Inherited::default(), roots, stopped);
            served.await.unwrap();
        });
        let machine = Self {
            folder,
            web,
            uci,
            daemon,
            stop: stop.drop_guard(),
        };
        machine
            .until("the API answers", async |m| {
                m.boards().await.is_some().then_some(())
            })
            .await;
        machine
    }

    /// Ends it, and starts it again.
    pub async fn restarts(self) -> Self {
        drop(self.stop);
        self.daemon.await.unwrap();
        Self::again(self.folder).await
    }

    pub fn dev(&self, name: &str) -> PathBuf {
        self.folder.path().join("dev").join(name)
    }

    pub fn kept(&self, name: &str) -> PathBuf {
        self.folder.path().join("state").join(name)
    }

    /// Plugs a simulated board in at this port, with a lasting name.
    pub fn plugs(&self, kind: Kind, port: &str, by_id: &str) -> Hand {
        self.names(port, by_id);
        Hand::new(kind, self.dev(port), false)
    }

    /// The same, with this board.
    pub fn plugs_board(&self, board: Box<dyn SimulatedBoard>, port: &str, by_id: &str) -> Hand {
        self.names(port, by_id);
        Hand::of(board, self.dev(port))
    }

    /// Gives a port its lasting name.
    fn names(&self, port: &str, by_id: &str) {
        symlink(
            Path::new("../..").join(port),
            self.dev("serial/by-id").join(by_id),
        )
        .unwrap();
    }

    pub fn pulls(&self, port: &str, by_id: &str) {
        fs::remove_file(self.dev("serial/by-id").join(by_id)).unwrap();
        let _ = fs::remove_file(self.dev(port));
    }

    pub async fn asks(&self, method: &str, path: &str, body: &Value) -> (u16, Value) {
        asks(self.web, method, path, body).await
    }

    pub async fn settings(&self) -> Value {
        self.asks("GET", "settings", &Value::Null).await.1
    }

    pub async fn boards(&self) -> Option<Vec<Value>> {
        let (status, boards) = self.asks("GET", "boards", &Value::Null).await;
        (status == 200).then(|| boards.as_array().cloned().unwrap_or_default())
    }

    pub async fn found(&self) -> Vec<Value> {
        call::found(&self.web.to_string()).await.unwrap()
    }

    /// Waits until a board is found.
    pub async fn finds(&self) -> Value {
        let first = async |m: &Self| m.found().await.first().cloned();
        self.until("it is found", first).await
    }

    pub async fn until<T>(&self, what: &str, stands: impl AsyncFn(&Self) -> Option<T>) -> T {
        let stood = async {
            loop {
                if let Some(found) = stands(self).await {
                    return found;
                }
                sleep(LOOK).await;
            }
        };
        let stood = timeout(PATIENCE, stood).await;
        stood.unwrap_or_else(|_| panic!("it never was so that {what}"))
    }

    /// Waits until this board is connected.
    pub async fn has(&self, name: &str) -> Value {
        let has = async |m: &Self| {
            let boards = m.boards().await?;
            boards
                .into_iter()
                .find(|board| board["board"] == name && board["link"] == "up")
        };
        self.until(&format!("{name} is connected"), has).await
    }
}

/// The answer of the API at this address; status 0 if there is none.
pub async fn asks(web: SocketAddr, method: &str, path: &str, body: &Value) -> (u16, Value) {
    let body = if body.is_null() {
        String::new()
    } else {
        body.to_string()
    };
    let request = format!(
        "{method} /api/v1/{path} HTTP/1.1\r\nHost: {web}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\
         Connection: close\r\n\r\n{body}",
        body.len()
    );
    let Ok(text) = http::answer(web, &request).await else {
        return (0, Value::Null);
    };
    let status = text.split_whitespace().nth(1).unwrap().parse().unwrap();
    let (_, body) = text.split_once("\r\n\r\n").unwrap();
    // A list is sent in chunks.
    let json: String = body
        .lines()
        .filter(|line| line.starts_with(['{', '[', ',', ']']))
        .collect();
    (status, serde_json::from_str(&json).unwrap_or_default())
}

const BY_ID: &str = "usb-Novag_Citrine_0042-if00-port0";

#[tokio::test]
async fn a_board_with_a_name_of_its_own_is_plugged_in_and_plays_and_is_the_same_in_another_socket()
{
    let machine = Machine::start("").await;
    assert_eq!(machine.boards().await.unwrap(), Vec::<Value>::new());
    let hand = machine.plugs(Kind::NovagCitrine, "ttyUSB0", BY_ID);
    machine.has("citrine").await;
    let file = machine.kept("boards.d/citrine.toml");
    let text = fs::read_to_string(&file).unwrap();
    assert!(
        text.contains("[boards.citrine]") && text.contains(BY_ID),
        "{text}"
    );
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o077, 0);
    // The first move, which nobody had to configure.
    let mut gui = Gui::connect(machine.uci).await;
    gui.says("uci").await;
    gui.hears("uciok").await;
    gui.says("position startpos\ngo movetime 1000").await;
    gui.hears_of("to move").await;
    hand.answers(&mut gui, "e2e4").await;
    // Another name by the kernel.
    machine.pulls("ttyUSB0", BY_ID);
    drop(hand);
    let is_away = async |m: &Machine| {
        let boards = m.boards().await?;
        (boards[0]["link"] != "up").then_some(())
    };
    machine.until("it is away", is_away).await;
    let _hand = machine.plugs(Kind::NovagCitrine, "ttyUSB7", BY_ID);
    // A new one in its place is told the game.
    let goes_on = async |m: &Machine| {
        let boards = m.boards().await?;
        let game = boards[0]["game"].as_str()?;
        game.ends_with("e2e4").then_some(())
    };
    machine.until("its game goes on", goes_on).await;
    assert_eq!(machine.boards().await.unwrap().len(), 1);
    // And after a restart.
    let machine = machine.restarts().await;
    machine.has("citrine").await;
}

#[tokio::test]
async fn a_board_that_was_removed_stays_away_until_it_is_added_and_may_have_another_name() {
    let machine = Machine::start("").await;
    let _hand = machine.plugs(Kind::NovagCitrine, "ttyUSB0", BY_ID);
    machine.has("citrine").await;
    let web = machine.web.to_string();
    let is = |name: &str| name.parse().unwrap();
    call::rename(&web, &is("citrine"), &is("table-3"))
        .await
        .unwrap();
    machine.has("table-3").await;
    assert!(!machine.kept("boards.d/citrine.toml").exists());
    call::remove(&web, &is("table-3")).await.unwrap();
    assert_eq!(machine.boards().await.unwrap(), Vec::<Value>::new());
    // Neither another plug nor a restart brings it back.
    fs::write(machine.dev("ttyACM9"), "").unwrap();
    let machine = machine.restarts().await;
    let found = machine.found().await;
    let own = found
        .iter()
        .find(|found| found["kinds"] == json!(["novag-citrine"]))
        .unwrap();
    assert_eq!(machine.boards().await.unwrap(), Vec::<Value>::new());
    let id = own["id"].as_str().unwrap();
    call::add(&machine.web.to_string(), id, &json!({"name": "mine"}))
        .await
        .unwrap();
    machine.has("mine").await;
    assert!(
        call::add(&machine.web.to_string(), id, &json!({}))
            .await
            .is_err()
    );
}

#[tokio::test]
async fn a_general_adapter_is_asked_only_when_somebody_adds_it() {
    let machine = Machine::start("").await;
    let by_id = "usb-FTDI_FT232R_USB_UART_A5-if00-port0";
    let mut hand = machine.plugs(Kind::NovagCitrine, "ttyUSB0", by_id);
    let found = machine.finds().await;
    assert!(found["kinds"].as_array().unwrap().len() > 2, "{found}");
    assert_eq!(machine.boards().await.unwrap(), Vec::<Value>::new());
    assert_eq!(hand.seen(), Vec::<String>::new(), "nothing was sent to it");
    let id = found["id"].as_str().unwrap();
    let (status, refused) = machine
        .asks(
            "POST",
            &format!("found/{id}/add"),
            &json!({"kind": "miko-neo"}),
        )
        .await;
    assert_eq!(status, 400, "{refused}");
    let (status, added) = machine
        .asks("POST", &format!("found/{id}/add"), &json!({}))
        .await;
    assert_eq!(
        (status, &added["board"]),
        (200, &json!("citrine")),
        "{added}"
    );
    machine.has("citrine").await;
}

#[tokio::test]
async fn a_board_that_came_while_the_file_had_a_mistake_is_taken_once_that_is_corrected() {
    let machine = Machine::start("").await;
    let file = machine.folder.path().join("bb.toml");
    let good = fs::read_to_string(&file).unwrap();
    fs::write(&file, format!("{good}[boards.x]\n")).unwrap();
    let _first = machine.plugs(Kind::NovagCitrine, "ttyUSB0", BY_ID);
    // Its file was written, and taken back. Nothing is asked meanwhile: the daemon waits until nobody wants anything.
    let tried = async |m: &Machine| {
        let files = fs::read_dir(m.kept("boards.d")).ok()?;
        (files.count() == 0).then_some(())
    };
    machine.until("it is refused", tried).await;
    assert_eq!(machine.boards().await.unwrap(), Vec::<Value>::new());
    fs::write(&file, good).unwrap();
    let another = BY_ID.replace("0042", "0043");
    let _second = machine.plugs(Kind::NovagCitrine, "ttyUSB1", &another);
    machine.has("citrine").await;
    machine.has("citrine2").await;
}

/// Pasted into the main file, they would take its place.
#[tokio::test]
async fn the_lines_that_scan_prints_have_no_name_that_a_running_daemon_has_given() {
    let machine = Machine::start("[discovery]\nserial = \"ask\"\n").await;
    let _first = machine.plugs(Kind::NovagCitrine, "ttyUSB0", BY_ID);
    let found = machine.finds().await;
    let add = format!("found/{}/add", found["id"].as_str().unwrap());
    assert_eq!(machine.asks("POST", &add, &json!({})).await.0, 200);
    machine.has("citrine").await;
    let another = BY_ID.replace("0042", "0043");
    let _second = machine.plugs(Kind::NovagCitrine, "ttyUSB1", &another);
    let look = Look {
        dev: &machine.dev(""),
        sys: &machine.folder.path().join("sys"),
        probe: false,
        adapter: None,
        daemon: &machine.web.to_string(),
    };
    let mut output = Vec::new();
    let names = &mut Names::default();
    scan::serial(&mut output, look, names).await.unwrap();
    let said = String::from_utf8(output).unwrap();
    assert!(said.contains("has it for its board citrine"), "{said}");
    assert!(said.contains("[boards.citrine2]"), "{said}");
    assert!(!said.contains("[boards.citrine]"), "{said}");
}

#[tokio::test]
async fn nothing_is_taken_where_the_configuration_does_not_want_it() {
    for (more, finds) in [
        ("[discovery]\nserial = \"ask\"\nbluetooth = \"off\"\n", 1),
        ("[discovery]\nserial = \"off\"\nbluetooth = \"off\"\n", 0),
    ] {
        let machine = Machine::start(more).await;
        let _hand = machine.plugs(Kind::NovagCitrine, "ttyUSB0", BY_ID);
        let machine = machine.restarts().await;
        assert_eq!(machine.found().await.len(), finds, "{more}");
        assert_eq!(machine.boards().await.unwrap(), Vec::<Value>::new());
        // Whoever waits for a board is told.
        let unseen = machine.settings().await["unseen"].clone();
        assert_eq!(unseen.as_array().unwrap().len(), 2 - finds, "{unseen}");
        assert!(
            unseen[0]
                .as_str()
                .unwrap()
                .contains("= \"off\" under [discovery] in "),
            "{unseen}"
        );
    }
}

#[tokio::test]
async fn the_main_file_wins_and_a_file_with_mistakes_is_left_out_in_words() {
    let main =
        "[boards.citrine]\nkind = \"novag-citrine\"\nserial = { port = \"/dev/no-such-port\" }\n";
    let machine = Machine::start(main).await;
    let folder = machine.kept("boards.d");
    fs::create_dir_all(&folder).unwrap();
    for (name, text) in [
        (
            "citrine.toml",
            "[boards.citrine]\nkind = \"swpp\"\ntcp = { address = \"127.0.0.1:1\" }\n",
        ),
        (
            "good.toml",
            "[boards.good]\nkind = \"swpp\"\ntcp = { address = \"127.0.0.1:1\" }\n",
        ),
        (
            "same.toml",
            "[boards.same]\nkind = \"swpp\"\ntcp = { address = \"127.0.0.1:1\" }\n",
        ),
        ("broken.toml", "[boards.broken\n"),
        (
            "other.toml",
            "[boards.another]\nkind = \"swpp\"\ntcp = { address = \"127.0.0.1:3\" }\n",
        ),
        ("two words.toml", "[boards.x]\n"),
        (
            "more.toml",
            "[uci]\nlisten = \"0.0.0.0:1\"\n[boards.more]\nkind = \"swpp\"\ntcp = { address = \"127.0.0.1:4\" }\n",
        ),
        ("notes.txt", "not ours"),
    ] {
        fs::write(folder.join(name), text).unwrap();
    }
    fs::write(folder.join("latin.toml"), b"# caf\xe9\n").unwrap();
    fs::write(folder.join("long.toml"), "#".repeat(100_000)).unwrap();
    let config = Config::load(&machine.folder.path().join("bb.toml")).unwrap();
    let names: Vec<&str> = config.boards.keys().map(|name| name.as_str()).collect();
    assert_eq!(names, ["citrine", "good"]);
    // What comes later is later in lists, so that games on Lichess do not move to it.
    fs::write(
        folder.join("a-new-one.toml"),
        "[boards.a-new-one]\nkind = \"swpp\"\ntcp = { address = \"127.0.0.1:9\" }\n",
    )
    .unwrap();
    let then = std::time::SystemTime::now() + Duration::from_secs(5);
    fs::File::options()
        .write(true)
        .open(folder.join("a-new-one.toml"))
        .unwrap()
        .set_modified(then)
        .unwrap();
    let with_more = Config::load(&machine.folder.path().join("bb.toml")).unwrap();
    let names: Vec<String> = with_more.names().iter().map(ToString::to_string).collect();
    assert_eq!(names, ["citrine", "good", "a-new-one"]);
    fs::remove_file(folder.join("a-new-one.toml")).unwrap();
    assert_eq!(
        config.boards["citrine"
            .parse::<boardbridge::vocabulary::BoardName>()
            .as_ref()
            .unwrap()]
        .make
        .kind
        .as_str(),
        "novag-citrine"
    );
    let left_out = config.left_out.join("\n");
    for words in [
        "same.toml: boards.same.tcp.address: 127.0.0.1:1 is already good's",
        "broken.toml:1:",
        "other.toml: has to be [boards.other] and nothing else",
        "two words.toml: is not named after a board",
        "more.toml: [uci] belongs into the main file",
        "latin.toml: is not text in UTF-8",
        "long.toml: this is longer than",
        "citrine.toml: is not used: the main file has its own [boards.citrine]",
    ] {
        assert!(left_out.contains(words), "{words}\n{left_out}");
    }
    assert_eq!(config.left_out.len(), 8, "{left_out}");
    // What the main file says is not changed from the page.
    let machine = machine.restarts().await;
    for (method, path, body) in [
        ("DELETE", "boards/citrine", Value::Null),
        (
            "POST",
            "boards/citrine/rename",
            json!({"name": "other-name"}),
        ),
    ] {
        let (status, refused) = machine.asks(method, path, &body).await;
        assert_eq!(status, 409, "{refused}");
        assert!(
            refused["error"].as_str().unwrap().contains("bb.toml"),
            "{refused}"
        );
    }
}

#[tokio::test]
async fn nobody_takes_a_board_out_of_its_game_on_lichess_by_a_press() {
    let folder = tempfile::tempdir().unwrap();
    let lichess = Lichess::new(Style::default()).await;
    let boards = "[boards.board]\nkind = \"swpp\"\ntcp = { address = \"127.0.0.1:1\" }\n\
                  [boards.two]\nkind = \"swpp\"\ntcp = { address = \"127.0.0.1:2\" }\n";
    let account = lichess.config(folder.path(), "");
    let machine = Machine::start(&format!("{boards}{account}")).await;
    lichess.begins(Color::White);
    let holds = async |machine: &Machine| {
        let boards = machine.boards().await?;
        let holders = boards[0]["holders"].as_array()?.clone();
        (!holders.is_empty()).then_some(())
    };
    machine.until("the game on Lichess", holds).await;
    for (path, body) in [
        ("boards/board/opponent", json!({})),
        ("links", json!({"boards": ["two", "board"]})),
    ] {
        let (status, refused) = machine.asks("POST", path, &body).await;
        let words = refused["error"].as_str().unwrap_or_default();
        assert!(
            status == 409 && words.contains("game on Lichess"),
            "{refused}"
        );
    }
}

#[tokio::test]
async fn two_people_and_two_boards_play_by_a_press_and_go_on_after_a_restart() {
    let boards = "[boards.one]\nkind = \"swpp\"\ntcp = { address = \"127.0.0.1:1\" }\n\
                  [boards.two]\nkind = \"swpp\"\ntcp = { address = \"127.0.0.1:2\" }\n";
    let machine = Machine::start(boards).await;
    let names = json!({"white": "Anna", "black": "Bert"});
    let (status, answer) = machine.asks("POST", "boards/one/opponent", &names).await;
    assert_eq!(status, 200, "{answer}");
    let play = fs::read_to_string(machine.kept("play.d/one.toml")).unwrap();
    assert!(
        play.contains("white = \"Anna\"\nblack = \"Bert\"\n"),
        "{play}"
    );
    assert_eq!(machine.settings().await["started"], json!(["one"]));
    // A board has one opponent. Whoever presses a button did not write a file.
    let link = json!({"boards": ["one", "two"]});
    let says = |refused: &Value| refused["error"].as_str().unwrap().to_owned();
    let (status, refused) = machine.asks("POST", "links", &link).await;
    assert_eq!(status, 409, "{refused}");
    assert_eq!(
        says(&refused),
        "one has an opponent already: stop that first"
    );
    let itself = json!({"boards": ["one", "one"]});
    let (status, refused) = machine.asks("POST", "links", &itself).await;
    assert_eq!(status, 400, "{refused}");
    assert!(says(&refused).contains("against itself"), "{refused}");
    let machine = machine.restarts().await;
    assert_eq!(machine.settings().await["started"], json!(["one"]));
    assert_eq!(
        machine
            .asks("DELETE", "boards/one/opponent", &Value::Null)
            .await
            .0,
        200
    );
    assert_eq!(
        machine
            .asks("DELETE", "boards/one/opponent", &Value::Null)
            .await
            .0,
        404
    );
    assert_eq!(machine.asks("POST", "links", &link).await.0, 200);
    assert_eq!(machine.settings().await["linked"], json!(["one.two"]));
    assert_eq!(machine.settings().await["fixed"], json!([]));
    for board in ["one", "two"] {
        let path = format!("boards/{board}/opponent");
        let (status, refused) = machine.asks("POST", &path, &json!({})).await;
        assert_eq!(status, 409, "{refused}");
        let words = format!("{board} has an opponent already: stop that first");
        assert_eq!(says(&refused), words);
    }
    assert_eq!(
        machine
            .asks("DELETE", "links/..%2Fone", &Value::Null)
            .await
            .0,
        404
    );
    assert_eq!(
        machine
            .asks("DELETE", "links/one.two", &Value::Null)
            .await
            .0,
        200
    );
    // No page starts just any program.
    let evil = json!({"engine": "/bin/sh"});
    let (status, refused) = machine.asks("POST", "boards/one/opponent", &evil).await;
    assert_eq!(status, 404, "{refused}");
    let both = json!({"elo": 1500, "level": 3});
    assert_eq!(
        machine.asks("POST", "boards/one/opponent", &both).await.0,
        400
    );
    let engines = machine.asks("GET", "engines", &Value::Null).await.1;
    let mut wrong = vec![
        (400, json!({"elo": 1500})),
        (400, json!({"white": "Anna\nBert"})),
    ];
    if let Some(engine) = engines[0]["name"].as_str() {
        wrong.push((400, json!({"engine": engine, "hand": "both"})));
        wrong.push((400, json!({"engine": engine, "go": "away"})));
        wrong.push((400, json!({"engine": engine, "level": 21})));
        wrong.push((400, json!({"engine": engine, "white": "Anna"})));
    }
    for (expected, wrong) in wrong {
        let (status, refused) = machine.asks("POST", "boards/one/opponent", &wrong).await;
        assert_eq!(status, expected, "{refused}");
        for file in ["play.d", "opponent", ".toml", "left out"] {
            assert!(!says(&refused).contains(file), "{refused}");
        }
    }
    assert_eq!(machine.settings().await["started"], json!([]));
    assert_eq!(
        machine
            .asks("POST", "boards/nine/opponent", &json!({}))
            .await
            .0,
        404
    );
}

#[tokio::test]
async fn a_thousand_adapters_hold_nobody_up() {
    let machine = Machine::start("").await;
    let by_id = machine.dev("serial/by-id");
    for number in 0..1000 {
        let port = format!("ttyUSB{number}");
        fs::write(machine.dev(&port), "").unwrap();
        symlink(
            Path::new("../..").join(port),
            by_id.join(format!("usb-{number}")),
        )
        .unwrap();
    }
    let hand = machine.plugs(Kind::NovagCitrine, "ttyACM0", BY_ID);
    machine.has("citrine").await;
    let found = machine.found().await;
    assert!(found.len() < 1000 && !found.is_empty(), "{}", found.len());
    drop(hand);
}

#[tokio::test]
async fn what_is_no_opponent_in_its_folder_is_not_listed_as_started_and_one_of_the_main_file_is_named()
 {
    let boards = "[boards.one]\nkind = \"swpp\"\ntcp = { address = \"127.0.0.1:1\" }\n\
                  [boards.two]\nkind = \"swpp\"\ntcp = { address = \"127.0.0.1:2\" }\n\
                  [[opponent]]\nboard = \"two\"\n";
    let machine = Machine::start(boards).await;
    let folder = machine.kept("play.d");
    fs::create_dir_all(&folder).unwrap();
    let opponent = |board: &str| format!("[[opponent]]\nboard = \"{board}\"\n");
    for (name, text) in [
        ("broken", "[[opponent]\n".to_owned()),
        ("nobody", opponent("nobody")),
        ("two", opponent("two")),
        ("other", opponent("one")),
        ("one", String::new()),
        ("one.two", opponent("one")),
    ] {
        fs::write(folder.join(format!("{name}.toml")), text).unwrap();
    }
    let machine = machine.restarts().await;
    let standing = machine.asks("GET", "settings", &Value::Null).await.1;
    assert_eq!(standing["started"], json!([]));
    assert_eq!(standing["linked"], json!([]));
    let file = machine.folder.path().join("bb.toml");
    let left_out = Config::load(&file).unwrap().left_out;
    assert_eq!(left_out.len(), 6, "{left_out:?}");
    let (status, refused) = machine
        .asks("POST", "boards/two/opponent", &json!({}))
        .await;
    let words = refused["error"].as_str().unwrap();
    assert!(status == 409 && words.contains("bb.toml"), "{words}");
    // So that a page does not offer the press.
    assert_eq!(standing["fixed"], json!(["two"]));
    // The press replaces what is not one.
    let (status, said) = machine
        .asks("POST", "boards/one/opponent", &json!({}))
        .await;
    assert_eq!(status, 200, "{said}");
    let standing = machine.asks("GET", "settings", &Value::Null).await.1;
    assert_eq!(standing["started"], json!(["one"]));
    assert_eq!(standing["fixed"], json!(["two"]));
}

#[tokio::test]
async fn what_devices_call_themselves_is_shown_and_never_obeyed() {
    let machine = Machine::start("").await;
    let names = [
        "usb-\u{1b}[31m\"]\n[uci]_x-if00",
        "usb-Citrine\u{202e}-if00",
    ];
    for (number, name) in names.iter().enumerate() {
        fs::write(machine.dev(&format!("ttyUSB{number}")), "").unwrap();
        symlink(
            format!("../../ttyUSB{number}"),
            machine.dev("serial/by-id").join(name),
        )
        .unwrap();
    }
    // The one that says that it is a Citrine is taken for one, and its file is read again as it was written.
    let taken = async |m: &Machine| {
        let boards = m.boards().await?;
        boards
            .iter()
            .any(|board| board["board"] == "citrine")
            .then_some(())
    };
    machine.until("it is taken", taken).await;
    let config = Config::load(&machine.folder.path().join("bb.toml")).unwrap();
    assert_eq!(config.left_out, Vec::<String>::new());
    let found = machine.found().await;
    let text = found[0].to_string();
    assert!(
        !text.contains('\u{1b}') && !text.contains("\\u001b"),
        "{text}"
    );
}

#[tokio::test]
async fn the_only_board_on_usb_is_the_same_at_every_socket_though_it_has_no_number() {
    let machine = Machine::start("").await;
    let sys = machine.folder.path().join("sys");
    plugged(&sys, &[(0, "", "usb-0000:00:14.0-1")]);
    fs::write(machine.dev("hidraw1"), "").unwrap();
    let names = async |m: &Machine| {
        let boards = m.boards().await?;
        let names = boards.iter().map(|board| board["board"].clone());
        Some(names.collect::<Vec<_>>()).filter(|names| !names.is_empty())
    };
    assert_eq!(machine.until("it is there", names).await, ["chessnut"]);
    let text = fs::read_to_string(machine.kept("boards.d/chessnut.toml")).unwrap();
    assert!(text.contains("hid = {}"), "{text}");
    plugged(&sys, &[(0, "", "usb-0000:00:14.0-2")]);
    let machine = machine.restarts().await;
    assert_eq!(names(&machine).await.unwrap(), ["chessnut"]);
    assert_eq!(machine.found().await, Vec::<Value>::new());
}

#[tokio::test]
async fn chess_programs_of_the_network_are_let_in_by_a_switch_unless_the_main_file_says_where() {
    let machine = Machine::start("").await;
    let settings = machine.settings().await;
    assert_eq!(settings["programs_fixed"], json!(true));
    let at = settings["programs_at"].as_str().unwrap();
    TcpStream::connect(at).await.unwrap();
    let network = json!({"programs": "network"});
    let (status, refused) = machine.asks("POST", "settings", &network).await;
    assert_eq!(status, 409, "{refused}");
    assert_eq!(
        machine
            .asks("POST", "settings", &json!({"programs": "all"}))
            .await
            .0,
        400
    );
    // What does not belong into the file of settings is told, also where the main file wins.
    let file = machine.folder.path().join("bb.toml");
    for (text, words) in [
        (
            "[web]\nlisten = \"off\"\n",
            "[web] belongs into the main file",
        ),
        (
            "[uci]\nallow = [\"10.0.0.0/8\"]\n",
            "`allow` belongs into the main file",
        ),
    ] {
        fs::write(machine.kept("settings.toml"), text).unwrap();
        let left_out = Config::load(&file).unwrap().left_out.join("\n");
        assert!(left_out.contains(words), "{left_out}");
    }
    // A file that does not say it: the switch does, and is kept.
    let text = fs::read_to_string(&file)
        .unwrap()
        .replace("[uci]\n", "[uci]\n# ");
    fs::write(&file, &text).unwrap();
    let state = machine.kept("");
    for (text, listen) in [
        ("[uci]\nlisten = \"0.0.0.0:9670\"\n", "0.0.0.0:9670"),
        ("[uci]\nlisten = \"nowhere\"\n", "127.0.0.1:9670"),
        ("[web]\nlisten = \"off\"\n", "127.0.0.1:9670"),
    ] {
        fs::write(state.join("settings.toml"), text).unwrap();
        let config = Config::load(&file).unwrap();
        assert_eq!(config.uci.listen().to_string(), listen);
        assert_eq!(
            config.left_out.len(),
            usize::from(listen.starts_with("127")),
            "{:?}",
            config.left_out
        );
    }
}

#[tokio::test]
async fn the_board_for_lichess_and_the_answers_to_opponents_are_chosen_unless_the_main_file_has_them()
 {
    let board = |name: &str| {
        let port = name.len();
        format!("[boards.{name}]\nkind = \"swpp\"\ntcp = {{ address = \"127.0.0.1:{port}\" }}\n")
    };
    let machine = Machine::start(&format!("{}{}", board("far"), board("near"))).await;
    let sets = async |m: &Machine, setting: Value| m.asks("POST", "settings", &setting).await;
    let first = machine.settings().await;
    assert_eq!(first["lichess_board"], "far");
    assert_eq!(first["lichess_accept"], "ask");
    assert_eq!(first["lichess_take_backs"], "ask");
    // The first board may still be linked: nobody has chosen it.
    assert_eq!(first["lichess_chosen"], Value::Null);
    assert_eq!(first["lichess_fixed"], json!([]));
    for setting in [
        json!({"lichess_board": "near"}),
        json!({"lichess_accept": "all"}),
        json!({"lichess_take_backs": "no"}),
    ] {
        let (status, said) = sets(&machine, setting).await;
        assert_eq!(status, 200, "{said}");
    }
    let chosen = machine.settings().await;
    assert_eq!(chosen["lichess_board"], "near");
    assert_eq!(chosen["lichess_chosen"], "near");
    assert_eq!(chosen["lichess_accept"], "all");
    assert_eq!(chosen["lichess_take_backs"], "no");
    // One is taken back without the other.
    let (status, said) = sets(&machine, json!({"lichess_accept": "ask"})).await;
    assert_eq!(status, 200, "{said}");
    let kept = fs::read_to_string(machine.kept("settings.toml")).unwrap();
    assert_eq!(kept, "[lichess]\nboard = \"near\"\ntake_backs = \"no\"\n");
    for (setting, wanted) in [
        (json!({"lichess_board": "away"}), 404),
        (json!({"lichess_accept": "some"}), 400),
        (json!({"lichess_take_backs": "all"}), 400),
        (json!({}), 400),
    ] {
        assert_eq!(sets(&machine, setting).await.0, wanted);
    }
    // A linked board cannot play there, and the one that does cannot be linked.
    let (status, said) = machine
        .asks("POST", "links", &json!({"boards": ["far", "near"]}))
        .await;
    assert_eq!(status, 409, "{said}");
    let load = |text: &str| {
        let file = machine.folder.path().join("other.toml");
        fs::write(&file, text).unwrap();
        Config::load(&file).unwrap()
    };
    let state = machine.kept("");
    let main = format!(
        "[state]\ndirectory = {state:?}\n{}{}",
        board("far"),
        board("near")
    );
    let at = |config: &Config| config.lichess_board().unwrap().to_string();
    let chosen = load(&main);
    assert_eq!(at(&chosen), "near");
    assert_eq!(chosen.lichess.unwrap().take_backs, TakeBacks::No);
    // The main file wins, and a board that is gone does not count.
    let named = load(&format!(
        "{main}[lichess]\nboard = \"far\"\naccept = \"none\"\ntake_backs = \"yes\"\n"
    ));
    assert_eq!(at(&named), "far");
    assert_eq!(
        named.written_of("lichess"),
        ["board", "accept", "take_backs"]
    );
    assert_eq!(named.lichess.unwrap().take_backs, TakeBacks::Yes);
    let gone = load(&format!("[state]\ndirectory = {state:?}\n{}", board("far")));
    assert_eq!(at(&gone), "far");
    assert_eq!(gone.left_out, Vec::<String>::new());
    // No other key.
    fs::write(
        machine.kept("settings.toml"),
        "[lichess]\nboard = \"near\"\nurl = \"https://example.org\"\n",
    )
    .unwrap();
    let left_out = load(&main).left_out.join("\n");
    assert!(left_out.contains("belong into the main file"), "{left_out}");
}

#[tokio::test]
async fn the_player_and_the_place_of_saved_games_are_chosen_unless_the_main_file_has_them() {
    let games = tempfile::tempdir().unwrap();
    let machine = Machine::start(&format!("[games]\ndirectory = {:?}\n", games.path())).await;
    let sets = async |m: &Machine, setting: Value| m.asks("POST", "settings", &setting).await;
    let first = machine.settings().await;
    let unset = json!([Value::Null, Value::Null, false, []]);
    let of =
        |all: &Value| ["player", "site", "every_move", "games_fixed"].map(|key| all[key].clone());
    assert_eq!(json!(of(&first)), unset);
    for setting in [
        json!({"player": " Zoë "}),
        json!({"site": "Kitchen \"table\""}),
        json!({"every_move": true}),
    ] {
        let (status, said) = sets(&machine, setting).await;
        assert_eq!(status, 200, "{said}");
    }
    // A file has them at once.
    let hand = machine.plugs(Kind::NovagCitrine, "ttyUSB0", BY_ID);
    machine.has("citrine").await;
    let mut gui = Gui::connect(machine.uci).await;
    gui.says("uci").await;
    gui.hears("uciok").await;
    gui.says("position startpos\ngo movetime 1000").await;
    gui.hears_of("to move").await;
    hand.answers(&mut gui, "e2e4").await;
    let is_written = async |_: &Machine| {
        let mut files = fs::read_dir(games.path()).unwrap().flatten();
        files.find_map(|file| {
            let text = fs::read_to_string(file.path()).ok()?;
            let tags = ["[White \"Zoë\"]", r#"[Site "Kitchen \"table\""]"#, "1. e4"];
            tags.iter().all(|tag| text.contains(tag)).then_some(())
        })
    };
    machine
        .until("the game is saved with both", is_written)
        .await;
    // What no tag of a file can have is refused, and what is empty is taken out.
    for wrong in ["a\nb", &"x".repeat(61)] {
        let (status, said) = sets(&machine, json!({"player": wrong})).await;
        assert_eq!(status, 400, "{said}");
    }
    let (status, said) = sets(&machine, json!({"player": ""})).await;
    assert_eq!(status, 200, "{said}");
    let (status, said) = sets(&machine, json!({"every_move": false})).await;
    assert_eq!(status, 200, "{said}");
    let machine = machine.restarts().await;
    let kept = of(&machine.settings().await);
    assert_eq!(
        json!(kept),
        json!([Value::Null, "Kitchen \"table\"", false, []])
    );
    // The main file wins, and is not changed from here.
    let more = format!(
        "[games]\ndirectory = {:?}\nplayer = \"Anna\"\nsite = \"Köln\"\nevery_move = false\n",
        games.path()
    );
    fs::write(machine.folder.path().join("more"), more).unwrap();
    let machine = machine.restarts().await;
    let fixed = of(&machine.settings().await);
    assert_eq!(
        json!(fixed),
        json!(["Anna", "Köln", false, ["player", "site", "every_move"]])
    );
    for setting in [
        json!({"player": "Zoë"}),
        json!({"site": ""}),
        json!({"every_move": true}),
    ] {
        let (status, said) = sets(&machine, setting).await;
        assert_eq!(status, 409, "{said}");
    }
    fs::write(
        machine.kept("settings.toml"),
        "[games]\ndirectory = \"/\"\n",
    )
    .unwrap();
    let left_out = Config::load(&machine.folder.path().join("bb.toml"))
        .unwrap()
        .left_out
        .join("\n");
    assert!(
        left_out.contains("`directory` belongs into the main file"),
        "{left_out}"
    );
}

#[tokio::test]
async fn a_press_takes_no_board_away_where_the_main_file_was_cut_off() {
    let far = "[boards.far]\nkind = \"swpp\"\ntcp = { address = \"127.0.0.1:1\" }\n";
    let machine = Machine::start(far).await;
    let _hand = machine.plugs(Kind::NovagCitrine, "ttyUSB0", BY_ID);
    machine.has("citrine").await;
    let file = machine.folder.path().join("bb.toml");
    let whole = fs::read_to_string(&file).unwrap();
    let table = json!({"name": "table"});
    let renames = || machine.asks("POST", "boards/citrine/rename", &table);
    fs::write(&file, whole.replace(far, "")).unwrap();
    let (status, said) = renames().await;
    let words = said["error"].as_str().unwrap();
    assert!(
        status == 409 && words.contains("no longer has any board"),
        "{said}"
    );
    let names = async |m: &Machine| -> Vec<Value> {
        let boards = m.boards().await.unwrap();
        boards.iter().map(|board| board["board"].clone()).collect()
    };
    assert_eq!(names(&machine).await, ["far", "citrine"]);
    fs::write(&file, whole.replace(far, "[boards]\n")).unwrap();
    assert_eq!(renames().await.0, 200);
    assert_eq!(names(&machine).await, ["table"]);
}

#[tokio::test]
async fn a_press_leaves_a_file_of_settings_that_has_a_mistake_to_whoever_wrote_it() {
    let machine = Machine::start("").await;
    let text = "[games]\nsite = \"Köln\"\n[games]\n";
    fs::write(machine.kept("settings.toml"), text).unwrap();
    let (status, said) = machine
        .asks("POST", "settings", &json!({"player": "Eva"}))
        .await;
    let words = said["error"].as_str().unwrap();
    assert!(
        status == 409 && words.contains("settings.toml cannot be read"),
        "{said}"
    );
    let kept = fs::read_to_string(machine.kept("settings.toml")).unwrap();
    assert_eq!(kept, text);
}

const PHONE: Address = Address([0xB0, 0xA2, 0xD0, 0, 0, 1]);
/// The MTU of a present-day phone.
const MTU: u16 = 517;

#[tokio::test]
async fn the_app_on_a_phone_finds_the_board_that_was_chosen_for_it_until_it_is_switched_off() {
    let bluez = Bluez::start().unwrap();
    let phone = bluez.phone(ADAPTER, PHONE, MTU).unwrap();
    let board = "[boards.diy]\nkind = \"swpp\"\ntcp = { address = \"127.0.0.1:1\" }\n";
    let mut process = Process::keeping(&bluez, board);
    let sets = async |process: &mut Process, setting: Value| {
        let web = process.address("web").await;
        asks(web, "POST", "settings", &setting).await
    };
    let (status, said) = sets(&mut process, json!({"whitepawn_ble": "diy"})).await;
    assert_eq!(status, 200, "{said}");
    phone.finds("BoardBridge").await;
    let (status, said) = sets(&mut process, json!({"whitepawn_rfcomm": "diy"})).await;
    assert_eq!(status, 200, "{said}");
    phone.finds_record(SERIAL_PORT).await;
    // Also after a restart.
    process.again("TERM", |_| {});
    process.address("web").await;
    phone.finds("BoardBridge").await;
    let (status, said) = sets(&mut process, json!({"whitepawn_ble": ""})).await;
    assert_eq!(status, 200, "{said}");
    phone.loses_sight().await;
}

#[tokio::test]
async fn where_the_app_plays_goes_with_its_board_unless_the_main_file_says_it() {
    let far = "[boards.far]\nkind = \"swpp\"\ntcp = { address = \"127.0.0.1:1\" }\n";
    let machine = Machine::start(far).await;
    let _hand = machine.plugs(Kind::NovagCitrine, "ttyUSB0", BY_ID);
    machine.has("citrine").await;
    let sets = async |m: &Machine, setting: Value| m.asks("POST", "settings", &setting).await;
    let of = |all: &Value| {
        let keys = [
            "whitepawn_tcp",
            "whitepawn_ble",
            "whitepawn_rfcomm",
            "whitepawn_fixed",
        ];
        json!(keys.map(|key| all[key].clone()))
    };
    let none = Value::Null;
    assert_eq!(of(&machine.settings().await), json!([none, none, none, []]));
    for (setting, wanted) in [
        (json!({"whitepawn_ble": "citrine"}), 200),
        (json!({"whitepawn_rfcomm": "far"}), 200),
        (json!({"whitepawn_rfcomm": "citrine"}), 200),
        (json!({"lichess_board": "citrine"}), 200),
        (json!({"whitepawn_ble": "away"}), 404),
        (json!({"whitepawn_ble": "a b"}), 400),
        (json!({"whitepawn_serial": "far"}), 400),
    ] {
        let (status, said) = sets(&machine, setting).await;
        assert_eq!(status, wanted, "{said}");
    }
    let kept = || fs::read_to_string(machine.kept("settings.toml")).unwrap_or_default();
    let app = |way: &str, name: &str| format!("[[whitepawn]]\nboard = \"{name}\"\n{way} = {{}}\n");
    let all = |name: &str| {
        let lichess = format!("[lichess]\nboard = \"{name}\"\n");
        let mut parts = [lichess, app("ble", name), app("rfcomm", name)];
        parts.sort();
        parts
    };
    let parts = || {
        let text = kept().replace("\n[", "\n\0[").replace("\n\n", "\n");
        let mut parts: Vec<String> = text.split('\0').map(str::to_owned).collect();
        parts.sort();
        parts
    };
    assert_eq!(parts(), all("citrine"));
    let body = json!({"name": "table"});
    let (status, said) = machine.asks("POST", "boards/citrine/rename", &body).await;
    assert_eq!(status, 200, "{said}");
    assert_eq!(parts(), all("table"));
    assert_eq!(
        of(&machine.settings().await),
        json!([none, "table", "table", []])
    );
    // What the main file says is changed there; the rest stays.
    let load = |text: &str| {
        let file = machine.folder.path().join("other.toml");
        fs::write(
            &file,
            format!("[state]\ndirectory = {:?}\n{far}{text}", machine.kept("")),
        )
        .unwrap();
        Config::load(&file).unwrap()
    };
    let named = load(&app("ble", "far"));
    assert_eq!(named.left_out, Vec::<String>::new());
    let boards: Vec<&str> = named
        .whitepawn
        .iter()
        .map(|app| app.board.as_str())
        .collect();
    assert_eq!(boards, ["far", "table"]);
    assert_eq!(named.apps, [AppWay::Rfcomm]);
    let (status, said) = machine.asks("DELETE", "boards/table", &Value::Null).await;
    assert_eq!(status, 200, "{said}");
    assert_eq!(kept(), "");
    for (text, words) in [
        (
            "[[whitepawn]]\nboard = \"far\"\nserial = { port = \"/dev/ttyGS0\" }\n",
            "belongs into the main file",
        ),
        (
            "[[whitepawn]]\nboard = \"far\"\nble = {}\nrfcomm = {}\n",
            "exactly one",
        ),
    ] {
        fs::write(machine.kept("settings.toml"), text).unwrap();
        let config = load("");
        let left_out = config.left_out.join("\n");
        assert!(
            left_out.contains(words) && config.whitepawn.is_empty(),
            "{left_out}"
        );
    }
    fs::write(machine.kept("settings.toml"), app("ble", "away")).unwrap();
    assert_eq!(
        load("").left_out,
        Vec::<String>::new(),
        "its board may come back"
    );
    let more = format!("{far}{}", app("ble", "far"));
    fs::write(machine.folder.path().join("more"), more).unwrap();
    let machine = machine.restarts().await;
    assert_eq!(
        of(&machine.settings().await),
        json!([none, "far", none, ["ble"]])
    );
    let (status, said) = sets(&machine, json!({"whitepawn_ble": ""})).await;
    assert_eq!(status, 409, "{said}");
}

#[tokio::test]
async fn a_board_that_gets_another_name_keeps_its_game_its_opponent_and_its_links() {
    let games = tempfile::tempdir().unwrap();
    let far = "[boards.far]\nkind = \"swpp\"\ntcp = { address = \"127.0.0.1:1\" }\n";
    let saved = format!("[games]\ndirectory = {:?}\n", games.path());
    let machine = Machine::start(&format!("{far}{saved}")).await;
    let hand = machine.plugs(Kind::NovagCitrine, "ttyUSB0", BY_ID);
    machine.has("citrine").await;
    let the_file = || {
        let names = fs::read_dir(games.path())
            .unwrap()
            .map(|entry| entry.unwrap().path());
        let mut files: Vec<_> = names
            .filter(|name| name.extension() == Some("pgn".as_ref()))
            .collect();
        assert_eq!(files.len(), 1, "{files:?}");
        fs::read_to_string(files.remove(0)).unwrap()
    };
    let renames = async |m: &Machine, from: &str, to: &str| {
        let path = format!("boards/{from}/rename");
        let (status, said) = m.asks("POST", &path, &json!({ "name": to })).await;
        assert_eq!(status, 200, "{said}");
        m.has(to).await;
    };
    let game = |board: &Value| board["game"].as_str().unwrap_or_default().to_owned();
    let moved = async |m: &Machine, name: &str, m1: &str| {
        m.until(m1, async |m| {
            let boards = m.boards().await?;
            let board = boards.into_iter().find(|board| board["board"] == name)?;
            game(&board).ends_with(m1).then_some(())
        })
        .await;
    };
    let asked = async |m: &Machine, name: &str| {
        m.until("the hand is to move", async |m| {
            let boards = m.boards().await?;
            let board = boards.into_iter().find(|board| board["board"] == name)?;
            let advice = board["advice"].as_str()?;
            advice.ends_with("to move on the board").then_some(())
        })
        .await;
    };
    // Two people.
    let (status, said) = machine
        .asks("POST", "boards/citrine/opponent", &json!({}))
        .await;
    assert_eq!(status, 200, "{said}");
    asked(&machine, "citrine").await;
    hand.does("e2e4").await;
    moved(&machine, "citrine", "e2e4").await;
    asked(&machine, "citrine").await;
    hand.does("e7e5").await;
    moved(&machine, "citrine", "e7e5").await;
    renames(&machine, "citrine", "table-1").await;
    // What is so already is a success.
    renames(&machine, "table-1", "table-1").await;
    let board = machine.has("table-1").await;
    assert_eq!(game(&board), "startpos moves e2e4 e7e5");
    // The board itself tells its moves, and not how long the hand took.
    assert!(board["took"][1].is_number(), "{board}");
    let text = the_file();
    assert!(
        text.contains("on table-1\"]") && text.contains("1. e4 {[%emt"),
        "{text}"
    );
    let settings = machine.asks("GET", "settings", &Value::Null).await.1;
    assert_eq!(settings["started"], json!(["table-1"]));
    asked(&machine, "table-1").await;
    hand.does("g1f3").await;
    moved(&machine, "table-1", "g1f3").await;
    // After a restart, too.
    let machine = machine.restarts().await;
    assert_eq!(
        game(&machine.has("table-1").await),
        "startpos moves e2e4 e7e5 g1f3"
    );
    // A link.
    let (status, said) = machine
        .asks("DELETE", "boards/table-1/opponent", &Value::Null)
        .await;
    assert_eq!(status, 200, "{said}");
    let link = json!({"boards": ["table-1", "far"]});
    assert_eq!(machine.asks("POST", "links", &link).await.0, 200);
    renames(&machine, "table-1", "table-2").await;
    let settings = machine.asks("GET", "settings", &Value::Null).await.1;
    assert_eq!(settings["linked"], json!(["table-2.far"]));
    assert!(!machine.kept("play.d/table-1.far.toml").exists());
    assert!(!machine.kept("change.json").exists());
    let text = the_file();
    assert!(
        text.contains("on table-2\"]") && text.contains("2. Nf3"),
        "{text}"
    );
    drop(hand);
}

#[tokio::test]
async fn a_chess_program_notices_nothing_of_a_board_that_gets_another_name() {
    let machine = Machine::start("").await;
    let hand = machine.plugs(Kind::NovagCitrine, "ttyUSB0", BY_ID);
    machine.has("citrine").await;
    let mut gui = Gui::connect(machine.uci).await;
    gui.begins().await;
    let renamed = json!({ "name": "table" });
    let asked = machine.asks("POST", "boards/citrine/rename", &renamed);
    assert_eq!(asked.await.0, 200);
    gui.hears_of("table: White to move").await;
    hand.answers(&mut gui, "e2e4").await;
    let ended = |line: &&String| line.contains("0000") || line.contains("taken out");
    assert!(gui.log.iter().find(ended).is_none(), "{:?}", gui.log);
}

#[tokio::test]
async fn a_program_that_only_is_connected_does_not_take_a_board_that_gets_another_name() {
    let machine = Machine::start("").await;
    let hand = machine.plugs(Kind::NovagCitrine, "ttyUSB0", BY_ID);
    machine.has("citrine").await;
    let mut idle = Gui::connect(machine.uci).await;
    idle.says("uci").await;
    idle.hears("uciok").await;
    for m in ["e2e4", "e7e5", "g1f3"] {
        hand.does(m).await;
    }
    let has_moves = async |m: &Machine| {
        let boards = m.boards().await?;
        let board = boards.into_iter().next()?;
        let whole = board["ply"] == 3 && board["link"] == "up";
        whole.then_some(board)
    };
    machine.until("the moves are there", has_moves).await;
    let renamed = json!({ "name": "table" });
    let asked = machine.asks("POST", "boards/citrine/rename", &renamed);
    assert_eq!(asked.await.0, 200);
    idle.says("uci").await;
    idle.hears_of("default table").await;
    idle.hears("uciok").await;
    let board = machine.until("it is table", has_moves).await;
    assert_eq!(board["board"], "table", "{board}");
    assert_eq!(
        (&board["holders"], &board["target"]),
        (&json!([]), &Value::Null),
        "{board}"
    );
}

/// The files of the boards that were added, once there are two of them that are connected or away.
async fn two_boards(machine: &Machine, names: [&str; 2]) -> [String; 2] {
    machine
        .until("both are there", async |m| {
            let boards = m.boards().await?;
            let has = |name: &&str| boards.iter().any(|board| board["board"] == *name);
            names.iter().all(has).then_some(())
        })
        .await;
    names.map(|name| fs::read_to_string(machine.kept(&format!("boards.d/{name}.toml"))).unwrap())
}

#[tokio::test]
async fn a_second_board_on_usb_without_a_number_is_found_and_the_first_one_stays_the_first() {
    let machine = Machine::start("").await;
    let sys = machine.folder.path().join("sys");
    plugged(&sys, &[(4, "", "usb-0000:00:14.0-1")]);
    fs::write(machine.dev("hidraw5"), "").unwrap();
    let is_there = async |m: &Machine| (m.boards().await?.len() == 1).then_some(());
    machine.until("the first is there", is_there).await;
    // The kernel gives the second one the lower number.
    plugged(&sys, &[(0, "", "usb-0000:00:14.0-2")]);
    fs::write(machine.dev("hidraw1"), "").unwrap();
    let [first, second] = two_boards(&machine, ["chessnut", "chessnut2"]).await;
    assert!(
        first.contains("hid = { id = \"usb-0000:00:14.0-1\" }"),
        "{first}"
    );
    assert!(
        second.contains("hid = { id = \"usb-0000:00:14.0-2\" }"),
        "{second}"
    );
    assert_eq!(machine.found().await, Vec::<Value>::new());
    let machine = machine.restarts().await;
    assert_eq!(machine.boards().await.unwrap().len(), 2);
}

#[tokio::test]
async fn a_second_board_on_usb_is_taken_beside_the_only_one_of_the_main_file() {
    let main = "[boards.mine]\nkind = \"chessnut\"\nhid = {}\n";
    for serials in [["", ""], ["A1", "B2"]] {
        let machine = Machine::start(main).await;
        let sys = machine.folder.path().join("sys");
        plugged(&sys, &[(4, serials[0], "usb-0000:00:14.0-1")]);
        fs::write(machine.dev("hidraw5"), "").unwrap();
        // Long enough for it to be looked at, and it is the one of the main file.
        machine
            .until("it is seen", async |m| {
                m.found().await.is_empty().then_some(())
            })
            .await;
        assert_eq!(machine.boards().await.unwrap().len(), 1);
        plugged(&sys, &[(0, serials[1], "usb-0000:00:14.0-2")]);
        fs::write(machine.dev("hidraw1"), "").unwrap();
        let is_there = async |m: &Machine| (m.boards().await?.len() == 2).then_some(());
        machine.until("the second is there", is_there).await;
        let text = fs::read_to_string(machine.kept("boards.d/chessnut.toml")).unwrap();
        let id = if serials[1].is_empty() {
            "usb-0000:00:14.0-2"
        } else {
            serials[1]
        };
        assert!(
            text.contains(&format!("hid = {{ id = \"{id}\" }}")),
            "{text}"
        );
        assert_eq!(machine.found().await, Vec::<Value>::new());
        // The other one is that of the main file, also after a restart.
        let config = Config::load(&machine.folder.path().join("bb.toml")).unwrap();
        let mine = &config.boards[&"mine".parse().unwrap()];
        assert_eq!(mine.hid.as_ref().unwrap().others, [id]);
        assert_eq!(config.left_out, Vec::<String>::new());
        let machine = machine.restarts().await;
        assert_eq!(machine.boards().await.unwrap().len(), 2);
        assert_eq!(machine.found().await, Vec::<Value>::new());
    }
}

#[tokio::test]
async fn a_board_on_usb_is_known_by_its_number_its_socket_or_its_file() {
    for key in [
        "id = \"A1\"",
        "id = \"usb-0000:00:14.0-1\"",
        "path = \"DEV/hidraw1\"",
        "path = \"DEV/my-board\"",
    ] {
        let machine = Machine::start("[discovery]\nserial = \"off\"\n").await;
        let sockets = ["usb-0000:00:14.0-1", "usb-0000:00:14.0-2"];
        let sys = machine.folder.path().join("sys");
        plugged(&sys, &[(0, "A1", sockets[0]), (4, "B2", sockets[1])]);
        fs::write(machine.dev("hidraw1"), "").unwrap();
        fs::write(machine.dev("hidraw5"), "").unwrap();
        symlink("hidraw1", machine.dev("my-board")).unwrap();
        let key = key.replace("DEV", &machine.dev("").display().to_string());
        let main = format!("[boards.mine]\nkind = \"chessnut\"\nhid = {{ {key} }}\n");
        fs::write(machine.folder.path().join("more"), main).unwrap();
        let machine = machine.restarts().await;
        let is_there = async |m: &Machine| (m.boards().await?.len() == 2).then_some(());
        machine.until("the second is there", is_there).await;
        let text = fs::read_to_string(machine.kept("boards.d/chessnut.toml")).unwrap();
        assert!(text.contains("hid = { id = \"B2\" }"), "{key}: {text}");
        assert_eq!(machine.found().await, Vec::<Value>::new());
    }
}

#[tokio::test]
async fn two_boards_behind_adapters_without_numbers_are_both_played_on() {
    let by_id = "usb-Novag_Citrine-if00-port0";
    let machine = Machine::start("").await;
    let folder = machine.folder.path();
    let (dev, sys) = (folder.join("dev"), folder.join("sys"));
    fs::create_dir_all(dev.join("serial/by-path")).unwrap();
    let plugs = |port: &str, socket: &str| {
        plug(&dev, &sys, port, ["1234", "5678"], ["Novag", "Citrine"]);
        fs::remove_file(dev.join(port)).unwrap();
        symlink(
            format!("../../{port}"),
            dev.join("serial/by-path").join(socket),
        )
        .unwrap();
    };
    plugs("ttyUSB0", "pci-usb-0:1");
    let first = machine.plugs(Kind::NovagCitrine, "ttyUSB0", by_id);
    machine.has("citrine").await;
    // Alone it is the same in another socket.
    let text = fs::read_to_string(machine.kept("boards.d/citrine.toml")).unwrap();
    assert!(text.contains(by_id), "{text}");
    // udev gives the name to the one that has come.
    plugs("ttyUSB1", "pci-usb-0:2");
    fs::remove_file(dev.join("serial/by-id").join(by_id)).unwrap();
    let second = machine.plugs(Kind::NovagCitrine, "ttyUSB1", by_id);
    let texts = two_boards(&machine, ["citrine", "citrine2"]).await;
    for (text, socket) in texts.iter().zip(["pci-usb-0:1", "pci-usb-0:2"]) {
        assert!(text.contains(socket), "{text}");
    }
    for (name, hand) in [("citrine", first), ("citrine2", second)] {
        machine.has(name).await;
        hand.does("e2e4").await;
        machine
            .until(name, async |m| {
                let boards = m.boards().await?;
                let board = boards.into_iter().find(|board| board["board"] == name)?;
                board["game"].as_str()?.ends_with("e2e4").then_some(())
            })
            .await;
        // The board's port is held until then.
        drop(hand);
    }
}

/// The files in a folder of what was added, without their endings.
fn names_in(folder: &Path, ending: &str) -> Vec<String> {
    let files = fs::read_dir(folder).into_iter().flatten().flatten();
    let files = files.map(|file| file.file_name().into_string().unwrap());
    let mut names: Vec<String> = files
        .filter_map(|file| Some(file.strip_suffix(ending)?.to_owned()))
        .collect();
    names.sort();
    names
}

#[tokio::test]
async fn a_kill_while_a_board_is_renamed_or_removed_loses_nothing() {
    let bluez = Bluez::start().unwrap();
    let mut process = Process::keeping(&bluez, "");
    process.address("web").await;
    process.again("KILL", |folder| {
        let state = folder.join("state");
        for (file, text) in [
            (
                "boards.d/old.toml",
                "[boards.old]\nkind = \"swpp\"\ntcp = { address = \"127.0.0.1:1\" }\n",
            ),
            (
                "boards.d/other.toml",
                "[boards.other]\nkind = \"swpp\"\ntcp = { address = \"127.0.0.1:2\" }\n",
            ),
            (
                "play.d/old.other.toml",
                "[[link]]\nboards = [\"old\", \"other\"]\n",
            ),
        ] {
            fs::create_dir_all(state.join(file).parent().unwrap()).unwrap();
            fs::write(state.join(file), text).unwrap();
        }
    });
    let is = |name: &str| name.parse().unwrap();
    let mut name = "old";
    for after in [0, 1, 2, 3, 5, 8, 13, 21, 34, 55] {
        let web = process.address("web").await.to_string();
        let other = if name == "old" { "new" } else { "old" };
        // Wherever it is by then.
        let (from, to) = (is(name), is(other));
        let renamed = call::rename(&web, &from, &to);
        let _ = timeout(Duration::from_millis(after), renamed).await;
        process.again("KILL", |_| {});
        process.address("web").await;
        let state = process.folder().join("state");
        let boards = names_in(&state.join("boards.d"), ".toml");
        let plays = names_in(&state.join("play.d"), ".toml");
        name = if boards.contains(&"new".to_owned()) {
            "new"
        } else {
            "old"
        };
        assert_eq!(boards.len(), 2, "{boards:?}");
        assert_eq!(plays, [format!("{name}.other")], "after {after} ms");
        assert!(!state.join("change.json").exists());
    }
    for after in [0, 2, 5, 13, 34, 1000] {
        let web = process.address("web").await.to_string();
        let removed = is(name);
        let removed = call::remove(&web, &removed);
        let _ = timeout(Duration::from_millis(after), removed).await;
        process.again("KILL", |_| {});
        process.address("web").await;
        let state = process.folder().join("state");
        let boards = names_in(&state.join("boards.d"), ".toml");
        let gone = names_in(&state.join("boards.d"), ".removed");
        let plays = names_in(&state.join("play.d"), ".toml");
        if boards.len() == 2 {
            assert_eq!((gone.len(), plays.len()), (0, 1), "after {after} ms");
        } else {
            assert_eq!((gone.len(), plays.len()), (1, 0), "after {after} ms");
            return;
        }
    }
    panic!("it was never removed");
}
