//! The strip: a schedule drawn over a few days, one row a group and day.
//!
//! Pure drawing. A [`Strip`] joins the linter's subjects with the days to draw;
//! [`text`] makes lines for a terminal of it, [`svg`] a picture, and [`ics`] a
//! calendar. Slots come from timetables, never from a second reading of cron.
//! What is held while drawing grows with the instants drawn, not with the jobs.

mod days;
#[cfg(test)]
mod fixture;
pub mod ics;
mod lane;
mod listing;
mod rows;
pub mod svg;
pub mod text;
mod ticks;

pub use days::{Day, Days, Minutes, Piece};
pub use lane::{Firing, Lane, Mark, Member};
pub use ticks::{Tick, Trouble, ticks};

use std::collections::BTreeMap;

use crate::job::{GroupId, JobId};
use crate::lint::{Rules, Subject};

/// A schedule and the days over which it is drawn.
///
/// ```
/// use std::collections::BTreeMap;
/// use std::time::Duration;
///
/// use offpeak::job::{GroupId, JobId};
/// use offpeak::lint::{Rules, Subject};
/// use offpeak::schedule::{CronExpr, PeakWindows, Timetable, Zones};
/// use offpeak::strip::{Days, Strip};
///
/// let tokyo = Zones::bundled().get("Asia/Tokyo").unwrap();
/// let timetable = Timetable::new(vec![CronExpr::parse("0 2 * * *").unwrap()], tokyo.clone());
/// let subjects = [Subject::new(JobId::new("digest"), GroupId::new("main"), timetable)];
/// let peaks = PeakWindows::new(tokyo.clone(), vec![]);
/// let rules = Rules::new(Duration::from_mins(15), Duration::from_mins(45), peaks);
/// let days = Days::starting(tokyo, "2026-12-01T00:00:00Z".parse().unwrap(), 7);
/// let groups = BTreeMap::new();
/// let strip = Strip::new(days, &rules, &subjects, &groups);
/// assert_eq!(strip.days.starts_at().to_rfc3339(), "2026-11-30T15:00:00+00:00");
/// assert_eq!(strip.lanes[0].firings(strip.days.starts_at(), strip.days.ends_at()).len(), 7);
/// ```
#[derive(Debug, Clone)]
pub struct Strip<'a> {
    /// The days, in the zone of the peak windows.
    pub days: Days,
    /// What is a collision, and when the windows are.
    pub rules: &'a Rules,
    /// The groups by name.
    pub lanes: Vec<Lane<'a>>,
}

impl<'a> Strip<'a> {
    /// Sorts subjects into lanes. `groups` names the groups that are drawn even without a subject, each with its
    /// disabled jobs; a group that it leaves out has none.
    #[must_use]
    pub fn new(
        days: Days,
        rules: &'a Rules,
        subjects: &'a [Subject],
        groups: &'a BTreeMap<GroupId, Vec<JobId>>,
    ) -> Self {
        let mut of_group: BTreeMap<&GroupId, Vec<&Subject>> =
            groups.keys().map(|group| (group, Vec::new())).collect();
        for subject in subjects {
            of_group.entry(&subject.group).or_default().push(subject);
        }
        let disabled = |group| groups.get(group).map_or(&[][..], Vec::as_slice);
        let lanes = of_group
            .into_iter()
            .map(|(group, subjects)| Lane::new(group, subjects, disabled(group), rules));
        Self {
            lanes: lanes.collect(),
            days,
            rules,
        }
    }
}
