//! What is known of each model: sizes, prices, and when it ends.
//!
//! Prices change, so they are data with a date: an embedded table. A model
//! that is not in it has an unknown cost, which is not zero.

use chrono::NaiveDate;
use serde::{Deserialize, Deserializer};

use crate::answer::Usage;
use crate::job::Request;
use crate::money::Dollars;
use crate::price::{LongPrompt, OwnPrice, Price, Terms, prompt_tokens};

/// The table as of the build.
const EMBEDDED: &str = include_str!("models.json");

/// The known models.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Models {
    #[serde(deserialize_with = "date")]
    as_of: NaiveDate,
    models: Vec<Model>,
}

/// Where a model's price is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PriceSource {
    /// The table, as of its date.
    Table(NaiveDate),
    /// A person, as of this date if they said one.
    Own(Option<NaiveDate>),
}

/// One model.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
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
    #[serde(default, deserialize_with = "price")]
    pub price: Option<Price>,
    /// Other prices for every token of a request with a long prompt.
    #[serde(default, deserialize_with = "long_prompt")]
    pub long_prompt: Option<LongPrompt>,
    /// Who says what it costs.
    #[serde(skip)]
    teller: Teller,
}

/// Who says what a model costs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Teller {
    /// The table.
    #[default]
    Table,
    /// A person, as of this date if they said one.
    Person(Option<NaiveDate>),
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

/// [`Price`] as the table has it: dollars for a million tokens.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PriceRow {
    input: f64,
    output: f64,
    cache_write_5m: f64,
    cache_write_1h: f64,
    cache_read: f64,
}

/// [`LongPrompt`] as the table has it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LongPromptRow {
    over_tokens: u64,
    price: PriceRow,
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

    /// The table with a person's prices in place of its own; a model that it does not have is added with nothing but
    /// its price.
    #[must_use]
    pub fn with(mut self, own: &[OwnPrice]) -> Self {
        for priced in own {
            let place = self.models.iter().position(|it| it.id == priced.model);
            let mut model = match place {
                Some(place) => self.models.remove(place),
                // A dated id has what its alias has, but for the price.
                None => self.find(&priced.model).cloned().unwrap_or_default(),
            };
            model.id.clone_from(&priced.model);
            model.price = Some(priced.price);
            model.long_prompt = priced.long_prompt;
            model.teller = Teller::Person(priced.as_of);
            self.models
                .insert(place.unwrap_or(self.models.len()), model);
        }
        self
    }

    /// Where the price of a model is from; `None` if it has none.
    #[must_use]
    pub fn price_source(&self, id: &str) -> Option<PriceSource> {
        let model = self.find(id)?;
        model.price?;
        Some(match model.teller {
            Teller::Person(date) => PriceSource::Own(date),
            Teller::Table => PriceSource::Table(self.as_of),
        })
    }

    /// Dollars for these tokens of this model; `None` if the model or a price is unknown.
    ///
    /// Web searches are in it, fees of other server tools are not.
    #[must_use]
    pub fn cost(&self, model: &str, usage: &Usage, terms: Terms) -> Option<Dollars> {
        let price = self.find(model)?.price_at(prompt_tokens(usage))?;
        price.cost(usage, terms)
    }

    /// Dollars for the answer to a request, by the model that gave it; `None` if the model or a price is unknown.
    #[must_use]
    pub fn cost_of_answer(&self, request: &Request, model: &str, usage: &Usage) -> Option<Dollars> {
        // Whoever sets a price sets it by the name that a gateway is asked for; it may answer by another.
        let priced = match self.price_source(&request.model) {
            Some(PriceSource::Own(_)) => &request.model,
            Some(PriceSource::Table(_)) | None => model,
        };
        self.cost(priced, usage, Terms::of(request))
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

/// A number of dollars in the table.
fn dollars<E: serde::de::Error>(number: f64) -> Result<Dollars, E> {
    Dollars::from_f64(number).ok_or_else(|| E::custom(format!("{number} is no price")))
}

impl PriceRow {
    fn read<E: serde::de::Error>(&self) -> Result<Price, E> {
        Ok(Price {
            input: dollars(self.input)?,
            output: dollars(self.output)?,
            cache_write_5m: dollars(self.cache_write_5m)?,
            cache_write_1h: dollars(self.cache_write_1h)?,
            cache_read: Some(dollars(self.cache_read)?),
        })
    }
}

fn price<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Price>, D::Error> {
    PriceRow::deserialize(deserializer)?.read().map(Some)
}

fn long_prompt<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<LongPrompt>, D::Error> {
    let row = LongPromptRow::deserialize(deserializer)?;
    Ok(Some(LongPrompt {
        over_tokens: row.over_tokens,
        price: row.price.read()?,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dollars(number: f64) -> Dollars {
        Dollars::from_f64(number).unwrap()
    }

    fn cost(models: &Models, model: &str, usage: &Usage) -> Option<Dollars> {
        models.cost(model, usage, Terms::STANDARD)
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
            let times = |factor: f64| dollars(price.input.as_f64() * factor);
            assert_eq!(price.cache_write_5m, times(1.25), "{price:?}");
            assert_eq!(price.cache_write_1h, times(2.0), "{price:?}");
            assert_eq!(price.output, times(5.0), "{price:?}");
            assert!(price.cache_read < Some(price.input), "{price:?}");
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
            ..Usage::default()
        };
        let models = Models::embedded();
        assert_eq!(
            cost(&models, "claude-sonnet-5-5", &usage),
            Some(dollars(18.6))
        );
        assert_eq!(
            cost(&models, "claude-opus-5-5", &usage),
            Some(dollars(37.2))
        );
    }

    #[test]
    fn long_prompt_of_haiku_reprices_the_whole_request() {
        let models = Models::embedded();
        let of = |usage: &Usage| cost(&models, "claude-haiku-5-5", usage);
        assert_eq!(of(&usage(100_000, 1_000)), Some(dollars(0.0105)));
        assert_eq!(of(&usage(100_001, 1_000)), Some(dollars(0.052_500_5)));
        let cached = Usage {
            cache_read_tokens: 100_000,
            ..usage(1, 0)
        };
        assert_eq!(of(&cached), Some(dollars(0.005_000_5)));
    }

    #[test]
    fn dated_id_is_its_alias_and_an_unknown_model_has_no_cost() {
        let models = Models::embedded();
        let alias = cost(&models, "claude-sonnet-4-5", &usage(10, 10));
        assert!(alias.is_some());
        assert_eq!(
            cost(&models, "claude-sonnet-4-5-20250929", &usage(10, 10)),
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
            assert_eq!(cost(&models, unknown, &usage(10, 10)), None, "{unknown}");
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

    fn own(model: &str, input: f64) -> OwnPrice {
        let price = Price {
            input: dollars(input),
            output: dollars(15.0),
            cache_write_5m: dollars(3.75),
            cache_write_1h: dollars(6.0),
            cache_read: None,
        };
        OwnPrice {
            model: model.to_owned(),
            price,
            long_prompt: None,
            as_of: "2026-11-20".parse().ok(),
        }
    }

    #[test]
    fn own_prices_stand_in_for_those_of_the_table_and_add_models() {
        let prices = [own("claude-haiku-5-5", 7.0), own("claude-foo-9", 3.0)];
        let models = Models::embedded().with(&prices);
        let million = usage(1_000_000, 0);
        assert_eq!(
            cost(&models, "claude-haiku-5-5", &million),
            Some(dollars(7.0))
        );
        assert_eq!(cost(&models, "claude-foo-9", &million), Some(dollars(3.0)));
        assert_eq!(models.all().len(), 20);
        let haiku = models.find("claude-haiku-5-5").unwrap();
        assert_eq!(
            (haiku.max_output_tokens, haiku.long_prompt),
            (Some(128_000), None)
        );
        let date = "2026-11-20".parse().ok();
        assert_eq!(
            models.price_source("claude-foo-9"),
            Some(PriceSource::Own(date))
        );
        let table = PriceSource::Table("2026-11-01".parse().unwrap());
        assert_eq!(models.price_source("claude-opus-5"), Some(table));
        assert_eq!(models.price_source("claude-fable-5-2"), None);
        assert_eq!(models.price_source("gpt-4"), None);
        let reads = Usage {
            cache_read_tokens: 1,
            ..million
        };
        assert_eq!(cost(&models, "claude-foo-9", &reads), None);
    }

    #[test]
    fn own_price_of_a_dated_id_leaves_its_alias_alone() {
        let models = Models::embedded().with(&[own("claude-opus-4-5-20251101", 1.0)]);
        let million = usage(1_000_000, 0);
        let dated = models.find("claude-opus-4-5-20251101").unwrap();
        assert_eq!(
            dated.ends_on,
            models.find("claude-opus-4-5").unwrap().ends_on
        );
        assert_eq!(
            cost(&models, "claude-opus-4-5-20251101", &million),
            Some(dollars(1.0))
        );
        assert_eq!(
            cost(&models, "claude-opus-4-5", &million),
            Some(dollars(5.0))
        );
    }
}
