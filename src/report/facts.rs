//! What a report is made from: rows of the history, in three passes.

use chrono::{DateTime, Utc};

use crate::answer::Usage;
use crate::job::{GroupId, JobId};
use crate::money::Dollars;
use crate::outcome::{Class, Outcome, RunId};

/// What a report is about: the work that was due in `[since, until)`, whenever it was done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scope {
    /// The first instant.
    pub since: DateTime<Utc>,
    /// The first instant after the last one.
    pub until: DateTime<Utc>,
    /// Only work of this job; that of others is looked at as neighbours.
    pub job: Option<JobId>,
    /// Only work that counts against this group.
    pub group: Option<GroupId>,
}

/// One run.
#[derive(Debug, Clone)]
pub struct RunFact<'a> {
    /// The row's name.
    pub id: RunId,
    /// Whose work it is.
    pub job: &'a str,
    /// The group it counted against.
    pub group: &'a str,
    /// The model of the job at the time.
    pub model: &'a str,
    /// The slot at which the work was due.
    pub fire_at: DateTime<Utc>,
    /// When handling began.
    pub started_at: DateTime<Utc>,
    /// When it ended; `None` while it runs.
    pub finished_at: Option<DateTime<Utc>>,
    /// How it ended; `None` while it runs.
    pub outcome: Option<Outcome>,
    /// Whether the work went on to a later slot.
    pub is_deferred: bool,
}

/// One answer that a run wanted.
#[derive(Debug, Clone)]
pub struct CallFact<'a> {
    /// The row's name.
    pub id: i64,
    /// The run that wanted it.
    pub run: RunId,
    /// Whether it is traffic about a batch, handing in and looking, rather than an answer.
    pub is_errand: bool,
    /// The model that was asked; `None` means that of the run.
    pub model: Option<&'a str>,
    /// Whether an answer came.
    pub is_answered: bool,
    /// What the API counted.
    pub usage: Option<Usage>,
    /// What is known of its cost.
    pub cost: Option<Dollars>,
}

/// One HTTP request.
#[derive(Debug, Clone)]
pub struct AttemptFact<'a> {
    /// The call that it was sent for.
    pub call: i64,
    /// Counted from 1, anew for each call.
    pub n: u32,
    /// When it was sent.
    pub started_at: DateTime<Utc>,
    /// How it ended; `None` while it is under way or after a crash.
    pub end: Option<EndFact<'a>>,
}

/// How a request ended.
#[derive(Debug, Clone)]
pub struct EndFact<'a> {
    /// From the start to the last byte, in milliseconds.
    pub total_ms: u64,
    /// From the start to the first byte, in milliseconds.
    pub first_byte_ms: Option<u64>,
    /// What it means to the retry layer; `None` if we cancelled it ourselves.
    pub class: Option<Class>,
    /// The HTTP status, if one arrived.
    pub status: Option<u16>,
    /// `error.type`, or our own word for a transport failure.
    pub error_type: Option<&'a str>,
    /// Whether tokens were counted before it failed.
    pub is_counted: bool,
}

/// Deferred work that a later slot of the same job took over.
#[derive(Debug, Clone)]
pub struct MergeFact<'a> {
    /// Whose work it is.
    pub job: &'a str,
    /// The slot at which it was due.
    pub fire_at: DateTime<Utc>,
    /// The slot that took it over.
    pub into: DateTime<Utc>,
}
