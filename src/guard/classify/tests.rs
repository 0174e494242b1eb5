use super::*;
use crate::answer::{Hint, Usage};

const SECOND: Duration = Duration::from_secs(1);

fn instant(text: &str) -> DateTime<Utc> {
    DateTime::parse_from_rfc3339(text).unwrap().to_utc()
}

fn now() -> DateTime<Utc> {
    instant("2026-11-30T12:00:00Z")
}

fn status(status: u16) -> SendFailure {
    SendFailure {
        status: Some(status),
        ..SendFailure::new(FailureKind::Status, "no")
    }
}

fn coded(number: u16, code: &str) -> SendFailure {
    SendFailure {
        error_code: Some(code.to_owned()),
        ..status(number)
    }
}

fn typed(number: u16, error_type: &str) -> SendFailure {
    SendFailure {
        error_type: Some(error_type.to_owned()),
        ..status(number)
    }
}

fn worded(number: u16, message: &str) -> SendFailure {
    SendFailure {
        message: message.to_owned(),
        ..typed(number, "invalid_request_error")
    }
}

fn streamed(error_type: &str) -> SendFailure {
    SendFailure {
        kind: FailureKind::StreamError,
        ..typed(200, error_type)
    }
}

/// The four columns of the table: class, sample, what follows, and what holds the group.
type Row = (Class, Sample, Then, Option<HoldCause>);

const UNWELL: Row = (Class::Retryable, Sample::Failure, Then::Exhaust, None);
const CONFLICT: Row = (Class::Retryable, Sample::Neutral, Then::Exhaust, None);
const REJECTED: Row = (
    Class::Fatal,
    Sample::Neutral,
    Then::Fail(FailReason::Fatal),
    None,
);
const RAMP: Row = (
    Class::Fatal,
    Sample::Failure,
    Then::Yield(YieldReason::Hint),
    None,
);
const NO_MESSAGE: Row = (
    Class::Retryable,
    Sample::Failure,
    Then::Fail(FailReason::NotAMessage),
    None,
);

const fn held(cause: HoldCause) -> Row {
    (
        Class::Fatal,
        Sample::Neutral,
        Then::Yield(YieldReason::Hold),
        Some(cause),
    )
}

fn row(failure: &SendFailure) -> Row {
    let verdict = classify(failure, now());
    (
        verdict.class,
        verdict.sample,
        verdict.then,
        verdict.hold.map(|hold| hold.cause),
    )
}

fn until(failure: &SendFailure) -> Option<DateTime<Utc>> {
    classify(failure, now()).hold.expect("a hold").until
}

#[test]
fn every_status_has_its_row_without_a_readable_body() {
    for (number, expected) in [
        (400, REJECTED),
        (401, held(HoldCause::Authentication)),
        (402, held(HoldCause::Billing)),
        (403, REJECTED),
        (404, REJECTED),
        (408, CONFLICT),
        (409, CONFLICT),
        (413, REJECTED),
        (422, REJECTED),
        (429, UNWELL),
        (499, CONFLICT),
        (500, UNWELL),
        (501, UNWELL),
        (502, UNWELL),
        (503, UNWELL),
        (504, UNWELL),
        (520, UNWELL),
        (524, UNWELL),
        (529, UNWELL),
        (304, REJECTED),
    ] {
        assert_eq!(row(&status(number)), expected, "{number}");
    }
}

#[test]
fn every_error_type_has_its_row_under_its_status_and_in_a_stream() {
    for (number, error_type, expected) in [
        (400, "invalid_request_error", REJECTED),
        (401, "authentication_error", held(HoldCause::Authentication)),
        (402, "billing_error", held(HoldCause::Billing)),
        (403, "permission_error", REJECTED),
        (404, "not_found_error", REJECTED),
        (409, "conflict_error", CONFLICT),
        (413, "request_too_large", REJECTED),
        (429, "rate_limit_error", UNWELL),
        (500, "api_error", UNWELL),
        (504, "timeout_error", UNWELL),
        (529, "overloaded_error", UNWELL),
    ] {
        assert_eq!(
            row(&typed(number, error_type)),
            expected,
            "{number} {error_type}"
        );
        assert_eq!(
            row(&streamed(error_type)),
            expected,
            "{error_type} in a stream"
        );
    }
}

#[test]
fn every_error_code_has_its_row() {
    for (number, code, expected) in [
        (
            429,
            "enforced_spend_limit_reached",
            held(HoldCause::SpendCap),
        ),
        (
            429,
            "contract_spend_limit_reached",
            held(HoldCause::SpendCap),
        ),
        (429, "ramp_limit_exceeded", RAMP),
        (
            402,
            "linked_organization_billing_unavailable",
            held(HoldCause::Billing),
        ),
        (
            402,
            "linked_organization_spend_limit_reached",
            held(HoldCause::Billing),
        ),
        (400, "organization_on_hold", held(HoldCause::Billing)),
        (413, "request_body_too_large_after_decoding", REJECTED),
        (503, "cmek_key_unreachable", UNWELL),
        (529, "compaction_unavailable", UNWELL),
        (429, "something_new", UNWELL),
        (400, "something_new", REJECTED),
    ] {
        assert_eq!(row(&coded(number, code)), expected, "{number} {code}");
    }
}

#[test]
fn a_code_goes_before_a_type_and_a_type_before_a_status() {
    let cap = SendFailure {
        error_type: Some("rate_limit_error".to_owned()),
        ..coded(429, "enforced_spend_limit_reached")
    };
    assert_eq!(row(&cap), held(HoldCause::SpendCap));
    assert_eq!(row(&typed(500, "overloaded_error")), UNWELL);
    assert_eq!(row(&typed(400, "overloaded_error")), UNWELL);
    assert_eq!(row(&typed(403, "forbidden")), REJECTED);
    assert_eq!(row(&streamed("something_new")), UNWELL);
}

#[test]
fn the_type_of_a_bad_request_says_nothing_under_another_4xx() {
    for (number, expected) in [
        (401, held(HoldCause::Authentication)),
        (402, held(HoldCause::Billing)),
        (409, CONFLICT),
        (429, UNWELL),
        (422, REJECTED),
    ] {
        assert_eq!(
            row(&typed(number, "invalid_request_error")),
            expected,
            "{number}"
        );
    }
}

#[test]
fn transport_failures_are_retried_and_count_as_failures() {
    for kind in [
        FailureKind::Connect,
        FailureKind::FirstByteTimeout,
        FailureKind::IdleTimeout,
        FailureKind::AttemptTimeout,
        FailureKind::Cut,
    ] {
        assert_eq!(row(&SendFailure::new(kind, "broken")), UNWELL, "{kind:?}");
        // Status 200 had arrived before it broke.
        let broken = SendFailure {
            status: Some(200),
            usage: Some(Usage::default()),
            ..SendFailure::new(kind, "broken")
        };
        assert_eq!(row(&broken), UNWELL, "{kind:?}");
    }
}

#[test]
fn our_own_mistakes_fail_whatever_the_header_says() {
    for kind in [
        FailureKind::TooLarge,
        FailureKind::Redirect,
        FailureKind::Unsendable,
    ] {
        let failure = SendFailure {
            should_retry: Some(ShouldRetry::Yes),
            ..SendFailure::new(kind, "no")
        };
        assert_eq!(row(&failure), REJECTED, "{kind:?}");
    }
}

#[test]
fn status_200_without_a_message_is_retried_and_then_fails() {
    let html = SendFailure {
        status: Some(200),
        ..SendFailure::new(FailureKind::NotAMessage, "<html>")
    };
    assert_eq!(row(&html), NO_MESSAGE);
    let error = SendFailure {
        error_type: Some("api_error".to_owned()),
        ..html.clone()
    };
    assert_eq!(row(&error), NO_MESSAGE);
    let cap = SendFailure {
        error_code: Some("contract_spend_limit_reached".to_owned()),
        ..html
    };
    assert_eq!(row(&cap), held(HoldCause::SpendCap));
}

#[test]
fn a_monthly_cap_holds_until_the_first_and_a_contract_until_a_person() {
    assert_eq!(
        until(&coded(429, "enforced_spend_limit_reached")),
        Some(instant("2026-12-01T00:00:00Z"))
    );
    for failure in [
        coded(429, "contract_spend_limit_reached"),
        coded(400, "organization_on_hold"),
        status(401),
        status(402),
    ] {
        assert_eq!(until(&failure), None, "{failure:?}");
    }
}

#[test]
fn the_owners_limit_is_known_by_its_wording_alone() {
    let named = "You have reached your specified API usage limits. You will regain access on 2026-12-01 at 00:00 UTC.";
    let unnamed = "You have reached your specified workspace API usage limits.";
    for message in [named, unnamed] {
        assert_eq!(
            row(&worded(400, message)),
            held(HoldCause::SpendCap),
            "{message}"
        );
    }
    assert_eq!(
        until(&worded(400, named)),
        Some(instant("2026-12-01T00:00:00Z"))
    );
    assert_eq!(until(&worded(400, unnamed)), None);
}

#[test]
fn missing_credit_is_known_by_its_wording_alone() {
    let message = "Your credit balance is too low to access the Anthropic API.";
    assert_eq!(row(&worded(400, message)), held(HoldCause::Billing));
    let untyped = SendFailure {
        message: message.to_uppercase(),
        ..status(400)
    };
    assert_eq!(row(&untyped), held(HoldCause::Billing));
    assert_eq!(
        row(&worded(400, "messages: at least one is required")),
        REJECTED
    );
    // The wording is a sign under 400 only: a prompt may be quoted in another error.
    assert_eq!(row(&worded(404, message)), REJECTED);
}

#[test]
fn the_header_overrides_the_retry_both_ways_and_leaves_the_rest() {
    let told = |failure: SendFailure, should_retry| {
        row(&SendFailure {
            should_retry: Some(should_retry),
            ..failure
        })
    };
    let (class, sample, then, hold) = REJECTED;
    assert_eq!(class, Class::Fatal);
    assert_eq!(
        told(status(404), ShouldRetry::Yes),
        (Class::Retryable, sample, then, hold)
    );
    let (_, sample, then, hold) = UNWELL;
    assert_eq!(
        told(status(529), ShouldRetry::No),
        (Class::Fatal, sample, then, hold)
    );
    assert_eq!(told(status(529), ShouldRetry::Yes), UNWELL);
    let (_, sample, then, hold) = RAMP;
    assert_eq!(
        told(coded(429, "ramp_limit_exceeded"), ShouldRetry::Yes),
        (Class::Retryable, sample, then, hold)
    );
}

/// With the header the hint was forgotten, and the next slot sent before the server's time.
#[test]
fn a_wait_beside_the_header_against_retries_is_kept() {
    let told = |hint| {
        row(&SendFailure {
            should_retry: Some(ShouldRetry::No),
            hint,
            ..status(529)
        })
    };
    let (_, sample, _, hold) = UNWELL;
    let waits = Then::Yield(YieldReason::Hint);
    let hour = Some(Hint::After(SECOND * 3600));
    assert_eq!(told(hour), (Class::Fatal, sample, waits, hold));
    assert_eq!(told(None), (Class::Fatal, sample, Then::Exhaust, hold));
}

#[test]
fn the_header_retries_no_spend_cap_and_a_refused_key_only_beside_its_strike() {
    let told = |failure: SendFailure| {
        row(&SendFailure {
            should_retry: Some(ShouldRetry::Yes),
            ..failure
        })
    };
    assert_eq!(
        told(coded(429, "enforced_spend_limit_reached")),
        held(HoldCause::SpendCap)
    );
    assert_eq!(
        told(worded(400, "Your credit balance is too low")),
        held(HoldCause::Billing)
    );
    let (_, sample, then, hold) = held(HoldCause::Authentication);
    assert_eq!(told(status(401)), (Class::Retryable, sample, then, hold));
}

#[test]
fn a_hint_is_the_wait_from_now_on() {
    let hinted = |hint| {
        classify(
            &SendFailure {
                hint: Some(hint),
                ..status(429)
            },
            now(),
        )
        .hint
    };
    assert_eq!(hinted(Hint::After(SECOND * 20)), Some(SECOND * 20));
    assert_eq!(
        hinted(Hint::At(instant("2026-11-30T12:00:30Z"))),
        Some(SECOND * 30)
    );
    assert_eq!(hinted(Hint::At(instant("2026-11-30T11:59:59Z"))), None);
    assert_eq!(classify(&status(429), now()).hint, None);
}

#[test]
fn an_answer_is_a_success_and_a_refused_one_tells_the_breaker_nothing() {
    let verdict = |stop_reason| {
        Verdict::answered(&Answer {
            id: "msg_1".to_owned(),
            model: "m".to_owned(),
            text: String::new(),
            stop_reason,
            usage: None,
            paused: None,
            tool_errors: Vec::new(),
        })
    };
    let cut = verdict(StopReason::MaxTokens);
    assert_eq!(
        (cut.class, cut.sample, cut.then),
        (Class::Success, Sample::Success, Then::Answer)
    );
    let refused = verdict(StopReason::Refusal);
    assert_eq!(
        (refused.class, refused.sample, refused.then),
        (Class::Success, Sample::Neutral, Then::Answer)
    );
}
