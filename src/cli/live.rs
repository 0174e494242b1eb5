//! Ports that a reload can exchange while the engine holds them.
//!
//! Work that is under way goes on with what it began with.

use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};

use crate::answer::{Answer, Reply, SendFailure};
use crate::anthropic::Client;
use crate::engine::ports::{Pending, Prepared, Upstream, Workspace};
use crate::job::{Job, Request};
use crate::slot::Slot;
use crate::workspace::Files;

/// A port whose implementation can be exchanged.
#[derive(Debug)]
pub struct Live<T>(RwLock<Arc<T>>);

impl<T> Live<T> {
    /// Starts with this one.
    #[must_use]
    pub fn new(first: T) -> Self {
        Self(RwLock::new(Arc::new(first)))
    }

    /// Work that begins from here on gets this one.
    pub fn exchange(&self, next: T) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(next);
    }

    fn current(&self) -> Arc<T> {
        Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Upstream for Live<Client> {
    fn send<'a>(&'a self, request: &'a Request) -> Pending<'a, Result<Reply, SendFailure>> {
        let client = self.current();
        Box::pin(async move { client.send(request).await })
    }

    fn cost_usd(&self, answer: &Answer) -> Option<f64> {
        self.current().cost_usd(answer)
    }
}

impl Workspace for Live<Files> {
    fn prepare<'a>(&'a self, job: &'a Job, slot: &'a Slot) -> Pending<'a, Prepared> {
        let files = self.current();
        Box::pin(async move { files.prepare(job, slot).await })
    }

    fn deliver<'a>(
        &'a self,
        job: &'a Job,
        slot: &'a Slot,
        text: &'a str,
    ) -> Pending<'a, Result<Option<PathBuf>, String>> {
        let files = self.current();
        Box::pin(async move { files.deliver(job, slot, text).await })
    }

    fn keep_beside<'a>(
        &'a self,
        job: &'a Job,
        slot: &'a Slot,
        text: &'a str,
    ) -> Pending<'a, Result<Option<PathBuf>, String>> {
        let files = self.current();
        Box::pin(async move { files.keep_beside(job, slot, text).await })
    }
}
