//! Puts an answer at the end of a file.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

use super::error::WorkspaceError;
use super::output::{Target, not_regular};

/// Adds an entry to a file that may not be there yet, durable when it returns.
///
/// One blank line parts it from what stands there, and it ends its last line. `write` gets the whole addition; if it
/// or anything after it fails, the file is cut back to what it was. A symbolic link is followed as far as
/// [`Target::stay_inside`] lets it, and one whose end is missing is refused.
pub(super) fn append(
    target: &Target,
    entry: &str,
    write: impl FnOnce(&mut File, &[u8]) -> io::Result<()>,
) -> Result<(), WorkspaceError> {
    append_to(target, entry, write).map_err(|source| WorkspaceError::Unappended {
        path: target.path.clone(),
        source,
    })
}

/// Writes the whole addition.
pub(super) fn whole(file: &mut File, addition: &[u8]) -> io::Result<()> {
    file.write_all(addition)
}

fn append_to(
    target: &Target,
    entry: &str,
    write: impl FnOnce(&mut File, &[u8]) -> io::Result<()>,
) -> io::Result<()> {
    target.stay_inside()?;
    let path = &fs::canonicalize(&target.path).unwrap_or_else(|_| target.path.clone());
    let folder = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
    fs::create_dir_all(folder)?;
    let mut file = open(path)?;
    // Jobs may share a file, and so may a daemon and a `run`: nobody cuts back what another has written.
    lock(&file)?;
    let length = file.metadata()?.len();
    let addition = [gap(&mut file, length)?, entry.trim_end_matches('\n'), "\n"].concat();
    let written = write(&mut file, addition.as_bytes()).and_then(|()| file.sync_all());
    if let Err(error) = written {
        return Err(match file.set_len(length) {
            Ok(()) => error,
            Err(second) => io::Error::other(format!(
                "{error}; what was written of it cannot be taken back: {second}"
            )),
        });
    }
    if length == 0
        && let Err(error) = File::open(folder).and_then(|folder| folder.sync_all())
    {
        // The entry is in the file; some network file systems cannot promise more.
        tracing::warn!(path = %path.display(), "the folder of an output cannot be made durable: {error}");
    }
    Ok(())
}

/// Takes the file's lock if nobody has it; [`io::ErrorKind::WouldBlock`] if somebody does.
fn lock(file: &File) -> io::Result<()> {
    match file.try_lock() {
        Ok(()) => Ok(()),
        Err(TryLockError::WouldBlock) => Err(io::Error::new(
            io::ErrorKind::WouldBlock,
            "another program has locked it",
        )),
        Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => Ok(()),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// Opens a regular file, or makes one; nothing is made behind a link.
fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).append(true);
    // Another may make the file between the look and the making.
    for _ in 0..2 {
        match fs::metadata(path) {
            Ok(found) if found.is_file() => return options.open(path),
            Ok(_) => return Err(not_regular()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
        match options.clone().create_new(true).open(path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            made => return made,
        }
    }
    Err(io::Error::other("it is a symbolic link that leads nowhere"))
}

/// What has to come between the end of the file and the entry for one blank line to part them.
fn gap(file: &mut File, length: u64) -> io::Result<&'static str> {
    let mut end = Vec::new();
    file.seek(SeekFrom::Start(length.saturating_sub(2)))?;
    file.take(2).read_to_end(&mut end)?;
    Ok(match end.as_slice() {
        [] | [b'\n'] | [b'\n', b'\n'] => "",
        [.., b'\n'] => "\n",
        _ => "\n\n",
    })
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;

    use super::*;
    use crate::job::JobId;
    use crate::schedule::Zones;
    use crate::workspace::output::place;
    use crate::workspace::template::Variables;

    fn target(folder: &tempfile::TempDir) -> Target {
        let zone = Zones::bundled().get("UTC").unwrap();
        let variables = Variables::of(&JobId::new("a"), DateTime::UNIX_EPOCH, &zone);
        place(folder.path(), ("output.append", "log.md"), &variables).unwrap()
    }

    #[test]
    fn entry_that_cannot_be_written_whole_is_taken_back() {
        let folder = tempfile::tempdir().unwrap();
        let target = target(&folder);
        for before in ["", "one\n"] {
            fs::write(&target.path, before).unwrap();
            let failed = append(&target, "two", |file, addition| {
                file.write_all(&addition[..2])?;
                Err(io::ErrorKind::StorageFull.into())
            });
            let message = failed.unwrap_err().to_string();
            let expected = format!(
                "cannot append to {}: no storage space",
                target.path.display()
            );
            assert_eq!(message, expected);
            assert_eq!(fs::read_to_string(&target.path).unwrap(), before);
        }
        append(&target, "two", whole).unwrap();
        assert_eq!(fs::read_to_string(&target.path).unwrap(), "one\n\ntwo\n");
    }

    #[test]
    fn entries_that_come_at_once_stand_whole_one_after_the_other() {
        let folder = tempfile::tempdir().unwrap();
        let target = target(&folder);
        let entry = |n: usize| n.to_string().repeat(5000);
        std::thread::scope(|scope| {
            for n in 1..9 {
                let target = &target;
                scope.spawn(move || {
                    loop {
                        match append(target, &entry(n), whole) {
                            Err(error) if error.is_locked() => std::thread::yield_now(),
                            done => break done.unwrap(),
                        }
                    }
                });
            }
        });
        let text = fs::read_to_string(&target.path).unwrap();
        let mut found: Vec<&str> = text.trim_end().split("\n\n").collect();
        found.sort_unstable();
        assert_eq!(found, (1..9).map(entry).collect::<Vec<_>>());
    }
}
