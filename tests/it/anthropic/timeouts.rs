//! The timeouts against a clock that the test moves: none of these tests waits.

use std::sync::Arc;
use std::time::Duration;

use offpeak::answer::{FailureKind, SendFailure};
use offpeak::engine::ports::Clock as _;
use offpeak::job::Delivery;
use offpeak::standin::fault::{Silence, Slow};
use offpeak::standin::{Fault, Latency, Rule, Script};

use super::clock::{ManualClock, settle};
use super::raw::{Peer, Raw};
use super::{request, send, standin};

const FIRST_BYTE: Duration = Duration::from_mins(5);
const ALMOST_FIRST_BYTE: Duration = Duration::from_secs(299);
const IDLE: Duration = Duration::from_mins(2);
const ALMOST_IDLE: Duration = Duration::from_secs(119);

/// Meets silence after so many events, and passes every sleep shorter than `patience`.
async fn silence(
    after: Option<usize>,
    timeout: Duration,
    patience: Duration,
) -> (Arc<ManualClock>, SendFailure) {
    let clock = ManualClock::new();
    let standin = standin(
        Script::default().rule(Rule::always(Fault::Silence(Silence { after }))),
        &clock,
    );
    let mut request = request(Delivery::Stream);
    request.timeout = timeout;
    let result = clock
        .pass(patience, send(&standin.base_url(), &clock, &request))
        .await;
    (clock, result.unwrap_err())
}

#[tokio::test]
async fn silence_before_the_first_byte_ends_at_its_limit() {
    let (clock, failure) = silence(None, FIRST_BYTE * 2, FIRST_BYTE * 2).await;
    assert_eq!(
        (failure.kind, failure.status),
        (FailureKind::FirstByteTimeout, None)
    );
    assert_eq!(failure.message, "no first byte within 300s");
    assert_eq!((clock.elapsed(), failure.first_byte), (FIRST_BYTE, None));
}

#[tokio::test]
async fn head_without_a_body_is_no_first_byte() {
    let clock = ManualClock::new();
    let raw = Raw::bind().await;
    let serve = async {
        let mut peer = raw.accept().await;
        peer.open("content-type: text/event-stream\r\n").await;
        clock.advance(ALMOST_FIRST_BYTE);
        settle().await;
        clock.advance(Duration::from_secs(1));
        peer
    };
    let (_peer, result) = tokio::join!(
        serve,
        send(&raw.base_url(), &clock, &request(Delivery::Stream))
    );
    assert_eq!(result.unwrap_err().kind, FailureKind::FirstByteTimeout);
}

#[tokio::test]
async fn silence_inside_the_reply_ends_at_its_limit() {
    let (clock, failure) = silence(Some(4), FIRST_BYTE * 2, FIRST_BYTE).await;
    assert_eq!(
        (failure.kind, failure.status),
        (FailureKind::IdleTimeout, Some(200))
    );
    assert_eq!(failure.message, "no byte for 120s inside the reply");
    assert!(
        clock.elapsed() >= IDLE && failure.first_byte.is_some(),
        "{:?}",
        clock.elapsed()
    );
    assert!(failure.usage.is_some(), "what was counted may be billed");
}

#[tokio::test]
async fn whole_attempt_ends_at_its_limit_before_and_inside_the_reply() {
    let limit = Duration::from_mins(1);
    for after in [None, Some(3)] {
        let (clock, failure) = silence(after, limit, FIRST_BYTE).await;
        assert_eq!(failure.kind, FailureKind::AttemptTimeout);
        assert_eq!(failure.message, "no whole answer within 60s");
        assert_eq!(clock.elapsed(), limit);
    }
}

#[tokio::test]
async fn any_byte_counts_as_life() {
    let clock = ManualClock::new();
    let raw = Raw::bind().await;
    let serve = async {
        let mut peer = raw.accept().await;
        peer.open("content-type: text/event-stream\r\n").await;
        for sign in [
            ": keep-alive\n\n",
            "event: ping\ndata: {\"type\":\"ping\"}\n\n",
            ":",
            "\n",
        ] {
            // Together longer than the limit for the first byte, one by one shorter than that for silence.
            clock.advance(ALMOST_IDLE);
            live(&mut peer, &clock, sign).await;
        }
        peer.say(concat!(
            "data: {\"type\":\"message_start\",\"message\":{\"id\":\"m\"}}\n\n",
            "data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"}}\n\n",
            "data: {\"type\":\"message_stop\"}\n\n",
        ))
        .await;
    };
    let ((), result) = tokio::join!(
        serve,
        send(&raw.base_url(), &clock, &request(Delivery::Stream))
    );
    let reply = result.unwrap();
    assert_eq!(reply.first_byte, Some(ALMOST_IDLE));
    assert_eq!(clock.elapsed(), ALMOST_IDLE * 4);
}

/// Sends a sign of life, and waits until the client has begun to wait anew.
async fn live(peer: &mut Peer, clock: &ManualClock, sign: &str) {
    peer.say(sign).await;
    while clock.next_wake() != Some(IDLE) {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn slow_answer_within_its_limits_is_an_answer() {
    let clock = ManualClock::new();
    let slow = Slow {
        first_byte: Duration::from_secs(40),
        gap: Duration::from_secs(2),
    };
    let standin = standin(
        Script::default().rule(Rule::always(Fault::Slow(slow))),
        &clock,
    );
    let request = request(Delivery::Stream);
    let reply = clock
        .pass(IDLE, send(&standin.base_url(), &clock, &request))
        .await
        .unwrap();
    let first_byte = reply.first_byte.unwrap();
    assert!(first_byte >= Duration::from_secs(40) && first_byte < Duration::from_secs(50));
    let rest = clock.elapsed().saturating_sub(slow.first_byte);
    assert!(
        rest >= Duration::from_secs(16) && rest <= Duration::from_secs(32),
        "{rest:?}"
    );
}

#[tokio::test]
async fn latency_of_the_script_passes_on_the_clock() {
    let latency = Latency {
        median: Duration::from_mins(1),
        spread: 0.0,
        max: None,
    };
    for delivery in [Delivery::Stream, Delivery::Whole] {
        let clock = ManualClock::new();
        let standin = standin(
            Script {
                latency,
                ..Script::default()
            },
            &clock,
        );
        let request = request(delivery);
        let reply = clock
            .pass(IDLE, send(&standin.base_url(), &clock, &request))
            .await
            .unwrap();
        let elapsed = clock.elapsed().as_secs_f64();
        assert!((elapsed - 60.0).abs() < 0.001, "{elapsed}");
        let first_byte = reply.first_byte.unwrap().as_secs_f64();
        let expected = if delivery == Delivery::Stream {
            15.0
        } else {
            60.0
        };
        // The first text event may overtake the head on the way.
        assert!(
            (expected - 0.001..expected + 10.0).contains(&first_byte),
            "{first_byte}"
        );
    }
}

/// The limit for the first byte is one for a queue, and a whole answer has no byte before its last: it was killed at
/// half of the ten minutes that it may take.
#[tokio::test]
async fn answer_in_one_piece_may_take_the_whole_attempt_to_begin() {
    let think = FIRST_BYTE + Duration::from_mins(1);
    let latency = Latency {
        median: think,
        spread: 0.0,
        max: None,
    };
    let script = Script {
        latency,
        ..Script::default()
    };
    let clock = ManualClock::new();
    let standin = standin(script, &clock);
    let mut request = request(Delivery::Whole);
    let patience = Duration::from_mins(7);
    let reply = clock
        .pass(patience, send(&standin.base_url(), &clock, &request))
        .await
        .unwrap();
    assert!(reply.first_byte.unwrap() > FIRST_BYTE);
    request.timeout = think / 2;
    let failure = clock
        .pass(patience, send(&standin.base_url(), &clock, &request))
        .await
        .unwrap_err();
    assert_eq!(failure.kind, FailureKind::AttemptTimeout);
}

/// The status was known at once, and the slot stayed open for the minutes of an idle stream.
#[tokio::test]
async fn error_body_that_never_ends_is_not_waited_for() {
    let clock = ManualClock::new();
    let raw = Raw::bind().await;
    let patience = Duration::from_secs(10);
    let serve = async {
        let mut peer = raw.accept().await;
        peer.say("HTTP/1.1 529 Busy\r\ncontent-length: 999\r\n\r\n")
            .await;
        while clock.next_wake() != Some(patience) {
            tokio::task::yield_now().await;
        }
        clock.advance(patience);
        peer
    };
    let (_peer, result) = tokio::join!(
        serve,
        send(&raw.base_url(), &clock, &request(Delivery::Stream))
    );
    let failure = result.unwrap_err();
    assert_eq!(
        (failure.kind, failure.status),
        (FailureKind::Status, Some(529))
    );
    assert_eq!(clock.elapsed(), patience);
}

#[tokio::test]
async fn dropping_the_future_closes_the_connection() {
    let clock = ManualClock::new();
    let raw = Raw::bind().await;
    let base_url = raw.base_url();
    let request = request(Delivery::Stream);
    let sending = send(&base_url, &clock, &request);
    let mut peer = tokio::select! {
        peer = raw.accept() => peer,
        result = sending => panic!("no reply was sent: {result:?}"),
    };
    let mut rest = Vec::new();
    let left = tokio::io::AsyncReadExt::read_to_end(&mut peer.socket, &mut rest);
    let left = tokio::time::timeout(Duration::from_secs(20), left).await;
    assert!(left.is_ok(), "the connection stays open");
}
