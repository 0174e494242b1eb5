//! The three layers as the source of the idea prints them, in one long-lived process.
//!
//! Three attempts with a symmetric jitter, for 429, 529 and 5xx only; a fixed
//! window of calls; a breaker whose counters never age. What a gate refuses
//! waits in memory for the next slot of its group, and runs after that slot's
//! own work.
//!
//! The source prints the layers one by one. That the breaker is asked before
//! the budget, that both are asked before each attempt, and that work which is
//! picked up goes on at the call that was refused, with three attempts anew,
//! is assumed; it says that later slots pick work up, and not how.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::time::Duration;

use super::course::Course;
use super::stage::{SlotWork, Stage};
use crate::engine::ports::{Clock, Dice};
use crate::outcome::YieldReason;
use crate::sim::SimDice;
use crate::sim::world::{ServedEnd, Server};
use crate::trial::{Carried, Log, Send};

/// What the source prints.
const MAX_ATTEMPTS: u32 = 3;
const BASE_MS: f64 = 1_000.0;
const MAX_MS: f64 = 30_000.0;
const JITTER_RATIO: f64 = 0.5;
const MAX_CALLS: u32 = 30;
const WINDOW_MS: u64 = 60_000;
const MIN_SAMPLES: u32 = 10;
const FAILURE_RATIO: f64 = 0.5;
const COOLDOWN_MS: u64 = 60_000;

/// The state of one group: the source has one for each group.
#[derive(Default)]
struct Group<'a> {
    window_start_ms: Option<u64>,
    calls: u32,
    failures: u32,
    successes: u32,
    opened_ms: Option<u64>,
    waiting: VecDeque<SlotWork<'a>>,
}

/// How a call or a slot's work went.
enum Went {
    Done,
    Lost,
    Yielded,
}

/// What a call goes by.
struct Line<'s, 'a> {
    stage: &'s Stage<'a>,
    group: &'s RefCell<Group<'a>>,
    dice: &'s SimDice,
}

/// Lives through a course with the printed layers.
pub(super) fn live(course: &Course, server: Server, dice: &SimDice) -> Log {
    let groups: Vec<RefCell<Group<'_>>> = (0..course.group_count())
        .map(|_| RefCell::default())
        .collect();
    Stage::new(course, server).live(&async |stage: &Stage<'_>, work: SlotWork<'_>| {
        let number = stage.mark(&work, (0, 0)).group;
        let Some(group) = groups.get(usize::from(number)) else {
            return;
        };
        let line = Line { stage, group, dice };
        // Taken first: what this slot's own work leaves is for a later one.
        let waiting = std::mem::take(&mut group.borrow_mut().waiting);
        line.work(work, Carried::InSlot).await;
        for work in waiting {
            let late = stage.now_ms() - stage.course.ms(work.slot.fire_at);
            line.work(work, Carried::later(late)).await;
        }
    })
}

impl<'a> Line<'_, 'a> {
    /// Makes the calls that are left. What yields goes on there in a later slot.
    async fn work(&self, mut work: SlotWork<'a>, carried: Carried) {
        while let Some(at) = work.calls.front().copied() {
            match self.call(&work, at).await {
                Went::Done => work.calls.pop_front(),
                Went::Lost => return self.stage.end_work(&work, Carried::Lost),
                Went::Yielded => return self.group.borrow_mut().waiting.push_back(work),
            };
        }
        self.stage.end_work(&work, carried);
    }

    async fn call(&self, work: &SlotWork<'_>, at: (u32, usize)) -> Went {
        let stage = self.stage;
        let mark = stage.mark(work, at);
        let mut sends: Vec<Send> = Vec::new();
        let mut attempt = 0;
        loop {
            attempt += 1;
            if let Some(gate) = self.refusal() {
                stage.yielded(gate);
                stage.end_call((work, at, mark), sends, None);
                return Went::Yielded;
            }
            let (send, end) = stage.send(work, mark).await;
            sends.push(send);
            let is_answered = matches!(end, ServedEnd::Answered(_));
            self.record(end);
            if is_answered || attempt >= MAX_ATTEMPTS || !is_retryable(end) {
                stage.end_call((work, at, mark), sends, Some(end));
                return if is_answered { Went::Done } else { Went::Lost };
            }
            let exponent = i32::try_from(attempt - 1).unwrap_or_default();
            let center = (BASE_MS * 2_f64.powi(exponent)).min(MAX_MS);
            let wait = center * (1.0 + JITTER_RATIO * (self.dice.draw() - 0.5));
            stage
                .clock
                .sleep(Duration::from_secs_f64(wait / 1000.0))
                .await;
        }
    }

    /// The gate that refuses now, the breaker first.
    fn refusal(&self) -> Option<YieldReason> {
        let now = self.stage.now_ms();
        let mut group = self.group.borrow_mut();
        if let Some(opened) = group.opened_ms {
            if now - opened <= COOLDOWN_MS {
                return Some(YieldReason::Breaker);
            }
            (group.opened_ms, group.failures, group.successes) = (None, 0, 0);
        }
        let window_start_ms = *group.window_start_ms.get_or_insert(now);
        if now - window_start_ms > WINDOW_MS {
            (group.window_start_ms, group.calls) = (Some(now), 0);
        }
        if group.calls >= MAX_CALLS {
            return Some(YieldReason::Budget);
        }
        group.calls += 1;
        None
    }

    fn record(&self, end: ServedEnd) {
        let mut group = self.group.borrow_mut();
        match end {
            ServedEnd::Answered(_) => group.successes += 1,
            ServedEnd::Limited(_)
            | ServedEnd::Overloaded
            | ServedEnd::ServerError
            | ServedEnd::Refused
            | ServedEnd::Cut
            | ServedEnd::FirstByteTimeout
            | ServedEnd::Timeout => group.failures += 1,
        }
        let total = group.successes + group.failures;
        let ratio = f64::from(group.failures) / f64::from(total);
        if total >= MIN_SAMPLES && ratio >= FAILURE_RATIO {
            let is_new = group.opened_ms.is_none();
            group.opened_ms = Some(self.stage.now_ms());
            if is_new {
                self.stage.opened();
            }
        }
    }
}

/// 429, 529 and 5xx; what has no status is not.
const fn is_retryable(end: ServedEnd) -> bool {
    match end {
        ServedEnd::Limited(_) | ServedEnd::Overloaded | ServedEnd::ServerError => true,
        ServedEnd::Answered(_)
        | ServedEnd::Refused
        | ServedEnd::Cut
        | ServedEnd::FirstByteTimeout
        | ServedEnd::Timeout => false,
    }
}
