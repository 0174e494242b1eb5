//! Runs of one group that were retried within minutes of each other.

use std::collections::HashMap;
use std::time::Duration;

use crate::report::tally::{Kinds, RunRow};

/// Two runs stand so close if the one begins within this span of the end of the other.
const CLOSE_MS: i64 = 5 * 60 * 1000;

/// The runs that were retried, by group, in the order of their starts.
pub(super) struct Neighbours<'a> {
    runs: &'a [RunRow],
    kinds: &'a Kinds,
    groups: HashMap<u32, Group>,
}

#[derive(Default)]
struct Group {
    /// Runs by their starts.
    order: Vec<usize>,
    /// Of the runs up to each, the one that ended last.
    latest: Vec<usize>,
}

impl<'a> Neighbours<'a> {
    pub(super) fn of(runs: &'a [RunRow], kinds: &'a Kinds) -> Self {
        let mut groups: HashMap<u32, Group> = HashMap::new();
        for (at, run) in runs.iter().enumerate().filter(|(_, run)| run.is_retried) {
            groups
                .entry(kinds.get(run.kind).group)
                .or_default()
                .order
                .push(at);
        }
        for group in groups.values_mut() {
            group
                .order
                .sort_by_key(|at| (runs[*at].started_at, runs[*at].id));
            let mut latest: Option<usize> = None;
            for at in &group.order {
                let is_later = |other: usize| runs[*at].ended_at >= runs[other].ended_at;
                let last = latest.filter(|other| !is_later(*other)).unwrap_or(*at);
                group.latest.push(last);
                latest = Some(last);
            }
        }
        Self {
            runs,
            kinds,
            groups,
        }
    }

    /// Another run that was retried close to this one, if this one was, and how far apart they lie.
    pub(super) fn of_run(&self, at: usize) -> Option<(usize, Duration)> {
        let run = &self.runs[at];
        let group = self.kinds.get(run.kind).group;
        let group = self.groups.get(&group).filter(|_| run.is_retried)?;
        let place = group
            .order
            .binary_search_by_key(&(run.started_at, run.id), |at| {
                (self.runs[*at].started_at, self.runs[*at].id)
            })
            .ok()?;
        let before = place.checked_sub(1).map(|before| group.latest[before]);
        let before = before.map(|other| (other, run.started_at - self.runs[other].ended_at));
        let after = group.order.get(place + 1);
        let after = after.map(|other| (*other, self.runs[*other].started_at - run.ended_at));
        let (other, apart) = before
            .into_iter()
            .chain(after)
            .min_by_key(|(_, apart)| *apart)?;
        (apart <= CLOSE_MS).then(|| {
            let apart = u64::try_from(apart).unwrap_or_default();
            (other, Duration::from_millis(apart))
        })
    }
}
