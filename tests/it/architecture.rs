//! The shape of the house: rings, reach, file sizes, shortcuts and words.
//!
//! The tables are in `architecture/rules.rs`; a ring changes there, in `src/lib.rs` and in ARCHITECTURE.md together.

mod rules;
mod source;

use std::fs;
use std::path::Path;

use rules::{
    orphans, other_words, other_words_in, outside_reach, shortcuts, too_long, wrong_arrows,
    wrong_rings,
};
use source::{Source, read_all};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn all_keep(rule: fn(&Source) -> Vec<String>) {
    hold(&read_all(root()).iter().flat_map(rule).collect::<Vec<_>>());
}

fn hold(wrong: &[String]) {
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
}

/// What a rule says about a file that is not there.
fn said(rule: fn(&Source) -> Vec<String>, path: &str, text: &str) -> Vec<String> {
    rule(&Source::new(path, text))
}

#[test]
fn every_arrow_leads_to_a_lower_ring() {
    all_keep(wrong_arrows);
}

#[test]
fn every_module_stands_in_one_ring() {
    hold(&wrong_rings(&read_all(root())));
}

#[test]
fn core_and_engine_reach_nothing_outside() {
    all_keep(outside_reach);
}

#[test]
fn no_file_is_too_long() {
    all_keep(too_long);
}

#[test]
fn no_lint_is_silenced_and_no_panic_hidden() {
    all_keep(shortcuts);
}

#[test]
fn code_and_its_texts_use_the_words_of_the_glossary() {
    all_keep(other_words);
}

#[test]
fn what_users_read_uses_the_words_of_the_glossary() {
    let mut wrong = Vec::new();
    for file in [
        "README.md",
        "ARCHITECTURE.md",
        "CHANGELOG.md",
        "docs/rules.md",
        "src/config/defaults.yaml",
    ] {
        let text = fs::read_to_string(root().join(file)).expect(file);
        wrong.extend(
            other_words_in(&text)
                .into_iter()
                .map(|(_, what)| format!("{file}: {what}")),
        );
    }
    hold(&wrong);
}

#[test]
fn every_file_of_this_binary_runs() {
    let folder = root().join("tests/it");
    let entries = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let rust = entries.filter(|path| path.extension().is_some_and(|extension| extension == "rs"));
    let files: Vec<String> = rust
        .map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned())
        .collect();
    assert!(files.len() > 1, "{files:?}");
    hold(&orphans(
        &fs::read_to_string(folder.join("main.rs")).unwrap(),
        &files,
    ));
}

#[test]
fn arrow_up_or_across_is_found_in_every_spelling() {
    for (path, line, to) in [
        ("src/guard/retry.rs", "use crate::engine::Plan;", "engine"),
        (
            "src/guard/retry.rs",
            "use crate::schedule::Zone;",
            "schedule",
        ),
        (
            "src/guard/retry.rs",
            "use crate::{job::JobId, store::{A, B}};",
            "store",
        ),
        ("src/guard/retry.rs", "fn a() { crate::cli::run() }", "cli"),
        ("src/guard/retry.rs", "use super::super::engine;", "engine"),
        ("src/guard/mod.rs", "use super::engine::Plan;", "engine"),
        ("src/job.rs", "use crate::slot::Slot;", "slot"),
        ("src/store/mod.rs", "use crate::config::Config;", "config"),
        (
            "src/anthropic/mod.rs",
            "use crate::standin::Faults;",
            "standin",
        ),
        ("src/engine/mod.rs", "use crate::clock::System;", "clock"),
        ("src/engine/mod.rs", "use crate::*;", "*"),
        (
            "src/cli/mod.rs",
            "use crate::no_such_module::X;",
            "no_such_module",
        ),
        ("src/cli/mod.rs", "use offpeak::main::X;", "main"),
    ] {
        let found = said(wrong_arrows, path, line);
        assert!(
            found.len() == 1 && found[0].contains(&format!("uses `{to}`")),
            "{path}: {line}: {found:?}"
        );
        assert!(found[0].starts_with(&format!("{path}:1: ")), "{found:?}");
    }
}

#[test]
fn arrow_down_or_at_home_is_no_finding() {
    for (path, line) in [
        (
            "src/lint/spacing.rs",
            "use crate::schedule::Zone; use crate::job::Job; use super::Finding;",
        ),
        (
            "src/lint/spacing.rs",
            "use crate::lint::calendar; use super::calendar;",
        ),
        ("src/schedule/cron/fields.rs", "use super::super::Zone;"),
        (
            "src/outcome.rs",
            "use crate::{answer::Usage, job::{GroupId, JobId}, slot::Origin};",
        ),
        ("src/standin/mod.rs", "use crate::anthropic::wire::Body;"),
        ("src/cli/mod.rs", "use crate::{config, standin};"),
        ("src/main.rs", "fn main() { offpeak::cli::run() }"),
        (
            "src/job.rs",
            "// use crate::cli::X;\n/// [`crate::cli`]\nconst A: &str = \"crate::cli::X\";",
        ),
        (
            "src/job.rs",
            "#[cfg(test)]\nmod tests { use crate::cli::X; }",
        ),
        ("src/lib.rs", "pub use crate::cli::run;"),
    ] {
        assert_eq!(said(wrong_arrows, path, line), [""; 0], "{path}: {line}");
    }
}

#[test]
fn module_without_a_ring_is_found_and_so_is_a_ring_without_a_module() {
    let found = wrong_rings(&[Source::new("src/extra.rs", "")]);
    assert!(
        found.contains(&"src/extra.rs: `extra` stands in no ring".to_owned()),
        "{found:?}"
    );
    assert!(
        found.contains(&"`guard` stands in a ring and not in src".to_owned()),
        "{found:?}"
    );
}

#[test]
fn core_that_reaches_outside_is_found() {
    for line in [
        "use tokio::time;",
        "#[derive(serde::Serialize)]",
        "tracing::info!(\"x\");",
        "let a = std::fs::read(b);",
        "use std::{fmt, env};",
        "SystemTime::now();",
        "async fn a() {}",
        "rand::random();",
    ] {
        assert_eq!(
            said(outside_reach, "src/guard/mod.rs", line).len(),
            1,
            "{line}"
        );
        assert_eq!(
            said(outside_reach, "src/cli/mod.rs", line),
            [""; 0],
            "{line}"
        );
    }
    let engine = "use std::fs;\nuse reqwest::Client;\nuse tokio::sync::mpsc;\nasync fn a() {}";
    let found = said(outside_reach, "src/engine/daemon.rs", engine);
    assert_eq!(
        found,
        [
            "src/engine/daemon.rs:2: ring 2 touches `reqwest`",
            "src/engine/daemon.rs:1: ring 2 touches `std::fs`"
        ]
    );
}

#[test]
fn engine_that_spawns_or_waits_by_itself_is_found() {
    for line in [
        "tokio::spawn(async {});",
        "use tokio::task;",
        "use tokio::task::JoinSet;",
        "tokio::time::sleep(span).await;",
        "use tokio::{sync::watch, time::timeout};",
        "use tokio::{spawn};",
    ] {
        let found = said(outside_reach, "src/engine/daemon.rs", line);
        assert_eq!(found.len(), 1, "{line}: {found:?}");
    }
}

#[test]
fn name_that_only_contains_a_banned_one_is_no_finding() {
    for line in [
        "let operand = 1;",
        "// tokio::spawn",
        "let a = \"serde\";",
        "use std::fmt;",
        "let is_async_like = my_tokio;",
    ] {
        assert_eq!(
            said(outside_reach, "src/guard/mod.rs", line),
            [""; 0],
            "{line}"
        );
    }
}

#[test]
fn file_of_401_lines_is_too_long_and_its_tests_do_not_count() {
    let lines = |n: usize| "fn a() {}\n".repeat(n);
    assert_eq!(said(too_long, "src/x.rs", &lines(400)), [""; 0]);
    assert_eq!(
        said(too_long, "src/x.rs", &lines(401)),
        ["src/x.rs: 401 lines; split it by 400"]
    );
    let tests = format!(
        "{}#[cfg(test)]\nmod tests {{\n{}}}\n",
        lines(400),
        lines(500)
    );
    assert_eq!(said(too_long, "src/x.rs", &tests), [""; 0]);
}

#[test]
fn shortcuts_are_found_outside_tests() {
    let text = "#![allow(dead_code)]\n#[allow(unused)]\nfn a() { b().unwrap(); todo!() }\n#[cfg(test)]\nmod tests { fn c() { d().unwrap() } }";
    let found = said(shortcuts, "src/x.rs", text);
    assert_eq!(found.len(), 4, "{found:?}");
    assert!(
        found
            .iter()
            .any(|line| line.starts_with("src/x.rs:2: `#[allow(`")),
        "{found:?}"
    );
    assert_eq!(
        said(
            shortcuts,
            "src/x.rs",
            "#[expect(unused)] fn a() { b().unwrap_or(c) } // .unwrap()"
        ),
        [""; 0]
    );
}

#[test]
fn words_outside_the_glossary_are_found_in_names_and_texts() {
    for line in [
        "fn requeue_work() {}",
        "struct NextBlackout;",
        "let in_blackout = 1;",
        "let a = \"the breaker's cooldown timeout is over\";",
        "let a = \"Postponed to 04:00\";",
    ] {
        assert_eq!(said(other_words, "src/x.rs", line).len(), 1, "{line}");
    }
    for line in [
        "fn defer() {}",
        "// the blackout of the old tool",
        "let lieutenant = 1;",
    ] {
        assert_eq!(said(other_words, "src/x.rs", line), [""; 0], "{line}");
    }
}

#[test]
fn test_file_that_its_root_does_not_name_is_found() {
    let files = ["main", "a", "b"].map(str::to_owned);
    assert_eq!(
        orphans("//! x\nmod a;\n", &files),
        ["tests/it/b.rs is not in tests/it/main.rs"]
    );
    assert_eq!(orphans("mod a;\nmod b;\n", &files), [""; 0]);
}
