//! Streams cut at every byte: split, they are the same answer; ended too soon, they are none.

use offpeak::answer::{Answer, FailureKind};
use offpeak::anthropic::message::{Broken, Gathering};
use offpeak::anthropic::stream::EventStream;
use offpeak::engine::ports::{Clock as _, Upstream};
use offpeak::guard::classify;
use offpeak::job::Delivery;
use offpeak::outcome::Class;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;

use super::clock::ManualClock;
use super::raw::Raw;
use super::{client, request};

/// Characters of one to four bytes, and one that looks like a line end.
const TEXT: &str = "Grüße, 語 😀\u{2028}end";

/// A short stream of everything that the API sends.
fn events() -> Vec<String> {
    let delta = |delta: &str| format!(r#""content_block_delta","index":0,"delta":{{{delta}}}"#);
    let rests = [
        r#""ping""#.to_owned(),
        r#""message_start","message":{"id":"m","usage":{"input_tokens":9,"output_tokens":1}}"#
            .to_owned(),
        r#""content_block_start","index":0,"content_block":{"type":"text","text":""}"#.to_owned(),
        delta(r#""type":"thinking_delta","thinking":"hm""#),
        delta(&format!(r#""type":"text_delta","text":"{TEXT}""#)),
        r#""content_block_stop","index":0"#.to_owned(),
        r#""message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":5}"#
            .to_owned(),
        r#""message_stop""#.to_owned(),
    ];
    rests
        .iter()
        .map(|rest| format!(r#"{{"type":{rest}}}"#))
        .collect()
}

/// A stream that pauses, with every kind of block and delta.
fn paused_events() -> Vec<String> {
    let block = |index: u8, block: &str| {
        format!(r#""content_block_start","index":{index},"content_block":{{{block}}}"#)
    };
    let delta = |index: u8, delta: &str| {
        format!(r#""content_block_delta","index":{index},"delta":{{{delta}}}"#)
    };
    let rests = [
        r#""message_start","message":{"id":"m","usage":{"input_tokens":9,"output_tokens":1}}"#
            .to_owned(),
        block(0, r#""type":"thinking","thinking":"","signature":"""#),
        delta(0, r#""type":"thinking_delta","thinking":"hm, ""#),
        delta(0, r#""type":"thinking_delta","thinking":"é""#),
        delta(0, r#""type":"signature_delta","signature":"EqQB""#),
        block(1, r#""type":"text","text":"""#),
        delta(1, &format!(r#""type":"text_delta","text":"{TEXT}""#)),
        delta(1, r#""type":"citations_delta","citation":{"n":1.50}"#),
        block(
            2,
            r#""type":"server_tool_use","id":"s","name":"web_search","input":{}"#,
        ),
        delta(2, r#""type":"input_json_delta","partial_json":"""#),
        delta(
            2,
            r#""type":"input_json_delta","partial_json":"{\"query\":""#,
        ),
        delta(2, r#""type":"input_json_delta","partial_json":" \"語\"}""#),
        delta(2, r#""type":"new_delta","text":[1]"#),
        block(
            3,
            r#""type":"web_search_tool_result","tool_use_id":"s","content":{"error_code":"unavailable"}"#,
        ),
        block(4, r#""type":"brand_new","text":{"rich":true}"#),
        r#""content_block_stop","index":4"#.to_owned(),
        r#""message_delta","delta":{"stop_reason":"pause_turn"},"usage":{"output_tokens":5}"#
            .to_owned(),
        r#""message_stop""#.to_owned(),
    ];
    rests
        .iter()
        .map(|rest| format!(r#"{{"type":{rest}}}"#))
        .collect()
}

/// The stream as bytes, and where the last event that counts begins.
fn stream(end: &str, name: &str) -> (Vec<u8>, usize) {
    framed(&events(), end, name)
}

fn framed(events: &[String], end: &str, name: &str) -> (Vec<u8>, usize) {
    let (last, before) = events.split_last().unwrap();
    let frame = |data: &str| format!("{name}: x{end}data: {data}{end}{end}");
    let text: String = before.iter().map(|event| frame(event)).collect();
    let all = format!("{text}{}data: [DONE]{end}{end}", frame(last));
    (all.into_bytes(), text.len())
}

fn read<'a>(chunks: impl IntoIterator<Item = &'a [u8]>) -> Result<Answer, Broken> {
    let mut stream = EventStream::new(1 << 20);
    let mut gathering = Gathering::new();
    for chunk in chunks {
        stream.feed(chunk, |data| gathering.take(data)).unwrap();
    }
    gathering.finish()
}

/// Every kind of line end, with event names and with comments in their place.
fn streams() -> impl Iterator<Item = (Vec<u8>, usize)> {
    let ends = ["\n", "\r\n", "\r"].into_iter();
    ends.flat_map(|end| ["event", "", "id"].map(|name| stream(end, name)))
}

#[test]
fn split_at_any_byte_a_stream_is_the_same_answer() {
    for (bytes, _) in streams() {
        let whole = read([bytes.as_slice()]).unwrap();
        assert_eq!(whole.text, TEXT);
        for at in 0..=bytes.len() {
            let (left, right) = bytes.split_at(at);
            assert_eq!(read([left, right]).as_ref(), Ok(&whole), "split at {at}");
        }
        assert_eq!(read(bytes.chunks(1)), Ok(whole));
    }
}

#[test]
fn split_at_any_byte_a_paused_stream_holds_the_same_blocks() {
    let (bytes, stop) = framed(&paused_events(), "\r\n", "event");
    let whole = read([bytes.as_slice()]).unwrap();
    let expected = json!([
        { "type": "thinking", "thinking": "hm, é", "signature": "EqQB" },
        { "type": "text", "text": TEXT, "citations": [{ "n": 1.5 }] },
        { "type": "server_tool_use", "id": "s", "name": "web_search", "input": { "query": "語" } },
        { "type": "web_search_tool_result", "tool_use_id": "s", "content": { "error_code": "unavailable" } },
        { "type": "brand_new", "text": { "rich": true } },
    ]);
    let paused = whole.paused.clone().unwrap();
    assert_eq!(serde_json::from_str::<Value>(&paused).unwrap(), expected);
    assert_eq!(whole.tool_errors, ["web_search: unavailable"]);
    for at in 0..=bytes.len() {
        let (left, right) = bytes.split_at(at);
        assert_eq!(read([left, right]).as_ref(), Ok(&whole), "split at {at}");
        if at <= stop {
            assert!(read([left]).is_err(), "ended at {at}");
        }
    }
    assert_eq!(read(bytes.chunks(1)), Ok(whole));
}

#[test]
fn ended_at_any_byte_a_stream_is_no_answer_before_its_last_event_is_whole() {
    for (bytes, stop) in streams() {
        let whole = read([bytes.as_slice()]).unwrap();
        let first = (0..=bytes.len())
            .find(|&end| read([&bytes[..end]]).is_ok())
            .unwrap();
        let closed = stop + "event: xdata: {\"type\":\"message_stop\"}".len();
        assert!(
            first > closed - "event".len() && bytes[first - 1].is_ascii_whitespace(),
            "an answer after {first} bytes"
        );
        for end in 0..=bytes.len() {
            match read([&bytes[..end]]) {
                Ok(answer) => assert!(end >= first && answer == whole, "ended at {end}"),
                Err(Broken::Cut(_)) => assert!(end < first, "ended at {end}"),
                Err(Broken::Error(data)) => panic!("ended at {end}: {data}"),
            }
        }
    }
}

#[tokio::test]
async fn connection_that_ends_at_any_byte_brings_no_answer() {
    let (bytes, stop) = stream("\r\n", "event");
    let begun = bytes
        .windows(4)
        .enumerate()
        .filter(|(_, four)| *four == b"\r\n\r\n")
        .nth(1)
        .unwrap()
        .0;
    let clock = ManualClock::new();
    let raw = Raw::bind().await;
    let client = client(&raw.base_url(), &clock);
    let request = request(Delivery::Stream);
    for end in 0..stop {
        let serve = async {
            let mut peer = raw.accept().await;
            peer.open("content-type: text/event-stream\r\n").await;
            peer.say(&bytes[..end]).await;
            peer.socket.shutdown().await.unwrap();
        };
        let ((), result) = tokio::join!(serve, client.send(&request));
        let failure = result.unwrap_err();
        assert_eq!(failure.kind, FailureKind::Cut, "ended at {end}");
        assert_eq!(classify(&failure, clock.now()).class, Class::Retryable);
        // The second event counts the input; it ends with the first byte of its blank line.
        assert_eq!(failure.usage.is_some(), end > begun + 2, "ended at {end}");
    }
}
