//! Several writes in one transaction: one wait for the disk instead of many.
//!
//! Each write runs within a savepoint of its own, so that one which fails takes
//! back its own statements and no other's. Nobody is answered before the
//! transaction is on disk: what a write promises its caller is what it would
//! promise alone.

use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::vec::IntoIter;

use rusqlite::{Connection, Transaction, TransactionBehavior};
use tokio::sync::oneshot;

use super::fault::Fault;
use crate::engine::ports::StoreError;

/// A write that waits.
pub(super) type Write = Box<dyn Step>;

/// A write in two steps, as nobody may be answered in between.
pub(super) trait Step: Send {
    /// Runs it whole or not at all; a panic is caught.
    fn run(&mut self, transaction: &mut Transaction<'_>, path: &Path);

    /// Whether it ran, and what it did stands unless the transaction is lost.
    fn is_done(&self) -> bool;

    /// Answers, once it is known how the transaction ended.
    fn answer(self: Box<Self>, ended: &Result<(), StoreError>);
}

/// A write whose answer is awaited.
pub(super) fn write<T, F>(change: F, answer: oneshot::Sender<Result<T, StoreError>>) -> Write
where
    T: Send + 'static,
    F: FnOnce(&Connection) -> Result<T, Fault> + Send + 'static,
{
    let state = State::Waiting(change);
    Box::new(Awaited { state, answer })
}

struct Awaited<T, F> {
    state: State<T, F>,
    answer: oneshot::Sender<Result<T, StoreError>>,
}

enum State<T, F> {
    Waiting(F),
    Done(T),
    Failed(StoreError),
    Panicked,
}

impl<T, F> Step for Awaited<T, F>
where
    T: Send,
    F: FnOnce(&Connection) -> Result<T, Fault> + Send,
{
    fn run(&mut self, transaction: &mut Transaction<'_>, path: &Path) {
        let State::Waiting(change) = mem::replace(&mut self.state, State::Panicked) else {
            return;
        };
        let step = || {
            let savepoint = transaction.savepoint()?;
            let done = change(&savepoint)?;
            savepoint.commit()?;
            Ok(done)
        };
        // Unwinding has taken back what the savepoint held.
        if let Ok(ran) = catch_unwind(AssertUnwindSafe(step)) {
            self.state = match ran {
                Ok(done) => State::Done(done),
                Err(fault) => State::Failed(Fault::at(fault, path)),
            };
        }
    }

    fn is_done(&self) -> bool {
        matches!(self.state, State::Done(_))
    }

    fn answer(self: Box<Self>, ended: &Result<(), StoreError>) {
        let Self { state, answer } = *self;
        let told = match (state, ended) {
            (State::Done(done), Ok(())) => Ok(done),
            (State::Failed(error), _) => Err(error),
            (State::Done(_) | State::Waiting(_), Err(error)) => Err(error.clone()),
            // An answer that is dropped tells of the panic.
            (State::Panicked | State::Waiting(_), _) => return,
        };
        // Whoever asked may be gone; what was done stays done.
        let _ = answer.send(told);
    }
}

/// Commits writes in their order and answers each; `check` says whether the file is still the one that was opened.
pub(super) fn commit(
    connection: &mut Connection,
    writes: Vec<Write>,
    check: impl Fn() -> Result<(), StoreError>,
    path: &Path,
) {
    let mut waiting = writes.into_iter();
    while waiting.len() > 0 {
        let mut ran = Vec::with_capacity(waiting.len());
        let ended = check().and_then(|()| {
            together(connection, &mut waiting, &mut ran, path).map_err(|fault| fault.at(path))
        });
        if ran.is_empty() {
            // The lock or the file is not to be had: one more try for each would wait as long again.
            ran.extend(waiting.by_ref());
        }
        for write in ran {
            write.answer(&ended);
        }
    }
}

/// Runs what waits in one transaction; stops early if that is lost.
fn together(
    connection: &mut Connection,
    waiting: &mut IntoIter<Write>,
    ran: &mut Vec<Write>,
    path: &Path,
) -> Result<(), Fault> {
    let mut transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    for mut write in waiting {
        write.run(&mut transaction, path);
        let is_done = write.is_done();
        ran.push(write);
        // A full or failing disk makes the library take back the whole transaction, and not the statement alone.
        if !is_done && transaction.is_autocommit() {
            let lost = "a write that shared the transaction failed, and took it along; nothing of either was done";
            return Err(StoreError::Failed(lost.to_owned()).into());
        }
    }
    Ok(transaction.commit()?)
}

#[cfg(test)]
mod tests;
