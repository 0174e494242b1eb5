//! Sends one request once, and reads what comes back.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderValue};
use reqwest::{Method, Url};
use secrecy::SecretString;

use crate::answer::{FailureKind, Reply, SendFailure, Usage};
use crate::engine::ports::{Batches, Clock, Pending, Upstream};
use crate::job::{Delivery, KeyId, Request};
use crate::money::Dollars;
use crate::price::Estimate;
use crate::secret::SecretError;

use super::batch::BatchError;
use super::exchange::{Exchange, Expect, cause};
use super::key;
use super::models::Models;
use super::target::{Auth, TargetError, messages_url};
use super::timing::Limits;
use super::transport;
use super::wire::{self, BodyError};

/// Where the client sends, with what, and how long it waits.
pub struct ClientSettings {
    /// Scheme, host, and a path if there is one; `/v1/messages` is joined to it.
    pub base_url: String,
    /// The `anthropic-version` header.
    pub version: String,
    /// Which header carries the key.
    pub auth: Auth,
    /// The secrets by name; a request with another key is unsendable.
    pub keys: BTreeMap<KeyId, SecretString>,
    /// To a connection, TLS included; measured in real time.
    pub connect: Duration,
    /// From the start of an attempt to the first byte of the reply's body; an answer in one piece may take the whole
    /// attempt.
    pub first_byte: Duration,
    /// Between two bytes; any byte counts, pings and comments too.
    pub idle: Duration,
    /// The most bytes of a reply's body.
    pub max_answer_bytes: usize,
    /// Holds every timeout but `connect`.
    pub clock: Arc<dyn Clock>,
    /// Prices for [`Upstream::cost`] and [`Upstream::estimate`].
    pub models: Models,
}

impl ClientSettings {
    /// The public API with no keys, the timeouts of the built-in defaults, and answers of up to 32 MB.
    #[must_use]
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        Self {
            base_url: "https://api.anthropic.com".to_owned(),
            version: "2023-06-01".to_owned(),
            auth: Auth::ApiKey,
            keys: BTreeMap::new(),
            connect: Duration::from_secs(10),
            first_byte: Duration::from_mins(5),
            idle: Duration::from_mins(2),
            max_answer_bytes: 32 * 1024 * 1024,
            clock,
            models: Models::embedded(),
        }
    }
}

impl fmt::Debug for ClientSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientSettings")
            .field("base_url", &self.base_url)
            .field("version", &self.version)
            .field("auth", &self.auth)
            .field("keys", &self.keys.keys())
            .field("connect", &self.connect)
            .field("first_byte", &self.first_byte)
            .field("idle", &self.idle)
            .field("max_answer_bytes", &self.max_answer_bytes)
            .finish_non_exhaustive()
    }
}

/// Why no client can be made of the settings.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The base URL.
    #[error("upstream: {0}")]
    Target(#[from] TargetError),
    /// The secret of a key.
    #[error("key `{key}`: {source}")]
    Key {
        /// The key's name.
        key: KeyId,
        /// What is wrong with its secret.
        source: SecretError,
    },
    /// The version cannot stand in a header.
    #[error(
        "upstream: version {found:?} cannot stand in a header; it is a date such as `2023-06-01`"
    )]
    Version {
        /// As written.
        found: String,
    },
    /// TLS cannot be set up, such as without system certificates.
    #[error("upstream: cannot set up the HTTP client: {problem}")]
    Transport {
        /// What the library says.
        problem: String,
    },
}

/// Why a request is not sent at all.
#[derive(Debug, thiserror::Error)]
pub(super) enum Unsendable {
    #[error("key `{key}` has no secret; set the variable or the file that `keys` names for it")]
    NoSecret { key: KeyId },
    #[error("the secret of key `{key}` cannot stand in a header")]
    Header { key: KeyId },
    #[error(transparent)]
    Body(#[from] BodyError),
    #[error(transparent)]
    Batch(#[from] BatchError),
    #[error("the request cannot be built: {problem}")]
    Build { problem: String },
}

impl From<Unsendable> for SendFailure {
    fn from(reason: Unsendable) -> Self {
        Self::new(FailureKind::Unsendable, reason.to_string())
    }
}

/// A request of HTTP before its key and version are added.
pub(super) struct Asked<'a> {
    pub method: Method,
    pub url: Url,
    pub key: &'a KeyId,
    pub accept: &'static str,
    /// JSON; `None` for a request without a body.
    pub body: Option<Vec<u8>>,
}

/// A client of the Messages API.
pub struct Client {
    pub(super) http: reqwest::Client,
    /// The address of `POST /v1/messages`.
    pub(super) url: Url,
    version: HeaderValue,
    pub(super) settings: ClientSettings,
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client")
            .field("url", &self.url.as_str())
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}

impl Client {
    /// Checks the settings; connects to nothing.
    ///
    /// # Errors
    /// What in the settings cannot be used. No secret is repeated.
    pub fn new(mut settings: ClientSettings) -> Result<Self, ClientError> {
        let url = messages_url(&settings.base_url)?;
        for (id, secret) in &mut settings.keys {
            *secret = key::checked(secret).map_err(|source| ClientError::Key {
                key: id.clone(),
                source,
            })?;
        }
        let version = settings.version.trim();
        let version = HeaderValue::from_str(version)
            .ok()
            .filter(|value| !value.is_empty());
        let version = version.ok_or_else(|| ClientError::Version {
            found: settings.version.clone(),
        })?;
        let http =
            transport::client(&url, settings.connect).map_err(|error| ClientError::Transport {
                problem: cause(&error),
            })?;
        Ok(Self {
            http,
            url,
            version,
            settings,
        })
    }

    async fn attempt(&self, request: &Request) -> Result<Reply, SendFailure> {
        let (secret, ready) = self.prepare(request)?;
        let limits = Limits {
            first_byte: match request.delivery {
                Delivery::Stream => self.settings.first_byte,
                // An answer in one piece begins when the model has ended: a limit meant for a queue would kill it.
                Delivery::Whole => request.timeout,
            },
            idle: self.settings.idle,
            whole: request.timeout,
        };
        let expect = Expect {
            delivery: request.delivery,
            max_bytes: self.settings.max_answer_bytes,
            connect: self.settings.connect,
        };
        Exchange::start(&*self.settings.clock, limits, secret, expect)
            .run(&self.http, ready)
            .await
    }

    fn prepare(&self, request: &Request) -> Result<(&SecretString, reqwest::Request), Unsendable> {
        self.ready(Asked {
            method: Method::POST,
            url: self.url.clone(),
            key: &request.key,
            accept: match request.delivery {
                Delivery::Stream => "text/event-stream",
                Delivery::Whole => "application/json",
            },
            body: Some(wire::body_bytes(request)?),
        })
    }

    /// Adds key and version; the secret is what no reply may repeat.
    pub(super) fn ready(
        &self,
        asked: Asked<'_>,
    ) -> Result<(&SecretString, reqwest::Request), Unsendable> {
        let id = asked.key;
        let secret = self.settings.keys.get(id);
        let secret = secret.ok_or_else(|| Unsendable::NoSecret { key: id.clone() })?;
        let (name, value) = key::header(self.settings.auth, secret)
            .ok_or_else(|| Unsendable::Header { key: id.clone() })?;
        let mut ready = self
            .http
            .request(asked.method, asked.url)
            .header(ACCEPT, asked.accept)
            .header("anthropic-version", self.version.clone())
            .header(name, value);
        if let Some(body) = asked.body {
            ready = ready.header(CONTENT_TYPE, "application/json").body(body);
        }
        let ready = ready.build().map_err(|error| Unsendable::Build {
            problem: cause(&error),
        })?;
        Ok((secret, ready))
    }
}

impl Upstream for Client {
    fn send<'a>(&'a self, request: &'a Request) -> Pending<'a, Result<Reply, SendFailure>> {
        Box::pin(self.attempt(request))
    }

    fn cost(&self, request: &Request, model: &str, usage: &Usage) -> Option<Dollars> {
        self.settings.models.cost_of_answer(request, model, usage)
    }

    fn estimate(&self, request: &Request) -> Estimate {
        self.settings.models.estimate(request)
    }

    fn batches(&self) -> Option<&dyn Batches> {
        Some(self)
    }
}
