//! Spans and instants as a script writes them; spans as in every other file of the user.

use std::collections::BTreeMap;
use std::time::Duration;

use chrono::{DateTime, Utc};
use serde::{Deserialize, Deserializer};

use crate::span::parse;

/// A required span.
pub(super) fn span<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    let text = String::deserialize(deserializer)?;
    parse(&text).ok_or_else(|| {
        serde::de::Error::custom(format!(
            "`{text}` is no span of time such as `20s`, `250ms` or `1h30m`"
        ))
    })
}

/// A span for a field that may be missing.
pub(super) fn optional_span<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Duration>, D::Error> {
    span(deserializer).map(Some)
}

/// Instants by name.
pub(super) fn instants<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<BTreeMap<String, DateTime<Utc>>, D::Error> {
    let texts = BTreeMap::<String, String>::deserialize(deserializer)?;
    let read = |(name, text): (String, String)| Ok((name, instant(&text)?));
    texts.into_iter().map(read).collect()
}

/// An instant for a field that may be missing.
pub(super) fn optional_instant<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<DateTime<Utc>>, D::Error> {
    instant(&String::deserialize(deserializer)?).map(Some)
}

fn instant<E: serde::de::Error>(text: &str) -> Result<DateTime<Utc>, E> {
    match DateTime::parse_from_rfc3339(text) {
        Ok(instant) => Ok(instant.to_utc()),
        Err(_) => Err(E::custom(format!(
            "`{text}` is no instant such as `2026-11-30T17:00:00Z`"
        ))),
    }
}
