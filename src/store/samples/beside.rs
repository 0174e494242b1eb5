//! A second connection to the same moment of the store.

use rusqlite::Connection;

use crate::store::fault::Fault;
use crate::store::reader::Reader;

/// A connection that sees what this transaction sees, for a thread beside it; `None` if there is none to be had just
/// now. Nothing must have been read in the transaction so far.
pub(super) fn same_moment(store: &Connection, open: &Reader) -> Option<Connection> {
    // Whatever goes wrong here goes wrong again, and is told, where the rows are read.
    let other = open.open().ok()??;
    let before = version(&other).ok()?;
    is_joined(store, &other, before).ok()?.then_some(other)
}

/// Begins to read on both, and says whether nothing was committed since the other saw this version.
///
/// What a connection sees changes its version with every commit of another. If it is the same before the transaction
/// began to read and after the other has begun, both see the state that it stands for.
fn is_joined(store: &Connection, other: &Connection, before: i64) -> Result<bool, Fault> {
    begin(store)?;
    other.execute_batch("BEGIN")?;
    begin(other)?;
    Ok(version(other)? == before)
}

fn version(connection: &Connection) -> Result<i64, Fault> {
    Ok(connection.query_one("PRAGMA data_version", [], |row| row.get(0))?)
}

/// A transaction sees the moment of its first look.
fn begin(connection: &Connection) -> Result<i64, Fault> {
    Ok(connection.query_one("SELECT count(*) FROM meta", [], |row| row.get(0))?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::SqliteStore;

    fn three() -> (tempfile::TempDir, [Connection; 3]) {
        let folder = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(folder.path()).unwrap();
        let open = || Connection::open(store.path()).unwrap();
        let connections = [open(), open(), open()];
        (folder, connections)
    }

    fn beat(connection: &Connection) -> Option<i64> {
        let select = "SELECT beat_at FROM meta";
        connection.query_one(select, [], |row| row.get(0)).unwrap()
    }

    fn write(writer: &Connection, beat: i64) {
        let update = "UPDATE meta SET beat_at = ?1";
        writer.execute(update, [beat]).unwrap();
    }

    #[test]
    fn both_stay_at_the_moment_while_a_third_writes_on() {
        let (_folder, [store, other, writer]) = three();
        write(&writer, 7);
        let before = version(&other).unwrap();
        store.execute_batch("BEGIN").unwrap();
        assert!(is_joined(&store, &other, before).unwrap());
        write(&writer, 8);
        assert_eq!((beat(&store), beat(&other)), (Some(7), Some(7)));
    }

    #[test]
    fn what_was_committed_before_or_between_the_two_is_noticed() {
        let (_folder, [store, other, writer]) = three();
        let before = version(&other).unwrap();
        write(&writer, 7);
        store.execute_batch("BEGIN").unwrap();
        assert!(!is_joined(&store, &other, before).unwrap());
        other.execute_batch("ROLLBACK").unwrap();
        let before = version(&other).unwrap();
        write(&writer, 8);
        assert!(!is_joined(&store, &other, before).unwrap());
        assert_eq!(
            (beat(&store), beat(&other)),
            (Some(7), Some(8)),
            "two moments"
        );
    }
}
