//! What a request will take, told offline from its text alone.
//!
//! No tokenizer of the API is public, so every count here is a range. English
//! prose has about four bytes a token, code about three; digits and random
//! letters have fewer. In Japanese or Chinese a character is about a token,
//! now half of one, now two.

use super::models::Models;
use crate::answer::Usage;
use crate::job::{CacheTtl, Request};
use crate::money::Dollars;
use crate::price::{Estimate, Growth, Terms};

/// Fields of a body that stand before the system prompt, or change what is cached of it.
const PREFIX_FIELDS: [&str; 3] = ["tools", "mcp_servers", "speed"];

/// What the API adds of its own for roles and ends of messages, at most.
const FRAME: u64 = 50;

/// What the API adds of its own to explain the use of tools, at most.
const TOOL_FRAME: u64 = 1_000;

/// A rough count of a text's tokens, made offline: two for each seven ASCII characters, one for every other character.
///
/// The count is meant for a warning and for a price on the safe side, not for a bill.
#[must_use]
pub fn estimate_tokens(text: &str) -> u64 {
    let (ascii, others) = characters(text);
    (ascii * 2).div_ceil(7) + others
}

/// Hardly fewer tokens than this: five ASCII characters a token, two others.
fn least_tokens(text: &str) -> u64 {
    let (ascii, others) = characters(text);
    ascii / 5 + others / 2
}

/// Hardly more tokens than this: two for five ASCII characters, and for any other a token less than it has bytes.
fn most_tokens(text: &str) -> u64 {
    let (ascii, others) = characters(text);
    (ascii * 2).div_ceil(5) + (text.len() as u64 - ascii - others)
}

/// How many characters are ASCII, and how many are not.
fn characters(text: &str) -> (u64, u64) {
    let ascii = text.bytes().filter(u8::is_ascii).count() as u64;
    let others = text.chars().filter(|c| !c.is_ascii()).count() as u64;
    (ascii, others)
}

/// The tokens up to the end of each block of the system prompt, those of the fields before it included.
#[must_use]
pub fn block_ends(request: &Request) -> Vec<u64> {
    let blocks = request.system.iter();
    let ends = blocks.scan(field_tokens(&request.extra), |end, block| {
        *end += estimate_tokens(&block.text);
        Some(*end)
    });
    ends.collect()
}

/// The tokens of a whole request.
#[must_use]
pub fn input_tokens(request: &Request) -> u64 {
    let system = block_ends(request).last().copied();
    let before = system.unwrap_or_else(|| field_tokens(&request.extra));
    let so_far = request.so_far.iter().map(|blocks| estimate_tokens(blocks));
    before + estimate_tokens(&request.prompt) + so_far.sum::<u64>()
}

/// The tokens of those body fields that stand before the system prompt.
#[must_use]
pub fn field_tokens(extra: &[(String, String)]) -> u64 {
    let fields = prefix_fields(extra).map(|(_, value)| estimate_tokens(value));
    fields.sum()
}

/// The body fields that stand before the system prompt, or change what is cached of it.
pub fn prefix_fields(extra: &[(String, String)]) -> impl Iterator<Item = &(String, String)> {
    let stands_before = |field: &&(String, String)| PREFIX_FIELDS.contains(&field.0.as_str());
    extra.iter().filter(stands_before)
}

impl Models {
    /// What a request will take: its tokens between two bounds, and dollars where the price is known.
    #[must_use]
    pub fn estimate(&self, request: &Request) -> Estimate {
        let texts = || {
            let system = request.system.iter().map(|block| block.text.as_str());
            let so_far = request.so_far.iter().map(String::as_str);
            system.chain(so_far).chain([request.prompt.as_str()])
        };
        let prefix = || prefix_fields(&request.extra).map(|(_, json)| json.as_str());
        let all_fields = request.extra.iter().map(|(_, json)| json.as_str());
        let growth = growth(request);
        let frame = if request.extra.iter().any(|(name, _)| name == "tools") {
            FRAME + TOOL_FRAME
        } else {
            FRAME
        };
        let tokens_low = texts().chain(prefix()).map(least_tokens).sum();
        let tokens_high = frame + texts().chain(all_fields).map(most_tokens).sum::<u64>();
        let output_max = u64::from(request.max_tokens);
        let cost = |usage: &Usage| self.cost(&request.model, usage, Terms::of(request));
        Estimate {
            tokens_low,
            tokens: input_tokens(request),
            tokens_high,
            output_max,
            cost_low: cost(&cheapest(request, tokens_low)),
            cost: cost(&likely(request)),
            cost_high: self.dearest(request, tokens_high),
            growth,
        }
    }

    /// The same, once the API has counted the input: each cached part counts as written anew.
    #[must_use]
    pub fn counted(&self, request: &Request, tokens: u64) -> Estimate {
        let cost = |usage: &Usage| self.cost(&request.model, usage, Terms::of(request));
        let dearest = self.dearest(request, tokens);
        Estimate {
            tokens_low: tokens,
            tokens,
            tokens_high: tokens,
            output_max: u64::from(request.max_tokens),
            cost_low: cost(&cheapest(request, tokens)),
            cost: dearest,
            cost_high: dearest,
            growth: growth(request),
        }
    }

    /// Dollars for so many tokens of input at the dearest price that the request may be billed at, and all the output.
    fn dearest(&self, request: &Request, tokens: u64) -> Option<Dollars> {
        let output_tokens = u64::from(request.max_tokens);
        let plain = Usage {
            input_tokens: tokens,
            output_tokens,
            ..Usage::default()
        };
        let usage = match longest_life(request) {
            None => plain,
            Some(CacheTtl::FiveMinutes) => Usage {
                input_tokens: 0,
                cache_write_5m_tokens: tokens,
                ..plain
            },
            Some(CacheTtl::OneHour) => Usage {
                input_tokens: 0,
                cache_write_1h_tokens: tokens,
                ..plain
            },
        };
        self.cost(&request.model, &usage, Terms::of(request))
    }
}

/// All that can be read from the cache is, and nothing is answered.
fn cheapest(request: &Request, tokens: u64) -> Usage {
    match longest_life(request) {
        None => Usage {
            input_tokens: tokens,
            ..Usage::default()
        },
        Some(CacheTtl::FiveMinutes | CacheTtl::OneHour) => Usage {
            cache_read_tokens: tokens,
            ..Usage::default()
        },
    }
}

/// A cached system prompt is billed as a write unless an entry is alive, and offline nobody knows.
fn likely(request: &Request) -> Usage {
    let of_life = |life| {
        let written = written(request).into_iter().filter(|(_, ttl)| *ttl == life);
        written.map(|(tokens, _)| tokens).sum::<u64>()
    };
    let (short_lived, long_lived) = (of_life(CacheTtl::FiveMinutes), of_life(CacheTtl::OneHour));
    Usage {
        input_tokens: input_tokens(request) - short_lived - long_lived,
        cache_write_5m_tokens: short_lived,
        cache_write_1h_tokens: long_lived,
        output_tokens: u64::from(request.max_tokens),
        ..Usage::default()
    }
}

/// The tokens between each breakpoint of the system prompt and the one before it, with its life.
fn written(request: &Request) -> Vec<(u64, CacheTtl)> {
    let mut before = 0;
    let blocks = request.system.iter().zip(block_ends(request));
    let written = blocks.filter_map(|(block, end)| {
        let life = block.cache?;
        Some((end - std::mem::replace(&mut before, end), life))
    });
    written.collect()
}

/// The longest life of any cache breakpoint, also of those in body fields; `None` if there is none.
fn longest_life(request: &Request) -> Option<CacheTtl> {
    let system = request.system.iter().filter_map(|block| block.cache);
    // The decoder writes them as JSON, without a blank inside.
    let fields = request.extra.iter().filter_map(|(name, json)| {
        let is_set = name == "cache_control" || json.contains("cache_control");
        let life = if json.contains("\"1h\"") {
            CacheTtl::OneHour
        } else {
            CacheTtl::FiveMinutes
        };
        is_set.then_some(life)
    });
    let lives = system.chain(fields);
    lives.max_by_key(|life| *life == CacheTtl::OneHour)
}

/// Tools with a `type` of their own run on the server; a tool of ours has a schema, and nobody runs it.
fn growth(request: &Request) -> Growth {
    let runs = request
        .extra
        .iter()
        .any(|(name, json)| match name.as_str() {
            "mcp_servers" => true,
            "tools" => {
                let tools: Vec<serde_json::Value> = serde_json::from_str(json).unwrap_or_default();
                tools
                    .iter()
                    .any(|tool| tool.get("type").is_some_and(|kind| kind != "custom"))
            }
            _ => false,
        });
    if runs { Growth::Tools } else { Growth::None }
}

#[cfg(test)]
mod tests;
