//! The instants promised to open-slot deferrals.
//!
//! A row keeps the instant as it was promised. What holds is decided here
//! anew: a promise that was missed, or that a new plan has run over, moves to
//! the next free instant.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, TimeDelta, Utc};

use super::pickup::Place;
use super::ports::Deferral;
use super::targets::Targets;
use super::timeline::Timeline;
use crate::job::GroupId;
use crate::schedule::DeferRule;
use crate::schedule::misfire::{Decision, Missed, Rank, decide};

/// How long work stays without a promise before a free instant is looked for again: the schedule is the same, and the
/// search goes through a year of it.
const LOOK_AGAIN: TimeDelta = TimeDelta::hours(1);

/// The promises that hold, for the deferrals that are pending.
#[derive(Debug, Default)]
pub(super) struct Promises {
    kept: BTreeMap<Key, Promise>,
    /// Those that were due last: what follows keeps its gap from them too.
    used: Vec<Promise>,
    /// Work to which no instant could be promised, and when to look again.
    hopeless: BTreeMap<Key, DateTime<Utc>>,
}

/// A row is used again when its work yields again, with one more carry.
type Key = (i64, u32);

#[derive(Debug, Clone)]
struct Promise {
    group: GroupId,
    at: DateTime<Utc>,
}

impl Promises {
    /// Forgets every promise: a new plan may have run over it, or the clock stepped.
    pub fn clear(&mut self) {
        self.kept.clear();
        self.hopeless.clear();
    }

    /// Brings the promises in line with the pending deferrals.
    pub fn refresh(&mut self, pending: &[Deferral], timeline: &Timeline, now: DateTime<Utc>) {
        let open: Vec<&Deferral> = pending.iter().filter(|it| is_open(it)).collect();
        let keys: BTreeSet<Key> = open.iter().map(|it| key_of(it)).collect();
        self.kept.retain(|key, _| keys.contains(key));
        self.hopeless
            .retain(|key, until| keys.contains(key) && now < *until);
        let is_new = |key: &Key| !self.kept.contains_key(key) && !self.hopeless.contains_key(key);
        let new: Vec<&Deferral> = open.into_iter().filter(|it| is_new(&key_of(it))).collect();
        if new.is_empty() {
            return;
        }
        let mut targets = self.targets(timeline, now);
        for deferral in new {
            let promise = promise(deferral, timeline, (&mut targets, now));
            self.keep(deferral, promise, now);
        }
    }

    /// The next instant at which one is due.
    pub fn next(&self) -> Option<DateTime<Utc>> {
        self.kept.values().map(|promise| promise.at).min()
    }

    /// The slots that are due. Work that none of them takes keeps a later promise.
    pub fn due(
        &mut self,
        pending: &[Deferral],
        timeline: &Timeline,
        now: DateTime<Utc>,
    ) -> Vec<Place> {
        let (due, kept): (BTreeMap<Key, Promise>, BTreeMap<Key, Promise>) =
            std::mem::take(&mut self.kept)
                .into_iter()
                .partition(|(_, promise)| promise.at <= now);
        self.kept = kept;
        if due.is_empty() {
            return Vec::new();
        }
        self.used = due.values().cloned().collect();
        let mut targets = self.targets(timeline, now);
        for deferral in pending.iter().filter(|it| due.contains_key(&key_of(it))) {
            let later = free(deferral, now, timeline, &mut targets);
            self.keep(deferral, later, now);
        }
        let mut places: BTreeMap<(GroupId, DateTime<Utc>), BTreeSet<i64>> = BTreeMap::new();
        for ((id, _), Promise { group, at }) in due {
            places.entry((group, at)).or_default().insert(id);
        }
        let place = |((group, at), ids)| Place::promise(group, at, ids);
        places.into_iter().map(place).collect()
    }

    /// The free instants beside the promises that hold.
    fn targets<'a>(&self, timeline: &'a Timeline, now: DateTime<Utc>) -> Targets<'a> {
        let mut targets = Targets::new(timeline, now);
        for Promise { group, at } in self.kept.values().chain(&self.used) {
            targets.promise(group, *at);
        }
        targets
    }

    fn keep(&mut self, deferral: &Deferral, promise: Option<Promise>, now: DateTime<Utc>) {
        match promise {
            Some(promise) => {
                self.kept.insert(key_of(deferral), promise);
            }
            None => {
                self.hopeless.insert(key_of(deferral), now + LOOK_AGAIN);
            }
        }
    }
}

/// The promise as written if it still holds, or else the next free instant.
fn promise(
    deferral: &Deferral,
    timeline: &Timeline,
    (targets, now): (&mut Targets<'_>, DateTime<Utc>),
) -> Option<Promise> {
    match deferral.wait.to {
        Some(at) if at > now => free(deferral, at, timeline, targets),
        Some(at) if decide(Missed::Skip, at, now, Rank::Latest) == Decision::Fire => {
            let group = timeline.home(deferral).clone();
            targets.promise(&group, at);
            Some(Promise { group, at })
        }
        Some(_) | None => free(deferral, deferral.wait.not_before, timeline, targets),
    }
}

/// The first instant, at or after one, that is free for this deferral.
fn free(
    deferral: &Deferral,
    from: DateTime<Utc>,
    timeline: &Timeline,
    targets: &mut Targets<'_>,
) -> Option<Promise> {
    let group = &timeline.active(&deferral.slot.job)?.job.job.group;
    // The gate's instant holds whatever was promised.
    let at = targets.open_slot(group, from.max(deferral.wait.not_before))?;
    Some(Promise {
        group: group.clone(),
        at,
    })
}

/// How long until an instant; zero if it is past.
pub(super) fn span_until(at: DateTime<Utc>, now: DateTime<Utc>) -> std::time::Duration {
    (at - now)
        .max(TimeDelta::zero())
        .to_std()
        .unwrap_or_default()
}

fn is_open(deferral: &Deferral) -> bool {
    match deferral.wait.rule {
        DeferRule::OpenSlot => true,
        DeferRule::NextSlot | DeferRule::OwnSlot => false,
    }
}

fn key_of(deferral: &Deferral) -> Key {
    (deferral.id, deferral.wait.carries)
}

#[cfg(test)]
mod tests;
