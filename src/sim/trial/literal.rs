//! The three layers as the source of the idea prints them, in one long-lived process.
//!
//! Three attempts with a symmetric jitter, for 429, 529 and 5xx only; a fixed
//! window of calls; a breaker whose counters never age. What a gate refuses
//! waits in memory for the next slot of its group, and runs after that slot's
//! own work; the source says that later slots pick it up, and not how.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::time::Duration;

use super::course::Course;
use super::stage::{Errand, Stage};
use crate::engine::ports::{Clock, Dice};
use crate::outcome::YieldReason;
use crate::sim::SimDice;
use crate::sim::world::{ServedEnd, Server};
use crate::trial::{Carried, Log, Send};

/// What the source prints, and the day after which work counts as the next day's.
const MAX_ATTEMPTS: u32 = 3;
const BASE_MS: f64 = 1_000.0;
const MAX_MS: f64 = 30_000.0;
const JITTER_RATIO: f64 = 0.5;
const MAX_CALLS: u32 = 30;
const WINDOW_MS: u64 = 60_000;
const MIN_SAMPLES: u32 = 10;
const FAILURE_RATIO: f64 = 0.5;
const COOLDOWN_MS: u64 = 60_000;
const NEXT_DAY_MS: u64 = 12 * 3_600_000;

/// The state of one key.
#[derive(Default)]
struct Key<'a> {
    window_start_ms: u64,
    calls: u32,
    failures: u32,
    successes: u32,
    opened_ms: Option<u64>,
    waiting: VecDeque<Errand<'a>>,
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
    key: &'s RefCell<Key<'a>>,
    dice: &'s SimDice,
}

/// Lives through a course with the printed layers.
pub(super) fn live(course: &Course, server: Server, dice: &SimDice) -> Log {
    let keys: Vec<RefCell<Key<'_>>> = (0..course.group_count())
        .map(|_| RefCell::default())
        .collect();
    Stage::new(course, server).live(async |stage: &Stage<'_>, errand: Errand<'_>| {
        let group = stage.mark(&errand, (0, 0)).group;
        let Some(key) = keys.get(usize::from(group)) else {
            return;
        };
        let line = Line { stage, key, dice };
        line.work(errand, Carried::InSlot).await;
        let waiting: Vec<Errand<'_>> = key.borrow_mut().waiting.drain(..).collect();
        for errand in waiting {
            let late = stage.now_ms() - stage.course.ms(errand.slot.fire_at);
            let carried = if late < NEXT_DAY_MS {
                Carried::Next
            } else {
                Carried::NextDay
            };
            line.work(errand, carried).await;
        }
    })
}

impl<'a> Line<'_, 'a> {
    /// Makes the calls that are left. What yields goes on there in a later slot.
    async fn work(&self, mut errand: Errand<'a>, carried: Carried) {
        while let Some(at) = errand.calls.front().copied() {
            match self.call(&errand, at).await {
                Went::Done => errand.calls.pop_front(),
                Went::Lost => return self.stage.end_work(&errand, Carried::Lost),
                Went::Yielded => return self.key.borrow_mut().waiting.push_back(errand),
            };
        }
        self.stage.end_work(&errand, carried);
    }

    async fn call(&self, errand: &Errand<'_>, at: (u32, usize)) -> Went {
        let stage = self.stage;
        let mark = stage.mark(errand, at);
        let mut sends: Vec<Send> = Vec::new();
        for attempt in 1.. {
            if let Some(gate) = self.refusal() {
                stage.yielded(gate);
                stage.end_call((errand, at, mark), sends, None);
                return Went::Yielded;
            }
            let (send, end) = stage.send(errand, mark).await;
            sends.push(send);
            let is_answered = matches!(end, ServedEnd::Answered(_));
            self.record(is_answered);
            if is_answered || attempt >= MAX_ATTEMPTS || !is_retryable(end) {
                stage.end_call((errand, at, mark), sends, Some(end));
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
        Went::Lost
    }

    /// The gate that refuses now, the breaker first.
    fn refusal(&self) -> Option<YieldReason> {
        let now = self.stage.now_ms();
        let mut key = self.key.borrow_mut();
        if let Some(opened) = key.opened_ms {
            if now - opened <= COOLDOWN_MS {
                return Some(YieldReason::Breaker);
            }
            (key.opened_ms, key.failures, key.successes) = (None, 0, 0);
        }
        if now - key.window_start_ms > WINDOW_MS {
            (key.window_start_ms, key.calls) = (now, 0);
        }
        if key.calls >= MAX_CALLS {
            return Some(YieldReason::Budget);
        }
        key.calls += 1;
        None
    }

    fn record(&self, is_answered: bool) {
        let mut key = self.key.borrow_mut();
        if is_answered {
            key.successes += 1;
        } else {
            key.failures += 1;
        }
        let total = key.successes + key.failures;
        let ratio = f64::from(key.failures) / f64::from(total);
        if total >= MIN_SAMPLES && ratio >= FAILURE_RATIO {
            let is_new = key.opened_ms.is_none();
            key.opened_ms = Some(self.stage.now_ms());
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
