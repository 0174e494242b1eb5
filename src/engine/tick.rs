//! What a wake-up does with the slots that are due. Plain decisions; the daemon claims and starts.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Utc};

use super::pause::Pauses;
use super::plan::PlannedJob;
use super::ports::{Claim, Fate};
use super::settle;
use super::targets::Targets;
use super::timeline::Timeline;
use crate::job::{GroupId, JobId, JobState};
use crate::outcome::SkipReason;
use crate::schedule::misfire::{Decision, Rank, decide};
use crate::schedule::{Entry, Missed};
use crate::slot::Slot;

/// A slot without work of its own that takes deferrals.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pickup {
    pub group: GroupId,
    pub fire_at: DateTime<Utc>,
}

/// What a wake-up does.
#[derive(Debug, Clone)]
pub(super) struct Wake {
    pub claims: Vec<Claim>,
    pub pickups: Vec<Pickup>,
}

/// What is true at a wake-up.
#[derive(Debug)]
pub(super) struct Scene<'a> {
    pub timeline: &'a Timeline,
    pub now: DateTime<Utc>,
    /// The jobs that a run works for just now.
    pub busy: &'a BTreeSet<JobId>,
    /// The pauses on record. One that begins from here on is seen by the claim.
    pub pauses: &'a Pauses,
    /// The slots that take what is caught up.
    pub targets: Targets<'a>,
}

/// Decides what becomes of every entry that is due. Entries of jobs that are not planned are left out.
pub(super) fn wake(mut scene: Scene<'_>, due: &[Entry]) -> Wake {
    let mut wake = Wake {
        claims: Vec::new(),
        pickups: Vec::new(),
    };
    let latest = latest_of_each(due, scene.pauses);
    for entry in due {
        let Some(job) = &entry.job else {
            wake.pickups.extend(pickup(entry, scene.now));
            continue;
        };
        let Some(planned) = scene.timeline.plan.jobs.get(job) else {
            continue;
        };
        let rank = match latest.get(job) {
            Some(last) if *last > entry.fire_at => Rank::Superseded,
            Some(_) | None => Rank::Latest,
        };
        wake.claims.push(Claim {
            slot: Slot {
                fire_at: entry.fire_at,
                job: job.clone(),
            },
            group: entry.group.clone(),
            model: planned.job.template.model.clone(),
            fate: scene.fate(planned, entry.fire_at, rank),
        });
    }
    wake
}

impl Scene<'_> {
    fn fate(&mut self, planned: &PlannedJob, fire_at: DateTime<Utc>, rank: Rank) -> Fate {
        match planned.job.state {
            JobState::Disabled => return Fate::Skip(SkipReason::Disabled),
            JobState::Enabled => {}
        }
        let (job, group) = (&planned.job.id, &planned.job.group);
        if self.pauses.cover(job, group, fire_at) {
            return Fate::Skip(SkipReason::Paused);
        }
        match decide(planned.missed, fire_at, self.now, rank) {
            Decision::Skip => Fate::Skip(SkipReason::Missed),
            Decision::CatchUp => self.catch_up(planned),
            Decision::Fire if self.busy.contains(&planned.job.id) => {
                Fate::Skip(SkipReason::Overlap)
            }
            Decision::Fire => match rank {
                Rank::Latest => Fate::Fire,
                // Two slots of one job within the grace: the later makes the same call.
                Rank::Superseded => Fate::Skip(SkipReason::Merged),
            },
        }
    }

    fn catch_up(&mut self, planned: &PlannedJob) -> Fate {
        let mut wait = settle::missed(&planned.defer, self.now);
        wait.to = self.targets.find(&planned.job, &wait);
        Fate::CatchUp(wait)
    }
}

/// A pickup slot that is missed does nothing: the next slot takes what waits.
fn pickup(entry: &Entry, now: DateTime<Utc>) -> Option<Pickup> {
    match decide(Missed::Skip, entry.fire_at, now, Rank::Latest) {
        Decision::Fire => Some(Pickup {
            group: entry.group.clone(),
            fire_at: entry.fire_at,
        }),
        Decision::CatchUp | Decision::Skip => None,
    }
}

/// The latest due slot of each job that makes its call: a paused one leaves the call to an earlier one.
fn latest_of_each<'a>(due: &'a [Entry], pauses: &Pauses) -> BTreeMap<&'a JobId, DateTime<Utc>> {
    let mut latest = BTreeMap::new();
    for entry in due {
        let Some(job) = &entry.job else { continue };
        if pauses.cover(job, &entry.group, entry.fire_at) {
            continue;
        }
        let last = latest.entry(job).or_insert(entry.fire_at);
        *last = entry.fire_at.max(*last);
    }
    latest
}

#[cfg(test)]
mod tests;
