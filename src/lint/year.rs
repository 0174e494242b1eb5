//! How many violating instants the first 365 days hold.
//!
//! Days on which the same expressions are at work around the same offsets are
//! alike, so one of each kind is counted and the rest are multiplied; the few
//! days around a clock change are counted one by one.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;

use super::board::{Board, Line};
use super::calendar::{DAY, weekday};
use super::near::Reach;
use super::peak;
use super::regimes::instant;

/// A span of time, and how many like it the year holds.
type Sample = (Range<i64>, u64);

/// Counts over the first 365 days of a proof.
#[derive(Debug)]
pub(super) struct Year<'a> {
    board: &'a Board<'a>,
    samples: HashMap<Question, Rc<[Sample]>>,
}

/// All that decides which days are alike.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Question {
    /// The zones that matter.
    zones: Vec<usize>,
    /// The day sets that matter.
    sets: Vec<usize>,
    /// How far before a day firings matter, in seconds.
    back: i64,
    /// How far after a day they matter.
    ahead: i64,
    weekdays: Weekdays,
}

/// Whether the weekday matters by itself, as it does for windows that hold on some days only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Weekdays {
    Matter,
    DoNot,
}

impl<'a> Year<'a> {
    /// Nothing counted yet.
    pub(super) fn new(board: &'a Board<'a>) -> Self {
        Self {
            board,
            samples: HashMap::new(),
        }
    }

    /// The instants at which a job fires within reach of an earlier firing of its own.
    pub(super) fn own_pairs(&mut self, lines: &[Line], reach: Reach) -> u64 {
        let (board, back) = (self.board, reach.below - 1);
        self.count(Question::about_firings(lines, back), |span| {
            let fires = board.fires_of(lines, &(span.start - back..span.end));
            let close = |pair: &&[i64]| span.contains(&pair[1]) && reach.holds(pair[1] - pair[0]);
            fires.windows(2).filter(close).count()
        })
    }

    /// The instants at which one of two jobs fires within reach of an earlier firing of the other.
    pub(super) fn cross_pairs(&mut self, one: &[Line], two: &[Line], reach: Reach) -> u64 {
        let (board, back) = (self.board, reach.below - 1);
        self.count(
            Question::about_firings(one.iter().chain(two), back),
            |span| {
                let wide = span.start - back..span.end;
                let (one, two) = (board.fires_of(one, &wide), board.fires_of(two, &wide));
                let mut late: Vec<i64> = followers(&one, &two, reach)
                    .chain(followers(&two, &one, reach))
                    .collect();
                late.retain(|at| span.contains(at));
                late.sort_unstable();
                late.dedup();
                late.len()
            },
        )
    }

    /// The instants at which a job fires in a peak window.
    pub(super) fn peaks(&mut self, lines: &[Line]) -> u64 {
        let board = self.board;
        self.count(
            Question::about_firings(lines, 0).and_windows(board, 0),
            |span| {
                let fires = board.fires_of(lines, span);
                fires
                    .into_iter()
                    .filter(|at| board.rules.peaks.is_peak(instant(*at)))
                    .count()
            },
        )
    }

    /// The instants at which a job starts a run that in its worst case, `below` seconds and less,
    /// reaches a slot of the lines near it or the start of a window.
    pub(super) fn overruns(&mut self, job: &[Line], near: &[&Line], below: i64) -> u64 {
        let board = self.board;
        let question = Question::about_firings(job.iter().chain(near.iter().copied()), 0);
        let mut near = near.to_vec();
        // A line that fires often is the first to be reached.
        near.sort_by_key(|line| Reverse(line.times.len()));
        self.count(question.and_windows(board, below), |span| {
            let fires = board.fires_of(job, span);
            fires
                .into_iter()
                .filter(|at| reaches(board, &near, *at, below))
                .count()
        })
    }

    fn count(&mut self, question: Question, measure: impl Fn(&Range<i64>) -> usize) -> u64 {
        let board = self.board;
        let samples = self
            .samples
            .entry(question)
            .or_insert_with_key(|question| Likeness { board, question }.samples().into());
        let counts = samples
            .iter()
            .map(|(span, times)| times * u64::try_from(measure(span)).unwrap_or(u64::MAX));
        counts.sum()
    }
}

fn reaches(board: &Board<'_>, near: &[&Line], at: i64, below: i64) -> bool {
    let mut slots = Vec::new();
    let meets = |line: &&Line| {
        board.fires(line, &(at + 1..at + below), &mut slots);
        !slots.is_empty()
    };
    near.iter().any(meets) || peak::starts_within(board, at, below)
}

/// The later instants that have an earlier one within reach.
fn followers<'a>(
    earlier: &'a [i64],
    later: &'a [i64],
    reach: Reach,
) -> impl Iterator<Item = i64> + 'a {
    let mut next = 0;
    later.iter().copied().filter(move |at| {
        while earlier
            .get(next)
            .is_some_and(|other| at - other >= reach.least)
        {
            next += 1;
        }
        let nearest = next.checked_sub(1).and_then(|last| earlier.get(last));
        nearest.is_some_and(|other| reach.holds(at - other))
    })
}

impl Question {
    fn about_firings<'l>(lines: impl IntoIterator<Item = &'l Line>, back: i64) -> Self {
        let (mut zones, mut sets): (Vec<usize>, Vec<usize>) =
            lines.into_iter().map(|line| (line.zone, line.days)).unzip();
        for list in [&mut zones, &mut sets] {
            list.sort_unstable();
            list.dedup();
        }
        Self {
            zones,
            sets,
            back,
            ahead: 0,
            weekdays: Weekdays::DoNot,
        }
    }

    fn and_windows(mut self, board: &Board<'_>, ahead: i64) -> Self {
        if !self.zones.contains(&board.peak_zone) {
            self.zones.push(board.peak_zone);
        }
        if board
            .rules
            .peaks
            .windows()
            .iter()
            .any(|window| window.days != [true; 7])
        {
            self.weekdays = Weekdays::Matter;
        }
        self.ahead = ahead;
        self
    }
}

/// Tells which days are alike.
struct Likeness<'a> {
    board: &'a Board<'a>,
    question: &'a Question,
}

impl Likeness<'_> {
    /// Spans that stand for the whole year.
    fn samples(&self) -> Vec<Sample> {
        let calendar = &self.board.calendar;
        let mut samples: Vec<Sample> = Vec::new();
        let mut kinds: HashMap<Vec<u64>, usize> = HashMap::new();
        for day in calendar.from.div_euclid(DAY)..=(calendar.year_end - 1).div_euclid(DAY) {
            let span = (day * DAY).max(calendar.from)..((day + 1) * DAY).min(calendar.year_end);
            let whole = span.end - span.start == DAY;
            let kind = if whole { self.kind(&span) } else { None };
            let known = kind.and_then(|kind| {
                let sample = *kinds.entry(kind).or_insert(samples.len());
                samples.get_mut(sample)
            });
            match known {
                Some((_, times)) => *times += 1,
                None => samples.push((span, 1)),
            }
        }
        samples
    }

    /// All that decides what happens on a day of UTC, unless a clock change or an end of the
    /// horizon is too near to say.
    fn kind(&self, day: &Range<i64>) -> Option<Vec<u64>> {
        let span = day.start - self.question.back..day.end + self.question.ahead;
        let first_day = span.start.div_euclid(DAY) - 1;
        let days = span.end.div_euclid(DAY) + 2 - first_day;
        if days > 64 || self.board.calendar.clip(&span) != span {
            return None;
        }
        let mut kind = Vec::new();
        for zone in &self.question.zones {
            kind.push(self.board.tracks[*zone].offset_in(&span)?.cast_unsigned());
        }
        let sets = self.question.sets.iter().map(|set| &self.board.sets[*set]);
        kind.extend(sets.map(|set| set.bits_from(first_day) << (64 - days)));
        if self.question.weekdays == Weekdays::Matter {
            kind.push(weekday(first_day).cast_unsigned());
        }
        Some(kind)
    }
}
