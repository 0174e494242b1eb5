//! What a job may ask of the API: from its file to the body, the linter and the answer.

use crate::cli_run::mock;
use crate::readme::blocks;
use crate::scenario::{Done, Running, Scenario, repository};

const HEAD: &str = "cron: \"0 5 * * *\"\ntimezone: Asia/Tokyo\nprompt: { text: hello }\n";

/// A folder with one job `a` that says this too.
fn asking(fields: &str) -> Scenario {
    Scenario::new().file("jobs/a.yaml", &format!("{HEAD}{fields}"))
}

fn dry(scenario: &Scenario) -> Done {
    scenario.run(&["dry-run", "a", "--at", "2026-12-01T20:00:00Z"])
}

/// The body that a dry run shows.
fn body(scenario: &Scenario) -> serde_json::Value {
    let args = ["dry-run", "a", "--at", "2026-12-01", "--format", "json"];
    scenario.run(&args).exits(0).json()["request"].clone()
}

/// The messages of `validate`, with their rule and line.
fn findings(scenario: &Scenario) -> Vec<String> {
    let args = ["validate", "--from", "2026-12-01", "--format", "json"];
    let verdict = scenario.run(&args).json();
    let findings = verdict["findings"].as_array().unwrap().iter();
    let told = findings.map(|one| {
        let [rule, message, help] = ["rule", "message", "help"].map(|name| one[name].as_str());
        let help = help.unwrap_or_default();
        format!(
            "{}: {}: {}; {help}",
            one["line"],
            rule.unwrap(),
            message.unwrap()
        )
    });
    told.collect()
}

#[test]
fn system_blocks_go_out_in_order_each_with_its_own_breakpoint() {
    let scenario = asking(
        "system:\n  - { file: ../prompts/style.md, cache: 1h }\n  - { text: \"for {{ job }}\", cache: 5m }\n  - { text: and all }\n",
    )
    .file("prompts/style.md", &"Be brief. ".repeat(700));
    let system = body(&scenario)["system"].clone();
    let told: Vec<_> = system
        .as_array()
        .unwrap()
        .iter()
        .map(|block| {
            (
                block["text"].as_str().unwrap().len(),
                &block["cache_control"]["ttl"],
            )
        })
        .collect();
    assert_eq!(
        told,
        [
            (7_000, &"1h".into()),
            (5, &"5m".into()),
            (7, &serde_json::Value::Null)
        ]
    );
    dry(&scenario)
        .exits(0)
        .says("--- system, block 1 of 3, cached for 1h\nBe brief. Be brief.")
        .says("--- system, block 2 of 3, cached for 5m\nfor a\n")
        .says("--- system, block 3 of 3\nand all\n")
        .says("cache     the system prompt up to block 1 of about 2000 tokens is cached\n")
        .says("cache     the system prompt up to block 2 of about 2002 tokens is cached\n");
}

/// Every breakpoint is a write of its own length: 2,000 tokens for an hour and 2,000 for five minutes.
#[test]
fn the_price_of_a_dry_run_knows_every_breakpoint() {
    let scenario = asking(
        "max_tokens: 1\nsystem:\n  - { file: ../prompts/style.md, cache: 1h }\n  - { file: ../prompts/style.md, cache: 5m }\n",
    )
    .file("prompts/style.md", &"Be brief. ".repeat(700));
    let args = ["dry-run", "a", "--at", "2026-12-01", "--format", "json"];
    let estimate = scenario.run(&args).exits(0).json()["estimate"].clone();
    assert_eq!(estimate["input_tokens"], 4_002);
    // 2,000 at $4, 2,000 at $2.50, two at $2 and one out at $10, a million each.
    let cost = estimate["cost_usd"].as_f64().unwrap();
    assert!((cost - 0.013_014).abs() < 1e-9, "{cost}");
}

#[test]
fn mistakes_in_one_system_block_are_told_with_its_line() {
    let told = findings(&asking(
        "system:\n  - { text: one, cache: 2h }\n  - { file: none.md }\n  - two\n  - {}\n",
    ));
    assert_eq!(told.len(), 4, "{told:#?}");
    for (line, part) in [
        (5, "2h"),
        (6, "none.md cannot be read"),
        (7, "`system`: expected"),
        (8, "neither"),
    ] {
        let found = told
            .iter()
            .any(|one| one.starts_with(&format!("{line}: ")) && one.contains(part));
        assert!(found, "{line} {part}: {told:#?}");
    }
    let none = findings(&asking("system: []\n"));
    assert!(
        none[0].contains("`system`: expected a block such as"),
        "{none:?}"
    );
}

#[test]
fn a_schema_in_a_file_of_its_own_is_sent_and_its_mistakes_are_told() {
    let scenario = asking("answer_schema: { file: ../schemas/digest.json }\n").file(
        "schemas/digest.json",
        r#"{ "type": "object", "required": ["title"] }"#,
    );
    let expected = serde_json::json!({ "format": {
        "type": "json_schema", "schema": { "type": "object", "required": ["title"] }
    } });
    assert_eq!(body(&scenario)["output_config"], expected);
    for (text, part) in [
        ("[]", "schemas/digest.json holds no JSON object"),
        ("{", "schemas/digest.json holds no JSON: EOF"),
    ] {
        scenario.write("schemas/digest.json", text);
        let told = findings(&scenario);
        assert!(told[0].contains(part), "{told:?}");
    }
    let both = asking("answer_schema: { file: ../schemas/digest.json, type: object }\n")
        .file("schemas/digest.json", "{}");
    let told = findings(&both);
    assert!(
        told[0].contains("unknown field `type`; known here: `file`"),
        "{told:?}"
    );
}

/// A folder whose job asks the stand-in, which answers with this text.
fn answered(fields: &str, text: &str) -> (Scenario, Running) {
    let output = "output: { file: out/a.json }\n";
    let scenario = asking(&format!("{fields}{output}")).env("ANTHROPIC_API_KEY", "test-key-1234");
    let script = format!(
        "latency: {{ median: 1ms }}\nrules: [{{ then: {{ answer: {{ text: {} }} }} }}]\n",
        serde_json::Value::from(text)
    );
    let (running, url) = mock(&scenario, &script);
    scenario.write(
        "offpeak.yaml",
        format!("upstream: {{ base_url: \"{url}\" }}\n"),
    );
    (scenario, running)
}

const TITLED: &str =
    "answer_schema: { type: object, required: [title], properties: { title: { type: string } } }\n";

#[test]
fn an_answer_that_matches_its_schema_is_delivered() {
    let (scenario, _mock) = answered(TITLED, r#"{"title": "night"}"#);
    scenario.run(&["run", "a"]).exits(0);
    assert_eq!(scenario.read("out/a.json"), r#"{"title": "night"}"#);
}

#[test]
fn an_answer_that_does_not_match_is_kept_beside_and_the_note_says_what_is_wrong() {
    for (text, part) in [
        (
            r#"{"title": 1}"#,
            "`answer_schema`: `/title` is a number, expected `string`",
        ),
        (
            "Here you are:",
            "`answer_schema`: the answer is no JSON: expected value",
        ),
    ] {
        let (scenario, _mock) = answered(TITLED, text);
        scenario.write("out/a.json", "good");
        scenario.run(&["run", "a"]).exits(4).says(part);
        assert_eq!(scenario.read("out/a.json"), "good");
        assert_eq!(scenario.files("out").len(), 2, "kept beside");
        scenario.run(&["history"]).exits(0).says("failed_check");
    }
}

#[test]
fn every_job_of_the_document_passes_and_can_be_sent() {
    let document = std::fs::read_to_string(repository().join("docs/requests.md")).unwrap();
    let jobs = blocks(&document, "yaml");
    assert!(jobs.len() >= 2, "{jobs:?}");
    for text in jobs {
        let scenario = Scenario::new().file("jobs/a.yaml", &text);
        let done = scenario.run(&["validate", "--from", "2026-12-01"]);
        done.exits(0);
        assert!(body(&scenario)["messages"].is_array(), "{text}");
    }
}

/// What `validate` finds for a model and fields: rule `bad-request` alone, as `line: message`.
fn refused(fields: &str) -> Vec<String> {
    let told = findings(&asking(fields)).into_iter();
    let told = told.filter(|one| one.contains(": bad-request: "));
    told.map(|one| one.replace(": bad-request: ", ": "))
        .collect()
}

#[test]
fn what_the_api_would_refuse_is_told_at_its_field() {
    for (fields, line, part) in [
        (
            "model: claude-opus-4-7\nthinking: { budget_tokens: 2000 }\n",
            5,
            "a budget for thinking",
        ),
        (
            "model: claude-opus-4-5\nthinking: adaptive\n",
            5,
            "adaptive thinking",
        ),
        (
            "model: claude-fable-5\nthinking: disabled\n",
            5,
            "which always thinks",
        ),
        (
            "model: claude-opus-4-6\nthinking: { budget_tokens: 1000 }\n",
            5,
            "1024 are the least",
        ),
        (
            "model: claude-opus-4-6\nthinking: { budget_tokens: 4000 }\n",
            5,
            "leaves none for the answer",
        ),
        (
            "model: claude-haiku-4-5-20251001\nmax_tokens: 64001\n",
            5,
            "gives 64000 at most",
        ),
        (
            "model: claude-opus-5\nrequest:\n  stop_sequences: [END]\n  temperature: 0.2\n",
            7,
            "sets `temperature`",
        ),
        (
            "model: claude-mythos-5-1\nrequest: { tool_choice: { type: any } }\n",
            5,
            "forces a tool",
        ),
        (
            "model: claude-sonnet-4-5-20250929\nrequest: { inference_geo: us }\n",
            5,
            "answer in `us`",
        ),
        (
            "system:\n  - { text: a, cache: 5m }\n  - { text: b, cache: 1h }\n",
            4,
            "caches for 5m what stands before",
        ),
        (
            "tools: [{ name: x, cache_control: { type: ephemeral, ttl: 1h } }]\nsystem: [{ text: a, cache: 1h }, { text: b, cache: 1h }, { text: c, cache: 1h }]\nrequest: { cache_control: { type: ephemeral } }\n",
            6,
            "sets 5 cache breakpoints",
        ),
    ] {
        let told = refused(fields);
        assert_eq!(told.len(), 1, "{fields}: {told:?}");
        assert!(
            told[0].starts_with(&format!("{line}: ")),
            "{fields}: {told:?}"
        );
        assert!(
            told[0].contains(part) && told[0].contains("the API answers 400; "),
            "{told:?}"
        );
    }
}

#[test]
fn what_the_api_takes_and_what_nobody_knows_is_not_told() {
    for fields in [
        "model: claude-opus-4-6\nthinking: { budget_tokens: 1024 }\nrequest: { temperature: 0.2 }\n",
        "model: claude-opus-5\nthinking: adaptive\nrequest: { temperature: 1, inference_geo: us }\n",
        "model: claude-sonnet-5\nthinking: disabled\nrequest: { tool_choice: { type: any } }\n",
        "model: claude-opus-4-5\nmax_tokens: 64000\nthinking: { budget_tokens: 60000 }\n",
        "model: my-own-7\nmax_tokens: 1000000\nthinking: disabled\nrequest: { temperature: 0 }\n",
    ] {
        assert_eq!(refused(fields), [""; 0], "{fields}");
    }
    let by_version = asking("model: my-own-7\nrequest: { temperature: 1 }\n")
        .file("offpeak.yaml", "upstream: { version: \"2026-10-21\" }\n");
    let told = findings(&by_version);
    assert!(
        told.iter()
            .any(|one| one.contains("which version 2026-10-21 of the API")),
        "{told:?}"
    );
}

#[test]
fn a_batch_is_shown_as_it_goes_out() {
    let scenario = asking("delivery: batch\n");
    assert_eq!(body(&scenario).get("stream"), None);
    let how = "delivery  as one message batch, at half the price below; answered within a day\n";
    dry(&scenario).exits(0).says(how);
    assert_eq!(body(&asking(""))["stream"], true);
}
