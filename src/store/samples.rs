//! Rows for a report: a million attempts go by in one pass over each table, and nothing but their figures is kept.
//!
//! Attempts are read on a second connection beside the runs and calls, if it sees the same moment of the store.

mod beside;

use std::sync::mpsc::channel;

use chrono::{DateTime, TimeDelta, Utc};
use rusqlite::types::{FromSql, ValueRef};
use rusqlite::{Connection, Row, Transaction};

use super::columns::{class, ms, yield_reason};
use super::fault::Fault;
use super::open::SqliteStore;
use crate::answer::Usage;
use crate::engine::ports::StoreError;
use crate::money::Dollars;
use crate::outcome::{Class, Outcome, RunId};
use crate::report::{AttemptFact, Attempts, CallFact, EndFact, MergeFact, RunFact, Scope, Tally};

/// Work due in the span may be done so much later: deferrals that wait longer are told as not done.
const AFTER: TimeDelta = TimeDelta::days(31);

/// Runs that stood beside those of the span.
const BEFORE: TimeDelta = TimeDelta::hours(1);

/// A run begins when it is due or later, but for a clock that was set back between.
const SET_BACK: TimeDelta = TimeDelta::days(1);

/// Columns are read by number: by name costs more than the row.
const RUNS: &str = "
    SELECT id, job, grp, model, fire_at, started_at, finished_at, outcome, reason, next_not_before
    FROM runs WHERE started_at >= ?1 AND started_at < ?2 AND fire_at >= ?3 AND fire_at < ?2";

/// The least and the greatest id of them and some more, from the index alone.
const RUN_RANGE: &str =
    "SELECT min(id), max(id) FROM runs WHERE started_at >= ?1 AND started_at < ?2";

const CALL_RANGE: &str = "SELECT min(id), max(id) FROM calls WHERE run BETWEEN ?1 AND ?2";

const MERGES: &str = "
    SELECT d.job, d.fire_at, r.fire_at FROM deferrals d JOIN runs r ON r.id = d.run
    WHERE d.state = 'merged' AND d.fire_at >= ?1 AND d.fire_at < ?2";

const CALLS: &str = "
    SELECT id, run, step, model, stop_reason IS NOT NULL, input_tokens, cache_write_5m_tokens,
      cache_write_1h_tokens, cache_read_tokens, output_tokens, web_searches, cost_usd
    FROM calls WHERE id BETWEEN ?1 AND ?2";

const ATTEMPTS: &str = "
    SELECT call, n, started_at, latency_ms, first_byte_ms, class, status, error_type, input_tokens IS NOT NULL
    FROM attempts WHERE call BETWEEN ?1 AND ?2 ORDER BY call, n";

impl SqliteStore {
    /// Gives every row that a report needs to a tally, at one moment of the store.
    ///
    /// # Errors
    ///
    /// A [`StoreError`] if the file cannot be read, or holds what no version up to this one writes.
    pub async fn tally(&self, tally: Tally) -> Result<Tally, StoreError> {
        let open = self.reader();
        let read = move |store: &Transaction<'_>| match beside::same_moment(store, &open) {
            Some(mut other) => read_by_two(store, &mut other, tally),
            None => read(store, tally),
        };
        self.worker.read(read).await
    }
}

/// From when to when runs begin that a report asks for, and from when on their work is due.
#[derive(Clone, Copy)]
struct Span([i64; 3]);

impl Span {
    fn of(scope: &Scope) -> Self {
        let earlier = |span| {
            let since = scope.since.checked_sub_signed(span);
            since.unwrap_or(DateTime::<Utc>::MIN_UTC)
        };
        let latest = scope.until.checked_add_signed(AFTER);
        let latest = latest.unwrap_or(DateTime::<Utc>::MAX_UTC);
        Self([ms(earlier(SET_BACK)), ms(latest), ms(earlier(BEFORE))])
    }
}

/// Reads one table after the other.
fn read(store: &Connection, mut tally: Tally) -> Result<Tally, Fault> {
    let range = call_range(store, Span::of(tally.scope()))?;
    runs(store, &mut tally)?;
    if let Some(range) = range {
        calls(store, range, &mut tally)?;
        tally.attempts(attempts(store, range)?);
    }
    Ok(tally)
}

/// Reads runs and calls here, and attempts on the other connection meanwhile.
fn read_by_two(
    store: &Connection,
    other: &mut Connection,
    mut tally: Tally,
) -> Result<Tally, Fault> {
    let span = Span::of(tally.scope());
    let (tell, told) = channel();
    let found = std::thread::scope(|scope| {
        let beside = scope.spawn(move || {
            let Some(range) = call_range(other, span)? else {
                return Ok(None);
            };
            // Nobody listens if reading failed there, which is told there.
            let _ = tell.send(range);
            attempts(other, range).map(Some)
        });
        runs(store, &mut tally)?;
        // Nothing comes if there is no call, or if reading failed there.
        if let Ok(range) = told.recv() {
            calls(store, range, &mut tally)?;
        }
        beside
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })?;
    if let Some(found) = found {
        tally.attempts(found);
    }
    Ok(tally)
}

fn runs(store: &Connection, tally: &mut Tally) -> Result<(), Fault> {
    let scope = tally.scope();
    let since = ms(scope.since);
    let Span(span) = Span::of(scope);
    let [_, latest, _] = span;
    each(store, RUNS, span, |row| run(row, tally))?;
    tally.runs_end();
    // The later slot may have merged into another, so these reach as far as the runs.
    each(store, MERGES, (since, latest), |row| {
        tally.merge(&MergeFact {
            job: text(row, 0)?,
            fire_at: at(row, 1)?,
            into: at(row, 2)?,
        });
        Ok(())
    })
}

fn calls(store: &Connection, range: (i64, i64), tally: &mut Tally) -> Result<(), Fault> {
    each(store, CALLS, range, |row| call(row, tally))?;
    tally.calls_end();
    Ok(())
}

/// The range of the calls of the runs in a span, before any of them was read.
fn call_range(
    store: &Connection,
    Span([from, until, _]): Span,
) -> Result<Option<(i64, i64)>, Fault> {
    let range = |select, values: (i64, i64)| -> Result<Option<(i64, i64)>, Fault> {
        let mut select = store.prepare_cached(select)?;
        let ends = select.query_row(values, |row| Ok((row.get(0)?, row.get(1)?)))?;
        let (first, last): (Option<i64>, Option<i64>) = ends;
        Ok(first.zip(last))
    };
    match range(RUN_RANGE, (from, until))? {
        Some(runs) => range(CALL_RANGE, runs),
        None => Ok(None),
    }
}

/// The attempts of the calls in this range.
fn attempts(store: &Connection, range: (i64, i64)) -> Result<Attempts, Fault> {
    let mut attempts = Attempts::of(range.0);
    each(store, ATTEMPTS, range, |row| {
        attempts.take(&attempt(row)?);
        Ok(())
    })?;
    Ok(attempts)
}

fn each(
    store: &Connection,
    select: &str,
    values: impl rusqlite::Params,
    mut take: impl FnMut(&Row<'_>) -> Result<(), Fault>,
) -> Result<(), Fault> {
    let mut statement = store.prepare_cached(select)?;
    let mut rows = statement.query(values)?;
    while let Some(row) = rows.next()? {
        take(row)?;
    }
    Ok(())
}

fn run(row: &Row<'_>, tally: &mut Tally) -> Result<(), Fault> {
    tally.run(&RunFact {
        id: RunId(get(row, 0)?),
        job: text(row, 1)?,
        group: text(row, 2)?,
        model: text(row, 3)?,
        fire_at: at(row, 4)?,
        started_at: at(row, 5)?,
        finished_at: at_or_none(row, 6)?,
        outcome: outcome(row)?,
        is_deferred: !is_null(row, 9)?,
    });
    Ok(())
}

fn call(row: &Row<'_>, tally: &mut Tally) -> Result<(), Fault> {
    let model = text_or_none(row, 3)?;
    let cost: Option<f64> = get(row, 11)?;
    tally.call(&CallFact {
        id: get(row, 0)?,
        run: RunId(get(row, 1)?),
        is_errand: get::<i64>(row, 2)? == 0,
        model,
        is_answered: get(row, 4)?,
        usage: usage(row)?,
        cost: cost.and_then(Dollars::from_f64),
    });
    Ok(())
}

fn attempt<'r>(row: &'r Row<'_>) -> Result<AttemptFact<'r>, Fault> {
    Ok(AttemptFact {
        call: get(row, 0)?,
        n: whole(get(row, 1)?, "n")?,
        started_at: at(row, 2)?,
        end: match get::<Option<i64>>(row, 3)? {
            Some(total) => Some(end(row, total)?),
            None => None,
        },
    })
}

fn end<'r>(row: &'r Row<'_>, total: i64) -> Result<EndFact<'r>, Fault> {
    let total_ms = whole(total, "latency_ms")?;
    let first = get::<Option<i64>>(row, 4)?;
    let first_byte_ms = first.map(|first| whole(first, "first_byte_ms"));
    let class = known_class(row)?;
    // What an answer came with says no more about it, and is not read a million times.
    let status = match class {
        Some(Class::Success) => None,
        Some(Class::Retryable | Class::Fatal) | None => get::<Option<i64>>(row, 6)?,
    };
    let error_type = match (class, status) {
        (Some(Class::Success), _) | (_, Some(300..)) => None,
        (_, _) => text_or_none(row, 7)?,
    };
    Ok(EndFact {
        total_ms,
        first_byte_ms: first_byte_ms.transpose()?,
        class,
        status: status.map(|status| whole(status, "status")).transpose()?,
        error_type,
        is_counted: get(row, 8)?,
    })
}

/// All counters are written together, so one that is there vouches for the rest.
fn usage(row: &Row<'_>) -> Result<Option<Usage>, Fault> {
    let Some(input) = get::<Option<i64>>(row, 5)? else {
        return Ok(None);
    };
    let tokens = |column: usize, name: &str| -> Result<u64, Fault> {
        whole(get::<Option<i64>>(row, column)?.unwrap_or_default(), name)
    };
    Ok(Some(Usage {
        input_tokens: whole(input, "input_tokens")?,
        cache_write_5m_tokens: tokens(6, "cache_write_5m_tokens")?,
        cache_write_1h_tokens: tokens(7, "cache_write_1h_tokens")?,
        cache_read_tokens: tokens(8, "cache_read_tokens")?,
        output_tokens: tokens(9, "output_tokens")?,
        web_searches: tokens(10, "web_searches")?,
        ..Usage::default()
    }))
}

fn outcome(row: &Row<'_>) -> Result<Option<Outcome>, Fault> {
    let Some(word) = text_or_none(row, 7)? else {
        return Ok(None);
    };
    // The most frequent first, which has no reason: a run is read a million times.
    if word == "succeeded" {
        return Ok(Some(Outcome::Succeeded));
    }
    let reason = text_or_none(row, 8)?;
    let known = match (word, reason) {
        ("yielded", Some(reason)) => yield_reason(reason).map(Outcome::Yielded),
        (word, reason) => Outcome::from_words(word, reason),
    };
    let odd = || Fault::odd("outcome", format!("{word}: {}", reason.unwrap_or_default()));
    known.ok_or_else(odd).map(Some)
}

fn known_class(row: &Row<'_>) -> Result<Option<Class>, Fault> {
    let word = text_or_none(row, 5)?;
    word.map(|word| class(word).ok_or_else(|| Fault::odd("class", word)))
        .transpose()
}

fn get<T: FromSql>(row: &Row<'_>, column: usize) -> Result<T, Fault> {
    Ok(row.get(column)?)
}

fn is_null(row: &Row<'_>, column: usize) -> Result<bool, Fault> {
    Ok(row.get_ref(column)? == ValueRef::Null)
}

fn text<'r>(row: &'r Row<'_>, column: usize) -> Result<&'r str, Fault> {
    Ok(row
        .get_ref(column)?
        .as_str()
        .map_err(rusqlite::Error::from)?)
}

fn text_or_none<'r>(row: &'r Row<'_>, column: usize) -> Result<Option<&'r str>, Fault> {
    Ok(row
        .get_ref(column)?
        .as_str_or_null()
        .map_err(rusqlite::Error::from)?)
}

fn at(row: &Row<'_>, column: usize) -> Result<DateTime<Utc>, Fault> {
    instant(get(row, column)?)
}

fn at_or_none(row: &Row<'_>, column: usize) -> Result<Option<DateTime<Utc>>, Fault> {
    let ms: Option<i64> = get(row, column)?;
    ms.map(instant).transpose()
}

fn instant(ms: i64) -> Result<DateTime<Utc>, Fault> {
    DateTime::from_timestamp_millis(ms).ok_or_else(|| Fault::odd("an instant", ms))
}

fn whole<T: TryFrom<i64>>(number: i64, column: &str) -> Result<T, Fault> {
    T::try_from(number).map_err(|_| Fault::odd(column, number))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a statement looks through.
    fn steps(store: &Connection, statement: &str) -> Vec<String> {
        let mut explain = store
            .prepare(&format!("EXPLAIN QUERY PLAN {statement}"))
            .unwrap();
        // A plan needs no values.
        let steps = explain.raw_query().mapped(|row| row.get("detail"));
        steps.collect::<Result<_, _>>().unwrap()
    }

    #[test]
    fn rows_are_read_by_an_index_and_sorted_nowhere() {
        let folder = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(folder.path()).unwrap();
        let store = Connection::open(store.path()).unwrap();
        for (statement, way) in [
            (RUNS, "INDEX runs_by_start"),
            (RUN_RANGE, "COVERING INDEX runs_by_start"),
            (CALL_RANGE, "COVERING INDEX calls_by_name"),
            (CALLS, "INTEGER PRIMARY KEY"),
            (ATTEMPTS, "PRIMARY KEY"),
        ] {
            let steps = steps(&store, statement);
            assert!(
                steps.iter().any(|step| step.contains(way)),
                "{way}: {steps:?}"
            );
            let sorts = steps.iter().any(|step| step.contains("TEMP B-TREE"));
            assert!(!sorts, "{steps:?}");
        }
    }

    /// Runs of two jobs, of which every other was sent twice.
    const ROWS: &str = "
        WITH RECURSIVE n (id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n WHERE id < 60)
        INSERT INTO runs (id, job, fire_at, origin, grp, model, started_at, finished_at, outcome)
        SELECT id, 'job-' || id % 2, id * 60000, 'scheduled', 'main', 'm', id * 60000, id * 60000 + 900, 'succeeded' FROM n;
        INSERT INTO calls (id, run, model, stop_reason, input_tokens, cost_usd)
        SELECT id + 1000, id, 'm', 'end_turn', 10, 0.5 FROM runs;
        INSERT INTO attempts (call, n, started_at, wait_ms, latency_ms, first_byte_ms, status, class)
        SELECT c.id, 1, run * 60000, 0, run * 10, 5, 200, 'success' FROM calls c;
        INSERT INTO attempts (call, n, started_at, wait_ms, latency_ms, status, class, error_type)
        SELECT c.id, 2, run * 60000, 0, run * 20, 529, 'retryable', 'overloaded_error' FROM calls c WHERE run % 2 = 0";

    fn tally_of_hour() -> Tally {
        let scope = Scope {
            since: DateTime::UNIX_EPOCH,
            until: DateTime::UNIX_EPOCH + TimeDelta::minutes(50),
            job: None,
            group: None,
        };
        Tally::new(scope, Box::new(|_| false))
    }

    #[test]
    fn two_readers_find_what_one_finds() {
        let folder = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(folder.path()).unwrap();
        let one = Connection::open(store.path()).unwrap();
        one.execute_batch(ROWS).unwrap();
        let mut other = Connection::open(store.path()).unwrap();
        let by_one = read(&one, tally_of_hour()).unwrap().finish();
        let by_two = read_by_two(&one, &mut other, tally_of_hour()).unwrap();
        assert_eq!(by_two.finish(), by_one);
        let total = &by_one.total;
        assert_eq!((total.attempts, total.calls, total.wasted), (73, 49, 24));
    }

    /// Work due in the hour's last minute, merged into a slot after the hour, and that into the next one.
    const TWO_HOPS: &str = "
        INSERT INTO runs (id, job, fire_at, origin, grp, model, started_at, finished_at, outcome, reason)
        SELECT n, 'a', n * 60000, 'scheduled', 'main', 'm', 3060000, 3060000 + 900, word, why FROM (
          SELECT 49 AS n, 'skipped' AS word, 'merged' AS why
          UNION ALL SELECT 50, 'skipped', 'merged' UNION ALL SELECT 51, 'succeeded', NULL);
        INSERT INTO deferrals (job, fire_at, grp, model, state, not_before, carries, rule, reason, origin, created_at, run)
        SELECT 'a', fire_at, 'main', 'm', 'merged', 0, 1, 'next_slot', 'budget', 'scheduled', 0, id + 1
        FROM runs WHERE outcome = 'skipped'";

    #[test]
    fn merged_work_is_followed_over_slots_after_the_span() {
        let folder = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(folder.path()).unwrap();
        let one = Connection::open(store.path()).unwrap();
        one.execute_batch(TWO_HOPS).unwrap();
        let found = read(&one, tally_of_hour()).unwrap().finish();
        let done = found.total.completion;
        assert_eq!((done.due, done.completed), (1, 1));
        assert_eq!(done.max.map(|span| span.as_millis()), Some(120_900));
    }

    #[test]
    fn reader_beside_that_fails_says_so_and_keeps_nobody_waiting() {
        let folder = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(folder.path()).unwrap();
        let one = Connection::open(store.path()).unwrap();
        one.execute_batch(ROWS).unwrap();
        let mut empty = Connection::open_in_memory().unwrap();
        let found = read_by_two(&one, &mut empty, tally_of_hour());
        assert!(
            matches!(found, Err(Fault::Sql(_))),
            "there is no such table"
        );
    }
}
