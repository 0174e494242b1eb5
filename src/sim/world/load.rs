//! What a call is made of, as far as the upstream cares.

use crate::job::CacheTtl;
use crate::price::Estimate;

/// What one call sends.
#[derive(Debug, Clone, PartialEq)]
pub struct StepLoad {
    /// All input tokens, those of the cached part included.
    pub input_tokens: u64,
    /// The part that asks to be cached, if the model caches so much.
    pub cached: Option<CachedPart>,
    /// The most tokens of output.
    pub max_tokens: u32,
    /// What the client reserves for it.
    pub estimate: Estimate,
}

/// The part of a request that the API caches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CachedPart {
    /// Calls with the same mark find each other's entry: it stands for group, model and text.
    pub mark: u64,
    /// Its tokens.
    pub tokens: u64,
    /// How long an entry lives after its last use.
    pub ttl: CacheTtl,
}
