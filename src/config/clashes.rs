//! Mistakes between sections: each may pass alone, but not all of them together.

use super::{Config, Problem};
#[cfg(target_os = "linux")]
use crate::front_end::mqtt::settings::MqttConfig;
use crate::{net::door::Listen, transport::settings::HidConfig, vocabulary::BoardName};

/// All of them.
pub(super) fn all(config: &Config) -> Vec<Problem> {
    let mut problems = listeners(config);
    problems.extend(serial_ports(config));
    problems.extend(ways(config));
    problems.extend(only_ones(config));
    problems.extend(apps(config));
    problems.extend(opponents(config));
    #[cfg(target_os = "linux")]
    problems.extend(remotes(config));
    #[cfg(target_os = "linux")]
    problems.extend(rounds(config));
    problems
}

/// A use of something that only one can have: what, the key that says so, and who has it.
type Use<T> = (T, String, String);

/// A problem for each thing that an earlier use already has; `problem` words it from the thing and its earlier user.
fn taken<T>(
    uses: impl IntoIterator<Item = Use<T>>,
    same: impl Fn(&T, &T) -> bool,
    problem: impl Fn(&T, &str) -> String,
) -> Vec<Problem> {
    let mut earlier: Vec<(T, String)> = Vec::new();
    let mut problems = Vec::new();
    for (thing, key, who) in uses {
        if let Some((_, other)) = earlier.iter().find(|(other, _)| same(other, &thing)) {
            problems.push((key, problem(&thing, other)));
        }
        earlier.push((thing, who));
    }
    problems
}

/// One address, one listener.
fn listeners(config: &Config) -> Vec<Problem> {
    let section = |name: &str, listen: &Listen| {
        let key = format!("{name}.listen");
        (listen.clone(), key, name.to_owned())
    };
    // The page and LiveChess do without a default port that another section has.
    let web = config.web.listen.as_ref();
    let livechess = config.livechess.listen.as_ref();
    let sections = [
        Some(section("uci", &config.uci.listen())),
        Some(section("status", &config.status.listen())),
        web.map(|listen| section("web", listen)),
        livechess.map(|listen| section("livechess", listen)),
    ];
    let boards = config.all_boards().filter_map(|(name, served)| {
        let listen = served?.listen.clone();
        let key = format!("boards.{name}.uci_listen");
        Some((listen, key, format!("board {name}")))
    });
    let apps = config.whitepawn.iter().enumerate();
    let apps = apps.filter_map(|(number, entry)| {
        let listen = entry.tcp.as_ref()?.listen();
        let key = format!("whitepawn.{number}.tcp.listen");
        Some((listen, key, app(&entry.board)))
    });
    let uses = sections.into_iter().flatten().chain(boards).chain(apps);
    taken(uses, Listen::clashes, |listen, other| {
        format!("{listen} is already taken by {other}: give it another port")
    })
}

fn app(board: &BoardName) -> String {
    format!("[[whitepawn]] of {board}")
}

/// One serial port, one use.
fn serial_ports(config: &Config) -> Vec<Problem> {
    let boards = config.boards.iter().filter_map(|(name, board)| {
        let port = &board.serial.as_ref()?.port;
        let key = format!("boards.{name}.serial.port");
        Some((port, key, format!("board {name}")))
    });
    let apps = config.whitepawn.iter().enumerate();
    let apps = apps.filter_map(|(number, entry)| {
        let port = &entry.serial.as_ref()?.port;
        let key = format!("whitepawn.{number}.serial.port");
        Some((port, key, app(&entry.board)))
    });
    taken(boards.chain(apps), PartialEq::eq, |port, other| {
        format!("{port} is already the port of {other}: one port, one board")
    })
}

/// Each transport reaches one board. A board cannot be its own app's board.
fn ways(config: &Config) -> Vec<Problem> {
    let address = "give it another address";
    let name = "`address` in place of `name` tells two boards apart";
    let uses = config.boards.iter().flat_map(|(board, set)| {
        let ble = set.ble.as_ref();
        let hid_path = set.hid.as_ref().and_then(|hid| hid.path.as_ref());
        let hardware = ble.and_then(|ble| ble.address.as_ref());
        let ways = [
            ("ble.name", ble.and_then(|ble| ble.name.clone()), name),
            (
                "ble.address",
                hardware.map(|address| address.to_ascii_uppercase()),
                address,
            ),
            (
                "tcp.address",
                set.tcp.as_ref().map(|tcp| tcp.address.0.clone()),
                address,
            ),
            (
                "rfcomm.address",
                set.rfcomm
                    .as_ref()
                    .map(|rfcomm| rfcomm.address.to_ascii_uppercase()),
                address,
            ),
            (
                "hid.id",
                set.hid.as_ref().and_then(|hid| hid.id.clone()),
                "give it another id",
            ),
            (
                "hid.path",
                hid_path.map(|path| path.display().to_string()),
                "give it another path",
            ),
        ];
        ways.into_iter().filter_map(move |(key, way, remedy)| {
            let path = format!("boards.{board}.{key}");
            Some(((key, way?, remedy), path, board.to_string()))
        })
    });
    let mut problems = taken(uses, PartialEq::eq, |(_, way, remedy), other| {
        format!("{way} is already {other}'s: {remedy}")
    });
    for entry in &config.whitepawn {
        let far = config.boards.get(&entry.board);
        let far = far.and_then(|board| board.tcp.as_ref());
        if let (Some(tcp), Some(far)) = (&entry.tcp, far)
            && tcp.listen().clashes(&Listen::at(&far.address.0))
        {
            let problem = format!(
                "{} is where its own [[whitepawn]] listens: BoardBridge would play against itself",
                far.address.0
            );
            problems.push((format!("boards.{}.tcp.address", entry.board), problem));
        }
    }
    problems
}

/// Two boards of which each is meant to be the only one on USB.
fn only_ones(config: &Config) -> Vec<Problem> {
    let only = config.boards.iter().filter_map(|(name, board)| {
        let is_only = board.hid.as_ref().is_some_and(HidConfig::is_only);
        let key = format!("boards.{name}.hid");
        is_only.then(|| (board.make.kind, key, name.to_string()))
    });
    taken(only, PartialEq::eq, |_, other| {
        format!(
            "{other} is on USB too: write hid = {{ id = \"…\" }} for one of them, `boardbridge scan` shows them"
        )
    })
}

/// `BlueZ` gives the serial port profile to only one.
fn apps(config: &Config) -> Vec<Problem> {
    let apps = config.whitepawn.iter().enumerate();
    let uses = apps.filter_map(|(number, entry)| {
        entry.rfcomm.as_ref()?;
        Some(((), format!("whitepawn.{number}.rfcomm"), app(&entry.board)))
    });
    taken(uses, PartialEq::eq, |(), other| {
        format!("Bluetooth's serial port is already the {other}: only one can have it")
    })
}

/// A board of another daemon needs the broker, and is not one of ours.
#[cfg(target_os = "linux")]
fn remotes(config: &Config) -> Vec<Problem> {
    let mut problems = Vec::new();
    let ours = config.mqtt.as_ref().map(MqttConfig::daemon);
    for (name, board) in &config.remotes {
        let far = &board.mqtt;
        if ours.is_none() {
            let problem = format!(
                "is reached over a broker: add [mqtt] with its address, for instance url = \"mqtt://broker.local\" ({far} is said \
                 there)"
            );
            problems.push((format!("boards.{name}.mqtt"), problem));
        } else if ours.as_ref() == Some(&far.daemon) {
            let problem = format!("{} is this daemon: name another one", far.daemon);
            problems.push((format!("boards.{name}.mqtt.daemon"), problem));
        }
    }
    let uses = config
        .remotes
        .iter()
        .map(|(name, board)| (&board.mqtt, format!("boards.{name}.mqtt"), name.to_string()));
    problems.extend(taken(uses, PartialEq::eq, |far, other| {
        format!("{far} is already {other}: one board, one name")
    }));
    problems
}

/// A board has one opponent. A link has its board all the time; an opponent, an app or a program makes way for Lichess.
fn opponents(config: &Config) -> Vec<Problem> {
    let another = |table: &'static str| {
        move |board: &&BoardName, _: &str| {
            format!("{board} is in another [[{table}]] already: a board has one opponent")
        }
    };
    let links = config.link.iter().enumerate().flat_map(|(number, entry)| {
        let of = move |board| (board, format!("link.{number}.boards"), String::new());
        entry.boards.iter().map(of)
    });
    let mut problems = taken(links, PartialEq::eq, another("link"));
    let entries = config.opponent.iter().enumerate();
    let entries = entries.map(|(number, entry)| {
        let key = format!("opponent.{number}.board");
        (&entry.board, key, String::new())
    });
    problems.extend(taken(entries.clone(), PartialEq::eq, another("opponent")));
    let is_linked = |board: &BoardName| config.link.iter().any(|link| link.boards.contains(board));
    problems.extend(
        entries
            .filter(|(board, ..)| is_linked(board))
            .map(|(board, key, _)| {
                let problem = format!("{board} is in a [[link]] already: a board has one opponent");
                (key, problem)
            }),
    );
    #[cfg(target_os = "linux")]
    if let Some(board) = config
        .lichess
        .as_ref()
        .and_then(|entry| entry.board.as_ref())
        && is_linked(board)
    {
        let problem = format!(
            "{board} is in a [[link]] already: a board has one opponent, name another board in one of the two"
        );
        problems.push(("lichess.board".to_owned(), problem));
    }
    problems
}

/// One round, one entry: two would push the same games twice as often.
#[cfg(target_os = "linux")]
fn rounds(config: &Config) -> Vec<Problem> {
    let entries = config.broadcast.iter().enumerate();
    let rounds = entries.map(|(number, entry)| {
        let key = format!("broadcast.{number}.round");
        ((&entry.round, entry.server()), key, String::new())
    });
    taken(rounds, PartialEq::eq, |(round, _), _| {
        format!("{round} has a [[broadcast]] already: name all its boards there")
    })
}
