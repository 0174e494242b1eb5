//! Places beyond the machine and the job's own texts: where inputs are fetched, and where an answer goes.

use std::time::Duration;

use super::{InputSource, ItemSource, Job};

/// An address whose content is an input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WebInput {
    /// An `http` or `https` address without user and password.
    pub address: String,
    /// Headers to send, as `(name, environment variable)`: the values are secrets.
    pub header_env: Vec<(String, String)>,
    /// How long all of it may take, redirects included.
    pub timeout: Duration,
}

/// Where an answer goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    /// A path with `{{ variables }}`, relative to the working folder.
    pub file: Option<String>,
    /// What happens to a file of an earlier run.
    pub previous: Previous,
    /// A path like that of `file`: the answer is put at the end of what stands there.
    pub append: Option<String>,
    /// What stands above the answer in the two files.
    pub front_matter: FrontMatter,
    /// A program that takes the answer on standard input, without a shell.
    pub command: Option<Vec<String>>,
    /// The environment variable that holds an address to which the answer is posted; the address is a secret.
    pub webhook_env: Option<String>,
}

/// What stands above an answer in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FrontMatter {
    /// Nothing.
    None,
    /// A block of YAML: job, slot, item, model, message and usage.
    Yaml,
}

impl Job {
    /// The environment variables whose values it sends elsewhere: of headers and of its webhook.
    pub fn secret_variables(&self) -> impl Iterator<Item = &str> {
        let items = self.for_each.as_ref().and_then(|each| match &each.source {
            ItemSource::Files { .. } => None,
            ItemSource::Lines(input) | ItemSource::Records(input) => Some(&**input),
        });
        let headers = self.inputs.iter().chain(items).flat_map(|input| {
            let headers = match &input.source {
                InputSource::Url(url) => &url.header_env[..],
                InputSource::File(_) | InputSource::Command { .. } => &[],
            };
            headers.iter().map(|(_, variable)| variable.as_str())
        });
        let webhook = self.output.as_ref();
        headers.chain(webhook.and_then(|output| output.webhook_env.as_deref()))
    }
}

/// What happens to an output file of an earlier run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Previous {
    /// The new file takes its place in one step.
    Replace,
    /// It is kept beside the new one as `NAME.previous`.
    Keep,
}
