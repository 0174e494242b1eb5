//! `dry-run --count`: the tokens of a request as the API counts them.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{CliError, Context, asked, dry_run, prompts};
use crate::answer::Usage;
use crate::anthropic::Models;
use crate::clock::SystemClock;
use crate::config::Config;
use crate::job::{CacheTtl, Request};

/// Asks the API, once; whoever asks is a person, so that no budget is spent.
///
/// # Errors
/// No secret, no client, or no answer.
pub fn ask(context: &Context, config: &Config, request: &Request) -> Result<u64, CliError> {
    context.require_key(config, &request.key)?;
    let client = context.client(config, None, Arc::new(SystemClock::new()))?;
    let counted = context.block_on(async { Ok(client.count_tokens(request).await) })?;
    counted.map_err(|failure| {
        let what = "the tokens cannot be counted";
        asked::broken(&request.key, what, &failure, context.now())
    })
}

/// The count and what it costs at most, in a line.
#[must_use]
pub fn line(request: &Request, tokens: u64) -> String {
    let cost = cost_usd(request, tokens).map_or_else(
        || "unknown price".to_owned(),
        |cost| format!("about ${cost:.4} if all of it is used"),
    );
    format!(
        "counted   {tokens} input tokens (by the API, and still an estimate by its own words), at most {} output: {cost}",
        request.max_tokens
    )
}

/// The same for programs, in the place of the estimate.
#[must_use]
pub fn json(request: &Request, tokens: u64) -> Value {
    json!({
        "input_tokens": tokens,
        "counted_by": "api",
        "max_output_tokens": request.max_tokens,
        "cost_usd": cost_usd(request, tokens),
    })
}

/// Dollars with the whole output, and with every cached part written anew: offline nobody knows what is in the cache.
fn cost_usd(request: &Request, tokens: u64) -> Option<f64> {
    // The API counts the whole; the parts are estimated, and stretched to fit it.
    let whole = prompts::input_tokens(request).max(1);
    let written = |life| {
        let parts = dry_run::written(request).into_iter();
        let of_life = parts.filter(|(_, ttl)| *ttl == life);
        let estimated = of_life.map(|(part, _)| part).sum::<u64>();
        estimated.saturating_mul(tokens) / whole
    };
    let (short, long) = (written(CacheTtl::FiveMinutes), written(CacheTtl::OneHour));
    let usage = Usage {
        input_tokens: tokens.saturating_sub(short).saturating_sub(long),
        cache_write_5m_tokens: short,
        cache_write_1h_tokens: long,
        output_tokens: u64::from(request.max_tokens),
        ..Usage::default()
    };
    Models::embedded().cost_usd(&request.model, &usage)
}
