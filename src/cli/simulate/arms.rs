//! The arms of a comparison: a client on a schedule, over the same seeds.

use std::ops::Range;
use std::sync::Arc;

use super::schedule::{Schedule, Which};
use crate::dice::SeededDice;
use crate::engine::ports::Dice;
use crate::sim::trial::{Client, Layers, live_all};
use crate::sim::world::{WorldError, WorldModel};
use crate::trial::{Contrast, Resamples, Score, Summary};

/// So many resamples make an interval of 95 % that another draw hardly moves.
const RESAMPLES: usize = 2_000;

/// No more seeds are drawn for all resamples together: with ten thousand seeds, 2,000 resamples would fill the memory.
const MOST_PICKS: usize = 4_000_000;

/// One client on one schedule.
#[derive(Debug)]
pub struct Arm {
    /// Which client: the old one knows no guards, the new one is the daemon.
    pub client: Which,
    /// On which schedule.
    pub schedule: Which,
    /// The figures, seed by seed.
    pub scores: Vec<Score>,
    /// How they spread.
    pub summary: Summary,
}

/// What sets two arms apart.
#[derive(Debug)]
pub struct Effect {
    /// What is another in the second arm.
    pub of: Of,
    /// Figure by figure.
    pub contrasts: Vec<Contrast>,
}

/// What is another in a second arm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Of {
    /// The schedule alone, with this client in both.
    Schedule(Which),
    /// The client alone, on this schedule in both.
    Guards(Which),
    /// Both.
    Both,
}

/// The arms of a two by two, in the order of its columns.
const TWO_BY_TWO: [(Which, Which); 4] = [
    (Which::Old, Which::Old),
    (Which::Old, Which::New),
    (Which::New, Which::Old),
    (Which::New, Which::New),
];

/// Which of these arms are set apart.
const EFFECTS: [(Of, (usize, usize)); 5] = [
    (Of::Schedule(Which::Old), (0, 1)),
    (Of::Schedule(Which::New), (2, 3)),
    (Of::Guards(Which::Old), (0, 2)),
    (Of::Guards(Which::New), (1, 3)),
    (Of::Both, (0, 3)),
];

/// Lives through the schedules: the new one with the daemon, or with an old one both with both clients.
///
/// The daemon on the new schedule is the last arm.
///
/// # Errors
///
/// As [`live_all`].
pub fn live(
    (new, old): (&Schedule, Option<&Schedule>),
    world: &Arc<WorldModel>,
    seeds: &Range<u64>,
) -> Result<Vec<Arm>, WorldError> {
    let arm = |client: Which, schedule: &Schedule| {
        let how = match client {
            Which::Old => Client::Layered(Layers::default()),
            Which::New => Client::Guarded,
        };
        let scores = live_all(&schedule.course, world, how, (seeds.clone(), Score::of))?;
        Ok(Arm {
            client,
            schedule: schedule.which,
            summary: Summary::of(&scores),
            scores,
        })
    };
    let Some(old) = old else {
        return Ok(vec![arm(Which::New, new)?]);
    };
    let arms = TWO_BY_TWO.iter().map(|(client, schedule)| match schedule {
        Which::Old => arm(*client, old),
        Which::New => arm(*client, new),
    });
    arms.collect()
}

/// What schedule and guards did; nothing of a single arm. The seed sets which seeds are resampled.
pub fn effects(arms: &[Arm], seed: u64) -> Vec<Effect> {
    if arms.len() < TWO_BY_TWO.len() {
        return Vec::new();
    }
    let seeds = arms[0].scores.len();
    let dice = SeededDice::new(seed);
    let count = RESAMPLES.min(MOST_PICKS / seeds.max(1));
    let resamples = Resamples::draw(seeds, count, &mut || dice.draw());
    let effect = |(of, (first, second)): (Of, (usize, usize))| Effect {
        of,
        contrasts: Contrast::all(&arms[first].scores, &arms[second].scores, &resamples),
    };
    EFFECTS.into_iter().map(effect).collect()
}
