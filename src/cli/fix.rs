//! `--fix`: shows what changes in which file, and writes it.
//!
//! `validate --fix` mends the schedule first; a command that has changes of its own calls [`apply`].

use std::io::Write;

use chrono::{DateTime, Utc};
use serde::Serialize;

use super::{CliError, Context, linting};
use crate::config::{self, FileEdit, Reading, Refusal, Side};
use crate::lint::{self, Change, Fixed, Mended, Reason, Stuck};

/// Whether files are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum How {
    /// They are.
    Write,
    /// The changes are shown only.
    Show,
}

/// What was changed, or would be.
#[derive(Debug)]
pub struct Applied {
    /// The changes with their places before them, for JSON.
    pub changes: Vec<Placed>,
    /// The files they change.
    pub edits: Vec<FileEdit>,
    /// Whether files were to be written.
    pub how: How,
}

/// A change and where its expression stood.
#[derive(Debug, Clone, Serialize)]
pub struct Placed {
    /// The job; pickup slots are named `pickup:GROUP`.
    pub job: String,
    /// The file, relative to the working folder where it lies inside.
    pub file: String,
    /// Counted from 1.
    pub line: usize,
    /// The expression as it was.
    pub from: String,
    /// The expression as it is.
    pub to: String,
}

/// What became of a schedule that was to be mended.
#[derive(Debug)]
pub struct Mending {
    /// What was changed, or would be.
    pub applied: Applied,
    /// The groups that stay as they are.
    pub stuck: Vec<Left>,
    /// Why nothing was mended, if what is meant is not known.
    pub not_changed: Option<String>,
}

/// A group that was left as it is.
#[derive(Debug, Clone, Serialize)]
pub struct Left {
    /// The group.
    pub group: String,
    /// The job at which it failed; pickup slots are named `pickup:GROUP`.
    pub job: String,
    /// Why, and what to do.
    pub reason: String,
}

impl Applied {
    /// Whether a file was written.
    #[must_use]
    pub fn is_written(&self) -> bool {
        self.how == How::Write && !self.edits.is_empty()
    }
}

/// Plans changes, writes them if asked to, then prints the diff and a line for each; as JSON the caller prints.
///
/// Nothing is printed before everything is written.
///
/// # Errors
///
/// A change cannot be made by itself, a file has changed since it was read, or the system refuses.
pub fn apply(
    context: &Context,
    reading: &Reading,
    changes: &[Change],
    how: How,
    out: &mut dyn Write,
) -> Result<Applied, CliError> {
    let edits = config::edits(&reading.sources, changes).map_err(|refused| refusal(&refused))?;
    if how == How::Write {
        config::write(&edits, &reading.sources)?;
    }
    let placed = changes.iter().filter_map(|change| placed(reading, change));
    let applied = Applied {
        changes: placed.collect(),
        edits,
        how,
    };
    if !context.is_json() {
        show(context, &applied, changes, out)?;
    }
    Ok(applied)
}

/// Mends a schedule around what cannot be edited.
///
/// With a file that could not be read, or a mistake that may hide a firing or a
/// rule, nothing is mended: what is not known cannot be kept clear of.
///
/// # Errors
///
/// As [`apply`].
pub fn schedule(
    context: &Context,
    reading: &Reading,
    (from, how): (DateTime<Utc>, How),
    out: &mut dyn Write,
) -> Result<Mending, CliError> {
    if let Some(why) = hidden(reading) {
        let applied = apply(context, reading, &[], how, out)?;
        say(context, out, &format!("nothing was changed: {why}"))?;
        return Ok(Mending {
            applied,
            stuck: Vec::new(),
            not_changed: Some(why),
        });
    }
    let (mended, refused) = mended(reading, from);
    let applied = apply(context, reading, &mended.changes, how, out)?;
    let mut left = Vec::new();
    for stuck in &mended.stuck {
        let (why, help) = reason(stuck, &refused);
        let group = &stuck.group;
        let line = format!("group `{group}`: {why}; nothing in this group was changed: {help}");
        say(context, out, &line)?;
        left.push(Left {
            group: group.to_string(),
            job: stuck.job.to_string(),
            reason: format!("{why}: {help}"),
        });
    }
    if mended.changes.is_empty() && mended.stuck.is_empty() {
        say(context, out, "nothing to mend")?;
    }
    Ok(Mending {
        applied,
        stuck: left,
        not_changed: None,
    })
}

/// Prints a line for people; programs read it in the JSON.
fn say(context: &Context, out: &mut dyn Write, line: &str) -> std::io::Result<()> {
    if context.is_json() {
        return Ok(());
    }
    writeln!(out, "{line}\n")
}

/// What may hide a firing or a rule, if anything does: every change might collide with what is not known.
#[must_use]
pub fn hidden(reading: &Reading) -> Option<String> {
    if let Some(unreadable) = reading.unreadable.first() {
        return Some(format!("{} could not be read", unreadable.path));
    }
    let hiding = reading.hides.as_ref()?;
    Some(format!(
        "what is meant at {} is not known ({}); mend that first",
        hiding.place, hiding.rule
    ))
}

/// The mended schedule, and what could not be edited on the way to it.
///
/// An expression that cannot be edited by itself is fixed, and the others are moved around it. Each round
/// fixes one more at least.
fn mended(reading: &Reading, from: DateTime<Utc>) -> (Mended, Vec<Refusal>) {
    let config = &reading.config;
    let (subjects, rules) = (linting::subjects(config), linting::rules(config));
    let (mut fixed, mut all) = (Fixed::new(), Vec::new());
    loop {
        let mended = lint::mend_around(&subjects, &rules, from, &fixed);
        let Err(refused) = config::edits(&reading.sources, &mended.changes) else {
            return (mended, all);
        };
        let cannot = refused.iter().map(|refusal| &refusal.change);
        fixed.extend(cannot.map(|change| (change.job.clone(), change.cron)));
        all.extend(refused);
    }
}

fn placed(reading: &Reading, change: &Change) -> Option<Placed> {
    let place = reading.sources.place_of(change)?;
    Some(Placed {
        job: change.job.to_string(),
        file: place.file().to_owned(),
        line: place.line(),
        from: change.from.clone(),
        to: change.to.clone(),
    })
}

fn show(
    context: &Context,
    applied: &Applied,
    changes: &[Change],
    out: &mut dyn Write,
) -> std::io::Result<()> {
    for line in applied.edits.iter().flat_map(FileEdit::diff) {
        let style = match line.side {
            Side::File => "1",
            Side::Hunk => "36",
            Side::Old => "31",
            Side::New => "32",
            Side::Both => "0",
        };
        writeln!(out, "{}", context.screen.styled(style, &line.text))?;
    }
    if changes.is_empty() {
        return Ok(());
    }
    writeln!(out)?;
    for change in changes {
        writeln!(out, "{change}")?;
    }
    let count = linting::counted(changes.len(), "change");
    let files = linting::counted(applied.edits.len(), "file");
    match applied.how {
        How::Write => writeln!(out, "{count} in {files} written\n"),
        How::Show => writeln!(out, "{count} in {files} not written: --dry-run\n"),
    }
}

/// Why a group was left as it is, and what to do.
fn reason(stuck: &Stuck, refused: &[Refusal]) -> (String, String) {
    let job = &stuck.job;
    match stuck.reason {
        Reason::NoRoom => (
            format!("no legal time is left for `{job}`"),
            "move a job to another key or drop firings".to_owned(),
        ),
        Reason::Itself => (
            format!("no move makes `{job}` legal, not even alone"),
            "drop firings that are too close together or too near a peak window".to_owned(),
        ),
        Reason::Fixed => {
            let own = |refusal: &&Refusal| {
                refusal.change.job == *job && refusal.change.cron == stuck.cron
            };
            let own = refused.iter().find(own);
            (
                format!("`{job}` has to move and cannot be edited"),
                own.map(why_not).unwrap_or_default(),
            )
        }
    }
}

fn why_not(refusal: &Refusal) -> String {
    match &refusal.place {
        Some(place) => format!("{place}: {}", refusal.reason),
        None => refusal.reason.clone(),
    }
}

fn refusal(refused: &[Refusal]) -> CliError {
    let first = refused.first();
    CliError::Refused {
        what: first.map_or_else(String::new, |first| {
            format!("`{}` cannot be edited", first.change.job)
        }),
        help: first.map(why_not).unwrap_or_default(),
    }
}
