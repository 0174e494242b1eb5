//! Small strips for the tests of the drawings.

use std::collections::BTreeMap;
use std::time::Duration;

use chrono::{DateTime, Utc};

use super::{Days, Lane, Strip};
use crate::job::{GroupId, JobId};
use crate::lint::{Effort, Pieces, Rules, Subject};
use crate::schedule::{CronExpr, PeakWindow, PeakWindows, Timetable, Zones};

/// What a strip borrows.
pub(super) struct Fixture {
    pub(super) subjects: Vec<Subject>,
    pub(super) rules: Rules,
    pub(super) groups: BTreeMap<GroupId, Vec<JobId>>,
}

impl Fixture {
    pub(super) fn over(&self, from: DateTime<Utc>, count: u16) -> Strip<'_> {
        let days = Days::starting(self.rules.peaks.zone().clone(), from, count);
        Strip::new(days, &self.rules, &self.subjects, &self.groups)
    }
}

/// An instant from its text.
pub(super) fn at(text: &str) -> DateTime<Utc> {
    text.parse().unwrap()
}

/// The first lane.
pub(super) fn lane<'s, 'a>(strip: &'s Strip<'a>) -> &'s Lane<'a> {
    &strip.lanes[0]
}

/// Jobs of group `main`, of at most three attempts of ten minutes, in a zone with the default windows.
pub(super) fn strip_of(zone: &str, jobs: &[(&str, &str)]) -> Fixture {
    let zone = Zones::bundled().get(zone).unwrap();
    let window = |start: u16, end: u16| PeakWindow {
        start: start * 60,
        end: end * 60,
        days: [true; 7],
    };
    let peaks = PeakWindows::new(zone.clone(), vec![window(7, 9), window(18, 23)]);
    let subject = |(name, cron): &(&str, &str)| {
        let exprs = cron.lines().map(|line| CronExpr::parse(line).unwrap());
        let timetable = Timetable::new(exprs.collect(), zone.clone());
        let subject = Subject::new(JobId::new(name), GroupId::new("main"), timetable);
        if name.starts_with("pickup:") {
            return subject;
        }
        Subject {
            effort: Effort {
                calls: 1,
                pieces: Pieces::ONE,
                attempts: 3,
                timeout: Duration::from_mins(10),
                max_delay: Duration::from_millis(30_500),
            },
            ..subject
        }
    };
    Fixture {
        subjects: jobs.iter().map(subject).collect(),
        rules: Rules::new(Duration::from_mins(15), Duration::from_mins(45), peaks),
        groups: BTreeMap::new(),
    }
}
