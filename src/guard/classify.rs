//! What an attempt's end means: success, retryable or fatal; for the breaker; for the group.
//!
//! The table is `error_code`, then `error.type`, then status, as the API's
//! wording of messages changes. Two limits come as a plain 400 whose message
//! is the only sign; they are matched loosely and fall back to a bad request.

use std::time::Duration;

use chrono::{DateTime, Utc};

use super::hint::remaining;
use super::limit::{cap_lifts_at, named_instant};
use super::{Hold, HoldCause, Sample};
use crate::answer::{Answer, FailureKind, SendFailure, ShouldRetry, StopReason};
use crate::outcome::{Class, FailReason, YieldReason};

/// What an attempt's end means to the three layers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// To the retry layer.
    pub class: Class,
    /// To the breaker.
    pub sample: Sample,
    /// The server's wait from now on.
    pub hint: Option<Duration>,
    /// The group must be held; the guard itself waits for a second 401.
    pub hold: Option<Hold>,
    /// To the call, when no further attempt follows.
    pub then: Then,
}

/// What becomes of a call when no further attempt follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Then {
    /// It has its answer.
    Answer,
    /// It is exhausted: a later slot may bring an answer.
    Exhaust,
    /// It yields: not before the hold or the hint ends.
    Yield(YieldReason),
    /// It fails.
    Fail(FailReason),
}

impl Verdict {
    /// A whole answer; one that the model refused tells the breaker nothing.
    #[must_use]
    pub fn answered(answer: &Answer) -> Self {
        let sample = match answer.stop_reason {
            StopReason::Refusal => Sample::Neutral,
            StopReason::EndTurn
            | StopReason::StopSequence
            | StopReason::MaxTokens
            | StopReason::ContextWindowExceeded
            | StopReason::ToolUse
            | StopReason::PauseTurn
            | StopReason::Other(_) => Sample::Success,
        };
        Self {
            class: Class::Success,
            sample,
            hint: None,
            hold: None,
            then: Then::Answer,
        }
    }

    fn new(class: Class, sample: Sample, then: Then) -> Self {
        Self {
            class,
            sample,
            hint: None,
            hold: None,
            then,
        }
    }

    /// Retry in place, then defer; the upstream is unwell.
    fn unwell() -> Self {
        Self::new(Class::Retryable, Sample::Failure, Then::Exhaust)
    }

    /// Retry in place, then defer; the upstream is well.
    fn in_conflict() -> Self {
        Self::new(Class::Retryable, Sample::Neutral, Then::Exhaust)
    }

    /// The request itself is the trouble.
    fn rejected() -> Self {
        Self::new(Class::Fatal, Sample::Neutral, Then::Fail(FailReason::Fatal))
    }

    /// Traffic grew too fast: another attempt now would make it worse.
    fn ramped() -> Self {
        Self::new(
            Class::Fatal,
            Sample::Failure,
            Then::Yield(YieldReason::Hint),
        )
    }

    fn held(hold: Hold) -> Self {
        let hold = Some(hold);
        Self {
            hold,
            ..Self::new(
                Class::Fatal,
                Sample::Neutral,
                Then::Yield(YieldReason::Hold),
            )
        }
    }
}

/// Classifies a failed attempt by error code, then error type, then status.
///
/// `x-should-retry` overrides whether it is retried in place, both ways, but
/// not where the answer holds the whole group at once: spend caps and billing.
/// A `false` leaves the server's wait in force: the work yields, and holds the
/// group until then.
///
/// ```
/// use chrono::DateTime;
/// use offpeak::answer::{FailureKind, SendFailure};
/// use offpeak::guard::{Sample, classify};
/// use offpeak::outcome::Class;
///
/// let mut failure = SendFailure::new(FailureKind::Status, "Overloaded");
/// failure.status = Some(529);
/// let verdict = classify(&failure, DateTime::UNIX_EPOCH);
/// assert_eq!((verdict.class, verdict.sample), (Class::Retryable, Sample::Failure));
/// ```
#[must_use]
pub fn classify(failure: &SendFailure, now: DateTime<Utc>) -> Verdict {
    let verdict = match failure.kind {
        FailureKind::Connect
        | FailureKind::FirstByteTimeout
        | FailureKind::IdleTimeout
        | FailureKind::AttemptTimeout
        | FailureKind::Cut => Verdict::unwell(),
        FailureKind::TooLarge | FailureKind::Redirect | FailureKind::Unsendable => {
            return Verdict::rejected();
        }
        FailureKind::Status | FailureKind::StreamError => by_body(failure, now),
        FailureKind::NotAMessage => not_a_message(failure, now),
    };
    let hint = failure.hint.and_then(|hint| remaining(hint, now));
    overridden(Verdict { hint, ..verdict }, failure.should_retry)
}

/// Whether another model may do what this one could not: it is gone, or overloaded.
#[must_use]
pub fn is_models_fault(failure: &SendFailure) -> bool {
    match (failure.error_type.as_deref(), failure.status) {
        (Some("overloaded_error"), _) => failure.error_code.is_none(),
        (Some("not_found_error"), Some(404)) | (None, Some(529)) => true,
        _ => false,
    }
}

/// An error object under status 200 keeps its meaning, but what would be deferred fails: the upstream is no such API.
fn not_a_message(failure: &SendFailure, now: DateTime<Utc>) -> Verdict {
    let fails = Then::Fail(FailReason::NotAMessage);
    match by_code(failure, now).or_else(|| by_type(failure, now)) {
        Some(verdict) if verdict.then == Then::Exhaust => Verdict {
            then: fails,
            ..verdict
        },
        Some(verdict) => verdict,
        None => Verdict {
            then: fails,
            ..Verdict::unwell()
        },
    }
}

fn by_body(failure: &SendFailure, now: DateTime<Utc>) -> Verdict {
    by_code(failure, now)
        .or_else(|| by_type(failure, now))
        .unwrap_or_else(|| by_status(failure, now))
}

fn by_code(failure: &SendFailure, now: DateTime<Utc>) -> Option<Verdict> {
    let people = |cause, note: &str| Some(Verdict::held(hold(cause, None, now, note)));
    match failure.error_code.as_deref()? {
        "enforced_spend_limit_reached" => Some(Verdict::held(hold(
            HoldCause::SpendCap,
            cap_lifts_at(now),
            now,
            "the monthly spend cap of the usage tier is reached; it lifts on the 1st, or raise the tier and resume",
        ))),
        "contract_spend_limit_reached" => people(
            HoldCause::SpendCap,
            "the contract's spend cap is reached; have it raised, then resume",
        ),
        "linked_organization_spend_limit_reached" => people(
            HoldCause::Billing,
            "the linked organisation's spend limit is reached; have it raised, then resume",
        ),
        "linked_organization_billing_unavailable" => people(
            HoldCause::Billing,
            "the linked organisation's billing is unavailable; settle it, then resume",
        ),
        "organization_on_hold" => people(
            HoldCause::Billing,
            "the organisation is on hold; ask support, then resume",
        ),
        "ramp_limit_exceeded" => Some(Verdict::ramped()),
        "request_body_too_large_after_decoding" => Some(Verdict::rejected()),
        "cmek_key_unreachable" | "compaction_unavailable" => Some(Verdict::unwell()),
        _ => None,
    }
}

fn by_type(failure: &SendFailure, now: DateTime<Utc>) -> Option<Verdict> {
    match failure.error_type.as_deref()? {
        "authentication_error" => Some(unauthenticated(now)),
        "billing_error" => Some(unpaid(now)),
        "permission_error" | "not_found_error" | "request_too_large" => Some(Verdict::rejected()),
        "conflict_error" => Some(Verdict::in_conflict()),
        "rate_limit_error" | "api_error" | "timeout_error" | "overloaded_error" => {
            Some(Verdict::unwell())
        }
        // The API uses this type for other 4xx too, so that the status knows better where there is one.
        "invalid_request_error" if !matches!(failure.status, Some(401..=499)) => {
            Some(bad_request(failure, now))
        }
        _ => None,
    }
}

fn by_status(failure: &SendFailure, now: DateTime<Utc>) -> Verdict {
    match failure.status {
        Some(400) => bad_request(failure, now),
        Some(401) => unauthenticated(now),
        Some(402) => unpaid(now),
        // 499 is a proxy's word for a connection that it lost on its own side: the request is not to blame.
        Some(408 | 409 | 499) => Verdict::in_conflict(),
        // An error event of an unknown type, or an error without a status, is a broken answer.
        Some(429 | 500.. | ..=299) | None => Verdict::unwell(),
        Some(300..=498) => Verdict::rejected(),
    }
}

/// Tells the two limits that have no code from a bad request, by their wording.
fn bad_request(failure: &SendFailure, now: DateTime<Utc>) -> Verdict {
    let message = failure.message.to_lowercase();
    if message.contains("credit balance is too low") {
        let note = "the prepaid credit is used up; buy credit, then resume";
        return Verdict::held(hold(HoldCause::Billing, None, now, note));
    }
    if message.contains("reached your specified") && message.contains("usage limit") {
        let until = named_instant(&failure.message, now);
        let note = "the usage limit that the owner set is reached; raise it and resume, or wait until it lifts";
        return Verdict::held(hold(HoldCause::SpendCap, until, now, note));
    }
    Verdict::rejected()
}

fn unauthenticated(now: DateTime<Utc>) -> Verdict {
    let note = "the API refused the key twice; replace the key, then resume";
    Verdict::held(hold(HoldCause::Authentication, None, now, note))
}

fn unpaid(now: DateTime<Utc>) -> Verdict {
    let note = "the API reports a payment problem; settle it, then resume";
    Verdict::held(hold(HoldCause::Billing, None, now, note))
}

fn hold(cause: HoldCause, until: Option<DateTime<Utc>>, now: DateTime<Utc>, note: &str) -> Hold {
    Hold {
        cause,
        until,
        since: now,
        note: note.to_owned(),
    }
}

fn overridden(verdict: Verdict, should_retry: Option<ShouldRetry>) -> Verdict {
    let holds_at_once = verdict
        .hold
        .as_ref()
        .is_some_and(|hold| hold.cause != HoldCause::Authentication);
    match should_retry {
        Some(ShouldRetry::Yes) if !holds_at_once => Verdict {
            class: Class::Retryable,
            ..verdict
        },
        Some(ShouldRetry::No) => Verdict {
            class: Class::Fatal,
            then: match (verdict.then, verdict.hint) {
                (Then::Exhaust, Some(_)) => Then::Yield(YieldReason::Hint),
                (then, _) => then,
            },
            ..verdict
        },
        Some(ShouldRetry::Yes) | None => verdict,
    }
}

#[cfg(test)]
mod tests;
