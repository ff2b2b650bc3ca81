//! Whatever anybody says on a broker: it is read or refused, and a board of another daemon never shows a game that cannot be played.
#![no_main]

use std::time::{Duration, Instant, SystemTime};

use boardbridge::{
    front_end::mqtt::{
        messages::{Answer, Envelope, Online},
        orders::{self, Order},
        messages::Ours,
        remote::Remote,
        settings::FarBoard,
        topics::Topic,
    },
    vocabulary::{ClientId, Command},
};

libfuzzer_sys::fuzz_target!(|lines: &str| {
    let far = FarBoard {
        daemon: "hall-1".parse().unwrap(),
        board: "citrine".parse().unwrap(),
    };
    let ours = Ours {
        daemon: "hall-2".parse().unwrap(),
        epoch: 5,
    };
    let mut remote = Remote::new("far".parse().unwrap(), far, ours);
    let (mut now, at) = (Instant::now(), SystemTime::now());
    for line in lines.lines().take(64) {
        now += Duration::from_secs(1);
        let (what, said) = line.split_at_checked(1).unwrap_or_default();
        match what {
            "s" => {
                let news = remote.state(now, said.as_bytes(), true);
                if let Ok(Some(news)) = news {
                    assert!(
                        news.state.by.len() == news.state.game.len() || !news.state.link.is_open()
                    );
                }
            }
            "e" => drop(remote.event(now, said.as_bytes())),
            "o" => {
                if let Ok(online) = serde_json::from_str::<Online>(said) {
                    remote.online(now, at, &online, true);
                }
            }
            "a" => {
                if let Ok(answer) = serde_json::from_str::<Answer>(said) {
                    remote.answered(at, &answer);
                }
            }
            "t" => {
                if let Some(topic) = Topic::read(said) {
                    assert_eq!(topic.to_string(), said);
                }
            }
            "c" => {
                let Ok(envelope) = serde_json::from_str::<Envelope>(said) else {
                    continue;
                };
                let _ = envelope.is_good(at);
                if let Ok(Order::Statement(command)) = orders::read(&envelope.command) {
                    let Ok(Order::Statement(again)) = orders::read(&orders::write(&command, None))
                    else {
                        panic!("{command} is not read again");
                    };
                    assert_eq!(again.to_string(), command.to_string());
                    remote.command(now, at, &command.of(ClientId(7)));
                }
            }
            _ => {
                let client = ClientId(7);
                remote.command(now, at, &Command::Await { client, on: true });
                remote.again(now, at);
                remote.timeout(now, at);
            }
        }
    }
});
