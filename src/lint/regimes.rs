//! Spans of constant offset, and the moments between them.
//!
//! Away from clock changes a zone's civil time is UTC plus a constant, and
//! arithmetic on days and minutes is exact. At a change civil time is skipped
//! or repeated; those moments are few, and are looked at one by one.

use std::ops::Range;

use chrono::{DateTime, Utc};

use super::calendar::{Calendar, DAY};
use crate::schedule::Zone;
use crate::schedule::zone::Transition;

/// One zone over the horizon.
#[derive(Debug)]
pub(super) struct Track {
    /// The zone.
    pub(super) zone: Zone,
    /// The spans in which civil time is UTC plus a constant, in order.
    pub(super) steady: Vec<Steady>,
    /// Every change of offset.
    pub(super) moves: Vec<Transition>,
    /// What lies between the steady spans, in order.
    pub(super) changes: Vec<Range<i64>>,
    /// The least offset of the horizon, in seconds east.
    pub(super) least: i64,
    /// The greatest offset of the horizon.
    pub(super) greatest: i64,
}

/// A span in which civil time is UTC plus a constant, and in which no civil
/// time occurs that occurred shortly before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Steady {
    /// Seconds of UTC.
    pub(super) span: Range<i64>,
    /// Seconds east.
    pub(super) offset: i64,
}

impl Track {
    /// Looks at a zone a little beyond the horizon on both sides.
    pub(super) fn new(zone: &Zone, calendar: &Calendar) -> Self {
        let days = calendar.days();
        let (start, end) = (days.start * DAY, days.end * DAY);
        let offset = i64::from(zone.offset_at(instant(start)));
        let mut track = Self {
            zone: zone.clone(),
            steady: vec![Steady {
                span: start..end,
                offset,
            }],
            moves: Vec::new(),
            changes: Vec::new(),
            least: offset,
            greatest: offset,
        };
        let mut moves = zone.transitions(instant(start), instant(end));
        moves.retain(|change| change.before != change.after);
        for change in &moves {
            track.add(
                change.at.timestamp(),
                i64::from(change.before),
                i64::from(change.after),
            );
        }
        track.moves = moves;
        track
    }

    /// Ends the last steady span at a change and begins the next.
    ///
    /// A change to an earlier offset repeats civil time for as long as the
    /// offsets differ; a change to a later one moves firings to its very
    /// instant. Changes less than a day apart may undo each other, so they
    /// are taken as one.
    fn add(&mut self, at: i64, before: i64, after: i64) {
        self.least = self.least.min(after);
        self.greatest = self.greatest.max(after);
        let end_of_all = self.steady.last().map_or(at, |last| last.span.end);
        let joined = self.changes.last_mut().filter(|last| at < last.end + DAY);
        let settled = if let Some(last) = joined {
            last.end = last.end.max(at + (self.greatest - after).max(1));
            self.steady.pop();
            last.end
        } else {
            let settled = at + (before - after).max(1);
            self.changes.push(at..settled);
            if let Some(steady) = self.steady.last_mut() {
                steady.span.end = at;
            }
            settled
        };
        self.steady.push(Steady {
            span: settled..end_of_all,
            offset: after,
        });
    }

    /// The offset all through a span, if no clock change touches it.
    pub(super) fn offset_in(&self, span: &Range<i64>) -> Option<i64> {
        let index = self
            .steady
            .partition_point(|steady| steady.span.end < span.end);
        self.steady
            .get(index)
            .filter(|steady| steady.span.start <= span.start)
            .map(|steady| steady.offset)
    }

    /// Every offset of the horizon, each once.
    pub(super) fn offsets(&self) -> Vec<i64> {
        let mut offsets: Vec<i64> = self.steady.iter().map(|steady| steady.offset).collect();
        offsets.sort_unstable();
        offsets.dedup();
        offsets
    }
}

/// The spans in which two zones are steady at once.
#[derive(Debug)]
pub(super) struct PairSpans {
    /// In order.
    pub(super) spans: Vec<PairSpan>,
    /// How many seconds the first zone is ahead of the second, each value once.
    pub(super) leads: Vec<i64>,
}

/// A span in which two zones are steady at once.
#[derive(Debug)]
pub(super) struct PairSpan {
    /// Seconds of UTC, inside the horizon.
    pub(super) span: Range<i64>,
    /// The first zone's offset.
    pub(super) offset: i64,
    /// Index into `leads`.
    pub(super) lead: usize,
}

impl PairSpans {
    /// Cuts the horizon at the changes of both zones.
    pub(super) fn new(first: &Track, second: &Track, calendar: &Calendar) -> Self {
        let mut pair = Self {
            spans: Vec::new(),
            leads: Vec::new(),
        };
        let (mut one, mut two) = (first.steady.as_slice(), second.steady.as_slice());
        while let ([a, rest_one @ ..], [b, rest_two @ ..]) = (one, two) {
            let common = a.span.start.max(b.span.start)..a.span.end.min(b.span.end);
            let span = calendar.clip(&common);
            if span.start < span.end {
                let lead = pair.lead(a.offset - b.offset);
                pair.spans.push(PairSpan {
                    span,
                    offset: a.offset,
                    lead,
                });
            }
            if a.span.end <= b.span.end {
                one = rest_one;
            } else {
                two = rest_two;
            }
        }
        pair
    }

    fn lead(&mut self, lead: i64) -> usize {
        self.leads
            .iter()
            .position(|known| *known == lead)
            .unwrap_or_else(|| {
                self.leads.push(lead);
                self.leads.len() - 1
            })
    }
}

/// The instant of a second of UTC, held within what chrono can name.
pub(super) fn instant(second: i64) -> DateTime<Utc> {
    let range = DateTime::<Utc>::MIN_UTC.timestamp()..=DateTime::<Utc>::MAX_UTC.timestamp();
    DateTime::from_timestamp(second.clamp(*range.start(), *range.end()), 0)
        .unwrap_or(DateTime::<Utc>::MAX_UTC)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lint::fixture::at;
    use crate::schedule::Zones;

    fn calendar() -> Calendar {
        Calendar::starting(at("2026-12-01T00:00:00Z")).0
    }

    fn track(zone: &str) -> Track {
        Track::new(&Zones::bundled().get(zone).unwrap(), &calendar())
    }

    #[test]
    fn change_forward_takes_a_second_and_a_change_back_the_repeated_hour() {
        let berlin = track("Europe/Berlin");
        let spring = at("2027-03-28T01:00:00Z").timestamp();
        let autumn = at("2027-10-31T01:00:00Z").timestamp();
        assert_eq!(
            berlin.changes[..2],
            [spring..spring + 1, autumn..autumn + 3_600]
        );
        assert_eq!(
            berlin.steady[1],
            Steady {
                span: spring + 1..autumn,
                offset: 7_200
            }
        );
        assert_eq!((berlin.least, berlin.greatest), (3_600, 7_200));
        assert_eq!(berlin.offset_in(&(spring + 1..autumn)), Some(7_200));
        assert_eq!(berlin.offset_in(&(spring..autumn)), None);
        assert_eq!(berlin.offset_in(&(spring + 1..autumn + 1)), None);
        assert_eq!(
            berlin.offset_in(&(autumn + 3_600..autumn + 3_601)),
            Some(3_600)
        );
    }

    #[test]
    fn zone_without_changes_is_steady_all_along() {
        let tokyo = track("Asia/Tokyo");
        assert!(tokyo.changes.is_empty());
        assert_eq!(tokyo.offsets(), [32_400]);
        assert_eq!(tokyo.offset_in(&calendar().span()), Some(32_400));
    }

    #[test]
    fn changes_less_than_a_day_apart_are_taken_as_one() {
        let mut track = track("UTC");
        let first = at("2030-01-01T00:00:00Z").timestamp();
        track.add(first, 0, 3_600);
        track.add(first + 7_200, 3_600, -1_800);
        assert_eq!(track.changes.len(), 1);
        assert_eq!(track.changes[0], first..first + 7_200 + 5_400);
        assert_eq!(
            track.offset_in(&(first + 12_600..first + 20_000)),
            Some(-1_800)
        );
        assert_eq!(track.offset_in(&(first + 1..first + 7_200)), None);
    }

    #[test]
    fn two_zones_are_steady_between_the_changes_of_both() {
        let calendar = calendar();
        let (london, new_york) = (track("Europe/London"), track("America/New_York"));
        let pair = PairSpans::new(&london, &new_york, &calendar);
        assert_eq!(pair.leads, [18_000, 14_400]);
        assert_eq!(
            pair.spans[0].span,
            calendar.from..at("2027-03-14T07:00:00Z").timestamp()
        );
        assert_eq!(pair.spans[1].lead, 1);
        assert_eq!(pair.spans.last().unwrap().span.end, calendar.until);
    }
}
