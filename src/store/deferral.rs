//! Deferrals: the durable rows that wait for a slot.

use chrono::{DateTime, Utc};
use rusqlite::{Connection, Params, Row, named_params, params};

use super::columns::{
    count_or_none, deferral_state, get, instant, instant_or_none, ms, ms_up, origin, rule,
    rule_word, word, yield_reason,
};
use super::fault::Fault;
use super::run::{self, Ended, Start};
use super::{pause, pieces};
use crate::engine::keep::{self, DeferralRecord, DeferralState};
use crate::engine::ports::{Deferral, NewDeferral, PickupAt, Taken};
use crate::job::{GroupId, JobId};
use crate::outcome::{Outcome, RunId, SkipReason};
use crate::slot::Slot;

const SELECT: &str = "
    SELECT id, job, fire_at, grp, model, state, not_before, to_at, carries, rule, reason, origin, run, ended_at
    FROM deferrals";

/// Work that somebody has still to do.
const OPEN: &str = "state IN ('pending', 'running')";

/// The pending deferrals by `not_before`.
pub(super) fn pending(store: &Connection) -> Result<Vec<Deferral>, Fault> {
    let found = select(store, "state = 'pending' ORDER BY not_before, id", [])?;
    Ok(found.into_iter().map(|(deferral, _)| deferral).collect())
}

/// Every deferral, oldest row first.
pub(super) fn all(store: &Connection) -> Result<Vec<DeferralRecord>, Fault> {
    let mut statement = store.prepare_cached(&format!("{SELECT} ORDER BY id"))?;
    let record = |row: &Row<'_>| {
        Ok(DeferralRecord {
            deferral: decode(row)?.0,
            state: word(row, "state", deferral_state)?,
            run: get::<Option<i64>>(row, "run")?.map(RunId),
            ended_at: instant_or_none(row, "ended_at")?,
        })
    };
    statement.query_and_then([], record)?.collect()
}

/// Takes the oldest pending deferral that this slot may carry, and starts its run.
pub(super) fn take(
    store: &Connection,
    pickup: PickupAt<'_>,
    now: DateTime<Utc>,
) -> Result<Option<Taken>, Fault> {
    let waiting = select(
        store,
        "state = 'pending' AND grp = ?1 ORDER BY fire_at, id",
        [pickup.group.as_str()],
    )?;
    let pauses = pause::all(store)?;
    let Some((deferral, model)) = waiting
        .into_iter()
        .find(|(deferral, _)| pickup.takes(deferral, &pauses, now))
    else {
        return Ok(None);
    };
    let run = start(store, &deferral, model, now)?;
    set_state(store, deferral.id, DeferralState::Running, Some(run))?;
    Ok(Some(Taken { deferral, run }))
}

/// Ends the pending deferrals that make the same call as a slot that fires or is caught up.
pub(super) fn merge_into(
    store: &Connection,
    by: RunId,
    slot: &Slot,
    now: DateTime<Utc>,
) -> Result<(), Fault> {
    let waiting = select(
        store,
        "state = 'pending' AND job = ?1 ORDER BY fire_at, id",
        [slot.job.as_str()],
    )?;
    for (deferral, model) in waiting {
        let parts = pieces::parts(store, &deferral.slot)?;
        if !keep::makes_same_call(slot, &deferral, parts) {
            continue;
        }
        let (outcome, note) = (
            Outcome::Skipped(SkipReason::Merged),
            Some(keep::merged_note(slot)),
        );
        let ended = Ended { outcome, note, now };
        end_unsent(store, &deferral, model, &ended)?;
        set_state(store, deferral.id, DeferralState::Merged, Some(by))?;
    }
    Ok(())
}

/// Ends a pending deferral with a run that sends nothing; what it has become is still to be set.
pub(super) fn end_unsent(
    store: &Connection,
    deferral: &Deferral,
    model: String,
    ended: &Ended,
) -> Result<RunId, Fault> {
    let run = start(store, deferral, model, ended.now)?;
    run::close(store, run, ended)?;
    pieces::close_rest(store, (run, &deferral.slot), &ended.outcome, ended.now)?;
    set_ended_at(store, deferral.id, ended.now)?;
    Ok(run)
}

/// The open deferrals of a job with its model and where each stands, oldest row first.
pub(super) fn open_of(
    store: &Connection,
    job: &JobId,
) -> Result<Vec<(Deferral, String, DeferralState)>, Fault> {
    let mut statement =
        store.prepare_cached(&format!("{SELECT} WHERE {OPEN} AND job = ?1 ORDER BY id"))?;
    let record = |row: &Row<'_>| {
        let (deferral, model) = decode(row)?;
        Ok((deferral, model, word(row, "state", deferral_state)?))
    };
    statement.query_and_then([job.as_str()], record)?.collect()
}

/// The deferral that a run carries.
pub(super) fn carried_by(store: &Connection, run: RunId) -> Result<Option<Deferral>, Fault> {
    let found = select(store, "state = 'running' AND run = ?1", [run.0])?;
    Ok(found.into_iter().next().map(|(deferral, _)| deferral))
}

/// Writes the work that a run leaves: into the row that it carried, or into a new one.
pub(super) fn write(
    store: &Connection,
    run: RunId,
    wait: &NewDeferral,
    now: DateTime<Utc>,
) -> Result<(), Fault> {
    let mut next = store.prepare_cached(
        "UPDATE runs SET next_not_before = ?2, next_at = ?3, next_carries = ?4 WHERE id = ?1",
    )?;
    next.execute(params![
        run.0,
        ms_up(wait.not_before),
        wait.to.map(ms),
        wait.carries
    ])?;
    match carried_by(store, run)? {
        Some(carried) => rewrite(store, carried.id, wait),
        None => insert(store, run, wait, now),
    }
}

fn rewrite(store: &Connection, id: i64, wait: &NewDeferral) -> Result<(), Fault> {
    let mut update = store.prepare_cached(
        "UPDATE deferrals SET state = 'pending', run = NULL, not_before = :not_before, to_at = :to_at,
           carries = :carries, rule = :rule, reason = :reason, origin = :origin
         WHERE id = :id",
    )?;
    update.execute(named_params! {
        ":id": id,
        ":not_before": ms_up(wait.not_before),
        ":to_at": wait.to.map(ms),
        ":carries": wait.carries,
        ":rule": rule_word(wait.rule),
        ":reason": wait.reason.as_str(),
        ":origin": wait.origin.as_str(),
    })?;
    Ok(())
}

fn insert(
    store: &Connection,
    run: RunId,
    wait: &NewDeferral,
    now: DateTime<Utc>,
) -> Result<(), Fault> {
    let mut insert = store.prepare_cached(
        "INSERT INTO deferrals
           (job, fire_at, grp, model, state, not_before, to_at, carries, rule, reason, origin, created_at)
         SELECT job, fire_at, grp, model, 'pending', :not_before, :to_at, :carries, :rule, :reason, :origin, :now
         FROM runs WHERE id = :run",
    )?;
    insert.execute(named_params! {
        ":run": run.0,
        ":not_before": ms_up(wait.not_before),
        ":to_at": wait.to.map(ms),
        ":carries": wait.carries,
        ":rule": rule_word(wait.rule),
        ":reason": wait.reason.as_str(),
        ":origin": wait.origin.as_str(),
        ":now": ms(now),
    })?;
    Ok(())
}

/// Ends a deferral with the run that carried it.
pub(super) fn end(
    store: &Connection,
    id: i64,
    state: DeferralState,
    now: DateTime<Utc>,
) -> Result<(), Fault> {
    store
        .prepare_cached("UPDATE deferrals SET state = ?2 WHERE id = ?1")?
        .execute(params![id, state.as_str()])?;
    set_ended_at(store, id, now)
}

/// Sets where a deferral stands.
pub(super) fn set_state(
    store: &Connection,
    id: i64,
    state: DeferralState,
    run: Option<RunId>,
) -> Result<(), Fault> {
    let mut update =
        store.prepare_cached("UPDATE deferrals SET state = ?2, run = ?3 WHERE id = ?1")?;
    update.execute(params![id, state.as_str(), run.map(|run| run.0)])?;
    Ok(())
}

fn set_ended_at(store: &Connection, id: i64, now: DateTime<Utc>) -> Result<(), Fault> {
    store
        .prepare_cached("UPDATE deferrals SET ended_at = ?2 WHERE id = ?1")?
        .execute(params![id, ms(now)])?;
    Ok(())
}

fn start(
    store: &Connection,
    deferral: &Deferral,
    model: String,
    now: DateTime<Utc>,
) -> Result<RunId, Fault> {
    let start = Start {
        slot: deferral.slot.clone(),
        group: deferral.group.clone(),
        model,
        origin: deferral.wait.origin,
        now,
        lease_until: None,
    };
    run::start(store, &start)
}

/// The open deferrals that meet a condition, each with the job's model. The history may hold many that have ended: the
/// words of [`OPEN`] are those of the index, which leads past them.
fn select(
    store: &Connection,
    condition: &str,
    values: impl Params,
) -> Result<Vec<(Deferral, String)>, Fault> {
    let mut statement = store.prepare_cached(&format!("{SELECT} WHERE {OPEN} AND {condition}"))?;
    statement.query_and_then(values, decode)?.collect()
}

fn decode(row: &Row<'_>) -> Result<(Deferral, String), Fault> {
    let wait = NewDeferral {
        not_before: instant(row, "not_before")?,
        to: instant_or_none(row, "to_at")?,
        carries: count_or_none(row, "carries")?.unwrap_or_default(),
        rule: word(row, "rule", rule)?,
        reason: word(row, "reason", yield_reason)?,
        origin: word(row, "origin", origin)?,
    };
    let slot = Slot {
        fire_at: instant(row, "fire_at")?,
        job: JobId::new(get::<String>(row, "job")?),
    };
    let group = GroupId::new(get::<String>(row, "grp")?);
    Ok((
        Deferral {
            id: get(row, "id")?,
            slot,
            group,
            wait,
        },
        get(row, "model")?,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::SqliteStore;

    /// Each claim of a wake-up asked for its job's open work and read every deferral that had ever ended for it.
    #[test]
    fn open_work_is_found_by_its_index_whatever_has_ended() {
        let folder = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(folder.path()).unwrap();
        let store = rusqlite::Connection::open(store.path()).unwrap();
        for condition in [
            "state = 'pending' ORDER BY not_before, id",
            "state = 'pending' AND job = 'a' ORDER BY fire_at, id",
            "state = 'pending' AND grp = 'a' ORDER BY fire_at, id",
            "state = 'running' AND run = 7",
        ] {
            let explained = format!("EXPLAIN QUERY PLAN {SELECT} WHERE {OPEN} AND {condition}");
            let step: String = store
                .query_row(&explained, [], |row| row.get("detail"))
                .unwrap();
            let is_direct = ["INDEX deferrals_open", "INDEX deferrals_by_run (run=?)"]
                .iter()
                .any(|way| step.contains(way));
            assert!(is_direct, "{condition}: {step}");
        }
    }
}
