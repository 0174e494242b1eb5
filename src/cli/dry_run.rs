//! `dry-run`: what a job would send, and when. Writes nothing; sends nothing and needs no key, but with `--count`.

use std::io::Write;
use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::json;

use super::{
    CliError, Context, Exit, args, count, json as twins, linting, money, prompts, status, times,
};
use crate::anthropic::estimate::{block_ends, input_tokens};
use crate::anthropic::{Models, wire};
use crate::clock::SystemClock;
use crate::config::Config;
use crate::engine::PlannedJob;
use crate::engine::ports::Unready;
use crate::guard::{DollarCaps, Guard};
use crate::job::{Delivery, Handing, JobId, Request};
use crate::price::Estimate;
use crate::slot::Slot;
use crate::workspace::{Prepared, Preview, RunCommands};

mod pieces;
mod places;

use places::Place;

/// How many coming slots are shown.
const NEXT: usize = 3;

/// Everything that a dry run shows.
struct Sketch<'a> {
    models: Models,
    caps: DollarCaps,
    planned: &'a PlannedJob,
    slot: Slot,
    now: DateTime<Utc>,
    findings: Vec<String>,
    preview: Preview,
    shown: Option<pieces::Shown>,
    guard: Option<Guard>,
    next: Vec<DateTime<Utc>>,
    /// The input tokens as the API counts them, if it was asked.
    counted: Option<u64>,
}

/// Prints one slot of a job as it would be.
pub fn run(context: &Context, args: &args::DryRun, out: &mut dyn Write) -> Result<Exit, CliError> {
    let config = context.load(&[])?;
    let id = JobId::new(&args.job);
    let planned = config
        .plan
        .jobs
        .get(&id)
        .ok_or_else(|| context.unknown_job(&config, &args.job))?;
    let now = context.now();
    let fire_at = args
        .at
        .or_else(|| planned.timetable.next_after(now))
        .ok_or_else(|| CliError::Refused {
            what: format!("job `{id}` never fires"),
            help: "see `offpeak validate`, or name an instant with --at".to_owned(),
        })?;
    let sketch = sketch(context, &config, planned, &Slot { job: id, fire_at }, args)?;
    if context.is_json() {
        writeln!(out, "{}", as_json(&sketch))?;
    } else {
        as_text(context, &config, &sketch, out)?;
    }
    Ok(match sketch.preview.prepared {
        Prepared::Ready(_) | Prepared::Empty | Prepared::NotListed => Exit::Done,
        Prepared::Failed(..) => Exit::No,
    })
}

fn sketch<'a>(
    context: &Context,
    config: &Config,
    planned: &'a PlannedJob,
    slot: &Slot,
    args: &args::DryRun,
) -> Result<Sketch<'a>, CliError> {
    let verdict = crate::lint::check(
        &linting::subjects(config),
        &linting::rules(config),
        slot.fire_at,
    );
    let commands = if args.run_commands {
        RunCommands::Yes
    } else {
        RunCommands::No
    };
    let files = context.files(config, Arc::new(SystemClock::new()));
    let of = (&planned.job, slot);
    let (mut preview, shown) =
        pieces::preview(context, &files, of, commands, args.item.as_deref())?;
    if planned.job.handing == Handing::Batch
        && let Prepared::Ready(request) = &mut preview.prepared
    {
        // There is no stream in a batch.
        request.delivery = Delivery::Whole;
    }
    let guard = match context.reader(config)? {
        None => None,
        Some(store) => context
            .block_on(async { Ok(store.guards().await?) })?
            .into_iter()
            .find_map(|(group, guard)| (group == planned.job.group).then_some(guard)),
    };
    let counted = match &preview.prepared {
        Prepared::Ready(request) if args.count => Some(count::ask(context, config, request)?),
        Prepared::Ready(_) | Prepared::Empty | Prepared::NotListed | Prepared::Failed(..) => None,
    };
    Ok(Sketch {
        models: money::models(config),
        caps: config.guard.budget.dollars(),
        planned,
        slot: slot.clone(),
        now: context.now(),
        findings: linting::titles_of(&verdict, &slot.job),
        preview,
        shown,
        guard,
        next: linting::upcoming(&planned.timetable, slot.fire_at, NEXT),
        counted,
    })
}

impl Sketch<'_> {
    /// What the request will take: by the API's count, if it was asked.
    fn estimate(&self, request: &Request) -> Estimate {
        match self.counted {
            Some(tokens) => self.models.counted(request, tokens),
            None => self.models.estimate(request),
        }
    }

    /// Whether the job's schedule names this very instant.
    fn is_scheduled(&self) -> bool {
        let fire_at = self.slot.fire_at;
        let just_before = fire_at - TimeDelta::nanoseconds(1);
        self.planned.timetable.next_after(just_before) == Some(fire_at)
    }
}

fn as_text(
    context: &Context,
    config: &Config,
    sketch: &Sketch<'_>,
    out: &mut dyn Write,
) -> std::io::Result<()> {
    let (zone, peaks) = (sketch.planned.timetable.zone(), config.plan.peaks.zone());
    let job = &sketch.planned.job;
    let fire_at = sketch.slot.fire_at;
    writeln!(out, "slot      {}", times::both(zone, peaks, fire_at))?;
    if !sketch.is_scheduled() {
        writeln!(out, "note      the schedule names no slot at this instant")?;
    }
    writeln!(out, "group     {}, key {}", job.group, job.key)?;
    if job.handing == Handing::Batch {
        let how = "as one message batch, at half the price below; answered within a day";
        writeln!(out, "delivery  {how}")?;
    }
    match &sketch.guard {
        None => writeln!(out, "guard     nothing recorded yet")?,
        Some(guard) => {
            writeln!(out, "guard     {}", status::words(guard, sketch.now))?;
            if let Some(spent) = money::spent_words(guard, &sketch.caps, sketch.now) {
                writeln!(out, "spent     {spent}")?;
            }
        }
    }
    match &sketch.findings[..] {
        [] => writeln!(out, "lint      no finding")?,
        findings => findings
            .iter()
            .try_for_each(|finding| writeln!(out, "lint      {finding}"))?,
    }
    for place in places::of(&sketch.planned.job, &sketch.preview) {
        writeln!(out, "output    {}", place.words(&config.folder))?;
    }
    for at in &sketch.next {
        writeln!(out, "then      {}", times::both(zone, peaks, *at))?;
    }
    pieces::as_text(job, sketch.shown.as_ref(), out)?;
    prepared_as_text(context, sketch, out)
}

fn prepared_as_text(
    context: &Context,
    sketch: &Sketch<'_>,
    out: &mut dyn Write,
) -> std::io::Result<()> {
    let request = match &sketch.preview.prepared {
        Prepared::Ready(request) => request,
        Prepared::Empty if sketch.shown.as_ref().is_some_and(pieces::Shown::is_empty) => {
            return writeln!(out, "\nthere is no item: the slot would be skipped");
        }
        Prepared::Empty => {
            return writeln!(out, "\nevery input is empty: the slot would be skipped");
        }
        Prepared::NotListed => return Ok(()),
        Prepared::Failed(Unready { reason, message }) => {
            return writeln!(out, "\nthe run would fail ({reason}): {message}");
        }
    };
    let estimate = sketch.estimate(request);
    writeln!(
        out,
        "input     {}",
        money::input_words(&estimate, sketch.counted)
    )?;
    writeln!(out, "answer    at most {} tokens", estimate.output_max)?;
    let cost = money::cost_words(&sketch.models, &request.model, &estimate);
    writeln!(out, "cost      {cost}")?;
    if let Some(calls) = pieces::most_calls(&sketch.planned.job, sketch.shown.as_ref()) {
        writeln!(
            out,
            "          of this call alone; a slot makes up to {calls}"
        )?;
    }
    for advice in cache_advice(&sketch.models, request) {
        writeln!(out, "cache     {advice}")?;
    }
    for (index, block) in request.system.iter().enumerate() {
        let text = context.screen.still(block.text.trim_end());
        writeln!(out, "\n--- {}\n{text}", heading(request, index))?;
    }
    let prompt = context.screen.still(request.prompt.trim_end());
    writeln!(out, "\n--- prompt\n{prompt}")?;
    match wire::body(request) {
        Ok(body) => writeln!(
            out,
            "\n--- request body\n{}",
            context.screen.still(&pretty(&body))
        ),
        Err(error) => writeln!(out, "\nthe request cannot be sent: {error}"),
    }?;
    let then = &sketch.preview.then;
    pieces::steps_as_text(context, &sketch.planned.job, then, out)
}

/// `system`, or which of its blocks; the breakpoint at the end of a block is named.
fn heading(request: &Request, index: usize) -> String {
    let count = request.system.len();
    let block = match count {
        1 => "system".to_owned(),
        _ => format!("system, block {} of {count}", index + 1),
    };
    match request.system[index].cache {
        Some(ttl) if count > 1 => format!("{block}, cached for {}", ttl.as_str()),
        Some(_) | None => block,
    }
}

/// What the offline facts say about each breakpoint of the system prompt.
fn cache_advice(models: &Models, request: &Request) -> Vec<String> {
    let model = prompts::model(models, &request.model, input_tokens(request));
    let Some(minimum) = model.min_cacheable_tokens else {
        return Vec::new();
    };
    let advice = |(index, tokens): (usize, u64)| {
        request.system[index].cache?;
        let what = match request.system.len() {
            1 => "the system prompt".to_owned(),
            _ => format!("the system prompt up to block {}", index + 1),
        };
        Some(if model.can_cache(tokens) {
            format!("{what} of about {tokens} tokens is cached")
        } else {
            format!(
                "{what} has about {tokens} tokens; this model caches from {minimum} on, so nothing is cached"
            )
        })
    };
    block_ends(request)
        .into_iter()
        .enumerate()
        .filter_map(advice)
        .collect()
}

fn pretty(value: &serde_json::Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default()
}

fn as_json(sketch: &Sketch<'_>) -> serde_json::Value {
    let job = &sketch.planned.job;
    let mut value = json!({
        "job": job.id.as_str(),
        "fire_at": twins::instant(sketch.slot.fire_at),
        "scheduled": sketch.is_scheduled(),
        "group": job.group.as_str(),
        "findings": sketch.findings,
        "guard": sketch.guard.as_ref().map(|guard| twins::guard(&job.group, guard, &sketch.caps, sketch.now)),
        "output": sketch.preview.output.as_ref().and_then(|path| path.as_ref().ok()).map(|path| path.display().to_string()),
        "outputs": places::of(job, &sketch.preview).iter().filter_map(Place::as_json).collect::<Vec<_>>(),
        "next": sketch.next.iter().map(|at| twins::instant(*at)).collect::<Vec<_>>(),
    });
    let pieces = pieces::as_json(job, sketch.shown.as_ref(), &sketch.preview.then);
    for (name, member) in pieces {
        value[name] = member;
    }
    match &sketch.preview.prepared {
        Prepared::Ready(request) => {
            let estimate = sketch.estimate(request);
            value["request"] = pieces::body(request);
            value["estimate"] = money::estimate(&estimate, &sketch.models, &request.model);
            if sketch.counted.is_some() {
                value["estimate"]["counted_by"] = json!("api");
            }
            if let Some(calls) = pieces::most_calls(job, sketch.shown.as_ref()) {
                value["estimate"]["max_calls"] = json!(calls);
            }
        }
        Prepared::Empty => value["skipped"] = json!("empty_input"),
        Prepared::NotListed => {}
        Prepared::Failed(Unready { reason, message }) => {
            value["failed"] = json!({ "reason": reason.as_str(), "message": message });
        }
    }
    value
}
