//! `history`: what happened to every slot.

use std::collections::BTreeMap;
use std::io::Write;

use serde_json::{Value, json};

use super::{CliError, Context, Exit, args, json as twins, linting, times};
use crate::config::Config;
use crate::job::{GroupId, JobId};
use crate::outcome::{Run, RunId};
use crate::report;
use crate::store::{HistoryFilter, ItemEnd, SqliteStore};

/// Prints the newest runs, oldest first; as JSON one object a line.
pub fn run(context: &Context, args: &args::History, out: &mut dyn Write) -> Result<Exit, CliError> {
    let config = context.settings()?;
    let job = args.job.as_deref().map(JobId::new);
    let Some(store) = context.reader(&config)? else {
        return nothing(context, out, "no history yet: the daemon has not run here");
    };
    let filter = HistoryFilter {
        job: job.clone(),
        group: args.group.as_ref().map(GroupId::new),
        outcome: args.outcome.clone(),
        from: args.since,
        until: args.until,
        limit: Some(args.limit),
    };
    let runs = context.block_on(async { Ok(store.history(filter).await?) })?;
    if let Some(job) = job.filter(|job| runs.is_empty() && !config.plan.jobs.contains_key(job)) {
        return Err(context.unknown_job(&config, job.as_str()));
    }
    let group = args.group.as_ref().map(GroupId::new);
    if let Some(group) = group.filter(|it| runs.is_empty() && !config.plan.groups.contains_key(it))
    {
        return Err(unknown_group(&config, &group));
    }
    let texts = if args.text {
        context.block_on(kept(&store, &runs))?
    } else {
        BTreeMap::new()
    };
    let items = if args.items {
        context.block_on(ended_items(&store, &runs))?
    } else {
        BTreeMap::new()
    };
    if context.is_json() {
        for run in &runs {
            let mut value = twins::run(run);
            if let Some(text) = texts.get(&run.id) {
                value["answer"] = text.as_str().into();
            }
            if let Some(ends) = items.get(&run.id) {
                value["items"] = ends.iter().map(item_json).collect();
            }
            writeln!(out, "{value}")?;
        }
        return Ok(Exit::Done);
    }
    if runs.is_empty() {
        return nothing(context, out, "no runs in this span");
    }
    let view = report::View::jst(context.screen.width);
    write!(out, "{}", report::render_runs(&runs, &view))?;
    for run in &runs {
        if let Some(ends) = items.get(&run.id) {
            let at = times::local(config.plan.peaks.zone(), run.fire_at);
            writeln!(out, "\n--- {} {at}", run.job)?;
            item_lines(ends, out)?;
        }
        if let Some(text) = texts.get(&run.id) {
            let at = times::local(config.plan.peaks.zone(), run.fire_at);
            let text = context.screen.still(text.trim_end());
            writeln!(out, "\n--- {} {at}\n{text}", run.job)?;
        }
    }
    Ok(Exit::Done)
}

fn unknown_group(config: &Config, group: &GroupId) -> CliError {
    let known: Vec<&str> = config.plan.groups.keys().map(GroupId::as_str).collect();
    CliError::Refused {
        what: format!("there is no group `{group}`"),
        help: linting::nearest("group", group.as_str(), &known),
    }
}

/// The answers that went to no file.
async fn kept(store: &SqliteStore, runs: &[Run]) -> Result<BTreeMap<RunId, String>, CliError> {
    let mut texts = BTreeMap::new();
    for run in runs {
        if let Some(text) = store.answer(run.id).await? {
            texts.insert(run.id, text);
        }
    }
    Ok(texts)
}

/// How the items of runs ended that have some.
async fn ended_items(
    store: &SqliteStore,
    runs: &[Run],
) -> Result<BTreeMap<RunId, Vec<ItemEnd>>, CliError> {
    let mut items = BTreeMap::new();
    for run in runs {
        let ends = store.items(run.id).await?;
        if !ends.is_empty() {
            items.insert(run.id, ends);
        }
    }
    Ok(items)
}

fn item_lines(ends: &[ItemEnd], out: &mut dyn Write) -> std::io::Result<()> {
    let widest = ends.iter().map(|end| end.name.chars().count()).max();
    let width = widest.unwrap_or_default().min(60);
    for ItemEnd {
        name,
        outcome,
        note,
    } in ends
    {
        let outcome = outcome
            .as_ref()
            .map_or("to be done again".to_owned(), ToString::to_string);
        let note = note.as_ref().map(|note| format!("  {note}"));
        writeln!(out, "{name:<width$}  {outcome}{}", note.unwrap_or_default())?;
    }
    Ok(())
}

fn item_json(end: &ItemEnd) -> Value {
    let outcome = end.outcome.as_ref();
    json!({
        "name": end.name,
        "outcome": outcome.map(crate::outcome::Outcome::as_str),
        "reason": outcome.and_then(crate::outcome::Outcome::reason),
        "note": end.note,
    })
}

fn nothing(context: &Context, out: &mut dyn Write, words: &str) -> Result<Exit, CliError> {
    if !context.is_json() {
        writeln!(out, "{words}")?;
    }
    Ok(Exit::Done)
}
