use super::*;
use crate::answer::{Answer, FailureKind, Hint, SendFailure, ShouldRetry, StopReason};
use crate::guard::{HoldCause, classify};
use crate::schedule::{PeakWindow, Zones};

const SECOND: Duration = Duration::from_secs(1);

/// 05:00 JST, two hours before the morning peak.
fn now() -> DateTime<Utc> {
    instant("2026-11-29T20:00:00Z")
}

fn instant(text: &str) -> DateTime<Utc> {
    DateTime::parse_from_rfc3339(text).unwrap().to_utc()
}

fn peaks() -> PeakWindows {
    let zone = Zones::bundled().get("Asia/Tokyo").unwrap();
    PeakWindows::new(
        zone,
        vec![PeakWindow {
            start: 7 * 60,
            end: 9 * 60,
            days: [true; 7],
        }],
    )
}

fn call() -> Call {
    let retry = RetryPolicy::new(3, SECOND, SECOND * 30, 0.5).unwrap();
    Call::new(CallSettings {
        retry,
        peaks: Some(peaks()),
    })
}

fn failure(status: u16) -> SendFailure {
    SendFailure {
        status: Some(status),
        ..SendFailure::new(FailureKind::Status, "no")
    }
}

fn hinted(seconds: u64) -> SendFailure {
    SendFailure {
        hint: Some(Hint::After(SECOND * u32::try_from(seconds).unwrap())),
        ..failure(429)
    }
}

fn ended(failure: &SendFailure, now: DateTime<Utc>) -> Event {
    Event::Ended {
        verdict: classify(failure, now),
        draw: 0.5,
    }
}

/// Drives a call up to its first send.
fn sending(now: DateTime<Utc>) -> Call {
    let mut call = call();
    assert_eq!(
        call.step(now, Event::Begun),
        Action::Ask {
            n: 1,
            wait: Duration::ZERO
        }
    );
    assert_eq!(call.step(now, Event::Admitted), Action::Send { n: 1 });
    call
}

/// What is recorded of a failure of the first attempt, and what follows.
fn after_first(failure: &SendFailure, now: DateTime<Utc>) -> (Option<Hold>, Action) {
    let mut call = sending(now);
    let Action::Record {
        class: Some(_),
        sample: Some(_),
        hold,
    } = call.step(now, ended(failure, now))
    else {
        panic!("an attempt that ended is recorded");
    };
    (hold, call.step(now, Event::Recorded))
}

fn yielded(reason: YieldReason, not_before: Option<DateTime<Utc>>) -> Action {
    Action::Done(CallEnd::Yielded { reason, not_before })
}

#[test]
fn a_call_is_retried_to_the_last_attempt_and_is_then_exhausted() {
    let mut call = sending(now());
    for (n, wait) in [(1, SECOND), (2, SECOND * 2)] {
        let record = call.step(now(), ended(&failure(529), now()));
        let expected = Action::Record {
            class: Some(Class::Retryable),
            sample: Some(Sample::Failure),
            hold: None,
        };
        assert_eq!(record, expected);
        assert_eq!(call.step(now(), Event::Recorded), Action::Wait(wait));
        assert_eq!(
            call.step(now() + wait, Event::Waited),
            Action::Ask { n: n + 1, wait }
        );
        assert_eq!(
            call.step(now() + wait, Event::Admitted),
            Action::Send { n: n + 1 }
        );
    }
    call.step(now(), ended(&failure(529), now()));
    assert_eq!(
        call.step(now(), Event::Recorded),
        Action::Done(CallEnd::Exhausted)
    );
}

#[test]
fn an_answer_ends_the_call() {
    let answer = Answer {
        id: "msg_1".to_owned(),
        model: "m".to_owned(),
        text: "good morning".to_owned(),
        stop_reason: StopReason::EndTurn,
        usage: None,
        paused: None,
        tool_errors: Vec::new(),
    };
    let mut call = sending(now());
    let verdict = Verdict::answered(&answer);
    let record = call.step(now(), Event::Ended { verdict, draw: 0.5 });
    let expected = Action::Record {
        class: Some(Class::Success),
        sample: Some(Sample::Success),
        hold: None,
    };
    assert_eq!(record, expected);
    assert_eq!(
        call.step(now(), Event::Recorded),
        Action::Done(CallEnd::Answered)
    );
}

#[test]
fn a_refusal_yields_with_its_reason_and_instant() {
    let mut call = call();
    call.step(now(), Event::Begun);
    let refusal = Refusal {
        reason: YieldReason::Breaker,
        until: Some(now() + SECOND),
    };
    assert_eq!(
        call.step(now(), Event::Refused(refusal)),
        yielded(YieldReason::Breaker, Some(now() + SECOND))
    );
}

#[test]
fn no_attempt_begins_in_a_peak_window() {
    let opens = Some(instant("2026-11-30T00:00:00Z"));
    for at in ["2026-11-29T22:00:00Z", "2026-11-29T23:59:59Z"] {
        assert_eq!(
            call().step(instant(at), Event::Begun),
            yielded(YieldReason::Peak, opens),
            "{at}"
        );
    }
    for at in ["2026-11-29T21:59:59Z", "2026-11-30T00:00:00Z"] {
        assert_eq!(
            call().step(instant(at), Event::Begun),
            Action::Ask {
                n: 1,
                wait: Duration::ZERO
            },
            "{at}"
        );
    }
}

#[test]
fn a_run_that_a_person_asked_for_knows_no_peak() {
    let mut call = call();
    call.settings.peaks = None;
    assert_eq!(
        call.step(instant("2026-11-29T22:30:00Z"), Event::Begun),
        Action::Ask {
            n: 1,
            wait: Duration::ZERO
        }
    );
}

#[test]
fn a_wait_into_a_peak_window_yields_at_once() {
    let opens = Some(instant("2026-11-30T00:00:00Z"));
    let (hold, next) = after_first(&failure(529), instant("2026-11-29T21:59:59Z"));
    assert_eq!((hold, next), (None, yielded(YieldReason::Peak, opens)));
    let (_, next) = after_first(&failure(529), instant("2026-11-29T21:59:58.999Z"));
    assert_eq!(next, Action::Wait(SECOND));
}

#[test]
fn a_hint_longer_than_the_time_left_holds_the_group_too() {
    let now = instant("2026-11-29T21:59:50Z");
    let (hold, next) = after_first(&hinted(10), now);
    assert_eq!(
        hold.map(|hold| (hold.cause, hold.until)),
        Some((HoldCause::Hint, Some(now + SECOND * 10)))
    );
    assert_eq!(
        next,
        yielded(YieldReason::Peak, Some(instant("2026-11-30T00:00:00Z")))
    );
}

#[test]
fn a_wait_that_ends_late_is_checked_again() {
    let mut call = sending(now());
    call.step(now(), ended(&failure(529), now()));
    assert_eq!(call.step(now(), Event::Recorded), Action::Wait(SECOND));
    let woken = instant("2026-11-29T22:10:00Z");
    assert_eq!(
        call.step(woken, Event::Waited),
        yielded(YieldReason::Peak, Some(instant("2026-11-30T00:00:00Z")))
    );
}

#[test]
fn a_long_hint_yields_and_holds_the_group_until_then() {
    let until = Some(now() + SECOND * 3600);
    let (hold, next) = after_first(&hinted(3600), now());
    assert_eq!(
        hold.map(|hold| (hold.cause, hold.until)),
        Some((HoldCause::Hint, until))
    );
    assert_eq!(next, yielded(YieldReason::Hint, until));
}

#[test]
fn a_hint_of_max_delay_waits_it_out() {
    let (hold, next) = after_first(&hinted(30), now());
    assert_eq!((hold, next), (None, Action::Wait(SECOND * 30)));
}

#[test]
fn a_ramp_limit_yields_even_for_a_short_hint() {
    let code = Some("ramp_limit_exceeded".to_owned());
    let until = Some(now() + SECOND * 5);
    let (hold, next) = after_first(
        &SendFailure {
            error_code: code.clone(),
            ..hinted(5)
        },
        now(),
    );
    assert_eq!(
        hold.map(|hold| (hold.cause, hold.until)),
        Some((HoldCause::Hint, until))
    );
    assert_eq!(next, yielded(YieldReason::Hint, until));
    let (hold, next) = after_first(
        &SendFailure {
            error_code: code,
            ..failure(429)
        },
        now(),
    );
    assert_eq!((hold, next), (None, yielded(YieldReason::Hint, None)));
}

#[test]
fn money_errors_yield_until_the_hold_lifts() {
    let cap = SendFailure {
        error_code: Some("enforced_spend_limit_reached".to_owned()),
        ..failure(429)
    };
    let lifts = Some(instant("2026-12-01T00:00:00Z"));
    let (hold, next) = after_first(&cap, now());
    assert_eq!(
        hold.map(|hold| (hold.cause, hold.until)),
        Some((HoldCause::SpendCap, lifts))
    );
    assert_eq!(next, yielded(YieldReason::Hold, lifts));
    for (status, cause) in [(401, HoldCause::Authentication), (402, HoldCause::Billing)] {
        let (hold, next) = after_first(&failure(status), now());
        assert_eq!(hold.map(|hold| hold.cause), Some(cause));
        assert_eq!(next, yielded(YieldReason::Hold, None));
    }
}

#[test]
fn a_refused_key_that_may_be_retried_keeps_its_strike() {
    let told = SendFailure {
        should_retry: Some(ShouldRetry::Yes),
        ..failure(401)
    };
    let (hold, next) = after_first(&told, now());
    assert_eq!(hold.map(|hold| hold.cause), Some(HoldCause::Authentication));
    assert_eq!(next, Action::Wait(SECOND));
}

#[test]
fn a_fatal_answer_fails_at_once() {
    let (hold, next) = after_first(&failure(404), now());
    assert_eq!(
        (hold, next),
        (None, Action::Done(CallEnd::Failed(FailReason::Fatal)))
    );
}

#[test]
fn no_message_to_the_last_attempt_fails() {
    let html = SendFailure {
        status: Some(200),
        ..SendFailure::new(FailureKind::NotAMessage, "<html>")
    };
    let mut call = sending(now());
    for _ in 0..2 {
        call.step(now(), ended(&html, now()));
        assert!(matches!(call.step(now(), Event::Recorded), Action::Wait(_)));
        call.step(now(), Event::Waited);
        call.step(now(), Event::Admitted);
    }
    call.step(now(), ended(&html, now()));
    assert_eq!(
        call.step(now(), Event::Recorded),
        Action::Done(CallEnd::Failed(FailReason::NotAMessage))
    );
}

#[test]
fn the_stop_signal_ends_a_wait_or_a_call_that_has_not_asked() {
    assert_eq!(
        call().step(now(), Event::Stopped),
        yielded(YieldReason::Shutdown, None)
    );
    let mut waiting = sending(now());
    waiting.step(now(), ended(&failure(529), now()));
    waiting.step(now(), Event::Recorded);
    assert_eq!(
        waiting.step(now(), Event::Stopped),
        yielded(YieldReason::Shutdown, None)
    );
}

#[test]
fn a_cancelled_attempt_gives_its_permit_back_and_yields() {
    let mut call = sending(now());
    assert_eq!(
        call.step(now(), Event::Cancelled),
        Action::Record {
            class: None,
            sample: None,
            hold: None
        }
    );
    assert_eq!(
        call.step(now(), Event::Recorded),
        yielded(YieldReason::Shutdown, None)
    );
}

#[test]
fn an_event_that_does_not_fit_stops_the_call_and_keeps_no_permit() {
    let mut lost = sending(now());
    assert_eq!(
        lost.step(now(), Event::Begun),
        Action::Record {
            class: None,
            sample: None,
            hold: None
        }
    );
    assert_eq!(
        lost.step(now(), Event::Recorded),
        yielded(YieldReason::Shutdown, None)
    );
    let mut early = call();
    assert_eq!(
        early.step(now(), Event::Admitted),
        yielded(YieldReason::Shutdown, None)
    );
}

#[test]
fn an_end_that_is_being_recorded_stands_whatever_comes() {
    let mut call = sending(now());
    call.step(now(), ended(&failure(404), now()));
    assert_eq!(
        call.step(now(), Event::Stopped),
        Action::Done(CallEnd::Failed(FailReason::Fatal))
    );
}

#[test]
fn after_the_end_every_event_brings_the_same_end() {
    let mut call = sending(now());
    call.step(now(), ended(&failure(404), now()));
    let end = call.step(now(), Event::Recorded);
    for event in [
        Event::Begun,
        Event::Admitted,
        Event::Waited,
        Event::Stopped,
        Event::Cancelled,
        Event::Recorded,
    ] {
        assert_eq!(call.step(now(), event), end);
    }
}
