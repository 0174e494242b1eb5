//! The linter: proves over the calendar that a schedule keeps its rules.
//!
//! Core: it knows jobs and rules, not files. Its findings name a job and the
//! index of a cron expression; the shell finds the place in the YAML.

mod accept;
mod advice;
mod bad_request;
mod board;
mod breaker;
mod cache;
mod calendar;
mod change;
mod clock_change;
mod compile;
mod demands;
pub mod finding;
#[cfg(test)]
mod fixture;
mod help;
mod mend;
mod model;
mod near;
mod nearest;
mod never;
mod outline;
mod overrun;
mod peak;
mod ranked;
mod regimes;
mod repair;
mod rewrite;
mod ring;
mod rules;
mod seams;
mod shape;
mod shorten;
mod spacing;
mod spending;
mod spread;
mod subject;
mod tell;
pub mod unused_accept;
mod year;

pub use change::Change;
pub use finding::{Finding, Other, Rule, Severity, Suggestion};
pub use mend::{Fixed, Mended, Reason, Stuck, changed, mend, mend_around};
pub use rules::{BreakerNeed, Level, Levels, Rules};
pub use shape::{Breakpoint, Limits, Refusal, Sampling, Shape, Thinking, ToolChoice};
pub use spread::{Extent, GroupSpread, Obstacle, Spread, SpreadOutcome, spread};
pub use subject::{
    Cap, Effort, Fallback, Identity, InputPrice, Items, Known, Model, Pieces, Prefix, Prompt,
    Subject, Toll,
};

use std::time::Duration;

use chrono::{DateTime, Utc};

use accept::Acceptance;
use calendar::Calendar;

/// What was found, and over which span.
#[derive(Debug, Clone)]
pub struct Verdict {
    /// The first instant of the proof.
    pub from: DateTime<Utc>,
    /// The proof holds before this instant.
    pub until: DateTime<Utc>,
    /// The findings, errors first, then in time, then by name.
    pub findings: Vec<Finding>,
}

impl Verdict {
    /// Whether the daemon may start.
    #[must_use]
    pub fn is_safe(&self) -> bool {
        !self.findings.iter().any(Finding::is_stopping)
    }
}

/// Proves the rules for at least 28 years from an instant.
///
/// A pair of firings is told by its later instant; of the earlier firings the
/// nearest counts, and of several expressions the first in the file. Of one
/// rule and group the first hundred findings are listed, and one more counts
/// the rest; what any of its jobs accepts is listed and counted apart. A rule
/// that is off is not looked for. The order of the subjects changes nothing.
///
/// ```
/// use std::time::Duration;
///
/// use offpeak::job::{GroupId, JobId};
/// use offpeak::lint::{Rule, Rules, Subject, check};
/// use offpeak::schedule::{CronExpr, PeakWindows, Timetable, Zones};
///
/// let zone = Zones::bundled().get("Asia/Tokyo").unwrap();
/// let job = |name: &str, cron: &str| {
///     let timetable = Timetable::new(vec![CronExpr::parse(cron).unwrap()], zone.clone());
///     Subject::new(JobId::new(name), GroupId::new("main"), timetable)
/// };
/// let peaks = PeakWindows::new(zone.clone(), vec![]);
/// let rules = Rules::new(Duration::from_mins(15), Duration::from_mins(45), peaks);
/// // They meet on leap days that are Tuesdays, and on no other.
/// let jobs = [job("leap", "0 3 29 2 *"), job("weekly", "10 3 * * tue")];
/// let verdict = check(&jobs, &rules, "2026-12-01T00:00:00Z".parse().unwrap());
/// let gap = &verdict.findings[0];
/// assert_eq!(gap.rule, Rule::KeyGap);
/// assert_eq!(gap.at, Some("2028-02-28T18:10:00Z".parse().unwrap()));
/// assert_eq!(gap.suggestion.as_ref().unwrap().cron, "45 3 * * tue");
/// ```
#[must_use]
pub fn check(subjects: &[Subject], rules: &Rules, from: DateTime<Utc>) -> Verdict {
    let (calendar, until) = Calendar::starting(from);
    let board = compile::board(subjects, rules, calendar);
    let mut shared = tell::Shared {
        year: year::Year::new(&board),
        densest: breaker::Densest::default(),
    };
    let (mut findings, mut acceptance) = (Vec::new(), Acceptance::of(subjects));
    for group in &board.groups {
        let telling = tell::findings(&board, group, &mut shared);
        findings.extend(telling.findings);
        for (subject, rule) in telling.used {
            acceptance.note(&subjects[subject].job, rule);
        }
    }
    let mut advised = advice::findings(subjects, rules, from);
    advised.extend(bad_request::findings(subjects, rules));
    advised.extend(spending::findings(subjects, rules));
    advised.extend(cache::findings(subjects, rules, calendar));
    for finding in findings.iter_mut().chain(&mut advised) {
        acceptance.accept(finding);
    }
    advised.extend(unused_accept::findings(subjects, rules, &acceptance));
    findings.extend(tell::first_of_each_group(advised));
    levels(&mut findings, rules);
    findings.sort_by(|one, two| tell::order(one).cmp(&tell::order(two)));
    Verdict {
        from,
        until,
        findings,
    }
}

/// Sets severities; a rule family that does not ask whether its rule is off loses what it found of it.
fn levels(findings: &mut Vec<Finding>, rules: &Rules) {
    findings.retain_mut(|finding| {
        let severity = rules.levels.severity(finding.rule);
        finding.severity = severity.unwrap_or(finding.severity);
        severity.is_some()
    });
}

/// A span of time in whole seconds, rounded up: fire times are whole seconds
/// apart, so they are closer than a span exactly if they are closer than this.
/// More than a year is as good as a year.
fn seconds(span: Duration) -> i64 {
    const YEAR: u64 = 366 * 86_400;
    let whole = span
        .as_secs()
        .saturating_add(u64::from(span.subsec_nanos() > 0));
    whole.min(YEAR).cast_signed()
}
