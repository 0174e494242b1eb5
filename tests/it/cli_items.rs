//! Items and steps on the command line: what a dry run shows of them, and what the linter reckons with.

mod sent;

use serde_json::json;

use crate::readme::blocks;
use crate::scenario::{Done, Scenario, repository};

const HEAD: &str = "cron: \"0 5 * * *\"\ntimezone: Asia/Tokyo\n";

fn asking(fields: &str) -> Scenario {
    Scenario::new().file("jobs/a.yaml", &format!("{HEAD}{fields}"))
}

/// A job for each Markdown file below `docs`.
fn translating(fields: &str) -> Scenario {
    let job = format!(
        "prompt: {{ text: \"{{{{ item.name }}}}: {{{{ item.text }}}}\" }}\n\
         output: {{ file: \"out/{{{{ item.name }}}}\" }}\n{fields}"
    );
    asking(&job)
        .file("docs/b.md", "B")
        .file("docs/a/x.md", "X")
        .file("docs/.hidden.md", "H")
}

const FILES: &str = "for_each: { files: \"../docs/**/*.md\" }\n";

fn dry(scenario: &Scenario, more: &[&str]) -> Done {
    let args = ["dry-run", "a", "--at", "2026-12-01T20:00:00Z"];
    scenario.run(&[&args[..], more].concat())
}

#[test]
fn a_dry_run_shows_the_first_item_or_the_one_that_is_named() {
    let scenario = translating(FILES);
    dry(&scenario, &[])
        .exits(0)
        .says("items     2 items, `a/x.md` shown\n")
        .says("output    out/a/x.md\n")
        .says("of this call alone; a slot makes up to 2\n")
        .says("--- prompt\na/x.md: X\n");
    dry(&scenario, &["--item", "b.md"])
        .exits(0)
        .says("items     2 items, `b.md` shown\n")
        .says("--- prompt\nb.md: B\n");
    let done = dry(&scenario, &["--item", "c.md"]).exits(2);
    assert!(
        done.stderr.contains("there is no item `c.md`"),
        "{}",
        done.stderr
    );
    assert!(
        done.stderr.contains("did you mean `b.md`?"),
        "{}",
        done.stderr
    );
    let sketch = dry(&scenario, &["--format", "json"]).exits(0).json();
    assert_eq!(sketch["items"], json!({ "count": 2, "shown": "a/x.md" }));
    assert_eq!(sketch["estimate"]["max_calls"], 2);
    assert_eq!(sketch["steps"], json!(null));
}

#[test]
fn a_dry_run_says_which_items_a_slot_takes() {
    let changed =
        "for_each: { files: \"../docs/**/*.md\", changed_since: last_success, limit: 1 }\n";
    let done = dry(&translating(changed), &[]).exits(0).says(
        "items     2 items, `a/x.md` shown; those that changed since the last success are taken, at most 1 in a slot\n",
    );
    assert!(
        !done.stdout.contains("of this call alone"),
        "{}",
        done.stdout
    );
}

#[test]
fn a_dry_run_without_an_item_says_what_becomes_of_the_slot() {
    let none = "for_each: { files: \"../docs/*.txt\" }\n";
    dry(&translating(none), &[])
        .exits(0)
        .says("items     none\n")
        .says("there is no item: the slot would be skipped\n");
    let sketch = dry(&translating(none), &["--format", "json"]).json();
    assert_eq!(sketch["items"], json!({ "count": 0 }));
    assert_eq!(sketch["skipped"], "empty_input");
    let fail = translating(&format!("{none}on_empty_input: fail\n"));
    dry(&fail, &[])
        .exits(1)
        .says("the run would fail (empty_input): there is no item, and the job says `on_empty_input: fail`");
    dry(&fail, &["--item", "a"]).exits(2);
}

#[test]
fn a_dry_run_tells_of_items_that_cannot_be_listed() {
    let records = asking("prompt: { text: x }\nfor_each: { records: { file: list } }\n")
        .file("jobs/list", "1\n{\n");
    dry(&records, &[])
        .exits(1)
        .says("the run would fail (input): ")
        .says("/jobs/list:2:1: EOF while parsing an object; write one JSON value a line, or one list of them");
}

#[test]
fn a_dry_run_lists_from_a_command_only_when_told_to() {
    let lines = asking(
        "prompt: { text: \"{{ item.text }}\" }\nfor_each: { lines: { command: [echo, hello] } }\n",
    );
    let done = dry(&lines, &[])
        .exits(0)
        .says("items     from a command that was not run; see them with --run-commands\n");
    assert!(!done.stdout.contains("hello"), "{}", done.stdout);
    let sketch = dry(&lines, &["--format", "json"]).exits(0).json();
    assert_eq!(sketch["items"], json!({}));
    dry(&lines, &["--run-commands"])
        .exits(0)
        .says("items     1 item, `line 1` shown\n")
        .says("--- prompt\nhello\n");
    let fetched = asking(
        "prompt: { text: \"{{ item.text }}\" }\nfor_each: { lines: { url: \"http://127.0.0.1:9/list\" } }\n\
         output: { append: log.md }\n",
    );
    dry(&fetched, &[])
        .exits(0)
        .says("output    none: there is no item to write of\n")
        .says("items     from an address that was not fetched; see them with --run-commands\n");
    dry(&fetched, &["--run-commands"])
        .exits(1)
        .says("the run would fail (input): cannot fetch http://127.0.0.1:9/list: ");
}

#[test]
fn an_item_is_named_only_for_a_job_that_has_some() {
    let done = dry(&asking("prompt: { text: x }\n"), &["--item", "a"]).exits(2);
    assert!(
        done.stderr.contains("job `a` has no items"),
        "{}",
        done.stderr
    );
    assert!(done.stderr.contains("leave out --item"), "{}", done.stderr);
}

const CHAIN: &str = "steps:\n  - { id: outline, prompt: { text: Make an outline. } }\n  \
    - { id: draft, prompt: { text: \"Write from {{ outline }}\" }, model: claude-haiku-4-5, max_tokens: 1000, system: { text: Be brief. } }\n";

#[test]
fn a_dry_run_shows_every_step_of_a_chain() {
    let scenario = asking(CHAIN);
    dry(&scenario, &[])
        .exits(0)
        .says("steps     outline, draft\n")
        .says("of this call alone; a slot makes up to 2\n")
        .says("--- prompt\nMake an outline.\n")
        .says("--- step draft, claude-haiku-4-5: system\nBe brief.\n")
        .says("--- step draft, claude-haiku-4-5: prompt\nWrite from [answer of outline]\n");
    let sketch = dry(&scenario, &["--format", "json"]).exits(0).json();
    assert_eq!(sketch["items"], json!(null));
    assert_eq!(sketch["steps"][0], json!({ "id": "outline" }));
    assert_eq!(sketch["steps"][1]["id"], "draft");
    assert_eq!(sketch["steps"][1]["request"]["model"], "claude-haiku-4-5");
}

/// What `validate` finds, as `line: rule: message; help`.
fn findings(scenario: &Scenario) -> Vec<String> {
    let args = ["validate", "--from", "2026-12-01", "--format", "json"];
    let verdict = scenario.run(&args).json();
    let findings = verdict["findings"].as_array().unwrap().iter();
    let told = findings.map(|one| {
        let [rule, message, help] =
            ["rule", "message", "help"].map(|name| one[name].as_str().unwrap_or_default());
        format!("{}: {rule}: {message}; {help}", one["line"])
    });
    told.collect()
}

#[test]
fn what_the_api_would_refuse_of_a_later_step_is_told_at_that_step() {
    let scenario = asking(
        "steps:\n  - { id: outline, prompt: { text: x } }\n  - id: draft\n    prompt: { text: x }\n    model: claude-haiku-4-5\n    max_tokens: 900000\n",
    );
    let found = findings(&scenario);
    let expected = "8: bad-request: the step `draft` of `a` asks for up to 900000 tokens, and `claude-haiku-4-5` gives 64000 at most: the API answers 400; write `max_tokens: 64000` or less";
    assert!(found.contains(&expected.to_owned()), "{found:?}");
}

#[test]
fn a_misspelt_model_of_a_later_step_is_told_of() {
    let scenario = asking(
        "steps:\n  - { id: outline, prompt: { text: x } }\n  - { id: draft, prompt: { text: x }, model: claude-hiaku-4-5 }\n",
    );
    let found = findings(&scenario);
    let told = found.iter().filter(|line| line.contains("unknown-model"));
    let told: Vec<_> = told.collect();
    assert_eq!(told.len(), 1, "{found:?}");
    assert!(
        told[0].contains("the model `claude-hiaku-4-5` of `a`"),
        "{found:?}"
    );
}

#[test]
fn the_worst_case_counts_steps_and_as_many_items_as_are_known() {
    // At 05:00 there are two hours before the window.
    let overruns = |fields: &str| {
        let text =
            format!("prompt: {{ text: x }}\ntimeout: 10m\nretry: {{ max_attempts: 1 }}\n{fields}");
        let scenario = asking(&text);
        let found = findings(&scenario);
        found
            .into_iter()
            .filter(|line| line.contains("overrun"))
            .collect::<Vec<_>>()
    };
    let items = |limit: u32, more: &str| {
        format!(
            "for_each: {{ lines: {{ file: a.yaml }}, changed_since: last_success, limit: {limit} }}\n{more}"
        )
    };
    assert_eq!(overruns(&items(12, "")).len(), 0);
    let told = overruns(&items(13, ""));
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].contains("`for_each.limit` to 12"), "{told:?}");
    assert_eq!(overruns(&items(24, "concurrency: 2\n")).len(), 0);
    assert_eq!(overruns(&items(25, "concurrency: 2\n")).len(), 1);
    assert_eq!(overruns("for_each: { lines: { file: a.yaml } }\n").len(), 0);
    let chain = format!("timeout: 61m\nretry: {{ max_attempts: 1 }}\n{CHAIN}");
    let found = findings(&asking(&chain));
    let told: Vec<_> = found
        .iter()
        .filter(|line| line.contains("overrun"))
        .collect();
    assert_eq!(told.len(), 1, "{found:?}");
    assert!(!told[0].contains("for_each"), "{told:?}");
}

#[test]
fn the_examples_of_the_page_are_right() {
    let page = std::fs::read_to_string(repository().join("docs/items-and-steps.md")).unwrap();
    let examples = blocks(&page, "yaml");
    assert!(examples.len() > 3, "{}", examples.len());
    for example in examples {
        let scenario = Scenario::new()
            .file("jobs/a.yaml", &example)
            .file("docs/en/a.md", "x")
            .file("jobs/prompts/translate.md", "{{ item.text }}")
            .file("jobs/prompts/outline.md", "Make an outline.")
            .file("jobs/people.jsonl", "{\"id\": 7, \"name\": \"Ada\"}\n")
            .file("jobs/topics.txt", "bees\n");
        dry(&scenario, &[]).exits(0);
    }
}
