//! Figures for the simulator: fourteen days of six sites with four slots each.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use divan::{Bencher, black_box};
use offpeak::job::JobId;
use offpeak::price::Estimate;
use offpeak::sim::SimPlan;
use offpeak::sim::trial::{
    Client, Course, Days, JobLoad, Layers, StepLoad, Workload, live, live_all,
};
use offpeak::sim::world::WorldModel;
use offpeak::trial::Score;

const CLIENTS: [Client; 2] = [Client::Guarded, Client::Layered(Layers::FIVE_INSIDE_TEN)];

fn main() {
    divan::main();
}

/// When the sites fire.
#[derive(Debug, Clone, Copy)]
enum Times {
    /// All at once, two hours of four in a peak.
    Stacked,
    /// Twenty minutes apart from 23:00 on.
    Apart,
}

impl Times {
    fn cron(self, site: u32, slot: u32) -> String {
        match self {
            Self::Stacked => format!("0 {} * * *", [2, 4, 8, 20][slot as usize]),
            Self::Apart => {
                let minute = (23 * 60 + (slot * 6 + site) * 20) % (24 * 60);
                format!("{} {} * * *", minute % 60, minute / 60)
            }
        }
    }
}

/// A site a job. What fires in a peak goes ahead, or the daemon would send nothing then.
fn course(times: Times) -> Course {
    let mut plan = SimPlan::new("Asia/Tokyo").expect("a bundled zone");
    let mut jobs = BTreeMap::new();
    for site in 0..6 {
        let crons: Vec<String> = (0..4).map(|slot| times.cron(site, slot)).collect();
        let crons: Vec<&str> = crons.iter().map(String::as_str).collect();
        let name = format!("site-{site}");
        plan = plan.job(&name, "main", &crons).expect("a valid expression");
        let step = StepLoad {
            input_tokens: 14_000,
            cached: None,
            max_tokens: 4_000,
            estimate: Estimate::default(),
        };
        let steps = vec![step];
        jobs.insert(JobId::new(name), JobLoad { items: None, steps });
    }
    let workload = Workload {
        jobs,
        prices: Arc::new(|_, _, _| None),
        first_byte_timeout: Duration::from_mins(5),
    };
    let from = "2026-11-30T15:00:00Z".parse().expect("an instant");
    Course::new(&plan.build(), workload, Days { from, count: 14 }).heedless_of_peaks()
}

/// One seed of one arm: 336 slots of the daemon's own code, and two days more.
#[divan::bench(args = [Times::Stacked, Times::Apart])]
fn guarded_fortnight(bencher: Bencher<'_, '_>, times: Times) {
    let (course, world) = (course(times), Arc::new(WorldModel::default()));
    let mut seed = 0;
    bencher.bench_local(|| {
        seed += 1;
        live(black_box(&course), &world, Client::Guarded, seed).expect("a sound world")
    });
}

#[divan::bench]
fn layered_fortnight(bencher: Bencher<'_, '_>) {
    let (course, world) = (course(Times::Stacked), Arc::new(WorldModel::default()));
    let mut seed = 0;
    bencher.bench_local(|| {
        seed += 1;
        live(black_box(&course), &world, CLIENTS[1], seed).expect("a sound world")
    });
}

/// The two by two of `simulate --compare`, scored, on all cores.
#[divan::bench(sample_count = 3, sample_size = 1)]
fn four_arms_of_200_seeds(bencher: Bencher<'_, '_>) {
    let (courses, world) = (
        [course(Times::Stacked), course(Times::Apart)],
        Arc::new(WorldModel::default()),
    );
    bencher.bench_local(|| {
        for course in &courses {
            for client in CLIENTS {
                let seeds = (1..201, Score::of);
                let scores = live_all(course, &world, client, seeds).expect("a sound world");
                black_box(scores);
            }
        }
    });
}
