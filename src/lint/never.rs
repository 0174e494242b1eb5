//! `never-fires`: expressions that name a date that does not exist.

use std::collections::HashMap;

use chrono::NaiveDate;

use super::Rule;
use super::board::{Board, Group};
use super::ranked::{Found, Ledger};
use crate::schedule::CronExpr;

/// A job with an expression that matches no date of the Gregorian calendar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Never {
    /// The job's place in the order of names.
    pub(super) rank: usize,
    /// The subject.
    pub(super) subject: usize,
    /// The line, as an index into the group's lines.
    pub(super) line: usize,
}

/// Finds every expression of a group that never fires.
pub(super) fn nevers(board: &Board<'_>, group: &Group) -> Found<Never> {
    let mut ledger = Ledger::new(Rule::NeverFires);
    let mut known: HashMap<usize, bool> = HashMap::new();
    for (index, line) in group.lines.iter().enumerate() {
        // A date of the horizon is proof enough, and cheap to find.
        if board.days(line).first_in(board.calendar.days()).is_some() {
            continue;
        }
        let members = &group.classes[line.class].members;
        let Some(expr) = members
            .first()
            .map(|first| &board.subjects[*first].timetable.exprs()[line.cron])
        else {
            continue;
        };
        if !*known.entry(line.days).or_insert_with(|| ever_matches(expr)) {
            let told = ledger.of(group, [line.class; 2]);
            for subject in members {
                told.push(Never {
                    rank: board.rank[*subject],
                    subject: *subject,
                    line: index,
                });
            }
        }
    }
    ledger.finish()
}

/// Whether any date of the 400 years after which the calendar repeats suits an expression.
pub(super) fn ever_matches(expr: &CronExpr) -> bool {
    NaiveDate::from_ymd_opt(2001, 1, 1)
        .and_then(|start| expr.next_day(start))
        .is_some()
}
