//! Bounds, clock changes, sparse and impossible dates.

use super::*;
use crate::schedule::Zones;

fn at(text: &str) -> DateTime<Utc> {
    text.parse().unwrap()
}

fn timetable(zone: &str, exprs: &[&str]) -> Timetable {
    let exprs = exprs
        .iter()
        .map(|text| CronExpr::parse(text).unwrap())
        .collect();
    Timetable::new(exprs, Zones::bundled().get(zone).unwrap())
}

fn fires(zone: &str, expr: &str, after: &str, until: &str) -> Vec<String> {
    let found = timetable(zone, &[expr]).between(at(after), at(until));
    found
        .iter()
        .map(|at| at.format("%m-%dT%H:%M").to_string())
        .collect()
}

#[test]
fn next_is_strictly_after() {
    let daily = timetable("Asia/Tokyo", &["0 2 * * *"]);
    assert_eq!(
        daily.next_after(at("2026-12-01T16:59:59.999Z")),
        Some(at("2026-12-01T17:00:00Z"))
    );
    assert_eq!(
        daily.next_after(at("2026-12-01T17:00:00Z")),
        Some(at("2026-12-02T17:00:00Z"))
    );
    assert_eq!(
        daily.next_after(at("2026-12-01T17:00:00.001Z")),
        Some(at("2026-12-02T17:00:00Z"))
    );
}

#[test]
fn between_leaves_out_its_start_and_holds_its_end() {
    let daily = timetable("UTC", &["0 2 * * *"]);
    let (first, third) = (at("2026-12-01T02:00:00Z"), at("2026-12-03T02:00:00Z"));
    assert_eq!(
        daily.between(first, third),
        [at("2026-12-02T02:00:00Z"), third]
    );
    assert!(daily.between(third, first).is_empty());
    assert!(daily.between(first, first).is_empty());
}

#[test]
fn a_fixed_time_in_a_skipped_hour_fires_once_at_its_end() {
    let (after, until) = ("2027-03-14T05:00:00Z", "2027-03-14T09:00:00Z");
    assert_eq!(
        fires("America/New_York", "30 2 * * *", after, until),
        ["03-14T07:00"]
    );
    assert_eq!(
        fires("America/New_York", "0,30 2 * * *", after, until),
        ["03-14T07:00"]
    );
    // Its neighbour at the end of the gap is the same slot.
    assert_eq!(
        fires("America/New_York", "30 2,3 * * *", after, until),
        ["03-14T07:00", "03-14T07:30"]
    );
    assert_eq!(
        fires("America/New_York", "0 2,3 * * *", after, until),
        ["03-14T07:00"]
    );
}

#[test]
fn a_fixed_time_in_a_repeated_hour_fires_the_first_time_only() {
    let (after, until) = ("2026-11-01T04:00:00Z", "2026-11-01T08:00:00Z");
    assert_eq!(
        fires("America/New_York", "0,30 1 * * *", after, until),
        ["11-01T05:00", "11-01T05:30"]
    );
    let nightly = timetable("America/New_York", &["30 1 * * *"]);
    for asked in [
        "2026-11-01T05:30:00Z",
        "2026-11-01T06:10:00Z",
        "2026-11-01T06:30:00Z",
    ] {
        assert_eq!(
            nightly.next_after(at(asked)),
            Some(at("2026-11-02T06:30:00Z")),
            "{asked}"
        );
    }
}

#[test]
fn an_even_expression_keeps_real_spacing_through_clock_changes() {
    let spring = fires(
        "America/New_York",
        "*/30 * * * *",
        "2027-03-14T05:59:00Z",
        "2027-03-14T08:00:00Z",
    );
    assert_eq!(
        spring,
        [
            "03-14T06:00",
            "03-14T06:30",
            "03-14T07:00",
            "03-14T07:30",
            "03-14T08:00"
        ]
    );
    let autumn = fires(
        "America/New_York",
        "0 * * * *",
        "2026-11-01T04:00:00Z",
        "2026-11-01T08:00:00Z",
    );
    assert_eq!(
        autumn,
        ["11-01T05:00", "11-01T06:00", "11-01T07:00", "11-01T08:00"]
    );
}

#[test]
fn an_even_expression_is_silent_in_its_skipped_hour_and_doubled_in_its_repeated_one() {
    let spring = fires(
        "America/New_York",
        "*/30 2 * * *",
        "2027-03-13T08:00:00Z",
        "2027-03-15T06:00:00Z",
    );
    assert_eq!(spring, ["03-15T06:00"]);
    let autumn = fires(
        "America/New_York",
        "*/30 1 * * *",
        "2026-11-01T04:00:00Z",
        "2026-11-01T08:00:00Z",
    );
    assert_eq!(
        autumn,
        ["11-01T05:00", "11-01T05:30", "11-01T06:00", "11-01T06:30"]
    );
}

#[test]
fn a_whole_skipped_day_makes_one_slot() {
    let apia = fires(
        "Pacific/Apia",
        "0 3,9 * * *",
        "2011-12-29T20:00:00Z",
        "2011-12-31T20:00:00Z",
    );
    assert_eq!(
        apia,
        [
            "12-30T10:00",
            "12-30T13:00",
            "12-30T19:00",
            "12-31T13:00",
            "12-31T19:00"
        ]
    );
}

#[test]
fn a_fold_over_midnight_fires_each_date_once() {
    // Chile's clocks go from midnight back to 23:00 of the day that just ended.
    let evening = fires(
        "America/Santiago",
        "30 23 * * *",
        "2027-04-03T12:00:00Z",
        "2027-04-05T12:00:00Z",
    );
    assert_eq!(evening, ["04-04T02:30", "04-05T03:30"]);
    let midnight = fires(
        "America/Santiago",
        "0 0 * * *",
        "2027-04-03T12:00:00Z",
        "2027-04-05T12:00:00Z",
    );
    assert_eq!(midnight, ["04-04T04:00", "04-05T04:00"]);
}

#[test]
fn two_expressions_at_one_instant_are_one_slot() {
    let both = timetable("UTC", &["0 */4 * * *", "0 0 * * *"]);
    let day = both.between(at("2026-11-30T20:00:00Z"), at("2026-12-01T08:00:00Z"));
    assert_eq!(
        day,
        [
            at("2026-12-01T00:00:00Z"),
            at("2026-12-01T04:00:00Z"),
            at("2026-12-01T08:00:00Z")
        ]
    );
    assert_eq!(
        both.next_after(at("2026-12-01T00:00:00Z")),
        Some(at("2026-12-01T04:00:00Z"))
    );
}

#[test]
fn sparse_dates_are_found_however_far_and_impossible_ones_are_none() {
    let now = at("2026-11-30T00:00:00Z");
    let next = |expr| timetable("UTC", &[expr]).next_after(now);
    assert_eq!(next("0 3 29 2 *"), Some(at("2028-02-29T03:00:00Z")));
    // The next 29 February on a Monday.
    assert_eq!(next("0 3 * 2 1#5"), Some(at("2044-02-29T03:00:00Z")));
    assert_eq!(next("0 0 30 2 *"), None);
    assert_eq!(next("*/5 * 31 4 *"), None);
}

#[test]
fn last_is_the_end_of_between() {
    let table = timetable("Europe/London", &["0 3 29 2 *", "*/20 4 1 1 *"]);
    let (after, until) = (at("2026-11-30T00:00:00Z"), at("2031-06-01T00:00:00Z"));
    assert_eq!(
        table.last_between(after, until),
        Some(at("2031-01-01T04:40:00Z"))
    );
    assert_eq!(
        table.last_between(after, until),
        table.between(after, until).last().copied()
    );
    assert_eq!(table.last_between(after, at("2027-01-01T03:59:59Z")), None);
    assert_eq!(table.last_between(until, after), None);
    let exact = at("2028-02-29T03:00:00Z");
    assert_eq!(table.last_between(after, exact), Some(exact));
    assert_eq!(
        table.last_between(exact, exact + chrono::TimeDelta::days(1)),
        None
    );
}

#[test]
fn the_ends_of_time_do_not_panic() {
    let daily = timetable("Asia/Tokyo", &["0 2 * * *", "*/5 * * * *"]);
    assert_eq!(daily.next_after(DateTime::<Utc>::MAX_UTC), None);
    assert!(daily.next_after(DateTime::<Utc>::MIN_UTC).is_some());
}

#[test]
fn a_time_that_passed_before_a_fold_over_midnight_is_not_lost() {
    // Newfoundland's clocks went from 00:01 back to 23:01 of the day before: midnight has passed when the clock shows
    // 23:30 again, though its date seems to lie ahead.
    let (after, until) = ("2010-11-07T02:00:00Z", "2010-11-07T03:00:00Z");
    assert_eq!(
        fires("America/St_Johns", "0 0 * * *", after, until),
        ["11-07T02:30"]
    );
}

#[test]
fn last_but_some_leaves_exactly_those_behind_it_in_sparse_and_in_dense_spans() {
    let zone = Zones::bundled().get("Europe/Berlin").unwrap();
    let (after, until) = (
        "1970-01-01T00:00:00Z".parse().unwrap(),
        "2026-12-01T00:00:30Z".parse().unwrap(),
    );
    for cron in ["* * * * *", "30 4 * * *", "0 5 1 1 *"] {
        let timetable = Timetable::new(vec![CronExpr::parse(cron).unwrap()], zone.clone());
        for most in [1, 20] {
            let from = timetable.last_but(most, after, until).unwrap();
            assert_eq!(timetable.between(from, until).len(), most, "{cron}");
        }
    }
    let yearly = Timetable::new(vec![CronExpr::parse("0 5 1 1 *").unwrap()], zone);
    assert_eq!(yearly.last_but(100, after, until), None);
}
