//! Values of our own as columns, and back.
//!
//! Instants are integer milliseconds since 1970 in UTC, spans are integer
//! milliseconds; what is finer is cut.

use std::time::Duration;

use chrono::{DateTime, Utc};
use rusqlite::Row;
use rusqlite::types::FromSql;

use super::fault::Fault;
use crate::answer::{Geo, Speed, Tier};
use crate::engine::keep::DeferralState;
use crate::outcome::{Class, Outcome, YieldReason};
use crate::schedule::DeferRule;
use crate::slot::Origin;

/// An instant as a column, cut to the millisecond.
pub(super) fn ms(at: DateTime<Utc>) -> i64 {
    at.timestamp_millis()
}

/// An instant before which nothing may happen: rounded up, so that the promise holds.
pub(super) fn ms_up(at: DateTime<Utc>) -> i64 {
    let cut = ms(at);
    if at.timestamp_subsec_nanos().is_multiple_of(1_000_000) {
        cut
    } else {
        cut.saturating_add(1)
    }
}

/// A span as a column; longer than the column holds counts as the longest.
pub(super) fn span_ms(span: Duration) -> i64 {
    i64::try_from(span.as_millis()).unwrap_or(i64::MAX)
}

/// A count as a column; more than the column holds counts as the most.
pub(super) fn count(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// A plain value of a row.
pub(super) fn get<T: FromSql>(row: &Row<'_>, column: &str) -> Result<T, Fault> {
    Ok(row.get(column)?)
}

/// An instant of a row.
pub(super) fn instant(row: &Row<'_>, column: &str) -> Result<DateTime<Utc>, Fault> {
    let ms: i64 = row.get(column)?;
    DateTime::from_timestamp_millis(ms).ok_or_else(|| Fault::odd(column, ms))
}

/// An instant of a row that may be absent.
pub(super) fn instant_or_none(row: &Row<'_>, column: &str) -> Result<Option<DateTime<Utc>>, Fault> {
    let ms: Option<i64> = row.get(column)?;
    ms.map(|ms| DateTime::from_timestamp_millis(ms).ok_or_else(|| Fault::odd(column, ms)))
        .transpose()
}

/// A span of a row that may be absent.
pub(super) fn span_or_none(row: &Row<'_>, column: &str) -> Result<Option<Duration>, Fault> {
    let ms: Option<i64> = row.get(column)?;
    ms.map(|ms| {
        u64::try_from(ms)
            .map(Duration::from_millis)
            .map_err(|_| Fault::odd(column, ms))
    })
    .transpose()
}

/// A count of a row that may be absent.
pub(super) fn count_or_none<T: TryFrom<i64>>(
    row: &Row<'_>,
    column: &str,
) -> Result<Option<T>, Fault> {
    let number: Option<i64> = row.get(column)?;
    number
        .map(|number| T::try_from(number).map_err(|_| Fault::odd(column, number)))
        .transpose()
}

/// A word of a row, read by `parse`.
pub(super) fn word<T>(
    row: &Row<'_>,
    column: &str,
    parse: impl Fn(&str) -> Option<T>,
) -> Result<T, Fault> {
    let word: String = row.get(column)?;
    parse(&word).ok_or_else(|| Fault::odd(column, word))
}

/// A word of a row that may be absent.
pub(super) fn word_or_none<T>(
    row: &Row<'_>,
    column: &str,
    parse: impl Fn(&str) -> Option<T>,
) -> Result<Option<T>, Fault> {
    let word: Option<String> = row.get(column)?;
    word.map(|word| parse(&word).ok_or_else(|| Fault::odd(column, word)))
        .transpose()
}

/// How a run or slot ended, from the columns `outcome` and `reason`.
pub(super) fn outcome(row: &Row<'_>) -> Result<Option<Outcome>, Fault> {
    let (outcome, reason): (Option<String>, Option<String>) =
        (row.get("outcome")?, row.get("reason")?);
    let Some(outcome) = outcome else {
        return Ok(None);
    };
    let known = Outcome::from_words(&outcome, reason.as_deref());
    known.map(Some).ok_or_else(|| {
        Fault::odd(
            "outcome",
            format!("{outcome}: {}", reason.unwrap_or_default()),
        )
    })
}

/// The origin with this word.
pub(super) fn origin(word: &str) -> Option<Origin> {
    Origin::ALL
        .into_iter()
        .find(|origin| origin.as_str() == word)
}

/// The class with this word.
pub(super) fn class(word: &str) -> Option<Class> {
    [Class::Success, Class::Retryable, Class::Fatal]
        .into_iter()
        .find(|class| class.as_str() == word)
}

/// The rate with this word.
pub(super) fn tier(word: &str) -> Option<Tier> {
    [Tier::Standard, Tier::Priority, Tier::Batch]
        .into_iter()
        .find(|tier| tier.as_str() == word)
}

/// The place of computing with this word.
pub(super) fn geo(word: &str) -> Option<Geo> {
    [Geo::Anywhere, Geo::Us]
        .into_iter()
        .find(|geo| geo.as_str() == word)
}

/// The speed with this word.
pub(super) fn speed(word: &str) -> Option<Speed> {
    [Speed::Standard, Speed::Fast]
        .into_iter()
        .find(|speed| speed.as_str() == word)
}

/// The reason of a yield with this word.
pub(super) fn yield_reason(word: &str) -> Option<YieldReason> {
    YieldReason::from_word(word)
}

/// Where a deferral stands, by this word.
pub(super) fn deferral_state(word: &str) -> Option<DeferralState> {
    DeferralState::ALL
        .into_iter()
        .find(|state| state.as_str() == word)
}

/// The word of a rule of deferral.
pub(super) const fn rule_word(rule: DeferRule) -> &'static str {
    match rule {
        DeferRule::NextSlot => "next_slot",
        DeferRule::OwnSlot => "own_slot",
        DeferRule::OpenSlot => "open_slot",
    }
}

/// The rule of deferral with this word.
pub(super) fn rule(word: &str) -> Option<DeferRule> {
    [DeferRule::NextSlot, DeferRule::OwnSlot, DeferRule::OpenSlot]
        .into_iter()
        .find(|rule| rule_word(*rule) == word)
}
