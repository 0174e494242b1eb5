//! `validate`: proves that the schedule keeps its rules on any date.

mod explain;
mod github;
mod remark;
mod root;
mod sarif;

use std::fmt::Write as _;
use std::io::Write;

use chrono::{DateTime, Datelike, Utc};
use serde_json::json;

use super::args::{self, Format};
use super::fix::{self, Applied, How, Mending};
use super::{CliError, Context, Exit, json as twins, linting, times};
use crate::config::Reading;
use crate::job::JobState;
use crate::lint::{Finding, Verdict};

use root::Root;

/// The years in which a proof may begin: it needs 28 years of known zone offsets.
const FIRST_YEAR: i32 = 1971;
const LAST_YEAR: i32 = 2170;

/// How many firings of each job are shown.
const NEXT: usize = 3;

/// Reads, proves, prints; 0 clean, 1 findings, 2 something could not be read.
pub fn run(
    context: &Context,
    args: &args::Validate,
    out: &mut dyn Write,
) -> Result<Exit, CliError> {
    if let Some(asked) = &args.explain {
        context.refuse_formats_of_validate("is for findings, not for `--explain`")?;
        return explain::run(context, asked.as_deref(), out);
    }
    if args.fix {
        context.refuse_formats_of_validate("is for findings, not for what `--fix` changes")?;
    }
    let reading = context.read(&args.jobs);
    let from = args.from.unwrap_or_else(|| context.now());
    provable(from)?;
    let mut told = Vec::new();
    let mending = match how(args) {
        Some(how) => Some(fix::schedule(context, &reading, (from, how), &mut told)?),
        None => None,
    };
    let applied = mending.as_ref().map(|mending| &mending.applied);
    let proof = proof(context, args, (reading, from), applied);
    let Proof { shown, .. } = &proof;
    let printed = match context.global.format {
        // Tables are of `report` only, and refused before.
        Format::Human | Format::Csv => out
            .write_all(&told)
            .and_then(|()| as_text(context, &proof, out)),
        Format::Json => writeln!(out, "{}", as_json(&proof, mending.as_ref())),
        Format::Github => as_annotations(context, &proof, out),
        Format::Sarif => as_sarif(&shown.reading, &shown.verdict, out),
    };
    match printed {
        // A reader that has seen enough changes nothing about the verdict.
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(error.into()),
        Ok(()) | Err(_) => Ok(proof.exit(args)),
    }
}

/// Files, and what is proved of them.
struct Checked {
    reading: Reading,
    verdict: Verdict,
}

/// What is shown, and what the exit code is about.
struct Proof {
    /// The files as they are, or as they would be with the changes that are shown only.
    shown: Checked,
    /// The files as they are, where the others are shown.
    on_disk: Option<Checked>,
}

impl Checked {
    fn new(reading: Reading, from: DateTime<Utc>) -> Self {
        let config = &reading.config;
        let verdict = crate::lint::check(&linting::subjects(config), &linting::rules(config), from);
        Self { reading, verdict }
    }

    fn is_ok(&self) -> bool {
        let reading = &self.reading;
        reading.unreadable.is_empty() && reading.mistakes.is_empty() && self.verdict.is_safe()
    }
}

impl Proof {
    fn on_disk(&self) -> &Checked {
        self.on_disk.as_ref().unwrap_or(&self.shown)
    }

    fn exit(&self, args: &args::Validate) -> Exit {
        let Checked { reading, verdict } = self.on_disk();
        let advice = &mut reading.advice.iter();
        let warnings = advice.any(|mistake| mistake.accepted.is_none())
            || verdict.findings.iter().any(Finding::is_advice);
        if !reading.unreadable.is_empty() {
            Exit::Usage
        } else if !self.on_disk().is_ok() || (args.strict && warnings) {
            Exit::No
        } else {
            Exit::Done
        }
    }
}

/// What `--fix` and `--dry-run` ask for.
fn how(args: &args::Validate) -> Option<How> {
    match (args.fix, args.dry_run) {
        (false, _) => None,
        (true, false) => Some(How::Write),
        (true, true) => Some(How::Show),
    }
}

/// Proves the files after the changes: from the disk if they are written, else as they would be and as they are.
fn proof(
    context: &Context,
    args: &args::Validate,
    (before, from): (Reading, DateTime<Utc>),
    applied: Option<&Applied>,
) -> Proof {
    let changing = applied.filter(|applied| !applied.edits.is_empty());
    let (shown, on_disk) = match changing.map(|applied| (applied.how, &applied.edits)) {
        None => (before, None),
        Some((How::Write, _)) => (context.read(&args.jobs), None),
        Some((How::Show, edits)) => (context.read_edited(&args.jobs, edits), Some(before)),
    };
    Proof {
        shown: Checked::new(shown, from),
        on_disk: on_disk.map(|reading| Checked::new(reading, from)),
    }
}

/// Refuses a first instant from which nothing can be proved.
pub(super) fn provable(from: DateTime<Utc>) -> Result<(), CliError> {
    if (FIRST_YEAR..=LAST_YEAR).contains(&from.year()) {
        return Ok(());
    }
    Err(CliError::Refused {
        what: format!(
            "--from {} is outside the years {FIRST_YEAR} to {LAST_YEAR}",
            from.date_naive()
        ),
        help: "offsets of zones are known from 1970 to 2200, and a proof needs 28 years".to_owned(),
    })
}

fn as_text(context: &Context, proof: &Proof, out: &mut dyn Write) -> std::io::Result<()> {
    let Checked { reading, verdict } = &proof.shown;
    let reports = linting::reports(reading, verdict);
    if !reports.is_empty() {
        writeln!(out, "{}", linting::render(context, &reports).trim_end())?;
        writeln!(out)?;
    }
    upcoming(reading, verdict.from, out)?;
    summary(context, proof, out)
}

/// A workflow command for each thing, and the summary for the log.
fn as_annotations(context: &Context, proof: &Proof, out: &mut dyn Write) -> std::io::Result<()> {
    let Checked { reading, verdict } = &proof.shown;
    let root = Root::of_process();
    for remark in remark::all(reading, verdict) {
        writeln!(out, "{}", github::command(&remark, &root))?;
    }
    summary(context, proof, out)
}

fn as_sarif(reading: &Reading, verdict: &Verdict, out: &mut dyn Write) -> std::io::Result<()> {
    let remarks = remark::all(reading, verdict);
    writeln!(out, "{:#}", sarif::log(&remarks, &Root::of_process()))
}

/// One line: how much was found, or what is proved.
fn summary(context: &Context, proof: &Proof, out: &mut dyn Write) -> std::io::Result<()> {
    let Checked { reading, verdict } = &proof.shown;
    if proof.on_disk.is_some() {
        write!(out, "with these changes: ")?;
    }
    let counts = Counts::of(reading, verdict);
    let mut more = String::new();
    if counts.warnings > 0 {
        let warnings = linting::counted(counts.warnings, "warning");
        more = format!(", {}", context.screen.styled("1;33", &warnings));
    }
    if counts.accepted > 0 {
        let _ = write!(more, ", {} accepted", counts.accepted);
    }
    let jobs = linting::counted(reading.config.plan.jobs.len(), "job");
    if counts.errors > 0 {
        let errors = linting::counted(counts.errors, "error");
        let errors = context.screen.styled("1;31", &errors);
        return writeln!(out, "{jobs}: {errors}{more}");
    }
    let groups = linting::counted(reading.config.plan.groups.len(), "group");
    let proof = format!(
        "{} before {}",
        linting::proved(&reading.config, verdict),
        verdict.until.date_naive()
    );
    writeln!(
        out,
        "{jobs} in {groups}: {}{more}",
        context.screen.styled("1;32", &proof)
    )
}

/// How many things are said, by how bad they are.
struct Counts {
    errors: usize,
    warnings: usize,
    accepted: usize,
}

impl Counts {
    fn of(reading: &Reading, verdict: &Verdict) -> Self {
        let advice = reading.advice.iter();
        let accepted = advice.filter(|mistake| mistake.accepted.is_some()).count();
        let findings = |which: fn(&Finding) -> bool| {
            let findings = verdict.findings.iter();
            findings.filter(|finding| which(finding)).count()
        };
        Self {
            errors: reading.unreadable.len()
                + reading.mistakes.len()
                + findings(Finding::is_stopping),
            warnings: reading.advice.len() - accepted + findings(Finding::is_advice),
            accepted: accepted + findings(|finding| finding.accepted.is_some()),
        }
    }
}

/// The next firings of each enabled job in its zone and in that of the windows.
fn upcoming(reading: &Reading, from: DateTime<Utc>, out: &mut dyn Write) -> std::io::Result<()> {
    let plan = &reading.config.plan;
    let peaks = plan.peaks.zone();
    for planned in plan.jobs.values() {
        let zone = planned.timetable.zone();
        if planned.job.state == JobState::Disabled {
            writeln!(out, "{:<20} disabled", planned.job.id)?;
            continue;
        }
        for (index, at) in linting::upcoming(&planned.timetable, from, NEXT)
            .into_iter()
            .enumerate()
        {
            let name = if index == 0 {
                planned.job.id.as_str()
            } else {
                ""
            };
            writeln!(out, "{name:<20} {}", times::both(zone, peaks, at))?;
        }
    }
    if !plan.jobs.is_empty() {
        writeln!(out)?;
    }
    Ok(())
}

fn as_json(proof: &Proof, mending: Option<&Mending>) -> serde_json::Value {
    let Checked { reading, verdict } = &proof.shown;
    let mut findings: Vec<serde_json::Value> = Vec::new();
    findings.extend(reading.unreadable.iter().map(twins::unreadable));
    let mistakes = reading.mistakes.iter().chain(&reading.advice);
    findings.extend(mistakes.map(twins::mistake));
    findings.extend(
        verdict
            .findings
            .iter()
            .map(|finding| twins::finding(finding, linting::place(reading, finding).as_ref())),
    );
    let mut whole = json!({
        "version": 1,
        "from": twins::instant(verdict.from),
        "until": twins::instant(verdict.until),
        "jobs": reading.config.plan.jobs.len(),
        "ok": proof.on_disk().is_ok(),
        "findings": findings,
    });
    if let Some(mending) = mending {
        whole["changes"] = json!(mending.applied.changes);
        whole["written"] = json!(mending.applied.is_written());
        whole["stuck"] = json!(mending.stuck);
        if let Some(why) = &mending.not_changed {
            whole["not_changed"] = json!(why);
        }
    }
    whole
}
