//! The figures of one log.

use super::log::{Call, Carried, Log, Send, SendEnd, Work};
use super::metric::Metric;
use super::value::Value;
use crate::outcome::YieldReason;
use crate::report::rank;

/// How long the span is in which most requests are counted.
const MINUTE_MS: u64 = 60_000;

/// The figures of one arm over one seed.
///
/// ```
/// use offpeak::trial::{Carried, Log, Metric, Score, Value, Work};
///
/// let work = |due_ms, done_ms, carried| Work { due_ms, done_ms, carried };
/// let log = Log {
///     works: vec![work(0, Some(9_000), Carried::InSlot), work(1_000, None, Carried::Lost)],
///     ..Log::default()
/// };
/// let score = Score::of(&log);
/// assert_eq!(score.get(Metric::Lost), Value::Measured(1.0));
/// assert_eq!(score.get(Metric::DoneP50), Value::Measured(9_000.0), "in milliseconds");
/// assert_eq!(score.get(Metric::DoneMax), Value::Beyond, "lost work is in the tail");
/// assert_eq!(score.get(Metric::MeanAttempts), Value::Nothing, "there was no call");
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Score([Value; Metric::ALL.len()]);

/// What the requests of all calls came to.
#[derive(Debug, Default)]
struct Requests {
    /// Answers, however often a later run had to ask for one again.
    wanted: usize,
    attempts: usize,
    wasted: usize,
    resent: usize,
    troubled: usize,
    attempts_of_troubled: usize,
}

impl Score {
    /// The figures of a log. Counts are there always; a ratio or percentile of nothing is [`Value::Nothing`].
    #[must_use]
    pub fn of(log: &Log) -> Self {
        let mut score = Self([Value::Nothing; Metric::ALL.len()]);
        score.set_works(&log.works);
        score.set_calls(log);
        score.set_sends(&log.sends);
        score.set_gates(log);
        let dollars = Value::Measured(log.dollars.as_f64());
        score.set(Metric::Dollars, dollars);
        score
    }

    /// A figure; spans are in milliseconds.
    #[must_use]
    pub const fn get(&self, metric: Metric) -> Value {
        self.0[metric as usize]
    }

    pub(super) const fn set(&mut self, metric: Metric, value: Value) {
        self.0[metric as usize] = value;
    }

    fn set_count(&mut self, metric: Metric, count: usize) {
        self.set(metric, Value::count(count));
    }

    fn set_works(&mut self, works: &[Work]) {
        let mut by = [0; 5];
        for work in works {
            by[work.carried as usize] += 1;
        }
        self.set_count(Metric::Work, works.len());
        for (metric, carried) in [
            (Metric::InSlot, Carried::InSlot),
            (Metric::Next, Carried::Next),
            (Metric::NextDay, Carried::NextDay),
            (Metric::Lost, Carried::Lost),
            (Metric::Waiting, Carried::Waiting),
        ] {
            self.set_count(metric, by[carried as usize]);
        }
        let done = works
            .iter()
            .filter_map(|work| Some(work.done_ms?.saturating_sub(work.due_ms)));
        let [p50, p95, p99, max] = percentiles(done.collect(), works.len());
        self.set(Metric::DoneP50, p50);
        self.set(Metric::DoneP95, p95);
        self.set(Metric::DoneP99, p99);
        self.set(Metric::DoneMax, max);
    }

    fn set_calls(&mut self, log: &Log) {
        let of = Requests::of(log);
        let calls = log.calls.len();
        let answered: Vec<u64> = log
            .calls
            .iter()
            .filter(|call| call.is_answered)
            .map(|call| call.ended_ms.saturating_sub(call.began_ms))
            .collect();
        self.set_count(Metric::Calls, calls);
        self.set_count(Metric::Unanswered, calls - answered.len());
        self.set_count(Metric::Attempts, of.attempts);
        self.set_count(Metric::TroubledCalls, of.troubled);
        self.set_count(Metric::Wasted, of.wasted);
        self.set_count(Metric::Resent, of.resent);
        let mean = Value::ratio(of.attempts, of.wanted);
        self.set(Metric::MeanAttempts, mean);
        let troubled = Value::ratio(of.attempts_of_troubled, of.troubled);
        self.set(Metric::AttemptsPerTroubledCall, troubled);
        let [p50, p95, p99, _] = percentiles(answered, calls);
        self.set(Metric::CallP50, p50);
        self.set(Metric::CallP95, p95);
        self.set(Metric::CallP99, p99);
    }

    fn set_sends(&mut self, sends: &[Send]) {
        self.set_count(Metric::SendsPerMinute, most_in_a_minute(sends));
        let spans = sends.iter().map(|send| send.latency_ms).collect();
        let [p50, p95, p99, max] = percentiles(spans, sends.len());
        self.set(Metric::AttemptP50, p50);
        self.set(Metric::AttemptP95, p95);
        self.set(Metric::AttemptP99, p99);
        self.set(Metric::AttemptMax, max);
    }

    fn set_gates(&mut self, log: &Log) {
        let at = |gate: YieldReason| log.yields.get(&gate).copied().unwrap_or(0);
        let all: usize = log.yields.values().sum();
        let (budget, breaker) = (at(YieldReason::Budget), at(YieldReason::Breaker));
        self.set_count(Metric::Yields, all);
        self.set_count(Metric::YieldsBudget, budget);
        self.set_count(Metric::YieldsBreaker, breaker);
        self.set_count(Metric::YieldsOther, all - budget - breaker);
        let is_false = log.openings.iter().filter(|opening| opening.is_false);
        self.set_count(Metric::Openings, log.openings.len());
        self.set_count(Metric::FalseOpenings, is_false.count());
    }
}

impl Requests {
    fn of(log: &Log) -> Self {
        let mut calls: Vec<&Call> = log.calls.iter().collect();
        // Those that want the same answer side by side, in order of time.
        calls.sort_by_key(|call| (call.name, call.began_ms));
        let mut sum = Self::default();
        for wanted in calls.chunk_by(|one, other| one.name == other.name) {
            let sends = |call: &&Call| log.sends.get(call.sends.clone()).unwrap_or_default();
            sum.add(&wanted.iter().map(sends).collect::<Vec<_>>());
        }
        sum
    }

    /// Counts the requests for one answer, call by call.
    fn add(&mut self, calls: &[&[Send]]) {
        let sends = || calls.iter().copied().flatten();
        let attempts = sends().count();
        let wasted = sends().filter(|send| is_wasted(send.end)).count();
        self.wanted += 1;
        self.attempts += attempts;
        self.wasted += wasted;
        if wasted > 0 {
            self.troubled += 1;
            self.attempts_of_troubled += attempts;
        }
        // The last request of all was not sent again.
        let before_others = sends().take(attempts.saturating_sub(1));
        self.resent += before_others
            .filter(|send| send.end == SendEnd::Broken)
            .count();
    }
}

/// Whether a request brought no answer.
const fn is_wasted(end: SendEnd) -> bool {
    match end {
        SendEnd::Answered => false,
        SendEnd::Refused | SendEnd::Fatal | SendEnd::Broken => true,
    }
}

/// p50, p95, p99 and the most of these spans among `of` in all, those without a span ranking above: the figures of
/// [`Completion`](crate::report::Completion), found without sorting all of them, since hundreds of logs are scored.
fn percentiles(mut spans: Vec<u64>, of: usize) -> [Value; 4] {
    if of == 0 {
        return [Value::Nothing; 4];
    }
    let mut found = 0;
    [50, 95, 99, 100].map(|percent| {
        let rank = rank(percent, of);
        if rank >= spans.len() {
            return Value::Beyond;
        }
        // All before the last rank are no longer than what stands there.
        let (_, span, _) = spans[found..].select_nth_unstable(rank - found);
        found = rank;
        Value::Measured(*span as f64)
    })
}

/// The most requests of one group in any half-open minute: one that starts with a request holds as many as any other.
fn most_in_a_minute(sends: &[Send]) -> usize {
    let mut times: Vec<u64> = sends.iter().map(group_time).collect();
    times.sort_unstable();
    let mut first = 0;
    let mut most = 0;
    for (last, time) in times.iter().enumerate() {
        while time - times[first] >= MINUTE_MS {
            first += 1;
        }
        most = most.max(last + 1 - first);
    }
    most
}

/// Group and instant in one number, which sorts faster than two: groups lie so far apart that no minute reaches across.
fn group_time(send: &Send) -> u64 {
    const THOUSANDS_OF_YEARS: u64 = 1 << 47;

    u64::from(send.group) << 48 | send.at_ms.min(THOUSANDS_OF_YEARS)
}

#[cfg(test)]
mod tests;
