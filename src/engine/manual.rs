//! `run_once`: one run that a person asks for.

use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::watch;

use super::desk::{Desk, Patience};
use super::error::EngineError;
use super::notice::Notice;
use super::plan::Plan;
use super::ports::{Finish, ManualStart, StoreError, World};
use super::runner::{Runner, Work};
use super::stop::{Stop, StopSignal};
use super::timeline::{Planned, Timeline};
use crate::job::JobId;
use crate::slot::{Origin, Slot};

/// Time for input commands, and for an output command that reads slowly.
const FILES: Duration = Duration::from_mins(30);

/// What a person asks for.
#[derive(Debug, Clone)]
pub struct Asked {
    /// The plan that names the job.
    pub plan: Arc<Plan>,
    /// The job; a disabled one runs too.
    pub job: JobId,
    /// The instant that the run's slot carries, for `{{ date }}` and the history.
    pub fire_at: DateTime<Utc>,
}

/// Runs a job now, through the same guard and store; the schedule stays as it is.
///
/// Peak windows do not hold it back. Work that yields is deferred like any other, for the daemon to pick up, except
/// that of a disabled job, which fails: no slot would take it. The run itself takes no deferrals.
///
/// # Errors
///
/// [`EngineError::UnknownJob`], or [`EngineError::Store`] if the run could not be begun or closed;
/// [`EngineError::Unrecorded`] if it could not be closed and has an answer.
pub async fn run_once(
    world: World,
    asked: Asked,
    stop: watch::Receiver<Stop>,
    notices: UnboundedSender<Notice>,
) -> Result<Finish, EngineError> {
    let Asked { plan, job, fire_at } = asked;
    let desk = Desk::new(world, StopSignal::new(stop), notices, Patience::FewTries);
    let timeline = Arc::new(Timeline::new(plan, Vec::new(), desk.now()));
    let unknown = || EngineError::UnknownJob(job.clone());
    let planned = timeline.planned(&job).ok_or_else(unknown)?;
    let slot = Slot {
        fire_at,
        job: job.clone(),
    };
    let start = ManualStart {
        slot: slot.clone(),
        group: planned.job.job.group.clone(),
        model: planned.job.job.template.model.clone(),
        lease_until: lease_of(planned, desk.now()),
    };
    let run = desk.world.store.begin_manual(start).await?;
    let runner = Runner {
        desk: Arc::clone(&desk),
        timeline: Arc::clone(&timeline),
    };
    let busy = desk.occupy(run, &job);
    let work = Work {
        run,
        slot,
        origin: Origin::Manual,
        carried_at: fire_at,
        carried: None,
        busy,
    };
    let unclosed = || {
        let what = format!(
            "run {} could not be closed; it counts as interrupted",
            run.0
        );
        EngineError::Store(StoreError::Failed(what))
    };
    let closed = runner.run(planned, work).await.ok_or_else(unclosed)?;
    closed.finish.map_err(|finish| match finish.answer {
        Some(_) => EngineError::Unrecorded(finish),
        None => unclosed(),
    })
}

/// When a run that a person asked for counts as lost: every attempt and wait of a call at its longest, and the files.
/// Each further call puts it off, [`super::keep::lease_after`].
fn lease_of(planned: Planned<'_>, now: DateTime<Utc>) -> DateTime<Utc> {
    let (job, retry) = (&planned.job.job, &planned.job.retry);
    let attempt = job.timeout.saturating_add(retry.max_delay());
    let span = attempt
        .saturating_mul(retry.max_attempts())
        .saturating_add(FILES);
    let span = TimeDelta::from_std(span).unwrap_or(TimeDelta::MAX);
    now.checked_add_signed(span)
        .unwrap_or(DateTime::<Utc>::MAX_UTC)
}
