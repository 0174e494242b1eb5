//! `cache-never-read`: an entry that is paid for and that no call ever reads.
//!
//! A call reads an entry exactly if a call of the same set comes before it
//! within the entry's life: what lies between two calls that follow each other
//! decides, since each of them renews the entry. So a job's entries are never
//! read, and it never reads one, if it has no such pair anywhere in the
//! horizon. Pairs are looked for as those of `key-gap` are: by days and times
//! in steady spans, and firing by firing around clock changes.

use super::super::advice::about;
use super::super::near::{Reach, first_steady};
use super::super::regimes::instant;
use super::super::ring::Neighbourhood;
use super::super::seams::Scope;
use super::super::{Finding, Identity, Rule};
use super::set::{Member, Set, seconds};
use super::words;
use crate::job::CacheTtl;

/// A surcharge below this is not worth a word.
const CENT: f64 = 0.01;

/// The jobs of a set whose caching buys nothing.
pub(super) fn findings(set: &Set<'_>) -> Vec<Finding> {
    let asks = |member: &&Member<'_>| member.prefix.is_some_and(|prefix| prefix.cache.is_some());
    if !set.members.iter().any(|member| asks(&member)) {
        return Vec::new();
    }
    let met = set.life().map(|life| met_classes(set, seconds(life)));
    let met = met.unwrap_or_default();
    let finding = |member: &Member<'_>| {
        let is_met = met.get(member.class).copied().unwrap_or(false);
        finding(set, member, is_met.into())
    };
    set.members
        .iter()
        .filter(asks)
        .filter_map(finding)
        .collect()
}

/// Whether another call comes within the life of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Meets {
    Somebody,
    Nobody,
}

impl From<bool> for Meets {
    fn from(is_met: bool) -> Self {
        if is_met { Self::Somebody } else { Self::Nobody }
    }
}

fn finding(set: &Set<'_>, member: &Member<'_>, meets: Meets) -> Option<Finding> {
    let prefix = member.prefix?;
    let asked = prefix.cache?;
    let (job, ttl) = (&member.subject.job, words::ttl(asked));
    let tokens = words::tokens(prefix.tokens);
    let (what, place) = (words::what(prefix), words::place(prefix));
    let least = member.prompt.model.min_cacheable_tokens.unwrap_or(0);
    let reads_its_own = member.subject.effort.may_repeat();
    let (message, help) = match member.ttl() {
        None => (
            format!(
                "`{job}` asks for a cached {what}, but it has {tokens}, and `{}` caches from {least} on: nothing is cached",
                member.prompt.model.id
            ),
            format!("remove `cache: {ttl}` from {place}; it does nothing"),
        ),
        Some(_) if reads_its_own => return None,
        Some(_) if prefix.identity == Identity::Fleeting => (
            format!(
                "`{job}` caches a {what} of {tokens} that is another at every slot: nothing ever reads it{}",
                surcharge(set, member, asked)
            ),
            format!("move what changes from {place} to `prompt`, or remove `cache: {ttl}`"),
        ),
        Some(_) if meets == Meets::Somebody => return None,
        Some(_) => {
            let life = words::life(set.life().unwrap_or(asked));
            let message = format!(
                "`{job}` caches its {what} of {tokens}, but no call with the same {what} and model in group \
                 `{}` ever comes less than {life} before or after: nothing reads it{}",
                member.subject.group,
                surcharge(set, member, asked)
            );
            let help = match asked {
                CacheTtl::FiveMinutes => format!(
                    "remove `cache: 5m` from {place}, or write `cache: 1h` here and in a job with the same {what} within the \
                     hour"
                ),
                CacheTtl::OneHour => format!(
                    "remove `cache: 1h` from {place}, or let a job with the same {what} and `cache: 1h` fire within the hour"
                ),
            };
            (message, help)
        }
    };
    Some(Finding {
        at: Some(instant(set.first_fire(member.class)?)),
        per_year: u64::try_from(set.year[member.class].len()).ok(),
        help: Some(help),
        ..about(Rule::CacheNeverRead, member.subject, message)
    })
}

/// What the writes of a year cost beyond fresh input, if that is known and worth a word.
fn surcharge(set: &Set<'_>, member: &Member<'_>, ttl: CacheTtl) -> String {
    let Some((price, prefix)) = member.prompt.model.price.zip(member.prefix) else {
        return String::new();
    };
    let write = match ttl {
        CacheTtl::FiveMinutes => price.write_5m,
        CacheTtl::OneHour => price.write_1h,
    };
    let writes = set.year[member.class].len() as f64;
    let dollars = writes * prefix.own_tokens as f64 * (write - price.fresh) / super::saves::MILLION;
    if dollars < CENT {
        return String::new();
    }
    format!(", and writing it costs about ${dollars:.2} a year")
}

/// The classes with a firing less than `life` seconds before or after another firing of the set.
fn met_classes(set: &Set<'_>, life: i64) -> Vec<bool> {
    let (board, group) = (set.board, set.group);
    let cached = set.cached_classes();
    let mut met = vec![false; cached.len()];
    let mut near = Neighbourhood::new(board, group, life);
    let mut around = Vec::new();
    for (index, line) in group.lines.iter().enumerate() {
        if met[line.class] || !cached[line.class] {
            continue;
        }
        around.clear();
        near.ring.neighbours(group, (index, 0), life, &mut around);
        let other = around
            .iter()
            .map(|other| &group.lines[*other])
            .find(|other| {
                let follow = |earlier, later| {
                    first_steady(
                        board,
                        earlier,
                        later,
                        Reach::own(life),
                        board.calendar.until,
                    )
                };
                cached[other.class]
                    && (follow(line, other).is_some() || follow(other, line).is_some())
            });
        if let Some(other) = other {
            met[line.class] = true;
            met[other.class] = true;
        }
    }
    let scope = Scope {
        below: life,
        until: i64::MAX,
    };
    for class in (0..cached.len()).filter(|class| cached[*class]) {
        near.seams.near(group, class, scope, |hit, other| {
            if hit.gap > 0 && cached[other] {
                met[class] = true;
                met[other] = true;
            }
        });
    }
    met
}

#[cfg(test)]
mod tests;
