//! Connections that only read.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OpenFlags};

use super::fault::Fault;
use super::open::{PATIENCE, beside, log_of};
use super::schema;

/// How a file is read: as one that does not change, or with its log.
#[derive(Debug, Clone, Copy)]
pub(super) enum Rest {
    AtRest,
    Logged,
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

    pub(super) fn open(&self) -> Result<Connection, Fault> {
        match self.rest {
            Rest::AtRest => connect_at_rest(&self.path),
            Rest::Logged => connect_beside_writers(&self.path),
        }
    }
}

/// A connection for reading, and how it reads.
pub(super) fn connect_to_read(path: &Path) -> Result<(Connection, Rest), Fault> {
    if is_at_rest(path) {
        let connection = connect_at_rest(path)?;
        schema::version(&connection)?;
        // A writer that came before the file was open is seen here; one that comes later writes to its log first.
        if is_at_rest(path) {
            return Ok((connection, Rest::AtRest));
        }
    }
    Ok((connect_beside_writers(path)?, Rest::Logged))
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
