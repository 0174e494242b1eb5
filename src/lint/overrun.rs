//! `overrun`: the worst case of a run reaches the group's next slot or a peak window.

use super::board::{Board, Group};
use super::near::{Reach, first_steady};
use super::ranked::{Found, Ledger, Passed};
use super::regimes::instant;
use super::ring::Neighbourhood;
use super::{Rule, peak};

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
    /// The start of a peak window.
    Window {
        /// In seconds of UTC.
        at: i64,
    },
}

impl Reached {
    /// When, in seconds of UTC.
    pub(super) const fn at(self) -> i64 {
        match self {
            Self::Slot { at, .. } | Self::Window { at } => at,
        }
    }
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
) -> Found<Overrun> {
    let mut ledger = Ledger::new(Rule::Overrun);
    for (index, class) in group.classes.iter().enumerate() {
        let found = first_reached(board, group, (index, class.worst_case), near);
        let Some((at, line, reached)) = found else {
            continue;
        };
        let told = ledger.of(group, [index; 2]);
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
    ledger.finish()
}

/// The seconds that a run of a class has in every case before the next slot or window, if one
/// of its runs has `known` of them.
///
/// Each question finds a run with less room than the last, until no run has less.
pub(super) fn room(
    board: &Board<'_>,
    group: &Group,
    (class, known): (usize, i64),
    near: &mut Neighbourhood,
) -> i64 {
    let mut room = known;
    while let Some((at, _, reached)) = first_reached(board, group, (class, room), near) {
        // It is less by what `first_reached` promises; the bound makes sure that this ends.
        room = (reached.at() - at).min(room - 1);
    }
    room
}

/// The first run of a class that reaches something in less than `below` seconds: when, by which line, and what.
fn first_reached(
    board: &Board<'_>,
    group: &Group,
    (class, below): (usize, i64),
    near: &mut Neighbourhood,
) -> Option<(i64, usize, Reached)> {
    let slot = first_slot(board, group, (class, below), near);
    let lines = group.classes[class].lines.clone();
    let window = lines.filter_map(|line| {
        let at = peak::first_before(board, &group.lines[line], below)?;
        let start = board.rules.peaks.next_start(instant(at))?.timestamp();
        Some((at, line, Reached::Window { at: start }))
    });
    slot.into_iter().chain(window).min()
}

/// The first run of a class that may reach a slot.
///
/// The first slot that is reached belongs to the first run that reaches one:
/// a later run that reached an earlier slot would stand between the two.
fn first_slot(
    board: &Board<'_>,
    group: &Group,
    (class, below): (usize, i64),
    near: &mut Neighbourhood,
) -> Option<(i64, usize, Reached)> {
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
    use crate::lint::{Effort, Pieces, Rule, Rules, Subject};

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
            "a run of `a` may take 31 min, and the peak window 07:00-09:00 of Asia/Tokyo begins 30 min after it starts"
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
    /// Three attempts of ten minutes with waits of half a minute: 31 minutes.
    const EFFORT: Effort = Effort {
        calls: 1,
        pieces: Pieces::ONE,
        attempts: 3,
        timeout: Duration::from_mins(10),
        max_delay: Duration::from_secs(30),
    };

    fn trying(effort: Effort, job: Subject) -> Subject {
        Subject { effort, ..job }
    }

    fn help_of(jobs: &[Subject], rules: &Rules) -> String {
        let found = findings(jobs, rules, Rule::Overrun);
        found[0].help.clone().unwrap()
    }

    #[test]
    fn advice_is_enough_for_every_run_and_not_for_the_first_only() {
        // The first run has 25 minutes; the one on Mondays, which comes later, has 20.
        let jobs = |effort| {
            [
                trying(effort, job("a", "UTC", &["0 2 * * *"])),
                job("b", "UTC", &["25 2 * * 2-6"]),
                job("c", "UTC", &["20 2 * * mon"]),
            ]
        };
        let rules = rules("UTC", vec![]);
        assert_eq!(
            help_of(&jobs(EFFORT), &rules),
            "to end it in time, set `timeout` to 6m, or `retry.max_attempts` to 1"
        );
        let of_a = |effort| {
            let found = findings(&jobs(effort), &rules, Rule::Overrun);
            found
                .iter()
                .filter(|finding| finding.job.as_str() == "a")
                .count()
        };
        let timeout = Duration::from_mins(6);
        assert_eq!(of_a(Effort { timeout, ..EFFORT }), 0);
        assert_eq!(
            of_a(Effort {
                attempts: 1,
                ..EFFORT
            }),
            0
        );
        let timeout = Duration::from_mins(7);
        assert_eq!(of_a(Effort { timeout, ..EFFORT }), 1);
        assert_eq!(
            of_a(Effort {
                attempts: 2,
                ..EFFORT
            }),
            1
        );
    }

    #[test]
    fn lower_limit_is_enough_before_a_window() {
        let rules = rules("Asia/Tokyo", vec![window(420, 540)]);
        let jobs = |calls| {
            let effort = Effort { calls, ..EFFORT };
            [trying(effort, job("a", "Asia/Tokyo", &["0 5 * * *"]))]
        };
        assert_eq!(
            help_of(&jobs(20), &rules),
            "to end it in time, set `timeout` to 1m, or `for_each.limit` to 3"
        );
        assert_eq!(findings(&jobs(3), &rules, Rule::Overrun).len(), 0);
        assert_eq!(findings(&jobs(4), &rules, Rule::Overrun).len(), 1);
    }

    #[test]
    fn job_is_to_be_moved_where_no_attempt_would_end_in_time() {
        let a = || trying(EFFORT, job("a", "Asia/Tokyo", &["58 6 * * *"]));
        let open = rules("Asia/Tokyo", vec![]);
        let b = job("b", "Asia/Tokyo", &["0 7 * * *"]);
        assert_eq!(
            help_of(&[a(), b], &open),
            "no attempt is sure to end within 2 min: move `a` or `b`"
        );
        assert_eq!(
            help_of(&[a()], &rules("Asia/Tokyo", vec![window(420, 540)])),
            "no attempt is sure to end within 2 min: move `a` to an earlier time"
        );
        let often = trying(EFFORT, job("a", "UTC", &["*/2 2 * * *"]));
        let found = findings(&[often], &open, Rule::Overrun);
        assert_eq!(
            found[0].message,
            "a run of `a` may take 31 min, and its own next slot comes 2 min after it starts"
        );
        assert_eq!(
            found[0].help.as_deref(),
            Some("no attempt is sure to end within 2 min: put more time between the slots of `a`")
        );
    }
}
