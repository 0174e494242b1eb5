//! The three rules, both sides of their bounds, and the limits on carrying.

use super::*;
use crate::schedule::{AgendaLine, CronExpr, PeakWindow, Timetable, Zones};

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

fn agenda() -> Agenda {
    Agenda::new(vec![
        line("main", Some("a"), "0 2 * * *"),
        line("main", Some("b"), "45 2 * * *"),
        line("main", None, "30 5 * * *"),
        line("other", Some("c"), "10 2 * * *"),
    ])
}

fn peaks(windows: &[(u16, u16)]) -> PeakWindows {
    let windows = windows.iter().map(|(start, end)| PeakWindow {
        start: *start,
        end: *end,
        days: [true; 7],
    });
    PeakWindows::new(Zones::bundled().get("UTC").unwrap(), windows.collect())
}

/// The work of job `a` of group `main`, with a gap of 15 minutes.
fn target_of_a(rule: DeferRule, not_before: &str, now: &str) -> Option<DateTime<Utc>> {
    open_target(rule, [not_before, now], &agenda(), &peaks(&[]), &[])
}

fn open_target(
    rule: DeferRule,
    [not_before, now]: [&str; 2],
    agenda: &Agenda,
    peaks: &PeakWindows,
    taken: &[DateTime<Utc>],
) -> Option<DateTime<Utc>> {
    let (job, group) = (JobId::new("a"), GroupId::new("main"));
    let carried = Carried {
        job: &job,
        group: &group,
        not_before: at(not_before),
    };
    let clearance = Clearance {
        min_gap: Duration::from_mins(15),
        peaks,
        taken,
    };
    target(rule, carried, at(now), agenda, clearance).map(|target| target.fire_at)
}

#[test]
fn next_slot_is_any_slot_of_the_group_at_or_after_the_stated_instant() {
    for (not_before, now, expected) in [
        (
            "2026-12-01T02:00:30Z",
            "2026-12-01T02:00:30Z",
            "2026-12-01T02:45:00Z",
        ),
        (
            "2026-12-01T02:45:00Z",
            "2026-12-01T02:00:30Z",
            "2026-12-01T02:45:00Z",
        ),
        (
            "2026-12-01T02:45:00.000000001Z",
            "2026-12-01T02:00:30Z",
            "2026-12-01T05:30:00Z",
        ),
        (
            "2026-12-01T05:30:01Z",
            "2026-12-01T02:00:30Z",
            "2026-12-02T02:00:00Z",
        ),
    ] {
        let found = target_of_a(DeferRule::NextSlot, not_before, now);
        assert_eq!(found, Some(at(expected)), "not before {not_before}");
    }
}

#[test]
fn a_slot_that_is_now_does_not_take_the_work() {
    let now = "2026-12-01T02:45:00Z";
    let found = target_of_a(DeferRule::NextSlot, "2026-12-01T02:00:00Z", now);
    assert_eq!(found, Some(at("2026-12-01T05:30:00Z")));
    let open = target_of_a(
        DeferRule::OpenSlot,
        "2026-12-01T09:00:00Z",
        "2026-12-01T09:00:00Z",
    );
    assert_eq!(open, Some(at("2026-12-01T09:01:00Z")));
}

#[test]
fn own_slot_is_a_slot_of_the_same_job() {
    let found = target_of_a(
        DeferRule::OwnSlot,
        "2026-12-01T02:00:30Z",
        "2026-12-01T02:00:30Z",
    );
    assert_eq!(found, Some(at("2026-12-02T02:00:00Z")));
}

#[test]
fn nothing_takes_the_work_of_a_group_that_never_fires_again() {
    let never = Agenda::new(vec![line("main", Some("a"), "0 0 30 2 *")]);
    for rule in [DeferRule::NextSlot, DeferRule::OwnSlot] {
        let asked = ["2026-12-01T00:00:00Z"; 2];
        assert_eq!(open_target(rule, asked, &never, &peaks(&[]), &[]), None);
    }
}

#[test]
fn open_slot_keeps_the_gap_to_both_sides_and_exactly_the_gap_is_enough() {
    for (not_before, expected) in [
        // Far from everything: the next whole minute.
        ("2026-12-01T01:00:00.5Z", "2026-12-01T01:01:00Z"),
        ("2026-12-01T01:45:00Z", "2026-12-01T01:45:00Z"),
        // 01:46 is too near to 02:00, and 02:15 is 30 minutes before 02:45.
        ("2026-12-01T01:46:00Z", "2026-12-01T02:15:00Z"),
        ("2026-12-01T02:31:00Z", "2026-12-01T03:00:00Z"),
    ] {
        let found = target_of_a(DeferRule::OpenSlot, not_before, "2026-12-01T00:00:00Z");
        assert_eq!(found, Some(at(expected)), "not before {not_before}");
    }
}

#[test]
fn open_slot_keeps_clear_of_a_slot_that_has_just_been() {
    let found = target_of_a(
        DeferRule::OpenSlot,
        "2026-12-01T02:46:00Z",
        "2026-12-01T02:46:00Z",
    );
    assert_eq!(found, Some(at("2026-12-01T03:00:00Z")));
}

#[test]
fn open_slot_keeps_clear_of_promises_and_peaks_together() {
    let taken = [at("2026-12-01T03:30:00Z"), at("2026-12-01T03:10:00Z")];
    let peaks = peaks(&[(3 * 60 + 45, 5 * 60)]);
    // 03:00 is 10 minutes from a promise, 03:45 opens the peak, 05:00 is 30 minutes before the pickup slot.
    let asked = ["2026-12-01T02:50:00Z", "2026-12-01T02:50:00Z"];
    let found = open_target(DeferRule::OpenSlot, asked, &agenda(), &peaks, &taken);
    assert_eq!(found, Some(at("2026-12-01T05:00:00Z")));
}

#[test]
fn open_slot_is_none_if_the_group_leaves_no_room() {
    let asked = ["2026-12-01T00:00:00Z"; 2];
    let dense = Agenda::new(vec![line("main", Some("a"), "*/20 * * * *")]);
    assert_eq!(
        open_target(DeferRule::OpenSlot, asked, &dense, &peaks(&[]), &[]),
        None
    );
    let always_peak = peaks(&[(0, 1440)]);
    assert_eq!(
        open_target(DeferRule::OpenSlot, asked, &agenda(), &always_peak, &[]),
        None
    );
}

#[test]
fn open_slot_finds_a_gap_that_is_months_away() {
    // Every 20 minutes from January to November: the last of them is at 23:40.
    let dense = Agenda::new(vec![line("main", Some("a"), "*/20 * * 1-11 *")]);
    let asked = ["2026-02-01T00:00:00Z"; 2];
    let found = open_target(DeferRule::OpenSlot, asked, &dense, &peaks(&[]), &[]);
    assert_eq!(found, Some(at("2026-11-30T23:55:00Z")));
}

#[test]
fn work_that_waits_for_the_end_of_time_has_no_slot() {
    let (job, group) = (JobId::new("a"), GroupId::new("main"));
    let peaks = peaks(&[]);
    let clearance = Clearance {
        min_gap: Duration::from_mins(15),
        peaks: &peaks,
        taken: &[],
    };
    for rule in [DeferRule::NextSlot, DeferRule::OwnSlot, DeferRule::OpenSlot] {
        for not_before in [DateTime::<Utc>::MAX_UTC, DateTime::<Utc>::MIN_UTC] {
            let carried = Carried {
                job: &job,
                group: &group,
                not_before,
            };
            assert_eq!(
                target(
                    rule,
                    carried,
                    DateTime::<Utc>::MAX_UTC,
                    &agenda(),
                    clearance
                ),
                None
            );
        }
    }
}

fn policy(max: u32) -> DeferPolicy {
    DeferPolicy {
        rule: DeferRule::NextSlot,
        max,
        expires_after: Duration::from_hours(24),
        on_exhausted: OnExhausted::Defer,
    }
}

#[test]
fn work_is_carried_up_to_its_maximum() {
    let fire_at = at("2026-12-01T02:00:00Z");
    for (carries, expected) in [
        (0, Carry::Again(1)),
        (2, Carry::Again(3)),
        (3, Carry::TooOften),
        (9, Carry::TooOften),
    ] {
        assert_eq!(
            carry(&policy(3), fire_at, carries, fire_at),
            expected,
            "{carries}"
        );
    }
    assert_eq!(carry(&policy(0), fire_at, 0, fire_at), Carry::TooOften);
}

#[test]
fn work_expires_strictly_after_its_time_but_not_before_its_first_slot() {
    let fire_at = at("2026-12-01T02:00:00Z");
    let day = TimeDelta::days(1);
    assert_eq!(
        carry(&policy(3), fire_at, 1, fire_at + day),
        Carry::Again(2)
    );
    assert_eq!(
        carry(
            &policy(3),
            fire_at,
            1,
            fire_at + day + TimeDelta::milliseconds(1)
        ),
        Carry::Expired
    );
    assert_eq!(
        carry(&policy(3), fire_at, 0, fire_at + day * 30),
        Carry::Again(1)
    );
    assert_eq!(
        carry(&policy(3), fire_at, 1, fire_at - day),
        Carry::Again(2)
    );
}
