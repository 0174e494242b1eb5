//! Reads files that may never answer: each on a thread of its own, for a bounded time.
//!
//! No system call that reads a regular file can be taken back: of a network disk that is gone, or of a device behind
//! a regular name, it may last for ever. So the thread is left behind, and the run goes on without it.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;
use std::time::Duration;

use tokio::sync::{Semaphore, oneshot};

use super::error::WorkspaceError;
use crate::engine::ports::Clock;

/// How long a file has to answer: a disk that spins up and a mount that comes back need seconds, and no slot may wait
/// much longer for one that is dead.
const FILE_SPAN: Duration = Duration::from_mins(1);

/// So many files are read at once: a thousand slots of one minute must not become hundreds of threads.
const READERS: usize = 32;

/// Tries while the system has no descriptor, process or thread to spare.
const TRIES: u32 = 6;

/// The pause before each further try; all of them lie within [`FILE_SPAN`].
const PAUSE: Duration = Duration::from_secs(10);

/// Reads files for a bounded time.
pub(super) struct Reader {
    pub(super) clock: Arc<dyn Clock>,
    room: Semaphore,
    /// The threads that were left behind; one that ends lets go of its side.
    stuck: Mutex<BTreeMap<PathBuf, Weak<()>>>,
}

impl Reader {
    pub(super) fn new(clock: Arc<dyn Clock>) -> Self {
        Self {
            clock,
            room: Semaphore::new(READERS),
            stuck: Mutex::default(),
        }
    }

    /// Does the work on a thread of its own, and leaves it behind if it does not answer.
    ///
    /// A file at which a thread is still stuck is not asked again: its threads would add up.
    pub(super) async fn read<T: Send + 'static>(
        &self,
        path: &Path,
        work: impl Fn(&Path) -> Result<T, WorkspaceError> + Clone + Send + 'static,
    ) -> Result<T, WorkspaceError> {
        self.while_starved(|| self.read_once(path, work.clone()))
            .await
    }

    /// Tries again while the system says that it has nothing to spare: others give back what they use.
    pub(super) async fn while_starved<T, F>(
        &self,
        work: impl Fn() -> F,
    ) -> Result<T, WorkspaceError>
    where
        F: Future<Output = Result<T, WorkspaceError>>,
    {
        for _ in 1..TRIES {
            match work().await {
                Err(error) if error.is_starved() => self.clock.sleep(PAUSE).await,
                done => return done,
            }
        }
        work().await
    }

    async fn read_once<T: Send + 'static>(
        &self,
        path: &Path,
        work: impl FnOnce(&Path) -> Result<T, WorkspaceError> + Send + 'static,
    ) -> Result<T, WorkspaceError> {
        let unanswered = || WorkspaceError::Unanswered {
            path: path.to_owned(),
            span: FILE_SPAN,
        };
        let unreadable = |source| WorkspaceError::Unreadable {
            path: path.to_owned(),
            source,
        };
        // Nobody holds room for longer than the span. It is never closed.
        let _room = self.room.acquire().await;
        if self.is_stuck(path) {
            return Err(unanswered());
        }
        let (answer, answered) = oneshot::channel();
        let sign = Arc::new(());
        let (life, file) = (Arc::downgrade(&sign), path.to_owned());
        thread::Builder::new()
            .name("reader".to_owned())
            .spawn(move || {
                let done = work(&file);
                drop(sign);
                // Nobody listens any more if it took too long.
                let _ = answer.send(done);
            })
            .map_err(unreadable)?;
        tokio::select! {
            biased;
            done = answered => done.unwrap_or_else(|_| Err(unreadable(io::Error::other("the thread was cut off")))),
            () = self.clock.sleep(FILE_SPAN) => {
                self.lock().insert(path.to_owned(), life);
                Err(unanswered())
            }
        }
    }

    fn is_stuck(&self, path: &Path) -> bool {
        let mut stuck = self.lock();
        stuck.retain(|_, life| life.strong_count() > 0);
        stuck.contains_key(path)
    }

    /// A map cannot be left half changed, so a panic elsewhere poisons nothing.
    fn lock(&self) -> MutexGuard<'_, BTreeMap<PathBuf, Weak<()>>> {
        self.stuck.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::mpsc;

    use chrono::{DateTime, Utc};
    use rustix::io::Errno;

    use super::*;
    use crate::engine::ports::Pending;

    /// Sleeps end at once, or never.
    enum Sleeps {
        AtOnce,
        Never,
    }

    impl Clock for Sleeps {
        fn now(&self) -> DateTime<Utc> {
            DateTime::UNIX_EPOCH
        }

        fn elapsed(&self) -> Duration {
            Duration::ZERO
        }

        fn sleep(&self, _span: Duration) -> Pending<'_, ()> {
            match self {
                Self::AtOnce => Box::pin(ready(())),
                Self::Never => Box::pin(pending()),
            }
        }
    }

    /// A file that answers when the other side is dropped, and how often it was asked.
    fn silent() -> (
        mpsc::Sender<()>,
        impl Fn(&Path) -> Result<(), WorkspaceError> + Clone + Send + 'static,
        Arc<AtomicUsize>,
    ) {
        let (end, ended) = mpsc::channel::<()>();
        let (ended, asked) = (Arc::new(Mutex::new(ended)), Arc::new(AtomicUsize::new(0)));
        let counted = Arc::clone(&asked);
        let work = move |_: &Path| {
            counted.fetch_add(1, Ordering::SeqCst);
            let _ = ended.lock().unwrap().recv();
            Ok(())
        };
        (end, work, asked)
    }

    /// The read had no limit: the slot went on running for ever, and each later one of its job was skipped as overlap.
    #[tokio::test]
    async fn file_that_never_answers_is_given_up() {
        let reader = Reader::new(Arc::new(Sleeps::AtOnce));
        let (_end, work, _) = silent();
        let error = reader.read(Path::new("/net/a"), work).await.unwrap_err();
        let expected = "cannot read /net/a: the file did not answer in 60s";
        assert_eq!(error.to_string(), expected);
    }

    /// Each slot would otherwise leave one more thread behind.
    #[tokio::test]
    async fn file_at_which_a_thread_is_stuck_is_asked_again_only_when_that_has_ended() {
        let reader = Reader::new(Arc::new(Sleeps::AtOnce));
        let path = Path::new("/net/a");
        let (end, work, asked) = silent();
        for _ in 0..3 {
            assert!(reader.read(path, work.clone()).await.is_err());
        }
        while asked.load(Ordering::SeqCst) == 0 {
            thread::yield_now();
        }
        assert_eq!(asked.load(Ordering::SeqCst), 1);
        drop(end);
        while reader.is_stuck(path) {
            thread::yield_now();
        }
        // With the other side gone the file answers at once.
        let patient = Reader {
            clock: Arc::new(Sleeps::Never),
            ..reader
        };
        patient.read(path, work).await.unwrap();
        assert_eq!(asked.load(Ordering::SeqCst), 2);
    }

    /// A failure for want of descriptors ended the slot, though another run gives some back within seconds.
    #[tokio::test]
    async fn want_of_descriptors_is_waited_out_a_few_times_and_then_an_error() {
        let reader = Reader::new(Arc::new(Sleeps::AtOnce));
        for (failures, is_read) in [(TRIES - 1, true), (TRIES, false)] {
            let left = AtomicUsize::new(failures as usize);
            let done = reader
                .while_starved(async || {
                    let spend = |left: usize| left.checked_sub(1);
                    match left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, spend) {
                        Ok(_) => Err(WorkspaceError::Unreadable {
                            path: "a".into(),
                            source: Errno::MFILE.into(),
                        }),
                        Err(_) => Ok(()),
                    }
                })
                .await;
            assert_eq!(done.is_ok(), is_read, "{failures} failures: {done:?}");
        }
    }

    #[tokio::test]
    async fn missing_file_is_not_waited_for() {
        // A pause would last for ever.
        let reader = Reader::new(Arc::new(Sleeps::Never));
        let missing = |path: &Path| -> Result<(), WorkspaceError> {
            Err(WorkspaceError::Unreadable {
                path: path.to_owned(),
                source: Errno::NOENT.into(),
            })
        };
        assert!(reader.read(Path::new("/gone"), missing).await.is_err());
    }
}
