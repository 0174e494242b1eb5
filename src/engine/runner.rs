//! `run_slot`: gathers, has the portions of the work done, and closes the run.

use std::path::PathBuf;
use std::sync::Arc;

use chrono::{DateTime, Utc};

use super::desk::{Busy, Desk};
use super::notice::Notice;
use super::pace::{Gate, Pace};
use super::pickup::Place;
use super::portion::{End, Order, Piece, Portion, STOPPED};
use super::ports::{
    Deferral, DeliveryEnd, Finish, Gathered, StoreError, Unready, Upstream, Workspace,
};
use super::purse::Purse;
use super::settle::{self, Past, Settled};
use super::timeline::{Planned, Timeline};
use crate::answer::Answer;
use crate::job::{Handing, Which};
use crate::money::Dollars;
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
    pub delivery: Option<DeliveryEnd>,
    pub output: Option<PathBuf>,
    pub trouble: Option<String>,
    pub cost: Option<Dollars>,
    pub group: Group,
}

/// What became of the work of a run.
#[derive(Debug)]
pub(super) enum Done {
    /// It has ended.
    Ended(Box<Ended>),
    /// A batch was handed in: the run stays open.
    HandedIn,
}

/// How a run was closed.
#[derive(Debug)]
pub(super) struct Closed {
    /// What the store did not take is an error.
    pub finish: Result<Finish, Box<Finish>>,
    pub group: Group,
}

impl Group {
    /// Whether the group may send more after a gate refused: what a run may cost is no matter of its group.
    pub const fn after((reason, _): Gate) -> Self {
        match reason {
            YieldReason::MaxCost => Self::Open,
            YieldReason::Budget
            | YieldReason::Dollars
            | YieldReason::Breaker
            | YieldReason::Hint
            | YieldReason::Peak
            | YieldReason::Hold
            | YieldReason::Shutdown
            | YieldReason::Missed
            | YieldReason::Interrupted
            | YieldReason::Exhausted
            | YieldReason::Batch
            | YieldReason::Asked => Self::Refused,
        }
    }
}

impl Runner {
    /// Does a slot's own work, and then what waits for a slot of its group.
    pub async fn run_slot(self, work: Work) {
        let Some(planned) = self.timeline.planned(&work.slot.job) else {
            self.close_gone(&work).await;
            return;
        };
        let place = Place::slot(&planned.job.job, work.carried_at);
        let closed = self.run(planned, work).await;
        match closed.map_or(Group::Open, |closed| closed.group) {
            Group::Open => self.take_deferrals(&place).await,
            Group::Refused => {}
        }
    }

    /// Does the work of one run and closes it; `None` if it stays open until a batch is answered.
    pub async fn run(&self, planned: Planned<'_>, work: Work) -> Option<Closed> {
        let late = self.desk.now() - work.carried_at;
        self.desk.say(Notice::Started {
            slot: work.slot.clone(),
            run: work.run,
            origin: work.origin,
            late: late.to_std().unwrap_or_default(),
        });
        let ended = match self.work(planned, &work).await {
            Done::Ended(ended) => *ended,
            Done::HandedIn => {
                self.desk.note_batch();
                work.busy.stay();
                return None;
            }
        };
        Some(self.wind_up(planned, &work, ended).await)
    }

    /// Closes a run whose work has ended.
    pub(super) async fn wind_up(&self, planned: Planned<'_>, work: &Work, ended: Ended) -> Closed {
        let group = ended.group;
        let finish = self.finish(planned, work, ended).await;
        Closed {
            finish: self.close(work, finish).await,
            group,
        }
    }

    async fn work(&self, planned: Planned<'_>, work: &Work) -> Done {
        let job = &planned.job.job;
        let now = self.desk.now();
        let policy = &planned.job.defer;
        if let Some(reason) = work
            .carried
            .as_ref()
            .and_then(|it| settle::lapsed(policy, it, now))
        {
            return Done::ended(Ended::plain(failed(reason), None));
        }
        let inputs = match self.graced(self.workspace().gather(job, &work.slot)).await {
            Some(Gathered::Ready(inputs)) => inputs,
            Some(Gathered::Empty) => {
                let outcome = Outcome::Skipped(SkipReason::EmptyInput);
                let settled = Settled {
                    outcome,
                    wait: None,
                };
                return Done::ended(Ended::plain(settled, None));
            }
            Some(Gathered::Failed(Unready { reason, message })) => {
                return Done::ended(Ended::plain(failed(reason), Some(message)));
            }
            None => return Done::ended(self.yielded(planned, work, STOPPED)),
        };
        let pace = Pace::new(&planned.group.guard, planned.job.retry.max_attempts());
        let purse = Purse::new(job.max_cost);
        let order = Order {
            planned,
            work,
            inputs: &inputs,
            pace: &pace,
            purse: &purse,
        };
        // A person who asks for a run waits for it.
        let is_batch = job.handing == Handing::Batch && work.origin != Origin::Manual;
        let ended = match &job.for_each {
            _ if is_batch => match self.hand_in(order).await {
                Some(ended) => ended,
                None => return Done::HandedIn,
            },
            Some(for_each) => self.items(order, for_each).await,
            None => self.chain(order).await,
        };
        Done::ended(Ended {
            cost: purse.known(),
            ..ended
        })
    }

    /// Does the one chain of calls of a job without items.
    async fn chain(&self, order: Order<'_>) -> Ended {
        let store = &self.desk.world.store;
        let answers = if order.planned.job.job.then.is_empty() {
            Vec::new()
        } else {
            match store.progress(&order.work.slot, Which::All).await {
                Ok(known) => known.steps.into_iter().map(|step| step.text).collect(),
                Err(error) => return self.settle_piece(order, self.broken(&error)),
            }
        };
        let portion = Portion {
            item: None,
            answers,
        };
        let piece = self.portion(order, &portion).await;
        self.settle_piece(order, piece)
    }

    /// What becomes of a run whose only portion ended like this.
    pub(super) fn settle_piece(&self, order: Order<'_>, piece: Piece) -> Ended {
        let (planned, work) = (order.planned, order.work);
        let ended = match piece.end {
            End::Closed(outcome) => Ended::plain(
                Settled {
                    outcome,
                    wait: None,
                },
                None,
            ),
            End::Left(gate) => self.yielded(planned, work, gate),
            End::Exhausted => {
                let settled = settle::exhausted(&planned.job.defer, work.past(), self.desk.now());
                Ended::plain(settled, None)
            }
        };
        let ended = Ended {
            answer: piece.answer,
            delivery: piece.delivery,
            output: piece.output,
            trouble: piece.trouble,
            ..ended
        };
        match piece.unrecorded {
            Some(error) => ended.unrecorded(&error),
            None => ended,
        }
    }

    fn yielded(&self, planned: Planned<'_>, work: &Work, gate: Gate) -> Ended {
        let settled = settle::yielded(&planned.job.defer, work.past(), gate, self.desk.now());
        Ended {
            group: Group::after(gate),
            ..Ended::plain(settled, None)
        }
    }

    /// What this run's plan sends through, whatever the newest has.
    pub(super) fn upstream(&self) -> &dyn Upstream {
        let own = self.timeline.plan.edge.as_ref();
        own.map_or(&*self.desk.world.upstream, |edge| &*edge.upstream)
    }

    pub(super) fn workspace(&self) -> &dyn Workspace {
        let own = self.timeline.plan.edge.as_ref();
        own.map_or(&*self.desk.world.workspace, |edge| &*edge.workspace)
    }

    /// Work that the stop signal leaves alone for the plan's grace.
    pub(super) async fn graced<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        let clock = &*self.desk.world.clock;
        self.desk
            .stop
            .or_grace(clock, self.timeline.plan.grace, work)
            .await
    }
}

impl Work {
    pub(super) fn past(&self) -> Past<'_> {
        Past {
            slot: &self.slot,
            wait: self.carried.as_ref().map(|deferral| &deferral.wait),
            has_exhausted: false,
        }
    }
}

impl Done {
    fn ended(ended: Ended) -> Self {
        Self::Ended(Box::new(ended))
    }
}

impl Ended {
    pub(super) fn plain(settled: Settled, trouble: Option<String>) -> Self {
        Self {
            settled,
            answer: None,
            delivery: None,
            output: None,
            trouble,
            cost: None,
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
