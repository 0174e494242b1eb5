//! Caps in dollars as rows: one contract for both stores, then restarts and two processes on one file.

use offpeak::guard::{Charge, DollarCaps, Reserve};

use super::*;

fn cents(cents: u64) -> Dollars {
    Dollars::from_nanos(cents * 10_000_000)
}

/// A dollar a day, and calls enough.
fn a_dollar_a_day() -> GuardPolicy {
    let caps = DollarCaps {
        day: Some(cents(100)),
        month: None,
    };
    let budget = BudgetPolicy::new(1_000, Duration::from_secs(1)).unwrap();
    GuardPolicy {
        budget: budget.costing(caps),
        ..policy()
    }
}

fn ask(
    store: &dyn Store,
    run: RunId,
    n: u32,
    reserve: u64,
    now: DateTime<Utc>,
) -> Result<Permit, Refusal> {
    let (group, policy) = (main_group(), a_dollar_a_day());
    wait(store.admit(Ask {
        run,
        call: &CallName::only(),
        model: "claude-test",
        group: &group,
        policy: &policy,
        n,
        wait: Duration::ZERO,
        lease: Duration::from_secs(30),
        reserve: Some(cents(reserve)),
        now,
    }))
    .unwrap()
}

/// An attempt for which 60 cents were reserved ends.
fn end(store: &dyn Store, run: RunId, permit: Permit, charge: Charge) {
    let (group, policy) = (main_group(), a_dollar_a_day());
    let Tell {
        n,
        sample,
        hold,
        end,
    } = cancelled(1);
    let reserve = Some(Reserve {
        amount: cents(60),
        at: second(0),
    });
    wait(store.record(Told {
        run,
        call: &CallName::only(),
        answer: None,
        batch: None,
        cost_usd: None,
        group: &group,
        policy: &policy,
        n,
        permit,
        sample,
        hold,
        bill: Bill { reserve, charge },
        end,
        now: second(1),
    }))
    .unwrap();
}

/// Whether so many cents and not one more are left of the day after an attempt of 60 ended like this, told twice.
fn left_after(bench: &Bench, charge: Charge, left: u64) {
    let run = bench.fire("digest", minute(0));
    let permit = ask(&*bench.store, run, 1, 60, second(0)).unwrap();
    let Permit { generation, probe } = permit;
    for _told in ["not heard of", "again"] {
        end(&*bench.store, run, Permit { generation, probe }, charge);
    }
    let refused = ask(&*bench.store, run, 2, left + 1, second(2)).unwrap_err();
    let midnight = second(2).date_naive().succ_opt().unwrap();
    let midnight = midnight.and_time(chrono::NaiveTime::MIN).and_utc();
    assert_eq!(
        (refused.reason, refused.until),
        (YieldReason::Dollars, Some(midnight))
    );
    assert!(ask(&*bench.store, run, 2, left, second(2)).is_ok());
}

#[test]
fn cost_takes_the_place_of_its_reserve_once() {
    for bench in [Bench::memory(), Bench::sqlite()] {
        left_after(&bench, Charge::AtMost(cents(10)), 90);
    }
}

#[test]
fn attempt_that_cost_nothing_gives_its_reserve_back() {
    for bench in [Bench::memory(), Bench::sqlite()] {
        left_after(&bench, Charge::Free, 100);
    }
}

#[test]
fn attempt_of_unknown_cost_keeps_its_reserve() {
    for bench in [Bench::memory(), Bench::sqlite()] {
        left_after(&bench, Charge::Unknown, 40);
    }
}

fn begun(store: &SqliteStore) -> RunId {
    let slots = vec![claim("digest", minute(0), Fate::Fire)];
    let tick = Tick {
        now: minute(0),
        watermark: minute(0),
        slots,
    };
    wait(store.claim(tick)).unwrap()[0].run
}

#[test]
fn a_crash_leaves_what_was_reserved_counted() {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(folder.path()).unwrap();
    let run = begun(&store);
    let _lost = ask(&store, run, 1, 60, second(0)).unwrap();
    drop(store);
    let store = SqliteStore::open(folder.path()).unwrap();
    assert!(ask(&store, run, 2, 41, second(1)).is_err());
    assert!(ask(&store, run, 2, 40, second(1)).is_ok());
}

#[test]
fn resume_gives_a_group_no_dollars() {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(folder.path()).unwrap();
    let run = begun(&store);
    let _permit = ask(&store, run, 1, 60, second(0)).unwrap();
    wait(store.resume(main_group(), second(1))).unwrap();
    assert!(ask(&store, run, 2, 41, second(1)).is_err());
}

#[test]
fn several_handles_share_one_day() {
    let folder = tempfile::tempdir().unwrap();
    let run = begun(&SqliteStore::open(folder.path()).unwrap());
    let handle = |handle: u32| {
        let store = SqliteStore::open(folder.path()).unwrap();
        let attempts = (0..20).map(|n| 1 + handle * 20 + n);
        let admitted = attempts.filter(|n| ask(&store, run, *n, 3, second(0)).is_ok());
        admitted.count()
    };
    let admitted: usize = std::thread::scope(|scope| {
        let handles = [0, 1, 2].map(|it| scope.spawn(move || handle(it)));
        handles
            .into_iter()
            .map(|handle| handle.join().unwrap())
            .sum()
    });
    assert_eq!(admitted, 33, "three cents each, a dollar together");
}
