//! The schemas for editors say what the decoder does: neither can change without the other.
//!
//! The decoder is asked through `config::read`, with one thing changed in a sample that is right.

use std::collections::BTreeSet;

use offpeak::config::DEFAULTS;
use offpeak::lint::{Rule, Severity};
use serde_json::{Value, json};

mod bounds;
mod mistakes;
mod random;
mod sample;
mod shipped;
mod walk;

use sample::{Kind, is_valid, json_of, wrong_in};
use walk::{Spot, Step, spots};

/// The names that the decoder gives for an unknown one.
fn known_names(wrong: &[String]) -> BTreeSet<String> {
    let lists = ["known here: ", "the rules are "];
    let line = wrong
        .iter()
        .filter(|line| line.contains("`zzz`"))
        .find_map(|line| lists.iter().find_map(|list| line.split_once(list)));
    let (_, names) = line.unwrap_or_else(|| panic!("no known names in {wrong:?}"));
    names
        .split('`')
        .skip(1)
        .step_by(2)
        .map(str::to_owned)
        .collect()
}

#[test]
fn every_map_has_the_fields_that_the_decoder_knows() {
    let mut maps = 0;
    for kind in Kind::ALL {
        for spot in spots(kind).into_iter().filter(Spot::is_closed_map) {
            let planted = spot.plant_unknown();
            let known = known_names(&wrong_in(kind, &planted));
            assert_eq!(spot.names(), known, "{spot}");
            assert!(!is_valid(kind, &planted), "{spot}");
            maps += 1;
        }
    }
    assert!(maps > 25, "{maps} maps");
}

#[test]
fn a_list_of_jobs_stands_alone_in_its_file() {
    let mut file = Kind::Listed.document(Kind::Listed.sample());
    file["zzz"] = json!(1);
    assert_eq!(
        known_names(&wrong_in(Kind::Listed, &file)),
        ["jobs".to_owned()].into()
    );
    assert!(!is_valid(Kind::Listed, &file));
}

#[test]
fn a_listed_job_shares_every_field_but_its_id() {
    let own: Vec<String> = spots(Kind::Listed).iter().map(Spot::path).collect();
    assert_eq!(own, ["", "id"]);
    let mut names = spots(Kind::Listed)[0].names();
    names.remove("id");
    assert_eq!(names, spots(Kind::Job)[0].names());
}

#[test]
fn what_is_no_map_in_the_schema_is_none_for_the_decoder() {
    for kind in Kind::ALL {
        for spot in spots(kind).into_iter().filter(Spot::is_leaf) {
            let planted = spot.plant(json!({ "zzz": 1 }));
            let wrong = wrong_in(kind, &planted);
            assert!(!wrong.is_empty(), "{spot}");
            assert!(!wrong[0].contains("unknown field"), "{spot}: {wrong:?}");
            assert!(!is_valid(kind, &planted), "{spot}");
        }
    }
}

#[test]
fn other_body_fields_pass_both() {
    let request = spots(Kind::Job)
        .into_iter()
        .find(|spot| spot.to_string() == "job request")
        .unwrap();
    let planted = request.plant(json!({ "zzz": [1, { "a": null }] }));
    assert!(wrong_in(Kind::Job, &planted).is_empty());
    assert!(is_valid(Kind::Job, &planted));
    for name in [
        "model",
        "max_tokens",
        "system",
        "thinking",
        "tools",
        "service_tier",
        "messages",
    ] {
        let planted = request.plant(json!({ name: 1 }));
        assert_eq!(wrong_in(Kind::Job, &planted).len(), 1, "{name}");
        assert!(!is_valid(Kind::Job, &planted), "{name}");
    }
}

#[test]
fn every_word_of_the_schemas_is_taken_and_no_other() {
    let mut words = 0;
    for kind in Kind::ALL {
        for spot in spots(kind) {
            let choices = spot.words();
            for word in &choices {
                assert_accepted(&spot, word.clone());
            }
            words += choices.len();
            for other in [json!("zzz"), json!(7), Value::Null, json!([])] {
                if !choices.is_empty() {
                    assert_refused(&spot, &other);
                }
            }
        }
    }
    assert!(words > 60, "{words} words");
}

#[test]
fn every_example_and_every_default_is_taken() {
    for kind in Kind::ALL {
        for spot in spots(kind) {
            for value in spot.examples().into_iter().chain(spot.default()) {
                assert_accepted(&spot, value);
            }
        }
    }
}

#[test]
fn the_defaults_of_the_settings_are_the_built_in_ones() {
    let all = spots(Kind::Settings);
    let defaults = all.iter().filter_map(|spot| {
        let path = spot.path();
        // What a rule has of its own stands in no file; see the test of the rules.
        let default = spot
            .default()
            .filter(|_| !path.starts_with("rules.severity."));
        Some((path, default?))
    });
    let defaults: Vec<(String, Value)> = defaults.collect();
    let mut built_in = Vec::new();
    flatten(
        &json_of(DEFAULTS),
        "",
        &|path| defaults.iter().any(|(known, _)| known == path),
        &mut built_in,
    );
    assert_eq!(sorted(defaults.clone()), sorted(built_in));
}

fn flatten(
    value: &Value,
    path: &str,
    is_whole: &dyn Fn(&str) -> bool,
    out: &mut Vec<(String, Value)>,
) {
    match value.as_object().filter(|_| !is_whole(path)) {
        Some(map) => {
            for (name, value) in map {
                let inner = format!("{path}.{name}");
                flatten(value, inner.trim_start_matches('.'), is_whole, out);
            }
        }
        None => out.push((path.to_owned(), value.clone())),
    }
}

fn sorted(mut pairs: Vec<(String, Value)>) -> Vec<(String, Value)> {
    pairs.sort_by(|a, b| a.0.cmp(&b.0));
    pairs
}

#[test]
fn the_defaults_of_a_job_are_those_of_the_settings() {
    let built_in = json_of(DEFAULTS);
    for spot in spots(Kind::Job) {
        let Some(default) = spot.default() else {
            continue;
        };
        let path = spot.path().replace("inputs.*.", "inputs.");
        let expected = match path.as_str() {
            "concurrency" => json!(1),
            "enabled" | "request.stream" => json!(true),
            "inputs.optional" | "output.keep_previous" | "output.front_matter" => json!(false),
            path => {
                let pointer = format!("/{}", path.replace('.', "/"));
                let outer = built_in.pointer(&format!("/defaults{pointer}"));
                outer
                    .or_else(|| built_in.pointer(&pointer))
                    .unwrap_or(&Value::Null)
                    .clone()
            }
        };
        assert_eq!(default, expected, "{spot}");
    }
}

#[test]
fn the_rules_of_the_schemas_are_those_of_the_linter() {
    let named = |may: fn(Rule) -> bool| -> BTreeSet<String> {
        let rules = Rule::ALL.iter().filter(|rule| may(**rule));
        rules.map(ToString::to_string).collect()
    };
    let map = |kind, path: &str| {
        let mut all = spots(kind).into_iter();
        all.find(|spot| spot.path() == path).unwrap()
    };
    let severity = map(Kind::Settings, "rules.severity");
    assert_eq!(severity.names(), named(Rule::is_settable));
    assert_eq!(map(Kind::Job, "accept").names(), named(Rule::is_acceptable));
    for spot in spots(Kind::Settings) {
        if let [Step::Field(_), Step::Field("severity"), Step::Field(name)] = spot.steps() {
            let level = match Rule::named(name).unwrap().severity() {
                Severity::Error => "error",
                Severity::Warning => "warn",
            };
            assert_eq!(spot.default(), Some(json!(level)), "{name}");
        }
    }
}

#[track_caller]
fn assert_accepted(spot: &Spot, value: Value) {
    let planted = spot.plant(value);
    let wrong = wrong_in(spot.kind, &planted);
    assert!(wrong.is_empty(), "{spot}: {wrong:?}");
    let errors = sample::errors(spot.kind, &planted);
    assert!(errors.is_empty(), "{spot}: {errors:?}");
}

#[track_caller]
fn assert_refused(spot: &Spot, value: &Value) {
    let planted = spot.plant(value.clone());
    let wrong = wrong_in(spot.kind, &planted);
    assert!(!wrong.is_empty(), "{spot}: the decoder takes {value}");
    let refuses = !is_valid(spot.kind, &planted);
    assert!(refuses, "{spot}: the schema takes {value}");
}
