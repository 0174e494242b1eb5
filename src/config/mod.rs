//! Reads the working folder: `offpeak.yaml`, `jobs/*.yaml`, and the files they name.
//!
//! YAML becomes a tree that knows the place of every key and value, the tree
//! becomes checked values, and every mistake in all files is reported in one
//! go. What the text of a secret looks like is masked before anything else
//! sees it. Nothing here decides when a job fires: findings of the linter come
//! from [`crate::lint`], and [`Sources`] says where they belong.

mod checked;
mod context;
mod decode_defaults;
mod decode_job;
mod decode_keys;
mod decode_output;
mod decode_policies;
mod decode_rules;
mod decode_settings;
mod decode_text;
mod embedded;
mod fields;
mod files;
mod mistakes;
mod node;
mod options;
mod raw;
mod read;
mod read_jobs;
mod render;
mod secrets;
mod source;
mod sources;
mod templates;
mod typed;
mod value;
mod zoneinfo;

pub use checked::{Auth, Config, KeyConfig, KeySource, NotifyConfig, StoreConfig, UpstreamConfig};
pub use embedded::{DEFAULTS, embedded_jobs};
pub use mistakes::{ConfigErrors, Mistake, Related, Unreadable};
pub use options::{Environment, Options};
pub use read::{Reading, load, read};
pub use render::{Level, Mark, Report, Style, render};
pub use secrets::{KeyError, resolve_key};
pub use source::{Place, Source};
pub use sources::Sources;
pub use value::nearest;
pub use zoneinfo::SYSTEM_ZONEINFO;
