//! `run`, `history`, `status` and `dry-run` against the stand-in.

use std::io::{BufRead, BufReader};

use crate::scenario::{Running, Scenario};

/// The stand-in as its own process, and its address.
pub fn mock(scenario: &Scenario, script: &str) -> (Running, String) {
    scenario.write("script.yaml", script);
    let mut running = scenario.start(&["mock", "--port", "0", "--script", "script.yaml"]);
    let mut line = String::new();
    BufReader::new(running.stdout())
        .read_line(&mut line)
        .unwrap();
    let url = line
        .trim()
        .strip_prefix("listening on ")
        .unwrap()
        .to_owned();
    (running, url)
}

fn folder(script: &str) -> (Scenario, Running) {
    let scenario = Scenario::new()
        .job("digest", "0 5 * * *")
        .env("ANTHROPIC_API_KEY", "test-key-1234");
    let (running, url) = mock(&scenario, script);
    scenario.write("offpeak.yaml", settings(&url));
    (scenario, running)
}

fn settings(url: &str) -> String {
    format!("upstream: {{ base_url: \"{url}\" }}\nretry: {{ base_delay: 1ms, max_delay: 20ms }}\n")
}

const HEALTHY: &str = "latency: { median: 1ms }\n";

#[test]
fn a_run_succeeds_writes_its_output_and_is_in_the_history() {
    let (scenario, _mock) = folder(HEALTHY);
    scenario
        .run(&["run", "digest"])
        .exits(0)
        .says("digest: succeeded, 1 attempt");
    let outputs = scenario.files("out");
    assert_eq!(outputs.len(), 1, "{outputs:?}");
    let history = scenario.run(&["history", "--format", "json"]).exits(0);
    let run: serde_json::Value =
        serde_json::from_str(history.stdout.lines().next().unwrap()).unwrap();
    assert_eq!(run["job"], "digest");
    assert_eq!(run["origin"], "manual");
    assert_eq!(run["outcome"], "succeeded");
    assert_eq!(run["attempts"][0]["status"], 200);
    assert!(run["attempts"][0]["request_id"].is_string());
    assert!(run["usage"]["output_tokens"].as_u64().unwrap() > 0);
    scenario
        .run(&["history"])
        .exits(0)
        .says("digest")
        .says("succeeded");
    scenario
        .run(&["status"])
        .exits(0)
        .says("not running")
        .says("digest");
}

#[test]
fn overload_is_retried_and_then_succeeds() {
    let (scenario, _mock) = folder(
        "latency: { median: 1ms }\nrules:\n  - { times: 2, then: { error: { status: 529 } } }\n",
    );
    scenario
        .run(&["run", "digest"])
        .exits(0)
        .says("succeeded, 3 attempts");
}

#[test]
fn overload_to_the_last_attempt_is_deferred_and_exits_with_75() {
    let (scenario, _mock) = folder(
        "latency: { median: 1ms }\nrules:\n  - { times: 9, then: { error: { status: 529 } } }\n",
    );
    scenario
        .run(&["run", "digest"])
        .exits(75)
        .says("exhausted, 3 attempts")
        .says("deferred to");
    scenario.run(&["status"]).exits(0).says("deferred");
    assert_eq!(scenario.files("out"), [""; 0]);
}

#[test]
fn a_bad_request_fails_with_1_after_one_attempt() {
    let (scenario, _mock) = folder(
        "latency: { median: 1ms }\nrules:\n  - { times: 9, then: { error: { status: 400 } } }\n",
    );
    scenario
        .run(&["run", "digest"])
        .exits(1)
        .says("failed: fatal, 1 attempt");
}

#[test]
fn html_instead_of_an_answer_is_no_answer() {
    let (scenario, _mock) = folder(
        "latency: { median: 1ms }\nrules:\n  - { then: { body: { status: 200, content_type: text/html, text: login } } }\n",
    );
    scenario
        .run(&["run", "digest"])
        .exits(1)
        .says("failed: not_a_message, 3 attempts");
    assert_eq!(scenario.files("out"), [""; 0]);
}

#[test]
fn an_upstream_that_is_down_is_deferred() {
    let scenario = Scenario::new()
        .job("digest", "0 5 * * *")
        .env("ANTHROPIC_API_KEY", "test-key-1234");
    scenario.write("offpeak.yaml", settings("http://127.0.0.1:9"));
    scenario
        .run(&["run", "digest"])
        .exits(75)
        .says("exhausted, 3 attempts");
}

#[test]
fn a_missing_key_is_named_before_anything_is_sent() {
    let scenario = Scenario::new().job("digest", "0 5 * * *");
    scenario
        .run(&["run", "digest"])
        .exits(2)
        .complains("ANTHROPIC_API_KEY");
    scenario
        .run(&["daemon"])
        .exits(2)
        .complains("ANTHROPIC_API_KEY");
    assert_eq!(scenario.files(".offpeak"), [""; 0]);
}

#[test]
fn an_unknown_job_names_the_nearest() {
    let scenario = Scenario::new().job("digest", "0 5 * * *");
    scenario
        .run(&["run", "digets"])
        .exits(2)
        .complains("did you mean `digest`");
    scenario
        .run(&["dry-run", "digets"])
        .exits(2)
        .complains("did you mean `digest`");
}

#[test]
fn a_dry_run_needs_no_key_and_writes_nothing() {
    let scenario = Scenario::new().job("digest", "0 5 * * *");
    let before = scenario.files(".");
    let done = scenario
        .run(&["dry-run", "digest", "--at", "2026-12-01T20:00:00Z"])
        .exits(0);
    done.says("Wed 2026-12-02 05:00 JST")
        .says("Say hello on 2026-12-02.")
        .says("\"model\": \"claude-sonnet-5-5\"");
    assert_eq!(scenario.files("."), before);
}

#[test]
fn a_store_that_cannot_be_written_is_named() {
    let (scenario, _mock) = folder(HEALTHY);
    scenario.write("afile", "");
    scenario
        .run(&["run", "digest", "--store", "afile"])
        .exits(2)
        .complains("afile");
}

/// A run whose store went away at the end printed an error alone, and the answer was nowhere.
#[test]
fn an_answer_that_the_store_does_not_take_is_printed() {
    let (scenario, _mock) = folder(HEALTHY);
    scenario.write(
        "jobs/asked.yaml",
        "cron: \"0 5 * * *\"\ntimezone: UTC\nprompt: { text: hi }\n\
         output: { command: [sh, -c, \"cat > got; mv .offpeak gone\"] }\n",
    );
    let done = scenario.run(&["run", "asked"]).exits(1);
    let got = scenario.read("got");
    assert!(!got.trim().is_empty());
    assert!(done.stdout.contains(got.trim()), "{}", done.stdout);
    done.complains("could not be closed and counts as interrupted")
        .complains("the store does not know it");
}

#[test]
fn the_key_is_printed_nowhere() {
    let secret = "planted-secret-0123456789";
    let scenario = Scenario::new()
        .job("digest", "0 5 * * *")
        .env("ANTHROPIC_API_KEY", secret);
    let (_mock, url) = mock(
        &scenario,
        "latency: { median: 1ms }\nrules:\n  - { times: 1, then: { error: { status: 401 } } }\n",
    );
    scenario.write("offpeak.yaml", settings(&url));
    for args in [
        &["run", "digest"][..],
        &["history"],
        &["status"],
        &["config"],
        &["dry-run", "digest"],
    ] {
        let done = scenario.run(args);
        assert!(
            !done.stdout.contains(secret) && !done.stderr.contains(secret),
            "{args:?}"
        );
    }
    for file in scenario.files(".offpeak") {
        let bytes = std::fs::read(scenario.path().join(&file)).unwrap();
        assert!(
            !bytes
                .windows(secret.len())
                .any(|window| window == secret.as_bytes()),
            "{file}"
        );
    }
}

#[test]
fn a_stopped_run_is_deferred_and_says_by_which_signal() {
    let (scenario, _mock) = folder("rules:\n  - { then: { silence: {} } }\n");
    let settings = scenario.read("offpeak.yaml");
    scenario.write(
        "offpeak.yaml",
        format!("{settings}daemon: {{ grace: 50ms }}\n"),
    );
    let mut run = scenario.start(&["run", "digest"]);
    let mut log = BufReader::new(run.stderr());
    let mut line = String::new();
    while !line.contains("run started") {
        line.clear();
        assert!(log.read_line(&mut line).unwrap() > 0, "the log ended");
    }
    run.signal("TERM");
    assert_eq!(run.wait().code, 143);
    let status = scenario
        .run(&["status", "--format", "json"])
        .exits(0)
        .json();
    assert_eq!(status["deferrals"][0]["reason"], "shutdown");
    assert_eq!(status["deferrals"][0]["job"], "digest");
}

#[test]
fn a_run_as_json_has_the_documented_members() {
    let (scenario, _mock) = folder(
        "latency: { median: 1ms }\nrules:\n  - { times: 1, then: { error: { status: 529 } } }\n",
    );
    let run = scenario
        .run(&["run", "digest", "--format", "json"])
        .exits(0)
        .json();
    for member in [
        "job",
        "fire_at",
        "origin",
        "outcome",
        "started_at",
        "finished_at",
        "group",
        "model",
        "attempts",
        "stop_reason",
        "usage",
        "cost_usd",
        "output",
    ] {
        assert!(!run[member].is_null(), "no {member} in {run}");
    }
    let (first, second) = (&run["attempts"][0], &run["attempts"][1]);
    assert_eq!(
        (&first["status"], &first["class"], &first["error_type"]),
        (&529.into(), &"retryable".into(), &"overloaded_error".into())
    );
    assert_eq!(
        (&second["n"], &second["status"], &second["class"]),
        (&2.into(), &200.into(), &"success".into())
    );
    assert!(
        second["latency_ms"].is_u64()
            && second["first_byte_ms"].is_u64()
            && second["wait_ms"].is_u64(),
        "{second}"
    );
}

#[test]
fn history_takes_a_job_a_count_and_an_instant() {
    let (scenario, _mock) = folder(HEALTHY);
    scenario.run(&["run", "digest"]).exits(0);
    scenario.run(&["run", "digest"]).exits(0);
    let lines = |args: &[&str]| scenario.run(args).exits(0).stdout.lines().count();
    assert_eq!(lines(&["history", "--format", "json"]), 2);
    assert_eq!(
        lines(&["history", "digest", "--format", "json", "-n", "1"]),
        1
    );
    assert_eq!(
        lines(&["history", "--format", "json", "--since", "2999-01-01"]),
        0
    );
    scenario
        .run(&["history", "digets"])
        .exits(2)
        .complains("did you mean `digest`");
}

#[test]
fn an_answer_that_cannot_be_delivered_is_kept_and_shown() {
    let (scenario, _mock) = folder(HEALTHY);
    scenario.write("out.md", "old");
    scenario.write(
        "out.md.previous/x",
        "a folder in the place of the old answer",
    );
    scenario.write("jobs/digest.yaml", "cron: \"0 5 * * *\"\ntimezone: Asia/Tokyo\nprompt: { text: hi }\noutput: { file: out.md, keep_previous: true }\n");
    scenario
        .run(&["run", "digest"])
        .exits(1)
        .says("failed: output")
        .says("kept in the store");
    assert_eq!(scenario.read("out.md"), "old");
    let shown = scenario
        .run(&["history", "--text", "--format", "json"])
        .exits(0)
        .json();
    assert!(
        shown["answer"]
            .as_str()
            .is_some_and(|text| !text.is_empty()),
        "{shown}"
    );
    scenario
        .run(&["history", "--text"])
        .exits(0)
        .says("--- digest");
}

#[test]
fn a_held_group_is_shown_and_resumed() {
    let (scenario, _mock) = folder(
        "latency: { median: 1ms }\nrules:\n  - { times: 1, then: { error: { status: 402 } } }\n",
    );
    scenario
        .run(&["run", "digest"])
        .exits(75)
        .says("yielded: hold");
    scenario
        .run(&["run", "digest"])
        .exits(75)
        .says("yielded: hold");
    scenario
        .run(&["status"])
        .exits(0)
        .says("held until `offpeak resume`");
    scenario
        .run(&["resume", "man"])
        .exits(2)
        .complains("did you mean `main`");
    scenario
        .run(&["resume", "main"])
        .exits(0)
        .says("the hold is lifted");
    scenario
        .run(&["resume", "main"])
        .exits(0)
        .says("there was no hold");
    scenario.run(&["run", "digest"]).exits(0);
}

#[test]
fn a_dry_run_as_json_has_request_and_estimate() {
    let scenario = Scenario::new().job("digest", "0 5 * * *");
    let sketch = scenario
        .run(&[
            "dry-run",
            "digest",
            "--at",
            "2026-12-01T20:00:00Z",
            "--format",
            "json",
        ])
        .exits(0)
        .json();
    assert_eq!(sketch["fire_at"], "2026-12-01T20:00:00Z");
    assert_eq!(
        sketch["request"]["messages"][0]["content"],
        "Say hello on 2026-12-02."
    );
    assert!(sketch["estimate"]["input_tokens"].as_u64().unwrap() > 0);
    assert_eq!(sketch["next"].as_array().unwrap().len(), 3);
}

#[test]
fn a_dry_run_runs_commands_only_when_told_to() {
    let scenario = Scenario::new().file(
        "jobs/a.yaml",
        "cron: \"0 5 * * *\"\ntimezone: UTC\ninputs: { log: { command: [\"echo\", \"from the command\"] } }\nprompt: { text: \"{{ log }}\" }\n",
    );
    scenario
        .run(&["dry-run", "a", "--at", "2026-12-01"])
        .exits(0)
        .says("command not run");
    scenario
        .run(&["dry-run", "a", "--at", "2026-12-01", "--run-commands"])
        .exits(0)
        .says("--- prompt\nfrom the command");
}

#[test]
fn a_bad_script_and_a_taken_port_are_named() {
    let scenario = Scenario::new().file("script.yaml", "rules:\n  - { then: { explode: {} } }\n");
    scenario
        .run(&["mock", "--script", "script.yaml"])
        .exits(2)
        .complains("script.yaml");
    scenario
        .run(&["mock", "--script", "nowhere.yaml"])
        .exits(2)
        .complains("nowhere.yaml");
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    scenario
        .run(&["mock", "--port", &port])
        .exits(1)
        .complains("is the port taken");
}

#[test]
fn work_that_waited_for_a_distant_hint_goes_on_after_resume() {
    let (scenario, _mock) = folder(
        "latency: { median: 1ms }\nrules:\n  - { times: 1, then: { error: { status: 429, retry_after: 999999999 } } }\n",
    );
    scenario
        .run(&["run", "digest"])
        .exits(75)
        .says("yielded: hint");
    let not_before = |scenario: &Scenario| {
        let status = scenario
            .run(&["status", "--format", "json"])
            .exits(0)
            .json();
        status["deferrals"][0]["not_before"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    let before = not_before(&scenario);
    scenario.run(&["resume", "main"]).exits(0);
    assert!(not_before(&scenario) < before, "{before}");
}

#[test]
fn an_input_command_does_not_see_the_key() {
    let secret = "planted-secret-0123456789";
    let scenario = Scenario::new().env("ANTHROPIC_API_KEY", secret).env("PATH", "/usr/bin:/bin").file(
        "jobs/a.yaml",
        "cron: \"0 5 * * *\"\ntimezone: UTC\ninputs: { all: { command: [\"env\"] } }\nprompt: { text: \"{{ all }}\" }\n",
    );
    let done = scenario.run(&["dry-run", "a", "--run-commands"]).exits(0);
    assert!(
        done.stdout.contains("PATH=") && !done.stdout.contains(secret),
        "{}",
        done.stdout
    );
}

#[test]
fn an_answer_that_falls_short_is_kept_beside_and_says_by_how_much() {
    let (scenario, _mock) = folder(HEALTHY);
    let job = "cron: \"0 5 * * *\"\ntimezone: Asia/Tokyo\nprompt: { text: hi }\noutput: { file: out.md }\ncheck: { min_chars: 200000 }\n";
    scenario.write("jobs/digest.yaml", job);
    scenario.write("out.md", "the good one");
    scenario
        .run(&["run", "digest"])
        .exits(4)
        .says("incomplete: failed_check")
        .says("`min_chars` is 200000");
    assert_eq!(scenario.read("out.md"), "the good one");
    assert!(
        scenario
            .files(".")
            .iter()
            .any(|path| path.contains("out.incomplete-"))
    );
}

#[test]
fn a_dry_run_between_two_slots_says_so() {
    let scenario = Scenario::new().job("digest", "0 5 * * *");
    let done = scenario
        .run(&["dry-run", "digest", "--at", "2026-12-01T20:00:00Z"])
        .exits(0);
    assert!(!done.stdout.contains("no slot"), "{}", done.stdout);
    scenario
        .run(&["dry-run", "digest", "--at", "2026-12-01T20:01:00Z"])
        .exits(0)
        .says("names no slot at this instant");
    // Half a second after a slot is no slot either.
    for (at, scheduled) in [("20:00:00", true), ("20:00:00.5", false)] {
        let at = format!("2026-12-01T{at}Z");
        let sketch = scenario
            .run(&["dry-run", "digest", "--at", &at, "--format", "json"])
            .exits(0)
            .json();
        assert_eq!(sketch["scheduled"], scheduled, "{at}");
    }
}

#[test]
fn an_output_that_cannot_be_written_is_found_before_the_answer_is_paid_for() {
    let (scenario, _mock) = folder(HEALTHY);
    scenario.write("blocked", "a file, not a folder");
    scenario.write("jobs/digest.yaml", "cron: \"0 5 * * *\"\ntimezone: Asia/Tokyo\nprompt: { text: hi }\noutput: { file: blocked/out.md }\n");
    let failed = scenario
        .run(&["run", "digest"])
        .exits(1)
        .says("failed: output, 0 attempts")
        .says("nothing was sent: the answer could not be put at");
    assert!(!failed.stdout.contains("kept"), "{}", failed.stdout);
}

#[test]
fn a_dry_run_names_every_place_of_the_answer_and_fetches_nothing() {
    let scenario = Scenario::new().env("ANSWERS_URL", "http://127.0.0.1:9/planted").file(
        "jobs/a.yaml",
        "cron: \"0 5 * * *\"\ntimezone: UTC\ninputs: { feed: { url: \"http://127.0.0.1:9/feed\" } }\nprompt: { text: \"{{ feed }}\" }\n\
         output: { file: \"out/{{ date }}.md\", append: blocked/log.md, command: [mail, me], webhook_env: ANSWERS_URL }\n",
    );
    scenario.write("blocked", "a file, not a folder");
    let args = ["dry-run", "a", "--at", "2026-12-01", "--format"];
    let human = scenario.run(&[&args[..], &["human"]].concat()).exits(0);
    let places: Vec<&str> = human
        .stdout
        .lines()
        .filter_map(|line| line.strip_prefix("output    "))
        .collect();
    let blocked = scenario.path().join("blocked/log.md");
    let problem = format!(
        "the answer could not be put at {}: not a directory",
        blocked.display()
    );
    assert_eq!(
        places,
        [
            "out/2026-12-01.md",
            &format!("none: {problem}"),
            "standard input of mail me",
            "the webhook of ANSWERS_URL"
        ]
    );
    assert!(
        human
            .stdout
            .contains("--- prompt\n[not fetched: http://127.0.0.1:9/feed]"),
        "{}",
        human.stdout
    );
    let json = scenario.run(&[&args[..], &["json"]].concat()).exits(0);
    assert!(!json.stdout.contains("planted") && !human.stdout.contains("planted"));
    let path = scenario.path().join("out/2026-12-01.md");
    assert_eq!(
        json.json()["outputs"],
        serde_json::json!([
            { "kind": "file", "path": path },
            { "kind": "append", "problem": problem },
            { "kind": "command", "command": ["mail", "me"] },
            { "kind": "webhook", "webhook_env": "ANSWERS_URL" },
        ])
    );
    scenario
        .run(&["dry-run", "a", "--run-commands"])
        .exits(1)
        .says("input `feed`: cannot fetch http://127.0.0.1:9/feed: there is no connection");
}
