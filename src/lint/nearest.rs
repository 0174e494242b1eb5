//! The nearest times of day of a line that are legal against everything else.
//!
//! The two fields of an expression turn as wholes, so days and count stay. A
//! map of the day says which minutes are free at every offset that the zones
//! ever have; the best candidates are then proved like any other line.

use std::cmp::Reverse;

use super::board::{Board, Line};
use super::calendar::{DAY, weekday};
use super::near::{Reach, first_steady};
use super::peak;
use super::rewrite::{Clock, DAY_MINUTES, rewritten};
use crate::schedule::CronExpr;

/// How far a firing may move for the sake of comfort alone, in minutes.
/// Beyond that the nearest legal time serves the user better.
const COMFORT_MINUTES: i64 = 180;

/// How many candidates are proved before we stop. One that is free on the map
/// fails only where a clock change moves something onto it: an hour for the
/// line's own zone, and about as much for every other zone at hand.
const CANDIDATES: usize = 180;

/// A line that is to move, and what it must stay clear of.
#[derive(Debug)]
pub(super) struct Search<'a> {
    /// Zones, days and windows.
    pub(super) board: &'a Board<'a>,
    /// The line.
    pub(super) line: &'a Line,
    /// Its expression.
    pub(super) text: &'a str,
    /// The lines that stay: of other jobs, and the job's own others.
    pub(super) others: Vec<&'a Line>,
    /// The zones of the group.
    pub(super) zones: &'a [usize],
}

/// Whether the comfortable gap is kept where there is room near by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Comfort {
    /// It is.
    Preferred,
    /// The nearest legal time is taken.
    Ignored,
}

/// A legal place for a line.
#[derive(Debug, Clone)]
pub(super) struct Place {
    /// The expression.
    pub(super) cron: String,
    /// The line as it would be.
    pub(super) line: Line,
    /// How far the firing moves that moves furthest, in minutes.
    pub(super) distance: i64,
}

/// Times of day that are free on the map, and how far they lie from those of the line.
///
/// The order is that of preference: the least move of the firing that moves
/// furthest, then of all firings together, then later before earlier.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Candidate {
    distance: i64,
    total: i64,
    net: Reverse<i64>,
    clock: Clock,
}

impl Search<'_> {
    /// The nearest other times of day that are legal; `None` if there are none.
    pub(super) fn nearest(&self, comfort: Comfort) -> Option<Place> {
        let (least, comfortable) = self.gaps();
        let legal = self.candidates(least);
        // What keeps the comfortable gap keeps the least one too.
        let roomy = match comfort {
            Comfort::Preferred if comfortable > least && !legal.is_empty() => {
                self.candidates(comfortable)
            }
            Comfort::Preferred | Comfort::Ignored => Vec::new(),
        };
        let near = roomy
            .iter()
            .take_while(|candidate| candidate.distance < COMFORT_MINUTES);
        near.take(CANDIDATES)
            .chain(legal.iter().take(CANDIDATES))
            .find_map(|candidate| self.proved(candidate))
    }

    /// How many other times of day are free on the map: how flexible the line is.
    pub(super) fn room(&self) -> usize {
        self.candidates(self.gaps().0).len()
    }

    /// Whether a line in the place of this one is legal against everything else over the whole horizon.
    pub(super) fn holds(&self, line: &Line) -> bool {
        let least = self.gaps().0;
        let until = self.board.calendar.until;
        // What a candidate of the map may fail at comes first.
        peak::first(self.board, line).is_none()
            && self.apart_at_changes(line, least)
            && first_steady(self.board, line, line, Reach::own(least), until).is_none()
            && self
                .others
                .iter()
                .all(|other| self.apart(line, other, least))
    }

    fn gaps(&self) -> (i64, i64) {
        let rules = self.board.rules;
        (
            super::seconds(rules.min_gap),
            super::seconds(rules.comfortable_gap),
        )
    }

    /// The turns whose times are all free and keep their distance from each other, nearest first.
    fn candidates(&self, margin: i64) -> Vec<Candidate> {
        let free = self.free_minutes(margin);
        let least = self.gaps().0;
        let mut candidates: Vec<Candidate> = Clock::of(&self.line.times)
            .turns()
            .filter(|clock| is_free(clock, &free, least))
            .map(|clock| Candidate::new(&self.line.times, clock))
            .collect();
        candidates.sort_unstable();
        candidates
    }

    /// A candidate as a place, if it holds.
    fn proved(&self, candidate: &Candidate) -> Option<Place> {
        let cron = rewritten(self.text, &Clock::of(&self.line.times), &candidate.clock)?;
        let expr = CronExpr::parse(&cron).ok()?;
        let times = expr.times().iter().map(|time| i64::from(*time)).collect();
        let line = Line {
            times,
            spacing: expr.spacing(),
            ..self.line.clone()
        };
        self.holds(&line).then_some(Place {
            cron,
            line,
            distance: candidate.distance,
        })
    }

    /// For each minute of the line's days, whether it keeps `margin` seconds from the others and is off-peak.
    fn free_minutes(&self, margin: i64) -> Vec<bool> {
        let mut free = self.off_peak_minutes();
        for other in &self.others {
            for lead in &self.board.spans(self.line.zone, other.zone).leads {
                self.block(other, *lead, margin, &mut free);
            }
        }
        free
    }

    fn off_peak_minutes(&self) -> Vec<bool> {
        let leads = &self.board.spans(self.line.zone, self.board.peak_zone).leads;
        let used = self.weekdays();
        let off_peak = |minute: i64| {
            leads
                .iter()
                .all(|lead| peak::weekdays_inside(self.board, minute * 60 - lead) & used == 0)
        };
        (0..DAY_MINUTES).map(off_peak).collect()
    }

    /// The weekdays on which the line fires.
    fn weekdays(&self) -> u8 {
        let (set, mut days, mut used) =
            (self.board.days(self.line), self.board.calendar.days(), 0u8);
        while let Some(day) = set.first_in(days.clone()).filter(|_| used != 0x7f) {
            used |= 1 << weekday(day);
            days.start = day + 1;
        }
        used
    }

    /// Blocks the minutes around the times of another line, as far as some date suits both.
    fn block(&self, other: &Line, lead: i64, margin: i64, free: &mut [bool]) {
        let (own_days, days) = (self.board.days(self.line), self.board.days(other));
        let range = 3 + margin.div_euclid(DAY);
        for shift in -range..=range {
            let midnight = shift * DAY + lead;
            let touches = |time: &&i64| {
                let second = midnight + **time * 60;
                second + margin > 0 && second - margin < DAY
            };
            let mut times = other.times.iter().filter(touches).peekable();
            if times.peek().is_none()
                || own_days
                    .first_common(days, shift, self.board.calendar.days())
                    .is_none()
            {
                continue;
            }
            for time in times {
                let second = midnight + time * 60;
                let from = (second - margin).div_euclid(60) + 1;
                let to = (second + margin - 1).div_euclid(60);
                for minute in from.max(0)..=to.min(DAY_MINUTES - 1) {
                    if let Some(minute) =
                        usize::try_from(minute).ok().and_then(|at| free.get_mut(at))
                    {
                        *minute = false;
                    }
                }
            }
        }
    }

    fn apart(&self, line: &Line, other: &Line, least: i64) -> bool {
        let until = self.board.calendar.until;
        let reach = Reach::cross(least);
        first_steady(self.board, line, other, reach, until).is_none()
            && first_steady(self.board, other, line, reach, until).is_none()
    }

    fn apart_at_changes(&self, line: &Line, least: i64) -> bool {
        let mut changes = self
            .zones
            .iter()
            .flat_map(|zone| &self.board.tracks[*zone].changes);
        changes.all(|change| {
            let span = change.start - least..change.end + least;
            let mut own = Vec::new();
            self.board.fires(line, &span, &mut own);
            own.windows(2).all(|pair| pair[1] - pair[0] >= least)
                && (own.is_empty()
                    || self.others.iter().all(|other| {
                        let mut fires = Vec::new();
                        self.board.fires(other, &span, &mut fires);
                        own.iter()
                            .all(|at| fires.iter().all(|other| (at - other).abs() >= least))
                    }))
        })
    }
}

impl Candidate {
    fn new(times: &[i64], clock: Clock) -> Self {
        let moves = || times.iter().zip(clock.times()).map(|(old, new)| new - old);
        Self {
            distance: moves().map(i64::abs).max().unwrap_or(0),
            total: moves().map(i64::abs).sum(),
            net: Reverse(moves().sum()),
            clock,
        }
    }
}

/// Whether the times of a clock are all free and at least `least` seconds apart.
fn is_free(clock: &Clock, free: &[bool], least: i64) -> bool {
    let mut earlier = None;
    clock.times().all(|time| {
        let apart = earlier.is_none_or(|earlier| (time - earlier) * 60 >= least);
        earlier = Some(time);
        let place = usize::try_from(time).ok().and_then(|at| free.get(at));
        apart && place.is_some_and(|free| *free)
    })
}
