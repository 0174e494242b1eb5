//! What tokens cost: prices of a model, and the cost of what was counted.
//!
//! A price that is not known makes the cost of its tokens unknown, never
//! zero. Which model has which price is data, and not kept here.

use chrono::NaiveDate;

use crate::answer::{Geo, Speed, Tier, Usage};
use crate::job::{Delivery, Request};
use crate::money::Dollars;

/// Billionths of a dollar for one web search: $10 for a thousand.
const WEB_SEARCH: u128 = 10_000_000;

/// Tokens by which prices are named.
const MILLION: u128 = 1_000_000;

/// Dollars for a million tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Price {
    /// Input that is neither written to the cache nor read from it.
    pub input: Dollars,
    /// Output, thinking included.
    pub output: Dollars,
    /// Input written to the cache for five minutes.
    pub cache_write_5m: Dollars,
    /// Input written to the cache for one hour.
    pub cache_write_1h: Dollars,
    /// Input read from the cache; `None` if unknown.
    pub cache_read: Option<Dollars>,
}

/// Other prices for every token of a request with a long prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LongPrompt {
    /// A prompt with more tokens than this, cached parts included.
    pub over_tokens: u64,
    /// Prices every token of the request, output too.
    pub price: Price,
}

/// A person's word on what a model costs; it stands in for the table's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnPrice {
    /// The model id.
    pub model: String,
    /// Its prices.
    pub price: Price,
    /// Other prices for long prompts.
    pub long_prompt: Option<LongPrompt>,
    /// As of when; `None` if nobody said.
    pub as_of: Option<NaiveDate>,
}

/// What changes the price of a whole request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Terms {
    /// How it is served.
    pub service: Service,
    /// Where it is served.
    pub region: Region,
}

/// How a request is served.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Service {
    /// At once.
    Standard,
    /// In a batch, at half the price.
    Batch,
    /// In fast mode, whose price is not known.
    Fast,
}

/// Where a request is served.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Region {
    /// Anywhere.
    Global,
    /// In the United States, at 1.1 times the price.
    Us,
}

impl Terms {
    /// At once and anywhere: what holds for a request that says nothing else.
    pub const STANDARD: Self = Self {
        service: Service::Standard,
        region: Region::Global,
    };

    /// The terms that a request asks for.
    #[must_use]
    pub fn of(request: &Request) -> Self {
        Self::asked(request.delivery, &request.extra)
    }

    /// The terms of a way of delivery and of other body fields, as `(name, JSON text)`.
    #[must_use]
    pub fn asked(delivery: Delivery, extra: &[(String, String)]) -> Self {
        let asks = |name: &str, value: &str| {
            let mut fields = extra.iter();
            fields.any(|(field, json)| field == name && json.trim() == value)
        };
        let service = match delivery {
            Delivery::Stream | Delivery::Whole if asks("speed", "\"fast\"") => Service::Fast,
            Delivery::Stream | Delivery::Whole => Service::Standard,
        };
        let region = if asks("inference_geo", "\"us\"") {
            Region::Us
        } else {
            Region::Global
        };
        Self { service, region }
    }
}

impl Price {
    /// Dollars for these tokens on these terms, rounded up to a billionth; `None` if a price that it takes is unknown.
    ///
    /// ```
    /// use offpeak::{answer::Usage, money::Dollars, price::{Price, Terms}};
    ///
    /// let dollars = |number| Dollars::from_f64(number).expect("a price");
    /// let price = Price {
    ///     input: dollars(3.0),
    ///     output: dollars(15.0),
    ///     cache_write_5m: dollars(3.75),
    ///     cache_write_1h: dollars(6.0),
    ///     cache_read: None,
    /// };
    /// let usage = Usage { input_tokens: 1_000, output_tokens: 100, ..Usage::default() };
    /// assert_eq!(price.cost(&usage, Terms::STANDARD), Some(dollars(0.0045)));
    ///
    /// let cached = Usage { cache_read_tokens: 1, ..usage };
    /// assert_eq!(price.cost(&cached, Terms::STANDARD), None, "the price of a read is not known");
    /// ```
    #[must_use]
    pub fn cost(&self, usage: &Usage, terms: Terms) -> Option<Dollars> {
        let read = match usage.cache_read_tokens {
            0 => Dollars::ZERO,
            _ => self.cache_read?,
        };
        let tokens = [
            (usage.input_tokens, self.input),
            (usage.cache_write_5m_tokens, self.cache_write_5m),
            (usage.cache_write_1h_tokens, self.cache_write_1h),
            (usage.cache_read_tokens, read),
            (usage.output_tokens, self.output),
        ];
        let (times, over) = terms.with(usage).factor()?;
        let dearest = tokens
            .iter()
            .map(|&(count, price)| u128::from(count) * u128::from(price.nanos()))
            .fold(0_u128, u128::saturating_add);
        let nanos = dearest.saturating_mul(times).div_ceil(over * MILLION);
        // The fee of a search is the same on all terms.
        let fees = u128::from(usage.web_searches).saturating_mul(WEB_SEARCH);
        let nanos = u64::try_from(nanos.saturating_add(fees));
        Some(Dollars::from_nanos(nanos.unwrap_or(u64::MAX)))
    }
}

impl Terms {
    /// The same, as the answer says that it was served.
    const fn with(self, usage: &Usage) -> Self {
        let service = match (usage.tier, usage.speed) {
            (Tier::Batch, _) => Service::Batch,
            (Tier::Standard | Tier::Priority, Speed::Fast) => Service::Fast,
            (Tier::Standard | Tier::Priority, Speed::Standard) => self.service,
        };
        let region = match usage.geo {
            Geo::Us => Region::Us,
            Geo::Anywhere => self.region,
        };
        Self { service, region }
    }

    /// By what the price is multiplied and divided; `None` if that is not known.
    const fn factor(self) -> Option<(u128, u128)> {
        let (times, over) = match self.service {
            Service::Standard => (1, 1),
            Service::Batch => (1, 2),
            Service::Fast => return None,
        };
        Some(match self.region {
            Region::Global => (times, over),
            Region::Us => (times * 11, over * 10),
        })
    }
}

/// The tokens of the whole prompt, cached parts included.
#[must_use]
pub const fn prompt_tokens(usage: &Usage) -> u64 {
    usage
        .input_tokens
        .saturating_add(usage.cache_write_tokens())
        .saturating_add(usage.cache_read_tokens)
}

/// What one request will take, as far as it can be told from its text alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Estimate {
    /// Hardly fewer tokens of input.
    pub tokens_low: u64,
    /// The likely tokens of input.
    pub tokens: u64,
    /// Hardly more tokens of input, of what we send ourselves.
    pub tokens_high: u64,
    /// The most tokens of output.
    pub output_max: u64,
    /// Dollars for the low count of input and no output; `None` if a price is unknown.
    pub cost_low: Option<Dollars>,
    /// Dollars for the likely count of input and all of the output; `None` if a price is unknown.
    pub cost: Option<Dollars>,
    /// Dollars for the high count of input and all of the output; `None` if a price is unknown.
    pub cost_high: Option<Dollars>,
    /// Whether the input can grow while the model works.
    pub growth: Growth,
}

/// Whether the input of a request can grow while the model works.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Growth {
    /// It is what we send.
    #[default]
    None,
    /// Tools that the server runs add what they find, and may have a fee for each use.
    Tools,
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::job::KeyId;

    fn dollars(number: f64) -> Dollars {
        Dollars::from_f64(number).unwrap()
    }

    fn price() -> Price {
        Price {
            input: dollars(2.0),
            output: dollars(10.0),
            cache_write_5m: dollars(2.5),
            cache_write_1h: dollars(4.0),
            cache_read: Some(dollars(0.1)),
        }
    }

    const MILLION_EACH: Usage = Usage {
        input_tokens: 1_000_000,
        cache_write_5m_tokens: 1_000_000,
        cache_write_1h_tokens: 1_000_000,
        cache_read_tokens: 1_000_000,
        output_tokens: 1_000_000,
        web_searches: 0,
        tier: Tier::Standard,
        geo: Geo::Anywhere,
        speed: Speed::Standard,
    };

    #[test]
    fn each_kind_of_token_has_its_price() {
        let cost = price().cost(&MILLION_EACH, Terms::STANDARD);
        assert_eq!(cost, Some(dollars(2.0 + 2.5 + 4.0 + 0.1 + 10.0)));
    }

    #[test]
    fn a_batch_is_half_and_a_region_a_tenth_more_and_fast_unknown() {
        let at = |service, region| price().cost(&MILLION_EACH, Terms { service, region });
        assert_eq!(at(Service::Batch, Region::Global), Some(dollars(9.3)));
        assert_eq!(at(Service::Standard, Region::Us), Some(dollars(20.46)));
        assert_eq!(at(Service::Batch, Region::Us), Some(dollars(10.23)));
        assert_eq!(at(Service::Fast, Region::Global), None);
    }

    #[test]
    fn a_part_of_a_billionth_counts_as_one() {
        let one = Usage {
            input_tokens: 1,
            ..Usage::default()
        };
        let cheap = Price {
            input: dollars(0.005),
            ..price()
        };
        let us = Terms {
            region: Region::Us,
            ..Terms::STANDARD
        };
        assert_eq!(
            cheap.cost(&one, Terms::STANDARD),
            Some(Dollars::from_nanos(5))
        );
        assert_eq!(cheap.cost(&one, us), Some(Dollars::from_nanos(6)));
    }

    #[test]
    fn counts_beyond_all_reason_cost_the_most() {
        let most = Usage {
            output_tokens: u64::MAX,
            ..Usage::default()
        };
        let cost = price().cost(&most, Terms::STANDARD);
        assert_eq!(cost, Some(Dollars::from_nanos(u64::MAX)));
    }

    #[test]
    fn a_request_names_its_terms() {
        let request = |extra: &[(&str, &str)]| Request {
            key: KeyId::new("main"),
            model: "m".to_owned(),
            max_tokens: 1,
            system: Vec::new(),
            prompt: String::new(),
            so_far: Vec::new(),
            delivery: Delivery::Stream,
            extra: extra
                .iter()
                .map(|&(name, json)| (name.to_owned(), json.to_owned()))
                .collect(),
            timeout: Duration::from_secs(1),
        };
        assert_eq!(Terms::of(&request(&[])), Terms::STANDARD);
        let us = Terms::of(&request(&[("inference_geo", "\"us\"")]));
        assert_eq!((us.service, us.region), (Service::Standard, Region::Us));
        let global = Terms::of(&request(&[("inference_geo", "\"global\"")]));
        assert_eq!(global, Terms::STANDARD);
        let fast = Terms::of(&request(&[("speed", "\"fast\""), ("metadata", "{}")]));
        assert_eq!(fast.service, Service::Fast);
    }
}
