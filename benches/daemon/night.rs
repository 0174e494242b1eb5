//! Many slots due at one instant: how late each request arrives at the server.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use offpeak::clock::SystemClock;
use offpeak::standin::{Script, Standin};
use serde_json::Value;

use crate::house::{House, Rules};
use crate::process::{self, Daemon};
use crate::{Outcome, figures, next_minute, say};

/// So long after the slots were due most of it is over.
const QUIET_MS: u64 = 3_000;

/// How much longer the last run may take.
const PATIENCE_MS: u64 = 60_000;

/// So many jobs, twenty of a group, are due at the next minute; the server answers each at once, which is the worst
/// for the others, as the writing of answers and outputs begins while they wait.
pub fn lateness(jobs: usize) -> Outcome<()> {
    let fire_at = next_minute();
    let cron = fire_at.format("%M %H * * *").to_string();
    let house = House::build(jobs, Rules::Off, |_| cron.clone())?;
    let server = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()?;
    let standin = {
        let _inside = server.enter();
        Standin::start(Script::default(), Arc::new(SystemClock::new()), 1)?
    };
    house.send_to(&standin.base_url())?;
    let daemon = Daemon::start(&house)?;
    let until_due = (fire_at - crate::now())
        .num_milliseconds()
        .max(0)
        .unsigned_abs();
    // Nothing is looked at while the slots are due: the machine is theirs.
    process::pass(until_due + QUIET_MS);
    let mut waited = 0;
    while ended(&house)? < jobs && waited < PATIENCE_MS {
        process::pass(500);
        waited += 500;
    }
    daemon.stop()?;
    let arrivals = standin.requests();
    let different: BTreeSet<&str> = arrivals.iter().map(|seen| seen.body.as_str()).collect();
    let late = arrivals
        .iter()
        .map(|seen| (seen.at - fire_at).to_std().unwrap_or_default());
    say(&format!(
        "lateness at the server, {jobs} due at once: {}",
        figures::spans(late.collect())
    ))?;
    say(&format!(
        "from due to `run started`, {jobs} due at once: {}",
        figures::spans(started(&house)?)
    ))?;
    let checked = Command::new(process::program())
        .args(["store", "check", "-C"])
        .arg(house.path())
        .output()?;
    say(&format!(
        "{} of {jobs} requests arrived, {} different; {} runs ended; store check: {}",
        arrivals.len(),
        different.len(),
        ended(&house)?,
        String::from_utf8_lossy(&checked.stdout)
            .lines()
            .last()
            .unwrap_or("no word"),
    ))
}

fn lines(house: &House) -> Outcome<Vec<Value>> {
    let log = fs::read_to_string(house.log())?;
    Ok(log
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect())
}

fn ended(house: &House) -> Outcome<usize> {
    Ok(fs::read_to_string(house.log())?
        .matches("\"run ended\"")
        .count())
}

/// The instants of the log's own lines, minus the instants that were due.
fn started(house: &House) -> Outcome<Vec<Duration>> {
    let started = |line: &Value| line["message"] == "run started";
    let late = |line: Value| line["late_ms"].as_u64().map(Duration::from_millis);
    Ok(lines(house)?
        .into_iter()
        .filter(started)
        .filter_map(late)
        .collect())
}
