//! What the rows of a daemon's store say of its days.

use std::collections::{HashMap, HashSet};

use chrono::{DateTime, TimeDelta, Utc};

use super::course::Course;
use crate::engine::keep::{DeferralRecord, DeferralState};
use crate::job::Job;
use crate::money::Dollars;
use crate::outcome::{Attempt, AttemptEnd, Class, Outcome, Run, RunId};
use crate::piece::CallName;
use crate::slot::{Origin, Slot};
use crate::trial::{Call, Carried, Log, Opening, Send, SendEnd, Work};

/// What a store holds at the end.
#[derive(Debug, Clone)]
pub struct Rows<'a> {
    /// Every run, oldest first.
    pub runs: &'a [&'a Run],
    /// Every deferral, and what became of it.
    pub deferrals: &'a [DeferralRecord],
    /// When a breaker opened.
    pub openings: Vec<Opening>,
}

/// The log of the days that count: of the work that was due on them, whenever it was done.
#[must_use]
pub fn record(course: &Course, rows: Rows<'_>) -> Log {
    let until = course.days.until();
    let until_ms = course.ms(until);
    let mut log = Log {
        openings: rows.openings,
        ..Log::default()
    };
    log.openings.retain(|opening| opening.at_ms <= until_ms);
    let runs: HashMap<RunId, &Run> = rows.runs.iter().map(|run| (run.id, *run)).collect();
    let taken_over = taken_over(rows.deferrals, &runs);
    let work = Works::of(rows.runs, &taken_over);
    log.works = course
        .due
        .iter()
        .map(|slot| work.of_slot(course, slot))
        .collect();
    // A later slot that took work over did it, and what that took counts with it.
    let took: HashSet<Slot> = course
        .due
        .iter()
        .filter_map(|slot| work.taker(slot))
        .collect();
    let counts = |run: &&&Run| run.fire_at <= until || took.contains(&run.slot());
    for run in rows.runs.iter().filter(counts) {
        if let Some(Outcome::Yielded(gate)) = run.outcome {
            *log.yields.entry(gate).or_default() += 1;
        }
        log.dollars = log.dollars.plus(run.cost_usd.unwrap_or(Dollars::ZERO));
        calls(course, run, &mut log);
    }
    log
}

/// The slot that took over the work of another, by that other.
fn taken_over(
    deferrals: &[DeferralRecord],
    runs: &HashMap<RunId, &Run>,
) -> HashMap<Slot, DateTime<Utc>> {
    let merged = deferrals
        .iter()
        .filter(|row| row.state == DeferralState::Merged);
    let by = merged.filter_map(|row| {
        let by = runs.get(&row.run?)?;
        let is_later = by.fire_at > row.deferral.slot.fire_at;
        is_later.then(|| (row.deferral.slot.clone(), by.fire_at))
    });
    by.collect()
}

/// The last run of each slot, and where its work went.
struct Works<'a> {
    last: HashMap<Slot, &'a Run>,
    taken_over: &'a HashMap<Slot, DateTime<Utc>>,
}

impl<'a> Works<'a> {
    fn of(runs: &[&'a Run], taken_over: &'a HashMap<Slot, DateTime<Utc>>) -> Self {
        let last = runs.iter().map(|run| (run.slot(), *run));
        Self {
            last: last.collect(),
            taken_over,
        }
    }

    /// The slot whose work a slot's work became, through every merge; `None` if it was not taken over.
    fn taker(&self, slot: &Slot) -> Option<Slot> {
        let mut taker = None;
        let mut slot = slot.clone();
        while let Some(by) = self.taken_over.get(&slot) {
            slot.fire_at = *by;
            taker = Some(slot.clone());
        }
        taker
    }

    fn of_slot(&self, course: &Course, slot: &Slot) -> Work {
        let by = self.taker(slot);
        let run = self.last.get(by.as_ref().unwrap_or(slot));
        let done = run.and_then(|run| done_at(run));
        let carried = match (run, done) {
            (Some(run), Some(done)) => {
                let is_own = by.is_none() && run.origin == Origin::Scheduled;
                if is_own {
                    Carried::InSlot
                } else {
                    Carried::later(ms(done - slot.fire_at))
                }
            }
            (Some(run), None) if is_over(run) => Carried::Lost,
            // A slot without a run is one that the days ended before.
            (Some(_), None) | (None, _) => Carried::Waiting,
        };
        Work {
            due_ms: course.ms(slot.fire_at),
            done_ms: done.map(|done| course.ms(done)),
            carried,
        }
    }
}

/// A negative span counts as none.
fn ms(span: TimeDelta) -> u64 {
    u64::try_from(span.num_milliseconds()).unwrap_or(0)
}

fn done_at(run: &Run) -> Option<DateTime<Utc>> {
    run.finished_at
        .filter(|_| run.outcome == Some(Outcome::Succeeded))
}

/// Whether nothing is to come of it any more. A slot that was skipped because its job was still running is not done.
const fn is_over(run: &Run) -> bool {
    run.outcome.is_some() && run.deferred.is_none()
}

/// The calls of a run. Attempts of one call stand side by side unless items go at once.
fn calls(course: &Course, run: &Run, log: &mut Log) {
    let Some(planned) = course.plan.jobs.get(&run.job) else {
        return;
    };
    let slot = run.slot();
    let group = course.groups.get(&run.group).copied().unwrap_or_default();
    let mut attempts: Vec<(&Attempt, &AttemptEnd)> = run
        .attempts
        .iter()
        // Step 0 is traffic about a batch.
        .filter(|attempt| attempt.call.step > 0)
        .filter_map(|attempt| Some((attempt, attempt.end.as_ref()?)))
        .collect();
    attempts.sort_by(|(one, _), (other, _)| (&one.call, one.n).cmp(&(&other.call, other.n)));
    for call in attempts.chunk_by(|(one, _), (other, _)| one.call == other.call) {
        let first = log.sends.len();
        log.sends.extend(call.iter().map(|(attempt, end)| Send {
            at_ms: course.ms(attempt.started_at),
            latency_ms: u64::try_from(end.latency.as_millis()).unwrap_or(u64::MAX),
            group,
            end: send_end(end),
        }));
        let sends = first..log.sends.len();
        let name = call_name(course, &planned.job, (&slot, &call[0].0.call));
        log.calls.extend(Call::of(name, &log.sends, sends));
    }
}

fn send_end(end: &AttemptEnd) -> SendEnd {
    match end.class {
        Some(Class::Success) => SendEnd::Answered,
        Some(Class::Fatal) => SendEnd::Fatal,
        Some(Class::Retryable) if end.status.is_some() => SendEnd::Refused,
        Some(Class::Retryable) | None => SendEnd::Broken,
    }
}

/// The name under which every arm makes the call; a further part of an answer is another.
fn call_name(course: &Course, job: &Job, (slot, call): (&Slot, &CallName)) -> u64 {
    let item = call.item.as_deref().and_then(|item| item.parse().ok());
    let step = usize::try_from(call.step).unwrap_or(1).saturating_sub(1);
    let mark = course.mark(job, slot, (item.unwrap_or_default(), step));
    mark.call.wrapping_add(u64::from(call.part) - 1)
}

#[cfg(test)]
mod tests;
