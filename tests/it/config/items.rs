//! `for_each` and `concurrency`: what is read, and what is said about mistakes.

use std::time::Duration;

use offpeak::config::load;
use offpeak::job::{ForEach, InputSource, ItemSource, OnEmptyInput, Presence, WebInput, Which};

use super::{Folder, job, wrong, wrong_job};

/// Lines of a job after its first three, and everything wrong with it.
const MISTAKES: &[(&str, &str)] = &[
    (
        "for_each: docs",
        "4:11: bad-field: `for_each`: expected `{ files: PATTERN }`, `{ lines: { file: PATH } }` or `{ records: { file: PATH } }`, found `docs`",
    ),
    (
        "for_each: {}",
        "4:1: bad-field: `for_each` does not say where its items come from; write `{ files: PATTERN }`, `{ lines: { file: PATH } }` or `{ records: { file: PATH } }`",
    ),
    (
        "for_each: { files: \"*.md\", records: { file: a.yaml } }",
        "4:28: bad-field: `files` and `records` exclude each other; keep one of them, or make two jobs of it",
    ),
    (
        "for_each: { file: \"*.md\" }",
        "4:13: bad-field: unknown field `file`; did you mean `files`?\n4:1: bad-field: `for_each` does not say where its items come from; write `{ files: PATTERN }`, `{ lines: { file: PATH } }` or `{ records: { file: PATH } }`",
    ),
    (
        "for_each: { files: \"a/***.md\" }",
        "4:25: bad-field: `files`: the pattern cannot be read: wildcards are either regular `*` or recursive `**`; `*` stands for any part of a name, `**` alone between slashes for any folders, `[ab]` for one of some letters",
    ),
    (
        "for_each: { files: \"[a.md\" }",
        "4:21: bad-field: `files`: the pattern cannot be read: invalid range pattern; `*` stands for any part of a name, `**` alone between slashes for any folders, `[ab]` for one of some letters",
    ),
    (
        "for_each: { files: \"../\" }",
        "4:20: bad-field: `files`: it names a folder, and items are files; a pattern such as `docs/**/*.md` names files",
    ),
    (
        "for_each: { files: \"*/../*.md\" }",
        "4:20: bad-field: `files`: `..` may stand at the beginning only; write the folder that is meant",
    ),
    (
        "for_each: { files: \"a\\tb*\" }",
        "4:20: bad-field: `files`: a name with control characters is never matched; leave them out",
    ),
    (
        "for_each: { files: \"gone/*.md\" }",
        "4:20: missing-file: `files`: jobs/gone cannot be read: no such folder; a relative path starts at the folder of the file that names it",
    ),
    (
        "for_each: { files: \"a.yaml/*.md\" }",
        "4:20: missing-file: `files`: jobs/a.yaml cannot be read: it is no folder; a relative path starts at the folder of the file that names it",
    ),
    (
        "for_each: { lines: { file: gone.txt } }",
        "4:28: missing-file: `file`: jobs/gone.txt cannot be read: no such file; a relative path starts at the folder of the file that names it",
    ),
    (
        "for_each: { lines: { optional: true } }",
        "4:13: bad-field: `lines` has neither `file`, `command` nor `url`; write `{ file: PATH }`, `{ command: [PROGRAM, ARGUMENT] }` or `{ url: https://… }`",
    ),
    (
        "for_each: { lines: { file: a.yaml, max_bytes: 3 } }",
        "4:36: bad-field: unknown field `max_bytes`; known here: `optional`, `file`, `command`, `url`, `header_env` and `timeout`",
    ),
    (
        "for_each: { files: \"*.md\", changed_since: last_week }",
        "4:43: bad-field: `changed_since`: `last_week` is none of `last_success`",
    ),
    (
        "for_each: { files: \"*.md\", limit: 5 }",
        "4:28: bad-field: `limit`: without `changed_since` the same items would be taken in every slot, and the rest never; add `changed_since: last_success`, or name fewer items",
    ),
    (
        "for_each: { files: \"*.md\", changed_since: last_success, limit: 10001 }",
        "4:64: bad-field: `limit`: `10001` is outside 1 to 10000",
    ),
    (
        "for_each: { files: \"*.md\" }\nconcurrency: 0",
        "5:14: bad-field: `concurrency`: `0` is outside 1 to 16",
    ),
    (
        "concurrency: 2",
        "4:1: bad-field: `concurrency`: without `for_each` there is one piece of work only; remove it, or add `for_each`",
    ),
    (
        "for_each: { files: \"*.md\" }\non_empty_input: send",
        "5:17: bad-field: `on_empty_input`: with `for_each` there is no call to `send` when there is no item; write `on_empty_input: skip` or `fail` in the job",
    ),
    (
        "for_each: { files: \"*.md\" }\noutput: { file: \"out/{{ date }}.md\" }",
        "5:17: output-collision: every item of `for_each` would be written to one file, `out/{{ date }}.md`; give each its own, for example with `{{ item.name }}` in the path",
    ),
    (
        "for_each: { files: \"*.md\" }\noutput: { file: \"out/{{ item.text }}.md\" }",
        "5:25: unknown-variable: nothing fills the variable `item.text`; known here: `date`, `slot`, `week`, `job`, `item.name`, `item.path` and `item.stem`",
    ),
    (
        "inputs: { item: { file: a.yaml } }",
        "4:11: bad-field: the input `item` would hide the built-in variable of that name; give it another name",
    ),
];

#[test]
fn each_mistake_has_its_place_and_a_way_out() {
    for (line, expected) in MISTAKES {
        let expected: Vec<String> = expected
            .lines()
            .map(|line| format!("jobs/a.yaml:{line}"))
            .collect();
        assert_eq!(wrong_job(&job(line)), expected, "{line}");
    }
}

fn asking(prompt: &str, for_each: &str) -> Vec<String> {
    wrong_job(&format!(
        "cron: \"0 5 * * *\"\ntimezone: Asia/Tokyo\nprompt: {{ text: \"{prompt}\" }}\n{for_each}"
    ))
}

#[test]
fn what_an_item_has_is_known_where_it_can_be() {
    let files = "for_each: { files: \"*.md\" }";
    let lines = "for_each: { lines: { file: a.yaml } }";
    let records = "for_each: { records: { file: a.yaml } }";
    for (prompt, for_each) in [
        (
            "{{ item.name }}{{ item.stem }}{{ item.path }}{{ item.text }}",
            files,
        ),
        ("{{ item.number }}{{ item.text }}", lines),
        ("{{ item.fields.any }}{{ item.fields['x'] }}", records),
        ("{% set it = item %}{{ it.name }}", files),
    ] {
        assert_eq!(asking(prompt, for_each), [""; 0], "{prompt}");
    }
    let known = "known here: `date`, `slot`, `week`, `job`";
    for (prompt, for_each, expected) in [
        (
            "{{ item.number }}",
            files,
            format!("3:21: unknown-variable: nothing fills the variable `item.number`; {known}, `item.name`, `item.path`, `item.stem` and `item.text`"),
        ),
        (
            "{{ item.fields.a }}",
            lines,
            format!("3:21: unknown-variable: nothing fills the variable `item.fields`; {known}, `item.name`, `item.number` and `item.text`"),
        ),
        (
            "{{ item.email }}",
            records,
            format!("3:21: unknown-variable: nothing fills the variable `item.email`; {known}, `item.fields.FIELD`, `item.name`, `item.number` and `item.text`"),
        ),
        (
            "{{ item.name }}",
            "",
            "3:21: unknown-variable: nothing fills the variable `item`; an item is there only with `for_each`, for example `for_each: { files: \"docs/*.md\" }`".to_owned(),
        ),
    ] {
        assert_eq!(asking(prompt, for_each), [format!("jobs/a.yaml:{expected}")], "{prompt}");
    }
}

#[test]
fn a_job_for_each_of_some_files_says_which_and_how_many() {
    let text = job(
        "for_each: { files: \"../docs/en/**/*.md\", changed_since: last_success, limit: 20 }\nconcurrency: 3\noutput: { file: \"out/{{ item.stem }}.de.md\" }",
    );
    let folder = Folder::new(&[("jobs/a.yaml", &text), ("docs/en/a.md", "x")]);
    let config = load(&folder.options()).expect("a right job");
    let job = &config.plan.jobs.values().next().unwrap().job;
    let expected = ForEach {
        source: ItemSource::Files {
            folder: folder.path().join("jobs/../docs/en"),
            pattern: "**/*.md".to_owned(),
        },
        which: Which::ChangedSinceSuccess,
        limit: Some(20),
    };
    assert_eq!(job.for_each, Some(expected));
    assert_eq!(
        (job.concurrency, job.on_empty_input),
        (3, OnEmptyInput::Skip)
    );
}

#[test]
fn a_list_comes_from_a_file_or_a_command_as_inputs_do() {
    let text = job("for_each: { records: { command: [ls, -1], timeout: 5s, optional: true } }");
    let folder = Folder::new(&[("jobs/a.yaml", &text)]);
    let config = load(&folder.options()).expect("a right job");
    let job = &config.plan.jobs.values().next().unwrap().job;
    let for_each = job.for_each.as_ref().unwrap();
    assert_eq!((for_each.which, for_each.limit), (Which::All, None));
    let ItemSource::Records(list) = &for_each.source else {
        panic!("{for_each:?}");
    };
    assert_eq!(list.presence, Presence::Optional);
    assert!(matches!(&list.source, InputSource::Command { argv, .. } if *argv == ["ls", "-1"]));
}

#[test]
fn a_list_can_be_fetched_with_headers_that_are_secrets() {
    let text = job(
        "for_each: { lines: { url: \"https://example.org/list\", header_env: { X-Key: LIST_KEY }, timeout: 5s } }",
    );
    let folder = Folder::new(&[("jobs/a.yaml", &text)]);
    let config = load(&folder.options()).expect("a right job");
    let job = &config.plan.jobs.values().next().unwrap().job;
    let for_each = job.for_each.as_ref().unwrap();
    let ItemSource::Lines(list) = &for_each.source else {
        panic!("{for_each:?}");
    };
    let web = WebInput {
        address: "https://example.org/list".to_owned(),
        header_env: vec![("x-key".to_owned(), "LIST_KEY".to_owned())],
        timeout: Duration::from_secs(5),
    };
    assert_eq!(list.source, InputSource::Url(Box::new(web)));
    assert!(job.secret_variables().eq(["LIST_KEY"]));
}

#[test]
fn all_items_may_go_to_one_place_but_not_into_one_file() {
    for output in [
        "{ append: log.md }",
        "{ append: \"log/{{ item.stem }}.md\", command: [mail, me] }",
        "{ webhook_env: ANSWERS_URL }",
    ] {
        let text = job(&format!(
            "for_each: {{ files: \"*.md\" }}\noutput: {output}"
        ));
        assert_eq!(wrong_job(&text), [""; 0], "{output}");
    }
    let text = job("output: { append: \"log/{{ item.stem }}.md\" }");
    let found = wrong_job(&text);
    assert!(
        found[0].contains("nothing fills the variable `item`"),
        "{found:?}"
    );
}

#[test]
fn fallback_must_differ_from_the_model_of_some_step() {
    let steps = "steps:\n  - { id: one, model: claude-opus-5-5, prompt: { text: a } }\n  - { id: two, prompt: { text: b } }\n";
    let with = |fallback: &str| {
        wrong_job(&format!(
            "cron: \"0 5 * * *\"\ntimezone: Asia/Tokyo\nmodel: claude-opus-5-5\n{steps}fallback_model: {fallback}\n"
        ))
    };
    assert_eq!(with("claude-sonnet-5-5"), [""; 0]);
    let found = with("claude-opus-5-5");
    let expected = "`fallback_model` is `claude-opus-5-5`, the model that the job asks first";
    assert!(found[0].contains(expected), "{found:?}");
}

#[test]
fn two_jobs_with_one_output_for_each_item_are_told_of() {
    let text = job("for_each: { files: \"*.md\" }\noutput: { file: \"out/{{ item.name }}\" }");
    let found = wrong(&[("jobs/a.yaml", &text), ("jobs/b.yaml", &text)]);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].contains("output-collision: the jobs `a` and `b` write to one file"));
}

#[test]
fn what_the_settings_say_of_empty_inputs_may_not_be_sent_for_no_item() {
    let settings = "keys: { main: { env: A } }\ndefaults: { on_empty_input: send }\n";
    let job = job("for_each: { files: \"*.md\" }");
    let found = wrong(&[("offpeak.yaml", settings), ("jobs/a.yaml", &job)]);
    assert_eq!(
        found,
        [
            "jobs/a.yaml:4:1: bad-field: `on_empty_input`: with `for_each` there is no call to `send` when there is no item; write `on_empty_input: skip` or `fail` in the job"
        ]
    );
}
