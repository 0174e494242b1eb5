//! What no file may cost, counted in what is kept and shown: a test never reads the clock.
//!
//! Each case took seconds or gigabytes before it had its bound.

use offpeak::config::{Mistake, Report, Style, render};

use super::{JOB, everything, reading};
use crate::scenario::Scenario;

/// Everything said of one job file, a line each, and the bytes that are drawn.
fn said(text: &str) -> (Vec<String>, usize) {
    let reading = reading(&Scenario::new().file("jobs/a.yaml", text));
    let reports: Vec<Report> = reading
        .unreadable
        .iter()
        .map(Report::from)
        .chain(reading.mistakes.iter().map(Report::from))
        .collect();
    let unreadable = reading.unreadable.iter().map(ToString::to_string);
    let lines = unreadable
        .chain(reading.mistakes.iter().map(Mistake::to_string))
        .collect();
    (lines, render(&reports, Style::Plain, 100).len())
}

fn repeated(count: usize, line: impl Fn(usize) -> String) -> String {
    (0..count).map(line).collect()
}

#[test]
fn of_many_mistakes_a_hundred_are_listed_and_the_rest_is_counted() {
    // On one line each mark was searched for from its beginning.
    for text in [
        format!("{JOB}{}", repeated(600, |at| format!("k{at}: x\n"))),
        format!("{{ {} }}", repeated(600, |at| format!("k{at}: x, "))),
        format!("jobs: [{}]", "3, ".repeat(600)),
        format!("{JOB}{}", "model: x\n".repeat(601)),
    ] {
        let (lines, drawn) = said(&text);
        assert_eq!(lines.len(), 101, "{}", lines.len());
        assert!(
            lines[100].contains("more mistakes stand in this file"),
            "{}",
            lines[100]
        );
        assert!(drawn < 200_000, "{drawn} bytes");
    }
}

#[test]
fn a_crowd_in_one_file_hides_nothing_in_another() {
    let crowd = format!("{JOB}{}", repeated(10_002, |at| format!("k{at}: x\n")));
    let scenario = Scenario::new()
        .file("jobs/a.yaml", &crowd)
        .file("jobs/b.yaml", &format!("{JOB}modle: x\n"));
    let reading = reading(&scenario);
    let last = reading.mistakes.last().unwrap().to_string();
    assert!(
        last.starts_with("jobs/b.yaml:4:1: bad-field: unknown field `modle`"),
        "{last}"
    );
    assert_eq!(reading.mistakes.len(), 102);
    assert_eq!(
        reading.unreadable[0].to_string(),
        "jobs/a.yaml:10004:1: this file holds more than 10000 mistakes; \
         mend the first ones: the others are often of the same kind"
    );
}

#[test]
fn a_word_as_long_as_a_file_is_cut_in_every_message() {
    let long = "b".repeat(50_000);
    for text in [
        format!("{JOB}? {long}\n: x\n"),
        format!("{JOB}missed: {long}\n"),
        JOB.replace("Asia/Tokyo", &long),
        JOB.replace("Asia/Tokyo", &"b/c".repeat(20_000)),
        JOB.replace("0 5 * * *", &format!("@{long}")),
        JOB.replace("0 5 * * *", &format!("{long} 5 * * *")),
        JOB.replace("0 5 * * *", &"9 ".repeat(20_000)),
    ] {
        let (lines, drawn) = said(&text);
        assert_eq!(lines.len(), 1, "{} lines", lines.len());
        assert!(lines[0].len() < 1_500, "{} bytes", lines[0].len());
        assert!(drawn < 3_000, "{drawn} bytes");
    }
}

#[test]
fn a_job_has_at_most_five_hundred_expressions() {
    let cron = |n: usize| format!("\"{} {} 1 * *\", ", n % 60, n / 60);
    let crons = |count: usize| format!("[{}]", (0..count).map(cron).collect::<String>());
    assert!(
        said(&JOB.replace("\"0 5 * * *\"", &crons(500)))
            .0
            .is_empty()
    );
    assert_eq!(
        said(&JOB.replace("\"0 5 * * *\"", &crons(501))).0,
        [
            "jobs/a.yaml:1:1: bad-field: `cron`: 501 expressions, at most 500; \
             write ranges and lists such as `\"0,30 1-5 * * *\"`, or make two jobs of it"
        ]
    );
}

#[test]
fn a_template_cannot_overflow_the_stack() {
    // The template engine reads and frees an expression by recursion; a process that overflows its stack is gone.
    for sign in ["-", "not ", ".a", "|upper", "+1", "~'a'", "[", "("] {
        let prompt = format!("{{{{ date{} }}}}", sign.repeat(20_000));
        let scenario = Scenario::new()
            .file(
                "jobs/a.yaml",
                &JOB.replace("{ text: hello }", "{ file: p.md }"),
            )
            .file("jobs/p.md", &prompt);
        let lines: Vec<String> = reading(&scenario)
            .mistakes
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(
            lines,
            [
                "jobs/p.md:1:1: bad-field: a tag holds more than 300 words and signs; \
                 divide it into several tags, with `{% set name = … %}` for the parts"
            ]
        );
    }
}

#[test]
fn a_filter_that_does_not_exist_is_found_behind_a_long_loop() {
    let ten = "{% for a in 'xxxxxxxxxx' %}";
    let loops = format!("{}.{}", ten.repeat(3), "{% endfor %}".repeat(3));
    let job = |text: &str| JOB.replace("hello", &format!("\"{text}\""));
    assert!(said(&job(&loops)).0.is_empty());
    let lines = said(&job(&format!("{loops}{{{{ date|shout }}}}"))).0;
    assert!(lines[0].contains("filter shout is unknown"), "{lines:?}");
}

#[test]
fn many_unknown_variables_are_told_a_hundred_at_a_time() {
    let tags = repeated(1_000, |at| format!("{{{{ v{at} }}}}\n"));
    let scenario = Scenario::new()
        .file(
            "jobs/a.yaml",
            &JOB.replace("{ text: hello }", "{ file: p.md }"),
        )
        .file("jobs/p.md", &tags);
    assert_eq!(reading(&scenario).mistakes.len(), 100);
}

#[test]
fn many_secrets_are_all_masked() {
    let line = "# sk-ant-api03-Zq9xPlanted\n";
    let scenario = Scenario::new().file("jobs/a.yaml", &format!("{JOB}{}", line.repeat(2_000)));
    let reading = reading(&scenario);
    assert_eq!(reading.mistakes.len(), 101);
    assert!(!everything(&reading).contains("Zq9x"));
}
