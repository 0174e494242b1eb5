//! YAML with a place for every key and value.
//!
//! The parser crate is used here, in [`super::raw`] and [`super::explain`], nowhere else. Budgets bound what any
//! text can cost; a repeated key is kept, so that the decoder can show both.

use std::ops::Range;
use std::sync::Arc;

use serde_yaml::options::{DuplicateKeyPolicy, NonFiniteFloatPolicy};
use serde_yaml::{Location, Options, Spanned};

use super::explain::{YamlError, explain};
use super::raw::Raw;
use super::source::{Place, Source};

/// Collections within collections, flow and block: ours need six. More would cost stack.
pub(super) const MAX_DEPTH: usize = 32;
/// Keys, values and collections in one file: 10,000 jobs of twenty fields each fit.
pub(super) const MAX_NODES: usize = 500_000;
/// Nodes that aliases may add; a bomb of nine levels stops here within milliseconds.
pub(super) const MAX_REPLAYED: usize = 20_000;

/// Bytes of all keys and values, those of aliases again for each: twice the largest file.
const MAX_SCALAR_BYTES: usize = 32 * 1_024 * 1_024;

/// A value and where it stands.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// A scalar as written, quotes included; the first character of a collection.
    pub place: Place,
    /// Where `*name` stands, if the value came through an alias or a merge key; `place` is then its definition.
    pub alias: Option<Place>,
    /// The value.
    pub value: Value,
}

/// What YAML knows.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// `~`, `null` or nothing at all.
    Null,
    /// `true` or `false`; YAML 1.1's `yes` and `off` are texts.
    Bool(bool),
    /// A whole number.
    Int(i128),
    /// Any other number.
    Float(f64),
    /// A text; numbers with leading zeros or underscores are texts too.
    Text(String),
    /// A list.
    List(Vec<Node>),
    /// A map, in the order of the file; a key may be repeated.
    Map(Vec<Entry>),
}

/// One key and its value.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// The key.
    pub key: Node,
    /// The value.
    pub value: Node,
}

impl Node {
    /// The entries of a map; none of anything else.
    pub fn entries(&self) -> &[Entry] {
        match &self.value {
            Value::Map(entries) => entries,
            Value::Null
            | Value::Bool(_)
            | Value::Int(_)
            | Value::Float(_)
            | Value::Text(_)
            | Value::List(_) => &[],
        }
    }

    /// The value's kind in words, for messages.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self.value {
            Value::Null => "nothing",
            Value::Bool(_) => "true or false",
            Value::Int(_) | Value::Float(_) => "a number",
            Value::Text(_) => "a text",
            Value::List(_) => "a list",
            Value::Map(_) => "a map",
        }
    }
}

/// Parses a source. Any bytes give a tree or an error, never a panic.
///
/// # Errors
///
/// The text is no YAML, holds several documents, or exceeds a budget.
pub fn parse(source: &Arc<Source>) -> Result<Node, YamlError> {
    parse_within(source, MAX_NODES)
}

fn parse_within(source: &Arc<Source>, max_nodes: usize) -> Result<Node, YamlError> {
    let raw: Spanned<Raw> = serde_yaml::from_str_with_options(source.text(), options(max_nodes))
        .map_err(|error| {
            let at = error.location().filter(|at| at.line() > 0);
            let place = at.map(|at| source.place(byte_span(source, &at)));
            explain(source, &error, place)
        })?;
    Ok(node(source, raw))
}

fn options(max_nodes: usize) -> Options {
    serde_yaml::options! {
        strict_booleans: true,
        leading_zero_numbers_as_strings: true,
        underscored_numbers_as_strings: true,
        duplicate_keys: DuplicateKeyPolicy::PassThrough,
        non_finite_float_policy: NonFiniteFloatPolicy::AsString,
        with_snippet: false,
        alias_limits: serde_yaml::alias_limits! { max_total_replayed_events: MAX_REPLAYED },
        budget: serde_yaml::budget! {
            max_depth: MAX_DEPTH,
            flow_nesting_limit: MAX_DEPTH,
            max_nodes: max_nodes,
            max_events: 2 * max_nodes,
            max_total_scalar_bytes: MAX_SCALAR_BYTES,
            // One anchor may serve a hundred jobs: what aliases cost is bounded above.
            enforce_alias_anchor_ratio: false,
        },
    }
}

fn node(source: &Arc<Source>, raw: Spanned<Raw>) -> Node {
    // For an alias the definition is the place where a mistake can be mended.
    let span = byte_span(source, &raw.defined);
    let alias = (raw.referenced != raw.defined).then(|| byte_span(source, &raw.referenced));
    let value = match raw.value {
        Raw::Scalar(value) => value,
        Raw::List(items) => Value::List(items.into_iter().map(|item| node(source, item)).collect()),
        Raw::Map(entries) => Value::Map(
            entries
                .into_iter()
                .map(|(key, value)| Entry {
                    key: node(source, key),
                    value: node(source, value),
                })
                .collect(),
        ),
    };
    Node {
        place: source.place(trimmed(source.text(), span)),
        alias: alias.map(|span| source.place(span)),
        value,
    }
}

fn byte_span(source: &Source, location: &Location) -> Range<usize> {
    let span = location.span();
    if let (Some(offset), Some(length)) = (span.byte_offset(), span.byte_len()) {
        let (offset, length) = (index(offset), index(length));
        return offset..offset.saturating_add(length);
    }
    let line = source.line_span(index(location.line()));
    let column = index(location.column()).saturating_sub(1);
    let start = source.text()[line.clone()]
        .char_indices()
        .nth(column)
        .map_or(line.end, |(at, _)| line.start + at);
    let width = source.text()[start..]
        .chars()
        .next()
        .filter(|c| *c != '\n')
        .map_or(0, char::len_utf8);
    start..start + width
}

fn index(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// A block text ends after its last line break; a mark should end before it.
fn trimmed(text: &str, span: Range<usize>) -> Range<usize> {
    let Some(inside) = text.get(span.clone()) else {
        return span;
    };
    span.start..span.start + inside.trim_end_matches(['\n', '\r', ' ']).len()
}

#[cfg(test)]
mod tests;
