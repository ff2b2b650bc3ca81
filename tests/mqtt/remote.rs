//! A board of another daemon, whatever a broker does with what is said of it: doubled, reordered, lost.

use std::time::{Duration, Instant, SystemTime};

use boardbridge::{
    chess::game::Game,
    front_end::mqtt::{
        messages::Ours,
        messages::{AWAY_AFTER, Answer, HEARTBEAT, Online},
        orders::{self, Order},
        outbox::Message,
        remote::{ANSWER_WAIT, News, Remote},
        settings::FarBoard,
    },
    front_end::pgn_text::clock as local,
    vocabulary::{ClientId, Command, Event, GameEnd, Occasion, Snapshot},
};
use jiff::tz::TimeZone;
use serde_json::{Value, json};

/// The time of day, where none is told.
const AT: SystemTime = SystemTime::UNIX_EPOCH;
const GAME: [&str; 6] = ["e2e4", "e7e5", "g1f3", "b8c6", "f1b5", "a7a6"];

fn remote() -> Remote {
    let far = FarBoard {
        daemon: "hall-1".parse().unwrap(),
        board: "citrine".parse().unwrap(),
    };
    let ours = Ours {
        daemon: "hall-2".parse().unwrap(),
        epoch: 5,
    };
    Remote::new("far".parse().unwrap(), far, ours)
}

/// The state after this many plies, as the other daemon shows it.
fn state(epoch: u64, plies: usize) -> Vec<u8> {
    let moves = match plies {
        0 => "startpos".to_owned(),
        plies => format!("startpos moves {}", GAME[..plies].join(" ")),
    };
    json!({
        "epoch": epoch, "sequence": plies, "revision": plies + 1, "link": "up", "game": moves, "sure": true,
        "peer": { "places": [] },
    })
    .to_string()
    .into_bytes()
}

/// The same, with the event that led there.
fn state_with_its_event(epoch: u64, plies: usize) -> Vec<u8> {
    let mut state: Value = serde_json::from_slice(&state(epoch, plies)).unwrap();
    state["peer"]["events"] = json!([move_event(plies)]);
    state.to_string().into_bytes()
}

fn move_event(ply: usize) -> Value {
    json!({ "event": "moved", "uci": GAME[ply - 1], "ply": ply, "by": "hand", "took": 1.5 })
}

fn event(epoch: u64, ply: usize) -> Vec<u8> {
    let mut event = move_event(ply);
    event["epoch"] = epoch.into();
    event["sequence"] = ply.into();
    event.to_string().into_bytes()
}

fn online(epoch: u64, online: bool) -> Online {
    Online {
        online,
        epoch,
        at: String::new(),
        version: String::new(),
    }
}

fn moved(news: &News) -> Vec<usize> {
    let ply = |event: &Event| match event {
        Event::Moved { ply, .. } => Some(*ply),
        _ => None,
    };
    news.events.iter().filter_map(ply).collect()
}

#[test]
fn every_move_is_told_once_and_in_order_whatever_the_broker_does() {
    // Every message twice, in every order that a seed gives.
    for seed in 0..2_000 {
        let mut random = fastrand::Rng::with_seed(seed);
        let now = Instant::now();
        let mut remote = remote();
        remote.state(now, &state(1, 0), true).unwrap();
        let mut messages: Vec<(bool, usize)> = Vec::new();
        for ply in 1..=GAME.len() {
            for _ in 0..=random.usize(0..2) {
                // Some events never come.
                if random.u32(0..5) > 0 {
                    messages.push((false, ply));
                }
                messages.push((true, ply));
            }
        }
        random.shuffle(&mut messages);
        let mut told = Vec::new();
        for (is_state, ply) in messages {
            if is_state {
                let state = match random.bool() {
                    true => state(1, ply),
                    false => state_with_its_event(1, ply),
                };
                let news = remote.state(now, &state, true).unwrap();
                told.extend(news.iter().flat_map(moved));
            } else {
                remote.event(now, &event(1, ply)).unwrap();
            }
        }
        assert_eq!(told, [1, 2, 3, 4, 5, 6], "seed {seed}");
        assert_eq!(remote.snapshot().game.len(), GAME.len());
    }
}

#[test]
fn a_state_that_comes_before_its_events_tells_them_all_and_they_tell_nothing_again() {
    let now = Instant::now();
    let mut remote = remote();
    remote.state(now, &state(1, 1), true).unwrap();
    let mut after: Value = serde_json::from_slice(&state(1, 2)).unwrap();
    after["sequence"] = 4.into();
    after["peer"]["events"] =
        json!([{ "event": "restarted" }, move_event(2), { "event": "of a newer version" }]);
    let after = after.to_string();
    let news = remote.state(now, after.as_bytes(), true).unwrap().unwrap();
    assert_eq!(moved(&news), [2]);
    assert!(news.events.contains(&Event::Restarted), "{:?}", news.events);
    remote.event(now, &event(1, 2)).unwrap();
    let next = remote.state(now, &state(1, 5), true).unwrap().unwrap();
    assert_eq!(moved(&next), [3, 4, 5]);
}

#[test]
fn what_happened_before_a_board_was_first_heard_is_not_told() {
    let now = Instant::now();
    let mut remote = remote();
    // Said again at a connection of its daemon's.
    let first = remote.state(now, &state_with_its_event(1, 3), true);
    assert_eq!(moved(&first.unwrap().unwrap()), [0; 0]);
    // Kept by the broker: told from the games, once.
    let kept = remote.state(now, &state_with_its_event(1, 4), false);
    assert_eq!(moved(&kept.unwrap().unwrap()), [4]);
}

#[test]
fn a_state_that_was_lost_on_the_way_is_asked_for_within_a_heartbeat() {
    let (now, at) = (Instant::now(), SystemTime::now());
    let mut remote = remote();
    assert!(
        !remote.looks(now),
        "nothing is asked of a daemon that is away"
    );
    remote.online(now, at, &online(1, true), true);
    remote.state(now, &state(1, 1), true).unwrap();
    assert!(!remote.looks(now + HEARTBEAT / 2));
    let later = now + HEARTBEAT;
    assert!(remote.looks(later));
    assert!(!remote.looks(later), "it is asked for once");
    let kept = remote.state(later, &state(1, 3), false).unwrap().unwrap();
    assert_eq!(moved(&kept), [2, 3]);
    assert!(!remote.looks(later + HEARTBEAT / 2));
}

#[test]
fn a_state_that_a_broker_kept_from_an_earlier_start_is_passed_over() {
    let now = Instant::now();
    let mut remote = remote();
    remote.state(now, &state(7, 2), true).unwrap();
    assert!(remote.state(now, &state(6, 5), false).unwrap().is_none());
    assert!(remote.state(now, &state(7, 1), false).unwrap().is_none());
    assert_eq!(remote.snapshot().game.len(), 2);
    assert!(
        remote
            .online(now, SystemTime::now(), &online(6, false), true)
            .is_none()
    );
    // A daemon that starts again counts from one.
    remote.state(now, &state(8, 1), true).unwrap().unwrap();
    assert_eq!(remote.snapshot().game.len(), 1);
}

#[test]
fn a_daemon_that_is_silent_or_says_that_it_leaves_is_away_and_says_since_when() {
    let (now, at) = (Instant::now(), SystemTime::now());
    let mut remote = remote();
    assert!(!remote.snapshot().link.is_open());
    remote.online(now, at, &online(1, true), true);
    remote.state(now, &state(1, 1), true).unwrap();
    assert!(remote.snapshot().link.is_open());
    assert!(remote.timeout(now + AWAY_AFTER / 2, at).is_none());
    let then = at + AWAY_AFTER;
    let news = remote.timeout(now + AWAY_AFTER, then).unwrap();
    let since = local(at, &TimeZone::system(), "away since %Y-%m-%d %H:%M");
    let why = news.state.link.why().unwrap();
    assert!(
        why.contains("has not been heard") && why.contains(&since),
        "{why}"
    );
    // Another reason is no other time.
    let news = remote
        .unreached(then + AWAY_AFTER, "the broker is gone")
        .unwrap();
    let why = news.state.link.why().unwrap();
    assert!(
        why.contains("the broker is gone") && why.contains(&since),
        "{why}"
    );
    assert_eq!(news.state.game.len(), 1, "what was known of the game stays");
    assert!(!news.state.sure, "it may have gone on");
    remote.online(now, at, &online(1, true), true).unwrap();
    let news = remote.online(now, at, &online(1, false), true).unwrap();
    assert!(news.state.link.why().unwrap().contains("hall-1 is away"));
}

#[test]
fn a_sign_of_life_that_a_broker_has_kept_for_long_is_none() {
    let (now, at) = (Instant::now(), SystemTime::now());
    let kept = |at| Online::of_ours(true, 1, at);
    let mut remote = remote();
    remote.state(now, &state(1, 1), false).unwrap();
    let old = at - AWAY_AFTER - Duration::from_secs(1);
    let news = remote.online(now, at, &kept(old), false).unwrap();
    let why = news.state.link.why().unwrap();
    assert!(why.contains("has not been heard for 90 s"), "{why}");
    let lately = at - AWAY_AFTER / 3;
    let news = remote.online(now, at, &kept(lately), false).unwrap();
    assert!(news.state.link.is_open());
    // A clock that is known to be years off makes nothing old.
    let theirs = at - Duration::from_hours(24 * 365 * 20);
    remote.online(now, at, &kept(theirs), true);
    remote.unreached(at, "no broker").unwrap();
    let later = at + AWAY_AFTER / 3;
    remote.online(now, later, &kept(theirs), false).unwrap();
    assert!(remote.snapshot().link.is_open());
}

fn target(number: u64) -> Command {
    Command::Target {
        client: ClientId(7),
        label: "a program".into(),
        number,
        game: Box::new(Game::standard()),
        occasion: Occasion::default(),
    }
}

fn said(payload: &[u8]) -> (String, Value) {
    let value: Value = serde_json::from_slice(payload).unwrap();
    (
        value["id"].as_str().unwrap().to_owned(),
        value["command"].clone(),
    )
}

#[test]
fn what_a_client_has_stated_is_said_again_when_it_was_lost() {
    let (now, at) = (Instant::now(), SystemTime::now());
    let client = ClientId(7);
    let mut remote = remote();
    // Stated before the board was ever heard of.
    assert!(remote.command(now, at, &target(1)).is_empty());
    assert!(
        remote
            .command(now, at, &Command::Await { client, on: true })
            .is_empty()
    );
    remote.online(now, at, &online(1, true), true);
    remote.state(now, &state(1, 0), true).unwrap();
    let again = remote.again(now, at);
    let commands: Vec<Value> = again
        .iter()
        .map(|message| said(&message.payload).1)
        .collect();
    assert_eq!(commands.len(), 2);
    assert!(commands[0]["state"].is_object() && commands[1]["await"].is_object());
    assert!(remote.again(now, at).is_empty(), "once is enough for now");
    // Answered, and the board knows it: nothing more is said.
    for message in &again {
        let (id, _) = said(&message.payload);
        assert!(remote.answered(AT, &Answer::to(AT, &id, Ok(()))));
    }
    let mut known: Value = serde_json::from_slice(&state(1, 1)).unwrap();
    known["peer"]["places"] = json!([{ "daemon": "hall-2", "client": 7, "number": 1, "joined": true, "answer": ["e2e4"] }]);
    let news = remote
        .state(now, known.to_string().as_bytes(), true)
        .unwrap()
        .unwrap();
    let place = news.state.place(client, 1).unwrap();
    assert_eq!(place.answer.len(), 1);
    let later = now + ANSWER_WAIT + Duration::from_secs(1);
    assert!(remote.again(later, at).is_empty());
    // A command without an answer is said again with all that stands.
    let answered = Command::Answered {
        client,
        number: 1,
        answer: "e2e4".parse().unwrap(),
    };
    remote.command(later, at, &answered).remove(0);
    let again = remote.again(later + ANSWER_WAIT, at);
    assert_eq!(again.len(), 3);
    // The other daemon has started again, and knows nothing.
    remote.state(later, &state(2, 1), true).unwrap();
    assert_eq!(remote.again(later, at).len(), 3);
}

/// What the board is told in these messages.
fn kinds(messages: &[Message]) -> Vec<String> {
    let kind = |message: &Message| {
        let (_, command) = said(&message.payload);
        command.as_object().unwrap().keys().next().unwrap().clone()
    };
    messages.iter().map(kind).collect()
}

/// A board on which client 7 plays, and which knows it.
fn played_on(now: Instant, at: SystemTime) -> Remote {
    let mut remote = remote();
    remote.online(now, at, &online(1, true), true);
    remote.state(now, &state(1, 0), true).unwrap();
    let first = remote.command(now, at, &target(1)).remove(0);
    let (id, _) = said(&first.payload);
    assert!(remote.answered(AT, &Answer::to(AT, &id, Ok(()))));
    let mut known: Value = serde_json::from_slice(&state(1, 1)).unwrap();
    known["peer"]["places"] =
        json!([{ "daemon": "hall-2", "client": 7, "number": 1, "joined": true, "answer": [] }]);
    remote
        .state(now, known.to_string().as_bytes(), true)
        .unwrap();
    assert!(remote.again(now + ANSWER_WAIT, at).is_empty());
    remote
}

fn resigned(client: ClientId) -> Command {
    let end = GameEnd::resigned(shakmaty::Color::White);
    Command::Ended { client, end }
}

#[test]
fn what_a_known_client_says_in_a_cut_is_said_once_after_it() {
    let (now, at) = (Instant::now(), SystemTime::now());
    let client = ClientId(7);
    let mut remote = played_on(now, at);
    remote.unreached(at, "no broker");
    for command in [Command::Await { client, on: true }, resigned(client)] {
        assert!(remote.command(now, at, &command).is_empty());
    }
    remote.online(now, at, &online(1, true), true).unwrap();
    let again = remote.again(now, at);
    assert_eq!(kinds(&again), ["state", "await", "ended"]);
    assert!(remote.again(now, at).is_empty(), "once is enough");
    for message in &again {
        let (id, _) = said(&message.payload);
        assert!(remote.answered(AT, &Answer::to(AT, &id, Ok(()))));
    }
    // The board lists it no more: its game is over, and would be begun again by its position.
    let over: Value = serde_json::from_slice(&state(1, 2)).unwrap();
    remote
        .state(now, over.to_string().as_bytes(), true)
        .unwrap();
    assert!(remote.again(now + 2 * ANSWER_WAIT, at).is_empty());
    remote.unreached(at, "no broker");
    remote.online(now, at, &online(1, true), true).unwrap();
    assert!(remote.again(now, at).is_empty());
}

#[test]
fn a_game_that_ends_in_a_cut_ends_before_its_client_leaves() {
    let (now, at) = (Instant::now(), SystemTime::now());
    let client = ClientId(7);
    let mut remote = played_on(now, at);
    remote.unreached(at, "no broker");
    for command in [resigned(client), Command::Release { client }] {
        assert!(remote.command(now, at, &command).is_empty());
    }
    remote.online(now, at, &online(1, true), true).unwrap();
    let again = remote.again(now, at);
    assert_eq!(kinds(&again), ["ended", "release"]);
    for message in &again {
        let (id, _) = said(&message.payload);
        assert!(remote.answered(AT, &Answer::to(AT, &id, Ok(()))));
    }
    assert!(remote.again(now + 2 * ANSWER_WAIT, at).is_empty());
}

#[test]
fn a_new_game_that_is_asked_for_in_a_cut_is_not_taken_for_the_one_before() {
    let (now, at) = (Instant::now(), SystemTime::now());
    let client = ClientId(7);
    let mut remote = played_on(now, at);
    remote.unreached(at, "no broker");
    assert!(
        remote
            .command(now, at, &Command::NewGame { client })
            .is_empty()
    );
    remote.online(now, at, &online(1, true), true).unwrap();
    let again = remote.again(now, at);
    let new = json!({ "new-game": { "client": 7, "before": 2 } });
    assert_eq!(
        again
            .iter()
            .map(|one| said(&one.payload).1)
            .collect::<Vec<_>>(),
        [new]
    );
}

#[test]
fn what_is_refused_is_said_again_with_all_that_stands() {
    let (now, at) = (Instant::now(), SystemTime::now());
    let client = ClientId(7);
    let mut remote = played_on(now, at);
    let awaits = Command::Await { client, on: true };
    let message = remote.command(now, at, &awaits).remove(0);
    let (id, command) = said(&message.payload);
    assert_eq!(command["await"]["number"], 1, "of the game stated last");
    let refused = Err("there are too many commands".to_owned());
    assert!(remote.answered(AT, &Answer::to(AT, &id, refused)));
    assert!(remote.again(now, at).is_empty(), "not at once");
    let later = now + ANSWER_WAIT;
    assert_eq!(kinds(&remote.again(later, at)), ["state", "await"]);
    assert!(remote.again(later, at).is_empty());
}

#[test]
fn what_is_never_answered_is_said_again_once_each_time() {
    let (mut now, at) = (Instant::now(), SystemTime::now());
    let client = ClientId(7);
    let mut remote = remote();
    remote.online(now, at, &online(1, true), true);
    remote.state(now, &state(1, 0), true).unwrap();
    remote.command(now, at, &target(1)).remove(0);
    remote.command(now, at, &Command::Await { client, on: true });
    // A broker that is held up for a while.
    for _ in 0..10 {
        now += ANSWER_WAIT;
        assert_eq!(remote.again(now, at).len(), 2);
    }
}

#[test]
fn a_new_game_is_said_again_with_its_position_until_the_board_has_begun_it() {
    let (now, at) = (Instant::now(), SystemTime::now());
    let client = ClientId(7);
    let mut remote = remote();
    remote.online(now, at, &online(1, true), true);
    remote.state(now, &state(1, 4), true).unwrap();
    let commands = |messages: &[Message]| -> Vec<Value> {
        let commands = messages.iter().map(|message| said(&message.payload).1);
        commands.collect()
    };
    let first = remote
        .command(now, at, &Command::NewGame { client })
        .remove(0);
    assert_eq!(commands(&[first]), [json!({ "new-game": { "client": 7 } })]);
    remote.command(now, at, &target(2)).remove(0);
    // The other daemon died before it took them, and has started again.
    remote.state(now, &state(2, 4), true).unwrap();
    let again = commands(&remote.again(now, at));
    let new = json!({ "new-game": { "client": 7, "before": 2 } });
    assert_eq!(again[0], new);
    assert_eq!(again[1]["state"]["number"], 2);
    // The client has gone on, and that was lost too: the game must not be begun anew when it was.
    remote.command(now, at, &target(3)).remove(0);
    remote.state(now, &state(3, 4), true).unwrap();
    let again = commands(&remote.again(now, at));
    assert_eq!((&again[0], again.len()), (&new, 2));
    let mut known: Value = serde_json::from_slice(&state(3, 5)).unwrap();
    known["peer"]["places"] =
        json!([{ "daemon": "hall-2", "client": 7, "number": 2, "joined": true, "answer": [] }]);
    remote
        .state(now, known.to_string().as_bytes(), true)
        .unwrap();
    let later = now + ANSWER_WAIT;
    let again = commands(&remote.again(later, at));
    assert!(
        again[0]["state"].is_object(),
        "the game has begun: {again:?}"
    );
}

#[test]
fn a_new_game_that_its_daemon_began_before_it_died_is_not_begun_anew() {
    let (now, at) = (Instant::now(), SystemTime::now());
    let client = ClientId(7);
    let mut remote = remote();
    remote.online(now, at, &online(1, true), true);
    let mut old: Value = serde_json::from_slice(&state(1, 4)).unwrap();
    old["peer"]["since"] = json!("2026-01-31T12:00:00.123456789Z");
    remote.state(now, old.to_string().as_bytes(), true).unwrap();
    remote.command(now, at, &Command::NewGame { client });
    remote.command(now, at, &target(2));
    // It has begun, and the daemon died before it said so; the board knows no place of the client.
    remote.online(now, at, &online(2, true), true);
    let mut new: Value = serde_json::from_slice(&state(2, 1)).unwrap();
    new["peer"]["since"] = json!("2026-01-31T12:05:00Z");
    remote.state(now, new.to_string().as_bytes(), true).unwrap();
    let again = said(&remote.again(now, at)[0].payload).1;
    let after = "2026-01-31T12:00:00.123456789Z";
    assert_eq!(again["new-game"]["after"], after);
    let Ok(Order::Again(_, begun)) = orders::read(&again) else {
        panic!("{again}");
    };
    assert!(begun.is_so(client, &remote.snapshot()));
    let since = humantime::parse_rfc3339(after).unwrap();
    let before = Snapshot {
        since: Some(since),
        ..remote.snapshot()
    };
    assert!(!begun.is_so(client, &before), "it has not begun yet");
}

#[test]
fn a_new_game_on_a_board_without_a_game_is_said_once() {
    let (now, at) = (Instant::now(), SystemTime::now());
    let client = ClientId(7);
    let mut remote = remote();
    remote.online(now, at, &online(1, true), true);
    remote.state(now, &state(1, 0), true).unwrap();
    assert!(remote.command(now, at, &Command::NewGame { client }).len() == 1);
    remote.command(now, at, &target(2));
    // Its daemon took both, died, and the hand has moved.
    remote.state(now, &state(2, 1), true).unwrap();
    let again = remote.again(now, at);
    assert_eq!(again.len(), 1);
    assert!(said(&again[0].payload).1["state"].is_object());
}

#[test]
fn a_client_that_leaves_while_its_board_is_out_of_reach_is_not_listed_there_for_ever() {
    let (now, at) = (Instant::now(), SystemTime::now());
    let client = ClientId(7);
    let mut remote = remote();
    remote.online(now, at, &online(1, true), true);
    remote.state(now, &state(1, 0), true).unwrap();
    remote.command(now, at, &target(1)).remove(0);
    remote.unreached(at, "no broker");
    assert!(
        remote
            .command(now, at, &Command::Lost { client })
            .is_empty()
    );
    let news = remote.online(now, at, &online(1, true), true);
    assert!(news.is_some());
    let again = remote.again(now, at);
    assert_eq!(again.len(), 1, "what it stated before is over");
    let (first, lost) = said(&again[0].payload);
    assert!(lost["lost"].is_object(), "{lost}");
    assert!(remote.again(now, at).is_empty(), "once is enough for now");
    // It was lost on its way, or the board had no room for it.
    assert!(remote.answered(AT, &Answer::to(AT, &first, Err("try again".to_owned()))));
    let later = now + ANSWER_WAIT;
    let again = remote.again(later, at);
    let (second, _) = said(&again[0].payload);
    assert!(remote.answered(AT, &Answer::to(AT, &second, Ok(()))));
    assert!(remote.again(later + 2 * ANSWER_WAIT, at).is_empty());
}

#[test]
fn a_daemon_that_says_only_what_its_page_shows_can_be_played_on_too() {
    let (now, at) = (Instant::now(), SystemTime::now());
    let mut remote = remote();
    remote.online(now, at, &online(1, true), true);
    remote.command(now, at, &target(1));
    let plain = json!({
        "epoch": 1, "sequence": 4, "link": "up", "game": "startpos moves e2e4", "target": "startpos", "sure": true,
        "awaiting": true, "holders": ["a program at hall-2"],
    });
    let news = remote
        .state(now, plain.to_string().as_bytes(), true)
        .unwrap()
        .unwrap();
    let place = news.state.place(ClientId(7), 1).unwrap();
    assert!(place.joined);
    assert_eq!(place.answer.len(), 1);
}

#[test]
fn a_command_is_dated_by_the_clock_of_the_daemon_that_judges_it() {
    let (now, at) = (Instant::now(), SystemTime::now());
    let mut remote = remote();
    let year = Duration::from_hours(24 * 365);
    let theirs = Online::of_ours(true, 1, at + year);
    remote.online(now, at, &theirs, true);
    remote.state(now, &state(1, 0), true).unwrap();
    let message = remote.command(now, at, &target(1)).remove(0);
    let value: Value = serde_json::from_slice(&message.payload).unwrap();
    let until = humantime::parse_rfc3339(value["expires"].as_str().unwrap()).unwrap();
    assert!(until > at + year);
}

#[test]
fn a_clock_that_is_years_off_moves_no_date_and_no_chess_clock() {
    let (now, at) = (Instant::now(), SystemTime::now());
    let second = Duration::from_secs(1);
    let years = Duration::from_hours(24 * 365 * 20);
    let exact = |at: SystemTime| humantime::format_rfc3339_nanos(at).to_string();
    let mut remote = remote();
    let mut of: Value = serde_json::from_slice(&state(1, 1)).unwrap();
    of["peer"]["began"] = exact(at - years - 60 * second).into();
    of["pairing"] = json!({
        "clocks": { "white": 90.0, "black": 90.0, "runs": "black", "at": exact(at - years - 5 * second) },
    });
    let of = of.to_string().into_bytes();
    // What a broker kept says nothing of a clock; the heartbeat after it does.
    remote.state(now, &of, false).unwrap();
    let heartbeat = Online::of_ours(true, 1, at - years);
    let news = remote.online(now, at, &heartbeat, true).unwrap();
    let began = at.duration_since(news.state.began.unwrap()).unwrap();
    assert_eq!(began.as_secs_f64().round(), 60.0);
    let clocks = news.pairing.unwrap().clocks.unwrap();
    let seconds = at.duration_since(clocks.at).unwrap().as_secs_f64();
    assert!((4.9..5.1).contains(&seconds), "{seconds}");
}

#[test]
fn a_refusal_tells_the_clock_of_the_daemon_that_judges_and_the_command_is_said_again() {
    let (now, at) = (Instant::now(), SystemTime::now());
    let year = Duration::from_hours(24 * 365);
    let mut remote = remote();
    remote.online(now, at, &online(1, true), true);
    remote.state(now, &state(1, 0), true).unwrap();
    let first = remote.command(now, at, &target(1)).remove(0);
    let (id, _) = said(&first.payload);
    let refusal = Answer::to(at + year, &id, Err("the command has expired".to_owned()));
    assert!(remote.answered(at, &refusal));
    let again = remote.again(now, at).remove(0);
    let value: Value = serde_json::from_slice(&again.payload).unwrap();
    let until = humantime::parse_rfc3339(value["expires"].as_str().unwrap()).unwrap();
    assert!(value["command"]["state"].is_object() && until > at + year);
}

#[test]
fn a_new_game_is_asked_for_again_after_a_restart_of_the_daemon_that_asks_but_not_if_it_has_begun() {
    let (now, at) = (Instant::now(), SystemTime::now());
    let of_time = |epoch: u64, since: &str| {
        let mut state: Value = serde_json::from_slice(&state(epoch, 4)).unwrap();
        state["peer"]["since"] = json!(since);
        state.to_string().into_bytes()
    };
    let (old, new) = ("2026-01-31T12:00:00Z", "2026-01-31T12:05:00Z");
    let client = ClientId(7);
    let mut remote = remote();
    assert_eq!(remote.asked(), None);
    // It is asked for before the board is seen.
    remote.online(now, at, &online(1, true), true);
    remote.command(now, at, &Command::NewGame { client });
    remote.state(now, &of_time(1, old), true).unwrap();
    let asked = remote.asked();
    assert_eq!(
        asked.unwrap().after,
        Some(humantime::parse_rfc3339(old).unwrap())
    );
    // Killed and started again, before anything was sent. The program is another client now, and states the game only.
    let again = |since: &str| {
        let mut remote = self::remote();
        remote.goes_on(asked);
        remote.online(now, at, &online(1, true), true);
        remote.state(now, &of_time(1, since), false).unwrap();
        let messages = remote.command(now, at, &target(1));
        let commands: Vec<Value> = messages
            .iter()
            .map(|message| said(&message.payload).1)
            .collect();
        (commands, remote.asked())
    };
    let (commands, still) = again(old);
    assert_eq!(
        commands[0],
        json!({ "new-game": { "client": 7, "before": 1, "after": "2026-01-31T12:00:00.000000000Z" } })
    );
    assert!(commands[1]["state"].is_object());
    assert_eq!(still, asked, "until it is seen to have begun");
    let (commands, still) = again(new);
    assert_eq!((commands.len(), still), (1, None));
    assert!(commands[0]["state"].is_object(), "it has begun meanwhile");
}

#[test]
fn a_move_that_its_daemon_took_with_it_when_it_died_is_told_from_its_next_state() {
    let now = Instant::now();
    let mut remote = remote();
    remote.state(now, &state(1, 2), true).unwrap();
    // Kept there, but told by nobody; no event has a number yet.
    let mut after: Value = serde_json::from_slice(&state(2, 3)).unwrap();
    after["sequence"] = 0.into();
    after["revision"] = 1.into();
    let news = remote
        .state(now, after.to_string().as_bytes(), true)
        .unwrap()
        .unwrap();
    assert_eq!(moved(&news), [3]);
}

#[test]
fn a_new_game_that_begins_as_the_one_before_is_not_told_as_take_backs() {
    let now = Instant::now();
    let mut remote = remote();
    let of_game = |plies: usize, since: &str| {
        let mut state: Value = serde_json::from_slice(&state(1, plies)).unwrap();
        state["peer"]["since"] = since.into();
        state
    };
    let before = of_game(4, "2026-01-01T10:00:00.000000001Z");
    remote
        .state(now, before.to_string().as_bytes(), true)
        .unwrap();
    // The state without a move was lost, or overtaken.
    let mut after = of_game(1, "2026-01-01T11:00:00.000000001Z");
    after["sequence"] = 20.into();
    after["revision"] = 20.into();
    let news = remote
        .state(now, after.to_string().as_bytes(), true)
        .unwrap()
        .unwrap();
    assert!(matches!(news.events[0], Event::NewGame { .. }));
    assert_eq!(moved(&news), [1]);
    assert_eq!(news.events.len(), 2);
}
