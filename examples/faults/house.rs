//! Everything that takes part: boards, hands, programs, apps, links, and the daemon between them.

use std::{
    fmt::Write as _,
    fs, io,
    path::{Path, PathBuf},
    process::Command,
    sync::Arc,
    time::Duration,
};

use simulators::{
    neo,
    port::Port,
    run::{Kind, Settings, board},
    swpp,
};
use tempfile::TempDir;
use tokio::time::sleep;

use crate::{
    app,
    daemon::Daemon,
    engine, hostile,
    lichess::{Lichess, Style},
    online, page, phone,
    ports::unused_address,
    program,
    score::Score,
    seat::{Hands, Seat},
    wood::{Air, Cable, Place, on_a_line},
};

/// How many times faster than real the boards are.
const SPEED: f64 = 20.0;
/// How long a hand takes to execute a shown move.
const HAND_DELAY: Duration = Duration::from_millis(60);
/// The daemon's pacing for boards of this speed, with time to spare: what is written to a pseudo-terminal of a loaded machine
/// may come 0.2 s later.
const CITRINE: &str = "kind = \"novag-citrine\"\ncommand_gap = \"300ms\"\nsecond_send = \"300ms\"\nsecond_send_capture = \"400ms\"\n\
     move_wait = \"50ms\"\nsetup_wait = \"50ms\"\ncorrection_wait = \"150ms\"\n";
const UCB: &str = "kind = \"novag-ucb\"\nline_gap = \"300ms\"\nmove_wait = \"400ms\"\nsetup_wait = \"400ms\"\ncorrection_wait = \"150ms\"\n";
const SWPP: &str =
    "kind = \"swpp\"\nforgets = false\nmove_wait = \"150ms\"\ncorrection_wait = \"150ms\"\n";
const NEO: &str = "kind = \"miko-neo\"\ncorrection_wait = \"150ms\"\n";
/// In all of these.
pub const CORRECTION_WAIT: &str = "correction_wait = \"150ms\"";
/// The state directory's size, KiB: more than a run needs.
const DISK: u32 = 32 * 1024;
/// The library that lets the wall clock jump, as Debian installs it.
const CLOCK_LIBRARIES: [&str; 2] = [
    "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1",
    "/usr/lib/aarch64-linux-gnu/faketime/libfaketimeMT.so.1",
];

/// What to build.
#[derive(Debug)]
pub struct Plan {
    /// The program.
    pub program: PathBuf,
    /// What is counted.
    pub score: Arc<Score>,
    /// For everything that is left to chance.
    pub seed: u64,
    /// Where the daemons' logs are kept.
    pub logs: Option<PathBuf>,
    /// For the soak: twice as many programs; no linked boards, engine, Lichess or page, and the clock does not jump.
    pub soak: bool,
    /// For the marathon: ports for the whole network, neighbours that mean harm, a log that nobody reads; the state is on the disk,
    /// so that what is written there is counted.
    pub marathon: bool,
}

/// See the module documentation.
pub struct House {
    /// The score of all games.
    pub score: Arc<Score>,
    /// The games.
    pub seats: Vec<Arc<Seat>>,
    /// The boards on lines.
    pub cables: Vec<Cable>,
    /// The Bluetooth.
    pub air: Arc<Air>,
    /// The daemon.
    pub daemon: Daemon,
    /// The daemon's configuration file, and what it holds.
    pub config: (PathBuf, String),
    /// Where everything is.
    pub folder: TempDir,
    /// The file that moves the clock, if that is possible.
    pub clock: Option<PathBuf>,
    /// The state directory, if it has a size of its own.
    pub disk: Option<PathBuf>,
    /// The UCI port, the event stream.
    pub ports: [String; 2],
}

/// Mounts a file system that only this process and its children see; returns whether that was possible.
fn mount(kind: &str, options: &str, place: &Path) -> io::Result<bool> {
    let mut command = Command::new("mount");
    command.args(["-t", kind, "-o", options, kind]).arg(place);
    Ok(command.status()?.success())
}

/// A port that is free, and stays so.
fn free_port() -> String {
    unused_address().to_string()
}

/// One board: its name, kind, and the one of its game.
struct Builder<'a> {
    folder: &'a Path,
    text: String,
    cables: Vec<Cable>,
    neos: Vec<neo::Settings>,
    at_neos: Vec<Place>,
    seed: u64,
}

impl Builder<'_> {
    /// Puts up a board; `listens`: on the network.
    fn board(
        &mut self,
        name: &str,
        kind: Kind,
        listens: bool,
        seat: &Arc<Seat>,
        number: usize,
    ) -> io::Result<()> {
        let _ = writeln!(self.text, "[boards.{name}]");
        self.seed += 1;
        let place = Place {
            seat: seat.clone(),
            board: number,
            swpp: kind == Kind::SwppBoard,
        };
        let keys = match kind {
            Kind::NovagCitrine => CITRINE,
            Kind::NovagUcb => UCB,
            Kind::SwppBoard => SWPP,
            _ => NEO,
        };
        self.text.push_str(keys);
        let settings = Settings {
            speed: SPEED,
            hand_delay: Some(HAND_DELAY),
            seed: self.seed,
            ..Settings::of(kind)
        };
        let Some(simulated) = board(&settings) else {
            let suffix = format!("{}A2", self.neos.len() + 1);
            let _ = writeln!(
                self.text,
                "ble = {{ name = \"Square Off Neo - {suffix}\" }}"
            );
            self.neos.push(neo::Settings {
                suffix,
                speed: SPEED,
                hand_delay: Some(HAND_DELAY),
                seed: self.seed,
                ..neo::Settings::default()
            });
            self.at_neos.push(place);
            return Ok(());
        };
        let port = if listens {
            let port = Port::listening(simulated, "127.0.0.1:0")?;
            let _ = writeln!(
                self.text,
                "tcp = {{ address = {:?} }}",
                port.name().unwrap_or_default()
            );
            port
        } else {
            let link = self.folder.join(name);
            let _ = writeln!(self.text, "serial = {{ port = \"{}\" }}", link.display());
            Port::new(simulated, Some(link))?
        };
        self.cables.push(on_a_line(place, port));
        Ok(())
    }
}

/// The boards that programs and apps play on. A home-made board once by cable, once by network; the apps by Bluetooth LE,
/// Bluetooth Classic, cable and network.
const KINDS: [(&str, Kind); 4] = [
    ("citrine", Kind::NovagCitrine),
    ("ucb", Kind::NovagUcb),
    ("swpp", Kind::SwppBoard),
    ("neo", Kind::MikoNeo),
];

impl House {
    /// Puts up the boards, starts the daemon, and lets everybody play.
    pub async fn build(plan: Plan) -> io::Result<Self> {
        fastrand::seed(plan.seed);
        let folder = tempfile::tempdir()?;
        let alone = std::env::var_os(crate::INSIDE).is_some();
        // Pseudo-terminals of our own: a daemon that someone left behind would open ours, for their names are used again.
        if alone {
            mount("devpts", "newinstance,ptmxmode=0666", Path::new("/dev/pts"))?;
        }
        let score = plan.score;
        let mut seats = Vec::new();
        let ports = [free_port(), free_port()];
        let mut builder = Builder {
            folder: folder.path(),
            text: format!(
                "[uci]\nlisten = \"{}\"\n[status]\nlisten = \"{}\"\n",
                ports[0], ports[1]
            ),
            cables: Vec::new(),
            neos: Vec::new(),
            at_neos: Vec::new(),
            seed: plan.seed,
        };
        let mut seat = |name: &str, hands| {
            let seat = Arc::new(Seat::new(name, hands, seats.len() * 7, score.clone()));
            seats.push(seat.clone());
            seat
        };
        let mut fronts = String::new();
        let (mut programs, mut apps) = (Vec::new(), Vec::new());
        let (mut low_energy, mut classic) = (String::new(), String::new());
        let each = if plan.soak { 2 } else { 1 };
        for (name, kind) in KINDS {
            for nth in 1..=each {
                let of_gui = seat(&format!("{name} with a program"), Hands::One);
                let name = format!("{name}{nth}");
                builder.board(&name, kind, kind == Kind::SwppBoard, &of_gui, 0)?;
                // A Novag UCB has a port of its own.
                let port = if kind == Kind::NovagUcb {
                    let port = free_port();
                    let _ = writeln!(builder.text, "uci_listen = {port:?}");
                    port
                } else {
                    ports[0].clone()
                };
                programs.push((name, port, of_gui));
            }
            let of_app = seat(&format!("{name} with the app"), Hands::One);
            let name = format!("{name}-app");
            builder.board(&name, kind, false, &of_app, 0)?;
            let port = free_port();
            let call = swpp::Place::Tcp(port.clone());
            let (way, place) = match kind {
                Kind::NovagUcb => {
                    low_energy = port;
                    (format!("ble = {{ name = {:?} }}", phone::NAME), call)
                }
                Kind::SwppBoard => {
                    classic = port;
                    ("rfcomm = {}".to_owned(), call)
                }
                Kind::NovagCitrine => {
                    let cable = folder.path().join("cable");
                    let way = format!("serial = {{ port = \"{}\" }}", cable.display());
                    (way, swpp::Place::Pty(Some(cable)))
                }
                _ => (format!("tcp = {{ listen = {port:?} }}"), call),
            };
            let _ = writeln!(fronts, "[[whitepawn]]\nboard = \"{name}\"\n{way}");
            apps.push((place, of_app));
        }
        let links = [
            [("citrine", Kind::NovagCitrine), ("swpp", Kind::SwppBoard)],
            [("ucb", Kind::NovagUcb), ("neo", Kind::MikoNeo)],
        ];
        for pair in links.into_iter().filter(|_| !plan.soak) {
            let linked = seat(
                &format!("{} linked with {}", pair[0].0, pair[1].0),
                Hands::Two,
            );
            let names = pair.map(|(name, _)| format!("{name}-link"));
            for (number, (name, (_, kind))) in names.iter().zip(pair).enumerate() {
                builder.board(name, kind, false, &linked, number)?;
            }
            let _ = writeln!(fronts, "[[link]]\nboards = {names:?}");
        }
        if !plan.soak {
            let of_engine = seat("ucb with an engine", Hands::White);
            builder.board("ucb-engine", Kind::NovagUcb, false, &of_engine, 0)?;
            let calls = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
            let engine = engine::program(folder.path(), calls.local_addr()?.port())?;
            let _ = writeln!(
                fronts,
                "[[opponent]]\nboard = \"ucb-engine\"\nengine = {:?}\nhand = \"white\"",
                engine.display().to_string()
            );
            tokio::spawn(engine::play(of_engine, calls));
            let of_lichess = seat("citrine on Lichess", Hands::One);
            builder.board("board", Kind::NovagCitrine, false, &of_lichess, 0)?;
            let lichess = Lichess::new(Style {
                old_castling: false,
                clock: Some(900),
            })
            .await;
            fronts += &lichess.config(folder.path(), "");
            tokio::spawn(online::play(of_lichess, lichess, plan.marathon));
            let of_page = seat("citrine on a page", Hands::Both);
            builder.board("page", Kind::NovagCitrine, false, &of_page, 0)?;
            let port = free_port();
            let _ = writeln!(fronts, "[livechess]\nlisten = {port:?}");
            tokio::spawn(page::play(of_page, port, "page"));
        }
        let Builder {
            text,
            cables,
            neos,
            at_neos,
            ..
        } = builder;
        let air = Arc::new(Air::new(folder.path().join("bus"), neos, at_neos)?);
        tokio::spawn(phone::by_low_energy(air.clone(), low_energy));
        tokio::spawn(phone::by_classic(air.clone(), classic));
        let mut text = text + &fronts;
        if plan.marathon {
            let _ = writeln!(text, "[web]\nlisten = {:?}", free_port());
            text += &hostile::residents(folder.path()).await?;
            text = text.replace("listen = \"127.0.0.1:", "listen = \"0.0.0.0:");
        }
        let config = folder.path().join("bb.toml");
        fs::write(&config, &text)?;
        let state = folder.path().join("state");
        fs::create_dir(&state)?;
        let mounted = alone && !plan.marathon && mount("tmpfs", &format!("size={DISK}k"), &state)?;
        let clock = folder.path().join("clock");
        fs::write(&clock, "+0\n")?;
        let mut environment = vec![
            ("DBUS_SYSTEM_BUS_ADDRESS", air.address()),
            ("STATE_DIRECTORY", state.display().to_string()),
            // For debug builds: a file named after a board makes its task panic.
            ("BOARD_TASK_PANICS", folder.path().display().to_string()),
        ];
        let library = CLOCK_LIBRARIES.iter().find(|path| Path::new(path).exists());
        let library = library.filter(|_| !plan.soak && !plan.marathon);
        if let Some(library) = library {
            environment.extend([
                ("LD_PRELOAD", (*library).to_owned()),
                ("FAKETIME_TIMESTAMP_FILE", clock.display().to_string()),
                ("FAKETIME_CACHE_DURATION", "1".to_owned()),
                ("FAKETIME_DONT_FAKE_MONOTONIC", "1".to_owned()),
                ("DONT_FAKE_MONOTONIC", "1".to_owned()),
            ]);
        }
        let mut daemon = Daemon::new(plan.program.clone(), folder.path(), environment, plan.logs);
        daemon.is_unread = plan.marathon;
        daemon.start()?;
        for (board, port, seat) in programs {
            tokio::spawn(program::play(seat, plan.program.clone(), port, board));
        }
        for (place, seat) in apps {
            tokio::spawn(app::play(seat, place));
        }
        let house = Self {
            score,
            seats,
            cables,
            air,
            daemon,
            config: (config, text),
            clock: library.map(|_| clock),
            disk: mounted.then_some(state),
            ports,
            folder,
        };
        house.recovered(Duration::from_mins(1)).await;
        Ok(house)
    }

    /// Waits until every game has moved since the last fault, or so long.
    pub async fn recovered(&self, patience: Duration) -> bool {
        let began = tokio::time::Instant::now();
        while began.elapsed() < patience {
            if self.seats.iter().all(|seat| seat.has_moved()) {
                return true;
            }
            sleep(Duration::from_millis(50)).await;
        }
        false
    }
}
