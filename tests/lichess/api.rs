//! What a person asks of Lichess, by the program's commands and by the API.

use std::{
    io::{Read as _, Write as _},
    net::{SocketAddr, TcpListener},
    process::Stdio,
    thread,
    time::{Duration, Instant},
};

use boardbridge::{
    bus::account::{Ask, Side},
    cli::call,
    front_end::lichess::{
        http::{Http, INTAKE},
        token::Token,
    },
};
use serde_json::json;
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
    lichess::{Lichess, NARROW_TOKEN, Style, TOKEN, challenge},
};

const RAPID: Style = Style {
    old_castling: false,
    clock: Some(900),
};

fn program(at: SocketAddr, words: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_boardbridge"));
    command
        .arg("lichess")
        .args(words.split_whitespace())
        .args(["--connect", &at.to_string()])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    command
}

/// What the program prints, and whether it was a success.
async fn run(at: SocketAddr, words: &str) -> (bool, String) {
    let output = timeout(PATIENCE, program(at, words).output())
        .await
        .unwrap()
        .unwrap();
    let text = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8(text).unwrap())
}

/// The whole answer of the API.
async fn posted(at: SocketAddr, what: &str, body: &serde_json::Value) -> String {
    let body = body.to_string();
    let request = format!(
        "POST /api/v1/lichess/{what} HTTP/1.1\r\nHost: {at}\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    );
    let mut stream = TcpStream::connect(at).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    let read = timeout(PATIENCE, stream.read_to_string(&mut answer)).await;
    read.unwrap().unwrap();
    answer
}

#[tokio::test]
async fn the_commands_do_what_they_say() {
    let lichess = Lichess::new(RAPID).await;
    let folder = House::folder();
    let _hand = Hand::new(Kind::NovagCitrine, folder.path().join("board"), true);
    let more = lichess.config(folder.path(), "");
    let house = House::with(folder, &[("board", FAST_CITRINE)], &more).await;
    let at = house.address("web");
    lichess.is_connected().await;

    // Refused at once, in the words of Lichess.
    let (good, text) = run(at, "seek 3+2").await;
    assert!(!good && text.contains("Invalid time control"), "{text}");
    assert!(text.contains("challenge someone"), "{text}");
    let answer = posted(at, "seek", &json!({ "time": "5+0" })).await;
    assert!(answer.starts_with("HTTP/1.1 400 "), "{answer}");
    assert!(answer.contains("Invalid time control"), "{answer}");
    assert!(call::standing(&at.to_string()).await.unwrap()["seek"].is_null());
    let (good, text) = run(at, "resign").await;
    assert!(!good && text.contains("no game"), "{text}");

    // Withdrawn by Ctrl-C.
    let seeking = program(at, "seek 15+10").spawn().unwrap();
    lichess
        .until("a seek", |lichess| lichess.seeks() == 1)
        .await;
    let id = seeking.id().unwrap().to_string();
    let interrupt = Command::new("kill").args(["-s", "INT", &id]).status();
    assert!(interrupt.await.unwrap().success());
    let output = timeout(PATIENCE, seeking.wait_with_output()).await;
    let text = String::from_utf8(output.unwrap().unwrap().stdout).unwrap();
    assert!(text.contains("withdrawn"), "{text}");
    lichess
        .until("no seek", |lichess| lichess.seeks() == 0)
        .await;

    // Paired.
    let seeking = program(at, "seek 15+10 --color white").spawn().unwrap();
    lichess
        .until("a seek", |lichess| lichess.seeks() == 1)
        .await;
    let wanted = "seek rated=false&time=15&increment=10&color=white";
    assert_eq!(lichess.taken().last().unwrap(), wanted);
    lichess.begins(Color::White);
    let output = timeout(PATIENCE, seeking.wait_with_output())
        .await
        .unwrap()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("a game with Other"), "{text}");
    house.asks_for_a_move("board").await;
    let (good, text) = run(at, "status").await;
    assert!(
        good && text.contains("Me at http://") && text.contains("at the board"),
        "{text}"
    );
    assert!(!text.contains(TOKEN));
    let (good, _) = run(at, "abort").await;
    assert!(good);
    lichess.takes("abort").await;
    house.awaits("board", 0).await;

    // A challenge.
    lichess.tells(&json!({
        "type": "challenge", "challenge": challenge("Chal0001", "in"), "compat": { "bot": false, "board": true },
    }));
    let listed = || async {
        let standing = call::standing(&at.to_string()).await.unwrap();
        standing["challenges"][0]["id"] == "Chal0001"
    };
    timeout(PATIENCE, async { while !listed().await {} })
        .await
        .unwrap();
    let (good, text) = run(at, "accept Other999").await;
    assert!(
        !good && text.contains("Chal0001 by Other (15+10)"),
        "{text}"
    );
    let (good, text) = run(at, "accept").await;
    assert!(good, "{text}");
    lichess.takes("accept Chal0001").await;

    let (good, _) = run(at, "computer 3 10+0 --color black").await;
    assert!(good);
    lichess
        .takes("challenge ai level=3&clock.limit=600&clock.increment=0&color=black")
        .await;
    let (good, _) = run(at, "challenge Someone 3d").await;
    assert!(good);
    lichess
        .takes("challenge Someone rated=false&days=3&color=random")
        .await;
    let (good, text) = run(at, "seek 3d --color white").await;
    assert!(!good && text.contains("colour"), "{text}");
    let (good, text) = run(at, "challenge Someone 15+90").await;
    assert!(!good && text.contains("60 s"), "{text}");
    // Lichess keeps it by itself until someone joins.
    let (good, text) = run(at, "seek 3d").await;
    assert!(good && text.contains("withdraw it there"), "{text}");
    assert!(!text.contains("Ctrl-C"), "{text}");
    assert_eq!(lichess.taken().last().unwrap(), "seek rated=false&days=3");
    lichess.is_content();
}

#[tokio::test]
async fn a_search_for_an_opponent_outlives_a_broken_connection() {
    let lichess = Lichess::new(RAPID).await;
    let folder = House::folder();
    let _hand = Hand::new(Kind::NovagCitrine, folder.path().join("board"), true);
    let more = lichess.config(folder.path(), "");
    let house = House::with(folder, &[("board", FAST_CITRINE)], &more).await;
    lichess.is_connected().await;
    let at = house.address("web").to_string();
    let body = json!({ "time": "15+10" });
    call::lichess(&at, "seek", &body).await.unwrap();
    let sought = |times| {
        move |lichess: &Lichess| {
            let seeks = lichess
                .taken()
                .iter()
                .filter(|what| what.starts_with("seek"))
                .count();
            seeks == times && lichess.seeks() == 1
        }
    };
    lichess.until("a seek", sought(1)).await;
    lichess.breaks();
    lichess.until("another seek", sought(2)).await;
    lichess.is_content();
}

/// A rated game would begin with nobody at the board.
#[tokio::test]
async fn a_search_that_was_told_as_failed_is_withdrawn() {
    let lichess = Lichess::new(RAPID).await;
    let folder = House::folder();
    let _hand = Hand::new(Kind::NovagCitrine, folder.path().join("board"), true);
    let more = lichess.config(folder.path(), "");
    let house = House::with(folder, &[("board", FAST_CITRINE)], &more).await;
    lichess.is_connected().await;
    lichess.is_slow(true);
    let account = house.daemon.bus().account().clone();
    let connected = async {
        let mut changes = account.changes();
        while !account.standing().unwrap().connected {
            changes.next().await;
        }
    };
    timeout(PATIENCE, connected).await.unwrap();
    let seek = Ask::Seek {
        time: "15+10".parse().unwrap(),
        rated: true,
        side: Side::Random,
    };
    // Whoever asks waits no longer than until the server looks at it.
    tokio::select! {
        answer = account.ask(seek) => panic!("{answer:?}"),
        () = lichess.until("the seek", |lichess| lichess.unlooked() == 1) => {}
    }
    lichess.is_slow(false);
    // It may end before the server has looked at it.
    let withdrawn = async {
        let mut changes = account.changes();
        while account.standing().unwrap().seek.is_some() {
            changes.next().await;
        }
    };
    timeout(PATIENCE, withdrawn).await.unwrap();
    lichess
        .until("the end of the seek", |lichess| lichess.seeks() == 0)
        .await;
    lichess.is_content();
}

#[tokio::test]
async fn a_daemon_without_an_account_says_what_to_do() {
    let house = House::with(House::folder(), &[], "").await;
    let (good, text) = run(house.address("web"), "status").await;
    assert!(
        !good && text.contains("boardbridge lichess login"),
        "{text}"
    );
}

/// Logs in with this token at this server; what is printed, and whether it was a success.
async fn logs_in(folder: &TempDir, url: &str, token: &str) -> (bool, String) {
    let (config, file) = (folder.path().join("bb.toml"), folder.path().join("token"));
    let text = format!(
        "[boards.neo]\nkind = \"novag-citrine\"\nserial = {{ port = \"/dev/null\" }}\n\
         [lichess]\nboard = \"neo\"\nurl = {url:?}\ntoken_file = {file:?}\n"
    );
    std::fs::write(&config, text).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_boardbridge"));
    let mut child = command
        .args(["lichess", "login", "--config"])
        .arg(&config)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let line = format!("{token}\n");
    input.write_all(line.as_bytes()).await.unwrap();
    drop(input);
    let output = timeout(PATIENCE, child.wait_with_output()).await;
    let output = output.unwrap().unwrap();
    let text = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    assert!(!text.contains(token), "{text}");
    (output.status.success(), text)
}

#[tokio::test]
async fn login_keeps_the_token_for_its_owner_alone_and_prints_where_to_make_it() {
    use std::os::unix::fs::PermissionsExt as _;
    let lichess = Lichess::new(RAPID).await;
    let folder = tempfile::tempdir().unwrap();
    let url = format!("http://{}", lichess.address);
    let (good, text) = logs_in(&folder, &url, TOKEN).await;
    assert!(good && text.contains("The token of Me"), "{text}");
    let link = "/account/oauth/token/create?scopes[]=board:play&description=BoardBridge";
    assert!(text.contains(&format!("{url}{link}")), "{text}");
    let file = folder.path().join("token");
    assert_eq!(std::fs::read_to_string(&file).unwrap().trim(), TOKEN);
    let mode = std::fs::metadata(&file).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    lichess.is_content();
}

#[tokio::test]
async fn a_token_that_does_not_work_replaces_none_that_does() {
    let lichess = Lichess::new(RAPID).await;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("token");
    std::fs::write(&file, TOKEN).unwrap();
    let url = format!("http://{}", lichess.address);
    let nowhere = "http://127.0.0.1:1";
    for (url, token, words) in [
        (url.as_str(), "lip_Unknown", "does not take this token"),
        (url.as_str(), NARROW_TOKEN, "lacks the scope board:play"),
        (nowhere, "lip_Another", "could not be asked"),
    ] {
        let (good, text) = logs_in(&folder, url, token).await;
        assert!(!good && text.contains(words), "{text}");
        assert!(text.contains("Nothing was changed"), "{text}");
        assert_eq!(std::fs::read_to_string(&file).unwrap(), TOKEN);
    }
    // A server that tells the scopes only when it is asked for them.
    lichess.hides_scopes();
    let (good, text) = logs_in(&folder, &url, NARROW_TOKEN).await;
    assert!(
        !good && text.contains("lacks the scope board:play"),
        "{text}"
    );
    assert_eq!(std::fs::read_to_string(&file).unwrap(), TOKEN);
    let (good, text) = logs_in(&folder, &url, TOKEN).await;
    assert!(good, "{text}");
    lichess.is_content();
}

#[tokio::test]
async fn a_token_that_others_may_read_is_not_used_before_that_is_changed() {
    use std::os::unix::fs::PermissionsExt as _;
    let lichess = Lichess::new(RAPID).await;
    let folder = House::folder();
    let more = lichess.config(folder.path(), "");
    let file = folder.path().join("lichess.token");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
    let house = House::with(folder, &[("board", FAST_CITRINE)], &more).await;
    let at = house.address("web").to_string();
    let problem = || async {
        let standing = call::standing(&at).await.unwrap();
        standing["problem"]
            .as_str()
            .is_some_and(|words| words.contains("chmod 600"))
    };
    timeout(PATIENCE, async { while !problem().await {} })
        .await
        .unwrap();
    // It is looked at again: no restart is needed.
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
    lichess.is_connected().await;
}

#[tokio::test]
async fn a_stream_without_end_is_read_slowly() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let at = listener.local_addr().unwrap();
    thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        // The whole request comes in one piece.
        assert!(stream.read(&mut [0; 4096]).unwrap() > 0);
        let head = "HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\n\r\n";
        let line = format!("{{\"type\":\"{}\"}}\n", "x".repeat(1000));
        // Until the test has seen enough.
        let mut written = stream.write_all(head.as_bytes());
        while written.is_ok() {
            written = stream.write_all(line.as_bytes());
        }
    });
    let mut http = Http::new(&format!("http://{at}"));
    http.set_token(Token::of("lip_x"));
    let mut stream = http.open("/api/stream/event").await.unwrap().unwrap();
    let (begun, mut read) = (Instant::now(), 0);
    while read < INTAKE.at_once + 3 * INTAKE.per_second {
        let line = timeout(PATIENCE, stream.next()).await.unwrap().unwrap();
        read += u64::try_from(line.len()).unwrap();
    }
    // The last frame may be read ahead.
    let waited = begun.elapsed();
    assert!(waited > Duration::from_secs(1), "{waited:?}");
}
