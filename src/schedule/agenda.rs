//! The slots of all jobs, and the pickup slots of groups, in order.
//!
//! Pure: the daemon, the plan and the simulator ask it the same questions. It
//! keeps no position; the caller names the instant.

#[cfg(test)]
mod tests;

use chrono::{DateTime, Utc};

use super::Timetable;
use crate::job::{GroupId, JobId};

/// What the agenda is made of: a job's timetable, or a group's pickups.
#[derive(Debug, Clone)]
pub struct AgendaLine {
    /// The group that the line counts against.
    pub group: GroupId,
    /// The job; `None` for pickup slots, which do no work of their own.
    pub job: Option<JobId>,
    /// When.
    pub timetable: Timetable,
    /// Nothing at or before this instant counts: a new or edited schedule starts after the edit.
    pub starts_after: DateTime<Utc>,
}

impl AgendaLine {
    pub(super) fn entry(&self, fire_at: DateTime<Utc>) -> Entry {
        Entry {
            fire_at,
            group: self.group.clone(),
            job: self.job.clone(),
        }
    }

    pub(super) fn next_after(&self, at: DateTime<Utc>) -> Option<DateTime<Utc>> {
        self.timetable.next_after(at.max(self.starts_after))
    }

    fn between(&self, after: DateTime<Utc>, until: DateTime<Utc>) -> Vec<DateTime<Utc>> {
        self.timetable.between(after.max(self.starts_after), until)
    }
}

/// One instant of one line. Sorted by time, then by group, then by job, pickup slots first.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry {
    /// The nominal instant.
    pub fire_at: DateTime<Utc>,
    /// The group.
    pub group: GroupId,
    /// The job; `None` for a pickup slot.
    pub job: Option<JobId>,
}

/// The slots of all jobs in order.
///
/// ```
/// use offpeak::job::{GroupId, JobId};
/// use offpeak::schedule::{Agenda, AgendaLine, CronExpr, Timetable, Zones};
///
/// let tokyo = Zones::bundled().get("Asia/Tokyo").unwrap();
/// let line = |job: &str, cron: &str| AgendaLine {
///     group: GroupId::new("main"),
///     job: Some(JobId::new(job)),
///     timetable: Timetable::new(vec![CronExpr::parse(cron).unwrap()], tokyo.clone()),
///     starts_after: "2026-11-30T00:00:00Z".parse().unwrap(),
/// };
/// let agenda = Agenda::new(vec![line("digest", "45 2 * * *"), line("review", "0 2 * * *")]);
/// let next = agenda.next_after("2026-12-01T12:00:00Z".parse().unwrap()).unwrap();
/// assert_eq!(next.fire_at.to_rfc3339(), "2026-12-01T17:00:00+00:00");
/// assert_eq!(next.job, Some(JobId::new("review")));
/// ```
#[derive(Debug, Clone)]
pub struct Agenda {
    lines: Vec<AgendaLine>,
}

impl Agenda {
    /// Joins lines; their order does not matter.
    #[must_use]
    pub fn new(lines: Vec<AgendaLine>) -> Self {
        Self { lines }
    }

    /// The lines.
    #[must_use]
    pub fn lines(&self) -> &[AgendaLine] {
        &self.lines
    }

    /// The first entry strictly after an instant; `None` if nothing ever fires again.
    #[must_use]
    pub fn next_after(&self, at: DateTime<Utc>) -> Option<Entry> {
        first_after(self.lines.iter(), at)
    }

    /// The first entry of a group strictly after an instant.
    #[must_use]
    pub fn next_in_group(&self, group: &GroupId, at: DateTime<Utc>) -> Option<Entry> {
        first_after(self.lines_of(group), at)
    }

    /// The first entry of a job strictly after an instant.
    #[must_use]
    pub fn next_of_job(&self, job: &JobId, at: DateTime<Utc>) -> Option<Entry> {
        first_after(
            self.lines
                .iter()
                .filter(|line| line.job.as_ref() == Some(job)),
            at,
        )
    }

    /// The entries in `after < fire_at <= until`, in order, each once.
    #[must_use]
    pub fn due(&self, after: DateTime<Utc>, until: DateTime<Utc>) -> Vec<Entry> {
        due(self.lines.iter(), after, until)
    }

    /// The instants in `after < t <= until` at which a group has an entry, ascending, each once.
    #[must_use]
    pub fn instants_in_group(
        &self,
        group: &GroupId,
        after: DateTime<Utc>,
        until: DateTime<Utc>,
    ) -> Vec<DateTime<Utc>> {
        let mut instants: Vec<_> = self
            .lines_of(group)
            .flat_map(|line| line.between(after, until))
            .collect();
        instants.sort_unstable();
        instants.dedup();
        instants
    }

    fn lines_of(&self, group: &GroupId) -> impl Iterator<Item = &AgendaLine> {
        self.lines.iter().filter(move |line| line.group == *group)
    }
}

/// The entries of lines in `after < fire_at <= until`, in order, each once.
pub(super) fn due<'a>(
    lines: impl Iterator<Item = &'a AgendaLine>,
    after: DateTime<Utc>,
    until: DateTime<Utc>,
) -> Vec<Entry> {
    let mut entries: Vec<Entry> = lines
        .flat_map(|line| {
            let instants = line.between(after, until).into_iter();
            instants.map(|at| line.entry(at))
        })
        .collect();
    entries.sort_unstable();
    entries.dedup();
    entries
}

/// The first entry; among equal instants the first by group and job, whatever the order of the lines.
fn first_after<'a>(
    lines: impl Iterator<Item = &'a AgendaLine>,
    at: DateTime<Utc>,
) -> Option<Entry> {
    let (fire_at, line) = lines
        .filter_map(|line| line.next_after(at).map(|fire_at| (fire_at, line)))
        .min_by(|(a, left), (b, right)| {
            a.cmp(b)
                .then_with(|| (&left.group, &left.job).cmp(&(&right.group, &right.job)))
        })?;
    Some(line.entry(fire_at))
}
