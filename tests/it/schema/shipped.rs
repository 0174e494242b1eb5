//! The schemas as they are shipped: sound by themselves, right about every YAML of the repository, printed as they are.

use std::fs;
use std::path::Path;

use offpeak::config::{DEFAULTS, JOB_SCHEMA, SETTINGS_SCHEMA, embedded_jobs};
use serde_json::Value;

use super::sample::{Kind, errors, json_of, wrong_in_text, yaml};
use super::walk::{Step, each_reference, spots};
use crate::readme::blocks;
use crate::scenario::{Scenario, repository};

#[test]
fn every_yaml_of_the_repository_passes() {
    let read = |path: &str| fs::read_to_string(repository().join(path)).expect(path);
    let mut texts = vec![
        (Kind::Settings, DEFAULTS.to_owned()),
        (Kind::Settings, read("src/cli/demo/offpeak.yaml")),
    ];
    for (name, text) in embedded_jobs() {
        if Path::new(name)
            .extension()
            .is_some_and(|extension| extension == "yaml")
        {
            texts.push((Kind::Job, (*text).to_owned()));
        }
    }
    let readme = blocks(&read("README.md"), "yaml");
    let (job, settings) = (readme[0].clone(), readme[1].clone());
    texts.extend([(Kind::Job, job), (Kind::Settings, settings)]);
    let night = Scenario::new();
    night.run(&["init"]).exits(0);
    for name in ["daily-digest", "weekly-review"] {
        let text = night.read(&format!("jobs/{name}.yaml"));
        texts.push((Kind::Job, text));
    }
    assert!(texts.len() > 9, "{} texts", texts.len());
    for (kind, text) in texts {
        let said = errors(kind, &json_of(&text));
        assert!(said.is_empty(), "{said:?}\n{text}");
    }
}

/// The Markdown files of `docs`.
fn documents() -> Vec<String> {
    let entries = fs::read_dir(repository().join("docs")).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    paths
        .filter(|path| path.extension().is_some_and(|extension| extension == "md"))
        .map(|path| fs::read_to_string(path).unwrap())
        .collect()
}

#[test]
fn what_the_documents_show_is_refused_by_no_schema_alone() {
    let texts: Vec<String> = documents()
        .iter()
        .flat_map(|text| blocks(text, "yaml"))
        .collect();
    assert!(!texts.is_empty());
    for text in texts {
        // One example is meant to be no YAML.
        let Ok(document) = yaml(&text) else {
            continue;
        };
        for kind in [Kind::Job, Kind::Settings] {
            let said = errors(kind, &document);
            let wrong = wrong_in_text(kind, &text);
            assert!(said.is_empty() || !wrong.is_empty(), "{said:?}\n{text}");
        }
    }
}

#[test]
fn the_commands_for_editors_write_the_schemas() {
    let editors = fs::read_to_string(repository().join("docs/editors.md")).unwrap();
    let scenario = Scenario::new();
    let mut written = Vec::new();
    for line in blocks(&editors, "sh").concat().lines() {
        if let Some((command, file)) = line.split_once(" > ") {
            let words: Vec<&str> = command.split_whitespace().skip(1).collect();
            written.push((file.to_owned(), scenario.run(&words).exits(0).stdout));
        }
    }
    let expected = [
        (".offpeak-schema/job.json", JOB_SCHEMA),
        (".offpeak-schema/settings.json", SETTINGS_SCHEMA),
    ];
    assert_eq!(
        written,
        expected.map(|(file, text)| (file.to_owned(), text.to_owned()))
    );
    // Every editor is told of the files that the commands write.
    for (file, _) in expected {
        assert!(editors.matches(file).count() > 3, "{file}");
    }
}

#[test]
fn the_schemas_are_sound_and_say_what_every_field_means() {
    for text in [JOB_SCHEMA, SETTINGS_SCHEMA] {
        let schema: Value = serde_json::from_str(text).unwrap();
        assert!(jsonschema::draft7::meta::is_valid(&schema));
        each_reference(&schema, &mut |map| {
            // Draft 07 ignores what else stands beside a reference; editors show notes all the same.
            let notes = ["$ref", "description", "default", "examples"];
            assert!(
                map.keys().all(|key| notes.contains(&key.as_str())),
                "{map:?}"
            );
        });
    }
    for kind in Kind::ALL {
        for spot in spots(kind) {
            let description = spot.description();
            let is_element = matches!(spot.steps().last(), Some(Step::Item | Step::Any) | None);
            assert!(
                is_element || description.ends_with('.'),
                "{spot}: {description}"
            );
        }
    }
}

#[test]
fn what_both_schemas_define_is_the_same() {
    let definitions = |text| serde_json::from_str::<Value>(text).unwrap()["definitions"].clone();
    let (job, settings) = (definitions(JOB_SCHEMA), definitions(SETTINGS_SCHEMA));
    let mut shared = 0;
    for (name, definition) in job.as_object().unwrap() {
        if let Some(other) = settings.get(name) {
            assert_eq!(definition, other, "{name}");
            shared += 1;
        }
    }
    assert!(shared > 10, "{shared} definitions");
    for schema in [&job, &settings] {
        assert_eq!(schema["cron"]["pattern"], schema["crons"]["pattern"]);
    }
}

#[test]
fn the_command_prints_the_schemas() {
    let scenario = Scenario::new();
    for (name, text) in [("job", JOB_SCHEMA), ("settings", SETTINGS_SCHEMA)] {
        for format in ["human", "json"] {
            let done = scenario.run(&["config", "--schema", name, "--format", format]);
            assert_eq!(done.exits(0).stdout, text);
        }
    }
    scenario
        .run(&["config", "--schema", "jobs"])
        .exits(2)
        .complains("[possible values: job, settings");
    scenario
        .run(&["config", "--schema", "job", "--defaults"])
        .exits(2)
        .complains("cannot be used with");
}
