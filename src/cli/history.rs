//! `history`: what happened to every slot.

use std::collections::BTreeMap;
use std::io::Write;

use super::{CliError, Context, Exit, args, json, times};
use crate::job::JobId;
use crate::outcome::{Run, RunId};
use crate::report;
use crate::store::{HistoryFilter, SqliteStore};

/// Prints the newest runs, oldest first; as JSON one object a line.
pub fn run(context: &Context, args: &args::History, out: &mut dyn Write) -> Result<Exit, CliError> {
    let config = context.settings()?;
    let job = args.job.as_deref().map(JobId::new);
    let Some(store) = context.reader(&config)? else {
        return nothing(context, out, "no history yet: the daemon has not run here");
    };
    let filter = HistoryFilter {
        job: job.clone(),
        from: args.since,
        limit: Some(args.limit),
        ..HistoryFilter::default()
    };
    let runs = context.block_on(async { Ok(store.history(filter).await?) })?;
    if let Some(job) = job.filter(|job| runs.is_empty() && !config.plan.jobs.contains_key(job)) {
        return Err(context.unknown_job(&config, job.as_str()));
    }
    let texts = if args.text {
        context.block_on(kept(&store, &runs))?
    } else {
        BTreeMap::new()
    };
    if context.is_json() {
        for run in &runs {
            let mut value = json::run(run);
            if let Some(text) = texts.get(&run.id) {
                value["answer"] = text.as_str().into();
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
        if let Some(text) = texts.get(&run.id) {
            let at = times::local(config.plan.peaks.zone(), run.fire_at);
            let text = context.screen.still(text.trim_end());
            writeln!(out, "\n--- {} {at}\n{text}", run.job)?;
        }
    }
    Ok(Exit::Done)
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

fn nothing(context: &Context, out: &mut dyn Write, words: &str) -> Result<Exit, CliError> {
    if !context.is_json() {
        writeln!(out, "{words}")?;
    }
    Ok(Exit::Done)
}
