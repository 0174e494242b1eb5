//! What is on record of one slot, read at one moment for `why`.

use std::path::PathBuf;

use chrono::{DateTime, Utc};
use rusqlite::{Connection, Row, params};

use super::columns::{
    count_or_none, deferral_state, get, instant, instant_or_none, ms, outcome, word, yield_reason,
};
use super::fault::Fault;
use super::open::SqliteStore;
use super::{claim, guard_row, history, pause};
use crate::engine::keep::DeferralState;
use crate::engine::pause::{Pause, PauseTarget};
use crate::engine::ports::StoreError;
use crate::job::{GroupId, JobId};
use crate::outcome::RunId;
use crate::report::{
    BatchRecord, DeliveryRecord, DeliveryState, HoldRecord, ItemRecord, PauseRecord, Record, Work,
    WorkState,
};
use crate::slot::Slot;

impl SqliteStore {
    /// What is on record of a slot, as it stands at `now`; without runs if nothing is.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if the file cannot be read.
    pub async fn record_of(&self, slot: Slot, now: DateTime<Utc>) -> Result<Record, StoreError> {
        self.worker
            .read(move |store| record(store, slot, now))
            .await
    }

    /// Of a job's slots on record within a span, its beginning included and its end excluded, the last that did not
    /// succeed, or else the last.
    ///
    /// # Errors
    ///
    /// As [`SqliteStore::record_of`].
    pub async fn telling_slot(
        &self,
        job: JobId,
        span: (DateTime<Utc>, DateTime<Utc>),
    ) -> Result<Option<DateTime<Utc>>, StoreError> {
        self.worker
            .read(move |store| telling(store, &job, span))
            .await
    }

    /// The slot of the work that a run did which began within a span; the last if there are several.
    ///
    /// # Errors
    ///
    /// As [`SqliteStore::record_of`].
    pub async fn slot_worked_on(
        &self,
        job: JobId,
        span: (DateTime<Utc>, DateTime<Utc>),
    ) -> Result<Option<DateTime<Utc>>, StoreError> {
        let sql = "SELECT fire_at FROM runs WHERE job = ?1 AND started_at >= ?2 AND started_at < ?3
                   ORDER BY id DESC LIMIT 1";
        self.worker
            .read(move |store| one(store, sql, &job, span))
            .await
    }

    /// The slots of a job on record nearest to an instant: the last before it, the first from it on.
    ///
    /// # Errors
    ///
    /// As [`SqliteStore::record_of`].
    pub async fn slots_near(
        &self,
        job: JobId,
        at: DateTime<Utc>,
    ) -> Result<Vec<DateTime<Utc>>, StoreError> {
        let before = "SELECT max(fire_at) AS fire_at FROM runs WHERE job = ?1 AND fire_at >= ?2 AND fire_at < ?3";
        let after = "SELECT min(fire_at) AS fire_at FROM runs WHERE job = ?1 AND fire_at >= ?2 AND fire_at < ?3";
        self.worker
            .read(move |store| {
                let before = one(store, before, &job, (DateTime::<Utc>::MIN_UTC, at))?;
                let after = one(store, after, &job, (at, DateTime::<Utc>::MAX_UTC))?;
                Ok(before.into_iter().chain(after).collect())
            })
            .await
    }
}

fn one(
    store: &Connection,
    sql: &str,
    job: &JobId,
    (from, until): (DateTime<Utc>, DateTime<Utc>),
) -> Result<Option<DateTime<Utc>>, Fault> {
    let mut select = store.prepare_cached(sql)?;
    let values = params![job.as_str(), ms(from), ms(until)];
    let found = select
        .query_and_then(values, |row| instant_or_none(row, "fire_at"))?
        .next();
    Ok(found.transpose()?.flatten())
}

fn telling(
    store: &Connection,
    job: &JobId,
    span: (DateTime<Utc>, DateTime<Utc>),
) -> Result<Option<DateTime<Utc>>, Fault> {
    let fell_short = "
        SELECT fire_at FROM runs r
        WHERE job = ?1 AND fire_at >= ?2 AND fire_at < ?3 AND outcome IS NOT 'succeeded'
          AND id = (SELECT max(id) FROM runs WHERE job = r.job AND fire_at = r.fire_at)
        ORDER BY fire_at DESC LIMIT 1";
    let any = "SELECT max(fire_at) AS fire_at FROM runs WHERE job = ?1 AND fire_at >= ?2 AND fire_at < ?3";
    match one(store, fell_short, job, span)? {
        Some(found) => Ok(Some(found)),
        None => one(store, any, job, span),
    }
}

fn record(store: &Connection, slot: Slot, now: DateTime<Utc>) -> Result<Record, Fault> {
    let runs = history::of_slot(store, &slot)?;
    let claim = claim::slot(store, &slot)?;
    let group = runs.last().map(|run| run.group.clone());
    Ok(Record {
        claimed_at: claim.map(|claim| claim.claimed_at),
        works: works(store, &slot)?,
        items: items(store, &slot)?,
        deliveries: deliveries(store, &slot)?,
        batches: batches(store, &slot)?,
        pauses: pauses(store, &slot, group.as_ref(), now)?,
        hold: hold(store, group, now)?,
        job: slot.job,
        fire_at: slot.fire_at,
        runs,
    })
}

/// Rows of this slot, read by a statement that takes its job and its instant.
fn of_slot<T>(
    store: &Connection,
    sql: &str,
    slot: &Slot,
    decode: impl FnMut(&Row<'_>) -> Result<T, Fault>,
) -> Result<Vec<T>, Fault> {
    let mut select = store.prepare_cached(sql)?;
    let values = params![slot.job.as_str(), ms(slot.fire_at)];
    select.query_and_then(values, decode)?.collect()
}

fn works(store: &Connection, slot: &Slot) -> Result<Vec<Work>, Fault> {
    let sql = "
        SELECT d.state, d.reason, d.not_before, d.to_at, d.carries,
          CASE d.state WHEN 'merged' THEN r.fire_at END AS merged_into
        FROM deferrals d LEFT JOIN runs r ON r.id = d.run
        WHERE d.job = ?1 AND d.fire_at = ?2 ORDER BY d.id";
    of_slot(store, sql, slot, |row| {
        Ok(Work {
            state: match word(row, "state", deferral_state)? {
                DeferralState::Pending => WorkState::Waits,
                DeferralState::Running => WorkState::Runs,
                DeferralState::Done | DeferralState::Failed | DeferralState::Merged => {
                    WorkState::Ended
                }
            },
            reason: word(row, "reason", yield_reason)?,
            not_before: instant(row, "not_before")?,
            to: instant_or_none(row, "to_at")?,
            carries: count_or_none(row, "carries")?.unwrap_or_default(),
            merged_into: instant_or_none(row, "merged_into")?,
        })
    })
}

fn items(store: &Connection, slot: &Slot) -> Result<Vec<ItemRecord>, Fault> {
    let sql = "SELECT name, outcome, reason, note FROM items WHERE job = ?1 AND fire_at = ?2 ORDER BY position";
    of_slot(store, sql, slot, |row| {
        Ok(ItemRecord {
            name: get(row, "name")?,
            outcome: outcome(row)?,
            note: get(row, "note")?,
        })
    })
}

fn deliveries(store: &Connection, slot: &Slot) -> Result<Vec<DeliveryRecord>, Fault> {
    let sql = "
        SELECT c.run, c.item, d.state, d.tries, d.since, d.not_before, d.output, d.trouble, d.ended_at
        FROM runs r JOIN calls c ON c.run = r.id JOIN deliveries d ON d.call = c.id
        WHERE r.job = ?1 AND r.fire_at = ?2 ORDER BY d.since, d.id";
    of_slot(store, sql, slot, |row| {
        Ok(DeliveryRecord {
            run: RunId(get(row, "run")?),
            item: get(row, "item")?,
            state: word(row, "state", delivery_state)?,
            tries: count_or_none(row, "tries")?.unwrap_or_default(),
            since: instant(row, "since")?,
            not_before: instant(row, "not_before")?,
            output: get::<Option<String>>(row, "output")?.map(PathBuf::from),
            trouble: get(row, "trouble")?,
            ended_at: instant_or_none(row, "ended_at")?,
        })
    })
}

fn delivery_state(word: &str) -> Option<DeliveryState> {
    match word {
        "pending" => Some(DeliveryState::Owed),
        "done" => Some(DeliveryState::Delivered),
        "given_up" => Some(DeliveryState::Left),
        _ => None,
    }
}

fn batches(store: &Connection, slot: &Slot) -> Result<Vec<BatchRecord>, Fault> {
    let sql = "
        SELECT b.run, b.id, b.looks, b.look_at, b.expires_at,
          (SELECT count(*) FROM batch_parts p WHERE p.run = b.run) AS calls
        FROM runs r JOIN batches b ON b.run = r.id WHERE r.job = ?1 AND r.fire_at = ?2 ORDER BY b.run";
    of_slot(store, sql, slot, |row| {
        Ok(BatchRecord {
            run: RunId(get(row, "run")?),
            id: get(row, "id")?,
            calls: count_or_none(row, "calls")?.unwrap_or_default(),
            looks: count_or_none(row, "looks")?.unwrap_or_default(),
            look_at: instant(row, "look_at")?,
            expires_at: instant(row, "expires_at")?,
        })
    })
}

fn pauses(
    store: &Connection,
    slot: &Slot,
    group: Option<&GroupId>,
    now: DateTime<Utc>,
) -> Result<Vec<PauseRecord>, Fault> {
    let pauses = pause::all(store)?;
    let matters = |pause: &&Pause| {
        let is_ours = match &pause.target {
            PauseTarget::Job(job) => *job == slot.job,
            PauseTarget::Group(of) => Some(of) == group,
        };
        is_ours && (pause.covers(slot.fire_at) || pause.is_on(now))
    };
    let found = pauses.all().iter().filter(matters);
    Ok(found.map(|pause| told(pause, now)).collect())
}

fn told(pause: &Pause, now: DateTime<Utc>) -> PauseRecord {
    PauseRecord {
        target: match &pause.target {
            PauseTarget::Job(job) => format!("job:{job}"),
            PauseTarget::Group(group) => format!("group:{group}"),
        },
        since: pause.since,
        until: [pause.until, pause.ended_at].into_iter().flatten().min(),
        reason: pause.reason.clone(),
        is_on: pause.is_on(now),
    }
}

/// The hold of the group; none if its row is damaged, which `store check` tells.
fn hold(
    store: &Connection,
    group: Option<GroupId>,
    now: DateTime<Utc>,
) -> Result<Option<HoldRecord>, Fault> {
    let Some(group) = group else {
        return Ok(None);
    };
    let guards = guard_row::all(store)?;
    let guard = guards.into_iter().find(|(name, _)| *name == group);
    let hold = guard.and_then(|(_, guard)| guard.hold);
    Ok(hold
        .filter(|hold| hold.is_active(now))
        .map(|hold| HoldRecord {
            group,
            until: hold.until,
            note: hold.note,
        }))
}
