//! Pauses: a row each, kept after its end.

use chrono::{DateTime, Utc};
use rusqlite::{Connection, Row, params};

use super::columns::{get, instant, instant_or_none, ms};
use super::fault::Fault;
use super::open::SqliteStore;
use crate::engine::pause::{Pause, PauseTarget, Pauses};
use crate::engine::ports::StoreError;
use crate::job::{GroupId, JobId};

impl SqliteStore {
    /// Keeps a job or a group still. A pause of it that is on ends at the instant at which this one begins.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if the file cannot be written.
    pub async fn pause(&self, pause: Pause) -> Result<(), StoreError> {
        self.worker
            .write(move |store| {
                lift(store, &pause.target, pause.since)?;
                insert(store, &pause)
            })
            .await
    }

    /// Lifts the pause of a job or a group; `None` if none is on.
    ///
    /// # Errors
    ///
    /// [`StoreError`] if the file cannot be written.
    pub async fn lift_pause(
        &self,
        target: PauseTarget,
        now: DateTime<Utc>,
    ) -> Result<Option<Pause>, StoreError> {
        self.worker
            .write(move |store| lift(store, &target, now))
            .await
    }
}

/// Every pause that was not pruned, oldest first.
pub(super) fn all(store: &Connection) -> Result<Pauses, Fault> {
    let rows = rows(store)?.into_iter().map(|(_, pause)| pause);
    Ok(Pauses::new(rows.collect()))
}

/// Ends the pause of a target that is on.
fn lift(
    store: &Connection,
    target: &PauseTarget,
    now: DateTime<Utc>,
) -> Result<Option<Pause>, Fault> {
    let mut lifted = None;
    for (id, pause) in rows(store)? {
        if pause.target == *target && pause.is_on(now) {
            store.execute(
                "UPDATE pauses SET ended_at = ?2 WHERE id = ?1",
                params![id, ms(now)],
            )?;
            lifted = Some(pause);
        }
    }
    Ok(lifted)
}

fn insert(store: &Connection, pause: &Pause) -> Result<(), Fault> {
    let (job, group) = match &pause.target {
        PauseTarget::Job(job) => (Some(job.as_str()), None),
        PauseTarget::Group(group) => (None, Some(group.as_str())),
    };
    store.execute(
        "INSERT INTO pauses (job, grp, since, until, reason) VALUES (?1, ?2, ?3, ?4, ?5)",
        params![
            job,
            group,
            ms(pause.since),
            pause.until.map(ms),
            pause.reason
        ],
    )?;
    Ok(())
}

fn rows(store: &Connection) -> Result<Vec<(i64, Pause)>, Fault> {
    let mut select = store.prepare_cached(
        "SELECT id, job, grp, since, until, reason, ended_at FROM pauses ORDER BY id",
    )?;
    select.query_and_then([], decode)?.collect()
}

fn decode(row: &Row<'_>) -> Result<(i64, Pause), Fault> {
    let target = match get::<Option<String>>(row, "job")? {
        Some(job) => PauseTarget::Job(JobId::new(job)),
        None => PauseTarget::Group(GroupId::new(get::<String>(row, "grp")?)),
    };
    let pause = Pause {
        target,
        since: instant(row, "since")?,
        until: instant_or_none(row, "until")?,
        reason: get(row, "reason")?,
        ended_at: instant_or_none(row, "ended_at")?,
    };
    Ok((get(row, "id")?, pause))
}
