//! The slots that take the work of many: one look at the schedule for all of them.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};

use super::ports::{Deferral, NewDeferral};
use super::timeline::Timeline;
use crate::job::{GroupId, Job};
use crate::schedule::defer::earliest;
use crate::schedule::{DeferRule, OpenSlots};

/// Finds the slots that take deferred work, for one piece after another at one instant.
#[derive(Debug)]
pub(super) struct Targets<'a> {
    timeline: &'a Timeline,
    now: DateTime<Utc>,
    /// The instants promised to open-slot work, by group.
    promised: BTreeMap<GroupId, Vec<DateTime<Utc>>>,
    open: BTreeMap<GroupId, OpenSlots<'a>>,
    /// The next slot of a group, and after which instant it is that.
    next: BTreeMap<GroupId, (DateTime<Utc>, Option<DateTime<Utc>>)>,
}

impl<'a> Targets<'a> {
    /// Nothing is promised yet.
    pub fn new(timeline: &'a Timeline, now: DateTime<Utc>) -> Self {
        Self {
            timeline,
            now,
            promised: BTreeMap::new(),
            open: BTreeMap::new(),
            next: BTreeMap::new(),
        }
    }

    /// What the pending deferrals were promised stays theirs.
    pub fn beside(mut self, pending: &[Deferral]) -> Self {
        for deferral in pending {
            match (deferral.wait.rule, deferral.wait.to) {
                (DeferRule::OpenSlot, Some(at)) => self.promise(&deferral.group, at),
                (DeferRule::OpenSlot, None)
                | (DeferRule::NextSlot | DeferRule::OwnSlot, Some(_) | None) => {}
            }
        }
        self
    }

    /// Keeps an instant of a group from being promised again.
    pub fn promise(&mut self, group: &GroupId, at: DateTime<Utc>) {
        match self.open.get_mut(group) {
            Some(open) => open.take(at),
            None => self.promised.entry(group.clone()).or_default().push(at),
        }
    }

    /// The slot that takes a job's work; an open slot is promised to it from here on.
    pub fn find(&mut self, job: &Job, wait: &NewDeferral) -> Option<DateTime<Utc>> {
        match wait.rule {
            DeferRule::NextSlot => self.next_slot(&job.group, wait.not_before),
            DeferRule::OwnSlot => self.timeline.target(job, wait, self.now),
            DeferRule::OpenSlot => self.open_slot(&job.group, wait.not_before),
        }
    }

    /// The first free instant of a group at or after one; it is promised from here on.
    pub fn open_slot(
        &mut self,
        group: &GroupId,
        not_before: DateTime<Utc>,
    ) -> Option<DateTime<Utc>> {
        if !self.open.contains_key(group) {
            let mut open = self.timeline.open_slots(group);
            let promised = self.promised.remove(group).unwrap_or_default();
            for at in promised {
                open.take(at);
            }
            self.open.insert(group.clone(), open);
        }
        let open = self.open.get_mut(group)?;
        let at = open.first_after(earliest(not_before, self.now))?;
        open.take(at);
        Some(at)
    }

    fn next_slot(&mut self, group: &GroupId, not_before: DateTime<Utc>) -> Option<DateTime<Utc>> {
        let after = earliest(not_before, self.now);
        if let Some((known, next)) = self.next.get(group)
            && *known == after
        {
            return *next;
        }
        let next = self.timeline.carriers.next_in_group(group, after);
        let next = next.map(|entry| entry.fire_at);
        self.next.insert(group.clone(), (after, next));
        next
    }
}
