//! `docs/rules.md` covers every rule, and its examples fail as they claim.

use std::fs;

use offpeak::lint::{Rule, Severity};
use serde_json::Value;

use crate::cli_formats::conforms;
use crate::scenario::{Done, Scenario, repository};

/// The parts of a section, in order.
const PARTS: [&str; 5] = [
    "**Severity:** ",
    "**Fails:**",
    "**Says:**",
    "**Mend:** ",
    "**Accept:** ",
];

struct Section {
    name: String,
    body: String,
}

fn document() -> String {
    fs::read_to_string(repository().join("docs/rules.md")).unwrap()
}

fn sections() -> Vec<Section> {
    document()
        .split("\n## ")
        .skip(1)
        .map(|text| {
            let (name, body) = text.split_once('\n').unwrap();
            Section {
                name: name.to_owned(),
                body: body.to_owned(),
            }
        })
        .collect()
}

impl Section {
    /// The fenced blocks of a language.
    fn blocks(&self, language: &str) -> Vec<&str> {
        let fence = format!("```{language}\n");
        let starts = self.body.split(fence.as_str()).skip(1);
        starts
            .map(|rest| rest.split("```").next().unwrap())
            .collect()
    }

    /// The files of the example, by the name in each first line.
    fn files(&self) -> Vec<(&str, &str)> {
        let named = |text| {
            let first = str::lines(text).next().unwrap();
            (first.strip_prefix("# ").expect(first), text)
        };
        self.blocks("yaml").into_iter().map(named).collect()
    }

    /// The example as a folder.
    fn scenario(&self) -> Scenario {
        let scenario = Scenario::new().file("prompts/long.md", &"Be brief. ".repeat(10_000));
        for (name, text) in self.files() {
            scenario.write(name, text);
        }
        scenario
    }
}

fn validate(scenario: &Scenario) -> Vec<Value> {
    let done = scenario.run(&["validate", "--from", "2026-12-01", "--format", "json"]);
    let verdict = done.json();
    conforms(&verdict);
    verdict["findings"].as_array().unwrap().clone()
}

fn of<'a>(findings: &'a [Value], rule: &str) -> Vec<&'a Value> {
    let of = |finding: &&Value| finding["rule"] == rule;
    findings.iter().filter(of).collect()
}

#[test]
fn every_rule_has_one_section_in_its_order_and_unreadable_comes_last() {
    let names: Vec<String> = sections().into_iter().map(|section| section.name).collect();
    let mut rules: Vec<&str> = Rule::ALL.iter().map(|rule| rule.as_str()).collect();
    rules.push("unreadable");
    assert_eq!(names, rules);
}

#[test]
fn every_section_has_its_parts_in_order_and_fits_a_terminal() {
    for section in sections() {
        let name = &section.name;
        let lines: Vec<&str> = section.body.trim().lines().collect();
        assert!(lines[0].ends_with('.') && lines[1].is_empty(), "{name}");
        let places: Vec<usize> = PARTS
            .iter()
            .map(|part| {
                assert_eq!(section.body.matches(part).count(), 1, "{name}: {part}");
                section.body.find(part).unwrap()
            })
            .collect();
        assert!(places.is_sorted(), "{name}: {places:?}");
        assert!(!section.files().is_empty(), "{name}");
        assert_eq!(section.blocks("text").len(), 1, "{name}");
        for line in lines.iter().filter(|line| line.chars().count() > 80) {
            assert!(section.blocks("text")[0].contains(line), "{name}: {line}");
        }
    }
}

#[test]
fn severity_and_ways_out_are_those_of_the_rule() {
    for section in sections() {
        let rule = Rule::named(&section.name);
        let severity = rule.map_or(Severity::Error, Rule::severity).as_str();
        let settable = rule.is_some_and(Rule::is_settable);
        let acceptable = rule.is_some_and(Rule::is_acceptable);
        let may = match (settable, acceptable) {
            (true, true) => "settable, acceptable",
            (true, false) => "settable, never accepted",
            (false, _) => "always",
        };
        let line = format!("**Severity:** {severity}, {may}.\n");
        assert!(section.body.contains(&line), "{}: {line}", section.name);
        let out = section.body.split("**Accept:** ").nth(1).unwrap();
        let off = format!("{{ {}: off }}", section.name);
        assert_eq!(out.contains(&off), settable, "{}: {out}", section.name);
        let accept = format!("`accept: {{ {}: \"", section.name);
        assert_eq!(out.contains(&accept), acceptable, "{}: {out}", section.name);
    }
}

#[test]
fn every_example_fails_with_its_rule_and_the_message_shown() {
    let mut wrong = Vec::new();
    for section in sections() {
        let findings = validate(&section.scenario());
        let messages: Vec<&str> = of(&findings, &section.name)
            .into_iter()
            .map(|finding| finding["message"].as_str().unwrap())
            .collect();
        let said = section.blocks("text")[0].trim_end();
        if !messages.contains(&said) {
            wrong.push(format!("{}: {said}\n  {findings:#?}", section.name));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_settable_rule_can_be_switched_off_and_no_other() {
    for section in sections() {
        let name = &section.name;
        let scenario = section.scenario();
        let settings = format!("rules: {{ severity: {{ {name}: off }} }}\n");
        let own = section.files();
        let own = own.iter().find(|(file, _)| *file == "offpeak.yaml");
        scenario.write(
            "offpeak.yaml",
            own.map_or("", |(_, text)| text).to_owned() + &settings,
        );
        let findings = validate(&scenario);
        let settable = Rule::named(name).is_some_and(Rule::is_settable);
        assert_eq!(
            of(&findings, name).is_empty(),
            settable,
            "{name}: {findings:?}"
        );
        let refused = of(&findings, "bad-field")
            .iter()
            .any(|finding| finding["file"] == "offpeak.yaml");
        assert_eq!(refused, !settable, "{name}: {findings:?}");
    }
}

#[test]
fn an_acceptable_finding_can_be_accepted_and_is_still_listed() {
    let acceptable =
        |section: &Section| Rule::named(&section.name).is_some_and(Rule::is_acceptable);
    for section in sections().into_iter().filter(acceptable) {
        let name = &section.name;
        let scenario = section.scenario();
        for (file, text) in section.files() {
            if file.starts_with("jobs/") {
                scenario.write(file, format!("{text}accept: {{ {name}: a reason }}\n"));
            }
        }
        let findings = validate(&scenario);
        let of = of(&findings, name);
        assert!(!of.is_empty(), "{name}: {findings:?}");
        assert!(
            of.iter().all(|finding| finding["accepted"] == "a reason"),
            "{name}: {of:?}"
        );
    }
}

fn explain(args: &[&str]) -> Done {
    let args = [&["validate", "--explain"], args].concat();
    Scenario::new().run(&args)
}

#[test]
fn explain_prints_the_section_as_plain_text() {
    for section in sections() {
        let done = explain(&[&section.name]).exits(0);
        assert!(done.stdout.starts_with(&format!("{}\n\n", section.name)));
        assert!(!done.stdout.contains("**") && !done.stdout.contains("```"));
        for (file, _) in section.files() {
            assert!(done.stdout.contains(&format!("    # {file}\n")), "{file}");
        }
    }
    explain(&["key-gap"])
        .exits(0)
        .says("\nSeverity: error, settable, acceptable.\n")
        .says("\n    cron: \"5 5 * * *\"\n")
        .says("\nMend: take the suggested time");
}

#[test]
fn explain_without_a_rule_lists_every_rule() {
    let done = explain(&[]).exits(0);
    let lines: Vec<&str> = done.stdout.lines().collect();
    assert_eq!(lines.len(), Rule::ALL.len() + 1);
    for (line, rule) in lines.iter().zip(Rule::ALL) {
        let words: Vec<&str> = line.split_whitespace().collect();
        assert_eq!(words[..2], [rule.severity().as_str(), rule.as_str()]);
        assert!(words.len() > 3, "{line}");
    }
}

#[test]
fn explain_as_json_says_what_may_be_done() {
    let rule = explain(&["same-secret", "--format", "json"])
        .exits(0)
        .json();
    assert_eq!(rule["rule"], "same-secret");
    assert_eq!(rule["severity"], "warning");
    assert_eq!(rule["settable"], true);
    assert_eq!(rule["acceptable"], false);
    assert!(rule["text"].as_str().unwrap().contains("Mend: "));
    let all = explain(&["--format", "json"]).exits(0).json();
    assert_eq!(all["version"], 1);
    assert_eq!(all["rules"].as_array().unwrap().len(), Rule::ALL.len() + 1);
    assert_eq!(all["rules"][0]["rule"], "key-gap");
    assert_eq!(
        all["rules"][0]["summary"],
        "Two firings of one group are closer than `min_gap`."
    );
}

#[test]
fn an_unknown_rule_is_refused_with_the_nearest_name() {
    explain(&["kay-gap"])
        .exits(2)
        .complains("there is no rule `kay-gap`")
        .complains("did you mean `key-gap`?");
    explain(&["zzz"])
        .exits(2)
        .complains("the rules are: key-gap, peak-window");
}

#[test]
fn explain_looks_at_no_files_and_takes_no_format_of_findings() {
    Scenario::new()
        .run(&["-C", "nowhere", "validate", "--explain", "key-gap"])
        .exits(0);
    for format in ["github", "sarif"] {
        explain(&["key-gap", "--format", format])
            .exits(2)
            .complains(&format!(
                "`--format {format}` is for findings, not for `--explain`"
            ));
    }
    explain(&["key-gap", "--strict"])
        .exits(2)
        .complains("cannot be used with");
}
