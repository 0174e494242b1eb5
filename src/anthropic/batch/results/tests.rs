//! Results of every kind, lines that are bad in every way, and the bounds.

use chrono::DateTime;
use reqwest::header::HeaderMap;

use super::*;

const SECRET: &str = "gateway-secret";

fn good(name: &str) -> String {
    format!(
        r#"{{"custom_id":"{name}","result":{{"type":"succeeded","message":{{"type":"message","id":"msg_{name}","content":[{{"type":"text","text":"of {name}"}}],"stop_reason":"end_turn","usage":{{"input_tokens":1,"output_tokens":2}}}}}}}}"#
    )
}

fn with(
    bytes: &[u8],
    size: usize,
    bound: impl FnOnce(&mut Results<'_>),
) -> Result<Vec<BatchResult>, Box<SendFailure>> {
    let secret = SecretString::from(SECRET);
    let head = Head::read(200, &HeaderMap::new(), DateTime::UNIX_EPOCH, &secret);
    let mut results = Results::new(1_000, &secret);
    bound(&mut results);
    let _ = bytes.chunks(size).any(|chunk| results.take(chunk));
    results.finish(&head)
}

fn read(text: &str) -> Result<Vec<BatchResult>, Box<SendFailure>> {
    with(text.as_bytes(), text.len().max(1), |_| {})
}

/// The only result beside a good one.
fn beside(line: &str) -> BatchResult {
    let mut results = read(&format!("{line}\n{}\n", good("z"))).unwrap();
    assert_eq!(results.len(), 2, "{line}");
    assert_eq!(results[1].name.as_deref(), Some("z"));
    assert!(matches!(results[1].outcome, BatchOutcome::Answered(_)));
    results.remove(0)
}

fn unreadable(line: &str) -> (Option<String>, String) {
    let result = beside(line);
    match result.outcome {
        BatchOutcome::Unreadable(what) => (result.name, what),
        other => panic!("{line}: {other:?}"),
    }
}

#[test]
fn answer_is_read_and_costs_half() {
    let result = beside(&good("a"));
    let BatchOutcome::Answered(answer) = result.outcome else {
        panic!("{result:?}");
    };
    assert_eq!(
        (answer.id.as_str(), answer.text.as_str()),
        ("msg_a", "of a")
    );
    assert_eq!(answer.usage.unwrap().tier, Tier::Batch);
    assert_eq!(result.name.as_deref(), Some("a"));
}

#[test]
fn parts_without_an_answer_say_why() {
    let line = |kind: &str| format!(r#"{{"custom_id":"a","result":{{"type":"{kind}"}}}}"#);
    assert_eq!(beside(&line("expired")).outcome, BatchOutcome::Expired);
    assert_eq!(beside(&line("canceled")).outcome, BatchOutcome::Canceled);
}

#[test]
fn error_of_a_part_is_what_it_would_be_for_a_message() {
    let inner =
        r#"{"type":"overloaded_error","message":"no gateway-secret","details":{"error_code":"c"}}"#;
    let whole = format!(r#"{{"type":"error","error":{inner},"request_id":"req_1"}}"#);
    for (error, request_id) in [(inner, None), (whole.as_str(), Some("req_1"))] {
        let line = format!(r#"{{"custom_id":"a","result":{{"type":"errored","error":{error}}}}}"#);
        let BatchOutcome::Errored(failure) = beside(&line).outcome else {
            panic!("{line}");
        };
        assert_eq!(
            (failure.kind, failure.status),
            (FailureKind::Status, Some(529))
        );
        assert_eq!(failure.error_type.as_deref(), Some("overloaded_error"));
        assert_eq!(failure.error_code.as_deref(), Some("c"));
        assert_eq!(failure.message, "no [redacted]");
        assert_eq!(failure.request_id.as_deref(), request_id);
    }
    let line = r#"{"custom_id":"a","result":{"type":"errored","error":{"type":"of_next_year"}}}"#;
    let BatchOutcome::Errored(failure) = beside(line).outcome else {
        panic!("{line}");
    };
    assert_eq!(
        (failure.status, failure.message.as_str()),
        (None, "an error without a message")
    );
}

#[test]
fn bad_line_is_told_with_its_name_where_it_can_be_and_loses_no_other() {
    let cases = [
        ("<html>", None, "no JSON result"),
        ("[1]", None, "no JSON result: no object"),
        (
            r#"{"custom_id":"a","result":{"type":"succ"#,
            Some("a"),
            "no JSON result",
        ),
        (
            r#"{ "custom_id" : "a" , "result":!}"#,
            Some("a"),
            "no JSON result",
        ),
        (r#"{"custom_id":"a/b","result":!}"#, None, "no JSON result"),
        (
            r#"{"custom_id":"a","result":{"type":"of_next_year"}}"#,
            Some("a"),
            "unknown kind `of_next_year`",
        ),
        (
            r#"{"custom_id":"a","result":{}}"#,
            Some("a"),
            "without a kind",
        ),
        (r#"{"custom_id":"a"}"#, Some("a"), "without a kind"),
        (
            r#"{"custom_id":"a","result":{"type":"succeeded"}}"#,
            Some("a"),
            "no Message: null",
        ),
        (
            r#"{"custom_id":"a","result":{"type":"succeeded","message":{"type":"error","x":"gateway-secret"}}}"#,
            Some("a"),
            "[redacted]",
        ),
    ];
    for (line, name, part) in cases {
        let (found, what) = unreadable(line);
        assert_eq!(found.as_deref(), name, "{line}");
        assert!(what.contains(part), "{line}: {what}");
    }
    let garbled = [
        b"{\"custom_id\":\"a\",\"x\":\"\xff\"}\n",
        good("z").as_bytes(),
    ]
    .concat();
    let results = with(&garbled, 7, |_| {}).unwrap();
    assert!(
        matches!(&results[0].outcome, BatchOutcome::Unreadable(what) if what.contains("utf-8"))
    );
    assert_eq!(results[0].name.as_deref(), Some("a"));
}

#[test]
fn cut_anywhere_the_lines_are_the_same() {
    let text = format!("{}\r\n\n{{\"custom_id\":\"b\",!\n{}", good("a"), good("c"));
    let whole = read(&text).unwrap();
    assert_eq!(whole.len(), 3);
    for size in 1..text.len() {
        assert_eq!(
            with(text.as_bytes(), size, |_| {}).as_ref(),
            Ok(&whole),
            "{size}"
        );
    }
}

#[test]
fn end_inside_the_last_line_is_a_cut() {
    let text = format!("{}\n{}", good("a"), good("b"));
    assert_eq!(
        read(&text).unwrap().len(),
        2,
        "the last line end may be missing"
    );
    let start = good("a").len() + 2;
    for end in start..text.len() {
        let failure = read(&text[..end]).unwrap_err();
        assert_eq!(failure.kind, FailureKind::Cut, "{end}");
    }
}

#[test]
fn line_over_the_limit_is_named_and_loses_no_other() {
    let long = good("a").replace("of a", &"x".repeat(2_000));
    let text = format!("{long}\n{}\n{long}", good("b"));
    for size in [1, 100, 3_000, text.len()] {
        let results = with(text.as_bytes(), size, |_| {}).unwrap();
        let names: Vec<_> = results
            .iter()
            .map(|result| result.name.as_deref())
            .collect();
        assert_eq!(names, [Some("a"), Some("b"), Some("a")]);
        assert!(
            matches!(&results[0].outcome, BatchOutcome::Unreadable(what) if what.contains("over 1000 bytes")),
            "{:?}",
            results[0]
        );
    }
    let exact = good("a");
    let at = |limit| with(exact.as_bytes(), 9, |results| results.max_line = limit).unwrap();
    assert!(matches!(
        at(exact.len())[0].outcome,
        BatchOutcome::Answered(_)
    ));
    assert!(matches!(
        at(exact.len() - 1)[0].outcome,
        BatchOutcome::Unreadable(_)
    ));
}

#[test]
fn results_over_the_limit_in_all_keep_what_came_before() {
    let text = format!("{}\n{}\n{}\n", good("a"), good("b"), good("c"));
    let limit = good("a").len() * 2 + 10;
    let results = with(text.as_bytes(), 10, |results| results.max_all = limit).unwrap();
    let names: Vec<_> = results
        .iter()
        .map(|result| result.name.as_deref())
        .collect();
    assert_eq!(names, [Some("a"), Some("b"), None]);
    assert!(
        matches!(&results[2].outcome, BatchOutcome::Unreadable(what) if what.contains("in all"))
    );
}

#[test]
fn body_that_is_something_else_is_no_list_of_results() {
    let cases = [
        ("", "an empty body where a list of results was expected"),
        ("\n\n", "an empty body where a list of results was expected"),
        (
            "<html>\n<title>Log in, gateway-secret</title>\n",
            "no list of results: Log in, [redacted]",
        ),
        (
            r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#,
            "Overloaded",
        ),
    ];
    for (text, message) in cases {
        let failure = read(text).unwrap_err();
        assert_eq!(
            (failure.kind, failure.message.as_str()),
            (FailureKind::NotAMessage, message)
        );
    }
}
