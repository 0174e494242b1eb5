//! Acceptance, severities and rules that are off: what a proof tells of them.

use crate::job::GroupId;
use crate::lint::fixture::{at, findings, job, rules, window};
use crate::lint::{Finding, Level, Rule, Rules, Severity, Subject, check};

fn accepting(rules: &[Rule], mut job: Subject) -> Subject {
    for rule in rules {
        job.accepted.insert(*rule, format!("reason of {}", job.job));
    }
    job
}

fn all(subjects: &[Subject], rules: &Rules) -> Vec<Finding> {
    check(subjects, rules, at("2026-12-01T00:00:00Z")).findings
}

fn plain() -> Rules {
    rules("UTC", vec![])
}

/// Sixty jobs of one minute each, all too close to each other.
fn crowd(accepted: impl Fn(usize) -> Vec<Rule>) -> Vec<Subject> {
    let member = |n: usize| {
        let job = job(
            &format!("j{n:02}"),
            "UTC",
            &[&format!("{} 2 * * *", n % 10)],
        );
        accepting(&accepted(n), job)
    };
    (0..60).map(member).collect()
}

#[test]
fn pair_is_accepted_if_either_job_accepts_and_the_later_ones_reason_goes_first() {
    let [a, b] =
        [("a", "0 2 * * *"), ("b", "5 2 * * *")].map(|(name, cron)| job(name, "UTC", &[cron]));
    let accepted = |jobs: &[Subject]| findings(jobs, &plain(), Rule::KeyGap)[0].accepted.clone();
    let by = |job: &Subject| accepting(&[Rule::KeyGap], job.clone());
    assert_eq!(accepted(&[a.clone(), b.clone()]), None);
    assert_eq!(
        accepted(&[by(&a), b.clone()]).as_deref(),
        Some("reason of a")
    );
    assert_eq!(
        accepted(&[a.clone(), by(&b)]).as_deref(),
        Some("reason of b")
    );
    assert_eq!(accepted(&[by(&a), by(&b)]).as_deref(), Some("reason of b"));
}

#[test]
fn accepted_findings_crowd_out_no_open_one() {
    // The first forty accept; among the other twenty are 190 pairs, and 1,580 are accepted.
    let jobs = crowd(|n| if n < 40 { vec![Rule::KeyGap] } else { vec![] });
    let found = findings(&jobs, &plain(), Rule::KeyGap);
    let (accepted, open): (Vec<_>, Vec<_>) =
        found.iter().partition(|finding| finding.accepted.is_some());
    assert_eq!((open.len(), accepted.len()), (101, 101));
    let last = |found: &[&Finding]| found.last().unwrap().message.clone();
    assert_eq!(
        last(&open),
        "90 more findings of key-gap in group `main` are not listed, only the first 100"
    );
    assert_eq!(
        last(&accepted),
        "1480 more accepted findings of key-gap in group `main` are not listed, only the first 100"
    );
    assert!(open.iter().all(|finding| finding.is_stopping()));
    assert!(accepted.iter().all(|finding| !finding.is_stopping()));
    assert!(findings(&jobs, &plain(), Rule::UnusedAccept).is_empty());
}

#[test]
fn schedule_is_safe_if_every_error_is_accepted_the_closing_count_included() {
    let jobs = crowd(|_| vec![Rule::KeyGap]);
    let verdict = check(&jobs, &plain(), at("2026-12-01T00:00:00Z"));
    assert!(verdict.is_safe());
    assert_eq!(
        verdict
            .findings
            .iter()
            .filter(|it| it.rule == Rule::KeyGap)
            .count(),
        101
    );
}

#[test]
fn rule_that_is_off_is_not_looked_for() {
    let rules = rules("UTC", vec![window(60, 240)]);
    let jobs = [
        job("a", "Europe/Berlin", &["30 2 * * *", "0 0 30 2 *"]),
        job("b", "Europe/Berlin", &["35 2 * * *"]),
        job("c", "Europe/Berlin", &["0 3 * * *"]).lasting(std::time::Duration::from_hours(24)),
    ];
    let found = |rules: &Rules| {
        all(&jobs, rules)
            .into_iter()
            .map(|finding| finding.rule)
            .collect::<Vec<_>>()
    };
    let before = found(&rules);
    for rule in [
        Rule::KeyGap,
        Rule::PeakWindow,
        Rule::NeverFires,
        Rule::ClockChange,
        Rule::Overrun,
    ] {
        assert!(before.contains(&rule), "{rule}");
        let mut off = rules.clone();
        off.levels.set(rule, Level::Off);
        let after = found(&off);
        assert!(!after.contains(&rule), "{rule}");
        let others = |found: &[Rule]| {
            let others = found
                .iter()
                .filter(|other| **other != rule && **other != Rule::ComfortableGap);
            others.copied().collect::<Vec<_>>()
        };
        assert_eq!(others(&after), others(&before), "without {rule}");
    }
}

#[test]
fn short_gap_is_a_matter_of_comfort_where_the_least_gap_is_off() {
    let jobs = [
        job("a", "UTC", &["0 2 * * *"]),
        job("b", "UTC", &["5 2 * * *"]),
    ];
    let mut rules = plain();
    assert!(findings(&jobs, &rules, Rule::ComfortableGap).is_empty());
    rules.levels.set(Rule::KeyGap, Level::Off);
    let found = findings(&jobs, &rules, Rule::ComfortableGap);
    assert_eq!((found.len(), found[0].gap.unwrap().as_secs()), (1, 300));
    rules.levels.set(Rule::ComfortableGap, Level::Off);
    assert!(all(&jobs, &rules).is_empty());
}

#[test]
fn severity_of_the_settings_is_that_of_the_findings() {
    let jobs = [
        job("a", "UTC", &["0 2 * * *"]),
        job("b", "UTC", &["5 2 * * *"]),
    ];
    let mut rules = plain();
    rules.levels.set(Rule::KeyGap, Level::Warn);
    let verdict = check(&jobs, &rules, at("2026-12-01T00:00:00Z"));
    assert!(verdict.is_safe());
    assert_eq!(verdict.findings[0].severity, Severity::Warning);
    let jobs = [
        job("a", "UTC", &["0 2 * * *"]),
        job("b", "UTC", &["20 2 * * *"]),
    ];
    rules.levels.set(Rule::ComfortableGap, Level::Error);
    assert!(!check(&jobs, &rules, at("2026-12-01T00:00:00Z")).is_safe());
}

#[test]
fn rule_accepted_for_nothing_is_told_with_what_to_remove() {
    let jobs = [
        accepting(
            &[Rule::KeyGap, Rule::Overrun],
            job("a", "UTC", &["0 2 * * *"]),
        ),
        job("b", "UTC", &["5 2 * * *"]),
    ];
    let found = findings(&jobs, &plain(), Rule::UnusedAccept);
    assert_eq!(found.len(), 1);
    assert_eq!(
        found[0].message,
        "`a` accepts overrun, which finds nothing in it"
    );
    assert_eq!(
        found[0].help.as_deref(),
        Some("remove `overrun` from its `accept`")
    );
    assert_eq!(
        (found[0].severity, found[0].cron, found[0].accepts),
        (Severity::Warning, None, Some(Rule::Overrun))
    );
}

#[test]
fn rule_accepted_by_the_earlier_job_of_a_pair_is_used() {
    let jobs = [
        job("b", "UTC", &["5 2 * * *"]),
        accepting(&[Rule::ComfortableGap], job("a", "UTC", &["30 2 * * *"])),
        accepting(&[Rule::KeyGap], job("c", "UTC", &["0 2 * * *"])),
    ];
    assert!(findings(&jobs, &plain(), Rule::UnusedAccept).is_empty());
}

#[test]
fn use_beyond_the_first_hundred_counts_too() {
    // The last pair of all is the one with the leap day.
    let mut jobs = crowd(|_| vec![]);
    jobs.push(accepting(&[Rule::KeyGap], job("z", "UTC", &["8 2 29 2 *"])));
    assert!(findings(&jobs, &plain(), Rule::UnusedAccept).is_empty());
    let mut jobs = crowd(|_| vec![Rule::KeyGap]);
    jobs.push(accepting(&[Rule::KeyGap], job("z", "UTC", &["8 2 29 2 *"])));
    jobs.push(accepting(
        &[Rule::KeyGap],
        job("y", "UTC", &["8 12 29 2 *"]),
    ));
    let found = findings(&jobs, &plain(), Rule::UnusedAccept);
    assert_eq!(
        found.iter().map(|it| it.job.as_str()).collect::<Vec<_>>(),
        ["y"]
    );
}

#[test]
fn rules_that_are_off_or_found_elsewhere_are_not_called_unused() {
    let elsewhere = [
        Rule::MissingFile,
        Rule::OutputCollision,
        Rule::BreakerCannotOpen,
        Rule::RetiredModel,
        Rule::Overrun,
    ];
    let jobs = [accepting(&elsewhere, job("a", "UTC", &["0 2 * * *"]))];
    let mut rules = plain();
    rules.levels.set(Rule::Overrun, Level::Off);
    assert!(all(&jobs, &rules).is_empty());
    rules.levels.set(Rule::Overrun, Level::Warn);
    assert_eq!(findings(&jobs, &rules, Rule::UnusedAccept).len(), 1);
    rules.levels.set(Rule::UnusedAccept, Level::Off);
    assert!(all(&jobs, &rules).is_empty());
}

#[test]
fn many_unused_accepts_of_a_group_are_counted() {
    let jobs: Vec<Subject> = (0..150)
        .map(|n| {
            let mut job = accepting(
                &[Rule::PeakWindow],
                job(&format!("j{n:03}"), "UTC", &["0 2 * * *"]),
            );
            job.group = GroupId::new(if n == 0 { "archive" } else { "main" });
            job
        })
        .collect();
    let mut rules = plain();
    rules.levels.set(Rule::KeyGap, Level::Off);
    rules.levels.set(Rule::ComfortableGap, Level::Off);
    let found = all(&jobs, &rules);
    assert_eq!(found.len(), 102);
    let closing = found.iter().filter(|finding| {
        finding
            .message
            .starts_with("49 more findings of unused-accept")
    });
    let closing: Vec<_> = closing.collect();
    assert_eq!((closing.len(), closing[0].accepts), (1, None));
}
