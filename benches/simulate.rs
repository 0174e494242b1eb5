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

/// A site a job: all at once, or twenty minutes apart from 23:00 on.
fn course(is_old: bool) -> Course {
    let mut plan = SimPlan::new("Asia/Tokyo").expect("a bundled zone");
    let mut jobs = BTreeMap::new();
    for site in 0..6 {
        let cron = |slot: u32| match is_old {
            true => format!("0 {} * * *", [2, 4, 8, 20][slot as usize]),
            false => {
                let minute = (23 * 60 + (slot * 6 + site) * 20) % (24 * 60);
                format!("{} {} * * *", minute % 60, minute / 60)
            }
        };
        let crons: Vec<String> = (0..4).map(cron).collect();
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
    let course = Course::new(&plan.build(), workload, Days { from, count: 14 });
    if is_old {
        course.heedless_of_peaks()
    } else {
        course
    }
}

/// One seed of one arm: 336 slots of the daemon's own code, and two days more.
#[divan::bench(args = [true, false])]
fn guarded_fortnight(bencher: Bencher<'_, '_>, is_old: bool) {
    let (course, world) = (course(is_old), Arc::new(WorldModel::default()));
    let mut seed = 0;
    bencher.bench_local(|| {
        seed += 1;
        live(black_box(&course), &world, Client::Guarded, seed).expect("a sound world")
    });
}

#[divan::bench]
fn layered_fortnight(bencher: Bencher<'_, '_>) {
    let (course, world) = (course(true), Arc::new(WorldModel::default()));
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
        [course(true), course(false)],
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
