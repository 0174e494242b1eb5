//! Who is told of what: from a configuration and the environment.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use tracing::warn;

use super::Context;
use crate::config::{Config, Environment, NotifyConfig, NotifyWay, WebhookFormat};
use crate::job::{GroupId, JobId, JobState};
use crate::notify::{Address, Entry, Format, Way};

/// Who is told of what.
#[derive(Debug, Default)]
pub struct Routes {
    /// The jobs that name somebody: their group, and the entry's name.
    pub jobs: BTreeMap<JobId, (GroupId, String)>,
    /// The entries that jobs name, but for those without a usable address.
    pub entries: Vec<Entry>,
    /// What is pinged after good slots, and how long a ping may take.
    pub deadman: Option<(Address, Duration)>,
}

impl Routes {
    /// Reads the addresses. One that cannot be used is a warning: what is told of the work must not stop the work.
    #[must_use]
    pub fn of(context: &Context, config: &Config) -> Self {
        let environment = &context.environment;
        let planned = config.plan.jobs.values().map(|planned| &planned.job);
        let enabled = planned.filter(|job| job.state == JobState::Enabled);
        let jobs: BTreeMap<JobId, (GroupId, String)> = enabled
            .filter_map(|job| {
                let name = job.notify.clone()?;
                Some((job.id.clone(), (job.group.clone(), name)))
            })
            .collect();
        let named: BTreeSet<&String> = jobs.values().map(|(_, name)| name).collect();
        let entries = named.into_iter().filter_map(|name| {
            let settings = config.notify.get(name)?;
            Some(Entry {
                name: name.clone(),
                way: way(context, config, settings)?,
                on: settings.on.clone(),
                timeout: settings.timeout,
            })
        });
        let entries = entries.collect();
        let deadman = config.deadman.as_ref().and_then(|deadman| {
            let address = address(&deadman.url_env, deadman.timeout, environment)?;
            Some((address, deadman.timeout))
        });
        Self {
            jobs,
            entries,
            deadman,
        }
    }

    /// The names of the entries that the jobs of a group name, each once.
    pub fn of_group(&self, group: &GroupId) -> BTreeSet<&str> {
        let own = self.jobs.values().filter(|(of, _)| of == group);
        own.map(|(_, name)| name.as_str()).collect()
    }
}

fn way(context: &Context, config: &Config, settings: &NotifyConfig) -> Option<Way> {
    Some(match &settings.way {
        NotifyWay::Webhook {
            address_env,
            format,
        } => {
            let format = match format {
                WebhookFormat::Json => Format::Json,
                WebhookFormat::Slack => Format::Slack,
            };
            Way::Webhook(
                address(address_env, settings.timeout, &context.environment)?,
                format,
            )
        }
        NotifyWay::Command(argv) => Way::Command {
            argv: argv.clone(),
            folder: config.folder.clone(),
            without: config.secret_variables(),
        },
    })
}

fn address(variable: &str, timeout: Duration, environment: &Environment) -> Option<Address> {
    let Some(text) = environment.get(variable) else {
        warn!(
            variable,
            "nobody is told: this variable, which should hold the address, is not set"
        );
        return None;
    };
    match Address::new(text, timeout) {
        Ok(address) => Some(address),
        Err(problem) => {
            warn!(variable, %problem, "nobody is told: the address in this variable cannot be used");
            None
        }
    }
}
