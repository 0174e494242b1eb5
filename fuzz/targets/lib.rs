//! What the targets do with bytes: here as a configuration, which is read, proved and drawn; [`upstream`] has the rest.

pub mod upstream;

use std::cell::OnceCell;
use std::path::Path;

use chrono::{DateTime, Utc};
use offpeak::config::{Mistake, Options, Reading, Report, Style, Unreadable, read, render};
use offpeak::lint::{Rules, Subject, check};

/// A job that is right, for settings to be read with.
pub const JOB: &str = "cron: \"0 5 * * *\"\ntimezone: Asia/Tokyo\nprompt: { text: hello }\n";

/// Jobs above this are read and not proved: the time of the linter is measured elsewhere.
const MAX_PROVED: usize = 50;

thread_local! {
    static FOLDER: OnceCell<tempfile::TempDir> = const { OnceCell::new() };
}

/// Writes files into the folder of this process, reads it as a configuration, and draws everything.
///
/// # Panics
///
/// The temporary folder cannot be written, or the code under test panics: that is what is looked for.
pub fn read_files(files: &[(&str, &[u8])]) {
    FOLDER.with(|folder| {
        let folder = folder.get_or_init(|| tempfile::tempdir().expect("a temporary folder"));
        for (path, bytes) in files {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
            std::fs::write(path, bytes).expect("a file");
        }
        draw(&reading(folder.path()));
    });
}

fn reading(folder: &Path) -> Reading {
    read(&Options {
        // The bundled zone data: an input means the same on every machine.
        zoneinfo: "/nonexistent".into(),
        ..Options::new(folder)
    })
}

fn draw(reading: &Reading) {
    let mut reports: Vec<Report> = reading.unreadable.iter().map(Report::from).collect();
    let mistakes = reading.mistakes.iter().chain(&reading.advice);
    reports.extend(mistakes.clone().map(Report::from));
    let plan = &reading.config.plan;
    if plan.jobs.len() <= MAX_PROVED {
        let subjects: Vec<Subject> = plan
            .jobs
            .values()
            .map(|planned| {
                let job = &planned.job;
                Subject::new(job.id.clone(), job.group.clone(), planned.timetable.clone())
            })
            .collect();
        let rules = Rules::new(
            plan.min_gap,
            reading.config.comfortable_gap,
            plan.peaks.clone(),
        );
        let verdict = check(&subjects, &rules, from());
        let findings = verdict.findings.iter();
        reports.extend(findings.map(|finding| Report::of_finding(finding, &reading.sources)));
    }
    let drawn = render(&reports, Style::Plain, 100);
    let lines: usize = mistakes
        .map(Mistake::to_string)
        .map(|line| line.len())
        .sum();
    let unreadable: usize = reading
        .unreadable
        .iter()
        .map(Unreadable::to_string)
        .map(|line| line.len())
        .sum();
    assert!(drawn.len() < 10_000_000 && lines + unreadable < 10_000_000);
    assert!(!drawn.contains('\u{1b}'), "a terminal would obey the file");
}

/// The day of every run.
#[must_use]
pub fn from() -> DateTime<Utc> {
    "2026-12-01T00:00:00Z".parse().expect("an instant")
}
