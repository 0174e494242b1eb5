//! What a person asks beside the messages: which models a key can use, and how many tokens a request has.
//!
//! Key, version, base URL, redirects, proxies and timeouts are as for a
//! message. Nothing is retried, and nothing counts against a budget: no message
//! is sent, and a person reads the answer.

use std::time::Duration;

use chrono::{DateTime, Utc};
use reqwest::{Method, Url};
use secrecy::SecretString;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::answer::{FailureKind, SendFailure};
use crate::job::{KeyId, Request};

use super::client::{Asked, Client, Unsendable};
use super::failure::excerpt;
use super::timing::Limits;
use super::{usage, wire};

const JSON: &str = "application/json";

/// So many models are asked for at once.
const PAGE: &str = "100";

/// So many pages are read at most: an upstream that goes on and on must not keep a person waiting.
const MOST_PAGES: usize = 20;

/// A person waits: a whole reply takes no longer than this.
const PATIENCE: Duration = Duration::from_mins(1);

/// A model as the API lists it. What it does not say, or says in another form, is `None`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// The id, dated for models before 4.6.
    pub id: String,
    /// The name for people.
    pub display_name: Option<String>,
    /// Where it is in its life.
    pub lifecycle: Option<Lifecycle>,
    /// Since when it is deprecated.
    pub deprecated_at: Option<DateTime<Utc>>,
    /// From when on it answers 404.
    pub retires_at: Option<DateTime<Utc>>,
    /// The most tokens of a prompt.
    pub max_input_tokens: Option<u64>,
    /// The most tokens of an answer.
    pub max_tokens: Option<u64>,
}

/// Where a model is in its life.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Lifecycle {
    /// It answers, and no end is announced.
    Active,
    /// It answers, and will not for ever.
    Deprecated,
    /// It answers no more.
    Retired,
    /// A word that this version does not know.
    Other(String),
}

impl Lifecycle {
    /// The word of the API.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Active => "active",
            Self::Deprecated => "deprecated",
            Self::Retired => "retired",
            Self::Other(word) => word,
        }
    }

    fn of(word: String) -> Self {
        match word.as_str() {
            "active" => Self::Active,
            "deprecated" => Self::Deprecated,
            "retired" => Self::Retired,
            _ => Self::Other(word),
        }
    }
}

impl Listed {
    /// Whether a job that names this model gets this one; an id without a date is an alias of those with one.
    #[must_use]
    pub fn is_called(&self, name: &str) -> bool {
        self.id == name || super::models::undated(&self.id) == Some(name)
    }
}

/// A page of models.
#[derive(Debug, Deserialize)]
struct Page {
    data: Vec<Entry>,
    #[serde(default)]
    has_more: bool,
    #[serde(default, deserialize_with = "wire::word")]
    last_id: Option<String>,
}

/// A model on a page; what has another type counts as missing.
#[derive(Debug, Deserialize)]
struct Entry {
    id: String,
    #[serde(default, deserialize_with = "wire::word")]
    display_name: Option<String>,
    #[serde(default, deserialize_with = "wire::word")]
    lifecycle: Option<String>,
    #[serde(default, deserialize_with = "instant")]
    deprecated_at: Option<DateTime<Utc>>,
    #[serde(default, deserialize_with = "instant")]
    retires_at: Option<DateTime<Utc>>,
    #[serde(default, deserialize_with = "usage::count")]
    max_input_tokens: Option<u64>,
    #[serde(default, deserialize_with = "usage::count")]
    max_tokens: Option<u64>,
}

/// The answer to a count.
#[derive(Debug, Deserialize)]
struct Count {
    input_tokens: u64,
}

impl Entry {
    fn listed(self, secret: &SecretString) -> Listed {
        let clean = |text: String| excerpt(&text, secret);
        Listed {
            id: clean(self.id),
            display_name: self.display_name.map(clean),
            lifecycle: self.lifecycle.map(|word| Lifecycle::of(clean(word))),
            deprecated_at: self.deprecated_at,
            retires_at: self.retires_at,
            max_input_tokens: self.max_input_tokens,
            max_tokens: self.max_tokens,
        }
    }
}

impl Client {
    /// The models that a key can use, in the order of the API.
    ///
    /// One GET a page, each sent once; at most 2,000 models.
    ///
    /// # Errors
    /// What broke, as for a message. [`FailureKind::NotAMessage`] is a reply of success that is no such list.
    pub async fn list_models(&self, key: &KeyId) -> Result<Vec<Listed>, SendFailure> {
        let (mut models, mut after) = (Vec::new(), None::<String>);
        for _ in 0..MOST_PAGES {
            let mut url = beside(&self.url, "models");
            url.query_pairs_mut().append_pair("limit", PAGE);
            if let Some(id) = &after {
                url.query_pairs_mut().append_pair("after_id", id);
            }
            let asked = Asked {
                method: Method::GET,
                url,
                key,
                accept: JSON,
                body: None,
            };
            let (page, secret): (Page, _) = self.answered(asked).await?;
            let last = page.data.last().map(|entry| entry.id.clone());
            models.extend(page.data.into_iter().map(|entry| entry.listed(secret)));
            if !page.has_more {
                return Ok(models);
            }
            let next = page.last_id.or(last);
            if next.is_none() || next == after {
                let message =
                    "the list of models says that there is more, and not from where on".to_owned();
                return Err(SendFailure::new(FailureKind::NotAMessage, message));
            }
            after = next;
        }
        let message = format!(
            "the list of models does not end: {} came on {MOST_PAGES} pages",
            models.len()
        );
        Err(SendFailure::new(FailureKind::TooLarge, message))
    }

    /// The tokens of a request's input, as the API counts them; by its own words still an estimate.
    ///
    /// # Errors
    /// What broke, as for a message; the request that cannot be built is [`FailureKind::Unsendable`].
    pub async fn count_tokens(&self, request: &Request) -> Result<u64, SendFailure> {
        let body = wire::count_body(request).map_err(Unsendable::from)?;
        let asked = Asked {
            method: Method::POST,
            url: beside(&self.url, "messages/count_tokens"),
            key: &request.key,
            accept: JSON,
            body: Some(body.to_string().into_bytes()),
        };
        let (count, _): (Count, _) = self.answered(asked).await?;
        Ok(count.input_tokens)
    }

    /// Sends once, and reads the JSON that comes; with the secret, of which no text may tell.
    async fn answered<T: DeserializeOwned>(
        &self,
        asked: Asked<'_>,
    ) -> Result<(T, &SecretString), SendFailure> {
        let settings = &self.settings;
        let (secret, ready) = self.ready(asked)?;
        let limits = Limits {
            first_byte: settings.first_byte,
            idle: settings.idle,
            whole: PATIENCE,
        };
        let exchange = self.exchange(limits, secret, settings.max_answer_bytes);
        let (head, body) = exchange.fetch(&self.http, ready).await?;
        let value = read(&body).ok_or_else(|| {
            let seen = excerpt(&String::from_utf8_lossy(&body), secret);
            let message = format!("not the JSON that was asked for: {seen}");
            head.failure(FailureKind::NotAMessage, message)
        })?;
        Ok((value, secret))
    }
}

/// A JSON object as this type. By way of a value: `serde` alone would read a list into the fields, one by one.
fn read<T: DeserializeOwned>(body: &[u8]) -> Option<T> {
    let object = serde_json::from_slice::<Value>(body).ok();
    serde_json::from_value(object.filter(Value::is_object)?).ok()
}

/// Another address of the API: `/v1/…` in place of `/v1/messages`, under the same prefix.
fn beside(messages: &Url, path: &str) -> Url {
    let mut url = messages.clone();
    let root = messages.path().trim_end_matches("messages");
    url.set_path(&format!("{root}{path}"));
    url
}

/// An instant in RFC 3339; anything else counts as missing.
fn instant<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<DateTime<Utc>>, D::Error> {
    let text = wire::word(deserializer)?;
    let read = |text: String| DateTime::parse_from_rfc3339(&text).ok();
    Ok(text.and_then(read).map(|at| at.to_utc()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(json: &str) -> Listed {
        let entry: Entry = serde_json::from_str(json).unwrap();
        entry.listed(&SecretString::from("gateway-7"))
    }

    #[test]
    fn words_that_are_not_known_are_kept_and_other_types_count_as_missing() {
        let odd = listed(
            r#"{"id":"claude-x","lifecycle":"resting","deprecated_at":"soon","retires_at":7,"max_tokens":"many","more":[]}"#,
        );
        assert_eq!(odd.lifecycle, Some(Lifecycle::Other("resting".to_owned())));
        assert_eq!(
            (odd.deprecated_at, odd.retires_at, odd.max_tokens),
            (None, None, None)
        );
        for word in ["active", "deprecated", "retired", "resting"] {
            assert_eq!(Lifecycle::of(word.to_owned()).as_str(), word);
        }
    }

    #[test]
    fn no_word_of_a_list_repeats_the_key() {
        let odd =
            listed(r#"{"id":"gateway-7","display_name":"x gateway-7","lifecycle":"gateway-7"}"#);
        assert!(!format!("{odd:?}").contains("gateway-7"), "{odd:?}");
    }

    #[test]
    fn name_without_a_date_is_the_dated_model() {
        let dated = listed(r#"{"id":"claude-sonnet-4-5-20250929"}"#);
        assert!(dated.is_called("claude-sonnet-4-5"));
        assert!(dated.is_called("claude-sonnet-4-5-20250929"));
        assert!(!dated.is_called("claude-sonnet-4"));
    }

    #[test]
    fn addresses_stand_beside_that_of_the_messages() {
        let at = |base: &str, path: &str| {
            let messages = super::super::target::messages_url(base).unwrap();
            beside(&messages, path).to_string()
        };
        assert_eq!(at("http://h", "models"), "http://h/v1/models");
        assert_eq!(
            at("http://h/messages/", "messages/count_tokens"),
            "http://h/messages/v1/messages/count_tokens"
        );
    }
}
