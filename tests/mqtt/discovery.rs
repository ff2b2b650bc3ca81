//! Home Assistant's discovery of devices, checked by its own rules: one key that it does not know, and it refuses all.

use std::collections::BTreeSet;

use boardbridge::front_end::mqtt::home_assistant::{EVENT_TYPES, announces, withdraws};
use serde_json::Value;

use super::mosquitto::{Mosquitto, Voice};
use crate::support::{FAST_UCB, Hand, House};
use simulators::run::Kind;

const AT_ROOT: [&str; 6] = [
    "device",
    "origin",
    "components",
    "availability",
    "qos",
    "encoding",
];
const IN_DEVICE: [&str; 12] = [
    "identifiers",
    "connections",
    "name",
    "manufacturer",
    "model",
    "model_id",
    "sw_version",
    "hw_version",
    "serial_number",
    "suggested_area",
    "configuration_url",
    "via_device",
];
const IN_ORIGIN: [&str; 3] = ["name", "sw_version", "support_url"];
/// What each platform must have.
const NEEDED: [(&str, &[&str]); 4] = [
    ("binary_sensor", &["state_topic"]),
    ("sensor", &["state_topic"]),
    ("event", &["state_topic", "event_types"]),
    ("button", &["command_topic"]),
];

fn keys(value: &Value) -> BTreeSet<&str> {
    value
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect()
}

fn is_good_id(id: &str) -> bool {
    !id.is_empty()
        && id
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
}

fn check(topic: &str, device: &Value) {
    let id = topic.strip_prefix("homeassistant/device/").unwrap();
    assert!(is_good_id(id.strip_suffix("/config").unwrap()), "{topic}");
    assert!(keys(device).is_subset(&AT_ROOT.into()), "{device}");
    assert!(
        keys(&device["device"]).is_subset(&IN_DEVICE.into()),
        "{device}"
    );
    assert!(
        keys(&device["origin"]).is_subset(&IN_ORIGIN.into()),
        "{device}"
    );
    assert!(device["device"]["identifiers"].is_array());
    assert!(device["origin"]["name"].is_string());
    let mut unique = BTreeSet::new();
    for (key, component) in device["components"].as_object().unwrap() {
        assert!(is_good_id(key));
        let platform = component["platform"].as_str().unwrap();
        let (_, needed) = NEEDED.iter().find(|(known, _)| *known == platform).unwrap();
        for needed in *needed {
            assert!(!component[needed].is_null(), "{key} has no {needed}");
        }
        assert!(
            unique.insert(component["unique_id"].as_str().unwrap()),
            "{key}"
        );
    }
}

#[test]
fn a_board_is_announced_by_home_assistants_rules() {
    let (daemon, board) = ("hall-1".parse().unwrap(), "ucb".parse().unwrap());
    let message = announces("homeassistant", &daemon, &board);
    assert!(message.retain);
    check(
        &message.topic,
        &serde_json::from_slice(&message.payload).unwrap(),
    );
    let gone = withdraws("homeassistant", &daemon, &board);
    assert_eq!((gone.topic, gone.payload.len()), (message.topic, 0));
}

#[tokio::test]
async fn home_assistant_sees_moves_and_presses_board_ready_and_is_told_again_when_it_starts() {
    let Some(broker) = Mosquitto::start(false).await else {
        return;
    };
    let topic = "homeassistant/device/boardbridge-hall-1-ucb/config";
    let moves = "boardbridge/1/hall-1/boards/ucb/moves";
    let mut voice = Voice::new(&broker, &["homeassistant/#", moves]).await;
    let folder = House::folder();
    let hand = Hand::new(Kind::NovagUcb, folder.path().join("ucb"), true);
    let section = broker.section("hall-1") + "home_assistant = true\n";
    let house = House::with(folder, &[("ucb", FAST_UCB)], &section).await;
    check(topic, &voice.hears(topic, |_| true).await);
    let mut gui = house.gui().await;
    gui.begins().await;
    house.asks_for_a_move("ucb").await;
    hand.answers(&mut gui, "e2e4").await;
    let moved = voice.hears(moves, |_| true).await;
    assert_eq!(
        (&moved["event_type"], &moved["uci"]),
        (&"move".into(), &"e2e4".into())
    );
    assert!(EVENT_TYPES.contains(&moved["event_type"].as_str().unwrap()));
    voice.all();
    voice.says("homeassistant/status", "online", false).await;
    voice.hears(topic, |device| !device.is_null()).await;
    // A press does what the button of the page does.
    gui.asks("e2e4 e7e5 g1f3 b8c6").await;
    voice
        .says("boardbridge/1/hall-1/boards/ucb/press", "ready", false)
        .await;
    gui.says("stop").await;
    gui.hears("bestmove").await;
}
