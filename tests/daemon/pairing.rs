//! A phone belongs to the house by a code: the rows of docs/security.md about `control = "paired"`, tried over real sockets.
//!
//! 127.0.0.2 and those after it stand for phones.

use std::{collections::BTreeSet, fs, net::SocketAddr, path::Path, process::Output};

use boardbridge::{
    bus::pairings::Saying,
    config::Config,
    daemon::Daemon,
    front_end::web::pairing::{MAX_PHONES, MAX_TRIES_EACH},
};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpSocket, TcpStream},
    process::Command,
    time::timeout,
};

use crate::support::{PATIENCE, schema};

const HERE: &str = "127.0.0.1";
const PHONE: &str = "127.0.0.2";
const OTHER: &str = "127.0.0.3";
/// Everything that can be looked at.
const VIEWS: [&str; 12] = [
    "boards",
    "boards/one",
    "boards/nothing",
    "events",
    "wall",
    "games",
    "games/2026-11-21_153012_one_1.pgn",
    "lichess",
    "live.pgn",
    "settings",
    "pairs",
    "nothing",
];

struct House {
    daemon: Daemon,
    folder: TempDir,
}

struct Answer {
    status: u16,
    head: String,
    text: String,
}

impl Answer {
    fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|error| panic!("{error}: {}", self.text))
    }

    fn words(&self) -> String {
        self.json()["error"].as_str().unwrap_or_default().to_owned()
    }

    /// The cookie that it sets, as a browser sends it back.
    fn cookie(&self) -> String {
        let line = self
            .head
            .lines()
            .find(|line| line.starts_with("set-cookie: "));
        let line = line.unwrap_or_else(|| panic!("no cookie in {}", self.head));
        let value = line.trim_start_matches("set-cookie: ");
        value.split(';').next().unwrap().to_owned()
    }
}

/// What a page on the phone sends.
#[derive(Clone, Copy)]
struct From<'a> {
    peer: &'a str,
    cookie: &'a str,
    headers: &'a str,
}

const FROM_HERE: From = from(HERE, "");

const fn from<'a>(peer: &'a str, cookie: &'a str) -> From<'a> {
    From {
        peer,
        cookie,
        headers: "Host: 127.0.0.1\r\nContent-Type: application/json\r\n",
    }
}

impl House {
    async fn start() -> Self {
        Self::with(tempfile::tempdir().unwrap(), "control = \"paired\"").await
    }

    async fn with(folder: TempDir, web: &str) -> Self {
        let state = folder.path().join("state");
        let text = format!(
            "[uci]\nlisten = \"127.0.0.1:0\"\n[status]\nlisten = \"off\"\n[livechess]\nlisten = \"off\"\n\
             [web]\nlisten = \"0.0.0.0:0\"\n{web}\n[state]\ndirectory = {state:?}\n\
             [boards.one]\nkind = \"novag-ucb\"\nserial = {{ port = \"/nowhere/one\" }}\n"
        );
        let config = Config::from_text(&text, "the test").unwrap();
        let daemon = Daemon::start(&config).await.unwrap();
        Self { daemon, folder }
    }

    fn address(&self) -> SocketAddr {
        let ports = self.daemon.ports().into_iter();
        let mut web = ports.filter(|(service, _)| service.to_string() == "web");
        SocketAddr::new(HERE.parse().unwrap(), web.next().unwrap().1.port())
    }

    async fn open(&self, from: From<'_>, method: &str, path: &str, body: &str) -> TcpStream {
        let socket = TcpSocket::new_v4().unwrap();
        let peer = SocketAddr::new(from.peer.parse().unwrap(), 0);
        socket.bind(peer).unwrap();
        let mut stream = socket.connect(self.address()).await.unwrap();
        let cookie = match from.cookie {
            "" => String::new(),
            cookie => format!("Cookie: theme=dark; {cookie}\r\n"),
        };
        let request = format!(
            "{method} {path} HTTP/1.1\r\n{}{cookie}Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
            from.headers,
            body.len()
        );
        stream.write_all(request.as_bytes()).await.unwrap();
        stream
    }

    async fn asks(&self, from: From<'_>, method: &str, path: &str, body: &str) -> Answer {
        let mut stream = self.open(from, method, path, body).await;
        let mut text = String::new();
        let read = stream.read_to_string(&mut text);
        timeout(PATIENCE, read).await.unwrap().unwrap();
        let (head, text) = text.split_once("\r\n\r\n").unwrap();
        // A list of boards comes in chunks: the longest is the list.
        let chunked = head.contains("chunked");
        let whole = if chunked {
            text.lines().filter(|line| line.len() > 8).collect()
        } else {
            text.to_owned()
        };
        Answer {
            status: head.split_whitespace().nth(1).unwrap().parse().unwrap(),
            head: head.to_owned(),
            text: whole,
        }
    }

    async fn get(&self, from: From<'_>, view: &str) -> Answer {
        self.asks(from, "GET", &format!("/api/v1/{view}"), "").await
    }

    async fn post(&self, from: From<'_>, path: &str, body: &Value) -> Answer {
        let path = format!("/api/v1/{path}");
        self.asks(from, "POST", &path, &body.to_string()).await
    }

    /// Has this machine show a code.
    async fn shows(&self) -> String {
        let shown = self.post(FROM_HERE, "pair/code", &json!({})).await;
        assert_eq!(shown.status, 200, "{}", shown.text);
        shown.json()["code"].as_str().unwrap().to_owned()
    }

    async fn enters(&self, from: From<'_>, code: &str) -> Answer {
        let body = json!({ "code": code, "name": "Anna's phone" });
        self.post(from, "pair", &body).await
    }

    /// Pairs a phone: its cookie.
    async fn pairs(&self, peer: &str) -> String {
        let code = self.shows().await;
        let answer = self.enters(from(peer, ""), &code).await;
        assert_eq!(answer.status, 200, "{}", answer.text);
        answer.cookie()
    }

    /// Whether this browser may look and press.
    async fn knows(&self, from: From<'_>) -> bool {
        let looks = self.get(from, "boards").await;
        let presses = self.post(from, "boards/one/release", &json!({})).await;
        assert_eq!(
            looks.status, presses.status,
            "{} {}",
            looks.text, presses.text
        );
        assert!([200, 403].contains(&looks.status), "{}", looks.text);
        looks.status == 200
    }

    /// `boardbridge pair`
    async fn command(&self, arguments: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_boardbridge"))
            .arg("pair")
            .args(arguments)
            .args(["--connect", &self.address().to_string()])
            .output()
            .await
            .unwrap()
    }
}

/// Another code than this one.
fn wrong(code: &str, nth: u32) -> String {
    let code: u32 = code.parse().unwrap();
    format!("{:06}", (code + 1 + nth % 999_999) % 1_000_000)
}

#[tokio::test]
async fn an_unpaired_phone_sees_nothing_but_how_to_pair() {
    let house = House::start().await;
    let phone = from(PHONE, "");
    for view in VIEWS {
        let answer = house.get(phone, view).await;
        assert_eq!(answer.status, 403, "{view}: {}", answer.text);
        assert!(answer.words().contains("boardbridge pair"), "{view}");
        assert!(!answer.text.contains("novag"), "{view}: {}", answer.text);
    }
    let buttons = Saying::ALL.map(|saying| format!("boards/one/{saying}"));
    let others = [
        "boards/one/release",
        "boards/one/promotion",
        "lichess/seek",
        "pair/code",
    ];
    for button in buttons.iter().map(String::as_str).chain(others) {
        let answer = house.post(phone, button, &json!({})).await;
        assert_eq!(answer.status, 403, "{button}: {}", answer.text);
    }
    let removes = house.asks(phone, "DELETE", "/api/v1/pairs/1", "").await;
    assert_eq!(removes.status, 403, "{}", removes.text);
    // Other spellings lead nowhere else.
    for path in [
        "/api/v1/boards/",
        "//api/v1/boards",
        "/api/v1/%62oards",
        "/api/v1/pair/../boards",
    ] {
        let answer = house.asks(phone, "GET", path, "").await;
        assert_eq!(answer.status, 403, "{path}: {}", answer.text);
    }
    // The page itself has nothing of the house in it.
    for file in ["/", "/page.js", "/pair.js", "/pair.css", "/icon.svg"] {
        let answer = house.asks(phone, "GET", file, "").await;
        assert_eq!(answer.status, 200, "{file}");
    }
    assert!(house.knows(FROM_HERE).await);
}

#[tokio::test]
async fn a_phone_that_enters_the_code_belongs_to_the_house() {
    let house = House::start().await;
    let schema = schema::api();
    let fits = |name: &str, answer: &Answer| {
        assert_eq!(
            schema.check_as(name, &answer.json()),
            Ok(()),
            "{}",
            answer.text
        );
    };
    let shown = house.post(FROM_HERE, "pair/code", &json!({})).await;
    fits("code", &shown);
    let shown = shown.json();
    let link = shown["link"].as_str().unwrap();
    assert!(
        link.ends_with(&format!("/#pair={}", shown["code"].as_str().unwrap())),
        "{link}"
    );
    let phone = from(PHONE, "");
    let spaced = format!("{} ", shown["code"].as_str().unwrap());
    let paired = house.enters(phone, &spaced).await;
    assert_eq!(paired.status, 200, "{}", paired.text);
    fits("paired", &paired);
    let cookie = paired.cookie();
    let value = cookie.split_once('=').unwrap().1;
    assert_eq!(value.len(), 64, "256 bits");
    for wanted in ["HttpOnly", "SameSite=Strict", "Path=/", "Max-Age="] {
        assert!(paired.head.contains(wanted), "{}", paired.head);
    }
    let known = from(PHONE, &cookie);
    assert!(house.knows(known).await);
    assert!(
        !house.knows(phone).await,
        "another browser of the same phone"
    );
    let settings = house.get(known, "settings").await;
    fits("settings", &settings);
    let settings = settings.json();
    assert_eq!(
        (&settings["may_control"], &settings["may_pair"]),
        (&true.into(), &false.into())
    );
    let list = house.get(known, "pairs").await;
    fits("pairs", &list);
    let list = list.json();
    assert_eq!(
        (&list[0]["name"], &list[0]["you"]),
        (&"Anna's phone".into(), &true.into())
    );
    assert!(!list.to_string().contains(value));
    // What is kept is not the cookie, and is enough after a restart.
    let House { daemon, folder } = house;
    daemon.stop().await;
    let files = fs::read_dir(folder.path().join("state")).unwrap();
    let bytes: Vec<u8> = files
        .flat_map(|file| fs::read(file.unwrap().path()).unwrap())
        .collect();
    let has = |text: &str| {
        bytes
            .windows(text.len())
            .any(|part| part == text.as_bytes())
    };
    assert!(has("Anna's phone") && !has(value));
    let house = House::with(folder, "control = \"paired\"").await;
    // The port of a test changes, and the name of the cookie with it.
    let again = format!("boardbridge_{}={value}", house.address().port());
    assert!(house.knows(from(PHONE, &again)).await);
    assert!(!house.knows(known).await, "the cookie of another port");
}

#[tokio::test]
async fn a_code_is_of_use_once() {
    let house = House::start().await;
    let code = house.shows().await;
    assert_eq!(house.enters(from(PHONE, ""), &code).await.status, 200);
    for peer in [PHONE, OTHER] {
        let answer = house.enters(from(peer, ""), &code).await;
        assert_eq!(answer.status, 409, "{}", answer.text);
        assert!(
            answer.words().contains("no code is shown"),
            "{}",
            answer.text
        );
    }
}

#[tokio::test]
async fn a_thousand_wrong_codes_let_nobody_in() {
    let house = House::start().await;
    let mut code = house.shows().await;
    for nth in 0..1000 {
        if nth % 10 == 0 {
            code = house.shows().await;
        }
        let answer = house.enters(from(PHONE, ""), &wrong(&code, nth)).await;
        let wanted = if nth % 10 + 1 < MAX_TRIES_EACH {
            403
        } else {
            429
        };
        assert_eq!(answer.status, wanted, "{nth}: {}", answer.text);
        assert!(!answer.head.contains("set-cookie"), "{}", answer.head);
    }
    // Who has tried too often may not even enter the right one, but a new one.
    let late = house.enters(from(PHONE, ""), &code).await;
    assert_eq!(late.status, 429, "{}", late.text);
    assert!(late.words().contains("show a new code"), "{}", late.text);
    assert_eq!(house.get(FROM_HERE, "pairs").await.json(), json!([]));
    assert!(house.knows(from(PHONE, &house.pairs(PHONE).await)).await);
}

#[tokio::test]
async fn a_page_of_another_site_pairs_nothing() {
    let house = House::start().await;
    let cookie = house.pairs(PHONE).await;
    let code = house.shows().await;
    let json = "Content-Type: application/json\r\n";
    for (headers, status) in [
        // DNS rebinding: its own name, which leads here now.
        (format!("Host: evil.example\r\n{json}"), 403),
        // Its script, a sandboxed page, another port of this machine.
        (
            format!("Host: 127.0.0.1\r\nOrigin: http://evil.example\r\n{json}"),
            403,
        ),
        (format!("Host: 127.0.0.1\r\nOrigin: null\r\n{json}"), 403),
        (
            format!("Host: 127.0.0.1\r\nOrigin: http://127.0.0.1:8000\r\n{json}"),
            403,
        ),
        // A form.
        (
            "Host: 127.0.0.1\r\nContent-Type: text/plain\r\n".to_owned(),
            400,
        ),
    ] {
        for (peer, cookie) in [(HERE, ""), (OTHER, "")] {
            let page = From {
                peer,
                cookie,
                headers: &headers,
            };
            let answer = house.enters(page, &code).await;
            assert_eq!(answer.status, status, "{headers}{}", answer.text);
        }
        let here = From {
            headers: &headers,
            ..FROM_HERE
        };
        let shown = house.post(here, "pair/code", &json!({})).await;
        assert_eq!(shown.status, status, "{headers}{}", shown.text);
        if status == 403 {
            // In the browser of a paired phone too, if that sent its cookie.
            for page in [
                here,
                From {
                    headers: &headers,
                    ..from(PHONE, &cookie)
                },
            ] {
                let removes = house.asks(page, "DELETE", "/api/v1/pairs/1", "").await;
                assert_eq!(removes.status, 403, "{headers}{}", removes.text);
                assert_eq!(house.get(page, "pairs").await.status, 403, "{headers}");
            }
        }
    }
    // Nothing was used up, and no code was replaced.
    assert!(house.knows(from(PHONE, &cookie)).await);
    assert_eq!(house.enters(from(OTHER, ""), &code).await.status, 200);
}

#[tokio::test]
async fn a_code_is_shown_on_this_machine_alone() {
    let house = House::start().await;
    let cookie = house.pairs(PHONE).await;
    for from in [from(OTHER, ""), from(PHONE, &cookie)] {
        let answer = house.post(from, "pair/code", &json!({})).await;
        assert_eq!(answer.status, 403, "{}", answer.text);
    }
    // Not where nothing is paired, nor where no phone can connect.
    for (web, words) in [
        ("control = \"local\"", "control = \"paired\""),
        ("control = \"allowed\"", "control = \"paired\""),
        ("control = \"nobody\"", "control = \"paired\""),
    ] {
        let house = House::with(tempfile::tempdir().unwrap(), web).await;
        for path in ["pair/code", "pair"] {
            let answer = house
                .post(FROM_HERE, path, &json!({ "code": "123456" }))
                .await;
            assert_eq!(answer.status, 409, "{web}: {}", answer.text);
            assert!(answer.words().contains(words), "{}", answer.text);
        }
    }
}

#[tokio::test]
async fn a_cookie_that_was_not_given_opens_nothing() {
    let house = House::start().await;
    let cookie = house.pairs(PHONE).await;
    let (name, value) = cookie.split_once('=').unwrap();
    let other = if value.starts_with('0') { "1" } else { "0" };
    for forged in [
        String::new(),
        value[1..].to_owned(),
        format!("{other}{}", &value[1..]),
        value.to_uppercase(),
        format!("{value}0"),
        "0".repeat(64),
    ] {
        if forged != value {
            assert!(
                !house.knows(from(PHONE, &format!("{name}={forged}"))).await,
                "{forged}"
            );
        }
    }
    assert!(
        !house
            .knows(from(PHONE, &format!("boardbridge={value}")))
            .await
    );
    // A stolen one does, until the phone is removed.
    assert!(house.knows(from(OTHER, &cookie)).await);
    house.asks(FROM_HERE, "DELETE", "/api/v1/pairs/1", "").await;
    assert!(!house.knows(from(OTHER, &cookie)).await);
}

#[tokio::test]
async fn a_lost_phone_is_removed_and_sees_nothing_from_then_on() {
    let house = House::start().await;
    let (lost, stays) = (house.pairs(PHONE).await, house.pairs(OTHER).await);
    let mut streams = Vec::new();
    for view in ["events", "wall"] {
        let path = format!("/api/v1/{view}");
        let mut stream = house.open(from(PHONE, &lost), "GET", &path, "").await;
        let mut seen = vec![0; 1024];
        let count = timeout(PATIENCE, stream.read(&mut seen))
            .await
            .unwrap()
            .unwrap();
        assert!(String::from_utf8_lossy(&seen[..count]).contains("200 OK"));
        streams.push(stream);
    }
    let removed = house
        .asks(from(OTHER, &stays), "DELETE", "/api/v1/pairs/1", "")
        .await;
    assert_eq!((removed.status, &removed.json()["id"]), (200, &1.into()));
    for mut stream in streams {
        // What it had open ends.
        let mut rest = Vec::new();
        let _ = timeout(PATIENCE, stream.read_to_end(&mut rest))
            .await
            .unwrap();
    }
    assert!(!house.knows(from(PHONE, &lost)).await);
    assert!(house.knows(from(OTHER, &stays)).await);
    let again = house.asks(FROM_HERE, "DELETE", "/api/v1/pairs/1", "").await;
    assert_eq!(again.status, 404, "{}", again.text);
    // Its number is not given to another one, and a restart does not bring it back.
    house.asks(FROM_HERE, "DELETE", "/api/v1/pairs/2", "").await;
    let House { daemon, folder } = house;
    daemon.stop().await;
    let house = House::with(folder, "control = \"paired\"").await;
    house.pairs(PHONE).await;
    assert_eq!(house.get(FROM_HERE, "pairs").await.json()[0]["id"], 3);
}

#[tokio::test]
async fn phones_are_bounded_and_named() {
    let house = House::start().await;
    let code = house.shows().await;
    for name in ["", "  ", "a\u{7}b", &"x".repeat(41)] {
        let body = json!({ "code": code, "name": name });
        let answer = house.post(from(PHONE, ""), "pair", &body).await;
        assert_eq!(answer.status, 400, "{name:?}: {}", answer.text);
    }
    // A name that cannot be taken costs no try, and none is needed.
    let answer = house
        .post(from(PHONE, ""), "pair", &json!({ "code": code }))
        .await;
    assert_eq!(answer.json()["name"], "phone", "{}", answer.text);
    let mut cookies = BTreeSet::new();
    for _ in 1..MAX_PHONES {
        assert!(cookies.insert(house.pairs(PHONE).await));
    }
    let full = house.post(FROM_HERE, "pair/code", &json!({})).await;
    assert_eq!(full.status, 409, "{}", full.text);
    assert!(full.words().contains("remove one"), "{}", full.text);
}

#[tokio::test]
async fn the_command_shows_a_code_and_lists_and_removes_phones() {
    let house = House::start().await;
    let said = |output: Output| {
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    assert!(said(house.command(&["--list"]).await).contains("no phone is paired"));
    let shown = said(house.command(&[]).await);
    assert!(shown.contains('█') && shown.contains("http://"), "{shown}");
    let code = shown
        .split("the code  ")
        .nth(1)
        .unwrap()
        .lines()
        .next()
        .unwrap();
    assert_eq!(house.enters(from(PHONE, ""), code).await.status, 200);
    let list = said(house.command(&["--list"]).await);
    assert!(list.contains("1  Anna's phone, since 20"), "{list}");
    assert!(said(house.command(&["--remove", "1"]).await).contains("Anna's phone is removed"));
    let output = house.command(&["--remove", "1"]).await;
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("no phone has this number"));
}

#[test]
fn the_packaged_configuration_lets_the_private_network_pair_and_no_more() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("config/boardbridge.toml");
    let text = fs::read_to_string(file).unwrap();
    let web = Config::from_text(&text, "the package's").unwrap().web;
    assert_eq!(web.listen().to_string(), "0.0.0.0:9660");
    assert_eq!(web.control, boardbridge::front_end::web::Control::Paired);
    assert_eq!(web.allow, boardbridge::net::door::Allow::Private);
}
