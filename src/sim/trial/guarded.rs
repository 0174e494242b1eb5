//! The new client: the daemon itself, over one seed.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{mpsc, watch};

use super::course::Course;
use super::edge::TrialEdge;
use super::record::{Rows, record};
use crate::engine::ports::World;
use crate::engine::{Pulse, Stop, serve_with_pulse};
use crate::sim::world::Server;
use crate::sim::{MemoryStore, SimDice, VirtualClock, run_until};
use crate::trial::{Log, Opening};

/// The clock of a trial never steps, so the daemon need not look at it between two slots.
const LONGEST_SLEEP: Duration = Duration::from_hours(24);

const DAY: Duration = Duration::from_hours(24);

const HOUR: Duration = Duration::from_hours(1);

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
    let opening = |(_, at)| {
        let at_ms = course.ms(at);
        let is_false = edge.is_well(at_ms);
        Opening { at_ms, is_false }
    };
    let openings = store.openings().into_iter().map(opening).collect();
    let deferrals = store.all_deferrals();
    store.with_runs(|runs| {
        let rows = Rows {
            runs,
            deferrals: &deferrals,
            openings,
        };
        record(course, rows)
    })
}
