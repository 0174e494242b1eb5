//! `dry-run --count`: the tokens of a request as the API counts them.

use std::sync::Arc;

use super::{CliError, Context, asked};
use crate::clock::SystemClock;
use crate::config::Config;
use crate::job::Request;

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
