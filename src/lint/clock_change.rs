//! `clock-change`: firings that a clock change moves, drops or repeats.
//!
//! A fixed-time firing in a skipped hour fires once, at the first valid
//! moment. An expression with even spacing follows the clock on the wall, so
//! it can lose firings or have them twice; one that fires at the same minutes
//! all day long does not notice, and gets no advice.

use std::ops::Range;

use super::Rule;
use super::board::{Board, Group, Line};
use super::calendar::DAY;
use super::ranked::{Found, Ledger, Passed};
use crate::schedule::cron::Spacing;
use crate::schedule::zone::Transition;

/// What a clock change does to a firing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Effect {
    /// It fires at the change, later than its civil time.
    Moved,
    /// Its civil time does not come that day.
    Skipped,
    /// Its civil time comes twice; this is the second.
    Repeated,
}

/// A job with its first firing that a clock change touches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Change {
    /// The instant: of the change itself, or of the second firing.
    pub(super) at: i64,
    /// The job's place in the order of names.
    pub(super) rank: usize,
    /// What happens.
    pub(super) effect: Effect,
    /// The subject.
    pub(super) subject: usize,
    /// The line, as an index into the group's lines.
    pub(super) line: usize,
}

/// Finds every job of a group with firings that a clock change touches.
pub(super) fn changes(board: &Board<'_>, group: &Group) -> Found<Change> {
    let mut ledger = Ledger::new(Rule::ClockChange);
    for (index, class) in group.classes.iter().enumerate() {
        let Some((at, line, effect)) = first_of(board, group, class.lines.clone()) else {
            continue;
        };
        let told = ledger.of(group, [index; 2]);
        if told.pass_over(class.members.len(), |last: &Change| last.at < at) == Passed::Not {
            for subject in &class.members {
                told.push(Change {
                    at,
                    rank: board.rank[*subject],
                    effect,
                    subject: *subject,
                    line,
                });
            }
        }
    }
    ledger.finish()
}

fn first_of(board: &Board<'_>, group: &Group, lines: Range<usize>) -> Option<(i64, usize, Effect)> {
    let firsts = lines.filter_map(|index| {
        let line = &group.lines[index];
        let mut moves = board.tracks[line.zone].moves.iter();
        let (at, effect) =
            moves.find_map(|change| touched(board, line, change).into_iter().min())?;
        Some((at, index, effect))
    });
    firsts.min()
}

/// The instants of the first 365 days at which a clock change touches a firing of these lines.
pub(super) fn count_year(board: &Board<'_>, lines: &[Line]) -> u64 {
    let mut instants: Vec<i64> = lines
        .iter()
        .flat_map(|line| {
            board.tracks[line.zone]
                .moves
                .iter()
                .flat_map(|change| touched(board, line, change))
        })
        .map(|(at, _)| at)
        .filter(|at| *at < board.calendar.year_end)
        .collect();
    instants.sort_unstable();
    instants.dedup();
    u64::try_from(instants.len()).unwrap_or(u64::MAX)
}

/// What one change does to the firings of a line, within the horizon.
fn touched(board: &Board<'_>, line: &Line, change: &Transition) -> Vec<(i64, Effect)> {
    let (at, before, after) = (
        change.at.timestamp(),
        i64::from(change.before),
        i64::from(change.after),
    );
    let effects = match (line.spacing, before < after) {
        (Spacing::Fixed, true) => {
            let skipped = civil_firings(board, line, at + before..at + after);
            if skipped.is_empty() {
                Vec::new()
            } else {
                vec![(at, Effect::Moved)]
            }
        }
        // It fires the first time only: once a day, as written.
        (Spacing::Fixed, false) => Vec::new(),
        (Spacing::Even, _) if repeats_after(line, after - before) => Vec::new(),
        (Spacing::Even, true) => {
            let skipped = civil_firings(board, line, at + before..at + after);
            if skipped.is_empty() {
                Vec::new()
            } else {
                vec![(at, Effect::Skipped)]
            }
        }
        (Spacing::Even, false) => {
            let twice = civil_firings(board, line, at + after..at + before);
            twice
                .into_iter()
                .map(|local| (local - after, Effect::Repeated))
                .collect()
        }
    };
    let horizon = board.calendar.span();
    effects
        .into_iter()
        .filter(|(at, _)| horizon.contains(at))
        .collect()
}

/// The civil firings of a line in a span of civil seconds.
fn civil_firings(board: &Board<'_>, line: &Line, local: Range<i64>) -> Vec<i64> {
    let days = local.start.div_euclid(DAY)..=(local.end - 1).div_euclid(DAY);
    let suited = days.filter(|day| board.days(line).contains(*day));
    suited
        .flat_map(|day| line.times.iter().map(move |time| day * DAY + time * 60))
        .filter(|civil| local.contains(civil))
        .collect()
}

/// Whether a line fires at the same times of day when the clock is put on by so many seconds.
fn repeats_after(line: &Line, seconds: i64) -> bool {
    let minutes = seconds.div_euclid(60);
    line.times.iter().all(|time| {
        line.times
            .binary_search(&(time + minutes).rem_euclid(DAY / 60))
            .is_ok()
    })
}

#[cfg(test)]
mod tests {
    use crate::lint::Rule;
    use crate::lint::fixture::{at, findings, job, rules};

    /// The minute of the first finding and its count.
    fn first(zone: &str, cron: &str) -> Option<(String, u64)> {
        let found = findings(
            &[job("a", zone, &[cron])],
            &rules("UTC", vec![]),
            Rule::ClockChange,
        );
        let found = found.first()?;
        Some((
            found.at?.format("%Y-%m-%dT%H:%M").to_string(),
            found.per_year?,
        ))
    }

    fn told(instant: &str, per_year: u64) -> (String, u64) {
        (instant.to_owned(), per_year)
    }

    #[test]
    fn fixed_time_in_a_skipped_hour_is_moved_and_in_a_repeated_hour_is_not() {
        assert_eq!(
            first("Europe/Berlin", "30 2 * * *"),
            Some(told("2027-03-28T01:00", 1))
        );
        assert_eq!(first("Europe/Berlin", "0 3 * * *"), None);
        assert_eq!(first("Europe/Berlin", "30 2 1 * *"), None);
        assert_eq!(first("America/New_York", "59 1 * * *"), None);
        assert_eq!(
            first("Australia/Lord_Howe", "15 2 * * *"),
            Some(told("2027-10-02T15:30", 1))
        );
    }

    #[test]
    fn even_spacing_by_the_hour_is_skipped_and_repeated() {
        assert_eq!(
            first("Europe/Berlin", "0 */2 * * *"),
            Some(told("2027-03-28T01:00", 2))
        );
        let jobs = [job("a", "Europe/Berlin", &["*/20 2 * 10 *"])];
        let found = findings(&jobs, &rules("UTC", vec![]), Rule::ClockChange);
        assert_eq!(found[0].at, Some(at("2027-10-31T01:00:00Z")));
        assert_eq!(found[0].per_year, Some(3));
        assert!(
            found[0].message.ends_with("it fires again"),
            "{}",
            found[0].message
        );
    }

    #[test]
    fn even_spacing_all_day_long_does_not_notice() {
        assert_eq!(first("Europe/Berlin", "*/20 * * * *"), None);
        assert_eq!(first("Australia/Lord_Howe", "*/30 * * * *"), None);
        assert_eq!(
            first("Australia/Lord_Howe", "0 * * * *"),
            Some(told("2027-10-02T15:30", 1))
        );
    }
}
