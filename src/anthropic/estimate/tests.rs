use std::time::Duration;

use super::*;
use crate::job::{Delivery, KeyId, SystemBlock};

fn request(model: &str, prompt: &str) -> Request {
    Request {
        key: KeyId::new("main"),
        model: model.to_owned(),
        max_tokens: 1_000,
        system: Vec::new(),
        prompt: prompt.to_owned(),
        so_far: Vec::new(),
        delivery: Delivery::Stream,
        extra: Vec::new(),
        timeout: Duration::from_secs(1),
    }
}

fn dollars(number: f64) -> Option<Dollars> {
    Dollars::from_f64(number)
}

fn with(request: Request, name: &str, json: &str) -> Request {
    Request {
        extra: vec![(name.to_owned(), json.to_owned())],
        ..request
    }
}

#[test]
fn estimate_grows_with_the_text_and_counts_wide_characters_fully() {
    assert_eq!(estimate_tokens(""), 0);
    assert_eq!(estimate_tokens("a"), 1);
    assert_eq!(estimate_tokens(&"word ".repeat(700)), 1_000);
    assert_eq!(estimate_tokens("日本語"), 3);
}

#[test]
fn bounds_lie_around_the_likely_count() {
    for text in ["", "a", "日本語", "naïve", "🦀🦀", &"word ".repeat(700)] {
        let (low, likely, high) = (least_tokens(text), estimate_tokens(text), most_tokens(text));
        assert!(
            low <= likely && likely <= high,
            "{text}: {low} {likely} {high}"
        );
    }
    let prose = "word ".repeat(700);
    assert_eq!((least_tokens(&prose), most_tokens(&prose)), (700, 1_400));
    assert_eq!((least_tokens("日本語日"), most_tokens("日本語日")), (2, 8));
}

#[test]
fn dollars_go_from_bare_input_to_all_of_the_output() {
    let models = Models::embedded();
    let estimate = models.estimate(&request("claude-sonnet-5-5", &"word ".repeat(700)));
    assert_eq!(
        (estimate.tokens_low, estimate.tokens, estimate.tokens_high),
        (700, 1_000, 1_450)
    );
    assert_eq!(estimate.cost_low, dollars(0.0014));
    assert_eq!(estimate.cost, dollars(0.012));
    assert_eq!(estimate.cost_high, dollars(0.0129));
    assert_eq!(
        (estimate.output_max, estimate.growth),
        (1_000, Growth::None)
    );
}

#[test]
fn cached_input_may_be_read_or_written() {
    let models = Models::embedded();
    let block = SystemBlock {
        text: "word ".repeat(700),
        cache: Some(CacheTtl::OneHour),
    };
    let cached = Request {
        system: vec![block],
        ..request("claude-sonnet-5-5", "")
    };
    let estimate = models.estimate(&cached);
    assert_eq!(estimate.cost_low, dollars(0.000_07));
    assert_eq!(estimate.cost, dollars(0.014));
    assert_eq!(estimate.cost_high, dollars(0.0158));
    let automatic = with(
        request("claude-sonnet-5-5", &"word ".repeat(700)),
        "cache_control",
        "{\"type\":\"ephemeral\"}",
    );
    let estimate = models.estimate(&automatic);
    // The breakpoint is a field of its own, which is counted too: 1,458 tokens at the price of a write.
    assert_eq!(estimate.cost_high, dollars(0.013_645));
}

#[test]
fn unknown_price_is_an_unknown_cost() {
    let estimate = Models::embedded().estimate(&request("claude-fable-5-2", "hello"));
    assert_eq!(
        (estimate.cost_low, estimate.cost, estimate.cost_high),
        (None, None, None)
    );
    assert!(estimate.tokens > 0);
}

#[test]
fn tools_of_the_server_make_the_input_grow_and_own_ones_do_not() {
    let models = Models::embedded();
    let of = |name, json| {
        let request = with(request("claude-sonnet-5-5", "hello"), name, json);
        models.estimate(&request).growth
    };
    assert_eq!(
        of(
            "tools",
            r#"[{"type":"web_search_20260209","name":"web_search"}]"#
        ),
        Growth::Tools
    );
    assert_eq!(of("mcp_servers", "[]"), Growth::Tools);
    assert_eq!(
        of("tools", r#"[{"name":"mine","input_schema":{}}]"#),
        Growth::None
    );
    assert_eq!(
        of("tools", r#"[{"type":"custom","name":"mine"}]"#),
        Growth::None
    );
    assert_eq!(of("metadata", "{}"), Growth::None);
}

#[test]
fn what_the_model_wrote_before_a_pause_counts() {
    let paused = Request {
        so_far: vec!["word ".repeat(700)],
        ..request("claude-sonnet-5-5", "")
    };
    assert_eq!(Models::embedded().estimate(&paused).tokens, 1_000);
}
