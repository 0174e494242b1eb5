//! `retry`: makes the work of a slot that has ended pending again.

use std::io::Write;
use std::sync::Arc;

use super::{CliError, Context, Exit, args, json, pause, times};
use crate::engine::again::{self, Again, NotAgain};
use crate::engine::ports::Store;
use crate::job::JobId;
use crate::store::SqliteStore;

/// Writes the deferral; a daemon takes it at the slot that is printed, without a signal.
pub fn run(context: &Context, args: &args::Retry, out: &mut dyn Write) -> Result<Exit, CliError> {
    let config = context.settings()?;
    let id = JobId::new(&args.job);
    let planned = config.plan.jobs.get(&id);
    let job = &planned
        .ok_or_else(|| context.unknown_job(&config, &args.job))?
        .job;
    let store = SqliteStore::open_existing(&config.store.path)?
        .ok_or_else(|| refused(args, &NotAgain::Unknown))?;
    let now = context.now();
    let (slot, wait, pauses) = context.block_on(async {
        let pending = store.deferrals().await?;
        let plan = Arc::clone(&config.plan);
        let wait = again::wait_again(plan, &id, &pending, now).ok_or_else(|| CliError::No {
            what: format!("job `{id}` is disabled: no slot would take its work"),
            help: format!("enable it first, or run it now: offpeak run {id}"),
        })?;
        let asked = Again {
            job: id.clone(),
            fire_at: args.fire_at,
            group: job.group.clone(),
            model: job.template.model.clone(),
            wait: wait.clone(),
            now,
        };
        let slot = store.retry(asked).await?;
        let slot = slot.map_err(|why| refused(args, &why))?;
        Ok((slot, wait, store.pauses().await?))
    })?;
    let still = pauses.of(&id, &job.group, now);
    if context.is_json() {
        let told = json::again(&slot, &wait, still);
        writeln!(out, "{told}")?;
        return Ok(Exit::Done);
    }
    let zone = config.plan.peaks.zone();
    let goes_on = match (still, wait.to) {
        (Some(still), _) => format!(
            "{} is paused {}",
            still.target,
            pause::words(still, zone, now)
        ),
        (None, Some(to)) => format!("goes on in the slot of {}", times::short(zone, now, to)),
        (None, None) => "goes on in the first slot that may take it".to_owned(),
    };
    let due = times::local(zone, slot.fire_at);
    writeln!(
        out,
        "job {id}: the slot of {due} is pending again; {goes_on}"
    )?;
    Ok(Exit::Done)
}

fn refused(args: &args::Retry, why: &NotAgain) -> CliError {
    let job = &args.job;
    let history = || format!("see `offpeak history {job}`");
    let (what, help) = match why {
        NotAgain::Unknown => match args.fire_at {
            Some(at) => (
                format!("job `{job}` has no slot of {} on record", json::instant(at)),
                history(),
            ),
            None => (
                format!("job `{job}` has no slot on record yet"),
                format!("run it now: offpeak run {job}"),
            ),
        },
        NotAgain::Succeeded(slot, other) => (
            format!(
                "the slot of {} of job `{job}` succeeded",
                json::instant(slot.fire_at)
            ),
            match other {
                Some(other) => format!(
                    "the newest that did not: offpeak retry {job} {}",
                    json::instant(other.fire_at)
                ),
                None => format!("run it once more: offpeak run {job}"),
            },
        ),
        NotAgain::Pending(slot) => (
            format!(
                "the work of the slot of {} of job `{job}` is pending already",
                json::instant(slot.fire_at)
            ),
            "see `offpeak status` for where it goes".to_owned(),
        ),
        NotAgain::Owed(slot) => (
            format!(
                "the answer of the slot of {} of job `{job}` is there, and on its way to its places",
                json::instant(slot.fire_at)
            ),
            "mend the place, and the daemon delivers it; see `offpeak status` for the next try"
                .to_owned(),
        ),
        NotAgain::UnderWay(slot) => (
            format!(
                "the slot of {} of job `{job}` is under way",
                json::instant(slot.fire_at)
            ),
            history(),
        ),
    };
    CliError::No { what, help }
}
