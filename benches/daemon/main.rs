//! Figures of the daemon as a process, with its own files, store and sockets: `cargo bench --bench daemon`.
//!
//! Names pick some of them: `cargo bench --bench daemon -- lateness idle`; a number is how many seconds the idle daemon
//! is watched. Plain measuring, no criterion: a start or a minute of cron cannot be repeated a thousand times.
//! Everything stays on the loopback interface and in a temporary folder.

mod figures;
mod house;
mod night;
mod process;
mod year;

use std::io::Write;

use chrono::{DateTime, Timelike, Utc};
use house::{House, Rules};
use offpeak::clock::SystemClock;
use offpeak::engine::ports::Clock;

/// What went wrong, in words: a bench has nobody to handle it.
type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

/// How many jobs a person has who asks much of one daemon.
const MANY: usize = 10_000;

/// How many times what takes less than a second is measured.
const TIMES: usize = 11;

fn main() -> Outcome<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let picked: Vec<&String> = words.iter().filter(|it| !it.starts_with('-')).collect();
    let seconds = picked.iter().find_map(|it| it.parse().ok());
    let names = ["start", "restart", "lateness", "idle"];
    let is_picked = |name: &str| {
        let mut chosen = picked.iter().filter(|it| names.contains(&it.as_str()));
        chosen.clone().count() == 0 || chosen.any(|it| *it == name)
    };
    if is_picked("start") {
        start(10)?;
        start(MANY)?;
    }
    if is_picked("restart") {
        year::restart(TIMES)?;
    }
    if is_picked("lateness") {
        night::lateness(20)?;
        night::lateness(1_000)?;
    }
    if is_picked("idle") {
        idle(seconds.unwrap_or(120))?;
    }
    Ok(())
}

/// From the start of the process to READY, the proof included: with a new store, and with the one of before.
fn start(jobs: usize) -> Outcome<()> {
    let house = House::build(jobs, Rules::Kept, |n| house::quiet_slot(n, now()))?;
    let mut first = Vec::new();
    let mut again = Vec::new();
    for _ in 0..TIMES {
        house.forget_store()?;
        first.push(process::Daemon::start(&house)?.stop()?.ready);
        again.push(process::Daemon::start(&house)?.stop()?.ready);
    }
    say(&format!(
        "start to READY, {jobs} jobs, new store: {}",
        figures::spans(first)
    ))?;
    say(&format!(
        "start to READY, {jobs} jobs, same store: {}",
        figures::spans(again)
    ))
}

/// What the daemon costs while it waits.
fn idle(seconds: u64) -> Outcome<()> {
    let house = House::build(MANY, Rules::Kept, |n| house::quiet_slot(n, now()))?;
    let daemon = process::Daemon::start(&house)?;
    // What was allocated for the start may go back meanwhile, and the first beats are past.
    process::pass(5_000);
    let before = daemon.look()?;
    process::pass(seconds * 1_000);
    let after = daemon.look()?;
    daemon.stop()?;
    let per_minute = |count: u64| count as f64 * 60.0 / seconds as f64;
    say(&format!(
        "idle, {MANY} jobs, {seconds} s: {:.1} MB resident at first, {:.1} MB at the end, {:.1} MB at most ever",
        before.resident_mb, after.resident_mb, after.peak_mb
    ))?;
    say(&format!(
        "idle, {MANY} jobs, {seconds} s: {:.3} % of a core, {:.0} wake-ups a minute in all, {:.0} of them not the chores' poll",
        (after.cpu_ms - before.cpu_ms) as f64 / (seconds as f64 * 10.0),
        per_minute(after.switches - before.switches),
        per_minute(after.switches - before.switches) - process::POLLS_A_MINUTE,
    ))
}

/// The next full minute that leaves time to start.
fn next_minute() -> DateTime<Utc> {
    let after = now() + chrono::TimeDelta::seconds(70);
    after
        - chrono::TimeDelta::seconds(i64::from(after.second()))
        - chrono::TimeDelta::nanoseconds(i64::from(after.nanosecond()))
}

fn now() -> DateTime<Utc> {
    SystemClock::new().now()
}

fn say(line: &str) -> Outcome<()> {
    Ok(writeln!(std::io::stdout(), "{line}")?)
}
