//! Housekeeping: old rows, the write-ahead log, the sign of life.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use rusqlite::{Connection, Row, params};

use super::columns::{count_or_none, instant_or_none, ms};
use super::fault::Fault;
use super::open::PATIENCE;

/// How much longer claims are kept than runs: a claim is what keeps a slot from firing twice after the clock was set
/// back, and it is a short row.
const CLAIMS_OUTLIVE_RUNS: TimeDelta = TimeDelta::days(31);

/// The daemon's sign of life.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Liveness {
    /// When it was last seen.
    pub at: DateTime<Utc>,
    /// Its process.
    pub pid: u32,
    /// When it meant to fire next; `None` if its plan names nothing.
    pub next: Option<DateTime<Utc>>,
}

/// How many rows went.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Pruned {
    /// Runs, each with its attempts and kept answer.
    pub runs: usize,
    /// Deferrals that had ended.
    pub deferrals: usize,
    /// Claims of slots.
    pub slots: usize,
    /// Pauses that had ended.
    pub pauses: usize,
}

/// Removes what ended before an instant; what is pending or under way stays, with the runs that it came from.
pub(super) fn prune(store: &Connection, older_than: DateTime<Utc>) -> Result<Pruned, Fault> {
    let open = "SELECT 1 FROM deferrals d WHERE d.job = r.job AND d.fire_at = r.fire_at
                AND d.state IN ('pending', 'running')";
    let runs = format!("DELETE FROM runs AS r WHERE r.finished_at < ?1 AND NOT EXISTS ({open})");
    let claims = older_than
        .checked_sub_signed(CLAIMS_OUTLIVE_RUNS)
        .unwrap_or(DateTime::<Utc>::MIN_UTC);
    Ok(Pruned {
        runs: store.execute(&runs, [ms(older_than)])?,
        deferrals: store.execute(
            "DELETE FROM deferrals WHERE ended_at < ?1",
            [ms(older_than)],
        )?,
        slots: store.execute(
            "DELETE FROM slots WHERE closed_at < ?1 AND fire_at < ?1",
            [ms(claims)],
        )?,
        pauses: store.execute(
            "DELETE FROM pauses WHERE min(coalesce(ended_at, until), coalesce(until, ended_at)) < ?1",
            [ms(older_than)],
        )?,
    })
}

/// Moves the write-ahead log into the file and empties it, unless someone is reading or writing just now.
pub(super) fn checkpoint(connection: &mut Connection) -> Result<(), Fault> {
    connection.busy_timeout(Duration::ZERO)?;
    let done = connection.query_one("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
    connection.busy_timeout(PATIENCE)?;
    match done {
        // The next one will do it.
        Err(error) if error.sqlite_error_code() == Some(rusqlite::ErrorCode::DatabaseBusy) => {
            Ok(())
        }
        done => Ok(done?),
    }
}

/// Writes the sign of life.
pub(super) fn touch(store: &Connection, beat: Liveness) -> Result<(), Fault> {
    let mut update =
        store.prepare_cached("UPDATE meta SET beat_at = ?1, beat_pid = ?2, beat_next = ?3")?;
    update.execute(params![ms(beat.at), beat.pid, beat.next.map(ms)])?;
    Ok(())
}

/// The last sign of life; `None` if no daemon has used this store.
pub(super) fn liveness(store: &Connection) -> Result<Option<Liveness>, Fault> {
    let mut select = store.prepare_cached("SELECT beat_at, beat_pid, beat_next FROM meta")?;
    let mut rows = select.query_and_then([], beat)?;
    rows.next().transpose().map(Option::flatten)
}

fn beat(row: &Row<'_>) -> Result<Option<Liveness>, Fault> {
    let (at, pid) = (
        instant_or_none(row, "beat_at")?,
        count_or_none(row, "beat_pid")?,
    );
    let next = instant_or_none(row, "beat_next")?;
    Ok(at.zip(pid).map(|(at, pid)| Liveness { at, pid, next }))
}
