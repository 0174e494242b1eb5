//! A store with a year's history, and a daemon that crashed on it.

use rusqlite::{Connection, params};

use crate::house::{House, Rules, quiet_slot};
use crate::process::Daemon;
use crate::{Outcome, figures, now, say};

/// The history that is kept by default.
const DAYS: i64 = 400;

/// A busy household.
const RUNS_A_DAY: i64 = 200;

/// Runs that the crash cut off.
const CUT_OFF: i64 = 20;

const DAY_MS: i64 = 86_400_000;

/// From the start to READY after a SIGKILL: runs are cut off and the log of the store was not copied back.
pub fn restart(times: usize) -> Outcome<()> {
    let house = House::build(10, Rules::Kept, |n| quiet_slot(n, now()))?;
    Daemon::start(&house)?.stop()?;
    fill(&house)?;
    let mut ready = Vec::new();
    for _ in 0..times {
        cut_off(&house)?;
        ready.push(Daemon::start(&house)?.kill()?.ready);
    }
    let size = std::fs::metadata(house.store().join("offpeak.db"))?.len() as f64 / 1_048_576.0;
    say(&format!(
        "restart after SIGKILL, {} runs in the history ({size:.0} MB), {CUT_OFF} cut off: {}",
        DAYS * RUNS_A_DAY,
        figures::spans(ready)
    ))
}

/// Eighty thousand runs, each with one call and up to three attempts; every tenth yielded and was carried.
fn fill(house: &House) -> Outcome<()> {
    let mut store = Connection::open(house.store().join("offpeak.db"))?;
    let newest = now().timestamp_millis() - DAY_MS;
    let filling = store.transaction()?;
    for n in 0..DAYS * RUNS_A_DAY {
        let at = newest - DAYS * DAY_MS + n * (DAY_MS / RUNS_A_DAY);
        let job = format!("job-{:05}", n % 10);
        let (outcome, reason) = match n % 10 {
            0 => ("yielded", Some("breaker")),
            _ => ("succeeded", None),
        };
        filling
            .prepare_cached(
                "INSERT INTO slots VALUES (?1, ?2, 'key-000', ?2, 'fire', ?3, ?4, ?2 + 9000)",
            )?
            .execute(params![job, at, outcome, reason])?;
        filling.prepare_cached(
            "INSERT INTO runs (id, job, fire_at, origin, grp, model, started_at, finished_at, outcome, reason)
             VALUES (?1, ?2, ?3, 'scheduled', 'key-000', 'claude-sonnet-5-5', ?3, ?3 + 9000, ?4, ?5)",
        )?
        .execute(params![n + 1, job, at, outcome, reason])?;
        filling.prepare_cached(
            "INSERT INTO calls (id, run, message_id, answered_by, answer, stop_reason, input_tokens, output_tokens)
             VALUES (?1, ?1, 'msg_of_the_year', 'claude-sonnet-5-5', ?2, 'end_turn', 1200, 600)",
        )?
        .execute(params![n + 1, "A short answer. ".repeat(20)])?;
        for attempt in 1..=(n % 3 + 1) {
            filling.prepare_cached(
                "INSERT INTO attempts (call, n, started_at, wait_ms, latency_ms, status, class, request_id)
                 VALUES (?1, ?2, ?3, 0, 4000, 200, 'success', 'req_of_the_year')",
            )?
            .execute(params![n + 1, attempt, at])?;
        }
        if n % 10 == 0 {
            filling.prepare_cached(
                "INSERT INTO deferrals (job, fire_at, grp, model, state, not_before, carries, rule, reason, origin, created_at, run, ended_at)
                 VALUES (?1, ?2, 'key-000', 'claude-sonnet-5-5', 'done', ?2, 1, 'next_slot', 'breaker', 'deferred', ?2, ?3, ?2 + 9000)",
            )?
            .execute(params![job, at, n + 1])?;
        }
    }
    Ok(filling.commit()?)
}

/// Leaves runs under way, each with an attempt that was sent.
fn cut_off(house: &House) -> Outcome<()> {
    let mut store = Connection::open(house.store().join("offpeak.db"))?;
    let at = now().timestamp_millis() - 60_000;
    let cutting = store.transaction()?;
    for n in 0..CUT_OFF {
        let job = format!("job-{:05}", n % 10);
        cutting.execute(
            "INSERT INTO slots (job, fire_at, grp, claimed_at, fate) VALUES (?1, ?2, 'key-000', ?2, 'fire')",
            params![job, at + n],
        )?;
        cutting.execute(
            "INSERT INTO runs (job, fire_at, origin, grp, model, started_at)
             VALUES (?1, ?2, 'scheduled', 'key-000', 'claude-sonnet-5-5', ?2)",
            params![job, at + n],
        )?;
        cutting.execute("INSERT INTO calls (run) VALUES (last_insert_rowid())", [])?;
        cutting.execute(
            "INSERT INTO attempts (call, n, started_at, wait_ms) VALUES (last_insert_rowid(), 1, ?1, 0)",
            [at],
        )?;
    }
    Ok(cutting.commit()?)
}
