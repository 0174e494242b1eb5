//! Every class of reply, whole and broken.

use std::time::Duration;

use offpeak::answer::{FailureKind, Hint, SendFailure, ShouldRetry, StopReason};
use offpeak::anthropic::{Client, ClientError};
use offpeak::engine::ports::{Clock as _, Upstream};
use offpeak::job::Delivery;
use offpeak::standin::fault::{BodyReply, ErrorReply, Redirect, Scripted, Shape, StreamError};
use offpeak::standin::{Fault, Script};

use super::clock::ManualClock;
use super::raw::Raw;
use super::{meet, request, send, settings, standin};

const BOTH: [Delivery; 2] = [Delivery::Stream, Delivery::Whole];

/// A stream with every liberty that a gateway may take: no event names, mixed line ends, a mark, comments.
const ODD_STREAM: &str = concat!(
    "\u{feff}: hello\r\n\r\n",
    "data: {\"type\":\"ping\"}\r\r",
    "data: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_1\",\"model\":\"claude-sonnet-5-5\",\"usage\":{\"input_tokens\":0}}}\n\n",
    "event: whatever\r\ndata: {\"type\":\"content_block_delta\",\"index\":0,\r\ndata: \"delta\":{\"type\":\"text_delta\",\"text\":\"Schöne\u{2028}Grüße 語\"}}\r\n\r\n",
    "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"input_tokens\":5,\"output_tokens\":6}}\n\n",
    "data: {\"type\":\"message_stop\"}\n\n",
    "data: [DONE]\n\n",
);

#[tokio::test]
async fn streamed_and_whole_answers_are_the_same() {
    let clock = ManualClock::new();
    let standin = standin(Script::default(), &clock);
    let streamed = send(&standin.base_url(), &clock, &request(Delivery::Stream))
        .await
        .unwrap();
    let whole = send(&standin.base_url(), &clock, &request(Delivery::Whole))
        .await
        .unwrap();
    assert!(
        streamed.answer.text.lines().count() > 5,
        "{}",
        streamed.answer.text
    );
    assert_eq!(streamed.answer.text, whole.answer.text);
    assert_eq!(streamed.answer.stop_reason, StopReason::EndTurn);
    assert_eq!(streamed.answer.usage, whole.answer.usage);
    assert!(streamed.answer.usage.unwrap().output_tokens > 100);
    assert_eq!((streamed.status, whole.status), (200, 200));
    assert_eq!(streamed.request_id.as_deref(), Some("req_standin_000001"));
    assert_eq!(whole.request_id.as_deref(), Some("req_standin_000002"));
    assert!(streamed.first_byte.is_some() && whole.first_byte.is_some());
}

#[tokio::test]
async fn refusals_are_reported_with_everything_they_say() {
    for status in [
        400, 401, 402, 403, 404, 408, 409, 413, 422, 429, 499, 500, 501, 502, 503, 504, 520, 524,
        529,
    ] {
        for delivery in BOTH {
            let failure = meet(Fault::status(status), delivery).await.unwrap_err();
            assert_eq!(failure.kind, FailureKind::Status, "{status}");
            assert_eq!(failure.status, Some(status));
            assert!(
                failure.error_type.is_some() && !failure.message.is_empty(),
                "{status}"
            );
            assert_eq!(failure.request_id.as_deref(), Some("req_standin_000001"));
            assert!(failure.first_byte.is_some());
            assert_eq!(
                (failure.hint, failure.should_retry, failure.error_code),
                (None, None, None)
            );
        }
    }
}

#[tokio::test]
async fn code_hint_and_advice_of_a_refusal_survive() {
    let error = ErrorReply {
        status: 429,
        code: Some("ramp_limit_exceeded".to_owned()),
        message: Some("Slow down.".to_owned()),
        retry_after: Some(20),
        headers: [("x-should-retry".to_owned(), "false".to_owned())].into(),
        ..ErrorReply::default()
    };
    let failure = meet(Fault::Error(error), Delivery::Stream)
        .await
        .unwrap_err();
    assert_eq!(failure.error_type.as_deref(), Some("rate_limit_error"));
    assert_eq!(failure.error_code.as_deref(), Some("ramp_limit_exceeded"));
    assert_eq!(failure.message, "Slow down.");
    assert_eq!(failure.hint, Some(Hint::After(Duration::from_secs(20))));
    assert_eq!(failure.should_retry, Some(ShouldRetry::No));
}

#[tokio::test]
async fn proxy_pages_and_empty_bodies_keep_their_status() {
    for (shape, message) in [
        (Shape::Html, "503 Service Temporarily Unavailable"),
        (Shape::Empty, "status 503 with an empty body"),
    ] {
        let error = ErrorReply {
            status: 503,
            shape,
            ..ErrorReply::default()
        };
        let failure = meet(Fault::Error(error), Delivery::Stream)
            .await
            .unwrap_err();
        assert_eq!(
            (failure.kind, failure.status),
            (FailureKind::Status, Some(503))
        );
        assert_eq!(failure.message, message);
        assert_eq!((failure.error_type, failure.request_id), (None, None));
    }
}

#[tokio::test]
async fn error_body_that_is_cut_or_endless_keeps_its_status() {
    for tail in ["\"messa".to_owned(), "x".repeat(1 << 20)] {
        let clock = ManualClock::new();
        let raw = Raw::bind().await;
        let serve = async {
            let mut peer = raw.accept().await;
            // The client may stop reading a body that is too long, so a failed write is no failure.
            let head = "HTTP/1.1 529 Busy\r\ncontent-length: 9999999\r\n\r\n{\"error\":{\"type\":";
            let _ = tokio::io::AsyncWriteExt::write_all(
                &mut peer.socket,
                format!("{head}{tail}").as_bytes(),
            )
            .await;
        };
        let ((), result) = tokio::join!(
            serve,
            send(&raw.base_url(), &clock, &request(Delivery::Stream))
        );
        let failure = result.unwrap_err();
        assert_eq!(
            (failure.kind, failure.status),
            (FailureKind::Status, Some(529))
        );
        assert!(
            failure.message.starts_with("{\"error\":{\"type\":"),
            "{}",
            failure.message
        );
    }
}

#[tokio::test]
async fn stream_cut_after_any_event_is_no_answer() {
    for after in [0, 1, 3, 5, 9] {
        let failure = meet(Fault::cut(after), Delivery::Stream).await.unwrap_err();
        assert_eq!(failure.kind, FailureKind::Cut, "after {after} events");
        assert_eq!(failure.status, Some(200));
        assert_eq!(
            failure.usage.is_some(),
            after > 0,
            "what was counted may be billed"
        );
    }
}

#[tokio::test]
async fn whole_answer_that_breaks_in_its_middle_is_cut() {
    let failure = meet(Fault::cut(0), Delivery::Whole).await.unwrap_err();
    assert_eq!(
        (failure.kind, failure.status),
        (FailureKind::Cut, Some(200))
    );
}

#[tokio::test]
async fn connection_closed_without_a_reply_is_cut() {
    for delivery in BOTH {
        let failure = meet(Fault::HangUp {}, delivery).await.unwrap_err();
        assert_eq!((failure.kind, failure.status), (FailureKind::Cut, None));
        assert!(
            failure
                .message
                .starts_with("the connection broke before a reply: "),
            "{}",
            failure.message
        );
    }
}

#[tokio::test]
async fn clean_end_without_the_last_event_is_cut() {
    let whole_events = ODD_STREAM
        .split_once("data: {\"type\":\"message_stop\"}")
        .unwrap()
        .0;
    for body in [
        whole_events,
        "",
        ": only a comment\n\n",
        "data: {\"type\":\"message_st",
    ] {
        let failure = odd(body, "content-type: text/event-stream\r\n")
            .await
            .unwrap_err();
        assert_eq!(
            (failure.kind, failure.status),
            (FailureKind::Cut, Some(200)),
            "{body}"
        );
    }
}

#[tokio::test]
async fn body_of_json_that_ends_too_soon_is_cut() {
    let failure = odd(
        r#"{"type":"message","content":[{"ty"#,
        "content-type: application/json\r\n",
    )
    .await
    .unwrap_err();
    assert_eq!(failure.kind, FailureKind::Cut);
}

#[tokio::test]
async fn error_event_is_reported_by_its_type() {
    let error = |after| StreamError {
        after,
        kind: "overloaded_error".to_owned(),
        message: Some("Overloaded".to_owned()),
    };
    for after in [0, 1, 6] {
        let failure = meet(Fault::StreamError(error(after)), Delivery::Stream)
            .await
            .unwrap_err();
        assert_eq!(
            (failure.kind, failure.status),
            (FailureKind::StreamError, Some(200))
        );
        assert_eq!(failure.error_type.as_deref(), Some("overloaded_error"));
        assert_eq!(failure.message, "Overloaded");
        assert_eq!(failure.usage.is_some(), after > 0);
    }
    let failure = meet(Fault::StreamError(error(3)), Delivery::Whole)
        .await
        .unwrap_err();
    assert_eq!(
        (failure.kind, failure.status),
        (FailureKind::Status, Some(529))
    );
}

#[tokio::test]
async fn success_that_is_no_message_is_a_failure() {
    let bodies = [
        (
            Some("text/html"),
            "<html><title>Sign in</title></html>",
            "no Message: Sign in",
        ),
        (
            Some("application/json"),
            r#"{"code":500}"#,
            r#"no Message: {"code":500}"#,
        ),
        (
            Some("application/json"),
            "",
            "an empty body where a Message was expected",
        ),
        (
            Some("application/json"),
            r#"{"type":"error","error":{"type":"api_error","message":"oh"}}"#,
            "oh",
        ),
        (Some("application/json"), "null", "no Message: null"),
    ];
    for (content_type, text, message) in bodies {
        for delivery in BOTH {
            let body = BodyReply {
                status: 200,
                content_type: content_type.map(str::to_owned),
                text: text.to_owned(),
            };
            let failure = meet(Fault::Body(body), delivery).await.unwrap_err();
            assert_eq!(
                (failure.kind, failure.status),
                (FailureKind::NotAMessage, Some(200)),
                "{text}"
            );
            assert_eq!(failure.message, message);
        }
    }
}

#[tokio::test]
async fn ends_of_all_kinds_are_answers() {
    let ends = [
        ("max_tokens", StopReason::MaxTokens),
        ("refusal", StopReason::Refusal),
        (
            "model_context_window_exceeded",
            StopReason::ContextWindowExceeded,
        ),
        ("tool_use", StopReason::ToolUse),
        ("pause_turn", StopReason::PauseTurn),
        ("brand_new", StopReason::Other("brand_new".to_owned())),
    ];
    for (word, expected) in ends {
        for delivery in BOTH {
            let scripted = Scripted {
                stop_reason: Some(word.to_owned()),
                text: None,
            };
            let reply = meet(Fault::Answer(scripted), delivery).await.unwrap();
            assert_eq!(reply.answer.stop_reason, expected);
        }
    }
}

#[tokio::test]
async fn answer_without_content_is_an_answer_without_text() {
    for delivery in BOTH {
        let scripted = Scripted {
            stop_reason: None,
            text: Some(String::new()),
        };
        let reply = meet(Fault::Answer(scripted), delivery).await.unwrap();
        assert_eq!(
            (reply.answer.text.as_str(), reply.answer.stop_reason),
            ("", StopReason::EndTurn)
        );
    }
}

#[tokio::test]
async fn redirect_is_not_followed() {
    let other = Raw::bind().await;
    let to = format!("{}/v1/messages", other.base_url());
    let failure = meet(
        Fault::Redirect(Redirect { to: to.clone() }),
        Delivery::Stream,
    )
    .await
    .unwrap_err();
    assert_eq!(
        (failure.kind, failure.status),
        (FailureKind::Redirect, Some(307))
    );
    assert!(
        failure.message.contains(&to) && failure.message.contains("upstream.base_url"),
        "{}",
        failure.message
    );
    // The key stays at home.
    other.assert_untouched();
}

#[tokio::test]
async fn refused_connection_is_named_with_its_address() {
    let raw = Raw::bind().await;
    let (base_url, address) = (raw.base_url(), raw.address);
    drop(raw);
    let failure = send(&base_url, &ManualClock::new(), &request(Delivery::Stream))
        .await
        .unwrap_err();
    assert_eq!((failure.kind, failure.status), (FailureKind::Connect, None));
    assert!(
        failure
            .message
            .starts_with(&format!("cannot connect to {address}: ")),
        "{}",
        failure.message
    );
}

#[tokio::test]
async fn peer_that_speaks_no_tls_is_a_failed_connection() {
    let clock = ManualClock::new();
    let raw = Raw::bind().await;
    let settings = settings(&raw.base_url().replace("http:", "https:"), &clock);
    let client = match Client::new(settings) {
        Ok(client) => client,
        // A machine without system certificates says so at once.
        Err(error) => {
            assert!(matches!(error, ClientError::Transport { .. }), "{error}");
            return;
        }
    };
    let request = request(Delivery::Stream);
    let (failure, ()) = tokio::join!(
        client.send(&request),
        raw.answer_any("HTTP/1.1 400 No\r\n\r\n")
    );
    let failure = failure.unwrap_err();
    assert_eq!((failure.kind, failure.status), (FailureKind::Connect, None));
    assert!(
        failure
            .message
            .starts_with(&format!("cannot connect to {}: ", raw.address)),
        "{}",
        failure.message
    );
}

#[tokio::test]
async fn odd_stream_is_an_answer_however_the_network_cuts_it() {
    for content_type in ["content-type: text/event-stream\r\n", ""] {
        let reply = odd(ODD_STREAM, content_type).await.unwrap();
        assert_eq!(reply.answer.text, "Schöne\u{2028}Grüße 語");
        let usage = reply.answer.usage.unwrap();
        assert_eq!((usage.input_tokens, usage.output_tokens), (5, 6));
        assert_eq!(reply.request_id, None);
    }
}

/// Sends a body one byte at a time.
async fn odd(body: &str, content_type: &str) -> Result<offpeak::answer::Reply, SendFailure> {
    let clock = ManualClock::new();
    let raw = Raw::bind().await;
    let serve = async {
        let mut peer = raw.accept().await;
        peer.socket.set_nodelay(true).unwrap();
        peer.open(content_type).await;
        for byte in body.as_bytes().chunks(1) {
            // The client leaves after the last event that counts.
            if tokio::io::AsyncWriteExt::write_all(&mut peer.socket, byte)
                .await
                .is_err()
            {
                break;
            }
            tokio::task::yield_now().await;
        }
    };
    let ((), result) = tokio::join!(
        serve,
        send(&raw.base_url(), &clock, &request(Delivery::Stream))
    );
    result
}

#[tokio::test]
async fn answer_ends_with_its_last_event_even_if_the_connection_stays() {
    let clock = ManualClock::new();
    let raw = Raw::bind().await;
    let serve = async {
        let mut peer = raw.accept().await;
        peer.open("content-type: text/event-stream\r\n").await;
        peer.say(ODD_STREAM).await;
        peer
    };
    let (_peer, result) = tokio::join!(
        serve,
        send(&raw.base_url(), &clock, &request(Delivery::Stream))
    );
    assert!(result.is_ok());
}

#[tokio::test]
async fn answer_over_the_limit_is_refused() {
    for delivery in BOTH {
        let clock = ManualClock::new();
        let standin = standin(Script::default(), &clock);
        let mut settings = settings(&standin.base_url(), &clock);
        settings.max_answer_bytes = 300;
        let client = Client::new(settings).unwrap();
        let failure = client.send(&request(delivery)).await.unwrap_err();
        assert_eq!(failure.kind, FailureKind::TooLarge);
        assert!(
            failure.message.starts_with(
                "the reply is over 300 bytes, the limit of `upstream.max_answer_bytes`"
            ),
            "{}",
            failure.message
        );
        let verdict = offpeak::guard::classify(&failure, clock.now());
        assert_eq!(verdict.class, offpeak::outcome::Class::Fatal);
        assert_eq!(standin.requests().len(), 1);
    }
}
