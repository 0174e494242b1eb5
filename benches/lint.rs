//! Figures for the linter: `cargo bench --bench lint`.

use std::time::Duration;

use chrono::{DateTime, Utc};
use offpeak::job::{GroupId, JobId};
use offpeak::lint::{Rules, Subject, check};
use offpeak::schedule::{CronExpr, PeakWindow, PeakWindows, Timetable, Zones};

fn main() {
    divan::main();
}

fn from() -> DateTime<Utc> {
    DateTime::from_timestamp(1_796_083_200, 0).unwrap_or_default()
}

fn rules() -> Rules {
    let window = |start: u16, end: u16| PeakWindow {
        start: start * 60,
        end: end * 60,
        days: [true; 7],
    };
    let zone = Zones::bundled()
        .get("Asia/Tokyo")
        .expect("the zone is bundled");
    let peaks = PeakWindows::new(zone, vec![window(7, 9), window(18, 23)]);
    Rules::new(Duration::from_mins(15), Duration::from_mins(45), peaks)
}

/// Builds subjects from a rule that gives group, zone and expression of the n-th job.
fn subjects(count: usize, rule: impl Fn(usize) -> (String, &'static str, String)) -> Vec<Subject> {
    let zones = Zones::bundled();
    let subject = |n: usize| {
        let (group, zone, cron) = rule(n);
        let timetable = Timetable::new(
            vec![CronExpr::parse(&cron).expect("the rule gives expressions")],
            zones.get(zone).expect("the zone is bundled"),
        );
        let job = JobId::new(format!("job-{n:06}"));
        Subject::new(job, GroupId::new(group), timetable).lasting(Duration::from_secs(1_830))
    };
    (0..count).map(subject).collect()
}

/// Twenty jobs a group, twenty minutes apart in hours that are off-peak all year, on various days.
fn legal(count: usize, zone_of: fn(usize) -> &'static str) -> Vec<Subject> {
    subjects(count, move |n| {
        let (group, place) = (n / 20, n % 20);
        let zone = zone_of(group);
        let first_hour = match zone {
            "Asia/Tokyo" => 9,
            "Europe/Berlin" => 3,
            _ => 10,
        };
        let minute = first_hour * 60 + place * 20;
        let days = ["* * *", "* * mon-fri", "1,15 * *", "* * 0,6", "L * *"][(group + place) % 5];
        (
            format!("group-{group:04}"),
            zone,
            format!("{} {} {days}", minute % 60, minute / 60),
        )
    })
}

fn mixed(group: usize) -> &'static str {
    [
        "Asia/Tokyo",
        "Asia/Tokyo",
        "Europe/Berlin",
        "America/New_York",
    ][group % 4]
}

#[divan::bench]
fn twenty_jobs_over_28_years(bencher: divan::Bencher<'_, '_>) {
    let (subjects, rules) = (legal(20, |_| "Europe/Berlin"), rules());
    bencher.bench(|| check(&subjects, &rules, from()));
}

#[divan::bench(args = [1_000, 10_000, 100_000], sample_count = 5)]
fn legal_jobs_in_groups_of_twenty(bencher: divan::Bencher<'_, '_>, count: usize) {
    let (subjects, rules) = (legal(count, mixed), rules());
    bencher.bench(|| check(&subjects, &rules, from()));
}

/// Every pair of 1,415 jobs is near: a million pairs, many timetables.
#[divan::bench(sample_count = 5)]
fn saturated_group_with_a_million_near_pairs(bencher: divan::Bencher<'_, '_>) {
    let days = ["* * *", "* * mon-fri", "*/2 * *", "* * 0,6", "1-20 * *"];
    let subjects = subjects(1_415, |n| {
        (
            "main".to_owned(),
            "Europe/Berlin",
            format!("{} {} {}", n % 60, n / 60 % 24, days[n % 5]),
        )
    });
    let rules = Rules {
        min_gap: Duration::from_hours(24),
        ..rules()
    };
    bencher.bench(|| check(&subjects, &rules, from()));
}

/// A hundred jobs that fire every few minutes all day.
#[divan::bench(sample_count = 5)]
fn dense_group(bencher: divan::Bencher<'_, '_>) {
    let subjects = subjects(100, |n| {
        (
            "main".to_owned(),
            mixed(n),
            format!("{}-59/{} * * * *", n % 7, 1 + n % 13),
        )
    });
    let rules = rules();
    bencher.bench(|| check(&subjects, &rules, from()));
}

/// Five thousand yearly jobs of one group, every twenty-fifth of them five minutes from its
/// neighbour: two hundred gaps that are too short, each with a suggestion to look for.
#[divan::bench(sample_count = 5)]
fn large_group_with_two_hundred_short_gaps(bencher: divan::Bencher<'_, '_>) {
    let subjects = subjects(5_000, |n| {
        let (minute, day) = (n % 20 * 30 + 540, n / 20);
        let early = if n % 25 == 24 { 25 } else { 0 };
        let minute = minute - early;
        (
            "main".to_owned(),
            "Asia/Tokyo",
            format!(
                "{} {} {} {} *",
                minute % 60,
                minute / 60,
                day % 28 + 1,
                day / 28 + 1
            ),
        )
    });
    let rules = rules();
    bencher.bench(|| check(&subjects, &rules, from()));
}
