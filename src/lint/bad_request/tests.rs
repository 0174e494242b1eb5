//! Each combination that the API refuses, both sides of each bound, and what is not judged.

use std::sync::Arc;

use super::super::fixture::{at, job, rules};
use super::super::{Breakpoint, Fallback, Known, Levels, Limits, Model, Sampling, check};
use super::*;

fn shape() -> Shape {
    Shape {
        step: None,
        model: "m".to_owned(),
        limits: Some(Arc::default()),
        version: "2023-06-01".to_owned(),
        max_tokens: 4_000,
        thinking: None,
        sampling: Vec::new(),
        tool_choice: ToolChoice::Free,
        region: None,
        breakpoints: Vec::new(),
    }
}

/// The same for a model that refuses this.
fn refusing(refusal: Refusal, shape: Shape) -> Shape {
    Shape {
        limits: Some(Arc::new(Limits {
            max_output_tokens: None,
            refuses: [refusal].into(),
        })),
        ..shape
    }
}

/// What is found, as `field: message`.
fn said(shape: &Shape) -> Vec<String> {
    let subject = Subject {
        shapes: vec![shape.clone()],
        ..job("a", "UTC", &["0 5 * * *"])
    };
    let verdict = check(
        &[subject],
        &rules("UTC", vec![]),
        at("2026-12-01T00:00:00Z"),
    );
    let of_rule = verdict.findings.into_iter();
    let of_rule = of_rule.filter(|finding| finding.rule == Rule::BadRequest);
    let told = of_rule.map(|finding| {
        assert_eq!(finding.severity, super::super::Severity::Error);
        assert!(finding.help.is_some());
        let message = finding.message.strip_suffix(": the API answers 400");
        let message = message.unwrap().strip_prefix("`a` ").unwrap().to_owned();
        format!("{}: {message}", finding.field.unwrap())
    });
    told.collect()
}

const NOTHING: [&str; 0] = [];

#[test]
fn step_of_a_chain_is_named_with_its_field() {
    let first = Shape {
        step: Some("outline".to_owned()),
        ..shape()
    };
    let second = Shape {
        step: Some("draft".to_owned()),
        thinking: Some(Thinking::Enabled(Some(1))),
        ..shape()
    };
    let subject = Subject {
        shapes: vec![first, second],
        ..job("a", "UTC", &["0 5 * * *"])
    };
    let found = findings(&[subject], &rules("UTC", vec![]));
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].field.as_deref(), Some("draft.thinking"));
    let expected = "the step `draft` of `a` gives 1 tokens for thinking, and 1024 are the least: the API answers 400";
    assert_eq!(found[0].message, expected);
}

#[test]
fn each_step_is_looked_at_as_it_goes_to_the_fallback_too() {
    let step = |name: &str, shape: Shape| Shape {
        step: Some(name.to_owned()),
        ..shape
    };
    let adaptive = Shape {
        thinking: Some(Thinking::Adaptive),
        ..shape()
    };
    let broken = Shape {
        thinking: Some(Thinking::Enabled(Some(1))),
        ..shape()
    };
    let there = refusing(Refusal::AdaptiveThinking, adaptive.clone());
    let fallback = Fallback {
        model: Arc::new(Model {
            id: "old".to_owned(),
            known: Known::Yes,
            as_of: chrono::NaiveDate::default(),
            ends_on: None,
            successor: None,
            min_cacheable_tokens: None,
            price: None,
        }),
        shapes: vec![step("outline", there), step("draft", broken.clone())],
    };
    let subject = Subject {
        shapes: vec![step("outline", adaptive), step("draft", broken)],
        fallback: Some(fallback),
        ..job("a", "UTC", &["0 5 * * *"])
    };
    let found = findings(&[subject], &rules("UTC", vec![]));
    let fields: Vec<_> = found.iter().map(|it| it.field.as_deref()).collect();
    assert_eq!(fields, [Some("draft.thinking"), Some("fallback_model")]);
    let message = &found[1].message;
    let expected = "the step `outline` of `a`, when it goes to its fallback, ";
    assert!(message.starts_with(expected), "{message}");
}

#[test]
fn output_may_be_as_long_as_the_model_gives() {
    let of = |max_tokens| Shape {
        max_tokens,
        limits: Some(Arc::new(Limits {
            max_output_tokens: Some(64_000),
            ..Limits::default()
        })),
        ..shape()
    };
    assert_eq!(said(&of(64_000)), NOTHING);
    assert_eq!(
        said(&of(64_001)),
        ["max_tokens: asks for up to 64001 tokens, and `m` gives 64000 at most"]
    );
}

#[test]
fn each_way_of_thinking_is_refused_by_the_models_that_do_not_have_it() {
    let table = [
        (
            Thinking::Enabled(Some(2_000)),
            Refusal::EnabledThinking,
            "thinking: gives `m` a budget for thinking, which it does not take",
        ),
        (
            Thinking::Adaptive,
            Refusal::AdaptiveThinking,
            "thinking: asks `m` for adaptive thinking, which it does not have",
        ),
        (
            Thinking::Disabled,
            Refusal::DisabledThinking,
            "thinking: turns off the thinking of `m`, which always thinks",
        ),
    ];
    for (thinking, refusal, expected) in table {
        let asking = Shape {
            thinking: Some(thinking),
            ..shape()
        };
        assert_eq!(said(&asking), NOTHING);
        assert_eq!(said(&refusing(refusal, asking)), [expected]);
        for (other, own, _) in table.iter().filter(|row| row.1 != refusal) {
            let other = Shape {
                thinking: Some(*other),
                ..shape()
            };
            assert_eq!(said(&refusing(refusal, other)), NOTHING, "{own:?}");
        }
    }
}

#[test]
fn thinking_budget_lies_between_1024_and_the_answer() {
    let of = |budget| Shape {
        thinking: Some(Thinking::Enabled(Some(budget))),
        ..shape()
    };
    assert_eq!(
        said(&of(1_023)),
        ["thinking: gives 1023 tokens for thinking, and 1024 are the least"]
    );
    assert_eq!(said(&of(1_024)), NOTHING);
    assert_eq!(said(&of(3_999)), NOTHING);
    assert_eq!(
        said(&of(4_000)),
        [
            "thinking: gives 4000 tokens for thinking out of `max_tokens` 4000, which leaves none for the answer"
        ]
    );
}

#[test]
fn sampling_is_refused_by_models_unless_it_is_the_default_and_by_the_new_version_always() {
    let sampling = |field: &str, is_default| Sampling {
        field: field.to_owned(),
        is_default,
    };
    let asking = Shape {
        sampling: vec![sampling("temperature", true), sampling("top_k", false)],
        ..shape()
    };
    assert_eq!(said(&asking), NOTHING);
    assert_eq!(
        said(&refusing(Refusal::Sampling, asking.clone())),
        ["top_k: sets `top_k`, which `m` does not take"]
    );
    let new = Shape {
        version: "2026-10-21".to_owned(),
        limits: None,
        ..asking
    };
    assert_eq!(
        said(&new),
        [
            "temperature: sets `temperature`, which version 2026-10-21 of the API does not take",
            "top_k: sets `top_k`, which version 2026-10-21 of the API does not take"
        ]
    );
}

#[test]
fn forced_tool_and_region_are_refused_by_the_models_that_say_so() {
    let asking = Shape {
        tool_choice: ToolChoice::Forced,
        region: Some("us".to_owned()),
        ..shape()
    };
    assert_eq!(said(&asking), NOTHING);
    assert_eq!(
        said(&refusing(Refusal::ForcedTool, asking.clone())),
        ["tool_choice: forces a tool on `m`, which always thinks"]
    );
    assert_eq!(
        said(&refusing(Refusal::Region, asking)),
        ["inference_geo: asks `m` to answer in `us`, which it cannot"]
    );
}

#[test]
fn four_breakpoints_are_the_most_and_none_outlives_the_one_before() {
    let of = |lives: &[(&'static str, CacheTtl)]| {
        let breakpoints = lives
            .iter()
            .map(|(field, life)| Breakpoint { field, life: *life });
        said(&Shape {
            breakpoints: breakpoints.collect(),
            limits: None,
            ..shape()
        })
    };
    let (short, long) = (CacheTtl::FiveMinutes, CacheTtl::OneHour);
    assert_eq!(of(&[("system", long); 4]), NOTHING);
    let five = [&[("system", long); 4][..], &[("cache_control", short)]].concat();
    assert_eq!(
        of(&five),
        ["cache_control: sets 5 cache breakpoints, and 4 are the most"]
    );
    assert_eq!(of(&[("tools", long), ("system", short)]), NOTHING);
    assert_eq!(
        of(&[("tools", short), ("system", short), ("system", long)]),
        ["system: caches for 5m what stands before something cached for 1h"]
    );
}

#[test]
fn unknown_model_is_not_judged_and_a_rule_that_is_off_says_nothing() {
    let asking = Shape {
        limits: None,
        max_tokens: 1_000_000,
        thinking: Some(Thinking::Disabled),
        tool_choice: ToolChoice::Forced,
        region: Some("us".to_owned()),
        ..shape()
    };
    assert_eq!(said(&asking), NOTHING);
    let subject = Subject {
        shapes: vec![refusing(Refusal::Region, asking)],
        ..job("a", "UTC", &["0 5 * * *"])
    };
    let mut levels = Levels::default();
    levels.set(Rule::BadRequest, super::super::Level::Off);
    let off = Rules {
        levels,
        ..rules("UTC", vec![])
    };
    assert_eq!(findings(&[subject], &off), []);
}
