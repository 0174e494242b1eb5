//! What a person asks the API beside the messages: `models`, and `dry-run --count`.

use crate::cli_run::mock;
use crate::scenario::{Done, Running, Scenario};

const HEAD: &str = "timezone: Asia/Tokyo\nprompt: { text: Summarise the night. }\n";

/// A folder with two jobs: `a` asks this, `b` the built-in model; and a stand-in that this script tells what to do.
fn folder(of_a: &str, script: &str) -> (Scenario, Running) {
    let scenario = Scenario::new()
        .file("jobs/a.yaml", &format!("cron: \"0 5 * * *\"\n{HEAD}{of_a}"))
        .file("jobs/b.yaml", &format!("cron: \"0 4 * * *\"\n{HEAD}"))
        .env("ANTHROPIC_API_KEY", "test-key-1234");
    let (running, url) = mock(&scenario, script);
    scenario.write("offpeak.yaml", upstream(&url));
    (scenario, running)
}

fn upstream(url: &str) -> String {
    format!("upstream: {{ base_url: \"{url}\" }}\n")
}

fn json(done: &Done) -> serde_json::Value {
    let value = done.json();
    assert_eq!(value["version"], 1);
    assert_eq!(value["prices_as_of"], "2026-11-01");
    value
}

#[test]
fn every_page_is_read_and_each_model_tells_its_price_and_its_jobs() {
    let (scenario, _mock) = folder("model: claude-haiku-5-5\n", "models: { page: 4 }\n");
    let done = scenario
        .run(&["models"])
        .exits(0)
        .says("key main, group main: 19 models\n")
        .says("by the table of 2026-11-01");
    let row = |id: &str| {
        let mut rows = done.stdout.lines().filter(|line| line.starts_with(id));
        rows.next()
            .unwrap()
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
    };
    assert_eq!(
        row("claude-sonnet-5-5 "),
        "claude-sonnet-5-5 active - 1M 128k 2 / 10 b"
    );
    assert_eq!(
        row("claude-haiku-5-5 "),
        "claude-haiku-5-5 active - 1M 128k 0.1 / 0.5, over 100k 0.5 / 2.5 a"
    );
    assert_eq!(
        row("claude-fable-5-2 "),
        "claude-fable-5-2 active - 1M 128k -"
    );
    assert!(!done.stdout.contains("error"), "{}", done.stdout);

    let told = json(&scenario.run(&["models", "--format", "json"]).exits(0));
    let key = &told["keys"][0];
    assert_eq!(
        (&key["key"], &key["group"]),
        (&"main".into(), &"main".into())
    );
    assert_eq!(key["problems"], serde_json::json!([]));
    let models = key["models"].as_array().unwrap();
    assert_eq!(models.len(), 19);
    let haiku = models
        .iter()
        .find(|model| model["id"] == "claude-haiku-5-5");
    let price = |input: f64, output: f64, write: f64, long: f64, read: f64| serde_json::json!({ "input": input, "output": output, "cache_write_5m": write, "cache_write_1h": long, "cache_read": read });
    let expected = serde_json::json!({
        "id": "claude-haiku-5-5", "display_name": "claude-haiku-5-5", "lifecycle": "active", "jobs": ["a"],
        "max_input_tokens": 1_000_000, "max_tokens": 128_000,
        "price": price(0.1, 0.5, 0.125, 0.2, 0.01),
        "long_prompt": { "over_tokens": 100_000, "price": price(0.5, 2.5, 0.625, 1.0, 0.05) },
    });
    assert_eq!(haiku, Some(&expected));
}

#[test]
fn job_whose_model_is_gone_makes_it_exit_with_1_and_has_a_way_out() {
    for (field, way_out) in [
        ("model: claude-opus-4-5\n", "write `model: claude-opus-5-5`"),
        (
            "fallback_model: claude-opus-4-5\n",
            "write `fallback_model: claude-opus-5-5`",
        ),
    ] {
        let (scenario, _mock) = folder(field, "models: { gone: [claude-opus-4-5] }\n");
        let named = field.trim_end();
        scenario.run(&["models"]).exits(1).says(&format!(
            "error: job `a`: `{named}` is no model that key `main` can use\n{way_out}\n"
        ));
        let told = json(&scenario.run(&["models", "--format", "json"]).exits(1));
        let expected = serde_json::json!([{
            "job": "a", "field": named.split(':').next(), "model": "claude-opus-4-5", "problem": "not_available",
            "help": way_out,
        }]);
        assert_eq!(told["keys"][0]["problems"], expected);
    }
}

#[test]
fn end_of_a_model_is_told_before_it_comes_and_fails_after() {
    let of = |at: &str| {
        let script = format!("models: {{ retires: {{ claude-opus-4-5: \"{at}\" }} }}\n");
        folder("model: claude-opus-4-5\n", &script)
    };
    let (scenario, _mock) = of("2999-01-22T00:00:00Z");
    scenario
        .run(&["models"])
        .exits(0)
        .says("deprecated 2998-11-23  2999-01-22")
        .says(
            "warning: job `a`: `model: claude-opus-4-5` is deprecated, and ends on 2999-01-22\n\
             write `model: claude-opus-5-5`\n",
        );
    let told = json(&scenario.run(&["models", "--format", "json"]).exits(0));
    let problem = &told["keys"][0]["problems"][0];
    assert_eq!(problem["problem"], "deprecated");
    assert_eq!(problem["retires_at"], "2999-01-22T00:00:00Z");

    let (scenario, _mock) = of("2001-01-22T00:00:00Z");
    scenario
        .run(&["models"])
        .exits(1)
        .says("error: job `a`: `model: claude-opus-4-5` has ended on 2001-01-22\n");
}

#[test]
fn disabled_job_is_listed_and_fails_nothing() {
    let (scenario, _mock) = folder(
        "model: claude-opus-4-5\nenabled: false\n",
        "models: { gone: [claude-opus-4-5] }\n",
    );
    scenario.run(&["models"]).exits(0);
}

#[test]
fn each_key_that_jobs_use_has_its_section_and_one_can_be_named() {
    let (scenario, _mock) = folder("key: second\n", "");
    let settings = scenario.read("offpeak.yaml")
        + "keys: { main: { env: A }, second: { env: A, group: main }, idle: { env: NONE } }\n\
           defaults: { key: main }\n";
    scenario.write("offpeak.yaml", settings);
    let scenario = scenario.env("A", "test-key-1234");
    let keys = |args: &[&str]| {
        let args = [&["models", "--format", "json"], args].concat();
        let told = json(&scenario.run(&args).exits(0));
        let keys = told["keys"].as_array().unwrap().iter();
        keys.map(|key| key["key"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(keys(&[]), ["main", "second"]);
    assert_eq!(keys(&["--key", "second"]), ["second"]);
    scenario
        .run(&["models", "--key", "secnd"])
        .exits(2)
        .complains("there is no key `secnd`")
        .complains("did you mean `second`?");
    scenario
        .run(&["models", "--key", "idle"])
        .exits(2)
        .complains("key `idle`");
}

#[test]
fn refusals_of_the_api_are_told_with_a_way_out_and_asked_once() {
    for (fault, expected, way_out) in [
        (
            "{ error: { status: 401 } }",
            "key `main`: the models cannot be listed: status 401 (authentication_error): invalid x-api-key",
            "look at the secret that `keys` names",
        ),
        (
            "{ error: { status: 529 } }",
            "status 529 (overloaded_error)",
            "ask again later",
        ),
        (
            "{ hang_up: {} }",
            "the connection broke before a reply",
            "look at the network",
        ),
        (
            "{ cut: { after: 1 } }",
            "the connection broke inside the reply",
            "look at the network",
        ),
        (
            "{ redirect: { to: \"http://127.0.0.1:9/\" } }",
            "redirected to http://127.0.0.1:9/",
            "nothing was sent there",
        ),
        (
            "{ body: { status: 200, content_type: text/html, text: \"<title>Login</title>\" } }",
            "not the JSON that was asked for: Login",
            "something else than the API",
        ),
    ] {
        let script =
            format!("rules: [{{ when: {{ endpoint: models }}, times: 1, then: {fault} }}]\n");
        let (scenario, _mock) = folder("", &script);
        scenario
            .run(&["models"])
            .exits(1)
            .complains(expected)
            .complains(way_out);
        // The fault comes once: had the first been repeated, it would have been an answer.
        scenario.run(&["models"]).exits(0);
    }
}

#[test]
fn address_where_nobody_listens_is_told() {
    let (scenario, mock) = folder("", "");
    mock.signal("TERM");
    mock.wait();
    for args in [&["models"][..], &["dry-run", "a", "--count"]] {
        scenario
            .run(args)
            .exits(1)
            .complains("cannot connect to 127.0.0.1:")
            .complains("look at the network and at `upstream.base_url`");
    }
}

#[test]
fn count_of_the_api_takes_the_place_of_the_estimate() {
    let (scenario, _mock) = folder(
        "max_tokens: 1000\nrequest: { metadata: { user_id: x } }\n",
        "",
    );
    let dry = |more: &[&str]| scenario.run(&[&["dry-run", "a"], more].concat()).exits(0);
    let counted = dry(&["--count"])
        .says("input     6 input tokens (counted by the API)\nanswer    at most 1000 tokens\n")
        .says("cost      $0.000012000 without an answer, at most $0.0100 by prices as of 2026-11-01\n");
    assert!(
        !counted.stdout.contains("input     about"),
        "{}",
        counted.stdout
    );
    let told = dry(&["--count", "--format", "json"]).json();
    let estimate = &told["estimate"];
    assert_eq!(estimate["counted_by"], "api");
    assert_eq!(
        [
            &estimate["input_tokens"],
            &estimate["input_tokens_high"],
            &estimate["max_output_tokens"]
        ],
        [6, 6, 1_000]
    );
    assert_eq!(estimate["cost_usd_high"], 0.010_012);
    // The body that would be sent is shown as it is; what a count does not take is left out of the question only.
    assert_eq!(told["request"]["max_tokens"], 1_000);
    assert!(dry(&[]).stdout.contains("input     about"));
}

#[test]
fn count_that_is_refused_says_why_and_exits_with_1() {
    for (fault, expected, way_out) in [
        (
            "{ error: { status: 400, message: \"Your credit balance is too low to access the Anthropic API.\" } }",
            "the tokens cannot be counted: status 400 (invalid_request_error): Your credit balance is too low",
            "the account has no credit",
        ),
        (
            "{ error: { status: 429 } }",
            "status 429 (rate_limit_error)",
            "ask again later",
        ),
    ] {
        let script = format!("rules: [{{ when: {{ endpoint: count_tokens }}, then: {fault} }}]\n");
        let (scenario, _mock) = folder("", &script);
        scenario
            .run(&["dry-run", "a", "--count"])
            .exits(1)
            .complains(expected)
            .complains(way_out);
        scenario.run(&["dry-run", "a"]).exits(0);
    }
    let (scenario, _mock) = folder(
        "model: claude-opus-4-5\n",
        "models: { gone: [claude-opus-4-5] }\n",
    );
    scenario
        .run(&["dry-run", "a", "--count"])
        .exits(1)
        .complains("(not_found_error): model: claude-opus-4-5")
        .complains("`offpeak models`");
}

#[test]
fn count_needs_the_key_and_an_estimate_does_not() {
    let scenario = Scenario::new().job("a", "0 5 * * *");
    scenario.run(&["dry-run", "a"]).exits(0);
    scenario
        .run(&["dry-run", "a", "--count"])
        .exits(2)
        .complains("key `main`");
    scenario.run(&["models"]).exits(2).complains("key `main`");
}

#[test]
fn neither_question_writes_a_store_or_spends_a_budget() {
    let (scenario, _mock) = folder("", "");
    scenario.run(&["models"]).exits(0);
    scenario.run(&["dry-run", "a", "--count"]).exits(0);
    assert_eq!(scenario.files(".offpeak"), [""; 0]);
}

/// The findings of `validate` as `line: rule: message; help`.
fn findings(of_a: &str) -> Vec<String> {
    let scenario =
        Scenario::new().file("jobs/a.yaml", &format!("cron: \"0 5 * * *\"\n{HEAD}{of_a}"));
    let args = ["validate", "--from", "2026-12-01", "--format", "json"];
    let verdict = scenario.run(&args).json();
    let findings = verdict["findings"].as_array().unwrap().iter();
    let told = findings.map(|one| {
        let [rule, message, help] =
            ["rule", "message", "help"].map(|name| one[name].as_str().unwrap());
        format!("{}: {rule}: {message}; {help}", one["line"])
    });
    told.collect()
}

#[test]
fn request_is_checked_as_it_goes_to_the_fallback_too() {
    assert_eq!(
        findings("thinking: adaptive\nfallback_model: claude-haiku-4-5\nmax_tokens: 100000\n"),
        [
            "5: bad-request: `a`, when it goes to its fallback, asks for up to 100000 tokens, and `claude-haiku-4-5` gives 64000 at most: the API answers 400; name a `fallback_model` that takes `max_tokens` as the job has it, or take the field away",
            "5: bad-request: `a`, when it goes to its fallback, asks `claude-haiku-4-5` for adaptive thinking, which it does not have: the API answers 400; name a `fallback_model` that takes `thinking` as the job has it, or take the field away",
        ]
    );
    // What is wrong whichever model is asked is told once.
    let told = findings(
        "model: claude-opus-4-6\nfallback_model: claude-sonnet-4-6\nthinking: { budget_tokens: 100 }\n",
    );
    assert_eq!(told.len(), 1, "{told:#?}");
    assert!(
        told[0].contains("`a` gives 100 tokens for thinking"),
        "{told:#?}"
    );
    assert_eq!(findings("fallback_model: claude-haiku-5-5\n"), [""; 0]);
}

#[test]
fn end_and_name_of_a_fallback_are_told_at_its_field_with_the_date_of_the_table() {
    assert_eq!(
        findings("model: claude-haiku-5-5\nfallback_model: claude-sonnet-4-5\n"),
        [
            "5: retired-model: the fallback `claude-sonnet-4-5` of `a` has ended on 2026-11-30; write `fallback_model: claude-sonnet-5-5`; after its end every request is refused with 404 (by the table of models of 2026-11-01; `offpeak models` asks the API)"
        ]
    );
    // The job's own model is the one that follows: as a fallback it would be refused.
    let told = findings("fallback_model: claude-sonnet-4-5\n");
    assert!(
        told[0].contains("; choose a current model; after"),
        "{told:#?}"
    );
    assert_eq!(
        findings("fallback_model: claude-hiaku-5-5\n"),
        [
            "4: unknown-model: the fallback `claude-hiaku-5-5` of `a` is not in the table of models; did you mean `claude-haiku-5-5`?"
        ]
    );
}
