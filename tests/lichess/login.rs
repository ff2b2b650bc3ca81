//! Logging in to Lichess from the page and from a terminal, with a browser that the test plays.

use std::{fs, net::SocketAddr, os::unix::fs::PermissionsExt as _, process::Stdio, time::Duration};

use boardbridge::{
    bus::login::LOGIN_WAIT,
    cli::call,
    front_end::lichess::login::{LoginError, Logins, MAX_STARTED, SCOPE},
};
use serde_json::{Value, json};
use shakmaty::Color;
use simulators::run::Kind;
use tempfile::TempDir;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    process::Command,
    time::timeout,
};

use crate::support::{
    FAST_CITRINE, Hand, House, PATIENCE,
    lichess::{Lichess, Style, login::Odd},
    schema,
};

const RAPID: Style = Style {
    old_castling: false,
    clock: Some(900),
};
const BOARD: [(&str, &str); 1] = [("board", FAST_CITRINE)];

/// A browser: it keeps the cookie of a login.
#[derive(Clone, Debug, Default)]
struct Browser {
    cookie: Option<String>,
}

impl Browser {
    /// One request; returns the status, the head and the body.
    async fn asks(
        &mut self,
        at: SocketAddr,
        head: &str,
        host: &str,
        body: &str,
    ) -> (u16, String, String) {
        let cookie = self.cookie.as_ref();
        let cookie = cookie.map(|cookie| format!("Cookie: other=1; {cookie}\r\n"));
        let request = format!(
            "{head} HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n{}\
             Connection: close\r\n\r\n{body}",
            body.len(),
            cookie.unwrap_or_default()
        );
        let mut stream = TcpStream::connect(at).await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        let read = timeout(PATIENCE, stream.read_to_string(&mut answer)).await;
        read.unwrap().unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        let set = head
            .lines()
            .find_map(|line| line.strip_prefix("set-cookie: "));
        if let Some(set) = set {
            assert!(set.ends_with("; HttpOnly; SameSite=Lax"), "{set}");
            let pair = set.split(';').next().unwrap();
            self.cookie = (!pair.ends_with('=')).then(|| pair.to_owned());
        }
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        (status, head.to_owned(), body.to_owned())
    }

    async fn posts(&mut self, at: SocketAddr, what: &str, body: &Value) -> (u16, Value) {
        let head = format!("POST /api/v1/lichess/{what}");
        let (status, _, body) = self
            .asks(at, &head, &at.to_string(), &body.to_string())
            .await;
        (status, serde_json::from_str(&body).unwrap())
    }

    /// Presses *Log in to Lichess*; returns where that leads.
    async fn begins(&mut self, at: SocketAddr) -> String {
        let (status, answer) = self.posts(at, "login", &json!({})).await;
        assert_eq!(status, 200, "{answer}");
        assert_eq!(schema::api().check_as("login", &answer), Ok(()));
        answer["url"].as_str().unwrap().to_owned()
    }

    /// Opens the page that Lichess has sent it to; returns the status and the page.
    async fn opens(&mut self, at: SocketAddr, place: &str) -> (u16, String) {
        let path = place.strip_prefix(&format!("http://{at}")).unwrap();
        let (status, head, page) = self
            .asks(at, &format!("GET {path}"), &at.to_string(), "")
            .await;
        assert!(head.contains("default-src 'none'"), "{head}");
        assert!(
            head.contains("no-store") && head.contains("no-referrer"),
            "{head}"
        );
        (status, page)
    }

    /// The whole login.
    async fn logs_in(&mut self, at: SocketAddr, lichess: &Lichess) {
        let url = self.begins(at).await;
        let place = lichess.browses(&url, false).await;
        let (status, page) = self.opens(at, &place).await;
        assert_eq!(status, 200, "{page}");
        assert!(page.contains("You are logged in as Me"), "{page}");
    }
}

/// The configuration: where the server is, and nothing else of Lichess.
fn config(lichess: &Lichess, folder: &TempDir) -> String {
    let state = folder.path().join("state");
    format!(
        "[state]\ndirectory = {state:?}\n[lichess]\nurl = \"http://{}\"\n",
        lichess.address
    )
}

struct Table {
    house: House,
    hand: Hand,
    lichess: Lichess,
    at: SocketAddr,
}

impl Table {
    async fn new() -> Self {
        let lichess = Lichess::new(RAPID).await;
        let folder = House::folder();
        let hand = Hand::new(Kind::NovagCitrine, folder.path().join("board"), true);
        let more = config(&lichess, &folder);
        let house = House::with(folder, &BOARD, &more).await;
        let at = house.address("web");
        Self {
            house,
            hand,
            lichess,
            at,
        }
    }

    fn token(&self) -> std::path::PathBuf {
        self.house.folder.path().join("state/lichess.token")
    }

    /// No one is logged in, and no token is kept.
    async fn is_out(&self) {
        let standing = call::standing(&self.at.to_string()).await;
        let words = standing.unwrap_err().to_string();
        assert!(words.contains("boardbridge lichess login"), "{words}");
        assert!(!self.token().exists());
    }

    async fn plays_a_move(&self) {
        self.lichess.is_connected().await;
        self.lichess.begins(Color::White);
        self.house.asks_for_a_move("board").await;
        self.hand.does("e2e4").await;
        self.lichess.has(1).await;
    }
}

#[tokio::test]
async fn one_press_logs_in_and_games_come_to_the_board_also_after_a_restart() {
    let mut table = Table::new().await;
    table.is_out().await;
    let mut browser = Browser::default();
    let url = browser.begins(table.at).await;
    let back = format!(
        "redirect_uri=http%3A%2F%2F127.0.0.1%3A{}%2Foauth%2Flichess&",
        table.at.port()
    );
    for part in [
        &*back,
        "client_id=boardbridge&",
        "&scope=board%3Aplay&",
        "=S256&",
    ] {
        assert!(url.contains(part), "{part} is not in {url}");
    }
    table.is_out().await;
    let place = table.lichess.browses(&url, false).await;
    let (status, page) = browser.opens(table.at, &place).await;
    assert!(status == 200 && page.contains("logged in as Me"), "{page}");
    assert!(page.contains("Games are played on board") && page.contains("href=\"/#settings\""));
    assert_eq!(browser.cookie, None, "it is used up");
    table.plays_a_move().await;
    let mode = fs::metadata(table.token()).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let standing = call::standing(&table.at.to_string()).await.unwrap();
    assert_eq!(
        (&standing["user"], &standing["board"]),
        (&json!("Me"), &json!("board"))
    );

    // The same login once more.
    let (status, page) = browser.opens(table.at, &place).await;
    assert!(status == 400 && page.contains("not known here"), "{page}");
    assert_eq!(table.lichess.logged_in(), 1);

    // The game goes on with the kept token.
    table.lichess.is_content();
    let House { daemon, folder } = table.house;
    daemon.stop().await;
    table.lichess.breaks();
    let more = config(&table.lichess, &folder);
    table.house = House::with(folder, &BOARD, &more).await;
    table.lichess.is_connected().await;
    table.lichess.moves("e7e5".parse().unwrap());
    table.hand.sees("executed e7e5").await;
    table.lichess.is_content();
}

#[tokio::test]
async fn a_token_goes_to_no_other_server_than_the_one_that_gave_it() {
    let mut table = Table::new().await;
    Browser::default().logs_in(table.at, &table.lichess).await;
    table.lichess.is_connected().await;
    let other = Lichess::new(RAPID).await;
    let more = config(&other, &table.house.folder);
    table.house.reloads(&BOARD, &more).await;
    let at = table.house.address("web").to_string();
    assert!(call::standing(&at).await.is_err());
    let more = config(&table.lichess, &table.house.folder);
    table.house.reloads(&BOARD, &more).await;
    table.plays_a_move().await;
}

#[tokio::test]
async fn a_login_is_finished_once_by_the_browser_that_began_it() {
    let table = Table::new().await;
    let (at, lichess) = (table.at, &table.lichess);
    // With another state, with none, and with no code.
    let mut browser = Browser::default();
    let url = browser.begins(at).await;
    let place = lichess.browses(&url, false).await;
    let before = browser.clone();
    let (without, _) = place.split_once("&state=").unwrap();
    for (place, words) in [
        (
            format!("{without}&state=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"),
            "not known here",
        ),
        (without.to_owned(), "not one from Lichess"),
        (format!("http://{at}/oauth/lichess"), "not one from Lichess"),
        (
            format!("http://{at}/oauth/lichess?state=%3Cb%3E&error=%3Cb%3E"),
            "not known here",
        ),
    ] {
        let mut browser = before.clone();
        let (status, page) = browser.opens(at, &place).await;
        assert!(status == 400 && page.contains(words), "{page}");
        assert!(!page.contains("<b>"), "{page}");
    }
    // None of these has used it up; another browser does.
    let mut other = Browser::default();
    other.begins(at).await;
    let (status, page) = other.opens(at, &place).await;
    assert!(status == 400 && page.contains("another browser"), "{page}");
    let (status, page) = before.clone().opens(at, &place).await;
    assert!(status == 400 && page.contains("not known here"), "{page}");

    // The player cancels.
    let url = browser.begins(at).await;
    let place = lichess.browses(&url, true).await;
    assert!(place.contains("error=access_denied"), "{place}");
    let (status, page) = browser.clone().opens(at, &place).await;
    assert!(status == 409 && page.contains("pressed Cancel"), "{page}");
    let (status, page) = browser.opens(at, &place).await;
    assert!(status == 400 && page.contains("not known here"), "{page}");

    // The code is too old.
    let url = browser.begins(at).await;
    let place = lichess.browses(&url, false).await;
    lichess.codes_expire();
    let (status, page) = browser.opens(at, &place).await;
    assert!(
        status == 409 && page.contains("within two minutes"),
        "{page}"
    );
    table.is_out().await;
    assert_eq!(lichess.logged_in(), 0);
    lichess.is_content();
}

#[tokio::test]
async fn a_login_is_for_broadcasts_too_only_where_one_is_pushed_with_it() {
    let mut table = Table::new().await;
    let usual = config(&table.lichess, &table.house.folder);
    let round = "[[broadcast]]\nround = \"aBcDeFgH\"\n";
    let here = format!("url = \"http://{}\"\n", table.lichess.address);
    let own = format!("token_file = {:?}\n", table.token());
    let mut browser = Browser::default();
    for (broadcast, scope) in [
        (
            format!("{round}{here}"),
            "&scope=board%3Aplay+study%3Aread+study%3Awrite&",
        ),
        // One with a token of its own, one on another server, and none.
        (format!("{round}{here}{own}"), "&scope=board%3Aplay&"),
        (round.to_owned(), "&scope=board%3Aplay&"),
        (String::new(), "&scope=board%3Aplay&"),
    ] {
        let more = format!("{usual}{broadcast}");
        table.house.reloads(&BOARD, &more).await;
        let url = browser.begins(table.at).await;
        let url = url.replace("%20", "+");
        assert!(url.contains(scope), "{scope} is not in {url}");
    }
}

#[test]
fn logins_that_were_begun_are_few_and_end_after_ten_minutes() {
    let state = |url: &str| url.split_once("&state=").unwrap().1.to_owned();
    let now = std::time::Instant::now();
    let mut logins = Logins::new("https://lichess.org", SCOPE);
    let begun = logins
        .begin(now, "http://pi/oauth/lichess".to_owned(), false)
        .unwrap();
    let browser = begun.browser.as_deref();
    let late = logins.take(now + LOGIN_WAIT, &state(&begun.url), browser);
    assert_eq!(late.err(), Some(LoginError::Expired));
    let begin = |logins: &mut Logins| {
        let begun = logins
            .begin(now, "http://pi/oauth/lichess".to_owned(), true)
            .unwrap();
        assert_eq!(begun.browser, None);
        state(&begun.url)
    };
    let begun: Vec<String> = (0..=MAX_STARTED).map(|_| begin(&mut logins)).collect();
    let just = now + LOGIN_WAIT - Duration::from_secs(1);
    assert_eq!(
        logins.take(just, &begun[0], None).err(),
        Some(LoginError::Unknown)
    );
    let form = logins.take(just, &begun[1], None).unwrap().form("a b&c");
    assert!(form.contains("&code=a%20b%26c&code_verifier="), "{form}");
    assert!(
        form.ends_with("&redirect_uri=http%3A%2F%2Fpi%2Foauth%2Flichess&client_id=boardbridge")
    );
    assert_eq!(
        logins.take(just, &begun[1], None).err(),
        Some(LoginError::Unknown)
    );
}

#[tokio::test]
async fn whatever_the_server_answers_to_an_exchange_nothing_is_kept_of_it() {
    let table = Table::new().await;
    let mut browser = Browser::default();
    for (odd, words) in [
        (Odd::Huge, "could not be asked"),
        (Odd::NotJson, "cannot be read"),
        (Odd::Elsewhere, "refuses this login (307"),
        (Odd::NoToken, "cannot be read"),
        (Odd::Mangled, "has no token"),
        (Odd::TooMany, "asks for a pause"),
        (Odd::Broken, "502"),
    ] {
        table.lichess.answers_oddly(Some(odd));
        let url = browser.begins(table.at).await;
        let place = table.lichess.browses(&url, false).await;
        let (status, page) = browser.opens(table.at, &place).await;
        assert!(status == 409 && page.contains(words), "{odd:?}: {page}");
        table.is_out().await;
    }
    table.lichess.answers_oddly(None);
    browser.logs_in(table.at, &table.lichess).await;
    table.plays_a_move().await;
}

#[tokio::test]
async fn a_login_belongs_to_a_page_of_this_machine() {
    let table = Table::new().await;
    let mut browser = Browser::default();
    for head in [
        "POST /api/v1/lichess/login",
        "GET /oauth/lichess?code=c&state=s",
    ] {
        let (status, _, body) = browser.asks(table.at, head, "evil.example", "{}").await;
        assert!(status == 403 && body.contains("evil.example"), "{body}");
    }
    // In the form in which Lichess compares it.
    let host = format!("LocalHost:{}", table.at.port());
    let (_, _, body) = browser
        .asks(table.at, "POST /api/v1/lichess/login", &host, "{}")
        .await;
    let wanted = format!(
        "=http%3A%2F%2Flocalhost%3A{}%2Foauth%2Flichess&",
        table.at.port()
    );
    assert!(body.contains(&wanted), "{body}");
}

#[tokio::test]
async fn logging_out_revokes_the_token_and_frees_the_board() {
    let table = Table::new().await;
    let mut browser = Browser::default();
    browser.logs_in(table.at, &table.lichess).await;
    table.lichess.is_connected().await;
    // Once more: the token before is revoked.
    browser.logs_in(table.at, &table.lichess).await;
    let one = |lichess: &Lichess| lichess.logged_in() == 1;
    table.lichess.until("the end of the first token", one).await;
    table.plays_a_move().await;
    table.house.awaits("board", 1).await;
    let (status, answer) = browser.posts(table.at, "logout", &json!({})).await;
    assert_eq!(schema::api().check_as("said", &answer), Ok(()));
    assert_eq!(
        (status, &answer),
        (200, &json!({ "done": "You are logged out" }))
    );
    assert_eq!(table.lichess.logged_in(), 0);
    table.is_out().await;
    table.house.awaits("board", 0).await;
    let (status, answer) = browser.posts(table.at, "logout", &json!({})).await;
    assert_eq!(
        (status, &answer),
        (200, &json!({ "done": "No one is logged in" }))
    );

    // The next login has its own game.
    browser.logs_in(table.at, &table.lichess).await;
    table.lichess.is_connected().await;
    table.lichess.is_away(true);
    let (status, answer) = browser.posts(table.at, "logout", &json!({})).await;
    let words = answer["done"].as_str().unwrap();
    assert!(
        status == 200 && words.contains("could not be told"),
        "{words}"
    );
    assert!(words.contains("/account/security"), "{words}");
    table.is_out().await;
    table.lichess.is_content();
}

#[tokio::test]
async fn a_token_that_was_revoked_elsewhere_is_told_and_a_new_login_helps() {
    let table = Table::new().await;
    let at = table.at.to_string();
    let mut browser = Browser::default();
    browser.logs_in(table.at, &table.lichess).await;
    table.lichess.is_connected().await;
    table.lichess.revokes();
    let problem = || async {
        let standing = call::standing(&at).await.unwrap();
        let words = standing["problem"].as_str().unwrap_or_default().to_owned();
        words.contains("does not accept the token") && words.contains("Log in again")
    };
    timeout(PATIENCE, async { while !problem().await {} })
        .await
        .unwrap();
    browser.logs_in(table.at, &table.lichess).await;
    table.plays_a_move().await;
    table.lichess.is_content();
}

#[tokio::test]
async fn a_token_that_the_configuration_names_is_the_stronger_word() {
    let lichess = Lichess::new(RAPID).await;
    let folder = House::folder();
    let _hand = Hand::new(Kind::NovagCitrine, folder.path().join("board"), true);
    let more = lichess.config(folder.path(), "");
    let house = House::with(folder, &BOARD, &more).await;
    lichess.is_connected().await;
    let mut browser = Browser::default();
    for what in ["login", "logout"] {
        let (status, answer) = browser.posts(house.address("web"), what, &json!({})).await;
        let words = answer["error"].as_str().unwrap();
        assert!(status == 409 && words.contains("token_file"), "{words}");
    }
    assert!(house.folder.path().join("lichess.token").exists());
    lichess.is_content();
}

#[tokio::test]
async fn without_a_place_for_the_token_or_a_board_a_login_does_not_begin() {
    let lichess = Lichess::new(RAPID).await;
    let folder = House::folder();
    let state = config(&lichess, &folder);
    let house = House::with(folder, &[], &state).await;
    let posted = async |house: &House| {
        let at = house.address("web");
        let (status, answer) = Browser::default().posts(at, "login", &json!({})).await;
        assert_eq!(status, 409, "{answer}");
        answer["error"].as_str().unwrap().to_owned()
    };
    assert!(posted(&house).await.contains("no board yet"));
    let house = House::with(House::folder(), &BOARD, "").await;
    assert!(posted(&house).await.contains("[state]"));
}

/// What the program prints, and whether it was a success.
async fn run(at: SocketAddr, words: &[&str]) -> (bool, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_boardbridge"));
    command
        .arg("lichess")
        .args(words)
        .args(["--connect", &at.to_string()])
        .stdin(Stdio::null())
        .kill_on_drop(true);
    let output = timeout(PATIENCE, command.output()).await.unwrap().unwrap();
    let text = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8(text).unwrap())
}

/// The link that the program prints.
async fn link(at: SocketAddr) -> String {
    let (good, text) = run(at, &["login"]).await;
    assert!(good, "{text}");
    let link = text
        .lines()
        .map(str::trim)
        .find(|line| line.starts_with("http"));
    link.unwrap().to_owned()
}

#[tokio::test]
async fn a_terminal_logs_in_by_any_browser_or_by_the_address_that_it_could_not_open() {
    let table = Table::new().await;
    // The browser is on this machine.
    let place = table.lichess.browses(&link(table.at).await, false).await;
    let (status, page) = Browser::default().opens(table.at, &place).await;
    assert!(status == 200 && page.contains("logged in as Me"), "{page}");
    table.lichess.is_connected().await;
    let (good, text) = run(table.at, &["logout"]).await;
    assert!(good && text.contains("You are logged out"), "{text}");
    table.is_out().await;

    // It is on another one, and cannot open the page.
    let place = table.lichess.browses(&link(table.at).await, false).await;
    let (good, text) = run(table.at, &["login", &place]).await;
    assert!(good && text.contains("logged in as Me"), "{text}");
    let (good, text) = run(table.at, &["login", &place]).await;
    assert!(!good && text.contains("not known here"), "{text}");
    table.plays_a_move().await;

    // The same on the page.
    let mut browser = Browser::default();
    let url = browser.begins(table.at).await;
    let place = table.lichess.browses(&url, false).await;
    let pasted = json!({ "address": format!(" {place}#") });
    let (status, answer) = Browser::default().posts(table.at, "login", &pasted).await;
    assert!(
        status == 400
            && answer["error"]
                .as_str()
                .unwrap()
                .contains("another browser")
    );
    let url = browser.begins(table.at).await;
    let place = table.lichess.browses(&url, false).await;
    let pasted = json!({ "address": format!(" {place}#") });
    let (status, answer) = browser.posts(table.at, "login", &pasted).await;
    assert!(
        status == 200 && answer["done"].as_str().unwrap().contains("Me"),
        "{answer}"
    );

    // Without a daemon.
    let nowhere = "127.0.0.1:1".parse().unwrap();
    let (good, text) = run(nowhere, &["login"]).await;
    assert!(!good && text.contains("--token"), "{text}");
    table.lichess.is_content();
}
