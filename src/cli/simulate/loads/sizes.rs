//! The sizes of a request.

use ring::digest::{Context, SHA256};

use crate::anthropic::Models;
use crate::anthropic::estimate::{block_ends, input_tokens, prefix_fields};
use crate::job::{CacheTtl, GroupId, Request};
use crate::sim::trial::{CachedPart, StepLoad};

/// What one call sends. `other` is the same call at another slot and for another item: if its cached part differs, or
/// if it cannot be made, none is ever read.
pub(super) fn step(
    models: &Models,
    group: &GroupId,
    (request, other): (&Request, Option<&Request>),
) -> StepLoad {
    let mark = |request: &Request, part: &Part| mark(group, request, part.blocks);
    let cached = part(models, request).and_then(|part| {
        let own = mark(request, &part);
        let stays = other.is_some_and(|other| mark(other, &part) == own);
        stays.then_some(CachedPart {
            mark: own,
            tokens: part.tokens,
            ttl: part.ttl,
        })
    });
    StepLoad {
        input_tokens: input_tokens(request),
        cached,
        max_tokens: request.max_tokens,
        estimate: models.estimate(request),
    }
}

/// Whether the model would cache a part of the request.
pub(super) fn asks_for_cache(models: &Models, request: &Request) -> bool {
    part(models, request).is_some()
}

/// The longest part of a request that its model caches.
struct Part {
    /// The number of its blocks of the system prompt.
    blocks: usize,
    tokens: u64,
    ttl: CacheTtl,
}

fn part(models: &Models, request: &Request) -> Option<Part> {
    let least = models.find(&request.model)?.min_cacheable_tokens?;
    let ends = block_ends(request);
    let blocks = request.system.iter().zip(ends).enumerate();
    let mut parts = blocks.rev().filter_map(|(index, (block, tokens))| {
        Some(Part {
            blocks: index + 1,
            tokens,
            ttl: block.cache?,
        })
    });
    parts.find(|part| part.tokens >= least)
}

/// A number that stands for group, model and text of the first blocks.
fn mark(group: &GroupId, request: &Request, blocks: usize) -> u64 {
    let mut context = Context::new(&SHA256);
    let mut add = |text: &str| {
        // The length first, so that no two lists of texts run into the same bytes.
        context.update(&(text.len() as u64).to_le_bytes());
        context.update(text.as_bytes());
    };
    add(group.as_str());
    add(&request.model);
    for (name, json) in prefix_fields(&request.extra) {
        add(name);
        add(json);
    }
    for block in request.system.iter().take(blocks) {
        add(&block.text);
    }
    let hash = context.finish();
    let first = hash.as_ref().first_chunk::<8>();
    u64::from_le_bytes(*first.expect("SHA-256 has 32 bytes"))
}
