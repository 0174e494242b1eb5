//! Content blocks beyond plain text: what must be sent back after a pause, and the server tools that failed.
//!
//! A paused answer goes on when its blocks are sent back unchanged, also those
//! whose type this version does not know. So they are kept as the text that
//! came. In a stream a block arrives in pieces: [`Blocks`] keeps the pieces of
//! everything but plain text, and puts them together only if the model paused.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};

use super::wire::word;

/// No more failures of server tools are told of one answer.
const MAX_TOOL_ERRORS: usize = 20;

/// How the type of every result of a server tool ends.
const RESULT: &str = "_tool_result";

/// A block by its fields, each as it came.
type Fields = BTreeMap<String, Box<RawValue>>;

/// The blocks of a stream that are more than plain text, as far as they have come.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    by_index: BTreeMap<u64, Block>,
    tool_errors: Vec<String>,
}

/// One block in its pieces.
#[derive(Debug, Default)]
struct Block {
    /// As it stood in `content_block_start`; `None` for text that began without one.
    start: Option<Box<RawValue>>,
    /// The joined pieces of `input`, if any came.
    input: Option<String>,
    /// The joined pieces of `thinking`.
    thinking: String,
    /// The last signature.
    signature: Option<String>,
    /// Citations that came one by one, joined with commas.
    citations: String,
    /// A piece of a known kind could not be read.
    is_torn: bool,
}

/// An event that begins a block or adds to one.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Piece<'a> {
    index: Value,
    #[serde(borrow)]
    content_block: Option<&'a RawValue>,
    #[serde(borrow)]
    delta: Option<&'a RawValue>,
}

/// What a block is, and what a result of a server tool says.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Outline<'a> {
    #[serde(rename = "type", deserialize_with = "word")]
    kind: Option<String>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
}

/// The content of a result that is a failure.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Failed {
    #[serde(deserialize_with = "word")]
    error_code: Option<String>,
}

/// A delta that adds to a block; only one of the fields is there.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Growth<'a> {
    #[serde(borrow)]
    partial_json: Cow<'a, str>,
    #[serde(borrow)]
    thinking: Cow<'a, str>,
    #[serde(borrow)]
    signature: Cow<'a, str>,
    #[serde(borrow)]
    citation: Option<&'a RawValue>,
}

/// The kind of a delta.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Kind {
    #[serde(rename = "type", deserialize_with = "word")]
    kind: Option<String>,
}

impl Blocks {
    /// Whether nothing has come.
    pub fn is_empty(&self) -> bool {
        self.by_index.is_empty()
    }

    /// Takes the data of an event that begins a block.
    pub fn begin(&mut self, data: &str) {
        let Ok(Piece {
            index,
            content_block: Some(start),
            ..
        }) = serde_json::from_str(data)
        else {
            return;
        };
        if is_plain_text(start) {
            return;
        }
        self.tool_errors
            .extend(tool_error(start).filter(|_| self.tool_errors.len() < MAX_TOOL_ERRORS));
        let block = self.by_index.entry(index.as_u64().unwrap_or_default());
        block.or_default().start = Some(start.to_owned());
    }

    /// Takes the data of an event that adds something other than text to a block.
    pub fn grow(&mut self, data: &str) {
        let Ok(Piece {
            index,
            delta: Some(delta),
            ..
        }) = serde_json::from_str(data)
        else {
            return;
        };
        let kind = serde_json::from_str::<Kind>(delta.get()).unwrap_or_default();
        let kind = kind.kind.unwrap_or_default();
        let is_known = [
            "input_json_delta",
            "thinking_delta",
            "signature_delta",
            "citations_delta",
        ]
        .contains(&kind.as_str());
        if is_known {
            let block = self.by_index.entry(index.as_u64().unwrap_or_default());
            block.or_default().grow(&kind, delta);
        }
    }

    /// The server tools that failed, a line each.
    pub fn take_tool_errors(&mut self) -> Vec<String> {
        std::mem::take(&mut self.tool_errors)
    }

    /// The whole content as a JSON list, with the texts that were gathered beside it; `None` if a piece is missing or
    /// cannot be read, so that the blocks could not be sent back as they were.
    pub fn put_together(mut self, texts: &BTreeMap<u64, String>) -> Option<String> {
        for index in texts.keys() {
            self.by_index.entry(*index).or_default();
        }
        let mut list = Vec::with_capacity(self.by_index.len());
        for (index, block) in self.by_index {
            list.push(block.put_together(texts.get(&index))?);
        }
        serde_json::to_string(&list).ok()
    }
}

impl Block {
    fn grow(&mut self, kind: &str, delta: &RawValue) {
        let Ok(growth) = serde_json::from_str::<Growth<'_>>(delta.get()) else {
            self.is_torn = true;
            return;
        };
        match kind {
            "input_json_delta" => {
                let input = self.input.get_or_insert_default();
                input.push_str(&growth.partial_json);
            }
            "thinking_delta" => self.thinking.push_str(&growth.thinking),
            "signature_delta" => self.signature = Some(growth.signature.into_owned()),
            _ => {
                if let Some(citation) = growth.citation {
                    push_comma(&mut self.citations);
                    self.citations.push_str(citation.get());
                }
            }
        }
    }

    fn has_grown(&self) -> bool {
        self.input.is_some()
            || !self.thinking.is_empty()
            || self.signature.is_some()
            || !self.citations.is_empty()
    }

    fn put_together(self, text: Option<&String>) -> Option<Box<RawValue>> {
        if self.is_torn {
            return None;
        }
        let start = match &self.start {
            Some(start) if text.is_none() && !self.has_grown() => return Some(start.clone()),
            Some(start) => start.get(),
            // Only text needs no beginning: of anything else nobody knows what it was.
            None if text.is_some() => r#"{"type":"text"}"#,
            None => return None,
        };
        let mut fields: Fields = serde_json::from_str(start).ok()?;
        if let Some(text) = text.filter(|_| kind_of(&fields).as_deref() == Some("text")) {
            fields.insert("text".to_owned(), raw(text)?);
        }
        if let Some(input) = self.input {
            set_input(&mut fields, input)?;
        }
        if !self.thinking.is_empty() {
            let begun: String = field(&fields, "thinking").unwrap_or_default();
            fields.insert("thinking".to_owned(), raw(&(begun + &self.thinking))?);
        }
        if let Some(signature) = self.signature {
            fields.insert("signature".to_owned(), raw(&signature)?);
        }
        if !self.citations.is_empty() {
            let begun: Vec<Box<RawValue>> = field(&fields, "citations").unwrap_or_default();
            let mut all = begun.iter().fold(String::new(), |mut all, one| {
                push_comma(&mut all);
                all + one.get()
            });
            push_comma(&mut all);
            let all = format!("[{all}{}]", self.citations);
            fields.insert("citations".to_owned(), RawValue::from_string(all).ok()?);
        }
        to_raw_value(&fields).ok()
    }
}

/// The text and the failed tools of the content of a whole Message; `None` if it is no JSON.
pub(super) fn read(content: &str) -> Option<(String, Vec<String>)> {
    let mut content: Value = serde_json::from_str(content).ok()?;
    let blocks = content.as_array_mut().map(Vec::as_mut_slice);
    let blocks = blocks.unwrap_or_default();
    let failed = blocks.iter().filter_map(|block| {
        let kind = block["type"].as_str()?;
        let code = block["content"]["error_code"].as_str()?;
        Some(format!("{}: {code}", kind.strip_suffix(RESULT)?))
    });
    let failed = failed.take(MAX_TOOL_ERRORS).collect();
    let texts = blocks.iter_mut().filter(|block| block["type"] == "text");
    let texts = texts.filter_map(|block| match block.get_mut("text").map(Value::take) {
        Some(Value::String(text)) => Some(text),
        _ => None,
    });
    Some((joined(texts), failed))
}

/// Joins texts; the first is moved, not copied.
pub(super) fn joined(mut texts: impl Iterator<Item = String>) -> String {
    let mut all = texts.next().unwrap_or_default();
    texts.for_each(|text| all.push_str(&text));
    all
}

/// Content as it must be sent back: as it came, if it is a list at all.
pub(super) fn list(content: &str) -> String {
    let is_list = content.starts_with('[');
    (if is_list { content } else { "[]" }).to_owned()
}

/// Whether a block is text and nothing else: its deltas say all of it.
fn is_plain_text(block: &RawValue) -> bool {
    let Ok(fields) = serde_json::from_str::<BTreeMap<Cow<'_, str>, &RawValue>>(block.get()) else {
        return false;
    };
    let is_text = fields
        .get("type")
        .is_some_and(|kind| kind.get() == "\"text\"");
    is_text && fields.keys().all(|name| name == "type" || name == "text")
}

/// Which server tool failed and how, if the block is the result of one that did.
fn tool_error(block: &RawValue) -> Option<String> {
    let outline: Outline<'_> = serde_json::from_str(block.get()).ok()?;
    let kind = outline.kind?;
    let tool = kind.strip_suffix(RESULT)?;
    let content = outline.content.map(RawValue::get)?;
    if !content.starts_with('{') {
        return None;
    }
    let failed: Failed = serde_json::from_str(content).ok()?;
    Some(format!("{tool}: {}", failed.error_code?))
}

/// The input that came in pieces; none at all is an empty object, unless the beginning had one.
fn set_input(fields: &mut Fields, input: String) -> Option<()> {
    let is_blank = input.trim().is_empty();
    if is_blank && fields.contains_key("input") {
        return Some(());
    }
    let input = if is_blank { "{}".to_owned() } else { input };
    fields.insert("input".to_owned(), RawValue::from_string(input).ok()?);
    Some(())
}

fn kind_of(fields: &Fields) -> Option<String> {
    field(fields, "type")
}

fn field<T: for<'any> Deserialize<'any>>(fields: &Fields, name: &str) -> Option<T> {
    serde_json::from_str(fields.get(name)?.get()).ok()
}

fn raw(text: &str) -> Option<Box<RawValue>> {
    to_raw_value(text).ok()
}

fn push_comma(list: &mut String) {
    if !list.is_empty() {
        list.push(',');
    }
}

#[cfg(test)]
mod tests;
