//! Puts edited files in the place of the old ones.
//!
//! Every file is read again, checked and written under another name first;
//! only then do the new ones take their places, each in one step. A kill leaves
//! every file as it was or as it is to be.

use std::collections::BTreeMap;
use std::fs::{self, Metadata};
use std::io::Write;
use std::os::unix::fs::{MetadataExt, fchown};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use super::super::bounded::read_bounded;
use super::super::context::reason;
use super::super::decode_keys;
use super::super::files;
use super::super::source::Source;
use super::FileEdit;

/// Why files were not written, or not all of them.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WriteError {
    /// The file is not as it was when it was read.
    #[error("{file} has changed since it was read; nothing was written: run the command again")]
    Changed {
        /// The path as shown to people.
        file: String,
    },
    /// Two names lead to one file.
    #[error("{file} and {other} are one file; nothing was written: name it once")]
    Twice {
        /// One name as shown to people.
        file: String,
        /// The other.
        other: String,
    },
    /// A file cannot be read again, or its new text cannot be written.
    #[error("{file} cannot be written: {reason}; nothing was written")]
    Unwritable {
        /// The path as shown to people.
        file: String,
        /// What the system says.
        reason: String,
    },
    /// Some files have their new text and others do not.
    #[error(
        "{file} cannot be replaced: {reason}; written before that: {}",
        none_or(written)
    )]
    Partly {
        /// The path as shown to people.
        file: String,
        /// What the system says.
        reason: String,
        /// The files that have their new text.
        written: Vec<String>,
    },
}

fn none_or(files: &[String]) -> String {
    if files.is_empty() {
        "nothing".to_owned()
    } else {
        files.join(", ")
    }
}

/// A new text under another name, ready to take its place.
struct Ready<'e> {
    edit: &'e FileEdit,
    new: NamedTempFile,
    path: PathBuf,
}

/// Writes edits: all, or none if one of them cannot be prepared.
///
/// Permissions stay; a symbolic link keeps pointing where it points, and the file behind it is replaced.
///
/// # Errors
///
/// A file has changed since it was read, two names lead to one file, or the
/// system refuses. Only [`WriteError::Partly`] leaves files written; it names them.
pub fn write(edits: &[FileEdit]) -> Result<(), WriteError> {
    let mut ready: BTreeMap<PathBuf, Ready<'_>> = BTreeMap::new();
    for edit in edits {
        let prepared = prepare(edit)?;
        if let Some(other) = ready.get(&prepared.path) {
            return Err(WriteError::Twice {
                file: other.edit.file().to_owned(),
                other: edit.file().to_owned(),
            });
        }
        ready.insert(prepared.path.clone(), prepared);
    }
    let mut written = Vec::new();
    for ready in ready.into_values() {
        let file = ready.edit.file().to_owned();
        if let Err(error) = ready.new.persist(&ready.path) {
            return Err(WriteError::Partly {
                file,
                reason: reason(&error.error),
                written,
            });
        }
        written.push(file);
        make_durable(&ready.path);
    }
    Ok(())
}

fn prepare(edit: &FileEdit) -> Result<Ready<'_>, WriteError> {
    let unwritable = |reason: String| WriteError::Unwritable {
        file: edit.file().to_owned(),
        reason,
    };
    let told = |error: std::io::Error| unwritable(reason(&error));
    let path = fs::canonicalize(edit.path()).map_err(told)?;
    let old = fs::metadata(&path).map_err(told)?;
    let folder = path.parent().unwrap_or(Path::new("/"));
    // A rename asks the folder only; a file that is not to be written says so itself.
    if old.permissions().readonly() {
        return Err(unwritable("it is read-only".to_owned()));
    }
    if fs::metadata(folder).map_err(told)?.permissions().readonly() {
        return Err(unwritable("its folder is read-only".to_owned()));
    }
    let text = read_bounded(&path).map_err(|unread| unwritable(unread.to_string()))?;
    if !is_as_read(edit, &text) {
        return Err(WriteError::Changed {
            file: edit.file().to_owned(),
        });
    }
    let new = new_file(folder, &edit.spliced(&text), &old).map_err(told)?;
    Ok(Ready { edit, new, path })
}

/// Whether a text is that of the source, where it is not masked.
fn is_as_read(edit: &FileEdit, text: &str) -> bool {
    let read = &edit.source;
    let again = Source::new(read.path().to_owned(), read.name(), text.to_owned());
    if again.text() == read.text() {
        return true;
    }
    // The settings are masked a second time, by what stands in them.
    let masked = files::parse(again)
        .ok()
        .and_then(|document| decode_keys::masked(&document.source, &document.tree));
    masked.is_some_and(|masked| masked.text() == read.text())
}

fn new_file(folder: &Path, text: &str, old: &Metadata) -> std::io::Result<NamedTempFile> {
    let mut new = tempfile::Builder::new()
        .prefix(".offpeak-")
        .suffix(".tmp")
        .tempfile_in(folder)?;
    new.write_all(text.as_bytes())?;
    let made = new.as_file().metadata()?;
    if (made.uid(), made.gid()) != (old.uid(), old.gid()) {
        // Only root may give a file away; for others the new one is their own.
        let _ = fchown(new.as_file(), Some(old.uid()), Some(old.gid()));
    }
    new.as_file().set_permissions(old.permissions())?;
    new.as_file().sync_all()?;
    Ok(new)
}

/// Asks the folder to remember the new name; some network file systems cannot promise it.
fn make_durable(path: &Path) {
    if let Some(folder) = path.parent() {
        let _ = fs::File::open(folder).and_then(|folder| folder.sync_all());
    }
}
