//! The search for the world of the example, on seeds that its tables do not use.

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use offpeak::sim::world::WorldModel;
use offpeak::trial::{Contrast, Metric, Resamples, Summary};

use super::Courses;

const SEEDS: Range<u64> = 1..31;

/// Tries parameters of the world, never of the product, and prints how near each comes to what the source states.
pub fn calibrate(courses: &Courses, world: &WorldModel) {
    println!("per_day  lasts  failure_ratio  attempts  wasted  yields  distance");
    let mut tried = Vec::new();
    for per_day in [2.0, 4.0, 6.0, 8.0] {
        for minutes in [8, 16, 32] {
            for failure_ratio in [0.6, 0.65, 0.7, 0.75] {
                let mut world = world.clone();
                world.overload.per_day = per_day;
                world.overload.lasts = Duration::from_mins(minutes);
                world.overload.failure_ratio = failure_ratio;
                let world = Arc::new(world);
                let old = courses.scores(0, &world, SEEDS);
                let new = courses.scores(3, &world, SEEDS);
                let none = Resamples::draw(old.len(), 0, &mut || 0.0);
                let wasted = Contrast::of(Metric::Wasted, &old, &new, &none)
                    .relative
                    .median;
                let (old, new) = (Summary::of(&old), Summary::of(&new));
                let attempts = old.spread(Metric::AttemptsPerTroubledCall).median;
                let yields = new.spread(Metric::Yields).median;
                let found = [attempts, wasted, yields].map(|it| it.measured().unwrap_or(f64::NAN));
                let stated = [4.6, -0.59, 17.0];
                let distance: f64 = found
                    .iter()
                    .zip(stated)
                    .map(|(it, of)| ((it - of) / of).powi(2))
                    .sum();
                tried.push((distance.sqrt(), format!(
                    "{per_day:7}  {minutes:4}m  {failure_ratio:13}  {:8.2}  {:6.2}  {:6}  {:8.3}",
                    found[0], found[1], found[2], distance.sqrt()
                )));
            }
        }
    }
    tried.sort_by(|(one, _), (other, _)| one.total_cmp(other));
    for (_, line) in tried {
        println!("{line}");
    }
}
