//! Message batches: what was handed in by runs that stay open until the results are there.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use rusqlite::{Connection, Row, params};

use super::columns::{count_or_none, get, instant, ms, origin, word};
use super::fault::Fault;
use super::{call, deferral, delivery};
use crate::answer::Answer;
use crate::engine::ports::{Brought, HandedIn, OpenBatch, Role};
use crate::job::{JobId, KeyId};
use crate::money::Dollars;
use crate::outcome::RunId;
use crate::piece::CallName;
use crate::slot::Slot;

/// Takes down a batch that was taken in.
pub(super) fn hand_in(store: &Connection, run: RunId, batch: &HandedIn) -> Result<(), Fault> {
    let mut insert = store.prepare_cached(
        "INSERT INTO batches (run, id, key, expires_at, look_at, looks) VALUES (?1, ?2, ?3, ?4, ?5, 0)",
    )?;
    insert.execute(params![
        run.0,
        batch.id,
        batch.key.as_str(),
        ms(batch.expires_at),
        ms(batch.look_at)
    ])?;
    let mut part =
        store.prepare_cached("INSERT INTO batch_parts (run, n, item) VALUES (?1, ?2, ?3)")?;
    for (at, item) in batch.parts.iter().enumerate() {
        let n = i64::try_from(at + 1).unwrap_or(i64::MAX);
        part.execute(params![run.0, n, item.as_deref()])?;
    }
    Ok(())
}

/// The batches whose runs are open.
pub(super) fn open(store: &Connection) -> Result<Vec<OpenBatch>, Fault> {
    let mut select = store.prepare_cached(
        "SELECT b.run, b.id, b.key, b.expires_at, b.look_at, b.looks, r.job, r.fire_at, r.origin
         FROM runs r JOIN batches b ON b.run = r.id WHERE r.outcome IS NULL ORDER BY b.look_at, b.run",
    )?;
    let found = select.query_and_then([], |row| decode(store, row))?;
    found.collect()
}

/// Takes down that a batch was looked at.
pub(super) fn looked(store: &Connection, run: RunId, next: DateTime<Utc>) -> Result<(), Fault> {
    store
        .prepare_cached("UPDATE batches SET looks = looks + 1, look_at = ?2 WHERE run = ?1")?
        .execute(params![run.0, ms(next)])?;
    Ok(())
}

/// Takes down an answer that came with a batch, once.
pub(super) fn collect(
    store: &Connection,
    (run, name): (RunId, &CallName),
    (answer, role, cost): (&Answer, Role, Option<Dollars>),
    now: DateTime<Utc>,
) -> Result<(), Fault> {
    if call::find(store, run, name)?.is_some() {
        return Ok(());
    }
    let id = call::open(store, run, name, Some(&answer.model))?;
    call::answer(store, id, Brought { answer, role })?;
    if let Some(cost) = cost {
        call::cost(store, id, cost)?;
    }
    match role {
        Role::Owed => delivery::owe(store, id, now),
        Role::Step | Role::Whole | Role::Part => Ok(()),
    }
}

fn decode(store: &Connection, row: &Row<'_>) -> Result<OpenBatch, Fault> {
    let run = RunId(get(row, "run")?);
    Ok(OpenBatch {
        run,
        slot: Slot {
            fire_at: instant(row, "fire_at")?,
            job: JobId::new(get::<String>(row, "job")?),
        },
        origin: word(row, "origin", origin)?,
        carried: deferral::carried_by(store, run)?,
        looks: count_or_none(row, "looks")?.unwrap_or_default(),
        batch: HandedIn {
            id: get(row, "id")?,
            key: KeyId::new(get::<String>(row, "key")?),
            expires_at: instant(row, "expires_at")?,
            look_at: instant(row, "look_at")?,
            parts: parts(store, run)?,
        },
    })
}

fn parts(store: &Connection, run: RunId) -> Result<Vec<Option<Arc<str>>>, Fault> {
    let mut select =
        store.prepare_cached("SELECT item FROM batch_parts WHERE run = ?1 ORDER BY n")?;
    let found = select.query_and_then([run.0], |row| {
        Ok(get::<Option<String>>(row, "item")?.map(Arc::from))
    })?;
    found.collect()
}
