use std::num::NonZeroU32;

use super::*;

const NANO: Duration = Duration::from_nanos(1);
const LEASE: Duration = Duration::from_secs(65);

fn at(seconds: u64) -> DateTime<Utc> {
    later(DateTime::UNIX_EPOCH, Duration::from_secs(seconds))
}

/// Four samples, half of them failures, in two minutes; cooldown one minute, stale after ten.
fn policy() -> BreakerPolicy {
    let second = Duration::from_secs(1);
    BreakerPolicy {
        min_samples: NonZeroU32::new(4).unwrap(),
        failure_ratio: 0.5,
        window: second * 120,
        cooldown: second * 60,
        stale_after: second * 600,
    }
}

/// Lets an attempt in if the gate is open.
fn admit(breaker: &mut Breaker, now: DateTime<Utc>) -> Option<Permit> {
    match breaker.ask(&policy(), now) {
        Gate::Pass(probe) => Some(breaker.enter(probe, now, LEASE)),
        Gate::Refuse(_) => None,
    }
}

fn attempt(breaker: &mut Breaker, sample: Sample, now: DateTime<Utc>) {
    let permit = admit(breaker, now).expect("the gate is open");
    breaker.record(&policy(), &permit, sample, now);
}

/// Opened at second 0.
fn opened() -> Breaker {
    let mut breaker = Breaker::default();
    for _ in 0..4 {
        attempt(&mut breaker, Sample::Failure, at(0));
    }
    assert_eq!(breaker.state, BreakerState::Open { since: at(0) });
    breaker
}

/// Opened at second 0, its probe under way since second 60.
fn probing() -> (Breaker, Permit) {
    let mut breaker = opened();
    let permit = admit(&mut breaker, at(60)).expect("the cooldown is over");
    assert_eq!(permit.probe, Probe::Yes);
    (breaker, permit)
}

#[test]
fn one_sample_too_few_leaves_it_closed() {
    let mut breaker = Breaker::default();
    for _ in 0..3 {
        attempt(&mut breaker, Sample::Failure, at(0));
    }
    assert_eq!(breaker.state, BreakerState::Closed);
}

#[test]
fn it_opens_at_the_ratio_itself_and_not_below() {
    let mut breaker = Breaker::default();
    for sample in [
        Sample::Success,
        Sample::Success,
        Sample::Success,
        Sample::Failure,
    ] {
        attempt(&mut breaker, sample, at(0));
    }
    attempt(&mut breaker, Sample::Failure, at(0));
    assert_eq!(breaker.state, BreakerState::Closed, "2 of 5");
    attempt(&mut breaker, Sample::Failure, at(1));
    assert_eq!(breaker.state, BreakerState::Open { since: at(1) }, "3 of 6");
}

/// 0.1 × 30 is more than 3 in binary; the quotient 3 / 30 is 0.1.
#[test]
fn a_decimal_ratio_is_reached_exactly() {
    let policy = BreakerPolicy {
        min_samples: NonZeroU32::new(30).unwrap(),
        failure_ratio: 0.1,
        ..policy()
    };
    let mut breaker = Breaker::default();
    for n in 0..30 {
        let permit = breaker.enter(Probe::No, at(0), LEASE);
        let sample = if n < 3 {
            Sample::Failure
        } else {
            Sample::Success
        };
        breaker.record(&policy, &permit, sample, at(0));
    }
    assert_eq!(breaker.state, BreakerState::Open { since: at(0) });
}

#[test]
fn a_sample_counts_until_it_is_a_window_old() {
    let three_failures_then = |last: DateTime<Utc>| {
        let mut breaker = Breaker::default();
        for _ in 0..3 {
            attempt(&mut breaker, Sample::Failure, at(0));
        }
        attempt(&mut breaker, Sample::Failure, last);
        breaker.state
    };
    assert_eq!(
        three_failures_then(at(120) - NANO),
        BreakerState::Open {
            since: at(120) - NANO
        }
    );
    assert_eq!(three_failures_then(at(120)), BreakerState::Closed);
}

#[test]
fn neutral_samples_are_not_counted() {
    let mut breaker = Breaker::default();
    for _ in 0..3 {
        attempt(&mut breaker, Sample::Failure, at(0));
    }
    for _ in 0..100 {
        attempt(&mut breaker, Sample::Neutral, at(0));
    }
    assert_eq!(
        (breaker.state, breaker.samples.len()),
        (BreakerState::Closed, 3)
    );
}

/// Counting every success of a busy window would need dozens of failures in a row.
#[test]
fn a_busy_healthy_past_does_not_delay_it() {
    let mut breaker = Breaker::default();
    for _ in 0..10_000 {
        attempt(&mut breaker, Sample::Success, at(0));
    }
    assert_eq!(breaker.samples.len(), 8, "the log is bounded");
    for _ in 0..3 {
        attempt(&mut breaker, Sample::Failure, at(1));
    }
    assert_eq!(breaker.state, BreakerState::Closed);
    attempt(&mut breaker, Sample::Failure, at(1));
    assert_eq!(breaker.state, BreakerState::Open { since: at(1) });
}

#[test]
fn the_log_is_bounded_for_the_smallest_ratio_too() {
    let policy = BreakerPolicy {
        failure_ratio: f64::MIN_POSITIVE,
        ..policy()
    };
    let mut breaker = Breaker::default();
    for _ in 0..5000 {
        let permit = breaker.enter(Probe::No, at(0), LEASE);
        breaker.record(&policy, &permit, Sample::Success, at(0));
    }
    assert_eq!(breaker.samples.len(), 1024);
}

#[test]
fn it_refuses_until_the_cooldown_ends() {
    let mut breaker = opened();
    assert_eq!(breaker.ask(&policy(), at(1)), Gate::Refuse(at(60)));
    assert_eq!(breaker.ask(&policy(), at(60) - NANO), Gate::Refuse(at(60)));
    assert_eq!(breaker.ask(&policy(), at(60)), Gate::Pass(Probe::Yes));
}

#[test]
fn asking_does_not_take_the_probe() {
    let mut breaker = opened();
    for _ in 0..3 {
        assert_eq!(breaker.ask(&policy(), at(60)), Gate::Pass(Probe::Yes));
    }
}

#[test]
fn one_probe_passes_and_the_rest_wait_for_its_verdict() {
    let (mut breaker, permit) = probing();
    for now in [60, 61, 124] {
        assert_eq!(breaker.ask(&policy(), at(now)), Gate::Refuse(at(125)));
    }
    breaker.record(&policy(), &permit, Sample::Success, at(124));
    assert_eq!(breaker.ask(&policy(), at(124)), Gate::Pass(Probe::No));
}

#[test]
fn a_successful_probe_closes_it_with_a_clean_slate() {
    let (mut breaker, permit) = probing();
    breaker.record(&policy(), &permit, Sample::Success, at(61));
    for _ in 0..3 {
        attempt(&mut breaker, Sample::Failure, at(62));
    }
    assert_eq!(breaker.state, BreakerState::Closed);
}

#[test]
fn a_failed_probe_opens_it_for_a_whole_cooldown() {
    let (mut breaker, permit) = probing();
    breaker.record(&policy(), &permit, Sample::Failure, at(70));
    assert_eq!(
        breaker.ask(&policy(), at(130) - NANO),
        Gate::Refuse(at(130))
    );
    assert_eq!(breaker.ask(&policy(), at(130)), Gate::Pass(Probe::Yes));
}

#[test]
fn a_neutral_probe_is_given_back() {
    let (mut breaker, permit) = probing();
    breaker.record(&policy(), &permit, Sample::Neutral, at(61));
    assert_eq!(breaker.state, BreakerState::Open { since: at(0) });
    assert_eq!(breaker.ask(&policy(), at(61)), Gate::Pass(Probe::Yes));
}

#[test]
fn a_released_probe_is_given_back() {
    let (mut breaker, permit) = probing();
    breaker.release(&permit);
    assert_eq!(breaker.ask(&policy(), at(61)), Gate::Pass(Probe::Yes));
}

#[test]
fn a_lost_probe_ends_with_its_lease_and_then_counts_for_nothing() {
    let (mut breaker, lost) = probing();
    assert_eq!(
        breaker.ask(&policy(), at(125) - NANO),
        Gate::Refuse(at(125))
    );
    let second = admit(&mut breaker, at(125)).expect("the lease is over");
    assert_eq!(second.probe, Probe::Yes);
    breaker.record(&policy(), &lost, Sample::Success, at(126));
    breaker.release(&lost);
    assert_eq!(
        breaker.ask(&policy(), at(126)),
        Gate::Refuse(at(190)),
        "the second probe is under way"
    );
    breaker.record(&policy(), &second, Sample::Failure, at(127));
    assert_eq!(breaker.state, BreakerState::Open { since: at(127) });
}

#[test]
fn a_stale_breaker_closes_when_asked() {
    let mut breaker = opened();
    assert_eq!(
        breaker.ask(&policy(), at(600) - NANO),
        Gate::Pass(Probe::Yes)
    );
    assert_eq!(breaker.ask(&policy(), at(600)), Gate::Pass(Probe::No));
    assert_eq!(breaker.state, BreakerState::Closed);
}

#[test]
fn a_probe_under_way_outlives_staleness_until_its_lease_ends() {
    let mut breaker = opened();
    let probe = admit(&mut breaker, at(590)).expect("the cooldown is over");
    assert_eq!(breaker.ask(&policy(), at(601)), Gate::Refuse(at(655)));
    assert_eq!(breaker.ask(&policy(), at(655)), Gate::Pass(Probe::No));
    breaker.record(&policy(), &probe, Sample::Failure, at(656));
    assert_eq!(breaker.state, BreakerState::Closed);
}

#[test]
fn results_from_before_it_opened_count_for_nothing() {
    let mut breaker = Breaker::default();
    let stragglers: Vec<Permit> = (0..4)
        .map(|_| admit(&mut breaker, at(0)).unwrap())
        .collect();
    for _ in 0..4 {
        attempt(&mut breaker, Sample::Failure, at(0));
    }
    let probe = admit(&mut breaker, at(60)).unwrap();
    for permit in &stragglers {
        breaker.record(&policy(), permit, Sample::Success, at(61));
    }
    assert!(matches!(breaker.state, BreakerState::HalfOpen { .. }));
    breaker.record(&policy(), &probe, Sample::Success, at(62));
    for permit in &stragglers {
        breaker.record(&policy(), permit, Sample::Failure, at(63));
    }
    assert_eq!(
        (breaker.state, breaker.samples.len()),
        (BreakerState::Closed, 0)
    );
}

#[test]
fn releasing_an_ordinary_permit_changes_nothing() {
    let mut breaker = Breaker::default();
    let permit = admit(&mut breaker, at(0)).unwrap();
    let before = breaker.clone();
    breaker.release(&permit);
    assert_eq!(breaker, before);
}

#[test]
fn closing_by_hand_forgets_attempts_under_way() {
    let (mut breaker, probe) = probing();
    breaker.close();
    breaker.record(&policy(), &probe, Sample::Failure, at(61));
    assert_eq!(
        (breaker.state, breaker.samples.len()),
        (BreakerState::Closed, 0)
    );
}

#[test]
fn every_change_of_state_has_its_own_generation() {
    let (mut breaker, permit) = probing();
    assert_eq!((breaker.generation, permit.generation), (2, 2));
    breaker.record(&policy(), &permit, Sample::Success, at(61));
    assert_eq!(breaker.generation, 3);
}

#[test]
fn a_step_back_prolongs_the_cooldown_by_no_more_than_one() {
    let mut breaker = opened();
    breaker.state = BreakerState::Open { since: at(9000) };
    assert_eq!(breaker.ask(&policy(), at(100)), Gate::Refuse(at(160)));
    assert_eq!(breaker.ask(&policy(), at(160)), Gate::Pass(Probe::Yes));
}

#[test]
fn a_step_back_moves_a_lease_with_the_clock() {
    let mut breaker = Breaker {
        state: BreakerState::HalfOpen {
            since: at(9000),
            lease_until: at(9125),
        },
        ..Breaker::default()
    };
    assert_eq!(breaker.ask(&policy(), at(100)), Gate::Refuse(at(225)));
    assert_eq!(breaker.ask(&policy(), at(225)), Gate::Pass(Probe::Yes));
}

#[test]
fn a_step_back_makes_samples_no_younger_than_now() {
    let mut breaker = Breaker::default();
    for _ in 0..3 {
        attempt(&mut breaker, Sample::Failure, at(9000));
    }
    attempt(&mut breaker, Sample::Neutral, at(100));
    attempt(&mut breaker, Sample::Success, at(220));
    assert_eq!(
        (breaker.state, breaker.samples.len()),
        (BreakerState::Closed, 1)
    );
}

/// A probe let in while the clock was a year ahead, and lost, once refused the group for that year.
#[test]
fn a_lease_from_a_clock_that_was_ahead_is_over_once_it_is_set_back() {
    let year = Duration::from_hours(24 * 365);
    let mut breaker = Breaker {
        state: BreakerState::HalfOpen {
            since: at(0),
            lease_until: later(at(0), year),
        },
        ..Breaker::default()
    };
    assert_eq!(breaker.ask(&policy(), at(90)), Gate::Pass(Probe::Yes));
}

/// The longest timeout is a day, and its probe's lease was taken for that of a wrong clock: a second probe got through in
/// the first seconds of the first.
#[test]
fn the_lease_of_the_longest_attempt_holds_from_its_first_moment_to_its_last() {
    let day = Duration::from_hours(24);
    let patient = BreakerPolicy {
        stale_after: 3 * day,
        ..policy()
    };
    let mut breaker = Breaker {
        state: BreakerState::Open { since: at(0) },
        ..Breaker::default()
    };
    assert_eq!(breaker.ask(&patient, at(60)), Gate::Pass(Probe::Yes));
    let _permit = breaker.enter(Probe::Yes, at(60), day + LEASE_MARGIN);
    let end = later(at(60), day + LEASE_MARGIN);
    for now in [at(60), at(61), at(65), at(66), end - TimeDelta::seconds(1)] {
        assert_eq!(breaker.ask(&patient, now), Gate::Refuse(end), "{now}");
    }
    assert_eq!(breaker.ask(&patient, end), Gate::Pass(Probe::Yes));
}
