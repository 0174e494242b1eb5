//! The wire types of `POST /v1/messages`: the body that we send and the Message that comes back.
//!
//! The API may add fields, enum values and block types at any time. So unknown
//! fields are ignored, and a counter or word of an unexpected type counts as
//! missing instead of spoiling an answer.

use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value, json};

use crate::answer::{Answer, StopReason, Usage};
use crate::job::{Delivery, Request, SystemBlock};

/// The API's limit for the body of one request, in bytes.
pub const MAX_BODY_BYTES: usize = 32 * 1024 * 1024;

/// The most `max_tokens` that may be asked for without streaming.
///
/// The official clients estimate 3600 s × `max_tokens` / 128000 and refuse above 600 s: networks drop
/// connections that stay silent for so long, and tell neither side.
pub const MAX_TOKENS_WHOLE: u32 = 21_333;

/// The body fields that stand in [`Request`] itself; `extra` cannot override them.
const OWN_FIELDS: [&str; 5] = ["model", "max_tokens", "system", "messages", "stream"];

/// Why a request cannot become a body.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BodyError {
    /// An extra field holds no JSON.
    #[error("`request.{field}` holds no JSON: {problem}")]
    Extra {
        /// The field's name.
        field: String,
        /// What the parser says.
        problem: String,
    },
    /// Too many tokens for an answer in one piece.
    #[error(
        "`max_tokens` {found} is over {MAX_TOKENS_WHOLE}, the most that is safe without streaming; \
         let the answer come as a stream or lower `max_tokens`"
    )]
    WholeTooLong {
        /// The request's `max_tokens`.
        found: u32,
    },
    /// More bytes than the API takes.
    #[error(
        "the request body is {found} bytes, over the API's limit of {MAX_BODY_BYTES}; shorten the inputs"
    )]
    TooLarge {
        /// Its size in bytes.
        found: usize,
    },
}

/// The JSON body of a request, with its fields in the order of the documentation.
///
/// A field of `extra` that the request itself has a place for is left out: `config` refuses it with a place in the
/// file.
///
/// # Errors
/// [`BodyError::Extra`] and [`BodyError::WholeTooLong`].
pub fn body(request: &Request) -> Result<Value, BodyError> {
    if request.delivery == Delivery::Whole && request.max_tokens > MAX_TOKENS_WHOLE {
        return Err(BodyError::WholeTooLong {
            found: request.max_tokens,
        });
    }
    let mut body = Map::new();
    body.insert("model".to_owned(), json!(request.model));
    body.insert("max_tokens".to_owned(), json!(request.max_tokens));
    if !request.system.is_empty() {
        body.insert("system".to_owned(), system_value(&request.system));
    }
    for (field, text) in &request.extra {
        if OWN_FIELDS.contains(&field.as_str()) {
            continue;
        }
        let value = serde_json::from_str(text).map_err(|error| BodyError::Extra {
            field: field.clone(),
            problem: error.to_string(),
        })?;
        body.insert(field.clone(), value);
    }
    body.insert(
        "messages".to_owned(),
        json!([{ "role": "user", "content": request.prompt }]),
    );
    if request.delivery == Delivery::Stream {
        body.insert("stream".to_owned(), Value::Bool(true));
    }
    Ok(Value::Object(body))
}

/// The body fields that count toward the input of a request, and that its count takes.
const COUNTED_FIELDS: [&str; 8] = [
    "model",
    "system",
    "messages",
    "thinking",
    "output_config",
    "tools",
    "tool_choice",
    "cache_control",
];

/// The body with which the tokens of a request are counted: the same, without what says how to answer.
///
/// # Errors
/// Those of [`body`].
pub fn count_body(request: &Request) -> Result<Value, BodyError> {
    let mut body = body(request)?;
    if let Some(fields) = body.as_object_mut() {
        fields.retain(|name, _| COUNTED_FIELDS.contains(&name.as_str()));
    }
    Ok(body)
}

/// The bytes of [`body`].
///
/// # Errors
/// Those of [`body`], and [`BodyError::TooLarge`].
pub fn body_bytes(request: &Request) -> Result<Vec<u8>, BodyError> {
    let bytes = body(request)?.to_string().into_bytes();
    if bytes.len() > MAX_BODY_BYTES {
        return Err(BodyError::TooLarge { found: bytes.len() });
    }
    Ok(bytes)
}

/// A plain string if there is one block without a breakpoint, and else a list of text blocks.
fn system_value(blocks: &[SystemBlock<String>]) -> Value {
    match blocks {
        [SystemBlock { text, cache: None }] => json!(text),
        blocks => blocks.iter().map(system_block).collect(),
    }
}

fn system_block(block: &SystemBlock<String>) -> Value {
    let mut value = json!({ "type": "text", "text": block.text });
    if let Some(ttl) = block.cache {
        value["cache_control"] = json!({ "type": "ephemeral", "ttl": ttl.as_str() });
    }
    value
}

/// A Message as it comes in one piece.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct Message {
    /// `message`; anything else is no Message.
    #[serde(default, rename = "type", deserialize_with = "word")]
    pub kind: Option<String>,
    /// The message id.
    #[serde(default, deserialize_with = "word")]
    pub id: Option<String>,
    /// The model that answered.
    #[serde(default, deserialize_with = "word")]
    pub model: Option<String>,
    /// Blocks of many types; only `text` blocks are read.
    #[serde(default)]
    pub content: Value,
    /// Why it stopped; null means broken.
    #[serde(default, deserialize_with = "word")]
    pub stop_reason: Option<String>,
    /// The counters.
    #[serde(default, deserialize_with = "counters")]
    pub usage: Option<Counters>,
}

impl Message {
    /// Reads a body: only a JSON object in UTF-8 can be a Message.
    ///
    /// # Errors
    /// What is no JSON; an `is_eof` error is a body that was cut, or garbled from there on.
    pub fn read(body: &[u8]) -> serde_json::Result<Self> {
        // `serde` alone does not look at the bytes of fields that nobody reads.
        let valid = body.utf8_chunks().next().map_or("", |chunk| chunk.valid());
        if is_object(body) {
            let message = serde_json::from_str(valid)?;
            return Ok(if valid.len() == body.len() {
                message
            } else {
                Self::default()
            });
        }
        serde_json::from_str::<IgnoredAny>(valid)?;
        Ok(Self::default())
    }

    /// The answer, if the body is a Message.
    ///
    /// A missing `stop_reason` becomes the unknown reason `null`, which no one takes for complete.
    #[must_use]
    pub fn into_answer(self) -> Option<Answer> {
        if self.kind.as_deref() != Some("message") {
            return None;
        }
        Some(Answer {
            id: self.id.unwrap_or_default(),
            model: self.model.unwrap_or_default(),
            text: text_of(&self.content),
            stop_reason: StopReason::from(self.stop_reason.as_deref().unwrap_or("null")),
            usage: self.usage.and_then(|counters| counters.usage()),
            paused: None,
            tool_errors: Vec::new(),
        })
    }
}

/// The `text` blocks in order, joined.
fn text_of(content: &Value) -> String {
    let blocks = content.as_array().map(Vec::as_slice).unwrap_or_default();
    let texts = blocks.iter().filter(|block| block["type"] == "text");
    texts.filter_map(|block| block["text"].as_str()).collect()
}

/// The token counters of a Message or of an event, each known or not.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
pub struct Counters {
    /// Tokens after the last cache breakpoint.
    #[serde(default, deserialize_with = "count")]
    pub input_tokens: Option<u64>,
    /// Tokens written to the cache, for any lifetime.
    #[serde(default, deserialize_with = "count")]
    pub cache_creation_input_tokens: Option<u64>,
    /// Tokens read from the cache.
    #[serde(default, deserialize_with = "count")]
    pub cache_read_input_tokens: Option<u64>,
    /// Billed output, thinking included.
    #[serde(default, deserialize_with = "count")]
    pub output_tokens: Option<u64>,
    /// The writes by lifetime.
    #[serde(default, deserialize_with = "split")]
    pub cache_creation: CacheCreation,
}

/// The cache writes by lifetime.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
pub struct CacheCreation {
    /// For five minutes.
    #[serde(default, deserialize_with = "count")]
    pub ephemeral_5m_input_tokens: Option<u64>,
    /// For one hour.
    #[serde(default, deserialize_with = "count")]
    pub ephemeral_1h_input_tokens: Option<u64>,
}

impl Counters {
    /// Takes the known counters of a later event in place of ours: they are cumulative.
    pub fn replace_with(&mut self, later: Self) {
        self.input_tokens = later.input_tokens.or(self.input_tokens);
        self.cache_creation_input_tokens = later
            .cache_creation_input_tokens
            .or(self.cache_creation_input_tokens);
        self.cache_read_input_tokens = later
            .cache_read_input_tokens
            .or(self.cache_read_input_tokens);
        self.output_tokens = later.output_tokens.or(self.output_tokens);
        let (mine, later) = (&mut self.cache_creation, later.cache_creation);
        mine.ephemeral_5m_input_tokens = later
            .ephemeral_5m_input_tokens
            .or(mine.ephemeral_5m_input_tokens);
        mine.ephemeral_1h_input_tokens = later
            .ephemeral_1h_input_tokens
            .or(mine.ephemeral_1h_input_tokens);
    }

    /// The usage, if input and output are known.
    ///
    /// The cache counters may be missing and are zero then. Writes without a split count as the default lifetime.
    #[must_use]
    pub fn usage(&self) -> Option<Usage> {
        let split = self.cache_creation;
        let short = split.ephemeral_5m_input_tokens.unwrap_or(0);
        let long = split.ephemeral_1h_input_tokens.unwrap_or(0);
        let writes = self
            .cache_creation_input_tokens
            .unwrap_or(short.saturating_add(long));
        let long = long.min(writes);
        Some(Usage {
            input_tokens: self.input_tokens?,
            cache_write_5m_tokens: writes - long,
            cache_write_1h_tokens: long,
            cache_read_tokens: self.cache_read_input_tokens.unwrap_or(0),
            output_tokens: self.output_tokens?,
        })
    }
}

/// Whether JSON is an object, by its first character; `serde` alone would read a list into the fields of a struct.
pub(super) fn is_object(json: &[u8]) -> bool {
    json.trim_ascii_start().first() == Some(&b'{')
}

/// A string; any other type counts as missing.
pub(super) fn word<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    Ok(match Value::deserialize(deserializer)? {
        Value::String(text) => Some(text),
        _ => None,
    })
}

/// Counters; anything that is no object of them counts as missing.
fn counters<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Counters>, D::Error> {
    let value = Value::deserialize(deserializer)?;
    Ok(object(value).and_then(|object| serde_json::from_value(object).ok()))
}

/// The same in a box, for events that almost never have any.
pub(super) fn boxed_counters<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Box<Counters>>, D::Error> {
    Ok(counters(deserializer)?.map(Box::new))
}

/// Writes by lifetime; anything that is no object of them counts as missing.
fn split<'de, D: Deserializer<'de>>(deserializer: D) -> Result<CacheCreation, D::Error> {
    let value = Value::deserialize(deserializer)?;
    let split = object(value).and_then(|object| serde_json::from_value(object).ok());
    Ok(split.unwrap_or_default())
}

/// An object as it is: `serde` alone would read a list into the fields of a struct, one by one.
fn object(value: Value) -> Option<Value> {
    value.is_object().then_some(value)
}

/// A whole number from zero up; anything else counts as missing.
pub(super) fn count<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    Ok(Value::deserialize(deserializer)?.as_u64())
}

#[cfg(test)]
mod tests;
