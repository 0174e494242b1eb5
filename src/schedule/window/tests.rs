//! Bounds, weekdays, clock changes.

use chrono::TimeDelta;

use super::*;
use crate::schedule::Zones;

const DAILY: [bool; 7] = [true; 7];
const WEEKDAYS: [bool; 7] = [true, true, true, true, true, false, false];

fn at(text: &str) -> DateTime<Utc> {
    text.parse().unwrap()
}

fn window(text: &str, days: [bool; 7]) -> PeakWindow {
    let minute = |clock: &str| {
        let (hours, minutes) = clock.split_once(':').unwrap();
        hours.parse::<u16>().unwrap() * 60 + minutes.parse::<u16>().unwrap()
    };
    let (start, end) = text.split_once('-').unwrap();
    PeakWindow {
        start: minute(start),
        end: minute(end),
        days,
    }
}

fn peaks(zone: &str, windows: &[PeakWindow]) -> PeakWindows {
    PeakWindows::new(Zones::bundled().get(zone).unwrap(), windows.to_vec())
}

fn tokyo() -> PeakWindows {
    peaks(
        "Asia/Tokyo",
        &[window("07:00-09:00", DAILY), window("18:00-23:00", DAILY)],
    )
}

#[test]
fn the_start_is_peak_and_the_end_is_not() {
    for (instant, peak) in [
        ("2026-11-30T21:59:59.999Z", false),
        ("2026-11-30T22:00:00Z", true),
        ("2026-11-30T23:59:59.999Z", true),
        ("2026-12-01T00:00:00Z", false),
        ("2026-12-01T09:00:00Z", true),
        ("2026-12-01T14:00:00Z", false),
    ] {
        assert_eq!(tokyo().is_peak(at(instant)), peak, "{instant}");
    }
    let evening = tokyo()
        .containing(at("2026-12-01T09:00:00Z"))
        .unwrap()
        .to_string();
    assert_eq!(evening, "18:00-23:00");
}

#[test]
fn a_window_shows_its_days_unless_it_has_all() {
    for (days, shown) in [
        ([1, 1, 1, 1, 1, 1, 1], "07:00-09:00"),
        ([1, 1, 1, 1, 1, 0, 0], "07:00-09:00 mon-fri"),
        ([0, 0, 0, 0, 0, 1, 1], "07:00-09:00 sat,sun"),
        ([1, 0, 1, 0, 1, 1, 1], "07:00-09:00 mon,wed,fri-sun"),
        ([0, 1, 0, 0, 0, 0, 0], "07:00-09:00 tue"),
        ([0, 0, 0, 0, 0, 0, 0], "07:00-09:00 never"),
    ] {
        let days = days.map(|day| day == 1);
        assert_eq!(window("07:00-09:00", days).to_string(), shown);
    }
}

#[test]
fn a_window_holds_on_its_days_in_its_own_zone() {
    let peaks = peaks("Asia/Tokyo", &[window("07:00-09:00", WEEKDAYS)]);
    // Sunday evening in UTC is Monday morning in Tokyo.
    assert!(peaks.is_peak(at("2026-12-06T22:30:00Z")));
    assert!(
        !peaks.is_peak(at("2026-12-04T22:30:00Z")),
        "Saturday in Tokyo"
    );
}

#[test]
fn next_open_is_the_instant_itself_or_the_end_of_the_window() {
    let outside = at("2026-12-01T08:59:59.5Z");
    assert_eq!(tokyo().next_open(outside), Some(outside));
    assert_eq!(
        tokyo().next_open(at("2026-12-01T09:30:12.5Z")),
        Some(at("2026-12-01T14:00:00Z"))
    );
}

#[test]
fn windows_that_touch_open_at_the_end_of_the_last() {
    let over_midnight = [window("22:00-24:00", DAILY), window("00:00-02:00", DAILY)];
    let peaks = peaks("UTC", &over_midnight);
    assert_eq!(
        peaks.next_open(at("2026-12-01T22:30:00Z")),
        Some(at("2026-12-02T02:00:00Z"))
    );
    assert_eq!(
        peaks.next_start(at("2026-12-01T22:30:00Z")),
        Some(at("2026-12-02T00:00:00Z"))
    );
    assert_eq!(over_midnight[0].to_string(), "22:00-24:00");
}

#[test]
fn a_week_without_an_open_minute_has_no_next_open() {
    let always = peaks("Europe/London", &[window("00:00-24:00", DAILY)]);
    assert_eq!(always.next_open(at("2027-03-26T00:00:00Z")), None);
    // Six closed days and one open minute on the seventh.
    let mut closed = DAILY;
    closed[0] = false;
    let nearly = [window("00:00-24:00", closed), window("00:01-24:00", DAILY)];
    let opening = peaks("UTC", &nearly).next_open(at("2026-11-30T00:01:00Z"));
    assert_eq!(opening, Some(at("2026-12-07T00:00:00Z")));
}

#[test]
fn next_start_is_strictly_after_and_none_without_windows() {
    assert_eq!(
        tokyo().next_start(at("2026-12-01T08:59:59.9Z")),
        Some(at("2026-12-01T09:00:00Z"))
    );
    assert_eq!(
        tokyo().next_start(at("2026-12-01T09:00:00Z")),
        Some(at("2026-12-01T22:00:00Z"))
    );
    assert_eq!(
        peaks("UTC", &[]).next_start(at("2026-12-01T09:00:00Z")),
        None
    );
    assert_eq!(
        peaks("UTC", &[window("07:00-09:00", [false; 7])]).next_start(at("2026-12-01T09:00:00Z")),
        None
    );
    let mut mondays = [false; 7];
    mondays[0] = true;
    let weekly = peaks("UTC", &[window("07:00-09:00", mondays)]);
    assert_eq!(
        weekly.next_start(at("2026-11-30T07:00:00Z")),
        Some(at("2026-12-07T07:00:00Z"))
    );
}

#[test]
fn a_window_in_a_skipped_hour_does_not_happen_and_one_around_it_is_shorter() {
    let inside = peaks("Europe/London", &[window("01:00-02:00", DAILY)]);
    assert_eq!(
        inside.next_start(at("2027-03-27T02:00:00Z")),
        Some(at("2027-03-29T00:00:00Z"))
    );
    let around = peaks("Europe/London", &[window("00:30-02:30", DAILY)]);
    assert_eq!(
        around.next_open(at("2027-03-28T00:30:00Z")),
        Some(at("2027-03-28T01:30:00Z"))
    );
}

#[test]
fn a_clock_change_into_a_window_counts_as_its_start() {
    let half = peaks("Europe/London", &[window("01:30-03:00", DAILY)]);
    assert_eq!(
        half.next_start(at("2027-03-28T00:00:00Z")),
        Some(at("2027-03-28T01:00:00Z"))
    );
}

#[test]
fn a_window_in_a_repeated_hour_happens_twice() {
    let peaks = peaks("Europe/London", &[window("01:15-01:45", DAILY)]);
    let first = at("2027-10-31T00:15:00Z");
    assert_eq!(peaks.next_open(first), Some(at("2027-10-31T00:45:00Z")));
    assert_eq!(peaks.next_start(first), Some(first + TimeDelta::hours(1)));
    assert_eq!(
        peaks.next_open(first + TimeDelta::hours(1)),
        Some(at("2027-10-31T01:45:00Z"))
    );
}
