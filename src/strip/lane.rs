//! A lane: the jobs and pickup slots of one group, each with its mark.

use std::fmt;
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};

use crate::job::{GroupId, JobId};
use crate::lint::{Rule, Rules, Subject};

/// How the linter's subjects name pickup slots; no job has a colon in its name.
const PICKUP: &str = "pickup:";

/// The letters that tell jobs of a group apart.
const LETTERS: &[u8; 52] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

/// What stands for a slot in a picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// A job, by its letter within the group.
    Letter(char),
    /// A job after the first 52 by name.
    Rest,
    /// A pickup slot.
    Pickup,
}

impl fmt::Display for Mark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Letter(letter) => write!(f, "{letter}"),
            Self::Rest => f.write_str("*"),
            Self::Pickup => f.write_str("+"),
        }
    }
}

/// A job, or the pickup slots of the group.
#[derive(Debug, Clone)]
pub struct Member<'a> {
    /// What the linter knows of it.
    pub subject: &'a Subject,
    /// What stands for its slots.
    pub mark: Mark,
    /// The longest that one run may take.
    pub worst_case: Duration,
    spacing: Watch,
    peaks: Watch,
}

/// Whether a rule is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Watch {
    /// It is.
    On,
    /// The settings turn it off, or the job accepts it.
    Off,
}

impl Watch {
    fn of(rule: Rule, subject: &Subject, rules: &Rules) -> Self {
        if rules.levels.severity(rule).is_none() || subject.accepted.contains_key(&rule) {
            Self::Off
        } else {
            Self::On
        }
    }
}

impl Member<'_> {
    /// Whether it is the group's pickup slots, which do no work of their own.
    #[must_use]
    pub fn is_pickup(&self) -> bool {
        self.mark == Mark::Pickup
    }

    /// Whether its distance to others is looked at.
    pub(super) fn is_spaced(&self) -> bool {
        self.spacing == Watch::On
    }

    /// Whether its peak firings are looked at.
    pub(super) fn is_kept_off_peak(&self) -> bool {
        self.peaks == Watch::On
    }

    /// Its fire times in `from <= t < until`, ascending, each once. Both are whole seconds.
    #[must_use]
    pub fn fire_times(&self, from: DateTime<Utc>, until: DateTime<Utc>) -> Vec<DateTime<Utc>> {
        let second = TimeDelta::seconds(1);
        self.subject
            .timetable
            .between(from - second, until - second)
    }
}

/// One slot of a lane. Sorted by time, then by the order of the members.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Firing {
    /// The nominal instant.
    pub at: DateTime<Utc>,
    /// Whose, as an index into the members.
    pub member: usize,
}

/// What one group fires.
#[derive(Debug, Clone)]
pub struct Lane<'a> {
    /// The group.
    pub group: &'a GroupId,
    /// Jobs by name, then pickup slots.
    pub members: Vec<Member<'a>>,
    /// Jobs that are not drawn, by name.
    pub disabled: &'a [JobId],
}

impl<'a> Lane<'a> {
    pub(super) fn new(
        group: &'a GroupId,
        mut subjects: Vec<&'a Subject>,
        disabled: &'a [JobId],
        rules: &Rules,
    ) -> Self {
        subjects.sort_by_key(|subject| (is_pickup(&subject.job), &subject.job));
        let members = subjects.into_iter().enumerate().map(|(index, subject)| {
            let mark = match LETTERS.get(index) {
                _ if is_pickup(&subject.job) => Mark::Pickup,
                Some(letter) => Mark::Letter(char::from(*letter)),
                None => Mark::Rest,
            };
            Member {
                subject,
                mark,
                worst_case: subject.effort.worst_case(),
                spacing: Watch::of(Rule::KeyGap, subject, rules),
                peaks: Watch::of(Rule::PeakWindow, subject, rules),
            }
        });
        Self {
            group,
            members: members.collect(),
            disabled,
        }
    }

    /// Its slots in `from <= t < until`, in order. Both are whole seconds.
    #[must_use]
    pub fn firings(&self, from: DateTime<Utc>, until: DateTime<Utc>) -> Vec<Firing> {
        let members = self.members.iter().enumerate();
        let mut firings: Vec<Firing> = members
            .flat_map(|(member, line)| {
                let times = line.fire_times(from, until);
                times.into_iter().map(move |at| Firing { at, member })
            })
            .collect();
        firings.sort_unstable();
        firings
    }

    /// How many of its members are jobs.
    #[must_use]
    pub fn jobs(&self) -> usize {
        let jobs = self.members.iter().filter(|member| !member.is_pickup());
        jobs.count()
    }
}

fn is_pickup(name: &JobId) -> bool {
    name.as_str().starts_with(PICKUP)
}
