//! Gathers the events of one stream into an [`Answer`].
//!
//! The answer is whole only with a `stop_reason` and a `message_stop`: an end
//! of the stream before that is a break, however clean the close. Events and
//! deltas of unknown types are passed over.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

use crate::answer::{Answer, StopReason, Usage};

use super::blocks::{self, Blocks};
use super::usage::{Counters, boxed_counters};
use super::wire::{Message, is_object, word};

const NO_START: &str = "the stream ended before `message_start`";

const BEGUN_TWICE: &str = "a message began inside another";

const TORN_BLOCK: &str = "a block of the paused answer is torn, so it cannot be sent back";

const BAD_JSON: &str = "an event of the stream holds invalid JSON";

/// The answer of a stream, as far as it has come.
#[derive(Debug, Default)]
pub struct Gathering {
    stage: Stage,
    id: String,
    model: String,
    /// The text blocks by their index in the message.
    texts: BTreeMap<u64, String>,
    /// What is more than plain text.
    blocks: Blocks,
    counters: Counters,
    stop_reason: Option<String>,
}

/// How a stream failed to bring a whole answer.
#[derive(Debug, Clone, PartialEq)]
pub enum Broken {
    /// It ended or went wrong; what was missing.
    Cut(&'static str),
    /// It brought an `error` event; its data.
    Error(Value),
}

#[derive(Debug, Default)]
enum Stage {
    /// Nothing that counts has come.
    #[default]
    Empty,
    /// `message_start` has come.
    Begun,
    /// `message_stop` has come.
    Stopped,
    /// Nothing further counts.
    Broken(Broken),
}

/// Every field of the known events; none of them is in all.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Event<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    index: Option<u64>,
    #[serde(borrow)]
    delta: Option<Delta<'a>>,
    #[serde(borrow)]
    content_block: Option<Delta<'a>>,
    // Boxed, because almost every event is a delta and has neither.
    message: Option<Box<Message>>,
    #[serde(deserialize_with = "boxed_counters")]
    usage: Option<Box<Counters>>,
    error: Option<IgnoredAny>,
}

/// A delta, or the beginning of a block: of both only the text counts.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Delta<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    text: Cow<'a, str>,
    #[serde(deserialize_with = "word")]
    stop_reason: Option<String>,
}

/// What tells whether an event that does not fit is one that we must understand.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Outline {
    #[serde(rename = "type", deserialize_with = "word")]
    kind: Option<String>,
    delta: Value,
    content_block: Value,
}

impl Gathering {
    /// Nothing gathered.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the data of the next event; after the end or a break it changes nothing.
    pub fn take(&mut self, data: &[u8]) {
        if self.is_over() || data == b"[DONE]" {
            return;
        }
        let Ok(data) = str::from_utf8(data) else {
            self.stage = Stage::Broken(Broken::Cut(BAD_JSON));
            return;
        };
        if is_object(data.as_bytes())
            && let Ok(event) = serde_json::from_str::<Event<'_>>(data)
        {
            self.apply(event, data);
            return;
        }
        match foreign_kind(data) {
            Some(kind) => self.keep(&kind, data),
            None => self.stage = Stage::Broken(Broken::Cut(BAD_JSON)),
        }
    }

    /// Whether nothing that follows can change the result.
    #[must_use]
    pub const fn is_over(&self) -> bool {
        matches!(self.stage, Stage::Stopped | Stage::Broken(_))
    }

    /// What was counted so far; it may be billed even if the stream broke.
    #[must_use]
    pub fn usage(&self) -> Option<Usage> {
        self.counters.usage()
    }

    /// The answer, if it is whole.
    ///
    /// # Errors
    /// How it broke, or what is missing.
    pub fn finish(mut self) -> Result<Answer, Broken> {
        match self.stage {
            Stage::Broken(broken) => return Err(broken),
            Stage::Empty => return Err(Broken::Cut(NO_START)),
            Stage::Begun => return Err(Broken::Cut("the stream ended before `message_stop`")),
            Stage::Stopped => {}
        }
        let Some(reason) = self.stop_reason else {
            return Err(Broken::Cut("the stream ended without a `stop_reason`"));
        };
        let stop_reason = StopReason::from(reason.as_str());
        let tool_errors = self.blocks.take_tool_errors();
        let paused = if stop_reason == StopReason::PauseTurn {
            let list = self.blocks.put_together(&self.texts);
            Some(list.ok_or(Broken::Cut(TORN_BLOCK))?)
        } else {
            None
        };
        Ok(Answer {
            id: self.id,
            model: self.model,
            text: blocks::joined(self.texts.into_values()),
            stop_reason,
            usage: self.counters.usage(),
            paused,
            tool_errors,
        })
    }

    fn apply(&mut self, event: Event<'_>, data: &str) {
        let delta = event.delta.unwrap_or_default();
        let block = event.content_block.unwrap_or_default();
        let index = event.index.unwrap_or_default();
        match &*event.kind {
            "message_start" => self.begin(*event.message.unwrap_or_default()),
            "content_block_start" if block.kind == "text" => {
                self.add_text(index, &block.text);
                self.keep(&event.kind, data);
            }
            "content_block_delta" if delta.kind == "text_delta" => {
                self.add_text(index, &delta.text);
            }
            "content_block_start" | "content_block_delta" => self.keep(&event.kind, data),
            "message_delta" => {
                self.stop_reason = delta.stop_reason.or(self.stop_reason.take());
                self.counters.replace_with(*event.usage.unwrap_or_default());
            }
            "message_stop" if matches!(self.stage, Stage::Begun) => self.stage = Stage::Stopped,
            "message_stop" => self.stage = Stage::Broken(Broken::Cut(NO_START)),
            "error" => self.fail(data),
            // Some gateways leave the type out of their own errors.
            "" if event.error.is_some() => self.fail(data),
            _ => {}
        }
    }

    fn fail(&mut self, data: &str) {
        let error = serde_json::from_str(data).unwrap_or_default();
        self.stage = Stage::Broken(Broken::Error(error));
    }

    /// Begins a message; a second one after text is a gateway that asked again, and its text would be joined to the
    /// first.
    fn begin(&mut self, message: Message) {
        let is_under_way = !self.texts.is_empty() || !self.blocks.is_empty();
        if is_under_way || self.stop_reason.is_some() {
            self.stage = Stage::Broken(Broken::Cut(BEGUN_TWICE));
            return;
        }
        self.stage = Stage::Begun;
        self.id = message.id.unwrap_or_default();
        self.model = message.model.unwrap_or_default();
        self.counters
            .replace_with(message.usage.unwrap_or_default());
    }

    /// Keeps what an event says of a block beyond its text; before a message has begun there is none.
    fn keep(&mut self, kind: &str, data: &str) {
        match (kind, &self.stage) {
            ("content_block_start", Stage::Begun) => self.blocks.begin(data),
            ("content_block_delta", Stage::Begun) => self.blocks.grow(data),
            _ => {}
        }
    }

    fn add_text(&mut self, index: u64, text: &str) {
        self.texts.entry(index).or_default().push_str(text);
    }
}

/// The kind of an event that does not fit our types, if it is valid JSON of a kind that we need not understand; empty
/// if it has none.
fn foreign_kind(data: &str) -> Option<String> {
    if !is_object(data.as_bytes()) {
        return serde_json::from_str::<IgnoredAny>(data)
            .ok()
            .map(|_| String::new());
    }
    // An object without an outline is broken, or says one thing twice: its text must not go missing unseen.
    let outline = serde_json::from_str::<Outline>(data).ok()?;
    let kind = outline.kind.unwrap_or_default();
    let is_foreign = match kind.as_str() {
        "content_block_delta" => outline.delta["type"] != "text_delta",
        "content_block_start" => outline.content_block["type"] != "text",
        "message_start" | "message_delta" | "message_stop" | "error" => false,
        _ => true,
    };
    is_foreign.then_some(kind)
}

#[cfg(test)]
mod tests;
