//! A copy of the store while it is in use.

use std::fs::{self, File, Metadata};
use std::io;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, ErrorCode, ffi};
use tempfile::{Builder, NamedTempFile};

use super::fault::Fault;
use super::lock::FILE as LOCK;
use super::open::SqliteStore;
use super::reader::{connect_at_rest, is_at_rest};
use super::schema;
use crate::engine::ports::StoreError;

/// How the files end that the library keeps beside a store.
const KEPT_BESIDE: [&str; 3] = ["-wal", "-shm", "-journal"];

impl SqliteStore {
    /// Writes a copy of the store as it is at one moment; whoever has it open goes on meanwhile.
    ///
    /// The copy takes its place in one step: an older copy stays whole until the new one is, and is then replaced. The
    /// copy opens as a store of its own, in a folder, under the name of the store's file.
    ///
    /// # Errors
    ///
    /// [`StoreError::Unusable`] if `to` is anything but an older copy or an empty file, or stands in the folder of a
    /// store, or if it cannot be written; [`StoreError::Failed`] if the store cannot be read.
    pub async fn backup(&self, to: &Path) -> Result<(), StoreError> {
        let to = to.to_owned();
        let told = to.clone();
        may_take(&to, self.path()).map_err(|why| unusable(&told, &why))?;
        let copy = beside(&to).map_err(|error| unusable(&told, &error.to_string()))?;
        let path = copy.path().to_owned();
        self.worker
            .chore(move |store| copy_into(store, &path, &to))
            .await?;
        put(copy, &told).map_err(|error| unusable(&told, &error.to_string()))
    }
}

/// The library refuses to write into a file that holds something; this one is empty. What keeps the copy from being
/// written is said of the place that it is for.
fn copy_into(store: &mut Connection, path: &Path, to: &Path) -> Result<(), Fault> {
    match store.execute("VACUUM INTO ?1", [path.to_string_lossy()]) {
        Ok(_) => Ok(()),
        Err(error) if is_of_copy(&error) => Err(unusable(
            to,
            &format!("{error}; free some space on its disk, or name another file"),
        )
        .into()),
        Err(error) => Err(error.into()),
    }
}

/// Whether writing failed: nothing is written but the copy.
fn is_of_copy(error: &rusqlite::Error) -> bool {
    let code = error.sqlite_error().map(|error| error.extended_code);
    error.sqlite_error_code() == Some(ErrorCode::DiskFull)
        || matches!(
            code,
            Some(ffi::SQLITE_IOERR_WRITE | ffi::SQLITE_IOERR_FSYNC | ffi::SQLITE_IOERR_TRUNCATE)
        )
}

fn beside(to: &Path) -> io::Result<NamedTempFile> {
    Builder::new()
        .prefix(".offpeak-backup-")
        .tempfile_in(folder(to))
}

/// Durable before it takes the place of an older copy, and the place itself durable too.
fn put(copy: NamedTempFile, to: &Path) -> io::Result<()> {
    copy.as_file().sync_all()?;
    copy.persist(to).map_err(|error| error.error)?;
    File::open(folder(to))?.sync_all()
}

fn folder(to: &Path) -> PathBuf {
    match to.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        Some(_) | None => PathBuf::from("."),
    }
}

/// Whether the copy may take this place; the error says why not, and what to do.
fn may_take(to: &Path, store: &Path) -> Result<(), String> {
    if is_same(to, store) {
        return Err("it is the store itself; name another file".to_owned());
    }
    let name = to.file_name().unwrap_or_default().to_string_lossy();
    if name == LOCK || KEPT_BESIDE.iter().any(|end| name.ends_with(end)) {
        return Err(format!(
            "`{name}` is what a file beside a store is called; name another file"
        ));
    }
    let folder = folder(to);
    if is_same(&folder, &self::folder(store)) || fs::symlink_metadata(folder.join(LOCK)).is_ok() {
        return Err("its folder is that of a store; name a file in another".to_owned());
    }
    match fs::symlink_metadata(to) {
        Ok(found) => may_replace(to, &found)?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error.to_string()),
    }
    if !is_at_rest(to) {
        return Err(
            "a log stands beside it: it is a store in use or after a crash; name another file"
                .to_owned(),
        );
    }
    Ok(())
}

/// Whether what is there may go: an empty file or an older copy. A device or a pipe has no length either.
fn may_replace(to: &Path, found: &Metadata) -> Result<(), String> {
    if found.is_dir() {
        return Err("it is a folder; name a file in it".to_owned());
    }
    if found.is_symlink() {
        return Err("it is a link; name the file that it stands for, or another".to_owned());
    }
    if !found.is_file() {
        return Err("it is no regular file; name another".to_owned());
    }
    if found.len() > 0 && !is_store(to) {
        return Err("the file there is no copy of a store; name another file".to_owned());
    }
    Ok(())
}

/// Whether a file is one of ours: other programs keep theirs in the library's form too. The look leaves nothing behind.
fn is_store(path: &Path) -> bool {
    let tables = "SELECT count(*) FROM sqlite_schema WHERE type = 'table'
        AND name IN ('meta', 'schedules', 'slots', 'runs', 'deferrals', 'guards')";
    let look = || -> Result<bool, Fault> {
        let connection = connect_at_rest(path)?;
        let found: i64 = connection.query_one(tables, [], |row| row.get(0))?;
        Ok(found == 6 && schema::version(&connection)? > 0)
    };
    look().unwrap_or(false)
}

fn is_same(one: &Path, two: &Path) -> bool {
    one.canonicalize()
        .is_ok_and(|one| two.canonicalize().is_ok_and(|two| one == two))
}

fn unusable(path: &Path, message: &str) -> StoreError {
    StoreError::Unusable {
        path: path.to_owned(),
        message: message.to_owned(),
    }
}
