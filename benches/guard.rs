//! Figures for the guard: a decision must cost less than a microsecond.

use std::num::NonZeroU32;
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use divan::{Bencher, black_box};
use offpeak::answer::{FailureKind, SendFailure};
use offpeak::guard::{
    BreakerPolicy, BudgetPolicy, Guard, GuardPolicy, RetryPolicy, Sample, classify, hint, next_step,
};

const SECOND: Duration = Duration::from_secs(1);
const LEASE: Duration = Duration::from_secs(605);

fn main() {
    divan::main();
}

fn now() -> DateTime<Utc> {
    DateTime::from_timestamp(1_796_000_000, 0).expect("in range")
}

fn policy() -> GuardPolicy {
    let breaker = BreakerPolicy {
        min_samples: NonZeroU32::new(10).expect("above zero"),
        failure_ratio: 0.5,
        window: SECOND * 120,
        cooldown: SECOND * 60,
        stale_after: SECOND * 600,
    };
    GuardPolicy {
        budget: BudgetPolicy::new(30, SECOND * 60).expect("in bounds"),
        breaker: breaker.checked().expect("in bounds"),
    }
}

/// A call every 2.5 s: both logs are as full as the defaults allow.
#[divan::bench]
fn guard_admit_and_record(bencher: Bencher) {
    let (policy, mut guard, mut now) = (policy(), Guard::default(), now());
    bencher.bench_local(|| {
        now += TimeDelta::milliseconds(2500);
        let permit = guard
            .admit(black_box(&policy), now, LEASE)
            .expect("within the budget");
        guard.record(black_box(&policy), permit, Sample::Success, now);
    });
}

/// The budget is used up.
#[divan::bench]
fn guard_refuse(bencher: Bencher) {
    let (policy, mut guard, now) = (policy(), Guard::default(), now());
    while let Ok(permit) = guard.admit(&policy, now, LEASE) {
        guard.record(&policy, permit, Sample::Success, now);
    }
    bencher.bench_local(|| guard.admit(black_box(&policy), now, LEASE).is_err());
}

#[divan::bench]
fn guard_classify_and_step(bencher: Bencher) {
    let retry = RetryPolicy::new(3, SECOND, SECOND * 30, 0.5).expect("in bounds");
    let failure = SendFailure {
        status: Some(529),
        ..SendFailure::new(FailureKind::Status, "Overloaded")
    };
    bencher.bench_local(|| {
        let verdict = classify(black_box(&failure), now());
        next_step(&retry, 1, verdict.class, verdict.hint, black_box(0.5))
    });
}

#[divan::bench(args = ["20", "1.5", "Sun, 06 Nov 2094 08:49:37 GMT", "Saturday, 06-Nov-27 08:49:37 GMT"])]
fn guard_read_hint(text: &str) {
    let _ = black_box(hint::read(None, Some(black_box(text)), now()));
}
