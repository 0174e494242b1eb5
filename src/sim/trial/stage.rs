//! What clients without a daemon share: a clock, the server, and a book of what they did.

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use futures_util::stream::{FuturesUnordered, StreamExt};

use super::course::{CallMark, Course};
use crate::engine::PlannedJob;
use crate::engine::ports::Clock;
use crate::money::Dollars;
use crate::outcome::YieldReason;
use crate::sim::world::{Asked, ServedEnd, Server};
use crate::sim::{VirtualClock, run_until};
use crate::slot::Slot;
use crate::trial::{Call, Carried, Log, Opening, Send, SendEnd, Work};

const DAY: Duration = Duration::from_hours(24);

/// Where a client without a daemon lives through a course.
pub(super) struct Stage<'a> {
    pub(super) course: &'a Course,
    pub(super) clock: VirtualClock,
    server: RefCell<Server>,
    log: RefCell<Log>,
    /// What became of each slot's work that is over.
    works: RefCell<BTreeMap<usize, Work>>,
}

/// The work of one slot.
#[derive(Clone)]
pub(super) struct Errand<'a> {
    /// Its number among those that are due.
    number: usize,
    pub(super) slot: &'a Slot,
    pub(super) planned: &'a PlannedJob,
    /// Item and step of each call that is still to be made; an item is counted from 1, and 0 if there is none.
    pub(super) calls: VecDeque<(u32, usize)>,
}

impl<'a> Stage<'a> {
    pub(super) fn new(course: &'a Course, server: Server) -> Self {
        Self {
            course,
            clock: VirtualClock::new(course.days.from),
            server: RefCell::new(server),
            log: RefCell::default(),
            works: RefCell::default(),
        }
    }

    /// Lives through all slots, each from its instant on; what is not over when the time is up still waits.
    pub(super) fn live(self, slot: impl AsyncFn(&Self, Errand<'a>)) -> Log {
        let due = self.course.due.iter().enumerate();
        let errands = due.filter_map(|(number, slot)| self.errand(number, slot));
        let at_their_time = errands.map(async |errand| {
            let due = Duration::from_millis(self.course.ms(errand.slot.fire_at));
            self.clock.sleep(due).await;
            slot(&self, errand).await;
        });
        let mut all: FuturesUnordered<_> = at_their_time.collect();
        let clock = self.clock.clone();
        let limit = DAY * self.course.days.lived();
        let _ended = run_until(&clock, limit, async { while all.next().await.is_some() {} });
        drop(all);
        let works = self.works.into_inner();
        let waits = |slot: &Slot| Work {
            due_ms: self.course.ms(slot.fire_at),
            done_ms: None,
            carried: Carried::Waiting,
        };
        let due = self.course.due.iter().enumerate();
        let all = due.map(|(number, slot)| works.get(&number).copied().unwrap_or(waits(slot)));
        Log {
            works: all.collect(),
            ..self.log.into_inner()
        }
    }

    fn errand(&self, number: usize, slot: &'a Slot) -> Option<Errand<'a>> {
        let planned = self.course.plan.jobs.get(&slot.job)?;
        let job = &planned.job;
        let items = match self.course.items(job) {
            None => 0..=0,
            Some(count) => 1..=count,
        };
        let steps = 0..=job.then.len();
        Some(Errand {
            number,
            slot,
            planned,
            calls: items
                .flat_map(|item| steps.clone().map(move |step| (item, step)))
                .collect(),
        })
    }

    pub(super) fn now_ms(&self) -> u64 {
        u64::try_from(self.clock.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    pub(super) fn mark(&self, errand: &Errand<'_>, call: (u32, usize)) -> CallMark {
        self.course.mark(&errand.planned.job, errand.slot, call)
    }

    /// Sends one request, waits for its end, and says what it was.
    pub(super) async fn send(&self, errand: &Errand<'_>, mark: CallMark) -> (Send, ServedEnd) {
        let at_ms = self.now_ms();
        let served = self.server.borrow_mut().serve(Asked {
            at_ms,
            group: mark.group,
            call: mark.call,
            load: self.course.load(mark),
            timeout: errand.planned.job.timeout,
            first_byte_timeout: self.course.workload.first_byte_timeout,
        });
        self.clock.sleep(served.latency).await;
        let send = Send {
            at_ms,
            latency_ms: u64::try_from(served.latency.as_millis()).unwrap_or(u64::MAX),
            group: mark.group,
            end: send_end(served.end),
        };
        (send, served.end)
    }

    /// Writes down a call that is over, with what its answer cost; nothing if nothing was sent for it.
    pub(super) fn end_call(
        &self,
        (errand, call, mark): (&Errand<'_>, (u32, usize), CallMark),
        sends: Vec<Send>,
        end: Option<ServedEnd>,
    ) {
        let mut log = self.log.borrow_mut();
        let first = log.sends.len();
        log.sends.extend(sends);
        let sends = first..log.sends.len();
        let ended = Call::of(&log.sends, sends);
        log.calls.extend(ended);
        if let Some(ServedEnd::Answered(usage)) = end {
            let request = self.course.request(&errand.planned.job, call.1, mark);
            let prices = &self.course.workload.prices;
            let cost = prices(&request, &request.model, &usage);
            log.dollars = log.dollars.plus(cost.unwrap_or(Dollars::ZERO));
        }
    }

    /// Writes down what became of a slot's work.
    pub(super) fn end_work(&self, errand: &Errand<'_>, carried: Carried) {
        let is_done = match carried {
            Carried::InSlot | Carried::Next | Carried::NextDay => true,
            Carried::Lost | Carried::Waiting => false,
        };
        let work = Work {
            due_ms: self.course.ms(errand.slot.fire_at),
            done_ms: is_done.then(|| self.now_ms()),
            carried,
        };
        self.works.borrow_mut().insert(errand.number, work);
    }

    /// Writes down that a gate refused.
    pub(super) fn yielded(&self, gate: YieldReason) {
        *self.log.borrow_mut().yields.entry(gate).or_default() += 1;
    }

    /// Writes down that a breaker opened.
    pub(super) fn opened(&self) {
        let at_ms = self.now_ms();
        let is_false = self.server.borrow().is_well(at_ms);
        let opening = Opening { at_ms, is_false };
        self.log.borrow_mut().openings.push(opening);
    }
}

const fn send_end(end: ServedEnd) -> SendEnd {
    match end {
        ServedEnd::Answered(_) => SendEnd::Answered,
        ServedEnd::Limited(_) | ServedEnd::Overloaded | ServedEnd::ServerError => SendEnd::Refused,
        ServedEnd::Refused => SendEnd::Fatal,
        ServedEnd::Cut | ServedEnd::FirstByteTimeout | ServedEnd::Timeout => SendEnd::Broken,
    }
}
