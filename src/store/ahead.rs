//! What a clock that was ahead has written, once it was set back.

use chrono::{DateTime, TimeDelta, Utc};
use rusqlite::{Connection, Row, params};

use super::claim::slot;
use super::columns::{instant, ms, outcome};
use super::fault::Fault;
use super::{deferral, guard_row};
use crate::engine::keep;
use crate::engine::ports::Claim;
use crate::guard::Guard;
use crate::outcome::Outcome;

/// Moves the starts of schedules ahead.
pub(super) fn skip(store: &Connection, starts: &[(String, DateTime<Utc>)]) -> Result<(), Fault> {
    let mut update = store
        .prepare_cached("UPDATE schedules SET starts_at = max(starts_at, ?2) WHERE name = ?1")?;
    for (name, start) in starts {
        update.execute(params![name, ms(*start)])?;
    }
    Ok(())
}

/// Sets the watermark back, to before the slots that are to be decided anew, and lets waiting work go.
/// Holds and breakers are set back too.
pub(super) fn rewind(store: &Connection, now: DateTime<Utc>) -> Result<(), Fault> {
    let mut ahead = store.prepare_cached(
        "SELECT fire_at, claimed_at, outcome, reason FROM slots WHERE claimed_at > ?1 AND fire_at <= ?1",
    )?;
    let mut watermark = now;
    for row in ahead.query_and_then([ms(now)], decode)? {
        let known = row?;
        if keep::is_void(known.claimed_at, known.outcome.as_ref(), now) {
            watermark = watermark.min(known.fire_at - TimeDelta::seconds(1));
        }
    }
    store.execute("UPDATE meta SET watermark = ?1", [ms(watermark)])?;
    for (group, _) in guard_row::all(store)? {
        guard_row::change(store, &group, now, Guard::set_back)?;
    }
    let mut free =
        store.prepare_cached("UPDATE deferrals SET not_before = ?2, to_at = NULL WHERE id = ?1")?;
    for waiting in deferral::pending(store)? {
        if keep::is_freed_by_rewind(&waiting, now) {
            free.execute(params![waiting.id, ms(now)])?;
        }
    }
    Ok(())
}

/// Takes back the record of a slot that may be claimed anew; whether it was one.
pub(super) fn take_back(
    store: &Connection,
    claim: &Claim,
    now: DateTime<Utc>,
) -> Result<bool, Fault> {
    let Some(record) = slot(store, &claim.slot)? else {
        return Ok(false);
    };
    if !keep::is_void(record.claimed_at, record.outcome.as_ref(), now) {
        return Ok(false);
    }
    let of_slot = (claim.slot.job.as_str(), ms(claim.slot.fire_at));
    let mut runs =
        store.prepare_cached("SELECT count(*) FROM runs WHERE job = ?1 AND fire_at = ?2")?;
    if runs.query_row(of_slot, |row| row.get::<_, i64>(0))? != 1 {
        return Ok(false);
    }
    for table in ["deferrals", "runs", "slots"] {
        let delete = format!("DELETE FROM {table} WHERE job = ?1 AND fire_at = ?2");
        store.prepare_cached(&delete)?.execute(of_slot)?;
    }
    Ok(true)
}

/// A slot on record.
struct Known {
    fire_at: DateTime<Utc>,
    claimed_at: DateTime<Utc>,
    outcome: Option<Outcome>,
}

fn decode(row: &Row<'_>) -> Result<Known, Fault> {
    Ok(Known {
        fire_at: instant(row, "fire_at")?,
        claimed_at: instant(row, "claimed_at")?,
        outcome: outcome(row)?,
    })
}
