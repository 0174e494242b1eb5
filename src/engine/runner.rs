//! `run_slot`: prepares, drives the call, delivers, and closes the run.

use std::path::PathBuf;
use std::sync::Arc;

use chrono::{DateTime, Utc};

use super::call::{CallEnd, CallSettings};
use super::desk::{Busy, Desk};
use super::drive::{CallOrder, Driven, drive};
use super::notice::Notice;
use super::pickup::Place;
use super::ports::{Deferral, Finish, Prepared, StoreError, Upstream, Workspace};
use super::settle::{self, Past, Settled};
use super::timeline::{Planned, Timeline};
use crate::answer::Answer;
use crate::job::{Job, Request};
use crate::outcome::{FailReason, Outcome, RunId, SkipReason, YieldReason};
use crate::slot::{Origin, Slot};

/// Runs slots by one timeline. Cheap to clone.
#[derive(Debug, Clone)]
pub(super) struct Runner {
    pub desk: Arc<Desk>,
    pub timeline: Arc<Timeline>,
}

/// A run that has begun in the store.
#[derive(Debug)]
pub(super) struct Work {
    pub run: RunId,
    /// The slot at which the work was due.
    pub slot: Slot,
    pub origin: Origin,
    /// The slot that does it now.
    pub carried_at: DateTime<Utc>,
    /// The deferral that it carries.
    pub carried: Option<Deferral>,
    /// Keeps the job's next slot from overlapping.
    #[expect(dead_code, reason = "held and not read: its drop frees the job")]
    pub busy: Busy,
}

/// Whether the group may send more in this slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Group {
    /// Nothing speaks against it.
    Open,
    /// A gate refused, or the daemon stops: what else waits would meet the same.
    Refused,
}

/// How the work of a run ended, before it is closed.
#[derive(Debug)]
pub(super) struct Ended {
    pub settled: Settled,
    pub answer: Option<Answer>,
    pub output: Option<PathBuf>,
    pub trouble: Option<String>,
    pub group: Group,
}

/// How a run was closed.
#[derive(Debug)]
pub(super) struct Closed {
    /// What the store did not take is an error.
    pub finish: Result<Finish, Box<Finish>>,
    pub group: Group,
}

impl Runner {
    /// Does a slot's own work, and then what waits for a slot of its group.
    pub async fn run_slot(self, work: Work) {
        let Some(planned) = self.timeline.planned(&work.slot.job) else {
            self.close_gone(&work).await;
            return;
        };
        let place = Place::slot(&planned.job.job, work.carried_at);
        match self.run(planned, work).await.group {
            Group::Open => self.take_deferrals(&place).await,
            Group::Refused => {}
        }
    }

    /// Does the work of one run and closes it.
    pub async fn run(&self, planned: Planned<'_>, work: Work) -> Closed {
        let late = self.desk.now() - work.carried_at;
        self.desk.say(Notice::Started {
            slot: work.slot.clone(),
            run: work.run,
            origin: work.origin,
            late: late.to_std().unwrap_or_default(),
        });
        let ended = self.work(planned, &work).await;
        let group = ended.group;
        let finish = self.finish(planned, &work, ended).await;
        Closed {
            finish: self.close(&work, finish).await,
            group,
        }
    }

    async fn work(&self, planned: Planned<'_>, work: &Work) -> Ended {
        let job = &planned.job.job;
        let now = self.desk.now();
        let policy = &planned.job.defer;
        if let Some(reason) = work
            .carried
            .as_ref()
            .and_then(|it| settle::lapsed(policy, it, now))
        {
            return Ended::plain(failed(reason), None);
        }
        match self.graced(self.workspace().prepare(job, &work.slot)).await {
            Some(Prepared::Ready(request)) => self.send(planned, work, &request).await,
            Some(Prepared::Empty) => {
                let outcome = Outcome::Skipped(SkipReason::EmptyInput);
                Ended::plain(
                    Settled {
                        outcome,
                        wait: None,
                    },
                    None,
                )
            }
            Some(Prepared::Failed(reason, text)) => Ended::plain(failed(reason), Some(text)),
            None => self.yielded(planned, work, (YieldReason::Shutdown, None)),
        }
    }

    async fn send(&self, planned: Planned<'_>, work: &Work, request: &Request) -> Ended {
        let plan = &self.timeline.plan;
        let peaks = match work.origin {
            Origin::Manual => None,
            Origin::Scheduled | Origin::Deferred | Origin::CatchUp => Some(plan.peaks.clone()),
        };
        let order = CallOrder {
            run: work.run,
            slot: &work.slot,
            group: &planned.job.job.group,
            policy: &planned.group.guard,
            settings: CallSettings {
                retry: planned.job.retry,
                peaks,
            },
            grace: plan.grace,
            request,
            upstream: self.upstream(),
        };
        match drive(&self.desk, order).await {
            Ok(driven) => self.settle(planned, work, driven).await,
            Err(error) => {
                self.desk.say_failed(&error);
                let ended = self.yielded(planned, work, (YieldReason::Interrupted, None));
                Ended {
                    trouble: Some(error.to_string()),
                    ..ended
                }
            }
        }
    }

    async fn settle(&self, planned: Planned<'_>, work: &Work, driven: Driven) -> Ended {
        let Driven {
            end,
            answer,
            trouble,
            unrecorded,
        } = driven;
        let past = work.past();
        let ended = match end {
            CallEnd::Answered => {
                let ended = self.keep(&planned.job.job, work, answer).await;
                return match unrecorded {
                    Some(error) => ended.unrecorded(&error),
                    None => ended,
                };
            }
            CallEnd::Yielded { reason, not_before } => {
                self.yielded(planned, work, (reason, not_before))
            }
            CallEnd::Exhausted => {
                let settled = settle::exhausted(&planned.job.defer, past, self.desk.now());
                Ended::plain(settled, None)
            }
            CallEnd::Failed(reason) => Ended::plain(failed(reason), None),
        };
        Ended {
            answer,
            trouble,
            ..ended
        }
    }

    fn yielded(
        &self,
        planned: Planned<'_>,
        work: &Work,
        gate: (YieldReason, Option<DateTime<Utc>>),
    ) -> Ended {
        let settled = settle::yielded(&planned.job.defer, work.past(), gate, self.desk.now());
        Ended {
            group: Group::Refused,
            ..Ended::plain(settled, None)
        }
    }

    /// Puts an answer where it belongs.
    async fn keep(&self, job: &Job, work: &Work, answer: Option<Answer>) -> Ended {
        let Some(answer) = answer else {
            // The machine says `Answered` only after an answer.
            return Ended::plain(failed(FailReason::NotAMessage), None);
        };
        let (workspace, slot, text) = (self.workspace(), &work.slot, &answer.text);
        let (outcome, kept) = match settle::judge(&job.check, &answer) {
            None => match self.graced(workspace.deliver(job, slot, text)).await {
                Some(Ok(output)) => (Outcome::Succeeded, Ok(output)),
                Some(Err(text)) => (Outcome::Failed(FailReason::Output), Err(text)),
                None => {
                    let text = "the daemon stopped while the answer was being delivered".to_owned();
                    (Outcome::Failed(FailReason::Output), Err(text))
                }
            },
            Some(reason) if text.trim().is_empty() => (Outcome::Incomplete(reason), Ok(None)),
            Some(reason) => {
                let kept = self.graced(workspace.keep_beside(job, slot, text)).await;
                (Outcome::Incomplete(reason), kept.unwrap_or(Ok(None)))
            }
        };
        let shortfall = match &outcome {
            Outcome::Incomplete(reason) => Some(settle::shortfall(*reason, &job.check, &answer)),
            Outcome::Succeeded
            | Outcome::Yielded(_)
            | Outcome::Exhausted
            | Outcome::Failed(_)
            | Outcome::Skipped(_) => None,
        };
        let (output, note) = match kept {
            Ok(output) => (output, shortfall),
            Err(trouble) => (
                None,
                Some(settle::undelivered(&job.id, shortfall, &trouble)),
            ),
        };
        let ended = Ended::plain(
            Settled {
                outcome,
                wait: None,
            },
            note,
        );
        Ended {
            answer: Some(answer),
            output,
            ..ended
        }
    }

    /// What this run's plan sends through, whatever the newest has.
    pub(super) fn upstream(&self) -> &dyn Upstream {
        let own = self.timeline.plan.edge.as_ref();
        own.map_or(&*self.desk.world.upstream, |edge| &*edge.upstream)
    }

    fn workspace(&self) -> &dyn Workspace {
        let own = self.timeline.plan.edge.as_ref();
        own.map_or(&*self.desk.world.workspace, |edge| &*edge.workspace)
    }

    /// Work that the stop signal leaves alone for the plan's grace.
    async fn graced<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        let clock = &*self.desk.world.clock;
        self.desk
            .stop
            .or_grace(clock, self.timeline.plan.grace, work)
            .await
    }
}

impl Work {
    fn past(&self) -> Past<'_> {
        Past {
            slot: &self.slot,
            wait: self.carried.as_ref().map(|deferral| &deferral.wait),
        }
    }
}

impl Ended {
    fn plain(settled: Settled, trouble: Option<String>) -> Self {
        Self {
            settled,
            answer: None,
            output: None,
            trouble,
            group: Group::Open,
        }
    }

    /// The store does not know of the attempt: the note says so, and the group sends nothing more in this slot.
    fn unrecorded(self, error: &StoreError) -> Self {
        let missing = format!("the attempt that brought the answer is not on record: {error}");
        let parts: Vec<String> = self.trouble.into_iter().chain([missing]).collect();
        Self {
            trouble: Some(parts.join("; ")),
            group: Group::Refused,
            ..self
        }
    }
}

pub(super) const fn failed(reason: FailReason) -> Settled {
    Settled {
        outcome: Outcome::Failed(reason),
        wait: None,
    }
}
