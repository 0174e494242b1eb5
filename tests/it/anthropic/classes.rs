//! What the guard makes of replies that came over HTTP: client and guard agree on every row of the API's table.

use std::collections::BTreeMap;
use std::time::Duration;

use chrono::{DateTime, Utc};
use offpeak::guard::{HoldCause, Sample, Verdict, classify};
use offpeak::job::Delivery;
use offpeak::outcome::Class::{self, Fatal, Retryable};
use offpeak::standin::Fault;
use offpeak::standin::fault::{BodyReply, ErrorReply, StreamError};

use super::meet;

fn now() -> DateTime<Utc> {
    DateTime::from_timestamp(1_796_000_000, 0).unwrap()
}

async fn verdict(fault: Fault) -> Verdict {
    classify(&meet(fault, Delivery::Stream).await.unwrap_err(), now())
}

fn coded(status: u16, code: &str) -> Fault {
    Fault::Error(ErrorReply {
        status,
        code: Some(code.to_owned()),
        ..ErrorReply::default()
    })
}

fn said(status: u16, message: &str) -> Fault {
    Fault::Error(ErrorReply {
        status,
        message: Some(message.to_owned()),
        ..ErrorReply::default()
    })
}

fn advised(status: u16, advice: &str) -> Fault {
    let headers = BTreeMap::from([("x-should-retry".to_owned(), advice.to_owned())]);
    Fault::Error(ErrorReply {
        status,
        headers,
        ..ErrorReply::default()
    })
}

async fn check(fault: Fault, class: Class, sample: Sample, hold: Option<HoldCause>) {
    let verdict = verdict(fault.clone()).await;
    assert_eq!(
        (verdict.class, verdict.sample),
        (class, sample),
        "{fault:?}"
    );
    assert_eq!(verdict.hold.map(|hold| hold.cause), hold, "{fault:?}");
}

#[tokio::test]
async fn unwell_upstream_is_retried_and_counts_as_a_failure() {
    for status in [429, 500, 502, 503, 504, 520, 521, 522, 523, 524, 529] {
        check(Fault::status(status), Retryable, Sample::Failure, None).await;
    }
    let event = StreamError {
        after: 3,
        kind: "overloaded_error".to_owned(),
        message: None,
    };
    check(Fault::StreamError(event), Retryable, Sample::Failure, None).await;
    for fault in [Fault::cut(0), Fault::cut(4), Fault::HangUp {}] {
        check(fault, Retryable, Sample::Failure, None).await;
    }
    let page = BodyReply {
        status: 200,
        content_type: Some("text/html".to_owned()),
        text: "<p>hi</p>".to_owned(),
    };
    check(Fault::Body(page), Retryable, Sample::Failure, None).await;
    for code in ["cmek_key_unreachable", "compaction_unavailable"] {
        check(coded(503, code), Retryable, Sample::Failure, None).await;
    }
}

#[tokio::test]
async fn bad_request_is_fatal_and_tells_the_breaker_nothing() {
    for status in [400, 403, 404, 413, 422] {
        check(Fault::status(status), Fatal, Sample::Neutral, None).await;
    }
    check(
        coded(413, "request_body_too_large_after_decoding"),
        Fatal,
        Sample::Neutral,
        None,
    )
    .await;
}

#[tokio::test]
async fn money_and_keys_hold_the_group() {
    let neutral = Sample::Neutral;
    check(
        Fault::status(401),
        Fatal,
        neutral,
        Some(HoldCause::Authentication),
    )
    .await;
    check(Fault::status(402), Fatal, neutral, Some(HoldCause::Billing)).await;
    check(
        coded(429, "enforced_spend_limit_reached"),
        Fatal,
        neutral,
        Some(HoldCause::SpendCap),
    )
    .await;
    check(
        coded(429, "contract_spend_limit_reached"),
        Fatal,
        neutral,
        Some(HoldCause::SpendCap),
    )
    .await;
    check(
        coded(400, "organization_on_hold"),
        Fatal,
        neutral,
        Some(HoldCause::Billing),
    )
    .await;
    let credit = said(400, "Your credit balance is too low to access the API.");
    check(credit, Fatal, neutral, Some(HoldCause::Billing)).await;
    let limit = "You have reached your specified API usage limits. You will regain access on 2026-12-01 at 00:00 UTC.";
    check(said(400, limit), Fatal, neutral, Some(HoldCause::SpendCap)).await;
}

#[tokio::test]
async fn hint_of_the_server_reaches_the_guard() {
    let verdict = verdict(Fault::rate_limit(20)).await;
    assert_eq!(
        (verdict.class, verdict.hint),
        (Retryable, Some(Duration::from_secs(20)))
    );
    check(
        coded(429, "ramp_limit_exceeded"),
        Fatal,
        Sample::Failure,
        None,
    )
    .await;
}

#[tokio::test]
async fn advice_of_the_server_overrides_the_class() {
    check(advised(400, "true"), Retryable, Sample::Neutral, None).await;
    check(advised(529, "false"), Fatal, Sample::Failure, None).await;
}
