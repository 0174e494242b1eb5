//! What a walk over every firing finds, and how it compares.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, TimeDelta, Utc};
use offpeak::job::JobId;
use offpeak::lint::{Finding, Rule, Rules, Subject, Verdict};
use offpeak::schedule::cron::Spacing;
use offpeak::schedule::{CronExpr, Timetable};

/// What is compared of a finding: the first instant with what belongs to it, and the count.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Seen {
    at: i64,
    cron: Option<usize>,
    other: Option<(String, usize)>,
    gap: Option<i64>,
    per_year: u64,
}

/// A rule, a job, and for rules of two jobs the other one.
type Key = (Rule, String, String);

struct Walk<'a> {
    subjects: &'a [Subject],
    rules: &'a Rules,
    fires: Vec<Vec<i64>>,
    year_end: i64,
}

/// Compares a verdict with a walk from its first instant to `end`.
pub fn compare(
    seed: u64,
    subjects: &[Subject],
    rules: &Rules,
    verdict: &Verdict,
    end: DateTime<Utc>,
) {
    let tick = TimeDelta::nanoseconds(1);
    let fires = |subject: &Subject| {
        let found = subject
            .timetable
            .between(verdict.from - TimeDelta::seconds(1), end - tick);
        found
            .into_iter()
            .filter(|at| *at >= verdict.from && *at < end)
            .map(|at| at.timestamp())
            .collect()
    };
    let year_end = (verdict.from + TimeDelta::days(365)).timestamp();
    let walk = Walk {
        subjects,
        rules,
        fires: subjects.iter().map(fires).collect(),
        year_end,
    };
    let mut expected = BTreeMap::new();
    walk.all(&mut expected, verdict.from, end);
    expected.retain(|(rule, ..), _| rules.levels.severity(*rule).is_some());
    let found = seen(verdict);
    for (key, want) in &expected {
        if shadowed(key, &found) && !found.contains_key(key) {
            continue;
        }
        assert_eq!(
            found.get(key),
            Some(want),
            "seed {seed}: {key:?} {}",
            describe(subjects)
        );
    }
    for (key, got) in &found {
        let in_span = got.at < end.timestamp() && key.0 != Rule::NeverFires;
        assert!(
            !in_span || expected.contains_key(key),
            "seed {seed}: {key:?} {got:?} {}",
            describe(subjects)
        );
    }
    nevers(seed, subjects, rules, verdict);
    accepts(seed, subjects, rules, verdict);
}

/// What is accepted, by whom, and for nothing; the findings themselves are known to be right.
fn accepts(seed: u64, subjects: &[Subject], rules: &Rules, verdict: &Verdict) {
    let reason = |job: &JobId, rule: Rule| {
        let subject = subjects.iter().find(|subject| subject.job == *job)?;
        subject.accepted.get(&rule).cloned()
    };
    for finding in &verdict.findings {
        let other = finding.other.as_ref();
        let of_other = || reason(&other?.job, finding.rule);
        let expected = reason(&finding.job, finding.rule).or_else(of_other);
        assert_eq!(
            finding.accepted, expected,
            "seed {seed}: {}",
            finding.message
        );
        assert_eq!(rules.levels.severity(finding.rule), Some(finding.severity));
    }
    let concerns = |finding: &Finding, job: &JobId| {
        finding.job == *job
            || finding
                .other
                .as_ref()
                .is_some_and(|other| other.job == *job)
    };
    let mut expected = BTreeSet::new();
    for subject in subjects {
        for rule in subject.accepted.keys() {
            let mut findings = verdict.findings.iter();
            let is_used = findings.any(|it| it.rule == *rule && concerns(it, &subject.job));
            if !is_used && rules.levels.severity(*rule).is_some() {
                expected.insert((
                    subject.job.to_string(),
                    format!("remove `{rule}` from its `accept`"),
                ));
            }
        }
    }
    let unused = verdict
        .findings
        .iter()
        .filter(|it| it.rule == Rule::UnusedAccept);
    let found = unused
        .map(|it| (it.job.to_string(), it.help.clone().unwrap()))
        .collect();
    assert_eq!(expected, found, "seed {seed}");
}

/// A pair that is too close somewhere gets no advice on comfort, even if that is beyond the walk.
fn shadowed(key: &Key, found: &BTreeMap<Key, Seen>) -> bool {
    key.0 == Rule::ComfortableGap
        && found.contains_key(&(Rule::KeyGap, key.1.clone(), key.2.clone()))
}

/// The subjects, a line each.
pub fn describe(subjects: &[Subject]) -> String {
    let line = |s: &Subject| {
        let texts: Vec<&str> = s.timetable.exprs().iter().map(CronExpr::text).collect();
        format!(
            "\n  {} {} {:?} {texts:?}",
            s.group,
            s.job,
            s.timetable.zone().name()
        )
    };
    subjects.iter().map(line).collect()
}

/// What a walk cannot tell: how an expression is meant.
fn is_advice(rule: Rule) -> bool {
    [
        Rule::EitherDay,
        Rule::UnevenStep,
        Rule::LeapDay,
        Rule::SkipsMonths,
    ]
    .contains(&rule)
}

fn seen(verdict: &Verdict) -> BTreeMap<Key, Seen> {
    let one = |finding: &Finding| {
        let mut names = [
            finding.job.to_string(),
            finding
                .other
                .as_ref()
                .map_or(String::new(), |o| o.job.to_string()),
        ];
        if finding.other.is_some() {
            names.sort();
        }
        let [first, second] = names;
        let seen = Seen {
            at: finding.at.map_or(0, |at| at.timestamp()),
            cron: finding.cron,
            other: finding
                .other
                .as_ref()
                .map(|other| (other.job.to_string(), other.cron)),
            gap: finding.gap.map(|gap| i64::try_from(gap.as_secs()).unwrap()),
            per_year: finding.per_year.unwrap_or(0),
        };
        ((finding.rule, first, second), seen)
    };
    let listed: Vec<_> = verdict
        .findings
        .iter()
        .filter(|f| ![Rule::NeverFires, Rule::UnusedAccept].contains(&f.rule))
        .filter(|f| !is_advice(f.rule))
        .map(one)
        .collect();
    let count = listed.len();
    let seen: BTreeMap<Key, Seen> = listed.into_iter().collect();
    assert_eq!(count, seen.len(), "one finding per rule and job or pair");
    seen
}

fn nevers(seed: u64, subjects: &[Subject], rules: &Rules, verdict: &Verdict) {
    let is_on = rules.levels.severity(Rule::NeverFires).is_some();
    let start = chrono::NaiveDate::from_ymd_opt(1904, 1, 1).unwrap();
    for subject in subjects {
        for (cron, expr) in subject.timetable.exprs().iter().enumerate() {
            // 1904 to 1932: every kind of year.
            let fires = start
                .iter_days()
                .take(10_227)
                .any(|date| expr.matches_day(date));
            let told = verdict.findings.iter().any(|finding| {
                finding.rule == Rule::NeverFires
                    && finding.job == subject.job
                    && finding.cron == Some(cron)
            });
            assert_eq!(
                !fires && is_on,
                told,
                "seed {seed}: {} {}",
                subject.job,
                expr.text()
            );
        }
    }
}

impl Walk<'_> {
    fn all(&self, out: &mut BTreeMap<Key, Seen>, from: DateTime<Utc>, end: DateTime<Utc>) {
        for one in 0..self.subjects.len() {
            self.peak(one, out);
            self.clock_change(one, (from, end), out);
            self.overrun(one, end, out);
            for two in one..self.subjects.len() {
                if self.subjects[one].group == self.subjects[two].group {
                    self.pair(one, two, out);
                }
            }
        }
    }

    fn name(&self, index: usize) -> String {
        self.subjects[index].job.to_string()
    }

    /// The first of a job's expressions that fires at an instant.
    fn cron_at(&self, index: usize, at: i64) -> usize {
        let timetable = &self.subjects[index].timetable;
        let at = DateTime::from_timestamp(at, 0).unwrap();
        let fires = |expr: &offpeak::schedule::CronExpr| {
            let alone = Timetable::new(vec![expr.clone()], timetable.zone().clone());
            !alone.between(at - TimeDelta::seconds(1), at).is_empty()
        };
        timetable.exprs().iter().position(fires).unwrap()
    }

    /// The instants at which one of two jobs follows the other too closely, with the least gap.
    fn close(&self, one: usize, two: usize, below: i64) -> BTreeMap<i64, (i64, usize, usize)> {
        let mut close: BTreeMap<i64, (i64, usize, usize)> = BTreeMap::new();
        for (earlier, later) in [(one, two), (two, one)] {
            for at in &self.fires[later] {
                let before = if one == two {
                    self.fires[earlier].partition_point(|other| other < at)
                } else {
                    self.fires[earlier].partition_point(|other| other <= at)
                };
                let Some(other) = before
                    .checked_sub(1)
                    .map(|index| self.fires[earlier][index])
                else {
                    continue;
                };
                let gap = at - other;
                if gap < below && close.get(at).is_none_or(|known| gap < known.0) {
                    close.insert(*at, (gap, later, earlier));
                }
            }
        }
        close
    }

    fn pair(&self, one: usize, two: usize, out: &mut BTreeMap<Key, Seen>) {
        let limits = [
            (Rule::KeyGap, self.rules.min_gap.as_secs()),
            (Rule::ComfortableGap, self.rules.comfortable_gap.as_secs()),
        ];
        for (rule, below) in limits {
            // A rule that is off is no reason to be silent on comfort.
            if self.rules.levels.severity(rule).is_none() {
                continue;
            }
            let close = self.close(one, two, i64::try_from(below).unwrap());
            let Some((at, (gap, later, earlier))) = close.first_key_value() else {
                continue;
            };
            let (mut later, mut earlier) = (*later, *earlier);
            if *gap == 0 && self.name(later) < self.name(earlier) {
                (later, earlier) = (earlier, later);
            }
            let mut names = [self.name(one), self.name(two)];
            names.sort();
            let [first, second] = names;
            let seen = Seen {
                at: *at,
                cron: Some(self.cron_at(later, *at)),
                other: Some((self.name(earlier), self.cron_at(earlier, at - gap))),
                gap: Some(*gap),
                per_year: u64::try_from(close.keys().filter(|at| **at < self.year_end).count())
                    .unwrap(),
            };
            out.insert((rule, first, second), seen);
            return;
        }
    }

    #[expect(
        clippy::too_many_arguments,
        reason = "a walk written out plainly, as a reference"
    )]
    fn alone(
        &self,
        rule: Rule,
        index: usize,
        instants: &[i64],
        cron: usize,
        out: &mut BTreeMap<Key, Seen>,
    ) {
        let seen = Seen {
            at: instants[0],
            cron: Some(cron),
            other: None,
            gap: None,
            per_year: u64::try_from(instants.iter().filter(|at| **at < self.year_end).count())
                .unwrap(),
        };
        out.insert((rule, self.name(index), String::new()), seen);
    }

    fn peak(&self, index: usize, out: &mut BTreeMap<Key, Seen>) {
        let is_peak = |at: &i64| {
            self.rules
                .peaks
                .is_peak(DateTime::from_timestamp(*at, 0).unwrap())
        };
        let peaks: Vec<i64> = self.fires[index].iter().copied().filter(is_peak).collect();
        if let Some(first) = peaks.first() {
            self.alone(
                Rule::PeakWindow,
                index,
                &peaks,
                self.cron_at(index, *first),
                out,
            );
        }
    }

    fn overrun(&self, index: usize, end: DateTime<Utc>, out: &mut BTreeMap<Key, Seen>) {
        let subject = &self.subjects[index];
        let worst = i64::try_from(subject.effort.worst_case().as_secs()).unwrap();
        let mut slots: Vec<i64> = (0..self.subjects.len())
            .filter(|other| self.subjects[*other].group == subject.group)
            .flat_map(|other| self.fires[other].iter().copied())
            .collect();
        slots.sort_unstable();
        let peaks = &self.rules.peaks;
        let reaches = |at: &i64| {
            let next = slots.partition_point(|slot| slot <= at);
            let slot = slots.get(next).is_some_and(|slot| slot - at < worst);
            let instant = DateTime::from_timestamp(*at, 0).unwrap();
            let start = peaks
                .next_start(instant)
                .filter(|_| !peaks.is_peak(instant));
            slot || start.is_some_and(|start| start.timestamp() - at < worst)
        };
        // A run at the very end may reach what lies beyond the walk.
        let whole = self.fires[index]
            .iter()
            .copied()
            .filter(|at| at + worst <= end.timestamp());
        let runs: Vec<i64> = whole.filter(reaches).collect();
        if let Some(first) = runs.first() {
            self.alone(
                Rule::Overrun,
                index,
                &runs,
                self.cron_at(index, *first),
                out,
            );
        }
    }

    fn clock_change(
        &self,
        index: usize,
        span: (DateTime<Utc>, DateTime<Utc>),
        out: &mut BTreeMap<Key, Seen>,
    ) {
        let timetable = &self.subjects[index].timetable;
        let mut touched: Vec<(i64, usize)> = Vec::new();
        for change in timetable
            .zone()
            .transitions(span.0 - TimeDelta::days(2), span.1)
        {
            let at = change.at.timestamp();
            let (before, after) = (i64::from(change.before), i64::from(change.after));
            let civil = if before < after {
                at + before..at + after
            } else {
                at + after..at + before
            };
            for (cron, expr) in timetable.exprs().iter().enumerate() {
                let minutes: Vec<i64> = expr.times().iter().map(|time| i64::from(*time)).collect();
                let shift = (after - before) / 60;
                let same = minutes
                    .iter()
                    .all(|minute| minutes.contains(&(minute + shift).rem_euclid(1_440)));
                let even = expr.spacing() == Spacing::Even;
                if (even && same) || (!even && before > after) {
                    continue;
                }
                for second in civil.clone().step_by(60) {
                    let date = DateTime::from_timestamp(second, 0).unwrap().date_naive();
                    let fires = minutes.contains(&(second.rem_euclid(86_400) / 60))
                        && expr.matches_day(date);
                    if fires {
                        touched.push((if before < after { at } else { second - after }, cron));
                    }
                }
            }
        }
        touched.retain(|(at, _)| (span.0.timestamp()..span.1.timestamp()).contains(at));
        touched.sort_unstable();
        touched.dedup_by_key(|(at, _)| *at);
        if let Some((_, cron)) = touched.first() {
            let instants: Vec<i64> = touched.iter().map(|(at, _)| *at).collect();
            self.alone(Rule::ClockChange, index, &instants, *cron, out);
        }
    }
}
