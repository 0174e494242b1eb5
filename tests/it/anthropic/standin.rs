//! The stand-in as others meet it: its endpoints, its script, its end.

use std::sync::Arc;

use offpeak::job::Delivery;
use offpeak::standin::{Fault, Rule, Script, Standin, When};
use serde_json::{Value, json};

use super::clock::ManualClock;
use super::{request, send, standin};

/// Sends any request at all, with a key and a version.
async fn ask(method: &str, url: &str, body: &str) -> (u16, Value) {
    let response = plain()
        .request(method.parse().unwrap(), url)
        .header("x-api-key", "any")
        .header("anthropic-version", "2023-06-01")
        .body(body.to_owned())
        .send()
        .await
        .unwrap();
    let status = response.status().as_u16();
    (
        status,
        serde_json::from_str(&response.text().await.unwrap()).unwrap(),
    )
}

fn plain() -> reqwest::Client {
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder()
        .no_proxy()
        .tls_certs_only([])
        .build()
        .unwrap()
}

#[tokio::test]
async fn other_endpoints_answer_too() {
    let standin = standin(Script::default(), &ManualClock::new());
    let base = standin.base_url();
    let body = json!({ "model": "claude-sonnet-5-5", "messages": [{ "role": "user", "content": "word word word" }] }).to_string();
    assert_eq!(
        ask("POST", &format!("{base}/v1/messages/count_tokens"), &body).await,
        (200, json!({ "input_tokens": 4 }))
    );
    let (status, models) = ask("GET", &format!("{base}/v1/models"), "").await;
    assert_eq!(
        (status, models["data"].as_array().unwrap().len()),
        (200, 19)
    );
    let (status, model) = ask("GET", &format!("{base}/v1/models/claude-haiku-4-5"), "").await;
    assert_eq!((status, &model["max_tokens"]), (200, &json!(64_000)));
    for (method, path) in [
        ("GET", "/v1/models/none"),
        ("GET", "/v1/messages"),
        ("POST", "/v2/messages"),
        ("POST", "/"),
    ] {
        let (status, error) = ask(method, &format!("{base}{path}"), "").await;
        assert_eq!(
            (status, &error["error"]["type"]),
            (404, &json!("not_found_error")),
            "{method} {path}"
        );
    }
    assert!(
        standin.requests().is_empty(),
        "only message requests are numbered"
    );
}

#[tokio::test]
async fn bad_requests_are_refused_as_the_api_does() {
    let standin = standin(Script::default(), &ManualClock::new());
    let url = format!("{}/v1/messages", standin.base_url());
    let cases = [
        ("{", 400, "JSON"),
        (r#"{"max_tokens":1,"messages":[{}]}"#, 400, "model"),
        (
            r#"{"model":"gpt-4","max_tokens":1,"messages":[{}]}"#,
            404,
            "model: gpt-4",
        ),
        (r#"{"model":"claude-x","messages":[{}]}"#, 400, "max_tokens"),
        (
            r#"{"model":"claude-x","max_tokens":1,"messages":[]}"#,
            400,
            "messages",
        ),
    ];
    for (body, expected, part) in cases {
        let (status, error) = ask("POST", &url, body).await;
        assert_eq!(status, expected, "{body}");
        assert!(
            error["error"]["message"].as_str().unwrap().contains(part),
            "{error}"
        );
    }
    let unkeyed = plain()
        .post(&url)
        .header("anthropic-version", "2023-06-01")
        .send()
        .await
        .unwrap();
    assert_eq!(unkeyed.status(), 401);
    let unversioned = plain()
        .post(&url)
        .header("x-api-key", "any")
        .send()
        .await
        .unwrap();
    assert_eq!(unversioned.status(), 400);
    let both = plain()
        .post(&url)
        .header("x-api-key", "any")
        .header("authorization", "Bearer any")
        .send()
        .await
        .unwrap();
    assert_eq!(both.status(), 401);
    let statuses: Vec<_> = standin
        .requests()
        .iter()
        .map(|seen| seen.status.unwrap())
        .collect();
    assert_eq!(statuses, [400, 400, 404, 400, 400, 401, 400, 401]);
}

#[tokio::test]
async fn script_decides_by_number_and_by_text_in_order() {
    let clock = ManualClock::new();
    let script = Script::default()
        .rule(Rule::times(
            1,
            When::contains("archive"),
            Fault::rate_limit(20),
        ))
        .rule(Rule::times(
            9,
            When {
                first: Some(2),
                last: Some(2),
                ..When::default()
            },
            Fault::status(529),
        ));
    let standin = standin(script, &clock);
    let mut statuses = Vec::new();
    for prompt in ["digest", "digest", "archive", "archive"] {
        let mut request = request(Delivery::Stream);
        prompt.clone_into(&mut request.prompt);
        let result = send(&standin.base_url(), &clock, &request).await;
        statuses.push(result.map_or_else(|failure| failure.status.unwrap(), |reply| reply.status));
    }
    assert_eq!(statuses, [200, 529, 429, 200]);
    let faults: Vec<_> = standin.requests().iter().map(|seen| seen.fault).collect();
    assert_eq!(faults, [None, Some("error"), Some("error"), None]);
}

#[tokio::test]
async fn stop_frees_the_port_and_closes_connections_that_wait() {
    let clock = ManualClock::new();
    let script = Script::from_yaml("rules: [{ then: { silence: {} } }]").unwrap();
    let standin = standin(script, &clock);
    let base_url = standin.base_url();
    let port = base_url.rsplit_once(':').unwrap().1.parse().unwrap();
    let waiting_request = request(Delivery::Stream);
    let waiting = send(&base_url, &clock, &waiting_request);
    let stopping = async {
        while standin.requests().is_empty() {
            tokio::task::yield_now().await;
        }
        standin.stop().await;
    };
    let (result, ()) = tokio::join!(waiting, stopping);
    assert!(result.is_err());
    let again = Standin::start_on(port, Script::default(), Arc::clone(&clock) as _, 1).unwrap();
    assert_eq!(again.base_url(), base_url);
    let taken = Standin::start_on(port, Script::default(), clock as _, 1).unwrap_err();
    assert_eq!(taken.kind(), std::io::ErrorKind::AddrInUse);
}

#[test]
fn start_outside_a_runtime_is_an_error() {
    let error = Standin::start(Script::default(), ManualClock::new() as _, 1).unwrap_err();
    assert!(error.to_string().contains("runtime"), "{error}");
}
