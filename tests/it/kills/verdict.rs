//! What must hold after every kill, and once all is over.

use std::collections::BTreeMap;

use chrono::{DateTime, DurationRound, TimeDelta, Utc};
use serde_json::Value;

use super::house::{House, instant};
use super::{JOBS, KEEPER, OLDER, answer_of};

/// Holds at any moment, whatever was killed last.
pub fn after_a_kill(house: &House, when: &str) {
    let checked = house.scenario.run(&["store", "check"]);
    // The first daemon may not have come as far as a store.
    assert_eq!(
        checked.code, 0,
        "{when}\n{}{}",
        checked.stdout, checked.stderr
    );
    outputs_are_whole(house, when);
}

/// Holds once a daemon has started over what the last kill left, and has stopped in peace.
pub fn at_the_end(house: &House, kills: usize) {
    house.make_due(&[]);
    house.settle();
    after_a_kill(house, "the end");
    let runs = house.history();
    let open: Vec<&Value> = runs.iter().filter(|run| run["outcome"].is_null()).collect();
    assert!(open.is_empty(), "{open:?}");
    every_slot_has_one_run_of_its_own(&runs);
    nothing_was_sent_without_a_record(house, &runs);
    nothing_was_sent_again_at_once(&runs);
    what_was_cut_off_says_so(&runs);
    leftovers_are_few(house, kills);
}

fn outputs_are_whole(house: &House, when: &str) {
    for path in house.scenario.files("out") {
        let job = *JOBS.iter().find(|job| path.contains(*job)).unwrap();
        if path.contains(".offpeak-") {
            continue;
        }
        let text = house.scenario.read(&path);
        let is_older = job == KEEPER && text == OLDER;
        assert!(
            text == answer_of(job) || is_older,
            "{when}: {path} is not whole: {} bytes",
            text.len()
        );
    }
    // The good one is there at any moment.
    house.scenario.read(&format!("out/{KEEPER}/latest.md"));
}

fn every_slot_has_one_run_of_its_own(runs: &[Value]) {
    let mut own: BTreeMap<(String, String), usize> = BTreeMap::new();
    for run in runs.iter().filter(|run| run["origin"] == "scheduled") {
        let slot = (run["job"].to_string(), run["fire_at"].to_string());
        *own.entry(slot).or_default() += 1;
    }
    assert!(own.values().all(|runs| *runs == 1), "{own:?}");
}

/// The server has seen no request that no attempt stands for.
fn nothing_was_sent_without_a_record(house: &House, runs: &[Value]) {
    for job in JOBS {
        let of_job = runs.iter().filter(|run| run["job"] == job);
        let sent: Vec<&Value> = of_job.flat_map(attempts).collect();
        let seen = house.requests_of(job).len();
        assert!(seen <= sent.len(), "{job}: {seen} requests, {sent:?}");
        let answered = sent.iter().filter(|it| it["status"] == 200).count();
        assert!(
            answered <= seen,
            "{job}: {answered} answers to {seen} requests"
        );
    }
}

/// Work that a kill cut off goes on at a later slot, not at the restart.
fn nothing_was_sent_again_at_once(runs: &[Value]) {
    for (index, run) in runs.iter().enumerate() {
        if run["reason"] != "interrupted" {
            continue;
        }
        let next = runs[index + 1..].iter().find(|next| {
            next["job"] == run["job"]
                && next["fire_at"] == run["fire_at"]
                && !attempts(next).is_empty()
        });
        if let Some(next) = next {
            let slot = minute_of(instant(&next["started_at"]));
            assert!(slot > instant(&run["finished_at"]), "{run}\n{next}");
        }
    }
}

fn minute_of(at: DateTime<Utc>) -> DateTime<Utc> {
    at.duration_trunc(TimeDelta::minutes(1)).unwrap()
}

/// Whoever reads the history learns what may have been billed.
fn what_was_cut_off_says_so(runs: &[Value]) {
    let mut cut_off = 0;
    for run in runs {
        let Some(last) = attempts(run).pop() else {
            continue;
        };
        let note = run["note"].as_str().unwrap_or_default();
        if last["latency_ms"].is_null() {
            assert!(note.contains("may have been billed"), "{run}");
            cut_off += 1;
        }
        if run["reason"] == "interrupted" && last["class"] == "success" {
            assert!(note.contains("was answered and billed"), "{run}");
        }
    }
    assert!(cut_off > 0, "no kill fell into an answer: {runs:?}");
}

fn attempts(run: &Value) -> Vec<&Value> {
    run["attempts"].as_array().into_iter().flatten().collect()
}

/// A kill leaves one half-written file for each slot that was at it, and no more.
fn leftovers_are_few(house: &House, kills: usize) {
    let mut left = house.scenario.files("out");
    left.retain(|path| path.contains(".offpeak-"));
    assert!(left.len() <= kills * 3, "{left:?}");
}
