//! What a slot cost.

use super::{About, Told};
use crate::answer::Usage;
use crate::money::Dollars;
use crate::outcome::Run;
use crate::price::prompt_tokens;

/// Tokens and dollars of all runs; an answer of unknown price makes the sum unknown, not zero.
pub(super) fn cost(runs: &[Run]) -> Option<Told> {
    let answered = |run: &&Run| run.stop_reason.is_some() || run.cost_usd.is_some();
    let mut counted = runs.iter().filter(answered).peekable();
    counted.peek()?;
    let (mut usage, mut dollars) = (Usage::default(), Some(Dollars::ZERO));
    for run in counted {
        usage = usage + run.usage.unwrap_or_default();
        dollars = dollars.zip(run.cost_usd).map(|(sum, cost)| sum.plus(cost));
    }
    let read = usage.cache_read_tokens;
    let cached = match read {
        0 => String::new(),
        _ => format!(", {read} of them from a cache"),
    };
    let dollars = dollars.map_or_else(
        || "at a price that is not known".to_owned(),
        |sum| format!("for {sum}"),
    );
    let into = prompt_tokens(&usage);
    Some(Told {
        about: About::Cost,
        at: None,
        text: format!(
            "Counted: {into} tokens in{cached}, {} out, {dollars}.",
            usage.output_tokens
        ),
    })
}
