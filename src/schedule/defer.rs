//! Which slot takes yielded work, and how often work may be carried.
//!
//! A deferral never creates a new fire time, except under
//! [`DeferRule::OpenSlot`], whose instants keep clear of every other one.

#[cfg(test)]
mod tests;

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};

use super::{Agenda, OpenSlots, PeakWindows};
use crate::job::{GroupId, JobId};

/// The least span between two instants.
pub(super) const TICK: TimeDelta = TimeDelta::nanoseconds(1);

/// Where yielded work goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeferRule {
    /// The next slot of the group, any job's, or pickup slot.
    NextSlot,
    /// The next slot of the same job.
    OwnSlot,
    /// The earliest free instant that keeps the spacing and is off-peak.
    OpenSlot,
}

/// How yielded work is carried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeferPolicy {
    /// Where it goes.
    pub rule: DeferRule,
    /// How many times it may be carried.
    pub max: u32,
    /// How long after its slot it is still worth doing; every deferral gets at least one slot all the same.
    pub expires_after: Duration,
    /// What becomes of a run that is exhausted.
    pub on_exhausted: OnExhausted,
}

/// What becomes of a run that is exhausted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnExhausted {
    /// It is deferred, once.
    Defer,
    /// It fails.
    Fail,
}

/// The question: whose work, and not before when.
#[derive(Debug, Clone, Copy)]
pub struct Carried<'a> {
    /// Whose work.
    pub job: &'a JobId,
    /// Its group.
    pub group: &'a GroupId,
    /// Not before this instant.
    pub not_before: DateTime<Utc>,
}

/// The slot that takes the work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// When.
    pub fire_at: DateTime<Utc>,
}

/// What an open slot must keep clear of.
#[derive(Debug, Clone, Copy)]
pub struct Clearance<'a> {
    /// The least gap to every slot and deferral of the group; exactly this gap is enough.
    pub min_gap: Duration,
    /// The peak windows.
    pub peaks: &'a PeakWindows,
    /// The instants already promised to other open-slot deferrals of the group.
    pub taken: &'a [DateTime<Utc>],
}

/// The slot that takes yielded work: at or after `not_before` and strictly after `now`.
///
/// `None` if the group, or the job under [`DeferRule::OwnSlot`], never fires again; under [`DeferRule::OpenSlot`] if no
/// whole minute of the next 366 days is free.
///
/// A scheduled slot is taken as it is, in a peak window or not: `validate` has proved it, or the user has overruled it.
#[must_use]
pub fn target(
    rule: DeferRule,
    carried: Carried<'_>,
    now: DateTime<Utc>,
    agenda: &Agenda,
    clearance: Clearance<'_>,
) -> Option<Target> {
    let after = earliest(carried.not_before, now);
    let fire_at = match rule {
        DeferRule::NextSlot => agenda.next_in_group(carried.group, after)?.fire_at,
        DeferRule::OwnSlot => agenda.next_of_job(carried.job, after)?.fire_at,
        DeferRule::OpenSlot => {
            OpenSlots::new(carried.group, agenda, clearance).first_after(after)?
        }
    };
    Some(Target { fire_at })
}

/// The instant strictly after which a slot may take work, at or after `not_before` and strictly after `now`.
#[must_use]
pub fn earliest(not_before: DateTime<Utc>, now: DateTime<Utc>) -> DateTime<Utc> {
    // Agendas answer "strictly after", and `not_before` itself is allowed.
    now.max(not_before.checked_sub_signed(TICK).unwrap_or(not_before))
}

/// Whether work may still be carried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Carry {
    /// Carry it once more; the new count.
    Again(u32),
    /// It was carried `max` times.
    TooOften,
    /// It is past `expires_after`.
    Expired,
}

/// Decides whether work that yields may be carried once more. `carries` counts the slots it was carried to so far.
///
/// Work that was never carried is never too old: every deferral gets at least one slot, however far away. Only a `max`
/// of 0 turns deferral off.
///
/// ```
/// use std::time::Duration;
/// use chrono::{DateTime, TimeDelta, Utc};
/// use offpeak::schedule::defer::{Carry, DeferPolicy, DeferRule, OnExhausted, carry};
///
/// let policy = DeferPolicy {
///     rule: DeferRule::NextSlot,
///     max: 3,
///     expires_after: Duration::from_hours(24),
///     on_exhausted: OnExhausted::Defer,
/// };
/// let fire_at: DateTime<Utc> = "2026-12-01T17:00:00Z".parse().unwrap();
/// let next_week = fire_at + TimeDelta::days(7);
/// assert_eq!(carry(&policy, fire_at, 0, next_week), Carry::Again(1));
/// assert_eq!(carry(&policy, fire_at, 1, next_week), Carry::Expired);
/// ```
#[must_use]
pub fn carry(
    policy: &DeferPolicy,
    fire_at: DateTime<Utc>,
    carries: u32,
    now: DateTime<Utc>,
) -> Carry {
    // A negative age is no duration: the wall clock stepped back.
    let age = (now - fire_at).to_std().unwrap_or_default();
    if carries >= policy.max {
        Carry::TooOften
    } else if carries > 0 && age > policy.expires_after {
        Carry::Expired
    } else {
        Carry::Again(carries + 1)
    }
}
