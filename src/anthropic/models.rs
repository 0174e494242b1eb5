//! What is known of each model: sizes, prices, and when it ends.
//!
//! Prices change, so they are data with a date: an embedded table. A model
//! that is not in it has an unknown cost, which is not zero.

use chrono::NaiveDate;
use serde::{Deserialize, Deserializer};

use crate::answer::Usage;

/// The table as of the build.
const EMBEDDED: &str = include_str!("models.json");

/// Tokens by which prices are named.
const MILLION: f64 = 1_000_000.0;

/// The known models.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Models {
    #[serde(deserialize_with = "date")]
    as_of: NaiveDate,
    models: Vec<Model>,
}

/// One model.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Model {
    /// The id without a date.
    pub id: String,
    /// The most tokens of prompt and output together; `None` if unknown.
    #[serde(default)]
    pub context_tokens: Option<u64>,
    /// The most tokens of output; `None` if unknown.
    #[serde(default)]
    pub max_output_tokens: Option<u64>,
    /// A shorter prefix is not cached, without an error; `None` if unknown. In practice it can be higher.
    #[serde(default)]
    pub min_cacheable_tokens: Option<u64>,
    /// The last day on which it answers; `None` if no end is announced.
    #[serde(default, deserialize_with = "optional_date")]
    pub ends_on: Option<NaiveDate>,
    /// What it answers with 400.
    #[serde(default)]
    pub refuses: Vec<Refuses>,
    /// What its tokens cost; `None` if unknown.
    #[serde(default)]
    pub price: Option<Price>,
    /// Other prices for every token of a request with a long prompt.
    #[serde(default)]
    pub long_prompt: Option<LongPrompt>,
}

/// What some models refuse and others take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Refuses {
    /// `temperature`, `top_p` and `top_k` other than the default.
    Sampling,
    /// `thinking.type: enabled`.
    EnabledThinking,
    /// `thinking.type: adaptive`.
    AdaptiveThinking,
    /// `thinking.type: disabled`.
    DisabledThinking,
    /// `tool_choice` of type `any` or `tool`.
    ForcedTool,
    /// `inference_geo`.
    InferenceGeo,
}

/// Dollars for a million tokens.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// Input that is neither written to the cache nor read from it.
    pub input: f64,
    /// Output, thinking included.
    pub output: f64,
    /// Input written to the cache for five minutes.
    pub cache_write_5m: f64,
    /// Input written to the cache for one hour.
    pub cache_write_1h: f64,
    /// Input read from the cache.
    pub cache_read: f64,
}

/// Prices beyond a prompt size.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LongPrompt {
    /// A prompt with more tokens than this, cached parts included.
    pub over_tokens: u64,
    /// Prices every token of the request, output too.
    pub price: Price,
}

/// Why a table is none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("model table: {problem}")]
pub struct ModelError {
    /// What the parser says, with line and column.
    pub problem: String,
}

impl Models {
    /// The table as of the build.
    ///
    /// # Panics
    /// Never: a test reads the table.
    #[must_use]
    pub fn embedded() -> Self {
        Self::parse(EMBEDDED).expect("the embedded table is valid, which a test checks")
    }

    /// Reads a table from JSON of the embedded table's shape: `{"as_of": DATE, "models": [{"id", …}]}`.
    pub fn parse(json: &str) -> Result<Self, ModelError> {
        serde_json::from_str(json).map_err(|error| ModelError {
            problem: error.to_string(),
        })
    }

    /// The date of the prices and ends.
    #[must_use]
    pub const fn as_of(&self) -> NaiveDate {
        self.as_of
    }

    /// Every model, in the order of the table.
    #[must_use]
    pub fn all(&self) -> &[Model] {
        &self.models
    }

    /// The model of this id; a dated id (`…-20250929`) is the model of the id without the date.
    #[must_use]
    pub fn find(&self, id: &str) -> Option<&Model> {
        let by_id = |id: &str| self.models.iter().find(|model| model.id == id);
        by_id(id).or_else(|| by_id(undated(id)?))
    }

    /// The model to take instead of one that ends: the first of its family in the table that has a price and no end.
    ///
    /// A family is the word after `claude-`; `None` if the id has none, or if the family has no other such model.
    #[must_use]
    pub fn successor(&self, id: &str) -> Option<&Model> {
        let family = family(id)?;
        self.models.iter().find(|model| {
            let lasts = model.ends_on.is_none() && model.price.is_some();
            lasts && model.id != id && self::family(&model.id) == Some(family)
        })
    }

    /// Dollars for these tokens of this model; `None` if the model or its price is unknown.
    ///
    /// Standard service: neither batch, nor fast mode, nor a regional surcharge, nor fees of server tools.
    #[must_use]
    pub fn cost_usd(&self, model: &str, usage: &Usage) -> Option<f64> {
        let price = self.find(model)?.price_at(prompt_tokens(usage))?;
        let parts = [
            (usage.input_tokens, price.input),
            (usage.cache_write_5m_tokens, price.cache_write_5m),
            (usage.cache_write_1h_tokens, price.cache_write_1h),
            (usage.cache_read_tokens, price.cache_read),
            (usage.output_tokens, price.output),
        ];
        Some(
            parts
                .iter()
                .map(|&(tokens, price)| tokens as f64 * price)
                .sum::<f64>()
                / MILLION,
        )
    }
}

impl Model {
    /// The prices for a request whose whole prompt has so many tokens.
    #[must_use]
    pub fn price_at(&self, prompt_tokens: u64) -> Option<Price> {
        match self.long_prompt {
            Some(long) if prompt_tokens > long.over_tokens => Some(long.price),
            Some(_) | None => self.price,
        }
    }
}

/// The tokens of the whole prompt, cached parts included.
#[must_use]
pub const fn prompt_tokens(usage: &Usage) -> u64 {
    usage
        .input_tokens
        .saturating_add(usage.cache_write_5m_tokens)
        .saturating_add(usage.cache_write_1h_tokens)
        .saturating_add(usage.cache_read_tokens)
}

/// A rough count of a text's tokens, made offline: two for each seven ASCII characters, one for every other character.
///
/// English prose has about four characters a token and code about three; in Japanese or Chinese a character is
/// about a token. The count is meant for a warning and for a price on the safe side, not for a bill.
#[must_use]
pub fn estimate_tokens(text: &str) -> u64 {
    let ascii = text.bytes().filter(u8::is_ascii).count() as u64;
    let others = text.chars().filter(|c| !c.is_ascii()).count() as u64;
    (ascii * 2).div_ceil(7) + others
}

/// `sonnet` of `claude-sonnet-5-5`.
fn family(id: &str) -> Option<&str> {
    let rest = id.strip_prefix("claude-")?;
    rest.split('-').next().filter(|word| !word.is_empty())
}

/// The id without a date of eight digits at its end.
pub(super) fn undated(id: &str) -> Option<&str> {
    let (alias, date) = id.rsplit_once('-')?;
    (date.len() == 8 && date.bytes().all(|byte| byte.is_ascii_digit())).then_some(alias)
}

fn date<'de, D: Deserializer<'de>>(deserializer: D) -> Result<NaiveDate, D::Error> {
    let text = String::deserialize(deserializer)?;
    text.parse()
        .map_err(|_| serde::de::Error::custom(format!("`{text}` is no date such as 2026-11-01")))
}

fn optional_date<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<NaiveDate>, D::Error> {
    date(deserializer).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(found: Option<f64>, expected: f64) {
        let found = found.unwrap();
        assert!(
            (found - expected).abs() < 1e-12,
            "{found} is not {expected}"
        );
    }

    fn usage(input: u64, output: u64) -> Usage {
        Usage {
            input_tokens: input,
            output_tokens: output,
            ..Usage::default()
        }
    }

    #[test]
    fn embedded_table_has_every_model_once_and_sane_prices() {
        let models = Models::embedded();
        let mut ids: Vec<&str> = models.all().iter().map(|model| model.id.as_str()).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), models.all().len());
        assert_eq!(ids.len(), 19);
        let prices = models
            .all()
            .iter()
            .flat_map(|model| [model.price, model.long_prompt.map(|long| long.price)]);
        for price in prices.flatten() {
            assert!(
                (price.cache_write_5m - price.input * 1.25).abs() < 1e-12,
                "{price:?}"
            );
            assert!(
                (price.cache_write_1h - price.input * 2.0).abs() < 1e-12,
                "{price:?}"
            );
            assert!(
                (price.output - price.input * 5.0).abs() < 1e-12,
                "{price:?}"
            );
            assert!(price.cache_read < price.input, "{price:?}");
        }
    }

    #[test]
    fn each_kind_of_token_has_its_price() {
        let usage = Usage {
            input_tokens: 1_000_000,
            cache_write_5m_tokens: 1_000_000,
            cache_write_1h_tokens: 1_000_000,
            cache_read_tokens: 1_000_000,
            output_tokens: 1_000_000,
        };
        let models = Models::embedded();
        close(
            models.cost_usd("claude-sonnet-5-5", &usage),
            2.0 + 2.5 + 4.0 + 0.1 + 10.0,
        );
        close(
            models.cost_usd("claude-opus-5-5", &usage),
            4.0 + 5.0 + 8.0 + 0.2 + 20.0,
        );
    }

    #[test]
    fn long_prompt_of_haiku_reprices_the_whole_request() {
        let models = Models::embedded();
        close(
            models.cost_usd("claude-haiku-5-5", &usage(100_000, 1_000)),
            0.01 + 0.0005,
        );
        close(
            models.cost_usd("claude-haiku-5-5", &usage(100_001, 1_000)),
            0.050_000_5 + 0.0025,
        );
        let cached = Usage {
            cache_read_tokens: 100_000,
            ..usage(1, 0)
        };
        close(
            models.cost_usd("claude-haiku-5-5", &cached),
            (0.5 + 5_000.0) / MILLION,
        );
    }

    #[test]
    fn dated_id_is_its_alias_and_an_unknown_model_has_no_cost() {
        let models = Models::embedded();
        let alias = models.cost_usd("claude-sonnet-4-5", &usage(10, 10));
        assert!(alias.is_some());
        assert_eq!(
            models.cost_usd("claude-sonnet-4-5-20250929", &usage(10, 10)),
            alias
        );
        for unknown in [
            "claude-sonnet-9",
            "claude-sonnet-4-5-2025",
            "gpt-4",
            "",
            "-20250929",
            "claude-fable-5-2",
            "claude-mythos-preview",
        ] {
            assert_eq!(models.cost_usd(unknown, &usage(10, 10)), None, "{unknown}");
        }
    }

    #[test]
    fn ends_of_life_are_known() {
        let models = Models::embedded();
        let ends = |id: &str| models.find(id).unwrap().ends_on.map(|day| day.to_string());
        assert_eq!(
            ends("claude-sonnet-4-5-20250929").as_deref(),
            Some("2026-11-30")
        );
        assert_eq!(ends("claude-opus-4-5").as_deref(), Some("2027-01-22"));
        assert_eq!(ends("claude-mythos-preview").as_deref(), Some("2026-06-30"));
        assert_eq!(ends("claude-sonnet-5-5"), None);
    }

    #[test]
    fn what_models_refuse_goes_by_their_version_and_family() {
        use Refuses::{AdaptiveThinking, DisabledThinking, EnabledThinking};
        let models = Models::embedded();
        let those = |refuses: Refuses| {
            let all = models.all().iter();
            let those = all.filter(|model| model.refuses.contains(&refuses));
            those.map(|model| model.id.as_str()).collect::<Vec<_>>()
        };
        let older = ["claude-opus-4-5", "claude-sonnet-4-5", "claude-haiku-4-5"];
        assert_eq!(those(AdaptiveThinking), older);
        assert_eq!(those(Refuses::InferenceGeo), older);
        let newer = those(EnabledThinking);
        assert_eq!(newer, those(Refuses::Sampling));
        let rest = models.all().iter().map(|model| model.id.as_str());
        let rest: Vec<&str> = rest.filter(|id| !newer.contains(id)).collect();
        let (preview, six) = (
            "claude-mythos-preview",
            ["claude-opus-4-6", "claude-sonnet-4-6"],
        );
        assert_eq!(
            rest,
            [preview, six[0], older[0], six[1], older[1], older[2]]
        );
        let thinks = those(DisabledThinking);
        assert!(
            thinks
                .iter()
                .all(|id| id.contains("fable") || id.contains("mythos"))
        );
        assert_eq!((thinks.len(), &thinks), (7, &those(Refuses::ForcedTool)));
    }

    #[test]
    fn successor_is_the_newest_of_the_family_that_lasts_and_has_a_price() {
        let models = Models::embedded();
        let successor = |id: &str| models.successor(id).map(|model| model.id.as_str());
        assert_eq!(
            successor("claude-sonnet-4-5-20250929"),
            Some("claude-sonnet-5-5")
        );
        assert_eq!(successor("claude-opus-4-5"), Some("claude-opus-5-5"));
        assert_eq!(
            successor("claude-mythos-preview"),
            Some("claude-mythos-5-1")
        );
        assert_eq!(successor("claude-sonnet-5-5"), Some("claude-sonnet-5"));
        assert_eq!(successor("claude-2"), None);
        assert_eq!(successor("claude-"), None);
        assert_eq!(successor("gpt-4"), None);
    }

    #[test]
    fn broken_table_is_an_error_with_a_place() {
        for json in [
            "",
            "{}",
            r#"{"as_of":"soon","models":[]}"#,
            r#"{"as_of":"2026-01-01","models":[{"id":"a","cost":1}]}"#,
        ] {
            let error = Models::parse(json).unwrap_err().to_string();
            assert!(error.contains("line 1"), "{error}");
        }
    }

    #[test]
    fn estimate_grows_with_the_text_and_counts_wide_characters_fully() {
        assert_eq!(estimate_tokens(""), 0);
        assert_eq!(estimate_tokens("a"), 1);
        assert_eq!(estimate_tokens(&"word ".repeat(700)), 1_000);
        assert_eq!(estimate_tokens("日本語"), 3);
    }
}
