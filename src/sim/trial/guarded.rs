//! The new client: the daemon itself, over one seed.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};
use tokio::sync::{mpsc, watch};

use super::course::Course;
use super::edge::TrialEdge;
use crate::engine::keep::DeferralState;
use crate::engine::ports::World;
use crate::engine::{Pulse, Stop, serve_with_pulse};
use crate::money::Dollars;
use crate::outcome::{Attempt, AttemptEnd, Class, Outcome, Run, RunId};
use crate::sim::world::Server;
use crate::sim::{MemoryStore, SimDice, VirtualClock, run_until};
use crate::slot::Slot;
use crate::trial::{Call, Carried, Log, Opening, Send, SendEnd, Work};

/// The clock of a trial never steps, so the daemon need not look at it between two slots.
const LONGEST_SLEEP: Duration = Duration::from_hours(24);

const DAY: Duration = Duration::from_hours(24);

const HOUR: Duration = Duration::from_hours(1);

/// Later than this counts as the next day.
const NEXT_DAY: chrono::TimeDelta = chrono::TimeDelta::hours(12);

/// Lives through a course as the daemon does: the same calculus, guard, call machine and deferrals, on a clock that
/// jumps from one event to the next.
pub(super) fn live(course: &Course, server: Server, dice: SimDice) -> Log {
    let clock = VirtualClock::new(course.days.from);
    let edge = Arc::new(TrialEdge::new(course, &clock, server));
    let store = Arc::new(MemoryStore::new());
    let world = World {
        clock: Arc::new(clock.clone()),
        upstream: edge.clone(),
        store: store.clone(),
        workspace: edge.clone(),
        dice: Arc::new(dice),
    };
    let (_plans, plan) = watch::channel(Arc::clone(&course.plan));
    let (_stop, stop) = watch::channel(Stop::Running);
    let (notices, unheard) = mpsc::unbounded_channel();
    drop(unheard);
    let pulse = Pulse::new(LONGEST_SLEEP).0;
    let mut daemon = Box::pin(serve_with_pulse(world, plan, stop, notices, pulse));
    // The daemon serves until it is stopped; the days end before that. What was put off on the last of them goes on.
    let mut passed = DAY * course.days.count;
    let _serving = run_until(&clock, passed, &mut daemon);
    while passed < DAY * course.days.lived() && store.has_open_work(course.days.until()) {
        passed += HOUR;
        let _serving = run_until(&clock, passed, &mut daemon);
    }
    drop(daemon);
    record(course, &store, &edge)
}

fn record(course: &Course, store: &MemoryStore, edge: &TrialEdge) -> Log {
    let until = course.days.until();
    let runs = store.runs();
    let mut log = Log {
        works: works(course, &runs, store),
        ..Log::default()
    };
    for run in runs.iter().filter(|run| run.fire_at <= until) {
        if let Some(Outcome::Yielded(gate)) = run.outcome {
            *log.yields.entry(gate).or_default() += 1;
        }
        log.dollars = log.dollars.plus(run.cost_usd.unwrap_or(Dollars::ZERO));
        calls(course, run, &mut log);
    }
    let openings = store.openings().into_iter();
    let openings = openings.filter(|(_, at)| *at <= until).map(|(_, at)| {
        let at_ms = course.ms(at);
        Opening {
            at_ms,
            is_false: edge.is_well(at_ms),
        }
    });
    log.openings.extend(openings);
    log
}

/// The calls of a run. Attempts of one call stand side by side unless items go at once.
fn calls(course: &Course, run: &Run, log: &mut Log) {
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
        log.calls.extend(Call::of(&log.sends, sends));
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

fn works(course: &Course, runs: &[Run], store: &MemoryStore) -> Vec<Work> {
    let mut last: HashMap<(&str, DateTime<Utc>), &Run> = HashMap::new();
    for run in runs {
        last.insert((run.job.as_str(), run.fire_at), run);
    }
    // Work that a later slot of its job took over is done when that slot's work is.
    let mut taken_over: HashMap<Slot, RunId> = HashMap::new();
    for row in store.all_deferrals() {
        if let (DeferralState::Merged, Some(by)) = (row.state, row.run) {
            taken_over.insert(row.deferral.slot, by);
        }
    }
    let by_id: HashMap<RunId, &Run> = runs.iter().map(|run| (run.id, run)).collect();
    let end_of = |slot: &Slot| {
        let mut slot = slot.clone();
        loop {
            let run = *last.get(&(slot.job.as_str(), slot.fire_at))?;
            match taken_over.get(&slot).and_then(|by| by_id.get(by)) {
                Some(by) if by.fire_at > slot.fire_at => slot.fire_at = by.fire_at,
                Some(_) | None => return Some((run, slot.fire_at)),
            }
        }
    };
    let due = course.due.iter();
    due.map(|slot| work(course, slot, end_of(slot))).collect()
}

fn work(course: &Course, slot: &Slot, end: Option<(&Run, DateTime<Utc>)>) -> Work {
    let due_ms = course.ms(slot.fire_at);
    let open = |carried| Work {
        due_ms,
        done_ms: None,
        carried,
    };
    // A slot without a run is one that the days ended before.
    let Some((run, by)) = end else {
        return open(Carried::Waiting);
    };
    match (&run.outcome, run.finished_at) {
        (Some(Outcome::Succeeded), Some(done)) => Work {
            due_ms,
            done_ms: Some(course.ms(done)),
            carried: carried(slot, (run, by), done),
        },
        (None, _) => open(Carried::Waiting),
        (Some(_), _) if run.deferred.is_some() => open(Carried::Waiting),
        (Some(_), _) => open(Carried::Lost),
    }
}

fn carried(slot: &Slot, (run, by): (&Run, DateTime<Utc>), done: DateTime<Utc>) -> Carried {
    let is_own = by == slot.fire_at && run.origin == crate::slot::Origin::Scheduled;
    match done - slot.fire_at {
        _ if is_own => Carried::InSlot,
        late if late < NEXT_DAY => Carried::Next,
        _ => Carried::NextDay,
    }
}
