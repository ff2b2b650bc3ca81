//! Boards in Home Assistant: each is announced as a device, with what it shows and a button.
//!
//! The messages follow Home Assistant's discovery of devices (its documentation, "MQTT", "Device discovery payload"): one retained
//! message for each board, again whenever Home Assistant starts. It refuses all of a message for one key that it does not know, so
//! there is none but what is needed.

use serde_json::{Value, json};

use super::{
    outbox::Message,
    settings::DaemonName,
    topics::{Part, Topic},
};
use crate::{
    bus::Publication,
    vocabulary::{BoardName, Event},
};

/// The types of what happens on a board, for its entity `event`.
pub const EVENT_TYPES: [&str; 3] = ["move", "takeback", "end"];
/// The longest state of a sensor, in characters.
const MAX_STATE: usize = 255;

/// Where Home Assistant says that it has started.
pub fn birth(prefix: &str) -> String {
    format!("{prefix}/status")
}

/// The topic that announces a board.
fn topic(prefix: &str, daemon: &DaemonName, board: &BoardName) -> String {
    format!("{prefix}/device/{}/config", id(daemon, board))
}

/// The identity of a board, for ever: of what it is called, not of where it is.
fn id(daemon: &DaemonName, board: &BoardName) -> String {
    format!("boardbridge-{daemon}-{board}")
}

/// The message that announces a board.
pub fn announces(prefix: &str, daemon: &DaemonName, board: &BoardName) -> Message {
    Message::retained(
        &topic(prefix, daemon, board),
        device(daemon, board).to_string(),
    )
}

/// The message that takes it out again.
pub fn withdraws(prefix: &str, daemon: &DaemonName, board: &BoardName) -> Message {
    Message::retained(&topic(prefix, daemon, board), "")
}

fn device(daemon: &DaemonName, board: &BoardName) -> Value {
    let id = id(daemon, board);
    let of = |part| Topic::board(daemon, board, part).to_string();
    let (state, moves, press) = (of(Part::State), of(Part::Moves), of(Part::Press));
    let entity = |name: &str, platform: &str, more: Value| {
        let mut entity = json!({
            "platform": platform,
            "unique_id": format!("{id}-{name}"),
            "qos": 1,
        });
        if let (Value::Object(entity), Value::Object(more)) = (&mut entity, more) {
            entity.extend(more);
        }
        entity
    };
    json!({
        "device": {
            "identifiers": [id],
            "name": format!("Chess board {board}"),
            "manufacturer": "BoardBridge",
            "model": format!("board {board} of {daemon}"),
        },
        "origin": { "name": "BoardBridge", "sw_version": env!("CARGO_PKG_VERSION") },
        "availability": [{
            "topic": Topic::online(daemon).to_string(),
            "value_template": "{{ 'online' if value_json.online else 'offline' }}",
        }],
        "components": {
            "link": entity("link", "binary_sensor", json!({
                "name": "Link",
                "device_class": "connectivity",
                "entity_category": "diagnostic",
                "state_topic": state,
                "value_template": "{{ 'ON' if value_json.link in ['up', 'unheard'] else 'OFF' }}",
            })),
            "battery": entity("battery", "sensor", json!({
                "name": "Battery",
                "device_class": "battery",
                "unit_of_measurement": "%",
                "state_class": "measurement",
                "entity_category": "diagnostic",
                "state_topic": state,
                "value_template": "{{ value_json.battery }}",
            })),
            "turn": entity("turn", "sensor", json!({
                "name": "Turn",
                "device_class": "enum",
                "options": ["white", "black"],
                "state_topic": state,
                "value_template": "{{ value_json.turn }}",
            })),
            "advice": entity("advice", "sensor", json!({
                "name": "Advice",
                "state_topic": state,
                "value_template": format!("{{{{ (value_json.advice or '-')[:{MAX_STATE}] }}}}"),
            })),
            "move": entity("move", "event", json!({
                "name": "Move",
                "state_topic": moves,
                "event_types": EVENT_TYPES,
            })),
            "ready": entity("ready", "button", json!({
                "name": "Board ready",
                "command_topic": press,
                "payload_press": "ready",
            })),
        },
    })
}

/// The messages for the entity `event` of a board.
pub fn moves(daemon: &DaemonName, board: &BoardName, publication: &Publication) -> Vec<Message> {
    let topic = Topic::board(daemon, board, Part::Moves);
    let said = publication.events.iter().filter_map(|event| match event {
        Event::Moved { uci, ply, .. } => {
            Some(json!({ "event_type": "move", "uci": uci.to_string(), "ply": ply }))
        }
        Event::TookBack { uci, ply, .. } => {
            Some(json!({ "event_type": "takeback", "uci": uci.to_string(), "ply": ply }))
        }
        Event::Ended { end, .. } => Some(json!({
            "event_type": "end",
            "result": end.outcome.to_string(),
            "reason": end.reason.word(),
        })),
        _ => None,
    });
    said.map(|said| Message::once(&topic, said.to_string()))
        .collect()
}
