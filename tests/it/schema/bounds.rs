//! Bounds: both ends are taken by both, and what lies outside is refused.

use serde_json::{Value, json};

use super::sample::{Kind, is_valid, wrong_in};
use super::walk::{Spot, spots};
use super::{assert_accepted, assert_refused};

/// The texts of a kind of span or size: both ends; refused by both; refused by the decoder alone.
struct Texts {
    definition: &'static str,
    ends: &'static [&'static str],
    outside: &'static [&'static str],
    /// A pattern cannot add.
    outside_in_sum: &'static [&'static str],
}

const TEXTS: &[Texts] = &[
    Texts {
        definition: "span_to_hour",
        ends: &["0ms", "60m", "1h", "59m59s1000ms", "0030s"],
        outside: &["2h", "1d"],
        outside_in_sum: &["1h1ms", "61m"],
    },
    Texts {
        definition: "span_to_day",
        ends: &["0s", "24h", "1d", "86400000ms", "23h59m60s"],
        outside: &["25h", "2d", "10000m"],
        outside_in_sum: &["24h1ms", "1d1s"],
    },
    Texts {
        definition: "seconds_to_day",
        ends: &["1s", "1000ms", "24h", "1d"],
        outside: &["0s", "0ms", "25h", "2d"],
        outside_in_sum: &["999ms", "24h1ms"],
    },
    Texts {
        definition: "millis_to_day",
        ends: &["1ms", "24h", "1d"],
        outside: &["0ms", "25h", "2d"],
        outside_in_sum: &["24h1ms"],
    },
    Texts {
        definition: "staleness",
        ends: &["1001ms", "168h", "7d", "10080m"],
        outside: &["0s", "8d", "170h"],
        outside_in_sum: &["1s", "7d1ms", "169h"],
    },
    Texts {
        definition: "expiry",
        ends: &["1s", "3650d", "87600h", "315360000s", "4294967295ms"],
        outside: &["0s", "3651d", "10000d", "100000h"],
        outside_in_sum: &["999ms", "3650d1ms"],
    },
    Texts {
        definition: "keep",
        ends: &["1d", "24h", "86400s", "3650d"],
        outside: &["0d", "3651d"],
        outside_in_sum: &["23h", "3650d1ms"],
    },
    Texts {
        definition: "size",
        ends: &["1", "32m", "32M", "32768K", "33554432", "0060k"],
        outside: &["0", "0k", "100m"],
        outside_in_sum: &["33m", "32769k", "33554433"],
    },
];

/// What is neither a span nor a size.
const MALFORMED: &[&str] = &[
    "", " ", "1.5s", "30 s", "1s1m", "1w", "-1s", "30S", "15min", "k", "1.5k", "60kb", "60 k",
    "1g", "0,5h",
];

#[test]
fn both_ends_of_a_span_are_taken_and_what_lies_outside_is_not() {
    let mut places = 0;
    for kind in Kind::ALL {
        for spot in spots(kind).into_iter().filter(is_bounded_text) {
            let texts = TEXTS
                .iter()
                .find(|texts| Some(texts.definition) == spot.definition)
                .unwrap_or_else(|| panic!("{spot}: no texts for it"));
            for text in texts.ends {
                assert_accepted(&spot, json!(text));
            }
            for text in texts.outside {
                assert_refused(&spot, &json!(text));
            }
            for text in texts.outside_in_sum {
                let planted = spot.plant(json!(text));
                assert!(!wrong_in(kind, &planted).is_empty(), "{spot}: {text}");
                assert!(is_valid(kind, &planted), "{spot}: {text}");
            }
            assert_refused(&spot, &json!(-1));
            places += 1;
        }
    }
    assert!(places > 20, "{places} places");
}

#[test]
fn what_is_no_span_and_no_size_is_refused_by_both() {
    for texts in TEXTS {
        let mut all = Kind::ALL.into_iter().flat_map(spots);
        let spot = all
            .find(|spot| spot.definition == Some(texts.definition))
            .expect(texts.definition);
        for text in MALFORMED {
            assert_refused(&spot, &json!(text));
        }
    }
}

/// Whether what stands there is a span or a size.
fn is_bounded_text(spot: &Spot) -> bool {
    let message = spot.get("patternErrorMessage").and_then(Value::as_str);
    message.is_some_and(|text| {
        text.starts_with("write a duration") || text.starts_with("write a size")
    })
}

#[test]
fn both_ends_of_a_number_are_taken_and_what_lies_outside_is_not() {
    let mut bounds = 0;
    for kind in Kind::ALL {
        for spot in spots(kind) {
            let is_ratio = spot.get("type") == Some(&json!("number"));
            let outside = |bound: &Value, whole: i64, part: f64| {
                if is_ratio {
                    json!(bound.as_f64().unwrap() + part)
                } else {
                    json!(bound.as_i64().unwrap() + whole)
                }
            };
            if let Some(bound) = spot.get("minimum") {
                assert_accepted(&spot, bound.clone());
                assert_refused(&spot, &outside(bound, -1, -0.001));
                bounds += 1;
            }
            if let Some(bound) = spot.get("exclusiveMinimum") {
                assert_accepted(&spot, outside(bound, 1, 0.001));
                assert_refused(&spot, bound);
                bounds += 1;
            }
            if let Some(bound) = spot.get("maximum") {
                assert_accepted(&spot, bound.clone());
                assert_refused(&spot, &outside(bound, 1, 0.001));
                assert_refused(&spot, &json!("1 "));
                bounds += 1;
            }
        }
    }
    assert!(bounds > 25, "{bounds} bounds");
}

#[test]
fn numbers_without_bounds_are_in_no_schema() {
    for kind in Kind::ALL {
        for spot in spots(kind) {
            let numeric = ["integer", "number"].map(|name| Some(json!(name)));
            if numeric.contains(&spot.get("type").cloned()) {
                assert!(spot.get("maximum").is_some(), "{spot}");
            }
        }
    }
}
