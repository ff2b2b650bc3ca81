//! The marathon: everybody plays among those who mean harm, while the daemon is reloaded and killed and nobody reads its log.

use std::{
    collections::BTreeMap,
    fs, io,
    process::{Command, Stdio},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader},
    net::TcpStream,
    time::{Instant, interval, sleep, timeout},
};

use crate::{Ended, fault::Fault, hostile, house::House};

/// The most that the daemon may take to answer a program, at the median.
const MEDIAN: Duration = Duration::from_millis(5);
/// How often it is asked.
const ASKS: Duration = Duration::from_millis(50);
/// An answer that takes longer is one of a daemon that is gone.
const GONE: Duration = Duration::from_secs(2);
/// How often it is looked at what was written.
const LOOKS: Duration = Duration::from_millis(200);
/// How long all games may take to go on after a fault.
const RECOVERY: Duration = Duration::from_secs(75);
/// How long syncs are counted, at the end: to count them slows the daemon down.
const COUNTED: Duration = Duration::from_secs(20);
/// What happens, the first as often again.
const FAULTS: [Fault; 3] = [Fault::Reload, Fault::Kill, Fault::Reload];

/// Bytes that a process has written: to anything, and to disks.
fn written(id: u32) -> Option<[u64; 2]> {
    let io = fs::read_to_string(format!("/proc/{id}/io")).ok()?;
    let number = |key: &str| -> Option<u64> {
        let line = io.lines().find_map(|line| line.strip_prefix(key))?;
        line.trim().parse().ok()
    };
    Some([number("wchar:")?, number("write_bytes:")?])
}

/// Asks the daemon for ever whether it is ready; adds the times of its answers.
async fn ask(port: String, times: Arc<Mutex<Vec<Duration>>>) {
    loop {
        // While it is away nothing is measured.
        let _ = ask_on(&port, &times).await;
        sleep(ASKS).await;
    }
}

async fn ask_on(port: &str, times: &Mutex<Vec<Duration>>) -> io::Result<()> {
    let stream = TcpStream::connect(port).await?;
    stream.set_nodelay(true)?;
    let mut stream = BufReader::new(stream);
    let mut ticks = interval(ASKS);
    loop {
        ticks.tick().await;
        let asked = Instant::now();
        stream.write_all(b"isready\n").await?;
        loop {
            let mut line = String::new();
            let read = timeout(GONE, stream.read_line(&mut line)).await;
            if read.map_err(io::Error::other)?? == 0 {
                return Ok(());
            }
            if line == "readyok\n" {
                break;
            }
        }
        let mut times = times.lock().unwrap_or_else(PoisonError::into_inner);
        times.push(asked.elapsed());
    }
}

/// Counts the syncs of this process for a while; `None` where there is no strace.
async fn syncs(id: u32, house: &House) -> io::Result<Option<usize>> {
    let file = house.folder.path().join("syncs");
    let tracing = Command::new("strace")
        .args([
            "-f",
            "-qq",
            "-e",
            "trace=fsync,fdatasync,syncfs,sync_file_range",
            "-o",
        ])
        .arg(&file)
        .args(["-p", &id.to_string()])
        .stderr(Stdio::null())
        .spawn();
    let Ok(mut tracing) = tracing else {
        return Ok(None);
    };
    sleep(COUNTED).await;
    let ended = tracing.try_wait()?;
    let id = tracing.id().to_string();
    Command::new("kill").args(["-s", "INT", &id]).status()?;
    tracing.wait()?;
    let text = fs::read_to_string(file).unwrap_or_default();
    let begun = |line: &&str| line.contains("sync(") || line.contains("sync_file_range(");
    // It could not be attached if it ended at once.
    Ok(ended.is_none().then(|| text.lines().filter(begun).count()))
}

/// The ports of this configuration, and the boards whose games are defended.
fn targets(config: &str) -> (Vec<u16>, Vec<String>) {
    let port = |line: &str| {
        let (_, rest) = line.split_once("listen = \"0.0.0.0:")?;
        rest.split_once('"')?.0.parse().ok()
    };
    let board = |line: &str| Some(line.strip_prefix("[boards.")?.strip_suffix(']')?.to_owned());
    // A program of any address may have a board that no game is on: those of engines, pages and Lichess between two games.
    let defended = |name: &String| name.ends_with('1');
    (
        config.lines().filter_map(port).collect(),
        config.lines().filter_map(board).filter(defended).collect(),
    )
}

/// Lets everybody play for so long.
pub async fn run(house: &mut House, time: Duration) -> io::Result<Ended> {
    let (ports, boards) = targets(&house.config.1);
    let (times, count) = (
        Arc::<Mutex<Vec<Duration>>>::default(),
        Arc::<AtomicU64>::default(),
    );
    hostile::crowd(&ports, &boards, &count);
    tokio::spawn(ask(house.ports[0].clone(), times.clone()));
    let began = Instant::now();
    let mut by_process = BTreeMap::new();
    let (mut faults, mut died) = (0, 0);
    while began.elapsed() < time {
        let quiet = Duration::from_millis(fastrand::u64(2000..6000));
        let until = Instant::now() + quiet;
        while Instant::now() < until {
            by_process.extend(written(house.daemon.id()).map(|bytes| (house.daemon.id(), bytes)));
            sleep(LOOKS).await;
        }
        died += u32::from(house.revive()?);
        let fault = FAULTS[fastrand::usize(..FAULTS.len())];
        println!("{:6.0} s: {fault}", began.elapsed().as_secs_f64());
        house.strike(fault, faults).await?;
        faults += 1;
        if !house.recovered(RECOVERY).await {
            println!("    not every game goes on");
        }
    }
    by_process.extend(written(house.daemon.id()).map(|bytes| (house.daemon.id(), bytes)));
    let minutes = began.elapsed().as_secs_f64() / 60.0;
    let mut times = std::mem::take(&mut *times.lock().unwrap_or_else(PoisonError::into_inner));
    let counted = syncs(house.daemon.id(), house).await?;
    died += u32::from(house.revive()?);
    times.sort_unstable();
    let part = |per_cent: usize| {
        times
            .get(times.len() * per_cent / 100)
            .copied()
            .unwrap_or_default()
    };
    println!("\n{}", house.score.table());
    println!(
        "{} connections of {} hostile addresses at {} ports; the daemon ended by itself {died} times",
        count.load(Ordering::Relaxed),
        hostile::ADDRESSES,
        ports.len()
    );
    println!(
        "answers to a program: {:.2} ms at the median, {:.1} ms at 99 %, {:.0} ms at most ({} answers)",
        part(50).as_secs_f64() * 1e3,
        part(99).as_secs_f64() * 1e3,
        times.last().copied().unwrap_or_default().as_secs_f64() * 1e3,
        times.len()
    );
    #[allow(clippy::cast_precision_loss, reason = "some megabytes, and some syncs")]
    let a_minute = |bytes: u64| bytes as f64 / minutes / 1024.0;
    let [all, disk] = by_process.values().fold([0, 0], |sum: [u64; 2], bytes| {
        [sum[0] + bytes[0], sum[1] + bytes[1]]
    });
    println!(
        "written a minute: {:.0} KiB to disks, {:.0} KiB to anything, connections included",
        a_minute(disk),
        a_minute(all)
    );
    match counted {
        #[allow(clippy::cast_precision_loss, reason = "some hundred")]
        Some(syncs) => println!(
            "syncs a minute: {:.0} (counted for {} s at the end)",
            syncs as f64 * 60.0 / COUNTED.as_secs_f64(),
            COUNTED.as_secs()
        ),
        None => println!("syncs a minute: not counted, strace is not here or may not"),
    }
    let ended = house.score.ended(died > 0);
    if ended == Ended::Clean && (times.is_empty() || house.score.played().0 == 0) {
        println!("nobody was answered, or nobody has played: this shows nothing");
        return Ok(Ended::Losses);
    }
    if ended == Ended::Clean && part(50) >= MEDIAN {
        println!("the median is not below {} ms", MEDIAN.as_millis());
        return Ok(Ended::Losses);
    }
    Ok(ended)
}
