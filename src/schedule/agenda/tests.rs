//! Order, bounds, the start of a line, and size.

use chrono::TimeDelta;

use super::*;
use crate::schedule::{CronExpr, Zones};

fn at(text: &str) -> DateTime<Utc> {
    text.parse().unwrap()
}

fn line(group: &str, job: Option<&str>, cron: &str) -> AgendaLine {
    let zone = Zones::bundled().get("UTC").unwrap();
    AgendaLine {
        group: GroupId::new(group),
        job: job.map(JobId::new),
        timetable: Timetable::new(vec![CronExpr::parse(cron).unwrap()], zone),
        starts_after: at("2026-01-01T00:00:00Z"),
    }
}

fn names(entries: &[Entry]) -> Vec<String> {
    entries
        .iter()
        .map(|entry| {
            let job = entry.job.as_ref().map_or("pickup", JobId::as_str);
            format!("{} {}/{job}", entry.fire_at.format("%H:%M"), entry.group)
        })
        .collect()
}

fn agenda() -> Agenda {
    Agenda::new(vec![
        line("main", Some("late"), "45 4 * * *"),
        line("main", Some("b"), "0 2 * * *"),
        line("archive", Some("z"), "0 2 * * *"),
        line("main", None, "0 2,5 * * *"),
        line("main", Some("a"), "0 2 * * *"),
    ])
}

#[test]
fn due_is_in_order_of_time_then_group_then_job() {
    let day = agenda().due(at("2026-12-01T00:00:00Z"), at("2026-12-01T23:59:59Z"));
    let order = [
        "02:00 archive/z",
        "02:00 main/pickup",
        "02:00 main/a",
        "02:00 main/b",
        "04:45 main/late",
        "05:00 main/pickup",
    ];
    assert_eq!(names(&day), order);
}

#[test]
fn due_leaves_out_its_start_and_holds_its_end() {
    let two = at("2026-12-01T02:00:00Z");
    assert_eq!(agenda().due(two, at("2026-12-01T04:44:59Z")), []);
    assert_eq!(agenda().due(two - TimeDelta::seconds(1), two).len(), 4);
    assert_eq!(agenda().due(two, two - TimeDelta::days(1)), []);
}

#[test]
fn next_is_the_first_of_what_is_due() {
    let agenda = agenda();
    let start = at("2026-12-01T00:00:00Z");
    let next = agenda.next_after(start).unwrap();
    assert_eq!(
        Some(&next),
        agenda.due(start, at("2026-12-02T00:00:00Z")).first()
    );
    assert_eq!(
        names(&[agenda.next_after(next.fire_at).unwrap()]),
        ["04:45 main/late"]
    );
}

#[test]
fn next_in_group_and_of_job_see_their_own_only() {
    let agenda = agenda();
    let start = at("2026-12-01T02:00:00Z");
    let archive = agenda
        .next_in_group(&GroupId::new("archive"), start)
        .unwrap();
    assert_eq!(
        (archive.fire_at, archive.job),
        (at("2026-12-02T02:00:00Z"), Some(JobId::new("z")))
    );
    let main = agenda
        .next_in_group(&GroupId::new("main"), at("2026-12-01T04:45:00Z"))
        .unwrap();
    assert_eq!((main.fire_at, main.job), (at("2026-12-01T05:00:00Z"), None));
    let late = agenda.next_of_job(&JobId::new("late"), start).unwrap();
    assert_eq!(late.fire_at, at("2026-12-01T04:45:00Z"));
    assert_eq!(agenda.next_of_job(&JobId::new("nobody"), start), None);
    assert_eq!(agenda.next_in_group(&GroupId::new("nobody"), start), None);
}

#[test]
fn a_line_counts_strictly_after_its_start() {
    let edited_at = at("2026-12-01T02:00:00Z");
    let agenda = Agenda::new(vec![AgendaLine {
        starts_after: edited_at,
        ..line("main", Some("a"), "0 2 * * *")
    }]);
    let next = at("2026-12-02T02:00:00Z");
    assert_eq!(
        agenda
            .next_after(at("2020-01-01T00:00:00Z"))
            .unwrap()
            .fire_at,
        next
    );
    assert_eq!(agenda.due(at("2020-01-01T00:00:00Z"), next).len(), 1);
    let instants =
        agenda.instants_in_group(&GroupId::new("main"), at("2020-01-01T00:00:00Z"), next);
    assert_eq!(instants, [next]);
}

#[test]
fn instants_of_a_group_are_told_once_each() {
    let instants = agenda().instants_in_group(
        &GroupId::new("main"),
        at("2026-12-01T00:00:00Z"),
        at("2026-12-01T04:45:00Z"),
    );
    assert_eq!(
        instants,
        [at("2026-12-01T02:00:00Z"), at("2026-12-01T04:45:00Z")]
    );
}

#[test]
fn nothing_follows_in_an_agenda_that_never_fires() {
    let start = at("2026-12-01T00:00:00Z");
    assert_eq!(Agenda::new(Vec::new()).next_after(start), None);
    assert_eq!(
        Agenda::new(vec![line("main", Some("a"), "0 0 30 2 *")]).next_after(start),
        None
    );
}

#[test]
fn ten_years_asleep_cost_the_entries_and_not_the_years() {
    let lines = (0..2_000)
        .map(|n| line("main", Some(&format!("j{n}")), "0 3 29 2 *"))
        .collect();
    let missed = Agenda::new(lines).due(at("2026-12-01T00:00:00Z"), at("2036-12-01T00:00:00Z"));
    assert_eq!(missed.len(), 3 * 2_000);
}
