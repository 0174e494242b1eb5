//! Figures for the hot paths of the core. One group of functions an area; each
//! name begins with its area.

use std::sync::LazyLock;

use chrono::{DateTime, TimeDelta, Utc};
use divan::{Bencher, black_box};
use offpeak::job::{GroupId, JobId};
use offpeak::schedule::{Agenda, AgendaLine, CronExpr, Timetable, Zone, Zones};

fn main() {
    divan::main();
}

// ---- calculus: expressions, zones, fire times, agenda ----

static CALCULUS_ZONES: LazyLock<Zones> = LazyLock::new(Zones::bundled);

fn calculus_zone(name: &str) -> Zone {
    CALCULUS_ZONES.get(name).expect("a bundled zone")
}

fn calculus_now() -> DateTime<Utc> {
    DateTime::from_timestamp(1_796_000_000, 0).expect("in range")
}

fn calculus_timetable(expr: &str) -> Timetable {
    let expr = CronExpr::parse(expr).expect("a valid expression");
    Timetable::new(vec![expr], calculus_zone("America/New_York"))
}

/// Ten thousand daily lines over 500 groups, one sparse or impossible line in a hundred.
fn calculus_agenda() -> Agenda {
    let line = |n: usize| {
        let expr = match n % 100 {
            0 => "0 3 29 2 *".to_owned(),
            1 => "0 0 30 2 *".to_owned(),
            _ => format!("{} {} * * *", n % 60, n / 60 % 24),
        };
        AgendaLine {
            group: GroupId::new(format!("g{}", n % 500)),
            job: Some(JobId::new(format!("j{n}"))),
            timetable: calculus_timetable(&expr),
            starts_after: DateTime::UNIX_EPOCH,
        }
    };
    Agenda::new((0..10_000).map(line).collect())
}

#[divan::bench(args = ["0 5 * * *", "*/5 8-20 * * mon-fri", "0 0 L * 1#5"])]
fn calculus_parse(text: &str) {
    let _ = black_box(CronExpr::parse(black_box(text)));
}

#[divan::bench]
fn calculus_zone_build(bencher: Bencher) {
    bencher
        .with_inputs(Zones::bundled)
        .bench_values(|zones| zones.get("America/New_York"));
}

#[divan::bench]
fn calculus_offset_at(bencher: Bencher) {
    let (zone, now) = (calculus_zone("America/New_York"), calculus_now());
    bencher.bench_local(|| zone.offset_at(black_box(now)));
}

#[divan::bench]
fn calculus_transitions_of_30_years(bencher: Bencher) {
    let (zone, now) = (calculus_zone("America/New_York"), calculus_now());
    bencher.bench_local(|| zone.transitions(now, black_box(now + TimeDelta::days(10_958))));
}

#[divan::bench(args = ["0 5 * * *", "*/5 * * * *", "0 3 29 2 *", "0 3 * 2 1#5", "0 0 30 2 *", "*/5 0 30 2 *"])]
fn calculus_next_after(bencher: Bencher, expr: &str) {
    let (timetable, now) = (calculus_timetable(expr), calculus_now());
    bencher.bench_local(|| timetable.next_after(black_box(now)));
}

#[divan::bench]
fn calculus_a_year_of_every_five_minutes(bencher: Bencher) {
    let (timetable, now) = (calculus_timetable("*/5 * * * *"), calculus_now());
    bencher.bench_local(|| timetable.between(now, black_box(now + TimeDelta::days(365))));
}

#[divan::bench(sample_count = 20)]
fn calculus_next_of_ten_thousand(bencher: Bencher) {
    let (agenda, now) = (calculus_agenda(), calculus_now());
    bencher.bench_local(|| agenda.next_after(black_box(now)));
}

#[divan::bench(sample_count = 20)]
fn calculus_due_of_ten_thousand_in_an_hour(bencher: Bencher) {
    let (agenda, now) = (calculus_agenda(), calculus_now());
    bencher.bench_local(|| agenda.due(now, black_box(now + TimeDelta::hours(1))));
}
