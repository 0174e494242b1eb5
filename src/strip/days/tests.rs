use super::*;
use crate::schedule::Zones;

fn days(zone: &str, from: &str, count: u16) -> Days {
    Days::starting(Zones::bundled().get(zone).unwrap(), at(from), count)
}

fn at(text: &str) -> DateTime<Utc> {
    text.parse().unwrap()
}

fn piece(row: usize, minutes: Minutes) -> Piece {
    Piece { row, minutes }
}

/// The one span of a list.
fn only(spans: &[Minutes]) -> Minutes {
    assert_eq!(spans.len(), 1, "{spans:?}");
    spans[0].clone()
}

#[test]
fn first_row_is_the_whole_day_that_holds_the_instant() {
    let days = days("Asia/Tokyo", "2026-12-01T14:59:59Z", 2);
    assert_eq!(days.starts_at(), at("2026-11-30T15:00:00Z"));
    assert_eq!(days.ends_at(), at("2026-12-02T15:00:00Z"));
    assert_eq!(days.place(at("2026-11-30T14:59:59Z")), None);
    assert_eq!(days.place(at("2026-11-30T15:00:00Z")), Some((0, 0)));
    assert_eq!(days.place(at("2026-12-02T14:59:59Z")), Some((1, 1_439)));
    assert_eq!(days.place(at("2026-12-02T15:00:00Z")), None);
}

#[test]
fn no_day_counts_as_one() {
    assert_eq!(days("UTC", "2026-12-01T00:00:00Z", 0).rows().len(), 1);
}

#[test]
fn a_span_is_split_at_midnight_and_cut_at_both_ends() {
    let days = days("UTC", "2026-12-01T00:00:00Z", 2);
    let over = days.pieces(at("2026-12-01T23:30:00Z"), at("2026-12-02T00:20:01Z"));
    assert_eq!(over, [piece(0, 1_410..1_440), piece(1, 0..21)]);
    let wide = days.pieces(at("2026-11-01T00:00:00Z"), at("2027-01-01T00:00:00Z"));
    assert_eq!(wide, [piece(0, 0..1_440), piece(1, 0..1_440)]);
    let instant = at("2026-12-01T12:00:00Z");
    assert_eq!(days.pieces(instant, instant), []);
}

#[test]
fn skipped_hour_is_no_part_of_a_run() {
    let days = days("Europe/Berlin", "2027-03-28T12:00:00Z", 1);
    assert_eq!(only(&days.rows()[0].skipped), 120..180);
    let over = days.pieces(at("2027-03-28T00:30:00Z"), at("2027-03-28T01:30:00Z"));
    assert_eq!(over, [piece(0, 90..120), piece(0, 180..210)]);
}

#[test]
fn repeated_hour_is_walked_twice() {
    let days = days("Europe/Berlin", "2026-10-25T12:00:00Z", 1);
    assert_eq!(only(&days.rows()[0].repeated), 120..180);
    let over = days.pieces(at("2026-10-25T00:30:00Z"), at("2026-10-25T01:30:00Z"));
    assert_eq!(over, [piece(0, 150..180), piece(0, 120..150)]);
}

#[test]
fn day_that_a_zone_left_out_is_an_empty_row() {
    // Samoa went over the date line: 30 December 2011 does not exist there.
    let days = days("Pacific/Apia", "2011-12-29T12:00:00Z", 3);
    let [before, gone, after] = days.rows() else {
        panic!("{days:?}");
    };
    assert_eq!(gone.starts_at, gone.ends_at);
    assert_eq!((only(&gone.skipped), after.skipped.len()), (0..1_440, 0));
    assert_eq!(days.place(before.ends_at), Some((2, 0)));
}

#[test]
fn midnight_that_clocks_jump_over_begins_the_day_later() {
    // Beirut changes at midnight: the day begins at 01:00.
    let days = days("Asia/Beirut", "2027-03-28T12:00:00Z", 1);
    assert_eq!(only(&days.rows()[0].skipped), 0..60);
    assert_eq!(days.place(days.starts_at()), Some((0, 60)));
}
