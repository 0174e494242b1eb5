use super::*;

fn instant(text: &str) -> DateTime<Utc> {
    DateTime::parse_from_rfc3339(text).unwrap().to_utc()
}

fn now() -> DateTime<Utc> {
    instant("1994-11-06T08:00:00Z")
}

fn after(text: &str) -> Option<Duration> {
    match read_retry_after(text, now()) {
        Some(Hint::After(span)) => Some(span),
        Some(Hint::At(at)) => panic!("read as a date: {at}"),
        None => None,
    }
}

#[test]
fn digits_are_seconds() {
    assert_eq!(after("0"), Some(Duration::ZERO));
    assert_eq!(after("007"), Some(Duration::from_secs(7)));
    assert_eq!(after("\t 120 \r\n"), Some(Duration::from_mins(2)));
    assert_eq!(after("604800"), Some(Duration::from_hours(168)));
}

#[test]
fn digits_with_a_fraction_are_seconds() {
    assert_eq!(after("1.5"), Some(Duration::from_millis(1500)));
    assert_eq!(after("0.0"), Some(Duration::ZERO));
    assert_eq!(
        after("2.000000001"),
        Some(Duration::from_nanos(2_000_000_001))
    );
}

#[test]
fn a_fraction_finer_than_a_nanosecond_is_rounded_up() {
    assert_eq!(after("0.00000000001"), Some(Duration::from_nanos(1)));
    assert_eq!(after("0.9999999999"), Some(Duration::from_secs(1)));
    assert_eq!(after("0.1230000000"), Some(Duration::from_millis(123)));
}

#[test]
fn illegal_texts_were_not_given() {
    let illegal = [
        "",
        " ",
        "-1",
        "-0.5",
        "+5",
        "1e3",
        "NaN",
        "nan",
        "inf",
        "infinity",
        "0x10",
        "5s",
        "5 s",
        "5, 5",
        ".5",
        "5.",
        ".",
        "1.2.3",
        "1,5",
        "1_000",
        "\"5\"",
        "soon",
        "٣",
        "1994-11-06T09:00:00Z",
        "null",
    ];
    for text in illegal {
        assert_eq!(read_retry_after(text, now()), None, "{text:?}");
    }
}

#[test]
fn a_very_large_value_is_a_very_long_wait() {
    for text in [
        "99999999999999999999999999",
        "18446744073709551615",
        "3155760001",
        "99999999999.5",
    ] {
        assert_eq!(after(text), Some(MAX_HINT), "{text}");
    }
    assert_eq!(after("8640000"), Some(Duration::from_hours(2400)));
}

#[test]
fn milliseconds_go_before_seconds_if_they_can_be_read() {
    let read = |ms, seconds| read(ms, seconds, now());
    assert_eq!(
        read(Some("1500"), Some("9")),
        Some(Hint::After(Duration::from_millis(1500)))
    );
    assert_eq!(
        read(Some("0.25"), None),
        Some(Hint::After(Duration::from_micros(250)))
    );
    assert_eq!(
        read(Some("-3"), Some("9")),
        Some(Hint::After(Duration::from_secs(9)))
    );
    // A zero said "at once" in spite of the nine seconds beside it, and the retry failed.
    for zero in ["0", "0.0", "000"] {
        assert_eq!(
            read(Some(zero), Some("9")),
            Some(Hint::After(Duration::from_secs(9))),
            "{zero}"
        );
        assert_eq!(read(Some(zero), None), Some(Hint::After(Duration::ZERO)));
        assert_eq!(
            read(Some(zero), Some("soon")),
            Some(Hint::After(Duration::ZERO))
        );
    }
    assert_eq!(read(None, None), None);
}

#[test]
fn the_three_forms_of_a_date_name_one_instant() {
    let hint = Some(Hint::At(instant("1994-11-06T08:49:37Z")));
    for text in [
        "Sun, 06 Nov 1994 08:49:37 GMT",
        "Sunday, 06-Nov-94 08:49:37 GMT",
        "Sun Nov  6 08:49:37 1994",
        "  Sun, 06 Nov 1994 08:49:37 GMT  ",
        // The weekday is redundant; a wrong one does not make the instant unclear.
        "Mon, 06 Nov 1994 08:49:37 GMT",
    ] {
        assert_eq!(read_retry_after(text, now()), hint, "{text}");
    }
}

#[test]
fn a_past_date_was_not_given_and_now_is_not_past() {
    assert_eq!(
        read_retry_after("Sun, 06 Nov 1994 07:59:59 GMT", now()),
        None
    );
    assert_eq!(
        read_retry_after("Sun, 06 Nov 1994 08:00:00 GMT", now()),
        Some(Hint::At(now()))
    );
}

#[test]
fn broken_dates_were_not_given() {
    for text in [
        "Sun, 31 Nov 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 24:00:00 GMT",
        "Sun, 06 Nov 1994 08:60:00 GMT",
        "Sun, 06 Nov 1994 08:49:61 GMT",
        "Sun, 06 Nov 1994 08:49 GMT",
        "Sun, 06 Nov 1994 08:49:37:00 GMT",
        "Sun, 06 Nov 1994 08:49:37",
        "Sun, 06 Nov 1994 08:49:37 PST",
        "Sun, 06 Nov 1994 08:49:37 GMT more",
        "Sun, 06 Nov 94 08:49:37 GMT",
        "Sun, 06 Brumaire 1994 08:49:37 GMT",
        "Sun, 006 Nov 1994 08:49:37 GMT",
        "Sunday, 06-Nov-1994 08:49:37 GMT",
        "Sunday, 06-Nov-94-1 08:49:37 GMT",
        "Someday, 06 Nov 1994 08:49:37 GMT",
        "Sun Nov 6 1994 08:49:37",
        "06 Nov 1994 08:49:37 GMT",
    ] {
        assert_eq!(read_retry_after(text, now()), None, "{text}");
    }
}

#[test]
fn a_leap_second_is_legal() {
    let hint = read_retry_after(
        "Sat, 31 Dec 2016 23:59:60 GMT",
        instant("2016-12-31T00:00:00Z"),
    );
    assert_eq!(hint, Some(Hint::At(instant("2016-12-31T23:59:59Z"))));
}

#[test]
fn a_two_digit_year_lies_within_fifty_years() {
    let read = |text, now| http_date(text, instant(now));
    let now = "2026-11-30T00:00:00Z";
    assert_eq!(
        read("Tuesday, 01-Dec-26 00:00:00 GMT", now),
        Some(instant("2026-12-01T00:00:00Z"))
    );
    assert_eq!(
        read("Monday, 30-Nov-76 00:00:00 GMT", now),
        Some(instant("2076-11-30T00:00:00Z"))
    );
    assert_eq!(
        read("Monday, 30-Nov-76 00:00:01 GMT", now),
        Some(instant("1976-11-30T00:00:01Z"))
    );
    assert_eq!(
        read("Friday, 01-Jan-00 00:00:00 GMT", "2099-12-31T23:00:00Z"),
        Some(instant("2100-01-01T00:00:00Z"))
    );
}

#[test]
fn what_remains_of_a_hint_shrinks_with_the_clock() {
    let at = Hint::At(instant("1994-11-06T08:00:10Z"));
    assert_eq!(remaining(at, now()), Some(Duration::from_secs(10)));
    assert_eq!(remaining(at, instant("1994-11-06T08:00:11Z")), None);
    assert_eq!(remaining(Hint::After(Duration::MAX), now()), Some(MAX_HINT));
}
