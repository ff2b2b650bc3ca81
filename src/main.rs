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

use boardbridge::{
    board::transcript::{Item, Transcript},
    cli::{Cli, Command, replay, watch},
    front_end::{livechess::relay as livechess_relay, uci::relay},
    log::{outlet::Output, queue::Queue},
    net::{
        dns_sd::nearest::{NearestError, nearest},
        reach,
    },
    text::escape::{escaped, escaped_json},
};
#[cfg(target_os = "linux")]
use boardbridge::{
    cli::{
        self, call, check,
        scan::{self, Look},
    },
    config::{self, Config, ConfigError},
    daemon, log,
    text::escape::Printed,
    transport::hid::Roots,
};
use clap::{CommandFactory, FromArgMatches};

/// It could not be done.
#[cfg(target_os = "linux")]
const FAILURE: u8 = 1;
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
        Command::Uci { connect, board } => match relay::run(connect.as_deref(), board.as_deref()) {
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
            sys: Path::new("/sys"),
            probe,
            adapter: adapter.as_deref(),
            daemon: &connect,
        }),
        Command::Watch {
            connect,
            board,
            json,
        } => match at(connect, reach::Wanted::Status) {
            Ok(connect) => watched(&connect, board.as_deref(), json),
            Err(error) => wrong(error),
        },
        Command::Livechess { connect, listen } => match at(connect, reach::Wanted::LiveChess) {
            Ok(connect) => livechess(&listen, &connect),
            Err(error) => wrong(error),
        },
        #[cfg(target_os = "linux")]
        Command::Release { board, connect } => at_desk(&connect, call::release(&connect, &board)),
        #[cfg(target_os = "linux")]
        Command::Add(add) => {
            let address = add.connect.clone();
            at_desk(&address, cli::add(add))
        }
        #[cfg(target_os = "linux")]
        Command::Remove { board, connect } => at_desk(&connect, call::remove(&connect, &board)),
        #[cfg(target_os = "linux")]
        Command::Rename { old, new, connect } => {
            at_desk(&connect, call::rename(&connect, &old, &new))
        }
        #[cfg(target_os = "linux")]
        Command::Lichess(lichess) => on_lichess(lichess),
        #[cfg(target_os = "linux")]
        Command::Pair(pair) => paired(pair),
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
        Err(error) => failed(error),
    }
}

fn failed(error: impl Display) -> ExitCode {
    for line in told(error) {
        eprintln!("{line}");
    }
    ExitCode::FAILURE
}

fn wrong(error: impl Display) -> ExitCode {
    failed(error);
    ExitCode::from(WRONG_USAGE)
}

/// The lines of a message to the user. What others have said may be in it.
fn told(error: impl Display) -> Vec<String> {
    let text = error.to_string();
    let lines = text.lines();
    lines
        .map(|line| format!("boardbridge: {}", escaped(line)))
        .collect()
}

/// The address that was given, or that of the nearest daemon.
fn at(given: Option<String>, wanted: reach::Wanted) -> Result<String, NearestError> {
    given.map_or_else(|| nearest(wanted), Ok)
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
        Ok(runtime) => written(runtime.block_on(scan::run(&mut Printed(stdout()), look))),
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
    let output = Queue::new(Output);
    let said = output.clone();
    let ended = runtime.block_on(livechess_relay::run(listen, connect, move |line| {
        said.push(line);
    }));
    output.flush();
    done(ended)
}

/// Asks something of the daemon, and prints its answer.
#[cfg(target_os = "linux")]
fn at_desk(address: &str, asked: impl Future<Output = Result<String, impl Display>>) -> ExitCode {
    if let Some(why) = reach::malformed(address, reach::Wanted::Web) {
        return wrong(why);
    }
    let runtime = match runtime() {
        Ok(runtime) => runtime,
        Err(error) => return done::<(), _>(Err(error)),
    };
    match runtime.block_on(asked) {
        Ok(text) => written(writeln!(Printed(stdout()), "{text}")),
        Err(error) => done::<(), _>(Err(error)),
    }
}

#[cfg(target_os = "linux")]
fn on_lichess(lichess: cli::Lichess) -> ExitCode {
    let address = lichess.connect.clone();
    at_desk(&address, cli::run_lichess(lichess))
}

#[cfg(target_os = "linux")]
fn paired(pair: cli::Pair) -> ExitCode {
    if let Some(why) = reach::malformed(&pair.connect, reach::Wanted::Web) {
        return wrong(why);
    }
    let runtime = match runtime() {
        Ok(runtime) => runtime,
        Err(error) => return done::<(), _>(Err(error)),
    };
    match runtime.block_on(cli::run_pair(pair)) {
        Ok(text) => written(writeln!(Printed(stdout()), "{text}")),
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

/// One thread serves every board: they make a few hundred bytes a second, so nothing needs another core.
fn runtime() -> io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
}

#[cfg(target_os = "linux")]
fn load(file: &Path, variable: impl Fn(&str) -> Option<OsString>) -> Result<Config, String> {
    Config::load_with(file, variable).map_err(|error| match error {
        ConfigError::Unreadable { .. } if file == Path::new(config::DEFAULT_FILE) => {
            format!("{error} ({})", config::error::hint())
        }
        error => error.to_string(),
    })
}

/// Says in the log why the daemon does not run: its reader may not read, and that must not hold up the end.
#[cfg(target_os = "linux")]
fn last_words(log: &log::Log, error: impl Display, code: u8) -> ExitCode {
    for line in told(error) {
        log.say(&line);
    }
    ExitCode::from(code)
}

#[cfg(target_os = "linux")]
fn run(file: &Path) -> ExitCode {
    let log = log::init();
    // Before there are threads.
    let inherited = daemon::systemd::inherited();
    let config = match load(file, |name| std::env::var_os(name)) {
        Ok(config) => config,
        Err(error) => return last_words(&log, error, WRONG_USAGE),
    };
    let runtime = match runtime() {
        Ok(runtime) => runtime,
        Err(error) => return last_words(&log, error, FAILURE),
    };
    let served = async {
        let stop = daemon::stop_signal();
        daemon::serve(file, config, inherited, Roots::default(), stop).await
    };
    let ended = runtime.block_on(served);
    // Does not wait for a port that is still being opened: that may never finish.
    runtime.shutdown_background();
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => last_words(&log, error, FAILURE),
    }
}

#[cfg(all(feature = "simulate", target_os = "linux"))]
fn demo(seed: u64, bus: Option<&Path>) -> ExitCode {
    // Returns only if there can be no simulated Bluetooth.
    let why_no_neo = match bus {
        Some(_) => None,
        None => Some(cli::demo::restart_with_bluetooth(seed)),
    };
    // In a terminal the boards are drawn.
    let log = log::init_at(if cli::demo::draws() { "error" } else { "info" });
    let runtime = match runtime() {
        Ok(runtime) => runtime,
        Err(error) => return last_words(&log, error, FAILURE),
    };
    let ended = runtime.block_on(cli::demo::run(seed, bus, why_no_neo));
    // Does not wait for an output that is not read.
    runtime.shutdown_background();
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(error @ cli::demo::DemoError::Config(_)) => last_words(&log, error, WRONG_USAGE),
        Err(error) => last_words(&log, error, FAILURE),
    }
}

#[cfg(target_os = "linux")]
fn check_config(file: &Path) -> ExitCode {
    let config = match load(file, check::variable) {
        Ok(config) => config,
        Err(error) => return wrong(error),
    };
    let runtime = match runtime() {
        Ok(runtime) => runtime,
        Err(error) => return done::<(), _>(Err(error)),
    };
    let running = runtime.block_on(check::is_running(&config));
    let here = check::Here::new(running, &config).for_service();
    let engines = runtime.block_on(check::engines(&config, &here));
    let text = check::describe(&config, file, here, &engines);
    let code = written(write!(Printed(stdout()), "{text}"));
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
        turned: simulate.turned,
        slides: simulate.slides,
        position_format: simulate.position_format,
        mtu: simulate.mtu,
        usb: simulate.usb,
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
    // The board goes on whether its output is read or not.
    let (output, log) = (Queue::new(Output), log::Log::of_words());
    let outcome = runtime().and_then(|runtime| {
        let stop = || {
            let signal = daemon::stop_signal();
            async move {
                tokio::select! {
                    stopped = signal => stopped,
                    // A reader that stops early, such as `head`, is not a failure.
                    () = Output::reader_gone() => Ok(()),
                }
            }
        };
        let outcome = runtime.block_on(run(settings, |line| output.push(line), stop));
        // A read from standard input may still be under way; its result is not needed.
        runtime.shutdown_background();
        outcome
    });
    output.flush();
    match outcome {
        Ok(Outcome::Done) => ExitCode::SUCCESS,
        Ok(Outcome::Astray) => last_words(&log, "the board left the game in the file", FAILURE),
        Err(error) => last_words(&log, error, FAILURE),
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
            writeln!(output, "{}", escaped_json(&line.to_string()))?;
        } else if !event.is_blank() {
            let text = escaped(&event.to_string());
            writeln!(output, "{seconds:9.3} {text}")?;
        }
    }
    Ok(())
}
