//! The times of day of a group on one ring of 24 hours of UTC.
//!
//! The ring names the pairs of lines worth a closer look. It is generous: a
//! line stands on it once for every offset that its zone ever has, and days
//! are left out.

use super::board::{Board, Group};
use super::calendar::DAY;
use super::seams::Seams;

/// One time of day of one line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Point {
    second: i64,
    line: usize,
}

/// Every time of day of a group.
#[derive(Debug)]
pub(super) struct Ring {
    /// Seconds of the day in UTC, ascending; the edges are repeated before and
    /// after so that neighbours across midnight are found.
    points: Vec<Point>,
    /// For each line, the offsets it stands at.
    offsets: Vec<Vec<i64>>,
    reach: i64,
    /// For each line, the last question that it was an answer to; keeps answers free of repetition.
    answered: Vec<usize>,
    questions: usize,
}

impl Ring {
    /// Puts a group on a ring; lines closer than `reach` seconds will be neighbours.
    pub(super) fn new(board: &Board<'_>, group: &Group, reach: i64) -> Self {
        // One turn holds every neighbour.
        let reach = reach.min(DAY);
        let zones = group.zones();
        let offsets: Vec<Vec<i64>> = group
            .lines
            .iter()
            .map(|line| match zones.as_slice() {
                // In one zone all lines move together.
                [_] => vec![0],
                _ => board.tracks[line.zone].offsets(),
            })
            .collect();
        let mut points = Vec::new();
        for (index, line) in group.lines.iter().enumerate() {
            for second in seconds(&line.times, &offsets[index]) {
                let turns = [second - DAY, second, second + DAY];
                let kept = turns
                    .into_iter()
                    .filter(|second| (-reach..DAY + reach).contains(second));
                points.extend(kept.map(|second| Point {
                    second,
                    line: index,
                }));
            }
        }
        points.sort_unstable();
        Self {
            points,
            offsets,
            reach,
            answered: vec![0; group.lines.len()],
            questions: 0,
        }
    }

    /// The neighbours of a line closer than `below` seconds, itself included, among the lines
    /// from `first` on; `below` is at most the reach of the ring.
    pub(super) fn neighbours(
        &mut self,
        group: &Group,
        (line, first): (usize, usize),
        below: i64,
        out: &mut Vec<usize>,
    ) {
        self.questions += 1;
        let below = below.min(self.reach);
        let wanted = group.lines.len() - first;
        let kept = out.len();
        for offset in &self.offsets[line] {
            let mut turn: Vec<i64> =
                seconds(&group.lines[line].times, std::slice::from_ref(offset)).collect();
            turn.sort_unstable();
            // Neighbourhoods of successive times overlap; each point is looked at once.
            let mut next = 0;
            for second in turn {
                if out.len() - kept == wanted {
                    return;
                }
                let near = self
                    .points
                    .partition_point(|point| point.second <= second - below);
                next = near.max(next);
                while let Some(point) = self
                    .points
                    .get(next)
                    .filter(|at| at.second < second + below)
                {
                    next += 1;
                    if point.line >= first && self.answered[point.line] != self.questions {
                        self.answered[point.line] = self.questions;
                        out.push(point.line);
                    }
                }
            }
        }
    }
}

/// The seconds of the day in UTC at which times of day stand.
fn seconds(times: &[i64], offsets: &[i64]) -> impl Iterator<Item = i64> {
    offsets.iter().flat_map(move |offset| {
        times
            .iter()
            .map(move |time| (time * 60 - offset).rem_euclid(DAY))
    })
}

/// Who may be near whom in a group: by time of day, and around clock changes.
#[derive(Debug)]
pub(super) struct Neighbourhood {
    /// By time of day.
    pub(super) ring: Ring,
    /// Around clock changes.
    pub(super) seams: Seams,
}

impl Neighbourhood {
    /// For questions about less than `reach` seconds.
    pub(super) fn new(board: &Board<'_>, group: &Group, reach: i64) -> Self {
        Self {
            ring: Ring::new(board, group, reach),
            seams: Seams::new(board, group, reach),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lint::calendar::Calendar;
    use crate::lint::compile;
    use crate::lint::fixture::{at, job, rules};

    fn neighbours(crons: &[(&str, &str)], below: i64) -> Vec<Vec<usize>> {
        let subjects: Vec<_> = crons
            .iter()
            .enumerate()
            .map(|(n, (zone, cron))| job(&format!("j{n}"), zone, &[cron]))
            .collect();
        let rules = rules("UTC", vec![]);
        let board = compile::board(
            &subjects,
            &rules,
            Calendar::starting(at("2026-12-01T00:00:00Z")).0,
        );
        let group = &board.groups[0];
        let mut ring = Ring::new(&board, group, below);
        let ask = |line| {
            let mut found = Vec::new();
            ring.neighbours(group, (line, 0), below, &mut found);
            found.sort_unstable();
            found
        };
        (0..crons.len()).map(ask).collect()
    }

    #[test]
    fn neighbours_are_closer_than_the_reach_also_across_midnight() {
        let found = neighbours(
            &[
                ("UTC", "50 23 * * *"),
                ("UTC", "4 0 * * *"),
                ("UTC", "5 0 * * *"),
            ],
            900,
        );
        assert_eq!(found, [vec![0, 1], vec![0, 1, 2], vec![1, 2]]);
    }

    #[test]
    fn zones_meet_at_any_of_their_offsets() {
        let found = neighbours(
            &[
                ("UTC", "0 2 * * *"),
                ("Europe/Berlin", "0 4 * * *"),
                ("Asia/Tokyo", "0 4 * * *"),
            ],
            60,
        );
        assert_eq!(found, [vec![0, 1], vec![0, 1], vec![2]]);
    }
}
