//! `overrun`: the worst case of a run reaches the group's next slot or a peak window.

use super::board::{Board, Group};
use super::near::{Reach, first_steady};
use super::peak;
use super::ranked::{Passed, Ranked, Told};
use super::ring::Neighbourhood;

/// What a run in its worst case reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Reached {
    /// The next slot of the group, at an instant, by a line of the group.
    Slot {
        /// In seconds of UTC.
        at: i64,
        /// The line.
        line: usize,
    },
    /// A peak window.
    Window,
}

/// A job with its first run that may reach something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Overrun {
    /// When the run starts.
    pub(super) at: i64,
    /// The job's place in the order of names.
    pub(super) rank: usize,
    /// The subject.
    pub(super) subject: usize,
    /// The line, as an index into the group's lines.
    pub(super) line: usize,
    /// What it reaches.
    pub(super) reached: Reached,
}

/// Finds every job of a group whose worst case reaches something.
pub(super) fn overruns(
    board: &Board<'_>,
    group: &Group,
    near: &mut Neighbourhood,
) -> Told<Overrun> {
    let mut told = Ranked::new();
    for index in 0..group.classes.len() {
        let class = &group.classes[index];
        let slot = first_slot(board, group, index, near);
        let lines = class.lines.clone();
        let window = lines.filter_map(|line| {
            let at = peak::first_before(board, &group.lines[line], class.worst_case)?;
            Some((at, line, Reached::Window))
        });
        let Some((at, line, reached)) = slot.into_iter().chain(window).min() else {
            continue;
        };
        if told.pass_over(class.members.len(), |last: &Overrun| last.at < at) == Passed::Not {
            for subject in &class.members {
                let rank = board.rank[*subject];
                told.push(Overrun {
                    at,
                    rank,
                    subject: *subject,
                    line,
                    reached,
                });
            }
        }
    }
    told.finish()
}

/// The first run of a class that may reach a slot.
///
/// The first slot that is reached belongs to the first run that reaches one:
/// a later run that reached an earlier slot would stand between the two.
fn first_slot(
    board: &Board<'_>,
    group: &Group,
    class: usize,
    near: &mut Neighbourhood,
) -> Option<(i64, usize, Reached)> {
    let below = group.classes[class].worst_case;
    let reach = Reach::own(below);
    let mut best: Option<(i64, usize)> = None;
    for line in group.classes[class].lines.clone() {
        let mut found = Vec::new();
        near.ring.neighbours(group, (line, 0), below, &mut found);
        for other in found {
            let (run, slot) = (&group.lines[line], &group.lines[other]);
            let before = best.map_or(board.calendar.until, |(at, _)| at + 1);
            let hit = first_steady(board, run, slot, reach, before);
            best = best.into_iter().chain(hit.map(|(at, _)| (at, other))).min();
        }
    }
    let (at, slot) = best
        .into_iter()
        .chain(near.seams.followers(class, below))
        .min()?;
    let runs = group.classes[class].lines.clone().filter_map(|line| {
        let mut starts = Vec::new();
        board.fires(&group.lines[line], &(at - below + 1..at), &mut starts);
        starts.first().map(|start| (*start, line))
    });
    let (start, line) = runs.min()?;
    Some((start, line, Reached::Slot { at, line: slot }))
}

/// The lines of a group whose slots a run of a class may ever reach.
pub(super) fn reachable(group: &Group, class: usize, near: &mut Neighbourhood) -> Vec<usize> {
    let below = group.classes[class].worst_case;
    let mut found: Vec<usize> = near
        .seams
        .followers(class, below)
        .map(|(_, line)| line)
        .collect();
    for line in group.classes[class].lines.clone() {
        near.ring.neighbours(group, (line, 0), below, &mut found);
    }
    found.sort_unstable();
    found.dedup();
    found
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use crate::lint::fixture::{at, findings, job, rules, window};
    use crate::lint::{Rule, Subject};

    fn slow(minutes: u64, job: Subject) -> Subject {
        job.lasting(Duration::from_mins(minutes))
    }

    #[test]
    fn run_that_may_last_into_the_next_slot_is_told_and_one_that_ends_with_it_is_not() {
        let jobs = |minutes| {
            [
                slow(minutes, job("a", "UTC", &["0 2 * * *"])),
                job("b", "UTC", &["30 2 * * mon"]),
            ]
        };
        let rules = rules("UTC", vec![]);
        assert!(findings(&jobs(30), &rules, Rule::Overrun).is_empty());
        let found = findings(&jobs(31), &rules, Rule::Overrun);
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].job.as_str(), found[0].per_year), ("a", Some(52)));
        assert_eq!(found[0].at, Some(at("2026-12-07T02:00:00Z")));
        assert_eq!(
            found[0].message,
            "a run of `a` may take 31 min, and the slot of `b` comes 30 min after it starts"
        );
    }

    #[test]
    fn run_that_may_last_into_a_window_is_told() {
        let jobs = [slow(31, job("a", "Asia/Tokyo", &["30 6 * * *"]))];
        let found = findings(
            &jobs,
            &rules("Asia/Tokyo", vec![window(420, 540)]),
            Rule::Overrun,
        );
        assert_eq!((found.len(), found[0].per_year), (1, Some(365)));
        assert_eq!(
            found[0].message,
            "a run of `a` may take 31 min, and a peak window starts before that"
        );
    }

    #[test]
    fn run_may_last_into_a_window_after_midnight_on_its_days_only() {
        let mut monday = window(0, 60);
        monday.days = [true, false, false, false, false, false, false];
        let jobs = [slow(31, job("a", "UTC", &["45 23 * * *"]))];
        let found = findings(&jobs, &rules("UTC", vec![monday]), Rule::Overrun);
        assert_eq!(
            (found[0].at, found[0].per_year),
            (Some(at("2026-12-06T23:45:00Z")), Some(52))
        );
    }
}
