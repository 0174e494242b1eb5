//! What a run costs, and whether it may make one more call.
//!
//! Decisions only: what a call may cost is estimated at the edge, and what a
//! group has spent is the guard's part.

use crate::answer::{FailureKind, Reply, SendFailure, Usage};
use crate::guard::{Bill, Charge, DollarCaps, GuardPolicy, Reserve};
use crate::job::Request;
use crate::money::Dollars;
use crate::outcome::FailReason;

use super::ports::Upstream;

/// What a run has cost so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Cost {
    /// What was counted, at its price.
    counted: Dollars,
    /// The same, and what else may have been billed, by what was reserved for it.
    committed: Dollars,
    certainty: Certainty,
}

/// What a cost is worth.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Certainty {
    /// Nothing was counted.
    #[default]
    Nothing,
    /// What was counted has a price.
    Known,
    /// An answer was not counted, or what was counted has no price.
    Unknown,
}

/// Whether a run has room for one more call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Room {
    /// It has.
    Go,
    /// Not in this run; a later one begins with nothing spent.
    NotInThisRun,
    /// In no run.
    InNone(FailReason),
}

/// Whether a run that may cost `cap`, and has cost `so_far` at most, may make a call that costs `next` at most.
///
/// An unknown price has no room under a cap: it is not zero.
pub(super) fn room(cap: Option<Dollars>, so_far: Dollars, next: Option<Dollars>) -> Room {
    match (cap, next) {
        (Some(_), None) => Room::InNone(FailReason::UnknownPrice),
        (Some(cap), Some(next)) if next > cap => Room::InNone(FailReason::MaxCost),
        (Some(cap), Some(next)) if so_far.plus(next) > cap => Room::NotInThisRun,
        (None, _) | (Some(_), Some(_)) => Room::Go,
    }
}

/// Why no day or month of a group has room for a call that costs `next` at most; `None` if one may have.
pub(super) fn never_affordable(caps: &DollarCaps, next: Option<Dollars>) -> Option<FailReason> {
    match (caps.least()?, next) {
        (_, None) => Some(FailReason::UnknownPrice),
        (cap, Some(next)) => (next > cap).then_some(FailReason::OverBudget),
    }
}

/// Why a call is not made, as a sentence for a person.
pub(super) fn refusal(
    reason: FailReason,
    request: &Request,
    next: Option<Dollars>,
    cap: Option<Dollars>,
) -> String {
    let (Some(next), Some(cap)) = (next, cap) else {
        return format!(
            "what `{}` costs is not known, and a cap in dollars holds: name its price under `prices` in offpeak.yaml",
            request.model
        );
    };
    let what = if reason == FailReason::OverBudget {
        "`budget.dollars`"
    } else {
        "`max_cost`"
    };
    format!("one call may cost {next}, and {what} is {cap}: raise it, or lower `max_tokens`")
}

/// Why no run of this job, or no day of its group, has room for a call, and that as a sentence; `None` if one may have.
pub(super) fn unaffordable(
    max_cost: Option<Dollars>,
    policy: &GuardPolicy,
    request: &Request,
    next: Option<Dollars>,
) -> Option<(FailReason, String)> {
    let caps = policy.budget.dollars();
    let (reason, cap) = match room(max_cost, Dollars::ZERO, next) {
        Room::InNone(reason) => (reason, max_cost),
        Room::Go | Room::NotInThisRun => (never_affordable(&caps, next)?, caps.least()),
    };
    Some((reason, refusal(reason, request, next, cap)))
}

impl Cost {
    /// Dollars for what was counted; `None` if nothing was, or if any of it has no known price.
    pub(super) fn known(&self) -> Option<Dollars> {
        match self.certainty {
            Certainty::Known => Some(self.counted),
            Certainty::Nothing | Certainty::Unknown => None,
        }
    }

    /// Adds an answer whose cost is known already, or is not.
    pub(super) fn count(&mut self, cost: Option<Dollars>) {
        let amount = cost.unwrap_or_default();
        self.counted = self.counted.plus(amount);
        self.committed = self.committed.plus(amount);
        self.certainty = self.certainty.max(match cost {
            Some(_) => Certainty::Known,
            None => Certainty::Unknown,
        });
    }

    /// What it has cost at most.
    pub(super) const fn committed(&self) -> Dollars {
        self.committed
    }

    /// Adds an attempt, and says what the guard is told of it.
    pub(super) fn add(
        &mut self,
        upstream: &dyn Upstream,
        request: &Request,
        reserve: Option<Reserve>,
        result: Option<&Result<Reply, SendFailure>>,
    ) -> Bill {
        let counted = counted(request, result);
        let price = |usage: &Usage| upstream.cost(request, counted.model, usage);
        let cost = counted.usage.as_ref().map(price);
        let charge = match (counted.end, cost) {
            (End::Free, _) => Charge::Free,
            (End::Whole, Some(Some(cost))) => Charge::AtMost(cost),
            (End::Broken, Some(Some(_))) => {
                let most = counted.usage.map(|usage| to_the_last_token(usage, request));
                let most = most.and_then(|usage| price(&usage));
                most.map_or(Charge::Unknown, Charge::AtMost)
            }
            (End::Whole | End::Broken, Some(None) | None) => Charge::Unknown,
        };
        self.certainty = self.certainty.max(match (counted.end, cost) {
            (_, Some(Some(_))) => Certainty::Known,
            (End::Whole, None) | (_, Some(None)) => Certainty::Unknown,
            (End::Broken | End::Free, None) => Certainty::Nothing,
        });
        self.counted = self.counted.plus(cost.flatten().unwrap_or_default());
        self.committed = self.committed.plus(match charge {
            Charge::Free => Dollars::ZERO,
            Charge::AtMost(cost) => cost,
            Charge::Unknown => reserve.map_or(Dollars::ZERO, |reserve| reserve.amount),
        });
        Bill { reserve, charge }
    }
}

/// What an attempt left behind.
struct Counted<'a> {
    end: End,
    model: &'a str,
    usage: Option<Usage>,
}

/// How far an attempt came, to whoever bills it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    /// It never reached the API, or was refused before an answer began.
    Free,
    /// An answer may have begun, and did not come to its end.
    Broken,
    /// A whole answer.
    Whole,
}

/// `None` is an attempt that we cancelled ourselves.
fn counted<'a>(
    request: &'a Request,
    result: Option<&'a Result<Reply, SendFailure>>,
) -> Counted<'a> {
    let (end, model, usage) = match result {
        None => (End::Broken, &request.model, None),
        Some(Ok(reply)) => (End::Whole, &reply.answer.model, reply.answer.usage),
        Some(Err(failure)) => {
            let end = match (failure.kind, failure.usage) {
                (FailureKind::Connect | FailureKind::Unsendable | FailureKind::Redirect, _)
                | (FailureKind::Status, None) => End::Free,
                (
                    FailureKind::Status
                    | FailureKind::FirstByteTimeout
                    | FailureKind::IdleTimeout
                    | FailureKind::AttemptTimeout
                    | FailureKind::Cut
                    | FailureKind::StreamError
                    | FailureKind::NotAMessage
                    | FailureKind::TooLarge,
                    _,
                ) => End::Broken,
            };
            (end, &request.model, failure.usage)
        }
    };
    Counted { end, model, usage }
}

/// What an answer that broke may be billed for: the input that was counted, and all of the output.
fn to_the_last_token(usage: Usage, request: &Request) -> Usage {
    Usage {
        output_tokens: usage.output_tokens.max(u64::from(request.max_tokens)),
        ..usage
    }
}

#[cfg(test)]
mod tests;
