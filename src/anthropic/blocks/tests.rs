//! Blocks put together from every kind of delta, and the failures of server tools.

use serde_json::json;

use super::*;

fn begin(index: u64, block: &str) -> String {
    format!(r#"{{"type":"content_block_start","index":{index},"content_block":{block}}}"#)
}

fn grow(index: u64, delta: &str) -> String {
    format!(r#"{{"type":"content_block_delta","index":{index},"delta":{delta}}}"#)
}

/// Blocks from events, with the texts that are gathered beside them.
fn gathered(events: &[String], texts: &[(u64, &str)]) -> Option<String> {
    let mut blocks = Blocks::default();
    for event in events {
        if event.starts_with(r#"{"type":"content_block_start""#) {
            blocks.begin(event);
        } else {
            blocks.grow(event);
        }
    }
    let texts = texts
        .iter()
        .map(|(index, text)| (*index, (*text).to_owned()));
    blocks.put_together(&texts.collect())
}

fn check(events: &[String], texts: &[(u64, &str)], expected: &Value) {
    let list = gathered(events, texts).unwrap();
    assert_eq!(
        serde_json::from_str::<Value>(&list).unwrap(),
        *expected,
        "{events:?}"
    );
}

#[test]
fn input_is_joined_from_its_pieces() {
    let start = begin(
        0,
        r#"{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{}}"#,
    );
    let piece = |part: &str| {
        let part = serde_json::to_string(part).unwrap();
        grow(
            0,
            &format!(r#"{{"type":"input_json_delta","partial_json":{part}}}"#),
        )
    };
    let block = |input: Value| json!([{ "type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": input }]);
    let pieces = [piece(""), piece("{\"query\":"), piece(" \"night\"}")];
    let events: Vec<String> = [start.clone()].into_iter().chain(pieces).collect();
    check(&events, &[], &block(json!({ "query": "night" })));
    check(std::slice::from_ref(&start), &[], &block(json!({})));
    check(&[start, piece("")], &[], &block(json!({})));
    let bare = begin(0, r#"{"type":"tool_use"}"#);
    check(
        &[bare, piece("")],
        &[],
        &json!([{ "type": "tool_use", "input": {} }]),
    );
}

/// A number that fits no type of ours would come back as another.
#[test]
fn numbers_go_back_as_they_came() {
    let start = begin(0, r#"{"type":"tool_use","input":{},"n":1.50}"#);
    let delta =
        r#"{"type":"input_json_delta","partial_json":"{\"id\":123456789012345678901234567890}"}"#;
    let list = gathered(&[start, grow(0, delta)], &[]).unwrap();
    assert!(list.contains("123456789012345678901234567890"), "{list}");
    assert!(list.contains("1.50"), "{list}");
}

#[test]
fn thinking_keeps_its_signature() {
    let events = [
        begin(0, r#"{"type":"thinking","thinking":"","signature":""}"#),
        grow(0, r#"{"type":"thinking_delta","thinking":"Hm, "}"#),
        grow(0, r#"{"type":"thinking_delta","thinking":"\"so\"."}"#),
        grow(0, r#"{"type":"signature_delta","signature":"EqQB"}"#),
    ];
    let expected = json!([{ "type": "thinking", "thinking": "Hm, \"so\".", "signature": "EqQB" }]);
    check(&events, &[], &expected);
}

#[test]
fn citations_are_added_to_the_text_that_they_belong_to() {
    let cite = |n: u8| {
        grow(
            1,
            &format!(r#"{{"type":"citations_delta","citation":{{"n":{n}}}}}"#),
        )
    };
    for (start, first) in [
        (r#"{"type":"text","text":""}"#, None),
        (r#"{"type":"text","text":"","citations":[]}"#, None),
        (r#"{"type":"text","text":"","citations":null}"#, None),
        (
            r#"{"type":"text","text":"","citations":[{"n":0}]}"#,
            Some(0),
        ),
    ] {
        let events = [begin(1, start), cite(1), cite(2)];
        let all: Vec<Value> = first
            .into_iter()
            .chain(1..=2)
            .map(|n| json!({ "n": n }))
            .collect();
        let expected = json!([{ "type": "text", "text": "It rained.", "citations": all }]);
        check(&events, &[(1, "It rained.")], &expected);
    }
}

#[test]
fn blocks_of_unknown_kinds_go_back_byte_by_byte() {
    let odd = [
        r#"{"type":"brand_new", "text":[1],  "b":1e400, "a":{"b":null}}"#,
        r#"{"type":"redacted_thinking","data":"abc"}"#,
        r#"{"type":"web_search_tool_result","tool_use_id":"s","content":[{"encrypted_content":"\u00e9"}]}"#,
    ];
    let mut events: Vec<String> = (0..)
        .zip(odd)
        .map(|(index, block)| begin(index, block))
        .collect();
    events.push(grow(0, r#"{"type":"new_delta","text":{"rich":true}}"#));
    events.push(grow(9, r#"{"no_type":1}"#));
    assert_eq!(
        gathered(&events, &[]).unwrap(),
        format!("[{}]", odd.join(","))
    );
}

#[test]
fn texts_and_blocks_stand_in_the_order_of_their_indices() {
    let events = [
        begin(3, r#"{"type":"b"}"#),
        begin(0, r#"{"type":"text","text":""}"#),
        begin(1, r#"{"type":"a"}"#),
    ];
    let texts = [(0, "first"), (2, "second")];
    let expected = json!([
        { "type": "text", "text": "first" }, { "type": "a" },
        { "type": "text", "text": "second" }, { "type": "b" },
    ]);
    check(&events, &texts, &expected);
    assert_eq!(gathered(&[], &[]).unwrap(), "[]");
}

#[test]
fn torn_blocks_are_not_put_together() {
    let tool = begin(0, r#"{"type":"server_tool_use","input":{}}"#);
    let torn = [
        // Input that is no JSON.
        vec![
            tool.clone(),
            grow(0, r#"{"type":"input_json_delta","partial_json":"{\"q\":"}"#),
        ],
        // A piece of a known kind that is of no known form.
        vec![
            tool,
            grow(0, r#"{"type":"input_json_delta","partial_json":5}"#),
        ],
        // A piece of a block that never began.
        vec![grow(4, r#"{"type":"thinking_delta","thinking":"hm"}"#)],
    ];
    for events in torn {
        assert_eq!(gathered(&events, &[]), None, "{events:?}");
    }
}

#[test]
fn failed_server_tools_are_named_with_their_code() {
    let error = |kind: &str, content: &str| {
        format!(r#"{{"type":"{kind}","tool_use_id":"s","content":{content}}}"#)
    };
    let cases = [
        (
            error(
                "web_search_tool_result",
                r#"{"type":"web_search_tool_result_error","error_code":"max_uses_exceeded"}"#,
            ),
            Some("web_search: max_uses_exceeded"),
        ),
        (
            error("web_fetch_tool_result", r#"{"error_code":"unavailable"}"#),
            Some("web_fetch: unavailable"),
        ),
        (
            error("web_search_tool_result", r#"[{"error_code":"x"}]"#),
            None,
        ),
        (error("web_search_tool_result", r#"{"error_code":7}"#), None),
        (error("web_search_tool_result", "null"), None),
        (error("brand_new", r#"{"error_code":"x"}"#), None),
        ("7".to_owned(), None),
    ];
    for (block, expected) in cases {
        let mut blocks = Blocks::default();
        blocks.begin(&begin(0, &block));
        let expected: Vec<String> = expected.map(str::to_owned).into_iter().collect();
        assert_eq!(blocks.take_tool_errors(), expected, "in a stream: {block}");
        let (_, whole) = read(&format!("[{block}]")).unwrap();
        assert_eq!(whole, expected, "whole: {block}");
    }
}

#[test]
fn only_so_many_failures_are_told() {
    let block = r#"{"type":"web_search_tool_result","content":{"error_code":"unavailable"}}"#;
    let mut blocks = Blocks::default();
    for index in 0..50 {
        blocks.begin(&begin(index, block));
    }
    assert_eq!(blocks.take_tool_errors().len(), MAX_TOOL_ERRORS);
    let (_, whole) = read(&format!("[{}]", [block; 50].join(","))).unwrap();
    assert_eq!(whole.len(), MAX_TOOL_ERRORS);
}

#[test]
fn content_that_is_no_list_goes_back_as_an_empty_one() {
    for (content, expected) in [
        ("[ {\"a\":1.0} ]", "[ {\"a\":1.0} ]"),
        ("null", "[]"),
        ("\"x\"", "[]"),
    ] {
        assert_eq!(list(content), expected);
    }
    assert_eq!(read("[\"\\ud800\"]"), None, "half a character is no text");
}
