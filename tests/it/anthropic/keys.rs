//! Keys: the header that carries them, and everything that must not.

use std::error::Error;

use offpeak::answer::FailureKind;
use offpeak::anthropic::{Auth, Client, ClientError};
use offpeak::engine::ports::Upstream;
use offpeak::job::{CacheTtl, Delivery, KeyId};
use offpeak::standin::fault::ErrorReply;
use offpeak::standin::{Fault, Script};
use secrecy::SecretString;

use super::clock::ManualClock;
use super::raw::Raw;
use super::{SECRET, client, meet, request, send, settings, standin};

/// The head that the client sends with this header for the key.
async fn head(auth: Auth, secret: &str) -> String {
    let clock = ManualClock::new();
    let raw = Raw::bind().await;
    let mut settings = settings(&raw.base_url(), &clock);
    settings.auth = auth;
    settings
        .keys
        .insert(KeyId::new("main"), SecretString::from(secret));
    let client = Client::new(settings).unwrap();
    let request = request(Delivery::Stream);
    let (peer, _) = tokio::join!(
        async {
            let peer = raw.accept().await;
            // Dropping the socket ends the client's wait.
            peer.head
        },
        client.send(&request)
    );
    peer
}

#[tokio::test]
async fn key_travels_in_one_header_and_trimmed() {
    let head_of_key = head(Auth::ApiKey, " sk-ant-x \r\n").await;
    assert!(
        head_of_key.contains("\r\nx-api-key: sk-ant-x\r\n"),
        "{head_of_key}"
    );
    assert!(!head_of_key.contains("authorization"), "{head_of_key}");
    let head_of_bearer = head(Auth::Bearer, "token\n").await;
    assert!(
        head_of_bearer.contains("\r\nauthorization: bearer token\r\n"),
        "{head_of_bearer}"
    );
    assert!(!head_of_bearer.contains("x-api-key"), "{head_of_bearer}");
}

#[tokio::test]
async fn request_is_what_the_api_expects() {
    let clock = ManualClock::new();
    let standin = standin(Script::default(), &clock);
    let mut request = request(Delivery::Stream);
    request.system[0].cache = Some(CacheTtl::OneHour);
    request.extra = vec![("metadata".to_owned(), r#"{"user_id":"u"}"#.to_owned())];
    let base_url = format!("{}/anthropic/", standin.base_url());
    let reply = send(&base_url, &clock, &request).await.unwrap();
    assert!(reply.answer.usage.unwrap().cache_write_1h_tokens > 0);
    let seen = &standin.requests()[0];
    assert_eq!(seen.path, "/anthropic/v1/messages");
    assert_eq!(seen.header("content-type"), Some("application/json"));
    assert_eq!(seen.header("accept"), Some("text/event-stream"));
    assert_eq!(seen.header("anthropic-version"), Some("2023-06-01"));
    assert_eq!(seen.header("x-api-key"), Some("[redacted]"));
    assert!(seen.header("user-agent").unwrap().starts_with("offpeak/"));
    assert_eq!(
        (seen.status, seen.fault, seen.model.as_str()),
        (Some(200), None, "claude-sonnet-5-5")
    );
    assert_eq!(
        seen.body,
        offpeak::anthropic::wire::body(&request)
            .unwrap()
            .to_string()
    );
}

#[tokio::test]
async fn missing_key_is_unsendable_and_named() {
    let clock = ManualClock::new();
    let standin = standin(Script::default(), &clock);
    let mut request = request(Delivery::Stream);
    request.key = KeyId::new("archive");
    let failure = send(&standin.base_url(), &clock, &request)
        .await
        .unwrap_err();
    assert_eq!(failure.kind, FailureKind::Unsendable);
    assert!(
        failure.message.contains("key `archive` has no secret"),
        "{}",
        failure.message
    );
    assert!(standin.requests().is_empty());
}

#[tokio::test]
async fn request_that_cannot_be_built_is_not_sent() {
    let clock = ManualClock::new();
    let standin = standin(Script::default(), &clock);
    let mut long = request(Delivery::Whole);
    long.max_tokens = 21_334;
    let mut torn = request(Delivery::Stream);
    torn.extra = vec![("thinking".to_owned(), "{".to_owned())];
    for (request, part) in [(long, "without streaming"), (torn, "`request.thinking`")] {
        let failure = send(&standin.base_url(), &clock, &request)
            .await
            .unwrap_err();
        assert_eq!(failure.kind, FailureKind::Unsendable);
        assert!(failure.message.contains(part), "{}", failure.message);
    }
    assert!(standin.requests().is_empty());
}

#[test]
fn unusable_secret_is_refused_with_its_key_and_without_itself() {
    for secret in ["", "hunter2\nhunter3", "hunter\u{2013}2", "\"hunter2\""] {
        let mut settings = settings("http://127.0.0.1:9", &ManualClock::new());
        settings
            .keys
            .insert(KeyId::new("archive"), SecretString::from(secret));
        let error = Client::new(settings).unwrap_err();
        let text = format!("{error} {error:?} {:?}", error.source());
        assert!(
            matches!(&error, ClientError::Key { key, .. } if key.as_str() == "archive"),
            "{text}"
        );
        assert!(text.contains("key `archive`: the secret"), "{text}");
        assert!(!text.contains("hunter"), "{text}");
    }
}

#[test]
fn unusable_settings_are_refused() {
    let clock = ManualClock::new();
    let mut version = settings("http://127.0.0.1:9", &clock);
    version.version = "2023\n06".to_owned();
    let mut empty = settings("http://127.0.0.1:9", &clock);
    empty.version = " ".to_owned();
    let target = settings("127.0.0.1:9", &clock);
    for (settings, part) in [
        (version, "version"),
        (empty, "version"),
        (target, "base_url"),
    ] {
        let message = Client::new(settings).unwrap_err().to_string();
        assert!(
            message.starts_with("upstream: ") && message.contains(part),
            "{message}"
        );
    }
}

#[tokio::test]
async fn secret_is_in_no_text_that_can_be_printed() {
    let settings = settings("http://127.0.0.1:9", &ManualClock::new());
    let shown = format!("{settings:?}");
    let client = client("http://127.0.0.1:9", &ManualClock::new());
    let text = format!("{shown} {client:?}");
    assert!(text.contains("main") && !text.contains("hunter2"), "{text}");

    let message = format!("your key {SECRET} is bad");
    let error = ErrorReply {
        status: 401,
        message: Some(message.clone()),
        kind: Some(SECRET.to_owned()),
        code: Some(SECRET.to_owned()),
        ..ErrorReply::default()
    };
    let failure = meet(Fault::Error(error), Delivery::Stream)
        .await
        .unwrap_err();
    assert_eq!(failure.message, "your key [redacted] is bad");
    assert!(!format!("{failure:?}").contains("hunter2"));
}
