//! The instants at which a group fires, with what is wrong at each.
//!
//! A tick stands for every slot at its instant, so that a thousand jobs that
//! fire each minute need no more room than one. What is wrong is asked of the
//! distances between ticks: the linter's definition, on the days drawn.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};

use super::{Days, Lane, Strip};

/// So many slots of an instant are known by name; the others are counted.
const NAMED: usize = 4;

/// All slots of a group at one instant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tick {
    /// The instant.
    pub at: DateTime<Utc>,
    /// The first four, as indices into the lane's members.
    pub members: Vec<usize>,
    /// How many slots; at least 1.
    pub slots: u32,
    /// How many of them are pickup slots.
    pub pickups: u32,
    /// The longest that a run from here may take.
    pub worst_case: Duration,
    /// What is wrong here.
    pub trouble: Trouble,
}

/// What is wrong at an instant; off rules and accepted findings are no trouble.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Trouble {
    /// Another firing of the group is closer than the least gap.
    pub collides: bool,
    /// It lies in a peak window.
    pub is_peak: bool,
}

impl Trouble {
    /// Whether anything is.
    #[must_use]
    pub const fn is_any(self) -> bool {
        self.collides || self.is_peak
    }
}

/// A tick under way, with how many of its slots each rule looks at.
struct Count {
    tick: Tick,
    spaced: u32,
    kept_off_peak: u32,
}

/// The ticks of a lane on the days of a strip, ascending.
#[must_use]
pub fn ticks(strip: &Strip<'_>, lane: &Lane<'_>) -> Vec<Tick> {
    let mut counts = counts(&strip.days, lane);
    let peaks = &strip.rules.peaks;
    for count in &mut counts {
        count.tick.trouble.is_peak = count.kept_off_peak > 0 && peaks.is_peak(count.tick.at);
    }
    mark_collisions(strip, lane, &mut counts);
    counts.into_iter().map(|count| count.tick).collect()
}

fn counts(days: &Days, lane: &Lane<'_>) -> Vec<Count> {
    let mut counts: BTreeMap<DateTime<Utc>, Count> = BTreeMap::new();
    for (index, member) in lane.members.iter().enumerate() {
        for at in member.fire_times(days.starts_at(), days.ends_at()) {
            let count = counts.entry(at).or_insert_with(|| Count::at(at));
            let tick = &mut count.tick;
            if tick.members.len() < NAMED {
                tick.members.push(index);
            }
            tick.slots += 1;
            tick.pickups += u32::from(member.is_pickup());
            tick.worst_case = tick.worst_case.max(member.worst_case);
            count.spaced += u32::from(member.is_spaced());
            count.kept_off_peak += u32::from(member.is_kept_off_peak());
        }
    }
    counts.into_values().collect()
}

impl Count {
    fn at(at: DateTime<Utc>) -> Self {
        Self {
            tick: Tick {
                at,
                members: Vec::new(),
                slots: 0,
                pickups: 0,
                worst_case: Duration::ZERO,
                trouble: Trouble::default(),
            },
            spaced: 0,
            kept_off_peak: 0,
        }
    }
}

/// Marks what has a neighbour within the least gap; the neighbour may lie outside the days.
fn mark_collisions(strip: &Strip<'_>, lane: &Lane<'_>, counts: &mut [Count]) {
    let min_gap = strip.rules.min_gap;
    let is_close = |earlier: DateTime<Utc>, later: DateTime<Utc>| {
        (later - earlier).to_std().is_ok_and(|gap| gap < min_gap)
    };
    let spaced = counts.iter().filter(|count| count.spaced > 0);
    let inside: Vec<DateTime<Utc>> = spaced.map(|count| count.tick.at).collect();
    let mut previous = last_before(strip, lane);
    let mut following = inside.into_iter().skip(1).chain(first_after(strip, lane));
    for count in counts.iter_mut().filter(|count| count.spaced > 0) {
        let at = count.tick.at;
        let next = following.next();
        count.tick.trouble.collides = (count.spaced > 1 && is_close(at, at))
            || previous.is_some_and(|previous| is_close(previous, at))
            || next.is_some_and(|next| is_close(at, next));
        previous = Some(at);
    }
}

/// The last firing before the days that is near enough to matter.
fn last_before(strip: &Strip<'_>, lane: &Lane<'_>) -> Option<DateTime<Utc>> {
    let before = strip.days.starts_at() - TimeDelta::seconds(1);
    let reach = TimeDelta::from_std(strip.rules.min_gap).ok()?;
    let after = before.checked_sub_signed(reach)?;
    let watched = lane.members.iter().filter(|member| member.is_spaced());
    watched
        .filter_map(|member| member.subject.timetable.last_between(after, before))
        .max()
}

/// The first firing after the days.
fn first_after(strip: &Strip<'_>, lane: &Lane<'_>) -> Option<DateTime<Utc>> {
    let after = strip.days.ends_at() - TimeDelta::seconds(1);
    let watched = lane.members.iter().filter(|member| member.is_spaced());
    watched
        .filter_map(|member| member.subject.timetable.next_after(after))
        .min()
}
