//! The client against the stand-in and against raw sockets, over real loopback HTTP.

#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests fail the test, as the tests do"
)]

mod batches;
mod bounds;
mod catalog;
mod classes;
mod clock;
mod contract;
mod corpus;
mod cuts;
mod keys;
mod paused;
mod raw;
mod replies;
mod standin;
mod timeouts;

use std::sync::Arc;
use std::time::Duration;

use offpeak::answer::{Reply, SendFailure};
use offpeak::anthropic::{Client, ClientSettings};
use offpeak::engine::ports::Upstream;
use offpeak::job::{Delivery, KeyId, Request, SystemBlock};
use offpeak::standin::{Fault, Rule, Script, Standin};
use secrecy::SecretString;

use clock::ManualClock;

/// The secret of the key `main`.
const SECRET: &str = "sk-ant-api03-hunter2";

fn settings(base_url: &str, clock: &Arc<ManualClock>) -> ClientSettings {
    let mut settings = ClientSettings::new(Arc::clone(clock) as _);
    base_url.clone_into(&mut settings.base_url);
    settings
        .keys
        .insert(KeyId::new("main"), SecretString::from(SECRET));
    settings
}

fn client(base_url: &str, clock: &Arc<ManualClock>) -> Client {
    Client::new(settings(base_url, clock)).unwrap()
}

fn request(delivery: Delivery) -> Request {
    Request {
        key: KeyId::new("main"),
        model: "claude-sonnet-5-5".to_owned(),
        max_tokens: 4_000,
        system: vec![SystemBlock::plain("Be brief.".to_owned())],
        prompt: "Summarise the night.".to_owned(),
        so_far: Vec::new(),
        delivery,
        extra: Vec::new(),
        timeout: Duration::from_mins(10),
    }
}

fn standin(script: Script, clock: &Arc<ManualClock>) -> Standin {
    Standin::start(script, Arc::clone(clock) as _, 1).unwrap()
}

/// Sends one request to a stand-in that meets it with this fault.
async fn meet(fault: Fault, delivery: Delivery) -> Result<Reply, SendFailure> {
    let clock = ManualClock::new();
    let standin = standin(Script::default().rule(Rule::always(fault)), &clock);
    let result = send(&standin.base_url(), &clock, &request(delivery)).await;
    assert_eq!(
        standin.requests().len(),
        1,
        "the client never sends by itself again"
    );
    result
}

/// Sends one request, and fails the test rather than hang.
fn send(
    base_url: &str,
    clock: &Arc<ManualClock>,
    request: &Request,
) -> impl Future<Output = Result<Reply, SendFailure>> + use<> {
    let client = client(base_url, clock);
    let request = request.clone();
    async move {
        let sending = client.send(&request);
        tokio::time::timeout(Duration::from_secs(20), sending)
            .await
            .expect("the client hangs")
    }
}
