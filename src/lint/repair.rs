//! Suggestions: the nearest time of day that is legal against everything else.
//!
//! All times of one expression move together, so days and count stay. A map
//! of the day says which minutes are free at every offset that the zones ever
//! have; the best candidates are then proved like any other line.

use std::collections::HashMap;

use super::board::{Board, Group, Line};
use super::calendar::{DAY, weekday};
use super::near::{Reach, first_steady};
use super::rewrite::{DAY_MINUTES, shifted};
use super::{Suggestion, peak};
use crate::schedule::CronExpr;

/// How far a firing may move for the sake of comfort alone, in minutes.
/// Beyond that the nearest legal time serves the user better.
const COMFORT_MINUTES: i64 = 180;

/// How many candidates are proved before we give up: one that is free on the
/// map fails only where a clock change moves something onto it.
const CANDIDATES: usize = 12;

/// Finds suggestions for the lines of a group, each once.
#[derive(Debug)]
pub(super) struct Repairs<'a> {
    board: &'a Board<'a>,
    group: &'a Group,
    known: HashMap<usize, Option<Suggestion>>,
}

impl<'a> Repairs<'a> {
    /// Nothing looked for yet.
    pub(super) fn new(board: &'a Board<'a>, group: &'a Group) -> Self {
        Self {
            board,
            group,
            known: HashMap::new(),
        }
    }

    /// The nearest schedule for a line that is legal against everything else; `None` if there is none.
    pub(super) fn suggest(&mut self, line: usize) -> Option<Suggestion> {
        if let Some(known) = self.known.get(&line) {
            return known.clone();
        }
        let found = Search::new(self.board, self.group, line).and_then(|search| search.run());
        self.known.insert(line, found.clone());
        found
    }
}

struct Search<'a> {
    board: &'a Board<'a>,
    group: &'a Group,
    line: &'a Line,
    text: &'a str,
    /// The lines that stay: of other jobs, and the job's own others.
    others: Vec<&'a Line>,
}

impl<'a> Search<'a> {
    fn new(board: &'a Board<'a>, group: &'a Group, index: usize) -> Option<Self> {
        let line = &group.lines[index];
        let class = &group.classes[line.class];
        let subject = &board.subjects[*class.members.first()?];
        let text = subject.timetable.exprs()[line.cron].text();
        // A twin keeps the line that its brother leaves.
        let alone = class.members.len() == 1;
        let others = group
            .lines
            .iter()
            .enumerate()
            .filter(|(other, _)| !(alone && *other == index));
        Some(Self {
            board,
            group,
            line,
            text,
            others: others.map(|(_, other)| other).collect(),
        })
    }

    fn run(&self) -> Option<Suggestion> {
        let least = super::seconds(self.board.rules.min_gap);
        let comfortable = super::seconds(self.board.rules.comfortable_gap);
        // Times that are too close to each other stay so wherever they go together.
        if first_steady(
            self.board,
            self.line,
            self.line,
            Reach::own(least),
            self.board.calendar.until,
        )
        .is_some()
        {
            return None;
        }
        let legal = self.candidates(least, DAY_MINUTES);
        let comfort = if comfortable > least {
            self.candidates(comfortable, COMFORT_MINUTES)
        } else {
            Vec::new()
        };
        let mut tried = comfort
            .iter()
            .take(CANDIDATES)
            .chain(legal.iter().take(CANDIDATES));
        tried.find_map(|shift| self.proved(*shift, least))
    }

    /// The shifts of less than `range` minutes whose times are all free, nearest first, later before earlier.
    fn candidates(&self, margin: i64, range: i64) -> Vec<i64> {
        let free = self.free_minutes(margin);
        let is_free = |minute: i64| {
            usize::try_from(minute)
                .ok()
                .and_then(|at| free.get(at))
                .is_some_and(|free| *free)
        };
        let outwards = (1..range).flat_map(|minutes| [minutes, -minutes]);
        let fits =
            outwards.filter(|shift| self.line.times.iter().all(|time| is_free(time + shift)));
        fits.filter(|shift| shifted(self.text, &self.line.times, *shift).is_some())
            .collect()
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

    /// The suggestion for a shift, if it holds over the whole horizon.
    fn proved(&self, shift: i64, least: i64) -> Option<Suggestion> {
        let cron = shifted(self.text, &self.line.times, shift)?;
        let expr = CronExpr::parse(&cron).ok()?;
        let times: Vec<i64> = expr.times().iter().map(|time| i64::from(*time)).collect();
        let line = Line {
            times,
            spacing: expr.spacing(),
            ..self.line.clone()
        };
        let holds = peak::first(self.board, &line).is_none()
            && self
                .others
                .iter()
                .all(|other| self.apart(&line, other, least))
            && self.apart_at_changes(&line, least);
        holds.then_some(Suggestion { cron })
    }

    fn apart(&self, line: &Line, other: &Line, least: i64) -> bool {
        let until = self.board.calendar.until;
        let reach = Reach::cross(least);
        first_steady(self.board, line, other, reach, until).is_none()
            && first_steady(self.board, other, line, reach, until).is_none()
    }

    fn apart_at_changes(&self, line: &Line, least: i64) -> bool {
        let zones = self.group.zones();
        let mut changes = zones
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

#[cfg(test)]
mod tests {
    use crate::lint::fixture::{findings, job, rules, window};
    use crate::lint::{Rule, Rules, Subject};

    fn suggested(subjects: &[Subject], rules: &Rules, rule: Rule) -> Option<String> {
        findings(subjects, rules, rule)
            .first()?
            .suggestion
            .clone()
            .map(|suggestion| suggestion.cron)
    }

    fn tokyo(name: &str, crons: &[&str]) -> Subject {
        job(name, "Asia/Tokyo", crons)
    }

    #[test]
    fn comfortable_time_is_taken_where_there_is_room() {
        let jobs = [tokyo("a", &["0 2 * * *"]), tokyo("b", &["10 2 * * mon"])];
        let found = suggested(&jobs, &rules("UTC", vec![]), Rule::KeyGap);
        assert_eq!(found.as_deref(), Some("45 2 * * mon"));
    }

    #[test]
    fn nearest_legal_time_is_taken_where_there_is_no_room_for_comfort() {
        let every_hour = tokyo("a", &["0 * * * *"]);
        let jobs = [every_hour, tokyo("b", &["10 2 * * *"])];
        assert_eq!(
            suggested(&jobs, &rules("UTC", vec![]), Rule::KeyGap).as_deref(),
            Some("15 2 * * *")
        );
    }

    #[test]
    fn firing_leaves_a_window_by_the_nearer_side() {
        let rules = rules("Asia/Tokyo", vec![window(420, 540)]);
        let of = |cron: &str| suggested(&[tokyo("a", &[cron])], &rules, Rule::PeakWindow);
        assert_eq!(of("10 7 * * *").as_deref(), Some("59 6 * * *"));
        assert_eq!(of("50 8 * * *").as_deref(), Some("0 9 * * *"));
    }

    #[test]
    fn time_that_a_clock_change_would_spoil_is_passed_over() {
        // 02:20 keeps 20 minutes from 02:00, but in March both become 03:00.
        let jobs = [
            job("a", "Europe/Berlin", &["0 2 * * *"]),
            job("b", "Europe/Berlin", &["5 2 * * *"]),
        ];
        let mut rules = rules("UTC", vec![]);
        rules.comfortable_gap = rules.min_gap;
        let found = suggested(&jobs, &rules, Rule::KeyGap);
        assert_eq!(found.as_deref(), Some("45 1 * * *"));
    }

    #[test]
    fn saturated_group_and_too_dense_a_job_get_no_suggestion() {
        let crowd = tokyo("a", &["*/15 * * * *"]);
        let rules = rules("UTC", vec![]);
        assert_eq!(
            suggested(&[crowd, tokyo("b", &["10 2 * * *"])], &rules, Rule::KeyGap),
            None
        );
        assert_eq!(
            suggested(&[tokyo("a", &["*/5 2 * * *"])], &rules, Rule::KeyGap),
            None
        );
    }
}
