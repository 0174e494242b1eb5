//! The README's first command: the same seed gives the same night.

use serde_json::Value;

use crate::scenario::Scenario;

#[test]
fn a_night_ends_as_the_readme_shows() {
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
    let told: Vec<(&str, &str, String, usize)> = runs
        .iter()
        .map(|run| {
            let text = |member: &str| run[member].as_str().unwrap_or_default();
            let outcome = [text("outcome"), text("reason")].join(" ");
            (
                text("job"),
                text("origin"),
                outcome.trim().to_owned(),
                run["attempts"].as_array().unwrap().len(),
            )
        })
        .collect();
    let told: Vec<(&str, &str, &str, usize)> = told
        .iter()
        .map(|row| (row.0, row.1, row.2.as_str(), row.3))
        .collect();
    assert_eq!(
        told,
        [
            ("daily-digest", "scheduled", "yielded breaker", 2),
            ("changelog-watch", "scheduled", "succeeded", 2),
            ("daily-digest", "deferred", "yielded budget", 0),
            ("note-gardener", "scheduled", "succeeded", 1),
            ("daily-digest", "deferred", "succeeded", 1),
            ("week-ahead", "scheduled", "yielded hint", 1),
            ("week-ahead", "deferred", "succeeded", 2),
        ]
    );
    let outputs = scenario.files("tmp");
    let written = outputs.iter().filter(|path| path.contains("/out/")).count();
    assert_eq!(written, 4, "{outputs:?}");
}
