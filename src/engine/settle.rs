//! What becomes of a run: whether its answer is complete, and whether its work goes on.
//!
//! Plain decisions; the runner acts on them.

use chrono::{DateTime, Utc};

use super::ports::{After, Deferral, NewDeferral};
use crate::answer::{Answer, StopReason};
use crate::job::{Check, JobId};
use crate::outcome::{FailReason, IncompleteReason, Outcome, YieldReason};
use crate::schedule::DeferPolicy;
use crate::schedule::defer::{Carry, OnExhausted, carry};
use crate::slot::{Origin, Slot};

/// How a run ends, and the work that it leaves; the slot that takes the work is still to be found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Settled {
    pub outcome: Outcome,
    pub wait: Option<NewDeferral>,
}

/// Where the work of a run comes from.
#[derive(Debug, Clone, Copy)]
pub(super) struct Past<'a> {
    /// The slot at which it was due.
    pub slot: &'a Slot,
    /// The deferral that the run carried.
    pub wait: Option<&'a NewDeferral>,
    /// Whether a piece of the work was exhausted in this run.
    pub has_exhausted: bool,
}

/// Why an answer is incomplete; `None` if it is complete.
///
/// Why the model stopped goes before what it wrote: a cut answer may pass the job's check by chance.
pub(super) fn judge(check: &Check, answer: &Answer) -> Option<IncompleteReason> {
    match &answer.stop_reason {
        StopReason::EndTurn | StopReason::StopSequence => judge_text(check, &answer.text),
        StopReason::MaxTokens | StopReason::ContextWindowExceeded => {
            Some(IncompleteReason::Truncated)
        }
        StopReason::Refusal => Some(IncompleteReason::Refused),
        StopReason::ToolUse | StopReason::PauseTurn | StopReason::Other(_) => {
            Some(IncompleteReason::Unfinished)
        }
    }
}

/// One sentence on what an incomplete answer falls short of.
pub(super) fn shortfall(reason: IncompleteReason, check: &Check, answer: &Answer) -> String {
    match reason {
        IncompleteReason::Truncated => format!(
            "the answer was cut ({}); raise `max_tokens` or ask for less",
            answer.stop_reason.as_str()
        ),
        IncompleteReason::Refused => "the model declined".to_owned(),
        IncompleteReason::Empty => "the answer holds no text".to_owned(),
        IncompleteReason::Unfinished => {
            format!("the model stopped with `{}`", answer.stop_reason.as_str())
        }
        IncompleteReason::FailedCheck => {
            let lacking = check
                .contains
                .iter()
                .find(|wanted| !answer.text.contains(*wanted));
            let misfit = check
                .schema
                .as_ref()
                .and_then(|schema| schema.misfit(&answer.text));
            match (misfit, lacking, check.min_chars) {
                (Some(misfit), ..) => format!("`answer_schema`: {misfit}"),
                (None, Some(wanted), _) => {
                    format!("`check`: the answer does not contain `{wanted}`")
                }
                (None, None, least) => format!(
                    "`check`: the answer has {} characters, and `min_chars` is {}",
                    answer.text.chars().count(),
                    least.unwrap_or_default()
                ),
            }
        }
    }
}

fn judge_text(check: &Check, text: &str) -> Option<IncompleteReason> {
    let is_short = check
        .min_chars
        .is_some_and(|least| text.chars().count() < least);
    let lacks = check.contains.iter().any(|wanted| !text.contains(wanted));
    let misfits = || {
        let schema = check.schema.as_ref();
        schema.is_some_and(|schema| schema.misfit(text).is_some())
    };
    if text.trim().is_empty() {
        Some(IncompleteReason::Empty)
    } else if is_short || lacks || misfits() {
        Some(IncompleteReason::FailedCheck)
    } else {
        None
    }
}

/// A gate refused: the work goes on, not before the gate's instant, unless it was carried enough.
pub(super) fn yielded(
    policy: &DeferPolicy,
    past: Past<'_>,
    (reason, not_before): (YieldReason, Option<DateTime<Utc>>),
    now: DateTime<Utc>,
) -> Settled {
    // Once exhausted, exhausted for good: a later yield must not buy a second deferral for exhaustion.
    let kept = if was_exhausted(past) || past.has_exhausted {
        YieldReason::Exhausted
    } else {
        reason
    };
    let not_before = not_before.map_or(now, |at| at.max(now));
    match go_on(policy, past, (kept, not_before), now) {
        Ok(wait) => Settled {
            outcome: Outcome::Yielded(reason),
            wait: Some(wait),
        },
        Err(reason) => Settled {
            outcome: Outcome::Failed(reason),
            wait: None,
        },
    }
}

/// Retryable to the last attempt: the work goes on once, if the job wants that.
pub(super) fn exhausted(policy: &DeferPolicy, past: Past<'_>, now: DateTime<Utc>) -> Settled {
    let goes_on = if may_exhaust(policy, past) {
        go_on(policy, past, (YieldReason::Exhausted, now), now)
    } else {
        Err(FailReason::Exhausted)
    };
    match goes_on {
        Ok(wait) => Settled {
            outcome: Outcome::Exhausted,
            wait: Some(wait),
        },
        Err(reason) => Settled {
            outcome: Outcome::Failed(reason),
            wait: None,
        },
    }
}

/// Whether work of a run that is exhausted goes on: only once, and if the job wants that.
pub(super) fn may_exhaust(policy: &DeferPolicy, past: Past<'_>) -> bool {
    match policy.on_exhausted {
        OnExhausted::Defer => !was_exhausted(past),
        OnExhausted::Fail => false,
    }
}

/// The work of a slot that was missed; being caught up is not yet a carry.
pub(super) fn missed(policy: &DeferPolicy, now: DateTime<Utc>) -> NewDeferral {
    NewDeferral {
        not_before: now,
        to: None,
        carries: 0,
        rule: policy.rule,
        reason: YieldReason::Missed,
        origin: Origin::CatchUp,
    }
}

/// Why taken work is not worth doing any more; `None` if it is.
///
/// Only of work that a crash cut off: the store defers it without knowing the job's policy, so the decision is made
/// here.
pub(super) fn lapsed(
    policy: &DeferPolicy,
    deferral: &Deferral,
    now: DateTime<Utc>,
) -> Option<FailReason> {
    let wait = &deferral.wait;
    if wait.reason != YieldReason::Interrupted {
        return None;
    }
    match carry(
        policy,
        deferral.slot.fire_at,
        wait.carries.saturating_sub(1),
        now,
    ) {
        Carry::Again(_) => None,
        Carry::TooOften => Some(FailReason::CarriedTooOften),
        Carry::Expired => Some(FailReason::Expired),
    }
}

/// The end of a disabled job's run: work that would be deferred fails, because no slot would take it.
///
/// Only a run that a person asked for gets here: the schedule skips a disabled job. What stopped the run is said in the
/// note, which the outcome alone no longer does; `trouble` goes before it.
pub(super) fn of_disabled(settled: Settled, trouble: Option<String>) -> (Settled, Option<String>) {
    if settled.wait.is_none() {
        return (settled, trouble);
    }
    let reason = match settled.outcome {
        Outcome::Exhausted => FailReason::Exhausted,
        Outcome::Succeeded
        | Outcome::Incomplete(_)
        | Outcome::Yielded(_)
        | Outcome::Failed(_)
        | Outcome::Skipped(_) => FailReason::JobGone,
    };
    let parts: Vec<String> = trouble
        .into_iter()
        .chain([settled.outcome.to_string()])
        .collect();
    let outcome = Outcome::Failed(reason);
    (
        Settled {
            outcome,
            wait: None,
        },
        Some(parts.join("; ")),
    )
}

fn go_on(
    policy: &DeferPolicy,
    past: Past<'_>,
    (reason, not_before): (YieldReason, DateTime<Utc>),
    now: DateTime<Utc>,
) -> Result<NewDeferral, FailReason> {
    let carries = past.wait.map_or(0, |wait| wait.carries);
    let carries = match carry(policy, past.slot.fire_at, carries, now) {
        Carry::Again(carries) => carries,
        Carry::TooOften => return Err(FailReason::CarriedTooOften),
        Carry::Expired => return Err(FailReason::Expired),
    };
    let origin = past.wait.map_or(Origin::Deferred, |wait| wait.origin);
    Ok(NewDeferral {
        not_before,
        to: None,
        carries,
        rule: policy.rule,
        reason,
        origin,
    })
}

fn was_exhausted(past: Past<'_>) -> bool {
    past.wait
        .is_some_and(|wait| wait.reason == YieldReason::Exhausted)
}

/// The note of an answer that did not get everywhere: what went wrong, and what is done about it. It was paid for, and
/// the store keeps its text until then.
pub(super) fn undelivered(job: &JobId, then: &After) -> String {
    let kept = in_store(job);
    match then {
        After::Done => kept,
        After::GiveUp(trouble) => format!("{trouble}; {kept}"),
        After::Again(at, trouble) => format!(
            "{trouble}; {kept}; a daemon delivers it again at {}",
            at.format("%Y-%m-%d %H:%M:%SZ")
        ),
    }
}

/// The note of an incomplete answer that could not be kept beside its file.
pub(super) fn unkept(job: &JobId, shortfall: &str, trouble: &str) -> String {
    format!("{shortfall}; {trouble}; {}", in_store(job))
}

fn in_store(job: &JobId) -> String {
    format!("the answer is kept in the store: `offpeak history {job} --text` prints it")
}

/// A note with the server tools that failed inside an answer.
pub(super) fn with_tool_errors(note: Option<String>, answer: &Answer) -> Option<String> {
    let failed = (!answer.tool_errors.is_empty()).then(|| {
        format!(
            "tools of the server failed: {}",
            answer.tool_errors.join(", ")
        )
    });
    let parts: Vec<String> = note.into_iter().chain(failed).collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// One sentence for a person: what was found, and what follows.
pub(super) fn note(trouble: Option<String>, settled: &Settled) -> Option<String> {
    let follows = settled
        .wait
        .as_ref()
        .map(goes_on_at)
        .or_else(|| why_not(&settled.outcome));
    let parts: Vec<String> = trouble.into_iter().chain(follows).collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}

fn goes_on_at(wait: &NewDeferral) -> String {
    match wait.to {
        Some(to) => format!("goes on in the slot of {}", to.format("%Y-%m-%d %H:%M:%SZ")),
        None => "goes on in the first slot that may take it; none is in sight".to_owned(),
    }
}

fn why_not(outcome: &Outcome) -> Option<String> {
    let text = match outcome {
        Outcome::Failed(FailReason::CarriedTooOften) => {
            "was carried as often as `defer.max` allows"
        }
        Outcome::Failed(FailReason::Expired) => "is older than `defer.expires_after`",
        Outcome::Failed(FailReason::Exhausted) => "failed to the last attempt and is not deferred",
        Outcome::Failed(FailReason::JobGone) => "its job is gone or disabled",
        Outcome::Succeeded
        | Outcome::Incomplete(_)
        | Outcome::Yielded(_)
        | Outcome::Exhausted
        | Outcome::Failed(_)
        | Outcome::Skipped(_) => return None,
    };
    Some(text.to_owned())
}

#[cfg(test)]
mod tests;
