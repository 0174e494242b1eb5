//! A daemon and other commands on one store at once: the guards hold across them, and a person is heard.

mod guards;
mod lock;
mod person;

use serde_json::Value;

use crate::kills::house::{House, eventually};
use crate::scenario::Running;

/// A house with these jobs, whose store a daemon has used.
fn house(script: &str, settings: &str, jobs: &[&str]) -> House {
    let house = House::new(script, settings);
    for job in jobs {
        house.job(job, "");
    }
    house.settle();
    house
}

/// Waits for a run that goes on beside us, and asserts how it ended.
#[track_caller]
fn yielded(run: Running, reason: &str) {
    let done = run.wait();
    assert_eq!(done.code, 75, "{}{}", done.stdout, done.stderr);
    let reason = format!("yielded: {reason}");
    assert!(done.stdout.contains(&reason), "{}", done.stdout);
}

/// The runs of a job's own slots, oldest first.
fn slots(house: &House, job: &str) -> Vec<Value> {
    let mut runs = house.history_of(job);
    runs.retain(|run| run["origin"] == "scheduled");
    runs
}

/// Waits for the end of a job's slot after these; there may be one more when the minute ends meanwhile.
fn slot_after(house: &House, job: &str, before: usize) -> Value {
    let slot = || slots(house, job).into_iter().nth(before);
    eventually("the slot ends", || {
        slot().is_some_and(|run| run["outcome"].is_string())
    });
    slot().unwrap()
}
