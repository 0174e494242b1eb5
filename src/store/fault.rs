//! What goes wrong inside a transaction, and how it is told.

use std::path::Path;

use rusqlite::ErrorCode;

use crate::engine::ports::StoreError;

/// A statement failed, or a row holds what no version of this program wrote.
#[derive(Debug)]
pub(super) enum Fault {
    /// From the library.
    Sql(rusqlite::Error),
    /// Our own.
    Store(StoreError),
}

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sql(error)
    }
}

impl From<StoreError> for Fault {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl Fault {
    /// A column holds a value that this program does not write.
    pub(super) fn odd(column: &str, found: impl std::fmt::Display) -> Self {
        Self::Store(StoreError::Lasting(format!(
            "column `{column}` holds `{found}`, which no version of offpeak up to this one writes"
        )))
    }

    /// The error for the outside: names the file and the way out where there is one.
    pub(super) fn at(self, path: &Path) -> StoreError {
        let error = match self {
            Self::Store(error) => return error,
            Self::Sql(error) => error,
        };
        match error.sqlite_error_code().and_then(way_out) {
            Some(way_out) => StoreError::Unusable {
                path: path.to_owned(),
                message: format!("{error}; {way_out}"),
            },
            None => StoreError::Failed(format!("{error} ({})", path.display())),
        }
    }
}

/// What a person can do about a failure that lies outside the program.
fn way_out(code: ErrorCode) -> Option<&'static str> {
    match code {
        ErrorCode::DiskFull => Some("free some space on that disk"),
        ErrorCode::ReadOnly | ErrorCode::PermissionDenied => Some(
            "make the file and its folder writable for this user, or give another folder with --store",
        ),
        ErrorCode::CannotOpen | ErrorCode::SystemIoFailure => {
            Some("check the folder and its disk, or give another folder with --store")
        }
        ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt => Some(
            "move the file away with its -wal and -shm, and put a copy made by `offpeak store backup` in its place or \
                 begin a new history; or give another folder with --store",
        ),
        ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => {
            Some("another process has kept it locked; see what else has the file open")
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use chrono::DateTime;

    use super::super::open::SqliteStore;
    use super::*;
    use crate::engine::ports::Store;

    fn wait<F: Future>(future: F) -> F::Output {
        tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap()
            .block_on(future)
    }

    fn store() -> (SqliteStore, tempfile::TempDir) {
        let folder = tempfile::tempdir().unwrap();
        (SqliteStore::open(folder.path()).unwrap(), folder)
    }

    /// Grows the file by a megabyte.
    async fn grow(store: &SqliteStore) -> Result<(), StoreError> {
        let insert = "INSERT INTO schedules VALUES ('big', ?1, 0) ON CONFLICT DO UPDATE SET fingerprint = ?1";
        store
            .worker
            .write(move |store| Ok(store.execute(insert, ["x".repeat(1 << 20)]).map(drop)?))
            .await
    }

    async fn limit_pages(store: &SqliteStore, most: u32) {
        let pragma = format!("PRAGMA max_page_count = {most}");
        store
            .worker
            .chore(move |store| Ok(store.query_one(&pragma, [], |_| Ok(()))?))
            .await
            .unwrap();
    }

    #[test]
    fn full_disk_is_said_and_the_store_goes_on_when_there_is_room() {
        let (store, _folder) = store();
        wait(store.rewind(DateTime::UNIX_EPOCH)).unwrap();
        wait(limit_pages(&store, 1));
        let error = wait(grow(&store)).unwrap_err();
        assert!(matches!(error, StoreError::Unusable { .. }), "{error}");
        assert!(error.to_string().contains("free some space"), "{error}");
        assert_eq!(wait(store.watermark()).unwrap(), Some(DateTime::UNIX_EPOCH));
        wait(limit_pages(&store, 1_000_000));
        wait(grow(&store)).unwrap();
    }

    #[test]
    fn file_that_another_process_keeps_locked_is_said() {
        let (store, _folder) = store();
        wait(
            store
                .worker
                .chore(|store| Ok(store.busy_timeout(Duration::ZERO)?)),
        )
        .unwrap();
        let other = rusqlite::Connection::open(store.path()).unwrap();
        other.execute_batch("BEGIN IMMEDIATE").unwrap();
        let error = wait(store.rewind(DateTime::UNIX_EPOCH)).unwrap_err();
        assert!(error.to_string().contains("another process"), "{error}");
        assert_eq!(wait(store.watermark()).unwrap(), None, "reading goes on");
        other.execute_batch("COMMIT").unwrap();
        wait(store.rewind(DateTime::UNIX_EPOCH)).unwrap();
    }

    #[test]
    fn statement_that_fails_undoes_its_whole_step() {
        let (store, _folder) = store();
        let error = wait(store.worker.write(|store| {
            store.execute("UPDATE meta SET watermark = 7", [])?;
            Ok(store
                .execute("UPDATE nowhere SET nothing = 1", [])
                .map(drop)?)
        }))
        .unwrap_err();
        assert!(
            matches!(&error, StoreError::Failed(message) if message.contains("nowhere")),
            "{error}"
        );
        assert_eq!(wait(store.watermark()).unwrap(), None);
    }

    #[test]
    fn every_failure_that_a_person_can_mend_names_the_way_out() {
        for code in [
            rusqlite::ffi::SQLITE_FULL,
            rusqlite::ffi::SQLITE_READONLY,
            rusqlite::ffi::SQLITE_PERM,
            rusqlite::ffi::SQLITE_CANTOPEN,
            rusqlite::ffi::SQLITE_IOERR,
            rusqlite::ffi::SQLITE_NOTADB,
            rusqlite::ffi::SQLITE_CORRUPT,
            rusqlite::ffi::SQLITE_BUSY,
            rusqlite::ffi::SQLITE_LOCKED,
        ] {
            let error = rusqlite::Error::SqliteFailure(rusqlite::ffi::Error::new(code), None);
            let error = Fault::from(error).at(Path::new("state/offpeak.db"));
            assert!(matches!(error, StoreError::Unusable { .. }), "{error}");
            assert!(
                error.to_string().starts_with("store state/offpeak.db: "),
                "{error}"
            );
        }
    }
}
