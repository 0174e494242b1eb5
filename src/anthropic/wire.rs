//! The wire types of `POST /v1/messages`: the body that we send and the Message that comes back.
//!
//! The API may add fields, enum values and block types at any time. So unknown
//! fields are ignored, and a counter or word of an unexpected type counts as
//! missing instead of spoiling an answer.

use serde::de::IgnoredAny;
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::answer::{Answer, StopReason};
use crate::job::{Delivery, Request, SystemBlock};

use super::blocks;
use super::usage::{Counters, counters};

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
    /// What the model wrote before it paused is no list of content blocks.
    #[error("part {part} of the paused answer is no JSON list: {problem}")]
    SoFar {
        /// Which part, counted from 1.
        part: usize,
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
/// file. What the model wrote before it paused follows the user message as one assistant message.
///
/// # Errors
/// [`BodyError::Extra`], [`BodyError::SoFar`] and [`BodyError::WholeTooLong`].
///
/// # Panics
/// Never: what is put together was read as JSON before.
pub fn body(request: &Request) -> Result<Value, BodyError> {
    let body = Body::checked(request)?;
    Ok(serde_json::to_value(&body).expect("a body of JSON texts is JSON"))
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

/// The bytes of [`body`]; the blocks of a paused answer are byte by byte what came.
///
/// # Errors
/// Those of [`body`], and [`BodyError::TooLarge`].
///
/// # Panics
/// Never, as [`body`].
pub fn body_bytes(request: &Request) -> Result<Vec<u8>, BodyError> {
    let body = Body::checked(request)?;
    let bytes = serde_json::to_vec(&body).expect("a body of JSON texts is JSON");
    if bytes.len() > MAX_BODY_BYTES {
        return Err(BodyError::TooLarge { found: bytes.len() });
    }
    Ok(bytes)
}

/// The body of a request, before it takes the form of bytes or of a value.
pub(super) struct Body<'a> {
    /// Everything before the messages.
    fields: Map<String, Value>,
    prompt: &'a str,
    /// The blocks that the model wrote before it paused.
    so_far: Vec<&'a RawValue>,
    delivery: Delivery,
}

/// The assistant message that goes on.
#[derive(Serialize)]
struct Assistant<'a> {
    role: &'static str,
    content: &'a [&'a RawValue],
}

impl<'a> Body<'a> {
    /// The body of a request that is sent by itself.
    fn checked(request: &'a Request) -> Result<Self, BodyError> {
        if request.delivery == Delivery::Whole && request.max_tokens > MAX_TOKENS_WHOLE {
            return Err(BodyError::WholeTooLong {
                found: request.max_tokens,
            });
        }
        Self::new(request, request.delivery)
    }

    /// The body of a request that is a part of a batch: nobody waits on a connection, so it may be long.
    pub fn in_batch(request: &'a Request) -> Result<Self, BodyError> {
        Self::new(request, Delivery::Whole)
    }

    fn new(request: &'a Request, delivery: Delivery) -> Result<Self, BodyError> {
        let mut fields = Map::new();
        fields.insert("model".to_owned(), json!(request.model));
        fields.insert("max_tokens".to_owned(), json!(request.max_tokens));
        if !request.system.is_empty() {
            fields.insert("system".to_owned(), system_value(&request.system));
        }
        for (field, text) in &request.extra {
            if OWN_FIELDS.contains(&field.as_str()) {
                continue;
            }
            let value = serde_json::from_str(text).map_err(|error| BodyError::Extra {
                field: field.clone(),
                problem: error.to_string(),
            })?;
            fields.insert(field.clone(), value);
        }
        let mut so_far = Vec::new();
        for (index, list) in request.so_far.iter().enumerate() {
            let blocks: Vec<&RawValue> =
                serde_json::from_str(list).map_err(|error| BodyError::SoFar {
                    part: index + 1,
                    problem: error.to_string(),
                })?;
            so_far.extend(blocks);
        }
        Ok(Self {
            fields,
            prompt: &request.prompt,
            so_far,
            delivery,
        })
    }
}

impl Serialize for Body<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut body = serializer.serialize_map(None)?;
        for (name, value) in &self.fields {
            body.serialize_entry(name, value)?;
        }
        let user = json!({ "role": "user", "content": self.prompt });
        if self.so_far.is_empty() {
            body.serialize_entry("messages", &[user])?;
        } else {
            let assistant = Assistant {
                role: "assistant",
                content: &self.so_far,
            };
            body.serialize_entry("messages", &(user, assistant))?;
        }
        if self.delivery == Delivery::Stream {
            body.serialize_entry("stream", &true)?;
        }
        body.end()
    }
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
    /// Blocks of many types, as they came; `None` if there are none or `null`.
    #[serde(default)]
    pub content: Option<Box<RawValue>>,
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
        let content = self.content.as_deref().map_or("null", RawValue::get);
        let (text, tool_errors) = blocks::read(content)?;
        let stop_reason = StopReason::from(self.stop_reason.as_deref().unwrap_or("null"));
        let paused = (stop_reason == StopReason::PauseTurn).then(|| blocks::list(content));
        Some(Answer {
            id: self.id.unwrap_or_default(),
            model: self.model.unwrap_or_default(),
            text,
            stop_reason,
            usage: self.usage.and_then(|counters| counters.usage()),
            paused,
            tool_errors,
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

#[cfg(test)]
mod tests;
