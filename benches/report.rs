//! A report over a million attempts: rows of a store in a temporary folder, to figures and text; and the newest runs of
//! the same store, as `status` and `history` ask for them.
//!
//! The goal is a second and 100 MB, and 30 ms. Half of the runs need a second attempt and more, over fourteen days, in 40 groups and
//! 400 jobs. `peak_memory` prints what the process held at most, the making of the store included.

use std::hint::black_box;
use std::path::Path;

use chrono::{DateTime, Utc};
use divan::Bencher;
use offpeak::job::{GroupId, JobId};
use offpeak::report::{Scope, Tally, View, render_breakdown};
use offpeak::store::{HistoryFilter, SqliteStore};
use rusqlite::Connection;

const RUNS: i64 = 500_000;

/// Attempts of a run: two on the average, so that there are a million.
const ATTEMPTS: [i64; 4] = [1, 1, 3, 3];

const DAYS: i64 = 14;

fn main() {
    divan::main();
}

fn since() -> DateTime<Utc> {
    DateTime::from_timestamp(1_796_000_000, 0).expect("in range")
}

/// Rows as the daemon would have written them.
fn fill(folder: &Path) {
    drop(SqliteStore::open(folder).expect("a new store"));
    let mut store = Connection::open(folder.join("offpeak.db")).expect("the file is there");
    let step = DAYS * 86_400_000 / RUNS;
    let rows = store.transaction().expect("nobody else writes");
    {
        let mut run = rows
            .prepare(
                "INSERT INTO runs (id, job, fire_at, origin, grp, model, started_at, finished_at, outcome)
                 VALUES (?1, ?2, ?3, 'scheduled', ?4, 'claude-sonnet-5-5', ?3, ?3 + 9000, 'succeeded')",
            )
            .expect("the columns are there");
        let mut call = rows
            .prepare(
                "INSERT INTO calls (id, run, model, stop_reason, input_tokens, cache_write_5m_tokens,
                   cache_write_1h_tokens, cache_read_tokens, output_tokens, cost_usd)
                 VALUES (?1, ?1, 'claude-sonnet-5-5', 'end_turn', 14000, 0, 0, ?2, 800, 0.01)",
            )
            .expect("the columns are there");
        let mut attempt = rows
            .prepare(
                "INSERT INTO attempts (call, n, started_at, wait_ms, latency_ms, first_byte_ms, status, class, request_id)
                 VALUES (?1, ?2, ?3, 0, ?4, ?4 / 2, ?5, ?6, 'req_011CVmockmockmockmock')",
            )
            .expect("the columns are there");
        for id in 1..=RUNS {
            let at = since().timestamp_millis() + id * step;
            // The job names its slot: two runs of one job lie 400 steps apart.
            let (job, group) = (
                format!("job-{:03}", id % 400),
                format!("group-{:02}", id % 40),
            );
            run.execute((id, job, at, group)).expect("a new row");
            call.execute((id, id % 3 * 1000)).expect("a new row");
            let attempts = ATTEMPTS[usize::try_from(id % 4).expect("below four")];
            for n in 1..=attempts {
                let (class, status) = if n == attempts {
                    ("success", 200)
                } else {
                    ("retryable", 529)
                };
                // A multiplicative hash: latencies in no order, 0.5 to 60.5 s.
                let latency = 500 + (id * 3 + n) * 2_654_435_761 % 60_000;
                attempt
                    .execute((id, n, at, latency, status, class))
                    .expect("a new row");
            }
        }
    }
    rows.commit().expect("there is room");
}

fn report(store: &SqliteStore) -> String {
    let scope = Scope {
        since: since(),
        until: since() + chrono::TimeDelta::days(DAYS + 1),
        job: None,
        group: None,
    };
    let tally = Tally::new(scope, Box::new(|at| at.timestamp() % 86_400 < 7_200));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .expect("a runtime");
    let tally = runtime
        .block_on(store.tally(tally))
        .expect("the store is sound");
    let report = tally.finish();
    assert_eq!(report.total.attempts, 1_000_000);
    render_breakdown(&report, None, &View::jst(80), &|_| None)
}

#[divan::bench(sample_count = 5, sample_size = 1)]
fn a_million_attempts(bencher: Bencher<'_, '_>) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    fill(folder.path());
    bencher.bench_local(|| {
        let store = SqliteStore::open_read(folder.path()).expect("the store is there");
        report(black_box(&store.expect("it is not empty")))
    });
    tell(&peak_memory());
}

/// Filters of `history`; nothing in the store has the rare outcome.
const FILTERS: [&str; 4] = ["all", "job", "group", "rare outcome"];

#[divan::bench(args = FILTERS, sample_count = 5, sample_size = 1)]
fn the_newest_runs(bencher: Bencher<'_, '_>, by: &str) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    fill(folder.path());
    let filter = HistoryFilter {
        job: (by == "job").then(|| JobId::new("job-007")),
        group: (by == "group").then(|| GroupId::new("group-07")),
        outcome: (by == "rare outcome").then(|| "failed".to_owned()),
        limit: Some(50),
        ..HistoryFilter::default()
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .expect("a runtime");
    bencher.bench_local(|| {
        let store = SqliteStore::open_read(folder.path()).expect("the store is there");
        let store = store.expect("it is not empty");
        let runs = runtime.block_on(store.history(black_box(filter.clone())));
        runs.expect("the store is sound").len()
    });
}

#[expect(
    clippy::print_stdout,
    reason = "a figure that the bench itself does not print"
)]
fn tell(line: &str) {
    println!("{line}");
}

/// What the process held at most, where the system says so.
fn peak_memory() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM"));
    line.unwrap_or("VmHWM: unknown").to_owned()
}
