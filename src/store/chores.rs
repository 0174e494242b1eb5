//! Housekeeping: old rows, the write-ahead log, the sign of life.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::busy::wait_by_rule;
use super::columns::{count_or_none, instant_or_none, ms};
use super::fault::Fault;

/// How much longer claims are kept than runs: a claim is what keeps a slot from firing twice after the clock was set
/// back, and it is a short row.
const CLAIMS_OUTLIVE_RUNS: TimeDelta = TimeDelta::days(31);

/// How much history one pruning takes, from the oldest row on. A clock that is a year ahead for a while must not cost a
/// year of history; and what there is more of goes on the following days.
const MOST_AT_ONCE: TimeDelta = TimeDelta::days(31);

/// How many rows of a kind a step of the pruning takes: some milliseconds of the write lock, and one wait for the disk.
const STEP: i64 = 200;

/// The runs that may go when they are old enough: ended ones whose work nobody has still to do. Found by the words of
/// the index `runs_ended`, and old from the later of their two ends on: a clock that was set back meanwhile ends a run
/// before it began.
const ENDED: &str = "FROM runs r WHERE r.finished_at IS NOT NULL AND NOT EXISTS (
    SELECT 1 FROM deferrals d WHERE d.job = r.job AND d.fire_at = r.fire_at AND d.state IN ('pending', 'running'))
  AND NOT EXISTS (
    SELECT 1 FROM calls c JOIN deliveries o ON o.call = c.id WHERE c.run = r.id AND o.state = 'pending')";

/// The end by which a run of [`ENDED`] is old.
const RUN_END: &str = "max(r.started_at, r.finished_at)";

/// The end of the oldest claim that ended, by the words of the index `slots_ended`.
const OLDEST_SLOT: &str =
    "SELECT min(max(fire_at, closed_at)) FROM slots WHERE closed_at IS NOT NULL";

/// Deletes claims that ended before an instant, the oldest first.
const DELETE_SLOTS: &str = "DELETE FROM slots WHERE (job, fire_at) IN (
    SELECT job, fire_at FROM slots WHERE closed_at IS NOT NULL AND max(fire_at, closed_at) < ?1
    ORDER BY max(fire_at, closed_at) LIMIT ?2)";

/// The slot of the oldest item that may go.
const OLDEST_ITEM: &str = "SELECT i.fire_at FROM items i WHERE NOT EXISTS (
      SELECT 1 FROM deferrals d WHERE d.job = i.job AND d.fire_at = i.fire_at AND d.state IN ('pending', 'running'))
    ORDER BY i.fire_at LIMIT 1";

/// Deletes items of slots before an instant that nobody will work on any more.
const DELETE_ITEMS: &str = "DELETE FROM items WHERE (job, fire_at, position) IN (
    SELECT i.job, i.fire_at, i.position FROM items i WHERE i.fire_at < ?1 AND NOT EXISTS (
      SELECT 1 FROM deferrals d WHERE d.job = i.job AND d.fire_at = i.fire_at AND d.state IN ('pending', 'running'))
    ORDER BY i.fire_at LIMIT ?2)";

/// Forgets items that were not there any more since an instant.
const DELETE_MEMORY: &str = "DELETE FROM memory WHERE (job, key) IN (
    SELECT job, key FROM memory WHERE seen_at < ?1 ORDER BY seen_at LIMIT ?2)";

/// The daemon's sign of life.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Liveness {
    /// When it was last seen.
    pub at: DateTime<Utc>,
    /// Its process.
    pub pid: u32,
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
    /// Items of slots, and what was remembered of items that are gone.
    pub items: usize,
}

impl std::ops::AddAssign for Pruned {
    fn add_assign(&mut self, more: Self) {
        self.runs += more.runs;
        self.deferrals += more.deferrals;
        self.slots += more.slots;
        self.pauses += more.pauses;
        self.items += more.items;
    }
}

/// The instants before which a pruning removes what ended, of each kind of row.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reach {
    runs: i64,
    deferrals: i64,
    slots: i64,
    pauses: i64,
    items: i64,
}

/// How far a pruning goes: to an instant, but no further than a month from the oldest row of each kind that it may
/// take. One that it may not take, counted here, would keep it back for ever.
pub(super) fn reach(store: &Connection, older_than: DateTime<Utc>) -> Result<Reach, Fault> {
    let claims = older_than
        .checked_sub_signed(CLAIMS_OUTLIVE_RUNS)
        .unwrap_or(DateTime::<Utc>::MIN_UTC);
    let until = |oldest: &str, most: DateTime<Utc>| -> Result<i64, Fault> {
        let oldest: Option<i64> = store
            .query_row(oldest, [], |row| row.get(0))
            .optional()?
            .flatten();
        let a_month = oldest.map(|at| at.saturating_add(MOST_AT_ONCE.num_milliseconds()));
        Ok(a_month.map_or(ms(most), |at| at.min(ms(most))))
    };
    Ok(Reach {
        runs: until(&oldest_run(), older_than)?,
        deferrals: until("SELECT min(ended_at) FROM deferrals", older_than)?,
        slots: until(OLDEST_SLOT, claims)?,
        pauses: until(
            "SELECT min(min(coalesce(ended_at, until), coalesce(until, ended_at))) FROM pauses",
            older_than,
        )?,
        items: until(OLDEST_ITEM, older_than)?,
    })
}

/// The end of the oldest run that may go.
fn oldest_run() -> String {
    format!("SELECT {RUN_END} {ENDED} ORDER BY {RUN_END} LIMIT 1")
}

/// Deletes runs that ended before an instant, the oldest first.
fn delete_runs() -> String {
    format!(
        "DELETE FROM runs WHERE id IN (SELECT r.id {ENDED} AND {RUN_END} < ?1 ORDER BY {RUN_END} LIMIT ?2)"
    )
}

/// Removes some of what ended within reach; what is pending or under way stays, with the runs that it came from.
pub(super) fn prune_some(store: &Connection, reach: Reach) -> Result<Pruned, Fault> {
    Ok(Pruned {
        runs: store.execute(&delete_runs(), [reach.runs, STEP])?,
        deferrals: store.execute(
            "DELETE FROM deferrals WHERE id IN (SELECT id FROM deferrals WHERE ended_at < ?1 LIMIT ?2)",
            [reach.deferrals, STEP],
        )?,
        slots: store.execute(DELETE_SLOTS, [reach.slots, STEP])?,
        pauses: store.execute(
            "DELETE FROM pauses WHERE min(coalesce(ended_at, until), coalesce(until, ended_at)) < ?1",
            [reach.pauses],
        )?,
        items: store.execute(DELETE_ITEMS, [reach.items, STEP])?
            + store.execute(DELETE_MEMORY, [reach.items, STEP])?,
    })
}

/// Moves the write-ahead log into the file and empties it, unless someone is reading or writing just now.
pub(super) fn checkpoint(connection: &mut Connection) -> Result<(), Fault> {
    connection.busy_timeout(Duration::ZERO)?;
    let done = connection.query_one("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
    wait_by_rule(connection)?;
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
    let mut update = store.prepare_cached("UPDATE meta SET beat_at = ?1, beat_pid = ?2")?;
    update.execute(params![ms(beat.at), beat.pid])?;
    Ok(())
}

/// The last sign of life; `None` if no daemon has used this store.
pub(super) fn liveness(store: &Connection) -> Result<Option<Liveness>, Fault> {
    let mut select = store.prepare_cached("SELECT beat_at, beat_pid FROM meta")?;
    let mut rows = select.query_and_then([], beat)?;
    rows.next().transpose().map(Option::flatten)
}

fn beat(row: &Row<'_>) -> Result<Option<Liveness>, Fault> {
    let (at, pid) = (
        instant_or_none(row, "beat_at")?,
        count_or_none(row, "beat_pid")?,
    );
    Ok(at.zip(pid).map(|(at, pid)| Liveness { at, pid }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::SqliteStore;

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
    fn pruning_looks_at_no_row_twice_however_much_waits() {
        // Cause: for every run of the history each open deferral was gone through, and every claim for the oldest:
        // seconds in which no slot was claimed.
        let folder = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(folder.path()).unwrap();
        let store = Connection::open(store.path()).unwrap();
        let of_runs = [
            "USING INDEX runs_ended",
            "deferrals_open_by_slot (job=? AND fire_at=?)",
        ];
        let of_slots = ["INDEX slots_ended", "INDEX slots_ended"];
        for (statement, ways) in [
            (oldest_run().as_str(), of_runs),
            (&delete_runs(), of_runs),
            (OLDEST_SLOT, of_slots),
            (DELETE_SLOTS, of_slots),
        ] {
            let steps = steps(&store, statement);
            for way in ways {
                assert!(
                    steps.iter().any(|step| step.contains(way)),
                    "{way}: {steps:#?}"
                );
            }
            assert!(
                !steps.iter().any(|step| step.contains("TEMP B-TREE")),
                "{steps:#?}"
            );
        }
    }
}
