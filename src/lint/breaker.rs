//! `breaker-cannot-open`: a group whose worst case never gives its breaker enough samples.

use std::collections::HashMap;

use super::board::{Board, Class, Group, Line};
use super::calendar::DAY;
use super::tell::human;
use super::{BreakerNeed, Finding, Rule};
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

/// Tells of a group whose breaker cannot open, at the first of its jobs by name: of those that accept it, if any does.
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
/// A group of one job is not told: its attempts are bounded by its retries, and there is no other job to spare.
///
/// It is the worst case of the schedule. Runs that a person asks for are not counted, nor what piles up while a group
/// is held for longer than `expires_after` or through several downtimes in a row.
pub(super) fn cannot_open(
    board: &Board<'_>,
    group: &Group,
    densest: &mut Densest,
) -> Option<Finding> {
    let need = board.rules.breaker?;
    if senders(group)
        .map(|class| class.members.len())
        .sum::<usize>()
        < 2
    {
        return None;
    }
    let wanted = u64::from(need.min_samples);
    let budget = budget(&need, group);
    let calls = calls(board, group, &need, densest, wanted.min(budget));
    let samples = calls.min(budget);
    if samples == 0 || samples >= wanted {
        return None;
    }
    let told = |class: &Class| {
        (
            !class.accepted.contains(&Rule::BreakerCannotOpen),
            class.members[0],
        )
    };
    let (_, subject) = senders(group)
        .map(told)
        .min_by_key(|(open, subject)| (*open, board.rank[*subject]))?;
    let subject = &board.subjects[subject];
    let help = if calls > budget {
        format!("set `breaker.min_samples` to {samples} or lower, or raise `budget.calls`")
    } else {
        format!("set `breaker.min_samples` to {samples} or lower")
    };
    Some(Finding {
        rule: Rule::BreakerCannotOpen,
        severity: Rule::BreakerCannotOpen.severity(),
        job: subject.job.clone(),
        group: subject.group.clone(),
        cron: None,
        at: None,
        other: None,
        gap: None,
        per_year: None,
        message: format!(
            "the breaker of group `{}` opens at {wanted} samples within {}, and its jobs never give more than {samples}",
            subject.group,
            human(super::seconds(need.window))
        ),
        suggestion: None,
        help: Some(help),
        accepted: None,
    })
}

/// The classes whose jobs send something.
fn senders(group: &Group) -> impl Iterator<Item = &Class> {
    let classes = group.classes.iter();
    classes.filter(|class| class.effort.calls > 0 && class.effort.attempts > 0)
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
mod tests {
    use std::time::Duration;

    use crate::job::GroupId;
    use crate::lint::fixture::{findings, job, rules};
    use crate::lint::{BreakerNeed, Effort, Finding, Rule, Rules, Subject};

    const NEED: BreakerNeed = BreakerNeed {
        min_samples: 10,
        window: Duration::from_mins(2),
        calls: 30,
        per: Duration::from_mins(1),
        expires_after: Duration::from_hours(24),
    };

    fn needing(need: BreakerNeed) -> Rules {
        Rules {
            breaker: Some(need),
            ..rules("UTC", vec![])
        }
    }

    fn trying(attempts: u32, name: &str, cron: &str) -> Subject {
        let timeout = Duration::from_mins(10);
        let effort = Effort {
            attempts,
            timeout,
            ..Effort::ONE
        };
        Subject {
            effort,
            ..job(name, "UTC", &[cron])
        }
    }

    /// A second job of the group that never fires, and so gives nothing.
    fn quiet() -> Subject {
        trying(3, "quiet", "0 2 30 2 *")
    }

    fn found(subjects: &[Subject], need: BreakerNeed) -> Vec<Finding> {
        findings(subjects, &needing(need), Rule::BreakerCannotOpen)
    }

    #[test]
    fn one_daily_job_never_gives_ten_samples_and_two_may() {
        // Today's and yesterday's call, and one that a downtime left behind, of three attempts each.
        let one = [trying(3, "a", "0 2 * * *"), quiet()];
        let told = found(&one, NEED);
        assert_eq!(told.len(), 1);
        assert_eq!((told[0].cron, told[0].at), (None, None));
        assert_eq!(
            told[0].message,
            "the breaker of group `main` opens at 10 samples within 2 min, and its jobs never give more than 9"
        );
        assert_eq!(
            told[0].help.as_deref(),
            Some("set `breaker.min_samples` to 9 or lower")
        );
        let lower = BreakerNeed {
            min_samples: 9,
            ..NEED
        };
        assert!(found(&one, lower).is_empty());
        let two = [trying(3, "a", "0 2 * * *"), trying(3, "b", "0 4 * * *")];
        assert!(found(&two, NEED).is_empty());
    }

    #[test]
    fn group_of_one_job_is_not_told() {
        let one = [trying(3, "a", "0 2 * * *")];
        assert!(found(&one, NEED).is_empty());
    }

    #[test]
    fn work_that_waits_longer_may_meet_more_of_its_kind() {
        let one = [trying(3, "a", "0 2 * * *"), quiet()];
        let long = BreakerNeed {
            expires_after: Duration::from_hours(72),
            ..NEED
        };
        assert!(found(&one, long).is_empty());
        let weekly: Vec<Subject> = ["a", "b"].map(|name| trying(2, name, "0 2 * * mon")).into();
        assert_eq!(found(&weekly, NEED).len(), 1);
        let week = BreakerNeed {
            expires_after: Duration::from_hours(24 * 7),
            ..NEED
        };
        assert!(found(&weekly, week).is_empty());
    }

    #[test]
    fn small_budget_keeps_the_breaker_of_a_large_group_shut() {
        let jobs: Vec<Subject> = (0..20)
            .map(|n| trying(3, &format!("j{n:02}"), "0 2 * * *"))
            .collect();
        let tight = BreakerNeed {
            calls: 5,
            per: Duration::from_hours(1),
            ..NEED
        };
        let told = found(&jobs, tight);
        assert_eq!(
            told[0].help.as_deref(),
            Some("set `breaker.min_samples` to 5 or lower, or raise `budget.calls`")
        );
        // An attempt of ten minutes that began before the window may end in it.
        let short = BreakerNeed {
            calls: 1,
            per: Duration::from_mins(1),
            ..NEED
        };
        assert!(found(&jobs, short).is_empty());
    }

    #[test]
    fn group_is_told_at_the_first_job_that_accepts_it_or_else_at_the_first() {
        let [a, mut b] = ["a", "b"].map(|name| trying(1, name, "0 2 * * *"));
        let told = found(&[b.clone(), a.clone()], NEED);
        assert_eq!((told.len(), told[0].job.as_str()), (1, "a"));
        b.accepted
            .insert(Rule::BreakerCannotOpen, "quiet".to_owned());
        let told = found(&[b, a], NEED);
        assert_eq!((told.len(), told[0].job.as_str()), (1, "b"));
        assert_eq!(told[0].accepted.as_deref(), Some("quiet"));
    }

    #[test]
    fn pickup_slots_and_jobs_that_never_fire_give_no_samples_and_no_advice() {
        let pickup = Subject {
            effort: Effort::NONE,
            ..job("pickup:main", "UTC", &["0 2 * * *"])
        };
        assert!(found(std::slice::from_ref(&pickup), NEED).is_empty());
        assert!(found(&[trying(3, "a", "0 2 30 2 *"), quiet()], NEED).is_empty());
        let other = |name| Subject {
            group: GroupId::new("archive"),
            ..trying(1, name, "0 2 * * *")
        };
        let told = found(&[pickup, other("a"), other("b")], NEED);
        assert_eq!((told.len(), told[0].group.as_str()), (1, "archive"));
    }

    #[test]
    fn repeated_hour_gives_its_firings_twice() {
        // One day's six times; in October three of them come again.
        let often = |need| {
            let subject = Subject {
                effort: Effort::ONE,
                ..job("a", "Europe/Berlin", &["*/20 2,4 * * sun"])
            };
            found(&[subject, quiet()], need).len()
        };
        let need = |min_samples| BreakerNeed {
            min_samples,
            expires_after: Duration::from_hours(1),
            ..NEED
        };
        assert_eq!((often(need(10)), often(need(14))), (0, 1));
    }
}
