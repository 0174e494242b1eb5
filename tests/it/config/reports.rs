//! How mistakes are drawn, and that no secret ever is.

use std::time::Duration;

use offpeak::config::{Mistake, Reading, Report, Style, render};
use offpeak::job::{GroupId, JobId};
use offpeak::lint::{Finding, Other, Rule, Severity, Suggestion};

use super::{Folder, job};

fn reports(reading: &Reading) -> Vec<Report> {
    reading
        .unreadable
        .iter()
        .map(Report::from)
        .chain(reading.mistakes.iter().map(Report::from))
        .collect()
}

fn drawn(files: &[(&str, &str)]) -> String {
    render(&reports(&Folder::new(files).read()), Style::Plain, 100)
}

#[test]
fn mistakes_are_drawn_with_their_lines() {
    let text = "cron: \"0 27 * * *\"\ntimezone: JST\nprompt: { text: hello }\nmodle: x\n";
    insta::assert_snapshot!(drawn(&[("jobs/digest.yaml", text)]));
}

#[test]
fn a_pair_is_drawn_with_both_files() {
    let output = "output: { file: \"out/{{ date }}.md\" }\n";
    let settings = "rules:\n  min_gap: 15m\n  min_gap: 20m\n";
    insta::assert_snapshot!(drawn(&[
        ("offpeak.yaml", settings),
        ("jobs/a.yaml", &job(output)),
        ("jobs/b.yaml", &job(output))
    ]));
}

#[test]
fn a_text_over_several_lines_is_marked_on_its_first() {
    let text = "cron: \"0 5 * * *\"\ntimezone: UTC\nprompt:\n  text: |\n    Hello {{ wrld }},\n    you.\ndescription:\n  - one\n  - two\n";
    insta::assert_snapshot!(drawn(&[("jobs/a.yaml", text)]));
}

#[test]
fn what_is_no_yaml_is_drawn_too() {
    insta::assert_snapshot!(drawn(&[
        ("offpeak.yaml", "retry: {\n"),
        ("jobs/a.yaml", "# x\ncron: */5 * * * *\n")
    ]));
}

#[test]
fn a_finding_of_the_linter_is_put_at_its_expressions() {
    let list = "jobs:\n  - id: b\n    timezone: UTC\n    cron:\n      - \"0 4 * * *\"\n      - \"10 5 * * *\"\n    prompt: { text: x }\n";
    let reading = Folder::new(&[("jobs/a.yaml", &job("")), ("jobs/list.yaml", list)]).read();
    let finding = Finding {
        rule: Rule::KeyGap,
        severity: Severity::Error,
        job: JobId::new("b"),
        group: GroupId::new("main"),
        cron: Some(1),
        field: None,
        at: None,
        other: Some(Other {
            job: JobId::new("a"),
            cron: 0,
            at: "2026-12-01T05:00:00Z".parse().unwrap(),
        }),
        also: Vec::new(),
        gap: Some(Duration::from_mins(10)),
        per_year: Some(365),
        message: "`a` and `b` fire 10 minutes apart; the least gap is 15 minutes".into(),
        suggestion: Some(Suggestion {
            cron: "15 5 * * *".into(),
        }),
        help: None,
        accepted: None,
        accepts: None,
    };
    let mut report = Report::of_finding(&finding, &reading.sources);
    report
        .notes
        .push("first on Tue 1 Dec 2026, 14:10 JST".into());
    let whole_job = Finding {
        cron: None,
        other: None,
        suggestion: None,
        severity: Severity::Warning,
        ..finding
    };
    insta::assert_snapshot!(render(
        &[report, Report::of_finding(&whole_job, &reading.sources)],
        Style::Plain,
        100
    ));
}

#[test]
fn colour_is_for_terminals_only() {
    let reading = Folder::new(&[("jobs/a.yaml", &job("x: 1\n"))]).read();
    let reports = reports(&reading);
    assert!(render(&reports, Style::Color, 80).contains("\u{1b}["));
    assert!(!render(&reports, Style::Plain, 80).contains('\u{1b}'));
    assert_eq!(render(&[], Style::Plain, 80), "");
}

#[test]
fn a_long_line_of_a_file_is_cut_to_the_width() {
    let text = job(&format!("x: 1 # {}\n", "word ".repeat(60)));
    let reading = Folder::new(&[("jobs/a.yaml", &text)]).read();
    for (width, cut) in [(40, true), (100, true), (1_000, false)] {
        let drawn = render(&reports(&reading), Style::Plain, width);
        let line = drawn.lines().find(|line| line.contains("x: 1")).unwrap();
        assert!(line.chars().count() <= width, "{width}: {line}");
        assert_eq!(line.ends_with("..."), cut, "{width}: {line}");
    }
}

#[test]
fn control_characters_of_a_file_never_reach_the_terminal() {
    let text = job("\"x\\e[2J\": 1\nmodel: \"a\\e]0;b\\a\"\n");
    assert!(!drawn(&[("jobs/a.yaml", &text)]).contains('\u{1b}'));
}

/// Everything that can be printed of a reading.
fn everything(reading: &Reading) -> String {
    let drawn = render(&reports(reading), Style::Color, 100);
    let lines: Vec<String> = reading.mistakes.iter().map(Mistake::to_string).collect();
    let errors = format!(
        "{:?} {:?} {:?}",
        reading.mistakes, reading.unreadable, reading.sources
    );
    format!(
        "{drawn}\n{}\n{errors}\n{:?}",
        lines.join("\n"),
        reading.config
    )
}

#[test]
fn a_planted_api_key_is_found_everywhere_and_never_shown() {
    const SECRET: &str = "sk-ant-api03-Zq9xPlanted_Secret-77";
    for (settings, text) in [
        (String::new(), job(&format!("model: {SECRET}\n"))),
        (String::new(), job(&format!("# old key: {SECRET}\n"))),
        (String::new(), job(&format!("{SECRET}: 1\n"))),
        (String::new(), job(&format!("key: {SECRET}\n"))),
        (
            String::new(),
            job(&format!(
                "request: {{ metadata: {{ user_id: {SECRET} }} }}\n"
            )),
        ),
        (format!("keys: {{ main: {SECRET} }}\n"), job("")),
        (format!("keys: {{ main: {{ env: {SECRET} }} }}\n"), job("")),
        (
            format!("keys: {{ main: {{ env: A, value: {SECRET} }} }}\n"),
            job(""),
        ),
        (
            format!("upstream: {{ base_url: \"https://{SECRET}@x\" }}\n"),
            job(""),
        ),
        (format!("retry: [{SECRET}\n"), job("")),
    ] {
        let reading = Folder::new(&[("offpeak.yaml", &settings), ("jobs/a.yaml", &text)]).read();
        let printed = everything(&reading);
        assert!(
            !printed.contains("Zq9x") && !printed.contains("Planted"),
            "{settings}{text}{printed}"
        );
        let secrets = reading
            .mistakes
            .iter()
            .filter(|mistake| mistake.rule == Rule::LiteralSecret)
            .count();
        assert!(
            secrets == 1 || !reading.unreadable.is_empty(),
            "{settings}{text}{printed}"
        );
    }
}

#[test]
fn a_secret_that_does_not_look_like_one_is_hidden_where_only_names_belong() {
    for (text, line) in [
        (
            "keys: { main: hunter2-Planted }\n",
            "offpeak.yaml:1:15: literal-secret: `main`: a secret must not stand in this file; name the environment variable or the file that holds it: `{ env: ANTHROPIC_API_KEY }`",
        ),
        (
            "keys: { main: { api_key: hunter2Planted, env: A } }\n",
            "offpeak.yaml:1:26: literal-secret: `api_key`: a secret must not stand in this file; name the environment variable or the file that holds it: `{ env: ANTHROPIC_API_KEY }`",
        ),
        (
            "keys:\n  main: { env: 'hunter2-Planted' }\n",
            "offpeak.yaml:2:16: bad-field: `env`: this is no name of an environment variable (letters, digits and `_`); write the variable's name, such as `ANTHROPIC_API_KEY`, never the secret itself",
        ),
        (
            "notify: { ops: { webhook: \"https://hooks.example/Planted\" , webhook_env: A } }\n",
            "offpeak.yaml:1:27: literal-secret: `webhook`: a webhook's address is a secret and must not stand in this file; put it in an environment variable: `{ webhook_env: OPS_WEBHOOK_URL }`",
        ),
        (
            "upstream: { base_url: \"https://me:Planted@x\" }\n",
            "offpeak.yaml:1:23: bad-field: `base_url`: expected an http or https URL without user, query or fragment, such as `https://api.anthropic.com`, found `....................`",
        ),
        (
            "notify: { ops: https://hooks.example/Planted }\n",
            "offpeak.yaml:1:16: literal-secret: `ops`: a webhook's address is a secret and must not stand in this file; put it in an environment variable: `{ webhook_env: OPS_WEBHOOK_URL }`",
        ),
        (
            "notify: { ops: { webhook_env: A, timeout: https://hooks.example/Planted } }\n",
            "offpeak.yaml:1:43: bad-field: `timeout`: expected a duration such as `90s`, `15m` or `1h30m`, found `.............................`",
        ),
        (
            "deadman: { url: https://watch.example/Planted }\n",
            "offpeak.yaml:1:17: literal-secret: `url`: a webhook's address is a secret and must not stand in this file; put it in an environment variable: `{ url_env: DEADMAN_URL }`",
        ),
        (
            "deadman: { url_env: https://watch.example/Planted }\n",
            "offpeak.yaml:1:21: bad-field: `url_env`: this is no name of an environment variable (letters, digits and `_`); write the variable's name, such as `DEADMAN_URL`, never the secret itself",
        ),
        (
            "deadman: https://watch.example/Planted\n",
            "offpeak.yaml:1:10: bad-field: `deadman`: expected a map, found `.............................`",
        ),
    ] {
        let reading = Folder::new(&[("offpeak.yaml", text), ("jobs/a.yaml", &job(""))]).read();
        let printed = everything(&reading);
        assert!(!printed.contains("Planted"), "{printed}");
        let lines: Vec<String> = reading.mistakes.iter().map(Mistake::to_string).collect();
        assert_eq!(lines, [line]);
    }
}

#[test]
fn an_address_that_may_hold_a_secret_is_hidden_whatever_is_wrong_with_it() {
    // Cause: only what stood beside an `@` was hidden. A query, a fragment, a password that stood where the port
    // belongs, and the sign written as an escape were repeated in full.
    for upstream in [
        "{ base_url: 'http://host/?k=Planted' }",
        "{ base_url: 'http://host/#Planted' }",
        "{ base_url: 'http://me:Planted' }",
        "{ base_url: 'me:Planted' }",
        "{ base_url: 'ht tp://host/?k=Planted' }",
        "{ base_url: \"http://me:Planted\\x40host\" }",
        "{ base_url: ['http://host/?k=Planted'] }",
        "{ base-url: 'http://host/?k=Planted' }",
        "'http://host/?k=Planted'",
    ] {
        let text = format!("upstream: {upstream}\n");
        let reading = Folder::new(&[("offpeak.yaml", &text), ("jobs/a.yaml", &job(""))]).read();
        let printed = everything(&reading);
        assert!(!printed.contains("Planted"), "{upstream}: {printed}");
        let lines: Vec<String> = reading.mistakes.iter().map(Mistake::to_string).collect();
        assert_eq!(lines.len(), 1, "{lines:#?}");
    }
}

#[test]
fn a_sign_that_a_terminal_obeys_is_shown_as_another() {
    let text = "cron: \"5 5 * * * x\" # \u{9b}31m\n";
    let reading = Folder::new(&[("jobs/a.yaml", text)]).read();
    let reports: Vec<Report> = reading.unreadable.iter().map(Report::from).collect();
    let drawn = render(&reports, Style::Plain, 100);
    assert!(drawn.contains("# \u{b7}31m"), "{drawn}");
    assert!(!drawn.contains('\u{9b}'), "{drawn}");
}
