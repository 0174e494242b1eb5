//! From what was kept to figures: chains of deferrals, ranks, the tail.

use std::collections::HashMap;

use super::{NONE, RunRow, Sample, Tally, hour, narrow};
use crate::outcome::{Outcome, SkipReason};
use crate::report::breakdown::{Breakdown, Section};
use crate::report::figures::{By, Figures};
use crate::report::ranks::{Cell, Ranks};
use crate::report::tail::{self, Rows, Spreads};

/// The sets of all ways to tell work apart, numbered through: first the whole, then each way's.
struct Cells {
    starts: [Cell; 4],
    /// The hours of the day inside a peak window, then all time outside.
    peaks: Cell,
    len: usize,
}

impl Cells {
    fn of(figures: &[Vec<Figures>; 4]) -> Self {
        let mut next = 1;
        let starts = figures.each_ref().map(|figures| {
            let start = next;
            next += figures.len();
            narrow(start as u64)
        });
        Self {
            starts,
            peaks: narrow(next as u64),
            len: next + 25,
        }
    }

    /// The sets of these keys, the whole included.
    fn at(&self, keys: [u32; 4]) -> [Cell; 5] {
        let [group, job, model, hour] = keys;
        let [groups, jobs, models, hours] = self.starts;
        [0, groups + group, jobs + job, models + model, hours + hour]
    }

    const fn off_peak(&self) -> Cell {
        self.peaks + 24
    }

    fn near_peak(&self, sample: &Sample) -> Cell {
        if sample.is_peak {
            self.peaks + Cell::from(sample.hour)
        } else {
            self.off_peak()
        }
    }
}

/// What a piece of work came to.
struct Work {
    job: u32,
    fire_at: i64,
    /// Its last run.
    last: usize,
}

pub(super) fn close(mut tally: Tally) -> Breakdown {
    let cells = Cells::of(&tally.figures);
    let done = completions(&mut tally, &cells);
    tally.samples.sort_unstable_by_key(|sample| sample.first);
    let first = ranks(&tally, &cells, |sample| sample.first);
    tally.samples.sort_unstable_by_key(|sample| sample.total);
    let total = ranks(&tally, &cells, |sample| sample.total);
    let spreads = Spreads {
        off_peak: total.percentiles(cells.off_peak()),
        hours: (0..24)
            .map(|hour| total.percentiles(cells.peaks + hour))
            .collect(),
    };
    let fill = |figures: &mut Figures, cell: Cell| {
        figures.latency = total.percentiles(cell);
        figures.first_byte = first.percentiles(cell);
        figures.completion = done.completion(cell);
    };
    fill(&mut tally.total, 0);
    for (figures, start) in tally.figures.iter_mut().zip(cells.starts) {
        for (figures, cell) in figures.iter_mut().zip(start..) {
            fill(figures, cell);
        }
    }
    let rows = Rows {
        runs: &tally.runs,
        calls: &tally.calls,
        names: &tally.names,
    };
    let tail = tail::sort(&tally.samples, &rows, &spreads);
    let sections = By::ALL.map(|by| section(by, &tally));
    Breakdown {
        scope: tally.scope,
        total: tally.total,
        sections,
        tail,
    }
}

/// The sets in which something happened, by their names.
fn section(by: By, tally: &Tally) -> Section {
    let named = tally.figures[by.index()]
        .iter()
        .zip(0..)
        .map(|(figures, at)| {
            let name = match tally.names.get(by.index()) {
                Some(names) => names.get(at).unwrap_or_default().to_owned(),
                None => format!("{at:02}"),
            };
            (name, figures.clone())
        });
    let mut rows: Vec<_> = named
        .filter(|(_, figures)| *figures != Figures::default())
        .collect();
    rows.sort_by(|(one, _), (other, _)| one.cmp(other));
    Section { by, rows }
}

/// The ranks of samples that come in the order of this value.
fn ranks(tally: &Tally, cells: &Cells, value: fn(&Sample) -> u32) -> Ranks {
    let mut ranks = Ranks::new(cells.len);
    let of = |sample: &Sample| {
        let call = &tally.calls[sample.call as usize];
        let run = &tally.runs[call.run as usize];
        cells.at(run.keys(call.model, sample.hour))
    };
    let measured = || tally.samples.iter().filter(|sample| value(sample) != NONE);
    for sample in measured() {
        for cell in of(sample) {
            ranks.count(cell);
        }
        ranks.count(cells.near_peak(sample));
    }
    for sample in measured() {
        let value = value(sample);
        for cell in of(sample) {
            ranks.take(cell, value);
        }
        ranks.take(cells.near_peak(sample), value);
    }
    ranks
}

/// What became of a piece of work.
enum End {
    /// A complete answer, then.
    Done(i64),
    /// Not yet, or never.
    Open,
    /// None was due.
    NotDue,
}

/// Follows every piece of work to its end, counts it, and ranks what it took from its slot on.
fn completions(tally: &mut Tally, cells: &Cells) -> Ranks {
    let works = works(&tally.runs);
    let mut by_slot = HashMap::new();
    if !tally.merges.is_empty() {
        by_slot.extend(
            works
                .iter()
                .map(|work| ((work.job, work.fire_at), work.last)),
        );
    }
    let mut ranks = Ranks::new(cells.len);
    let mut spans = Vec::new();
    for work in &works {
        let run = &tally.runs[work.last];
        if !run.is_asked {
            continue;
        }
        let keys = run.keys(run.model, hour(work.fire_at));
        let end = end(tally, work, &by_slot);
        let sets = std::iter::once(&mut tally.total).chain(
            tally
                .figures
                .iter_mut()
                .zip(keys)
                .filter_map(|(sets, key)| sets.get_mut(key as usize)),
        );
        for figures in sets {
            figures.slots.add(run);
        }
        let span = match end {
            End::NotDue => continue,
            End::Open => None,
            End::Done(at) => u64::try_from(at - work.fire_at).ok().or(Some(0)),
        };
        for cell in cells.at(keys) {
            ranks.count(cell);
        }
        spans.extend(span.map(|span| (narrow(span), keys)));
    }
    spans.sort_unstable_by_key(|(span, _)| *span);
    for (span, keys) in spans {
        for cell in cells.at(keys) {
            ranks.take(cell, span);
        }
    }
    ranks
}

/// When a piece of work came to its complete answer, its own or that of the slot that took it over.
fn end(tally: &Tally, work: &Work, by_slot: &HashMap<(u32, i64), usize>) -> End {
    let (mut run, mut fire_at) = (&tally.runs[work.last], work.fire_at);
    loop {
        if run.is_deferred {
            return End::Open;
        }
        match &run.outcome {
            Some(Outcome::Succeeded) => return End::Done(run.ended_at),
            Some(Outcome::Skipped(SkipReason::Merged)) => {
                let into = tally.merges.get(&(work.job, fire_at));
                // Work goes into later slots only, so this ends.
                let into = into.copied().filter(|into| *into > fire_at);
                let Some((into, last)) =
                    into.and_then(|into| Some((into, *by_slot.get(&(work.job, into))?)))
                else {
                    return End::NotDue;
                };
                (run, fire_at) = (&tally.runs[last], into);
            }
            Some(Outcome::Skipped(_)) => return End::NotDue,
            Some(
                Outcome::Incomplete(_)
                | Outcome::Yielded(_)
                | Outcome::Exhausted
                | Outcome::Failed(_),
            )
            | None => return End::Open,
        }
    }
}

/// The last run of every piece of work, by job and slot.
fn works(runs: &[RunRow]) -> Vec<Work> {
    let mut works: Vec<Work> = runs
        .iter()
        .enumerate()
        .map(|(last, run)| Work {
            job: run.job,
            fire_at: run.fire_at,
            last,
        })
        .collect();
    works.sort_unstable_by_key(|work| (work.job, work.fire_at, std::cmp::Reverse(work.last)));
    works.dedup_by_key(|work| (work.job, work.fire_at));
    works
}
