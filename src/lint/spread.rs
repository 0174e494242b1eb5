//! A whole legal plan with the widest gaps.
//!
//! Every job keeps its days and its count of firings: all times of one
//! expression move together. Where that leads to no plan at all, the group is
//! mended like any other, minutes and hours apart. A plan is legal if it keeps
//! `min_gap` and the peak windows on any date of the horizon, clock changes
//! included, as far as those rules are on and no job accepts less. Of the
//! legal plans of a group that were found, the one with the widest least gap
//! is proposed, and of equals one with little movement. No plan is proposed on
//! trust: each is measured firing by firing where it matters, like any plan
//! that is checked.
//!
//! Whether no wider plan exists is known in two cases: jobs that fire once a
//! day in one zone and all keep each other away, where the answer is exact,
//! and wherever the gap reaches a limit that no plan exceeds. Otherwise the
//! plan is the widest that was found; it is never worse than the present one.

mod almanac;
mod bound;
mod measure;
mod minutes;
mod model;
mod place;
mod row;
mod scene;
mod units;
mod widen;

use std::time::Duration;

use chrono::{DateTime, Utc};

use super::calendar::Calendar;
use super::{Change, Rules, Subject, Verdict, changed, check, compile};
use crate::job::{GroupId, JobId};

/// A proposed plan of all groups.
#[derive(Debug, Clone)]
pub struct Spread {
    /// The expressions that should change, by group, job and expression.
    pub changes: Vec<Change>,
    /// The groups, by name.
    pub groups: Vec<GroupSpread>,
    /// What is found of all subjects once the changes are made.
    pub verdict: Verdict,
}

impl Spread {
    /// Whether every group has a legal plan: the proposed one, or the present one.
    #[must_use]
    pub fn is_legal(&self) -> bool {
        let mut groups = self.groups.iter();
        groups.all(|group| !matches!(group.outcome, SpreadOutcome::NoPlan(_)))
    }
}

/// What was found for one group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupSpread {
    /// The group.
    pub group: GroupId,
    /// The least gap between two firings of the group over the horizon; `None` if no two are within a day, or within `min_gap` if that is more.
    pub before: Option<Duration>,
    /// The same once the changes are made.
    pub after: Option<Duration>,
    /// What became of it.
    pub outcome: SpreadOutcome,
}

/// What became of a group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SpreadOutcome {
    /// The changes make the least gap of a legal plan wider.
    Widened(Extent),
    /// The present plan is not legal; the changes make it so.
    Mended(Extent),
    /// The present plan is legal and stays: no wider one was found, or the gap is a day and more, and wide enough.
    Already(Extent),
    /// No legal plan was found, and nothing changes.
    NoPlan(Obstacle),
}

/// How far a gap is known to be the widest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// No plan is wider.
    Widest,
    /// None wider was found.
    WidestFound,
}

/// Why a group has no legal plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Obstacle {
    /// The times of a job are closer to each other than `min_gap`, wherever they go together.
    OwnTimes {
        /// The job.
        job: JobId,
        /// The time between two of its firings.
        gap: Duration,
    },
    /// A job has no time of day at which it is off-peak on all its days.
    NoOffPeakTime {
        /// The job.
        job: JobId,
    },
    /// So many firings of one day find no room that is off-peak and `min_gap` apart.
    Crowded {
        /// How many.
        firings: usize,
    },
    /// None was found; there may be one.
    NotFound,
}

/// Proposes a whole legal plan with the widest least gap for every group.
///
/// The order of the subjects changes nothing. What passes because a job accepts it is legal, and of such a job no more
/// is demanded.
///
/// ```
/// use std::time::Duration;
///
/// use offpeak::job::{GroupId, JobId};
/// use offpeak::lint::{Rules, Subject, spread};
/// use offpeak::schedule::{CronExpr, PeakWindows, Timetable, Zones};
///
/// let zone = Zones::bundled().get("Asia/Tokyo").unwrap();
/// let job = |name: &str, cron: &str| {
///     let timetable = Timetable::new(vec![CronExpr::parse(cron).unwrap()], zone.clone());
///     Subject::new(JobId::new(name), GroupId::new("main"), timetable)
/// };
/// let peaks = PeakWindows::new(zone.clone(), vec![]);
/// let rules = Rules::new(Duration::from_mins(15), Duration::from_mins(45), peaks);
/// let jobs = [job("a", "0 2 * * *"), job("b", "15 2 * * *")];
/// let plan = spread(&jobs, &rules, "2026-12-01T00:00:00Z".parse().unwrap());
/// assert_eq!(plan.groups[0].before, Some(Duration::from_mins(15)));
/// assert_eq!(plan.groups[0].after, Some(Duration::from_hours(12)));
/// assert!(plan.verdict.is_safe());
/// ```
#[must_use]
pub fn spread(subjects: &[Subject], rules: &Rules, from: DateTime<Utc>) -> Spread {
    let (calendar, _) = Calendar::starting(from);
    let board = compile::board(subjects, rules, calendar);
    let mut almanac = almanac::Almanac::new(&board);
    let (mut changes, mut groups) = (Vec::new(), Vec::new());
    for group in &board.groups {
        let found = widen::widen(&board, group, &mut almanac);
        let members = group.classes.iter().flat_map(|class| &class.members);
        let span = |seconds: i64| Duration::from_secs(seconds.unsigned_abs());
        groups.extend(members.take(1).map(|member| GroupSpread {
            group: subjects[*member].group.clone(),
            before: found.before.map(span),
            after: found.after.map(span),
            outcome: found.outcome.clone(),
        }));
        changes.extend(found.changes);
    }
    let verdict = check(&changed(subjects, &changes), rules, from);
    Spread {
        changes,
        groups,
        verdict,
    }
}
