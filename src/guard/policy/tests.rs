use super::*;

const SECOND: Duration = Duration::from_secs(1);

fn breaker() -> BreakerPolicy {
    BreakerPolicy {
        min_samples: NonZeroU32::new(10).unwrap(),
        failure_ratio: 0.5,
        window: SECOND * 120,
        cooldown: SECOND * 60,
        stale_after: SECOND * 600,
    }
}

fn refused<T>(result: Result<T, PolicyError>) -> &'static str {
    result.err().map_or("nothing", |error| error.field)
}

#[test]
fn retry_policy_takes_both_ends_of_every_bound() {
    let hour = Duration::from_hours(1);
    for (attempts, base, max, ratio) in [
        (1, Duration::ZERO, Duration::ZERO, 0.0),
        (3, hour, hour, 1.0),
        (2, SECOND, SECOND, 0.5),
    ] {
        assert!(RetryPolicy::new(attempts, base, max, ratio).is_ok());
    }
}

#[test]
fn retry_policy_names_the_field_that_is_out_of_bounds() {
    let nano = Duration::from_nanos(1);
    let over = Duration::from_hours(1) + nano;
    assert_eq!(
        refused(RetryPolicy::new(0, SECOND, SECOND, 0.5)),
        "max_attempts"
    );
    assert_eq!(
        refused(RetryPolicy::new(4, SECOND, SECOND, 0.5)),
        "max_attempts"
    );
    assert_eq!(
        refused(RetryPolicy::new(3, SECOND + nano, SECOND, 0.5)),
        "base_delay"
    );
    assert_eq!(refused(RetryPolicy::new(3, SECOND, over, 0.5)), "max_delay");
    for ratio in [-0.001, 1.001, f64::NAN, f64::INFINITY] {
        assert_eq!(
            refused(RetryPolicy::new(3, SECOND, SECOND, ratio)),
            "jitter_ratio"
        );
    }
}

#[test]
fn budget_policy_names_the_field_that_is_out_of_bounds() {
    let day = Duration::from_hours(24);
    assert!(BudgetPolicy::new(1, Duration::from_nanos(1)).is_ok());
    assert!(BudgetPolicy::new(10_000, day).is_ok());
    assert_eq!(refused(BudgetPolicy::new(0, SECOND)), "calls");
    assert_eq!(refused(BudgetPolicy::new(10_001, SECOND)), "calls");
    assert_eq!(refused(BudgetPolicy::new(1, Duration::ZERO)), "per");
    assert_eq!(
        refused(BudgetPolicy::new(1, day + Duration::from_nanos(1))),
        "per"
    );
}

/// Policies and the field that each is refused for.
fn breaker_cases() -> Vec<(BreakerPolicy, &'static str)> {
    let zero = Duration::ZERO;
    vec![
        (breaker(), "nothing"),
        (
            BreakerPolicy {
                min_samples: NonZeroU32::MIN,
                failure_ratio: 1.0,
                ..breaker()
            },
            "nothing",
        ),
        (
            BreakerPolicy {
                min_samples: NonZeroU32::new(1025).expect("above zero"),
                ..breaker()
            },
            "min_samples",
        ),
        (
            BreakerPolicy {
                failure_ratio: 0.0,
                ..breaker()
            },
            "failure_ratio",
        ),
        (
            BreakerPolicy {
                failure_ratio: 1.01,
                ..breaker()
            },
            "failure_ratio",
        ),
        (
            BreakerPolicy {
                failure_ratio: f64::NAN,
                ..breaker()
            },
            "failure_ratio",
        ),
        (
            BreakerPolicy {
                window: zero,
                ..breaker()
            },
            "window",
        ),
        (
            BreakerPolicy {
                cooldown: zero,
                ..breaker()
            },
            "cooldown",
        ),
        (
            BreakerPolicy {
                stale_after: SECOND * 60,
                ..breaker()
            },
            "stale_after",
        ),
        (
            BreakerPolicy {
                stale_after: SECOND * 61,
                ..breaker()
            },
            "nothing",
        ),
    ]
}

#[test]
fn breaker_policy_names_the_field_that_is_out_of_bounds() {
    for (policy, field) in breaker_cases() {
        assert_eq!(refused(policy.checked()), field, "{policy:?}");
    }
}

#[test]
fn an_error_says_what_was_found_and_what_was_expected() {
    let error = BudgetPolicy::new(5, SECOND * 90_000).unwrap_err();
    assert_eq!(
        error.to_string(),
        "`per`: 25h is outside 0s (excluded) to 24h"
    );
}
