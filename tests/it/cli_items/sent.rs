//! Items and steps that are sent: what is written, what the history holds, how a run of many calls ends.

use serde_json::{Value, json};

use super::HEAD;
use crate::cli_run::mock;
use crate::scenario::{Running, Scenario};

const HEALTHY: &str = "latency: { median: 1ms }\n";

/// A job `a` of these fields, and a stand-in that goes by these rules.
fn sending(fields: &str, rules: &str) -> (Scenario, Running) {
    let scenario = Scenario::new()
        .file("jobs/a.yaml", &format!("{HEAD}{fields}"))
        .env("ANTHROPIC_API_KEY", "test-key-1234");
    let (running, url) = mock(&scenario, &format!("{HEALTHY}{rules}"));
    let settings = format!(
        "upstream: {{ base_url: \"{url}\" }}\nretry: {{ base_delay: 1ms, max_delay: 20ms }}\n"
    );
    scenario.write("offpeak.yaml", settings);
    (scenario, running)
}

/// The one run of the history.
fn only_run(scenario: &Scenario) -> Value {
    let history = scenario.run(&["history", "--format", "json"]).exits(0);
    let mut lines = history.stdout.lines();
    let run = serde_json::from_str(lines.next().unwrap()).unwrap();
    assert_eq!(lines.next(), None);
    run
}

/// One member of every attempt, in their order.
fn of_attempts(run: &Value, member: &str) -> Value {
    let attempts = run["attempts"].as_array().unwrap().iter();
    attempts.map(|attempt| attempt[member].clone()).collect()
}

const EACH_FILE: &str = "for_each: { files: \"../docs/*.txt\" }\n\
    prompt: { text: \"Shorten: {{ item.text }}\" }\n\
    output: { file: \"out/{{ item.stem }}.md\", front_matter: true }\n";

fn three_files(scenario: &Scenario) {
    for (name, text) in [("a", "apple"), ("b", "banana"), ("c", "cherry")] {
        scenario.write(&format!("docs/{name}.txt"), text);
    }
}

#[test]
fn each_file_has_its_own_output() {
    let (scenario, _mock) = sending(EACH_FILE, "");
    three_files(&scenario);
    scenario.run(&["run", "a"]).exits(0).says("a: succeeded");
    assert_eq!(scenario.files("out"), ["out/a.md", "out/b.md", "out/c.md"]);
    let written = scenario.read("out/b.md");
    assert!(written.contains("\nitem: \"b.txt\"\n"), "{written}");
    assert!(written.contains("# Shorten: banana\n"), "{written}");
    let run = only_run(&scenario);
    assert_eq!(run["outcome"], "succeeded");
    assert_eq!(
        of_attempts(&run, "item"),
        json!(["a.txt", "b.txt", "c.txt"])
    );
}

#[test]
fn file_whose_call_fails_does_not_keep_the_others_from_their_answers() {
    let refused = "rules: [{ when: { contains: banana }, then: { error: { status: 400 } } }]\n";
    let (scenario, _mock) = sending(EACH_FILE, refused);
    three_files(&scenario);
    scenario.run(&["run", "a"]).exits(1).says("b.txt");
    assert_eq!(scenario.files("out"), ["out/a.md", "out/c.md"]);
    let run = only_run(&scenario);
    assert_eq!(run["outcome"], "failed");
    assert_eq!(of_attempts(&run, "status"), json!([200, 400, 200]));
    let told = scenario.run(&["history", "a", "--items"]).exits(0);
    told.says("\na.txt  succeeded\nb.txt  failed: fatal  status 400");
    let told = scenario.run(&["history", "a", "--items", "--format", "json"]);
    let items = told.exits(0).json()["items"].clone();
    let words: Vec<&str> = items
        .as_array()
        .unwrap()
        .iter()
        .map(|item| item["outcome"].as_str().unwrap())
        .collect();
    assert_eq!(words, ["succeeded", "failed", "succeeded"]);
}

#[test]
fn file_whose_output_cannot_be_written_costs_nothing_and_holds_up_no_other() {
    let (scenario, _mock) = sending(EACH_FILE, "");
    three_files(&scenario);
    scenario.write("out/b.md/in-the-way", "x");
    scenario
        .run(&["run", "a"])
        .exits(1)
        .says("nothing was sent: the answer could not be put at ");
    let outputs = scenario.files("out");
    assert_eq!(outputs, ["out/a.md", "out/b.md/in-the-way", "out/c.md"]);
    let run = only_run(&scenario);
    assert_eq!(of_attempts(&run, "item"), json!(["a.txt", "c.txt"]));
}

#[test]
fn second_step_is_asked_with_the_answer_of_the_first() {
    let steps = "steps:\n\
        \x20 - { id: outline, prompt: { text: Outline the year of bees. } }\n\
        \x20 - { id: story, prompt: { text: \"Write it from {{ outline }}\" } }\n\
        output: { file: out/story.md }\n";
    let rules = "rules:\n\
        \x20 - { when: { contains: Outline the year }, then: { answer: { text: SPRING-7 } } }\n\
        \x20 - { when: { contains: Write it from SPRING-7 }, then: { answer: { text: The story. } } }\n\
        \x20 - { then: { error: { status: 400 } } }\n";
    let (scenario, _mock) = sending(steps, rules);
    scenario.run(&["run", "a"]).exits(0).says("a: succeeded");
    assert_eq!(scenario.read("out/story.md"), "The story.");
    let run = only_run(&scenario);
    assert_eq!(of_attempts(&run, "step"), json!([null, 2]));
    assert_eq!(of_attempts(&run, "item"), json!([null, null]));
}

#[test]
fn records_may_share_a_file_to_which_their_answers_are_appended() {
    let fields = "for_each: { records: { file: ../people.json } }\n\
        steps:\n\
        \x20 - { id: draft, prompt: { text: \"Greet {{ item.fields.name }}.\" } }\n\
        \x20 - { id: final, prompt: { text: \"Polish {{ draft }} for {{ item.name }}.\" } }\n\
        output: { append: log.md }\n";
    let rules = "rules:\n\
        \x20 - { when: { contains: Greet Ada. }, then: { answer: { text: HELLO-A } } }\n\
        \x20 - { when: { contains: Greet Bo. }, then: { answer: { text: HELLO-B } } }\n\
        \x20 - { when: { contains: Polish HELLO-A for record 1. }, then: { answer: { text: Dear Ada } } }\n\
        \x20 - { when: { contains: Polish HELLO-B for record 2. }, then: { answer: { text: Dear Bo } } }\n";
    let (scenario, _mock) = sending(fields, rules);
    scenario.write("people.json", r#"[{ "name": "Ada" }, { "name": "Bo" }]"#);
    scenario.run(&["run", "a"]).exits(0).says("a: succeeded");
    assert_eq!(scenario.read("log.md"), "Dear Ada\n\nDear Bo\n");
    let run = only_run(&scenario);
    let records = json!(["record 1", "record 1", "record 2", "record 2"]);
    assert_eq!(of_attempts(&run, "item"), records);
    assert_eq!(of_attempts(&run, "step"), json!([null, 2, null, 2]));
}
