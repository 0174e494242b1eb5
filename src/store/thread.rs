//! The thread that owns the connection.
//!
//! A statement may wait for the disk or for another process; the tasks of the
//! daemon must not. They send the work over and await the answer.
//!
//! Writes that wait together are committed together, see [`super::batch`].

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use rusqlite::{Connection, Transaction};
use tokio::sync::oneshot;

use super::batch::{self, Write};
use super::busy::Ending;
use super::fault::Fault;
use super::open::Identity;
use crate::engine::ports::StoreError;

/// What is sent to the thread.
enum Work {
    /// May share its transaction with others.
    Write(Write),
    /// Has the connection to itself.
    Alone(Alone),
}

type Alone = Box<dyn FnOnce(&mut Connection) + Send>;

/// The most works of one round: other processes wait for its end, and so does the first of its writes.
const MOST_AT_ONCE: usize = 64;

/// The handle to the thread; dropping it finishes the work that was sent and closes the file. Nobody awaits that work
/// any more: what another process's lock keeps from being done at once is left.
#[derive(Debug)]
pub(super) struct Worker {
    path: PathBuf,
    file: Identity,
    work: Option<Sender<Work>>,
    thread: Option<JoinHandle<()>>,
    ending: Ending,
}

impl Worker {
    /// Starts the thread.
    pub(super) fn start(
        mut connection: Connection,
        path: PathBuf,
        file: Identity,
    ) -> Result<Self, StoreError> {
        let (work, inbox) = channel();
        let place = path.clone();
        let ending = Ending::default();
        let told = ending.clone();
        let thread = std::thread::Builder::new()
            .name("store".to_owned())
            .spawn(move || {
                // Should it fail, the wait of the opening stays, which merely is not cut short.
                let _ = told.rule(&mut connection);
                serve(connection, &inbox, &place, file);
            })
            .map_err(|error| {
                StoreError::Failed(format!("cannot start the store's thread: {error}"))
            })?;
        Ok(Self {
            path,
            file,
            work: Some(work),
            thread: Some(thread),
            ending,
        })
    }

    /// Where the file is.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Runs `change` whole or not at all, in a transaction that holds the write lock from its beginning; durable when
    /// this returns. Others may share the transaction: they come before or after this one, never in between.
    pub(super) async fn write<T, F>(&self, change: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> Result<T, Fault> + Send + 'static,
    {
        let (answer, answered) = oneshot::channel();
        let work = Work::Write(batch::write(change, answer));
        self.answer(work, answered).await
    }

    /// Runs `look` on one consistent state of the file, which holds all that was answered before this was called.
    pub(super) async fn read<T, F>(&self, look: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&Transaction<'_>) -> Result<T, Fault> + Send + 'static,
    {
        self.chore(move |connection| {
            let transaction = connection.transaction()?;
            let seen = look(&transaction)?;
            transaction.commit()?;
            Ok(seen)
        })
        .await
    }

    /// Runs `chore` outside any transaction.
    pub(super) async fn chore<T, F>(&self, chore: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&mut Connection) -> Result<T, Fault> + Send + 'static,
    {
        let (path, file) = (self.path.clone(), self.file);
        let (answer, answered) = oneshot::channel();
        let work = Work::Alone(Box::new(move |connection| {
            let done = file
                .check(&path)
                .and_then(|()| chore(connection).map_err(|fault| fault.at(&path)));
            // Whoever asked may be gone; what was done stays done.
            let _ = answer.send(done);
        }));
        self.answer(work, answered).await
    }

    async fn answer<T>(
        &self,
        work: Work,
        answered: oneshot::Receiver<Result<T, StoreError>>,
    ) -> Result<T, StoreError> {
        let ended = || StoreError::Failed("the store's thread has ended".to_owned());
        let sender = self.work.as_ref().ok_or_else(ended)?;
        sender.send(work).map_err(|_| ended())?;
        let panicked =
            |_| StoreError::Failed("a step of the store panicked and was undone".to_owned());
        answered.await.map_err(panicked)?
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        drop(self.work.take());
        self.ending.tell();
        if let Some(thread) = self.thread.take() {
            // A thread that panicked has told its caller already.
            let _ = thread.join();
        }
    }
}

/// Takes what waits: the writes as one transaction, then the rest one by one. Whoever awaits an answer before asking on
/// finds what was answered; between works that nobody has heard of yet there is no order to keep but that of the
/// writes.
fn serve(mut connection: Connection, inbox: &Receiver<Work>, path: &Path, file: Identity) {
    while let Ok(first) = inbox.recv() {
        let (mut writes, mut rest) = (Vec::new(), Vec::new());
        for work in std::iter::once(first).chain(inbox.try_iter().take(MOST_AT_ONCE - 1)) {
            match work {
                Work::Write(write) => writes.push(write),
                Work::Alone(alone) => rest.push(alone),
            }
        }
        batch::commit(&mut connection, writes, || file.check(path), path);
        for alone in rest {
            // Unwinding has rolled the transaction back, and its caller learns of it: the others go on.
            let _ = catch_unwind(AssertUnwindSafe(|| alone(&mut connection)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::SqliteStore;
    use super::*;
    use crate::engine::ports::Store;

    fn wait<F: Future>(future: F) -> F::Output {
        tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap()
            .block_on(future)
    }

    #[test]
    fn step_that_panics_is_undone_and_the_next_goes_on() {
        let folder = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(folder.path()).unwrap();
        let broken = store.worker.write(|store| -> Result<(), Fault> {
            store.execute("UPDATE meta SET watermark = 7", [])?;
            panic!("a step that is broken on purpose");
        });
        let error = wait(broken).unwrap_err();
        assert!(error.to_string().contains("panicked"), "{error}");
        assert_eq!(wait(store.watermark()).unwrap(), None);
    }

    const MOMENT: chrono::DateTime<chrono::Utc> = chrono::DateTime::UNIX_EPOCH;

    /// Sends a write whose answer nobody awaits.
    fn send_rewind(store: &SqliteStore) {
        let mut rewind = store.rewind(MOMENT);
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        let _ = rewind.as_mut().poll(&mut context);
    }

    #[test]
    fn wait_for_a_lock_ends_with_the_store() {
        // Cause: a process that was told to stop sat in the library's wait for up to ten seconds.
        let folder = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(folder.path()).unwrap();
        let other = Connection::open(store.path()).unwrap();
        other.execute_batch("BEGIN IMMEDIATE").unwrap();
        let (closed, is_closed) = channel();
        let closing = std::thread::spawn(move || {
            send_rewind(&store);
            drop(store);
            closed.send(()).unwrap();
        });
        let patience = super::super::open::PATIENCE;
        is_closed.recv_timeout(patience / 2).unwrap();
        other.execute_batch("COMMIT").unwrap();
        closing.join().unwrap();
        let store = SqliteStore::open(folder.path()).unwrap();
        assert_eq!(wait(store.watermark()).unwrap(), None);
    }

    #[test]
    fn work_that_nobody_awaits_any_more_is_done_before_the_file_is_closed() {
        let folder = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(folder.path()).unwrap();
        send_rewind(&store);
        drop(store);
        let store = SqliteStore::open(folder.path()).unwrap();
        assert_eq!(wait(store.watermark()).unwrap(), Some(MOMENT));
    }
}
