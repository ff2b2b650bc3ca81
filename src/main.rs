//! The program: from the command line to the library.

#[cfg(target_os = "linux")]
use std::ffi::OsString;
use std::{
    fmt::Display,
    fs,
    io::{self, Write, stdout},
    path::Path,
    process::ExitCode,
};

#[cfg(target_os = "linux")]
use boardbridge::{
    call, check, cli,
    config::{self, Config, ConfigError},
    daemon,
    scan::{self, Look},
    vocabulary::BoardName,
};
use boardbridge::{
    cli::{Cli, Command},
    livechess::relay as livechess_relay,
    log, reach, replay,
    transcript::{Item, Transcript},
    uci::relay,
    watch,
};
use clap::{CommandFactory, FromArgMatches};

/// Wrong usage or configuration.
const WRONG_USAGE: u8 = 2;

fn main() -> ExitCode {
    let given = Cli::command().get_matches();
    let cli = match Cli::from_arg_matches(&given) {
        Ok(cli) => cli,
        Err(error) => error.exit(),
    };
    match cli.command {
        #[cfg(target_os = "linux")]
        Command::Run { config } => run(&config),
        #[cfg(all(feature = "simulate", target_os = "linux"))]
        Command::Demo { seed, bus } => demo(seed, bus.as_deref()),
        Command::Uci { connect, board } => match relay::run(&connect, board.as_deref()) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => wrong(error),
        },
        #[cfg(target_os = "linux")]
        Command::Check { config } => check_config(&config),
        #[cfg(target_os = "linux")]
        Command::Scan {
            adapter,
            probe,
            connect,
        } => scanned(Look {
            dev: Path::new("/dev"),
            probe,
            adapter: adapter.as_deref(),
            daemon: &connect,
        }),
        Command::Watch {
            connect,
            board,
            json,
        } => watched(&connect, board.as_deref(), json),
        Command::Livechess { connect, listen } => livechess(&listen, &connect),
        #[cfg(target_os = "linux")]
        Command::Release { board, connect } => released(&connect, &board),
        #[cfg(target_os = "linux")]
        Command::Lichess(lichess) => on_lichess(lichess),
        #[cfg(all(feature = "simulate", target_os = "linux"))]
        Command::Simulate(simulate) => match given.subcommand() {
            Some((_, given)) if let Some(why) = simulate.unfit(given) => wrong(why),
            _ => simulation(simulate),
        },
        Command::Replay {
            file,
            json,
            transcript,
        } => replayed(&file, json, transcript),
    }
}

fn done<T, E: Display>(result: Result<T, E>) -> ExitCode {
    match result {
        Ok(_) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("boardbridge: {error}");
            ExitCode::FAILURE
        }
    }
}

fn watched(address: &str, board: Option<&str>, json: bool) -> ExitCode {
    if let Some(why) = reach::malformed(address, reach::Wanted::Status) {
        return wrong(why);
    }
    let runtime = match runtime() {
        Ok(runtime) => runtime,
        Err(error) => return done::<(), _>(Err(error)),
    };
    let ended = runtime.block_on(watch::run(address, board, json));
    if let Ok(watch::Ended::Daemon) = ended {
        eprintln!("boardbridge: the daemon at {address} has ended; watch again when it runs");
    }
    done(ended)
}

#[cfg(target_os = "linux")]
fn scanned(look: Look<'_>) -> ExitCode {
    if let Some(why) = reach::malformed(look.daemon, reach::Wanted::Web) {
        return wrong(why);
    }
    match runtime() {
        Ok(runtime) => written(runtime.block_on(scan::run(&mut stdout(), look))),
        Err(error) => done::<(), _>(Err(error)),
    }
}

fn livechess(listen: &str, connect: &str) -> ExitCode {
    for address in [listen, connect] {
        if let Some(why) = reach::malformed(address, reach::Wanted::LiveChess) {
            return wrong(why);
        }
    }
    let runtime = match runtime() {
        Ok(runtime) => runtime,
        Err(error) => return done::<(), _>(Err(error)),
    };
    let say = |line| {
        // Without a reader it goes on all the same.
        let _ = writeln!(stdout(), "{line}");
    };
    done(runtime.block_on(livechess_relay::run(listen, connect, say)))
}

#[cfg(target_os = "linux")]
fn released(address: &str, board: &BoardName) -> ExitCode {
    if let Some(why) = reach::malformed(address, reach::Wanted::Web) {
        return wrong(why);
    }
    let runtime = match runtime() {
        Ok(runtime) => runtime,
        Err(error) => return done::<(), _>(Err(error)),
    };
    match runtime.block_on(call::release(address, board)) {
        Ok(text) => written(writeln!(stdout(), "{text}")),
        Err(error) => done::<(), _>(Err(error)),
    }
}

#[cfg(target_os = "linux")]
fn on_lichess(lichess: cli::Lichess) -> ExitCode {
    if let Some(why) = reach::malformed(&lichess.connect, reach::Wanted::Web) {
        return wrong(why);
    }
    let runtime = match runtime() {
        Ok(runtime) => runtime,
        Err(error) => return done::<(), _>(Err(error)),
    };
    match runtime.block_on(cli::run_lichess(lichess)) {
        Ok(text) => written(writeln!(stdout(), "{text}")),
        Err(error) => done::<(), _>(Err(error)),
    }
}

/// A reader that stops early, such as `head`, is not a failure.
fn written(result: io::Result<()>) -> ExitCode {
    match result {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        other => done(other),
    }
}

fn wrong(error: impl Display) -> ExitCode {
    for line in error.to_string().lines() {
        eprintln!("boardbridge: {line}");
    }
    ExitCode::from(WRONG_USAGE)
}

/// One thread serves every board: they make a few hundred bytes a second, so nothing needs another core.
fn runtime() -> io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
}

#[cfg(target_os = "linux")]
fn load(file: &Path, variable: impl Fn(&str) -> Option<OsString>) -> Result<Config, ExitCode> {
    Config::load_with(file, variable).map_err(|error| match error {
        ConfigError::Unreadable { .. } if file == Path::new(config::DEFAULT_FILE) => {
            wrong(format!("{error} ({})", config::error::hint()))
        }
        error => wrong(error),
    })
}

#[cfg(target_os = "linux")]
fn run(file: &Path) -> ExitCode {
    log::init();
    // Before there are threads.
    let inherited = daemon::systemd::inherited();
    let config = match load(file, |name| std::env::var_os(name)) {
        Ok(config) => config,
        Err(code) => return code,
    };
    match runtime() {
        Ok(runtime) => {
            let ended = runtime.block_on(daemon::serve(file, &config, inherited));
            // Does not wait for a port that is still being opened: that may never finish.
            runtime.shutdown_background();
            done(ended)
        }
        Err(error) => done::<(), _>(Err(error)),
    }
}

#[cfg(all(feature = "simulate", target_os = "linux"))]
fn demo(seed: u64, bus: Option<&Path>) -> ExitCode {
    // Returns only if there can be no simulated Bluetooth.
    let why_no_neo = match bus {
        Some(_) => None,
        None => Some(boardbridge::demo::restart_with_bluetooth(seed)),
    };
    // In a terminal the boards are drawn.
    log::init_at(if boardbridge::demo::draws() {
        "error"
    } else {
        "info"
    });
    match runtime() {
        Ok(runtime) => {
            let ended = runtime.block_on(boardbridge::demo::run(seed, bus, why_no_neo));
            // Does not wait for an output that is not read.
            runtime.shutdown_background();
            match ended {
                Err(error @ boardbridge::demo::DemoError::Config(_)) => wrong(error),
                other => done(other),
            }
        }
        Err(error) => done::<(), _>(Err(error)),
    }
}

#[cfg(target_os = "linux")]
fn check_config(file: &Path) -> ExitCode {
    let config = match load(file, check::variable) {
        Ok(config) => config,
        Err(code) => return code,
    };
    let runtime = match runtime() {
        Ok(runtime) => runtime,
        Err(error) => return done::<(), _>(Err(error)),
    };
    let running = runtime.block_on(check::is_running(&config));
    let here = check::Here::new(running).for_service();
    let engines = runtime.block_on(check::engines(&config, &here));
    let text = check::describe(&config, file, here, &engines);
    let code = written(write!(stdout(), "{text}"));
    if code == ExitCode::SUCCESS && check::problems(&text) > 0 {
        return done::<(), _>(Err(format!("{} does not work here", file.display())));
    }
    code
}

#[cfg(all(feature = "simulate", target_os = "linux"))]
fn simulation(simulate: cli::Simulate) -> ExitCode {
    use simulators::{
        hand::Player,
        outcome::Outcome,
        run::{Settings, run},
        swpp,
    };
    let player = match (&simulate.game, simulate.seed) {
        (Some(file), _) => {
            let text = match fs::read_to_string(file) {
                Ok(text) => text,
                Err(error) => return wrong(format!("{}: {error}", file.display())),
            };
            match Player::of_game(&text, simulate.line, simulate.plays) {
                Ok(player) => Some(player),
                Err(error) => {
                    return wrong(format!("{}:{}: {error}", file.display(), simulate.line));
                }
            }
        }
        (None, Some(_)) => Some(Player::Random {
            plays: simulate.plays,
        }),
        (None, None) => None,
    };
    let style = simulate.swpp.style;
    let usual = swpp::board::Settings::default();
    let place = simulate
        .swpp
        .place(simulate.link.as_deref(), simulate.adapter.as_deref());
    let settings = Settings {
        link: simulate.link,
        listen: simulate.listen,
        ble: simulate.swpp.ble,
        adapter: simulate.adapter,
        speed: simulate.speed,
        position_format: simulate.position_format,
        hand_delay: simulate.hand_delay.0,
        seed: simulate.seed.unwrap_or(1),
        player,
        swpp: swpp::board::Settings {
            name: simulate.swpp.name.unwrap_or(usual.name),
            style,
            answer: simulate.swpp.answer,
            ..swpp::board::Settings::default()
        },
        app: swpp::app::Settings {
            style,
            ..swpp::app::Settings::default()
        },
        place,
        game_type: simulate.swpp.game_type,
        ..Settings::of(simulate.kind)
    };
    let outcome = runtime().and_then(|runtime| {
        let outcome = runtime.block_on(run(settings, daemon::stop_signal));
        // A read from standard input may still be under way; its result is not needed.
        runtime.shutdown_background();
        outcome
    });
    match outcome {
        Ok(Outcome::Done) => ExitCode::SUCCESS,
        Ok(Outcome::Astray) => {
            eprintln!("boardbridge: the board left the game in the file");
            ExitCode::FAILURE
        }
        Err(error) => written(Err(error)),
    }
}

fn replayed(file: &Path, json: bool, whole: bool) -> ExitCode {
    let text = match fs::read_to_string(file) {
        Ok(text) => text,
        Err(error) => return wrong(format!("{}: {error}", file.display())),
    };
    let transcript: Transcript = match text.parse() {
        Ok(transcript) => transcript,
        Err(error) => return wrong(format!("{}: {error}", file.display())),
    };
    let made = match replay::replay(&transcript) {
        Ok(made) => made,
        Err(error) => return wrong(format!("{}: {error}", file.display())),
    };
    written(if whole {
        write!(stdout(), "{made}")
    } else {
        write_events(&made, json)
    })
}

fn write_events(made: &Transcript, json: bool) -> io::Result<()> {
    let mut output = stdout().lock();
    for entry in &made.entries {
        let Item::Event(event) = &entry.item else {
            continue;
        };
        let seconds = entry.at.as_secs_f64();
        if json {
            let mut line = serde_json::to_value(event).unwrap_or_default();
            line["seconds"] = seconds.into();
            writeln!(output, "{line}")?;
        } else if !event.is_blank() {
            let text = log::escaped(&event.to_string());
            writeln!(output, "{seconds:9.3} {text}")?;
        }
    }
    Ok(())
}
