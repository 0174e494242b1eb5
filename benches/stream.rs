//! Throughput of the event stream: bytes to payloads, and bytes to an answer.
//!
//! The stream is 10 MB of small text deltas, cut as TLS records cut it. The
//! goal for both is 200 MB/s: a long answer must cost no more than its bytes.

use divan::Bencher;
use divan::counter::BytesCount;
use offpeak::anthropic::message::Gathering;
use offpeak::anthropic::stream::EventStream;

/// About the size of the whole stream.
const STREAM_BYTES: usize = 10_000_000;

/// The largest payload of a TLS record.
const CHUNK_BYTES: usize = 16 * 1024;

/// The text of one delta, a short line.
const TEXT: &str =
    "The backup of the small hours finished without a warning; \\\"two\\\" disks differ.\\n";

fn main() {
    divan::main();
}

/// A whole stream of text deltas with their event names.
fn stream() -> Vec<u8> {
    let event =
        |name: &str, rest: &str| format!("event: {name}\ndata: {{\"type\":\"{name}\"{rest}}}\n\n");
    let delta = format!(",\"index\":0,\"delta\":{{\"type\":\"text_delta\",\"text\":\"{TEXT}\"}}");
    let delta = event("content_block_delta", &delta);
    let mut all = event(
        "message_start",
        ",\"message\":{\"id\":\"msg_1\",\"model\":\"claude-sonnet-5-5\"}",
    );
    while all.len() < STREAM_BYTES {
        all.push_str(&delta);
    }
    all.push_str(&event(
        "message_delta",
        ",\"delta\":{\"stop_reason\":\"end_turn\"}",
    ));
    all.push_str(&event("message_stop", ""));
    all.into_bytes()
}

#[divan::bench(sample_count = 20)]
fn payloads(bencher: Bencher<'_, '_>) {
    let bytes = stream();
    bencher.counter(BytesCount::new(bytes.len())).bench(|| {
        let mut stream = EventStream::new(1 << 20);
        let mut total = 0;
        for chunk in bytes.chunks(CHUNK_BYTES) {
            stream
                .feed(chunk, |data| total += data.len())
                .expect("no event is over the limit");
        }
        total
    });
}

/// From the first chunk of a reply to its first event, with the answer begun: the goal is a millisecond.
#[divan::bench]
fn first_event() -> bool {
    let start =
        b"event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_1\",\
        \"model\":\"claude-sonnet-5-5\",\"usage\":{\"input_tokens\":25,\"output_tokens\":1}}}\n\n";
    let mut stream = EventStream::new(1 << 20);
    let mut gathering = Gathering::new();
    stream
        .feed(divan::black_box(start), |data| gathering.take(data))
        .expect("no event is over the limit");
    gathering.usage().is_some()
}

#[divan::bench(sample_count = 20)]
fn answer(bencher: Bencher<'_, '_>) {
    let bytes = stream();
    bencher.counter(BytesCount::new(bytes.len())).bench(|| {
        let mut stream = EventStream::new(1 << 20);
        let mut gathering = Gathering::new();
        for chunk in bytes.chunks(CHUNK_BYTES) {
            stream
                .feed(chunk, |data| gathering.take(data))
                .expect("no event is over the limit");
        }
        gathering.finish().expect("the stream is whole")
    });
}
