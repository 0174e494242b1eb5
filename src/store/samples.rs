//! Rows for a report: a million attempts go by in one pass over each table, and nothing but their figures is kept.

use chrono::{DateTime, TimeDelta, Utc};
use rusqlite::types::{FromSql, ValueRef};
use rusqlite::{Connection, Row, params};

use super::columns::{class, ms, yield_reason};
use super::fault::Fault;
use super::open::SqliteStore;
use crate::answer::Usage;
use crate::engine::ports::StoreError;
use crate::money::Dollars;
use crate::outcome::{Class, Outcome, RunId};
use crate::report::{AttemptFact, CallFact, EndFact, MergeFact, RunFact, Tally};

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

const MERGES: &str = "
    SELECT d.job, d.fire_at, r.fire_at FROM deferrals d JOIN runs r ON r.id = d.run
    WHERE d.state = 'merged' AND d.fire_at >= ?1 AND d.fire_at < ?2";

const CALLS: &str = "
    SELECT id, run, step, model, stop_reason IS NOT NULL, input_tokens, cache_write_5m_tokens,
      cache_write_1h_tokens, cache_read_tokens, output_tokens, web_searches, cost_usd
    FROM calls WHERE run BETWEEN ?1 AND ?2 ORDER BY run";

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
        self.worker.read(move |store| read(store, tally)).await
    }
}

fn read(store: &Connection, mut tally: Tally) -> Result<Tally, Fault> {
    let (since, until) = (tally.scope().since, tally.scope().until);
    let earlier = |span| {
        since
            .checked_sub_signed(span)
            .unwrap_or(DateTime::<Utc>::MIN_UTC)
    };
    let latest = until
        .checked_add_signed(AFTER)
        .unwrap_or(DateTime::<Utc>::MAX_UTC);
    let span = params![ms(earlier(SET_BACK)), ms(latest), ms(earlier(BEFORE))];
    each(store, RUNS, span, |row| run(row, &mut tally))?;
    tally.runs_end();
    each(store, MERGES, params![ms(since), ms(until)], |row| {
        tally.merge(&MergeFact {
            job: text(row, 0)?,
            fire_at: at(row, 1)?,
            into: at(row, 2)?,
        });
        Ok(())
    })?;
    let Some((first, last)) = tally.run_range() else {
        return Ok(tally);
    };
    each(store, CALLS, params![first.0, last.0], |row| {
        call(row, &mut tally)
    })?;
    tally.calls_end();
    let Some((first, last)) = tally.call_range() else {
        return Ok(tally);
    };
    each(store, ATTEMPTS, params![first, last], |row| {
        attempt(row, &mut tally)
    })?;
    Ok(tally)
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

fn attempt(row: &Row<'_>, tally: &mut Tally) -> Result<(), Fault> {
    let end = match get::<Option<i64>>(row, 3)? {
        None => None,
        Some(total) => Some(EndFact {
            total_ms: whole(total, "latency_ms")?,
            first_byte_ms: match get::<Option<i64>>(row, 4)? {
                None => None,
                Some(first) => Some(whole(first, "first_byte_ms")?),
            },
            class: known_class(row)?,
            status: match get::<Option<i64>>(row, 6)? {
                None => None,
                Some(status) => Some(whole(status, "status")?),
            },
            error_type: text_or_none(row, 7)?,
            is_counted: get(row, 8)?,
        }),
    };
    tally.attempt(&AttemptFact {
        call: get(row, 0)?,
        n: whole(get(row, 1)?, "n")?,
        started_at: at(row, 2)?,
        end,
    });
    Ok(())
}

/// All counters are written together, so one that is there vouches for the rest.
fn usage(row: &Row<'_>) -> Result<Option<Usage>, Fault> {
    if is_null(row, 5)? {
        return Ok(None);
    }
    let tokens = |column: usize, name: &str| -> Result<u64, Fault> {
        whole(get::<Option<i64>>(row, column)?.unwrap_or_default(), name)
    };
    Ok(Some(Usage {
        input_tokens: tokens(5, "input_tokens")?,
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
    let reason = text_or_none(row, 8)?;
    // The most frequent first: a run is read a million times.
    let known = match (word, reason) {
        ("succeeded", None) => Some(Outcome::Succeeded),
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
    let ms: i64 = get(row, column)?;
    DateTime::from_timestamp_millis(ms).ok_or_else(|| Fault::odd("an instant", ms))
}

fn at_or_none(row: &Row<'_>, column: usize) -> Result<Option<DateTime<Utc>>, Fault> {
    if is_null(row, column)? {
        return Ok(None);
    }
    at(row, column).map(Some)
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
            (CALLS, "INDEX calls_by_name"),
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
}
