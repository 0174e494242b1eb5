//! Every field of a script, and mistakes with their places.

use super::*;

fn one(then: &str) -> Fault {
    let script = Script::from_yaml(&format!("rules: [{{ then: {then} }}]")).unwrap();
    script.rules.into_iter().next().unwrap().then
}

#[test]
fn empty_script_answers_everything_at_once() {
    for yaml in ["", "\n", "rules: []"] {
        assert_eq!(Script::from_yaml(yaml).unwrap(), Script::default());
    }
}

#[test]
fn every_part_of_a_condition_is_read() {
    let yaml = r#"
latency: { median: 1m30s, spread: 0.4, max: 2h }
models: { gone: [m], retires: { n: "2027-01-22T00:00:00Z" }, page: 2 }
rules:
  - when: { endpoint: count_tokens, first: 2, last: 5, contains: "a b", model: m, from: "2026-11-30T17:00:00+09:00", until: "2026-12-01T00:00:00Z",
            after: 250ms, before: 20s, share: 0.5 }
    times: 3
    then: { error: { status: 529 } }
"#;
    let script = Script::from_yaml(yaml).unwrap();
    assert_eq!(script.latency.median, Duration::from_secs(90));
    assert_eq!(script.latency.max, Some(Duration::from_hours(2)));
    assert!(script.models.is_gone("m") && !script.models.is_gone("n"));
    assert_eq!(
        script.models.retires["n"].to_rfc3339(),
        "2027-01-22T00:00:00+00:00"
    );
    assert_eq!(script.models.page, Some(2));
    let rule = &script.rules[0];
    assert_eq!(rule.when.endpoint, Some(Endpoint::CountTokens));
    assert_eq!(
        (rule.when.first, rule.when.last, rule.times),
        (Some(2), Some(5), Some(3))
    );
    assert_eq!(
        (rule.when.contains.as_deref(), rule.when.model.as_deref()),
        (Some("a b"), Some("m"))
    );
    assert_eq!(
        rule.when.from.unwrap().to_rfc3339(),
        "2026-11-30T08:00:00+00:00"
    );
    assert_eq!(
        rule.when.until.unwrap().to_rfc3339(),
        "2026-12-01T00:00:00+00:00"
    );
    assert_eq!(
        (rule.when.after, rule.when.before),
        (
            Some(Duration::from_millis(250)),
            Some(Duration::from_secs(20))
        )
    );
    assert_eq!(rule.when.share, Some(0.5));
}

#[test]
fn every_fault_is_read() {
    let faults = [
        (
            "{ error: { status: 429, retry_after: 20, type: t, code: c, message: m, shape: html, headers: { x-should-retry: \"true\" } } }",
            "error",
        ),
        ("{ cut: { after: 5 } }", "cut"),
        ("{ hang_up: {} }", "hang_up"),
        ("{ slow: { first_byte: 40s, gap: 2s } }", "slow"),
        ("{ silence: {} }", "silence"),
        ("{ silence: { after: 3 } }", "silence"),
        (
            "{ stream_error: { after: 4, type: overloaded_error } }",
            "stream_error",
        ),
        (
            "{ body: { status: 200, content_type: text/html, text: x } }",
            "body",
        ),
        ("{ redirect: { to: \"http://127.0.0.1:9/\" } }", "redirect"),
        ("{ answer: { stop_reason: max_tokens, text: x } }", "answer"),
        ("{ pause: {} }", "pause"),
        (
            "{ tool_error: { tool: web_search, code: c } }",
            "tool_error",
        ),
        ("{ batch: { looks: 2, span: 10m } }", "batch"),
        ("{ batch: {} }", "batch"),
        ("{ never_ends: {} }", "never_ends"),
        (
            "{ part: { outcome: errored, type: t, message: m } }",
            "part",
        ),
        ("{ part: { outcome: broken } }", "part"),
    ];
    for (yaml, word) in faults {
        assert_eq!(one(yaml).as_str(), word, "{yaml}");
    }
    assert_eq!(one("{ error: { status: 529 } }"), Fault::status(529));
    assert_eq!(
        one("{ error: { status: 429, retry_after: 7 } }"),
        Fault::rate_limit(7)
    );
    assert_eq!(one("{ cut: { after: 5 } }"), Fault::cut(5));
}

#[test]
fn mistakes_name_what_and_where() {
    let cases = [
        (
            "rules:\n  - when: { contain: x }\n    then: { hang_up: {} }",
            &["contain", "line 2"][..],
        ),
        ("rules:\n  - then: { explode: {} }", &["explode", "line 2"]),
        (
            "rules:\n  - then: { part: { outcome: lost } }",
            &["lost", "line 2"],
        ),
        (
            "rules:\n  - when: { endpoint: files }\n    then: { hang_up: {} }",
            &["files", "line 2"],
        ),
        (
            "rules:\n  - then: { slow: { gap: 2 days } }",
            &["`2 days` is no span of time", "line 2"],
        ),
        (
            "latency: { median: 1.5m, spread: 0.4, max: 2h }",
            &["`1.5m` is no span of time", "line 1"],
        ),
        (
            "rules:\n  - when: { from: tomorrow }\n    then: { hang_up: {} }",
            &["`tomorrow` is no instant", "line 2"],
        ),
        ("rules:\n  - when: {}", &["then", "line 2"]),
        ("rules: 7", &["line 1"]),
        (
            "rules: [{ then: { error: { status: 200 } } }]",
            &["rule 1", "then.error.status", "200 is outside 400 to 599"],
        ),
        (
            "rules: [{ then: { body: { status: 99 } } }]",
            &["rule 1", "then.body.status"],
        ),
        (
            "rules: [{ when: { share: 1.5 }, then: { hang_up: {} } }]",
            &["rule 1", "when.share", "1.5 is outside 0 to 1"],
        ),
        ("models: { page: 0 }", &["models: `page`: 0"]),
        (
            "models: { retires: { m: soon } }",
            &["`soon` is no instant"],
        ),
        (
            "rules: [{ when: { endpoint: models }, then: { answer: {} } }]",
            &["rule 1: `then`: answer is outside what can happen"],
        ),
        (
            "rules: [{ when: { endpoint: messages }, then: { batch: {} } }]",
            &["rule 1: `then`: batch is outside what can happen at this `when.endpoint`"],
        ),
        (
            "latency: { median: 1s, spread: -1 }",
            &["latency: `spread`: -1"],
        ),
    ];
    for (yaml, expected) in cases {
        let message = Script::from_yaml(yaml).unwrap_err().to_string();
        for part in expected {
            assert!(message.contains(part), "{yaml}: {message}");
        }
    }
}
