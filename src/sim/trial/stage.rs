//! What clients without a daemon share: a clock, the server, and a book of what they did.

use std::cell::{Cell, RefCell};
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
pub(super) struct SlotWork<'a> {
    /// Its number among those that are due; `None` of a slot after the days that count, which has no work of its own.
    number: Option<usize>,
    pub(super) slot: &'a Slot,
    pub(super) planned: &'a PlannedJob,
    /// Item and step of each call that is still to be made; an item is counted from 1, and 0 if there is none.
    pub(super) calls: VecDeque<(u32, usize)>,
    /// What its answers cost; `None` once a price is unknown, and then its work counts as costing nothing, as a run of
    /// the daemon does.
    cost: Cell<Option<Dollars>>,
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

    /// Lives through all slots, each from its instant on; what is not over when the time is up still waits. Slots after
    /// the days that count come without work.
    pub(super) fn live(self, slot: &impl AsyncFn(&Self, SlotWork<'a>)) -> Log {
        let due = self.course.due.iter().enumerate();
        let due = due.map(|(number, slot)| (Some(number), slot));
        let later = self.course.later.iter().map(|slot| (None, slot));
        let slots = due.chain(later);
        let at_their_time = slots
            .filter_map(|(number, slot)| self.work(number, slot))
            .map(async |work| {
                let due = Duration::from_millis(self.course.ms(work.slot.fire_at));
                self.clock.sleep(due).await;
                slot(&self, work).await;
            });
        let mut all: FuturesUnordered<_> = at_their_time.collect();
        let clock = self.clock.clone();
        let limit = DAY * self.course.days.lived();
        let _ended = run_until(&clock, limit, async { while all.next().await.is_some() {} });
        drop(all);
        self.log()
    }

    /// The book, closed.
    fn log(self) -> Log {
        let works = self.works.into_inner();
        let waits = |slot: &Slot| Work {
            due_ms: self.course.ms(slot.fire_at),
            done_ms: None,
            carried: Carried::Waiting,
        };
        let due = self.course.due.iter().enumerate();
        let all = due.map(|(number, slot)| works.get(&number).copied().unwrap_or(waits(slot)));
        let until = self.course.ms(self.course.days.until());
        let mut log = self.log.into_inner();
        log.openings.retain(|opening| opening.at_ms <= until);
        Log {
            works: all.collect(),
            ..log
        }
    }

    fn work(&self, number: Option<usize>, slot: &'a Slot) -> Option<SlotWork<'a>> {
        let planned = self.course.plan.jobs.get(&slot.job)?;
        let job = &planned.job;
        let items = match self.course.items(job) {
            None => 0..=0,
            Some(count) => 1..=count,
        };
        let steps = 0..=job.then.len();
        let calls = items.flat_map(|item| steps.clone().map(move |step| (item, step)));
        Some(SlotWork {
            number,
            slot,
            planned,
            calls: number.map_or_else(VecDeque::new, |_| calls.collect()),
            cost: Cell::new(Some(Dollars::ZERO)),
        })
    }

    pub(super) fn now_ms(&self) -> u64 {
        u64::try_from(self.clock.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    pub(super) fn mark(&self, work: &SlotWork<'_>, call: (u32, usize)) -> CallMark {
        self.course.mark(&work.planned.job, work.slot, call)
    }

    /// Sends one request, waits for its end, and says what it was.
    pub(super) async fn send(&self, work: &SlotWork<'_>, mark: CallMark) -> (Send, ServedEnd) {
        let at_ms = self.now_ms();
        let served = self.server.borrow_mut().serve(Asked {
            at_ms,
            group: mark.group,
            call: mark.call,
            load: self.course.load(mark),
            timeout: work.planned.job.timeout,
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
        (work, call, mark): (&SlotWork<'_>, (u32, usize), CallMark),
        sends: Vec<Send>,
        end: Option<ServedEnd>,
    ) {
        let mut log = self.log.borrow_mut();
        let first = log.sends.len();
        log.sends.extend(sends);
        let sends = first..log.sends.len();
        let ended = Call::of(mark.call, &log.sends, sends);
        log.calls.extend(ended);
        if let Some(ServedEnd::Answered(usage)) = end {
            let request = mark.request(&work.planned.job, call.1);
            let prices = &self.course.workload.prices;
            let cost = prices(&request, &request.model, &usage);
            let both = work.cost.get().zip(cost);
            work.cost.set(both.map(|(sum, cost)| sum.plus(cost)));
        }
    }

    /// Writes down what became of a slot's work.
    pub(super) fn end_work(&self, work: &SlotWork<'_>, carried: Carried) {
        let is_done = match carried {
            Carried::InSlot | Carried::Next | Carried::NextDay => true,
            Carried::Lost | Carried::Waiting => false,
        };
        let ended = Work {
            due_ms: self.course.ms(work.slot.fire_at),
            done_ms: is_done.then(|| self.now_ms()),
            carried,
        };
        let cost = work.cost.get().unwrap_or(Dollars::ZERO);
        let mut log = self.log.borrow_mut();
        log.dollars = log.dollars.plus(cost);
        if let Some(number) = work.number {
            self.works.borrow_mut().insert(number, ended);
        }
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
