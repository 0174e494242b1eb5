//! Plans that bring what they send and write through, and runs that outlive them.

use std::sync::Arc;
use std::time::Duration;

use offpeak::engine::ports::Clock;
use offpeak::engine::{Edge, Plan};
use offpeak::sim::{Scripted, SimPlan, SimUpstream, SimWorkspace};

use super::harness::{House, seconds, single};

/// What one plan sends and writes through.
struct Side {
    upstream: SimUpstream,
    workspace: Arc<SimWorkspace>,
}

impl Side {
    fn new(house: &House, answers: Vec<Scripted>) -> Self {
        Self {
            upstream: SimUpstream::scripted(&house.clock, answers),
            workspace: Arc::new(SimWorkspace::new(&house.clock)),
        }
    }

    fn plan(&self, plan: SimPlan) -> Arc<Plan> {
        let mut plan = plan.build();
        Arc::make_mut(&mut plan).edge = Some(Edge {
            upstream: Arc::new(self.upstream.clone()),
            workspace: Arc::clone(&self.workspace) as _,
        });
        plan
    }

    /// How many requests it took, and how many answers.
    fn counts(&self) -> (usize, usize) {
        let answers = self.workspace.delivered().len();
        (self.upstream.sent().len(), answers)
    }
}

/// Every attempt took the newest client, and the answer went to the newest files: a retry whose key had been renamed was
/// unsendable.
#[test]
fn a_run_sends_and_writes_through_what_its_plan_brought_to_the_end() {
    let house = House::new("2026-12-01T16:59", single().build(), SimUpstream::healthy);
    let busy = Scripted {
        latency: seconds(20),
        ..Scripted::status(529, "overloaded_error", None)
    };
    let (old, new) = (Side::new(&house, vec![busy]), Side::new(&house, Vec::new()));
    house.plans.send_replace(old.plan(single()));
    let script = async {
        // The first attempt is under way, and its retry lies ahead.
        house.clock.sleep(seconds(70)).await;
        house.plans.send_replace(new.plan(single()));
    };
    house.live_beside(Duration::from_hours(2), script);
    assert_eq!((old.counts(), new.counts()), ((2, 1), (0, 0)));
    assert_eq!(house.runs(), ["a scheduled: succeeded"]);
    // The next slot is the new plan's.
    house.live_until("2026-12-02T17:10");
    assert_eq!((old.counts(), new.counts()), ((2, 1), (1, 1)));
    assert!(house.upstream.sent().is_empty());
    house.check_runs();
}
