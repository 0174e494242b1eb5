//! Prices, estimates, caps and what was spent, from the files to what is printed.

use serde_json::Value;

use crate::cli_run::mock;
use crate::readme::blocks;
use crate::scenario::{Done, Running, Scenario, repository};

const HEAD: &str = "cron: \"0 5 * * *\"\ntimezone: Asia/Tokyo\nprompt: { text: hello }\n";

const NIGHT: &str = "2026-12-01T20:00:00Z";

/// A folder with one job `a` that says this, and these settings.
fn folder(job: &str, settings: &str) -> Scenario {
    Scenario::new()
        .file("jobs/a.yaml", &format!("{HEAD}{job}"))
        .file("offpeak.yaml", settings)
}

/// The same, with the stand-in behind it.
fn served(job: &str, settings: &str) -> (Scenario, Running) {
    let scenario = folder(job, "").env("ANTHROPIC_API_KEY", "test-key-1234");
    let (running, url) = mock(&scenario, "latency: { median: 1ms }\n");
    let settings = format!("upstream: {{ base_url: \"{url}\" }}\n{settings}");
    scenario.write("offpeak.yaml", settings);
    (scenario, running)
}

fn dry(scenario: &Scenario) -> Done {
    scenario.run(&["dry-run", "a", "--at", NIGHT])
}

fn estimate(scenario: &Scenario) -> Value {
    let args = ["dry-run", "a", "--at", NIGHT, "--format", "json"];
    scenario.run(&args).exits(0).json()["estimate"].clone()
}

/// The rules that `validate` finds, with line and message.
fn findings(scenario: &Scenario) -> Vec<String> {
    let args = ["validate", "--from", "2026-12-01", "--format", "json"];
    let verdict = scenario.run(&args).json();
    let findings = verdict["findings"].as_array().unwrap().iter();
    let told = findings.map(|one| {
        let [rule, message] = ["rule", "message"].map(|name| one[name].as_str().unwrap());
        format!(
            "{} {}: {rule}: {message}",
            one["file"].as_str().unwrap(),
            one["line"]
        )
    });
    told.collect()
}

#[test]
fn a_dry_run_says_how_sure_its_estimate_is_and_by_which_prices() {
    dry(&folder("", ""))
        .exits(0)
        .says("input     about 2 input tokens (between 1 and 52: an estimate from the text alone; `--count` asks the API)\n")
        .says("answer    at most 4000 tokens\n")
        .says("cost      $0.000002000 without an answer, at most $0.0401 by prices as of 2026-11-01\n");
    let told = estimate(&folder("", ""));
    assert_eq!(told["input_tokens_low"], 1);
    assert_eq!(told["input_tokens_high"], 52);
    assert_eq!(told["prices_as_of"], "2026-11-01");
    assert_eq!(told["cost_usd_high"], 0.040_104);
}

#[test]
fn an_own_price_counts_and_an_unknown_one_is_unknown() {
    let job = "model: claude-foo-9\n";
    dry(&folder(job, ""))
        .exits(0)
        .says("cost      unknown: no price of `claude-foo-9` is known; name it under `prices`\n");
    assert_eq!(estimate(&folder(job, ""))["cost_usd"], Value::Null);
    let prices = "prices:\n  claude-foo-9: { input: 3, output: 15, as_of: 2026-11-20 }\n";
    dry(&folder(job, prices))
        .exits(0)
        .says("at most $0.0602 by your prices as of 2026-11-20\n");
}

#[test]
fn a_region_in_the_request_makes_it_a_tenth_dearer() {
    let plain = estimate(&folder("", ""))["cost_usd"].as_f64().unwrap();
    let job = "request: { inference_geo: us }\n";
    let us = estimate(&folder(job, ""))["cost_usd"].as_f64().unwrap();
    assert!((us - plain * 1.1).abs() < 1e-9, "{us} and {plain}");
}

#[test]
fn the_settings_in_force_show_prices_and_caps() {
    let settings = "budget: { dollars: { day: 2.50, month: 40 } }\n\
                    prices: { claude-foo-9: { input: 3, output: 15, as_of: 2026-11-20 } }\n";
    let scenario = folder("", settings);
    scenario
        .run(&["config"])
        .exits(0)
        .says("dollars   main: at most $2.50 a day and $40.00 a month of UTC\n")
        .says("prices    as of 2026-11-01\n")
        .says("price     claude-foo-9: $3.00 in and $15.00 out for a million tokens as of 2026-11-20\n");
    let told = scenario.run(&["config", "--format", "json"]).json();
    assert_eq!(told["prices_as_of"], "2026-11-01");
}

#[test]
fn caps_that_cannot_be_counted_or_kept_are_found_beforehand() {
    let unknown = folder(
        "model: claude-foo-9\n",
        "budget: { dollars: { month: 40 } }\n",
    );
    assert_eq!(
        findings(&unknown),
        [
            "jobs/a.yaml 1: unknown-price: `a` is under `budget.dollars.month`, and what the model `claude-foo-9` \
          costs is not known"
        ]
    );
    unknown.run(&["validate", "--from", "2026-12-01"]).exits(1);
    let dear = folder("max_cost: 0.03\n", "");
    assert_eq!(
        findings(&dear),
        [
            "jobs/a.yaml 1: over-budget: an answer of 4000 tokens may cost $0.04, and `max_cost` of `a` is $0.03: no \
          call can be made"
        ]
    );
    dear.run(&["validate", "--from", "2026-12-01"]).exits(0);
    assert!(
        findings(&folder(
            "max_cost: 0.04\n",
            "budget: { dollars: { day: 1 } }\n"
        ))
        .is_empty()
    );
}

#[test]
fn what_was_spent_is_in_the_status_and_stays_after_resume() {
    let (scenario, _mock) = served("", "budget: { dollars: { day: 2.50 } }\n");
    scenario.run(&["run", "a"]).exits(0);
    let spent = |scenario: &Scenario| {
        let told = scenario
            .run(&["status", "--format", "json"])
            .exits(0)
            .json();
        told["groups"][0]["spent"].clone()
    };
    let before = spent(&scenario);
    assert!(before["day"]["usd"].as_f64().unwrap() > 0.0, "{before}");
    assert_eq!(before["day"]["cap_usd"], 2.5);
    assert_eq!(before["month"].get("cap_usd"), None);
    scenario
        .run(&["status"])
        .exits(0)
        .says("spent     main ")
        .says(" of $2.50 today, ");
    scenario.run(&["resume", "main"]).exits(0);
    assert_eq!(spent(&scenario), before);
    let runs = scenario.run(&["history", "--format", "json"]).exits(0);
    let run: Value = serde_json::from_str(runs.stdout.lines().next().unwrap()).unwrap();
    assert_eq!(
        run["cost_usd"], before["day"]["usd"],
        "the day is what the run cost"
    );
}

#[test]
fn a_run_that_may_cost_too_much_fails_and_sends_nothing() {
    let (scenario, _mock) = served("max_cost: 0.01\n", "");
    scenario
        .run(&["run", "a"])
        .exits(1)
        .says("failed: max_cost")
        .says(
            "one call may cost $0.0401, and `max_cost` is $0.01: raise it, or lower `max_tokens`",
        );
    let (scenario, _mock) = served("", "budget: { dollars: { day: 0.01 } }\n");
    scenario
        .run(&["run", "a"])
        .exits(1)
        .says("failed: over_budget");
    let (scenario, _mock) = served("model: claude-foo-9\n", "budget: { dollars: { day: 9 } }\n");
    scenario
        .run(&["run", "a"])
        .exits(1)
        .says("failed: unknown_price")
        .says("name its price under `prices` in offpeak.yaml");
}

#[test]
fn a_full_day_yields_with_the_instant_when_it_lifts() {
    let (scenario, _mock) = served("", "budget: { dollars: { day: 0.0402 } }\n");
    scenario.run(&["run", "a"]).exits(0);
    scenario
        .run(&["run", "a"])
        .exits(75)
        .says("yielded: dollars");
}

#[test]
fn mistakes_in_prices_and_caps_are_told_with_their_place() {
    let settings = "\
budget: { dollars: { day: -1, week: 3 } }
prices:
  a: { input: 3 }
  b: { input: free, output: 15, as_of: soon }
  c: { input: 3, output: 15, over: { input: 6, output: 30 } }
  d: 3
";
    let told = findings(&folder("max_cost: 0\n", settings));
    for part in [
        "offpeak.yaml 1: bad-field: `day`: expected a number of dollars above 0",
        "offpeak.yaml 1: bad-field: unknown field `week`",
        "offpeak.yaml 3: bad-field: the field `output` is missing",
        "offpeak.yaml 4: bad-field: `input`: expected dollars for a million tokens",
        "offpeak.yaml 4: bad-field: `as_of`: expected a day such as `2026-11-01`",
        "offpeak.yaml 5: bad-field: the field `prompt_tokens` is missing",
        "offpeak.yaml 6: bad-field: `d`: expected a map such as `{ input: 3, output: 15 }`",
        "jobs/a.yaml 4: bad-field: `max_cost`: expected a number of dollars above 0",
    ] {
        assert!(
            told.iter().any(|one| one.starts_with(part)),
            "{part}: {told:#?}"
        );
    }
    assert_eq!(told.len(), 8, "{told:#?}");
}

#[test]
fn the_yaml_of_the_page_on_money_passes() {
    let page = std::fs::read_to_string(repository().join("docs/money.md")).unwrap();
    let blocks = blocks(&page, "yaml");
    let (jobs, settings): (Vec<String>, Vec<String>) = blocks
        .into_iter()
        .partition(|text| text.starts_with("# jobs/"));
    assert_eq!((jobs.len(), settings.len()), (1, 2));
    let scenario = folder(&jobs[0], &settings.concat());
    assert!(findings(&scenario).is_empty(), "{:?}", findings(&scenario));
}
