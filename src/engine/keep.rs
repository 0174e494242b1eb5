//! The rules of keeping that every store shares.
//!
//! A store is rows and transactions. What becomes of a row is decided here,
//! so that the store on disk and the one in virtual time cannot drift apart.

use std::path::Path;
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};

use super::pause::Pauses;
use super::ports::{After, Deferral, Finish, NewDeferral, PickupAt, Role, StoreError};
use crate::guard::Guard;
use crate::outcome::{Attempt, Class, FailReason, Outcome, Run, RunId, YieldReason};
use crate::schedule::DeferRule;
use crate::slot::{Origin, Slot};

/// How far the instant of a step may lie behind its group's row and still be a matter of waiting, not of a clock that
/// was set back: several steps queue for a lock that each may wait ten seconds for.
const QUEUE: TimeDelta = TimeDelta::minutes(1);

/// Where a deferral stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DeferralState {
    /// It waits for a slot.
    Pending,
    /// A run carries it.
    Running,
    /// Its run ended with an answer, or with nothing to do.
    Done,
    /// Its run ended without an answer, and it is carried no further.
    Failed,
    /// A later slot of its job made the same call.
    Merged,
}

/// A deferral and what became of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeferralRecord {
    /// The work, with its latest wait.
    pub deferral: Deferral,
    /// Where it stands.
    pub state: DeferralState,
    /// The run that carries it or ended it; for merged work the run that made the call. `None` while it waits, or when
    /// that run was pruned.
    pub run: Option<RunId>,
    /// When it ended.
    pub ended_at: Option<DateTime<Utc>>,
}

impl DeferralState {
    /// Every state, for tables and parsers.
    pub const ALL: [Self; 5] = [
        Self::Pending,
        Self::Running,
        Self::Done,
        Self::Failed,
        Self::Merged,
    ];

    /// The word used in the store.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Running => "running",
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Merged => "merged",
        }
    }

    /// Where a deferral stands after the run that carried it ended for good.
    #[must_use]
    pub const fn after(outcome: &Outcome) -> Self {
        match outcome {
            // An answer that is still to be delivered has come.
            Outcome::Succeeded
            | Outcome::Incomplete(_)
            | Outcome::Failed(FailReason::Output)
            | Outcome::Skipped(_) => Self::Done,
            Outcome::Yielded(_) | Outcome::Exhausted | Outcome::Failed(_) => Self::Failed,
        }
    }
}

impl PickupAt<'_> {
    /// Whether this slot carries a pending deferral now: it may, and no pause keeps the work still.
    #[must_use]
    pub fn takes(&self, deferral: &Deferral, pauses: &Pauses, now: DateTime<Utc>) -> bool {
        self.may_take(deferral) && pauses.of(&deferral.slot.job, self.home, now).is_none()
    }

    /// Whether this slot may carry a pending deferral.
    ///
    /// Work goes to another slot than its own, not before the stated instant; an earlier one takes it only after the
    /// clock was set back. An open-slot deferral to which no instant could be promised is taken by any slot of its
    /// group, so that it is never lost.
    #[must_use]
    pub fn may_take(&self, deferral: &Deferral) -> bool {
        let wait = &deferral.wait;
        deferral.group == *self.group
            && wait.not_before <= self.fire_at
            && deferral.slot.fire_at != self.fire_at
            && !self.skip.contains(&deferral.id)
            && match wait.rule {
                DeferRule::NextSlot => true,
                DeferRule::OwnSlot => self.job == Some(&deferral.slot.job),
                DeferRule::OpenSlot => wait.to.is_none_or(|to| to <= self.fire_at),
            }
    }
}

/// The instant of a step on a group's guard, once it has the row to itself.
///
/// Whoever waited for another process asks with an instant from before the wait. Taken at its word it would move the
/// other's sends back to it, and they would stop counting too early; so time never runs backwards within a row, except
/// after a clock that was set back.
#[must_use]
pub fn instant_in_row(guard: &Guard, now: DateTime<Utc>) -> DateTime<Utc> {
    let sent = guard.budget.sent.back().copied();
    let sampled = guard.breaker.samples.back().map(|sample| sample.at);
    match sent.max(sampled) {
        Some(latest) if latest > now && latest - now <= QUEUE => latest,
        Some(_) | None => now,
    }
}

/// Whether a slot on record may be claimed anew: a clock that was ahead recorded it, nothing was sent for it, and the
/// clock was set back since. Otherwise a clock that was a year ahead for a minute would keep a year's slots from firing.
///
/// Stores ask this only of a slot that has no other run than its own.
#[must_use]
pub fn is_void(claimed_at: DateTime<Utc>, outcome: Option<&Outcome>, now: DateTime<Utc>) -> bool {
    let is_unsent = match outcome {
        Some(Outcome::Skipped(_) | Outcome::Yielded(YieldReason::Missed)) => true,
        Some(
            Outcome::Succeeded
            | Outcome::Incomplete(_)
            | Outcome::Yielded(_)
            | Outcome::Exhausted
            | Outcome::Failed(_),
        )
        | None => false,
    };
    is_unsent && claimed_at - now > QUEUE
}

/// Whether pending work may go at once after the clock was set back: its instant was reckoned by the clock that was
/// ahead. What a missed slot left that lies ahead itself waits for that slot, which is claimed anew.
#[must_use]
pub fn is_freed_by_rewind(deferral: &Deferral, now: DateTime<Utc>) -> bool {
    let wait = &deferral.wait;
    let waits_for_slot = wait.reason == YieldReason::Missed && deferral.slot.fire_at > now;
    wait.not_before > now && !waits_for_slot
}

/// What deferred work is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Parts {
    /// One call, or one chain of them.
    One,
    /// Items, some of them still to be done.
    Items,
}

/// Whether a slot that fires or is caught up makes the same call as a pending deferral, so that the two are one.
///
/// Not of work that was split into items: what lines and records said then may be nowhere else by now. It is carried
/// for itself, without the items that the later slot has done as they are.
#[must_use]
pub fn makes_same_call(slot: &Slot, deferral: &Deferral, parts: Parts) -> bool {
    parts == Parts::One && slot.job == deferral.slot.job && deferral.wait.not_before <= slot.fire_at
}

/// The note of deferred work that a later slot takes over.
#[must_use]
pub fn merged_note(slot: &Slot) -> String {
    format!(
        "joined with the slot of {}, which makes the same call",
        slot.fire_at.format("%Y-%m-%d %H:%M:%SZ")
    )
}

/// The instant of a run that a person asked for: that of the asking, or the next millisecond that no run of its job has.
///
/// Work that waits is known by its slot, a job at an instant: two runs that are asked for in one millisecond must not
/// leave work of one name.
pub fn manual_instant<E>(
    asked_at: DateTime<Utc>,
    mut is_taken: impl FnMut(DateTime<Utc>) -> Result<bool, E>,
) -> Result<DateTime<Utc>, E> {
    let mut at = asked_at;
    while is_taken(at)? {
        at += TimeDelta::milliseconds(1);
    }
    Ok(at)
}

/// When a run that a person asked for counts as lost if nothing more is heard of it after an attempt: its lease, and
/// time for the files.
#[must_use]
pub fn lease_after(now: DateTime<Utc>, lease: Duration) -> DateTime<Utc> {
    let lease = TimeDelta::from_std(lease).unwrap_or(TimeDelta::MAX);
    now.checked_add_signed(lease)
        .and_then(|at| at.checked_add_signed(TimeDelta::minutes(30)))
        .unwrap_or(DateTime::<Utc>::MAX_UTC)
}

/// What ending a run means to its row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// The row takes the outcome.
    Write,
    /// The row has this very outcome: the caller was not told that it had been written.
    Keep,
}

/// Decides whether a run may end with `outcome`.
///
/// A run ends once. A manual run that was given up after its lease still reports how it really ended.
///
/// # Errors
///
/// [`StoreError::Lasting`] if the run has another outcome already.
pub fn ending(
    run: RunId,
    origin: Origin,
    known: Option<&Outcome>,
    outcome: &Outcome,
) -> Result<Ending, StoreError> {
    match known {
        None => Ok(Ending::Write),
        Some(known) if known == outcome => Ok(Ending::Keep),
        Some(Outcome::Failed(FailReason::Interrupted)) if origin == Origin::Manual => {
            Ok(Ending::Write)
        }
        Some(known) => Err(StoreError::Lasting(format!(
            "run {} ended as `{known}` already, and cannot end as `{outcome}`",
            run.0
        ))),
    }
}

/// What the answer of a run is to it, if that was not recorded with the attempt.
#[must_use]
pub const fn role(finish: &Finish) -> Role {
    match finish.delivery {
        Some(_) => Role::Owed,
        None => Role::Whole,
    }
}

/// Whether the store keeps the text of an answer: unless it went to a file, and nowhere else is owed it.
#[must_use]
pub fn keeps_text(output: Option<&Path>, then: Option<&After>) -> bool {
    let is_owed = then.is_some_and(|then| *then != After::Done);
    output.is_none() || is_owed
}

/// The error for a run that is not in the store.
#[must_use]
pub fn no_run(run: RunId) -> StoreError {
    StoreError::Lasting(format!("there is no run {}", run.0))
}

/// The error for an attempt of a run that has ended, or that is not in the store: nothing may be sent for it.
#[must_use]
pub fn no_run_under_way(run: RunId) -> StoreError {
    StoreError::Lasting(format!("run {} is not under way", run.0))
}

/// The error for an attempt that was never admitted.
#[must_use]
pub fn no_attempt(run: RunId, n: u32) -> StoreError {
    StoreError::Lasting(format!("run {} has made no attempt {n}", run.0))
}

/// The error for a run that says it carried a deferral which it had not taken.
#[must_use]
pub fn not_carried(run: RunId, deferral: i64) -> StoreError {
    StoreError::Lasting(format!("run {} does not carry deferral {deferral}", run.0))
}

/// How a run that a crash cut off is closed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CutOff {
    /// Yielded for the daemon's work, failed for a run that a person had asked for.
    pub outcome: Outcome,
    /// Whether something was sent that may have been billed.
    pub note: String,
    /// The work that goes on in a later slot; `None` for a person's run.
    pub wait: Option<NewDeferral>,
}

/// Decides how a run that a crash cut off is closed: deferred, never sent again at once.
///
/// `carried` is the deferral that the run had taken; it keeps its rule and counts one more carry. The work of a run that
/// carried none waits by [`DeferRule::NextSlot`], whatever its job says: the rule is not in the store, and the job may
/// have changed or gone since. That rule is the one under which any slot of the group may take the work, so that it is
/// never lost; for the same reason no slot is named, and the engine finds it in the plan. If the work yields again, it
/// goes on by its job's own rule. A run whose answer `is_owed` to its places wants no further call: only the delivery
/// goes on.
#[must_use]
pub fn cut_off(
    run: &Run,
    (carried, is_owed): (Option<&NewDeferral>, bool),
    now: DateTime<Utc>,
) -> CutOff {
    if is_owed {
        return CutOff {
            outcome: Outcome::Failed(FailReason::Output),
            note: "cut off while the answer was being delivered; it is delivered next".to_owned(),
            wait: None,
        };
    }
    let note = cut_off_note(run);
    if run.origin == Origin::Manual {
        return CutOff {
            outcome: Outcome::Failed(FailReason::Interrupted),
            note,
            wait: None,
        };
    }
    let wait = NewDeferral {
        not_before: now,
        to: None,
        carries: carried.map_or(0, |wait| wait.carries).saturating_add(1),
        rule: carried.map_or(DeferRule::NextSlot, |wait| wait.rule),
        reason: YieldReason::Interrupted,
        origin: carried.map_or(Origin::Deferred, |wait| wait.origin),
    };
    CutOff {
        outcome: Outcome::Yielded(YieldReason::Interrupted),
        note,
        wait: Some(wait),
    }
}

fn cut_off_note(run: &Run) -> String {
    match run.attempts.last() {
        None => "cut off before anything was sent".to_owned(),
        Some(attempt) if attempt.end.is_none() => {
            format!(
                "cut off while attempt {} was under way; it may have been billed",
                attempt.n
            )
        }
        Some(attempt) if is_answered(attempt) => format!(
            "cut off after attempt {} was answered and billed; the answer may have been delivered",
            attempt.n
        ),
        Some(attempt) => format!("cut off after attempt {}", attempt.n),
    }
}

fn is_answered(attempt: &Attempt) -> bool {
    let end = attempt.end.as_ref();
    end.is_some_and(|end| end.class == Some(Class::Success))
}
