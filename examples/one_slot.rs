//! One slot from its fire time to its answer, in virtual time, against an upstream that is overloaded at first.
//!
//! Run with `cargo run --example one_slot`.

#![expect(clippy::print_stdout, reason = "an example talks to its reader")]

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use offpeak::engine::Notice;
use offpeak::engine::ports::World;
use offpeak::engine::{Stop, serve};
use offpeak::sim::{
    self, MemoryStore, Scripted, SimDice, SimPlan, SimUpstream, SimWorkspace, VirtualClock,
};
use tokio::sync::{mpsc, watch};

fn main() -> Result<(), Box<dyn Error>> {
    // A quarter to two at night in Tokyo; the job fires at two.
    let clock = VirtualClock::new("2026-12-01T16:45:00Z".parse()?);
    let plan = SimPlan::new("Asia/Tokyo")?
        .job("digest", "main", &["0 2 * * *"])?
        .build();
    let hint = Some(Duration::from_secs(8));
    let replies = [
        Scripted::status(529, "overloaded_error", None),
        Scripted::status(429, "rate_limit_error", hint),
        Scripted::answer(Duration::from_secs(42), "Nothing burned down last night."),
    ];
    let workspace = Arc::new(SimWorkspace::new(&clock));
    let world = World {
        clock: Arc::new(clock.clone()),
        upstream: Arc::new(SimUpstream::scripted(&clock, replies)),
        store: Arc::new(MemoryStore::new()),
        workspace: workspace.clone(),
        dice: Arc::new(SimDice::seeded(1)),
    };

    let (_plans, plan) = watch::channel(plan);
    let (_stop, stop) = watch::channel(Stop::Running);
    let (sender, mut notices) = mpsc::unbounded_channel();
    let daemon = Box::pin(serve(world, plan, stop, sender));
    // The daemon never ends by itself: half an hour of it is enough.
    sim::run_until(&clock, Duration::from_mins(30), daemon).transpose()?;

    while let Ok(notice) = notices.try_recv() {
        tell(&notice);
    }
    for (slot, text) in workspace.delivered() {
        println!("{} delivered: {text}", slot.job);
    }
    Ok(())
}

fn tell(notice: &Notice) {
    match notice {
        Notice::Started { slot, late, .. } => {
            println!("{} fires at {}, {late:?} late", slot.job, slot.fire_at);
        }
        Notice::Attempted { attempt, .. } => {
            let end = attempt.end.as_ref();
            let status = end.and_then(|end| end.status);
            println!(
                "  attempt {} after {:?}: status {status:?}",
                attempt.n, attempt.wait
            );
        }
        Notice::Ended { finish, .. } => println!("  {}", finish.outcome),
        _ => {}
    }
}
