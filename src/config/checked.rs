//! What a whole configuration is, once it is checked.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Duration;

use crate::engine::Plan;
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
    /// The zone data that the jobs were read with.
    pub zones: Zones,
    /// The IANA release of that data, such as `2026b`.
    pub zone_release: String,
}

impl Config {
    /// The environment variables that hold secrets, sorted, each once: of keys and of webhooks.
    ///
    /// No program of a job may inherit them.
    #[must_use]
    pub fn secret_variables(&self) -> Vec<String> {
        let keys = self.keys.values().filter_map(|key| match &key.source {
            KeySource::Env(name) => Some(name),
            KeySource::File(_) => None,
        });
        let webhooks = self.notify.values().map(|notify| &notify.webhook_env);
        let names: BTreeSet<&String> = keys.chain(webhooks).collect();
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

/// How somebody is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotifyConfig {
    /// The environment variable that holds the webhook's address; the address is a secret.
    pub webhook_env: String,
}
