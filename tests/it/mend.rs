//! Mending random schedules: what moves, what stays, and what holds afterwards.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use chrono::{DateTime, NaiveDate, TimeDelta, Utc};
use offpeak::job::{GroupId, JobId};
use offpeak::lint::{Change, Finding, Mended, Rule, Rules, Subject, Verdict, changed, check, mend};
use offpeak::schedule::{CronExpr, PeakWindows, Timetable, Zone, Zones};

use crate::lint::random::{self, Chance};

fn start() -> DateTime<Utc> {
    "2026-12-01T00:00:00Z".parse().unwrap()
}

fn stopping(verdict: &Verdict) -> impl Iterator<Item = &Finding> {
    verdict.findings.iter().filter(|finding| {
        finding.is_stopping() && matches!(finding.rule, Rule::KeyGap | Rule::PeakWindow)
    })
}

/// The firings of each local day of 400, those around a clock change left out: there civil time itself has gaps.
fn firings_by_day(cron: &str, zone: &Zone, from: DateTime<Utc>) -> BTreeMap<NaiveDate, usize> {
    let until = from + TimeDelta::days(400);
    let timetable = Timetable::new(vec![CronExpr::parse(cron).unwrap()], zone.clone());
    let mut days = BTreeMap::new();
    for at in timetable.between(from - TimeDelta::days(2), until + TimeDelta::days(2)) {
        let local = at + TimeDelta::seconds(zone.offset_at(at).into());
        *days.entry(local.date_naive()).or_insert(0) += 1;
    }
    let changes = zone.transitions(from - TimeDelta::days(3), until + TimeDelta::days(3));
    for change in changes {
        let day = change.at.date_naive();
        days.retain(|other, _| (*other - day).num_days().abs() > 1);
    }
    days.retain(|day, _| from.date_naive() < *day && *day < until.date_naive());
    days
}

fn assert_kept(seed: u64, subjects: &[Subject], change: &Change, from: DateTime<Utc>) {
    let subject = subjects.iter().find(|subject| subject.job == change.job);
    let timetable = &subject.unwrap().timetable;
    let old = &timetable.exprs()[change.cron];
    let new = CronExpr::parse(&change.to).unwrap();
    assert_eq!(change.from, old.text(), "seed {seed}");
    assert_eq!(old.day_key(), new.day_key(), "seed {seed}: {change}");
    assert_eq!(
        old.times().len(),
        new.times().len(),
        "seed {seed}: {change}"
    );
    let of = |cron: &str| firings_by_day(cron, timetable.zone(), from);
    assert_eq!(of(&change.from), of(&change.to), "seed {seed}: {change}");
}

fn assert_mended(
    seed: u64,
    subjects: &[Subject],
    rules: &Rules,
    from: DateTime<Utc>,
    mended: &Mended,
) {
    let before = check(subjects, rules, from);
    let concerned: BTreeSet<&JobId> = stopping(&before)
        .flat_map(|finding| {
            [&finding.job]
                .into_iter()
                .chain(finding.other.as_ref().map(|other| &other.job))
        })
        .collect();
    let stuck: BTreeSet<&GroupId> = mended.stuck.iter().map(|stuck| &stuck.group).collect();
    for change in &mended.changes {
        assert!(concerned.contains(&change.job), "seed {seed}: {change}");
        assert!(!stuck.contains(&change.group), "seed {seed}: {change}");
        assert_kept(seed, subjects, change, from);
    }
    let after = changed(subjects, &mended.changes);
    let verdict = check(&after, rules, from);
    assert_eq!(verdict.findings, mended.verdict.findings, "seed {seed}");
    for finding in stopping(&verdict) {
        assert!(stuck.contains(&finding.group), "seed {seed}: {finding:#?}");
    }
    let again = mend(&after, rules, from);
    assert!(again.changes.is_empty(), "seed {seed}: {:?}", again.changes);
    let backwards: Vec<Subject> = subjects.iter().rev().cloned().collect();
    let backwards = mend(&backwards, rules, from);
    assert_eq!(mended.changes, backwards.changes, "seed {seed}");
    assert_eq!(mended.stuck, backwards.stuck, "seed {seed}");
}

fn mend_random_sets(seeds: std::ops::Range<u64>) -> (usize, usize) {
    let zones = Zones::bundled();
    let (mut changes, mut stuck) = (0, 0);
    for seed in seeds {
        let mut chance = Chance::new(seed);
        let rules = random::rules(&mut chance, &zones);
        let subjects = random::subjects(&mut chance, &zones);
        let from = start() + TimeDelta::minutes(chance.below(2 * 525_600));
        let mended = mend(&subjects, &rules, from);
        assert_mended(seed, &subjects, &rules, from, &mended);
        changes += mended.changes.len();
        stuck += mended.stuck.len();
    }
    (changes, stuck)
}

#[test]
fn random_schedules_pass_after_they_are_mended() {
    let (changes, stuck) = mend_random_sets(20_000..20_016);
    assert!(changes > 4 && stuck > 1, "{changes} changes, {stuck} stuck");
}

#[test]
#[ignore = "minutes long; run it with --ignored --release after a change of the linter"]
fn thousands_of_random_schedules_pass_after_they_are_mended() {
    mend_random_sets(30_000..33_000);
}

fn job(group: &str, name: &str, cron: &str) -> Subject {
    let zone = Zones::bundled().get("Asia/Tokyo").unwrap();
    let timetable = Timetable::new(vec![CronExpr::parse(cron).unwrap()], zone);
    Subject::new(JobId::new(name), GroupId::new(group), timetable)
}

fn plain_rules() -> Rules {
    let peaks = PeakWindows::new(Zones::bundled().get("Asia/Tokyo").unwrap(), vec![]);
    Rules::new(Duration::from_mins(15), Duration::from_mins(45), peaks)
}

#[test]
fn twenty_jobs_at_one_instant_end_legal_and_one_of_them_stays() {
    let jobs: Vec<Subject> = (0..20)
        .map(|n| job("main", &format!("j{n:02}"), "0 5 * * *"))
        .collect();
    let mended = mend(&jobs, &plain_rules(), start());
    assert_eq!(mended.changes.len(), 19);
    assert!(mended.verdict.is_safe());
}

#[test]
fn two_hundred_jobs_at_one_instant_are_too_many_for_a_day_and_not_for_a_week() {
    let daily: Vec<Subject> = (0..200)
        .map(|n| job("main", &format!("j{n:03}"), "0 5 * * *"))
        .collect();
    let mended = mend(&daily, &plain_rules(), start());
    assert!(mended.changes.is_empty());
    assert_eq!(mended.stuck.len(), 1);
    let weekly: Vec<Subject> = (0..200)
        .map(|n| job("main", &format!("j{n:03}"), &format!("0 5 * * {}", n % 7)))
        .collect();
    let mended = mend(&weekly, &plain_rules(), start());
    assert_eq!(mended.changes.len(), 193);
    assert!(mended.verdict.is_safe());
}
