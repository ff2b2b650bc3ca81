//! A hostile or broken peer costs itself its messages, and nobody else anything.

use std::time::{Duration, SystemTime};

use boardbridge::vocabulary::Snapshot;
use serde_json::{Value, json};
use tokio::time::timeout;

use super::{
    games::{asks, begun, two},
    mosquitto::{Mosquitto, Voice},
};

const COMMANDS: &str = "boardbridge/1/hall-1/boards/ucb/commands";
const ONLINE: &str = "boardbridge/1/hall-1/online";
const STATE: &str = "boardbridge/1/hall-1/boards/ucb/state";
/// Twice the least time between two corrections, and less than a daemon takes to say `online` by itself.
const CORRECTED: Duration = Duration::from_secs(10);
const ANSWERS: &str = "boardbridge/1/tester/answers";

fn in_seconds(seconds: i64) -> String {
    let life = Duration::from_secs(seconds.unsigned_abs());
    let now = SystemTime::now();
    let at = if seconds < 0 { now - life } else { now + life };
    humantime::format_rfc3339_seconds(at).to_string()
}

fn command(id: &str, seconds: i64, command: Value) -> String {
    json!({ "id": id, "from": "tester", "expires": in_seconds(seconds), "command": command })
        .to_string()
}

async fn is_refused(voice: &mut Voice, id: &str, text: String, with: &str) {
    voice.says(COMMANDS, text, false).await;
    let answer = voice.hears(ANSWERS, |answer| answer["id"] == id).await;
    let words = answer["error"].as_str().unwrap_or_default();
    assert!(words.contains(with), "{answer}");
}

#[tokio::test]
async fn commands_are_carried_out_once_and_refused_in_words() {
    let Some(broker) = Mosquitto::start(false).await else {
        return;
    };
    let (near, _far, hand) = two(&broker).await;
    let mut voice = Voice::new(&broker, &[ANSWERS]).await;
    is_refused(
        &mut voice,
        "1",
        command("1", -60, json!("ready")),
        "expired",
    )
    .await;
    is_refused(
        &mut voice,
        "2",
        command("2", 3_600, json!("ready")),
        "clock",
    )
    .await;
    is_refused(
        &mut voice,
        "3",
        command("3", 10, json!("castle")),
        "cannot be read: unknown variant",
    )
    .await;
    is_refused(&mut voice, "4", command("4", 10, json!("ready")), "is free").await;
    // Somebody else's program may play: by the same commands as a daemon's.
    let state =
        json!({ "state": { "client": 7, "label": "a robot", "number": 1, "game": "startpos" } });
    voice.says(COMMANDS, command("5", 10, state), false).await;
    voice
        .hears(ANSWERS, |answer| {
            answer["id"] == "5" && answer["done"] == true
        })
        .await;
    let awaits = json!({ "await": { "client": 7 } });
    voice.says(COMMANDS, command("6", 10, awaits), false).await;
    near.asks_for_a_move("ucb").await;
    let holders = near
        .daemon
        .bus()
        .board("ucb")
        .unwrap()
        .state()
        .holders
        .clone();
    assert_eq!(holders[0].to_string(), "a robot at tester");
    let mut states = Voice::new(&broker, &["boardbridge/1/hall-1/boards/ucb/state"]).await;
    hand.does("e2e4").await;
    let state = states
        .hears("boardbridge/1/hall-1/boards/ucb/state", |state| {
            state["ply"] == 1
        })
        .await;
    assert_eq!(
        state["peer"]["places"][0]["answer"],
        json!(["e2e4"]),
        "{state}"
    );
    // A release that is said twice puts out once, and is answered both times.
    for _ in 0..2 {
        voice
            .says(COMMANDS, command("7", 10, json!("release")), false)
            .await;
        voice
            .hears(ANSWERS, |answer| {
                answer["id"] == "7" && answer["done"] == true
            })
            .await;
    }
    near.awaits("ucb", 0).await;
}

#[tokio::test]
async fn a_move_that_is_awaited_in_a_game_that_was_lost_on_the_way_is_not_awaited_in_the_one_before()
 {
    let Some(broker) = Mosquitto::start(false).await else {
        return;
    };
    let (near, _far, mut hand) = two(&broker).await;
    let mut voice = Voice::new(&broker, &[ANSWERS]).await;
    let state = |number: u64, game: &str| json!({ "state": { "client": 7, "label": "a robot", "number": number, "game": game } });
    let awaits = |number: u64| json!({ "await": { "client": 7, "number": number } });
    let is_done =
        |id: &'static str| move |answer: &Value| answer["id"] == id && answer["done"] == true;
    let first = state(1, "startpos moves e2e4");
    for (id, order) in [("1", first), ("2", awaits(1))] {
        voice.says(COMMANDS, command(id, 10, order), false).await;
        voice.hears(ANSWERS, is_done(id)).await;
    }
    hand.sees("executed e2e4").await;
    near.asks_for_a_move("ucb").await;
    let new = json!({ "new-game": { "client": 7 } });
    voice.says(COMMANDS, command("3", 10, new), false).await;
    voice.hears(ANSWERS, is_done("3")).await;
    is_refused(&mut voice, "4", command("4", 10, awaits(2)), "lost").await;
    for (id, order) in [("5", state(2, "startpos")), ("6", awaits(2))] {
        voice.says(COMMANDS, command(id, 10, order), false).await;
        voice.hears(ANSWERS, is_done(id)).await;
    }
    let led = |state: &Snapshot| {
        state
            .target
            .as_ref()
            .is_some_and(|target| target.is_empty())
    };
    near.until("ucb", led).await;
    near.asks_for_a_move("ucb").await;
    hand.does("d2d4").await;
    near.until("ucb", |state| state.game.len() == 1).await;
}

#[tokio::test]
async fn a_command_that_the_broker_is_to_keep_is_not_carried_out() {
    let Some(broker) = Mosquitto::start(false).await else {
        return;
    };
    let (_near, _far, _hand) = two(&broker).await;
    let mut voice = Voice::new(&broker, &[ANSWERS]).await;
    let kept = command("kept", 10, json!("release"));
    voice.says(COMMANDS, kept, true).await;
    let said = command("said", 10, json!("release"));
    voice.says(COMMANDS, said, false).await;
    let first = voice.next().await;
    assert_eq!(first["id"], "said", "the kept one is not answered: {first}");
}

#[tokio::test]
async fn floods_garbage_and_what_a_broker_kept_cost_nobody_else_anything() {
    let Some(broker) = Mosquitto::start(false).await else {
        return;
    };
    let voice = Voice::new(&broker, &[ANSWERS]).await;
    let garbage: [&[u8]; 5] = [b"", b"{", b"\xff\xfe", b"[[[[[[[[[[", b"{\"online\": 7}"];
    let topics = [
        COMMANDS,
        "boardbridge/1/hall-1/boards/ucb/state",
        "boardbridge/1/hall-1/boards/ucb/events",
        "boardbridge/1/hall-1/boards/ucb/press",
        "boardbridge/1/hall-1/online",
        "boardbridge/1/hall-2/answers",
        "boardbridge/1/hall-2/online",
        "boardbridge/1/evil/online",
    ];
    // Kept by the broker before anybody is there.
    for topic in topics {
        voice.says(topic, &b"{\"id\": 1}"[..], true).await;
    }
    voice
        .says(COMMANDS, command("kept", 60, json!("release")), true)
        .await;
    let (near, _far, mut hand, mut gui) = begun(&broker).await;
    for round in 0..40 {
        for topic in topics {
            for payload in garbage {
                voice.says(topic, payload, false).await;
            }
        }
        voice.says(COMMANDS, vec![b'x'; 1_000_000], false).await;
        for number in 0..50 {
            let id = format!("{round}-{number}");
            voice
                .says(COMMANDS, command(&id, 10, json!("ready")), false)
                .await;
        }
        // A second daemon with our name, and a last will of before.
        let other = json!({ "online": true, "epoch": u64::MAX, "at": "", "version": "" });
        voice
            .says("boardbridge/1/evil/online", other.to_string(), true)
            .await;
        let will = json!({ "online": false, "epoch": 1, "at": "", "version": "" });
        voice
            .says("boardbridge/1/hall-1/online", will.to_string(), true)
            .await;
    }
    hand.answers(&mut gui, "e2e4").await;
    gui.shows(&mut hand, "e2e4 e7e5").await;
    asks(&near, 2).await;
    hand.answers(&mut gui, "g1f3").await;
    drop(voice);
}

#[tokio::test]
async fn whoever_says_that_we_are_away_is_corrected_each_time_if_not_at_once() {
    let Some(broker) = Mosquitto::start(false).await else {
        return;
    };
    let (_near, far, _hand) = two(&broker).await;
    let mut voice = Voice::new(&broker, &[ONLINE]).await;
    let here = |said: &Value| said["online"] == true;
    let epoch = voice.hears(ONLINE, here).await["epoch"].clone();
    let away = json!({ "online": false, "epoch": epoch, "at": "", "version": "" }).to_string();
    for _ in 0..2 {
        voice.says(ONLINE, away.clone(), true).await;
        voice.hears(ONLINE, |said| said["online"] == false).await;
        let corrected = timeout(CORRECTED, voice.hears(ONLINE, here)).await;
        assert_eq!(corrected.unwrap()["epoch"], epoch);
    }
    far.until("far", |state| state.link.is_open()).await;
}

#[tokio::test]
async fn a_state_that_somebody_else_says_of_our_board_is_said_right_again() {
    let Some(broker) = Mosquitto::start(false).await else {
        return;
    };
    let (_near, far, _hand) = two(&broker).await;
    let mut voice = Voice::new(&broker, &[STATE]).await;
    for foreign in ["", "{}"] {
        voice.says(STATE, foreign, true).await;
        voice
            .hears(STATE, |state| state["revision"].is_null())
            .await;
        voice.hears(STATE, |state| state["revision"].is_u64()).await;
    }
    far.until("far", |state| state.link.is_open()).await;
}

#[tokio::test]
async fn a_state_that_claims_to_be_later_than_ours_does_not_silence_our_board() {
    let Some(broker) = Mosquitto::start(false).await else {
        return;
    };
    let (_near, _far, hand, mut gui) = begun(&broker).await;
    let mut voice = Voice::new(&broker, &[STATE]).await;
    let mut state = voice.hears(STATE, |state| state["revision"].is_u64()).await;
    for claim in ["revision", "sequence"] {
        let epoch = state["epoch"].as_u64();
        state[claim] = u64::MAX.into();
        voice.says(STATE, state.to_string(), true).await;
        let right = voice.hears(STATE, |state| state["epoch"].as_u64() > epoch);
        state = timeout(CORRECTED, right).await.unwrap();
    }
    hand.answers(&mut gui, "e2e4").await;
}
