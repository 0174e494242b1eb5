//! Every kind of mistake: its place, its rule, its words.

use super::{Folder, job, wrong, wrong_job, wrong_settings};
use offpeak::config::read;
use proptest::prelude::*;

#[test]
fn unknown_fields_are_named_with_the_nearest_known_one() {
    assert_eq!(
        wrong_job(&job("modle: x\nzzz: 1\n")),
        [
            "jobs/a.yaml:4:1: bad-field: unknown field `modle`; did you mean `model`?",
            "jobs/a.yaml:5:1: bad-field: unknown field `zzz`; known here: `cron`, `timezone`, `key`, `retry`, `defer`, \
             `missed`, `delivery`, `inputs`, `for_each`, `on_empty_input`, `system`, `prompt`, `steps`, `model`, `max_tokens`, \
             `thinking`, `effort`, `answer_schema`, `tools`, `service_tier`, `request`, `fallback_model`, \
             `concurrency`, `output`, `enabled`, `description`, `check`, `timeout`, `max_cost`, `notify` and `accept`",
        ]
    );
    assert_eq!(
        wrong_settings("rules: { peaks: { window: [] } }\n"),
        ["offpeak.yaml:1:19: bad-field: unknown field `window`; did you mean `windows`?"]
    );
}

#[test]
fn missing_fields_are_named_with_an_example() {
    assert_eq!(
        wrong_job("# a comment\ndescription: nothing else\n"),
        [
            "jobs/a.yaml:2:1: bad-field: the field `cron` is missing; write when the job fires: `cron: \"0 5 * * *\"`",
            "jobs/a.yaml:2:1: bad-field: the field `timezone` is missing; name it here, or for all jobs in offpeak.yaml: \
             `defaults: { timezone: Asia/Tokyo }`",
            "jobs/a.yaml:2:1: bad-field: the field `prompt` is missing; write `prompt: { file: PATH }` or `prompt: { text: … }`",
        ]
    );
}

#[test]
fn a_repeated_field_shows_both_places() {
    let folder = Folder::new(&[("jobs/a.yaml", &job("model: a\nmodel: b\n"))]);
    let reading = folder.read();
    let [mistake] = reading.mistakes.as_slice() else {
        panic!("{:?}", reading.mistakes)
    };
    assert_eq!(
        mistake.to_string(),
        "jobs/a.yaml:5:1: bad-field: the field `model` is repeated; keep one of them"
    );
    assert_eq!(
        mistake.related.as_ref().unwrap().place.to_string(),
        "jobs/a.yaml:4:1"
    );
    assert_eq!(mistake.job.as_ref().unwrap().as_str(), "a");
}

/// A line of a job, and what is said of it.
const WRONG_TYPES: &[(&str, &str)] = &[
    (
        "enabled: yes",
        "4:10: bad-field: `enabled`: expected `true` or `false`, found `yes`; write `true`",
    ),
    (
        "max_tokens: many",
        "4:13: bad-field: `max_tokens`: expected a whole number, found `many`",
    ),
    (
        "max_tokens: 0",
        "4:13: bad-field: `max_tokens`: `0` is outside 1 to 1000000",
    ),
    (
        "max_tokens: 99999999999999999999999999999999999999999999",
        "4:13: bad-field: `max_tokens`: expected a whole number, found `99999999999999999999999999999999999999999999`",
    ),
    (
        "timeout: 10",
        "4:10: bad-field: `timeout`: expected a duration such as `90s`, `15m` or `1h30m`, found `10`; write a unit: `10s`",
    ),
    (
        "timeout: 10 m",
        "4:10: bad-field: `timeout`: expected a duration such as `90s`, `15m` or `1h30m`, found `10 m`; write `10m`",
    ),
    (
        "timeout: 600",
        "4:10: bad-field: `timeout`: expected a duration such as `90s`, `15m` or `1h30m`, found `600`; write a unit: `600s` or `10m`",
    ),
    (
        "timeout: 1.5h",
        "4:10: bad-field: `timeout`: expected a duration such as `90s`, `15m` or `1h30m`, found `1.5h`; write `1h30m`",
    ),
    (
        "timeout: -5m",
        "4:10: bad-field: `timeout`: expected a duration such as `90s`, `15m` or `1h30m`, found `-5m`; a duration is never negative",
    ),
    (
        "enabled: off",
        "4:10: bad-field: `enabled`: expected `true` or `false`, found `off`; write `false`",
    ),
    (
        "max_tokens: 4_000",
        "4:13: bad-field: `max_tokens`: expected a whole number, found `4_000`; write `4000`",
    ),
    (
        "max_tokens: 1.5e4",
        "4:13: bad-field: `max_tokens`: expected a whole number, found `1.5e4`; write `15000`",
    ),
    (
        "description: {{ date }}",
        "4:1: bad-field: `description`: expected a text, found a map; a text that begins with `{{` needs quotes: `\"{{ date }}\"`",
    ),
    (
        "description: 12",
        "4:14: bad-field: `description`: expected a text, found `12`; put it in quotes: `\"12\"`",
    ),
    (
        "timeout: 2d",
        "4:10: bad-field: `timeout`: `2d` is outside 1s to 24h",
    ),
    (
        "timeout:",
        "4:1: bad-field: `timeout`: expected a duration such as `90s`, `15m` or `1h30m`, found nothing",
    ),
    (
        "missed: onc",
        "4:9: bad-field: `missed`: `onc` is none of `once` and `skip`; did you mean `once`?",
    ),
    (
        "model: [a]",
        "4:1: bad-field: `model`: expected a text, found a list",
    ),
    (
        "model: claude sonnet",
        "4:8: bad-field: `model`: expected a model's id such as `claude-sonnet-5-5`, found `claude sonnet`",
    ),
    (
        "description: ''",
        "4:14: bad-field: `description`: expected a text, found an empty text; write the text, or take the field away",
    ),
    (
        "check: 12",
        "4:8: bad-field: `check`: expected a map such as `{ min_chars: 200 }`, found `12`",
    ),
    (
        "check: { contains: [a, 1] }",
        "4:24: bad-field: `contains`: expected a text, found `1`; put it in quotes: `\"1\"`",
    ),
    (
        "on_empty_input: ignore",
        "4:17: bad-field: `on_empty_input`: `ignore` is none of `skip`, `fail` and `send`",
    ),
    (
        "1: x",
        "4:1: bad-field: a field's name must be a text, found a number; put it in quotes",
    ),
    (
        "notify: ops",
        "4:9: bad-field: `notify`: there is no entry `ops`; add it in offpeak.yaml: `notify: { ops: { webhook_env: OPS_WEBHOOK_URL } }`",
    ),
    (
        "max_cost: $2",
        "4:11: bad-field: `max_cost`: expected a number of dollars above 0, at most 1000000, such as `2.50`, found `$2`",
    ),
    (
        "delivery: later",
        "4:11: bad-field: `delivery`: `later` is none of `direct` and `batch`",
    ),
    (
        "delivery: batch\nfallback_model: claude-opus-5-5",
        "4:1: bad-field: `delivery: batch` and `fallback_model` exclude each other: a batch is answered by the model that it was handed in for; remove one of them",
    ),
    (
        "fallback_model: claude-sonnet-5-5",
        "4:17: bad-field: `fallback_model` is `claude-sonnet-5-5`, the model that the job asks first; name another model, or remove it",
    ),
    (
        "id: a",
        "4:1: bad-field: the id of a job in a file of its own is the file's name; remove it and name the file after the job, or put the job in a list of `jobs`",
    ),
];

#[test]
fn wrong_types_say_what_was_found_and_expected() {
    for (line, expected) in WRONG_TYPES {
        assert_eq!(
            wrong_job(&job(line)),
            [format!("jobs/a.yaml:{expected}")],
            "{line}"
        );
    }
}

#[test]
fn a_job_file_that_holds_no_job_says_so() {
    for (text, expected) in [
        (
            "",
            "1:1: bad-field: the file holds no job; write a job: `cron`, `timezone` and `prompt` at least",
        ),
        (
            "# only a comment\n",
            "1:1: bad-field: the file holds no job; write a job: `cron`, `timezone` and `prompt` at least",
        ),
        (
            "- a\n",
            "1:1: bad-field: `job file`: expected a job, or a map with a list of `jobs`, found a list",
        ),
        (
            "hello\n",
            "1:1: bad-field: `job file`: expected a job, or a map with a list of `jobs`, found `hello`",
        ),
        (
            "jobs: 3\n",
            "1:7: bad-field: `jobs`: expected a list of jobs, each with an `id`, found `3`",
        ),
        (
            "jobs: []\n",
            "1:1: bad-field: `jobs`: expected at least one job, found an empty list",
        ),
        (
            "jobs: [3]\n",
            "1:8: bad-field: `jobs`: expected a job, found `3`",
        ),
    ] {
        assert_eq!(
            wrong_job(text),
            [format!("jobs/a.yaml:{expected}")],
            "{text}"
        );
    }
}

#[test]
fn a_job_in_a_list_needs_a_name() {
    let one = "cron: \"0 5 * * *\", timezone: UTC, prompt: { text: hello }";
    assert_eq!(
        wrong_job(&format!(
            "jobs:\n  - {{ {one} }}\n  - {{ id: a b, {one} }}\n"
        )),
        [
            "jobs/a.yaml:2:7: bad-field: the field `id` is missing; name the job: `id: daily-digest`",
            "jobs/a.yaml:3:11: bad-field: `id`: expected a name of letters, digits, `-`, `_` and `.`, at most 64, found `a b`",
        ]
    );
    assert_eq!(
        wrong(&[("jobs/a b.yaml", &job(""))]),
        [
            "jobs/a b.yaml:1:1: bad-field: the file's name is the job's id, and `a b` is none; expected a name of letters, \
          digits, `-`, `_` and `.`, at most 64; rename the file, for example to daily-digest.yaml"
        ]
    );
}

#[test]
fn a_bad_cron_expression_is_marked_inside_its_text() {
    for (written, place) in [
        ("\"0 27 * * *\"", "1:10"),
        ("0 27 * * *", "1:9"),
        ("[\"0 5 * * *\", '0 27 * * *']", "1:24"),
    ] {
        let found = wrong_job(&format!(
            "cron: {written}\ntimezone: Asia/Tokyo\nprompt: {{ text: x }}\n"
        ));
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(
            found[0].starts_with(&format!("jobs/a.yaml:{place}: bad-cron: ")),
            "{}",
            found[0]
        );
        assert!(found[0].contains("27"), "{}", found[0]);
    }
    let found = wrong_job("cron: [5]\ntimezone: UTC\nprompt: { text: x }\n");
    assert_eq!(
        found,
        [
            "jobs/a.yaml:1:8: bad-field: `cron`: expected a cron expression in quotes such as `\"0 5 * * *\"`, found `5`"
        ]
    );
    let found = wrong_job("cron: []\ntimezone: UTC\nprompt: { text: x }\n");
    assert_eq!(
        found,
        [
            "jobs/a.yaml:1:1: bad-field: `cron`: expected at least one cron expression such as `\"0 5 * * *\"`, found an empty list"
        ]
    );
}

#[test]
fn every_bad_expression_of_a_list_is_found() {
    let found =
        wrong_job("cron: [\"61 5 * * *\", \"0 25 * * *\"]\ntimezone: JST\nprompt: { text: x }\n");
    assert_eq!(found.len(), 3, "{found:?}");
}

#[test]
fn a_bad_zone_suggests_the_one_that_was_meant() {
    assert_eq!(
        wrong_job("cron: \"0 5 * * *\"\ntimezone: JST\nprompt: { text: x }\n"),
        ["jobs/a.yaml:2:11: bad-zone: unknown time zone `JST`; did you mean `Asia/Tokyo`?"]
    );
    // One mistake, not one for each job that would go by the default.
    assert_eq!(
        wrong(&[
            ("offpeak.yaml", "defaults: { timezone: Mars/Base }\n"),
            ("jobs/a.yaml", "cron: \"0 5 * * *\"\nprompt: { text: x }\n"),
        ])
        .len(),
        1
    );
}

#[test]
fn an_unknown_key_is_named_with_the_nearest() {
    let keys = "keys: { main: { env: A }, archive: { env: B } }\n";
    let found = wrong(&[
        ("offpeak.yaml", keys),
        ("jobs/a.yaml", &job("key: archiv\n")),
        ("jobs/b.yaml", &job("key: zzz\n")),
    ]);
    assert_eq!(
        found,
        [
            "jobs/a.yaml:4:6: unknown-key: `key`: there is no key `archiv`; did you mean `archive`?",
            "jobs/b.yaml:4:6: unknown-key: `key`: there is no key `zzz`; `keys` in offpeak.yaml holds `archive` and `main`",
        ]
    );
    assert_eq!(
        wrong_settings("keys: { work: { env: A } }\n"),
        [
            "jobs/a.yaml:1:1: bad-field: the field `key` is missing; name one of `work` here, or for all jobs: `defaults: { key: … }`"
        ]
    );
    assert_eq!(
        wrong_settings("keys: { work: { env: A } }\ndefaults: { key: wrk }\n"),
        ["offpeak.yaml:2:18: unknown-key: `key`: there is no key `wrk`; did you mean `work`?"]
    );
}

#[test]
fn two_jobs_of_one_name_show_both_places() {
    let list =
        "jobs:\n  - id: a\n    cron: \"0 4 * * *\"\n    timezone: UTC\n    prompt: { text: x }\n";
    let folder = Folder::new(&[("jobs/a.yaml", &job("")), ("jobs/b.yaml", list)]);
    let reading = folder.read();
    let [mistake] = reading.mistakes.as_slice() else {
        panic!("{:?}", reading.mistakes)
    };
    assert_eq!(
        mistake.to_string(),
        "jobs/b.yaml:2:9: duplicate-id: two jobs are named `a`; rename one of them"
    );
    assert_eq!(
        mistake.related.as_ref().unwrap().place.to_string(),
        "jobs/a.yaml:1:1"
    );
    assert_eq!(reading.config.plan.jobs.len(), 1);
}

#[test]
fn missing_files_are_named_where_they_are_named() {
    let extra = "system: { file: ../style.md }\ninputs:\n  log: { file: log.txt }\n  maybe: { file: none.txt, optional: true }\n  dir: { file: ../jobs }\n";
    assert_eq!(
        wrong_job(&job(extra)),
        [
            "jobs/a.yaml:6:16: missing-file: `file`: jobs/log.txt cannot be read: no such file; a relative path starts at the folder of the file that names it",
            "jobs/a.yaml:8:16: missing-file: `file`: jobs/../jobs cannot be read: it is a folder; a relative path starts at the folder of the file that names it",
            "jobs/a.yaml:4:17: missing-file: `file`: jobs/../style.md cannot be read: no such file; a relative path starts at the folder of the file that names it",
        ]
    );
}

#[test]
fn an_unknown_variable_is_marked_in_the_yaml_or_in_the_file() {
    let text = "cron: \"0 5 * * *\"\ntimezone: UTC\ninputs: { log: { command: [date] } }\nprompt:\n  text: |\n    {{ date }} of {{ job }}\n    read {{ lgo }}\n";
    assert_eq!(
        wrong_job(text),
        [
            "jobs/a.yaml:7:13: unknown-variable: nothing fills the variable `lgo`; did you mean `log`?"
        ]
    );
    let folder = Folder::new(&[
        (
            "jobs/a.yaml",
            "cron: \"0 5 * * *\"\ntimezone: UTC\nprompt: { file: p.md }\n",
        ),
        (
            "jobs/p.md",
            "week {{ week }}\n\nand {% if dat %}x{% endif %}\n",
        ),
    ]);
    let reading = folder.read();
    let [mistake] = reading.mistakes.as_slice() else {
        panic!("{:?}", reading.mistakes)
    };
    assert_eq!(
        mistake.to_string(),
        "jobs/p.md:3:11: unknown-variable: nothing fills the variable `dat`; did you mean `date`?"
    );
    assert_eq!(
        mistake.related.as_ref().unwrap().place.to_string(),
        "jobs/a.yaml:3:17"
    );
}

#[test]
fn an_output_path_knows_the_slot_only() {
    let extra = "inputs: { log: { command: [date] } }\noutput: { file: \"out/{{ log }}.md\" }\n";
    assert_eq!(
        wrong_job(&job(extra)),
        [
            "jobs/a.yaml:5:25: unknown-variable: nothing fills the variable `log`; known here: `date`, `slot`, `week` and `job`"
        ]
    );
}

#[test]
fn a_broken_template_is_found_before_the_night() {
    for (prompt, line, part) in [
        (
            "{ text: \"a {{ date\" }",
            3,
            "the template cannot be used: ",
        ),
        (
            "{ text: \"{{ date|shout }}\" }",
            3,
            "filter shout is unknown",
        ),
        (
            "\n  text: |\n    one\n    {% if date %}\n",
            6,
            "the template cannot be used: ",
        ),
    ] {
        let found = wrong_job(&format!(
            "cron: \"0 5 * * *\"\ntimezone: UTC\nprompt: {prompt}\n"
        ));
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(
            found[0].starts_with(&format!("jobs/a.yaml:{line}:")),
            "{}",
            found[0]
        );
        assert!(found[0].contains(part), "{}", found[0]);
    }
}

#[test]
fn two_jobs_with_one_output_collide() {
    let folder = Folder::new(&[
        (
            "jobs/a.yaml",
            &job("output: { file: \"out/{{ date }}.md\" }\n"),
        ),
        (
            "jobs/b.yaml",
            &job("output: { file: \"./out/{{date}}.md\" }\n"),
        ),
        (
            "jobs/c.yaml",
            &job("output: { file: \"out/{{ job }}/{{ date }}.md\" }\n"),
        ),
    ]);
    let reading = folder.read();
    let [mistake] = reading.mistakes.as_slice() else {
        panic!("{:?}", reading.mistakes)
    };
    assert_eq!(
        mistake.to_string(),
        "jobs/b.yaml:4:17: output-collision: the jobs `a` and `b` write to one file, `./out/{{date}}.md`; \
         give each its own, for example with `{{ job }}` in the path"
    );
    assert_eq!(
        mistake.related.as_ref().unwrap().place.to_string(),
        "jobs/a.yaml:4:17"
    );
}

/// A line of a job, and what is said of it.
const REFUSED_PARTS: &[(&str, &str)] = &[
    (
        "inputs: { a: { file: x, command: [y] } }",
        "4:25: bad-field: `file` and `command` exclude each other; keep one of them",
    ),
    (
        "inputs: { a: { optional: true } }",
        "4:11: bad-field: the input `a` has neither `file`, `command` nor `url`; write `{ file: PATH }`, `{ command: [PROGRAM, ARGUMENT] }` or `{ url: https://… }`",
    ),
    (
        "inputs: { date: { command: [x] } }",
        "4:11: bad-field: the input `date` would hide the built-in variable of that name; give it another name",
    ),
    (
        "inputs: { a-b: { command: [x] } }",
        "4:11: bad-field: `a-b` is no name for an input; expected letters, digits and `_`; write `a_b`",
    ),
    (
        "inputs: { a: { command: date -u } }",
        "4:25: bad-field: `command`: expected a list such as `[\"journalctl\", \"--since\", \"yesterday\"]`, found `date -u`",
    ),
    (
        "inputs: { a: { command: [] } }",
        "4:16: bad-field: `command`: expected a program and its arguments, found an empty list",
    ),
    (
        "inputs: { a: { command: [x], max_bytes: 0 } }",
        "4:41: bad-field: `max_bytes`: expected a size from 1 to 32m such as `60k`, found `0`",
    ),
    (
        "output: { keep_previous: true }",
        "4:1: bad-field: the field `file` is missing; write `{ file: \"out/{{ date }}.md\" }`, or `append`, `command` or `webhook_env` for other places",
    ),
    (
        "output: { command: [cat], keep_previous: true }",
        "4:42: bad-field: `keep_previous`: there is no file to keep; add `file`, or remove this",
    ),
    (
        "output: { file: out/ }",
        "4:17: bad-field: `file`: expected the path of a file, found `out/`",
    ),
    (
        "system: { text: x, cache: 2h }",
        "4:27: bad-field: `cache`: `2h` is none of `5m` and `1h`",
    ),
    (
        "request: { model: x }",
        "4:12: bad-field: `model` has its own field in the job; move it out of `request`: `model: …`",
    ),
    (
        "request: { thinking: { type: adaptive } }",
        "4:12: bad-field: `thinking` has its own field in the job; move it out of `request`: `thinking: adaptive`",
    ),
    (
        "request: { output_config: { format: {} } }",
        "4:29: bad-field: `format` has its own field in the job; move it out of `request`: `answer_schema: { type: object, … }`",
    ),
    (
        "thinking: { type: adaptive }",
        "4:13: bad-field: `thinking`: the type is not written here; write `adaptive`, `disabled` or `{ budget_tokens: 4000 }`",
    ),
    (
        "thinking: {}",
        "4:1: bad-field: the field `budget_tokens` is missing; write `adaptive`, `disabled` or `{ budget_tokens: 4000 }`",
    ),
    (
        "thinking: adaptiv",
        "4:11: bad-field: `thinking`: `adaptiv` is none of `adaptive` and `disabled`; did you mean `adaptive`?",
    ),
    (
        "tools: [web_serch]",
        "4:9: bad-field: `tools`: there is no tool `web_serch`; did you mean `web_search`?",
    ),
    (
        "tools: [bash]",
        "4:9: bad-field: `tools`: there is no tool `bash`; only `web_search` has a short name; write any other as the API takes it: `{ type: …, name: … }`",
    ),
    (
        "tools: []",
        "4:1: bad-field: `tools`: expected a list of tools such as `[web_search]`, found an empty list",
    ),
    (
        "answer_schema: {}",
        "4:1: bad-field: `answer_schema`: expected a JSON schema such as `{ type: object, … }`, or `{ file: PATH }`, found an empty map",
    ),
    (
        "answer_schema: { file: none.json }",
        "4:24: bad-field: `file`: jobs/none.json cannot be read: no such file; a relative path starts at the folder of the file that names it",
    ),
    (
        "request: { messages: [] }",
        "4:12: bad-field: the messages are made from `prompt`; move the text to `prompt`",
    ),
    (
        "request: { stream: false }\nmax_tokens: 21334",
        "4:20: bad-field: `stream`: an answer of up to 21334 tokens must be streamed: networks drop a silent connection after ten minutes; remove it, or set `max_tokens` to 21333 at most",
    ),
    (
        "inputs: { notes: { file: a.yaml, timeout: 5 } }",
        "4:43: bad-field: `timeout`: there is no command to wait for; remove it, or read a `command` or a `url`",
    ),
    (
        "defer: { pickup: [] }",
        "4:10: bad-field: pickup slots belong to a group, not to a job; move `pickup` to `defer` in offpeak.yaml",
    ),
];

#[test]
fn alternatives_exclude_each_other() {
    for (text, expected) in [
        (
            "prompt: { file: a, text: b }",
            "3:20: bad-field: `prompt`: `file` and `text` exclude each other; keep one of them",
        ),
        (
            "prompt: {}",
            "3:1: bad-field: `prompt`: neither `file` nor `text` is there; write `{ file: PATH }` or `{ text: … }`",
        ),
        (
            "prompt: hello",
            "3:9: bad-field: `prompt`: expected `{ file: PATH }` or `{ text: … }`, found `hello`",
        ),
    ] {
        let found = wrong_job(&format!("cron: \"0 5 * * *\"\ntimezone: UTC\n{text}\n"));
        assert_eq!(found, [format!("jobs/a.yaml:{expected}")]);
    }
    for (line, expected) in REFUSED_PARTS {
        assert_eq!(
            wrong_job(&job(line)),
            [format!("jobs/a.yaml:{expected}")],
            "{line}"
        );
    }
}

#[test]
fn a_job_may_only_tighten_the_retries() {
    assert_eq!(
        wrong(&[
            (
                "offpeak.yaml",
                "retry: { max_attempts: 2, max_delay: 20s }\n"
            ),
            (
                "jobs/a.yaml",
                &job("retry: { max_attempts: 3, max_delay: 30s }\n")
            ),
        ]),
        [
            "jobs/a.yaml:4:24: bad-field: `max_attempts`: `3` is outside 1 to 2",
            "jobs/a.yaml:4:38: bad-field: `max_delay`: `30s` is outside 0s to 20s",
        ]
    );
}

/// A settings file, and all that is said of it.
const WRONG_SETTINGS: &[(&str, &[&str])] = &[
    (
        "keys: {}",
        &[
            "1:1: bad-field: `keys`: expected at least one key such as `main: { env: ANTHROPIC_API_KEY }`, found an empty map",
        ],
    ),
    (
        "keys: { main: {} }",
        &[
            "1:9: bad-field: the field `env` is missing; say where the secret is found: `env: VARIABLE`, `file: PATH` or `credential: NAME`",
        ],
    ),
    (
        "keys: { main: { env: A, file: b } }",
        &["1:31: bad-field: `file`: `env` and `file` exclude each other; keep one of them"],
    ),
    (
        "upstream: { base_url: \"ftp://x\" }",
        &[
            "1:23: bad-field: `base_url`: expected an http or https URL without user, query or fragment, such as `https://api.anthropic.com`, found `ftp://x`",
        ],
    ),
    (
        "upstream: { version: v1, auth: basic }",
        &[
            "1:22: bad-field: `version`: expected a version of the API such as `2023-06-01`, found `v1`",
            "1:32: bad-field: `auth`: `basic` is none of `x-api-key` and `bearer`",
        ],
    ),
    (
        "rules: { peaks: { windows: [\"7-9\"], days: monday } }",
        &[
            "1:43: bad-field: `days`: expected days such as `mon-fri` or `sat,sun`, found `monday`",
            "1:29: bad-field: `windows`: expected a window such as `\"07:00-09:00\"`, found `7-9`",
        ],
    ),
    (
        "retry: { max_attempts: 4, jitter_ratio: 1.5 }",
        &[
            "1:24: bad-field: `max_attempts`: `4` is outside 1 to 3",
            "1:41: bad-field: `jitter_ratio`: expected a number from 0 to 1, found `1.5`",
        ],
    ),
    (
        "upstream: { version: \"2023- 6- 1\" }",
        &[
            "1:22: bad-field: `version`: expected a version of the API such as `2023-06-01`, found `2023- 6- 1`",
        ],
    ),
    (
        "retry: { max_delay: 2h }",
        &["1:21: bad-field: `max_delay`: `2h` is outside 0s to 1h"],
    ),
    (
        "retry: { base_delay: 2m }",
        &["1:22: bad-field: `base_delay`: 2m is outside 0s to `max_delay`"],
    ),
    (
        "budget: { calls: 10001 }",
        &["1:18: bad-field: `calls`: `10001` is outside 1 to 10000"],
    ),
    (
        "breaker: { min_samples: 1025, stale_after: 8d }",
        &[
            "1:25: bad-field: `min_samples`: `1025` is outside 1 to 1024",
            "1:44: bad-field: `stale_after`: `8d` is outside 1s to 7d",
        ],
    ),
    (
        "breaker: { failure_ratio: 0, stale_after: 60s }",
        &["1:27: bad-field: `failure_ratio`: 0 is outside 0 (excluded) to 1"],
    ),
    (
        "breaker: { stale_after: 60s }",
        &["1:25: bad-field: `stale_after`: 1m is outside `cooldown` (excluded) to 7d"],
    ),
    (
        "defer: { pickup: { other: [\"30 5 * * *\"] } }",
        &["1:20: bad-field: `pickup`: there is no group `other`; the groups of `keys` are `main`"],
    ),
    (
        "defer: { to: next }",
        &["1:14: bad-field: `to`: `next` is none of `next_slot`, `own_slot` and `open_slot`"],
    ),
    (
        "notify: { ops: { mail: x } }",
        &[
            "1:18: bad-field: unknown field `mail`; known here: `webhook_env`, `command`, `format`, `on` and `timeout`",
            "1:11: bad-field: the field `webhook_env` is missing; name the variable that holds the address: `webhook_env: OPS_WEBHOOK_URL`; or a program: `command: [PROGRAM]`",
        ],
    ),
    (
        "notify: { ops: { webhook_env: A, command: [b] } }",
        &[
            "1:34: bad-field: `command`: `webhook_env` and `command` exclude each other; keep one of them, or make two entries",
        ],
    ),
    (
        "notify: { ops: { command: [b], format: slack } }",
        &[
            "1:40: bad-field: `format`: `format` is for `webhook_env` only; remove it: a program always gets the JSON",
        ],
    ),
    (
        "notify: { ops: { webhook_env: A, format: teams, on: failed, timeout: 2d } }",
        &[
            "1:42: bad-field: `format`: `teams` is none of `json` and `slack`",
            "1:53: bad-field: `on`: expected a list such as `[failed, recovered]`, found `failed`",
            "1:70: bad-field: `timeout`: `2d` is outside 1s to 24h",
        ],
    ),
    (
        "notify: { ops: { webhook_env: A, on: [] }, me: { webhook_env: B, on: [falied] } }",
        &[
            "1:34: bad-field: `on`: expected at least one of `failed`, `held` and `recovered`, found an empty list",
            "1:71: bad-field: `on`: `falied` is none of `failed`, `held` and `recovered`; did you mean `failed`?",
        ],
    ),
    (
        "deadman: { url_env: \"a b\" }",
        &[
            "1:21: bad-field: `url_env`: this is no name of an environment variable (letters, digits and `_`); write the variable's name, such as `DEADMAN_URL`, never the secret itself",
        ],
    ),
    (
        "store: { keep: 1h }",
        &["1:16: bad-field: `keep`: `1h` is outside 24h to 3650d"],
    ),
    (
        "daemon: { grace: -1s }",
        &[
            "1:18: bad-field: `grace`: expected a duration such as `90s`, `15m` or `1h30m`, found `-1s`; a duration is never negative",
        ],
    ),
    (
        "- x",
        &["1:1: bad-field: `offpeak.yaml`: expected a map, found a list"],
    ),
];

#[test]
fn settings_are_checked_field_by_field_and_as_a_whole() {
    for (text, expected) in WRONG_SETTINGS {
        let expected: Vec<String> = expected
            .iter()
            .map(|line| format!("offpeak.yaml:{line}"))
            .collect();
        assert_eq!(wrong_settings(text), expected, "{text}");
    }
}

#[test]
fn a_policy_that_is_wrong_as_a_whole_is_marked_at_its_field() {
    let found = wrong_settings("retry:\n  base_delay: 40s\n");
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(
        found[0].starts_with("offpeak.yaml:2:15: bad-field: `base_delay`"),
        "{}",
        found[0]
    );
}

#[test]
fn five_mistakes_in_two_files_come_in_one_go() {
    let first = "cron: \"0 25 * * *\"\ntimezone: JST\nprompt: { file: none.md }\n";
    let second =
        "cron: \"0 5 * * *\"\ntimezone: UTC\nprompt: { text: \"{{ nope }}\" }\ncolour: red\n";
    let found = wrong(&[("jobs/a.yaml", first), ("jobs/b.yaml", second)]);
    let places: Vec<&str> = found
        .iter()
        .map(|line| line.split(": ").next().unwrap())
        .collect();
    assert_eq!(
        places,
        [
            "jobs/a.yaml:1:10",
            "jobs/a.yaml:2:11",
            "jobs/a.yaml:3:17",
            "jobs/b.yaml:3:21",
            "jobs/b.yaml:4:1"
        ]
    );
}

#[test]
fn what_could_be_read_is_there_to_be_linted() {
    let folder = Folder::new(&[
        ("jobs/a.yaml", &job("colour: red\n")),
        ("jobs/b.yaml", "cron: x\n"),
        ("jobs/c.yaml", &job("")),
    ]);
    let reading = folder.read();
    let names: Vec<&str> = reading
        .config
        .plan
        .jobs
        .keys()
        .map(offpeak::job::JobId::as_str)
        .collect();
    assert_eq!(names, ["a", "c"]);
    let a = offpeak::job::JobId::new("a");
    assert_eq!(
        reading.sources.cron_place(&a, 0).unwrap().to_string(),
        "jobs/a.yaml:1:7"
    );
    assert_eq!(reading.sources.cron_place(&a, 1), None);
    assert_eq!(
        reading.sources.job_place(&a).unwrap().to_string(),
        "jobs/a.yaml:1:1"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_bytes_in_a_job_file_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..120)) {
        let folder = Folder::new(&[]);
        std::fs::create_dir(folder.path().join("jobs")).unwrap();
        std::fs::write(folder.path().join("jobs/a.yaml"), &bytes).unwrap();
        std::fs::write(folder.path().join("offpeak.yaml"), &bytes).unwrap();
        let _reading = read(&folder.options());
    }

    #[test]
    fn any_values_of_known_fields_never_panic(
        name in "cron|timezone|prompt|inputs|output|check|request|retry|defer|system|notify|keys|rules|defaults|jobs|budget",
        value in r#"[\[\]{}a-d"':, 0-9*{%}.~-]{0,24}"#,
    ) {
        let text = format!("{name}: {value}\n");
        let folder = Folder::new(&[("jobs/a.yaml", &text), ("offpeak.yaml", &text)]);
        let _reading = read(&folder.options());
    }
}

#[test]
fn an_expression_that_says_again_what_another_says_is_told() {
    let list = |crons: &str| {
        wrong_job(&format!(
            "cron: {crons}\ntimezone: UTC\nprompt: {{ text: x }}\n"
        ))
    };
    assert_eq!(
        list("[\"0 5 * * *\", \"0 4 * * *\", \"0 5 * * *\"]"),
        [
            "jobs/a.yaml:1:34: bad-cron: the expression `0 5 * * *` stands here twice; keep one of them"
        ]
    );
    assert_eq!(
        list("[\"0 5 * * 0\", \"0 5 * * sun\"]"),
        ["jobs/a.yaml:1:21: bad-cron: `0 5 * * sun` fires when `0 5 * * 0` does; keep one of them"]
    );
    assert_eq!(list("[\"0 5 * * 1\", \"0 5 * * 2\"]"), Vec::<String>::new());
}
