//! Runs for the tests of this module, on one night in Japan.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};

use crate::answer::{FailureKind, StopReason, Usage};
use crate::job::{GroupId, JobId};
use crate::money::Dollars;
use crate::outcome::{
    Attempt, AttemptEnd, Class, DeferredTo, FailReason, Outcome, Run, RunId, SkipReason,
    YieldReason,
};
use crate::piece::CallName;
use crate::slot::Origin;

/// This many minutes after 02:00 on Saturday, 5 December 2026, in Japan.
pub(super) fn at(minutes: i64) -> DateTime<Utc> {
    let two: DateTime<Utc> = "2026-12-04T17:00:00Z".parse().unwrap();
    two + TimeDelta::minutes(minutes)
}

/// A run of the slot `minutes` after two that started one second late and took a minute.
pub(super) fn run(id: i64, job: &str, minutes: i64, outcome: Outcome) -> Run {
    Run {
        id: RunId(id),
        job: JobId::new(job),
        fire_at: at(minutes),
        origin: Origin::Scheduled,
        group: GroupId::new("main"),
        model: "claude-sonnet-5-5".to_owned(),
        started_at: at(minutes) + TimeDelta::seconds(1),
        finished_at: Some(at(minutes + 1)),
        outcome: Some(outcome),
        note: None,
        attempts: Vec::new(),
        stop_reason: None,
        usage: None,
        cost_usd: None,
        output: None,
        deferred: None,
    }
}

impl Run {
    /// Adds an attempt of this latency in milliseconds that ended in this class: answered, refused by a status, or,
    /// without a class, cancelled.
    pub(super) fn attempt(self, millis: u64, class: Option<Class>) -> Self {
        let status = class.map(|class| match class {
            Class::Success => 200,
            Class::Retryable => 529,
            Class::Fatal => 400,
        });
        self.ended(millis, class, status, None)
    }

    /// Adds an attempt that broke off, after this status if one arrived.
    pub(super) fn broken(self, kind: FailureKind, status: Option<u16>) -> Self {
        self.ended(1000, Some(Class::Retryable), status, Some(kind.as_str()))
    }

    fn ended(
        self,
        millis: u64,
        class: Option<Class>,
        status: Option<u16>,
        error_type: Option<&str>,
    ) -> Self {
        let end = AttemptEnd {
            latency: Duration::from_millis(millis),
            first_byte: (class == Some(Class::Success)).then(|| Duration::from_millis(millis / 2)),
            status,
            class,
            error_type: error_type.map(str::to_owned),
            error_code: None,
            request_id: None,
            hint: None,
            message: None,
            usage: None,
        };
        self.push(Some(end))
    }

    /// Adds an attempt that broke after so many tokens in.
    pub(super) fn cut_attempt(self, input_tokens: u64) -> Self {
        let mut run = self.attempt(1000, Some(Class::Retryable));
        let end = run.attempts.last_mut().and_then(|it| it.end.as_mut());
        end.unwrap().usage = Some(Usage {
            input_tokens,
            ..Usage::default()
        });
        run
    }

    /// Adds an attempt without an end.
    pub(super) fn open_attempt(self) -> Self {
        self.push(None)
    }

    fn push(mut self, end: Option<AttemptEnd>) -> Self {
        let n = u32::try_from(self.attempts.len()).unwrap() + 1;
        self.attempts.push(Attempt {
            call: CallName::only(),
            n,
            started_at: self.started_at,
            wait: Duration::ZERO,
            end,
        });
        self
    }

    /// An answer of 100 tokens in and 10 out.
    pub(super) fn answered(mut self, cost_usd: Option<f64>) -> Self {
        self.stop_reason = Some(StopReason::EndTurn);
        self.usage = Some(Usage {
            input_tokens: 100,
            output_tokens: 10,
            ..Usage::default()
        });
        self.cost_usd = cost_usd.and_then(Dollars::from_f64);
        self.attempt(1000, Some(Class::Success))
    }

    /// Puts the work off to the slot `minutes` after two.
    pub(super) fn deferred_to(mut self, minutes: i64) -> Self {
        self.deferred = Some(DeferredTo {
            not_before: at(minutes - 5),
            to: Some(at(minutes)),
            carries: 1,
        });
        self
    }

    /// The run carried deferred work in the slot `minutes` after two.
    pub(super) fn carried_at(mut self, minutes: i64) -> Self {
        self.origin = Origin::Deferred;
        self.started_at = at(minutes);
        self.finished_at = Some(at(minutes + 1));
        self
    }

    /// The run is under way.
    pub(super) fn under_way(mut self) -> Self {
        self.outcome = None;
        self.finished_at = None;
        self
    }
}

/// A night with one of everything that a list shows.
pub(super) fn night() -> Vec<Run> {
    let mut failed =
        run(5, "notes", 165, Outcome::Failed(FailReason::Fatal)).attempt(210, Some(Class::Fatal));
    failed.note = Some("HTTP 400 invalid_request_error: max_tokens is too large".to_owned());
    vec![
        run(1, "digest", 0, Outcome::Succeeded)
            .attempt(400, Some(Class::Retryable))
            .answered(Some(0.0123)),
        run(2, "links", 45, Outcome::Yielded(YieldReason::Breaker)).deferred_to(120),
        run(3, "docs", 120, Outcome::Succeeded).answered(None),
        run(4, "links", 45, Outcome::Succeeded)
            .carried_at(120)
            .answered(Some(0.01)),
        failed,
        run(6, "idle", 165, Outcome::Skipped(SkipReason::EmptyInput)),
        run(7, "late", 170, Outcome::Succeeded).under_way(),
    ]
}
