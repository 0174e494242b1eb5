//! Drives one call against the ports: does what the machine says, and tells it what happened.

use std::time::Duration;

use chrono::{DateTime, Utc};

use super::attempt;
use super::batch::Runabout;
use super::call::{Action, Call, CallEnd, CallSettings, Event};
use super::cost::{Cost, Room};
use super::desk::Desk;
use super::notice::Notice;
use super::pace::{Gate, Pace};
use super::ports::{Ask, Brought, Role, StoreError, Told, Upstream};
use super::purse::Purse;
use super::settle;
use crate::answer::{Answer, Reply, SendFailure};
use crate::guard::{
    Bill, GuardPolicy, Hold, LEASE_MARGIN, Permit, Refusal, Reserve, Sample, Verdict, classify,
    is_models_fault,
};
use crate::job::{Check, GroupId, Request};
use crate::money::Dollars;
use crate::outcome::{Attempt, AttemptEnd, FailReason, RunId, YieldReason};
use crate::piece::CallName;
use crate::slot::Slot;

/// What a call goes by.
pub(super) struct CallOrder<'a> {
    pub run: RunId,
    pub slot: &'a Slot,
    pub group: &'a GroupId,
    pub policy: &'a GuardPolicy,
    pub settings: CallSettings,
    /// How long a request in flight may go on after the stop signal.
    pub grace: Duration,
    pub request: &'a Request,
    pub upstream: &'a dyn Upstream,
    pub aim: Aim<'a>,
    pub pace: &'a Pace,
    pub purse: &'a Purse,
    /// What one attempt may cost at most; `None` if its price is unknown.
    pub reserve: Option<Dollars>,
}

/// Which answer of its run a call wants, and what becomes of it.
#[derive(Clone, Copy)]
pub(super) struct Aim<'a> {
    pub name: &'a CallName,
    /// What earlier parts of the answer said.
    pub before: &'a str,
    /// What a complete answer must satisfy, if it is the last of its chain; what comes before only has to be whole.
    pub check: &'a Check,
    /// Whether a complete answer is owed to the job's output.
    pub is_last: bool,
    /// Whether an answer that paused is asked to go on.
    pub goes_on: bool,
    /// What is fetched in place of an answer.
    pub errand: Option<&'a Runabout<'a>>,
}

impl Aim<'_> {
    /// What an answer is to its run.
    fn role(&self, answer: &Answer) -> Role {
        match (settle::judge(self.check, answer), self.is_last) {
            _ if self.goes_on && answer.paused.is_some() => Role::Part,
            (Some(_), _) => Role::Whole,
            (None, true) => Role::Owed,
            (None, false) => Role::Step,
        }
    }
}

/// What became of a call.
#[derive(Debug)]
pub(super) struct Driven {
    pub end: CallEnd,
    pub answer: Option<Answer>,
    /// What a person reads about the last attempt that failed.
    pub trouble: Option<String>,
    /// Whether another model may do what this one could not.
    pub is_models_fault: bool,
    /// Why the store does not know of the attempt that brought the answer.
    pub unrecorded: Option<StoreError>,
}

impl Driven {
    /// The same with a note before what else is said.
    pub fn with(mut self, note: Option<String>) -> Self {
        let said: Vec<String> = note.into_iter().chain(self.trouble).collect();
        self.trouble = (!said.is_empty()).then(|| said.join("; "));
        self
    }

    /// A call that is not made, and why.
    pub fn failed(reason: FailReason, why: String) -> Self {
        Self {
            end: CallEnd::Failed(reason),
            answer: None,
            trouble: Some(why),
            is_models_fault: false,
            unrecorded: None,
        }
    }

    /// A call that was never begun.
    pub fn yielded((reason, not_before): Gate) -> Self {
        Self {
            end: CallEnd::Yielded { reason, not_before },
            answer: None,
            trouble: None,
            is_models_fault: false,
            unrecorded: None,
        }
    }
}

/// Drives a call to its end.
///
/// # Errors
///
/// [`StoreError`] if an attempt could not be asked for, or one without an answer not recorded; nothing more was sent
/// then.
pub(super) async fn drive(desk: &Desk, order: CallOrder<'_>) -> Result<Driven, StoreError> {
    let mut call = Call::new(order.settings.clone());
    let mut driver = Driver {
        desk,
        cost: Cost::default(),
        order,
        flight: None,
        answer: None,
        trouble: None,
        is_models_fault: false,
    };
    let mut event = Event::Begun;
    loop {
        let now = desk.now();
        event = match call.step(now, event) {
            Action::Ask { n, wait } => driver.ask(n, wait, now).await?,
            Action::Send { n: _ } => driver.send().await,
            Action::Record {
                class: _,
                sample,
                hold,
            } => match driver.record(sample, hold).await {
                Ok(event) => event,
                Err(error) => return driver.go_on_unrecorded(call, error),
            },
            Action::Wait(span) => match desk.stop.or_stop(desk.world.clock.sleep(span)).await {
                Some(()) => Event::Waited,
                None => Event::Stopped,
            },
            Action::Done(end) => return Ok(driver.done(end, None)),
        };
    }
}

struct Driver<'a> {
    desk: &'a Desk,
    order: CallOrder<'a>,
    /// Of this call.
    cost: Cost,
    flight: Option<Flight>,
    answer: Option<Answer>,
    trouble: Option<String>,
    is_models_fault: bool,
}

/// An attempt that was admitted.
struct Flight {
    attempt: Attempt,
    permit: Permit,
    bill: Bill,
}

impl Driver<'_> {
    fn done(self, end: CallEnd, unrecorded: Option<StoreError>) -> Driven {
        Driven {
            end,
            answer: self.answer,
            trouble: self.trouble,
            is_models_fault: self.is_models_fault,
            unrecorded,
        }
    }

    /// An answer was paid for whether the store knows it or not, and nothing more is sent for it: it is delivered.
    fn go_on_unrecorded(self, mut call: Call, error: StoreError) -> Result<Driven, StoreError> {
        match call.step(self.desk.now(), Event::Recorded) {
            Action::Done(end @ CallEnd::Answered) => Ok(self.done(end, Some(error))),
            Action::Done(_)
            | Action::Ask { .. }
            | Action::Send { .. }
            | Action::Record { .. }
            | Action::Wait(_) => Err(error),
        }
    }

    /// Whether the run has room for an attempt. What a batch may cost is weighed part by part before.
    fn room(&self, reserve: Option<Dollars>) -> Room {
        match self.order.aim.errand {
            None => self.order.purse.take(reserve),
            Some(_) => Room::Go,
        }
    }

    async fn ask(
        &mut self,
        n: u32,
        wait: Duration,
        now: DateTime<Utc>,
    ) -> Result<Event, StoreError> {
        if self.desk.stop.is_raised() {
            return Ok(Event::Stopped);
        }
        let CallOrder {
            run,
            group,
            policy,
            request,
            aim,
            reserve,
            ..
        } = &self.order;
        match self.room(*reserve) {
            Room::Go => {}
            Room::NotInThisRun | Room::InNone(_) => {
                return Ok(Event::Refused(Refusal {
                    reason: YieldReason::MaxCost,
                    until: None,
                }));
            }
        }
        let lease = request.timeout.saturating_add(LEASE_MARGIN);
        let ask = Ask {
            run: *run,
            call: aim.name,
            model: &request.model,
            group,
            policy,
            n,
            wait,
            lease,
            reserve: *reserve,
            now,
        };
        // Asked once: an admission that was written and not heard of must not be spent again.
        match self.desk.world.store.admit(ask).await? {
            Ok(permit) => {
                let attempt = Attempt {
                    call: aim.name.clone(),
                    n,
                    started_at: now,
                    wait,
                    end: None,
                };
                let reserve = reserve.map(|amount| Reserve { amount, at: now });
                let bill = Bill {
                    reserve,
                    ..Bill::default()
                };
                self.flight = Some(Flight {
                    attempt,
                    permit,
                    bill,
                });
                self.order.pace.note(now);
                Ok(Event::Admitted)
            }
            Err(refusal) => {
                if self.order.aim.errand.is_none() {
                    self.order.purse.give_back(*reserve);
                }
                Ok(Event::Refused(refusal))
            }
        }
    }

    async fn send(&mut self) -> Event {
        let world = &self.desk.world;
        let started = world.clock.elapsed();
        let sent = self.order.upstream.send(self.order.request);
        let sent = self
            .desk
            .stop
            .or_grace(&*world.clock, self.order.grace, sent)
            .await;
        let latency = world.clock.elapsed().saturating_sub(started);
        if let Some(flight) = &mut self.flight {
            let (reserve, order) = (flight.bill.reserve, &self.order);
            let (upstream, request) = (order.upstream, order.request);
            self.cost.add(upstream, request, reserve, sent.as_ref());
            flight.bill = match order.aim.errand {
                None => order.purse.pay(upstream, request, reserve, sent.as_ref()),
                Some(_) => Cost::default().add(upstream, request, reserve, sent.as_ref()),
            };
        }
        let Some(result) = sent else {
            self.land(attempt::cancelled(latency));
            return Event::Cancelled;
        };
        let verdict = match result {
            Ok(reply) => self.answered(reply, latency),
            Err(failure) => self.failed(&failure, latency),
        };
        Event::Ended {
            verdict,
            draw: world.dice.draw(),
        }
    }

    fn answered(&mut self, reply: Reply, latency: Duration) -> Verdict {
        let verdict = Verdict::answered(&reply.answer);
        self.land(attempt::answered(&reply, &verdict, latency));
        let mut answer = reply.answer;
        answer.text.insert_str(0, self.order.aim.before);
        self.answer = Some(answer);
        self.trouble = None;
        self.is_models_fault = false;
        verdict
    }

    fn failed(&mut self, failure: &SendFailure, latency: Duration) -> Verdict {
        let verdict = classify(failure, self.desk.now());
        self.land(attempt::failed(failure, &verdict, latency));
        self.trouble = Some(attempt::trouble(failure));
        self.is_models_fault = is_models_fault(failure);
        verdict
    }

    fn land(&mut self, end: AttemptEnd) {
        if let Some(flight) = &mut self.flight {
            flight.attempt.end = Some(end);
        }
    }

    async fn record(
        &mut self,
        sample: Option<Sample>,
        hold: Option<Hold>,
    ) -> Result<Event, StoreError> {
        let Some(Flight {
            attempt,
            permit,
            bill,
        }) = self.flight.take()
        else {
            return Ok(Event::Recorded);
        };
        let Some(end) = &attempt.end else {
            return Ok(Event::Recorded);
        };
        let CallOrder {
            run,
            group,
            policy,
            aim,
            ..
        } = &self.order;
        let now = self.desk.now();
        let batch = aim.errand.and_then(|errand| errand.handed_in(now));
        let answer = self.answer.as_ref().filter(|_| aim.errand.is_none());
        let answer = answer.map(|answer| Brought {
            answer,
            role: aim.role(answer),
        });
        let told = || Told {
            run: *run,
            call: aim.name,
            group,
            policy,
            n: attempt.n,
            permit: Permit {
                generation: permit.generation,
                probe: permit.probe,
            },
            sample,
            hold: hold.clone(),
            bill,
            end: end.clone(),
            answer,
            batch: batch.clone(),
            cost_usd: self.cost.known().filter(|_| aim.errand.is_none()),
            now,
        };
        self.desk
            .persist(|| self.desk.world.store.record(told()))
            .await?;
        let slot = self.order.slot.clone();
        let attempt = Box::new(attempt);
        self.desk.say(Notice::Attempted { slot, attempt });
        Ok(Event::Recorded)
    }
}
