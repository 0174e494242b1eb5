//! Caps in dollars hold in every day and month of UTC, as long as no attempt costs more than was reserved for it.

use std::collections::BTreeMap;

use chrono::{Datelike, NaiveDate, TimeDelta};
use offpeak::guard::{Bill, Charge, DollarCaps, Refusal, Reserve};
use offpeak::money::Dollars;
use offpeak::outcome::YieldReason;
use proptest::sample::Index;

use super::*;

/// What happens next.
#[derive(Debug, Clone, Copy)]
enum Move {
    /// Time passes.
    Pass(i64),
    /// An attempt that may cost so many cents asks.
    Ask(u64),
    /// One of those under way ends; its cost in parts of what was reserved, `None` if nobody knows.
    End(Index, Option<f64>),
}

fn moves() -> impl Strategy<Value = Vec<Move>> {
    let one = prop_oneof![
        (0_i64..40 * 3_600).prop_map(Move::Pass),
        (1_u64..120).prop_map(Move::Ask),
        (any::<Index>(), option::of(0.0..=1.0)).prop_map(|(which, share)| Move::End(which, share)),
    ];
    vec(one, 0..120)
}

fn cents(cents: u64) -> Dollars {
    Dollars::from_nanos(cents * 10_000_000)
}

/// A dollar a day, three a month.
fn capped() -> GuardPolicy {
    let caps = DollarCaps {
        day: Some(cents(100)),
        month: Some(cents(300)),
    };
    let budget = BudgetPolicy::new(10_000, SECOND).expect("in bounds");
    GuardPolicy {
        budget: budget.costing(caps),
        ..default_guard()
    }
}

/// A group, what is under way, and what each day was billed at most.
#[derive(Default)]
struct House {
    guard: Guard,
    under_way: Vec<(Permit, Reserve)>,
    billed: BTreeMap<NaiveDate, Dollars>,
}

impl House {
    fn ask(&mut self, amount: Dollars, now: DateTime<Utc>) -> Result<(), Refusal> {
        let permit = self
            .guard
            .admit_costing(&capped(), now, LEASE, Some(amount))?;
        self.under_way.push((permit, Reserve { amount, at: now }));
        let day = self.billed.entry(now.date_naive()).or_default();
        *day = day.plus(amount);
        Ok(())
    }

    fn end(&mut self, which: Index, share: Option<f64>, now: DateTime<Utc>) {
        if self.under_way.is_empty() {
            return;
        }
        let (permit, reserve) = self
            .under_way
            .swap_remove(which.index(self.under_way.len()));
        self.guard.record(&capped(), permit, Sample::Neutral, now);
        let charge = match share {
            None => Charge::Unknown,
            Some(share) => {
                let cost = Dollars::from_f64(reserve.amount.as_f64() * share).expect("a price");
                let day = self.billed.entry(reserve.at.date_naive()).or_default();
                *day = day.minus(reserve.amount).plus(cost);
                Charge::AtMost(cost)
            }
        };
        let reserve = Some(reserve);
        self.guard.pay(&Bill { reserve, charge }, now);
    }

    fn take(&mut self, step: Move, now: &mut DateTime<Utc>) -> Result<(), Refusal> {
        match step {
            Move::Pass(seconds) => *now += TimeDelta::seconds(seconds),
            Move::Ask(amount) => self.ask(cents(amount), *now)?,
            Move::End(which, share) => self.end(which, share, *now),
        }
        Ok(())
    }

    fn month(&self, of: NaiveDate) -> Dollars {
        let same = |day: &NaiveDate| (day.year(), day.month()) == (of.year(), of.month());
        let days = self.billed.iter().filter(|(day, _)| same(day));
        days.map(|(_, spent)| *spent).sum()
    }
}

proptest! {
    #[test]
    fn no_day_and_no_month_is_billed_over_its_cap(steps in moves()) {
        let (mut house, mut now) = (House::default(), night());
        for step in steps {
            if let Err(refusal) = house.take(step, &mut now) {
                prop_assert_eq!(refusal.reason, YieldReason::Dollars);
                let until = refusal.until.expect("a cap lifts by itself");
                let today = now.date_naive();
                prop_assert!(until.date_naive() > today && until.time() == chrono::NaiveTime::MIN);
            }
        }
        for (day, billed) in &house.billed {
            prop_assert!(*billed <= cents(100), "{} on {}", billed, day);
            prop_assert!(house.month(*day) <= cents(300), "{}", day);
        }
    }

    #[test]
    fn a_refusal_is_over_when_it_says_so(steps in moves(), amount in 1_u64..=100) {
        let (mut house, mut now) = (House::default(), night());
        for step in steps {
            let _ = house.take(step, &mut now);
        }
        let Err(refusal) = house.ask(cents(amount), now) else {
            return Ok(());
        };
        let until = refusal.until.expect("a cap lifts by itself");
        let just_before = until - TimeDelta::nanoseconds(1);
        prop_assert!(house.ask(cents(amount), just_before).is_err(), "not before");
        // After a full month the next day is free; after a full day the month may be full at last.
        if let Err(next) = house.ask(cents(amount), until) {
            prop_assert!(next.until > Some(until) && until.day() != 1);
        }
    }

    #[test]
    fn a_clock_that_was_ahead_for_a_while_lends_nothing(
        before in moves(), ahead in 1_i64..60, meanwhile in vec((1_u64..120, any::<Index>(), option::of(0.0..=1.0)), 0..20),
        after in vec(1_u64..120, 0..20),
    ) {
        let (mut house, mut now) = (House::default(), night());
        for step in before {
            let _ = house.take(step, &mut now);
        }
        let there = now + TimeDelta::days(ahead);
        for (amount, which, share) in meanwhile {
            let _ = house.ask(cents(amount), there);
            house.end(which, share, there);
        }
        for amount in after {
            let _ = house.ask(cents(amount), now);
        }
        let today = now.date_naive();
        let billed = house.billed.get(&today).copied().unwrap_or_default();
        prop_assert!(billed <= cents(100), "{} today", billed);
        prop_assert!(house.month(today) <= cents(300), "{} this month", house.month(today));
    }
}

#[test]
fn an_unknown_price_passes_where_no_cap_is_and_nowhere_else() {
    let mut guard = Guard::default();
    let refusal = guard
        .admit_costing(&capped(), night(), LEASE, None)
        .expect_err("its price is not known");
    assert_eq!(
        (refusal.reason, refusal.until),
        (YieldReason::Dollars, None)
    );
    assert!(
        guard
            .admit_costing(&default_guard(), night(), LEASE, None)
            .is_ok()
    );
}

#[test]
fn a_refusal_spends_neither_a_call_nor_a_dollar_and_leaves_the_probe() {
    let mut guard = Guard::default();
    let before = guard.clone();
    assert!(
        guard
            .admit_costing(&capped(), night(), LEASE, Some(cents(101)))
            .is_err()
    );
    assert_eq!(guard, before);
}

#[test]
fn a_person_who_resumes_a_group_gives_it_no_dollars() {
    let mut house = House::default();
    house.ask(cents(90), night()).expect("there is room");
    house.guard.resume();
    assert!(house.ask(cents(20), night()).is_err());
}
