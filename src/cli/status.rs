//! `status`: what is next, what waits, and how the guards stand.

use std::io::Write;

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::json;

use super::{CliError, Context, Exit, json as twins, linting, money, pause, times};
use crate::config::Config;
use crate::engine::pause::{Pause, PauseTarget, Pauses};
use crate::engine::ports::{Deferral, Delivery, OpenBatch, Store};
use crate::guard::{BreakerState, DollarCaps, Guard};
use crate::job::{GroupId, JobId};
use crate::outcome::Run;
use crate::schedule::Zone;
use crate::store::{DaemonLock, HistoryFilter, RefusedFiles};

mod waiting;

/// How many coming slots and past runs are shown.
const SHOWN: u32 = 5;

/// How many lines are shown of what is wrong with refused files.
const SHOWN_FINDINGS: usize = 8;

/// The daemon writes its sign of life each minute; two are missed before anybody is alarmed.
const SILENCE: TimeDelta = TimeDelta::seconds(150);

/// All that the store says.
#[derive(Debug, Default)]
struct Seen {
    daemon: Option<u32>,
    alive_at: Option<DateTime<Utc>>,
    deferrals: Vec<Deferral>,
    owed: Vec<Delivery>,
    batches: Vec<OpenBatch>,
    pauses: Pauses,
    guards: Vec<(GroupId, Guard)>,
    damaged: Vec<(GroupId, String)>,
    refused: Option<RefusedFiles>,
    runs: Vec<Run>,
}

impl Seen {
    /// When a daemon that runs could write to the store last, if that is too long ago. It cannot say so itself: what it
    /// would say it with is the store.
    fn unwritten_since(&self, now: DateTime<Utc>) -> Option<DateTime<Utc>> {
        let at = self.daemon.and(self.alive_at)?;
        (now - at > SILENCE).then_some(at)
    }
}

/// Prints it; reads the files and the store, writes nothing.
pub fn run(context: &Context, out: &mut dyn Write) -> Result<Exit, CliError> {
    let config = context.settings()?;
    let seen = look(context, &config)?;
    let now = context.now();
    let next = linting::next_slots(&config.plan, now, SHOWN as usize);
    if context.is_json() {
        writeln!(
            out,
            "{}",
            as_json(&config.guard.budget.dollars(), &seen, &next, now)
        )?;
    } else {
        as_text(&config, &seen, &next, now, out)?;
    }
    Ok(Exit::Done)
}

fn look(context: &Context, config: &Config) -> Result<Seen, CliError> {
    let Some(store) = context.reader(config)? else {
        return Ok(Seen::default());
    };
    let filter = HistoryFilter {
        limit: Some(SHOWN),
        ..HistoryFilter::default()
    };
    context.block_on(async {
        Ok(Seen {
            daemon: DaemonLock::holder(&config.store.path),
            alive_at: store.liveness().await?.map(|beat| beat.at),
            deferrals: store.deferrals().await?,
            owed: store.deliveries().await?,
            batches: store.batches().await?,
            pauses: store.pauses().await?,
            guards: store.guards().await?,
            damaged: store.damaged_guards().await?,
            refused: store.refused_files().await?,
            runs: store.history(filter).await?,
        })
    })
}

fn as_text(
    config: &Config,
    seen: &Seen,
    next: &[(DateTime<Utc>, String)],
    now: DateTime<Utc>,
    out: &mut dyn Write,
) -> std::io::Result<()> {
    let zone = config.plan.peaks.zone();
    daemon_lines(seen, now, out)?;
    if let Some(refused) = &seen.refused {
        let since = times::distance(now, refused.since);
        writeln!(
            out,
            "files     not taken over ({since}); the plan before them stands:"
        )?;
        for line in refused.why.lines().take(SHOWN_FINDINGS) {
            writeln!(out, "          {line}")?;
        }
        match refused.why.lines().count().saturating_sub(SHOWN_FINDINGS) {
            0 => {}
            more => writeln!(out, "          and {more} lines more: offpeak validate")?,
        }
        writeln!(
            out,
            "next      by the files as they are, not by the plan that stands:"
        )?;
    }
    for (at, job) in next {
        let paused = if is_paused(config, seen, job, *at) {
            ", paused"
        } else {
            ""
        };
        writeln!(
            out,
            "next      {job:<20} {} ({}){paused}",
            times::short(zone, now, *at),
            times::distance(now, *at)
        )?;
    }
    for pause in seen.pauses.on(now) {
        writeln!(out, "{}", paused_line(pause, zone, now))?;
    }
    for deferral in &seen.deferrals {
        let goes = goes_on(config, seen, deferral, now);
        let due = times::short(zone, now, deferral.slot.fire_at);
        writeln!(
            out,
            "deferred  {:<20} due {due}, {}: {goes}",
            deferral.slot.job, deferral.wait.reason
        )?;
    }
    waiting::lines(&seen.owed, &seen.batches, (zone, now), out)?;
    for (group, guard) in &seen.guards {
        writeln!(out, "group     {:<20} {}", group, words(guard, now))?;
        if let Some(spent) = money::spent_words(guard, &config.guard.budget.dollars(), now) {
            writeln!(out, "spent     {group:<20} {spent}")?;
        }
    }
    for (group, why) in &seen.damaged {
        writeln!(out, "group     {group:<20} {why}")?;
    }
    for run in &seen.runs {
        let outcome = run
            .outcome
            .as_ref()
            .map_or_else(|| "running".to_owned(), ToString::to_string);
        writeln!(
            out,
            "last      {:<20} {} {outcome}",
            run.job,
            times::short(zone, now, run.fire_at)
        )?;
    }
    Ok(())
}

/// Whether a daemon runs, and whether it can write.
fn daemon_lines(seen: &Seen, now: DateTime<Utc>, out: &mut dyn Write) -> std::io::Result<()> {
    match (seen.daemon, seen.alive_at) {
        (Some(pid), _) => writeln!(out, "daemon    running, pid {pid}")?,
        (None, Some(at)) => writeln!(
            out,
            "daemon    not running, last seen {}",
            times::distance(now, at)
        )?,
        (None, None) => writeln!(out, "daemon    not running")?,
    }
    if let Some(at) = seen.unwritten_since(now) {
        writeln!(
            out,
            "store     last written {}: its disk may be full, read-only or slow; slots wait and nothing is sent, the \
             daemon's log says why",
            times::distance(now, at)
        )?;
    }
    Ok(())
}

/// Whether a coming slot lies in a pause; `name` is a job's, or `pickup:GROUP`.
fn is_paused(config: &Config, seen: &Seen, name: &str, at: DateTime<Utc>) -> bool {
    let job = JobId::new(name);
    let planned = config.plan.jobs.get(&job);
    let group = match planned {
        Some(planned) => planned.job.group.clone(),
        None => GroupId::new(name.trim_start_matches("pickup:")),
    };
    seen.pauses.cover(&job, &group, at)
}

fn paused_line(pause: &Pause, zone: &Zone, now: DateTime<Utc>) -> String {
    let name = match &pause.target {
        PauseTarget::Job(job) => job.to_string(),
        PauseTarget::Group(group) => format!("group {group}"),
    };
    let since = times::distance(now, pause.since);
    let words = pause::words(pause, zone, now);
    format!("paused    {name:<20} {words}, began {since}")
}

/// Where deferred work goes, or that a pause keeps it.
fn goes_on(config: &Config, seen: &Seen, deferral: &Deferral, now: DateTime<Utc>) -> String {
    let job = &deferral.slot.job;
    let planned = config.plan.jobs.get(job);
    let home = planned.map_or(&deferral.group, |planned| &planned.job.group);
    if seen.pauses.of(job, home, now).is_some() {
        return "waits for the end of the pause".to_owned();
    }
    match deferral.wait.to {
        Some(to) => format!(
            "goes to {}",
            times::short(config.plan.peaks.zone(), now, to)
        ),
        None => "goes to the next slot".to_owned(),
    }
}

/// How a group's guard stands, in words.
pub fn words(guard: &Guard, now: DateTime<Utc>) -> String {
    let breaker = match guard.breaker.state {
        BreakerState::Closed => "breaker closed".to_owned(),
        BreakerState::Open { since } => {
            format!("breaker open since {}", times::distance(now, since))
        }
        BreakerState::HalfOpen { .. } => "breaker half-open, one probe under way".to_owned(),
    };
    match guard.hold.as_ref().filter(|hold| hold.is_active(now)) {
        None => breaker,
        Some(hold) => match hold.until {
            Some(until) => format!(
                "held until {} ({}); {breaker}",
                twins::instant(until),
                hold.note
            ),
            None => format!("held until `offpeak resume` ({}); {breaker}", hold.note),
        },
    }
}

fn as_json(
    caps: &DollarCaps,
    seen: &Seen,
    next: &[(DateTime<Utc>, String)],
    now: DateTime<Utc>,
) -> serde_json::Value {
    let next: Vec<_> = next
        .iter()
        .map(|(at, job)| json!({ "job": job, "fire_at": twins::instant(*at) }))
        .collect();
    let deferrals: Vec<_> = seen.deferrals.iter().map(twins::deferral).collect();
    let groups: Vec<_> = seen
        .guards
        .iter()
        .map(|(group, guard)| twins::guard(group, guard, caps, now))
        .collect();
    json!({
        "daemon": seen.daemon.map(|pid| json!({ "pid": pid })),
        "owed": waiting::owed(&seen.owed),
        "batches": waiting::batches(&seen.batches),
        "last_seen": seen.alive_at.map(twins::instant),
        "unwritten_since": seen.unwritten_since(now).map(twins::instant),
        "refused_files": seen.refused.as_ref().map(|refused| json!({
            "since": twins::instant(refused.since),
            "why": refused.why.lines().collect::<Vec<_>>(),
        })),
        "next": next,
        "deferrals": deferrals,
        "pauses": seen.pauses.on(now).map(twins::pause).collect::<Vec<_>>(),
        "groups": groups,
        "runs": seen.runs.iter().map(twins::run).collect::<Vec<_>>(),
    })
}
