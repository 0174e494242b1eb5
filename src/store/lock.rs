//! One daemon a store.
//!
//! The lock is the operating system's, not the file: it goes with the process,
//! so that a file left behind by a crash blocks nobody.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The file's name in the store's folder.
pub(super) const FILE: &str = "daemon.lock";

/// How often a lock that only lookers hold is tried again: a look takes microseconds, but a busy machine may put the
/// looker aside in the middle of it.
const TRIES: u32 = 2_000;

/// Between two tries.
const PAUSE: Duration = Duration::from_millis(1);

/// Held by the one daemon of a store; given back when dropped.
#[derive(Debug)]
pub struct DaemonLock {
    _file: File,
}

/// Why there is no lock to be had.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// Another daemon holds it.
    #[error(
        "another daemon{} uses the store {folder}; stop it first, or give another folder with --store",
        of_process(*pid)
    )]
    Held {
        /// The store's folder.
        folder: PathBuf,
        /// The other daemon's process, if it has said so yet.
        pid: Option<u32>,
    },
    /// The file cannot be written or locked.
    #[error(
        "{path}: {source}; make its folder writable for this user, or give another one with --store"
    )]
    Unusable {
        /// The lock file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
}

impl DaemonLock {
    /// Takes the lock of the store in `folder`, which must exist, and writes our process into it. Never waits.
    ///
    /// # Errors
    ///
    /// [`LockError::Held`] if another daemon runs on this store.
    pub fn acquire(folder: &Path) -> Result<Self, LockError> {
        let path = folder.join(FILE);
        let unusable = |source| LockError::Unusable {
            path: path.clone(),
            source,
        };
        let mut file = open(&path).map_err(unusable)?;
        match lock_patiently(&file) {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(LockError::Held {
                    folder: folder.to_owned(),
                    pid: pid(&mut file),
                });
            }
            Err(TryLockError::Error(error)) => return Err(unusable(error)),
        }
        file.set_len(0)
            .and_then(|()| writeln!(file, "{}", std::process::id()))
            .map_err(unusable)?;
        Ok(Self { _file: file })
    }

    /// The process of the daemon that runs on the store in `folder`; `None` if there is none. Creates nothing.
    #[must_use]
    pub fn holder(folder: &Path) -> Option<u32> {
        let mut file = File::open(folder.join(FILE)).ok()?;
        match file.try_lock_shared() {
            // Nobody holds it, so whoever wrote into it is gone.
            Ok(()) | Err(TryLockError::Error(_)) => None,
            Err(TryLockError::WouldBlock) => pid(&mut file),
        }
    }
}

/// Takes the lock. A daemon that holds it is told from those that look, as [`DaemonLock::holder`] does: they share it,
/// and are waited for.
fn lock_patiently(file: &File) -> Result<(), TryLockError> {
    for _ in 0..TRIES {
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => {}
            done => return done,
        }
        file.try_lock_shared()?;
        file.unlock().map_err(TryLockError::Error)?;
        pause();
    }
    file.try_lock()
}

#[expect(
    clippy::disallowed_methods,
    reason = "the lock is taken before there is an engine with a clock"
)]
fn pause() {
    std::thread::sleep(PAUSE);
}

fn open(path: &Path) -> io::Result<File> {
    // Not truncated: the text is the other daemon's until the lock is ours.
    OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(path)
}

fn pid(file: &mut File) -> Option<u32> {
    let mut text = String::new();
    file.read_to_string(&mut text).ok()?;
    text.trim().parse().ok()
}

fn of_process(pid: Option<u32>) -> String {
    pid.map(|pid| format!(" (process {pid})"))
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn second_daemon_is_told_who_holds_the_lock() {
        let folder = tempfile::tempdir().unwrap();
        let _first = DaemonLock::acquire(folder.path()).unwrap();
        let error = DaemonLock::acquire(folder.path()).unwrap_err();
        assert!(
            matches!(error, LockError::Held { pid: Some(pid), .. } if pid == std::process::id()),
            "{error}"
        );
        assert!(
            error
                .to_string()
                .contains(&format!("(process {})", std::process::id())),
            "{error}"
        );
    }

    #[test]
    fn lock_is_given_back_when_dropped() {
        let folder = tempfile::tempdir().unwrap();
        drop(DaemonLock::acquire(folder.path()).unwrap());
        DaemonLock::acquire(folder.path()).unwrap();
    }

    #[test]
    fn holder_is_named_while_it_lives_and_looking_blocks_nobody() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(DaemonLock::holder(folder.path()), None);
        assert!(
            !folder.path().join(FILE).exists(),
            "looking creates nothing"
        );
        let lock = DaemonLock::acquire(folder.path()).unwrap();
        assert_eq!(DaemonLock::holder(folder.path()), Some(std::process::id()));
        drop(lock);
        assert_eq!(DaemonLock::holder(folder.path()), None);
        DaemonLock::acquire(folder.path()).unwrap();
    }

    #[test]
    fn lookers_that_were_put_aside_are_waited_for() {
        // Cause: a hundred tries without a pause were over before a looker on a busy machine had its turn again.
        let folder = tempfile::tempdir().unwrap();
        drop(DaemonLock::acquire(folder.path()).unwrap());
        let looker = File::open(folder.path().join(FILE)).unwrap();
        looker.try_lock_shared().unwrap();
        let starting = std::thread::scope(|scope| {
            let starting = scope.spawn(|| DaemonLock::acquire(folder.path()));
            for _ in 0..20 {
                pause();
            }
            assert!(!starting.is_finished());
            drop(looker);
            starting.join().unwrap()
        });
        starting.unwrap();
    }

    #[test]
    fn stale_file_with_a_longer_text_blocks_nobody_and_is_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(FILE), "99999999999999999999\n").unwrap();
        let _lock = DaemonLock::acquire(folder.path()).unwrap();
        let text = std::fs::read_to_string(folder.path().join(FILE)).unwrap();
        assert_eq!(text, format!("{}\n", std::process::id()));
    }

    #[test]
    fn missing_folder_is_an_error_with_the_path() {
        let folder = tempfile::tempdir().unwrap();
        let error = DaemonLock::acquire(&folder.path().join("none")).unwrap_err();
        assert!(matches!(error, LockError::Unusable { .. }), "{error}");
        assert!(error.to_string().contains("none/daemon.lock"), "{error}");
    }
}
