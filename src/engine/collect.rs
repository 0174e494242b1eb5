//! Looks at batches, and sorts out what they bring.

use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};

use super::batch::{
    Errand, Fetched, LOOK_TIMEOUT, NEXT_LOOK, Runabout, TURN_MISSED, blank_request,
};
use super::call::CallEnd;
use super::drive::Driven;
use super::items::{Todo, portions};
use super::pace::Pace;
use super::portion::{End, Order, Piece, Step};
use super::ports::{
    BatchOutcome, BatchResult, BatchStage, Brought, Collected, OpenBatch, Role, StoreError,
    part_name,
};
use super::purse::Purse;
use super::runner::{Ended, Runner, Work};
use super::{attempt, settle};
use crate::answer::{Answer, SendFailure};
use crate::guard::{Then, classify};
use crate::job::{Request, Which};
use crate::money::Dollars;
use crate::outcome::{Outcome, YieldReason};
use crate::piece::{CallName, Item};

/// A batch that has not ended so long after it should have expired is given up.
const PATIENCE: TimeDelta = TimeDelta::hours(2);

/// However long a gate stays closed, a batch is looked at again by then.
pub(super) const LONGEST_REST: TimeDelta = TimeDelta::hours(6);

/// How long bringing all results may take.
const COLLECT_TIMEOUT: Duration = Duration::from_hours(1);

/// What a look found.
enum Looked {
    /// Nothing yet; the next look is then.
    Later(DateTime<Utc>),
    /// The results.
    Results(Vec<BatchResult>),
    /// There will be none; why.
    Lost(String),
}

impl Runner {
    /// Looks at a batch, and ends its run once the results are there.
    pub(super) async fn look(self, open: OpenBatch) {
        let work = Work {
            run: open.run,
            slot: open.slot.clone(),
            origin: open.origin,
            carried_at: open.slot.fire_at,
            carried: open.carried.clone(),
            busy: self.desk.occupy(open.run, &open.slot.job),
        };
        let Some(planned) = self.timeline.planned(&open.slot.job) else {
            self.close_gone(&work).await;
            return;
        };
        let pace = Pace::new(&planned.group.guard, planned.job.retry.max_attempts());
        let purse = Purse::new(None);
        let order = Order {
            planned,
            work: &work,
            inputs: &[],
            pace: &pace,
            purse: &purse,
        };
        let ended = match self.look_and_sort(order, &open).await {
            Ok(ended) => ended,
            Err(next) => {
                let store = &self.desk.world.store;
                // What is not written is looked at sooner.
                let _ = self.desk.persist(|| store.looked(open.run, next)).await;
                self.desk.note_batch();
                work.busy.stay();
                return;
            }
        };
        let cost = purse.known();
        let ended = Ended { cost, ..ended };
        // What could not be closed is counted by the desk.
        let _ = self.wind_up(planned, &work, ended).await;
        self.desk.note_batch();
    }

    /// How the run ends; an error is when to look again.
    async fn look_and_sort(
        &self,
        order: Order<'_>,
        open: &OpenBatch,
    ) -> Result<Ended, DateTime<Utc>> {
        let next = self.desk.now() + NEXT_LOOK;
        let store = &self.desk.world.store;
        let todo = async {
            // First of all, so that a look that a crash cuts off is not asked for once more by the same name.
            store.looked(open.run, next).await?;
            self.parts(order, open).await
        };
        let todo = match todo.await {
            Ok(todo) => todo,
            Err(error) => {
                self.desk.say_failed(&error);
                return Err(next);
            }
        };
        let (results, missing) = match self.fetch_results(order, open).await {
            Looked::Results(results) => (results, "the batch brought no result for it".to_owned()),
            Looked::Lost(why) => (Vec::new(), why),
            Looked::Later(next) => return Err(next),
        };
        Ok(self
            .sort_out(order, (open, todo), (results, &missing))
            .await)
    }

    /// The portions that the batch was handed in for and that have no end yet, whatever the job says by now.
    async fn parts(&self, order: Order<'_>, open: &OpenBatch) -> Result<Todo, StoreError> {
        if open.batch.parts.iter().all(Option::is_none) {
            return Ok(Todo::only());
        }
        let slot = &order.work.slot;
        let known = self.desk.world.store.progress(slot, Which::All).await?;
        Ok(Todo {
            open: portions(known.open.unwrap_or_default(), &[]),
            of: known.of,
            worst: known.worst,
            listed: 0,
        })
    }

    async fn fetch_results(&self, order: Order<'_>, open: &OpenBatch) -> Looked {
        let now = self.desk.now();
        let later = || Looked::Later(now + NEXT_LOOK);
        let Some(batches) = self.upstream().batches() else {
            return Looked::Lost("this upstream has no message batches".to_owned());
        };
        let part = open.looks.saturating_mul(2).saturating_add(2);
        let look = Runabout::new(batches, &open.batch.key, Errand::Look(&open.batch.id));
        let request = blank_request(&order, LOOK_TIMEOUT);
        let state = match self.fetch(order, &look, (part, &request)).await {
            Ok(Some(Fetched::State(state))) => state,
            Ok(_) => return later(),
            Err(refused) => return self.unseen(open, refused),
        };
        match state.stage {
            BatchStage::Ended => {}
            _ if now > open.batch.expires_at + PATIENCE => {
                let cancel = Errand::Cancel(&open.batch.id);
                let cancel = Runabout::new(batches, &open.batch.key, cancel);
                let request = blank_request(&order, LOOK_TIMEOUT);
                let part = part.saturating_add(1);
                // Whether it is heard or not: nobody waits for it any more.
                let _ = self.fetch(order, &cancel, (part, &request)).await;
                return Looked::Lost("the batch did not end in time".to_owned());
            }
            BatchStage::Processing | BatchStage::Canceling | BatchStage::Other(_) => {
                return later();
            }
        }
        let bring = Runabout::new(batches, &open.batch.key, Errand::Collect(&state));
        let request = blank_request(&order, COLLECT_TIMEOUT);
        match self
            .fetch(order, &bring, (part.saturating_add(1), &request))
            .await
        {
            Ok(Some(Fetched::Results(results))) => Looked::Results(results),
            Ok(_) => later(),
            Err(refused) => self.unseen(open, refused),
        }
    }

    /// Runs an errand that is free; what ended it otherwise is an error.
    async fn fetch(
        &self,
        order: Order<'_>,
        errand: &Runabout<'_>,
        (part, request): (u32, &Request),
    ) -> Result<Option<Fetched>, Driven> {
        let free = Some(Dollars::ZERO);
        match self.run_errand(order, errand, (part, request, free)).await {
            Ok(Driven {
                end: CallEnd::Answered,
                ..
            }) => Ok(errand.take()),
            Ok(driven) => Err(driven),
            Err(error) => {
                self.desk.say_failed(&error);
                Ok(None)
            }
        }
    }

    /// A look that brought nothing: the batch is looked at again, unless the API says that it will never be there.
    fn unseen(&self, open: &OpenBatch, refused: Driven) -> Looked {
        let now = self.desk.now();
        let is_over = now > open.batch.expires_at + PATIENCE;
        match refused.end {
            // The API has no such batch. Whatever else stands in the way (a proxy, a key) may pass.
            CallEnd::Failed(_) if refused.is_models_fault => {
                let why = refused.trouble.unwrap_or_default();
                Looked::Lost(format!("the batch cannot be collected: {why}"))
            }
            CallEnd::Failed(_) | CallEnd::Exhausted if is_over => {
                Looked::Lost("the batch could not be collected in time".to_owned())
            }
            CallEnd::Yielded { not_before, .. } => {
                let at = not_before.unwrap_or(now).max(now + NEXT_LOOK);
                Looked::Later(at.min(now + LONGEST_REST))
            }
            CallEnd::Answered | CallEnd::Exhausted | CallEnd::Failed(_) => {
                Looked::Later(now + NEXT_LOOK)
            }
        }
    }

    /// Gives each portion what its part brought.
    async fn sort_out(
        &self,
        order: Order<'_>,
        (open, todo): (&OpenBatch, Todo),
        (mut results, missing): (Vec<BatchResult>, &str),
    ) -> Ended {
        let mut ended = Vec::new();
        for portion in todo.open {
            let item = portion.item.as_ref().map(|item| item.name.as_str());
            let is_it = |part: &Option<Arc<str>>| part.as_deref() == item;
            let piece = match open.batch.parts.iter().position(is_it) {
                // It was left out for want of money.
                None => Piece::left((YieldReason::MaxCost, None), None),
                Some(n) => {
                    let result = take_result(&mut results, &part_name(n + 1));
                    let result =
                        result.unwrap_or_else(|| BatchOutcome::Unreadable(missing.to_owned()));
                    self.unpack(order, portion.item.as_ref(), result).await
                }
            };
            let piece = self.take_down(order, &portion, piece).await;
            ended.push((portion, piece));
        }
        self.conclude(order, (todo.of, todo.worst), ended)
    }

    /// How a portion ends whose part of the batch became this.
    async fn unpack(&self, order: Order<'_>, item: Option<&Item>, result: BatchOutcome) -> Piece {
        match result {
            BatchOutcome::Answered(answer) => self.collect(order, item, answer).await,
            BatchOutcome::Errored(failure) => errored(&failure, self.desk.now()),
            BatchOutcome::Expired | BatchOutcome::Canceled => {
                let why = "the batch ended before its turn came".to_owned();
                Piece::left(TURN_MISSED, Some(why))
            }
            BatchOutcome::Unreadable(why) => Piece::new(End::Exhausted, Some(why)),
        }
    }

    /// Takes down an answer of a batch, and puts it where it belongs.
    async fn collect(&self, order: Order<'_>, item: Option<&Item>, answer: Answer) -> Piece {
        let (job, now) = (&order.planned.job.job, self.desk.now());
        let name = CallName {
            item: item.map(|item| Arc::from(item.name.as_str())),
            step: 1,
            part: 1,
        };
        let request = Request {
            // What was asked then; the job may name another by now.
            model: answer.model.clone(),
            ..blank_request(&order, job.timeout)
        };
        let usage = answer.usage.as_ref();
        let cost_usd = usage.and_then(|it| self.upstream().cost(&request, &answer.model, it));
        order.purse.count(cost_usd);
        let role = match settle::judge(&job.check, &answer) {
            None => Role::Owed,
            Some(_) => Role::Whole,
        };
        let collected = || Collected {
            run: order.work.run,
            call: &name,
            answer: Brought {
                answer: &answer,
                role,
            },
            cost_usd,
            now,
        };
        let store = &self.desk.world.store;
        let unrecorded = self.desk.persist(|| store.collect(collected())).await.err();
        let step = Step {
            item,
            number: 1,
            check: &job.check,
            is_last: true,
        };
        let piece = self.keep(order, step, answer).await;
        Piece {
            unrecorded,
            ..piece
        }
    }
}

fn take_result(results: &mut Vec<BatchResult>, name: &str) -> Option<BatchOutcome> {
    let at = results
        .iter()
        .position(|result| result.name.as_deref() == Some(name))?;
    Some(results.swap_remove(at).outcome)
}

/// How a part ends that the API refused or failed.
fn errored(failure: &SendFailure, now: DateTime<Utc>) -> Piece {
    let trouble = Some(attempt::trouble(failure));
    match classify(failure, now).then {
        Then::Fail(reason) => Piece::new(End::Closed(Outcome::Failed(reason)), trouble),
        Then::Yield(reason) => Piece::left((reason, None), trouble),
        Then::Answer | Then::Exhaust => Piece::new(End::Exhausted, trouble),
    }
}
