//! What is worth telling somebody: a job that begins to fail or works again, a group that is held or free again.
//!
//! Plain decisions on how runs end and on how guards stand. A change is told
//! once: what follows from a state that was told already is no change.

use std::collections::BTreeMap;
use std::time::Duration;

use chrono::{DateTime, Utc};

use super::ports::{After, Delivery, DeliveryEnd, Finish};
use crate::guard::{Guard, Hold};
use crate::job::{GroupId, JobId};
use crate::outcome::{FailReason, Outcome, RunId, SkipReason};
use crate::slot::Slot;

/// While a group is held, how often at least its row is looked at: another process may lift the hold.
const LONGEST_LOOK: Duration = Duration::from_mins(1);

/// The shortest pause before a hold is looked at again.
const SHORTEST_LOOK: Duration = Duration::from_secs(1);

/// A kind of change that somebody can ask to be told of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Change {
    /// A job failed that had been fine.
    Failed,
    /// A group must not send.
    Held,
    /// A job succeeds again, or a group may send again.
    Recovered,
}

impl Change {
    /// Every kind, in the order of the documentation.
    pub const ALL: [Self; 3] = [Self::Failed, Self::Held, Self::Recovered];

    /// The word used in settings and messages.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Failed => "failed",
            Self::Held => "held",
            Self::Recovered => "recovered",
        }
    }
}

/// A run that ended, as far as it is told of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ending {
    /// The slot.
    pub slot: Slot,
    /// The run.
    pub run: RunId,
    /// How.
    pub outcome: Outcome,
    /// One sentence for a person.
    pub note: Option<String>,
    /// The work goes on, not before this instant.
    pub later: Option<DateTime<Utc>>,
    /// When.
    pub at: DateTime<Utc>,
}

impl Ending {
    /// How the run of this slot ended.
    #[must_use]
    pub fn new(slot: &Slot, finish: &Finish) -> Self {
        Self {
            slot: slot.clone(),
            run: finish.run,
            outcome: finish.outcome.clone(),
            note: finish.note.clone(),
            later: finish.deferral.as_ref().map(|wait| wait.not_before),
            at: finish.now,
        }
    }

    /// How a run counts after its answer was delivered at last, or given up; `None` while it is still owed.
    #[must_use]
    pub fn redelivered(
        delivery: &Delivery,
        (end, counts): (&DeliveryEnd, Option<&Outcome>),
        at: DateTime<Utc>,
    ) -> Option<Self> {
        let (outcome, note) = match &end.then {
            // Other items may have failed for other reasons.
            After::Done if counts != Some(&Outcome::Succeeded) => return None,
            After::Done => (Outcome::Succeeded, None),
            After::Again(..) => return None,
            After::GiveUp(trouble) => (Outcome::Failed(FailReason::Output), Some(trouble.clone())),
        };
        Some(Self {
            slot: delivery.slot.clone(),
            run: delivery.run,
            outcome,
            note,
            later: None,
            at,
        })
    }

    /// Whether all went well: an answer was delivered, or there was nothing to ask.
    #[must_use]
    pub const fn is_good(&self) -> bool {
        match self.outcome {
            Outcome::Succeeded | Outcome::Skipped(SkipReason::EmptyInput) => true,
            Outcome::Incomplete(_)
            | Outcome::Yielded(_)
            | Outcome::Exhausted
            | Outcome::Failed(_)
            | Outcome::Skipped(
                SkipReason::Overlap
                | SkipReason::Disabled
                | SkipReason::Missed
                | SkipReason::Merged
                | SkipReason::Paused,
            ) => false,
        }
    }
}

/// What somebody is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Alert {
    /// The job's group, or the group itself.
    pub group: GroupId,
    /// What happened.
    pub news: News,
    /// When it was seen.
    pub at: DateTime<Utc>,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum News {
    /// A job failed that had been fine; its attempts, if they are known.
    Failed(Ending, Option<u32>),
    /// A job succeeded that had failed.
    Works(Ending, Option<u32>),
    /// The group is held.
    Held(Hold),
    /// The group is held no longer.
    Free(Hold),
}

impl Alert {
    /// The kind of change.
    #[must_use]
    pub const fn change(&self) -> Change {
        match self.news {
            News::Failed(..) => Change::Failed,
            News::Held(_) => Change::Held,
            News::Works(..) | News::Free(_) => Change::Recovered,
        }
    }
}

/// How a job stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// Its last work succeeded, or none has ended yet.
    Fine,
    /// Its last work failed for good.
    Failing,
}

impl Standing {
    /// How a job stands after a run; `None` if the run does not tell: its work goes on `later`, or there was none.
    #[must_use]
    pub const fn after(outcome: &Outcome, later: Option<DateTime<Utc>>) -> Option<Self> {
        match (outcome, later) {
            (Outcome::Succeeded, _) => Some(Self::Fine),
            // Whoever dropped work knows of it.
            (
                Outcome::Failed(FailReason::Dropped) | Outcome::Yielded(_) | Outcome::Skipped(_),
                _,
            )
            | (Outcome::Incomplete(_) | Outcome::Exhausted | Outcome::Failed(_), Some(_)) => None,
            (Outcome::Incomplete(_) | Outcome::Exhausted | Outcome::Failed(_), None) => {
                Some(Self::Failing)
            }
        }
    }

    /// What changes if a job stands like this now.
    #[must_use]
    pub const fn turn(self, now: Self) -> Option<Change> {
        match (self, now) {
            (Self::Fine, Self::Failing) => Some(Change::Failed),
            (Self::Failing, Self::Fine) => Some(Change::Recovered),
            (Self::Fine, Self::Fine) | (Self::Failing, Self::Failing) => None,
        }
    }
}

/// How the jobs stand whose runs were heard of.
#[derive(Debug, Default)]
pub struct Standings(BTreeMap<JobId, Standing>);

impl Standings {
    /// How a job stands; `None` if that must be looked up in the history.
    #[must_use]
    pub fn of(&self, job: &JobId) -> Option<Standing> {
        self.0.get(job).copied()
    }

    /// Keeps how a job stands.
    pub fn keep(&mut self, job: &JobId, standing: Standing) {
        self.0.insert(job.clone(), standing);
    }

    /// Forgets everything: what happens while nobody listens is in the history.
    pub fn clear(&mut self) {
        self.0.clear();
    }
}

/// The holds that were told, or that stood when the first look was taken.
#[derive(Debug, Default)]
pub struct Holds(Option<BTreeMap<GroupId, Hold>>);

impl Holds {
    /// What changed since the last look, and takes it down.
    ///
    /// Nothing at the first look: what stands then was told before a restart. A hold for another cause is another hold;
    /// one that is only longer is not.
    pub fn turns(&mut self, guards: &[(GroupId, Guard)], now: DateTime<Utc>) -> Vec<Alert> {
        let standing = guards.iter().filter_map(|(group, guard)| {
            let hold = guard.hold.as_ref().filter(|hold| hold.is_active(now))?;
            Some((group.clone(), hold.clone()))
        });
        let standing: BTreeMap<GroupId, Hold> = standing.collect();
        let Some(before) = self.0.replace(standing.clone()) else {
            return Vec::new();
        };
        let placed = standing.iter().filter(|(group, hold)| {
            before
                .get(*group)
                .is_none_or(|told| told.cause != hold.cause)
        });
        let placed = placed.map(|(group, hold)| (group, News::Held(hold.clone())));
        let lifted = before
            .iter()
            .filter(|(group, _)| !standing.contains_key(*group))
            .map(|(group, hold)| (group, News::Free(hold.clone())));
        let alert = |(group, news): (&GroupId, News)| Alert {
            group: group.clone(),
            news,
            at: now,
        };
        placed.chain(lifted).map(alert).collect()
    }

    /// Whether a look is due after a run ended like this: it may have placed a hold or outlived one.
    #[must_use]
    pub fn concerns(&self, outcome: &Outcome) -> bool {
        let is_held = self.0.as_ref().is_none_or(|holds| !holds.is_empty());
        match outcome {
            Outcome::Succeeded | Outcome::Incomplete(_) | Outcome::Skipped(_) => is_held,
            Outcome::Yielded(_) | Outcome::Exhausted | Outcome::Failed(_) => true,
        }
    }

    /// How long until the next look must be taken; `None` if nothing is held.
    #[must_use]
    pub fn look_in(&self, now: DateTime<Utc>) -> Option<Duration> {
        let holds = self.0.as_ref()?;
        let rest = |hold: &Hold| match hold.until {
            Some(until) => (until - now).to_std().unwrap_or(Duration::ZERO),
            None => LONGEST_LOOK,
        };
        let nearest = holds.values().map(rest).min()?;
        Some(nearest.clamp(SHORTEST_LOOK, LONGEST_LOOK))
    }

    /// Forgets everything; the next look is the first again.
    pub fn clear(&mut self) {
        self.0 = None;
    }
}

#[cfg(test)]
mod tests;
