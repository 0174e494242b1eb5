//! What the API may refuse in a request, whatever its texts say.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::job::CacheTtl;

/// What a job asks of the API, as far as some of it cannot stand together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shape {
    /// Which step of a chain asks for it, by its name; `None` for a job with one prompt.
    pub step: Option<String>,
    /// The model's id as the job names it.
    pub model: String,
    /// What the model takes; `None` if it is not known, and then nothing is said of it.
    pub limits: Option<Arc<Limits>>,
    /// The version of the API, a date such as `2023-06-01`.
    pub version: String,
    /// The most tokens that the answer may have.
    pub max_tokens: u32,
    /// What the job says of thinking; `None` leaves it to the model.
    pub thinking: Option<Thinking>,
    /// The sampling parameters that it sets, by their fields.
    pub sampling: Vec<Sampling>,
    /// Whether the model may answer without a tool.
    pub tool_choice: ToolChoice,
    /// Whether it asks for a region.
    pub region: Option<String>,
    /// The cache breakpoints, in the order in which the API reads them.
    pub breakpoints: Vec<Breakpoint>,
}

/// What a model takes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Limits {
    /// The most tokens of output; `None` if unknown.
    pub max_output_tokens: Option<u64>,
    /// What it refuses.
    pub refuses: BTreeSet<Refusal>,
}

/// What some models refuse and others take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Refusal {
    /// Sampling parameters other than the default.
    Sampling,
    /// Thinking with a budget of tokens.
    EnabledThinking,
    /// Thinking that the model measures out by itself.
    AdaptiveThinking,
    /// An answer without thinking: it always thinks.
    DisabledThinking,
    /// A tool that must be used: it always thinks.
    ForcedTool,
    /// A region in which to answer.
    Region,
}

/// What a job says of thinking.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Thinking {
    /// The model measures it out.
    Adaptive,
    /// None.
    Disabled,
    /// Up to so many tokens; `None` if the job does not say how many.
    Enabled(Option<u64>),
}

/// A sampling parameter that a job sets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sampling {
    /// Its field.
    pub field: String,
    /// Whether it is set to what holds without it.
    pub is_default: bool,
}

/// Whether a model may answer without a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolChoice {
    /// It may.
    Free,
    /// It must use one.
    Forced,
}

/// A place up to which the API caches a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Breakpoint {
    /// The field in which it stands.
    pub field: &'static str,
    /// How long the entry lives.
    pub life: CacheTtl,
}
