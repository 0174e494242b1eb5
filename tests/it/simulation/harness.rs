//! A daemon, its world in memory, and what must hold of them at any time.

use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use offpeak::engine::Notice;
use offpeak::engine::audit::{Scope, UnderWay, audit};
use offpeak::engine::keep::DeferralState;
use offpeak::engine::ports::{Clock, Deferral, Store, World};
use offpeak::engine::{Drained, EngineError, Plan, Stop, serve};
use offpeak::job::JobId;
use offpeak::outcome::{Outcome, Run};
use offpeak::schedule::Zones;
use offpeak::sim::{self, MemoryStore, SimDice, SimPlan, SimUpstream, SimWorkspace, VirtualClock};
use offpeak::slot::{Origin, Slot};
use tokio::sync::{mpsc, watch};

use super::gate::GatedStore;

/// A daemon's house: everything that outlives the daemon itself.
pub struct House {
    pub clock: VirtualClock,
    pub upstream: SimUpstream,
    pub store: Arc<MemoryStore>,
    pub gate: Arc<GatedStore>,
    pub workspace: Arc<SimWorkspace>,
    pub dice: Arc<SimDice>,
    pub plans: watch::Sender<Arc<Plan>>,
    pub stop: watch::Sender<Stop>,
    sender: mpsc::UnboundedSender<Notice>,
    notices: mpsc::UnboundedReceiver<Notice>,
}

/// An instant; RFC 3339 without seconds.
pub fn at(text: &str) -> DateTime<Utc> {
    format!("{text}:00Z").parse().unwrap()
}

pub fn seconds(count: u64) -> Duration {
    Duration::from_secs(count)
}

/// The rotation of the README: 02:00, 02:45, 04:00 and 04:45 in Tokyo, one group.
pub fn rotation() -> SimPlan {
    let plan = SimPlan::new("Asia/Tokyo").unwrap();
    let jobs = [
        ("a", "0 2 * * *"),
        ("b", "45 2 * * *"),
        ("c", "0 4 * * *"),
        ("d", "45 4 * * *"),
    ];
    jobs.iter().fold(plan, |plan, (id, cron)| {
        plan.job(id, "main", &[cron]).unwrap()
    })
}

/// One job in one group, at 02:00 in Tokyo.
pub fn single() -> SimPlan {
    SimPlan::new("Asia/Tokyo")
        .unwrap()
        .job("a", "main", &["0 2 * * *"])
        .unwrap()
}

impl House {
    /// A house at an instant; the upstream is made from its clock.
    pub fn new(
        start: &str,
        plan: Arc<Plan>,
        upstream: impl FnOnce(&VirtualClock) -> SimUpstream,
    ) -> Self {
        let clock = VirtualClock::new(at(start));
        let store = Arc::new(MemoryStore::new());
        let gate = GatedStore::new(Arc::clone(&store), clock.clone());
        let (sender, notices) = mpsc::unbounded_channel();
        Self {
            upstream: upstream(&clock),
            workspace: Arc::new(SimWorkspace::new(&clock)),
            dice: Arc::new(SimDice::fixed(0.5)),
            plans: watch::channel(plan).0,
            stop: watch::channel(Stop::Running).0,
            gate: Arc::new(gate),
            store,
            clock,
            sender,
            notices,
        }
    }

    pub fn world(&self) -> World {
        World {
            clock: Arc::new(self.clock.clone()),
            upstream: Arc::new(self.upstream.clone()),
            store: Arc::clone(&self.gate) as Arc<dyn Store>,
            workspace: Arc::clone(&self.workspace) as _,
            dice: Arc::clone(&self.dice) as _,
        }
    }

    pub fn sender(&self) -> mpsc::UnboundedSender<Notice> {
        self.sender.clone()
    }

    /// The daemon's future; dropping it is a crash.
    pub fn daemon(&self) -> impl Future<Output = Drained> + use<> {
        let serving = self.served();
        async move { serving.await.unwrap() }
    }

    /// As [`House::daemon`], with a start that may fail.
    pub fn served(&self) -> impl Future<Output = Result<Drained, EngineError>> + use<> {
        let (plans, stop) = (self.plans.subscribe(), self.stop.subscribe());
        serve(self.world(), plans, stop, self.sender())
    }

    /// Runs the daemon for a span and then crashes it, unless it ends by itself.
    pub fn live_for(&self, span: Duration) -> Option<Drained> {
        let limit = self.clock.elapsed() + span;
        sim::run_until(&self.clock, limit, self.daemon())
    }

    /// Runs the daemon until the wall clock shows an instant, if it is not stepped, and then crashes it.
    pub fn live_until(&self, until: &str) -> Option<Drained> {
        self.live_for((at(until) - self.clock.now()).to_std().unwrap())
    }

    /// Runs the daemon beside a script, until the span is over.
    pub fn live_beside(&self, span: Duration, script: impl Future<Output = ()>) -> Option<Drained> {
        let limit = self.clock.elapsed() + span;
        let mut drained = None;
        let both = async {
            let daemon = async { drained = Some(self.daemon().await) };
            futures_util::future::join(daemon, script).await
        };
        sim::run_until(&self.clock, limit, both);
        drained
    }

    /// Passes time without a daemon.
    pub fn pass(&self, span: Duration) {
        sim::run(&self.clock, self.clock.sleep(span)).unwrap();
    }

    /// Waits, in a script, until the wall clock shows an instant, if it is not stepped.
    pub async fn until(&self, instant: &str) {
        let span = (at(instant) - self.clock.now()).to_std().unwrap();
        self.clock.sleep(span).await;
    }

    /// What was said since the last time.
    pub fn told(&mut self) -> Vec<Notice> {
        std::iter::from_fn(|| self.notices.try_recv().ok()).collect()
    }

    /// `job@HH:MM:SS` of each request, by the wall clock in UTC.
    pub fn sends(&self) -> Vec<String> {
        let sent = self.upstream.sent().into_iter();
        sent.map(|sent| format!("{}@{}", sent.job(), sent.at.format("%H:%M:%S")))
            .collect()
    }

    /// `job origin: outcome` of each run, oldest first.
    pub fn runs(&self) -> Vec<String> {
        self.store.runs().iter().map(shown).collect()
    }

    /// The pending deferrals.
    pub fn pending(&self) -> Vec<Deferral> {
        let all = self.store.all_deferrals().into_iter();
        all.filter(|row| row.state == DeferralState::Pending)
            .map(|row| row.deferral)
            .collect()
    }

    /// What must hold of every house whose daemon is not running a slot: `until` is the last instant it dealt with.
    pub fn check(&self, since: DateTime<Utc>, until: DateTime<Utc>) {
        self.check_slots(since, until);
        self.check_rows();
    }

    /// As [`House::check`], for a house whose plan was changed on the way.
    pub fn check_rows(&self) {
        self.check_runs();
        self.check_sends();
        for row in self.store.all_deferrals() {
            assert_ne!(row.state, DeferralState::Running, "nobody carries {row:?}");
        }
        self.audit();
    }

    /// What the rows say by themselves, whatever the plan and the upstream say.
    pub fn audit(&self) {
        let zones = Zones::bundled();
        let scope = Scope {
            zones: &zones,
            kept_from: DateTime::<Utc>::MIN_UTC,
            under_way: UnderWay::None,
        };
        let violations = audit(&self.store.ledger(), scope);
        assert!(violations.is_empty(), "{violations:#?}");
    }

    /// Each slot of the schedule has one row, with an outcome, and there is no other row.
    fn check_slots(&self, since: DateTime<Utc>, until: DateTime<Utc>) {
        let plan = self.plans.borrow().clone();
        let named = plan.jobs.values().flat_map(|planned| {
            let times = planned.timetable.between(since, until).into_iter();
            times.map(|fire_at| Slot {
                fire_at,
                job: planned.job.id.clone(),
            })
        });
        let named: BTreeSet<Slot> = named.collect();
        let kept: BTreeMap<Slot, Option<Outcome>> = self.store.slots().into_iter().collect();
        assert_eq!(kept.keys().cloned().collect::<BTreeSet<Slot>>(), named);
        for (slot, outcome) in kept {
            assert!(outcome.is_some(), "{slot:?} has no outcome");
        }
    }

    pub fn check_runs(&self) {
        let plan = self.plans.borrow().clone();
        let mut own = BTreeSet::new();
        for run in self.store.runs() {
            assert!(run.outcome.is_some(), "{run:?} has not ended");
            let most = plan
                .jobs
                .get(&run.job)
                .map_or(3, |job| job.retry.max_attempts());
            let sent = run.attempts.iter().map(|attempt| attempt.n);
            assert!(sent.max() <= Some(most), "{run:?}");
            let is_first =
                run.origin != Origin::Scheduled || own.insert((run.job.clone(), run.fire_at));
            assert!(is_first, "{run:?} fired twice");
        }
    }

    /// Nothing was sent in a peak window, and no request without an attempt on record.
    pub fn check_sends(&self) {
        let plan = self.plans.borrow().clone();
        for sent in self.upstream.sent() {
            assert!(
                !plan.peaks.is_peak(sent.at),
                "{} was sent at {}",
                sent.job(),
                sent.at
            );
        }
        let attempts: usize = self.store.runs().iter().map(|run| run.attempts.len()).sum();
        assert!(
            self.upstream.sent().len() <= attempts,
            "a request without an attempt"
        );
    }

    /// In any span of the budget's `per`, no group sent more than `calls`. Only where the wall clock was not stepped.
    pub fn check_budgets(&self) {
        let plan = self.plans.borrow().clone();
        for (id, group) in &plan.groups {
            let policy = group.guard.budget;
            let per = TimeDelta::from_std(policy.per()).unwrap();
            let sent = self.upstream.sent().into_iter();
            let sent: Vec<_> = sent
                .filter(|it| it.request.key.as_str() == id.as_str())
                .map(|it| it.at)
                .collect();
            for span in sent.windows(policy.calls() as usize + 1) {
                let width = *span.last().unwrap() - span[0];
                assert!(width >= per, "{id} sent {} within {width}", span.len());
            }
        }
    }

    /// No slot's work was delivered twice. Only where nothing crashed: a crash may come after the delivery.
    pub fn check_deliveries(&self) {
        let mut seen = BTreeSet::new();
        for (slot, _) in self.workspace.delivered() {
            assert!(seen.insert(slot.clone()), "{slot:?} was delivered twice");
        }
    }
}

/// `job origin: outcome` of a run.
pub fn shown(run: &Run) -> String {
    let outcome = run
        .outcome
        .as_ref()
        .map_or("running".to_owned(), ToString::to_string);
    format!("{} {}: {outcome}", run.job, run.origin)
}

/// The requests' jobs; the simulated folder writes them into the prompt.
pub trait Named {
    fn job(&self) -> &str;
}

impl Named for sim::Sent {
    fn job(&self) -> &str {
        self.request.prompt.split(' ').next().unwrap()
    }
}

pub fn job(id: &str) -> JobId {
    JobId::new(id)
}
