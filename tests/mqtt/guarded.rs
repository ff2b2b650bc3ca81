//! A broker with an access list: the one that docs/mqtt.md prints is enough, and what it refuses is told.

use boardbridge::{
    config::Config,
    front_end::mqtt::{
        broker::{Broker as _, Connection, Heard},
        outbox::Message,
    },
};
use serde_json::json;
use tokio::time::timeout;

use super::{
    games::{asks, two},
    mosquitto::{Mosquitto, Voice},
};
use crate::support::PATIENCE;

#[tokio::test]
async fn two_daemons_play_over_a_broker_with_the_access_list_of_the_guide() {
    let Some(broker) = Mosquitto::advised(&["hall-1", "hall-2"]).await else {
        return;
    };
    let mut voice = Voice::new(&broker, &["boardbridge/1/hall-2/answers"]).await;
    let (near, far, mut hand) = two(&broker).await;
    let mut gui = far.gui().await;
    gui.begins().await;
    let is_done = |answer: &serde_json::Value| answer["done"] == json!(true);
    voice.hears("boardbridge/1/hall-2/answers", is_done).await;
    asks(&near, 0).await;
    hand.answers(&mut gui, "e2e4").await;
    gui.shows(&mut hand, "e2e4 e7e5").await;
}

#[tokio::test]
async fn what_a_user_may_not_write_is_told_with_its_reason() {
    let Some(broker) = Mosquitto::advised(&["hall-1"]).await else {
        return;
    };
    let config = Config::from_text(&broker.section("hall-1"), "f").unwrap();
    let will = Message::once("boardbridge/1/hall-1/online", "");
    let mut connection = Connection::new(config.mqtt.as_ref().unwrap(), "one", &will).unwrap();
    let mut sent = false;
    let heard = async {
        loop {
            match connection.heard().await {
                Heard::Reached if !sent => {
                    let online = Message::once("boardbridge/1/hall-2/online", "{}");
                    sent = connection.send(&online);
                }
                Heard::Lost(_) => {}
                heard => return heard,
            }
        }
    };
    let heard = timeout(PATIENCE, heard).await.unwrap();
    assert_eq!(heard, Heard::NotTaken("NotAuthorized".to_owned()));
}
