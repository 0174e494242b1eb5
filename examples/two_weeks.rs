//! A published fortnight, honestly: what three layers and a spread schedule did for six sites, over 200 drawn worlds.
//!
//! `cargo run --release --example two_weeks` prints the tables of docs/two-weeks.md; with `-- --calibrate` the search
//! for the parameters of `two_weeks/world.yaml` on seeds that the tables do not use.

#![expect(clippy::print_stdout, reason = "an example talks to its reader")]

#[path = "two_weeks/calibrate.rs"]
mod calibrate;
#[path = "two_weeks/statements.rs"]
mod statements;

use std::error::Error;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use offpeak::engine::PlannedJob;
use offpeak::engine::ports::Dice;
use offpeak::job::{CacheTtl, ForEach, ItemSource, JobId, Which};
use offpeak::price::Estimate;
use offpeak::sim::trial::{
    CachedPart, Client, Course, Days, JobLoad, Layers, StepLoad, Workload, live_all,
};
use offpeak::sim::world::WorldModel;
use offpeak::sim::{SimDice, SimPlan, SimPlanError};
use offpeak::trial::{Arm, Contrast, Resamples, Score, Summary, markdown_arms, markdown_contrasts};

/// The days of the table that is reproduced.
const DAYS: u32 = 14;
const SITES: u32 = 6;
/// Slots of a site on a day.
const SLOTS: u32 = 4;
/// Calls of a slot, one after the other: an assumption, as the source does not tell.
const CALLS: u32 = 5;
/// The world was calibrated on other seeds.
const REPORTED: Range<u64> = 5001..5201;
/// Resamples of the seeds for an interval.
const RESAMPLES: usize = 2_000;

const ARMS: [&str; 5] = [
    "old client, old times",
    "old client, new times",
    "layers, old times",
    "layers, new times",
    "printed layers, new times",
];

fn main() -> Result<(), Box<dyn Error>> {
    let world = WorldModel::from_yaml(include_str!("two_weeks/world.yaml"))?;
    let courses = Courses::new()?;
    match std::env::args().nth(1).as_deref() {
        Some("--calibrate") => calibrate::calibrate(&courses, &world),
        Some(other) => return Err(format!("`{other}` is unknown; there is `--calibrate`").into()),
        None => report(&courses, &world),
    }
    Ok(())
}

/// The two schedules.
struct Courses {
    old: Course,
    new: Course,
}

impl Courses {
    fn new() -> Result<Self, SimPlanError> {
        // Midnight in Japan, so that days are whole.
        let from = "2026-11-30T15:00:00Z".parse().expect("an instant");
        let days = Days { from, count: DAYS };
        let course = |times: fn(u32, u32) -> String| -> Result<Course, SimPlanError> {
            Ok(Course::new(&schedule(times)?.build(), workload(), days))
        };
        Ok(Self {
            // Before there were rules: the daemon would put off what fires in a peak, and that is not what is asked.
            old: course(old_times)?.heedless_of_peaks(),
            new: course(new_times)?,
        })
    }

    fn arm(&self, at: usize) -> (&Course, Client) {
        match at {
            0 => (&self.old, Client::Layered(Layers::default())),
            1 => (&self.new, Client::Layered(Layers::default())),
            2 => (&self.old, Client::Guarded),
            3 => (&self.new, Client::Guarded),
            _ => (&self.new, Client::Literal),
        }
    }

    fn scores(&self, at: usize, world: &Arc<WorldModel>, seeds: Range<u64>) -> Vec<Score> {
        let (course, client) = self.arm(at);
        live_all(course, world, client, (seeds, Score::of)).expect("the world was read")
    }
}

/// All six sites at once, at two hours of the night and two of the peaks.
fn old_times(_: u32, slot: u32) -> String {
    format!("0 {} * * *", [2, 4, 8, 20][slot as usize])
}

/// From 23:00 to 06:40, twenty minutes apart.
fn new_times(site: u32, slot: u32) -> String {
    let minute = (23 * 60 + (slot * SITES + site) * 20) % (24 * 60);
    format!("{} {} * * *", minute % 60, minute / 60)
}

fn schedule(times: fn(u32, u32) -> String) -> Result<SimPlan, SimPlanError> {
    let mut plan = SimPlan::new("Asia/Tokyo")?;
    for site in 0..SITES {
        let crons: Vec<String> = (0..SLOTS).map(|slot| times(site, slot)).collect();
        let crons: Vec<&str> = crons.iter().map(String::as_str).collect();
        plan = plan.job(&format!("site-{site}"), "main", &crons)?;
    }
    Ok(plan.with_jobs(in_calls))
}

fn in_calls(planned: &mut PlannedJob) {
    planned.job.for_each = Some(ForEach {
        source: ItemSource::Files {
            folder: PathBuf::new(),
            pattern: String::new(),
        },
        which: Which::All,
        limit: None,
    });
}

/// A long system prompt, cached for five minutes, and an article for each of several readers.
fn workload() -> Workload {
    let step = |site: u32| StepLoad {
        input_tokens: 14_000,
        cached: Some(CachedPart {
            mark: site.into(),
            tokens: 10_000,
            ttl: CacheTtl::FiveMinutes,
        }),
        max_tokens: 4_000,
        estimate: Estimate::default(),
    };
    let load = |site: u32| JobLoad {
        items: Some(CALLS),
        steps: vec![step(site)],
    };
    let sites = (0..SITES).map(|site| (JobId::new(format!("site-{site}")), load(site)));
    Workload {
        jobs: sites.collect(),
        prices: Arc::new(|_, _, _| None),
        first_byte_timeout: Duration::from_mins(5),
    }
}

fn report(courses: &Courses, world: &WorldModel) {
    let world = Arc::new(world.clone());
    let scores: Vec<Vec<Score>> = (0..ARMS.len())
        .map(|at| courses.scores(at, &world, REPORTED))
        .collect();
    let summaries: Vec<Summary> = scores.iter().map(|it| Summary::of(it)).collect();
    let arms: Vec<Arm<'_>> = ARMS
        .into_iter()
        .zip(&summaries)
        .map(|(name, summary)| Arm { name, summary })
        .collect();
    println!("## The five arms\n\n{}", markdown_arms(&arms));
    let dice = SimDice::seeded(REPORTED.start);
    let seeds = scores[0].len();
    let resamples = Resamples::draw(seeds, RESAMPLES, &mut || dice.draw());
    for (first, second) in [(0, 3), (0, 1), (0, 2), (3, 4)] {
        let contrasts = Contrast::all(&scores[first], &scores[second], &resamples);
        println!("## {}, against {}\n", arms[second].name, arms[first].name);
        let table = markdown_contrasts(&arms[first], &arms[second], &contrasts);
        println!("{table}");
    }
    // Calls that are refused for what they are get lost in every arm; without them only yields and failures could.
    let mut sound = WorldModel::clone(&world);
    sound.faults.refused = 0.0;
    let sound = Summary::of(&courses.scores(3, &Arc::new(sound), REPORTED));
    let both = |metric| Contrast::of(metric, &scores[0], &scores[3], &resamples).relative;
    println!("## What the source states\n");
    println!(
        "| the source | in | median | 5 % to 95 % of seeds | verdict |\n|---|---|---:|---:|---|"
    );
    for row in statements::statements(&both, [&summaries[0], &summaries[3], &sound]) {
        println!("{row}");
    }
}
