//! Whatever an upstream does, a call sends no more than `max_attempts` requests, and half an answer is none.
//!
//! The whole engine runs against a socket with the real client; only the clock and the rows are in memory.

use std::cell::Cell;
use std::sync::Arc;
use std::time::Duration;

use chrono::DateTime;
use offpeak::anthropic::Client;
use offpeak::engine::ports::{Clock as _, World};
use offpeak::engine::{Asked, Stop, run_once};
use offpeak::guard::{HoldCause, RetryPolicy};
use offpeak::job::{Delivery, GroupId, JobId};
use offpeak::outcome::{Outcome, Run};
use offpeak::sim::{MemoryStore, SimDice, SimPlan, SimWorkspace, VirtualClock};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use tokio::io::AsyncWriteExt;
use tokio::sync::{mpsc, watch};

use super::clock::ManualClock;
use super::raw::Raw;
use super::settings;

const TEXT: &str = "All is well.";

const MAX_ANSWER_BYTES: usize = 100_000;

/// Longer than any wait between attempts, and shorter than any timeout of the client.
const PATIENCE: Duration = Duration::from_secs(6);

/// What outlives a run.
struct House {
    clock: Arc<ManualClock>,
    store: Arc<MemoryStore>,
    workspace: Arc<SimWorkspace>,
    raw: Raw,
    /// Connections so far.
    met: Cell<u32>,
}

impl House {
    async fn new() -> Self {
        Self {
            clock: ManualClock::new(),
            store: Arc::new(MemoryStore::new()),
            workspace: Arc::new(SimWorkspace::new(&VirtualClock::new(DateTime::UNIX_EPOCH))),
            raw: Raw::bind().await,
            met: Cell::new(0),
        }
    }

    /// Makes one run against a socket that says these replies in turn, for ever.
    async fn run(&self, max_attempts: u32, delivery: Delivery, replies: &[Vec<u8>]) -> Run {
        let second = Duration::from_secs(1);
        let retry = RetryPolicy::new(max_attempts, second, second * 5, 0.5).unwrap();
        let plan = SimPlan::new("Asia/Tokyo").unwrap();
        let plan = plan.job("a", "main", &["0 2 * * *"]).unwrap();
        let plan = plan.with_job("a", |planned| {
            planned.retry = retry;
            planned.job.template.delivery = delivery;
        });
        let mut settings = settings(&self.raw.base_url(), &self.clock);
        settings.max_answer_bytes = MAX_ANSWER_BYTES;
        let world = World {
            clock: Arc::clone(&self.clock) as _,
            upstream: Arc::new(Client::new(settings).unwrap()),
            store: Arc::clone(&self.store) as _,
            workspace: Arc::clone(&self.workspace) as _,
            dice: Arc::new(SimDice::fixed(0.5)),
        };
        let asked = Asked {
            plan: plan.build(),
            job: JobId::new("a"),
            fire_at: self.clock.now(),
        };
        let (_stop, stopped) = watch::channel(Stop::Running);
        let (sender, _notices) = mpsc::unbounded_channel();
        let running = run_once(world, asked, stopped, sender);
        let running = self.clock.pass(PATIENCE, running);
        let finish = tokio::select! {
            biased;
            finish = running => finish.unwrap(),
            never = self.serve(replies) => match never {},
        };
        let runs = self.store.runs();
        runs.into_iter().find(|run| run.id == finish.run).unwrap()
    }

    async fn serve(&self, replies: &[Vec<u8>]) -> std::convert::Infallible {
        loop {
            for reply in replies {
                let mut peer = self.raw.accept().await;
                self.met.set(self.met.get() + 1);
                // The client may have heard enough before the end.
                let _ = peer.socket.write_all(reply).await;
                let _ = peer.socket.shutdown().await;
            }
        }
    }
}

fn error_body() -> impl Strategy<Value = String> {
    let kinds = vec![
        "invalid_request_error",
        "authentication_error",
        "billing_error",
        "rate_limit_error",
        "api_error",
        "overloaded_error",
        "of_next_year",
    ];
    let codes = vec![
        "enforced_spend_limit_reached",
        "ramp_limit_exceeded",
        "cmek_key_unreachable",
        "of_next_year",
    ];
    (
        prop::sample::select(kinds),
        option::of(prop::sample::select(codes)),
    )
        .prop_map(|(kind, code)| {
            let details = code.map_or_else(String::new, |code| {
                format!(r#","details":{{"error_code":"{code}"}}"#)
            });
            format!(r#"{{"type":"error","error":{{"type":"{kind}","message":"m"{details}}}}}"#)
        })
}

fn whole() -> String {
    format!(
        r#"{{"type":"message","id":"m","model":"x","content":[{{"type":"text","text":"{TEXT}"}}],"stop_reason":"end_turn"}}"#
    )
}

fn stream() -> String {
    let (half, rest) = TEXT.split_at(5);
    let delta = |text| {
        format!(
            r#"data: {{"type":"content_block_delta","index":0,"delta":{{"type":"text_delta","text":"{text}"}}}}"#
        )
    };
    format!(
        "data: {{\"type\":\"message_start\",\"message\":{{}}}}\n\n{}\n\n{}\n\n\
         data: {{\"type\":\"message_delta\",\"delta\":{{\"stop_reason\":\"end_turn\"}}}}\n\n\
         data: {{\"type\":\"message_stop\"}}\n\n",
        delta(half),
        delta(rest)
    )
}

/// A stream whose text is followed by an error, or by the same message once more.
fn broken_stream() -> impl Strategy<Value = String> {
    let before = stream()
        .split_once("data: {\"type\":\"message_delta")
        .unwrap()
        .0
        .to_owned();
    let again = format!("{before}{}", stream());
    let failed = error_body().prop_map(move |error| format!("{before}data: {error}\n\n"));
    prop_oneof![4 => failed, 1 => Just(again)]
}

fn body() -> impl Strategy<Value = Vec<u8>> {
    let text = prop_oneof![
        3 => Just(whole()),
        3 => Just(stream()),
        3 => error_body(),
        2 => broken_stream(),
        1 => Just("<html><title>No</title></html>".to_owned()),
        1 => Just(String::new()),
    ];
    prop_oneof![9 => text.prop_map(String::into_bytes), 1 => vec(any::<u8>(), 0..80)]
}

fn headers() -> impl Strategy<Value = String> {
    let one = prop::sample::select(vec![
        "retry-after: 0",
        "retry-after: 1",
        "retry-after: 4.9",
        "retry-after: 6",
        "retry-after: 259200",
        "retry-after: 99999999999999999999",
        "retry-after: soon",
        "retry-after-ms: 0",
        "retry-after-ms: 700",
        "x-should-retry: true",
        "x-should-retry: false",
        "content-type: text/event-stream",
        "content-type: text/event-stream",
        "content-type: application/json",
        "content-type: text/html",
        "location: http://127.0.0.1:9/",
        "transfer-encoding: chunked",
        "content-length: 7",
        "content-length: 70000",
    ]);
    vec(one, 0..4).prop_map(|lines| lines.join("\r\n"))
}

/// What a socket says to one request: nothing, noise, or a reply that may be cut.
fn reply() -> impl Strategy<Value = Vec<u8>> {
    let status = prop_oneof![
        4 => Just(200_u16),
        4 => prop::sample::select(vec![400, 401, 403, 408, 409, 413, 429, 499, 500, 503, 520, 529]),
        1 => 200_u16..=599,
    ];
    let cut = option::weighted(0.3, any::<prop::sample::Index>());
    let made = (status, headers(), body(), cut).prop_map(|(status, headers, body, cut)| {
        let blank = if headers.is_empty() { "" } else { "\r\n" };
        let head = format!("HTTP/1.1 {status} Words\r\nconnection: close\r\n{headers}{blank}\r\n");
        let mut bytes = head.into_bytes();
        bytes.extend(body);
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        bytes
    });
    prop_oneof![
        12 => made,
        1 => Just(Vec::new()),
        1 => vec(any::<u8>(), 0..60),
    ]
}

fn block_on<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let work = tokio::time::timeout(Duration::from_mins(1), work);
        work.await.expect("the run hangs")
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn no_upstream_gets_more_than_max_attempts_or_has_half_an_answer_taken(
        max_attempts in 1_u32..=3,
        delivery in prop::sample::select(vec![Delivery::Stream, Delivery::Whole]),
        replies in vec(reply(), 1..5),
    ) {
        block_on(async {
            let house = House::new().await;
            let run = house.run(max_attempts, delivery, &replies).await;
            let met = house.met.get();
            prop_assert!(1 <= met && met <= max_attempts, "{met} requests");
            prop_assert_eq!(run.attempts.len(), met as usize, "each was recorded");
            let delivered = house.workspace.delivered();
            prop_assert_eq!(delivered.len(), usize::from(run.outcome == Some(Outcome::Succeeded)));
            prop_assert!(delivered.iter().all(|(_, text)| text == TEXT), "{:?}", delivered);
            prop_assert!(house.workspace.beside().is_empty(), "nothing here ends incomplete");
            Ok(())
        })?;
    }
}

fn said(status: u16, body: &str) -> Vec<u8> {
    let length = body.len();
    format!("HTTP/1.1 {status} Words\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}").into_bytes()
}

fn hold_of(house: &House) -> Option<HoldCause> {
    let guard = house.store.guard(&GroupId::new("main"));
    guard.hold.map(|hold| hold.cause)
}

#[tokio::test]
async fn one_refused_key_yields_and_the_second_in_a_row_holds_the_group() {
    let refused = [said(401, "")];
    let answered = [said(200, &whole())];
    let house = House::new().await;
    for replies in [&refused, &answered, &refused] {
        house.run(3, Delivery::Stream, replies).await;
        assert_eq!(hold_of(&house), None, "one 401 is weak evidence");
    }
    let run = house.run(3, Delivery::Stream, &refused).await;
    assert_eq!(run.outcome.unwrap().to_string(), "yielded: hold");
    assert_eq!(hold_of(&house), Some(HoldCause::Authentication));
    assert_eq!(house.met.get(), 4, "no 401 is retried in place");
    let run = house.run(3, Delivery::Stream, &answered).await;
    assert_eq!((run.attempts.len(), house.met.get()), (0, 4));
}

#[tokio::test]
async fn reply_over_the_limit_is_asked_for_once() {
    let house = House::new().await;
    let long = format!(
        "{{\"type\":\"message\",\"x\":\"{}",
        "x".repeat(MAX_ANSWER_BYTES)
    );
    let run = house.run(3, Delivery::Whole, &[said(200, &long)]).await;
    assert_eq!(house.met.get(), 1);
    assert_eq!(run.outcome.unwrap().to_string(), "failed: fatal");
    assert!(run.note.unwrap().contains("`upstream.max_answer_bytes`"));
}
