//! A portion of a run: the chain of calls for one item, or for a job without items, and the delivery of its answer.

mod ends;

use std::sync::Arc;

use super::call::{CallEnd, CallSettings};
use super::cost;
use super::drive::{Aim, CallOrder, Driven, drive};
use super::pace::{Pace, SOON, Turn};
use super::pieces;
use super::ports::{
    After, Brief, DeliveryEnd, Parcel, Reached, StoreError, Undelivered, Unready, Upstream,
};
use super::purse::Purse;
use super::runner::{Runner, Work};
use super::settle;
use super::timeline::Planned;
use crate::answer::Answer;
use crate::job::{Check, Job, Request};
use crate::money::Dollars;
use crate::outcome::{FailReason, Outcome, YieldReason};
use crate::piece::{CallName, Item};
use crate::slot::Origin;

pub(super) use ends::{End, Piece, STOPPED};

/// The most parts of one answer: a model that pauses time and again is given up.
const MOST_PARTS: u32 = 6;

/// What all portions of a run go by.
#[derive(Debug, Clone, Copy)]
pub(super) struct Order<'a> {
    pub planned: Planned<'a>,
    pub work: &'a Work,
    pub inputs: &'a [(String, String)],
    pub pace: &'a Pace,
    pub purse: &'a Purse,
}

/// What a portion starts from.
#[derive(Debug)]
pub(super) struct Portion {
    pub item: Option<Item>,
    /// The answers that its steps have from earlier runs.
    pub answers: Vec<String>,
}

impl Runner {
    /// Makes the calls of a portion that are still to be made, and delivers its answer.
    pub(super) async fn portion(&self, order: Order<'_>, portion: &Portion) -> Piece {
        let job = &order.planned.job.job;
        let steps = job.then.len() + 1;
        let mut answers = portion.answers.clone();
        answers.truncate(steps - 1);
        loop {
            let brief = Brief {
                job,
                slot: &order.work.slot,
                inputs: order.inputs,
                item: portion.item.as_ref(),
                answers: &answers,
            };
            let request = match self.graced(self.workspace().fill(brief)).await {
                Some(Ok(request)) => request,
                Some(Err(Unready { reason, message })) => {
                    return Piece::failed(reason, Some(message));
                }
                None => return Piece::left(STOPPED, None),
            };
            let is_last = answers.len() + 1 == steps;
            let step = Step {
                item: portion.item.as_ref(),
                number: u32::try_from(answers.len() + 1).unwrap_or(u32::MAX),
                check: if is_last { &job.check } else { &WHOLE },
                is_last,
            };
            let driven = match self.ask(order, step, request).await {
                Ok(driven) => driven,
                Err(error) => return self.broken(&error),
            };
            match (driven.answer, driven.end) {
                (Some(answer), CallEnd::Answered) => {
                    let is_good = settle::judge(step.check, &answer).is_none();
                    if !is_good || is_last {
                        let piece = self.keep(order, step, answer).await;
                        let unrecorded = driven.unrecorded;
                        let said = driven.trouble.into_iter().chain(piece.trouble);
                        let said: Vec<String> = said.collect();
                        let trouble = (!said.is_empty()).then(|| said.join("; "));
                        return Piece {
                            trouble,
                            unrecorded,
                            ..piece
                        };
                    }
                    if let Some(error) = driven.unrecorded {
                        return self.broken(&error);
                    }
                    answers.push(answer.text);
                }
                (answer, end) => {
                    let named = driven
                        .trouble
                        .map(|trouble| in_step(job, step.number, trouble));
                    let piece = Piece::new(End::of(&end), named);
                    return Piece { answer, ..piece };
                }
            }
        }
    }

    /// The store failed: what is left is not sent in this slot.
    pub(super) fn broken(&self, error: &StoreError) -> Piece {
        self.desk.say_failed(error);
        Piece::left((YieldReason::Interrupted, None), Some(error.to_string()))
    }

    /// Asks for the answer of one step: in parts if the model pauses, and of the fallback model if the first is gone or
    /// overloaded.
    async fn ask(
        &self,
        order: Order<'_>,
        step: Step<'_>,
        mut request: Request,
    ) -> Result<Driven, StoreError> {
        // A step of a chain may name the very model to which the others fall back.
        let fallback = order.planned.job.job.fallback_model.as_ref();
        let mut fallback = fallback.filter(|model| **model != request.model);
        let mut before = String::new();
        let mut note = None;
        let mut part = 1;
        loop {
            let name = CallName {
                item: step.item.map(|item| Arc::from(item.name.as_str())),
                step: step.number,
                part,
            };
            let aim = Aim {
                name: &name,
                before: &before,
                check: step.check,
                is_last: step.is_last,
                goes_on: part < MOST_PARTS,
                errand: None,
            };
            let driven = self.call(order, aim, &request).await?;
            part += 1;
            match (&driven.end, &driven.answer) {
                (CallEnd::Answered, Some(answer)) if driven.unrecorded.is_none() => {
                    match answer.paused.clone().filter(|_| aim.goes_on) {
                        Some(paused) => {
                            before.clone_from(&answer.text);
                            request.so_far.push(paused);
                        }
                        None => return Ok(driven.with(note)),
                    }
                }
                (CallEnd::Exhausted | CallEnd::Failed(_), _) if driven.is_models_fault => {
                    match fallback.take() {
                        Some(model) => {
                            let first = driven.trouble.unwrap_or_default();
                            note = Some(format!(
                                "`{model}` was asked in place of `{}`: {first}",
                                request.model
                            ));
                            request.model.clone_from(model);
                            // What one model wrote is no beginning of another's answer.
                            request.so_far.clear();
                            before.clear();
                        }
                        None => return Ok(driven.with(note)),
                    }
                }
                _ => return Ok(driven.with(note)),
            }
        }
    }

    /// Makes one call when it is its turn.
    async fn call(
        &self,
        order: Order<'_>,
        aim: Aim<'_>,
        request: &Request,
    ) -> Result<Driven, StoreError> {
        let planned = order.planned;
        let (job, policy) = (&planned.job.job, &planned.group.guard);
        let reserve = self.upstream().estimate(request).cost_high;
        if let Some((reason, why)) = cost::unaffordable(job.max_cost, policy, request, reserve) {
            return Ok(Driven::failed(reason, why));
        }
        let upstream = self.upstream();
        self.send(order, aim, (request, upstream, reserve)).await
    }

    /// Sends a request when it is its turn, through the guard.
    pub(super) async fn send(
        &self,
        order: Order<'_>,
        aim: Aim<'_>,
        (request, upstream, reserve): (&Request, &dyn Upstream, Option<Dollars>),
    ) -> Result<Driven, StoreError> {
        let Order {
            planned,
            work,
            pace,
            purse,
            ..
        } = order;
        let (job, policy) = (&planned.job.job, &planned.group.guard);
        loop {
            let turn = match pace.begin(self.desk.now()) {
                Turn::Go if aim.errand.is_none() && purse.must_wait(reserve) => {
                    pace.end();
                    Turn::Wait(SOON)
                }
                turn => turn,
            };
            match turn {
                Turn::Go => break,
                Turn::Over(gate) => return Ok(Driven::yielded(gate)),
                Turn::Wait(span) => {
                    let wait = self.desk.world.clock.sleep(span);
                    if self.desk.stop.or_stop(wait).await.is_none() {
                        return Ok(Driven::yielded(STOPPED));
                    }
                }
            }
        }
        let plan = &self.timeline.plan;
        let peaks = match work.origin {
            Origin::Manual => None,
            Origin::Scheduled | Origin::Deferred | Origin::CatchUp => Some(plan.peaks.clone()),
        };
        let driven = drive(
            &self.desk,
            CallOrder {
                run: work.run,
                slot: &work.slot,
                group: &job.group,
                policy,
                settings: CallSettings {
                    retry: planned.job.retry,
                    peaks,
                },
                grace: plan.grace,
                request,
                upstream,
                aim,
                pace,
                purse,
                reserve,
            },
        )
        .await;
        pace.end();
        let gate = match &driven {
            Ok(driven) => match driven.end {
                CallEnd::Yielded { reason, not_before } => Some((reason, not_before)),
                CallEnd::Answered | CallEnd::Exhausted | CallEnd::Failed(_) => None,
            },
            Err(_) => Some((YieldReason::Interrupted, None)),
        };
        if let Some(gate) = gate {
            pace.close(gate);
        }
        driven
    }

    /// Puts the answer of a portion where it belongs.
    pub(super) async fn keep(&self, order: Order<'_>, step: Step<'_>, answer: Answer) -> Piece {
        let job = &order.planned.job.job;
        let reached = Reached::default();
        let parcel = Parcel {
            job,
            slot: &order.work.slot,
            item: step.item,
            answer: &answer,
            reached: &reached,
            newer: &[],
        };
        let piece = match settle::judge(step.check, &answer) {
            None => self.deliver(parcel).await,
            Some(reason) => {
                let kept = if answer.text.trim().is_empty() {
                    Ok(None)
                } else {
                    let kept = self.workspace().keep_beside(parcel);
                    self.graced(kept).await.unwrap_or(Ok(None))
                };
                let shortfall = settle::shortfall(reason, step.check, &answer);
                let (output, note) = match kept {
                    Ok(output) => (output, shortfall),
                    Err(trouble) => (None, settle::unkept(&job.id, &shortfall, &trouble)),
                };
                Piece {
                    output,
                    ..Piece::new(End::Closed(Outcome::Incomplete(reason)), Some(note))
                }
            }
        };
        let piece = Piece {
            trouble: settle::with_tool_errors(piece.trouble, &answer),
            ..piece
        };
        Piece {
            answer: Some(answer),
            ..piece
        }
    }

    /// Delivers a complete answer for the first time.
    async fn deliver(&self, parcel: Parcel<'_>) -> Piece {
        let came_at = self.desk.now();
        let delivered = self.graced(self.workspace().deliver(parcel)).await;
        let now = self.desk.now();
        let lost = match delivered {
            Some(Ok(output)) => {
                let end = DeliveryEnd {
                    placed: parcel.reached.bits(),
                    output: output.clone(),
                    then: After::Done,
                };
                return Piece {
                    delivery: Some(end),
                    output,
                    ..Piece::new(End::Closed(Outcome::Succeeded), None)
                };
            }
            Some(Err(lost)) => lost,
            None => Undelivered {
                message: "stopped while the answer was being delivered".to_owned(),
                output: None,
                may_work_later: true,
            },
        };
        let then = pieces::after(&lost, 1, came_at, now);
        let note = settle::undelivered(&parcel.job.id, &then);
        let output = lost.output.clone();
        let end = DeliveryEnd {
            placed: parcel.reached.bits(),
            output: lost.output,
            then,
        };
        Piece {
            delivery: Some(end),
            output,
            ..Piece::failed(FailReason::Output, Some(note))
        }
    }
}

/// Which step of a portion.
#[derive(Debug, Clone, Copy)]
pub(super) struct Step<'a> {
    pub item: Option<&'a Item>,
    pub number: u32,
    pub check: &'a Check,
    pub is_last: bool,
}

/// What is asked of an answer that another step follows.
static WHOLE: Check = Check {
    min_chars: None,
    contains: Vec::new(),
    schema: None,
};

/// A trouble with the step in which it was met, where there are several.
fn in_step(job: &Job, number: u32, trouble: String) -> String {
    let at = usize::try_from(number.saturating_sub(1)).unwrap_or(usize::MAX);
    match job.chain().nth(at).and_then(|step| step.name.as_deref()) {
        Some(name) => format!("step `{name}`: {trouble}"),
        None => trouble,
    }
}
