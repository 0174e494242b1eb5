//! `run`: one run of a job now, through the same guard and store as the daemon's.

use std::io::Write;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use tokio::sync::{mpsc, watch};

use super::exit::Deferral;
use super::{CliError, Context, Exit, args, json, logging, pause, signals, times};
use crate::config::Config;
use crate::engine::ports::{Finish, Store, StoreError};
use crate::engine::{Asked, EngineError, Notice, Stop, run_once};
use crate::job::JobId;
use crate::outcome::{FailReason, Outcome, Run, YieldReason};
use crate::schedule::Zone;
use crate::store::SqliteStore;

/// Runs the job; its exit code tells the outcome.
pub fn run(context: &Context, args: &args::Run, out: &mut dyn Write) -> Result<Exit, CliError> {
    let config = context.load(&[])?;
    let id = JobId::new(&args.job);
    let planned = config
        .plan
        .jobs
        .get(&id)
        .ok_or_else(|| context.unknown_job(&config, &args.job))?;
    context.start_logging();
    let now = context.now();
    if let Some(window) = config.plan.peaks.containing(now) {
        let zone = config.plan.peaks.zone().name();
        tracing::warn!(
            "now is in the peak window {window} {zone}: answers are slow and rate limits near"
        );
    }
    context.require_key(&config, &planned.job.key)?;
    let ended = context.block_on(once(context, &config, &id));
    if let Err(CliError::Engine(EngineError::Unrecorded(finish))) = &ended {
        print_unrecorded(context, &id, finish, out)?;
    }
    let (finish, run, stopped) = ended?;
    print(
        context,
        config.plan.peaks.zone(),
        &Ended {
            finish: &finish,
            run: &run,
        },
        out,
    )?;
    let deferral = if finish.deferral.is_some() {
        Deferral::Written
    } else {
        Deferral::None
    };
    let cut_short = finish.outcome == Outcome::Yielded(YieldReason::Shutdown);
    Ok(stopped
        .filter(|_| cut_short)
        .unwrap_or_else(|| Exit::of(&finish.outcome, deferral)))
}

async fn once(
    context: &Context,
    config: &Config,
    id: &JobId,
) -> Result<(Finish, Run, Option<Exit>), CliError> {
    let store = Arc::new(SqliteStore::open(&config.store.path)?);
    // A `run` that was killed has nobody else to close its row where no daemon runs.
    for run in store.give_up(context.now()).await? {
        logging::write(&Notice::Recovered { run: Box::new(run) });
    }
    warn_of_pause(&store, config, id, context.now()).await?;
    let world = context.world(config, store.clone())?;
    let (stop, stopped) = watch::channel(Stop::Running);
    let (notices, mut heard) = mpsc::unbounded_channel();
    let asked = Asked {
        plan: Arc::clone(&config.plan),
        job: id.clone(),
        fire_at: context.now(),
    };
    let work = run_once(world, asked, stopped, notices);
    let mut signals = signals::Stops::listen()?;
    tokio::pin!(work);
    let mut by_signal = None;
    let finish = loop {
        tokio::select! {
            finish = &mut work => break finish,
            exit = signals.next(&stop) => by_signal = Some(exit),
            Some(notice) = heard.recv() => logging::write(&notice),
        }
    };
    while let Ok(notice) = heard.try_recv() {
        logging::write(&notice);
    }
    let finish = finish?;
    let run = store
        .run(finish.run)
        .await?
        .ok_or_else(|| CliError::Missing("the run that just ended".to_owned()))?;
    Ok((finish, run, by_signal))
}

/// A pause keeps the schedule still, not a person; work that yields waits for the pause's end.
async fn warn_of_pause(
    store: &SqliteStore,
    config: &Config,
    id: &JobId,
    now: DateTime<Utc>,
) -> Result<(), StoreError> {
    let pauses = store.pauses().await?;
    let group = config.plan.jobs.get(id).map(|planned| &planned.job.group);
    if let Some(still) = group.and_then(|group| pauses.of(id, group, now)) {
        let words = pause::words(still, config.plan.peaks.zone(), now);
        tracing::warn!("{} is paused {words}; this run goes ahead", still.target);
    }
    Ok(())
}

/// A run that has ended, as the engine tells it and as the store has it.
struct Ended<'a> {
    finish: &'a Finish,
    run: &'a Run,
}

/// Prints an answer that is neither in a file nor in the store: it was paid for, and this is its last place.
fn print_unrecorded(
    context: &Context,
    job: &JobId,
    finish: &Finish,
    out: &mut dyn Write,
) -> std::io::Result<()> {
    let Some(answer) = finish.answer.as_ref().filter(|_| finish.output.is_none()) else {
        return Ok(());
    };
    if context.is_json() {
        let (outcome, text) = (finish.outcome.as_str(), &answer.text);
        let line = serde_json::json!({ "job": job.as_str(), "outcome": outcome, "text": text });
        return writeln!(out, "{line}");
    }
    writeln!(out, "{}", answer.text.trim_end())
}

fn print(
    context: &Context,
    zone: &Zone,
    ended: &Ended<'_>,
    out: &mut dyn Write,
) -> std::io::Result<()> {
    let Ended { finish, run } = ended;
    if context.is_json() {
        return writeln!(out, "{}", json::run(run));
    }
    let attempts = match run.attempts.len() {
        1 => "1 attempt".to_owned(),
        n => format!("{n} attempts"),
    };
    writeln!(out, "{}: {}, {attempts}", run.job, finish.outcome)?;
    if let Some(note) = &finish.note {
        writeln!(out, "  {note}")?;
    }
    if finish.outcome == Outcome::Failed(FailReason::Output) && finish.answer.is_some() {
        writeln!(
            out,
            "  the answer is kept in the store: offpeak history {} --text",
            run.job
        )?;
    }
    if let Some(path) = &finish.output {
        writeln!(out, "  output: {}", path.display())?;
    } else if let Some(answer) = &finish.answer {
        writeln!(out, "\n{}", answer.text.trim_end())?;
    }
    if let Some(to) = &run.deferred {
        let when = to
            .to
            .map_or_else(|| "a later slot".to_owned(), |at| times::local(zone, at));
        writeln!(out, "  deferred to {when}; see `offpeak status`")?;
    }
    Ok(())
}
