//! The board of a proof: lines, classes and groups, and when lines fire.
//!
//! A line is one cron expression in its zone. Jobs of one group with the same
//! timetable that last as long and accept the same rules are alike, so they share
//! a class and are examined once.

use std::collections::HashMap;
use std::ops::Range;

use chrono::DateTime;

use super::calendar::{Calendar, DAY, DaySet};
use super::regimes::{PairSpans, Track};
use super::{Effort, Rule, Rules, Subject};
use crate::schedule::Zone;
use crate::schedule::cron::Spacing;
use crate::schedule::zone::Resolved;

/// One cron expression in its zone.
#[derive(Debug, Clone)]
pub(super) struct Line {
    /// The class it belongs to, as an index into the group's classes.
    pub(super) class: usize,
    /// Which of the job's expressions it is.
    pub(super) cron: usize,
    /// Minutes of the day, ascending.
    pub(super) times: Vec<i64>,
    /// Index into the board's day sets.
    pub(super) days: usize,
    /// Index into the board's tracks.
    pub(super) zone: usize,
    /// How clock changes treat it.
    pub(super) spacing: Spacing,
}

/// The jobs of a group that are alike: one timetable, one effort, the same rules accepted.
#[derive(Debug, Clone)]
pub(super) struct Class {
    /// Indices of the subjects, in the order of their names.
    pub(super) members: Vec<usize>,
    /// Its lines, as a range of the group's lines.
    pub(super) lines: Range<usize>,
    /// The longest run, in seconds.
    pub(super) worst_case: i64,
    /// What bounds one run.
    pub(super) effort: Effort,
    /// The rules that each of its jobs accepts.
    pub(super) accepted: Vec<Rule>,
}

/// The jobs that share spacing.
#[derive(Debug, Clone)]
pub(super) struct Group {
    /// Every line of the group, class by class.
    pub(super) lines: Vec<Line>,
    /// The classes.
    pub(super) classes: Vec<Class>,
}

impl Group {
    /// The lines of one class.
    pub(super) fn lines_of(&self, class: usize) -> &[Line] {
        &self.lines[self.classes[class].lines.clone()]
    }

    /// The zones in use, each once.
    pub(super) fn zones(&self) -> Vec<usize> {
        let mut zones: Vec<usize> = self.lines.iter().map(|line| line.zone).collect();
        zones.sort_unstable();
        zones.dedup();
        zones
    }

    /// For each line the first line of its shape.
    pub(super) fn shapes(&self) -> Vec<usize> {
        let mut known: HashMap<Shape<'_>, usize> = HashMap::new();
        let lines = self.lines.iter().enumerate();
        lines
            .map(|(index, line)| *known.entry(line.shape()).or_insert(index))
            .collect()
    }

    /// The group with a class of its own for every job, in the order of names: jobs with one timetable may part.
    pub(super) fn parted(&self, board: &Board<'_>) -> Self {
        let members = self.classes.iter().flat_map(|class| {
            let members = class.members.iter();
            members.map(move |member| (*member, class))
        });
        let mut members: Vec<(usize, &Class)> = members.collect();
        members.sort_by_key(|(member, _)| board.rank[*member]);
        let mut parted = Self {
            lines: Vec::new(),
            classes: Vec::new(),
        };
        for (place, (member, class)) in members.into_iter().enumerate() {
            let start = parted.lines.len();
            let lines = self.lines[class.lines.clone()].iter().cloned();
            parted.lines.extend(lines.map(|line| Line {
                class: place,
                ..line
            }));
            parted.classes.push(Class {
                members: vec![member],
                lines: start..parted.lines.len(),
                worst_case: class.worst_case,
                effort: class.effort,
                accepted: class.accepted.clone(),
            });
        }
        parted
    }
}

/// All that decides when a line fires: times, days, zone, and whether it follows the clock on the wall.
pub(super) type Shape<'l> = (&'l [i64], usize, usize, bool);

/// Everything that the rules look at.
#[derive(Debug)]
pub(super) struct Board<'a> {
    /// The jobs as given.
    pub(super) subjects: &'a [Subject],
    /// The rules as given.
    pub(super) rules: &'a Rules,
    /// The horizon.
    pub(super) calendar: Calendar,
    /// The place of each subject in the order of names.
    pub(super) rank: Vec<usize>,
    /// The groups, by name.
    pub(super) groups: Vec<Group>,
    /// Zones over the horizon.
    pub(super) tracks: Vec<Track>,
    /// The zone of the peak windows.
    pub(super) peak_zone: usize,
    /// Day sets, shared by lines with the same day fields.
    pub(super) sets: Vec<DaySet>,
    /// For each two zones that meet, the spans in which both are steady.
    pub(super) pairs: HashMap<(usize, usize), PairSpans>,
}

impl Board<'_> {
    /// The days of a line.
    pub(super) fn days(&self, line: &Line) -> &DaySet {
        &self.sets[line.days]
    }

    /// The spans in which two zones of one group, or one of them and that of
    /// the windows, are steady at once.
    pub(super) fn spans(&self, first: usize, second: usize) -> &PairSpans {
        &self.pairs[&(first, second)]
    }

    /// Adds the fire times of a line in a span of the horizon, ascending, each once.
    pub(super) fn fires(&self, line: &Line, span: &Range<i64>, out: &mut Vec<i64>) {
        let span = self.calendar.clip(span);
        if span.start >= span.end {
            return;
        }
        match self.tracks[line.zone].offset_in(&span) {
            Some(offset) => self.fires_steady(line, &span, offset, out),
            None => self.fires_mapped(line, &span, out),
        }
    }

    fn fires_steady(&self, line: &Line, span: &Range<i64>, offset: i64, out: &mut Vec<i64>) {
        let (start, end) = (span.start + offset, span.end + offset);
        for day in start.div_euclid(DAY)..=(end - 1).div_euclid(DAY) {
            if self.days(line).contains(day) {
                let times = line.times_in(day, &(start..end));
                out.extend(times.iter().map(|time| day * DAY + time * 60 - offset));
            }
        }
    }

    /// The same through the zone's own mapping, for spans with a clock change.
    fn fires_mapped(&self, line: &Line, span: &Range<i64>, out: &mut Vec<i64>) {
        let track = &self.tracks[line.zone];
        let (start, end) = (span.start + track.least, span.end + track.greatest);
        let kept = out.len();
        for day in start.div_euclid(DAY)..=(end - 1).div_euclid(DAY) {
            if self.days(line).contains(day) {
                for time in line.times_in(day, &(start..end)) {
                    map_civil(&track.zone, line.spacing, day * DAY + time * 60, out);
                }
            }
        }
        let mut found = out.split_off(kept);
        found.retain(|at| span.contains(at));
        found.sort_unstable();
        found.dedup();
        out.append(&mut found);
    }

    /// The fire times of several lines of one job in a span: ascending, each once.
    pub(super) fn fires_of<'l>(
        &self,
        lines: impl IntoIterator<Item = &'l Line>,
        span: &Range<i64>,
    ) -> Vec<i64> {
        let mut all = Vec::new();
        for line in lines {
            self.fires(line, span, &mut all);
        }
        all.sort_unstable();
        all.dedup();
        all
    }

    /// The first fire time of a line in the horizon.
    pub(super) fn first_fire(&self, line: &Line) -> Option<i64> {
        let mut days = self.calendar.days();
        while let Some(day) = self.days(line).first_in(days.clone()) {
            let mut found = Vec::new();
            // No zone is more than a day from UTC.
            self.fires(line, &((day - 1) * DAY..(day + 2) * DAY), &mut found);
            if let Some(first) = found.first() {
                return Some(*first);
            }
            days.start = day + 1;
        }
        None
    }
}

impl Line {
    /// Lines of one shape fire together.
    pub(super) fn shape(&self) -> Shape<'_> {
        let is_even = self.spacing == Spacing::Even;
        (&self.times, self.days, self.zone, is_even)
    }

    /// The times of a local day that lie in a span of local seconds.
    fn times_in(&self, day: i64, local: &Range<i64>) -> &[i64] {
        let from = self
            .times
            .partition_point(|time| day * DAY + time * 60 < local.start);
        let to = self
            .times
            .partition_point(|time| day * DAY + time * 60 < local.end);
        &self.times[from..to.max(from)]
    }
}

/// The instants at which a civil time fires.
fn map_civil(zone: &Zone, spacing: Spacing, local: i64, out: &mut Vec<i64>) {
    let Some(civil) = DateTime::from_timestamp(local, 0) else {
        return;
    };
    match (zone.resolve(civil.naive_utc()), spacing) {
        (Resolved::Unique(at), Spacing::Fixed | Spacing::Even)
        | (Resolved::Gap(at) | Resolved::Fold(at, _), Spacing::Fixed) => out.push(at.timestamp()),
        (Resolved::Gap(_), Spacing::Even) => {}
        (Resolved::Fold(first, second), Spacing::Even) => {
            out.extend([first.timestamp(), second.timestamp()]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lint::compile;
    use crate::lint::fixture::{at, job, rules};
    use crate::lint::regimes::instant;

    #[test]
    fn fire_times_around_clock_changes_are_those_of_the_timetable() {
        let crons = [
            "30 2 * * *",
            "*/20 * * * *",
            "0 */2 * * *",
            "15 1-3 * * sun",
            "0 0 * * *",
        ];
        for zone in [
            "Europe/Berlin",
            "America/New_York",
            "Australia/Lord_Howe",
            "Africa/Casablanca",
            "Africa/Cairo",
        ] {
            for cron in crons {
                let subjects = [job("a", zone, &[cron])];
                let rules = rules("UTC", vec![]);
                let board = compile::board(
                    &subjects,
                    &rules,
                    Calendar::starting(at("2026-12-01T00:00:00Z")).0,
                );
                let line = &board.groups[0].lines[0];
                for change in board.tracks[line.zone].changes.iter().take(6) {
                    let span = board
                        .calendar
                        .clip(&(change.start - 2 * DAY..change.end + 2 * DAY));
                    let mut found = Vec::new();
                    board.fires(line, &span, &mut found);
                    let told = subjects[0]
                        .timetable
                        .between(instant(span.start - 1), instant(span.end - 1));
                    let told: Vec<i64> = told.iter().map(chrono::DateTime::timestamp).collect();
                    assert_eq!(found, told, "{zone} {cron}");
                }
            }
        }
    }
}
