//! `prices`: what models cost, where the built-in table does not say or says otherwise.

use crate::money::Dollars;
use crate::price::{LongPrompt, OwnPrice, Price};

use super::context::Context;
use super::fields::{Field, Fields, open_entries};
use super::typed;

/// What an entry looks like.
const ENTRY: &str = "a map such as `{ input: 3, output: 15 }`";

/// Reads `prices`, in the order of the file; a model whose price has a mistake is left out.
pub fn prices(cx: &mut Context<'_>, field: Field<'_>) -> Option<Vec<OwnPrice>> {
    let entries = open_entries(cx, field, "a map of models to their prices")?;
    let prices = entries.iter().filter_map(Field::of);
    Some(prices.filter_map(|field| own_price(cx, field)).collect())
}

fn own_price(cx: &mut Context<'_>, field: Field<'_>) -> Option<OwnPrice> {
    let mut fields = Fields::open(cx, field, ENTRY)?;
    let price = price(cx, &mut fields);
    let (has_over, long_prompt) = match fields.take("over") {
        None => (false, None),
        Some(over) => (true, long_prompt(cx, over)),
    };
    let as_of = fields.read(cx, "as_of", typed::day);
    fields.close(cx);
    // Without its step a price would be wrong in silence.
    if has_over && long_prompt.is_none() {
        return None;
    }
    Some(OwnPrice {
        model: field.name.to_owned(),
        price: price?,
        long_prompt,
        as_of,
    })
}

fn long_prompt(cx: &mut Context<'_>, field: Field<'_>) -> Option<LongPrompt> {
    let expected = "a map such as `{ prompt_tokens: 100000, input: 6, output: 30 }`";
    let mut fields = Fields::open(cx, field, expected)?;
    if !fields.has("prompt_tokens") {
        let help = "say from which prompt on: `prompt_tokens: 100000`";
        cx.missing(fields.owner(), "prompt_tokens", help);
    }
    let over_tokens = fields.read(cx, "prompt_tokens", |cx, f| {
        typed::integer(cx, f, 1..=10_000_000)
    });
    let price = price(cx, &mut fields);
    fields.close(cx);
    Some(LongPrompt {
        over_tokens: u64::from(over_tokens?),
        price: price?,
    })
}

/// Every model's cache is written at 1.25 and 2 times the price of its input, so that is what holds unless it is said.
/// What a read costs differs from model to model.
fn price(cx: &mut Context<'_>, fields: &mut Fields<'_>) -> Option<Price> {
    for (name, help) in [
        ("input", "say what a million tokens cost: `input: 3`"),
        ("output", "say what a million tokens cost: `output: 15`"),
    ] {
        if !fields.has(name) {
            cx.missing(fields.owner(), name, help);
        }
    }
    let input = fields.read(cx, "input", typed::price);
    let output = fields.read(cx, "output", typed::price);
    let cache = ["cache_write_5m", "cache_write_1h", "cache_read"];
    let [short_lived, long_lived, cache_read] =
        cache.map(|name| fields.read(cx, name, typed::price));
    let quarters =
        |price: Dollars, count: u64| Dollars::from_nanos((price.nanos() * count).div_ceil(4));
    let input = input?;
    Some(Price {
        input,
        output: output?,
        cache_write_5m: short_lived.unwrap_or_else(|| quarters(input, 5)),
        cache_write_1h: long_lived.unwrap_or_else(|| quarters(input, 8)),
        cache_read,
    })
}
