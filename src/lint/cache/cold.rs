//! `large-cold-input`: a big prompt at a slot where no cache entry shortens it.

use super::super::advice::about;
use super::super::regimes::instant;
use super::super::{Finding, Prompt, Rule};
use super::set::{Member, Set, is_alive, seconds};
use super::words;
use crate::job::CacheTtl;

/// Tokens from which an input is large: some forty pages. Cold it is billed in full, counts in full towards the
/// limit of input tokens, and takes long to its first byte; measured failures of slow requests begin about here.
pub(super) const LARGE: u64 = 12_000;

/// The jobs of a set with a slot at which so much is sent that no entry holds.
pub(super) fn findings(set: &Set<'_>) -> Vec<Finding> {
    let cold = |member: &Member<'_>| finding(set, member);
    set.members.iter().filter_map(cold).collect()
}

fn finding(set: &Set<'_>, member: &Member<'_>) -> Option<Finding> {
    // What is not known offline is no reason to warn: most inputs stay far below their `max_bytes`.
    let whole = Some(member.prompt.tokens).filter(|tokens| *tokens >= LARGE)?;
    let prefix = member.prompt.prefix.as_ref();
    // What is sent beside an entry that is alive.
    let rest = whole.saturating_sub(prefix.map_or(0, |prefix| prefix.tokens));
    let entries = Entries::of(set, member);
    let cold = |at: &i64| if entries.is_alive_at(*at) { rest } else { whole } >= LARGE;
    let year = &set.year[member.class];
    let count = year.iter().filter(|at| cold(at)).count();
    let first = match year.iter().copied().find(|at| cold(at)) {
        Some(first) => first,
        None if year.is_empty() => set.first_fire(member.class).filter(cold)?,
        None => return None,
    };
    let told = if entries.is_alive_at(first) {
        rest
    } else {
        whole
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
        words::tokens(told)
    );
    Some(Finding {
        at: Some(instant(first)),
        per_year: u64::try_from(count).ok(),
        help: Some(help(member.prompt, rest)),
        ..about(Rule::LargeColdInput, member.subject, message)
    })
}

fn help(prompt: &Prompt, rest: u64) -> String {
    let shorten = "lower `max_bytes` of its inputs or shorten its prompt";
    let can_cache = prompt
        .prefix
        .as_ref()
        .is_some_and(|prefix| prompt.model.can_cache(prefix.tokens));
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
