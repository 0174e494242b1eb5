use super::*;

fn at(text: &str) -> DateTime<Utc> {
    text.parse().unwrap()
}

fn cents(cents: u64) -> Dollars {
    Dollars::from_nanos(cents * 10_000_000)
}

fn caps(day: u64, month: u64) -> DollarCaps {
    DollarCaps {
        day: Some(cents(day)),
        month: Some(cents(month)),
    }
}

fn spent(amount: u64, now: &str) -> Spending {
    let mut spending = Spending::default();
    spending.reserve(cents(amount), at(now));
    spending
}

fn bill(amount: u64, since: &str, charge: Charge) -> Bill {
    let reserve = Reserve {
        amount: cents(amount),
        at: at(since),
    };
    Bill {
        reserve: Some(reserve),
        charge,
    }
}

const NOON: &str = "2026-11-30T12:00:00Z";
const NEXT_DAY: &str = "2026-12-01T00:00:00Z";

#[test]
fn the_last_cent_fits_and_one_more_does_not() {
    let spending = spent(90, NOON);
    assert_eq!(
        spending.room_at(&caps(100, 1_000), cents(10), at(NOON)),
        None
    );
    let full = spending.room_at(&caps(100, 1_000), cents(11), at(NOON));
    assert_eq!(full, Some(at(NEXT_DAY)));
}

#[test]
fn a_full_day_lifts_at_midnight_and_a_full_month_on_the_first() {
    let noon = "2026-12-30T12:00:00Z";
    let spending = spent(90, noon);
    let day = spending.room_at(&caps(90, 1_000), cents(1), at(noon));
    assert_eq!(day, Some(at("2026-12-31T00:00:00Z")));
    let month = spending.room_at(&caps(90, 90), cents(1), at(noon));
    assert_eq!(month, Some(at("2027-01-01T00:00:00Z")));
    let eve = at("2026-12-31T00:00:00Z");
    assert_eq!(spending.room_at(&caps(90, 1_000), cents(1), eve), None);
    let new_year = at("2027-01-01T00:00:00Z");
    assert_eq!(spending.room_at(&caps(90, 90), cents(1), new_year), None);
}

#[test]
fn no_cap_is_never_full() {
    let spending = spent(1_000_000, NOON);
    let none = DollarCaps::default();
    assert_eq!(spending.room_at(&none, cents(1_000_000), at(NOON)), None);
    assert_eq!(
        (none.least(), caps(90, 50).least()),
        (None, Some(cents(50)))
    );
}

#[test]
fn what_it_cost_takes_the_place_of_what_was_reserved() {
    for (charge, left) in [
        (Charge::Free, 10),
        (Charge::AtMost(cents(3)), 13),
        (Charge::Unknown, 60),
    ] {
        let mut spending = spent(10, NOON);
        spending.reserve(cents(50), at(NOON));
        spending.pay(&bill(50, NOON, charge), at(NOON));
        let totals = (spending.day.spent, spending.month.spent);
        assert_eq!(totals, (cents(left), cents(left)), "{charge:?}");
    }
}

#[test]
fn a_cost_without_a_reserve_counts_when_it_is_known() {
    let mut spending = Spending::default();
    let bill = Bill {
        reserve: None,
        charge: Charge::AtMost(cents(7)),
    };
    spending.pay(&bill, at(NOON));
    assert_eq!(spending.day.spent, cents(7));
    spending.pay(&Bill::default(), at(NOON));
    assert_eq!(spending.day.spent, cents(7));
}

#[test]
fn an_attempt_over_midnight_is_paid_by_the_day_it_was_admitted_on() {
    let mut spending = spent(50, "2026-11-29T23:59:59Z");
    spending.reserve(cents(20), at("2026-11-30T00:00:01Z"));
    let bill = bill(50, "2026-11-29T23:59:59Z", Charge::AtMost(cents(30)));
    spending.pay(&bill, at("2026-11-30T00:00:09Z"));
    assert_eq!(spending.day.spent, cents(20));
    assert_eq!(spending.month.spent, cents(50));
}

#[test]
fn a_clock_that_was_ahead_lends_no_second_day() {
    let mut spending = spent(60, NOON);
    spending.reserve(cents(30), at("2026-12-05T12:00:00Z"));
    assert_eq!(spending.day.spent, cents(30));
    spending.settle(at(NOON));
    assert_eq!(
        spending.day.spent,
        cents(90),
        "both count for the day that it is"
    );
    assert_eq!(spending.month.spent, cents(90));
    // The attempt of the day that never was ends, and was cheaper.
    spending.pay(
        &bill(30, "2026-12-05T12:00:00Z", Charge::AtMost(cents(5))),
        at(NOON),
    );
    assert_eq!(spending.day.spent, cents(65));
    spending.settle(at(NEXT_DAY));
    assert_eq!(spending.day.spent, Dollars::ZERO, "and no longer than that");
}

#[test]
fn what_ends_while_the_clock_is_ahead_is_set_right_in_its_own_day() {
    let mut spending = spent(60, NOON);
    spending.settle(at("2026-12-05T12:00:00Z"));
    spending.pay(
        &bill(60, NOON, Charge::AtMost(cents(5))),
        at("2026-12-05T12:00:00Z"),
    );
    spending.settle(at(NOON));
    assert_eq!(
        (spending.day.spent, spending.month.spent),
        (cents(5), cents(5))
    );
}

#[test]
fn the_end_of_the_calendar_is_no_panic() {
    let end = DateTime::<Utc>::MAX_UTC;
    let mut spending = Spending::default();
    spending.reserve(cents(90), end);
    assert!(spending.room_at(&caps(90, 1_000), cents(1), end).is_some());
}
