//! After a slot's own work: takes deferrals one at a time and runs each.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use chrono::{DateTime, Utc};
use tokio::sync::watch;

use super::plan::Plan;
use super::ports::{Deferral, PickupAt, StoreError, Taken};
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
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Takes {
    /// Whatever may go there.
    All,
    /// Only the open-slot work to which the instant was promised: it exists for that alone, next-slot work never fires
    /// at a new time, and other open-slot work has an instant of its own.
    Promised(BTreeSet<i64>),
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
    pub fn promise(group: GroupId, fire_at: DateTime<Utc>, ids: BTreeSet<i64>) -> Self {
        Self {
            group,
            job: None,
            fire_at,
            takes: Takes::Promised(ids),
        }
    }
}

/// A group's rows that a slot may not take. Rows are kept under the group that they were written with.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Source {
    rows_of: GroupId,
    skip: Vec<i64>,
}

/// Deferrals that no slot will ever take.
#[derive(Debug)]
pub(super) struct Orphans {
    ids: BTreeSet<i64>,
    /// The other rows that were pending when they were found.
    others: Vec<i64>,
    /// The groups that the rows were written with, and their jobs.
    of: BTreeSet<(GroupId, JobId)>,
}

/// Whether there may be more to take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rest {
    Some,
    None,
}

impl Runner {
    /// Takes what waits for this slot, one call at a time, until a gate refuses.
    ///
    /// The first is always taken, so that a group whose slots run into each other still carries its work on. The rest
    /// is left to the group's next slot once that has begun: one call at a time.
    pub async fn take_deferrals(&self, place: &Place) {
        let mut tried = BTreeSet::new();
        // Looked up once, and only for a second piece of work: most slots find none.
        let mut next = None;
        while !self.desk.stop.is_raised() {
            if !tried.is_empty()
                && next
                    .get_or_insert_with(|| self.next_slot(place))
                    .is_some_and(|next| next <= self.desk.now())
            {
                return;
            }
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

    /// The next slot of the group that can take deferrals.
    fn next_slot(&self, place: &Place) -> Option<DateTime<Utc>> {
        let carriers = &self.timeline.carriers;
        let next = carriers.next_in_group(&place.group, place.fire_at);
        next.map(|next| next.fire_at)
    }

    async fn take_one(&self, place: &Place, tried: &BTreeSet<i64>) -> Option<Taken> {
        let _beginning = self.desk.begin();
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
        let work = self.carried(place.fire_at, taken);
        if let Some(planned) = self.timeline.active(&work.slot.job) {
            let closed = self.run(planned, work).await;
            return closed.map_or(Group::Open, |closed| closed.group);
        }
        self.close_gone(&work).await;
        Group::Open
    }

    fn carried(&self, carried_at: DateTime<Utc>, taken: Taken) -> Work {
        let Taken { deferral, run } = taken;
        Work {
            run,
            slot: deferral.slot.clone(),
            origin: deferral.wait.origin,
            carried_at,
            busy: self.desk.occupy(run, &deferral.slot.job),
            carried: Some(deferral),
        }
    }

    /// The deferrals among `pending` that no slot will ever take; `None` if there are none.
    pub fn orphans(&self, pending: &[Deferral]) -> Option<Orphans> {
        let orphans = orphans(&self.timeline, pending, self.desk.now());
        if orphans.is_empty() {
            return None;
        }
        let ids: BTreeSet<i64> = orphans.iter().map(|it| it.id).collect();
        let others = pending.iter().filter(|it| !ids.contains(&it.id));
        let of = orphans.iter();
        Some(Orphans {
            others: others.map(|it| it.id).collect(),
            of: of
                .map(|it| (it.group.clone(), it.slot.job.clone()))
                .collect(),
            ids,
        })
    }

    /// Fails orphans, until a newer plan comes, which may have slots for them.
    ///
    /// Waits for a store that fails, so it must never be awaited by what else the daemon does.
    pub async fn fail_orphans(self, orphans: Orphans, plans: watch::Receiver<Arc<Plan>>) {
        let is_idle = || plans.has_changed().unwrap_or(false) || self.desk.stop.is_raised();
        for (group, job) in &orphans.of {
            // Any instant at which the rows may be taken serves, as nothing is sent.
            let pickup = PickupAt {
                group,
                home: group,
                job: Some(job),
                fire_at: DateTime::<Utc>::MAX_UTC,
                skip: &orphans.others,
            };
            while !is_idle() {
                match self.fail_one(pickup, &orphans.ids).await {
                    Ok(Rest::Some) => {}
                    Ok(Rest::None) => break,
                    Err(error) => return self.desk.say_failed(&error),
                }
            }
        }
    }

    /// Takes a row, and ends it if it is one of the orphans: no plan has their jobs.
    async fn fail_one(
        &self,
        pickup: PickupAt<'_>,
        orphans: &BTreeSet<i64>,
    ) -> Result<Rest, StoreError> {
        let beginning = self.desk.begin();
        let store = &self.desk.world.store;
        let Some(taken) = store.take_deferral(pickup, self.desk.now()).await? else {
            return Ok(Rest::None);
        };
        let (is_orphan, wait) = (
            orphans.contains(&taken.deferral.id),
            taken.deferral.wait.clone(),
        );
        let work = self.carried(self.desk.now(), taken);
        drop(beginning);
        if is_orphan {
            self.close_gone(&work).await;
            return Ok(Rest::Some);
        }
        // It was left since the orphans were found: it waits for a slot, and is sent in none that does not exist.
        self.close_unsent(&work, wait).await;
        Ok(Rest::None)
    }
}

/// The deferrals that no slot will ever take: their job is gone or disabled, and so is what they wait for.
///
/// Own-slot work waits for its job, and the rest for its group: a slot of the group still ends that with a record.
fn orphans<'a>(
    timeline: &Timeline,
    pending: &'a [Deferral],
    now: DateTime<Utc>,
) -> Vec<&'a Deferral> {
    let mut has_slots: BTreeMap<&GroupId, bool> = BTreeMap::new();
    let mut is_waited_for = |deferral: &'a Deferral| match deferral.wait.rule {
        DeferRule::OwnSlot => false,
        DeferRule::NextSlot | DeferRule::OpenSlot => {
            *has_slots.entry(&deferral.group).or_insert_with(|| {
                let next = timeline.carriers.next_in_group(&deferral.group, now);
                next.is_some()
            })
        }
    };
    let is_idle = |deferral: &&Deferral| timeline.active(&deferral.slot.job).is_none();
    let idle = pending.iter().filter(is_idle);
    idle.filter(|deferral| !is_waited_for(deferral)).collect()
}

/// The groups whose rows hold work for this slot, that with the oldest first, each with the rows that it may not take.
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
        let is_welcome = match &place.takes {
            Takes::All => true,
            Takes::Promised(ids) => ids.contains(&deferral.id),
        };
        is_welcome
            && *timeline.home(deferral) == place.group
            && !tried.contains(&deferral.id)
            && !busy.contains(&deferral.slot.job)
    };
    let mut skips: BTreeMap<&GroupId, Vec<i64>> = BTreeMap::new();
    let mut wanted: BTreeMap<&GroupId, (DateTime<Utc>, i64)> = BTreeMap::new();
    for deferral in pending {
        if belongs(deferral) {
            let age = (deferral.slot.fire_at, deferral.id);
            let oldest = wanted.entry(&deferral.group).or_insert(age);
            *oldest = age.min(*oldest);
        } else {
            skips.entry(&deferral.group).or_default().push(deferral.id);
        }
    }
    let mut wanted: Vec<(&GroupId, (DateTime<Utc>, i64))> = wanted.into_iter().collect();
    wanted.sort_by_key(|(_, oldest)| *oldest);
    wanted
        .into_iter()
        .map(|(group, _)| Source {
            rows_of: group.clone(),
            skip: skips.remove(group).unwrap_or_default(),
        })
        .collect()
}

#[cfg(test)]
mod tests;
