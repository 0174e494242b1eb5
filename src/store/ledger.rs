//! All rows at one moment, for the audit.

use rusqlite::{Connection, ErrorCode, Row};

use super::columns::{get, instant, outcome};
use super::fault::Fault;
use super::history::{self, HistoryFilter};
use super::{claim, deferral, guard_row};
use crate::engine::audit::{Ledger, ScheduleRow};
use crate::job::JobId;
use crate::outcome::Outcome;
use crate::slot::Slot;

/// Reads everything; the caller's transaction makes it one moment.
pub(super) fn ledger(store: &Connection) -> Result<Ledger, Fault> {
    Ok(Ledger {
        watermark: claim::watermark(store)?,
        schedules: schedules(store)?,
        slots: rows(
            store,
            "SELECT job, fire_at, outcome, reason FROM slots",
            slot,
        )?,
        runs: history::runs(store, &HistoryFilter::default())?,
        deferrals: deferral::all(store)?,
        guards: guard_row::all(store)?,
    })
}

/// The schedules on record.
pub(super) fn schedules(store: &Connection) -> Result<Vec<ScheduleRow>, Fault> {
    let select = "SELECT name, fingerprint, starts_at FROM schedules";
    rows(store, select, schedule)
}

/// What the library says of the file's pages and indices; empty is good.
pub(super) fn damage(store: &Connection) -> Result<Vec<String>, Fault> {
    let mut said = Vec::new();
    match ask(store, &mut said) {
        // A table whose first page is damaged ends the check itself, before or after it has said something.
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseCorrupt) => {
            said.push(error.to_string());
        }
        done => done?,
    }
    said.retain(|line| line != "ok");
    Ok(said)
}

fn ask(store: &Connection, said: &mut Vec<String>) -> rusqlite::Result<()> {
    let mut check = store.prepare("PRAGMA integrity_check(20)")?;
    let mut rows = check.query([])?;
    while let Some(row) = rows.next()? {
        said.push(row.get(0)?);
    }
    Ok(())
}

fn rows<T>(
    store: &Connection,
    select: &str,
    decode: fn(&Row<'_>) -> Result<T, Fault>,
) -> Result<Vec<T>, Fault> {
    store.prepare(select)?.query_and_then([], decode)?.collect()
}

fn schedule(row: &Row<'_>) -> Result<ScheduleRow, Fault> {
    Ok(ScheduleRow {
        name: get(row, "name")?,
        fingerprint: get(row, "fingerprint")?,
        starts_at: instant(row, "starts_at")?,
    })
}

fn slot(row: &Row<'_>) -> Result<(Slot, Option<Outcome>), Fault> {
    let slot = Slot {
        fire_at: instant(row, "fire_at")?,
        job: JobId::new(get::<String>(row, "job")?),
    };
    Ok((slot, outcome(row)?))
}
