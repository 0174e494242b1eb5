//! Suggestions: for one expression at a time, the nearest times of day that
//! are legal against everything else as it stands.

use std::cell::OnceCell;
use std::collections::HashMap;

use super::Suggestion;
use super::board::{Board, Group};
use super::demands::Demands;
use super::nearest::{Comfort, Search};

/// Finds suggestions for the lines of a group, each once.
#[derive(Debug)]
pub(super) struct Repairs<'a> {
    board: &'a Board<'a>,
    group: &'a Group,
    zones: Vec<usize>,
    demands: Demands,
    /// For each line the first line of its shape, and for that how many there are; looked at when first needed.
    shapes: OnceCell<(Vec<usize>, Vec<usize>)>,
    known: HashMap<usize, Option<Suggestion>>,
}

impl<'a> Repairs<'a> {
    /// Nothing looked for yet.
    pub(super) fn new(board: &'a Board<'a>, group: &'a Group) -> Self {
        Self {
            board,
            group,
            zones: group.zones(),
            demands: Demands::of(board.rules),
            shapes: OnceCell::new(),
            known: HashMap::new(),
        }
    }

    /// The nearest schedule for a line that is legal against everything else; `None` if there is none.
    pub(super) fn suggest(&mut self, line: usize) -> Option<Suggestion> {
        if let Some(known) = self.known.get(&line) {
            return known.clone();
        }
        let found = self
            .search(line)
            .and_then(|search| search.nearest(Comfort::Preferred));
        let found = found.map(|place| Suggestion { cron: place.cron });
        self.known.insert(line, found.clone());
        found
    }

    fn search(&self, index: usize) -> Option<Search<'_>> {
        let line = &self.group.lines[index];
        let class = &self.group.classes[line.class];
        let subject = &self.board.subjects[*class.members.first()?];
        let (first, count) = self.shapes.get_or_init(|| self.look());
        // A twin keeps the line that its brother leaves, and so does a line that fires with others.
        let alone = class.members.len() == 1 && count[first[index]] == 1;
        let others = (0..self.group.lines.len()).filter(|other| {
            let is_first = first[*other] == *other;
            is_first && !(alone && *other == index)
        });
        Some(Search {
            board: self.board,
            line,
            text: subject.timetable.exprs()[line.cron].text(),
            others: others.map(|other| &self.group.lines[other]).collect(),
            zones: &self.zones,
            demands: self.demands,
            room: self.demands.room_of(class),
        })
    }

    fn look(&self) -> (Vec<usize>, Vec<usize>) {
        let first = self.group.shapes();
        let mut count = vec![0; first.len()];
        for first in &first {
            count[*first] += 1;
        }
        (first, count)
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
