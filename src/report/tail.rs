//! The slowest attempts, and which of three patterns each shows.

mod advice;
mod neighbours;

use std::time::Duration;

use chrono::{DateTime, Utc};

use super::percentiles::{Percentiles, rank};
use super::tally::{CallRow, Kind, Kinds, Names, RunRow, Sample};
use crate::outcome::RunId;
use neighbours::Neighbours;

pub use advice::{Advice, Field};

/// At least so many of the slowest attempts are looked at, however few p99 leaves; and so many are shown.
const WORST: usize = 20;

/// Input of so many tokens is long, as the linter has it.
const LONG: u32 = 12_000;

/// A peak hour jitters if its spread is so many times that outside the windows.
const WIDER: u32 = 2;

/// The slowest attempts: those at or over p99, and at least the worst twenty.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Tail {
    /// How many were looked at.
    pub samples: usize,
    /// The shortest latency among them.
    pub from: Duration,
    /// How many started in a peak window that jitters.
    pub peak_jitter: usize,
    /// How many belong to runs that were retried beside another run that was.
    pub retry_collision: usize,
    /// How many sent long input of which nothing was in the cache.
    pub long_cold_input: usize,
    /// How many show none of these. The others may show several, so the counts may add up to more.
    pub none: usize,
    /// The worst twenty, the slowest first.
    pub worst: Vec<TailSample>,
    /// What to change, from what explains most.
    pub advice: Vec<Advice>,
}

/// One slow attempt.
#[derive(Debug, Clone, PartialEq)]
pub struct TailSample {
    /// When it was sent, to the second.
    pub at: DateTime<Utc>,
    /// Whose work it was.
    pub job: String,
    /// The group that it counted against.
    pub group: String,
    /// The model that was asked.
    pub model: String,
    /// The run that it belongs to.
    pub run: RunId,
    /// Which attempt of its call, counted from 1.
    pub n: u8,
    /// From the start to its end.
    pub latency: Duration,
    /// The patterns that it shows; empty means none of the three.
    pub evidence: Vec<Evidence>,
}

/// A pattern, with what speaks for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Evidence {
    /// It started in a peak window. The spread is p95 less p50: of that hour inside the windows, and of all time outside
    /// them; `None` where fewer than twenty samples tell.
    PeakJitter {
        /// The hour of the day in Japan.
        hour: u8,
        /// The spread of that hour.
        spread: Option<Duration>,
        /// The spread outside.
        off_peak: Option<Duration>,
    },
    /// Its run was retried, and so was another of the group, within five minutes.
    RetryCollision {
        /// Whose run that was.
        other: String,
        /// How long the one was over when the other began; zero if they ran side by side.
        apart: Duration,
    },
    /// So many input tokens, and none of them read from the cache.
    LongColdInput {
        /// How many.
        tokens: u32,
    },
}

/// The rows that samples point to.
pub(super) struct Rows<'a> {
    pub runs: &'a [RunRow],
    pub calls: &'a [CallRow],
    pub kinds: &'a Kinds,
    pub names: &'a [Names; 3],
}

/// How latencies spread inside the windows, by hour of the day, and outside.
pub(super) struct Spreads {
    pub off_peak: Option<Percentiles>,
    pub hours: Vec<Option<Percentiles>>,
}

/// How many of so many samples are looked at.
pub(super) fn size(samples: usize) -> usize {
    let over_p99 = samples - rank(99, samples).min(samples);
    over_p99.max(WORST).min(samples)
}

/// Sorts the slowest samples, which come in rising order.
pub(super) fn sort(slowest: &[Sample], rows: &Rows<'_>, spreads: &Spreads) -> Tail {
    let neighbours = Neighbours::of(rows.runs, rows.kinds);
    let mut tail = Tail {
        samples: slowest.len(),
        from: millis(slowest.first().map_or(0, |sample| sample.total)),
        ..Tail::default()
    };
    let mut blame = advice::Blame::default();
    for sample in slowest.iter().rev() {
        let evidence = evidence(sample, rows, spreads, &neighbours);
        for pattern in &evidence {
            *match pattern {
                Evidence::PeakJitter { .. } => &mut tail.peak_jitter,
                Evidence::RetryCollision { .. } => &mut tail.retry_collision,
                Evidence::LongColdInput { .. } => &mut tail.long_cold_input,
            } += 1;
        }
        tail.none += usize::from(evidence.is_empty());
        blame.count(rows.job_of(sample), &evidence);
        if tail.worst.len() < WORST {
            tail.worst.push(rows.told(sample, evidence));
        }
    }
    tail.advice = blame.advice();
    tail
}

fn evidence(
    sample: &Sample,
    rows: &Rows<'_>,
    spreads: &Spreads,
    neighbours: &Neighbours<'_>,
) -> Vec<Evidence> {
    let call = &rows.calls[sample.call as usize];
    let collision = neighbours.of_run(call.run as usize).map(|(other, apart)| {
        let other = rows.kinds.get(rows.runs[other].kind).job;
        let other = rows.names[1].get(other).unwrap_or_default();
        Evidence::RetryCollision {
            other: other.to_owned(),
            apart,
        }
    });
    let cold = (call.cold >= LONG).then_some(Evidence::LongColdInput { tokens: call.cold });
    let peak = sample
        .is_peak
        .then(|| spreads.jitter(sample.hour()))
        .flatten();
    peak.into_iter().chain(collision).chain(cold).collect()
}

impl Spreads {
    /// What speaks for jitter in this hour inside a window: nothing if it spreads no wider than outside; the window
    /// alone if there is too little to compare.
    fn jitter(&self, hour: u8) -> Option<Evidence> {
        let spread = self
            .hours
            .get(usize::from(hour))
            .and_then(Option::as_ref)
            .and_then(spread_of);
        let off_peak = self.off_peak.as_ref().and_then(spread_of);
        if let Some((inside, outside)) = spread.zip(off_peak)
            && inside < outside * WIDER
        {
            return None;
        }
        Some(Evidence::PeakJitter {
            hour,
            spread,
            off_peak,
        })
    }
}

/// From the median to the slowest twentieth, if enough samples tell.
fn spread_of(figures: &Percentiles) -> Option<Duration> {
    (!figures.is_very_few()).then(|| figures.p95.saturating_sub(figures.p50))
}

impl Rows<'_> {
    fn job_of(&self, sample: &Sample) -> &str {
        self.names[1]
            .get(self.kind_of(sample).job)
            .unwrap_or_default()
    }

    fn kind_of(&self, sample: &Sample) -> Kind {
        self.kinds.get(self.calls[sample.call as usize].kind)
    }

    fn told(&self, sample: &Sample, evidence: Vec<Evidence>) -> TailSample {
        let call = &self.calls[sample.call as usize];
        let run = &self.runs[call.run as usize];
        let kind = self.kind_of(sample);
        let [groups, jobs, models] = self.names;
        let name = |names: &Names, at| names.get(at).unwrap_or_default().to_owned();
        TailSample {
            at: sample.at(),
            job: name(jobs, kind.job),
            group: name(groups, kind.group),
            model: name(models, kind.model),
            run: RunId(run.id),
            n: sample.n,
            latency: millis(sample.total),
            evidence,
        }
    }
}

fn millis(value: u32) -> Duration {
    Duration::from_millis(value.into())
}

#[cfg(test)]
mod tests;
