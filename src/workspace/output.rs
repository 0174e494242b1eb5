//! Where an answer goes, and how it gets there in one step.

use std::fs::{self, File, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Component, Path, PathBuf};
use std::time::{Duration, SystemTime};

use chrono::{DateTime, Utc};
use rustix::fs::Access;
use tempfile::{Builder, NamedTempFile};

use super::error::WorkspaceError;
use super::template::{Variables, render};
use crate::job::Previous;

/// How the hidden names begin and end under which files are made.
const HIDDEN: (&str, &str) = (".offpeak-", ".tmp");

/// A hidden file that is older was left behind by a writer that was killed: making one takes seconds.
const LEFT_BEHIND: Duration = Duration::from_hours(1);

/// Where an answer goes, and how far it may go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Target {
    /// The file, absolute.
    pub(super) path: PathBuf,
    reach: Reach,
}

/// Where the file of a [`Target`] may be.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Reach {
    /// In this folder, also behind symbolic links.
    Inside(PathBuf),
    /// Anywhere: the pattern says so outright.
    Anywhere,
}

/// The path of an output: a pattern with its variables filled in, below the working folder.
///
/// A pattern that begins with `/` or `..` goes where it says. Nothing else leads out of the folder: no value, no `..`
/// further on, and no link.
///
/// `what` names the pattern in errors.
pub(super) fn place(
    folder: &Path,
    (what, pattern): (&str, &str),
    variables: &Variables,
) -> Result<Target, WorkspaceError> {
    let rendered = render(what, pattern, &variables.for_path())?;
    let outright = says_outright(pattern);
    let problem = if rendered.trim().is_empty() {
        Some("names no file")
    } else if rendered.contains(char::is_control) {
        Some("holds a control character")
    } else if is_folder(&rendered) {
        Some("names a folder")
    } else if !outright && inside(&rendered).is_none() {
        Some("leads out of the working folder")
    } else if parents(&rendered) > parents(pattern) {
        Some("leads further up than its beginning says")
    } else {
        None
    };
    if let Some(problem) = problem {
        return Err(WorkspaceError::BadOutput {
            pattern: pattern.to_owned(),
            rendered,
            problem,
        });
    }
    Ok(match inside(&rendered).filter(|_| !outright) {
        Some(path) => Target {
            path: folder.join(path),
            reach: Reach::Inside(folder.to_owned()),
        },
        None => Target {
            path: folder.join(rendered),
            reach: Reach::Anywhere,
        },
    })
}

fn is_folder(path: &str) -> bool {
    path.ends_with('/') || path.ends_with("/.") || Path::new(path).file_name().is_none()
}

/// Whether the pattern itself begins at the root or above the working folder.
fn says_outright(pattern: &str) -> bool {
    let mut parts = Path::new(pattern).components();
    let first = parts.find(|part| *part != Component::CurDir);
    matches!(
        first,
        Some(Component::RootDir | Component::ParentDir | Component::Prefix(_))
    )
}

fn parents(path: &str) -> usize {
    let parts = Path::new(path).components();
    parts.filter(|part| *part == Component::ParentDir).count()
}

/// A relative path without `.` and `..`; `None` if it leads out of where it starts.
fn inside(path: &str) -> Option<PathBuf> {
    let mut inside = PathBuf::new();
    for part in Path::new(path).components() {
        match part {
            Component::CurDir => {}
            Component::Normal(name) => inside.push(name),
            Component::ParentDir => {
                if !inside.pop() {
                    return None;
                }
            }
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(inside)
}

impl Target {
    /// The place for an incomplete answer: `NAME.incomplete-20261204T200000Z.EXT` for the output `NAME.EXT`, with the
    /// name of the item behind the instant if others have the same output.
    pub(super) fn beside(&self, fire_at: DateTime<Utc>, item: Option<&str>) -> Self {
        let stem = self.path.file_stem().unwrap_or_default().to_string_lossy();
        let mut name = format!("{stem}.incomplete-{}", fire_at.format("%Y%m%dT%H%M%SZ"));
        if let Some(item) = item {
            name.extend(["-", item]);
        }
        if let Some(extension) = self.path.extension() {
            name.push('.');
            name.push_str(&extension.to_string_lossy());
        }
        Self {
            path: self.path.with_file_name(name),
            reach: self.reach.clone(),
        }
    }

    /// Refuses a file whose folders, or which itself, are links that lead out of where it may be.
    ///
    /// Who may change the working folder in the same instant can still lead us elsewhere; he could also change the
    /// jobs.
    pub(super) fn stay_inside(&self) -> io::Result<()> {
        let Reach::Inside(folder) = &self.reach else {
            return Ok(());
        };
        let folder = fs::canonicalize(folder)?;
        let mut there = self.path.ancestors().map(fs::canonicalize);
        match there.find_map(Result::ok) {
            Some(end) if !end.starts_with(&folder) => Err(io::Error::other(format!(
                "a symbolic link leads out of the working folder to {}; if that is meant, write it in `output`",
                end.display()
            ))),
            Some(_) | None => Ok(()),
        }
    }

    /// Whether the file could be written now, as far as that can be told without writing.
    pub(super) fn check(&self, manner: Manner) -> io::Result<()> {
        self.stay_inside()?;
        let path = fs::canonicalize(&self.path).unwrap_or_else(|_| self.path.clone());
        match (fs::metadata(&path), manner) {
            (Ok(found), _) if !found.is_file() => Err(not_regular()),
            (Ok(_), Manner::AtEnd) => Ok(rustix::fs::access(
                &path,
                Access::READ_OK | Access::WRITE_OK,
            )?),
            (Ok(_) | Err(_), _) => check_folder(&path),
        }
    }
}

/// How a file is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Manner {
    /// A new one takes its place.
    Whole,
    /// Something is put at its end.
    AtEnd,
}

/// Whether the nearest folder above a file that is there takes new files.
fn check_folder(path: &Path) -> io::Result<()> {
    for folder in path.ancestors().skip(1) {
        match fs::metadata(folder) {
            Ok(found) if found.is_dir() => {
                return Ok(rustix::fs::access(
                    folder,
                    Access::WRITE_OK | Access::EXEC_OK,
                )?);
            }
            Ok(_) => return Err(io::ErrorKind::NotADirectory.into()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            // The one above is no folder, and is looked at next.
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::ErrorKind::NotFound.into())
}

pub(super) fn not_regular() -> io::Error {
    io::Error::other("it is there and is not a regular file")
}

/// Puts a new file in the place of an old one in one step, durable when it returns.
///
/// `write` fills the new file under another name in the same folder. If it or
/// anything else fails, the old file stands as it was and the other name is gone.
/// A symbolic link keeps pointing where it points; the file behind it is replaced. Of a file with several names, the
/// others keep the old text. What killed writers left in the folder under such names goes, once it is old.
pub(super) fn replace(
    target: &Target,
    previous: Previous,
    write: impl FnOnce(&mut File) -> io::Result<()>,
) -> Result<(), WorkspaceError> {
    replace_file(target, previous, write).map_err(|source| WorkspaceError::Unwritable {
        path: target.path.clone(),
        source,
    })
}

fn replace_file(
    target: &Target,
    previous: Previous,
    write: impl FnOnce(&mut File) -> io::Result<()>,
) -> io::Result<()> {
    target.stay_inside()?;
    // A link whose end is missing is replaced itself.
    let path = &fs::canonicalize(&target.path).unwrap_or_else(|_| target.path.clone());
    let folder = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
    fs::create_dir_all(folder)?;
    let old = match fs::metadata(path) {
        Ok(found) if found.is_file() => Some(found),
        Ok(_) => return Err(not_regular()),
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
    let written_at = new.as_file().metadata()?.modified();
    new.persist(path).map_err(|error| error.error)?;
    if let Err(error) = written_at.and_then(|now| sweep(folder, now)) {
        tracing::debug!(folder = %folder.display(), "what killed writers left cannot be removed: {error}");
    }
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

/// Removes what killed writers left behind. `now` is the time of the file system, which may be another machine's.
fn sweep(folder: &Path, now: SystemTime) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.starts_with(HIDDEN.0) && name.ends_with(HIDDEN.1) && is_left(&entry, now)? {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

fn is_left(entry: &fs::DirEntry, now: SystemTime) -> io::Result<bool> {
    let found = entry.metadata()?;
    let age = now.duration_since(found.modified()?).unwrap_or_default();
    // A second name of an output is as old as that, and may be about to become its `.previous`.
    Ok(found.is_file() && found.nlink() == 1 && age > LEFT_BEHIND)
}

/// A file under a hidden name, readable by whom the user's umask says: others may well serve or sync the outputs.
fn new_file(folder: &Path) -> io::Result<NamedTempFile> {
    hidden()
        .permissions(Permissions::from_mode(0o666))
        .tempfile_in(folder)
}

fn hidden() -> Builder<'static, 'static> {
    let mut builder = Builder::new();
    builder.prefix(HIDDEN.0).suffix(HIDDEN.1);
    builder
}

#[cfg(test)]
mod tests;
