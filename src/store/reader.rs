//! Connections that only read.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use rusqlite::{Connection, OpenFlags};

use super::fault::Fault;
use super::open::{PATIENCE, beside, log_of};
use super::schema;

/// How a file is read: as one that does not change, or with its log.
#[derive(Debug, Clone, Copy)]
pub(super) enum Rest {
    AtRest(Written),
    Logged,
}

/// When a file was last written, and how long it is: without locks and logs the library notices no change by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Written {
    at: SystemTime,
    bytes: u64,
}

impl Written {
    fn of(path: &Path) -> io::Result<Self> {
        let file = fs::metadata(path)?;
        Ok(Self {
            at: file.modified()?,
            bytes: file.len(),
        })
    }
}

/// Opens the file of a store once more, for reading only and in the same way.
#[derive(Debug)]
pub(super) struct Reader {
    path: PathBuf,
    rest: Rest,
}

impl Reader {
    pub(super) fn of(path: &Path, rest: Rest) -> Self {
        Self {
            path: path.to_owned(),
            rest,
        }
    }

    /// `None` if the file was at rest and a writer has come since, be it gone again.
    pub(super) fn open(&self) -> Result<Option<Connection>, Fault> {
        match self.rest {
            Rest::AtRest(written) => connect_while_at_rest(&self.path, written),
            Rest::Logged => connect_beside_writers(&self.path).map(Some),
        }
    }
}

/// A connection for reading, and how it reads.
pub(super) fn connect_to_read(path: &Path) -> Result<(Connection, Rest), Fault> {
    if let Ok(written) = Written::of(path)
        && is_at_rest(path)
        && let Some(connection) = connect_while_at_rest(path, written)?
    {
        return Ok((connection, Rest::AtRest(written)));
    }
    Ok((connect_beside_writers(path)?, Rest::Logged))
}

/// A connection to a file at rest; `None` if it is not as it was last written then.
fn connect_while_at_rest(path: &Path, written: Written) -> Result<Option<Connection>, Fault> {
    let connection = connect_at_rest(path)?;
    schema::version(&connection)?;
    // A writer that came before the file was open is seen here; one that comes later writes to its log first.
    let is_as_it_was = is_at_rest(path) && Written::of(path).is_ok_and(|now| now == written);
    Ok(is_as_it_was.then_some(connection))
}

/// Sees what writers commit to their log.
fn connect_beside_writers(path: &Path) -> Result<Connection, Fault> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(PATIENCE)?;
    Ok(connection)
}

/// Whether the file is whole by itself: a writer keeps a log beside it, and removes that at a clean end.
pub(super) fn is_at_rest(path: &Path) -> bool {
    [log_of(path), beside(path, "-journal")].iter().all(
        |log| matches!(fs::metadata(log), Err(error) if error.kind() == io::ErrorKind::NotFound),
    )
}

/// Without locks and logs. Read in the ordinary way, a file at rest gets a log and a `-shm` file that stay behind,
/// because a reader may not clean up.
pub(super) fn connect_at_rest(path: &Path) -> Result<Connection, Fault> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_URI;
    Ok(Connection::open_with_flags(immutable_uri(path), flags)?)
}

/// The path as a URI that promises the file does not change. Slashes are encoded too: two at the start would name a
/// host.
fn immutable_uri(path: &Path) -> String {
    let encoded = |byte: &u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
            char::from(*byte).to_string()
        }
        _ => format!("%{byte:02X}"),
    };
    let bytes = path.as_os_str().as_encoded_bytes().iter();
    format!(
        "file:{}?immutable=1",
        bytes.map(encoded).collect::<String>()
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::SqliteStore;

    fn write(path: &Path) -> Connection {
        let writer = Connection::open(path).unwrap();
        let update = "UPDATE meta SET beat_at = coalesce(beat_at, 0) + 1";
        assert_eq!(writer.execute(update, []).unwrap(), 1);
        writer
    }

    #[test]
    fn file_at_rest_is_opened_again_until_a_writer_comes_be_it_gone_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = {
            let store = SqliteStore::open(folder.path()).unwrap();
            store.path().to_owned()
        };
        // Times of files have a grain; the writer shall not come within it.
        let file = fs::File::options().append(true).open(&path).unwrap();
        file.set_modified(SystemTime::UNIX_EPOCH).unwrap();
        let store = SqliteStore::open_read(folder.path()).unwrap().unwrap();
        let reader = store.reader();
        assert!(matches!(reader.rest, Rest::AtRest(_)));
        assert!(reader.open().unwrap().is_some());
        let writer = write(&path);
        assert!(reader.open().unwrap().is_none(), "it is here");
        drop(writer);
        assert!(is_at_rest(&path));
        assert!(reader.open().unwrap().is_none(), "it was here");
    }

    #[test]
    fn file_beside_its_log_is_opened_again_whoever_writes() {
        let folder = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(folder.path()).unwrap();
        let _writer = write(store.path());
        let reader = SqliteStore::open_read(folder.path()).unwrap().unwrap();
        assert!(reader.reader().open().unwrap().is_some());
    }
}
