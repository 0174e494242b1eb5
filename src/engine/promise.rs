//! The instants promised to open-slot deferrals.
//!
//! A row keeps the instant as it was promised. What holds is decided here
//! anew: a promise that was missed, or that a new plan has run over, moves to
//! the next free instant.

use std::collections::BTreeMap;

use chrono::{DateTime, TimeDelta, Utc};

use super::pickup::Place;
use super::ports::{Deferral, NewDeferral};
use super::timeline::Timeline;
use crate::job::GroupId;
use crate::schedule::DeferRule;
use crate::schedule::misfire::{Decision, Missed, Rank, decide};

/// The promises that hold, for the deferrals that are pending.
#[derive(Debug, Default)]
pub(super) struct Promises {
    kept: BTreeMap<Key, Promise>,
    /// Those that were due last: what follows keeps its gap from them too.
    used: Vec<Promise>,
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
    }

    /// Brings the promises in line with the pending deferrals.
    pub fn refresh(&mut self, pending: &[Deferral], timeline: &Timeline, now: DateTime<Utc>) {
        let open: Vec<&Deferral> = pending.iter().filter(|it| is_open(it)).collect();
        self.kept
            .retain(|key, _| open.iter().any(|it| key_of(it) == *key));
        for deferral in open {
            let key = key_of(deferral);
            if self.kept.contains_key(&key) {
                continue;
            }
            if let Some(promise) = self.promise(deferral, timeline, now) {
                self.kept.insert(key, promise);
            }
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
        for deferral in pending.iter().filter(|it| due.contains_key(&key_of(it))) {
            if let Some(later) = self.free(deferral, now, timeline, now) {
                self.kept.insert(key_of(deferral), later);
            }
        }
        let mut places: Vec<Place> = Vec::new();
        for Promise { group, at } in due.into_values() {
            let place = Place::promise(group, at);
            if !places.contains(&place) {
                places.push(place);
            }
        }
        places
    }

    /// The promise as written if it still holds, or else the next free instant.
    fn promise(
        &self,
        deferral: &Deferral,
        timeline: &Timeline,
        now: DateTime<Utc>,
    ) -> Option<Promise> {
        let written = deferral.wait.to;
        match written {
            Some(at) if at > now => self.free(deferral, at, timeline, now),
            Some(at) if decide(Missed::Skip, at, now, Rank::Latest) == Decision::Fire => {
                Some(Promise {
                    group: timeline.home(deferral).clone(),
                    at,
                })
            }
            Some(_) | None => self.free(deferral, deferral.wait.not_before, timeline, now),
        }
    }

    /// The first instant, at or after one, that is free for this deferral.
    fn free(
        &self,
        deferral: &Deferral,
        from: DateTime<Utc>,
        timeline: &Timeline,
        now: DateTime<Utc>,
    ) -> Option<Promise> {
        let group = timeline.home(deferral);
        // The gate's instant holds whatever was promised.
        let not_before = from.max(deferral.wait.not_before);
        let wait = NewDeferral {
            not_before,
            ..deferral.wait.clone()
        };
        let others = self.kept.values().chain(&self.used);
        let others = others.filter(|promise| promise.group == *group);
        let taken: Vec<DateTime<Utc>> = others.map(|promise| promise.at).collect();
        let job = timeline.active(&deferral.slot.job)?;
        let at = timeline.target(&job.job.job, &wait, now, &taken)?;
        Some(Promise {
            group: group.clone(),
            at,
        })
    }
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
