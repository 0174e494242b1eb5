//! Message batches: hands them in, asks how far they are, and brings their results.

mod results;

use std::collections::HashSet;
use std::io::{self, Write};
use std::time::Duration;

use chrono::{DateTime, Utc};
use reqwest::{Method, Url};
use secrecy::SecretString;
use serde::{Deserialize, Serialize};

use crate::answer::SendFailure;
use crate::engine::ports::{
    BatchPart, BatchResult, BatchStage, BatchState, Batches, Pending, SubmittedBatch,
};
use crate::job::{Delivery, KeyId};

use super::client::{Asked, Client, Unsendable};
use super::exchange::{Exchange, Expect};
use super::failure::{MAX_WORD, tidy};
use super::redact::redact;
use super::timing::Limits;
use super::wire::{Body, BodyError, is_object, word};
use results::Results;

/// The API's limit for the body of one batch, in bytes.
pub const MAX_BATCH_BYTES: usize = 256 * 1024 * 1024;

/// The API's limit for the parts of one batch.
pub const MAX_BATCH_PARTS: usize = 100_000;

/// The results of a batch may take this long to arrive; the limit between two bytes holds as well.
const RESULTS_PATIENCE: Duration = Duration::from_hours(1);

/// The longest name that a server may give a batch.
const MAX_ID: usize = 200;

/// What in the parts of a batch, or in its name, cannot be sent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BatchError {
    /// No part, or too many.
    #[error("a batch of {found} requests; it takes 1 to {MAX_BATCH_PARTS}")]
    Count {
        /// How many there are.
        found: usize,
    },
    /// The name of a part.
    #[error(
        "the batch has a request named {found:?}; a name is 1 to 64 letters, digits, `-` or `_`"
    )]
    Name {
        /// As given.
        found: String,
    },
    /// Two parts of one name.
    #[error("the batch has two requests named `{name}`; their results could not be told apart")]
    Twice {
        /// The name.
        name: String,
    },
    /// A part with another key than the first.
    #[error("the batch has requests with the keys `{first}` and `{other}`; it is sent with one")]
    Keys {
        /// The key of the first part.
        first: KeyId,
        /// Another.
        other: KeyId,
    },
    /// A part that cannot become a body.
    #[error("the request `{name}` of the batch: {source}")]
    Part {
        /// The part's name.
        name: String,
        /// What is wrong with it.
        source: BodyError,
    },
    /// More bytes than the API takes.
    #[error(
        "the batch is over {MAX_BATCH_BYTES} bytes, the API's limit; hand it in as several or shorten the inputs"
    )]
    TooLarge,
    /// A name of a batch that cannot stand in an address.
    #[error("{found:?} is no name of a batch")]
    Id {
        /// As given.
        found: String,
    },
}

impl Batches for Client {
    fn submit<'a>(
        &'a self,
        parts: &'a [BatchPart],
    ) -> Pending<'a, Result<SubmittedBatch, SendFailure>> {
        Box::pin(self.submit_batch(parts))
    }

    fn look<'a>(
        &'a self,
        key: &'a KeyId,
        id: &'a str,
    ) -> Pending<'a, Result<BatchState, SendFailure>> {
        Box::pin(self.batch_state(Method::GET, key, id, None))
    }

    fn collect<'a>(
        &'a self,
        key: &'a KeyId,
        batch: &'a BatchState,
    ) -> Pending<'a, Result<Vec<BatchResult>, SendFailure>> {
        Box::pin(self.batch_results(key, batch))
    }

    fn cancel<'a>(
        &'a self,
        key: &'a KeyId,
        id: &'a str,
    ) -> Pending<'a, Result<BatchState, SendFailure>> {
        Box::pin(self.batch_state(Method::POST, key, id, Some("cancel")))
    }
}

impl Client {
    async fn submit_batch(&self, parts: &[BatchPart]) -> Result<SubmittedBatch, SendFailure> {
        let body = body_bytes(parts).map_err(Unsendable::from)?;
        let timeouts = parts.iter().map(|part| part.request.timeout);
        // The first byte comes after a body that may take minutes to send.
        let patience = timeouts.max().unwrap_or_default();
        let asked = Asked {
            method: Method::POST,
            url: self.batches_url(),
            key: &parts[0].request.key,
            accept: "application/json",
            body: Some(body),
        };
        let (batch, request_id) = self.batch(asked, patience).await?;
        Ok(SubmittedBatch {
            id: batch.id,
            expires_at: batch.expires_at,
            request_id,
        })
    }

    async fn batch_state(
        &self,
        method: Method,
        key: &KeyId,
        id: &str,
        rest: Option<&str>,
    ) -> Result<BatchState, SendFailure> {
        let asked = Asked {
            method,
            url: self.batch_url(id, rest).map_err(Unsendable::from)?,
            key,
            accept: "application/json",
            body: None,
        };
        let patience = self.settings.first_byte + self.settings.idle;
        let (batch, _) = self.batch(asked, patience).await?;
        Ok(BatchState {
            id: batch.id,
            stage: batch.stage,
            results_url: batch.results_url,
        })
    }

    /// Sends what is answered with a batch.
    async fn batch(
        &self,
        asked: Asked<'_>,
        patience: Duration,
    ) -> Result<(Batch, Option<String>), SendFailure> {
        let (secret, ready) = self.ready(asked)?;
        let limits = Limits {
            first_byte: patience,
            idle: self.settings.idle,
            whole: patience,
        };
        let exchange = self.exchange(limits, secret, self.settings.max_answer_bytes);
        let (head, body) = exchange.fetch(&self.http, ready).await?;
        let batch = Batch::read(&body, secret);
        let batch = batch.ok_or_else(|| head.not_a("batch", &body, secret))?;
        Ok((batch, head.request_id()))
    }

    async fn batch_results(
        &self,
        key: &KeyId,
        batch: &BatchState,
    ) -> Result<Vec<BatchResult>, SendFailure> {
        let (secret, ready) = self.ready(Asked {
            method: Method::GET,
            url: self.results_url(batch).map_err(Unsendable::from)?,
            key,
            accept: "application/x-jsonl, application/json",
            body: None,
        })?;
        let limits = Limits {
            first_byte: self.settings.first_byte,
            idle: self.settings.idle,
            whole: RESULTS_PATIENCE,
        };
        let mut results = Results::new(self.settings.max_answer_bytes, secret);
        // The results have limits of their own, which lose no more than they must.
        let exchange = self.exchange(limits, secret, usize::MAX);
        let taking = exchange.drain(&self.http, ready, |bytes| results.take(bytes));
        let head = taking.await?;
        results.finish(&head).map_err(|failure| *failure)
    }

    /// Starts an exchange whose reply comes in one piece.
    pub(super) fn exchange<'a>(
        &'a self,
        limits: Limits,
        secret: &'a SecretString,
        max_bytes: usize,
    ) -> Exchange<'a> {
        let expect = Expect {
            delivery: Delivery::Whole,
            max_bytes,
            connect: self.settings.connect,
        };
        Exchange::start(&*self.settings.clock, limits, secret, expect)
    }

    fn batches_url(&self) -> Url {
        let mut url = self.url.clone();
        url.set_path(&format!("{}/batches", self.url.path()));
        url
    }

    /// The address of a batch, or of what follows it.
    fn batch_url(&self, id: &str, rest: Option<&str>) -> Result<Url, BatchError> {
        if !is_id(id) {
            let found = tidy(id, MAX_WORD);
            return Err(BatchError::Id { found });
        }
        let mut url = self.batches_url();
        let rest = rest.map(|rest| format!("/{rest}")).unwrap_or_default();
        url.set_path(&format!("{}/{id}{rest}", url.path()));
        Ok(url)
    }

    /// Where the results are: as the server says, if that is where the key may go, and else where the API has them.
    fn results_url(&self, batch: &BatchState) -> Result<Url, BatchError> {
        let said = batch.results_url.as_deref();
        let said = said.and_then(|text| Url::parse(text).ok());
        // A name or a password in the address would travel as a second credential.
        let said = said.filter(|url| {
            url.origin() == self.url.origin()
                && url.username().is_empty()
                && url.password().is_none()
        });
        said.map_or_else(|| self.batch_url(&batch.id, Some("results")), Ok)
    }
}

/// A batch as the server describes it.
struct Batch {
    id: String,
    stage: BatchStage,
    expires_at: Option<DateTime<Utc>>,
    results_url: Option<String>,
}

/// The same on the wire; what is missing or of another type is `None`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct WireBatch {
    #[serde(deserialize_with = "word")]
    id: Option<String>,
    #[serde(deserialize_with = "word")]
    processing_status: Option<String>,
    #[serde(deserialize_with = "word")]
    expires_at: Option<String>,
    #[serde(deserialize_with = "word")]
    results_url: Option<String>,
}

impl Batch {
    /// Only an object with a usable name and a stage is a batch.
    fn read(body: &[u8], secret: &SecretString) -> Option<Self> {
        let wire: WireBatch = serde_json::from_slice(body)
            .ok()
            .filter(|_| is_object(body))?;
        let is_ours = |text: &String| redact(text, secret) == **text;
        Some(Self {
            id: wire.id.filter(|id| is_id(id)).filter(is_ours)?,
            stage: match wire.processing_status?.as_str() {
                "in_progress" => BatchStage::Processing,
                "canceling" => BatchStage::Canceling,
                "ended" => BatchStage::Ended,
                other => BatchStage::Other(tidy(&redact(other, secret), MAX_WORD)),
            },
            expires_at: wire.expires_at.and_then(|text| text.parse().ok()),
            results_url: wire.results_url.filter(is_ours),
        })
    }
}

/// Whether a text can name a batch in an address without a change.
fn is_id(text: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    (1..=MAX_ID).contains(&text.len()) && text.chars().all(is_plain)
}

/// A part on the wire.
#[derive(Serialize)]
struct WirePart<'a> {
    custom_id: &'a str,
    params: Body<'a>,
}

/// The JSON body of a batch.
fn body_bytes(parts: &[BatchPart]) -> Result<Vec<u8>, BatchError> {
    check(parts)?;
    let mut body = Bounded {
        bytes: b"{\"requests\":[".to_vec(),
        max: MAX_BATCH_BYTES,
    };
    for (index, part) in parts.iter().enumerate() {
        let params = Body::in_batch(&part.request).map_err(|source| BatchError::Part {
            name: part.name.clone(),
            source,
        })?;
        let wire = WirePart {
            custom_id: &part.name,
            params,
        };
        let comma: &[u8] = if index == 0 { b"" } else { b"," };
        let written = body.write_all(comma).map_err(serde_json::Error::io);
        written
            .and_then(|()| serde_json::to_writer(&mut body, &wire))
            .map_err(|_| BatchError::TooLarge)?;
    }
    body.write_all(b"]}").map_err(|_| BatchError::TooLarge)?;
    Ok(body.bytes)
}

fn check(parts: &[BatchPart]) -> Result<(), BatchError> {
    if !(1..=MAX_BATCH_PARTS).contains(&parts.len()) {
        return Err(BatchError::Count { found: parts.len() });
    }
    let first = &parts[0].request.key;
    let mut names = HashSet::with_capacity(parts.len());
    for BatchPart { name, request } in parts {
        if !BatchPart::is_name(name) {
            let found = tidy(name, MAX_WORD);
            return Err(BatchError::Name { found });
        }
        if !names.insert(name) {
            return Err(BatchError::Twice { name: name.clone() });
        }
        if request.key != *first {
            return Err(BatchError::Keys {
                first: first.clone(),
                other: request.key.clone(),
            });
        }
    }
    Ok(())
}

/// Bytes that refuse to grow beyond a limit, so that a batch far over it costs no more memory.
struct Bounded {
    bytes: Vec<u8>,
    max: usize,
}

impl Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.bytes.len() + bytes.len() > self.max {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests;
