//! Runs: how they start, end, and are found cut off.

use chrono::{DateTime, Utc};
use rusqlite::{Connection, named_params, params};

use super::columns::{get, instant, ms, origin, outcome, word};
use super::fault::Fault;
use super::{call, deferral, delivery, history, pieces};
use crate::engine::keep::{self, DeferralState, Ending};
use crate::engine::ports::{Brought, Finish, Role};
use crate::job::{GroupId, JobId};
use crate::outcome::{FailReason, Outcome, Run, RunId};
use crate::piece::CallName;
use crate::slot::{Origin, Slot};

/// What a new run starts from.
pub(super) struct Start {
    pub(super) slot: Slot,
    pub(super) group: GroupId,
    pub(super) model: String,
    pub(super) origin: Origin,
    pub(super) now: DateTime<Utc>,
    pub(super) lease_until: Option<DateTime<Utc>>,
}

/// How a run ended.
pub(super) struct Ended {
    pub(super) outcome: Outcome,
    pub(super) note: Option<String>,
    pub(super) now: DateTime<Utc>,
}

impl Ended {
    /// Without a note.
    pub(super) fn plain(outcome: Outcome, now: DateTime<Utc>) -> Self {
        Self {
            outcome,
            note: None,
            now,
        }
    }
}

/// Writes a run that begins.
pub(super) fn start(store: &Connection, start: &Start) -> Result<RunId, Fault> {
    let mut insert = store.prepare_cached(
        "INSERT INTO runs (job, fire_at, origin, grp, model, started_at, lease_until)
         VALUES (:job, :fire_at, :origin, :grp, :model, :started_at, :lease_until)",
    )?;
    insert.execute(named_params! {
        ":job": start.slot.job.as_str(),
        ":fire_at": ms(start.slot.fire_at),
        ":origin": start.origin.as_str(),
        ":grp": start.group.as_str(),
        ":model": start.model,
        ":started_at": ms(start.now),
        ":lease_until": start.lease_until.map(ms),
    })?;
    Ok(RunId(store.last_insert_rowid()))
}

/// Writes a run that a person asked for, as a slot of its own.
pub(super) fn start_manual(store: &Connection, mut asked: Start) -> Result<RunId, Fault> {
    let mut taken =
        store.prepare_cached("SELECT 1 FROM runs WHERE job = ?1 AND fire_at = ?2 LIMIT 1")?;
    let Slot { fire_at, job } = &mut asked.slot;
    *fire_at = keep::manual_instant(*fire_at, |at| taken.exists(params![job.as_str(), ms(at)]))?;
    start(store, &asked)
}

/// Ends a run, and its slot if the run is the slot's own.
pub(super) fn close(store: &Connection, id: RunId, ended: &Ended) -> Result<(), Fault> {
    let (outcome, reason) = (ended.outcome.as_str(), ended.outcome.reason());
    let mut runs = store.prepare_cached(
        "UPDATE runs SET finished_at = ?2, outcome = ?3, reason = ?4, note = ?5 WHERE id = ?1",
    )?;
    runs.execute(params![id.0, ms(ended.now), outcome, reason, ended.note])?;
    let mut slots = store.prepare_cached(
        "UPDATE slots SET closed_at = ?2, outcome = ?3, reason = ?4
         WHERE (job, fire_at) = (SELECT job, fire_at FROM runs WHERE id = ?1 AND origin = ?5)",
    )?;
    slots.execute(params![
        id.0,
        ms(ended.now),
        outcome,
        reason,
        Origin::Scheduled.as_str()
    ])?;
    Ok(())
}

/// Ends a run with all that the engine says about it.
pub(super) fn finish(store: &Connection, finish: &Finish) -> Result<(), Fault> {
    let (origin, known) = state(store, finish.run)?;
    if keep::ending(finish.run, origin, known.as_ref(), &finish.outcome)? == Ending::Keep {
        return Ok(());
    }
    let carried = deferral::carried_by(store, finish.run)?.map(|deferral| deferral.id);
    if let Some(id) = finish.carried
        && carried != Some(id)
    {
        return Err(keep::not_carried(finish.run, id).into());
    }
    let ended = Ended {
        outcome: finish.outcome.clone(),
        note: finish.note.clone(),
        now: finish.now,
    };
    close(store, finish.run, &ended)?;
    write_answer(store, finish)?;
    if let Some(wait) = &finish.deferral {
        return deferral::write(store, finish.run, wait, finish.now);
    }
    let slot = slot(store, finish.run)?;
    pieces::close_rest(store, (finish.run, &slot), &finish.outcome, finish.now)?;
    match carried {
        Some(id) => deferral::end(store, id, DeferralState::after(&finish.outcome), finish.now),
        None => Ok(()),
    }
}

/// The slot that a run works for.
pub(super) fn slot(store: &Connection, id: RunId) -> Result<Slot, Fault> {
    let mut select = store.prepare_cached("SELECT job, fire_at FROM runs WHERE id = ?1")?;
    let mut rows = select.query([id.0])?;
    let row = rows.next()?.ok_or_else(|| keep::no_run(id))?;
    Ok(Slot {
        fire_at: instant(row, "fire_at")?,
        job: JobId::new(get::<String>(row, "job")?),
    })
}

/// A run's origin, and how it ended if it has.
fn state(store: &Connection, id: RunId) -> Result<(Origin, Option<Outcome>), Fault> {
    let mut select =
        store.prepare_cached("SELECT origin, outcome, reason FROM runs WHERE id = ?1")?;
    let mut rows = select.query([id.0])?;
    match rows.next()? {
        Some(row) => Ok((word(row, "origin", origin)?, outcome(row)?)),
        None => Err(keep::no_run(id).into()),
    }
}

fn write_answer(store: &Connection, finish: &Finish) -> Result<(), Fault> {
    let output = finish
        .output
        .as_ref()
        .map(|path| path.to_string_lossy().into_owned());
    store
        .prepare_cached("UPDATE runs SET output = ?2 WHERE id = ?1")?
        .execute(params![finish.run.0, output])?;
    // Recorded with its attempt, unless the store failed then.
    if let Some(answer) = &finish.answer
        && !call::is_answered(store, finish.run)?
    {
        let call = call::open(store, finish.run, &CallName::only(), None)?;
        let role = keep::role(finish);
        call::answer(store, call, Brought { answer, role })?;
        if let Some(cost) = finish.cost_usd {
            call::cost(store, call, cost)?;
        }
        if role == Role::Owed {
            delivery::owe(store, call, finish.now)?;
        }
    }
    match &finish.delivery {
        Some(end) => delivery::end_first(store, (finish.run, None), end, finish.now),
        None if keep::keeps_text(finish.output.as_deref(), None) => Ok(()),
        None => call::drop_text(store, (finish.run, None)),
    }
}

/// Closes the runs that nobody is driving any more: the daemon's own, and a person's past their lease.
pub(super) fn recover(
    store: &Connection,
    under_way: &[RunId],
    now: DateTime<Utc>,
) -> Result<Vec<Run>, Fault> {
    close_lost(
        store,
        "SELECT id FROM runs WHERE outcome IS NULL AND (lease_until IS NULL OR lease_until <= ?1)
           AND id NOT IN (SELECT run FROM batches) ORDER BY id",
        (under_way, now),
    )
}

/// Closes the runs that a person asked for and that are past their lease. The daemon's have no lease, and are left to
/// [`recover`].
pub(super) fn give_up(store: &Connection, now: DateTime<Utc>) -> Result<Vec<Run>, Fault> {
    close_lost(
        store,
        "SELECT id FROM runs WHERE outcome IS NULL AND lease_until <= ?1 ORDER BY id",
        (&[], now),
    )
}

fn close_lost(
    store: &Connection,
    select: &str,
    (under_way, now): (&[RunId], DateTime<Utc>),
) -> Result<Vec<Run>, Fault> {
    let mut lost = store.prepare_cached(select)?;
    let lost: Vec<i64> = lost
        .query_map([ms(now)], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    lost.into_iter()
        .map(RunId)
        .filter(|id| !under_way.contains(id))
        .map(|id| recover_one(store, id, now))
        .collect()
}

fn recover_one(store: &Connection, id: RunId, now: DateTime<Utc>) -> Result<Run, Fault> {
    let gone = || Fault::from(keep::no_run(id));
    let run = history::run(store, id)?.ok_or_else(gone)?;
    let carried = deferral::carried_by(store, id)?;
    let wait = carried.as_ref().map(|deferral| &deferral.wait);
    let owed = delivery::is_owed(store, id)?;
    let cut = keep::cut_off(&run, (wait, owed), now);
    close(
        store,
        id,
        &Ended {
            outcome: cut.outcome,
            note: Some(cut.note),
            now,
        },
    )?;
    match (&cut.wait, carried) {
        (Some(wait), _) => deferral::write(store, id, wait, now)?,
        (None, Some(carried)) => deferral::end(store, carried.id, DeferralState::Done, now)?,
        (None, None) => {}
    }
    if cut.wait.is_none() {
        let slot = slot(store, id)?;
        let ended = Outcome::Failed(FailReason::Interrupted);
        pieces::close_rest(store, (id, &slot), &ended, now)?;
    }
    history::run(store, id)?.ok_or_else(gone)
}
