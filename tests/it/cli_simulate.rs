//! `simulate`: days of a schedule in virtual time, as a person, a program and a CI job see them.

use offpeak::sim::world::DEFAULT_WORLD;
use offpeak::trial::Metric;

use crate::scenario::{Done, Scenario, repository};

/// A world without chance: two seconds to the first byte, a hundred tokens a second, answers as long as they may be.
const CALM: &str = "\
latency: { first_byte: 2s, per_1k_cold: 0s, per_1k_cached: 0s, output_per_second: 100, spread: 0, tail: { share: 0, factor: 1 } }
answers: { share_of_max: 1, spread: 0 }
congestion: { per_day: 0 }
overload: { per_day: 0 }
faults: { server_error: 0, cut: 0, silence: 0, refused: 0 }
";

/// A job that sends its answer of a thousand tokens after twelve seconds in the calm world.
fn job(cron: &str) -> String {
    format!(
        "cron: \"{cron}\"\ntimezone: Asia/Tokyo\nmodel: claude-sonnet-5-5\nmax_tokens: 1000\n\
         prompt: {{ text: \"Say hello.\" }}\n"
    )
}

/// A folder with two jobs an hour apart, and in `old` the same jobs at one minute.
fn folder() -> Scenario {
    Scenario::new()
        .file("calm.yaml", CALM)
        .file("jobs/digest.yaml", &job("0 4 * * *"))
        .file("jobs/links.yaml", &job("0 5 * * *"))
        .file("old/digest.yaml", &job("0 5 * * *"))
        .file("old/links.yaml", &job("0 5 * * *"))
}

/// Two days and two seeds of the calm world.
fn simulate(scenario: &Scenario, more: &[&str]) -> Done {
    let fixed = [
        "simulate",
        "--from",
        "2026-12-01",
        "--days",
        "2",
        "--seeds",
        "2",
    ];
    let world: &[&str] = if more.contains(&"--world") {
        &[]
    } else {
        &["--world", "calm.yaml"]
    };
    scenario.run(&[&fixed, world, more].concat())
}

/// The calm world with room for one request a minute.
fn narrow() -> String {
    CALM.to_owned() + "limit: { requests: 1, per: 60s, hint: false }\n"
}

#[test]
fn schedule_is_lived_through_with_medians_and_quartiles() {
    let done = simulate(&folder(), &[]).exits(0);
    assert_eq!(done.stderr, "");
    insta::assert_snapshot!(done.stdout);
}

#[test]
fn old_and_new_schedule_meet_old_and_new_client() {
    let scenario = folder().file("calm.yaml", &narrow());
    let done = simulate(&scenario, &["--compare", "old"]).exits(0);
    // Two jobs at one minute get one answer: the old client asks fifty times in vain, the daemon stops at its third.
    insta::assert_snapshot!(done.stdout);
}

#[test]
fn schedules_with_other_work_are_told_apart() {
    let scenario = folder();
    let said = "the schedules have 2 and 4 slots: counts, dollars and percentiles of so few do not compare\n";
    simulate(&scenario, &["--compare", "old/links.yaml"])
        .exits(0)
        .says(said);
    let same = simulate(&scenario, &["--compare", "old"]).exits(0);
    assert!(!same.stdout.contains("do not compare"), "{}", same.stdout);
}

#[test]
fn json_has_every_arm_and_what_sets_them_apart() {
    let scenario = folder().file("calm.yaml", &narrow());
    let condition = [
        "--compare",
        "old",
        "--fail-if",
        "lost > 0",
        "--format",
        "json",
    ];
    let json = simulate(&scenario, &condition).exits(0).json();
    assert_eq!(json["version"], 1);
    assert_eq!(json["from"], "2026-12-01T00:00:00Z");
    assert_eq!(json["days"], 2);
    assert_eq!(json["seeds"], serde_json::json!({ "first": 1, "count": 2 }));
    assert_eq!(json["world"], "calm.yaml");
    assert_eq!(
        json["schedules"][0],
        serde_json::json!({ "schedule": "old", "jobs": 2, "slots": 4, "errors": 1 })
    );
    let arms = json["arms"].as_array().unwrap();
    let names = arms.iter().map(|arm| (&arm["client"], &arm["schedule"]));
    let names: Vec<String> = names
        .map(|(client, schedule)| format!("{client} {schedule}"))
        .collect();
    let both = [
        "\"old\" \"old\"",
        "\"old\" \"new\"",
        "\"new\" \"old\"",
        "\"new\" \"new\"",
    ];
    assert_eq!(names, both);
    assert_eq!(
        arms[3]["figures"]["done_p99"],
        serde_json::json!({ "seeds": 2, "median": 12_000, "q25": 12_000, "q75": 12_000, "least": 12_000, "most": 12_000 })
    );
    // Work that was never done is longer than any number.
    let never = ["median", "q25", "q75", "least", "most"];
    assert_eq!(
        arms[0]["figures"]["done_p99"],
        serde_json::json!({ "seeds": 2, "beyond": never })
    );
    assert_eq!(arms[0]["figures"]["wasted"]["median"], 100);
    let contrasts = json["contrasts"].as_array().unwrap();
    let of = contrasts.iter().map(|it| it["of"].as_str().unwrap());
    assert_eq!(
        of.collect::<Vec<_>>(),
        ["schedule", "schedule", "guards", "guards", "both"]
    );
    let wasted = &contrasts[0]["changes"]["wasted"];
    assert_eq!(contrasts[0]["client"], "old");
    assert_eq!(wasted["difference"]["median"], -100);
    assert_eq!(wasted["change"]["estimate"], -1.0);
    assert_eq!(
        contrasts[0]["changes"]["done_p99"]["difference"]["below"],
        serde_json::json!(never)
    );
    assert_eq!(contrasts[2]["changes"]["done_p99"]["both_beyond"], 2);
    assert_eq!(
        json["conditions"],
        serde_json::json!([{ "condition": "median lost > 0", "measured": 0, "seeds": 2, "fails": false }])
    );
    assert_eq!(json["assumed"], serde_json::json!([]));
    assert_eq!(json["ok"], true);
    assert!(!json.to_string().contains("null"), "{json}");
}

#[test]
fn json_of_one_schedule_has_one_arm_and_no_contrast() {
    let json = simulate(&folder(), &["--format", "json"]).exits(0).json();
    assert_eq!(json["arms"].as_array().unwrap().len(), 1);
    assert_eq!(json["arms"][0]["client"], "new");
    let few = [
        "attempt_p95",
        "attempt_p99",
        "call_p95",
        "call_p99",
        "done_p95",
        "done_p99",
    ];
    assert_eq!(json["arms"][0]["few"], serde_json::json!(few));
    simulate(&folder(), &[])
        .exits(0)
        .says("4 slots, 4 calls, 4 attempts: p95 and p99 are next to the maximum\n");
    assert_eq!(json["schedules"].as_array().unwrap().len(), 1);
    assert!(json.get("contrasts").is_none(), "{json}");
    assert_eq!(json["conditions"], serde_json::json!([]));
}

#[test]
fn condition_that_holds_exits_with_1_and_one_that_does_not_with_0() {
    let last = |done: Done| done.stdout.lines().last().unwrap().to_owned();
    let fast = simulate(&folder(), &["--fail-if", "p99 > 12s"]).exits(0);
    assert_eq!(last(fast), "ok      median done_p99 is 12.0s, not > 12s");
    let slow = simulate(
        &folder(),
        &["--fail-if", "lost>0", "--fail-if", "p99 >= 12s"],
    )
    .exits(1);
    assert_eq!(last(slow), "FAILS   median done_p99 is 12.0s, >= 12s");
    let json = simulate(
        &folder(),
        &["--fail-if", "worst p99 >= 12s", "--format", "json"],
    );
    assert_eq!(json.exits(1).json()["ok"], false);
}

#[test]
fn conditions_are_judged_on_the_new_schedule_with_the_daemon() {
    let scenario = folder().file("calm.yaml", &narrow());
    simulate(&scenario, &["--compare", "old", "--fail-if", "lost > 0"]).exits(0);
    // The old schedule as the one that is tried: half of its work still waits when the days end.
    let tried = ["old", "--compare", "jobs", "--fail-if", "p99 > 90s"];
    simulate(&scenario, &tried)
        .exits(1)
        .says("FAILS   median done_p99 is beyond measure, > 1m30s: some work or call never came to its end\n");
}

#[test]
fn condition_over_nothing_fails() {
    simulate(&folder(), &["--fail-if", "attempts_per_troubled_call > 3"])
        .exits(1)
        .says("FAILS   median attempts_per_troubled_call > 3: nothing was measured\n");
}

#[test]
fn condition_says_on_how_many_seeds_it_rests() {
    let half = CALM.replace("server_error: 0,", "server_error: 0.1,");
    let scenario = folder().file("half.yaml", &half);
    let of = |more: &[&str]| {
        let condition = [
            "--fail-if",
            "attempts_per_troubled_call > 30",
            "--seeds",
            "20",
        ];
        let fixed = [
            "simulate",
            "--from",
            "2026-12-01",
            "--days",
            "2",
            "--world",
            "half.yaml",
        ];
        scenario
            .run(&[&fixed[..], &condition, more].concat())
            .exits(0)
    };
    let json = of(&["--format", "json"]).json();
    let seeds = json["conditions"][0]["seeds"].as_u64().unwrap();
    assert!((1..20).contains(&seeds), "{json}");
    of(&[]).says(&format!(" ({seeds} of 20 seeds), not > 30\n"));
}

#[test]
fn condition_that_cannot_be_read_exits_with_2_and_names_its_place() {
    for (condition, said) in [
        (
            "p98 > 90s",
            "column 1: found `p98`, expected a figure; did you mean `p95`?",
        ),
        (
            "p99 > 90",
            "column 7: found `90`, expected a duration with its units",
        ),
        (
            "speed > 1",
            "expected a figure: p50, p95, p99, max, work, in_slot",
        ),
        ("lost", "column 5: found the end, expected one of `>`"),
    ] {
        simulate(&folder(), &["--fail-if", condition])
            .exits(2)
            .complains(said);
    }
}

#[test]
fn mistake_in_a_world_exits_with_2_and_has_its_place() {
    for (world, said) in [
        (
            "overload:\n  per_day: often\n",
            "w.yaml:2:12: invalid floating point\n`offpeak simulate --print-world` prints a whole one",
        ),
        (
            "overload: { per_dy: 1 }",
            "w.yaml:1:13: unknown field `per_dy`, expected one of per_day",
        ),
        (
            "limit: { requests: 0 }",
            "w.yaml:1:10: `limit.requests`: 0 is outside 1 or more",
        ),
        (
            "# nothing\n\n",
            "error: w.yaml: holds nothing\n`offpeak simulate --print-world` prints a whole one",
        ),
        ("", "error: w.yaml: holds nothing\n"),
    ] {
        let scenario = folder().file("w.yaml", world);
        let done = simulate(&scenario, &["--world", "w.yaml"])
            .exits(2)
            .complains(said);
        assert_eq!(done.stdout, "");
    }
    simulate(&folder(), &["--world", "gone.yaml"])
        .exits(2)
        .complains("error: gone.yaml: no such file");
    // The path that was tried, which begins in the working folder.
    let inner = folder().file("inner/jobs/a.yaml", &job("0 4 * * *"));
    inner
        .run(&["-C", "inner", "simulate", "--world", "calm.yaml"])
        .exits(2)
        .complains("error: inner/calm.yaml: no such file");
}

#[test]
fn world_may_leave_out_a_field_of_any_depth() {
    let scenario = folder().file("w.yaml", "latency: { tail: { share: 0 } }\n");
    simulate(&scenario, &["--world", "w.yaml"]).exits(0);
}

#[test]
fn printed_world_is_the_one_that_is_built_in() {
    let scenario = folder();
    let world = scenario.run(&["simulate", "--print-world"]).exits(0).stdout;
    assert!(
        world.contains("overload:") && world.contains('#'),
        "{world}"
    );
    scenario.write("same.yaml", &world);
    let built_in = [
        "simulate",
        "--from",
        "2026-12-01",
        "--days",
        "3",
        "--seeds",
        "2",
        "--format",
        "json",
    ];
    let mut built_in = scenario.run(&built_in).exits(0).json();
    let of_file = ["--world", "same.yaml", "--days", "3", "--format", "json"];
    let fixed = ["simulate", "--from", "2026-12-01", "--seeds", "2"];
    let of_file = scenario
        .run(&[&fixed[..], &of_file].concat())
        .exits(0)
        .json();
    assert_eq!(built_in["world"], "default");
    built_in["world"] = "same.yaml".into();
    assert_eq!(built_in, of_file);
    scenario
        .run(&["simulate", "--print-world", "--days", "3"])
        .exits(2)
        .complains("cannot be used with");
}

#[test]
fn same_seeds_bring_the_same_figures_and_others_bring_others() {
    let scenario = folder();
    let of = |seed: &str| {
        let fixed = [
            "simulate",
            "--from",
            "2026-12-01",
            "--days",
            "3",
            "--seeds",
            "2",
        ];
        let json = ["--seed", seed, "--format", "json"];
        scenario.run(&[&fixed[..], &json].concat()).exits(0).json()
    };
    assert_eq!(of("7"), of("7"));
    assert_ne!(of("7")["arms"], of("9")["arms"]);
}

#[test]
fn files_that_are_not_there_exit_with_2_and_mistakes_with_1() {
    let scenario = folder();
    simulate(&scenario, &["nowhere"])
        .exits(2)
        .complains("nowhere: cannot be read");
    simulate(&scenario, &["--compare", "gone"])
        .exits(2)
        .complains("gone: cannot be read");
    simulate(&Scenario::new().file("calm.yaml", CALM), &[])
        .exits(2)
        .complains("jobs: there is no such folder");
    let broken = folder().file("old/links.yaml", "cron: \"61 5 * * *\"\n");
    let done = simulate(&broken, &["--compare", "old"]).exits(1);
    assert_eq!(done.stdout, "");
    done.complains("old/links.yaml");
}

#[test]
fn schedule_without_a_slot_is_told_in_words_and_passes_no_check() {
    let disabled = Scenario::new()
        .file("calm.yaml", CALM)
        .file("jobs/digest.yaml", &(job("0 4 * * *") + "enabled: false\n"))
        .file("old/digest.yaml", &job("0 4 * * *"));
    let head = "2 days from Tue 2026-12-01 09:00 JST, seeds 1 to 2, the world of calm.yaml\n";
    let done = simulate(&disabled, &[]).exits(0);
    assert_eq!(
        done.stdout,
        format!("{head}nothing to simulate: no job is enabled\n")
    );
    simulate(&disabled, &["--compare", "old"])
        .exits(0)
        .says("nothing to simulate: no job is enabled in the new schedule\n");
    simulate(&disabled, &["--fail-if", "lost > 0"])
        .exits(1)
        .says("\n\nFAILS   median lost > 0: nothing was measured\n");
    let json = simulate(&disabled, &["--format", "json"]).exits(0).json();
    assert_eq!(json["arms"], serde_json::json!([]));
    assert_eq!(json["schedules"][0]["slots"], 0);

    let yearly = Scenario::new()
        .file("calm.yaml", CALM)
        .file("jobs/digest.yaml", &job("0 4 1 7 *"));
    simulate(&yearly, &[]).exits(0).says(
        "nothing to simulate: no slot lies in these days; more days (`--days`) may hold some\n",
    );
}

#[test]
fn what_is_not_known_is_assumed_and_said() {
    let asks = "inputs:\n  log: { command: [touch, ran] }\n  notes: { file: gone.md }\n";
    let text = "prompt: { text: \"{{ log }}{{ notes }}\" }\n";
    let scenario = Scenario::new().file("calm.yaml", CALM).file(
        "jobs/digest.yaml",
        &format!("cron: \"0 4 * * *\"\ntimezone: Asia/Tokyo\n{asks}{text}"),
    );
    let lines = [
        "a command that is not run, or an address, brings 1,500 tokens: `log` of `digest`",
        "a file that cannot be read holds 1,500 tokens: `notes` of `digest`",
    ];
    let done = simulate(&scenario, &[]).exits(0);
    assert!(
        done.stdout
            .ends_with(&format!("\nassumed:\n  {}\n  {}\n", lines[0], lines[1])),
        "{}",
        done.stdout
    );
    // What a machine without the file cannot know is an error of `validate`, and stops nothing here.
    assert!(
        done.stdout
            .contains("\n2 slots of 1 job, 1 error of `validate`\n"),
        "{}",
        done.stdout
    );
    let json = simulate(&scenario, &["--format", "json"]).exits(0).json();
    assert_eq!(json["assumed"], serde_json::json!(lines));
}

#[test]
fn nothing_is_run_and_nothing_is_written() {
    let scenario = folder().file(
        "jobs/log.yaml",
        "cron: \"0 6 * * *\"\ntimezone: Asia/Tokyo\ninputs: { log: { command: [touch, ran] } }\n\
         prompt: { text: \"{{ log }}\" }\noutput: { file: \"out/{{ date }}.md\" }\n",
    );
    let before = scenario.files("");
    simulate(&scenario, &[]).exits(0);
    assert_eq!(scenario.files(""), before);
}

#[test]
fn numbers_outside_their_bounds_are_refused() {
    for (flag, number) in [
        ("--days", "0"),
        ("--days", "401"),
        ("--seeds", "0"),
        ("--seeds", "10001"),
    ] {
        let scenario = folder();
        scenario
            .run(&["simulate", flag, number])
            .exits(2)
            .complains("is not in");
    }
    folder()
        .run(&["simulate", "--from", "1960-01-01"])
        .exits(2)
        .complains("--from 1960-01-01 is outside the years");
}

/// Every figure and every field of a world is told of, with its word.
#[test]
fn page_tells_of_every_figure_and_every_field() {
    let page = std::fs::read_to_string(repository().join("docs/simulate.md")).unwrap();
    for metric in Metric::ALL {
        let row = page
            .lines()
            .find(|line| line.starts_with("| `") && line.contains(&format!("`{metric}`")));
        let row = row.unwrap_or_else(|| panic!("{metric} has no row"));
        assert!(row.contains(metric.label()), "{metric}");
    }
    let world: serde_json::Value = serde_yaml::from_str(DEFAULT_WORLD).unwrap();
    for (section, fields) in world.as_object().unwrap() {
        for (field, value) in fields.as_object().unwrap() {
            let inner = value.as_object().into_iter().flatten();
            let inner: Vec<String> = inner.map(|(name, _)| format!("{field}.{name}")).collect();
            let fields = if inner.is_empty() {
                vec![field.clone()]
            } else {
                inner
            };
            for field in fields {
                assert!(
                    page.contains(&format!("`{section}.{field}`")),
                    "{section}.{field}"
                );
            }
        }
    }
}
