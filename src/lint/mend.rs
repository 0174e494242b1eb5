//! Mends a schedule: moves expressions until no two firings are too close and
//! none lies in a peak window.
//!
//! A suggestion is legal on its own: two of them may choose one place. So they
//! are taken one by one, each proved against what the others have become.
//! Groups do not know each other and are mended one by one; a group that
//! cannot be mended as a whole is left as it is.

mod attempt;
mod draft;

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Utc};

use super::board::{Board, Group, Line};
use super::calendar::Calendar;
use super::{Change, Rule, Rules, Subject, Verdict, check, compile};
use crate::job::{GroupId, JobId};
use crate::schedule::{CronExpr, Timetable};

use draft::Draft;

/// A mended schedule.
#[derive(Debug, Clone)]
pub struct Mended {
    /// What to change, by job and expression.
    pub changes: Vec<Change>,
    /// The groups that stay as they are though something in them is wrong, by name.
    pub stuck: Vec<Stuck>,
    /// What is found in the schedule after the changes.
    pub verdict: Verdict,
}

/// A group that cannot be mended, told by an expression that no move saves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stuck {
    /// The group.
    pub group: GroupId,
    /// The job; pickup slots are named `pickup:GROUP`.
    pub job: JobId,
    /// Which of the job's expressions, counted from 0.
    pub cron: usize,
    /// Why it stays.
    pub reason: Reason,
}

/// Why an expression stays where it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// No move of it is legal though it were alone in its group: it fires too often, or too long into a window.
    Itself,
    /// The group leaves it no legal time.
    NoRoom,
    /// It must not move.
    Fixed,
}

/// Expressions that must not move: a job and which of its expressions.
pub type Fixed = BTreeSet<(JobId, usize)>;

/// Moves expressions until no finding of `key-gap` and `peak-window` stops the daemon.
///
/// Each moved expression keeps its days and how often it fires on each of them;
/// jobs without such a finding do not move, and findings that are accepted or
/// no errors move nothing. Of two that are too close, that with the smaller move goes; the
/// comfortable gap is kept where there is room. The order of the subjects changes nothing.
///
/// ```
/// use std::time::Duration;
///
/// use offpeak::job::{GroupId, JobId};
/// use offpeak::lint::{Rules, Subject, mend};
/// use offpeak::schedule::{CronExpr, PeakWindows, Timetable, Zones};
///
/// let zone = Zones::bundled().get("Asia/Tokyo").unwrap();
/// let job = |name: &str, cron: &str| {
///     let timetable = Timetable::new(vec![CronExpr::parse(cron).unwrap()], zone.clone());
///     Subject::new(JobId::new(name), GroupId::new("main"), timetable)
/// };
/// let peaks = PeakWindows::new(zone.clone(), vec![]);
/// let rules = Rules::new(Duration::from_mins(15), Duration::from_mins(45), peaks);
/// let jobs = [job("a", "0 3 * * *"), job("b", "0 3 * * mon"), job("c", "5 3 * * *")];
/// let mended = mend(&jobs, &rules, "2026-12-01T00:00:00Z".parse().unwrap());
/// let changes: Vec<String> = mended.changes.iter().map(ToString::to_string).collect();
/// assert_eq!(changes, ["b: 0 3 * * mon → 15 2 * * mon", "c: 5 3 * * * → 45 3 * * *"]);
/// assert!(mended.verdict.is_safe());
/// ```
#[must_use]
pub fn mend(subjects: &[Subject], rules: &Rules, from: DateTime<Utc>) -> Mended {
    mend_around(subjects, rules, from, &Fixed::new())
}

/// The same around expressions that must not move.
#[must_use]
pub fn mend_around(
    subjects: &[Subject],
    rules: &Rules,
    from: DateTime<Utc>,
    fixed: &Fixed,
) -> Mended {
    let verdict = check(subjects, rules, from);
    let groups = stopped(&verdict);
    if groups.is_empty() {
        return Mended {
            changes: Vec::new(),
            stuck: Vec::new(),
            verdict,
        };
    }
    let (changes, stuck) = moves(subjects, rules, from, (&groups, fixed));
    let verdict = if changes.is_empty() {
        verdict
    } else {
        check(&changed(subjects, &changes), rules, from)
    };
    Mended {
        changes,
        stuck,
        verdict,
    }
}

/// The subjects with these changes made. A change whose text is no expression is left out.
#[must_use]
pub fn changed(subjects: &[Subject], changes: &[Change]) -> Vec<Subject> {
    let mut by_job: BTreeMap<&JobId, Vec<(usize, CronExpr)>> = BTreeMap::new();
    for change in changes {
        if let Ok(expr) = CronExpr::parse(&change.to) {
            by_job
                .entry(&change.job)
                .or_default()
                .push((change.cron, expr));
        }
    }
    let mut subjects = subjects.to_vec();
    for subject in &mut subjects {
        let Some(new) = by_job.get(&subject.job) else {
            continue;
        };
        let mut exprs = subject.timetable.exprs().to_vec();
        for (cron, expr) in new {
            if let Some(place) = exprs.get_mut(*cron) {
                place.clone_from(expr);
            }
        }
        subject.timetable = Timetable::new(exprs, subject.timetable.zone().clone());
    }
    subjects
}

/// Whether moving expressions is a way out of a rule.
const fn is_mended(rule: Rule) -> bool {
    matches!(rule, Rule::KeyGap | Rule::PeakWindow)
}

/// The groups with something to mend.
fn stopped(verdict: &Verdict) -> BTreeSet<GroupId> {
    let stopping = verdict
        .findings
        .iter()
        .filter(|finding| is_mended(finding.rule) && finding.is_stopping());
    stopping.map(|finding| finding.group.clone()).collect()
}

fn moves(
    subjects: &[Subject],
    rules: &Rules,
    from: DateTime<Utc>,
    (groups, fixed): (&BTreeSet<GroupId>, &Fixed),
) -> (Vec<Change>, Vec<Stuck>) {
    let concerned: Vec<Subject> = subjects
        .iter()
        .filter(|subject| groups.contains(&subject.group))
        .cloned()
        .collect();
    let board = compile::board(&concerned, rules, Calendar::starting(from).0);
    let (mut changes, mut stuck) = (Vec::new(), Vec::new());
    for group in &board.groups {
        match group_moves(&board, group, fixed) {
            Ok(moves) => changes.extend(moves.changes),
            Err(piece) => stuck.push(piece),
        }
    }
    changes.sort_by(|one: &Change, two| (&one.job, one.cron).cmp(&(&two.job, two.cron)));
    (changes, stuck)
}

/// A group that is mended.
#[derive(Debug)]
pub(super) struct Moves {
    /// What to change.
    pub(super) changes: Vec<Change>,
    /// The lines of the group afterwards, every job with a class of its own, in the order of names.
    pub(super) lines: Vec<Line>,
}

/// Mends one group of a board.
///
/// # Errors
///
/// What no move saves.
pub(super) fn group_moves(board: &Board<'_>, group: &Group, fixed: &Fixed) -> Result<Moves, Stuck> {
    let mut draft = Draft::new(board, group, fixed);
    match attempt::mended(&mut draft) {
        Ok(pieces) => Ok(Moves {
            changes: draft.changes(&pieces),
            lines: pieces.into_iter().map(|piece| piece.line).collect(),
        }),
        Err(piece) => Err(draft.stuck(piece)),
    }
}

#[cfg(test)]
mod tests;
