//! How a job stands, read from its history.

use rusqlite::{Connection, params};

use super::columns::{get, instant_or_none, outcome};
use super::fault::Fault;
use crate::engine::alert::Standing;
use crate::job::JobId;
use crate::outcome::RunId;

/// The bound on the id must not lead through all runs of the job and a sort.
const LATEST: &str = "
    SELECT id, outcome, reason, next_not_before FROM runs
    WHERE job = ?1 AND +id < ?2 AND origin <> 'manual' AND outcome NOT IN ('yielded', 'skipped')
    ORDER BY fire_at DESC, id DESC LIMIT 20";

/// How a job stood before a run; `None` if none of its latest runs tells.
///
/// What a person asked for does not count: that person has seen how it ended. The latest are found by their slots,
/// which an index orders, and a run of an older slot may have come last.
pub(super) fn standing(
    store: &Connection,
    job: &JobId,
    before: RunId,
) -> Result<Option<Standing>, Fault> {
    let mut select = store.prepare_cached(LATEST)?;
    let mut rows = select.query(params![job.as_str(), before.0])?;
    let mut latest: Option<(i64, Standing)> = None;
    while let Some(row) = rows.next()? {
        let id: i64 = get(row, "id")?;
        let later = instant_or_none(row, "next_not_before")?;
        let standing = outcome(row)?.and_then(|outcome| Standing::after(&outcome, later));
        if let Some(standing) = standing
            && latest.is_none_or(|(other, _)| other < id)
        {
            latest = Some((id, standing));
        }
    }
    Ok(latest.map(|(_, standing)| standing))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::SqliteStore;

    #[test]
    fn latest_runs_are_those_of_the_latest_slots_and_no_others_are_looked_at() {
        let folder = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(folder.path()).unwrap();
        let store = Connection::open(store.path()).unwrap();
        let mut explain = store
            .prepare(&format!("EXPLAIN QUERY PLAN {LATEST}"))
            .unwrap();
        // A plan needs no values.
        let steps = explain.raw_query().mapped(|row| row.get("detail"));
        let steps: Vec<String> = steps.collect::<Result<_, _>>().unwrap();
        assert_eq!(steps, ["SEARCH runs USING INDEX runs_by_slot (job=?)"]);
    }
}
