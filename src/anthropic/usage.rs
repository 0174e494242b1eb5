//! The counters of a Message or of an event, each known or not.
//!
//! A counter or word of an unexpected type counts as missing instead of
//! spoiling an answer.

use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::answer::{Geo, Speed, Tier, Usage};

use super::wire::word;

/// The counters of a Message or of an event, each known or not.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
pub struct Counters {
    /// Tokens after the last cache breakpoint.
    #[serde(default, deserialize_with = "count")]
    pub input_tokens: Option<u64>,
    /// Tokens written to the cache, for any lifetime.
    #[serde(default, deserialize_with = "count")]
    pub cache_creation_input_tokens: Option<u64>,
    /// Tokens read from the cache.
    #[serde(default, deserialize_with = "count")]
    pub cache_read_input_tokens: Option<u64>,
    /// Billed output, thinking included.
    #[serde(default, deserialize_with = "count")]
    pub output_tokens: Option<u64>,
    /// The writes by lifetime.
    #[serde(default, deserialize_with = "part")]
    pub cache_creation: CacheCreation,
    /// The uses of server tools.
    #[serde(default, deserialize_with = "part")]
    pub server_tool_use: ServerToolUse,
    /// The rate, in a word.
    #[serde(default, deserialize_with = "tier")]
    pub service_tier: Option<Tier>,
    /// Where it was computed, in a word.
    #[serde(default, deserialize_with = "geo")]
    pub inference_geo: Option<Geo>,
    /// How fast, in a word.
    #[serde(default, deserialize_with = "speed")]
    pub speed: Option<Speed>,
}

/// The cache writes by lifetime.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
pub struct CacheCreation {
    /// For five minutes.
    #[serde(default, deserialize_with = "count")]
    pub ephemeral_5m_input_tokens: Option<u64>,
    /// For one hour.
    #[serde(default, deserialize_with = "count")]
    pub ephemeral_1h_input_tokens: Option<u64>,
}

/// The uses of server tools that are billed one by one.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
pub struct ServerToolUse {
    /// Searches of the web.
    #[serde(default, deserialize_with = "count")]
    pub web_search_requests: Option<u64>,
}

impl Counters {
    /// Takes the known counters of a later event in place of ours: they are cumulative.
    pub fn replace_with(&mut self, later: Self) {
        let take = |mine: &mut Option<u64>, later: Option<u64>| *mine = later.or(*mine);
        take(&mut self.input_tokens, later.input_tokens);
        take(
            &mut self.cache_creation_input_tokens,
            later.cache_creation_input_tokens,
        );
        take(
            &mut self.cache_read_input_tokens,
            later.cache_read_input_tokens,
        );
        take(&mut self.output_tokens, later.output_tokens);
        let (mine, split) = (&mut self.cache_creation, later.cache_creation);
        take(
            &mut mine.ephemeral_5m_input_tokens,
            split.ephemeral_5m_input_tokens,
        );
        take(
            &mut mine.ephemeral_1h_input_tokens,
            split.ephemeral_1h_input_tokens,
        );
        take(
            &mut self.server_tool_use.web_search_requests,
            later.server_tool_use.web_search_requests,
        );
        self.service_tier = later.service_tier.or(self.service_tier);
        self.inference_geo = later.inference_geo.or(self.inference_geo);
        self.speed = later.speed.or(self.speed);
    }

    /// The usage, if input and output are known.
    ///
    /// The cache counters may be missing and are zero then, as are searches. Writes without a split count as the
    /// default lifetime, and a word that is missing or unknown stands for the list price.
    #[must_use]
    pub fn usage(&self) -> Option<Usage> {
        let split = self.cache_creation;
        let short = split.ephemeral_5m_input_tokens.unwrap_or(0);
        let long = split.ephemeral_1h_input_tokens.unwrap_or(0);
        let writes = self
            .cache_creation_input_tokens
            .unwrap_or(short.saturating_add(long));
        let long = long.min(writes);
        Some(Usage {
            input_tokens: self.input_tokens?,
            cache_write_5m_tokens: writes - long,
            cache_write_1h_tokens: long,
            cache_read_tokens: self.cache_read_input_tokens.unwrap_or(0),
            output_tokens: self.output_tokens?,
            web_searches: self.server_tool_use.web_search_requests.unwrap_or(0),
            tier: self.service_tier.unwrap_or_default(),
            geo: self.inference_geo.unwrap_or_default(),
            speed: self.speed.unwrap_or_default(),
        })
    }
}

/// Counters; anything that is no object of them counts as missing.
pub(super) fn counters<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Counters>, D::Error> {
    let value = Value::deserialize(deserializer)?;
    Ok(object(value).and_then(|object| serde_json::from_value(object).ok()))
}

/// The same in a box, for events that almost never have any.
pub(super) fn boxed_counters<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Box<Counters>>, D::Error> {
    Ok(counters(deserializer)?.map(Box::new))
}

/// Counters inside of counters; anything that is no object of them counts as missing.
fn part<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Default + for<'any> Deserialize<'any>,
{
    let value = Value::deserialize(deserializer)?;
    let part = object(value).and_then(|object| serde_json::from_value(object).ok());
    Ok(part.unwrap_or_default())
}

/// An object as it is: `serde` alone would read a list into the fields of a struct, one by one.
fn object(value: Value) -> Option<Value> {
    value.is_object().then_some(value)
}

/// A whole number from zero up; anything else counts as missing.
pub(super) fn count<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    Ok(Value::deserialize(deserializer)?.as_u64())
}

/// A rate; a word that is not known counts as missing.
fn tier<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Tier>, D::Error> {
    Ok(match word(deserializer)?.as_deref() {
        Some("standard") => Some(Tier::Standard),
        Some("priority") => Some(Tier::Priority),
        Some("batch") => Some(Tier::Batch),
        Some(_) | None => None,
    })
}

/// A place; any other than the dear one costs what the list says, and `null` says nothing.
fn geo<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Geo>, D::Error> {
    Ok(word(deserializer)?.map(|word| match word.as_str() {
        "us" => Geo::Us,
        _ => Geo::Anywhere,
    }))
}

/// A speed; a word that is not known counts as missing.
fn speed<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Speed>, D::Error> {
    Ok(match word(deserializer)?.as_deref() {
        Some("standard") => Some(Speed::Standard),
        Some("fast") => Some(Speed::Fast),
        Some(_) | None => None,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn counted(more: &Value) -> Usage {
        let mut value = json!({ "input_tokens": 1, "output_tokens": 2 });
        let fields = more.as_object().unwrap().clone();
        value.as_object_mut().unwrap().extend(fields);
        let counters = serde_json::from_value::<Counters>(value).unwrap();
        counters.usage().unwrap()
    }

    #[test]
    fn what_changes_the_price_is_read() {
        let usage = counted(&json!({
            "server_tool_use": { "web_search_requests": 3, "web_fetch_requests": 1 },
            "service_tier": "batch", "inference_geo": "us", "speed": "fast",
        }));
        assert_eq!(usage.web_searches, 3);
        assert_eq!(
            (usage.tier, usage.geo, usage.speed),
            (Tier::Batch, Geo::Us, Speed::Fast)
        );
        assert_eq!(
            counted(&json!({ "service_tier": "priority" })).tier,
            Tier::Priority
        );
    }

    #[test]
    fn words_and_counters_that_nobody_knows_stand_for_the_list_price() {
        let plain = counted(&json!({}));
        for odd in [
            json!({ "service_tier": "flex", "inference_geo": "not_available", "speed": "warp" }),
            json!({ "service_tier": 1, "inference_geo": null, "speed": [] }),
            json!({ "server_tool_use": null }),
            json!({ "server_tool_use": [1] }),
            json!({ "server_tool_use": { "web_search_requests": "3" } }),
        ] {
            assert_eq!(counted(&odd), plain, "{odd}");
        }
    }

    #[test]
    fn later_words_and_searches_replace_earlier_ones_unless_they_are_missing() {
        let read = |value| serde_json::from_value::<Counters>(value).unwrap();
        let mut counters = read(json!({
            "input_tokens": 1, "output_tokens": 1, "service_tier": "priority", "inference_geo": "us", "speed": "fast",
        }));
        counters.replace_with(read(
            json!({ "output_tokens": 9, "server_tool_use": { "web_search_requests": 2 } }),
        ));
        let first = counters.usage().unwrap();
        assert_eq!(
            (first.tier, first.geo, first.speed, first.web_searches),
            (Tier::Priority, Geo::Us, Speed::Fast, 2)
        );
        counters.replace_with(read(
            json!({ "server_tool_use": { "web_search_requests": 4 }, "service_tier": "standard" }),
        ));
        let then = counters.usage().unwrap();
        assert_eq!((then.tier, then.web_searches), (Tier::Standard, 4));
    }
}
