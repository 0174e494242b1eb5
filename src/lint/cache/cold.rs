//! `large-cold-input`: a big prompt at a slot where no cache entry shortens it.

use std::collections::HashMap;

use super::super::advice::about;
use super::super::regimes::instant;
use super::super::{Finding, Prompt, Rule};
use super::set::{Member, Set, is_alive, seconds};
use super::words;
use crate::job::{CacheTtl, JobId};

/// Tokens from which an input is large: some forty pages. Cold it is billed in full, counts in full towards the
/// limit of input tokens, and takes long to its first byte; measured failures of slow requests begin about here.
pub(super) const LARGE: u64 = 12_000;

/// What jobs send, while the sets of their prefixes are looked at one by one.
#[derive(Debug, Default)]
pub(super) struct Sendings<'a>(HashMap<&'a JobId, Sending>);

/// What one job sends at its slots, as far as the sets say that were looked at.
#[derive(Debug)]
struct Sending {
    /// The firings of the first 365 days, or the first one of all if they hold none.
    firings: Vec<i64>,
    /// At each of them, the tokens beside the longest entry that is alive.
    fresh: Vec<u64>,
    /// How many prefixes of the job were looked at.
    prefixes: usize,
}

impl<'a> Sendings<'a> {
    /// Looks at a set: the jobs with a slot at which so much is sent that no entry holds. A job is told when the last
    /// of its prefixes was looked at.
    pub(super) fn look(&mut self, set: &Set<'a>) -> Vec<Finding> {
        let mut findings = Vec::new();
        // What is not known offline is no reason to warn: most inputs stay far below their `max_bytes`.
        let is_large = |member: &&Member<'a>| member.prompt.tokens >= LARGE;
        for member in set.members.iter().filter(is_large) {
            let job = &member.subject.job;
            let now = Sending::of(set, member);
            let sending = match self.0.remove(job) {
                Some(before) => before.beside(&now),
                None => now,
            };
            if sending.prefixes < member.prompt.prefixes.len() {
                self.0.insert(job, sending);
            } else {
                findings.extend(finding(set, member, &sending));
            }
        }
        findings
    }
}

impl Sending {
    fn of(set: &Set<'_>, member: &Member<'_>) -> Self {
        let year = &set.year[member.class];
        let firings = match set.first_fire(member.class) {
            Some(first) if year.is_empty() => vec![first],
            Some(_) | None => year.clone(),
        };
        let whole = member.prompt.tokens;
        let rest = whole.saturating_sub(member.prefix.map_or(0, |prefix| prefix.tokens));
        let entries = Entries::of(set, member);
        let fresh = |at: &i64| {
            if entries.is_alive_at(*at) {
                rest
            } else {
                whole
            }
        };
        Self {
            fresh: firings.iter().map(fresh).collect(),
            firings,
            prefixes: 1,
        }
    }

    /// The same with the entries of another prefix.
    fn beside(mut self, other: &Self) -> Self {
        for (fresh, theirs) in self.fresh.iter_mut().zip(&other.fresh) {
            *fresh = (*fresh).min(*theirs);
        }
        self.prefixes += other.prefixes;
        self
    }
}

fn finding(set: &Set<'_>, member: &Member<'_>, sending: &Sending) -> Option<Finding> {
    let slots = sending.firings.iter().zip(&sending.fresh);
    let mut cold = slots.filter(|(_, fresh)| **fresh >= LARGE);
    let (first, told) = cold.next()?;
    let count = match set.year[member.class].len() {
        0 => 0,
        _ => 1 + cold.count(),
    };
    let job = &member.subject.job;
    let more = match member.prompt.more_tokens {
        0 => String::new(),
        more => format!(
            "; its inputs of unknown size may add {}",
            words::tokens(more)
        ),
    };
    let message = format!(
        "`{job}` sends {} with no cache entry alive{more}",
        words::tokens(*told)
    );
    Some(Finding {
        at: Some(instant(*first)),
        per_year: u64::try_from(count).ok(),
        help: Some(help(member.prompt)),
        ..about(Rule::LargeColdInput, member.subject, message)
    })
}

fn help(prompt: &Prompt) -> String {
    let longest = prompt.prefixes.last();
    // What is sent beside an entry that is alive.
    let rest = prompt
        .tokens
        .saturating_sub(longest.map_or(0, |prefix| prefix.tokens));
    let shorten = "lower `max_bytes` of its inputs or shorten its prompt";
    let can_cache = longest.is_some_and(|prefix| prompt.model.can_cache(prefix.tokens));
    if can_cache && rest < LARGE {
        format!(
            "write `cache: 1h` in `system` here and in a job with the same system prompt and model within the hour \
             before, or {shorten}"
        )
    } else {
        // No cached system prompt would leave little enough.
        shorten.to_owned()
    }
}

/// At which slots of a job an entry for its prefix is alive.
struct Entries {
    /// When the entry is written or read in the first 365 days and the life before them, or around the job's first
    /// firing.
    uses: Vec<i64>,
    life: Option<CacheTtl>,
}

impl Entries {
    fn of(set: &Set<'_>, member: &Member<'_>) -> Self {
        let life = member.ttl().and_then(|_| set.life());
        let Some(ttl) = life else {
            return Self {
                uses: Vec::new(),
                life,
            };
        };
        let cached = set.cached_classes();
        let calendar = &set.board.calendar;
        let span = match set.first_fire(member.class) {
            Some(first) if first >= calendar.year_end => first - seconds(ttl)..first + 1,
            Some(_) | None => calendar.from..calendar.year_end,
        };
        // The first slots of the proof find what those just before it left.
        let mut uses = set.fires_before(&cached, seconds(ttl));
        uses.extend(set.fires_in(&cached, &span));
        Self { uses, life }
    }

    fn is_alive_at(&self, at: i64) -> bool {
        self.life.is_some_and(|life| is_alive(&self.uses, at, life))
    }
}

#[cfg(test)]
mod tests;
