use std::num::NonZeroU32;

use super::span::later;
use super::*;

const LEASE: Duration = Duration::from_secs(65);

fn at(seconds: u64) -> DateTime<Utc> {
    later(DateTime::UNIX_EPOCH, Duration::from_secs(seconds))
}

/// Three calls a minute; the breaker opens at two failures, for 30 s.
fn policy() -> GuardPolicy {
    let second = Duration::from_secs(1);
    let breaker = BreakerPolicy {
        min_samples: NonZeroU32::new(2).unwrap(),
        failure_ratio: 1.0,
        window: second * 120,
        cooldown: second * 30,
        stale_after: second * 600,
    };
    GuardPolicy {
        budget: BudgetPolicy::new(3, second * 60).unwrap(),
        breaker,
    }
}

fn attempt(guard: &mut Guard, sample: Sample, now: DateTime<Utc>) {
    let permit = guard.admit(&policy(), now, LEASE).expect("admitted");
    guard.record(&policy(), permit, sample, now);
}

fn refusal(guard: &mut Guard, now: DateTime<Utc>) -> (YieldReason, Option<DateTime<Utc>>) {
    let refusal = guard.admit(&policy(), now, LEASE).expect_err("refused");
    (refusal.reason, refusal.until)
}

fn hold(cause: HoldCause, until: Option<u64>) -> Hold {
    Hold {
        cause,
        until: until.map(at),
        since: at(0),
        note: String::new(),
    }
}

#[test]
fn every_gate_names_itself_and_the_instant_to_ask_again() {
    let mut guard = Guard::default();
    attempt(&mut guard, Sample::Failure, at(0));
    attempt(&mut guard, Sample::Failure, at(0));
    assert_eq!(
        refusal(&mut guard, at(1)),
        (YieldReason::Breaker, Some(at(30)))
    );
    guard.place_hold(hold(HoldCause::SpendCap, Some(100)));
    assert_eq!(
        refusal(&mut guard, at(1)),
        (YieldReason::Hold, Some(at(100)))
    );
    guard.place_hold(hold(HoldCause::Billing, None));
    assert_eq!(refusal(&mut guard, at(1)), (YieldReason::Hold, None));
    guard.resume();
    attempt(&mut guard, Sample::Success, at(1));
    assert_eq!(
        refusal(&mut guard, at(2)),
        (YieldReason::Budget, Some(at(60)))
    );
}

#[test]
fn a_refusal_spends_nothing() {
    let mut guard = Guard::default();
    attempt(&mut guard, Sample::Failure, at(0));
    attempt(&mut guard, Sample::Failure, at(0));
    let before = guard.clone();
    for _ in 0..100 {
        assert_eq!(refusal(&mut guard, at(5)).0, YieldReason::Breaker);
    }
    assert_eq!(guard, before);
}

#[test]
fn a_budget_refusal_leaves_the_probe_for_the_next_who_asks() {
    let mut guard = Guard::default();
    attempt(&mut guard, Sample::Neutral, at(0));
    attempt(&mut guard, Sample::Failure, at(10));
    attempt(&mut guard, Sample::Failure, at(10));
    assert_eq!(
        refusal(&mut guard, at(40)),
        (YieldReason::Budget, Some(at(60)))
    );
    let permit = guard.admit(&policy(), at(60), LEASE).expect("room again");
    assert_eq!(permit.probe, Probe::Yes);
    guard.release(permit);
}

#[test]
fn a_hold_lifts_by_itself_at_its_instant() {
    let mut guard = Guard::default();
    guard.place_hold(hold(HoldCause::Hint, Some(100)));
    assert_eq!(refusal(&mut guard, at(99)).0, YieldReason::Hold);
    attempt(&mut guard, Sample::Success, at(100));
    assert_eq!(guard.hold, None);
}

#[test]
fn the_longer_or_harder_hold_is_kept() {
    let mut guard = Guard::default();
    guard.place_hold(hold(HoldCause::Hint, Some(100)));
    guard.place_hold(hold(HoldCause::Hint, Some(50)));
    assert_eq!(guard.hold, Some(hold(HoldCause::Hint, Some(100))));
    guard.place_hold(hold(HoldCause::Billing, None));
    guard.place_hold(hold(HoldCause::SpendCap, Some(9000)));
    guard.place_hold(hold(HoldCause::Person, None));
    assert_eq!(guard.hold, Some(hold(HoldCause::Billing, None)));
}

#[test]
fn the_second_401_holds_and_a_success_forgets_the_first() {
    let mut guard = Guard::default();
    let refused_key = || hold(HoldCause::Authentication, None);
    guard.place_hold(refused_key());
    assert_eq!((guard.hold.is_some(), guard.strikes), (false, 1));
    attempt(&mut guard, Sample::Success, at(0));
    guard.place_hold(refused_key());
    assert!(guard.hold.is_none());
    attempt(&mut guard, Sample::Neutral, at(0));
    guard.place_hold(refused_key());
    assert_eq!(guard.hold, Some(refused_key()));
}

#[test]
fn resume_lifts_everything_but_the_budget() {
    let mut guard = Guard::default();
    attempt(&mut guard, Sample::Failure, at(0));
    attempt(&mut guard, Sample::Failure, at(0));
    guard.place_hold(hold(HoldCause::Authentication, None));
    guard.place_hold(hold(HoldCause::Authentication, None));
    guard.resume();
    assert_eq!((guard.hold.is_some(), guard.strikes), (false, 0));
    attempt(&mut guard, Sample::Success, at(0));
    assert_eq!(refusal(&mut guard, at(0)).0, YieldReason::Budget);
}

#[test]
fn a_released_send_stays_spent() {
    let mut guard = Guard::default();
    for _ in 0..3 {
        let permit = guard.admit(&policy(), at(0), LEASE).expect("room");
        guard.release(permit);
    }
    assert_eq!(refusal(&mut guard, at(0)).0, YieldReason::Budget);
}

#[test]
fn an_open_breaker_does_not_keep_sends_from_the_future() {
    let mut guard = Guard::default();
    attempt(&mut guard, Sample::Failure, at(9000));
    attempt(&mut guard, Sample::Failure, at(9000));
    assert_eq!(
        refusal(&mut guard, at(100)),
        (YieldReason::Breaker, Some(at(130)))
    );
    assert!(guard.budget.sent.iter().all(|sent| *sent == at(100)));
}
