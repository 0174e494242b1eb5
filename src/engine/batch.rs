//! Batches: a slot's calls are handed in together, and their answers collected when they are there.
//!
//! The run stays open in the meantime, through restarts, so that its job's
//! next slot counts as overlapping. Handing in, looking and collecting each
//! are a call through the guard like any other.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};

use super::pace::Gate;
use super::portion::Order;
use super::ports::{
    BatchPart, BatchResult, BatchState, Batches, HandedIn, Pending, SubmittedBatch, Upstream,
    part_name,
};
use crate::answer::{Answer, FailureKind, Reply, SendFailure, ShouldRetry, StopReason, Usage};
use crate::job::{Delivery, KeyId, Request};
use crate::money::Dollars;
use crate::outcome::YieldReason;
use crate::piece::{CallName, Item};
use crate::price::Estimate;

/// Before a batch is looked at for the first time: few end sooner.
pub(super) const FIRST_LOOK: TimeDelta = TimeDelta::minutes(5);

/// Between two looks.
pub(super) const NEXT_LOOK: TimeDelta = TimeDelta::minutes(10);

/// How long a look may take.
pub(super) const LOOK_TIMEOUT: Duration = Duration::from_mins(2);

/// The gate of work whose turn did not come in its batch.
pub(super) const TURN_MISSED: Gate = (YieldReason::Batch, None);

/// What the API gives a batch, if it does not say so itself.
const LIFETIME: TimeDelta = TimeDelta::hours(24);

/// What is handed in: the parts, and the items that they are for.
#[derive(Debug, Default)]
pub(super) struct Bundle {
    pub parts: Vec<BatchPart>,
    pub items: Vec<Option<Arc<str>>>,
    /// What all of it may cost, at the price of single calls.
    pub reserve: Option<Dollars>,
}

impl Bundle {
    pub fn new() -> Self {
        Self {
            reserve: Some(Dollars::ZERO),
            ..Self::default()
        }
    }

    pub fn add(&mut self, item: Option<&Item>, request: Request, reserve: Option<Dollars>) {
        let name = part_name(self.parts.len() + 1);
        self.parts.push(BatchPart { name, request });
        self.items
            .push(item.map(|item| Arc::from(item.name.as_str())));
        self.reserve = self.reserve.zip(reserve).map(|(sum, more)| sum.plus(more));
    }
}

/// A request that brings no answer, and what it brings instead.
#[derive(Clone, Copy)]
pub(super) enum Errand<'a> {
    /// Hands in a bundle.
    HandIn(&'a Bundle),
    /// Asks how far a batch is.
    Look(&'a str),
    /// Brings the results.
    Collect(&'a BatchState),
    /// Asks that it end.
    Cancel(&'a str),
}

/// What an errand brought.
#[derive(Debug)]
pub(super) enum Fetched {
    HandedIn(SubmittedBatch),
    State(BatchState),
    Results(Vec<BatchResult>),
}

/// An upstream that runs one errand, so that the same call machine drives it.
pub(super) struct Runabout<'a> {
    batches: &'a dyn Batches,
    key: &'a KeyId,
    errand: Errand<'a>,
    fetched: Mutex<Option<Fetched>>,
}

impl<'a> Runabout<'a> {
    pub fn new(batches: &'a dyn Batches, key: &'a KeyId, errand: Errand<'a>) -> Self {
        Self {
            batches,
            key,
            errand,
            fetched: Mutex::new(None),
        }
    }

    /// What the last request brought.
    pub fn take(&self) -> Option<Fetched> {
        self.lock().take()
    }

    /// What the store keeps of a batch that was taken in just now.
    pub fn handed_in(&self, now: DateTime<Utc>) -> Option<HandedIn> {
        let Errand::HandIn(bundle) = self.errand else {
            return None;
        };
        match &*self.lock() {
            Some(Fetched::HandedIn(batch)) => Some(HandedIn {
                id: batch.id.clone(),
                key: self.key.clone(),
                expires_at: batch.expires_at.unwrap_or(now + LIFETIME),
                look_at: now + FIRST_LOOK,
                parts: bundle.items.clone(),
            }),
            Some(Fetched::State(_) | Fetched::Results(_)) | None => None,
        }
    }

    async fn fetch(&self) -> Result<Fetched, SendFailure> {
        match self.errand {
            Errand::HandIn(bundle) => {
                let taken = self.batches.submit(&bundle.parts).await;
                taken.map(Fetched::HandedIn).map_err(not_again)
            }
            Errand::Look(id) => {
                let state = self.batches.look(self.key, id).await;
                state.map(Fetched::State)
            }
            Errand::Cancel(id) => {
                let state = self.batches.cancel(self.key, id).await;
                state.map(Fetched::State)
            }
            Errand::Collect(state) => {
                let results = self.batches.collect(self.key, state).await;
                results.map(Fetched::Results)
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Option<Fetched>> {
        // A value is put in whole or not at all, so a panic elsewhere poisons nothing.
        self.fetched.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Upstream for Runabout<'_> {
    fn send<'a>(&'a self, _request: &'a Request) -> Pending<'a, Result<Reply, SendFailure>> {
        Box::pin(async move {
            let fetched = self.fetch().await?;
            let request_id = match &fetched {
                Fetched::HandedIn(batch) => batch.request_id.clone(),
                Fetched::State(_) | Fetched::Results(_) => None,
            };
            *self.lock() = Some(fetched);
            Ok(nothing(request_id))
        })
    }

    fn cost(&self, _request: &Request, _model: &str, _usage: &Usage) -> Option<Dollars> {
        None
    }

    fn estimate(&self, _request: &Request) -> Estimate {
        Estimate::default()
    }
}

/// A reply lost on its way leaves a batch that may run and be billed: it is not handed in again at once.
fn not_again(failure: SendFailure) -> SendFailure {
    let may_be_there = match failure.kind {
        FailureKind::FirstByteTimeout
        | FailureKind::IdleTimeout
        | FailureKind::AttemptTimeout
        | FailureKind::Cut
        | FailureKind::NotAMessage => true,
        // So may the batch behind a gateway that gave up waiting.
        FailureKind::Status => matches!(failure.status, Some(500 | 502 | 504)),
        FailureKind::Connect
        | FailureKind::StreamError
        | FailureKind::TooLarge
        | FailureKind::Redirect
        | FailureKind::Unsendable => false,
    };
    if !may_be_there {
        return failure;
    }
    SendFailure {
        should_retry: Some(ShouldRetry::No),
        ..failure
    }
}

/// The reply of an errand: it has no answer of a model in it.
fn nothing(request_id: Option<String>) -> Reply {
    Reply {
        answer: Answer {
            id: String::new(),
            model: String::new(),
            text: String::new(),
            stop_reason: StopReason::EndTurn,
            usage: None,
            paused: None,
            tool_errors: Vec::new(),
        },
        status: 200,
        request_id,
        first_byte: None,
    }
}

/// The name of an errand among the calls of its run: they belong to no step.
pub(super) const fn errand_name(part: u32) -> CallName {
    CallName {
        item: None,
        step: 0,
        part,
    }
}

/// What stands for a request where an errand has none.
pub(super) fn blank_request(order: &Order<'_>, timeout: Duration) -> Request {
    let job = &order.planned.job.job;
    Request {
        key: job.key.clone(),
        model: job.template.model.clone(),
        max_tokens: 0,
        system: Vec::new(),
        prompt: String::new(),
        so_far: Vec::new(),
        delivery: Delivery::Whole,
        extra: Vec::new(),
        timeout,
    }
}
