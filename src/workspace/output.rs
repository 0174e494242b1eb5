//! Where an answer goes, and how it gets there in one step.

use std::fs::{self, File, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Component, Path, PathBuf};

use chrono::{DateTime, Utc};
use tempfile::{Builder, NamedTempFile};

use super::error::WorkspaceError;
use super::template::{Variables, render};
use crate::job::Previous;

/// The path of an output: a pattern with its variables filled in, below the working folder.
///
/// A pattern that is itself absolute or holds `..` goes where it says; values never lead out of the folder.
pub(super) fn place(
    folder: &Path,
    pattern: &str,
    variables: &Variables,
) -> Result<PathBuf, WorkspaceError> {
    let rendered = render("output.file", pattern, &variables.for_path())?;
    let problem = if rendered.trim().is_empty() {
        Some("names no file")
    } else if is_folder(&rendered) {
        Some("names a folder")
    } else if leads_out(&rendered) && !leads_out(pattern) {
        Some("leads out of the working folder")
    } else {
        None
    };
    match problem {
        None => Ok(folder.join(rendered)),
        Some(problem) => Err(WorkspaceError::BadOutput {
            pattern: pattern.to_owned(),
            rendered,
            problem,
        }),
    }
}

fn is_folder(path: &str) -> bool {
    path.ends_with('/') || path.ends_with("/.") || Path::new(path).file_name().is_none()
}

fn leads_out(path: &str) -> bool {
    Path::new(path).components().any(|part| match part {
        Component::ParentDir | Component::RootDir | Component::Prefix(_) => true,
        Component::CurDir | Component::Normal(_) => false,
    })
}

/// The name for an incomplete answer: `NAME.incomplete-20261204T200000Z.EXT` for the output `NAME.EXT`.
pub(super) fn beside(output: &Path, fire_at: DateTime<Utc>) -> PathBuf {
    let stem = output.file_stem().unwrap_or_default().to_string_lossy();
    let mut name = format!("{stem}.incomplete-{}", fire_at.format("%Y%m%dT%H%M%SZ"));
    if let Some(extension) = output.extension() {
        name.push('.');
        name.push_str(&extension.to_string_lossy());
    }
    output.with_file_name(name)
}

/// Puts a new file in the place of an old one in one step, durable when it returns.
///
/// `write` fills the new file under another name in the same folder. If it or
/// anything else fails, the old file stands as it was and the other name is gone.
/// A symbolic link keeps pointing where it points; the file behind it is replaced.
pub(super) fn replace(
    path: &Path,
    previous: Previous,
    write: impl FnOnce(&mut File) -> io::Result<()>,
) -> Result<(), WorkspaceError> {
    replace_file(path, previous, write).map_err(|source| WorkspaceError::Unwritable {
        path: path.to_owned(),
        source,
    })
}

fn replace_file(
    path: &Path,
    previous: Previous,
    write: impl FnOnce(&mut File) -> io::Result<()>,
) -> io::Result<()> {
    // A link whose end is missing is replaced itself.
    let path = &fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let folder = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
    fs::create_dir_all(folder)?;
    let old = match fs::metadata(path) {
        Ok(found) if found.is_file() => Some(found),
        Ok(_) => return Err(io::Error::other("it is there and is not a regular file")),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    let mut new = new_file(folder)?;
    write(new.as_file_mut())?;
    if let Some(old) = &old {
        new.as_file().set_permissions(old.permissions())?;
    }
    new.as_file().sync_all()?;
    if old.is_some() && previous == Previous::Keep {
        keep_previous(path, folder)?;
    }
    new.persist(path).map_err(|error| error.error)?;
    if let Err(error) = File::open(folder).and_then(|folder| folder.sync_all()) {
        // The new file is in its place; some network file systems cannot promise more.
        tracing::warn!(path = %path.display(), "the folder of an output cannot be made durable: {error}");
    }
    Ok(())
}

/// Gives the old file a second name, also in one step; it keeps its own until the new file takes it.
fn keep_previous(path: &Path, folder: &Path) -> io::Result<()> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".previous");
    let second = match hidden().make_in(folder, |second| fs::hard_link(path, second)) {
        Ok(linked) => linked.into_temp_path(),
        // A file system without hard links, or a file that someone else owns; a copy serves as well.
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::Unsupported | io::ErrorKind::PermissionDenied
            ) =>
        {
            copy(path, folder)?.into_temp_path()
        }
        Err(error) => return Err(error),
    };
    second
        .persist(path.with_file_name(name))
        .map_err(|error| error.error)
}

fn copy(path: &Path, folder: &Path) -> io::Result<NamedTempFile> {
    let mut new = new_file(folder)?;
    io::copy(&mut File::open(path)?, new.as_file_mut())?;
    new.as_file().sync_all()?;
    Ok(new)
}

/// A file under a hidden name, readable by whom the user's umask says: others may well serve or sync the outputs.
fn new_file(folder: &Path) -> io::Result<NamedTempFile> {
    hidden()
        .permissions(Permissions::from_mode(0o666))
        .tempfile_in(folder)
}

fn hidden() -> Builder<'static, 'static> {
    let mut builder = Builder::new();
    builder.prefix(".offpeak-").suffix(".tmp");
    builder
}

#[cfg(test)]
mod tests;
