//! `resume`: lifts a pause, and the hold of a group, at a person's word.

use std::io::Write;

use chrono::{DateTime, Utc};
use serde_json::json;

use super::names::Names;
use super::{CliError, Context, Exit, args, times};
use crate::config::Config;
use crate::engine::pause::{Pause, PauseTarget, Pauses};
use crate::engine::ports::Store;
use crate::guard::Hold;
use crate::job::{GroupId, JobId};
use crate::store::SqliteStore;

/// Lifts the pause; of a group the hold too, and closes its breaker. Waiting work goes at the group's next slot.
pub fn run(context: &Context, args: &args::Resume, out: &mut dyn Write) -> Result<Exit, CliError> {
    let config = context.settings()?;
    let now = context.now();
    // Where there is no store, nothing is paused or held.
    let store = SqliteStore::open_existing(&config.store.path)?;
    let pauses = match &store {
        Some(store) => context.block_on(async { Ok(store.pauses().await?) })?,
        None => Pauses::default(),
    };
    let names = Names::of(&config).with_paused(&pauses, now);
    let target = names.find(&args.name)?;
    let (pause, hold) = match &store {
        Some(store) => context.block_on(lift(store, &target, now))?,
        None => (None, None),
    };
    match &target {
        PauseTarget::Job(job) => {
            let still = pause_of_group(&config, job, &pauses, now);
            of_job(context, job, (pause.as_ref(), still), out)?;
        }
        PauseTarget::Group(group) => {
            of_group(context, group, (pause.as_ref(), hold.as_ref()), out)?;
        }
    }
    Ok(Exit::Done)
}

/// Lifts what keeps the target still: its pause, and of a group the hold.
async fn lift(
    store: &SqliteStore,
    target: &PauseTarget,
    now: DateTime<Utc>,
) -> Result<(Option<Pause>, Option<Hold>), CliError> {
    let pause = store.lift_pause(target.clone(), now).await?;
    let hold = match target {
        PauseTarget::Job(_) => None,
        PauseTarget::Group(group) => lift_hold(store, group, now).await?,
    };
    Ok((pause, hold))
}

async fn lift_hold(
    store: &SqliteStore,
    group: &GroupId,
    now: DateTime<Utc>,
) -> Result<Option<Hold>, CliError> {
    let guards = store.guards().await?;
    store.resume(group.clone(), now).await?;
    Ok(guards
        .into_iter()
        .find_map(|(name, guard)| guard.hold.filter(|_| name == *group)))
}

/// The group's pause, which keeps the job still after its own is lifted.
fn pause_of_group<'a>(
    config: &Config,
    job: &JobId,
    pauses: &'a Pauses,
    now: DateTime<Utc>,
) -> Option<&'a Pause> {
    let group = &config.plan.jobs.get(job)?.job.group;
    let target = PauseTarget::Group(group.clone());
    pauses.on(now).find(|pause| pause.target == target)
}

fn of_job(
    context: &Context,
    job: &JobId,
    (lifted, still): (Option<&Pause>, Option<&Pause>),
    out: &mut dyn Write,
) -> std::io::Result<()> {
    if context.is_json() {
        let told = json!({
            "job": job.as_str(),
            "pause_lifted": lifted.is_some(),
            "group_paused": still.is_some(),
        });
        return writeln!(out, "{told}");
    }
    match lifted {
        Some(pause) => writeln!(out, "job {job}: {}", told_of(context, pause))?,
        None => writeln!(out, "job {job}: there was no pause")?,
    }
    match still.map(|pause| &pause.target) {
        Some(PauseTarget::Group(group)) => writeln!(
            out,
            "  its group is paused still: `offpeak resume group:{group}`"
        ),
        Some(PauseTarget::Job(_)) | None => Ok(()),
    }
}

fn of_group(
    context: &Context,
    group: &GroupId,
    (lifted, hold): (Option<&Pause>, Option<&Hold>),
    out: &mut dyn Write,
) -> std::io::Result<()> {
    if context.is_json() {
        let told = json!({
            "group": group.as_str(),
            "lifted": hold.is_some(),
            "pause_lifted": lifted.is_some(),
        });
        return writeln!(out, "{told}");
    }
    if let Some(pause) = lifted {
        writeln!(out, "group {group}: {}", told_of(context, pause))?;
    }
    match hold {
        Some(hold) => writeln!(out, "group {group}: the hold is lifted ({})", hold.note),
        None => writeln!(
            out,
            "group {group}: there was no hold; the breaker is closed"
        ),
    }
}

fn told_of(context: &Context, pause: &Pause) -> String {
    let since = times::distance(context.now(), pause.since);
    match &pause.reason {
        Some(reason) => format!("the pause is lifted (began {since}; {reason})"),
        None => format!("the pause is lifted (began {since})"),
    }
}
