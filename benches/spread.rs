//! Figures for whole plans: `cargo bench --bench spread`.

use std::time::Duration;

use chrono::{DateTime, Utc};
use offpeak::job::{GroupId, JobId};
use offpeak::lint::{Rules, Subject, spread};
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

/// Twenty jobs a group, by rules that give zone and expression of the n-th job of a group.
fn groups(count: usize, rule: impl Fn(usize, usize) -> (&'static str, String)) -> Vec<Subject> {
    let zones = Zones::bundled();
    let subject = |n: usize| {
        let (zone, cron) = rule(n / 20, n % 20);
        let timetable = Timetable::new(
            vec![CronExpr::parse(&cron).expect("the rule gives expressions")],
            zones.get(zone).expect("the zone is bundled"),
        );
        let group = GroupId::new(format!("group-{:04}", n / 20));
        Subject::new(JobId::new(format!("job-{n:06}")), group, timetable)
    };
    (0..count * 20).map(subject).collect()
}

/// Fifteen minutes apart from a first hour on.
fn at(hour: usize, place: usize, days: &str) -> String {
    let minute = hour * 60 + place * 15;
    format!("{} {} {days}", minute % 60, minute / 60)
}

const DAYS: [&str; 5] = ["* * *", "* * mon-fri", "1,15 * *", "* * 0,6", "L * *"];

fn daily(count: usize) -> Vec<Subject> {
    groups(count, |_, place| ("Asia/Tokyo", at(9, place, "* * *")))
}

fn various_days(count: usize) -> Vec<Subject> {
    groups(count, |group, place| {
        ("Asia/Tokyo", at(9, place, DAYS[(group + place) % 5]))
    })
}

/// A zone with clock changes, another in every fourth job, and a job four times a day.
fn mixed(count: usize) -> Vec<Subject> {
    groups(count, |group, place| match place {
        0 => ("Europe/Berlin", "20 */6 * * *".to_owned()),
        4 | 8 | 12 | 16 => ("America/New_York", at(0, place, "* * *")),
        _ => ("Europe/Berlin", at(0, place, DAYS[(group + place) % 5])),
    })
}

#[divan::bench(args = [1, 500], sample_count = 3, sample_size = 1)]
fn twenty_daily_jobs(bencher: divan::Bencher<'_, '_>, groups: usize) {
    let (subjects, rules) = (daily(groups), rules());
    bencher.bench(|| spread(&subjects, &rules, from()));
}

#[divan::bench(args = [1, 500], sample_count = 3, sample_size = 1)]
fn twenty_jobs_of_various_days(bencher: divan::Bencher<'_, '_>, groups: usize) {
    let (subjects, rules) = (various_days(groups), rules());
    bencher.bench(|| spread(&subjects, &rules, from()));
}

#[divan::bench(args = [1, 100], sample_count = 3, sample_size = 1)]
fn twenty_jobs_of_two_zones_with_clock_changes(bencher: divan::Bencher<'_, '_>, groups: usize) {
    let (subjects, rules) = (mixed(groups), rules());
    bencher.bench(|| spread(&subjects, &rules, from()));
}

/// A thousand jobs in one group, a minute apart: there is no plan.
#[divan::bench(sample_count = 3, sample_size = 1)]
fn saturated_group(bencher: divan::Bencher<'_, '_>) {
    let mut subjects = groups(50, |group, place| {
        let minute = group * 20 + place;
        (
            "Europe/Berlin",
            format!("{} {} * * *", minute % 60, minute / 60),
        )
    });
    for subject in &mut subjects {
        subject.group = GroupId::new("main");
    }
    let rules = rules();
    bencher.bench(|| spread(&subjects, &rules, from()));
}

/// Jobs every five minutes all day: there is no plan.
#[divan::bench(sample_count = 3, sample_size = 1)]
fn dense_group(bencher: divan::Bencher<'_, '_>) {
    let subjects = groups(1, |_, place| {
        ("Europe/Berlin", format!("{}-59/5 * * * *", place % 5))
    });
    let rules = rules();
    bencher.bench(|| spread(&subjects, &rules, from()));
}
