//! Puts edited files in the place of the old ones.
//!
//! Every file is read again, checked and written under another name first;
//! only then do the new ones take their places, each in one step, if the old
//! ones are still the same. A kill leaves every file as it was or as it is to
//! be; what it leaves beside them is swept away by the next write.

use std::collections::BTreeMap;
use std::fs::{self, Metadata};
use std::io::Write;
use std::os::unix::fs::{MetadataExt, fchown};
use std::path::{Path, PathBuf};

use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};
use tempfile::NamedTempFile;

use super::super::bounded::read_bounded;
use super::super::context::reason;
use super::super::decode_keys;
use super::super::files;
use super::super::source::Source;
use super::super::sources::Sources;
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
    #[error("{file} and {other} are one file; nothing was written: keep one of the names")]
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
    old: Version,
}

/// What changes whenever a file is written or replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Version {
    device: u64,
    inode: u64,
    bytes: u64,
    changed: (i64, i64),
}

impl Version {
    fn of(found: &Metadata) -> Self {
        Self {
            device: found.dev(),
            inode: found.ino(),
            bytes: found.len(),
            changed: (found.ctime(), found.ctime_nsec()),
        }
    }

    fn is_still_at(self, path: &Path) -> bool {
        fs::metadata(path).is_ok_and(|found| Self::of(&found) == self)
    }
}

/// Writes edits: all, or none if one of them cannot be prepared.
///
/// Permissions stay; a symbolic link keeps pointing where it points, and the file behind it is replaced.
///
/// # Errors
///
/// A file has changed since it was read, two names lead to one file, or the
/// system refuses. Only [`WriteError::Partly`] leaves files written; it names them.
pub fn write(edits: &[FileEdit], sources: &Sources) -> Result<(), WriteError> {
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
    refuse_other_names(&ready, sources)?;
    // To write and to sync takes long enough for an editor to save.
    if let Some(changed) = ready
        .values()
        .find(|ready| !ready.old.is_still_at(&ready.path))
    {
        let file = changed.edit.file().to_owned();
        return Err(WriteError::Changed { file });
    }
    let mut written = Vec::new();
    for ready in ready.into_values() {
        let file = ready.edit.file().to_owned();
        if !ready.old.is_still_at(&ready.path) {
            return Err(WriteError::Partly {
                file,
                reason: "it has changed meanwhile".to_owned(),
                written,
            });
        }
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

/// A file that was read under a second name, too, would say two things of one text.
fn refuse_other_names(
    ready: &BTreeMap<PathBuf, Ready<'_>>,
    sources: &Sources,
) -> Result<(), WriteError> {
    for (path, name) in sources.files() {
        let Some(edited) = fs::canonicalize(path)
            .ok()
            .and_then(|path| ready.get(&path))
        else {
            continue;
        };
        if edited.edit.path() != path {
            return Err(WriteError::Twice {
                file: edited.edit.file().to_owned(),
                other: name.to_owned(),
            });
        }
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
    if old.nlink() > 1 {
        let reason = "it has a second name (a hard link), which would keep the old text";
        return Err(unwritable(reason.to_owned()));
    }
    fs::OpenOptions::new()
        .write(true)
        .open(&path)
        .map_err(told)?;
    if fs::metadata(folder).map_err(told)?.permissions().readonly() {
        return Err(unwritable("its folder is read-only".to_owned()));
    }
    let text = read_bounded(&path).map_err(|unread| unwritable(unread.to_string()))?;
    if !is_as_read(edit, &text) {
        return Err(WriteError::Changed {
            file: edit.file().to_owned(),
        });
    }
    sweep(folder);
    let new = new_file(folder, &edit.spliced(&text), &old).map_err(told)?;
    let old = Version::of(&old);
    Ok(Ready {
        edit,
        new,
        path,
        old,
    })
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

/// How the files begin that wait to take a place; the number of their process follows.
const WAITING: &str = ".offpeak-";

/// Removes what a process that was killed has left in a folder; a file of one that lives is left alone.
fn sweep(folder: &Path) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let process = name
            .to_str()
            .and_then(|name| name.strip_prefix(WAITING)?.strip_suffix(".tmp"))
            .and_then(|rest| rest.split_once('-')?.0.parse().ok())
            .and_then(Pid::from_raw);
        if process.is_some_and(|process| test_kill_process(process) == Err(Errno::SRCH)) {
            // Whoever else sweeps just now may have been faster.
            let _ = fs::remove_file(entry.path());
        }
    }
}

fn new_file(folder: &Path, text: &str, old: &Metadata) -> std::io::Result<NamedTempFile> {
    let mut new = tempfile::Builder::new()
        .prefix(&format!("{WAITING}{}-", std::process::id()))
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
