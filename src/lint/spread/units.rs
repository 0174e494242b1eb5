//! What moves: the units of a group, and how they look.
//!
//! A unit is the expressions of one job that share a firing, most often just
//! one expression: moved apart they would fire more often than before. Units
//! that look the same but for the minute at which they stand are of one kind.

use std::collections::HashMap;

use super::almanac::Almanac;
use super::measure::subject;
use super::minutes::Minutes;
use crate::lint::board::{Board, Group, Line};
use crate::lint::demands::Demands;
use crate::lint::near::{Reach, first_steady};
use crate::lint::peak;
use crate::schedule::cron::Spacing;

/// Expressions of one job that move together.
#[derive(Debug)]
pub(super) struct Unit {
    /// Its lines, as indices into the group's lines.
    pub(super) lines: Vec<usize>,
    /// The minute at which it stands: that of its first firing of the day.
    pub(super) stands: i64,
    /// How it looks.
    pub(super) kind: usize,
    /// Where it may stand.
    pub(super) open: Minutes,
}

/// How units look but for the minute at which they stand.
#[derive(Debug)]
pub(super) struct Kind {
    /// Index into the board's tracks.
    pub(super) zone: usize,
    /// Its expressions.
    pub(super) parts: Vec<Part>,
    /// For each minute at which a unit may stand, the least seconds between its own firings; `i64::MAX` for one firing.
    own: Vec<i64>,
    /// The least of these.
    pub(super) own_least: i64,
}

/// One expression of a kind.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Part {
    /// Index into the board's day sets.
    pub(super) days: usize,
    /// Minutes after the one at which the unit stands, ascending.
    pub(super) times: Vec<i64>,
    /// Where it follows the clock on the wall.
    pub(super) even: Minutes,
}

impl Part {
    /// Whether it fires once on its days, at a time that no clock change repeats.
    pub(super) fn is_plain(&self) -> bool {
        self.times.len() == 1 && self.even.is_empty()
    }

    /// How clock changes treat it where the unit stands at a minute.
    pub(super) fn spacing_at(&self, minute: i64) -> Spacing {
        if self.even.contains(minute) {
            Spacing::Even
        } else {
            Spacing::Fixed
        }
    }
}

impl Kind {
    /// Notes the least seconds between the own firings of a unit, for each minute of the day.
    pub(super) fn set_own(&mut self, own: Vec<i64>) {
        self.own_least = own.iter().copied().min().unwrap_or(i64::MAX);
        self.own = own;
    }

    /// The least seconds between the own firings of a unit at a minute; `i64::MAX` if nothing comes near.
    pub(super) fn own_gap(&self, minute: i64) -> i64 {
        let own = usize::try_from(minute).ok().and_then(|at| self.own.get(at));
        own.copied().unwrap_or(i64::MAX)
    }
}

/// The units of a group in which every job has a class of its own, and their kinds.
pub(super) fn units<'a>(
    board: &'a Board<'a>,
    group: &Group,
    almanac: &mut Almanac<'a>,
) -> (Vec<Unit>, Vec<Kind>) {
    let mut units = Vec::new();
    let mut kinds: Vec<Kind> = Vec::new();
    let mut known: HashMap<(usize, Vec<Part>, bool), (usize, Minutes)> = HashMap::new();
    let demands = Demands::of(board.rules);
    for class in &group.classes {
        let off_peak = demands.off_peak_of(class);
        for lines in tied(board, group, class.lines.clone()) {
            let of = |line: &usize| &group.lines[*line];
            let look = look(board, group, &lines, almanac);
            let key = (of(&lines[0]).zone, look.parts, off_peak);
            let (kind, open) = known
                .entry(key)
                .or_insert_with_key(|(zone, parts, off_peak)| {
                    kinds.push(Kind {
                        zone: *zone,
                        parts: parts.clone(),
                        own: Vec::new(),
                        own_least: i64::MAX,
                    });
                    let open = open(&look.written, parts, |days| {
                        if *off_peak {
                            almanac.off_peak(*zone, days).clone()
                        } else {
                            Minutes::all()
                        }
                    });
                    (kinds.len() - 1, open)
                });
            let mut open = open.clone();
            // The map of off-peak minutes is careful; the proof is exact.
            let is_legal = |line: &usize| !off_peak || peak::first(board, of(line)).is_none();
            if lines.iter().all(is_legal) {
                open.fill(look.stands, look.stands);
            }
            units.push(Unit {
                lines,
                stands: look.stands,
                kind: *kind,
                open,
            });
        }
    }
    (units, kinds)
}

/// How lines look that move together.
struct Look {
    stands: i64,
    written: Minutes,
    parts: Vec<Part>,
}

fn look<'a>(
    board: &'a Board<'a>,
    group: &Group,
    lines: &[usize],
    almanac: &mut Almanac<'a>,
) -> Look {
    let lines = || lines.iter().map(|line| &group.lines[*line]);
    let first = |line: &Line| line.times.first().copied().unwrap_or_default();
    let stands = lines().map(first).min().unwrap_or_default();
    let mut look = Look {
        stands,
        written: Minutes::all(),
        parts: Vec::new(),
    };
    for line in lines() {
        let form = almanac.form(
            line,
            subject(board, group, line).timetable.exprs()[line.cron].text(),
        );
        let later = first(line) - stands;
        let moved = |set: &Minutes| Minutes::such_that(|at| set.contains(at + later));
        look.written = look.written.and(&moved(&form.written));
        look.parts.push(Part {
            days: line.days,
            times: line.times.iter().map(|time| time - stands).collect(),
            even: moved(&form.even),
        });
    }
    look
}

/// The lines of one job, those together that share a firing.
fn tied(board: &Board<'_>, group: &Group, lines: std::ops::Range<usize>) -> Vec<Vec<usize>> {
    let share = |one: &Line, two: &Line| {
        let reach = Reach::cross(1);
        first_steady(board, one, two, reach, board.calendar.until).is_some()
    };
    let mut units: Vec<Vec<usize>> = Vec::new();
    for line in lines {
        let mut unit = vec![line];
        let apart = units.extract_if(.., |known| {
            known
                .iter()
                .any(|other| share(&group.lines[*other], &group.lines[line]))
        });
        apart.for_each(|known| unit.extend(known));
        unit.sort_unstable();
        units.push(unit);
    }
    units
}

/// The minutes at which parts may stand: all their times within the day, and off-peak where they are to be.
fn open(written: &Minutes, parts: &[Part], mut off_peak: impl FnMut(usize) -> Minutes) -> Minutes {
    let masks: Vec<(Minutes, &Part)> = parts
        .iter()
        .map(|part| (off_peak(part.days), part))
        .collect();
    let fits = |minute: i64| {
        masks
            .iter()
            .all(|(mask, part)| part.times.iter().all(|time| mask.contains(minute + time)))
    };
    Minutes::such_that(|minute| written.contains(minute) && fits(minute))
}
