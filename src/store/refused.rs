//! Files that a running daemon could not take over.

use chrono::{DateTime, Utc};
use rusqlite::{Connection, params};

use super::columns::{get, instant_or_none, ms};
use super::fault::Fault;

/// Files that a running daemon could not take over: the plan before them stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefusedFiles {
    /// Since when.
    pub since: DateTime<Utc>,
    /// What is wrong with them, a line each.
    pub why: String,
}

/// Takes down what is wrong, or that nothing is any more.
pub(super) fn set(store: &Connection, refused: Option<&RefusedFiles>) -> Result<(), Fault> {
    let mut update = store.prepare_cached("UPDATE meta SET refused_at = ?1, refused_why = ?2")?;
    update.execute(params![
        refused.map(|refused| ms(refused.since)),
        refused.map(|refused| &refused.why)
    ])?;
    Ok(())
}

/// What is on record; `None` if the daemon's plan is that of the files, as far as it knows.
pub(super) fn find(store: &Connection) -> Result<Option<RefusedFiles>, Fault> {
    let mut select = store.prepare_cached("SELECT refused_at, refused_why FROM meta")?;
    let mut rows = select.query_and_then([], |row| -> Result<_, Fault> {
        let why: Option<String> = get(row, "refused_why")?;
        let since = instant_or_none(row, "refused_at")?;
        Ok(since
            .zip(why)
            .map(|(since, why)| RefusedFiles { since, why }))
    })?;
    rows.next().transpose().map(Option::flatten)
}
