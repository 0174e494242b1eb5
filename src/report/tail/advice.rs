//! What to change about a tail: the job, and the line of its file.

use std::collections::BTreeMap;

use super::Evidence;

/// No more than this many pieces of advice are given: those that explain most.
const MOST: usize = 10;

/// What to change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Advice {
    /// Whose file.
    pub job: String,
    /// The field in it.
    pub field: Field,
    /// How many of the slowest attempts it would concern.
    pub samples: usize,
    /// What to do, in words.
    pub words: String,
}

/// The field of a job file that a piece of advice is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Field {
    /// When it fires.
    Cron,
    /// What is sent each time.
    System,
}

impl Field {
    /// The field's name in the file.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Cron => "cron",
            Self::System => "system",
        }
    }
}

/// What is to blame, by job.
#[derive(Debug, Default)]
pub(super) struct Blame {
    peak: BTreeMap<String, usize>,
    /// Two jobs, in the order of their names.
    collision: BTreeMap<(String, String), usize>,
    cold: BTreeMap<String, (usize, u32)>,
}

impl Blame {
    pub(super) fn count(&mut self, job: &str, evidence: &[Evidence]) {
        for pattern in evidence {
            match pattern {
                Evidence::PeakJitter { .. } => *self.peak.entry(job.to_owned()).or_default() += 1,
                Evidence::RetryCollision { other, .. } => {
                    let mut pair = [job, other.as_str()];
                    pair.sort_unstable();
                    let [one, two] = pair.map(str::to_owned);
                    *self.collision.entry((one, two)).or_default() += 1;
                }
                Evidence::LongColdInput { tokens } => {
                    let (samples, most) = self.cold.entry(job.to_owned()).or_default();
                    *samples += 1;
                    *most = (*most).max(*tokens);
                }
            }
        }
    }

    pub(super) fn advice(self) -> Vec<Advice> {
        let peak = self.peak.into_iter().map(|(job, samples)| Advice {
            words:
                "it starts in a peak window: move it out, `offpeak plan --spread` proposes a time; a run by hand can wait"
                    .to_owned(),
            job,
            field: Field::Cron,
            samples,
        });
        let collision = self
            .collision
            .into_iter()
            .map(|((one, two), samples)| Advice {
                words: apart(&one, &two),
                job: one,
                field: Field::Cron,
                samples,
            });
        let cold = self.cold.into_iter().map(|(job, (samples, most))| Advice {
            words: format!(
                "up to {most} input tokens and none from the cache: put what stays the same first and give it \
                 `cache: 1h`, or send less"
            ),
            job,
            field: Field::System,
            samples,
        });
        let mut advice: Vec<Advice> = peak.chain(collision).chain(cold).collect();
        // Stable: what concerns as many stays in the order of the patterns, then of the names.
        advice.sort_by_key(|advice| std::cmp::Reverse(advice.samples));
        advice.truncate(MOST);
        advice
    }
}

fn apart(one: &str, two: &str) -> String {
    if one == two {
        return "its runs retry beside each other: give it fewer or wider slots".to_owned();
    }
    format!(
        "it retries beside `{two}`: set them further apart, `offpeak plan --spread` proposes times"
    )
}
