//! A planted key, and everything that the program prints, writes and starts: it must stand in none of it.

mod literal;
mod mark;
mod sent;

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader};

use clap::CommandFactory;
use offpeak::cli::Args;

use crate::hostile::Hostile;
use crate::scenario::{Done, Scenario};
use mark::Mark;

/// A job whose input command tells all that it sees, and which writes a file.
const JOB: &str = "cron: \"0 5 29 2 *\"\ntimezone: UTC\ninputs:\n  seen:\n    command: [sh, -c, \"env; cat /proc/self/cmdline /proc/self/environ\"]\n\
                   prompt: { text: \"{{ seen }}\" }\noutput: { file: out/digest.md, keep_previous: true }\n";

/// A folder whose upstream has been given the key, and a log at its most verbose.
fn folder(mark: &Mark, upstream: &Hostile) -> Scenario {
    let settings = format!(
        "upstream: {{ base_url: \"{}\", auth: bearer }}\nretry: {{ max_attempts: 1 }}\n\
         rules: {{ peaks: {{ windows: [] }} }}\nbreaker: {{ min_samples: 1000 }}\nbudget: {{ calls: 1000 }}\n",
        upstream.url()
    );
    Scenario::new()
        .file("offpeak.yaml", &settings)
        .file("jobs/digest.yaml", JOB)
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .env("RUST_LOG", "trace")
        .env("RUST_BACKTRACE", "full")
        .env("ANTHROPIC_API_KEY", &mark.key)
}

/// Replies that give the key back in every place where a reply has room for it.
fn replies(mark: &Mark) -> Vec<String> {
    let mut replies = Vec::new();
    let json = "content-type: application/json\r\n";
    for (index, told) in mark.spellings().into_iter().enumerate() {
        let quoted = serde_json::Value::from(told.as_str());
        let error = format!(
            "{{\"type\":\"error\",\"error\":{{\"type\":{quoted},\"message\":{quoted},\"details\":{{\"error_code\":{quoted}}}}},\"request_id\":{quoted}}}"
        );
        let statuses = [
            "400 No", "401 No", "403 No", "404 No", "429 No", "500 No", "529 No",
        ];
        // Every status with the plain key, and every spelling with one of them.
        let many = if index == 0 { statuses.len() } else { 1 };
        for status in &statuses[index % statuses.len()..][..many] {
            replies.push(format!("{status}\r\n{json}\r\n{error}"));
        }
        replies.push(format!(
            "502 No\r\ncontent-type: text/html\r\n\r\n<html><title>{told}</title>{told}"
        ));
        replies.push(format!("200 OK\r\n{json}\r\n{{\"type\":{quoted}, {told}"));
        let message = format!(
            "{{\"type\":\"message\",\"id\":{quoted},\"model\":{quoted},\"stop_reason\":{quoted},\"content\":[{{\"type\":{quoted},\"text\":1}}],\"usage\":{{}}}}"
        );
        replies.push(format!("200 OK\r\n{json}\r\n{message}"));
        let stream = "200 OK\r\ncontent-type: text/event-stream\r\n\r\n";
        let start = format!("data: {{\"type\":\"message_start\",\"message\":{message}}}\n\n");
        let delta = format!(
            "data: {{\"type\":\"message_delta\",\"delta\":{{\"stop_reason\":{quoted}}}}}\n\n"
        );
        replies.push(format!("{stream}event: {told}\n{start}data: {error}\n\n"));
        replies.push(format!(
            "{stream}: {told}\n{start}{delta}data: {{\"type\":\"message_stop\"}}\n\n"
        ));
        replies.push(format!("{stream}{start}data: {told}\n\n"));
    }
    for told in mark.spellings().into_iter().filter(|told| told.is_ascii()) {
        replies.push(format!("429 No\r\nrequest-id: {told}\r\nretry-after: {told}\r\nx-should-retry: {told}\r\ncontent-type: {told}\r\n\r\n"));
        replies.push(format!(
            "307 No\r\nlocation: https://elsewhere.example/?key={told}\r\n\r\n"
        ));
        replies.push(format!("500 {told}\r\n{told}: {told}\r\n\r\n"));
    }
    let long = " ".repeat(64 * 1024 - 40);
    let (beginning, _) = mark.key.split_at(mark.key.len() - 2);
    replies.push(format!("500 No\r\n\r\n{long}{}", mark.key));
    replies.push(format!("500 No\r\n\r\n{beginning}"));
    replies
}

/// Holds what a command said against the key.
#[track_caller]
fn unsaid(mark: &Mark, what: &str, done: Done) -> Done {
    mark.is_not_in(
        &format!("standard output of {what}"),
        done.stdout.as_bytes(),
    );
    mark.is_not_in(&format!("standard error of {what}"), done.stderr.as_bytes());
    done
}

// The `request-id`, the names in an answer and every spelling but the plain one went into log and store.
#[test]
fn no_reply_brings_the_key_into_the_log_or_the_store() {
    let (mark, upstream) = (Mark::new(), Hostile::start());
    let scenario = folder(&mark, &upstream);
    let replies = replies(&mark);
    assert!(replies.len() > 90, "{}", replies.len());
    let mut ends = BTreeSet::new();
    for (index, reply) in replies.iter().enumerate() {
        upstream.reply(reply);
        let format = if index % 2 == 0 { "human" } else { "json" };
        let done = scenario.run(&["run", "digest", "--format", format]);
        let done = unsaid(&mark, &format!("a run that got {reply:?}"), done);
        ends.insert(done.code);
    }
    // Failed, incomplete, deferred.
    assert_eq!(ends.into_iter().collect::<Vec<_>>(), [1, 4, 75]);
    // If no request had reached the upstream, nothing would be proved.
    let requests = upstream.requests();
    assert_eq!(requests.len(), replies.len());
    for request in &requests {
        let (head, body) = request.split_once("\r\n\r\n").unwrap();
        assert!(head.contains(&format!("Bearer {}", mark.key)), "{head}");
        mark.is_not_in("a prompt", body.as_bytes());
    }
    for args in [
        &["history", "-n", "1000"][..],
        &["status"],
        &["store", "check"],
        &["store", "backup", "copy.db"],
    ] {
        for format in ["human", "json"] {
            let args = [args, &["--format", format]].concat();
            unsaid(&mark, &format!("{args:?}"), scenario.run(&args).exits(0));
        }
    }
    mark.is_in_no_file_below(scenario.path());
}

/// How each command is tried; what clap knows beyond these fails the test.
const COMMANDS: [&str; 25] = [
    "init made",
    "validate --strict",
    "plan --svg plan.svg --ics plan.ics",
    "dry-run digest --run-commands",
    "dry-run digest --count",
    "run digest",
    "models",
    "daemon",
    "demo --seed 1",
    "status",
    "history --text",
    "why digest",
    "report --compare 14d",
    "report --html page.html",
    "simulate --days 1 --seeds 1 --compare jobs",
    "pause digest --reason quiet",
    "resume digest",
    "retry digest",
    "drop digest",
    "store check",
    "store backup copy.db",
    "mock --port 0",
    "config",
    "completions bash",
    "man",
];

/// The commands that go on until they are told to stop, and what each says once it is under way.
const SERVING: [(&str, &str); 3] = [
    ("daemon", "plan stands"),
    ("mock", "listening on"),
    // A whole night takes a quarter of a minute.
    ("demo", "attempt 2"),
];

#[test]
fn no_command_prints_or_writes_the_key() {
    let (mark, upstream) = (Mark::new(), Hostile::start());
    let scenario = folder(&mark, &upstream);
    upstream.reply(format!("500 No\r\n\r\n{}", mark.key));
    let known: BTreeSet<String> = leaves(&Args::command()).into_iter().collect();
    let mut tried = BTreeSet::new();
    for command in COMMANDS {
        let args: Vec<&str> = command.split(' ').collect();
        let path = if args[0] == "store" {
            args[..2].join(" ")
        } else {
            args[0].to_owned()
        };
        tried.insert(path);
        if let Some((_, ready)) = SERVING.iter().find(|(name, _)| *name == args[0]) {
            unsaid(&mark, command, serve(&scenario, &args, ready));
            continue;
        }
        for format in ["human", "json"] {
            let args = [&args[..], &["--format", format]].concat();
            let done = unsaid(&mark, command, scenario.run(&args));
            assert_ne!(done.code, -1, "{command} was ended by a signal");
        }
    }
    assert_eq!(tried, known);
    mark.is_in_no_file_below(scenario.path());
}

/// The names of all commands that do something.
fn leaves(command: &clap::Command) -> Vec<String> {
    let inner = command
        .get_subcommands()
        .filter(|inner| inner.get_name() != "help");
    let named = inner.flat_map(|inner| {
        let name = inner.get_name().to_owned();
        let below = leaves(inner);
        if below.is_empty() {
            return vec![name];
        }
        below
            .into_iter()
            .map(|leaf| format!("{name} {leaf}"))
            .collect()
    });
    named.collect()
}

/// Starts a command that serves, and stops it once it does.
fn serve(scenario: &Scenario, args: &[&str], ready: &str) -> Done {
    let mut running = scenario.start(args);
    let mut seen = String::new();
    let to_errors = args[0] == "daemon";
    let mut lines: Box<dyn BufRead> = if to_errors {
        Box::new(BufReader::new(running.stderr()))
    } else {
        Box::new(BufReader::new(running.stdout()))
    };
    while !seen.contains(ready) {
        assert!(lines.read_line(&mut seen).unwrap() > 0, "{seen}");
    }
    running.signal("TERM");
    std::io::Read::read_to_string(&mut lines, &mut seen).unwrap();
    let done = running.wait();
    Done {
        stdout: done.stdout + &seen,
        ..done
    }
}

/// An answer is the user's own, whatever is in it; it stands where he wants it and nowhere else.
#[test]
fn answer_that_holds_the_key_is_in_the_output_and_in_no_log() {
    let (mark, upstream) = (Mark::new(), Hostile::start());
    let scenario = folder(&mark, &upstream);
    upstream.answer(&mark.key);
    unsaid(&mark, "run", scenario.run(&["run", "digest"]).exits(0));
    assert_eq!(scenario.read("out/digest.md"), mark.key);
    fs::remove_dir_all(scenario.path().join("out")).unwrap();
    unsaid(
        &mark,
        "history",
        scenario.run(&["history", "--text"]).exits(0),
    );
    mark.is_in_no_file_below(scenario.path());
}

/// What was printed and written would not be found if the search itself were blind.
#[test]
fn search_finds_the_key_in_every_spelling() {
    let mark = Mark::new();
    for told in mark.spellings() {
        assert!(
            mark.found_in(format!("before {told} after").as_bytes())
                .is_some(),
            "{told}"
        );
    }
    assert!(mark.found_in(b"nothing of it").is_none());
}
