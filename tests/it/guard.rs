//! The bounds that the guard promises, as properties.

mod call;
mod outage;
mod spending;

use std::num::NonZeroU32;
use std::time::Duration;

use chrono::{DateTime, Utc};
use offpeak::answer::Hint;
use offpeak::guard::span::{elapsed, later};
use offpeak::guard::{
    BreakerPolicy, BreakerState, Budget, BudgetPolicy, Guard, GuardPolicy, Permit, Probe,
    RetryPolicy, Sample, Step, backoff, hint, next_step,
};
use offpeak::outcome::Class;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

const SECOND: Duration = Duration::from_secs(1);
const LEASE: Duration = Duration::from_secs(605);

/// 05:00 JST.
fn night() -> DateTime<Utc> {
    DateTime::from_timestamp(1_796_068_800, 0).expect("in bounds")
}

fn default_guard() -> GuardPolicy {
    let breaker = BreakerPolicy {
        min_samples: NonZeroU32::new(10).expect("in bounds"),
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

fn nanos(span: Duration) -> f64 {
    span.as_nanos() as f64
}

// ---- retry ----

fn retry_policy() -> impl Strategy<Value = RetryPolicy> {
    (1_u32..=3, 0_u64..=3_600_000_000_000, 0.0..=1.0, 0.0..=1.0).prop_map(
        |(attempts, max, share, ratio)| {
            let max = Duration::from_nanos(max);
            RetryPolicy::new(attempts, max.mul_f64(share).min(max), max, ratio).expect("in bounds")
        },
    )
}

fn attempt_number() -> impl Strategy<Value = u32> {
    prop_oneof![1_u32..=8, any::<u32>()]
}

/// The formula of the design, in nanoseconds.
fn center(policy: &RetryPolicy, attempt: u32) -> f64 {
    let doublings = f64::from(attempt.saturating_sub(1).min(100));
    let grown = nanos(policy.base_delay()) * doublings.exp2();
    grown.min(nanos(policy.max_delay()) / (1.0 + policy.jitter_ratio() / 2.0))
}

proptest! {
    #[test]
    fn a_wait_follows_the_formula_and_never_exceeds_max_delay(
        policy in retry_policy(), attempt in attempt_number(), draw in 0.0..1.0,
    ) {
        let wait = backoff::wait(&policy, attempt, draw);
        prop_assert!(wait <= policy.max_delay());
        let expected = center(&policy, attempt) * (1.0 + policy.jitter_ratio() * (draw - 0.5));
        prop_assert!((nanos(wait) - expected).abs() <= 2.0, "{wait:?} is not {expected} ns");
    }

    #[test]
    fn waits_are_symmetric_around_the_centre(
        policy in retry_policy(), attempt in attempt_number(), draw in 0.0..1.0,
    ) {
        let pair = backoff::wait(&policy, attempt, draw) + backoff::wait(&policy, attempt, 1.0 - draw);
        prop_assert!((nanos(pair) - 2.0 * center(&policy, attempt)).abs() <= 4.0);
        let draws = 1000_u32;
        let sum: Duration = (0..draws)
            .map(|n| backoff::wait(&policy, attempt, (f64::from(n) + 0.5) / f64::from(draws)))
            .sum();
        prop_assert!((nanos(sum / draws) - center(&policy, attempt)).abs() <= 2.0);
    }

    #[test]
    fn a_hint_is_a_floor_up_to_max_delay_and_a_yield_beyond(
        policy in retry_policy(), attempt in attempt_number(), hint in any::<u64>(), near in any::<bool>(), draw in 0.0..1.0,
    ) {
        let longest = policy.max_delay();
        let hint = if near { longest.mul_f64(hint as f64 / u64::MAX as f64).min(longest) } else { Duration::from_nanos(hint) };
        match next_step(&policy, attempt, Class::Retryable, Some(hint), draw) {
            Step::Yield(asked) => prop_assert!(asked == hint && hint > longest),
            Step::Stop => prop_assert!(hint <= longest && attempt >= policy.max_attempts()),
            Step::Wait(wait) => {
                prop_assert!(attempt < policy.max_attempts());
                prop_assert!(hint <= wait && wait <= longest);
                prop_assert!(wait >= backoff::wait(&policy, attempt, draw));
            }
        }
    }

    #[test]
    fn reading_a_hint_never_fails(ms in option::of(".*"), seconds in option::of("[0-9A-Za-z:, .+-]{0,40}"), now in any::<u32>()) {
        let now = DateTime::from_timestamp(i64::from(now), 0).expect("in bounds");
        let hint = hint::read(ms.as_deref(), seconds.as_deref(), now);
        if let Some(Hint::At(at)) = hint {
            prop_assert!(at >= now);
        }
    }

    #[test]
    fn seconds_are_read_exactly(whole in 0_u64..1_000_000, nanos in 0_u32..1_000_000_000) {
        let read = hint::read(None, Some(&format!("{whole}.{nanos:09}")), night());
        prop_assert_eq!(read, Some(Hint::After(Duration::new(whole, nanos))));
    }
}

// ---- budget ----

/// What happens between two questions: real time passes, and the wall clock may step back.
fn passing() -> impl Strategy<Value = (u64, Option<u64>)> {
    let step = prop_oneof![9 => Just(None), 1 => (1_u64..100_000).prop_map(Some)];
    (prop_oneof![Just(0_u64), 1_u64..500, 500_u64..30_000], step)
}

proptest! {
    #[test]
    fn no_real_span_of_per_holds_more_than_calls_sends(
        calls in 1_u32..6, per in 1_u64..20_000, course in vec(passing(), 1..200),
    ) {
        let policy = BudgetPolicy::new(calls, Duration::from_millis(per)).expect("in bounds");
        let mut budget = Budget::default();
        let (mut real, mut wall) = (0_u64, night());
        let mut sent: Vec<u64> = Vec::new();
        let mut stepped = false;
        for (passed, step) in course {
            real += passed;
            wall = later(wall, Duration::from_millis(passed));
            if let Some(step) = step {
                wall -= Duration::from_millis(step);
                stepped = true;
            }
            budget.settle(&policy, wall);
            let counted = sent.iter().filter(|at| real - **at < per).count();
            if budget.has_room(&policy, wall) {
                prop_assert_eq!(budget.room_at(&policy, wall), wall);
                budget.spend(wall);
                sent.push(real);
            } else {
                // Never a jam: there is room again within `per` of now.
                let room_at = budget.room_at(&policy, wall);
                prop_assert!(wall < room_at && elapsed(wall, room_at) <= policy.per());
                prop_assert!(budget.has_room(&policy, room_at));
                prop_assert!(stepped || counted >= calls as usize, "refused with {counted} of {calls}");
            }
        }
        for (first, over) in sent.iter().zip(sent.iter().skip(calls as usize)) {
            prop_assert!(over - first >= per, "{} sends within {} ms", calls + 1, over - first);
        }
    }
}

// ---- breaker ----

#[derive(Debug, Clone)]
enum Move {
    Pass(u64),
    StepBack(u64),
    Ask,
    End(prop::sample::Index, Sample),
    Release(prop::sample::Index),
}

fn sample() -> impl Strategy<Value = Sample> {
    prop_oneof![3 => Just(Sample::Failure), 1 => Just(Sample::Success), 1 => Just(Sample::Neutral)]
}

fn moves() -> impl Strategy<Value = Vec<Move>> {
    let one = prop_oneof![
        4 => (0_u64..40).prop_map(Move::Pass),
        1 => (1_u64..5000).prop_map(Move::StepBack),
        8 => Just(Move::Ask),
        6 => (any::<prop::sample::Index>(), sample()).prop_map(|(which, sample)| Move::End(which, sample)),
        1 => any::<prop::sample::Index>().prop_map(Move::Release),
    ];
    vec(one, 1..300)
}

/// A breaker that opens easily behind a budget that never refuses.
fn touchy() -> GuardPolicy {
    let breaker = BreakerPolicy {
        min_samples: NonZeroU32::new(3).expect("in bounds"),
        ..default_guard().breaker
    };
    GuardPolicy {
        budget: BudgetPolicy::new(10_000, Duration::from_nanos(1)).expect("in bounds"),
        breaker,
    }
}

proptest! {
    /// Real time is what counts: the wall clock may step back at any moment.
    #[test]
    fn an_open_breaker_passes_one_probe_a_cooldown(moves in moves()) {
        let (policy, lease) = (touchy(), SECOND * 65);
        let mut guard = Guard::default();
        let (mut real, mut wall) = (Duration::ZERO, night());
        let mut out: Vec<Permit> = Vec::new();
        // The generation of the probe under way, and since when.
        let mut probe: Option<(u64, Duration)> = None;
        let mut opened: Option<Duration> = None;
        for next in moves {
            match next {
                Move::Pass(seconds) => {
                    real += SECOND * u32::try_from(seconds).expect("in bounds");
                    wall = later(wall, Duration::from_secs(seconds));
                }
                Move::StepBack(seconds) => wall -= Duration::from_secs(seconds),
                Move::Ask => {
                    if let Ok(permit) = guard.admit(&policy, wall, lease) {
                        if permit.probe == Probe::Yes {
                            let lost = probe.is_none_or(|(_, since)| real >= since + lease);
                            prop_assert!(lost, "two probes under way");
                            let cooled = opened.is_none_or(|since| real >= since + policy.breaker.cooldown);
                            prop_assert!(cooled, "a probe before the cooldown is over");
                            probe = Some((permit.generation, real));
                        } else {
                            let closed = guard.breaker.state == BreakerState::Closed;
                            prop_assert!(closed, "an ordinary attempt while not closed");
                        }
                        out.push(permit);
                    }
                }
                Move::End(which, sample) if !out.is_empty() => {
                    let permit = out.swap_remove(which.index(out.len()));
                    let generation = permit.generation;
                    let current = generation == guard.breaker.generation;
                    let before = guard.breaker.clone();
                    guard.record(&policy, permit, sample, wall);
                    prop_assert!(current || guard.breaker == before, "a result of an older generation counted");
                    let is_open = matches!(guard.breaker.state, BreakerState::Open { .. });
                    if current && is_open && sample == Sample::Failure {
                        opened = Some(real);
                    }
                    probe = probe.filter(|(under_way, _)| *under_way != generation);
                }
                Move::Release(which) if !out.is_empty() => {
                    let permit = out.swap_remove(which.index(out.len()));
                    let generation = permit.generation;
                    guard.release(permit);
                    probe = probe.filter(|(under_way, _)| *under_way != generation);
                }
                Move::End(..) | Move::Release(_) => {}
            }
            if guard.breaker.state == BreakerState::Closed {
                (opened, probe) = (None, None);
            }
            prop_assert!(guard.breaker.samples.len() <= 6, "the log is bounded by min_samples / failure_ratio");
        }
    }

    #[test]
    fn min_samples_failures_in_a_row_open_it_whatever_came_before(
        past in vec((0_u64..30, sample()), 0..200), min in 1_u32..40, ratio in 0.01..=1.0_f64,
    ) {
        let breaker = BreakerPolicy { min_samples: NonZeroU32::new(min).expect("in bounds"), failure_ratio: ratio, ..default_guard().breaker };
        let policy = GuardPolicy { breaker: breaker.checked().expect("in bounds"), ..touchy() };
        let mut guard = Guard::default();
        let mut now = night();
        for (passed, sample) in past {
            now = later(now, Duration::from_secs(passed));
            if let Ok(permit) = guard.admit(&policy, now, LEASE) {
                guard.record(&policy, permit, sample, now);
            }
        }
        for _ in 0..min {
            if let Ok(permit) = guard.admit(&policy, now, LEASE) {
                guard.record(&policy, permit, Sample::Failure, now);
            }
        }
        let is_open = matches!(guard.breaker.state, BreakerState::Open { .. });
        prop_assert!(is_open);
    }
}
