//! Advice about the API's prompt cache, from what is known offline.
//!
//! An entry holds a system prompt, or the part of it up to a breakpoint, for
//! one model. It lives for five minutes or
//! one hour from the start of the call that wrote it, and each call that reads
//! it renews it. Only a call that asks for caching writes or reads. Calls that
//! start together all write; one that starts exactly when an entry's life ends
//! comes too late. Slots count, from one life before the proof on, as if the
//! schedule had run for long; what a deferral or a person adds does not.

mod cold;
mod never_read;
mod saves;
mod set;
mod words;

use super::calendar::Calendar;
use super::{Finding, Rule, Rules, Subject, compile};
use cold::Sendings;
use set::{Part, Set};

/// Everything to say about the cache.
///
/// Only jobs that ask for caching, that could share a long prompt, or that send much are looked at: they are put on
/// a board of their own, with a group for each set of jobs whose calls can find each other's entries.
pub(super) fn findings(subjects: &[Subject], rules: &Rules, calendar: Calendar) -> Vec<Finding> {
    let is_asked = |rule| rules.levels.severity(rule).is_some();
    let (cold, never_read, saves) = (
        is_asked(Rule::LargeColdInput),
        is_asked(Rule::CacheNeverRead),
        is_asked(Rule::CacheSaves),
    );
    if !(cold || never_read || saves) {
        return Vec::new();
    }
    let sets = set::sets(subjects);
    let stand_ins = set::stand_ins(&sets);
    let board = compile::board(&stand_ins, rules, calendar);
    let origins: Vec<Part<'_>> = sets.into_iter().flatten().collect();
    let mut sendings = Sendings::default();
    let mut findings = Vec::new();
    for group in &board.groups {
        let set = Set::new(&board, group, &origins);
        if cold {
            findings.extend(sendings.look(&set));
        }
        if never_read {
            findings.extend(never_read::findings(&set));
        }
        if saves {
            findings.extend(saves::finding(&set));
        }
    }
    findings
}

#[cfg(test)]
mod fixture;
