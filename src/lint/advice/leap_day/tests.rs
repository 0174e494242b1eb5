//! What fires on leap days only.

use crate::lint::Rule;
use crate::lint::advice::tests::{told, told_from};

fn first(cron: &str) -> Option<(String, String, String)> {
    told(Rule::LeapDay, "UTC", cron)
}

#[test]
fn leap_day_is_told_with_its_next_dates() {
    let (at, message, help) = first("0 5 29 2 *").unwrap();
    assert_eq!(at, "2028-02-29T05:00:00Z");
    assert_eq!(
        message,
        "`0 5 29 2 *` of `a` fires on 29 February only: next on 2028-02-29, 2032-02-29 and 2036-02-29"
    );
    assert_eq!(
        help,
        "write `0 5 L 2 *` for the last day of every February, or day 28"
    );
}

#[test]
fn no_leap_day_comes_in_2100() {
    let (at, message, _) = told_from(
        Rule::LeapDay,
        "UTC",
        "0 5 29-31 2 *",
        "2096-02-29T05:00:01Z",
    )
    .unwrap();
    assert_eq!(at, "2104-02-29T05:00:00Z");
    assert!(message.ends_with("next on 2104-02-29, 2108-02-29 and 2112-02-29"));
}

#[test]
fn fifth_weekday_of_february_is_the_leap_day() {
    let (at, _, help) = first("0 5 * 2 mon#5").unwrap();
    assert_eq!(at, "2044-02-29T05:00:00Z");
    assert!(help.contains("`L` for its last, not `mon#5`"), "{help}");
}

#[test]
fn one_other_date_is_enough_to_be_silent() {
    for cron in [
        "0 5 28,29 2 *",
        "0 5 29 2,3 *",
        "0 5 29 2 mon",
        "0 5 L 2 *",
        "0 5 30 2 *",
    ] {
        assert_eq!(first(cron), None, "{cron}");
    }
}
