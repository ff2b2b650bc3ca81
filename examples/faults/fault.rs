//! The faults, and the run through them.

use std::{
    fmt, fs,
    io::{self, Write},
    net::TcpStream,
    process::{Command, Stdio},
    time::Duration,
};

use clap::ValueEnum;
use simulators::{HandAction, bluez::ADAPTER, pty::Pty};
use tokio::time::{Instant, sleep};

use crate::{
    Ended,
    house::{CORRECTION_WAIT, House},
};

/// The options that give a process mounts of its own.
pub const OWN_MOUNTS: [&str; 2] = ["--mount", "--"];
/// How long to wait until all games go on, before the next fault comes all the same.
const RECOVERY: Duration = Duration::from_secs(75);
/// How long a board's task may take to notice that it is to panic.
const PANIC_WAIT: Duration = Duration::from_secs(3);
/// Readers that stop reading.
const STOPPED: usize = 4;
/// What each of them asks for before, in lines: answers of some megabytes.
const QUESTIONS: usize = 2000;
/// The daemon asks every 5 s whether its Bluetooth is there, and waits 10 s for the answer.
const NOTICED: Duration = Duration::from_secs(20);

/// A fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub enum Fault {
    /// SIGKILL.
    Kill,
    /// SIGTERM.
    Term,
    /// SIGHUP: with a change to every board, with a mistake, with a board more, with that taken back.
    Reload,
    /// The cables are pulled, and the ports come back under other names.
    Cable,
    /// The Neos are out of range, or the adapter is off.
    RadioLost,
    /// The Bluetooth daemon is stopped and started.
    BluezRestarted,
    /// The system's D-Bus goes, with everything on it.
    DbusGone,
    /// There is no room in the state directory, and the daemon is killed meanwhile.
    DiskFull,
    /// The wall clock jumps forward and back.
    ClockJumped,
    /// Clients that ask much and read nothing.
    StoppedReaders,
    /// A board's task panics (debug builds).
    Panic,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Kill => "kill -9",
            Self::Term => "SIGTERM",
            Self::Reload => "reload",
            Self::Cable => "cable, another name",
            Self::RadioLost => "radio lost",
            Self::BluezRestarted => "BlueZ restarted",
            Self::DbusGone => "D-Bus gone",
            Self::DiskFull => "disk full",
            Self::ClockJumped => "clock jumped",
            Self::StoppedReaders => "stopped readers",
            Self::Panic => "panicking task",
        })
    }
}

/// Whether this process may have mounts of its own.
pub fn may_mount() -> bool {
    let tried = Command::new("unshare")
        .args(OWN_MOUNTS)
        .args(["mount", "-t", "tmpfs", "tmpfs", "/mnt"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    tried.is_ok_and(|status| status.success())
}

/// Goes through the faults.
pub async fn run(house: &mut House, kills: u32, times: u32, only: &[Fault]) -> io::Result<Ended> {
    let mut plan = Vec::new();
    for fault in Fault::value_variants() {
        if !only.is_empty() && !only.contains(fault) {
            continue;
        }
        if let Some(why) = house.cannot(*fault) {
            println!("{fault}: left out, {why}");
            continue;
        }
        let count = if *fault == Fault::Kill { kills } else { times };
        plan.extend((0..count).map(|nth| (*fault, nth)));
    }
    fastrand::shuffle(&mut plan);
    let all = plan.len();
    let began = Instant::now();
    let mut died = 0;
    for (number, (fault, nth)) in plan.into_iter().enumerate() {
        let (moves, games) = house.score.played();
        println!(
            "{:6.0} s  {:4} of {all}: {fault} ({moves} moves, {games} games)",
            began.elapsed().as_secs_f64(),
            number + 1,
        );
        house.strike(fault, nth).await?;
        // One in four comes while the last one is not over yet.
        if fastrand::u32(0..4) > 0 && !house.recovered(RECOVERY).await {
            println!("    not every game goes on");
        }
        sleep(Duration::from_millis(fastrand::u64(0..1500))).await;
        died += u32::from(house.revive()?);
    }
    house.recovered(RECOVERY).await;
    died += u32::from(house.revive()?);
    println!("\n{}", house.score.table());
    println!("the daemon ended by itself: {died} times");
    Ok(house.score.ended(died > 0))
}

impl House {
    /// Why a fault cannot be tried here.
    pub fn cannot(&self, fault: Fault) -> Option<&'static str> {
        match fault {
            Fault::DiskFull if self.disk.is_none() => {
                Some("only root may mount a small file system")
            }
            Fault::ClockJumped if self.clock.is_none() => Some("it needs Debian's libfaketime"),
            Fault::Panic if !self.daemon.is_debug() => {
                Some("a release build has no way to provoke it")
            }
            _ => None,
        }
    }

    /// If the daemon ended by itself, starts it again and says so.
    pub fn revive(&mut self) -> io::Result<bool> {
        let Some(status) = self.daemon.ended() else {
            return Ok(false);
        };
        println!("    the daemon ended: {status}\n    {}", self.daemon.tail());
        self.daemon.start()?;
        Ok(true)
    }

    /// Lets a fault happen, and ends it.
    pub async fn strike(&mut self, fault: Fault, nth: u32) -> io::Result<()> {
        let short = || sleep(Duration::from_millis(fastrand::u64(100..2000)));
        let filler = self.disk.as_ref().map(|disk| disk.join("filler"));
        let filler = filler.filter(|_| fault == Fault::DiskFull);
        if let Some(filler) = &filler {
            let mut file = fs::File::create(filler)?;
            for size in [64 * 1024, 512] {
                let block = vec![1; size];
                while file.write_all(&block).is_ok() {}
            }
            sleep(Duration::from_secs(2)).await;
        }
        self.score.begins(fault);
        self.seats
            .iter()
            .for_each(|seat| seat.note(fault.to_string()));
        match fault {
            Fault::Kill | Fault::Term => {
                let signal = if fault == Fault::Kill { "KILL" } else { "TERM" };
                match self.daemon.end(signal).await? {
                    Some(status) if fault == Fault::Kill || status.success() => {}
                    Some(status) => {
                        println!("    SIGTERM: {status}\n    {}", self.daemon.tail());
                    }
                    None => {
                        println!("    SIGTERM does not end it");
                        self.daemon.end("KILL").await?;
                    }
                }
                sleep(Duration::from_millis(fastrand::u64(0..800))).await;
                self.daemon.start()?;
                // The phones' Bluetooth links are the system's, and stay: the players connect their apps again.
                self.air.phones_leave();
            }
            Fault::Reload => {
                let (file, text) = &self.config;
                let spare = self.folder.path().join("nothing");
                let new = match nth % 3 {
                    // Every board is opened again.
                    0 => text.replace(CORRECTION_WAIT, "correction_wait = \"160ms\""),
                    1 => format!("{text}[boards.spare]\nkind = \"novag\"\n"),
                    _ => format!(
                        "{text}[boards.spare]\nkind = \"novag-ucb\"\nserial = {{ port = \"{}\" }}\n",
                        spare.display()
                    ),
                };
                fs::write(file, new)?;
                self.daemon.signal("HUP")?;
                short().await;
                // Whatever is started next finds no mistake.
                fs::write(file, text)?;
            }
            Fault::Cable => {
                let chosen: Vec<_> = self.cables.iter().filter(|_| fastrand::bool()).collect();
                for cable in &chosen {
                    let _ = cable.send(HandAction::Unplug).await;
                }
                short().await;
                // These take the old names.
                let others: Vec<_> = chosen.iter().map(|_| Pty::open(None)).collect();
                for cable in chosen {
                    let _ = cable.send(HandAction::Plug).await;
                }
                short().await;
                drop(others);
            }
            Fault::RadioLost => match nth % 3 {
                0 => {
                    self.air.phones_leave();
                    self.air.each(|bluez, neo| {
                        let _ = bluez.control().drop_link(neo);
                    });
                }
                1 => {
                    self.air.each(|bluez, neo| {
                        let _ = bluez.control().vanish(neo);
                    });
                    short().await;
                    self.air.each(|bluez, neo| {
                        let _ = bluez.control().appear(neo);
                    });
                }
                _ => {
                    self.air.each(|bluez, _| {
                        let _ = bluez.control().power(ADAPTER, false);
                    });
                    short().await;
                    self.air.each(|bluez, _| {
                        let _ = bluez.control().power(ADAPTER, true);
                    });
                }
            },
            Fault::BluezRestarted => {
                self.air.each(|bluez, _| bluez.control().run(false));
                short().await;
                self.air.each(|bluez, _| bluez.control().run(true));
            }
            Fault::DbusGone => {
                self.air.goes();
                short().await;
                self.air.comes()?;
            }
            Fault::DiskFull => {
                // It finds what was kept meanwhile.
                self.daemon.end("KILL").await?;
                self.daemon.start()?;
                self.air.phones_leave();
            }
            Fault::ClockJumped => {
                if let Some(clock) = &self.clock {
                    let by = ["+86400", "-864000", "+0"][nth as usize % 3];
                    fs::write(clock, format!("{by}\n"))?;
                    // The library looks once a second.
                    sleep(Duration::from_millis(1200)).await;
                }
            }
            Fault::StoppedReaders => {
                let mut stopped = Vec::new();
                for _ in 0..STOPPED {
                    stopped.push(TcpStream::connect(&self.ports[1])?);
                    let mut asking = TcpStream::connect(&self.ports[0])?;
                    asking.set_write_timeout(Some(Duration::from_millis(100)))?;
                    // The daemon need not take it all.
                    let _ = asking.write_all("uci\n".repeat(QUESTIONS).as_bytes());
                    stopped.push(asking);
                }
                self.score.ends();
                sleep(Duration::from_secs(3)).await;
                return Ok(());
            }
            Fault::Panic => {
                let names: Vec<&str> = self
                    .config
                    .1
                    .lines()
                    .filter_map(|line| line.strip_prefix("[boards.")?.strip_suffix(']'))
                    .collect();
                let file = |name: &&str| self.folder.path().join(format!("{name}.panic"));
                let files: Vec<_> = names.iter().map(file).collect();
                for file in &files {
                    fs::write(file, "")?;
                }
                // A task looks when something happens on its board.
                let began = Instant::now();
                while began.elapsed() < PANIC_WAIT && files.iter().any(|file| file.exists()) {
                    sleep(Duration::from_millis(50)).await;
                }
                let left: Vec<_> = files.iter().filter(|file| file.exists()).collect();
                if left.len() == files.len() {
                    return Err(io::Error::other("no board's task has panicked"));
                }
                for file in left {
                    fs::remove_file(file)?;
                }
            }
        }
        self.score.ends();
        self.seats.iter().for_each(|seat| seat.note("it is over"));
        if fault == Fault::DbusGone {
            // Nothing tells the daemon that D-Bus has gone: until it asks, the phones cannot have their boards.
            self.air.phones_are_back(NOTICED).await;
        }
        if let Some(filler) = filler {
            sleep(Duration::from_secs(2)).await;
            fs::remove_file(filler)?;
        }
        Ok(())
    }
}
