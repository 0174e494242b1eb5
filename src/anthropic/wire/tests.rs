//! The body as the API wants it, and Messages as they come.

use std::time::Duration;

use serde_json::json;

use crate::answer::Usage;
use crate::job::{CacheTtl, KeyId};

use super::*;

fn request() -> Request {
    Request {
        key: KeyId::new("main"),
        model: "claude-sonnet-5-5".to_owned(),
        max_tokens: 4_000,
        system: Vec::new(),
        prompt: "Say \"hi\".".to_owned(),
        so_far: Vec::new(),
        delivery: Delivery::Stream,
        extra: Vec::new(),
        timeout: Duration::from_mins(10),
    }
}

fn answer(value: Value) -> Option<Answer> {
    serde_json::from_value::<Message>(value)
        .unwrap()
        .into_answer()
}

#[test]
fn body_has_its_fields_in_order() {
    let text = body(&request()).unwrap().to_string();
    assert_eq!(
        text,
        r#"{"model":"claude-sonnet-5-5","max_tokens":4000,"messages":[{"role":"user","content":"Say \"hi\"."}],"stream":true}"#
    );
}

#[test]
fn system_prompt_is_a_list_only_when_it_is_cached_or_has_several_blocks() {
    let mut request = request();
    request.system = vec![SystemBlock::plain("Be brief.".to_owned())];
    assert_eq!(body(&request).unwrap()["system"], "Be brief.");
    for (ttl, word) in [(CacheTtl::FiveMinutes, "5m"), (CacheTtl::OneHour, "1h")] {
        request.system[0].cache = Some(ttl);
        let expected = json!([{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral", "ttl": word}}]);
        assert_eq!(body(&request).unwrap()["system"], expected);
    }
    request
        .system
        .push(SystemBlock::plain("Be kind.".to_owned()));
    let expected = json!([
        {"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral", "ttl": "1h"}},
        {"type": "text", "text": "Be kind."},
    ]);
    assert_eq!(body(&request).unwrap()["system"], expected);
}

#[test]
fn extra_fields_join_the_body_and_override_none_of_ours() {
    let mut request = request();
    request.delivery = Delivery::Whole;
    let extra = [
        ("metadata", r#"{"user_id":"u"}"#),
        ("stream", "true"),
        ("model", "\"other\""),
        ("system", "\"other\""),
    ];
    request.extra = extra
        .map(|(name, text)| (name.to_owned(), text.to_owned()))
        .to_vec();
    let body = body(&request).unwrap();
    assert_eq!(body["metadata"], json!({"user_id": "u"}));
    assert_eq!(body["model"], "claude-sonnet-5-5");
    assert_eq!((body.get("stream"), body.get("system")), (None, None));
}

#[test]
fn extra_field_without_json_is_named() {
    let mut request = request();
    request.extra = vec![("thinking".to_owned(), "{type: adaptive}".to_owned())];
    let message = body(&request).unwrap_err().to_string();
    assert!(
        message.starts_with("`request.thinking` holds no JSON: "),
        "{message}"
    );
}

#[test]
fn what_was_written_before_a_pause_follows_as_one_message_byte_by_byte() {
    let mut request = request();
    let first = r#"[{"type":"text","text":"One."},{"n":1.50}]"#;
    let second = " [ {\"id\":123456789012345678901234567890} ] ";
    request.so_far = vec![first.to_owned(), "[]".to_owned(), second.to_owned()];
    let text = String::from_utf8(body_bytes(&request).unwrap()).unwrap();
    let expected = concat!(
        r#""messages":[{"role":"user","content":"Say \"hi\"."},"#,
        r#"{"role":"assistant","content":[{"type":"text","text":"One."},{"n":1.50},{"id":123456789012345678901234567890}]}],"#,
    );
    assert!(text.contains(expected), "{text}");
    assert_eq!(
        body(&request).unwrap()["messages"][1]["content"][0]["text"],
        "One."
    );
    request.so_far = vec!["[]".to_owned()];
    assert_eq!(
        body(&request).unwrap()["messages"]
            .as_array()
            .unwrap()
            .len(),
        1,
        "an empty message would be refused"
    );
}

#[test]
fn paused_answer_that_is_no_list_is_named() {
    let mut request = request();
    for torn in ["", "{}", "[1", "[1] 2"] {
        request.so_far = vec!["[]".to_owned(), torn.to_owned()];
        let message = body(&request).unwrap_err().to_string();
        assert!(
            message.starts_with("part 2 of the paused answer is no JSON list: "),
            "{message}"
        );
    }
}

#[test]
fn message_that_paused_keeps_its_content_byte_by_byte() {
    let content = r#"[ {"type":"text","text":"a"}, {"type":"brand_new","n":1e400} ]"#;
    let paused = |content: &str, reason: &str| {
        let body = format!(r#"{{"type":"message","content":{content},"stop_reason":"{reason}"}}"#);
        Message::read(body.as_bytes()).unwrap().into_answer()
    };
    let whole = content.replace("1e400", "1.50");
    let answer = paused(&whole, "pause_turn").unwrap();
    assert_eq!(
        (answer.paused.as_deref(), answer.text.as_str()),
        (Some(whole.as_str()), "a")
    );
    assert_eq!(paused(&whole, "end_turn").unwrap().paused, None);
    assert_eq!(
        paused("null", "pause_turn").unwrap().paused.as_deref(),
        Some("[]")
    );
    assert_eq!(
        paused(content, "pause_turn"),
        None,
        "no number of ours holds it"
    );
}

#[test]
fn part_of_a_batch_may_be_long_and_never_streams() {
    let mut request = request();
    request.max_tokens = 128_000;
    for delivery in [Delivery::Stream, Delivery::Whole] {
        request.delivery = delivery;
        let body = serde_json::to_value(Body::in_batch(&request).unwrap()).unwrap();
        assert_eq!(
            (&body["max_tokens"], body.get("stream")),
            (&json!(128_000), None)
        );
    }
}

#[test]
fn long_answer_in_one_piece_is_refused_at_its_bound() {
    let mut request = request();
    request.max_tokens = 21_334;
    assert!(body(&request).is_ok(), "a stream may be long");
    request.delivery = Delivery::Whole;
    assert_eq!(
        body(&request),
        Err(BodyError::WholeTooLong { found: 21_334 })
    );
    request.max_tokens = 21_333;
    assert!(body(&request).is_ok());
}

#[test]
fn body_over_the_limit_of_the_api_is_refused() {
    let mut request = request();
    request.prompt = "x".repeat(MAX_BODY_BYTES);
    assert!(
        matches!(body_bytes(&request), Err(BodyError::TooLarge { found }) if found > MAX_BODY_BYTES)
    );
}

#[test]
fn message_gives_its_text_blocks_in_order() {
    let answer = answer(json!({
        "type": "message", "id": "msg_1", "model": "claude-sonnet-5-5", "stop_reason": "end_turn", "new_field": [1],
        "content": [
            {"type": "thinking", "thinking": "hm"},
            {"type": "text", "text": "one "},
            {"type": "web_search_tool_result", "content": {"error_code": "unavailable"}},
            {"type": "text", "text": "two", "citations": null},
            {"type": "text", "text": null},
            {"type": "brand_new", "text": 7},
        ],
        "usage": {"input_tokens": 10, "output_tokens": 20, "service_tier": "standard"},
    }));
    let answer = answer.unwrap();
    assert_eq!(
        (answer.id.as_str(), answer.text.as_str()),
        ("msg_1", "one two")
    );
    assert_eq!(answer.stop_reason, StopReason::EndTurn);
    assert_eq!(answer.tool_errors, ["web_search: unavailable"]);
    assert_eq!(
        answer.usage,
        Some(Usage {
            input_tokens: 10,
            output_tokens: 20,
            ..Usage::default()
        })
    );
}

#[test]
fn only_the_type_message_is_a_message() {
    for value in [
        json!({}),
        json!({"type": "error", "error": {}}),
        json!({"code": 500}),
        json!({"type": 1}),
    ] {
        assert_eq!(answer(value.clone()), None, "{value}");
    }
}

#[test]
fn bare_message_is_legal_and_never_complete() {
    let answer = answer(json!({"type": "message", "content": null, "stop_reason": null})).unwrap();
    assert_eq!(answer.text, "");
    assert_eq!(answer.usage, None, "unknown, not zero");
    assert_eq!(answer.stop_reason, StopReason::Other("null".to_owned()));
}

#[test]
fn counters_may_be_null_missing_or_of_a_wrong_type() {
    let usage = |value: Value| serde_json::from_value::<Counters>(value).unwrap().usage();
    let base = Usage {
        input_tokens: 1,
        output_tokens: 2,
        ..Usage::default()
    };
    let cases = [
        (json!({"input_tokens": 1, "output_tokens": 2}), Some(base)),
        (
            json!({"input_tokens": 1, "output_tokens": 2, "cache_creation_input_tokens": null, "cache_creation": null}),
            Some(base),
        ),
        (
            json!({"input_tokens": 1, "output_tokens": 2, "cache_creation_input_tokens": 30}),
            Some(Usage {
                cache_write_5m_tokens: 30,
                ..base
            }),
        ),
        (
            json!({"input_tokens": 1, "output_tokens": 2, "cache_creation_input_tokens": 30, "cache_read_input_tokens": 4,
                "cache_creation": {"ephemeral_5m_input_tokens": 10, "ephemeral_1h_input_tokens": 20}}),
            Some(Usage {
                cache_write_5m_tokens: 10,
                cache_write_1h_tokens: 20,
                cache_read_tokens: 4,
                ..base
            }),
        ),
        (
            json!({"input_tokens": 1, "output_tokens": 2, "cache_creation": {"ephemeral_1h_input_tokens": 20}}),
            Some(Usage {
                cache_write_1h_tokens: 20,
                ..base
            }),
        ),
        (json!({"input_tokens": 1, "output_tokens": null}), None),
        (json!({"input_tokens": "1", "output_tokens": 2}), None),
        (json!({"input_tokens": -1, "output_tokens": 2}), None),
        (json!({}), None),
    ];
    for (value, expected) in cases {
        assert_eq!(usage(value.clone()), expected, "{value}");
    }
}

/// Found by fuzzing: bytes that are no UTF-8 passed in the name of a field that nobody reads.
#[test]
fn message_is_an_object_in_utf_8() {
    let read = |body: &[u8]| Message::read(body).ok().and_then(Message::into_answer);
    assert!(read(br#" {"type":"message","content":[],"u":{"t":1}}"#).is_some());
    let garbled: [&[u8]; 4] = [
        b"{\"type\":\"message\",\"u\":{\"t\xef\":1}}",
        b"{\"type\":\"message\",\"u\":\"\xff\"}",
        b"{\"type\":\"message\"}\xff",
        br#"["message"]"#,
    ];
    for body in garbled {
        assert_eq!(read(body), None, "{}", String::from_utf8_lossy(body));
    }
    let cut = Message::read(b"{\"type\":\"message\",\"x\":\"\xe8\xaa").unwrap_err();
    assert!(cut.is_eof(), "{cut}");
}
