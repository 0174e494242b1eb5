//! What is fetched and where answers go: right files, wrong ones, and secrets that stand in them.

use std::time::Duration;

use offpeak::config::OWN_VARIABLES;
use offpeak::job::{FrontMatter, InputSource, Presence, Previous, WebInput};

use super::{Folder, job, wrong, wrong_job};
use crate::scenario::Scenario;

const EVERYWHERE: &str = "inputs:\n  feed: { url: \"https://example.org/feed?n=3\", header_env: { Authorization: FEED_TOKEN, x-key: FEED_KEY }, timeout: 5s, optional: true, max_bytes: 60k }\n\
    output: { file: a.md, append: \"log/{{ job }}.md\", front_matter: true, command: [mail], webhook_env: ANSWERS_URL }\n";

#[test]
fn an_address_and_every_place_are_read() {
    let folder = Folder::new(&[("jobs/a.yaml", &job(EVERYWHERE))]);
    let reading = folder.read();
    assert_eq!(reading.mistakes, []);
    let job = &reading.config.plan.jobs["a"].job;
    let input = &job.inputs[0];
    let headers = [("authorization", "FEED_TOKEN"), ("x-key", "FEED_KEY")];
    let expected = WebInput {
        address: "https://example.org/feed?n=3".to_owned(),
        header_env: headers
            .map(|(name, variable)| (name.to_owned(), variable.to_owned()))
            .to_vec(),
        timeout: Duration::from_secs(5),
    };
    assert_eq!(input.source, InputSource::Url(Box::new(expected)));
    assert_eq!(
        (input.presence, input.max_bytes),
        (Presence::Optional, 61_440)
    );
    let output = job.output.as_ref().unwrap();
    assert_eq!(
        (output.file.as_deref(), output.append.as_deref()),
        (Some("a.md"), Some("log/{{ job }}.md"))
    );
    assert_eq!(
        (output.front_matter, output.previous),
        (FrontMatter::Yaml, Previous::Replace)
    );
    assert_eq!(output.webhook_env.as_deref(), Some("ANSWERS_URL"));
    // No program of any job inherits them.
    let own = ["ANSWERS_URL", "FEED_KEY", "FEED_TOKEN"];
    let mut hidden = [&OWN_VARIABLES[..], &own].concat();
    hidden.sort_unstable();
    assert_eq!(reading.config.secret_variables(), hidden);
}

#[test]
fn an_address_gets_the_time_of_a_command_by_default() {
    let extra =
        "inputs: { feed: { url: \"http://nas.local:8080\" } }\noutput: { append: log.md }\n";
    let reading = Folder::new(&[("jobs/a.yaml", &job(extra))]).read();
    assert_eq!(reading.mistakes, []);
    let job = &reading.config.plan.jobs["a"].job;
    let InputSource::Url(input) = &job.inputs[0].source else {
        panic!("{:?}", job.inputs)
    };
    assert_eq!(input.timeout, Duration::from_mins(1));
    assert_eq!(job.output.as_ref().unwrap().front_matter, FrontMatter::None);
}

#[test]
fn what_cannot_be_is_refused_with_the_way_out() {
    for (line, expected) in [
        (
            "inputs: { a: { url: \"ftp://x/\" } }",
            "4:21: bad-field: `url`: expected an http or https URL such as `https://example.org/feed.xml`, found `ftp://x/`",
        ),
        (
            "inputs: { a: { url: example.org } }",
            "4:21: bad-field: `url`: expected an http or https URL such as `https://example.org/feed.xml`, found `example.org`",
        ),
        (
            "inputs: { a: { url: \"https://x\", file: y } }",
            "4:16: bad-field: `file` and `url` exclude each other; keep one of them",
        ),
        (
            "inputs: { a: { command: [x], header_env: { X-A: B } } }",
            "4:30: bad-field: `header_env`: there is no address to send headers to; remove it, or fetch a `url`",
        ),
        (
            "inputs: { a: { url: \"https://x\", header_env: { Host: B } } }",
            "4:48: bad-field: `header_env`: `Host` is set by offpeak itself; write a header such as `Authorization` or `X-Api-Key`",
        ),
        (
            "inputs: { a: { url: \"https://x\", header_env: { a b: B } } }",
            "4:48: bad-field: `header_env`: `a b` is no name of a header; write a header such as `Authorization` or `X-Api-Key`",
        ),
        (
            "output: { command: [x], front_matter: true }",
            "4:39: bad-field: `front_matter`: there is no file to begin with it; add `file` or `append`, or remove this",
        ),
        (
            "output: { append: log/ }",
            "4:19: bad-field: `append`: expected the path of a file, found `log/`",
        ),
        (
            "output: { append: jobs/new.yaml }",
            "4:19: output-collision: the output `jobs/new.yaml` would become a job; write into a folder of its own, for example `out/{{ job }}/{{ date }}.md`",
        ),
        (
            "output: { file: a.md, append: ./a.md }",
            "4:31: output-collision: the job `a` writes `./a.md` anew and appends to it; give `file` and `append` paths of their own",
        ),
    ] {
        let found = wrong_job(&job(line));
        assert_eq!(found, [format!("jobs/a.yaml:{expected}")], "{line}");
    }
}

#[test]
fn several_jobs_may_append_to_one_file_and_none_may_replace_it() {
    let append = job("output: { append: log.md }\n");
    let two = [("jobs/a.yaml", append.as_str()), ("jobs/b.yaml", &append)];
    assert_eq!(wrong(&two), [""; 0]);
    let file = job("output: { file: log.md }\n");
    let help = "give each its own, for example with `{{ job }}` in the path";
    for files in [
        [("jobs/a.yaml", append.as_str()), ("jobs/b.yaml", &file)],
        [("jobs/a.yaml", &file), ("jobs/b.yaml", &append)],
    ] {
        let found = wrong(&files);
        let [mistake] = found.as_slice() else {
            panic!("{found:?}")
        };
        let expected =
            format!("output-collision: the jobs `a` and `b` write to one file, `log.md`; {help}");
        assert!(mistake.ends_with(&expected), "{mistake}");
    }
}

/// A secret in the wrong place, and what is said of it.
const LITERALS: &[(&str, &str)] = &[
    (
        "inputs: { a: { url: \"https://me:planted@example.org/\" } }",
        "a user or a password stands in this address",
    ),
    (
        "inputs: { a: { url: \"https://planted@example.org/\" } }",
        "a user or a password stands in this address",
    ),
    (
        "inputs: { a: { url: [\"https://me:planted@example.org/\"] } }",
        "expected a text",
    ),
    (
        "inputs: { a: { url: \"https://x\", header_env: { Authorization: Bearer planted-1 } } }",
        "this is no name of an environment variable",
    ),
    (
        "inputs: { a: { url: \"https://x\", header_env: Bearer planted-1 } }",
        "expected a map such as",
    ),
    (
        "for_each: { lines: { url: \"https://me:planted@example.org/\" } }",
        "a user or a password stands in this address",
    ),
    (
        "for_each: { records: { url: \"https://x\", header_env: { Authorization: Bearer planted-1 } } }",
        "this is no name of an environment variable",
    ),
    (
        "output: { webhook: \"https://hooks.example/planted\" }",
        "a webhook's address is a secret and must not stand in this file",
    ),
    (
        "output: { file: a.md, url: \"https://hooks.example/planted\" }",
        "a webhook's address is a secret and must not stand in this file",
    ),
    (
        "output: { webhook_env: \"https://hooks.example/planted\" }",
        "this is no name of an environment variable",
    ),
];

#[test]
fn secrets_in_a_job_are_refused_and_shown_by_no_message_and_no_snippet() {
    for (line, expected) in LITERALS {
        let alone = job(line);
        let listed = format!(
            "jobs:\n  - {{ id: a, cron: \"0 5 * * *\", timezone: UTC, prompt: {{ text: x }}, {line} }}\n"
        );
        for text in [alone, listed] {
            let scenario = Scenario::new().file("jobs/a.yaml", &text);
            for format in ["human", "json", "github", "sarif"] {
                let done = scenario.run(&["validate", "--format", format]).exits(1);
                let all = done.stdout + &done.stderr;
                assert!(all.contains(expected), "{line}: {all}");
                assert!(!all.contains("planted"), "{line}: {all}");
            }
        }
    }
}
