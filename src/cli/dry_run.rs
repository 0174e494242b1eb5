//! `dry-run`: what a job would send, and when. Writes nothing; sends nothing and needs no key, but with `--count`.

use std::io::Write;
use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::json;

use super::{CliError, Context, Exit, args, count, json as twins, linting, prompts, status, times};
use crate::answer::Usage;
use crate::anthropic::{Models, wire};
use crate::clock::SystemClock;
use crate::config::Config;
use crate::engine::PlannedJob;
use crate::engine::ports::Unready;
use crate::guard::Guard;
use crate::job::{CacheTtl, JobId, Request};
use crate::slot::Slot;
use crate::workspace::{Prepared, Preview, RunCommands};

/// How many coming slots are shown.
const NEXT: usize = 3;

/// Everything that a dry run shows.
struct Sketch<'a> {
    planned: &'a PlannedJob,
    slot: Slot,
    now: DateTime<Utc>,
    findings: Vec<String>,
    preview: Preview,
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
        Prepared::Ready(_) | Prepared::Empty => Exit::Done,
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
    let preview =
        context.block_on(async { Ok(files.preview(&planned.job, slot, commands).await) })?;
    let guard = match context.reader(config)? {
        None => None,
        Some(store) => context
            .block_on(async { Ok(store.guards().await?) })?
            .into_iter()
            .find_map(|(group, guard)| (group == planned.job.group).then_some(guard)),
    };
    let counted = match &preview.prepared {
        Prepared::Ready(request) if args.count => Some(count::ask(context, config, request)?),
        Prepared::Ready(_) | Prepared::Empty | Prepared::Failed(..) => None,
    };
    Ok(Sketch {
        planned,
        slot: slot.clone(),
        now: context.now(),
        findings: linting::titles_of(&verdict, &slot.job),
        preview,
        guard,
        next: linting::upcoming(&planned.timetable, slot.fire_at, NEXT),
        counted,
    })
}

impl Sketch<'_> {
    /// Whether the job's schedule names this very instant.
    fn is_scheduled(&self) -> bool {
        let fire_at = self.slot.fire_at;
        let just_before = fire_at - TimeDelta::nanoseconds(1);
        self.planned.timetable.next_after(just_before) == Some(fire_at)
    }
}

/// Tokens and dollars as far as they can be known offline.
struct Estimate {
    input_tokens: u64,
    max_output_tokens: u64,
    cost_usd: Option<f64>,
}

fn estimate(request: &Request) -> Estimate {
    let input_tokens = prompts::input_tokens(request);
    let max_output_tokens = u64::from(request.max_tokens);
    // A cached system prompt is billed as a write unless an entry is alive, and offline nobody knows.
    let written = |ttl| {
        let of_ttl = written(request)
            .into_iter()
            .filter(|(_, life)| *life == ttl);
        of_ttl.map(|(tokens, _)| tokens).sum::<u64>()
    };
    let (short_lived, long_lived) = (written(CacheTtl::FiveMinutes), written(CacheTtl::OneHour));
    let usage = Usage {
        input_tokens: input_tokens - short_lived - long_lived,
        cache_write_5m_tokens: short_lived,
        cache_write_1h_tokens: long_lived,
        output_tokens: max_output_tokens,
        ..Usage::default()
    };
    Estimate {
        input_tokens,
        max_output_tokens,
        cost_usd: Models::embedded().cost_usd(&request.model, &usage),
    }
}

/// The tokens between each breakpoint of the system prompt and the one before it, with its life.
pub(super) fn written(request: &Request) -> Vec<(u64, CacheTtl)> {
    let mut before = 0;
    let blocks = request.system.iter().zip(prompts::block_ends(request));
    let written = blocks.filter_map(|(block, end)| {
        let life = block.cache?;
        Some((end - std::mem::replace(&mut before, end), life))
    });
    written.collect()
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
    match &sketch.guard {
        None => writeln!(out, "guard     nothing recorded yet")?,
        Some(guard) => writeln!(out, "guard     {}", status::words(guard, sketch.now))?,
    }
    match &sketch.findings[..] {
        [] => writeln!(out, "lint      no finding")?,
        findings => findings
            .iter()
            .try_for_each(|finding| writeln!(out, "lint      {finding}"))?,
    }
    match &sketch.preview.output {
        Some(Ok(path)) => {
            let path = path.strip_prefix(&config.folder).unwrap_or(path);
            writeln!(out, "output    {}", path.display())?;
        }
        Some(Err(message)) => writeln!(out, "output    none: {message}")?,
        None => writeln!(
            out,
            "output    none: the store keeps the answer; see `offpeak history --text`"
        )?,
    }
    for at in &sketch.next {
        writeln!(out, "then      {}", times::both(zone, peaks, *at))?;
    }
    prepared_as_text(context, sketch, out)
}

/// Tokens and dollars as far as they can be known offline, in a line.
fn estimated(request: &Request) -> String {
    let estimate = estimate(request);
    let cost = estimate.cost_usd.map_or_else(
        || "unknown price".to_owned(),
        |cost| format!("about ${cost:.4} if all of it is used"),
    );
    format!(
        "estimate  about {} input tokens (offline, ±30 %), at most {} output: {cost}",
        estimate.input_tokens, estimate.max_output_tokens
    )
}

fn prepared_as_text(
    context: &Context,
    sketch: &Sketch<'_>,
    out: &mut dyn Write,
) -> std::io::Result<()> {
    let request = match &sketch.preview.prepared {
        Prepared::Ready(request) => request,
        Prepared::Empty => {
            return writeln!(out, "\nevery input is empty: the slot would be skipped");
        }
        Prepared::Failed(Unready { reason, message }) => {
            return writeln!(out, "\nthe run would fail ({reason}): {message}");
        }
    };
    match sketch.counted {
        Some(tokens) => writeln!(out, "{}", count::line(request, tokens))?,
        None => writeln!(out, "{}", estimated(request))?,
    }
    for advice in cache_advice(request) {
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
    }
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
fn cache_advice(request: &Request) -> Vec<String> {
    let model = prompts::model(
        &Models::embedded(),
        &request.model,
        prompts::input_tokens(request),
    );
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
    prompts::block_ends(request)
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
        "guard": sketch.guard.as_ref().map(|guard| twins::guard(&job.group, guard, sketch.now)),
        "output": sketch.preview.output.as_ref().and_then(|path| path.as_ref().ok()).map(|path| path.display().to_string()),
        "next": sketch.next.iter().map(|at| twins::instant(*at)).collect::<Vec<_>>(),
    });
    match &sketch.preview.prepared {
        Prepared::Ready(request) => {
            let estimate = estimate(request);
            value["request"] = wire::body(request)
                .unwrap_or_else(|error| json!({ "unsendable": error.to_string() }));
            value["estimate"] = json!({
                "input_tokens": estimate.input_tokens,
                "max_output_tokens": estimate.max_output_tokens,
                "cost_usd": estimate.cost_usd,
            });
            if let Some(tokens) = sketch.counted {
                value["estimate"] = count::json(request, tokens);
            }
        }
        Prepared::Empty => value["skipped"] = json!("empty_input"),
        Prepared::Failed(Unready { reason, message }) => {
            value["failed"] = json!({ "reason": reason.as_str(), "message": message });
        }
    }
    value
}
