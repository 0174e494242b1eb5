//! What a whole configuration is, once it is checked.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Duration;

use crate::engine::Plan;
use crate::engine::alert::Change;
use crate::guard::GuardPolicy;
use crate::job::{GroupId, JobId, KeyId};
use crate::lint::{Levels, Rule};
use crate::schedule::Zones;

/// A whole checked configuration.
#[derive(Debug, Clone)]
pub struct Config {
    /// The working folder, absolute.
    pub folder: PathBuf,
    /// Where each key's secret is found, and its group.
    pub keys: BTreeMap<KeyId, KeyConfig>,
    /// Where requests go.
    pub upstream: UpstreamConfig,
    /// The gap below which `validate` gives advice.
    pub comfortable_gap: Duration,
    /// How bad each rule of the linter is.
    pub levels: Levels,
    /// The rules that jobs accept, each with its reason; jobs that accept none are not there.
    pub accepted: BTreeMap<JobId, BTreeMap<Rule, String>>,
    /// Budget and breaker of every group.
    pub guard: GuardPolicy,
    /// How long yielded work may wait for a slot.
    pub expires_after: Duration,
    /// Jobs, groups, windows and policies.
    pub plan: Plan,
    /// The store's folder, absolute, and how long its rows are kept.
    pub store: StoreConfig,
    /// Who can be told, by name.
    pub notify: BTreeMap<String, NotifyConfig>,
    /// What is pinged after good slots, if anything is.
    pub deadman: Option<DeadmanConfig>,
    /// The zone data that the jobs were read with.
    pub zones: Zones,
    /// The IANA release of that data, such as `2026b`.
    pub zone_release: String,
}

impl Config {
    /// The environment variables that hold secrets, sorted, each once: of keys, of webhooks and of
    /// the deadman's address.
    ///
    /// No program of a job may inherit them.
    #[must_use]
    pub fn secret_variables(&self) -> Vec<String> {
        let keys = self.keys.values().filter_map(|key| match &key.source {
            KeySource::Env(name) => Some(name),
            KeySource::File(_) => None,
        });
        let webhooks = self.notify.values().filter_map(|notify| match &notify.way {
            NotifyWay::Webhook { address_env, .. } => Some(address_env),
            NotifyWay::Command(_) => None,
        });
        let deadman = self.deadman.as_ref().map(|deadman| &deadman.url_env);
        let names: BTreeSet<&String> = keys.chain(webhooks).chain(deadman).collect();
        names.into_iter().cloned().collect()
    }
}

/// Where a key's secret is found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyConfig {
    /// The environment variable or the file.
    pub source: KeySource,
    /// The group that shares its limits.
    pub group: GroupId,
}

/// Where a secret is found; never the secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeySource {
    /// This environment variable.
    Env(String),
    /// This file, an absolute path.
    File(PathBuf),
}

/// Where requests go, and how long to wait.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UpstreamConfig {
    /// May carry a path.
    pub base_url: String,
    /// The `anthropic-version` header.
    pub version: String,
    /// Which header carries the key.
    pub auth: Auth,
    /// To a connection.
    pub connect: Duration,
    /// To the first byte of the reply.
    pub first_byte: Duration,
    /// Between two bytes.
    pub idle: Duration,
}

/// Which header carries the key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Auth {
    /// `x-api-key`.
    ApiKey,
    /// `authorization: Bearer`.
    Bearer,
}

/// Where the history is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreConfig {
    /// The folder, absolute.
    pub path: PathBuf,
    /// Rows older than this are pruned.
    pub keep: Duration,
}

/// How somebody is told, and of what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotifyConfig {
    /// Webhook or program.
    pub way: NotifyWay,
    /// The changes that are told; at least one.
    pub on: BTreeSet<Change>,
    /// How long one try may take.
    pub timeout: Duration,
}

/// How somebody is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotifyWay {
    /// A POST to an address.
    Webhook {
        /// The environment variable that holds the address; the address is a secret.
        address_env: String,
        /// The shape of the body.
        format: WebhookFormat,
    },
    /// A program and its arguments, which gets the JSON on standard input; at least one element.
    Command(Vec<String>),
}

/// The shape of a webhook's body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WebhookFormat {
    /// One object with a member for each thing that is known.
    Json,
    /// `{"text": "…"}`, as Slack and its kin take it.
    Slack,
}

/// What is pinged after each good slot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeadmanConfig {
    /// The environment variable that holds the address; the address is a secret.
    pub url_env: String,
    /// How long one ping may take.
    pub timeout: Duration,
}
