//! An API for message batches that does what a script says, in virtual time.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};

use super::{Scripted, VirtualClock};
use crate::answer::{FailureKind, SendFailure, Tier, Usage};
use crate::engine::ports::{
    BatchOutcome, BatchPart, BatchResult, BatchStage, BatchState, Batches, Clock, Pending,
    SubmittedBatch,
};
use crate::job::KeyId;

/// How long each of its answers takes.
const LATENCY: Duration = Duration::from_millis(80);

/// What is not answered after this long expires.
const LIFETIME: TimeDelta = TimeDelta::hours(24);

/// Says what becomes of a part when its batch ends.
pub type BatchScript = dyn FnMut(&BatchPart) -> BatchOutcome + Send;

/// One batch as it was handed in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HandedIn {
    /// When, by the wall clock.
    pub at: DateTime<Utc>,
    /// What was handed in.
    pub parts: Vec<BatchPart>,
}

/// An API for batches that do what a script says, and that remembers every batch.
///
/// A batch ends a given span after it was handed in, or a day after it with every part expired if that is sooner. Its
/// results come in the reverse of the parts' order.
#[derive(Clone)]
pub struct SimBatches {
    clock: VirtualClock,
    inner: Arc<Mutex<Inner>>,
}

struct Inner {
    span: Duration,
    script: Box<BatchScript>,
    /// What the next batches meet when they are handed in.
    refusals: VecDeque<SendFailure>,
    /// What the next looks meet.
    unseen: VecDeque<SendFailure>,
    batches: Vec<Batch>,
    looks: u32,
}

struct Batch {
    id: String,
    handed_in: HandedIn,
    end_at: DateTime<Utc>,
    end: End,
}

/// How a batch ends.
#[derive(Debug, Clone, PartialEq, Eq)]
enum End {
    /// As the script says, once it is asked for.
    Answered(Option<Vec<BatchResult>>),
    /// Before its parts were answered.
    Without(BatchOutcome),
}

impl fmt::Debug for SimBatches {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SimBatches({} handed in)", self.lock().batches.len())
    }
}

impl SimBatches {
    /// Batches that end after this span, and whose parts meet what the closure says.
    #[must_use]
    pub fn new(
        clock: &VirtualClock,
        span: Duration,
        script: impl FnMut(&BatchPart) -> BatchOutcome + Send + 'static,
    ) -> Self {
        let inner = Inner {
            span,
            script: Box::new(script),
            refusals: VecDeque::new(),
            unseen: VecDeque::new(),
            batches: Vec::new(),
            looks: 0,
        };
        Self {
            clock: clock.clone(),
            inner: Arc::new(Mutex::new(inner)),
        }
    }

    /// Batches whose parts are all answered.
    #[must_use]
    pub fn healthy(clock: &VirtualClock, span: Duration) -> Self {
        Self::new(clock, span, |part| Self::answer(&part.request.prompt))
    }

    /// A complete answer at half price.
    #[must_use]
    pub fn answer(text: impl Into<String>) -> BatchOutcome {
        match Scripted::answer(Duration::ZERO, text).result {
            Ok(reply) => {
                let mut answer = reply.answer;
                let tier = Tier::Batch;
                answer.usage = answer.usage.map(|usage| Usage { tier, ..usage });
                BatchOutcome::Answered(answer)
            }
            Err(failure) => BatchOutcome::Errored(failure),
        }
    }

    /// Lets the next batches fail when they are handed in, one after the other.
    pub fn refuse(&self, refusals: impl IntoIterator<Item = SendFailure>) {
        self.lock().refusals.extend(refusals);
    }

    /// Lets the next looks fail, one after the other.
    pub fn refuse_looks(&self, refusals: impl IntoIterator<Item = SendFailure>) {
        self.lock().unseen.extend(refusals);
    }

    /// Every batch that was taken in so far, in order.
    #[must_use]
    pub fn handed_in(&self) -> Vec<HandedIn> {
        let inner = self.lock();
        let batches = inner.batches.iter();
        batches.map(|batch| batch.handed_in.clone()).collect()
    }

    /// How often anyone looked.
    #[must_use]
    pub fn looks(&self) -> u32 {
        self.lock().looks
    }

    /// A script that panicked takes its test with it, so the state behind it does not matter.
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take_in(&self, parts: &[BatchPart]) -> SubmittedBatch {
        let at = self.clock.now();
        let mut inner = self.lock();
        let id = format!("msgbatch_sim_{}", inner.batches.len() + 1);
        let expires_at = at + LIFETIME;
        let due = TimeDelta::from_std(inner.span).ok();
        let due = due.filter(|span| *span < LIFETIME).map(|span| at + span);
        inner.batches.push(Batch {
            id: id.clone(),
            handed_in: HandedIn {
                at,
                parts: parts.to_vec(),
            },
            end_at: due.unwrap_or(expires_at),
            end: match due {
                Some(_) => End::Answered(None),
                None => End::Without(BatchOutcome::Expired),
            },
        });
        SubmittedBatch {
            id,
            expires_at: Some(expires_at),
            request_id: Some("req_sim".to_owned()),
        }
    }

    fn next_refusal(&self) -> Option<SendFailure> {
        self.lock().refusals.pop_front()
    }

    /// Works on one batch, if the key is the one that it was handed in with: no other sees it.
    fn with<T>(
        &self,
        key: &KeyId,
        id: &str,
        work: impl FnOnce(&mut Batch, &mut BatchScript) -> T,
    ) -> Option<T> {
        let mut inner = self.lock();
        let Inner {
            batches, script, ..
        } = &mut *inner;
        let is_it = |batch: &&mut Batch| {
            let first = batch.handed_in.parts.first();
            batch.id == id && first.is_none_or(|part| part.request.key == *key)
        };
        let batch = batches.iter_mut().find(is_it)?;
        Some(work(batch, script))
    }
}

fn not_found(what: &str) -> SendFailure {
    SendFailure {
        status: Some(404),
        error_type: Some("not_found_error".to_owned()),
        ..SendFailure::new(FailureKind::Status, what)
    }
}

impl Batch {
    fn state(&self, now: DateTime<Utc>) -> BatchState {
        let is_canceled = self.end == End::Without(BatchOutcome::Canceled);
        BatchState {
            id: self.id.clone(),
            stage: if now >= self.end_at {
                BatchStage::Ended
            } else if is_canceled {
                BatchStage::Canceling
            } else {
                BatchStage::Processing
            },
            results_url: None,
        }
    }

    /// The same each time, however often the script would say something else.
    fn results(&mut self, script: &mut BatchScript) -> Vec<BatchResult> {
        let parts = self.handed_in.parts.iter().rev();
        let result = |part: &BatchPart, outcome| BatchResult {
            name: Some(part.name.clone()),
            outcome,
        };
        match &mut self.end {
            End::Answered(results) => results
                .get_or_insert_with(|| parts.map(|part| result(part, script(part))).collect())
                .clone(),
            End::Without(outcome) => parts.map(|part| result(part, outcome.clone())).collect(),
        }
    }

    /// What has ended stays so; anything else ends at the next look.
    fn cancel(&mut self, now: DateTime<Utc>) {
        if now < self.end_at {
            self.end = End::Without(BatchOutcome::Canceled);
            self.end_at = now + TimeDelta::milliseconds(1);
        }
    }
}

impl Batches for SimBatches {
    fn submit<'a>(
        &'a self,
        parts: &'a [BatchPart],
    ) -> Pending<'a, Result<SubmittedBatch, SendFailure>> {
        Box::pin(async move {
            self.clock.sleep(LATENCY).await;
            match self.next_refusal() {
                Some(refusal) => Err(refusal),
                None => Ok(self.take_in(parts)),
            }
        })
    }

    fn look<'a>(
        &'a self,
        key: &'a KeyId,
        id: &'a str,
    ) -> Pending<'a, Result<BatchState, SendFailure>> {
        Box::pin(async move {
            self.clock.sleep(LATENCY).await;
            self.lock().looks += 1;
            let unseen = self.lock().unseen.pop_front();
            if let Some(failure) = unseen {
                return Err(failure);
            }
            let now = self.clock.now();
            let state = self.with(key, id, |batch, _| batch.state(now));
            state.ok_or_else(|| not_found("no such batch"))
        })
    }

    fn collect<'a>(
        &'a self,
        key: &'a KeyId,
        batch: &'a BatchState,
    ) -> Pending<'a, Result<Vec<BatchResult>, SendFailure>> {
        Box::pin(async move {
            self.clock.sleep(LATENCY).await;
            let now = self.clock.now();
            let results = self.with(key, &batch.id, |batch, script| {
                let has_ended = batch.state(now).stage == BatchStage::Ended;
                has_ended.then(|| batch.results(script))
            });
            let results = results.ok_or_else(|| not_found("no such batch"))?;
            results.ok_or_else(|| not_found("the batch has no results yet"))
        })
    }

    fn cancel<'a>(
        &'a self,
        key: &'a KeyId,
        id: &'a str,
    ) -> Pending<'a, Result<BatchState, SendFailure>> {
        Box::pin(async move {
            self.clock.sleep(LATENCY).await;
            let now = self.clock.now();
            let state = self.with(key, id, |batch, _| {
                batch.cancel(now);
                batch.state(now)
            });
            state.ok_or_else(|| not_found("no such batch"))
        })
    }
}

#[cfg(test)]
mod tests;
