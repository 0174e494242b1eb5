//! A copy of the store while it is in use.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use tempfile::{Builder, NamedTempFile};

use super::fault::Fault;
use super::open::SqliteStore;
use crate::engine::ports::StoreError;

/// How every file of the library begins.
const MAGIC: &[u8; 16] = b"SQLite format 3\0";

impl SqliteStore {
    /// Writes a copy of the store as it is at one moment; whoever has it open goes on meanwhile.
    ///
    /// The copy takes its place in one step: an older copy stays whole until the new one is, and is then replaced. The
    /// copy opens as a store of its own, in a folder, under the name of the store's file.
    ///
    /// # Errors
    ///
    /// [`StoreError::Unusable`] if `to` is the store itself, a folder, or a file that is no database, or if it cannot be
    /// written; [`StoreError::Failed`] if the store cannot be read.
    pub async fn backup(&self, to: &Path) -> Result<(), StoreError> {
        let to = to.to_owned();
        let told = to.clone();
        may_replace(&to, self.path()).map_err(|why| unusable(&told, &why))?;
        let copy = beside(&to).map_err(|error| unusable(&told, &error.to_string()))?;
        let path = copy.path().to_owned();
        self.worker
            .chore(move |store| copy_into(store, &path))
            .await?;
        put(copy, &to).map_err(|error| unusable(&told, &error.to_string()))
    }
}

/// The library refuses to write into a file that holds something; this one is empty.
fn copy_into(store: &mut Connection, path: &Path) -> Result<(), Fault> {
    store.execute("VACUUM INTO ?1", [path.to_string_lossy()])?;
    Ok(())
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
fn may_replace(to: &Path, store: &Path) -> Result<(), String> {
    let found = match std::fs::metadata(to) {
        Ok(found) => found,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error.to_string()),
    };
    if found.is_dir() {
        return Err("it is a folder; name a file in it".to_owned());
    }
    if is_same(to, store) {
        return Err("it is the store itself; name another file".to_owned());
    }
    if found.len() > 0 && !is_database(to).map_err(|error| error.to_string())? {
        return Err("the file there is no copy of a store; name another file".to_owned());
    }
    Ok(())
}

fn is_same(one: &Path, two: &Path) -> bool {
    one.canonicalize()
        .is_ok_and(|one| two.canonicalize().is_ok_and(|two| one == two))
}

fn is_database(path: &Path) -> io::Result<bool> {
    let mut head = Vec::new();
    let limit = u64::try_from(MAGIC.len()).unwrap_or_default();
    File::open(path)?.take(limit).read_to_end(&mut head)?;
    Ok(head == MAGIC)
}

fn unusable(path: &Path, message: &str) -> StoreError {
    StoreError::Unusable {
        path: path.to_owned(),
        message: message.to_owned(),
    }
}
