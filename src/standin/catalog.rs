//! What is asked beside the messages: which models there are, and how many tokens a request has.

use std::io;

use bytes::Bytes;
use chrono::{DateTime, SecondsFormat, TimeDelta, Utc};
use hyper::{HeaderMap, Response};
use serde_json::{Value, json};

use crate::anthropic::Models;

use super::api::{Site, any_reply, hung_up, redirect_reply};
use super::ask::{Ask, flaw_of_headers, invalid};
use super::fault::{Endpoint, ErrorReply, Fault};
use super::ledger::Arrival;
use super::reply::{self, Body, error_reply, json_reply};
use super::script::Offered;

/// So many models are on a page if nobody says otherwise, and so many at most.
const PAGE: usize = 20;
const MOST_ON_A_PAGE: usize = 1_000;

/// So long before its end a model is deprecated.
const NOTICE: TimeDelta = TimeDelta::days(60);

/// What is asked of the models.
#[derive(Debug, Clone, Copy)]
pub(super) enum Wanted<'a> {
    /// A page of them, by this query.
    List(&'a str),
    /// The one of this id.
    One(&'a str),
}

impl Site {
    /// The refusal of a request to a model that the script calls gone.
    pub fn gone(&self, ask: &Ask) -> Option<ErrorReply> {
        let model = ask.model();
        let is_gone = self.with_ledger(|ledger| ledger.offered().is_gone(model));
        is_gone.then(|| unknown(model))
    }

    /// Counts the tokens of a request.
    pub async fn count(
        &self,
        headers: &HeaderMap,
        raw: Option<Bytes>,
    ) -> io::Result<Response<Body>> {
        let ask = Ask::read(raw.as_deref().unwrap_or_default());
        let flaw = match raw {
            None => Some(invalid(413, "the body is over 32 MB")),
            Some(_) => ask.flaw_of_count(headers).or_else(|| self.gone(&ask)),
        };
        let fault = self.meets(Endpoint::CountTokens, &ask);
        if let Some(flaw) = flaw {
            return Ok(error_reply(&flaw, "req_standin_count"));
        }
        let counted = json!({ "input_tokens": ask.tokens() });
        let whole = json_reply(200, "req_standin_count", &counted);
        self.send(fault, whole, &counted).await
    }

    /// Tells of the models.
    pub async fn models(
        &self,
        headers: &HeaderMap,
        wanted: Wanted<'_>,
    ) -> io::Result<Response<Body>> {
        let fault = self.meets(Endpoint::Models, &Ask::read(b""));
        if let Some(flaw) = flaw_of_headers(headers) {
            return Ok(error_reply(&flaw, "req_standin_models"));
        }
        let offered = self.with_ledger(|ledger| ledger.offered().clone());
        let now = self.clock().now();
        let told = match wanted {
            Wanted::List(query) => list(&offered, query, now),
            Wanted::One(id) => one(&offered, id, now),
        };
        match told {
            Ok(told) => {
                let whole = json_reply(200, "req_standin_models", &told);
                self.send(fault, whole, &told).await
            }
            Err(error) => Ok(error_reply(&error, "req_standin_models")),
        }
    }

    /// The fault that the script has for a request that is no message.
    fn meets(&self, endpoint: Endpoint, ask: &Ask) -> Option<Fault> {
        let (prompt, system) = (ask.prompt(), ask.system());
        let arrival = Arrival {
            endpoint,
            model: ask.model(),
            texts: [&prompt, &system, &ask.raw],
            at: self.clock().now(),
            age: self.age(),
        };
        self.with_ledger(|ledger| ledger.decide(&arrival)).fault
    }

    /// Sends a reply in one piece, or what the script makes of it.
    async fn send(
        &self,
        fault: Option<Fault>,
        whole: Response<Body>,
        json: &Value,
    ) -> io::Result<Response<Body>> {
        match fault {
            // A rule with any other of these is passed over here.
            None
            | Some(
                Fault::StreamError(_)
                | Fault::Answer(_)
                | Fault::Pause {}
                | Fault::ToolError(_)
                | Fault::Batch(_)
                | Fault::NeverEnds {}
                | Fault::Part(_),
            ) => Ok(whole),
            Some(Fault::Slow(slow)) => {
                self.pass(slow.first_byte).await;
                Ok(whole)
            }
            Some(Fault::Cut(_)) => {
                let body = reply::half(self.clock(), json.to_string().as_bytes());
                let headers = [("content-type", "application/json")];
                Ok(reply::reply(200, body, &headers))
            }
            Some(Fault::Silence(_)) => std::future::pending().await,
            Some(Fault::Error(error)) => Ok(error_reply(&error, "req_standin_fault")),
            Some(Fault::Body(body)) => Ok(any_reply(&body)),
            Some(Fault::Redirect(redirect)) => Ok(redirect_reply(&redirect)),
            Some(Fault::HangUp {}) => Err(hung_up()),
        }
    }
}

fn list(offered: &Offered, query: &str, now: DateTime<Utc>) -> Result<Value, ErrorReply> {
    let value = |name: &str| {
        let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
        pairs.find_map(|(field, value)| (field == name).then_some(value))
    };
    let limit = value("limit").map_or(Ok(PAGE), str::parse);
    let limit = limit
        .ok()
        .filter(|limit| (1..=MOST_ON_A_PAGE).contains(limit));
    let limit = limit.ok_or_else(|| invalid(400, "limit: must be from 1 to 1000"))?;
    let limit = offered.page.map_or(limit, |most| limit.min(most));
    let models = Models::embedded();
    let ids = models.all().iter().map(|model| model.id.as_str());
    let ids: Vec<&str> = ids.filter(|id| !offered.is_gone(id)).collect();
    let start = match value("after_id") {
        None => 0,
        Some(after) => {
            let at = ids.iter().position(|id| *id == after);
            at.ok_or_else(|| invalid(400, "after_id: no such model"))? + 1
        }
    };
    let rest = &ids[start..];
    let page = &rest[..limit.min(rest.len())];
    let data: Vec<Value> = page
        .iter()
        .map(|id| describe(&models, offered, id, now))
        .collect();
    Ok(json!({
        "data": data, "has_more": page.len() < rest.len(),
        "first_id": page.first(), "last_id": page.last(),
    }))
}

fn one(offered: &Offered, id: &str, now: DateTime<Utc>) -> Result<Value, ErrorReply> {
    let models = Models::embedded();
    if models.find(id).is_none() || offered.is_gone(id) {
        return Err(unknown(id));
    }
    Ok(describe(&models, offered, id, now))
}

pub(super) fn unknown(model: &str) -> ErrorReply {
    invalid(404, &format!("model: {model}"))
}

fn describe(models: &Models, offered: &Offered, id: &str, now: DateTime<Utc>) -> Value {
    let model = models.find(id);
    let end = offered.retires.get(id).copied();
    let text = |at: DateTime<Utc>| at.to_rfc3339_opts(SecondsFormat::Secs, true);
    let lifecycle = match end {
        None => "active",
        Some(end) if end > now => "deprecated",
        Some(_) => "retired",
    };
    json!({
        "type": "model", "id": id, "display_name": id, "lifecycle": lifecycle,
        "deprecated_at": end.map(|end| text(end - NOTICE)), "retires_at": end.map(text),
        "max_input_tokens": model.and_then(|model| model.context_tokens),
        "max_tokens": model.and_then(|model| model.max_output_tokens),
    })
}
