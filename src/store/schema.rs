//! The schema and its migrations.
//!
//! The file's `user_version` counts the migrations that it has been through.
//! A migration is never edited once released: a change is a new one at the end.

use std::path::Path;

use rusqlite::{Connection, TransactionBehavior};

use super::fault::Fault;
use crate::engine::ports::StoreError;

/// The steps from an empty file to today's schema, oldest first.
pub(super) const MIGRATIONS: &[&str] = &[
    include_str!("schema/1.sql"),
    include_str!("schema/2.sql"),
    include_str!("schema/3.sql"),
    include_str!("schema/4.sql"),
    include_str!("schema/5.sql"),
    include_str!("schema/6.sql"),
];

/// The version of a file after all `migrations`.
pub(super) fn known(migrations: &[&str]) -> i64 {
    i64::try_from(migrations.len()).unwrap_or(i64::MAX)
}

/// The version of the open file: 0 for a new one.
pub(super) fn version(connection: &Connection) -> Result<i64, Fault> {
    Ok(connection.query_one("PRAGMA user_version", [], |row| row.get(0))?)
}

/// Brings a file up to date in one transaction; another process that does the same at once waits and finds it done.
///
/// # Errors
///
/// [`StoreError::Newer`] if the file has been through more migrations than there are here.
pub(super) fn migrate(
    connection: &mut Connection,
    path: &Path,
    migrations: &[&str],
) -> Result<(), Fault> {
    let known = known(migrations);
    // The usual case needs no write lock.
    if version(connection)? == known {
        return Ok(());
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let found = version(&transaction)?;
    let Some(missing) = usize::try_from(found)
        .ok()
        .and_then(|done| migrations.get(done..))
    else {
        return Err(StoreError::Newer {
            path: path.to_owned(),
            found,
            known,
        }
        .into());
    };
    for migration in missing {
        transaction.execute_batch(migration)?;
    }
    transaction.pragma_update(None, "user_version", known)?;
    Ok(transaction.commit()?)
}

#[cfg(test)]
mod tests;
