//! The call machine under any course of events, and the verdicts that drive it.

use std::sync::LazyLock;
use std::time::Duration;

use chrono::DateTime;
use offpeak::answer::{FailureKind, Hint, SendFailure, ShouldRetry};
use offpeak::engine::{Action, Call, CallEnd, CallSettings, Event};
use offpeak::guard::span::{elapsed, later};
use offpeak::guard::{Refusal, Sample, Then, Verdict, classify};
use offpeak::outcome::{Class, FailReason, YieldReason};
use offpeak::schedule::{PeakWindow, PeakWindows, Zones};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

use super::{SECOND, night, retry_policy};

static PEAKS: LazyLock<PeakWindows> = LazyLock::new(|| {
    let zone = Zones::bundled().get("Asia/Tokyo").expect("a bundled zone");
    let window = |start: u16, end: u16| PeakWindow {
        start: start * 60,
        end: end * 60,
        days: [true; 7],
    };
    PeakWindows::new(zone, vec![window(7, 9), window(18, 23)])
});

fn failure_kind() -> impl Strategy<Value = FailureKind> {
    prop::sample::select(vec![
        FailureKind::Connect,
        FailureKind::FirstByteTimeout,
        FailureKind::IdleTimeout,
        FailureKind::AttemptTimeout,
        FailureKind::Cut,
        FailureKind::Status,
        FailureKind::Status,
        FailureKind::Status,
        FailureKind::StreamError,
        FailureKind::NotAMessage,
        FailureKind::TooLarge,
        FailureKind::Redirect,
        FailureKind::Unsendable,
    ])
}

/// Words that mean something, and words that do not.
fn word(known: &'static [&'static str]) -> impl Strategy<Value = Option<String>> {
    let known = prop::sample::select(known).prop_map(|word| Some(word.to_owned()));
    prop_oneof![2 => Just(None), 2 => known, 1 => ".{0,20}".prop_map(Some)]
}

fn failure() -> impl Strategy<Value = SendFailure> {
    let status = option::of(prop_oneof![
        prop::sample::select(vec![200, 400, 401, 402, 429, 500, 529]),
        any::<u16>()
    ]);
    let error_type = word(&[
        "invalid_request_error",
        "authentication_error",
        "overloaded_error",
        "rate_limit_error",
    ]);
    let error_code = word(&[
        "enforced_spend_limit_reached",
        "contract_spend_limit_reached",
        "ramp_limit_exceeded",
    ]);
    let message = prop::sample::select(vec![
        "no",
        "Your credit balance is too low",
        "reached your specified usage limits",
    ]);
    let hint = option::of(prop_oneof![
        (0_u64..40).prop_map(|seconds| Hint::After(Duration::from_secs(seconds))),
        any::<u64>().prop_map(|seconds| Hint::After(Duration::from_secs(seconds))),
        any::<u32>().prop_map(|seconds| Hint::At(
            DateTime::from_timestamp(i64::from(seconds), 0).expect("in bounds")
        )),
    ]);
    let should_retry = option::of(prop::sample::select(vec![
        ShouldRetry::Yes,
        ShouldRetry::No,
    ]));
    (
        failure_kind(),
        status,
        error_type,
        error_code,
        message,
        hint,
        should_retry,
    )
        .prop_map(
            |(kind, status, error_type, error_code, message, hint, should_retry)| SendFailure {
                status,
                error_type,
                error_code,
                hint,
                should_retry,
                ..SendFailure::new(kind, message)
            },
        )
}

fn verdict() -> impl Strategy<Value = Verdict> {
    let answered = Verdict {
        class: Class::Success,
        sample: Sample::Success,
        hint: None,
        hold: None,
        then: Then::Answer,
    };
    prop_oneof![4 => failure().prop_map(|failure| classify(&failure, night())), 1 => Just(answered)]
}

fn event() -> impl Strategy<Value = Event> {
    let refusal = Refusal {
        reason: YieldReason::Budget,
        until: None,
    };
    prop_oneof![
        2 => Just(Event::Begun),
        6 => Just(Event::Admitted),
        1 => Just(Event::Refused(refusal)),
        6 => (verdict(), 0.0..1.0).prop_map(|(verdict, draw)| Event::Ended { verdict, draw }),
        1 => Just(Event::Cancelled),
        6 => Just(Event::Recorded),
        6 => Just(Event::Waited),
        1 => Just(Event::Stopped),
    ]
}

/// What a driver that keeps its place reports after an action; `None` once the call is over.
fn fitting(action: &Action, verdict: Verdict, draw: f64) -> Option<Event> {
    match action {
        Action::Ask { .. } => Some(Event::Admitted),
        Action::Send { .. } => Some(Event::Ended { verdict, draw }),
        Action::Record { .. } => Some(Event::Recorded),
        Action::Wait(_) => Some(Event::Waited),
        Action::Done(_) => None,
    }
}

proptest! {
    #[test]
    fn no_course_of_events_sends_more_than_max_attempts(
        retry in retry_policy(), events in vec((0_u32..20_000, event()), 0..60),
    ) {
        let peaks = &*PEAKS;
        let mut call = Call::new(CallSettings { retry, peaks: Some(peaks.clone()) });
        let (mut now, mut sends, mut records) = (night(), 0, 0);
        for (passed, event) in events {
            now = later(now, SECOND * passed);
            match call.step(now, event) {
                Action::Ask { n, .. } => prop_assert!(n == sends + 1 && !peaks.is_peak(now), "attempt {n} at {now}"),
                Action::Send { n } => {
                    sends += 1;
                    prop_assert_eq!(n, sends);
                }
                Action::Record { .. } => records += 1,
                Action::Wait(wait) => prop_assert!(wait <= retry.max_delay() && !peaks.is_peak(later(now, wait))),
                Action::Done(_) => prop_assert_eq!(sends, records, "a permit was kept"),
            }
        }
        prop_assert!(sends <= retry.max_attempts());
        prop_assert!(records <= sends && sends <= records + 1);
    }

    #[test]
    fn a_driver_that_keeps_its_place_reaches_an_end(
        retry in retry_policy(), verdicts in vec((verdict(), 0.0..1.0), 3), start in 0_u32..86_400,
    ) {
        let mut call = Call::new(CallSettings { retry, peaks: Some(PEAKS.clone()) });
        let began = later(night(), SECOND * start);
        let (mut now, mut sends, mut verdicts) = (began, 0_u32, verdicts.into_iter());
        let (mut verdict, mut draw) = verdicts.next().expect("in bounds");
        let mut action = call.step(now, Event::Begun);
        while let Some(event) = fitting(&action, verdict.clone(), draw) {
            if let Action::Wait(wait) = action {
                now = later(now, wait);
                (verdict, draw) = verdicts.next().expect("no more than three attempts");
            }
            action = call.step(now, event);
            sends += u32::from(matches!(action, Action::Send { .. }));
        }
        prop_assert!(sends <= retry.max_attempts());
        prop_assert!(elapsed(began, now) <= retry.max_delay() * 2);
        if action == Action::Done(CallEnd::Exhausted) {
            prop_assert!(verdict.then == Then::Exhaust);
        }
    }

    #[test]
    fn every_failure_has_a_verdict_that_makes_sense(failure in failure()) {
        let verdict = classify(&failure, night());
        prop_assert_ne!(verdict.class, Class::Success);
        prop_assert_ne!(verdict.then, Then::Answer);
        prop_assert_ne!(verdict.sample, Sample::Success);
        prop_assert_eq!(verdict.hold.is_some(), verdict.then == Then::Yield(YieldReason::Hold));
        if let Some(hold) = &verdict.hold {
            prop_assert_eq!(verdict.sample, Sample::Neutral);
            prop_assert!(hold.is_active(night()));
        }
        if failure.should_retry == Some(ShouldRetry::No) {
            prop_assert_eq!(verdict.class, Class::Fatal);
        }
        if verdict.then == Then::Fail(FailReason::NotAMessage) {
            prop_assert_eq!(failure.kind, FailureKind::NotAMessage);
        }
    }
}
