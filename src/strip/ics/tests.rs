use super::super::fixture::{at, strip_of};
use super::*;

#[test]
fn durations_are_written_as_the_standard_wants_them() {
    let text = |seconds| duration(Duration::from_secs(seconds));
    assert_eq!(text(60), "PT1M");
    assert_eq!(text(1_861), "PT31M1S");
    assert_eq!(text(3_600), "PT1H");
    assert_eq!(text(5_400), "PT1H30M");
    assert_eq!(text(3_605), "PT1H0M5S");
    assert_eq!(text(90_000), "PT25H");
    assert_eq!(duration(Duration::from_millis(60_001)), "PT1M1S");
}

#[test]
fn lines_are_folded_between_characters_and_never_longer_than_75_octets() {
    let folded = |line: &str| {
        let mut text = String::new();
        put(&mut text, line);
        text
    };
    assert_eq!(folded(&"a".repeat(75)), format!("{}\r\n", "a".repeat(75)));
    assert_eq!(
        folded(&"a".repeat(76)),
        format!("{}\r\n a\r\n", "a".repeat(75))
    );
    // 25 characters of three octets are 75; after a fold its blank leaves room for 24 of them.
    let wide = folded(&"\u{65e5}".repeat(50));
    let lengths: Vec<usize> = wide.split("\r\n").map(str::len).collect();
    assert_eq!(lengths, [75, 73, 4, 0]);
}

#[test]
fn separators_are_escaped_and_control_characters_are_not_there() {
    assert_eq!(escaped("a,b;c\\d\ne\u{7}f"), "a\\,b\\;c\\\\d\\ne f");
}

#[test]
fn an_event_of_a_pickup_slot_can_be_seen_though_it_takes_no_time() {
    let fixture = strip_of("Asia/Tokyo", &[("pickup:main", "30 5 * * *")]);
    let text = calendar(&fixture.over(at("2026-12-01T00:00:00Z"), 1)).unwrap();
    assert!(text.contains("DURATION:PT1M\r\n"), "{text}");
    assert!(text.contains("SUMMARY:pickup for main\r\n"), "{text}");
    assert!(
        text.contains("UID:pickup:main-20261130T203000Z@offpeak\r\n"),
        "{text}"
    );
}

#[test]
fn more_slots_than_a_calendar_can_hold_are_refused() {
    let fixture = strip_of("UTC", &[("a", "* * * * *")]);
    let start = at("2026-12-01T00:00:00Z");
    let events = |days| {
        calendar(&fixture.over(start, days)).map(|text| text.matches("BEGIN:VEVENT").count())
    };
    assert_eq!(events(34), Ok(48_960));
    assert_eq!(events(35), Err(TooManySlots));
    assert_eq!(
        TooManySlots.to_string(),
        "the days hold more than 50000 slots, too many for a calendar"
    );
}
