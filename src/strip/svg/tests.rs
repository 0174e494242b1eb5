use super::super::fixture::{at, strip_of};
use super::*;

fn drawn(zone: &str, from: &str, jobs: &[(&str, &str)]) -> String {
    let fixture = strip_of(zone, jobs);
    picture(&fixture.over(at(from), 1))
}

#[test]
fn each_slot_says_its_job_time_and_longest_run() {
    let svg = drawn(
        "Asia/Tokyo",
        "2026-12-01T00:00:00Z",
        &[("digest", "0 2 * * *")],
    );
    assert!(
        svg.contains("<title>digest: Tue 2026-12-01 02:00 JST, up to 31m1s</title>"),
        "{svg}"
    );
    assert!(svg.contains("<title id=\"name\">Schedule, Tue 2026-12-01 in Asia/Tokyo"));
    assert!(svg.contains("main: 1 job, 1 slot. digest: 02:00 that day; up to 31m1s"));
}

#[test]
fn slots_that_would_cover_each_other_are_one_mark_with_a_number() {
    let jobs = [("a", "0 2 * * *"), ("b", "5 2 * * *")];
    let svg = drawn("UTC", "2026-12-01T00:00:00Z", &jobs);
    assert!(svg.contains(">2</text>"), "{svg}");
    assert!(
        svg.contains(
            "a: Tue 2026-12-01 02:00 UTC, up to 31m1s, closer than 15m to another slot\nb: "
        ),
        "{svg}"
    );
    assert!(svg.contains("class=\"many bad\"") && svg.contains(">!</text>"));
}

#[test]
fn dense_groups_make_a_bounded_picture() {
    let names: Vec<String> = (0..200).map(|number| format!("j{number:03}")).collect();
    let jobs: Vec<(&str, &str)> = names
        .iter()
        .map(|name| (name.as_str(), "* * * * *"))
        .collect();
    let svg = drawn("UTC", "2026-12-01T00:00:00Z", &jobs);
    assert_eq!(svg.matches("<title>").count(), 96);
    assert!(
        svg.contains(">9</text>") && svg.contains("and 2996 more"),
        "marks of 15 minutes hold 3,000 slots"
    );
    assert!(svg.contains("and 148 more jobs, drawn as *"));
    assert!(svg.len() < 500_000, "{}", svg.len());
}

#[test]
fn clock_change_is_told_and_its_hour_left_out() {
    let svg = drawn(
        "Europe/Berlin",
        "2027-03-28T12:00:00Z",
        &[("a", "0 5 * * *")],
    );
    assert!(svg.contains("Sun 2027-03-28: clocks skip 02:00 to 03:00."));
    assert!(svg.contains("<rect class=\"skipped\""));
    let svg = drawn(
        "Europe/Berlin",
        "2026-10-25T12:00:00Z",
        &[("a", "0 5 * * *")],
    );
    assert!(svg.contains("Sun 2026-10-25: 02:00 to 03:00 comes twice."));
}
