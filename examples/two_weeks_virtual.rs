//! Two weeks of the daemon in virtual time, through an outage and a restart, in a fraction of a second.
//!
//! Run with `cargo run --example two_weeks_virtual`.

#![expect(clippy::print_stdout, reason = "an example talks to its reader")]

use std::collections::BTreeMap;
use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};
use offpeak::engine::ports::{Dice, World};
use offpeak::engine::{Plan, Stop, serve};
use offpeak::sim::{
    self, MemoryStore, Scripted, SimDice, SimPlan, SimUpstream, SimWorkspace, VirtualClock,
};
use tokio::sync::{mpsc, watch};

const DAY: Duration = Duration::from_hours(24);

fn main() -> Result<(), Box<dyn Error>> {
    let clock = VirtualClock::new("2026-12-01T00:00:00Z".parse()?);
    let outage = "2026-12-04T16:30:00Z".parse()?.."2026-12-05T18:00:00Z".parse()?;
    let store = Arc::new(MemoryStore::new());
    let world = World {
        clock: Arc::new(clock.clone()),
        upstream: Arc::new(upstream(&clock, outage)),
        store: store.clone(),
        workspace: Arc::new(SimWorkspace::new(&clock)),
        dice: Arc::new(SimDice::seeded(1)),
    };

    // Six days, then a crash and two days away, then the rest on the same store.
    live(&clock, &world, DAY * 6)?;
    sim::run_until(&clock, DAY * 8, std::future::pending::<()>());
    live(&clock, &world, DAY * 14)?;

    let mut outcomes: BTreeMap<String, usize> = BTreeMap::new();
    for run in store.runs() {
        let outcome = run
            .outcome
            .map_or("running".to_owned(), |outcome| outcome.to_string());
        *outcomes
            .entry(format!("{:<10} {outcome}", run.origin))
            .or_default() += 1;
    }
    for (outcome, count) in outcomes {
        println!("{count:>4}  {outcome}");
    }
    Ok(())
}

/// Runs a daemon until this much time has passed in all, and then drops it, as a crash does.
fn live(clock: &VirtualClock, world: &World, until: Duration) -> Result<(), Box<dyn Error>> {
    let (_plans, plan) = watch::channel(rotation()?);
    let (_stop, stop) = watch::channel(Stop::Running);
    let (notices, _unheard) = mpsc::unbounded_channel();
    let daemon = Box::pin(serve(world.clone(), plan, stop, notices));
    sim::run_until(clock, until, daemon).transpose()?;
    Ok(())
}

/// Four jobs that share one key, and a pickup slot for what yields at the night's last.
fn rotation() -> Result<Arc<Plan>, sim::SimPlanError> {
    let plan = SimPlan::new("Asia/Tokyo")?
        .job("digest", "main", &["0 2 * * *"])?
        .job("translate", "main", &["45 2 * * *"])?
        .job("review", "main", &["0 4 * * *"])?
        .job("report", "main", &["45 4 * * *"])?
        .pickup("main", &["30 5 * * *"])?;
    Ok(plan.build())
}

/// An upstream that fails one request in four, and every one during the outage.
fn upstream(clock: &VirtualClock, outage: std::ops::Range<DateTime<Utc>>) -> SimUpstream {
    let dice = SimDice::seeded(7);
    SimUpstream::new(clock, move |now, _| {
        if outage.contains(&now) || dice.draw() < 0.25 {
            Scripted::status(529, "overloaded_error", None)
        } else {
            Scripted::answer(Duration::from_secs(30), "a complete answer")
        }
    })
}
