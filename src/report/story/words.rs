//! What a reason means, in sentences.

use chrono::{DateTime, Utc};

use super::clock::Face;
use crate::outcome::{FailReason, IncompleteReason, Run, SkipReason, YieldReason};

/// Which gate refused, and until when.
pub(super) fn gate(reason: YieldReason, run: &Run, face: &Face<'_>) -> String {
    let group = &run.group;
    let until = run.deferred.as_ref().map(|deferred| deferred.not_before);
    let then =
        |what: &str| until.map_or_else(String::new, |at| format!("; {what} {}", face.at(at)));
    match reason {
        YieldReason::Budget => format!(
            "The budget refused: group `{group}` had sent as many requests as `budget.calls` allows in its window{}.",
            then("there is room again at")
        ),
        YieldReason::Dollars => format!(
            "The budget in dollars refused: what the attempt might cost had no room in what group `{group}` may spend in \
             the day or the month{}.",
            then("there is room again at")
        ),
        YieldReason::MaxCost => {
            "The run stopped at its `max_cost`: the next attempt might have cost more than was left of it.".to_owned()
        }
        YieldReason::Breaker => format!(
            "The breaker of group `{group}` refused: too many of the group's latest attempts had failed, and it spares an \
             unwell server{}.",
            then("it lets one probe pass at")
        ),
        YieldReason::Hint => format!(
            "The server asked for a longer wait than a run may take, so group `{group}` sends nothing{}.",
            until.map_or_else(String::new, |at| format!(" until {}", face.at(at)))
        ),
        YieldReason::Peak => format!(
            "The peak window refused: no attempt of the daemon starts in one{}.",
            until.map_or_else(String::new, |at| format!("; it ends at {}", face.at_peaks(at)))
        ),
        YieldReason::Hold => format!(
            "The hold of group `{group}` refused: it sends nothing{}.",
            held(run, until, face)
        ),
        YieldReason::Shutdown => "The daemon was told to stop, and cut the run short.".to_owned(),
        YieldReason::Missed => {
            "The slot was missed while the daemon was away, so its work is caught up in a later slot.".to_owned()
        }
        YieldReason::Interrupted => {
            "The run was cut off by a crash or a power cut; it was not sent again blindly.".to_owned()
        }
        YieldReason::Exhausted => "An earlier run had failed to its last attempt.".to_owned(),
        YieldReason::Batch => "The batch ended before the turn of every call had come.".to_owned(),
        YieldReason::Asked => "A person asked for the work again, by `offpeak retry`.".to_owned(),
    }
}

/// A hold that lifts by itself is known by an instant behind the run's end; otherwise it waits for a person.
fn held(run: &Run, until: Option<DateTime<Utc>>, face: &Face<'_>) -> String {
    match until.filter(|at| run.finished_at.is_none_or(|end| *at > end)) {
        Some(at) => format!(" until {}", face.at(at)),
        None => " until a person says `offpeak resume`".to_owned(),
    }
}

/// What an incomplete answer falls short of.
pub(super) const fn shortfall(reason: IncompleteReason) -> &'static str {
    match reason {
        IncompleteReason::Truncated => "The answer was cut at a limit",
        IncompleteReason::Refused => "The model declined",
        IncompleteReason::Empty => "The answer holds no text",
        IncompleteReason::FailedCheck => "The answer fails the job's check",
        IncompleteReason::Unfinished => "The model stopped before it was done",
    }
}

/// Why a run failed for good.
pub(super) const fn failure(reason: FailReason) -> &'static str {
    match reason {
        FailReason::Fatal => "The server said no, and would say no again: nothing more was sent.",
        FailReason::NotAMessage => {
            "The server answered with something that is no Message, to the last attempt."
        }
        FailReason::CarriedTooOften => {
            "The work was carried as often as `defer.max` allows, and ended as failed."
        }
        FailReason::Expired => {
            "The work was older than `defer.expires_after`, and ended as failed."
        }
        FailReason::Exhausted => {
            "The call failed to its last attempt in a way that another may not, and is not deferred once more."
        }
        FailReason::Input => {
            "A prompt, an input or a place of the output could not be used; nothing was sent."
        }
        FailReason::EmptyInput => {
            "Every input was empty, and the job says `on_empty_input: fail`; nothing was sent."
        }
        FailReason::Key => "The secret of the job's key is missing or unusable; nothing was sent.",
        FailReason::Output => "The answer came, but it could not be delivered everywhere.",
        FailReason::JobGone => "The job of the work is gone or disabled, so no slot takes it.",
        FailReason::Interrupted => {
            "The run was cut off by a crash; a person had asked for it, so it is not deferred."
        }
        FailReason::Dropped => "A person dropped the work, by `offpeak drop`.",
        FailReason::MaxCost => {
            "One call alone may cost more than the job's `max_cost`: no run could make it, and nothing was sent."
        }
        FailReason::OverBudget => {
            "One call alone may cost more than `budget.dollars` of the group: no day or month would have room."
        }
        FailReason::UnknownPrice => {
            "What a call may cost is not known, and a cap in dollars holds; nothing was sent."
        }
    }
}

/// Why nothing was done.
pub(super) const fn skipped(reason: SkipReason) -> &'static str {
    match reason {
        SkipReason::EmptyInput => {
            "There was nothing to send: every input was empty, so the slot was skipped."
        }
        SkipReason::Overlap => {
            "The job was still running from an earlier slot, so this one was skipped."
        }
        SkipReason::Disabled => "The job was disabled, so the slot was skipped.",
        SkipReason::Missed => {
            "The slot was missed while the daemon was away, and the job does not catch it up (`missed: skip`)."
        }
        SkipReason::Merged => "Another slot of the job makes the same call, so the two are one.",
        SkipReason::Paused => {
            "The fire time lay in a pause, so the slot was skipped; it is never caught up."
        }
    }
}
