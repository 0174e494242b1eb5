//! Models and counts over loopback: pages, headers, bounds, and what is not done.

use offpeak::answer::FailureKind;
use offpeak::anthropic::Lifecycle;
use offpeak::job::{Delivery, KeyId};
use offpeak::standin::{Endpoint, Fault, Offered, Rule, Script, When};

use super::clock::ManualClock;
use super::raw::Raw;
use super::{SECRET, client, request, standin};

fn main_key() -> KeyId {
    KeyId::new("main")
}

/// A whole reply with this JSON.
fn reply(json: &str) -> String {
    let length = json.len();
    format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{json}"
    )
}

#[tokio::test]
async fn pages_are_asked_for_one_after_another_with_key_and_version() {
    let raw = Raw::bind().await;
    let client = client(&raw.base_url(), &ManualClock::new());
    let serve = async {
        let mut heads = Vec::new();
        for json in [
            r#"{"data":[{"id":"a"},{"id":"b"}],"has_more":true,"last_id":"b/&"}"#,
            r#"{"data":[{"id":"c"}],"has_more":true}"#,
            r#"{"data":[{"id":"d","lifecycle":"resting"}],"has_more":false}"#,
        ] {
            let mut peer = raw.accept().await;
            peer.say(reply(json)).await;
            heads.push(peer.head);
        }
        heads
    };
    let key = main_key();
    let (heads, models) = tokio::join!(serve, client.list_models(&key));
    let models = models.unwrap();
    let ids: Vec<&str> = models.iter().map(|model| model.id.as_str()).collect();
    assert_eq!(ids, ["a", "b", "c", "d"]);
    assert_eq!(
        models[3].lifecycle,
        Some(Lifecycle::Other("resting".to_owned()))
    );
    let lines: Vec<&str> = heads
        .iter()
        .map(|head| head.lines().next().unwrap())
        .collect();
    assert_eq!(
        lines,
        [
            "get /v1/models?limit=100 http/1.1",
            "get /v1/models?limit=100&after_id=b%2f%26 http/1.1",
            "get /v1/models?limit=100&after_id=c http/1.1",
        ]
    );
    for head in &heads {
        assert!(head.contains(&format!("x-api-key: {SECRET}")), "{head}");
        assert!(head.contains("anthropic-version: 2023-06-01"), "{head}");
    }
}

#[tokio::test]
async fn list_that_leads_nowhere_or_does_not_end_is_an_error() {
    for (json, pages, kind) in [
        (
            r#"{"data":[],"has_more":true}"#,
            1,
            FailureKind::NotAMessage,
        ),
        (
            r#"{"data":[{"id":"a"}],"has_more":true,"last_id":"a"}"#,
            2,
            FailureKind::NotAMessage,
        ),
        (r#"{"data":[{"name":"a"}]}"#, 1, FailureKind::NotAMessage),
        (r"[[],false]", 1, FailureKind::NotAMessage),
        (r#"{"data":[{"id":"sk-ant-x"#, 1, FailureKind::NotAMessage),
    ] {
        let raw = Raw::bind().await;
        let client = client(&raw.base_url(), &ManualClock::new());
        let serve = async {
            for _ in 0..pages {
                raw.accept().await.say(reply(json)).await;
            }
        };
        let key = main_key();
        let ((), result) = tokio::join!(serve, client.list_models(&key));
        let failure = result.unwrap_err();
        assert_eq!(failure.kind, kind, "{json}: {}", failure.message);
        assert!(!failure.message.contains("sk-ant"), "{}", failure.message);
        raw.assert_untouched();
    }
    let raw = Raw::bind().await;
    let client = client(&raw.base_url(), &ManualClock::new());
    let serve = async {
        for page in 0..20 {
            let json = format!(r#"{{"data":[{{"id":"m{page}"}}],"has_more":true}}"#);
            raw.accept().await.say(reply(&json)).await;
        }
    };
    let key = main_key();
    let ((), result) = tokio::join!(serve, client.list_models(&key));
    let failure = result.unwrap_err();
    assert_eq!(failure.kind, FailureKind::TooLarge);
    assert_eq!(
        failure.message,
        "the list of models does not end: 20 came on 20 pages"
    );
    raw.assert_untouched();
}

#[tokio::test]
async fn silence_is_given_up_after_a_minute_of_the_clock() {
    let silent = Rule::always(Fault::Silence(offpeak::standin::fault::Silence::default()));
    let rule = |endpoint| Rule {
        when: When {
            endpoint: Some(endpoint),
            ..When::default()
        },
        ..silent.clone()
    };
    let script = Script::default()
        .rule(rule(Endpoint::Models))
        .rule(rule(Endpoint::CountTokens));
    let clock = ManualClock::new();
    let standin = standin(script, &clock);
    let client = client(&standin.base_url(), &clock);
    let patience = std::time::Duration::from_mins(2);
    let (key, request) = (main_key(), request(Delivery::Whole));
    let listed = clock.pass(patience, client.list_models(&key)).await;
    let counted = clock.pass(patience, client.count_tokens(&request)).await;
    for failure in [listed.unwrap_err(), counted.unwrap_err()] {
        assert_eq!(failure.kind, FailureKind::AttemptTimeout);
        assert_eq!(failure.message, "no whole answer within 60s");
    }
}

#[tokio::test]
async fn count_asks_with_the_fields_that_count_and_no_other() {
    let raw = Raw::bind().await;
    let client = client(&raw.base_url(), &ManualClock::new());
    let mut request = request(Delivery::Stream);
    request.extra = [
        ("thinking", r#"{"type":"adaptive"}"#),
        ("tools", "[]"),
        ("stop_sequences", r#"["END"]"#),
        ("metadata", "{}"),
        ("service_tier", r#""auto""#),
    ]
    .map(|(name, value)| (name.to_owned(), value.to_owned()))
    .to_vec();
    let body = offpeak::anthropic::wire::count_body(&request).unwrap();
    let mut fields: Vec<&String> = body.as_object().unwrap().keys().collect();
    fields.sort();
    assert_eq!(fields, ["messages", "model", "system", "thinking", "tools"]);
    let serve = async {
        let mut peer = raw.accept().await;
        peer.say(reply(r#"{"input_tokens":42,"more":[]}"#)).await;
        peer.head
    };
    let (head, counted) = tokio::join!(serve, client.count_tokens(&request));
    assert_eq!(counted, Ok(42));
    assert!(
        head.starts_with("post /v1/messages/count_tokens "),
        "{head}"
    );
    assert!(head.contains(&format!("content-length: {}", body.to_string().len())));
}

#[tokio::test]
async fn key_without_a_secret_is_asked_for_nothing() {
    let raw = Raw::bind().await;
    let client = client(&raw.base_url(), &ManualClock::new());
    let failure = client.list_models(&KeyId::new("other")).await.unwrap_err();
    assert_eq!(failure.kind, FailureKind::Unsendable);
    assert!(failure.message.contains("key `other` has no secret"));
    raw.assert_untouched();
}

#[tokio::test]
async fn model_that_is_gone_answers_404_and_is_not_listed() {
    let clock = ManualClock::new();
    let script = Script {
        models: Offered {
            gone: vec!["claude-sonnet-5-5".to_owned()],
            ..Offered::default()
        },
        ..Script::default()
    };
    let standin = standin(script, &clock);
    let base = standin.base_url();
    for delivery in [Delivery::Stream, Delivery::Whole] {
        let failure = super::send(&base, &clock, &request(delivery))
            .await
            .unwrap_err();
        assert_eq!(failure.status, Some(404));
        assert_eq!(failure.error_type.as_deref(), Some("not_found_error"));
        assert_eq!(failure.message, "model: claude-sonnet-5-5");
    }
    let mut other = request(Delivery::Whole);
    other.model = "claude-haiku-5-5".to_owned();
    assert!(super::send(&base, &clock, &other).await.is_ok());
    let client = client(&base, &clock);
    let models = client.list_models(&main_key()).await.unwrap();
    assert!(models.iter().all(|model| model.id != "claude-sonnet-5-5"));
    assert_eq!(models.len(), 18);
    let counted = client.count_tokens(&request(Delivery::Whole)).await;
    assert_eq!(counted.unwrap_err().status, Some(404));
}
