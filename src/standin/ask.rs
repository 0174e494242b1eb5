//! A message request as far as the stand-in reads it: what it asks, and what the API would refuse.

use hyper::HeaderMap;
use serde_json::{Value, json};

use crate::anthropic::estimate_tokens;
use crate::job::Delivery;

use super::fault::{ErrorReply, Fault};
use super::reply::Spoken;
use super::text::answer_to;
use super::tools;

/// A message request as far as the stand-in reads it.
pub(super) struct Ask {
    /// The bytes as text.
    pub raw: String,
    body: Value,
}

impl Ask {
    /// Reads a body; one that is no JSON asks for nothing.
    pub fn read(raw: &[u8]) -> Self {
        Self {
            body: serde_json::from_slice(raw).unwrap_or_default(),
            raw: String::from_utf8_lossy(raw).into_owned(),
        }
    }

    /// The model; empty if there is none.
    pub fn model(&self) -> &str {
        self.body["model"].as_str().unwrap_or_default()
    }

    /// How the answer is to travel.
    pub fn delivery(&self) -> Delivery {
        if self.body["stream"] == true {
            Delivery::Stream
        } else {
            Delivery::Whole
        }
    }

    /// The estimated tokens of everything that it says; `None` if its body is no JSON object.
    pub fn tokens(&self) -> Option<u64> {
        let texts = estimate_tokens(&self.prompt()) + estimate_tokens(&self.system());
        self.body.is_object().then_some(texts)
    }

    /// The texts of the messages but for what the model said, a line each.
    pub fn prompt(&self) -> String {
        let messages = self.body["messages"]
            .as_array()
            .map(Vec::as_slice)
            .unwrap_or_default();
        let texts: Vec<String> = messages
            .iter()
            .filter(|message| message["role"] != "assistant")
            .map(|message| text_of(&message["content"]))
            .collect();
        texts.join("\n")
    }

    /// The system prompt.
    pub fn system(&self) -> String {
        text_of(&self.body["system"])
    }

    /// What the model said before it paused, as the request sends it back; `None` if the last word is the user's.
    fn said(&self) -> Option<&[Value]> {
        let last = self.body["messages"].as_array()?.last()?;
        let content = last["content"].as_array().map(Vec::as_slice);
        (last["role"] == "assistant").then(|| content.unwrap_or_default())
    }

    /// What the API would refuse.
    pub fn flaw(&self, headers: &HeaderMap) -> Option<ErrorReply> {
        flaw_of_headers(headers).or_else(|| self.flaw_of_body())
    }

    /// What the API would refuse in the body of a message, or of a part of a batch.
    pub fn flaw_of_body(&self) -> Option<ErrorReply> {
        self.flaw_of_input().or_else(|| {
            let has_limit = self.body["max_tokens"].as_u64().is_some();
            (!has_limit).then(|| invalid(400, "max_tokens: Field required"))
        })
    }

    /// What the API would refuse of a request whose tokens are counted.
    pub fn flaw_of_count(&self, headers: &HeaderMap) -> Option<ErrorReply> {
        let flaw = flaw_of_headers(headers).or_else(|| self.flaw_of_input());
        flaw.or_else(|| {
            let fields = ["max_tokens", "stream"];
            let extra = fields.iter().find(|name| !self.body[**name].is_null())?;
            let message = format!("{extra}: Extra inputs are not permitted");
            Some(invalid(400, &message))
        })
    }

    /// What the API would refuse of model and messages.
    fn flaw_of_input(&self) -> Option<ErrorReply> {
        if !self.body.is_object() {
            return Some(invalid(400, "the request body is not valid JSON"));
        }
        if self.model().is_empty() {
            return Some(invalid(400, "model: Field required"));
        }
        if !self.model().starts_with("claude-") {
            return Some(invalid(404, &format!("model: {}", self.model())));
        }
        let messages = self.body["messages"].as_array();
        if messages.is_none_or(Vec::is_empty) {
            return Some(invalid(400, "messages: at least one message is required"));
        }
        let said = self.said()?;
        (!tools::goes_on(&self.prompt(), said)).then(|| {
            invalid(
                400,
                "messages: the last one is the assistant's and not what an answer paused with",
            )
        })
    }

    /// The tokens that are written to the cache for five minutes and for an hour.
    ///
    /// Each answer finds a cold cache: what stands before a breakpoint of the system prompt is written, never read.
    fn written(&self) -> (u64, u64) {
        let blocks = self.body["system"].as_array().map(Vec::as_slice);
        let (mut pending, mut five, mut hour) = (0, 0, 0);
        for block in blocks.unwrap_or_default() {
            pending += estimate_tokens(block["text"].as_str().unwrap_or_default());
            match block["cache_control"]["ttl"].as_str() {
                Some("1h") => hour += std::mem::take(&mut pending),
                Some(_) => five += std::mem::take(&mut pending),
                None => {}
            }
        }
        (five, hour)
    }

    /// The answer to it.
    pub fn spoken(&self, fault: Option<&Fault>, request_id: &str) -> Spoken {
        let said = self.said().unwrap_or_default();
        let (mut text, mut reason, mut content) = (None, "end_turn".to_owned(), Vec::new());
        match fault {
            Some(Fault::Answer(scripted)) => {
                text.clone_from(&scripted.text);
                reason = scripted.stop_reason.clone().unwrap_or(reason);
            }
            Some(Fault::Pause {}) => {
                content = tools::paused(&self.prompt(), tools::searches(said));
                text = Some(String::new());
                "pause_turn".clone_into(&mut reason);
            }
            Some(Fault::ToolError(error)) => content = tools::failed(error),
            Some(_) | None => {}
        }
        let text = text.unwrap_or_else(|| answer_to(&self.prompt()));
        if !text.is_empty() {
            content.push(json!({ "type": "text", "text": text }));
        }
        Spoken {
            id: request_id.replacen("req_", "msg_", 1),
            model: self.model().to_owned(),
            usage: self.usage(&content),
            content,
            stop_reason: reason,
        }
    }

    /// What an answer with this content counts.
    fn usage(&self, content: &[Value]) -> Value {
        let (prompt, system) = (
            estimate_tokens(&self.prompt()),
            estimate_tokens(&self.system()),
        );
        let (five, hour) = self.written();
        let texts = content
            .iter()
            .filter_map(|block| block["text"].as_str().or(block["thinking"].as_str()));
        let mut usage = json!({
            "input_tokens": (prompt + system).saturating_sub(five + hour),
            "cache_creation_input_tokens": five + hour,
            "cache_read_input_tokens": 0,
            "cache_creation": { "ephemeral_5m_input_tokens": five, "ephemeral_1h_input_tokens": hour },
            "output_tokens": texts.map(estimate_tokens).sum::<u64>(),
            "service_tier": "standard",
        });
        let searches = tools::searches(content);
        if searches > 0 {
            usage["server_tool_use"] = json!({ "web_search_requests": searches });
        }
        usage
    }
}

/// What the API would refuse in the headers, whatever is asked for.
pub(super) fn flaw_of_headers(headers: &HeaderMap) -> Option<ErrorReply> {
    let has = |name: &str| headers.get(name).is_some_and(|value| !value.is_empty());
    match (has("x-api-key"), has("authorization")) {
        (true, false) | (false, true) => {}
        (false, false) => return Some(invalid(401, "x-api-key header is required")),
        (true, true) => {
            return Some(invalid(
                401,
                "x-api-key and authorization cannot be sent together",
            ));
        }
    }
    (!has("anthropic-version")).then(|| invalid(400, "anthropic-version: header is required"))
}

/// A string, or the texts of a list of blocks.
fn text_of(content: &Value) -> String {
    if let Some(text) = content.as_str() {
        return text.to_owned();
    }
    let blocks = content.as_array().map(Vec::as_slice).unwrap_or_default();
    let texts: Vec<&str> = blocks
        .iter()
        .filter_map(|block| block["text"].as_str())
        .collect();
    texts.join("\n")
}

/// An error of the usual shape with a message of its own.
pub(super) fn invalid(status: u16, message: &str) -> ErrorReply {
    ErrorReply {
        status,
        message: Some(message.to_owned()),
        ..ErrorReply::default()
    }
}
