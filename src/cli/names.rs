//! Finds the job or the group that a person means.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};

use super::{CliError, linting};
use crate::config::Config;
use crate::engine::pause::{PauseTarget, Pauses};
use crate::job::{GroupId, JobId};

/// The names that there are.
#[derive(Debug)]
pub struct Names {
    jobs: BTreeSet<JobId>,
    groups: BTreeSet<GroupId>,
}

impl Names {
    /// Those of the plan.
    #[must_use]
    pub fn of(config: &Config) -> Self {
        Self {
            jobs: config.plan.jobs.keys().cloned().collect(),
            groups: config.plan.groups.keys().cloned().collect(),
        }
    }

    /// Those that are paused too: a job may be gone from the files while its pause is on.
    #[must_use]
    pub fn with_paused(mut self, pauses: &Pauses, now: DateTime<Utc>) -> Self {
        for pause in pauses.on(now) {
            match &pause.target {
                PauseTarget::Job(job) => drop(self.jobs.insert(job.clone())),
                PauseTarget::Group(group) => drop(self.groups.insert(group.clone())),
            }
        }
        self
    }

    /// The job or group of this name.
    ///
    /// # Errors
    ///
    /// [`CliError::Refused`] with the nearest name if there is none, and with both ways to write it if there are two.
    pub fn find(&self, name: &str) -> Result<PauseTarget, CliError> {
        if let Some(job) = name.strip_prefix("job:") {
            return self.job(job).ok_or_else(|| {
                let known: Vec<&str> = self.jobs.iter().map(JobId::as_str).collect();
                unknown("job", job, &known)
            });
        }
        if let Some(group) = name.strip_prefix("group:") {
            return self.group(group).ok_or_else(|| {
                let known: Vec<&str> = self.groups.iter().map(GroupId::as_str).collect();
                unknown("group", group, &known)
            });
        }
        match (self.job(name), self.group(name)) {
            (Some(target), None) | (None, Some(target)) => Ok(target),
            (Some(_), Some(_)) => Err(CliError::Refused {
                what: format!("`{name}` is the name of a job and of a group"),
                help: format!("write `job:{name}` or `group:{name}`"),
            }),
            (None, None) => {
                let jobs = self.jobs.iter().map(JobId::as_str);
                let groups = self.groups.iter().map(GroupId::as_str);
                let known: BTreeSet<&str> = jobs.chain(groups).collect();
                Err(CliError::Refused {
                    what: format!("there is no job and no group `{name}`"),
                    help: linting::nearest("name", name, &Vec::from_iter(known)),
                })
            }
        }
    }

    fn job(&self, name: &str) -> Option<PauseTarget> {
        let found = self.jobs.iter().find(|job| job.as_str() == name)?;
        Some(PauseTarget::Job(found.clone()))
    }

    fn group(&self, name: &str) -> Option<PauseTarget> {
        let found = self.groups.iter().find(|group| group.as_str() == name)?;
        Some(PauseTarget::Group(found.clone()))
    }
}

fn unknown(noun: &str, name: &str, known: &[&str]) -> CliError {
    CliError::Refused {
        what: format!("there is no {noun} `{name}`"),
        help: linting::nearest(noun, name, known),
    }
}
