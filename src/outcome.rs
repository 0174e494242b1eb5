//! How work ended, and why: the words of the history.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use chrono::{DateTime, Utc};

use crate::answer::{StopReason, Usage};
use crate::job::{GroupId, JobId};
use crate::money::Dollars;
use crate::piece::CallName;
use crate::slot::{Origin, Slot};

/// What an attempt's answer means to the retry layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Class {
    /// A whole answer.
    Success,
    /// A later attempt may bring one.
    Retryable,
    /// The same request would fail again.
    Fatal,
}

impl Class {
    /// The word used in the store and in JSON.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Retryable => "retryable",
            Self::Fatal => "fatal",
        }
    }
}

/// How a call or a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// A complete answer, delivered.
    Succeeded,
    /// An answer that must not replace a good one; kept beside it.
    Incomplete(IncompleteReason),
    /// A gate refused; the work is deferred.
    Yielded(YieldReason),
    /// Retryable to the last attempt.
    Exhausted,
    /// Not retryable, carried too often, or expired.
    Failed(FailReason),
    /// Nothing was to be done.
    Skipped(SkipReason),
}

impl Outcome {
    /// Every word of [`Outcome::as_str`], for parsers.
    pub const WORDS: [&'static str; 6] = [
        "succeeded",
        "incomplete",
        "yielded",
        "exhausted",
        "failed",
        "skipped",
    ];

    /// The word used in the store, in JSON and in tables.
    #[must_use]
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Succeeded => "succeeded",
            Self::Incomplete(_) => "incomplete",
            Self::Yielded(_) => "yielded",
            Self::Exhausted => "exhausted",
            Self::Failed(_) => "failed",
            Self::Skipped(_) => "skipped",
        }
    }

    /// The reason's word, where the outcome has one.
    #[must_use]
    pub const fn reason(&self) -> Option<&'static str> {
        match self {
            Self::Succeeded | Self::Exhausted => None,
            Self::Incomplete(reason) => Some(reason.as_str()),
            Self::Yielded(reason) => Some(reason.as_str()),
            Self::Failed(reason) => Some(reason.as_str()),
            Self::Skipped(reason) => Some(reason.as_str()),
        }
    }

    /// The outcome that [`Outcome::as_str`] and [`Outcome::reason`] were taken from.
    #[must_use]
    pub fn from_words(outcome: &str, reason: Option<&str>) -> Option<Self> {
        Some(match (outcome, reason) {
            ("succeeded", None) => Self::Succeeded,
            ("exhausted", None) => Self::Exhausted,
            ("incomplete", Some(word)) => Self::Incomplete(IncompleteReason::from_word(word)?),
            ("yielded", Some(word)) => Self::Yielded(YieldReason::from_word(word)?),
            ("failed", Some(word)) => Self::Failed(FailReason::from_word(word)?),
            ("skipped", Some(word)) => Self::Skipped(SkipReason::from_word(word)?),
            _ => return None,
        })
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.reason() {
            None => f.pad(self.as_str()),
            Some(reason) => f.pad(&format!("{}: {reason}", self.as_str())),
        }
    }
}

macro_rules! reasons {
    ($(#[$doc:meta])* $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $word:literal,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum $name { $($(#[$variant_doc])* $variant,)* }

        impl $name {
            /// Every reason, in the order of the documentation.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The word used in the store, in JSON and in log lines.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word,)* }
            }

            /// The reason with this word, if there is one.
            #[must_use]
            pub fn from_word(word: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|reason| reason.as_str() == word)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.as_str())
            }
        }
    };
}

reasons! {
    /// Why an answer is incomplete.
    IncompleteReason {
        /// The output was cut at a limit.
        Truncated = "truncated",
        /// The model declined.
        Refused = "refused",
        /// The answer holds no text.
        Empty = "empty",
        /// The answer fails the job's `check`.
        FailedCheck = "failed_check",
        /// The model wants a tool, paused, or stopped for an unknown reason.
        Unfinished = "unfinished",
    }
}

reasons! {
    /// Which gate made a run yield.
    YieldReason {
        /// The group's budget has no room in its window.
        Budget = "budget",
        /// What the group may spend in the day or the month has no room for the attempt.
        Dollars = "dollars",
        /// What the run may cost has no room for another attempt.
        MaxCost = "max_cost",
        /// The group's breaker is open, or its probe is under way.
        Breaker = "breaker",
        /// The server asked for a longer wait than a run may take.
        Hint = "hint",
        /// The attempt would start in a peak window.
        Peak = "peak",
        /// The group is held until an instant or a person lifts it.
        Hold = "hold",
        /// The daemon is stopping.
        Shutdown = "shutdown",
        /// The slot was missed while the daemon was away; its work is caught up.
        Missed = "missed",
        /// The run was cut off by a crash; it may have been billed.
        Interrupted = "interrupted",
        /// Retryable to the last attempt of an earlier run; a second time fails.
        Exhausted = "exhausted",
        /// A batch ended before its turn came.
        Batch = "batch",
        /// A person asked for the work again, by `offpeak retry`. That word stands for a further attempt of a call here.
        Asked = "asked",
    }
}

reasons! {
    /// Why a run failed.
    FailReason {
        /// The upstream said no and would say no again.
        Fatal = "fatal",
        /// The upstream answered status 200 with no Message, to the last attempt.
        NotAMessage = "not_a_message",
        /// Deferred `defer.max` times.
        CarriedTooOften = "carried_too_often",
        /// Older than `defer.expires_after`.
        Expired = "expired",
        /// Retryable to the last attempt, and `on_exhausted: fail`.
        Exhausted = "exhausted",
        /// A prompt file, an input file or an input command could not be read.
        Input = "input",
        /// Every input was empty, and `on_empty_input: fail`.
        EmptyInput = "empty_input",
        /// The key's secret is missing or unusable.
        Key = "key",
        /// The answer could not be delivered; it is kept in the store.
        Output = "output",
        /// The job of a deferral is gone or disabled.
        JobGone = "job_gone",
        /// Cut off by a crash in a run that a person had asked for.
        Interrupted = "interrupted",
        /// A person dropped the deferred work.
        Dropped = "dropped",
        /// One call alone may cost more than the job's `max_cost`: no run could make it.
        MaxCost = "max_cost",
        /// One call alone may cost more than the group's `budget.dollars`: no day or month would have room.
        OverBudget = "over_budget",
        /// What a call may cost is not known, and a cap in dollars holds.
        UnknownPrice = "unknown_price",
    }
}

reasons! {
    /// Why nothing was done.
    SkipReason {
        /// Every input was empty, and `on_empty_input: skip`.
        EmptyInput = "empty_input",
        /// The same job was still running.
        Overlap = "overlap",
        /// The job is disabled.
        Disabled = "disabled",
        /// The slot was missed, and `missed: skip`, or a later slot is caught up.
        Missed = "missed",
        /// Joined with a run that makes the same call.
        Merged = "merged",
        /// The fire time lay in a pause of the job or of its group.
        Paused = "paused",
    }
}

/// A row's name in the store; grows with time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RunId(pub i64);

/// The handling of one slot, from start to outcome.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// The row's name.
    pub id: RunId,
    /// Whose work it is.
    pub job: JobId,
    /// The slot at which the work was due.
    pub fire_at: DateTime<Utc>,
    /// Why it was done when it was.
    pub origin: Origin,
    /// The group it counted against.
    pub group: GroupId,
    /// The model of the job at the time.
    pub model: String,
    /// When handling began.
    pub started_at: DateTime<Utc>,
    /// When it ended; `None` while it runs.
    pub finished_at: Option<DateTime<Utc>>,
    /// How it ended; `None` while it runs.
    pub outcome: Option<Outcome>,
    /// One sentence for a person: what was found, and what follows.
    pub note: Option<String>,
    /// The attempts in order.
    pub attempts: Vec<Attempt>,
    /// Why the model stopped, if it answered.
    pub stop_reason: Option<StopReason>,
    /// What was counted, if the API said so.
    pub usage: Option<Usage>,
    /// Dollars, those of failed attempts that were counted included; `None` means unknown, not zero.
    pub cost_usd: Option<Dollars>,
    /// Where the answer went.
    pub output: Option<PathBuf>,
    /// Where the work went, if it yielded.
    pub deferred: Option<DeferredTo>,
}

impl Run {
    /// The slot at which its work was due.
    #[must_use]
    pub fn slot(&self) -> Slot {
        Slot {
            fire_at: self.fire_at,
            job: self.job.clone(),
        }
    }

    /// Adds an answer of one of its calls. What is unknown of one is unknown of all.
    pub fn count(&mut self, stop_reason: StopReason, usage: Option<Usage>) {
        self.usage = match self.stop_reason {
            None => usage,
            Some(_) => self.usage.zip(usage).map(|(sum, more)| sum + more),
        };
        self.stop_reason = Some(stop_reason);
    }

    /// What its calls cost together, each with whether it has an answer: one that was answered and has no known cost
    /// makes the sum unknown.
    #[must_use]
    pub fn cost_of(calls: impl Iterator<Item = (bool, Option<Dollars>)>) -> Option<Dollars> {
        let mut sum = None;
        for (is_answered, cost) in calls {
            match cost {
                Some(cost) => sum = Some(sum.unwrap_or(Dollars::ZERO).plus(cost)),
                None if is_answered => return None,
                None => {}
            }
        }
        sum
    }
}

/// Where yielded work went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeferredTo {
    /// Not before this instant.
    pub not_before: DateTime<Utc>,
    /// The slot that will take it, as known when it yielded.
    pub to: Option<DateTime<Utc>>,
    /// How many times the work has been carried so far, this one included.
    pub carries: u32,
}

/// One HTTP request sent for a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempt {
    /// The call that it was sent for.
    pub call: CallName,
    /// Counted from 1, anew for each call.
    pub n: u32,
    /// When it was sent.
    pub started_at: DateTime<Utc>,
    /// The wait before it, zero for the first.
    pub wait: Duration,
    /// How it ended; `None` while it is under way or after a crash.
    pub end: Option<AttemptEnd>,
}

/// How an attempt ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttemptEnd {
    /// From the start to the last byte.
    pub latency: Duration,
    /// From the start to the first byte.
    pub first_byte: Option<Duration>,
    /// The HTTP status, if one arrived.
    pub status: Option<u16>,
    /// What it means to the retry layer; `None` if we cancelled it ourselves.
    pub class: Option<Class>,
    /// `error.type`, or our own word for a transport failure.
    pub error_type: Option<String>,
    /// `error.details.error_code`.
    pub error_code: Option<String>,
    /// The `request-id`.
    pub request_id: Option<String>,
    /// The wait that the server asked for.
    pub hint: Option<Duration>,
    /// A short excerpt of the error.
    pub message: Option<String>,
    /// What was counted before the attempt failed; it may be billed. `None` if nothing was, and for an attempt that
    /// brought an answer: that is counted in [`Run::usage`].
    pub usage: Option<Usage>,
}
