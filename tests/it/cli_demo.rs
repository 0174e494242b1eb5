//! The README's first command.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::scenario::Scenario;

#[test]
fn a_night_of_faults_ends_with_every_slot_done() {
    let scenario = Scenario::new();
    let scenario = scenario.env("TMPDIR", "tmp");
    std::fs::create_dir(scenario.path().join("tmp")).unwrap();
    let done = scenario
        .run(&["demo", "--seed", "1", "--format", "json"])
        .exits(0);
    let runs: Vec<Value> = done
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    // A virtual minute is a real second, so that a busy machine may turn one gate's refusal into another's. What the
    // night comes to does not depend on that.
    let text = |run: &'_ Value, member: &str| run[member].as_str().unwrap_or_default().to_owned();
    let mut slots: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for run in &runs {
        assert!(run["attempts"].as_array().unwrap().len() <= 3, "{run}");
        let outcomes = slots.entry(text(run, "job")).or_default();
        let origin = if outcomes.is_empty() {
            "scheduled"
        } else {
            "deferred"
        };
        assert_eq!(text(run, "origin"), origin, "{run}");
        outcomes.push(text(run, "outcome"));
    }
    assert_eq!(slots.len(), 4, "{slots:?}");
    for outcomes in slots.values() {
        let (last, before) = outcomes.split_last().unwrap();
        assert_eq!(last, "succeeded", "{slots:?}");
        assert!(
            before.iter().all(|outcome| outcome == "yielded"),
            "{slots:?}"
        );
    }
    let yields = slots
        .values()
        .map(|outcomes| outcomes.len() - 1)
        .sum::<usize>();
    assert!(yields >= 2, "the faults make the night yield: {slots:?}");
    let outputs = scenario.files("tmp");
    let written = outputs.iter().filter(|path| path.contains("/out/")).count();
    assert_eq!(written, 4, "{outputs:?}");
}
