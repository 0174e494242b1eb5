//! Opening the file.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::fault::Fault;
use super::reader::{Reader, Rest, connect_to_read};
use super::schema::{self, MIGRATIONS};
use super::thread::Worker;
use crate::engine::ports::StoreError;

/// The file's name in the store's folder.
const FILE: &str = "offpeak.db";

/// How long a transaction waits for another process. Ours take milliseconds; a backup may hold the file for seconds.
/// The store's thread waits as long, unless it is to end, see [`super::busy`].
pub(super) const PATIENCE: Duration = Duration::from_secs(10);

/// How many compiled statements are kept: all that this module has.
const STATEMENTS: usize = 64;

/// The store on disk; several processes may open the same folder.
#[derive(Debug)]
pub struct SqliteStore {
    pub(super) worker: Worker,
    rest: Rest,
}

/// Which files were opened: a folder that was removed or replaced must not swallow what we write.
#[derive(Debug, Clone, Copy)]
pub(super) struct Identity {
    file: Mark,
    /// What a writer keeps beside the file while it has it open. Who removes one parts us from the other processes, which
    /// begin a new one.
    beside: Option<Beside>,
}

/// The files beside that of a writer, which stay until the last process closes it.
#[derive(Debug, Clone, Copy)]
struct Beside {
    log: Mark,
    /// Where the processes say to each other how far the log reaches, and who writes.
    shared: Mark,
}

/// What makes a file the same file, whatever it is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Mark {
    #[cfg(unix)]
    device: u64,
    #[cfg(unix)]
    inode: u64,
}

impl SqliteStore {
    /// Opens the store in `folder`, creating both if there is none, and brings an older file up to date.
    ///
    /// # Errors
    ///
    /// [`StoreError::Unusable`] if the folder or the file cannot be created, read or written, or is something else;
    /// [`StoreError::Newer`] if a newer version wrote it.
    pub fn open(folder: &Path) -> Result<Self, StoreError> {
        Self::make_folder(folder)?;
        let path = folder.join(FILE);
        create_file(&path).map_err(|error| unusable(&path, &error))?;
        keep_orphaned_log(&path)?;
        let connection = connect(&path, MIGRATIONS).map_err(|fault| fault.at(&path))?;
        let file = Identity::of_writer(&path).map_err(|error| unusable(&path, &error))?;
        Self::around((connection, Rest::Logged), path, file)
    }

    /// Makes the folder of a store, if there is none, for whoever takes the lock of a daemon before it opens the file.
    ///
    /// # Errors
    ///
    /// [`StoreError::Unusable`] if the folder cannot be created, or is something else.
    pub fn make_folder(folder: &Path) -> Result<(), StoreError> {
        create_folder(folder).map_err(|error| unusable(folder, &error))
    }

    /// Opens the store in `folder` as [`SqliteStore::open`] does, if there is one: asking what to lift or to drop must
    /// not leave an empty store behind.
    ///
    /// # Errors
    ///
    /// As [`SqliteStore::open`].
    pub fn open_existing(folder: &Path) -> Result<Option<Self>, StoreError> {
        let path = folder.join(FILE);
        match fs::metadata(&path) {
            Ok(_) => Self::open(folder).map(Some),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(unusable(&path, &error)),
        }
    }

    /// Opens the store in `folder` for reading only; `None` if there is none. Creates and changes nothing, so that the
    /// folder may be one that this user cannot write; beside a writer, or after a crash, the library still needs its
    /// `-shm` file there.
    ///
    /// For a look that takes a moment: if nobody has the file open it is read as one that does not change. What a
    /// writer that starts meanwhile commits goes to its log, which such a reader does not see: it reads on in the state
    /// that it found, which holds until that writer copies its log back, after four megabytes or at its end.
    ///
    /// # Errors
    ///
    /// As [`SqliteStore::open`]; an older file is [`StoreError::Unusable`] until a command that writes has opened it.
    pub fn open_read(folder: &Path) -> Result<Option<Self>, StoreError> {
        let path = folder.join(FILE);
        match fs::metadata(&path) {
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(unusable(&path, &error)),
        }
        keep_orphaned_log(&path)?;
        let (connection, rest) = connect_to_read(&path).map_err(|fault| fault.at(&path))?;
        let file = Identity::of_reader(&path).map_err(|error| unusable(&path, &error))?;
        match schema::version(&connection).map_err(|fault| fault.at(&path))? {
            // The file was made a moment ago, and nothing is in it.
            0 => Ok(None),
            found if found == schema::known(MIGRATIONS) => {
                Self::around((connection, rest), path, file).map(Some)
            }
            found if found > schema::known(MIGRATIONS) => Err(StoreError::Newer {
                path,
                found,
                known: schema::known(MIGRATIONS),
            }),
            found => Err(StoreError::Unusable {
                path,
                message: format!(
                    "schema version {found} is older than {}; start the daemon or a run once to bring it up to date",
                    schema::known(MIGRATIONS)
                ),
            }),
        }
    }

    /// The store's file.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.worker.path()
    }

    /// How long the log beside the file is.
    pub(super) fn log_bytes(&self) -> u64 {
        fs::metadata(log_of(self.path())).map_or(0, |found| found.len())
    }

    /// What opens the file a second time.
    pub(super) fn reader(&self) -> Reader {
        Reader::of(self.path(), self.rest)
    }

    fn around(
        (connection, rest): (Connection, Rest),
        path: PathBuf,
        file: Identity,
    ) -> Result<Self, StoreError> {
        Ok(Self {
            worker: Worker::start(connection, path, file)?,
            rest,
        })
    }
}

impl Identity {
    fn of_writer(path: &Path) -> io::Result<Self> {
        Ok(Self {
            file: Mark::of(path)?,
            beside: Some(Beside {
                log: Mark::of(&log_of(path))?,
                shared: Mark::of(&shared_of(path))?,
            }),
        })
    }

    /// Beside a reader, they come and go with the writers.
    fn of_reader(path: &Path) -> io::Result<Self> {
        Ok(Self {
            file: Mark::of(path)?,
            beside: None,
        })
    }

    /// Fails if the path names another file by now, or none.
    pub(super) fn check(self, path: &Path) -> Result<(), StoreError> {
        self.file.check(path)?;
        self.beside.map_or(Ok(()), |beside| {
            beside.log.check(&log_of(path))?;
            beside.shared.check(&shared_of(path))
        })
    }
}

impl Mark {
    fn of(path: &Path) -> io::Result<Self> {
        let found = fs::metadata(path)?;
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt;
            Ok(Self {
                device: found.dev(),
                inode: found.ino(),
            })
        }
        #[cfg(not(unix))]
        {
            let _ = found;
            Ok(Self {})
        }
    }

    fn check(self, path: &Path) -> Result<(), StoreError> {
        match Self::of(path) {
            Ok(found) if found == self => Ok(()),
            Ok(_) => Err(gone(path, "the file was replaced while it was open")),
            Err(error) => Err(gone(path, &format!("the file is gone ({error})"))),
        }
    }
}

fn gone(path: &Path, what: &str) -> StoreError {
    StoreError::Unusable {
        path: path.to_owned(),
        message: format!("{what}; put it back, or start again"),
    }
}

fn unusable(path: &Path, error: &io::Error) -> StoreError {
    StoreError::Unusable {
        path: path.to_owned(),
        message: format!(
            "{error}; make it a folder that this user may write, or give another one with --store"
        ),
    }
}

/// Answers and prompts' traces are nobody else's business.
fn create_folder(folder: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Made by us and not by the library: the errors of the system say more than "unable to open".
fn create_file(path: &Path) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path).map(drop)
}

/// An open connection to an up-to-date file.
fn connect(path: &Path, migrations: &[&str]) -> Result<Connection, Fault> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(PATIENCE)?;
    // A newer file is left as it is, its journal included.
    let found = schema::version(&connection)?;
    let known = schema::known(migrations);
    if found > known {
        return Err(StoreError::Newer {
            path: path.to_owned(),
            found,
            known,
        }
        .into());
    }
    use_write_ahead_log(&mut connection)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "foreign_keys", "ON")?;
    schema::migrate(&mut connection, path, migrations)?;
    Ok(connection)
}

/// The write-ahead log of a file.
pub(super) fn log_of(path: &Path) -> PathBuf {
    beside(path, "-wal")
}

/// The memory that the processes share over a file and its log.
fn shared_of(path: &Path) -> PathBuf {
    beside(path, "-shm")
}

pub(super) fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// Refuses a file without a byte beside a log that has some: the library would take it for a new file and remove the
/// log, which holds the last that is left of the history.
fn keep_orphaned_log(path: &Path) -> Result<(), StoreError> {
    let length = |path: &Path| fs::metadata(path).map_or(0, |found| found.len());
    let log = log_of(path);
    if length(path) > 0 || length(&log) == 0 {
        return Ok(());
    }
    Err(StoreError::Unusable {
        path: path.to_owned(),
        message: format!(
            "the file is empty, but its log {} is not; move both away, and put a copy made by `offpeak store backup` \
             in the file's place or begin a new history",
            log.display()
        ),
    })
}

/// Readers and one writer at once. Changing the mode of a new file wants it alone, and does not wait for that by
/// itself: an empty transaction does the waiting.
fn use_write_ahead_log(connection: &mut Connection) -> Result<(), Fault> {
    loop {
        let changed: Result<String, _> =
            connection.query_one("PRAGMA journal_mode = WAL", [], |row| row.get(0));
        match changed {
            Ok(mode) if mode.eq_ignore_ascii_case("wal") => return Ok(()),
            Ok(mode) => {
                let message =
                    format!("this disk allows no write-ahead log (the mode stays `{mode}`)");
                return Err(StoreError::Failed(message).into());
            }
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) => {
                connection.execute_batch("BEGIN EXCLUSIVE; COMMIT")?;
            }
            Err(error) => return Err(error.into()),
        }
    }
}
