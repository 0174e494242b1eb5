//! Reads the working folder: `offpeak.yaml`, `jobs/*.yaml`, and the files they name.
//!
//! YAML becomes a tree that knows the place of every key and value, the tree
//! becomes checked values, and every mistake in all files is reported in one
//! go. What the text of a secret looks like is masked before anything else
//! sees it. Nothing here decides when a job fires: findings of the linter come
//! from [`crate::lint`], and [`Sources`] says where they belong.

mod answer_schema;
mod bare;
mod bounded;
mod checked;
mod context;
mod crowd;
mod decode_content;
mod decode_defaults;
mod decode_delivery;
mod decode_items;
mod decode_job;
mod decode_keys;
mod decode_notify;
mod decode_output;
mod decode_policies;
mod decode_prices;
mod decode_request;
mod decode_rules;
mod decode_settings;
mod decode_steps;
mod decode_text;
mod decode_url;
mod edit;
mod embedded;
mod explain;
mod fields;
mod files;
mod item_variables;
mod json_schema;
mod key_file;
mod meant;
mod mistakes;
mod node;
mod options;
mod raw;
mod read;
mod read_jobs;
mod render;
mod schema;
mod secrets;
mod shared_secrets;
mod source;
mod sources;
mod templates;
mod typed;
mod value;
mod watch;
mod weigh;
mod zoneinfo;

pub use bounded::read_bounded;
pub use checked::{
    Auth, Config, DeadmanConfig, Exposure, KeyConfig, KeySource, NotifyConfig, NotifyWay,
    OWN_VARIABLES, StoreConfig, UpstreamConfig, WebhookFormat,
};
pub use edit::{DiffLine, FileEdit, Refusal, Side, WriteError, edits, write};
pub use embedded::{DEFAULTS, embedded_jobs};
pub use files::is_yaml;
pub use key_file::Exposed;
pub use mistakes::{ConfigErrors, Mistake, Related, Unreadable};
pub use options::{Environment, Options};
pub use read::{Reading, load, read};
pub use render::{Level, Mark, Report, Style, render};
pub use schema::{JOB_SCHEMA, SETTINGS_SCHEMA};
pub use secrets::{KeyError, exposed_key, has_secret, resolve_key};
pub use shared_secrets::{SharedSecret, shared_secrets};
pub use source::{Place, Source};
pub use sources::Sources;
pub use value::nearest;
pub use watch::{Watched, watched};
pub use zoneinfo::SYSTEM_ZONEINFO;
