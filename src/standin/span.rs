//! Spans and instants as a script writes them; spans as in every other file of the user.

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

/// An instant for a field that may be missing.
pub(super) fn optional_instant<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<DateTime<Utc>>, D::Error> {
    let text = String::deserialize(deserializer)?;
    match DateTime::parse_from_rfc3339(&text) {
        Ok(instant) => Ok(Some(instant.to_utc())),
        Err(_) => Err(serde::de::Error::custom(format!(
            "`{text}` is no instant such as `2026-11-30T17:00:00Z`"
        ))),
    }
}
