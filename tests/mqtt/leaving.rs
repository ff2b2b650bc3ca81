//! What others see of a daemon, or of a board, that is gone.

use std::time::{Duration, SystemTime};

use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _, copy},
    net::{TcpListener, TcpStream},
    task::JoinHandle,
    time::timeout,
};

use super::{
    games::{asks, begun},
    mosquitto::{Mosquitto, Voice},
};
use crate::support::{FAST_UCB, House, PATIENCE};

const ONLINE: &str = "boardbridge/1/hall-1/online";
/// MQTT's DISCONNECT, of a client for whom nothing is wrong (MQTT 5.0, section 3.14).
const DISCONNECT: [u8; 2] = [0xE0, 0x00];

/// A way to the broker for one client; what the client said on it, once it has closed it.
async fn overheard(broker: &Mosquitto) -> (u16, JoinHandle<Vec<u8>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let beyond = broker.port;
    let said = tokio::spawn(async move {
        let (client, _) = listener.accept().await.unwrap();
        let broker = TcpStream::connect(("127.0.0.1", beyond)).await.unwrap();
        let ((mut from_client, mut to_client), (mut from_broker, mut to_broker)) =
            (client.into_split(), broker.into_split());
        tokio::spawn(async move { copy(&mut from_broker, &mut to_client).await });
        let (mut said, mut passed) = (Vec::new(), 0);
        while from_client.read_buf(&mut said).await.unwrap_or(0) > 0 {
            to_broker.write_all(&said[passed..]).await.unwrap();
            passed = said.len();
        }
        said
    });
    (port, said)
}

#[tokio::test]
async fn a_daemon_that_ends_says_so_and_closes_the_connection_in_mqtts_way() {
    let Some(broker) = Mosquitto::start(false).await else {
        return;
    };
    let mut voice = Voice::new(&broker, &[ONLINE]).await;
    let (port, said) = overheard(&broker).await;
    let section = broker.section("hall-1");
    let section = section.replace(&broker.port.to_string(), &port.to_string());
    let house = House::with(House::folder(), &[("ucb", FAST_UCB)], &section).await;
    voice.hears(ONLINE, |said| said["online"] == true).await;
    house.daemon.stop().await;
    voice.hears(ONLINE, |said| said["online"] == false).await;
    let said = timeout(PATIENCE, said).await.unwrap().unwrap();
    assert!(
        said.ends_with(&DISCONNECT),
        "the broker would say the last will: {:x?}",
        &said[said.len().saturating_sub(32)..]
    );
    let mut later = Voice::new(&broker, &[ONLINE]).await;
    assert_eq!(later.next().await["online"], false, "the broker keeps it");
}

#[tokio::test]
async fn a_board_that_was_taken_out_of_the_configuration_is_taken_off_the_broker() {
    let Some(broker) = Mosquitto::start(false).await else {
        return;
    };
    let (state, device) = (
        "boardbridge/1/hall-1/boards/other/state",
        "homeassistant/device/boardbridge-hall-1-other/config",
    );
    let section = broker.section("hall-1") + "home_assistant = true\n";
    let boards = [("ucb", FAST_UCB), ("other", FAST_UCB)];
    let mut voice = Voice::new(&broker, &[state, device]).await;
    let house = House::with(House::folder(), &boards, &section).await;
    voice.hears(state, |state| !state.is_null()).await;
    voice.hears(device, |device| !device.is_null()).await;
    house.daemon.stop().await;
    voice.all();
    let _house = House::with(house.folder, &boards[..1], &section).await;
    voice.hears(state, Value::is_null).await;
    voice.hears(device, Value::is_null).await;
    let mut later = Voice::new(&broker, &["boardbridge/1/hall-1/boards/#"]).await;
    let kept = later.next().await;
    assert_eq!(kept["board"], "ucb", "{kept}");
}

#[tokio::test]
async fn a_second_daemon_of_our_name_that_has_gone_leaves_our_boards_to_us() {
    let Some(broker) = Mosquitto::start(false).await else {
        return;
    };
    let (near, far, hand, mut gui) = begun(&broker).await;
    let voice = Voice::new(&broker, &[]).await;
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let epoch = (since.unwrap() + Duration::from_hours(1)).as_millis() as u64;
    for online in [true, false] {
        let said = json!({ "online": online, "epoch": epoch, "at": "", "version": "" });
        voice.says(ONLINE, said.to_string(), true).await;
    }
    far.until("far", |state| !state.link.is_open()).await;
    far.until("far", |state| state.link.is_open()).await;
    asks(&near, 0).await;
    hand.answers(&mut gui, "e2e4").await;
}

#[tokio::test]
async fn a_daemon_whose_clock_was_set_back_goes_on_above_what_the_broker_kept_of_it() {
    let Some(broker) = Mosquitto::start(false).await else {
        return;
    };
    let kept = Voice::new(&broker, &[]).await;
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let epoch = (since.unwrap() + Duration::from_hours(1)).as_millis() as u64;
    let said = json!({ "online": false, "epoch": epoch, "at": "", "version": "" });
    kept.says(ONLINE, said.to_string(), true).await;
    let mut voice = Voice::new(&broker, &[ONLINE]).await;
    assert_eq!(voice.next().await["epoch"], epoch);
    let state = "boardbridge/1/hall-1/boards/ucb/state";
    let mut states = Voice::new(&broker, &[state]).await;
    let section = broker.section("hall-1");
    let _house = House::with(House::folder(), &[("ucb", FAST_UCB)], &section).await;
    // Nothing below it is said before, which others would not believe, and which would overwrite it.
    let first = voice.next().await;
    assert_eq!(first["online"], true, "{first}");
    assert!(first["epoch"].as_u64() > Some(epoch), "{first}");
    let first = states.next().await;
    assert!(first["epoch"].as_u64() > Some(epoch), "{first}");
}
