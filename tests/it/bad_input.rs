//! Bad input: what `validate` draws of each mistake, and that no bytes cost more than they should.
//!
//! `fuzz/corpus` holds the inputs that were found or thought of; they are read again here, and changed at random. How
//! to look for more is in `fuzz/README.md`.

use std::path::Path;

use offpeak::config::{Mistake, Options, Reading, Report, Style, Unreadable, read, render};
use offpeak::schedule::{CronExpr, Timetable, Zones};
use proptest::prelude::*;

use crate::scenario::{Scenario, repository};

mod drawn;
mod files;
mod limits;

const JOB: &str = "cron: \"0 5 * * *\"\ntimezone: Asia/Tokyo\nprompt: { text: hello }\n";

/// Reads a working folder; the bundled zone data decides, not that of the machine.
fn reading(scenario: &Scenario) -> Reading {
    read(&Options {
        zoneinfo: "/nonexistent".into(),
        ..Options::new(scenario.path())
    })
}

/// Everything that can be shown of a reading.
fn everything(reading: &Reading) -> String {
    let unreadable = reading.unreadable.iter();
    let mistakes = reading.mistakes.iter().chain(&reading.advice);
    let reports: Vec<Report> = unreadable
        .clone()
        .map(Report::from)
        .chain(mistakes.clone().map(Report::from))
        .collect();
    let lines: Vec<String> = unreadable
        .map(Unreadable::to_string)
        .chain(mistakes.map(Mistake::to_string))
        .collect();
    let drawn = render(&reports, Style::Plain, 100);
    format!("{drawn}\n{}\n{reading:?}", lines.join("\n"))
}

/// The inputs of one fuzz target, by name.
fn corpus(target: &str) -> Vec<(String, Vec<u8>)> {
    let folder = repository().join("fuzz/corpus").join(target);
    let entries = std::fs::read_dir(folder).unwrap();
    let mut inputs: Vec<_> = entries
        .map(|entry| entry.unwrap().path())
        .map(|path| (name(&path), std::fs::read(&path).unwrap()))
        .collect();
    inputs.sort();
    assert!(!inputs.is_empty(), "{target}");
    inputs
}

fn name(path: &Path) -> String {
    path.file_name().unwrap().to_string_lossy().into_owned()
}

/// Reads bytes as a job file and as settings, and shows everything.
fn shown(bytes: &[u8]) -> [String; 2] {
    let scenario = Scenario::new();
    scenario.write("jobs/a.yaml", bytes);
    let as_job = everything(&reading(&scenario));
    scenario.write("jobs/a.yaml", JOB);
    scenario.write("offpeak.yaml", bytes);
    [as_job, everything(&reading(&scenario))]
}

/// Reads a zone and an expression, and asks for a few fire times.
fn ask_for_times(text: &str) {
    let (zone, cron) = text.split_once('\n').unwrap_or(("Europe/London", text));
    let expr = match CronExpr::parse(cron) {
        Ok(expr) => expr,
        Err(error) => {
            assert!(cron.get(error.span.clone()).is_some(), "{cron}: {error:?}");
            assert!(error.help.is_some(), "{cron}: {error:?}");
            return;
        }
    };
    let Ok(zone) = Zones::bundled().get(zone) else {
        return;
    };
    let timetable = Timetable::new(vec![expr], zone);
    let mut at = "2026-12-01T00:00:00Z".parse().unwrap();
    for _ in 0..5 {
        match timetable.next_after(at) {
            Some(next) => at = next,
            None => break,
        }
    }
}

#[test]
fn every_input_of_the_corpus_is_read_and_drawn() {
    for (name, bytes) in corpus("yaml").into_iter().chain(corpus("settings")) {
        for text in shown(&bytes) {
            assert!(text.len() < 1_000_000, "{name}: {} bytes", text.len());
            assert!(!text.contains('\u{1b}'), "{name}");
        }
    }
    for (_, bytes) in corpus("cron") {
        ask_for_times(std::str::from_utf8(&bytes).unwrap());
    }
}

#[test]
fn every_mistake_of_the_corpus_names_a_way_out() {
    // These say what the field takes; the message itself is the way out.
    let is_plain = |message: &str| {
        ["expected ", " outside ", " is none of "]
            .iter()
            .any(|part| message.contains(part))
    };
    for (name, bytes) in corpus("yaml").into_iter().chain(corpus("settings")) {
        for file in ["jobs/a.yaml", "offpeak.yaml"] {
            let scenario = Scenario::new();
            scenario.write("jobs/a.yaml", JOB);
            scenario.write(file, &bytes);
            let reading = reading(&scenario);
            for unreadable in &reading.unreadable {
                assert!(unreadable.help.is_some(), "{name}: {unreadable}");
                assert!(
                    !unreadable.message.contains("budget"),
                    "{name}: {unreadable}"
                );
            }
            for mistake in &reading.mistakes {
                let helps = mistake.help.is_some() || is_plain(&mistake.message);
                assert!(helps, "{name}: {mistake}");
            }
        }
    }
}

/// One change of an input: where, how many bytes go, and what comes.
type Change = (prop::sample::Index, usize, Vec<u8>);

fn change() -> impl Strategy<Value = Change> {
    let signs = b"{}[]:,&*!|>'\"%@`#-~? \n\t\r<=0123456789aZ\0\xc3\xa9\xff".to_vec();
    let bytes = proptest::collection::vec(prop::sample::select(signs), 0..6);
    (any::<prop::sample::Index>(), 0..8_usize, bytes)
}

fn changed(mut bytes: Vec<u8>, changes: &[Change]) -> Vec<u8> {
    for (at, gone, new) in changes {
        let start = at.index(bytes.len() + 1);
        let end = (start + gone).min(bytes.len());
        bytes.splice(start..end, new.iter().copied());
    }
    bytes
}

const SECRET: &str = "sk-ant-api03-Zq9xPlanted_Secret-77";

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn no_change_of_the_corpus_panics(
        (target, which) in (prop::sample::select(vec!["yaml", "settings"]), any::<prop::sample::Index>()),
        changes in proptest::collection::vec(change(), 1..4),
    ) {
        let inputs = corpus(target);
        let bytes = changed(which.get(&inputs).1.clone(), &changes);
        for text in shown(&bytes) {
            prop_assert!(!text.contains('\u{1b}'), "{}", text);
        }
    }

    #[test]
    fn no_change_of_an_expression_panics(
        which in any::<prop::sample::Index>(),
        changes in proptest::collection::vec(change(), 1..4),
    ) {
        let inputs = corpus("cron");
        let bytes = changed(which.get(&inputs).1.clone(), &changes);
        ask_for_times(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn a_secret_planted_anywhere_is_never_shown(
        (target, which) in (prop::sample::select(vec!["yaml", "settings"]), any::<prop::sample::Index>()),
        at in any::<prop::sample::Index>(),
        changes in proptest::collection::vec(change(), 0..2),
    ) {
        let inputs = corpus(target);
        let mut bytes = changed(which.get(&inputs).1.clone(), &changes);
        let at = at.index(bytes.len() + 1);
        bytes.splice(at..at, SECRET.bytes());
        for text in shown(&bytes) {
            prop_assert!(!text.contains("Zq9x") && !text.contains("Planted"), "{text}");
        }
    }
}
