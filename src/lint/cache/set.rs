//! Sets of jobs whose calls can find each other's cache entries.

use std::collections::HashMap;
use std::ops::Range;

use chrono::DateTime;

use super::super::board::{Board, Group, Line};
use super::super::regimes::instant;
use super::super::{Identity, Prefix, Prompt, Subject};
use super::cold::LARGE;
use crate::job::{CacheTtl, GroupId};

/// What decides whether two calls find each other's entries: caches belong to a workspace, for which the group
/// stands, and to a model.
type Key<'a> = (&'a GroupId, &'a str, &'a Identity);

/// One prefix of one job; `None` if the job has no system prompt.
#[derive(Debug, Clone, Copy)]
pub(super) struct Part<'a> {
    pub(super) subject: &'a Subject,
    pub(super) prompt: &'a Prompt,
    pub(super) prefix: Option<&'a Prefix>,
}

/// The sets of prefixes worth a look, those of one set in the order of the jobs' names.
///
/// A prefix with nobody to share with is a set of its own. A job stands in as many sets as its system prompt has
/// breakpoints.
pub(super) fn sets(subjects: &[Subject]) -> Vec<Vec<Part<'_>>> {
    let mut parts: Vec<Part<'_>> = subjects.iter().flat_map(parts).collect();
    parts.retain(Part::is_worth_a_look);
    parts.sort_by(|one, two| one.subject.job.cmp(&two.subject.job));
    let mut sets: Vec<Vec<Part<'_>>> = Vec::new();
    let mut known: HashMap<Key<'_>, usize> = HashMap::new();
    for part in parts {
        let set = match key(&part) {
            Some(key) => *known.entry(key).or_insert(sets.len()),
            None => sets.len(),
        };
        match sets.get_mut(set) {
            Some(members) => members.push(part),
            None => sets.push(vec![part]),
        }
    }
    sets
}

/// The prefixes of a job, or the one part of a job without a system prompt.
fn parts(subject: &Subject) -> Vec<Part<'_>> {
    let Some(prompt) = &subject.prompt else {
        return Vec::new();
    };
    let part = |prefix| Part {
        subject,
        prompt,
        prefix,
    };
    match &prompt.prefixes[..] {
        [] => vec![part(None)],
        prefixes => prefixes.iter().map(Some).map(part).collect(),
    }
}

impl Part<'_> {
    fn is_worth_a_look(&self) -> bool {
        let model = &self.prompt.model;
        let may_save = |prefix: &Prefix| {
            let is_steady = matches!(prefix.identity, Identity::Steady(_));
            is_steady && model.price.is_some() && model.can_cache(prefix.tokens)
        };
        let is_cached = |prefix: &Prefix| prefix.cache.is_some() || may_save(prefix);
        self.prompt.tokens >= LARGE || self.prefix.is_some_and(is_cached)
    }
}

fn key<'a>(part: &Part<'a>) -> Option<Key<'a>> {
    let (subject, prompt) = (part.subject, part.prompt);
    let prefix = part.prefix?;
    let shareable = match prefix.identity {
        Identity::Steady(_) | Identity::Loose(_) => prompt.model.can_cache(prefix.tokens),
        Identity::Fleeting => false,
    };
    shareable.then_some((&subject.group, prompt.model.id.as_str(), &prefix.identity))
}

/// The jobs of all sets, set by set, with a group for each set.
pub(super) fn stand_ins(sets: &[Vec<Part<'_>>]) -> Vec<Subject> {
    let mut stand_ins = Vec::new();
    for (number, members) in sets.iter().enumerate() {
        let group = GroupId::new(format!("{number:010}"));
        stand_ins.extend(members.iter().map(|part| {
            let subject = part.subject;
            Subject::new(
                subject.job.clone(),
                group.clone(),
                subject.timetable.clone(),
            )
        }));
    }
    stand_ins
}

/// One job of a set, by one of its prefixes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Member<'a> {
    /// The job as given.
    pub(super) subject: &'a Subject,
    /// What it sends.
    pub(super) prompt: &'a Prompt,
    /// The prefix that it shares; `None` if it has no system prompt.
    pub(super) prefix: Option<&'a Prefix>,
    /// Its timetable, as an index into the classes of the group.
    pub(super) class: usize,
}

impl Member<'_> {
    /// How long its entries live; `None` if it neither writes nor reads one.
    pub(super) fn ttl(&self) -> Option<CacheTtl> {
        let prefix = self.prefix?;
        prefix
            .cache
            .filter(|_| self.prompt.model.can_cache(prefix.tokens))
    }
}

/// Jobs that share entries, and when they fire.
#[derive(Debug)]
pub(super) struct Set<'a> {
    /// The board of all sets.
    pub(super) board: &'a Board<'a>,
    /// The set's group on it.
    pub(super) group: &'a Group,
    /// The jobs, by name; at least one.
    pub(super) members: Vec<Member<'a>>,
    /// For each class, its firings in the first 365 days, in seconds.
    pub(super) year: Vec<Vec<i64>>,
}

impl<'a> Set<'a> {
    /// A group of a board of stand-ins, each of which stands for the part at its place.
    pub(super) fn new(board: &'a Board<'a>, group: &'a Group, origins: &[Part<'a>]) -> Self {
        let year = board.calendar.from..board.calendar.year_end;
        let mut members: Vec<Member<'a>> = Vec::new();
        for (class, jobs) in group.classes.iter().enumerate() {
            members.extend(jobs.members.iter().map(|index| {
                let Part {
                    subject,
                    prompt,
                    prefix,
                } = origins[*index];
                Member {
                    subject,
                    prompt,
                    prefix,
                    class,
                }
            }));
        }
        members.sort_by(|one, two| one.subject.job.cmp(&two.subject.job));
        let fires = |class| board.fires_of(group.lines_of(class), &year);
        Self {
            board,
            group,
            members,
            year: (0..group.classes.len()).map(fires).collect(),
        }
    }

    /// The longest life that a job of the set asks for. A read renews an entry for the life it was written with, so
    /// where lives differ the longest counts for all.
    pub(super) fn life(&self) -> Option<CacheTtl> {
        let ttls = || self.members.iter().filter_map(Member::ttl);
        ttls().max_by_key(|ttl| seconds(*ttl))
    }

    /// Whether a job of each class writes and reads entries.
    pub(super) fn cached_classes(&self) -> Vec<bool> {
        let mut cached = vec![false; self.group.classes.len()];
        for member in self.members.iter().filter(|member| member.ttl().is_some()) {
            cached[member.class] = true;
        }
        cached
    }

    /// The first firing of a class in the whole horizon.
    pub(super) fn first_fire(&self, class: usize) -> Option<i64> {
        let later = || {
            let lines = self.group.lines_of(class).iter();
            lines.filter_map(|line| self.board.first_fire(line)).min()
        };
        self.year[class].first().copied().or_else(later)
    }

    /// The firings of some classes in a span, in order, each instant once.
    pub(super) fn fires_in(&self, classes: &[bool], span: &Range<i64>) -> Vec<i64> {
        let is_asked = |line: &&Line| classes[line.class];
        let lines = self.group.lines.iter().filter(is_asked);
        self.board.fires_of(lines, span)
    }

    /// The firings of some classes in so many seconds before the proof, in order. The board begins with the proof, so
    /// the timetables are asked.
    pub(super) fn fires_before(&self, classes: &[bool], seconds: i64) -> Vec<i64> {
        let from = self.board.calendar.from;
        let (after, until) = (instant(from - seconds - 1), instant(from - 1));
        let mut fires = Vec::new();
        let asked = self.group.classes.iter().zip(classes);
        for (class, _) in asked.filter(|(_, is_asked)| **is_asked) {
            let first = class.members.first();
            let timetable = first.map(|member| &self.board.subjects[*member].timetable);
            let earlier = timetable.map(|timetable| timetable.between(after, until));
            fires.extend(earlier.iter().flatten().map(DateTime::timestamp));
        }
        fires.sort_unstable();
        fires
    }

    /// Which expression of a class fires at an instant.
    pub(super) fn cron_at(&self, class: usize, at: i64) -> Option<usize> {
        let mut found = Vec::new();
        let mut lines = self.group.lines_of(class).iter();
        let line = lines.find(|line| {
            self.board.fires(line, &(at..at + 1), &mut found);
            !found.is_empty()
        })?;
        Some(line.cron)
    }
}

/// A life in seconds.
pub(super) const fn seconds(ttl: CacheTtl) -> i64 {
    match ttl {
        CacheTtl::FiveMinutes => 5 * 60,
        CacheTtl::OneHour => 60 * 60,
    }
}

/// Whether an entry is alive at an instant, from the earlier instants at which it was written or read.
pub(super) fn is_alive(uses: &[i64], at: i64, life: CacheTtl) -> bool {
    let earlier = uses.partition_point(|used| *used < at);
    let last = earlier.checked_sub(1).and_then(|last| uses.get(last));
    last.is_some_and(|last| at - last < seconds(life))
}
