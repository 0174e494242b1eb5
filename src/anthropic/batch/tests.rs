//! What is sent of a batch, what is refused before it, and where its addresses lead.

use std::sync::Arc;

use serde_json::{Value, json};

use super::super::client::ClientSettings;
use super::*;
use crate::clock::SystemClock;
use crate::job::Request;

fn part(name: &str) -> BatchPart {
    let request = Request {
        key: KeyId::new("main"),
        model: "claude-sonnet-5-5".to_owned(),
        max_tokens: 64_000,
        system: Vec::new(),
        prompt: format!("about {name}"),
        so_far: Vec::new(),
        delivery: Delivery::Stream,
        extra: vec![("metadata".to_owned(), r#"{"user_id":"u"}"#.to_owned())],
        timeout: Duration::from_mins(10),
    };
    BatchPart {
        name: name.to_owned(),
        request,
    }
}

fn refused(parts: &[BatchPart]) -> String {
    body_bytes(parts).unwrap_err().to_string()
}

fn client(base_url: &str) -> Client {
    let mut settings = ClientSettings::new(Arc::new(SystemClock::new()));
    base_url.clone_into(&mut settings.base_url);
    Client::new(settings).unwrap()
}

fn state(results_url: Option<&str>) -> BatchState {
    BatchState {
        id: "msgbatch_1".to_owned(),
        stage: BatchStage::Ended,
        results_url: results_url.map(str::to_owned),
    }
}

#[test]
fn body_holds_every_part_under_its_name_and_none_streams() {
    let body = body_bytes(&[part("a"), part("b-2")]).unwrap();
    let body: Value = serde_json::from_slice(&body).unwrap();
    let params = |name: &str| {
        json!({
            "model": "claude-sonnet-5-5", "max_tokens": 64_000, "metadata": { "user_id": "u" },
            "messages": [{ "role": "user", "content": format!("about {name}") }],
        })
    };
    let expected = json!({ "requests": [
        { "custom_id": "a", "params": params("a") },
        { "custom_id": "b-2", "params": params("b-2") },
    ] });
    assert_eq!(body, expected);
}

#[test]
fn what_cannot_be_a_batch_is_named() {
    assert!(refused(&[]).contains("a batch of 0 requests"));
    let many = vec![part("a"); MAX_BATCH_PARTS + 1];
    assert!(refused(&many).contains("a batch of 100001 requests"));
    let message = refused(&[part("a"), part("docs/b.md")]);
    assert!(
        message.contains("\"docs/b.md\"") && message.contains("64 letters"),
        "{message}"
    );
    let message = refused(&[part("a"), part("a")]);
    assert!(message.contains("two requests named `a`"), "{message}");
    let mut other = part("b");
    other.request.key = KeyId::new("spare");
    let message = refused(&[part("a"), other]);
    assert!(message.contains("`main` and `spare`"), "{message}");
    let mut torn = part("b");
    torn.request.extra = vec![("thinking".to_owned(), "{".to_owned())];
    let message = refused(&[part("a"), torn]);
    assert!(
        message.starts_with("the request `b` of the batch: `request.thinking` holds no JSON"),
        "{message}"
    );
}

#[test]
fn bytes_stop_at_their_limit() {
    let mut bytes = Bounded {
        bytes: b"ab".to_vec(),
        max: 3,
    };
    assert!(bytes.write_all(b"c").is_ok());
    assert!(bytes.write_all(b"d").is_err());
    assert_eq!(bytes.bytes, b"abc");
}

#[test]
fn results_are_followed_to_where_the_key_may_go_and_nowhere_else() {
    let own = "http://127.0.0.1:9/pre/v1/messages/batches/msgbatch_1/results";
    let client = client("http://127.0.0.1:9/pre/");
    let url = |said: Option<&str>| client.results_url(&state(said)).unwrap().to_string();
    let near = "http://127.0.0.1:9/elsewhere/results?token=1";
    assert_eq!(url(Some(near)), near);
    for said in [
        None,
        Some("no address"),
        Some("/v1/messages/batches/msgbatch_1/results"),
        Some("https://127.0.0.1:9/x"),
        Some("http://127.0.0.1:10/x"),
        Some("http://127.0.0.1.evil.example:9/x"),
        Some("http://me@127.0.0.1:9/x"),
        Some("http://:hunter2@127.0.0.1:9/x"),
        Some("file:///etc/passwd"),
    ] {
        assert_eq!(url(said), own, "{said:?}");
    }
}

#[test]
fn name_that_would_lead_elsewhere_is_no_name_of_a_batch() {
    let client = client("http://127.0.0.1:9");
    let over = "a".repeat(MAX_ID + 1);
    for id in ["", "..", "a/../../files", "a?b", "a%2f", "ä", over.as_str()] {
        let message = client
            .batch_url(id, Some("cancel"))
            .unwrap_err()
            .to_string();
        assert!(message.ends_with("is no name of a batch"), "{message}");
    }
    assert_eq!(
        client
            .batch_url("msgbatch_1", Some("cancel"))
            .unwrap()
            .as_str(),
        "http://127.0.0.1:9/v1/messages/batches/msgbatch_1/cancel"
    );
}

#[test]
fn batch_is_an_object_with_a_name_and_a_stage() {
    let secret = SecretString::from("gateway-secret");
    let read = |value: Value| Batch::read(value.to_string().as_bytes(), &secret);
    let stage = |word: &str| {
        let batch = read(json!({ "id": "b", "processing_status": word, "new": [1] }));
        batch.unwrap().stage
    };
    assert_eq!(stage("in_progress"), BatchStage::Processing);
    assert_eq!(stage("canceling"), BatchStage::Canceling);
    assert_eq!(stage("ended"), BatchStage::Ended);
    assert_eq!(
        stage("of next gateway-secret"),
        BatchStage::Other("of next [redacted]".to_owned())
    );
    for value in [
        json!({ "type": "error", "error": { "type": "overloaded_error" } }),
        json!({ "id": "b" }),
        json!({ "id": "a/b", "processing_status": "ended" }),
        json!({ "id": "gateway-secret", "processing_status": "ended" }),
        json!({ "id": 1, "processing_status": "ended" }),
        json!(["b", "ended", "", ""]),
    ] {
        assert!(read(value.clone()).is_none(), "{value}");
    }
    let dated = |text: &str| {
        let value = json!({ "id": "b", "processing_status": "ended", "expires_at": text,
            "results_url": "http://host/gateway-secret" });
        read(value).unwrap()
    };
    let expires_at = dated("2026-12-01T09:00:00+09:00").expires_at.unwrap();
    assert_eq!(expires_at.to_rfc3339(), "2026-12-01T00:00:00+00:00");
    assert_eq!(dated("tomorrow").expires_at, None);
    assert_eq!(dated("").results_url, None, "it repeats the key");
}
