//! From what was kept to figures: chains of deferrals, ranks, the tail.

use std::time::Duration;

use super::sort::{self, Entry, entry, row, value};
use super::work::{End, Works};
use super::{Kind, NONE, RunRow, Sample, State, Tally, count, hour, narrow, sets};
use crate::report::breakdown::{Breakdown, Section};
use crate::report::dots::{self, Dot, DotEnd};
use crate::report::figures::{By, Figures};
use crate::report::ranks::{Cell, Ranks};
use crate::report::tail::{self, Rows, Spreads};

/// The sets of all ways to tell work apart, numbered through: first the whole, then each way's.
struct Cells {
    starts: [Cell; 5],
    /// The hours of the day inside a peak window, then all time outside.
    peaks: Cell,
    len: usize,
}

impl Cells {
    fn of(tally: &Tally) -> Self {
        let [groups, jobs, models] = tally.names.each_ref().map(super::Names::len);
        let mut next = 1;
        let starts = [groups, jobs, models, 24, tally.days.len()].map(|sets| {
            let start = next;
            next += sets;
            narrow(start as u64)
        });
        Self {
            starts,
            peaks: narrow(next as u64),
            len: next + 25,
        }
    }

    /// The sets of work of a kind at an instant, the whole included.
    fn at(&self, kind: Kind, hour: u8, day: u16) -> [Cell; 6] {
        let [groups, jobs, models, hours, days] = self.starts;
        [
            0,
            groups + kind.group,
            jobs + kind.job,
            models + kind.model,
            hours + Cell::from(hour),
            days + Cell::from(day),
        ]
    }

    const fn off_peak(&self) -> Cell {
        self.peaks + 24
    }

    /// The sets of a piece of work, by its last run.
    fn of_work(&self, tally: &Tally, run: &RunRow) -> [Cell; 6] {
        let kind = tally.kinds.get(run.kind);
        self.at(kind, hour(run.fire_at), tally.days.find(run.fire_at))
    }

    /// The sets of an attempt.
    fn of_attempt(&self, tally: &Tally, place: &Place) -> [Cell; 7] {
        let kind = tally.kinds.get(place.kind);
        let [all, group, job, model, hour, day] = self.at(kind, place.hour, place.day);
        let peak = if place.is_peak {
            self.peaks + Cell::from(place.hour)
        } else {
            self.off_peak()
        };
        [all, group, job, model, hour, day, peak]
    }
}

/// What the sets of an attempt follow from.
struct Place {
    kind: u32,
    day: u16,
    hour: u8,
    is_peak: bool,
}

pub(super) fn close(mut tally: Tally) -> Breakdown {
    count::count(&mut tally);
    let works = Works::of(&tally);
    name_days(&mut tally, &works);
    let cells = Cells::of(&tally);
    let done = completions(&mut tally, &works, &cells);
    drop(works);
    let places = places(&tally);
    let (first, _) = ranks(&tally, &cells, &places, |sample| sample.first);
    let (total, rising) = ranks(&tally, &cells, &places, |sample| sample.total);
    drop(places);
    let fill = |figures: &mut Figures, cell: Cell| {
        figures.latency = total.percentiles(cell);
        figures.first_byte = first.percentiles(cell);
        figures.completion = done.completion(cell);
    };
    let mut whole = sets::total(&tally);
    fill(&mut whole, 0);
    let sections = By::ALL.map(|by| {
        let mut rows = sets::of_way(&tally, by);
        for ((_, figures), cell) in rows.iter_mut().zip(cells.starts[by.index()]..) {
            fill(figures, cell);
        }
        section(by, rows)
    });
    let tail = slowest(&tally, &rising, &spreads(&total, &cells));
    // The dots sort once more: nothing of these is needed for them.
    (tally.runs, tally.calls) = (Vec::new(), Vec::new());
    Breakdown {
        total: whole,
        sections,
        tail,
        dots: dots(&tally, &rising),
        dots_of: rising.len(),
        scope: tally.scope,
    }
}

/// Numbers the days of latencies and slots; those on which something was counted have numbers.
fn name_days(tally: &mut Tally, works: &Works) {
    for sample in &tally.attempts.rows {
        tally.days.number(sample.started_ms());
    }
    for last in works.last_runs() {
        tally.days.number(tally.runs[last].fire_at);
    }
}

/// The sets in which something happened, by their names.
fn section(by: By, mut rows: Vec<(String, Figures)>) -> Section {
    rows.retain(|(_, figures)| *figures != Figures::default());
    rows.sort_by(|(one, _), (other, _)| one.cmp(other));
    Section { by, rows }
}

/// The measured attempts in the order of this value, those without one left out.
fn order(tally: &Tally, of: fn(&Sample) -> u32) -> Vec<Entry> {
    let samples = tally.attempts.rows.iter().enumerate();
    let mut entries = Vec::with_capacity(samples.len());
    entries.extend(
        samples
            .map(|(at, sample)| entry(of(sample), at))
            .filter(|entry| value(*entry) != NONE),
    );
    sort::sort(&mut entries);
    entries
}

/// What the sets of each attempt follow from, side by side: their rows lie far apart in the order of values.
fn places(tally: &Tally) -> Vec<Place> {
    let place = |sample: &Sample| Place {
        kind: tally.calls[sample.call as usize].kind,
        day: tally.days.find(sample.started_ms()),
        hour: sample.hour(),
        is_peak: sample.is_peak,
    };
    tally.attempts.rows.iter().map(place).collect()
}

/// The ranks of this value in every set, and the attempts in its order.
fn ranks(
    tally: &Tally,
    cells: &Cells,
    places: &[Place],
    of: fn(&Sample) -> u32,
) -> (Ranks, Vec<Entry>) {
    let mut ranks = Ranks::new(cells.len);
    for (sample, place) in tally.attempts.rows.iter().zip(places) {
        if of(sample) != NONE {
            for cell in cells.of_attempt(tally, place) {
                ranks.count(cell);
            }
        }
    }
    let rising = order(tally, of);
    for entry in &rising {
        for cell in cells.of_attempt(tally, &places[row(*entry)]) {
            ranks.take(cell, value(*entry));
        }
    }
    (ranks, rising)
}

fn spreads(total: &Ranks, cells: &Cells) -> Spreads {
    let hours = (0..24).map(|hour| total.percentiles(cells.peaks + hour));
    Spreads {
        off_peak: total.percentiles(cells.off_peak()),
        hours: hours.collect(),
    }
}

fn slowest(tally: &Tally, rising: &[Entry], spreads: &Spreads) -> tail::Tail {
    let from = rising.len() - tail::size(rising.len());
    let slowest = rising[from..].iter();
    let slowest: Vec<Sample> = slowest.map(|it| tally.attempts.rows[row(*it)]).collect();
    let rows = Rows {
        runs: &tally.runs,
        calls: &tally.calls,
        kinds: &tally.kinds,
        names: &tally.names,
    };
    tail::sort(&slowest, &rows, spreads)
}

fn dots(tally: &Tally, rising: &[Entry]) -> Vec<Dot> {
    let by_time = order(tally, |sample| sample.started);
    let from = rising.len().saturating_sub(dots::SLOWEST);
    let least = rising.get(from).copied().unwrap_or_default();
    let samples = by_time.iter().map(|it| {
        let sample = &tally.attempts.rows[row(*it)];
        (sample, entry(sample.total, row(*it)) >= least)
    });
    dots::pick(samples, rising.len())
        .into_iter()
        .map(dot)
        .collect()
}

fn dot(sample: &Sample) -> Dot {
    Dot {
        at: sample.at(),
        latency: Duration::from_millis(sample.total.into()),
        end: if sample.state == State::Answered {
            DotEnd::Answered
        } else {
            DotEnd::Failed
        },
        is_peak: sample.is_peak,
    }
}

/// Follows every piece of work to its end, counts it, and ranks what it took from its slot on.
fn completions(tally: &mut Tally, works: &Works, cells: &Cells) -> Ranks {
    let mut ranks = Ranks::new(cells.len);
    let mut spans = Vec::new();
    for last in works.last_runs() {
        let run = &tally.runs[last];
        if !run.is_asked {
            continue;
        }
        let keys = tally.days.keys(run.kind, run.fire_at);
        tally.sets.each(keys, |figures| figures.slots.add(run));
        let span = match works.end(tally, last) {
            End::NotDue => continue,
            End::Open => None,
            End::Done(at) => u64::try_from(at - run.fire_at).ok().or(Some(0)),
        };
        for cell in cells.of_work(tally, run) {
            ranks.count(cell);
        }
        spans.extend(span.map(|span| entry(narrow(span), last)));
    }
    sort::sort(&mut spans);
    for span in spans {
        for cell in cells.of_work(tally, &tally.runs[row(span)]) {
            ranks.take(cell, value(span));
        }
    }
    ranks
}
