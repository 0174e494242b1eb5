//! What calls may cost and what groups have spent, in words and in JSON.

use chrono::{DateTime, Utc};
use serde_json::{Value, json};

use crate::anthropic::{Models, PriceSource};
use crate::config::Config;
use crate::guard::{DollarCaps, Guard, Tally};
use crate::money::Dollars;
use crate::price::{Estimate, Growth};

/// The table of models with the user's prices in it.
#[must_use]
pub fn models(config: &Config) -> Models {
    Models::embedded().with(&config.prices)
}

/// How many tokens go in: as the API has counted them, or as far as the text alone tells.
#[must_use]
pub fn input_words(estimate: &Estimate, counted: Option<u64>) -> String {
    match counted {
        Some(tokens) => format!("{} input tokens (counted by the API)", grouped(tokens)),
        None => format!(
            "about {} input tokens (between {} and {}: an estimate from the text alone; `--count` asks the API)",
            grouped(estimate.tokens),
            grouped(estimate.tokens_low),
            grouped(estimate.tokens_high),
        ),
    }
}

/// What the call may cost, and how sure that is.
#[must_use]
pub fn cost_words(models: &Models, model: &str, estimate: &Estimate) -> String {
    let Some(source) = models.price_source(model) else {
        return format!("unknown: no price of `{model}` is known; name it under `prices`");
    };
    let by = match source {
        PriceSource::Table(date) => format!("by prices as of {date}"),
        PriceSource::Own(Some(date)) => format!("by your prices as of {date}"),
        PriceSource::Own(None) => "by your prices".to_owned(),
    };
    let more = match estimate.growth {
        Growth::None => "",
        Growth::Tools => "; what its tools find comes on top",
    };
    let low = |low: Dollars| format!("{low} without an answer, ");
    match estimate.cost_high {
        Some(high) => format!(
            "{}at most {high} {by}{more}",
            estimate.cost_low.map(low).unwrap_or_default()
        ),
        None => "unknown: the prices of its terms are not known".to_owned(),
    }
}

/// An estimate as JSON; what is not known is null.
#[must_use]
pub fn estimate(estimate: &Estimate, models: &Models, model: &str) -> Value {
    let source = models.price_source(model);
    let as_of = source.and_then(|source| match source {
        PriceSource::Table(date) => Some(date),
        PriceSource::Own(date) => date,
    });
    json!({
        "input_tokens": estimate.tokens,
        "input_tokens_low": estimate.tokens_low,
        "input_tokens_high": estimate.tokens_high,
        "max_output_tokens": estimate.output_max,
        "cost_usd": estimate.cost.map(Dollars::as_f64),
        "cost_usd_low": estimate.cost_low.map(Dollars::as_f64),
        "cost_usd_high": estimate.cost_high.map(Dollars::as_f64),
        "prices_as_of": as_of.map(|date| date.to_string()),
    })
}

/// What a group has spent in the present day and month, and its caps; `None` if there is nothing of either.
#[must_use]
pub fn spent_words(guard: &Guard, caps: &DollarCaps, now: DateTime<Utc>) -> Option<String> {
    let spent = Spent::of(guard, now);
    let is_worth_it = spent.month > Dollars::ZERO || caps.least().is_some();
    let of = |spent: Dollars, cap: Option<Dollars>| match cap {
        Some(cap) => format!("{spent} of {cap}"),
        None => spent.to_string(),
    };
    is_worth_it.then(|| {
        format!(
            "{} today, {} this month (UTC, what is reserved for calls under way and in batches included)",
            of(spent.day, caps.day),
            of(spent.month, caps.month)
        )
    })
}

/// The same as JSON; a cap that is not set is left out.
#[must_use]
pub fn spent(guard: &Guard, caps: &DollarCaps, now: DateTime<Utc>) -> Value {
    let spent = Spent::of(guard, now);
    let of = |spent: Dollars, cap: Option<Dollars>| match cap {
        Some(cap) => json!({ "usd": spent.as_f64(), "cap_usd": cap.as_f64() }),
        None => json!({ "usd": spent.as_f64() }),
    };
    json!({ "day": of(spent.day, caps.day), "month": of(spent.month, caps.month) })
}

/// What caps there are, in words.
#[must_use]
pub fn cap_words(caps: &DollarCaps) -> Option<String> {
    let day = caps.day.map(|cap| format!("{cap} a day"));
    let month = caps.month.map(|cap| format!("{cap} a month"));
    let caps: Vec<String> = day.into_iter().chain(month).collect();
    (!caps.is_empty()).then(|| caps.join(" and "))
}

struct Spent {
    day: Dollars,
    month: Dollars,
}

impl Spent {
    fn of(guard: &Guard, now: DateTime<Utc>) -> Self {
        let mut spending = guard.spending.clone();
        spending.settle(now);
        let Tally { spent: day, .. } = spending.day;
        let Tally { spent: month, .. } = spending.month;
        Self { day, month }
    }
}

/// `1,234,567`.
#[must_use]
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut words = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            words.push(',');
        }
        words.push(digit);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::guard::Spending;

    fn dollars(number: f64) -> Option<Dollars> {
        Dollars::from_f64(number)
    }

    fn estimate() -> Estimate {
        Estimate {
            tokens_low: 900,
            tokens: 1_200,
            tokens_high: 1_700,
            output_max: 4_000,
            cost_low: dollars(0.0018),
            cost: dollars(0.0424),
            cost_high: dollars(0.0434),
            growth: Growth::None,
        }
    }

    #[test]
    fn an_estimate_says_how_sure_it_is_and_a_count_that_it_is_one() {
        assert_eq!(
            input_words(&estimate(), None),
            "about 1,200 input tokens (between 900 and 1,700: an estimate from the text alone; `--count` asks the API)"
        );
        let counted = input_words(&estimate(), Some(1_234_567));
        assert_eq!(counted, "1,234,567 input tokens (counted by the API)");
    }

    #[test]
    fn a_cost_names_its_prices_or_that_there_are_none() {
        let models = Models::embedded();
        let words = |model, estimate| cost_words(&models, model, &estimate);
        assert_eq!(
            words("claude-sonnet-5-5", estimate()),
            "$0.0018 without an answer, at most $0.0434 by prices as of 2026-11-01"
        );
        let tools = Estimate {
            cost_low: None,
            growth: Growth::Tools,
            ..estimate()
        };
        assert_eq!(
            words("claude-sonnet-5-5", tools),
            "at most $0.0434 by prices as of 2026-11-01; what its tools find comes on top"
        );
        let unknown = Estimate {
            cost_high: None,
            ..estimate()
        };
        assert!(words("claude-sonnet-5-5", unknown).starts_with("unknown"));
        assert_eq!(
            words("claude-foo-9", unknown),
            "unknown: no price of `claude-foo-9` is known; name it under `prices`"
        );
    }

    #[test]
    fn what_was_spent_is_that_of_the_present_day_and_month() {
        let at = |text: &str| text.parse::<DateTime<Utc>>().unwrap();
        let mut spending = Spending::default();
        spending.reserve(dollars(1.25).unwrap(), at("2026-11-29T12:00:00Z"));
        spending.reserve(dollars(0.5).unwrap(), at("2026-11-30T12:00:00Z"));
        let guard = Guard {
            spending,
            ..Guard::default()
        };
        let caps = DollarCaps {
            day: dollars(2.5),
            month: None,
        };
        let words = spent_words(&guard, &caps, at("2026-11-30T13:00:00Z")).unwrap();
        assert!(
            words.starts_with("$0.50 of $2.50 today, $1.75 this month"),
            "{words}"
        );
        let json = spent(&guard, &caps, at("2026-12-01T00:00:00Z"));
        let nothing = json!({ "day": { "usd": 0.0, "cap_usd": 2.5 }, "month": { "usd": 0.0 } });
        assert_eq!(json, nothing);
        let none = DollarCaps::default();
        assert_eq!(
            spent_words(&Guard::default(), &none, at("2026-12-01T00:00:00Z")),
            None
        );
    }

    #[test]
    fn caps_have_words_if_there_are_any() {
        let caps = DollarCaps {
            day: dollars(2.5),
            month: dollars(40.0),
        };
        assert_eq!(
            cap_words(&caps).as_deref(),
            Some("$2.50 a day and $40.00 a month")
        );
        assert_eq!(cap_words(&DollarCaps::default()), None);
    }
}
