//! The formats of `validate`: text, JSON and its schema, annotations, SARIF.

use offpeak::cli::json::VALIDATE_SCHEMA;
use offpeak::lint::Rule;
use serde_json::{Value, json};

use crate::scenario::{Done, Scenario};

fn validate(scenario: &Scenario, args: &[&str]) -> Done {
    let args = [&["validate", "--from", "2026-12-01"], args].concat();
    scenario.run(&args)
}

/// `b` comes five minutes after `a`.
fn pair() -> Scenario {
    Scenario::new().job("a", "0 5 * * *").job("b", "5 5 * * *")
}

const MORE: &str = "timezone: Asia/Tokyo\nprompt: { text: hi }\n";

/// A folder in which nothing is found.
fn clean() -> Scenario {
    Scenario::new().job("a", "0 5 * * *")
}

/// The pair, with a reason.
fn accepted_pair() -> Scenario {
    let accept = "accept: { key-gap: \"100 % fine: a, b\" }\n";
    let job = |cron: &str| format!("cron: \"{cron}\"\n{MORE}{accept}");
    Scenario::new()
        .file("jobs/a.yaml", &job("0 5 * * *"))
        .file("jobs/b.yaml", &job("5 5 * * *"))
}

/// Asserts that a verdict is as its schema says.
#[track_caller]
pub fn conforms(verdict: &Value) {
    let schema: Value = serde_json::from_str(VALIDATE_SCHEMA).unwrap();
    let validator = jsonschema::draft202012::new(&schema).unwrap();
    let wrong: Vec<String> = validator
        .iter_errors(verdict)
        .map(|error| format!("{}: {error}", error.instance_path()))
        .collect();
    assert!(wrong.is_empty(), "{}\n{verdict:#}", wrong.join("\n"));
}

#[test]
fn the_schema_is_a_schema_and_knows_every_rule() {
    let schema: Value = serde_json::from_str(VALIDATE_SCHEMA).unwrap();
    assert!(jsonschema::draft202012::meta::is_valid(&schema));
    let mut rules: Vec<&str> = Rule::ALL.iter().map(|rule| rule.as_str()).collect();
    rules.push("unreadable");
    assert_eq!(schema["$defs"]["rule"]["enum"], json!(rules));
}

#[test]
fn every_verdict_is_as_the_schema_says() {
    let scenarios = [
        ("clean", clean()),
        ("pair", pair()),
        ("accepted", accepted_pair()),
        ("peak", Scenario::new().job("a", "0 7 * * *")),
        ("itself", Scenario::new().job("a", "*/10 4 * * *")),
        (
            "advice",
            Scenario::new().job("a", "0 5 * * *").job("b", "20 5 * * *"),
        ),
        ("never", Scenario::new().job("a", "0 5 31 2 *")),
        (
            "clocks",
            Scenario::new().file(
                "jobs/a.yaml",
                "cron: \"30 2 * * *\"\ntimezone: Europe/Berlin\nprompt: { text: hi }\n",
            ),
        ),
        (
            "pickup",
            Scenario::new()
                .job("a", "0 5 * * *")
                .file("offpeak.yaml", "defer: { pickup: [\"5 5 * * *\"] }\n"),
        ),
        (
            "mistakes",
            Scenario::new().file("jobs/a.yaml", "cron: \"0 27 * * *\"\nkey: x\nzone: y\n"),
        ),
        (
            "settings",
            Scenario::new()
                .job("a", "0 5 * * *")
                .file("offpeak.yaml", "rules: 3\n"),
        ),
        ("no yaml", Scenario::new().file("jobs/a.yaml", "cron: [\n")),
        ("no folder", Scenario::new()),
    ];
    for (name, scenario) in scenarios {
        let verdict = validate(&scenario, &["--format", "json"]).json();
        conforms(&verdict);
        let found = verdict["findings"].as_array().unwrap().is_empty();
        assert_eq!(found, name == "clean", "{name}: {verdict:#}");
    }
}

#[test]
fn a_member_that_the_schema_does_not_know_is_refused() {
    let schema: Value = serde_json::from_str(VALIDATE_SCHEMA).unwrap();
    let validator = jsonschema::draft202012::new(&schema).unwrap();
    let verdict = validate(&pair(), &["--format", "json"]).json();
    assert!(validator.is_valid(&verdict));
    let mut more = verdict.clone();
    more["extra"] = json!(1);
    assert!(!validator.is_valid(&more));
    let mut more = verdict.clone();
    more["findings"][0]["extra"] = json!(1);
    assert!(!validator.is_valid(&more));
}

#[test]
fn the_schema_knows_what_a_fix_adds() {
    let mut verdict = validate(&pair(), &["--format", "json"]).json();
    let change = json!({
        "job": "b", "file": "jobs/b.yaml", "line": 1, "from": "5 5 * * *", "to": "45 5 * * *",
    });
    verdict["changes"] = json!([change]);
    verdict["written"] = json!(true);
    verdict["stuck"] = json!([{ "group": "night", "job": "c", "reason": "no legal time" }]);
    verdict["not_changed"] = json!("jobs/d.yaml could not be read");
    conforms(&verdict);
}

#[test]
fn json_marks_the_whole_expression() {
    let verdict = validate(&pair(), &["--format", "json"]).json();
    let finding = &verdict["findings"][0];
    let place = ["line", "column", "end_line", "end_column"].map(|name| finding[name].as_u64());
    assert_eq!(place, [Some(1), Some(7), Some(1), Some(18)]);
}

#[test]
fn a_pipe_gets_no_colour_and_no_line_is_cut() {
    let long = "x".repeat(300);
    let job = format!("cron: \"0 27 * * *\" # {long}\n{MORE}");
    let scenario = Scenario::new()
        .file("jobs/a.yaml", &job)
        .env("TERM", "xterm-256color");
    let done = validate(&scenario, &[]).exits(1).says(&long);
    assert!(!done.stdout.contains('\u{1b}'), "{}", done.stdout);
    let done = scenario.run(&["run", "a"]).exits(1);
    assert!(!done.stderr.contains('\u{1b}'), "{}", done.stderr);
}

#[test]
fn annotations_name_the_place_and_everything_that_is_said() {
    let done = validate(&pair(), &["--format", "github"]).exits(1);
    let lines: Vec<&str> = done.stdout.lines().collect();
    assert_eq!(
        lines[0],
        "::error file=jobs/b.yaml,line=1,col=7,endLine=1,endColumn=18,title=key-gap\
         ::`b` fires 5 min after `a`; group `main` needs at least 15 min between firings\
         %0Afirst at Wed 2026-12-02 05:05 JST, 365 in the first 365 days\
         %0Ahelp: a legal time near it is `45 5 * * *`\
         %0Ajobs/a.yaml:1: `a` fires here"
    );
    assert!(lines[1].starts_with("::warning file=jobs/"), "{}", lines[1]);
    assert!(
        lines.last().unwrap().starts_with("2 jobs: 1 error, "),
        "{lines:?}"
    );
}

#[test]
fn annotations_of_what_is_accepted_are_notices() {
    let done = validate(&accepted_pair(), &["--format", "github"]).exits(0);
    let first = done.stdout.lines().next().unwrap();
    assert!(
        first.starts_with("::notice file=jobs/b.yaml,line=1,"),
        "{first}"
    );
    assert!(first.contains("%0Aaccepted: 100 %25 fine: a, b"), "{first}");
}

#[test]
fn annotations_of_unreadable_files_name_the_file() {
    let broken = Scenario::new().file("jobs/a,b.yaml", "cron: [\n");
    validate(&broken, &["--format", "github"])
        .exits(2)
        .says("::error file=jobs/a%2Cb.yaml,line=1,col=7,endLine=1,endColumn=8,title=unreadable::");
    validate(&Scenario::new(), &["--format", "github"])
        .exits(2)
        .says("::error file=jobs,title=unreadable::jobs: there is no such folder%0Ahelp: create");
}

/// The whole folder `night` below the current one, and that folder's job outside of it.
fn below() -> Scenario {
    let job = |cron: &str| format!("cron: \"{cron}\"\n{MORE}");
    Scenario::new().file("night/jobs/a b.yaml", &job("0 7 * * *"))
}

#[test]
fn paths_start_where_the_command_runs_and_not_in_its_folder() {
    for folder in ["night", "./night/", "night/../night"] {
        let scenario = below();
        let run = |format| {
            let args = [
                "-C",
                folder,
                "validate",
                "--from",
                "2026-12-01",
                "--format",
                format,
            ];
            scenario.run(&args).exits(1)
        };
        run("github").says("::error file=night/jobs/a b.yaml,line=1,");
        let log = run("sarif").json();
        let location = &log["runs"][0]["results"][0]["locations"][0]["physicalLocation"];
        assert_eq!(
            location["artifactLocation"],
            json!({ "uri": "night/jobs/a%20b.yaml", "uriBaseId": "%SRCROOT%" })
        );
    }
}

#[test]
fn paths_outside_of_where_the_command_runs_are_whole() {
    let scenario = below().file("elsewhere/x", "");
    let run = |format: &str| {
        let mut command = scenario.command(&["-C", "../night", "validate", "--format", format]);
        let here = scenario.path().join("elsewhere");
        let output = command.current_dir(here).output().unwrap();
        Done::from(output).exits(1)
    };
    let path = scenario.path().canonicalize().unwrap();
    let path = path.to_str().unwrap();
    run("github").says("::error file=/");
    let log = run("sarif").json();
    let file = &log["runs"][0]["results"][0]["locations"][0]["physicalLocation"];
    let uri = file["artifactLocation"]["uri"].as_str().unwrap();
    assert!(
        uri.starts_with("file:///") && uri.ends_with("/night/jobs/a%20b.yaml"),
        "{uri} {path}"
    );
    assert!(file["artifactLocation"].get("uriBaseId").is_none());
}

fn sarif(scenario: &Scenario, code: i32) -> Value {
    validate(scenario, &["--format", "sarif"])
        .exits(code)
        .json()
}

/// Asserts what SARIF 2.1.0 asks of a log, and gives the results.
#[track_caller]
fn results(log: &Value) -> Vec<Value> {
    assert_eq!(log["version"], "2.1.0");
    assert!(
        log["$schema"]
            .as_str()
            .unwrap()
            .ends_with("sarif-2.1.0.json")
    );
    assert_eq!(log["runs"].as_array().unwrap().len(), 1);
    let run = &log["runs"][0];
    assert_eq!(run["columnKind"], "utf16CodeUnits");
    let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
    let results = run["results"].as_array().unwrap();
    for result in results {
        let index = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
        assert_eq!(rules[index]["id"], result["ruleId"]);
        assert!(["error", "warning", "note"].contains(&result["level"].as_str().unwrap()));
        assert!(!result["message"]["text"].as_str().unwrap().is_empty());
        assert_eq!(
            result["locations"].as_array().unwrap().len(),
            1,
            "{result:#}"
        );
        assert!(
            !result["partialFingerprints"]["offpeak/v1"]
                .as_str()
                .unwrap()
                .is_empty()
        );
    }
    results.clone()
}

#[test]
fn sarif_describes_the_tool_and_every_rule() {
    let log = sarif(&clean(), 0);
    assert_eq!(results(&log), [Value::Null; 0]);
    assert_eq!(
        log["runs"][0]["invocations"],
        json!([{ "executionSuccessful": true }])
    );
    let driver = &log["runs"][0]["tool"]["driver"];
    assert_eq!(driver["name"], "offpeak");
    assert_eq!(driver["semanticVersion"], env!("CARGO_PKG_VERSION"));
    let rules = driver["rules"].as_array().unwrap();
    assert_eq!(rules.len(), Rule::ALL.len() + 1);
    for (rule, known) in rules.iter().zip(Rule::ALL) {
        assert_eq!(rule["id"], known.as_str());
        assert_eq!(
            rule["defaultConfiguration"]["level"],
            known.severity().as_str()
        );
        let short = rule["shortDescription"]["text"].as_str().unwrap();
        let full = rule["fullDescription"]["text"].as_str().unwrap();
        assert!(
            full.len() > short.len() && full.starts_with(short),
            "{rule:#}"
        );
        assert!(
            !full.contains("Fails") && !full.contains("Severity"),
            "{full}"
        );
        assert!(rule["help"]["text"].as_str().unwrap().contains("Mend: "));
        assert!(
            rule["help"]["markdown"]
                .as_str()
                .unwrap()
                .contains("```yaml")
        );
    }
}

#[test]
fn sarif_points_at_both_jobs_of_a_pair() {
    let results = results(&sarif(&pair(), 1));
    let result = &results[0];
    assert_eq!(result["ruleId"], "key-gap");
    assert_eq!(result["level"], "error");
    let text = result["message"]["text"].as_str().unwrap();
    assert!(
        text.starts_with("`b` fires 5 min after `a`; ") && text.contains("JST"),
        "{text}"
    );
    let region = json!({ "startLine": 1, "startColumn": 7, "endLine": 1, "endColumn": 18 });
    let at = |uri: &str| {
        json!({
            "artifactLocation": { "uri": uri, "uriBaseId": "%SRCROOT%" },
            "region": region,
        })
    };
    assert_eq!(
        result["locations"][0]["physicalLocation"],
        at("jobs/b.yaml")
    );
    let other = &result["relatedLocations"][0];
    assert_eq!(other["physicalLocation"], at("jobs/a.yaml"));
    assert_eq!(other["message"]["text"], "`a` fires here");
    assert!(result.get("suppressions").is_none());
    assert_eq!(results[1]["level"], "warning");
    assert!(results[1].get("fixes").is_none());
}

/// The text with the first fix of a result written into it.
fn fixed(text: &str, result: &Value) -> String {
    let replacement = &result["fixes"][0]["artifactChanges"][0]["replacements"][0];
    let number = |name: &str| {
        let number = replacement["deletedRegion"][name].as_u64().unwrap();
        usize::try_from(number).unwrap()
    };
    assert_eq!(number("startLine"), number("endLine"));
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let line = &mut lines[number("startLine") - 1];
    let inserted = replacement["insertedContent"]["text"].as_str().unwrap();
    line.replace_range(number("startColumn") - 1..number("endColumn") - 1, inserted);
    lines.join("\n") + "\n"
}

#[test]
fn a_fix_keeps_the_quotes_and_its_result_passes() {
    for (cron, expected) in [
        ("\"5 5 * * *\"", "\"45 5 * * *\""),
        ("'5 5 * * *'", "'45 5 * * *'"),
        ("5 5 * * *", "\"45 5 * * *\""),
        ("[\"5 5 * * *\"]", "[\"45 5 * * *\"]"),
        ("\"5  5 * * *\"", "\"45 5 * * *\""),
        ("&at '5 5 * * *'", "&at '45 5 * * *'"),
    ] {
        let text = format!("# note\ncron: {cron} # early\n{MORE}");
        let scenario = Scenario::new()
            .job("a", "0 5 * * *")
            .file("jobs/b.yaml", &text);
        let results = results(&sarif(&scenario, 1));
        let mended = fixed(&text, &results[0]);
        assert_eq!(mended, format!("# note\ncron: {expected} # early\n{MORE}"));
        scenario.write("jobs/b.yaml", mended);
        validate(&scenario, &[]).exits(0);
    }
}

#[test]
fn an_expression_that_is_spelled_otherwise_has_no_fix() {
    for cron in [">-\n  5 5\n  * * *", "\"5 5 * * \\x2a\""] {
        let text = format!("cron: {cron}\n{MORE}");
        let scenario = Scenario::new()
            .job("a", "0 5 * * *")
            .file("jobs/b.yaml", &text);
        let results = results(&sarif(&scenario, 1));
        assert_eq!(results[0]["ruleId"], "key-gap");
        assert!(results[0].get("fixes").is_none(), "{cron}: {results:#?}");
    }
}

#[test]
fn an_expression_that_two_jobs_read_has_no_fix() {
    let job = |id: &str, cron: &str| {
        format!("  - id: {id}\n    cron: {cron}\n    timezone: UTC\n    prompt: {{ text: hi }}\n")
    };
    let list = format!(
        "jobs:\n{}{}",
        job("a", "&at \"0 20 * * *\""),
        job("b", "*at")
    );
    let scenario = Scenario::new().file("jobs/all.yaml", &list);
    let results = results(&sarif(&scenario, 1));
    assert_eq!(results[0]["ruleId"], "key-gap");
    assert!(results[0].get("fixes").is_none(), "{results:#?}");
}

#[test]
fn a_fix_of_a_pickup_slot_is_in_the_settings() {
    let settings = "defer: { pickup: [\"5 5 * * *\"] }\n";
    let scenario = Scenario::new()
        .job("a", "0 5 * * *")
        .file("offpeak.yaml", settings);
    let results = results(&sarif(&scenario, 1));
    let location = &results[0]["locations"][0]["physicalLocation"]["artifactLocation"];
    assert_eq!(location["uri"], "offpeak.yaml");
    scenario.write("offpeak.yaml", fixed(settings, &results[0]));
    validate(&scenario, &[]).exits(0);
}

#[test]
fn what_is_accepted_is_suppressed_in_the_source() {
    let results = results(&sarif(&accepted_pair(), 0));
    assert_eq!(results[0]["level"], "note");
    assert_eq!(
        results[0]["suppressions"],
        json!([{ "kind": "inSource", "justification": "100 % fine: a, b" }])
    );
}

#[test]
fn fingerprints_stay_when_lines_move_and_days_pass() {
    let prints = |scenario: &Scenario, from: &str| {
        let args = ["validate", "--from", from, "--format", "sarif"];
        let mut prints: Vec<String> = results(&scenario.run(&args).exits(1).json())
            .iter()
            .map(|result| result["partialFingerprints"]["offpeak/v1"].to_string())
            .collect();
        prints.sort();
        prints
    };
    // Which of the two is later alternates with the date.
    let scenario = Scenario::new()
        .job("a", "0 5 * * *")
        .job("b", "50 4 1 * *")
        .file(
            "jobs/c.yaml",
            &format!("cron: \"5 5 3 * *\"\nwhat: 1\n{MORE}"),
        );
    let before = prints(&scenario, "2026-12-01");
    assert!(
        before.contains(&"\"key-gap/main/a/b\"".to_owned()),
        "{before:?}"
    );
    let moved = format!("\n# moved\n\n{}", scenario.read("jobs/c.yaml"));
    scenario.write("jobs/c.yaml", moved);
    assert_eq!(prints(&scenario, "2026-12-01"), before);
    assert_eq!(prints(&scenario, "2027-03-02"), before);
    let mut unique = before.clone();
    unique.dedup();
    assert_eq!(unique, before);
}

#[test]
fn an_unreadable_file_is_a_result_and_no_successful_execution() {
    let scenario = Scenario::new()
        .job("a", "0 5 * * *")
        .file("jobs/b.yaml", "cron: [\n");
    let log = sarif(&scenario, 2);
    let results = results(&log);
    assert_eq!(results[0]["ruleId"], "unreadable");
    assert_eq!(
        results[0]["locations"][0]["physicalLocation"]["region"]["startLine"],
        1
    );
    assert_eq!(
        log["runs"][0]["invocations"][0]["executionSuccessful"],
        false
    );
    let nothing = self::results(&sarif(&Scenario::new(), 2));
    assert_eq!(
        nothing[0]["locations"][0]["physicalLocation"],
        json!({ "artifactLocation": { "uri": "jobs", "uriBaseId": "%SRCROOT%" } })
    );
}

#[test]
fn formats_of_findings_are_refused_by_every_other_command() {
    let scenario = Scenario::new().job("a", "0 5 * * *");
    for format in ["github", "sarif"] {
        for command in [
            vec!["status"],
            vec!["history"],
            vec!["config", "--defaults"],
            vec!["dry-run", "a"],
            vec!["run", "a"],
            vec!["daemon"],
            vec!["man"],
        ] {
            let args = [command.as_slice(), &["--format", format]].concat();
            let done = scenario.run(&args).exits(2);
            assert_eq!(done.stdout, "");
            done.complains(&format!(
                "error: `--format {format}` is for `validate` only\nuse `--format human` or `--format json`"
            ));
        }
    }
    assert_eq!(scenario.files(".offpeak"), [""; 0]);
}

#[test]
fn a_secret_reaches_no_format() {
    let secret = "sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789";
    let settings = format!("keys: {{ main: {{ env: {secret} }} }}\n");
    let scenario = Scenario::new()
        .job("a", "0 5 * * *")
        .file("offpeak.yaml", &settings);
    for format in ["human", "json", "github", "sarif"] {
        let done = validate(&scenario, &["--format", format])
            .exits(1)
            .says("literal-secret");
        assert!(!done.stdout.contains("abcdefghij"), "{format}");
    }
}
