//! The nearest times of day of a line that are legal against everything else.
//!
//! The two fields of an expression turn as wholes, so days and count stay. A
//! map of the day says which minutes are free at every offset that the zones
//! ever have; the best candidates are then proved like any other line.

use std::cmp::Reverse;

use super::board::{Board, Line};
use super::calendar::{DAY, weekday};
use super::demands::Demands;
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

/// To prove one is to look at every time of every other line: where there are
/// many, fewer are proved, so that they look at so many times together …
const PROVED_TIMES: usize = 4_000_000;

/// … but so many at least.
const LEAST_CANDIDATES: usize = 8;

/// A line that is to move, and what it must stay clear of.
#[derive(Debug)]
pub(super) struct Search<'a> {
    /// Zones, days and windows.
    pub(super) board: &'a Board<'a>,
    /// The line.
    pub(super) line: &'a Line,
    /// Its expression.
    pub(super) text: &'a str,
    /// The lines that stay: of other jobs, and the job's own others. One of each shape is enough.
    pub(super) others: Vec<&'a Line>,
    /// The zones of the group.
    pub(super) zones: &'a [usize],
    /// What a legal place keeps.
    pub(super) demands: Demands,
    /// The seconds that a run had better have before the next window; 0 if that is no matter.
    pub(super) room: i64,
}

/// Whether the comfortable gap, and room for a run before the next window, are kept where that is possible near by.
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

/// When a run ends that starts at a candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Ends {
    /// Before the next window, as far as the map knows.
    InTime,
    /// Perhaps in a window.
    Anywhen,
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
        let legal = self.candidates();
        let liked = match comfort {
            Comfort::Preferred if !legal.is_empty() => self.liked(&legal),
            Comfort::Preferred | Comfort::Ignored => Vec::new(),
        };
        let most = self.most_proved();
        liked
            .into_iter()
            .take(most)
            .find_map(|(candidate, ends)| {
                let place = self.proved(candidate)?;
                let keeps_word = ends == Ends::Anywhen || self.ends_in_time(&place.line);
                keeps_word.then_some(place)
            })
            .or_else(|| {
                let mut legal = legal.iter().take(most);
                legal.find_map(|candidate| self.proved(candidate))
            })
    }

    /// How many other times of day are free on the map: how flexible the line is.
    pub(super) fn flexibility(&self) -> usize {
        self.candidates().len()
    }

    /// Whether a line in the place of this one is legal against everything else over the whole horizon.
    pub(super) fn holds(&self, line: &Line) -> bool {
        let least = self.demands.least;
        let until = self.board.calendar.until;
        // What a candidate of the map may fail at comes first.
        (!self.demands.off_peak || peak::first(self.board, line).is_none())
            && self.apart_at_changes(line, least)
            && first_steady(self.board, line, line, Reach::own(least), until).is_none()
            && self
                .others
                .iter()
                .all(|other| self.apart(line, other, least))
    }

    fn most_proved(&self) -> usize {
        let times = self.others.iter().map(|other| 1 + other.times.len());
        (PROVED_TIMES / times.sum::<usize>().max(1)).clamp(LEAST_CANDIDATES, CANDIDATES)
    }

    /// The turns whose times are all free and keep their distance from each other, nearest first.
    fn candidates(&self) -> Vec<Candidate> {
        let least = self.demands.least;
        let present = Clock::of(&self.line.times);
        let mut turns = present
            .turns()
            .filter(|clock| keeps_apart(clock, least))
            .peekable();
        // A line that is too close to itself whichever way it turns needs no map.
        if turns.peek().is_none() {
            return Vec::new();
        }
        let free = self.free_minutes(least);
        let mut candidates: Vec<Candidate> = turns
            .filter(|clock| is_free(clock, &free))
            .map(|clock| Candidate::new(&self.line.times, clock))
            .collect();
        candidates.sort_unstable();
        candidates
    }

    /// The legal candidates near by that are more than that: first those whose runs end before the next window and that
    /// keep the comfortable gap, then those whose runs end, then those that keep the gap; of each the nearest first.
    fn liked<'c>(&self, legal: &'c [Candidate]) -> Vec<(&'c Candidate, Ends)> {
        let Demands {
            least, comfortable, ..
        } = self.demands;
        let in_time = (self.room > 0).then(|| self.minutes_in_time());
        let roomy = (comfortable > least).then(|| self.free_minutes(comfortable));
        if in_time.is_none() && roomy.is_none() {
            return Vec::new();
        }
        // Without a map there is nothing to wish for.
        let fits = |map: &Option<Vec<bool>>, candidate: &Candidate| {
            map.as_ref()
                .is_none_or(|free| is_free(&candidate.clock, free))
        };
        let near = legal
            .iter()
            .take_while(|candidate| candidate.distance < COMFORT_MINUTES);
        let judged = near.map(|candidate| {
            let ends = if fits(&in_time, candidate) {
                Ends::InTime
            } else {
                Ends::Anywhen
            };
            (candidate, ends, fits(&roomy, candidate))
        });
        let mut liked: Vec<_> = judged
            .filter(|(_, ends, is_roomy)| *ends == Ends::InTime || *is_roomy)
            .collect();
        liked.sort_by_key(|(_, ends, is_roomy)| (*ends, !is_roomy));
        let liked = liked.into_iter();
        liked
            .map(|(candidate, ends, _)| (candidate, ends))
            .collect()
    }

    /// Whether every run of a line has room before the next window.
    fn ends_in_time(&self, line: &Line) -> bool {
        self.room == 0 || peak::first_before(self.board, line, self.room).is_none()
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

    /// For each minute of the line's days, whether it keeps `margin` seconds from the others and is off-peak, as far as
    /// that is demanded.
    fn free_minutes(&self, margin: i64) -> Vec<bool> {
        let mut free = if self.demands.off_peak {
            self.minutes_such_that(|second| peak::weekdays_inside(self.board, second))
        } else {
            self.minutes_such_that(|_| 0)
        };
        for other in &self.others {
            if !free.contains(&true) {
                break;
            }
            for lead in &self.board.spans(self.line.zone, other.zone).leads {
                self.block(other, *lead, margin, &mut free);
            }
        }
        free
    }

    /// For each minute of the line's days, whether a run that starts there ends before the next window.
    fn minutes_in_time(&self) -> Vec<bool> {
        self.minutes_such_that(|second| {
            peak::weekdays_shortly_before(self.board, second, self.room)
        })
    }

    /// For each minute of the line's days, whether it is spoilt on none of them, at no offset; a second of a day in the
    /// windows' zone is asked on which weekdays it is.
    fn minutes_such_that(&self, spoilt: impl Fn(i64) -> u8) -> Vec<bool> {
        let leads = &self.board.spans(self.line.zone, self.board.peak_zone).leads;
        let used = self.weekdays();
        let is_clean = |minute: i64| {
            let mut leads = leads.iter();
            leads.all(|lead| spoilt(minute * 60 - lead) & used == 0)
        };
        (0..DAY_MINUTES).map(is_clean).collect()
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
            let first = other
                .times
                .partition_point(|time| midnight + time * 60 + margin <= 0);
            let end = other
                .times
                .partition_point(|time| midnight + time * 60 - margin < DAY);
            let meet = || own_days.first_common(days, shift, self.board.calendar.days());
            if first >= end || meet().is_none() {
                continue;
            }
            // What times block overlaps where they are many; each minute is blocked once.
            let mut next = 0;
            for time in &other.times[first..end] {
                let second = midnight + time * 60;
                let from = (second - margin).div_euclid(60) + 1;
                let to = (second + margin - 1).div_euclid(60).min(DAY_MINUTES - 1);
                for minute in from.max(next)..=to {
                    let place = usize::try_from(minute).ok().and_then(|at| free.get_mut(at));
                    if let Some(minute) = place {
                        *minute = false;
                    }
                }
                next = next.max(to + 1);
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

/// Whether the times of a clock are all free.
fn is_free(clock: &Clock, free: &[bool]) -> bool {
    clock.times().all(|time| {
        let place = usize::try_from(time).ok().and_then(|at| free.get(at));
        place.is_some_and(|free| *free)
    })
}

/// Whether the times of a clock are at least `least` seconds apart from each other.
fn keeps_apart(clock: &Clock, least: i64) -> bool {
    let mut earlier = None;
    clock.times().all(|time| {
        let apart = earlier.is_none_or(|earlier| (time - earlier) * 60 >= least);
        earlier = Some(time);
        apart
    })
}
