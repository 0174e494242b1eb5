//! `drop`: ends deferred work that a person does not want any more.

use std::io::Write;

use serde_json::json;

use super::{CliError, Context, Exit, args, json as twins, times};
use crate::engine::again::{Dropping, NotDropped, Which};
use crate::job::JobId;
use crate::store::SqliteStore;

/// Ends it as failed; also that of a job which the files do not have any more.
pub fn run(
    context: &Context,
    args: &args::DropWork,
    out: &mut dyn Write,
) -> Result<Exit, CliError> {
    let config = context.settings()?;
    let job = JobId::new(&args.job);
    let dropping = Dropping {
        job: job.clone(),
        which: which(args),
        reason: args.reason.clone(),
        now: context.now(),
    };
    let dropped = match SqliteStore::open_existing(&config.store.path)? {
        Some(store) => context.block_on(async { Ok(store.drop_deferrals(dropping).await?) })?,
        None => Err(NotDropped::Nothing),
    };
    let dropped = dropped.map_err(|why| match why {
        NotDropped::Nothing if !config.plan.jobs.contains_key(&job) => {
            context.unknown_job(&config, &args.job)
        }
        NotDropped::Nothing => CliError::No {
            what: nothing(args),
            help: "see `offpeak status` for what waits".to_owned(),
        },
        NotDropped::UnderWay => CliError::No {
            what: format!("the work of job `{job}` is under way"),
            help: "wait for its end, or stop the daemon first".to_owned(),
        },
    })?;
    if context.is_json() {
        let slots = dropped.iter().map(|slot| twins::instant(slot.fire_at));
        let told = json!({ "job": job.as_str(), "dropped": slots.collect::<Vec<_>>() });
        writeln!(out, "{told}")?;
        return Ok(Exit::Done);
    }
    let zone = config.plan.peaks.zone();
    for slot in &dropped {
        let due = times::local(zone, slot.fire_at);
        writeln!(out, "job {job}: the work of the slot of {due} is dropped")?;
    }
    Ok(Exit::Done)
}

fn which(args: &args::DropWork) -> Which {
    match (args.fire_at, args.all) {
        (Some(at), _) => Which::At(at),
        (None, true) => Which::All,
        (None, false) => Which::Newest,
    }
}

fn nothing(args: &args::DropWork) -> String {
    let job = &args.job;
    match args.fire_at {
        Some(at) => format!(
            "no work of the slot of {} of job `{job}` is pending",
            twins::instant(at)
        ),
        None => format!("no work of job `{job}` is pending"),
    }
}
