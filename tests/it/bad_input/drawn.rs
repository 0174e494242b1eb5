//! What `validate` draws: the words, the marked place and the way out, exactly.

use super::JOB;
use crate::scenario::Scenario;

/// What is drawn of one job file, without the firings and the summary.
fn drawn(text: &str) -> String {
    let scenario = Scenario::new().file("jobs/a.yaml", text);
    let done = scenario.run(&["validate", "--from", "2026-12-01"]);
    assert_ne!(done.code, 0, "{}", done.stdout);
    let firings = done.stdout.find("\n\na  ");
    let summary = done.stdout.find("\n\n0 jobs");
    let end = firings.or(summary).unwrap_or(done.stdout.len());
    done.stdout[..end].to_owned()
}

/// A line of a job file as drawn: title, line, column, the line, the marks, the help.
struct Drawn {
    title: &'static str,
    at: (usize, usize),
    line: &'static str,
    marks: &'static str,
    help: &'static str,
}

impl Drawn {
    fn text(&self) -> String {
        let (line, column) = self.at;
        format!(
            "{}\n --> jobs/a.yaml:{line}:{column}\n  |\n{line} | {}\n  | {}\n  |\n  = help: {}",
            self.title, self.line, self.marks, self.help
        )
    }
}

fn with_cron(line: &str) -> String {
    JOB.replace("cron: \"0 5 * * *\"", line)
}

#[test]
fn a_wrong_value_is_marked_within_its_expression() {
    for expected in [
        Drawn {
            title: "error[bad-cron]: hour `27` is outside 0-23",
            at: (1, 10),
            line: "cron: \"0 27 * * *\"",
            marks: "         ^^",
            help: "hours run from 0, which is midnight, to 23",
        },
        Drawn {
            title: "error[bad-cron]: hour `27` is outside 0-23",
            at: (1, 12),
            line: "cron: \"0 5-27 * * *\"",
            marks: "           ^^",
            help: "hours run from 0, which is midnight, to 23",
        },
        Drawn {
            title: "error[bad-cron]: hour `24` is outside 0-23",
            at: (1, 12),
            line: "cron: \"0 5,24 * * *\"",
            marks: "           ^^",
            help: "hours run from 0 to 23, and 0 is midnight: write `0` for 24 and `1` for 25",
        },
        Drawn {
            title: "error[bad-cron]: minute `60` is outside 0-59",
            at: (1, 8),
            line: "cron: \"60 5 * * *\"",
            marks: "       ^^",
            help: "minutes run from 0 to 59: write `0` and the hour after",
        },
        Drawn {
            title: "error[bad-cron]: minute step `0` is zero",
            at: (1, 10),
            line: "cron: \"*/0 5 * * *\"",
            marks: "         ^",
            help: "write a step of at least 1",
        },
        Drawn {
            title: "error[bad-cron]: minute step `90` is longer than the field, 0-59",
            at: (1, 10),
            line: "cron: \"*/90 5 * * *\"",
            marks: "         ^^",
            help: "steps start anew with each field: `*/90` would mean `0`; list the values instead",
        },
        Drawn {
            title: "error[bad-cron]: minute `1,2,,3` has an empty item in its list",
            at: (1, 11),
            line: "cron: \"1,2,,3 5 * * *\"",
            marks: "          ^",
            help: "remove the extra comma",
        },
        Drawn {
            title: "error[bad-cron]: hour `22-2` is a range that runs backwards",
            at: (1, 10),
            line: "cron: \"0 22-2 * * *\"",
            marks: "         ^^^^",
            help: "write `22-23,0-2`",
        },
    ] {
        assert_eq!(drawn(&with_cron(expected.line)), expected.text());
    }
}

#[test]
fn a_name_or_sign_that_cron_does_not_know_is_marked_with_the_right_one() {
    for expected in [
        Drawn {
            title: "error[bad-cron]: day of week `mo` is not a name",
            at: (1, 16),
            line: "cron: \"0 5 * * mo\"",
            marks: "               ^^",
            help: "names have three letters: write `mon`",
        },
        Drawn {
            title: "error[bad-cron]: day of month `?` is not cron's",
            at: (1, 12),
            line: "cron: \"0 5 ? * 1\"",
            marks: "           ^",
            help: "write `*` for any day",
        },
        Drawn {
            title: "error[bad-cron]: day of week `L` does not say which weekday",
            at: (1, 16),
            line: "cron: \"0 5 * * L\"",
            marks: "               ^",
            help: "write `5L` or `friL` for the last Friday",
        },
    ] {
        assert_eq!(drawn(&with_cron(expected.line)), expected.text());
    }
}

#[test]
fn a_wrong_count_of_fields_says_which_to_drop_or_to_add() {
    for expected in [
        Drawn {
            title: "error[bad-cron]: six fields: leading seconds are not supported; drop the first",
            at: (1, 8),
            line: "cron: \"0 0 5 * * *\"",
            marks: "       ^",
            help: "write `0 5 * * *`",
        },
        Drawn {
            title: "error[bad-cron]: six fields: years are not supported; drop the last",
            at: (1, 18),
            line: "cron: \"0 5 * * * 2027\"",
            marks: "                 ^^^^",
            help: "write `0 5 * * *`",
        },
        Drawn {
            title: "error[bad-cron]: six fields, expected five: a stray blank tears a list apart",
            at: (1, 12),
            line: "cron: \"0 1, 2 * * *\"",
            marks: "           ^",
            help: "write `1,2` without blanks",
        },
        Drawn {
            title: "error[bad-cron]: six fields: leading seconds are not supported; drop the first",
            at: (1, 8),
            line: "cron: \"0 0 5 ? * MON-FRI\"",
            marks: "       ^",
            help: "write `0 5 * * MON-FRI`",
        },
        Drawn {
            title: "error[bad-cron]: four fields, expected five",
            at: (1, 8),
            line: "cron: \"0 5 * *\"",
            marks: "       ^^^^^^^",
            help: "the day of week is missing: write `0 5 * * *`",
        },
        Drawn {
            title: "error[bad-cron]: `@reboot` names no fire time",
            at: (1, 8),
            line: "cron: \"@reboot\"",
            marks: "       ^^^^^^^",
            help: "a slot needs a time of day; start `offpeak run JOB` from the system's own start-up instead",
        },
        Drawn {
            title: "error[bad-cron]: unknown nickname `@dayli`",
            at: (1, 8),
            line: "cron: \"@dayli\"",
            marks: "       ^^^^^^",
            help: "did you mean `@daily`?",
        },
    ] {
        assert_eq!(drawn(&with_cron(expected.line)), expected.text());
    }
}

#[test]
fn an_expression_without_quotes_is_written_with_them() {
    for expected in [
        Drawn {
            title: "error: this is no YAML: a value cannot begin with `*` without quotes",
            at: (1, 7),
            line: "cron: * * * * *",
            marks: "      ^^^^^^^^^",
            help: "put it in quotes: `cron: \"* * * * *\"`",
        },
        Drawn {
            title: "error: this is no YAML: a value cannot begin with `@` without quotes",
            at: (1, 7),
            line: "cron: @daily",
            marks: "      ^^^^^^",
            help: "put it in quotes: `cron: \"@daily\"`",
        },
    ] {
        assert_eq!(drawn(&with_cron(expected.line)), expected.text());
    }
}

#[test]
fn a_zone_of_any_spelling_leads_to_its_right_name() {
    for (zone, right) in [
        ("JST", "Asia/Tokyo"),
        ("EST", "America/New_York"),
        ("GMT+9", "Asia/Tokyo"),
        ("Tokyo", "Asia/Tokyo"),
        ("asia/tokyo", "Asia/Tokyo"),
    ] {
        let text = JOB.replace("Asia/Tokyo", zone);
        assert_eq!(
            drawn(&text),
            format!(
                "error[bad-zone]: unknown time zone `{zone}`\n --> jobs/a.yaml:2:11\n  |\n2 | timezone: {zone}\n  | \
                 {}{}\n  |\n  = help: did you mean `{right}`?",
                " ".repeat(10),
                "^".repeat(zone.len())
            )
        );
    }
}

#[test]
fn a_wrong_value_of_a_field_is_marked_with_the_right_form() {
    for expected in [
        Drawn {
            title: "error[bad-field]: `timeout`: expected a duration such as `90s`, `15m` or `1h30m`, found `600`",
            at: (4, 10),
            line: "timeout: 600",
            marks: "         ^^^",
            help: "write a unit: `600s` or `10m`",
        },
        Drawn {
            title: "error[bad-field]: `timeout`: expected a duration such as `90s`, `15m` or `1h30m`, found `5 m`",
            at: (4, 10),
            line: "timeout: 5 m",
            marks: "         ^^^",
            help: "write `5m`",
        },
        Drawn {
            title: "error[bad-field]: `enabled`: expected `true` or `false`, found `on`",
            at: (4, 10),
            line: "enabled: on",
            marks: "         ^^",
            help: "write `true`",
        },
        Drawn {
            title: "error[bad-field]: unknown field `promt`",
            at: (4, 1),
            line: "promt: { text: x }",
            marks: "^^^^^",
            help: "did you mean `prompt`?",
        },
        Drawn {
            title: "error: this is no YAML: a `:` stands within a value",
            at: (4, 15),
            line: "description: a: b",
            marks: "              ^",
            help: "put the value in quotes: `description: \"a: b\"`; a map in one line stands in braces: `{ text: hello }`",
        },
    ] {
        assert_eq!(drawn(&format!("{JOB}{}\n", expected.line)), expected.text());
    }
}

#[test]
fn a_line_as_long_as_a_file_is_cut_around_its_mark() {
    let text = format!(
        "{{ a: {}, cron: \"0 27 * * *\", timezone: UTC }}",
        "x".repeat(40_000)
    );
    let shown = drawn(&text);
    assert!(shown.len() < 2_000, "{} bytes", shown.len());
    let cut = "x".repeat(49);
    let first = format!(
        "error[bad-cron]: jobs/a.yaml:1:40017: hour `27` is outside 0-23\n  |\n\
         1 | {cut}, cron: \"0 27 * * *\", timezone: UTC }}\n  | {}^^\n  |\n  = help: ",
        " ".repeat(60)
    );
    assert!(shown.starts_with(&first), "{shown}");
}
