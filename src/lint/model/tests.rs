//! What is told of the end of a model, and of its name.

use std::sync::Arc;

use super::*;
use crate::lint::fixture::{at, job, rules};
use crate::lint::{Level, Prompt};

fn model(ends_on: Option<&str>) -> Model {
    Model {
        id: "old-4".to_owned(),
        known: Known::Yes,
        as_of: "2026-11-01".parse().unwrap(),
        ends_on: ends_on.map(|day| day.parse().unwrap()),
        successor: Some("new-5".to_owned()),
        min_cacheable_tokens: None,
        price: None,
    }
}

fn with(model: Model, cron: &str) -> Subject {
    Subject {
        prompt: Some(Prompt {
            model: Arc::new(model),
            tokens: 100,
            more_tokens: 0,
            prefixes: Vec::new(),
        }),
        ..job("a", "UTC", &[cron])
    }
}

fn told(model: Model, cron: &str) -> Option<(String, String, String)> {
    let from = at("2026-12-01T00:00:00Z");
    let found = findings(&[with(model, cron)], &rules("UTC", vec![]), from);
    let first = found.first()?;
    let at = first.at.map(|at| at.date_naive().to_string());
    Some((
        at.unwrap_or_default(),
        first.message.clone(),
        first.help.clone()?,
    ))
}

fn ends(day: &str, cron: &str) -> Option<(String, String)> {
    told(model(Some(day)), cron).map(|(at, message, _)| (at, message))
}

fn found(at: &str, message: &str) -> (String, String) {
    (at.to_owned(), format!("the model `old-4` of `a` {message}"))
}

#[test]
fn models_of_later_steps_are_told_of_once_each() {
    let ended = |id: &str| {
        Arc::new(Model {
            id: id.to_owned(),
            ..model(Some("2026-11-30"))
        })
    };
    let subject = Subject {
        later_models: vec![ended("old-4"), ended("old-3"), ended("old-3")],
        ..with(model(None), "0 5 * * *")
    };
    let from = at("2026-12-01T00:00:00Z");
    let found = findings(&[subject], &rules("UTC", vec![]), from);
    // The first step's model goes by the first that has its name.
    let told: Vec<_> = found.iter().map(|it| it.message.as_str()).collect();
    assert_eq!(told, ["the model `old-3` of `a` has ended on 2026-11-30"]);
}

#[test]
fn fallback_is_told_of_unless_a_step_has_the_same_model() {
    let ended = |id: &str| {
        Arc::new(Model {
            id: id.to_owned(),
            ..model(Some("2026-11-30"))
        })
    };
    let of = |fallback: &str| Subject {
        later_models: vec![ended("old-3")],
        fallback: Some(crate::lint::Fallback {
            model: ended(fallback),
            shapes: Vec::new(),
        }),
        ..with(model(None), "0 5 * * *")
    };
    let from = at("2026-12-01T00:00:00Z");
    let told = |subject| -> Vec<String> {
        let found = findings(&[subject], &rules("UTC", vec![]), from);
        found.into_iter().map(|it| it.message).collect()
    };
    let step = "the model `old-3` of `a` has ended on 2026-11-30";
    assert_eq!(told(of("old-3")), [step]);
    let fallback = "the fallback `old-2` of `a` has ended on 2026-11-30";
    assert_eq!(told(of("old-2")), [step, fallback]);
}

#[test]
fn model_that_has_ended_is_told_from_the_next_firing_on() {
    let expected = found("2026-12-01", "has ended on 2026-11-30");
    assert_eq!(ends("2026-11-30", "0 5 * * *"), Some(expected));
}

#[test]
fn last_day_still_counts_as_a_day() {
    let expected = found("2026-12-02", "ends on 2026-12-01: 1 firing is left");
    assert_eq!(ends("2026-12-01", "0 5 * * *"), Some(expected));
}

#[test]
fn end_is_told_sixty_days_ahead_and_not_sooner() {
    let expected = found("2027-01-30", "ends on 2027-01-29: 60 firings are left");
    assert_eq!(ends("2027-01-29", "0 5 * * *"), Some(expected));
    assert_eq!(ends("2027-01-30", "0 5 * * *"), None);
    assert_eq!(told(model(None), "0 5 * * *"), None);
}

#[test]
fn rare_job_is_told_as_soon_as_no_firing_is_left() {
    let expected = found(
        "2027-07-01",
        "ends on 2027-06-30, before the job fires again",
    );
    assert_eq!(ends("2027-06-30", "0 5 1 7 *"), Some(expected));
    assert_eq!(ends("2027-07-01", "0 5 1 7 *"), None);
    assert_eq!(ends("2026-06-30", "0 5 30 2 *"), None);
}

#[test]
fn help_names_the_model_that_follows() {
    let help = |model| told(model, "0 5 * * *").unwrap().2;
    let ended = model(Some("2026-06-30"));
    assert!(help(ended.clone()).starts_with("write `model: new-5`"));
    let alone = Model {
        successor: None,
        ..ended
    };
    assert!(help(alone).starts_with("choose a current model"));
}

#[test]
fn unknown_model_is_told_only_if_a_name_is_near() {
    let unknown = |known| Model {
        known,
        ..model(None)
    };
    assert_eq!(told(unknown(Known::No), "0 5 * * *"), None);
    let near = told(unknown(Known::Near("new-5".to_owned())), "0 5 * * *").unwrap();
    assert_eq!(
        near.1,
        "the model `old-4` of `a` is not in the table of models"
    );
    assert_eq!(near.2, "did you mean `new-5`?");
}

#[test]
fn rules_that_are_off_are_not_told() {
    let mut rules = rules("UTC", vec![]);
    rules.levels.set(Rule::RetiredModel, Level::Off);
    rules.levels.set(Rule::UnknownModel, Level::Off);
    let both = Model {
        known: Known::Near("new-5".to_owned()),
        ..model(Some("2026-06-30"))
    };
    let jobs = [with(both, "0 5 * * *")];
    assert_eq!(findings(&jobs, &rules, at("2026-12-01T00:00:00Z")), []);
}
