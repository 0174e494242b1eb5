//! The thread that owns the connection.
//!
//! A statement may wait for the disk or for another process; the tasks of the
//! daemon must not. They send the work over and await the answer.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use rusqlite::{Connection, Transaction, TransactionBehavior};
use tokio::sync::oneshot;

use super::fault::Fault;
use super::open::Identity;
use crate::engine::ports::StoreError;

type Work = Box<dyn FnOnce(&mut Connection) + Send>;

/// The handle to the thread; dropping it finishes the work that was sent and closes the file.
#[derive(Debug)]
pub(super) struct Worker {
    path: PathBuf,
    file: Identity,
    work: Option<Sender<Work>>,
    thread: Option<JoinHandle<()>>,
}

impl Worker {
    /// Starts the thread.
    pub(super) fn start(
        connection: Connection,
        path: PathBuf,
        file: Identity,
    ) -> Result<Self, StoreError> {
        let (work, inbox) = channel();
        let thread = std::thread::Builder::new()
            .name("store".to_owned())
            .spawn(move || serve(connection, &inbox))
            .map_err(|error| {
                StoreError::Failed(format!("cannot start the store's thread: {error}"))
            })?;
        Ok(Self {
            path,
            file,
            work: Some(work),
            thread: Some(thread),
        })
    }

    /// Where the file is.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Runs `change` as one transaction that holds the write lock from its beginning, durable when this returns.
    pub(super) async fn write<T, F>(&self, change: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&Transaction<'_>) -> Result<T, Fault> + Send + 'static,
    {
        self.run(TransactionBehavior::Immediate, change).await
    }

    /// Runs `look` on one consistent state of the file.
    pub(super) async fn read<T, F>(&self, look: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&Transaction<'_>) -> Result<T, Fault> + Send + 'static,
    {
        self.run(TransactionBehavior::Deferred, look).await
    }

    /// Runs `chore` outside any transaction.
    pub(super) async fn chore<T, F>(&self, chore: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&mut Connection) -> Result<T, Fault> + Send + 'static,
    {
        let (path, file) = (self.path.clone(), self.file);
        let (answer, answered) = oneshot::channel();
        let work: Work = Box::new(move |connection| {
            let done = file
                .check(&path)
                .and_then(|()| chore(connection).map_err(|fault| fault.at(&path)));
            // Whoever asked may be gone; what was done stays done.
            let _ = answer.send(done);
        });
        let ended = || StoreError::Failed("the store's thread has ended".to_owned());
        let sender = self.work.as_ref().ok_or_else(ended)?;
        sender.send(work).map_err(|_| ended())?;
        let panicked =
            |_| StoreError::Failed("a step of the store panicked and was undone".to_owned());
        answered.await.map_err(panicked)?
    }

    async fn run<T, F>(&self, behavior: TransactionBehavior, step: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&Transaction<'_>) -> Result<T, Fault> + Send + 'static,
    {
        self.chore(move |connection| {
            let transaction = connection.transaction_with_behavior(behavior)?;
            let done = step(&transaction)?;
            transaction.commit()?;
            Ok(done)
        })
        .await
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        drop(self.work.take());
        if let Some(thread) = self.thread.take() {
            // A thread that panicked has told its caller already.
            let _ = thread.join();
        }
    }
}

fn serve(mut connection: Connection, inbox: &Receiver<Work>) {
    while let Ok(work) = inbox.recv() {
        // Unwinding has rolled the transaction back, and its caller learns of it: the others go on.
        let _ = catch_unwind(AssertUnwindSafe(|| work(&mut connection)));
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

    #[test]
    fn work_that_nobody_awaits_any_more_is_done_before_the_file_is_closed() {
        let folder = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(folder.path()).unwrap();
        let moment = chrono::DateTime::UNIX_EPOCH;
        let mut rewind = store.rewind(moment);
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        let _ = rewind.as_mut().poll(&mut context);
        drop(rewind);
        drop(store);
        let store = SqliteStore::open(folder.path()).unwrap();
        assert_eq!(wait(store.watermark()).unwrap(), Some(moment));
    }
}
