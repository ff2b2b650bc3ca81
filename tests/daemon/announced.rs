//! Found without an address: daemons announce their open ports, and relays find them. Each test has a network of its own.

use std::{
    fs,
    net::{Ipv4Addr, SocketAddr, SocketAddrV4, UdpSocket},
    process::{Command, Output, Stdio},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Instant,
};

use boardbridge::{
    cli::call,
    config::Config,
    daemon::{Daemon, Service},
    net::{
        dns_sd::{
            MAX_INSTANCE, MDNS_PORT,
            browse::{COLLECT, FIRST_ANSWER, Found, MAX_ADDRESSES, MAX_FOUND, browse},
        },
        reach::Wanted,
    },
    text::escape::is_plain,
};
use socket2::{Domain, Socket, Type};
use tokio::{task::spawn_blocking, time::timeout};

use crate::support::{PATIENCE, alone, logged::Logged};

/// This machine's address in the network of the test.
const OWN: Ipv4Addr = Ipv4Addr::new(192, 168, 77, 1);
const INSIDE: &str = "TEST_OF_FINDING_HAS_ITS_NETWORK";
/// Ports that no test of others' can reach, all open to the network.
const OPEN: &str = "[uci]\nlisten = \"0.0.0.0:0\"\n[status]\nlisten = \"0.0.0.0:0\"\n[web]\nlisten = \"off\"\n[livechess]\nlisten = \"off\"\n";

/// Whether this process is the one with the network of its own; if not, the test is run there, where that is possible.
fn in_a_network(test: &str) -> bool {
    if std::env::var_os(INSIDE).is_some() {
        return true;
    }
    let script = format!(
        "ip link set lo up && ip link add lan0 type veth peer name lan1 && ip addr add {OWN}/24 dev lan0 && \
         ip link set lan0 up && ip link set lan1 up && exec \"$0\" \"$@\""
    );
    let own = |program: &str| {
        let mut command = Command::new("unshare");
        command.args(["-rn", "sh", "-c", &script, program]);
        command
    };
    if !own("true")
        .output()
        .is_ok_and(|output| output.status.success())
    {
        println!("skipped: this system lets a test have no network of its own (unshare -rn, ip)");
        return false;
    }
    let this = std::env::current_exe().unwrap();
    let mut command = own(this.to_str().unwrap());
    command.env(INSIDE, "1");
    alone::runs(&mut command, module_path!(), test);
    false
}

async fn daemon(text: &str) -> Daemon {
    Daemon::start(&config(text)).await.unwrap()
}

fn config(text: &str) -> Config {
    Config::from_text(text, "bb.toml").unwrap()
}

fn port(daemon: &Daemon, wanted: &Service) -> u16 {
    let ports = daemon.ports();
    let found = ports.iter().find(|(service, _)| service == wanted);
    found.unwrap().1.port()
}

async fn look(wanted: Wanted) -> Vec<Found> {
    spawn_blocking(move || browse(MDNS_PORT, wanted))
        .await
        .unwrap()
}

/// Looks until as many daemons are found.
async fn found(wanted: Wanted, count: usize) -> Vec<Found> {
    let looking = async {
        loop {
            let found = look(wanted).await;
            if found.len() == count {
                return found;
            }
        }
    };
    timeout(PATIENCE, looking).await.unwrap()
}

/// What the program says and prints, without an address. It is ended when it has printed a line.
async fn said(command: &'static str) -> String {
    let run = move || {
        let script = format!("timeout 20 \"$0\" {command} | head -n 1");
        let mut sh = Command::new("sh");
        sh.args(["-c", &script, env!("CARGO_BIN_EXE_boardbridge")])
            .stdin(Stdio::null());
        let Output { stdout, stderr, .. } = sh.output().unwrap();
        String::from_utf8_lossy(&[stdout, stderr].concat()).into_owned()
    };
    spawn_blocking(run).await.unwrap()
}

#[tokio::test]
async fn a_port_that_others_may_reach_is_found_until_it_is_closed_and_no_other_is() {
    if !in_a_network("a_port_that_others_may_reach_is_found_until_it_is_closed_and_no_other_is") {
        return;
    }
    let mut daemon = daemon(OPEN).await;
    let at = SocketAddr::from((OWN, port(&daemon, &Service::Uci)));
    let here = found(Wanted::Uci, 1).await;
    assert_eq!(here[0].addresses, [at]);
    assert_eq!(look(Wanted::LiveChess).await, []);

    let own = OPEN.replacen("0.0.0.0", "127.0.0.1", 1);
    daemon.reload(&config(&own)).await.unwrap();
    let status = SocketAddr::from((OWN, port(&daemon, &Service::Status)));
    assert_eq!(found(Wanted::Status, 1).await[0].addresses, [status]);
    assert_eq!(look(Wanted::Uci).await, []);

    let quiet = format!("{OPEN}[discovery]\nannounce = false\n");
    daemon.reload(&config(&quiet)).await.unwrap();
    found(Wanted::Status, 0).await;

    daemon.reload(&config(OPEN)).await.unwrap();
    found(Wanted::Uci, 1).await;
    timeout(PATIENCE, daemon.stop()).await.unwrap();
    assert_eq!(look(Wanted::Uci).await, []);
}

#[tokio::test]
async fn the_code_for_a_phone_has_the_announced_name_first_and_the_number_beside_it() {
    if !in_a_network("the_code_for_a_phone_has_the_announced_name_first_and_the_number_beside_it") {
        return;
    }
    let open = OPEN.replace(
        "[web]\nlisten = \"off\"",
        &format!("[web]\nlisten = \"{OWN}:0\"\ncontrol = \"paired\""),
    );
    let mut daemon = daemon(&open).await;
    let at = format!("{OWN}:{}", port(&daemon, &Service::Web));
    let number = format!("http://{at}/");
    found(Wanted::Uci, 1).await;
    let shown = call::code(&at).await.unwrap();
    let [name, second] = [0, 1].map(|nth| shown["addresses"][nth].as_str().unwrap());
    assert!(
        name.starts_with("http://boardbridge-") && name.contains(".local:"),
        "{shown}"
    );
    assert_eq!(second, number);
    assert!(shown["link"].as_str().unwrap().starts_with(name), "{shown}");
    // It is not told where it is not announced.
    let quiet = format!("{open}[discovery]\nannounce = false\n");
    daemon.reload(&config(&quiet)).await.unwrap();
    found(Wanted::Uci, 0).await;
    let shown = call::code(&at).await.unwrap();
    assert_eq!(shown["addresses"][0], number, "{shown}");
}

#[tokio::test]
async fn a_command_without_an_address_takes_the_only_daemon_and_of_several_none() {
    if !in_a_network("a_command_without_an_address_takes_the_only_daemon_and_of_several_none") {
        return;
    }
    let one = daemon(OPEN).await;
    found(Wanted::Status, 1).await;
    let said_of_one = said("watch --json").await;
    assert!(said_of_one.contains(r#""event":"daemon""#), "{said_of_one}");

    let other = daemon(OPEN).await;
    let both = found(Wanted::Status, 2).await;
    for (command, daemons) in [("watch --json", both), ("uci", found(Wanted::Uci, 2).await)] {
        let said = said(command).await;
        assert!(said.contains("several BoardBridges"), "{said}");
        for Found { addresses, name } in daemons {
            let line = format!("--connect {}   ({name})", addresses[0]);
            assert!(said.contains(&line), "{said}");
        }
    }
    // One that is named, and one that is at home here, is never overruled.
    let address = (Ipv4Addr::LOCALHOST, port(&other, &Service::Status));
    let named = format!("watch --json --connect {}", SocketAddr::from(address));
    assert!(said(named.leak()).await.starts_with('{'));
    let at_home = OPEN.replace("0.0.0.0:0\"\n[web]", "127.0.0.1:9680\"\n[web]");
    let home = daemon(&at_home).await;
    assert!(said("watch --json").await.starts_with('{'));
    for daemon in [one, other, home] {
        daemon.stop().await;
    }
}

#[tokio::test]
async fn what_anybody_announces_is_bounded_and_cleaned() {
    if !in_a_network("what_anybody_announces_is_bounded_and_cleaned") {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("bb.toml");
    fs::write(&file, OPEN).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_boardbridge"));
    command
        .args(["run", "--config", file.to_str().unwrap()])
        .env("BOARDBRIDGE_STATE__DIRECTORY", "off")
        .env("BOARDBRIDGE_GAMES__DIRECTORY", "off");
    let mut daemon = Logged::start(&mut command);
    let uci = daemon.address("uci").await.port();
    found(Wanted::Uci, 1).await;
    let ended = Arc::new(AtomicBool::new(false));
    let flood = {
        let ended = ended.clone();
        thread::spawn(move || {
            let socket = on_the_wire();
            while !ended.load(Ordering::Relaxed) {
                for number in 0..1000 {
                    let _ = socket.send_to(&service(number), GROUP);
                    let _ = socket.send_to(&nonsense(number), GROUP);
                }
            }
        })
    };
    let begun = Instant::now();
    let mut most = 0;
    // Until the flood was heard.
    while most < 50 && begun.elapsed() < PATIENCE {
        let begun = Instant::now();
        let found = look(Wanted::Uci).await;
        assert!(begun.elapsed() < 4 * (FIRST_ANSWER + COLLECT));
        most = found.len();
        assert!(most <= MAX_FOUND);
        for Found { name, addresses } in found {
            assert!(name.chars().all(is_plain), "{name:?}");
            assert!(!name.is_empty() && name.len() <= MAX_INSTANCE, "{name:?}");
            assert!(!addresses.is_empty() && addresses.len() <= MAX_ADDRESSES);
            assert!(
                addresses
                    .iter()
                    .all(|at| !at.ip().is_loopback() && at.port() != 0)
            );
        }
    }
    daemon.logs("the network sends it too much").await;
    ended.store(true, Ordering::Relaxed);
    flood.join().unwrap();
    assert!(most >= 50, "the flood was not heard: {most}");
    // It announces again, and nothing of the flood is left.
    let again = found(Wanted::Uci, 1).await;
    assert_eq!(again[0].addresses, [SocketAddr::from((OWN, uci))]);
    daemon.signal("TERM");
    daemon.ended().await;
}

const GROUP: SocketAddrV4 = SocketAddrV4::new(Ipv4Addr::new(224, 0, 0, 251), MDNS_PORT);

/// A socket of another program that answers.
fn on_the_wire() -> UdpSocket {
    let socket = Socket::new(Domain::IPV4, Type::DGRAM, None).unwrap();
    socket.set_reuse_address(true).unwrap();
    socket.set_reuse_port(true).unwrap();
    let any = SocketAddr::from((Ipv4Addr::UNSPECIFIED, MDNS_PORT));
    socket.bind(&any.into()).unwrap();
    socket.set_multicast_if_v4(&OWN).unwrap();
    socket.set_multicast_ttl_v4(255).unwrap();
    socket.into()
}

fn name(labels: &[&[u8]]) -> Vec<u8> {
    let mut name = Vec::new();
    for label in labels {
        name.push(u8::try_from(label.len()).unwrap());
        name.extend_from_slice(label);
    }
    name.push(0);
    name
}

/// A record of this type that lasts an hour.
fn record(name: &[u8], kind: u16, data: &[u8]) -> Vec<u8> {
    let mut record = name.to_vec();
    record.extend(kind.to_be_bytes());
    record.extend(1_u16.to_be_bytes());
    record.extend(3600_u32.to_be_bytes());
    record.extend(u16::try_from(data.len()).unwrap().to_be_bytes());
    record.extend_from_slice(data);
    record
}

/// The announcement of a daemon with a hostile name, and with addresses that are nobody's.
fn service(number: u16) -> Vec<u8> {
    const KIND: [&[u8]; 3] = [b"_boardbridge", b"_tcp", b"local"];
    let label = match number % 4 {
        0 => format!("\u{1b}[2J\r\n{number}\u{202e}pi"),
        1 => format!("{number:é>33}"),
        2 => format!("\u{200b}\u{7}\u{9b}{number}\\\\"),
        _ => format!("{number} pi. local"),
    };
    let [a, b, c] = KIND;
    let instance = name(&[label.as_bytes(), a, b, c]);
    let host = name(&[format!("h{number}").as_bytes(), b"local"]);
    let mut service = vec![
        0,
        0,
        0,
        0,
        9670_u16.to_be_bytes()[0],
        9670_u16.to_be_bytes()[1],
    ];
    service.extend(&host);
    let uci = if number % 10 == 9 {
        "uci=99999"
    } else {
        "uci=9670"
    };
    let txt: Vec<u8> = ["txtvers=1", uci, "id=\u{1b}[2J"]
        .iter()
        .flat_map(|text| [&[u8::try_from(text.len()).unwrap()], text.as_bytes()].concat())
        .collect();
    let [high, low] = number.to_be_bytes();
    let mut records = vec![
        record(&name(&KIND), 12, &instance),
        record(&instance, 33, &service),
        record(&instance, 16, &txt),
        record(&host, 1, &[127, 0, 0, 1]),
        record(&host, 1, &[0, 0, 0, 0]),
    ];
    records.extend((0..20).map(|more| record(&host, 1, &[10, more, high, low])));
    packet(&records)
}

/// Records that nobody asked for.
fn nonsense(number: u16) -> Vec<u8> {
    let host = name(&[format!("n{number}").as_bytes(), b"local"]);
    let mut packet = packet(&[record(&host, 1, &[10, 0, 0, 1]), record(&host, 13, &[200])]);
    packet.truncate(packet.len() - usize::from(number % 3));
    packet
}

fn packet(records: &[Vec<u8>]) -> Vec<u8> {
    let count = u16::try_from(records.len()).unwrap().to_be_bytes();
    // A response with these answers.
    let head = [0, 0, 0x84, 0, 0, 0, count[0], count[1], 0, 0, 0, 0];
    [&head[..], &records.concat()].concat()
}
