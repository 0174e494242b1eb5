//! Message batches against the stand-in and against raw sockets: every endpoint, and what goes wrong at each.

use std::sync::Arc;
use std::time::Duration;

use offpeak::answer::{Answer, FailureKind, Hint, SendFailure, Tier};
use offpeak::anthropic::Client;
use offpeak::engine::ports::{
    BatchOutcome, BatchPart, BatchResult, BatchStage, BatchState, Batches, SubmittedBatch,
};
use offpeak::job::{Delivery, KeyId};
use offpeak::standin::{Script, Standin};
use serde_json::Value;

use super::clock::ManualClock;
use super::raw::Raw;
use super::{SECRET, client, request, settings, standin};

const ID: &str = "msgbatch_1";

fn key() -> KeyId {
    KeyId::new("main")
}

fn part(name: &str) -> BatchPart {
    let mut request = request(Delivery::Stream);
    request.prompt = format!("About {name}.");
    // More than is safe without a stream: in a batch nobody waits.
    request.max_tokens = 64_000;
    BatchPart {
        name: name.to_owned(),
        request,
    }
}

fn parts() -> Vec<BatchPart> {
    ["one", "two", "three"].map(part).to_vec()
}

/// A stand-in with this script, its clock, and a client of it.
struct House {
    clock: Arc<ManualClock>,
    standin: Standin,
    client: Client,
}

impl House {
    fn new(yaml: &str) -> Self {
        let clock = ManualClock::new();
        let standin = standin(Script::from_yaml(yaml).unwrap(), &clock);
        let client = client(&standin.base_url(), &clock);
        Self {
            clock,
            standin,
            client,
        }
    }

    async fn submit(&self) -> SubmittedBatch {
        self.client.submit(&parts()).await.unwrap()
    }

    async fn look(&self, id: &str) -> BatchState {
        self.client.look(&key(), id).await.unwrap()
    }

    async fn collect(&self, batch: &BatchState) -> Vec<BatchResult> {
        self.client.collect(&key(), batch).await.unwrap()
    }

    /// Hands in a batch and collects it at the first look.
    async fn results(&self) -> Vec<BatchResult> {
        let id = self.submit().await.id;
        let batch = self.look(&id).await;
        assert_eq!(batch.stage, BatchStage::Ended);
        self.collect(&batch).await
    }
}

fn names(results: &[BatchResult]) -> Vec<Option<&str>> {
    let names = results.iter().map(|result| result.name.as_deref());
    names.collect()
}

fn answer(result: &BatchResult) -> &Answer {
    match &result.outcome {
        BatchOutcome::Answered(answer) => answer,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn batch_is_handed_in_watched_and_collected() {
    let house = House::new("rules: [{ then: { batch: { looks: 1, span: 10m } } }]");
    let submitted = house.submit().await;
    assert_eq!(submitted.request_id.as_deref(), Some("req_standin_000001"));
    let expires_at = submitted.expires_at.unwrap();
    assert_eq!(expires_at.to_rfc3339(), "2026-12-01T00:53:20+00:00");
    let seen = &house.standin.requests()[0];
    assert_eq!(seen.path, "/v1/messages/batches");
    assert_eq!(seen.header("x-api-key"), Some("[redacted]"));
    assert_eq!(seen.header("anthropic-version"), Some("2023-06-01"));
    let body: Value = serde_json::from_str(&seen.body).unwrap();
    assert_eq!(body["requests"][1]["custom_id"], "two");
    assert_eq!(body["requests"][1]["params"]["max_tokens"], 64_000);
    assert_eq!(body["requests"][1]["params"].get("stream"), None);

    house.clock.advance(Duration::from_mins(10));
    let early = house.look(&submitted.id).await;
    assert_eq!(
        (early.stage, early.results_url),
        (BatchStage::Processing, None)
    );
    let batch = house.look(&submitted.id).await;
    assert_eq!(batch.stage, BatchStage::Ended);
    assert!(batch.results_url.is_some());
    let results = house.collect(&batch).await;
    assert_eq!(names(&results), [Some("three"), Some("two"), Some("one")]);
    assert!(answer(&results[2]).text.starts_with("# About one."));
    assert_eq!(answer(&results[2]).usage.unwrap().tier, Tier::Batch);
    assert_eq!(
        house.collect(&batch).await,
        results,
        "they can be collected again"
    );
    assert_eq!(
        house.standin.requests().len(),
        1,
        "nothing is sent by itself again"
    );
}

#[tokio::test]
async fn parts_that_fail_in_every_way_lose_no_other() {
    let house = House::new(
        r"
rules:
  - { when: { contains: About one }, then: { part: { outcome: broken } } }
  - { when: { contains: About two }, then: { part: { outcome: errored, type: overloaded_error, message: Busy } } }
",
    );
    let results = house.results().await;
    assert!(answer(&results[0]).text.starts_with("# About three."));
    let BatchOutcome::Errored(failure) = &results[1].outcome else {
        panic!("{results:?}");
    };
    assert_eq!(
        (
            failure.status,
            failure.error_type.as_deref(),
            failure.message.as_str()
        ),
        (Some(529), Some("overloaded_error"), "Busy")
    );
    assert!(
        matches!(&results[2].outcome, BatchOutcome::Unreadable(what) if what.contains("no JSON"))
    );
    assert_eq!(names(&results), [Some("three"), Some("two"), Some("one")]);
    let ends = House::new(
        r"
rules:
  - { when: { contains: About one }, then: { part: { outcome: expired } } }
  - { when: { contains: About two }, then: { part: { outcome: canceled } } }
  - { then: { tool_error: { tool: web_search, code: unavailable } } }
",
    );
    let results = ends.results().await;
    assert_eq!(answer(&results[0]).tool_errors, ["web_search: unavailable"]);
    assert_eq!(results[1].outcome, BatchOutcome::Canceled);
    assert_eq!(results[2].outcome, BatchOutcome::Expired);
}

#[tokio::test]
async fn bad_parameters_show_in_the_results_only() {
    let house = House::new("");
    let mut parts = parts();
    parts[1].request.model = "gpt-4".to_owned();
    let id = house.client.submit(&parts).await.unwrap().id;
    let results = house.collect(&house.look(&id).await).await;
    let BatchOutcome::Errored(failure) = &results[1].outcome else {
        panic!("{results:?}");
    };
    assert_eq!(failure.status, Some(404));
    assert_eq!(results.len(), 3);
}

#[tokio::test]
async fn batch_that_never_ends_expires_after_a_day_and_a_cancelled_one_at_once() {
    let house = House::new("rules: [{ then: { never_ends: {} } }]");
    let (id, other) = (house.submit().await.id, house.submit().await.id);
    assert_ne!(id, other);
    house.clock.advance(Duration::from_hours(23));
    let batch = house.look(&id).await;
    assert_eq!(batch.stage, BatchStage::Processing);
    let early = house.client.collect(&key(), &batch).await.unwrap_err();
    assert_eq!((early.kind, early.status), (FailureKind::Status, Some(404)));
    let canceling = house.client.cancel(&key(), &other).await.unwrap();
    assert_eq!(canceling.stage, BatchStage::Canceling);
    let canceled = house.look(&other).await;
    let results = house.collect(&canceled).await;
    assert!(
        results
            .iter()
            .all(|result| result.outcome == BatchOutcome::Canceled)
    );
    house.clock.advance(Duration::from_hours(1));
    let results = house.collect(&house.look(&id).await).await;
    assert!(
        results
            .iter()
            .all(|result| result.outcome == BatchOutcome::Expired)
    );
    assert_eq!(results.len(), 3);
}

#[tokio::test]
async fn batch_that_nobody_knows_is_not_found() {
    let house = House::new("");
    for id in [ID, "a"] {
        for failure in [
            house.client.look(&key(), id).await.unwrap_err(),
            house.client.cancel(&key(), id).await.unwrap_err(),
        ] {
            assert_eq!(
                (failure.kind, failure.status),
                (FailureKind::Status, Some(404))
            );
        }
    }
    let failure = house.client.look(&key(), "../files").await.unwrap_err();
    assert_eq!(failure.kind, FailureKind::Unsendable);
    let failure = house
        .client
        .look(&KeyId::new("none"), ID)
        .await
        .unwrap_err();
    assert_eq!(failure.kind, FailureKind::Unsendable);
    assert!(failure.message.contains("`none`"), "{}", failure.message);
}

#[tokio::test]
async fn part_for_a_model_that_is_gone_is_refused_in_the_results() {
    let results = House::new("models: { gone: [claude-sonnet-5-5] }")
        .results()
        .await;
    assert_eq!(results.len(), 3);
    for result in results {
        let BatchOutcome::Errored(failure) = result.outcome else {
            panic!("{result:?}");
        };
        assert_eq!(failure.error_type.as_deref(), Some("not_found_error"));
        assert_eq!(failure.message, "model: claude-sonnet-5-5");
    }
}

#[tokio::test]
async fn failure_at_the_beginning_is_that_of_a_message() {
    let house = House::new(
        r#"
rules:
  - { when: { endpoint: batches }, times: 1, then: { error: { status: 529 } } }
  - { times: 1, then: { error: { status: 429, retry_after: 20, code: ramp_limit_exceeded } } }
  - { times: 1, then: { error: { status: 502, shape: html } } }
  - { times: 1, then: { redirect: { to: "http://127.0.0.1:9/" } } }
  - { times: 1, then: { body: { status: 200, content_type: text/html, text: "<title>Login</title>" } } }
  - { times: 1, then: { hang_up: {} } }
  - { times: 1, then: { cut: { after: 1 } } }
"#,
    );
    let mut seen = Vec::new();
    for _ in 0..7 {
        let failure = house.client.submit(&parts()).await.unwrap_err();
        seen.push((failure.kind, failure.status, failure.hint));
        if failure.status == Some(429) {
            assert_eq!(failure.error_code.as_deref(), Some("ramp_limit_exceeded"));
            assert_eq!(failure.request_id.as_deref(), Some("req_standin_000002"));
        }
    }
    let expected = [
        (FailureKind::Status, Some(529), None),
        (
            FailureKind::Status,
            Some(429),
            Some(Hint::After(Duration::from_secs(20))),
        ),
        (FailureKind::Status, Some(502), None),
        (FailureKind::Redirect, Some(307), None),
        (FailureKind::NotAMessage, Some(200), None),
        (FailureKind::Cut, None, None),
        (FailureKind::Cut, Some(200), None),
    ];
    assert_eq!(seen, expected);
    assert!(house.client.submit(&parts()).await.is_ok());
    assert_eq!(house.standin.requests().len(), 8);
}

#[tokio::test]
async fn what_cannot_be_a_batch_is_not_sent() {
    let house = House::new("");
    let mut named = parts();
    named[1].name = "docs/a.md".to_owned();
    for parts in [Vec::new(), named, vec![part("a"), part("a")]] {
        let failure = house.client.submit(&parts).await.unwrap_err();
        assert_eq!(failure.kind, FailureKind::Unsendable, "{failure:?}");
    }
    assert!(house.standin.requests().is_empty());
}

/// What the client makes of one reply to a look.
async fn looked(reply: &str) -> Result<BatchState, SendFailure> {
    let raw = Raw::bind().await;
    let mut settings = settings(&raw.base_url(), &ManualClock::new());
    settings.max_answer_bytes = 10_000;
    let client = Client::new(settings).unwrap();
    let serve = async { raw.accept().await.say(reply).await };
    let key = key();
    let ((), result) = tokio::join!(serve, client.look(&key, ID));
    result
}

/// What the client makes of a body of results, which ends with the connection.
async fn collected(body: &str, max_answer_bytes: usize) -> Result<Vec<BatchResult>, SendFailure> {
    let raw = Raw::bind().await;
    let mut settings = settings(&raw.base_url(), &ManualClock::new());
    settings.max_answer_bytes = max_answer_bytes;
    let client = Client::new(settings).unwrap();
    let serve = async {
        let mut peer = raw.accept().await;
        peer.open("content-type: application/x-jsonl\r\nrequest-id: req_7\r\n")
            .await;
        peer.say(body).await;
    };
    let (key, batch) = (key(), ended(None));
    let ((), result) = tokio::join!(serve, client.collect(&key, &batch));
    result
}

fn ended(results_url: Option<String>) -> BatchState {
    BatchState {
        id: ID.to_owned(),
        stage: BatchStage::Ended,
        results_url,
    }
}

fn http(status: u16, headers: &str, body: &str) -> String {
    let length = body.len();
    format!("HTTP/1.1 {status} Words\r\n{headers}content-length: {length}\r\n\r\n{body}")
}

fn line(name: &str, text: &str) -> String {
    format!(
        "{{\"custom_id\":\"{name}\",\"result\":{{\"type\":\"succeeded\",\"message\":{{\"type\":\"message\",\"content\":[{{\"type\":\"text\",\"text\":\"{text}\"}}],\"stop_reason\":\"end_turn\"}}}}}}\n"
    )
}

#[tokio::test]
async fn look_tells_every_failure_and_repeats_no_key() {
    let error = format!(
        r#"{{"type":"error","error":{{"type":"rate_limit_error","message":"slower, {SECRET}"}},"request_id":"req_1"}}"#
    );
    let failure = looked(&http(429, "retry-after: 7\r\n", &error))
        .await
        .unwrap_err();
    assert_eq!(failure.hint, Some(Hint::After(Duration::from_secs(7))));
    assert_eq!(failure.request_id.as_deref(), Some("req_1"));
    assert_eq!(failure.message, "slower, [redacted]");
    assert!(failure.first_byte.is_some());
    let cases = [
        (
            http(
                502,
                "content-type: text/html\r\n",
                "<title>Bad Gateway</title>",
            ),
            FailureKind::Status,
        ),
        (
            http(302, "location: https://elsewhere.example/\r\n", ""),
            FailureKind::Redirect,
        ),
        (
            http(200, "", "<title>Log in</title>"),
            FailureKind::NotAMessage,
        ),
        (
            http(200, "", r#"{"id":"a/b","processing_status":"ended"}"#),
            FailureKind::NotAMessage,
        ),
        (http(200, "", ""), FailureKind::NotAMessage),
        (
            "HTTP/1.1 200 OK\r\ncontent-length: 50\r\n\r\n{\"id\":\"msg".to_owned(),
            FailureKind::Cut,
        ),
        (http(200, "", &"x".repeat(10_001)), FailureKind::TooLarge),
    ];
    for (reply, kind) in cases {
        let failure = looked(&reply).await.unwrap_err();
        assert_eq!(failure.kind, kind, "{failure:?}");
    }
    let odd = http(
        200,
        "",
        r#"{"id":"msgbatch_1","processing_status":"resting"}"#,
    );
    let stage = looked(&odd).await.unwrap().stage;
    assert_eq!(stage, BatchStage::Other("resting".to_owned()));
}

#[tokio::test]
async fn bad_lines_among_good_ones_are_told_and_the_rest_is_there() {
    let body = [
        line("a", "fine"),
        "{\"custom_id\":\"b\",\"result\":\n".to_owned(),
        line("c", &"x".repeat(5_000)),
        "{\"custom_id\":\"d\",\"result\":{\"type\":\"of_next_year\"}}\n".to_owned(),
        line("e", "well"),
    ];
    let results = collected(&body.concat(), 1_000).await.unwrap();
    assert_eq!(names(&results), ["a", "b", "c", "d", "e"].map(Some));
    for (index, part) in [(1, "no JSON"), (2, "over 1000 bytes"), (3, "of_next_year")] {
        let outcome = &results[index].outcome;
        assert!(
            matches!(outcome, BatchOutcome::Unreadable(what) if what.contains(part)),
            "{outcome:?}"
        );
    }
    assert_eq!(answer(&results[0]).text, "fine");
    assert_eq!(answer(&results[4]).text, "well");
}

#[tokio::test]
async fn results_that_break_off_or_are_something_else_fail_the_whole() {
    let whole = line("a", "fine") + &line("b", "well");
    let failure = collected(&whole[..whole.len() - 9], 1_000)
        .await
        .unwrap_err();
    assert_eq!(failure.kind, FailureKind::Cut);
    assert_eq!(failure.request_id.as_deref(), Some("req_7"));
    for body in ["", "<html>\n<title>Log in</title>\n"] {
        let failure = collected(body, 1_000).await.unwrap_err();
        assert_eq!(failure.kind, FailureKind::NotAMessage, "{failure:?}");
    }
}

#[tokio::test]
async fn key_follows_results_to_its_own_origin_only() {
    let (own, foreign) = (Raw::bind().await, Raw::bind().await);
    let client = client(&format!("{}/pre", own.base_url()), &ManualClock::new());
    let key = key();
    for (said, path) in [
        (format!("{}/shelf/7", own.base_url()), "get /shelf/7 http"),
        (
            format!("{}/shelf/7", foreign.base_url()),
            "get /pre/v1/messages/batches/msgbatch_1/results http",
        ),
    ] {
        let batch = ended(Some(said));
        let serve = async {
            let mut peer = own.accept().await;
            let body = line("a", "fine");
            peer.say(http(200, "", &body)).await;
            peer.head
        };
        let (head, results) = tokio::join!(serve, client.collect(&key, &batch));
        assert!(head.starts_with(path), "{head}");
        assert!(head.contains(&format!("x-api-key: {SECRET}")), "{head}");
        assert_eq!(results.unwrap().len(), 1);
    }
    foreign.assert_untouched();
}

#[tokio::test]
async fn redirect_of_results_is_refused() {
    let (raw, elsewhere) = (Raw::bind().await, Raw::bind().await);
    let client = client(&raw.base_url(), &ManualClock::new());
    let location = format!("location: {}/\r\n", elsewhere.base_url());
    let serve = async { raw.accept().await.say(http(307, &location, "")).await };
    let (key, batch) = (key(), ended(None));
    let ((), result) = tokio::join!(serve, client.collect(&key, &batch));
    assert_eq!(result.unwrap_err().kind, FailureKind::Redirect);
    elsewhere.assert_untouched();
}

#[tokio::test]
async fn silence_at_any_endpoint_ends_with_a_timeout() {
    let clock = ManualClock::new();
    let raw = Raw::bind().await;
    let client = client(&raw.base_url(), &clock);
    let (key, batch, parts) = (key(), ended(None), parts());
    let timeouts = async {
        let failure = client.submit(&parts).await.unwrap_err();
        assert_eq!(failure.kind, FailureKind::AttemptTimeout);
        let failure = client.look(&key, ID).await.unwrap_err();
        assert_eq!(failure.kind, FailureKind::AttemptTimeout);
        let failure = client.collect(&key, &batch).await.unwrap_err();
        assert_eq!(failure.kind, FailureKind::FirstByteTimeout);
    };
    let silent = async {
        let mut peers = Vec::new();
        for _ in 0..3 {
            peers.push(raw.accept().await);
            super::clock::settle().await;
            clock.advance(Duration::from_mins(10));
        }
        peers
    };
    tokio::join!(timeouts, silent);
}
