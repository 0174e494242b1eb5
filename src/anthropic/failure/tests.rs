//! Error bodies of every shape, and headers that help or lie.

use reqwest::header::{HeaderName, HeaderValue};

use super::*;

fn head(status: u16, headers: &[(&'static str, &'static str)]) -> Head {
    let mut map = HeaderMap::new();
    for (name, value) in headers {
        map.insert(
            HeaderName::from_static(name),
            HeaderValue::from_static(value),
        );
    }
    Head::read(status, &map, DateTime::UNIX_EPOCH, &secret())
}

fn secret() -> SecretString {
    SecretString::from("gateway-7")
}

fn refused(status: u16, body: &[u8]) -> SendFailure {
    head(status, &[]).refused(body, &secret())
}

#[test]
fn body_of_our_shape_is_read_whole() {
    let body = br#"{"type":"error","error":{"type":"rate_limit_error","message":"Too fast.",
        "details":{"error_code":"ramp_limit_exceeded"}},"request_id":"req_9"}"#;
    let failure = refused(429, body);
    assert_eq!(failure.kind, FailureKind::Status);
    assert_eq!(failure.status, Some(429));
    assert_eq!(failure.error_type.as_deref(), Some("rate_limit_error"));
    assert_eq!(failure.error_code.as_deref(), Some("ramp_limit_exceeded"));
    assert_eq!(failure.request_id.as_deref(), Some("req_9"));
    assert_eq!(failure.message, "Too fast.");
}

#[test]
fn foreign_bodies_keep_the_status_and_a_short_excerpt() {
    let huge = format!("{{\"junk\":\"{}\"}}", "x".repeat(MAX_ERROR_BYTES));
    let long = format!("{}…", "x".repeat(190));
    let cases: [(&[u8], Option<&str>, &str); 13] = [
        (b"", None, "status 502 with an empty body"),
        (b" \r\n\t", None, "status 502 with an empty body"),
        (
            b"<html><head><title>502 Bad Gateway</title></head><body>x</body></html>",
            None,
            "502 Bad Gateway",
        ),
        (b"\xef\xbb\xbf<HTML><TITLE lang=en>No</TITLE>", None, "No"),
        (b"<p>upstream <b>gone</b></p>", None, "upstream gone"),
        (b"<title>cut in the mid", None, "cut in the mid"),
        (
            br#"{"error":{"type":"forbidden","message":"no"}}"#,
            Some("forbidden"),
            "no",
        ),
        (br#"{"error":"down","code":"E42"}"#, None, "down"),
        (br#"{"detail":"not here"}"#, None, "not here"),
        (br#"{"code":"E42"}"#, None, r#"{"code":"E42"}"#),
        (
            br#"{"error":{"type":5,"message":null}}"#,
            None,
            r#"{"error":{"type":5,"message":null}}"#,
        ),
        (
            b"plain\x00 \x1b[31mtext\x1b[0m\n\n twice\xff",
            None,
            "plain [31mtext [0m twice\u{fffd}",
        ),
        (huge.as_bytes(), None, &format!("{{\"junk\":\"{long}")),
    ];
    for (body, error_type, message) in cases {
        let failure = refused(502, body);
        assert_eq!(failure.message, message);
        assert_eq!(failure.error_type.as_deref(), error_type, "{message}");
        assert_eq!(failure.status, Some(502));
        assert!(failure.message.chars().count() <= MAX_EXCERPT);
    }
}

#[test]
fn no_secret_survives_in_any_field() {
    let body = br#"{"error":{"type":"sk-ant-a","message":"bad key gateway-7 or sk-ant-b","details":{"error_code":"gateway-7"}},
        "request_id":"sk-ant-c"}"#;
    let text = format!("{:?}", refused(401, body));
    assert!(
        !text.contains("gateway-7") && !text.contains("sk-ant"),
        "{text}"
    );
    assert!(text.contains("bad key [redacted] or [redacted]"), "{text}");
}

#[test]
fn secret_at_the_cut_of_an_excerpt_is_gone_before_the_cut() {
    let body = format!("{} sk-ant-abcdefgh", "x".repeat(MAX_EXCERPT - 6));
    let failure = refused(500, body.as_bytes());
    assert!(!failure.message.contains("sk-"), "{}", failure.message);
}

#[test]
fn headers_are_kept_where_they_can_be_read() {
    let failure = head(
        529,
        &[("request-id", " req_1 "), ("x-should-retry", "TRUE")],
    )
    .failure(FailureKind::Status, "x");
    assert_eq!(failure.request_id.as_deref(), Some("req_1"));
    assert_eq!(failure.should_retry, Some(ShouldRetry::Yes));
    let failure = head(529, &[("request-id", ""), ("x-should-retry", "false")])
        .failure(FailureKind::Status, "x");
    assert_eq!(
        (failure.request_id, failure.should_retry),
        (None, Some(ShouldRetry::No))
    );
    let failure = head(529, &[("x-should-retry", "maybe")]).failure(FailureKind::Status, "x");
    assert_eq!(failure.should_retry, None);
}

#[test]
fn header_wins_over_the_body_for_the_request_id() {
    let failure = head(500, &[("request-id", "req_head")])
        .refused(br#"{"request_id":"req_body"}"#, &secret());
    assert_eq!(failure.request_id.as_deref(), Some("req_head"));
}

#[test]
fn retry_after_becomes_a_hint() {
    let failure = head(429, &[("retry-after", "20")]).failure(FailureKind::Status, "x");
    assert_eq!(
        failure.hint,
        Some(Hint::After(std::time::Duration::from_secs(20)))
    );
    let failure = head(429, &[("retry-after", "20"), ("retry-after-ms", "1500")])
        .failure(FailureKind::Status, "x");
    assert_eq!(
        failure.hint,
        Some(Hint::After(std::time::Duration::from_millis(1_500)))
    );
    assert_eq!(
        head(429, &[("retry-after", "soon")])
            .failure(FailureKind::Status, "x")
            .hint,
        None
    );
}

#[test]
fn media_is_told_by_the_content_type() {
    let cases = [
        ("text/event-stream; charset=utf-8", Media::EventStream),
        ("Text/Event-Stream", Media::EventStream),
        ("application/json", Media::Other),
        ("text/html", Media::Other),
        ("", Media::Unsaid),
    ];
    for (kind, expected) in cases {
        assert_eq!(
            head(200, &[("content-type", kind)]).media,
            expected,
            "{kind}"
        );
    }
    assert_eq!(head(200, &[]).media, Media::Unsaid);
}

#[test]
fn redirect_names_the_way_out_and_no_secret() {
    let failure =
        head(302, &[("location", "https://login.example/?key=gateway-7")]).redirect(&secret());
    assert_eq!(failure.kind, FailureKind::Redirect);
    assert!(
        failure.message.contains("https://login.example/"),
        "{}",
        failure.message
    );
    assert!(failure.message.contains("upstream.base_url"));
    assert!(!failure.message.contains("gateway-7"));
    assert!(
        head(302, &[])
            .redirect(&secret())
            .message
            .contains("nowhere")
    );
}

#[test]
fn stream_error_carries_its_type() {
    let data = serde_json::json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}});
    let failure = head(200, &[]).stream_error(&data, &secret());
    assert_eq!(failure.kind, FailureKind::StreamError);
    assert_eq!(failure.error_type.as_deref(), Some("overloaded_error"));
    assert_eq!(failure.message, "Overloaded");
    assert_eq!(
        head(200, &[]).stream_error(&Value::Null, &secret()).message,
        "an `error` event without a message"
    );
}

#[test]
fn success_without_a_message_says_what_came() {
    let head = head(200, &[]);
    let cases: [(&[u8], &str); 4] = [
        (b"", "an empty body where a Message was expected"),
        (b"<title>Welcome</title>", "no Message: Welcome"),
        (br#"{"code":500}"#, r#"no Message: {"code":500}"#),
        (
            br#"{"type":"error","error":{"type":"api_error","message":"broken"}}"#,
            "broken",
        ),
    ];
    for (body, message) in cases {
        let failure = head.not_a_message(body, &secret());
        assert_eq!(
            (failure.kind, failure.message.as_str()),
            (FailureKind::NotAMessage, message)
        );
    }
}
