//! After a slot's own work: takes deferrals one at a time and runs each.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Utc};

use super::ports::{Deferral, PickupAt, Taken};
use super::runner::{Group, Runner, Work};
use super::timeline::Timeline;
use crate::job::{GroupId, Job, JobId};
use crate::schedule::DeferRule;

/// Which slot takes deferrals.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    pub group: GroupId,
    /// The slot's job; `None` for a pickup slot or a promised open slot.
    pub job: Option<JobId>,
    pub fire_at: DateTime<Utc>,
    pub takes: Takes,
}

/// What a slot takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Takes {
    /// Whatever may go there.
    All,
    /// Only open-slot work: the instant exists for it alone, and next-slot work never fires at a new time.
    OpenOnly,
}

impl Place {
    /// A job's slot.
    pub fn slot(job: &Job, fire_at: DateTime<Utc>) -> Self {
        let (group, job) = (job.group.clone(), Some(job.id.clone()));
        Self {
            group,
            job,
            fire_at,
            takes: Takes::All,
        }
    }

    /// A pickup slot of the schedule.
    pub fn pickup(group: GroupId, fire_at: DateTime<Utc>) -> Self {
        Self {
            group,
            job: None,
            fire_at,
            takes: Takes::All,
        }
    }

    /// A promised open slot.
    pub fn promise(group: GroupId, fire_at: DateTime<Utc>) -> Self {
        Self {
            group,
            job: None,
            fire_at,
            takes: Takes::OpenOnly,
        }
    }
}

/// A group's rows that a slot may not take. Rows are kept under the group that they were written with.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Source {
    rows_of: GroupId,
    skip: Vec<i64>,
}

impl Runner {
    /// Takes what waits for this slot, one call at a time, until a gate refuses.
    pub async fn take_deferrals(&self, place: &Place) {
        let mut tried = BTreeSet::new();
        while self.may_take_more(place, tried.len()) {
            let Some(taken) = self.take_one(place, &tried).await else {
                return;
            };
            tried.insert(taken.deferral.id);
            match self.carry(place, taken).await {
                Group::Open => {}
                Group::Refused => return,
            }
        }
    }

    /// The first is always taken, so that a group whose slots run into each other still carries its work on. The rest
    /// is left to the group's next slot once that has begun: one call at a time.
    fn may_take_more(&self, place: &Place, taken: usize) -> bool {
        let next = self
            .timeline
            .carriers
            .next_in_group(&place.group, place.fire_at);
        let is_next_due = next.is_some_and(|next| next.fire_at <= self.desk.now());
        !self.desk.stop.is_raised() && (taken == 0 || !is_next_due)
    }

    async fn take_one(&self, place: &Place, tried: &BTreeSet<i64>) -> Option<Taken> {
        let pending = self.pending().await;
        for source in sources(&self.timeline, place, &pending, (tried, &self.desk.busy())) {
            let pickup = PickupAt {
                group: &source.rows_of,
                home: &place.group,
                job: place.job.as_ref(),
                fire_at: place.fire_at,
                skip: &source.skip,
            };
            match self
                .desk
                .world
                .store
                .take_deferral(pickup, self.desk.now())
                .await
            {
                Ok(Some(taken)) => return Some(taken),
                Ok(None) => {}
                Err(error) => {
                    self.desk.say_failed(&error);
                    return None;
                }
            }
        }
        None
    }

    /// Runs one deferral with the slot at which it was due.
    async fn carry(&self, place: &Place, taken: Taken) -> Group {
        let Taken { deferral, run } = taken;
        let work = Work {
            run,
            slot: deferral.slot.clone(),
            origin: deferral.wait.origin,
            carried_at: place.fire_at,
            busy: self.desk.occupy(&deferral.slot.job),
            carried: Some(deferral),
        };
        if let Some(planned) = self.timeline.active(&work.slot.job) {
            return self.run(planned, work).await.group;
        }
        self.close_gone(&work).await;
        Group::Open
    }

    /// Fails the deferrals among `pending` that no slot will ever take.
    pub async fn fail_orphans(&self, pending: &[Deferral]) {
        let now = self.desk.now();
        let is_orphan = |deferral: &&Deferral| is_orphan(&self.timeline, deferral, now);
        for orphan in pending.iter().filter(is_orphan) {
            let others = pending.iter().filter(|it| it.id != orphan.id);
            let skip: Vec<i64> = others.map(|it| it.id).collect();
            // Any instant at which the row may be taken serves, as nothing is sent.
            let pickup = PickupAt {
                group: &orphan.group,
                home: &orphan.group,
                job: Some(&orphan.slot.job),
                fire_at: DateTime::<Utc>::MAX_UTC,
                skip: &skip,
            };
            match self.desk.world.store.take_deferral(pickup, now).await {
                Ok(Some(taken)) => {
                    self.carry(&Place::pickup(orphan.group.clone(), now), taken)
                        .await;
                }
                Ok(None) => {}
                Err(error) => self.desk.say_failed(&error),
            }
        }
    }
}

/// Whether no slot will ever take a deferral: its job is gone or disabled, and so is what it waits for.
///
/// Own-slot work waits for its job, and the rest for its group: a slot of the group still ends that with a record.
fn is_orphan(timeline: &Timeline, deferral: &Deferral, now: DateTime<Utc>) -> bool {
    let is_waited_for = match deferral.wait.rule {
        DeferRule::OwnSlot => false,
        DeferRule::NextSlot | DeferRule::OpenSlot => timeline
            .carriers
            .next_in_group(&deferral.group, now)
            .is_some(),
    };
    timeline.active(&deferral.slot.job).is_none() && !is_waited_for
}

/// The groups whose rows hold work for this slot, its own first, each with the rows that it may not take.
///
/// A job that moved to another group takes its deferrals along, although their rows keep the old one. A job that is
/// busy is left out, so that no two runs of it go on at once.
fn sources(
    timeline: &Timeline,
    place: &Place,
    pending: &[Deferral],
    (tried, busy): (&BTreeSet<i64>, &BTreeSet<JobId>),
) -> Vec<Source> {
    let belongs = |deferral: &Deferral| {
        let is_welcome = match (place.takes, deferral.wait.rule) {
            (Takes::All, _) | (Takes::OpenOnly, DeferRule::OpenSlot) => true,
            (Takes::OpenOnly, DeferRule::NextSlot | DeferRule::OwnSlot) => false,
        };
        is_welcome
            && *timeline.home(deferral) == place.group
            && !tried.contains(&deferral.id)
            && !busy.contains(&deferral.slot.job)
    };
    let mut skips: BTreeMap<&GroupId, Vec<i64>> = BTreeMap::new();
    let mut wanted: BTreeSet<&GroupId> = BTreeSet::new();
    for deferral in pending {
        if belongs(deferral) {
            wanted.insert(&deferral.group);
        } else {
            skips.entry(&deferral.group).or_default().push(deferral.id);
        }
    }
    let mut sources: Vec<Source> = wanted
        .into_iter()
        .map(|group| Source {
            rows_of: group.clone(),
            skip: skips.remove(group).unwrap_or_default(),
        })
        .collect();
    sources.sort_by_key(|source| source.rows_of != place.group);
    sources
}

#[cfg(test)]
mod tests;
