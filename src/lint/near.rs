//! The first instant at which two lines fire close together, in steady spans.
//!
//! Days first: does any date suit both, at the distance of days in question.
//! Times second: do two times of day come close at the present offsets. Only
//! a date that passed both tests is looked at by itself.

use std::ops::Range;

use super::board::{Board, Line};
use super::calendar::DAY;

/// How many seconds the later firing lies after the earlier one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Reach {
    /// At least so many: 1 for firings of one job, which at one instant are one slot.
    pub(super) least: i64,
    /// Fewer than so many.
    pub(super) below: i64,
}

impl Reach {
    /// Between two jobs.
    pub(super) const fn cross(below: i64) -> Self {
        Self { least: 0, below }
    }

    /// Within one job.
    pub(super) const fn own(below: i64) -> Self {
        Self { least: 1, below }
    }

    /// Whether a gap is within reach.
    pub(super) const fn holds(self, gap: i64) -> bool {
        self.least <= gap && gap < self.below
    }
}

/// Two firings of a group that are too close, ordered as pairs are reported:
/// by the later instant, then by the gap, then by the lines in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Hit {
    /// The later instant.
    pub(super) at: i64,
    /// The seconds between the two.
    pub(super) gap: i64,
    /// The line that fires later, as an index into the group's lines.
    pub(super) later: usize,
    /// The line that fires earlier.
    pub(super) earlier: usize,
}

/// The first later instant before `before`, and its gap, at which `later`
/// fires within reach of a firing of `earlier`, both in one steady span.
pub(super) fn first_steady(
    board: &Board<'_>,
    earlier: &Line,
    later: &Line,
    reach: Reach,
    before: i64,
) -> Option<(i64, i64)> {
    let spans = board.spans(earlier.zone, later.zone);
    let mut shifts: Vec<(usize, i64)> = Vec::new();
    for (index, lead) in spans.leads.iter().enumerate() {
        let met = day_shifts(board, earlier, later, reach, *lead);
        shifts.extend(met.map(|shift| (index, shift)));
    }
    if shifts.is_empty() {
        return None;
    }
    let mut best: Option<(i64, i64)> = None;
    for part in &spans.spans {
        let end = best
            .map_or(before, |(at, _)| at.saturating_add(1))
            .min(part.span.end);
        if end <= part.span.start {
            break;
        }
        let span = part.span.start..end;
        for (_, shift) in shifts.iter().filter(|(lead, _)| *lead == part.lead) {
            let meeting = Meeting {
                earlier,
                later,
                reach,
                shift: *shift,
                lead: spans.leads[part.lead],
            };
            let found = meeting.first_in(board, &span, part.offset);
            best = best.into_iter().chain(found).min();
        }
    }
    best
}

/// Two lines whose later firing is on the local day `shift` days after that of the earlier one.
struct Meeting<'a> {
    earlier: &'a Line,
    later: &'a Line,
    reach: Reach,
    shift: i64,
    lead: i64,
}

impl Meeting<'_> {
    /// The first later instant of a steady span and its gap; both firings lie in the span.
    fn first_in(&self, board: &Board<'_>, span: &Range<i64>, offset: i64) -> Option<(i64, i64)> {
        let (one, two) = (board.days(self.earlier), board.days(self.later));
        let mut days =
            (span.start + offset).div_euclid(DAY)..(span.end - 1 + offset).div_euclid(DAY) + 1;
        while let Some(day) = one.first_common(two, self.shift, days.clone()) {
            let base = day * DAY - offset;
            let found = close_times(self.earlier, self.later, self.reach, self.distance())
                .map(|(time, gap)| (base + time, base + time + gap, gap))
                .find(|(first, at, _)| span.contains(first) && span.contains(at));
            if let Some((_, at, gap)) = found {
                return Some((at, gap));
            }
            days.start = day + 1;
        }
        None
    }

    /// Seconds by which midnight of the later day follows that of the earlier.
    const fn distance(&self) -> i64 {
        self.shift * DAY + self.lead
    }
}

/// The distances in days at which two lines come within reach on some date, at one pair of offsets.
fn day_shifts(
    board: &Board<'_>,
    earlier: &Line,
    later: &Line,
    reach: Reach,
    lead: i64,
) -> impl Iterator<Item = i64> {
    let (one, two) = (board.days(earlier), board.days(later));
    // Offsets differ by less than two days, and times of day by less than one.
    (-3..=3 + reach.below.div_euclid(DAY))
        .filter(move |shift| {
            close_times(earlier, later, reach, shift * DAY + lead)
                .next()
                .is_some()
        })
        .filter(move |shift| {
            one.first_common(two, *shift, board.calendar.days())
                .is_some()
        })
}

/// The pairs of times within reach, in the order of the later time, each with the nearest
/// earlier time: the earlier time in seconds of its day, and the gap.
fn close_times<'a>(
    earlier: &'a Line,
    later: &'a Line,
    reach: Reach,
    distance: i64,
) -> impl Iterator<Item = (i64, i64)> + 'a {
    let start = first_close(earlier, later, reach, distance);
    let mut next = 0;
    later.times[start..].iter().filter_map(move |time| {
        let latest = distance + time * 60 - reach.least;
        while earlier
            .times
            .get(next)
            .is_some_and(|other| other * 60 <= latest)
        {
            next += 1;
        }
        let other = earlier.times.get(next.checked_sub(1)?)? * 60;
        let gap = distance + time * 60 - other;
        reach.holds(gap).then_some((other, gap))
    })
}

/// The first later time worth a look; past the end if no two times can be within reach.
fn first_close(earlier: &Line, later: &Line, reach: Reach, distance: i64) -> usize {
    let none = later.times.len();
    let ([first, ..], [.., last]) = (&earlier.times[..], &earlier.times[..]) else {
        return none;
    };
    let ([soonest, ..], [.., latest]) = (&later.times[..], &later.times[..]) else {
        return none;
    };
    let narrowest = distance + (soonest - last) * 60;
    let widest = distance + (latest - first) * 60;
    if narrowest >= reach.below || widest < reach.least {
        return none;
    }
    let from = first * 60 + reach.least - distance;
    later.times.partition_point(|time| time * 60 < from)
}
