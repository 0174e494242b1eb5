//! `pause`: keeps a job or a group still at a person's word.

use std::io::Write;

use chrono::{DateTime, TimeDelta, Utc};

use super::names::Names;
use super::{CliError, Context, Exit, args, json, times};
use crate::engine::pause::{Pause, PauseTarget};
use crate::schedule::Zone;
use crate::store::SqliteStore;

/// Writes the pause; a daemon heeds it from its next claim on, without a signal.
pub fn run(context: &Context, args: &args::Pause, out: &mut dyn Write) -> Result<Exit, CliError> {
    let config = context.settings()?;
    let now = context.now();
    let pause = Pause {
        target: Names::of(&config).find(&args.name)?,
        since: now,
        until: end(args, now)?,
        reason: args.reason.clone(),
        ended_at: None,
    };
    let store = SqliteStore::open(&config.store.path)?;
    context.block_on(async { Ok(store.pause(pause.clone()).await?) })?;
    if context.is_json() {
        writeln!(out, "{}", json::pause(&pause))?;
        return Ok(Exit::Done);
    }
    let zone = config.plan.peaks.zone();
    let stands = match &pause.target {
        PauseTarget::Job(_) => "its slots are skipped, its deferred work waits",
        PauseTarget::Group(_) => "the slots of its jobs are skipped, their deferred work waits",
    };
    writeln!(
        out,
        "{}: paused {}; {stands}",
        pause.target,
        words(&pause, zone, now)
    )?;
    Ok(Exit::Done)
}

/// When the pause ends by itself.
fn end(args: &args::Pause, now: DateTime<Utc>) -> Result<Option<DateTime<Utc>>, CliError> {
    if let Some(span) = args.span {
        let end = TimeDelta::from_std(span)
            .ok()
            .and_then(|span| now.checked_add_signed(span));
        return end.map(Some).ok_or_else(|| CliError::Refused {
            what: "`--for` is longer than the calendar".to_owned(),
            help: "leave it out to pause until `offpeak resume`".to_owned(),
        });
    }
    match args.until {
        Some(until) if until <= now => Err(CliError::Refused {
            what: format!("`--until {}` is past", json::instant(until)),
            help: "name an instant ahead, or a span with `--for`".to_owned(),
        }),
        until => Ok(until),
    }
}

/// `until Thu 2026-12-24 05:00 JST (holidays)`.
pub fn words(pause: &Pause, zone: &Zone, now: DateTime<Utc>) -> String {
    let name = match &pause.target {
        PauseTarget::Job(job) => job.as_str(),
        PauseTarget::Group(group) => group.as_str(),
    };
    let end = match pause.until {
        Some(until) => times::short(zone, now, until),
        None => format!("`offpeak resume {name}`"),
    };
    match &pause.reason {
        Some(reason) => format!("until {end} ({reason})"),
        None => format!("until {end}"),
    }
}
