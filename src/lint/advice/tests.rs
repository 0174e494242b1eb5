//! What holds for every rule about one expression.

use super::super::fixture::{at, job, rules};
use super::super::{Level, Levels, Rules, Subject, check};
use super::*;

/// The first firing, message and help of one rule about one expression of job `a`, from an instant on.
pub(super) fn told_from(
    rule: Rule,
    zone: &str,
    cron: &str,
    from: &str,
) -> Option<(String, String, String)> {
    let found = findings(&[job("a", zone, &[cron])], &rules("UTC", vec![]), at(from));
    let mut of_rule = found.into_iter().filter(|finding| finding.rule == rule);
    let finding = of_rule.next()?;
    assert_eq!(of_rule.next(), None);
    let first = finding
        .at
        .map(|at| at.to_rfc3339_opts(chrono::SecondsFormat::Secs, true));
    Some((first.unwrap_or_default(), finding.message, finding.help?))
}

/// The same from 1 December 2026 on.
pub(super) fn told(rule: Rule, zone: &str, cron: &str) -> Option<(String, String, String)> {
    told_from(rule, zone, cron, "2026-12-01T00:00:00Z")
}

fn from() -> DateTime<Utc> {
    at("2026-12-01T00:00:00Z")
}

fn found(subjects: &[Subject], rules: &Rules) -> Vec<(Rule, String, Option<usize>)> {
    let found = findings(subjects, rules, from()).into_iter();
    let mut found: Vec<_> = found
        .map(|finding| (finding.rule, finding.job.to_string(), finding.cron))
        .collect();
    found.sort();
    found
}

#[test]
fn each_job_is_told_once_a_rule_at_its_first_expression() {
    let jobs = [
        job("a", "UTC", &["0 5 * * *", "*/7 5-6 * * *", "*/9 1-2 * * *"]),
        job("b", "UTC", &["*/7 5-6 * * *", "0 5 1 * mon"]),
    ];
    assert_eq!(
        found(&jobs, &rules("UTC", vec![])),
        [
            (Rule::EitherDay, "b".to_owned(), Some(1)),
            (Rule::UnevenStep, "a".to_owned(), Some(1)),
            (Rule::UnevenStep, "b".to_owned(), Some(0)),
        ]
    );
}

#[test]
fn rule_that_is_off_is_not_told() {
    let mut rules = rules("UTC", vec![]);
    let jobs = [job("a", "UTC", &["*/7 * 1 * mon"])];
    rules.levels = Levels::default();
    rules.levels.set(Rule::EitherDay, Level::Off);
    let kinds: Vec<Rule> = found(&jobs, &rules)
        .into_iter()
        .map(|found| found.0)
        .collect();
    assert_eq!(kinds, [Rule::UnevenStep]);
}

#[test]
fn nicknames_need_no_advice() {
    for name in ["@yearly", "@monthly", "@weekly", "@daily", "@hourly"] {
        assert_eq!(
            found(&[job("a", "UTC", &[name])], &rules("UTC", vec![])),
            []
        );
    }
}

#[test]
fn instants_are_those_at_which_the_job_fires_around_clock_changes() {
    // 02:00 does not come on 28 March 2027 in Berlin: a fixed time moves, an even one is dropped.
    let first = |cron| {
        told_from(
            Rule::EitherDay,
            "Europe/Berlin",
            cron,
            "2027-03-27T02:00:00Z",
        )
    };
    assert_eq!(first("30 2 1 * sun").unwrap().0, "2027-03-28T01:00:00Z");
    assert_eq!(first("*/30 2 1 * sun").unwrap().0, "2027-04-01T00:00:00Z");
    // The second 02:30 of 31 October 2027 is after the first.
    let second = told_from(
        Rule::EitherDay,
        "Europe/Berlin",
        "*/30 2 1 * sun",
        "2027-10-31T01:00:00Z",
    );
    assert_eq!(second.unwrap().0, "2027-10-31T01:00:00Z");
}

/// Jobs that skip months, of which the first so many accept it, and what the check tells of that.
fn skipping(jobs: usize, accepting: usize) -> Vec<Finding> {
    let mut jobs: Vec<Subject> = (0..jobs)
        .map(|n| job(&format!("j{n:03}"), "UTC", &["0 5 31 * *"]))
        .collect();
    for job in &mut jobs[..accepting] {
        job.accepted.insert(Rule::SkipsMonths, "meant".to_owned());
    }
    let mut found = check(&jobs, &rules("UTC", vec![]), from()).findings;
    found.retain(|finding| [Rule::SkipsMonths, Rule::UnusedAccept].contains(&finding.rule));
    found
}

#[test]
fn hundred_findings_of_a_rule_are_told_and_the_rest_is_counted() {
    let found = skipping(103, 0);
    assert_eq!(found.len(), 101);
    let rest = &found[100];
    assert_eq!(
        rest.message,
        "3 more findings of skips-months in group `main` are not listed, only the first 100"
    );
    assert_eq!((rest.cron, rest.help.as_ref()), (None, None));
}

#[test]
fn hundred_accepted_findings_are_told_and_crowd_out_no_open_one() {
    let found = skipping(250, 150);
    let (accepted, open): (Vec<_>, Vec<_>) =
        found.iter().partition(|finding| finding.accepted.is_some());
    assert_eq!((open.len(), accepted.len()), (100, 101));
    assert_eq!(
        accepted[100].message,
        "50 more accepted findings of skips-months in group `main` are not listed, only the first 100"
    );
    let none_is_open = skipping(150, 150);
    assert_eq!(none_is_open.len(), 101);
    assert!(
        none_is_open
            .iter()
            .all(|finding| finding.accepted.is_some())
    );
}

#[test]
fn advice_is_found_by_the_check_and_can_be_accepted() {
    let mut accepting = job("a", "UTC", &["0 5 31 * *"]);
    let reason = "quarter ends only".to_owned();
    accepting.accepted.insert(Rule::SkipsMonths, reason.clone());
    let verdict = check(&[accepting], &rules("UTC", vec![]), from());
    let found: Vec<_> = verdict
        .findings
        .iter()
        .map(|finding| (finding.rule, finding.accepted.clone()))
        .collect();
    assert_eq!(found, [(Rule::SkipsMonths, Some(reason))]);
}
