//! Every row of the API's own tables, as bytes on a socket: what the client reads of them and the guard makes of it.
//!
//! Each row comes as the API writes it, and then again as it looks behind proxies and in a stream.

use std::time::Duration;

use chrono::{DateTime, Utc};
use offpeak::answer::SendFailure;
use offpeak::engine::ports::{Clock as _, Upstream};
use offpeak::guard::{HoldCause, RetryPolicy, Sample, Step, Then, Verdict, classify, next_step};
use offpeak::job::Delivery;
use offpeak::outcome::Class::{self, Fatal, Retryable};
use offpeak::outcome::{FailReason, YieldReason};

use super::clock::ManualClock;
use super::raw::Raw;
use super::{client, request};

/// Class, sample, what follows, and what holds the group.
type Row = (Class, Sample, Then, Option<HoldCause>);

const RETRY_THEN_DEFER: Row = (Retryable, Sample::Failure, Then::Exhaust, None);
const CONFLICT: Row = (Retryable, Sample::Neutral, Then::Exhaust, None);
const NO_MESSAGE: Row = (
    Retryable,
    Sample::Failure,
    Then::Fail(FailReason::NotAMessage),
    None,
);
const FAIL: Row = (Fatal, Sample::Neutral, Then::Fail(FailReason::Fatal), None);
const RAMP: Row = (Fatal, Sample::Failure, Then::Yield(YieldReason::Hint), None);
const AUTHENTICATION: Row = held(HoldCause::Authentication);
const BILLING: Row = held(HoldCause::Billing);
const SPEND_CAP: Row = held(HoldCause::SpendCap);

const fn held(cause: HoldCause) -> Row {
    let then = Then::Yield(YieldReason::Hold);
    (Fatal, Sample::Neutral, then, Some(cause))
}

/// Sends one request to a socket that says these bytes and closes.
async fn failure(reply: &[u8]) -> SendFailure {
    let clock = ManualClock::new();
    let raw = Raw::bind().await;
    let client = client(&raw.base_url(), &clock);
    let request = request(Delivery::Stream);
    let serve = async { raw.accept().await.say(reply).await };
    let ((), result) = tokio::join!(serve, client.send(&request));
    result.unwrap_err()
}

async fn verdict(reply: &str) -> Verdict {
    classify(&failure(reply.as_bytes()).await, now())
}

fn now() -> DateTime<Utc> {
    ManualClock::new().now()
}

async fn check(reply: &str, expected: Row) {
    let verdict = verdict(reply).await;
    let hold = verdict.hold.map(|hold| hold.cause);
    let row = (verdict.class, verdict.sample, verdict.then, hold);
    assert_eq!(row, expected, "{reply}");
}

fn http(status: u16, headers: &str, body: &str) -> String {
    let length = body.len();
    format!("HTTP/1.1 {status} Words\r\n{headers}content-length: {length}\r\n\r\n{body}")
}

fn json(status: u16, body: &str) -> String {
    http(status, "content-type: application/json\r\n", body)
}

/// An error as the API writes it; an empty code stands for none.
fn error(error_type: &str, code: &str, message: &str) -> String {
    let details = if code.is_empty() {
        String::new()
    } else {
        format!(r#","details":{{"error_code":"{code}"}}"#)
    };
    format!(
        r#"{{"type":"error","error":{{"type":"{error_type}","message":"{message}"{details}}},"request_id":"req_1"}}"#
    )
}

/// The same inside a stream, as its first event and after text.
fn streams(error: &str) -> [String; 2] {
    let head = "content-type: text/event-stream\r\n";
    let start = r#"data: {"type":"message_start","message":{"usage":{"input_tokens":1,"output_tokens":1}}}"#;
    let text = r#"data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"half"}}"#;
    [
        http(200, head, &format!("event: error\ndata: {error}\n\n")),
        http(
            200,
            head,
            &format!("{start}\n\n{text}\n\ndata: {error}\n\n"),
        ),
    ]
}

/// Bodies that say nothing beyond the status.
fn mute_bodies() -> [&'static str; 9] {
    [
        "",
        " \r\n",
        "<!doctype html><html><head><title>Trouble</title></head><body>x</body></html>",
        r#"{"error":{"type":"forbidden","message":"no"}}"#,
        r#"{"error":"down","code":"E42"}"#,
        r#"{"code":"500"}"#,
        r#"{"type":"error","error":{"type":"overloa"#,
        r#"[{"error":{"type":"overloaded_error"}}]"#,
        "null",
    ]
}

/// Section 4: status and type agree; each alone says the same.
#[tokio::test]
async fn table_of_statuses_and_types() {
    let rows = [
        (400, "invalid_request_error", FAIL),
        (401, "authentication_error", AUTHENTICATION),
        (402, "billing_error", BILLING),
        (403, "permission_error", FAIL),
        (404, "not_found_error", FAIL),
        (409, "conflict_error", CONFLICT),
        (413, "request_too_large", FAIL),
        (429, "rate_limit_error", RETRY_THEN_DEFER),
        (500, "api_error", RETRY_THEN_DEFER),
        (504, "timeout_error", RETRY_THEN_DEFER),
        (529, "overloaded_error", RETRY_THEN_DEFER),
    ];
    for (status, error_type, expected) in rows {
        let error = error(error_type, "", "Words that change.");
        check(&json(status, &error), expected).await;
        for body in mute_bodies() {
            check(&json(status, body), expected).await;
        }
        for stream in streams(&error) {
            check(&stream, expected).await;
        }
    }
}

/// Section 4, below the table: statuses that come from proxies.
#[tokio::test]
async fn statuses_of_proxies() {
    let rows = [
        (408, CONFLICT),
        (422, FAIL),
        (499, CONFLICT),
        (501, RETRY_THEN_DEFER),
        (502, RETRY_THEN_DEFER),
        (503, RETRY_THEN_DEFER),
        (520, RETRY_THEN_DEFER),
        (521, RETRY_THEN_DEFER),
        (522, RETRY_THEN_DEFER),
        (523, RETRY_THEN_DEFER),
        (524, RETRY_THEN_DEFER),
    ];
    for (status, expected) in rows {
        for body in mute_bodies() {
            let page = http(status, "content-type: text/html\r\n", body);
            check(&page, expected).await;
        }
    }
}

/// Section 4.1: same status, different meaning.
#[tokio::test]
async fn table_of_error_codes() {
    let rows = [
        (
            429,
            "rate_limit_error",
            "enforced_spend_limit_reached",
            SPEND_CAP,
        ),
        (
            429,
            "rate_limit_error",
            "contract_spend_limit_reached",
            SPEND_CAP,
        ),
        (429, "rate_limit_error", "ramp_limit_exceeded", RAMP),
        (
            402,
            "billing_error",
            "linked_organization_billing_unavailable",
            BILLING,
        ),
        (
            402,
            "billing_error",
            "linked_organization_spend_limit_reached",
            BILLING,
        ),
        (
            400,
            "invalid_request_error",
            "organization_on_hold",
            BILLING,
        ),
        (
            413,
            "request_too_large",
            "request_body_too_large_after_decoding",
            FAIL,
        ),
        (503, "api_error", "cmek_key_unreachable", RETRY_THEN_DEFER),
        (
            529,
            "overloaded_error",
            "compaction_unavailable",
            RETRY_THEN_DEFER,
        ),
        (
            429,
            "rate_limit_error",
            "code_of_next_year",
            RETRY_THEN_DEFER,
        ),
        (400, "invalid_request_error", "code_of_next_year", FAIL),
    ];
    for (status, error_type, code, expected) in rows {
        let whole = error(error_type, code, "Words that change.");
        let untyped = format!(r#"{{"error":{{"details":{{"error_code":"{code}"}}}}}}"#);
        check(&json(status, &whole), expected).await;
        check(&json(status, &untyped), expected).await;
        for stream in streams(&whole) {
            check(&stream, expected).await;
        }
    }
}

/// Section 4.1: the two limits that have no code.
#[tokio::test]
async fn limits_that_only_the_message_tells() {
    let rows = [
        (
            "You have reached your specified API usage limits. You will regain access on 2026-12-24 at 00:00 UTC.",
            SPEND_CAP,
        ),
        (
            "You have reached your specified workspace API usage limits.",
            SPEND_CAP,
        ),
        (
            "Your credit balance is too low to access the Anthropic API.",
            BILLING,
        ),
        ("credit_balance: has another meaning", FAIL),
    ];
    for (message, expected) in rows {
        let error = error("invalid_request_error", "", message);
        check(&json(400, &error), expected).await;
        check(
            &json(400, &format!(r#"{{"message":"{message}"}}"#)),
            expected,
        )
        .await;
        for stream in streams(&error) {
            check(&stream, expected).await;
        }
    }
}

/// Section 4.1, last column: until when.
#[tokio::test]
async fn holds_last_as_long_as_the_table_says_and_tell_a_person_what_to_do() {
    let coded = |status, code| json(status, &error("x", code, "m"));
    let said = |message| json(400, &error("invalid_request_error", "", message));
    let rows = [
        (
            coded(429, "enforced_spend_limit_reached"),
            Some("2026-12-01T00:00:00Z"),
            "lifts on the 1st",
        ),
        (
            coded(429, "contract_spend_limit_reached"),
            None,
            "then resume",
        ),
        (
            coded(402, "linked_organization_spend_limit_reached"),
            None,
            "then resume",
        ),
        (
            coded(402, "linked_organization_billing_unavailable"),
            None,
            "then resume",
        ),
        (coded(400, "organization_on_hold"), None, "ask support"),
        (json(401, ""), None, "replace the key"),
        (json(402, ""), None, "payment"),
        (said("Your credit balance is too low"), None, "buy credit"),
        (
            said(
                "You have reached your specified API usage limits. You will regain access on 2026-12-24 at 06:00 UTC.",
            ),
            Some("2026-12-24T06:00:00Z"),
            "that the owner set",
        ),
        (
            said("You have reached your specified API usage limits."),
            None,
            "that the owner set",
        ),
    ];
    for (reply, until, note) in rows {
        let hold = verdict(&reply).await.hold.expect("a hold");
        let until = until.map(|text| text.parse().unwrap());
        assert_eq!(hold.until, until, "{reply}");
        assert!(hold.note.contains(note), "{}", hold.note);
    }
}

/// Section 4.2: transport, and success that is no Message.
#[tokio::test]
async fn table_of_what_to_do_without_an_error() {
    check("", RETRY_THEN_DEFER).await;
    check("HTTP/1.1 200 OK\r\ncontent-le", RETRY_THEN_DEFER).await;
    check("garbage\r\n\r\n", RETRY_THEN_DEFER).await;
    let cut =
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 99\r\n\r\n{\"type\":";
    check(cut, RETRY_THEN_DEFER).await;
    let head = "content-type: text/event-stream\r\n";
    check(&http(200, head, ""), RETRY_THEN_DEFER).await;
    check(
        &http(200, head, "data: {\"type\":\"ping\"}\n\n"),
        RETRY_THEN_DEFER,
    )
    .await;
    check(&http(200, head, "data: no JSON\n\n"), RETRY_THEN_DEFER).await;
    check(&http(307, "location: https://login.example/\r\n", ""), FAIL).await;
    let bodies = [
        "",
        "<html><title>Sign in</title></html>",
        r#"{"code":500}"#,
        r#"{"type":"completion"}"#,
        r#"["message"]"#,
        "17",
    ];
    for body in bodies {
        check(&json(200, body), NO_MESSAGE).await;
    }
    let hidden = error("overloaded_error", "", "m");
    check(&json(200, &hidden), NO_MESSAGE).await;
}

/// Section 4.2, below the table: the server's own advice.
#[tokio::test]
async fn advice_overrides_the_retry_both_ways_but_not_for_spend_caps() {
    let told = |status, advice: &str, code| {
        let header = format!("x-should-retry: {advice}\r\n");
        http(status, &header, &error("x", code, "m"))
    };
    let with = |row: Row, class| (class, row.1, row.2, row.3);
    check(&told(400, "true", ""), with(FAIL, Retryable)).await;
    check(&told(401, "true", ""), with(AUTHENTICATION, Retryable)).await;
    check(&told(529, "false", ""), with(RETRY_THEN_DEFER, Fatal)).await;
    check(&told(529, " FALSE ", ""), with(RETRY_THEN_DEFER, Fatal)).await;
    check(&told(529, "perhaps", ""), RETRY_THEN_DEFER).await;
    check(
        &told(429, "true", "ramp_limit_exceeded"),
        with(RAMP, Retryable),
    )
    .await;
    for code in [
        "enforced_spend_limit_reached",
        "contract_spend_limit_reached",
    ] {
        check(&told(429, "true", code), SPEND_CAP).await;
    }
    let waits = "x-should-retry: false\r\nretry-after: 7\r\n";
    check(&http(529, waits, ""), RAMP).await;
}

/// Section 4.2: a short wait is waited for in place, a long one by a later slot.
#[tokio::test]
async fn wait_of_the_server_is_a_floor_or_a_yield() {
    let policy = RetryPolicy::new(3, seconds(1), seconds(30), 0.5).unwrap();
    for (asked, long) in [("2", false), ("30", false), ("31", true), ("259200", true)] {
        let verdict = verdict(&http(429, &format!("retry-after: {asked}\r\n"), "")).await;
        let hint = seconds(asked.parse().unwrap());
        assert_eq!(verdict.hint, Some(hint));
        match next_step(&policy, 1, verdict.class, verdict.hint, 0.0) {
            Step::Wait(wait) => assert!(!long && wait >= hint, "{asked}: {wait:?}"),
            Step::Yield(wait) => assert!(long && wait == hint, "{asked}: {wait:?}"),
            Step::Stop => panic!("{asked}: stopped"),
        }
    }
}

const fn seconds(count: u64) -> Duration {
    Duration::from_secs(count)
}

/// Section 5: every legal and illegal form, as headers on the wire. The clock stands at 2026-11-30 00:53:20 UTC.
#[tokio::test]
async fn forms_of_the_wait_of_the_server() {
    let millis = Duration::from_millis;
    let century = seconds(3_155_760_000);
    let rows: [(&str, Option<Duration>); 27] = [
        ("retry-after: 20", Some(seconds(20))),
        ("retry-after:  20  ", Some(seconds(20))),
        ("retry-after: 0", Some(Duration::ZERO)),
        ("retry-after: 1.5", Some(millis(1_500))),
        ("retry-after: 604800", Some(seconds(604_800))),
        ("retry-after: 99999999999999999999", Some(century)),
        (
            "Retry-After: Mon, 30 Nov 2026 00:53:50 GMT",
            Some(seconds(30)),
        ),
        (
            "retry-after: Monday, 30-Nov-26 00:53:50 GMT",
            Some(seconds(30)),
        ),
        ("retry-after: Mon Nov 30 00:53:50 2026", Some(seconds(30))),
        (
            "retry-after: Tue, 01 Dec 2026 00:53:20 GMT",
            Some(seconds(86_400)),
        ),
        ("retry-after: Mon, 30 Nov 2026 00:53:19 GMT", None),
        ("retry-after: Mon, 30 Feb 2026 00:53:50 GMT", None),
        ("retry-after: 2026-11-30T00:53:50Z", None),
        ("retry-after: -1", None),
        ("retry-after: NaN", None),
        ("retry-after: inf", None),
        ("retry-after: 1e9", None),
        ("retry-after: 5s", None),
        ("retry-after: soon", None),
        ("retry-after: \u{663}", None),
        ("retry-after:", None),
        (
            "retry-after-ms: 1500\r\nretry-after: 9",
            Some(millis(1_500)),
        ),
        ("retry-after-ms: 0.25", Some(Duration::from_micros(250))),
        ("retry-after-ms: -3\r\nretry-after: 9", Some(seconds(9))),
        ("retry-after-ms: 0\r\nretry-after: 9", Some(seconds(9))),
        ("retry-after-ms: soon", None),
        ("x-other: 1", None),
    ];
    for (headers, expected) in rows {
        for status in [429, 529] {
            let verdict = verdict(&http(status, &format!("{headers}\r\n"), "")).await;
            assert_eq!(verdict.hint, expected, "{headers}");
        }
    }
}
