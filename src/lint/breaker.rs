//! `breaker-cannot-open`: a group whose worst case never gives its breaker enough samples.

use std::collections::HashMap;

use super::advice::about;
use super::board::{Board, Class, Group, Line};
use super::calendar::DAY;
use super::tell::human;
use super::{BreakerNeed, Finding, Items, Rule, Subject};
use crate::schedule::cron::Spacing;

/// How many days of a set so many days in a row hold at most: looked for once for all groups.
#[derive(Debug, Default)]
pub(super) struct Densest {
    known: HashMap<(usize, usize), u64>,
}

impl Densest {
    fn of(&mut self, board: &Board<'_>, set: usize, days: usize) -> u64 {
        let count = || board.sets[set].most_in(days);
        *self.known.entry((set, days)).or_insert_with(count)
    }
}

/// Tells of a group whose breaker cannot open, at the first of its jobs by name: of those that accept it, if any does,
/// and these are the further jobs concerned; the others would only make the finding large.
///
/// The samples are bounded from above. They are the fewer of two numbers:
///
/// 1. **The calls that can meet in one window, each with all its attempts.** A slot's call is made at the slot, or as a
///    deferral that waits. Two deferrals of one job wait together only if the later slot fired before the earlier one's
///    not-before instant, as else the two became one call; so they lie less than `expires_after` and one run apart, and
///    what else falls into the window less than that and the window. Of each expression that is at most its times of
///    day on the densest of so many days in a row, and once more for every clock change that repeats some of them. One
///    more call a job is that of a slot which a downtime left behind.
/// 2. **What the budget admits** while the window lasts and one attempt before it.
///
/// A group in which one job fires is not told: its attempts are bounded by its retries, and there is no other job to
/// spare.
///
/// It is the worst case of the schedule. Runs that a person asks for are not counted, nor what piles up while a group
/// is held for longer than `expires_after` or through several downtimes in a row.
pub(super) fn cannot_open(
    board: &Board<'_>,
    group: &Group,
    densest: &mut Densest,
) -> Option<Finding> {
    let need = board.rules.breaker?;
    let senders = || {
        group
            .classes
            .iter()
            .filter(|class| sends(board, group, class))
    };
    if senders().map(|class| class.members.len()).sum::<usize>() < 2 {
        return None;
    }
    let wanted = u64::from(need.min_samples);
    let budget = budget(&need, group);
    let calls = calls(board, group, &need, densest, wanted);
    let samples = calls.min(budget);
    if samples == 0 || samples >= wanted {
        return None;
    }
    let mut accepting = members(board, group.classes.iter().filter(|class| accepts(class)));
    let subject = match accepting.as_slice() {
        [] => *members(board, senders()).first()?,
        _ => accepting.remove(0),
    };
    // A wider budget helps exactly if the calls are there.
    let help = if calls >= wanted {
        format!("set `breaker.min_samples` to {samples} or lower, or raise `budget.calls`")
    } else {
        format!("set `breaker.min_samples` to {samples} or lower")
    };
    let message = format!(
        "the breaker of group `{}` opens at {wanted} samples within {}, and its jobs never give more than {samples}",
        subject.group,
        human(super::seconds(need.window))
    );
    Some(Finding {
        also: accepting
            .iter()
            .map(|subject| subject.job.clone())
            .collect(),
        help: Some(help),
        ..about(Rule::BreakerCannotOpen, subject, message)
    })
}

/// Whether the jobs of a class have slots and send something at them.
fn sends(board: &Board<'_>, group: &Group, class: &Class) -> bool {
    let mut lines = group.lines[class.lines.clone()].iter();
    class.effort.calls > 0
        && class.effort.attempts > 0
        && lines.any(|line| board.first_fire(line).is_some())
}

/// Whether the jobs of a class accept this rule.
fn accepts(class: &Class) -> bool {
    class.accepted.contains(&Rule::BreakerCannotOpen)
}

/// The jobs of some classes, by name.
fn members<'b, 'c>(
    board: &Board<'b>,
    classes: impl Iterator<Item = &'c Class>,
) -> Vec<&'b Subject> {
    let mut members: Vec<usize> = classes.flat_map(|class| class.members.clone()).collect();
    members.sort_unstable_by_key(|subject| board.rank[*subject]);
    let subjects = members.into_iter();
    subjects.map(|subject| &board.subjects[subject]).collect()
}

/// The most attempts that the budget admits and that may end within one window.
fn budget(need: &BreakerNeed, group: &Group) -> u64 {
    let longest = group.classes.iter().map(|class| class.effort.timeout).max();
    let span = need.window.saturating_add(longest.unwrap_or_default());
    // The span is cut into pieces of `per`, the last of them perhaps shorter; each admits `calls`.
    let pieces = span.as_nanos() / need.per.as_nanos().max(1) + 1;
    u64::try_from(pieces)
        .unwrap_or(u64::MAX)
        .saturating_mul(u64::from(need.calls))
}

/// The most attempts of all calls that can meet in one window; counting ends at `enough`.
fn calls(
    board: &Board<'_>,
    group: &Group,
    need: &BreakerNeed,
    densest: &mut Densest,
    enough: u64,
) -> u64 {
    let longest = group.classes.iter().map(|class| class.worst_case).max();
    let span = [need.expires_after, need.window]
        .map(super::seconds)
        .iter()
        .sum::<i64>()
        + longest.unwrap_or(0);
    let mut total: u64 = 0;
    for class in &group.classes {
        let lines = &group.lines[class.lines.clone()];
        let slots: u64 = lines
            .iter()
            .map(|line| slots_in(board, line, span, densest))
            .fold(0, u64::saturating_add);
        if slots > 0 {
            let members = u64::try_from(class.members.len()).unwrap_or(u64::MAX);
            if class.effort.pieces.items == Items::Unknown {
                // There may be as many items as are needed.
                return enough;
            }
            let attempts = u64::from(class.effort.calls) * u64::from(class.effort.attempts);
            let calls = slots.saturating_add(1).saturating_mul(members);
            total = total.saturating_add(calls.saturating_mul(attempts));
        }
        if total >= enough {
            return total;
        }
    }
    total
}

/// The most slots of a line in any span of so many seconds.
fn slots_in(board: &Board<'_>, line: &Line, span: i64, densest: &mut Densest) -> u64 {
    let track = &board.tracks[line.zone];
    // What fires within the span lies, as civil time, within the span and what offsets differ by.
    let civil = span + track.greatest - track.least;
    // One time of day stands a day apart from itself.
    let days = usize::try_from(civil.div_euclid(DAY) + 1).unwrap_or(usize::MAX);
    let repeats = match line.spacing {
        Spacing::Fixed => 0,
        Spacing::Even => track
            .moves
            .iter()
            .filter(|change| change.after < change.before)
            .map(|first| {
                let until = first.at.timestamp() + span;
                let within = |at: i64| (first.at.timestamp()..until).contains(&at);
                let moves = track
                    .moves
                    .iter()
                    .filter(|change| change.after < change.before);
                moves.filter(|change| within(change.at.timestamp())).count()
            })
            .max()
            .unwrap_or(0),
    };
    let times = u64::try_from(line.times.len()).unwrap_or(u64::MAX);
    let repeats = u64::try_from(repeats).unwrap_or(u64::MAX);
    let on_days = densest.of(board, line.days, days);
    if on_days == 0 {
        return 0;
    }
    times.saturating_mul(on_days.saturating_add(repeats))
}

#[cfg(test)]
mod tests;
