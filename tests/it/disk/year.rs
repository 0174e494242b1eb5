//! A store with a long history: pruning goes in steps, and the file does not grow for ever.

use std::path::Path;

use chrono::{DateTime, TimeDelta, Utc};
use futures_util::future::{Either, select};
use offpeak::engine::ports::{Store, Tick};
use offpeak::store::{HistoryFilter, SqliteStore};

use super::wait;

fn start() -> DateTime<Utc> {
    "2026-01-01T00:00:00Z".parse().unwrap()
}

fn day(day: i64) -> DateTime<Utc> {
    start() + TimeDelta::days(day)
}

/// Writes so many days of 200 runs each, every tenth with a deferral that is done.
fn fill(folder: &Path, first: i64, days: i64) {
    let (from, until) = (first * 200, (first + days) * 200);
    let zero = start().timestamp_millis();
    let at = format!("({zero} + n * 432000)");
    let numbers = format!(
        "WITH RECURSIVE k(n) AS (SELECT {from} UNION ALL SELECT n + 1 FROM k WHERE n + 1 < {until})"
    );
    let statements = format!(
        "BEGIN;
         INSERT INTO slots (job, fire_at, grp, claimed_at, fate, outcome, closed_at)
           {numbers} SELECT 'job' || (n % 20), {at}, 'main', {at}, 'fire', 'succeeded', {at} + 60000 FROM k;
         INSERT INTO runs (id, job, fire_at, origin, grp, model, started_at, finished_at, outcome, output)
           {numbers} SELECT n + 1, 'job' || (n % 20), {at}, 'scheduled', 'main', 'm', {at}, {at} + 60000,
           'succeeded', 'out/some/file.md' FROM k;
         INSERT INTO calls (id, run, stop_reason) {numbers} SELECT n + 1, n + 1, 'end_turn' FROM k;
         INSERT INTO attempts (call, n, started_at, wait_ms, latency_ms, status, class)
           {numbers} SELECT n + 1, 1, {at}, 0, 60000, 200, 'success' FROM k;
         INSERT INTO deferrals (job, fire_at, grp, model, state, not_before, carries, rule, reason, origin, created_at,
           run, ended_at)
           {numbers} SELECT 'job' || (n % 20), {at}, 'main', 'm', 'done', {at}, 1, 'next_slot', 'budget', 'deferred',
           {at}, n + 1, {at} + 60000 FROM k WHERE n % 10 = 0;
         COMMIT;"
    );
    rusqlite::Connection::open(folder.join("offpeak.db"))
        .unwrap()
        .execute_batch(&statements)
        .unwrap();
}

fn runs(store: &SqliteStore) -> usize {
    wait(store.history(HistoryFilter::default())).unwrap().len()
}

#[test]
fn slot_that_comes_due_is_claimed_between_two_steps_of_the_pruning() {
    // All of it was one transaction, and a slot waited for the end of it.
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(folder.path()).unwrap();
    fill(folder.path(), 0, 10);
    let (now, watermark, slots) = (day(99), day(99), Vec::new());
    let claim = store.claim(Tick {
        now,
        watermark,
        slots,
    });
    let prune = Box::pin(store.prune(day(9)));
    let pruned = wait(async {
        match select(prune, claim).await {
            Either::Right((claimed, prune)) => {
                claimed.unwrap();
                prune.await.unwrap()
            }
            Either::Left(_) => panic!("the claim waited for all of the pruning"),
        }
    });
    assert_eq!(
        (pruned.runs, pruned.deferrals, pruned.slots),
        (1800, 180, 0)
    );
    assert_eq!(runs(&store), 200);
    // Claims go a month later.
    assert_eq!(wait(store.prune(day(40))).unwrap().slots, 1800);
}

#[test]
fn room_of_pruned_rows_is_used_again() {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(folder.path()).unwrap();
    let size = || {
        wait(store.checkpoint()).unwrap();
        std::fs::metadata(folder.path().join("offpeak.db"))
            .unwrap()
            .len()
    };
    let mut sizes = Vec::new();
    for month in 0..4_i64 {
        fill(folder.path(), month * 5, 5);
        let older_than = day(month * 5 + 5) + TimeDelta::days(32);
        sizes.push(size());
        wait(store.prune(older_than)).unwrap();
        assert_eq!(runs(&store), 0);
    }
    let (first, last) = (sizes[0], sizes[3]);
    // Not to the byte: the keys grow, and pages split where they may.
    assert!(last < first + first / 4, "{sizes:?}");
}

#[test]
fn log_is_emptied_once_a_long_reader_is_gone() {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(folder.path()).unwrap();
    let mut reader = rusqlite::Connection::open(store.path()).unwrap();
    let reading = reader.transaction().unwrap();
    let before: i64 = reading
        .query_row("SELECT count(*) FROM runs", [], |row| row.get(0))
        .unwrap();
    assert_eq!(before, 0);
    fill(folder.path(), 0, 1);
    assert!(wait(store.checkpoint()).unwrap() > 0, "it is still read");
    drop(reading);
    assert_eq!(wait(store.checkpoint()).unwrap(), 0);
}

/// Prints how long the steps of a year's history take. Run it alone, built for release.
#[test]
#[ignore = "a measurement"]
#[expect(clippy::print_stdout, reason = "the figures are for a person")]
#[expect(clippy::disallowed_methods, reason = "it measures")]
fn figures_of_a_year() {
    let folder = tempfile::tempdir().unwrap();
    drop(SqliteStore::open(folder.path()).unwrap());
    fill(folder.path(), 0, 400);
    let took = |what: &str, since: std::time::Instant| println!("{what}: {:?}", since.elapsed());
    let clock = std::time::Instant::now;
    let size = std::fs::metadata(folder.path().join("offpeak.db"))
        .unwrap()
        .len();
    println!("80,000 runs: {} MB", size >> 20);
    let since = clock();
    let store = SqliteStore::open(folder.path()).unwrap();
    took("open", since);
    let since = clock();
    wait(store.recover(&[], day(400))).unwrap();
    wait(store.deferrals()).unwrap();
    took("recover and deferrals", since);
    let since = clock();
    let limit = Some(5);
    let filter = HistoryFilter {
        limit,
        ..HistoryFilter::default()
    };
    wait(store.history(filter)).unwrap();
    took("five runs of the history", since);
    let since = clock();
    wait(store.damage()).unwrap();
    took("integrity check", since);
    let since = clock();
    wait(store.prune(day(1))).unwrap();
    took("a day's pruning", since);
    let since = clock();
    let pruned = wait(store.prune(day(370))).unwrap();
    took("a year's pruning", since);
    println!("{pruned:?}");
}
