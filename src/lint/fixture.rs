//! Small schedules for the tests of the rules.

use std::time::Duration;

use chrono::{DateTime, Utc};

use super::{Finding, Rule, Rules, Subject, check};
use crate::job::{GroupId, JobId};
use crate::schedule::{CronExpr, PeakWindow, PeakWindows, Timetable, Zones};

/// An instant from its text.
pub(super) fn at(text: &str) -> DateTime<Utc> {
    text.parse().unwrap()
}

/// A job of group `main` whose runs take a minute at most.
pub(super) fn job(name: &str, zone: &str, crons: &[&str]) -> Subject {
    let exprs = crons
        .iter()
        .map(|cron| CronExpr::parse(cron).unwrap())
        .collect();
    let timetable = Timetable::new(exprs, Zones::bundled().get(zone).unwrap());
    Subject::new(JobId::new(name), GroupId::new("main"), timetable).lasting(Duration::from_mins(1))
}

/// A window on every day, in minutes of the day.
pub(super) const fn window(start: u16, end: u16) -> PeakWindow {
    PeakWindow {
        start,
        end,
        days: [true; 7],
    }
}

/// The default gaps, with these windows.
pub(super) fn rules(zone: &str, windows: Vec<PeakWindow>) -> Rules {
    let peaks = PeakWindows::new(Zones::bundled().get(zone).unwrap(), windows);
    Rules::new(Duration::from_mins(15), Duration::from_mins(45), peaks)
}

/// The findings of one rule from 1 December 2026 on.
pub(super) fn findings(subjects: &[Subject], rules: &Rules, rule: Rule) -> Vec<Finding> {
    let mut findings = check(subjects, rules, at("2026-12-01T00:00:00Z")).findings;
    findings.retain(|finding| finding.rule == rule);
    findings
}
