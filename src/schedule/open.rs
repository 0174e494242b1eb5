//! The free instants of a group: where open-slot work may go.

use std::collections::BTreeSet;
use std::ops::Bound;

use chrono::{DateTime, TimeDelta, Utc};

use super::Agenda;
use super::PeakWindows;
use super::defer::{Clearance, TICK};
use crate::job::GroupId;

/// How far ahead a free instant is looked for. A schedule repeats after a year but for odd dates, so a group without a
/// free minute in one has none that is worth waiting for.
const SEARCH: TimeDelta = TimeDelta::days(366);

/// Finds the free instants of one group, for one piece of work after another.
///
/// What the schedule says is looked up a day at a time and kept, and a search that begins within the last one goes on
/// where that ended: five hundred of them cost little more than one.
#[derive(Debug)]
pub struct OpenSlots<'a> {
    group: GroupId,
    agenda: &'a Agenda,
    peaks: &'a PeakWindows,
    /// `None` if no instant could ever keep it.
    gap: Option<TimeDelta>,
    taken: BTreeSet<DateTime<Utc>>,
    entries: Vec<DateTime<Utc>>,
    /// The span of `entries`, start excluded.
    known: Option<(DateTime<Utc>, DateTime<Utc>)>,
    /// No minute after the first and before the second is free.
    closed: Option<(DateTime<Utc>, DateTime<Utc>)>,
}

impl<'a> OpenSlots<'a> {
    /// Looks at a group's entries and at what it must keep clear of.
    #[must_use]
    pub fn new(group: &GroupId, agenda: &'a Agenda, clearance: Clearance<'a>) -> Self {
        let gap = TimeDelta::from_std(clearance.min_gap).ok();
        Self {
            group: group.clone(),
            agenda,
            peaks: clearance.peaks,
            gap: gap.filter(|gap| *gap <= SEARCH),
            taken: clearance.taken.iter().copied().collect(),
            entries: Vec::new(),
            known: None,
            closed: None,
        }
    }

    /// Keeps an instant from being found again, and what is nearer to it than the gap.
    pub fn take(&mut self, at: DateTime<Utc>) {
        self.taken.insert(at);
    }

    /// The earliest whole minute strictly after an instant that is off-peak and clear of the group's entries and of
    /// what is taken; `None` if no minute of the next 366 days is.
    #[must_use]
    pub fn first_after(&mut self, after: DateTime<Utc>) -> Option<DateTime<Utc>> {
        let gap = self.gap?;
        // Nothing below leaves the range of instants if this does not.
        after.checked_add_signed(SEARCH * 3)?;
        let horizon = after + SEARCH;
        let known = self
            .closed
            .filter(|(from, to)| (*from..*to).contains(&after));
        let (from, first) = known.unwrap_or((after, after));
        let mut minute = minute_from(first.max(after + TICK));
        while minute <= horizon {
            let open = minute_from(self.peaks.next_open(minute)?);
            if open > minute {
                minute = open;
                continue;
            }
            let Some(conflict) = self.last_conflict(minute, gap) else {
                self.closed = Some((from, minute));
                return Some(minute);
            };
            minute = minute_from(conflict + gap);
        }
        self.closed = Some((from, minute));
        None
    }

    /// The last instant nearer to this minute than the gap.
    fn last_conflict(&mut self, minute: DateTime<Utc>, gap: TimeDelta) -> Option<DateTime<Utc>> {
        let (from, until) = (minute - gap, minute + gap);
        if self
            .known
            .is_none_or(|(start, end)| from < start || end < until)
        {
            let ahead = until + TimeDelta::days(1);
            self.entries = self.agenda.instants_in_group(&self.group, from, ahead);
            self.known = Some((from, ahead));
        }
        let upcoming = self.entries.partition_point(|at| *at < until);
        let entry = self.entries[..upcoming].last().copied();
        let within = (Bound::Excluded(from), Bound::Excluded(until));
        let promised = self.taken.range(within).next_back().copied();
        entry.filter(|at| *at > from).max(promised)
    }
}

/// The first whole minute at or after an instant.
fn minute_from(at: DateTime<Utc>) -> DateTime<Utc> {
    let past = TimeDelta::seconds(at.timestamp().rem_euclid(60))
        + TimeDelta::nanoseconds(at.timestamp_subsec_nanos().into());
    if past.is_zero() {
        at
    } else {
        at - past + TimeDelta::minutes(1)
    }
}
