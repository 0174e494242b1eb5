//! Tables of texts; day sets against croner's own.

use chrono::{Datelike as _, Days, NaiveDate};
use croner::Weekday;
use croner::parser::{CronParser, Seconds, Year};

use super::{CronError, CronExpr, Spacing};

fn expr(text: &str) -> CronExpr {
    CronExpr::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn date(text: &str) -> NaiveDate {
    text.parse().unwrap()
}

fn refusal(text: &str) -> CronError {
    CronExpr::parse(text).expect_err(text)
}

#[test]
fn times_are_ascending_minutes_of_the_day() {
    for (text, times) in [
        ("0 2 * * *", vec![120]),
        ("45,0 4,2 * * *", vec![120, 165, 240, 285]),
        ("*/30 22-23 * * *", vec![1320, 1350, 1380, 1410]),
        ("5-15/5 0 * * *", vec![5, 10, 15]),
        ("*/60 1 * * *", vec![60]),
        ("00 05 * * *", vec![300]),
    ] {
        assert_eq!(expr(text).times(), times, "{text}");
    }
    assert_eq!(expr("* * * * *").times(), (0..1440).collect::<Vec<u16>>());
}

#[test]
fn names_count_in_any_case_and_sunday_has_two_numbers() {
    for (text, same) in [
        ("0 0 * JAN-mar Mon", "0 0 * 1-3 1"),
        ("0 0 * * 0", "0 0 * * 7"),
        ("0 0 * * sat-SUN", "0 0 * * 6,0"),
        ("0 0 * * fri-sun", "0 0 * * 5-7"),
        ("0 0 * * sun-tue", "0 0 * * 0-2"),
        ("0 0 * * mon-fri", "0 0 ? * 1-5"),
        ("0 0 * * friL", "0 0 * * 5l"),
        ("0 0 * * sun#2", "0 0 * * 7#2"),
        ("0 0 l * *", "0 0 L * *"),
        ("0 0 15w * *", "0 0 15W * *"),
    ] {
        let same = same.replace('?', "*");
        assert_eq!(expr(text).days, expr(&same).days, "{text}");
    }
}

#[test]
fn nicknames_stand_for_their_fields() {
    for (nickname, fields, spacing) in [
        ("@yearly", "0 0 1 1 *", Spacing::Fixed),
        ("@annually", "0 0 1 1 *", Spacing::Fixed),
        ("@monthly", "0 0 1 * *", Spacing::Fixed),
        ("@weekly", "0 0 * * 0", Spacing::Fixed),
        ("@daily", "0 0 * * *", Spacing::Fixed),
        (" @Midnight ", "0 0 * * *", Spacing::Fixed),
        ("@HOURLY", "0 * * * *", Spacing::Even),
    ] {
        let (short, long) = (expr(nickname), expr(fields));
        assert_eq!(short.text(), nickname);
        assert_eq!(
            (short.times(), short.days, short.spacing()),
            (long.times(), long.days, spacing),
            "{nickname}"
        );
    }
}

#[test]
fn spacing_is_even_if_minute_or_hour_starts_with_a_star() {
    for (text, spacing) in [
        ("*/30 2 * * *", Spacing::Even),
        ("0 */6 * * *", Spacing::Even),
        ("0 * * * *", Spacing::Even),
        ("0,30 2 * * *", Spacing::Fixed),
        ("0-59 0-23 * * *", Spacing::Fixed),
        ("0 2 */2 */2 */2", Spacing::Fixed),
    ] {
        assert_eq!(expr(text).spacing(), spacing, "{text}");
    }
}

#[test]
fn two_restricted_day_fields_match_either_and_a_star_makes_it_both() {
    // 2026-12-01 is a Tuesday.
    let either = expr("0 0 1 * mon");
    assert!(either.matches_day(date("2026-12-01")));
    assert!(either.matches_day(date("2026-12-07")));
    assert!(!either.matches_day(date("2026-12-08")));
    let both = expr("0 0 */2 * mon");
    assert!(both.matches_day(date("2026-12-07")));
    assert!(!both.matches_day(date("2026-12-14")), "an even date");
    assert!(!both.matches_day(date("2026-12-01")), "a Tuesday");
}

#[test]
fn days_agree_with_croner_for_28_years() {
    let either = CronParser::builder()
        .seconds(Seconds::Disallowed)
        .year(Year::Disallowed)
        .build();
    let both = CronParser::builder()
        .seconds(Seconds::Disallowed)
        .year(Year::Disallowed)
        .dom_and_dow(true)
        .build();
    for days in [
        "* * *",
        "1 * *",
        "31 * *",
        "29 2 *",
        "30 2 *",
        "*/2 * *",
        "L * *",
        "LW * *",
        "1W * *",
        "31W * *",
        "15W 1-6 *",
        "1,15,L * *",
        "28-31 2 *",
        "* * mon",
        "* * 1-5",
        "* * 0",
        "* * 7",
        "* * 1#1",
        "* * 1#5",
        "* * 0#5",
        "* * 5L",
        "* * 7L",
        "* * 1-5#2",
        "13 * fri",
        "L * 5L",
        "1W * 1#1",
        "1 jan mon",
        "*/10 * 1",
        "1-7 * */2",
        "* */3 1#3,5L",
    ] {
        let text = format!("0 0 {days}");
        let ours = expr(&text);
        let star = days.split(' ').collect::<Vec<_>>();
        let parser = if star[0].starts_with('*') || star[2].starts_with('*') {
            &both
        } else {
            &either
        };
        let theirs = parser.parse(&text).unwrap().pattern;
        let mut day = date("2026-11-30");
        while day < date("2055-01-01") {
            let weekday = Weekday::from_days_from_sunday(day.weekday().num_days_from_sunday());
            let expected = theirs.month_match(day.month()).unwrap()
                && theirs
                    .day_match(day.year(), day.month(), day.day(), weekday)
                    .unwrap();
            assert_eq!(ours.matches_day(day), expected, "{text} on {day}");
            day = day + Days::new(1);
        }
    }
}

#[test]
fn last_day_and_last_working_day_may_stand_together() {
    // January 2027 ends on a Sunday.
    let both = expr("0 0 L,LW 1 *");
    assert!(both.matches_day(date("2027-01-31")));
    assert!(both.matches_day(date("2027-01-29")));
    assert!(!both.matches_day(date("2027-01-30")));
}

#[test]
fn next_day_is_the_first_match_and_none_only_if_no_date_ever_matches() {
    for (text, from, next) in [
        ("0 0 * * *", "2026-12-01", Some("2026-12-01")),
        ("0 0 29 2 *", "2026-12-01", Some("2028-02-29")),
        ("0 0 29 2 *", "2028-02-29", Some("2028-02-29")),
        ("0 0 29 2 *", "2096-03-01", Some("2104-02-29")),
        ("0 0 * 2 1#5", "2026-12-01", Some("2044-02-29")),
        ("0 0 31 12 *", "2026-12-31", Some("2026-12-31")),
        ("0 0 1 1 *", "2026-12-31", Some("2027-01-01")),
        ("0 0 30 2 *", "2026-12-01", None),
        ("0 0 31 4,6,9,11 *", "2026-12-01", None),
    ] {
        assert_eq!(
            expr(text).next_day(date(from)),
            next.map(date),
            "{text} from {from}"
        );
    }
    assert_eq!(
        expr("0 0 * * *").next_day(NaiveDate::MAX),
        Some(NaiveDate::MAX)
    );
}

#[test]
fn equal_day_keys_mean_equal_days() {
    let texts = [
        "* * *", "1-31 * *", "* 1-12 *", "* * 0-6", "* * 1-7", "1 * 0-7", "1 * *", "1 1 *",
        "1 * 1", "*/2 * 1", "* * 1", "1,2 * *", "1-2 * *", "L * *", "LW * *", "1W * *", "* * 1#1",
        "* * 1#2", "* * 1L", "1W * 1L", "* 2 *", "15 * */2",
    ];
    let exprs: Vec<CronExpr> = texts
        .iter()
        .map(|days| expr(&format!("0 0 {days}")))
        .collect();
    for a in &exprs {
        for b in &exprs {
            if a.day_key() == b.day_key() {
                assert_eq!(a.days, b.days, "{} and {}", a.text(), b.text());
            }
        }
    }
    let key = |days: &str| expr(&format!("0 0 {days}")).day_key().to_owned();
    assert_eq!(key("* * *"), "*");
    for same in ["1-31 * *", "* 1-12 *", "* * 0-6", "1 * 0-7"] {
        assert_eq!(key(same), "*", "{same}");
    }
    assert_eq!(key("1,2 * *"), key("1-2 * *"));
    assert_eq!(key("* * mon-fri"), key("* * 1,2,3,4,5"));
}

/// Text, place, message.
const MISTAKES: [(&str, &str, &str); 29] = [
    ("0 27 * * *", "27", "hour `27` is outside 0-23"),
    ("60 2 * * *", "60", "minute `60` is outside 0-59"),
    ("0 2 0 * *", "0", "day of month `0` is outside 1-31"),
    ("0 2 * 13 *", "13", "month `13` is outside 1-12"),
    ("0 2 * * 8", "8", "day of week `8` is outside 0-7"),
    ("0 1-24 * * *", "24", "hour `24` is outside 0-23"),
    (
        "0 99999999 * * *",
        "99999999",
        "hour `99999999` is outside 0-23",
    ),
    (
        "1,2,,3 2 * * *",
        ",",
        "minute `1,2,,3` has an empty item in its list",
    ),
    (
        ",3 2 * * *",
        ",",
        "minute `,3` has an empty item in its list",
    ),
    (
        "*/90 * * * *",
        "90",
        "minute step `90` is longer than the field, 0-59",
    ),
    (
        "0 */25 * * *",
        "25",
        "hour step `25` is longer than the field, 0-23",
    ),
    ("*/0 * * * *", "0", "minute step `0` is zero"),
    ("*/x * * * *", "x", "minute step `x` is not a number"),
    ("5/10 * * * *", "5", "minute `5` has a step but no end"),
    (
        "/10 * * * *",
        "",
        "minute `` lacks the part before its step",
    ),
    (
        "0 22-2 * * *",
        "22-2",
        "hour `22-2` is a range that runs backwards",
    ),
    (
        "0 2- * * *",
        "2-",
        "hour `2-` is a range with an end missing",
    ),
    (
        "0 *,5 * * *",
        "*",
        "hour `*` stands in a list, but it covers every value",
    ),
    ("+5 2 * * *", "+5", "minute `+5` is not a number in 0-59"),
    ("mon 2 * * *", "mon", "minute `mon` is not a number in 0-59"),
    (
        "0 2 * mon *",
        "mon",
        "month `mon` is neither in 1-12 nor a name from jan to dec",
    ),
    (
        "0 2 * * monday",
        "monday",
        "day of week `monday` is not a name",
    ),
    ("0 2 ? * *", "?", "day of month `?` is not cron's"),
    (
        "0 2 * * L",
        "L",
        "day of week `L` does not say which weekday",
    ),
    (
        "0 2 * * 1#6",
        "6",
        "`#6` names no week of a month: expected 1 to 5",
    ),
    ("0 2 32W * *", "32", "day of month `32` is outside 1-31"),
    ("0 2L * * *", "2L", "hour `2L` is not a number in 0-23"),
    (
        "0 2\u{a0}* * * 1",
        "2\u{a0}*",
        "hour `2\u{a0}*` is not a number in 0-23",
    ),
    ("0 é * * *", "é", "hour `é` is not a number in 0-23"),
];

#[test]
fn a_mistake_is_named_with_its_field_and_place() {
    for (text, place, message) in MISTAKES {
        let error = refusal(text);
        assert_eq!(error.to_string(), message, "{text}");
        assert_eq!(&text[error.span.clone()], place, "{text}");
    }
}

#[test]
fn the_place_is_that_of_the_item_and_not_of_an_equal_one() {
    let text = "0 2 27 * 27";
    assert_eq!(refusal(text).span, 9..11);
    assert_eq!(refusal(" \t0   2,3,27 * * *").span, 10..12);
}

/// Text, help.
const WAYS_OUT: &[(&str, &str)] = &[
    ("0 22-2 * * *", "write `22-23,0-2`"),
    ("0 23-0 * * *", "write `23,0`"),
    ("0 0 * * fri-mon", "write `5-6,0-1`"),
    ("0 0 * * 5-0", "write `5-7`"),
    ("0 0 * * 7-2", "write `0-2`"),
    ("5/10 * * * *", "write `5-59/10`, or `5` alone"),
    ("/10 * * * *", "write `*/10`"),
    ("0 2 * * tuesday", "names have three letters: write `tue`"),
    ("0 *,5 * * *", "write `*` alone"),
    ("0,,30 * * * *", "remove the extra comma"),
    (
        "0 24 * * *",
        "hours run from 0 to 23, and 0 is midnight: write `0` for 24 and `1` for 25",
    ),
    ("0 27 * * *", "hours run from 0, which is midnight, to 23"),
    (
        "60 5 * * *",
        "minutes run from 0 to 59: write `0` and the hour after",
    ),
    (
        "75 5 * * *",
        "minutes run from 0 to 59; hours stand in the second field",
    ),
    (
        "0 5 32 * *",
        "days run from 1 to 31; `L` is the last of the month, whatever its length",
    ),
    ("0 5 * 0 *", "months run from 1 to 12, or from jan to dec"),
    (
        "0 5 * * 8",
        "days run from 0 to 7, or from sun to sat; 0 and 7 are Sunday",
    ),
    ("0 5 * * mo", "names have three letters: write `mon`"),
    ("0 5 * * wen", "names have three letters: write `wed`"),
    ("0 5 * juni *", "names have three letters: write `jun`"),
    ("0 9- * * *", "write both ends, such as `0-23`"),
    ("*/x 5 * * *", "write a number from 1 to 60, such as `*/5`"),
    (
        "0 5 * * 1#6",
        "write the week's number, such as `fri#2` for the second Friday, or `friL` for the last",
    ),
    (
        "0 5 L-3 * *",
        "`L` stands alone or in a list: days counted from the end are not supported",
    ),
    (
        "L 5 * * *",
        "`L` and `W` belong to the days: `0 5 L * *` is the last of the month; a weekday is named with them, such as `friL`",
    ),
    (
        "H 5 * * *",
        "nothing is drawn here: write the number, so that the schedule can be proved",
    ),
    ("0 5:30 * * *", "for 05:30 each day write `30 5 * * *`"),
    ("0 11pm * * *", "for 23:00 each day write `0 23 * * *`"),
    ("0 12am * * *", "for 00:00 each day write `0 0 * * *`"),
    (
        "\u{ff10} 5 * * *",
        "write plain digits and plain blanks; this looks like them and is another sign",
    ),
    (
        "0 x * * *",
        "write `*`, a number from 0 to 23, a range `0-23`, a list with commas, or a step `*/2`",
    ),
    (
        "@daily 5",
        "write `@daily`, or five fields: minute hour day-of-month month day-of-week",
    ),
    ("@dayly", "did you mean `@daily`?"),
    ("@ewekly", "did you mean `@weekly`?"),
    // Three letters of six are another word, and were taken for a slip.
    (
        "@dolls",
        "write five fields: minute hour day-of-month month day-of-week",
    ),
    (
        "@sometimes",
        "write five fields: minute hour day-of-month month day-of-week",
    ),
    (
        "@every 5m",
        "write the fields, such as `*/30 * * * *` for every 30 minutes",
    ),
];

#[test]
fn help_says_what_to_write() {
    for (text, help) in WAYS_OUT {
        assert_eq!(refusal(text).help.as_deref(), Some(*help), "{text}");
    }
}

/// Text, place, message, help.
const WRONG_COUNTS: &[(&str, &str, &str, &str)] = &[
    (
        "",
        "",
        "the expression is empty",
        "write five fields: minute hour day-of-month month day-of-week",
    ),
    (
        "0 5 *",
        "0 5 *",
        "three fields, expected five",
        "write five fields: minute hour day-of-month month day-of-week, such as `0 5 * * *`",
    ),
    (
        "0 5 * *",
        "0 5 * *",
        "four fields, expected five",
        "the day of week is missing: write `0 5 * * *`",
    ),
    (
        "5 * * *",
        "5 * * *",
        "four fields, expected five",
        "a field is missing: `0 5 * * *` is once a day, `5 * * * *` once an hour",
    ),
    (
        "0 5 * mon",
        "0 5 * mon",
        "four fields, expected five",
        "the day of month is missing: write `0 5 * * mon`",
    ),
    (
        "45 * * *",
        "45 * * *",
        "four fields, expected five",
        "the hour is missing: write `45 * * * *`",
    ),
    (
        "05:30",
        "05:30",
        "one field, expected five",
        "for 05:30 each day write `30 5 * * *`",
    ),
    (
        "0 0 5 ? * MON-FRI",
        "0",
        "six fields: leading seconds are not supported; drop the first",
        "write `0 5 * * MON-FRI`",
    ),
    (
        "0 0 5 * * *",
        "0",
        "six fields: leading seconds are not supported; drop the first",
        "write `0 5 * * *`",
    ),
    (
        "0 5 * * * 2027",
        "2027",
        "six fields: years are not supported; drop the last",
        "write `0 5 * * *`",
    ),
    (
        "0, 30 2 * * *",
        " ",
        "six fields, expected five: a stray blank tears a list apart",
        "write `0,30` without blanks",
    ),
    (
        "0 2 * * mon - fri",
        " - ",
        "seven fields, expected five: a stray blank tears a list apart",
        "write `mon-fri` without blanks",
    ),
    (
        "0 0 5 * * * 2027",
        "0 0 5 * * * 2027",
        "seven fields: neither seconds nor years are supported; drop the first and the last",
        "write `0 5 * * *`",
    ),
    (
        "0 5 * * * /usr/bin/digest --all",
        "/usr/bin/digest --all",
        "seven fields: `/usr/bin/digest` is no part of an expression",
        "keep the first five fields; the job says what to send",
    ),
    (
        "1 2 3 4 5 6 7 8",
        "1 2 3 4 5 6 7 8",
        "8 fields, expected five",
        "write five fields: minute hour day-of-month month day-of-week, such as `0 5 * * *`",
    ),
];

#[test]
fn any_other_number_of_fields_is_refused_with_the_way_out() {
    for (text, place, message, help) in WRONG_COUNTS {
        let error = refusal(text);
        assert_eq!(
            (error.message.as_str(), error.help.as_deref()),
            (*message, Some(*help)),
            "{text}"
        );
        assert_eq!(&text[error.span.clone()], *place, "{text}");
    }
}

#[test]
fn an_expression_of_a_thousand_bytes_is_read_and_a_longer_one_is_not() {
    let padded = |length: usize| format!("0 5 * * *{}", " ".repeat(length - 9));
    assert!(CronExpr::parse(&padded(1_000)).is_ok());
    let error = refusal(&padded(1_001));
    assert_eq!(
        error.to_string(),
        "an expression of 1001 bytes, at most 1000"
    );
    assert_eq!(error.span, 0..1_001);
    assert_eq!(
        error.help.as_deref(),
        Some("write ranges and steps, such as `0-30` and `*/5`, or several expressions")
    );
}

#[test]
fn reboot_is_refused_because_it_names_no_fire_time() {
    let error = refusal(" @reboot");
    assert_eq!(error.to_string(), "`@reboot` names no fire time");
    assert_eq!(error.span, 1..8);
    assert!(error.help.unwrap().contains("start-up"));
}

#[test]
fn fields_are_as_written_and_a_nickname_has_none() {
    let expr = CronExpr::parse("  */7 0-23/5\t1,15 JAN mon#1 ").unwrap();
    assert_eq!(
        expr.fields(),
        Some(["*/7", "0-23/5", "1,15", "JAN", "mon#1"])
    );
    assert_eq!(CronExpr::parse(" @weekly ").unwrap().fields(), None);
}

#[test]
fn months_are_named_from_one_to_twelve() {
    let expr = CronExpr::parse("0 5 1 jan,12 *").unwrap();
    let named: Vec<u32> = (0..=40).filter(|month| expr.names_month(*month)).collect();
    assert_eq!(named, [1, 12]);
}
