//! `retry` and `drop`: a person takes up work that has ended, or ends work that waits.
//!
//! Plain decisions over the rows of one job; the stores ask them within one
//! transaction, so that they hold beside a daemon at work.

use std::collections::BTreeMap;
use std::sync::Arc;

use chrono::{DateTime, Utc};

use super::keep::DeferralState;
use super::plan::Plan;
use super::ports::{Deferral, NewDeferral};
use super::targets::Targets;
use super::timeline::Timeline;
use crate::job::{GroupId, JobId};
use crate::outcome::{Outcome, Run, YieldReason};
use crate::slot::{Origin, Slot};

/// Work that a person asks for again.
#[derive(Debug, Clone)]
pub struct Again {
    /// Whose.
    pub job: JobId,
    /// Of the slot at this instant; of the job's newest slot if `None`.
    pub fire_at: Option<DateTime<Utc>>,
    /// The job's group.
    pub group: GroupId,
    /// The job's model.
    pub model: String,
    /// How it waits.
    pub wait: NewDeferral,
    /// When.
    pub now: DateTime<Utc>,
}

/// Why work is not taken up again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotAgain {
    /// The job has no such slot on record.
    Unknown,
    /// It was answered. The newest slot of the job that could be taken up, if there is one.
    Succeeded(Slot, Option<Slot>),
    /// It waits already.
    Pending(Slot),
    /// A run works on it.
    UnderWay(Slot),
    /// Its answer is there, and on its way to where the job wants it.
    Owed(Slot),
}

/// Deferred work that a person does not want any more.
#[derive(Debug, Clone)]
pub struct Dropping {
    /// Whose.
    pub job: JobId,
    /// Which of it.
    pub which: Which,
    /// Why, in a person's words.
    pub reason: Option<String>,
    /// When.
    pub now: DateTime<Utc>,
}

/// Which of a job's pending deferrals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Which {
    /// That of the newest slot.
    Newest,
    /// That of the slot at this instant.
    At(DateTime<Utc>),
    /// Each.
    All,
}

/// Why nothing was dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotDropped {
    /// Nothing waits.
    Nothing,
    /// A run carries the work just now.
    UnderWay,
}

/// How work that a person asks for again waits: by its job's own rule, as work that has not been carried yet.
///
/// `None` if the plan does not have the job, or has disabled it: no slot would take the work.
#[must_use]
pub fn wait_again(
    plan: Arc<Plan>,
    job: &JobId,
    pending: &[Deferral],
    now: DateTime<Utc>,
) -> Option<NewDeferral> {
    let timeline = Timeline::new(plan, Vec::new(), now);
    let planned = timeline.active(job)?.job;
    let mut wait = NewDeferral {
        not_before: now,
        to: None,
        carries: 0,
        rule: planned.defer.rule,
        reason: YieldReason::Asked,
        origin: Origin::Deferred,
    };
    let mut targets = Targets::new(&timeline, now).beside(pending);
    wait.to = targets.find(&planned.job, &wait);
    Some(wait)
}

/// The slot whose work is taken up, given all runs of its job, oldest first, and the slots whose deferrals are open.
///
/// # Errors
///
/// [`NotAgain`] if there is no such slot, or its work has been done, waits, or is under way.
pub fn slot_again(
    runs: &[Run],
    open: &[(Slot, DeferralState)],
    fire_at: Option<DateTime<Utc>>,
) -> Result<Slot, NotAgain> {
    // The last run of a slot says how its work stands.
    let last: BTreeMap<DateTime<Utc>, &Run> = runs.iter().map(|run| (run.fire_at, run)).collect();
    let found = match fire_at {
        Some(at) => last.get(&at),
        None => last.values().next_back(),
    };
    let run = found.ok_or(NotAgain::Unknown)?;
    standing(run, open).map_err(|why| match why {
        NotAgain::Succeeded(slot, _) => {
            let mut newest = last.values().rev();
            let other = newest.find_map(|run| standing(run, open).ok());
            NotAgain::Succeeded(slot, other)
        }
        NotAgain::Unknown | NotAgain::Pending(_) | NotAgain::UnderWay(_) | NotAgain::Owed(_) => why,
    })
}

/// The slot of a run that was its last, if its work may be taken up.
fn standing(last: &Run, open: &[(Slot, DeferralState)]) -> Result<Slot, NotAgain> {
    let slot = Slot {
        fire_at: last.fire_at,
        job: last.job.clone(),
    };
    let waits = open
        .iter()
        .any(|(waiting, state)| *waiting == slot && *state == DeferralState::Pending);
    match &last.outcome {
        None => Err(NotAgain::UnderWay(slot)),
        Some(_) if waits => Err(NotAgain::Pending(slot)),
        Some(Outcome::Succeeded) => Err(NotAgain::Succeeded(slot, None)),
        Some(
            Outcome::Incomplete(_)
            | Outcome::Yielded(_)
            | Outcome::Exhausted
            | Outcome::Failed(_)
            | Outcome::Skipped(_),
        ) => Ok(slot),
    }
}

/// The names of the deferrals that are dropped, given the open ones of one job.
///
/// # Errors
///
/// [`NotDropped`] if none of those asked for is pending.
pub fn chosen(open: &[(Deferral, DeferralState)], which: Which) -> Result<Vec<i64>, NotDropped> {
    let asked = open.iter().filter(|(deferral, _)| match which {
        Which::Newest | Which::All => true,
        Which::At(at) => deferral.slot.fire_at == at,
    });
    let (pending, carried): (Vec<_>, Vec<_>) =
        asked.partition(|(_, state)| *state == DeferralState::Pending);
    let mut pending: Vec<&Deferral> = pending.into_iter().map(|(deferral, _)| deferral).collect();
    pending.sort_by_key(|deferral| (deferral.slot.fire_at, deferral.id));
    let first = match which {
        Which::Newest => pending.len().saturating_sub(1),
        Which::At(_) | Which::All => 0,
    };
    let chosen: Vec<i64> = pending[first..].iter().map(|it| it.id).collect();
    match (chosen.is_empty(), carried.is_empty()) {
        (false, _) => Ok(chosen),
        (true, false) => Err(NotDropped::UnderWay),
        (true, true) => Err(NotDropped::Nothing),
    }
}

/// The note of the run that stands for the asking.
pub const AGAIN_NOTE: &str = "a person asked for it again";

/// The note of dropped work: the person's words, or that there were none.
#[must_use]
pub fn dropped_note(reason: Option<&str>) -> String {
    match reason {
        Some(reason) => format!("dropped by a person: {reason}"),
        None => "dropped by a person".to_owned(),
    }
}

#[cfg(test)]
mod tests;
