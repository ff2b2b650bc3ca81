//! The soak: one process of the daemon for a long time, with faults that do not end it.

use std::{fs, io, time::Duration};

use tokio::time::{Instant, sleep};

use crate::{Ended, fault::Fault, house::House};

/// How often the process is looked at.
const SAMPLE: Duration = Duration::from_secs(2);
/// Memory is judged after this part of the time: what is filled once, is by then.
const WARM: f64 = 0.3;
/// What happens meanwhile.
const FAULTS: [Fault; 6] = [
    Fault::Reload,
    Fault::Cable,
    Fault::RadioLost,
    Fault::BluezRestarted,
    Fault::DbusGone,
    Fault::StoppedReaders,
];

/// The process at one time.
#[derive(Clone, Copy, Debug)]
struct Sample {
    seconds: f64,
    memory: f64,
    descriptors: usize,
    threads: usize,
}

fn sample(id: u32, seconds: f64) -> io::Result<Sample> {
    let status = fs::read_to_string(format!("/proc/{id}/status"))?;
    let number = |key: &str| -> usize {
        let line = status.lines().find_map(|line| line.strip_prefix(key));
        let word = line.and_then(|rest| rest.split_whitespace().next());
        word.and_then(|word| word.parse().ok()).unwrap_or(0)
    };
    Ok(Sample {
        seconds,
        #[allow(clippy::cast_precision_loss, reason = "KiB of a small process")]
        memory: number("VmRSS:") as f64,
        descriptors: fs::read_dir(format!("/proc/{id}/fd"))?.count(),
        threads: number("Threads:"),
    })
}

/// The slope of the line nearest to these points.
pub fn slope(points: &[(f64, f64)]) -> f64 {
    #[allow(clippy::cast_precision_loss, reason = "a few thousand")]
    let count = points.len().max(1) as f64;
    let mean = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / count;
    let (x, y) = (mean(|point| point.0), mean(|point| point.1));
    let spread: f64 = points.iter().map(|point| (point.0 - x).powi(2)).sum();
    let common: f64 = points
        .iter()
        .map(|point| (point.0 - x) * (point.1 - y))
        .sum();
    if spread > 0.0 { common / spread } else { 0.0 }
}

/// Lets everybody play for so long.
pub async fn run(house: &mut House, time: Duration) -> io::Result<Ended> {
    let began = Instant::now();
    let id = house.daemon.id();
    let mut samples = Vec::new();
    let mut next_fault = Instant::now();
    let mut faults = 0;
    while began.elapsed() < time {
        if house.daemon.ended().is_some() {
            println!("the daemon ended\n    {}", house.daemon.tail());
            println!("{}", house.score.table());
            return Ok(Ended::Died);
        }
        samples.push(sample(id, began.elapsed().as_secs_f64())?);
        if next_fault <= Instant::now() {
            let fault = FAULTS[fastrand::usize(..FAULTS.len())];
            house.strike(fault, faults).await?;
            faults += 1;
            next_fault = Instant::now() + Duration::from_secs(fastrand::u64(5..25));
        }
        sleep(SAMPLE).await;
    }
    println!("{}", house.score.table());
    let warm = time.as_secs_f64() * WARM;
    let kept: Vec<&Sample> = samples.iter().filter(|s| s.seconds >= warm).collect();
    let points: Vec<_> = kept
        .iter()
        .map(|s| (s.seconds / 3600.0, s.memory))
        .collect();
    if let (Some(first), Some(last)) = (kept.first(), kept.last()) {
        println!(
            "memory: {:.0} KiB after {:.0} s, {:.0} KiB at the end, slope {:+.0} KiB/h",
            first.memory,
            first.seconds,
            last.memory,
            slope(&points)
        );
        for (name, of) in [
            (
                "descriptors",
                (|s: &Sample| s.descriptors) as fn(&Sample) -> usize,
            ),
            ("threads", |s: &Sample| s.threads),
        ] {
            let all = kept.iter().map(|s| of(s));
            println!(
                "{name}: {} to {}, at the end {}",
                all.clone().min().unwrap_or(0),
                all.max().unwrap_or(0),
                of(last)
            );
        }
    }
    Ok(house.score.ended(false))
}
