//! What a whole configuration is, once it is checked.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::engine::Plan;
use crate::engine::alert::Change;
use crate::guard::GuardPolicy;
use crate::job::{GroupId, JobId, KeyId};
use crate::lint::{Levels, Rule};
use crate::price::OwnPrice;
use crate::schedule::Zones;

/// Variables that are for us alone, whatever the settings name: the API's own key, which may be set although the keys
/// come from files, the place of systemd's credentials, and how systemd is told that we are well.
pub const OWN_VARIABLES: [&str; 5] = [
    "ANTHROPIC_API_KEY",
    "CREDENTIALS_DIRECTORY",
    "NOTIFY_SOCKET",
    "WATCHDOG_PID",
    "WATCHDOG_USEC",
];

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
    /// What models cost, where the user says so.
    pub prices: Vec<OwnPrice>,
    /// How long yielded work may wait for a slot.
    pub expires_after: Duration,
    /// The settings file, there or not.
    pub settings_file: PathBuf,
    /// The folders whose YAML files are jobs.
    pub job_folders: Vec<PathBuf>,
    /// Jobs, groups, windows and policies.
    pub plan: Arc<Plan>,
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
    /// The environment variables that no program of a job may inherit, sorted, each once: those of keys, of webhooks,
    /// of the deadman's address and of what jobs send elsewhere, and [`OWN_VARIABLES`].
    #[must_use]
    pub fn secret_variables(&self) -> Vec<String> {
        let keys = self.keys.values().filter_map(|key| match &key.source {
            KeySource::Env(name) => Some(name.as_str()),
            KeySource::File(_) | KeySource::Credential(_) => None,
        });
        let webhooks = self.notify.values().filter_map(|notify| match &notify.way {
            NotifyWay::Webhook { address_env, .. } => Some(address_env.as_str()),
            NotifyWay::Command(_) => None,
        });
        let deadman = self
            .deadman
            .as_ref()
            .map(|deadman| deadman.url_env.as_str());
        let all: BTreeSet<&str> = keys
            .chain(webhooks)
            .chain(deadman)
            .chain(self.job_variables())
            .chain(OWN_VARIABLES)
            .collect();
        all.into_iter().map(str::to_owned).collect()
    }

    /// The environment variables whose values the jobs send elsewhere: headers of inputs, addresses of webhooks.
    pub fn job_variables(&self) -> impl Iterator<Item = &str> {
        let jobs = self.plan.jobs.values();
        jobs.flat_map(|planned| planned.job.secret_variables())
    }
}

/// Where a key's secret is found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyConfig {
    /// The environment variable, the file or the credential.
    pub source: KeySource,
    /// The group that shares its limits.
    pub group: GroupId,
    /// What becomes of a file that is not ours alone.
    pub exposure: Exposure,
}

/// What becomes of a key file that others can read, change or own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Exposure {
    /// It is refused.
    #[default]
    Refused,
    /// It is used, and the log warns at each start.
    Allowed,
}

/// Where a secret is found; never the secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeySource {
    /// This environment variable.
    Env(String),
    /// This file, an absolute path.
    File(PathBuf),
    /// The credential of this name, which systemd puts into the folder that `CREDENTIALS_DIRECTORY` names.
    Credential(String),
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
    /// To the first byte of a streamed reply.
    pub first_byte: Duration,
    /// Between two bytes.
    pub idle: Duration,
    /// The most bytes of a reply.
    pub max_answer_bytes: usize,
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
