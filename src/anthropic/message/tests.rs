//! Streams whole, broken, reordered, and with what a later version of the API may add.

use proptest::prelude::*;

use super::super::stream::EventStream;
use super::*;

const START: &str = r#"{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"claude-sonnet-5-5","content":[],"stop_reason":null,"usage":{"input_tokens":25,"cache_creation_input_tokens":7,"cache_read_input_tokens":3,"output_tokens":1}}}"#;
const BLOCK: &str =
    r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#;
const HELLO: &str =
    r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hello"}}"#;
const WORLD: &str = r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":", \"wörld\"\n"}}"#;
const BLOCK_END: &str = r#"{"type":"content_block_stop","index":0}"#;
const DELTA: &str = r#"{"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":15}}"#;
const STOP: &str = r#"{"type":"message_stop"}"#;
const PING: &str = r#"{"type":"ping"}"#;

const WHOLE: [&str; 7] = [START, BLOCK, HELLO, WORLD, BLOCK_END, DELTA, STOP];

fn gather<'a>(events: impl IntoIterator<Item = &'a str>) -> Gathering {
    let mut gathering = Gathering::new();
    events
        .into_iter()
        .for_each(|event| gathering.take(event.as_bytes()));
    gathering
}

fn result<'a>(events: impl IntoIterator<Item = &'a str>) -> Result<Answer, Broken> {
    gather(events).finish()
}

#[test]
fn whole_stream_gives_the_answer() {
    let answer = result(WHOLE).unwrap();
    assert_eq!(answer.text, "Hello, \"wörld\"\n");
    assert_eq!(
        (answer.id.as_str(), answer.model.as_str()),
        ("msg_1", "claude-sonnet-5-5")
    );
    assert_eq!(answer.stop_reason, StopReason::EndTurn);
    let expected = Usage {
        input_tokens: 25,
        cache_write_5m_tokens: 7,
        cache_read_tokens: 3,
        output_tokens: 15,
        ..Usage::default()
    };
    assert_eq!(answer.usage, Some(expected));
}

#[test]
fn stream_that_ends_at_any_earlier_event_is_cut() {
    for end in 0..WHOLE.len() {
        assert!(
            matches!(result(WHOLE[..end].iter().copied()), Err(Broken::Cut(_))),
            "after {end} events"
        );
    }
}

#[test]
fn every_part_that_completeness_needs_is_missed() {
    for (missing, expected) in [
        (START, "message_start"),
        (DELTA, "stop_reason"),
        (STOP, "message_stop"),
    ] {
        let events = WHOLE.into_iter().filter(|event| *event != missing);
        match result(events) {
            Err(Broken::Cut(what)) => assert!(what.contains(expected), "{what}"),
            other => panic!("without {expected}: {other:?}"),
        }
    }
}

#[test]
fn unknown_events_deltas_and_foreign_terminators_are_passed_over() {
    let foreign = [
        PING,
        "[DONE]",
        r#"{"type":"ping","index":null,"delta":"x"}"#,
        r#"{"type":"brand_new","delta":"a string","index":"one"}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"hm"}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"EqQ"}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"new_delta","text":{"rich":true}}}"#,
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"new_block","text":[1]}}"#,
        r#"{"type":"content_block_stop","index":0,"delta":null,"content_block":null}"#,
        r#"{"no_type":1}"#,
        r#"["a","list"]"#,
        "17",
    ];
    for extra in foreign {
        for place in 0..WHOLE.len() {
            let mut events = WHOLE.to_vec();
            events.insert(place, extra);
            assert_eq!(result(events), result(WHOLE), "{extra} at {place}");
        }
    }
}

#[test]
fn error_event_wins_wherever_it_stands_before_the_end() {
    let error = r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#;
    for place in 0..WHOLE.len() {
        let mut events = WHOLE.to_vec();
        events.insert(place, error);
        match result(events) {
            Err(Broken::Error(data)) => assert_eq!(data["error"]["type"], "overloaded_error"),
            other => panic!("at {place}: {other:?}"),
        }
    }
    let mut events = WHOLE.to_vec();
    events.push(error);
    assert_eq!(
        result(events),
        result(WHOLE),
        "nothing counts after the end"
    );
}

#[test]
fn error_without_a_type_is_an_error_too() {
    let broken = result([START, r#"{"error":{"type":"forbidden"}}"#, STOP]).unwrap_err();
    assert!(matches!(broken, Broken::Error(data) if data["error"]["type"] == "forbidden"));
}

#[test]
fn invalid_json_breaks_the_stream_and_stays_broken() {
    let torn = [
        r#"{"type":"ping""#,
        "<html>",
        "",
        r#"{"type":"content_block_delta","delta":{"type":"text_delta","text":5}}"#,
    ];
    for event in torn {
        let gathering = gather([START, HELLO, event, DELTA, STOP]);
        assert!(gathering.is_over());
        assert!(matches!(gathering.finish(), Err(Broken::Cut(_))), "{event}");
    }
    let mut gathering = gather([START]);
    gathering.take(b"{\"type\":\"ping\",\"x\":\"\xff\"}");
    assert!(gathering.is_over(), "JSON is UTF-8");
}

/// `serde` reads a list into the fields of a struct: `["message_stop"]` ended the message.
#[test]
fn list_is_no_event() {
    for list in [
        r#"["message_stop"]"#,
        r#" ["error",0,null,null,null,null,{}]"#,
        r#"["message_start"]"#,
    ] {
        let gathering = gather([START, HELLO, list]);
        assert!(!gathering.is_over(), "{list}");
        assert_eq!(gathering.usage().unwrap().input_tokens, 25);
    }
    assert!(gather([START, r#"["message_stop""#]).is_over());
}

/// Found by fuzzing: the event was passed over as foreign, and its text was missing from a whole answer.
#[test]
fn event_that_says_one_thing_twice_breaks_the_stream() {
    let twice = r#"{"type":"content_block_delta","index":0,"delta":"x","index":0,"delta":{"type":"text_delta","text":"b"}}"#;
    let broken = result([START, HELLO, twice, DELTA, STOP]).unwrap_err();
    assert_eq!(broken, Broken::Cut(BAD_JSON));
}

/// A gateway that lost its own upstream asked again, and sent both messages as one.
#[test]
fn second_message_inside_the_first_is_no_answer() {
    for begun in [&WHOLE[..2], &WHOLE[..4], &WHOLE[..6]] {
        let events = begun.iter().chain(&WHOLE).copied();
        match result(events) {
            Err(Broken::Cut(what)) => assert!(what.contains("inside another"), "{what}"),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(
        result([START].into_iter().chain(WHOLE)),
        result(WHOLE),
        "a start that is said twice is one start"
    );
}

/// Usage of a shape that no one expects broke the whole stream.
#[test]
fn odd_usage_is_missing_and_spoils_no_answer() {
    for usage in [
        "7",
        "[1,2]",
        "\"none\"",
        r#"{"output_tokens":"15"}"#,
        r#"{"cache_creation":5}"#,
        r#"{"cache_creation":[1]}"#,
    ] {
        let delta = format!(
            r#"{{"type":"message_delta","delta":{{"stop_reason":"end_turn"}},"usage":{usage}}}"#
        );
        let answer = result([START, HELLO, &delta, STOP]).unwrap();
        assert_eq!(
            (answer.text.as_str(), answer.usage.unwrap().output_tokens),
            ("Hello", 1)
        );
    }
    let start = r#"{"type":"message_start","message":{"id":"m","usage":[]}}"#;
    assert_eq!(result([start, HELLO, DELTA, STOP]).unwrap().usage, None);
}

/// A later split of nulls took the place of the known one, and writes for an hour were priced as writes for minutes.
#[test]
fn split_of_cache_writes_survives_a_later_null() {
    let start = r#"{"type":"message_start","message":{"usage":{"input_tokens":1,"cache_creation_input_tokens":30,"cache_creation":{"ephemeral_5m_input_tokens":10,"ephemeral_1h_input_tokens":20}}}}"#;
    for split in ["null", "{}", r#"{"ephemeral_1h_input_tokens":null}"#] {
        let delta = format!(
            r#"{{"type":"message_delta","delta":{{"stop_reason":"end_turn"}},"usage":{{"output_tokens":2,"cache_creation":{split}}}}}"#
        );
        let usage = result([start, &delta, STOP]).unwrap().usage.unwrap();
        assert_eq!(
            (usage.cache_write_5m_tokens, usage.cache_write_1h_tokens),
            (10, 20),
            "{split}"
        );
    }
}

#[test]
fn later_counters_replace_earlier_ones_unless_they_are_null() {
    let delta = r#"{"type":"message_delta","delta":{"stop_reason":"max_tokens"},"usage":{"output_tokens":9,"input_tokens":40,"cache_read_input_tokens":null}}"#;
    let answer = result([START, DELTA, delta, STOP]).unwrap();
    let usage = answer.usage.unwrap();
    assert_eq!(
        (
            usage.output_tokens,
            usage.input_tokens,
            usage.cache_read_tokens
        ),
        (9, 40, 3)
    );
    assert_eq!(answer.stop_reason, StopReason::MaxTokens);
}

#[test]
fn stop_reason_survives_a_later_null() {
    let null =
        r#"{"type":"message_delta","delta":{"stop_reason":null},"usage":{"output_tokens":16}}"#;
    let answer = result([START, DELTA, null, STOP]).unwrap();
    assert_eq!(answer.stop_reason, StopReason::EndTurn);
    assert_eq!(answer.text, "", "an answer without text is legal");
}

#[test]
fn blocks_join_by_index_whatever_the_order_of_their_deltas() {
    let delta = |index: u32, text: &str| {
        format!(
            r#"{{"type":"content_block_delta","index":{index},"delta":{{"type":"text_delta","text":"{text}"}}}}"#
        )
    };
    let events = [delta(2, "c"), delta(0, "a"), delta(2, "d"), delta(0, "b")];
    let all = [START]
        .into_iter()
        .chain(events.iter().map(String::as_str))
        .chain([DELTA, STOP]);
    assert_eq!(result(all).unwrap().text, "abcd");
}

#[test]
fn usage_is_known_before_the_end() {
    assert_eq!(
        gather([START, HELLO])
            .usage()
            .map(|usage| usage.output_tokens),
        Some(1)
    );
    assert_eq!(gather([PING]).usage(), None);
}

/// A stream as bytes, with comments, pings, lines of every ending, and with or without event names.
fn stream() -> impl Strategy<Value = Vec<u8>> {
    let end = prop::sample::select(vec!["\n", "\r\n", "\r"]);
    let noise = prop::sample::select(vec!["", ": keep-alive", "event: any", "id: 1"]);
    (
        prop::collection::vec((end, noise), WHOLE.len()),
        0..=WHOLE.len(),
    )
        .prop_map(|(lines, count)| {
            let mut bytes = String::new();
            for ((end, noise), event) in lines.into_iter().zip(WHOLE).take(count) {
                if !noise.is_empty() {
                    bytes.push_str(noise);
                    bytes.push_str(end);
                }
                bytes.push_str("data: ");
                bytes.push_str(event);
                bytes.push_str(end);
                bytes.push_str(end);
            }
            bytes.into_bytes()
        })
}

fn read<'a>(chunks: impl Iterator<Item = &'a [u8]>) -> Result<Answer, Broken> {
    let mut stream = EventStream::new(1 << 20);
    let mut gathering = Gathering::new();
    for chunk in chunks {
        stream.feed(chunk, |data| gathering.take(data)).unwrap();
    }
    gathering.finish()
}

proptest! {
    #[test]
    fn cutting_the_bytes_anywhere_gives_the_same_answer(bytes in stream(), at in any::<prop::sample::Index>(), size in 1..40_usize) {
        let expected = read([bytes.as_slice()].into_iter());
        let (left, right) = bytes.split_at(at.index(bytes.len() + 1));
        prop_assert_eq!(read([left, right].into_iter()), expected.clone());
        prop_assert_eq!(read(bytes.chunks(size)), expected);
    }
}

const PAUSE: &str =
    r#"{"type":"message_delta","delta":{"stop_reason":"pause_turn"},"usage":{"output_tokens":15}}"#;
const TOOL: &str = r#"{"type":"content_block_start","index":1,"content_block":{"type":"server_tool_use","id":"s","name":"web_search","input":{}}}"#;
const INPUT: &str = r#"{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"q\":1}"}}"#;
const RESULT: &str = r#"{"type":"content_block_start","index":2,"content_block":{"type":"web_search_tool_result","tool_use_id":"s","content":{"type":"web_search_tool_result_error","error_code":"unavailable"}}}"#;
const RICH: &str =
    r#"{"type":"content_block_start","index":3,"content_block":{"type":"brand_new","text":[1]}}"#;

#[test]
fn paused_stream_keeps_every_block_and_any_other_keeps_none() {
    let events = [START, BLOCK, HELLO, WORLD, TOOL, INPUT, RESULT, RICH];
    let answer = result(events.into_iter().chain([PAUSE, STOP])).unwrap();
    let expected = serde_json::json!([
        { "type": "text", "text": "Hello, \"wörld\"\n" },
        { "type": "server_tool_use", "id": "s", "name": "web_search", "input": { "q": 1 } },
        { "type": "web_search_tool_result", "tool_use_id": "s",
          "content": { "type": "web_search_tool_result_error", "error_code": "unavailable" } },
        { "type": "brand_new", "text": [1] },
    ]);
    let paused = serde_json::from_str::<Value>(&answer.paused.unwrap()).unwrap();
    assert_eq!(paused, expected);
    assert_eq!(answer.text, "Hello, \"wörld\"\n");
    assert_eq!(answer.tool_errors, ["web_search: unavailable"]);
    let ended = result(events.into_iter().chain([DELTA, STOP])).unwrap();
    assert_eq!(ended.paused, None);
    assert_eq!(ended.tool_errors, ["web_search: unavailable"]);
}

#[test]
fn paused_stream_with_a_torn_block_is_cut() {
    let torn = INPUT.replace("1}", "");
    let events = [START, TOOL, &torn];
    let broken = result(events.into_iter().chain([PAUSE, STOP])).unwrap_err();
    assert_eq!(broken, Broken::Cut(TORN_BLOCK));
    assert!(
        result(events.into_iter().chain([DELTA, STOP])).is_ok(),
        "an answer that is whole needs no block of it"
    );
}

#[test]
fn second_message_after_a_tool_is_no_answer() {
    let events = [START, TOOL, START, BLOCK, HELLO, DELTA, STOP];
    assert_eq!(result(events), Err(Broken::Cut(BEGUN_TWICE)));
}

/// Every new index went through all blocks that had come: a stream of as many as fit into the largest answer held the
/// engine's thread for minutes.
#[test]
fn as_many_blocks_as_fit_into_an_answer_are_gathered_by_index() {
    const COUNT: u64 = 300_000;
    let mut gathering = gather([START]);
    for n in 0..COUNT {
        // Each index once, and not in order: both ends take turns.
        let index = if n % 2 == 0 { n } else { COUNT - n };
        let event = format!(
            r#"{{"type":"content_block_start","index":{index},"content_block":{{"type":"text","text":"{} "}}}}"#,
            index % 10
        );
        gathering.take(event.as_bytes());
    }
    gathering.take(DELTA.as_bytes());
    gathering.take(STOP.as_bytes());
    let text = gathering.finish().unwrap().text;
    let digits: Vec<u64> = text.split(' ').filter_map(|it| it.parse().ok()).collect();
    let in_order: Vec<u64> = (0..COUNT).map(|index| index % 10).collect();
    assert!(digits == in_order, "the blocks are not in order");
}
