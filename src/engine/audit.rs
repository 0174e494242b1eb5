//! The audit: whether what a store holds keeps the promises.
//!
//! Promise: every slot ends in exactly one recorded outcome, work that yielded
//! waits or has ended, and nothing was sent that no row accounts for. A
//! [`Ledger`] is all rows of a store at one moment; [`audit`] walks it and
//! says what does not hold. It trusts no writer: the fire times come from the
//! schedules on record, not from the slots.

mod deferrals;
mod guards;
mod slots;
#[cfg(test)]
mod tests;

use std::fmt;

use chrono::{DateTime, Utc};

use super::keep::DeferralRecord;
use crate::guard::Guard;
use crate::job::{GroupId, JobId};
use crate::outcome::{Outcome, Run, RunId};
use crate::schedule::Zones;
use crate::slot::Slot;

/// All rows of a store at one moment.
#[derive(Debug, Clone, Default)]
pub struct Ledger {
    /// The instant up to which every slot has been dealt with.
    pub watermark: Option<DateTime<Utc>>,
    /// The schedules of the plan that stands.
    pub schedules: Vec<ScheduleRow>,
    /// The claims, with the outcome of each slot's own run.
    pub slots: Vec<(Slot, Option<Outcome>)>,
    /// Every run, oldest first.
    pub runs: Vec<Run>,
    /// Every deferral, oldest first.
    pub deferrals: Vec<DeferralRecord>,
    /// Every group that has sent something or is held.
    pub guards: Vec<(GroupId, Guard)>,
}

/// A schedule as the store knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScheduleRow {
    /// `job:NAME` or `pickup:GROUP`.
    pub name: String,
    /// Zone and expressions, a line each.
    pub fingerprint: String,
    /// Its slots count from here on.
    pub starts_at: DateTime<Utc>,
}

/// What is asked of an audit.
#[derive(Debug, Clone, Copy)]
pub struct Scope<'a> {
    /// The zones that the schedules on record name.
    pub zones: &'a Zones,
    /// Rows from before this instant may have been pruned.
    pub kept_from: DateTime<Utc>,
    /// Whether runs may be under way.
    pub under_way: UnderWay,
}

/// Whether runs may be under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnderWay {
    /// A daemon is at work, or the next one will close what the last one left.
    Allowed,
    /// Nobody is at work, and everything has been closed.
    None,
}

/// Something that does not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Violation {
    /// A fire time of a schedule, up to the watermark, that nobody has claimed.
    Unclaimed(Slot),
    /// A slot without an outcome, and without a run under way.
    Unclosed(Slot),
    /// A slot with more runs of its own than one.
    FiredTwice(Slot),
    /// A slot whose row says another outcome than its run.
    Contradiction(Slot),
    /// A slot's own run without a claim, or a claim without its run.
    Unmatched(Slot),
    /// A run that has not ended.
    Unended(RunId, JobId),
    /// A run whose attempts are not numbered from 1 on.
    Misnumbered(RunId, JobId),
    /// A request that was sent after its run had ended.
    SentLate(RunId, JobId),
    /// Work that a run left and that waits nowhere.
    Lost(Slot),
    /// Work that waits though its last run left none, or that waits twice.
    Ghost(Slot),
    /// A deferral that says it is carried, and no run carries it; or that ended and says not when.
    Adrift(Slot),
    /// A group's budget does not account for its attempts.
    Unspent(GroupId),
    /// A group's breaker has counted more answers than there were attempts.
    Overcounted(GroupId),
    /// A schedule on record that cannot be read: its zone or an expression is unknown to this program.
    Unreadable(String),
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unclaimed(slot) => write!(f, "{} was due and is not on record", shown(slot)),
            Self::Unclosed(slot) => write!(f, "{} has no outcome and no run", shown(slot)),
            Self::FiredTwice(slot) => write!(f, "{} has more than one run of its own", shown(slot)),
            Self::Contradiction(slot) => {
                write!(f, "{} has another outcome than its run", shown(slot))
            }
            Self::Unmatched(slot) => {
                write!(f, "{} has a claim or a run, not both", shown(slot))
            }
            Self::Unended(run, job) => write!(f, "run {} of `{job}` has not ended", run.0),
            Self::Misnumbered(run, job) => {
                write!(
                    f,
                    "the attempts of run {} of `{job}` are misnumbered",
                    run.0
                )
            }
            Self::SentLate(run, job) => {
                write!(f, "run {} of `{job}` sent a request after its end", run.0)
            }
            Self::Lost(slot) => write!(f, "{} left work that waits nowhere", shown(slot)),
            Self::Ghost(slot) => {
                write!(f, "{} has deferred work that no run left", shown(slot))
            }
            Self::Adrift(slot) => write!(
                f,
                "the deferral of {} contradicts the runs on record",
                shown(slot)
            ),
            Self::Unspent(group) => {
                write!(
                    f,
                    "the budget of group `{group}` does not account for its attempts"
                )
            }
            Self::Overcounted(group) => {
                write!(
                    f,
                    "the breaker of group `{group}` has counted more answers than attempts"
                )
            }
            Self::Unreadable(name) => {
                write!(
                    f,
                    "the schedule `{name}` on record cannot be read by this program"
                )
            }
        }
    }
}

/// Walks the rows; what is returned does not hold. Empty is good.
#[must_use]
pub fn audit(ledger: &Ledger, scope: Scope<'_>) -> Vec<Violation> {
    let mut found = slots::unclaimed(ledger, scope);
    found.extend(slots::contradictions(ledger, scope));
    found.extend(slots::runs(ledger, scope));
    found.extend(deferrals::chains(ledger, scope));
    found.extend(deferrals::adrift(ledger));
    found.extend(guards::unaccounted(ledger));
    found
}

fn shown(slot: &Slot) -> String {
    format!(
        "the slot of `{}` at {}",
        slot.job,
        slot.fire_at.format("%Y-%m-%d %H:%M:%SZ")
    )
}
