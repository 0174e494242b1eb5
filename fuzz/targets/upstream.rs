//! What must hold of any bytes that an upstream sends: as a stream, as a Message, as an error.
//!
//! The tests of the main crate read this file too, and replay the corpus through it.

use std::collections::BTreeMap;

use chrono::DateTime;
use offpeak::answer::{Answer, FailureKind, SendFailure, ShouldRetry, StopReason};
use offpeak::anthropic::failure::Head;
use offpeak::anthropic::message::{Broken, Gathering};
use offpeak::anthropic::stream::EventStream;
use offpeak::anthropic::wire::Message;
use offpeak::guard::{HoldCause, Sample, Then, classify};
use offpeak::outcome::{Class, YieldReason};
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use secrecy::SecretString;
use serde_json::Value;
use serde_json::value::RawValue;

/// A secret that no message may repeat.
const SECRET: &str = "gateway-secret-7";

/// The longest message that a failure may carry, in bytes: 200 characters.
const MAX_MESSAGE: usize = 800;

/// Reads bytes as a stream and as a Message.
///
/// The first byte sets the size of the chunks. However the stream is cut, the result is the same; what counts as an
/// answer is one by a slow and plain reading too.
pub fn stream(bytes: &[u8]) {
    let (size, bytes) = bytes
        .split_first()
        .map_or((1, bytes), |(n, rest)| (usize::from(*n) + 1, rest));
    let (whole, payloads) = read(std::iter::once(bytes));
    let (cut, cut_payloads) = read(bytes.chunks(size));
    assert_eq!(whole, cut, "chunks of {size}");
    assert_eq!(payloads, cut_payloads);
    if let Ok(answer) = &whole {
        plainly(answer, &payloads);
        paused(answer);
    }
    message(bytes);
}

fn read<'a>(chunks: impl Iterator<Item = &'a [u8]>) -> (Result<Answer, Broken>, Vec<Vec<u8>>) {
    let mut stream = EventStream::new(1 << 20);
    let mut gathering = Gathering::new();
    let mut payloads = Vec::new();
    for chunk in chunks {
        let fed = stream.feed(chunk, |data| {
            gathering.take(data);
            payloads.push(data.to_vec());
        });
        fed.expect("no input is so large");
    }
    (gathering.finish(), payloads)
}

/// Reads the payloads of an answer the slow way, and compares.
fn plainly(answer: &Answer, payloads: &[Vec<u8>]) {
    let mut texts: BTreeMap<u64, String> = BTreeMap::new();
    let (mut begun, mut reason) = (false, None);
    for payload in payloads {
        let Ok(event) = serde_json::from_slice::<Value>(payload) else {
            assert_eq!(payload, b"[DONE]", "broken JSON is no part of an answer");
            continue;
        };
        if ["delta", "content_block", "message"]
            .iter()
            .any(|field| event[field].is_array())
        {
            // A list in the place of an object: no server writes that, and either reading will do.
            return;
        }
        let (delta, block) = (&event["delta"], &event["content_block"]);
        let mut add = |text: &Value| {
            let index = event["index"].as_u64().unwrap_or_default();
            *texts.entry(index).or_default() += text.as_str().unwrap_or_default();
        };
        match event["type"].as_str() {
            Some("message_start") => begun = true,
            Some("content_block_start") if block["type"] == "text" => add(&block["text"]),
            Some("content_block_delta") if delta["type"] == "text_delta" => add(&delta["text"]),
            Some("message_delta") => reason = delta["stop_reason"].as_str().or(reason).map(leak),
            Some("message_stop") => break,
            Some("error") => panic!("an error is no part of an answer"),
            Some(_) | None => {}
        }
    }
    assert!(begun, "an answer begins");
    assert_eq!(reason, Some(answer.stop_reason.as_str()));
    assert_eq!(texts.into_values().collect::<String>(), answer.text);
}

/// Only a pause keeps blocks, and they are a JSON list; failed tools are few.
fn paused(answer: &Answer) {
    assert_eq!(
        answer.paused.is_some(),
        answer.stop_reason == StopReason::PauseTurn
    );
    if let Some(list) = &answer.paused {
        // Numbers that fit no type of ours stay in their blocks as they came.
        serde_json::from_str::<Vec<&RawValue>>(list).expect("it is a JSON list");
    }
    assert!(answer.tool_errors.len() <= 20);
}

/// The reason outlives its event; a fuzzer's few bytes may leak.
fn leak(text: &str) -> &'static str {
    Box::leak(text.to_owned().into_boxed_str())
}

/// Only an object of the type `message` is a Message, and its text is that of its text blocks.
fn message(bytes: &[u8]) {
    let Some(answer) = Message::read(bytes).ok().and_then(Message::into_answer) else {
        return;
    };
    let plain: Value = serde_json::from_slice(bytes).expect("a Message is JSON");
    assert!(plain.is_object());
    assert_eq!(plain["type"], "message");
    let blocks = plain["content"].as_array().cloned().unwrap_or_default();
    let texts = blocks.iter().filter(|block| block["type"] == "text");
    let text: String = texts.filter_map(|block| block["text"].as_str()).collect();
    assert_eq!(text, answer.text);
    paused(&answer);
}

/// Reads bytes as an error: the status in the first line, headers up to a blank one, and the body.
///
/// Whatever comes, the message is short and clean and keeps the secret, and the verdict fits together.
pub fn refusal(bytes: &[u8]) {
    let (first, rest) = line(bytes);
    let status = std::str::from_utf8(first)
        .ok()
        .and_then(|text| text.trim().parse().ok());
    let status: u16 = status.unwrap_or(400);
    let (headers, body) = headers(rest);
    let secret = SecretString::from(SECRET);
    let head = Head::read(status, &headers, DateTime::UNIX_EPOCH, &secret);
    check(&head.refused(body, &secret));
    check(&head.not_a_message(body, &secret));
    check(&head.redirect(&secret));
    let data = serde_json::from_slice(body).unwrap_or_default();
    check(&head.stream_error(&data, &secret));
    for kind in [FailureKind::Cut, FailureKind::TooLarge] {
        check(&head.failure(kind, "broken"));
    }
}

fn headers(mut rest: &[u8]) -> (HeaderMap, &[u8]) {
    let mut headers = HeaderMap::new();
    while !rest.is_empty() {
        let (one, after) = line(rest);
        rest = after;
        if one.is_empty() {
            break;
        }
        let mut parts = one.splitn(2, |&byte| byte == b':');
        let (name, value) = (
            parts.next().unwrap_or_default(),
            parts.next().unwrap_or_default(),
        );
        if let (Ok(name), Ok(value)) =
            (HeaderName::from_bytes(name), HeaderValue::from_bytes(value))
        {
            headers.append(name, value);
        }
    }
    (headers, rest)
}

fn line(bytes: &[u8]) -> (&[u8], &[u8]) {
    match bytes.iter().position(|&byte| byte == b'\n') {
        Some(end) => (&bytes[..end], &bytes[end + 1..]),
        None => (bytes, &[]),
    }
}

fn check(failure: &SendFailure) {
    check_words(failure);
    let verdict = classify(failure, DateTime::UNIX_EPOCH);
    assert_eq!(verdict, classify(failure, DateTime::UNIX_EPOCH));
    assert_ne!(verdict.class, Class::Success);
    assert_ne!(verdict.sample, Sample::Success);
    assert_ne!(verdict.then, Then::Answer);
    match &verdict.hold {
        Some(hold) => {
            assert_eq!(verdict.then, Then::Yield(YieldReason::Hold));
            assert!(!hold.note.is_empty());
            assert!(hold.until.is_none_or(|until| until > DateTime::UNIX_EPOCH));
            let may_retry = hold.cause == HoldCause::Authentication
                && failure.should_retry == Some(ShouldRetry::Yes);
            assert_eq!(verdict.class == Class::Retryable, may_retry);
        }
        None => assert_ne!(verdict.then, Then::Yield(YieldReason::Hold)),
    }
    if failure.should_retry == Some(ShouldRetry::No) || failure.kind == FailureKind::TooLarge {
        assert_eq!(verdict.class, Class::Fatal);
    }
}

fn check_words(failure: &SendFailure) {
    let shown = format!("{failure:?}");
    assert!(!shown.contains(SECRET), "{shown}");
    let words = [
        &failure.error_type,
        &failure.error_code,
        &failure.request_id,
    ];
    for word in words.into_iter().flatten().chain([&failure.message]) {
        assert!(word.len() <= MAX_MESSAGE, "{word}");
        assert!(!word.chars().any(char::is_control), "{word:?}");
    }
}
