//! The linter against a walk over every firing.

mod agenda;
mod brute;
pub(crate) mod random;

use std::collections::BTreeSet;
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use offpeak::job::{GroupId, JobId};
use offpeak::lint::{Finding, Rule, Rules, Severity, Subject, Verdict, check};
use offpeak::schedule::{CronExpr, PeakWindow, PeakWindows, Timetable, Zones};

use random::{Chance, ZONES};

const FROM: &str = "2026-12-01T00:00:00Z";

/// A cron form: its name, and whether a text is of it.
type Form = (&'static str, fn(&str) -> bool);

fn from() -> DateTime<Utc> {
    FROM.parse().unwrap()
}

fn tokyo_rules(zones: &Zones) -> Rules {
    let window = |start: u16, end: u16| PeakWindow {
        start: start * 60,
        end: end * 60,
        days: [true; 7],
    };
    let peaks = PeakWindows::new(
        zones.get("Asia/Tokyo").unwrap(),
        vec![window(7, 9), window(18, 23)],
    );
    Rules::new(Duration::from_mins(15), Duration::from_mins(45), peaks)
}

fn job(name: &str, zone: &str, crons: &[&str]) -> Subject {
    let exprs = crons
        .iter()
        .map(|cron| CronExpr::parse(cron).unwrap())
        .collect();
    let timetable = Timetable::new(exprs, Zones::bundled().get(zone).unwrap());
    Subject::new(JobId::new(name), GroupId::new("main"), timetable).lasting(Duration::from_mins(1))
}

fn lint(subjects: &[Subject]) -> Verdict {
    check(subjects, &tokyo_rules(&Zones::bundled()), from())
}

fn of_rule(verdict: &Verdict, rule: Rule) -> Vec<&Finding> {
    verdict
        .findings
        .iter()
        .filter(|finding| finding.rule == rule)
        .collect()
}

fn is_about(finding: &Finding, job: &JobId, cron: usize) -> bool {
    let other = finding
        .other
        .as_ref()
        .is_some_and(|other| other.job == *job && other.cron == cron);
    other || (finding.job == *job && finding.cron == Some(cron))
}

/// Takes a suggestion and checks that no error about that expression is left, and that days and count stay.
pub(crate) fn assert_holds(
    subjects: &[Subject],
    rules: &Rules,
    from: DateTime<Utc>,
    (job, cron): (&JobId, usize),
    text: &str,
) {
    let mut changed = subjects.to_vec();
    let subject = changed
        .iter_mut()
        .find(|subject| subject.job == *job)
        .unwrap();
    let mut exprs = subject.timetable.exprs().to_vec();
    let (old, new) = (exprs[cron].clone(), CronExpr::parse(text).unwrap());
    assert_eq!(old.day_key(), new.day_key(), "{} became {text}", old.text());
    assert_eq!(
        old.times().len(),
        new.times().len(),
        "{} became {text}",
        old.text()
    );
    exprs[cron] = new;
    subject.timetable = Timetable::new(exprs, subject.timetable.zone().clone());
    let verdict = check(&changed, rules, from);
    let left = verdict
        .findings
        .iter()
        .filter(|f| f.severity == Severity::Error && is_about(f, job, cron));
    let left: Vec<&Finding> = left.collect();
    assert!(
        left.is_empty(),
        "`{}` of {job} became `{text}`: {left:#?}",
        old.text()
    );
}

fn compare_random_sets(seeds: std::ops::Range<u64>, years: i64) {
    let zones = Zones::bundled();
    let mut told = 0;
    for seed in seeds {
        let mut chance = Chance::new(seed);
        let rules = random::rules(&mut chance, &zones);
        let subjects = random::subjects(&mut chance, &zones);
        let start = from() + TimeDelta::minutes(chance.below(2 * 525_600));
        let verdict = check(&subjects, &rules, start);
        told += verdict.findings.len();
        let end = verdict.until.min(start + TimeDelta::days(365 * years));
        brute::compare(seed, &subjects, &rules, &verdict, end);
    }
    assert!(told > 100, "only {told} findings");
}

#[test]
fn findings_are_those_of_a_walk_over_every_firing_of_three_years() {
    compare_random_sets(0..45, 3);
}

#[test]
#[ignore = "minutes long; run it with --ignored --release after a change of the linter"]
fn findings_are_those_of_a_walk_over_every_firing_of_the_horizon() {
    compare_random_sets(10_000..12_000, 29);
}

#[test]
fn random_sets_hold_every_cron_form_in_every_zone() {
    let zones = Zones::bundled();
    let (mut texts, mut used, mut lists) = (Vec::new(), BTreeSet::new(), 0);
    for seed in 0..45 {
        let mut chance = Chance::new(seed);
        random::rules(&mut chance, &zones);
        for subject in random::subjects(&mut chance, &zones) {
            used.insert(subject.timetable.zone().name().to_owned());
            let exprs = subject.timetable.exprs();
            lists += usize::from(exprs.len() > 1);
            texts.extend(exprs.iter().map(|expr| expr.text().to_owned()));
        }
    }
    assert_eq!(used.len(), ZONES.len());
    assert!(lists > 10, "only {lists} jobs of several expressions");
    let field = |text: &str, n: usize| text.split(' ').nth(n).unwrap_or("*").to_owned();
    let forms: [Form; 9] = [
        ("last day", |text| text.contains("L ")),
        ("last weekday", |text| text.ends_with('L')),
        ("nearest working day", |text| text.contains('W')),
        ("nth weekday", |text| text.contains('#')),
        ("list", |text| text.contains(',')),
        ("step", |text| text.contains("*/")),
        ("range with a step", |text| text.contains("-59/")),
        ("name", |text| text.contains("mon") || text.contains("Oct")),
        ("nickname", |text| text.starts_with('@')),
    ];
    for (form, is_of) in forms {
        let count = texts.iter().filter(|text| is_of(text)).count();
        assert!(count > 2, "{form}: only {count}");
    }
    let either = texts
        .iter()
        .filter(|text| field(text, 2) != "*" && field(text, 4) != "*");
    assert!(either.count() > 10);
}

#[test]
fn every_suggestion_for_random_sets_holds_when_it_is_taken() {
    let zones = Zones::bundled();
    let mut taken = 0;
    for seed in 500..540 {
        let mut chance = Chance::new(seed);
        let rules = random::rules(&mut chance, &zones);
        let subjects = random::subjects(&mut chance, &zones);
        for finding in check(&subjects, &rules, from()).findings {
            if let (Some(suggestion), Some(cron)) = (&finding.suggestion, finding.cron) {
                assert_holds(
                    &subjects,
                    &rules,
                    from(),
                    (&finding.job, cron),
                    &suggestion.cron,
                );
                taken += 1;
            }
        }
    }
    assert!(taken > 40, "only {taken} suggestions");
}

#[test]
fn order_of_jobs_changes_nothing() {
    let zones = Zones::bundled();
    for seed in 0..20 {
        let mut chance = Chance::new(seed);
        let rules = random::rules(&mut chance, &zones);
        let mut subjects = random::subjects(&mut chance, &zones);
        let forwards = check(&subjects, &rules, from()).findings;
        subjects.reverse();
        assert_eq!(
            forwards,
            check(&subjects, &rules, from()).findings,
            "seed {seed}"
        );
    }
}

#[test]
fn all_zones_of_the_random_sets_are_known() {
    let zones = Zones::bundled();
    assert!(ZONES.len() >= 12);
    for zone in ZONES {
        assert!(zones.get(zone).is_ok(), "{zone}");
    }
}

#[test]
fn exactly_the_least_gap_passes_and_a_minute_less_does_not() {
    let passes = lint(&[
        job("a", "Asia/Tokyo", &["0 2 * * *"]),
        job("b", "Asia/Tokyo", &["15 2 * * *"]),
    ]);
    assert!(of_rule(&passes, Rule::KeyGap).is_empty());
    assert_eq!(of_rule(&passes, Rule::ComfortableGap).len(), 1);
    let fails = lint(&[
        job("a", "Asia/Tokyo", &["0 2 * * *"]),
        job("b", "Asia/Tokyo", &["14 2 * * *"]),
    ]);
    let gap = of_rule(&fails, Rule::KeyGap);
    assert_eq!(gap.len(), 1);
    assert_eq!(gap[0].per_year, Some(365));
    assert_eq!(
        gap[0].message,
        "`b` fires 14 min after `a`; group `main` needs at least 15 min between firings"
    );
    assert!(of_rule(&fails, Rule::ComfortableGap).is_empty());
}

#[test]
fn two_expressions_of_one_job_at_one_instant_are_one_slot() {
    let verdict = lint(&[job("a", "Asia/Tokyo", &["0 2 * * *", "0 2 * * mon"])]);
    assert!(verdict.findings.is_empty(), "{:#?}", verdict.findings);
}

#[test]
fn twins_collide_on_their_first_firing_on_every_firing() {
    let twins = [
        job("b", "Asia/Tokyo", &["0 2 * * mon"]),
        job("a", "Asia/Tokyo", &["0 2 * * mon"]),
    ];
    let verdict = lint(&twins);
    let gap = of_rule(&verdict, Rule::KeyGap);
    assert_eq!(gap.len(), 1);
    assert_eq!(
        (gap[0].job.as_str(), gap[0].gap),
        ("b", Some(Duration::ZERO))
    );
    assert_eq!(gap[0].other.as_ref().unwrap().job.as_str(), "a");
    assert_eq!(gap[0].at, Some("2026-12-06T17:00:00Z".parse().unwrap()));
    assert_eq!(gap[0].per_year, Some(52));
    assert_eq!(gap[0].suggestion.as_ref().unwrap().cron, "45 2 * * mon");
}

#[test]
fn firing_moved_by_a_clock_change_can_land_on_another_job() {
    // 02:30 does not exist on 28 March 2027 and fires at 03:00 summer time, 01:00 UTC.
    let jobs = [
        job("a", "Europe/Berlin", &["30 2 * * *"]),
        job("b", "Europe/Berlin", &["5 3 * * *"]),
    ];
    let verdict = lint(&jobs);
    let gap = of_rule(&verdict, Rule::KeyGap);
    assert_eq!(gap.len(), 1);
    assert_eq!(gap[0].at, Some("2027-03-28T01:05:00Z".parse().unwrap()));
    assert_eq!(gap[0].gap, Some(Duration::from_mins(5)));
    assert_eq!(gap[0].per_year, Some(1));
    let moved = of_rule(&verdict, Rule::ClockChange);
    assert_eq!(moved.len(), 1);
    assert_eq!(moved[0].at, Some("2027-03-28T01:00:00Z".parse().unwrap()));
}

#[test]
fn pair_at_a_clock_change_is_found_beside_one_of_every_day() {
    let jobs = [
        job("a", "Europe/Berlin", &["30 2 * * *"]),
        job("b", "Europe/Berlin", &["35 2 * * *"]),
        job("c", "Europe/Berlin", &["5 3 * * *"]),
    ];
    let verdict = lint(&jobs);
    let pairs: Vec<_> = of_rule(&verdict, Rule::KeyGap)
        .into_iter()
        .map(|f| {
            (
                f.at.unwrap().to_rfc3339(),
                f.other.as_ref().unwrap().job.as_str(),
                f.job.as_str(),
            )
        })
        .collect();
    let first = ("2026-12-01T01:35:00+00:00".to_owned(), "a", "b");
    let moved = "2027-03-28T01:05:00+00:00".to_owned();
    assert_eq!(pairs, [first, (moved.clone(), "a", "c"), (moved, "b", "c")]);
}

#[test]
fn fixed_time_in_a_repeated_hour_counts_once() {
    // 02:30 fires at 00:30 UTC, an hour and a half before 03:00 comes.
    let night = |name, minute_and_hour| {
        job(
            name,
            "Europe/Berlin",
            &[&format!("{minute_and_hour} * 10 0L")],
        )
    };
    let verdict = lint(&[night("a", "30 2"), night("b", "0 3")]);
    assert!(verdict.findings.is_empty(), "{:#?}", verdict.findings);
}

#[test]
fn window_that_a_clock_change_skips_is_not_reached() {
    let slow = job("a", "UTC", &["20 0 * 3 0L"]).lasting(Duration::from_mins(55));
    let window = PeakWindow {
        start: 130,
        end: 160,
        days: [true; 7],
    };
    let zones = Zones::bundled();
    let peaks = PeakWindows::new(zones.get("Europe/Berlin").unwrap(), vec![window]);
    let verdict = check(
        &[slow],
        &Rules {
            peaks,
            ..tokyo_rules(&zones)
        },
        from(),
    );
    assert!(verdict.findings.is_empty(), "{:#?}", verdict.findings);
}

#[test]
fn zones_that_change_on_different_dates_meet_only_between_them() {
    // New York is five hours behind London for most of the year, four between the two changes.
    let jobs = [
        job("a", "Europe/London", &["5 4 * * *"]),
        job("b", "America/New_York", &["10 0 * * *"]),
    ];
    let gap_of = |verdict: &Verdict| {
        of_rule(verdict, Rule::KeyGap)
            .first()
            .map(|f| (f.at.unwrap(), f.per_year))
    };
    let found = gap_of(&lint(&jobs));
    assert_eq!(
        found,
        Some(("2027-03-15T04:10:00Z".parse().unwrap(), Some(21)))
    );
}

#[test]
fn impossible_date_never_fires_and_a_rare_one_does() {
    let verdict = lint(&[
        job("a", "UTC", &["0 3 30 2 *", "0 4 29 2 *"]),
        job("b", "UTC", &["0 5 31 4,6,9,11 *"]),
    ]);
    let never = of_rule(&verdict, Rule::NeverFires);
    let found: Vec<_> = never
        .iter()
        .map(|finding| (finding.job.as_str(), finding.cron, finding.at))
        .collect();
    assert_eq!(found, [("a", Some(0), None), ("b", Some(0), None)]);
}

#[test]
fn groups_do_not_disturb_each_other() {
    let mut other = job("b", "Asia/Tokyo", &["0 2 * * *"]);
    other.group = GroupId::new("archive");
    assert!(
        lint(&[job("a", "Asia/Tokyo", &["0 2 * * *"]), other])
            .findings
            .is_empty()
    );
}

#[test]
fn saturated_group_tells_a_hundred_findings_and_counts_the_rest() {
    let jobs: Vec<Subject> = (0..60)
        .map(|n| {
            job(
                &format!("j{n:02}"),
                "Asia/Tokyo",
                &[&format!("{} 2 * * *", n % 10)],
            )
        })
        .collect();
    let verdict = lint(&jobs);
    let gap = of_rule(&verdict, Rule::KeyGap);
    assert_eq!(gap.len(), 101);
    // 60 jobs make 1,770 pairs.
    assert_eq!(
        gap.last().unwrap().message,
        "1670 more findings of key-gap in group `main` are not listed, only the first 100"
    );
    assert!(
        gap.iter().take(100).all(|finding| finding.at.is_some()
            && finding.suggestion.is_none() == (finding.gap.is_none()))
    );
}

#[test]
fn empty_set_is_clean_over_at_least_twenty_eight_years() {
    let verdict = lint(&[]);
    assert!(verdict.findings.is_empty());
    assert_eq!(
        verdict.until,
        "2054-12-02T00:00:00Z".parse::<DateTime<Utc>>().unwrap()
    );
}

#[test]
fn proof_from_the_ends_of_time_does_not_panic() {
    let zones = Zones::bundled();
    let jobs = [
        job("a", "Europe/Berlin", &["*/7 * * * *"]),
        job("b", "Asia/Tokyo", &["0 2 * * *"]),
    ];
    for end in [
        DateTime::<Utc>::MIN_UTC,
        DateTime::<Utc>::MAX_UTC,
        DateTime::<Utc>::MAX_UTC - TimeDelta::days(3),
    ] {
        let verdict = check(&jobs, &tokyo_rules(&zones), end);
        assert!(verdict.from <= verdict.until);
    }
}

#[test]
fn every_pair_of_a_crowd_is_counted_and_the_first_hundred_are_told() {
    let crowd = |prefix: &str, cron: &str| -> Vec<Subject> {
        (0..150)
            .map(|n| job(&format!("{prefix}{n:03}"), "Asia/Tokyo", &[cron]))
            .collect()
    };
    let subjects = [crowd("a", "0 2 * * *"), crowd("b", "5 2 * * *")].concat();
    let verdict = lint(&subjects);
    let found = of_rule(&verdict, Rule::KeyGap);
    assert_eq!(found.len(), 101);
    let first = |at: usize| {
        let other = found[at].other.as_ref().unwrap();
        (
            found[at].job.as_str().to_owned(),
            other.job.as_str().to_owned(),
        )
    };
    assert_eq!(first(0), ("a001".to_owned(), "a000".to_owned()));
    assert_eq!(first(1), ("a002".to_owned(), "a000".to_owned()));
    assert_eq!(first(99), ("a014".to_owned(), "a008".to_owned()));
    let all = 2 * (150 * 149 / 2) + 150 * 150;
    let rest = format!("{} more findings of key-gap", all - 100);
    assert!(
        found[100].message.starts_with(&rest),
        "{}",
        found[100].message
    );
}
