//! Pauses: a person keeps a job or a group still for a while.
//!
//! A slot whose fire time lies in a pause is recorded as skipped, also when
//! it is found after the pause: it is never caught up. Deferred work waits
//! where it is. What is under way goes on, and so does what a person runs.

use std::fmt;

use chrono::{DateTime, Utc};

use super::ports::{Claim, Fate};
use crate::job::{GroupId, JobId};
use crate::outcome::SkipReason;

/// What is kept still.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum PauseTarget {
    /// One job.
    Job(JobId),
    /// Every job of a group, and its pickup slots.
    Group(GroupId),
}

impl PauseTarget {
    fn is_of(&self, job: &JobId, group: &GroupId) -> bool {
        match self {
            Self::Job(paused) => paused == job,
            Self::Group(paused) => paused == group,
        }
    }
}

impl fmt::Display for PauseTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Job(job) => write!(f, "job {job}"),
            Self::Group(group) => write!(f, "group {group}"),
        }
    }
}

/// A span in which a job or a group is kept still: its beginning included, its end excluded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pause {
    /// What is kept still.
    pub target: PauseTarget,
    /// When a person asked for it.
    pub since: DateTime<Utc>,
    /// When it ends by itself; `None` if a person has to lift it.
    pub until: Option<DateTime<Utc>>,
    /// Why, in a person's words.
    pub reason: Option<String>,
    /// When a person lifted it, or another pause of the same target took its place.
    pub ended_at: Option<DateTime<Utc>>,
}

impl Pause {
    /// Whether a fire time lies in it.
    #[must_use]
    pub fn covers(&self, fire_at: DateTime<Utc>) -> bool {
        let ends = [self.until, self.ended_at];
        self.since <= fire_at && ends.into_iter().flatten().all(|end| fire_at < end)
    }

    /// Whether it is on at an instant. It is from the moment it is asked for, so that a clock set back lifts no pause;
    /// and once lifted it stays so.
    #[must_use]
    pub fn is_on(&self, now: DateTime<Utc>) -> bool {
        self.ended_at.is_none() && self.until.is_none_or(|until| now < until)
    }
}

/// The pauses on record, those that have ended too, oldest first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pauses(Vec<Pause>);

impl Pauses {
    /// The rows of a store.
    #[must_use]
    pub const fn new(rows: Vec<Pause>) -> Self {
        Self(rows)
    }

    /// Every pause on record.
    #[must_use]
    pub fn all(&self) -> &[Pause] {
        &self.0
    }

    /// Those that are on.
    pub fn on(&self, now: DateTime<Utc>) -> impl Iterator<Item = &Pause> {
        self.0.iter().filter(move |pause| pause.is_on(now))
    }

    /// The pause that keeps a job still now: its own, or else its group's.
    #[must_use]
    pub fn of(&self, job: &JobId, group: &GroupId, now: DateTime<Utc>) -> Option<&Pause> {
        let on = self.on(now).filter(|pause| pause.target.is_of(job, group));
        on.min_by(|one, other| one.target.cmp(&other.target))
    }

    /// Whether a fire time lies in a pause of its job or group.
    #[must_use]
    pub fn cover(&self, job: &JobId, group: &GroupId, fire_at: DateTime<Utc>) -> bool {
        let of_slot = |pause: &&Pause| pause.target.is_of(job, group);
        self.0
            .iter()
            .filter(of_slot)
            .any(|pause| pause.covers(fire_at))
    }

    /// What becomes of a slot: paused if its fire time lies in a pause, or if it would fire while one is on. A disabled
    /// job's slot stays disabled.
    ///
    /// Stores ask this within the claim, so that nothing begins once `pause` has returned.
    #[must_use]
    pub fn fate(&self, claim: &Claim, now: DateTime<Utc>) -> Fate {
        let (job, group) = (&claim.slot.job, &claim.group);
        let is_covered = self.cover(job, group, claim.slot.fire_at);
        let is_paused = match claim.fate {
            Fate::Skip(SkipReason::Disabled) => false,
            Fate::Fire => is_covered || self.of(job, group, now).is_some(),
            Fate::Skip(_) | Fate::CatchUp(_) => is_covered,
        };
        if is_paused {
            Fate::Skip(SkipReason::Paused)
        } else {
            claim.fate.clone()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::slot::Slot;

    fn at(text: &str) -> DateTime<Utc> {
        format!("2026-12-01T{text}:00Z").parse().unwrap()
    }

    fn pause(until: Option<&str>, ended_at: Option<&str>) -> Pause {
        Pause {
            target: PauseTarget::Job(JobId::new("a")),
            since: at("10:00"),
            until: until.map(at),
            reason: None,
            ended_at: ended_at.map(at),
        }
    }

    fn fate(pause: Pause, fire_at: &str, fate: Fate) -> Fate {
        let claim = Claim {
            slot: Slot {
                fire_at: at(fire_at),
                job: JobId::new("a"),
            },
            group: GroupId::new("main"),
            model: "m".to_owned(),
            fate,
        };
        Pauses::new(vec![pause]).fate(&claim, at("12:00"))
    }

    #[test]
    fn a_pause_covers_its_beginning_and_not_its_end() {
        let lifted = pause(Some("14:00"), Some("12:00"));
        let covered = ["09:59", "10:00", "11:59", "12:00"].map(|text| lifted.covers(at(text)));
        assert_eq!(covered, [false, true, true, false]);
        assert!(pause(None, None).covers(at("23:00")));
    }

    #[test]
    fn a_clock_set_back_neither_lifts_a_pause_nor_brings_one_back() {
        assert!(pause(None, None).is_on(at("08:00")));
        assert!(!pause(None, Some("12:00")).is_on(at("08:00")));
        assert!(pause(Some("14:00"), None).is_on(at("13:59")));
        assert!(!pause(Some("14:00"), None).is_on(at("14:00")));
    }

    #[test]
    fn a_slot_before_the_pause_does_not_fire_in_it_but_may_be_caught_up_after_it() {
        let paused = |it| matches!(it, Fate::Skip(SkipReason::Paused));
        assert!(paused(fate(pause(None, None), "09:59", Fate::Fire)));
        assert!(!paused(fate(
            pause(None, None),
            "09:59",
            Fate::Skip(SkipReason::Missed)
        )));
        assert!(paused(fate(
            pause(None, Some("11:00")),
            "10:00",
            Fate::Skip(SkipReason::Missed)
        )));
        assert!(!paused(fate(
            pause(None, Some("11:00")),
            "11:00",
            Fate::Fire
        )));
    }

    #[test]
    fn a_disabled_jobs_slot_stays_disabled() {
        let disabled = fate(pause(None, None), "11:00", Fate::Skip(SkipReason::Disabled));
        assert!(matches!(disabled, Fate::Skip(SkipReason::Disabled)));
    }

    #[test]
    fn a_jobs_own_pause_is_named_before_its_groups() {
        let of_group = Pause {
            target: PauseTarget::Group(GroupId::new("main")),
            ..pause(None, None)
        };
        let pauses = Pauses::new(vec![of_group.clone(), pause(None, None)]);
        let (a, b, main) = (JobId::new("a"), JobId::new("b"), GroupId::new("main"));
        assert_eq!(pauses.of(&a, &main, at("11:00")), Some(&pause(None, None)));
        assert_eq!(pauses.of(&b, &main, at("11:00")), Some(&of_group));
        assert_eq!(pauses.of(&b, &GroupId::new("side"), at("11:00")), None);
    }
}
