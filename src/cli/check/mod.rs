//! `boardbridge check`: shows what a configuration would run, and tries whether it would.
//!
//! It tries nothing that could disturb anyone: opening a serial port may restart its board, and clients may connect to
//! a port that listens.

mod tries;
mod user;

use std::{
    env,
    ffi::OsString,
    fmt::Write as _,
    iter,
    path::{Path, PathBuf},
    time::Duration,
};

use tokio::time::{Instant, timeout};

use self::{
    tries::{Listeners, Outcome, Ports, folder},
    user::Identity,
};
use crate::{
    cli::call,
    config::{Config, DEFAULT_FILE, Key, added},
    daemon::{files_wanted, memory_wanted},
    front_end::{
        broadcast::{
            server::try_pairings,
            settings::{BroadcastConfig, TOKEN},
        },
        lichess::token::{self, KEPT, Place, Token, TokenError},
        mqtt::{
            broker,
            settings::{MqttConfig, PasswordError},
        },
        opponent::{
            settings::Program,
            trial::{self, Finding},
        },
    },
    net::{
        default_ports::DEFAULT_WEB,
        door::{Allow, Listen},
    },
    state::settings::default_directory,
    system::{
        access, cgroup,
        holders::Holders,
        memory::machine_memory,
        serial_access::{barred, no_port, service_may_open},
    },
    transport::{
        Transport,
        ble::Radio,
        hid::{HidBoard, HidError, may_open},
        is_gadget_port,
        settings::SerialConfig,
    },
    vocabulary::BoardName,
};

/// How long a running daemon may take to answer: it is on this machine.
const DAEMON_WAIT: Duration = Duration::from_secs(2);
/// The beginning of a line about something that does not work.
const PROBLEM: &str = "  problem  ";
const MEBIBYTE: u64 = 1024 * 1024;
/// `LimitNOFILE=` in the unit.
const FILES_IN_UNIT: usize = 32_768;
/// The note where the kernel limits no memory.
const UNLIMITED: &str = "  note     engines may take all the memory: the kernel limits none here. On Raspberry Pi OS, add \
                         cgroup_enable=memory to the line in /boot/firmware/cmdline.txt, and restart the Pi\n";

/// An environment variable as the daemon would find it: for root, the value that the service has, if there is a service.
pub fn variable(name: &str) -> Option<OsString> {
    let service = || {
        let is_its = name == "STATE_DIRECTORY" && user::is_for_service();
        is_its.then(|| user::STATE.into())
    };
    env::var_os(name).or_else(service)
}

/// Whether a daemon runs here.
pub async fn is_running(config: &Config) -> bool {
    for listen in [config.web.listen(), Listen::at(DEFAULT_WEB)] {
        if let Listen::At(address) = listen
            && let Ok(Ok(())) = timeout(DAEMON_WAIT, call::is_there(&address)).await
        {
            return true;
        }
    }
    false
}

/// How many problems a description has.
pub fn problems(text: &str) -> usize {
    let is_problem = |line: &&str| line.starts_with(PROBLEM);
    text.lines().filter(is_problem).count()
}

/// This machine, as the daemon would find it.
#[derive(Debug)]
pub struct Here {
    /// Whether a daemon runs already.
    running: bool,
    holders: Holders,
    /// As this user reads them: systemd reads them as root, too, and hands them to the service.
    secrets: Secrets,
    identity: Identity,
}

/// The secrets of a configuration, by their files.
#[derive(Debug)]
struct Secrets {
    /// The token for Lichess that is not of a login.
    lichess: Result<Token, TokenError>,
    /// That of each broadcast.
    broadcasts: Vec<Result<Token, TokenError>>,
    broker: Result<(), PasswordError>,
}

impl Secrets {
    fn of(config: &Config) -> Self {
        let broadcasts = config.broadcast.iter();
        let broadcasts = broadcasts.map(|entry| TOKEN.place(entry.token_file.as_deref()));
        let password = config.mqtt.as_ref().map_or(Ok(None), MqttConfig::password);
        Self {
            lichess: token::read(&token::place(named_for_lichess(config))),
            broadcasts: broadcasts.map(|file| TOKEN.read(&file)).collect(),
            broker: password.map(drop),
        }
    }

    /// As the service has them: what it is not handed it reads itself.
    fn for_service(self, config: &Config, identity: &Identity) -> Self {
        let own = Self::of(config);
        let is_handed = |file: &Path| identity.is_handed(file);
        let broadcasts = config
            .broadcast
            .iter()
            .zip(self.broadcasts)
            .zip(own.broadcasts);
        let broadcasts = broadcasts.map(|((entry, handed), own)| {
            let file = TOKEN.file(entry.token_file.as_deref());
            if is_handed(file) { handed } else { own }
        });
        let password = config.mqtt.as_ref().map(MqttConfig::file_of_password);
        Self {
            lichess: if is_handed(token::file(named_for_lichess(config))) {
                self.lichess
            } else {
                own.lichess
            },
            broadcasts: broadcasts.collect(),
            broker: if password.is_some_and(is_handed) {
                self.broker
            } else {
                own.broker
            },
        }
    }
}

/// The file with the token for Lichess, if one is named.
fn named_for_lichess(config: &Config) -> Option<&Path> {
    let entry = config.lichess.as_ref()?;
    entry.token_file.as_deref()
}

impl Here {
    /// For this user, and this configuration.
    pub fn new(running: bool, config: &Config) -> Self {
        Self {
            running,
            holders: Holders::now(),
            secrets: Secrets::of(config),
            identity: Identity::user(),
        }
    }

    /// Makes root the service's user, where there is a service, for the rest of this process.
    #[must_use]
    pub fn for_service(mut self) -> Self {
        self.identity = Identity::settle();
        self
    }
}

/// What the configuration would run, in words, and what would not work.
///
/// `engines`: what [`engines`] has said.
pub fn describe(config: &Config, file: &Path, here: Here, engines: &str) -> String {
    let Here {
        running,
        holders,
        secrets,
        identity,
    } = here;
    let secrets = secrets.for_service(config, &identity);
    let mut listeners = Listeners::new(&identity, &holders, running);
    let mut ports = Ports::default();
    let mut text = String::new();
    // Another file may be an experiment.
    let in_service: fn(String) -> Outcome = if file == Path::new(DEFAULT_FILE) {
        Outcome::Problem
    } else {
        Outcome::Note
    };
    if identity.is_service()
        && let Some(why) = access::unreadable(file, &identity.to_string())
    {
        text += &told("this file", in_service(why));
    }
    let (uci, status) = (config.uci.listen(), config.status.listen());
    let (web, livechess) = (config.web.listen(), config.livechess.listen());
    for (key, what, listen, allow, optional) in [
        (
            "uci",
            "every board",
            &uci,
            &config.uci.allow,
            !config.says(Key::LISTEN),
        ),
        (
            "status",
            "event stream",
            &status,
            &config.status.allow,
            config.status.listen.is_none(),
        ),
        (
            "web",
            "page and API",
            &web,
            &config.web.allow,
            config.web.listen.is_none(),
        ),
        (
            "pages",
            "LiveChess",
            &livechess,
            &config.livechess.allow,
            config.livechess.listen.is_none(),
        ),
    ] {
        let _ = writeln!(text, "  {key:<8} {what:<18} {}", at(listen, allow));
        text += &told(what, listeners.attempt(what, listen).unless(optional));
    }
    let _ = match config.state.path() {
        Some(folder) => writeln!(
            text,
            "  state    kept for restarts  in {}",
            folder.display()
        ),
        None => writeln!(text, "  state    kept for restarts  off"),
    };
    let _ = match config.games.folder() {
        Some(folder) => writeln!(
            text,
            "  games    every board        in {}",
            folder.display()
        ),
        None => writeln!(text, "  games    every board        off"),
    };
    for (key, path) in [
        ("[state] directory", config.state.path()),
        ("[games] directory", config.games.folder()),
    ] {
        let outcome = path.map(|path| folder(path, key, &identity, in_service));
        text += &told(key, outcome.unwrap_or(Outcome::Works));
    }
    if is_of_user(config) {
        text.push_str("  note     the service keeps these    in /var/lib/boardbridge, with the boards that were added: `sudo boardbridge check` lists them\n");
    }
    for (name, board) in &config.boards {
        let transport = board.transport(&Radio::default());
        let added = config.added.contains(name).then_some(config.state.path());
        let from = added.flatten().map_or(String::new(), |state| {
            format!(
                " (added: {}/{}/{name}.toml)",
                state.display(),
                added::BOARDS
            )
        });
        let _ = match &transport {
            Ok(transport) => writeln!(
                text,
                "  board    {name:<18} {} on {transport}{from}",
                board.make.kind
            ),
            Err(error) => writeln!(text, "  board    {name:<18} not run: {error}"),
        };
        if let Ok(Transport::Hid(board)) = &transport {
            text += &told(name.as_str(), usb(board, &identity));
        }
        if let Some(served) = &board.uci_listen {
            let at = at(&served.listen, &served.allow);
            let _ = writeln!(text, "  uci      {name:<18} {at}");
            text += &told(
                name.as_str(),
                listeners.attempt(name.as_str(), &served.listen),
            );
        }
        if let Some(directory) = &board.record {
            let _ = writeln!(text, "  record   {name:<18} in {}", directory.display());
            text += &told(
                name.as_str(),
                folder(directory, "record", &identity, in_service),
            );
        }
        text += &serial(name, board.serial.as_ref(), &identity, &holders, &mut ports);
    }
    for entry in &config.whitepawn {
        let name = &entry.board;
        let _ = writeln!(
            text,
            "  app      {name:<18} WhitePawn by {}{}",
            entry.way(),
            entry.details()
        );
        if let Some(tcp) = &entry.tcp {
            let app = format!("the app of {name}");
            let outcome = listeners.attempt(&app, &tcp.listen());
            text += &told(name.as_str(), outcome.unless(tcp.listen.is_none()));
        }
        text += &serial(name, entry.serial.as_ref(), &identity, &holders, &mut ports);
    }
    for entry in &config.link {
        let mut names: Vec<String> = entry.boards.iter().map(ToString::to_string).collect();
        if let Some(with) = &entry.with {
            names.push(format!("tcp {}", with.0.0));
        }
        let white = names[entry.white().index().min(names.len() - 1)].clone();
        let _ = writeln!(
            text,
            "  link     {:<18} White on {white}",
            names.join(" + ")
        );
    }
    for entry in &config.opponent {
        let name = &entry.board;
        let words = entry.in_words(cgroup::limits_memory());
        let _ = writeln!(text, "  opponent {name:<18} {words}");
    }
    if config.opponent.iter().any(|entry| entry.engine.is_some()) && !cgroup::limits_memory() {
        text.push_str(UNLIMITED);
    }
    text += engines;
    let entry = config.lichess.clone().unwrap_or_default();
    let kept = Place::new(&entry, config.state.path()).kept();
    let is_wanted = config.lichess.is_some() || matches!(kept, Some(Ok(_)));
    let board = config
        .lichess_board()
        .filter(|board| config.names().contains(board));
    if let Some(board) = board.filter(|_| is_wanted) {
        let name = board.as_str();
        let _ = writeln!(text, "  lichess  {name:<18} {}", entry.server());
        let read = match entry.token_file.as_deref() {
            None => kept.unwrap_or(secrets.lichess),
            Some(_) => secrets.lichess,
        };
        text += &told(name, of_token(read.as_ref(), &identity));
    }
    let names = config.names();
    for (entry, own) in config.broadcast.iter().zip(secrets.broadcasts) {
        text += &round(entry, &entry.boards(names.iter()));
        let is_missing = matches!(own, Err(TokenError::Missing { .. }));
        let may_log_in = entry.token_file.is_none() && is_missing;
        let state = config.state.path().filter(|_| may_log_in);
        let login = state.and_then(|state| TOKEN.of_login(&state.join(KEPT), entry.server()));
        let read = login.unwrap_or(own);
        text += &told(&entry.round, of_token(read.as_ref(), &identity));
    }
    if let Some(mqtt) = &config.mqtt {
        let daemon = mqtt.daemon();
        let _ = writeln!(text, "  mqtt     {:<18} {}", daemon.as_str(), mqtt.url);
        let password = match secrets.broker {
            Err(PasswordError::NotOurs { .. }) if !identity.is_service() => {
                of_root_alone("password")
            }
            password => of(password),
        };
        text += &told("mqtt", password);
        text += &told("mqtt", of(broker::check_authority(mqtt)));
    }
    for (name, board) in &config.remotes {
        let _ = writeln!(text, "  board    {name:<18} {} over the broker", board.mqtt);
    }
    // What names a board that was added to the service is complete there.
    let left_out: fn(String) -> Outcome = if is_of_user(config) && user::is_installed() {
        Outcome::Note
    } else {
        Outcome::Problem
    };
    for why in &config.left_out {
        text += &told("left out", left_out(why.clone()));
    }
    if config.all_boards().next().is_none() {
        text.push_str(
            "  note     no board yet: plug it in, or add it on the page or by `boardbridge add`\n",
        );
    }
    text += &needs(
        memory_wanted(config),
        machine_memory(),
        files_wanted(config),
    );
    if let Identity::Service { as_user, groups } = &identity {
        let _ = writeln!(
            text,
            "  tried    as the service: with the rights of the user {as_user} and of the groups {}",
            groups.join(", ")
        );
    }
    text += "  untried  boards: no port is opened, which restarts some boards, and nothing is sent by cable, radio or network\n";
    let verdict = match problems(&text) {
        0 => "is fine. It would run:".to_owned(),
        1 => "has no mistake, but it does not work here: see `problem`. It would run:".to_owned(),
        many => format!(
            "has no mistake, but {many} things do not work here: see `problem`. It would run:"
        ),
    };
    format!("{} {verdict}\n{text}", file.display())
}

/// What the daemon itself may take at most, and what the unit lacks for that. `machine`: all its memory, if that is known.
fn needs(memory: u64, machine: Option<u64>, files: usize) -> String {
    let mebibytes = |bytes: u64| bytes.div_ceil(MEBIBYTE);
    let least = mebibytes(memory);
    let mut text = format!(
        "  memory   the daemon         {least} MiB at most, engines not counted; docs/bounds.md has the sum\n"
    );
    if let Some(machine) = machine
        && memory > machine / 4 * 3
    {
        let note = if memory > machine {
            format!(
                "that is more than this machine has ({} MiB): usual play takes less, but a flood may end the service",
                mebibytes(machine)
            )
        } else {
            format!(
                "the unit's MemoryMax=75% is less: write [Service] and MemoryMax={least}M with `sudo systemctl edit boardbridge`"
            )
        };
        text += &told("memory", Outcome::Note(note));
    }
    if files > FILES_IN_UNIT {
        let note = format!(
            "it may need {files} open files: write [Service] and LimitNOFILE={files} with `sudo systemctl edit boardbridge`"
        );
        text += &told("files", Outcome::Note(note));
    }
    text
}

/// What is told of a secret that this user may not read.
fn of_root_alone(what: &str) -> Outcome {
    Outcome::Note(format!(
        "only root may read the {what}: `sudo boardbridge check` tries it"
    ))
}

fn of<E: ToString>(tried: Result<(), E>) -> Outcome {
    tried.map_or_else(
        |error| Outcome::Problem(error.to_string()),
        |()| Outcome::Works,
    )
}

/// Whether a token can be read.
fn of_token(read: Result<&Token, &TokenError>, identity: &Identity) -> Outcome {
    match read {
        Ok(_) => Outcome::Works,
        // It is made later.
        Err(error @ TokenError::Missing { .. }) => Outcome::Note(error.to_string()),
        Err(TokenError::NotOurs { .. }) if !identity.is_service() => of_root_alone("token"),
        Err(error) => Outcome::Problem(error.to_string()),
    }
}

/// What is pushed to a round, and what is wrong with its pairing file.
fn round(entry: &BroadcastConfig, boards: &[BoardName]) -> String {
    let name = entry.round.as_str();
    let of: Vec<&str> = boards.iter().map(BoardName::as_str).collect();
    let delay = match entry.delay {
        Duration::ZERO => "at once".to_owned(),
        delay => format!("{} late", humantime::format_duration(delay)),
    };
    let mut text = format!(
        "  round    {name:<18} games of {} to {}, {delay}\n",
        if of.is_empty() {
            "no board".to_owned()
        } else {
            of.join(", ")
        },
        entry.server()
    );
    if let Some(file) = &entry.pairings {
        let shown = file.display();
        match try_pairings(file, boards) {
            Ok(pairings) => {
                let _ = writeln!(
                    text,
                    "  players  {name:<18} of {} boards in {shown}",
                    pairings.len()
                );
                if let Some(left_out) = pairings.left_out() {
                    let note = format!("{shown}, left out: {left_out}");
                    text += &told(name, Outcome::Note(note));
                }
                let missing = boards.iter().filter(|board| !pairings.has(board));
                let missing: Vec<&str> = missing.map(BoardName::as_str).collect();
                if !missing.is_empty() {
                    let note = format!("{shown} has no players for {}", missing.join(", "));
                    text += &told(name, Outcome::Note(note));
                }
            }
            Err(words) => text += &told(name, Outcome::Problem(format!("{shown}, {words}"))),
        }
    }
    text
}

/// The outcome of a try, as a line.
fn told(name: &str, outcome: Outcome) -> String {
    match outcome {
        Outcome::Works => String::new(),
        Outcome::Note(note) => format!("  note     {name:<18} {note}\n"),
        Outcome::Problem(problem) => format!("{PROBLEM}{name:<18} {problem}\n"),
    }
}

/// Starts every engine briefly: lines about those that do not start, or lack an option.
pub async fn engines(config: &Config, here: &Here) -> String {
    let until = Instant::now() + trial::TRIAL_WAIT;
    let mut text = String::new();
    for entry in &config.opponent {
        let Some((settings, _)) = entry.engine() else {
            continue;
        };
        if let Some(why) = hidden(&settings.program, &here.identity) {
            text += &told(entry.board.as_str(), Outcome::Problem(why));
            continue;
        }
        for finding in trial::findings(&settings, until).await {
            let outcome = match finding {
                Finding::Fails(why) => Outcome::Problem(why),
                Finding::Told(why) => Outcome::Note(why),
            };
            text += &told(entry.board.as_str(), outcome);
        }
    }
    text
}

/// Why the service cannot see an engine's file, or a file among its arguments, that this process can see.
fn hidden(program: &Program, identity: &Identity) -> Option<String> {
    let named = program.arguments.iter().filter_map(|argument| {
        let value = argument.rsplit('=').next()?;
        value.starts_with('/').then(|| PathBuf::from(value))
    });
    let paths = iter::once(program.path.clone()).chain(named);
    // A link may lead there.
    let targets = |path: PathBuf| [path.canonicalize().ok(), Some(path)].into_iter().flatten();
    let (path, key) = paths
        .flat_map(targets)
        .find_map(|path| identity.hides(&path).map(|key| (path, key)))?;
    let path = path.display();
    Some(format!(
        "the service does not see {path}, because of {key}= in its unit: copy it to /opt or /usr/local/bin, and name that"
    ))
}

/// Whether something is kept in a folder of the user's that a service would keep in its own.
fn is_of_user(config: &Config) -> bool {
    let default = default_directory(|name| env::var_os(name));
    let kept = [config.state.path(), config.games.folder()];
    let below = |default: PathBuf| kept.iter().flatten().any(|path| path.starts_with(&default));
    env::var_os("STATE_DIRECTORY").is_none() && default.is_some_and(below)
}

/// Lines about a serial port that is missing, is no serial port, is used twice, or may not be opened.
fn serial(
    name: &BoardName,
    serial: Option<&SerialConfig>,
    identity: &Identity,
    holders: &Holders,
    ports: &mut Ports,
) -> String {
    let Some(SerialConfig { port, .. }) = serial else {
        return String::new();
    };
    let path = Path::new(port);
    if let Some(problem) = no_port(port).or_else(|| ports.take(port, name.as_str())) {
        return told(name.as_str(), Outcome::Problem(problem));
    }
    let outcomes: Vec<Outcome> = if path.exists() {
        let held = holders.of_file(path);
        let held = held.map(|holder| Outcome::Note(format!("{port} is in use now by {holder}")));
        let barred = barred(port, identity.is_service()).into_iter();
        // Only of the service is it certain that it runs the daemon.
        let barred = barred.map(if identity.is_service() {
            Outcome::Problem
        } else {
            Outcome::Note
        });
        barred.chain(held).collect()
    } else {
        let hint = if is_gadget_port(port) {
            ": boardbridge-gadget makes it"
        } else {
            ""
        };
        let note = format!("{port} is not there now; the daemon waits for it{hint}");
        vec![Outcome::Note(note)]
    };
    let lines = outcomes
        .into_iter()
        .map(|outcome| told(name.as_str(), outcome));
    lines.collect()
}

/// Whether a board on USB could be opened.
fn usb(board: &HidBoard, identity: &Identity) -> Outcome {
    let path = match board.find() {
        Ok(path) => path,
        Err(error) if error.is_away() => {
            return Outcome::Note(format!("{error}; the daemon waits for it"));
        }
        Err(error) => return Outcome::Problem(error.to_string()),
    };
    match may_open(&path) {
        Err(_) if identity.is_service() => {
            Outcome::Problem(HidError::DeniedToService { path }.to_string())
        }
        // Only of the service is it certain that it runs the daemon.
        Err(error) => Outcome::Note(error.to_string()),
        // Root may open anything, and who sits at the machine what a rule gives to him alone.
        Ok(()) if !identity.is_service() && !service_may_open(&path) => {
            Outcome::Note(HidError::DeniedToService { path }.to_string())
        }
        Ok(()) => Outcome::Works,
    }
}

fn at(listen: &Listen, allow: &Allow) -> String {
    match (listen, allow) {
        (Listen::Off, _) => "off".to_owned(),
        (Listen::At(address), Allow::Private) => format!("at {address}"),
        (Listen::At(address), allow) => format!("at {address}, for {allow}"),
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::PermissionsExt as _};

    use super::*;
    use crate::{
        transport::hid::{Roots, Wanted},
        vocabulary::HidBoards,
    };

    #[test]
    fn a_hall_that_needs_more_than_the_unit_allows_is_told_what_to_write() {
        let small = needs(80 * MEBIBYTE, Some(1024 * MEBIBYTE), 300);
        assert!(
            small.contains("80 MiB") && !small.contains("note"),
            "{small}"
        );
        let large = needs(900 * MEBIBYTE, Some(1024 * MEBIBYTE), 40_000);
        for words in ["MemoryMax=900M", "LimitNOFILE=40000"] {
            assert!(large.contains(words), "{large}");
        }
        let much = needs(2000 * MEBIBYTE, Some(1024 * MEBIBYTE), 300);
        assert!(
            much.contains("more than this machine has (1024 MiB)"),
            "{much}"
        );
        let unit = include_str!("../../../systemd/boardbridge.service");
        let limit = format!("\nLimitNOFILE={FILES_IN_UNIT}\n");
        assert!(unit.contains(&limit), "the unit has another limit");
        // An unknown machine is not judged.
        assert!(!needs(2000 * MEBIBYTE, None, 300).contains("note"));
    }

    #[test]
    fn whoever_checks_is_told_that_the_service_may_not_open_a_board_on_usb() {
        const TOY: HidBoards = HidBoards {
            title: "Toy",
            vendor: 0x1234,
            families: &[0x80],
            usage_page: 0xff00,
        };
        let machine = tempfile::tempdir().unwrap();
        let [sys, dev] = ["sys", "dev"].map(|name| machine.path().join(name));
        let device = sys.join("class/hidraw/hidraw0/device");
        fs::create_dir_all(&device).unwrap();
        fs::create_dir_all(&dev).unwrap();
        fs::write(device.join("uevent"), "HID_ID=0003:00001234:00008001\n").unwrap();
        // The usage page FF00, and a collection.
        let descriptor = [0x06, 0x00, 0xff, 0x09, 0x01, 0xa1, 0x01, 0xc0];
        fs::write(device.join("report_descriptor"), descriptor).unwrap();
        let roots = Roots { sys, dev };
        let path = roots.dev.join("hidraw0");
        fs::write(&path, "").unwrap();
        let board = HidBoard::new(TOY, Wanted::Only(Vec::new()), roots);
        let user = Identity::user();
        let service = Identity::Service {
            as_user: "nobody".to_owned(),
            groups: Vec::new(),
        };
        let set = |mode| fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        set(0o600);
        let Outcome::Note(note) = usb(&board, &user) else {
            panic!("nothing is told");
        };
        let words = format!("the service may not open {}", path.display());
        assert!(note.contains(&words), "{note}");
        assert!(note.contains("60-boardbridge.rules"), "{note}");
        set(0o666);
        assert_eq!(usb(&board, &user), Outcome::Works);
        // The service is asked as itself: its groups may have been changed.
        assert_eq!(usb(&board, &service), Outcome::Works);
        fs::remove_file(&path).unwrap();
        let Outcome::Problem(problem) = usb(&board, &service) else {
            panic!("no problem");
        };
        assert!(problem.contains(&words), "{problem}");
    }
}
